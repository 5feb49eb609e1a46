//! Reads field files (`.vtu`) as this program writes them.
//!
//! The arrays are raw, after the XML, in compressed blocks (see `writer/blocks.rs`). `vtkio` reads neither.
//! Each claim of a file is checked before it is used: sizes, offsets, numbers of nodes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use dgsuite_basis::{Shape, lattice::lattice_len};
use flate2::read::ZlibDecoder;

use super::PictureError;
use crate::writer::vtkhdf;
use crate::writer::{CellBlock, Field, MAX_LAGRANGE_ORDER, UnstructuredFields, Values, lagrange_nodes};

/// Reads the fields of one time from a `.vtu` file of a run, or from a `.pvtu` file and its pieces. Cells of
/// one shape and order are one block; the nodes of each are in lattice order, as when they were written.
///
/// Files with linear cells give each linear cell as an element of order 1.
///
/// # Errors
/// [`PictureError::Read`] from the system, and [`PictureError::Damaged`] if the file is not one of this
/// program or is damaged.
pub fn read(path: &Path) -> Result<UnstructuredFields, PictureError> {
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("pvtu")) {
        return read_pieces(path);
    }
    let bytes = fs::read(path).map_err(|source| PictureError::Read { path: path.to_owned(), source })?;
    parse(&bytes).map_err(|what| PictureError::Damaged { path: path.to_owned(), what })
}

/// Reads time number `step` from a `.vtkhdf` file of a run, as [`read`].
///
/// # Errors
/// [`PictureError::Damaged`] if the file is not one of this program or is damaged.
pub(super) fn read_step(path: &Path, step: usize) -> Result<UnstructuredFields, PictureError> {
    let damaged = |what: String| PictureError::Damaged { path: path.to_owned(), what };
    let stored = vtkhdf::read::read(path, step).map_err(damaged)?;
    let cells = Cells {
        points: &stored.points,
        nodes: &stored.nodes,
        ends: &stored.ends,
        types: &stored.types,
        at_points: &stored.at_points,
        of_cells: &stored.of_cells,
    };
    let mut pieces = Vec::new();
    cells.split(&mut pieces).map_err(damaged)?;
    Ok(UnstructuredFields { time: stored.time, pieces })
}

/// Reads all pieces of a list.
fn read_pieces(path: &Path) -> Result<UnstructuredFields, PictureError> {
    let text =
        fs::read_to_string(path).map_err(|source| PictureError::Read { path: path.to_owned(), source })?;
    let mut all = UnstructuredFields { time: f64::NAN, pieces: Vec::new() };
    for tag in text.split("<Piece ").skip(1) {
        let source = attribute(tag, "Source").map(unescape).filter(|source| source.ends_with(".vtu"));
        let Some(source) = source else {
            let what = "it lists a piece that is not a .vtu file".to_owned();
            return Err(PictureError::Damaged { path: path.to_owned(), what });
        };
        let piece = read(&path.with_file_name(source))?;
        all.time = piece.time;
        all.pieces.extend(piece.pieces);
    }
    Ok(all)
}

/// Parses the contents of a file; the error says what is wrong.
fn parse(bytes: &[u8]) -> Result<UnstructuredFields, String> {
    const MARK: &[u8] = b"encoding=\"raw\">\n_";
    let Some(start) = bytes.windows(MARK.len()).position(|w| w == MARK) else {
        return Err("it has no arrays in the form in which dgsuite writes them".to_owned());
    };
    let xml = std::str::from_utf8(&bytes[..start]).map_err(|_| "its head is not text".to_owned())?;
    let data = &bytes[start + MARK.len()..];
    for needed in ["byte_order=\"LittleEndian\"", "header_type=\"UInt64\"", "vtkZLibDataCompressor"] {
        if !xml.contains(needed) {
            return Err(format!("`{needed}` is missing"));
        }
    }
    let mut fields = UnstructuredFields { time: f64::NAN, pieces: Vec::new() };
    if let Some((_, rest)) = xml.split_once("Name=\"TimeValue\"") {
        let text = rest.split_once('>').and_then(|(_, rest)| rest.split_once('<'));
        fields.time = text.and_then(|(number, _)| number.trim().parse().ok()).unwrap_or(f64::NAN);
    }
    for piece in xml.split("<Piece ").skip(1) {
        read_piece(piece, data, &mut fields.pieces)?;
    }
    Ok(fields)
}

/// A `DataArray` of a piece.
struct Array<'a> {
    kind: &'a str,
    name: String,
    components: usize,
    offset: usize,
}

impl<'a> Array<'a> {
    fn parse(tag: &'a str) -> Option<Self> {
        Some(Self {
            kind: attribute(tag, "type")?,
            name: unescape(attribute(tag, "Name")?),
            components: attribute(tag, "NumberOfComponents")?
                .parse()
                .ok()
                .filter(|n| (1..=64).contains(n))?,
            offset: attribute(tag, "offset")?.parse().ok()?,
        })
    }

    /// The numbers of `tuples` tuples.
    fn numbers(&self, data: &[u8], tuples: usize) -> Result<Vec<f64>, String> {
        let bytes = |width: usize| self.bytes(data, tuples, width);
        match self.kind {
            "Float32" => Ok(groups(&bytes(4)?).map(|b| f64::from(f32::from_le_bytes(b))).collect()),
            "Float64" => Ok(groups(&bytes(8)?).map(f64::from_le_bytes).collect()),
            "Int64" => Ok(groups(&bytes(8)?).map(|b| i64::from_le_bytes(b) as f64).collect()),
            "UInt8" => Ok(groups(&bytes(1)?).map(|[b]| f64::from(b)).collect()),
            other => Err(format!("array `{}` has numbers of the type {other}", self.name)),
        }
    }

    /// Whole numbers of `tuples` tuples.
    fn whole(&self, data: &[u8], tuples: usize) -> Result<Vec<usize>, String> {
        let wrong = || format!("array `{}` has a number that is no index", self.name);
        let numbers = self.numbers(data, tuples)?;
        numbers.into_iter().map(|x| if x >= 0.0 { Ok(x as usize) } else { Err(wrong()) }).collect()
    }

    /// The bytes of the array, unpacked.
    fn bytes(&self, data: &[u8], tuples: usize, width: usize) -> Result<Vec<u8>, String> {
        let short = || format!("array `{}` is cut short", self.name);
        let packed = data.get(self.offset..).ok_or_else(short)?;
        let number = |k: usize| -> Option<usize> {
            let bytes = packed.get(k.checked_mul(8)?..)?.first_chunk()?;
            usize::try_from(u64::from_le_bytes(*bytes)).ok()
        };
        let blocks = number(0).filter(|&n| n <= packed.len() / 8).ok_or_else(short)?;
        let wanted = tuples
            .checked_mul(self.components)
            .and_then(|n| n.checked_mul(width))
            .ok_or_else(|| format!("array `{}` claims {tuples} tuples", self.name))?;
        let mut at = 8 * (3 + blocks);
        let mut out = Vec::new();
        for block in 0..blocks {
            let end = number(3 + block).and_then(|n| at.checked_add(n)).ok_or_else(short)?;
            let packed = packed.get(at..end).ok_or_else(short)?;
            // One byte more than wanted shows that there are too many, without unpacking them all.
            let room = (wanted - out.len().min(wanted)) as u64 + 1;
            let unpacked = ZlibDecoder::new(packed).take(room).read_to_end(&mut out);
            unpacked.map_err(|error| format!("array `{}` cannot be unpacked: {error}", self.name))?;
            at = end;
        }
        match out.len() == wanted {
            true => Ok(out),
            false => {
                Err(format!("array `{}` does not have the {wanted} bytes that it should have", self.name))
            }
        }
    }
}

fn groups<const W: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; W]> {
    bytes.chunks_exact(W).map(|chunk| std::array::from_fn(|k| chunk[k]))
}

/// The value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn unescape(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
}

/// The arrays between `<SECTION>` and `</SECTION>`.
fn section<'a>(piece: &'a str, name: &str) -> Result<Vec<Array<'a>>, String> {
    let wrong = || format!("its section {name} cannot be read");
    let (_, rest) = piece.split_once(&format!("<{name}>")).ok_or_else(wrong)?;
    let (text, _) = rest.split_once(&format!("</{name}>")).ok_or_else(wrong)?;
    text.split("<DataArray ").skip(1).map(|tag| Array::parse(tag).ok_or_else(wrong)).collect()
}

/// Reads a piece into blocks, one for each shape and order of its cells.
fn read_piece(piece: &str, data: &[u8], out: &mut Vec<CellBlock>) -> Result<(), String> {
    let count = |name: &str| attribute(piece, name).and_then(|n| n.parse::<usize>().ok());
    let (Some(n_points), Some(n_cells)) = (count("NumberOfPoints"), count("NumberOfCells")) else {
        return Err("a piece does not tell its numbers of points and cells".to_owned());
    };
    let points = match section(piece, "Points")?.as_slice() {
        [array] if array.components == 3 => array.numbers(data, n_points)?,
        _ => return Err("its points do not have three coordinates".to_owned()),
    };
    let cells = section(piece, "Cells")?;
    let named = |name: &str| {
        cells.iter().find(|a| a.name == name).ok_or_else(|| format!("its cells have no array `{name}`"))
    };
    let ends = named("offsets")?.whole(data, n_cells)?;
    let types = named("types")?.whole(data, n_cells)?;
    let nodes = named("connectivity")?.whole(data, ends.last().copied().unwrap_or(0))?;
    let read = |section_name: &str, tuples: usize| -> Result<Vec<Numbers>, String> {
        let arrays = section(piece, section_name)?.into_iter();
        arrays.map(|a| a.numbers(data, tuples).map(|numbers| (a.name, a.components, numbers))).collect()
    };
    let (at_points, of_cells) = (read("PointData", n_points)?, read("CellData", n_cells)?);
    let (points, nodes, ends) = (&points, &nodes, &ends);
    let cells = Cells { points, nodes, ends, types: &types, at_points: &at_points, of_cells: &of_cells };
    cells.split(out)
}

/// Name, number of components and numbers of a field.
type Numbers = (String, usize, Vec<f64>);

/// Cells as VTK stores them.
struct Cells<'a> {
    points: &'a [f64],
    nodes: &'a [usize],
    ends: &'a [usize],
    types: &'a [usize],
    at_points: &'a [Numbers],
    of_cells: &'a [Numbers],
}

impl Cells<'_> {
    /// Splits cells into blocks, one for each shape and order.
    fn split(&self, out: &mut Vec<CellBlock>) -> Result<(), String> {
        let Self { points, nodes, ends, types, at_points, of_cells } = *self;
        if nodes.iter().any(|&node| node >= points.len() / 3) {
            return Err("a cell has a point that does not exist".to_owned());
        }
        // Cells by shape and order: their numbers, and their nodes in lattice order.
        let mut kinds: BTreeMap<(Shape, usize), (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        let mut orders: BTreeMap<(Shape, usize), Vec<usize>> = BTreeMap::new();
        let mut begin = 0;
        for (cell, (&end, &kind)) in ends.iter().zip(types).enumerate() {
            let nodes = nodes.get(begin..end).ok_or("its cells overlap")?;
            begin = end;
            let kind = shape_of(kind, nodes.len())
                .ok_or_else(|| format!("it has a cell of VTK's type {kind} with {} nodes", nodes.len()))?;
            let order = orders.entry(kind).or_insert_with(|| lattice_order(kind.0, kind.1));
            let (cells, all) = kinds.entry(kind).or_default();
            cells.push(cell);
            all.extend(order.iter().map(|&k| nodes[k]));
        }
        let gather = |arrays: &[Numbers], tuples: &[usize]| -> Vec<Field> {
            let one = |(name, c, numbers): &Numbers| {
                let c = *c;
                let values =
                    tuples.iter().flat_map(|&t| numbers[c * t..c * (t + 1)].iter().copied()).collect();
                Field { name: name.clone(), components: c, values: Values::Real(values) }
            };
            arrays.iter().map(one).collect()
        };
        for ((shape, order), (cells, nodes)) in kinds {
            out.push(CellBlock {
                shape,
                order,
                points: nodes.iter().map(|&node| std::array::from_fn(|d| points[3 * node + d])).collect(),
                point_data: gather(at_points, &nodes),
                cell_data: gather(of_cells, &cells),
            });
        }
        Ok(())
    }
}

/// The shape and order of a VTK cell.
fn shape_of(kind: usize, nodes: usize) -> Option<(Shape, usize)> {
    let linear = |shape: Shape| (shape.n_vertices() == nodes).then_some((shape, 1));
    let lagrange = |shape: Shape| {
        (1..=MAX_LAGRANGE_ORDER).find(|&n| lattice_len(shape, n) == nodes).map(|order| (shape, order))
    };
    match kind {
        3 => linear(Shape::Line),
        5 => linear(Shape::Triangle),
        9 => linear(Shape::Quadrilateral),
        10 => linear(Shape::Tetrahedron),
        12 => linear(Shape::Hexahedron),
        14 => linear(Shape::Pyramid),
        68 => lagrange(Shape::Line),
        69 => lagrange(Shape::Triangle),
        70 => lagrange(Shape::Quadrilateral),
        71 => lagrange(Shape::Tetrahedron),
        72 => lagrange(Shape::Hexahedron),
        73 => lagrange(Shape::Prism),
        _ => None,
    }
}

/// For each lattice node, its number in VTK's order.
fn lattice_order(shape: Shape, order: usize) -> Vec<usize> {
    if shape == Shape::Pyramid {
        // The base goes around in VTK and row by row in the lattice.
        return vec![0, 1, 3, 2, 4];
    }
    let nodes = lagrange_nodes(shape, order);
    let mut at = vec![0; nodes.len()];
    for (vtk, node) in nodes.into_iter().enumerate() {
        at[node] = vtk;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::{Cells, Precision, VtuOptions};
    use dgsuite_basis::lattice::lattice;

    fn block(shape: Shape, order: usize, cells: usize) -> CellBlock {
        let reference = lattice(shape, order);
        let points: Vec<[f64; 3]> = (0..cells)
            .flat_map(|c| reference.iter().map(move |x| [x[0] + 3.0 * c as f64, x[1], x[2]]))
            .collect();
        let values = points.iter().map(|x| x[0] + 0.25 * x[1] * x[2]).collect();
        let cell_values = (0..cells).map(|c| c as f64).collect();
        CellBlock {
            shape,
            order,
            point_data: vec![Field::real("a < b", 1, values)],
            cell_data: vec![Field::real("of_cell", 1, cell_values)],
            points,
        }
    }

    fn file(pieces: Vec<CellBlock>, cells: Cells) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f.vtu");
        let options = VtuOptions { precision: Precision::Double, cells, ..VtuOptions::default() };
        UnstructuredFields { time: 0.25, pieces }.write(&path, &options).unwrap();
        fs::read(&path).unwrap()
    }

    #[test]
    fn what_was_written_is_read() {
        let solids = [Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism].map(|s| block(s, 3, 2));
        let plane = [block(Shape::Triangle, 4, 3), block(Shape::Quadrilateral, 2, 1)];
        let pieces: Vec<CellBlock> =
            plane.into_iter().chain(solids).chain([block(Shape::Pyramid, 1, 2)]).collect();
        let read = parse(&file(pieces.clone(), Cells::Lagrange)).unwrap();
        assert_eq!(read, UnstructuredFields { time: 0.25, pieces });
    }

    #[test]
    fn linear_cells_are_elements_of_order_one() {
        let read = parse(&file(vec![block(Shape::Pyramid, 2, 2)], Cells::Linear)).unwrap();
        let counts: Vec<_> = read.pieces.iter().map(|p| (p.shape, p.order, p.n_cells())).collect();
        assert_eq!(counts, [(Shape::Tetrahedron, 1, 8), (Shape::Pyramid, 1, 12)]);
        assert!(read.pieces[1].cell_data[0].values == Values::Real([[0.0; 6], [1.0; 6]].concat()));
    }

    #[test]
    fn damaged_files_are_errors() {
        let good = file(vec![block(Shape::Triangle, 2, 4)], Cells::Lagrange);
        assert!(parse(b"<VTKFile/>").is_err() && parse(&good[..good.len() / 2]).is_err());
        let mut state = 1u64;
        let mut refused = 0;
        for _ in 0..400 {
            let mut bad = good.clone();
            for _ in 0..3 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 33) as usize % bad.len();
                bad[at] = bad[at].wrapping_add((state >> 20) as u8 | 1);
            }
            refused += usize::from(parse(&bad).is_err());
        }
        assert!(refused > 200, "{refused} of 400 damaged files were refused");
    }
}
