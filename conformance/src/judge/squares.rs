//! Products of an array with itself.
use super::site::Site;
use hlo::ir::InstructionId;
use hlo::{ArrayShape, Dims, IndexSpace, Op};

/// Returns for each element of a product of an array with itself, which may be transposed, whether it
/// is a sum of squares; `None` of another product.
pub(super) fn squares(site: Site<'_>) -> Option<Vec<bool>> {
    let (Op::Dot(op), Ok(shape)) = (&site.instruction().op, site.shape()) else { return None };
    let [lhs, rhs] = [0, 1].map(|i| untransposed(site, site.instruction().operands[i]));
    let of = |dims: &[i64], order: &[i64]| -> Option<Vec<i64>> {
        dims.iter().map(|&dim| order.get(usize::try_from(dim).ok()?).copied()).collect()
    };
    let pairs = [
        (&op.lhs_contracting_dims, &op.rhs_contracting_dims),
        (&op.lhs_batch_dims, &op.rhs_batch_dims),
    ];
    let alike = pairs.iter().all(|(x, y)| of(x, &lhs.1) == of(y, &rhs.1));
    let free = |order: &[i64], known: [&[i64]; 2]| -> Vec<i64> {
        let is_free = |dim: &i64| known.iter().all(|dims| !dims.contains(dim));
        (0i64..).zip(order).filter(|(dim, _)| is_free(dim)).map(|(_, &source)| source).collect()
    };
    let [x, y] = [
        free(&lhs.1, [&op.lhs_contracting_dims, &op.lhs_batch_dims]),
        free(&rhs.1, [&op.rhs_contracting_dims, &op.rhs_batch_dims]),
    ];
    let is_real = shape.ty.is_float();
    (is_real && site.is_same(lhs.0, rhs.0) && alike && x == y).then(|| {
        let is_square = |index: Dims| {
            let free = &index[op.lhs_batch_dims.len()..];
            free[..x.len()] == free[x.len()..]
        };
        shape.dims.indices().map(is_square).collect()
    })
}

/// Returns the array that is transposed to an operand, and its dimension that each of the operand is.
fn untransposed(site: Site<'_>, id: InstructionId) -> (InstructionId, Vec<i64>) {
    let instruction = &site.computation.instructions[id];
    if let Op::Transpose(op) = &instruction.op {
        let (id, order) = untransposed(site, instruction.operands[0]);
        let source = |&dim: &i64| usize::try_from(dim).ok().and_then(|dim| order.get(dim)).copied();
        return (id, op.dimensions.iter().filter_map(source).collect());
    }
    let rank = instruction.shape.array().map_or(0, ArrayShape::rank);
    (id, (0i64..).take(rank).collect())
}
