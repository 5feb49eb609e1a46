//! `dgsuite plot`: draws columns of tables as a picture.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::code::Code;
use crate::monitors::charts;
use dgsuite_output::nearest::nearest;
use dgsuite_output::writer::WriterError;
use dgsuite_output::writer::csv::Columns;
use dgsuite_output::writer::plot::{Chart, Curve};

pub(super) const HELP: &str = "\
A run draws its monitors when it ends. This command draws any columns of tables, also during a run and of several
runs. More than eight curves are drawn in several panels.

Examples:
  dgsuite plot out/vortex/monitors/residual.csv
  dgsuite plot out/cylinder/monitors/forces.csv --y cd,cl -o drag.png
  dgsuite plot out/p2/monitors/error.csv out/p4/monitors/error.csv --y l2.rho
  dgsuite plot out/naca/monitors/wall-curve.csv --x x --y cp --points experiment.csv";

#[derive(Debug, Args)]
pub(super) struct PlotArgs {
    /// Tables (CSV), such as monitors/residual.csv of a run; curves of all are drawn over one axis
    #[arg(required = true, value_name = "TABLE")]
    files: Vec<PathBuf>,
    /// Column of the horizontal axis (default: time, else the first)
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
    /// Columns to draw, separated by commas (default: all others)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    y: Vec<String>,
    /// Logarithmic axes (default: those of positive values over three powers of ten or more, and mesh sizes)
    #[arg(long, value_enum)]
    log: Option<Log>,
    /// Reference values, drawn as points: a table with the same columns, or x in its first and y in its
    /// second column; lines that begin with # are left out (may be repeated)
    #[arg(long, value_name = "FILE")]
    points: Vec<PathBuf>,
    /// Title (default: the name of the table)
    #[arg(long)]
    title: Option<String>,
    /// The picture, .svg or .png (default: the first table's name with .svg)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Log {
    X,
    Y,
    Xy,
    None,
}

/// Why no picture was drawn.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlotError {
    #[error("{0}")]
    File(#[from] WriterError),
    #[error("{} is a folder; give {}", path.display(), if tables.is_empty() { "a table (CSV)".to_owned() } else { format!("one of its tables: {}", tables.join(", ")) })]
    Folder { path: PathBuf, tables: Vec<String> },
    #[error("{} has no column `{name}`{}; it has: {}", file.display(), hint.as_ref().map(|h| format!(" (did you mean `{h}`?)")).unwrap_or_default(), columns.join(", "))]
    Column { file: PathBuf, name: String, hint: Option<String>, columns: Vec<String> },
    #[error("{} has no points to draw in these columns{}", file.display(), if *log { " on logarithmic axes; try --log none" } else { "" })]
    Nothing { file: PathBuf, log: bool },
    #[error("{} cannot be written: the name of a picture ends in .svg or .png", path.display())]
    Kind { path: PathBuf },
}

impl PlotError {
    /// The code of the message.
    pub(super) fn code(&self) -> Code {
        match self {
            Self::File(error) => error.into(),
            Self::Folder { .. } => Code::NoResults,
            Self::Column { .. } => Code::UnknownField,
            Self::Nothing { .. } => Code::NothingToDraw,
            Self::Kind { .. } => Code::BadOption,
        }
    }
}

/// Draws the picture and returns its path.
pub(super) fn draw(args: &PlotArgs) -> Result<PathBuf, PlotError> {
    let output = args.output.clone().unwrap_or_else(|| args.files[0].with_extension("svg"));
    let kind = output.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if !["svg", "png"].contains(&kind.as_str()) {
        return Err(PlotError::Kind { path: output });
    }
    let tables = args.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let first = &tables[0];
    let default = || match first.column("time") {
        Some(_) => "time".to_owned(),
        None => first.names.first().cloned().unwrap_or_default(),
    };
    let x = args.x.clone().unwrap_or_else(default);
    let ys: Vec<String> = match args.y.is_empty() {
        true => first.names.iter().filter(|name| **name != x && !charts::is_place(name)).cloned().collect(),
        false => args.y.clone(),
    };
    let mut curves = Vec::new();
    for ((file, table), place) in args.files.iter().zip(&tables).zip(distinct(&args.files)) {
        known(file, table, &x)?;
        ys.iter().try_for_each(|y| known(file, table, y))?;
        let columns: Vec<&str> = ys.iter().map(String::as_str).collect();
        curves.extend(charts::columns(table, "", &x, &columns).curves.into_iter().map(|curve| {
            let name = match (tables.len(), ys.len()) {
                (1, _) => curve.name.clone(),
                (_, 1) => place.clone(),
                _ => format!("{}, {place}", curve.name),
            };
            Curve { name, ..curve }
        }));
    }
    // Curves of one column follow each other.
    let (n_columns, n_tables) = (ys.len(), tables.len());
    let mut order: Vec<usize> = (0..curves.len()).collect();
    order.sort_by_key(|k| (k % n_columns.max(1), k / n_columns.max(1)));
    let mut curves: Vec<Curve> = order.into_iter().map(|k| curves[k].clone()).collect();
    if n_tables > 1 || !args.points.is_empty() {
        curves.iter_mut().for_each(|curve| curve.marks &= curve.points.len() < 12);
    }
    for file in &args.points {
        curves.extend(reference(file, &x, &ys)?);
    }
    let stem = || args.files[0].file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (log_x, log_y) = match args.log {
        Some(log) => (matches!(log, Log::X | Log::Xy), matches!(log, Log::Y | Log::Xy)),
        None => natural(&x, &curves),
    };
    let y = if let [y] = &ys[..] { y.clone() } else { String::new() };
    let chart = Chart {
        title: args.title.clone().unwrap_or_else(stem),
        x,
        y,
        log_x,
        log_y,
        curves,
        ..Chart::default()
    };
    if chart.write(Path::new(&output))? {
        return Ok(output);
    }
    Err(PlotError::Nothing { file: args.files[0].clone(), log: log_x || log_y })
}

/// Reads a table; a folder is answered with the tables inside of it.
fn read(path: &Path) -> Result<Columns, PlotError> {
    if !path.is_dir() {
        return Ok(Columns::read(path)?);
    }
    let mut tables = Vec::new();
    for folder in [path.to_owned(), path.join("monitors")] {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let of_kind = files.filter(|file| file.extension().is_some_and(|e| e == "csv"));
        tables.extend(of_kind.map(|file| file.display().to_string()));
    }
    tables.sort();
    Err(PlotError::Folder { path: path.to_owned(), tables })
}

fn known(file: &Path, table: &Columns, name: &str) -> Result<(), PlotError> {
    match table.column(name) {
        Some(_) => Ok(()),
        None => Err(PlotError::Column {
            file: file.to_owned(),
            name: name.to_owned(),
            hint: nearest(name, &table.names).map(str::to_owned),
            columns: table.names.clone(),
        }),
    }
}

/// The curves of reference values: those of the columns that are drawn, else the second column over the
/// first.
fn reference(file: &Path, x: &str, ys: &[String]) -> Result<Vec<Curve>, PlotError> {
    let table = Columns::read_data(file)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let along = table.column(x).or_else(|| table.values.first().map(Vec::as_slice)).unwrap_or_default();
    let same: Vec<&String> = ys.iter().filter(|y| table.column(y).is_some()).collect();
    let curve = |name: String, values: &[f64]| Curve {
        name,
        points: along.iter().copied().zip(values.iter().copied()).collect(),
        marks: true,
        alone: true,
    };
    let curves: Vec<Curve> = match &same[..] {
        [] => table.values.get(1).map(|values| curve(stem, values)).into_iter().collect(),
        [y] => vec![curve(stem, table.column(y).unwrap_or_default())],
        _ => {
            same.iter().map(|y| curve(format!("{y}, {stem}"), table.column(y).unwrap_or_default())).collect()
        }
    };
    match curves.iter().any(|curve| curve.points.iter().any(|(x, y)| x.is_finite() && y.is_finite())) {
        true => Ok(curves),
        false => Err(PlotError::Nothing { file: file.to_owned(), log: false }),
    }
}

/// Which axes are logarithmic by nature: that of positive values over three powers of ten or more, and that
/// of sizes of meshes.
fn natural(x: &str, curves: &[Curve]) -> (bool, bool) {
    let ratio = |values: &mut dyn Iterator<Item = f64>| {
        let finite = values.filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > 0.0 { high / low } else { 1.0 }
    };
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let along = ratio(&mut points().map(|p| p.0));
    let sizes = ["h", "dofs", "elements"].contains(&x) && along > 2.0;
    (sizes || !charts::is_place(x) && along >= 1e3, ratio(&mut points().map(|p| p.1)) >= 1e3)
}

/// The part of each path that distinguishes it from the others: the name of the file, or of a folder.
fn distinct(paths: &[PathBuf]) -> Vec<String> {
    let parts = |path: &PathBuf| -> Vec<String> {
        let path = path.with_extension("");
        path.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let all: Vec<Vec<String>> = paths.iter().map(parts).collect();
    let deepest = all.iter().map(Vec::len).min().unwrap_or(0);
    for depth in 0..deepest {
        let mut names: Vec<&String> = all.iter().map(|parts| &parts[depth]).collect();
        names.sort();
        names.dedup();
        if names.len() == paths.len() {
            return all.iter().map(|parts| parts[depth].clone()).collect();
        }
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_by_what_distinguishes_them() {
        let names = |paths: &[&str]| distinct(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(names(&["a/error.csv", "a/forces.csv"]), ["error", "forces"]);
        assert_eq!(names(&["out/p2/monitors/error.csv", "out/p4/monitors/error.csv"]), ["p2", "p4"]);
        assert_eq!(names(&["a.csv", "a.csv"]), ["a.csv", "a.csv"]);
    }

    #[test]
    fn axes_are_logarithmic_by_nature() {
        let curve = |points: &[(f64, f64)]| vec![Curve { points: points.to_vec(), ..Curve::default() }];
        assert_eq!(natural("time", &curve(&[(1.0, 1.0), (1e5, 1e-9), (2.0, f64::NAN)])), (false, true));
        assert_eq!(natural("h", &curve(&[(0.1, 1e-3), (0.4, 1e-1)])), (true, false));
        assert_eq!(natural("k", &curve(&[(1.0, -1.0), (2e3, 1e5)])), (true, false));
    }
}
