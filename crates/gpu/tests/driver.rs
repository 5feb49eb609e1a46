//! The messages if the driver is missing, old, without devices or out of memory. A small driver in C replaces
//! the real one in a child process of this test, so that the test runs on any machine.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::Command;

use dgsuite_gpu::cuda::{Cuda, DeviceBuffer};
use dgsuite_gpu::shim::compiler;

/// Two devices with 1000 bytes, of which 600 are free; one array of 512 bytes can be allocated. The version,
/// the result of `cuInit` and the number of devices come from the environment.
const DRIVER: &str = r#"
#include <stdlib.h>
#include <string.h>
static int set(const char* name, int other) { const char* v = getenv(name); return v ? atoi(v) : other; }
extern "C" {
int cuDriverGetVersion(int* v) { *v = set("FAKE_VERSION", 13000); return 0; }
int cuInit(unsigned) { return set("FAKE_INIT", 0); }
int cuDeviceGetCount(int* n) { *n = set("FAKE_COUNT", 2); return 0; }
int cuDeviceGet(int* device, int i) { *device = i; return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) { *value = attribute; return 0; }
int cuDeviceGetName(char* name, int n, int) { strncpy(name, "A test device", n); return 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int) { *bytes = 1000; return 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { *context = (void*)1; return 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuStreamCreate(void** stream, unsigned) { *stream = (void*)2; return 0; }
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return set("FAKE_SYNC", 0); }
int cuMemGetInfo_v2(size_t* free, size_t* total) { *free = 600; *total = 1000; return 0; }
int cuMemAlloc_v2(unsigned long long* p, size_t n) { *p = 4096; return n > 512 ? 2 : 0; }
int cuMemFree_v2(unsigned long long) { return 0; }
int cuMemsetD8Async(unsigned long long, unsigned char, size_t, void*) { return 0; }
int cuGetErrorString(int code, const char** words) { *words = code == 700 ? "an illegal memory access" : "?"; return 0; }
}
"#;

#[test]
#[ignore = "run by each_failure_is_a_sentence"]
fn child() {
    let show = |words: String| println!("said: {words}");
    match Cuda::devices() {
        Ok(devices) => show(format!("{} devices, {}", devices.len(), devices[1])),
        Err(error) => show(error.to_string()),
    }
    let Ok(cuda) = Cuda::new(1) else { return };
    show(Cuda::new(5).unwrap_err().to_string());
    let small = DeviceBuffer::<f64>::zeros(&cuda, "a state", 64).map(|buffer| buffer.bytes());
    show(small.map_or_else(|error| error.to_string(), |bytes| bytes.to_string()));
    let large = DeviceBuffer::<f64>::zeros(&cuda, "the state of 9 elements", 90);
    show(large.err().unwrap().to_string());
}

#[test]
fn each_failure_is_a_sentence() {
    let compiler = match compiler() {
        Ok(compiler) => compiler,
        Err(reason) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
            // Not eprintln!: the test harness hides its output in tests that pass.
            let _ = writeln!(std::io::stderr(), "SKIPPED each_failure_is_a_sentence: {reason}");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("driver.cpp");
    std::fs::write(&text, DRIVER).unwrap();
    let library = folder.path().join("libcuda.so");
    let made =
        Command::new(compiler).args(["-shared", "-fPIC", "-o"]).args([&library, &text]).status().unwrap();
    assert!(made.success());

    let said = |variable: &str, value: &str| {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env("LD_LIBRARY_PATH", folder.path())
            .env("CUDA_VISIBLE_DEVICES", "7")
            .env(variable, value)
            .output()
            .unwrap();
        let words = String::from_utf8(child.stdout).unwrap();
        assert!(child.status.success(), "{variable}={value}: {words}");
        // The test harness prints the test's name before the first.
        let said = words.lines().filter_map(|line| line.split_once("said: "));
        said.map(|(_, words)| words.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        said("FAKE_VERSION", "11040"),
        [
            "the NVIDIA driver is too old: it supports CUDA 11.4, but at least 12.0 is needed; update the driver"
        ]
    );
    assert_eq!(said("FAKE_COUNT", "0"), ["the NVIDIA driver sees no device (CUDA_VISIBLE_DEVICES = 7)"]);
    assert_eq!(said("FAKE_INIT", "100"), ["the NVIDIA driver sees no device (CUDA_VISIBLE_DEVICES = 7)"]);
    // A stub from the toolkit instead of the driver.
    assert_eq!(
        said("FAKE_INIT", "34"),
        ["no NVIDIA driver was found (libcuda.so.1): install one, or run on the CPU"]
    );
    assert_eq!(
        said("FAKE_INIT", "803"),
        ["the NVIDIA driver failed while starting: ?, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"]
    );
    let works = said("FAKE_INIT", "0");
    assert!(works[0].starts_with("2 devices, A test device, sm_7576, 16 multiprocessors, "), "{works:?}");
    assert!(works[0].ends_with("driver for CUDA 13.0"), "{works:?}");
    assert_eq!(
        works[1..],
        [
            "there is no device 5: this machine has 2, numbered from 0",
            "512",
            "out of memory on the device: 720 bytes are needed for the state of 9 elements, 600 of 1000 are free",
        ]
    );
    assert_eq!(
        said("FAKE_SYNC", "700")[2],
        "a kernel failed on the device (an illegal memory access, CUDA_ERROR_ILLEGAL_ADDRESS), noticed while waiting for a \
         stream: this run cannot use the device any more"
    );
}
