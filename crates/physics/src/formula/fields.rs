//! An exact solution given by formulas, one per primitive unknown.

use super::{Formula, FormulaError, Names};
use crate::exact::Exact;
use crate::law::Law;
use crate::real::Real;
use crate::suggest::nearest;
use crate::trace::Recording;
use std::collections::BTreeMap;

/// Errors in a set of formulas for the unknowns of a law.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldsError {
    /// The law has no such primitive unknown.
    #[error("`{name}` is not an unknown of this model{}; expected {}",
        hint.as_ref().map(|h| format!(" (did you mean `{h}`?)")).unwrap_or_default(), expected.join(", "))]
    UnknownField {
        /// The name given.
        name: String,
        /// The nearest unknown, if there is one.
        hint: Option<String>,
        /// The primitive unknowns of the law.
        expected: Vec<String>,
    },
    /// Some unknowns have no formula.
    #[error("no formula for {}", names.join(", "))]
    Missing {
        /// The primitive unknowns without a formula.
        names: Vec<String>,
    },
    /// A formula cannot be parsed.
    #[error("formula for `{field}`: {source}")]
    Formula {
        /// The primitive unknown.
        field: String,
        /// The error.
        source: Box<FormulaError>,
    },
}

/// Formulas in `x, y, z, t` for the primitive unknowns of a law, as an [`Exact`] solution in conserved
/// unknowns.
///
/// ```
/// use dgsuite_physics::exact::Exact;
/// use dgsuite_physics::formula::{FormulaExact, Names};
/// use dgsuite_physics::Euler;
///
/// let texts = [("rho", "1 + 0.2*sin(2*pi*(x - t))"), ("u", "1"), ("v", "0"), ("p", "1/gamma")];
/// let texts = texts.map(|(k, v)| (k.to_string(), v.to_string())).into();
/// let names = Names::space_time().constant("gamma", 1.4)?;
/// let wave = FormulaExact::<_, 2, 4>::parse(Euler { gamma: 1.4 }, &texts, &names)?;
/// let mut out = vec![Vec::new(); 4];
/// wave.eval(0.0, &[[0.25, 0.0, 0.0]], &mut out);
/// assert!((out[1][0] - 1.2).abs() < 1e-15); // ρu
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FormulaExact<L, const D: usize, const N: usize> {
    law: L,
    formulas: [Formula; N],
    steady: bool,
}

/// Parses the formulas given for some of `fields`; `None` for fields without one.
pub(crate) fn parse_fields<const N: usize>(
    fields: [&'static str; N],
    texts: &BTreeMap<String, String>,
    names: &Names,
) -> Result<[Option<Formula>; N], FieldsError> {
    for name in texts.keys() {
        if !fields.contains(&name.as_str()) {
            return Err(FieldsError::UnknownField {
                name: name.clone(),
                hint: nearest(name, fields).map(str::to_owned),
                expected: fields.map(str::to_owned).to_vec(),
            });
        }
    }
    let mut formulas = [const { None }; N];
    for (formula, field) in formulas.iter_mut().zip(fields) {
        if let Some(text) = texts.get(field) {
            let parsed = Formula::parse(text, names).map_err(|source| FieldsError::Formula {
                field: field.to_owned(),
                source: Box::new(source),
            })?;
            *formula = Some(parsed);
        }
    }
    Ok(formulas)
}

/// Number of points that are gathered and evaluated together.
const CHUNK: usize = 256;

impl<L: Law<D, N>, const D: usize, const N: usize> FormulaExact<L, D, N> {
    /// Makes a solution from one formula per primitive unknown, in the law's order.
    ///
    /// # Panics
    /// If the formulas were not parsed with the variables `x, y, z, t` in this order.
    pub fn new(law: L, formulas: [Formula; N]) -> Self {
        for f in &formulas {
            assert_eq!(f.names(), ["x", "y", "z", "t"], "formulas in space and time");
        }
        let steady = formulas.iter().all(|f| !f.depends_on("t"));
        Self { law, formulas, steady }
    }

    /// Parses one formula per primitive unknown.
    ///
    /// # Errors
    /// [`FieldsError`]: a name that is not an unknown, an unknown without a formula, a formula that does not
    /// parse.
    ///
    /// # Panics
    /// If the variables of `names` are not `x, y, z, t` in this order, as in [`Names::space_time`].
    pub fn parse(law: L, texts: &BTreeMap<String, String>, names: &Names) -> Result<Self, FieldsError> {
        let formulas = parse_fields(law.primitives(), texts, names)?;
        let missing: Vec<String> = law
            .primitives()
            .iter()
            .zip(&formulas)
            .filter(|(_, formula)| formula.is_none())
            .map(|(name, _)| (*name).to_owned())
            .collect();
        let given: Vec<Formula> = formulas.into_iter().flatten().collect();
        match <[Formula; N]>::try_from(given) {
            Ok(formulas) => Ok(Self::new(law, formulas)),
            Err(_) => Err(FieldsError::Missing { names: missing }),
        }
    }

    /// Returns the formulas, in the order of the law's primitive unknowns.
    pub fn formulas(&self) -> &[Formula; N] {
        &self.formulas
    }

    /// Evaluates the conserved state at one point, over any number type.
    pub fn state<R: Real>(&self, t: R, x: &[R; 3]) -> [R; N] {
        let values = [x[0], x[1], x[2], t];
        self.law.to_conserved(&std::array::from_fn(|k| self.formulas[k].trace(&values)))
    }
}

impl<L: Law<D, N>, const D: usize, const N: usize> Exact for FormulaExact<L, D, N> {
    fn n_fields(&self) -> usize {
        N
    }

    fn eval(&self, t: f64, x: &[[f64; 3]], out: &mut [Vec<f64>]) {
        assert_eq!(out.len(), N, "one vector per field");
        for o in out.iter_mut() {
            o.clear();
            o.reserve(x.len());
        }
        let mut coordinates = [[0.0; CHUNK]; 3];
        let mut w = [[0.0; CHUNK]; N];
        for points in x.chunks(CHUNK) {
            let n = points.len();
            for (i, point) in points.iter().enumerate() {
                for d in 0..3 {
                    coordinates[d][i] = point[d];
                }
            }
            let [x, y, z] = &coordinates;
            for (f, w) in self.formulas.iter().zip(&mut w) {
                f.eval_batch(&[&x[..n], &y[..n], &z[..n], &[t]], &mut w[..n]);
            }
            for i in 0..n {
                let u = self.law.to_conserved(&std::array::from_fn(|k| w[k][i]));
                for (o, u) in out.iter_mut().zip(u) {
                    o.push(u);
                }
            }
        }
    }

    fn is_steady(&self) -> bool {
        self.steady
    }

    fn recorded(&self) -> Option<Recording> {
        Some(Recording::new(|t, x| self.state(t, &x)))
    }
}
