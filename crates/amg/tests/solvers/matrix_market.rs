//! Matrix Market: what is written is read back, and no text makes the reader panic.
#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::fmt::Write;

use dgsuite_amg::{Csr, MatrixError, MatrixMarketError, parse_matrix_market};
use proptest::prelude::*;

/// The text of a matrix; of a symmetric one the lower half.
fn write(a: &Csr<f64>, symmetric: bool) -> String {
    let entries: Vec<(usize, usize, f64)> = (0..a.n_rows())
        .flat_map(|i| a.row(i).map(move |(j, value)| (i, j, value)))
        .filter(|(i, j, _)| !symmetric || j <= i)
        .collect();
    let kind = if symmetric { "symmetric" } else { "general" };
    let mut text = format!("%%MatrixMarket matrix coordinate real {kind}\n%\n");
    writeln!(text, "{} {} {}", a.n_rows(), a.n_cols(), entries.len()).unwrap();
    for (i, j, value) in entries {
        writeln!(text, "{} {} {value:e}", i + 1, j + 1).unwrap();
    }
    text
}

#[test]
fn errors_number_rows_and_columns_as_the_file_does() {
    let text = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n3 2 inf\n";
    let error = parse_matrix_market(text).unwrap_err();
    let MatrixMarketError::Matrix { source } = &error else { panic!("{error}") };
    assert_eq!(*source, MatrixError::NotFinite { row: 2, col: 1, value: f64::INFINITY });
    assert_eq!(source.to_string(), "entry (3, 2) is inf");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matrices_are_read_back_bit_for_bit(
        n in 1usize..20, m in 1usize..20, raw in prop::collection::vec((0usize..100, 0usize..100, -1e9..1e9), 0..60),
    ) {
        let entries = raw.iter().map(|&(i, j, a)| (i % n, j % m, a));
        let a = Csr::from_triplets(n, m, entries).unwrap();
        prop_assert_eq!(&parse_matrix_market(&write(&a, false)).unwrap(), &a);
        let halves = raw.iter().flat_map(|&(i, j, a)| {
            let (i, j) = (i % n, j % n);
            [(i, j, a), (j, i, a)]
        });
        let s = Csr::from_triplets(n, n, halves).unwrap();
        prop_assert_eq!(&parse_matrix_market(&write(&s, true)).unwrap(), &s);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*", n in 0usize..200) {
        let _ = parse_matrix_market(&text);
        let header = "%%MatrixMarket matrix coordinate real general\n";
        let _ = parse_matrix_market(&format!("{header}{text}"));
        let _ = parse_matrix_market(&format!("{header}2 2 18446744073709551615\n{text}"));
        let whole = format!("{header}3 3 3\n1 1 1.0\n2 2 -2.5e3\n3 1 4\n");
        let cut: String = whole.chars().take(n).collect();
        prop_assert!(parse_matrix_market(&cut).is_ok() == (cut.trim_end() == whole.trim_end()));
    }
}
