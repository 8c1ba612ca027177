//! Equality of modules for every float argument, tested over finite fields.
//!
//! Floats become elements of a field: numbers modulo a prime. `+ - * /` are exact there, an
//! exponential is a power, half of the numbers have a square root, and every other function is an
//! oracle, a hash of the function and its argument. Two modules whose results agree on random
//! elements are the same function in exact arithmetic, but for a small probability: a polynomial of
//! degree d that is not zero is zero for at most d of p arguments. There is no tolerance.
//!
//! What it does not see is what floats do otherwise than real numbers: rounding, overflow,
//! denormals, NaN, the sign of zero. Integers, predicates and what they decide are tested with the
//! values that are drawn, not proved.
//!
//! [`equal`] compares two modules.
//!
//! | module | what |
//! |---|---|
//! | `tower`, `discrete` | arithmetic and logarithms modulo three primes, of which each has the exponents of the one before |
//! | `element`, `pair`, `unity` | numbers of the field, complex numbers, roots of unity |
//! | `rational` | what constants mean |
//! | `degree`, `known` | bounds of degrees; roots, logarithms and literals that are known |
//! | `arithmetic` | the order, the oracles, and the laws of functions |
//! | `kernels`, `batch_norm`, `factors`, `unknown` | products, reductions, decompositions, unknown functions |
//! | `constants`, `lift`, `walk` | a module over the field, which the engine runs; its values |
//! | `draw`, `cells`, `ties` | arguments; those that are a constant or between two; those for which
//! compared numbers are equal |
//! | `coverage`, `watch`, `met` | which ways were taken, which elements were compared |
//! | `fingerprint`, `cut`, `continuous` | hashes of what instructions compute; what two modules compute alike, and when that may be any value |
//! | `run`, `fit`, `compared`, `equal` | runs, signatures, results, the answer |
//!
//! Source: Mirage (OSDI 2025); "Identity Testing for Circuits with Exponentiation Gates" (ITCS
//! 2026).
#![warn(clippy::wildcard_enum_match_arm)]
mod arithmetic;
mod batch_norm;
mod cells;
mod compared;
mod constants;
mod continuous;
mod coverage;
mod cut;
mod degree;
mod discrete;
mod draw;
mod element;
mod equal;
mod factors;
pub mod fingerprint;
mod fit;
mod kernels;
mod known;
mod lift;
mod met;
mod pair;
mod rational;
mod run;
mod ties;
mod tower;
mod unity;
mod unknown;
mod walk;
mod watch;

pub use coverage::Coverage;
pub use cut::{Cut, cut};
pub use equal::{Answer, CHANCE, Difference, Evidence, Options, equal, equal_apart};
pub use fit::Failure;
pub use lift::{Open, OpenKind};
