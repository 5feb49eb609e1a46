//! Outflows that are not supersonic: there `outflow`, which takes all waves from inside, feeds disturbances.

use dgsuite_physics::Euler;

/// The place of a boundary where the normal velocity is least, relative to the speed of sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowest {
    /// `v·n/c`; negative where gas enters.
    pub mach: f64,
    /// The place.
    pub place: [f64; 3],
}

/// Returns the slowest outflow of a gas at `points` with the outward unit `normals` and the primitive
/// variables `values`, `[variable][point]`; `None` if there are no points, or if all of it is supersonic.
#[must_use]
pub fn slowest(
    gas: Euler,
    points: &[[f64; 3]],
    normals: &[[f64; 3]],
    values: &[Vec<f64>],
) -> Option<Slowest> {
    let (rho, p) = (values.first()?, values.last()?);
    let velocity = &values[1..values.len() - 1];
    let mach = |i: usize| {
        let vn: f64 = velocity.iter().enumerate().map(|(d, v)| v[i] * normals[i][d]).sum();
        vn / (gas.gamma * p[i] / rho[i]).sqrt()
    };
    let all = (0..points.len()).map(|i| Slowest { mach: mach(i), place: points[i] });
    all.filter(|slow| slow.mach < 1.0).min_by(|a, b| a.mach.total_cmp(&b.mach))
}

impl Slowest {
    /// The warning about the boundary `name`; `when` is a time in words.
    #[must_use]
    pub fn warning(&self, name: &str, when: &str, dim: usize) -> String {
        let at: Vec<String> = self.place[..dim].iter().map(|x| format!("{x:.4}")).collect();
        let does = match self.mach {
            mach if mach < -1e-6 => format!("enters at Mach {:.3}", -mach),
            mach if mach < 1e-6 => "does not leave".to_owned(),
            mach => format!("leaves at Mach {mach:.3} only"),
        };
        format!(
            "boundaries.{name}: {when} gas {does} at ({}); `outflow` is for supersonic flow and feeds disturbances \
             where sound can enter: use `pressure-outlet` or `far-field` there, or `symmetry` where nothing crosses",
            at.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Slowest, slowest};
    use dgsuite_physics::Euler;

    const GAS: Euler = Euler { gamma: 1.4 };

    /// The slowest of two points at the speeds `u` along the normal, with the speed of sound 1.
    fn of(u: [f64; 2]) -> Option<Slowest> {
        let points = [[0.0; 3], [1.0, 2.0, 0.0]];
        let p = vec![1.0 / 1.4; 2];
        slowest(GAS, &points, &[[1.0, 0.0, 0.0]; 2], &[vec![1.0; 2], u.to_vec(), vec![9.0; 2], p])
    }

    #[test]
    fn only_supersonic_outflows_pass() {
        assert_eq!(of([1.5, 1.2]), None);
        let found = of([1.5, 0.3]).expect("it is slow");
        assert!((found.mach - 0.3).abs() < 1e-12 && found.place == [1.0, 2.0, 0.0]);
        let text = found.warning("right", "at the start", 2);
        assert!(
            text.contains("boundaries.right: at the start gas leaves at Mach 0.300 only at (1.0000, 2.0000)")
        );
        let back = of([1.5, -0.3]).expect("it enters").warning("right", "at t = 2", 2);
        assert!(back.contains("enters at Mach 0.300"), "{back}");
        assert!(of([2.0, 0.0]).expect("it rests").warning("r", "at t = 2", 2).contains("does not leave"));
    }
}
