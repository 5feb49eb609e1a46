//! Named sections, one after the other in a file, each with its own version and checksum.
//!
//! # Format
//! `DGSUITE2`, then the sections. A section consists of (all numbers little-endian):
//!
//! | bytes | what |
//! |---|---|
//! | 1 | length n of the name, 1 to 64 |
//! | 1 | 1 if a program that does not know the section must refuse the file, 0 if it may skip it |
//! | 2 | version |
//! | 8 | length m of the content |
//! | n | name |
//! | m | content: length of the description (u32), the description (JSON), 64-bit floating-point numbers to the end |
//! | 4 | CRC-32 of the section up to here |
//!
//! The last section is `end`; its number is the count of sections before it. The other sections may be in any
//! order.

use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crc32fast::Hasher;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{CheckpointProblem, Damage};

/// The first bytes of a file of this format.
pub(super) const MAGIC: &[u8; 8] = b"DGSUITE2";

const END: &str = "end";
const END_VERSION: u16 = 1;
const LONGEST_NAME: usize = 64;
/// Length of name, flag, version, length of content.
const FIXED: usize = 12;
/// Bytes that are read or written at once; a multiple of 8.
pub(super) const CHUNK: usize = 1 << 16;

/// A part of a checkpoint: a description and numbers under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Section<'a> {
    name: Cow<'static, str>,
    version: u16,
    required: bool,
    about: Vec<u8>,
    numbers: Cow<'a, [f64]>,
    left: Option<Left>,
}

/// Where the numbers of a section are that was read without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Position in the file.
    pub(super) at: u64,
    /// How many there are.
    pub(super) numbers: u64,
    /// The checksum of the section up to the numbers.
    pub(super) head: u32,
    /// The checksum of the section, as the file has it.
    pub(super) sum: u32,
}

impl<'a> Section<'a> {
    /// A section that is needed to use the others: a program that does not know it, or only older versions of
    /// it, rejects the file.
    ///
    /// # Panics
    /// If the name is empty or longer than 64 bytes.
    #[must_use]
    pub fn required(name: &'static str, version: u16) -> Self {
        assert!(
            (1..=LONGEST_NAME).contains(&name.len()),
            "the name of a section has 1 to {LONGEST_NAME} bytes"
        );
        let (name, about, numbers) = (Cow::Borrowed(name), b"{}".to_vec(), Cow::Borrowed(&[][..]));
        Self { name, version, required: true, about, numbers, left: None }
    }

    /// A section that a program skips if it does not know it.
    ///
    /// # Panics
    /// As [`required`](Self::required).
    #[must_use]
    pub fn optional(name: &'static str, version: u16) -> Self {
        Self { required: false, ..Self::required(name, version) }
    }

    /// Adds a description, which is stored as JSON.
    ///
    /// # Panics
    /// If `about` has no JSON form, such as a map whose keys are not text.
    #[must_use]
    pub fn about(mut self, about: &impl Serialize) -> Self {
        self.about = serde_json::to_vec(about).expect("a description has a JSON form");
        self
    }

    /// Sets the numbers.
    #[must_use]
    pub fn numbers(mut self, numbers: impl Into<Cow<'a, [f64]>>) -> Self {
        self.numbers = numbers.into();
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version.
    #[must_use]
    pub fn version(&self) -> u16 {
        self.version
    }

    /// The numbers.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.numbers
    }

    /// The numbers, without a copy if they were read from a file.
    #[must_use]
    pub fn into_values(self) -> Vec<f64> {
        self.numbers.into_owned()
    }

    /// The description; `None` if it does not fit the type.
    #[must_use]
    pub fn description<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.about).ok()
    }

    /// Where the numbers are, if they were left in the file.
    pub(super) fn left(&self) -> Option<Left> {
        self.left
    }

    /// The bytes before the numbers, if there are `numbers` of these.
    pub(super) fn head(&self, numbers: usize) -> Vec<u8> {
        let content = 4 + self.about.len() as u64 + 8 * numbers as u64;
        let mut head = vec![self.name.len() as u8, u8::from(self.required)];
        head.extend(self.version.to_le_bytes());
        head.extend(content.to_le_bytes());
        head.extend(self.name.as_bytes());
        head.extend((self.about.len() as u32).to_le_bytes());
        head.extend(&self.about);
        head
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut crc = Hasher::new();
        let head = self.head(self.numbers.len());
        crc.update(&head);
        out.write_all(&head)?;
        write_numbers(out, &self.numbers, &mut crc)?;
        out.write_all(&crc.finalize().to_le_bytes())
    }
}

/// Writes numbers and adds them to a checksum.
pub(super) fn write_numbers(out: &mut impl Write, numbers: &[f64], crc: &mut Hasher) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(CHUNK.min(8 * numbers.len()));
    for numbers in numbers.chunks(CHUNK / 8) {
        bytes.clear();
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        crc.update(&bytes);
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// The last section of a file with `count` others.
pub(super) fn end(count: usize) -> Section<'static> {
    Section::required(END, END_VERSION).numbers(vec![count as f64])
}

/// Reads the sections that follow [`MAGIC`], `length` bytes in all. If `known` has no version of a section,
/// or only an older one, a required section is an error and an optional one is skipped. The numbers of the
/// sections named in `leave` stay in the file, and the checksums of these sections are not checked.
///
/// # Errors
/// Errors of the source; data that is truncated, altered, or newer than this program.
pub(super) fn read_all(
    source: &mut (impl Read + Seek),
    length: u64,
    known: &[(&str, u16)],
    leave: &[&str],
) -> Result<Vec<Section<'static>>, CheckpointProblem> {
    let mut source = Source { source, left: length, crc: Hasher::new() };
    let mut sections: Vec<Section<'static>> = Vec::new();
    let mut count = 0.0;
    loop {
        let (section, newest) = read(&mut source, known, leave)?;
        if section.name == END {
            if source.left > 0 || section.values() != [count] {
                return Err(Damage::End.into());
            }
            return Ok(sections);
        }
        count += 1.0;
        if sections.iter().any(|other| other.name == section.name) {
            return Err(Damage::Twice(section.name.into_owned()).into());
        }
        match newest {
            Some(newest) if section.version <= newest => sections.push(section),
            _ if !section.required => {}
            Some(newest) => {
                let Section { name, version, .. } = section;
                let what = format!("its section `{name}` has version {version}, this program reads {newest}");
                return Err(CheckpointProblem::Newer { what });
            }
            None => {
                let what = format!("this program does not know its section `{}`", section.name);
                return Err(CheckpointProblem::Newer { what });
            }
        }
    }
}

/// Reads one section, given the newest known version of it. Numbers of a skipped section are not stored.
fn read(
    source: &mut Source<'_, impl Read + Seek>,
    known: &[(&str, u16)],
    leave: &[&str],
) -> Result<(Section<'static>, Option<u16>), CheckpointProblem> {
    source.crc = Hasher::new();
    let [length, flag, v0, v1, content @ ..] = source.array::<FIXED>()?;
    let name = source.bytes(u64::from(length))?;
    let shown = String::from_utf8_lossy(&name).escape_debug().to_string();
    let header = || Damage::Header(shown.clone());
    let content = u64::from_le_bytes(content);
    // This finds a wrong length; the checksum finds all other errors.
    if content.saturating_add(4) > source.left {
        return Err(Damage::Length { found: source.left, wanted: content.saturating_add(4) }.into());
    }
    let about_length = u64::from(u32::from_le_bytes(source.array()?));
    let numbers = content.checked_sub(4 + about_length).filter(|n| n % 8 == 0).ok_or_else(header)? / 8;
    let about = source.bytes(about_length)?;
    let version = u16::from_le_bytes([v0, v1]);
    let newest = if name == END.as_bytes() {
        Some(END_VERSION)
    } else {
        known.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, newest)| *newest)
    };
    let mut left = None;
    let numbers = if leave.iter().any(|other| other.as_bytes() == name) {
        let (at, head) = (source.skip(8 * numbers)?, source.crc.clone().finalize());
        left = Some(Left { at, numbers, head, sum: u32::from_le_bytes(source.array()?) });
        Vec::new()
    } else {
        let numbers = source.numbers(numbers, newest.is_some_and(|newest| version <= newest))?;
        let sum = source.crc.clone().finalize();
        if u32::from_le_bytes(source.array()?) != sum {
            return Err(Damage::Section(shown).into());
        }
        numbers
    };
    // If the checksum matches, the bytes are as written.
    let name = String::from_utf8(name).ok().filter(|name| (1..=LONGEST_NAME).contains(&name.len()));
    let name = Cow::Owned(name.filter(|_| flag <= 1).ok_or_else(header)?);
    Ok((Section { name, version, required: flag == 1, about, numbers: Cow::Owned(numbers), left }, newest))
}

/// The rest of a file, and the checksum of the bytes read of a section.
struct Source<'a, R> {
    source: &'a mut R,
    left: u64,
    crc: Hasher,
}

impl<R: Read + Seek> Source<'_, R> {
    /// Passes bytes over and returns their position.
    fn skip(&mut self, n: u64) -> Result<u64, CheckpointProblem> {
        self.left = self.left.checked_sub(n).ok_or(Damage::End)?;
        let at = self.source.stream_position().map_err(CheckpointProblem::Unreadable)?;
        self.source.seek(SeekFrom::Start(at + n)).map_err(CheckpointProblem::Unreadable)?;
        Ok(at)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), CheckpointProblem> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(Damage::End)?;
        self.source.read_exact(bytes).map_err(CheckpointProblem::Unreadable)?;
        self.crc.update(bytes);
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointProblem> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn bytes(&mut self, n: u64) -> Result<Vec<u8>, CheckpointProblem> {
        if n > self.left {
            return Err(Damage::End.into());
        }
        let mut bytes = vec![0; n as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads `n` numbers; the caller has checked that the file is long enough. Returns none if they are not
    /// to be kept.
    fn numbers(&mut self, n: u64, kept: bool) -> Result<Vec<f64>, CheckpointProblem> {
        let mut numbers = Vec::new();
        if kept {
            let reserved = numbers.try_reserve_exact(n as usize);
            reserved.map_err(|_| CheckpointProblem::Unreadable(io::ErrorKind::OutOfMemory.into()))?;
        }
        let (mut left, mut bytes) = (8 * n, vec![0; CHUNK]);
        while left > 0 {
            let part = &mut bytes[..left.min(CHUNK as u64) as usize];
            self.fill(part)?;
            left -= part.len() as u64;
            if kept {
                numbers.extend(part.as_chunks().0.iter().map(|eight| f64::from_le_bytes(*eight)));
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [(&str, u16); 2] = [("one", 1), ("two", 3)];

    fn written(sections: &[Section<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        sections.iter().for_each(|section| section.write(&mut out).unwrap());
        end(sections.len()).write(&mut out).unwrap();
        out
    }

    fn back(bytes: &[u8]) -> Result<Vec<Section<'static>>, CheckpointProblem> {
        read_all(&mut io::Cursor::new(bytes), bytes.len() as u64, &KNOWN, &[])
    }

    #[test]
    fn sections_come_back_and_unknown_ones_are_skipped_if_they_may_be() {
        let numbers: Vec<f64> = (0..20_000).map(|i| (f64::from(i) * 0.1).sin()).collect();
        let one = Section::required("one", 1).about(&[1, 2]).numbers(numbers);
        let two = Section::optional("two", 2);
        let unknown = Section::optional("a controller of next year", 7).numbers(vec![1.0]);
        let newer = Section::optional("two", 4).numbers(vec![1.0]);
        assert_eq!(
            back(&written(&[unknown.clone(), one.clone(), two.clone()])).unwrap(),
            [one.clone(), two.clone()]
        );
        assert_eq!(one.description::<Vec<u8>>(), Some(vec![1, 2]));
        assert_eq!(back(&written(&[newer, one.clone()])).unwrap(), [one]);
        let refused = |section| back(&written(&[section])).unwrap_err().to_string();
        let needed = Section { required: true, ..unknown };
        assert!(refused(needed).contains("does not know its section `a controller of next year`"));
        assert!(refused(Section::required("two", 99)).contains("`two` has version 99, this program reads 3"));
        assert!(back(&written(&[two.clone(), two])).unwrap_err().to_string().contains("there twice"));
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let one = Section::required("one", 1).about(&"x").numbers(vec![1.5, -2.0]);
        let bytes = written(&[one, Section::optional("unknown", 1).numbers(vec![3.0])]);
        assert!(back(&bytes).is_ok());
        for n in 0..bytes.len() {
            assert!(back(&bytes[..n]).is_err(), "cut to {n} bytes");
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[n] ^= 1 << bit;
                assert!(back(&flipped).is_err(), "bit {bit} of byte {n} flipped");
            }
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(matches!(back(&longer), Err(CheckpointProblem::Damaged(Damage::End))));
    }
}
