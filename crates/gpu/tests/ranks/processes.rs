//! This test program as one rank of several processes: what it does, and how others watch it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dgsuite_gpu::comm::{CommError, Communicator, connect, launched, mpi_library, one_works, pass};

use crate::conversation::{conversation, partners, work};

const CASE: &str = "DGSUITE_TEST_RANKS";

/// The end of a launch.
pub(crate) struct Ended {
    pub(crate) success: bool,
    pub(crate) text: String,
    pub(crate) took: Duration,
}

impl Ended {
    /// The sentences that ranks printed, sorted.
    pub(crate) fn sentences(&self) -> Vec<&str> {
        let mut found: Vec<&str> =
            self.text.lines().filter_map(|line| Some(&line[line.find("[rank ")?..])).collect();
        found.sort_unstable();
        found
    }

    /// Every rank of `ranks` printed a sentence that contains `part`.
    #[track_caller]
    pub(crate) fn assert_said(&self, ranks: &[usize], part: &str) {
        for rank in ranks {
            let mark = format!("[rank {rank}] ");
            let said =
                self.sentences().into_iter().any(|line| line.starts_with(&mark) && line.contains(part));
            assert!(said, "rank {rank} did not say '{part}':\n{}", self.text);
        }
    }
}

/// Runs commands at the same time, with all outputs in one text. One that is `doomed` is killed when all
/// others have ended. Those that run for a minute are killed, which is a failure.
pub(crate) fn run(commands: &mut [Command], doomed: Option<usize>) -> Ended {
    let output = tempfile::NamedTempFile::new().unwrap();
    let started = Instant::now();
    let append = || std::fs::OpenOptions::new().append(true).open(output.path()).unwrap();
    let mut children: Vec<_> = commands
        .iter_mut()
        .map(|command| command.stdin(Stdio::null()).stdout(append()).stderr(append()).spawn().unwrap())
        .collect();
    let mut hangs = false;
    let success = loop {
        let ends: Vec<_> = children.iter_mut().map(|child| child.try_wait().unwrap()).collect();
        if ends.iter().all(Option::is_some) {
            break ends.into_iter().flatten().all(|end| end.success());
        }
        hangs |= started.elapsed() > Duration::from_secs(60);
        let others_ended = ends.iter().enumerate().all(|(i, end)| end.is_some() || Some(i) == doomed);
        if hangs || others_ended {
            children.iter_mut().for_each(|child| child.kill().unwrap());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = String::from_utf8_lossy(&std::fs::read(output.path()).unwrap()).into_owned();
    assert!(!hangs, "{commands:?} hang:\n{text}");
    Ended { success, text, took: started.elapsed() }
}

/// A command that runs this program as one rank of a case: to its arguments, those of the program are added.
pub(crate) fn rank_program(mut command: Command, case: &str, deadline: &str) -> Command {
    command.args(["processes::this_rank", "--exact", "--nocapture"]);
    command.env(CASE, case).env("DGSUITE_COMM_TIMEOUT", deadline);
    command
}

/// A number that depends on everything heard.
pub(crate) fn digest(heard: &[Vec<u8>]) -> u64 {
    heard
        .iter()
        .flat_map(|part| part.iter().chain(&[255]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Everything that ranks can do, as one digest on all ranks.
pub(crate) fn everything(comm: &dyn Communicator) -> Result<u64, CommError> {
    let mut heard = conversation(comm, 4)?;
    let mut max =
        [1.5 - comm.rank() as f64, -1.0, -0.0, if comm.rank() == 1 { f64::NAN } else { f64::INFINITY }];
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
    // Larger than one message.
    let large: Vec<u8> = (0..(17 << 20) + 3).map(|i| (i % 251) as u8).collect();
    let passed = pass(comm, root, 0, if comm.rank() == root { &large } else { &[] })?;
    assert!(passed == if comm.rank() == 0 { large } else { Vec::new() });
    assert_eq!(one_works(comm, 0, || 5)?, (comm.rank() == 0).then_some(5));
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
    // The special rank is the last one, or the first one.
    let (case, special) = match case.strip_prefix("root-") {
        Some(case) => (case, rank == 0),
        None => (&*case, rank == comm.size() - 1),
    };
    let result = match case {
        "everything" => everything(&*comm).map(|digest| {
            println!("by {}", mpi_library().map_or("no library", |(_, version)| version));
            println!("[rank {rank}] digest {digest}");
        }),
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
        "shorter" | "longer" => {
            let mut partners = partners(&*comm, 8);
            partners[0].send = if case == "shorter" { partners[0].send - 8 } else { partners[0].send + 8 };
            let exchanged = comm.exchange(&partners).and_then(|mut exchange| {
                exchange.start()?;
                exchange.finish()
            });
            // Rank 0 has time to read the message before the end of this rank is noticed.
            std::thread::sleep(Duration::from_millis(500));
            exchanged
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
