//! Pictures of finished runs: fields in the plane, cuts and surfaces of solids, with axes and a colour bar.
//!
//! A [`Picture`] says what is shown and how; [`Picture::draw`] reads the fields that runs have written and
//! returns a page, which becomes an SVG or a PNG file. Elements of high order are drawn as what they are:
//! their positions and values are evaluated so finely that curves and colours look smooth, and jumps between
//! elements stay visible.
//!
//! ```
//! use dgsuite_output::picture::{Picture, Run};
//! use dgsuite_output::writer::{CellBlock, Field, UnstructuredFields, VtuOptions, pvd::Series};
//! use dgsuite_basis::{Shape, lattice::lattice};
//!
//! // One quadratic element, as a run would write it.
//! let points = lattice(Shape::Quadrilateral, 2);
//! let u = points.iter().map(|x| x[0] * x[0] - x[1]).collect();
//! let point_data = vec![Field::real("u", 1, u)];
//! let block = CellBlock { shape: Shape::Quadrilateral, order: 2, points, point_data, cell_data: vec![] };
//! let folder = tempfile::tempdir()?;
//! let fields = UnstructuredFields { time: 0.5, pieces: vec![block] };
//! Series::create(folder.path().join("fields.pvd"))?.write(&fields, &VtuOptions::default())?;
//!
//! let runs = [Run::open(folder.path())?];
//! let page = Picture { mesh: true, contours: Some(vec![0.0]), ..Picture::default() }.draw(&runs)?;
//! assert_eq!(&page.image(1.0).png()[1..4], b"PNG");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contour;
mod error;
mod figure;
mod geometry;
mod paint;
mod patch;
mod quantity;
mod read;
mod run;

use std::collections::HashSet;

pub use dgsuite_solve::post::cut::Slice;
pub use error::PictureError;
pub use geometry::Surface;
pub use quantity::Quantity;
pub use read::read;
pub use run::{Moment, Run, Source};

use self::figure::{Bar, Layout, Page};
use self::geometry::{Geometry, Level};
use self::paint::Canvas;
use crate::draw::{Colour, ColourMap, Scene, Stroke};
use crate::writer::UnstructuredFields;

/// What a picture shows, and how.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The name of the field, as [`Quantity::named`] takes it; the most telling one by default.
    pub field: Option<String>,
    /// The moment.
    pub moment: Moment,
    /// The colour map; by default viridis, and vik for fields of both signs.
    pub map: Option<ColourMap>,
    /// The values of the first and the last colour. By default those of the picture, for fields of both signs
    /// and schlieren without the outer half percent of its area on each side where this halves the range;
    /// symmetric for diverging maps.
    pub range: Option<[f64; 2]>,
    /// Values of contour lines.
    pub contours: Option<Vec<f64>>,
    /// The number of contour lines at even distances, if `contours` is not given.
    pub even_contours: usize,
    /// Whether the outlines of elements are drawn.
    pub mesh: bool,
    /// Lower and upper corner of what is shown, on the axes of the page.
    pub zoom: Option<[[f64; 2]; 2]>,
    /// Without `zoom`: shows the part of the domain where most elements are, if it is small, such as around a
    /// body.
    pub close: bool,
    /// Cuts through a solid. One alone is seen along its axis, several are seen in space.
    pub slices: Vec<Slice>,
    /// The surfaces of a solid that are shown.
    pub surface: Option<Surface>,
    /// The surface where a field has a value: name and value.
    pub level: Option<(String, f64)>,
    /// The direction towards the eye, for pictures in space.
    pub view: Option<[f64; 3]>,
    /// Width and height of the page in pixels.
    pub size: (Option<f64>, Option<f64>),
    /// The title; by default that of the run.
    pub title: Option<String>,
    /// Pixels of the fields for each pixel of the page: 1, or 2 for pages that will be enlarged. 0 means 1.
    pub density: usize,
}

/// The view of pictures in space.
const VIEW: [f64; 3] = [1.0, -2.0, 1.1];
/// Largest number of pixels of a picture along one side.
const LARGEST: f64 = 8_000.0;

/// What is drawn of one run.
struct Panel<'a> {
    run: &'a Run,
    time: f64,
    fields: UnstructuredFields,
    quantity: Quantity,
    geometry: Geometry,
}

impl Picture {
    /// Draws the picture; several runs are drawn beside each other with the same colours.
    ///
    /// # Errors
    /// [`PictureError`]: files that cannot be read, unknown names and times, nothing to draw.
    pub fn draw(&self, runs: &[Run]) -> Result<Scene, PictureError> {
        self.check()?;
        let panels = runs.iter().map(|run| self.panel(run)).collect::<Result<Vec<_>, _>>()?;
        let page = self.page(&panels)?;
        let layout = page.layout();
        let density = self.density.max(1) as f64;
        let canvases = self.paint(&panels, &page, &layout, density)?;
        let (map, range, beyond) = self.colours(&panels[0].quantity.label, &canvases)?;
        self.compose(&panels, &page, &layout, canvases, map, range, beyond, density)
    }

    /// The colour map and the range of colours of the picture, such as for frames that should have the same.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn range(&self, runs: &[Run]) -> Result<(ColourMap, [f64; 2]), PictureError> {
        self.check()?;
        let panels = runs.iter().map(|run| self.panel(run)).collect::<Result<Vec<_>, _>>()?;
        let page = self.page(&panels)?;
        let canvases = self.paint(&panels, &page, &page.layout(), 0.25)?;
        self.colours(&panels[0].quantity.label, &canvases).map(|(map, range, _)| (map, range))
    }

    /// The quantity that the picture shows of a run.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn quantity(&self, run: &Run) -> Result<Quantity, PictureError> {
        self.panel(run).map(|panel| panel.quantity)
    }

    fn check(&self) -> Result<(), PictureError> {
        let wrong = |option, found: String, expected: &str| {
            Err(PictureError::Option { option, found, expected: expected.to_owned() })
        };
        let (w, h) = self.size;
        if [w, h].into_iter().flatten().any(|x| !(100.0..=LARGEST).contains(&x)) {
            let text = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
            return wrong(
                "--size",
                format!("{}x{}", text(w), text(h)),
                "100 to 8000 pixels a side, such as 1200x800",
            );
        }
        if let Some([low, high]) = self.range
            && !(low.is_finite() && high.is_finite() && low < high)
        {
            return wrong("--range", format!("{low}:{high}"), "two numbers, the smaller one first");
        }
        if let Some([low, high]) = self.zoom
            && !(0..2).all(|d| low[d] < high[d] && (high[d] - low[d]).is_finite())
        {
            let found = format!("{}:{},{}:{}", low[0], high[0], low[1], high[1]);
            return wrong(
                "--zoom",
                found,
                "two ranges, the smaller number of each first, such as 0:1,-0.5:0.5",
            );
        }
        Ok(())
    }

    fn panel<'a>(&self, run: &'a Run) -> Result<Panel<'a>, PictureError> {
        let (time, source) = run.at(self.moment)?;
        let fields = source.read()?;
        let quantity = match &self.field {
            Some(name) => Quantity::named(&fields, name, run.gamma)?,
            None => Quantity::telling(&fields, run.gamma)?,
        };
        let time = if time.is_nan() { fields.time } else { time };
        let geometry = self.geometry(&fields, run)?;
        Ok(Panel { run, time, fields, quantity, geometry })
    }

    /// The plane, or for solids what the options say: by default a cut through the middle along z.
    fn geometry(&self, fields: &UnstructuredFields, run: &Run) -> Result<Geometry, PictureError> {
        let solid = fields.pieces.iter().any(|block| block.shape.dim() == 3);
        let in_space =
            self.surface.is_some() || self.level.is_some() || self.view.is_some() || self.slices.len() > 1;
        let dim = fields.pieces.iter().map(|block| block.shape.dim()).max().unwrap_or(0);
        if dim < 2 {
            let what = format!("{} has curves alone, which `dgsuite plot` draws from tables", run.name);
            return Err(PictureError::Empty { what });
        }
        // Boundaries of a solid, as `output.surfaces` writes them.
        let z = || fields.pieces.iter().flat_map(|block| &block.points).map(|x| x[2]);
        let sheets = !solid && z().zip(z().skip(1)).any(|(a, b)| a != b);
        if sheets && self.slices.is_empty() && self.level.is_none() {
            let axes = Geometry::axes(self.view.unwrap_or(VIEW))?;
            return Ok(Geometry::Space { axes, cuts: Vec::new(), surface: None, level: None });
        }
        if !solid {
            if in_space || !self.slices.is_empty() {
                let what = format!("{} is a plane domain, which has no cuts and surfaces", run.name);
                return Err(PictureError::Empty { what });
            }
            return Ok(Geometry::Plane);
        }
        let middle = || {
            let (low, high) = z().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), z| (l.min(z), h.max(z)));
            Slice { axis: 2, at: 0.5 * (low + high) }
        };
        if !in_space {
            return Ok(Geometry::Cut(self.slices.first().copied().unwrap_or_else(middle)));
        }
        let level = match &self.level {
            Some((name, value)) => {
                Some(Level { quantity: Quantity::named(fields, name, run.gamma)?, value: *value })
            }
            None => None,
        };
        let axes = Geometry::axes(self.view.unwrap_or(VIEW))?;
        let shown = self.surface.or((self.slices.is_empty() && level.is_none()).then_some(Surface::Outside));
        Ok(Geometry::Space { axes, cuts: self.slices.clone(), surface: shown, level })
    }

    fn page(&self, panels: &[Panel<'_>]) -> Result<Page, PictureError> {
        let first =
            panels.first().ok_or_else(|| PictureError::Empty { what: "no run is given".to_owned() })?;
        let mut window: Option<[[f64; 2]; 2]> = None;
        let close = if self.close { first.geometry.close(&first.fields) } else { None };
        for Panel { fields, geometry, run, .. } in panels {
            let what = || PictureError::Empty { what: format!("the domain of {} has no extent", run.name) };
            let [low, high] = geometry.bounds(fields).ok_or_else(what)?;
            let merged = window.unwrap_or([low, high]);
            window = Some([
                std::array::from_fn(|d| merged[0][d].min(low[d])),
                std::array::from_fn(|d| merged[1][d].max(high[d])),
            ]);
        }
        let titles = panels.iter().map(|panel| {
            let same_time = panels.iter().all(|other| other.time == first.time);
            let time = if same_time { String::new() } else { format!(", {}", when(panel)) };
            format!("{}{time}", panel.run.name)
        });
        Ok(Page {
            size: self.size,
            window: self.zoom.or(close).or(window).unwrap_or_default(),
            titles: titles.collect(),
            axes: first.geometry.names(),
        })
    }

    fn paint(
        &self,
        panels: &[Panel<'_>],
        page: &Page,
        layout: &Layout,
        density: f64,
    ) -> Result<Vec<Canvas>, PictureError> {
        let mut out = Vec::new();
        for (panel, (_, size)) in panels.iter().zip(&layout.frames) {
            let [w, h] = size.map(|x| (x * density).round().max(1.0) as usize);
            let mut canvas = Canvas::new(w, h, panel.geometry.is_solid());
            let scale = layout.scale * density;
            let place = placing(page.window, [w as f64, h as f64]);
            panel.geometry.patches(&panel.fields, &panel.quantity, scale, page.window, |patch, bright| {
                for &triangle in &patch.triangles {
                    let corners = triangle.map(|k| place(patch.points[k]));
                    canvas.triangle(corners, triangle.map(|k| patch.values[k]), bright(triangle));
                }
            });
            if canvas.values().next().is_none() {
                let what = match (&panel.geometry, self.zoom) {
                    (_, Some(_)) => "the part of the domain in --zoom has no values".to_owned(),
                    (Geometry::Cut(Slice { axis, at }), _) => {
                        format!("the plane {} = {at} does not meet the domain", ["x", "y", "z"][*axis])
                    }
                    (Geometry::Space { level: Some(level), .. }, _) => {
                        format!("{} is nowhere {}", level.quantity.label, level.value)
                    }
                    _ => format!("{} has no finite value of {}", panel.run.name, panel.quantity.label),
                };
                return Err(PictureError::Empty { what });
            }
            out.push(canvas);
        }
        Ok(out)
    }

    /// Colour map, range, and whether there are values below and above it.
    fn colours(
        &self,
        label: &str,
        canvases: &[Canvas],
    ) -> Result<(ColourMap, [f64; 2], [bool; 2]), PictureError> {
        let mut values: Vec<f64> = canvases.iter().flat_map(Canvas::values).collect();
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        let both_signs = low < 0.0 && high > 0.0 && low.abs().min(high) > 0.2 * low.abs().max(high);
        let map = self.map.unwrap_or(if both_signs { ColourMap::Vik } else { ColourMap::Viridis });
        let outside = |[a, b]: [f64; 2]| {
            let room = 1e-6 * (b - a);
            [low < a - room, high > b + room]
        };
        if let Some(range) = self.range {
            return Ok((map, range, outside(range)));
        }
        // Few large values at an edge or a wall should not take all colours of a derivative. Other fields,
        // such as a speed, have their extremes where one looks.
        let peaked = low < 0.0 && high > 0.0 || ["Schlieren", "|Vorticity|"].contains(&label);
        let cut = if peaked { values.len() / 200 } else { 0 };
        let mut range = [low, high];
        if cut > 0 {
            let last = values.len() - 1;
            let mut nth = |k: usize| *values.select_nth_unstable_by(k, f64::total_cmp).1;
            let (a, b) = (nth(cut), nth(last - cut));
            if b - a < 0.5 * (high - low) && b > a {
                range = [a, b];
            }
        }
        if map.is_diverging() {
            let most = range[0].abs().max(range[1].abs());
            range = [-most, most];
        }
        // A constant field has the middle colour, up to rounding.
        let size = low.abs().max(high.abs());
        if range[1] - range[0] <= 1e-6 * size || range[1] <= range[0] {
            let middle = 0.5 * (range[0] + range[1]);
            let room = if size > 0.0 { 1e-3 * size } else { 1.0 };
            range = [middle - room, middle + room];
        }
        Ok((map, range, outside(range)))
    }

    fn compose(
        &self,
        panels: &[Panel<'_>],
        page: &Page,
        layout: &Layout,
        canvases: Vec<Canvas>,
        map: ColourMap,
        range: [f64; 2],
        beyond: [bool; 2],
        density: f64,
    ) -> Result<Scene, PictureError> {
        let [w, h] = layout.size;
        let mut scene = Scene::new(w, h);
        let levels = match (&self.contours, self.even_contours) {
            (Some(levels), _) => levels.clone(),
            (None, n) => {
                (1..=n).map(|k| range[0] + (range[1] - range[0]) * k as f64 / (n + 1) as f64).collect()
            }
        };
        for (number, (panel, mut canvas)) in panels.iter().zip(canvases).enumerate() {
            let (corner, size) = layout.frames[number];
            let solid = panel.geometry.is_solid();
            let place = placing(page.window, size);
            let (mut mesh, mut contours) = (Vec::new(), Vec::new());
            let mut drawn: HashSet<[i64; 5]> = HashSet::new();
            if self.mesh || !levels.is_empty() {
                let scale = layout.scale * density;
                panel.geometry.patches(&panel.fields, &panel.quantity, scale, page.window, |patch, _| {
                    if self.mesh {
                        let lines = patch.outline.iter().map(|line| line.iter().map(|&x| place(x)).collect());
                        mesh.extend(
                            lines.filter(|line: &Vec<[f64; 3]>| {
                                keys(line).iter().all(|key| drawn.insert(*key))
                            }),
                        );
                    }
                    for &level in &levels {
                        let lines = contour::lines(patch, level).into_iter();
                        contours.extend(lines.map(|line| line.iter().map(|&x| place(x)).collect::<Vec<_>>()));
                    }
                });
            }
            let thin = (size[0].max(size[1]) / 1400.0).clamp(0.35, 1.5);
            if solid {
                let bias = 2e-3 * (w + h);
                for (lines, radius, dark) in [(&mesh, 0.5 * thin, 0.55), (&contours, 0.6 * thin, 0.75)] {
                    for line in lines.iter() {
                        for ends in line.windows(2) {
                            let [a, b] = [ends[0], ends[1]].map(|[x, y, z]| [x * density, y * density, z]);
                            canvas.ink(a, b, radius * density, dark, bias);
                        }
                    }
                }
            }
            scene.picture(corner, size, canvas.image(map, range));
            if !solid {
                let on_page = |lines: Vec<Vec<[f64; 3]>>| -> Vec<Vec<[f64; 2]>> {
                    let shifted = |[x, y, _]: [f64; 3]| [corner[0] + x, corner[1] + y];
                    lines.into_iter().map(|line| line.into_iter().map(shifted).collect()).collect()
                };
                scene.cut(Some([corner, [corner[0] + size[0], corner[1] + size[1]]]));
                let grey = Stroke { colour: Colour::rgb(20, 20, 20).faded(0.5), width: 0.9 * thin };
                let black = Stroke { colour: Colour::BLACK.faded(0.85), width: 1.15 * thin };
                if !mesh.is_empty() {
                    scene.lines(on_page(mesh), grey);
                }
                if !contours.is_empty() {
                    scene.lines(on_page(contours), black);
                }
                scene.cut(None);
            }
            layout.axes(&mut scene, page, number);
            if let Geometry::Space { axes, .. } = &panel.geometry {
                layout.directions(&mut scene, number, axes);
            }
        }
        let label = &panels[0].quantity.label;
        layout.bar(&mut scene, &Bar { map, range, label, beyond, levels: &levels });
        let (title, below) = self.words(panels);
        layout.title(&mut scene, &title, &below);
        Ok(scene)
    }

    /// The title and the line below it: field, time, place.
    fn words(&self, panels: &[Panel<'_>]) -> (String, String) {
        let first = &panels[0];
        let own = |panel: &Panel<'_>| panel.run.title.clone().unwrap_or_else(|| panel.run.name.clone());
        let same = panels.iter().all(|panel| own(panel) == own(first));
        let title = match &self.title {
            Some(title) => title.clone(),
            None if same => own(first),
            None => first.quantity.label.clone(),
        };
        let mut below = vec![first.quantity.label.clone()];
        if panels.iter().all(|panel| panel.time == first.time) && first.time.is_finite() {
            below.push(when(first));
        }
        match &first.geometry {
            Geometry::Cut(Slice { axis, at }) => {
                below.push(format!("{} = {}", ["x", "y", "z"][*axis], short(*at)));
            }
            Geometry::Space { level: Some(Level { quantity, value }), .. } => {
                below.push(format!("on {} = {}", quantity.label, short(*value)));
            }
            _ => {}
        }
        if panels.len() == 1 && first.run.title.is_some() && self.title.is_none() {
            below.push(first.run.name.clone());
        }
        (title, below.join(", "))
    }
}

/// The time of a panel, or its step.
fn when(panel: &Panel<'_>) -> String {
    format!("{} {}", if panel.run.local_steps { "step" } else { "t =" }, short(panel.time))
}

/// From the page of the geometry to pixels of a picture: y becomes downward, depths are in pixels.
fn placing([low, high]: [[f64; 2]; 2], [w, h]: [f64; 2]) -> impl Fn([f64; 3]) -> [f64; 3] {
    let scale = [w / (high[0] - low[0]), h / (high[1] - low[1])];
    move |x| [(x[0] - low[0]) * scale[0], (high[1] - x[1]) * scale[1], x[2] * scale[0]]
}

/// Two keys of an edge, of which the two sides of the edge share at least one: its ends in quarters of a
/// pixel, rounded in two ways, so that no coordinate is at the limit of both.
fn keys(line: &[[f64; 3]]) -> [[i64; 5]; 2] {
    [0.0, 0.5].map(|shift| {
        let end = |p: Option<&[f64; 3]>| {
            p.map_or([0; 2], |p| [p[0], p[1]].map(|x| (4.0 * x + shift).floor() as i64))
        };
        let (a, b) = (end(line.first()), end(line.last()));
        let (a, b) = (a.min(b), a.max(b));
        [a[0], a[1], b[0], b[1], (2.0 * shift) as i64]
    })
}

/// A number with at most five digits.
fn short(x: f64) -> String {
    if x == 0.0 || !(1e-3..1e6).contains(&x.abs()) {
        return if x == 0.0 { "0".to_owned() } else { format!("{x:.3e}") };
    }
    let decimals = (4 - x.abs().log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::pvd::Series;
    use crate::writer::{CellBlock, Field, VtuOptions};
    use dgsuite_basis::{Shape, lattice::lattice};

    /// A run with one quadratic cell, whose points are moved by `place` and whose value is x.
    fn run(shape: Shape, place: impl Fn([f64; 3]) -> [f64; 3]) -> (tempfile::TempDir, Run) {
        let points: Vec<[f64; 3]> = lattice(shape, 2).into_iter().map(place).collect();
        let point_data = vec![Field::real("u", 1, points.iter().map(|x| x[0]).collect())];
        let block = CellBlock { shape, order: 2, points, point_data, cell_data: Vec::new() };
        let folder = tempfile::tempdir().unwrap();
        let fields = UnstructuredFields { time: 0.0, pieces: vec![block] };
        let mut series = Series::create(folder.path().join("fields.pvd")).unwrap();
        series.write(&fields, &VtuOptions::default()).unwrap();
        let run = Run::open(folder.path()).unwrap();
        (folder, run)
    }

    fn middle(picture: &Picture, run: Run) -> Colour {
        let page = picture.draw(&[run]).unwrap();
        let (_, _, image) = page.images().next().unwrap();
        image.at(image.width() / 2, image.height() / 2)
    }

    #[test]
    fn sheets_in_space_are_seen_from_the_eye() {
        let picture = Picture {
            view: Some([0.0, 0.0, 1.0]),
            map: Some(ColourMap::Viridis),
            range: Some([-1.0, 3.0]),
            ..Picture::default()
        };
        let (_folder, sheet) = run(Shape::Quadrilateral, |[x, y, _]| [x, y, 0.1 * x]);
        let Colour([r, g, b, a]) = middle(&picture, sheet);
        // The colour of 0, darkened by the light alone.
        let Colour(full) = ColourMap::Viridis.colour(0.25);
        let light = f64::from(g) / f64::from(full[1]);
        let off = |c: u8, full: u8| (f64::from(c) - light * f64::from(full)).abs();
        assert!(a == 255 && light > 0.6 && light <= 1.0, "{light}");
        assert!(off(r, full[0]) < 4.0 && off(b, full[2]) < 4.0, "{r} {g} {b} of {full:?}");
        let (_folder, curve) = run(Shape::Line, |x| x);
        assert!(picture.draw(&[curve]).unwrap_err().to_string().contains("curves alone"));
    }

    #[test]
    fn the_part_with_small_elements_is_shown_close() {
        let block = |[x0, y0]: [f64; 2], size: f64| CellBlock {
            shape: Shape::Quadrilateral,
            order: 1,
            points: lattice(Shape::Quadrilateral, 1)
                .iter()
                .map(|x| [x0 + size * x[0], y0 + size * x[1], 0.0])
                .collect(),
            point_data: vec![],
            cell_data: vec![],
        };
        let squares = |n: u32, h: f64| -> Vec<CellBlock> {
            (0..n * n).map(|k| block([h * f64::from(k % n), h * f64::from(k / n)], 0.5 * h)).collect()
        };
        let mut pieces = squares(6, 0.1);
        pieces.push(block([0.0, 0.0], 50.0));
        let [low, high] = Geometry::Plane.close(&UnstructuredFields { time: 0.0, pieces }).unwrap();
        assert!((0..2).all(|d| high[d] - low[d] < 1.0 && low[d] < 0.2 && high[d] > 0.3), "{low:?} {high:?}");
        let even = UnstructuredFields { time: 0.0, pieces: squares(6, 1.0) };
        assert_eq!(Geometry::Plane.close(&even), None);
    }
}
