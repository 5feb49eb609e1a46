//! The order of backward differences with extrapolation, with and without a graded start.

use dgsuite_timeint::Multistep;

/// The error at about `t = 1` of `u' = −u − u²`, `u(0) = 1`, with the square extrapolated.
fn error(order: usize, graded: bool, dt: f64) -> f64 {
    let mut steps = Multistep::new(order, graded);
    let (mut past, mut t) = ([1.0f64, 0.0, 0.0], 0.0);
    while t < 1.0 - 0.5 * dt {
        let dt = steps.next_size(dt);
        let w = steps.weights(dt);
        let right: f64 = (0..3).map(|i| w.alpha[i] * past[i] - dt * w.beta[i] * past[i] * past[i]).sum();
        past = [right / (w.gamma + dt), past[0], past[1]];
        steps.accept(dt);
        t += dt;
    }
    (past[0] - 1.0 / (2.0 * t.exp() - 1.0)).abs()
}

fn rate(order: usize, graded: bool) -> f64 {
    (error(order, graded, 0.01) / error(order, graded, 0.005)).log2()
}

#[test]
fn a_graded_start_keeps_the_order_that_equal_first_steps_lose() {
    for order in 1..=3 {
        let rate = rate(order, true);
        assert!((rate - order as f64).abs() < 0.2, "order {order}: rate {rate}");
    }
    let rate = rate(3, false);
    assert!((rate - 2.0).abs() < 0.2, "the first step limits order 3 to 2: rate {rate}");
}
