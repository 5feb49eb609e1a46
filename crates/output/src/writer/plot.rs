//! Curves as pictures: axes, lines, points, and their names beside them.

use std::ops::Range;
use std::path::Path;

use super::{WriterError, atomic};
use crate::draw::axis::Ticks;
use crate::draw::{Anchor, Colour, Scene, Stroke, width};

/// Curves over one axis, as a picture that every browser can show. More than [`MOST_CURVES`] curves are drawn
/// in several panels, one below the other.
///
/// Points that an axis cannot show (not finite, or not positive on a logarithmic axis) are left out.
///
/// ```
/// use dgsuite_output::writer::plot::{Chart, Curve};
/// let points = (0..40).map(|k| (f64::from(k), 0.5f64.powi(k))).collect();
/// let chart = Chart {
///     title: "Residual".into(),
///     x: "iteration".into(),
///     log_y: true,
///     curves: vec![Curve { name: "rho".into(), points, ..Curve::default() }],
///     ..Chart::default()
/// };
/// assert!(chart.svg().is_some_and(|text| text.starts_with("<svg") && text.contains("iteration")));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Title above the picture.
    pub title: String,
    /// Name of the horizontal axis.
    pub x: String,
    /// Name of the vertical axis.
    pub y: String,
    /// A line below the title.
    pub note: String,
    /// The range of the vertical axis, if not that of the points: its values, or their logarithms to the base
    /// 10. What lies outside is cut off.
    pub y_range: Option<[f64; 2]>,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// The curves, in the order of the panels.
    pub curves: Vec<Curve>,
    /// The number of curves of a panel; 0 means the largest one, [`MOST_CURVES`].
    pub of_panel: usize,
}

/// One line of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Name beside the curve.
    pub name: String,
    /// Points, in the order in which lines join them.
    pub points: Vec<(f64, f64)>,
    /// Whether each point is marked.
    pub marks: bool,
    /// Whether the points are drawn alone, without a line: reference values.
    pub alone: bool,
}

/// Largest number of curves of a panel.
pub const MOST_CURVES: usize = 8;

/// Width of a picture, and height of one panel with its margins, in pixels.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 560.0;
/// Height of each panel, if there are several.
const LOWER: f64 = 400.0;
const LEFT: f64 = 92.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 58.0;
/// Most room for the names of curves.
const NAMES: f64 = 300.0;

const DARK: Colour = Colour::rgb(34, 34, 34);
const LINES: Colour = Colour::rgb(214, 214, 214);

/// Colours that all readers can distinguish (Okabe and Ito 2008), without yellow, and grey.
const COLOURS: [Colour; MOST_CURVES] = [
    Colour::rgb(0, 114, 178),
    Colour::rgb(213, 94, 0),
    Colour::rgb(0, 158, 115),
    Colour::rgb(204, 121, 167),
    Colour::rgb(230, 159, 0),
    Colour::rgb(86, 180, 233),
    Colour::rgb(0, 0, 0),
    Colour::rgb(130, 130, 130),
];

/// A curve with its points as places on the axes.
struct Shown<'a> {
    curve: &'a Curve,
    points: Vec<(f64, f64)>,
}

impl Chart {
    /// Returns the picture, or `None` if there is nothing to show.
    #[must_use]
    pub fn scene(&self) -> Option<Scene> {
        let shown: Vec<Shown<'_>> = (self.curves.iter())
            .map(|curve| Shown {
                curve,
                points: curve.points.iter().filter_map(|&p| self.place(p)).collect(),
            })
            .filter(|shown| !shown.points.is_empty())
            .collect();
        let x = Axis::new(shown.iter().flat_map(|s| &s.points).map(|p| p.0), self.log_x)?;
        let of_panel = if self.of_panel == 0 { MOST_CURVES } else { self.of_panel.min(MOST_CURVES) };
        let n_panels = shown.len().div_ceil(of_panel);
        let panels: Vec<&[Shown<'_>]> = shown.chunks(shown.len().div_ceil(n_panels)).collect();
        let longest = shown.iter().map(|s| width(&s.curve.name, 14.0)).fold(0.0, f64::max);
        let beside = if longest > 0.0 { (longest + 52.0).min(NAMES) } else { 24.0 };
        let each = if n_panels == 1 { HEIGHT } else { LOWER };
        let mut scene = Scene::new(WIDTH, each * n_panels as f64);
        for (k, panel) in panels.into_iter().enumerate() {
            let y = match self.y_range {
                Some([start, end]) => Axis { range: start..end, log: self.log_y },
                None => Axis::new(panel.iter().flat_map(|s| &s.points).map(|p| p.1), self.log_y)?,
            };
            let top = each * k as f64 + if k == 0 { TOP } else { 14.0 };
            let frame = [LEFT, top, WIDTH - beside, each * (k + 1) as f64 - BOTTOM];
            Panel { chart: self, x: &x, y: &y, frame }.draw(&mut scene, panel);
        }
        let title = if self.note.is_empty() { 32.0 } else { 24.0 };
        scene.text([LEFT, title], &self.title, 18.0, Anchor::Start, DARK);
        if !self.note.is_empty() {
            scene.text([LEFT, 43.0], &self.note, 13.0, Anchor::Start, DARK);
        }
        Some(scene)
    }

    /// Returns the picture as an SVG file, or `None` if there is nothing to show.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        self.scene().map(|scene| scene.svg())
    }

    /// Writes the picture if there is something to show; returns whether there was. The file is PNG if its
    /// name says so, else SVG.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn write(&self, path: &Path) -> Result<bool, WriterError> {
        let Some(scene) = self.scene() else { return Ok(false) };
        let png = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
        let bytes = if png { scene.image(2.0).png() } else { scene.svg().into_bytes() };
        atomic::write(path, &bytes).map(|()| true)
    }

    /// Coordinates of a point on the axes: its values or their logarithms to the base 10.
    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let on = |value: f64, log: bool| {
            let place = if log { value.log10() } else { value };
            place.is_finite().then_some(place)
        };
        Some((on(x, self.log_x)?, on(y, self.log_y)?))
    }
}

/// Axes with a frame: left, top, right and bottom, in pixels.
struct Panel<'a> {
    chart: &'a Chart,
    x: &'a Axis,
    y: &'a Axis,
    frame: [f64; 4],
}

impl Panel<'_> {
    fn at(&self, (x, y): (f64, f64)) -> [f64; 2] {
        let [left, top, right, bottom] = self.frame;
        [left + self.x.part(x) * (right - left), bottom - self.y.part(y) * (bottom - top)]
    }

    fn draw(&self, scene: &mut Scene, curves: &[Shown<'_>]) {
        let [left, top, right, bottom] = self.frame;
        let thin = Stroke { colour: LINES, width: 1.0 };
        for (place, label) in self.x.ticks(((right - left) / 75.0) as usize) {
            let x = left + self.x.part(place) * (right - left);
            scene.line(&[[x, top], [x, bottom]], thin);
            scene.text([x, bottom + 19.0], &label, 13.0, Anchor::Middle, DARK);
        }
        for (place, label) in self.y.ticks(((bottom - top) / 42.0) as usize) {
            let y = bottom - self.y.part(place) * (bottom - top);
            scene.line(&[[left, y], [right, y]], thin);
            scene.text([left - 8.0, y + 4.5], &label, 13.0, Anchor::End, DARK);
        }
        scene.border([left, top], [right - left, bottom - top], Stroke { colour: DARK, width: 1.0 });
        scene.text([0.5 * (left + right), bottom + 42.0], &self.chart.x, 15.0, Anchor::Middle, DARK);
        scene.upward([20.0, 0.5 * (top + bottom)], &self.chart.y, 15.0, Anchor::Middle, DARK);
        scene.cut(Some([[left, top], [right, bottom]]));
        for (k, Shown { curve, points }) in curves.iter().enumerate() {
            let places: Vec<[f64; 2]> = points.iter().map(|&p| self.at(p)).collect();
            if !curve.alone {
                scene.line(&thinned(&places), Stroke { colour: COLOURS[k], width: 2.0 });
            }
            if curve.marks || curve.alone || places.len() == 1 {
                places.iter().for_each(|&place| mark(scene, place, COLOURS[k], curve.alone));
            }
        }
        scene.cut(None);
        self.names(scene, curves);
    }

    /// Writes the names of the curves at the heights where they end, moved apart.
    fn names(&self, scene: &mut Scene, curves: &[Shown<'_>]) {
        const APART: f64 = 19.0;
        let [_, top, right, bottom] = self.frame;
        let end = |s: &Shown<'_>| s.points.last().map_or(top, |&p| self.at(p)[1]);
        let mut places: Vec<(f64, usize)> = curves.iter().map(end).enumerate().map(|(k, y)| (y, k)).collect();
        places.retain(|&(_, k)| !curves[k].curve.name.is_empty());
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        for k in 1..places.len() {
            places[k].0 = places[k].0.max(places[k - 1].0 + APART);
        }
        let mut lowest = bottom - 4.0;
        for (y, _) in places.iter_mut().rev() {
            *y = y.min(lowest);
            lowest = *y - APART;
        }
        for (y, k) in places {
            let curve = curves[k].curve;
            let x = right + 12.0;
            if curve.alone {
                mark(scene, [x + 9.0, y], COLOURS[k], true);
            } else {
                scene.line(&[[x, y], [x + 18.0, y]], Stroke { colour: COLOURS[k], width: 3.0 });
            }
            let room = WIDTH - x - 30.0;
            let size = (14.0 * room / width(&curve.name, 14.0)).clamp(9.0, 14.0);
            scene.text([x + 25.0, y + 4.8], &curve.name, size, Anchor::Start, DARK);
        }
    }
}

/// A filled circle, or a ring for reference values.
fn mark(scene: &mut Scene, place: [f64; 2], colour: Colour, ring: bool) {
    scene.circle(place, 4.0, colour);
    if ring {
        scene.circle(place, 2.4, Colour::WHITE);
    }
}

/// The line without points that cannot be seen: of a run of points in one column of pixels, the first, the
/// lowest, the highest and the last one stay.
fn thinned(line: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut out: Vec<[f64; 2]> = Vec::new();
    for run in line.chunk_by(|a, b| (2.0 * a[0]).floor() == (2.0 * b[0]).floor()) {
        if run.len() <= 4 {
            out.extend(run);
            continue;
        }
        let extreme = |sign: f64| {
            let by = |a: &usize, b: &usize| (sign * run[*a][1]).total_cmp(&(sign * run[*b][1]));
            (0..run.len()).min_by(by).unwrap_or(0)
        };
        let mut kept = [0, extreme(1.0), extreme(-1.0), run.len() - 1];
        kept.sort_unstable();
        out.extend(kept.map(|k| run[k]));
    }
    out
}

/// An axis: its range, in values or their logarithms.
struct Axis {
    range: Range<f64>,
    log: bool,
}

impl Axis {
    /// Makes an axis for all these places, with a margin.
    fn new(places: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (v.min(l), v.max(h)));
        let width = (high - low).max(1e-9 * low.abs().max(high.abs()));
        if !width.is_finite() {
            return None;
        }
        let beside = if width > 0.0 { 0.04 * width } else { 0.5 };
        let range = low - beside..high + beside;
        (range.end - range.start).is_finite().then_some(Self { range, log })
    }

    /// A place as a part of the axis, from 0 to 1.
    fn part(&self, place: f64) -> f64 {
        (place - self.range.start) / (self.range.end - self.range.start)
    }

    /// Places and labels of at most `most` ticks.
    fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let Range { start, end } = self.range;
        let value = |place: f64| 10f64.powf(place).clamp(f64::MIN_POSITIVE, f64::MAX);
        let ticks = match self.log {
            true => Ticks::logarithmic(value(start), value(end), most),
            false => Ticks::new(start, end, most),
        };
        let place = |v: f64| if self.log { v.log10() } else { v };
        let all = ticks.values.into_iter().map(place).zip(ticks.labels);
        all.filter(|(place, _)| self.range.contains(place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)], log: bool) -> Chart {
        let curve = Curve { name: "a < b".into(), points: points.to_vec(), marks: true, alone: false };
        Chart { title: "T & U".into(), log_x: log, log_y: log, curves: vec![curve], ..Chart::default() }
    }

    fn marks(chart: &Chart) -> usize {
        chart.svg().map_or(0, |text| text.matches("<circle").count())
    }

    #[test]
    fn points_without_a_place_are_left_out() {
        let points = [(1.0, 1.0), (2.0, f64::NAN), (3.0, -1.0), (4.0, 0.0), (f64::INFINITY, 1.0), (5.0, 9.0)];
        assert_eq!(marks(&chart(&points, false)), 4);
        assert_eq!(marks(&chart(&points, true)), 2);
        assert_eq!(chart(&points[1..2], false).svg(), None);
        assert_eq!(Chart::default().svg(), None);
    }

    #[test]
    fn names_are_text_and_any_range_has_a_picture() {
        let text = chart(&[(0.0, 1.0)], false).svg().unwrap();
        assert!(text.contains("T &amp; U") && text.contains("a &lt; b") && !text.contains("a < b"));
        for values in [[0.0, 0.0], [5.0, 5.0], [1e-300, 1e300], [-1e308, 1e308], [f64::MIN_POSITIVE, 1.0]] {
            for log in [false, true] {
                let _ = chart(&values.map(|v| (v, v)), log).svg();
            }
        }
        assert_eq!(marks(&chart(&[(1e-30, 1e20), (1e30, 1e21)], true)), 2);
    }

    #[test]
    fn many_curves_are_several_panels_and_names_do_not_cover_each_other() {
        let one = |k: usize| Curve {
            name: format!("curve {k}"),
            points: vec![(0.0, 0.0), (1.0, 1e-3 * k as f64)],
            ..Curve::default()
        };
        let heights = |n: usize| {
            let chart = Chart { x: "time".into(), curves: (0..n).map(one).collect(), ..Chart::default() };
            let svg = chart.svg().unwrap();
            let names = svg
                .lines()
                .filter(|line| line.contains(">curve "))
                .filter_map(|line| line.split_once(" y=\"")?.1.split_once('"')?.0.parse::<f64>().ok());
            let mut names: Vec<f64> = names.collect();
            names.sort_by(f64::total_cmp);
            (names, svg.matches(">time</text>").count())
        };
        let (names, panels) = heights(8);
        assert!(panels == 1 && names.len() == 8 && names.windows(2).all(|y| y[1] - y[0] > 15.0), "{names:?}");
        assert_eq!(heights(9).1, 2);
        assert_eq!(heights(9).0.len(), 9);
    }

    #[test]
    fn a_long_line_keeps_its_extremes() {
        let line: Vec<[f64; 2]> =
            (0..100_000).map(|k| [f64::from(k) * 1e-3, f64::from(k * 7919 % 100)]).collect();
        let thin = thinned(&line);
        assert!(thin.len() <= 4 * 201, "{}", thin.len());
        let range = |line: &[[f64; 2]]| {
            line.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p[1]), h.max(p[1])))
        };
        assert_eq!(range(&thin), range(&line));
        assert_eq!((thin.first(), thin.last()), (line.first(), line.last()));
    }
}
