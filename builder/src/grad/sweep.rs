//! The forward and the reverse sweep over the instructions between inputs and output.
use super::node::{Node, Rule, Rules};
use super::tangent::{Tangent, varies};
use crate::{Builder, Code, Result, Value};
use hlo::{Op, Shape};
use std::mem::replace;

/// Whether an input may depend on another input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    /// It may: derivatives flow through it to the other.
    Dependent,
    /// Each is an independent variable; of an input listed twice the first counts.
    Leaves,
}

/// The instructions that derivatives flow through.
struct ActivePath<'b> {
    rules: Rules,
    /// In order.
    nodes: Vec<Value<'b>>,
    /// By instruction, up to the output.
    on: Vec<bool>,
    /// The instructions of the inputs.
    inputs: Vec<usize>,
    /// By instruction, up to the output: whether no derivative flows to its operands.
    leaf: Vec<bool>,
}

impl<'b> ActivePath<'b> {
    /// Returns the instructions that depend on `wrt` and that `output` depends on, by values that
    /// vary and ops whose derivative is not always zero.
    fn between(
        b: &'b Builder,
        rules: Rules,
        output: Value<'b>,
        wrt: &[Value<'b>],
        how: Inputs,
    ) -> Result<Self> {
        wrt.iter().chain([&output]).try_for_each(|&value| b.owns(value))?;
        let count = index(output)? + 1;
        let inputs = wrt.iter().map(|&value| index(value)).collect::<Result<Vec<_>>>()?;
        let mut on = live(b, rules, count, &inputs)?;
        let leaf = match how {
            Inputs::Dependent => vec![false; count],
            Inputs::Leaves => marked(count, &inputs),
        };
        let state = b.state.borrow();
        let open = state.open.last().ok_or(Code::Invalid {})?;
        let mut needed = vec![false; count];
        needed[count - 1] = true;
        for (id, instruction) in open.instructions.iter().take(count).rev() {
            let at = id.index();
            on[at] &= needed[at];
            if on[at] && !leaf[at] {
                instruction.operands.iter().for_each(|operand| needed[operand.index()] = true);
            }
        }
        let ids = open.instructions.ids().take(count).filter(|id| on[id.index()]);
        let nodes = ids.map(|id| Value::new(b, open.mark, id)).collect();
        Ok(Self { rules, nodes, on, inputs, leaf })
    }
    /// Returns whether input `i` is not listed before already.
    fn counts(&self, i: usize) -> bool {
        let at = self.inputs[i];
        let leaf = self.leaf.get(at).is_some_and(|&leaf| leaf);
        !leaf || !self.inputs[..i].contains(&at)
    }
    /// Returns the instruction at `at` for its rule; `None` if no operand is on the path.
    fn node(&self, value: Value<'b>, at: usize) -> Result<Option<Node<'b>>> {
        if self.leaf[at] {
            return Ok(None);
        }
        let node = Node::on_path(value, self.rules, |operand| Ok(self.on[index(operand)?]))?;
        Ok(node.any_needed().then_some(node))
    }
}

/// Returns which of the first `count` instructions a derivative by `inputs` flows to.
pub(super) fn live(b: &Builder, rules: Rules, count: usize, inputs: &[usize]) -> Result<Vec<bool>> {
    let state = b.state.borrow();
    let open = state.open.last().ok_or(Code::Invalid {})?;
    let mut live = vec![false; count];
    let is_input = marked(count, inputs);
    for (id, instruction) in open.instructions.iter().take(count) {
        let leads = |i, operand: &hlo::ir::InstructionId| {
            live[operand.index()] && !zero_by_operand(rules, &instruction.op, i)
        };
        let led = || instruction.operands.iter().enumerate().any(|(i, operand)| leads(i, operand));
        let flows = is_input[id.index()] || led();
        live[id.index()] = flows && varies(&instruction.shape);
    }
    Ok(live)
}

fn marked(count: usize, places: &[usize]) -> Vec<bool> {
    let mut marks = vec![false; count];
    for &at in places.iter().filter(|&&at| at < count) {
        marks[at] = true;
    }
    marks
}

pub(super) fn index(value: Value<'_>) -> Result<usize> {
    Ok(value.id().ok_or(Code::Invalid {})?.index())
}

/// Returns the cotangents of `wrt` from the cotangent of `output`.
pub(super) fn reverse<'b>(
    b: &'b Builder,
    rules: Rules,
    output: Value<'b>,
    wrt: &[Value<'b>],
    cotangent: Tangent<'b>,
    how: Inputs,
) -> Result<Vec<Tangent<'b>>> {
    let path = ActivePath::between(b, rules, output, wrt, how)?;
    let last = index(output)?;
    let mut cotangents = vec![Tangent::Zero; last + 1];
    if path.on[last] {
        cotangents[last] = cotangent;
    }
    for &value in path.nodes.iter().rev() {
        let at = index(value)?;
        if cotangents[at].is_zero() {
            continue;
        }
        let Some(node) = path.node(value, at)? else { continue };
        for (i, pulled) in vjp(&node, &cotangents[at])?.into_iter().enumerate() {
            let to = index(node.operand(i)?)?;
            let so_far = replace(&mut cotangents[to], Tangent::Zero);
            cotangents[to] = so_far.plus(pulled)?;
        }
    }
    let of = |(i, &at): (usize, &usize)| match path.counts(i) {
        true => cotangents.get(at).cloned().unwrap_or(Tangent::Zero),
        false => Tangent::Zero,
    };
    Ok(path.inputs.iter().enumerate().map(of).collect())
}

/// Returns the tangent of `output` from the tangents of `wrt`.
pub(super) fn forward<'b>(
    b: &'b Builder,
    rules: Rules,
    output: Value<'b>,
    wrt: &[Value<'b>],
    seeds: &[Tangent<'b>],
    how: Inputs,
) -> Result<Tangent<'b>> {
    let path = ActivePath::between(b, rules, output, wrt, how)?;
    let last = index(output)?;
    let mut tangents = vec![Tangent::Zero; last + 1];
    for (i, (&at, seed)) in path.inputs.iter().zip(seeds).enumerate() {
        if at > last || !path.counts(i) {
            continue;
        }
        let so_far = replace(&mut tangents[at], Tangent::Zero);
        tangents[at] = so_far.plus(seed.clone())?;
    }
    for &value in &path.nodes {
        let at = index(value)?;
        let Some(node) = path.node(value, at)? else { continue };
        let given = node.operands.iter().map(|&o| Ok(tangents[index(o)?].clone()));
        let pushed = jvp(&node, &given.collect::<Result<Vec<_>>>()?)?;
        let so_far = replace(&mut tangents[at], Tangent::Zero);
        tangents[at] = so_far.plus(pushed)?;
    }
    Ok(tangents.pop().unwrap_or(Tangent::Zero))
}

/// Returns whether the derivative by this operand is zero wherever it exists. The first operand of
/// select-and-scatter only chooses.
fn zero_by_operand(rules: Rules, op: &Op, operand: usize) -> bool {
    matches!(rules(op), Rule::Zero) || op.opcode() == hlo::Opcode::SelectAndScatter && operand == 0
}

/// Returns the tangent of the result from the tangents of the operands.
fn jvp<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    if tangents.iter().all(Tangent::is_zero) || !varies(&node.result.shape()?) {
        return Ok(Tangent::Zero);
    }
    match (node.rules)(&node.op) {
        Rule::By(rule) => {
            static_sizes(node)?;
            rule.jvp(node, tangents)?.fitted(node.result)
        }
        Rule::Zero => Ok(Tangent::Zero),
        Rule::Refused(why) => Err(node.refused(why)),
    }
}

/// Returns the cotangents of the operands from the cotangent of the result, which is not zero.
fn vjp<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let pulled = match (node.rules)(&node.op) {
        Rule::By(rule) => {
            static_sizes(node)?;
            rule.vjp(node, cotangent)?
        }
        Rule::Zero => return Ok(node.zeros()),
        Rule::Refused(why) => return Err(node.refused(why)),
    };
    let of_operand = |(i, cotangent): (usize, Tangent<'b>)| match node.needs(i) {
        true => cotangent.fitted(node.operand(i)?),
        false => Ok(Tangent::Zero),
    };
    pulled.into_iter().enumerate().map(of_operand).collect()
}

/// Fails for arrays of dynamic size, since rules sum, broadcast and fill with static sizes.
fn static_sizes(node: &Node<'_>) -> Result<()> {
    for value in node.operands.iter().chain([&node.result]) {
        let shape = value.shape()?;
        let dynamic = |leaf: &&Shape| leaf.array().is_some_and(|array| array.dynamic.is_some());
        if shape.leaves().iter().any(dynamic) {
            return Err(node.refused("has no derivative rule here for arrays of dynamic size"));
        }
    }
    Ok(())
}
