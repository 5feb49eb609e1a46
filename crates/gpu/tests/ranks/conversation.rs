//! What ranks say to each other in the tests of all planes.

use dgsuite_gpu::comm::{CommError, Communicator, Partner};

/// Every rank is the partner of every rank, itself included; messages have different lengths in each
/// direction.
pub(crate) fn partners(comm: &dyn Communicator, unit: usize) -> Vec<Partner> {
    let length = |from: usize, to: usize| unit * (2 * from + 3 * to);
    let me = comm.rank();
    (0..comm.size()).map(|rank| Partner { rank, send: length(me, rank), receive: length(rank, me) }).collect()
}

/// Rounds of two exchanges that are under way together, with sums between; returns everything received.
pub(crate) fn conversation(comm: &dyn Communicator, rounds: usize) -> Result<Vec<Vec<u8>>, CommError> {
    let partners = [partners(comm, 1), partners(comm, 5)];
    let mut exchanges = [comm.exchange(&partners[0])?, comm.exchange(&partners[1])?];
    let mut heard = Vec::new();
    for round in 0..rounds {
        for (kind, exchange) in exchanges.iter_mut().enumerate() {
            for (i, partner) in partners[kind].iter().enumerate() {
                let mark = (comm.rank() * 64 + partner.rank * 16 + round * 2 + kind) as u8;
                exchange.outgoing(i).fill(mark);
            }
            exchange.start()?;
        }
        let mut sum = [1, comm.rank() as i64, i64::MAX];
        comm.sum(&mut sum)?;
        heard.push(sum.iter().flat_map(|x| x.to_ne_bytes()).collect());
        for (kind, exchange) in exchanges.iter_mut().enumerate().rev() {
            while round % 2 == 1 && !exchange.poll()? {
                std::thread::yield_now();
            }
            exchange.finish()?;
            heard.extend((0..partners[kind].len()).map(|i| exchange.incoming(i).to_vec()));
        }
    }
    Ok(heard)
}

/// Two rounds of an exchange of all with all, and a sum.
pub(crate) fn work(comm: &dyn Communicator) -> Result<(), CommError> {
    let mut exchange = comm.exchange(&partners(comm, 8))?;
    for _ in 0..2 {
        exchange.start()?;
        exchange.finish()?;
    }
    comm.sum(&mut [1])
}
