//! Derivatives of collectives that are linear.
//!
//! All devices run the same program, and the cotangent of a value is that of the sum of what all of
//! them give.
use super::combiner::Combiner;
use super::node::{Derivative, Node, first};
use super::tangent::Tangent;
use super::{leaves, ops};
use crate::{Result, Value};
use hlo::id::Arena;
use hlo::ir::{ComputationId, Instruction};
use hlo::op::value::{Pairs, Reducer};
use hlo::op::{AllGather, AllReduce, AllToAll, CollectivePermute, ReduceScatter};
use hlo::{Op, Shape};

/// Returns a channel that no instruction uses so far, if this one has a channel.
fn channel(node: &Node<'_>, given: Option<i64>) -> Option<i64> {
    let given = given?;
    let state = node.result.builder().state.borrow();
    let used = |all: &Arena<Instruction>| {
        all.iter().filter_map(|(_, instruction)| instruction.op.channel_id()).max().unwrap_or(0)
    };
    let finished = state.finished.iter().map(|(_, computation)| used(&computation.instructions));
    let open = state.open.iter().map(|open| used(&open.instructions));
    Some(finished.chain(open).max().unwrap_or(given) + 1)
}
/// Returns whether the combining computation adds.
fn adds(node: &Node<'_>, id: ComputationId) -> Result<()> {
    match Combiner::of(node.result.builder(), id)? {
        Combiner::Add => Ok(()),
        _other => Err(node.refused("has a derivative rule here only where it adds, or takes the largest or smallest of one array")),
    }
}

/// A collective that is linear in its operands.
trait Linear {
    /// Returns the op, on another channel, that computes the tangents.
    fn forward(&self, node: &Node<'_>) -> Result<Op>;
    /// Returns the op that computes the cotangents. Blocks that are exchanged are exchanged back.
    fn backward(&self, node: &Node<'_>, _: Value<'_>) -> Result<Op> {
        self.forward(node)
    }
}
impl Linear for AllGather {
    fn forward(&self, node: &Node<'_>) -> Result<Op> {
        Ok(Self { channel_id: channel(node, self.channel_id), ..self.clone() }.into())
    }
    fn backward(&self, node: &Node<'_>, c: Value<'_>) -> Result<Op> {
        let op = self.clone();
        Ok(ReduceScatter {
            channel_id: channel(node, op.channel_id),
            replica_groups: op.replica_groups,
            constrain_layout: op.constrain_layout,
            use_global_device_ids: op.use_global_device_ids,
            dimensions: op.dimensions,
            to_apply: ops::adder(c)?,
        }
        .into())
    }
}
impl Linear for AllReduce {
    fn forward(&self, node: &Node<'_>) -> Result<Op> {
        self.to_apply.0.map_or(Ok(()), |id| adds(node, id))?;
        Ok(Self { channel_id: channel(node, self.channel_id), ..self.clone() }.into())
    }
}
impl Linear for AllToAll {
    fn forward(&self, node: &Node<'_>) -> Result<Op> {
        Ok(Self { channel_id: channel(node, self.channel_id), ..self.clone() }.into())
    }
}
impl Linear for CollectivePermute {
    fn forward(&self, node: &Node<'_>) -> Result<Op> {
        if !self.slice_sizes.is_empty() {
            return Err(node.refused("has no derivative rule here in place"));
        }
        Ok(Self { channel_id: channel(node, self.channel_id), ..self.clone() }.into())
    }
    fn backward(&self, node: &Node<'_>, _: Value<'_>) -> Result<Op> {
        let pairs = self.source_target_pairs.0.iter().map(|&(source, target)| (target, source));
        Self { source_target_pairs: Pairs(pairs.collect()), ..self.clone() }.forward(node)
    }
}
impl Linear for ReduceScatter {
    fn forward(&self, node: &Node<'_>) -> Result<Op> {
        adds(node, self.to_apply)?;
        Ok(Self { channel_id: channel(node, self.channel_id), ..self.clone() }.into())
    }
    fn backward(&self, node: &Node<'_>, _: Value<'_>) -> Result<Op> {
        adds(node, self.to_apply)?;
        let op = self.clone();
        Ok(AllGather {
            channel_id: channel(node, op.channel_id),
            replica_groups: op.replica_groups,
            constrain_layout: op.constrain_layout,
            dimensions: op.dimensions,
            use_global_device_ids: op.use_global_device_ids,
        }
        .into())
    }
}

fn jvp<'b>(op: &dyn Linear, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let (b, shape) = (node.result.builder(), node.result.shape()?);
    Tangent::of(b.emit(op.forward(node)?, &node.filled(tangents)?, Some(shape))?)
}
fn vjp<'b>(op: &dyn Linear, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let c = leaves::of(cotangent.filled(node.result)?)?;
    let Some(&first) = c.first() else { return Ok(node.zeros()) };
    let shapes = node.operands.iter().map(|operand| operand.shape()).collect::<Result<Vec<_>>>()?;
    let shape = match (shapes.as_slice(), node.result.shape()?) {
        ([one], Shape::Array(_)) => one.clone(),
        _ => Shape::Tuple(shapes),
    };
    let pulled = first.builder().emit(op.backward(node, first)?, &c, Some(shape))?;
    leaves::of(pulled)?.into_iter().map(Tangent::of).collect()
}
macro_rules! derivatives {
    ($($op:ident)*) => {
        $(impl Derivative for $op {
            fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
                jvp(self, node, tangents)
            }
            fn vjp<'b>(&self, node: &Node<'b>, c: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
                vjp(self, node, c)
            }
        })*
    };
}
derivatives! { AllGather AllToAll CollectivePermute ReduceScatter }

/// A sum is linear. Of a maximum or minimum the devices whose operands are the result share its
/// derivative, as the equal operands of `maximum` do.
impl Derivative for AllReduce {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let Some(Extremum { chosen, count, sum }) = extremum(self, node)? else {
            return jvp(self, node, tangents);
        };
        let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
        Ok(Tangent::Array(sum(chosen.select(t, 0))? / count))
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let Some(Extremum { chosen, count, sum }) = extremum(self, node)? else {
            return vjp(self, node, cotangent);
        };
        let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
        Ok(node.first_only(chosen.select(sum(c)? / count, 0)))
    }
}

/// A maximum or minimum of one array over devices.
struct Extremum<'a, 'b> {
    /// Where the operand of this device is the result.
    chosen: Value<'b>,
    /// On how many devices it is; 1 where it is on none, since the result is NaN.
    count: Value<'b>,
    /// Adds over the same devices.
    sum: Box<dyn Fn(Value<'b>) -> Result<Value<'b>> + 'a>,
}
fn extremum<'a, 'b>(op: &'a AllReduce, node: &'a Node<'b>) -> Result<Option<Extremum<'a, 'b>>> {
    let b = node.result.builder();
    let combiner = op.to_apply.0.map(|id| Combiner::of(b, id)).transpose()?;
    if !combiner.is_some_and(Combiner::is_extremum) || node.operands.len() != 1 {
        return Ok(None);
    }
    let sum = move |x: Value<'b>| {
        let to_apply = Reducer(Some(ops::adder(x)?));
        let channel_id = channel(node, op.channel_id);
        b.emit(AllReduce { channel_id, to_apply, ..op.clone() }, &[x], Some(x.shape()?))
    };
    let operand = node.operand(0)?;
    let chosen = operand.eq(node.result);
    let count = sum(chosen.convert_element_type(operand.element_type()?))?.max(1);
    Ok(Some(Extremum { chosen, count, sum: Box::new(sum) }))
}
