//! The reader of Gmsh files under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dgsuite_fuzz::targets::mesh(data));
