//! Orders of convergence on every shape and on mixed meshes: the slopes of L² errors are at least p + 0.8.
//!
//! A slope is taken for every conserved variable over the last three refinements.
//!
//! `cargo test --release --test orders -- --nocapture` prints the table. The environment variable
//! `DGSUITE_FULL=1` adds the orders and shapes that take minutes rather than seconds.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use dgsuite_mesh::generate::{Box as Block, Diagonal, MixedBox};
use dgsuite_mesh::{Mesh, Shape};
use dgsuite_physics::Exact;
use dgsuite_physics::exact::{Context, Model, by_name};
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, NodeSet, Parameter, Riemann, Setup, SplitFlux};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cells {
    Of(Shape),
    Mixed(usize),
}

impl Cells {
    fn dim(self) -> usize {
        match self {
            Self::Of(shape) => shape.dim(),
            Self::Mixed(dim) => dim,
        }
    }

    /// A box with `n` cells a side.
    fn mesh(self, half: f64, n: usize) -> Mesh {
        let (min, max) = ([-half; 3], [half; 3]);
        match self {
            Self::Of(shape) => Block { shape, min, max, cells: [n; 3], diagonal: Diagonal::Anti }.build(),
            Self::Mixed(2) => MixedBox { dim: 2, min, max, cells: [n; 3] }.build(),
            Self::Mixed(_) => MixedBox { dim: 3, min, max, cells: [5 * n / 4, n, n] }.build(),
        }
        .expect("a box")
    }
}

/// A smooth map of the box onto itself, the same for all refinements; its geometry order is the order of the
/// scheme, but at least 2.
fn curve(mesh: &mut Mesh, half: f64, p: usize) {
    mesh.elevate(p.clamp(2, 4)).expect("a higher order");
    let pi = std::f64::consts::PI;
    let dim = mesh.dim;
    mesh.map(|[x, y, z]| {
        let (a, b, c) = (x / half, y / half, z / half);
        let along = if dim == 3 { (0.5 * pi * c).cos() } else { 1.0 };
        let bump = 0.06 * half * (pi * a).sin() * (pi * b).sin() * along;
        [x + bump, y - 0.5 * bump, z]
    })
    .expect("a curved mesh");
}

/// The scheme on the elements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Space {
    /// Discontinuous Galerkin, modal.
    Modal,
    /// Discontinuous Galerkin in split form with Ranocha's flux.
    Split,
    /// Flux reconstruction at Gauss points.
    Reconstruction(Parameter),
}

impl Space {
    const fn name(self) -> &'static str {
        match self {
            Self::Modal => "modal",
            Self::Split => "split",
            Self::Reconstruction(Parameter::SpectralDifference) => "FR (c_sd)",
            Self::Reconstruction(Parameter::Huynh) => "FR (c_hu)",
            Self::Reconstruction(Parameter::C(_)) => "FR (c = 0)",
        }
    }

    fn of(self, setup: Setup) -> Setup {
        match self {
            Self::Modal => setup,
            Self::Split => setup.split(SplitFlux::Ranocha),
            Self::Reconstruction(c) => setup.flux_reconstruction(NodeSet::GaussLegendre, c),
        }
    }
}

/// Returns the L² errors of the conserved variables: in two dimensions for the vortex in a periodic box, in
/// three dimensions for a vortex tube with the exact state on the boundary.
fn errors(cells: Cells, space: Space, curved: bool, p: usize, half: f64, n: usize) -> Vec<f64> {
    let dim = cells.dim();
    let mut mesh = cells.mesh(half, n);
    if dim == 2 {
        mesh.make_periodic("xmin", "xmax").expect("periodic in x");
        mesh.make_periodic("ymin", "ymax").expect("periodic in y");
    }
    if curved {
        curve(&mut mesh, half, p);
    }
    let (name, period) = if dim == 2 { ("isentropic-vortex", 2.0 * half) } else { ("vortex-tube", 0.0) };
    let context = Context { dim, model: Model::Euler { gamma: 1.4 }, period: [period, period, 0.0] };
    let exact: Arc<dyn Exact> =
        Arc::from(by_name(name, &BTreeMap::new(), &context).expect("a known solution"));
    let boundaries = mesh
        .boundary_names()
        .into_iter()
        .map(|b| (b.to_owned(), BoundaryKind::Prescribed(exact.clone())))
        .collect();
    // Both fluxes have the order p + 1. On such coarse meshes, Rusanov's flux shows it at odd orders, where
    // its dissipation helps, and Roe's flux at even ones.
    let riemann = if p % 2 == 1 { Riemann::Rusanov } else { Riemann::Roe };
    let setup = Setup {
        boundaries,
        riemann,
        ..Setup::new(Arc::new(mesh), Law::Euler { gamma: 1.4, gas_constant: 1.0 }, p)
    };
    let mut solver = Flow::new(space.of(setup), exact.as_ref(), 0.0).expect("a solver");
    // Small enough that the error in time is negligible.
    let (end, cfl) = if dim == 2 { (1.0, 0.3) } else { (0.1, 0.12) };
    let steps = (end / (cfl * solver.stable_dt().expect("a gas"))).ceil();
    for _ in 0..steps as usize {
        solver.step(end / steps).expect("a step");
    }
    solver.stable_dt().expect("still a gas");
    solver.errors(exact.as_ref(), end).l2[..dim + 2].to_vec()
}

/// Least-squares slope of `log e` over `log h` for ratios of two.
fn slope(errors: &[f64]) -> f64 {
    let n = errors.len() as f64;
    let x: Vec<f64> = (0..errors.len()).map(|i| i as f64).collect();
    let y: Vec<f64> = errors.iter().map(|e| -e.log2()).collect();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let xy: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    xy / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
}

fn check(cells: Cells, curved: bool, p: usize, half: f64, coarsest: usize) {
    check_space(cells, Space::Modal, curved, p, half, coarsest);
}

fn check_space(cells: Cells, space: Space, curved: bool, p: usize, half: f64, coarsest: usize) {
    let table: Vec<Vec<f64>> =
        [1, 2, 4].iter().map(|k| errors(cells, space, curved, p, half, coarsest * k)).collect();
    let slopes: Vec<f64> =
        (0..table[0].len()).map(|k| slope(&table.iter().map(|row| row[k]).collect::<Vec<_>>())).collect();
    let kind = if curved { "curved" } else { "affine" };
    let space = space.name();
    println!("{cells:?} {space} {kind} p = {p}, {coarsest} … {} cells a side", 4 * coarsest);
    for row in &table {
        println!("    {}", row.iter().map(|e| format!("{e:10.3e}")).collect::<String>());
    }
    println!("    {}", slopes.iter().map(|s| format!("{s:10.2}")).collect::<String>());
    let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least >= p as f64 + 0.8, "{cells:?} {space} {kind} p = {p}: slopes {slopes:.2?}");
}

fn full() -> bool {
    std::env::var_os("DGSUITE_FULL").is_some_and(|v| v == "1")
}

/// `(order, half width, coarsest mesh)` in two dimensions.
fn plane() -> Vec<(usize, f64, usize)> {
    let mut out = vec![(1, 5.0, 24), (2, 5.0, 16)];
    if full() {
        out.extend([(1, 5.0, 32), (3, 10.0, 20), (4, 10.0, 26)]);
    }
    out
}

#[test]
fn triangles() {
    plane().into_iter().for_each(|(p, half, n)| check(Cells::Of(Shape::Triangle), false, p, half, n));
}

#[test]
fn quadrilaterals() {
    plane().into_iter().for_each(|(p, half, n)| check(Cells::Of(Shape::Quadrilateral), false, p, half, n));
    if full() {
        check_space(Cells::Of(Shape::Quadrilateral), Space::Split, false, 3, 10.0, 20);
    }
}

#[test]
fn triangles_and_quadrilaterals() {
    plane().into_iter().for_each(|(p, half, n)| check(Cells::Mixed(2), false, p, half, n));
}

#[test]
fn curved_cells_in_the_plane() {
    check(Cells::Of(Shape::Triangle), true, 2, 5.0, 16);
    if full() {
        for cells in [Cells::Of(Shape::Triangle), Cells::Of(Shape::Quadrilateral), Cells::Mixed(2)] {
            check(cells, true, 2, 5.0, 16);
            check(cells, true, 3, 10.0, 20);
        }
    }
}

#[test]
fn cells_in_space() {
    for shape in [Shape::Hexahedron, Shape::Tetrahedron, Shape::Prism] {
        check(Cells::Of(shape), false, 1, 1.0, 4);
        if full() {
            // Prisms need finer meshes to show their orders.
            let (affine, curved) = if shape == Shape::Prism { (6, 7) } else { (4, 5) };
            check(Cells::Of(shape), false, 2, 0.5, affine);
            check(Cells::Of(shape), false, 3, 0.5, affine - 1);
            check(Cells::Of(shape), true, 2, 0.5, curved);
        }
    }
    if full() {
        check(Cells::Mixed(3), false, 1, 1.0, 4);
        check(Cells::Mixed(3), false, 2, 0.5, 5);
        check(Cells::Mixed(3), true, 2, 0.5, 6);
    }
}

#[test]
fn flux_reconstruction() {
    let corrections = [Parameter::C(0.0), Parameter::SpectralDifference, Parameter::Huynh];
    for space in corrections.map(Space::Reconstruction) {
        for shape in [Shape::Triangle, Shape::Quadrilateral] {
            let cells = Cells::Of(shape);
            check_space(cells, space, false, 2, 5.0, 16);
            if full() {
                check_space(cells, space, false, 1, 5.0, 32);
                check_space(cells, space, false, 3, 10.0, 20);
                check_space(cells, space, false, 4, 10.0, 26);
                check_space(cells, space, true, 2, 5.0, 16);
            }
        }
        if full() {
            for (shape, n) in [(Shape::Hexahedron, 4), (Shape::Tetrahedron, 4), (Shape::Prism, 6)] {
                check_space(Cells::Of(shape), space, false, 1, 1.0, n);
                check_space(Cells::Of(shape), space, false, 2, 0.5, n);
            }
        }
    }
}
