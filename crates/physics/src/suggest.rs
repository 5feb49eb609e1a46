//! Finds the known word nearest to a misspelt one.

/// Returns the word of `known` nearest to `word` by edit distance, if at most a third of its letters are
/// wrong. Case, and `-` against `_`, do not count.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace('_', "-");
    let word = plain(word);
    known
        .into_iter()
        .map(|k| {
            let letters = plain(k);
            let length = letters.chars().count().max(word.chars().count());
            (strsim::osa_distance(&word, &letters), length, k)
        })
        // A single letter is not a misspelt other one.
        .filter(|(far, length, _)| 3 * far <= *length.max(&3) && (*far < word.chars().count() || *far == 0))
        .min_by_key(|(far, ..)| *far)
        .map(|(.., k)| k)
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
}
