//! The interior penalty operator as a row of the benchmark: `A u`, and a smoother's step with the diagonal.

use super::Row;
use super::case::{Bend, Machine, RUNS, median, on_periodic};
use dgsuite_amg::cuda::CudaJacobi;
use dgsuite_amg::{Jacobi, Preconditioner};
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::{Backend, Host};
use dgsuite_mesh::generate;
use dgsuite_ops::cuda::CudaSipdg;
use dgsuite_ops::{OpsError, PackScalar, Scheme, Sipdg, SipdgOptions};
use std::fmt;
use std::sync::Arc;

/// Factor of a smoother's step; its value does not matter here.
const BETA: f64 = 1e-3;

/// What to measure: `−∇²u + u` on a periodic box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Poisson {
    pub(super) shape: Shape,
    pub(super) bend: Bend,
    pub(super) order: usize,
    pub(super) single: bool,
    /// Millions of degrees of freedom.
    pub(super) size: f64,
    /// The row is the Helmholtz operator of incompressible flow.
    pub(super) in_step: bool,
}

impl fmt::Display for Poisson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bend, shape) = (self.bend.name(), self.shape.name());
        write!(f, "interior penalty on {bend} {shape} elements, p = {}", self.order)
    }
}

impl Poisson {
    /// Returns whether there is such an operator.
    pub(super) fn exists(&self) -> bool {
        self.order >= if self.bend == Bend::None { 1 } else { 2 }
    }

    /// Measures on `machine`.
    pub(super) fn measure(&self, machine: &Machine, host: &Arc<Host>) -> Result<Row, OpsError> {
        let (shape, dim) = (self.shape, self.shape.dim());
        let per_cell = match shape {
            Shape::Triangle | Shape::Prism => 2.0,
            Shape::Tetrahedron => 6.0,
            _ => 1.0,
        } * dgsuite_ops::basis_size(&Scheme::collocated(self.order), shape) as f64;
        let n = (self.size * 1e6 / per_cell).powf(1.0 / dim as f64).round().max(2.0) as usize;
        let (min, max, cells, diagonal) = ([-1.0; 3], [1.0; 3], [n; 3], generate::Diagonal::Anti);
        let mesh =
            on_periodic(|| generate::Box { shape, min, max, cells, diagonal }.build(), dim, self.bend)?;
        let one = |_: usize, _: [f64; 3]| 1.0;
        let options = SipdgOptions::new(self.order);
        let a = Sipdg::<f64>::new(mesh, &options, &one, &one, &[], Arc::clone(host))?;
        let (time, bytes) = match (machine, self.single) {
            (Machine::Host, false) => on_host(&a, host)?,
            (Machine::Host, true) => on_host(&a.single()?, host)?,
            (Machine::Cuda(cuda), false) => on_device::<f64>(&a, cuda)?,
            (Machine::Cuda(cuda), true) => on_device::<f32>(&a, cuda)?,
        };
        let (dofs, s) = (a.dofs() as f64, if self.single { 4.0 } else { 8.0 });
        // A step also reads the right-hand side, the inverse diagonal and the previous iterate.
        let bytes = [bytes as f64 / dofs, bytes as f64 / dofs + 3.0 * s];
        Ok(Row {
            model: if self.in_step { "incompressible" } else { "poisson" },
            shape: shape.name(),
            geometry: self.bend.name(),
            form: if self.in_step { "helmholtz" } else { "sip" },
            precision: if self.single { "single" } else { "double" },
            order: self.order,
            dofs,
            time,
            bytes,
            flops: 2.0 * a.multiply_adds() as f64 / dofs,
            of_parts: None,
            resources: None,
        })
    }
}

/// Numbers to fill a vector with.
fn numbers<T: PackScalar>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64((0.37 * i as f64).sin())).collect()
}

/// Returns the seconds of `A u` and of a step, and the bytes that `A u` moves.
fn on_host<T: PackScalar>(a: &Sipdg<T>, host: &Arc<Host>) -> Result<([f64; 2], usize), OpsError> {
    let vector = || host.upload(&numbers::<T>(a.len()));
    let (x, b, mut y, mut r, mut z) = (vector()?, vector()?, vector()?, vector()?, vector()?);
    let mut jacobi = Jacobi::from_inverse_diagonal(vector()?);
    Ok(host.install(|| {
        let product = median(|| a.apply(&x, &mut r));
        let step = median(|| {
            a.apply(&x, &mut r);
            jacobi.relax(BETA, &b, &mut r, &mut z, &x, &mut y);
        });
        ([product, step], 2 * a.len() * T::BYTES + a.bytes())
    }))
}

/// The same on a device; in single precision with the rounded products of preconditioners.
fn on_device<T: PackScalar>(a: &Sipdg<f64>, cuda: &Cuda) -> Result<([f64; 2], usize), OpsError> {
    let twin = CudaSipdg::<T>::rounded(cuda, a)?;
    let values: Vec<f64> = numbers(a.len());
    let vector = || twin.upload(&values);
    let (x, b, mut y, mut r, mut z, d) = (vector()?, vector()?, vector()?, vector()?, vector()?, vector()?);
    let mut jacobi = CudaJacobi::from_inverse_diagonal(vector()?)?;
    let product = cuda.median_time(RUNS, || twin.apply(&x, &mut r))?;
    // As multigrid does it.
    let one_pass = twin.is_faster_in_one_pass();
    let step = cuda.median_time(RUNS, || {
        if !one_pass || !twin.relax(BETA, &d, &b, &x, &mut y)? {
            twin.apply(&x, &mut r)?;
            jacobi.relax(BETA, &b, &mut r, &mut z, &x, &mut y);
        }
        Ok(())
    })?;
    cuda.take_failure()?;
    Ok(([product, step], twin.bytes_moved()))
}
