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
//! | complex numbers | as real ones, of twice the terms and twice the columns |
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
mod complex;
mod error_bound;
mod job;
mod lines;
mod native;
mod native_blocks;
mod offsets;
mod operands;
mod outer;
mod pack;
mod rounding;
mod scratch;
mod short;
mod single;
mod small;
#[cfg(test)]
mod tests;
mod tile;
mod tiny;
mod vector;

pub(super) use algorithm::ResolvedDotAlgorithm;
pub(super) use error_bound::ErrorBound;
pub(super) use lines::{ResultLines, Tap};
pub(super) use offsets::{OffsetList, OffsetVec};
pub(super) use operands::{LosslessElements, Operands, Rounding};
pub(super) use scratch::Extent;
pub use short::in_halves;
pub use short::{is_short, short_product};
pub(super) use single::PART;
pub(super) use tiny::products;

use crate::squares::SIDE;
use accumulator::{Accumulator, CompensatedAccumulator, F64Accumulator, OwnSums};
use half::bf16;
use job::Job;
use native::NativeAccumulator;
use pack::Order;

/// The elements that are multiplied for each element of the result.
#[derive(Clone, Copy)]
pub(super) enum Sums<'a> {
    /// Rows times columns, whose sums lie batch by batch and row by row.
    Matrix(Contraction<'a>),
    /// One row times one column, in parts: the batches are those of one sum of so many terms.
    Single(Contraction<'a>, usize),
    /// Terms of lines of results: real ones that [`ResolvedDotAlgorithm::has_lines`].
    Lines(&'a ResultLines<'a>),
}

/// The rows and columns whose products are summed for each element of the result, an array of
/// batches, rows and columns.
#[derive(Clone, Copy)]
pub(super) struct Contraction<'a> {
    /// Number of rows of a batch.
    pub(super) rows: usize,
    pub(super) lhs: LhsOffsets<'a>,
    /// The offsets of columns, in each of the batches.
    pub(super) rhs: Lists<'a>,
}

/// The offsets of the terms of each row in the left operand.
#[derive(Clone, Copy)]
pub(super) enum LhsOffsets<'a> {
    /// Sums of the offsets of a batch, a row and a term.
    Sums(Lists<'a>),
    /// Runs of terms. Other terms are padding, which takes no part in a sum.
    Runs {
        /// The distance in the left operand from term to term.
        step: usize,
        /// Whether a row may have padding.
        has_padding: bool,
        of: RowRuns<'a>,
    },
}

/// Appends the runs of a row, from the numbers of the batch and of the row.
pub(super) type RowRuns<'a> = &'a (dyn Fn(usize, usize, &mut Vec<TermRun>) + Sync);

/// Offsets in an operand, of which one of each list are added: of batches, of rows or columns, and
/// of terms.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    pub(super) batches: OffsetList<'a>,
    pub(super) indices: OffsetList<'a>,
    pub(super) terms: OffsetList<'a>,
}

impl<'a> Lists<'a> {
    pub(super) fn new(batches: &'a [usize], indices: &'a [usize], terms: &'a [usize]) -> Self {
        Self { batches: batches.into(), indices: indices.into(), terms: terms.into() }
    }
}

/// Terms of a row that follow each other, at even distances in the left operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermRun {
    /// The number of the first term.
    pub(super) term: usize,
    /// Its offset in the left operand.
    pub(super) lhs: usize,
    pub(super) count: usize,
}

impl LhsOffsets<'_> {
    fn has_padding(self) -> bool {
        match self {
            Self::Sums(_) => false,
            Self::Runs { has_padding, .. } => has_padding,
        }
    }
    /// Returns the distance of rows whose terms follow each other, if it is the same for all.
    fn row_step(self) -> Option<usize> {
        match self {
            Self::Sums(Lists { indices, terms, .. }) => {
                indices.step().filter(|_| terms.are_neighbors())
            }
            Self::Runs { .. } => None,
        }
    }
    /// Returns the offset of the first term of a row.
    fn start(self, batch: usize, row: usize) -> usize {
        match self {
            Self::Sums(Lists { batches, indices, terms }) => {
                batches[batch] + indices[row] + terms[0]
            }
            Self::Runs { .. } => 0,
        }
    }
    /// Returns the order of the elements of rows, if these are sums of offsets.
    fn order(self) -> Order {
        match self {
            Self::Sums(lists) => Order::of(lists),
            Self::Runs { .. } => Order::Any,
        }
    }
    /// Returns the numbers of the terms of a row that are not padding, and their offsets.
    fn terms(self, batch: usize, row: usize) -> Vec<(usize, usize)> {
        match self {
            Self::Sums(Lists { batches, indices, terms }) => {
                let start = batches[batch] + indices[row];
                terms.iter().map(|&term| start + term).enumerate().collect()
            }
            Self::Runs { step, of, .. } => {
                let mut runs = Vec::new();
                of(batch, row, &mut runs);
                let term = |run: TermRun| move |i: usize| (run.term + i, run.lhs + i * step);
                runs.into_iter().flat_map(|run| (0..run.count).map(term(run))).collect()
            }
        }
    }
}

impl LhsOffsets<'_> {
    /// Calls `then` with the offsets of rows of several parts, each of which has all `terms`.
    fn with_parts(
        self,
        (scale, parts): (usize, &[usize]),
        terms: usize,
        then: impl FnOnce(LhsOffsets<'_>),
    ) {
        match self {
            Self::Sums(lists) => {
                let [batches, indices] =
                    [lists.batches, lists.indices].map(|x| in_parts(&x, scale, &[0]));
                let terms = in_parts(&lists.terms, scale, parts);
                then(LhsOffsets::Sums(Lists::new(&batches, &indices, &terms)));
            }
            Self::Runs { step, has_padding, of } => {
                let of = |batch: usize, row: usize, runs: &mut Vec<TermRun>| {
                    let start = runs.len();
                    of(batch, row, runs);
                    for run in runs.split_off(start) {
                        runs.extend(parts.iter().enumerate().map(|(i, part)| TermRun {
                            term: i * terms + run.term,
                            lhs: scale * run.lhs + part,
                            ..run
                        }));
                    }
                };
                then(LhsOffsets::Runs { step: scale * step, has_padding, of: &of });
            }
        }
    }
}

/// Returns `scale` times the offsets, plus that of each part, part by part.
fn in_parts(offsets: &[usize], scale: usize, parts: &[usize]) -> Vec<usize> {
    parts.iter().flat_map(|part| offsets.iter().map(move |at| scale * at + part)).collect()
}

impl Contraction<'_> {
    /// Multiplications there are to do.
    fn work(&self) -> usize {
        self.batch_work().saturating_mul(self.rhs.batches.len())
    }
    fn batch_work(&self) -> usize {
        self.rows.saturating_mul(self.rhs.indices.len()).saturating_mul(self.rhs.terms.len())
    }
}

/// Writes all sums into the bytes of an array.
pub(super) fn contract_into(
    sums: Sums<'_>,
    pair: &Operands<'_>,
    rounding: Rounding,
    out: &mut [u8],
) {
    let is_done = match pair {
        Operands::Single(a, b) | Operands::F64Accumulator(a, b) => {
            outer::run::<f32>(sums, (a, b), rounding, out)
        }
        Operands::Double(a, b) | Operands::CompensatedAccumulator(a, b) => {
            outer::run::<f64>(sums, (a, b), rounding, out)
        }
        Operands::Integers(..)
        | Operands::NarrowIntegers(..)
        | Operands::Bf16(..)
        | Operands::SingleComplex(..)
        | Operands::DoubleComplex(..)
        | Operands::F64ComplexAccumulator(..)
        | Operands::CompensatedComplexAccumulator(..) => false,
    };
    if out.is_empty() || is_done {
        return;
    }
    match pair {
        Operands::Integers(a, b) => own::<NativeAccumulator<i64>>(sums, (a, b), rounding, out),
        Operands::NarrowIntegers(a, b) => {
            own::<NativeAccumulator<i32>>(sums, (a, b), rounding, out);
        }
        Operands::Bf16(a, b) => own::<NativeAccumulator<bf16>>(sums, (a, b), rounding, out),
        Operands::Single(a, b) => own::<NativeAccumulator<f32>>(sums, (a, b), rounding, out),
        Operands::Double(a, b) => own::<NativeAccumulator<f64>>(sums, (a, b), rounding, out),
        Operands::SingleComplex(a, b) => {
            complex::contract(sums, (a, b), rounding, out, own::<NativeAccumulator<f32>>);
        }
        Operands::DoubleComplex(a, b) => {
            complex::contract(sums, (a, b), rounding, out, own::<NativeAccumulator<f64>>);
        }
        Operands::F64Accumulator(a, b) => own::<F64Accumulator>(sums, (a, b), rounding, out),
        Operands::CompensatedAccumulator(a, b) => {
            matrix::<CompensatedAccumulator>(sums, (a, b), rounding, out);
        }
        Operands::F64ComplexAccumulator(a, b) => {
            complex::contract(sums, (a, b), rounding, out, own::<F64Accumulator>);
        }
        Operands::CompensatedComplexAccumulator(a, b) => {
            complex::contract(sums, (a, b), rounding, out, matrix::<CompensatedAccumulator>);
        }
    }
}

/// Forms sums in words, in lines or as products of matrices; for a single row or column as a
/// product with a vector.
fn own<K: OwnSums>(
    sums: Sums<'_>,
    factors: (&[K::Stored], &[K::Stored]),
    rounding: Rounding,
    out: &mut [u8],
) {
    let (plan, total) = match sums {
        Sums::Lines(lines) => {
            return lines::run(&Job::<K, _>::new(lines, lines.terms, factors, rounding), out);
        }
        Sums::Single(plan, terms) => (plan, Some(terms)),
        Sums::Matrix(plan) => (plan, None),
    };
    let terms = total.unwrap_or(plan.rhs.terms.len());
    let job = Job::<K, _>::new(&plan, terms, factors, rounding);
    if tiny::run(&job, total, out) || small::run(&job, total, out) || single::run(&job, total, out)
    {
        return;
    }
    if !job.can_be_packed() {
        job.direct(out);
    } else if !vector::run_vectors(&job, out) && !native_blocks::run(&job, out) {
        blocked::run(&job, out);
    }
}

/// Forms the sums of products of matrices; those of numbers that cannot be packed one by one.
fn matrix<K: Accumulator>(
    sums: Sums<'_>,
    factors: (&[K::Stored], &[K::Stored]),
    rounding: Rounding,
    out: &mut [u8],
) {
    let (plan, total) = match sums {
        Sums::Lines(_) => unreachable!("only sums in words have lines"),
        Sums::Single(plan, terms) => (plan, Some(terms)),
        Sums::Matrix(plan) => (plan, None),
    };
    // Columns fill the lanes of vectors: a single one is a row instead.
    let (plan, factors) = match plan.lhs {
        LhsOffsets::Sums(rhs) if plan.rhs.indices.len() == 1 => {
            let lhs = LhsOffsets::Sums(plan.rhs);
            (Contraction { rows: 1, lhs, rhs }, (factors.1, factors.0))
        }
        LhsOffsets::Sums(_) | LhsOffsets::Runs { .. } => (plan, factors),
    };
    let terms = total.unwrap_or(plan.rhs.terms.len());
    let job = Job::<K, _>::new(&plan, terms, factors, rounding);
    // Where each column is a line of memory, the sum of a row with it is that of two vectors.
    let are_lines = plan.rows == 1 && total.is_none() && Order::of(plan.rhs) == Order::Terms;
    let is_brief =
        plan.rhs.batches.len() > 1 || plan.rhs.indices.len() < SIDE / 4 || terms < SIDE / 4;
    if (!are_lines || is_brief)
        && (tiny::run(&job, total, out)
            || small::run(&job, total, out)
            || single::run(&job, total, out))
    {
        return;
    }
    if !job.can_be_packed() {
        job.direct(out);
    } else if !are_lines || !vector::run_vectors(&job, out) {
        blocked::run(&job, out);
    }
}
