//! Errors of kernels on the emulated device end the process, where there is a C++ compiler.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use dgsuite_gpu::cuda::{Args, Cuda, DeviceBuffer, LaunchConfig, Source};
use dgsuite_gpu::shim::{EMULATOR_CACHE, Emulator, ShimError};

const TEXT: &str = r#"#include "device.cuh"
extern "C" __global__ void twice(double* x) { x[threadIdx.x + blockDim.x * blockIdx.x] *= 2.0; }
extern "C" __global__ void race(double* x) { if (threadIdx.x > 0) x[threadIdx.x - 1] = x[threadIdx.x]; }
"#;

#[test]
#[ignore = "run by mistakes_end_the_process"]
fn child() {
    let cuda = Cuda::new(0).unwrap();
    let kernel = cuda.compile(&Source::new("text.cu", TEXT)).unwrap();
    let x = DeviceBuffer::from_slice(&cuda, "a test", &[1.0_f64; 40]).unwrap();
    let mut args = Args::new();
    args.buffer(&x);
    let blocks: u32 = std::env::var("BLOCKS").unwrap().parse().unwrap();
    let name = if blocks == 0 { "race" } else { "twice" };
    let y: Vec<f64> = (0..40).map(f64::from).collect();
    let mut z = DeviceBuffer::from_slice(&cuda, "a test", &y).unwrap();
    if blocks == 0 {
        args.set(0, z.ptr());
    }
    // SAFETY: the error is the purpose of the test, and affects the host's own memory only.
    unsafe {
        cuda.launch(&kernel.function(name).unwrap(), LaunchConfig::new(blocks.max(1), 20), &args).unwrap();
    };
    assert_eq!(x.to_vec().unwrap(), [2.0; 40]);
    z.upload(&[0.0; 40]).unwrap();
}

#[test]
fn mistakes_end_the_process() {
    let Some(emulator) = emulator("mistakes_end_the_process") else { return };
    let run = |blocks: &str| {
        let mut command = emulator.command(std::env::current_exe().unwrap());
        let output =
            command.args(["--exact", "child", "--ignored", "--nocapture"]).env("BLOCKS", blocks).output();
        let output = output.unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (right, log) = run("2");
    assert!(right, "{log}");
    let (right, log) = run("3");
    assert!(!right && log.contains("heap-buffer-overflow") && log.contains("text.cu:2"), "{log}");
    let (right, log) = run("0");
    assert!(!right && log.contains("text.cu: race writes another byte"), "{log}");
}

#[test]
#[ignore = "run by what_was_compiled_is_used_for_the_same_text_only"]
fn child_with_a_cache() {
    let emulator = Emulator::new().unwrap();
    let mut command = emulator.command(std::env::current_exe().unwrap());
    let status = command.args(["--exact", "child", "--ignored"]).env("BLOCKS", "2").status().unwrap();
    assert!(status.success());
}

#[test]
fn what_was_compiled_is_used_for_the_same_text_only() {
    if emulator("what_was_compiled_is_used_for_the_same_text_only").is_none() {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let run = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child_with_a_cache", "--ignored"]).env(EMULATOR_CACHE, cache.path());
        command.output().unwrap().status.success()
    };
    assert!(run());
    let folder = std::fs::read_dir(cache.path()).unwrap().next().unwrap().unwrap().path();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == "txt")).collect();
    let [text] = &texts[..] else { panic!("one text: {texts:?}") };
    assert!(run());
    std::fs::write(text.with_extension("so"), "no library").unwrap();
    assert!(!run(), "the library is compiled again, or nothing is run");
    let mut other = std::fs::read(text).unwrap();
    other.push(b' ');
    std::fs::write(text, other).unwrap();
    assert!(run(), "a library of another text is used");
}

/// The emulator; prints the reason if there is none.
fn emulator(test: &str) -> Option<Emulator> {
    match Emulator::new() {
        Ok(emulator) => Some(emulator),
        Err(reason @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
            // Not eprintln!: the test harness hides its output in tests that pass.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
            None
        }
        Err(reason) => panic!("{reason}"),
    }
}
