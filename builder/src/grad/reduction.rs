//! Derivatives of reduce.
//!
//! Sums are linear; of largest and smallest elements equals share alike. Any other computation of scalars is differentiated as
//! the tree of pairs that it is evaluated as here: of a product that is right with any number of zeros, since nothing is
//! divided by.
use super::sweep::{Inputs, pull_through, push_through};
use super::{Node, Tangent, lift, ops};
use crate::operand::{Number, number};
use crate::{Builder, Code, Result, Value};
use hlo::ir::ComputationId;
use hlo::op::value::SliceRange;
use hlo::op::{Binary, Concatenate, Reduce};
use hlo::{Dims, Op};

/// What a reduction combines with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combiner {
    Add,
    Maximum,
    Minimum,
    Other,
}

/// The combiner of a computation: an op of its two parameters, in either order.
fn combiner(b: &Builder, id: ComputationId) -> Result<Combiner> {
    Ok(match two_operand_op(b, id)? {
        Some(Binary::Add) => Combiner::Add,
        Some(Binary::Maximum) => Combiner::Maximum,
        Some(Binary::Minimum) => Combiner::Minimum,
        Some(_) | None => Combiner::Other,
    })
}
/// The op if all that the computation does is one op of two operands to its two parameters.
pub(super) fn two_operand_op(b: &Builder, id: ComputationId) -> Result<Option<Binary>> {
    let state = b.state.borrow();
    let computation = state.finished.get(id).ok_or(Code::Invalid {})?;
    let root = &computation.instructions[computation.root];
    let mut taken: Vec<i64> = Vec::new();
    for &operand in &root.operands {
        if let Op::Parameter(parameter) = &computation.instructions[operand].op {
            taken.push(parameter.number);
        }
    }
    taken.sort_unstable();
    let op = if let Op::Binary(op) = root.op { Some(op) } else { None };
    Ok(op.filter(|_| taken == [0, 1]))
}

fn attributes<'a>(node: &'a Node<'_>) -> Result<&'a Reduce> {
    let Op::Reduce(op) = &node.op else { return Err(node.refused("is no reduce")) };
    Ok(op)
}
fn kind(node: &Node<'_>) -> Result<Combiner> {
    match node.operands.len() == 2 {
        true => combiner(node.result.builder(), attributes(node)?.to_apply),
        false => Ok(Combiner::Other),
    }
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let kind = kind(node)?;
    match kind {
        Combiner::Add => {
            let tangents = ops::filled(node, tangents)?;
            Ok(Tangent::Array(node.again(&tangents, None)?))
        }
        Combiner::Maximum | Combiner::Minimum => push_chosen(&Choice::of(node, kind)?, tangents),
        Combiner::Other => {
            let (b, tree) = (node.result.builder(), tree(node)?);
            let pushed = push_through(b, tree, &node.operands, tangents, Inputs::Leaves)?;
            match pushed.is_zero() && is_empty(node)? {
                true => Tangent::of(pushed.filled(node.result)?),
                false => Ok(pushed),
            }
        }
    }
}

pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let kind = kind(node)?;
    match kind {
        Combiner::Add => pull_sum(node, cotangent),
        Combiner::Maximum | Combiner::Minimum => {
            pull_chosen(node, &Choice::of(node, kind)?, cotangent)
        }
        Combiner::Other => {
            let (b, tree) = (node.result.builder(), tree(node)?);
            let mut cotangents =
                pull_through(b, tree, &node.operands, cotangent.clone(), Inputs::Leaves)?;
            if is_empty(node)? {
                for (cotangent, &operand) in cotangents.iter_mut().zip(&node.operands) {
                    *cotangent = Tangent::of(cotangent.filled(operand)?)?;
                }
            }
            Ok(cotangents)
        }
    }
}

/// Whether there is nothing to fold, so that the tree does not touch the operand.
fn is_empty(node: &Node<'_>) -> Result<bool> {
    Ok(node.operand(0)?.dims()?.contains(&0))
}

fn pull_sum<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let mut cotangents = node.zeros();
    if node.wants(0) {
        let shape = node.operand(0)?.array()?;
        let kept = ops::others(shape.rank(), &attributes(node)?.dimensions);
        cotangents[0] = Tangent::Array(ops::spread(c, &kept, &shape)?);
    }
    if node.wants(1) {
        cotangents[1] = Tangent::Array(ops::total(c)?);
    }
    Ok(cotangents)
}

/// Where the elements are that a maximum or minimum chose.
struct Choice<'b> {
    dimensions: Vec<i64>,
    kept: Vec<i64>,
    operand: Value<'b>,
    result: Value<'b>,
    /// Of the operand's elements, which are the result.
    chosen: Value<'b>,
    /// Where the initial value is the result; it counts as an element unless it is the value below, or above, all others.
    initial: Value<'b>,
    /// How many share the result.
    count: Value<'b>,
}

impl<'b> Choice<'b> {
    fn of(node: &Node<'b>, kind: Combiner) -> Result<Self> {
        let dimensions = attributes(node)?.dimensions.clone();
        let (operand, initial, result) = (node.operand(0)?, node.operand(1)?, node.result);
        let (shape, to) = (operand.array()?, result.array()?);
        let kept = ops::others(shape.rank(), &dimensions);
        let chosen = operand.eq(ops::spread(result, &kept, &shape)?);
        let initial = ops::like_array(initial, &to)?;
        let neutral = if kind == Combiner::Maximum { f64::NEG_INFINITY } else { f64::INFINITY };
        let initial = initial.eq(result) & initial.ne(neutral);
        let one = number(result, Number::Float(1.0))?;
        let counted = |marks: Value<'b>, shape| {
            let ones = ops::like_array(one, shape)?;
            Ok::<_, crate::Error>(marks.select(ones, ops::zeros_like(ones)?))
        };
        let count = ops::sum(counted(chosen, &shape)?, &dimensions)? + counted(initial, &to)?;
        Ok(Self { dimensions, kept, operand, result, chosen, initial, count })
    }
}
fn push_chosen<'b>(choice: &Choice<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let [operand, initial] = tangents else { return Err(Code::Invalid {}.into()) };
    let mut sum = Tangent::Zero;
    if let Some(t) = operand.array()? {
        let kept = choice.chosen.select(t, ops::zeros_like(t)?);
        sum = sum.plus(Tangent::Array(ops::sum(kept, &choice.dimensions)?))?;
    }
    if let Some(t) = initial.array()? {
        let t = ops::like_array(t, &choice.result.array()?)?;
        sum = sum.plus(Tangent::Array(choice.initial.select(t, ops::zeros_like(t)?)))?;
    }
    sum.map(&|sum| Ok(sum / choice.count))
}
fn pull_chosen<'b>(
    node: &Node<'b>,
    choice: &Choice<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let share = c / choice.count;
    let mut cotangents = node.zeros();
    if node.wants(0) {
        let shares = ops::spread(share, &choice.kept, &choice.operand.array()?)?;
        let kept = choice.chosen.select(shares, ops::zeros_like(shares)?);
        cotangents[0] = Tangent::Array(kept);
    }
    if node.wants(1) {
        let kept = choice.initial.select(share, ops::zeros_like(share)?);
        cotangents[1] = Tangent::Array(ops::total(kept)?);
    }
    Ok(cotangents)
}

/// The reduction written as a tree: neighbours are combined until one is left, and that with the initial values.
fn tree<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    let op = attributes(node)?;
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
        let every_other = |start| SliceRange { start, limit: start + 2 * pairs - 1, stride: 2 };
        let take = |rows: &[Value<'b>], range: SliceRange| -> Result<Vec<Value<'b>>> {
            rows.iter().map(|&row| ops::slice_of(row, 0, range)).collect()
        };
        let mut sizes = shape.dims.clone();
        sizes[0] = pairs;
        let combined = combine(
            node,
            op.to_apply,
            &take(&rows, every_other(0))?,
            &take(&rows, every_other(1))?,
            &sizes,
        )?;
        let last = SliceRange { start: left - 1, limit: left, stride: 1 };
        rows = match left % 2 {
            0 => combined,
            _ => (combined.iter().zip(take(&rows, last)?))
                .map(|(&pair, odd)| joined(pair, odd))
                .collect::<Result<_>>()?,
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

/// The array with the folded dimensions as one, which stands first.
fn folded_first<'b>(array: Value<'b>, dimensions: &[i64]) -> Result<Value<'b>> {
    let shape = array.array()?;
    let kept = ops::others(shape.rank(), dimensions);
    let mut order = ops::others(shape.rank(), &kept);
    let size = |dims: &[i64]| dims.iter().filter_map(|&d| shape.dim(d)).collect::<Vec<i64>>();
    let folded: i64 = size(&order).iter().product();
    order.extend(&kept);
    let sizes = [&[folded], size(&kept).as_slice()].concat();
    Ok(ops::transposed(array, &order).reshape(&sizes))
}

/// The reducer's results on arrays.
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

fn joined<'b>(first: Value<'b>, second: Value<'b>) -> Result<Value<'b>> {
    let op = Concatenate { dimensions: vec![0] };
    first.builder().emit(op, &[first, second], None)
}
