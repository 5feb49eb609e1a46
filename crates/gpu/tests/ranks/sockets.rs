//! Ranks as processes that a launcher such as `torchrun` has started, connected without MPI: the test program
//! starts itself with the variables of the launcher.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use dgsuite_gpu::comm::{on_each, threads};

use crate::processes::{Ended, everything, rank_program, run};

/// Processes of one launch.
struct Launcher {
    size: usize,
    port: u16,
    deadline: &'static str,
    case: String,
}

impl Launcher {
    /// A launch with ports of its own.
    fn new(size: usize, case: &str, deadline: &'static str) -> Self {
        static LAUNCHES: AtomicU16 = AtomicU16::new(0);
        // Several test programs of one machine begin at different ports.
        let begin = 12_000 + 40 * (std::process::id() % 400) as u16;
        let port = begin + 9 * (LAUNCHES.fetch_add(1, Ordering::Relaxed) % 100);
        Self { size, port, deadline, case: case.to_owned() }
    }

    fn rank(&self, rank: usize) -> Command {
        let mut command =
            rank_program(Command::new(std::env::current_exe().unwrap()), &self.case, self.deadline);
        command.envs([
            ("RANK", rank.to_string()),
            ("WORLD_SIZE", self.size.to_string()),
            ("LOCAL_RANK", rank.to_string()),
            ("MASTER_ADDR", "127.0.0.1".to_owned()),
            ("MASTER_PORT", self.port.to_string()),
            ("TORCHELASTIC_RUN_ID", format!("{}-{}", std::process::id(), self.port)),
        ]);
        command
    }

    /// Runs all ranks; `lost` is the one that does not end by itself.
    fn run(&self, lost: Option<usize>) -> Ended {
        run(&mut (0..self.size).map(|rank| self.rank(rank)).collect::<Vec<_>>(), lost)
    }
}

#[test]
fn processes_without_mpi_and_threads_hear_the_same() {
    for n in [2, 3] {
        let ended = Launcher::new(n, "everything", "60").run(None);
        let digests = on_each(threads(n), |comm| everything(&comm).unwrap());
        let expected: Vec<String> =
            (0..n).map(|rank| format!("[rank {rank}] digest {}", digests[rank])).collect();
        assert!(ended.success, "{}", ended.text);
        assert_eq!(ended.sentences(), expected, "{}", ended.text);
    }
}

#[test]
fn failures_end_all_ranks_without_mpi() {
    for (case, deadline, others, part) in [
        ("abort", "60", [0, 1], "rank 2 ended the run: the density is negative"),
        ("panic", "60", [0, 1], "rank 2 ended the run: it panicked"),
        ("leave", "60", [0, 1], "rank 2 has ended, but other ranks still wait for it"),
        ("shorter", "60", [0, 1], "rank 2 sent 24 bytes where rank 0 expects 32"),
        ("root-abort", "60", [1, 2], "rank 0 ended the run: the density is negative"),
        ("root-panic", "60", [1, 2], "rank 0 ended the run: its thread panicked"),
        ("root-leave", "60", [1, 2], "rank 0 has ended, but other ranks still wait for it"),
    ] {
        let ended = Launcher::new(3, case, deadline).run(None);
        assert!(!ended.success && ended.took < Duration::from_secs(20), "{case}: {:?}", ended.took);
        ended.assert_said(&others, part);
    }
}

/// A process is killed, which the network tells, or stopped, which it does not.
#[test]
fn no_trial_with_a_lost_process_hangs_without_mpi() {
    let trials = if std::env::var_os("DGSUITE_FULL").is_some() { 200 } else { 4 };
    for trial in 0..trials {
        let root = trial / 2 % 2 == 1;
        let (kind, sentence) =
            [("killed", "has ended, but"), ("stopped", "did not answer within 2 s")][trial % 2];
        let case = format!("{}{kind}{}", if root { "root-" } else { "" }, trial % 7);
        let n = 2 + trial / 4 % 2;
        let lost = if root { 0 } else { n - 1 };
        let ended = Launcher::new(n, &case, "2").run(Some(lost));
        assert!(!ended.success && ended.took < Duration::from_secs(20), "{case}: {:?}", ended.took);
        let others: Vec<usize> = (0..n).filter(|&rank| rank != lost).collect();
        ended.assert_said(&others, &format!("rank {lost} {sentence}"));
    }
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let launcher = Launcher::new(3, "everything", "2");
    let ended = run(&mut [launcher.rank(0), launcher.rank(1)], None);
    assert!(!ended.success && ended.took < Duration::from_secs(20), "{:?}", ended.took);
    let sentence = format!("rank 2 did not come to port {} within 2 s", launcher.port + 1);
    assert!(
        ended.text.contains(&format!("the processes of torchrun did not meet: {sentence}")),
        "{}",
        ended.text
    );
    ended.assert_said(&[1], &format!("rank 0 ended the run: {sentence}"));

    let launcher = Launcher::new(2, "everything", "0.5");
    let ended = run(&mut [launcher.rank(1)], None);
    let ports = (launcher.port + 1, launcher.port + 8);
    let sentence =
        format!("rank 0 was not found at 127.0.0.1, ports {} to {} within 0.5 s", ports.0, ports.1);
    assert!(!ended.success && ended.text.contains(&sentence), "{}", ended.text);
    assert!(ended.text.contains("refused"), "{}", ended.text);
}

#[test]
fn processes_of_another_run_or_launch_are_refused() {
    let launcher = Launcher::new(2, "everything", "2");
    let mut other = launcher.rank(1);
    other.env("TORCHELASTIC_RUN_ID", "another");
    let ended = run(&mut [launcher.rank(0), other], None);
    let both = format!(
        "rank 0 is of run '{}-{}', restart 0, rank 1 of run 'another', restart 0",
        std::process::id(),
        launcher.port
    );
    assert!(!ended.success, "{}", ended.text);
    for part in
        ["rank 1 did not come to port", "a process was refused: ", "rank 0 was not found at 127.0.0.1"]
    {
        assert!(ended.text.contains(part), "'{part}' is not in:\n{}", ended.text);
    }
    assert_eq!(ended.text.matches(&both).count(), 2, "{}", ended.text);

    // At once, and also for those who come later.
    let launcher = Launcher::new(3, "everything", "60");
    let mut other = launcher.rank(1);
    other.env("WORLD_SIZE", "2");
    let ended = run(&mut [launcher.rank(0), other, launcher.rank(2)], None);
    assert!(!ended.success && ended.took < Duration::from_secs(20), "{:?}", ended.took);
    let sentence = "a process is rank 1 of 2, another rank 0 of 3";
    assert_eq!(ended.text.matches(sentence).count(), 3, "{}", ended.text);
}

#[test]
fn strangers_do_not_disturb_and_taken_ports_are_avoided() {
    let launcher = Launcher::new(2, "everything", "30");
    let taken = TcpListener::bind(("127.0.0.1", launcher.port + 1)).unwrap();
    // Another service, which answers in its own way.
    let service = std::thread::spawn(move || {
        for stream in taken.incoming() {
            let mut stream = stream.unwrap();
            if stream.write_all(b"220 welcome to another service\r\n").is_err() || stream.peer_addr().is_err()
            {
                break;
            }
        }
    });
    let port = launcher.port + 2;
    let strangers = std::thread::spawn(move || {
        let begin = Instant::now();
        let connect = || TcpStream::connect(("127.0.0.1", port)).ok();
        let mut silent = None;
        while silent.is_none() && begin.elapsed() < Duration::from_secs(10) {
            silent = connect();
        }
        if let Some(mut loud) = connect() {
            let _ = loud.write_all(b"GET / HTTP/1.1\r\n\r\n");
        }
        silent
    });
    let mut late = Command::new("sh");
    late.args(["-c", "sleep 0.3; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let mut late = rank_program(late, "everything", "30");
    late.envs(launcher.rank(1).get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = run(&mut [launcher.rank(0), late], None);
    assert!(ended.success && ended.sentences().len() == 2, "{}", ended.text);
    assert!(strangers.join().unwrap().is_some(), "no stranger came");
    drop(service);

    let launcher = Launcher::new(2, "everything", "30");
    let taken: Vec<_> =
        (1..=8).map(|k| TcpListener::bind(("127.0.0.1", launcher.port + k)).unwrap()).collect();
    let ended = run(&mut [launcher.rank(0)], None);
    let sentence = "rank 0 can listen at none of 127.0.0.1, ports";
    assert!(!ended.success && ended.text.contains(sentence), "{}", ended.text);
    assert!(ended.text.contains("let MASTER_PORT name another port"), "{}", ended.text);
    drop(taken);
}

#[test]
fn launchers_that_name_no_place_are_told_what_to_set() {
    let mut command = rank_program(Command::new(std::env::current_exe().unwrap()), "everything", "60");
    command.envs([("RANK", "0"), ("WORLD_SIZE", "2")]).env_remove("MASTER_ADDR").env_remove("MASTER_PORT");
    let ended = run(&mut [command], None);
    assert!(
        ended.text.contains("[rank ?] the processes of torchrun did not meet: let MASTER_ADDR"),
        "{}",
        ended.text
    );

    let mut command = rank_program(Command::new(std::env::current_exe().unwrap()), "everything", "60");
    command.envs([("RANK", "0"), ("WORLD_SIZE", "2"), ("DGSUITE_COMM_PLANE", "carrier pigeons")]);
    let ended = run(&mut [command], None);
    assert!(ended.text.contains("is 'carrier pigeons': expected mpi or sockets"), "{}", ended.text);
}
