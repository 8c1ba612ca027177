//! Derivatives of reduce-window and select-and-scatter: sums of windows, and elements that windows
//! select.
use super::combiner::Combiner;
use super::node::{Derivative, Node};
use super::rewrite::Rewrite;
use super::tangent::Tangent;
use super::{leaves, ops, rewrite};
use crate::arguments::{cast, size};
use crate::options::{GatherDimensionNumbers, ScatterDimensionNumbers, WindowOptions};
use crate::{Code, Result, Value};
use hlo::literal::ConstantValue;
use hlo::op::value::{Window, WindowDim};
use hlo::op::{ReduceWindow, SelectAndScatter};
use hlo::{ArrayShape, Dims, ElementType, Op, Shape};

fn kind(op: &ReduceWindow, node: &Node<'_>) -> Result<Combiner> {
    let combiner = match node.operands.len() {
        2 => Combiner::of(node.result.builder(), op.to_apply)?,
        _ => Combiner::Other,
    };
    match combiner {
        known @ (Combiner::Add | Combiner::Maximum | Combiner::Minimum) => Ok(known),
        Combiner::Multiply | Combiner::Overwrite | Combiner::Other => Err(node.refused(
            "has a derivative rule here only where it adds one array, or takes its largest or smallest elements",
        )),
    }
}

impl Derivative for ReduceWindow {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        match kind(self, node)? {
            Combiner::Add => node.again_all(tangents),
            choice => rewrite::jvp(node, chosen(self, node, choice)?, tangents),
        }
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let kind = kind(self, node)?;
        let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
        if kind == Combiner::Add {
            return sum_vjp(self, node, c);
        }
        match is_select_and_scatter(self, node, kind)? {
            true => scattered(self, node, kind, c),
            false => rewrite::vjp(node, chosen(self, node, kind)?, cotangent),
        }
    }
}

/// Pads the cotangents so that a window of the same size around each element covers the windows it
/// was in.
fn sum_vjp<'b>(op: &ReduceWindow, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
    let (operand, places) = (node.operand(0)?, c.dims()?);
    let bases = operand.dims()?;
    node.each_needed(|i| {
        if i == 1 {
            return Ok(ops::total(c));
        }
        if bases.contains(&0) || places.contains(&0) {
            return Ok(operand.zeros_like());
        }
        let around = |((dim, &base), &place): ((&WindowDim, &i64), &i64)| {
            let reach = (dim.size - 1) * dim.rhs_dilation;
            let low = reach - dim.pad_low;
            let needed = (base - 1) * dim.lhs_dilation + reach + 1;
            let high = needed - low - ((place - 1) * dim.stride + 1);
            (low, high, dim.stride - 1)
        };
        let dims = &op.window.dims;
        let padding: Vec<_> = dims.iter().zip(&bases).zip(&places).map(around).collect();
        let sizes: Vec<i64> = dims.iter().map(|dim| dim.size).collect();
        let options = WindowOptions {
            strides: dims.iter().map(|dim| dim.lhs_dilation).collect(),
            window_dilations: dims.iter().map(|dim| dim.rhs_dilation).collect(),
            ..WindowOptions::default()
        };
        let spread = c.pad(0, &padding);
        Ok(spread.reduce_window_with_general_padding(0, |a, b| a + b, &sizes, &options))
    })
}

/// Returns whether select-and-scatter knows such windows, and the initial value is never chosen.
fn is_select_and_scatter(op: &ReduceWindow, node: &Node<'_>, kind: Combiner) -> Result<bool> {
    let dims = &op.window.dims;
    let Op::Constant(initial) = node.operand(1)?.op()? else { return Ok(false) };
    let ConstantValue::Literal(initial) = *initial.value else { return Ok(false) };
    let is_neutral = initial.get(0) == hlo::Scalar::Float(kind.neutral());
    Ok(is_neutral && dims.iter().all(|dim| dim.lhs_dilation == 1 && dim.rhs_dilation == 1))
}
/// Returns the computation of whether the first of two elements is chosen: of equals it is.
fn prefers(node: &Node<'_>, kind: Combiner) -> Result<hlo::ir::ComputationId> {
    let (b, ty) = (node.result.builder(), node.operand(0)?.element_type()?);
    match kind == Combiner::Minimum {
        true => b.combiner("le", ty, |x, y| x.le(y)),
        false => b.combiner("ge", ty, |x, y| x.ge(y)),
    }
}
fn scattered<'b>(
    op: &ReduceWindow,
    node: &Node<'b>,
    kind: Combiner,
    c: Value<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let window = op.window.clone();
    let op = SelectAndScatter { window, select: prefers(node, kind)?, scatter: ops::adder(c)? };
    let operand = node.operand(0)?;
    let c = cast(c, operand.element_type()?)?;
    let scattered = c.builder().emit(op, &[operand, c, c.scalar_like(0)], None)?;
    Ok(node.first_only(scattered))
}

/// Returns the maxima or minima, gathered by their indices.
fn chosen<'b>(op: &ReduceWindow, node: &Node<'b>, kind: Combiner) -> Result<Value<'b>> {
    let (operand, result) = (node.operand(0)?, node.result.array()?);
    let initial = ops::like_array(node.operand(1)?, &result)?;
    let (flat, none) = flattened(operand)?;
    if none == 0 {
        return Ok(initial);
    }
    let places = places(node, &op.window, prefers(node, kind)?, &result.dims)?;
    let taken = cast(taken(flat, places)?, result.ty)?;
    let beyond = if kind == Combiner::Maximum { initial.gt(taken) } else { initial.lt(taken) };
    Ok((places.eq(none) | beyond).select(initial, taken))
}

/// Returns an array as a vector, and its length.
fn flattened(value: Value<'_>) -> Result<(Value<'_>, i64)> {
    let count: i64 = value.dims()?.iter().product();
    Ok((value.reshape(&[count]), count))
}
/// Returns for each window the number of the element it chooses, counted in row-major order; their
/// count where it has none. Of two elements in that order the first is chosen if `prefers` is true
/// of them.
fn places<'b>(
    node: &Node<'b>,
    window: &Window,
    prefers: hlo::ir::ComputationId,
    result: &Dims,
) -> Result<Value<'b>> {
    let (b, operand) = (node.result.builder(), node.operand(0)?);
    let shape = operand.array()?;
    let (_, count) = flattened(operand)?;
    let numbers = b.iota_1d(ElementType::S64, count).reshape(&shape.dims);
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
    let none = numbers.scalar_like(count);
    let shapes = [shape.ty, ElementType::S64].map(|ty| ArrayShape::new(ty, result.clone()).into());
    let operands = [operand, numbers, operand.scalar_like(0), none];
    Ok(leaves::of(b.emit(op, &operands, Some(Shape::Tuple(shapes.to_vec())))?)?[1])
}
/// Elements of a vector; the last one for numbers past its end.
fn taken<'b>(flat: Value<'b>, places: Value<'b>) -> Result<Value<'b>> {
    let numbers = GatherDimensionNumbers {
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: size(places.rank()?),
        ..GatherDimensionNumbers::default()
    };
    Ok(flat.gather(places, &numbers, &[1]))
}

/// Select-and-scatter as a scatter to the chosen places; what is past the end is skipped.
impl Rewrite for SelectAndScatter {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>> {
        if Combiner::of(node.result.builder(), self.scatter)? != Combiner::Add {
            return Err(node.refused("has a derivative rule here only where it scatters by adding"));
        }
        let (operand, source) = (node.operand(0)?, node.operand(1)?);
        let initial = ops::like_array(node.operand(2)?, &operand.array()?)?;
        let (flat, count) = flattened(initial)?;
        if count == 0 {
            return Ok(initial);
        }
        let places = places(node, &self.window, self.select, &source.array()?.dims)?;
        let numbers = ScatterDimensionNumbers {
            inserted_window_dims: vec![0],
            scatter_dims_to_operand_dims: vec![0],
            index_vector_dim: size(source.rank()?),
            ..ScatterDimensionNumbers::default()
        };
        Ok(flat.scatter(places, source, |a, b| a + b, &numbers).reshape(&operand.dims()?))
    }
}
