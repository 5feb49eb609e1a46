//! A page as an SVG file. Texts stay texts; images are PNG files inside of it.

use std::fmt::Write as _;

use super::scene::{Anchor, Drawn, Item, Scene};
use super::{Colour, font};
use crate::escape;
use base64::{Engine, engine::general_purpose::STANDARD};

impl Scene {
    /// The page as an SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        let [w, h] = [self.width, self.height].map(short);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{}\">\n",
            font::FAMILY
        );
        let mut windows: Vec<[[f64; 2]; 2]> = Vec::new();
        for Drawn { item, window } in &self.items {
            let clip = window.map(|window| {
                let known = windows.iter().position(|w| *w == window);
                known.unwrap_or_else(|| {
                    let [[x0, y0], [x1, y1]] = window.map(|p| p.map(short));
                    let (n, [w, h]) = (windows.len(), [window[1][0] - window[0][0], window[1][1] - window[0][1]].map(short));
                    let _ = (x1, y1);
                    let _ = writeln!(
                        out,
                        "<clipPath id=\"w{n}\"><rect x=\"{x0}\" y=\"{y0}\" width=\"{w}\" height=\"{h}\"/></clipPath>"
                    );
                    windows.push(window);
                    n
                })
            });
            let clip = clip.map(|n| format!(" clip-path=\"url(#w{n})\"")).unwrap_or_default();
            draw(&mut out, item, &clip);
        }
        out.push_str("</svg>\n");
        out
    }
}

fn draw(out: &mut String, item: &Item, clip: &str) {
    let _ = match item {
        Item::Lines { lines, stroke } => writeln!(
            out,
            "<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{} \
             stroke-width=\"{}\"{clip}/>",
            lines.iter().map(|line| path(line)).collect::<String>(),
            paint("stroke", stroke.colour),
            short(stroke.width),
        ),
        Item::Area { points, fill } => {
            writeln!(out, "<path d=\"{}Z\"{}{clip}/>", path(points), paint("fill", *fill))
        }
        Item::Circle { centre, radius, fill } => writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{clip}/>",
            short(centre[0]),
            short(centre[1]),
            short(*radius),
            paint("fill", *fill)
        ),
        Item::Text { at: [x, y], text, size, anchor, upward, colour } => {
            let (x, y) = (short(*x), short(*y));
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let turn = if *upward { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{turn}{}{clip}>{}</text>",
                short(*size),
                paint("fill", *colour),
                escape::xml(text)
            )
        }
        Item::Image { at, size, image } => writeln!(
            out,
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\"{clip} \
             href=\"data:image/png;base64,{}\"/>",
            short(at[0]),
            short(at[1]),
            short(size[0]),
            short(size[1]),
            STANDARD.encode(image.png())
        ),
    };
}

/// A number with two decimals at most.
fn short(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn path(points: &[[f64; 2]]) -> String {
    let mut out = String::new();
    for (n, [x, y]) in points.iter().enumerate() {
        let _ = write!(out, "{}{} {}", if n == 0 { 'M' } else { 'L' }, short(*x), short(*y));
    }
    out
}

/// The attributes of a colour.
fn paint(what: &str, Colour([r, g, b, a]): Colour) -> String {
    let opacity =
        if a < 255 { format!(" {what}-opacity=\"{}\"", short(f64::from(a) / 255.0)) } else { String::new() };
    format!(" {what}=\"#{r:02x}{g:02x}{b:02x}\"{opacity}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Stroke;

    #[test]
    fn texts_are_text_and_cut_drawings_name_their_window() {
        let mut scene = Scene::new(100.0, 50.0);
        scene.cut(Some([[10.0, 10.0], [20.0, 40.0]]));
        scene.line(&[[0.0, 0.0], [50.0, 25.125]], Stroke { colour: Colour::BLACK.faded(0.5), width: 1.0 });
        scene.cut(None);
        scene.text([1.0, 2.0], "a < b & \u{1}", 12.0, Anchor::End, Colour::BLACK);
        let svg = scene.svg();
        assert!(svg.contains("<rect x=\"10\" y=\"10\" width=\"10\" height=\"30\"/>"), "{svg}");
        assert!(svg.contains("d=\"M0 0L50 25.12\"") || svg.contains("d=\"M0 0L50 25.13\""), "{svg}");
        assert!(svg.contains("stroke-opacity=\"0.5\""), "{svg}");
        assert!(svg.contains("text-anchor=\"end\" fill=\"#000000\">a &lt; b &amp; \u{fffd}</text>"), "{svg}");
        assert_eq!(svg.matches("clip-path=").count(), 1);
    }
}
