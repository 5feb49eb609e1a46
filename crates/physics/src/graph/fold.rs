//! Adds operations to a graph, with simplifications where operands are literals.

use super::{Binary, Graph, Id, Node, Unary};
use crate::real::Real;

/// Carries out an operation on one number of any type.
pub(crate) fn apply_unary<R: Real>(op: Unary, a: R) -> R {
    match op {
        Unary::Neg => -a,
        Unary::Recip => a.recip(),
        Unary::Sqrt => a.sqrt(),
        Unary::Abs => a.abs(),
        Unary::Exp => a.exp(),
        Unary::Ln => a.ln(),
        Unary::Sin => a.sin(),
        Unary::Cos => a.cos(),
        Unary::Tan => a.tan(),
        Unary::Tanh => a.tanh(),
        Unary::Floor => a.floor(),
        Unary::Erf => a.erf(),
    }
}

/// Carries out an operation on two numbers of any type.
pub(crate) fn apply_binary<R: Real>(op: Binary, a: R, b: R) -> R {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => a.powf(b),
        Binary::Atan2 => a.atan2(b),
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
    }
}

impl Graph {
    /// Adds an operation on one number.
    pub fn unary(&mut self, op: Unary, a: Id) -> Id {
        if let Some(x) = self.literal_value(a) {
            return self.literal(apply_unary(op, x));
        }
        match (op, self.node(a)) {
            (Unary::Neg, Node::Unary(Unary::Neg, inner)) => inner,
            (Unary::Abs, Node::Unary(Unary::Abs, _)) => a,
            _ => self.intern(Node::Unary(op, a)),
        }
    }

    /// Adds an operation on two numbers.
    pub fn binary(&mut self, op: Binary, a: Id, b: Id) -> Id {
        let (x, y) = (self.literal_value(a), self.literal_value(b));
        if let (Some(x), Some(y)) = (x, y) {
            return self.literal(apply_binary(op, x, y));
        }
        let negated = |g: &Self, id: Id| match g.node(id) {
            Node::Unary(Unary::Neg, inner) => Some(inner),
            _ => None,
        };
        let is = |v: Option<f64>, c: f64| v == Some(c);
        match op {
            Binary::Add if is(x, 0.0) => b,
            Binary::Add | Binary::Sub if is(y, 0.0) => a,
            Binary::Sub if is(x, 0.0) => self.unary(Unary::Neg, b),
            Binary::Mul if is(x, 0.0) || is(y, 0.0) => self.literal(0.0),
            Binary::Div if is(x, 0.0) => self.literal(0.0),
            Binary::Mul if is(x, 1.0) => b,
            Binary::Mul | Binary::Div | Binary::Pow if is(y, 1.0) => a,
            Binary::Mul if is(x, -1.0) => self.unary(Unary::Neg, b),
            Binary::Mul | Binary::Div if is(y, -1.0) => self.unary(Unary::Neg, a),
            Binary::Div if is(x, 1.0) => self.unary(Unary::Recip, b),
            Binary::Pow if is(y, 0.0) => self.literal(1.0),
            Binary::Min | Binary::Max if a == b => a,
            Binary::Add | Binary::Sub => match (negated(self, a), negated(self, b)) {
                (_, Some(c)) => self.binary(if op == Binary::Add { Binary::Sub } else { Binary::Add }, a, c),
                (Some(c), None) if op == Binary::Add => self.binary(Binary::Sub, b, c),
                _ => self.intern(Node::Binary(op, a, b)),
            },
            _ => self.intern(Node::Binary(op, a, b)),
        }
    }

    /// Returns whether a node has a finite value for all finite values of inputs and parameters, except for
    /// overflow. A node that may have a pole, or may be undefined, does not.
    pub fn is_finite(&self, id: Id) -> bool {
        let live = self.live(&[id]);
        self.iter().filter(|(id, _)| live[id.index()]).all(|(_, node)| match node {
            Node::Literal(bits) => f64::from_bits(bits).is_finite(),
            Node::Unary(op, _) => !matches!(op, Unary::Recip | Unary::Sqrt | Unary::Ln),
            Node::Binary(Binary::Div, _, divisor) => self.literal_value(divisor).is_some_and(|x| x != 0.0),
            Node::Binary(op, ..) => op != Binary::Pow,
            _ => true,
        })
    }

    /// Adds `a` to an integer power, as products.
    pub fn power(&mut self, a: Id, n: i32) -> Id {
        let mut rest = n.unsigned_abs();
        let mut square = a;
        let mut product = self.literal(1.0);
        while rest > 0 {
            if rest & 1 == 1 {
                product = self.binary(Binary::Mul, product, square);
            }
            rest >>= 1;
            if rest > 0 {
                square = self.binary(Binary::Mul, square, square);
            }
        }
        if n < 0 { self.unary(Unary::Recip, product) } else { product }
    }

    /// Adds the condition `a <= b`.
    pub fn less_equal(&mut self, a: Id, b: Id) -> Id {
        match (self.literal_value(a), self.literal_value(b)) {
            (Some(x), Some(y)) => self.boolean(x <= y),
            _ => self.intern(Node::LessEqual(a, b)),
        }
    }

    /// Adds the condition `a < b`.
    pub fn less(&mut self, a: Id, b: Id) -> Id {
        match (self.literal_value(a), self.literal_value(b)) {
            (Some(x), Some(y)) => self.boolean(x < y),
            _ => self.intern(Node::Less(a, b)),
        }
    }

    /// Adds a constant condition.
    pub fn boolean(&mut self, value: bool) -> Id {
        self.intern(Node::Bool(value))
    }

    /// Adds the condition that both conditions hold.
    pub fn and(&mut self, a: Id, b: Id) -> Id {
        match (self.node(a), self.node(b)) {
            (Node::Bool(true), _) => b,
            (_, Node::Bool(true)) => a,
            (Node::Bool(false), _) | (_, Node::Bool(false)) => self.boolean(false),
            _ if a == b => a,
            _ => self.intern(Node::And(a, b)),
        }
    }

    /// Adds the condition that either condition holds.
    pub fn or(&mut self, a: Id, b: Id) -> Id {
        match (self.node(a), self.node(b)) {
            (Node::Bool(false), _) => b,
            (_, Node::Bool(false)) => a,
            (Node::Bool(true), _) | (_, Node::Bool(true)) => self.boolean(true),
            _ if a == b => a,
            _ => self.intern(Node::Or(a, b)),
        }
    }

    /// Adds the opposite of a condition.
    pub fn not(&mut self, a: Id) -> Id {
        match self.node(a) {
            Node::Bool(value) => self.boolean(!value),
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(a)),
        }
    }

    /// Adds the choice of `a` if the condition holds and `b` otherwise.
    pub fn select(&mut self, condition: Id, a: Id, b: Id) -> Id {
        match self.node(condition) {
            Node::Bool(true) => a,
            Node::Bool(false) => b,
            _ if a == b => a,
            Node::Not(inner) => self.intern(Node::Select(inner, b, a)),
            _ => self.intern(Node::Select(condition, a, b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_ones_disappear() {
        let mut g = Graph::new();
        let x = g.input("x");
        let (zero, one) = (g.literal(0.0), g.literal(1.0));
        assert_eq!(g.binary(Binary::Add, x, zero), x);
        assert_eq!(g.binary(Binary::Add, zero, x), x);
        assert_eq!(g.binary(Binary::Sub, x, zero), x);
        assert_eq!(g.binary(Binary::Mul, one, x), x);
        assert_eq!(g.binary(Binary::Mul, x, one), x);
        assert_eq!(g.binary(Binary::Div, x, one), x);
        assert_eq!(g.binary(Binary::Mul, zero, x), zero);
        assert_eq!(g.binary(Binary::Mul, x, zero), zero);
        let minus = g.unary(Unary::Neg, x);
        assert_eq!(g.binary(Binary::Sub, zero, x), minus);
        assert_eq!(g.unary(Unary::Neg, minus), x);
    }

    #[test]
    fn negated_terms_become_differences() {
        let mut g = Graph::new();
        let (x, y) = (g.input("x"), g.input("y"));
        let (mx, my) = (g.unary(Unary::Neg, x), g.unary(Unary::Neg, y));
        let difference = g.binary(Binary::Sub, x, y);
        assert_eq!(g.binary(Binary::Add, x, my), difference);
        let reverse = g.binary(Binary::Sub, y, x);
        assert_eq!(g.binary(Binary::Add, mx, y), reverse);
        let sum = g.binary(Binary::Add, x, y);
        assert_eq!(g.binary(Binary::Sub, x, my), sum);
    }

    #[test]
    fn operations_on_literals_are_carried_out() {
        let mut g = Graph::new();
        let (two, three) = (g.literal(2.0), g.literal(3.0));
        let p = g.binary(Binary::Pow, two, three);
        assert_eq!(g.literal_value(p), Some(8.0));
        let s = g.unary(Unary::Sqrt, p);
        assert_eq!(g.literal_value(s), Some(8f64.sqrt()));
        let c = g.less(two, three);
        assert_eq!(g.select(c, two, three), two);
    }

    #[test]
    fn whole_powers_are_the_products_of_the_number_type() {
        for n in -12..=12 {
            let mut g = Graph::new();
            let x = g.input("x");
            let p = g.power(x, n);
            let got: Vec<f64> = g.eval(&[1.3], &[p]);
            assert_eq!(got[0].to_bits(), Real::powi(1.3f64, n).to_bits(), "n = {n}");
        }
    }
}
