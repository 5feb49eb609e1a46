//! Pressure, friction and heat along a wall, in order; points of separation and attachment.

use super::forces::Scales;
use super::homogeneous::{self, NotInColumns, turned_back};
use super::{Surface, dot};

/// The quantities along a wall, in the order of its points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Points; in two dimensions ordered along the wall, with the domain to the left. Of means over a
    /// homogeneous direction the same, seen against that direction.
    pub points: Vec<[f64; 3]>,
    /// In two dimensions, and of means over a direction, the length along the wall from the first point; in
    /// three 0.
    pub arc: Vec<f64>,
    /// `C_p = (p − p∞)/(½ρ|v|²)`.
    pub cp: Vec<f64>,
    /// Skin friction `C_f = |τ_w|/(½ρ|v|²)`; in two dimensions with a sign, positive along the curve.
    pub cf: Vec<f64>,
    /// The largest pressure over the dynamic pressure `½ρ|v|²`.
    pub scale: f64,
    /// Pressure.
    pub p: Vec<f64>,
    /// The stress of the fluid on the wall.
    pub stress: Vec<[f64; 3]>,
    /// Heat into the wall.
    pub heat: Vec<f64>,
    /// Friction velocity.
    pub u_tau: Vec<f64>,
    /// [`Surface::y_plus`].
    pub y_plus: Vec<f64>,
}

/// In two dimensions, a point where the friction on a wall changes its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The point.
    pub point: [f64; 3],
    /// True if the flow separates there, false if it reattaches.
    pub separation: bool,
}

/// Computes the curves of a wall.
#[must_use]
pub fn curves(surface: &Surface, scales: &Scales, dim: usize) -> Curves {
    let order = if dim == 2 { along(surface) } else { (0..surface.points.len()).collect() };
    let q = scales.dynamic_pressure();
    let pressure = surface.pressure();
    let mut out = Curves::default();
    let mut arc = 0.0;
    for (k, &i) in order.iter().enumerate() {
        let (x, n) = (surface.points[i], surface.normals[i]);
        if k > 0 && dim == 2 {
            let before = surface.points[order[k - 1]];
            arc += (0..2).map(|d| (x[d] - before[d]).powi(2)).sum::<f64>().sqrt();
        }
        let full = surface.traction.get(i).copied().unwrap_or_default().map(|t| -t);
        let normal = dot(full, n);
        let stress: [f64; 3] = std::array::from_fn(|d| full[d] - normal * n[d]);
        let size = dot(stress, stress).sqrt();
        let along = if dim == 2 { dot(stress, tangent(n)) } else { size };
        out.points.push(x);
        out.arc.push(arc);
        out.cp.push((pressure[i] - scales.pressure) / q);
        out.cf.push(along / q);
        out.p.push(pressure[i]);
        out.scale = out.scale.max(pressure[i].abs() / q);
        out.stress.push(stress);
        let of = |values: &[f64]| values.get(i).copied().unwrap_or(0.0);
        out.heat.push(of(&surface.heat));
        out.u_tau.push(of(&surface.u_tau));
        out.y_plus.push(of(&surface.y_plus));
    }
    out
}

/// Computes the curves of a wall in three dimensions from its means over the homogeneous direction `axis`, in
/// the order of a wall in two dimensions.
///
/// # Errors
/// As [`homogeneous::means`].
pub fn curves_over(surface: &Surface, scales: &Scales, axis: usize) -> Result<Curves, NotInColumns> {
    let mut curves = curves(&homogeneous::means(surface, axis)?, scales, 2);
    for x in curves.points.iter_mut().chain(&mut curves.stress) {
        *x = turned_back(*x, axis);
    }
    Ok(curves)
}

/// The direction along a wall in two dimensions: the outward normal turned to the left by 90 degrees.
fn tangent(n: [f64; 3]) -> [f64; 3] {
    [-n[1], n[0], 0.0]
}

/// Returns the points of a boundary in two dimensions in their order along it: each face begins where another
/// ends, along its tangent.
fn along(surface: &Surface) -> Vec<usize> {
    let faces: Vec<Vec<usize>> = surface
        .first
        .windows(2)
        .filter(|w| w[1] > w[0])
        .map(|w| {
            let mut points: Vec<usize> = (w[0]..w[1]).collect();
            let (a, b) = (points[0], points[points.len() - 1]);
            let chord: [f64; 3] = std::array::from_fn(|d| surface.points[b][d] - surface.points[a][d]);
            if dot(chord, tangent(surface.normals[a])) < 0.0 {
                points.reverse();
            }
            points
        })
        .collect();
    let start = |f: usize| surface.points[faces[f][0]];
    let end = |f: usize| surface.points[faces[f][faces[f].len() - 1]];
    let distance = |a: [f64; 3], b: [f64; 3]| (0..2).map(|d| (a[d] - b[d]).powi(2)).sum::<f64>();
    // An open curve begins at a face that follows no other; a closed one at its largest x, the trailing edge.
    let gap = |f: usize| {
        let others = (0..faces.len()).filter(|&g| g != f);
        let nearest = others.map(|g| distance(end(g), start(f))).fold(f64::INFINITY, f64::min);
        nearest / distance(start(f), end(f)).max(f64::MIN_POSITIVE)
    };
    let Some(open) = (0..faces.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b))) else { return Vec::new() };
    let first = if gap(open) > 1.0 {
        open
    } else {
        (0..faces.len()).max_by(|&a, &b| start(a)[0].total_cmp(&start(b)[0])).unwrap_or(0)
    };
    let mut left: Vec<usize> = (0..faces.len()).filter(|&f| f != first).collect();
    let mut order = faces[first].clone();
    let mut now = first;
    while let Some(at) = (0..left.len())
        .min_by(|&a, &b| distance(end(now), start(left[a])).total_cmp(&distance(end(now), start(left[b]))))
    {
        now = left.swap_remove(at);
        order.extend(&faces[now]);
    }
    order
}

/// Friction below this part of the pressure, or of the dynamic pressure if that is larger, is rounding.
const ROUNDING: f64 = 1e-9;

/// Returns the points where the friction along a wall in two dimensions changes its sign, in the order of the
/// curve: between points where it is more than rounding.
#[must_use]
pub fn turns(curves: &Curves) -> Vec<Turn> {
    let pressure = curves.cp.iter().fold(1.0, |most: f64, cp| most.max(cp.abs()));
    let noise = ROUNDING * pressure.max(curves.scale);
    let sure: Vec<usize> = (0..curves.cf.len()).filter(|&i| curves.cf[i].abs() > noise).collect();
    let turn = |pair: &[usize]| {
        let (a, b) = (curves.cf[pair[0]], curves.cf[pair[1]]);
        (a * b < 0.0).then(|| {
            let share = a / (a - b);
            let (x, y) = (curves.points[pair[0]], curves.points[pair[1]]);
            let point = std::array::from_fn(|d| x[d] + share * (y[d] - x[d]));
            Turn { point, separation: a > 0.0 }
        })
    };
    sure.windows(2).filter_map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faces of three points around a circle, in a scrambled order and orientation.
    fn cylinder(stress: impl Fn(f64) -> f64) -> Surface {
        let n = 24;
        let mut s = Surface { first: vec![0], values: vec![Vec::new()], ..Surface::default() };
        for k in 0..n {
            let face = (k * 7) % n;
            for j in 0..3 {
                let j = if face % 2 == 0 { j } else { 2 - j };
                let a = (face as f64 + [0.1, 0.5, 0.9][j]) * std::f64::consts::TAU / n as f64;
                s.points.push([a.cos(), a.sin(), 0.0]);
                s.normals.push([-a.cos(), -a.sin(), 0.0]);
                s.weights.push(1.0);
                s.values[0].push(a.cos());
                // `traction` is the stress on the fluid, so it has the opposite sign of the stress on the
                // wall.
                s.traction.push([stress(a) * a.sin(), -stress(a) * a.cos(), 0.0]);
            }
            s.first.push(s.points.len());
        }
        s
    }

    fn scales() -> Scales {
        let (drag, lift) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let origin = [0.0; 3];
        Scales { density: 2.0, speed: 1.0, pressure: 0.0, area: 1.0, length: 1.0, drag, lift, origin }
    }

    #[test]
    fn a_cylinder_has_two_points_of_separation_and_two_of_attachment() {
        // Flow from the left: towards θ = 0 on both sides, reversed within 50 degrees of it.
        let behind = 50_f64.to_radians();
        let sign = |a: f64| if a < std::f64::consts::PI { -1.0 } else { 1.0 };
        let angle = |a: f64| if a < std::f64::consts::PI { a } else { std::f64::consts::TAU - a };
        let curves = curves(&cylinder(|a| sign(a) * angle(a).sin() * (angle(a) - behind)), &scales(), 2);
        // Once around; consecutive points are neighbours.
        assert_eq!(curves.points.len(), 72);
        assert!((curves.arc[71] - std::f64::consts::TAU).abs() < 0.3, "{}", curves.arc[71]);
        assert!(curves.arc.windows(2).all(|w| w[1] - w[0] < 0.12));
        let turns = turns(&curves);
        let separated: Vec<f64> =
            turns.iter().filter(|t| t.separation).map(|t| t.point[1].atan2(t.point[0]).abs()).collect();
        assert_eq!(separated.len(), 2, "{turns:?}");
        assert!(separated.iter().all(|a| (a - behind).abs() < 1e-2), "{separated:?}");
        assert!(turns.iter().any(|t| !t.separation && t.point[0] < -0.99), "{turns:?}");
        assert!((curves.cp[0] - curves.points[0][0]).abs() < 1e-15);
    }

    #[test]
    fn friction_of_rounding_has_no_turns() {
        let noise = |a: f64| 1e-11 * (37.0 * a).sin();
        assert!(turns(&curves(&cylinder(noise), &scales(), 2)).is_empty());
        // Creeping flow has one in front, whatever the noise; that behind is where the curve begins.
        let found = turns(&curves(&cylinder(|a| noise(a) - a.sin()), &scales(), 2));
        assert_eq!(found.len(), 1, "{found:?}");
        // It is compared with the pressure: that of slow flow is large.
        let mut surface = cylinder(|a| 1e-6 * (37.0 * a).sin());
        surface.values[0].iter_mut().for_each(|p| *p += 1e5);
        assert!(turns(&curves(&surface, &scales(), 2)).is_empty());
    }

    #[test]
    fn an_open_wall_begins_at_its_end() {
        let n = 5;
        let mut s = Surface { first: vec![0], values: vec![vec![0.0; 2 * n]], ..Surface::default() };
        for k in [3, 0, 4, 1, 2] {
            for x in [0.2, 0.8] {
                s.points.push([k as f64 + x, 0.0, 0.0]);
                s.normals.push([0.0, -1.0, 0.0]);
                s.traction.push([-1.0, 0.3, 0.0]);
            }
            s.first.push(s.points.len());
        }
        let curves = curves(&s, &scales(), 2);
        assert!(curves.points.windows(2).all(|w| w[1][0] > w[0][0]), "{:?}", curves.points);
        assert!(curves.cf.iter().all(|c| (c - 1.0).abs() < 1e-15));
        assert!(turns(&curves).is_empty());
    }
}
