//! States of the file as functions of place and time, with names resolved and values checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use dgsuite_mesh::Mesh;
use dgsuite_physics::exact::{Context, ExactError, by_name};
use dgsuite_physics::formula::Formula;
use dgsuite_physics::trace::{Recording, StateRecording, Sym};
use dgsuite_physics::{Exact, Source};

use super::initial_waves::WavesSpec;
use super::variables::Variables;
use super::vocabulary::Vocabulary;
use crate::file::expression::{COORDINATES, Constants};
use crate::file::problem::mistakes::each;
use crate::file::problem::{InputError, Problem};
use crate::file::source::{Located, Place};
use crate::models::state::{Formula as FormulaSpec, StateSpec};
use dgsuite_solve::flow::Law;

/// Converts states as written into functions.
pub struct States<'a> {
    /// The model's variables.
    pub variables: &'a Variables,
    /// The file's constants.
    pub constants: &'a Constants,
    /// The named solution of `initial` with its parameters; a bare name elsewhere refers to it.
    pub initial: Option<&'a StateSpec>,
    /// The mesh's period in each direction, 0 where it has none.
    pub periods: [f64; 3],
    /// Whether a flow rate is prescribed.
    pub driven: bool,
}

impl States<'_> {
    /// Returns the state at the start, with turbulence on it if there are `waves`.
    ///
    /// # Errors
    /// Formulas that do not parse, a state that is none of a gas, waves that the mesh or the model cannot
    /// have.
    pub fn initial(
        &self,
        spec: Option<&StateSpec>,
        waves: Option<&WavesSpec>,
        mesh: &Mesh,
    ) -> Result<Arc<dyn Exact>, InputError> {
        let Some(spec) = spec else { return self.rest() };
        let mean = self.resolve(spec)?;
        let state = match waves {
            Some(waves) => waves.on(mean, self)?,
            None => mean,
        };
        self.admissible(state.as_ref(), spec, 0.0, &mesh.points)?;
        Ok(state)
    }

    /// Returns the function for a state.
    ///
    /// # Errors
    /// Unknown names of solutions, parameters or variables; variables without a formula.
    pub fn resolve(&self, spec: &StateSpec) -> Result<Arc<dyn Exact>, InputError> {
        match spec {
            StateSpec::Formulas { formulas, place, path } => self.formulas(formulas, place, path),
            StateSpec::Named { name, bare: true, .. } => match self.initial {
                Some(StateSpec::Named { name: first, parameters, scalars, .. })
                    if first.value == name.value =>
                {
                    self.named(name, parameters, scalars)
                }
                _ => self.named(name, &[], &[]),
            },
            StateSpec::Named { name, parameters, scalars, .. } => self.named(name, parameters, scalars),
        }
    }

    /// A solution by name, with the formulas that stand beside it for the scalars of the law.
    fn named(
        &self,
        name: &Located<String>,
        parameters: &[Located<f64>],
        beside: &[FormulaSpec],
    ) -> Result<Arc<dyn Exact>, InputError> {
        let names = match self.variables.law() {
            Law::Incompressible(law) => law.scalars.iter().map(|scalar| scalar.name).collect(),
            _ => Vec::new(),
        };
        let is_scalar = |of: &FormulaSpec| names.contains(&of.variable.value.as_str());
        let strange = beside.iter().filter(|of| !is_scalar(of));
        let mut given: BTreeMap<String, f64> =
            parameters.iter().map(|p| (last_key(&p.key).to_owned(), p.value)).collect();
        // The catalogue does not know them either, and says so.
        given.extend(strange.map(|of| (of.variable.value.clone(), 0.0)));
        let flow = self.catalogued(name, parameters, (beside, &given))?;
        if names.is_empty() {
            return Ok(flow);
        }
        let section = name.key.rsplit_once('.').map_or("initial", |(section, _)| section);
        let scalars =
            each(names.iter().map(|scalar| match beside.iter().find(|of| of.variable.value == *scalar) {
                Some(of) => self.constants.located_formula(&of.text, &COORDINATES),
                None => {
                    let expected = format!(
                        "a formula for each of {}, beside the solution of the flow",
                        names.join(", ")
                    );
                    let key = format!("{section}.{scalar}");
                    Err(InputError::at(&name.place, Problem::MissingKey { key, expected }))
                }
            }))?;
        let Some(flow) = flow.recorded() else {
            let instead = "it has no scalars; give formulas".to_owned();
            let (key, value) = (name.key.clone(), name.value.clone());
            return Err(InputError::at(&name.place, Problem::Unsupported { key, value, instead }));
        };
        Ok(Arc::new(Recording::new(|t, [x, y, z]| {
            let mut all: Vec<Sym> = flow.eval(t, &[x, y, z]);
            all.extend(scalars.iter().map(|formula| formula.trace(&[x, y, z, t])));
            all
        })))
    }

    /// A solution of the catalogue, with the parameters `given`.
    fn catalogued(
        &self,
        name: &Located<String>,
        parameters: &[Located<f64>],
        (beside, given): (&[FormulaSpec], &BTreeMap<String, f64>),
    ) -> Result<Arc<dyn Exact>, InputError> {
        let model = self.variables.law().model();
        let context = Context { dim: self.variables.dim(), model, period: self.periods };
        by_name(&name.value, given, &context).map(Arc::from).map_err(|error| {
            let culprit = match &error {
                ExactError::UnknownParameter { name, .. } | ExactError::BadParameter { name, .. } => {
                    Some(name.as_str())
                }
                _ => None,
            };
            let written = parameters.iter().find(|p| culprit == Some(last_key(&p.key)));
            let strange = beside.iter().find(|of| culprit == Some(of.variable.value.as_str()));
            let place = written.map(|p| &p.place).or_else(|| strange.map(|of| &of.text.place));
            let place = place.unwrap_or(&name.place);
            InputError::at(place, Problem::Exact { key: name.key.clone(), error })
        })
    }

    /// Records a state at a boundary with formulas of the inner state; `None` if no formula uses it.
    ///
    /// # Errors
    /// As [`Self::resolve`] and [`Self::at_boundary`].
    pub fn of_state(&self, spec: &StateSpec) -> Result<Option<StateRecording>, InputError> {
        let StateSpec::Formulas { formulas, place, path } = spec else { return Ok(None) };
        let plain = |f: &FormulaSpec| self.constants.formula(&f.text.value, &COORDINATES).is_ok();
        if formulas.iter().all(plain) {
            return Ok(None);
        }
        let parsed = self.parsed(formulas, place, path, |text| self.at_boundary(text))?;
        Ok(Some(self.variables.of_state(&parsed)))
    }

    /// Parses a formula of a boundary condition: of `x, y, z, t`, or of the inner state and these, with
    /// `true`.
    ///
    /// # Errors
    /// A mistake in the text, derivatives of the state, the state of a law that is not one of a gas.
    pub fn at_boundary(&self, text: &Located<String>) -> Result<(Formula, bool), InputError> {
        // A constant with the name of a variable keeps its meaning.
        let plain = self.constants.located_formula(text, &COORDINATES);
        if let Ok(formula) = plain {
            return Ok((formula, false));
        }
        let gas = self.variables.law().gas().is_some();
        let arguments: Vec<&str> = self.variables.primitive.iter().copied().chain(COORDINATES).collect();
        let of_state = Vocabulary::with_arguments(self.variables, self.constants, &arguments);
        match of_state.formula(text) {
            Ok(formula) if gas => Ok((formula, true)),
            Ok(_) => Err(InputError::range(
                text,
                "a formula of x, y, z and t; the models euler and navier-stokes also take one of the state",
            )),
            Err(_) if Vocabulary::new(self.variables, self.constants).parse(&text.value).is_ok() => {
                Err(InputError::range(
                    text,
                    "a formula of the state and x, y, z, t, without derivatives of the state",
                ))
            }
            Err(error) if gas => Err(error),
            Err(_) => plain.map(|formula| (formula, false)),
        }
    }

    fn formulas(
        &self,
        given: &[FormulaSpec],
        place: &Place,
        path: &str,
    ) -> Result<Arc<dyn Exact>, InputError> {
        let plain = |text: &Located<String>| Ok((self.constants.located_formula(text, &COORDINATES)?, false));
        let formulas = self.parsed(given, place, path, plain)?;
        Ok(self.variables.from_formulas(formulas.into_iter().map(|(formula, _)| formula).collect()))
    }

    /// Parses a formula for each primitive variable, in their order.
    fn parsed(
        &self,
        given: &[FormulaSpec],
        place: &Place,
        path: &str,
        parse: impl Fn(&Located<String>) -> Result<(Formula, bool), InputError>,
    ) -> Result<Vec<(Formula, bool)>, InputError> {
        let primitive = &self.variables.primitive;
        let has_gas = self.variables.law().gas().is_some();
        if let Some(strange) = given.iter().find(|f| !primitive.contains(&f.variable.value.as_str())) {
            let known = primitive.iter().map(|&v| v.to_owned()).chain(["exact".to_owned()]).collect();
            return Err(InputError::at(
                &strange.variable.place,
                Problem::UnknownKey { key: strange.variable.value.clone(), section: path.to_owned(), known },
            ));
        }
        each(primitive.iter().map(|variable| match given.iter().find(|f| f.variable.value == *variable) {
            Some(f) => parse(&f.text),
            // The pressure follows from the velocity, but errors are those of a given solution.
            None if *variable == "p" && !has_gas && !path.ends_with(".exact") => {
                zero(path).map(|formula| (formula, false))
            }
            None => Err(InputError::at(
                place,
                Problem::MissingKey {
                    key: format!("{path}.{variable}"),
                    expected: format!("a formula for each of {}", primitive.join(", ")),
                },
            )),
        }))
    }

    /// Divides the formulas of a source term into those of place and time, and those of the state and place.
    ///
    /// # Errors
    /// Formulas that do not parse, or that depend on both the state and the time.
    fn split_source<'f>(
        &self,
        given: &'f [FormulaSpec],
    ) -> Result<(Vec<&'f FormulaSpec>, Vec<(&'f FormulaSpec, Formula)>), InputError> {
        let arguments: Vec<&str> = self.variables.primitive.iter().copied().chain(["x", "y", "z"]).collect();
        let (mut of_place, mut of_state) = (Vec::new(), Vec::new());
        if self.has_force_of_scalars() {
            return Ok((of_place, of_state));
        }
        for spec in given {
            // A constant with the name of a variable keeps its meaning.
            if self.constants.formula(&spec.text.value, &COORDINATES).is_ok() {
                of_place.push(spec);
                continue;
            }
            if matches!(self.variables.law(), Law::Incompressible(_)) {
                self.constants.located_formula(&spec.text, &COORDINATES)?;
            }
            let of =
                |arguments: &[&str]| Vocabulary::with_arguments(self.variables, self.constants, arguments);
            let Ok(formula) = of(&arguments).parse(&spec.text.value) else {
                let all: Vec<&str> = arguments.iter().copied().chain(["t"]).collect();
                of(&all).formula(&spec.text)?;
                let expected = "a formula of x, y, z and t, or one of the state and x, y, z, without t";
                return Err(InputError::range(&spec.text, expected));
            };
            of_state.push((spec, formula));
        }
        Ok((of_place, of_state))
    }

    /// Whether the law has a force that depends on scalars, which then has all formulas of the source term.
    fn has_force_of_scalars(&self) -> bool {
        matches!(self.variables.law(), Law::Incompressible(law) if law.forcing.is_some())
    }

    /// The formulas of a source term that use the state, for each conserved variable; `None` if none does.
    ///
    /// # Errors
    /// As [`Self::source`].
    pub fn source_of_state(
        &self,
        given: &[FormulaSpec],
    ) -> Result<Option<Arc<[Option<Formula>]>>, InputError> {
        let (_, of_state) = self.split_source(given)?;
        if of_state.is_empty() {
            return Ok(None);
        }
        let of = |name: &&str| {
            of_state.iter().find(|(spec, _)| spec.variable.value == *name).map(|(_, formula)| formula.clone())
        };
        Ok(Some(self.variables.conserved.iter().map(of).collect()))
    }

    /// Returns a source term from formulas for conserved variables, or for the velocity components of
    /// incompressible flow; 0 for variables without a formula. `None` if all formulas use the state, and if
    /// a force of incompressible flow uses its scalars.
    ///
    /// # Errors
    /// Names that are not conserved variables, formulas that do not parse.
    pub fn source(&self, given: &[FormulaSpec]) -> Result<Option<Arc<dyn Source>>, InputError> {
        let conserved = &self.variables.conserved;
        if let Some(strange) = given.iter().find(|f| !conserved.contains(&f.variable.value.as_str())) {
            let section = strange.variable.key.rsplit_once('.').map_or("physics", |(section, _)| section);
            return Err(InputError::at(
                &strange.variable.place,
                Problem::UnknownKey {
                    key: strange.variable.value.clone(),
                    section: section.to_owned(),
                    known: conserved.iter().map(|&v| v.to_owned()).collect(),
                },
            ));
        }
        let (given, of_state) = self.split_source(given)?;
        if given.is_empty() && (!of_state.is_empty() || self.has_force_of_scalars()) {
            return Ok(None);
        }
        let texts = given.iter().map(|f| (f.variable.value.clone(), f.text.value.clone())).collect();
        let names = self.constants.names(&COORDINATES);
        // Names and formulas have been checked one by one, so this does not fail.
        self.variables.source(&texts, &names).map(Some).map_err(|error| {
            let key = given.first().map_or_else(String::new, |f| f.text.key.clone());
            let (expected, found) = ("a formula".to_owned(), error.to_string());
            InputError::nowhere(Problem::WrongType { key, expected, found, model: None })
        })
    }

    /// Returns the default initial state: a gas at rest with unit density and speed of sound, or u = 0.
    pub fn rest(&self) -> Result<Arc<dyn Exact>, InputError> {
        let text = |variable: &str| match (self.variables.law().gas(), variable) {
            (Some(gas), "p") => format!("1/{}", gas.gamma),
            (Some(_), "rho") => "1".to_owned(),
            _ => "0".to_owned(),
        };
        let formulas = self
            .variables
            .primitive
            .iter()
            .map(|v| {
                Constants::default().formula(&text(v), &COORDINATES).map_err(|error| {
                    InputError::nowhere(Problem::Formula { key: format!("initial.{v}"), error })
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(self.variables.from_formulas(formulas))
    }

    /// Rejects a state that is impossible for a gas at any of the points, at time `t`.
    ///
    /// # Errors
    /// [`Problem::Inadmissible`] with the first such point.
    pub fn admissible(
        &self,
        state: &dyn Exact,
        spec: &StateSpec,
        t: f64,
        points: &[[f64; 3]],
    ) -> Result<(), InputError> {
        let mut values = vec![Vec::new(); state.n_fields()];
        state.eval(t, points, &mut values);
        self.possible(values, spec, points)
    }

    /// Rejects conserved `values[variable][point]` that are impossible for a gas.
    ///
    /// # Errors
    /// As [`Self::admissible`].
    pub(crate) fn possible(
        &self,
        mut values: Vec<Vec<f64>>,
        spec: &StateSpec,
        points: &[[f64; 3]],
    ) -> Result<(), InputError> {
        self.variables.to_primitive(&mut values);
        for (k, &variable) in self.variables.primitive.iter().enumerate() {
            let must_be_positive = self.variables.positive().contains(&variable);
            let bad = |x: f64| !x.is_finite() || (must_be_positive && x <= 0.0);
            if let Some(i) = values[k].iter().position(|&x| bad(x)) {
                let (key, place) = spec.locate(variable);
                return Err(InputError::at(
                    place,
                    Problem::Inadmissible {
                        key,
                        variable: variable.to_owned(),
                        value: values[k][i],
                        point: points[i],
                    },
                ));
            }
        }
        Ok(())
    }
}

/// The formula 0.
fn zero(path: &str) -> Result<Formula, InputError> {
    Constants::default()
        .formula("0", &COORDINATES)
        .map_err(|error| InputError::nowhere(Problem::Formula { key: path.to_owned(), error }))
}

impl StateSpec {
    /// Returns the key and place of a variable's formula, or of the whole state.
    fn locate(&self, variable: &str) -> (String, &Place) {
        match self {
            Self::Named { name, .. } => (name.key.clone(), &name.place),
            Self::Formulas { formulas, place, path } => formulas
                .iter()
                .find(|f| f.variable.value == variable)
                .map_or((path.clone(), place), |f| (f.text.key.clone(), &f.text.place)),
        }
    }

    /// Returns whether this is a solution for all times, and not only an initial state.
    pub fn is_solution(&self) -> bool {
        match self {
            Self::Named { .. } => true,
            Self::Formulas { path, .. } => path.ends_with(".exact"),
        }
    }
}

fn last_key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
