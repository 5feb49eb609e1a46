//! `dgsuite bench`: the operators, the messages between ranks, and the scaling of a pipeline file.

use super::print;
use super::ranks::{self, Team};
use crate::scale;
use clap::{Args, Subcommand};
use dgsuite_solve::bench::{self as operators, comm};
use dgsuite_solve::flow::Device;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) const HELP: &str = "\
Each row is the residual of the Euler or Navier-Stokes equations on a periodic box, alone and fused with a Runge-Kutta stage.
The columns are degrees of freedom per second, bytes per second (bytes that the layout must move), and the floor: the time that
these bytes, or the matrix products, take at the measured limits, as a share of the measured time. With `--model poisson`
each row is the interior penalty operator: the product A u, and a smoother's step with the diagonal. With `--model
incompressible` the rows are the kernels of a step: convection, a sub-step, gradient and divergence, Helmholtz. `--all` lists the
kernels that a GPU runs for every combination of shape, form, geometry and model at orders 1 to 4, and how many are fast.

Examples:
  dgsuite bench --device cpu --threads 1 --shapes tri,quad
  dgsuite bench --device cuda --orders 3 --precision double,single --json bench.json
  dgsuite bench --model poisson --shapes tri,tet --orders 1,2,3,4,5,6,7,8 --size 4
  dgsuite bench --model incompressible --shapes tri --orders 1,2,3,4,5,6,7,8,9,10
  dgsuite bench --all --dry
  dgsuite bench comm --devices all
  dgsuite bench scale case.yaml --devices 1,2,4";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct BenchArgs {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// Device: auto, cpu, cuda or cuda:N
    #[arg(long, default_value = "auto")]
    device: String,
    /// CPU threads (0: all)
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Shapes: tri, quad, tet, hex, prism; mixed meshes: tri+quad, prism+tet (compared with their parts
    /// alone)
    #[arg(long, value_delimiter = ',', default_value = "tri,quad,tet,hex,prism")]
    shapes: Vec<String>,
    /// Polynomial degrees
    #[arg(long, value_delimiter = ',', default_value = "1,2,3,4")]
    orders: Vec<usize>,
    /// Forms: collocated; nodal, modal and taylor (degree 2p); collocated-strong and modal-strong;
    /// modal-stored and taylor-stored (stored inverses of mass matrices); fr and fr-gauss (flux
    /// reconstruction at Lobatto and Gauss points); kennedy-gruber and ranocha (split)
    #[arg(long, value_delimiter = ',', default_value = "collocated,nodal")]
    forms: Vec<String>,
    /// Models: euler, euler-source, navier-stokes, poisson, incompressible
    #[arg(long, value_delimiter = ',', default_value = "euler")]
    model: Vec<String>,
    /// Geometries: affine, curved, half-curved
    #[arg(long, value_delimiter = ',', default_value = "affine")]
    geometry: Vec<String>,
    /// Precisions: double, single
    #[arg(long, value_delimiter = ',', default_value = "double")]
    precision: Vec<String>,
    /// Millions of degrees of freedom of each case (default: 2 on the CPU, 30 on a GPU)
    #[arg(long)]
    size: Option<f64>,
    /// Write the results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// List the kernels of all combinations of shape, form, geometry, model and order 1 to 4; on a GPU then
    /// measure each kernel once on each shape, geometry and model
    #[arg(long)]
    all: bool,
    /// With --all: list only
    #[arg(long, requires = "all")]
    dry: bool,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Measure the messages between ranks: latency and bandwidth of every plane
    #[command(after_help = COMM_HELP)]
    Comm(CommArgs),
    /// Measure how a stage of a pipeline file scales with the number of ranks
    #[command(after_help = SCALE_HELP)]
    Scale(ScaleArgs),
}

const COMM_HELP: &str = "\
Each rank sends a message to the next one and to the previous one, and receives theirs; two ranks send each other one. Times are
those of the slowest rank. Messages between GPUs are measured by every plane that works here: nccl; peer, by copies into the memory
of the other GPU; staged, through host memory. Alone, without a launcher, two threads take the place of the ranks.

Examples:
  dgsuite bench comm --devices all
  mpiexec -n 4 dgsuite bench comm --device cpu";

#[derive(Debug, Args)]
struct CommArgs {
    /// Device of each rank: cpu, cuda (one for each rank of a host), or auto
    #[arg(long, default_value = "auto")]
    device: String,
    /// Start one process for each of several GPUs of this machine: all, a number, or a list such as 0,2
    #[arg(long, value_name = "N|all|LIST", conflicts_with = "device")]
    devices: Option<String>,
    /// Seconds for each length of messages
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
    /// Write the results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const SCALE_HELP: &str = "\
The file runs with each number of ranks (strong scaling), and, if its mesh is generated, with a box that is as many times as long
along x, with as many times the elements (weak scaling). Output is off. The table has the time of a stage and the efficiency against
the first number of ranks.

Examples:
  dgsuite bench scale case.yaml --devices 1,2,4
  dgsuite bench scale case.yaml --ranks 1,2 --set threads=1
  dgsuite bench scale case.yaml --ranks 1,16 --launcher 'srun -n {ranks}'";

#[derive(Debug, Args)]
struct ScaleArgs {
    /// The pipeline file (YAML)
    file: PathBuf,
    /// Override a key (may be repeated)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Numbers of GPUs of this machine
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', conflicts_with = "ranks")]
    devices: Option<Vec<usize>>,
    /// Numbers of ranks on CPUs
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1,2")]
    ranks: Vec<usize>,
    /// The command that starts ranks
    #[arg(long, default_value = "mpiexec -n {ranks}")]
    launcher: String,
    /// Steps of each run
    #[arg(long, default_value_t = 200)]
    steps: usize,
    /// Write the results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn bench(args: &BenchArgs) -> anyhow::Result<u8> {
    match &args.command {
        None => operators(args),
        Some(BenchCommand::Comm(args)) => messages(args),
        Some(BenchCommand::Scale(args)) => scaling(args),
    }
}

fn operators(args: &BenchArgs) -> anyhow::Result<u8> {
    let device: Device = args.device.parse()?;
    if args.all {
        let choices = operators::choices(args.threads)?;
        print(&format!("{}\n{}", operators::list(&choices), operators::digests(&choices)))?;
        if args.dry || device == Device::Cpu {
            return Ok(0);
        }
    }
    let default_size = match device {
        Device::Cpu => 2.0,
        Device::Cuda(_) => {
            if args.all {
                4.0
            } else {
                30.0
            }
        }
    };
    let options = operators::Options {
        device,
        threads: args.threads,
        shapes: args.shapes.clone(),
        orders: args.orders.clone(),
        forms: args.forms.clone(),
        models: args.model.clone(),
        geometries: args.geometry.clone(),
        precisions: args.precision.clone(),
        size: args.size.unwrap_or(default_size),
        all: args.all,
    };
    let mut printed = Ok(());
    let mut say = |text: String| {
        if printed.is_ok() {
            printed = print(&text);
        }
    };
    let say = std::cell::RefCell::new(&mut say);
    let result = operators::run(
        &options,
        &mut |name, limits| say.borrow_mut()(operators::head(name, limits)),
        &mut |row, limits| say.borrow_mut()(operators::line(row, limits)),
    )?;
    printed?;
    write_json(args.json.as_deref(), &result)?;
    Ok(0)
}

fn write_json(path: Option<&Path>, result: &Value) -> anyhow::Result<()> {
    if let Some(path) = path {
        let text = serde_json::to_string_pretty(result)?;
        dgsuite_output::writer::atomic::write(path, format!("{text}\n").as_bytes())?;
    }
    Ok(())
}

fn messages(args: &CommArgs) -> anyhow::Result<u8> {
    if let Some(list) = &args.devices {
        return ranks::on_devices(list);
    }
    let team = Team::join()?;
    let result = comm::measure(team.comm(), args.device.parse()?, team.local_rank(), args.seconds);
    let result = team.agree(result.map_err(anyhow::Error::from))?;
    if team.prints() {
        print(&comm::table(&result))?;
        write_json(args.json.as_deref(), &comm::to_json(&result))?;
    }
    team.finish(Ok(0))
}

fn scaling(args: &ScaleArgs) -> anyhow::Result<u8> {
    let options = scale::Options {
        file: args.file.clone(),
        sets: args.sets.clone(),
        steps: args.steps,
        ranks: match (&args.devices, &args.ranks) {
            (Some(devices), _) => scale::Ranks::Devices(devices.clone()),
            (None, ranks) => {
                scale::Ranks::Processes { numbers: ranks.clone(), launcher: args.launcher.clone() }
            }
        },
    };
    let mut printed = Ok(());
    let result = scale::measure(&options, &mut |line| {
        if printed.is_ok() {
            printed = print(line);
        }
    })?;
    printed?;
    write_json(args.json.as_deref(), &result)?;
    Ok(0)
}
