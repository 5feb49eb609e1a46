//! The printed code, compiled by the machine's C++ compiler, computes the same bits as Rust.

use crate::sources::{
    AIR, CONVECTION, COUPLING, Eddy, Face, Flux, FluxOf, Formula, GAS, INFLOW, OPEN, Open, Outer, OuterOf,
    Random, Reactions, SPARING, SYRUP, Split, TRANSPORT, Viscous, WALL, WARM, fluxes_of_gas,
    for_each_formula, of_walls, print,
};
use crate::tangents::{Along, Rubbing, Streams, for_each_tangent};
use dgsuite_physics::trace::{PRELUDE, Parameters, ROOTS};
use dgsuite_physics::two_point::KennedyGruber;
use dgsuite_physics::{
    Central, Closure, CurvedSlipWall, FarField, Hllc, InflowProtected, Penalty, PenaltyFlux, PressureOutlet,
    Real, Roe, Rusanov, Slau2, SlipWall, Tangent, TransportFlux, ZeroNormalVelocity, ZeroPressure,
    ZeroVelocity, gas_fluxes,
};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

const CASES: usize = 5000;

/// A number with the bits that the two programs exchange.
trait Bits: Real {
    const NAME: &'static str;
    fn write(self, out: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> (f64, u64);
    fn distance(self, other: u64) -> u64;
}

macro_rules! bits {
    ($t:ident, $name:literal, $u:ident) => {
        impl Bits for $t {
            const NAME: &'static str = $name;
            fn write(self, out: &mut Vec<u8>) {
                out.extend(self.to_ne_bytes());
            }
            fn read(bytes: &[u8]) -> (f64, u64) {
                let x = $t::from_ne_bytes(bytes.try_into().unwrap());
                (f64::from(x), u64::from(x.to_bits()))
            }
            fn distance(self, other: u64) -> u64 {
                u64::from(self.to_bits()).abs_diff(other)
            }
        }
    };
}
bits!(f64, "double", u64);
bits!(f32, "float", u32);

/// The first compiler that works.
fn compiler() -> Option<String> {
    let named = std::env::var("CXX").ok();
    let known = ["c++", "g++", "clang++"].map(str::to_owned);
    named
        .into_iter()
        .chain(known)
        .find(|c| Command::new(c).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// One formula's part of the program and of its input, and the results of Rust.
#[derive(Default)]
struct Exchange {
    functions: String,
    calls: String,
    input: Vec<u8>,
    names: Vec<(&'static str, usize)>,
}

impl Exchange {
    fn add<T: Bits, F: Formula<D, N>, const D: usize, const N: usize>(
        &mut self,
        name: &'static str,
        formula: F,
        parameters: &mut Parameters,
        expected: &mut Vec<T>,
    ) {
        self.functions.push_str(&print::<F, D, N>(name, formula, parameters));
        let _ = writeln!(
            self.calls,
            "  for (int i = 0; i < {CASES}; ++i) {{ real a[{N}], b[{N}], n[{D}], f[{N}]; get(a); get(b); get(n); \
             {name}(parameters, a, b, n, f); put(f); }}"
        );
        self.names.push((name, N));
        let mut random = Random(0xD1B5_4A32_D192_ED03);
        for _ in 0..CASES {
            let um = formula.state(&mut random).map(T::lit);
            let up = formula.state(&mut random).map(T::lit);
            let n = random.normal::<D>().map(T::lit);
            um.iter().chain(&up).chain(&n).for_each(|x| x.write(&mut self.input));
            expected.extend(formula.eval(&um, &up, &n));
        }
    }

    /// The program: reads all inputs from one file, writes all results to another.
    fn program<T: Bits>(&self, parameters: &Parameters) -> String {
        let values: Vec<String> = parameters.values().iter().map(|v| format!("real({v:?})")).collect();
        format!(
            "#include <cmath>\n#include <cstdio>\n#define __device__\n#define __forceinline__ inline\n\
             typedef {} real;\nusing std::sqrt; using std::fabs; using std::pow; using std::tanh;\n{ROOTS}{PRELUDE}{}{}\
             static FILE *in, *out;\n\
             template <int M> void get(real (&x)[M]) {{ if (fread(x, sizeof(real), M, in) != M) std::perror(\"read\"); }}\n\
             template <int M> void put(real (&x)[M]) {{ fwrite(x, sizeof(real), M, out); }}\n\
             int main(int, char** name) {{\n  in = fopen(name[1], \"rb\"); out = fopen(name[2], \"wb\");\n  \
             if (!in || !out) return 1;\n  const Parameters parameters = {{{}}};\n{}  \
             return fclose(in) || fclose(out);\n}}\n",
            T::NAME,
            parameters.definition(),
            self.functions,
            values.join(", "),
            self.calls
        )
    }
}

/// Compiles and runs all formulas in the precision of `T`. Compares bit by bit, except powers, whose library
/// function may differ by a few units in the last place.
fn compare<T: Bits>(compiler: &str) {
    let mut exchange = Exchange::default();
    let mut parameters = Parameters::new();
    let mut expected: Vec<T> = Vec::new();
    macro_rules! visit {
        ($name:expr, $formula:expr, $d:literal, $n:literal) => {
            exchange.add::<T, _, $d, $n>($name, $formula, &mut parameters, &mut expected)
        };
    }
    for_each_formula!(visit);

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("physics-trace-{}", T::NAME));
    std::fs::create_dir_all(&folder).unwrap();
    let at = |name: &str| folder.join(name);
    std::fs::write(at("check.cpp"), exchange.program::<T>(&parameters)).unwrap();
    std::fs::write(at("input.bin"), &exchange.input).unwrap();
    let built = Command::new(compiler)
        .args(["-std=c++11", "-O2", "-ffp-contract=off", "-o"])
        .arg(at("check"))
        .arg(at("check.cpp"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(at("check")).arg(at("input.bin")).arg(at("output.bin")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));

    let output = std::fs::read(at("output.bin")).unwrap();
    let mut computed = output.chunks_exact(size_of::<T>()).map(T::read);
    let mut expected = expected.into_iter();
    for (name, n) in exchange.names {
        let powers = name.starts_with("far_field") || name.starts_with("inflow");
        let allowed = if powers { 16 } else { 0 };
        for i in 0..CASES * n {
            let ((value, bits), rust) = (computed.next().unwrap(), expected.next().unwrap());
            // Derivatives may be zeros of different signs: printed code leaves out products with zero.
            let zeros = name.starts_with("tangent") && value == 0.0 && rust.abs().distance(0) == 0;
            let distance = if zeros { 0 } else { rust.distance(bits) };
            assert!(distance <= allowed, "{name} ({}), value {i}: C++ {value:e}, Rust {rust:?}", T::NAME);
        }
    }
    assert!(computed.next().is_none() && expected.next().is_none());
}

#[test]
fn printed_formulas_compiled_by_a_host_compiler_give_the_same_bits() {
    let Some(compiler) = compiler() else {
        let required = std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
        assert!(!required, "no C++ compiler (c++, g++ or clang++), and DGSUITE_REQUIRE_TOOLS=1 requires one");
        // Not `println!`, because the harness hides its output if the test passes.
        let reason = "SKIPPED printed formulas against a C++ compiler: none of c++, g++, clang++ runs here";
        writeln!(std::io::stderr(), "{reason}").unwrap();
        return;
    };
    compare::<f64>(&compiler);
    compare::<f32>(&compiler);
}
