//! The formulas that these tests record, each as a device function and as a Rust function of the same inputs.

use dgsuite_physics::trace::{Arguments, Parameters, Sym, device_fn};
use dgsuite_physics::{Boundary, Euler, Law, NumericalFlux, Real};

pub(crate) const GAS: Euler = Euler { gamma: 1.4 };

/// A formula of two states and a normal.
pub(crate) trait Formula<const D: usize, const N: usize>: Copy {
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N];
}

/// A numerical flux.
#[derive(Clone, Copy)]
pub(crate) struct Flux<F>(pub(crate) F);

/// The outer state of a boundary condition; the second state is its data.
#[derive(Clone, Copy)]
pub(crate) struct Outer<B>(pub(crate) B);

impl<F: NumericalFlux<Euler, D, N>, const D: usize, const N: usize> Formula<D, N> for Flux<F>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.eval(&GAS, um, up, n)
    }
}

impl<B: Boundary<Euler, D, N> + Copy, const D: usize, const N: usize> Formula<D, N> for Outer<B>
where
    Euler: Law<D, N>,
{
    fn eval<R: Real>(&self, um: &[R; N], up: &[R; N], n: &[R; D]) -> [R; N] {
        self.0.outer(&GAS, um, n, up)
    }
}

/// Records a formula in the arguments of its device function.
pub(crate) fn body<F: Formula<D, N>, const D: usize, const N: usize>(
    formula: F,
) -> impl Fn(&Arguments<'_>) -> [Sym; N] {
    move |a| formula.eval(&a.array("um"), &a.array("up"), &a.array("n"))
}

/// The device function of a formula.
pub(crate) fn print<F: Formula<D, N>, const D: usize, const N: usize>(
    name: &str,
    formula: F,
    parameters: &mut Parameters,
) -> String {
    device_fn(name, &[("um", N), ("up", N), ("n", D)], parameters, body::<F, D, N>(formula)).unwrap()
}

/// Calls `$visit!(name, formula, D, N)` for every formula under test.
macro_rules! for_each_formula {
    ($visit:ident) => {
        for_each_formula!(@dims $visit, rusanov, Flux(Rusanov));
        for_each_formula!(@dims $visit, hll, Flux(Hll));
        for_each_formula!(@dims $visit, hllc, Flux(Hllc));
        for_each_formula!(@dims $visit, roe, Flux(Roe));
        for_each_formula!(@dims $visit, slip_wall, Outer(SlipWall));
        for_each_formula!(@dims $visit, pressure_outlet, Outer(PressureOutlet { p: 0.7 }));
        for_each_formula!(@dims $visit, far_field, Outer(FarField));
    };
    (@dims $visit:ident, $name:ident, $formula:expr) => {
        $visit!(concat!(stringify!($name), "_2d"), $formula, 2, 4);
        $visit!(concat!(stringify!($name), "_3d"), $formula, 3, 5);
    };
}
pub(crate) use for_each_formula;

/// Deterministic random numbers in `[0, 1)` (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An admissible state with velocities up to about Mach 5.
    pub(crate) fn state<const D: usize, const N: usize>(&mut self) -> [f64; N]
    where
        Euler: Law<D, N>,
    {
        let w: [f64; N] = std::array::from_fn(|k| {
            let x = self.next();
            if k == 0 || k == N - 1 { 0.05 + 3.0 * x } else { 6.0 * x - 3.0 }
        });
        GAS.to_conserved(&w)
    }

    /// A unit vector.
    pub(crate) fn normal<const D: usize>(&mut self) -> [f64; D] {
        let n: [f64; D] = std::array::from_fn(|_| 2.0 * self.next() - 1.0);
        let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
        n.map(|x| x / length)
    }
}
