//! The recorded graph, evaluated with numbers, gives the same bits as the formula itself.

use crate::sources::{
    AIR, CONVECTION, COUPLING, Eddy, Face, Flux, FluxOf, Formula, GAS, INFLOW, OPEN, Open, Outer, OuterOf,
    Random, Reactions, SPARING, SYRUP, Split, TRANSPORT, Viscous, WALL, WARM, body, fluxes_of_gas,
    for_each_formula, of_walls,
};
use crate::tangents::{Along, Rubbing, Streams, for_each_tangent, same};
use dgsuite_physics::formula::{Formula as Text, Names};
use dgsuite_physics::trace::{Parameters, Sym, TraceError, device_fn, input, record};
use dgsuite_physics::two_point::{KennedyGruber, Ranocha};
use dgsuite_physics::{
    Boundary, Central, Closure, CurvedSlipWall, FarField, Hllc, InflowProtected, Law, Penalty, PenaltyFlux,
    PressureOutlet, Real, Roe, Rusanov, Slau2, SlipWall, Tangent, TransportFlux, ZeroNormalVelocity,
    ZeroPressure, ZeroVelocity, gas_fluxes,
};

fn agrees<F: Formula<D, N>, const D: usize, const N: usize>(name: &str, formula: F) {
    let inputs =
        |name: &str, n: usize| -> Vec<Sym> { (0..n).map(|i| input(&format!("{name}{i}"))).collect() };
    let (graph, out) = record(|| {
        let (um, up, n) = (inputs("um", N), inputs("up", N), inputs("n", D));
        formula.eval::<Sym>(&um.try_into().unwrap(), &up.try_into().unwrap(), &n.try_into().unwrap())
    });
    let out = out.map(Sym::id);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..2000 {
        let (um, up, n) = (formula.state(&mut random), formula.state(&mut random), random.normal::<D>());
        let values: Vec<f64> = um.iter().chain(&up).chain(&n).copied().collect();
        // Inputs are numbered in the order of first use.
        let by_name = |name: &String| {
            let all = (0..N).map(|i| format!("um{i}")).chain((0..N).map(|i| format!("up{i}")));
            let position = all.chain((0..D).map(|i| format!("n{i}"))).position(|n| n == *name).unwrap();
            values[position]
        };
        let ordered: Vec<f64> = graph.inputs().iter().map(by_name).collect();
        let got = graph.eval(&ordered, &out);
        let expected = formula.eval(&um, &up, &n);
        for k in 0..N {
            assert!(same(name, got[k], expected[k]), "{name}, component {k}: {} {}", got[k], expected[k]);
        }
    }
}

#[test]
fn graphs_give_the_bits_of_the_formulas() {
    macro_rules! visit {
        ($name:expr, $formula:expr, $d:literal, $n:literal) => {
            agrees::<_, $d, $n>($name, $formula)
        };
    }
    for_each_formula!(visit);
    agrees::<_, 3, 5>("ranocha", Split(Ranocha));
    let far_field = OuterOf(Tangent::<_, 5>(GAS), Tangent::<_, 5>(FarField));
    agrees::<_, 3, 10>("tangent_far_field", Along::<_, 5>(far_field));
}

#[test]
fn laws_record_as_they_compute() {
    let (graph, out) = record(|| {
        let u: [Sym; 5] = std::array::from_fn(|i| input(&format!("u{i}")));
        let mut all: Vec<Sym> = GAS.flux(&u).concat();
        all.push(GAS.max_speed(&u));
        all.push(GAS.admissibility(&u));
        all.extend(GAS.to_primitive(&u));
        all
    });
    let out: Vec<_> = out.iter().map(|s| s.id()).collect();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for _ in 0..500 {
        let u = random.gas::<3, 5>();
        let mut expected: Vec<f64> = GAS.flux(&u).concat();
        expected.push(GAS.max_speed(&u));
        expected.push(GAS.admissibility(&u));
        expected.extend(GAS.to_primitive(&u));
        assert_eq!(graph.inputs(), ["u0", "u1", "u2", "u3", "u4"]);
        assert_eq!(graph.eval(&u, &out), expected);
    }
}

#[test]
fn a_formula_joins_the_graph_that_records_it() {
    let names = Names::space_time().parameter("eps", 0.25).unwrap();
    let f = Text::parse("1 + eps*sin(2*pi*(x - t))", &names).unwrap();
    let mut parameters = Parameters::new();
    let text = device_fn("rho", &[("x", 3), ("t", 0)], &mut parameters, |a| {
        let [x, y, z] = a.array("x");
        [f.trace(&[x, y, z, a.scalar("t")])]
    })
    .unwrap();
    let expected = "__device__ __forceinline__ void rho(const Parameters& parameters, const real (&x)[3], \
                    const real t, real (&out)[1]) {\n  \
                    out[0] = real(1.0) + parameters.eps * sin(real(6.283185307179586) * (x[0] - t));\n}\n";
    assert_eq!(text, expected);
    assert_eq!((parameters.names(), parameters.values()), (vec!["eps"], vec![0.25]));
    assert_eq!(parameters.definition(), "struct Parameters { real eps; };\n");
}

#[test]
fn two_values_of_a_parameter_are_refused() {
    let mut parameters = Parameters::new();
    let mut outlet = |name: &str, p: f64| {
        device_fn(name, &[("u", 4), ("n", 2)], &mut parameters, |a| {
            PressureOutlet::at(p).outer(&GAS, &a.array::<4>("u"), &a.array::<2>("n"), &a.array("u"))
        })
    };
    assert!(outlet("first", 1.0).is_ok());
    let error = outlet("second", 2.0).unwrap_err();
    assert_eq!(error, TraceError::ParameterConflict { name: "outlet_pressure", first: 1.0, second: 2.0 });
}

#[test]
fn unused_parameters_are_no_arguments() {
    let mut parameters = Parameters::new();
    let text = device_fn(
        "wall",
        &[("um", 4), ("up", 4), ("n", 2)],
        &mut parameters,
        body::<_, 2, 4>(Outer(SlipWall)),
    )
    .unwrap();
    assert!(!text.contains("gamma") && parameters.names().is_empty());
    assert_eq!(parameters.definition(), "struct Parameters { real unused; };\n");
}

#[test]
fn names_appear_in_the_text_once() {
    let mut parameters = Parameters::new();
    let text = device_fn("f", &[("x", 0)], &mut parameters, |a| {
        let x = a.scalar("x");
        let y = (x * x).named("square");
        let z = (y + x).named("square");
        [y * z + z.powf(y)]
    })
    .unwrap();
    assert!(text.contains("const real square = x * x;"), "{text}");
    assert!(text.contains("const real t0 = square + x;"), "{text}");
}

#[test]
fn conditions_and_signs_print_as_c_reads_them() {
    let mut parameters = Parameters::new();
    let text = device_fn("f", &[("x", 2)], &mut parameters, |a| {
        let [x, y] = a.array("x");
        let either = Sym::or(x.lt(y), Sym::and(y.le(Sym::lit(0.0)), Sym::not(x.lt(Sym::lit(-1.5)))));
        [Sym::select(either, x - (y - x), -(x + y)) / (x / y), x - (y + x) * y, Sym::lit(f64::INFINITY)]
    })
    .unwrap();
    let choice =
        "(x[0] < x[1]) | ((x[1] <= real(0.0)) & (!(x[0] < real(-1.5)))) ? x[0] - (x[1] - x[0]) : -t0;";
    assert!(text.contains(choice), "{text}");
    assert!(text.contains("const real t0 = x[0] + x[1];"), "{text}");
    assert!(text.contains("out[0] = t1 / (x[0] / x[1]);"), "{text}");
    assert!(text.contains("out[1] = x[0] - t0 * x[1];"), "{text}");
    assert!(text.contains("out[2] = real(1.0 / 0.0);"), "{text}");
}
