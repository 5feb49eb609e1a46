//! Writing a mesh to a file of the kind that its name says.

use std::path::{Path, PathBuf};

use clap::Args;
use dgsuite_mesh::gmsh::{self, Format, Version};
use dgsuite_mesh::{Across, Mesh};

use super::mesh_cells;
use crate::plan::print::counted_shapes;
use dgsuite_output::writer::{Precision, VtuOptions, WriterError, atomic};

#[derive(Debug, Args)]
pub(super) struct FormArgs {
    /// Version of a Gmsh file (default 4.1)
    #[arg(long, value_name = "VERSION", value_parser = ["4.1", "2.2"])]
    msh: Option<String>,
    /// Write a Gmsh file as text (default: binary)
    #[arg(long)]
    text: bool,
}

/// Why a mesh was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutputError {
    #[error("{} cannot be written: the name of a mesh ends in .msh (Gmsh) or .vtu (ParaView)", path.display())]
    Kind { path: PathBuf },
    #[error("{} cannot be written: the name of cells for ParaView ends in .vtu", path.display())]
    Cells { path: PathBuf },
    #[error("--msh and --text belong to Gmsh files; {} is written for ParaView", path.display())]
    Form { path: PathBuf },
    #[error(
        "MSH 2.2 has no numbers above {max}, but elements are numbered to {found}\nhint: write MSH 4.1 (--msh 4.1)"
    )]
    Numbers { found: u64, max: u64 },
    #[error(transparent)]
    Writer(#[from] WriterError),
}

impl OutputError {
    /// Whether the command line, not the disk, is the reason.
    pub(super) fn is_input(&self) -> bool {
        !matches!(self, Self::Writer(_))
    }
}

/// The kind of a mesh file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Gmsh(Format),
    ParaView,
}

impl FormArgs {
    /// The kind of the file `path`.
    ///
    /// # Errors
    /// A name without a known extension, options of Gmsh files for other ones.
    pub(super) fn of(&self, path: &Path) -> Result<Form, OutputError> {
        let kind = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match kind.as_str() {
            "msh" => {
                let version = if self.msh.as_deref() == Some("2.2") { Version::V22 } else { Version::V41 };
                Ok(Form::Gmsh(Format { version, binary: !self.text, big_endian: false }))
            }
            "vtu" if self.msh.is_some() || self.text => Err(OutputError::Form { path: path.to_owned() }),
            "vtu" => Ok(Form::ParaView),
            _ => Err(OutputError::Kind { path: path.to_owned() }),
        }
    }
}

/// Rejects a name for cells that is not one of ParaView, such as that of the mesh.
///
/// # Errors
/// [`OutputError::Cells`].
pub(super) fn named_as_cells(path: &Path) -> Result<(), OutputError> {
    match path.extension().is_some_and(|end| end.eq_ignore_ascii_case("vtu")) {
        true => Ok(()),
        false => Err(OutputError::Cells { path: path.to_owned() }),
    }
}

/// Writes the mesh, atomically.
///
/// # Errors
/// The errors of the writer; numbers that MSH 2.2 cannot hold.
pub(super) fn write(mesh: &Mesh, path: &Path, form: Form) -> Result<(), OutputError> {
    match form {
        Form::Gmsh(format) => {
            if format.version == Version::V22 {
                fits_22(mesh)?;
            }
            atomic::write(path, &gmsh::to_bytes(mesh, &format))?;
        }
        Form::ParaView => {
            let options = VtuOptions { precision: Precision::Double, ..VtuOptions::default() };
            mesh_cells::with_faces(mesh).write(path, &options)?;
        }
    }
    Ok(())
}

/// Boundary elements get numbers above those of the elements.
fn fits_22(mesh: &Mesh) -> Result<(), OutputError> {
    let outer = |across: &Across| match across {
        Across::Boundary(_) => 1,
        Across::Periodic { .. } => 2,
        Across::Interior { .. } => 0,
    };
    let last = mesh.sets.iter().flat_map(|set| set.tags.iter().copied()).max().unwrap_or(0);
    let found = last.saturating_add(mesh.faces.iter().map(|face| outer(&face.across)).sum());
    let max = u64::from(i32::MAX.unsigned_abs());
    if found > max { Err(OutputError::Numbers { found, max }) } else { Ok(()) }
}

/// One line on what a file holds.
pub(super) fn line(mesh: &Mesh, path: &Path, form: Form) -> String {
    let form = match form {
        Form::Gmsh(format) => {
            format!("MSH {} {}", format.version, if format.binary { "binary" } else { "text" })
        }
        Form::ParaView => "cells for ParaView".to_owned(),
    };
    format!(
        "{}: {form}, {}, geometry of order {}",
        path.display(),
        counted_shapes(&mesh.set_sizes()),
        mesh.max_order()
    )
}

/// The names of boundaries, regions and periodic pairs with the numbers that they have in files for ParaView.
pub(super) fn groups(mesh: &Mesh) -> String {
    let joined = mesh.links.iter().flat_map(|link| [link.first, link.second]).collect::<Vec<_>>();
    let counts = mesh.boundary_counts();
    let mut out = String::new();
    let mut list = |what: &str, items: Vec<String>| {
        if !items.is_empty() {
            out += &format!("{what:<11} {}\n", items.join(", "));
        }
    };
    list("regions", mesh.region_names.iter().map(|r| format!("{} ({})", r.name, r.region)).collect());
    let used = |b: usize| counts[b] > 0 || joined.contains(&(b as u32));
    let boundaries = mesh.boundaries.iter().enumerate().filter(|(b, _)| used(*b));
    let number = |b: usize| mesh_cells::number(mesh, b as u32);
    list("boundaries", boundaries.map(|(b, tag)| format!("{} ({})", tag.name, number(b))).collect());
    let name = |b: u32| mesh.boundaries[b as usize].name.as_str();
    let pairs = mesh.links.iter().map(|link| format!("{} - {}", name(link.first), name(link.second)));
    list("periodic", pairs.collect());
    out
}
