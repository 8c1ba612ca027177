//! Derivatives of sort and topk: elements are taken from where they stood.
use super::{Node, Tangent, leaves, ops, rewrite};
use crate::{Result, Value};
use hlo::op::{Gather, Iota, Sort};
use hlo::{ElementType, Op, Shape};

/// Elements along a dimension, by their numbers: an array of the same rank.
fn taken<'b>(array: Value<'b>, numbers: Value<'b>, dim: i64) -> Result<Value<'b>> {
    let shape = numbers.array()?.with_type(array.element_type()?);
    let others = ops::others(shape.rank(), &[dim]);
    if shape.dims.contains(&0) {
        return super::tangent::zeros(array.builder(), &shape.into());
    }
    let gather = Gather {
        offset_dims: vec![],
        collapsed_slice_dims: vec![dim],
        start_index_map: vec![dim],
        operand_batching_dims: others.clone(),
        start_indices_batching_dims: others,
        index_vector_dim: ops::count(&shape.dims),
        slice_sizes: vec![1; shape.rank()],
        indices_are_sorted: false,
    };
    array.builder().emit(gather, &[array, numbers], Some(shape.into()))
}

/// The operands in the order that numbers sorted along with them have. Equals stay in their order, as far as the op says
/// nothing else.
fn sorted<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    let Op::Sort(op) = &node.op else { return Err(node.refused("is no sort")) };
    let b = node.result.builder();
    let Some(comparator) = op.to_apply else {
        return Err(node.refused("has no derivative rule here without a comparator"));
    };
    let shape = node.operand(0)?.array()?;
    let dim = op.dimension(shape.rank());
    let places = shape.with_type(ElementType::S64);
    let dim = ops::run(dim, 1)[0];
    let iota = Iota { iota_dimension: Some(dim) };
    let numbers = b.emit(iota, &[], Some(places.into()))?;
    let mut scalars = b.signature(comparator)?.0;
    let given = scalars.len();
    scalars.extend([Shape::scalar(ElementType::S64), Shape::scalar(ElementType::S64)]);
    let to_apply = b.trace("compare_numbered", &scalars, |p| {
        b.record(|b| b.inlined(comparator, &p[..given]))
    })?;
    let again = Sort { to_apply: Some(to_apply), is_stable: true, ..op.as_ref().clone() };
    let all = b.emit(again, &[node.operands.as_slice(), &[numbers]].concat(), None)?;
    let numbers = leaves::of(all)?[node.operands.len()];
    let results: Vec<Value<'b>> =
        node.operands.iter().map(|&x| taken(x, numbers, dim)).collect::<Result<_>>()?;
    match results.as_slice() {
        [one] => Ok(*one),
        several => Ok(b.tuple(several)),
    }
}
pub(super) fn push_sort<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    rewrite::push(node, tangents, sorted)
}
pub(super) fn pull_sort<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    rewrite::pull(node, cotangent, sorted)
}

fn largest<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    let numbers = node.result.get_tuple_element(1);
    let last = ops::count(&numbers.dims()?) - 1;
    Ok(numbers.builder().tuple(&[taken(node.operand(0)?, numbers, last)?, numbers]))
}
pub(super) fn push_topk<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    rewrite::push(node, tangents, largest)
}
pub(super) fn pull_topk<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    rewrite::pull(node, cotangent, largest)
}
