//! The command line: parses it, runs the command and returns the exit code.
//!
//! Exit codes: 0 if the command is done, or was stopped by Ctrl-C or a signal and wrote a checkpoint; 1 if
//! the run failed or a check does not hold; 2 if the input or the environment is wrong.

mod bench;
mod codes;
mod devices;
mod explain;
mod export;
mod init;
mod mesh_cells;
mod mesh_convert;
mod mesh_generate;
mod mesh_info;
mod mesh_lines;
mod mesh_output;
mod mesh_partition;
mod picture;
mod plot;
mod ranks;
mod report;
mod signals;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use dgsuite_gpu::comm::{CommError, MPI_ADAPTER};
use serde_json::{Value, json};

use self::ranks::Team;
use crate::code::{Code, UnknownCode};
use crate::file::problem::InputError;
use crate::job::Job;
use crate::pipeline::keys;
use crate::pipeline::overrides::Override;
use crate::pipeline::{Document, Sections};
use crate::plan::Choices;
use crate::run::log::Log;
use crate::run::{Report, Status};
use crate::study::{Study, StudyError};
use dgsuite_output::escape::printable;
use dgsuite_output::writer::WriterError;
use dgsuite_solve::bench::BenchError;
use dgsuite_solve::flow::{DeviceError, KernelChoice};

/// High-order discontinuous Galerkin flow solver: one binary, one pipeline file.
#[derive(Debug, Parser)]
#[command(
    name = "dgsuite",
    version,
    after_help = "Exit codes: 0 done, 1 the run failed or a check does not hold, 2 the input is wrong.\nCtrl-C ends a run after the current step, with a checkpoint; a second Ctrl-C ends it at once. SIGTERM does the same;\n\
                  SIGHUP, SIGUSR1 and SIGUSR2 (`--signal=USR1@120` of Slurm) end it with a checkpoint."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a pipeline file to begin with
    #[command(after_help = init::HELP)]
    Init(init::InitArgs),
    /// Run a pipeline file, or the study that it describes
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Check a pipeline file with its mesh and formulas, and print the plan without running
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Measure the operators against the speed limits of this machine
    #[command(after_help = bench::HELP)]
    Bench(Box<bench::BenchArgs>),
    /// List the devices that pipelines can run on
    Devices,
    /// Print the adapter (C) for an MPI library without the standard ABI, such as Open MPI 5
    #[command(after_help = ADAPTER_HELP)]
    MpiAdapter,
    /// Draw fields of finished runs (PNG, SVG): the plane, cuts and surfaces of solids
    #[command(after_help = picture::HELP)]
    Picture(Box<picture::PictureArgs>),
    /// Write a stored state of a run for ParaView: other fields, another order, boundaries
    #[command(after_help = export::HELP)]
    Export(Box<export::ExportArgs>),
    /// Draw columns of tables as curves (SVG, PNG)
    #[command(after_help = plot::HELP)]
    Plot(plot::PlotArgs),
    /// Write a run as one HTML page with its pictures and curves
    #[command(after_help = report::HELP)]
    Report(report::ReportArgs),
    /// Print the keys of the pipeline file with their types and defaults
    #[command(after_help = KEYS_HELP)]
    Keys(KeysArgs),
    /// Explain the code of an error, such as unknown-key, or list all codes
    #[command(after_help = explain::HELP)]
    Explain(explain::ExplainArgs),
    /// Print the JSON schema of pipeline files, for editors
    #[command(after_help = SCHEMA_HELP)]
    Schema,
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Describe, generate, convert and cut meshes
    Mesh {
        #[command(subcommand)]
        command: MeshCommand,
    },
}

const SCHEMA_HELP: &str = "\
Editors with a YAML language server complete and check a file whose first line names the schema:
  # yaml-language-server: $schema=dgsuite.json

Example:
  dgsuite schema > dgsuite.json";

const ADAPTER_HELP: &str = "\
MPI libraries with the standard ABI of MPI 5 need no adapter; `dgsuite devices` shows the library in use.

Example, with the compiler and the launcher of this MPI:
  dgsuite mpi-adapter > dgsuite-mpi.c
  mpicc -O2 -shared -fPIC -o libdgsuite_mpi.so dgsuite-mpi.c
  export DGSUITE_MPI_LIBRARY=$PWD/libdgsuite_mpi.so
  mpiexec -n 8 dgsuite run vortex.yaml";

const COMPLETIONS_HELP: &str = "\
Examples:
  dgsuite completions bash > ~/.local/share/bash-completion/completions/dgsuite
  dgsuite completions zsh > ~/.zfunc/_dgsuite
  dgsuite completions fish > ~/.config/fish/completions/dgsuite.fish";

const KEYS_HELP: &str = "\
In a path <name> stands for a name of your choice, [] for an entry of a list, and {a,b} for each of the names.

Examples:
  dgsuite keys
  dgsuite keys space
  dgsuite keys monitors.forces
  dgsuite keys riemann";

#[derive(Debug, Args)]
struct KeysArgs {
    /// Print this key and the keys below it (default: all keys)
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// Print the page of the book (Markdown)
    #[arg(long, conflicts_with = "path")]
    markdown: bool,
}

const RUN_HELP: &str = "\
Results go to output.directory of the file (default: out/<file name> beside the file):
  summary.json   properties and results of the run
  fields.pvd     fields over time for ParaView (set its Nonlinear Subdivision Level to 2 or more)
  monitors/      tables of the monitors, or residuals of a linear solve (CSV), and their curves (SVG)
  checkpoints/   states from which --restart latest continues
  pipeline.yaml  the file as it was run, with all defaults
  report.md      results beside published values, if the file has `references`
  log.txt        the lines that the run printed
  previous/      the results of the previous run, if this one does not continue it

Examples:
  dgsuite run vortex.yaml
  dgsuite run vortex.yaml --set space.order=4 --set time.end=1 --output /tmp/p4
  dgsuite run vortex.yaml --restart latest --set time.end=20
  dgsuite run vortex.yaml --restart-project out/vortex --output out/fine --set mesh.refine=1
  dgsuite run vortex.yaml --devices all
  mpiexec -n 8 dgsuite run vortex.yaml";

#[derive(Debug, Args)]
struct FileArgs {
    /// The pipeline file (YAML)
    file: PathBuf,
    /// Override a key, such as space.order=4 or monitors.error.every=0.5 (may be repeated; the value is YAML)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Apply the file's `ci` block, which makes the examples short
    #[arg(long)]
    ci: bool,
    /// Override the device: auto, cpu, cuda or cuda:N (see `dgsuite devices`)
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Override the number of CPU threads; 0: one for each core
    #[arg(long, value_name = "N")]
    threads: Option<String>,
    /// Write results to this directory
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Continue from a checkpoint: a file, `latest` for the newest one in the output directory, or `auto` for
    /// the newest one if there is one
    #[arg(long, value_name = "FILE|latest|auto")]
    restart: Option<PathBuf>,
    /// Start from a checkpoint of another mesh or order: its solution is projected
    #[arg(long, value_name = "FILE|latest", conflicts_with = "restart")]
    restart_project: Option<PathBuf>,
    /// With --restart-project: start at this time and at step 0 (default: those of the checkpoint)
    #[arg(long, value_name = "T", requires = "restart_project", value_parser = start_time)]
    start_time: Option<f64>,
}

const CHECK_HELP: &str = "\
Examples:
  dgsuite check vortex.yaml
  dgsuite check vortex.yaml --json | jq -r '.mistakes[] | \"\\(.place.line): \\(.message)\"'";

#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Print the mistakes as JSON: code, message, place, what is expected, hint
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Delete the results of a former run in the output directory instead of moving them to `previous`
    #[arg(long)]
    overwrite: bool,
    /// Run on several GPUs of this machine, one process for each: all, a number, or a list such as 0,2
    #[arg(long, value_name = "N|all|LIST", conflicts_with = "device")]
    devices: Option<String>,
    /// Print only warnings and errors
    #[arg(long, short)]
    quiet: bool,
    /// After each output of fields, print a line `ask: …` and wait for `go` or `stop` on standard input
    #[arg(long)]
    ask: bool,
}

#[derive(Debug, Subcommand)]
enum MeshCommand {
    /// Print the elements, regions, boundaries, sizes and quality of a Gmsh file
    #[command(after_help = mesh_info::HELP)]
    Info(mesh_info::InfoArgs),
    /// Write the mesh of a box, an annulus, or a channel with a cylinder
    #[command(after_help = mesh_generate::HELP)]
    Generate(mesh_generate::GenerateArgs),
    /// Write a Gmsh file as another version, as text or binary, or for ParaView
    #[command(after_help = mesh_convert::HELP)]
    Convert(mesh_convert::ConvertArgs),
    /// Cut a mesh into parts as a run on several ranks does; print their balance and write a picture
    Partition(mesh_partition::PartitionArgs),
    /// Find the lines along which linear solvers smooth on thin elements; print them and write a picture
    #[command(after_help = mesh_lines::HELP)]
    Lines(mesh_lines::LinesArgs),
}

/// Runs the command that the command line names. Prints errors to standard error.
pub fn main(cli: Cli) -> ExitCode {
    let code = match dispatch(cli.command) {
        Ok(code) => code,
        Err(error) => {
            if !ranks::is_elsewhere(&error) {
                let _ = writeln!(io::stderr(), "{}", told(&error));
            }
            exit_code_of(&error)
        }
    };
    ExitCode::from(code)
}

/// Prints an error that has no code.
pub(crate) fn say_error(text: &str) {
    let _ = writeln!(io::stderr(), "error: {text}");
}

/// The message of an error: its code, if it has one, and how to read more about it.
fn told(error: &anyhow::Error) -> String {
    let text = printable(&error.to_string());
    let codes = match error.downcast_ref::<plot::PlotError>() {
        Some(error) => vec![error.code()],
        None => Code::of(error),
    };
    match &codes[..] {
        [] => format!("error: {text}"),
        codes => format!("error[{}]: {text}\n{}", codes[0], Code::more_about(codes)),
    }
}

/// Returns 2 for mistakes in the input and 1 for all other errors.
fn exit_code_of(error: &anyhow::Error) -> u8 {
    let input = error.is::<InputError>()
        || error.is::<dgsuite_mesh::MeshError>()
        || error.is::<DeviceError>()
        || error.is::<CommError>()
        || ranks::is_elsewhere(error)
        || error.is::<BenchError>()
        || error.is::<init::InitError>()
        || error.downcast_ref().is_some_and(mesh_output::OutputError::is_input)
        || error.is::<plot::PlotError>()
        || error.is::<dgsuite_output::picture::PictureError>()
        || error.is::<crate::export::ExportError>()
        || error.is::<crate::report::html::HtmlError>()
        || error.is::<keys::KeysError>()
        || error.is::<UnknownCode>()
        || matches!(error.downcast_ref(), Some(StudyError::Input(_)))
        || matches!(writer_error(error), Some(WriterError::InUse { .. } | WriterError::Linked { .. }));
    let begun = matches!(error.downcast_ref(), Some(StudyError::Case { .. }));
    if input && !begun { 2 } else { 1 }
}

fn writer_error(error: &anyhow::Error) -> Option<&WriterError> {
    match error.downcast_ref() {
        Some(StudyError::Writer(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

fn dispatch(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Init(args) => {
            print(&init::write(&args)?)?;
            Ok(0)
        }
        Command::Run(args) => run(&args),
        Command::Check(args) => check(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Devices => {
            print(&devices::describe())?;
            Ok(0)
        }
        Command::MpiAdapter => {
            print(MPI_ADAPTER)?;
            Ok(0)
        }
        Command::Picture(args) => {
            print(&picture::draw(&args)?)?;
            Ok(0)
        }
        Command::Export(args) => {
            print(&export::write(&args)?)?;
            Ok(0)
        }
        Command::Plot(args) => {
            print(&shown(&plot::draw(&args)?))?;
            Ok(0)
        }
        Command::Report(args) => {
            print(&shown(&report::write(&args)?))?;
            Ok(0)
        }
        Command::Keys(args) => {
            let text = if args.markdown { keys::markdown() } else { keys::text(args.path.as_deref())? };
            print(&text)?;
            Ok(0)
        }
        Command::Explain(args) => {
            print(&explain::text(&args)?)?;
            Ok(0)
        }
        Command::Schema => {
            print(&serde_json::to_string_pretty(&keys::schema())?)?;
            Ok(0)
        }
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "dgsuite", &mut text);
            match io::stdout().write_all(&text) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
                _ => Ok(0),
            }
        }
        Command::Mesh { command: MeshCommand::Info(args) } => {
            print(&mesh_info::describe(&args)?)?;
            Ok(0)
        }
        Command::Mesh { command: MeshCommand::Generate(args) } => {
            print(&mesh_generate::write(&args)?)?;
            Ok(0)
        }
        Command::Mesh { command: MeshCommand::Convert(args) } => {
            print(&mesh_convert::convert(&args)?)?;
            Ok(0)
        }
        Command::Mesh { command: MeshCommand::Partition(args) } => {
            print(&mesh_partition::describe(&args)?)?;
            Ok(0)
        }
        Command::Mesh { command: MeshCommand::Lines(args) } => {
            print(&mesh_lines::describe(&args)?)?;
            Ok(0)
        }
    }
}

fn print(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{}", printable(text.trim_end())) {
        // The reader of the pipe has closed it, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn start_time(text: &str) -> Result<f64, String> {
    let time = text.parse::<f64>().ok().filter(|t| (0.0..f64::INFINITY).contains(t));
    time.ok_or_else(|| "needs a time of 0 or more".to_owned())
}

impl FileArgs {
    fn document(&self) -> Result<Document, InputError> {
        let mut overrides =
            self.sets.iter().map(|text| Override::parse(text)).collect::<Result<Vec<_>, _>>()?;
        if let Some(device) = &self.device {
            overrides.push(Override::option("--device", "device", device)?);
        }
        if let Some(threads) = &self.threads {
            overrides.push(Override::option("--threads", "threads", threads)?);
        }
        Document::read(&self.file, self.ci, &overrides)
    }

    fn choices(&self) -> Choices {
        Choices {
            output: self.output.clone(),
            restart: self.restart_project.clone().or_else(|| self.restart.clone()),
            project: self.restart_project.is_some(),
            start_time: self.start_time,
            ..Choices::default()
        }
    }
}

fn run(args: &RunArgs) -> anyhow::Result<u8> {
    if let Some(list) = &args.devices {
        return ranks::on_devices(list);
    }
    let team = Team::join()?;
    let read = || {
        let document = args.file.document()?;
        let sections = document.sections()?;
        Ok((document, sections))
    };
    let (document, sections) = team.agree(read())?;
    let result = run_read(args, &team, &document, &sections);
    team.finish(result)
}

fn run_read(args: &RunArgs, team: &Team, document: &Document, sections: &Sections) -> anyhow::Result<u8> {
    let choices = team.choices(Choices {
        overwrite: args.overwrite,
        ask: args.ask,
        command: command_line(),
        ..args.file.choices()
    });
    signals::listen(&choices)?;
    let mut log = if team.prints() { Log::new(args.quiet) } else { Log::mute() };
    let report = match sections.study() {
        Some(spec) => Study::new(document, sections, spec, &choices)?.execute(&mut log)?,
        None => {
            let mut job = Job::new(document, &choices)?;
            team.writes_to(job.directory());
            job.execute(&mut log)?
        }
    };
    Ok(exit_code(&report))
}

/// The words of this command, quoted where a shell needs it.
fn command_line() -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@".contains(c);
    let quoted = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("dgsuite".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn exit_code(report: &Report) -> u8 {
    u8::from(!matches!(report.status, Status::Ok | Status::Stopped))
}

fn check(args: &CheckArgs) -> anyhow::Result<u8> {
    let (mistakes, kernels) = match planned(&args.file) {
        Ok((_, kernels)) if args.json => (json!([]), kernels),
        Ok((text, _)) => {
            print(&text)?;
            print(&format!("{} is fit to run", shown(&args.file.file)))?;
            return Ok(0);
        }
        Err(error) if args.json => (error.to_json(), Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let fit = mistakes == json!([]);
    let kernels: Vec<Value> = kernels.iter().map(KernelChoice::to_json).collect();
    let found = json!({ "fit": fit, "mistakes": mistakes, "kernels": kernels });
    print(&serde_json::to_string_pretty(&found)?)?;
    Ok(if fit { 0 } else { 2 })
}

/// Makes the plan of a file, and describes it, with the kernels that a GPU would run.
fn planned(args: &FileArgs) -> Result<(String, Vec<KernelChoice>), InputError> {
    let document = args.document()?;
    let sections = document.sections()?;
    let choices = Choices { only_described: true, ..args.choices() };
    Ok(match sections.study() {
        Some(spec) => Study::new(&document, &sections, spec, &choices)?.describe_cases()?,
        None => Job::new(&document, &choices)?.describe_with_kernels(),
    })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
