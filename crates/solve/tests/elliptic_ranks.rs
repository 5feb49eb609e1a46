//! Elliptic problems on several ranks: the bits of one.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dgsuite_gpu::comm::{Communicator, on_each, threads};
use dgsuite_mesh::generate::{Box as Block, MixedBox};
use dgsuite_mesh::{Mesh, Shape, SpaceFillingCurve};
use dgsuite_solve::elliptic::{
    CoarseSpace, Elliptic, EllipticCondition, EllipticKind, EllipticSetup, Preconditioning, SmootherKind,
};
use dgsuite_solve::flow::Precision;

/// What a solve shows: residuals and norms on all ranks, samples and coefficients on rank 0.
#[derive(Debug, PartialEq)]
struct Shown {
    residuals: Vec<u64>,
    numbers: Vec<u64>,
    levels: Vec<(String, usize)>,
    lines: Option<(usize, usize)>,
    samples: Vec<u64>,
    coefficients: Vec<u64>,
}

fn bits(numbers: impl IntoIterator<Item = f64>) -> Vec<u64> {
    numbers.into_iter().map(f64::to_bits).collect()
}

fn show(mut setup: EllipticSetup, comm: Option<Arc<dyn Communicator>>) -> Shown {
    setup.comm = comm;
    let mut solver = Elliptic::new(setup).expect("a solver");
    let solved = solver.solve(&AtomicBool::new(false), &mut |_, _| {});
    assert!(solved.refused.is_none());
    assert!(solved.outcome.is_ok(), "{:?} {:?}", solver.setup().solver, solved.outcome);
    let exact = |element: usize, [x, y, z]: [f64; 3]| x * y + z + 1e-3 * (element % 7) as f64;
    let errors = solver.errors(&solved.u, &exact, Some(&|_, [x, y, _]| [y, x, 1.0]));
    let mut numbers = vec![errors.l1, errors.l2, errors.linf, errors.energy.expect("a gradient")];
    numbers.extend([solved.integral, solved.residual()]);
    numbers.extend(solved.imbalance.map(|imbalance| [imbalance.total, imbalance.size]).into_iter().flatten());
    let samples = solver.sample(&solved.u, 2);
    let of_samples = samples.iter().flat_map(|set| {
        let points = set.points.iter().flatten().copied();
        let elements = set.elements.iter().map(|&element| element as f64);
        points.chain(elements).chain(set.values.concat()).collect::<Vec<_>>()
    });
    let described = solver.describe();
    Shown {
        residuals: bits(solved.history().iter().copied()),
        numbers: bits(numbers),
        levels: described.levels.iter().map(|level| (level.kind.clone(), level.rows)).collect(),
        lines: described.lines.as_ref().map(|lines| (lines.lines, lines.longest)),
        samples: bits(of_samples),
        coefficients: bits(solver.save(&solved.u).fields),
    }
}

#[track_caller]
fn check(setup: &EllipticSetup, counts: &[usize], what: &str) {
    let expected = show(setup.clone(), None);
    assert!(expected.residuals.len() > 3 && !expected.samples.is_empty(), "{what}");
    for &n in counts {
        let all = on_each(threads(n), |comm| {
            let comm: Arc<dyn Communicator> = Arc::new(comm);
            show(setup.clone(), Some(comm))
        });
        for (rank, shown) in all.into_iter().enumerate() {
            let on_root = |list: &[u64]| if rank == 0 { list.to_vec() } else { Vec::new() };
            let expected = Shown {
                samples: on_root(&expected.samples),
                coefficients: on_root(&expected.coefficients),
                residuals: expected.residuals.clone(),
                numbers: expected.numbers.clone(),
                levels: expected.levels.clone(),
                lines: expected.lines,
            };
            assert!(
                shown == expected,
                "{what}: rank {rank} of {n}\n{:?}\n{:?}\n{:?}\n{:?}",
                (
                    shown.residuals.len(),
                    shown.residuals.iter().zip(&expected.residuals).position(|(a, b)| a != b)
                ),
                (&shown.numbers, &expected.numbers),
                (&shown.levels, &expected.levels),
                (shown.lines, expected.lines, shown.samples == expected.samples),
            );
        }
    }
}

fn setup(mut mesh: Mesh, order: usize) -> EllipticSetup {
    mesh.renumber(SpaceFillingCurve::Hilbert);
    let names: Vec<String> = mesh.boundary_names().iter().map(|name| (*name).to_owned()).collect();
    let mut setup = EllipticSetup::new(Arc::new(mesh), order);
    setup.forcing = Arc::new(|element, x| (3.0 * x[0]).sin() + x[1] + 0.01 * (element % 3) as f64);
    setup.boundaries = names.iter().map(|name| EllipticCondition::zero(name)).collect();
    setup.threads = 1;
    setup
}

fn block(shape: Shape, n: usize) -> Mesh {
    Block::unit(shape, n).build().expect("a box")
}

#[test]
fn multigrid_on_all_shapes() {
    for (shape, n, order) in [
        (Shape::Triangle, 8, 4),
        (Shape::Quadrilateral, 8, 5),
        (Shape::Tetrahedron, 3, 3),
        (Shape::Hexahedron, 4, 3),
        (Shape::Prism, 3, 2),
    ] {
        check(&setup(block(shape, n), order), &[2, 3, 7], &format!("{shape}"));
    }
    let mixed = MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [5, 3, 3] };
    check(&setup(mixed.build().expect("a box"), 2), &[2, 4], "mixed");
}

#[test]
fn every_preconditioner_and_smoother() {
    let of = |change: &dyn Fn(&mut EllipticSetup), what: &str| {
        let mut setup = setup(block(Shape::Triangle, 6), 3);
        change(&mut setup);
        check(&setup, &[3], what);
    };
    for kind in [Preconditioning::Mass, Preconditioning::Jacobi, Preconditioning::Amg, Preconditioning::None]
    {
        of(&|setup| setup.solver.preconditioner = kind, kind.word());
    }
    for kind in [SmootherKind::Jacobi, SmootherKind::BlockJacobi, SmootherKind::Linelets] {
        of(&|setup| setup.solver.smoother = Some(kind), kind.word());
    }
    for space in [CoarseSpace::Continuous, CoarseSpace::Discontinuous] {
        for precision in [Precision::Single, Precision::Double] {
            let change = |setup: &mut EllipticSetup| {
                setup.solver.coarse_space = Some(space);
                setup.solver.inner_precision = precision;
            };
            of(&change, &format!("{} {precision:?}", space.word()));
        }
    }
}

#[test]
fn thin_cells_with_lines_that_parts_do_not_cut() {
    for (shape, n) in [(Shape::Quadrilateral, 8), (Shape::Triangle, 6), (Shape::Prism, 3)] {
        let mut mesh = block(shape, n);
        let last = mesh.dim - 1;
        mesh.map(|mut x| {
            x[last] = 0.01 * x[last].powi(2) + 1e-4 * x[last];
            x
        })
        .expect("a map that does not fold");
        let setup = setup(mesh, 3);
        let lines = show(setup.clone(), None).lines;
        assert!(lines.is_some_and(|(count, longest)| count > 0 && longest >= n), "{shape}: {lines:?}");
        check(&setup, &[2, 3], &format!("thin {shape}"));
    }
}

#[test]
fn coefficients_conditions_curved_elements_and_null_spaces() {
    let mut curved = block(Shape::Quadrilateral, 6);
    curved.elevate(3).expect("elevation");
    curved.map(|[x, y, z]| [x + 0.05 * (4.0 * y).sin() * x, y, z]).expect("a map that does not fold");
    let mut case = setup(curved, 4);
    case.kappa = Arc::new(|element, x| if element.is_multiple_of(4) { 50.0 } else { 1.0 + x[0] });
    case.lambda = Arc::new(|_, x| (x[1] - 0.5).max(0.0));
    for (condition, kind) in case.boundaries.iter_mut().zip([
        EllipticKind::Robin { alpha: 3.0 },
        EllipticKind::Neumann,
        EllipticKind::Dirichlet,
    ]) {
        condition.kind = kind;
        condition.data = Arc::new(|element, x, n| x[0] + n[1] + 0.1 * (element % 2) as f64);
    }
    check(&case, &[2, 4], "coefficients and conditions");
    let mut periodic = block(Shape::Triangle, 6);
    periodic.make_periodic("xmin", "xmax").expect("opposite sides match");
    let mut singular = setup(periodic, 3);
    singular.boundaries.iter_mut().for_each(|condition| condition.kind = EllipticKind::Neumann);
    singular.mean_of = Some(Arc::new(|_, x| x[0]));
    check(&singular, &[2, 5], "null space");
}
