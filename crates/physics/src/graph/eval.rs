//! Evaluates a graph over any number type.

use super::fold::{apply_binary, apply_unary};
use super::{Graph, Id, Node, Unary};
use crate::real::Real;

/// The value of a node.
enum Value<R: Real> {
    Number(R),
    Condition(R::Mask),
}

impl<R: Real> Clone for Value<R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R: Real> Copy for Value<R> {}

impl Graph {
    /// Returns the values of `outputs` for the given inputs, over any number type: numbers evaluate the
    /// formula, dual numbers differentiate it, symbols record it again inside another formula.
    ///
    /// A condition as an output is 1 if it holds and 0 otherwise.
    ///
    /// # Panics
    /// If `inputs` has fewer entries than [`Graph::inputs`].
    pub fn eval<R: Real>(&self, inputs: &[R], outputs: &[Id]) -> Vec<R> {
        self.eval_by(apply_unary, inputs, outputs)
    }

    /// As [`eval`](Self::eval); the derivative of a root of zero is zero, as at the tip of the cone
    /// `sqrt(u^2 + v^2)`.
    pub fn eval_with_tips<R: Real>(&self, inputs: &[R], outputs: &[Id]) -> Vec<R> {
        let unary = |op, a: R| if op == Unary::Sqrt { a.sqrt_of_squares() } else { apply_unary(op, a) };
        self.eval_by(unary, inputs, outputs)
    }

    fn eval_by<R: Real>(&self, unary: impl Fn(Unary, R) -> R, inputs: &[R], outputs: &[Id]) -> Vec<R> {
        let live = self.live(outputs);
        let mut values: Vec<Option<Value<R>>> = vec![None; self.nodes().len()];
        for (i, node) in self.nodes().iter().enumerate() {
            if live[i] {
                values[i] = Some(self.value_of(node, &unary, inputs, &values));
            }
        }
        outputs.iter().map(|o| number(&values, *o)).collect()
    }

    fn value_of<R: Real>(
        &self,
        node: &Node,
        unary: &impl Fn(Unary, R) -> R,
        inputs: &[R],
        values: &[Option<Value<R>>],
    ) -> Value<R> {
        let n = |id: Id| number(values, id);
        let c = |id: Id| condition(values, id);
        match *node {
            Node::Input(i) => Value::Number(inputs[i as usize]),
            Node::Parameter(i) => {
                let p = self.parameters()[i as usize];
                Value::Number(R::param(p.name, p.value))
            }
            Node::Literal(bits) => Value::Number(R::lit(f64::from_bits(bits))),
            Node::Bool(b) => Value::Condition(R::lit(0.0).lt(if b { R::lit(1.0) } else { R::lit(0.0) })),
            Node::Unary(op, a) => Value::Number(unary(op, n(a))),
            Node::Binary(op, a, b) => Value::Number(apply_binary(op, n(a), n(b))),
            Node::LessEqual(a, b) => Value::Condition(n(a).le(n(b))),
            Node::Less(a, b) => Value::Condition(n(a).lt(n(b))),
            Node::And(a, b) => Value::Condition(R::and(c(a), c(b))),
            Node::Or(a, b) => Value::Condition(R::or(c(a), c(b))),
            Node::Not(a) => Value::Condition(R::not(c(a))),
            Node::Select(m, a, b) => Value::Number(R::select(c(m), n(a), n(b))),
        }
    }
}

/// The number at a node; a condition counts as 1 or 0.
fn number<R: Real>(values: &[Option<Value<R>>], id: Id) -> R {
    match values[id.index()] {
        Some(Value::Number(x)) => x,
        Some(Value::Condition(m)) => R::select(m, R::lit(1.0), R::lit(0.0)),
        None => unreachable!("operands precede their users"),
    }
}

/// The condition at a node; a number counts as true if it is not zero.
fn condition<R: Real>(values: &[Option<Value<R>>], id: Id) -> R::Mask {
    match values[id.index()] {
        Some(Value::Condition(m)) => m,
        Some(Value::Number(x)) => R::not(R::and(x.le(R::lit(0.0)), R::lit(0.0).le(x))),
        None => unreachable!("operands precede their users"),
    }
}
