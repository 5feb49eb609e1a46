//! Ranks as processes of MPI: the test program starts itself under `mpiexec`.
//!
//! `mpiexec` is the one in `DGSUITE_MPIEXEC` or in PATH. The tests need a library of MPI's standard ABI
//! beside it, as PyPI's `mpich` has; otherwise they print SKIPPED.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dgsuite_gpu::comm::{CommError, Communicator, connect, launched, mpi_library, on_each, threads};

use crate::conversation::{conversation, partners, work};

const CASE: &str = "DGSUITE_TEST_RANKS";

fn mpiexec() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = match std::env::var_os("DGSUITE_MPIEXEC") {
        Some(file) => Ok(file.into()),
        None => std::env::split_paths(&path)
            .map(|bin| bin.join("mpiexec"))
            .find(|file| file.exists())
            .ok_or_else(|| "no mpiexec in PATH (pip install mpich)".to_owned()),
    };
    let usable = found.and_then(|file| mpi_library().map(|_| file).map_err(|error| error.to_string()));
    match usable {
        Ok(file) => Some(file),
        Err(reason) if std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_some_and(|v| v == "1") => {
            panic!("MPI is required: {reason}")
        }
        Err(reason) => {
            println!("SKIPPED: {reason}");
            None
        }
    }
}

/// The end of a launch.
struct Ended {
    success: bool,
    text: String,
    took: Duration,
}

impl Ended {
    /// The sentences that ranks printed, sorted.
    fn sentences(&self) -> Vec<&str> {
        let mut found: Vec<&str> =
            self.text.lines().filter_map(|line| Some(&line[line.find("[rank ")?..])).collect();
        found.sort_unstable();
        found
    }

    /// Every rank of `ranks` printed a sentence that contains `part`.
    #[track_caller]
    fn assert_said(&self, ranks: &[usize], part: &str) {
        for rank in ranks {
            let mark = format!("[rank {rank}] ");
            let said =
                self.sentences().into_iter().any(|line| line.starts_with(&mark) && line.contains(part));
            assert!(said, "rank {rank} did not say '{part}':\n{}", self.text);
        }
    }
}

/// Runs a command with both outputs in one text; it is killed after a minute, which is a failure.
fn run(command: &mut Command) -> Ended {
    let output = tempfile::NamedTempFile::new().unwrap();
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output.reopen().unwrap())
        .stderr(std::fs::OpenOptions::new().append(true).open(output.path()).unwrap())
        .spawn()
        .unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = String::from_utf8_lossy(&std::fs::read(output.path()).unwrap()).into_owned();
    assert!(status.is_some(), "{command:?} hangs:\n{text}");
    Ended { success: status.is_some_and(|s| s.success()), text, took: started.elapsed() }
}

/// This program as one rank of a case.
fn rank_program(command: &mut Command, case: &str, deadline: &str) -> Ended {
    command.env(CASE, case).env("DGSUITE_COMM_TIMEOUT", deadline);
    run(command)
}

fn launch(mpiexec: &PathBuf, options: &[&str], n: usize, case: &str, deadline: &str) -> Ended {
    let mut command = Command::new(mpiexec);
    command.args(options).arg("-n").arg(n.to_string()).arg(std::env::current_exe().unwrap());
    rank_program(command.args(["mpi::this_rank", "--exact", "--nocapture"]), case, deadline)
}

/// A number that depends on everything heard.
fn digest(heard: &[Vec<u8>]) -> u64 {
    heard
        .iter()
        .flat_map(|part| part.iter().chain(&[255]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Everything that ranks can do, as one digest on all ranks.
fn everything(comm: &dyn Communicator) -> Result<u64, CommError> {
    let mut heard = conversation(comm, 4)?;
    let mut max = [comm.rank() as f64, -1.0, -0.0, if comm.rank() == 1 { f64::NAN } else { f64::INFINITY }];
    comm.max(&mut max)?;
    heard.extend(max.map(|x| x.to_bits().to_ne_bytes().to_vec()));
    comm.barrier()?;
    comm.sum(&mut [])?;
    let root = comm.size() - 1;
    let mine = digest(&heard).to_ne_bytes();
    let gathered = comm.gather(root, &mine[..8 - comm.rank()])?;
    assert_eq!(gathered.is_some(), comm.rank() == root);
    let mut bytes = gathered.unwrap_or_default().concat();
    comm.broadcast(root, &mut bytes)?;
    // Larger than libraries send without the receiver.
    let big = vec![comm.rank() as u8; 3 << 20];
    let parts = comm.gather(0, &big)?;
    assert!(parts.is_none_or(|parts| parts.iter().enumerate().all(|(i, p)| *p == vec![i as u8; 3 << 20])));
    Ok(digest(&[bytes]))
}

/// Ends this process without a word, or stops it, so that it lives but does not answer.
fn lost(killed: bool) {
    let process = std::process::id().to_string();
    let signal = if killed { "-KILL" } else { "-STOP" };
    Command::new("kill").args([signal, &process]).status().unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

/// Not a test by itself: what one rank does if the tests below have started it.
#[test]
fn this_rank() {
    let Ok(case) = std::env::var(CASE) else { return };
    let comm = match connect(launched().as_ref()) {
        Ok(comm) => comm,
        Err(error) => {
            println!("[rank ?] {error}");
            std::process::exit(1);
        }
    };
    let rank = comm.rank();
    let special = rank == comm.size() - 1;
    let result = match &*case {
        "everything" => everything(&*comm).map(|digest| println!("[rank {rank}] digest {digest}")),
        _ if !special => (0..1_000_000).try_for_each(|_| work(&*comm)),
        _ if case.starts_with("killed") || case.starts_with("stopped") => {
            let rounds: u32 = case.trim_start_matches(char::is_alphabetic).parse().unwrap();
            (0..rounds).try_for_each(|_| work(&*comm)).map(|()| lost(case.starts_with("killed")))
        }
        "leave" => work(&*comm),
        "abort" => work(&*comm).and_then(|()| {
            comm.abort("the density is negative");
            comm.barrier()
        }),
        "panic" => work(&*comm).map(|()| panic!("planted")),
        "sleep" => work(&*comm).and_then(|()| {
            std::thread::sleep(Duration::from_secs(3));
            work(&*comm)
        }),
        "calls" => work(&*comm).and_then(|()| comm.barrier()),
        "lengths" => {
            let mut partners = partners(&*comm, 8);
            partners[0].send -= 8;
            comm.exchange(&partners).and_then(|mut exchange| {
                exchange.start()?;
                exchange.finish()
            })
        }
        _ => panic!("no case {case}"),
    };
    let failed = result.is_err();
    if let Err(error) = result {
        println!("[rank {rank}] {error}");
    }
    drop(comm);
    std::process::exit(i32::from(failed));
}

#[test]
fn processes_and_threads_hear_the_same() {
    let Some(mpiexec) = mpiexec() else { return };
    for n in 2..=4 {
        let ended = launch(&mpiexec, &[], n, "everything", "60");
        let digests = on_each(threads(n), |comm| everything(&comm).unwrap());
        let expected: Vec<String> = digests
            .iter()
            .enumerate()
            .map(|(rank, digest)| format!("[rank {rank}] digest {digest}"))
            .collect();
        assert!(ended.success, "{}", ended.text);
        assert_eq!(ended.sentences(), expected, "{}", ended.text);
    }
}

#[test]
fn failures_of_a_rank_end_all_ranks_with_its_sentence() {
    let Some(mpiexec) = mpiexec() else { return };
    for (case, part) in [
        ("abort", "rank 2 ended the run: the density is negative"),
        ("panic", "rank 2 ended the run: it panicked"),
        ("leave", "rank 2 has ended, but other ranks still wait for it"),
    ] {
        let ended = launch(&mpiexec, &[], 3, case, "60");
        assert!(!ended.success && ended.took < Duration::from_secs(30), "{case}: {:?}", ended.took);
        ended.assert_said(&[0, 1], part);
    }
    for (case, part) in [
        ("sleep", "rank 2 did not answer within 1 s"),
        ("calls", "ranks do not make the same calls"),
        ("lengths", "rank 2 sent 24 bytes where rank 0 expects 32"),
    ] {
        let ended = launch(&mpiexec, &[], 3, case, "1");
        assert!(!ended.success && ended.took < Duration::from_secs(30), "{case}: {:?}", ended.took);
        ended.assert_said(&[0, 1], part);
    }
}

/// A process is killed, which the launcher notices, or stopped, which it does not.
#[test]
fn no_trial_with_a_lost_process_hangs() {
    let Some(mpiexec) = mpiexec() else { return };
    let trials = if std::env::var_os("DGSUITE_FULL").is_some() { 200 } else { 4 };
    for trial in 0..trials {
        let kind = ["killed", "stopped"][trial % 2];
        let n = 2 + trial / 2 % 3;
        let ended = launch(&mpiexec, &[], n, &format!("{kind}{}", trial % 7), "0.3");
        assert!(!ended.success && ended.took < Duration::from_secs(30), "{trial}: {:?}", ended.took);
        if kind == "stopped" {
            let sentence = format!("rank {} did not answer within 0.3 s", n - 1);
            ended.assert_said(&(0..n - 1).collect::<Vec<_>>(), &sentence);
        }
    }
}

#[test]
fn a_library_of_another_launcher_is_an_error_with_both_names() {
    if mpiexec().is_none() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["mpi::this_rank", "--exact", "--nocapture"]);
    command.envs([("SLURM_PROCID", "0"), ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "2")]);
    let ended = rank_program(&mut command, "everything", "60");
    assert!(ended.text.contains("srun started 2 processes, but "), "{}", ended.text);
    assert!(ended.text.contains(" sees 1: start the program with"), "{}", ended.text);
}

#[test]
fn a_missing_library_is_a_sentence_that_names_the_remedy() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["mpi::this_rank", "--exact", "--nocapture"]);
    command.envs([("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("DGSUITE_MPI_LIBRARY", "/no/such/libmpi_abi.so.1")]);
    let ended = rank_program(&mut command, "everything", "60");
    let sentence = ended.text.lines().find(|line| line.starts_with("[rank ?]")).unwrap_or("");
    for part in ["pip install mpich", "DGSUITE_MPI_LIBRARY", "tried: /no/such/libmpi_abi.so.1 ("] {
        assert!(sentence.contains(part), "'{part}' is not in '{sentence}'");
    }
}
