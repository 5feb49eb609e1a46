//! `dgsuite mesh generate`: writes the mesh that the section `mesh` of a pipeline file would generate.

use std::path::{Path, PathBuf};

use clap::Args;

use super::mesh_output::{self, FormArgs};
use crate::file::expression::Constants;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Source;
use crate::pipeline::Document;
use crate::pipeline::mesh::MeshSpec;
use crate::pipeline::overrides::Override;
use crate::plan;

pub(super) const HELP: &str = "\
The settings are the keys of `mesh.generate` in a pipeline file (`dgsuite keys mesh.generate`), and the keys
extrude, periodic, refine, scale and map of `mesh`. A pipeline file generates such a mesh without a file.

Examples:
  dgsuite mesh generate box shape=hex cells=[8,4,4] max=[2,1,1] periodic=[[zmin,zmax]] -o box.msh
  dgsuite mesh generate annulus shape=quad cells=[8,48] inner=1 outer=8 growth=1.2 order=4 -o ring.msh
  dgsuite mesh generate box shape=tri cells=[8,8] extrude.length=1 extrude.layers=4 -o prisms.msh
  dgsuite mesh generate channel-cylinder shape=quad cells=[4,32] growth=1.3 -o channel.msh --msh 2.2";

#[derive(Debug, Args)]
pub(super) struct GenerateArgs {
    /// box, annulus or channel-cylinder
    kind: String,
    /// Settings, such as cells=[8,4] (the value is YAML)
    #[arg(value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// The mesh file: .msh for Gmsh, .vtu for ParaView
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    form: FormArgs,
}

/// Keys of `mesh` that are settings, beside those of `mesh.generate`.
const OF_MESH: [&str; 5] = ["extrude", "periodic", "refine", "scale", "map"];

/// Generates the mesh and writes it; returns what was written.
///
/// # Errors
/// Mistakes in the settings, the errors of the generator and of the writer.
pub(super) fn write(args: &GenerateArgs) -> anyhow::Result<String> {
    let form = args.form.of(&args.output)?;
    let mut overrides = vec![Override::below("mesh.generate.", "", &format!("kind={}", args.kind))?];
    for text in &args.settings {
        let first = text.split(['.', '=']).next().unwrap_or_default().trim();
        let above = if OF_MESH.contains(&first) { "mesh." } else { "mesh.generate." };
        overrides.push(Override::below(above, "", text)?);
    }
    let mesh = {
        let source = Source::new("command line", "mesh: { generate: {} }");
        let document = Document::parse(&source, Path::new(""), "mesh", false, &overrides)?;
        let (spec, constants) = specification(&document)?;
        plan::mesh::alone(&spec, &constants)?
    };
    mesh_output::write(&mesh, &args.output, form)?;
    Ok(format!("{}\n{}", mesh_output::line(&mesh, &args.output, form), mesh_output::groups(&mesh)))
}

fn specification(document: &Document) -> Result<(MeshSpec, Constants), InputError> {
    let constants = Constants::default();
    let spec = MeshSpec::read(&Section::file(&document.root, &constants)?)?;
    Ok((spec, constants))
}
