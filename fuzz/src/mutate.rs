//! Damages copies of good files, in the same way for the same seed.

/// Words with which readers may have difficulties.
const WORDS: [&[u8]; 24] = [
    b"0",
    b"-1",
    b"1",
    b"2",
    b"4294967296",
    b"18446744073709551615",
    b"-9223372036854775808",
    b"1e400",
    b"1e-320",
    b"nan",
    b".inf",
    b"~",
    b"{",
    b"[",
    b"]",
    b"(",
    b")",
    b"^",
    b"-",
    b"!",
    b"\"",
    b"\xc3\xa4",
    b"\x00",
    b"\n",
];

/// Makes damaged copies.
#[derive(Clone, Debug)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// Makes a mutator that is determined by `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Returns a number below `n`, which must not be 0 (xorshift64*, Vigna 2016).
    pub fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    /// Returns a copy of one of `files`, damaged in one to four places.
    pub fn damaged(&mut self, files: &[Vec<u8>]) -> Vec<u8> {
        let mut file = files[self.below(files.len())].clone();
        for _ in 0..=self.below(4) {
            self.damage(&mut file, files);
        }
        file
    }

    fn damage(&mut self, file: &mut Vec<u8>, files: &[Vec<u8>]) {
        let at = self.below(file.len() + 1);
        let end = (at + 1 + self.below(32)).min(file.len());
        match self.below(9) {
            0 => file.truncate(at),
            1 | 2 if at < file.len() => file[at] ^= 1 << self.below(8),
            3 if at < file.len() => file[at] = self.below(256) as u8,
            4 => drop(file.drain(at..end)),
            5 => {
                let part = file[at..end].to_vec();
                let times = 1 + self.below(20) * self.below(20);
                file.splice(at..at, part.repeat(times));
            }
            6 => {
                let other = &files[self.below(files.len())];
                let from = self.below(other.len() + 1);
                let part = &other[from..(from + 1 + self.below(200)).min(other.len())];
                file.splice(at..end, part.iter().copied());
            }
            7 => {
                // A number of eight bytes, as in binary files.
                let number = [0, 1, 7, 1 << 20, 1 << 40, u64::MAX, u64::MAX / 8, 1 << 63][self.below(8)];
                file.iter_mut().skip(at).zip(number.to_le_bytes()).for_each(|(to, from)| *to = from);
            }
            _ => {
                // Replaces a word by another one.
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"+-._".contains(b);
                let from = file[..at].iter().rposition(|b| !is_part(b)).map_or(0, |i| i + 1);
                let to = file[at..].iter().position(|b| !is_part(b)).map_or(file.len(), |i| at + i);
                file.splice(from..to, WORDS[self.below(WORDS.len())].iter().copied());
            }
        }
    }
}
