//! Letters: the outlines of DejaVu Sans, of which the program contains a subset.
//!
//! The subset has Latin, Greek and Cyrillic letters and mathematical signs. Its licence is
//! `src/draw/font/LICENSE`.

mod truetype;

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};

use self::truetype::Face;

/// The name of the font, as SVG files need it, with fonts of nearly the same widths.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    let face = Face::parse(include_bytes!("font/DejaVuSans.ttf"));
    face.unwrap_or_else(|| unreachable!("the font of this program has its tables"))
});

/// The glyph of a character; the sign of a missing one, if the font lacks it.
fn glyph(c: char) -> u16 {
    FACE.glyph(c).or_else(|| FACE.glyph('\u{fffd}')).unwrap_or_default()
}

/// The width of a text in letters of a size (the height of a line), in pixels.
///
/// ```
/// let one = dgsuite_output::draw::width("m", 10.0);
/// assert!((dgsuite_output::draw::width("mm", 20.0) - 4.0 * one).abs() < 1e-9);
/// ```
#[must_use]
pub fn width(text: &str, size: f64) -> f64 {
    let scale = size / f64::from(FACE.units_per_em());
    text.chars().map(|c| f64::from(FACE.width(glyph(c)))).sum::<f64>() * scale
}

/// The outline of a text that begins at the origin of its base line, `y` downward.
pub(super) fn outline(text: &str, size: f64) -> Option<Path> {
    let scale = (size / f64::from(FACE.units_per_em())) as f32;
    let (mut path, mut left) = (PathBuilder::new(), 0.0);
    for c in text.chars() {
        let glyph = glyph(c);
        let at = |[x, y]: [f32; 2]| (left + scale * x, -scale * y);
        // A glyph without an outline, such as a space, is a width alone.
        for contour in FACE.outline(glyph).unwrap_or_default() {
            let (x, y) = at(contour.start);
            path.move_to(x, y);
            for (control, end) in contour.parts {
                let (x, y) = at(end);
                match control.map(at) {
                    Some((x1, y1)) => path.quad_to(x1, y1, x, y),
                    None => path.line_to(x, y),
                }
            }
            path.close();
        }
        left += FACE.width(glyph) * scale;
    }
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_widths_and_outlines_of_the_font() {
        // Of 2048 units, M and a have 1767 and 1255.
        assert!((width("Ma", 2048.0) - 3022.0).abs() < 1e-9);
        let bounds = outline("Ma", 2048.0).unwrap().bounds();
        let sides = [bounds.left(), bounds.top(), bounds.right(), bounds.bottom()];
        assert_eq!(sides, [201.0, -1493.0, 2836.0, 29.0]);
        assert!(outline(" ", 10.0).is_none() && width(" ", 10.0) > 0.0);
        // A character that the font lacks has the sign for it.
        assert_eq!(width("\u{4e2d}", 10.0), width("\u{fffd}", 10.0));
        assert!(outline("\u{4e2d}", 10.0).is_some());
    }

    /// The accent of a composite letter stands above the same letter without.
    #[test]
    fn composite_letters_are_put_together() {
        let [plain, composite] = ["A", "Ä"].map(|text| outline(text, 2048.0).unwrap());
        assert_eq!(plain.bounds().bottom(), composite.bounds().bottom());
        assert!(composite.bounds().top() < plain.bounds().top() - 200.0);
        assert!(composite.len() > plain.len());
    }

    #[test]
    fn a_font_cut_short_has_no_outlines_and_does_not_panic() {
        let whole = include_bytes!("font/DejaVuSans.ttf");
        for length in (0..whole.len()).step_by(97) {
            let Some(face) = Face::parse(&whole[..length]) else { continue };
            for glyph in (0..600).step_by(7) {
                let _ = (face.outline(glyph), face.width(glyph));
            }
        }
    }
}
