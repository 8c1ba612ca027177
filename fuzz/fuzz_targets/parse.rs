//! The reader never panics, and what it reads prints to a fixed point: `cargo +nightly fuzz run parse`.
#![no_main]
use hlo::ir::ParseOptions;
use hlo::text::Style;
use hlo::Module;

mod words;

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    words::mutate(data, size, most, seed)
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = ParseOptions { lenient: bytes.first().is_some_and(|b| b % 2 == 1) };
    let Ok(parsed) = Module::parse_bytes(bytes, options) else { return };
    let printed = parsed.module.print(Style::Short);
    let again = Module::parse_with(&printed, options).expect("what is printed can be read");
    assert_eq!(again.module.print(Style::Short), printed);
    let _ = parsed.module.verify();
});
