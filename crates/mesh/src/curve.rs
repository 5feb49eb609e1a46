//! The curve behind a boundary of straight faces in the plane, estimated from the boundary's vertices.

use std::collections::HashMap;

use crate::bytes::{Reader, Writer};
use crate::nearby::Nearby;
use crate::{Across, Mesh, MeshError};

/// A point of the plane.
type Point = [f64; 2];

/// The curve of which the faces of a boundary are chords, with its normals at points of the chords.
///
/// Three successive vertices of the boundary determine a circle, whose curvature is attributed to the mean of
/// their positions along the boundary. On a chord the curvature of the curve is the linear function of the
/// position that has these values for the circles through the chord's ends. Where one of the two circles is
/// missing, because the boundary ends or has a corner there, the curvature is that of the other; a chord
/// without either is straight. The angle between curve and chord is the integral of the curvature:
///
/// ```text
/// θ(ξ) = arctan(κ ξ / √(1 − κ²h²/4)) + κ′ (ξ²/2 − h²/24),   −h/2 ≤ ξ ≤ h/2
/// ```
///
/// with the curvature `κ` in the middle of the chord of length `h` and its derivative `κ′`. The first term is
/// that of the circle with the curvature `κ` through the chord's ends: the normal at a point of the chord
/// points to the circle's centre, or away from it. Normals are exact for circles; the error of the angle is
/// of third order in `h` for other curves, and of second order beside a corner or an end.
///
/// # Source
/// The use of circles through neighbouring points follows Krivodonova & Berger, J. Comput. Phys. 211 (2006)
/// 492–512; the term with `κ′` is this program's.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryCurve {
    chords: Vec<Chord>,
}

/// A face as a chord of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chord {
    start: Point,
    end: Point,
    /// In the middle of the chord, positive where the curve turns to the left.
    curvature: f64,
    /// Derivative of the curvature along the curve.
    slope: f64,
}

impl Mesh {
    /// Returns the curve behind the faces of boundary number `boundary`, by its vertices; `None` in three
    /// dimensions.
    ///
    /// A vertex is a corner of the curve if the boundary turns by more than the angle `corner` there, in
    /// radians. Nodes of curved faces between their vertices are ignored.
    ///
    /// ```
    /// use dgsuite_mesh::{Shape, generate::Box};
    /// let mut mesh = Box::unit(Shape::Quadrilateral, 8).build()?;
    /// mesh.map(|[x, y, _]| [(1.0 + x) * y.cos(), (1.0 + x) * y.sin(), 0.0])?;
    /// let outer = mesh.boundary_curve(mesh.boundary_index("xmax")?, 0.7).expect("a mesh of the plane");
    /// // A point of the first chord of the circle with radius 2.
    /// let (a, b) = (0.25, 0.125_f64);
    /// let x = [2.0 * (1.0 - a + a * b.cos()), 2.0 * a * b.sin(), 0.0];
    /// let n = outer.normals(&[x])[0];
    /// assert!((n[0] * x[1] - n[1] * x[0]).abs() < 1e-13);
    /// # Ok::<(), dgsuite_mesh::MeshError>(())
    /// ```
    #[must_use]
    pub fn boundary_curve(&self, boundary: u32, corner: f64) -> Option<BoundaryCurve> {
        if self.dim != 2 {
            return None;
        }
        let on_it = self.faces.iter().filter(|f| f.across == Across::Boundary(boundary));
        let ends: Vec<[u32; 2]> = on_it
            .filter_map(|face| match self.side_vertices(face.minus)[..] {
                [a, b] => Some([a, b]),
                _ => None,
            })
            .collect();
        let at = |v: u32| {
            let [x, y, _] = self.points[v as usize];
            [x, y]
        };
        // Faces run around the domain counter-clockwise, so that each vertex ends one and starts another.
        let (mut starting, mut ending) = (HashMap::<u32, Vec<u32>>::new(), HashMap::<u32, Vec<u32>>::new());
        for &[a, b] in &ends {
            starting.entry(a).or_default().push(b);
            ending.entry(b).or_default().push(a);
        }
        // The circle through a vertex and its two neighbours, if the boundary is smooth there.
        let circle = |v: u32| -> Option<Arc> {
            let (&[before], &[after]) = (ending.get(&v)?.as_slice(), starting.get(&v)?.as_slice()) else {
                return None;
            };
            Arc::through(at(before), at(v), at(after), corner)
        };
        let chords = ends.iter().map(|&[a, b]| {
            let (start, end) = (at(a), at(b));
            let h = length(start, end);
            let (curvature, slope) = match (circle(a), circle(b)) {
                (Some(first), Some(second)) => {
                    // Positions along the boundary, from the middle of the chord.
                    let low = (h - first.before) / 3.0 - 0.5 * h;
                    let high = (2.0 * h + second.after) / 3.0 - 0.5 * h;
                    let slope = (second.curvature - first.curvature) / (high - low);
                    (first.curvature - slope * low, slope)
                }
                (Some(one), None) | (None, Some(one)) => (one.curvature, 0.0),
                (None, None) => (0.0, 0.0),
            };
            Chord { start, end, curvature, slope }
        });
        Some(BoundaryCurve { chords: chords.collect() })
    }
}

/// The circle through three successive vertices.
struct Arc {
    /// Positive for a turn to the left.
    curvature: f64,
    /// Distance from the first to the second vertex.
    before: f64,
    /// Distance from the second to the third vertex.
    after: f64,
}

impl Arc {
    /// The circle through three points; `None` if the way through them turns by more than the angle `corner`.
    fn through(a: Point, b: Point, c: Point, corner: f64) -> Option<Self> {
        let (u, v) = (minus(b, a), minus(c, b));
        let turn = cross(u, v).atan2(dot(u, v));
        let curvature = 2.0 * cross(u, v) / (length(a, b) * length(b, c) * length(a, c));
        (turn.abs() <= corner && curvature.is_finite()).then(|| Self {
            curvature,
            before: length(a, b),
            after: length(b, c),
        })
    }
}

impl BoundaryCurve {
    /// The curve as bytes, the same on every machine.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::with_capacity(48 * self.chords.len() + 8);
        out.list(&self.chords, |out, chord| {
            out.reals(&chord.start);
            out.reals(&chord.end);
            out.reals(&[chord.curvature, chord.slope]);
        });
        out.finish()
    }

    /// The curve of these bytes.
    ///
    /// # Errors
    /// [`MeshError::Message`] if they are no curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MeshError> {
        let mut from = Reader::new(bytes, "the curve of a boundary");
        let chords = from.list(|from| {
            let (start, end, [curvature, slope]) = (from.reals()?, from.reals()?, from.reals()?);
            Ok(Chord { start, end, curvature, slope })
        })?;
        from.finish()?;
        Ok(Self { chords })
    }

    /// Returns the unit normals of the curve at points of its chords, out of the domain. A point beside the
    /// chords has the normal of the nearest one.
    #[must_use]
    pub fn normals(&self, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let middles: Vec<[f64; 3]> = self
            .chords
            .iter()
            .map(|c| [0.5 * (c.start[0] + c.end[0]), 0.5 * (c.start[1] + c.end[1]), 0.0])
            .collect();
        let ids: Vec<u32> = (0..middles.len() as u32).collect();
        let longest = self.chords.iter().fold(0.0_f64, |l, c| l.max(length(c.start, c.end)));
        let near = Nearby::new(&middles, &ids, longest);
        points
            .iter()
            .map(|x| {
                let p = [x[0], x[1]];
                let mut close = Vec::new();
                near.within(*x, *x, longest, |id| close.push(id));
                let candidates = if close.is_empty() { &ids } else { &close };
                let at = |id: &u32| self.chords[*id as usize].distance(p);
                let nearest = candidates.iter().min_by(|a, b| at(a).total_cmp(&at(b)).then(a.cmp(b)));
                nearest.map_or([f64::NAN, f64::NAN, 0.0], |&id| self.chords[id as usize].normal(p))
            })
            .collect()
    }
}

impl Chord {
    /// The distance of a point from the chord.
    fn distance(&self, p: Point) -> f64 {
        let (along, to) = (minus(self.end, self.start), minus(p, self.start));
        let s = (dot(to, along) / dot(along, along)).clamp(0.0, 1.0);
        length(to, [s * along[0], s * along[1]])
    }

    /// The normal of the curve at a point of the chord, to the right of the way from start to end.
    fn normal(&self, p: Point) -> [f64; 3] {
        let h = length(self.start, self.end);
        let t = minus(self.end, self.start).map(|c| c / h);
        let xi = dot(minus(p, self.start), t) - 0.5 * h;
        let half = 0.5 * self.curvature * h;
        let circle = (self.curvature * xi).atan2((1.0 - half * half).max(0.0).sqrt());
        let angle = circle + self.slope * (0.5 * xi * xi - h * h / 24.0);
        let (sin, cos) = angle.sin_cos();
        [sin * t[0] + cos * t[1], sin * t[1] - cos * t[0], 0.0]
    }
}

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: Point, b: Point) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn length(a: Point, b: Point) -> f64 {
    dot(minus(a, b), minus(a, b)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shape, generate::Box};

    const CORNER: f64 = 0.7;

    /// A box of `n` uneven columns, of which the lower side is mapped by `f`.
    fn mesh(n: usize, f: impl Fn(f64) -> Point) -> Mesh {
        let mut mesh = Box { cells: [n, 1, 1], ..Box::unit(Shape::Triangle, 1) }.build().unwrap();
        mesh.map(|[x, y, _]| {
            let [u, v] = f(x + 0.15 * (5.0 * x).sin() * x * (1.0 - x));
            [u, v + y, 0.0]
        })
        .unwrap();
        mesh
    }

    /// The largest angle between the estimated normals and the direction of `f`, over the chords of the lower
    /// side that do not touch its ends.
    fn error(n: usize, f: impl Fn(f64) -> Point) -> f64 {
        let mesh = mesh(n, &f);
        let curve = mesh.boundary_curve(mesh.boundary_index("ymin").unwrap(), CORNER).unwrap();
        let mut worst = 0.0_f64;
        for chord in &curve.chords {
            if chord.start[0] < 1e-12 || chord.end[0] > 1.0 - 1e-12 {
                continue;
            }
            for s in [0.07, 0.33, 0.5, 0.9] {
                let x: [f64; 2] =
                    std::array::from_fn(|d| chord.start[d] + s * (chord.end[d] - chord.start[d]));
                let n = curve.normals(&[[x[0], x[1], 0.0]])[0];
                // The direction of the curve at the foot of the chord's normal through the point.
                let t = minus(chord.end, chord.start);
                let step = 1e-6;
                let slope = |at: f64| minus(f(at + step), f(at - step)).map(|c| c / (2.0 * step));
                let mut at = x[0];
                for _ in 0..20 {
                    at -= dot(minus(f(at), x), t) / dot(slope(at), t);
                }
                let along = slope(at);
                worst = worst.max((dot(along, [n[0], n[1]]) / dot(along, along).sqrt()).abs());
            }
        }
        worst
    }

    #[test]
    fn the_normals_of_a_circle_are_exact_on_uneven_chords() {
        let (radius, centre) = (2.0, [0.3, -1.5]);
        let mesh = mesh(7, |s| {
            let angle = 2.2 - 1.2 * s;
            [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()]
        });
        let curve = mesh.boundary_curve(mesh.boundary_index("ymin").unwrap(), CORNER).unwrap();
        assert_eq!(curve.chords.len(), 7);
        for chord in &curve.chords {
            for s in [0.01, 0.4, 0.8] {
                let x: [f64; 2] =
                    std::array::from_fn(|d| chord.start[d] + s * (chord.end[d] - chord.start[d]));
                let n = curve.normals(&[[x[0], x[1], 0.0]])[0];
                let arm = minus(x, centre);
                assert!((n[0] * n[0] + n[1] * n[1] - 1.0).abs() < 1e-14);
                assert!(cross([n[0], n[1]], arm).abs() < 1e-13, "{n:?} at {x:?}");
                // The domain is above, outside of the circle.
                assert!(dot([n[0], n[1]], arm) < 0.0);
            }
        }
    }

    #[test]
    fn the_normals_of_a_curve_converge_with_third_order() {
        let wave = |x: f64| [x, 0.2 * (3.0 * x).sin()];
        let (coarse, fine) = (error(32, wave), error(64, wave));
        assert!(coarse < 2e-4 && coarse / fine > 6.5, "{coarse:e} {fine:e}");
    }

    #[test]
    fn corners_are_kept() {
        // A roof: two straight slopes that meet at a right angle.
        let roof = |x: f64| [x, -(x - 0.5).abs()];
        let mut mesh = Box { cells: [8, 1, 1], ..Box::unit(Shape::Triangle, 1) }.build().unwrap();
        mesh.map(|[x, y, _]| [x, roof(x)[1] + 2.0 * y, 0.0]).unwrap();
        let boundary = mesh.boundary_index("ymin").unwrap();
        let at = [[0.45, -0.05, 0.0], [0.55, -0.05, 0.0]];
        let sharp = mesh.boundary_curve(boundary, CORNER).unwrap().normals(&at);
        let half = 0.5_f64.sqrt();
        assert!((sharp[0][0] - half).abs() < 1e-14 && (sharp[1][0] + half).abs() < 1e-14, "{sharp:?}");
        let smooth = mesh.boundary_curve(boundary, 2.0).unwrap().normals(&at);
        assert!(smooth[0][0] < half - 0.01, "{smooth:?}");
    }

    #[test]
    fn space_has_no_such_curve() {
        let mesh = Box::unit(Shape::Tetrahedron, 1).build().unwrap();
        assert!(mesh.boundary_curve(0, CORNER).is_none());
    }
}
