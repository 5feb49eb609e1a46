//! `dgsuite init`: a pipeline file to begin with.

mod on_mesh;

use std::path::PathBuf;

use clap::Args;

use crate::pipeline::keys;
use dgsuite_output::escape::printable;
use dgsuite_output::nearest::nearest;
use dgsuite_output::writer::atomic;

pub(super) const HELP: &str = "\
Each template runs as it is, in seconds, on a mesh that it generates, and says in comments what to change.

Templates:
  euler           a vortex in a periodic box
  shock           an explosion in a box
  navier-stokes   decaying vortices of a viscous gas
  incompressible  a cavity whose lid moves
  poisson         heat in a plate

Examples:
  dgsuite init euler
  dgsuite init navier-stokes --mesh airfoil.msh -o airfoil.yaml
  dgsuite init shock -o case.yaml --schema";

/// Names and texts.
const TEMPLATES: [(&str, &str); 5] = [
    ("euler", include_str!("../../templates/euler.yaml")),
    ("shock", include_str!("../../templates/shock.yaml")),
    ("navier-stokes", include_str!("../../templates/navier-stokes.yaml")),
    ("incompressible", include_str!("../../templates/incompressible.yaml")),
    ("poisson", include_str!("../../templates/poisson.yaml")),
];

/// The file with the schema, beside the pipeline file.
const SCHEMA: &str = "dgsuite.json";

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The template
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// The file (default: TEMPLATE.yaml)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the file for this mesh of Gmsh: its boundaries by name, with conditions guessed from the names
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// Also write the schema of pipeline files to dgsuite.json, and name it in the first line, for editors
    #[arg(long)]
    schema: bool,
}

/// Why no file was written.
#[derive(Debug, thiserror::Error)]
pub(super) enum InitError {
    #[error(
        "there is no template `{}`{}\nhint: the templates are {}",
        printable(name),
        near.map_or_else(String::new, |near| format!(": did you mean `{near}`?")),
        NAMES.join(", ")
    )]
    Unknown { name: String, near: Option<&'static str> },
    #[error("{file} exists, and nothing was written\nhint: choose another name with --output FILE")]
    Exists { file: String },
}

const NAMES: [&str; TEMPLATES.len()] =
    [TEMPLATES[0].0, TEMPLATES[1].0, TEMPLATES[2].0, TEMPLATES[3].0, TEMPLATES[4].0];

/// Writes the file, and returns what to do next.
pub(super) fn write(args: &InitArgs) -> anyhow::Result<String> {
    let Some((name, text)) = TEMPLATES.iter().find(|(name, _)| *name == args.template) else {
        let near = nearest(&args.template, &NAMES);
        return Err(InitError::Unknown { name: args.template.clone(), near }.into());
    };
    let file = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.yaml")));
    let schema = file.with_file_name(SCHEMA);
    for path in [Some(&file), args.schema.then_some(&schema)].into_iter().flatten() {
        if path.symlink_metadata().is_ok() {
            return Err(InitError::Exists { file: path.display().to_string() }.into());
        }
    }
    // The comments of a template name its file and its results.
    let stem = file.file_stem().map_or_else(|| (*name).into(), |stem| stem.to_string_lossy());
    let mut own = String::new();
    if args.schema {
        let text = serde_json::to_string_pretty(&keys::schema())?;
        atomic::write(&schema, format!("{text}\n").as_bytes())?;
        own = format!("# yaml-language-server: $schema={SCHEMA}\n");
    }
    if let Some(mesh) = &args.mesh {
        own += &on_mesh::text(name, mesh, &file, &stem)?;
        atomic::write(&file, own.as_bytes())?;
        return Ok(format!(
            "{0}\nnext: look at the conditions of its boundaries; dgsuite check {0}; dgsuite run {0}",
            file.display()
        ));
    }
    for line in text.lines() {
        let comment = line.starts_with('#') || line.trim_start().starts_with("checkpoint:");
        let named = line.replace(&format!("{name}.yaml"), &file.display().to_string());
        own += &if comment {
            named.replace(&format!("out/{name}"), &format!("out/{stem}"))
        } else {
            line.to_owned()
        };
        own.push('\n');
    }
    atomic::write(&file, own.as_bytes())?;
    Ok(format!("{0}\nnext: dgsuite check {0}; dgsuite run {0}", file.display()))
}
