//! Sums of products: what `dot` and `convolution` have in common.
//!
//! Each element of the result is one sum of products. In the engine `exact` it is correctly
//! rounded: sums are formed fast, with a bound on their error, and where the bound leaves the
//! rounding open the exact sum is formed. So the bits of the result are the same on every machine
//! and with any number of threads. What is done in parallel, and what the compiler turns into
//! vector instructions, are different elements of the result.
//!
//! How a sum is formed depends on the operands' types and on the type it is rounded to:
//!
//! | operands | fast sum |
//! |---|---|
//! | integers and `pred` | modulo 2^64, then modulo the result's width; into a float it is rounded once |
//! | the same, into integers of up to 32 bits | modulo 2^32 |
//! | floats, in the engine `fast` | in f32, or in f64 if an operand or the result needs it |
//! | floats of up to 32 bits, perhaps with integers of up to 16 | exact products, added in f64 |
//! | the same, rounded to `f64` | exact products, added with the rounding errors kept |
//! | `f64`, or wider integers with floats | products and sums with their rounding errors kept |
//! | complex numbers | part by part, as their parts would be |
//!
//! A sum starts at +0, so a sum of negative zeros is +0. Products of complex numbers are formed
//! from their parts as arithmetic says: an infinite part is not recovered from a NaN that the other
//! part brings.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
mod accumulator;
mod algorithm;
mod blocked;
mod error_bound;
mod lines;
mod native;
mod native_blocks;
mod operands;
mod pack;
mod panels;
mod rounding;
mod scratch;
mod short;
#[cfg(test)]
mod tests;
mod tile;
mod transpose;
mod vector;

pub(super) use algorithm::ResolvedDotAlgorithm;
pub(super) use lines::{ResultLines, Tap};
pub(super) use operands::{LosslessElements, Operands, Rounding};
pub(super) use scratch::Extent;
pub use short::in_halves;
pub use short::{is_short, short_product};

use accumulator::{
    Accumulator, CompensatedAccumulator, CompensatedComplexAccumulator, F64Accumulator,
    F64ComplexAccumulator, SingleSums, WrappingAccumulator,
};
use error_bound::ErrorBound;
use half::bf16;
use native::NativeAccumulator;
use num::clock::Stop;
use panels::Job;
use rounding::Blocked;

/// The offset of a term without an element, as in padding. It is left out of the sum.
pub(super) const PADDING: usize = usize::MAX;

/// Writes the offsets of a row, one for each term, from the numbers of the batch and of the row.
pub(super) type RowOffsets<'a> = &'a (dyn Fn(usize, usize, &mut [usize]) + Sync);

/// The elements that are multiplied for each element of the result.
///
/// The result is an array of batches, rows and columns. A function gives the left offsets, since a
/// convolution has padding; a right offset is a sum of three.
pub(super) struct Contraction<'a> {
    /// Number of rows of a batch.
    pub(super) rows: usize,
    /// Writes the offsets of a row in the left operand.
    pub(super) lhs: RowOffsets<'a>,
    /// Whether a left offset can be [`PADDING`].
    pub(super) has_padding: bool,
    /// Offset of a batch in the right operand; as many as there are batches.
    pub(super) rhs_batches: &'a [usize],
    /// Offset of a column in the right operand.
    pub(super) rhs_columns: &'a [usize],
    /// Offset of a term in the right operand.
    pub(super) rhs_terms: &'a [usize],
    /// The offsets that `lhs` gives, as sums of three, if they are.
    pub(super) lists: Option<Lists<'a>>,
    /// The offsets that `lhs` gives, as runs, if they are few.
    pub(super) runs: Option<TermRuns<'a>>,
    /// How results lie in lines, if sums are formed so: real ones that
    /// [`ResolvedDotAlgorithm::has_lines`].
    pub(super) lines: Option<&'a ResultLines<'a>>,
}

/// Offsets in the left operand: of batches, rows and terms.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    pub(super) batches: &'a [usize],
    pub(super) rows: &'a [usize],
    pub(super) terms: &'a [usize],
}

/// Terms of a row that follow each other, also in the left operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermRun {
    /// The number of the first term.
    pub(super) term: usize,
    /// Its offset in the left operand.
    pub(super) lhs: usize,
    pub(super) count: usize,
}

/// The terms of rows that are not [`PADDING`].
#[derive(Clone, Copy)]
pub(super) struct TermRuns<'a> {
    /// The distance in the left operand from term to term.
    pub(super) step: usize,
    /// Appends the runs of a row, from the numbers of the batch and of the row.
    pub(super) of: &'a (dyn Fn(usize, usize, &mut Vec<TermRun>) + Sync),
}

impl Contraction<'_> {
    /// Multiplications there are to do.
    fn work(&self) -> usize {
        self.batch_work().saturating_mul(self.rhs_batches.len())
    }
    fn batch_work(&self) -> usize {
        self.rows.saturating_mul(self.rhs_columns.len()).saturating_mul(self.rhs_terms.len())
    }
}

/// Writes all sums of the contraction, batch by batch and row by row, into the bytes of an array.
pub(super) fn contract_into(
    plan: &Contraction<'_>,
    pair: &Operands<'_>,
    rounding: Rounding,
    out: &mut [u8],
) {
    use panels::{run, run_single_or_tiled};
    match pair {
        Operands::Integers(a, b) => {
            run_single_or_tiled(&job::<WrappingAccumulator, 1>(plan, a, b, rounding), out);
        }
        Operands::NarrowIntegers(a, b) => {
            run_blocked(&job::<NativeAccumulator<i32>, 1>(plan, a, b, rounding), out);
        }
        Operands::Bf16(a, b) => {
            run_blocked(&job::<NativeAccumulator<bf16>, 1>(plan, a, b, rounding), out);
        }
        Operands::Single(a, b) => {
            run_blocked(&job::<NativeAccumulator<f32>, 1>(plan, a, b, rounding), out);
        }
        Operands::Double(a, b) => {
            run_blocked(&job::<NativeAccumulator<f64>, 1>(plan, a, b, rounding), out);
        }
        Operands::F64Accumulator(a, b) => {
            run_blocked(&job::<F64Accumulator, 1>(plan, a, b, rounding), out);
        }
        Operands::CompensatedAccumulator(a, b) => {
            run(&job::<CompensatedAccumulator, 2>(plan, a, b, rounding), out);
        }
        Operands::F64ComplexAccumulator(a, b) => {
            run_single_or_tiled(&job::<F64ComplexAccumulator, 2>(plan, a, b, rounding), out);
        }
        Operands::CompensatedComplexAccumulator(a, b) => {
            run(&job::<CompensatedComplexAccumulator, 4>(plan, a, b, rounding), out);
        }
    }
}

/// Forms the sums in lines, if the contraction has them; else in tiles, or for a single row or
/// column as a product with a vector or one by one.
fn run_blocked<K: Blocked + SingleSums<1>>(job: &Job<'_, K, 1>, out: &mut [u8]) {
    if let Some(lines) = job.plan.lines {
        return lines::run(job, lines, out);
    }
    let is_packable = !out.is_empty() && job.can_be_packed();
    let is_vector = job.plan.rows.min(job.plan.rhs_columns.len()) == 1;
    if is_packable && !is_vector {
        if !native_blocks::run(job, out) {
            blocked::run(job, out);
        }
    } else if !(is_packable && vector::run_vectors(job, out)) {
        job.run(out, |batch, out, parallel| job.direct(batch, out, parallel));
    }
}

fn job<'a, K: Accumulator<PLANES>, const PLANES: usize>(
    plan: &'a Contraction<'a>,
    lhs: &'a [K::Stored],
    rhs: &'a [K::Stored],
    rounding: Rounding,
) -> Job<'a, K, PLANES> {
    let error = ErrorBound::new(plan.rhs_terms.len() * K::PRODUCTS, rounding.sum_type());
    Job { plan, lhs, rhs, rounding, error, stop: Stop::current() }
}
