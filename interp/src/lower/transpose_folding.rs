//! Transpose folding: `dot` reads the operand of a `transpose` by other dimensions, a `transpose` of
//! a `dot` is the `dot` of its operands exchanged, and the transposition need not be computed.
use crate::analysis::Analysis;
use crate::state::Site;
use hlo::ir::{Computation, Instruction};
use hlo::op::Dot;
use hlo::op::value::DotAlgorithm;
use hlo::{ArrayShape, Op};
use num::Arithmetic;
use num::index::{others, to_usize};

/// Returns a `dot` that reads what its operands are transpositions of, or that has the value of a
/// transposition of another, in place of an instruction; `None` of anything else. `users` are the
/// numbers of uses in the computation.
pub(crate) fn transpose_folded(
    analysis: &Analysis<'_>,
    (computation, users): (&Computation, &[usize]),
    site: Site,
) -> Option<Instruction> {
    let instruction = &computation.instructions[site.instruction];
    let (mut dot, mut operands) = if let Op::Dot(dot) = &instruction.op {
        ((**dot).clone(), instruction.operands.clone())
    } else if let Op::Transpose(transpose) = &instruction.op {
        let id = instruction.operands[0];
        let of = &computation.instructions[id];
        let Op::Dot(dot) = &of.op else { return None };
        // To pack operands takes `exact` about as long as a transposition.
        if analysis.arithmetic() != Some(Arithmetic::Fast) {
            return None;
        }
        if users[id.index()] > 1 || analysis.may_be_smaller(site, of) {
            return None;
        }
        let shape = |k: usize| computation.instructions[of.operands[k]].shape.array();
        let mut operands = of.operands.clone();
        operands.swap(0, 1);
        (exchanged(dot, [shape(0)?, shape(1)?], &transpose.dimensions)?, operands)
    } else {
        return None;
    };
    for (k, id) in operands.iter_mut().enumerate() {
        let operand = &computation.instructions[*id];
        if let Op::Transpose(op) = &operand.op
            && !analysis.may_be_smaller(site, operand)
            && read_through(&mut dot, k, &op.dimensions)
        {
            *id = operand.operands[0];
        }
    }
    let is_other = operands != instruction.operands;
    is_other.then(|| Instruction { op: Op::Dot(Box::new(dot)), operands, ..instruction.clone() })
}

/// Returns the `dot` of the operands exchanged, if its value is the transposition of that of `dot`:
/// if the dimensions that the right operand gives to the result come before those of the left one.
/// `None` if these would be too few columns to fill vectors.
fn exchanged(dot: &Dot, [lhs, rhs]: [&ArrayShape; 2], permutation: &[i64]) -> Option<Dot> {
    const FEW: i64 = 32;
    let Dot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision,
        algorithm: DotAlgorithm::Unset,
    } = dot.clone()
    else {
        return None;
    };
    let mut exchanged = Dot {
        lhs_batch_dims: rhs_batch_dims,
        lhs_contracting_dims: rhs_contracting_dims,
        rhs_batch_dims: lhs_batch_dims,
        rhs_contracting_dims: lhs_contracting_dims,
        operand_precision,
        algorithm: DotAlgorithm::Unset,
    };
    exchanged.operand_precision.0.reverse();
    let batch = dot.lhs_batch_dims.len();
    let free = |shape: &ArrayShape, batch: &[i64], contracting: &[i64]| {
        others(shape.rank(), &[batch, contracting].concat())
    };
    let columns = free(lhs, &dot.lhs_batch_dims, &dot.lhs_contracting_dims);
    let of_rhs = free(rhs, &dot.rhs_batch_dims, &dot.rhs_contracting_dims).len();
    let count =
        columns.iter().try_fold(1, |count: i64, &d| count.checked_mul(lhs.dims[to_usize(d)]));
    if count.is_some_and(|count| count < FEW) {
        return None;
    }
    let first = permutation.len() - of_rhs;
    let dims = (0..batch).chain(first..permutation.len()).chain(batch..first);
    permutation.iter().map(|&d| to_usize(d)).eq(dims).then_some(exchanged)
}

/// Changes the dimensions of operand `k` to those of the array that is transposed by `permutation`;
/// returns whether the dimensions that are left keep their order, as those of the result must.
fn read_through(dot: &mut Dot, k: usize, permutation: &[i64]) -> bool {
    let (batch, contracting) = match k {
        0 => (&mut dot.lhs_batch_dims, &mut dot.lhs_contracting_dims),
        _ => (&mut dot.rhs_batch_dims, &mut dot.rhs_contracting_dims),
    };
    let before = |d: &i64| permutation[to_usize(*d)];
    let paired: Vec<i64> = batch.iter().chain(contracting.iter()).copied().collect();
    let free: Vec<i64> = others(permutation.len(), &paired).iter().map(before).collect();
    if !free.is_sorted() {
        return false;
    }
    for d in batch.iter_mut().chain(contracting) {
        *d = before(d);
    }
    true
}
