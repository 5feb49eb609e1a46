//! Ranks as processes of MPI: the test program starts itself under `mpiexec`.
//!
//! `mpiexec` is the one in `DGSUITE_MPIEXEC` or in PATH. The tests need a library of MPI's standard ABI
//! beside it, as PyPI's `mpich` has; otherwise they print SKIPPED. The adapter for older libraries is
//! compiled by the `mpicc` beside `mpiexec`; `DGSUITE_OLD_MPIEXEC` may be the `mpiexec` of another library
//! for it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dgsuite_gpu::comm::{MPI_ADAPTER, MPI_VARIABLE, mpi_library, on_each, threads};

use crate::processes::{Ended, everything, rank_program, run};

const OLD_MPIEXEC: &str = "DGSUITE_OLD_MPIEXEC";

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

fn launch(mpiexec: &Path, n: usize, case: &str, deadline: &str) -> Ended {
    run(&mut [launcher(mpiexec, n, case, deadline)], None)
}

fn launcher(mpiexec: &Path, n: usize, case: &str, deadline: &str) -> Command {
    let mut command = Command::new(mpiexec);
    command.arg("-n").arg(n.to_string()).arg(std::env::current_exe().unwrap());
    rank_program(command, case, deadline)
}

#[test]
fn processes_and_threads_hear_the_same() {
    let Some(mpiexec) = mpiexec() else { return };
    for n in 2..=4 {
        assert_all_heard(&launch(&mpiexec, n, "everything", "60"), n);
    }
}

/// The ranks of the case `everything` have heard what threads hear.
#[track_caller]
fn assert_all_heard(ended: &Ended, n: usize) {
    let digests = on_each(threads(n), |comm| everything(&comm).unwrap());
    let expected: Vec<String> =
        digests.iter().enumerate().map(|(rank, digest)| format!("[rank {rank}] digest {digest}")).collect();
    assert!(ended.success, "{}", ended.text);
    assert_eq!(ended.sentences(), expected, "{}", ended.text);
}

/// The handles of MPICH's own `mpi.h` are integers, and its constants are others than those of the standard
/// ABI.
#[test]
fn the_adapter_serves_a_library_whose_handles_are_integers() {
    if let Some(mpiexec) = mpiexec() {
        serves(&mpiexec);
    }
}

/// The handles of Open MPI are pointers.
#[test]
fn the_adapter_serves_a_library_whose_handles_are_pointers() {
    match std::env::var_os(OLD_MPIEXEC) {
        Some(mpiexec) => serves(Path::new(&mpiexec)),
        None => println!("SKIPPED: {OLD_MPIEXEC} is not set"),
    }
}

/// Compiles the adapter, and has ranks speak through it.
fn serves(mpiexec: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let (text, library) = (folder.path().join("adapter.c"), folder.path().join("libdgsuite_mpi.so"));
    std::fs::write(&text, MPI_ADAPTER).unwrap();
    let mut mpicc = Command::new(mpiexec.with_file_name("mpicc"));
    mpicc.args(["-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o"]).args([&library, &text]);
    // Messages of megabytes pass as those of gigabytes do otherwise; the number leaves a remainder.
    let compiled = mpicc.arg("-DLONGEST=65521").output();
    match compiled {
        Ok(output) if output.status.success() => {}
        failed => {
            let reason = failed.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
            let required = std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
            assert!(!required, "{mpicc:?} is required: {reason:?}");
            return println!("SKIPPED: {mpicc:?}: {reason:?}");
        }
    }
    let launch = |n: usize, case: &str, deadline: &str| {
        let mut command = launcher(mpiexec, n, case, deadline);
        command.env(MPI_VARIABLE, &library);
        // Open MPI refuses root, and more ranks than cores.
        command.envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")));
        command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        run(&mut [command], None)
    };
    let ended = launch(3, "everything", "60");
    assert_all_heard(&ended, 3);
    assert_eq!(ended.text.matches(" through dgsuite's adapter").count(), 3, "{}", ended.text);
    for (case, deadline, part) in [
        ("abort", "60", "rank 2 ended the run: the density is negative"),
        ("leave", "60", "rank 2 has ended, but other ranks still wait for it"),
        ("shorter", "1", "rank 2 sent 24 bytes where rank 0 expects 32"),
        ("longer", "1", "runcated"),
    ] {
        let ended = launch(3, case, deadline);
        assert!(!ended.success && ended.took < Duration::from_secs(30), "{case}: {:?}", ended.took);
        ended.assert_said(&[0, 1], part);
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
        let ended = launch(&mpiexec, 3, case, "60");
        assert!(!ended.success && ended.took < Duration::from_secs(30), "{case}: {:?}", ended.took);
        ended.assert_said(&[0, 1], part);
    }
    for (case, part) in [
        ("sleep", "rank 2 did not answer within 1 s"),
        ("calls", "ranks do not make the same calls"),
        ("shorter", "rank 2 sent 24 bytes where rank 0 expects 32"),
        ("longer", "runcated"),
    ] {
        let ended = launch(&mpiexec, 3, case, "1");
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
        let ended = launch(&mpiexec, n, &format!("{kind}{}", trial % 7), "0.3");
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

/// Such as `mpiexec` of a library without the standard ABI: nothing says where ranks could meet without MPI.
#[test]
fn ranks_of_an_mpi_launcher_without_a_library_are_told_of_the_adapter() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.envs([("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("PATH", "")]);
    command.env_remove(MPI_VARIABLE).env_remove("MASTER_ADDR");
    let ended = run(&mut [rank_program(command, "everything", "60")], None);
    // The system may have a library.
    let told = ["`dgsuite mpi-adapter`", " sees 1: start"].iter().any(|part| ended.text.contains(part));
    assert!(told, "{}", ended.text);
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
