//! No bytes make the reader of arrays panic or take memory beyond its bounds: `cargo +nightly fuzz run npz`.
#![no_main]
use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = hlo::literal::npz::read(Cursor::new(bytes));
    let _ = hlo::literal::npz::read_array("x".to_owned(), bytes);
});
