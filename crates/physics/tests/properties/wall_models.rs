//! Wall models: profiles are inverted to rounding, and a wall's friction and heat are those of the profiles.

use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::wall_models::{WallModel, temperature};
use dgsuite_physics::{AboveWall, Euler, ModelledWall, NavierStokes};
use proptest::prelude::*;

fn air(mu: f64) -> NavierStokes {
    let viscosity = Viscosity::Constant { mu };
    NavierStokes { gas: Euler { gamma: 1.4 }, prandtl: 0.71, viscosity, gas_constant: 1.0, closure: None }
}

proptest! {
    /// From the sublayer to y⁺ = 10⁵, and without flow.
    #[test]
    fn reynolds_numbers_give_the_height_in_wall_units(log in -1.0_f64..5.0) {
        let y = 10.0_f64.powf(log);
        for model in WallModel::ALL {
            let u = model.velocity(y);
            let (height, velocity) = model.at(y * u);
            prop_assert!((height / y - 1.0).abs() < 1e-12, "{model:?} {y}: {height}");
            prop_assert!((velocity / u - 1.0).abs() < 1e-12, "{model:?} {y}: {velocity}");
        }
    }

    /// The stress is that of the friction velocity, against the flow along the wall; heat follows Kader.
    #[test]
    fn the_stress_is_that_of_the_profile(
        log in -1.0_f64..4.5,
        angle in 0.0_f64..std::f64::consts::TAU,
        normal in -0.3_f64..0.3,
        rho in 0.5_f64..2.0,
        cold in 0.9_f64..1.2,
    ) {
        let (height, y) = (0.05, 10.0_f64.powf(log));
        let n = [angle.cos(), angle.sin(), 0.0];
        let along = [-angle.sin() * 0.6, angle.cos() * 0.6, 0.8];
        for model in WallModel::ALL {
            for wall in [None, Some(cold)] {
                let t = 1.0;
                let t_w = wall.unwrap_or(t);
                let rho_w = rho * t / t_w;
                // A speed of 1 along the wall.
                let u_tau = 1.0 / model.velocity(y);
                let mu = rho_w * u_tau * height / y;
                let v: [f64; 3] = std::array::from_fn(|d| u_tau * model.velocity(y) * along[d] + normal * n[d]);
                let kinetic = 0.5 * v.iter().map(|v| v * v).sum::<f64>();
                let state = [rho, rho * v[0], rho * v[1], rho * v[2], rho * (t / 0.4 + kinetic)];
                let condition = ModelledWall { model, temperature: wall, velocity: None };
                let data: [f64; 5] = condition.wall_data(&air(mu), &state, &n, height);
                prop_assert!((data[0] / u_tau - 1.0).abs() < 1e-9, "{data:?} {u_tau}");
                for d in 0..3 {
                    let stress = -rho_w * u_tau * u_tau * along[d];
                    prop_assert!((data[1 + d] - stress).abs() < 1e-9 * rho_w * u_tau * u_tau);
                }
                // The difference of temperatures is one of energies.
                let transfer = rho_w * 3.5 * u_tau / temperature(y, 0.71);
                let heat = wall.map_or(0.0, |t_w| transfer * (t - t_w));
                prop_assert!((data[4] + heat).abs() < 1e-8 * transfer, "{} {heat}", data[4]);
                // A wall and a gas that both move have the same stress, which does work.
                let w = [0.3, -0.2, 0.5];
                let both: [f64; 3] = std::array::from_fn(|d| v[d] + w[d]);
                let kinetic = 0.5 * both.iter().map(|v| v * v).sum::<f64>();
                let energy = rho * (t / 0.4 + kinetic);
                let state = [rho, rho * both[0], rho * both[1], rho * both[2], energy];
                let condition = ModelledWall { velocity: Some(w), ..condition };
                let moved: [f64; 5] = condition.wall_data(&air(mu), &state, &n, height);
                let work: f64 = (0..3).map(|d| data[1 + d] * w[d]).sum();
                for k in 0..5 {
                    let expected = data[k] + if k == 4 { work } else { 0.0 };
                    let size = rho_w * u_tau * (1.0 + transfer / rho_w);
                    prop_assert!((moved[k] - expected).abs() < 1e-8 * size, "{k}: {moved:?} {data:?}");
                }
            }
        }
    }
}

#[test]
fn gas_at_rest_has_no_friction() {
    for model in WallModel::ALL {
        let condition = ModelledWall { model, temperature: None, velocity: None };
        let data: [f64; 4] = condition.wall_data(&air(1e-3), &[1.0, 0.0, 0.0, 2.5], &[0.0, -1.0], 0.1);
        assert_eq!(data[1..], [0.0; 3]);
        assert!((0.0..1e-6).contains(&data[0]));
    }
    // Slow flow has the laminar stress.
    let condition = ModelledWall { model: WallModel::Reichardt, temperature: None, velocity: None };
    let data: [f64; 4] = condition.wall_data(&air(1e-3), &[1.0, 1e-8, 0.0, 2.5], &[0.0, -1.0], 0.1);
    assert!((data[1] / (-1e-3 * 1e-8 / 0.1) - 1.0).abs() < 1e-3, "{}", data[1]);
}
