//! Functions of a state, of place and of time, recorded once: evaluated at many points, or for any number
//! type.

use super::{Sym, input, record};
use crate::graph::{Graph, Id, Node, Tape};
use crate::real::{Dual, Real};

/// Some numbers as functions of the primitive unknowns `w` of a law, of place and of time.
///
/// ```
/// use dgsuite_physics::trace::StateRecording;
/// // The pressure behind a valve: w = (ρ, u, v, p).
/// let valve = StateRecording::new(4, |w, _, _| vec![w[3] - w[0] * w[1] * w[1]]);
/// assert_eq!(valve.eval(&[2.0, 0.5, 0.0, 1.0], &[0.0; 3], 0.0), [0.5]);
/// ```
#[derive(Clone, Debug)]
pub struct StateRecording {
    graph: Graph,
    outputs: Vec<Id>,
    tape: Tape,
    moving: bool,
}

impl StateRecording {
    /// Records the function `f(w, t, x)` of `n` unknowns, time and place.
    pub fn new(n: usize, f: impl FnOnce(&[Sym], Sym, &[Sym; 3]) -> Vec<Sym>) -> Self {
        let (graph, outputs) = record(|| {
            // The inputs of a graph are in the order of their first use.
            let w: Vec<Sym> = (0..n).map(|k| input(&format!("w{k}"))).collect();
            let [x, y, z, t] = ["x", "y", "z", "t"].map(input);
            f(&w, t, &[x, y, z]).into_iter().map(Sym::id).collect::<Vec<Id>>()
        });
        let live = graph.live(&outputs);
        let time = Node::Input(n as u32 + 3);
        let moving = graph.iter().any(|(id, node)| live[id.index()] && node == time);
        Self { tape: Tape::new(&graph, &outputs), graph, outputs, moving }
    }

    /// Returns the numbers, then their derivatives along a direction, `∂f/∂w v`, as functions of the unknowns
    /// and the direction `(w, v)`, of place and of time.
    ///
    /// ```
    /// use dgsuite_physics::trace::StateRecording;
    /// let square = StateRecording::new(1, |w, _, x| vec![w[0] * w[0] * x[0]]);
    /// assert_eq!(square.tangent().eval(&[3.0, 0.5], &[2.0, 0.0, 0.0], 0.0), [18.0, 6.0]);
    /// ```
    #[must_use]
    pub fn tangent(&self) -> Self {
        let n = self.graph.inputs().len() - 4;
        Self::new(2 * n, |w, t, x| {
            let unknowns = (0..n).map(|k| Dual::new(w[k], w[n + k]));
            let rest = x.iter().chain([&t]).map(|x| Dual::constant(*x));
            let inputs: Vec<Dual<Sym>> = unknowns.chain(rest).collect();
            let f = self.graph.eval_with_tips(&inputs, &self.outputs);
            f.iter().map(|f| f.value).chain(f.iter().map(|f| f.derivative)).collect()
        })
    }

    /// Returns the number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Returns whether any output depends on time.
    pub fn depends_on_time(&self) -> bool {
        self.moving
    }

    /// Evaluates the outputs at one point over any number type.
    ///
    /// # Panics
    /// If `w` is shorter than the recording's list of unknowns.
    pub fn eval<R: Real>(&self, w: &[R], x: &[R; 3], t: R) -> Vec<R> {
        let inputs: Vec<R> = w.iter().chain(x).copied().chain([t]).collect();
        self.graph.eval(&inputs, &self.outputs)
    }

    /// Evaluates the outputs at `n` points: calls `sink(k, i, values)` with values of output `k` at the
    /// points from `i` on. `columns` are the values of the unknowns, of `x, y, z` and of `t` at the points.
    ///
    /// # Panics
    /// If a column is missing or is shorter than `n`.
    pub fn eval_batch(&self, n: usize, columns: &[&[f64]], mut sink: impl FnMut(usize, usize, &[f64])) {
        self.tape.eval(n, columns, &mut |k, range, block| sink(k, range.start, block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivative_of_a_length_is_zero_at_rest() {
        let f = StateRecording::new(2, |w, t, _| vec![(w[0] * w[0] + w[1] * w[1]).sqrt() * t]);
        let tangent = f.tangent();
        assert_eq!(tangent.eval(&[0.0, 0.0, 1.0, 2.0], &[0.0; 3], 4.0), [0.0, 0.0]);
        assert_eq!(tangent.eval(&[3.0, 4.0, 1.0, 2.0], &[0.0; 3], 5.0), [25.0, 11.0]);
    }

    #[test]
    fn batches_have_the_values_of_single_points() {
        let f = StateRecording::new(2, |w, t, x| vec![w[1] * x[0] + t, (w[0] - x[2]).abs()]);
        assert!(f.depends_on_time() && f.n_outputs() == 2);
        let column = |a: f64| (0..300).map(|i| a * f64::from(i) - 1.0).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6].map(column).to_vec();
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let mut found = vec![vec![f64::NAN; 300]; 2];
        f.eval_batch(300, &slices, |k, i, values| found[k][i..i + values.len()].copy_from_slice(values));
        for i in 0..300 {
            let at = |k: usize| columns[k][i];
            let one = f.eval(&[at(0), at(1)], &[at(2), at(3), at(4)], at(5));
            assert_eq!(one, [found[0][i], found[1][i]], "point {i}");
        }
        assert!(!StateRecording::new(1, |w, _, x| vec![w[0] + x[1]]).depends_on_time());
    }
}
