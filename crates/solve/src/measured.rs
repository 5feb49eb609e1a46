//! Integrals of formulas of a state on a device, by kernels that the formulas are translated to.

use dgsuite_gpu::cuda::DeviceBuffer;
use dgsuite_ops::cuda::{CudaDiscretization, Integrand, Measures, PointRule};
use dgsuite_ops::{Discretization, PackScalar};
use dgsuite_physics::Real;
use dgsuite_physics::formula::Formula;
use dgsuite_physics::trace::{Arguments, Parameters, Sym, TraceError, device_fn};
use std::cell::RefCell;

/// Integrals of formulas of conserved variables, primitive variables and `x y z t`, by a rule of this degree;
/// `None` if the host must compute them.
pub(super) fn integrals<T: PackScalar>(
    on: &CudaDiscretization<T>,
    measures: &RefCell<Measures>,
    u: &DeviceBuffer<T>,
    formulas: &[Formula],
    degree: usize,
    t: f64,
) -> Option<Vec<f64>> {
    let fields = on.description().physics().n_fields();
    let formulas: Vec<&Formula> = formulas.iter().collect();
    let states = [("u", fields), ("w", fields)];
    let trace = |parameters: &mut Parameters| translated(&formulas, states, parameters);
    let integrand = Integrand::of_formulas(on, formulas.len(), trace).ok()?;
    let found = on.measure(&mut measures.borrow_mut(), u, PointRule::Degree(degree), &integrand, t)?;
    Some(found.0)
}

/// Integrals of formulas of primitive variables, their lifted derivatives `[axis][variable]` and `x y z t`,
/// with the conditions at boundaries of `outside`; `None` if the host must compute them.
pub(super) fn integrals_of_derivatives<T: PackScalar, S: PackScalar>(
    on: &CudaDiscretization<T>,
    measures: &RefCell<Measures>,
    u: &DeviceBuffer<T>,
    formulas: &[&Formula],
    degree: usize,
    t: f64,
    outside: &Discretization<S>,
) -> Option<Vec<f64>> {
    let physics = on.description().physics();
    let states = [("w", physics.n_fields()), ("h", physics.dim() * physics.n_fields())];
    let trace = |parameters: &mut Parameters| translated(formulas, states, parameters);
    let integrand = Integrand::of_gradients(on, formulas.len(), trace).ok()?;
    let rule = PointRule::Degree(degree);
    Some(on.measure_with(&mut measures.borrow_mut(), u, rule, &integrand, t, outside)?.0)
}

/// The text of `formulas(parameters, …states, x, t, out)`; the arguments of the formulas are those of the
/// states, then `x y z t`. A filter width, on which the formulas do not depend, may follow.
fn translated(
    formulas: &[&Formula],
    states: [(&str, usize); 2],
    parameters: &mut Parameters,
) -> Result<String, TraceError> {
    let [first, second] = states;
    device_fn("formulas", &[first, second, ("x", 3), ("t", 0)], parameters, |a: &Arguments<'_>| {
        let mut values: Vec<Sym> = a.list(first.0);
        values.extend(a.list(second.0));
        values.extend(a.list("x"));
        values.push(a.scalar("t"));
        let value = |formula: &&Formula| {
            let unused = formula.names().len().saturating_sub(values.len());
            formula.trace(&[&values[..], &vec![Sym::lit(0.0); unused]].concat())
        };
        formulas.iter().map(value).collect::<Vec<_>>()
    })
}
