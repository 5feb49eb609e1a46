//! Flux reconstruction: equivalence to other schemes for certain parameters, and stable steps.

use crate::laws::diffusion::viscous;
use crate::testkit::{Cells, euler, mesh, shake, wavy};
use dgsuite_basis::correction::{Parameter, c_minus};
use dgsuite_basis::{NodeSet, Representation, Shape};
use dgsuite_gpu::{Host, SimdLevel};
use dgsuite_ops::{Discretization, Form, Pointwise, Scheme};
use dgsuite_physics::{Advection, Rusanov};
use std::sync::Arc;

/// The largest difference between the residuals of a smooth state, relative to the largest entry; with or
/// without viscosity.
fn difference(cells: Cells, geometry: usize, a: &Scheme, b: &Scheme, diffusion: bool) -> f64 {
    let mesh = mesh(cells, 2, geometry, true);
    let rate = |scheme: &Scheme| {
        let mut d = match diffusion {
            true => viscous::<f64>(&mesh, scheme, None, None, 1, SimdLevel::detect()),
            false => euler::<f64>(&mesh, scheme, None, 1),
        };
        let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
        d.project(&wavy(cells.dim()), 0.0, &mut u);
        shake(&d, &mut u);
        d.eval(0.0, &u, &mut du);
        d.to_canonical(&du)
    };
    let (a, b) = (rate(a), rate(b));
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(&b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// At Gauss points, and on affine simplices, the matrices for `c = 0` are those of collocated discontinuous
/// Galerkin. So are those of g₂ at Gauss–Lobatto points with the lumped mass (Huynh 2007; De Grazia et al.
/// 2014). Other parameters lead to other schemes.
#[test]
fn some_parameters_are_discontinuous_galerkin() {
    let zero = Parameter::C(0.0);
    let (gauss, lobatto) = (NodeSet::GaussLegendre, NodeSet::GaussLobatto);
    let shape = Cells::Of;
    for (cells, geometry, set, parameter) in [
        (shape(Shape::Quadrilateral), 1, gauss, zero),
        (shape(Shape::Quadrilateral), 2, gauss, zero),
        (shape(Shape::Hexahedron), 1, gauss, zero),
        (shape(Shape::Triangle), 1, gauss, zero),
        (shape(Shape::Triangle), 1, lobatto, zero),
        (shape(Shape::Tetrahedron), 1, lobatto, zero),
        (shape(Shape::Prism), 1, gauss, zero),
        (shape(Shape::Quadrilateral), 1, lobatto, Parameter::Huynh),
        (shape(Shape::Quadrilateral), 2, lobatto, Parameter::Huynh),
        (shape(Shape::Hexahedron), 2, lobatto, Parameter::Huynh),
    ] {
        for p in [2, 3] {
            let representation = Representation::Nodal(set);
            let dg = Scheme { representation, form: Form::Strong, ..Scheme::collocated(p) };
            let fr = |parameter| Scheme::flux_reconstruction(p, set, parameter);
            for diffusion in [false, true] {
                let same = difference(cells, geometry, &fr(parameter), &dg, diffusion);
                assert!(same < 1e-11, "{cells:?} geometry {geometry} p = {p} {set} {diffusion}: {same:.2e}");
                let other = difference(cells, geometry, &fr(Parameter::SpectralDifference), &dg, diffusion);
                assert!(other > 1e-4, "{cells:?} p = {p} {set} {diffusion}: {other:.2e}");
            }
        }
    }
}

/// The spectral radius of upwind advection, from the growth of a vector under many products.
fn spectral_radius(shape: Shape, p: usize, parameter: Parameter) -> f64 {
    let mesh = mesh(Cells::Of(shape), 3, 1, true);
    let law = Advection { velocity: [1.0, 0.4] };
    let physics = Box::new(Pointwise::<_, _, 2, 1> { law, flux: Rusanov });
    let scheme = Scheme::flux_reconstruction(p, NodeSet::GaussLegendre, parameter);
    let host = Arc::new(Host::new(1).expect("a machine"));
    let mut d = Discretization::<f64>::new(mesh, &scheme, physics, Vec::new(), host).expect("set up");
    let size = |u: &[f64]| u.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut u: Vec<f64> = (0..d.len()).map(|i| ((i * 7919 % 1009) as f64 / 1009.0) - 0.5).collect();
    let mut du = vec![0.0; d.len()];
    let (mut growth, warm, steps) = (0.0, 200, 400);
    for step in 0..warm + steps {
        d.eval(0.0, &u, &mut du);
        let s = size(&du);
        growth += if step < warm { 0.0 } else { s.ln() };
        u.iter_mut().zip(&du).for_each(|(u, du)| *u = du / s);
    }
    (growth / f64::from(steps)).exp()
}

/// Spectra shrink, and stable steps grow, with the parameter.
#[test]
fn larger_parameters_allow_larger_steps() {
    for (shape, factor) in [(Shape::Quadrilateral, Shape::Line), (Shape::Triangle, Shape::Triangle)] {
        for p in [2, 3] {
            let low = Parameter::C(0.5 * c_minus(factor, p).expect("a bound"));
            let parameters = [low, Parameter::C(0.0), Parameter::SpectralDifference, Parameter::Huynh];
            let radius = parameters.map(|c| spectral_radius(shape, p, c));
            println!("{shape} p = {p}: spectral radii {radius:.2?}");
            assert!(radius.windows(2).all(|w| w[1] < 0.97 * w[0]), "{shape} p = {p}: {radius:?}");
        }
    }
}
