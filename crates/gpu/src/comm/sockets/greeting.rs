//! What two processes say to each other when they meet: they are ranks of the same run and program.

use std::io::{self, Read, Write};
use std::time::Duration;

/// The first bytes of every greeting; their change is a change of the protocol.
const MAGIC: [u8; 8] = *b"dgsuite1";
/// The longest greeting, in bytes.
const LONGEST: usize = 4096;

/// What a process says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) token: String,
    pub(super) version: String,
    pub(super) size: usize,
    pub(super) rank: usize,
}

/// The answer of rank 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Come in; waits of this run have this deadline.
    Welcome(Duration),
    /// This is another run: look elsewhere.
    Other(String),
    /// No run is possible, for this reason.
    Never(String),
}

impl Hello {
    /// The answer of rank 0, which is `self`, to another process. `came` tells whether that rank is there.
    pub(super) fn judge(&self, other: &Self, came: bool, deadline: Duration) -> Reply {
        let rank = other.rank;
        if other.token != self.token {
            return Reply::Other(format!("rank 0 is of {}, rank {rank} of {}", self.token, other.token));
        }
        if other.version != self.version {
            let versions = (&other.version, &self.version);
            return Reply::Never(format!(
                "rank {rank} is version {} of the program, rank 0 version {}",
                versions.0, versions.1
            ));
        }
        if other.size != self.size || rank == 0 || rank >= self.size {
            let (theirs, ours) = (other.size, self.size);
            return Reply::Never(format!("a process is rank {rank} of {theirs}, another rank 0 of {ours}"));
        }
        if came {
            return Reply::Never(format!("two processes are rank {rank}"));
        }
        Reply::Welcome(deadline)
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { token, version, size, rank } = self;
        write(out, &[token, version, &size.to_string(), &rank.to_string()])
    }

    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let text = read(from)?;
        let words: Vec<&str> = text.split('\n').collect();
        let hello = match words[..] {
            [token, version, size, rank] => {
                let (token, version) = (token.to_owned(), version.to_owned());
                let numbers = size.parse().ok().zip(rank.parse().ok());
                numbers.map(|(size, rank)| Self { token, version, size, rank })
            }
            _ => None,
        };
        hello.ok_or_else(stranger)
    }
}

impl Reply {
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Welcome(deadline) => write(out, &["welcome", &deadline.as_millis().to_string()]),
            Self::Other(reason) => write(out, &["other", reason]),
            Self::Never(reason) => write(out, &["never", reason]),
        }
    }

    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let text = read(from)?;
        match text.split_once('\n') {
            Some(("welcome", time)) => {
                time.parse().map(|ms| Self::Welcome(Duration::from_millis(ms))).map_err(|_| stranger())
            }
            Some(("other", reason)) => Ok(Self::Other(reason.to_owned())),
            Some(("never", reason)) => Ok(Self::Never(reason.to_owned())),
            _ => Err(stranger()),
        }
    }
}

fn stranger() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "another program answers there")
}

/// Writes lines; line feeds within them become blanks.
fn write(out: &mut impl Write, lines: &[&str]) -> io::Result<()> {
    let mut text =
        lines.iter().map(|line| line.replace('\n', " ")).collect::<Vec<_>>().join("\n").into_bytes();
    text.truncate(LONGEST);
    let length = text.len() as u32;
    out.write_all(&[&MAGIC[..], &length.to_le_bytes(), &text].concat())
}

fn read(from: &mut impl Read) -> io::Result<String> {
    let mut magic = [0; 8];
    from.read_exact(&mut magic)?;
    let mut length = [0; 4];
    if magic == MAGIC {
        from.read_exact(&mut length)?;
    }
    let length = u32::from_le_bytes(length) as usize;
    if !(1..=LONGEST).contains(&length) {
        return Err(stranger());
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(rank: usize) -> Hello {
        Hello { token: "run 'a'".to_owned(), version: "1.0".to_owned(), size: 3, rank }
    }

    #[test]
    fn greetings_read_back_and_strangers_are_refused() {
        let mut bytes = Vec::new();
        hello(1).write(&mut bytes).expect("memory");
        assert_eq!(Hello::read(&mut &bytes[..]).expect("whole"), hello(1));
        assert!(Hello::read(&mut &bytes[..bytes.len() - 1]).is_err());
        for reply in [
            Reply::Welcome(Duration::from_millis(1500)),
            Reply::Other("that".to_owned()),
            Reply::Never("this".to_owned()),
        ] {
            let mut bytes = Vec::new();
            reply.write(&mut bytes).expect("memory");
            assert_eq!(Reply::read(&mut &bytes[..]).expect("whole"), reply);
        }
        let mut long = Vec::from(MAGIC);
        long.extend(u32::MAX.to_le_bytes());
        for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &long] {
            let error = Hello::read(&mut &bytes[..]).expect_err("a stranger");
            assert_eq!(error.to_string(), "another program answers there");
        }
    }

    #[test]
    fn ranks_of_the_same_run_and_program_are_welcome() {
        let (root, deadline) = (hello(0), Duration::from_secs(1));
        let judge = |other: &Hello, came| root.judge(other, came, deadline);
        assert_eq!(judge(&hello(2), false), Reply::Welcome(deadline));
        assert_eq!(judge(&hello(2), true), Reply::Never("two processes are rank 2".to_owned()));
        let foreign = Hello { token: "run 'b'".to_owned(), ..hello(1) };
        assert_eq!(
            judge(&foreign, false),
            Reply::Other("rank 0 is of run 'a', rank 1 of run 'b'".to_owned())
        );
        for other in [
            Hello { version: "1.1".to_owned(), ..hello(1) },
            Hello { size: 4, ..hello(1) },
            hello(0),
            hello(3),
        ] {
            assert!(matches!(judge(&other, false), Reply::Never(_)), "{other:?}");
        }
    }
}
