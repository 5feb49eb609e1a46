//! Reactions: a sponge and a body force with coefficients, on every shape and with every scheme.

use crate::laws::oracle::difference;
use crate::reactions_of_gas::{STRONGEST, formulas, reactions, strength_and_force};
use crate::testkit::{Cells, GAS, PLANE, SPACE, euler, mesh, nested, problem, schemes, shake, wavy};
use dgsuite_basis::Shape;
use dgsuite_gpu::{Host, SimdLevel};
use dgsuite_mesh::Mesh;
use dgsuite_ops::split::Split;
use dgsuite_ops::{Discretization, OpsError, PackScalar, PointKernels, Pointwise, Reacting, Scheme};
use dgsuite_ops::{ReactionKernels, StageWeights};
use dgsuite_physics::exact::{ClosedForm, Uniform};
use dgsuite_physics::formula::Names;
use dgsuite_physics::reaction::{BodyForce, Sponge, SpongeCoefficients};
use dgsuite_physics::source::FormulaSource;
use dgsuite_physics::two_point::Ranocha;
use dgsuite_physics::{Coefficients, Euler, Exact, Law, Reaction, Real, Rusanov};
use std::sync::Arc;

/// The reference state of the sponge: not the one that the tests begin with.
fn reference(dim: usize) -> Arc<dyn Exact> {
    struct Shifted<E>(E);
    impl<E: Exact> Exact for Shifted<E> {
        fn n_fields(&self) -> usize {
            self.0.n_fields()
        }

        fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
            let moved: Vec<[f64; 3]> = x.iter().map(|x| [x[0] + 0.4, x[1], x[2]]).collect();
            self.0.eval(t, &moved, out);
        }
    }
    Arc::new(Shifted(wavy(dim)))
}

fn with_reactions<T>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    threads: usize,
    list: Vec<Box<dyn ReactionKernels<T>>>,
) -> Discretization<T>
where
    T: PackScalar + Real,
    Pointwise<Euler, Rusanov, 2, 4>: PointKernels<T>,
    Pointwise<Euler, Rusanov, 3, 5>: PointKernels<T>,
{
    let host = Arc::new(Host::with_simd(threads, SimdLevel::detect()).expect("a machine"));
    let (mut equation, bindings) = problem::<T>(mesh, scheme, None);
    equation.reactions = list;
    Discretization::new(Arc::clone(mesh), scheme, equation, bindings, host).expect("a discretisation")
}

/// The residual by the separate stages of `split`.
fn oracle<const D: usize, const N: usize, const C: usize>(
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    u: &[Vec<Vec<f64>>],
) -> Vec<Vec<Vec<f64>>>
where
    Euler: Law<D, N>,
    Ranocha: dgsuite_physics::TwoPointFlux<Euler, D, N>,
    Rusanov: dgsuite_physics::NumericalFlux<Euler, D, N>,
{
    let split = Split::<_, _, D, N>::new(Arc::clone(mesh), scheme, GAS, Rusanov).expect("set up");
    let split = split.with_two_point(Ranocha);
    let ([strength, force], state) = (strength_and_force(D), reference(D));
    let at = |c: &dyn Coefficients, x| {
        let mut out = vec![Vec::new(); c.count()];
        c.eval(&[x], &mut out);
        out.into_iter().map(|v| v[0]).collect::<Vec<f64>>()
    };
    let rate = |u: &[f64; N], x: [f64; 3]| -> [f64; N] {
        let (sigma, g) = (at(strength.as_ref(), x)[0], at(force.as_ref(), x));
        let mut wanted = vec![Vec::new(); N];
        state.eval(0.0, &[x], &mut wanted);
        let work: f64 = (0..D).map(|d| u[d + 1] * g[d]).sum();
        std::array::from_fn(|k| {
            let pull = match k {
                0 => 0.0,
                k if k == N - 1 => work,
                k => u[0] * g[k - 1],
            };
            sigma * (wanted[k][0] - u[k]) + pull
        })
    };
    let mut sum = split.eval(u, &|_, um, _| *um);
    let more = split.reaction(u, &rate);
    for (a, b) in sum.iter_mut().flatten().flatten().zip(more.into_iter().flatten().flatten()) {
        *a += b;
    }
    sum
}

#[test]
fn a_residual_with_reactions_is_that_of_the_split_stages() {
    for (c, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
        for geometry in [1, 2] {
            let mesh = mesh(cells, 2, geometry, true);
            for (i, (name, scheme)) in schemes(cells, 2).into_iter().enumerate() {
                let what = format!("{cells:?} {name} geometry {geometry}");
                let run = |threads: usize| {
                    let list = reactions::<f64>(mesh.dim, reference(mesh.dim));
                    let mut d = with_reactions(&mesh, &scheme, threads, list);
                    let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
                    d.project(&wavy(mesh.dim), 0.0, &mut u);
                    shake(&d, &mut u);
                    d.eval(0.0, &u, &mut du);
                    (nested(&d, &u, &mesh), nested(&d, &du, &mesh))
                };
                let (u, du) = run(1);
                let expected = match mesh.dim {
                    2 => oracle::<2, 4, 5>(&mesh, &scheme, &u),
                    _ => oracle::<3, 5, 6>(&mesh, &scheme, &u),
                };
                let e = difference(&du, &expected);
                assert!(e < 2e-12, "{what}: {e:.2e}");
                if (c + geometry + i).is_multiple_of(4) {
                    assert!(run(3).1 == du, "{what}: threads");
                }
            }
        }
    }
}

#[test]
fn single_precision_has_the_same_reactions() {
    for cells in [Cells::Mixed2, Cells::Of(Shape::Hexahedron)] {
        let mesh = mesh(cells, 2, 2, true);
        let scheme = Scheme::modal(2);
        let mut wide = with_reactions(&mesh, &scheme, 1, reactions::<f64>(mesh.dim, reference(mesh.dim)));
        let mut d = with_reactions(&mesh, &scheme, 1, reactions::<f32>(mesh.dim, reference(mesh.dim)));
        let (mut u, mut du) = (vec![0.0_f32; d.len()], vec![0.0_f32; d.len()]);
        d.project(&wavy(mesh.dim), 0.0, &mut u);
        d.eval(0.0, &u, &mut du);
        let (mut v, mut dv) = (vec![0.0; wide.len()], vec![0.0; wide.len()]);
        wide.project(&wavy(mesh.dim), 0.0, &mut v);
        wide.eval(0.0, &v, &mut dv);
        let e = difference(&nested(&d, &du, &mesh), &nested(&wide, &dv, &mesh));
        assert!(e < 2e-5, "{cells:?}: {e:.2e}");
    }
}

/// `σ` constant and both states uniform: the residual is `σ (u_ref − u)` exactly, and zero if they are equal.
#[test]
fn a_uniform_state_decays_towards_the_reference_and_stays_there() {
    for (cells, geometry) in [(Cells::Mixed2, 2), (Cells::Mixed3, 1), (Cells::Of(Shape::Prism), 2)] {
        let mesh = mesh(cells, 2, geometry, true);
        // The weight-adjusted rule is exact for constants where J is in the space, which the spaces of total
        // degree of Taylor bases do not contain.
        for (name, scheme) in schemes(cells, 2).into_iter().filter(|s| geometry == 1 || s.0 != "Taylor") {
            let state = |rho: f64, p: f64| -> Arc<dyn Exact> {
                if mesh.dim == 2 {
                    let solution = Uniform { primitive: [rho, 0.3, -0.2, p] };
                    Arc::new(ClosedForm::<_, _, 2, 4>::new(GAS, solution))
                } else {
                    let solution = Uniform { primitive: [rho, 0.3, -0.2, 0.1, p] };
                    Arc::new(ClosedForm::<_, _, 3, 5>::new(GAS, solution))
                }
            };
            let (rest, start) = (state(1.1, 0.9), state(1.3, 1.2));
            let coefficients =
                Arc::new(SpongeCoefficients { strength: formulas(&["2.5"]), state: Arc::clone(&rest) });
            let sponge: Vec<Box<dyn ReactionKernels<f64>>> = if mesh.dim == 2 {
                vec![Box::new(Reacting::<_, 4, 5> { reaction: Sponge, coefficients })]
            } else {
                vec![Box::new(Reacting::<_, 5, 6> { reaction: Sponge, coefficients })]
            };
            let mut d = with_reactions(&mesh, &scheme, 2, sponge);
            let (mut u, mut wanted, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()], vec![0.0; d.len()]);
            d.project(rest.as_ref(), 0.0, &mut wanted);
            d.project(start.as_ref(), 0.0, &mut u);
            for state in [&u, &wanted] {
                d.eval(0.0, state, &mut du);
                let worst = du
                    .iter()
                    .zip(state.iter().zip(&wanted))
                    .map(|(du, (u, w))| (du - 2.5 * (w - u)).abs())
                    .fold(0.0, f64::max);
                assert!(worst < 3e-12, "{cells:?} {name}: {worst:.2e}");
            }
        }
    }
}

/// A gas at rest whose pressure balances the force, `p = 1 − x/4 − y/2` and `ρ = 1` with `g = ∇p`, and the
/// work of the force on a uniform flow.
#[test]
fn a_body_force_balances_a_pressure_and_does_work() {
    let mesh = mesh(Cells::Of(Shape::Quadrilateral), 3, 1, false);
    let at_rest: Arc<dyn Exact> = Arc::new(crate::testkit::State(4, |x: [f64; 3], _| {
        vec![1.0, 0.0, 0.0, 1.0 - 0.25 * x[0] - 0.5 * x[1]]
    }));
    let force = || -> Vec<Box<dyn ReactionKernels<f64>>> {
        vec![Box::new(Reacting::<_, 4, 2> { reaction: BodyForce, coefficients: formulas(&["-1/4", "-1/2"]) })]
    };
    for (name, scheme) in schemes(Cells::Of(Shape::Quadrilateral), 2) {
        let host = Arc::new(Host::new(1).expect("a machine"));
        let (mut equation, bindings) = problem::<f64>(&mesh, &scheme, Some(&at_rest));
        equation.reactions = force();
        let d = Discretization::new(Arc::clone(&mesh), &scheme, equation, bindings, host);
        let mut d = d.expect("a discretisation");
        let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
        d.project(at_rest.as_ref(), 0.0, &mut u);
        d.eval(0.0, &u, &mut du);
        let worst = du.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(worst < 2e-12, "{name}: {worst:.2e}");
    }
    let c = [-0.25, -0.5];
    assert_eq!(BodyForce.rate(&[2.0, 0.5, -0.5, 5.0], &c), [0.0, -0.5, -1.0, 0.125]);
}

#[test]
fn the_strength_of_a_sponge_limits_the_step() {
    let mesh = mesh(Cells::Mixed2, 2, 1, true);
    let scheme = Scheme::collocated(3);
    let plain = euler::<f64>(&mesh, &scheme, None, 1);
    let d = with_reactions(&mesh, &scheme, 1, reactions::<f64>(2, reference(2)));
    let mut u = vec![0.0; d.len()];
    d.project(&wavy(2), 0.0, &mut u);
    let (free, limited) = (plain.time_step(&u, None).expect("a gas"), d.time_step(&u, None).expect("a gas"));
    // The corners, where the strength is largest, are points of the scheme.
    assert!((1.0 / limited - 1.0 / free - STRONGEST).abs() < 1e-9, "{free} {limited}");
    let mut local = Vec::new();
    d.time_step(&u, Some(&mut local)).expect("a gas");
    assert!(local.iter().all(|dt| *dt < 1.0 / STRONGEST), "{local:?}");
}

#[test]
fn a_coefficient_that_is_not_finite_is_an_error_with_its_place() {
    let mesh = mesh(Cells::Of(Shape::Triangle), 2, 1, true);
    let (mut equation, _) = problem::<f64>(&mesh, &Scheme::modal(1), None);
    let coefficients = formulas(&["1/max(x, 0)", "0"]);
    equation.reactions.push(Box::new(Reacting::<_, 4, 2> { reaction: BodyForce, coefficients }));
    let host = Arc::new(Host::new(1).expect("a machine"));
    let error = Discretization::new(Arc::clone(&mesh), &Scheme::modal(1), equation, Vec::new(), host).err();
    match error {
        Some(OpsError::ReactionCoefficient { value, at }) => assert!(value.is_infinite() && at[0] <= 0.0),
        other => panic!("{other:?}"),
    }
    let (mut equation, _) = problem::<f64>(&mesh, &Scheme::modal(1), None);
    let coefficients = formulas(&["0", "0", "0"]);
    equation.reactions.push(Box::new(Reacting::<_, 5, 3> { reaction: BodyForce, coefficients }));
    let host = Arc::new(Host::new(1).expect("a machine"));
    let error = Discretization::new(Arc::clone(&mesh), &Scheme::modal(1), equation, Vec::new(), host).err();
    assert!(matches!(error, Some(OpsError::Equation { part: "reaction", .. })), "{error:?}");
}

/// A stage is the update with the residual, reactions included.
#[test]
fn a_stage_has_the_reactions_of_its_state() {
    let mesh = mesh(Cells::Mixed2, 2, 2, true);
    let list = reactions::<f64>(2, reference(2));
    let mut d = with_reactions(&mesh, &Scheme::modal(2), 2, list);
    let (mut u, mut du, mut next) = (vec![0.0; d.len()], vec![0.0; d.len()], vec![0.0; d.len()]);
    d.project(&wavy(2), 0.0, &mut u);
    d.eval(0.0, &u, &mut du);
    let mut register = vec![0.0; d.len()];
    let weights = StageWeights { a: 0.0, b: 0.0, c: 0.5, dt: 0.1, keep: true };
    d.stage(0.0, weights, &u, None, &mut register, &mut next);
    for i in 0..u.len() {
        assert!((next[i] - (u[i] + 0.05 * du[i])).abs() < 1e-13, "{} {}", next[i], u[i] + 0.05 * du[i]);
    }
}

/// A source that does not depend on the state is added beside reactions.
#[test]
fn a_source_and_reactions_add_up() {
    let texts = [("rho".to_owned(), "1 + x*t".to_owned()), ("rho_E".to_owned(), "y".to_owned())];
    let source: Arc<dyn dgsuite_physics::Source> = Arc::new(
        FormulaSource::parse::<_, 2, 4>(&GAS, &texts.into(), &Names::space_time()).expect("formulas"),
    );
    let mesh = mesh(Cells::Mixed2, 2, 2, true);
    let residual = |with_source: bool, with_reactions: bool| {
        let (mut equation, bindings) = problem::<f64>(&mesh, &Scheme::modal(2), None);
        equation.source = with_source.then(|| Arc::clone(&source));
        if with_reactions {
            equation.reactions = reactions(2, reference(2));
        }
        let host = Arc::new(Host::new(2).expect("a machine"));
        let mut d = Discretization::new(Arc::clone(&mesh), &Scheme::modal(2), equation, bindings, host)
            .expect("a discretisation");
        let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
        d.project(&wavy(2), 0.0, &mut u);
        d.eval(0.2, &u, &mut du);
        d.eval(0.7, &u, &mut du);
        du
    };
    let [none, one, other, both] =
        [(false, false), (true, false), (false, true), (true, true)].map(|(s, r)| residual(s, r));
    for i in 0..none.len() {
        let expected = one[i] + other[i] - none[i];
        assert!((both[i] - expected).abs() < 1e-11, "{} {expected}", both[i]);
    }
    assert!(one != none && other != none);
}

/// Elements outside of a layer are not computed, and yet all have the right rows.
#[test]
fn a_layer_damps_only_its_elements() {
    let mesh = mesh(Cells::Mixed2, 8, 1, true);
    let sponge = || -> Box<dyn ReactionKernels<f64>> {
        let strength = formulas(&["5*max(x, 0)^2"]);
        let coefficients = Arc::new(SpongeCoefficients { strength, state: reference(2) });
        Box::new(Reacting::<_, 4, 5> { reaction: Sponge, coefficients })
    };
    // With a force there is no idle element.
    let force = || -> Box<dyn ReactionKernels<f64>> {
        Box::new(Reacting::<_, 4, 2> { reaction: BodyForce, coefficients: formulas(&["1", "2"]) })
    };
    let residual = |list: Vec<Box<dyn ReactionKernels<f64>>>| {
        let mut d = with_reactions(&mesh, &Scheme::modal(2), 2, list);
        let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
        d.project(&wavy(2), 0.0, &mut u);
        d.eval(0.0, &u, &mut du);
        du
    };
    let none = residual(Vec::new());
    let (alone, forced, both) =
        (residual(vec![sponge()]), residual(vec![force()]), residual(vec![sponge(), force()]));
    let damped = |i: &usize| alone[*i] != none[*i];
    let n = (0..none.len()).filter(damped).count();
    assert!(n > 0 && 3 * n < 2 * none.len(), "{n} of {} are damped", none.len());
    for i in 0..none.len() {
        let expected = both[i] - forced[i] + none[i];
        assert!((alone[i] - expected).abs() < 1e-12, "{} {expected}", alone[i]);
    }
}
