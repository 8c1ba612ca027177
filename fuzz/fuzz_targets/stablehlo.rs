//! No bytes make the readers of MLIR text and bytecode panic: `cargo +nightly fuzz run stablehlo`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = stablehlo::read(bytes);
});
