//! The function library: what XLA's builder has in `xla/hlo/builder/lib` for constants, arithmetic,
//! comparators, special functions, random numbers, quantized numbers and approximate top-k.
//!
//! # Special functions
//!
//! `erfc`, `lgamma`, `igamma` and their kin are composite calls (`etalon.lgamma`) of computations
//! of ordinary elementwise instructions, and loops where a series has to be summed; a backend that
//! does not know the composite inlines it. They compute in `f64` whatever the type, and round the
//! result once: `f16`, `bf16`, `f32` and narrower results are the nearest value, except where the
//! exact value lies within about 1e-14 of half a step. For `f64` each function states a bound in
//! ULP (units in the last place of the result), measured on engines whose `exp`, `log`, `pow` and
//! `erf` are correctly rounded, as the reference engine's are; an engine with worse ones adds their
//! errors.
//!
//! Derivatives are those of the functions, not of the instructions: `lgamma` has `digamma`,
//! `digamma` has `polygamma(1, x)`, `igamma` has [`igamma_grad_a`](crate::Value::igamma_grad_a) and
//! the density of the gamma distribution. There is none by the order of `polygamma`, by `a` and `b`
//! of the incomplete beta function, of `random_gamma_grad` and of `next_after`.
//!
//! Whether an element has converged never depends on its neighbors: an element's value is the same
//! in any array.
//!
//! The formulas are those of Abramowitz and Stegun, *Handbook of Mathematical Functions*, and of
//! the *NIST Digital Library of Mathematical Functions* (DLMF); each function names its own.
//! Operands are real floats of one type, broadcast as everywhere ([`Operand`](crate::Operand));
//! anything else is `E0801`.
mod approx_top_k;
mod arithmetic;
mod bits;
mod comparators;
mod constants;
mod elementary;
mod prng;
mod quantize;
pub(crate) mod special;

pub use approx_top_k::{ApproxTopK, approx_top_k_reduction_output_size};
pub use comparators::Comparison;
pub use prng::{BitGenerator, RngOutput, philox_increase_counter, scramble_philox_key};
pub use quantize::{Dequantize, PackedElement, QuantizedRange, pack_to_uint32};
