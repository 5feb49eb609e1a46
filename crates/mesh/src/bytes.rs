//! Numbers and texts as bytes, the lowest byte first, for messages between processes.

use crate::MeshError;

/// A message that is written value by value.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn short(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn long(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn length(&mut self, value: usize) {
        self.long(value as u64);
    }

    pub(crate) fn reals(&mut self, values: &[f64]) {
        values.iter().for_each(|x| self.long(x.to_bits()));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend(text.as_bytes());
    }

    /// A list with its length.
    pub(crate) fn list<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        self.length(items.len());
        items.iter().for_each(|item| one(self, item));
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// A message that is read in the order in which it was written. Whatever its bytes are, reading them takes no
/// more memory than a multiple of them, and does not panic.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// What the message is, for errors.
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    /// The error of a message with impossible values.
    pub(crate) const fn damaged(&self) -> MeshError {
        MeshError::Message { what: self.what }
    }

    /// Refuses a message unless its values are possible.
    pub(crate) fn check(&self, possible: bool) -> Result<(), MeshError> {
        if possible { Ok(()) } else { Err(self.damaged()) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MeshError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or_else(|| self.damaged())?;
        self.rest = rest;
        Ok(*array)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, MeshError> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn short(&mut self) -> Result<u32, MeshError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn long(&mut self) -> Result<u64, MeshError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn length(&mut self) -> Result<usize, MeshError> {
        usize::try_from(self.long()?).map_err(|_| self.damaged())
    }

    pub(crate) fn reals<const N: usize>(&mut self) -> Result<[f64; N], MeshError> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = f64::from_bits(self.long()?);
        }
        Ok(values)
    }

    pub(crate) fn text(&mut self) -> Result<String, MeshError> {
        let n = self.length()?;
        let (text, rest) = self.rest.split_at_checked(n).ok_or_else(|| self.damaged())?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| self.damaged())
    }

    /// A list with its length.
    pub(crate) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, MeshError>,
    ) -> Result<Vec<T>, MeshError> {
        let n = self.length()?;
        // Each item has a byte at least, so that a damaged length takes no memory.
        self.check(n <= self.rest.len())?;
        let mut items = Vec::with_capacity(n);
        for _ in 0..n {
            items.push(one(self)?);
        }
        Ok(items)
    }

    /// Refuses a message that goes on.
    pub(crate) fn finish(self) -> Result<(), MeshError> {
        self.check(self.rest.is_empty())
    }
}
