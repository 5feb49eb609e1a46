//! Tables of numbers as functions of one number.

use crate::graph::{Binary, Graph, Id};

/// Why numbers are not a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Fewer than two rows, or columns of different length.
    #[error("a table needs two columns of the same length with at least two rows")]
    Short,
    /// More rows than [`Table::MOST`].
    #[error("{rows} rows, and at most {} can be used", Table::MOST)]
    TooLong {
        /// The number of rows.
        rows: usize,
    },
    /// An argument that is not greater than the one before, or a number that is not finite.
    #[error("row {row}: arguments must increase, and all numbers must be finite")]
    Row {
        /// The row, counted from 1.
        row: usize,
    },
}

/// A function of one number that is linear between the rows of a table and constant outside of it.
///
/// Formulas call it by its name in [`Names`](super::Names). It is built from graph operations, so that it can
/// be differentiated and compiled for a GPU:
///
/// `f(s) = y_0 + Σ_i (y_{i+1} − y_i)/(x_{i+1} − x_i) (min(max(s, x_i), x_{i+1}) − x_i)`
///
/// ```
/// use dgsuite_physics::formula::{Formula, Names, Table};
///
/// let profile = Table::new(vec![0.0, 1.0, 3.0], vec![0.0, 2.0, 1.0])?;
/// let names = Names::new(["y"]).table("inflow", profile)?;
/// let f = Formula::parse("2*inflow(abs(y))", &names)?;
/// assert_eq!([-9.0, 0.5, 1.0, 2.0].map(|y| f.eval(&[y])), [2.0, 2.0, 4.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Table {
    /// The largest number of rows: every row adds operations to each call.
    pub const MOST: usize = 1000;

    /// Makes a table of arguments, which increase, and values.
    ///
    /// # Errors
    /// [`TableError`].
    pub fn new(x: Vec<f64>, y: Vec<f64>) -> Result<Self, TableError> {
        if x.len() != y.len() || x.len() < 2 {
            return Err(TableError::Short);
        }
        if x.len() > Self::MOST {
            return Err(TableError::TooLong { rows: x.len() });
        }
        let fits = |i: usize| x[i].is_finite() && y[i].is_finite() && (i == 0 || x[i] > x[i - 1]);
        match (0..x.len()).find(|&i| !fits(i)) {
            Some(i) => Err(TableError::Row { row: i + 1 }),
            None => Ok(Self { x, y }),
        }
    }

    /// Adds the function of `s` to a graph.
    pub(super) fn apply(&self, g: &mut Graph, s: Id) -> Id {
        let mut sum = g.literal(self.y[0]);
        for (x, y) in self.x.windows(2).zip(self.y.windows(2)) {
            if y[0] == y[1] {
                continue;
            }
            let (low, high) = (g.literal(x[0]), g.literal(x[1]));
            let above = g.binary(Binary::Max, s, low);
            let inside = g.binary(Binary::Min, above, high);
            let part = g.binary(Binary::Sub, inside, low);
            let slope = g.literal((y[1] - y[0]) / (x[1] - x[0]));
            let rise = g.binary(Binary::Mul, slope, part);
            sum = g.binary(Binary::Add, sum, rise);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dual;
    use crate::formula::{Formula, FormulaErrorKind, Names};

    fn names() -> Names {
        let rows = Table::new(vec![-1.0, 0.0, 0.5, 4.0], vec![3.0, 3.0, -1.0, 6.0]).unwrap();
        Names::space_time().table("profile", rows).unwrap()
    }

    #[test]
    fn values_are_linear_between_rows_and_slopes_are_exact() {
        let f = Formula::parse("profile(y)", &names()).unwrap();
        for (y, value, slope) in
            [(-7.0, 3.0, 0.0), (-0.5, 3.0, 0.0), (0.25, 1.0, -8.0), (2.25, 2.5, 2.0), (9.0, 6.0, 0.0)]
        {
            assert_eq!(f.eval(&[0.0, y, 0.0, 0.0]), value);
            let at = [0.0, y, 0.0, 0.0].map(|v| if v == y { Dual::variable(v) } else { Dual::constant(v) });
            assert_eq!(f.trace(&at).derivative, slope, "at {y}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |x: &[f64], y: &[f64]| Table::new(x.to_vec(), y.to_vec()).unwrap_err();
        assert_eq!(error(&[0.0], &[1.0]), TableError::Short);
        assert_eq!(error(&[0.0, 1.0], &[1.0]), TableError::Short);
        assert_eq!(error(&[0.0, 1.0, 1.0], &[1.0; 3]), TableError::Row { row: 3 });
        assert_eq!(error(&[0.0, 1.0], &[1.0, f64::NAN]), TableError::Row { row: 2 });
        assert_eq!(error(&vec![0.0; 1001], &vec![0.0; 1001]), TableError::TooLong { rows: 1001 });
        let parse = |text: &str| Formula::parse(text, &names()).unwrap_err();
        assert!(matches!(parse("profile(x, y)").kind, FormulaErrorKind::ArgumentCount { found: 2, .. }));
        assert!(parse("profile + 1").to_string().contains("`profile` takes one argument in parentheses"));
        assert!(parse("profil(x)").to_string().contains("did you mean `profile`?"));
        let taken = names().constant("profile", 1.0).unwrap_err();
        assert_eq!(taken.to_string(), "`profile` is already a table");
    }
}
