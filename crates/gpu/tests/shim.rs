//! Kernels on the host: collectives have the meaning given in the PTX manual, and each kind of error is
//! found.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{LaunchConfig, Source, nvrtc};
use dgsuite_gpu::shim::{Arg, Program, ShimError, bytes, compiler, values};

/// Whether there is a C++ compiler; prints the reason if not.
fn has_compiler(test: &str) -> bool {
    let Err(reason) = compiler() else { return true };
    assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
    // Not eprintln!: the test harness hides its output in tests that pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
    false
}

const RIGHT: &str = include_str!("collectives.cu");

#[test]
fn collectives_do_what_the_device_does() {
    if !has_compiler("collectives_do_what_the_device_does") {
        return;
    }
    let kernels = ["row_sums", "product", "product_of_few_bits", "reversed", "votes", "roots"];
    let source = Source::new("collectives.cu", RIGHT);
    let mut program = Program::new(&source, &kernels, &["shift"]).unwrap();
    // If NVRTC is available, it must accept the same text.
    match nvrtc::compile_for("sm_90", &source) {
        Ok(compiled) => assert_eq!(compiled.resources().len(), kernels.len()),
        Err(error) => assert!(matches!(error, GpuError::NoCompiler { .. }), "{error}"),
    }

    // Row sums: 64 * (1 + 2) / 2 from the constant, integers: no rounding.
    let x: Vec<f64> = (0..150).map(f64::from).collect();
    let mut memory = [bytes(&x), bytes(&[f64::NAN; 3])];
    let scale = [vec![0; 8], bytes(&[2.0]), bytes(&[150_i32]), vec![0; 4]].concat();
    let args = [Arg::structure(scale, &[(0, 0)]), Arg::buffer(1)];
    program.run("row_sums", LaunchConfig::new(3, 64), &mut memory, &args).unwrap();
    let sum = |a: f64, b: f64| (a + b) * (b - a + 1.0);
    assert_eq!(
        values::<f64>(&memory[1]),
        [sum(0.0, 63.0) + 96.0, sum(64.0, 127.0) + 96.0, sum(128.0, 149.0) + 22.0]
    );
    program.set_constant("shift", &[0.0, -1.0]).unwrap();
    program.run("row_sums", LaunchConfig::new(3, 64), &mut memory, &args).unwrap();
    assert_eq!(values::<f64>(&memory[1])[0], sum(0.0, 63.0) - 32.0);

    let a: Vec<f64> = (0..64).map(|i| f64::from(i * 7 % 13 - 5)).collect();
    let b: Vec<f64> = (0..64).map(|i| f64::from(i * 5 % 11 - 4)).collect();
    let mut memory = [bytes(&a), bytes(&b), bytes(&[0.0; 64])];
    let args = [Arg::buffer(0), Arg::buffer(1), Arg::buffer(2)];
    program.run("product", LaunchConfig::new(1, 32), &mut memory, &args).unwrap();
    let c: Vec<f64> = (0..64).map(|i| (0..8).map(|k| a[i / 8 * 8 + k] * b[k * 8 + i % 8]).sum()).collect();
    assert_eq!(values::<f64>(&memory[2]), c);

    // 1024.5 is rounded to 1025, and 3.0001 truncated to 3.
    let a: Vec<f32> = (0..64_u8).map(|i| 1024.0 + 0.5 * f32::from(i)).collect();
    let whole: Vec<f32> = (0..32_i16).map(|i| f32::from(i * 5 % 11 - 4)).collect();
    let b: Vec<f32> = whole.iter().map(|v| v + 1e-4 * v.signum() * v.abs().min(1.0)).collect();
    let mut memory = [bytes(&a), bytes(&b), bytes(&[0.0_f32; 128])];
    program.run("product_of_few_bits", LaunchConfig::new(1, 32), &mut memory, &args).unwrap();
    let c: Vec<f32> =
        (0..128).map(|i| (0..4).map(|k| a[i / 8 * 4 + k].round() * whole[k * 8 + i % 8]).sum()).collect();
    assert_eq!(values::<f32>(&memory[2]), c);

    let x: Vec<f64> = (0..192).map(f64::from).collect();
    let mut memory = [bytes(&x), bytes(&[0.0; 192])];
    let args = [Arg::buffer(0), Arg::buffer(1), Arg::value(3_i32)];
    program.run("reversed", LaunchConfig::new(1, 32).shared(2 * 64 * 8), &mut memory, &args).unwrap();
    let y: Vec<f64> = x.chunks(64).flat_map(|row| row.iter().rev().copied()).collect();
    assert_eq!(values::<f64>(&memory[1]), y);

    let x: Vec<u32> = (0..32).map(|l| l % 5).collect();
    let mut memory = [bytes(&x), bytes(&[0_u32; 32])];
    program.run("votes", LaunchConfig::new(1, 32), &mut memory, &[Arg::buffer(0), Arg::buffer(1)]).unwrap();
    let bits: u32 = (0..32).filter(|&l| x[l] > 2).map(|l| 1_u32 << l).sum();
    let down = |l: usize| if l < 2 { x[l + 30] } else { x[l] };
    let expected: Vec<u32> = (0..32).map(|l| bits.wrapping_add(1000 * x[3] + 100_000 * down(l))).collect();
    assert_eq!(values::<u32>(&memory[1]), expected);

    // From 20 bits to full precision: within two units in the last place.
    let x: Vec<f64> = (0..256).map(|i| f64::powi(10.0, i % 41 - 20) * (1.0 + f64::from(i) / 251.0)).collect();
    let mut memory = [bytes(&x), bytes(&[0.0; 768])];
    program.run("roots", LaunchConfig::new(4, 64), &mut memory, &[Arg::buffer(0), Arg::buffer(1)]).unwrap();
    for (x, got) in x.iter().zip(values::<f64>(&memory[1]).as_chunks::<3>().0) {
        for (got, exact) in got.iter().zip([1.0 / x, 1.0 / x.sqrt(), x.sqrt()]) {
            assert!((got - exact).abs() <= 2.0 * f64::EPSILON * exact, "{x}: {got} for {exact}");
        }
    }
}

const WRONG: &str = r#"#include "device.cuh"
extern "C" __global__ void beyond_the_buffer(double* x, int n) { x[threadIdx.x] = n; }

extern "C" __global__ void beyond_the_shared_array(double* x, int n) {
    __shared__ double s[31];
    s[threadIdx.x * n] = 1.0;
    dg_block_sync();
    x[threadIdx.x] = s[0];
}

extern "C" __global__ void beyond_the_dynamic_memory(double* x, int n) {
    DG_DYNAMIC_SHARED(double, s);
    s[threadIdx.x * n] = 1.0;
    dg_block_sync();
    x[threadIdx.x] = s[0];
}

extern "C" __global__ void no_barrier(double* x, int n) {
    __shared__ double s[32];
    s[threadIdx.x] = threadIdx.x;
    x[threadIdx.x] = s[(threadIdx.x + n) % 32];
}

extern "C" __global__ void half_a_barrier(double* x, int n) {
    if (threadIdx.x < 16 * n) dg_block_sync();
    x[threadIdx.x] = 0.0;
}

extern "C" __global__ void two_barriers(double* x, int n) {
    double v = 0.0;
    if (threadIdx.x < 16 * n) dg_warp_sync(); else v = dg_shuffle(v, 0u);
    x[threadIdx.x] = v;
}

extern "C" __global__ void not_waited_for(double* x, int n) {
    __shared__ double s[64];
    dg_cp_async16(s + 2 * threadIdx.x, x + 2 * threadIdx.x);
    dg_cp_async_commit();
    if (n == 0) dg_cp_async_wait<0>();
    dg_block_sync();
    x[threadIdx.x] = s[2 * threadIdx.x];
}

extern "C" __global__ void not_aligned(double* x, int n) {
    reinterpret_cast<double2*>(x + n)->x = 1.0;
}

extern "C" __global__ void too_large(double* x, int n) {
    x[0] = n + 2147483647;
}
"#;

#[test]
fn mistakes_are_found() {
    if !has_compiler("mistakes_are_found") {
        return;
    }
    let found = [
        ("beyond_the_buffer", 33, "heap-buffer-overflow"),
        ("beyond_the_shared_array", 32, "index 31 out of bounds"),
        ("beyond_the_dynamic_memory", 32, "use-after-poison"),
        ("half_a_barrier", 32, "thread 31 has ended"),
        ("two_barriers", 32, "different operations"),
        ("not_aligned", 32, "misaligned address"),
        ("too_large", 32, "signed integer overflow"),
    ];
    let others = ["no_barrier", "not_waited_for"];
    let kernels: Vec<&str> = found.iter().map(|f| f.0).chain(others).collect();
    let program = Program::new(&Source::new("wrong.cu", WRONG), &kernels, &[]).unwrap();
    let launch = |kernel: &str, threads: u32, n: i32| {
        let mut memory =
            [bytes(&(0..64).take(if threads > 32 { 32 } else { 64 }).map(f64::from).collect::<Vec<_>>())];
        let config = LaunchConfig::new(1, threads).shared(31 * 8);
        let args = [Arg::buffer(0), Arg::value(n)];
        program.run(kernel, config, &mut memory, &args).map(|()| values::<f64>(&memory[0]))
    };
    for (kernel, threads, words) in found {
        match launch(kernel, threads, 1) {
            Err(ShimError::Run { log, .. }) => assert!(log.contains(words), "{kernel}: {log}"),
            other => panic!("{kernel}: {other:?}"),
        }
    }
    let race = launch("no_barrier", 32, 1);
    assert!(matches!(&race, Err(ShimError::Order { buffer: 0, .. })), "{race:?}");
    // The same kernels without their errors.
    assert_eq!(launch("no_barrier", 32, 0).unwrap()[..3], [0.0, 1.0, 2.0]);
    assert_eq!(launch("half_a_barrier", 32, 2).unwrap()[31], 0.0);
    assert_eq!(launch("two_barriers", 32, 2).unwrap()[31], 0.0);
    assert!(launch("not_waited_for", 32, 1).unwrap()[5].is_nan());
    assert_eq!(launch("not_waited_for", 32, 0).unwrap()[5], 10.0);
}

#[test]
fn a_text_that_does_not_compile_is_shown_with_its_line() {
    if !has_compiler("a_text_that_does_not_compile_is_shown_with_its_line") {
        return;
    }
    let text = "\nextern \"C\" __global__ void k(double* x) { x[0] = y; }\n";
    match Program::new(&Source::new("text.cu", text), &["k"], &[]) {
        Err(ShimError::Compile { log, .. }) => assert!(log.contains("text.cu:2:50"), "{log}"),
        other => panic!("{other:?}"),
    }
}
