//! Derivatives of scatter: of updates that are added, that overwrite, that are multiplied in, and
//! that replace smaller or larger elements.
use super::combiner::Combiner;
use super::node::{Derivative, Node};
use super::ops;
use super::tangent::Tangent;
use crate::arguments::others;
use crate::options::GatherDimensionNumbers;
use crate::{Code, Result, Value};
use hlo::ElementType;
use hlo::op::Scatter;

/// Returns the combiner, of one operand.
fn combiner(op: &Scatter, node: &Node<'_>) -> Result<Combiner> {
    if node.operands.len() != 3 {
        return Err(node.refused("has no derivative rule here for several operands"));
    }
    match Combiner::of(node.result.builder(), op.to_apply)? {
        Combiner::Multiply if !op.unique_indices => Err(node
            .refused("multiplies; its derivative rule here is for indices that are unique")
            .with_help("set `unique_indices`")),
        Combiner::Other => Err(node.refused(
            "has a derivative rule here only where it adds, multiplies, overwrites, or takes the larger or smaller one",
        )),
        known @ (Combiner::Add
        | Combiner::Maximum
        | Combiner::Minimum
        | Combiner::Multiply
        | Combiner::Overwrite) => Ok(known),
    }
}

impl Derivative for Scatter {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let combiner = combiner(self, node)?;
        let (operand, update) = (&tangents[0], &tangents[2]);
        let (indices, updates) = (node.operand(1)?, node.operand(2)?);
        if combiner.is_extremum() {
            let (t, u) = (operand.filled(node.operand(0)?)?, update.filled(updates)?);
            let Extrema { kept, won, count } = extrema(self, node)?;
            let sum = added(self, node, kept.select(t, 0), won.select(u, 0))?;
            return Ok(Tangent::Array(sum / count));
        }
        if combiner != Combiner::Multiply {
            let (t, u) = (operand.filled(node.operand(0)?)?, update.filled(updates)?);
            return Ok(Tangent::Array(node.again(&[t, indices, u])?));
        }
        let mut sum = operand.map(&|t| node.again(&[t, indices, updates]))?;
        if let Some(u) = update.array()? {
            let products = taken(self, node, node.operand(0)?)? * u;
            sum = sum.plus(Tangent::Array(put(self, node, products)?))?;
        }
        Ok(sum)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let combiner = combiner(self, node)?;
        let (operand, indices, updates) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
        if combiner.is_extremum() {
            let Extrema { kept, won, count } = extrema(self, node)?;
            let share = c / count;
            return node.each_needed(|i| match i {
                2 => Ok(won.select(taken(self, node, share)?, 0)),
                _ => Ok(kept.select(share, 0)),
            });
        }
        node.each_needed(|i| {
            if i == 2 {
                let scaled = if combiner == Combiner::Multiply { c * operand } else { c };
                let all = taken(self, node, scaled)?;
                if combiner == Combiner::Overwrite
                    && let Some(won) = winners(self, node)?
                {
                    return Ok(won.select(all, 0));
                }
                return Ok(all);
            }
            match combiner {
                Combiner::Add => Ok(c),
                Combiner::Overwrite => node.again(&[c, indices, updates.zeros_like()]),
                Combiner::Multiply | Combiner::Maximum | Combiner::Minimum | Combiner::Other => {
                    node.again(&[c, indices, updates])
                }
            }
        })
    }
}

/// Updates added to zeros.
fn put<'b>(op: &Scatter, node: &Node<'b>, updates: Value<'b>) -> Result<Value<'b>> {
    added(op, node, node.operand(0)?.zeros_like(), updates)
}
/// Updates added to an array.
fn added<'b>(
    op: &Scatter,
    node: &Node<'b>,
    to: Value<'b>,
    updates: Value<'b>,
) -> Result<Value<'b>> {
    let add = Scatter { to_apply: ops::adder(updates)?, ..op.clone() };
    updates.builder().emit(add, &[to, node.operand(1)?, updates], Some(to.shape()?))
}

/// The elements and updates that are the result of a scatter that takes the larger or smaller one.
/// Equals share its derivative, as in JAX.
struct Extrema<'b> {
    /// By element of the operand.
    kept: Value<'b>,
    /// By update; what it says of those that are skipped is not used.
    won: Value<'b>,
    /// The number of equals, by element; 1 where there is none, since the result is NaN.
    count: Value<'b>,
}
fn extrema<'b>(op: &Scatter, node: &Node<'b>) -> Result<Extrema<'b>> {
    let (operand, updates) = (node.operand(0)?, node.operand(2)?);
    let kept = operand.eq(node.result);
    let won = updates.eq(taken(op, node, node.result)?);
    let ty = operand.element_type()?;
    let number = |truths: Value<'b>| truths.convert_element_type(ty);
    let count = added(op, node, number(kept), number(won))?;
    Ok(Extrema { kept, won, count: count.max(1) })
}

/// Returns the boxes of an array of the operand's shape where the updates go, 0 for those that
/// scatter skips.
fn taken<'b>(op: &Scatter, node: &Node<'b>, array: Value<'b>) -> Result<Value<'b>> {
    let indices = node.operand(1)?;
    let sizes = box_sizes(op, array.rank()?, node.operand(2)?)?;
    let updates = node.operand(2)?.array()?.with_type(array.element_type()?);
    let numbers = GatherDimensionNumbers {
        offset_dims: op.update_window_dims.clone(),
        collapsed_slice_dims: op.inserted_window_dims.clone(),
        start_index_map: op.scatter_dims_to_operand_dims.clone(),
        operand_batching_dims: op.input_batching_dims.clone(),
        start_indices_batching_dims: op.scatter_indices_batching_dims.clone(),
        index_vector_dim: op.index_vector_dim,
        indices_are_sorted: op.indices_are_sorted,
    };
    let boxes = array.gather(indices, &numbers, &sizes);
    let inside = inside(op, &sizes, array, indices)?;
    let kept = others(updates.rank(), &op.update_window_dims);
    Ok(ops::spread(inside, &kept, &updates)?.select(boxes, 0))
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

/// Returns for each index vector whether its slice is inside the operand.
fn inside<'b>(
    op: &Scatter,
    sizes: &[i64],
    operand: Value<'b>,
    indices: Value<'b>,
) -> Result<Value<'b>> {
    let (shape, operand) = (indices.array()?, operand.array()?);
    let last = |&dim: &i64| operand.dim(dim).unwrap_or(0) - sizes[ops::at(dim)];
    let bounds: Vec<i64> = op.scatter_dims_to_operand_dims.iter().map(last).collect();
    let high = ops::along_vectors(indices, op.index_vector_dim, &bounds)?;
    let fits = indices.ge(indices.zeros_like()) & indices.le(high);
    if ops::at(op.index_vector_dim) == shape.rank() {
        return Ok(fits);
    }
    Ok(fits.reduce_and(&[op.index_vector_dim]))
}

/// Returns which of the updates that overwrite each other stay: each writes its number, and those
/// that read it again have won. Nothing if no two go to one place.
fn winners<'b>(op: &Scatter, node: &Node<'b>) -> Result<Option<Value<'b>>> {
    if op.unique_indices {
        return Ok(None);
    }
    let b = node.result.builder();
    let updates = node.operand(2)?.array()?.with_type(ElementType::S64);
    let count: i64 = updates.dims.iter().product();
    let numbers = b.iota_1d(ElementType::S64, count).reshape(&updates.dims);
    let scalar = hlo::Shape::scalar(ElementType::S64);
    let to_apply = b.trace("overwrite", &[scalar.clone(), scalar], |p| p[1])?;
    let overwrite = Scatter { to_apply, ..op.clone() };
    let zeros = b.zeros(node.operand(0)?.array()?.with_type(ElementType::S64));
    let written = b.emit(overwrite, &[zeros, node.operand(1)?, numbers], None)?;
    Ok(Some(taken(op, node, written)?.eq(numbers)))
}
