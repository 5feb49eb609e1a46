//! Closures: what does not fit is refused, the plan tells the numbers, runs are stable and continue bit by
//! bit.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{CHANNEL, Case, PLATE, STREAM, number, refused, with};

/// Vortices in a periodic box, on tetrahedra.
const BOX: &str = "\
mesh:
  generate: { shape: tet, min: [0, 0, 0], max: [2*pi, 2*pi, 2*pi], cells: [2, 2, 2] }
  periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]]
physics: { model: navier-stokes, viscosity: 1e-3, closure: wale }
space: { order: 2 }
initial: { exact: taylor-green, mach: 0.2 }
time: { steps: 6 }
output: { fields: none }
monitors:
  - integral: { fields: [{ energy: 0.5*rho*(u^2 + v^2 + w^2) }], every_steps: 1 }
  - probe: { points: [[1, 2, 3]], fields: [rho, u, v, w, p], every_steps: 1 }
";

#[test]
fn closures_that_do_not_fit_are_refused_by_name() {
    let case = with(STREAM, "model: euler", "model: euler, closure: wale");
    refused(&case, &[], &["`physics.closure` does not belong to the model euler", "the model navier-stokes"]);
    let case = with(CHANNEL, "viscosity: 0.1", "viscosity: 0.1, closure: vreman");
    refused(&case, &[], &["`physics.closure` does not belong to", "the model navier-stokes"]);
    let case = Case::new(PLATE);
    let closed = |closure: &str, parts: &[&str]| {
        refused(&case, &["--set", &format!("physics.closure={closure}")], parts);
    };
    closed("sigma", &["`physics.closure: sigma` is not supported", "zero in all flows of two dimensions"]);
    closed(
        "smagorinski",
        &["`smagorinski` is not a value of `physics.closure`", "did you mean `smagorinsky`?"],
    );
    closed("{}", &["`physics.closure.vreman` is missing", "one of smagorinsky, wale, vreman, sigma"]);
    closed("{ wale: {}, vreman: {} }", &["`physics.closure.wale`", "`physics.closure.vreman`"]);
    closed("{ wale: { constant: 0 } }", &["`physics.closure.wale.constant` is 0", "greater than 0"]);
    closed(
        "{ wale: { length: delta - x } }",
        &[
            "`physics.closure.wale.length` is delta - x is",
            "in element",
            "a length, finite and greater than 0",
        ],
    );
    closed("{ wale: { length: 2*h } }", &["`physics.closure.wale.length`", "`h`", "delta"]);
    let case = with(BOX, "closure: wale", "closure: wale, source: manufactured");
    refused(
        &case,
        &[],
        &["`physics.closure: wale`", "a manufactured source does not know the eddy viscosity"],
    );
}

#[test]
fn the_plan_tells_the_closure_its_numbers_and_the_width() {
    // Elements are squares of edge ½, of order 2.
    let said = |closure: &str| {
        let set = format!("physics.closure={closure}");
        let outcome = Case::new(PLATE).dgsuite(&["check", "case.yaml", "--set", &set]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stdout.lines().find(|line| line.starts_with("closure")).unwrap_or_default().to_owned()
    };
    let width = "turbulent Prandtl number 0.9, filter width |E|^(1/2)/(p + 1) = 0.1667";
    assert_eq!(said("vreman"), format!("closure     vreman, constant 0.07, {width}"));
    assert_eq!(
        said("{ wale: { constant: 0.5, length: delta*(1 + y), turbulent_prandtl: 0.7 } }"),
        "closure     wale, constant 0.5, turbulent Prandtl number 0.7, filter width delta*(1 + y) = 0.2083 to 0.2917"
    );
    assert_eq!(said("none"), "");
    let case = Case::new(PLATE);
    case.run(&["--set", "physics.closure=vreman"]);
    let resolved = std::fs::read_to_string(case.path("out/case/pipeline.yaml")).unwrap();
    assert!(resolved.contains("constant: 0.07") && resolved.contains("length: delta"), "{resolved}");
}

/// With a constant fifty times the usual one ν_t is what bounds the step.
#[test]
fn steps_follow_the_eddy_viscosity() {
    let case = with(BOX, "steps: 6", "end: 1");
    let steps = |closure: &str| {
        let summary = case.run(&["--set", &format!("physics.closure={closure}")]);
        let rows = case.table("out/case/monitors/integral.csv");
        let energy: Vec<f64> = rows.iter().map(|row| *row.last().unwrap()).collect();
        assert!(energy.windows(2).all(|pair| pair[1] <= pair[0]), "{closure}: {energy:?}");
        number(&summary, "/time/steps")
    };
    let [usual, giant] = [steps("smagorinsky"), steps("{ smagorinsky: { constant: 8.5 } }")];
    assert!(giant > 10.0 * usual, "{usual} and {giant} steps");
}

#[test]
fn a_restart_continues_bit_by_bit_and_names_other_constants() {
    for precision in ["double", "single"] {
        let case = Case::new(BOX);
        let set = format!("precision={precision}");
        let all = |steps: &str, more: &[&str]| {
            case.run(&[&["--set", &set, "--set", steps], more].concat());
            std::fs::read_to_string(case.path("out/case/monitors/probe.csv")).unwrap()
        };
        let whole = all("time.steps=6", &[]);
        all("time.steps=3", &[]);
        let pieces = all("time.steps=6", &["--restart", "latest"]);
        assert_eq!(whole, pieces, "{precision}");
    }
    let case = Case::new(BOX);
    case.run(&["--set", "time.steps=1"]);
    let outcome =
        case.dgsuite(&["check", "case.yaml", "--restart", "latest", "--set", "physics.closure=sigma"]);
    let text = outcome.stdout + &outcome.stderr;
    assert!(text.contains("closure.wale.constant 0.325 (this run: none)"), "{text}");
}
