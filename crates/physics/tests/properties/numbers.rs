//! All number types give the same results.

use crate::states::config;
use dgsuite_physics::{Dual, Lanes, Real};
use proptest::prelude::*;

/// Every operation of the trait, in one formula.
fn everything<R: Real>(x: R, y: R) -> R {
    let one = R::lit(1.0);
    let a = x.abs() + one;
    let swap = R::or(R::and(x.lt(y), y.le(one)), R::not(x.le(R::param("two", 2.0))));
    let s = R::select(swap, x.sin() * y.cos(), x.tanh() - y.floor());
    let t = (a.sqrt() + a.ln()) / (one + y.exp()) + a.powf(y) - x.tan().atan2(a);
    s.mul_add(t, x.min(y)) + x.max(y) * a.recip().powi(3) - x.erf()
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn lanes_compute_what_plain_numbers_do(x in prop::array::uniform4(-3.0..3.0f64), y in -3.0..3.0f64) {
        let pack = everything(Lanes(x), Lanes::splat(y));
        for i in 0..4 {
            prop_assert_eq!(pack.0[i].to_bits(), everything(x[i], y).to_bits());
        }
        let single: [f32; 4] = x.map(|x| x as f32);
        let pack = everything(Lanes(single), Lanes::splat(y as f32));
        for i in 0..4 {
            prop_assert_eq!(pack.0[i].to_bits(), everything(single[i], y as f32).to_bits());
        }
    }

    #[test]
    fn dual_numbers_carry_the_plain_value_and_its_slope(x in -2.0..2.0f64, y in 0.1..0.9f64) {
        let f = |x: f64| everything(x, y);
        let d = everything(Dual::variable(x), Dual::constant(y));
        prop_assert!((d.value - f(x)).abs() <= 1e-13 * (1.0 + f(x).abs()));
        let h = 1e-6;
        // Away from 0 and y, where the slope jumps.
        prop_assume!(x.abs() > 2.0 * h && (x - y).abs() > 2.0 * h && x.cos().abs() > 1e-2);
        let slope = (f(x + h) - f(x - h)) / (2.0 * h);
        prop_assert!((d.derivative - slope).abs() <= 1e-6 * (1.0 + slope.abs()), "{} {}", d.derivative, slope);
    }

    #[test]
    fn lanes_of_dual_numbers_differentiate_lane_by_lane(x in prop::array::uniform2(-2.0..2.0f64)) {
        // Hidden from the compiler, which replaces powers with a known exponent by roots, but not everywhere.
        let y = std::hint::black_box(0.5);
        let pack = everything(Dual::variable(Lanes(x)), Dual::constant(Lanes::lit(y)));
        for i in 0..2 {
            let one = everything(Dual::variable(x[i]), Dual::constant(y));
            prop_assert_eq!(pack.derivative.0[i].to_bits(), one.derivative.to_bits());
        }
    }
}
