//! The key `turbulence` of conditions that prescribe a state: synthetic eddies on the mean flow that enters.

use std::sync::Arc;

use dgsuite_physics::Coefficients;
use dgsuite_physics::Exact;
use dgsuite_physics::coefficients::FormulaCoefficients;
use dgsuite_physics::exact::{SyntheticEddies, WithEddies, are_stresses};

use super::states::States;
use crate::file::problem::mistakes::each;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::Located;

/// The names of the Reynolds stresses.
const STRESSES: [&str; 6] = ["uu", "vv", "ww", "uv", "uw", "vw"];

const PLACE: [&str; 3] = ["x", "y", "z"];

/// Turbulence as written.
#[derive(Clone, Debug)]
pub struct TurbulenceSpec {
    /// The Reynolds stresses, in the order of [`STRESSES`].
    stress: StressSpec,
    /// The longitudinal integral length.
    length: f64,
    /// The velocity at which eddies pass.
    velocity: Located<Vec<f64>>,
    /// The seed of the random numbers.
    seed: u64,
    /// Its section.
    key: Located<()>,
}

/// The Reynolds stresses as written.
#[derive(Clone, Debug)]
enum StressSpec {
    /// Isotropic, with this root mean square of a component relative to the velocity of the eddies.
    Intensity(f64),
    /// Formulas of place; 0 for those that are not given.
    Formulas(Box<[Located<String>; 6]>),
}

impl TurbulenceSpec {
    /// Reads `turbulence` beside the state of a condition.
    ///
    /// # Errors
    /// Missing keys, both an intensity and stresses.
    pub fn read(condition: &Section<'_>) -> Result<Option<Self>, InputError> {
        let Some(section) = condition.section("turbulence")? else { return Ok(None) };
        section.known()?;
        section.exclusive("intensity", "stress")?;
        let stress = match (section.positive("intensity")?, section.section("stress")?) {
            (Some(intensity), _) => StressSpec::Intensity(intensity.value),
            (None, Some(stresses)) => {
                stresses.known()?;
                let zero = |name: &str| {
                    let (key, place) = (stresses.key(name), stresses.place().clone());
                    Located { value: "0".to_owned(), key, place }
                };
                let mut formulas = STRESSES.map(zero);
                for (name, formula) in STRESSES.iter().zip(&mut formulas) {
                    if let Some(node) = stresses.node(name) {
                        *formula = stresses.constants().text(node, &stresses.key(name))?;
                    }
                }
                StressSpec::Formulas(Box::new(formulas))
            }
            (None, None) => {
                let expected = "`intensity`, a number such as 0.05, or `stress`, a section such as { uu: 0.01, vv: 0.01 }";
                return Err(section.missing("intensity", expected));
            }
        };
        let length = section.positive("length")?;
        let length = length.ok_or_else(|| section.missing("length", "the integral length of the eddies"))?;
        let expected = "the velocity at which eddies pass, such as the mean [1, 0, 0]";
        let velocity = section.vector("velocity")?.ok_or_else(|| section.missing("velocity", expected))?;
        let seed = section.count("seed", 0)?.map_or(0, |seed| seed.value as u64);
        let key = Located { value: (), key: section.path().to_owned(), place: section.place().clone() };
        Ok(Some(Self { stress, length: length.value, velocity, seed, key }))
    }

    /// Returns the state with eddies on a mean state; `points` are on its boundary.
    ///
    /// # Errors
    /// Vectors of another dimension, formulas that do not parse, stresses that no fluctuations have.
    pub fn on(
        &self,
        mean: Arc<dyn Exact>,
        states: &States<'_>,
        points: &[[f64; 3]],
    ) -> Result<Arc<dyn Exact>, InputError> {
        let dim = states.variables.dim();
        let wrong = |expected: String| {
            InputError::range(&self.velocity.with(format!("{:?}", self.velocity.value)), expected)
        };
        if self.velocity.value.len() != dim {
            return Err(wrong(format!("a list of {dim} numbers, as the mesh has {dim} dimensions")));
        }
        let speed = self.velocity.value.iter().map(|v| v * v).sum::<f64>().sqrt();
        if speed <= 0.0 {
            return Err(wrong(
                "a velocity that is not 0: eddies that do not pass would stay there".to_owned(),
            ));
        }
        let square = |intensity: f64| (intensity * speed).powi(2).to_string();
        let texts: [Located<String>; 6] = std::array::from_fn(|k| match &self.stress {
            StressSpec::Intensity(intensity) if k < 3 => self.key.with(square(*intensity)),
            StressSpec::Formulas(formulas) => formulas[k].clone(),
            StressSpec::Intensity(_) => self.key.with("0".to_owned()),
        });
        let formulas = each(texts.iter().map(|text| states.constants.located_formula(text, &PLACE)))?;
        let stress = FormulaCoefficients(formulas);
        let mut values = vec![Vec::new(); 6];
        stress.eval(points, &mut values);
        // In the plane there are no fluctuations across it.
        let at = |i: usize| -> [f64; 6] { std::array::from_fn(|k| values[k][i]) };
        if let Some(i) = (0..points.len()).find(|&i| !are_stresses(at(i))) {
            let [x, y, z] = points[i];
            let shown: Vec<String> =
                STRESSES.iter().zip(at(i)).map(|(name, r)| format!("{name} = {r}")).collect();
            let found = self.key.with(format!("{} at ({x}, {y}, {z})", shown.join(", ")));
            return Err(InputError::range(
                &found,
                "finite stresses of fluctuations: squares not less than 0, and uv² ≤ uu vv and so on",
            ));
        }
        let velocity = std::array::from_fn(|d| self.velocity.value.get(d).copied().unwrap_or(0.0));
        let radius = SyntheticEddies::radius(dim, self.length);
        let eddies = SyntheticEddies::new(dim, radius, velocity, states.periods, self.seed);
        let gas = states.variables.law().gas().is_some();
        Ok(Arc::new(WithEddies { mean, eddies, stress, gas }))
    }

    /// Refuses eddies, which pass in time, in a run to a steady state.
    ///
    /// # Errors
    /// [`Problem::Unsupported`] if the run is steady.
    pub fn not_steady(&self, steady: bool) -> Result<(), InputError> {
        let (key, value) = (self.key.key.clone(), "eddies".to_owned());
        let instead = "eddies pass in time: `time.end` in place of `time.steady`".to_owned();
        match steady {
            true => Err(InputError::at(&self.key.place, Problem::Unsupported { key, value, instead })),
            false => Ok(()),
        }
    }

    /// The place of the section.
    pub fn key(&self) -> &Located<()> {
        &self.key
    }
}
