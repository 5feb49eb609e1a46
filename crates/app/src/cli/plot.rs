//! `dgsuite plot`: draws columns of a table as a picture.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::pipeline::nearest::nearest;
use crate::run::pictures;
use crate::writer::WriterError;
use crate::writer::csv::Columns;

#[derive(Debug, Args)]
pub(super) struct PlotArgs {
    /// The table (CSV), such as monitors/residual.csv of a run
    file: PathBuf,
    /// Column of the horizontal axis (default: time, else the first)
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
    /// Columns to draw, separated by commas (default: all others)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    y: Vec<String>,
    /// Logarithmic axes
    #[arg(long, value_enum)]
    log: Option<Log>,
    /// The picture (default: the table's name with .svg)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Log {
    X,
    Y,
    Xy,
}

/// Why no picture was drawn.
#[derive(Debug, thiserror::Error)]
pub(super) enum PlotError {
    #[error("{0}")]
    File(#[from] WriterError),
    #[error("{} has no column `{name}`{}; it has: {}", file.display(), hint.as_ref().map(|h| format!(" (did you mean `{h}`?)")).unwrap_or_default(), columns.join(", "))]
    Column { file: PathBuf, name: String, hint: Option<String>, columns: Vec<String> },
    #[error("{} has no points to draw in these columns{}", file.display(), if *log { " on logarithmic axes" } else { "" })]
    Nothing { file: PathBuf, log: bool },
}

/// Draws the picture and returns its path.
pub(super) fn draw(args: &PlotArgs) -> Result<PathBuf, PlotError> {
    let table = Columns::read(&args.file)?;
    let known = |name: &str| match table.column(name) {
        Some(_) => Ok(()),
        None => Err(PlotError::Column {
            file: args.file.clone(),
            name: name.to_owned(),
            hint: nearest(name, &table.names).map(str::to_owned),
            columns: table.names.clone(),
        }),
    };
    let first = || table.names.first().cloned().unwrap_or_default();
    let default = || table.column("time").map_or_else(first, |_| "time".to_owned());
    let x = args.x.clone().unwrap_or_else(default);
    known(&x)?;
    args.y.iter().try_for_each(|y| known(y))?;
    let others = || table.names.iter().filter(|name| **name != x && !pictures::is_place(name));
    let ys: Vec<&str> = if args.y.is_empty() {
        others().map(String::as_str).collect()
    } else {
        args.y.iter().map(String::as_str).collect()
    };
    let title = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let mut chart = pictures::columns(&table, &title, &x, &ys);
    chart.log_x = matches!(args.log, Some(Log::X | Log::Xy));
    chart.log_y = matches!(args.log, Some(Log::Y | Log::Xy));
    let output = args.output.clone().unwrap_or_else(|| args.file.with_extension("svg"));
    if chart.write(Path::new(&output))? {
        return Ok(output);
    }
    Err(PlotError::Nothing { file: args.file.clone(), log: args.log.is_some() })
}
