//! Sums of products of complex numbers, as sums of products of their parts.
//!
//! The parts of a sum of `(a + bi)(c + di)` are sums of twice the terms: of `a * c` and `b * -d`,
//! and of `a * d` and `b * c`. So a row becomes a row of real numbers and a column two columns of
//! them, whose sums lie beside each other in the result, as the parts of its elements do.
use super::{Contraction, Lists, Rounding, Sums, in_parts};
use bytemuck::{Pod, cast_slice};
use std::ops::Neg;

/// Writes sums of products of complex numbers; `real` writes those of real ones.
pub(super) fn contract<T: Pod + Neg<Output = T>>(
    sums: Sums<'_>,
    (lhs, rhs): (&[[T; 2]], &[[T; 2]]),
    rounding: Rounding,
    out: &mut [u8],
    real: impl FnOnce(Sums<'_>, (&[T], &[T]), Rounding, &mut [u8]),
) {
    let Sums::Matrix(plan) = sums else { unreachable!("complex sums have no lines") };
    let Lists { batches, indices, terms } = plan.rhs;
    // The elements, and behind them their products with i.
    let turned = rhs.iter().flat_map(|&[re, im]| [-im, re]);
    let factors: Vec<T> = cast_slice(rhs).iter().copied().chain(turned).collect();
    let batches = in_parts(batches, 2, &[0]);
    let terms = in_parts(terms, 2, &[0, 2 * rhs.len()]);
    let parts: &[usize] = if rounding.to.is_complex() { &[0, 1] } else { &[0] };
    let columns: Vec<usize> =
        indices.iter().flat_map(|&at| parts.iter().map(move |part| 2 * at + part)).collect();
    let rhs = Lists { batches: &batches, indices: &columns, terms: &terms };
    plan.lhs.with_parts((2, &[0, 1]), plan.rhs.terms.len(), |offsets| {
        let plan = Contraction { lhs: offsets, rhs, ..plan };
        real(Sums::Matrix(plan), (cast_slice(lhs), &factors), rounding.of_parts(), out);
    });
    // A sum that is first rounded to a real type has lost its imaginary part.
    if rounding.to.is_complex() && rounding.sums.is_some_and(|ty| !ty.is_complex()) {
        let part = rounding.to.component().storage_bytes();
        out.chunks_exact_mut(part).skip(1).step_by(2).for_each(|part| part.fill(0));
    }
}
