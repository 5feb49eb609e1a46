//! Numbers of boundary conditions that may be formulas: wall velocity and temperature, reservoirs, pressure.

use std::sync::Arc;

use dgsuite_mesh::{Across, Mesh, Side};
use dgsuite_ops::place_and_time;
use dgsuite_physics::formula::Formula;
use dgsuite_physics::trace::{Recording, StateRecording};
use dgsuite_physics::{Euler, Exact, Given, Law, Real};

use crate::file::problem::mistakes::both;
use crate::file::problem::{InputError, Problem};
use crate::file::quantity::{Quantity, VectorQuantity};
use crate::file::source::{Located, Place};
use crate::models::reference::unit;
use crate::models::state::{Condition, WallMotion};
use crate::models::states::States;
use crate::models::variables::{At, AtStart};
use dgsuite_solve::flow::BoundaryKind;

/// The largest allowed velocity across the wall, relative to its largest speed: faces deviate from the
/// surface of the body.
const ACROSS: f64 = 0.05;

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

/// Resolves the numbers of a condition; `None` for a condition without numbers. `start` is the state at the
/// start of the run, if it is known.
///
/// # Errors
/// Formulas that do not parse, vectors that do not fit the mesh, numbers that are impossible for a gas at one
/// of the `points`, for formulas of the state at the start.
pub(super) fn resolve(
    condition: &Condition,
    states: &States<'_>,
    start: Option<&dyn Exact>,
    points: &[[f64; 3]],
) -> Result<Numbers, InputError> {
    let dim = states.variables.dim();
    let term = |quantity: &Quantity| Term::new(quantity, states);
    let gas = states.variables.law().gas().is_some();
    let mut numbers = Numbers { dim, gas, first: None, vector: None, last: None };
    // The place of each number in the file, for errors about its values.
    let mut written: Vec<(usize, &'static str, &str, &Place)> = Vec::new();
    match condition {
        Condition::PressureOutlet { p, temperature, velocity } => {
            numbers.last = Some(term(p)?);
            written.push((dim + 1, "p", p.place().0, p.place().1));
            // What comes back is what was there at the start.
            let outside = Start::new(states, start);
            let of_start = |entry: Entry| outside.clone().map(|start| Term::OfStart(start, entry));
            if let Some(t) = temperature {
                written.push((0, "temperature", t.place().0, t.place().1));
            }
            numbers.first = match temperature {
                Some(t) => Some(term(t)?),
                None => of_start(Entry::Temperature),
            };
            numbers.vector = match velocity {
                Some(given) => {
                    written.extend((1..=dim).map(|k| (k, "velocity", &*given.key.key, &given.key.place)));
                    Some(Vector::Components(components(given, states)?))
                }
                None if outside.is_some() => {
                    let along = |d| (d < dim).then(|| of_start(Entry::Velocity(d))).flatten();
                    let along = |d| along(d).unwrap_or(Term::Constant(0.0));
                    Some(Vector::Components([along(0), along(1), along(2)]))
                }
                None => None,
            };
        }
        Condition::SubsonicInflow { total_pressure, total_temperature, direction } => {
            let (p, t) = (total_pressure, total_temperature);
            let (first, last) = both(term(p), term(t))?;
            (numbers.first, numbers.last) = (Some(first), Some(last));
            written.push((0, "total_pressure", p.place().0, p.place().1));
            written.push((dim + 1, "total_temperature", t.place().0, t.place().1));
            if let Some(given) = direction {
                written.extend((1..=dim).map(|k| (k, "direction", &*given.key.key, &given.key.place)));
                numbers.vector = Some(match components(given, states)? {
                    [Term::Constant(x), Term::Constant(y), Term::Constant(z)] => {
                        Vector::Components(unit(&given.key.with(vec![x, y, z]))?.map(Term::Constant))
                    }
                    terms => Vector::Along(terms),
                });
            }
        }
        Condition::CurvedSlipWall { normal: Some(given), .. } => {
            written.extend((1..=dim).map(|k| (k, "normal", &*given.key.key, &given.key.place)));
            let along = Vector::Along(components(given, states)?);
            if along.uses_state() {
                let shown = given.key.with("a formula of the state");
                return Err(InputError::range(&shown, "formulas of x, y, z and t: the wall does not move"));
            }
            numbers.vector = Some(along);
        }
        Condition::NoSlipWall { temperature, motion } => {
            if let Some(t) = temperature {
                numbers.last = Some(term(t)?);
                written.push((dim + 1, "temperature", t.place().0, t.place().1));
            }
            match motion {
                None => {}
                Some(WallMotion::Velocity(given)) => {
                    written.extend((1..=dim).map(|k| (k, "velocity", &*given.key.key, &given.key.place)));
                    numbers.vector = Some(Vector::Components(components(given, states)?));
                }
                Some(WallMotion::Rotation { omega, centre, axis }) => {
                    let (key, place) = omega.place();
                    written.extend((1..=dim).map(|k| (k, "velocity", key, place)));
                    numbers.vector = Some(rotation(term(omega)?, centre.as_ref(), axis.as_ref(), dim)?);
                }
            }
        }
        _ => {}
    }
    let mut values = vec![Vec::new(); numbers.len()];
    match (start, numbers.of_state()) {
        (Some(state), Some(formulas)) => {
            let (variables, formulas) = (states.variables, &formulas);
            AtStart { variables, formulas, state }.eval(0.0, points, &mut values);
        }
        _ => numbers.recorded().eval_batch(0.0, points, &mut values),
    }
    for (k, variable, key, place) in written {
        let positive = gas && (k == 0 || k == dim + 1);
        // Places are counted with one before the vector.
        let k = k + numbers.vector_at() - 1;
        let bad = |x: &f64| !x.is_finite() || (positive && *x <= 0.0);
        if let Some(i) = values[k].iter().position(bad) {
            let (key, variable) = (key.to_owned(), variable.to_owned());
            let (value, point) = (values[k][i], points[i]);
            return Err(InputError::at(place, Problem::Inadmissible { key, variable, value, point }));
        }
    }
    Ok(numbers)
}

/// Resolves the components of a vector, one for each direction of the mesh.
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
    pub(super) fn last_at(&self, points: &[[f64; 3]]) -> Option<Vec<f64>> {
        if self.of_state().is_some() {
            return None;
        }
        let mut values = vec![Vec::new(); self.len()];
        self.recorded().eval_batch(0.0, points, &mut values);
        values.pop()
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
    fn recorded(&self) -> Recording {
        Recording::new(|t, x| self.values(&At { t, x: &x, w: &[] }))
    }

    /// Records all numbers as functions of the inner state, time and place; `None` if none uses the state.
    fn of_state(&self) -> Option<StateRecording> {
        let terms = [&self.first, &self.last].into_iter().flatten().any(Term::uses_state);
        let uses = terms || self.vector.as_ref().is_some_and(Vector::uses_state);
        uses.then(|| StateRecording::new(self.dim + 2, |w, t, x| self.values(&At { t, x, w })))
    }

    /// Returns the boundary condition with these numbers.
    pub(super) fn kind(&self, condition: &Condition) -> BoundaryKind {
        let given = |term: &Option<Term>| term.as_ref().map(Term::given);
        let (first, last) = (given(&self.first), given(&self.last));
        let vector = self.vector.as_ref().and_then(Vector::given);
        let all = [first, last].into_iter().chain(vector.into_iter().flatten().map(Some));
        let data = all.flatten().any(|number| number == Given::Prescribed);
        let formulas = self.of_state().map(Arc::new);
        let data = data.then(|| match &formulas {
            Some(formulas) => Arc::new(place_and_time(formulas, self.dim, self.len())) as Arc<dyn Exact>,
            None => Arc::new(self.recorded()),
        });
        let kind = match (condition, first, last) {
            (Condition::PressureOutlet { .. }, temperature, Some(p)) => {
                BoundaryKind::PressureOutlet { p, temperature, velocity: vector, data }
            }
            (Condition::SubsonicInflow { .. }, Some(total_pressure), Some(total_temperature)) => {
                BoundaryKind::SubsonicInflow { total_pressure, total_temperature, direction: vector, data }
            }
            (Condition::CurvedSlipWall { .. }, ..) => {
                BoundaryKind::CurvedSlipWall { normals: Arc::new(self.recorded()) }
            }
            _ => BoundaryKind::NoSlipWall { velocity: vector, temperature: last, data },
        };
        match formulas {
            Some(formulas) => BoundaryKind::OfState { kind: Box::new(kind), formulas },
            None => kind,
        }
    }

    /// Whether the vector is known without a state.
    fn has_known_vector(&self) -> bool {
        self.vector.as_ref().is_some_and(|vector| !vector.uses_state())
    }

    /// Returns whether the given direction of an inflow points out of the domain on every face of the
    /// boundary `name`, at time 0.
    pub(super) fn leads_out(&self, mesh: &Mesh, name: &str) -> bool {
        let sides = sides_of(mesh, name);
        let points: Vec<[f64; 3]> = sides.iter().map(|&side| mesh.side_centroid(side)).collect();
        let mut values = vec![Vec::new(); self.len()];
        self.recorded().eval_batch(0.0, &points, &mut values);
        let leads_out = |(i, &side): (usize, &Side)| {
            let n = outward(side, mesh);
            (0..self.dim).map(|d| n[d] * values[self.vector_at() + d][i]).sum::<f64>() > 0.0
        };
        self.has_known_vector() && !sides.is_empty() && sides.iter().enumerate().all(leads_out)
    }

    /// Returns the largest angle between the given normals of a curved wall and those of the faces of the
    /// boundary `name`, in radians, with its place. Checks the midpoint of each face at time 0.
    pub(super) fn largest_angle(&self, mesh: &Mesh, name: &str) -> (f64, [f64; 3]) {
        let sides = sides_of(mesh, name);
        let points: Vec<[f64; 3]> = sides.iter().map(|&side| mesh.side_centroid(side)).collect();
        let mut values = vec![Vec::new(); self.len()];
        self.recorded().eval_batch(0.0, &points, &mut values);
        let mut largest = (0.0, [0.0; 3]);
        for (i, &side) in sides.iter().enumerate() {
            let n = normal(&mesh.side_vertices(side), mesh);
            let cosine: f64 = (0..self.dim).map(|d| n[d] * values[self.vector_at() + d][i]).sum();
            let angle = cosine.abs().min(1.0).acos();
            if angle > largest.0 {
                largest = (angle, points[i]);
            }
        }
        largest
    }

    /// Warns if a wall moves across itself, which a fixed mesh cannot follow; `passes` says whether fluid
    /// passes through it then. Checks the midpoint of each face of the boundary `name` at the times 0 and 1.
    pub(super) fn leaves_its_place(&self, mesh: &Mesh, name: &str, passes: bool) -> Option<String> {
        if !self.has_known_vector() {
            return None;
        }
        let sides = sides_of(mesh, name);
        let points: Vec<[f64; 3]> = sides.iter().map(|&side| mesh.side_centroid(side)).collect();
        let mut values = vec![Vec::new(); self.len()];
        let (mut fastest, mut across, mut place) = (0.0_f64, 0.0_f64, [0.0; 3]);
        let recorded = self.recorded();
        for t in [0.0, 1.0] {
            recorded.eval_batch(t, &points, &mut values);
            for (i, &side) in sides.iter().enumerate() {
                let v: [f64; 3] =
                    std::array::from_fn(|d| if d < self.dim { values[self.vector_at() + d][i] } else { 0.0 });
                let n = normal(&mesh.side_vertices(side), mesh);
                let through = (v[0] * n[0] + v[1] * n[1] + v[2] * n[2]).abs();
                fastest = fastest.max(v.iter().map(|c| c * c).sum::<f64>().sqrt());
                if through > across {
                    (across, place) = (through, points[i]);
                }
            }
        }
        let shown = place[..self.dim].iter().map(|c| format!("{c:.6}")).collect::<Vec<_>>().join(", ");
        let what = match passes {
            true => "fluid passes through it with this velocity, because the mesh does not move",
            false => "it is ignored, because the mesh does not move",
        };
        (across > ACROSS * fastest).then(|| {
            format!(
                "boundaries.{name}: the velocity of the wall has a component of {across:.3e} normal to the \
                 wall at ({shown}); {what}"
            )
        })
    }
}

/// Returns the sides of elements on a boundary.
pub(super) fn sides_of(mesh: &Mesh, name: &str) -> Vec<Side> {
    let named = |b: u32| mesh.boundaries.get(b as usize).is_some_and(|tag| tag.name == name);
    let faces = mesh.faces.iter().filter(|face| matches!(face.across, Across::Boundary(b) if named(b)));
    faces.map(|face| face.minus).collect()
}

/// Returns the unit normal of a side that points away from the centre of its element.
pub(super) fn outward(side: Side, mesh: &Mesh) -> [f64; 3] {
    let n = normal(&mesh.side_vertices(side), mesh);
    let (face, inside) = (mesh.side_centroid(side), mesh.centroid(side.element as usize));
    let away: f64 = (0..3).map(|d| n[d] * (face[d] - inside[d])).sum();
    if away < 0.0 { n.map(|c| -c) } else { n }
}

/// Returns the unit normal of the plane through a side's vertices, or of the line through two.
fn normal(vertices: &[u32], mesh: &Mesh) -> [f64; 3] {
    let n = area_vector(vertices, mesh);
    let length = n.iter().map(|c| c * c).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    n.map(|c| c / length)
}

/// Returns a normal of a side with its area (of an edge its length) as length, into or out of the element.
pub(super) fn area_vector(vertices: &[u32], mesh: &Mesh) -> [f64; 3] {
    let at = |i: usize| mesh.points[vertices[i % vertices.len()] as usize];
    let mut n = [0.0; 3];
    if vertices.len() == 2 {
        let (a, b) = (at(0), at(1));
        n = [b[1] - a[1], a[0] - b[0], 0.0];
    } else {
        for i in 0..vertices.len() {
            let (a, b) = (at(i), at(i + 1));
            for d in 0..3 {
                let (j, k) = ((d + 1) % 3, (d + 2) % 3);
                n[d] += 0.5 * (a[j] * b[k] - a[k] * b[j]);
            }
        }
    }
    n
}
