//! States at the nodes of the elliptic operator: each unknown is a vector of the operator, permuted.

use crate::elliptic::{SHAPES, bend, everywhere, host, shear, unit};
use crate::several::{machine, several};
use dgsuite_basis::{Cubature, NodeSet, Representation, Shape};
use dgsuite_gpu::SimdLevel;
use dgsuite_mesh::Mesh;
use dgsuite_ops::{Discretization, EllipticBoundary, OpsError, Scheme, Sipdg, SipdgOptions, elliptic_places};
use dgsuite_physics::Exact;
use std::sync::Arc;

/// Three linear functions, which are in the space of curved elements too.
struct Linear;

impl Linear {
    fn at(k: usize, [x, y, z]: [f64; 3]) -> f64 {
        1.0 + k as f64 + (2.0 + k as f64) * x - 3.0 * y + (0.5 - k as f64) * z
    }
}

impl Exact for Linear {
    fn n_fields(&self) -> usize {
        3
    }

    fn eval(&self, _t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        for (k, out) in out.iter_mut().enumerate() {
            out.clear();
            out.extend(x.iter().map(|&x| Self::at(k, x)));
        }
    }
}

fn operator(mesh: &Arc<Mesh>, order: usize) -> Sipdg<f64> {
    let boundaries = everywhere(mesh, EllipticBoundary::Dirichlet);
    let options = SipdgOptions::new(order);
    Sipdg::new(Arc::clone(mesh), &options, &|_, _| 1.0, &|_, _| 0.0, &boundaries, host(1))
        .expect("an operator")
}

fn discretisation(mesh: &Arc<Mesh>, scheme: &Scheme) -> Result<Discretization<f64>, OpsError> {
    let level = SimdLevel::detect();
    if mesh.dim == 2 {
        let (equation, bindings) = several::<f64, 2, 3>(mesh, false);
        Discretization::new(Arc::clone(mesh), scheme, equation, bindings, machine(level))
    } else {
        let (equation, bindings) = several::<f64, 3, 3>(mesh, false);
        Discretization::new(Arc::clone(mesh), scheme, equation, bindings, machine(level))
    }
}

#[test]
fn fields_of_a_state_are_permuted_vectors_of_the_operator() {
    for (shape, dim, n) in SHAPES {
        for curved in [false, true] {
            for p in 1 + usize::from(curved)..=3 {
                let mut mesh = unit(shape, dim, n);
                if curved {
                    bend(&mut mesh, 2);
                } else {
                    shear(&mut mesh);
                }
                let mesh = Arc::new(mesh);
                let a = operator(&mesh, p);
                let exact = Scheme::on_elliptic_nodes(p);
                let finer = Some(Cubature::Degree(3 * p - 1));
                for scheme in [exact, Scheme { volume: finer, face: finer, ..exact }] {
                    let d = discretisation(&mesh, &scheme).expect("a discretisation");
                    let mut state = vec![f64::NAN; d.len()];
                    d.project(&Linear, 0.0, &mut state);
                    let places = elliptic_places(&d, &a).expect("the same nodes");
                    assert_eq!(places.len(), 3);
                    let mut found = vec![0_u32; d.len()];
                    for (k, places) in places.iter().enumerate() {
                        let real = || places.iter().filter(|&&i| i != u32::MAX);
                        assert_eq!((places.len(), real().count()), (a.len(), a.dofs()));
                        real().for_each(|&i| found[i as usize] += 1);
                        let pick = |&i: &u32| state.get(i as usize).copied().unwrap_or(0.0);
                        let vector: Vec<f64> = places.iter().map(pick).collect();
                        let gap = a.errors(&vector, &|_, x| Linear::at(k, x), None).linf;
                        assert!(gap < 1e-12, "{shape:?} p = {p}, unknown {k}: {gap:.1e}");
                    }
                    assert!(found.iter().all(|n| *n <= 1), "an entry of a state is used twice");
                    assert_eq!(found.iter().sum::<u32>() as usize, d.dofs());
                }
            }
        }
    }
}

#[test]
fn other_nodes_and_meshes_are_refused() {
    let mesh = Arc::new(unit(Some(Shape::Triangle), 2, 2));
    let a = operator(&mesh, 2);
    let reason = |scheme: Scheme| {
        let d = discretisation(&mesh, &scheme).expect("a discretisation");
        match elliptic_places(&d, &a) {
            Err(OpsError::Elliptic { reason }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let gauss = Representation::Nodal(NodeSet::GaussLegendre);
    for scheme in
        [Scheme::modal(2), Scheme::on_elliptic_nodes(3), Scheme { representation: gauss, ..Scheme::modal(2) }]
    {
        assert!(reason(scheme).contains("on_elliptic_nodes"));
    }
    let other = Arc::new(unit(Some(Shape::Triangle), 2, 3));
    let d = discretisation(&other, &Scheme::on_elliptic_nodes(2)).expect("a discretisation");
    assert!(matches!(elliptic_places(&d, &a), Err(OpsError::Elliptic { .. })));
}

/// On quadrilaterals the canonical coefficients of another order convert exactly, on simplices too.
#[test]
fn states_at_elliptic_nodes_change_their_order() {
    for shape in [Shape::Triangle, Shape::Quadrilateral, Shape::Prism, Shape::Pyramid] {
        let mesh = Arc::new(unit(Some(shape), shape.dim(), 2));
        let of = |p| discretisation(&mesh, &Scheme::on_elliptic_nodes(p)).expect("a discretisation");
        let (low, high) = (of(2), of(3));
        let (mut u, mut v) = (vec![0.0; low.len()], vec![0.0; high.len()]);
        low.project(&Linear, 0.0, &mut u);
        high.project(&Linear, 0.0, &mut v);
        let raised = high
            .convert_canonical_of_order(&low.to_canonical(&u), low.representation(), 2)
            .expect("coefficients of order 2");
        let gap = raised.iter().zip(high.to_canonical(&v)).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(gap < 1e-12, "{shape}: {gap:.1e}");
    }
}

/// The rule of the mass matrix is not exact on elements of geometry order 3, on which constants were
/// projected to functions that differ by up to a percent.
#[test]
fn constants_are_projected_to_themselves_on_curved_elements() {
    for (shape, dim, n) in SHAPES {
        for p in 1..=3 {
            let mut mesh = unit(shape, dim, n);
            let pyramids = mesh.sets.iter().any(|set| set.shape == Shape::Pyramid);
            bend(&mut mesh, if pyramids { 2 } else { 3 });
            let a = operator(&Arc::new(mesh), p);
            let one = a.project(&|_, _| 1.0);
            let gap = a.unknowns().iter().fold(0.0, |gap: f64, &i| gap.max((one[i as usize] - 1.0).abs()));
            assert!(gap < 1e-13, "{shape:?} p = {p}: {gap:.1e}");
            let mut exact = vec![0.0; a.len()];
            a.unknowns().iter().for_each(|&i| exact[i as usize] = 1.0);
            assert!(a.constant(1.0) == exact, "{shape:?} p = {p}");
        }
    }
}
