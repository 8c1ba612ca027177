//! Etalon: a reference backend for XLA's HLO. This crate re-exports the parts; the binary `etalon` is built on them.
//!
//! ```
//! let text = "HloModule m\nENTRY e { ROOT c = f32[2] constant({1, 2}) }";
//! let verified = etalon::hlo::Module::parse(text).unwrap().verify().unwrap();
//! let result = etalon::interp::Interpreter::new(&verified).run(&[]).unwrap();
//! assert_eq!(result.to_string(), "f32[2]{0} {1, 2}");
//! ```
pub use {builder, collectives, conformance, hlo, interp};
