//! The messages at the end of a run: results, failures with their reasons, progress without a terminal.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use std::fs;
use std::io::IsTerminal as _;
use std::process::Command;
use std::time::Duration;

use dgsuite::job::Job;
use dgsuite::plan::Choices;
use dgsuite::run::log::Log;
use dgsuite::{file::source::Source, pipeline::Document};
use serde_json::{Value, json};
use support::{CHANNEL, Case, PLATE, STREAM, WAVE, with};

/// The position of a part of a text.
#[track_caller]
fn at(text: &str, part: &str) -> usize {
    text.find(part).unwrap_or_else(|| panic!("`{part}` is not in:\n{text}"))
}

#[test]
fn a_run_ends_with_its_answer() {
    let monitors = "monitors: [ { forces: { boundary: ymin } }, { wall: { boundary: ymin } }, { integral: { fields: [rho] } },\n\
        \x20 { recirculation: { from: [0.1, 0.5], to: [1.9, 0.5] } } ]\nchecks: [ { value: forces.ymin.cd, above: -1e9 } ]\n";
    let case = Case::new(&format!("{PLATE}{monitors}"));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let said = &outcome.stdout;
    let steps = at(said, "1 steps to t = ");
    let (forces, wake) =
        (at(said, "\nforces      ymin: cd = "), at(said, "\nwake        length: no reversed flow"));
    let (wall, integral) = (at(said, "\nwall        ymin: cp_min = "), at(said, "\nintegral    rho = "));
    let check = at(said, "\ncheck passed: forces.ymin.cd");
    assert!([wall, integral, forces, wake].iter().all(|&line| steps < line && line < check), "{said}");
    assert_eq!(
        said.trim_end().lines().last().map(|line| line.starts_with("check passed")),
        Some(true),
        "{said}"
    );
    // Norms of the error come after the speed as well.
    let said = Case::new(WAVE).dgsuite(&["run", "case.yaml"]).stdout;
    assert!(at(&said, "results in") < at(&said, "error "), "{said}");
}

#[test]
fn probes_and_samples_are_told_and_where_the_results_are_also_after_a_failure() {
    let case = Case::new(&format!(
        "{STREAM}monitors: [ {{ probe: {{ points: [[0.5, 0.5], [1.5, 0.5]], fields: [p] }} }},\n\
         \x20 {{ sample: {{ points: [[0.5, 0.5], [1.5, 0.5]], fields: [u] }} }} ]\n"
    ));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    for part in
        ["\nprobe       p at 0 = 1, p at 1 = 1, difference = ", "\nsample      u: min = 0.5, max = 0.5, "]
    {
        at(&outcome.stdout, part);
    }
    let steady = "time={steady: {tolerance: 1e-30, max_steps: 1}}";
    let outcome = case.dgsuite(&["run", "case.yaml", "--set", steady, "--set", "initial.v=0.1*sin(x)"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert_eq!(outcome.stdout.matches("results in out/case").count(), 1, "{}", outcome.stdout);
}

/// Forces with their spread come first, in words; set-up, mesh and conditions follow.
#[test]
fn a_report_speaks_in_words() {
    let monitors =
        "monitors: [ { forces: { boundary: ymin, every_steps: 1 } }, { residual: { every_steps: 1 } } ]\n";
    let steady = "time: { steady: { tolerance: 1e-9, max_steps: 12, local_steps: true } }";
    let case = Case::new(&format!("{}{monitors}", PLATE.replace("time: { steps: 1 }", steady)));
    assert_eq!(case.dgsuite(&["run", "case.yaml"]).code, 1, "not steady");
    let summary = case.summary("out/case");
    assert!((support::number(&summary, "/forces/ymin/wetted_area") - 2.0).abs() < 1e-12);
    assert_eq!(summary["mesh"]["boundaries"].as_array().unwrap().len(), 4);
    let date = summary["date"].as_str().unwrap();
    assert!(date.len() == 20 && date.starts_with("20") && date.ends_with('Z'), "{date}");
    case.dgsuite(&["report", "out/case"]);
    let page = fs::read_to_string(case.path("out/case/report.html")).unwrap();
    let parts = [
        date,
        "drag coefficient, ymin</td><td class=\"number\">",
        " (mean of the last 5 rows)",
        "lift coefficient, ymin",
        "wetted area",
        "<h3>Set-up</h3>",
        "br2 with eta",
        "<tr><th>quadrilaterals</th><td class=\"number\">8</td></tr>",
        "<h3>Conditions</h3>",
        "type: pressure-outlet",
        "Force coefficients: ymin",
    ];
    let places: Vec<usize> = parts.iter().map(|part| at(&page, part)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(!page.contains("forces.ymin") && page.contains("12 local steps"), "no paths, no time");
    // With local steps, elements have no common time.
    let curves = fs::read_to_string(case.path("out/case/monitors/forces.svg")).unwrap();
    assert!(curves.contains(">step</text>") && !curves.contains(">time</text>"));
}

/// The counts of a continued run are those of a run that was not stopped; its seconds say where they begin.
#[test]
fn the_summary_of_a_continued_run_is_about_all_of_it() {
    for (yaml, keys) in [
        (CHANNEL.replace("steps: 1", "steps: 4"), &["time", "linear"][..]),
        (WAVE.replace("end: 0.1", "end: 1, adaptive: { tolerance: 1e-6 }"), &["time"]),
    ] {
        let [straight, stopped] = [Case::new(&yaml), Case::new(&yaml)];
        let whole = straight.run(&[]);
        let steps = support::number(&whole, "/time/steps");
        assert!(steps > 2.0, "{whole}");
        stopped.run(&["--set", "time.steps=2"]);
        let outcome = stopped.dgsuite(&["run", "case.yaml", "--restart", "latest"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let part = stopped.summary("out/case");
        for key in keys {
            assert_eq!(part[key], whole[key], "{key}");
        }
        assert_eq!(support::number(&part, "/timing/from_step"), 2.0);
        at(&outcome.stdout, &format!(", {} of them since the restart in ", steps - 2.0));
    }
}

/// The paths of all numbers in a summary, but for a history, whose length is not known before the run.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    if path == "newton.history" {
        return;
    }
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| paths(value, &below(key), found)),
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(k, value)| paths(value, &below(&k.to_string()), found));
        }
        Value::Number(_) => found.push(path.to_owned()),
        _ => {}
    }
}

#[test]
fn a_check_may_name_any_number_of_the_summary() {
    let monitors = "monitors: [ { forces: { boundary: ymin, every_steps: 1, from: 0 } }, { wall: { boundary: ymin } },\n\
        \x20 { residual: {} }, { integral: { fields: [rho], every_steps: 1 } }, { probe: { points: [[0.5, 0.5]], fields: [u] } },\n\
        \x20 { sample: { points: [[0.5, 0.5]], fields: [u] } }, { recirculation: { from: [0.1, 0.5], to: [1.9, 0.5] } } ]\n";
    let poisson = "mesh: { generate: { shape: quad, cells: [4, 4] } }\nphysics: { model: poisson, forcing: 1 }\n\
        space: { order: 2 }\nboundaries: { xmin: { type: dirichlet, u: 0 }, xmax: { type: dirichlet, u: 0 }, \
        ymin: { type: dirichlet, u: 0 }, ymax: { type: dirichlet, u: 0 } }\n";
    let driven = CHANNEL.replace("viscosity: 0.1", "viscosity: 0.1, reference: { velocity: 1, length: 1 }");
    let steady = PLATE.replace("steps: 1", "steady: { tolerance: 0.9, max_steps: 100 }");
    for yaml in
        [format!("{}{monitors}", PLATE.replace("steps: 1", "steps: 3")), steady, poisson.to_owned(), driven]
    {
        let case = Case::new(&yaml);
        let summary = case.run(&[]);
        let mut found = Vec::new();
        paths(&summary, "", &mut found);
        assert!(found.len() > 20, "{found:?}");
        let checks: Vec<Value> = found.iter().map(|path| json!({ "value": path, "above": -1e300 })).collect();
        let outcome = case.dgsuite(&["check", "case.yaml", "--set", &format!("checks={}", json!(checks))]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    }
}

#[test]
fn what_could_not_be_written_is_the_last_that_is_said() {
    let case = Case::new(WAVE);
    let sets = "--set mesh.generate.cells=[16,16] --set space.order=5 --set time.steps=1";
    // Files of more than 16 blocks of 512 bytes cannot be written; the signal for it is ignored.
    let script = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" run case.yaml {sets}");
    let program = env!("CARGO_BIN_EXE_dgsuite");
    let output =
        Command::new("sh").args(["-c", &script, program]).current_dir(case.path("")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let more = "`dgsuite explain results` tells more";
    let last = |text: &str| {
        text.trim_end().strip_suffix(more).unwrap().trim_end().lines().last().unwrap_or_default().to_owned()
    };
    assert!(last(&stderr).starts_with("error[results]: cannot write"), "{stderr}");
    let log = fs::read_to_string(case.path("out/case/log.txt")).unwrap();
    assert!(last(&log).starts_with("error[results]: cannot write"), "{log}");
    assert_eq!(stderr.matches("error[").count(), 1, "{stderr}");
}

#[test]
fn values_that_are_not_finite_are_told_once() {
    let case = Case::new(&format!(
        "{STREAM}output: {{ fields: {{ names: [Density, {{ a: log(u - 1) }}], every: 0.02 }} }}\n\
         monitors: [ {{ integral: {{ fields: [{{ b: log(u - 1) }}, rho], every_steps: 1 }} }} ]\n"
    ));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for part in ["warning: the monitor integral: b is NaN at t = 0 ", "warning: the field a is NaN at t = 0 "]
    {
        assert_eq!(outcome.stderr.matches(part).count(), 1, "{}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("is NaN at").count(), 2, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("b is not finite"), "{}", outcome.stdout);
}

#[test]
fn a_formula_that_turns_not_finite_is_named_with_its_place() {
    let fails = |case: &Case, parts: &[&str]| {
        let outcome = case.dgsuite(&["run", "case.yaml"]);
        assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
        }
        assert!(!outcome.stderr.contains("hint: try a smaller"), "{}", outcome.stderr);
    };
    let case = with(STREAM, "dirichlet, rho: 1,", "dirichlet, rho: 1 + 0*log(0.02 - t),");
    let parts =
        ["`boundaries.xmin.rho` is NaN at (0.000000, ", ") at time ", " --> case.yaml:8:33", "^^^^^^^^^^"];
    fails(&case, &parts);
    let case = with(STREAM, "type: outflow", "type: pressure-outlet, p: sqrt(1 - 50*t)");
    fails(&case, &["`boundaries.xmax.p` is NaN at (2.000000, ", " --> case.yaml:9:37"]);
    let case = with(STREAM, "model: euler", "model: euler, source: { rho_E: sqrt(0.02 - t) }");
    fails(&case, &["`physics.source.rho_E` is NaN at (", " --> case.yaml:4:43"]);
}

#[test]
fn a_factor_of_zero_does_not_hide_a_state_that_is_none() {
    let case = with(STREAM, "initial: { rho: 1,", "initial: { rho: 1 + 0*log(-1 - x),");
    support::refused(&case, &[], &["`initial.rho` gives rho = NaN", "case.yaml:6:17"]);
}

#[test]
fn a_run_without_a_terminal_tells_its_progress_in_lines() {
    if std::io::stderr().is_terminal() {
        println!("SKIPPED: standard error is a terminal, which shows a bar");
        return;
    }
    let results = tempfile::tempdir().unwrap();
    let yaml = WAVE.replace("end: 0.1", "end: 0.1, dt: 0.01");
    let document =
        Document::parse(&Source::new("wave.yaml", yaml), results.path(), "wave", false, &[]).unwrap();
    let mut log = Log::new(false).with_lines_every(Duration::ZERO);
    Job::new(&document, &Choices::default()).unwrap().execute(&mut log).unwrap();
    let text = fs::read_to_string(results.path().join("out/wave/log.txt")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" %  step ")).collect();
    assert!(lines.len() > 2 && lines.iter().all(|line| line.contains("residual")), "{text}");
}

#[test]
fn names_that_spreadsheets_run_as_formulas_are_refused_and_signs_of_formulas_quoted() {
    for (number, name) in ["=cmd|' /C calc'!A0", "+1", "-x", "@SUM(1)"].into_iter().enumerate() {
        let refused = |text: &str, place: &str| {
            let outcome = Case::new(&format!("{STREAM}{text}\n")).dgsuite(&["check", "case.yaml"]);
            assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
            let expected = "a name that does not begin with =, +, - or @";
            assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
            assert!(outcome.stderr.contains(place), "{}", outcome.stderr);
        };
        let monitors = [
            "integral: { fields: [FIELD], every_steps: 1 }",
            "probe: { points: [[1, 0.5]], fields: [FIELD], every_steps: 1 }",
            "sample: { from: [0, 0.5], to: [1, 0.5], count: 2, fields: [FIELD] }",
        ];
        let field = format!("{{ \"{name}\": rho }}");
        let monitor = monitors[number % 3].replace("FIELD", &field);
        refused(&format!("monitors: [ {{ {monitor} }} ]"), "case.yaml:13:");
        // A line of `export` has these names.
        refused(&format!("output: {{ fields: {{ names: [{field}] }} }}"), "case.yaml:13:");
    }
    let case =
        Case::new(&format!("{STREAM}monitors: [ {{ integral: {{ fields: [-u], every_steps: 1 }} }} ]\n"));
    case.run(&[]);
    let table = fs::read_to_string(case.path("out/case/monitors/integral.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("step,time,\"-u\""));
    // The picture and a continued run recognise the column.
    assert!(fs::read_to_string(case.path("out/case/monitors/integral.svg")).unwrap().contains("-u"));
    case.run(&["--restart", "latest", "--set", "time.end=0.06"]);
    let line = ["export", "out/case", "--line", "0,0.5 2,0.5", "--points", "3"];
    let refused = case.dgsuite(&[&line[..], &["--field", "@x=rho"]].concat());
    assert!(refused.code == 2 && refused.stderr.contains("does not begin with"), "{}", refused.stderr);
    let written = case.dgsuite(&[&line[..], &["--field", "a, b=rho", "-o", "l.csv"]].concat());
    assert_eq!(written.code, 0, "{}", written.stderr);
    let table = fs::read_to_string(case.path("l.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("s,x,y,\"a, b\""));
}

/// Velocity and pressure have no value where the exact density is 0.
#[test]
fn errors_without_a_value_are_left_out_with_the_reason() {
    let exact = "exact: { rho: \"if(t > 0, if(x > 1, 0, 1), 1)\", u: 0.5, v: 0, p: 1 }";
    let case = Case::new(&format!(
        "{}checks: [ {{ value: error.linf.u, below: 1 }} ]\n",
        STREAM.replace("rho: 1, u: 0.5, v: 0, p: 1 }\nbound", &format!("{exact} }}\nbound"))
    ));
    let outcome = case.dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 1, "a norm without a value meets no limit: {}", outcome.stdout);
    let why = "no error of u, v, p: they are not defined where the density of the exact solution or of the result is 0";
    assert!(outcome.stdout.contains(why) && !outcome.stdout.contains("NaN"), "{}", outcome.stdout);
    let error = &case.summary("out/case")["error"];
    assert!(error["linf"]["u"].is_null() && error["linf"]["rho"].is_number(), "{error}");
}

#[test]
fn vorticity_in_the_plane_has_one_component() {
    let case = Case::new(&format!("{PLATE}output: {{ fields: {{ names: [Vorticity, Velocity] }} }}\n"));
    case.run(&[]);
    let file = fs::read(case.path("out/case/fields/fields_000001.vtu")).unwrap();
    let text = String::from_utf8_lossy(&file);
    for (name, components) in [("Vorticity", 1), ("Velocity", 3)] {
        at(&text, &format!("Name=\"{name}\" NumberOfComponents=\"{components}\""));
    }
}
