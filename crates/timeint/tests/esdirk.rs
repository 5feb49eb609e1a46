//! Implicit steps on problems with a known solution: orders, stiff limits, integrals, failures, control of
//! errors.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::convert::Infallible;

use dgsuite_timeint::{
    Adaptive, Correction, Esdirk, Host, HostVector, ImplicitStepper, StageProblem, Unsolved, Vector,
};

/// `du/dt = R(t, u)` with two unknowns and its Jacobian, solved directly.
struct Two<R, J> {
    rate: R,
    jacobian: J,
    tally: [f64; 1],
    /// The part of each correction that is missing.
    missing: f64,
}

impl<R, J> StageProblem for Two<R, J>
where
    R: Fn(f64, [f64; 2]) -> [f64; 2],
    J: Fn(f64, [f64; 2]) -> [[f64; 2]; 2],
{
    type Vector = HostVector<f64>;
    type Error = Infallible;

    fn rate(&mut self, t: f64, u: &HostVector<f64>, du: &mut HostVector<f64>) -> Result<bool, Infallible> {
        let rate = (self.rate)(t, [u[0], u[1]]);
        (du[0], du[1], self.tally) = (rate[0], rate[1], [rate[0]]);
        Ok(rate.iter().all(|x| x.is_finite()))
    }

    fn tally(&self) -> &[f64] {
        &self.tally
    }

    fn size(&mut self, change: &HostVector<f64>) -> f64 {
        change.norm2()
    }

    fn correct(
        &mut self,
        t: f64,
        h: f64,
        u: &HostVector<f64>,
        r: &HostVector<f64>,
        _tolerance: f64,
        delta: &mut HostVector<f64>,
    ) -> Result<Correction, Infallible> {
        let j = (self.jacobian)(t, [u[0], u[1]]);
        let (a, b, c, d) = (1.0 - h * j[0][0], -h * j[0][1], -h * j[1][0], 1.0 - h * j[1][1]);
        let det = a * d - b * c;
        let det = det / (1.0 - self.missing);
        (delta[0], delta[1]) = ((d * r[0] - b * r[1]) / det, (a * r[1] - c * r[0]) / det);
        Ok(Correction { iterations: 1, solved: true })
    }
}

fn vector(u: [f64; 2]) -> HostVector<f64> {
    HostVector::from_slice(&Host::new(1).unwrap(), &u).unwrap()
}

/// The state at `end` after `n` steps, and the side integral.
fn run<R, J>(scheme: Esdirk, rate: R, jacobian: J, start: [f64; 2], end: f64, n: usize) -> ([f64; 2], f64)
where
    R: Fn(f64, [f64; 2]) -> [f64; 2],
    J: Fn(f64, [f64; 2]) -> [[f64; 2]; 2],
{
    let mut problem = Two { rate, jacobian, tally: [0.0], missing: 0.0 };
    let mut u = vector(start);
    let mut stepper = ImplicitStepper::new(scheme, 1e-13, &u).unwrap();
    let (dt, mut through) = (end / n as f64, 0.0);
    for i in 0..n {
        let Ok(effort) = stepper.step(&mut problem, i as f64 * dt, dt, &mut u);
        assert_eq!(effort.failure, None);
        through += stepper.increments()[0];
    }
    ([u[0], u[1]], through)
}

fn rate_of(errors: [f64; 2]) -> f64 {
    (errors[0] / errors[1]).log2()
}

/// A pendulum of finite amplitude with damping that depends on time.
#[test]
fn orders_are_three_and_four() {
    let rate = |t: f64, u: [f64; 2]| [u[1], -u[0].sin() - 0.3 * t.cos() * u[1]];
    let jacobian = |t: f64, u: [f64; 2]| [[0.0, 1.0], [-u[0].cos(), -0.3 * t.cos()]];
    for scheme in Esdirk::ALL {
        let at = |n| run(scheme, rate, jacobian, [1.0, 0.0], 2.0, n).0;
        let exact = at(640);
        let errors = [20, 40].map(|n| (at(n)[0] - exact[0]).hypot(at(n)[1] - exact[1]));
        let order = rate_of(errors);
        assert!((order - scheme.order() as f64).abs() < 0.25, "{scheme}: {order:.2} {errors:?}");
    }
}

/// Prothero & Robinson, Math. Comp. 28 (1974) 145–162: `y' = λ (y − sin t) + cos t`. With a stiffly accurate
/// scheme whose stages have order two the error falls with the stiffness, whatever the step.
#[test]
fn stiff_directions_follow_their_data() {
    let stiff = |lambda: f64, scheme, n| {
        let rate = move |t: f64, u: [f64; 2]| [lambda * (u[0] - t.sin()) + t.cos(), 0.0];
        let jacobian = move |_: f64, _: [f64; 2]| [[lambda, 0.0], [0.0, 0.0]];
        (run(scheme, rate, jacobian, [0.0, 0.0], 1.0, n).0[0] - 1f64.sin()).abs()
    };
    for scheme in Esdirk::ALL {
        let soft = rate_of([stiff(-1.0, scheme, 10), stiff(-1.0, scheme, 20)]);
        assert!((soft - scheme.order() as f64).abs() < 0.3, "{scheme}: {soft:.2}");
        let errors = [stiff(-1e4, scheme, 10), stiff(-1e7, scheme, 10)];
        assert!(errors[0] < 1e-6 && errors[1] < 2e-3 * errors[0], "{scheme}: {errors:?}");
        // The order in the stiff limit is that of the stages.
        let order = rate_of([stiff(-1e6, scheme, 10), stiff(-1e6, scheme, 20)]);
        assert!(order > 1.8, "{scheme}: {order:.2}");
    }
}

/// What Newton's method leaves in a stiff direction is far smaller than the residual by which it is measured;
/// rates from the right-hand side would have all of it.
#[test]
fn estimates_do_not_contain_what_newton_leaves_in_stiff_directions() {
    let lambda = -1e6;
    let rate = |t: f64, u: [f64; 2]| [lambda * (u[0] - t.sin()) + t.cos(), 0.0];
    let jacobian = |_: f64, _: [f64; 2]| [[lambda, 0.0], [0.0, 0.0]];
    for scheme in Esdirk::ALL {
        let estimate = |tolerance: f64, missing: f64| {
            let mut problem = Two { rate, jacobian, tally: [0.0], missing };
            let mut u = vector([0.0, 0.0]);
            let mut stepper = ImplicitStepper::new(scheme, tolerance, &u).unwrap();
            let Ok(effort) = stepper.step(&mut problem, 0.0, 0.1, &mut u);
            assert_eq!(effort.failure, None);
            stepper.error(0.1).norm2()
        };
        let (exact, loose) = (estimate(1e-9, 0.0), estimate(0.1, 0.1));
        assert!(exact > 1e-8 && (loose / exact - 1.0).abs() < 0.5, "{scheme}: {exact:.1e} {loose:.1e}");
    }
}

/// Van der Pol's oscillator, `y' = z`, `ε z' = (1 − y²) z − y`, from a point near its slow manifold.
#[test]
fn the_slow_variable_of_a_stiff_oscillator_has_the_order_of_the_scheme() {
    let e = 1e-5;
    let rate = move |_: f64, u: [f64; 2]| [u[1], ((1.0 - u[0] * u[0]) * u[1] - u[0]) / e];
    let jacobian =
        move |_: f64, u: [f64; 2]| [[0.0, 1.0], [(-2.0 * u[0] * u[1] - 1.0) / e, (1.0 - u[0] * u[0]) / e]];
    // Hairer & Wanner II, VI.3, the expansion in ε.
    let start = [2.0, -2.0 / 3.0 + 10.0 / 81.0 * e - 292.0 / 2187.0 * e * e];
    for scheme in Esdirk::ALL {
        let at = |n| run(scheme, rate, jacobian, start, 0.5, n).0[0];
        let exact = at(320);
        let order = rate_of([8, 16].map(|n| (at(n) - exact).abs()));
        assert!(order > scheme.order() as f64 - 0.6, "{scheme}: {order:.2}");
    }
}

#[test]
fn side_integrals_have_the_weights_of_the_stages() {
    let rate = |t: f64, u: [f64; 2]| [u[1] + t, -40.0 * u[0] * u[0]];
    let jacobian = |_: f64, u: [f64; 2]| [[0.0, 1.0], [-80.0 * u[0], 0.0]];
    for scheme in Esdirk::ALL {
        let (u, through) = run(scheme, rate, jacobian, [0.5, 1.0], 1.0, 10);
        assert!((u[0] - 0.5 - through).abs() < 1e-11, "{scheme}: {:.1e}", u[0] - 0.5 - through);
    }
}

#[test]
fn a_stage_without_a_solution_leaves_the_state_and_says_why() {
    // Beyond u = 1 nothing is admissible, and the step would lead there.
    let rate = |_: f64, u: [f64; 2]| [if u[0] < 1.0 { 1.0 } else { f64::NAN }, 0.0];
    let mut problem = Two { rate, jacobian: |_: f64, _: [f64; 2]| [[0.0; 2]; 2], tally: [0.0], missing: 0.0 };
    let mut u = vector([0.5, 0.0]);
    let mut stepper = ImplicitStepper::new(Esdirk::Esdirk43, 1e-10, &u).unwrap();
    let Ok(effort) = stepper.step(&mut problem, 0.0, 0.1, &mut u);
    assert_eq!(effort.failure, None);
    let before = [u[0], u[1]];
    let Ok(effort) = stepper.step(&mut problem, 0.1, 10.0, &mut u);
    let failure = effort.failure.unwrap();
    assert_eq!((failure.stage, failure.reason), (2, Unsolved::Inadmissible));
    assert_eq!(before, [u[0], u[1]]);
    // Nor is there a root of u = w + h (1 + u²) for large h.
    let rate = |_: f64, u: [f64; 2]| [1.0 + u[0] * u[0], 0.0];
    let jacobian = |_: f64, u: [f64; 2]| [[2.0 * u[0], 0.0], [0.0, 0.0]];
    let mut problem = Two { rate, jacobian, tally: [0.0], missing: 0.0 };
    let Ok(effort) = stepper.step(&mut problem, 0.0, 10.0, &mut u);
    assert!(matches!(effort.failure.unwrap().reason, Unsolved::Stalled | Unsolved::Slow));
    assert_eq!(before, [u[0], u[1]]);
}

#[test]
fn the_error_that_is_controlled_is_that_of_the_tolerance() {
    // A circle, to which a fast decay leads.
    let rate = |_: f64, u: [f64; 2]| {
        let decay = 1e3 * (1.0 - u[0] * u[0] - u[1] * u[1]);
        [decay * u[0] - u[1], decay * u[1] + u[0]]
    };
    let jacobian = |_: f64, [x, y]: [f64; 2]| {
        let (decay, f) = (1e3 * (1.0 - x * x - y * y), -2e3);
        [[decay + f * x * x, f * x * y - 1.0], [f * x * y + 1.0, decay + f * y * y]]
    };
    for (scheme, most) in [(Esdirk::Esdirk32, 100), (Esdirk::Esdirk43, 40)] {
        let mut problem = Two { rate, jacobian, tally: [0.0], missing: 0.0 };
        let mut u = vector([1.0, 0.0]);
        let mut stepper = ImplicitStepper::new(scheme, 1e-9, &u).unwrap();
        let mut control = Adaptive::of_order(scheme.embedded_order(), 1e-3);
        let (mut t, mut steps) = (0.0, 0);
        while t < 3.0 {
            let dt = control.wanted().min(3.0 - t);
            let Ok(effort) = stepper.step(&mut problem, t, dt, &mut u);
            let error = if effort.failure.is_some() { f64::NAN } else { stepper.error(dt).norm2() / 1e-6 };
            if control.judge(dt, error) {
                (t, steps) = (t + dt, steps + 1);
            } else {
                stepper.undo(&mut u);
            }
        }
        let error = (u[0] - t.cos()).hypot(u[1] - t.sin());
        assert!(error < 1e-5 && steps < most, "{scheme}: {error:.1e} in {steps} steps");
    }
}
