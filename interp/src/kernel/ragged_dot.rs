//! `ragged-dot`: a `dot` in which one left dimension is divided into groups of given sizes
//!
//! Groups follow each other: group i takes the indices from `sizes[0] + .. + sizes[i-1]` on, `sizes[i]` of them, as far
//! as the dimension goes. What the dimension is for says what becomes of the groups:
//!
//! | `lhs_ragged_dims` names | result | meaning |
//! |---|---|---|
//! | a free dimension | `[batch, lhs.., rhs..]` | a row of group i is multiplied with slice i of `rhs_group_dims`; a row in no group is 0 |
//! | a contracting one | `[groups, batch, lhs.., rhs..]` | result i sums over the indices of group i alone |
//! | a batch one | `[batch, lhs.., rhs..]` | an ordinary dot; a batch in no group is 0 |
//!
//! Group sizes are of any whole type, `[groups]` or with dimensions in front: the batch dimensions and those of the
//! ragged one's kind that precede it, each of whose indices then has sizes of its own. A negative size counts as 0.
//!
//! **Types and rounding** are those of `dot`, and so is the difference from XLA's evaluator: that converts the operands
//! to the result's type first. XLA:CPU refuses the op.
use super::contraction::{Numbers, Operands, PADDING, Plan, Rounding, contract, contract_into};
use super::dot::Offsets;
use crate::index::{offset_list, others, pick, strides, to_i64, to_usize};
use hlo::op::{RaggedDot, RaggedMode};
use hlo::{ArrayShape, Dims, Literal, Scalar};

/// Which group an index of the ragged dimension is in, for each index of the dimensions in front of the sizes.
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
    fn new(op: &RaggedDot, sizes: &Literal, lhs: &ArrayShape) -> Self {
        let shape = sizes.array_shape().expect("verified: an array");
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
    /// The group of the left operand's element at `offset`.
    fn of(&self, offset: usize) -> Option<usize> {
        let index =
            |d: i64| to_i64(offset) / self.strides[to_usize(d)] % self.lhs[to_usize(d)].max(1);
        let row: usize = self.prefix.iter().map(|&(d, stride)| to_usize(index(d)) * stride).sum();
        let at = to_usize(index(self.ragged));
        self.ends[row..row + self.count].iter().position(|&end| at < end)
    }
}

pub(super) fn ragged_dot(op: &RaggedDot, operands: &[&Literal], shape: &ArrayShape) -> Literal {
    let array = |i: usize| operands[i].array_shape().expect("verified: an array");
    let (lhs, rhs) = (array(0), array(1));
    let groups = Groups::new(op, operands[2], lhs);
    let l = Offsets::of(lhs, &op.lhs_batch_dims, &op.lhs_contracting_dims);
    let bound = [op.rhs_batch_dims.as_slice(), &op.rhs_contracting_dims].concat();
    let free = others(rhs.rank(), &[bound.as_slice(), &op.rhs_group_dims].concat());
    let list = |dims: &[i64]| {
        let (sizes, strides) = pick(rhs, dims);
        offset_list(&sizes, &strides)
    };
    let r = Offsets {
        batch: list(&op.rhs_batch_dims),
        free: list(&free),
        contracting: list(&op.rhs_contracting_dims),
    };
    let rounding = Rounding::new(lhs.ty, rhs.ty, None, shape.ty);
    let pair = Operands::new(Numbers::of(operands[0]), Numbers::of(operands[1]), rounding);
    match op.mode() {
        RaggedMode::Free => {
            let slices = list(&op.rhs_group_dims);
            free_rows(&groups, (&l, &r), &slices, &pair, rounding, shape)
        }
        RaggedMode::Contracting => {
            // One batch for each group and batch; what is in another group is no term.
            let batches = l.batch.len();
            let rhs_batches = r.batch.repeat(groups.count);
            let offsets = |batch: usize, row: usize, offsets: &mut [usize]| {
                l.row(batch % batches, row, offsets);
                for offset in offsets {
                    if groups.of(*offset) != Some(batch / batches) {
                        *offset = PADDING;
                    }
                }
            };
            contract(&plan((&l, &r), &offsets, &rhs_batches), &pair, rounding, shape)
        }
        RaggedMode::Batch => {
            let offsets = |batch: usize, row: usize, offsets: &mut [usize]| {
                l.row(batch, row, offsets);
                if offsets.first().is_some_and(|&offset| groups.of(offset).is_none()) {
                    offsets.fill(PADDING);
                }
            };
            contract(&plan((&l, &r), &offsets, &r.batch), &pair, rounding, shape)
        }
    }
}

fn plan<'a>(
    (l, r): (&Offsets, &'a Offsets),
    lhs: super::contraction::RowOffsets<'a>,
    rhs_batches: &'a [usize],
) -> Plan<'a> {
    Plan {
        rows: l.free.len(),
        lhs,
        has_padding: true,
        rhs_batches,
        rhs_columns: &r.free,
        rhs_terms: &r.contracting,
    }
}

/// Each group's rows of each batch, with the group's slice of the right operand.
fn free_rows(
    groups: &Groups,
    (l, r): (&Offsets, &Offsets),
    slices: &[usize],
    pair: &Operands<'_>,
    rounding: Rounding,
    shape: &ArrayShape,
) -> Literal {
    let mut result = Literal::zeros(shape.clone());
    let width = shape.ty.storage_bytes();
    let line = r.free.len() * width;
    if result.is_empty() {
        return result;
    }
    let out = result.bytes_mut();
    // Not every type has zero bytes as 0.
    for element in out.chunks_exact_mut(width) {
        Scalar::zero(shape.ty).write(shape.ty, element);
    }
    for batch in 0..l.batch.len() {
        let mut rows = vec![Vec::new(); slices.len()];
        for (row, &offset) in l.free.iter().enumerate() {
            if let Some(group) = groups.of(l.batch[batch] + offset) {
                rows[group].push(row);
            }
        }
        for (rows, &slice) in rows.iter().zip(slices).filter(|(rows, _)| !rows.is_empty()) {
            let offsets = |_: usize, row: usize, offsets: &mut [usize]| {
                l.row(batch, rows[row], offsets);
            };
            let start = [r.batch[batch] + slice];
            let plan =
                Plan { rows: rows.len(), has_padding: false, ..plan((l, r), &offsets, &start) };
            let mut sums = vec![0; rows.len() * line];
            contract_into(&plan, pair, rounding, &mut sums);
            for (&row, sums) in rows.iter().zip(sums.chunks_exact(line)) {
                let at = (batch * l.free.len() + row) * line;
                out[at..at + line].copy_from_slice(sums);
            }
        }
    }
    result
}
