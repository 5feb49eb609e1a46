//! The formula language: values, agreement of all evaluations, messages.

use crate::states::{GAS, config};
use dgsuite_physics::formula::{FieldsError, Formula, FormulaErrorKind, FormulaExact, Names};
use dgsuite_physics::{Dual, Exact, Lanes};
use proptest::prelude::*;

fn names() -> Names {
    Names::space_time().constant("M", 0.5).unwrap().parameter("eps", 0.25).unwrap()
}

/// Value at x = 0.7, y = −1.2, z = 0.1, t = 2.
fn value(text: &str) -> f64 {
    Formula::parse(text, &names()).unwrap_or_else(|e| panic!("{e}")).eval(&[0.7, -1.2, 0.1, 2.0])
}

#[test]
fn operators_bind_as_in_python_and_c() {
    let (x, y, t): (f64, f64, f64) = (0.7, -1.2, 2.0);
    for (text, expected) in [
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2**3**2", 512.0),
        ("2^-1", 0.5),
        ("-2^-2", -0.25),
        ("2*-3", -6.0),
        ("--3", 3.0),
        ("1/2", 0.5),
        ("8/4/2", 1.0),
        ("8-4-2", 2.0),
        ("2+3*4", 14.0),
        ("(2+3)*4", 20.0),
        ("-x^2", -(x * x)),
        ("exp(-x^2)", (-(x * x)).exp()),
        ("1e-3 + .5 + 1. + 2E+1", 1e-3 + 0.5 + 1.0 + 20.0),
        ("x < y", 0.0),
        ("x > y", 1.0),
        ("(x >= 0.7) + (x <= 0.7) + (x == 0.7) + (x != 0.7)", 3.0),
        ("1 < 2 && 3 < 2 || 1 == 1", 1.0),
        ("1 == 1 || 1 == 1 && 1 == 2", 1.0),
        ("!(1 < 2)", 0.0),
        ("!0 + 1", 2.0),
        ("if(x > 0, 10, 20)", 10.0),
        ("if(y > 0, 10, 20)", 20.0),
        ("if(0, 1, 2)", 2.0),
        ("if(t, 1, 2)", 1.0),
        ("if(x > 0 && y > 0, 1, if(x > 0, 2, 3))", 2.0),
        ("min(3, x, 1)", x),
        ("max(1, 2, 3, t)", 3.0),
        ("M*eps", 0.125),
        ("180*deg", std::f64::consts::PI),
        ("pow(2, 0.5)", 2f64.sqrt()),
        ("x^0.5", x.sqrt()),
        ("t^x", t.powf(x)),
        ("x^3", x * x * x),
        ("atan2(y, x)", y.atan2(x)),
        ("abs(y) + sign(y) + sign(x) + sign(0*x)", 1.2),
        ("floor(y)", -2.0),
        ("\u{2212}2 \u{00d7} 3", -6.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn every_function_has_its_meaning() {
    let (x, y): (f64, f64) = (0.7, -1.2);
    for (text, expected) in [
        ("sin(y)", y.sin()),
        ("cos(y)", y.cos()),
        ("tan(y)", y.tan()),
        ("asin(x)", x.asin()),
        ("acos(x)", x.acos()),
        ("acos(-x)", (-x).acos()),
        ("atan(y)", y.atan()),
        ("sinh(y)", y.sinh()),
        ("sinh(1e-9)", 1e-9f64.sinh()),
        ("cosh(y)", y.cosh()),
        ("tanh(y)", y.tanh()),
        ("exp(y)", y.exp()),
        ("log(x)", x.ln()),
        ("ln(x)", x.ln()),
        ("log10(x)", x.log10()),
        ("sqrt(x)", x.sqrt()),
        ("erf(1)", 0.842_700_792_949_714_9),
        ("sin(pi/6)", 0.5),
    ] {
        let got = value(text);
        assert!((got - expected).abs() <= 1e-15 + 4e-16 * expected.abs(), "{text}: {got} {expected}");
    }
}

#[test]
fn constants_are_known_at_once_and_dependence_is_seen() {
    let f = |text: &str| Formula::parse(text, &names()).unwrap();
    assert_eq!(f("2*pi/M").constant(), Some(4.0 * std::f64::consts::PI));
    assert_eq!(f("x - x*1").constant(), None);
    assert_eq!(f("eps").constant(), None, "parameters keep their name");
    assert_eq!(f("sin(x)*t").variables(), ["x", "t"]);
    assert_eq!(f("0*t + x").variables(), ["x"]);
    assert!(f("x + t").depends_on("t") && !f("x + y").depends_on("t"));
    assert_eq!(f("x").text(), "x");
    assert_eq!(f("x").names(), ["x", "y", "z", "t"]);
}

#[test]
fn a_factor_of_zero_hides_no_value_that_is_not_finite() {
    let names = Names::space_time().constant("off", 0.0).unwrap();
    let parse = |text: &str| Formula::parse(text, &names).unwrap_or_else(|e| panic!("{e}"));
    for text in [
        "1 + 0*log(-1 - x)",
        "log(-1 - x)*0",
        "off*sqrt(-x - 1)",
        "0/(x - 0.5)",
        "0*(1/(x - 0.5))",
        "0*(x - 1)^0.3",
    ] {
        let f = parse(text);
        assert!(f.depends_on("x"), "{text}");
        assert!(f.eval(&[0.5, 0.0, 0.0, 0.0]).is_nan(), "{text}");
        let mut out = [0.0; 3];
        f.eval_batch(&[&[0.5; 3], &[0.0], &[0.0], &[0.0]], &mut out);
        assert!(out.iter().all(|x| x.is_nan()), "{text}");
        // As recorded for a device.
        let recorded = f.trace(&[Dual::constant(0.5_f64); 4]);
        assert!(recorded.value.is_nan(), "{text}");
    }
    assert_eq!(parse("1 + 0*log(1 + x)").eval(&[0.5, 0.0, 0.0, 0.0]), 1.0);
    // Terms that are finite for all values of their variables disappear.
    for text in ["1 + 0*x", "1 + off*sin(x)*exp(-y^2)", "1 + 0/3*x"] {
        assert_eq!(parse(text).constant(), Some(1.0), "{text}");
    }
}

#[test]
fn a_name_of_the_users_own_hides_the_degree() {
    let names = Names::new(["x"]).constant("deg", 2.0).unwrap();
    assert_eq!(Formula::parse("3*deg", &names).unwrap().eval(&[0.0]), 6.0);
}

/// Message, span and hint of a formula that is wrong.
#[track_caller]
fn wrong(text: &str, marked: &str, message: &str) -> FormulaErrorKind {
    let e = Formula::parse(text, &names()).err().unwrap_or_else(|| panic!("`{text}` parses"));
    assert_eq!(&text[e.span.clone()], marked, "place of the error in `{text}`: {e}");
    assert!(e.to_string().contains(message), "`{e}` lacks `{message}`");
    let snippet = e.snippet();
    let lines: Vec<&str> = snippet.lines().collect();
    assert_eq!(lines.len(), 2, "{snippet}");
    assert_eq!(lines[1].trim_start().len(), marked.chars().count().max(1), "{snippet}");
    e.kind
}

#[test]
fn wrong_formulas_say_where_and_what() {
    wrong("1 + sn(x)", "sn", "did you mean `sin`?");
    wrong("1 + epss", "epss", "did you mean `eps`?");
    wrong("1 + q7", "q7", "known: x, y, z, t, M, eps, pi, deg");
    wrong("2x", "x", "for a product, write 2*x");
    wrong("x (y)", "x", "for a product, write x*(…)");
    wrong("2(x)", "(", "for a product, write 2*(");
    wrong("sin x", "x", "`sin` takes one argument in parentheses");
    wrong("sin", "", "end of formula");
    wrong("sin()", "sin()", "`sin` takes one argument, found 0");
    wrong("1 + atan2(x)", "atan2(x)", "`atan2` takes two arguments, found 1");
    wrong("if(x, 1)", "if(x, 1)", "a condition and two values");
    wrong("min(x)", "min(x)", "two or more arguments");
    wrong("(1 + x", "(", "parenthesis is not closed");
    wrong("sin(1 + x", "(", "parenthesis is not closed");
    wrong("1 + x)", ")", "no parenthesis to close");
    wrong("1 +", "", "unexpected end of formula, expected a value");
    wrong("1 + * 2", "*", "expected a value");
    wrong("(1, 2)", ",", "a comma separates arguments");
    wrong("0 < x < 1", "<", "write a < b && b < c");
    wrong("x = 1", "=", "to compare, write ==");
    wrong("x & y", "&", "write &&");
    wrong("|x|", "|", "abs(x)");
    wrong("x²", "²", "write ^2");
    wrong("5 % 2", "%", "floor");
    wrong("π*x", "π", "write pi");
    wrong("x $ 1", "$", "unexpected character `$`");
    wrong("1.2.3", "1.2.3", "malformed number");
    wrong("1e999", "1e999", "the number `1e999` is too large");
    wrong("", "", "empty formula");
    wrong("  ", "", "empty formula");
    assert_eq!(wrong(&"(".repeat(1000), "(", "nested too deeply"), FormulaErrorKind::TooDeep);
    assert_eq!(wrong(&"-".repeat(1000), "-", "nested too deeply"), FormulaErrorKind::TooDeep);
}

#[test]
fn of_a_long_formula_a_message_shows_the_part_that_is_wrong() {
    let text = format!("{}sn(x){}", "1 + ".repeat(1000), " + 1".repeat(1000));
    let message = Formula::parse(&text, &names()).unwrap_err().to_string();
    assert!(
        message.contains("…1 + 1") && message.contains("sn(x)") && message.contains("column 4001"),
        "{message}"
    );
    assert!(message.chars().count() < 250, "{message}");
}

#[test]
fn carets_count_characters_not_bytes() {
    let e = Formula::parse("1 × sn(x)", &names()).unwrap_err();
    assert_eq!(e.snippet(), "1 × sn(x)\n    ^^");
    assert_eq!(e.column(), 5);
    let e = Formula::parse("1 +\tsn(x)", &names()).unwrap_err();
    assert_eq!(e.snippet(), "1 + sn(x)\n    ^^");
}

#[test]
fn long_formulas_need_no_deep_stack() {
    let text = format!("x{}", " + 1*x".repeat(20_000));
    assert_eq!(Formula::parse(&text, &names()).unwrap().eval(&[1.0, 0.0, 0.0, 0.0]), 20_001.0);
}

/// A random formula as text, with its value computed by Rust.
#[derive(Clone, Debug)]
struct Sample {
    text: String,
    value: fn(f64, f64) -> f64,
}

/// Random formulas as text; values are compared between evaluations, not with Rust.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0u32..50).prop_map(|n| format!("{}", f64::from(n) / 8.0)),
        prop::sample::select(vec!["x", "y", "z", "t", "M", "eps", "pi"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 60, 3, |inner| {
        let i = || inner.clone();
        let infix = prop::sample::select(vec!["+", "-", "*", "/", "<", ">=", "==", "!=", "&&", "||", "^"]);
        let function = prop::sample::select(vec![
            "sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh", "floor", "erf", "sign", "cosh", "asin",
        ]);
        prop_oneof![
            (i(), infix, i()).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            i().prop_map(|a| format!("-({a})")),
            (function, i()).prop_map(|(f, a)| format!("{f}({a})")),
            (i(), i()).prop_map(|(a, b)| format!("atan2({a}, {b})")),
            (i(), i(), i()).prop_map(|(a, b, c)| format!("max(min({a}, {b}), {c})")),
            (i(), i(), i()).prop_map(|(c, a, b)| format!("if({c}, {a}, {b})")),
        ]
    })
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn batches_and_lanes_give_the_bits_of_single_points(
        text in formula(), n in 1usize..300, seed in 0.0..1.0f64, t in -1.0..1.0f64,
    ) {
        let f = Formula::parse(&text, &names()).unwrap();
        let column = |a: f64| -> Vec<f64> { (0..n).map(|i| 2.0 * (a * i as f64 + seed).sin()).collect() };
        let (x, y, z) = (column(1.7), column(2.3), column(0.9));
        let mut out = vec![0.0; n];
        f.eval_batch(&[&x, &y, &z, &[t]], &mut out);
        for i in 0..n {
            let single = f.eval(&[x[i], y[i], z[i], t]);
            prop_assert!(same(out[i], single), "{text} at point {i}: {} {single}", out[i]);
        }
        let lanes = f.trace(&[Lanes([x[0]; 2]), Lanes([y[0]; 2]), Lanes([z[0]; 2]), Lanes([t; 2])]);
        prop_assert!(same(lanes.0[1], out[0]));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[-+*/^()<>=!&|,.0-9a-z π²]{0,24}") {
        if let Err(e) = Formula::parse(&text, &names()) {
            prop_assert!(e.span.end <= text.len());
            prop_assert_eq!(e.snippet().lines().count(), 2);
        }
    }
}

#[test]
fn sums_and_products_are_those_of_rust() {
    let samples = [
        Sample {
            text: "1.0+0.2*sin(pi*(x+y))*exp(-x^2)".to_owned(),
            value: |x, y| 1.0 + 0.2 * (std::f64::consts::PI * (x + y)).sin() * (-(x * x)).exp(),
        },
        Sample {
            text: "(x - y)/(x*x + 3*y*y + 1) - tanh(x)/7".to_owned(),
            value: |x, y| (x - y) / (x * x + 3.0 * y * y + 1.0) - x.tanh() / 7.0,
        },
    ];
    for s in samples {
        let f = Formula::parse(&s.text, &names()).unwrap();
        for i in 0..100 {
            let (x, y) = (0.07 * f64::from(i) - 3.0, 1.5 - 0.05 * f64::from(i));
            assert_eq!(f.eval(&[x, y, 0.0, 0.0]), (s.value)(x, y), "{}", s.text);
        }
    }
}

#[test]
fn derivatives_come_from_dual_numbers() {
    let f = Formula::parse("exp(-x^2)*sin(2*t) + if(x > 0, x^3, 0)", &names()).unwrap();
    let at =
        |x: f64| f.trace(&[Dual::variable(x), Dual::constant(0.0), Dual::constant(0.0), Dual::constant(0.3)]);
    for x in [-0.8f64, 0.6] {
        let expected = -2.0 * x * (-x * x).exp() * 0.6f64.sin() + if x > 0.0 { 3.0 * x * x } else { 0.0 };
        assert!((at(x).derivative - expected).abs() < 1e-15);
    }
}

fn fields(list: &[(&str, &str)]) -> Result<FormulaExact<dgsuite_physics::Euler, 2, 4>, FieldsError> {
    let texts = list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    FormulaExact::parse(GAS, &texts, &names())
}

#[test]
fn formulas_of_primitive_unknowns_make_a_conserved_solution() {
    let f = fields(&[("rho", "1 + 0.2*sin(x - t)"), ("u", "M"), ("v", "y"), ("p", "1/1.4")]).unwrap();
    assert!(!f.is_steady());
    // More points than one chunk.
    let points: Vec<[f64; 3]> = (0..600).map(f64::from).map(|i| [0.01 * i, 1.0 - 0.003 * i, 0.0]).collect();
    let mut out = vec![Vec::new(); f.n_fields()];
    f.eval(0.4, &points, &mut out);
    for (i, x) in points.iter().enumerate() {
        let u = f.state(0.4, x);
        let rho = 1.0 + 0.2 * (x[0] - 0.4).sin();
        assert_eq!(u[1], rho * 0.5);
        assert_eq!([out[0][i], out[1][i], out[2][i], out[3][i]], u);
    }
    assert!(fields(&[("rho", "1"), ("u", "x"), ("v", "0"), ("p", "1")]).unwrap().is_steady());
}

#[test]
fn wrong_sets_of_formulas_are_refused() {
    let message = |list: &[(&str, &str)]| fields(list).unwrap_err().to_string();
    let missing = message(&[("rho", "1"), ("v", "0")]);
    assert_eq!(missing, "no formula for u, p");
    assert!(message(&[("rho", "1"), ("roh", "1")]).contains("did you mean `rho`?"));
    assert!(message(&[("w", "1")]).contains("expected rho, u, v, p"));
    let nested = message(&[("rho", "1"), ("u", "sn(x)"), ("v", "0"), ("p", "1")]);
    assert!(nested.contains("formula for `u`") && nested.contains("did you mean `sin`?"), "{nested}");
}

#[test]
fn advection_takes_a_formula_too() {
    let law = dgsuite_physics::Advection { velocity: [1.0, 0.0] };
    let texts = [("u".to_owned(), "sin(x - t)".to_owned())].into();
    let f = FormulaExact::<_, 2, 1>::parse(law, &texts, &names()).unwrap();
    let mut out = vec![Vec::new()];
    f.eval(0.5, &[[1.5, 0.0, 0.0]], &mut out);
    assert_eq!(out[0], [1f64.sin()]);
}
