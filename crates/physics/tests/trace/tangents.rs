//! Tangents as recorded formulas: a state and a direction on each side.

use crate::sources::{AIR, FluxOf, Formula, GAS, OuterOf, Random, SYRUP, WALL};
use dgsuite_physics::graph::{Binary, Graph, Id, Node, Unary};
use dgsuite_physics::trace::{Sym, input, record};
use dgsuite_physics::{
    Diffusion, DiffusiveBoundary, Euler, FarField, Hll, Hllc, Law, Real, Roe, Rusanov, Slau2, Tangent,
};

/// A formula of tangent states, at states of a gas with any direction.
#[derive(Clone, Copy)]
pub(crate) struct Along<F, const N: usize>(pub(crate) F);

/// A diffusive flux and the flux of a condition with its face state; the second state varies along the
/// normal only, and is the data.
#[derive(Clone, Copy)]
pub(crate) struct Rubbing<V, B>(pub(crate) V, pub(crate) B);

/// The flux of a law in all directions, added.
#[derive(Clone, Copy)]
pub(crate) struct Streams<L>(pub(crate) L);

impl<F: Formula<D, M>, const D: usize, const N: usize, const M: usize> Formula<D, M> for Along<F, N>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; M], up: &[R; M], n: &[R; D]) -> [R; M] {
        self.0.eval(um, up, n)
    }

    fn state(&self, random: &mut Random) -> [f64; M] {
        let (u, v) = (random.gas::<D, N>(), random.numbers::<N>());
        std::array::from_fn(|k| if k < N { u[k] } else { v[k - N] })
    }
}

impl<V, B, const D: usize, const K: usize> Formula<D, K> for Rubbing<V, B>
where
    V: Diffusion<D, K> + Copy,
    B: DiffusiveBoundary<V, D, K> + Copy,
{
    fn eval<R: Real>(&self, um: &[R; K], up: &[R; K], n: &[R; D]) -> [R; K] {
        let grad = n.map(|n| up.map(|u| u * n));
        let ub = self.1.face_state(&self.0, um, n, up);
        let wall = self.1.normal_flux(&self.0, um, &ub, &grad, n, up);
        let inner = self.0.diffusive_flux(um, &grad);
        std::array::from_fn(|k| ub[k] + wall[k] + inner[D - 1][k])
    }

    fn state(&self, random: &mut Random) -> [f64; K] {
        random.numbers()
    }
}

impl<L: Law<D, K> + Copy, const D: usize, const K: usize> Formula<D, K> for Streams<L> {
    fn eval<R: Real>(&self, um: &[R; K], _up: &[R; K], n: &[R; D]) -> [R; K] {
        let f = self.0.flux(um);
        let along = self.0.normal_flux(um, n);
        std::array::from_fn(|k| (1..D).fold(f[0][k] + along[k], |sum, d| sum + f[d][k]))
    }

    fn state(&self, random: &mut Random) -> [f64; K] {
        random.numbers()
    }
}

/// Calls `$visit!(name, formula, D, M)` for tangents.
macro_rules! for_each_tangent {
    ($visit:ident) => {
        for_each_tangent!(@flux $visit, "tangent_rusanov", Rusanov);
        for_each_tangent!(@flux $visit, "tangent_hllc", Hllc);
        for_each_tangent!(@flux $visit, "tangent_roe", Roe::PLAIN);
        for_each_tangent!(@flux $visit, "tangent_slau2", Slau2);
        $visit!("tangent_euler_3d", Along::<_, 5>(Streams(Tangent::<_, 5>(GAS))), 3, 10);
        $visit!("tangent_wall_2d", Along::<_, 4>(Rubbing(Tangent::<_, 4>(AIR), Tangent::<_, 4>(WALL))), 2, 8);
        $visit!("tangent_slip_2d", Along::<_, 4>(Rubbing(Tangent::<_, 4>(SYRUP), Tangent::<_, 4>(SlipWall))), 2, 8);
    };
    (@flux $visit:ident, $name:literal, $flux:expr) => {
        $visit!(
            concat!($name, "_2d"), Along::<_, 4>(FluxOf(Tangent::<_, 4>(GAS), Tangent::<_, 4>($flux))), 2, 8
        );
    };
}
pub(crate) use for_each_tangent;

/// Whether two numbers have the same bits. Derivatives may be zeros of different signs, because a graph
/// leaves out products with zero.
pub(crate) fn same(name: &str, a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (name.starts_with("tangent") && a == b)
}

/// The operations that some outputs need: all, and divisions, roots and powers.
fn operations(graph: &Graph, out: &[Id]) -> (usize, usize) {
    let live = graph.live(out);
    let nodes = graph.iter().filter(|(id, _)| live[id.index()]).map(|(_, node)| node);
    nodes.fold((0, 0), |(all, long), node| match node {
        Node::Input(_) | Node::Parameter(_) | Node::Literal(_) | Node::Bool(_) => (all, long),
        Node::Binary(Binary::Div | Binary::Pow, ..)
        | Node::Unary(Unary::Recip | Unary::Sqrt | Unary::Ln | Unary::Exp, _) => (all + 1, long + 1),
        _ => (all + 1, long),
    })
}

/// Records a formula.
fn graph_of<F: Formula<D, K>, const D: usize, const K: usize>(formula: F) -> (Graph, Vec<Id>) {
    let inputs = |name: &str, i: usize| input(&format!("{name}{i}"));
    let (graph, out) = record(|| {
        let [um, up] = ["um", "up"].map(|name| std::array::from_fn(|k| inputs(name, k)));
        formula.eval(&um, &up, &std::array::from_fn(|d| inputs("n", d)))
    });
    (graph, out.map(Sym::id).to_vec())
}

/// Fails if the graph adds a zero, or multiplies with zero or one.
fn is_tidy(name: &str, graph: &Graph, out: &[Id]) {
    let live = graph.live(out);
    for (id, node) in graph.iter().filter(|(id, _)| live[id.index()]) {
        let Node::Binary(op, a, b) = node else { continue };
        for x in [a, b].into_iter().filter_map(|x| graph.literal_value(x)) {
            let idle = match op {
                Binary::Add | Binary::Sub => x == 0.0,
                Binary::Mul => x == 0.0 || x.abs() == 1.0,
                _ => false,
            };
            assert!(!idle, "{name}: node {} is {op:?} with {x}", id.index());
        }
    }
}

/// A formula with its derivative in one direction takes less than three times its operations.
#[test]
fn derivatives_cost_a_few_times_their_formulas() {
    macro_rules! compare {
        ($($name:literal $plain:expr, $tangent:expr, $d:literal, $n:literal, $m:literal;)*) => {
            $(
                let (graph, out) = graph_of::<_, $d, $n>($plain);
                let (plain, plain_long) = operations(&graph, &out);
                let (graph, out) = graph_of::<_, $d, $m>($tangent);
                let (both, both_long) = operations(&graph, &out);
                is_tidy($name, &graph, &out);
                assert!(both < 3 * plain, "{}: {both} operations for {plain}", $name);
                assert!(both_long <= 2 * plain_long, "{}: {both_long} divisions for {plain_long}", $name);
            )*
        };
    }
    macro_rules! fluxes {
        ($($name:literal $flux:expr;)*) => {
            compare! { $(
                $name FluxOf(GAS, $flux), FluxOf(Tangent::<_, 4>(GAS), Tangent::<_, 4>($flux)), 2, 4, 8;
                $name FluxOf(GAS, $flux), FluxOf(Tangent::<_, 5>(GAS), Tangent::<_, 5>($flux)), 3, 5, 10;
            )* }
        };
    }
    fluxes! { "rusanov" Rusanov; "hll" Hll; "hllc" Hllc; "roe" Roe::PLAIN; "roe low" Roe::LOW_MACH; "slau2" Slau2; }
    compare! {
        "flux" Streams(GAS), Streams(Tangent::<_, 5>(GAS)), 3, 5, 10;
        "far field" OuterOf(GAS, FarField), OuterOf(Tangent::<_, 5>(GAS), Tangent::<_, 5>(FarField)), 3, 5, 10;
        "viscous" Rubbing(AIR, WALL), Rubbing(Tangent::<_, 5>(AIR), Tangent::<_, 5>(WALL)), 3, 5, 10;
        "viscous constant" Rubbing(SYRUP, WALL), Rubbing(Tangent::<_, 5>(SYRUP), Tangent::<_, 5>(WALL)), 3, 5, 10;
    }
}
