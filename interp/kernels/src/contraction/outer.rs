//! Sums of one product, which is rounded once: rows of outer products.
use super::{LhsOffsets, Lists, Rounding, Sums};
use crate::cost_model::COMPUTED;
use hlo::literal::Native;
use num::loops::instruction_set::{Task, run as run_task};
use num::parallel::parts;

/// Columns for which a row is worth a loop of its own.
const LEAST: usize = 16;

/// A float of which a product is rounded once.
pub(super) trait Factor: Native + Sync {
    /// Returns the sum of +0 and a product; of NaN the one that sums of products have.
    fn sum(a: Self, b: Self) -> Self;
}
macro_rules! factors {
    ($($ty:ident)*) => {$(impl Factor for $ty {
        #[inline(always)]
        fn sum(a: Self, b: Self) -> Self {
            let product = a * b;
            // A product that is rounded to -0 is no zero.
            let is_zero = product == 0.0 && (a == 0.0 || b == 0.0);
            match product.is_nan() {
                true => Self::NAN,
                false if is_zero => 0.0,
                false => product,
            }
        }
    })*};
}
factors! { f32 f64 }

/// All sums, if each has one term, and columns are neighbors in memory. Returns whether it is so.
pub(super) fn run<W: Factor>(
    sums: Sums<'_>,
    (a, b): (&[W], &[W]),
    rounding: Rounding,
    out: &mut [u8],
) -> bool {
    let Sums::Matrix(plan) = sums else { return false };
    let (LhsOffsets::Sums(lhs), rhs) = (plan.lhs, plan.rhs) else { return false };
    let columns = rhs.indices.len();
    let fits = [lhs.terms.len(), rhs.terms.len()] == [1; 2]
        && columns >= LEAST
        && rhs.indices.are_neighbors()
        && rounding.to == W::TYPE
        && rounding.sums.is_none_or(|ty| ty == W::TYPE);
    let Ok(out) = bytemuck::try_cast_slice_mut(out) else { return false };
    if fits {
        let together = (COMPUTED / columns).max(1);
        parts(out, (columns * together, 1), |part, out| {
            let (first, rows) = (part * together, plan.rows);
            run_task(Products { lists: [lhs, rhs], first, rows, a, b, columns, out });
        });
    }
    fits
}

/// Some rows of the result, over all batches.
struct Products<'a, W> {
    lists: [Lists<'a>; 2],
    first: usize,
    /// Rows of a batch.
    rows: usize,
    a: &'a [W],
    b: &'a [W],
    columns: usize,
    out: &'a mut [W],
}

impl<W: Factor> Task for Products<'_, W> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { lists: [lhs, rhs], first, rows, a, b, columns, out } = self;
        for (row, out) in (first..).zip(out.chunks_exact_mut(columns)) {
            let (batch, row) = (row / rows, row % rows);
            let a = a[lhs.batches[batch] + lhs.indices[row] + lhs.terms[0]];
            let b = &b[rhs.batches[batch] + rhs.indices[0] + rhs.terms[0]..][..columns];
            for (out, &b) in out.iter_mut().zip(b) {
                *out = W::sum(a, b);
            }
        }
    }
}
