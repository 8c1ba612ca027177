//! `dot`: `result[batch, lhs.., rhs..] = sum over contracting of lhs * rhs`
//!
//! **Attributes.** `lhs_batch_dims` and `rhs_batch_dims` pair dimensions that are kept once,
//! `lhs_contracting_dims` and `rhs_contracting_dims` pair those that are summed over, each in the
//! order listed. The result has the batch dimensions, what is left of the left operand, what is
//! left of the right one. Without contracting dimensions each sum has one term; over a dimension of
//! size 0 it has none and is 0. `operand_precision` permits a backend to read `f32` less precisely;
//! it changes nothing here. `algorithm` is followed exactly: see
//! [`contraction::algorithm`](super::contraction).
//!
//! **Types.** Operands may differ in type and the result may be wider or narrower than both:
//! products are formed from the operands as they are, summed wide, and the sum is converted once,
//! as `convert` would. So 0.5 + 0.5 in `f32` is 1 in `s32`, and a sum of `s8` wraps at the width of
//! the result alone. Two `pred` operands count their common true elements; in `pred` that is
//! whether there is one. See [`contraction`](super::contraction) for how sums are formed.
//!
//! **Differences.** XLA's evaluator converts the operands to the result's type first (0.5 + 0.5 is
//! 0 in `s32`), which XLA:CPU does not. XLA:CPU adds in `f32` and in another order.
use super::contraction::{
    Contraction, Extent, LhsOffsets, Lists, OffsetVec, PART, ResolvedDotAlgorithm, Sums, is_short,
    products, short_product,
};
use crate::Kernel;
use crate::function::computes;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::Dot;
use hlo::op::value::DotAlgorithm;
use hlo::{ArrayShape, Dims};
use num::Arithmetic;
use num::index::{offset_list, others, pick, saturating_count, to_i64};
use num::scalar_program::ScalarPrograms;

/// Sizes and strides of the dimensions of an operand, by what they are for.
pub(super) struct Axes {
    batch: (Dims, Dims),
    free: (Dims, Dims),
    contracting: (Dims, Dims),
}

impl Axes {
    /// Returns the dimensions of a shape; those that no list has are free.
    pub(super) fn of(shape: &ArrayShape, batch: &[i64], contracting: &[i64]) -> Self {
        let free = others(shape.rank(), &[batch, contracting].concat());
        Self::new(shape, batch, &free, contracting)
    }
    pub(super) fn new(
        shape: &ArrayShape,
        batch: &[i64],
        free: &[i64],
        contracting: &[i64],
    ) -> Self {
        let axes = |dims| pick(shape, dims);
        Self { batch: axes(batch), free: axes(free), contracting: axes(contracting) }
    }
    /// Returns the offsets of all indices of these dimensions.
    pub(super) fn offsets(&self) -> Offsets {
        let list = |(sizes, strides): &(Dims, Dims)| offset_list(sizes, strides).into();
        let (batch, free) = (list(&self.batch), list(&self.free));
        Offsets { batch, free, contracting: list(&self.contracting) }
    }
    /// Returns the numbers of sums and terms with these rows, and the columns of `rhs`.
    pub(super) fn extent(&self, rhs: &Self) -> Extent {
        let [batches, rows, columns, terms] =
            [&self.batch, &self.free, &rhs.free, &rhs.contracting]
                .map(|(n, _)| saturating_count(n));
        Extent { batches, rows, columns, terms }
    }
    /// Returns the offsets of the terms of one row or column in parts, which take the place of
    /// batches, if their distance is even.
    fn parts(&self, terms: usize) -> Option<Offsets> {
        let (sizes, strides) = &self.contracting;
        let step = *strides.last()?;
        let follow = |i: usize| strides[i - 1] == strides[i] * sizes[i];
        if !(1..sizes.len()).all(follow) {
            return None;
        }
        let offsets = |count: usize, step| offset_list(&[to_i64(count)], &[step]).into();
        let batch = offsets(terms.div_ceil(PART), step * to_i64(PART));
        Some(Offsets { batch, free: vec![0].into(), contracting: offsets(PART, step) })
    }
    /// Returns the bytes of the offsets.
    pub(super) fn bytes(&self) -> usize {
        let lists = [&self.batch, &self.free, &self.contracting];
        let lengths = lists.iter().map(|(sizes, _)| saturating_count(sizes));
        lengths.fold(0, usize::saturating_add).saturating_mul(size_of::<usize>())
    }
}

/// Offsets of an operand: by batch, by free dimensions, by contracting dimensions.
pub(super) struct Offsets {
    pub(super) batch: OffsetVec,
    pub(super) free: OffsetVec,
    pub(super) contracting: OffsetVec,
}

impl Offsets {
    /// Returns the contraction of this operand with a right one.
    pub(super) fn contraction<'a>(&'a self, rhs: &'a Self) -> Contraction<'a> {
        let (lhs, rhs) = (self.lists(), rhs.lists());
        Contraction { rows: self.free.len(), lhs: LhsOffsets::Sums(lhs), rhs }
    }
    fn lists(&self) -> Lists<'_> {
        let Self { batch, free, contracting } = self;
        Lists { batches: batch.as_list(), indices: free.as_list(), terms: contracting.as_list() }
    }
}

impl ArrayOp for Dot {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        Some(kernel(self, site.operands, site.result(), site.arithmetic))
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        product(site, &[&self.rhs_batch_dims[..], &self.rhs_contracting_dims].concat())
    }
    needs_whole_operands!();
}

/// Returns the cost of a product: each element of the left operand, times the columns of the right
/// one, which are the dimensions that `bound` does not list.
pub(super) fn product(site: &Site<'_>, bound: &[i64]) -> Cost {
    let (lhs, rhs) = (site.operands[0], site.operands[1]);
    let (columns, _) = pick(rhs, &others(rhs.rank(), bound));
    let steps = saturating_count(&lhs.dims).saturating_mul(saturating_count(&columns));
    Cost { steps, scratch: 0 }
}

fn kernel(
    op: &Dot,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    arithmetic: Arithmetic,
) -> Box<dyn Kernel> {
    let (lhs, rhs, to) = (operands[0], operands[1], result.ty);
    let Dot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
        algorithm,
    } = op;
    let l = Axes::of(lhs, lhs_batch_dims, lhs_contracting_dims);
    let r = Axes::of(rhs, rhs_batch_dims, rhs_contracting_dims);
    let algorithm = ResolvedDotAlgorithm::of(*algorithm, arithmetic);
    let sums = algorithm.scratch((lhs, rhs), to, l.extent(&r));
    let scratch = sums.saturating_add(l.bytes()).saturating_add(r.bytes());
    let (is_short, arithmetic) = (is_short(op, operands, result), algorithm.arithmetic(result.ty));
    let Extent { batches, rows, columns, terms } = l.extent(&r);
    // A long sum has lists of its parts, and short lists are made once.
    let is_long = [batches, rows, columns] == [1; 3] && terms > PART && !algorithm.has_parts();
    let split = if is_long { l.parts(terms).zip(r.parts(terms)) } else { None };
    let total = split.is_some().then_some(terms);
    let is_kept = l.bytes().saturating_add(r.bytes()) <= KEPT_BYTES;
    let kept = split.or_else(|| is_kept.then(|| (l.offsets(), r.offsets())));
    let (lhs, rhs) = (lhs.ty, rhs.ty);
    // In `fast` the product of short vectors is formed otherwise.
    let is_other = is_short && arithmetic == Arithmetic::Fast;
    let is_own = op.algorithm == DotAlgorithm::Unset && [lhs, rhs] == [to; 2] && total.is_none();
    let lists = kept.as_ref().filter(|_| is_own && !is_other);
    let formula = lists.and_then(|(l, r)| products(&l.contraction(r), to, arithmetic));
    computes(arithmetic, scratch, formula, move |inputs, output| {
        if is_short {
            let [lhs, rhs] = [inputs[0], inputs[1]].map(bytemuck::cast_slice);
            if let Some(product) = short_product(lhs, rhs, arithmetic) {
                return output.copy_from_slice(bytemuck::bytes_of(&product));
            }
        }
        let made;
        let (l, r) = match &kept {
            Some(kept) => kept,
            None => {
                made = (l.offsets(), r.offsets());
                &made
            }
        };
        let plan = l.contraction(r);
        let sums = total.map_or(Sums::Matrix(plan), |terms| Sums::Single(plan, terms));
        algorithm.contract_bytes(sums, [(lhs, inputs[0]), (rhs, inputs[1])], to, output);
    })
}

/// The most bytes of offsets that a kernel keeps between its runs.
const KEPT_BYTES: usize = 1 << 20;
