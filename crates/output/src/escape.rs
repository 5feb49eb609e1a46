//! Characters that a terminal would interpret, or an XML file cannot contain, in texts from outside.

/// A text with its control characters, except line ends, made visible, because a terminal would interpret
/// them.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' => out.push(' '),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Returns whether XML 1.0 can contain a character that is not a control character.
fn is_xml(c: char) -> bool {
    matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
}

/// A text for an attribute of XML. Characters that XML 1.0 cannot contain become the replacement character.
#[must_use]
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c => out.push(if is_xml(c) { c } else { '\u{fffd}' }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(printable("a\u{1b}[31mb\nc\td"), "a\\u{1b}[31mb\nc d");
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(xml("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
        assert_eq!(xml("a\u{1b}b\nc\u{ffff}"), "a\u{fffd}b c\u{fffd}");
    }
}
