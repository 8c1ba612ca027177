//! Sums of products: what `dot` and `convolution` have in common.
//!
//! Each element of the result is one sum of products, correctly rounded: sums are formed fast, with a bound on their error,
//! and where the bound leaves the rounding open the exact sum is formed. So the bits of the result are the same on every
//! machine and with any number of threads. What is done in parallel, and what the compiler turns into vector instructions,
//! are different elements of the result.
//!
//! How a sum is formed depends on the operands' types and on the type it is rounded to:
//!
//! | operands | fast sum |
//! |---|---|
//! | integers and `pred` | modulo 2^64, then modulo the result's width; into a float it is rounded once |
//! | the same, into integers of up to 32 bits | modulo 2^32 |
//! | floats of up to 32 bits, perhaps with integers of up to 16 | exact products, added in f64 |
//! | the same, rounded to `f64` | exact products, added with the rounding errors kept |
//! | `f64`, or wider integers with floats | products and sums with their rounding errors kept |
//! | complex numbers | part by part, as their parts would be |
//!
//! A sum starts at +0, so a sum of negative zeros is +0. Products of complex numbers are formed from their parts as
//! arithmetic says: an infinite part is not recovered from a NaN that the other part brings.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
mod blocked;
mod error;
mod kernel;
mod numbers;
mod pack;
mod panels;
mod recipe;
mod scratch;
mod settle;
mod tile;
mod vector;

pub(super) use numbers::{Numbers, Operands, Rounding};
pub(super) use recipe::Recipe;
pub(super) use scratch::Extent;

use crate::clock::Stop;
use error::Error;
use kernel::{
    CompensatedAccumulator, CompensatedComplexAccumulator, F64Accumulator, F64ComplexAccumulator,
    Kernel, NarrowAccumulator, SingleSums, WrappingAccumulator,
};
use panels::Job;
use settle::Blocked;

/// The offset of a term without an element, as in padding. It is left out of the sum.
pub(super) const PADDING: usize = usize::MAX;

/// Writes the offsets of a row, one for each term, from the numbers of the batch and of the row.
pub(super) type RowOffsets<'a> = &'a (dyn Fn(usize, usize, &mut [usize]) + Sync);

/// Which elements are multiplied for which element of the result.
///
/// The result is an array of batches, rows and columns. A function gives the left offsets, since a convolution
/// has padding; a right offset is a sum of three.
pub(super) struct Plan<'a> {
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
    /// The same offsets in the left operand as `lhs` gives, if they are sums of three.
    pub(super) lists: Option<Lists<'a>>,
    /// The same offsets in the left operand as `lhs` gives, if they are few runs.
    pub(super) runs: Option<Runs<'a>>,
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
pub(super) struct Run {
    /// The number of the first term.
    pub(super) term: usize,
    /// Its offset in the left operand.
    pub(super) lhs: usize,
    pub(super) count: usize,
}

/// The terms of rows that are not [`PADDING`].
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    /// The distance in the left operand from term to term.
    pub(super) step: usize,
    /// Appends the runs of a row, from the numbers of the batch and of the row.
    pub(super) of: &'a (dyn Fn(usize, usize, &mut Vec<Run>) + Sync),
}

impl Plan<'_> {
    /// Multiplications there are to do.
    fn work(&self) -> usize {
        self.batch_work().saturating_mul(self.rhs_batches.len())
    }
    fn batch_work(&self) -> usize {
        self.rows.saturating_mul(self.rhs_columns.len()).saturating_mul(self.rhs_terms.len())
    }
}

/// All sums of the plan, batch by batch and row by row, into the bytes of an array.
pub(super) fn contract_into(
    plan: &Plan<'_>,
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
            run_blocked(&job::<NarrowAccumulator, 1>(plan, a, b, rounding), |_, _| false, out);
        }
        Operands::F64Accumulator(a, b) => {
            let job = job::<F64Accumulator, 1>(plan, a, b, rounding);
            run_blocked(&job, vector::run_vectors, out);
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

/// The sums in tiles; those of a single row or column by `vectors`, if that returns true, or else one by one.
fn run_blocked<K: Blocked + SingleSums<1>>(
    job: &Job<'_, K, 1>,
    vectors: impl FnOnce(&Job<'_, K, 1>, &mut [u8]) -> bool,
    out: &mut [u8],
) {
    let is_packable = !out.is_empty() && job.can_be_packed();
    let is_vector = job.plan.rows.min(job.plan.rhs_columns.len()) == 1;
    if is_packable && !is_vector {
        blocked::run(job, out);
    } else if !(is_packable && vectors(job, out)) {
        job.run(out, |batch, out, parallel| job.direct(batch, out, parallel));
    }
}

fn job<'a, K: Kernel<PLANES>, const PLANES: usize>(
    plan: &'a Plan<'a>,
    lhs: &'a [K::Stored],
    rhs: &'a [K::Stored],
    rounding: Rounding,
) -> Job<'a, K, PLANES> {
    let error = Error::new(plan.rhs_terms.len() * K::PRODUCTS, rounding.sum_type());
    Job { plan, lhs, rhs, rounding, error, stop: Stop::current() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::ElementType as E;
    use hlo::op::value::DotAlgorithm;
    use hlo::{ArrayShape, Literal};

    /// Elements of many magnitudes, the same in each run.
    fn filled(ty: E, count: i64, seed: u32) -> Literal {
        let mut state = seed;
        let mut array = Literal::zeros(ArrayShape::new(ty, [count].as_slice()));
        crate::value::fill(&mut array, |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let x = f64::from(state).mul_add(1e-9, -2.1) * f64::from(1 << (state >> 28));
            let x = if ty.is_complex() {
                hlo::Scalar::Complex(x, 1.0 / x)
            } else {
                hlo::Scalar::Float(x)
            };
            let from = if ty.is_complex() { E::C128 } else { E::F64 };
            x.convert(from, ty)
        });
        array
    }

    #[test]
    fn tiles_and_single_sums_give_the_same_bits() {
        const ROWS: usize = 37;
        const COLUMNS: usize = 70;
        const TERMS: usize = 19;
        let size = |a: usize, b: usize| i64::try_from(a * b).unwrap();
        let columns: Vec<usize> = (0..COLUMNS).collect();
        let terms: Vec<usize> = (0..TERMS).map(|k| k * COLUMNS).collect();
        for (ty, to) in [
            (E::F32, E::F32),
            (E::F32, E::F64),
            (E::Bf16, E::Bf16),
            (E::F64, E::F64),
            (E::S32, E::S32),
            (E::S8, E::S64),
            (E::U8, E::U16),
            (E::C64, E::C64),
            (E::C128, E::C128),
        ] {
            let (lhs, rhs) =
                (filled(ty, size(ROWS, TERMS), 1), filled(ty, size(TERMS, COLUMNS), 2));
            let row = |row: usize, offsets: &mut [usize]| {
                for (k, offset) in offsets.iter_mut().enumerate() {
                    *offset = if (row + k).is_multiple_of(5) { PADDING } else { row * TERMS + k };
                }
            };
            let all = Plan {
                rows: ROWS,
                lhs: &|_, r, offsets| row(r, offsets),
                has_padding: true,
                rhs_batches: &[0],
                rhs_columns: &columns,
                rhs_terms: &terms,
                lists: None,
                runs: None,
            };
            let recipe = Recipe::of(DotAlgorithm::Unset);
            let width = to.storage_bytes();
            let mut tiled = vec![0; ROWS * COLUMNS * width];
            recipe.contract(&all, (&lhs, &rhs), to, &mut tiled);
            for r in 0..ROWS {
                for c in 0..COLUMNS {
                    let one = Plan {
                        rows: 1,
                        lhs: &|_, _, offsets| row(r, offsets),
                        rhs_columns: &columns[c..=c],
                        ..all
                    };
                    let mut single = vec![0; width];
                    recipe.contract(&one, (&lhs, &rhs), to, &mut single);
                    let at = (r * COLUMNS + c) * width;
                    assert_eq!(tiled[at..at + width], single, "{ty} {r} {c}");
                }
            }
        }
    }
}
