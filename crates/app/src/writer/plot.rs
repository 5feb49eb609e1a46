//! Curves as pictures (SVG), drawn by `plotters`.

use std::ops::Range;
use std::path::Path;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::{WriterError, atomic, vtu::is_xml};

/// Curves over one axis, as a picture that every browser can show.
///
/// Points that an axis cannot show (not finite, or not positive on a logarithmic axis) are left out.
///
/// ```
/// use dgsuite::writer::plot::{Chart, Curve};
/// let points = (0..40).map(|k| (f64::from(k), 0.5f64.powi(k))).collect();
/// let chart = Chart {
///     title: "Residual".into(),
///     x: "iteration".into(),
///     log_y: true,
///     curves: vec![Curve { name: "rho".into(), points, marks: false }],
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
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// One line of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Points, in the order in which lines join them.
    pub points: Vec<(f64, f64)>,
    /// Whether each point is marked.
    pub marks: bool,
}

/// Width and height, in pixels.
const SIZE: (u32, u32) = (900, 560);

impl Chart {
    /// Returns the picture as text, or `None` if there is nothing to show.
    pub fn svg(&self) -> Option<String> {
        let shown: Vec<(&Curve, Vec<(f64, f64)>)> = (self.curves.iter())
            .map(|curve| (curve, curve.points.iter().filter_map(|&p| self.place(p)).collect()))
            .filter(|(_, points): &(_, Vec<_>)| !points.is_empty())
            .collect();
        let points = || shown.iter().flat_map(|(_, points)| points);
        let x = Axis::new(points().map(|p| p.0), self.log_x)?;
        let y = Axis::new(points().map(|p| p.1), self.log_y)?;
        let mut text = String::new();
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        // Writing into a string cannot fail because of the input.
        self.draw(&root, &x, &y, &shown).and_then(|()| root.present()).ok()?;
        drop(root);
        // Names may come from a table or a mesh of another program.
        Some(text.replace(|c| !is_xml(c), "\u{fffd}"))
    }

    /// Writes the picture if there is something to show; returns whether there was.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn write(&self, path: &Path) -> Result<bool, WriterError> {
        match self.svg() {
            Some(text) => atomic::write(path, text.as_bytes()).map(|()| true),
            None => Ok(false),
        }
    }

    /// Coordinates of a point on the axes: its values or their logarithms to the base 10.
    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let on = |value: f64, log: bool| {
            let place = if log { value.log10() } else { value };
            place.is_finite().then_some(place)
        };
        Some((on(x, self.log_x)?, on(y, self.log_y)?))
    }

    fn draw<'a>(
        &self,
        root: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
        x: &Axis,
        y: &Axis,
        curves: &[(&Curve, Vec<(f64, f64)>)],
    ) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>> {
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(root)
            .caption(&self.title, ("sans-serif", 20))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(78)
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_labels(MOST_LABELS)
            .y_labels(MOST_LABELS)
            .max_light_lines(0)
            .x_label_formatter(&|v| x.label(*v))
            .y_label_formatter(&|v| y.label(*v))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 16))
            .bold_line_style(RGBColor(214, 214, 214))
            .draw()?;
        for (k, (curve, points)) in curves.iter().enumerate() {
            let colour = colour(k);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
                .label(&curve.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(2)));
            if curve.marks || points.len() == 1 {
                chart.draw_series(points.iter().map(|&p| Circle::new(p, 4, colour.filled())))?;
            }
        }
        if curves.iter().any(|(curve, _)| !curve.name.is_empty()) {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .background_style(WHITE.mix(0.85))
                .border_style(RGBColor(190, 190, 190))
                .label_font(("sans-serif", 14))
                .draw()?;
        }
        Ok(())
    }
}

/// Colours that all readers can distinguish (Okabe and Ito 2008), without yellow; then they repeat.
fn colour(k: usize) -> RGBColor {
    const COLOURS: [RGBColor; 7] = [
        RGBColor(0, 114, 178),
        RGBColor(213, 94, 0),
        RGBColor(0, 158, 115),
        RGBColor(204, 121, 167),
        RGBColor(230, 159, 0),
        RGBColor(86, 180, 233),
        RGBColor(0, 0, 0),
    ];
    COLOURS[k % COLOURS.len()]
}

/// Largest number of labels on an axis.
const MOST_LABELS: usize = 10;

/// An axis: its range, in values or their logarithms, and the positions of its labels. (The logarithmic axis
/// of `plotters` 0.3.7 does not terminate for values near the smallest or largest of all numbers.)
#[derive(Clone)]
struct Axis {
    range: Range<f64>,
    ticks: Vec<f64>,
    log: bool,
}

impl Axis {
    /// Makes an axis for all these values, with a margin.
    fn new(places: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (v.min(l), v.max(h)));
        let width = (high - low).max(1e-9 * low.abs().max(high.abs()));
        if !width.is_finite() {
            return None;
        }
        let beside = if width > 0.0 { 0.04 * width } else { 0.5 };
        let range = low - beside..high + beside;
        let ticks = if log && high - low < 2.0 { few_decades(&range) } else { even(&range, log) };
        (range.end - range.start).is_finite().then_some(Self { range, ticks, log })
    }

    fn label(&self, place: f64) -> String {
        label(if self.log { 10f64.powf(place) } else { place })
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten; whole numbers if they are exponents.
fn even(range: &Range<f64>, whole: bool) -> Vec<f64> {
    let rough = (range.end - range.start) / (MOST_LABELS - 2) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= rough).unwrap_or(rough);
    let step = if whole { step.max(1.0).ceil() } else { step };
    let first = (range.start / step).ceil();
    (0..MOST_LABELS).map(|k| (first + k as f64) * step).take_while(|&v| v <= range.end).collect()
}

/// The logarithms of 1, 2 and 5 times powers of ten.
fn few_decades(range: &Range<f64>) -> Vec<f64> {
    let decades = (0..4).map(|k| range.start.floor() + f64::from(k));
    let all = decades.flat_map(|d| [1.0, 2.0, 5.0].map(|m: f64| d + m.log10()));
    all.filter(|v| range.contains(v)).collect()
}

/// The label of a number: short, with an exponent if it is very large or small.
fn label(v: f64) -> String {
    if v == 0.0 {
        return "0".to_owned();
    }
    let decimals = (4 - v.abs().log10().floor() as i32).clamp(0, 7) as usize;
    let text = if (1e-3..1e5).contains(&v.abs()) { format!("{v:.decimals$}") } else { format!("{v:.3e}") };
    let (digits, power) = text.split_once('e').unwrap_or((&text, ""));
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    if power.is_empty() { digits.to_owned() } else { format!("{digits}e{power}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)], log: bool) -> Chart {
        let curve = Curve { name: "a < b".into(), points: points.to_vec(), marks: true };
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
    fn labels_are_short() {
        let labels = [0.0, 0.015_625, 1.0, -2.5, 1234.5, 1e5, 1e-7, 2.5e-12].map(label);
        assert_eq!(labels, ["0", "0.015625", "1", "-2.5", "1234.5", "1e5", "1e-7", "2.5e-12"]);
    }
}
