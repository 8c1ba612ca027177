//! No bytes make the reader of messages panic, and what it reads can be printed and written: `cargo +nightly fuzz run proto`.
#![no_main]
use hlo::text::Style;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = hlo::proto::open(bytes);
    let Ok(module) = hlo::proto::decode(bytes) else { return };
    let _ = module.print(Style::Full);
    let _ = hlo::proto::encode(&module);
    let _ = module.verify();
});
