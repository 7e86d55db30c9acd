#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| quarry_fuzz::picture(input));
