//! `dgsuite export`: writes a stored state of a run for other programs.

use std::path::{Path, PathBuf};

use clap::Args;

use super::picture::slice;
use crate::export::{ExportError, Fields, Line, Stored, states};
use crate::file::source::{Located, Place, Source};
use dgsuite_output::writer::{CellBlock, MAX_LAGRANGE_ORDER, UnstructuredFields, atomic, csv};
use dgsuite_solve::post::cut::Slice;

pub(super) const HELP: &str = "\
The state is that of a checkpoint, which every run writes at its end and, with output.checkpoint, in between. The run
may still go; nothing of it changes.

Examples:
  dgsuite export out/vortex
  dgsuite export out/vortex --field Mach --field Vorticity --order 6
  dgsuite export out/vortex --field 'head=p + rho*(u^2 + v^2)/2' -o head.vtu
  dgsuite export out/vortex --from out/vortex/checkpoints/step-00000138.dgs
  dgsuite export out/vortex --all -o vortex.vtkhdf
  dgsuite export out/sphere --surface sphere --field Pressure
  dgsuite export out/sphere --slice y=0 --slice z=0 --field Velocity --field Vorticity
  dgsuite export out/cavity --line '0.5,0 0.5,1' --points 129 --field u
  dgsuite export out/cavity --at sensors.csv --field p";

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Folder of results of a run
    run: PathBuf,
    /// Checkpoint to export (default: the newest one of the run)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// All checkpoints of the run, as the times of one .vtkhdf file
    #[arg(long, conflicts_with_all = ["from", "line"])]
    all: bool,
    /// Field: Density, Mach, u, rho_x, … or a new name with a formula; may be repeated (default: the fields
    /// that the run writes)
    #[arg(long = "field", short, value_name = "NAME[=FORMULA]")]
    fields: Vec<String>,
    /// Order of the cells, 1 to 10 (default: that of the solution or of the geometry, the higher one); with
    /// --slice the number of parts into which sides of elements are divided (default: twice as many)
    #[arg(long, value_name = "N", conflicts_with = "line")]
    order: Option<usize>,
    /// Boundaries to write in place of the volume
    #[arg(long = "surface", value_name = "NAME", num_args = 1.., conflicts_with_all = ["slices", "line"])]
    surfaces: Vec<String>,
    /// Cut through a solid to write in place of the volume (may be repeated)
    #[arg(long = "slice", value_name = "x|y|z=VALUE", value_parser = slice, conflicts_with = "line")]
    slices: Vec<Slice>,
    /// Line of which a table is written in place of the volume: its ends
    #[arg(long, value_name = "X0,Y0[,Z0] X1,Y1[,Z1]", allow_hyphen_values = true)]
    line: Option<String>,
    /// Number of points of the line
    #[arg(long, value_name = "N", default_value_t = 101, requires = "line",
          value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    points: u32,
    /// File of points, of which a table is written in place of the volume: its columns x, y and z, or the
    /// first ones
    #[arg(long, value_name = "FILE", conflicts_with_all = ["line", "order", "surfaces", "slices", "all"])]
    at: Option<PathBuf>,
    /// File to write: .vtu or .vtkhdf, for a table .csv (default: export.vtu, surface.vtu, slice.vtu,
    /// line.csv or samples.csv in the folder of the run; with --all they end in .vtkhdf)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the file and says what is in it.
pub(super) fn write(args: &ExportArgs) -> Result<String, ExportError> {
    let name = match (&args.line, &args.at, args.slices.is_empty(), args.surfaces.is_empty()) {
        (Some(_), ..) => "line.csv",
        (None, Some(_), ..) => "samples.csv",
        (None, None, false, _) => "slice.vtu",
        (None, None, true, false) => "surface.vtu",
        (None, None, true, true) => "export.vtu",
    };
    let usual = || args.run.join(name).with_extension(if args.all { "vtkhdf" } else { extension(name) });
    let path = args.output.clone().unwrap_or_else(usual);
    let ends: &[&str] = match (args.line.is_some() || args.at.is_some(), args.all) {
        (true, _) => &["csv"],
        (false, true) => &["vtkhdf"],
        (false, false) => &["vtu", "vtkhdf"],
    };
    ends_in(&path, ends)?;
    if let Some(order) = args.order.filter(|order| !(1..=MAX_LAGRANGE_ORDER).contains(order)) {
        return Err(ExportError::Option {
            option: "--order",
            found: order.to_string(),
            expected: format!("cells of VTK have orders from 1 to {MAX_LAGRANGE_ORDER}"),
        });
    }
    if path.extension().is_some_and(|found| found.eq_ignore_ascii_case("vtkhdf")) {
        return all_times(args, &path);
    }
    let stored = Stored::open(&args.run, args.from.as_deref())?;
    let fields = stored.fields(&args.fields)?;
    let what = match (&args.line, &args.at) {
        (Some(text), _) => {
            let ends = on_command_line("--line", text);
            let ends = ends.with(ends_of(text, stored.mesh().dim)?);
            table(&stored.line(&ends, args.points as usize, &fields)?, &path)?
        }
        (None, Some(file)) => {
            let word = on_command_line("--at", &file.display().to_string());
            table(&stored.at(&word.with(file.clone()), &fields)?, &path)?
        }
        (None, None) => {
            let (written, what) = cells(&stored, &fields, args)?;
            written.write(&path, &stored.options())?;
            what
        }
    };
    let names = fields.names().join(", ");
    Ok(format!("{}: {names} {what}, from {}", path.display(), stored.describe()))
}

/// Writes one or all stored states as the times of a file.
fn all_times(args: &ExportArgs, path: &Path) -> Result<String, ExportError> {
    use dgsuite_output::writer::{TimeSeries as _, vtkhdf::Series};
    let files = match args.all {
        true => states(&args.run)?.into_iter().map(Some).collect(),
        false => vec![args.from.clone()],
    };
    let mut said = Vec::new();
    atomic::replace(path, |temporary| {
        let mut series = Series::create(temporary);
        for file in &files {
            let stored = Stored::open(&args.run, file.as_deref())?;
            let fields = stored.fields(&args.fields)?;
            let (written, what) = cells(&stored, &fields, args)?;
            series.write(&written, &stored.options())?;
            let names = fields.names().join(", ");
            said.push((format!("{}: {names} {what}", path.display()), stored.describe(), stored.time));
        }
        Ok::<(), ExportError>(())
    })?;
    Ok(match &said[..] {
        [] => String::new(),
        [(what, state, _)] => format!("{what}, from {state}"),
        [(what, _, first), .., (_, _, last)] => {
            format!("{what}, at {} times from t = {first} to {last}", said.len())
        }
    })
}

/// Computes fields on cells, and says on which.
fn cells(
    stored: &Stored,
    fields: &Fields,
    args: &ExportArgs,
) -> Result<(UnstructuredFields, String), ExportError> {
    let order = args.order.unwrap_or_else(|| stored.order());
    let (written, of) = if !args.slices.is_empty() {
        let divisions = args.order.unwrap_or(2 * order);
        (stored.slices(&args.slices, fields, divisions)?, "triangles".to_owned())
    } else if !args.surfaces.is_empty() {
        let names: Vec<_> = args.surfaces.iter().map(|name| on_command_line("--surface", name)).collect();
        (stored.surface(&names, fields, order)?, format!("cells of order {order}"))
    } else {
        (stored.volume(fields, order), format!("cells of order {order}"))
    };
    let n: usize = written.pieces.iter().map(CellBlock::n_cells).sum();
    Ok((written, format!("on {n} {of}")))
}

/// Writes a table, and says how long it is.
fn table(line: &Line, path: &Path) -> Result<String, ExportError> {
    let mut table = line.columns.iter().map(|name| csv::heading(name)).collect::<Vec<_>>().join(",");
    table.push('\n');
    for row in &line.rows {
        table.push_str(&row.iter().map(|&x| csv::number(x)).collect::<Vec<_>>().join(","));
        table.push('\n');
    }
    atomic::write(path, table.as_bytes())?;
    let outside = match line.outside {
        0 => String::new(),
        n => format!(" ({n} more are outside of the mesh)"),
    };
    Ok(format!("at {} points{outside}", line.rows.len()))
}

/// Reads the ends of a line.
fn ends_of(text: &str, dim: usize) -> Result<[[f64; 3]; 2], ExportError> {
    let end = |text: &str| -> Option<[f64; 3]> {
        let numbers = text.split(',').map(|x| x.trim().parse::<f64>().ok().filter(|x| x.is_finite()));
        let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
        (numbers.len() == dim).then(|| std::array::from_fn(|d| numbers.get(d).copied().unwrap_or(0.0)))
    };
    let ends: Option<Vec<[f64; 3]>> = text.split_whitespace().map(end).collect();
    let ends = ends.and_then(|ends| <[[f64; 3]; 2]>::try_from(ends).ok());
    ends.filter(|[a, b]| a != b).ok_or_else(|| ExportError::Option {
        option: "--line",
        found: text.to_owned(),
        expected: match dim {
            2 => "needs two different points of two coordinates, such as '0,0.5 1,0.5'".to_owned(),
            _ => "needs two different points of three coordinates, such as '0,0,0.5 1,0,0.5'".to_owned(),
        },
    })
}

/// The end of a name.
fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, end)| end)
}

/// Rejects the name of a file that does not end as its content does.
fn ends_in(path: &Path, extensions: &[&str]) -> Result<(), ExportError> {
    let ends = |wanted: &&str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(wanted));
    match extensions.iter().any(ends) {
        true => Ok(()),
        false => Err(ExportError::Option {
            option: "--output",
            found: path.display().to_string(),
            expected: format!("the name of this file ends in .{}", extensions.join(" or .")),
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
