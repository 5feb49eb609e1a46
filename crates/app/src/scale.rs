//! `dgsuite bench scale`: how the time of a stage, of an incompressible step or of a solve falls with the
//! number of ranks.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::file::keys::INCOMPRESSIBLE_FLOW;
use crate::pipeline::Document;
use crate::pipeline::mesh::{MeshSource, MeshSpec};
use crate::pipeline::overrides::Override;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The pipeline file.
    pub file: PathBuf,
    /// Overrides `key=value`.
    pub sets: Vec<String>,
    /// Steps of each run.
    pub steps: usize,
    /// The ranks.
    pub ranks: Ranks,
}

/// The ranks of the runs.
#[derive(Clone, Debug)]
pub enum Ranks {
    /// Numbers of GPUs of this machine.
    Devices(Vec<usize>),
    /// Numbers of processes on CPUs.
    Processes {
        /// These numbers.
        numbers: Vec<usize>,
        /// The command before the program, with `{ranks}` for the number.
        launcher: String,
    },
}

/// A failed measurement.
#[derive(Debug, thiserror::Error)]
pub enum ScaleError {
    /// The list of numbers of ranks is of no use.
    #[error("give at least one number of ranks, none of them 0")]
    Ranks,
    /// A run cannot be started.
    #[error("{command} cannot be started: {reason}")]
    Start {
        /// The command.
        command: String,
        /// The reason.
        reason: std::io::Error,
    },
    /// A run failed.
    #[error("{command} failed:\n{output}")]
    Run {
        /// The command.
        command: String,
        /// What it printed on standard error.
        output: String,
    },
}

/// What is timed.
#[derive(Clone, Copy)]
enum Work {
    /// A stage of an explicit scheme.
    Stage,
    /// A step of incompressible flow.
    Step,
    /// The solve of an elliptic problem.
    Solve,
}

impl Work {
    fn of(document: &Document) -> Self {
        match document.model().as_deref() {
            _ if document.is_elliptic() => Self::Solve,
            Some(INCOMPRESSIBLE_FLOW) => Self::Step,
            _ => Self::Stage,
        }
    }

    const fn column(self) -> &'static str {
        match self {
            Self::Stage => "ms a stage",
            Self::Step => "ms a step",
            Self::Solve => "ms a solve",
        }
    }

    /// The unit of its speed.
    const fn speed(self) -> (&'static str, f64) {
        match self {
            Self::Stage => ("GDOF/s", 1e9),
            Self::Step | Self::Solve => ("MDOF/s", 1e6),
        }
    }

    /// The settings that leave nothing but the work.
    fn settings(self, steps: usize) -> Vec<String> {
        let mut settings = vec!["output.fields=none".to_owned(), "checks=[]".to_owned()];
        if !matches!(self, Self::Solve) {
            settings.extend(["output.checkpoint=none", "monitors=[]", "time.end=null"].map(str::to_owned));
            settings.push(format!("time.steps={steps}"));
        }
        settings
    }
}

/// One run.
struct Row {
    ranks: usize,
    weak: bool,
    dofs: f64,
    /// Seconds of a stage, a step or a solve.
    stage: f64,
}

/// Runs the file with each number of ranks; calls `say` with each line of the table.
///
/// # Errors
/// [`ScaleError`], mistakes in the file, and failures of the temporary directory.
pub fn measure(options: &Options, say: &mut dyn FnMut(&str)) -> anyhow::Result<Value> {
    let numbers = match &options.ranks {
        Ranks::Devices(numbers) | Ranks::Processes { numbers, .. } => numbers.clone(),
    };
    if numbers.is_empty() || numbers.contains(&0) {
        return Err(ScaleError::Ranks.into());
    }
    let overrides = options.sets.iter().map(|text| Override::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let document = Document::read(&options.file, false, &overrides)?;
    let work = Work::of(&document);
    let mesh = match work {
        Work::Solve => document.elliptic()?.mesh,
        Work::Stage | Work::Step => document.pipeline()?.mesh,
    };
    let folder = tempfile::tempdir()?;
    say(&format!(
        "{:<8} {:>6} {:>10} {:>12} {:>12} {:>12}",
        "scaling",
        "ranks",
        "MDOF",
        work.column(),
        work.speed().0,
        "efficiency"
    ));
    let mut rows: Vec<Row> = Vec::new();
    let first = numbers[0];
    for weak in [false, true] {
        for &ranks in &numbers {
            let longer = match (weak, ranks == first) {
                (true, true) => continue,
                (true, false) => match longer_box(&mesh, ranks as f64 / first as f64) {
                    Some(sets) => sets.to_vec(),
                    None => continue,
                },
                (false, _) => Vec::new(),
            };
            let summary = run(options, work, ranks, &longer, folder.path())?;
            let number = |at: &str| summary.pointer(at).and_then(Value::as_f64).unwrap_or(f64::NAN);
            let stage = match work {
                Work::Solve => number("/linear/solve_s"),
                Work::Stage | Work::Step => number("/timing/run_s") / number("/timing/rhs_evaluations"),
            };
            let row = Row { ranks, weak, dofs: number("/space/dofs"), stage };
            say(&line(work, &row, rows.first().unwrap_or(&row)));
            rows.push(row);
        }
    }
    let Some(base) = rows.first() else { return Ok(json!([])) };
    let values = rows.iter().map(|row| {
        json!({
            "scaling": name(row), "ranks": row.ranks, "dofs": row.dofs, "stage_s": row.stage,
            "efficiency": efficiency(row, base),
        })
    });
    Ok(json!({ "file": options.file, "rows": values.collect::<Vec<_>>() }))
}

fn name(row: &Row) -> &'static str {
    if row.weak { "weak" } else { "strong" }
}

/// Degrees of freedom per second and rank, relative to the first run.
fn efficiency(row: &Row, base: &Row) -> f64 {
    (row.dofs / row.stage / row.ranks as f64) / (base.dofs / base.stage / base.ranks as f64)
}

fn line(work: Work, row: &Row, base: &Row) -> String {
    format!(
        "{:<8} {:>6} {:>10.2} {:>12.4} {:>12.3} {:>11.1}%",
        name(row),
        row.ranks,
        row.dofs / 1e6,
        1e3 * row.stage,
        row.dofs / row.stage / work.speed().1,
        100.0 * efficiency(row, base)
    )
}

/// Overrides for a box that is `times` as long, with as many times the elements along x; `None` if the mesh
/// is not a box.
fn longer_box(mesh: &MeshSpec, times: f64) -> Option<[String; 2]> {
    let (MeshSource::Generate(generator), None) = (&mesh.source, &mesh.map) else { return None };
    let (mut max, mut cells) = (generator.max.clone(), generator.cells.clone());
    max[0] = generator.min[0] + times * (max[0] - generator.min[0]);
    let along = cells[0] as f64 * times;
    cells[0] = along as usize;
    let whole = cells[0] as f64 == along;
    whole.then(|| [format!("mesh.generate.max={max:?}"), format!("mesh.generate.cells={cells:?}")])
}

/// Runs the file with a number of ranks; returns its summary.
fn run(options: &Options, work: Work, ranks: usize, more: &[String], folder: &Path) -> anyhow::Result<Value> {
    let program = std::env::current_exe()?;
    let output = folder.join("out");
    let (mut command, device) = match &options.ranks {
        Ranks::Devices(_) if ranks == 1 => {
            (Command::new(&program), vec!["--device".to_owned(), "cuda".to_owned()])
        }
        Ranks::Devices(_) => (Command::new(&program), vec!["--devices".to_owned(), ranks.to_string()]),
        Ranks::Processes { launcher, .. } => {
            let words = launcher.replace("{ranks}", &ranks.to_string());
            let mut words = words.split_whitespace().map(str::to_owned);
            let mut command = match words.next() {
                Some(word) if ranks > 1 => Command::new(word),
                _ => Command::new(&program),
            };
            if ranks > 1 {
                command.args(words).arg(&program);
            }
            (command, vec!["--device".to_owned(), "cpu".to_owned()])
        }
    };
    command
        .arg("run")
        .arg(&options.file)
        .args(["--quiet", "--overwrite", "--output"])
        .arg(&output)
        .args(device);
    let fixed = work.settings(options.steps);
    for set in options.sets.iter().chain(more).chain(&fixed) {
        command.args(["--set", set]);
    }
    let words = format!("{command:?}");
    let done = command.output().map_err(|reason| ScaleError::Start { command: words.clone(), reason })?;
    if !done.status.success() {
        let output = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(ScaleError::Run { command: words, output }.into());
    }
    Ok(serde_json::from_slice(&std::fs::read(output.join("summary.json"))?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::source::Source;

    #[test]
    fn a_longer_box_has_longer_rows_of_the_same_elements() {
        let text = "mesh: { generate: { shape: quad, min: [1, 0], max: [3, 1], cells: [4, 2] } }\n\
                    physics: { model: euler }\nspace: { order: 1 }\ninitial: { rho: 1, u: 0, v: 0, p: 1 }\n\
                    boundaries: { all: { type: slip-wall } }\ntime: { end: 1 }\n";
        let source = Source::new("a.yaml".to_owned(), text.to_owned());
        let document = Document::parse(&source, Path::new("."), "a", false, &[]).unwrap();
        let mesh = document.pipeline().unwrap().mesh;
        let sets = longer_box(&mesh, 2.0).unwrap();
        assert_eq!(sets, ["mesh.generate.max=[5.0, 1.0]", "mesh.generate.cells=[8, 2]"]);
        assert_eq!(longer_box(&mesh, 1.3), None);
    }

    #[test]
    fn efficiency_counts_unknowns_a_rank() {
        let base = Row { ranks: 1, weak: false, dofs: 8.0, stage: 2.0 };
        assert_eq!(efficiency(&Row { ranks: 2, weak: false, dofs: 8.0, stage: 1.0 }, &base), 1.0);
        assert_eq!(efficiency(&Row { ranks: 4, weak: true, dofs: 32.0, stage: 4.0 }, &base), 0.5);
    }
}
