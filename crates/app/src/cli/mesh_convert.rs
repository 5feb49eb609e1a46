//! `dgsuite mesh convert`: writes a Gmsh file as another version, as text or binary, or for ParaView.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dgsuite_mesh::gmsh::{self, ReadOptions};

use super::mesh_output::{self, FormArgs};

pub(super) const HELP: &str = "\
Groups with their names, curved elements, coordinates (bit for bit) and periodic pairs are kept.

Examples:
  dgsuite mesh convert old.msh new.msh
  dgsuite mesh convert wing.msh wing-22.msh --msh 2.2 --text
  dgsuite mesh convert wing.msh wing.vtu";

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// The mesh file (Gmsh 2.2 or 4.1, text or binary)
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The new file: .msh for Gmsh, .vtu for ParaView
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    form: FormArgs,
}

/// Reads the mesh and writes it; returns what was written, and what the reader found odd.
///
/// # Errors
/// The errors of the reader and of the writer.
pub(super) fn convert(args: &ConvertArgs) -> anyhow::Result<String> {
    let form = args.form.of(&args.output)?;
    let (mesh, report) = gmsh::read(&args.input, &ReadOptions::default())?;
    mesh_output::write(&mesh, &args.output, form)?;
    let mut out = mesh_output::line(&mesh, &args.output, form);
    out.push('\n');
    out += &mesh_output::groups(&mesh);
    for warning in &report.warnings {
        let _ = writeln!(out, "{:<11} {warning}", "warning");
    }
    Ok(out)
}
