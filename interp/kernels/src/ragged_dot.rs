//! `ragged-dot`: a `dot` in which one left dimension is divided into groups of given sizes
//!
//! Groups follow each other: group i takes the indices from `sizes[0] + .. + sizes[i-1]` on,
//! `sizes[i]` of them, as far as the dimension goes. What the dimension is for says what becomes of
//! the groups:
//!
//! | `lhs_ragged_dims` names | result | meaning |
//! |---|---|---|
//! | a free dimension | `[batch, lhs.., rhs..]` | a row of group i is multiplied with slice i of `rhs_group_dims`; a row in no group is 0 |
//! | a contracting one | `[groups, batch, lhs.., rhs..]` | result i sums over the indices of group i alone |
//! | a batch one | `[batch, lhs.., rhs..]` | an ordinary dot; a batch in no group is 0 |
//!
//! Group sizes are of any whole type, `[groups]` or with dimensions in front: the batch dimensions
//! and those of the ragged one's kind that precede it, each of whose indices then has sizes of its
//! own. A negative size counts as 0.
//!
//! **Types and rounding** are those of `dot`, and so is the difference from XLA's evaluator: that
//! converts the operands to the result's type first. XLA:CPU refuses the op.
use super::contraction::{
    Contraction, Extent, LhsOffsets, Lists, LosslessElements, Operands, ResolvedDotAlgorithm,
    Rounding, RowRuns, Sums, TermRun, contract_into,
};
use super::dot::{Axes, Offsets, product};
use super::pad::repeat;
use crate::Kernel;
use crate::function::writes_in;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::value::DotAlgorithm;
use hlo::op::{RaggedDot, RaggedMode};
use hlo::{Array, ArrayShape, Dims, Scalar};
use num::Arithmetic;
use num::clock::Stop;
use num::index::{offset_list, others, pick, saturating_count, strides, to_i64, to_usize};
use num::scalar_program::ScalarPrograms;

/// The group of each index of the ragged dimension, for each index of the dimensions in front of
/// the sizes.
struct Groups {
    /// Ends of the groups, one row for each index of the prefix.
    ends: Vec<usize>,
    /// How many there are.
    count: usize,
    /// How far apart the rows of the prefix's dimensions are; none if all share one row.
    prefix: Vec<(i64, usize)>,
    ragged: i64,
    lhs: Dims,
    strides: Dims,
}

impl Groups {
    fn new(op: &RaggedDot, sizes: &Array, lhs: &ArrayShape) -> Self {
        let shape = sizes.shape();
        let count = to_usize(*shape.dims.last().expect("verified: the groups' dimension"));
        let mut ends = Vec::with_capacity(sizes.len());
        let mut end = 0usize;
        for i in 0..sizes.len() {
            end = if i % count == 0 { 0 } else { end };
            // A size that no index has is as good as the largest.
            let size =
                sizes.get(i).as_i64().map_or(usize::MAX, |s| usize::try_from(s).unwrap_or(0));
            end = end.saturating_add(size);
            ends.push(end);
        }
        let prefix = if shape.rank() > 1 { op.prefix(lhs.rank()) } else { Vec::new() };
        let own = strides(&shape.dims);
        let prefix = prefix.into_iter().zip(own.iter().map(|&s| to_usize(s))).collect();
        Self {
            ends,
            count,
            prefix,
            ragged: op.lhs_ragged_dims[0],
            lhs: lhs.dims.clone(),
            strides: strides(&lhs.dims),
        }
    }
    /// Returns the group of the left operand's element at `offset`.
    fn of(&self, offset: usize) -> Option<usize> {
        let index =
            |d: i64| to_i64(offset) / self.strides[to_usize(d)] % self.lhs[to_usize(d)].max(1);
        let row: usize = self.prefix.iter().map(|&(d, stride)| to_usize(index(d)) * stride).sum();
        let at = to_usize(index(self.ragged));
        self.ends[row..row + self.count].iter().position(|&end| at < end)
    }
}

impl ArrayOp for RaggedDot {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        Some(kernel(self, site.operands, site.result(), site.arithmetic))
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let batch_dims = &self.rhs_batch_dims[..];
        product(site, &[batch_dims, &self.rhs_contracting_dims, &self.rhs_group_dims].concat())
    }
    needs_whole_operands!();
}

fn kernel(
    op: &RaggedDot,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    arithmetic: Arithmetic,
) -> Box<dyn Kernel> {
    let (op, lhs, rhs) = (op.clone(), operands[0].clone(), operands[1]);
    let RaggedDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        lhs_ragged_dims: _, // Read with the group sizes.
        rhs_group_dims,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
    } = &op;
    let l = Axes::of(&lhs, lhs_batch_dims, lhs_contracting_dims);
    let bound = [&rhs_batch_dims[..], rhs_contracting_dims, rhs_group_dims].concat();
    let r = Axes::new(rhs, rhs_batch_dims, &others(rhs.rank(), &bound), rhs_contracting_dims);
    let (group_sizes, group_strides) = pick(rhs, rhs_group_dims);
    let rounding = Rounding::new(lhs.ty, rhs.ty, None, result.ty);
    // The sums of the rows of one group lie beside their places.
    let sums = result.byte_count().unwrap_or(usize::MAX);
    let algorithm = ResolvedDotAlgorithm::of(DotAlgorithm::Unset, arithmetic);
    let group_count = operands[2].dims.last().map_or(1, |&n| to_usize(n));
    let extent = l.extent(&r);
    let batches = match op.mode() {
        RaggedMode::Contracting => extent.batches.saturating_mul(group_count),
        RaggedMode::Free | RaggedMode::Batch => extent.batches,
    };
    let products = algorithm.scratch((&lhs, rhs), result.ty, Extent { batches, ..extent });
    // The ends of groups, the batches of each, and the rows of each, in lists that have grown.
    let lists = saturating_count(&operands[2].dims)
        .saturating_add(batches)
        .saturating_add(extent.rows.saturating_mul(4))
        .saturating_add(group_count.saturating_mul(8))
        .saturating_mul(size_of::<usize>());
    let scratch = [l.bytes(), r.bytes(), sums, products, lists].into_iter();
    writes_in(
        algorithm.arithmetic(result.ty),
        scratch.fold(0, usize::saturating_add),
        move |_, inputs, outputs| {
            let groups = Groups::new(&op, inputs[2], &lhs);
            let (l, r) = (l.offsets(), r.offsets());
            let (l_numbers, r_numbers) =
                (LosslessElements::of(inputs[0]), LosslessElements::of(inputs[1]));
            let pair = Operands::new(l_numbers, r_numbers, rounding, arithmetic);
            let out = outputs[0].bytes_mut();
            match op.mode() {
                RaggedMode::Free => {
                    let slices = offset_list(&group_sizes, &group_strides);
                    free_rows(&groups, (&l, &r), &slices, &pair, rounding, out);
                }
                // What is in another group, or in none, is no term.
                RaggedMode::Contracting => {
                    // One batch for each group and batch.
                    let batches = l.batch.len();
                    let rhs_batches = r.batch.repeat(groups.count);
                    let runs = |batch: usize, row: usize, runs: &mut Vec<TermRun>| {
                        let group = batch / batches;
                        l.terms_where(batch % batches, row, runs, |at| {
                            groups.of(at) == Some(group)
                        });
                    };
                    contract_into(plan((&l, &r), &runs, &rhs_batches), &pair, rounding, out);
                }
                RaggedMode::Batch => {
                    let runs = |batch: usize, row: usize, runs: &mut Vec<TermRun>| {
                        l.terms_where(batch, row, runs, |at| groups.of(at).is_some());
                    };
                    contract_into(plan((&l, &r), &runs, &r.batch), &pair, rounding, out);
                }
            }
            Ok(())
        },
    )
}

impl Offsets {
    /// Appends the terms of a row whose offsets fulfill a condition.
    fn terms_where(
        &self,
        batch: usize,
        row: usize,
        runs: &mut Vec<TermRun>,
        condition: impl Fn(usize) -> bool,
    ) {
        let start = self.batch[batch] + self.free[row];
        for (term, lhs) in self.contracting.iter().map(|&term| start + term).enumerate() {
            if !condition(lhs) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if (run.term + run.count, run.lhs + run.count) == (term, lhs) => {
                    run.count += 1;
                }
                _ => runs.push(TermRun { term, lhs, count: 1 }),
            }
        }
    }
}

/// Returns the contraction of the terms that a function gives.
fn plan<'a>((l, r): (&'a Offsets, &'a Offsets), of: RowRuns<'a>, batches: &'a [usize]) -> Sums<'a> {
    let lhs = LhsOffsets::Runs { step: 1, has_padding: true, of };
    let plan = l.contraction(r);
    Sums::Matrix(Contraction { lhs, rhs: Lists { batches: batches.into(), ..plan.rhs }, ..plan })
}

/// Each group's rows of each batch, with the group's slice of the right operand.
fn free_rows(
    groups: &Groups,
    (l, r): (&Offsets, &Offsets),
    slices: &[usize],
    pair: &Operands<'_>,
    rounding: Rounding,
    out: &mut [u8],
) {
    let width = rounding.to.storage_bytes();
    let line = r.free.len() * width;
    // Rows in no group stay 0, which is not zero bytes in every type.
    let mut zero = [0; size_of::<u128>()];
    Scalar::zero(rounding.to).write(rounding.to, &mut zero[..width]);
    repeat(&zero[..width], out);
    let stop = Stop::current();
    for batch in (0..l.batch.len()).take_while(|_| !stop.is_set()) {
        let mut rows = vec![Vec::new(); slices.len()];
        for (row, &offset) in l.free.iter().enumerate().take_while(|_| !stop.is_set()) {
            if let Some(group) = groups.of(l.batch[batch] + offset) {
                rows[group].push(row);
            }
        }
        for (rows, &slice) in rows.iter().zip(slices).filter(|(rows, _)| !rows.is_empty()) {
            let free: Vec<usize> = rows.iter().map(|&row| l.free[row]).collect();
            let lhs = Lists {
                batches: l.batch.as_list().starting_at(batch),
                indices: free.as_slice().into(),
                terms: l.contracting.as_list(),
            };
            let start = [r.batch[batch] + slice];
            let rhs = Lists {
                batches: start.as_slice().into(),
                indices: r.free.as_list(),
                terms: r.contracting.as_list(),
            };
            let plan = Contraction { rows: rows.len(), lhs: LhsOffsets::Sums(lhs), rhs };
            let mut sums = vec![0; rows.len() * line];
            contract_into(Sums::Matrix(plan), pair, rounding, &mut sums);
            for (&row, sums) in rows.iter().zip(sums.chunks_exact(line)) {
                let at = (batch * l.free.len() + row) * line;
                out[at..at + line].copy_from_slice(sums);
            }
        }
    }
}
