//! Ranks as threads, as processes of MPI and as processes connected by sockets: exchanges, sums and gathers
//! do not depend on delays, and failures end all waits.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use dgsuite_gpu::comm::{
    Alone, CommError, Communicator, Delay, Loss, Partner, ThreadOptions, Threads, on_each, threads,
    threads_with,
};
use proptest::prelude::*;

#[path = "ranks/conversation.rs"]
mod conversation;
#[path = "ranks/mpi.rs"]
mod mpi;
#[path = "ranks/processes.rs"]
mod processes;
#[path = "ranks/sockets.rs"]
mod sockets;

use conversation::{conversation, partners, work};

fn options(seconds: f64) -> ThreadOptions {
    ThreadOptions { deadline: Duration::from_secs_f64(seconds), delay: None, loss: None }
}

#[test]
fn every_message_arrives_in_its_round_and_exchange() {
    for n in [1, 2, 4] {
        for (rank, heard) in on_each(threads(n), |comm| conversation(&comm, 4).unwrap()).iter().enumerate() {
            let mut heard = heard.iter();
            for round in 0..4 {
                let sum = [n as i64, (n * (n - 1) / 2) as i64, i64::MAX.wrapping_mul(n as i64)];
                let bytes: Vec<u8> = sum.iter().flat_map(|x| x.to_ne_bytes()).collect();
                assert_eq!(heard.next(), Some(&bytes));
                for kind in [1, 0] {
                    for from in 0..n {
                        let length = [1, 5][kind] * (2 * from + 3 * rank);
                        let mark = (from * 64 + rank * 16 + round * 2 + kind) as u8;
                        assert_eq!(heard.next(), Some(&vec![mark; length]));
                    }
                }
            }
        }
    }
    assert_eq!(conversation(&Alone, 3), on_each(threads(1), |comm| conversation(&comm, 3)).remove(0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn delayed_and_reordered_messages_change_nothing(seed in any::<u64>(), n in 2..5usize) {
        let expected = on_each(threads(n), |comm| conversation(&comm, 3).unwrap());
        let delay = Some(Delay { seed, longest: Duration::from_millis(3) });
        let ranks = threads_with(n, &ThreadOptions { delay, ..options(60.0) });
        prop_assert_eq!(on_each(ranks, |comm| conversation(&comm, 3).unwrap()), expected);
    }

    #[test]
    fn gathers_broadcasts_and_maxima_are_those_of_the_list(
        lists in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..5),
        numbers in prop::collection::vec(prop::num::f64::ANY, 5),
        root in any::<prop::sample::Index>(),
    ) {
        let root = root.index(lists.len());
        let results = on_each(threads(lists.len()), |comm| {
            let me = comm.rank();
            let gathered = comm.gather(root, &lists[me]).unwrap();
            let mut bytes = lists[me].clone();
            comm.broadcast(root, &mut bytes).unwrap();
            let mut max = [numbers[me], -numbers[me]];
            comm.max(&mut max).unwrap();
            comm.barrier().unwrap();
            (gathered, bytes, max)
        });
        let numbers = &numbers[..lists.len()];
        for (rank, (gathered, bytes, max)) in results.into_iter().enumerate() {
            prop_assert_eq!(gathered, (rank == root).then(|| lists.clone()));
            prop_assert_eq!(&bytes, &lists[root]);
            if numbers.iter().any(|x| x.is_nan()) {
                prop_assert!(max.iter().all(|x| x.is_nan()));
            } else {
                prop_assert_eq!(max[0], numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                prop_assert_eq!(-max[1], numbers.iter().copied().fold(f64::INFINITY, f64::min));
            }
        }
    }
}

#[test]
fn buffers_are_aligned_and_empty_messages_are_allowed() {
    on_each(threads(2), |comm| {
        let other = 1 - comm.rank();
        let mut exchange = comm.exchange(&[Partner { rank: other, send: 0, receive: 0 }]).unwrap();
        exchange.start().unwrap();
        exchange.finish().unwrap();
        let mut exchange = comm.exchange(&[Partner { rank: other, send: 24, receive: 24 }]).unwrap();
        assert_eq!(exchange.outgoing(0).as_ptr() as usize % 64, 0);
        assert_eq!(exchange.incoming(0).as_ptr() as usize % 64, 0);
    });
}

/// Ranks 0 and 1 work, rank 2 does something else; returns the errors of ranks 0 and 1.
fn errors(options: &ThreadOptions, third: impl Fn(Threads) + Sync) -> Vec<CommError> {
    let started = Instant::now();
    let results = on_each(threads_with(3, options), |comm| {
        if comm.rank() < 2 {
            return work(&comm).err();
        }
        third(comm);
        None
    });
    assert!(started.elapsed() < Duration::from_secs(20), "took {:?}", started.elapsed());
    results.into_iter().take(2).map(|error| error.expect("ranks 0 and 1 fail")).collect()
}

/// One of the errors is `first`, and each other one says who had it.
#[track_caller]
fn assert_all_know(errors: &[CommError], first: &CommError) {
    let Some(rank) = errors.iter().position(|error| error == first) else {
        panic!("{first:?} is not among {errors:?}");
    };
    let told = CommError::Aborted { rank, message: first.to_string() };
    assert!(errors.iter().all(|error| error == first || *error == told), "{errors:?}");
}

#[test]
fn a_silent_rank_is_named_on_every_rank_after_the_deadline() {
    let errors = errors(&options(0.1), |comm| {
        std::thread::sleep(Duration::from_millis(400));
        drop(comm);
    });
    assert_all_know(&errors, &CommError::Silent { ranks: vec![2], deadline: Duration::from_millis(100) });
}

#[test]
fn the_cause_is_named_and_not_those_who_wait_for_it() {
    // Rank 0 waits for rank 1, which waits for rank 2, which does something else; rank 0 is first to notice.
    let results = on_each(threads_with(3, &options(0.3)), |comm| {
        if comm.rank() == 2 {
            std::thread::sleep(Duration::from_millis(900));
            return Ok(());
        }
        let other = [1, 2][comm.rank()];
        let mut exchange = comm.exchange(&[Partner { rank: other, send: 8, receive: 8 }])?;
        std::thread::sleep(Duration::from_millis(100 * comm.rank() as u64));
        exchange.start()?;
        exchange.finish()
    });
    let silent = CommError::Silent { ranks: vec![2], deadline: Duration::from_millis(300) };
    assert_eq!(results[0], Err(silent));
}

#[test]
fn a_rank_that_ends_early_is_named_at_once() {
    for late in [false, true] {
        let errors = errors(&options(60.0), |comm| {
            // Its messages of the first round still arrive.
            if late {
                let mut exchange = comm.exchange(&partners(&comm, 8)).unwrap();
                exchange.start().unwrap();
                exchange.finish().unwrap();
            }
        });
        assert_all_know(&errors, &CommError::Left { rank: 2 });
    }
}

#[test]
fn a_rank_that_panics_ends_all_waits() {
    let ended = on_each(threads_with(2, &options(60.0)), |comm| {
        if comm.rank() == 0 {
            return work(&comm).err();
        }
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _owned = comm;
            std::panic::resume_unwind(Box::new("a planted panic"));
        }));
        assert!(caught.is_err());
        None
    });
    let message = "its thread panicked".to_owned();
    assert_eq!(ended[0], Some(CommError::Aborted { rank: 1, message }));
}

#[test]
fn the_first_abort_counts_on_all_ranks() {
    let errors = errors(&options(60.0), |comm| {
        comm.abort("the density is negative");
        comm.abort("a later error");
        let message = "the density is negative".to_owned();
        assert_eq!(comm.barrier(), Err(CommError::Aborted { rank: 2, message }));
    });
    for error in errors {
        assert_eq!(error.to_string(), "rank 2 ended the run: the density is negative");
    }
}

#[test]
fn a_lost_message_is_a_silent_rank() {
    for after in [0, 1] {
        let loss = Some(Loss { from: 2, to: 1, after });
        let errors = errors(&ThreadOptions { loss, ..options(0.2) }, |comm| assert!(work(&comm).is_err()));
        let silent = CommError::Silent { ranks: vec![2], deadline: Duration::from_millis(200) };
        assert!(
            errors[1] == silent
                || matches!(&errors[1], CommError::Aborted { message, .. } if message.contains("did not answer")),
            "{errors:?}"
        );
    }
}

#[test]
fn different_lengths_and_different_calls_are_errors_with_both_sides() {
    let errors = errors(&options(60.0), |comm| {
        let more = partners(&comm, 8).iter().map(|p| Partner { send: p.send + 1, ..*p }).collect::<Vec<_>>();
        let mut exchange = comm.exchange(&more).unwrap();
        assert!(exchange.start().and_then(|()| exchange.finish()).is_err());
    });
    assert!(errors.iter().any(|error| error.to_string().contains("bytes where rank")), "{errors:?}");

    let results = on_each(threads(2), |comm| match comm.rank() {
        0 => comm.sum(&mut [0; 3]),
        _ => comm.max(&mut [0.0]),
    });
    let sentence =
        results.iter().find_map(|r| r.as_ref().err().filter(|e| matches!(e, CommError::Calls { .. })));
    let sentence = sentence.unwrap().to_string();
    assert!(sentence.contains("a sum of 3 values on rank 0"), "{sentence}");
    assert!(sentence.contains("a maximum of 1 values on rank 1"), "{sentence}");
}

/// Rank 2 of 3 ends at a random point of its work: no wait lasts to the deadline.
#[test]
fn no_trial_with_a_lost_rank_hangs() {
    for trial in 0..200u64 {
        let delay = Some(Delay { seed: trial, longest: Duration::from_micros(200) });
        let errors = errors(&ThreadOptions { delay, ..options(60.0) }, |comm| {
            let mut exchange = comm.exchange(&partners(&comm, 8)).unwrap();
            for step in 0..trial % 4 {
                let _ = if step % 2 == 0 { exchange.start() } else { exchange.finish() };
            }
            if trial % 2 == 0 {
                comm.abort("ended");
            }
        });
        assert_eq!(errors.len(), 2);
    }
}
