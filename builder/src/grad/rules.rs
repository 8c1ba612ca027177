//! The table of derivative rules, one for each op.
use super::movement::{Bits, Reshaped, Same, Symmetric};
use super::node::Rule::{self, By, Refused, Zero};
use super::{binary, unary};
use hlo::Op;

const DEVICES: Rule<'static> =
    Refused("has no derivative rule here: it joins the values of several devices");
const HOST: Rule<'static> =
    Refused("has no derivative: its value comes from outside the computation");
const ASYNC: Rule<'static> =
    Refused("has no derivative rule here: differentiate the op that it starts or ends");
const RANDOM: Rule<'static> = Refused("has no derivative: its value is random");
const SIZES: Rule<'static> =
    Refused("has no derivative rule here: the size of its result is dynamic");

/// Returns the rule of an op.
pub(super) fn rule_of(op: &Op) -> Rule<'_> {
    match op {
        Op::Unary(op) => unary::rule(op),
        Op::Binary(op) => binary::rule(op),

        Op::AddDependency(_) | Op::Copy(_) | Op::Domain(_) | Op::OptBarrier(_) => By(&Same),
        Op::Bitcast(_) | Op::BitcastConvert(_) => By(&Bits),
        Op::ReducePrecision(_) | Op::Reverse(_) => By(&Symmetric),
        Op::Reshape(_) => By(&Reshaped),
        Op::Broadcast(op) => By(op),
        Op::Concatenate(op) => By(op),
        Op::Convert(op) => By(op),
        Op::DynamicSlice(op) => By(op),
        Op::DynamicUpdateSlice(op) => By(op),
        Op::GetTupleElement(op) => By(op),
        Op::Pad(op) => By(op),
        Op::Slice(op) => By(op),
        Op::Transpose(op) => By(op),
        Op::Tuple(op) => By(op),

        Op::Clamp(op) => By(op),
        Op::Convolution(op) => By(&**op),
        Op::Dot(op) => By(&**op),
        Op::RaggedDot(op) => By(&**op),
        Op::ScaledDot(op) => By(&**op),
        Op::Gather(op) => By(&**op),
        Op::Reduce(op) => By(op),
        Op::ReduceWindow(op) => By(op),
        Op::Scatter(op) => By(&**op),
        Op::Select(op) => By(op),
        Op::SelectAndScatter(op) => By(&**op),

        Op::Call(op) => By(op),
        Op::Conditional(op) => By(op),
        Op::CustomCall(op) => By(&**op),
        Op::Fusion(op) => By(&**op),
        Op::Map(op) => By(op),
        Op::Scan(op) => By(&**op),
        Op::While(op) => By(op),

        Op::BatchNormGrad(op) => By(op),
        Op::BatchNormInference(op) => By(op),
        Op::BatchNormTraining(op) => By(op),
        Op::Cholesky(op) => By(op),
        Op::Fft(op) => By(&**op),
        Op::Sort(op) => By(&**op),
        Op::TopK(op) => By(op),
        Op::TriangularSolve(op) => By(op),

        Op::AllGather(op) => By(&**op),
        Op::AllReduce(op) => By(&**op),
        Op::AllToAll(op) => By(&**op),
        Op::CollectivePermute(op) => By(&**op),
        Op::ReduceScatter(op) => By(&**op),

        Op::AfterAll(_) | Op::Compare(_) | Op::Constant(_) | Op::GetDimensionSize(_) => Zero,
        Op::Iota(_) | Op::Parameter(_) | Op::PartitionId(_) | Op::ReplicaId(_) => Zero,
        Op::RngBitGenerator(_) | Op::RngGetAndUpdateState(_) => Zero,

        Op::CollectiveBroadcast(_) | Op::RaggedAllToAll(_) => DEVICES,
        Op::AllGatherDone(_) | Op::AllGatherStart(_) => ASYNC,
        Op::AllReduceDone(_) | Op::AllReduceStart(_) => ASYNC,
        Op::AsyncDone(_) | Op::AsyncStart(_) | Op::AsyncUpdate(_) => ASYNC,
        Op::CollectivePermuteDone(_) | Op::CollectivePermuteStart(_) => ASYNC,
        Op::CopyDone(_) | Op::CopyStart(_) => ASYNC,
        Op::Infeed(_) | Op::Outfeed(_) => HOST,
        Op::Recv(_) | Op::RecvDone(_) | Op::Send(_) | Op::SendDone(_) => HOST,
        Op::Rng(_) | Op::StochasticConvert(_) => RANDOM,
        Op::DynamicReshape(_) | Op::SetDimensionSize(_) => SIZES,
    }
}
