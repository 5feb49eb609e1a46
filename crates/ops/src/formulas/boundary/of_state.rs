//! Boundary conditions whose numbers are formulas of the inner state: outlets with a valve, blowing walls.
//!
//! The data of such a condition are place and time. From these and the inner state the formulas compute the
//! data of another condition, which does the rest. On a device the functions of this other condition are in
//! the namespace `given`.

use super::BoundaryKernel;
use crate::formulas::diffusive_boundary::DiffusiveBoundaryKernel;
use crate::lanes::simd::PackScalar;
use dgsuite_physics::trace::{Parameters, Recording, StateRecording, TraceError, device_fn};
use dgsuite_physics::{Law, Real};
use std::cell::RefCell;
use std::sync::Arc;

/// A condition with the data `formulas(w, x, t)`, where `w` are the primitive unknowns of the inner state.
///
/// Its own data are those of [`place_and_time`]: the `D` coordinates, then the time, so that `D < N`. In
/// single precision they are rounded to it.
pub struct OfState<T, L, const D: usize, const N: usize> {
    /// The law, which computes the primitive unknowns.
    pub law: L,
    /// The data of `condition`: `N` numbers.
    pub formulas: Arc<StateRecording>,
    /// The condition with these data.
    pub condition: Box<dyn BoundaryKernel<T>>,
}

thread_local! {
    /// Columns of variables, kept between steps.
    static COLUMNS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

impl<T, L, const D: usize, const N: usize> OfState<T, L, D, N>
where
    T: PackScalar,
    L: Law<D, N>,
{
    /// The number of variables: the unknowns, three coordinates and the time.
    const VARIABLES: usize = N + 4;

    /// Computes the data of `condition` at all points.
    fn given(&self, um: &[T], place: &[T]) -> Vec<T> {
        let n = um.len() / N;
        let mut out = vec![T::from_f64(0.0); um.len()];
        if n == 0 {
            return out;
        }
        COLUMNS.with_borrow_mut(|columns| {
            columns.clear();
            columns.resize(Self::VARIABLES * n, 0.0);
            for (i, (u, at)) in um.chunks_exact(N).zip(place.chunks_exact(N)).enumerate() {
                let w = self.law.to_primitive::<f64>(&std::array::from_fn(|k| u[k].to_f64()));
                (0..N).for_each(|k| columns[k * n + i] = w[k]);
                (0..D).for_each(|d| columns[(N + d) * n + i] = at[d].to_f64());
                columns[(N + 3) * n + i] = at[D].to_f64();
            }
            let slices: Vec<&[f64]> = columns.chunks_exact(n).collect();
            self.formulas.eval_batch(n, &slices, |k, first, values| {
                values.iter().enumerate().for_each(|(i, v)| out[(first + i) * N + k] = T::from_f64(*v));
            });
        });
        out
    }

    /// Prints `given_data(um, place, out)`, which computes the data of `condition`.
    fn printed(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        device_fn("given_data", &[("um", N), ("place", N)], parameters, |a| {
            let place: [_; N] = a.array("place");
            let x = std::array::from_fn(|d| if d < D { place[d] } else { Real::lit(0.0) });
            self.formulas.eval(&self.law.to_primitive(&a.array("um")), &x, place[D])
        })
    }
}

/// Prints a function of the given name that calls the one in `given` with the data of the inner condition:
/// `arguments` are names and lengths, with `data` in the last place.
fn calling(name: &str, arguments: &[(&str, usize)], n: usize) -> String {
    let declared =
        arguments.iter().fold(String::new(), |text, (a, n)| text + &format!("const real (&{a})[{n}], "));
    let passed = arguments
        .iter()
        .fold(String::new(), |text, (a, _)| text + if *a == "data" { "given_values" } else { a } + ", ");
    format!(
        "__device__ __forceinline__ void {name}(const Parameters& parameters, {declared}real (&out)[{n}]) {{\n  \
         real given_values[{n}];\n  given_data(parameters, um, data, given_values);\n  \
         given::{name}(parameters, {passed}out);\n}}\n"
    )
}

impl<T, L, const D: usize, const N: usize> BoundaryKernel<T> for OfState<T, L, D, N>
where
    T: PackScalar,
    L: Law<D, N>,
{
    fn outer(&self, um: &[T], normal: &[T], data: &[T], up: &mut [T]) {
        self.condition.outer(um, normal, &self.given(um, data), up);
    }

    fn diffusive(&self) -> Option<&dyn DiffusiveBoundaryKernel<T>> {
        self.condition.diffusive().map(|_| self as &dyn DiffusiveBoundaryKernel<T>)
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        let given = self.condition.device_source(parameters)?;
        let data = self.printed(parameters)?;
        let outer = calling("outer", &[("um", N), ("n", D), ("data", N)], N);
        Ok(format!("namespace given {{\n{given}}}\n{data}{outer}"))
    }
}

/// The diffusive part of the other condition.
///
/// # Panics
/// If it has none; [`BoundaryKernel::diffusive`] then returns `None`.
impl<T, L, const D: usize, const N: usize> DiffusiveBoundaryKernel<T> for OfState<T, L, D, N>
where
    T: PackScalar,
    L: Law<D, N>,
{
    fn face_state(&self, um: &[T], normal: &[T], data: &[T], ub: &mut [T]) {
        let condition = self.condition.diffusive().expect("a condition with a diffusive part");
        condition.face_state(um, normal, &self.given(um, data), ub);
    }

    fn normal_flux(
        &self,
        um: &[T],
        ub: &[T],
        gradient: &[T],
        normal: &[T],
        data: &[T],
        coefficients: &[f64],
        flux: &mut [T],
    ) {
        let condition = self.condition.diffusive().expect("a condition with a diffusive part");
        condition.normal_flux(um, ub, gradient, normal, &self.given(um, data), coefficients, flux);
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        let condition = self.condition.diffusive().expect("a condition with a diffusive part");
        let given = condition.device_source(parameters)?;
        let data = self.printed(parameters)?;
        let state = calling("face_state", &[("um", N), ("n", D), ("data", N)], N);
        let arguments = [("um", N), ("ub", N), ("grad", D * N), ("n", D), ("data", N)];
        let flux = calling("boundary_flux", &arguments, N);
        Ok(format!("namespace given {{\n{given}}}\n{data}{state}{flux}"))
    }
}

/// Returns the data of conditions with these formulas, `n` numbers for each point: `dim` coordinates, the
/// time (0 if no formula depends on it), zeros.
pub fn place_and_time(formulas: &StateRecording, dim: usize, n: usize) -> Recording {
    Recording::new(|t, x| {
        let time = if formulas.depends_on_time() { t } else { Real::lit(0.0) };
        let mut all = x[..dim].to_vec();
        all.push(time);
        all.resize_with(n, || Real::lit(0.0));
        all
    })
}
