//! The reader of checkpoints under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dgsuite_fuzz::targets::checkpoint(data));
