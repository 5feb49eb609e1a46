//! The `.vtu` file: XML that describes the arrays, followed by the arrays, raw and compressed.
//!
//! The XML is not written by `vtkio`, whose writer has neither appended data nor blocks: it would store each
//! array as one base64 text, a third larger, compressed by one thread. `vtkio` provides the cell types, and
//! the tests read the XML back with it and with VTK.
//!
//! Version 2.2 specifies the order of nodes in Lagrange hexahedra; files without them have version 1.0, which
//! `meshio` and older readers accept too.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use dgsuite_basis::Shape;

use super::arrays::{self, Kind, Section, Sink};
use super::blocks::Blocks;
use super::pattern::Pattern;
use super::{CellBlock, Cells, UnstructuredFields, VtuOptions, WriterError, atomic};
use crate::escape;

impl UnstructuredFields {
    /// Writes a `.vtu` file, atomically; the directory must exist. The current rayon pool compresses the
    /// blocks of the arrays. Returns the number of bytes written.
    ///
    /// # Errors
    /// [`WriterError::Order`], [`WriterError::Length`] or [`WriterError::FieldsDiffer`] if the fields do not
    /// fit their cells; [`WriterError::Io`] from the system.
    pub fn write(&self, path: &Path, options: &VtuOptions) -> Result<u64, WriterError> {
        self.check()?;
        let mut appended = Appended { options: *options, arrays: Vec::new(), offset: 0 };
        let numbered_anew = |block: &CellBlock| {
            block.shape == Shape::Hexahedron && block.order > 1 && options.cells == Cells::Lagrange
        };
        let version = if self.pieces.iter().any(numbered_anew) { "2.2" } else { "1.0" };
        let mut xml = format!(
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"UnstructuredGrid\" version=\"{version}\" byte_order=\"LittleEndian\" \
             header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n\
             <UnstructuredGrid>\n"
        );
        let _ = writeln!(
            xml,
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" \
             format=\"ascii\">{:?}</DataArray></FieldData>",
            self.time
        );
        for block in &self.pieces {
            let pattern = Pattern::new(block.shape, block.order, options.cells)?;
            appended.piece(&mut xml, block, &pattern).map_err(WriterError::io(path))?;
        }
        xml.push_str("</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
        let tail = b"\n</AppendedData>\n</VTKFile>\n";
        atomic::write_with(path, |file| {
            file.write_all(xml.as_bytes())?;
            appended.arrays.iter().try_for_each(|array| array.write(file))?;
            file.write_all(tail)
        })?;
        Ok((xml.len() + appended.offset + tail.len()) as u64)
    }
}

/// The arrays that follow the XML, and the offset of the next one.
struct Appended {
    options: VtuOptions,
    arrays: Vec<Blocks>,
    offset: usize,
}

/// A piece of the file that is being described.
struct Piece<'a> {
    xml: &'a mut String,
    appended: &'a mut Appended,
    open: Option<&'static str>,
}

impl Piece<'_> {
    fn close(&mut self) {
        if let Some(tag) = self.open.take() {
            let _ = writeln!(self.xml, "</{tag}>");
        }
    }
}

impl Sink for Piece<'_> {
    fn section(&mut self, section: Section) {
        self.close();
        let tag = match section {
            Section::Points => "Points",
            Section::Cells => "Cells",
            Section::PointData => "PointData",
            Section::CellData => "CellData",
        };
        self.open = Some(tag);
        let _ = writeln!(self.xml, "<{tag}>");
    }

    fn array<const W: usize>(
        &mut self,
        kind: Kind,
        name: &str,
        components: usize,
        n: usize,
        value: impl Fn(usize) -> [u8; W] + Sync,
    ) -> io::Result<()> {
        let blocks = Blocks::compress(n, self.appended.options.compression, value)?;
        let _ = writeln!(
            self.xml,
            "<DataArray type=\"{kind:?}\" Name=\"{}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{}\"/>",
            escape::xml(name),
            self.appended.offset
        );
        self.appended.offset += blocks.len();
        self.appended.arrays.push(blocks);
        Ok(())
    }
}

impl Appended {
    /// Describes one piece in `xml` and appends its arrays.
    fn piece(&mut self, xml: &mut String, block: &CellBlock, pattern: &Pattern) -> io::Result<()> {
        let (n_points, n_cells) = (block.points.len(), block.n_cells() * pattern.types.len());
        let _ = writeln!(xml, "<Piece NumberOfPoints=\"{n_points}\" NumberOfCells=\"{n_cells}\">");
        let precision = self.options.precision;
        let mut piece = Piece { xml, appended: self, open: None };
        arrays::write(&mut piece, block, pattern, precision)?;
        piece.close();
        xml.push_str("</Piece>\n");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Field, Precision, Values};
    use super::*;
    use dgsuite_basis::lattice::lattice;
    use vtkio::model::{Attribute, CellType, DataSet, Piece, UnstructuredGridPiece, Version, Vtk};

    fn block(shape: Shape, order: usize, cells: usize) -> CellBlock {
        let reference = lattice(shape, order);
        let points: Vec<[f64; 3]> = (0..cells)
            .flat_map(|c| reference.iter().map(move |x| [x[0] + 3.0 * c as f64, x[1], x[2]]))
            .collect();
        let velocity = points.iter().flat_map(|x| [x[0] - x[1], x[0] * x[1]]).collect();
        let pressure = points.iter().map(|x| x[0] + 0.5 * x[2]).collect();
        CellBlock {
            shape,
            order,
            points,
            point_data: vec![Field::real("Pressure", 1, pressure), Field::real("Velocity", 2, velocity)],
            cell_data: vec![Field::integer("element_id", 1, (0..cells as i64).map(|c| 10 * c).collect())],
        }
    }

    /// Converts the file to arrays in base64, the only appended form that `vtkio` reads.
    fn base64_form(file: &[u8]) -> String {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let mark = b"encoding=\"raw\">\n_";
        let start = file.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
        let head = String::from_utf8(file[..start].to_vec()).unwrap().replace("\"raw\"", "\"base64\"");
        let (mut xml, mut arrays) = (String::new(), String::new());
        for (n, part) in head.split("offset=\"").enumerate() {
            if n == 0 {
                xml.push_str(part);
                continue;
            }
            let (offset, rest) = part.split_once('"').unwrap();
            let _ = write!(xml, "offset=\"{}\"{rest}", arrays.len());
            let array = &file[start + offset.parse::<usize>().unwrap()..];
            let number =
                |i: usize| u64::from_le_bytes(array[8 * i..8 * (i + 1)].try_into().unwrap()) as usize;
            let header = 8 * (3 + number(0));
            let body: usize = (0..number(0)).map(|b| number(3 + b)).sum();
            arrays += &STANDARD.encode(&array[..header]);
            arrays += &STANDARD.encode(&array[header..header + body]);
        }
        xml + &arrays + "</AppendedData></VTKFile>"
    }

    fn read_back(fields: &UnstructuredFields, options: &VtuOptions) -> (Vtk, Vec<UnstructuredGridPiece>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f.vtu");
        let bytes = fields.write(&path, options).unwrap();
        assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
        let vtk = Vtk::parse_xml(base64_form(&std::fs::read(&path).unwrap()).as_bytes()).unwrap();
        let DataSet::UnstructuredGrid { pieces, .. } = vtk.data.clone() else { panic!("{:?}", vtk.data) };
        let inline = |piece| match piece {
            Piece::Inline(piece) => *piece,
            other => panic!("{other:?}"),
        };
        (vtk, pieces.into_iter().map(inline).collect())
    }

    fn array(attributes: &[Attribute], name: &str) -> (usize, Vec<f64>) {
        let found = attributes.iter().find_map(|a| match a {
            Attribute::DataArray(a) if a.name == name => {
                Some((a.num_comp(), a.data.clone().cast_into::<f64>().unwrap()))
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no array {name}"))
    }

    #[test]
    fn another_reader_finds_what_was_written() {
        let options = VtuOptions { precision: Precision::Double, ..VtuOptions::default() };
        let written = [block(Shape::Triangle, 3, 4), block(Shape::Quadrilateral, 2, 3)];
        let fields = UnstructuredFields { time: 0.25, pieces: written.to_vec() };
        let (vtk, pieces) = read_back(&fields, &options);
        assert_eq!(vtk.version, Version::new_xml(1, 0));
        assert_eq!(pieces.len(), 2);
        let kinds = [CellType::LagrangeTriangle, CellType::LagrangeQuadrilateral];
        for (p, (piece, block)) in pieces.iter().zip(&written).enumerate() {
            let points: Vec<f64> = piece.points.clone().cast_into().unwrap();
            assert_eq!(points, block.points.concat());
            assert!(piece.cells.types.iter().all(|&t| t == kinds[p]));
            assert_eq!(piece.cells.types.len(), block.n_cells());
            let (components, pressure) = array(&piece.data.point, "Pressure");
            assert_eq!((components, Values::Real(pressure)), (1, block.point_data[0].values.clone()));
            let (components, velocity) = array(&piece.data.point, "Velocity");
            let padded: Vec<f64> =
                block.points.iter().flat_map(|x| [x[0] - x[1], x[0] * x[1], 0.0]).collect();
            assert_eq!((components, velocity), (3, padded));
            let (_, ids) = array(&piece.data.cell, "element_id");
            assert!(ids.iter().enumerate().all(|(c, &id)| id == 10.0 * c as f64));
        }
    }

    #[test]
    fn only_files_with_lagrange_hexahedra_need_a_version_that_few_readers_know() {
        for (shape, order, cells, version) in [
            (Shape::Hexahedron, 2, Cells::Lagrange, (2, 2)),
            (Shape::Hexahedron, 1, Cells::Lagrange, (1, 0)),
            (Shape::Hexahedron, 2, Cells::Linear, (1, 0)),
            (Shape::Prism, 3, Cells::Lagrange, (1, 0)),
        ] {
            let fields = UnstructuredFields { time: 0.0, pieces: vec![block(shape, order, 1)] };
            let (vtk, _) = read_back(&fields, &VtuOptions { cells, ..VtuOptions::default() });
            assert_eq!(vtk.version, Version::new_xml(version.0, version.1), "{shape} {order}");
        }
    }

    #[test]
    fn parts_of_a_cell_carry_its_cell_data() {
        let fields = UnstructuredFields { time: 0.0, pieces: vec![block(Shape::Pyramid, 2, 3)] };
        let (_, pieces) = read_back(&fields, &VtuOptions::default());
        let (_, ids) = array(&pieces[0].data.cell, "element_id");
        let expected: Vec<f64> = (0..3).flat_map(|c| [10.0 * f64::from(c); 10]).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn misfits_are_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f.vtu");
        let write = |pieces: Vec<CellBlock>, options: &VtuOptions| {
            UnstructuredFields { time: 0.0, pieces }.write(&path, options).unwrap_err().to_string()
        };
        let options = VtuOptions::default();
        let mut short = block(Shape::Triangle, 2, 2);
        short.point_data[1] = Field::real("Velocity", 2, vec![0.0; 23]);
        assert_eq!(write(vec![short], &options), "`Velocity` has 23 numbers where 24 are needed");
        let mut cut = block(Shape::Triangle, 2, 2);
        cut.points.pop();
        assert_eq!(write(vec![cut], &options), "`points` has 11 numbers where 12 are needed");
        let mut other = block(Shape::Quadrilateral, 2, 1);
        other.point_data.remove(0);
        let error = write(vec![block(Shape::Triangle, 2, 1), other], &options);
        assert_eq!(error, "piece 1 does not have the same fields as piece 0");
        let high = block(Shape::Line, 11, 1);
        let error = write(vec![high.clone()], &options);
        assert_eq!(error, "line cells of order 11 cannot be written: orders 1 to 10 can");
        assert!(!path.exists());
        let linear = VtuOptions { cells: Cells::Linear, ..options };
        UnstructuredFields { time: 0.0, pieces: vec![high] }.write(&path, &linear).unwrap();
    }
}
