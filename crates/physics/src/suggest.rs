//! Finds the known word nearest to a misspelt one.

/// Returns the word of `known` nearest to `word` by edit distance, if at most a third of its letters are
/// wrong. Case, and `-` against `_`, do not count.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| -> Vec<char> { s.to_lowercase().replace('_', "-").chars().collect() };
    let word = plain(word);
    known
        .into_iter()
        .map(|k| {
            let letters = plain(k);
            let far = if word.iter().eq(letters.iter()) { 0 } else { distance(&word, &letters) };
            (far, letters.len().max(word.len()), k)
        })
        // A single letter is not a misspelt other one.
        .filter(|(far, length, _)| 3 * far <= *length.max(&3) && (*far < word.len() || *far == 0))
        .min_by_key(|(far, ..)| *far)
        .map(|(.., k)| k)
}

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut current = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            current[j] = replace.min(previous[j] + 1).min(current[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                current[j] = current[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["sqrt", "sin", "isentropic-vortex", "supersonic-vortex"];
        assert_eq!(nearest("sqr", known), Some("sqrt"));
        assert_eq!(nearest("isn", known), Some("sin"));
        assert_eq!(nearest("Isentropic_Vortex", known), Some("isentropic-vortex"));
        assert_eq!(nearest("isentropic-vorteks", known), Some("isentropic-vortex"));
        assert_eq!(nearest("banana", known), None);
        assert_eq!(nearest("q", known), None);
    }

    #[test]
    fn distances_count_edits() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(d("", "abc"), 3);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("ab", "ba"), 1);
        assert_eq!(d("same", "same"), 0);
    }
}
