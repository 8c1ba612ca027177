//! Sums of products: what `dot` and `convolution` have in common.
//!
//! Each element of the result is one sum of products. The terms are added in one fixed order, by one thread, from zero,
//! so the bits of the result are the same on every machine and with any number of threads. What is done in parallel,
//! and what the compiler turns into vector instructions, are different elements of the result.
//!
//! How a sum is formed depends on the operands' types and on the type it is rounded to:
//!
//! | operands | sum |
//! |---|---|
//! | whole numbers, truth values | modulo 2^64, then modulo the result's width; into a float it is rounded once |
//! | floats of up to 32 bits, whole numbers of up to 16 beside them | exact products, added in f64 |
//! | the same, rounded to `f64` | exact products, added with the rounding errors kept |
//! | `f64`, or wider whole numbers beside floats | products and sums with their rounding errors kept |
//! | complex numbers | part by part, as their parts would be |
//!
//! A sum starts at +0, so a sum of negative zeros is +0. Products of complex numbers are formed from their parts as
//! arithmetic says: an infinite part is not recovered from a NaN that the other part brings.
mod kernel;
mod numbers;
mod panels;
mod recipe;

pub(super) use numbers::{Numbers, Pair, Rounding};
pub(super) use recipe::Recipe;

use hlo::{ArrayShape, Literal};
use kernel::{Careful, CarefulComplex, Plain, PlainComplex, Whole};

/// In a list of places: no element, as in padding. Its product is left out of the sum.
pub(super) const HOLE: usize = usize::MAX;

/// Gives the places of a batch's row, one for each term: the numbers are of the batch and of the row.
pub(super) type RowPlaces<'a> = &'a (dyn Fn(usize, usize, &mut [usize]) + Sync);

/// Which elements are multiplied for which element of the result.
///
/// The result is an array of batches, rows and columns. The left places are given by a function, since a convolution's
/// have holes; a right place is a sum of three.
pub(super) struct Plan<'a> {
    /// Number of rows of a batch.
    pub(super) rows: usize,
    /// Places of a row in the left operand.
    pub(super) lhs: RowPlaces<'a>,
    /// Whether a left place can be a [`HOLE`].
    pub(super) holes: bool,
    /// Where a batch starts in the right operand; as many as there are batches.
    pub(super) rhs_batches: &'a [usize],
    /// Where a column starts in the right operand.
    pub(super) rhs_columns: &'a [usize],
    /// Where a term stands in the right operand.
    pub(super) rhs_terms: &'a [usize],
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

/// All sums of the plan, batch by batch and row by row, as an array of this shape.
pub(super) fn contract(
    plan: &Plan<'_>,
    pair: &Pair<'_>,
    rounding: Rounding,
    shape: &ArrayShape,
) -> Literal {
    let mut result = Literal::zeros(shape.clone());
    contract_into(plan, pair, rounding, result.bytes_mut());
    result
}

/// All sums of the plan, batch by batch and row by row, into the bytes of an array.
pub(super) fn contract_into(plan: &Plan<'_>, pair: &Pair<'_>, rounding: Rounding, out: &mut [u8]) {
    match pair {
        Pair::Whole(a, b) => panels::run::<Whole, 1>(plan, a, b, rounding, out),
        Pair::Plain(a, b) => panels::run::<Plain, 1>(plan, a, b, rounding, out),
        Pair::Careful(a, b) => panels::run::<Careful, 2>(plan, a, b, rounding, out),
        Pair::PlainComplex(a, b) => panels::run::<PlainComplex, 2>(plan, a, b, rounding, out),
        Pair::CarefulComplex(a, b) => panels::run::<CarefulComplex, 4>(plan, a, b, rounding, out),
    }
}
