//! Ranks as processes of one parent: the tests start this program as its own children.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use dgsuite_gpu::comm::{CommError, Communicator, Endings, Guard, Partner, child_rank, run_children};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the children do.
const MODE: &str = "DGSUITE_TEST_MODE";

/// Where each child notes its process.
const FOLDER: &str = "DGSUITE_TEST_FOLDER";

fn children(n: usize, mode: &str) -> Endings {
    let command = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["child", "--exact", "--ignored", "--nocapture"]).env(MODE, mode);
        command.env("DGSUITE_COMM_TIMEOUT", "20").stdout(std::process::Stdio::null());
        command
    };
    run_children((0..n).map(|_| command()).collect(), || None).unwrap()
}

/// A ring: each rank sends its number to the next one and to the one before.
fn ring(comm: &dyn Communicator) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let partners = [(rank + 1) % size, (rank + size - 1) % size].map(|rank| Partner {
        rank,
        send: 1 << 20,
        receive: 1 << 20,
    });
    let mut exchange = comm.exchange(&partners)?;
    for round in 0..3 {
        for i in 0..2 {
            exchange.outgoing(i).fill((10 * rank + round) as u8);
        }
        exchange.start()?;
        exchange.finish()?;
        for (i, partner) in partners.iter().enumerate() {
            let expected = (10 * partner.rank + round) as u8;
            assert!(exchange.incoming(i).iter().all(|&byte| byte == expected));
        }
    }
    let mut sums = [1, rank as i64];
    comm.sum(&mut sums)?;
    assert_eq!(sums, [size as i64, (size * (size - 1) / 2) as i64]);
    let mut most = [rank as f64, -(rank as f64)];
    comm.max(&mut most)?;
    assert_eq!(most, [(size - 1) as f64, 0.0]);
    let gathered = comm.gather(1, &[rank as u8; 3])?;
    assert_eq!(gathered, (rank == 1).then(|| (0..size).map(|r| vec![r as u8; 3]).collect()));
    let mut bytes = vec![rank as u8];
    comm.broadcast(2, &mut bytes)?;
    assert_eq!(bytes, [2]);
    comm.barrier()
}

/// What a thread does that waits in a driver.
fn stick() {
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
#[ignore = "run by the other tests"]
fn child() {
    let Some(comm) = child_rank().unwrap() else { return };
    let own = std::process::id().to_string();
    if let Some(folder) = std::env::var_os(FOLDER) {
        std::fs::write(PathBuf::from(folder).join(format!("rank-{}", comm.rank())), &own).unwrap();
    }
    match std::env::var(MODE).unwrap_or_default().as_str() {
        "ring" => ring(&*comm).unwrap(),
        "early end" if comm.rank() == 1 => std::process::exit(7),
        "abort" if comm.rank() == 1 => {
            comm.abort("the disk is full");
            std::process::exit(7);
        }
        "stuck" => {
            let guard = Guard::new(&comm, |error| {
                eprintln!("{error}");
                9
            });
            if comm.rank() == 1 && std::env::var_os(FOLDER).is_none() {
                std::process::abort();
            }
            stick();
            drop(guard);
        }
        // The first ranks end well, but one of them does not end.
        "late" => {
            let guard = Guard::new(&comm, |_| 9).unwrap();
            comm.barrier().unwrap();
            match comm.rank() {
                0 => guard.release(),
                1 => {
                    guard.leave(5);
                    stick();
                }
                _ => {
                    guard.release();
                    std::thread::sleep(Duration::from_secs(5));
                }
            }
        }
        "stopped" if comm.rank() == 1 => std::process::abort(),
        "stopped" => {
            Command::new("kill").args(["-s", "STOP", &own]).status().unwrap();
            stick();
        }
        mode => {
            let begin = Instant::now();
            let error = comm.barrier().unwrap_err();
            assert!(begin.elapsed() < Duration::from_secs(10), "{error}");
            let expected = match mode {
                "abort" => CommError::Aborted { rank: 1, message: "the disk is full".to_owned() },
                _ => CommError::Left { rank: 1 },
            };
            // The first rank that notices an early end aborts the others with its sentence.
            let as_expected = error == expected || error.to_string().contains(&expected.to_string());
            assert!(as_expected, "{error}");
        }
    }
}

#[test]
fn children_exchange_sum_and_gather() {
    assert_eq!(children(3, "ring"), Endings { codes: vec![0; 3], ..Endings::default() });
}

#[test]
fn a_child_that_ends_early_ends_the_waits_of_the_others() {
    for mode in ["early end", "abort"] {
        assert_eq!(children(3, mode), Endings { codes: vec![0, 7, 0], ..Endings::default() }, "{mode}");
    }
}

/// The exit code of a process that a signal ended.
const fn by(signal: i32) -> i32 {
    128 + signal
}

#[test]
fn a_rank_that_is_killed_ends_those_that_hang() {
    let begin = Instant::now();
    let expected = Endings { codes: vec![9, by(6), 9], killed: Some((1, 6)), hung: Vec::new() };
    assert_eq!(children(3, "stuck"), expected);
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn ranks_that_do_not_run_any_more_are_killed() {
    let begin = Instant::now();
    let expected = Endings { codes: vec![by(9), by(6), by(9)], killed: Some((1, 6)), hung: vec![0, 2] };
    assert_eq!(children(3, "stopped"), expected);
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn a_rank_that_is_done_may_end_before_others_and_one_that_fails_must_end() {
    assert_eq!(children(3, "late"), Endings { codes: vec![0, 5, 0], ..Endings::default() });
}

#[test]
#[ignore = "run by the other tests"]
fn parent() {
    children(3, "stuck");
}

fn is_alive(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

fn noted(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_ranks_of_a_killed_parent_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["parent", "--exact", "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while noted(folder.path()).iter().filter(|process| is_alive(process)).count() < 3 {
        assert!(begin.elapsed() < Duration::from_secs(60), "they do not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    // They connect, and begin to watch.
    std::thread::sleep(Duration::from_millis(300));
    parent.kill().unwrap();
    let begin = Instant::now();
    let processes = noted(folder.path());
    while processes.iter().any(|process| is_alive(process)) {
        assert!(begin.elapsed() < Duration::from_secs(10), "they outlive it");
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = parent.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the process that started this rank does not answer: it has ended"), "{said}");
}
