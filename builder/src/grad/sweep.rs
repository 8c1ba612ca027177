//! The two sweeps over the instructions between inputs and output.
use super::{Node, Tangent, rules, tangent};
use crate::{Builder, Code, Result, Value};
use std::mem::replace;

/// Whether a value that a derivative is taken by may depend on another such value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    /// It may: what flows through it counts for the other too.
    Dependent,
    /// Each is a variable of its own; of one that stands there twice the first counts.
    Leaves,
}

/// The instructions that derivatives flow through.
struct Path<'b> {
    /// In order.
    nodes: Vec<Value<'b>>,
    /// By instruction, up to the output.
    on: Vec<bool>,
    /// The instructions of the inputs.
    inputs: Vec<usize>,
    /// By instruction, up to the output: whether nothing before it counts.
    leaf: Vec<bool>,
}

impl<'b> Path<'b> {
    /// From `wrt` to `output`: instructions that both are led to and lead on, by values that can vary and ops whose
    /// derivative is not always zero.
    fn between(b: &'b Builder, output: Value<'b>, wrt: &[Value<'b>], how: Inputs) -> Result<Self> {
        wrt.iter().chain([&output]).try_for_each(|&value| b.owns(value))?;
        let count = index(output)? + 1;
        let inputs = wrt.iter().map(|&value| index(value)).collect::<Result<Vec<_>>>()?;
        let mut on = live(b, count, &inputs)?;
        let leaf = match how {
            Inputs::Dependent => vec![false; count],
            Inputs::Leaves => marked(count, &inputs),
        };
        let state = b.state.borrow();
        let open = state.open.last().ok_or(Code::Invalid {})?;
        let mut wanted = vec![false; count];
        wanted[count - 1] = true;
        for (id, instruction) in open.instructions.iter().take(count).rev() {
            let at = id.index();
            on[at] &= wanted[at];
            if on[at] && !leaf[at] {
                instruction.operands.iter().for_each(|operand| wanted[operand.index()] = true);
            }
        }
        let ids = open.instructions.ids().take(count).filter(|id| on[id.index()]);
        let nodes = ids.map(|id| Value::new(b, open.mark, id)).collect();
        Ok(Self { nodes, on, inputs, leaf })
    }
    /// Whether input `i` is not there before already.
    fn counts(&self, i: usize) -> bool {
        let at = self.inputs[i];
        let leaf = self.leaf.get(at).is_some_and(|&leaf| leaf);
        !leaf || !self.inputs[..i].contains(&at)
    }
    /// The instruction at `at` as its rule sees it; nothing if no operand is on the path.
    fn node(&self, value: Value<'b>, at: usize) -> Result<Option<Node<'b>>> {
        if self.leaf[at] {
            return Ok(None);
        }
        let node = Node::on_path(value, |operand| Ok(self.on[index(operand)?]))?;
        Ok(node.any_wanted().then_some(node))
    }
}

/// Which of the first `count` instructions a derivative by `inputs` flows to.
pub(super) fn live(b: &Builder, count: usize, inputs: &[usize]) -> Result<Vec<bool>> {
    let state = b.state.borrow();
    let open = state.open.last().ok_or(Code::Invalid {})?;
    let mut live = vec![false; count];
    let is_input = marked(count, inputs);
    for (id, instruction) in open.instructions.iter().take(count) {
        let leads = |i, operand: &hlo::ir::InstructionId| {
            live[operand.index()] && !rules::is_flat_in(&instruction.op, i)
        };
        let led = || instruction.operands.iter().enumerate().any(|(i, operand)| leads(i, operand));
        let flows = is_input[id.index()] || led();
        live[id.index()] = flows && tangent::varies(&instruction.shape);
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

/// Cotangents of `wrt` from that of `output`.
pub(crate) fn pullback<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    cotangent: Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    pull_through(b, output, wrt, cotangent, Inputs::Dependent)
}
pub(super) fn pull_through<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    cotangent: Tangent<'b>,
    how: Inputs,
) -> Result<Vec<Tangent<'b>>> {
    let path = Path::between(b, output, wrt, how)?;
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
        for (i, pulled) in rules::pull(&node, &cotangents[at])?.into_iter().enumerate() {
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

/// The tangent of `output` from those of `wrt`.
pub(crate) fn pushforward<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    seeds: &[Tangent<'b>],
) -> Result<Tangent<'b>> {
    push_through(b, output, wrt, seeds, Inputs::Dependent)
}
pub(super) fn push_through<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    seeds: &[Tangent<'b>],
    how: Inputs,
) -> Result<Tangent<'b>> {
    let path = Path::between(b, output, wrt, how)?;
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
        let pushed = rules::push(&node, &given.collect::<Result<Vec<_>>>()?)?;
        let so_far = replace(&mut tangents[at], Tangent::Zero);
        tangents[at] = so_far.plus(pushed)?;
    }
    Ok(tangents.pop().unwrap_or(Tangent::Zero))
}
