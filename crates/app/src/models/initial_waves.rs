//! The key `turbulence` of `initial`: isotropic turbulence with a given spectrum on the state at the start.

use std::sync::Arc;

use dgsuite_physics::Exact;
use dgsuite_physics::exact::{RandomWaves, WithWaves};

use super::states::States;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;
use dgsuite_solve::flow::Law;

/// The name of the wave number in a formula of the spectrum.
pub(crate) const WAVE_NUMBER: &str = "k";

/// Turbulence at the start as written.
#[derive(Clone, Debug)]
pub struct WavesSpec {
    /// The energy per wave number, a formula.
    spectrum: Located<String>,
    /// The largest number of waves in the longest period.
    waves: Located<usize>,
    /// The seed of the random numbers.
    seed: u64,
    /// Its section.
    key: Located<()>,
}

impl WavesSpec {
    /// Reads `turbulence` beside the formulas of a state.
    ///
    /// # Errors
    /// Missing keys, a named state beside it.
    pub fn read(initial: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = initial.section("turbulence")? else { return Ok(None) };
        section.known()?;
        initial.exclusive("exact", "turbulence")?;
        let expected = "the energy per wave number as a formula of `k`, such as k^4*exp(-k^2/8)";
        let node = section.node("spectrum").ok_or_else(|| section.missing("spectrum", expected))?;
        let spectrum = section.constants().text(node, &section.key("spectrum"))?;
        let expected = "the largest number of waves in a period, less than half of the points there";
        let waves = section.count("waves", 1)?.ok_or_else(|| section.missing("waves", expected))?;
        if waves.value > RandomWaves::MOST {
            return Err(InputError::range(&waves, format!("a number from 1 to {}", RandomWaves::MOST)));
        }
        let seed = section.count("seed", 0)?.map_or(0, |seed| seed.value as u64);
        let key = Located { value: (), key: section.path().to_owned(), place: section.place().clone() };
        Ok(Some(Self { spectrum, waves, seed, key }))
    }

    /// Returns a state with turbulence on a mean state.
    ///
    /// # Errors
    /// A formula that does not parse, a spectrum that is negative or infinite, a mesh without a period in one
    /// of its directions, a model without a velocity.
    pub fn on(&self, mean: Arc<dyn Exact>, states: &States<'_>) -> Result<Arc<dyn Exact>, InputError> {
        let (dim, periods) = (states.variables.dim(), states.periods);
        if let Law::Advection { .. } = states.variables.law() {
            let (key, owner) = (self.key.key.clone(), "the model advection".to_owned());
            let belongs = "euler, navier-stokes and incompressible, which have a velocity".to_owned();
            return Err(InputError::at(&self.key.place, Problem::Misplaced { key, owner, belongs }));
        }
        if let Some(d) = (0..dim).find(|d| periods[*d] <= 0.0) {
            let axis = ["x", "y", "z"][d];
            let found = self.key.with(format!("given on a mesh without a period along {axis}"));
            let expected = "on a mesh that is periodic in all directions, by `mesh.periodic`";
            return Err(InputError::range(&found, expected));
        }
        let formula = states.constants.located_formula(&self.spectrum, &[WAVE_NUMBER])?;
        let shells = RandomWaves::shells(dim, periods, self.waves.value);
        let energies: Vec<f64> = shells.iter().map(|&k| formula.eval(&[k])).collect();
        let possible = |e: f64| e.is_finite() && e >= 0.0;
        if let Some((k, e)) = shells.iter().zip(&energies).find(|(_, e)| !possible(**e)) {
            let found = self.spectrum.with(format!("{} = {e} at k = {k}", self.spectrum.value));
            return Err(InputError::range(&found, "a spectrum that is finite and not negative"));
        }
        let waves = RandomWaves::new(dim, periods, &energies, self.seed);
        let gas = states.variables.law().gas().is_some();
        Ok(Arc::new(WithWaves { mean, waves, gas }))
    }
}
