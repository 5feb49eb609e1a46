//! Limiters on several devices wait for the numbers of other ranks' elements, however late these come.

use dgsuite_gpu::shim::EMULATOR_ORDER;

use crate::support::{Case, emulator};
use crate::tables;

/// Gas of high pressure beside gas of low pressure. The jump crosses the cut between two parts, each of which
/// has elements with and without a face on the cut.
const BURST: &str = "\
title: A burst
mesh: { generate: { shape: quad, min: [0, 0], max: [2, 1], cells: [16, 8] } }
physics: { model: euler }
space: { order: 2 }
initial:
  rho: if(x + 0.3*y < 1.1, 1, 0.1)
  u: 0.3
  v: -0.2
  p: if(x + 0.3*y < 1.1, 1, 0.05)
boundaries:
  xmin: { type: outflow }
  xmax: { type: outflow }
  ymin: { type: slip-wall }
  ymax: { type: slip-wall }
time: { steps: 3 }
output: { fields: none, checkpoint: none }
monitors:
  - residual: { every_steps: 1 }
  - limited: { every_steps: 1 }
  - integral: { fields: [rho*rho], every_steps: 1 }
  - sample: { line: { from: [0.7, 0.1], to: [1.3, 0.9], points: 40 }, fields: [rho, p], every_steps: 1 }
";

#[test]
fn limiters_on_two_emulated_devices_wait_for_their_messages() {
    let Some(emulator) = emulator() else { return };
    let case = Case::new(BURST);
    let filter = "space.shock={ entropy-filter: { gate: none } }";
    for limiter in [filter, "space.limiter=barth-jespersen"] {
        let run = |overlap: &str, order: &str| {
            let output = emulator
                .command(env!("CARGO_BIN_EXE_dgsuite"))
                .env(EMULATOR_ORDER, order)
                .env("DGSUITE_OVERLAP", overlap)
                .env("DGSUITE_COMM_TIMEOUT", "60")
                .args(["run", "case.yaml", "--devices", "0,0", "--output", "two", "--overwrite"])
                .args(["--set", limiter])
                .current_dir(case.directory.path())
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            tables(&case, "two")
        };
        let expected = run("0", "");
        let limited = &case.summary("two")["limited"];
        assert!(limited["mean"].as_f64().is_some_and(|share| share > 0.05), "{limiter}: {limited}");
        // Work that no event orders may be done in any order.
        for order in ["old", "new"] {
            assert!(run("1", order) == expected, "{limiter}, order: {order}");
        }
    }
}
