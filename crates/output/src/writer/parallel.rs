//! The `.pvtu` file: a list of `.vtu` files, one for each rank, that a reader shows as one grid.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Field, Precision, UnstructuredFields, Values, VtuOptions, WriterError, atomic};
use crate::escape;

/// The file of a rank's cells: `a_000.pvtu` has the pieces `a_000_0000.vtu`, `a_000_0001.vtu`, ….
pub fn piece(list: &Path, rank: usize) -> PathBuf {
    let stem = list.file_stem().unwrap_or_default().to_string_lossy();
    list.with_file_name(format!("{stem}_{rank:04}.vtu"))
}

/// The description of the arrays of a piece, which is the same for all pieces that have cells.
pub fn arrays(fields: &UnstructuredFields, options: &VtuOptions) -> String {
    let real = match options.precision {
        Precision::Single => "Float32",
        Precision::Double => "Float64",
    };
    let array = |kind: &str, name: &str, components: usize| {
        let name = escape::xml(name);
        format!("<PDataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\"/>\n")
    };
    let of = |field: &Field| {
        let kind = if matches!(field.values, Values::Real(_)) { real } else { "Int64" };
        // Vectors in the plane have a third component in files.
        array(kind, &field.name, if field.components == 2 { 3 } else { field.components })
    };
    let listed = |fields: &[Field]| fields.iter().map(of).collect::<String>();
    let first = fields.pieces.first();
    format!(
        "<PPoints>\n{}</PPoints>\n<PPointData>\n{}</PPointData>\n<PCellData>\n{}</PCellData>\n",
        array(real, "Points", 3),
        first.map_or_else(String::new, |piece| listed(&piece.point_data)),
        first.map_or_else(String::new, |piece| listed(&piece.cell_data)),
    )
}

/// Writes the list, atomically. The pieces lie beside it; `arrays` describes the arrays of each of them.
///
/// # Errors
/// [`WriterError::Io`].
pub fn write(path: &Path, pieces: &[PathBuf], arrays: &str) -> Result<(), WriterError> {
    let mut xml = format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\" \
         compressor=\"vtkZLibDataCompressor\">\n<PUnstructuredGrid GhostLevel=\"0\">\n{arrays}"
    );
    for piece in pieces {
        let name = piece.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(xml, "<Piece Source=\"{}\"/>", escape::xml(&name));
    }
    xml.push_str("</PUnstructuredGrid>\n</VTKFile>\n");
    atomic::write(path, xml.as_bytes())
}
