//! Kernels without a device: NVRTC compiles them wherever its library is (`DGSUITE_NVRTC`).
#![allow(clippy::unwrap_used)]

use std::io::Write;

use dgsuite_gpu::GpuError;
use dgsuite_gpu::cuda::{Cache, Options, Source, nvrtc};

/// Whether the compiler is available; prints the reason if not.
fn compiler(test: &str) -> bool {
    match nvrtc::version() {
        Ok(_) => true,
        Err(reason) => {
            let required = std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_some_and(|v| v == "1");
            assert!(!required, "{reason}");
            // Not eprintln!: the test harness hides its output in tests that pass.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
            false
        }
    }
}

const SCALE: &str = r#"#include "device.cuh"
extern "C" __global__ void __launch_bounds__(128) scale(real* x, real a, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i] + SHIFT;
}
"#;

#[test]
fn a_kernel_compiles_for_an_architecture_and_tells_its_resources() {
    if !compiler("a_kernel_compiles_for_an_architecture_and_tells_its_resources") {
        return;
    }
    let source = Source::new("scale.cu", SCALE).define("SHIFT", 1);
    for architecture in ["sm_80", "sm_90"] {
        let compiled = nvrtc::compile_for(architecture, &source).unwrap();
        assert!(compiled.cubin.starts_with(b"\x7fELF"));
        let [scale] = &compiled.resources()[..] else { panic!("{}", compiled.log) };
        assert_eq!((scale.kernel.as_str(), scale.spill_stores, scale.stack_bytes), ("scale", 0, 0));
        assert!((6..=24).contains(&scale.registers), "{scale:?}");
    }
    // Too few registers for 64 numbers: they spill, and the log reports it.
    let greedy = r#"extern "C" __global__ void greedy(double* x, int n) {
        double a[64];
        for (int i = 0; i < 64; i++) a[i] = x[i * n];
        for (int k = 0; k < n; k++) {
            #pragma unroll
            for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 1) % 64] + x[k];
        }
        for (int i = 0; i < 64; i++) x[i * n] = a[i];
    }"#;
    let options = Options { max_registers: Some(32), line_info: true, ..Options::default() };
    let compiled = nvrtc::compile_for("sm_90", &Source::new("greedy.cu", greedy).options(options)).unwrap();
    let greedy = &compiled.resources()[0];
    assert!(greedy.registers <= 32 && greedy.spill_stores >= 256, "{greedy:?}");
}

#[test]
fn a_mistake_is_shown_with_our_name_and_line() {
    if !compiler("a_mistake_is_shown_with_our_name_and_line") {
        return;
    }
    let source = Source::new("scale.cu", SCALE).define("SHIFT", "shft").header("unused.cuh", "");
    let error = nvrtc::compile_for("sm_90", &source).unwrap_err();
    let GpuError::Compile { name, log, .. } = &error else { panic!("{error}") };
    assert_eq!(name, "scale.cu");
    assert!(log.contains("scale.cu(4): error: identifier \"shft\" is undefined"), "{log}");
    let unknown = nvrtc::compile_for("sm_1", &Source::new("scale.cu", SCALE)).unwrap_err();
    assert!(matches!(&unknown, GpuError::Compile { .. }), "{unknown}");
}

#[test]
fn the_cache_gives_the_same_code_and_heals() {
    if !compiler("the_cache_gives_the_same_code_and_heals") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kernels"));
    let source = Source::new("scale.cu", SCALE).define("SHIFT", 2);
    let first = cache.compile("sm_90", &source).unwrap();
    let entry = || {
        let mut entries = std::fs::read_dir(cache.folder().unwrap()).unwrap();
        let path = entries.next().unwrap().unwrap().path();
        assert!(entries.next().is_none());
        path
    };
    let stored = std::fs::read(entry()).unwrap();
    // The log contains the compilation time: the same log is read from the file.
    assert_eq!(cache.compile("sm_90", &source).unwrap(), first);
    std::fs::write(entry(), &stored[..stored.len() / 2]).unwrap();
    let healed = cache.compile("sm_90", &source).unwrap();
    assert_eq!(healed.resources(), first.resources());
    assert!(std::fs::read(entry()).unwrap().len() > stored.len() / 2 + 100);
    assert_eq!(cache.compile("sm_90", &source).unwrap(), healed);
    // A folder that cannot be created costs only time.
    let blocked = Cache::at(entry().join("below a file"));
    assert_eq!(blocked.compile("sm_90", &source).unwrap().resources(), first.resources());
}
