//! Derivatives of sort and topk: gathers by the sorted indices.
use super::leaves;
use super::node::Node;
use super::rewrite::Rewrite;
use crate::arguments::{others, size};
use crate::options::GatherDimensionNumbers;
use crate::{Result, Value};
use hlo::op::{Sort, TopK};
use hlo::{ElementType, Shape};

/// Elements along a dimension, by their numbers: an array of the same rank.
fn taken<'b>(array: Value<'b>, numbers: Value<'b>, dim: i64) -> Result<Value<'b>> {
    let shape = numbers.array()?.with_type(array.element_type()?);
    let others = others(shape.rank(), &[dim]);
    if shape.dims.contains(&0) {
        return Ok(array.builder().zeros(shape));
    }
    let numbers_of = GatherDimensionNumbers {
        collapsed_slice_dims: vec![dim],
        start_index_map: vec![dim],
        operand_batching_dims: others.clone(),
        start_indices_batching_dims: others,
        index_vector_dim: size(shape.rank()),
        ..GatherDimensionNumbers::default()
    };
    Ok(array.gather(numbers, &numbers_of, &vec![1; shape.rank()]))
}

/// The operands in the order that numbers sorted along with them have. Equals stay in their order,
/// as far as the op says nothing else.
impl Rewrite for Sort {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>> {
        let (b, op) = (node.result.builder(), self);
        let Some(comparator) = op.to_apply else {
            return Err(node.refused("has no derivative rule here without a comparator"));
        };
        let shape = node.operand(0)?.array()?;
        let dim = size(op.dimension(shape.rank()));
        let numbers = b.iota(shape.with_type(ElementType::S64), dim);
        let mut scalars = b.signature(comparator)?.0;
        let given = scalars.len();
        scalars.extend([Shape::scalar(ElementType::S64), Shape::scalar(ElementType::S64)]);
        let to_apply = b.trace("compare_numbered", &scalars, |p| {
            b.record(|b| b.inlined(comparator, &p[..given]))
        })?;
        let again = Sort { to_apply: Some(to_apply), is_stable: true, ..op.clone() };
        let all = b.emit(again, &[node.operands.as_slice(), &[numbers]].concat(), None)?;
        let numbers = leaves::of(all)?[node.operands.len()];
        let results: Vec<Value<'b>> =
            node.operands.iter().map(|&x| taken(x, numbers, dim)).collect::<Result<_>>()?;
        match results.as_slice() {
            [one] => Ok(*one),
            several => Ok(b.tuple(several)),
        }
    }
}
impl Rewrite for TopK {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>> {
        let numbers = node.result.get_tuple_element(1);
        let last = size(numbers.rank()?) - 1;
        Ok(numbers.builder().tuple(&[taken(node.operand(0)?, numbers, last)?, numbers]))
    }
}
