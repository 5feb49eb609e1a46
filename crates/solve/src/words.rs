//! Messages of numbers and lists of numbers.

pub(crate) mod gathered;

/// A message that is written word by word (64 bits, little endian).
#[derive(Debug, Default)]
pub struct Words(Vec<u8>);

impl Words {
    /// A number.
    pub fn number(&mut self, value: usize) {
        self.0.extend((value as u64).to_le_bytes());
    }

    /// A list of numbers with its length.
    pub fn reals(&mut self, values: impl ExactSizeIterator<Item = f64>) {
        self.number(values.len());
        values.for_each(|x| self.0.extend(x.to_bits().to_le_bytes()));
    }

    /// A list of counts with its length.
    pub fn numbers(&mut self, values: impl ExactSizeIterator<Item = usize>) {
        self.number(values.len());
        values.for_each(|x| self.number(x));
    }

    /// Points or vectors.
    pub fn points(&mut self, points: &[[f64; 3]]) {
        self.number(3 * points.len());
        points.iter().flatten().for_each(|x| self.0.extend(x.to_bits().to_le_bytes()));
    }

    /// Rows of numbers, all of the same length.
    pub fn rows(&mut self, rows: &[Vec<f64>]) {
        self.number(rows.len());
        rows.iter().for_each(|row| self.reals(row.iter().copied()));
    }

    /// Bytes with their number.
    pub fn list(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
    }

    /// Elements with coordinates in them, each of which may be missing.
    pub fn places<'p>(&mut self, places: impl ExactSizeIterator<Item = &'p Option<(usize, [f64; 3])>>) {
        self.number(places.len());
        for place in places {
            let (element, r) = place.map_or((0, [0.0; 3]), |(element, r)| (element + 1, r));
            self.number(element);
            r.iter().for_each(|x| self.0.extend(x.to_bits().to_le_bytes()));
        }
    }

    /// The message.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A message that is read in the order in which it was written. What is missing at its end reads as empty.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads from the start of a message.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all of it has been read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn word(&mut self) -> u64 {
        let Some((word, rest)) = self.0.split_first_chunk::<8>() else {
            self.0 = &[];
            return 0;
        };
        self.0 = rest;
        u64::from_le_bytes(*word)
    }

    /// The next number.
    pub fn number(&mut self) -> usize {
        self.word() as usize
    }

    fn length(&mut self) -> usize {
        self.number().min(self.0.len() / 8)
    }

    /// The next bytes, see [`Words::list`].
    pub fn list(&mut self) -> &'a [u8] {
        let n = self.number();
        let (list, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        list
    }

    /// The next places, see [`Words::places`].
    pub fn places(&mut self) -> Vec<Option<(usize, [f64; 3])>> {
        let place = |element: usize, r| element.checked_sub(1).map(|element| (element, r));
        (0..self.length())
            .map(|_| place(self.number(), std::array::from_fn(|_| f64::from_bits(self.word()))))
            .collect()
    }

    /// The next list of numbers, see [`Words::reals`].
    pub fn reals(&mut self) -> Vec<f64> {
        (0..self.length()).map(|_| f64::from_bits(self.word())).collect()
    }

    /// The next list of counts, see [`Words::numbers`].
    pub fn numbers(&mut self) -> Vec<usize> {
        (0..self.length()).map(|_| self.number()).collect()
    }

    /// The next points, see [`Words::points`].
    pub fn points(&mut self) -> Vec<[f64; 3]> {
        self.reals().chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect()
    }

    /// The next rows, see [`Words::rows`].
    pub fn rows(&mut self) -> Vec<Vec<f64>> {
        let n = self.length();
        (0..n).map(|_| self.reals()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_and_cut_ones_read_as_empty() {
        let mut words = Words::default();
        words.number(7);
        words.reals([0.1, f64::NAN, -0.0].into_iter());
        words.points(&[[1.0, 2.0, 3.0]]);
        words.rows(&[vec![1.5], vec![2.5]]);
        words.numbers([4, 5].into_iter());
        words.list(b"part");
        words.places([Some((3, [0.5, 1.0, -1.0])), None].iter());
        let mut reader = Reader::new(words.bytes());
        assert_eq!(reader.number(), 7);
        let reals = reader.reals();
        assert!(reals[0] == 0.1 && reals[1].is_nan() && reals[2].is_sign_negative());
        assert_eq!(reader.points(), [[1.0, 2.0, 3.0]]);
        assert_eq!(reader.rows(), [[1.5], [2.5]]);
        assert_eq!(reader.numbers(), [4, 5]);
        assert_eq!(reader.list(), b"part");
        assert_eq!(reader.places(), [Some((3, [0.5, 1.0, -1.0])), None]);
        assert!(reader.is_empty());
        let mut cut = Reader::new(&words.bytes()[..20]);
        assert_eq!((cut.number(), cut.reals().len(), cut.points().len()), (7, 0, 0));
    }
}
