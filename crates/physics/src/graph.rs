//! Expression graphs: the form of recorded and of parsed formulas.

mod eval;
mod fold;
mod graft;
mod tape;

pub(crate) use tape::Tape;

use std::collections::HashMap;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u32);

impl Id {
    /// Position in [`Graph::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operations on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `−a`
    Neg,
    /// `1/a`
    Recip,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// Natural exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Hyperbolic tangent.
    Tanh,
    /// Largest integer not above.
    Floor,
    /// Error function.
    Erf,
}

/// Operations on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a b`
    Mul,
    /// `a / b`
    Div,
    /// `aᵇ`
    Pow,
    /// Angle of the point `(b, a)`.
    Atan2,
    /// `a < b ? a : b`
    Min,
    /// `a > b ? a : b`
    Max,
}

/// The operation of a node. Operands come before the nodes that use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The input with this index.
    Input(u32),
    /// The parameter with this index.
    Parameter(u32),
    /// A literal, stored by its bits, so that equal literals are one node.
    Literal(u64),
    /// A constant condition.
    Bool(bool),
    /// An operation on one number.
    Unary(Unary, Id),
    /// An operation on two numbers.
    Binary(Binary, Id, Id),
    /// The condition `a <= b`.
    LessEqual(Id, Id),
    /// The condition `a < b`.
    Less(Id, Id),
    /// Both conditions.
    And(Id, Id),
    /// Either condition.
    Or(Id, Id),
    /// The opposite condition.
    Not(Id),
    /// `Select(c, a, b)`: `a` if the condition holds, otherwise `b`; both are numbers.
    Select(Id, Id, Id),
}

impl Node {
    /// Calls `visit` for each operand, in order.
    pub fn for_each_operand(&self, mut visit: impl FnMut(Id)) {
        match *self {
            Self::Input(_) | Self::Parameter(_) | Self::Literal(_) | Self::Bool(_) => {}
            Self::Unary(_, a) | Self::Not(a) => visit(a),
            Self::Binary(_, a, b)
            | Self::LessEqual(a, b)
            | Self::Less(a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => {
                visit(a);
                visit(b);
            }
            Self::Select(c, a, b) => {
                visit(c);
                visit(a);
                visit(b);
            }
        }
    }

    /// Returns whether the node is a condition rather than a number.
    pub fn is_condition(&self) -> bool {
        matches!(
            self,
            Self::Bool(_)
                | Self::LessEqual(..)
                | Self::Less(..)
                | Self::And(..)
                | Self::Or(..)
                | Self::Not(_)
        )
    }
}

/// A parameter of a law in a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The name given to [`Real::param`](crate::Real::param).
    pub name: &'static str,
    /// The value passed with it.
    pub value: f64,
}

/// A directed graph of operations without cycles, in which equal subexpressions are one node.
///
/// Nodes are simplified when they are added: operations on literals are carried out, `x + 0`, `x · 1`,
/// `0 · x` and similar terms are removed, `−(−x)` is `x`, `x + (−y)` is `x − y`. Every simplification
/// preserves the value for finite `x` (except the sign of a zero).
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    inputs: Vec<String>,
    parameters: Vec<Parameter>,
    labels: HashMap<Id, &'static str>,
    known: HashMap<Node, Id>,
}

impl Graph {
    /// Makes a graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns all nodes; operands come before the nodes that use them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns all nodes with their identities; operands come before the nodes that use them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Id, Node)> + '_ {
        self.nodes.iter().enumerate().map(|(i, node)| (Id(i as u32), *node))
    }

    /// Returns the node.
    pub fn node(&self, id: Id) -> Node {
        self.nodes[id.index()]
    }

    /// Returns the names of the inputs, by index.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Returns the parameters in the order of first use.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the name of a node, if it has one.
    pub fn label(&self, id: Id) -> Option<&'static str> {
        self.labels.get(&id).copied()
    }

    /// Names a node unless it has a name.
    pub fn set_label(&mut self, id: Id, name: &'static str) {
        self.labels.entry(id).or_insert(name);
    }

    /// Returns the input of this name, and adds it if necessary.
    pub fn input(&mut self, name: &str) -> Id {
        let index = match self.inputs.iter().position(|n| n == name) {
            Some(i) => i,
            None => {
                self.inputs.push(name.to_owned());
                self.inputs.len() - 1
            }
        };
        self.intern(Node::Input(index as u32))
    }

    /// Returns the parameter of this name and value, and adds it if necessary. A second value for a name is a
    /// second parameter of that name; printing such a graph is an error.
    pub fn parameter(&mut self, name: &'static str, value: f64) -> Id {
        let same = |p: &Parameter| p.name == name && p.value.to_bits() == value.to_bits();
        let index = match self.parameters.iter().position(same) {
            Some(i) => i,
            None => {
                self.parameters.push(Parameter { name, value });
                self.parameters.len() - 1
            }
        };
        self.intern(Node::Parameter(index as u32))
    }

    /// Returns a literal number.
    pub fn literal(&mut self, x: f64) -> Id {
        self.intern(Node::Literal(x.to_bits()))
    }

    /// Returns the value of a literal node.
    pub fn literal_value(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Literal(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Returns which nodes the outputs depend on, by index.
    pub fn live(&self, outputs: &[Id]) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        for o in outputs {
            live[o.index()] = true;
        }
        for i in (0..self.nodes.len()).rev() {
            if live[i] {
                self.nodes[i].for_each_operand(|a| live[a.index()] = true);
            }
        }
        live
    }

    /// Adds a node, or finds an equal one; for addition and multiplication also one with exchanged operands.
    fn intern(&mut self, node: Node) -> Id {
        let key = match node {
            Node::Binary(op @ (Binary::Add | Binary::Mul), a, b) if b < a => Node::Binary(op, b, a),
            Node::And(a, b) if b < a => Node::And(b, a),
            Node::Or(a, b) if b < a => Node::Or(b, a),
            other => other,
        };
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(key, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_subexpressions_are_one_node() {
        let mut g = Graph::new();
        let (x, y) = (g.input("x"), g.input("y"));
        let a = g.binary(Binary::Mul, x, y);
        let b = g.binary(Binary::Mul, y, x);
        assert_eq!(a, b);
        let (c, d) = (g.binary(Binary::Sub, x, y), g.binary(Binary::Sub, y, x));
        assert_ne!(c, d);
        assert_eq!(g.input("x"), x);
    }

    #[test]
    fn only_what_an_output_needs_is_live() {
        let mut g = Graph::new();
        let (x, y) = (g.input("x"), g.input("y"));
        let used = g.unary(Unary::Sqrt, x);
        let unused = g.unary(Unary::Sqrt, y);
        let live = g.live(&[used]);
        assert!(live[used.index()] && live[x.index()]);
        assert!(!live[unused.index()] && !live[y.index()]);
    }

    #[test]
    fn a_parameter_with_two_values_is_two_parameters() {
        let mut g = Graph::new();
        let a = g.parameter("gamma", 1.4);
        assert_eq!(g.parameter("gamma", 1.4), a);
        assert_ne!(g.parameter("gamma", 1.6), a);
    }
}
