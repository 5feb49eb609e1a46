//! A cursor over a mesh file: tokens of text files, words of binary files, errors with their location.

use nom::{
    IResult, Parser,
    bytes::complete::{tag, take, take_till, take_until, take_while1},
    character::complete::{digit1, multispace0},
    combinator::{opt, recognize},
    number::{Endianness, complete as number},
    sequence::{preceded, terminated},
};

use crate::{Location, MeshError};

/// The encoding of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Text,
    Binary(Endianness),
}

type Parsed<'a, T> = IResult<&'a [u8], T>;

const fn is_space(b: u8) -> bool {
    b.is_ascii_whitespace()
}

/// A word between white space.
fn word(i: &[u8]) -> Parsed<'_, &[u8]> {
    preceded(multispace0, take_while1(|b| !is_space(b))).parse(i)
}

/// The rest of the line, without its end.
fn line(i: &[u8]) -> Parsed<'_, &[u8]> {
    terminated(take_till(|b| b == b'\n'), opt(tag("\n"))).parse(i)
}

/// The rest of the file and the name of the current section.
pub(crate) struct Input<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
    pub(crate) encoding: Encoding,
    /// Line numbers are meaningless in a binary file, even in its text parts.
    binary: bool,
    section: String,
}

impl<'a> Input<'a> {
    pub(crate) const fn new(whole: &'a [u8]) -> Self {
        Self { whole, rest: whole, encoding: Encoding::Text, binary: false, section: String::new() }
    }

    pub(crate) fn location(&self) -> Location {
        self.location_of(self.rest)
    }

    /// The rest of the file, to be passed to [`Self::location_of`] if an error follows: counting lines takes
    /// time.
    pub(crate) const fn here(&self) -> &'a [u8] {
        self.rest
    }

    /// The location where `rest`, an end of the file, begins; in text the location of its first word.
    pub(crate) fn location_of(&self, rest: &[u8]) -> Location {
        let mut byte = self.whole.len() - rest.len();
        if self.encoding == Encoding::Text {
            byte += rest.iter().take_while(|&&b| is_space(b)).count();
        }
        if self.binary {
            return Location { byte, line: None };
        }
        let before = &self.whole[..byte.min(self.whole.len())];
        let ends = before.iter().filter(|&&b| b == b'\n').count();
        // At the end of the file, the last line is the last one that is not empty.
        let line = if byte == self.whole.len() && before.ends_with(b"\n") { ends.max(1) } else { ends + 1 };
        Location { byte, line: Some(line) }
    }

    /// The first word of the rest, shortened, for messages.
    fn found(&self) -> String {
        let start = self.rest.iter().take_while(|&&b| is_space(b)).count();
        let word = self.rest[start..].iter().take_while(|&&b| !is_space(b)).take(24);
        word.flat_map(|&b| std::ascii::escape_default(b)).map(char::from).collect()
    }

    /// The error if `expected` is not there: the file is cut off, or something else is there.
    pub(crate) fn unexpected(&self, expected: &'static str) -> MeshError {
        let (location, section) = (self.location(), self.section.clone());
        let at_end = match self.encoding {
            // A last word without a line end may be incomplete.
            Encoding::Text => {
                let start = self.rest.iter().take_while(|&&b| is_space(b)).count();
                !self.rest[start..].iter().any(|&b| is_space(b))
            }
            Encoding::Binary(_) => true,
        };
        if at_end {
            MeshError::Truncated { location, section, expected }
        } else {
            MeshError::Syntax { location, section, expected, found: self.found() }
        }
    }

    fn run<T>(
        &mut self,
        expected: &'static str,
        parser: impl FnOnce(&'a [u8]) -> Parsed<'a, T>,
    ) -> Result<T, MeshError> {
        match parser(self.rest) {
            Ok((rest, value)) => {
                self.rest = rest;
                Ok(value)
            }
            Err(_) => Err(self.unexpected(expected)),
        }
    }

    /// Read the following with this encoding.
    pub(crate) fn set_encoding(&mut self, encoding: Encoding) {
        self.encoding = encoding;
        self.binary = encoding != Encoding::Text;
    }

    /// True if the next word is `word`.
    pub(crate) fn next_word_is(&self, expected: &[u8]) -> bool {
        word(self.rest).is_ok_and(|(_, found)| found == expected)
    }

    /// The next word, as text.
    pub(crate) fn word(&mut self, expected: &'static str) -> Result<&'a str, MeshError> {
        let before = self.rest;
        let bytes = self.run(expected, word)?;
        std::str::from_utf8(bytes).map_err(|_| {
            self.rest = before;
            self.unexpected(expected)
        })
    }

    /// The next word read as a number.
    fn parsed<T: std::str::FromStr>(&mut self, expected: &'static str) -> Result<T, MeshError> {
        let before = self.rest;
        let word = self.word(expected)?;
        word.parse().map_err(|_| {
            self.rest = before;
            self.unexpected(expected)
        })
    }

    /// The rest of the line as text; invalid bytes are replaced.
    pub(crate) fn line(&mut self) -> String {
        let (rest, bytes) = line(self.rest).unwrap_or((&[], self.rest));
        self.rest = rest;
        String::from_utf8_lossy(bytes).trim_end_matches('\r').to_owned()
    }

    /// Skip white space; true if something follows.
    pub(crate) fn skip_space(&mut self) -> bool {
        let n = self.rest.iter().take_while(|&&b| is_space(b)).count();
        self.rest = &self.rest[n..];
        !self.rest.is_empty()
    }

    /// The name of the section that starts here, after white space.
    ///
    /// The line and its end are consumed, and nothing after them.
    pub(crate) fn section(&mut self) -> Result<String, MeshError> {
        self.skip_space();
        "".clone_into(&mut self.section);
        let text = self.in_text(|input| {
            if input.rest.first() != Some(&b'$') {
                return Err(MeshError::Syntax {
                    location: input.location(),
                    section: "MeshFormat".to_owned(),
                    expected: "a section such as `$Nodes`",
                    found: input.found(),
                });
            }
            Ok(input.line())
        })?;
        text.trim_end()[1..].clone_into(&mut self.section);
        Ok(self.section.clone())
    }

    /// Check that the section ends here.
    pub(crate) fn end(&mut self) -> Result<(), MeshError> {
        self.skip_space();
        let end = format!("$End{}", self.section);
        let found: Parsed<'_, &[u8]> = tag(end.as_bytes()).parse(self.rest);
        if let Ok((rest, _)) = found
            && rest.first().is_none_or(|&b| is_space(b))
        {
            self.rest = rest;
            return Ok(());
        }
        if self.rest.is_empty() {
            return Err(self.unexpected("the end of the section"));
        }
        let (location, section) = (self.location(), self.section.clone());
        Err(MeshError::SectionEnd { location, section, found: self.found() })
    }

    /// Skip the section's content up to its end.
    pub(crate) fn skip_section(&mut self) -> Result<(), MeshError> {
        let end = format!("$End{}", self.section);
        let found: Parsed<'_, &[u8]> = take_until(end.as_bytes()).parse(self.rest);
        match found {
            Ok((rest, _)) => {
                self.rest = rest;
                self.end()
            }
            Err(_) => {
                self.rest = &[];
                Err(self.unexpected("the end of the section"))
            }
        }
    }

    /// Run `read` on a part of the file that is text, even in binary files.
    pub(crate) fn in_text<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, MeshError>,
    ) -> Result<T, MeshError> {
        let encoding = std::mem::replace(&mut self.encoding, Encoding::Text);
        let result = read(self);
        self.encoding = encoding;
        result
    }

    /// A count written as text on a line of its own; binary data may follow the line's end.
    pub(crate) fn text_count(&mut self, what: &'static str, least_bytes: usize) -> Result<usize, MeshError> {
        self.in_text(|input| {
            let n = input.count(what, least_bytes)?;
            input.line();
            Ok(n)
        })
    }

    /// A 32-bit signed integer.
    pub(crate) fn int(&mut self, expected: &'static str) -> Result<i32, MeshError> {
        match self.encoding {
            Encoding::Text => self.parsed(expected),
            Encoding::Binary(e) => self.run(expected, |i| number::i32(e).parse(i)),
        }
    }

    /// A `size_t`.
    pub(crate) fn size(&mut self, expected: &'static str) -> Result<u64, MeshError> {
        match self.encoding {
            Encoding::Text => {
                let (rest, digits) = match recognize_digits(self.rest) {
                    Ok(found) => found,
                    Err(_) => return Err(self.unexpected(expected)),
                };
                let value = digits
                    .iter()
                    .try_fold(0_u64, |v, &b| v.checked_mul(10)?.checked_add(u64::from(b - b'0')));
                match value {
                    Some(value) if rest.first().is_none_or(|&b| is_space(b)) => {
                        self.rest = rest;
                        Ok(value)
                    }
                    _ => Err(self.unexpected(expected)),
                }
            }
            Encoding::Binary(e) => self.run(expected, |i| number::u64(e).parse(i)),
        }
    }

    /// A number with a fractional part.
    pub(crate) fn double(&mut self, expected: &'static str) -> Result<f64, MeshError> {
        match self.encoding {
            Encoding::Text => self.parsed(expected),
            Encoding::Binary(e) => self.run(expected, |i| number::f64(e).parse(i)),
        }
    }

    /// A count of items that need at least `least_bytes` each; an error if the file is too short.
    pub(crate) fn count(&mut self, what: &'static str, least_bytes: usize) -> Result<usize, MeshError> {
        let here = self.rest;
        let count = self.size(what)?;
        let bytes = self.rest.len();
        // The last item of a text file may lack its line end.
        let possible = (bytes / least_bytes.max(1)) as u64 + 1;
        if count > possible {
            let (location, section) = (self.location_of(here), self.section.clone());
            return Err(MeshError::Count { location, section, what, count, bytes });
        }
        Ok(count as usize)
    }

    /// `n` bytes of a binary file.
    pub(crate) fn bytes(&mut self, n: usize, expected: &'static str) -> Result<&'a [u8], MeshError> {
        self.run(expected, |i| take(n).parse(i))
    }

    /// `n` numbers of type `size_t`.
    pub(crate) fn sizes(
        &mut self,
        n: usize,
        expected: &'static str,
        out: &mut Vec<u64>,
    ) -> Result<(), MeshError> {
        match self.encoding {
            Encoding::Text => {
                for _ in 0..n {
                    out.push(self.size(expected)?);
                }
            }
            Encoding::Binary(e) => {
                let bytes = self.bytes(n.saturating_mul(8), expected)?;
                out.extend(bytes.chunks_exact(8).map(|b| u64_of(e, b)));
            }
        }
        Ok(())
    }
}

/// Digits after white space.
fn recognize_digits(i: &[u8]) -> Parsed<'_, &[u8]> {
    preceded(multispace0, recognize(digit1)).parse(i)
}

/// The number in 8 bytes.
pub(crate) fn u64_of(e: Endianness, bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    if e == Endianness::Big { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) }
}

/// The number in 4 bytes.
pub(crate) fn i32_of(e: Endianness, bytes: &[u8]) -> i32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[..4]);
    if e == Endianness::Big { i32::from_be_bytes(word) } else { i32::from_le_bytes(word) }
}

/// The number in 8 bytes.
pub(crate) fn f64_of(e: Endianness, bytes: &[u8]) -> f64 {
    f64::from_bits(u64_of(e, bytes))
}
