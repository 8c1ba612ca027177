//! Derivatives of scatter: of updates that are added, that overwrite, and that are multiplied in.
use super::gather::along_vectors;
use super::reduction::two_operand_op;
use super::{Node, Tangent, ops};
use crate::{Builder, Code, Result, Value};
use hlo::ir::ComputationId;
use hlo::op::{Binary, Gather, Reduce, Reshape, Scatter};
use hlo::{ArrayShape, Dims, ElementType, Op};

/// What is done to the operand's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combiner {
    Add,
    Overwrite,
    Multiply,
}

fn attributes<'a>(node: &'a Node<'_>) -> Result<&'a Scatter> {
    let Op::Scatter(op) = &node.op else { return Err(node.refused("is no scatter")) };
    Ok(op)
}

/// The combiner, of one operand.
fn combiner(node: &Node<'_>) -> Result<Combiner> {
    let op = attributes(node)?;
    if node.operands.len() != 3 {
        return Err(node.refused("has no derivative rule here for several operands"));
    }
    let b = node.result.builder();
    match two_operand_op(b, op.to_apply)? {
        Some(Binary::Add) => Ok(Combiner::Add),
        Some(Binary::Multiply) if op.unique_indices => Ok(Combiner::Multiply),
        Some(Binary::Multiply) => Err(node
            .refused("multiplies; its derivative rule here is for indices that are unique")
            .with_help("say so with `unique_indices`")),
        Some(_) => {
            Err(node
                .refused("has a derivative rule here only where it adds, overwrites or multiplies"))
        }
        None if overwrites(b, op.to_apply)? => Ok(Combiner::Overwrite),
        None => {
            Err(node
                .refused("has a derivative rule here only where it adds, overwrites or multiplies"))
        }
    }
}
/// Whether the computation gives its second parameter.
fn overwrites(b: &Builder, id: ComputationId) -> Result<bool> {
    let state = b.state.borrow();
    let computation = state.finished.get(id).ok_or(Code::Invalid {})?;
    let root = &computation.instructions[computation.root].op;
    Ok(matches!(root, Op::Parameter(parameter) if parameter.number == 1))
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let combiner = combiner(node)?;
    let [operand, _, update] = tangents else { return Err(node.refused("is no scatter")) };
    let (indices, updates) = (node.operand(1)?, node.operand(2)?);
    match combiner {
        Combiner::Add | Combiner::Overwrite => {
            let (t, u) = (operand.filled(node.operand(0)?)?, update.filled(updates)?);
            Ok(Tangent::Array(node.again(&[t, indices, u], None)?))
        }
        Combiner::Multiply => {
            let mut sum = Tangent::Zero;
            if let Some(t) = operand.array()? {
                sum = sum.plus(Tangent::Array(node.again(&[t, indices, updates], None)?))?;
            }
            if let Some(u) = update.array()? {
                let products = taken(node, node.operand(0)?)? * u;
                sum = sum.plus(Tangent::Array(put(node, products)?))?;
            }
            Ok(sum)
        }
    }
}

pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let combiner = combiner(node)?;
    let (indices, updates) = (node.operand(1)?, node.operand(2)?);
    let mut cotangents = node.zeros();
    if node.wants(0) {
        cotangents[0] = Tangent::Array(match combiner {
            Combiner::Add => c,
            Combiner::Overwrite => node.again(&[c, indices, ops::zeros_like(updates)?], None)?,
            Combiner::Multiply => node.again(&[c, indices, updates], None)?,
        });
    }
    if node.wants(2) {
        cotangents[2] = Tangent::Array(match combiner {
            Combiner::Add => taken(node, c)?,
            Combiner::Overwrite => {
                let all = taken(node, c)?;
                match winners(node)? {
                    Some(won) => won.select(all, ops::zeros_like(all)?),
                    None => all,
                }
            }
            Combiner::Multiply => taken(node, c * node.operand(0)?)?,
        });
    }
    Ok(cotangents)
}

/// Updates added to zeros.
fn put<'b>(node: &Node<'b>, updates: Value<'b>) -> Result<Value<'b>> {
    let op = Scatter { to_apply: ops::adder(updates)?, ..attributes(node)?.clone() };
    let operand = node.operand(0)?;
    let operands = [ops::zeros_like(operand)?, node.operand(1)?, updates];
    updates.builder().emit(op, &operands, Some(operand.shape()?))
}

/// The boxes of an array of the operand's shape where the updates go, 0 for those that scatter skips.
fn taken<'b>(node: &Node<'b>, array: Value<'b>) -> Result<Value<'b>> {
    let op = attributes(node)?;
    let indices = node.operand(1)?;
    let sizes = box_sizes(op, array.rank()?, node.operand(2)?)?;
    let updates = node.operand(2)?.array()?.with_type(array.element_type()?);
    let gather = Gather {
        offset_dims: op.update_window_dims.clone(),
        collapsed_slice_dims: op.inserted_window_dims.clone(),
        start_index_map: op.scatter_dims_to_operand_dims.clone(),
        operand_batching_dims: op.input_batching_dims.clone(),
        start_indices_batching_dims: op.scatter_indices_batching_dims.clone(),
        index_vector_dim: op.index_vector_dim,
        slice_sizes: sizes.clone(),
        indices_are_sorted: op.indices_are_sorted,
    };
    let boxes = array.builder().emit(gather, &[array, indices], Some(updates.clone().into()))?;
    let inside = inside(op, &sizes, array, indices)?;
    let kept = ops::others(updates.rank(), &op.update_window_dims);
    Ok(ops::spread(inside, &kept, &updates)?.select(boxes, ops::zeros_like(boxes)?))
}

/// Sizes of a box in all dimensions of the operand.
fn box_sizes(op: &Scatter, rank: usize, updates: Value<'_>) -> Result<Vec<i64>> {
    let updates = updates.array()?;
    let mut window = op.update_window_dims.iter().filter_map(|&d| updates.dim(d));
    let left_out = [op.inserted_window_dims.as_slice(), &op.input_batching_dims].concat();
    let size = |d: i64| if left_out.contains(&d) { Some(1) } else { window.next() };
    ops::run(0, rank)
        .into_iter()
        .map(size)
        .collect::<Option<_>>()
        .ok_or_else(|| Code::Invalid {}.into())
}

/// Of each index vector, whether its box lies in the operand.
fn inside<'b>(
    op: &Scatter,
    sizes: &[i64],
    operand: Value<'b>,
    indices: Value<'b>,
) -> Result<Value<'b>> {
    let (shape, operand) = (indices.array()?, operand.array()?);
    let last = |&dim: &i64| operand.dim(dim).unwrap_or(0) - sizes[ops::at(dim)];
    let bounds: Vec<i64> = op.scatter_dims_to_operand_dims.iter().map(last).collect();
    let high = along_vectors(indices, op.index_vector_dim, &bounds)?;
    let fits = indices.ge(ops::zeros_like(indices)?) & indices.le(high);
    if ops::at(op.index_vector_dim) == shape.rank() {
        return Ok(fits);
    }
    let b = indices.builder();
    let to_apply = b.combiner("and", ElementType::Pred, |a, c| a & c)?;
    let all = Reduce { dimensions: vec![op.index_vector_dim], to_apply };
    b.emit(all, &[fits, b.constant(true)], None)
}

/// Of updates that overwrite each other, which ones stay: each writes its number, and those that read it again have won.
/// Nothing if no two go to one place.
fn winners<'b>(node: &Node<'b>) -> Result<Option<Value<'b>>> {
    let op = attributes(node)?;
    if op.unique_indices {
        return Ok(None);
    }
    let b = node.result.builder();
    let updates = node.operand(2)?.array()?.with_type(ElementType::S64);
    let count: i64 = updates.dims.iter().product();
    let flat = ArrayShape::new(ElementType::S64, Dims::from_slice(&[count]));
    let numbers = b.emit(hlo::op::Iota { iota_dimension: Some(0) }, &[], Some(flat.into()))?;
    let numbers =
        b.emit(Reshape { inferred_dimension: -1 }, &[numbers], Some(updates.clone().into()))?;
    let scalar = hlo::Shape::scalar(ElementType::S64);
    let to_apply = b.trace("overwrite", &[scalar.clone(), scalar], |p| p[1])?;
    let scatter = Scatter { to_apply, ..op.clone() };
    let operand = node.operand(0)?.array()?.with_type(ElementType::S64);
    let zeros = super::tangent::zeros(b, &operand.clone().into())?;
    let written = b.emit(scatter, &[zeros, node.operand(1)?, numbers], Some(operand.into()))?;
    Ok(Some(taken(node, written)?.eq(numbers)))
}
