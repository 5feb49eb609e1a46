//! The hints of messages are correct and useful, and valid input gives no message.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use serde_json::{Value, json};
use support::{Case, PLATE, STREAM, WAVE, number, refused, snapshots, with};

/// Runs `check` on the case with overrides, which must end with 2; returns its message.
#[track_caller]
fn message(case: &Case, sets: &[&str]) -> String {
    let mut args = vec!["check", "case.yaml"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    let outcome = case.dgsuite(&args);
    assert_eq!(outcome.code, 2, "{}{}", outcome.stdout, outcome.stderr);
    snapshots::compare(case.directory.path(), &outcome.stderr);
    outcome.stderr
}

/// The message contains all of `parts` and none of `not`.
#[track_caller]
fn says(case: &Case, sets: &[&str], parts: &[&str], not: &[&str]) {
    let text = message(case, sets);
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    for part in not {
        assert!(!text.contains(part), "`{part}` is in:\n{text}");
    }
}

#[test]
fn an_angle_says_its_unit() {
    let angle = |value: &str| with(PLATE, "length: 1 }", &format!("length: 1, angle: {value} }}"));
    for value in ["2", "-2.5", "45"] {
        let parts = ["does not say whether degrees or radians are meant", "case.yaml:4:"];
        refused(&angle(value), &[], &[&parts[..], &[&format!("hint: write {value}*deg")]].concat());
    }
    let reference = |value: &str| {
        let outcome = angle(value).dgsuite(&["check", "case.yaml"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stdout.lines().find(|line| line.starts_with("reference")).unwrap().to_owned()
    };
    assert_eq!(reference("30*deg"), reference("pi/6"));
    assert!(reference("30*deg").contains("v_ref 0.5"), "{}", reference("30*deg"));
    assert!(reference("0").contains("v_ref 0,"), "{}", reference("0"));
}

#[test]
fn words_that_are_offered_are_there() {
    let (stream, plate, wave) = (Case::new(STREAM), Case::new(PLATE), Case::new(WAVE));
    for scheme in ["euler", "bdf2", "crank-nicolson"] {
        let set = format!("time.scheme={scheme}");
        says(
            &stream,
            &[&set],
            &["is not supported", "hint: schemes are explicit", "lserk54"],
            &["incompressible", "bdf1"],
        );
    }
    says(&stream, &["time.scheme=rk5"], &["expected one of: rk2"], &["bdf"]);
    says(
        &stream,
        &["time.subcycles=2"],
        &["does not belong to the model euler", "the model incompressible"],
        &[],
    );
    says(
        &stream,
        &["space.shock=artificial-viscosity"],
        &["hint: this version captures shocks by `shock: entropy-filter`"],
        &["barth"],
    );
    says(&stream, &["device=gpu"], &["did you mean `cuda`?"], &["`cpu`?"]);
    says(&stream, &["boundaries.ymin.type=wall"], &["did you mean `slip-wall`?"], &["no-slip"]);
    says(&plate, &["boundaries.ymin.type=wall"], &["did you mean `no-slip-wall`?"], &[]);
    says(&stream, &["boundaries.ymin.type=periodic"], &["hint: join two boundaries by `mesh.periodic"], &[]);
    let inlet = ["mesh.periodic=[[ymin, ymax]]", "boundaries={xmin: {type: inlet}}"];
    says(&wave, &inlet, &["did you mean `dirichlet`?"], &["subsonic-inflow"]);
    says(&stream, &["physics.viscosity={constant: 1}"], &["the model navier-stokes or incompressible"], &[]);
    says(&plate, &["space.viscous=ip"], &["expected one of: br2"], &["sipdg"]);
    says(&stream, &["physics.model=eulr"], &["did you mean `euler`?"], &["rans"]);
}

#[test]
fn messages_quote_the_table_of_keys() {
    let case = Case::new(STREAM);
    says(
        &case,
        &["space.cfl=1"],
        &["unknown key `cfl`", "known keys: order, scheme", "`cfl` is a key of `time`"],
        &[],
    );
    says(
        &case,
        &["mesh.colour=red"],
        &["known keys: file, generate", "hint: `dgsuite keys mesh` explains it"],
        &[],
    );
    says(
        &case,
        &["space.order=two"],
        &[
            "= space.order: whole number from 0 to 10; default: 3",
            "hint: `dgsuite keys space.order` explains it",
        ],
        &[],
    );
    says(&case, &["monitors=[{ probe: { fields: u } }]"], &["`dgsuite keys monitors.0.probe.fields`"], &[]);
    says(&case, &["ci.set.time.steps=1"], &["`ci.set.time.steps` does not belong to overrides"], &[]);
    for (path, part) in [("space.ordr", "did you mean `space.order`?"), ("nothing.like.it", "has no key")] {
        let outcome = case.dgsuite(&["keys", path]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let outcome = case.dgsuite(&["keys", "monitors.0.probe.fields"]);
    assert!(
        outcome.code == 0 && outcome.stdout.starts_with("monitors[].{probe,sample}.fields  ["),
        "{}",
        outcome.stdout
    );
}

#[test]
fn names_that_yaml_reads_as_comments_are_shown_in_quotes() {
    // Gmsh numbers groups without a name.
    let case =
        with(STREAM, "generate: { shape: tri, min: [0, 0], max: [2, 1], cells: [4, 2] }", "file: plain.msh");
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n\
                $Elements\n4\n1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n3 1 2 1 1 3 1\n4 2 2 2 1 1 2 3\n$EndElements\n";
    std::fs::write(case.path("plain.msh"), mesh).unwrap();
    says(&case, &["boundaries={}"], &["the boundary `#1`", "\"#1\": { type: outflow }"], &[]);
    let outcome = case.dgsuite(&["check", "case.yaml", "--set", "boundaries={\"#1\": { type: outflow }}"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}

#[test]
fn scales_of_forces_say_what_the_reference_state_lacks() {
    let case = Case::new(&format!("{STREAM}monitors: [ {{ forces: {{ boundary: ymin }} }} ]\n"));
    says(
        &case,
        &["physics.reference={mach: 0.5}"],
        &[
            "`monitors.0.forces.reference.length` is missing",
            "here or in `physics.reference`, which has none",
        ],
        &[],
    );
    says(
        &case,
        &["monitors.forces.reference={mach: 0.5}"],
        &["`monitors.0.forces.reference.mach` does not belong", "it belongs to `physics.reference`"],
        &[],
    );
}

#[test]
fn names_of_the_reference_state_within_physics() {
    let case = Case::new(PLATE);
    let not = ["gives this name to the other sections"];
    says(&case, &["physics.viscosity={constant: mu_ref}"], &["leave `viscosity: { constant: … }` out"], &not);
    says(
        &case,
        &["physics.viscosity={constant: 2*mu_ref}"],
        &["leave `viscosity: { constant: … }` out"],
        &not,
    );
    says(&case, &["physics.prandtl=c_ref"], &["within `physics` write the number"], &not);
}

#[test]
fn a_surface_without_a_volume_is_called_one() {
    let case =
        with(STREAM, "generate: { shape: tri, min: [0, 0], max: [2, 1], cells: [4, 2] }", "file: shell.msh");
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n\
                $Elements\n4\n1 2 2 1 1 1 2 3\n2 2 2 1 1 1 2 4\n3 2 2 1 1 1 3 4\n4 2 2 1 1 2 3 4\n$EndElements\n";
    std::fs::write(case.path("shell.msh"), mesh).unwrap();
    refused(&case, &[], &["shell.msh", "the surface of a body in space", "gmsh -3", "case.yaml:3:9"]);
}

#[test]
fn a_mesh_that_is_no_file_is_refused_at_once() {
    let case = with(WAVE, "generate: { shape: quad, cells: [4, 4] }", "file: /dev/zero");
    refused(&case, &[], &["/dev/zero", "not a regular file", "case.yaml:3:9"]);
    refused(&case, &["--set", "mesh.file=."], &["not a regular file", "command line:1:"]);
}

#[test]
fn what_the_machine_refuses_is_placed_where_it_was_asked_for() {
    let case = with(STREAM, "space: { order: 1 }", "threads: 100000\nspace: { order: 1 }");
    refused(&case, &[], &["100000 threads were requested", "case.yaml:5:10"]);
    refused(&Case::new(STREAM), &["--set", "threads=100000"], &["100000 threads", "command line:1:15"]);
}

#[test]
fn an_override_without_a_value_is_shown_with_one() {
    refused(
        &Case::new(STREAM),
        &["--set", "threads"],
        &["`threads` is not of the form", "--set threads=VALUE"],
    );
}

#[test]
fn numbers_beyond_double_precision_are_too_large() {
    for (text, shown) in [("1e400", "1e400"), ("2*1e400", "1e400")] {
        let case = with(STREAM, "end: 0.05", &format!("end: {text}"));
        refused(&case, &[], &["`time.end`", &format!("the number `{shown}` is too large"), "case.yaml:12:"]);
    }
}

#[test]
fn a_second_document_is_told_as_one() {
    let case = Case::new(&format!("{WAVE}---\n{WAVE}"));
    refused(&case, &[], &["a second document", "case.yaml:10:1", "one file for each run"]);
}

#[test]
fn text_in_another_encoding_is_placed() {
    let case = Case::new(WAVE);
    let latin: Vec<u8> =
        WAVE.replace("velocity", "velocit\u{1}").bytes().map(|b| if b == 1 { 0xe9 } else { b }).collect();
    std::fs::write(case.path("case.yaml"), latin).unwrap();
    let byte = WAVE.lines().nth(4).unwrap().find("velocity").unwrap() + 8;
    let place = format!("it is not UTF-8 text: byte {byte} of line 5 is 0xe9");
    refused(&case, &[], &["cannot read the pipeline file case.yaml", &place]);
}

#[test]
fn long_lines_are_cut_around_what_is_wrong() {
    let case = with(
        STREAM,
        "rho: 1, u: 0.5, v: 0, p: 1 }\nboundaries",
        &format!("rho: {}foo, u: 0.5, v: 0, p: 1 }}\nboundaries", "1 + ".repeat(2000)),
    );
    let text = message(&case, &[]);
    assert!(
        text.contains("unknown name `foo`") && text.lines().all(|line| line.chars().count() < 200),
        "{text}"
    );
    let case = with(STREAM, "type: outflow", &format!("type: {}", "out".repeat(2000)));
    assert!(message(&case, &[]).lines().all(|line| line.chars().count() < 700));
}

#[test]
fn results_that_cannot_be_written_are_refused_before_the_run() {
    let case = Case::new(STREAM);
    std::fs::write(case.path("taken"), "a file").unwrap();
    let parts = ["results cannot be written to", "is not a directory"];
    refused(&case, &["--output", "taken/results"], &[&parts[..], &["command line:1:1"]].concat());
    let case = with(STREAM, "time:", "output: { directory: case.yaml/results }\ntime:");
    refused(&case, &[], &[&parts[..], &["case.yaml:12:22"]].concat());
    let poisson = "mesh: { generate: { shape: tri, cells: [2, 2] } }\nphysics: { model: poisson, exact: x }\n\
                   boundaries: { xmin: { type: dirichlet }, xmax: { type: dirichlet }, ymin: { type: neumann }, \
                   ymax: { type: neumann } }\noutput: { directory: case.yaml/results }\n";
    refused(&Case::new(poisson), &[], &[&parts[..], &["case.yaml:4:22"]].concat());
}

#[test]
fn a_directory_above_the_results_stays_as_it_is_when_a_file_is_checked() {
    let case = Case::new(STREAM);
    assert_eq!(case.dgsuite(&["check", "case.yaml"]).code, 0);
    assert_eq!(std::fs::read_dir(case.path("")).unwrap().count(), 1, "nothing but the file");
}

#[test]
fn numbers_of_cfl_beyond_the_stable_one_are_told() {
    let warnings = |set: &str| {
        let outcome = Case::new(STREAM).dgsuite(&["check", "case.yaml", "--set", set]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let of_step = |line: &&str| line.starts_with("warning") && line.contains("time.cfl");
        outcome.stdout.lines().filter(of_step).collect::<Vec<_>>().join("\n")
    };
    assert!(warnings("time.cfl=5").contains("time.cfl 5 is"), "{}", warnings("time.cfl=5"));
    assert!(warnings("time.cfl=5").contains("times the number that is stable"), "{}", warnings("time.cfl=5"));
    assert_eq!(warnings("time.cfl=0.1"), "");
}

/// Where sound can enter, an outflow has no datum for it.
#[test]
fn outflows_that_are_not_supersonic_are_told_before_and_after_a_run() {
    let told = |case: &Case, command: &str| -> Vec<String> {
        let outcome = case.dgsuite(&[command, "case.yaml"]);
        let lines = outcome.stdout.lines().chain(outcome.stderr.lines());
        lines.filter(|line| line.contains("`outflow` is for supersonic flow")).map(str::to_owned).collect()
    };
    let slow = "gas leaves at Mach 0.423 only at (2.0000, ";
    let case = Case::new(STREAM);
    let before = told(&case, "check");
    assert!(before.len() == 1 && before[0].contains("boundaries.xmax: at the start"), "{before:?}");
    assert!(before[0].contains(slow), "{before:?}");
    let after = told(&case, "run");
    assert!(after.len() == 2 && after[1].contains("boundaries.xmax: at the end, t = 0.05"), "{after:?}");
    let fast = Case::new(&STREAM.replace("u: 0.5", "u: 2"));
    assert_eq!(told(&fast, "check"), [""; 0]);
    assert_eq!(told(&fast, "run"), [""; 0]);
}

/// Uniform flow stays through each open boundary, whatever flux it has; an outlet that the flow enters by is
/// a reservoir of the gas that was there.
#[test]
fn uniform_flow_stays_between_far_field_and_outlet() {
    let text = "mesh: { generate: { shape: quad, cells: [1, 1] } }\nphysics: { model: euler }\n\
                space: { order: 4 }\ninitial: { rho: 1, u: 0.3, v: 0, p: 1 }\nboundaries:\n\
                \x20 xmin: { type: far-field, rho: 1, u: 0.3, v: 0, p: 1 }\n\
                \x20 ymin: { type: far-field, rho: 1, u: 0.3, v: 0, p: 1 }\n\
                \x20 ymax: { type: far-field, rho: 1, u: 0.3, v: 0, p: 1 }\n\
                \x20 xmax: { type: pressure-outlet, p: 1 }\n\
                time: { end: 20 }\noutput: { fields: none, checkpoint: none }\n\
                monitors: [{ error: { exact: { rho: 1, u: 0.3, v: 0, p: 1 }, norms: [linf], every: 20 } }]\n\
                checks: [{ value: error.linf.rho, below: 1e-12 }, { value: error.linf.rho_E, below: 1e-12 }]\n";
    for riemann in ["rusanov", "hll", "hllc", "roe-low-mach"] {
        let case = Case::new(text);
        let outcome = case.dgsuite(&["run", "case.yaml", "--set", &format!("space.riemann={riemann}")]);
        assert_eq!(outcome.code, 0, "{riemann}: {}", outcome.stderr);
    }
    // Gas is drawn in, because the pressure outside is higher: it brings the temperature and the tangential
    // velocity of the start, or those of the boundary.
    let inward = |outlet: &str, density: f64, speed: f64| {
        let text = format!(
            "mesh: {{ generate: {{ shape: quad, cells: [3, 1], max: [3, 1] }}, periodic: [[ymin, ymax]] }}\n\
             physics: {{ model: euler }}\nspace: {{ order: 2 }}\n\
             initial: {{ rho: 1, u: 0, v: 0.2, p: 1 }}\nboundaries:\n\
             \x20 xmin: {{ type: far-field, rho: 1, u: -0.2, v: 0.2, p: 0.9 }}\n\
             \x20 xmax: {{ type: pressure-outlet, p: 1{outlet} }}\n\
             time: {{ end: 60 }}\noutput: {{ fields: none, checkpoint: none }}\n\
             monitors: [{{ probe: {{ points: [[1.5, 0.5]], fields: [{{ s: \"rho/p^(1/1.4)\" }}, v], every: 60 }} }}]\n\
             checks: [{{ value: probe.s.0, near: {density}, within: 1e-3 }}, \
             {{ value: probe.v.0, near: {speed}, within: 1e-3 }}]\n"
        );
        let outcome = Case::new(&text).dgsuite(&["run", "case.yaml"]);
        assert_eq!(outcome.code, 0, "{outlet}: {} {}", outcome.stdout, outcome.stderr);
    };
    inward("", 1.0, 0.2);
    inward(", temperature: 2, velocity: [0, 0.1]", 0.5, 0.1);
}

/// `3p` is the degree 3p in the volume and 3p + 1 on faces, and `2p` the default.
#[test]
fn cubatures_have_multiples_of_the_order_as_names() {
    let case = Case::new(WAVE);
    let run = |more: &[&str]| {
        let outcome = case.dgsuite(&[&["run", "case.yaml", "--output", "out"], more].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        number(&case.summary("out"), "/error/l2/u")
    };
    let (named, degrees) = ("space.cubature=3p", "space.cubature={ volume: 6, face: 7 }");
    assert_eq!(run(&["--set", named]).to_bits(), run(&["--set", degrees]).to_bits());
    assert_eq!(run(&["--set", "space.cubature=2p"]).to_bits(), run(&[]).to_bits());
}

#[test]
fn names_given_twice_are_refused() {
    let case = Case::new(STREAM);
    let twice = |set: &str, parts: &[&str]| refused(&case, &["--set", set], parts);
    twice(
        "output.fields.names=[Density, Mach, Density]",
        &["`output.fields.names` has the name `Density` twice"],
    );
    twice("output.fields.names=[Density, { Density: 2*rho }]", &["has the name `Density` twice"]);
    twice("output.surfaces={boundaries: [ymin, ymin]}", &["has the name `ymin` twice"]);
    twice(
        "monitors=[{integral: {fields: [{a: rho}, {a: u}]}}]",
        &["`monitors.0.integral.fields` has the name `a` twice"],
    );
    twice(
        "monitors=[{probe: {points: [[1, 0.5]], fields: [u, u]}}]",
        &["`monitors.0.probe.fields` has the name `u`"],
    );
    let scales = "reference: {length: 1, density: 1, velocity: 1}";
    twice(
        &format!("monitors=[{{forces: {{boundary: [ymin, ymin], {scales}}}}}]"),
        &["has the name `ymin` twice"],
    );
}

#[test]
fn characters_that_terminals_obey_are_refused_and_never_shown() {
    let case = Case::new(STREAM);
    for set in [
        "title=\"a\\u001b[31mb\"",
        "output.fields.names=[{ \"a\\u0001b\": rho }]",
        "monitors=[{ integral: { fields: [{ \"a\\nb\": rho }] } }]",
        "monitors=[{ integral: { fields: [{ \"a\\uFFFFb\": rho }] } }]",
    ] {
        let text = message(&case, &[set]);
        assert!(text.contains("has the control character \\u{"), "{text}");
        assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
    }
    // Names that do not come from the pipeline file are printed too.
    std::fs::write(case.path("strange.msh"), "\u{1b}[31mred\n").unwrap();
    let text = message(&case, &["mesh={ file: strange.msh }"]);
    assert!(text.contains("not a Gmsh mesh") && !text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_run_on_the_cpu_says_nothing_of_gpus() {
    let outcome = Case::new(WAVE).dgsuite(&["run", "case.yaml"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains("driver") && !outcome.stderr.contains("running on the CPU"),
        "{}",
        outcome.stderr
    );
}

/// A template runs as it is, and nothing that exists is overwritten.
#[test]
fn templates_run_and_names_of_templates_are_offered() {
    let case = Case::new(WAVE);
    for name in ["euler", "shock", "navier-stokes", "incompressible", "poisson"] {
        let made = case.dgsuite(&["init", name]);
        let file = format!("{name}.yaml");
        assert_eq!(made.code, 0, "{}", made.stderr);
        assert!(made.stdout.contains(&format!("dgsuite run {file}")), "{}", made.stdout);
        let run = case.dgsuite(&["run", &file, "--ci"]);
        assert!(run.code == 0 && run.stdout.contains("check passed"), "{name}: {}{}", run.stdout, run.stderr);
        let again = case.dgsuite(&["init", name]);
        assert!(
            again.code == 2 && again.stderr.contains("exists, and nothing was written"),
            "{}",
            again.stderr
        );
    }
    let made = case.dgsuite(&["init", "euler", "-o", "mine.yaml", "--schema"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let text = std::fs::read_to_string(case.path("mine.yaml")).unwrap();
    assert!(
        text.starts_with("# yaml-language-server: $schema=dgsuite.json\n") && text.contains("run mine.yaml")
    );
    assert!(text.contains("out/mine") && !text.contains("out/euler"), "{text}");
    assert!(std::fs::read_to_string(case.path("dgsuite.json")).unwrap().contains("draft-07"));
    let refused = case.dgsuite(&["init", "eulr"]);
    assert!(refused.code == 2 && refused.stderr.contains("did you mean `euler`?"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: the templates are euler, shock"), "{}", refused.stderr);
    for shell in ["bash", "zsh", "fish"] {
        let completions = case.dgsuite(&["completions", shell]);
        assert!(completions.code == 0 && completions.stdout.contains("partition"), "{shell}");
    }
}

/// Independent mistakes are all named in one answer, in the order in which the file is read; what follows
/// from one of them is not.
#[test]
fn six_mistakes_get_six_answers() {
    let file = "\
titel: A stream
mesh: { generate: { shape: trii, cells: [4, 2] } }
physics: { model: eulr, gamma: 0.5 }
space: { order: two, riemann: rusanov }
initial: { rho: 1, u: 0.5, v: 0, p: 1 }
boundaries:
  xmin: { type: dirichlett, rho: 1, u: 0.5, v: 0, p: 1 }
  xmax: { type: outflow }
time: { end: 0.05, cfll: 0.5 }
output: { fields: { every: -1 } }
";
    let outcome = Case::new(file).dgsuite(&["check", "case.yaml"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    for part in [
        "unknown key `titel`",
        "did you mean `title`?",
        "`eulr` is not a value of `physics.model`",
        "`physics.gamma` is 0.5",
        "`space.order` must be",
        "case.yaml:4:",
        "`cfll` in `time`",
        "`trii` is not a value of `mesh.generate.shape`",
        "`dirichlett` is not a value of `boundaries.xmin.type`",
        "`output.fields.every` is -1",
        "error[unknown-key]: unknown key `titel`",
        "\n\nerror[unknown-value]: `eulr`",
        "8 mistakes in the file\n`dgsuite explain CODE` tells more; the codes are unknown-key, unknown-value, ",
    ] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("error[").count(), 8, "{}", outcome.stderr);
    // A key that is missing because of its misspelling is not missing as well.
    let case = with(STREAM, "order: 1", "oder: 1");
    let case = Case::new(
        &std::fs::read_to_string(case.path("case.yaml")).unwrap().replace("end: 0.05", "edn: 0.05"),
    );
    let outcome = case.dgsuite(&["check", "case.yaml"]);
    for part in ["did you mean `order`?", "did you mean `end`?", "2 mistakes in the file"] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
    // Mistakes in lists, and under a name that was misspelt, hide no others and lead to no others.
    let more = "monitors: [ { eror: { exact: isentropic-vortex } }, { probe: { points: [[0, 0]], fields: [u], evry: 1 } } ]\n";
    let lists = format!("{}{more}", STREAM.replace("max: [2, 1]", "max: [2, b]"));
    let outcome = Case::new(&lists).dgsuite(&["check", "case.yaml", "--set", "space.riemann=hlcx"]);
    for part in [
        "`mesh.generate.max.1`",
        "unknown key `eror`",
        "unknown key `evry`",
        "`hlcx`",
        "4 mistakes in the file",
    ] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
    let places: Vec<usize> = ["case.yaml:3:", "case.yaml:13:15", "case.yaml:13:95", "command line"]
        .iter()
        .filter_map(|at| outcome.stderr.find(at))
        .collect();
    assert!(places.len() == 4 && places.is_sorted(), "{}", outcome.stderr);
    let poisson = "mesh: { generate: { shape: tri, cells: [4, 4] } }\nphysics: { model: poisson, exact: sin(x), kapa: 1 }\n\
                   space: { order: -1 }\n";
    let outcome = Case::new(poisson).dgsuite(&["check", "case.yaml"]);
    assert!(outcome.stderr.contains("2 mistakes in the file"), "{}", outcome.stderr);
}

/// Mistakes that only the mesh and the formulas show are named in one answer, too, and those in a list do not
/// hide others.
#[test]
fn mistakes_of_the_plan_are_all_told() {
    let told = |yaml: &str, parts: &[&str]| {
        let text = message(&Case::new(yaml), &[]);
        for part in parts {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
        assert!(text.contains(&format!("\n{} mistakes in the file\n", parts.len())), "{text}");
        let places: Vec<usize> = parts.iter().filter_map(|part| text.find(part)).collect();
        assert!(places.is_sorted(), "not in the order of the file:\n{text}");
    };
    let file = "\
mesh: { generate: { shape: tri, min: [0, 0], max: [2, 1], cells: [4, 2] } }
physics: { model: euler }
initial: { rho: 1 + a, u: 0.5*b, v: 0, p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0.5*c, v: 0, p: -1 }
  outlet: { type: outflow }
  ymin: { type: slip-wall }
  ymax: { type: dirichlet, rho: 1, u: 0, v: 0, p: -1 }
time: { end: 0.05 }
output: { fields: { names: [Density, Mack, { a: log(d) }] }, surfaces: { boundaries: [ymn] } }
monitors:
  - integral: { fields: [rho*e, rho] }
  - probe: { points: [[1, 0.5], [3, 0]], fields: [f, u] }
  - forces: { boundary: ymin, reference: { density: 1, velocity: 1 } }
checks: [{ value: forces.ymin.dc, below: 1 }]
";
    told(
        file,
        &[
            "unknown name `a`",
            "unknown name `b`",
            "unknown name `c`",
            "error[unknown-boundary]: the mesh has no boundary `outlet`",
            "`boundaries.ymax.p` gives p = -1",
            "`Mack` is not a value",
            "unknown name `d`",
            "error[unknown-boundary]: the mesh has no boundary `ymn`",
            "unknown name `e`",
            "the point (3.000000, 0.000000, 0.000000) is outside",
            "unknown name `f`",
            "`monitors.2.forces.reference.length` is missing",
        ],
    );
    // Checks are read when the monitors are right.
    let checks = "checks: [{ value: conservation.roh, below: 1 }, { value: error.l2.rho, below: 1 }]\n";
    told(&format!("{STREAM}{checks}"), &["`conservation.roh`", "`error.l2.rho`"]);
    let poisson = "\
mesh: { generate: { shape: tri, cells: [2, 2] } }
physics: { model: poisson, kappa: 1 + a, lambda: b, forcing: 0 }
boundaries: { xmin: { type: dirichlet, u: 0 } }
output: { fields: { names: [v, w] } }
checks: [{ value: error.l2.u, below: 1 }]
";
    told(poisson, &["unknown name `a`", "unknown name `b`", "`v` is not", "`w` is not", "`error.l2.u`"]);
    // What stands for a missing formula needs no other key.
    let missing =
        poisson.replace("{ type: dirichlet, u: 0 }", "{ type: dirichlet }, ymin: { type: dirichlet }");
    told(&missing, &["`boundaries.xmin.u` is missing", "`boundaries.ymin.u` is missing"]);
    // A monitor that cannot be mended does not hide those after it.
    let monitors = "\
monitors:
  - probe: { points: [[0, 0]], fields: u }
  - residual: { evry_steps: 2 }
  - 3
  - integral: { fields: [{ a: rho }, { a: u }] }
  - forces: { boundary: ymin, from: soon }
checks: [{ value: 1, about: 2 }, { valeu: time.steps, below: 1 }]
";
    told(
        &format!("{STREAM}{monitors}"),
        &[
            "`monitors.0.probe.fields` must be",
            "`evry_steps`",
            "`monitors.2` must be a monitor",
            "has the name `a` twice",
            "`monitors.4.forces.from`",
            "unknown key `about`",
            "unknown key `valeu`",
        ],
    );
}

/// Programs get the same mistakes as people.
#[test]
fn mistakes_are_told_as_json() {
    let case = with(STREAM, "order: 1", "oder: 1");
    let outcome = case.dgsuite(&["check", "case.yaml", "--json", "--set", "time.cfl=-1"]);
    assert!(outcome.code == 2 && outcome.stderr.is_empty(), "{}", outcome.stderr);
    let told: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let [key, range] = &told["mistakes"].as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!(told["fit"], false);
    assert_eq!((&key["code"], &key["hint"]), (&json!("unknown-key"), &json!("did you mean `order`?")));
    assert_eq!(key["message"], "unknown key `oder` in `space`");
    assert_eq!(key["place"], json!({ "file": "case.yaml", "line": 5, "column": 10, "length": 4 }));
    assert!(key["expected"].as_str().unwrap().starts_with("known keys: order, "), "{key}");
    assert_eq!((&range["code"], &range["place"]["file"]), (&json!("out-of-range"), &json!("command line")));
    assert_eq!(range["hint"], Value::Null);
    let outcome = Case::new(STREAM).dgsuite(&["check", "case.yaml", "--json"]);
    let told: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((outcome.code, &told["fit"], &told["mistakes"]), (0, &json!(true), &json!([])));
    assert_eq!((&told["kernels"][0]["name"], &told["kernels"][0]["fast"]), (&json!("element"), &json!(true)));
    let outcome = case.dgsuite(&["check", "none.yaml", "--json"]);
    let told: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&told["mistakes"][0]["code"], outcome.code), (&json!("unreadable-file"), 2));
}

/// What is said to have a faster kernel on a GPU has one.
#[test]
fn advice_about_kernels_holds() {
    let case = Case::new(PLATE);
    let told = |set: &[&str]| {
        let mut args = vec!["check", "case.yaml", "--json"];
        set.iter().for_each(|set| args.extend(["--set", set]));
        let told: Value = serde_json::from_str(&case.dgsuite(&args).stdout).unwrap();
        told["kernels"][0].clone()
    };
    let collocated = ("cubature: collocated", "space.cubature=collocated");
    for (slow, advice) in [
        ("space.cubature.volume=9", [("order 4", "space.order=4"), collocated]),
        ("space.basis=taylor", [("basis: modal", "space.basis=modal"), collocated]),
    ] {
        let kernel = told(&[slow]);
        assert_eq!((&kernel["name"], &kernel["fast"]), (&json!("universal"), &json!(false)));
        assert_eq!(kernel["faster"], json!(advice.map(|(words, _)| words)), "{slow}");
        for (words, set) in advice {
            // A change of the basis or cubature takes the place of the slow one.
            let sets = if set.starts_with("space.order") { vec![slow, set] } else { vec![set] };
            assert_eq!(told(&sets)["fast"], true, "{slow}: {words}");
        }
    }
    let text = case.dgsuite(&["check", "case.yaml", "--set", "space.basis=taylor"]).stdout;
    assert!(text.contains("on a GPU    affine quadrilateral: universal\n"), "{text}");
    let advice =
        "quadrilateral elements would have a faster kernel with basis: modal or cubature: collocated\n";
    assert!(text.contains(advice), "{text}");
    // A study tells the kernels of each case.
    let study = "study={ space.basis: [modal, taylor], refine: [0, 1] }";
    let text = case.dgsuite(&["check", "case.yaml", "--set", study]).stdout;
    for (words, name) in
        [("modal, refine = 0", "gauss"), ("modal, refine = 1", "gauss"), ("taylor, refine = 1", "universal")]
    {
        let line = text.lines().find(|line| line.contains(words)).unwrap_or_default();
        assert!(line.ends_with(&format!("; on a GPU affine quadrilateral: {name}")), "{text}");
    }
    assert_eq!(text.matches("would have a faster kernel").count(), 1, "{text}");
    let told = case.dgsuite(&["check", "case.yaml", "--json", "--set", study]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["kernels"].as_array().map(Vec::len), Some(2), "{told}");
}
