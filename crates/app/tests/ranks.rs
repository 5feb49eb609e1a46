//! Runs on several ranks leave the results of one rank.
//!
//! Ranks are threads, processes under `mpiexec` (`DGSUITE_MPIEXEC`, or the one in the path), and processes of
//! `--devices` on the emulated device.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "ranks/incompressible.rs"]
mod incompressible;
#[path = "ranks/limiters.rs"]
mod limiters;
#[path = "ranks/newton.rs"]
mod newton;
#[path = "ranks/parts.rs"]
mod parts;
#[path = "ranks/poisson.rs"]
mod poisson;
#[path = "ranks/restarts.rs"]
mod restarts;
#[path = "support/case.rs"]
mod support;
#[path = "ranks/walls.rs"]
mod walls;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dgsuite::outputs::shared;
use dgsuite_gpu::comm::{Communicator, on_each, threads};
use dgsuite_gpu::shim::EMULATOR_ORDER;
use dgsuite_mesh::{Cutting, SpaceFillingCurve, generate::MixedBox};
use dgsuite_output::checkpoint::{self, Checkpoint};
use dgsuite_physics::exact;
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Setup, State};
use dgsuite_timeint::TimePoint;
use serde_json::Value;
use support::{Case, WAVE, emulator};

/// A wave of the Euler equations on triangles and quadrilaterals, with boundaries.
fn setup(order: usize) -> (Setup, Arc<dyn dgsuite_physics::Exact>) {
    let cells = MixedBox { dim: 2, min: [0.0; 3], max: [1.0, 1.0, 0.0], cells: [6, 5, 0] };
    let mut mesh = cells.build().unwrap();
    mesh.make_periodic("xmin", "xmax").unwrap();
    mesh.renumber(SpaceFillingCurve::Hilbert);
    let law = Law::Euler { gamma: 1.4, gas_constant: 1.0 };
    let mut setup = Setup::new(Arc::new(mesh), law, order);
    let model = setup.law.model();
    let context = exact::Context { dim: 2, model, period: [1.0, 1.0, 0.0] };
    let wave: Arc<dyn dgsuite_physics::Exact> =
        Arc::from(exact::by_name("entropy-wave", &Default::default(), &context).unwrap());
    setup.threads = 1;
    for name in ["ymin", "ymax"] {
        setup.boundaries.insert(name.to_owned(), BoundaryKind::Prescribed(Arc::clone(&wave)));
    }
    (setup, wave)
}

/// What a solver shows after some steps.
#[derive(Debug, PartialEq)]
struct Shown {
    state: Vec<f64>,
    numbers: Vec<f64>,
    values: Vec<Option<Vec<f64>>>,
    wall: Vec<f64>,
}

/// Takes four steps, from a saved state if there is one. The last state is also written into a directory, if
/// there is one.
fn march(
    mut setup: Setup,
    comm: Option<Arc<dyn Communicator>>,
    from: Option<&State>,
    into: Option<&Path>,
) -> (Shown, State) {
    if let Some(comm) = comm {
        setup.comm = comm;
    }
    let (_, wave) = self::setup(setup.order);
    let mut solver = Flow::new(setup, wave.as_ref(), 0.0).unwrap();
    if let Some(state) = from {
        solver.restore(state).unwrap();
    }
    let mut numbers = Vec::new();
    for _ in 0..4 {
        let dt = 0.5 * solver.stable_dt().unwrap();
        solver.step(dt).unwrap();
        numbers.push(dt);
    }
    numbers.extend(solver.residual().unwrap());
    let errors = solver.errors(wave.as_ref(), solver.time());
    numbers.extend([errors.l1, errors.l2, errors.linf].concat());
    numbers.extend(solver.conserved_totals());
    assert!(solver.conservation().iter().all(|(_, defect)| *defect < 1e-13));
    let values = solver.evaluate_at(&[[0.1, 0.2, 0.0], [0.93, 0.71, 0.0], [2.0, 0.0, 0.0]]);
    let surface = solver.surface("ymin").unwrap();
    let wall = surface.points.iter().map(|x| x[0]).chain(surface.values.concat()).collect();
    let state = solver.save();
    if let Some(directory) = into {
        let now = TimePoint { t: solver.time(), low: 0.0, step: 4 };
        let saved = Checkpoint { now, state: solver.save_own(), averages: Vec::new(), sections: Vec::new() };
        match solver.own_ranges() {
            None => drop(checkpoint::write(directory, &saved, 7).unwrap()),
            Some(ranges) => {
                let comm = Arc::clone(&solver.setup().comm);
                let path = shared::write(comm.as_ref(), directory, &saved, &ranges, 7).unwrap();
                assert_eq!(path.is_some(), comm.rank() == 0);
            }
        }
    }
    (Shown { state: state.fields.clone(), numbers, values, wall }, state)
}

/// The sections of a checkpoint, by name.
fn sections(file: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = std::fs::read(file).unwrap();
    let (mut at, mut found) = (8, Vec::new());
    while at < bytes.len() {
        let content = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap());
        let name = String::from_utf8(bytes[at + 12..at + 12 + usize::from(bytes[at])].to_vec()).unwrap();
        let end = at + 12 + name.len() + content as usize + 4;
        found.push((name, bytes[at..end].to_vec()));
        at = end;
    }
    found
}

/// Checks that two checkpoints have the same bytes.
fn same_checkpoint(one: &Path, other: &Path, of: &str) {
    let [one, other] = [one, other].map(sections);
    assert_eq!(one.len(), other.len(), "{of}");
    for ((name, a), (other, b)) in one.iter().zip(&other) {
        assert!(name == other && a == b, "{name} of {of}");
    }
}

#[test]
fn a_solver_on_several_ranks_shows_the_bits_of_one() {
    let (setup, _) = setup(2);
    let directory = tempfile::tempdir().unwrap();
    let folder = |name: &str| directory.path().join(name);
    let file = |name: &str| folder(name).join("step-00000004.dgs");
    let (expected, saved) = march(setup.clone(), None, None, Some(&folder("1")));
    let (continued, _) = march(setup.clone(), None, Some(&saved), None);
    let cuts: &[Cutting] =
        if cfg!(feature = "metis") { &[Cutting::Curve, Cutting::Graph] } else { &[Cutting::Curve] };
    for (ranks, &cutting) in [2, 3, 4].into_iter().flat_map(|ranks| cuts.iter().map(move |cut| (ranks, cut)))
    {
        let name = format!("{ranks} {cutting:?}");
        let setup = Setup { cutting, ..setup.clone() };
        let on_rank = |comm| -> (Shown, State, Shown) {
            let comm: Arc<dyn Communicator> = Arc::new(comm);
            let (shown, state) = march(setup.clone(), Some(Arc::clone(&comm)), None, Some(&folder(&name)));
            // The state of one rank continues on several.
            let (more, _) = march(setup.clone(), Some(comm), Some(&saved), None);
            (shown, state, more)
        };
        let mut all = on_each(threads(ranks), on_rank).into_iter();
        let (shown, state, more) = all.next().unwrap();
        assert_eq!(shown, expected, "{name}");
        assert_eq!(more, continued, "continued: {name}");
        for (other, ..) in all {
            assert_eq!(other.numbers, expected.numbers, "numbers on another rank");
        }
        same_checkpoint(&file("1"), &file(&name), &name);
        // The state of several ranks continues on one.
        assert_eq!(march(setup.clone(), None, Some(&state), None).0, continued, "back from {name}");
    }
}

const FLOW: &str = "\
title: A gust
mesh:
  generate: { shape: tri, min: [0, 0], max: [2, 1], cells: [8, 4] }
physics: { model: navier-stokes, viscosity: { constant: 0.01 }, closure: wale }
space: { order: 2 }
initial: { rho: 1 + 0.1*sin(pi*x), u: 0.3*y, v: 0.05*cos(3*x), p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0.3*y, v: 0.05, p: 1 }
  xmax: { type: outflow }
  ymin: { type: no-slip-wall }
  ymax: { type: slip-wall }
time: { steps: 12 }
output:
  fields: { every_steps: 6, names: [Density, Velocity, Vorticity] }
  averages: { from: { when: probe_rho_1 > 0 && integral_rho > 0 && step > 3 }, every_steps: 2 }
  checkpoint: { every_steps: 6, keep: 2 }
monitors:
  - residual: { every_steps: 3 }
  - integral: { fields: [rho, u*u + v*v, Schlieren], every_steps: 3 }
  - probe: { points: [[0.4, 0.3], [1.9, 0.9]], fields: [rho, Mach, Vorticity], every_steps: 3 }
  - sample: { plane: { corner: [0.2, -0.3], sides: [[1, 0], [0.3, 1]], points: [4, 5] }, fields: [p, Schlieren], every_steps: 6 }
  - forces: { boundary: ymin, every_steps: 3, reference: { density: 1, length: 1, velocity: 1 } }
";

fn mpiexec() -> Option<PathBuf> {
    let named = std::env::var_os("DGSUITE_MPIEXEC").map(PathBuf::from);
    let found = named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("mpiexec")).find(|file| file.is_file())
    });
    if found.is_none() {
        let required = std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
        assert!(!required, "there is no mpiexec: `pip install mpich` and set DGSUITE_MPIEXEC");
    }
    found
}

/// The ranks of a launcher without MPI, such as `torchrun`, at ports after the given one.
fn without_mpi(case: &Case, ranks: usize, port: u16, args: &[&str]) -> Vec<Child> {
    launched_by(|| Command::new(env!("CARGO_BIN_EXE_dgsuite")), |_| case.directory.path(), ranks, port, args)
}

/// As [`without_mpi`], of a program, with the directory of each rank.
fn launched_by<'d>(
    program: impl Fn() -> Command,
    directory: impl Fn(usize) -> &'d Path,
    ranks: usize,
    port: u16,
    args: &[&str],
) -> Vec<Child> {
    let rank = |rank: usize| {
        let mut command = program();
        command.args(["run", "case.yaml", "--set", "threads=1"]).args(args).current_dir(directory(rank));
        command.envs([("RANK", rank.to_string()), ("WORLD_SIZE", ranks.to_string())]);
        command.envs([("LOCAL_RANK", rank.to_string()), ("MASTER_ADDR", "127.0.0.1".to_owned())]);
        command.envs([
            ("MASTER_PORT", port.to_string()),
            ("TORCHELASTIC_RUN_ID", std::process::id().to_string()),
        ]);
        command.env("DGSUITE_COMM_TIMEOUT", "60").stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    (0..ranks).map(rank).collect()
}

/// A port that depends on this process, so that several tests of a machine do not meet.
fn port(of: u16) -> u16 {
    9_000 + 70 * (std::process::id() % 40) as u16 + 10 * of
}

#[test]
fn launchers_without_mpi_leave_the_tables_of_one_rank() {
    let case = Case::new(FLOW);
    let whole = alone(&case, &["--set", "time.steps=6", "--output", "one"]);
    assert_eq!(whole["plane"], "alone");
    for ranks in [2, 3] {
        let results = format!("ranks-{ranks}");
        for child in
            without_mpi(&case, ranks, port(ranks as u16), &["--set", "time.steps=6", "--output", &results])
        {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(tables(&case, &results), tables(&case, "one"), "{ranks} ranks");
        let summary = case.summary(&results);
        assert_eq!((&summary["ranks"], &summary["plane"]), (&ranks.into(), &"sockets".into()));
        for key in ["residual", "integral", "probe", "forces", "time"] {
            assert_eq!(summary[key], whole[key], "{key}");
        }
        let log = std::fs::read_to_string(case.path(&results).join("log.txt")).unwrap();
        assert!(log.contains(&format!("{ranks} ranks (sockets), each on cpu")), "{log}");
    }
}

/// Two ranks of a long run that have written a checkpoint, and its folder.
fn two_at_work(port: u16) -> (Case, Vec<Child>, PathBuf) {
    let case = Case::new(&FLOW.replace("time: { steps: 12 }", "time: { steps: 1000000 }"));
    let children = without_mpi(&case, 2, port, &["--set", "output.checkpoint.every_steps=2"]);
    let begin = Instant::now();
    let checkpoints = case.path("out/case/checkpoints");
    while !std::fs::read_dir(&checkpoints).is_ok_and(|files| files.count() > 1) {
        assert!(begin.elapsed() < Duration::from_secs(60), "there is no checkpoint");
        std::thread::sleep(Duration::from_millis(10));
    }
    (case, children, checkpoints)
}

/// The rank that writes the summary cannot say that it was killed.
#[test]
fn a_killed_rank_0_leaves_a_summary_that_says_so() {
    let (case, mut children, _) = two_at_work(port(5));
    children[0].kill().unwrap();
    children[0].wait().unwrap();
    let output = children.swap_remove(1).wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("rank 0 has ended"), "{text}");
    let summary = case.summary("out/case");
    let told = summary["failure"]["message"].as_str().unwrap_or_default();
    assert!(summary["status"] == "failed" && told.contains("rank 0 has ended"), "{summary}");
}

#[test]
fn a_killed_rank_without_mpi_is_named_by_the_others() {
    let (case, mut children, checkpoints) = two_at_work(port(0));
    children[1].kill().unwrap();
    children[1].wait().unwrap();
    let output = children.swap_remove(0).wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.matches("rank 1 has ended").count() == 1, "{text}");
    assert!(text.contains("hint: continue with --restart latest on any number of ranks"), "{text}");
    assert!(!text.contains("hint: try") && !case.path("out/case/fields/failed.vtu").exists(), "{text}");
    assert_eq!(case.summary("out/case")["status"], "failed");
    // The last checkpoint continues on one rank.
    let names = std::fs::read_dir(&checkpoints).unwrap().map(|file| file.unwrap().file_name());
    let step = |name: &str| name.strip_prefix("step-")?.strip_suffix(".dgs")?.parse::<u64>().ok();
    let last = names.filter_map(|name| step(&name.to_string_lossy())).max().unwrap();
    let steps = format!("time.steps={}", last + 2);
    let summary = alone(&case, &["--restart", "latest", "--set", &steps, "--output", "out/case"]);
    assert_eq!(summary["time"]["steps"], last + 2);
}

fn on_ranks(case: &Case, ranks: usize, args: &[&str]) -> Option<Output> {
    let output = Command::new(mpiexec()?)
        .args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_dgsuite"), "run", "case.yaml"])
        .args(args)
        .current_dir(case.directory.path())
        .env("DGSUITE_COMM_TIMEOUT", "60")
        .output()
        .unwrap();
    Some(output)
}

/// Runs a file on two ranks and checks that it fails, and that one of them says why; `None` without MPI.
#[track_caller]
fn told_once(text: &str, sentence: &str) -> Option<()> {
    let output = on_ranks(&Case::new(text), 2, &["--set", "threads=1"])?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.matches(sentence).count() == 1, "{errors}");
    Some(())
}

/// The tables of the monitors in a directory of results.
fn tables(case: &Case, results: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(case.path(results).join("monitors")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "csv"));
    files.sort();
    let read = |file: PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(file).unwrap())
    };
    files.into_iter().map(read).collect()
}

/// Runs the case on one rank; the summary in the directory that follows the last `--output`.
fn alone(case: &Case, args: &[&str]) -> Value {
    let outcome = case.dgsuite(&[&["run", "case.yaml", "--quiet", "--set", "threads=1"], args].concat());
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    case.summary(args[args.len() - 1])
}

#[test]
fn mpiexec_leaves_the_tables_of_one_rank() {
    let case = Case::new(FLOW);
    let whole = alone(&case, &["--output", "one"]);
    assert_eq!(whole["ranks"], 1);
    let cores = std::thread::available_parallelism().unwrap().get();
    // Threads count on each rank; without a number, ranks share the cores.
    for (ranks, setting, threads) in [(2, "threads=2", 2), (3, "threads=0", (cores / 3).max(1))] {
        let results = format!("ranks-{ranks}");
        let args = ["--output", &results, "--set", setting];
        let Some(output) = on_ranks(&case, ranks, &args) else { return };
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        // One rank prints.
        let closing = String::from_utf8_lossy(&output.stdout).matches("results in").count();
        assert_eq!(closing, 1, "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(tables(&case, &results), tables(&case, "one"), "{ranks} ranks");
        let summary = case.summary(&results);
        assert_eq!((&summary["ranks"], &summary["threads"]), (&ranks.into(), &threads.into()));
        for key in ["residual", "integral", "probe", "triggers", "forces", "time", "space", "mesh"] {
            assert_eq!(summary[key], whole[key], "{key}");
        }
        let list = case.path(&results).join("fields/fields_000002.pvtu");
        let series = std::fs::read_to_string(case.path(&results).join("fields.pvd")).unwrap();
        assert!(series.contains("file=\"fields/fields_000002.pvtu\""), "{series}");
        let pieces = std::fs::read_to_string(&list).unwrap().matches("<Piece ").count();
        assert_eq!(pieces, ranks);
        for step in [6, 12] {
            let file = |results: &str| case.path(results).join(format!("checkpoints/step-{step:08}.dgs"));
            same_checkpoint(&file("one"), &file(&results), &format!("{ranks} ranks"));
        }
        vtk_finds_the_same(&case.path("one").join("fields/fields_000002.vtu"), &list);
    }
    let drawn = case.dgsuite(&["picture", "ranks-3", "--output", "a.png"]);
    assert_eq!(drawn.code, 0, "{}", drawn.stderr);
    // A checkpoint of three ranks continues on two, and on one.
    std::fs::create_dir(case.path("two")).unwrap();
    let file = "ranks-3/checkpoints/step-00000006.dgs";
    let more = ["--restart", file, "--output", "two", "--set", "threads=1"];
    let Some(output) = on_ranks(&case, 2, &more) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    alone(&case, &["--restart", file, "--output", "three"]);
    for results in ["two", "three"] {
        for key in ["residual", "integral", "probe", "forces"] {
            assert_eq!(case.summary(results)[key], whole[key], "{key} after a restart: {results}");
        }
        let last = |results: &str| case.path(results).join("checkpoints/step-00000012.dgs");
        same_checkpoint(&last("one"), &last(results), results);
    }
    // Results continue in their directory, on another number of ranks.
    let more = ["--restart", "latest", "--output", "two", "--set", "threads=1", "--set", "time.steps=14"];
    let Some(output) = on_ranks(&case, 3, &more) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(case.summary("two")["time"]["steps"], 14);
    // Damage in the range of one rank.
    let good = case.path(file);
    let (mut bytes, parts) = (std::fs::read(&good).unwrap(), sections(&good));
    let state = parts.iter().position(|(name, _)| name == "state").unwrap();
    let before: usize = parts[..state].iter().map(|(_, section)| section.len()).sum();
    bytes[8 + before + parts[state].1.len() / 2] ^= 1;
    std::fs::write(case.path("bad.dgs"), bytes).unwrap();
    let Some(output) = on_ranks(&case, 3, &["--restart", "bad.dgs", "--set", "threads=1"]) else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let sentence = "bad.dgs is damaged: the checksum of its section `state` is wrong";
    assert!(!output.status.success() && text.matches(sentence).count() == 1, "{text}");
    assert!(text.matches("error").count() == 1 && !case.path("out").exists(), "{text}");
}

/// Compares the fields of one rank with those of several, read by VTK.
fn vtk_finds_the_same(one: &Path, several: &Path) {
    let python = std::env::var_os("DGSUITE_VTK_PYTHON").map_or_else(|| "python3".into(), PathBuf::from);
    let has_vtk = Command::new(&python).args(["-c", "import vtk"]).output().is_ok_and(|o| o.status.success());
    if !has_vtk {
        let required = std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
        assert!(!required, "{} has no module vtk (set DGSUITE_VTK_PYTHON)", python.display());
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tools/same_grids.py");
    let output = Command::new(python).arg(script).args([one, several]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Checks that runs on two and three ranks leave the same numbers as on one.
fn same_on_ranks(yaml: &str, keys: &[&str]) -> Option<Value> {
    let case = Case::new(yaml);
    let whole = alone(&case, &["--output", "one"]);
    for ranks in [2, 3] {
        let results = format!("ranks-{ranks}");
        let output = on_ranks(&case, ranks, &["--output", &results, "--set", "threads=1"])?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        let summary = case.summary(&results);
        for key in keys {
            assert!(summary[key] == whole[key] && !whole[key].is_null(), "{key} on {ranks} ranks");
        }
    }
    Some(whole)
}

#[test]
fn steps_by_errors_are_those_of_one_rank() {
    let adaptive = FLOW.replace("time: { steps: 12 }", "time: { adaptive: { tolerance: 1e-5 }, end: 0.2 }");
    let adaptive = adaptive.replace("every_steps: 6", "every: 0.1");
    let Some(whole) = same_on_ranks(&adaptive, &["residual", "integral", "probe", "time"]) else { return };
    assert!(whole["time"]["dt_max"] != whole["time"]["dt_min"], "{}", whole["time"]);
}

#[test]
fn a_study_on_several_ranks_has_the_table_of_one() {
    let study = "study: { order: [1, 2], refine: [0, 1] }\nchecks: [ { value: rate.l2.u, above: 1 } ]\n";
    let case = Case::new(&format!("{WAVE}{study}"));
    let whole = alone(&case, &["--output", "one"]);
    let Some(output) = on_ranks(&case, 2, &["--output", "two", "--set", "threads=1"]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = case.summary("two");
    assert_eq!((&summary["status"], &summary["checks"]), (&whole["status"], &whole["checks"]));
    let [one, two] = [&whole, &summary].map(|summary| summary["table"].as_array().unwrap());
    assert!(one.len() == 4 && two.len() == 4);
    for (a, b) in one.iter().zip(two) {
        assert_eq!((&a["error"], &a["rate"], &a["order"]), (&b["error"], &b["rate"], &b["order"]));
    }
    assert!(case.path("two/convergence.svg").is_file());
    // A case that continues another one waits until rank 0 has written its checkpoint.
    let Some(output) = on_ranks(
        &case,
        2,
        &[
            "--output",
            "three",
            "--set",
            "threads=1",
            "--set",
            "study={ order: [1, 2], continued: true }",
            "--set",
            "checks=[]",
        ],
    ) else {
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(case.summary("three")["table"].as_array().unwrap().len(), 2);
}

#[test]
fn a_result_that_cannot_be_written_ends_all_ranks_and_is_in_the_summary() {
    let case = Case::new(FLOW);
    // A file with the name of the folder of checkpoints, which are first written at step 6.
    std::fs::create_dir_all(case.path("out/case")).unwrap();
    std::fs::write(case.path("out/case/checkpoints"), "in the way").unwrap();
    let Some(output) = on_ranks(&case, 2, &["--set", "threads=1"]) else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.matches("cannot write").count() == 1, "{text}");
    assert!(!text.contains("another rank"), "{text}");
    let summary = case.summary("out/case");
    assert_eq!((&summary["status"], &summary["time"]["steps"]), (&"failed".into(), &6.into()), "{text}");
}

#[test]
fn mistakes_and_failures_are_told_once() {
    let wrong = Case::new(&FLOW.replace("order: 2", "order: two"));
    let Some(output) = on_ranks(&wrong, 2, &[]) else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success()
            && text.matches("error[wrong-type]:").count() == 1
            && text.contains("space.order"),
        "{text}"
    );
    let unstable = Case::new(&FLOW.replace("time: { steps: 12 }", "time: { dt: 0.5, steps: 12 }"));
    let Some(output) = on_ranks(&unstable, 2, &["--set", "threads=1"]) else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.matches("no longer").count() == 1, "{text}");
    assert_eq!(unstable.summary("out/case")["status"], "diverged");
}

#[test]
fn a_process_that_cannot_be_one_rank_of_several_says_so() {
    let case = Case::new(FLOW);
    let said = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dgsuite"));
        command.args(["run", "case.yaml"]).args(args).current_dir(case.directory.path());
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && text.lines().filter(|line| line.starts_with("error")).count() == 1,
            "{text}"
        );
        assert!(!case.path("out").exists());
        text
    };
    let torchrun = [("RANK", "1"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "1")];
    let srun = [("SLURM_PROCID", "0"), ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "2")];
    // Without a library, with that of another launcher, and without a place to meet.
    let none: Vec<_> = srun.iter().copied().chain([("DGSUITE_MPI_LIBRARY", "/none.so")]).collect();
    let text = said(&none, &[]);
    assert!(text.contains("/none.so") && text.contains("pip install mpich"), "{text}");
    if mpiexec().is_some() {
        let text = said(&srun, &[]);
        assert!(text.contains("srun started 2 processes, but "), "{text}");
    }
    let text = said(&torchrun, &[]);
    assert!(text.contains("error[ranks]: the processes of torchrun did not meet: let MASTER_ADDR"), "{text}");
    // Each of the two processes would start others.
    for (variables, launcher) in [(&torchrun, "torchrun"), (&srun, "srun")] {
        let text = said(variables, &["--devices", "2"]);
        assert!(text.contains(&format!("{launcher} has started 2 processes")), "{text}");
    }
    let text = said(&[], &["--devices", "2", "--device", "cpu"]);
    assert!(text.contains("'--devices <N|all|LIST>' cannot be used with '--device <DEVICE>'"), "{text}");
}

#[test]
fn one_rank_reports_a_mesh_with_fewer_elements_than_ranks() {
    let case = Case::new(FLOW);
    let Some(output) = on_ranks(&case, 3, &["--set", "mesh.generate.cells=[1,1]"]) else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.matches("into 3 parts").count() == 1, "{text}");
}

#[test]
fn two_processes_on_an_emulated_device_leave_the_results_of_one() {
    let Some(emulator) = emulator() else { return };
    let case = Case::new(FLOW);
    let run_in = |order: &str, args: &[&str]| {
        let output = emulator
            .command(env!("CARGO_BIN_EXE_dgsuite"))
            .env(EMULATOR_ORDER, order)
            .env("DGSUITE_COMM_TIMEOUT", "60")
            .args(["run", "case.yaml", "--set", "time.steps=4", "--set", "output.fields=none"])
            .args(args)
            .current_dir(case.directory.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let run = |args: &[&str]| run_in("", args);
    run(&["--device", "cuda", "--output", "one"]);
    run(&["--devices", "0,0", "--output", "two"]);
    let last = |results: &str| case.path(results).join("checkpoints/step-00000004.dgs");
    same_checkpoint(&last("one"), &last("two"), "two processes");
    let (one, two) = (case.summary("one"), case.summary("two"));
    assert_eq!((&two["ranks"], &two["device"]), (&Value::from(2), &Value::from("cuda:0")));
    same_numbers(&one, &two);
    if std::thread::available_parallelism().unwrap().get() > 1 {
        let log = std::fs::read_to_string(case.path("two/log.txt")).unwrap();
        let cores =
            log.lines().find_map(|line| line.strip_prefix("cores       of the ranks of this machine: "));
        assert!(cores.is_some_and(|cores| cores.contains(" | ")), "{log}");
    }
    // Work that no event orders may be done in any order.
    for order in ["old", "new"] {
        run_in(order, &["--devices", "0,0", "--output", order]);
        same_numbers(&one, &case.summary(order));
    }
    // Processes of a launcher without MPI.
    let program = || emulator.command(env!("CARGO_BIN_EXE_dgsuite"));
    let args =
        ["--set", "time.steps=4", "--set", "output.fields=none", "--device", "cuda", "--output", "three"];
    for child in launched_by(program, |_| case.directory.path(), 2, port(1), &args) {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let three = case.summary("three");
    assert_eq!((&three["plane"], &three["device"]), (&Value::from("sockets"), &Value::from("cuda:0")));
    same_numbers(&one, &three);
    // Steps by errors, and limiters, which exchange bounds.
    for setting in ["time.adaptive={ tolerance: 1e-4 }", "space.shock=entropy-filter"] {
        run(&["--device", "cuda", "--output", "one", "--overwrite", "--set", setting]);
        run(&["--devices", "0,0", "--output", "two", "--overwrite", "--set", setting]);
        same_numbers(&case.summary("one"), &case.summary("two"));
    }
}

/// Checks that two runs have left the same numbers, to the last bit.
fn same_numbers(one: &Value, two: &Value) {
    for key in ["residual", "integral", "probe"] {
        let numbers = |summary: &Value| -> Vec<f64> {
            let mut found = Vec::new();
            collect(&summary[key], &mut found);
            found
        };
        let (a, b) = (numbers(one), numbers(two));
        assert!(!a.is_empty() && a == b, "{key}: {a:?} and {b:?}");
    }
}

/// All numbers of a value.
fn collect(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Object(entries) => entries.values().for_each(|entry| collect(entry, found)),
        Value::Array(entries) => entries.iter().for_each(|entry| collect(entry, found)),
        other => found.extend(other.as_f64()),
    }
}
