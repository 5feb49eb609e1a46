//! Graphs inside of others.

use super::{Graph, Id, Node};

impl Graph {
    /// Adds a node of another graph with all that it needs, and returns its identity here. Inputs of the
    /// other graph are the inputs of the same names.
    pub(crate) fn graft(&mut self, other: &Self, root: Id) -> Id {
        let live = other.live(&[root]);
        // The nodes of the other graph that are here already.
        let mut here = vec![root; other.nodes().len()];
        for (id, node) in other.iter().filter(|(id, _)| live[id.index()]) {
            let at = |id: Id| here[id.index()];
            let new = match node {
                Node::Input(i) => self.input(&other.inputs()[i as usize]),
                Node::Parameter(i) => {
                    let parameter = other.parameters()[i as usize];
                    self.parameter(parameter.name, parameter.value)
                }
                Node::Literal(bits) => self.literal(f64::from_bits(bits)),
                Node::Bool(value) => self.boolean(value),
                Node::Unary(op, a) => self.unary(op, at(a)),
                Node::Binary(op, a, b) => self.binary(op, at(a), at(b)),
                Node::LessEqual(a, b) => self.less_equal(at(a), at(b)),
                Node::Less(a, b) => self.less(at(a), at(b)),
                Node::And(a, b) => self.and(at(a), at(b)),
                Node::Or(a, b) => self.or(at(a), at(b)),
                Node::Not(a) => self.not(at(a)),
                Node::Select(c, a, b) => self.select(at(c), at(a), at(b)),
            };
            here[id.index()] = new;
        }
        here[root.index()]
    }
}
