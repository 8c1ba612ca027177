//! Derivatives of while: tangents travel with the state; cotangents travel back through the states of all steps, which are
//! saved.
use super::callee::{Callee, filled, traced};
use super::{Node, Tangent, leaves, tangent, trips};
use crate::{Builder, Result, Value};
use hlo::op::{DynamicSlice, DynamicUpdateSlice, While};
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar, Shape};

fn attributes<'a>(node: &'a Node<'_>) -> Result<&'a While> {
    let Op::While(op) = &node.op else { return Err(node.refused("is no loop")) };
    Ok(op)
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let (b, op) = (node.result.builder(), attributes(node)?);
    let (body, condition) = (Callee::of(b, op.body)?, Callee::of(b, op.condition)?);
    let shapes = body.takes();
    let given = tangents.first().map(|t| leaves::of_tangent(t, &body.result)).unwrap_or_default();
    let flowing = closure(leaves::present(&given), |flowing| body.pushes(flowing))?;
    let count = shapes.len();
    let state = leaves::of(node.operand(0)?)?;
    let state = b.tuple(&[state, filled(b, &given, &shapes, &flowing)?].concat());
    let next = |x: &[Value<'b>], t: &[Value<'b>]| {
        let (next, pushed) = body.push_at(x, &leaves::dealt(&flowing, t.iter().copied()))?;
        Ok([next, filled(b, &pushed, &shapes, &flowing)?].concat())
    };
    let result = repeat(
        b,
        &body.named("jvp")?,
        state,
        |p| condition.inlined(&p[..count]),
        |p| {
            let (x, t) = p.split_at(count);
            next(x, t)
        },
    )?;
    let pushed = leaves::dealt(&flowing, result.into_iter().skip(count));
    Ok(leaves::tangent(&body.result, &mut pushed.into_iter()))
}

/// The marks with all that follows from them.
fn closure(
    mut marks: Vec<bool>,
    follow: impl Fn(&[bool]) -> Result<Vec<bool>>,
) -> Result<Vec<bool>> {
    loop {
        let more = leaves::either(&marks, &follow(&marks)?);
        if more == marks {
            return Ok(marks);
        }
        marks = more;
    }
}

/// The elements of the last state of a loop.
fn repeat<'b>(
    b: &'b Builder,
    name: &str,
    state: Value<'b>,
    condition: impl FnOnce(&[Value<'b>]) -> Result<Value<'b>>,
    body: impl FnOnce(&[Value<'b>]) -> Result<Vec<Value<'b>>>,
) -> Result<Vec<Value<'b>>> {
    let shapes = [state.shape()?];
    let body = traced(b, name, &shapes, |p| body(&crate::ops::movement::elements(p[0])?))?;
    let condition = b.trace(&format!("{name}_condition"), &shapes, |p| {
        b.record(|_| condition(&crate::ops::movement::elements(p[0])?))
    })?;
    crate::ops::movement::elements(b.emit(While { condition, body }, &[state], None)?)
}

fn index(b: &Builder, n: i64) -> Result<Value<'_>> {
    b.make_constant(Literal::scalar(ElementType::S64, Scalar::Signed(n)))
}

/// A loop whose state is a number that counts the steps, and others.
fn count<'b>(
    b: &'b Builder,
    name: &str,
    steps: i64,
    state: &[Value<'b>],
    body: impl FnOnce(Value<'b>, &[Value<'b>]) -> Result<Vec<Value<'b>>>,
) -> Result<Vec<Value<'b>>> {
    let state = b.tuple(&[&[index(b, 0)?], state].concat());
    let result = repeat(
        b,
        name,
        state,
        |p| Ok(p[0].lt(index(b, steps)?)),
        |p| {
            let next = body(p[0], &p[1..])?;
            Ok([vec![p[0] + index(b, 1)?], next].concat())
        },
    )?;
    Ok(result[1..].to_vec())
}

/// A stack of the values that a leaf has in all steps.
fn stack<'b>(b: &'b Builder, leaf: &Shape, steps: i64) -> Result<Value<'b>> {
    let leaf = leaf.array().ok_or(crate::Code::Invalid {})?;
    let sizes = std::iter::once(steps).chain(leaf.dims.iter().copied()).collect::<hlo::Dims>();
    tangent::zeros(b, &ArrayShape::new(leaf.ty, sizes).into())
}
/// The indices of the entry of one step.
fn entry<'b>(stack: Value<'b>, step: Value<'b>) -> Result<Vec<Value<'b>>> {
    let rest = vec![index(step.builder(), 0)?; stack.rank()?.saturating_sub(1)];
    Ok([vec![step], rest].concat())
}
fn saved<'b>(stack: Value<'b>, step: Value<'b>, value: Value<'b>) -> Result<Value<'b>> {
    let value = value.reshape(&[&[1], value.dims()?.as_slice()].concat());
    let operands = [vec![stack, value], entry(stack, step)?].concat();
    stack.builder().emit(DynamicUpdateSlice {}, &operands, Some(stack.shape()?))
}
fn read<'b>(stack: Value<'b>, step: Value<'b>) -> Result<Value<'b>> {
    let shape = stack.array()?;
    let mut sizes = shape.dims.clone();
    sizes[0] = 1;
    let op = DynamicSlice { dynamic_slice_sizes: sizes.to_vec() };
    let operands = [vec![stack], entry(stack, step)?].concat();
    let result = ArrayShape::new(shape.ty, sizes.clone());
    let taken = stack.builder().emit(op, &operands, Some(result.into()))?;
    Ok(taken.reshape(&sizes[1..]))
}

/// What the way back needs to know of a loop.
struct Way<'b> {
    body: Callee<'b>,
    steps: i64,
    shapes: Vec<Shape>,
    /// Leaves of the state that depend on what is wanted.
    varying: Vec<bool>,
    /// Leaves of the state that have cotangents.
    flowing: Vec<bool>,
    /// Leaves that the way back reads and that change from step to step.
    stacked: Vec<bool>,
    /// Leaves that it reads and that stay.
    kept: Vec<bool>,
}

pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let (b, op) = (node.result.builder(), attributes(node)?);
    let (steps, stays) = trips::of(node, op)?;
    if steps == 0 {
        return Ok(vec![cotangent.clone()]);
    }
    let body = Callee::of(b, op.body)?;
    let (shapes, given) = (body.takes(), leaves::of_tangent(cotangent, &body.result));
    if shapes.iter().any(|shape| shape.array().is_none()) {
        return Err(node.refused("has no reverse-mode derivative here: its state has a token"));
    }
    let varying = closure(node.wanted_leaves(), |varying| body.pushes(varying))?;
    let both = |a: &[bool], c: &[bool]| a.iter().zip(c).map(|(a, c)| a & c).collect::<Vec<bool>>();
    let start = both(&leaves::present(&given), &varying);
    let flowing = closure(start, |flowing| Ok(body.pulls(flowing, &varying)?[0].clone()))?;
    let [_, read] = body.pulls(&flowing, &varying)?;
    let changes: Vec<bool> = stays.iter().map(|stays| !stays).collect();
    let (stacked, kept) = (both(&read, &changes), both(&read, &stays));
    let way = Way { body, steps, shapes, varying, flowing, stacked, kept };
    let state = leaves::of(node.operand(0)?)?;
    let stacks = forth(b, &way, &state)?;
    let cotangents = filled(b, &given, &way.shapes, &way.flowing)?;
    let pulled = back(b, &way, &[leaves::marked(&state, &way.kept), stacks, cotangents])?;
    let pulled = leaves::dealt(&way.flowing, pulled);
    Ok(vec![leaves::tangent(&way.body.result, &mut pulled.into_iter())])
}

/// Stacks of the states that the steps begin with.
fn forth<'b>(b: &'b Builder, way: &Way<'b>, state: &[Value<'b>]) -> Result<Vec<Value<'b>>> {
    let stacks: Result<Vec<_>> = leaves::marked(&way.shapes, &way.stacked)
        .iter()
        .map(|shape| stack(b, shape, way.steps))
        .collect();
    let stacks = stacks?;
    if stacks.is_empty() {
        return Ok(stacks);
    }
    let before = [state, &stacks].concat();
    let after = count(b, &way.body.named("forth")?, way.steps, &before, |step, p| {
        let (x, stacks) = p.split_at(state.len());
        let values = leaves::marked(x, &way.stacked);
        let saved: Result<Vec<_>> =
            stacks.iter().zip(values).map(|(&stack, value)| saved(stack, step, value)).collect();
        Ok([leaves::of(way.body.inlined(x)?)?, saved?].concat())
    })?;
    Ok(after[state.len()..].to_vec())
}

/// The cotangents of the first state, from leaves that stay, stacks, and cotangents of the last state.
fn back<'b>(b: &'b Builder, way: &Way<'b>, given: &[Vec<Value<'b>>; 3]) -> Result<Vec<Value<'b>>> {
    let [kept, stacks, _] = given;
    let name = way.body.named("back")?;
    let after = count(b, &name, way.steps, &given.concat(), |done, p| {
        let (stays, rest) = p.split_at(kept.len());
        let (stacks, c) = rest.split_at(stacks.len());
        let step = index(b, way.steps - 1)? - done;
        let read: Result<Vec<_>> = stacks.iter().map(|&stack| read(stack, step)).collect();
        let stays_at = leaves::dealt(&way.kept, stays.iter().copied());
        let read_at = leaves::dealt(&way.stacked, read?);
        let mut x = Vec::with_capacity(way.shapes.len());
        for ((stays, read), shape) in stays_at.into_iter().zip(read_at).zip(&way.shapes) {
            // What the way back does not read only has to be there.
            x.push(stays.or(read).map_or_else(|| tangent::zeros(b, shape), Ok)?);
        }
        let c = leaves::dealt(&way.flowing, c.iter().copied());
        let pulled = way.body.pull(&x, &c, &way.varying)?;
        let pulled = filled(b, &pulled, &way.shapes, &way.flowing)?;
        Ok([stays, stacks, &pulled].concat())
    })?;
    Ok(after[kept.len() + stacks.len()..].to_vec())
}
