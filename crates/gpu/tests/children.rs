//! Ranks as processes of one parent: the tests start this program as its own children.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use dgsuite_gpu::comm::{CommError, Communicator, Partner, child_rank, run_children};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the children do.
const MODE: &str = "DGSUITE_TEST_MODE";

fn children(n: usize, mode: &str) -> Vec<i32> {
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

#[test]
#[ignore = "run by the other tests"]
fn child() {
    let Some(comm) = child_rank().unwrap() else { return };
    match std::env::var(MODE).unwrap_or_default().as_str() {
        "ring" => ring(&*comm).unwrap(),
        "early end" if comm.rank() == 1 => std::process::exit(7),
        "abort" if comm.rank() == 1 => {
            comm.abort("the disk is full");
            std::process::exit(7);
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
    assert_eq!(children(3, "ring"), [0; 3]);
}

#[test]
fn a_child_that_ends_early_ends_the_waits_of_the_others() {
    for mode in ["early end", "abort"] {
        assert_eq!(children(3, mode), [0, 7, 0], "{mode}");
    }
}
