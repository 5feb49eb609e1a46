//! Sections of kernel texts for diffusive fluxes with a coefficient of each element, and for waves in one
//! direction.
//!
//! Lines between `#if COEFFICIENTS` and its `#else` or `#endif` belong to such fluxes alone, those after
//! `#else` to all others. A text has one of the two: texts of laws without coefficients, their digests and
//! compiled kernels do not depend on the sections. `#if DIRECTED` likewise.

/// The first line of texts of fluxes with coefficients.
pub(crate) const COEFFICIENTS: &str = "// Fluxes have a coefficient of each element.\n";

/// Returns the text with its sections if the flux has `coefficients`, otherwise with what stands in their
/// place.
pub(crate) fn resolved(text: &str, coefficients: bool) -> String {
    section("#if COEFFICIENTS", text, coefficients)
}

/// As [`resolved`] for the sections of waves in one direction.
pub(crate) fn of_direction(text: &str, directed: bool) -> String {
    section("#if DIRECTED", text, directed)
}

/// Returns the text with the sections of this directive if they are wanted.
fn section(begin: &str, text: &str, wanted: bool) -> String {
    if !text.contains(begin) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    // Of each open section how many further conditions are open in it, and whether `#else` has been met.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let directive = line.trim();
        if directive == begin {
            open.push((0, false));
            continue;
        }
        if let Some((depth, other)) = open.last_mut() {
            match directive {
                "#else" if *depth == 0 => {
                    *other = true;
                    continue;
                }
                "#endif" if *depth == 0 => {
                    open.pop();
                    continue;
                }
                "#endif" => *depth -= 1,
                _ if directive.starts_with("#if") => *depth += 1,
                _ => {}
            }
        }
        if open.iter().all(|(_, other)| *other != wanted) {
            out.push_str(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn a_text_has_the_sections_or_what_stands_in_their_place() {
        let text = "a\n#if COEFFICIENTS\nb\n#if X\nc\n#endif\n#else\nd\n#if Y\ne\n#else\nf\n#endif\n#endif\ng\n\
                    #if COEFFICIENTS\nh\n#endif\n#if Z\ni\n#endif\n";
        let without = "a\nd\n#if Y\ne\n#else\nf\n#endif\ng\n#if Z\ni\n#endif\n";
        let with = "a\nb\n#if X\nc\n#endif\ng\nh\n#if Z\ni\n#endif\n";
        assert_eq!([resolved(text, false), resolved(text, true)], [without, with]);
        assert_eq!(resolved(without, true), without);
    }
}
