//! The functions of the formula language, in terms of graph operations.

use crate::graph::{Binary, Graph, Id, Unary};
use std::f64::consts::LN_10;

/// A function's name, the number of its arguments, and that number in words.
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) count: &'static str,
    build: Build,
}

/// How a function of arguments becomes nodes.
enum Build {
    Unary(Unary),
    Binary(Binary),
    Fold(Binary),
    Other(fn(&mut Graph, &[Id]) -> Id),
}

const fn unary(name: &'static str, op: Unary) -> Function {
    Function { name, least: 1, most: 1, count: "one argument", build: Build::Unary(op) }
}

const fn one(name: &'static str, build: fn(&mut Graph, &[Id]) -> Id) -> Function {
    Function { name, least: 1, most: 1, count: "one argument", build: Build::Other(build) }
}

const fn two(name: &'static str, build: Build) -> Function {
    Function { name, least: 2, most: 2, count: "two arguments", build }
}

const fn many(name: &'static str, op: Binary) -> Function {
    Function { name, least: 2, most: usize::MAX, count: "two or more arguments", build: Build::Fold(op) }
}

static FUNCTIONS: [Function; 23] = [
    unary("sin", Unary::Sin),
    unary("cos", Unary::Cos),
    unary("tan", Unary::Tan),
    unary("tanh", Unary::Tanh),
    unary("exp", Unary::Exp),
    unary("log", Unary::Ln),
    unary("ln", Unary::Ln),
    unary("sqrt", Unary::Sqrt),
    unary("abs", Unary::Abs),
    unary("floor", Unary::Floor),
    unary("erf", Unary::Erf),
    one("asin", |g, a| {
        let c = cosine_of_arcsine(g, a[0]);
        g.binary(Binary::Atan2, a[0], c)
    }),
    one("acos", |g, a| {
        let s = cosine_of_arcsine(g, a[0]);
        g.binary(Binary::Atan2, s, a[0])
    }),
    one("atan", |g, a| {
        let one = g.literal(1.0);
        g.binary(Binary::Atan2, a[0], one)
    }),
    // A product with tanh: the difference of exponentials would lose all digits near zero.
    one("sinh", |g, a| {
        let (t, c) = (g.unary(Unary::Tanh, a[0]), hyperbolic_cosine(g, a[0]));
        g.binary(Binary::Mul, t, c)
    }),
    one("cosh", |g, a| hyperbolic_cosine(g, a[0])),
    one("log10", |g, a| {
        let (ln, ten) = (g.unary(Unary::Ln, a[0]), g.literal(LN_10));
        g.binary(Binary::Div, ln, ten)
    }),
    one("sign", |g, a| {
        let (minus, zero, plus) = (g.literal(-1.0), g.literal(0.0), g.literal(1.0));
        let (below, above) = (g.less(a[0], zero), g.less(zero, a[0]));
        let other = g.select(above, plus, zero);
        g.select(below, minus, other)
    }),
    two("atan2", Build::Binary(Binary::Atan2)),
    two("pow", Build::Other(|g, a| power(g, a[0], a[1]))),
    many("min", Binary::Min),
    many("max", Binary::Max),
    Function {
        name: "if",
        least: 3,
        most: 3,
        count: "a condition and two values",
        build: Build::Other(|g, a| {
            let c = condition(g, a[0]);
            let (x, y) = (number(g, a[1]), number(g, a[2]));
            g.select(c, x, y)
        }),
    },
];

/// Returns the function of this name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// Returns the names of all functions.
pub(super) fn known<'a>() -> impl Iterator<Item = &'a str> {
    FUNCTIONS.iter().map(|f| f.name)
}

impl Function {
    /// Adds the function of these arguments, whose number has been checked.
    pub(super) fn apply(&self, g: &mut Graph, arguments: &[Id]) -> Id {
        if self.name == "if" {
            return match self.build {
                Build::Other(build) => build(g, arguments),
                _ => unreachable!("`if` has a builder of its own"),
            };
        }
        let a: Vec<Id> = arguments.iter().map(|id| number(g, *id)).collect();
        match self.build {
            Build::Unary(op) => g.unary(op, a[0]),
            Build::Binary(op) => g.binary(op, a[0], a[1]),
            Build::Fold(op) => a[1..].iter().fold(a[0], |x, y| g.binary(op, x, *y)),
            Build::Other(build) => build(g, &a),
        }
    }
}

/// `a^b`: products for integer literals, a root for one half.
pub(super) fn power(g: &mut Graph, a: Id, b: Id) -> Id {
    match g.literal_value(b) {
        Some(n) if n.fract() == 0.0 && n.abs() <= 64.0 => g.power(a, n as i32),
        Some(0.5) => g.unary(Unary::Sqrt, a),
        _ => g.binary(Binary::Pow, a, b),
    }
}

/// `a b`. If one factor is 0 and the other may be infinite or NaN, the product is the difference of the other
/// factor and itself, which no later simplification turns into 0.
pub(super) fn product(g: &mut Graph, a: Id, b: Id) -> Id {
    let is_zero = |g: &Graph, id: Id| g.literal_value(id) == Some(0.0);
    match (is_zero(g, a), is_zero(g, b)) {
        (true, false) if !g.is_finite(b) => g.binary(Binary::Sub, b, b),
        (false, true) if !g.is_finite(a) => g.binary(Binary::Sub, a, a),
        _ => g.binary(Binary::Mul, a, b),
    }
}

/// `a/b`; with `0/b` as a product of 0 and `1/b`.
pub(super) fn quotient(g: &mut Graph, a: Id, b: Id) -> Id {
    if g.literal_value(a) == Some(0.0) && g.literal_value(b).is_none() {
        let inverse = g.unary(Unary::Recip, b);
        return product(g, a, inverse);
    }
    g.binary(Binary::Div, a, b)
}

/// A condition as a number, 1 or 0; a number unchanged.
pub(super) fn number(g: &mut Graph, a: Id) -> Id {
    if !g.node(a).is_condition() {
        return a;
    }
    let (one, zero) = (g.literal(1.0), g.literal(0.0));
    g.select(a, one, zero)
}

/// A number as a condition, true unless 0; a condition unchanged.
pub(super) fn condition(g: &mut Graph, a: Id) -> Id {
    if g.node(a).is_condition() {
        return a;
    }
    let zero = g.literal(0.0);
    let is_zero = equal(g, a, zero);
    g.not(is_zero)
}

/// The condition `a == b`.
pub(super) fn equal(g: &mut Graph, a: Id, b: Id) -> Id {
    let (below, above) = (g.less_equal(a, b), g.less_equal(b, a));
    g.and(below, above)
}

/// `√(1 − a²)`, as a product that keeps digits near `|a| = 1`.
fn cosine_of_arcsine(g: &mut Graph, a: Id) -> Id {
    let one = g.literal(1.0);
    let (minus, plus) = (g.binary(Binary::Sub, one, a), g.binary(Binary::Add, one, a));
    let product = g.binary(Binary::Mul, minus, plus);
    g.unary(Unary::Sqrt, product)
}

/// `½ (eᵃ + e⁻ᵃ)`.
fn hyperbolic_cosine(g: &mut Graph, a: Id) -> Id {
    let e = g.unary(Unary::Exp, a);
    let inverse = g.unary(Unary::Recip, e);
    let sum = g.binary(Binary::Add, e, inverse);
    let half = g.literal(0.5);
    g.binary(Binary::Mul, half, sum)
}
