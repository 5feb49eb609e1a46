//! Restarts on several ranks with other settings have the bits of those on one, or are refused once.

use crate::support::Case;
use crate::{alone, on_ranks, same_checkpoint, tables};

/// Thin cells at a wall, an open end and a temperature.
const CHANNEL: &str = "\
title: A channel that is restarted
mesh:
  generate: { shape: tri+quad, max: [3, 1], cells: [6, 4] }
  map: { order: 1, x: x, y: 0.05*y + 0.95*y^3 }
physics: { model: incompressible, viscosity: 0.02, temperature: { diffusivity: 0.03 } }
space: { order: 3 }
initial: { u: y*(2 - y), v: 0.02*sin(3*x)*y, T: y }
boundaries:
  xmin: { type: dirichlet, u: y*(2 - y), v: 0, T: y }
  xmax: { type: outflow }
  ymin: { type: no-slip-wall, temperature: 0 }
  ymax: { type: symmetry }
time: { dt: 0.01, steps: 4 }
output: { fields: none, checkpoint: { every_steps: 2, keep: 3 } }
monitors:
  - integral: { fields: [u*u + v*v, T, p], every_steps: 1 }
";

const GAS: &str = "\
title: A gas that is restarted
mesh: { generate: { shape: tri+quad, cells: [6, 6] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: navier-stokes, viscosity: 0.01 }
space: { order: 3 }
initial: { rho: 1 + 0.1*sin(6.283185307179586*x), u: 0.5, v: 0.2, p: 1 }
time: { dt: 1e-3, steps: 4 }
output: { fields: none, checkpoint: { every_steps: 2, keep: 3 } }
monitors: [ { integral: { fields: [rho, p], every_steps: 1 } } ]
";

/// Restarts step 2 of three ranks with each set of settings, on one rank and on two.
fn same_restarts(text: &str, others: &[&[&str]]) -> Option<Case> {
    let case = Case::new(text);
    let output = on_ranks(&case, 3, &["--output", "three", "--set", "threads=1"])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let from = case.path("three/checkpoints/step-00000002.dgs").display().to_string();
    for other in others {
        let mut args = vec!["--restart", &from, "--set", "threads=1"];
        other.iter().for_each(|set| args.extend(["--set", *set]));
        alone(&case, &[&args[..], &["--output", "one"]].concat());
        let output = on_ranks(&case, 2, &[&args[..], &["--output", "two"]].concat())?;
        assert!(output.status.success(), "{other:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(tables(&case, "two"), tables(&case, "one"), "{other:?}");
        let file = |results: &str| case.path(results).join("checkpoints/step-00000004.dgs");
        same_checkpoint(&file("one"), &file("two"), &format!("{other:?}"));
    }
    Some(case)
}

#[test]
fn incompressible_flow_restarts_on_ranks_with_other_settings_as_on_one() {
    let pressure_correction = ["time.scheme=bdf2", "time.splitting=pressure-correction"];
    let others: [&[&str]; 4] = [
        &["space.order=2", "time.subcycles=2"],
        &["space.order=4", "physics.viscosity=0.03"],
        &["time.dt=0.007", "space.pressure_order=lower"],
        &pressure_correction,
    ];
    let Some(case) = same_restarts(CHANNEL, &others) else { return };
    // Without the temperature.
    let text = CHANNEL
        .replace(", temperature: { diffusivity: 0.03 }", "")
        .replace(", T: y }", " }")
        .replace(", temperature: 0 }", " }")
        .replace(", T, p]", ", p]");
    std::fs::write(case.path("case.yaml"), text).unwrap();
    let from = case.path("three/checkpoints/step-00000002.dgs").display().to_string();
    let Some(output) = on_ranks(&case, 2, &["--restart", &from, "--output", "two"]) else { return };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let sentence = "a number of scalars, the temperature included, of 1, but this run has 0";
    assert_eq!((output.status.success(), errors.matches(sentence).count()), (false, 1), "{errors}");
    assert!(errors.contains("model: incompressible"), "{errors}");
}

#[test]
fn a_gas_restarts_on_ranks_with_other_settings_as_on_one() {
    let others: [&[&str]; 4] = [
        &["space.order=2", "time.scheme=rk4"],
        &["space.order=4", "time.dt=2e-4"],
        &["time.scheme=esdirk32"],
        &["precision=single", "mesh.partition=curve"],
    ];
    same_restarts(GAS, &others);
}
