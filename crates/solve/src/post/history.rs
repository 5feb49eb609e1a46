//! Evaluates the history of a quantity: its largest rate of decay and its deviation from reference data.

/// The largest rate at which a quantity decreases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// `−dx/dt`.
    pub rate: f64,
    /// The time of this rate.
    pub time: f64,
}

/// Returns the largest `−dx/dt` of a series, `t` increasing: slopes at the middle points of the parabolas
/// through three neighbours.
///
/// `None` for fewer than three samples.
#[must_use]
pub fn largest_decay(t: &[f64], x: &[f64]) -> Option<Decay> {
    let n = t.len().min(x.len());
    let slopes = (1..n.saturating_sub(1)).map(|i| {
        let (before, after) = (t[i] - t[i - 1], t[i + 1] - t[i]);
        let (a, b) = ((x[i] - x[i - 1]) / before, (x[i + 1] - x[i]) / after);
        Decay { rate: -(a * after + b * before) / (before + after), time: t[i] }
    });
    slopes.filter(|d| d.rate.is_finite()).max_by(|a, b| a.rate.total_cmp(&b.rate))
}

/// Numbers over time, linear between two times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    t: Vec<f64>,
    x: Vec<f64>,
}

/// Why a text is not a table of numbers over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// A line in which the column is missing or is not a number.
    #[error("line {line} has no number in column {column}")]
    Row {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// Times that do not increase.
    #[error("the time of line {line} is not after the time of the line before")]
    Order {
        /// The line, counted from 1.
        line: usize,
    },
    /// Fewer than two lines of numbers.
    #[error("it has less than two lines of numbers")]
    Short,
}

impl Series {
    /// Reads times from the first column of a text and values from the given column, counted from 1. Columns
    /// are separated by blanks or commas; empty lines, lines that begin with `#` and a first line of names
    /// are skipped.
    ///
    /// # Errors
    /// [`SeriesError`].
    pub fn parse(text: &str, column: usize) -> Result<Self, SeriesError> {
        let mut series = Self::default();
        let rows = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        for (line, row) in rows.filter(|(_, row)| !row.is_empty() && !row.starts_with('#')) {
            let cells: Vec<&str> = row.split([',', ' ', '\t']).filter(|cell| !cell.is_empty()).collect();
            if series.t.is_empty() && cells.iter().all(|cell| cell.parse::<f64>().is_err()) {
                continue;
            }
            let number = |column: usize| {
                let cell = column.checked_sub(1).and_then(|k| cells.get(k));
                let number = cell.and_then(|cell| cell.parse::<f64>().ok()).filter(|x| x.is_finite());
                number.ok_or(SeriesError::Row { line, column })
            };
            let (t, x) = (number(1)?, number(column)?);
            if series.t.last().is_some_and(|&last| t <= last) {
                return Err(SeriesError::Order { line });
            }
            series.t.push(t);
            series.x.push(x);
        }
        if series.t.len() < 2 { Err(SeriesError::Short) } else { Ok(series) }
    }

    /// The times and the values.
    #[must_use]
    pub fn into_columns(self) -> (Vec<f64>, Vec<f64>) {
        (self.t, self.x)
    }

    /// The value at a time; `None` outside of the table.
    #[must_use]
    pub fn at(&self, t: f64) -> Option<f64> {
        let after = self.t.partition_point(|&s| s < t);
        if self.t.get(after) == Some(&t) {
            return self.x.get(after).copied();
        }
        let before = after.checked_sub(1)?;
        let (t0, t1) = (self.t[before], *self.t.get(after)?);
        Some(self.x[before] + (self.x[after] - self.x[before]) * (t - t0) / (t1 - t0))
    }

    /// Returns the largest `|x(t) − r(t)| / |r(t)|` of samples `x` relative to this table `r`; `None` if no
    /// sample is at its times. The deviation of an `x` that is not finite is infinite.
    #[must_use]
    pub fn deviation(&self, t: &[f64], x: &[f64]) -> Option<f64> {
        let compared = t.iter().zip(x).filter_map(|(&t, &x)| Some((x, self.at(t)?)));
        let shares = compared.map(|(x, r)| if x.is_finite() { ((x - r) / r).abs() } else { f64::INFINITY });
        shares.reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steepest_fall_of_a_parabola_and_a_cubic_is_found() {
        // x = 1 − t³ + t⁴/2: −x' = 3t² − 2t³ has its largest value 1 at t = 1.
        let t: Vec<f64> =
            (0..=60).map(|i| f64::from(i) * 0.025 + if i % 2 == 0 { 0.0 } else { 0.004 }).collect();
        let x: Vec<f64> = t.iter().map(|t| 1.0 - t.powi(3) + 0.5 * t.powi(4)).collect();
        let decay = largest_decay(&t, &x).unwrap();
        assert!((decay.time - 1.0).abs() < 0.03 && (decay.rate - 1.0).abs() < 2e-3, "{decay:?}");
        // Slopes of a parabola are exact for any samples.
        let t = [0.0, 0.1, 0.5, 0.6];
        let x = t.map(|t| -t * t);
        let decay = largest_decay(&t, &x).unwrap();
        assert!((decay.rate - 1.0).abs() < 1e-14 && decay.time == 0.5);
        assert_eq!(largest_decay(&t[..2], &x[..2]), None);
    }

    #[test]
    fn tables_are_read_compared_and_refused() {
        let text = "# energy\ntime, energy, other\n0, 2, 7\n\n1 4 8\n2\t0.5\t9\n";
        let table = Series::parse(text, 2).unwrap();
        assert_eq!(
            [-1.0, 0.0, 0.5, 1.0, 2.0, 2.1].map(|t| table.at(t)),
            [None, Some(2.0), Some(3.0), Some(4.0), Some(0.5), None]
        );
        assert_eq!(
            table.deviation(&[0.0, 0.5, 2.0, 9.0], &[2.0, 2.4, 0.55, 7.0]),
            Some((2.4f64 - 3.0).abs() / 3.0)
        );
        assert_eq!(table.deviation(&[1.0], &[f64::NAN]), Some(f64::INFINITY));
        assert_eq!(table.deviation(&[5.0], &[1.0]), None);
        assert_eq!(Series::parse(text, 4), Err(SeriesError::Row { line: 3, column: 4 }));
        assert_eq!(Series::parse("0 1\n1 2\n1 3\n", 2), Err(SeriesError::Order { line: 3 }));
        assert_eq!(Series::parse("0 1\n1 x\n", 2), Err(SeriesError::Row { line: 2, column: 2 }));
        assert_eq!(Series::parse("time x\n0 1\n", 2), Err(SeriesError::Short));
    }
}
