//! Sums of products of complex numbers, as sums of products of their parts.
//!
//! The parts of a sum of `(a + bi)(c + di)` are sums of twice the terms: of `a * c` and `b * -d`,
//! and of `a * d` and `b * c`. So a row becomes a row of real numbers and a column two columns of
//! them, whose sums lie beside each other in the result, as the parts of its elements do.
use super::{Contraction, LhsOffsets, Lists, Rounding, Sums, in_parts};
use bytemuck::{Pod, cast_slice};
use std::ops::Neg;

/// Writes sums of products of complex numbers; `real` writes those of real ones.
pub(super) fn contract<T: Pod + Neg<Output = T>>(
    sums: Sums<'_>,
    (lhs_elements, rhs): (&[[T; 2]], &[[T; 2]]),
    rounding: Rounding,
    out: &mut [u8],
    real: impl FnOnce(Sums<'_>, (&[T], &[T]), Rounding, &mut [u8]),
) {
    let (plan, total) = match sums {
        Sums::Lines(_) => unreachable!("complex sums have no lines"),
        Sums::Single(plan, terms) => (plan, Some(terms)),
        Sums::Matrix(plan) => (plan, None),
    };
    // The elements, and behind them their products with i.
    let turned = rhs.iter().flat_map(|&[re, im]| [-im, re]);
    let factors: Vec<T> = cast_slice(rhs).iter().copied().chain(turned).collect();
    let batches = in_parts(&plan.rhs.batches, 2, &[0]);
    let parts: &[usize] = if rounding.to.is_complex() { &[0, 1] } else { &[0] };
    let columns = beside(&plan.rhs.indices, parts);
    let real = |lhs: LhsOffsets<'_>, terms: &[usize]| {
        let rhs = Lists::new(&batches, &columns, terms);
        let plan = Contraction { lhs, rhs, ..plan };
        let sums = total.map_or(Sums::Matrix(plan), |terms| Sums::Single(plan, 2 * terms));
        real(sums, (cast_slice(lhs_elements), &factors), rounding.of_parts(), out);
    };
    let turned = [0, 2 * rhs.len()];
    match plan.lhs {
        // The parts of a term are neighbors, as in the operand.
        LhsOffsets::Sums(Lists { batches, indices, terms }) => {
            let [batches, indices] = [batches, indices].map(|x| in_parts(&x, 2, &[0]));
            let terms = beside(&terms, &[0, 1]);
            let lists = Lists::new(&batches, &indices, &terms);
            real(LhsOffsets::Sums(lists), &beside(&plan.rhs.terms, &turned));
        }
        LhsOffsets::Runs { .. } => {
            let terms = in_parts(&plan.rhs.terms, 2, &turned);
            let count = plan.rhs.terms.len();
            plan.lhs.with_parts((2, &[0, 1]), count, |lhs| real(lhs, &terms));
        }
    }
    // A sum that is first rounded to a real type has lost its imaginary part.
    if rounding.to.is_complex() && rounding.sums.is_some_and(|ty| !ty.is_complex()) {
        let part = rounding.to.component().storage_bytes();
        out.chunks_exact_mut(part).skip(1).step_by(2).for_each(|part| part.fill(0));
    }
}

/// Returns twice the offsets, plus that of each part, the parts of an offset beside each other.
fn beside(offsets: &[usize], parts: &[usize]) -> Vec<usize> {
    offsets.iter().flat_map(|at| parts.iter().map(move |part| 2 * at + part)).collect()
}
