//! Tables of monitors: one header, one row for each time, continued by a restart.

use std::cmp::Ordering;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{WriterError, atomic};

/// A `.csv` file whose first column (time, or step) increases from row to row. In a table of step and time, a
/// step may have several times.
///
/// Rows are written to the file at once, so that a table can be watched and a crash loses none.
///
/// ```
/// use dgsuite_output::writer::csv::Table;
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("residual.csv");
/// let mut table = Table::create(&path, &["time", "rho"])?;
/// table.row(&[0.0, 1.5])?;
/// table.row(&[0.1, 2e-9])?;
/// assert_eq!(std::fs::read_to_string(&path)?, "time,rho\n0,1.5\n0.1,2e-9\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    n_columns: usize,
    /// First column of the last row, and its time if that is the second one.
    last: Key,
    timed: bool,
}

/// The first column of a row, and its time or 0.
type Key = (f64, f64);

fn is_timed(columns: &[&str]) -> bool {
    columns.get(1) == Some(&"time")
}

impl Table {
    /// Starts a table at `path`, replacing an existing one; its directory must exist.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn create(path: impl Into<PathBuf>, columns: &[&str]) -> Result<Self, WriterError> {
        Self::start(path.into(), columns, &[], (f64::NEG_INFINITY, 0.0))
    }

    /// Continues the table at `path` after a restart at `key`, the value of the first column: rows beyond it
    /// are dropped, and so is a last row cut short by a crash. If there is no such file, a new table is
    /// started.
    ///
    /// # Errors
    /// [`WriterError::Columns`] if the table has other columns; [`WriterError::Read`] and
    /// [`WriterError::Io`] from the system.
    pub fn resume(path: impl Into<PathBuf>, columns: &[&str], key: f64) -> Result<Self, WriterError> {
        let path = path.into();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                return Self::create(path, columns);
            }
            Err(source) => return Err(WriterError::Read { path, source }),
        };
        // Rows cut short by a crash have no line end.
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let (found, expected) = (lines.next().unwrap_or_default(), columns.join(","));
        if found != expected {
            return Err(WriterError::Columns { path, expected, found: found.to_owned() });
        }
        let cell = |line: &str, i: usize| line.split(',').nth(i).and_then(|cell| cell.parse::<f64>().ok());
        let kept: Vec<&str> = lines.filter(|line| cell(line, 0).is_some_and(|k| k <= key)).collect();
        let timed = is_timed(columns);
        let key_of = |line: &&str| Some((cell(line, 0)?, if timed { cell(line, 1)? } else { 0.0 }));
        let last = kept.last().and_then(key_of).unwrap_or((f64::NEG_INFINITY, 0.0));
        Self::start(path, columns, &kept, last)
    }

    fn start(path: PathBuf, columns: &[&str], rows: &[&str], last: Key) -> Result<Self, WriterError> {
        let mut text = columns.join(",");
        text.push('\n');
        for row in rows {
            text.push_str(row);
            text.push('\n');
        }
        atomic::write(&path, text.as_bytes())?;
        let file = OpenOptions::new().append(true).open(&path).map_err(WriterError::io(&path))?;
        Ok(Self { path, file, n_columns: columns.len(), last, timed: is_timed(columns) })
    }

    /// Appends a row. A row whose first value (with its time, if that is the second one) is not beyond that
    /// of the last row is left out, so that a time that is due for two reasons, or again after a restart, is
    /// written once.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    ///
    /// # Panics
    /// If there are not as many values as columns.
    pub fn row(&mut self, values: &[f64]) -> Result<(), WriterError> {
        self.rows(&[values])
    }

    /// Appends rows with the same first value, as [`row`](Self::row) does with one.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    ///
    /// # Panics
    /// If a row does not have as many values as there are columns.
    pub fn rows(&mut self, rows: &[impl AsRef<[f64]>]) -> Result<(), WriterError> {
        let Some(first) = rows.first().map(AsRef::as_ref) else { return Ok(()) };
        let column = |i: usize| first.get(i).copied().unwrap_or(f64::NAN);
        let key = (column(0), if self.timed { column(1) } else { 0.0 });
        if !matches!(key.partial_cmp(&self.last), Some(Ordering::Greater)) {
            return Ok(());
        }
        let mut text = String::new();
        for row in rows.iter().map(AsRef::as_ref) {
            assert_eq!(row.len(), self.n_columns, "values of a row of {}", self.path.display());
            text.push_str(&row.iter().map(|&x| number(x)).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).map_err(WriterError::io(&self.path))?;
        self.last = key;
        Ok(())
    }

    /// Path of the table.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A table read from a file, by columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Names, in the order of the file.
    pub names: Vec<String>,
    /// The numbers of each column; entries that are not numbers are NaN.
    pub values: Vec<Vec<f64>>,
}

impl Columns {
    /// Reads a table. An incomplete last row (cut short by a crash, or still being written) is left out.
    ///
    /// # Errors
    /// [`WriterError::Read`].
    pub fn read(path: &Path) -> Result<Self, WriterError> {
        let text = fs::read_to_string(path)
            .map_err(|source| WriterError::Read { path: path.to_path_buf(), source })?;
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let names = cells(lines.next().unwrap_or_default().trim_end_matches('\r'));
        let mut values = vec![Vec::new(); names.len()];
        for line in lines {
            let mut cells = line.split(',');
            for column in &mut values {
                column.push(cells.next().and_then(|cell| cell.trim().parse().ok()).unwrap_or(f64::NAN));
            }
        }
        Ok(Self { names, values })
    }

    /// Reads a table of another program: cells separated by commas, semicolons, tabs or spaces, lines that
    /// begin with `#` left out, with a header or without one (the columns are then `1`, `2`, …).
    ///
    /// # Errors
    /// [`WriterError::Read`].
    pub fn read_data(path: &Path) -> Result<Self, WriterError> {
        let text = fs::read_to_string(path)
            .map_err(|source| WriterError::Read { path: path.to_path_buf(), source })?;
        let split = |line: &str| -> Vec<String> {
            match [',', ';'].into_iter().find(|c| line.contains(*c)) {
                Some(separator) => line.split(separator).map(|cell| cell.trim().to_owned()).collect(),
                None => line.split_whitespace().map(str::to_owned).collect(),
            }
        };
        let mut rows =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(split);
        let first = rows.next().unwrap_or_default();
        let number = |cell: &String| cell.parse::<f64>().unwrap_or(f64::NAN);
        let mut values = vec![Vec::new(); first.len()];
        let mut push = |row: &[String]| {
            for (k, column) in values.iter_mut().enumerate() {
                column.push(row.get(k).map_or(f64::NAN, number));
            }
        };
        let headed = first.iter().all(|cell| cell.parse::<f64>().is_err());
        let names = match headed {
            true => first,
            false => {
                push(&first);
                (1..=first.len()).map(|k| k.to_string()).collect()
            }
        };
        rows.for_each(|row| push(&row));
        Ok(Self { names, values })
    }

    /// The numbers of the column `name`.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let k = self.names.iter().position(|n| n == name)?;
        Some(&self.values[k])
    }
}

/// The name of a column as a cell of a header: in quotes if it contains a comma or a quote, or begins with a
/// sign, as formulas such as `-u` do.
#[must_use]
pub fn heading(name: &str) -> String {
    if name.contains([',', '"']) || name.starts_with(['=', '+', '-', '@']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// The cells of a header, of which some may be in quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

/// The shortest text that reads back as the same number; integers have no decimal point.
pub fn number(x: f64) -> String {
    if x.is_nan() {
        "nan".to_owned()
    } else if x == x.trunc() && x.abs() < 1e15 {
        format!("{x}")
    } else {
        format!("{x:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_continues_without_a_time_twice() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("m.csv");
        let columns = ["time", "step", "mass"];
        let third = 1.0 / 3.0;
        let mut table = Table::create(&path, &columns).unwrap();
        for (step, time) in [0.0, third, 2.0 * third, 1.0].into_iter().enumerate() {
            table.row(&[time, step as f64, -1.25]).unwrap();
        }
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "1.3,4").unwrap();
        let mut table = Table::resume(&path, &columns, 2.0 * third).unwrap();
        for time in [2.0 * third, 1.5, 1.5] {
            table.row(&[time, 9.0, 0.5]).unwrap();
        }
        let expected =
            format!("time,step,mass\n0,0,-1.25\n{third},1,-1.25\n{:?},2,-1.25\n1.5,9,0.5\n", 2.0 * third);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn other_columns_are_refused_and_a_missing_table_starts() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("m.csv");
        Table::resume(&path, &["time", "rho"], 1.0).unwrap().row(&[2.0, 3.0]).unwrap();
        let error = Table::resume(&path, &["time", "p"], 1.0).unwrap_err();
        assert!(matches!(&error, WriterError::Columns { found, .. } if found == "time,rho"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "time,rho\n2,3\n");
    }

    #[test]
    fn a_table_is_read_by_columns() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("m.csv");
        std::fs::write(&path, "step,\"max(a, \"\"b\"\")\",c\n0,1.5,nan\n1,-2e-9,7\n2,3").unwrap();
        let table = Columns::read(&path).unwrap();
        assert_eq!(table.names, ["step", "max(a, \"b\")", "c"]);
        assert_eq!(table.column("max(a, \"b\")"), Some(&[1.5, -2e-9][..]));
        assert!(table.column("c").is_some_and(|c| c[0].is_nan() && c[1] == 7.0));
        assert_eq!(table.column("d"), None);
        for name in ["max(a, \"b\")", "-u", "rho"] {
            assert_eq!(cells(&format!("x,{},y", heading(name))), ["x", name, "y"]);
        }
        assert!(matches!(Columns::read(&directory.path().join("none.csv")), Err(WriterError::Read { .. })));
    }

    #[test]
    fn tables_of_other_programs_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("d.txt");
        for (text, names) in [
            ("# Ghia\nx, y\n0, 1\n2, -3e-1\n", ["x", "y"]),
            ("0 1\n# between\n2\t-0.3\n", ["1", "2"]),
            ("x;y\r\n0;1\r\n2;-.3\r\n", ["x", "y"]),
        ] {
            std::fs::write(&path, text).unwrap();
            let table = Columns::read_data(&path).unwrap();
            assert_eq!(
                (table.names, table.values),
                (names.map(str::to_owned).to_vec(), vec![vec![0.0, 2.0], vec![1.0, -0.3]])
            );
        }
    }

    #[test]
    fn numbers_read_back_exactly() {
        for x in [0.1, 1e-300, -2.5e22, 1e15, 123_456.0, f64::INFINITY, f64::MIN_POSITIVE] {
            assert_eq!(number(x).parse::<f64>().unwrap(), x);
        }
        assert!(number(f64::NAN).parse::<f64>().unwrap().is_nan());
    }
}
