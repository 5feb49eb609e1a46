//! Stages: agreement with the Butcher form, side integrals, constants, local steps, errors, precision.
#![allow(clippy::unwrap_used)]

use dgsuite_gpu::{Host, HostVector, Vector};
use dgsuite_timeint::{Rhs, RunningSum, Scheme, Stage, Stepper, from_fn};
use proptest::prelude::*;

type V = HostVector<f64>;

fn vector(values: &[f64]) -> V {
    HostVector::from_slice(&Host::new(1).unwrap(), values).unwrap()
}

/// A coupled nonlinear problem that depends on time.
fn rate(t: f64, u: &[f64], du: &mut [f64]) {
    let n = u.len();
    for i in 0..n {
        du[i] = (u[(i + 1) % n] * (1.0 + t)).sin() - 0.3 * u[i] * u[i] + 0.1 * t;
    }
}

/// One step by the Butcher tableau.
fn butcher_step(scheme: Scheme, t: f64, dt: f64, u: &[f64]) -> Vec<f64> {
    let tableau = scheme.tableau();
    let mut slopes: Vec<Vec<f64>> = Vec::new();
    for (a, c) in tableau.a.iter().zip(&tableau.c) {
        let state: Vec<f64> = (0..u.len())
            .map(|i| u[i] + dt * slopes.iter().zip(a).map(|(k, a)| a * k[i]).sum::<f64>())
            .collect();
        let mut slope = vec![0.0; u.len()];
        rate(t + c * dt, &state, &mut slope);
        slopes.push(slope);
    }
    (0..u.len())
        .map(|i| u[i] + dt * slopes.iter().zip(&tableau.b).map(|(k, b)| b * k[i]).sum::<f64>())
        .collect()
}

/// A problem whose state is drained through a "boundary": ∂t Σu = −(rate through it), and the rate is
/// tallied.
struct Drain {
    rates: [f64; 2],
}

impl Rhs for Drain {
    type Vector = V;
    type Error = std::convert::Infallible;

    fn eval(&mut self, t: f64, u: &V, du: &mut V) -> Result<(), Self::Error> {
        let n = u.len();
        let inflow = 1.0 + (5.0 * t).sin();
        let outflow = u[n - 1] * u[n - 1];
        for i in 0..n {
            let from = if i == 0 { inflow } else { u[i - 1] * u[i - 1] };
            du[i] = from - u[i] * u[i];
        }
        self.rates = [inflow, -outflow];
        Ok(())
    }

    fn tally(&self) -> &[f64] {
        &self.rates
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stages_equal_the_butcher_form(
        u in prop::collection::vec(-1.0..1.0, 2..20), t in 0.0..2.0, dt in 1e-3..0.3, which in 0usize..9,
    ) {
        let scheme = Scheme::ALL[which];
        let mut state = vector(&u);
        let mut rhs = from_fn(|t, u: &V, du: &mut V| rate(t, u, du));
        let mut stepper = Stepper::new(scheme, &state).unwrap();
        let Ok(()) = stepper.step(&mut rhs, t, dt, &mut state);
        for (a, b) in state.iter().zip(butcher_step(scheme, t, dt, &u)) {
            prop_assert!((a - b).abs() < 2e-14, "{scheme}: {a} {b}");
        }
    }

    /// The change of the total equals the side integrals of the fluxes through the ends.
    #[test]
    fn budgets_close_to_rounding(
        u in prop::collection::vec(0.2..1.5, 2..20), dt in 1e-3..0.1, which in 0usize..9, steps in 1usize..40,
    ) {
        let scheme = Scheme::ALL[which];
        let mut state = vector(&u);
        let before = state.sum();
        let mut rhs = Drain { rates: [0.0; 2] };
        let mut stepper = Stepper::new(scheme, &state).unwrap();
        for i in 0..steps {
            let Ok(()) = stepper.step(&mut rhs, i as f64 * dt, dt, &mut state);
        }
        let through: f64 = stepper.integrals().iter().sum();
        prop_assert!(through.abs() > 0.0);
        let scale = before + stepper.integrals()[0];
        prop_assert!((state.sum() - before - through).abs() < 1e-14 * scale * (1.0 + steps as f64).sqrt() * 4.0);
    }

    /// The weights of means add to exactly one: a state at rest does not change, except for one rounding.
    #[test]
    fn constants_stay_constant(value in -1e3..1e3, which in 0usize..9) {
        let scheme = Scheme::ALL[which];
        let mut state = vector(&[value]);
        let mut rest = from_fn(|_, _: &V, du: &mut V| du.fill(0.0));
        let mut stepper = Stepper::new(scheme, &state).unwrap();
        for i in 0..10_000 {
            let Ok(()) = stepper.step(&mut rest, f64::from(i), 1.0, &mut state);
        }
        prop_assert!((state[0] - value).abs() <= 4.0 * f64::EPSILON * value.abs(), "{scheme} {}", state[0] - value);
    }
}

/// A problem that counts calls, can be made to fail, and computes stage and sum in one sweep.
struct Fused {
    calls: usize,
    fail_at: usize,
    kept: Vec<bool>,
}

impl Rhs for Fused {
    type Vector = V;
    type Error = usize;

    fn eval(&mut self, t: f64, u: &V, du: &mut V) -> Result<(), usize> {
        self.calls += 1;
        if self.calls == self.fail_at {
            return Err(self.calls);
        }
        rate(t, u, du);
        Ok(())
    }

    fn stage(
        &mut self,
        t: f64,
        s: &Stage,
        u: &V,
        u0: Option<&V>,
        reg: &mut V,
        next: &mut V,
    ) -> Result<(), usize> {
        let mut du = vec![0.0; u.len()];
        self.eval(t, u, next)?;
        du.copy_from_slice(next);
        for i in 0..u.len() {
            let r = if s.a == 0.0 { s.dt * du[i] } else { s.a * reg[i] + s.dt * du[i] };
            // A register that need not be kept is overwritten with NaN, to check that it is not read.
            reg[i] = if s.keep { r } else { f64::NAN };
            next[i] = u0.map_or(0.0, |u0| s.b * u0[i]) + (1.0 - s.b) * u[i] + s.c * r;
        }
        assert_eq!(u0.is_some(), s.b != 0.0);
        self.kept.push(s.keep);
        Ok(())
    }
}

#[test]
fn a_fused_stage_may_drop_what_is_not_kept() {
    let start = [0.3, -0.8, 0.5];
    for scheme in Scheme::ALL {
        let (mut plain, mut fused) = (vector(&start), vector(&start));
        let mut stepper = Stepper::new(scheme, &plain).unwrap();
        let mut function = from_fn(|t, u: &V, du: &mut V| rate(t, u, du));
        let mut own = Fused { calls: 0, fail_at: 0, kept: Vec::new() };
        let mut own_stepper = Stepper::new(scheme, &fused).unwrap();
        for i in 0..5 {
            let Ok(()) = stepper.step(&mut function, 0.1 * f64::from(i), 0.1, &mut plain);
            own_stepper.step(&mut own, 0.1 * f64::from(i), 0.1, &mut fused).unwrap();
        }
        assert_eq!(own.calls, 5 * scheme.n_stages());
        assert!(plain.iter().zip(fused.iter()).all(|(a, b)| (a - b).abs() < 1e-14), "{scheme}");
        assert!(!own.kept[scheme.n_stages() - 1], "the last register is not read");
    }
}

#[test]
fn an_error_leaves_a_state_of_this_step_and_passes_through() {
    for scheme in Scheme::ALL {
        for fail_at in 1..=scheme.n_stages() {
            let start = [0.3, -0.8, 0.5];
            let mut u = vector(&start);
            let mut rhs = Fused { calls: 0, fail_at, kept: Vec::new() };
            let mut stepper = Stepper::new(scheme, &u).unwrap();
            assert_eq!(stepper.step(&mut rhs, 0.0, 0.1, &mut u), Err(fail_at));
            assert!(u.iter().all(|x| x.is_finite()));
            if scheme.n_vectors() > 3 || fail_at == 1 {
                assert_eq!(&u[..], &start, "{scheme}");
            }
        }
    }
}

/// Local steps are a diagonal factor in front of R.
struct Local {
    scale: V,
}

impl Rhs for Local {
    type Vector = V;
    type Error = std::convert::Infallible;

    fn eval(&mut self, _: f64, u: &V, du: &mut V) -> Result<(), Self::Error> {
        rate(0.0, u, du);
        Ok(())
    }

    fn step_scale(&self) -> Option<&V> {
        Some(&self.scale)
    }
}

#[test]
fn local_steps_scale_the_rate_of_each_unknown() {
    let (start, scale) = ([0.3, -0.8, 0.5], [0.05, 0.1, 0.02]);
    for scheme in Scheme::ALL {
        let (mut u, mut scaled) = (vector(&start), vector(&start));
        let mut local = Local { scale: vector(&scale) };
        let mut by_hand = from_fn(|_, u: &V, du: &mut V| {
            rate(0.0, u, du);
            du.iter_mut().zip(scale).for_each(|(d, s)| *d *= s);
        });
        let mut a = Stepper::new(scheme, &u).unwrap();
        let mut b = Stepper::new(scheme, &u).unwrap();
        for _ in 0..4 {
            let Ok(()) = a.step(&mut local, 0.0, 1.0, &mut u);
            let Ok(()) = b.step(&mut by_hand, 0.0, 1.0, &mut scaled);
        }
        assert!(u.iter().zip(scaled.iter()).all(|(x, y)| (x - y).abs() < 1e-15), "{scheme}");
    }
}

#[test]
fn single_precision_works_alike() {
    let host = Host::new(1).unwrap();
    for scheme in Scheme::ALL {
        let mut u = HostVector::from_slice(&host, &[1.0f32]).unwrap();
        let mut decay = from_fn(|_, u: &HostVector<f32>, du: &mut HostVector<f32>| du[0] = -u[0]);
        let mut stepper = Stepper::new(scheme, &u).unwrap();
        for i in 0..100 {
            let Ok(()) = stepper.step(&mut decay, 0.01 * f64::from(i), 0.01, &mut u);
        }
        assert!((u[0] - (-1.0f32).exp()).abs() < 1e-5, "{scheme}: {}", u[0]);
    }
}

#[test]
fn the_running_sum_reads_only_what_has_a_factor() {
    let mut rhs = from_fn(|t, u: &V, du: &mut V| rate(t, u, du));
    let u = vector(&[0.5, 0.25]);
    let (mut reg, mut next) = (vector(&[0.0; 2]), vector(&[0.0; 2]));
    let stage = Stage { a: 0.0, b: 0.0, c: 1.0, dt: 0.1, keep: true };
    for (r, expected) in [
        (RunningSum { p: 0.0, q: 2.0, d: 0.0 }, vec![1.0, 0.5]),
        (RunningSum { p: 0.0, q: 0.0, d: 0.0 }, vec![0.0, 0.0]),
    ] {
        let mut sum = vector(&[f64::NAN; 2]);
        let Ok(()) = rhs.stage_with_sum(0.0, &stage, &r, &u, None, &mut reg, &mut next, &mut sum);
        assert_eq!(sum.as_slice(), &expected[..]);
    }
}
