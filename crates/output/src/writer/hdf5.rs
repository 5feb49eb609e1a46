//! The description of an HDF5 file: groups, datasets and attributes as bytes.
//!
//! The subset of the format (HDF Group, "HDF5 File Format Specification", version 3.0) that all versions of
//! the library from 1.8 on read: superblock 2, object headers 2 with compact links, contiguous datasets, and
//! chunked ones with an index as B-tree 1, whose nodes are packed in one pass because all chunks are known.
//! Numbers are little-endian.

use std::io::{self, Write as _};

use flate2::{Compression, write::ZlibEncoder};
use serde::{Deserialize, Serialize};

use super::arrays::Kind;

/// Bytes of the superblock, with which a file begins.
pub(super) const SUPERBLOCK: usize = 48;

const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
const UNDEFINED: u64 = u64::MAX;
/// Half of the children of a node of a B-tree, as the library assumes without a message that says otherwise.
const HALF_NODE: usize = 32;
const DEFLATE: u16 = 1;

/// A chunk in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    /// Its number: it begins with the row of this number times the rows of a chunk.
    pub(super) number: u64,
    pub(super) address: u64,
    /// Bytes in the file.
    pub(super) size: u32,
}

/// Where the numbers of a dataset are.
pub(super) enum Storage<'a> {
    /// With its description.
    Inline(Vec<u8>),
    /// In chunks of `rows` whole rows, by their numbers.
    Chunks { rows: u64, chunks: &'a [Chunk], compressed: bool },
}

/// A dataset of rank 1, or of rank 2 with `columns`.
pub(super) struct Dataset<'a> {
    pub(super) kind: Kind,
    pub(super) rows: u64,
    pub(super) columns: Option<u64>,
    pub(super) storage: Storage<'a>,
}

/// The value of an attribute.
pub(super) enum Attribute {
    Text(&'static str),
    Number(i64),
    Numbers(Vec<i64>),
}

/// A group.
#[derive(Default)]
pub(super) struct Group<'a> {
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    pub(super) groups: Vec<(String, Self)>,
    pub(super) datasets: Vec<(String, Dataset<'a>)>,
}

/// Returns the superblock of a file of `end` bytes with the root group at `root`.
pub(super) fn superblock(root: u64, end: u64) -> [u8; SUPERBLOCK] {
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend([2, 8, 8, 0]);
    [0, UNDEFINED, end, root].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    std::array::from_fn(|i| bytes[i])
}

/// Returns the address of the root group and the end of the file, from a superblock that [`superblock`] made.
pub(super) fn read_superblock(bytes: &[u8; SUPERBLOCK]) -> Option<(u64, u64)> {
    let number = |at: usize| bytes[at..].first_chunk().map(|b| u64::from_le_bytes(*b));
    let sum = bytes[SUPERBLOCK - 4..].first_chunk().map(|b| u32::from_le_bytes(*b));
    let known = bytes.starts_with(SIGNATURE) && bytes[8..12] == [2, 8, 8, 0];
    (known && sum == Some(checksum(&bytes[..SUPERBLOCK - 4]))).then(|| Some((number(36)?, number(28)?)))?
}

/// Compresses a chunk as the filter `deflate` of HDF5.
pub(super) fn compress(bytes: &[u8], level: u32) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level.min(9)));
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Descriptions that will stand at address `base` of a file.
pub(super) struct Description {
    base: u64,
    bytes: Vec<u8>,
}

impl Description {
    pub(super) fn new(base: u64) -> Self {
        Self { base, bytes: Vec::new() }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds bytes that begin at a multiple of 8, and returns their address.
    pub(super) fn add(&mut self, bytes: &[u8]) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let address = self.base + self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        address
    }

    /// Adds the members of a group, and returns the object header that describes the group itself.
    pub(super) fn group(&mut self, group: &Group<'_>) -> Vec<u8> {
        let mut header = Header::new();
        // No heap and no index: all links are in the header.
        header.message(0x02, &[&[0, 0][..], &UNDEFINED.to_le_bytes(), &UNDEFINED.to_le_bytes()].concat());
        header.message(0x0a, &[0, 0]);
        for (name, value) in &group.attributes {
            header.attribute(name, value);
        }
        for (name, inner) in &group.groups {
            let inner = self.group(inner);
            let address = self.add(&inner);
            header.link(name, address);
        }
        for (name, dataset) in &group.datasets {
            let address = self.dataset(dataset);
            header.link(name, address);
        }
        header.finish()
    }

    fn dataset(&mut self, dataset: &Dataset<'_>) -> u64 {
        let width = dataset.kind.width();
        let mut header = Header::new();
        let dims: Vec<u64> = std::iter::once(dataset.rows).chain(dataset.columns).collect();
        header.message(0x01, &dataspace(&dims));
        header.message(0x03, &number_type(dataset.kind));
        match &dataset.storage {
            Storage::Inline(bytes) => {
                header.message(0x05, &[3, 0x0a]);
                let address = if bytes.is_empty() { UNDEFINED } else { self.add(bytes) };
                let size = bytes.len() as u64;
                header.message(0x08, &[&[3, 1][..], &address.to_le_bytes(), &size.to_le_bytes()].concat());
            }
            Storage::Chunks { rows, chunks, compressed } => {
                header.message(0x05, &[3, 0x0b]);
                if *compressed {
                    let level = 1u32.to_le_bytes();
                    let deflate = DEFLATE.to_le_bytes();
                    header.message(0x0b, &[&[2, 1][..], &deflate, &[0, 0, 1, 0], &level].concat());
                }
                let tree = self.chunk_index(*rows, chunks, dims.len());
                let mut layout = vec![3, 2, dims.len() as u8 + 1];
                layout.extend(tree.to_le_bytes());
                for n in std::iter::once(*rows).chain(dataset.columns).chain([width as u64]) {
                    layout.extend((n as u32).to_le_bytes());
                }
                header.message(0x08, &layout);
            }
        }
        self.add(&header.finish())
    }

    /// Adds the B-tree of the chunks of a dataset of this rank, and returns the address of its root.
    fn chunk_index(&mut self, rows: u64, chunks: &[Chunk], rank: usize) -> u64 {
        let key = |size: u32, number: u64| {
            let mut key = [size.to_le_bytes(), [0; 4]].concat();
            key.extend((number * rows).to_le_bytes());
            key.resize(8 + 8 * (rank + 1), 0);
            key
        };
        let last = chunks.last().map_or(0, |chunk| chunk.number + 1);
        // The children of a level: the key of each, and its address.
        let mut level: Vec<(Vec<u8>, u64)> =
            chunks.iter().map(|chunk| (key(chunk.size, chunk.number), chunk.address)).collect();
        if level.is_empty() {
            return UNDEFINED;
        }
        for height in 0u8.. {
            let size = 24 + (2 * HALF_NODE + 1) * (8 + 8 * (rank + 1)) + 2 * HALF_NODE * 8;
            let nodes: Vec<&[(Vec<u8>, u64)]> = level.chunks(2 * HALF_NODE).collect();
            let start = self.add(&[]);
            let stride = size.next_multiple_of(8) as u64;
            let at = |node: usize| start + node as u64 * stride;
            for (n, children) in nodes.iter().enumerate() {
                let left = if n > 0 { at(n - 1) } else { UNDEFINED };
                let right = if n + 1 < nodes.len() { at(n + 1) } else { UNDEFINED };
                let mut node = [&b"TREE"[..], &[1, height], &(children.len() as u16).to_le_bytes()].concat();
                node.extend(left.to_le_bytes());
                node.extend(right.to_le_bytes());
                for (key, address) in *children {
                    node.extend_from_slice(key);
                    node.extend(address.to_le_bytes());
                }
                let end = nodes.get(n + 1).map_or_else(|| key(0, last), |next| next[0].0.clone());
                node.extend(end);
                node.resize(size, 0);
                self.add(&node);
            }
            if nodes.len() == 1 {
                return start;
            }
            level = nodes.iter().enumerate().map(|(n, children)| (children[0].0.clone(), at(n))).collect();
        }
        UNDEFINED
    }
}

/// An object header in the making.
struct Header(Vec<u8>);

impl Header {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn message(&mut self, kind: u8, body: &[u8]) {
        self.0.push(kind);
        self.0.extend((body.len() as u16).to_le_bytes());
        self.0.push(0);
        self.0.extend_from_slice(body);
    }

    /// A link to an object, with a name in UTF-8.
    fn link(&mut self, name: &str, address: u64) {
        let mut body = vec![1, 0x11, 1];
        body.extend((name.len() as u16).to_le_bytes());
        body.extend_from_slice(name.as_bytes());
        body.extend(address.to_le_bytes());
        self.message(0x06, &body);
    }

    fn attribute(&mut self, name: &str, value: &Attribute) {
        let (kind, space, data) = match value {
            // Padded by zeros, of which it needs none.
            Attribute::Text(text) => {
                let size = (text.len() as u32).to_le_bytes();
                ([&[0x13, 1, 0, 0][..], &size].concat(), dataspace(&[]), text.as_bytes().to_vec())
            }
            Attribute::Number(n) => (number_type(Kind::Int64), dataspace(&[]), n.to_le_bytes().to_vec()),
            Attribute::Numbers(all) => {
                let data = all.iter().flat_map(|n| n.to_le_bytes()).collect();
                (number_type(Kind::Int64), dataspace(&[all.len() as u64]), data)
            }
        };
        let mut body = vec![3, 0];
        [name.len() + 1, kind.len(), space.len()].iter().for_each(|&n| body.extend((n as u16).to_le_bytes()));
        body.push(0);
        body.extend_from_slice(name.as_bytes());
        body.push(0);
        [kind, space, data].iter().for_each(|part| body.extend_from_slice(part));
        self.message(0x0c, &body);
    }

    fn finish(self) -> Vec<u8> {
        let mut bytes = b"OHDR\x02\x02".to_vec();
        bytes.extend((self.0.len() as u32).to_le_bytes());
        bytes.extend(self.0);
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }
}

/// The message of a dataspace; without dimensions that of a scalar.
fn dataspace(dims: &[u64]) -> Vec<u8> {
    let mut body = vec![2, dims.len() as u8, 0, u8::from(!dims.is_empty())];
    dims.iter().for_each(|n| body.extend(n.to_le_bytes()));
    body
}

impl Kind {
    /// Bytes of a number.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Float32 => 4,
            Self::Float64 | Self::Int64 => 8,
            Self::UInt8 => 1,
        }
    }
}

/// The message of the type of a number.
fn number_type(kind: Kind) -> Vec<u8> {
    let bits = 8 * kind.width() as u16;
    // Class and version; order of bytes, place of the sign; for real numbers the fields of IEEE 754.
    let (class, of_class, float): (u8, [u8; 3], &[u8]) = match kind {
        Kind::Int64 => (0x10, [0x08, 0, 0], &[]),
        Kind::UInt8 => (0x10, [0, 0, 0], &[]),
        Kind::Float32 => (0x11, [0x20, 31, 0], &[23, 8, 0, 23, 127, 0, 0, 0]),
        Kind::Float64 => (0x11, [0x20, 63, 0], &[52, 11, 0, 52, 0xff, 3, 0, 0]),
    };
    let mut body = vec![class];
    body.extend(of_class);
    body.extend((kind.width() as u32).to_le_bytes());
    body.extend([0, 0]);
    body.extend(bits.to_le_bytes());
    body.extend_from_slice(float);
    body
}

/// The checksum of metadata in HDF5: Jenkins' `hashlittle` of 2006 (lookup3), from 0.
pub(super) fn checksum(data: &[u8]) -> u32 {
    let word =
        |bytes: &[u8]| bytes.iter().take(4).enumerate().fold(0, |sum, (i, &b)| sum | u32::from(b) << (8 * i));
    let start = 0xdead_beef_u32.wrapping_add(data.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let mut rest = data;
    while rest.len() > 12 {
        a = a.wrapping_add(word(rest));
        b = b.wrapping_add(word(&rest[4..]));
        c = c.wrapping_add(word(&rest[8..]));
        rest = &rest[12..];
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
    }
    if rest.is_empty() {
        return c;
    }
    a = a.wrapping_add(word(rest));
    b = b.wrapping_add(word(rest.get(4..).unwrap_or_default()));
    c = c.wrapping_add(word(rest.get(8..).unwrap_or_default()));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values in the comments of Jenkins' `lookup3.c`.
    #[test]
    fn checksums_are_those_of_lookup3() {
        assert_eq!(checksum(b""), 0xdead_beef);
        assert_eq!(checksum(b"Four score and seven years ago"), 0x1777_0551);
    }

    #[test]
    fn a_superblock_is_read_back_unless_it_is_damaged() {
        let mut block = superblock(100, 1 << 40);
        assert_eq!(read_superblock(&block), Some((100, 1 << 40)));
        block[30] ^= 1;
        assert_eq!(read_superblock(&block), None);
    }
}
