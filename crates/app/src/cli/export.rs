//! `dgsuite export`: writes a stored state of a run for other programs.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::export::{ExportError, Stored};
use crate::pipeline::source::{Located, Place, Source};
use crate::writer::MAX_LAGRANGE_ORDER;

pub(super) const HELP: &str = "\
The state is that of a checkpoint, which every run writes at its end and, with output.checkpoint, in between. The run
may still go; nothing of it changes.

Examples:
  dgsuite export out/vortex
  dgsuite export out/vortex --field Mach --field Vorticity --order 6
  dgsuite export out/vortex --field 'head=p + rho*(u^2 + v^2)/2' -o head.vtu
  dgsuite export out/vortex --from out/vortex/checkpoints/step-00000138.dgs
  dgsuite export out/sphere --surface ball --field Pressure";

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Folder of results of a run
    run: PathBuf,
    /// Checkpoint to export (default: the newest one of the run)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Field: Density, Mach, u, rho_x, … or a new name with a formula; may be repeated (default: the fields
    /// that the run writes)
    #[arg(long = "field", short, value_name = "NAME[=FORMULA]")]
    fields: Vec<String>,
    /// Order of the cells, 1 to 10 (default: that of the solution or of the geometry, the higher one)
    #[arg(long, value_name = "N")]
    order: Option<usize>,
    /// Boundaries to write in place of the volume
    #[arg(long = "surface", value_name = "NAME", num_args = 1..)]
    surfaces: Vec<String>,
    /// File to write, .vtu (default: export.vtu or surface.vtu in the folder of the run)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the file and says what is in it.
pub(super) fn write(args: &ExportArgs) -> Result<String, ExportError> {
    let wanted = if args.surfaces.is_empty() { "export" } else { "surface" };
    let path = match &args.output {
        Some(path) => path.clone(),
        None => args.run.join(format!("{wanted}.vtu")),
    };
    ends_in(&path, "vtu")?;
    if let Some(order) = args.order.filter(|order| !(1..=MAX_LAGRANGE_ORDER).contains(order)) {
        return Err(ExportError::Option {
            option: "--order",
            found: order.to_string(),
            expected: format!("cells of VTK have orders from 1 to {MAX_LAGRANGE_ORDER}"),
        });
    }
    let stored = Stored::open(&args.run, args.from.as_deref())?;
    let fields = stored.fields(&args.fields)?;
    let order = args.order.unwrap_or_else(|| stored.order());
    let written = match args.surfaces.is_empty() {
        true => stored.volume(&fields, order),
        false => {
            let names: Vec<_> = args.surfaces.iter().map(|name| on_command_line("--surface", name)).collect();
            stored.surface(&names, &fields, order)?
        }
    };
    written.write(&path, &stored.options())?;
    let cells: usize = written.pieces.iter().map(|piece| piece.n_cells()).sum();
    Ok(format!(
        "{}: {} on {cells} cells of order {order}, from {}",
        path.display(),
        fields.names().join(", "),
        stored.describe()
    ))
}

/// Rejects the name of a file that does not end as its content does.
fn ends_in(path: &Path, extension: &str) -> Result<(), ExportError> {
    match path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension)) {
        true => Ok(()),
        false => Err(ExportError::Option {
            option: "--output",
            found: path.display().to_string(),
            expected: format!("the name of this file ends in .{extension}"),
        }),
    }
}

/// A word of the command line with its place.
fn on_command_line(option: &str, word: &str) -> Located<String> {
    let source = Source::new("command line", format!("{option} {word}"));
    let column = option.chars().count() + 2;
    let place = Place { source, line: 1, column, length: word.chars().count().max(1) };
    Located { value: word.to_owned(), key: option.to_owned(), place }
}
