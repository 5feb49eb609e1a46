//! Every mistake in the input has its own message with file, line, column and key, and exit code 2.
//!
//! Results that exist stay untouched.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{Case, PLATE, STREAM, WAVE, refused, refused_among_others, snapshots, with};

#[test]
fn every_snapshot_belongs_to_a_test() {
    assert_eq!(snapshots::without_test(), [""; 0]);
}

#[test]
fn missing_pipeline_file() {
    let case = Case::new(WAVE);
    let outcome = case.dgsuite(&["run", "none.yaml"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("cannot read the pipeline file none.yaml"), "{}", outcome.stderr);
}

#[test]
fn texts_nested_without_end() {
    let deep = format!("x: {}1{}", "{ x: ".repeat(10_000), " }".repeat(10_000));
    let case = with(WAVE, "title: A wave", &deep);
    refused(&case, &[], &["nested in more than 32 levels", "case.yaml:1:"]);
    let case = Case::new(&format!("{WAVE}ci: {{ set: {{ {}x: 1 }} }}\n", "x.".repeat(100)));
    refused(&case, &["--ci"], &["cannot be set: it has more than 32 keys", "case.yaml:9:14"]);
}

#[test]
fn missing_mesh_file() {
    let case = with(WAVE, "generate: { shape: quad, cells: [4, 4] }", "file: nowhere.msh");
    refused(
        &case,
        &[],
        &["nowhere.msh", "no such mesh file", "case.yaml:3:9", "paths are relative to the pipeline file: /"],
    );
}

#[test]
fn truncated_mesh() {
    let case = with(WAVE, "generate: { shape: quad, cells: [4, 4] }", "file: cut.msh");
    let mesh = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
                $Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1";
    std::fs::write(case.path("cut.msh"), mesh).unwrap();
    refused(&case, &[], &["cut.msh", "line 13", "the file ends inside $Nodes", "case.yaml:3:9"]);
    // Cut in the middle of a number.
    std::fs::write(case.path("cut.msh"), format!("{mesh} 0\n0 -")).unwrap();
    refused(&case, &[], &["cut.msh", "line 14", "the file ends inside $Nodes", "is it cut off?"]);
}

#[test]
fn something_that_is_no_mesh() {
    let case = with(WAVE, "generate: { shape: quad, cells: [4, 4] }", "file: case.yaml");
    refused(&case, &[], &["not a Gmsh mesh", "case.yaml:3:9"]);
}

#[test]
fn unknown_keys_with_the_nearest_known_one() {
    let case = with(WAVE, "order: 2", "ordr: 2");
    refused(
        &case,
        &[],
        &["unknown key `ordr` in `space`", "case.yaml:6:10", "^^^^", "did you mean `order`?"],
    );
    let case = with(WAVE, "space:", "spaces:");
    refused(&case, &[], &["unknown key `spaces`", "case.yaml:6:1", "did you mean `space`?"]);
    refused(&Case::new(WAVE), &["--set", "time.ende=2"], &["`ende` in `time`", "command line:1:7", "`end`?"]);
}

#[test]
fn values_of_the_wrong_type() {
    let case = with(WAVE, "order: 2", "order: two");
    let parts = ["`space.order` must be a whole number", "the text `two` was found", "case.yaml:6:17"];
    refused(&case, &[], &parts);
    let case = with(WAVE, "order: 2", "order: 2.5");
    refused(&case, &[], &["`space.order` is 2.5, but must be a whole number", "case.yaml:6:17"]);
    let case = with(WAVE, "order: 2", "order: -1");
    refused(&case, &[], &["`space.order` is -1, but must be a whole number, 0 or more", "case.yaml:6:17"]);
    let case = with(WAVE, "{ end: 0.1 }", "{ steady: { tolerance: 2 } }");
    refused(&case, &[], &["`time.steady.tolerance` is 2, but must be below 1", "case.yaml:8:30"]);
    let case = with(WAVE, "{ end: 0.1 }", "0.1");
    refused(&case, &[], &["`time` must be a section with keys", "the number 0.1 was found", "case.yaml:8:7"]);
    let case = with(WAVE, "velocity: [1, 0.5]", "velocity: fast");
    refused(&case, &[], &["`physics.velocity` must be a list", "case.yaml:5:40"]);
}

#[test]
fn text_that_is_not_yaml_and_keys_given_twice() {
    let case = with(WAVE, "space: { order: 2 }", "space: { order: 2");
    refused(&case, &[], &["this is not valid YAML", "case.yaml:"]);
    let case = with(WAVE, "time:", "space: { order: 3 }\ntime:");
    refused(&case, &[], &["the key `space` is given twice", "case.yaml:8:1"]);
}

#[test]
fn formulas_that_do_not_parse() {
    let case = with(WAVE, "sin(2*pi*(x - t))*cos", "sin(2*pi*(x - t))*coz");
    let parts = ["`initial.exact.u` is not a formula", "unknown function `coz`", "case.yaml:7:42", "`cos`"];
    refused(&case, &[], &parts);
    let case = with(WAVE, "sin(2*pi*(x - t))", "sin(2*pi*(x - t)");
    refused(&case, &[], &["`initial.exact.u`", "parenthesis", "case.yaml:7:"]);
    let case = with(STREAM, "initial: { rho: 1,", "initial: { rho: if(x < 1, 1, 2),");
    refused(&case, &[], &["`initial.rho`", "parenthesis is not closed", "case.yaml:6:", "needs quotes"]);
    let case = with(WAVE, "end: 0.1", "end: 0.1*/2");
    refused(&case, &[], &["`time.end`", "case.yaml:8:", "^"]);
    let case = with(WAVE, "title: A wave", "constants: { a: 1, b: c + 1 }");
    refused(&case, &[], &["`constants.b`", "unknown name `c`", "case.yaml:1:23"]);
}

#[test]
fn sponges_and_forces_that_are_impossible() {
    let physics = |more: &str| with(STREAM, "{ model: euler }", &format!("{{ model: euler, {more} }}"));
    let case = physics("sponge: { rho: 1, u: 0, v: 0, p: 1 }");
    refused(&case, &[], &["`physics.sponge.strength`", "the damping rate", "case.yaml:4:"]);
    let case = physics("sponge: { strength: 1 - x }");
    let parts = ["`physics.sponge.strength` is -1 at (2, 1, 0), but must be a finite number, 0 or more"];
    refused(&case, &[], &parts);
    let case = physics("sponge: { strength: 1 + t }");
    refused(&case, &[], &["`physics.sponge.strength` is not a formula", "`t`", "case.yaml:4:"]);
    let case = physics("sponge: { strength: 1, rho: 1 + t, u: 0, v: 0, p: 1 }");
    refused(&case, &[], &["`physics.sponge` is a state that changes with time", "does not depend on time"]);
    let case = physics("sponge: { strength: 1, rho: -1, u: 0, v: 0, p: 1 }");
    refused(&case, &[], &["`physics.sponge.rho` gives rho = -1", "not a state of a gas"]);
    let case = physics("body_force: [0, 0, -1]");
    refused(&case, &[], &["`physics.body_force` is a vector of 3 numbers", "2 dimensions"]);
    let case = physics("body_force: [0, 1/(x - 2)]");
    refused(&case, &[], &["`physics.body_force.1` is ", "but must be a finite number"]);
    let case = with(WAVE, "velocity: [1, 0.5]", "velocity: [1, 0.5], body_force: [0, 1]");
    refused(&case, &[], &["body_force", "belongs to the model euler or navier-stokes"]);
    let checkpoint = "initial: { restart: old.dgs }";
    let case = with(STREAM, "initial: { rho: 1, u: 0.5, v: 0, p: 1 }", checkpoint);
    let sponge = ["--set", "physics.sponge={ strength: 1 }"];
    refused(&case, &sponge, &["`physics.sponge.exact`", "a checkpoint has none"]);
}

#[test]
fn boundaries_that_are_not_named_or_not_in_the_mesh() {
    let case = with(STREAM, "  xmax: { type: outflow }\n", "");
    refused(&case, &[], &["no condition is given for the boundary `xmax`", "hint: add it to `boundaries`"]);
    let case = with(STREAM, "xmax: { type: outflow }", "xmx: { type: outflow }");
    let list = "boundaries of the mesh: xmin, xmax, ymin, ymax";
    refused(&case, &[], &["the mesh has no boundary `xmx`", "case.yaml:9:3", list, "did you mean `xmax`?"]);
    let case = with(STREAM, "type: outflow", "type: outflw");
    refused(
        &case,
        &[],
        &["`outflw` is not a value of `boundaries.xmax.type`", "case.yaml:9:17", "`outflow`?"],
    );
    let case = with(STREAM, "slip-wall }", "slip-wall, p: 1 }");
    refused(&case, &[], &["unknown key `p` in `boundaries.ymin`", "case.yaml:10:28"]);
}

#[test]
fn periodic_pairs_that_do_not_match() {
    let case = with(WAVE, "[[xmin, xmax], [ymin, ymax]]", "[[xmin, ymax]]");
    let parts = ["the boundaries `xmin` and `ymax` cannot be made periodic", "case.yaml:4:15"];
    refused(&case, &[], &parts);
    let case = with(WAVE, "[ymin, ymax]]", "[ymin, top]]");
    refused(&case, &[], &["the mesh has no boundary `top`", "case.yaml:4:35", "xmin, xmax, ymin, ymax"]);
    let case = with(WAVE, "[[xmin, xmax], [ymin, ymax]]", "[xmin, xmax]");
    refused(&case, &[], &["a pair of boundary names", "case.yaml:4:14"]);
}

#[test]
fn an_inverted_element() {
    // A quadrilateral with crossing sides, which no orientation makes valid.
    let case = with(WAVE, "generate: { shape: quad, cells: [4, 4] }", "file: bow.msh");
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n$EndNodes\n\
                $Elements\n1\n17 3 2 1 1 1 2 3 4\n$EndElements\n";
    std::fs::write(case.path("bow.msh"), mesh).unwrap();
    refused(
        &case,
        &[],
        &["bow.msh", "quadrilateral 17 at (0.500000, 0.500000", "is inverted", "case.yaml:3:9"],
    );
}

#[test]
fn orders_out_of_range() {
    let case = with(WAVE, "order: 2", "order: 11");
    refused(&case, &[], &["`space.order` is 11, but must be from 0 to 10", "case.yaml:6:17"]);
    refused(&Case::new(WAVE), &["--set", "space.order=-1"], &["`space.order` is -1", "command line:1:19"]);
}

#[test]
fn numbers_that_make_no_sense() {
    let case = with(WAVE, "end: 0.1", "end: 0.1, cfl: 0");
    refused(&case, &[], &["`time.cfl` is 0, but must be greater than 0", "case.yaml:8:24"]);
    let case = with(WAVE, "end: 0.1", "end: 0.1, cfl: 1, dt: 1");
    refused(&case, &[], &["`time.cfl` and `time.dt` exclude each other", "case.yaml:8:"]);
    let case = with(WAVE, "end: 0.1", "cfl: 0.5");
    refused(&case, &[], &["`time.end` is missing", "case.yaml:8:"]);
    let case = with(STREAM, "initial: { rho: 1,", "initial: { rho: 1 - x,");
    refused(&case, &[], &["`initial.rho` gives rho = ", "not a state of a gas", "case.yaml:6:17"]);
    let case = with(STREAM, "v: 0, p: 1 }\n  xmax", "v: 0, p: -1 }\n  xmax");
    refused(&case, &[], &["`boundaries.xmin.p` gives p = -1", "case.yaml:8:53"]);
    refused(&with(WAVE, "[4, 4]", "[16, 16]"), &["--set", "mesh.refine=12"], &["elements"]);
    refused(
        &Case::new(WAVE),
        &["--set", "mesh.refine=13"],
        &["`mesh.refine` is 13, but must be from 0 to 12"],
    );
    let case = with(STREAM, "model: euler", "model: euler, gamma: 1");
    refused(&case, &[], &["`physics.gamma` is 1, but must be greater than 1"]);
}

/// Memory of the machine, or a limit of the shell, which has the same effect everywhere.
#[cfg(target_os = "linux")]
#[test]
fn meshes_that_need_more_memory_than_there_is() {
    let check = |sets: &[&str]| {
        let case = Case::new(WAVE);
        let sets: String = sets.iter().map(|set| format!(" --set '{set}'")).collect();
        let command =
            format!("ulimit -v 2000000; exec {} check case.yaml{sets}", env!("CARGO_BIN_EXE_dgsuite"));
        let outcome = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(case.directory.path())
            .output()
            .unwrap();
        (outcome.status.code(), String::from_utf8(outcome.stderr).unwrap())
    };
    assert_eq!(check(&[]).0, Some(0));
    for (sets, parts) in [
        (
            &["mesh.refine=10"][..],
            ["16,777,216 elements of order 2 need about 3", "only 1.91 GiB may be used"],
        ),
        (
            &["mesh.generate.cells=[6000, 6000]", "space.order=10"],
            ["36,000,000 elements of order 10 need about 769", "GiB"],
        ),
        (&["mesh.generate.cells=[1e7, 1e7]"], ["100,000,000,000,000 elements", "TiB of memory"]),
        (&["mesh.generate.cells=[1e9, 1e9]"], ["whole numbers from 1 to 10000000", "mesh.generate.cells"]),
    ] {
        let (code, said) = check(sets);
        assert_eq!(code, Some(2), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
}

#[test]
fn variables_and_solutions_by_wrong_names() {
    let case = with(STREAM, "v: 0, p: 1 }\nboundaries", "v: 0, w: 0, p: 1 }\nboundaries");
    refused(&case, &[], &["unknown key `w` in `initial`", "rho, u, v, p", "case.yaml:6:34"]);
    let case = with(STREAM, "u: 0.5, v: 0, p: 1 }\nboundaries", "u: 0.5, p: 1 }\nboundaries");
    refused(&case, &[], &["`initial.v` is missing", "case.yaml:6:"]);
    let case =
        with(STREAM, "initial: { rho: 1, u: 0.5, v: 0, p: 1 }", "initial: { exact: isentropic-vortx }");
    refused(&case, &[], &["`isentropic-vortx`", "isentropic-vortex", "case.yaml:6:19"]);
    let case = with(
        STREAM,
        "initial: { rho: 1, u: 0.5, v: 0, p: 1 }",
        "initial: { exact: isentropic-vortex, epz: 1 }",
    );
    refused(&case, &[], &["`epz`", "`eps`", "case.yaml:6:43"]);
}

#[test]
fn outputs_monitors_and_checks_by_wrong_names() {
    let more = |text: &str| Case::new(&format!("{STREAM}{text}"));
    let case = more("output: { fields: { names: [Density, Mack] } }\n");
    refused(&case, &[], &["`Mack` is not a value of `output.fields.names`", "case.yaml:13:38", "`Mach`?"]);
    let case = more("monitors: [ { eror: { exact: isentropic-vortex } } ]\n");
    refused(&case, &[], &["unknown key `eror` in `monitors.0`", "case.yaml:13:15", "`error`?"]);
    let case = more("monitors: [ { integral: { fields: [rho*q] } } ]\n");
    refused(&case, &[], &["`monitors.0.integral.fields`", "unknown name `q`", "case.yaml:13:40"]);
    let names = ["known: rho, u, v, p, rho_x,", "x, y, z, t, Density,", " Mach,", " gamma,", " rho_E,"];
    refused(&case, &[], &names);
    let case = more("monitors: [ { probe: { points: [[1, 0.5]], fields: [2*Mack] } } ]\n");
    refused(&case, &[], &["unknown name `Mack`", "did you mean `Mach`?"]);
    let case = more(
        "monitors: [ { integral: { fields: [rho], reference: { file: no.txt, columns: { rho: 2 } } } } ]\n",
    );
    refused(&case, &[], &["`monitors.0.integral.reference.file` is no.txt", "a table that can be read"]);
    let case = more("checks: [ { value: conservation.roh, below: 1 } ]\n");
    refused(&case, &[], &["`conservation.roh`", "case.yaml:13:20", "did you mean `conservation.rho`?"]);
    let case = more("checks: [ { value: conservation.rho, below: 1, above: 0 } ]\n");
    refused(&case, &[], &["exclude each other", "case.yaml:13:48"]);
    let case = more("checks: [ { value: error.l2.rho, below: 1 } ]\n");
    refused(&case, &[], &["`error.l2.rho` is not a value of `checks.0.value`"]);
    let case = more("checks: [ { value: residual.rho, below: 1 } ]\n");
    refused(&case, &[], &["`residual.rho`", "hint: it is recorded by a monitor `residual`"]);
    let case = more("output: { fields: { names: [] } }\n");
    refused(&case, &[], &["`output.fields.names`", "at least one name", "case.yaml:13:28"]);
    let case = more("output: { directory: '' }\n");
    refused(&case, &[], &["`output.directory`", "the path of a directory", "case.yaml:13:22"]);
    let case = more("output: { fields: { every: 1e-12 } }\n");
    refused(&case, &[], &["the times of `output.fields.every` are too many", "case.yaml:13:28"]);
    let case = more(
        "monitors: [ { residual: { every_steps: 2 } }, { probe: { points: [[1, 0.5]], fields: [u], every: 1e-300 } } ]\n",
    );
    refused(&case, &[], &["the times of `monitors.1.probe.every` are too many", "case.yaml:13:98"]);
    let case = more("output: { averages: { every: 1e-300 } }\n");
    refused(&case, &[], &["`output.averages.every`", "every 1e-300 up to", "case.yaml:13:30"]);
    // Within a step of a run that ends after a number of steps.
    let yaml = format!("{STREAM}output: {{ averages: {{ every: 1e-300 }} }}\n");
    let case = with(&yaml, "time: { end: 0.05 }", "time: { steps: 3, dt: 0.01 }");
    refused(&case, &[], &["`output.averages.every`", "up to 0.01 makes", "case.yaml:13:30"]);
    let case = more("monitors: [ { probe: { points: [[1, 0.5], [3, 0]], fields: [u] } } ]\n");
    let parts = ["the point (3.000000, 0.000000, 0.000000) is outside of the mesh", "case.yaml:13:43"];
    refused(&case, &[], &parts);
    let case = more("monitors: [ { probe: { points: [[1]], fields: [u] } } ]\n");
    refused(&case, &[], &["2 numbers, as the mesh has 2 dimensions", "case.yaml:13:33"]);
    let case = more("study: { order: 3 }\n");
    refused(&case, &[], &["`study.order` must be a list", "case.yaml:13:17"]);
    let case = more("study: { order: [1, 2, 11] }\n");
    refused(&case, &[], &["`space.order` is 11", "case.yaml:13:24"]);
}

#[test]
fn results_over_the_file_that_is_run() {
    let case = Case::new(STREAM);
    std::fs::rename(case.path("case.yaml"), case.path("pipeline.yaml")).unwrap();
    for command in ["check", "run"] {
        let outcome = case.dgsuite(&[command, "pipeline.yaml", "--output", "."]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains("would replace the pipeline file"), "{}", outcome.stderr);
    }
    assert_eq!(std::fs::read_to_string(case.path("pipeline.yaml")).unwrap(), STREAM);
}

#[test]
fn restarts_from_nothing() {
    let case = Case::new(STREAM);
    std::fs::create_dir(case.path("empty")).unwrap();
    refused(&case, &["--restart", "empty"], &["cannot restart: empty holds no checkpoint"]);
    refused(&case, &["--restart", "case.yaml"], &["case.yaml is not a checkpoint"]);
    refused(&case, &["--restart", "latest"], &["cannot restart"]);
}

#[test]
fn what_this_version_does_not_have() {
    let case = with(STREAM, "model: euler", "model: rans");
    let sentence = "`physics.model: rans` is not supported by this version";
    refused(&case, &[], &[sentence, "case.yaml:4:19", "hint: the models of this version are"]);
    let case = Case::new(STREAM);
    // No machine has a hundred.
    refused(
        &case,
        &["--device", "cuda:99"],
        &["the device `cuda:99` cannot be used: ", "command line:1:10", "hint: `device: auto` uses the CPU"],
    );
    refused(
        &case,
        &["--set", "physics.velocity=[1,0]"],
        &["`physics.velocity` does not belong to the model euler"],
    );
    refused(&case, &["--set", "solver.cycle=v"], &["`solver` does not belong to the model euler"]);
}

#[test]
fn viscous_flows_that_are_not_complete() {
    let reference = "reference: { mach: 0.2, reynolds: 100, length: 1 }";
    let table: [(&str, &str, &[&str]); 30] = [
        (
            ", reference: { mach: 0.2, reynolds: 100, length: 1 }",
            ", viscosity: { constant: 0.01 }",
            &["p_ref", "`physics.reference: {", "gives this name to the other sections", "case.yaml:"],
        ),
        (
            "length: 1 }",
            "length: 1, direction: [1, 0, 1] }",
            &["`physics.reference.direction` is", "a list of 2 numbers", "case.yaml:4:"],
        ),
        (
            "far-field, rho: rho_ref, u: u_ref, v: 0, p: p_ref",
            "subsonic-inflow, total_pressure: 1.1*p_ref, total_temperature: T_ref, direction: [-1, 0]",
            &["`boundaries.xmin.direction` is a direction out of the domain", "case.yaml:8:"],
        ),
        ("no-slip-wall", "wall", &["`wall` is not a value", "did you mean `no-slip-wall`?", "case.yaml:10:"]),
        (
            ", reference: { mach: 0.2, reynolds: 100, length: 1 }",
            "",
            &["`physics.viscosity` is missing", "case.yaml:4:"],
        ),
        (
            ", length: 1 }",
            " }",
            &["`physics.reference.length` is missing", "the length of the Reynolds number", "case.yaml:4:"],
        ),
        (
            "reynolds: 100, ",
            "",
            &["`physics.reference.reynolds` is missing", "or a `viscosity`", "case.yaml:4:"],
        ),
        ("mach: 0.2, ", "", &["`physics.reference.mach` is missing", "case.yaml:4:"]),
        (
            "mach: 0.2",
            "mach: 0",
            &["`physics.reference.mach` is 0, but must be greater than 0", "case.yaml:4:53"],
        ),
        ("reynolds: 100", "reynolds: -1", &["`physics.reference.reynolds` is -1", "case.yaml:4:68"]),
        (
            reference,
            "viscosity: [0.01]",
            &["`physics.viscosity` must be a number, or a section", "sutherland", "case.yaml:4:45"],
        ),
        (
            reference,
            "viscosity: { constant: -1 }",
            &["`physics.viscosity.constant` is -1, but must be 0 or more"],
        ),
        (
            reference,
            "viscosity: { sutherland: { mu_ref: 1, t_ref: 1, s: 0.4 } }",
            &["`physics.gas_constant` is missing", "depends on the temperature", "case.yaml:4:"],
        ),
        (
            reference,
            "viscosity: { sutherland: { mu_ref: 1, t_ref: 1 } }",
            &["`physics.viscosity.sutherland.s` is missing", "110.4 in kelvin"],
        ),
        (
            "reference: {",
            "viscosity: { sutherland: { s: 110.4 } }, reference: {",
            &[
                "`physics.viscosity.sutherland.s` is 110.4",
                "times the temperature 1",
                "110.4/288.15",
                "case.yaml:4:",
            ],
        ),
        (
            "length: 1 }",
            "length: 1, angle: 400*deg }",
            &["`physics.reference.angle` is 6.98", "between -360*deg and 360*deg", "case.yaml:4:"],
        ),
        (
            "{ steps: 1 }",
            "{ dt: 0.01, steady: { solver: newton } }",
            &["`time.steady.solver` and `time.dt` exclude each other", "case.yaml:12:"],
        ),
        (
            "{ steps: 1 }",
            "{ dt: 0.01, steady: { local_steps: true } }",
            &["`time.dt` and `time.steady.local_steps` exclude each other", "case.yaml:12:"],
        ),
        (
            reference,
            "viscosity: { constant: 1, power: { exponent: 0.7 } }",
            &["`physics.viscosity.constant` and `physics.viscosity.power` exclude each other"],
        ),
        (
            "reference: {",
            "viscosity: { constant: 1 }, reference: {",
            &[
                "`physics.viscosity.constant` and `physics.reference.reynolds` exclude each other",
                "case.yaml:4:",
            ],
        ),
        (
            "temperature: 1.1*T_ref",
            "adiabatic: false",
            &["`boundaries.ymin.temperature` is missing", "as it is not adiabatic", "case.yaml:10:9"],
        ),
        (
            "temperature: 1.1*T_ref",
            "adiabatic: true, temperature: 1",
            &[
                "`boundaries.ymin.adiabatic` and `boundaries.ymin.temperature` exclude each other",
                "case.yaml:10:",
            ],
        ),
        ("temperature: 1.1*T_ref", "velocity: [1, 0, 0]", &["a list of 2 numbers", "case.yaml:10:"]),
        (
            "temperature: 1.1*T_ref",
            "temperature: 0",
            &["`boundaries.ymin.temperature` is 0", "greater than 0"],
        ),
        (
            "temperature: 1.1*T_ref",
            "temperature: x - 10",
            &["`boundaries.ymin.temperature` gives temperature = -", "case.yaml:10:"],
        ),
        (
            "temperature: 1.1*T_ref",
            "velocity: { u: 1 + xx }",
            &["`boundaries.ymin.velocity.u`", "xx", "case.yaml:10:"],
        ),
        ("temperature: 1.1*T_ref", "velocity: { u: 1, w: 1 }", &["a list of 2 numbers", "case.yaml:10:"]),
        (
            "temperature: 1.1*T_ref",
            "rotation: { centre: [0, 0] }",
            &["`boundaries.ymin.rotation.omega` is missing", "the angular velocity"],
        ),
        (
            "temperature: 1.1*T_ref",
            "rotation: { omega: 1, axis: [0, 1] }",
            &["`boundaries.ymin.rotation.axis`", "three dimensions"],
        ),
        (
            "temperature: 1.1*T_ref",
            "velocity: [1, 0], rotation: { omega: 1 }",
            &["`boundaries.ymin.velocity` and `boundaries.ymin.rotation` exclude each other"],
        ),
    ];
    for (old, new, parts) in table {
        // Without the reference state other sections have unknown names, too.
        refused_among_others(&with(PLATE, old, new), &[], parts);
    }
}

#[test]
fn monitors_of_flows_that_are_not_there() {
    let more = |text: &str| Case::new(&format!("{PLATE}{text}"));
    let case = more("monitors: [ { forces: { boundary: ymn } } ]\n");
    refused(&case, &[], &["the mesh has no boundary `ymn`", "case.yaml:13:35", "did you mean `ymin`?"]);
    let case = more("monitors: [ { recirculation: { from: [5, 0.5], to: [6, 0.5] } } ]\n");
    refused(
        &case,
        &[],
        &["the line from (5.000000, 0.500000, 0.000000) to (6.0", "outside of the mesh", "case.yaml:13:38"],
    );
    let case = more("monitors: [ { forces: { every: 1 } } ]\n");
    refused(&case, &[], &["`monitors.0.forces.boundary` is missing", "case.yaml:13:"]);
    let case = more(
        "monitors: [ { forces: { boundary: ymin } } ]\nchecks: [ { value: forces.ymin.dc, below: 1 } ]\n",
    );
    refused(&case, &[], &["`forces.ymin.dc`", "case.yaml:14:20"]);
    let case = more("monitors: [ { recirculation: { from: [0, 0] } } ]\n");
    refused(&case, &[], &["`monitors.0.recirculation.to` is missing"]);
    let case = more("constants: { p_ref: 1 }\n");
    refused(&case, &[], &["`constants.p_ref` and `physics.reference` exclude each other"]);
    // Without a reference state, coefficients have no scales.
    let scales = "reference: { mach: 0.2, reynolds: 100, length: 1 }";
    let yaml = PLATE.replace(scales, "viscosity: { constant: 0.01 }").replace("_ref", "");
    let yaml = yaml
        .replace("rho: rho", "rho: 1")
        .replace("u: u", "u: 1")
        .replace("p: p", "p: 18")
        .replace("1.1*T", "19");
    let case = Case::new(&format!("{yaml}monitors: [ {{ forces: {{ boundary: ymin }} }} ]\n"));
    refused(
        &case,
        &[],
        &["`monitors.0.forces.reference.length` is missing", "or a `physics.reference`", "case.yaml:13:"],
    );
}

#[test]
fn penalties_below_their_bound_are_told() {
    let outcome =
        Case::new(PLATE).dgsuite(&["check", "case.yaml", "--set", "space.viscous={ br2: { eta: 3 } }"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("eta 3 is less than 4, the faces of a quadrilateral"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("dg, modal, order 2, roe flux, weak form, br2"), "{}", outcome.stdout);
}

#[test]
fn means_that_begin_after_the_end_are_told() {
    let monitors =
        "monitors: [ { forces: { boundary: ymin, from: 2 } } ]\noutput: { averages: { from: 3 } }\n";
    let case = Case::new(&format!("{PLATE}{monitors}").replace("{ steps: 1 }", "{ end: 1e-3 }"));
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for key in ["monitors.0.forces.from 2", "output.averages.from 3"] {
        let warning = format!("{key} is not before the end, 0.001: there will be no means");
        assert!(outcome.stdout.contains(&warning), "{}", outcome.stdout);
    }
}

#[test]
fn viscous_choices_of_other_models() {
    let case = with(STREAM, "slip-wall }", "no-slip-wall }");
    refused(&case, &[], &["does not belong to the model euler", "it needs viscosity", "case.yaml:10:"]);
    let case = Case::new(STREAM);
    refused(&case, &["--set", "space.viscous=br2"], &["`space.viscous` does not belong to the model euler"]);
    refused(
        &case,
        &["--set", "physics.prandtl=1"],
        &["`physics.prandtl` does not belong to the model euler"],
    );
    let reference = "physics.reference={ mach: 1, reynolds: 1, length: 1 }";
    refused(
        &case,
        &["--set", reference],
        &["`physics.reference.reynolds` does not belong to the model euler"],
    );
    refused(
        &case,
        &["--set", "physics.source=manufactured"],
        &["`initial.exact` is missing", "command line:1:"],
    );
    let quads = "mesh.generate.shape=quad";
    let split = [
        "--set",
        "physics.source={ rho_E: 1 }",
        "--set",
        quads,
        "--set",
        "space.form=split",
        "--device",
        "cuda",
    ];
    refused(
        &case,
        &split,
        &["the device `cuda:0` cannot be used", "sources without viscous terms in split form"],
    );
    let case = Case::new(PLATE);
    refused(&case, &["--set", "space.viscous=sipdg"], &["`space.viscous: sipdg` is not supported", "br2"]);
    refused(&case, &["--set", "space.viscous={ br2: { eta: 0 } }"], &["`space.viscous.br2.eta` is 0"]);
}

#[test]
fn flux_reconstruction_that_is_none() {
    let case = Case::new(STREAM);
    let fr = |more: &[&str], parts: &[&str]| {
        let mut args = vec!["--set", "space.scheme=fr"];
        more.iter().for_each(|m| args.extend(["--set", m]));
        refused(&case, &args, parts);
    };
    fr(&["space.basis=modal"], &["`space.basis` is modal", "nodal, as `scheme: fr` interpolates fluxes"]);
    fr(&["space.form=weak"], &["`space.form` is weak", "strong, as `scheme: fr` corrects fluxes"]);
    for cubature in ["{volume: 4}", "3p"] {
        let key = format!("space.cubature={cubature}");
        fr(&[&key], &["`space.cubature` does not belong to `scheme: fr`"]);
    }
    fr(&["space.vcjh=ds"], &["`ds` is not a value of `space.vcjh`", "dg, sd, hu"]);
    fr(&["space.vcjh=-1"], &["`space.vcjh` is -1", "a number above -", "the bound of stability"]);
    refused(&case, &["--set", "space.vcjh=sd"], &["`space.vcjh` does not belong to discontinuous Galerkin"]);
}

#[test]
fn split_forms_that_are_none() {
    let case = Case::new(STREAM);
    let split = |more: &[&str], parts: &[&str]| {
        let mut args = vec!["--set", "space.form=split"];
        more.iter().for_each(|m| args.extend(["--set", m]));
        refused(&case, &args, parts);
    };
    split(&["space.basis=modal"], &["`space.basis` is modal", "nodal, as `form: split` uses fluxes"]);
    split(
        &["space.nodes=gauss", "space.basis=nodal"],
        &["`space.nodes` is gauss", "lobatto, as `form: split`"],
    );
    for cubature in ["{volume: 4}", "3p"] {
        let key = format!("space.cubature={cubature}");
        split(&[&key], &["`space.cubature` does not belong to `form: split`"]);
    }
    let known = ["`5p` is not a value of `space.cubature`", "collocated, 2p, 3p, 4p"];
    refused(&case, &["--set", "space.cubature=5p"], &known);
    split(&["space.scheme=fr"], &["`space.form` is split", "strong, as `scheme: fr` corrects fluxes"]);
    split(
        &["space.split_flux=roe"],
        &["`roe` is not a value of `space.split_flux`", "kennedy-gruber, ranocha"],
    );
    split(
        &["device=cuda", "space.order=10"],
        &[
            "the device `cuda:0` cannot be used: GPUs do not have split forms of so high an order in this version",
        ],
    );
    split(
        &["space.dissipation=0.2"],
        &["`space.dissipation` does not belong to `riemann: hllc`", "`riemann: roe-low-mach`"],
    );
    split(&["space.dissipation=1.5", "space.riemann=roe"], &["`space.dissipation` is 1.5", "from 0 to 1"]);
    // The mesh is made of triangles.
    split(&[], &["split forms are for quadrilaterals and hexahedra"]);
    refused(
        &case,
        &["--set", "space.split_flux=ranocha"],
        &["`space.split_flux` does not belong to weak and strong forms"],
    );
}

#[test]
fn overrides_that_lead_nowhere() {
    let case = Case::new(STREAM);
    refused(&case, &["--set", "space.order"], &["`space.order` is not of the form KEY=VALUE"]);
    refused(&case, &["--set", "title.a.b=1"], &["`title.a.b` cannot be set"]);
    refused(&case, &["--set", "space.order=[1"], &["not valid YAML", "command line:1:"]);
}

#[test]
fn usage_errors_end_with_two_as_well() {
    let case = Case::new(WAVE);
    for args in [&["run"][..], &["walk", "case.yaml"], &["run", "case.yaml", "--fast"]] {
        assert_eq!(case.dgsuite(args).code, 2);
    }
    let outcome = case.dgsuite(&["mesh", "info", "none.msh"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("none.msh"), "{}", outcome.stderr);
}
