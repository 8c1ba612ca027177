//! Derivatives of scan. The JVP scans the JVP of the step. The VJP scans in the opposite direction,
//! over the carries that a first scan saves.
use super::callee::{Callee, filled, traced};
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use super::{leaves, ops};
use crate::arguments::{others, size};
use crate::{Result, Value};
use hlo::op::Scan;
use hlo::{ArrayShape, ElementType, Shape};

/// The step of a scan, with the numbers of its inputs and outputs.
struct ScanStep<'b> {
    op: Scan,
    step: Callee<'b>,
    inputs: usize,
    outputs: usize,
    /// The dimension, and its size.
    dim: usize,
    count: i64,
}

impl<'b> ScanStep<'b> {
    fn of(op: &Scan, node: &Node<'b>) -> Result<Self> {
        let step = Callee::of(node, op.to_apply)?;
        let carries = ops::at(op.num_carries);
        let inputs = node.operands.len().saturating_sub(carries);
        let outputs = step.gives().len().saturating_sub(carries);
        let dim = ops::at(op.dimensions.first().copied().unwrap_or(0));
        let shape = match inputs {
            0 => node.result.shape()?.leaves().first().and_then(|leaf| leaf.array().cloned()),
            _ => Some(node.operand(0)?.array()?),
        };
        let count = shape.and_then(|shape| shape.dims.get(dim).copied()).unwrap_or(0);
        Ok(Self { op: op.clone(), step, inputs, outputs, dim, count })
    }
    /// Returns the shape of this slice for all steps.
    fn stacked(&self, slice: &Shape, dim: usize) -> Result<Shape> {
        let slice = slice.array().ok_or(crate::Code::Invalid {})?;
        let mut dims = slice.dims.clone();
        dims.insert(dim, self.count);
        Ok(ArrayShape::new(slice.ty, dims).into())
    }
}

/// Returns the marks of leaves, closed under `follow` for the carries.
fn closed(
    start: &[bool],
    carries_from: usize,
    follow: impl Fn(&[bool]) -> Result<Vec<bool>>,
) -> Result<Vec<bool>> {
    let mut marks = start.to_vec();
    loop {
        let more = leaves::either(&marks[carries_from..], &follow(&marks)?);
        if more == marks[carries_from..] {
            return Ok(marks);
        }
        marks.truncate(carries_from);
        marks.extend(more);
    }
}

/// A scan along a dimension, which returns stacked outputs and the last carries.
struct ScanPass<'b> {
    name: String,
    dim: usize,
    is_reverse: bool,
    inputs: Vec<Value<'b>>,
    carries: Vec<Value<'b>>,
    /// Shapes of all that is stacked.
    outputs: Vec<Shape>,
}
impl<'b> ScanPass<'b> {
    fn run(
        self,
        steps: &ScanStep<'b>,
        like: Value<'b>,
        step: impl FnOnce(&[Value<'b>], &[Value<'b>]) -> Result<Vec<Value<'b>>>,
    ) -> Result<Vec<Value<'b>>> {
        let b = like.builder();
        let mut inputs = self.inputs;
        if inputs.is_empty() {
            inputs.push(b.iota((ElementType::S32, vec![steps.count; self.dim + 1]), 0));
        }
        let mut takes = Vec::new();
        for input in &inputs {
            let mut shape = input.array()?;
            shape.dims.remove(self.dim);
            takes.push(ArrayShape::new(shape.ty, shape.dims).into());
        }
        let mut gives = self.outputs;
        for carry in &self.carries {
            takes.push(carry.shape()?);
            gives.push(carry.shape()?);
        }
        let to_apply = traced(b, &self.name, &takes, |p| {
            let (slices, carries) = p.split_at(inputs.len());
            step(slices, carries)
        })?;
        let op = Scan {
            dimensions: ops::run(self.dim, 1),
            num_carries: size(self.carries.len()),
            is_reverse: self.is_reverse,
            to_apply,
            ..steps.op.clone()
        };
        let operands = [inputs, self.carries].concat();
        leaves::of(b.emit(op, &operands, Some(Shape::Tuple(gives)))?)
    }
}

impl Derivative for Scan {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let (b, steps) = (node.result.builder(), ScanStep::of(self, node)?);
        let (takes, gives) = (steps.step.takes(), steps.step.gives());
        let given = tangents.iter().map(Tangent::array).collect::<Result<Vec<_>>>()?;
        let flowing = closed(&leaves::present(&given), steps.inputs, |marks| {
            Ok(steps.step.jvp_leaves(marks)?[steps.outputs..].to_vec())
        })?;
        let results = steps.step.jvp_leaves(&flowing)?;
        let (inputs, carries) = node.operands.split_at(steps.inputs);
        let (of_inputs, of_carries) = given.split_at(steps.inputs);
        let carried = &flowing[steps.inputs..];
        let of_carries = filled(b, of_carries, &takes[steps.inputs..], carried)?;
        let mut outputs = Vec::new();
        for slice in leaves::marked(&gives[..steps.outputs], &results) {
            outputs.push(steps.stacked(&slice, steps.dim)?);
        }
        let (stacks, kept) = (outputs.len(), carries.len());
        let slices_with_tangents = leaves::kept(of_inputs).len();
        let pass = ScanPass {
            name: steps.step.named("jvp")?,
            dim: steps.dim,
            is_reverse: steps.op.is_reverse,
            inputs: [inputs, &leaves::kept(of_inputs)].concat(),
            carries: [carries, &of_carries].concat(),
            outputs,
        };
        let all = pass.run(&steps, node.result, |slices, carried_now| {
            let (x, t) = slices.split_at(inputs.len().min(slices.len()));
            let (carry, of_carry) = carried_now.split_at(kept);
            let t = t.iter().take(slices_with_tangents);
            let t = leaves::dealt(&flowing, t.chain(of_carry).copied());
            let (next, pushed) = steps.step.value_and_jvp(&[x, carry].concat(), &t)?;
            let (of_outputs, of_next) = pushed.split_at(steps.outputs);
            let stacked =
                filled(b, of_outputs, &gives[..steps.outputs], &results[..steps.outputs])?;
            let of_next = filled(b, of_next, &gives[steps.outputs..], carried)?;
            Ok([stacked.as_slice(), &next[steps.outputs..], &of_next].concat())
        })?;
        let of_outputs = leaves::dealt(&results[..steps.outputs], all[..stacks].iter().copied());
        let of_carries = leaves::dealt(carried, all[stacks + kept..].iter().copied());
        let mut pushed = [of_outputs, of_carries].concat().into_iter();
        Ok(leaves::tangent(&node.result.shape()?, &mut pushed))
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let (b, steps) = (node.result.builder(), ScanStep::of(self, node)?);
        let (takes, gives) = (steps.step.takes(), steps.step.gives());
        let given = leaves::of_tangent(cotangent, &node.result.shape()?);
        let needed = closed(&node.needed_leaves(), steps.inputs, |marks| {
            Ok(steps.step.jvp_leaves(marks)?[steps.outputs..].to_vec())
        })?;
        let mut start = leaves::present(&given);
        for (mark, needed) in start[steps.outputs..].iter_mut().zip(&needed[steps.inputs..]) {
            *mark &= needed;
        }
        let flowing = closed(&start, steps.outputs, |marks| {
            Ok(steps.step.vjp_leaves(marks, &needed)?[0][steps.inputs..].to_vec())
        })?;
        let [results, read] = steps.step.vjp_leaves(&flowing, &needed)?;
        let (inputs, carries) = node.operands.split_at(steps.inputs);
        let inputs: Vec<Value<'b>> =
            inputs.iter().map(|&x| in_front(x, steps.dim)).collect::<Result<_>>()?;
        let stacks = began_with(&steps, node, &inputs, carries, &read[steps.inputs..])?;
        let (of_outputs, of_carries) = given.split_at(steps.outputs);
        let mut cotangents = Vec::new();
        for c in leaves::kept(of_outputs) {
            cotangents.push(in_front(c, steps.dim)?);
        }
        let carried = &flowing[steps.outputs..];
        let mut outputs = Vec::new();
        for slice in leaves::marked(&takes[..steps.inputs], &results) {
            outputs.push(steps.stacked(&slice, 0)?);
        }
        let stacked = outputs.len();
        let pass = ScanPass {
            name: steps.step.named("vjp")?,
            dim: 0,
            is_reverse: !steps.op.is_reverse,
            inputs: [inputs.as_slice(), &stacks, &cotangents].concat(),
            carries: filled(b, of_carries, &gives[steps.outputs..], carried)?,
            outputs,
        };
        let all = pass.run(&steps, node.result, |slices, of_next| {
            let (x, rest) = slices.split_at(inputs.len());
            let (began, c) = rest.split_at(stacks.len());
            let began = leaves::dealt(&read[steps.inputs..], began.iter().copied());
            // Carries that the VJP does not read only have to exist.
            let carries = filled(b, &began, &takes[steps.inputs..], &vec![true; began.len()])?;
            let c =
                leaves::dealt(&flowing, c.iter().take(cotangents.len()).chain(of_next).copied());
            let pulled = steps.step.vjp(&[x, &carries].concat(), &c, &needed)?;
            let (of_inputs, of_carries) = pulled.split_at(steps.inputs);
            let of_inputs = filled(b, of_inputs, &takes[..steps.inputs], &results[..steps.inputs])?;
            let of_carries = filled(b, of_carries, &takes[steps.inputs..], carried)?;
            Ok([of_inputs, of_carries].concat())
        })?;
        let mut pulled = Vec::new();
        for of_input in leaves::dealt(&results[..steps.inputs], all[..stacked].iter().copied()) {
            pulled.push(match of_input {
                Some(c) => {
                    let order = ops::inverse(&front(c.rank()?, steps.dim));
                    Tangent::Array(ops::transposed(c, &order))
                }
                None => Tangent::Zero,
            });
        }
        let of_carries = leaves::dealt(carried, all[stacked..].iter().copied());
        pulled.extend(of_carries.into_iter().map(|c| c.map_or(Tangent::Zero, Tangent::Array)));
        Ok(pulled)
    }
}

/// Returns an array with the dimension of a scan first, and back.
fn in_front(value: Value<'_>, dim: usize) -> Result<Value<'_>> {
    Ok(ops::transposed(value, &front(value.rank()?, dim)))
}
fn front(rank: usize, dim: usize) -> Vec<i64> {
    [ops::run(dim, 1), others(rank, &ops::run(dim, 1))].concat()
}

/// Returns the carries that are read, as the steps began with them, stacked along a first
/// dimension.
fn began_with<'b>(
    steps: &ScanStep<'b>,
    node: &Node<'b>,
    inputs: &[Value<'b>],
    carries: &[Value<'b>],
    read: &[bool],
) -> Result<Vec<Value<'b>>> {
    let kept = leaves::marked(carries, read);
    if kept.is_empty() {
        return Ok(kept);
    }
    let mut outputs = Vec::new();
    for carry in &kept {
        outputs.push(steps.stacked(&carry.shape()?, 0)?);
    }
    let pass = ScanPass {
        name: steps.step.named("forward")?,
        dim: 0,
        is_reverse: steps.op.is_reverse,
        inputs: inputs.to_vec(),
        carries: carries.to_vec(),
        outputs,
    };
    let all = pass.run(steps, node.result, |slices, carries| {
        let next = steps.step.inlined(&[&slices[..inputs.len()], carries].concat())?;
        let next = leaves::of(next)?;
        Ok([leaves::marked(carries, read).as_slice(), &next[steps.outputs..]].concat())
    })?;
    Ok(all[..kept.len()].to_vec())
}
