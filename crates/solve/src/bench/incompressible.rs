//! The first-order kernels of incompressible flow as rows of the benchmark.

use super::case::{Bend, Machine, on_periodic, shared_bytes, timed};
use super::{BenchError, Row};
use crate::incompressible::FirstOrder;
use dgsuite_basis::Shape;
use dgsuite_gpu::Host;
use dgsuite_mesh::generate;
use dgsuite_ops::Scheme;
use dgsuite_physics::Exact;
use std::fmt;
use std::sync::Arc;

/// What to measure, on a periodic box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    pub(super) what: FirstOrder,
    pub(super) shape: Shape,
    pub(super) bend: Bend,
    pub(super) order: usize,
    /// Millions of degrees of freedom.
    pub(super) size: f64,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, bend, shape) = (self.what.name(), self.bend.name(), self.shape.name());
        write!(f, "{what} of incompressible flow on {bend} {shape} elements, p = {}", self.order)
    }
}

/// A smooth flow of period 2 with this number of fields.
struct Wave(usize);

impl Exact for Wave {
    fn n_fields(&self) -> usize {
        self.0
    }

    fn eval(&self, _: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        let pi = std::f64::consts::PI;
        for (k, column) in out.iter_mut().enumerate() {
            column.clear();
            column.extend(x.iter().map(|x| (pi * x[k % 2]).sin() + 0.1 * k as f64));
        }
    }
}

impl Kernel {
    /// Measures on `machine`.
    pub(super) fn measure(&self, machine: &Machine, host: &Arc<Host>) -> Result<Row, BenchError> {
        let (shape, dim) = (self.shape, self.shape.dim());
        let failed = |error| BenchError::Operator { case: self.to_string(), error };
        let fields = self.what.fields(dim);
        let elements = match shape {
            Shape::Triangle | Shape::Prism => 2,
            Shape::Tetrahedron => 6,
            _ => 1,
        };
        let per_cell = elements * dgsuite_ops::basis_size(&Scheme::collocated(self.order), shape) * fields;
        let n = (self.size * 1e6 / per_cell as f64).powf(1.0 / dim as f64).round().max(2.0) as usize;
        let (min, max, cells, diagonal) = ([-1.0; 3], [1.0; 3], [n; 3], generate::Diagonal::Anti);
        let build = || generate::Box { shape, min, max, cells, diagonal }.build();
        let mesh = on_periodic(build, dim, self.bend).map_err(failed)?;
        let (scheme, equation) = self.what.posed(&mesh, self.order)?;
        let timed = timed(machine, host, (mesh, scheme, equation), &Wave(fields)).map_err(failed)?;
        let part = &timed.parts[0];
        let shared = shared_bytes(part, (shape, fields), 8.0, false);
        Ok(Row {
            model: "incompressible",
            shape: shape.name(),
            geometry: self.bend.name(),
            form: self.what.name(),
            precision: "double",
            order: self.order,
            dofs: timed.dofs as f64,
            time: timed.time,
            bytes: [16.0 + shared, 32.0 + shared],
            flops: 2.0 * part.multiply_adds as f64 / part.n_basis as f64,
            of_parts: None,
            resources: timed.resources,
        })
    }
}
