//! The force and the sources for which an incompressible flow with scalars is a solution.

use super::{Manufactured, SourceError, recorded};
use crate::exact::Exact;
use crate::incompressible::ScalarFormulas;
use crate::real::{Dual, Real};
use crate::trace::{Recording, StateRecording, Sym};

/// The diffusivity of a scalar: constant, or at least that and a formula of the scalars.
#[derive(Clone, Copy, Debug)]
pub struct ScalarDiffusivity<'a> {
    /// The constant `α₀`, length² per time.
    pub constant: f64,
    /// The formula, which counts where it is larger than `α₀`.
    pub formula: Option<&'a ScalarFormulas>,
}

impl Manufactured {
    /// Derives the body force of an incompressible flow `(u_1, …, u_D, p, T_1, …)` with scalars and the
    /// kinematic viscosity `ν`, beside a force `F` that depends on the scalars, and the source of each
    /// scalar:
    ///
    /// ```text
    /// f   = ∂u/∂t + ∇·(u ⊗ u) + ∇p − ν Δu − F(T, x, t)
    /// q_k = ∂T_k/∂t + ∇·(u T_k) − ∇·(α_k(T) ∇T_k)
    /// ```
    ///
    /// The force has a last row, the divergence of the velocity, as that of
    /// [`incompressible`](Self::incompressible).
    ///
    /// # Errors
    /// [`SourceError`]: the solution is not a formula, or does not have `D + 1` unknowns and the scalars.
    ///
    /// ```
    /// use dgsuite_physics::source::{Manufactured, ScalarDiffusivity, Source};
    /// use dgsuite_physics::trace::Recording;
    /// // T = x y at rest, and α = 2: no force, no source.
    /// let solution = Recording::new(|_, [x, y, _]| [x - x, x - x, x - x, x * y]);
    /// let scalar = ScalarDiffusivity { constant: 2.0, formula: None };
    /// let (force, sources) = Manufactured::with_scalars(2, 0.1, &[scalar], None, &solution)?;
    /// let mut out = vec![Vec::new()];
    /// sources[0].eval(0.0, &[[0.3, 0.2, 0.0]], &mut out);
    /// assert_eq!((force.n_fields(), out[0][0]), (3, 0.0));
    /// # Ok::<(), dgsuite_physics::source::SourceError>(())
    /// ```
    pub fn with_scalars(
        dim: usize,
        viscosity: f64,
        scalars: &[ScalarDiffusivity<'_>],
        force: Option<&StateRecording>,
        solution: &dyn Exact,
    ) -> Result<(Self, Vec<Self>), SourceError> {
        let state = recorded(dim + 1 + scalars.len(), solution)?;
        let of_flow = Recording::new(|t, x| {
            let at = Point::new(&state, dim, t, &x);
            let nu = Sym::param("viscosity", viscosity);
            let mut out: Vec<Sym> = (0..dim).map(|k| at.momentum(k, nu)).collect();
            if let Some(force) = force {
                let given = force.eval(&at.value[dim + 1..], &x, t);
                out.iter_mut().zip(given).for_each(|(out, given)| *out = *out - given);
            }
            out.push(at.divergence());
            out
        });
        let of_scalar = |(k, of): (usize, &ScalarDiffusivity<'_>)| {
            let recording = Recording::new(|t, x| [Point::new(&state, dim, t, &x).scalar(k, of)]);
            Self { recording }
        };
        Ok((Self { recording: of_flow }, scalars.iter().enumerate().map(of_scalar).collect()))
    }
}

/// A state and its derivatives at a point.
struct Point<R> {
    dim: usize,
    value: Vec<R>,
    /// `∂/∂t`.
    rate: Vec<R>,
    /// `∂/∂x_d` and `∂²/∂x_d²`.
    slope: Vec<Vec<R>>,
    curvature: Vec<Vec<R>>,
}

impl<R: Real> Point<R> {
    fn new(state: &Recording, dim: usize, t: R, x: &[R; 3]) -> Self {
        let moving = state.eval(Dual::variable(t), &x.map(Dual::constant));
        let mut out = Self {
            dim,
            value: moving.iter().map(|v| v.value).collect(),
            rate: moving.iter().map(|v| v.derivative).collect(),
            slope: Vec::new(),
            curvature: Vec::new(),
        };
        for d in 0..dim {
            let along = |i: usize| R::lit(if i == d { 1.0 } else { 0.0 });
            let at: [Dual<Dual<R>>; 3] =
                std::array::from_fn(|i| Dual::new(Dual::new(x[i], along(i)), Dual::constant(along(i))));
            let second = state.eval(Dual::constant(Dual::constant(t)), &at);
            out.slope.push(second.iter().map(|v| v.value.derivative).collect());
            out.curvature.push(second.iter().map(|v| v.derivative.derivative).collect());
        }
        out
    }

    fn divergence(&self) -> R {
        (1..self.dim).fold(self.slope[0][0], |sum, d| sum + self.slope[d][d])
    }

    /// `∂q/∂t + ∇·(u q)` of unknown `k`.
    fn carried(&self, k: usize) -> R {
        let still = self.rate[k] + self.value[k] * self.divergence();
        (0..self.dim).fold(still, |sum, d| sum + self.value[d] * self.slope[d][k])
    }

    /// `∂u_k/∂t + ∇·(u u_k) + ∂p/∂x_k − ν Δu_k`.
    fn momentum(&self, k: usize, viscosity: R) -> R {
        let carried = self.carried(k) + self.slope[k][self.dim];
        (0..self.dim).fold(carried, |sum, d| sum - viscosity * self.curvature[d][k])
    }

    /// The source of scalar `k`.
    fn scalar(&self, k: usize, of: &ScalarDiffusivity<'_>) -> R {
        const NAMES: [&str; 3] = ["diffusivity_1", "diffusivity_2", "diffusivity_3"];
        let least = NAMES.get(k).map_or_else(|| R::lit(of.constant), |name| R::param(name, of.constant));
        let (first, zero) = (self.dim + 1, R::lit(0.0));
        let unknown = first + k;
        let mut sum = self.carried(unknown);
        for d in 0..self.dim {
            let (slope, curvature) = (self.slope[d][unknown], self.curvature[d][unknown]);
            let (mut diffusivity, mut change) = (least, zero);
            if let Some(formula) = of.formula {
                let scalars: Vec<Dual<R>> =
                    (first..self.value.len()).map(|i| Dual::new(self.value[i], self.slope[d][i])).collect();
                let nowhere = Dual::constant(zero);
                let found = formula.at(&scalars, &[nowhere; 3], nowhere)[0].max(Dual::constant(least));
                (diffusivity, change) = (found.value, found.derivative);
            }
            sum = sum - diffusivity * curvature - change * slope;
        }
        sum
    }
}
