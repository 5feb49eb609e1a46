//! Functions of place and time, recorded once: evaluated, differentiated, or printed for a device.

use super::{Parameters, Sym, TraceError, device_fn, input, record};
use crate::exact::Exact;
use crate::graph::{Graph, Id, Node, Tape};
use crate::real::Real;

/// Some numbers as functions of time and place, recorded.
///
/// ```
/// use dgsuite_physics::trace::Recording;
/// use dgsuite_physics::{Dual, Real};
/// let wave = Recording::new(|t, x| [(x[0] - t).sin()]);
/// let slope = wave.eval(Dual::constant(0.0), &[1.0, 0.0, 0.0].map(Dual::variable))[0].derivative;
/// assert_eq!(slope, 1f64.cos());
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    graph: Graph,
    outputs: Vec<Id>,
    tape: Tape,
    moving: bool,
}

/// Inputs, in the order of [`Graph::eval`].
const INPUTS: [&str; 4] = ["x", "y", "z", "t"];

/// Number of points that are gathered and evaluated together.
const CHUNK: usize = 256;

impl Recording {
    /// Records the function `f` of time and place.
    pub fn new<O: IntoIterator<Item = Sym>>(f: impl FnOnce(Sym, [Sym; 3]) -> O) -> Self {
        let (graph, outputs) = record(|| {
            let [x, y, z, t] = INPUTS.map(input);
            let outputs: Vec<Id> = f(t, [x, y, z]).into_iter().map(Sym::id).collect();
            outputs
        });
        Self::of(graph, outputs)
    }

    fn of(graph: Graph, outputs: Vec<Id>) -> Self {
        let tape = Tape::new(&graph, &outputs);
        let live = graph.live(&outputs);
        let moving = graph.iter().any(|(id, node)| live[id.index()] && node == Node::Input(3));
        Self { graph, outputs, tape, moving }
    }

    /// Returns the recording of the first `n` outputs, or of all if there are fewer.
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        Self::of(self.graph.clone(), self.outputs.iter().copied().take(n).collect())
    }

    /// Returns the number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Returns whether any output depends on time.
    pub fn depends_on_time(&self) -> bool {
        self.moving
    }

    /// Evaluates the outputs over any number type; for plain numbers at many points,
    /// [`eval_batch`](Self::eval_batch) is faster.
    pub fn eval<R: Real>(&self, t: R, x: &[R; 3]) -> Vec<R> {
        self.graph.eval(&[x[0], x[1], x[2], t], &self.outputs)
    }

    /// Evaluates the outputs at one point, without an allocation.
    ///
    /// # Panics
    /// If the number of outputs is not `N`.
    pub fn at<const N: usize>(&self, t: f64, x: [f64; 3]) -> [f64; N] {
        assert_eq!(N, self.outputs.len(), "as many numbers as it computes");
        let mut out = [0.0; N];
        self.tape.eval(1, &[&x[..1], &x[1..2], &x[2..], &[t]], &mut |k, _, block| out[k] = block[0]);
        out
    }

    /// Evaluates the outputs at many points: `out[k][i]` is the `k`-th at point `i`. Each vector of `out` is
    /// set to the number of points; nothing is allocated if it has the capacity.
    ///
    /// # Panics
    /// If `out` does not have one vector per output.
    pub fn eval_batch(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        assert_eq!(out.len(), self.outputs.len(), "one vector per number");
        for o in out.iter_mut() {
            o.resize(x.len(), 0.0);
        }
        let mut coordinates = [[0.0; CHUNK]; 3];
        for (c, points) in x.chunks(CHUNK).enumerate() {
            let n = points.len();
            for (i, point) in points.iter().enumerate() {
                for d in 0..3 {
                    coordinates[d][i] = point[d];
                }
            }
            let [x, y, z] = &coordinates;
            let first = c * CHUNK;
            self.tape.eval(n, &[&x[..n], &y[..n], &z[..n], &[t]], &mut |k, range, block| {
                out[k][first + range.start..first + range.end].copy_from_slice(block);
            });
        }
    }

    /// Prints `__device__ __forceinline__ void name(const Parameters&
    /// parameters, const real (&x)[3], const real t, real (&out)[n_outputs])`.
    ///
    /// # Errors
    /// [`TraceError::ParameterConflict`] if a parameter has another value here than in an earlier function.
    pub fn device_fn(&self, name: &str, parameters: &mut Parameters) -> Result<String, TraceError> {
        device_fn(name, &[("x", 3), ("t", 0)], parameters, |a| self.eval(a.scalar("t"), &a.array("x")))
    }
}

/// The outputs as data of a boundary condition.
impl Exact for Recording {
    fn n_fields(&self) -> usize {
        self.n_outputs()
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        self.eval_batch(t, x, out);
    }

    fn is_steady(&self) -> bool {
        !self.moving
    }

    fn recorded(&self) -> Option<Recording> {
        Some(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_others_are_made_of_are_kept() {
        let chain = Recording::new(|t, x| {
            let s = (x[0] + t).sin();
            let c = s.cos();
            let e = c.exp() + x[1];
            [s, e, c, x[1], Sym::lit(2.0)]
        });
        // More points than a block or a chunk holds.
        let x: Vec<[f64; 3]> =
            (0..300).map(|i| [0.01 * f64::from(i), 1.0 - 0.02 * f64::from(i), 0.0]).collect();
        let mut out = vec![vec![f64::NAN; 2]; 5];
        chain.eval_batch(0.25, &x, &mut out);
        for (i, at) in x.iter().enumerate() {
            let one = chain.eval(0.25, at);
            assert!((0..5).all(|k| out[k][i].to_bits() == one[k].to_bits()), "point {i}");
            let at: [f64; 5] = chain.at(0.25, *at);
            assert!((0..5).all(|k| at[k].to_bits() == one[k].to_bits()), "point {i} alone");
        }
        assert!(chain.depends_on_time());
        assert!(!Recording::new(|_, x| [x[0]]).depends_on_time());
    }
}
