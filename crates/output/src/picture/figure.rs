//! The page around pictures: titles, axes, colour bar, and the places of pictures beside each other.

use crate::draw::axis::Ticks;
use crate::draw::{Anchor, Colour, ColourMap, Image, Scene, Stroke, width};

/// A rectangle: upper left corner and size, in pixels.
pub(super) type Frame = ([f64; 2], [f64; 2]);

/// What the page is made for.
pub(super) struct Page {
    /// Width and height in pixels; the height follows from the pictures if it is `None`.
    pub(super) size: (Option<f64>, Option<f64>),
    /// Lower and upper corner of what every picture shows.
    pub(super) window: [[f64; 2]; 2],
    /// Titles above each picture.
    pub(super) titles: Vec<String>,
    /// Names of the axes, unless pictures show space.
    pub(super) axes: Option<[&'static str; 2]>,
}

/// Places on the page.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) size: [f64; 2],
    /// Size of letters.
    letters: f64,
    /// The pictures.
    pub(super) frames: Vec<Frame>,
    columns: usize,
    bar: Frame,
    upright: bool,
    /// Pixels of a unit of length.
    pub(super) scale: f64,
}

/// Height over width of the highest page whose height was not given.
const HIGHEST: f64 = 1.25;
const DARK: Colour = Colour::rgb(34, 34, 34);
const GREY: Colour = Colour::rgb(110, 110, 110);

impl Page {
    /// Finds the places.
    pub(super) fn layout(&self) -> Layout {
        let [w, h] = [0, 1].map(|d| self.window[1][d] - self.window[0][d]);
        let n = self.titles.len().max(1);
        let shape = w / h;
        let columns = match n {
            1 => 1,
            _ if shape > 2.4 => 1,
            2 | 4 => 2,
            _ => n.min(3),
        };
        let rows = n.div_ceil(columns);
        let whole = shape * columns as f64 / rows as f64;
        let upright = whole < 2.2;
        let given = self.size;
        let page = given.0.or_else(|| given.1.map(|h| (1.2 * h * whole).clamp(0.6 * h, 2.5 * h)));
        let page = page.unwrap_or(if whole < 1.4 { 1000.0 } else { 1200.0 });
        let mut letters = (page / 72.0).clamp(7.0, 60.0);
        if let Some(height) = given.1 {
            letters = letters.min((height / 36.0).max(7.0));
        }
        let f = letters;
        let axes = self.axes.is_some();
        let (left, below) = if axes { (5.4 * f, 3.3 * f) } else { (1.2 * f, 1.0 * f) };
        let above_each = if n > 1 { 2.0 * f } else { 0.0 };
        let (gap_x, gap_y) = if axes { (1.6 * f, 1.6 * f) } else { (f, f) };
        let (right, bar_below) = if upright { (8.2 * f, 0.0) } else { (1.6 * f, 4.6 * f) };
        let top = 3.6 * f;
        let room_x = page - left - right - gap_x * (columns - 1) as f64;
        let height = given.1.unwrap_or(HIGHEST * page);
        let room_y = height
            - top
            - below
            - bar_below
            - 0.6 * f
            - (gap_y + above_each) * (rows - 1) as f64
            - above_each;
        let scale = (room_x / columns as f64 / w).min(room_y / rows as f64 / h).max(1e-300);
        let [pw, ph] = [w * scale, h * scale].map(|x| x.round().max(1.0));
        let used_y =
            top + below + bar_below + 0.6 * f + rows as f64 * (ph + above_each) + gap_y * (rows - 1) as f64;
        let size = [page.round(), given.1.unwrap_or(used_y).round()];
        // In the middle of the room that is left.
        let used_x = columns as f64 * pw + gap_x * (columns - 1) as f64;
        let x0 = (left + 0.5 * (page - left - right - used_x).max(0.0)).round();
        let y0 = (top + 0.5 * (size[1] - used_y).max(0.0)).round();
        let frames: Vec<Frame> = (0..n)
            .map(|k| {
                let (column, row) = ((k % columns) as f64, (k / columns) as f64);
                let x = x0 + column * (pw + gap_x);
                let y = y0 + above_each + row * (ph + above_each + gap_y);
                ([x.round(), y.round()], [pw, ph])
            })
            .collect();
        let last = frames[n - 1].0[1] + ph;
        let bar = if upright {
            let length = (last - frames[0].0[1]).min(28.0 * f);
            let middle = 0.5 * (last + frames[0].0[1]);
            ([x0 + used_x + 1.3 * f, middle - 0.5 * length], [1.15 * f, length])
        } else {
            let length = used_x.min(40.0 * f);
            ([x0 + 0.5 * (used_x - length), last + below + 0.5 * f], [length, 1.1 * f])
        };
        let whole = |([x, y], [w, h]): Frame| ([x.round(), y.round()], [w.round(), h.round()]);
        Layout { size, letters, frames, columns, bar: whole(bar), upright, scale }
    }
}

/// What the colour bar shows.
pub(super) struct Bar<'a> {
    pub(super) map: ColourMap,
    pub(super) range: [f64; 2],
    pub(super) label: &'a str,
    /// Whether there are values below and above the range.
    pub(super) beyond: [bool; 2],
    /// Values of contour lines.
    pub(super) levels: &'a [f64],
}

impl Layout {
    /// Draws the title and the line below it.
    pub(super) fn title(&self, scene: &mut Scene, title: &str, below: &str) {
        let f = self.letters;
        let [x, y] = self.frames[0].0;
        let above = if self.frames.len() > 1 { 2.0 * f } else { 0.0 };
        let (at, room) = (y - above - 2.1 * f, self.size[0] - x - f);
        let (title, size) = fitted(title, 1.25 * f, room);
        scene.text([x, at], &title, size, Anchor::Start, DARK);
        let (below, size) = fitted(below, f, room);
        scene.text([x, at + 1.45 * f], &below, size, Anchor::Start, GREY);
    }

    /// Draws frame, ticks and labels around a picture.
    pub(super) fn axes(&self, scene: &mut Scene, page: &Page, number: usize) {
        let f = self.letters;
        let ([x0, y0], [w, h]) = self.frames[number];
        if self.frames.len() > 1 {
            let (title, size) = fitted(&page.titles[number], f, w);
            scene.text([x0, y0 - 0.55 * f], &title, size, Anchor::Start, DARK);
        }
        let Some(names) = page.axes else { return };
        let pen = Stroke { colour: DARK, width: (f / 16.0).max(0.8) };
        scene.border([x0 - 0.5, y0 - 0.5], [w + 1.0, h + 1.0], pen);
        let [low, high] = page.window;
        let tick = 0.35 * f;
        let last_row = number + self.columns >= self.frames.len();
        let most = |length: f64, each: f64| ((length / (each * f)) as usize).clamp(2, 11);
        let ticks = Ticks::new(low[0], high[0], most(w, 5.0));
        for (value, label) in ticks.values.iter().zip(&ticks.labels) {
            let x = x0 + (value - low[0]) / (high[0] - low[0]) * w;
            scene.line(&[[x, y0 + h], [x, y0 + h + tick]], pen);
            if last_row {
                scene.text([x, y0 + h + 1.4 * f], label, 0.9 * f, Anchor::Middle, DARK);
            }
        }
        if last_row {
            scene.text([x0 + 0.5 * w, y0 + h + 2.7 * f], names[0], f, Anchor::Middle, DARK);
        }
        let ticks = Ticks::new(low[1], high[1], most(h, 2.6));
        let first_column = number.is_multiple_of(self.columns);
        let mut widest: f64 = 0.0;
        for (value, label) in ticks.values.iter().zip(&ticks.labels) {
            let y = y0 + h - (value - low[1]) / (high[1] - low[1]) * h;
            scene.line(&[[x0 - tick, y], [x0, y]], pen);
            if first_column {
                scene.text([x0 - 0.55 * f, y + 0.32 * f], label, 0.9 * f, Anchor::End, DARK);
                widest = widest.max(width(label, 0.9 * f));
            }
        }
        if first_column {
            let x = (x0 - 1.1 * f - widest).max(f);
            scene.upward([x, y0 + 0.5 * h], names[1], f, Anchor::Middle, DARK);
        }
    }

    /// Draws the colour bar.
    pub(super) fn bar(&self, scene: &mut Scene, bar: &Bar<'_>) {
        let f = self.letters;
        let ([x, y], [w, h]) = self.bar;
        let (length, across) = if self.upright { (h, w) } else { (w, h) };
        // `along` from 0 to 1 is from the lowest value to the highest; `off` is across.
        let place = |along: f64, off: f64| match self.upright {
            true => [x + off, y + h * (1.0 - along)],
            false => [x + w * along, y + h - off],
        };
        let n = (length as usize).max(1);
        let mut image = match self.upright {
            true => Image::new(1, n, Colour::CLEAR),
            false => Image::new(n, 1, Colour::CLEAR),
        };
        for (k, pixel) in image.pixels_mut().iter_mut().enumerate() {
            let k = if self.upright { n - 1 - k } else { k };
            *pixel = bar.map.colour((k as f64 + 0.5) / n as f64);
        }
        scene.picture([x, y], [w, h], widened(&image, self.upright, across));
        let [low, high] = bar.range;
        let pen = Stroke { colour: DARK, width: (f / 16.0).max(0.8) };
        let tip = 0.9 * across / length;
        for (beyond, end, out) in [(bar.beyond[0], 0.0, -tip), (bar.beyond[1], 1.0, tip)] {
            if beyond {
                let corners = [place(end, 0.0), place(end + out, 0.5 * across), place(end, across)];
                scene.area(&corners, bar.map.colour(end));
                scene.line(&corners, pen);
            }
        }
        scene.border([x, y], [w, h], pen);
        let at = |value: f64| if high > low { (value - low) / (high - low) } else { 0.5 };
        for &level in bar.levels.iter().filter(|level| (low..=high).contains(*level)) {
            let pen = Stroke { colour: Colour::BLACK.faded(0.65), width: 0.06 * f };
            scene.line(&[place(at(level), 0.0), place(at(level), across)], pen);
        }
        let most = if self.upright { length / (2.4 * f) } else { length / (5.0 * f) };
        let ticks = Ticks::new(low, high, (most as usize).clamp(2, 10));
        let mut widest: f64 = 0.0;
        for (value, label) in ticks.values.iter().zip(&ticks.labels) {
            let (from, to) = if self.upright { (across, across + 0.3 * f) } else { (0.0, -0.3 * f) };
            scene.line(&[place(at(*value), from), place(at(*value), to)], pen);
            let [px, py] = place(at(*value), to);
            match self.upright {
                true => scene.text([px + 0.25 * f, py + 0.32 * f], label, 0.9 * f, Anchor::Start, DARK),
                false => scene.text([px, py + 1.0 * f], label, 0.9 * f, Anchor::Middle, DARK),
            }
            widest = widest.max(width(label, 0.9 * f));
        }
        match self.upright {
            true => {
                let px = (x + w + 0.55 * f + widest + 1.3 * f).min(self.size[0] - 0.5 * f);
                scene.upward([px, y + 0.5 * h], bar.label, f, Anchor::Middle, DARK);
            }
            false => scene.text([x + 0.5 * w, y + h + 2.6 * f], bar.label, f, Anchor::Middle, DARK),
        }
    }

    /// Draws the directions of the axes of space into the lower left corner of a picture.
    pub(super) fn directions(&self, scene: &mut Scene, number: usize, axes: &[[f64; 3]; 3]) {
        let f = self.letters;
        let ([x0, y0], [_, h]) = self.frames[number];
        let origin = [x0 + 2.6 * f, y0 + h - 2.6 * f];
        for (d, name) in ["x", "y", "z"].iter().enumerate() {
            let [right, up] = [axes[0][d], axes[1][d]];
            if right.hypot(up) < 0.05 {
                continue;
            }
            let to = |length: f64| [origin[0] + length * right * f, origin[1] - length * up * f];
            scene.line(&[origin, to(1.7)], Stroke { colour: DARK, width: 0.11 * f });
            let [x, y] = to(2.25);
            scene.text([x, y + 0.3 * f], name, 0.9 * f, Anchor::Middle, DARK);
        }
    }
}

/// Repeats the only row or column of an image.
fn widened(line: &Image, upright: bool, across: f64) -> Image {
    let n = (across as usize).max(1);
    let (w, h) = if upright { (n, line.height()) } else { (line.width(), n) };
    let mut out = Image::new(w, h, Colour::CLEAR);
    for (at, pixel) in out.pixels_mut().iter_mut().enumerate() {
        *pixel = if upright { line.at(0, at / w) } else { line.at(at % w, 0) };
    }
    out
}

/// A text in letters of at most this size that has room; very long ones are cut.
fn fitted(text: &str, size: f64, room: f64) -> (String, f64) {
    let needed = width(text, size);
    if needed <= room {
        return (text.to_owned(), size);
    }
    let size = (size * room / needed).max(0.7 * size);
    let mut text = text.to_owned();
    while width(&text, size) > room && text.pop().is_some() {
        if width(&format!("{text}…"), size) <= room {
            text.push('…');
            break;
        }
    }
    (text, size)
}
