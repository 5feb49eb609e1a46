//! Split forms: equivalence to other schemes, and conserved quantities.

use crate::testkit::{Cells, GAS, euler, mesh, shake, wavy};
use dgsuite_basis::lattice::lattice;
use dgsuite_basis::{
    Correction, Cubature, ElementSpec, LagrangeBasis, NodeSet, Polynomials, ReferenceElement, Representation,
    Shape,
};
use dgsuite_gpu::Host;
use dgsuite_mesh::Mesh;
use dgsuite_ops::{Discretization, Equation, Form, PointKernels, Pointwise, Scheme, TwoPoint};
use dgsuite_physics::two_point::{Central, KennedyGruber, Ranocha};
use dgsuite_physics::{Advection, Euler, FaceMean, Law, NumericalFlux, Real, Roe, Rusanov, TwoPointFlux};
use std::sync::Arc;

const TENSOR: [Shape; 2] = [Shape::Quadrilateral, Shape::Hexahedron];

/// Rates of a perturbed wave of one unknown.
fn advection<const D: usize>(mesh: &Arc<Mesh>, scheme: &Scheme) -> Vec<f64> {
    let law = Advection { velocity: std::array::from_fn::<f64, D, _>(|d| [1.0, 0.4, -0.7][d]) };
    let mut equation = Equation::<f64>::from(Box::new(Pointwise::<_, _, D, 1> { law, flux: Rusanov }));
    if scheme.form == Form::Split {
        equation = equation.with_two_point(Box::new(TwoPoint::<_, _, D, 1> { law, flux: Central }));
    }
    let host = Arc::new(Host::new(1).expect("a machine"));
    let mut d = Discretization::<f64>::new(mesh.clone(), scheme, equation, Vec::new(), host).expect("set up");
    let mut u: Vec<f64> = (0..d.len()).map(|i| 1.0 + 0.3 * (0.1 * i as f64).sin()).collect();
    shake(&d, &mut u);
    let mut du = vec![0.0; d.len()];
    d.eval(0.0, &u, &mut du);
    d.to_canonical(&du)
}

#[test]
fn the_mean_of_linear_fluxes_is_the_strong_form() {
    for shape in TENSOR {
        for p in 1..=4 {
            let mesh = mesh(Cells::Of(shape), 2, 1, true);
            let strong = Scheme { form: Form::Strong, ..Scheme::collocated(p) };
            let [a, b] = [Scheme::split(p), strong].map(|scheme| match shape.dim() {
                2 => advection::<2>(&mesh, &scheme),
                _ => advection::<3>(&mesh, &scheme),
            });
            let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let e = a.iter().zip(&b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size;
            assert!(e < 1e-13, "{shape} p = {p}: {e:.2e}");
        }
    }
}

/// Uses a two-point flux at the faces: no dissipation.
#[derive(Clone, Copy)]
struct AtFaces<S>(S);

impl<S: TwoPointFlux<Euler, D, N> + Copy, const D: usize, const N: usize> NumericalFlux<Euler, D, N>
    for AtFaces<S>
where
    Euler: Law<D, N>,
{
    const NAME: &'static str = <S as TwoPointFlux<Euler, D, N>>::NAME;

    #[inline(always)]
    fn eval<R: Real>(&self, law: &Euler, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.eval(law, um, up, n)
    }
}

/// `w_i J_i` at the nodes of each element.
fn node_masses(mesh: &Mesh, shape: Shape, p: usize) -> Vec<Vec<f64>> {
    let spec = ElementSpec {
        shape,
        order: p,
        polynomials: Polynomials::Tensor,
        representation: Representation::Nodal(NodeSet::GaussLobatto),
        volume: Cubature::Collocated,
        face: Cubature::Collocated,
        correction: Correction::Dg,
    };
    let reference = ReferenceElement::new(&spec).expect("an element");
    (0..mesh.n_elements())
        .map(|e| {
            let (s, local) = mesh.locate(e);
            let set = &mesh.sets[s];
            let grad = LagrangeBasis::new(shape, set.order).grad(&reference.volume.points);
            let n = lattice(shape, set.order).len();
            let x: Vec<[f64; 3]> =
                set.nodes[local * n..(local + 1) * n].iter().map(|&i| mesh.points[i as usize]).collect();
            (0..reference.n_basis)
                .map(|q| {
                    let t: [[f64; 3]; 3] = std::array::from_fn(|d| {
                        std::array::from_fn(|c| match shape.dim() {
                            2 if d == 2 => f64::from(u8::from(c == 2)),
                            _ => (0..n).map(|m| grad[d][(q, m)] * x[m][c]).sum(),
                        })
                    });
                    let minor = |a: usize, b: usize| t[1][a] * t[2][b] - t[1][b] * t[2][a];
                    let jacobian = t[0][0] * minor(1, 2) - t[0][1] * minor(0, 2) + t[0][2] * minor(0, 1);
                    reference.volume.weights[q] * jacobian
                })
                .collect()
        })
        .collect()
}

/// Rate of the entropy `−ρ s/(γ−1)`, `s = ln(p/ρ^γ)`, by the quadrature of the nodes, relative to the sum of
/// the magnitudes of its terms.
fn entropy_rate<F, S, const D: usize, const N: usize>(
    shape: Shape,
    geometry: usize,
    flux: F,
    two_point: S,
) -> f64
where
    Euler: Law<D, N>,
    F: NumericalFlux<Euler, D, N>,
    S: TwoPointFlux<Euler, D, N>,
    Pointwise<Euler, F, D, N>: PointKernels<f64>,
{
    let p = 3;
    let mesh = mesh(Cells::Of(shape), 2, geometry, true);
    let equation = Equation::<f64>::from(Box::new(Pointwise::<_, _, D, N> { law: GAS, flux }))
        .with_two_point(Box::new(TwoPoint::<_, _, D, N> { law: GAS, flux: two_point }));
    let host = Arc::new(Host::new(1).expect("a machine"));
    let mut d =
        Discretization::new(mesh.clone(), &Scheme::split(p), equation, Vec::new(), host).expect("set up");
    let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
    d.project(&wavy(D), 0.0, &mut u);
    shake(&d, &mut u);
    d.eval(0.0, &u, &mut du);
    let (u, du) = (d.to_canonical(&u), d.to_canonical(&du));
    let (mut sum, mut size) = (0.0, 0.0);
    for (e, masses) in node_masses(&mesh, shape, p).iter().enumerate() {
        for (i, mass) in masses.iter().enumerate() {
            let at = |v: &[f64], k: usize| v[(e * N + k) * masses.len() + i];
            let state: [f64; N] = std::array::from_fn(|k| at(&u, k));
            let w = GAS.to_primitive(&state);
            let (rho, pressure) = (w[0], w[N - 1]);
            let s = pressure.ln() - GAS.gamma * rho.ln();
            let square: f64 = w[1..=D].iter().map(|v| v * v).sum();
            for k in 0..N {
                let variable = match k {
                    0 => (GAS.gamma - s) / (GAS.gamma - 1.0) - 0.5 * rho / pressure * square,
                    k if k == N - 1 => -rho / pressure,
                    k => rho / pressure * w[k],
                };
                let term = mass * variable * at(&du, k);
                sum += term;
                size += term.abs();
            }
        }
    }
    sum / size
}

#[test]
fn the_entropy_is_kept_without_dissipation_and_falls_with_it() {
    for geometry in [1, 2] {
        let plane = Shape::Quadrilateral;
        let kept = [
            entropy_rate::<_, _, 2, 4>(plane, geometry, AtFaces(Ranocha), Ranocha),
            entropy_rate::<_, _, 3, 5>(Shape::Hexahedron, geometry, AtFaces(Ranocha), Ranocha),
        ];
        assert!(kept.iter().all(|rate| rate.abs() < 1e-12), "geometry {geometry}: {kept:?}");
        let roe = |dissipation: f64| {
            let flux = Roe { mean: FaceMean::Ranocha, dissipation, ..Roe::LOW_MACH };
            entropy_rate::<_, _, 2, 4>(plane, geometry, flux, Ranocha)
        };
        assert!(roe(0.0).abs() < 1e-12, "geometry {geometry}: {:e}", roe(0.0));
        for dissipated in [entropy_rate::<_, _, 2, 4>(plane, geometry, Rusanov, Ranocha), roe(0.1), roe(1.0)]
        {
            assert!(dissipated < -1e-4, "geometry {geometry}: {dissipated:e}");
        }
        let other = entropy_rate::<_, _, 2, 4>(plane, geometry, AtFaces(KennedyGruber), KennedyGruber);
        assert!(other.abs() > 1e-9, "geometry {geometry}: {other:e}");
    }
}

#[test]
fn a_modal_state_becomes_a_nodal_one() {
    use dgsuite_basis::correction::Parameter::SpectralDifference;
    let mesh = mesh(Cells::Of(Shape::Quadrilateral), 3, 2, true);
    let modal = euler::<f64>(&mesh, &Scheme::modal(3), None, 1);
    let mut u = vec![0.0; modal.len()];
    modal.project(&wavy(2), 0.0, &mut u);
    let canonical = modal.to_canonical(&u);
    let reconstruction = Scheme::flux_reconstruction(3, NodeSet::GaussLegendre, SpectralDifference);
    for scheme in [Scheme::split(3), Scheme::collocated(3), reconstruction] {
        let nodal = euler::<f64>(&mesh, &scheme, None, 1);
        let own = nodal.convert_canonical(&canonical, modal.representation()).expect("the same space");
        let mut v = vec![0.0; nodal.len()];
        nodal.from_canonical(&own, &mut v).expect("it fits");
        for (e, r) in [(0, [0.3, -0.2, 0.0]), (5, [-0.9, 0.7, 0.0]), (8, [1.0, 1.0, 0.0])] {
            let (a, b) =
                (modal.state_at(&u, e, r).expect("inside"), nodal.state_at(&v, e, r).expect("inside"));
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-13), "{scheme:?}: {a:?} {b:?}");
        }
        let back = modal.convert_canonical(&own, nodal.representation()).expect("the same space");
        assert!(back.iter().zip(&canonical).all(|(a, b)| (a - b).abs() < 1e-13), "{scheme:?}");
        // A higher order contains the functions of a lower one.
        let order = scheme.order;
        let higher = euler::<f64>(&mesh, &Scheme::modal(5), None, 1);
        let raised = higher.convert_canonical_of_order(&own, nodal.representation(), order).expect("raised");
        let lowered = nodal.convert_canonical_of_order(&raised, higher.representation(), 5).expect("lowered");
        assert!(lowered.iter().zip(&own).all(|(a, b)| (a - b).abs() < 1e-12), "{scheme:?}");
        assert!(nodal.convert_canonical_of_order(&raised, higher.representation(), 4).is_none());
    }
}
