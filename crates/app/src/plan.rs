//! The plan of a run: mesh read, names resolved, defaults filled in, everything checked.
//!
//! Making a [`Plan`] finds all mistakes in the input, and changes no existing result.

pub mod boundaries;
pub(crate) mod closure;
pub mod comparison;
mod correction;
mod directory;
mod drive;
pub mod elliptic;
mod forcing;
pub mod formulas;
mod intervals;
pub mod memory;
pub mod mesh;
mod outline;
mod places;
pub mod print;
mod reactions;
pub mod resolved;
mod restart;
mod scalars;
pub(crate) mod thin;
mod time;
pub mod triggers;
pub mod values;
mod viscosity;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dgsuite_basis::{Correction, NodeSet, Representation};
use dgsuite_gpu::comm::{Alone, Communicator};
use dgsuite_mesh::{MeshError, SetSize};
use dgsuite_ops::{OpsError, agree};
use dgsuite_physics::{Euler, Exact, NavierStokes};

use self::formulas::RunningFormula;
use self::memory::Load;
pub use self::outline::Outline;
pub use self::places::Places;
use self::restart::Found;
pub use self::time::TimePlan;
use self::time::{step_measure, time_plan};
use self::triggers::Conditions;
use self::values::KnownValues;
use crate::directory::Former;
use crate::file::problem::mistakes::{both, each};
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Located, Place};
use crate::models::reference::Reference;
use crate::models::state::{InitialSpec, StateSpec};
use crate::models::states::States;
use crate::models::variables::Variables;
use crate::monitors::{self, MonitorPlan};
use crate::outputs::fields::FieldsPlan;
use crate::outputs::{self, OutputPlan};
use crate::pipeline::checks::CheckSpec;
use crate::pipeline::physics::{Model, SourceSpec};
use crate::pipeline::space::BasisSpec;
use crate::pipeline::{DeviceSpec, Document, Pipeline};
use dgsuite_output::checkpoint::Checkpoint;
use dgsuite_solve::RankMesh;
use dgsuite_solve::flow::{BoundaryKind, Device, Form, Law, Setup, SourceTerm};
use dgsuite_solve::incompressible::Incompressible;

/// Options of the command line that are not keys of the file.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The directory of the results, relative to the working directory; replaces `output.directory`.
    pub output: Option<PathBuf>,
    /// The checkpoint to start from: a file, `latest` for the newest one in the output directory, or `auto`
    /// for the newest one if there is one.
    pub restart: Option<PathBuf>,
    /// The state of `restart` may be one of another mesh: it is projected onto the mesh of the run.
    pub project: bool,
    /// The time at which the run starts with a projected state, in place of the time of the state.
    pub start_time: Option<f64>,
    /// Deletes the results of a former run instead of moving them to `previous`.
    pub overwrite: bool,
    /// The case belongs to a study, which has the checks; it writes only what the file requests.
    pub case_of_study: bool,
    /// A later run starts from the last state of this one, so this run writes it unless the file says
    /// otherwise.
    pub continued: bool,
    /// The command that starts the run, for its report.
    pub command: String,
    /// When set, ends the run after the current step, as a signal does.
    pub stop: Arc<AtomicBool>,
    /// After each output of fields, the program that started the run is asked whether to go on (`--ask`).
    pub ask: bool,
    /// The ranks that share a run; `None` for one.
    pub comm: Option<Arc<dyn Communicator>>,
    /// The number of this rank among those of its host, which chooses its GPU.
    pub local_rank: usize,
    /// The number of ranks that run on the same cores, which share them; 0 is 1.
    pub cores_shared_by: usize,
    /// The cores of each rank of this host, if each has its own; else empty.
    pub cores: String,
    /// The solver is made to be described, not to run: large linear solvers get no preconditioners.
    pub only_described: bool,
    /// Set while plans and solvers are made: the program may then end at once without losing results.
    pub preparing: Arc<AtomicBool>,
}

/// A run, resolved and checked.
pub struct Plan {
    /// Mesh, device, results, checks.
    pub outline: Outline,
    /// The law and its variables.
    pub variables: Variables,
    /// The reference state, where the file gives one.
    pub reference: Option<Reference>,
    /// The parameters of the solver.
    pub setup: Setup,
    /// The cores of each rank of this host, if each has its own; else empty.
    pub cores: String,
    /// The state at the start.
    pub initial: Arc<dyn Exact>,
    /// The checkpoint that the run continues, with its file, in which the coefficients of the state are left.
    pub restart: Option<(PathBuf, Checkpoint)>,
    /// The place of this file's name in the pipeline file, unless the command line names it.
    pub restart_place: Option<Place>,
    /// Whether the state of this checkpoint belongs to another mesh and is to be projected.
    pub projected: bool,
    /// The solution for `error` in the summary.
    pub exact: Option<Arc<dyn Exact>>,
    /// Time stepping.
    pub time: TimePlan,
    /// The fields of the run, and how they are written.
    pub fields: FieldsPlan,
    /// What is written during the run.
    pub outputs: Vec<OutputPlan>,
    /// Numbers recorded during the run.
    pub monitors: Vec<MonitorPlan>,
    /// Conditions at which outputs, means and monitors begin.
    pub conditions: Conditions,
    /// The constants by which forces of the steady state are differentiated.
    pub sensitivities: Vec<Located<String>>,
    /// The orders below that of the run, at which Newton steps begin.
    pub lower_orders: std::ops::Range<usize>,
    /// Formulas that are evaluated while the run goes.
    pub formulas: Vec<RunningFormula>,
}

impl Choices {
    /// The option that names the checkpoint, as on the command line; `None` without one.
    pub(crate) fn restart_option(&self) -> Option<String> {
        let option = if self.project { "--restart-project" } else { "--restart" };
        self.restart.as_ref().map(|file| format!("{option} {}", file.display()))
    }

    /// Refuses what several ranks cannot do yet; one of them reports it.
    ///
    /// # Errors
    /// The refusal, or that another rank reports it.
    pub(crate) fn one_rank(&self, what: &'static str) -> Result<(), InputError> {
        let refused = || InputError::nowhere(Problem::Setup { error: OpsError::NotOnRanks { what }.into() });
        self.comm.as_ref().map_or(Ok(()), |comm| agree(comm.as_ref(), Err(refused())))
    }

    /// The threads of a run whose file asks for `wanted`, 0 for all: ranks on the same cores share them.
    pub(crate) fn threads(&self, wanted: usize) -> usize {
        if wanted > 0 || self.cores_shared_by < 2 {
            return wanted;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        (cores / self.cores_shared_by).max(1)
    }

    /// Returns what happens to results in the directory of a run that does not continue them.
    pub(crate) fn former(&self) -> Former {
        if self.overwrite { Former::Delete } else { Former::Aside }
    }
}

impl Plan {
    /// Resolves a file.
    ///
    /// # Errors
    /// All mistakes that are found and do not follow from each other.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        Self::on_mesh(document, choices, None)
    }

    /// As [`new`](Self::new), on a mesh that is known.
    fn on_mesh(document: &Document, choices: &Choices, mesh: Option<RankMesh>) -> Result<Self, InputError> {
        let file = &document.root.place.source;
        Self::resolved(document, choices, mesh).map_err(|mistakes| mistakes.in_order(file))
    }

    fn resolved(document: &Document, choices: &Choices, mesh: Option<RankMesh>) -> Result<Self, InputError> {
        let pipeline = document.pipeline()?;
        let (mesh, mut warnings) = match mesh {
            Some(mesh) => (mesh, Vec::new()),
            None => {
                let load = Load::of_flow(&pipeline);
                let (mesh, warnings) =
                    mesh::build(&pipeline.mesh, &pipeline.constants, &pipeline.base, &load)?;
                (RankMesh::from(Arc::new(mesh)), warnings)
            }
        };
        let law = law(&pipeline, mesh.dim())?;
        let variables = Variables::of(&law, mesh.dim());
        fits_the_plane(pipeline.physics.reference.as_ref(), mesh.dim())?;
        let (initial_spec, waves) = match &pipeline.initial {
            InitialSpec::State(spec, waves) => (Some(spec), waves.as_deref()),
            _ => (None, None),
        };
        let states = States {
            variables: &variables,
            constants: &pipeline.constants,
            initial: initial_spec,
            periods: mesh::periods(mesh.seen()),
            driven: pipeline.physics.flow_rate.is_some(),
        };
        let split = mesh::splits_faces(&pipeline.mesh);
        let initial = states.initial(initial_spec, waves, mesh.seen());
        // That of a checkpoint is read later.
        let start = initial.as_ref().ok().filter(|_| !matches!(pipeline.initial, InitialSpec::Restart(_)));
        let specs = &pipeline.boundaries;
        let start = start.map(AsRef::as_ref);
        let boundaries = boundaries::resolve(specs, &mesh, &states, start, &pipeline.place, split);
        let steady = pipeline.time.steady.is_some();
        let eddies = each(specs.iter().map(|spec| spec.condition.suits(steady)));
        let boundaries = both(boundaries, eddies).map(|(boundaries, _)| boundaries);
        let reference = pipeline.physics.reference.as_ref();
        let monitors = monitors::resolve(&pipeline.monitors, &states, &mesh, reference, &pipeline.base);
        // A misspelt name in a monitor makes the checks of its values wrong, too.
        let monitors = monitors.and_then(|monitors| {
            let (known_values, checks) = checks(&pipeline, &variables, initial_spec, choices)?;
            Ok((monitors, known_values, checks))
        });
        let initial = initial.and_then(|initial| {
            let reactions = reactions::resolve(&pipeline, &states, &initial, &mesh.seen().points)?;
            Ok((initial, reactions))
        });
        let parts = (&*pipeline.base, &*pipeline.stem);
        let directory = directory::resolve(&pipeline.output, parts, &pipeline.place, choices);
        let device = device(&pipeline.device, lacks_on_devices(&pipeline), choices.local_rank);
        let outputs = outputs::resolve(
            &pipeline.output,
            (choices.case_of_study, choices.continued),
            &outputs::Context {
                variables: &variables,
                constants: &pipeline.constants,
                mesh: &mesh,
                fields: None,
                limited: pipeline.space.limiting.is_some(),
                most: device.as_ref().map_or(1, |(device, _)| {
                    most_between_samples(*device, pipeline.incompressible.is_some())
                }),
            },
        );
        let (state, (outputs, (directory, (device, device_note)))) =
            both(both(initial, both(boundaries, monitors)), both(outputs, both(directory, device)))?;
        let ((initial, reactions), ((boundaries, odd), (mut monitors, known_values, checks))) = state;
        let (fields, mut outputs) = outputs;
        // Conditions use the names of monitors.
        let mut reader = triggers::Reader::new(&monitors, &variables, &pipeline.constants);
        triggers::of_monitors(&pipeline.monitors, &mut monitors, &mut reader)?;
        outputs.iter_mut().try_for_each(|output| output.begin(|from| reader.read(from)))?;
        let conditions = reader.finish();
        warnings.extend(odd);
        warnings.extend(boundaries::straight::check(&pipeline.boundaries, &mesh, pipeline.space.order));
        warnings.extend(boundaries::friction::check(&pipeline.boundaries, &mesh, pipeline.space.order));
        let first = pipeline.boundaries.first().map_or(&pipeline.place, |spec| &spec.name.place);
        let exact = exact(&monitors, initial_spec, &initial);
        let mesh_digest = mesh.digest();
        let found = restart::read(&pipeline, choices, &directory, &law, mesh_digest)?;
        restart::same_scalars(&found, &law, mesh.dim(), &pipeline.physics.place)?;
        let Found { restart, projected, place: restart_place } = found;
        let former = restart::former(restart.as_ref(), &directory, choices)?;
        let start = restart.as_ref().map_or(0.0, |(_, saved)| saved.now.t);
        let time = time_plan(&pipeline, start)?;
        time::forces_are_recorded(&pipeline, &time, &monitors)?;
        if !mesh.is_part() {
            boundaries::balance::check(&law, &boundaries, mesh.seen(), first, (start, time.end))?;
        }
        warnings.extend(restart.as_ref().and_then(|(file, saved)| restart::other_law(file, saved, &law)));
        warnings.extend(time::late_means(&pipeline, time.end));
        warnings.extend(boundaries::with_flux(&pipeline.boundaries, pipeline.space.riemann.value));
        warnings.extend(small_eta(pipeline.space.eta, &mesh.set_sizes()));
        if let Law::Incompressible(law) = variables.law() {
            let order = law.pressure_order.of(pipeline.space.order);
            warnings.extend(thin::doubt("solver.pressure", &law.pressure, order, mesh.seen()));
        }
        let correction = correction::resolve(&pipeline, &mesh.set_sizes())?;
        let source = source(&pipeline, &states, exact.as_ref())?;
        let filter_width = closure::width(&pipeline, mesh.seen())?;
        let drive = drive::resolve(&pipeline, mesh.dim(), (!mesh.is_part()).then(|| mesh.seen().as_ref()))?;
        let mut setup = setup(&pipeline, mesh, law, correction, boundaries, source, device);
        setup.filter_width = filter_width;
        viscosity::fits_the_walls(&pipeline, &setup)?;
        setup.reactions = reactions;
        if let Some((drive, doubts)) = drive {
            setup.drive = Some(drive);
            warnings.extend(doubts);
        }
        setup.scalars = scalars::resolve(&pipeline, &setup)?;
        setup.comm = choices.comm.clone().unwrap_or_else(|| Arc::new(Alone));
        let (parts, elements) = (setup.comm.size(), setup.mesh.n_elements());
        if parts > elements {
            // Known before the mesh is cut, by one rank for all.
            let error = MeshError::TooManyParts { parts, elements }.into();
            return Err(InputError::nowhere(Problem::Setup { error }));
        }
        setup.threads = choices.threads(setup.threads);
        if let Some(newton) = &pipeline.time.newton
            && let Some(instead) = dgsuite_solve::implicit::lacks(&setup)
        {
            let (key, value) = ("time.steady.solver".to_owned(), "newton".to_owned());
            // A setting that the file does not have needs to be explained.
            let instead = match newton.key == key {
                true => instead,
                false => format!("{instead}. Newton steps are the default of steady gas flow"),
            };
            return Err(InputError::at(&newton.place, Problem::Unsupported { key, value, instead }));
        }
        warnings.extend(time::lost_energy(&time, &setup));
        if let Some(name) = pipeline.time.sensitivities.first()
            && let Some(instead) = dgsuite_solve::implicit::lacks_responses(&setup)
        {
            let (key, value) = (name.key.clone(), name.value.clone());
            return Err(InputError::at(&name.place, Problem::Unsupported { key, value, instead }));
        }
        if let Some(steps) = &pipeline.time.implicit
            && let Some(instead) = dgsuite_solve::implicit::lacks_in_time(&setup)
        {
            let (key, value) = ("time.scheme".to_owned(), steps.value.scheme.to_string());
            return Err(InputError::at(&steps.place, Problem::Unsupported { key, value, instead }));
        }
        let outline = Outline {
            title: pipeline.title.clone(),
            mesh: setup.mesh.clone(),
            mesh_origin: mesh::origin(&pipeline.mesh),
            refine: pipeline.mesh.refine,
            mesh_digest,
            order: setup.order,
            device: setup.device,
            device_note,
            available: memory::available(),
            memory: Load::of_flow(&pipeline).on_each(parts, &memory::in_sets(&setup.mesh.set_sizes())),
            warnings,
            directory,
            former,
            checks,
            constants: pipeline.constants.and("order", pipeline.space.order as f64),
            known_values,
            resolved: resolved::resolve(document, &pipeline, &setup, &time),
            stop: Arc::clone(&choices.stop),
            ask: choices.ask,
            places: Places::new(document, &pipeline.mesh.place, &pipeline.space.place),
        };
        let plan = Self {
            outline,
            reference: pipeline.physics.reference.clone(),
            variables,
            setup,
            cores: choices.cores.clone(),
            initial,
            restart,
            restart_place,
            projected,
            exact,
            time,
            fields,
            outputs,
            monitors,
            conditions,
            formulas: formulas::running(&pipeline)?,
            sensitivities: pipeline.time.sensitivities,
            lower_orders: pipeline.time.from_order.unwrap_or(pipeline.space.order)..pipeline.space.order,
        };
        plan.times_are_possible(start, &document.root)?;
        Ok(plan)
    }
}

/// Returns the values that checks may name, and the checks of the run.
fn checks(
    pipeline: &Pipeline,
    variables: &Variables,
    initial: Option<&StateSpec>,
    choices: &Choices,
) -> Result<(KnownValues, Vec<CheckSpec>), InputError> {
    let compared =
        pipeline.monitors.iter().any(|m| m.spec.has_exact()) || initial.is_some_and(StateSpec::is_solution);
    let steady = pipeline.time.steady.map(|steady| steady.newton);
    let known = KnownValues::new(variables, &pipeline.monitors, compared, steady, choices.case_of_study);
    let known = if pipeline.physics.flow_rate.is_some() { known.with_flow_rate() } else { known };
    let known = known.with_sensitivities(&pipeline.time.sensitivities);
    let known = if pipeline.time.implicit.is_some() { known.with_implicit_steps() } else { known };
    let known =
        known.with_triggers(conditions_of(pipeline)).with_reference(pipeline.physics.reference.as_ref());
    let checks = if choices.case_of_study { Vec::new() } else { pipeline.checks.clone() };
    each(checks.iter().map(|check| known.admit(check)))?;
    Ok((known, checks))
}

/// The largest number of steps between two samples of means, by default: the samples of a long run take a few
/// per cent of its time.
///
/// A sample takes about as long as an explicit step on CPUs, and very little beside one of incompressible
/// flow. The host computes the samples of a GPU: the state that it copies passes a bus that is thirty times
/// slower than the memory in which a stage reads and writes it four times, and the GPU waits.
pub(crate) fn most_between_samples(device: Device, incompressible: bool) -> usize {
    match (device, incompressible) {
        (Device::Cpu, true) => 1,
        (Device::Cpu, false) => 20,
        (_, true) => 10,
        (_, false) => 100,
    }
}

/// Returns the number of conditions in a file.
fn conditions_of(pipeline: &Pipeline) -> usize {
    let outputs = pipeline.output.given().filter_map(|(_, spec)| spec.from());
    let monitors = pipeline.monitors.iter().flat_map(|m| [m.from.as_ref(), m.spec.means()]).flatten();
    outputs.chain(monitors).filter(|from| from.time().is_none()).count()
}

/// Rejects a reference velocity that leaves the plane of the mesh.
fn fits_the_plane(reference: Option<&Reference>, dim: usize) -> Result<(), InputError> {
    match reference {
        Some(Reference { direction, place, .. }) if dim == 2 && direction[2] != 0.0 => {
            let key = "physics.reference.direction".to_owned();
            let shown = Located { value: format!("{direction:?}"), key, place: place.clone() };
            Err(InputError::range(&shown, "a list of 2 numbers, as the mesh has 2 dimensions"))
        }
        _ => Ok(()),
    }
}

/// Warns if `eta` is below the bound above which BR2 is known to be stable.
fn small_eta(eta: Option<f64>, sets: &[SetSize]) -> Option<String> {
    let most = sets.iter().max_by_key(|set| set.shape.n_faces())?.shape;
    let (eta, faces) = (eta?, most.n_faces());
    (eta < faces as f64).then(|| {
        format!("space.viscous.br2.eta {eta} is less than {faces}, the faces of a {most}: below that, BR2 may be unstable")
    })
}

fn law(pipeline: &Pipeline, dim: usize) -> Result<Law, InputError> {
    match &pipeline.physics.model {
        Model::Euler { gamma, gas_constant } => Ok(Law::Euler { gamma: *gamma, gas_constant: *gas_constant }),
        Model::NavierStokes { gamma, prandtl, viscosity, gas_constant, closure } => {
            Ok(Law::NavierStokes(NavierStokes {
                gas: Euler { gamma: *gamma },
                prandtl: *prandtl,
                viscosity: *viscosity,
                gas_constant: *gas_constant,
                closure: closure.as_ref().map(|spec| closure::resolve(spec, dim)).transpose()?,
            }))
        }
        Model::Incompressible { viscosity, viscosity_formula, scalars, buoyancy, closure } => {
            let given = pipeline.incompressible.clone().unwrap_or_else(|| Incompressible::new(*viscosity));
            let flow_rate = &pipeline.physics.flow_rate;
            let flow_rate = flow_rate.as_ref().map(|spec| drive::rate(spec, dim)).transpose()?;
            let buoyancy = buoyancy.as_ref().map(|spec| scalars::buoyancy(spec, dim)).transpose()?;
            let scalars = scalars::of_law(scalars, &pipeline.constants)?;
            let closure =
                closure.as_ref().map(|spec| closure::resolve(spec, dim).map(Box::new)).transpose()?;
            let viscosity_formula = viscosity_formula.as_ref();
            let viscosity_formula =
                viscosity_formula.map(|text| viscosity::resolve(pipeline, text, &scalars)).transpose()?;
            let forcing = forcing::resolve(pipeline, &scalars, dim)?;
            Ok(Law::Incompressible(Incompressible {
                flow_rate,
                scalars,
                buoyancy,
                forcing,
                closure,
                viscosity_formula,
                ..given
            }))
        }
        Model::Advection { velocity } => Ok(Law::Advection { velocity: fitting(velocity, dim)?.clone() }),
    }
}

/// Returns a vector that has the dimension of the mesh.
fn fitting(vector: &Located<Vec<f64>>, dim: usize) -> Result<&Vec<f64>, InputError> {
    if vector.value.len() == dim {
        return Ok(&vector.value);
    }
    let shown = vector.with(format!("{:?}", vector.value));
    Err(InputError::range(&shown, format!("a list of {dim} numbers, as the mesh has {dim} dimensions")))
}

/// Returns the device and, if a usable GPU was not chosen, the reason.
/// On a host with several ranks, each has a GPU of its own as far as there are enough.
pub(crate) fn device(
    spec: &DeviceSpec,
    lacks: Option<&str>,
    local_rank: usize,
) -> Result<(Device, Option<String>), InputError> {
    let of_rank = |first: usize| first + local_rank % Device::count().saturating_sub(first).max(1);
    match (spec, lacks) {
        (DeviceSpec::Auto, Some(what)) => {
            // Without a GPU there is nothing to explain.
            let note = match Device::auto() {
                (Device::Cpu, reason) => reason,
                _ => Some(format!("GPUs do not have {what} in this version")),
            };
            return Ok((Device::Cpu, note));
        }
        (DeviceSpec::Cuda(ordinal, place), Some(what)) => {
            let device = Device::Cuda(*ordinal).to_string();
            let reason = format!("GPUs do not have {what} in this version");
            return Err(InputError::at(place, Problem::Device { device, reason }));
        }
        _ => {}
    }
    match spec {
        DeviceSpec::Auto => Ok(match Device::auto() {
            (Device::Cuda(first), note) => (Device::Cuda(of_rank(first)), note),
            cpu => cpu,
        }),
        DeviceSpec::Cpu => Ok((Device::Cpu, None)),
        DeviceSpec::Cuda(ordinal, place) => match Device::usable(of_rank(*ordinal)) {
            Ok(_) => Ok((Device::Cuda(of_rank(*ordinal)), None)),
            Err(reason) => {
                let device = Device::Cuda(*ordinal).to_string();
                Err(InputError::at(place, Problem::Device { device, reason }))
            }
        },
    }
}

/// Checks that all ranks run on the CPU, or all on GPUs. Collective.
pub(crate) fn same_kind_of_device(comm: &dyn Communicator, device: Device) -> Result<(), InputError> {
    let rank = comm.rank() as f64;
    // The lowest ranks of both kinds, with the sign changed.
    let mut lowest = [f64::NEG_INFINITY; 2];
    lowest[usize::from(device == Device::Cpu)] = -rank;
    comm.max(&mut lowest).map_err(|error| InputError::from(OpsError::from(error)))?;
    let [gpu, cpu] = lowest;
    if gpu == f64::NEG_INFINITY || cpu == f64::NEG_INFINITY {
        return Ok(());
    }
    Err(InputError::nowhere(Problem::MixedRanks { with: -gpu as usize, without: -cpu as usize }))
}

/// The highest order of split forms on devices.
const MOST_SPLIT_ORDER: usize = 9;

/// Returns a feature that this file needs and that devices do not have.
fn lacks_on_devices(pipeline: &Pipeline) -> Option<&'static str> {
    let physics = &pipeline.physics;
    let added = physics.source.is_some() || physics.sponge.is_some() || physics.body_force.is_some();
    match (&physics.model, added) {
        _ if pipeline.space.form == Form::Split && pipeline.space.order > MOST_SPLIT_ORDER => {
            Some("split forms of so high an order")
        }
        (Model::NavierStokes { .. } | Model::Incompressible { .. }, _) | (_, false) => None,
        (_, true) => {
            (pipeline.space.form == Form::Split).then_some("sources without viscous terms in split form")
        }
    }
}

/// Returns the basis: as written, or modal by default. On simplices Lobatto stands for warp & blend.
fn representation(pipeline: &Pipeline) -> Representation {
    let default = match pipeline.space.correction {
        Some(_) => NodeSet::GaussLegendre,
        None => NodeSet::GaussLobatto,
    };
    match pipeline.space.basis.unwrap_or(BasisSpec::Modal) {
        BasisSpec::Modal => Representation::Modal,
        BasisSpec::Taylor => Representation::Taylor,
        BasisSpec::Nodal => Representation::Nodal(pipeline.space.nodes.as_ref().map_or(default, |n| n.value)),
    }
}

fn setup(
    pipeline: &Pipeline,
    mesh: RankMesh,
    law: Law,
    correction: Correction,
    boundaries: BTreeMap<String, BoundaryKind>,
    source: Option<SourceTerm>,
    device: Device,
) -> Setup {
    let space = &pipeline.space;
    Setup {
        mesh,
        law,
        riemann: space.riemann.value,
        dissipation: space.dissipation,
        limiting: space.limiting,
        eta: space.eta,
        filter_width: None,
        source,
        reactions: Vec::new(),
        drive: None,
        scalars: Vec::new(),
        order: space.order,
        polynomials: space.polynomials,
        representation: representation(pipeline),
        volume: space.volume,
        face: space.face,
        form: space.form,
        split_flux: space.split_flux,
        correction,
        boundaries,
        newton: pipeline.time.newton.as_ref().map(|newton| newton.value),
        implicit: pipeline.time.implicit.as_ref().map(|steps| steps.value),
        scheme: pipeline.time.scheme,
        step_measure: step_measure(pipeline),
        precision: pipeline.precision,
        threads: pipeline.threads,
        device,
        comm: Arc::new(Alone),
        cutting: pipeline.mesh.cutting,
        only_described: false,
    }
}

/// Returns the source term, from formulas or derived from the exact solution.
fn source(
    pipeline: &Pipeline,
    states: &States<'_>,
    exact: Option<&Arc<dyn Exact>>,
) -> Result<Option<SourceTerm>, InputError> {
    match &pipeline.physics.source {
        None => Ok(None),
        Some(SourceSpec::Formulas(formulas)) => Ok(states.source(formulas)?.map(SourceTerm::Given)),
        Some(SourceSpec::Manufactured(place)) => match exact {
            Some(exact) => Ok(Some(SourceTerm::Manufactured(Arc::clone(exact)))),
            None => Err(InputError::at(
                place,
                Problem::MissingKey {
                    key: "initial.exact".into(),
                    expected:
                        "the solution from which the source term is derived, in `initial` or in a monitor `error`"
                            .into(),
                },
            )),
        },
    }
}

/// Returns the solution for the errors in the summary: the one of the first error monitor, or the initial
/// state if it is a solution for all times.
fn exact(
    monitors: &[MonitorPlan],
    initial_spec: Option<&StateSpec>,
    initial: &Arc<dyn Exact>,
) -> Option<Arc<dyn Exact>> {
    let monitored = monitors.iter().find_map(|m| m.monitor.exact().cloned());
    monitored.or_else(|| initial_spec.filter(|spec| spec.is_solution()).map(|_| initial.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_gpu::comm::{on_each, threads};

    #[test]
    fn ranks_are_all_on_cpus_or_all_on_gpus() {
        let refused = |on_cpu: fn(usize) -> bool| {
            on_each(threads(4), |comm| {
                let rank = comm.rank();
                let device = if on_cpu(rank) { Device::Cpu } else { Device::Cuda(rank) };
                same_kind_of_device(&comm, device).err().map(|error| error.to_string())
            })
        };
        let agreed = vec![None; 4];
        assert_eq!((refused(|_| true), refused(|_| false)), (agreed.clone(), agreed));
        // All ranks end with the same sentence.
        for (on_cpu, gpu, cpu) in [((|rank| rank == 2) as fn(usize) -> bool, 0, 2), (|rank| rank < 3, 3, 0)] {
            for sentence in refused(on_cpu) {
                let expected = format!("rank {gpu} has a GPU, but rank {cpu} has none");
                assert!(sentence.as_ref().is_some_and(|s| s.contains(&expected)), "{sentence:?}");
            }
        }
    }
}
