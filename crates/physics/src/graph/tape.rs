//! A graph as a list of operations on blocks of points.

use super::{Binary, Graph, Id, Node, Unary};
use crate::real::Real;
use std::cell::RefCell;

/// Points per operation: enough to hide the cost of its dispatch, few enough to stay in the first-level
/// cache.
const BLOCK: usize = 128;

/// Registers of one point that are not allocated.
const FEW: usize = 64;

/// The storage of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Variable(usize),
    /// A block that holds the same number everywhere.
    Constant(usize),
    Register(usize),
}

/// An operation; conditions are 1 and 0.
#[derive(Clone, Copy, Debug)]
enum Action {
    Unary(Unary, Operand),
    Binary(Binary, Operand, Operand),
    LessEqual(Operand, Operand),
    Less(Operand, Operand),
    And(Operand, Operand),
    Or(Operand, Operand),
    Not(Operand),
    Select(Operand, Operand, Operand),
}

/// The operations needed for some outputs, in order, each with its own result register.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    operations: Vec<(Action, usize)>,
    constants: Vec<f64>,
    n_registers: usize,
    results: Vec<Operand>,
}

impl Tape {
    /// Collects the operations needed for the values at `roots`. Registers are reused when their values are
    /// no longer needed; the result of an operation never shares a register with its operands.
    pub(crate) fn new(graph: &Graph, roots: &[Id]) -> Self {
        let live = graph.live(roots);
        let mut last_use = vec![0; live.len()];
        for (id, node) in graph.iter().filter(|(id, _)| live[id.index()]) {
            node.for_each_operand(|a| last_use[a.index()] = id.index());
        }
        for root in roots {
            last_use[root.index()] = usize::MAX;
        }
        let mut tape =
            Self { operations: Vec::new(), constants: Vec::new(), n_registers: 0, results: Vec::new() };
        let mut place = vec![Operand::Constant(0); live.len()];
        let mut free = Vec::new();
        for (id, node) in graph.iter().filter(|(id, _)| live[id.index()]) {
            let at = |a: Id| place[a.index()];
            let action = match node {
                Node::Input(i) => {
                    place[id.index()] = Operand::Variable(i as usize);
                    continue;
                }
                Node::Parameter(i) => {
                    place[id.index()] = tape.constant(graph.parameters()[i as usize].value);
                    continue;
                }
                Node::Literal(bits) => {
                    place[id.index()] = tape.constant(f64::from_bits(bits));
                    continue;
                }
                Node::Bool(b) => {
                    place[id.index()] = tape.constant(f64::from(u8::from(b)));
                    continue;
                }
                Node::Unary(op, a) => Action::Unary(op, at(a)),
                Node::Binary(op, a, b) => Action::Binary(op, at(a), at(b)),
                Node::LessEqual(a, b) => Action::LessEqual(at(a), at(b)),
                Node::Less(a, b) => Action::Less(at(a), at(b)),
                Node::And(a, b) => Action::And(at(a), at(b)),
                Node::Or(a, b) => Action::Or(at(a), at(b)),
                Node::Not(a) => Action::Not(at(a)),
                Node::Select(c, a, b) => Action::Select(at(c), at(a), at(b)),
            };
            let register = free.pop().unwrap_or_else(|| {
                tape.n_registers += 1;
                tape.n_registers - 1
            });
            tape.operations.push((action, register));
            place[id.index()] = Operand::Register(register);
            node.for_each_operand(|a| {
                if let Operand::Register(r) = place[a.index()]
                    && last_use[a.index()] == id.index()
                    && !free.contains(&r)
                {
                    free.push(r);
                }
            });
        }
        tape.results = roots.iter().map(|r| place[r.index()]).collect();
        tape
    }

    fn constant(&mut self, x: f64) -> Operand {
        self.constants.push(x);
        Operand::Constant(self.constants.len() - 1)
    }

    /// Computes values at `n_points` points from `values[v]`, with one entry per point or one for all. Passes
    /// the values of the `k`-th root to `write`, a range of points at a time.
    ///
    /// # Panics
    /// If `values` have other lengths.
    pub(crate) fn eval(
        &self,
        n_points: usize,
        values: &[&[f64]],
        write: &mut dyn FnMut(usize, std::ops::Range<usize>, &[f64]),
    ) {
        for (v, x) in values.iter().enumerate() {
            let n = x.len();
            assert!(n == n_points || n == 1, "variable {v} has {n} values for {n_points} points");
        }
        if n_points == 1 {
            return self.eval_point(values, &mut |k, block| write(k, 0..1, block));
        }
        // Each thread keeps its blocks from call to call.
        thread_local!(static KEPT: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) });
        let mut kept = KEPT.take();
        let n_blocks = self.n_registers + self.constants.len() + values.len();
        if kept.len() < n_blocks {
            kept.resize_with(n_blocks, || vec![0.0; BLOCK]);
        }
        let (registers, rest) = kept.split_at_mut(self.n_registers);
        let (constants, same) = rest.split_at_mut(self.constants.len());
        let width = BLOCK.min(n_points);
        for (block, x) in constants.iter_mut().zip(&self.constants) {
            block[..width].fill(*x);
        }
        for (block, x) in same.iter_mut().zip(values) {
            if x.len() == 1 {
                block[..width].fill(x[0]);
            }
        }
        for start in (0..n_points).step_by(BLOCK) {
            let n = BLOCK.min(n_points - start);
            let variable = |v: usize| match values[v] {
                [_] => &same[v][..n],
                x => &x[start..start + n],
            };
            for (action, target) in &self.operations {
                // The result is not among the operands, so it can be taken out of the list while they are
                // read.
                let mut block = std::mem::take(&mut registers[*target]);
                let read = |o: Operand| match o {
                    Operand::Variable(v) => variable(v),
                    Operand::Constant(c) => &constants[c][..n],
                    Operand::Register(r) => &registers[r][..n],
                };
                run(*action, read, &mut block[..n]);
                registers[*target] = block;
            }
            for (k, result) in self.results.iter().enumerate() {
                let block = match *result {
                    Operand::Variable(v) => variable(v),
                    Operand::Constant(c) => &constants[c][..n],
                    Operand::Register(r) => &registers[r][..n],
                };
                write(k, start..start + n, block);
            }
        }
        KEPT.set(kept);
    }

    /// The same at one point, where the cost of preparing blocks would be most of the work.
    fn eval_point(&self, values: &[&[f64]], write: &mut dyn FnMut(usize, &[f64])) {
        let mut few = [0.0; FEW];
        let mut many = Vec::new();
        let registers = if self.n_registers <= FEW {
            &mut few[..]
        } else {
            many.resize(self.n_registers, 0.0);
            &mut many[..]
        };
        for (action, target) in &self.operations {
            let mut out = [0.0];
            run(*action, |o| self.number(o, values, registers), &mut out);
            registers[*target] = out[0];
        }
        for (k, result) in self.results.iter().enumerate() {
            write(k, self.number(*result, values, registers));
        }
    }

    /// The only number of an operand.
    #[inline]
    fn number<'a>(&'a self, o: Operand, values: &[&'a [f64]], registers: &'a [f64]) -> &'a [f64] {
        match o {
            Operand::Variable(v) => &values[v][..1],
            Operand::Constant(c) => &self.constants[c..=c],
            Operand::Register(r) => &registers[r..=r],
        }
    }
}

/// Applies one operation to a block.
#[inline]
fn run<'a>(action: Action, read: impl Fn(Operand) -> &'a [f64], out: &mut [f64]) {
    let truth = |b: bool| f64::from(u8::from(b));
    match action {
        Action::Unary(op, a) => {
            // The operation is chosen outside of the loop.
            let a = read(a);
            match op {
                Unary::Neg => one(a, out, |x| -x),
                Unary::Recip => one(a, out, Real::recip),
                Unary::Sqrt => one(a, out, Real::sqrt),
                Unary::Abs => one(a, out, Real::abs),
                Unary::Exp => one(a, out, Real::exp),
                Unary::Ln => one(a, out, Real::ln),
                Unary::Sin => one(a, out, Real::sin),
                Unary::Cos => one(a, out, Real::cos),
                Unary::Tan => one(a, out, Real::tan),
                Unary::Tanh => one(a, out, Real::tanh),
                Unary::Floor => one(a, out, Real::floor),
                Unary::Erf => one(a, out, Real::erf),
            }
        }
        Action::Binary(op, a, b) => {
            let (a, b) = (read(a), read(b));
            match op {
                Binary::Add => two(a, b, out, |x, y| x + y),
                Binary::Sub => two(a, b, out, |x, y| x - y),
                Binary::Mul => two(a, b, out, |x, y| x * y),
                Binary::Div => two(a, b, out, |x, y| x / y),
                Binary::Pow => two(a, b, out, Real::powf),
                Binary::Atan2 => two(a, b, out, Real::atan2),
                Binary::Min => two(a, b, out, Real::min),
                Binary::Max => two(a, b, out, Real::max),
            }
        }
        Action::LessEqual(a, b) => two(read(a), read(b), out, |x, y| truth(x <= y)),
        Action::Less(a, b) => two(read(a), read(b), out, |x, y| truth(x < y)),
        Action::And(a, b) => two(read(a), read(b), out, |x, y| truth((x != 0.0) & (y != 0.0))),
        Action::Or(a, b) => two(read(a), read(b), out, |x, y| truth((x != 0.0) | (y != 0.0))),
        Action::Not(a) => one(read(a), out, |x| truth(x == 0.0)),
        Action::Select(c, a, b) => {
            let (c, a, b) = (read(c), read(a), read(b));
            for (o, ((c, x), y)) in out.iter_mut().zip(c.iter().zip(a).zip(b)) {
                *o = if *c != 0.0 { *x } else { *y };
            }
        }
    }
}

#[inline(always)]
fn one(a: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    for (o, x) in out.iter_mut().zip(a) {
        *o = f(*x);
    }
}

#[inline(always)]
fn two(a: &[f64], b: &[f64], out: &mut [f64], f: impl Fn(f64, f64) -> f64) {
    for (o, (x, y)) in out.iter_mut().zip(a.iter().zip(b)) {
        *o = f(*x, *y);
    }
}
