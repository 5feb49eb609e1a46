//! Each scheme's order in time on linear, nonlinear and time-dependent problems with known solutions.
#![allow(clippy::unwrap_used)]

use dgsuite_gpu::{Host, HostVector};
use dgsuite_timeint::{Scheme, Stepper, from_fn};

/// A problem: its right-hand side, its start at t = 0 and its state at t = 1.
struct Problem {
    name: &'static str,
    rate: fn(f64, &[f64], &mut [f64]),
    start: Vec<f64>,
    end: Vec<f64>,
}

fn problems() -> Vec<Problem> {
    vec![
        // u' = -2u: linear, autonomous.
        Problem {
            name: "decay",
            rate: |_, u, du| du[0] = -2.0 * u[0],
            start: vec![1.5],
            end: vec![1.5 * (-2.0f64).exp()],
        },
        // u' = -2 t u²: u = 1 / (1 + t²).
        Problem {
            name: "quadratic",
            rate: |t, u, du| du[0] = -2.0 * t * u[0] * u[0],
            start: vec![1.0],
            end: vec![0.5],
        },
        // u' = 3 u cos(3t + 1): u = exp(sin(3t + 1) - sin 1).
        Problem {
            name: "modulated",
            rate: |t, u, du| du[0] = 3.0 * u[0] * (3.0 * t + 1.0).cos(),
            start: vec![1.0],
            end: vec![(4.0f64.sin() - 1.0f64.sin()).exp()],
        },
        // A damped linear system: u' = A u with eigenvalues -0.5 ± 3i.
        Problem {
            name: "spiral",
            rate: |_, u, du| (du[0], du[1]) = (-0.5 * u[0] - 3.0 * u[1], 3.0 * u[0] - 0.5 * u[1]),
            start: vec![1.0, 0.0],
            end: vec![(-0.5f64).exp() * 3.0f64.cos(), (-0.5f64).exp() * 3.0f64.sin()],
        },
        // A nonlinear oscillator: the plane rotates at the rate r², and r² is constant. From (1.5, 0): angle
        // 2.25 t.
        Problem {
            name: "twist",
            rate: |_, u, du| {
                let r2 = u[0] * u[0] + u[1] * u[1];
                (du[0], du[1]) = (-r2 * u[1], r2 * u[0]);
            },
            start: vec![1.5, 0.0],
            end: vec![1.5 * 2.25f64.cos(), 1.5 * 2.25f64.sin()],
        },
    ]
}

fn error(scheme: Scheme, problem: &Problem, n: usize) -> f64 {
    let host = Host::new(1).unwrap();
    let mut u = HostVector::from_slice(&host, &problem.start).unwrap();
    let mut rhs = from_fn(|t, u: &HostVector<f64>, du: &mut HostVector<f64>| (problem.rate)(t, u, du));
    let mut stepper = Stepper::new(scheme, &u).unwrap();
    let dt = 1.0 / n as f64;
    for i in 0..n {
        let Ok(()) = stepper.step(&mut rhs, i as f64 * dt, dt, &mut u);
    }
    u.iter().zip(&problem.end).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn errors_fall_with_the_order_of_the_scheme() {
    for scheme in Scheme::ALL {
        for problem in problems() {
            let n = if scheme.order() == 4 { 100 } else { 400 };
            let slope = (error(scheme, &problem, n) / error(scheme, &problem, 2 * n)).log2();
            let order = scheme.order() as f64;
            assert!(
                (slope - order).abs() < 0.1,
                "{scheme}, {}: slope {slope:.3} for order {order}",
                problem.name
            );
        }
    }
}

/// A scheme of order q integrates dt-polynomials of degree q − 1 exactly.
#[test]
fn polynomials_in_time_are_integrated_exactly() {
    let host = Host::new(1).unwrap();
    for scheme in Scheme::ALL {
        let degree = scheme.order() as i32 - 1;
        let mut u = HostVector::from_slice(&host, &[0.0]).unwrap();
        let mut rhs = from_fn(|t: f64, _: &HostVector<f64>, du: &mut HostVector<f64>| {
            du[0] = f64::from(degree + 1) * t.powi(degree);
        });
        let mut stepper = Stepper::new(scheme, &u).unwrap();
        for t in [0.0, 1.0] {
            let Ok(()) = stepper.step(&mut rhs, t, 1.0, &mut u);
        }
        assert!((u[0] - f64::powi(2.0, degree + 1)).abs() < 1e-13, "{scheme}: {}", u[0]);
    }
}
