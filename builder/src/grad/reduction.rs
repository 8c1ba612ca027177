//! Derivatives of reduce.
//!
//! Sums are linear; of largest and smallest elements equals share alike. Any other computation of
//! scalars is differentiated as the tree of pairs that it is evaluated as here: of a product that
//! is right with any number of zeros, since nothing is divided by.
use super::combiner::Combiner;
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use super::{lift, ops, rewrite};
use crate::arguments::others;
use crate::{Code, Result, Value};
use hlo::Dims;
use hlo::ir::ComputationId;
use hlo::op::Reduce;

fn kind(op: &Reduce, node: &Node<'_>) -> Result<Combiner> {
    match node.operands.len() {
        2 => Combiner::of(node.result.builder(), op.to_apply),
        _ => Ok(Combiner::Other),
    }
}

impl Derivative for Reduce {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let kind = kind(self, node)?;
        match kind {
            Combiner::Add => node.again_all(tangents),
            Combiner::Maximum | Combiner::Minimum => {
                chosen_jvp(&Choice::of(self, node, kind)?, tangents)
            }
            Combiner::Multiply | Combiner::Overwrite | Combiner::Other => {
                let tree = tree(self, node)?;
                let pushed = rewrite::jvp(node, tree, tangents)?;
                match pushed.is_zero() && is_empty(node)? {
                    true => Tangent::of(pushed.filled(node.result)?),
                    false => Ok(pushed),
                }
            }
        }
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let kind = kind(self, node)?;
        match kind {
            Combiner::Add => sum_vjp(self, node, cotangent),
            Combiner::Maximum | Combiner::Minimum => {
                chosen_vjp(node, &Choice::of(self, node, kind)?, cotangent)
            }
            Combiner::Multiply | Combiner::Overwrite | Combiner::Other => {
                let tree = tree(self, node)?;
                let mut cotangents = rewrite::vjp(node, tree, cotangent)?;
                if is_empty(node)? {
                    for (cotangent, &operand) in cotangents.iter_mut().zip(&node.operands) {
                        *cotangent = Tangent::of(cotangent.filled(operand)?)?;
                    }
                }
                Ok(cotangents)
            }
        }
    }
}

/// Returns whether there is nothing to fold, so that the tree does not touch the operand.
fn is_empty(node: &Node<'_>) -> Result<bool> {
    Ok(node.operand(0)?.dims()?.contains(&0))
}

fn sum_vjp<'b>(op: &Reduce, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let shape = node.operand(0)?.array()?;
    node.each_needed(|i| match i {
        0 => ops::spread(c, &others(shape.rank(), &op.dimensions), &shape),
        _ => Ok(ops::total(c)),
    })
}

/// Where the elements are that a maximum or minimum chose.
struct Choice<'b> {
    dimensions: Vec<i64>,
    kept: Vec<i64>,
    operand: Value<'b>,
    result: Value<'b>,
    /// Which of the operand's elements are the result.
    chosen: Value<'b>,
    /// Where the initial value is the result; it counts as an element unless it is the value below,
    /// or above, all others.
    initial: Value<'b>,
    /// The number of elements equal to the result.
    count: Value<'b>,
}

impl<'b> Choice<'b> {
    fn of(op: &Reduce, node: &Node<'b>, kind: Combiner) -> Result<Self> {
        let dimensions = op.dimensions.clone();
        let (operand, initial, result) = (node.operand(0)?, node.operand(1)?, node.result);
        let (shape, to) = (operand.array()?, result.array()?);
        let kept = others(shape.rank(), &dimensions);
        let chosen = operand.eq(ops::spread(result, &kept, &shape)?);
        let initial = ops::like_array(initial, &to)?;
        let initial = initial.eq(result) & initial.ne(kind.neutral());
        let counted = |marks: Value<'b>, shape| -> Result<Value<'b>> {
            Ok(marks.select(ops::like_array(result.scalar_like(1), shape)?, 0))
        };
        let count = counted(chosen, &shape)?.reduce_sum(&dimensions) + counted(initial, &to)?;
        Ok(Self { dimensions, kept, operand, result, chosen, initial, count })
    }
}
fn chosen_jvp<'b>(choice: &Choice<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let [operand, initial] = tangents else { return Err(Code::Invalid {}.into()) };
    let mut sum = Tangent::Zero;
    if let Some(t) = operand.array()? {
        let kept = choice.chosen.select(t, 0);
        sum = sum.plus(Tangent::Array(kept.reduce_sum(&choice.dimensions)))?;
    }
    if let Some(t) = initial.array()? {
        let t = ops::like_array(t, &choice.result.array()?)?;
        sum = sum.plus(Tangent::Array(choice.initial.select(t, 0)))?;
    }
    sum.map(&|sum| Ok(sum / choice.count))
}
fn chosen_vjp<'b>(
    node: &Node<'b>,
    choice: &Choice<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let share = c / choice.count;
    node.each_needed(|i| match i {
        0 => {
            let shares = ops::spread(share, &choice.kept, &choice.operand.array()?)?;
            Ok(choice.chosen.select(shares, 0))
        }
        _ => Ok(ops::total(choice.initial.select(share, 0))),
    })
}

/// Returns the reduction written as a tree: neighbors are combined until one is left, and that with
/// the initial values.
fn tree<'b>(op: &Reduce, node: &Node<'b>) -> Result<Value<'b>> {
    let count = node.operands.len() / 2;
    let (arrays, inits) = node.operands.split_at(count);
    let mut rows: Vec<Value<'b>> = Vec::with_capacity(count);
    for &array in arrays {
        rows.push(folded_first(array, &op.dimensions)?);
    }
    let shape = rows.first().copied().ok_or(Code::Invalid {})?.array()?;
    let kept = Dims::from_slice(&shape.dims[1..]);
    let mut left = shape.dims[0];
    while left > 1 {
        let pairs = left / 2;
        let take = |rows: &[Value<'b>], start: i64, limit: i64, stride| -> Vec<Value<'b>> {
            rows.iter().map(|row| row.slice_in_dim(start, limit, stride, 0)).collect()
        };
        let mut sizes = shape.dims.clone();
        sizes[0] = pairs;
        let (even, odd) = (take(&rows, 0, 2 * pairs, 2), take(&rows, 1, 2 * pairs, 2));
        let combined = combine(node, op.to_apply, &even, &odd, &sizes)?;
        let last = take(&rows, left - 1, left, 1);
        let joined = |(&pair, last)| node.result.builder().concat_in_dim(&[pair, last], 0);
        rows = match left % 2 {
            0 => combined,
            _ => combined.iter().zip(last).map(joined).collect(),
        };
        left = pairs + left % 2;
    }
    let mut results = Vec::with_capacity(count);
    for &init in inits {
        results.push(ops::like_array(init, &hlo::ArrayShape::new(shape.ty, kept.clone()))?);
    }
    if left == 1 {
        let rows: Vec<Value<'b>> = rows.iter().map(|row| row.reshape(&kept)).collect();
        results = combine(node, op.to_apply, &results, &rows, &kept)?;
    }
    match results.as_slice() {
        [result] if node.result.shape()?.tuple().is_none() => Ok(*result),
        results => Ok(node.result.builder().tuple(results)),
    }
}

/// Merges the reduced dimensions into one, which comes first.
fn folded_first<'b>(array: Value<'b>, dimensions: &[i64]) -> Result<Value<'b>> {
    let shape = array.array()?;
    let kept = others(shape.rank(), dimensions);
    let mut order = others(shape.rank(), &kept);
    let size = |dims: &[i64]| dims.iter().filter_map(|&d| shape.dim(d)).collect::<Vec<i64>>();
    let folded: i64 = size(&order).iter().product();
    order.extend(&kept);
    let sizes = [&[folded], size(&kept).as_slice()].concat();
    Ok(ops::transposed(array, &order).reshape(&sizes))
}

/// Returns the reducer's results on arrays.
fn combine<'b>(
    node: &Node<'b>,
    to_apply: ComputationId,
    left: &[Value<'b>],
    right: &[Value<'b>],
    sizes: &Dims,
) -> Result<Vec<Value<'b>>> {
    let b = node.result.builder();
    let result = lift::lifted(b, to_apply, &[left, right].concat(), sizes)?.ok_or_else(|| {
        node.refused(
            "has no derivative rule here: its computation does more than scalar arithmetic",
        )
    })?;
    match result.shape()?.tuple() {
        Some(_) => crate::ops::movement::elements(result),
        None => Ok(vec![result]),
    }
}
