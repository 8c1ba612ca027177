//! Derivatives of reduce-window and select-and-scatter: sums of windows, and elements that windows choose.
use super::reduction::two_operand_op;
use super::{Node, Tangent, leaves, ops, rewrite};
use crate::operand::{Number, number};
use crate::{Code, Result, Value};
use hlo::op::value::{PaddingDim, Window, WindowDim};
use hlo::op::{Binary, Gather, Iota, ReduceWindow, Scatter, SelectAndScatter};
use hlo::{ArrayShape, ConstantValue, Dims, ElementType, Op, Shape};

/// What a reduce-window combines with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Maximum,
    Minimum,
}

fn attributes<'a>(node: &'a Node<'_>) -> Result<&'a ReduceWindow> {
    let Op::ReduceWindow(op) = &node.op else { return Err(node.refused("is no reduce-window")) };
    Ok(op)
}
fn kind(node: &Node<'_>) -> Result<Kind> {
    let to_apply = attributes(node)?.to_apply;
    let op = match node.operands.len() == 2 {
        true => two_operand_op(node.result.builder(), to_apply)?,
        false => None,
    };
    match op {
        Some(Binary::Add) => Ok(Kind::Add),
        Some(Binary::Maximum) => Ok(Kind::Maximum),
        Some(Binary::Minimum) => Ok(Kind::Minimum),
        Some(_) | None => Err(node.refused(
            "has a derivative rule here only where it adds one array, or takes its largest or smallest elements",
        )),
    }
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    match kind(node)? {
        Kind::Add => Ok(Tangent::Array(node.again(&ops::filled(node, tangents)?, None)?)),
        Kind::Maximum | Kind::Minimum => rewrite::push(node, tangents, chosen),
    }
}
pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let kind = kind(node)?;
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    match kind {
        Kind::Add => pull_sum(node, c),
        Kind::Maximum | Kind::Minimum if is_plain(node, kind)? => scattered(node, kind, c),
        Kind::Maximum | Kind::Minimum => rewrite::pull(node, cotangent, chosen),
    }
}

/// The windows' cotangents, spread so far that a window of the same size around each element meets those it was in.
fn pull_sum<'b>(node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
    let (op, bases, places) = (attributes(node)?, node.operand(0)?.dims()?, c.dims()?);
    let mut cotangents = node.zeros();
    if node.wants(1) {
        cotangents[1] = Tangent::Array(ops::total(c)?);
    }
    if !node.wants(0) {
        return Ok(cotangents);
    }
    if bases.contains(&0) || places.contains(&0) {
        cotangents[0] = Tangent::Array(ops::zeros_like(node.operand(0)?)?);
        return Ok(cotangents);
    }
    let around = |((dim, &base), &place): ((&WindowDim, &i64), &i64)| {
        let reach = (dim.size - 1) * dim.rhs_dilation;
        let low = reach - dim.pad_low;
        let wanted = (base - 1) * dim.lhs_dilation + reach + 1;
        let high = wanted - low - ((place - 1) * dim.stride + 1);
        PaddingDim { low, high, interior: dim.stride - 1 }
    };
    let dims = op.window.dims.iter().zip(&bases).zip(&places).map(around).collect();
    let zero = ops::zero_of(c)?;
    let spread = ops::padded(c, zero, dims)?;
    let backward = |dim: &WindowDim| WindowDim {
        stride: dim.lhs_dilation,
        rhs_dilation: dim.rhs_dilation,
        ..WindowDim::new(dim.size)
    };
    let window = Window { dims: op.window.dims.iter().map(backward).collect() };
    let op = ReduceWindow { window, to_apply: ops::adder(c)? };
    cotangents[0] = Tangent::Array(c.builder().emit(op, &[spread, zero], None)?);
    Ok(cotangents)
}

/// Whether select-and-scatter knows such windows, and the initial value is never chosen.
fn is_plain(node: &Node<'_>, kind: Kind) -> Result<bool> {
    let dims = &attributes(node)?.window.dims;
    let neutral = if kind == Kind::Maximum { f64::NEG_INFINITY } else { f64::INFINITY };
    let Op::Constant(initial) = node.operand(1)?.op()? else { return Ok(false) };
    let ConstantValue::Literal(initial) = *initial.value else { return Ok(false) };
    let is_neutral = initial.get(0) == hlo::Scalar::Float(neutral);
    Ok(is_neutral && dims.iter().all(|dim| dim.lhs_dilation == 1 && dim.rhs_dilation == 1))
}
/// The computation of whether the first of two elements is chosen: of equals it is.
fn prefers(node: &Node<'_>, kind: Kind) -> Result<hlo::ir::ComputationId> {
    let (b, ty) = (node.result.builder(), node.operand(0)?.element_type()?);
    match kind {
        Kind::Minimum => b.combiner("le", ty, |x, y| x.le(y)),
        Kind::Maximum | Kind::Add => b.combiner("ge", ty, |x, y| x.ge(y)),
    }
}
fn scattered<'b>(node: &Node<'b>, kind: Kind, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
    let window = attributes(node)?.window.clone();
    let op = SelectAndScatter { window, select: prefers(node, kind)?, scatter: ops::adder(c)? };
    let operand = node.operand(0)?;
    let c = match c.element_type()? == operand.element_type()? {
        true => c,
        false => c.convert_element_type(operand.element_type()?),
    };
    let scattered = c.builder().emit(op, &[operand, c, ops::zero_of(c)?], None)?;
    Ok(node.first_only(scattered))
}

/// The largest or smallest elements, taken from where they stand.
fn chosen<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    let kind = kind(node)?;
    let (operand, result) = (node.operand(0)?, node.result.array()?);
    let initial = ops::like_array(node.operand(1)?, &result)?;
    let (flat, none) = flattened(operand)?;
    if none == 0 {
        return Ok(initial);
    }
    let places = places(node, &attributes(node)?.window, prefers(node, kind)?, &result.dims)?;
    let mut taken = taken(flat, places)?;
    if operand.element_type()? != result.ty {
        taken = taken.convert_element_type(result.ty);
    }
    let beyond = if kind == Kind::Maximum { initial.gt(taken) } else { initial.lt(taken) };
    Ok((places.eq(none) | beyond).select(initial, taken))
}

/// An array as a vector, and its length.
fn flattened(value: Value<'_>) -> Result<(Value<'_>, i64)> {
    let count: i64 = value.dims()?.iter().product();
    Ok((value.reshape(&[count]), count))
}
/// Of each window the number of the element it chooses, counted in row-major order; their count where it has none. Of two
/// elements in that order the first is chosen if `prefers` is true of them.
fn places<'b>(
    node: &Node<'b>,
    window: &Window,
    prefers: hlo::ir::ComputationId,
    result: &Dims,
) -> Result<Value<'b>> {
    let (b, operand) = (node.result.builder(), node.operand(0)?);
    let shape = operand.array()?;
    let (_, count) = flattened(operand)?;
    let numbers = ArrayShape::new(ElementType::S64, [count].as_slice());
    let numbers = b.emit(Iota { iota_dimension: Some(0) }, &[], Some(numbers.into()))?;
    let numbers = numbers.reshape(&shape.dims);
    let scalars = [Shape::scalar(shape.ty), Shape::scalar(ElementType::S64)];
    let to_apply = b.trace("choose", &[scalars.clone(), scalars].concat(), |p| {
        b.record(|b| {
            let [x, i, y, j] = *p else { return Err(Code::Invalid {}.into()) };
            let ahead = i.lt(j);
            let (first, at) = (ahead.select(x, y), ahead.select(i, j));
            let (second, then) = (ahead.select(y, x), ahead.select(j, i));
            // No element has the number that is their count: it is always the second.
            let keeps = b.inlined(prefers, &[first, second])? | then.eq(count);
            Ok(b.tuple(&[keeps.select(first, second), keeps.select(at, then)]))
        })
    })?;
    let op = ReduceWindow { window: window.clone(), to_apply };
    let none = number(numbers, Number::Whole(count))?;
    let shapes = [shape.ty, ElementType::S64].map(|ty| ArrayShape::new(ty, result.clone()).into());
    let operands = [operand, numbers, ops::zero_of(operand)?, none];
    Ok(leaves::of(b.emit(op, &operands, Some(Shape::Tuple(shapes.to_vec())))?)?[1])
}
/// Elements of a vector; the last one for numbers past its end.
fn taken<'b>(flat: Value<'b>, places: Value<'b>) -> Result<Value<'b>> {
    let shape = places.array()?.with_type(flat.element_type()?);
    let gather = Gather {
        offset_dims: vec![],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        operand_batching_dims: vec![],
        start_indices_batching_dims: vec![],
        index_vector_dim: ops::count(&shape.dims),
        slice_sizes: vec![1],
        indices_are_sorted: false,
    };
    flat.builder().emit(gather, &[flat, places], Some(shape.into()))
}

/// Select-and-scatter as a scatter to the chosen places; what is past the end is skipped.
fn placed<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    let Op::SelectAndScatter(op) = &node.op else {
        return Err(node.refused("is no select-and-scatter"));
    };
    let b = node.result.builder();
    if two_operand_op(b, op.scatter)? != Some(Binary::Add) {
        return Err(node.refused("has a derivative rule here only where it scatters by adding"));
    }
    let (operand, source) = (node.operand(0)?, node.operand(1)?);
    let initial = ops::like_array(node.operand(2)?, &operand.array()?)?;
    let (flat, count) = flattened(initial)?;
    if count == 0 {
        return Ok(initial);
    }
    let places = places(node, &op.window, op.select, &source.array()?.dims)?;
    let scatter = Scatter {
        update_window_dims: vec![],
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        input_batching_dims: vec![],
        scatter_indices_batching_dims: vec![],
        index_vector_dim: ops::count(&source.dims()?),
        indices_are_sorted: false,
        unique_indices: false,
        to_apply: ops::adder(flat)?,
    };
    let sums = b.emit(scatter, &[flat, places, source], Some(flat.shape()?))?;
    Ok(sums.reshape(&operand.dims()?))
}
pub(super) fn push_placed<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    rewrite::push(node, tangents, placed)
}
pub(super) fn pull_placed<'b>(
    node: &Node<'b>,
    cotangent: &Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    rewrite::pull(node, cotangent, placed)
}
