//! Derivatives of while. The JVP carries tangents along with the state. The VJP runs the loop once
//! to save the state of every step, then runs backward through them.
use super::callee::{Callee, filled, traced};
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use super::{leaves, tangent, trip_count};
use crate::{Builder, Result, Value};
use hlo::op::While;
use hlo::{ArrayShape, Shape};

impl Derivative for While {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let b = node.result.builder();
        let (body, condition) = (Callee::of(node, self.body)?, Callee::of(node, self.condition)?);
        let shapes = body.takes();
        let given =
            tangents.first().map(|t| leaves::of_tangent(t, &body.result)).unwrap_or_default();
        let flowing = closure(leaves::present(&given), |flowing| body.jvp_leaves(flowing))?;
        let count = shapes.len();
        let state = leaves::of(node.operand(0)?)?;
        let state = b.tuple(&[state, filled(b, &given, &shapes, &flowing)?].concat());
        let next = |x: &[Value<'b>], t: &[Value<'b>]| {
            let (next, pushed) =
                body.value_and_jvp(x, &leaves::dealt(&flowing, t.iter().copied()))?;
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
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let b = node.result.builder();
        let (steps, stays) = trip_count::of(node, self)?;
        if steps == 0 {
            return Ok(vec![cotangent.clone()]);
        }
        let body = Callee::of(node, self.body)?;
        let (shapes, given) = (body.takes(), leaves::of_tangent(cotangent, &body.result));
        if shapes.iter().any(|shape| shape.array().is_none()) {
            return Err(node.refused("has no reverse-mode derivative here: its state has a token"));
        }
        let varying = closure(node.needed_leaves(), |varying| body.jvp_leaves(varying))?;
        let both =
            |a: &[bool], c: &[bool]| a.iter().zip(c).map(|(a, c)| a & c).collect::<Vec<bool>>();
        let start = both(&leaves::present(&given), &varying);
        let flowing = closure(start, |flowing| Ok(body.vjp_leaves(flowing, &varying)?[0].clone()))?;
        let [_, read] = body.vjp_leaves(&flowing, &varying)?;
        let changes: Vec<bool> = stays.iter().map(|stays| !stays).collect();
        let (stacked, kept) = (both(&read, &changes), both(&read, &stays));
        let loop_ = Reversal { body, steps, shapes, varying, flowing, stacked, kept };
        let state = leaves::of(node.operand(0)?)?;
        let stacks = save_states(b, &loop_, &state)?;
        let cotangents = filled(b, &given, &loop_.shapes, &loop_.flowing)?;
        let pulled =
            run_backward(b, &loop_, &[leaves::marked(&state, &loop_.kept), stacks, cotangents])?;
        let pulled = leaves::dealt(&loop_.flowing, pulled);
        Ok(vec![leaves::tangent(&loop_.body.result, &mut pulled.into_iter())])
    }
}

/// Returns the marks with all that follows from them.
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

/// Returns the elements of the last state of a loop.
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

/// Emits a loop whose state is a step counter and others.
fn count<'b>(
    b: &'b Builder,
    name: &str,
    steps: i64,
    state: &[Value<'b>],
    body: impl FnOnce(Value<'b>, &[Value<'b>]) -> Result<Vec<Value<'b>>>,
) -> Result<Vec<Value<'b>>> {
    let state = b.tuple(&[&[b.constant(0i64)], state].concat());
    let result = repeat(
        b,
        name,
        state,
        |p| Ok(p[0].lt(steps)),
        |p| {
            let next = body(p[0], &p[1..])?;
            Ok([vec![p[0] + 1], next].concat())
        },
    )?;
    Ok(result[1..].to_vec())
}

/// Returns a stack of the values that a leaf has in all steps.
fn stack<'b>(b: &'b Builder, leaf: &Shape, steps: i64) -> Result<Value<'b>> {
    let leaf = leaf.array().ok_or(crate::Code::Invalid {})?;
    let sizes = std::iter::once(steps).chain(leaf.dims.iter().copied()).collect::<hlo::Dims>();
    tangent::zeros(b, &ArrayShape::new(leaf.ty, sizes).into())
}
/// Returns the indices of the entry of one step.
fn entry<'b>(stack: Value<'b>, step: Value<'b>) -> Result<Vec<Value<'b>>> {
    let rest = vec![step.builder().constant(0i64); stack.rank()?.saturating_sub(1)];
    Ok([vec![step], rest].concat())
}
fn saved<'b>(stack: Value<'b>, step: Value<'b>, value: Value<'b>) -> Result<Value<'b>> {
    let value = value.reshape(&[&[1], value.dims()?.as_slice()].concat());
    Ok(stack.dynamic_update_slice(value, &entry(stack, step)?))
}
fn read<'b>(stack: Value<'b>, step: Value<'b>) -> Result<Value<'b>> {
    let mut sizes = stack.dims()?;
    sizes[0] = 1;
    Ok(stack.dynamic_slice(&entry(stack, step)?, &sizes).reshape(&sizes[1..]))
}

/// The facts of a loop that its VJP needs.
struct Reversal<'b> {
    body: Callee<'b>,
    steps: i64,
    shapes: Vec<Shape>,
    /// Leaves of the state that depend on what is needed.
    varying: Vec<bool>,
    /// Leaves of the state that have cotangents.
    flowing: Vec<bool>,
    /// Leaves that the VJP reads and that change from step to step.
    stacked: Vec<bool>,
    /// Leaves that it reads and that stay.
    kept: Vec<bool>,
}

/// Stacks of the states that the steps begin with.
fn save_states<'b>(
    b: &'b Builder,
    loop_: &Reversal<'b>,
    state: &[Value<'b>],
) -> Result<Vec<Value<'b>>> {
    let stacks: Result<Vec<_>> = leaves::marked(&loop_.shapes, &loop_.stacked)
        .iter()
        .map(|shape| stack(b, shape, loop_.steps))
        .collect();
    let stacks = stacks?;
    if stacks.is_empty() {
        return Ok(stacks);
    }
    let before = [state, &stacks].concat();
    let after = count(b, &loop_.body.named("forward")?, loop_.steps, &before, |step, p| {
        let (x, stacks) = p.split_at(state.len());
        let values = leaves::marked(x, &loop_.stacked);
        let saved: Result<Vec<_>> =
            stacks.iter().zip(values).map(|(&stack, value)| saved(stack, step, value)).collect();
        Ok([leaves::of(loop_.body.inlined(x)?)?, saved?].concat())
    })?;
    Ok(after[state.len()..].to_vec())
}

/// Returns the cotangents of the first state, from leaves that stay, stacks, and cotangents of the
/// last state.
fn run_backward<'b>(
    b: &'b Builder,
    loop_: &Reversal<'b>,
    given: &[Vec<Value<'b>>; 3],
) -> Result<Vec<Value<'b>>> {
    let [kept, stacks, _] = given;
    let name = loop_.body.named("reverse")?;
    let after = count(b, &name, loop_.steps, &given.concat(), |done, p| {
        let (stays, rest) = p.split_at(kept.len());
        let (stacks, c) = rest.split_at(stacks.len());
        let step = b.constant(loop_.steps - 1) - done;
        let read: Result<Vec<_>> = stacks.iter().map(|&stack| read(stack, step)).collect();
        let stays_at = leaves::dealt(&loop_.kept, stays.iter().copied());
        let read_at = leaves::dealt(&loop_.stacked, read?);
        let mut x = Vec::with_capacity(loop_.shapes.len());
        for ((stays, read), shape) in stays_at.into_iter().zip(read_at).zip(&loop_.shapes) {
            // What the VJP does not read only has to exist.
            x.push(stays.or(read).map_or_else(|| tangent::zeros(b, shape), Ok)?);
        }
        let c = leaves::dealt(&loop_.flowing, c.iter().copied());
        let pulled = loop_.body.vjp(&x, &c, &loop_.varying)?;
        let pulled = filled(b, &pulled, &loop_.shapes, &loop_.flowing)?;
        Ok([stays, stacks, &pulled].concat())
    })?;
    Ok(after[kept.len() + stacks.len()..].to_vec())
}
