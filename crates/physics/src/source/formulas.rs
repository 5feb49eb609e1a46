//! A source term given by formulas.

use super::source_from_recording;
use crate::formula::{FieldsError, Formula, Names, parse_fields};
use crate::law::Law;
use crate::trace::{Recording, Sym};
use std::collections::BTreeMap;

/// Formulas in `x, y, z, t` for the source term, by conserved unknowns of a law.
///
/// ```
/// use dgsuite_physics::Euler;
/// use dgsuite_physics::formula::Names;
/// use dgsuite_physics::source::{FormulaSource, Source};
///
/// let texts = [("rho_u", "0.1*y")].map(|(k, v)| (k.to_string(), v.to_string())).into();
/// let force = FormulaSource::parse::<_, 2, 4>(&Euler { gamma: 1.4 }, &texts, &Names::space_time())?;
/// let mut out = vec![Vec::new(); 4];
/// force.eval(0.0, &[[0.0, 2.0, 0.0]], &mut out);
/// assert_eq!((out[0][0], out[1][0]), (0.0, 0.2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FormulaSource {
    recording: Recording,
}

impl FormulaSource {
    /// Parses one formula for each conserved unknown with a source term; the source term of others is zero.
    ///
    /// # Errors
    /// [`FieldsError`]: a name that is not a conserved unknown, a formula that does not parse.
    ///
    /// # Panics
    /// If the variables of `names` are not `x, y, z, t` in this order, as in [`Names::space_time`].
    pub fn parse<L: Law<D, N>, const D: usize, const N: usize>(
        law: &L,
        texts: &BTreeMap<String, String>,
        names: &Names,
    ) -> Result<Self, FieldsError> {
        let formulas = parse_fields(law.variables(), texts, names)?;
        let value = |formula: &Option<Formula>, values: &[Sym]| match formula {
            Some(f) => f.trace(values),
            None => <Sym as crate::real::Real>::lit(0.0),
        };
        let recording =
            Recording::new(|t, [x, y, z]| formulas.each_ref().map(|formula| value(formula, &[x, y, z, t])));
        Ok(Self { recording })
    }

    /// The source term of one unknown, a formula of `x, y, z, t`.
    #[must_use]
    pub fn of(formula: &Formula) -> Self {
        Self { recording: Recording::new(|t, [x, y, z]| [formula.trace(&[x, y, z, t])]) }
    }
}

source_from_recording!(FormulaSource);
