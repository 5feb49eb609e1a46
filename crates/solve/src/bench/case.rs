//! One case of the benchmark: a shape, a form and a degree on a box.

use super::Row;
use crate::two_point::{SplitFlux, SplitForms};
use dgsuite_basis::correction::Parameter;
use dgsuite_basis::{NodeSet, Representation, Shape};
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_mesh::{Mesh, MeshError, SpaceFillingCurve, generate};
use dgsuite_ops::cuda::{ChosenKernels, CudaDiscretization};
use dgsuite_ops::{
    DiffusionKernels, Diffusive, Discretization, Equation, MetricRule, OpsError, PackScalar, PartSummary,
    PointKernels, Pointwise, Scheme, StageWeights,
};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::trace::{Parameters, Recording, Sym, TraceError};
use dgsuite_physics::{Euler, Exact, NavierStokes, Real, Rusanov, Source};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// The form of a discretisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Nodal; volume and face points are the nodes.
    Collocated,
    /// The same in strong form.
    CollocatedStrong,
    /// Nodal, over-integrated.
    Nodal,
    /// Modal, over-integrated.
    Modal,
    /// The same in strong form.
    ModalStrong,
    /// Modal, with exact inverses of mass matrices.
    ModalStored,
    /// Taylor bases, over-integrated.
    Taylor,
    /// The same with exact inverses of mass matrices.
    TaylorStored,
    /// Flux reconstruction with Huynh's correction, at nodes of this set.
    Reconstruction(NodeSet),
    /// Split form with this two-point flux at Lobatto nodes of quadrilaterals and hexahedra.
    Split(SplitFlux),
}

impl Form {
    /// The names of the command line.
    pub(super) const ALL: [(&'static str, Self); 12] = [
        ("collocated", Self::Collocated),
        ("collocated-strong", Self::CollocatedStrong),
        ("nodal", Self::Nodal),
        ("modal", Self::Modal),
        ("modal-strong", Self::ModalStrong),
        ("modal-stored", Self::ModalStored),
        ("taylor", Self::Taylor),
        ("taylor-stored", Self::TaylorStored),
        ("fr", Self::Reconstruction(NodeSet::GaussLobatto)),
        ("fr-gauss", Self::Reconstruction(NodeSet::GaussLegendre)),
        ("kennedy-gruber", Self::Split(SplitFlux::KennedyGruber)),
        ("ranocha", Self::Split(SplitFlux::Ranocha)),
    ];

    /// The name on the command line.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }

    /// Whether volume and face points are nodes.
    const fn is_collocated(self) -> bool {
        matches!(self, Self::Collocated | Self::CollocatedStrong | Self::Reconstruction(_) | Self::Split(_))
    }
}

/// The equations of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The Euler equations.
    Euler,
    /// The same with a source.
    Source,
    /// With viscosity and heat conduction.
    NavierStokes,
}

impl Flow {
    /// The name on the command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Euler => "euler",
            Self::Source => "euler-source",
            Self::NavierStokes => "navier-stokes",
        }
    }
}

/// Which elements are curved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bend {
    /// None.
    None,
    /// All elements: a smooth map moves the nodes of the whole box.
    All,
    /// The elements of one half of the box.
    Half,
}

impl Bend {
    /// The name on the command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "affine",
            Self::All => "curved",
            Self::Half => "half-curved",
        }
    }
}

/// The machine to measure on.
pub(super) enum Machine {
    Host,
    Cuda(Cuda),
}

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) flow: Flow,
    pub(super) shape: Shape,
    /// A second shape in the upper part of the box, with as many unknowns.
    pub(super) above: Option<Shape>,
    pub(super) bend: Bend,
    pub(super) form: Form,
    pub(super) order: usize,
    pub(super) single: bool,
    /// Millions of degrees of freedom.
    pub(super) size: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flow, bend) = (self.flow.name(), self.bend.name());
        write!(f, "{flow}, {bend} {} elements, p = {}, {}", self.name(), self.order, self.form.name())
    }
}

/// A smooth flow of period 2, in this number of dimensions.
struct Wave(usize);

impl Exact for Wave {
    fn n_fields(&self) -> usize {
        self.0 + 2
    }

    fn eval(&self, _t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        for (k, column) in out.iter_mut().enumerate() {
            column.clear();
            column.extend(x.iter().map(|x| match k {
                0 => 1.0 + 0.1 * (std::f64::consts::PI * (x[0] + x[1])).sin(),
                k if k <= self.0 => 0.3 * k as f64,
                _ => 2.5 + 0.1 * (std::f64::consts::PI * x[0]).cos(),
            }));
        }
    }
}

/// Returns a periodic box of cells, curved if asked for, and renumbered along a Hilbert curve.
pub(super) fn on_periodic(
    build: impl FnOnce() -> Result<Mesh, MeshError>,
    dim: usize,
    bend: Bend,
) -> Result<Arc<Mesh>, OpsError> {
    let finished = || {
        let mut mesh = build()?;
        for pair in [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]].iter().take(dim) {
            mesh.make_periodic(pair[0], pair[1])?;
        }
        if bend != Bend::None {
            mesh.elevate(2)?;
            let pi = std::f64::consts::PI;
            mesh.map(|[x, y, z]| {
                let there = if bend == Bend::Half && x < 0.0 { 0.0 } else { 1.0 };
                let bump = 0.05 * there * (pi * x).sin() * (pi * y).sin();
                [x + bump, y - bump, z]
            })?;
        }
        mesh.renumber(SpaceFillingCurve::Hilbert);
        Ok(mesh)
    };
    finished().map(Arc::new).map_err(|_: MeshError| OpsError::Empty)
}

impl Case {
    /// Returns whether this combination of shape, form and order exists.
    pub(super) fn exists(&self) -> bool {
        // The geometry of curved elements must be in the polynomial space.
        let split = matches!(self.form, Form::Split(_));
        let nodes = self.form.is_collocated();
        let lines = matches!(self.shape, Shape::Quadrilateral | Shape::Hexahedron);
        (self.order > 0 || !nodes) && (self.bend == Bend::None || self.order >= 2) && (lines || !split)
    }

    fn scheme(&self) -> Scheme {
        let modal = Scheme::modal(self.order);
        let strong = dgsuite_ops::Form::Strong;
        let (stored, taylor) = (Some(MetricRule::Stored), Representation::Taylor);
        match self.form {
            Form::Collocated => Scheme::collocated(self.order),
            Form::CollocatedStrong => Scheme { form: strong, ..Scheme::collocated(self.order) },
            Form::Nodal => Scheme { representation: Representation::Nodal(NodeSet::GaussLobatto), ..modal },
            Form::Modal => modal,
            Form::ModalStrong => Scheme { form: strong, ..modal },
            Form::ModalStored => Scheme { metric: stored, ..modal },
            Form::Taylor => Scheme { representation: taylor, ..modal },
            Form::TaylorStored => Scheme { representation: taylor, metric: stored, ..modal },
            Form::Reconstruction(set) => Scheme::flux_reconstruction(self.order, set, Parameter::Huynh),
            Form::Split(_) => Scheme::split(self.order),
        }
    }

    /// The name of the shape, or of both shapes.
    fn name(&self) -> &'static str {
        match self.above {
            None => self.shape.name(),
            Some(Shape::Quadrilateral) => "tri+quad",
            Some(_) => "prism+tet",
        }
    }

    /// Number of unknowns in a cell of the grid.
    fn per_cell(&self, shape: Shape) -> f64 {
        let elements = match shape {
            Shape::Triangle | Shape::Prism => 2,
            Shape::Tetrahedron => 6,
            _ => 1,
        };
        (elements * dgsuite_ops::basis_size(&self.scheme(), shape) * (shape.dim() + 2)) as f64
    }

    fn mesh(&self) -> Result<Arc<Mesh>, OpsError> {
        let (dim, shape) = (self.shape.dim(), self.shape);
        let below = self.per_cell(shape);
        // With a second shape, the numbers of layers are inversely proportional to the unknowns of a cell.
        let (share, per_cell) = match self.above.map(|above| self.per_cell(above)) {
            None => (1.0, below),
            Some(above) => (above / (below + above), 2.0 * below * above / (below + above)),
        };
        let n = (self.size * 1e6 / per_cell).powf(1.0 / dim as f64).round().max(2.0) as usize;
        let (min, max, cells) = ([-1.0; 3], [1.0; 3], [n; 3]);
        let lower = ((share * n as f64).round() as usize).clamp(1, n - 1);
        let diagonal = generate::Diagonal::Anti;
        let build = || match self.above {
            None => generate::Box { shape, min, max, cells, diagonal }.build(),
            Some(above) => generate::Stack { shapes: [shape, above], min, max, cells, lower }.build(),
        };
        on_periodic(build, dim, self.bend)
    }

    /// Measures on `machine`. A mixed mesh is measured after its parts alone, which have about as many
    /// unknowns each as in the mixed mesh.
    pub(super) fn measure(&self, machine: &Machine, host: &Arc<Host>) -> Result<Row, OpsError> {
        let Some(above) = self.above else { return Ok(self.measure_mesh(machine, host)?.0) };
        let part =
            |shape| Self { shape, above: None, size: 0.5 * self.size, ..*self }.measure_mesh(machine, host);
        let parts = [part(self.shape)?.0, part(above)?.0];
        let (row, summary) = self.measure_mesh(machine, host)?;
        // The mean, weighted with the shares of the unknowns.
        let mean = |of: &dyn Fn(&Row) -> f64| {
            let term = |p: &PartSummary| {
                let alone = usize::from(p.shape != self.shape);
                of(&parts[alone]) * (p.elements * p.n_basis * (self.shape.dim() + 2)) as f64 / row.dofs
            };
            summary.iter().map(term).sum::<f64>()
        };
        Ok(Row {
            bytes: [0, 1].map(|i| mean(&|part| part.bytes[i])),
            flops: mean(&|part| part.flops),
            of_parts: Some([0, 1].map(|i| row.dofs * mean(&|part| part.time[i] / part.dofs) / row.time[i])),
            ..row
        })
    }

    fn measure_mesh(&self, machine: &Machine, host: &Arc<Host>) -> Result<(Row, Vec<PartSummary>), OpsError> {
        if self.single {
            self.measure_in::<f32>(machine, host)
        } else {
            self.measure_in::<f64>(machine, host)
        }
    }

    fn measure_in<T>(&self, machine: &Machine, host: &Arc<Host>) -> Result<(Row, Vec<PartSummary>), OpsError>
    where
        T: PackScalar,
        Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
        Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
        Diffusive<NavierStokes, 2, 4>: DiffusionKernels<T>,
        Diffusive<NavierStokes, 3, 5>: DiffusionKernels<T>,
    {
        let wave = Wave(self.shape.dim());
        let timed = timed(machine, host, (self.mesh()?, self.scheme(), self.equation::<T>()), &wave)?;
        Ok((self.row::<T>(timed.time, &timed.parts[0], timed.dofs as f64, timed.resources), timed.parts))
    }

    fn equation<T>(&self) -> Equation<T>
    where
        T: PackScalar,
        Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
        Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
        Diffusive<NavierStokes, 2, 4>: DiffusionKernels<T>,
        Diffusive<NavierStokes, 3, 5>: DiffusionKernels<T>,
    {
        let (law, flux, dim) = (Euler { gamma: 1.4 }, Rusanov, self.shape.dim());
        let kernels: Box<dyn PointKernels<T>> = if dim == 2 {
            Box::new(Pointwise::<_, _, 2, 4> { law, flux })
        } else {
            Box::new(Pointwise::<_, _, 3, 5> { law, flux })
        };
        let mut equation = Equation::from(kernels);
        match self.flow {
            Flow::Euler => {}
            Flow::Source => equation = equation.with_source(Arc::new(Heating::new(dim))),
            Flow::NavierStokes => equation = equation.with_diffusion(diffusion(law, dim)),
        }
        if let Form::Split(flux) = self.form {
            equation = equation.with_two_point(if dim == 2 {
                SplitForms::<T, 2, 4>::two_point(&law, flux)
            } else {
                SplitForms::<T, 3, 5>::two_point(&law, flux)
            });
        }
        equation
    }

    /// The kernels of a device in double precision on a mesh of a few elements.
    pub(super) fn chosen(&self, host: &Arc<Host>) -> Result<Vec<ChosenKernels>, OpsError> {
        let mesh = Self { size: 0.0, ..*self }.mesh()?;
        CudaDiscretization::<f64>::chosen(mesh, &self.scheme(), self.equation(), Vec::new(), Arc::clone(host))
    }

    fn row<T: PackScalar>(
        &self,
        time: [f64; 2],
        part: &PartSummary,
        dofs: f64,
        resources: Option<(u32, u32)>,
    ) -> Row {
        let s = T::BYTES as f64;
        let fields = self.shape.dim() + 2;
        let shared = shared_bytes(part, (self.shape, fields), s, self.flow == Flow::NavierStokes);
        Row {
            model: self.flow.name(),
            shape: self.name(),
            geometry: self.bend.name(),
            form: self.form.name(),
            precision: if self.single { "single" } else { "double" },
            order: self.order,
            dofs,
            time,
            bytes: [2.0 * s + shared, 4.0 * s + shared],
            flops: 2.0 * part.multiply_adds as f64 / part.n_basis as f64,
            of_parts: None,
            resources,
        }
    }
}

/// Measured times of an equation.
pub(super) struct Timed {
    /// Seconds of the residual and of the fused stage.
    pub(super) time: [f64; 2],
    pub(super) parts: Vec<PartSummary>,
    pub(super) dofs: usize,
    /// Registers per thread and bytes of local memory.
    pub(super) resources: Option<(u32, u32)>,
}

/// Measures the residual of an equation without boundaries, alone and fused with a stage.
pub(super) fn timed<T: PackScalar>(
    machine: &Machine,
    host: &Arc<Host>,
    (mesh, scheme, equation): (Arc<Mesh>, Scheme, Equation<T>),
    initial: &dyn Exact,
) -> Result<Timed, OpsError> {
    let weights = StageWeights { a: -0.5, b: 0.0, c: 0.1, dt: 1e-9, keep: true };
    let zeros = |n: usize| vec![T::from_f64(0.0); n];
    match machine {
        Machine::Host => {
            let mut d = Discretization::new(mesh, &scheme, equation, Vec::new(), Arc::clone(host))?;
            let (mut u, mut du, mut next) = (zeros(d.len()), zeros(d.len()), zeros(d.len()));
            d.project(initial, 0.0, &mut u);
            let residual = median(|| d.eval(0.0, &u, &mut du));
            let stage = median(|| d.stage(0.0, weights, &u, None, &mut du, &mut next));
            Ok(Timed { time: [residual, stage], parts: d.summary(), dofs: d.dofs(), resources: None })
        }
        Machine::Cuda(cuda) => {
            let host = Arc::clone(host);
            let mut d = CudaDiscretization::new(mesh, &scheme, equation, Vec::new(), host, cuda)?;
            let mut values = zeros(d.len());
            d.description().project(initial, 0.0, &mut values);
            let u = DeviceBuffer::from_slice(cuda, "the state", &values)?;
            let mut du = DeviceBuffer::zeros(cuda, "the register", d.len())?;
            let mut next = DeviceBuffer::zeros(cuda, "the next state", d.len())?;
            d.set_step(weights.dt)?;
            d.prepare_residuals()?;
            d.prepare_stages()?;
            let residual = cuda.median_time(RUNS, || d.eval(0.0, &u, &mut du))?;
            du.clear(cuda.stream())?;
            let stage =
                cuda.median_time(RUNS, || d.stage(0.0, 1.0, weights, &u, None, &mut du, &mut next))?;
            let resources = d.resources()?.first().map(|r| (r.1, r.2));
            let mut parts = d.description().summary();
            let direct = d.writes_traces().all(|written| !written);
            parts.iter_mut().for_each(|part| part.direct_traces = direct);
            Ok(Timed { time: [residual, stage], parts, dofs: d.description().dofs(), resources })
        }
    }
}

/// Bytes per degree of freedom besides states and registers: geometry, neighbours, traces, and what diffusion
/// adds. Numbers have `s` bytes.
pub(super) fn shared_bytes(
    part: &PartSummary,
    (shape, fields): (Shape, usize),
    s: f64,
    viscous: bool,
) -> f64 {
    let dim = shape.dim();
    let per_element = part.n_basis * fields;
    let curved = part.rule != MetricRule::Affine;
    let points = if curved { part.volume_points } else { 1 };
    let face_points = if curved { part.face_points } else { shape.n_faces() };
    let inverse = match part.rule {
        MetricRule::Affine | MetricRule::Reference => 0,
        MetricRule::Collocated => points,
        MetricRule::WeightAdjusted => points + part.n_basis + 1,
        MetricRule::Stored => part.n_basis * part.n_basis,
    };
    let geometry = match part.map_numbers {
        0 => points * dim * dim + face_points * (dim + 1) + inverse,
        n => n,
    } as f64
        * s;
    let neighbours = shape.n_faces() as f64 * 5.0;
    let traces = if part.direct_traces { 0.0 } else { 3.0 * (part.face_points * fields) as f64 * s };
    // Published fluxes, rows stored between the passes, and the geometry read again.
    let published = 3.0 * (part.face_points * fields) as f64 * s;
    let kept = (2 * per_element) as f64 * s;
    let viscous = if viscous { geometry + neighbours + published + kept } else { 0.0 };
    (geometry + neighbours + traces + viscous) / per_element as f64
}

/// A source of energy that changes with time and place.
struct Heating(Recording);

impl Heating {
    fn new(dim: usize) -> Self {
        Self(Recording::new(move |t, x| {
            let mut numbers = vec![Sym::lit(0.0); dim + 1];
            numbers.push(Sym::lit(1e-3) * (x[0] + x[1] + t).sin());
            numbers
        }))
    }
}

impl Source for Heating {
    fn n_fields(&self) -> usize {
        self.0.n_outputs()
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        self.0.eval_batch(t, x, out);
    }

    fn is_steady(&self) -> bool {
        !self.0.depends_on_time()
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        self.0.device_fn("source", parameters)
    }
}

/// Viscosity and heat conduction of a gas.
fn diffusion<T>(gas: Euler, dim: usize) -> Box<dyn DiffusionKernels<T>>
where
    Diffusive<NavierStokes, 2, 4>: DiffusionKernels<T>,
    Diffusive<NavierStokes, 3, 5>: DiffusionKernels<T>,
{
    let viscosity = Viscosity::Constant { mu: 1e-3 };
    let diffusion = NavierStokes { gas, prandtl: 0.72, viscosity, gas_constant: 1.0, closure: None };
    if dim == 2 {
        Box::new(Diffusive::<_, 2, 4> { diffusion })
    } else {
        Box::new(Diffusive::<_, 3, 5> { diffusion })
    }
}

/// Number of runs; the median counts.
pub(super) const RUNS: usize = 21;

/// Returns the median time of one call, from at least nine calls and 0.3 s.
pub(super) fn median(mut call: impl FnMut()) -> f64 {
    call();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 9 || begin.elapsed().as_secs_f64() < 0.3 {
        let t = Instant::now();
        call();
        times.push(t.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
