//! Properties of derived fields and reference states.

use crate::fields::*;
use crate::states::*;
use dgsuite_physics::derived;
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::reference::{ReferenceError, ReferenceState, Scales, ViscosityModel};
use proptest::prelude::*;

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn rotation_and_strain_come_from_the_slopes_of_velocity(f in field()) {
        let (u, grad) = f.conserved::<3, 5>();
        let s = |d: usize, i: usize| f.slopes[d][1 + i]; // ∂v_i/∂x_d
        let size = 1e-12 * (1.0 + f.gas.v.iter().map(|v| v.abs()).sum::<f64>());
        let w = derived::vorticity(&u, &grad);
        let expected = [s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0)];
        for d in 0..3 {
            prop_assert!((w[d] - expected[d]).abs() < size);
        }
        let mut q = 0.0;
        for d in 0..3 {
            for i in 0..3 {
                let (spin, strain) = (0.5 * (s(d, i) - s(i, d)), 0.5 * (s(d, i) + s(i, d)));
                q += 0.5 * (spin * spin - strain * strain);
            }
        }
        prop_assert!((derived::q_criterion(&u, &grad) - q).abs() < 10.0 * size);
        // In two dimensions only the third component is not zero.
        let (u, grad) = f.conserved::<2, 4>();
        let w = derived::vorticity(&u, &grad);
        prop_assert!(w[0] == 0.0 && w[1] == 0.0 && (w[2] - expected[2]).abs() < size);
    }

    #[test]
    fn mach_temperature_and_entropy(g in gas()) {
        let u = g.state::<3, 5>();
        let digits = 1e-13 * (10.0 + u[4] / g.p);
        let speed = dot(&g.v, &g.v).sqrt();
        prop_assert!((derived::mach(&GAS, &u) / (speed / g.c()) - 1.0).abs() < digits);
        prop_assert!((derived::temperature::<_, 3, 5>(&GAS, 2.0, &u) / (0.5 * g.p / g.rho) - 1.0).abs() < digits);
        prop_assert!((derived::entropy::<_, 3, 5>(&GAS, &u) - (g.p / g.rho.powf(1.4)).ln()).abs() < digits);
    }

    #[test]
    fn reference_states_have_their_mach_and_reynolds_number(
        mach in 0.01..2.0f64, reynolds in 1.0..1e6f64, length in 0.1..10.0f64, t in 200.0..400.0f64,
    ) {
        let air = Scales::Dimensional { temperature: t, gas_constant: 287.0, mu: 1.8e-5 };
        let sutherland = ViscosityModel::Sutherland { s_over_t: 110.4 / t };
        for scales in [Scales::Unit, air] {
            let r = ReferenceState::new(GAS, 0.72, mach, reynolds, length, scales, sutherland).unwrap();
            let (rho, v, p) = r.primitive([0.6, 0.8, 0.0]);
            let u = Gas { rho, v, p }.state::<2, 4>();
            prop_assert!((derived::mach::<_, 2, 4>(&GAS, &u) / mach - 1.0).abs() < 1e-12);
            prop_assert!((rho * r.speed * length / r.mu / reynolds - 1.0).abs() < 1e-12);
            // Viscosity and temperature of the equations at the free stream are the derived ones.
            let e = p / (rho * (GAS.gamma - 1.0));
            prop_assert!((r.equations.temperature(e) / r.temperature - 1.0).abs() < 1e-12);
            prop_assert!((r.equations.viscosity_at(e) / r.mu - 1.0).abs() < 1e-12);
            prop_assert!(r.derived().iter().all(|(_, value, _)| *value > 0.0 && value.is_finite()));
        }
    }
}

#[test]
fn friction_pulls_a_wall_along() {
    // The velocity of a gas above a wall at y = 0 increases with y; its normal points into the wall.
    let (rho, p) = (1.0, 2.0);
    let u = [rho, 0.0, 0.0, p / (GAS.gamma - 1.0)];
    let grad = [[0.0; 4], [0.0, 3.0, 0.0, 0.0]];
    let (pressure, friction) = derived::wall_force(&CONSTANT, &u, &grad, &[0.0, -1.0]);
    assert!((pressure[0] - 0.0).abs() < 1e-15 && (pressure[1] + p).abs() < 1e-14);
    assert!((friction[0] - 3.0 * MU).abs() < 1e-14 && friction[1].abs() < 1e-14);
}

#[test]
fn reference_states_that_make_no_sense_are_refused() {
    let make = |mach, reynolds, length| {
        ReferenceState::new(GAS, 0.72, mach, reynolds, length, Scales::Unit, ViscosityModel::Constant)
    };
    assert!(make(0.1, 100.0, 1.0).is_ok());
    let name = |r: Result<ReferenceState, ReferenceError>| match r.unwrap_err() {
        ReferenceError::NotAbove { name, .. } => name,
    };
    assert_eq!(name(make(0.0, 100.0, 1.0)), "mach");
    assert_eq!(name(make(0.1, f64::NAN, 1.0)), "reynolds");
    assert_eq!(name(make(0.1, 100.0, -1.0)), "length");
    let unit = make(0.1, 100.0, 2.0).unwrap();
    assert_eq!(unit.equations.viscosity, Viscosity::Constant { mu: 0.02 });
    assert_eq!((unit.density, unit.speed, unit.temperature), (1.0, 1.0, 1.0));
}
