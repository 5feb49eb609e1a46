//! The implicit viscous step: all components of the velocity in one system, `(s M + ν A) u = b`.

use super::components::Components;
use super::machine::Machine;
use super::slip::Slip;
use crate::SystemError;
use dgsuite_amg::{LinearOperator, Pcg, Preconditioner, Solution, SolveError, Stop};
use dgsuite_gpu::Vector;
use std::cell::RefCell;
use std::sync::Arc;

/// The inverse mass matrix is the better preconditioner if the largest ratio of the diagonals of `ν A` and
/// `s M` is below this; otherwise the inverse diagonal.
const STIFF: f64 = 30.0;

/// Diagonals are computed for values of s that are powers of this number, so that they do not change with
/// every small change of the step.
const RASTER: f64 = 1.25;

/// The solver of the velocity's components.
pub(super) struct VelocitySolver<M: Machine> {
    viscosity: f64,
    operators: Vec<Arc<M::A>>,
    /// The terms that couple the components.
    slip: Option<Slip<M::V>>,
    /// The diagonals of A and M, in the order of the host.
    diagonals: Vec<Vec<f64>>,
    masses: Vec<f64>,
    /// The largest ratio of both.
    ratio: f64,
    /// `(p + 1)²`.
    scale: f64,
    inverse: Option<(i32, Components<M::V>)>,
    work: RefCell<M::V>,
    pcg: Pcg<Components<M::V>>,
}

impl<M: Machine> VelocitySolver<M> {
    pub(super) fn new(machine: &M, like: &Components<M::V>, viscosity: f64) -> Result<Self, SystemError> {
        let masses = machine.elliptics().mass_diagonal();
        let slip = Slip::new(machine, &machine.elliptics().oblique)?;
        let mut diagonals: Vec<Vec<f64>> =
            machine.elliptics().velocity.iter().map(|a| a.diagonal()).collect();
        if let Some(slip) = &slip {
            for (diagonal, terms) in diagonals.iter_mut().zip(&slip.diagonals) {
                terms.iter().for_each(|&(i, v)| diagonal[i] += v);
            }
        }
        let ratio = diagonals
            .iter()
            .flat_map(|d| d.iter().zip(&masses))
            .filter(|(_, m)| **m > 0.0)
            .fold(0.0_f64, |largest, (d, m)| largest.max(d / m));
        Ok(Self {
            viscosity,
            operators: machine.stiffness(),
            slip,
            diagonals,
            masses,
            ratio,
            scale: ((machine.elliptics().nodes.order() + 1) as f64).powi(2),
            inverse: None,
            work: RefCell::new(like.0[0].zeros_like()?),
            pcg: Pcg::new(like)?,
        })
    }

    /// The weight of viscosity in a step with the leading coefficient `s`: `λ = ν κ/(s (p + 1)²)` with the
    /// largest ratio κ of the diagonals of A and M, one to two times `ν Δt (p + 1)²/h²`.
    pub(super) fn stiffness(&self, s: f64) -> f64 {
        self.viscosity * self.ratio / (s * self.scale)
    }

    /// `b ← b − ν A u`.
    pub(super) fn subtract_viscous(&self, u: &Components<M::V>, b: &mut Components<M::V>) {
        let mut work = self.work.borrow_mut();
        if let Some(slip) = &self.slip {
            slip.evaluate(&u.0);
        }
        for (d, ((a, u), b)) in self.operators.iter().zip(&u.0).zip(&mut b.0).enumerate() {
            a.apply(u, &mut work);
            if let Some(slip) = &self.slip {
                slip.add(d, &mut work);
            }
            b.axpby(-self.viscosity, &work, 1.0);
        }
    }

    /// Solves from the guess in `x`.
    pub(super) fn solve(
        &mut self,
        machine: &M,
        s: f64,
        b: &Components<M::V>,
        x: &mut Components<M::V>,
        stop: &Stop,
    ) -> Result<Solution, SolveError> {
        let operator = Helmholtz {
            machine,
            operators: &self.operators,
            slip: self.slip.as_ref(),
            s,
            viscosity: self.viscosity,
            work: &self.work,
        };
        if self.viscosity * self.ratio < STIFF * s {
            return self.pcg.solve(&operator, &mut ByMass(machine), b, x, stop);
        }
        let step = (s.ln() / RASTER.ln()).round() as i32;
        if self.inverse.as_ref().is_none_or(|(known, _)| *known != step) {
            let s = RASTER.powi(step);
            let inverse = |d: &Vec<f64>| {
                let of = |(a, m): (&f64, &f64)| 1.0 / (self.viscosity * a + s * m);
                let entries: Vec<f64> =
                    d.iter().zip(&self.masses).map(|e| if *e.1 > 0.0 { of(e) } else { 1.0 }).collect();
                machine.upload(&entries)
            };
            self.inverse = self
                .diagonals
                .iter()
                .map(inverse)
                .collect::<Result<_, _>>()
                .ok()
                .map(|c| (step, Components(c)));
        }
        match &self.inverse {
            Some((number, inverse)) => {
                self.pcg.solve(&operator, &mut ByDiagonal(inverse, *number), b, x, stop)
            }
            None => self.pcg.solve(&operator, &mut ByMass(machine), b, x, stop),
        }
    }
}

/// `s M + ν A` for all components.
struct Helmholtz<'a, M: Machine> {
    machine: &'a M,
    operators: &'a [Arc<M::A>],
    slip: Option<&'a Slip<M::V>>,
    s: f64,
    viscosity: f64,
    work: &'a RefCell<M::V>,
}

impl<M: Machine> LinearOperator<Components<M::V>> for Helmholtz<'_, M> {
    fn n_rows(&self) -> usize {
        self.operators.iter().map(LinearOperator::n_rows).sum()
    }

    fn recordable(&self) -> Option<u64> {
        Some(self.s.to_bits())
    }

    fn apply(&self, x: &Components<M::V>, y: &mut Components<M::V>) {
        let mut work = self.work.borrow_mut();
        if let Some(slip) = self.slip {
            slip.evaluate(&x.0);
        }
        for (d, ((a, x), y)) in self.operators.iter().zip(&x.0).zip(&mut y.0).enumerate() {
            a.apply(x, y);
            if let Some(slip) = self.slip {
                slip.add(d, y);
            }
            self.machine.mass(x, &mut work);
            y.axpby(self.s, &work, self.viscosity);
        }
    }
}

/// The inverse mass matrix; a factor would not change the iterates.
struct ByMass<'a, M: Machine>(&'a M);

impl<M: Machine> Preconditioner<Components<M::V>> for ByMass<'_, M> {
    fn apply(&mut self, r: &Components<M::V>, z: &mut Components<M::V>) {
        r.0.iter().zip(&mut z.0).for_each(|(r, z)| self.0.inverse_mass(r, z));
    }

    fn recordable(&self) -> Option<u64> {
        Some(0)
    }
}

/// The inverse diagonal, and its number.
struct ByDiagonal<'a, V>(&'a Components<V>, i32);

impl<V: Vector> Preconditioner<Components<V>> for ByDiagonal<'_, V> {
    fn apply(&mut self, r: &Components<V>, z: &mut Components<V>) {
        z.add_product(1.0, self.0, r, 0.0);
    }

    fn recordable(&self) -> Option<u64> {
        Some(1 + u64::from(self.1.cast_unsigned()))
    }
}
