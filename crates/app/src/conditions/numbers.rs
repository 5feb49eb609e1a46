//! Numbers of boundary conditions that may be formulas: wall velocity and temperature, reservoirs, pressure.

use std::sync::Arc;

use super::On;
use crate::file::keys::Kind::{self, Formula as OneFormula, List};
use crate::file::keys::SPACE_TIME;
use crate::file::problem::{InputError, Problem};
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::source::{Located, Place};
use crate::models::reference::unit;
use crate::models::states::States;
use crate::models::variables::{At, AtStart};
use dgsuite_ops::place_and_time;
use dgsuite_physics::formula::Formula;
use dgsuite_physics::trace::{Recording, StateRecording};
use dgsuite_physics::{Euler, Exact, Given, Law, Real};
use dgsuite_solve::flow::BoundaryKind;

/// A vector as a list.
pub(super) const COMPONENTS: Kind =
    List("one number or formula for each direction", &[OneFormula(SPACE_TIME)]);

/// A number, a formula in `x, y, z, t`, or one of the inner state and these.
enum Term {
    Constant(f64),
    Formula(Box<Formula>),
    OfState(Box<Formula>),
    /// An unknown of the state at the start of the run, at the same place.
    OfStart(Arc<Start>, Entry),
}

/// The state of a gas at the start of the run.
struct Start {
    /// The conserved unknowns.
    state: Recording,
    law: Euler,
    gas_constant: f64,
    dim: usize,
}

#[derive(Clone, Copy)]
enum Entry {
    Temperature,
    Velocity(usize),
}

impl Start {
    /// The state `start`, if it is known, has formulas, and is that of a gas.
    fn new(states: &States<'_>, start: Option<&dyn Exact>) -> Option<Arc<Self>> {
        let law = states.variables.law();
        let (gas, state) = (law.gas()?, start?.recorded()?);
        Some(Arc::new(Self {
            state,
            law: gas,
            gas_constant: law.gas_constant(),
            dim: states.variables.dim(),
        }))
    }

    fn value<R: Real>(&self, x: &[R; 3], entry: Entry) -> R {
        let u = self.state.eval(R::lit(0.0), x);
        let of = |w: &[R]| match entry {
            Entry::Temperature => w[w.len() - 1] / (R::lit(self.gas_constant) * w[0]),
            Entry::Velocity(d) => w[1 + d],
        };
        match self.dim {
            2 => of(&Law::<2, 4>::to_primitive(&self.law, &std::array::from_fn(|k| u[k]))),
            _ => of(&Law::<3, 5>::to_primitive(&self.law, &std::array::from_fn(|k| u[k]))),
        }
    }
}

/// A velocity or a direction.
enum Vector {
    Components([Term; 3]),
    /// The unit vector along these components.
    Along([Term; 3]),
    /// `ω × (x − c)`, with ω along the unit vector `axis`.
    Rotation {
        omega: Term,
        centre: [f64; 3],
        axis: [f64; 3],
    },
}

/// The resolved numbers of a condition: those before the vector, the vector, and those after it.
pub(super) struct Numbers {
    dim: usize,
    /// Whether the data has a place before the vector, as the state of a gas has.
    gas: bool,
    first: Option<Term>,
    vector: Option<Vector>,
    last: Option<Term>,
}

impl Term {
    fn new(quantity: &Quantity, states: &States<'_>) -> Result<Self, InputError> {
        Ok(match quantity {
            Quantity::Constant(x) => Self::Constant(x.value),
            Quantity::Formula(text) => match states.at_boundary(text)? {
                (formula, false) => Self::Formula(Box::new(formula)),
                (formula, true) => Self::OfState(Box::new(formula)),
            },
        })
    }

    const fn uses_state(&self) -> bool {
        matches!(self, Self::OfState(_))
    }

    const fn given(&self) -> Given {
        match self {
            Self::Constant(x) => Given::Constant(*x),
            Self::Formula(_) | Self::OfState(_) | Self::OfStart(..) => Given::Prescribed,
        }
    }

    fn value<R: Real>(&self, at: &At<'_, R>) -> R {
        match self {
            Self::Constant(x) => R::lit(*x),
            Self::Formula(formula) => at.value(formula, false),
            Self::OfState(formula) => at.value(formula, true),
            Self::OfStart(start, entry) => start.value(at.x, *entry),
        }
    }
}

impl Vector {
    /// The components; `None` for a constant vector of length 0.
    fn given(&self) -> Option<[Given; 3]> {
        match self {
            Self::Components([Term::Constant(u), Term::Constant(v), Term::Constant(w)]) => {
                ([*u, *v, *w] != [0.0; 3]).then(|| Given::vector([*u, *v, *w]))
            }
            _ => Some([Given::Prescribed; 3]),
        }
    }

    fn uses_state(&self) -> bool {
        match self {
            Self::Components(terms) | Self::Along(terms) => terms.iter().any(Term::uses_state),
            Self::Rotation { omega, .. } => omega.uses_state(),
        }
    }

    fn value<R: Real>(&self, at: &At<'_, R>) -> [R; 3] {
        match self {
            Self::Components(terms) => std::array::from_fn(|d| terms[d].value(at)),
            Self::Along(terms) => {
                let a: [R; 3] = std::array::from_fn(|d| terms[d].value(at));
                let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
                a.map(|c| c / length)
            }
            Self::Rotation { omega, centre, axis } => {
                let omega = omega.value(at);
                let arm: [R; 3] = std::array::from_fn(|d| at.x[d] - R::lit(centre[d]));
                std::array::from_fn(|d| {
                    let (i, j) = ((d + 1) % 3, (d + 2) % 3);
                    omega * (R::lit(axis[i]) * arm[j] - R::lit(axis[j]) * arm[i])
                })
            }
        }
    }
}

/// The numbers of a condition on a boundary, while they are resolved.
pub(super) struct Building<'a> {
    on: &'a On<'a>,
    numbers: Numbers,
    /// The place of each number in the file, for errors about its values.
    written: Vec<(usize, &'static str, &'a str, &'a Place)>,
    /// The state at the start of the run, if gas that comes back can have it.
    start: Option<Arc<Start>>,
}

impl<'a> Building<'a> {
    /// No numbers.
    pub(super) fn new(on: &'a On<'a>) -> Self {
        let (dim, gas) = (on.states.variables.dim(), on.states.variables.law().gas().is_some());
        let numbers = Numbers { dim, gas, first: None, vector: None, last: None };
        Self { on, numbers, written: Vec::new(), start: Start::new(on.states, on.start) }
    }

    /// Resolves the number before the vector, under the name that errors give to it.
    ///
    /// # Errors
    /// Formulas that do not parse.
    pub(super) fn first(&mut self, name: &'static str, given: &'a Quantity) -> Result<Given, InputError> {
        self.written.push((0, name, given.place().0, given.place().1));
        Ok(self.numbers.first.insert(Term::new(given, self.on.states)?).given())
    }

    /// Does the same for the number after the vector.
    ///
    /// # Errors
    /// As [`Self::first`].
    pub(super) fn last(&mut self, name: &'static str, given: &'a Quantity) -> Result<Given, InputError> {
        self.written.push((self.numbers.dim + 1, name, given.place().0, given.place().1));
        Ok(self.numbers.last.insert(Term::new(given, self.on.states)?).given())
    }

    /// Resolves the vector. `None` stands for one of length 0.
    ///
    /// # Errors
    /// Formulas that do not parse, a vector that does not fit the mesh.
    pub(super) fn vector(
        &mut self,
        name: &'static str,
        given: &'a VectorQuantity,
    ) -> Result<Option<[Given; 3]>, InputError> {
        let vector = Vector::Components(components(given, self.on.states)?);
        Ok(self.set(name, &given.key.key, &given.key.place, vector))
    }

    /// Resolves the vector as a unit vector along the given one.
    ///
    /// # Errors
    /// As [`Self::vector`]; a vector of length 0.
    pub(super) fn direction(
        &mut self,
        name: &'static str,
        given: &'a VectorQuantity,
    ) -> Result<Option<[Given; 3]>, InputError> {
        let vector = match components(given, self.on.states)? {
            [Term::Constant(x), Term::Constant(y), Term::Constant(z)] => {
                Vector::Components(unit(&given.key.with(vec![x, y, z]))?.map(Term::Constant))
            }
            terms => Vector::Along(terms),
        };
        Ok(self.set(name, &given.key.key, &given.key.place, vector))
    }

    /// Does the same for a vector that may be a constant of length 0.
    ///
    /// # Errors
    /// As [`Self::vector`].
    pub(super) fn along(&mut self, name: &'static str, given: &'a VectorQuantity) -> Result<(), InputError> {
        let vector = Vector::Along(components(given, self.on.states)?);
        self.set(name, &given.key.key, &given.key.place, vector);
        Ok(())
    }

    /// Resolves the vector as the velocity `omega × (x − centre)` of a body that rotates.
    ///
    /// # Errors
    /// As [`Self::vector`]; an axis in the plane.
    pub(super) fn rotation(
        &mut self,
        name: &'static str,
        omega: &'a Quantity,
        centre: Option<&Located<Vec<f64>>>,
        axis: Option<&Located<Vec<f64>>>,
    ) -> Result<Option<[Given; 3]>, InputError> {
        let (key, place) = omega.place();
        let vector = rotation(Term::new(omega, self.on.states)?, centre, axis, self.numbers.dim)?;
        Ok(self.set(name, key, place, vector))
    }

    fn set(
        &mut self,
        name: &'static str,
        key: &'a str,
        place: &'a Place,
        vector: Vector,
    ) -> Option<[Given; 3]> {
        self.written.extend((1..=self.numbers.dim).map(|k| (k, name, key, place)));
        self.numbers.vector.insert(vector).given()
    }

    /// Takes the temperature at the start of the run, if it is known, as the number before the vector.
    pub(super) fn temperature_of_start(&mut self) -> Option<Given> {
        let start = Arc::clone(self.start.as_ref()?);
        Some(self.numbers.first.insert(Term::OfStart(start, Entry::Temperature)).given())
    }

    /// Takes the velocity at the start of the run, if it is known, as the vector.
    pub(super) fn velocity_of_start(&mut self) -> Option<[Given; 3]> {
        let start = self.start.as_ref()?;
        let along = |d| match d < self.numbers.dim {
            true => Term::OfStart(Arc::clone(start), Entry::Velocity(d)),
            false => Term::Constant(0.0),
        };
        self.numbers.vector.insert(Vector::Components(std::array::from_fn(along))).given()
    }

    /// Whether the vector depends on the inner state.
    pub(super) fn vector_uses_state(&self) -> bool {
        self.numbers.vector.as_ref().is_some_and(Vector::uses_state)
    }

    /// Checks the values at the points of the boundary: at the start of the run if they depend on the state.
    ///
    /// # Errors
    /// Numbers that are not finite, or impossible for a gas.
    pub(super) fn check(self) -> Result<Numbers, InputError> {
        let Self { on, numbers, written, .. } = self;
        let mut values = vec![Vec::new(); numbers.len()];
        match (on.start, numbers.of_state()) {
            (Some(state), Some(formulas)) => {
                let (variables, formulas) = (on.states.variables, &formulas);
                AtStart { variables, formulas, state }.eval(0.0, on.points, &mut values);
            }
            _ => numbers.recorded().eval_batch(0.0, on.points, &mut values),
        }
        for (k, variable, key, place) in written {
            let positive = numbers.gas && (k == 0 || k == numbers.dim + 1);
            // Places are counted with one before the vector.
            let k = k + numbers.vector_at() - 1;
            let bad = |x: &f64| !x.is_finite() || (positive && *x <= 0.0);
            if let Some(i) = values[k].iter().position(bad) {
                let (key, variable) = (key.to_owned(), variable.to_owned());
                let (value, point) = (values[k][i], on.points[i]);
                return Err(InputError::at(place, Problem::Inadmissible { key, variable, value, point }));
            }
        }
        Ok(numbers)
    }
}

/// Checks that a vector has as many components as the mesh has dimensions.
pub(super) fn fits(given: &VectorQuantity, states: &States<'_>) -> Result<(), InputError> {
    let dim = states.variables.dim();
    if given.len > dim || (given.is_list && given.len != dim) {
        return Err(unfit(&given.key.with(format!("a list of {}", given.len)), dim));
    }
    Ok(())
}

fn components(given: &VectorQuantity, states: &States<'_>) -> Result<[Term; 3], InputError> {
    fits(given, states)?;
    let mut terms = [Term::Constant(0.0), Term::Constant(0.0), Term::Constant(0.0)];
    for (term, quantity) in terms.iter_mut().zip(&given.components) {
        if let Some(quantity) = quantity {
            *term = Term::new(quantity, states)?;
        }
    }
    Ok(terms)
}

fn rotation(
    omega: Term,
    centre: Option<&Located<Vec<f64>>>,
    axis: Option<&Located<Vec<f64>>>,
    dim: usize,
) -> Result<Vector, InputError> {
    for vector in [centre, axis].into_iter().flatten() {
        if vector.value.len() != dim {
            return Err(unfit(&vector.with(format!("{:?}", vector.value)), dim));
        }
    }
    let axis = match axis {
        None => [0.0, 0.0, 1.0],
        Some(given) if dim == 2 => {
            let (owner, belongs) = ("a mesh of the plane".to_owned(), "three dimensions".to_owned());
            let problem = Problem::Misplaced { key: given.key.clone(), owner, belongs };
            return Err(InputError::at(&given.place, problem));
        }
        Some(given) => unit(given)?,
    };
    let at = |d: usize| centre.and_then(|c| c.value.get(d)).copied().unwrap_or(0.0);
    Ok(Vector::Rotation { omega, centre: std::array::from_fn(at), axis })
}

/// The error for a vector with more or fewer components than the mesh has dimensions.
fn unfit(shown: &Located<String>, dim: usize) -> InputError {
    InputError::range(shown, format!("a list of {dim} numbers, as the mesh has {dim} dimensions"))
}

impl Numbers {
    /// The last number at the start of the run, if it does not depend on the state.
    pub(super) fn last_at_start(&self, points: &[[f64; 3]]) -> Option<Vec<f64>> {
        if self.of_state().is_some() { None } else { self.values_at(0.0, points).pop() }
    }

    /// The vectors at points, without those components that the mesh does not have.
    pub(super) fn vectors(&self, t: f64, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let values = self.values_at(t, points);
        let at = |i: usize, d: usize| if d < self.dim { values[self.vector_at() + d][i] } else { 0.0 };
        (0..points.len()).map(|i| std::array::from_fn(|d| at(i, d))).collect()
    }

    fn values_at(&self, t: f64, points: &[[f64; 3]]) -> Vec<Vec<f64>> {
        let mut values = vec![Vec::new(); self.len()];
        self.recorded().eval_batch(t, points, &mut values);
        values
    }

    /// Whether the vector is known without a state.
    pub(super) fn has_known_vector(&self) -> bool {
        self.vector.as_ref().is_some_and(|vector| !vector.uses_state())
    }

    /// The number of entries of the data.
    fn len(&self) -> usize {
        self.vector_at() + self.dim + 1
    }

    /// The place of the vector in the data.
    fn vector_at(&self) -> usize {
        usize::from(self.gas)
    }

    /// All numbers, in the order of the condition's data; 0 for numbers that are not given.
    fn values<R: Real>(&self, at: &At<'_, R>) -> Vec<R> {
        let vector = self.vector.as_ref().map(|v| v.value(at));
        let scalar = |term: &Option<Term>| term.as_ref().map_or_else(|| R::lit(0.0), |s| s.value(at));
        let mut out = Vec::new();
        if self.gas {
            out.push(scalar(&self.first));
        }
        out.extend((0..self.dim).map(|d| vector.map_or_else(|| R::lit(0.0), |v| v[d])));
        out.push(scalar(&self.last));
        out
    }

    /// Records all numbers as functions of time and place; 1 for those that use the state.
    pub(super) fn recorded(&self) -> Recording {
        Recording::new(|t, x| self.values(&At { t, x: &x, w: &[] }))
    }

    /// Records all numbers as functions of the inner state, time and place; `None` if none uses the state.
    fn of_state(&self) -> Option<StateRecording> {
        let terms = [&self.first, &self.last].into_iter().flatten().any(Term::uses_state);
        let uses = terms || self.vector.as_ref().is_some_and(Vector::uses_state);
        uses.then(|| StateRecording::new(self.dim + 2, |w, t, x| self.values(&At { t, x, w })))
    }

    /// The condition that `make` returns for the numbers as functions, if one of them is a formula.
    pub(super) fn kind(&self, make: impl FnOnce(Option<Arc<dyn Exact>>) -> BoundaryKind) -> BoundaryKind {
        let given = |term: &Option<Term>| term.as_ref().map(Term::given);
        let vector = self.vector.as_ref().and_then(Vector::given);
        let all =
            [given(&self.first), given(&self.last)].into_iter().chain(vector.into_iter().flatten().map(Some));
        let data = all.flatten().any(|number| number == Given::Prescribed);
        let formulas = self.of_state().map(Arc::new);
        let data = data.then(|| match &formulas {
            Some(formulas) => Arc::new(place_and_time(formulas, self.dim, self.len())) as Arc<dyn Exact>,
            None => Arc::new(self.recorded()),
        });
        let kind = make(data);
        match formulas {
            Some(formulas) => BoundaryKind::OfState { kind: Box::new(kind), formulas },
            None => kind,
        }
    }
}
