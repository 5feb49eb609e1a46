//! Memory that a run needs, estimated from its elements before it is allocated.
//!
//! An operating system that overcommits memory kills a program without a message. An error before the
//! allocation can suggest a remedy.

use std::fs;
use std::path::Path;

use dgsuite_basis::{Polynomials, Shape, lattice::lattice_len};
use dgsuite_mesh::SetSize;

use super::print::bytes;
use crate::file::number::grouped;
use crate::file::problem::{InputError, Problem};
use crate::file::source::Place;
use crate::outputs::named::FieldSpec;
use crate::outputs::{checkpoint, fields};
use crate::pipeline::elliptic::EllipticPipeline;
use crate::pipeline::mesh::{Filling, Generator};
use crate::pipeline::physics::Model;
use crate::pipeline::{DeviceSpec, Pipeline};
use dgsuite_solve::flow::{Device, Precision};
use dgsuite_solve::setup::{ImplicitSteps, Newton};

/// Bytes of the mesh and of the solver's geometry and connectivity for each side of an element, as measured
/// on affine elements of all shapes at order 0: 112 to 139 once everything is set up.
const SIDE: f64 = 120.0;

/// Numbers that an explicit solver stores for each point of a side and each unknown: traces and fluxes, as
/// measured.
const TRACES: f64 = 1.7;

/// Numbers that viscous terms store for each derivative of an unknown at a point of a volume, as measured:
/// most are computed where they are used.
const DERIVATIVES: [f64; 2] = [0.2, 0.8];

/// Times that a point of the fields of a result is in memory while it is written: sampled, in blocks of its
/// file, and compressed.
const COPIES: f64 = 4.4;

/// Bytes that the program itself needs.
const PROGRAM: f64 = 20.0 * 1024.0 * 1024.0;

/// The highest order of the geometry that is considered; meshes have less.
const MAX_GEOMETRY: usize = 20;

/// How a solver stores its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Explicit steps; with derivatives of the unknowns for viscous terms.
    Explicit { viscous: bool },
    /// Incompressible flow: past velocities, convective terms and pressures, operators of both, and the
    /// levels of the pressure's multigrid.
    Incompressible,
    /// An operator with its multigrid.
    Elliptic,
}

impl Family {
    /// Bytes of operators, levels and vectors: for each element, and for each basis function, as measured at
    /// orders 2 and 4 in periodic boxes.
    fn solver(self, shape: Shape) -> [f64; 2] {
        match (self, shape) {
            (Self::Explicit { .. }, _) => [0.0, 0.0],
            (Self::Incompressible, Shape::Triangle) => [3260.0, 1190.0],
            (Self::Incompressible, Shape::Quadrilateral) => [4500.0, 1170.0],
            (Self::Incompressible, Shape::Tetrahedron) => [2950.0, 1950.0],
            (Self::Incompressible, _) => [5550.0, 1990.0],
            (Self::Elliptic, Shape::Triangle) => [1610.0, 173.0],
            (Self::Elliptic, Shape::Quadrilateral) => [2370.0, 200.0],
            (Self::Elliptic, Shape::Tetrahedron) => [2780.0, 224.0],
            (Self::Elliptic, _) => [7200.0, 230.0],
        }
    }
}

/// Data that a run stores for each element.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Polynomial order.
    pub order: usize,
    /// Whether polynomials are of total degree on all shapes.
    pub total: bool,
    /// Unknowns for each basis function, as a function of the dimension.
    pub unknowns: fn(usize) -> usize,
    /// Number of states stored at the same time.
    pub vectors: usize,
    /// Bytes per number.
    pub number: usize,
    /// Order of the geometry of the mesh.
    pub geometry: usize,
    family: Family,
    /// Whether the solver's data are in the memory of this machine, not of a device.
    host: bool,
    /// Numbers at each point of the fields of results, and of means.
    written: usize,
    averaged: usize,
    /// States in a checkpoint.
    saved: usize,
    /// Newton steps, if there are some.
    newton: Option<Newton>,
    /// Implicit steps in time, if there are some.
    steps: Option<ImplicitSteps>,
}

/// Returns the numbers at a point that fields of these names have.
fn numbers(fields: &[FieldSpec]) -> usize {
    let of = |field: &FieldSpec| match field.name.value.as_str() {
        "Velocity" | "Momentum" | "Vorticity" if field.formula.is_none() => 3,
        _ => 1,
    };
    fields.iter().map(of).sum()
}

impl Load {
    /// Returns the needs of a mesh with a geometry of this order alone.
    pub(super) fn of_mesh(geometry: usize) -> Self {
        let family = Family::Explicit { viscous: false };
        Self {
            order: 0,
            total: false,
            unknowns: |_| 0,
            vectors: 0,
            number: 8,
            geometry,
            family,
            host: true,
            written: 0,
            averaged: 0,
            saved: 0,
            newton: None,
            steps: None,
        }
    }

    /// Returns the needs of a model in time. On a device, which stores the solver's data, the host stores one
    /// state for results.
    pub(super) fn of_flow(file: &Pipeline) -> Self {
        let steps = file.time.implicit.as_ref().map(|steps| steps.value);
        let newton = file.time.newton.as_ref().map(|newton| newton.value);
        let newton = newton.or(steps.map(|steps| steps.newton));
        let host = on_host(&file.device);
        // Velocity has three components.
        let usual = match file.physics.model {
            Model::Advection { .. } => 1,
            Model::Incompressible { .. } => 4,
            _ => 5,
        };
        let of_names = |names: Option<&[FieldSpec]>| names.map_or(usual, numbers);
        Self {
            order: file.space.order,
            total: file.space.polynomials == Some(Polynomials::Total),
            unknowns: match file.physics.model {
                Model::Advection { .. } => |_| 1,
                Model::Incompressible { .. } => |dim| dim + 1,
                _ => |dim| dim + 2,
            },
            vectors: match (host, &file.incompressible) {
                (true, None) => file.time.scheme.n_vectors() + 1,
                _ => 1,
            },
            number: match file.precision {
                Precision::Double => 8,
                Precision::Single => 4,
            },
            geometry: file.mesh.map.as_ref().map_or(1, |map| map.order),
            family: match (&file.incompressible, &file.physics.model) {
                (Some(_), _) => Family::Incompressible,
                (None, model) => Family::Explicit { viscous: matches!(model, Model::NavierStokes { .. }) },
            },
            host,
            written: match file.output.is_off(fields::OUTPUT.name) {
                true => 0,
                false => of_names(file.output.fields.names.as_deref()),
            },
            averaged: file.output.given().map(|(_, spec)| spec.kept(&of_names)).sum(),
            saved: match (file.output.is_off(checkpoint::OUTPUT.name), &file.incompressible) {
                (true, _) => 0,
                (false, None) => 1 + usize::from(steps.is_some()),
                (false, Some(law)) => 2 * law.time_order,
            },
            newton,
            steps,
        }
    }

    /// Returns the needs of an elliptic problem.
    pub(super) fn of_poisson(file: &EllipticPipeline) -> Self {
        Self {
            order: file.space.order,
            total: false,
            unknowns: |_| 1,
            vectors: 1,
            number: 8,
            geometry: file.mesh.map.as_ref().map_or(1, |map| map.order),
            family: Family::Elliptic,
            host: on_host(&file.device),
            // Written after the solver's largest data are gone.
            written: 0,
            averaged: 0,
            saved: 0,
            newton: None,
            steps: None,
        }
    }

    /// Bytes per element of the incomplete factors of Newton steps at an order, for an element and its
    /// neighbours.
    fn factors(&self, shape: Shape, functions: usize) -> f64 {
        let n = (functions * (self.unknowns)(shape.dim())) as f64;
        16.0 * (1 + shape.n_faces()) as f64 * n * n
    }

    /// Bytes per element of Newton steps: factors, or blocks with their inverses where these do not fit, the
    /// factors of order one, the vectors of GMRES, and the tangent equation.
    fn newton(&self, shape: Shape, functions: usize, fits: bool) -> f64 {
        let Some(newton) = self.newton else { return 0.0 };
        let unknowns = (self.unknowns)(shape.dim());
        let n = (functions * unknowns) as f64;
        let smoother = if fits || self.order < 2 { self.factors(shape, functions) } else { 16.0 * n * n };
        let below = if self.order < 2 { 0.0 } else { self.factors(shape, lattice_len(shape, 1)) };
        let stages = self.steps.map_or(0, |steps| steps.scheme.n_stages() + 5);
        let vectors = (2 * newton.restart + 20 + stages) as f64 * 8.0 * n;
        smoother + below + vectors + 2.0 * self.solver(shape, functions, 2 * unknowns)
    }

    /// The number of basis functions of a shape.
    fn functions(&self, shape: Shape) -> usize {
        let simplex = if shape.dim() == 2 { Shape::Triangle } else { Shape::Tetrahedron };
        lattice_len(if self.total { simplex } else { shape }, self.order)
    }

    /// Bytes per element on this machine.
    fn of(&self, shape: Shape, fits: bool) -> f64 {
        let functions = self.functions(shape);
        let unknowns = (self.unknowns)(shape.dim());
        let state = functions * unknowns * self.number;
        let nodes =
            if self.geometry > 1 { 24 * lattice_len(shape, self.geometry.min(MAX_GEOMETRY)) } else { 0 };
        let points = lattice_len(shape, self.order.max(1)) as f64;
        let written = match self.written {
            0 => 0.0,
            numbers => COPIES * points * 8.0 * (3 + numbers) as f64,
        };
        let results = written + points * 8.0 * self.averaged as f64 + (state * self.saved) as f64;
        let solver = match self.host {
            true => self.solver(shape, functions, unknowns) + self.newton(shape, functions, fits),
            false => 0.0,
        };
        SIDE * shape.n_faces() as f64 + (state * self.vectors + nodes) as f64 + solver + results
    }

    /// Bytes per element of the solver's data beside the states of explicit steps.
    fn solver(&self, shape: Shape, functions: usize, unknowns: usize) -> f64 {
        let [of_element, of_function] = self.family.solver(shape);
        let explicit = match self.family {
            Family::Explicit { viscous } => {
                let dim = shape.dim();
                let sides: usize = (0..shape.n_faces())
                    .filter_map(|f| shape.face_shape(f))
                    .map(|face| lattice_len(face, self.order))
                    .sum();
                let derivatives = if viscous { DERIVATIVES[dim - 2] * (functions * dim) as f64 } else { 0.0 };
                (unknowns * self.number) as f64 * (TRACES * sides as f64 + derivatives)
            }
            _ => 0.0,
        };
        of_element + of_function * functions as f64 + explicit
    }

    /// Returns the bytes that a run with such elements is expected to need.
    #[must_use]
    pub fn needed(&self, elements: &[(Shape, f64)]) -> f64 {
        let factors = |&(shape, n): &(Shape, f64)| n * self.factors(shape, self.functions(shape));
        let most = self.newton.map_or(0.0, |newton| newton.factor_bytes as f64);
        let fits = elements.iter().map(factors).sum::<f64>() <= most;
        PROGRAM + elements.iter().map(|&(shape, n)| n * self.of(shape, fits)).sum::<f64>()
    }

    /// Returns the bytes that each of several ranks is expected to need, with equal parts of such elements.
    /// Solvers with an elliptic operator also have the whole mesh on each, with operators of order 1 on it
    /// and the levels below.
    #[must_use]
    pub fn on_each(&self, ranks: usize, elements: &[(Shape, f64)]) -> f64 {
        let share = PROGRAM + (self.needed(elements) - PROGRAM) / ranks as f64;
        let whole = Self { order: 1, unknowns: |_| 1, vectors: 1, family: Family::Elliptic, ..*self };
        let whole = Self { written: 0, averaged: 0, saved: 0, newton: None, steps: None, ..whole };
        match self.family {
            Family::Incompressible | Family::Elliptic if ranks > 1 => {
                share + whole.needed(elements) - PROGRAM
            }
            _ => share,
        }
    }

    /// Rejects elements that need more memory than is available.
    ///
    /// # Errors
    /// [`Problem::Memory`] at `place`.
    pub fn fits(&self, elements: &[(Shape, f64)], place: &Place) -> Result<(), InputError> {
        match available() {
            Some(there) => self.fits_into(there, elements, place),
            None => Ok(()),
        }
    }

    fn fits_into(&self, there: f64, elements: &[(Shape, f64)], place: &Place) -> Result<(), InputError> {
        let needed = self.needed(elements);
        if needed <= there {
            return Ok(());
        }
        let number: f64 = elements.iter().map(|(_, n)| n).sum();
        let problem = Problem::Memory {
            elements: grouped(number as usize),
            order: self.order,
            needed: bytes(needed as usize),
            there: bytes(there as usize),
        };
        Err(InputError::at(place, problem))
    }
}

/// Returns whether the run will be on the CPU, as far as the file determines it.
fn on_host(spec: &DeviceSpec) -> bool {
    match spec {
        DeviceSpec::Cpu => true,
        DeviceSpec::Auto => Device::auto().0 == Device::Cpu,
        DeviceSpec::Cuda(..) => false,
    }
}

/// Returns the elements of a box. For mixtures, all cells are assumed to have the shape with the fewest
/// elements.
pub(super) fn of_box(generator: &Generator) -> (Shape, f64) {
    let cells: f64 = generator.cells.iter().map(|&n| n as f64).product();
    let in_cell = |shape| match shape {
        Shape::Triangle | Shape::Prism => 2.0,
        Shape::Tetrahedron | Shape::Pyramid => 6.0,
        _ => 1.0,
    };
    let shape = match generator.shape {
        Filling::One(shape) => shape,
        Filling::Two([a, b]) => {
            if in_cell(a) < in_cell(b) {
                a
            } else {
                b
            }
        }
        Filling::All if generator.dim == 2 => Shape::Quadrilateral,
        Filling::All => Shape::Hexahedron,
    };
    (shape, cells * in_cell(shape))
}

/// The numbers of elements of each shape.
pub(super) fn in_sets(sets: &[SetSize]) -> Vec<(Shape, f64)> {
    sets.iter().map(|set| (set.shape, set.elements as f64)).collect()
}

/// Returns the largest memory that this process has had so far, in bytes. Only Linux reports it.
pub fn peak() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024.0 * line.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// Returns the memory available to this process: the memory of the machine, or the limit of its job or shell.
/// Only Linux reports it.
pub fn available() -> Option<f64> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let number = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
    let meminfo = read(Path::new("/proc/meminfo"))?;
    let machine = 1024.0 * number(meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?)?;
    let limits = read(Path::new("/proc/self/limits")).unwrap_or_default();
    let shell = limits.lines().find_map(|line| number(line.strip_prefix("Max address space")?));
    let mut least = machine.min(shell.unwrap_or(f64::INFINITY));
    // Control groups of both versions, with their parents.
    for line in read(Path::new("/proc/self/cgroup")).unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kind), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (base, file) = match kind {
            "" => ("/sys/fs/cgroup", "memory.max"),
            kind if kind.split(',').any(|k| k == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for group in Path::new(group.trim_start_matches('/')).ancestors() {
            let limit = read(&Path::new(base).join(group).join(file)).and_then(|text| number(&text));
            least = least.min(limit.unwrap_or(f64::INFINITY));
        }
    }
    Some(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::source::Source;

    fn load(order: usize, unknowns: fn(usize) -> usize, family: Family) -> Load {
        Load {
            order,
            total: false,
            unknowns,
            vectors: 3,
            number: 8,
            geometry: 1,
            family,
            host: true,
            written: 0,
            averaged: 0,
            saved: 0,
            newton: None,
            steps: None,
        }
    }

    /// The largest resident sets of runs of two steps without results in generated periodic boxes, in bytes
    /// an element, without the 19 MiB of the smallest run; of Poisson's equation with a boundary.
    #[test]
    fn estimates_are_near_what_was_measured() {
        let gas: fn(usize) -> usize = |dim| dim + 2;
        let (euler, viscous) = (Family::Explicit { viscous: false }, Family::Explicit { viscous: true });
        for (family, shape, order, measured) in [
            (euler, Shape::Triangle, 1, 902.0),
            (euler, Shape::Triangle, 3, 1944.0),
            (euler, Shape::Quadrilateral, 1, 1199.0),
            (euler, Shape::Quadrilateral, 3, 2886.0),
            (euler, Shape::Tetrahedron, 1, 2070.0),
            (euler, Shape::Tetrahedron, 3, 6050.0),
            (euler, Shape::Hexahedron, 1, 2847.0),
            (euler, Shape::Hexahedron, 3, 15_095.0),
            (viscous, Shape::Triangle, 3, 2058.0),
            (viscous, Shape::Quadrilateral, 3, 3164.0),
            (viscous, Shape::Tetrahedron, 3, 8344.0),
            (viscous, Shape::Hexahedron, 3, 19_297.0),
        ] {
            let ratio = load(order, gas, family).of(shape, true) / measured;
            assert!((0.8..1.2).contains(&ratio), "{family:?}, {shape}, order {order}: {ratio}");
        }
        for (family, shape, order, measured) in [
            (Family::Elliptic, Shape::Triangle, 4, 4206.0),
            (Family::Elliptic, Shape::Hexahedron, 2, 17_506.0),
            (Family::Incompressible, Shape::Quadrilateral, 4, 33_752.0),
            (Family::Incompressible, Shape::Tetrahedron, 2, 22_449.0),
        ] {
            let ratio = Load { vectors: 1, ..load(order, |_| 1, family) }.of(shape, true) / measured;
            assert!((0.8..1.2).contains(&ratio), "{family:?}, {shape}, order {order}: {ratio}");
        }
    }

    /// Poisson's equation in boxes: the largest resident set of a rank, in MiB.
    #[test]
    fn estimates_of_a_rank_are_near_what_was_measured() {
        for (shape, elements, order, measured) in [
            (Shape::Triangle, 28_800.0, 2, [112.0, 111.0]),
            (Shape::Triangle, 28_800.0, 5, [141.0, 121.0]),
            (Shape::Quadrilateral, 22_500.0, 2, [133.0, 129.0]),
            (Shape::Quadrilateral, 22_500.0, 5, [163.0, 153.0]),
            (Shape::Tetrahedron, 10_368.0, 2, [90.0, 89.0]),
            (Shape::Tetrahedron, 10_368.0, 5, [141.0, 118.0]),
            (Shape::Hexahedron, 8_000.0, 2, [174.0, 172.0]),
            (Shape::Hexahedron, 8_000.0, 5, [235.0, 222.0]),
        ] {
            let load = Load { vectors: 1, ..load(order, |_| 1, Family::Elliptic) };
            for (ranks, measured) in [2, 4].into_iter().zip(measured) {
                let expected = load.on_each(ranks, &[(shape, elements)]) / (1024.0 * 1024.0);
                let ratio = expected / measured;
                assert!((0.7..1.4).contains(&ratio), "{shape}, order {order}, {ranks} ranks: {ratio}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let place = Place::whole(&Source::new("case.yaml", "mesh: {}"));
        let elements = [(Shape::Quadrilateral, 36e6)];
        let load = load(10, |dim| dim + 2, Family::Explicit { viscous: false });
        let refused = load.fits_into(24.0 * f64::powi(2.0, 30), &elements, &place).unwrap_err().to_string();
        for part in ["36,000,000 elements of order 10", "of memory", "24.00 GiB", "space.order"] {
            assert!(refused.contains(part), "`{part}` is not in: {refused}");
        }
        assert!(load.fits_into(1e12, &elements, &place).is_ok());
        assert!(available().is_none_or(|there| there > 1e6));
    }
}
