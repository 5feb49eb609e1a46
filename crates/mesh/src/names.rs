//! The most similar name to a misspelt one.

/// The known name at the smallest edit distance, if that is at most a third of the length or 2.
pub(crate) fn nearest(name: &str, known: &[String]) -> Option<String> {
    let limit = (name.chars().count() / 3).max(2);
    known
        .iter()
        .map(|k| (distance(&name.to_lowercase(), &k.to_lowercase()), k))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, k)| k.clone())
}

/// Number of insertions, deletions, substitutions and exchanges of neighbours that turn `b` into `a`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // rows[i][j]: distance of the first i characters of a and j of b.
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substitute = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = substitute.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(distance("inlet", "inlet"), 0);
        assert_eq!(distance("inlet", "outlet"), 3);
        assert_eq!(distance("", "wall"), 4);
        assert_eq!(distance("xmxa", "xmax"), 1);
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbour_and_a_strange_one_finds_none() {
        let known = ["inlet".to_owned(), "cylinder".to_owned()];
        assert_eq!(nearest("Inlett", &known).as_deref(), Some("inlet"));
        assert_eq!(nearest("cilynder", &known).as_deref(), Some("cylinder"));
        assert_eq!(nearest("symmetry", &known), None);
    }
}
