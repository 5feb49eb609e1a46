//! The reader of pipeline files under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dgsuite_fuzz::targets::pipeline(data));
