//! What one rank does for all others: long work for which they wait, and large messages to one of them.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::{CommError, Communicator, Partner, buffers::check_rank};

/// How often a rank that works shows the others that it lives.
const SIGN: Duration = Duration::from_millis(100);

/// The stack of the thread that works, in bytes: that of the main thread on most systems.
const STACK: usize = 8 << 20;

/// Does `work` on rank `root`, on a thread of its own, while the other ranks wait; the result is `None` on
/// them. However long the work takes, the deadline of waits does not end it, as the rank gives signs of life;
/// if the rank ends instead, the others return its error. Collective.
///
/// # Errors
/// Those of waits, after the end of the work.
pub fn one_works<T: Send>(
    comm: &dyn Communicator,
    root: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<Option<T>, CommError> {
    check_rank(root, comm.size())?;
    if comm.rank() != root {
        let mut sign = vec![BUSY];
        while sign == [BUSY] {
            comm.broadcast(root, &mut sign)?;
        }
        return Ok(None);
    }
    thread::scope(|scope| {
        let (end, ended) = channel::<()>();
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            // Dropped at the end, and if the work panics.
            let _end = end;
            work()
        });
        let worker = worker.map_err(|_| CommError::OutOfMemory { bytes: STACK })?;
        let mut failure = None;
        while ended.recv_timeout(SIGN) == Err(RecvTimeoutError::Timeout) {
            if failure.is_none() {
                failure = comm.broadcast(root, &mut vec![BUSY]).err();
            }
        }
        let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match failure {
            Some(failure) => Err(failure),
            None => comm.broadcast(root, &mut vec![DONE]).map(|()| Some(result)),
        }
    })
}

const BUSY: u8 = 1;
const DONE: u8 = 0;

/// Bytes of a message that are sent at once.
const PIECE: usize = 16 << 20;

/// Sends bytes of any number from rank `from` to another one, which returns them; all others return none, and
/// so does `from`. On ranks other than `from`, `bytes` is not read. Collective, so that all ranks see that
/// those two live.
///
/// # Errors
/// Those of waits; [`CommError::Partner`] if the ranks do not exist or are the same.
pub fn pass(comm: &dyn Communicator, from: usize, to: usize, bytes: &[u8]) -> Result<Vec<u8>, CommError> {
    pass_in_pieces(comm, (from, to), bytes, PIECE)
}

fn pass_in_pieces(
    comm: &dyn Communicator,
    (from, to): (usize, usize),
    bytes: &[u8],
    piece: usize,
) -> Result<Vec<u8>, CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    check_rank(from, size)?;
    check_rank(to, size)?;
    if from == to {
        return Err(CommError::Partner { rank: to, size, reason: "it has the bytes" });
    }
    let mut length = (bytes.len() as u64).to_le_bytes().to_vec();
    comm.broadcast(from, &mut length)?;
    let length = length.first_chunk().map_or(0, |&length| u64::from_le_bytes(length) as usize);
    let piece = piece.min(length);
    let partner = match rank {
        _ if rank == from => Some(Partner { rank: to, send: piece, receive: 0 }),
        _ if rank == to => Some(Partner { rank: from, send: 0, receive: piece }),
        _ => None,
    };
    let mut exchange = comm.exchange(partner.as_slice())?;
    let mut received = Vec::new();
    if rank == to {
        received.try_reserve_exact(length).map_err(|_| CommError::OutOfMemory { bytes: length })?;
    }
    for begin in (0..length).step_by(piece.max(1)).filter(|_| partner.is_some()) {
        let end = (begin + piece).min(length);
        if rank == from {
            exchange.outgoing(0)[..end - begin].copy_from_slice(&bytes[begin..end]);
        }
        exchange.start()?;
        exchange.finish()?;
        if rank == to {
            received.extend_from_slice(&exchange.incoming(0)[..end - begin]);
        }
    }
    Ok(received)
}

#[cfg(test)]
mod tests {
    use super::super::{Alone, ThreadOptions, on_each, threads, threads_with};
    use super::*;

    #[test]
    fn others_wait_for_work_beyond_the_deadline_but_not_for_a_rank_that_has_ended() {
        let deadline = Duration::from_millis(400);
        let ranks = || threads_with(3, &ThreadOptions { deadline, ..ThreadOptions::default() });
        let slow = || {
            thread::sleep(3 * deadline);
            7
        };
        let results = on_each(ranks(), |comm| one_works(&comm, 1, slow));
        assert_eq!(results, [Ok(None), Ok(Some(7)), Ok(None)]);
        assert_eq!(one_works(&Alone, 0, || 5), Ok(Some(5)));
        // Rank 1 ends in its work, or does not come at all.
        let results = on_each(ranks(), |comm| match comm.rank() {
            1 => Ok(None),
            _ => one_works(&comm, 1, slow),
        });
        let error = results[0].as_ref().expect_err("rank 1 has ended").to_string();
        assert!(error.contains("rank 1 has ended"), "{error}");
        let panicked = std::panic::catch_unwind(|| {
            on_each(ranks(), |comm| {
                let result = one_works(&comm, 1, || -> u8 { panic!("a defect") });
                assert!(matches!(result, Err(CommError::Aborted { rank: 1, .. })), "{result:?}");
            });
        });
        let text = panicked.expect_err("the panic of rank 1");
        assert_eq!(text.downcast_ref::<&str>(), Some(&"a defect"));
    }

    #[test]
    fn bytes_arrive_whole_in_pieces_of_any_size() {
        for length in [0, 1, 6, 7, 8, 20] {
            let bytes: Vec<u8> = (1..=length).collect();
            let results = on_each(threads(3), |comm| {
                let own = if comm.rank() == 2 { &bytes[..] } else { &[9] };
                let first = pass_in_pieces(&comm, (2, 0), own, 7)?;
                // The calls of all ranks stay in step.
                comm.barrier()?;
                Ok::<_, CommError>((first, pass_in_pieces(&comm, (2, 1), own, 100)?))
            });
            let none = Vec::new;
            assert_eq!(results[0], Ok((bytes.clone(), none())));
            assert_eq!(results[1], Ok((none(), bytes.clone())));
            assert_eq!(results[2], Ok((none(), none())));
        }
        let refused =
            on_each(threads(2), |comm| pass(&comm, 1, 1, &[]).is_err() && pass(&comm, 0, 2, &[]).is_err());
        assert_eq!(refused, [true, true]);
    }
}
