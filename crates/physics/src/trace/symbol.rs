//! The recording number type.

use crate::graph::{Binary, Graph, Id, Unary};
use crate::real::Real;
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::atomic::{AtomicU32, Ordering};

thread_local! {
    /// The graph that this thread records into, with its serial number.
    static CURRENT: RefCell<Option<(u32, Graph)>> = const { RefCell::new(None) };
}

/// Serial numbers distinguish the symbols of different recordings.
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// A number in a formula that is being recorded.
///
/// Symbols exist inside [`record`] (and [`device_fn`](super::device_fn)) on the thread that called it.
///
/// # Panics
/// Every operation panics outside of a recording, or on a symbol of another recording.
#[derive(Clone, Copy, Debug)]
pub struct Sym {
    id: Id,
    serial: u32,
}

/// A condition in a formula that is being recorded.
#[derive(Clone, Copy, Debug)]
pub struct Condition(Sym);

/// Restores the thread's previous recording, also when the recorded formula panics.
struct Restore(Option<(u32, Graph)>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Runs `body` with a new graph into which symbols record; returns the graph and the result of `body`.
/// Recordings may be nested; their symbols must not be mixed.
pub fn record<T>(body: impl FnOnce() -> T) -> (Graph, T) {
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let _restore = Restore(CURRENT.replace(Some((serial, Graph::new()))));
    let result = body();
    let (_, graph) = CURRENT.take().expect("a recording ends after those inside it");
    (graph, result)
}

/// Returns the input of this name in the current recording.
///
/// # Panics
/// Outside of a recording.
pub fn input(name: &str) -> Sym {
    add(&[], |g| g.input(name))
}

/// Adds a node to the current graph.
fn add(operands: &[Sym], f: impl FnOnce(&mut Graph) -> Id) -> Sym {
    CURRENT.with_borrow_mut(|current| {
        let Some((serial, graph)) = current else { panic!("a symbol was used outside of a recording") };
        for o in operands {
            assert!(o.serial == *serial, "a symbol was used outside of its own recording");
        }
        Sym { id: f(graph), serial: *serial }
    })
}

impl Sym {
    /// Returns the node in the graph of its recording.
    pub fn id(self) -> Id {
        self.id
    }

    fn unary(self, op: Unary) -> Self {
        add(&[self], |g| g.unary(op, self.id))
    }

    fn binary(self, op: Binary, other: Self) -> Self {
        add(&[self, other], |g| g.binary(op, self.id, other.id))
    }
}

impl Add for Sym {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.binary(Binary::Add, other)
    }
}
impl Sub for Sym {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.binary(Binary::Sub, other)
    }
}
impl Mul for Sym {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.binary(Binary::Mul, other)
    }
}
impl Div for Sym {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        self.binary(Binary::Div, other)
    }
}
impl Neg for Sym {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(Unary::Neg)
    }
}

impl Real for Sym {
    type Mask = Condition;

    fn lit(x: f64) -> Self {
        add(&[], |g| g.literal(x))
    }
    fn param(name: &'static str, value: f64) -> Self {
        add(&[], |g| g.parameter(name, value))
    }
    fn named(self, name: &'static str) -> Self {
        add(&[self], |g| {
            g.set_label(self.id, name);
            self.id
        })
    }
    fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt)
    }
    fn abs(self) -> Self {
        self.unary(Unary::Abs)
    }
    fn exp(self) -> Self {
        self.unary(Unary::Exp)
    }
    fn ln(self) -> Self {
        self.unary(Unary::Ln)
    }
    fn sin(self) -> Self {
        self.unary(Unary::Sin)
    }
    fn cos(self) -> Self {
        self.unary(Unary::Cos)
    }
    fn tan(self) -> Self {
        self.unary(Unary::Tan)
    }
    fn tanh(self) -> Self {
        self.unary(Unary::Tanh)
    }
    fn floor(self) -> Self {
        self.unary(Unary::Floor)
    }
    fn erf(self) -> Self {
        self.unary(Unary::Erf)
    }
    fn recip(self) -> Self {
        self.unary(Unary::Recip)
    }
    fn powf(self, exponent: Self) -> Self {
        self.binary(Binary::Pow, exponent)
    }
    fn powi(self, n: i32) -> Self {
        add(&[self], |g| g.power(self.id, n))
    }
    fn atan2(self, x: Self) -> Self {
        self.binary(Binary::Atan2, x)
    }
    fn min(self, other: Self) -> Self {
        self.binary(Binary::Min, other)
    }
    fn max(self, other: Self) -> Self {
        self.binary(Binary::Max, other)
    }
    fn le(self, other: Self) -> Condition {
        Condition(add(&[self, other], |g| g.less_equal(self.id, other.id)))
    }
    fn lt(self, other: Self) -> Condition {
        Condition(add(&[self, other], |g| g.less(self.id, other.id)))
    }
    fn and(a: Condition, b: Condition) -> Condition {
        Condition(add(&[a.0, b.0], |g| g.and(a.0.id, b.0.id)))
    }
    fn or(a: Condition, b: Condition) -> Condition {
        Condition(add(&[a.0, b.0], |g| g.or(a.0.id, b.0.id)))
    }
    fn not(a: Condition) -> Condition {
        Condition(add(&[a.0], |g| g.not(a.0.id)))
    }
    fn select(condition: Condition, a: Self, b: Self) -> Self {
        add(&[condition.0, a, b], |g| g.select(condition.0.id, a.id, b.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_formula_evaluates_to_the_same_number() {
        fn f<R: Real>(x: R, y: R) -> R {
            let swap = R::or(x.lt(y), R::not(y.le(R::lit(2.0))));
            let s = R::select(swap, x.sin() / y, y.powf(x) - x.atan2(y));
            s.mul_add(x.tanh(), y.powi(-3)).max(x.min(y)).abs().sqrt() + R::lit(0.0) * x
        }
        let (graph, out) = record(|| f(input("x"), input("y")));
        for (x, y) in [(0.3, 0.7), (1.1, 0.2), (2.5, 2.25)] {
            let got: Vec<f64> = graph.eval(&[x, y], &[out.id()]);
            assert_eq!(got[0].to_bits(), f(x, y).to_bits(), "f({x}, {y})");
        }
    }

    #[test]
    fn recordings_may_be_nested_and_a_graph_recorded_again() {
        let (outer, out) = record(|| {
            let x = input("x");
            let (inner, square) = record(|| {
                let y = input("y");
                y * y
            });
            inner.eval(&[x + Sym::lit(1.0)], &[square.id()])[0]
        });
        assert_eq!(outer.eval(&[2.0], &[out.id()]), [9.0]);
    }

    #[test]
    #[should_panic(expected = "outside of a recording")]
    fn a_symbol_outside_of_a_recording_panics() {
        let _ = Sym::lit(1.0);
    }

    #[test]
    #[should_panic(expected = "outside of its own recording")]
    fn symbols_of_two_recordings_do_not_mix() {
        let (_, x) = record(|| input("x"));
        let _ = record(|| x + input("x"));
    }
}
