//! Requests of a rank and their answers as bytes: a kind, a length, and integers with the lowest byte first.

use std::io::{self, Read, Write};
use std::time::Duration;

use super::super::{CommError, Partner};

/// An operation of a rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    Sum(Vec<i64>),
    Max(Vec<f64>),
    Gather(usize, Vec<u8>),
    Broadcast(usize, Vec<u8>),
    Barrier,
    Abort(String),
    Exchange(Vec<Partner>),
    /// The number of the exchange and its messages.
    Start(usize, Vec<Vec<u8>>),
    Poll(usize),
    /// The number of the exchange and of its partners.
    Finish(usize, usize),
    /// The number of an exchange that is not used any more. It has no answer.
    End(usize),
}

/// The result of an operation.
pub(super) type Answer = Result<Vec<u8>, CommError>;

pub(super) fn of_integers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub(super) fn of_reals(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Lists of bytes, each with its length.
pub(super) fn of_lists(lists: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(lists.iter().map(|list| 8 + list.len()).sum());
    for list in lists {
        out.extend_from_slice(&(list.len() as u64).to_le_bytes());
        out.extend_from_slice(list);
    }
    out
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> + '_ {
    bytes.chunks_exact(8).map(|chunk| std::array::from_fn(|i| chunk[i]))
}

pub(super) fn integers(bytes: &[u8]) -> Vec<i64> {
    words(bytes).map(i64::from_le_bytes).collect()
}

pub(super) fn reals(bytes: &[u8]) -> Vec<f64> {
    words(bytes).map(f64::from_le_bytes).collect()
}

pub(super) fn lists(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut out) = (bytes, Vec::new());
    while let Some((length, more)) = rest.split_first_chunk::<8>() {
        let n = (u64::from_le_bytes(*length) as usize).min(more.len());
        let (list, tail) = more.split_at(n);
        out.push(list.to_vec());
        rest = tail;
    }
    out
}

fn number(bytes: &[u8], i: usize) -> usize {
    words(bytes).nth(i).map_or(0, |word| u64::from_le_bytes(word) as usize)
}

fn of_numbers(values: &[usize]) -> Vec<u8> {
    values.iter().flat_map(|&x| (x as u64).to_le_bytes()).collect()
}

/// Bytes that are read at once.
const PIECE: usize = 4 << 20;

fn write(out: &mut impl Write, kind: u8, body: &[u8]) -> io::Result<()> {
    // One call, so that a network does not send two packets.
    let mut whole = Vec::with_capacity(9 + body.len());
    whole.push(kind);
    whole.extend_from_slice(&(body.len() as u64).to_le_bytes());
    whole.extend_from_slice(body);
    out.write_all(&whole)
}

fn read(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 9];
    from.read_exact(&mut head)?;
    let mut length = [0; 8];
    length.copy_from_slice(&head[1..]);
    let length = u64::from_le_bytes(length) as usize;
    // Memory is taken as the bytes arrive, not for what a damaged length says.
    let mut body = Vec::new();
    while body.len() < length {
        let begin = body.len();
        body.resize(begin + (length - begin).min(PIECE), 0);
        from.read_exact(&mut body[begin..])?;
    }
    Ok((head[0], body))
}

pub(super) fn write_request(out: &mut impl Write, request: &Request) -> io::Result<()> {
    let with = |i: usize, bytes: &[u8]| [&of_numbers(&[i]), bytes].concat();
    match request {
        Request::Sum(values) => write(out, 0, &of_integers(values)),
        Request::Max(values) => write(out, 1, &of_reals(values)),
        Request::Gather(root, bytes) => write(out, 2, &with(*root, bytes)),
        Request::Broadcast(root, bytes) => write(out, 3, &with(*root, bytes)),
        Request::Barrier => write(out, 4, &[]),
        Request::Abort(message) => write(out, 5, message.as_bytes()),
        Request::Exchange(partners) => {
            let numbers: Vec<usize> = partners.iter().flat_map(|p| [p.rank, p.send, p.receive]).collect();
            write(out, 6, &of_numbers(&numbers))
        }
        Request::Start(i, messages) => write(out, 7, &with(*i, &of_lists(messages))),
        Request::Poll(i) => write(out, 8, &of_numbers(&[*i])),
        Request::Finish(i, partners) => write(out, 9, &of_numbers(&[*i, *partners])),
        Request::End(i) => write(out, 10, &of_numbers(&[*i])),
    }
}

pub(super) fn read_request(from: &mut impl Read) -> io::Result<Request> {
    let (kind, body) = read(from)?;
    let rest = || body.get(8..).unwrap_or_default();
    Ok(match kind {
        0 => Request::Sum(integers(&body)),
        1 => Request::Max(reals(&body)),
        2 => Request::Gather(number(&body, 0), rest().to_vec()),
        3 => Request::Broadcast(number(&body, 0), rest().to_vec()),
        4 => Request::Barrier,
        5 => Request::Abort(String::from_utf8_lossy(&body).into_owned()),
        6 => {
            let numbers: Vec<usize> = words(&body).map(|word| u64::from_le_bytes(word) as usize).collect();
            let partner = |c: &[usize]| Partner { rank: c[0], send: c[1], receive: c[2] };
            Request::Exchange(numbers.chunks_exact(3).map(partner).collect())
        }
        7 => Request::Start(number(&body, 0), lists(rest())),
        8 => Request::Poll(number(&body, 0)),
        9 => Request::Finish(number(&body, 0), number(&body, 1)),
        10 => Request::End(number(&body, 0)),
        _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "an unknown request")),
    })
}

pub(super) fn write_answer(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    match answer {
        Ok(bytes) => write(out, 0, bytes),
        Err(CommError::Silent { ranks, deadline }) => {
            let mut numbers = vec![deadline.as_millis() as usize];
            numbers.extend(ranks);
            write(out, 1, &of_numbers(&numbers))
        }
        Err(CommError::Left { rank }) => write(out, 2, &of_numbers(&[*rank])),
        Err(CommError::Aborted { rank, message }) => {
            write(out, 3, &[&of_numbers(&[*rank])[..], message.as_bytes()].concat())
        }
        Err(CommError::Length { from, to, expected, found }) => {
            write(out, 4, &of_numbers(&[*from, *to, *expected, *found]))
        }
        Err(CommError::Calls { first_rank, first, second_rank, second }) => {
            let texts = [first, second].map(|text| text.as_bytes().to_vec());
            write(out, 5, &[of_numbers(&[*first_rank, *second_rank]), of_lists(&texts)].concat())
        }
        Err(CommError::OutOfMemory { bytes }) => write(out, 6, &of_numbers(&[*bytes])),
        Err(other) => write(out, 7, other.to_string().as_bytes()),
    }
}

/// The outer error is one of the connection.
pub(super) fn read_answer(from: &mut impl Read) -> io::Result<Answer> {
    let (kind, body) = read(from)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match kind {
        0 => Ok(body),
        1 => {
            let ranks = words(&body).skip(1).map(|word| u64::from_le_bytes(word) as usize).collect();
            Err(CommError::Silent { ranks, deadline: Duration::from_millis(number(&body, 0) as u64) })
        }
        2 => Err(CommError::Left { rank: number(&body, 0) }),
        3 => {
            let message = text(body.get(8..).unwrap_or_default());
            Err(CommError::Aborted { rank: number(&body, 0), message })
        }
        4 => {
            let [from, to, expected, found] = std::array::from_fn(|i| number(&body, i));
            Err(CommError::Length { from, to, expected, found })
        }
        5 => {
            let texts = lists(body.get(16..).unwrap_or_default());
            let [first, second] = std::array::from_fn(|i| text(texts.get(i).map_or(&[], |text| text)));
            let (first_rank, second_rank) = (number(&body, 0), number(&body, 1));
            Err(CommError::Calls { first_rank, first, second_rank, second })
        }
        6 => Err(CommError::OutOfMemory { bytes: number(&body, 0) }),
        _ => Err(CommError::Parent { reason: text(&body) }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_read_back() {
        let partner = Partner { rank: 2, send: 16, receive: 8 };
        for request in [
            Request::Sum(vec![-1, i64::MAX]),
            Request::Max(vec![0.5, f64::INFINITY]),
            Request::Gather(1, vec![1, 2, 3]),
            Request::Broadcast(0, Vec::new()),
            Request::Barrier,
            Request::Abort("the disk is full".to_owned()),
            Request::Exchange(vec![partner]),
            Request::Start(3, vec![vec![7; 5], Vec::new()]),
            Request::Poll(4),
            Request::Finish(5, 2),
            Request::End(6),
        ] {
            let mut bytes = Vec::new();
            write_request(&mut bytes, &request).expect("memory");
            assert_eq!(read_request(&mut &bytes[..]).expect("whole"), request);
            assert!(read_request(&mut &bytes[..bytes.len() - 1]).is_err(), "{request:?}");
        }
        for answer in [
            Ok(vec![1, 2]),
            Err(CommError::Silent { ranks: vec![1, 4], deadline: Duration::from_secs(2) }),
            Err(CommError::Left { rank: 3 }),
            Err(CommError::Aborted { rank: 1, message: "no".to_owned() }),
            Err(CommError::Length { from: 1, to: 0, expected: 8, found: 16 }),
            Err(CommError::Calls {
                first_rank: 0,
                first: "a sum".to_owned(),
                second_rank: 2,
                second: "a barrier".to_owned(),
            }),
            Err(CommError::OutOfMemory { bytes: 1 << 40 }),
        ] {
            let mut bytes = Vec::new();
            write_answer(&mut bytes, &answer).expect("memory");
            assert_eq!(read_answer(&mut &bytes[..]).expect("whole"), answer);
        }
    }
}
