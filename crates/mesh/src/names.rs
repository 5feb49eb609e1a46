//! The most similar name to a misspelt one.

/// The known name at the smallest edit distance, if that is at most a third of the length or 2.
pub(crate) fn nearest(name: &str, known: &[String]) -> Option<String> {
    let limit = (name.chars().count() / 3).max(2);
    known
        .iter()
        .map(|k| (strsim::osa_distance(&name.to_lowercase(), &k.to_lowercase()), k))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, k)| k.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_neighbour_and_a_strange_one_finds_none() {
        let known = ["inlet".to_owned(), "cylinder".to_owned()];
        assert_eq!(nearest("Inlett", &known).as_deref(), Some("inlet"));
        assert_eq!(nearest("cilynder", &known).as_deref(), Some("cylinder"));
        assert_eq!(nearest("symmetry", &known), None);
    }
}
