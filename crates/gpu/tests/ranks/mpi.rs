//! Ranks as processes of MPI: the test program starts itself under `mpiexec`.
//!
//! `mpiexec` is the one in `DGSUITE_MPIEXEC` or in PATH. The tests need a library of MPI's standard ABI
//! beside it, as PyPI's `mpich` has; otherwise they print SKIPPED.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use dgsuite_gpu::comm::{mpi_library, on_each, threads};

use crate::processes::{Ended, everything, rank_program, run};

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

fn launch(mpiexec: &PathBuf, options: &[&str], n: usize, case: &str, deadline: &str) -> Ended {
    let mut command = Command::new(mpiexec);
    command.args(options).arg("-n").arg(n.to_string()).arg(std::env::current_exe().unwrap());
    run(&mut [rank_program(command, case, deadline)], None)
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
    command.envs([("SLURM_PROCID", "0"), ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "2")]);
    let ended = run(&mut [rank_program(command, "everything", "60")], None);
    assert!(ended.text.contains("srun started 2 processes, but "), "{}", ended.text);
    assert!(ended.text.contains(" sees 1: start the program with"), "{}", ended.text);
}

#[test]
fn a_missing_library_is_a_sentence_that_names_the_remedy() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.envs([("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("DGSUITE_MPI_LIBRARY", "/no/such/libmpi_abi.so.1")]);
    let ended = run(&mut [rank_program(command, "everything", "60")], None);
    let sentence = ended.text.lines().find(|line| line.starts_with("[rank ?]")).unwrap_or("");
    for part in ["pip install mpich", "DGSUITE_MPI_LIBRARY", "tried: /no/such/libmpi_abi.so.1 ("] {
        assert!(sentence.contains(part), "'{part}' is not in '{sentence}'");
    }
}
