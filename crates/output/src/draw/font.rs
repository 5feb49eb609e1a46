//! Letters: the outlines of DejaVu Sans, of which the program contains a subset.
//!
//! The subset has Latin, Greek and Cyrillic letters and mathematical signs. Its licence is
//! `src/draw/font/LICENSE`.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The name of the font, as SVG files need it, with fonts of nearly the same widths.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    let face = Face::parse(include_bytes!("font/DejaVuSans.ttf"), 0);
    face.unwrap_or_else(|error| unreachable!("the font of this program: {error}"))
});

/// The glyph of a character; the sign of a missing one, if the font lacks it.
fn glyph(c: char) -> GlyphId {
    FACE.glyph_index(c).or_else(|| FACE.glyph_index('\u{fffd}')).unwrap_or_default()
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
    text.chars().map(|c| f64::from(FACE.glyph_hor_advance(glyph(c)).unwrap_or(0))).sum::<f64>() * scale
}

/// The outline of a text that begins at the origin of its base line, `y` downward.
pub(super) fn outline(text: &str, size: f64) -> Option<Path> {
    let scale = (size / f64::from(FACE.units_per_em())) as f32;
    let mut pen = Pen { path: PathBuilder::new(), scale, x: 0.0 };
    for c in text.chars() {
        let glyph = glyph(c);
        // A glyph without an outline, such as a space, is an advance alone.
        let _ = FACE.outline_glyph(glyph, &mut pen);
        pen.x += f32::from(FACE.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    }
    pen.path.finish()
}

struct Pen {
    path: PathBuilder,
    scale: f32,
    x: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, -self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
