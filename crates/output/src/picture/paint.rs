//! Paints triangles with values into a grid of samples, and the grid with colours into an image.

use std::num::NonZeroU32;

use crate::draw::{Colour, ColourMap, Image};

/// Samples for each pixel, along each side: edges of the domain look smooth.
const SAMPLES: usize = 2;

/// Values, depths, shades and lines at samples; rows from the top.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    /// Pixels along x and y.
    width: usize,
    height: usize,
    /// NaN where nothing was painted.
    values: Vec<f64>,
    /// What is nearer to the eye has the larger depth.
    depth: Option<Vec<f32>>,
    shade: Vec<u8>,
    ink: Vec<u8>,
}

/// Brightness of a surface that faces the light.
const BRIGHT: u8 = 255;

impl Canvas {
    /// An empty canvas; with `solid` what is nearer covers what is farther, else later covers earlier.
    pub(super) fn new(width: usize, height: usize, solid: bool) -> Self {
        let n = width * height * SAMPLES * SAMPLES;
        Self {
            width,
            height,
            values: vec![f64::NAN; n],
            depth: solid.then(|| vec![f32::NEG_INFINITY; n]),
            shade: if solid { vec![BRIGHT; n] } else { Vec::new() },
            ink: if solid { vec![0; n] } else { Vec::new() },
        }
    }

    /// Paints a triangle: corners in pixels (x to the right, y down) with their depths, and values at them.
    pub(super) fn triangle(&mut self, corners: [[f64; 3]; 3], values: [f64; 3], shade: f64) {
        let s = SAMPLES as f64;
        let [a, b, c] = corners.map(|p| [p[0] * s, p[1] * s]);
        let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if !twice.is_finite() || twice == 0.0 {
            return;
        }
        let (w, h) = (self.width * SAMPLES, self.height * SAMPLES);
        // Samples are at the middles of the cells of the grid.
        let range = |k: usize, end: usize| {
            let (low, high) = (a[k].min(b[k]).min(c[k]), a[k].max(b[k]).max(c[k]));
            let first = (low - 0.5).ceil().max(0.0) as usize;
            first..((high - 0.5).floor() + 1.0).clamp(0.0, end as f64) as usize
        };
        let (columns, rows) = (range(0, w), range(1, h));
        // A hair of overlap, a thousandth of a sample: coordinates in single precision leave gaps between
        // neighbours.
        let side = |p: [f64; 2], q: [f64; 2]| (p[0] - q[0]).hypot(p[1] - q[1]);
        let hair = -(2e-3 * side(a, b).max(side(b, c)).max(side(c, a)) / twice.abs()).min(0.5);
        for y in rows {
            for x in columns.clone() {
                let p = [x as f64 + 0.5, y as f64 + 0.5];
                let lb = ((p[0] - a[0]) * (c[1] - a[1]) - (p[1] - a[1]) * (c[0] - a[0])) / twice;
                let lc = ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / twice;
                let la = 1.0 - lb - lc;
                if la < hair || lb < hair || lc < hair {
                    continue;
                }
                let at = y * w + x;
                if let Some(depths) = &mut self.depth {
                    let depth = (la * corners[0][2] + lb * corners[1][2] + lc * corners[2][2]) as f32;
                    if depth <= depths[at] {
                        continue;
                    }
                    depths[at] = depth;
                    self.shade[at] = (shade.clamp(0.0, 1.0) * f64::from(BRIGHT)) as u8;
                }
                // A constant stays the same to the last bit.
                self.values[at] = values[0] + lb * (values[1] - values[0]) + lc * (values[2] - values[0]);
            }
        }
    }

    /// Draws a line where nothing is nearer than it by more than `bias`, in a solid picture. `radius` is half
    /// its width in pixels, `darkness` from 0 to 1.
    pub(super) fn ink(&mut self, from: [f64; 3], to: [f64; 3], radius: f64, darkness: f64, bias: f64) {
        let Some(depths) = &self.depth else { return };
        let s = SAMPLES as f64;
        let (w, h) = ((self.width * SAMPLES) as f64, (self.height * SAMPLES) as f64);
        let steps = (2.0 * s * (to[0] - from[0]).hypot(to[1] - from[1])).ceil().clamp(1.0, 1e5);
        let (radius, dark) = (radius * s, (255.0 * darkness) as u8);
        for k in 0..=steps as usize {
            let t = k as f64 / steps;
            let p: [f64; 3] = std::array::from_fn(|d| from[d] + t * (to[d] - from[d]));
            let (x, y) = (p[0] * s, p[1] * s);
            if !(x > -radius && y > -radius && x < w + radius && y < h + radius) {
                continue;
            }
            let cells = |at: f64, end: f64| {
                (at - radius).floor().max(0.0) as usize..((at + radius).ceil()).clamp(0.0, end) as usize
            };
            for row in cells(y, h) {
                for column in cells(x, w) {
                    let off = (column as f64 + 0.5 - x).hypot(row as f64 + 0.5 - y);
                    let at = row * w as usize + column;
                    if off <= radius && f64::from(depths[at]) <= p[2] + bias {
                        self.ink[at] = self.ink[at].max(dark);
                    }
                }
            }
        }
    }

    /// The values of all painted samples.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().copied().filter(|v| v.is_finite())
    }

    /// Colours the values: `low` gets the first colour of the map and `high` the last one.
    pub(super) fn image(&self, map: ColourMap, [low, high]: [f64; 2]) -> Image {
        let mut image = Image::new(self.width, self.height, Colour::CLEAR);
        let (width, row) = (self.width, self.width * SAMPLES);
        let sample = |at: usize| {
            let value = self.values[at];
            let x = if high > low { (value - low) / (high - low) } else { 0.5 + (value - low) };
            let Colour([r, g, b, a]) = map.colour(x);
            if self.depth.is_none() || a == 0 {
                return [r, g, b, a];
            }
            let light = u32::from(self.shade[at]) * (255 - u32::from(self.ink[at]));
            let lit = |c: u8| (u32::from(c) * light / (255 * 255)) as u8;
            [lit(r), lit(g), lit(b), a]
        };
        for (at, pixel) in image.pixels_mut().iter_mut().enumerate() {
            let (x, y) = (at % width * SAMPLES, at / width * SAMPLES);
            let mut sum = [0u32; 4];
            for k in 0..SAMPLES * SAMPLES {
                let [r, g, b, a] = sample((y + k / SAMPLES) * row + x + k % SAMPLES).map(u32::from);
                for (sum, c) in sum.iter_mut().zip([r * a, g * a, b * a, a]) {
                    *sum += c;
                }
            }
            let [r, g, b, a] = sum;
            let Some(weight) = NonZeroU32::new(a) else { continue };
            let mean = |c: u32| ((c + a / 2) / weight) as u8;
            *pixel = Colour([mean(r), mean(g), mean(b), (a / (SAMPLES * SAMPLES) as u32) as u8]);
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_value_has_the_colours_of_the_map_and_no_gaps() {
        let mut canvas = Canvas::new(64, 32, false);
        let (a, b, c, d) = ([0.0, 0.0, 0.0], [64.0, 0.0, 0.0], [64.0, 32.0, 0.0], [0.0, 32.0, 0.0]);
        canvas.triangle([a, b, c], [0.0, 1.0, 1.0], 1.0);
        canvas.triangle([a, c, d], [0.0, 1.0, 0.0], 1.0);
        assert_eq!(canvas.values().count(), 64 * 32 * 4, "every sample is painted");
        let image = canvas.image(ColourMap::Batlow, [0.0, 1.0]);
        for x in 0..64 {
            let expected = ColourMap::Batlow.colour((x as f64 + 0.5) / 64.0);
            let off = |k: usize| image.at(x, 13).0[k].abs_diff(expected.0[k]);
            assert!((0..4).all(|k| off(k) <= 3), "{x}: {:?} {expected:?}", image.at(x, 13));
        }
    }

    #[test]
    fn the_nearer_triangle_and_its_lines_are_seen() {
        let square = |depth: f64| [[0.0, 0.0, depth], [20.0, 0.0, depth], [0.0, 20.0, depth]];
        let mut canvas = Canvas::new(10, 10, true);
        canvas.triangle(square(1.0), [1.0; 3], 1.0);
        canvas.triangle(square(0.0), [0.0; 3], 1.0);
        assert!(canvas.values().all(|v| v == 1.0));
        canvas.ink([0.0, 2.5, 1.0], [10.0, 2.5, 1.0], 0.7, 1.0, 0.1);
        canvas.ink([0.0, 7.5, 0.0], [10.0, 7.5, 0.0], 0.7, 1.0, 0.1);
        let image = canvas.image(ColourMap::Viridis, [0.0, 1.0]);
        let light = |row| image.at(5, row).0.iter().take(3).map(|&c| u32::from(c)).sum::<u32>();
        assert!(light(2) < light(5) / 2, "the near line is dark");
        assert_eq!(light(7), light(5), "the hidden line is not seen");
    }
}
