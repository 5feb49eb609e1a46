//! Adaptive steps: the error estimate, the error as a function of the tolerance, steps that are undone.
#![allow(clippy::unwrap_used)]

use dgsuite_gpu::{Host, HostVector};
use dgsuite_timeint::{Adaptive, Controller, Rhs, Schedule, Scheme, Stage, StepSize, Stepper, from_fn};

const PAIRS: [Scheme; 1] = [Scheme::Rdpk35];

fn vector(values: &[f64]) -> HostVector<f64> {
    HostVector::from_slice(&Host::new(1).unwrap(), values).unwrap()
}

/// A nonlinear oscillator: the plane rotates at the rate r². From (1.5, 0) the angle is 2.25 t.
fn twist() -> impl Rhs<Vector = HostVector<f64>, Error = std::convert::Infallible> {
    from_fn(|_t, u: &HostVector<f64>, du: &mut HostVector<f64>| {
        let r2 = u[0] * u[0] + u[1] * u[1];
        (du[0], du[1]) = (-r2 * u[1], r2 * u[0]);
    })
}

/// The state at the end, the steps taken, and the attempts rejected.
fn run(scheme: Scheme, tolerance: f64, end: f64) -> ([f64; 2], u64, u32) {
    let (mut u, weights) = (vector(&[1.5, 0.0]), vector(&[1.0 / tolerance; 2]));
    let (mut rhs, mut stepper) = (twist(), Stepper::new(scheme, &u).unwrap());
    let schedule = Schedule { end: Some(end), events: vec![0.3 * end], ..Schedule::default() };
    let mut controller = Controller::new(&schedule, StepSize::Cfl(1.0)).unwrap();
    let (mut control, mut rejected) = (Adaptive::new(scheme, 1.0).unwrap(), 0);
    while let Some(step) = controller.plan_size(control.wanted(), f64::INFINITY).unwrap() {
        let Ok(()) = stepper.step(&mut rhs, step.t, step.dt, &mut u);
        let error = stepper.weighted_error(&u, &weights).unwrap();
        if control.judge(step.dt, error) {
            controller.accept(&step);
        } else {
            stepper.undo(&mut u);
            rejected += 1;
        }
    }
    assert_eq!(controller.now().t, end, "the end is landed on to the last bit");
    ([u[0], u[1]], controller.now().step, rejected)
}

/// For `u' = λ u` the two solutions are polynomials in `z = λ dt`.
#[test]
fn the_estimate_is_the_difference_of_the_two_solutions() {
    for scheme in PAIRS {
        let tableau = scheme.tableau();
        let mut embedded = tableau.clone();
        embedded.b = scheme.embedded().unwrap().to_vec();
        let at = |c: &[f64], z: f64| c.iter().rev().fold(0.0, |sum, c| sum * z + c);
        for dt in [0.1, 0.5, 1.0] {
            let (mut u, weights) = (vector(&[2.0, 0.0]), vector(&[7.0, 1.0]));
            let mut decay = from_fn(|_t, u: &HostVector<f64>, du: &mut HostVector<f64>| du[0] = -u[0]);
            let mut stepper = Stepper::new(scheme, &u).unwrap();
            let Ok(()) = stepper.step(&mut decay, 0.0, dt, &mut u);
            let found = stepper.weighted_error(&u, &weights).unwrap();
            let [main, other] = [&tableau, &embedded].map(|t| at(&t.stability_polynomial(), -dt));
            let expected = 7.0 * 2.0 * (main - other).abs();
            assert!((found - expected).abs() < 1e-14, "{scheme}, {dt}: {found} not {expected}");
            assert!((u[0] - 2.0 * main).abs() < 1e-14);
        }
    }
    let mut u = vector(&[1.0, 0.0]);
    let mut stepper = Stepper::new(Scheme::Lserk54, &u).unwrap();
    let Ok(()) = stepper.step(&mut twist(), 0.0, 0.1, &mut u);
    assert_eq!(stepper.weighted_error(&u, &u), None);
}

/// The estimate is of order dt³, the error of a step dt⁴: over many steps the error is proportional to the
/// tolerance, and the step to its cube root.
#[test]
fn the_error_is_in_proportion_to_the_tolerance() {
    for scheme in PAIRS {
        let end: f64 = 4.0;
        let exact = [1.5 * (2.25 * end).cos(), 1.5 * (2.25 * end).sin()];
        let found: Vec<(f64, u64)> = [1e-4, 1e-6, 1e-8]
            .into_iter()
            .map(|tolerance| {
                let (u, steps, rejected) = run(scheme, tolerance, end);
                // The first step is far too large.
                assert!((1..12).contains(&rejected), "{scheme}, {tolerance:e}: {rejected} rejected");
                let error = ((u[0] - exact[0]).powi(2) + (u[1] - exact[1]).powi(2)).sqrt();
                (error / tolerance, steps)
            })
            .collect();
        for pair in found.windows(2) {
            let ratio = pair[1].0 / pair[0].0;
            assert!((0.3..3.0).contains(&ratio), "{scheme}: {found:?}");
            let steps = pair[1].1 as f64 / pair[0].1 as f64;
            assert!((steps / 100f64.cbrt() - 1.0).abs() < 0.15, "{scheme}: {found:?}");
        }
    }
}

/// The oscillator with a limiter: after each stage the second unknown is lowered, by an amount that does
/// not vanish with the step.
struct Limited;

impl Rhs for Limited {
    type Vector = HostVector<f64>;
    type Error = std::convert::Infallible;

    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), Self::Error> {
        twist().eval(t, u, du)
    }

    fn stage(
        &mut self,
        t: f64,
        s: &Stage,
        u: &Self::Vector,
        u0: Option<&Self::Vector>,
        reg: &mut Self::Vector,
        next: &mut Self::Vector,
    ) -> Result<(), Self::Error> {
        twist().stage(t, s, u, u0, reg, next)?;
        next[1] -= 1.0 / 256.0;
        Ok(())
    }
}

/// What a limiter does to the states is no error of the step: from the rates the estimate vanishes with the
/// step, from the states it does not.
#[test]
fn an_estimate_from_rates_ignores_what_a_limiter_does() {
    for scheme in PAIRS {
        let estimate = |limited: bool, from_rates: bool, dt: f64| {
            let (mut u, weights) = (vector(&[1.5, 0.3]), vector(&[1.0, 1.0]));
            let mut stepper = Stepper::new(scheme, &u).unwrap();
            if from_rates {
                stepper.estimate_from_rates().unwrap();
            }
            // The second step shows that the sum begins anew.
            for t in [0.0, dt] {
                let Ok(()) = match limited {
                    true => stepper.step(&mut Limited, t, dt, &mut u),
                    false => stepper.step(&mut twist(), t, dt, &mut u),
                };
            }
            stepper.weighted_error(&u, &weights).unwrap()
        };
        let [states, rates] = [false, true].map(|from_rates| estimate(false, from_rates, 0.1));
        assert!((states - rates).abs() < 1e-14, "{scheme}: {states} and {rates}");
        let [coarse, fine] = [1e-6, 1e-9].map(|dt| estimate(true, true, dt));
        assert!(fine < 2e-3 * coarse && coarse < 1e-6, "{scheme}: {coarse} and {fine}");
        let [coarse, fine] = [1e-6, 1e-9].map(|dt| estimate(true, false, dt));
        assert!(fine > 1e-5 && coarse > 1e-5, "{scheme}: {coarse} and {fine}");
    }
}

/// A right-hand side with a side integral.
struct Tallied {
    rates: [f64; 1],
}

impl Rhs for Tallied {
    type Vector = HostVector<f64>;
    type Error = std::convert::Infallible;

    fn eval(&mut self, t: f64, u: &Self::Vector, du: &mut Self::Vector) -> Result<(), Self::Error> {
        self.rates = [u[0] * u[1] + t];
        twist().eval(t, u, du)
    }

    fn tally(&self) -> &[f64] {
        &self.rates
    }
}

#[test]
fn a_step_that_is_taken_back_was_never_made() {
    for scheme in PAIRS {
        let start = vector(&[1.5, 0.3]);
        let [plain, disturbed] = [false, true].map(|disturb| {
            let (mut u, weights) = (start.clone(), vector(&[1.0, 1.0]));
            let mut rhs = Tallied { rates: [0.0] };
            let mut stepper = Stepper::new(scheme, &u).unwrap();
            for i in 0..9 {
                if disturb && i % 2 == 0 {
                    let Ok(()) = stepper.step(&mut rhs, 0.1 * f64::from(i), 3.0, &mut u);
                    if i % 4 == 0 {
                        stepper.weighted_error(&u, &weights).unwrap();
                    }
                    stepper.undo(&mut u);
                }
                let Ok(()) = stepper.step(&mut rhs, 0.1 * f64::from(i), 0.1, &mut u);
            }
            (u[0].to_bits(), u[1].to_bits(), stepper.integrals()[0].to_bits())
        });
        assert_eq!(plain, disturbed, "{scheme}");
    }
}
