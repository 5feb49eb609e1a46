//! Conditions whose data are numbers of the state at a height above the boundary, such as wall models.

use crate::formulas::boundary::BoundaryKernel;
use crate::formulas::diffusive_boundary::DiffusiveBoundaryKernel;
use crate::space::above::Height;
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use dgsuite_physics::{AboveWall, Diffusion, Real};

/// The data of a condition from the state at a height, evaluated at many points.
pub trait AboveWallKernel<T>: Send + Sync {
    /// The height.
    fn height(&self) -> Height;

    /// Computes the data of points, `[point][field]`, from the states at the heights, `[point][field]`; the
    /// outward unit `normal` is `[point][D]`.
    fn data(&self, above: &[T], normal: &[T], heights: &[T], data: &mut [T]);

    /// Returns the text of the CUDA function `wall_data(above, n, height, out)` and adds its parameters to
    /// `parameters`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The [`AboveWallKernel`] of diffusive flux `V` and condition `B`.
#[derive(Clone, Debug)]
pub struct AboveWallOf<V, B, const D: usize, const N: usize> {
    /// The diffusive flux.
    pub diffusion: V,
    /// The condition.
    pub condition: B,
    /// The height.
    pub height: Height,
}

impl<T, V, B, const D: usize, const N: usize> AboveWallKernel<T> for AboveWallOf<V, B, D, N>
where
    T: Real,
    V: Diffusion<D, N>,
    B: AboveWall<V, D, N>,
{
    fn height(&self) -> Height {
        self.height
    }

    fn data(&self, above: &[T], normal: &[T], heights: &[T], data: &mut [T]) {
        let points = above.chunks_exact(N).zip(normal.chunks_exact(D)).zip(heights);
        for (((above, n), &height), data) in points.zip(data.chunks_exact_mut(N)) {
            let above = std::array::from_fn(|k| above[k]);
            let n = std::array::from_fn(|d| n[d]);
            data.copy_from_slice(&self.condition.wall_data(&self.diffusion, &above, &n, height));
        }
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        let arguments = [("above", N), ("n", D), ("height", 1)];
        device_fn("wall_data", &arguments, parameters, |a| {
            let [height] = a.array("height");
            self.condition.wall_data(&self.diffusion, &a.array("above"), &a.array("n"), height)
        })
    }
}

/// A boundary condition whose data come from above the boundary.
pub struct WithDataAbove<T> {
    /// The condition.
    pub condition: Box<dyn BoundaryKernel<T>>,
    /// Its data.
    pub above: Box<dyn AboveWallKernel<T>>,
}

impl<T: Send + Sync> BoundaryKernel<T> for WithDataAbove<T> {
    fn outer(&self, um: &[T], normal: &[T], data: &[T], up: &mut [T]) {
        self.condition.outer(um, normal, data, up);
    }

    fn diffusive(&self) -> Option<&dyn DiffusiveBoundaryKernel<T>> {
        self.condition.diffusive()
    }

    fn above(&self) -> Option<&dyn AboveWallKernel<T>> {
        Some(self.above.as_ref())
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        self.condition.device_source(parameters)
    }
}
