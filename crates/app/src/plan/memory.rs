//! Memory that a run needs, estimated from its elements before it is allocated.
//!
//! An operating system that overcommits memory kills a program without a message. An error before the
//! allocation can suggest a remedy.

use std::fs;
use std::path::Path;

use dgsuite_basis::{Polynomials, Shape, lattice::lattice_len};

use super::print::{bytes, grouped};
use crate::pipeline::elliptic::EllipticPipeline;
use crate::pipeline::mesh::{Filling, Generator};
use crate::pipeline::physics::Model;
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::source::Place;
use crate::pipeline::{DeviceSpec, Pipeline};
use crate::systems::hyperbolic::{Device, Precision};

/// Bytes of the mesh and of the solver's geometry and connectivity for each side of an element, as measured
/// on affine elements of all shapes at order 0: 112 to 139 once everything is set up.
const SIDE: f64 = 120.0;

/// Number of vectors of conjugate gradients: solution, right-hand side, residual, direction, its product, the
/// preconditioned residual.
const KRYLOV_VECTORS: usize = 6;

/// The highest order of the geometry that is considered; meshes have less.
const MAX_GEOMETRY: usize = 20;

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
}

impl Load {
    /// Returns the needs of a model in time on the host. On a device, which stores the states, the host
    /// stores one state for results.
    pub(super) fn of_flow(file: &Pipeline) -> Self {
        Self {
            order: file.space.order,
            total: file.space.polynomials == Some(Polynomials::Total),
            unknowns: match file.physics.model {
                Model::Advection { .. } => |_| 1,
                Model::Incompressible { .. } => |dim| dim + 1,
                _ => |dim| dim + 2,
            },
            vectors: match (on_host(&file.device), &file.incompressible) {
                (false, _) => 1,
                (true, None) => file.time.scheme.n_vectors() + 1,
                (true, Some(law)) => 2 * law.time_order + KRYLOV_VECTORS,
            },
            number: match file.precision {
                Precision::Double => 8,
                Precision::Single => 4,
            },
            geometry: file.mesh.map.as_ref().map_or(1, |map| map.order),
        }
    }

    /// Returns the needs of an elliptic problem, without its preconditioner.
    pub(super) fn of_poisson(file: &EllipticPipeline) -> Self {
        Self {
            order: file.space.order,
            total: false,
            unknowns: |_| 1,
            vectors: if on_host(&file.device) { KRYLOV_VECTORS } else { 1 },
            number: 8,
            geometry: file.mesh.map.as_ref().map_or(1, |map| map.order),
        }
    }

    /// Bytes per element.
    fn of(&self, shape: Shape) -> f64 {
        let simplex = if shape.dim() == 2 { Shape::Triangle } else { Shape::Tetrahedron };
        let functions = lattice_len(if self.total { simplex } else { shape }, self.order);
        let state = functions * (self.unknowns)(shape.dim()) * self.vectors * self.number;
        let nodes =
            if self.geometry > 1 { 24 * lattice_len(shape, self.geometry.min(MAX_GEOMETRY)) } else { 0 };
        SIDE * shape.n_faces() as f64 + (state + nodes) as f64
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
        let needed: f64 = elements.iter().map(|&(shape, n)| n * self.of(shape)).sum();
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

/// Returns the memory available to this process: the memory of the machine, or the limit of its job or shell.
/// Only Linux reports it.
fn available() -> Option<f64> {
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
    use crate::pipeline::source::Source;

    fn load(order: usize, unknowns: fn(usize) -> usize) -> Load {
        Load { order, total: false, unknowns, vectors: 4, number: 8, geometry: 1 }
    }

    /// The largest resident sets of `dgsuite check` for generated boxes with the scheme `lserk54`, minus 9
    /// MiB for a program that does nothing.
    #[test]
    fn estimates_are_near_what_was_measured() {
        let (one, gas): (fn(usize) -> usize, fn(usize) -> usize) = (|_| 1, |dim| dim + 2);
        for (shape, elements, order, unknowns, measured) in [
            (Shape::Quadrilateral, 90_000.0, 1, gas, 94_164.0),
            (Shape::Quadrilateral, 10_000.0, 6, gas, 64_276.0),
            (Shape::Triangle, 125_000.0, 0, one, 47_332.0),
            (Shape::Quadrilateral, 90_000.0, 0, one, 42_324.0),
            (Shape::Tetrahedron, 82_944.0, 0, one, 47_624.0),
            (Shape::Hexahedron, 64_000.0, 0, one, 53_204.0),
            (Shape::Prism, 65_536.0, 0, one, 41_956.0),
            (Shape::Pyramid, 63_888.0, 0, one, 44_436.0),
            (Shape::Hexahedron, 64_000.0, 3, one, 207_072.0),
        ] {
            let ratio = elements * load(order, unknowns).of(shape) / (1024.0 * measured);
            assert!((0.8..1.15).contains(&ratio), "{shape}, order {order}: {ratio}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let place = Place::whole(&Source::new("case.yaml", "mesh: {}"));
        let elements = [(Shape::Quadrilateral, 36e6)];
        let load = load(10, |dim| dim + 2);
        let refused = load.fits_into(24.0 * f64::powi(2.0, 30), &elements, &place).unwrap_err().to_string();
        for part in ["36,000,000 elements of order 10", "about 535", "24.00 GiB", "space.order"] {
            assert!(refused.contains(part), "`{part}` is not in: {refused}");
        }
        assert!(load.fits_into(1e12, &elements, &place).is_ok());
        assert!(available().is_none_or(|there| there > 1e6));
    }
}
