//! `dgsuite report`: a run as one page.

use std::path::PathBuf;

use clap::Args;

use crate::report::html;
use dgsuite_output::writer::atomic;

pub(super) const HELP: &str = "\
The page has the checks, results, pictures of the main fields, curves of all tables, set-up, mesh, timings, the
environment and how to reproduce the run. It is one file without any request to the network.

Examples:
  dgsuite report out/vortex
  dgsuite report out/vortex -o vortex.html";

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Folder of results of a run or study
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The page (default: report.html in the folder)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the page and returns its path.
pub(super) fn write(args: &ReportArgs) -> anyhow::Result<PathBuf> {
    let page = html::page(&args.run)?;
    let output = args.output.clone().unwrap_or_else(|| args.run.join("report.html"));
    atomic::write(&output, page.as_bytes())?;
    Ok(output)
}
