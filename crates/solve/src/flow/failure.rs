//! Finds the element in which a solution failed first.
//!
//! A step spreads bad values by some elements in every direction, so the failure began in the middle of the
//! elements that are not finite.

use super::drive::Driving;
use super::{Flow, SystemError};
use dgsuite_gpu::ExactSum;
use dgsuite_mesh::{Across, Mesh};

/// The middle of the elements whose state is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    /// The element's number in the mesh file.
    pub element: u64,
    /// The mean of its vertices.
    pub at: [f64; 3],
    /// Number of elements that are not finite.
    pub bad: usize,
}

/// A recorded step, which can be repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Taken {
    /// A step of this size at this time.
    Step {
        /// The start of the step.
        t: f64,
        /// Its size.
        dt: f64,
    },
    /// A step with this multiple of each element's own step.
    Local {
        /// The multiple.
        cfl: f64,
    },
}

/// The steps since the last copy of the state.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    taken: Vec<Taken>,
    kept: bool,
    /// The time integrals of the boundary fluxes at the copy.
    integrals: Vec<ExactSum>,
    /// The driving force at the copy.
    driving: Option<Driving>,
}

/// The state of a gas closest to an inadmissible one.
#[derive(Clone, Debug, PartialEq)]
pub struct Coldest {
    /// The element's number in the mesh file.
    pub element: u64,
    /// The point.
    pub at: [f64; 3],
    /// The temperature at the point.
    pub temperature: f64,
    /// The primitive state at the point, by name.
    pub state: Vec<(&'static str, f64)>,
    /// Time of the state.
    pub time: f64,
    /// The step for `cfl = 1` of this state.
    pub limit: f64,
}

/// The state of a gas with the fastest waves.
#[derive(Clone, Debug, PartialEq)]
pub struct Fastest {
    /// The element's number in the mesh file.
    pub element: u64,
    /// The point.
    pub at: [f64; 3],
    /// The speed of the flow, and the speed of sound.
    pub speeds: [f64; 2],
    /// The primitive state at the point, by name.
    pub state: Vec<(&'static str, f64)>,
}

impl Trail {
    /// Steps between two copies of the state: a copy costs about as much as a fifth of a stage.
    const STEPS: usize = 16;

    /// Returns start and size of the last step, if it was a step in time.
    pub fn last_step(&self) -> Option<(f64, f64)> {
        match *self.taken.last()? {
            Taken::Step { t, dt } => Some((t, dt)),
            Taken::Local { .. } => None,
        }
    }

    /// Marks the copy of the state as unusable.
    pub fn lose(&mut self) {
        self.kept = false;
    }

    /// Removes the last step, which was undone.
    pub fn forget(&mut self) {
        self.taken.pop();
    }
}

impl Flow {
    /// Records a step that is about to be taken; copies the state from time to time.
    pub fn note(&mut self, trail: &mut Trail, step: Taken) {
        if !trail.kept || trail.taken.len() >= Trail::STEPS {
            trail.taken.clear();
            let kept = self.engine.one_step().is_some_and(|engine| engine.keep());
            trail.kept = !self.engine.any(!kept);
            trail.integrals = self.engine.boundary_sums();
            trail.driving.clone_from(&self.driving);
        }
        trail.taken.push(step);
    }

    fn return_to_copy(&mut self) {
        if let Some(engine) = self.engine.one_step() {
            engine.go_back();
        }
    }

    /// Returns the coldest point of the gas before the last step of `trail`, by repeating the steps from the
    /// copy of the state. `None` if there is no copy, or for other laws. The state is unchanged afterwards.
    pub fn before(&mut self, trail: &Trail) -> Option<Coldest> {
        let (last, first) = trail.taken.split_last().filter(|_| trail.kept)?;
        self.setup.law.gas()?;
        let (time, steps, driving) = (self.time, self.steps, self.driving.clone());
        self.return_to_copy();
        let outcome = first.iter().try_for_each(|&step| self.again(step));
        if let Taken::Step { t, .. } = *last {
            self.time = t;
        }
        let limit = self.engine.stable_dt().unwrap_or(0.0);
        let found = outcome.is_ok().then(|| self.coldest(limit)).flatten();
        // A second failure is the same as the first one.
        let _ = self.again(*last);
        (self.time, self.steps, self.driving) = (time, steps, driving);
        found
    }

    /// Returns to the state before the last step of `trail`, by repeating the steps from the copy of the
    /// state; `false` if there is no copy.
    ///
    /// # Errors
    /// Those of the steps.
    pub fn go_back(&mut self, trail: &mut Trail) -> Result<bool, SystemError> {
        let (true, Some(last)) = (trail.kept, trail.taken.pop()) else { return Ok(false) };
        let steps = self.steps;
        self.return_to_copy();
        self.engine.set_boundary_sums(&trail.integrals);
        self.driving.clone_from(&trail.driving);
        for &step in &trail.taken {
            self.again(step)?;
        }
        self.steps = steps - 1;
        if let Taken::Step { t, .. } = last {
            self.time = t;
        }
        Ok(true)
    }

    fn again(&mut self, step: Taken) -> Result<(), SystemError> {
        match step {
            Taken::Step { t, dt } => {
                self.time = t;
                self.step(dt)
            }
            Taken::Local { cfl } => self.step_local(cfl),
        }
    }

    /// Returns the state of the gas with the fastest waves; `None` for other laws.
    pub fn fastest(&self) -> Option<Fastest> {
        let gamma = self.setup.law.gas()?.gamma;
        let mut fastest: Option<Fastest> = None;
        for set in self.sample(self.setup.order.max(1)) {
            let of_element = (set.points.len() / set.elements.len().max(1)).max(1);
            for (i, &at) in set.points.iter().enumerate() {
                let state: Vec<f64> = set.values.iter().map(|values| values[i]).collect();
                let [rho, velocity @ .., p] = &state[..] else { return None };
                let flow = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
                let speeds = [flow, (gamma * p / rho).max(0.0).sqrt()];
                if fastest.as_ref().is_some_and(|f| speeds[0] + speeds[1] <= f.speeds[0] + f.speeds[1]) {
                    continue;
                }
                let element = set.elements.get(i / of_element).copied().unwrap_or_default();
                fastest = Some(Fastest {
                    element,
                    at,
                    speeds,
                    state: self.primitives.iter().copied().zip(state).collect(),
                });
            }
        }
        fastest
    }

    fn coldest(&self, limit: f64) -> Option<Coldest> {
        let r = self.setup.law.gas_constant();
        let mut coldest: Option<Coldest> = None;
        for set in self.sample(self.setup.order.max(1)) {
            let (rho, p) = (set.values.first()?, set.values.last()?);
            for (i, (rho, p)) in rho.iter().zip(p).enumerate() {
                let temperature = p / (rho * r);
                if coldest.as_ref().is_some_and(|c| c.temperature <= temperature) || temperature.is_nan() {
                    continue;
                }
                let of_element = (set.points.len() / set.elements.len().max(1)).max(1);
                coldest = Some(Coldest {
                    element: set.elements.get(i / of_element).copied().unwrap_or_default(),
                    at: set.points.get(i).copied().unwrap_or_default(),
                    temperature,
                    state: self.primitives.iter().copied().zip(set.values.iter().map(|v| v[i])).collect(),
                    time: self.time,
                    limit,
                });
            }
        }
        coldest
    }

    /// Returns the middle of the elements that are not finite; `None` if there are none, or only such
    /// elements.
    pub fn origin_of_failure(&self) -> Option<Origin> {
        let (mesh, fields) = (self.setup.mesh.seen(), self.n_fields());
        let parts = self.engine.discretization().summary();
        let state = self.engine.to_canonical();
        // Rank 0 has the state and the mesh.
        if state.is_empty() {
            return None;
        }
        let mut end = 0;
        let bad: Vec<bool> = (0..mesh.n_elements())
            .map(|element| {
                let part = parts.iter().find(|part| part.shape == mesh.shape(element));
                let begin = end;
                end += part.map_or(0, |part| part.n_basis * fields);
                state.get(begin..end).is_some_and(|values| values.iter().any(|x| !x.is_finite()))
            })
            .collect();
        let element = middle(mesh, &bad)?;
        let count = bad.iter().filter(|&&bad| bad).count();
        Some(Origin { element: mesh.tag(element), at: mesh.centroid(element), bad: count })
    }
}

/// Returns the bad element with most faces between it and a good one; `None` if all are good, or all bad.
fn middle(mesh: &Mesh, bad: &[bool]) -> Option<usize> {
    let pairs: Vec<[usize; 2]> = mesh
        .faces
        .iter()
        .filter_map(|face| match face.across {
            Across::Interior { plus, .. } | Across::Periodic { plus, .. } => {
                Some([face.minus.element as usize, plus.element as usize])
            }
            Across::Boundary(_) => None,
        })
        .collect();
    let mut depth: Vec<Option<usize>> = bad.iter().map(|&bad| (!bad).then_some(0)).collect();
    let mut deepest = None;
    for ring in 1.. {
        let mut found = Vec::new();
        for &[a, b] in &pairs {
            for (inner, outer) in [(a, b), (b, a)] {
                if depth[inner].is_none() && depth[outer] == Some(ring - 1) {
                    found.push(inner);
                }
            }
        }
        let Some(&first) = found.first() else { break };
        deepest = Some(first);
        found.iter().for_each(|&element| depth[element] = Some(ring));
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::Shape;
    use dgsuite_mesh::generate::Box;

    #[test]
    fn what_spread_from_an_element_began_there() {
        let max = [7.0, 7.0, 0.0];
        let mesh = Box { max, ..Box::unit(Shape::Quadrilateral, 7) }.build().expect("a mesh");
        let near = |element: usize| {
            let [x, y, _] = mesh.centroid(element);
            (x - 4.5).abs() + (y - 2.5).abs() < 2.5
        };
        let bad: Vec<bool> = (0..mesh.n_elements()).map(near).collect();
        let found = middle(&mesh, &bad).map(|element| mesh.centroid(element));
        assert_eq!(found, Some([4.5, 2.5, 0.0]));
        assert_eq!(middle(&mesh, &vec![false; bad.len()]), None);
        assert_eq!(middle(&mesh, &vec![true; bad.len()]), None);
    }
}
