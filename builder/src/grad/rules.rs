//! Which rule an op has: one line an op, exhaustive.
use super::{Node, Tangent, tangent};
use super::{
    batch_norm, binary, branches, calls, cholesky, contraction, convolution, devices, fft,
};
use super::{gather, loops, movement, order, reduction, scan, scatter, select, slices};
use super::{triangular_solve, unary, windows};
use crate::Result;
use hlo::{Op, Shape};

/// Gives the tangent of the result from those of the operands, of which at least one is not zero.
pub(super) type Push = for<'b> fn(&Node<'b>, &[Tangent<'b>]) -> Result<Tangent<'b>>;
/// Gives the cotangents of the operands from that of the result, which is not zero. Those that [`Node::wants`] does not
/// ask for may be left zero.
pub(super) type Pull = for<'b> fn(&Node<'b>, &Tangent<'b>) -> Result<Vec<Tangent<'b>>>;

/// How an op is differentiated.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// In both directions.
    Both(Push, Pull),
    /// Its derivative is zero wherever it has one.
    Flat,
    /// Why it is not.
    Refused(&'static str),
}
use Rule::{Both, Flat, Refused};

const ACROSS: Rule = Both(devices::push, devices::pull);
const DEVICES: Rule =
    Refused("has no derivative rule here: it joins the values of several devices");
const DOTS: Rule = Refused("has no derivative rule here: write it with `dot`");
const HOST: Rule = Refused("has no derivative: its value comes from outside the computation");
const LATER: Rule =
    Refused("has no derivative rule here: differentiate the op that it starts or ends");
const NORM: Rule = Both(batch_norm::push, batch_norm::pull);
const RANDOM: Rule = Refused("has no derivative: its value is random");
const SIZES: Rule = Refused("has no derivative rule here: the size of its result is dynamic");

/// The rule of an op.
pub(super) fn of(op: &Op) -> Rule {
    match op {
        Op::Unary(op) => unary::rule(*op),
        Op::Binary(op) => binary::rule(*op),

        Op::AddDependency(_) | Op::Copy(_) | Op::Domain(_) | Op::OptBarrier(_) => {
            Both(movement::push_same, movement::pull_same)
        }
        Op::Bitcast(_) => Both(movement::push_bitcast, movement::pull_bitcast),
        Op::BitcastConvert(_) => Both(movement::push_bitcast, movement::pull_bitcast),
        Op::Broadcast(_) => Both(movement::push_again, movement::pull_broadcast),
        Op::Concatenate(_) => Both(slices::push_concatenate, slices::pull_concatenate),
        Op::Convert(_) => Both(select::push_convert, select::pull_convert),
        Op::DynamicSlice(_) => Both(movement::push_again, slices::pull_dynamic_slice),
        Op::DynamicUpdateSlice(_) => Both(slices::push_update, slices::pull_update),
        Op::GetTupleElement(_) => Both(movement::push_element, movement::pull_element),
        Op::Pad(_) => Both(slices::push_pad, slices::pull_pad),
        // Cotangents are rounded as the values are, as in JAX.
        Op::ReducePrecision(_) => Both(movement::push_again, movement::pull_again),
        Op::Reshape(_) => Both(movement::push_again, movement::pull_reshape),
        Op::Reverse(_) => Both(movement::push_again, movement::pull_again),
        Op::Slice(_) => Both(movement::push_again, slices::pull_slice),
        Op::Transpose(_) => Both(movement::push_again, movement::pull_transpose),
        Op::Tuple(_) => Both(movement::push_tuple, movement::pull_tuple),

        Op::Clamp(_) => Both(select::push_clamp, select::pull_clamp),
        Op::Dot(_) => Both(contraction::push, contraction::pull),
        Op::Gather(_) => Both(movement::push_again, gather::pull),
        Op::Reduce(_) => Both(reduction::push, reduction::pull),
        Op::Scatter(_) => Both(scatter::push, scatter::pull),
        Op::Select(_) => Both(select::push_select, select::pull_select),

        Op::Call(_) | Op::Fusion(_) => Both(calls::push, calls::pull),
        Op::Conditional(_) => Both(branches::push, branches::pull),
        Op::CustomCall(_) => Both(calls::push_custom, calls::pull_custom),
        Op::Map(_) => Both(calls::push_map, calls::pull_map),
        Op::While(_) => Both(loops::push, loops::pull),

        Op::AfterAll(_) | Op::Compare(_) | Op::Constant(_) | Op::GetDimensionSize(_) => Flat,
        Op::Iota(_) | Op::Parameter(_) | Op::PartitionId(_) | Op::ReplicaId(_) => Flat,
        Op::RngBitGenerator(_) | Op::RngGetAndUpdateState(_) => Flat,

        Op::AllGather(_) | Op::AllReduce(_) | Op::AllToAll(_) => ACROSS,
        Op::CollectivePermute(_) | Op::ReduceScatter(_) => ACROSS,
        Op::CollectiveBroadcast(_) | Op::RaggedAllToAll(_) => DEVICES,
        Op::AllGatherDone(_) | Op::AllGatherStart(_) => LATER,
        Op::AllReduceDone(_) | Op::AllReduceStart(_) => LATER,
        Op::AsyncDone(_) | Op::AsyncStart(_) | Op::AsyncUpdate(_) => LATER,
        Op::CollectivePermuteDone(_) | Op::CollectivePermuteStart(_) => LATER,
        Op::CopyDone(_) | Op::CopyStart(_) => LATER,
        Op::Infeed(_) | Op::Outfeed(_) => HOST,
        Op::Recv(_) | Op::RecvDone(_) | Op::Send(_) | Op::SendDone(_) => HOST,
        Op::Rng(_) | Op::StochasticConvert(_) => RANDOM,
        Op::DynamicReshape(_) | Op::SetDimensionSize(_) => SIZES,
        Op::RaggedDot(_) | Op::ScaledDot(_) => DOTS,

        // Windows, sorting, linear algebra.
        Op::BatchNormGrad(_) | Op::BatchNormInference(_) | Op::BatchNormTraining(_) => NORM,
        Op::Cholesky(_) => Both(cholesky::push, cholesky::pull),
        Op::Convolution(_) => Both(convolution::push, convolution::pull),
        Op::Fft(_) => Both(movement::push_again, fft::pull),
        Op::ReduceWindow(_) => Both(windows::push, windows::pull),
        Op::Scan(_) => Both(scan::push, scan::pull),
        Op::SelectAndScatter(_) => Both(windows::push_placed, windows::pull_placed),
        Op::Sort(_) => Both(order::push_sort, order::pull_sort),
        Op::TopK(_) => Both(order::push_topk, order::pull_topk),
        Op::TriangularSolve(_) => Both(triangular_solve::push, triangular_solve::pull),
    }
}

/// Whether the op's derivative is zero wherever it has one.
pub(super) fn is_flat(op: &Op) -> bool {
    matches!(of(op), Flat)
}

/// Whether the derivative by this operand is zero wherever there is one: of what only chooses.
pub(super) fn is_flat_in(op: &Op, operand: usize) -> bool {
    is_flat(op) || matches!((op, operand), (Op::SelectAndScatter(_), 0))
}

/// The tangent of the result from those of the operands.
pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    if tangents.iter().all(Tangent::is_zero) || !tangent::varies(&node.result.shape()?) {
        return Ok(Tangent::Zero);
    }
    match of(&node.op) {
        Both(push, _) => {
            static_sizes(node)?;
            push(node, tangents)?.fitted(node.result)
        }
        Flat => Ok(Tangent::Zero),
        Refused(why) => Err(node.refused(why)),
    }
}

/// The cotangents of the operands from that of the result, which is not zero.
pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let pulled = match of(&node.op) {
        Both(_, pull) => {
            static_sizes(node)?;
            pull(node, cotangent)?
        }
        Flat => return Ok(node.zeros()),
        Refused(why) => return Err(node.refused(why)),
    };
    let of_operand = |(i, cotangent): (usize, Tangent<'b>)| match node.wants(i) {
        true => cotangent.fitted(node.operand(i)?),
        false => Ok(Tangent::Zero),
    };
    pulled.into_iter().enumerate().map(of_operand).collect()
}

/// Fails for arrays whose sizes are known only at run time: what is summed, broadcast or filled would need them.
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
