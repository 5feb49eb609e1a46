//! The communicator of a single rank: nothing is sent, except to itself.

use super::buffers::{Buffers, check_rank};
use super::{CommError, Communicator, Exchange, Partner, order};

/// One rank, alone. Sums and maxima are the values themselves; an exchange with itself copies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Communicator for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn plane(&self) -> &'static str {
        "alone"
    }

    fn exchange(&self, partners: &[Partner]) -> Result<Box<dyn Exchange>, CommError> {
        let buffers = Buffers::new(partners, 1)?;
        if let Some(&Partner { rank, send, receive }) = partners.first()
            && send != receive
        {
            return Err(CommError::Length { from: rank, to: rank, expected: receive, found: send });
        }
        Ok(Box::new(Copy(buffers)))
    }

    fn sum(&self, _: &mut [i64]) -> Result<(), CommError> {
        Ok(())
    }

    fn max(&self, values: &mut [f64]) -> Result<(), CommError> {
        // The bits of NaN are the same for any number of ranks.
        for value in values {
            *value = order::number(order::key(*value));
        }
        Ok(())
    }

    fn gather(&self, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        check_rank(root, 1)?;
        Ok(Some(vec![bytes.to_vec()]))
    }

    fn broadcast(&self, root: usize, _: &mut Vec<u8>) -> Result<(), CommError> {
        check_rank(root, 1)
    }

    fn barrier(&self) -> Result<(), CommError> {
        Ok(())
    }

    /// Nobody waits for this rank.
    fn abort(&self, _: &str) {}
}

struct Copy(Buffers);

impl Exchange for Copy {
    fn outgoing(&mut self, i: usize) -> &mut [u8] {
        self.0.outgoing(i)
    }

    fn start(&mut self) -> Result<(), CommError> {
        self.0.begin()
    }

    fn poll(&mut self) -> Result<bool, CommError> {
        self.0.check_begun()?;
        Ok(true)
    }

    fn finish(&mut self) -> Result<(), CommError> {
        self.0.check_begun()?;
        for (to, from) in self.0.incoming.iter_mut().zip(&self.0.outgoing) {
            to.copy_from_slice(from);
        }
        self.0.end();
        Ok(())
    }

    fn incoming(&self, i: usize) -> &[u8] {
        self.0.incoming(i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_with_itself_copies() {
        let mut exchange = Alone.exchange(&[Partner { rank: 0, send: 3, receive: 3 }]).unwrap();
        for round in 1..3 {
            exchange.outgoing(0).fill(round);
            exchange.start().unwrap();
            assert_eq!(exchange.start(), Err(CommError::Round { found: "started twice" }));
            assert!(exchange.poll().unwrap());
            exchange.finish().unwrap();
            assert_eq!(exchange.incoming(0), [round; 3]);
        }
        assert!(exchange.finish().is_err());
        assert!(Alone.exchange(&[Partner { rank: 1, send: 0, receive: 0 }]).is_err());
    }

    #[test]
    fn everything_else_is_the_identity() {
        let mut numbers = [f64::NAN, 2.0];
        Alone.max(&mut numbers).unwrap();
        assert!(numbers[0].is_nan());
        assert_eq!(Alone.gather(0, &[1, 2]).unwrap(), Some(vec![vec![1, 2]]));
        assert!(Alone.gather(1, &[]).is_err());
    }
}
