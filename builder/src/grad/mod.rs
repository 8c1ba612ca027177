//! Automatic differentiation: JVPs and VJPs of the instructions of one computation.
//!
//! A rule gives the tangent of an instruction's result from the tangents of its operands
//! ([`node::Derivative::jvp`]) and the cotangents of the operands from the cotangent of the result
//! ([`node::Derivative::vjp`]). The two are transposes of each other, and the tests check
//! `<jvp(t), c> = <t, vjp(c)>`. Rules add instructions to the computation that is differentiated,
//! so derivatives of any order need nothing else. Called computations get derivative computations.
//!
//! Complex functions are differentiated as holomorphic ones, and the gradient of a real function of
//! `z = x + iy` is `df/dx - i df/dy`, as in JAX. Cotangents are therefore paired with tangents by
//! the real part of their product, without a conjugate.
//!
//! The files build on each other in this order; no file uses a later one:
//!
//! | files | contents |
//! |---|---|
//! | `tangent`, `leaves` | tangents of values, as trees and as lists of leaves |
//! | `node` | the interface of rules, and the instruction a rule is applied to |
//! | `ops`, `combiner`, `lift`, `matrices`, `trip_count` | what several rules need |
//! | `sweep` | the forward and the reverse sweep over a computation |
//! | `callee`, `rewrite` | derivatives of called computations, and of ops rewritten as simpler ones |
//! | `decompositions`, `library` | the library's functions, found by the names of their composites |
//! | one file per op or family | the rules |
//! | `rules` | the table of all rules |
//! | `zero`, `api`, `transform` | errors, and the public methods |
mod api;
mod batch_norm;
mod binary;
mod branches;
mod callee;
mod calls;
mod cholesky;
mod combiner;
mod contraction;
mod convolution;
mod decompositions;
mod devices;
mod fft;
mod gather;
mod grouped_dots;
mod leaves;
mod library;
mod lift;
mod loops;
mod matrices;
mod movement;
mod node;
mod ops;
mod order;
mod reduction;
mod rewrite;
mod rules;
mod scan;
mod scatter;
mod select;
mod slices;
mod sweep;
mod tangent;
#[cfg(test)]
#[path = "../../tests/grad_rules/mod.rs"]
mod tests;
mod transform;
mod triangular_solve;
mod trip_count;
mod unary;
mod windows;
mod zero;

pub use api::{Disconnected, GradOptions};
