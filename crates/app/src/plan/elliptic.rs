//! The plan of an elliptic problem: mesh read, formulas compiled, boundaries and regions resolved.

mod boundaries;
pub mod functions;
pub mod print;
mod regions;
mod resolved;

use std::sync::Arc;

use crate::communication::PER_ITERATION;
use dgsuite_gpu::comm::{CommError, Communicator, one_works};
use dgsuite_mesh::Mesh;
use dgsuite_ops::{OpsError, agree};
use dgsuite_physics::formula::Formula;

use self::functions::{COORDINATES, Coefficient, ExactSolution, Scalar, forcing_for};
use super::memory::{self, Load};
use super::values::KnownValues;
use super::{Choices, Outline, Places, mesh, thin};
use crate::file::expression::Constants;
use crate::file::problem::mistakes::{both, each};
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Located, Place};
use crate::outputs::fields::OUTPUT as FIELDS;
use crate::outputs::named::FieldSpec;
use crate::pipeline::Document;
use crate::pipeline::elliptic::EllipticPipeline;
use crate::pipeline::elliptic::physics::ForcingSpec;
use dgsuite_output::writer::Format;
use dgsuite_solve::ROOT;
use dgsuite_solve::elliptic::{EllipticSetup, Function};

/// An elliptic problem, resolved and checked.
pub struct EllipticPlan {
    /// Mesh, device, results, checks.
    pub outline: Outline,
    /// The parameters of the solver.
    pub setup: EllipticSetup,
    /// The equation in words.
    pub equation: String,
    /// The exact solution.
    pub exact: Option<ExactSolution>,
    /// Fields for ParaView; `None` if they are switched off.
    pub fields: Option<EllipticFields>,
    /// Whether the solution is stored in a checkpoint.
    pub stores: bool,
    /// The place of `physics.model` in the file.
    pub physics: Place,
}

/// Fields for ParaView.
#[derive(Debug)]
pub struct EllipticFields {
    /// The fields.
    pub fields: Vec<EllipticField>,
    /// Whether numbers have 64 bits.
    pub double: bool,
    /// The format of the files.
    pub format: Format,
}

/// A field of the output.
#[derive(Clone, Debug)]
pub struct EllipticField {
    /// Its name in the file.
    pub name: String,
    /// Its content.
    pub content: FieldContent,
}

/// The content of a field.
#[derive(Clone, Debug)]
pub enum FieldContent {
    /// The solution.
    Solution,
    /// The exact solution.
    Exact,
    /// Solution minus exact solution.
    Error,
    /// A formula in [`FIELD_VARIABLES`].
    Formula(Box<Formula>),
}

/// The variables of formulas for fields.
pub const FIELD_VARIABLES: [&str; 4] = ["u", "x", "y", "z"];

impl EllipticPlan {
    /// Resolves a file.
    ///
    /// # Errors
    /// All mistakes that are found and do not follow from each other.
    pub fn new(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        let file = &document.root.place.source;
        Self::resolved(document, choices).map_err(|mistakes| mistakes.in_order(file))
    }

    /// Resolves a file on all ranks of `comm`: first on rank 0, which reports its mistakes, then on the
    /// others. Each of them holds the whole mesh. Collective.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and that another rank has found some, or that only some ranks have a GPU.
    pub(crate) fn on_ranks(
        document: &Document,
        choices: &Choices,
        comm: &Arc<dyn Communicator>,
    ) -> Result<Self, InputError> {
        let lost = |error: CommError| InputError::from(OpsError::from(error));
        let first = one_works(comm.as_ref(), ROOT, || Self::new(document, choices));
        let first = agree(comm.as_ref(), first.map_err(lost)?.transpose())?;
        let own = first.map_or_else(|| Self::new(document, choices), Ok);
        let mut plan = agree(comm.as_ref(), own)?;
        super::same_kind_of_device(comm.as_ref(), plan.setup.device)?;
        plan.setup.threads = choices.threads(plan.setup.threads);
        Ok(plan)
    }

    fn resolved(document: &Document, choices: &Choices) -> Result<Self, InputError> {
        let file = document.elliptic()?;
        if let Some(key) = choices.restart_option() {
            let problem = Problem::Misplaced {
                key,
                owner: "the model poisson".into(),
                belongs: "the models with time steps".into(),
            };
            return Err(InputError::nowhere(problem));
        }
        let load = Load::of_poisson(&file);
        let (mesh, mut warnings) = mesh::build(&file.mesh, &file.constants, &file.base, &load)?;
        warnings.extend(thin::doubt("solver", &file.solver, file.space.order, &mesh));
        let mesh = Arc::new(mesh);
        let exact = file.physics.exact.as_ref().map(|text| {
            let formula = formula(&file.constants, text)?;
            Ok(ExactSolution::new(formula, mesh.dim))
        });
        let coefficients = both(kappa(&file, &mesh), lambda(&file, &mesh));
        // The data of boundaries and the right-hand side may be derived from them.
        let problem = both(exact.transpose(), coefficients).and_then(|(exact, (kappa, lambda))| {
            let forcing = forcing(&file, exact.as_ref(), (&kappa, &lambda), mesh.dim);
            let (specs, constants) = (&file.boundaries, &file.constants);
            let conditions =
                boundaries::resolve(specs, &mesh, &kappa, exact.as_ref(), constants, &file.place);
            Ok((exact, kappa, lambda, both(forcing, conditions)?))
        });
        let parts = (&*file.base, &*file.stem);
        let directory = super::directory::resolve(&file.output, parts, &file.place, choices);
        let device = super::device(&file.device, None, choices.local_rank);
        let is_known = file.physics.exact.is_some();
        let fields = fields(&file, is_known, choices);
        let known_values = known_values(is_known, choices.case_of_study);
        let checks = if choices.case_of_study { Vec::new() } else { file.checks.clone() };
        let admitted = each(checks.iter().map(|check| known_values.admit(check)));
        let (problem, ((directory, (device, device_note)), (fields, _))) =
            both(problem, both(both(directory, device), both(fields, admitted)))?;
        let (exact, kappa, lambda, (forcing, conditions)) = problem;
        let equation = equation(&file, &kappa);
        let (of_kappa, of_lambda) = (Arc::clone(&kappa), lambda);
        let setup = EllipticSetup {
            order: file.space.order,
            penalty: file.space.penalty,
            kappa: Arc::new(move |element, x| of_kappa.at(element, x)),
            lambda: Arc::new(move |_, x| of_lambda.at(x)),
            forcing,
            boundaries: conditions,
            mean_of: exact.as_ref().map(mean_of),
            solver: file.solver.for_penalty(file.space.penalty, file.space.order, &mesh).on(
                device,
                file.space.order,
                &mesh,
            ),
            threads: file.threads,
            device,
            mesh,
            comm: choices.comm.clone(),
        };
        let outline = Outline {
            title: file.title.clone(),
            mesh: Arc::clone(&setup.mesh).into(),
            mesh_origin: mesh::origin(&file.mesh),
            refine: file.mesh.refine,
            mesh_digest: setup.mesh.digest(),
            order: setup.order,
            device,
            device_note,
            available: memory::available(),
            memory: load.on_each(
                choices.comm.as_ref().map_or(1, |comm| comm.size()),
                &memory::in_sets(&setup.mesh.set_sizes()),
            ),
            warnings,
            directory,
            former: choices.former(),
            checks,
            constants: file.constants.and("order", file.space.order as f64),
            known_values,
            resolved: resolved::resolve(document, &file, &setup),
            stop: Arc::clone(&choices.stop),
            ask: choices.ask,
            places: Places::new(document, &file.mesh.place, &file.space.place),
        };
        let (physics, stores) = (file.physics.place.clone(), !choices.case_of_study);
        Ok(Self { outline, physics, setup, equation, exact, fields, stores })
    }
}

/// Returns the coefficient κ, which must be positive.
fn kappa(file: &EllipticPipeline, mesh: &Mesh) -> Result<Arc<Coefficient>, InputError> {
    let kappa = regions::kappa(&file.physics.kappa, &file.constants, mesh)?;
    regions::positive(&kappa, mesh)?;
    Ok(Arc::new(kappa))
}

/// Returns the coefficient λ, which must not be negative.
fn lambda(file: &EllipticPipeline, mesh: &Mesh) -> Result<Scalar, InputError> {
    let Some(text) = &file.physics.lambda else { return constant(0.0) };
    let lambda = formula(&file.constants, text)?;
    regions::not_negative(&lambda, text, mesh)?;
    Ok(lambda)
}

/// Returns the right-hand side.
fn forcing(
    file: &EllipticPipeline,
    exact: Option<&ExactSolution>,
    (kappa, lambda): (&Arc<Coefficient>, &Scalar),
    dim: usize,
) -> Result<Function, InputError> {
    match (&file.physics.forcing, exact) {
        (ForcingSpec::Exact, Some(exact)) => Ok(forcing_for(exact, kappa, lambda, dim)),
        (ForcingSpec::Formula(text), _) => {
            let scalar = formula(&file.constants, text)?;
            Ok(Arc::new(move |_, x| scalar.at(x)))
        }
        (ForcingSpec::Exact, None) => {
            let expected = "the solution from which the right-hand side is derived".to_owned();
            let problem = Problem::MissingKey { key: "physics.exact".into(), expected };
            Err(InputError::at(&file.physics.place, problem))
        }
    }
}

impl EllipticPlan {
    /// Returns the largest ratio of two values of κ at nodes of one element.
    pub fn largest_jump(&self) -> f64 {
        let mut extremes = vec![(f64::INFINITY, 0.0_f64); self.setup.mesh.n_elements()];
        for (element, x) in nodes_of(&self.setup.mesh) {
            let (value, (least, most)) = ((self.setup.kappa)(element, x), extremes[element]);
            extremes[element] = (least.min(value), most.max(value));
        }
        extremes.iter().fold(1.0, |jump, (least, most)| jump.max(most / least))
    }
}

/// The exact solution as a function whose mean is used where u is fixed only up to a constant.
fn mean_of(exact: &ExactSolution) -> Function {
    let value = exact.value.clone();
    Arc::new(move |_, x| value.at(x))
}

/// Parses a formula in x, y, z.
fn formula(constants: &Constants, text: &Located<String>) -> Result<Scalar, InputError> {
    constants.located_formula(text, &COORDINATES).map(Scalar::new)
}

fn constant(value: f64) -> Result<Scalar, InputError> {
    let parsed = Constants::default().formula(&value.to_string(), &COORDINATES);
    parsed
        .map(Scalar::new)
        .map_err(|error| InputError::nowhere(Problem::Formula { key: "physics".into(), error }))
}

/// The equation in words, with its coefficients as written.
fn equation(file: &EllipticPipeline, kappa: &Coefficient) -> String {
    let lambda = file.physics.lambda.as_ref().map_or("0", |text| &*text.value);
    let forcing = match &file.physics.forcing {
        ForcingSpec::Exact => "derived from the exact solution",
        ForcingSpec::Formula(text) => &text.value,
    };
    format!("-div(kappa grad u) + lambda u = f, kappa {}, lambda {lambda}, f {forcing}", kappa.text())
}

fn fields(
    file: &EllipticPipeline,
    exact: bool,
    choices: &Choices,
) -> Result<Option<EllipticFields>, InputError> {
    let outputs = file.output.of_run(choices.case_of_study, choices.continued);
    if outputs.iter().all(|(kind, _)| kind.name != FIELDS.name) {
        return Ok(None);
    }
    let spec = &file.output.fields;
    let fields = match &spec.names {
        Some(names) => named_fields(names, &file.constants, exact)?,
        None => usual_fields(exact),
    };
    Ok(Some(EllipticFields { fields, double: spec.double, format: spec.format }))
}

/// The fields of a run whose file names none: the solution and, where it is known, its error.
pub fn usual_fields(exact: bool) -> Vec<EllipticField> {
    let field = |name: &str, content| EllipticField { name: name.to_owned(), content };
    let mut fields = vec![field("u", FieldContent::Solution)];
    if exact {
        fields.push(field("error", FieldContent::Error));
    }
    fields
}

/// Compiles fields by name and formula; `exact` says whether the exact solution is known.
///
/// # Errors
/// Unknown names and formulas that do not parse.
pub fn named_fields(
    specs: &[FieldSpec],
    constants: &Constants,
    exact: bool,
) -> Result<Vec<EllipticField>, InputError> {
    let mut known = vec!["u".to_owned()];
    known.extend(exact.then_some(["exact", "error"]).into_iter().flatten().map(str::to_owned));
    let field = |spec: &FieldSpec| {
        let name = &spec.name.value;
        let content = match (&spec.formula, &**name) {
            (Some(text), _) => {
                FieldContent::Formula(Box::new(constants.located_formula(text, &FIELD_VARIABLES)?))
            }
            (None, "u") => FieldContent::Solution,
            (None, "exact") if exact => FieldContent::Exact,
            (None, "error") if exact => FieldContent::Error,
            _ => {
                let (key, found) = (spec.name.key.clone(), name.clone());
                let problem = Problem::UnknownValue { key, found, known: known.clone() };
                return Err(InputError::at(&spec.name.place, problem));
            }
        };
        Ok(EllipticField { name: name.clone(), content })
    };
    each(specs.iter().map(field))
}

/// Paths in the summary of every run.
const ALWAYS: [&str; 30] = [
    "ranks",
    "mesh.faces",
    "mesh.order",
    "space.order",
    "space.dofs",
    "memory.expected",
    "memory.peak",
    "timing.setup_s",
    "timing.run_s",
    "timing.output_s",
    "threads",
    "space.penalty",
    "integral.u",
    "linear.iterations",
    "linear.setup_s",
    "linear.operator_s",
    "linear.device_s",
    "linear.preconditioner_s",
    "linear.right_hand_side_s",
    "linear.solve_s",
    "linear.device_bytes",
    "linear.mdofs_per_s",
    "linear.residual",
    "linear.reduction",
    "linear.rate",
    "linear.imbalance",
    "linear.bytes_per_element",
    "linear.operator_bytes_per_element",
    "linear.applications_per_iteration",
    "linear.operator_complexity",
];

/// The norms of the error.
pub const NORMS: [&str; 4] = ["l1", "l2", "linf", "energy"];

fn known_values(exact: bool, study: bool) -> KnownValues {
    let mut names = Vec::new();
    for section in exact.then_some("error").into_iter().chain((exact && study).then_some("rate")) {
        names.extend(NORMS.map(|norm| format!("{section}.{norm}.u")));
    }
    names.extend(ALWAYS.into_iter().chain(PER_ITERATION).map(str::to_owned));
    KnownValues::of(names, study)
}

/// The mesh nodes of each element: the points at which the signs of coefficients are checked.
fn nodes_of(mesh: &Mesh) -> impl Iterator<Item = (usize, [f64; 3])> + '_ {
    mesh.sets.iter().enumerate().flat_map(move |(s, set)| {
        (0..set.len()).flat_map(move |i| mesh.element_points(s, i).map(move |x| (set.first + i, x)))
    })
}

/// The error for a coefficient whose sign makes the problem indefinite.
fn wrong_sign(place: &Place, key: &str, value: f64, x: [f64; 3], expected: &str) -> InputError {
    let value = format!("{value} at ({:.6}, {:.6}, {:.6})", x[0], x[1], x[2]);
    InputError::at(place, Problem::OutOfRange { key: key.to_owned(), value, expected: expected.to_owned() })
}
