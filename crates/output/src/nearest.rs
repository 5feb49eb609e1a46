//! The known name nearest to a mistyped one, by edit distance.

/// The number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment), ignoring case.
pub fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

/// Names from other codes with the name here. If a word has several entries, the first whose name is known is
/// used.
const SYNONYMS: [(&str, &str); 35] = [
    ("compressible", "navier-stokes"),
    ("compressible", "euler"),
    ("ns", "navier-stokes"),
    ("t", "temperature"),
    ("velocity-inlet", "dirichlet"),
    ("pressure-inlet", "subsonic-inflow"),
    ("symmetry-plane", "symmetry"),
    ("farfield", "far-field"),
    ("gravity", "body_force"),
    ("wall", "no-slip-wall"),
    ("wall", "slip-wall"),
    ("inviscid", "slip-wall"),
    ("free-slip", "slip-wall"),
    ("viscous-wall", "no-slip-wall"),
    ("isothermal-wall", "no-slip-wall"),
    ("adiabatic-wall", "no-slip-wall"),
    ("isothermal", "temperature"),
    ("twall", "temperature"),
    ("inviscid-wall", "slip-wall"),
    ("inlet", "subsonic-inflow"),
    ("inlet", "dirichlet"),
    ("inflow", "subsonic-inflow"),
    ("inflow", "dirichlet"),
    ("outlet", "pressure-outlet"),
    ("outlet", "outflow"),
    ("freestream", "far-field"),
    ("characteristic", "far-field"),
    ("re", "reynolds"),
    ("m", "mach"),
    ("ma", "mach"),
    ("pr", "prandtl"),
    ("mu", "viscosity"),
    ("gpu", "cuda"),
    ("nvidia", "cuda"),
    ("host", "cpu"),
];

/// Whether a word is one of another code, not a typing mistake.
pub fn is_of_another_code(typed: &str) -> bool {
    SYNONYMS.iter().any(|(word, _)| plain(word) == plain(typed))
}

/// A word without case and separators.
fn plain(text: &str) -> String {
    text.to_lowercase().replace(['-', '_', ' '], "")
}

/// The name in `known` that is nearest to `typed`, if one is near enough to be offered: the number of changes
/// is at most a third of the length (at least one; none for names of one or two letters), or one name begins
/// with the other.
pub fn nearest<'a, S: AsRef<str>>(typed: &str, known: &'a [S]) -> Option<&'a str> {
    let meant = SYNONYMS.iter().filter(|(word, _)| plain(word) == plain(typed));
    let named = |(_, name): &(&str, &str)| known.iter().map(AsRef::as_ref).find(|known| known == name);
    if let Some(name) = meant.clone().find_map(named) {
        return Some(name);
    }
    let close = |name: &str| {
        let d = distance(typed, name);
        let (short, long) = (plain(typed), plain(name));
        let prefix = short.len() >= 3 && (long.starts_with(&short) || short.starts_with(&long));
        let length = typed.chars().count().max(name.chars().count());
        // In names of one or two letters every change leads to another valid name.
        let allowed = if length <= 2 { 0 } else { (length / 3).max(1) };
        (d <= allowed || prefix).then_some(d)
    };
    known
        .iter()
        .filter_map(|name| close(name.as_ref()).map(|d| (d, name.as_ref())))
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_change() {
        assert_eq!(distance("ordre", "order"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("Order", "order"), 0);
    }

    #[test]
    fn only_near_names_are_offered() {
        let known = ["order", "scheme", "basis", "riemann"];
        assert_eq!(nearest("ordr", &known), Some("order"));
        assert_eq!(nearest("rieman", &known), Some("riemann"));
        assert_eq!(nearest("viscosity", &known), None);
        assert_eq!(nearest("w", &["u", "v"]), None);
        assert_eq!(nearest("noslip", &["slip-wall", "no-slip-wall"]), Some("no-slip-wall"));
        assert_eq!(nearest("Re", &["mach", "reynolds"]), Some("reynolds"));
        assert_eq!(nearest("wall", &["slip-wall", "symmetry"]), Some("slip-wall"));
        assert_eq!(nearest("GPU", &["auto", "cpu", "cuda"]), Some("cuda"));
    }
}
