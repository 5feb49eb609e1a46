//! Reads matrices from Matrix Market files (Boisvert, Pozo, Remington 1996): `coordinate`, `real` or
//! `integer`, `general` or `symmetric`.

use std::path::Path;

use crate::{Csr, MAX_ROWS, MatrixError, MatrixMarketError};

/// Reads a matrix from a file.
///
/// # Errors
/// [`MatrixMarketError`], with the line number where there is one.
pub fn read_matrix_market(path: impl AsRef<Path>) -> Result<Csr<f64>, MatrixMarketError> {
    let path = path.as_ref();
    let bytes =
        std::fs::read(path).map_err(|source| MatrixMarketError::File { path: path.to_owned(), source })?;
    if bytes.starts_with(&GZIP) {
        return Err(MatrixMarketError::Compressed { path: path.to_owned() });
    }
    // Comments may be in any encoding; everything that is parsed is ASCII.
    parse_matrix_market(&String::from_utf8_lossy(&bytes))
}

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads a matrix from text.
///
/// ```
/// let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2.0\n2 1 -1\n2 2 2e0\n";
/// let a = dgsuite_amg::parse_matrix_market(text)?;
/// assert_eq!((a.get(0, 1), a.get(1, 0), a.n_nonzeros()), (-1.0, -1.0, 4));
/// # Ok::<(), dgsuite_amg::MatrixMarketError>(())
/// ```
///
/// # Errors
/// [`MatrixMarketError`], with the line number where there is one.
pub fn parse_matrix_market(text: &str) -> Result<Csr<f64>, MatrixMarketError> {
    let text = text.trim_start_matches('\u{feff}'); // a byte order mark
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let symmetric = header(lines.next().map_or("", |(_, line)| line))?;
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));

    let expected = "the size: rows, columns, entries";
    let (line, text_of_line) = lines.next().unwrap_or((text.lines().count() + 1, ""));
    let [n_rows, n_cols, n_entries] = words(text_of_line)
        .and_then(|words: [&str; 3]| all(words.map(|w| w.parse::<usize>().ok())))
        .ok_or_else(|| bad_line(line, expected, text_of_line))?;
    if n_rows > MAX_ROWS || n_cols > MAX_ROWS {
        return Err(MatrixError::TooLarge { n_rows, n_cols, most: MAX_ROWS }.into());
    }
    if symmetric && n_rows != n_cols {
        return Err(MatrixError::NotSquare { n_rows, n_cols }.into());
    }

    // The announced size alone must not allocate memory: each entry needs a line of text, and most rows need
    // an entry.
    if n_rows > text.len() {
        return Err(MatrixMarketError::EmptyRows { rows: n_rows, entries: n_entries.min(text.len()) });
    }
    let mut entries = Vec::with_capacity(n_entries.min(text.len() / 4));
    let mut found = 0;
    for (line, text) in lines {
        found += 1;
        let bad = || bad_line(line, "an entry: row, column, value", text);
        let [row, col, value]: [&str; 3] = words(text).ok_or_else(bad)?;
        let [row, col] = all([row, col].map(|w| w.parse::<usize>().ok())).ok_or_else(bad)?;
        let value: f64 = value.parse().map_err(|_| bad())?;
        if row == 0 || col == 0 || row > n_rows || col > n_cols {
            return Err(bad_line(line, "a row and a column inside the matrix, counted from 1", text));
        }
        if symmetric && col > row {
            return Err(MatrixMarketError::UpperEntry { line, row, col });
        }
        entries.push((row - 1, col - 1, value));
        if symmetric && col < row {
            entries.push((col - 1, row - 1, value));
        }
    }
    if found != n_entries {
        return Err(MatrixMarketError::Count { expected: n_entries, found });
    }
    Ok(Csr::from_triplets(n_rows, n_cols, entries)?)
}

/// Whether the first line announces a symmetric matrix.
fn header(line: &str) -> Result<bool, MatrixMarketError> {
    let lower = line.to_ascii_lowercase();
    let [banner, object, format, field, symmetry] =
        words(&lower).ok_or_else(|| MatrixMarketError::Header { found: shortened(line) })?;
    if banner != "%%matrixmarket" {
        return Err(MatrixMarketError::Header { found: shortened(line) });
    }
    let unsupported =
        |word: &str, expected| MatrixMarketError::Unsupported { word: shortened(word), expected };
    if object != "matrix" {
        return Err(unsupported(object, "matrix"));
    }
    if format != "coordinate" {
        return Err(unsupported(format, "coordinate"));
    }
    if field != "real" && field != "integer" {
        return Err(unsupported(field, "real or integer"));
    }
    match symmetry {
        "general" => Ok(false),
        "symmetric" => Ok(true),
        other => Err(unsupported(other, "general or symmetric")),
    }
}

/// The words of a line, if there are exactly `N`.
fn words<const N: usize>(line: &str) -> Option<[&str; N]> {
    let mut words = line.split_ascii_whitespace();
    let first = all(std::array::from_fn(|_| words.next()))?;
    words.next().is_none().then_some(first)
}

/// All values, if there are all.
fn all<T: Copy, const N: usize>(values: [Option<T>; N]) -> Option<[T; N]> {
    if values.iter().any(Option::is_none) {
        return None;
    }
    let mut values = values.into_iter().flatten();
    let first = values.next()?;
    Some(std::array::from_fn(|i| if i == 0 { first } else { values.next().unwrap_or(first) }))
}

fn bad_line(line: usize, expected: &'static str, found: &str) -> MatrixMarketError {
    MatrixMarketError::Line { line, expected, found: shortened(found) }
}

/// At most 60 characters of a line.
fn shortened(line: &str) -> String {
    if line.chars().count() <= 60 {
        line.to_owned()
    } else {
        line.chars().take(57).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse_matrix_market(text).unwrap_err().to_string()
    }

    const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";
    const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n";

    #[test]
    fn comments_blank_lines_and_integers_are_read() {
        let text = "%%matrixmarket MATRIX coordinate integer general\n% a comment\n\n2 3 2\n\n1 3 -4\n% another\n2 1 7\n";
        let a = parse_matrix_market(text).unwrap();
        assert_eq!((a.n_rows(), a.n_cols(), a.get(0, 2), a.get(1, 0)), (2, 3, -4.0, 7.0));
    }

    #[test]
    fn each_fault_has_its_own_message_with_its_line() {
        assert!(message("").starts_with("line 1: expected '%%MatrixMarket"));
        assert!(message("1 1 1\n").contains("found '1 1 1'"));
        let complex = message("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
        assert_eq!(complex, "line 1: 'complex' is not supported, expected real or integer");
        let array = message("%%MatrixMarket matrix array real general\n1 1\n1\n");
        assert!(array.contains("'array' is not supported"));
        assert!(
            message("%%MatrixMarket matrix coordinate real skew-symmetric\n")
                .contains("general or symmetric")
        );
        assert!(message(&format!("{GENERAL}2 2\n")).starts_with("line 2: expected the size"));
        assert!(message(GENERAL).starts_with("line 2: expected the size"));
        assert!(message(&format!("{GENERAL}2 2 1\n1 1 one\n")).starts_with("line 3: expected an entry"));
        assert!(message(&format!("{GENERAL}2 2 1\n1 3 1.0\n")).contains("inside the matrix"));
        assert!(message(&format!("{GENERAL}2 2 1\n0 1 1.0\n")).contains("counted from 1"));
        let few = message(&format!("{GENERAL}2 2 2\n1 1 1.0\n"));
        assert_eq!(few, "the header announces 2 entries, but the file has 1");
        assert!(message(&format!("{GENERAL}2 2 1\n1 1 1\n2 2 1\n")).contains("but the file has 2"));
        assert!(message(&format!("{SYMMETRIC}2 2 1\n1 2 1.0\n")).contains("above the diagonal"));
        assert!(matches!(
            parse_matrix_market(&format!("{SYMMETRIC}2 3 0\n")),
            Err(MatrixMarketError::Matrix { source: MatrixError::NotSquare { n_rows: 2, n_cols: 3 } })
        ));
        let vast = message(&format!("{GENERAL}4000000000 4000000000 1\n1 1 1.0\n"));
        assert_eq!(
            vast,
            "the header announces 4000000000 rows, but with 1 entries nearly all of them would be empty"
        );
        assert!(matches!(
            parse_matrix_market(&format!("{GENERAL}99999999999 1 0\n")),
            Err(MatrixMarketError::Matrix { source: MatrixError::TooLarge { .. } })
        ));
        assert!(matches!(
            parse_matrix_market(&format!("{GENERAL}1 1 1\n1 1 nan\n")),
            Err(MatrixMarketError::Matrix { source: MatrixError::NotFinite { row: 0, col: 0, .. } })
        ));
    }

    /// A byte order mark, Windows line endings, and a comment in Latin-1.
    #[test]
    fn files_of_other_systems_are_read() {
        let path = std::env::temp_dir().join(format!("dgsuite-amg-{}.mtx", std::process::id()));
        let bytes = b"\xef\xbb\xbf%%MatrixMarket matrix coordinate real symmetric\r\n% by J. M\xfcller\r\n1 1 1\r\n1 1 3\r\n";
        std::fs::write(&path, bytes).unwrap();
        let read = read_matrix_market(&path);
        std::fs::write(&path, [0x1f, 0x8b, 8, 0]).unwrap();
        let packed = read_matrix_market(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read.unwrap().get(0, 0), 3.0);
        assert!(packed.ends_with(".mtx is compressed: decompress it first, with gunzip"), "{packed}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let message = read_matrix_market("no/such/file.mtx").unwrap_err().to_string();
        assert_eq!(message, "cannot read no/such/file.mtx");
    }
}
