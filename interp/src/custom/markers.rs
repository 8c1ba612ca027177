//! Annotations for partitioners, schedulers and layout assignment: the value is the operand's.
//!
//! `SPMDFullToShardShape` and `xla.sdy.GlobalToLocalShape` give each device its part of an array,
//! and their inverses concatenate the parts together. On one device the part is the whole. If the
//! shapes differ the module was written for several devices and has not been partitioned, which is
//! an error.
//!
//! `xla.sdy.ShardingGroup` groups shardings, `dce_sink` keeps what it is given alive and
//! `control_dep` orders two values: each returns an empty tuple.
use super::Call;
use crate::{Error, Result};
use hlo::Literal;
use num::error::Code;

/// The targets whose value is their operand, the tuple of their operands, or nothing.
pub(super) const TARGETS: [&str; 20] = [
    "AssumeGatherIndicesInBound",
    "InspectSharding",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "PinToDevice",
    "PinToDeviceSram",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "ShardBarrierFrom",
    "ShardBarrierTo",
    "Sharding",
    "annotate_device_placement",
    "control_dep",
    "dce_sink",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
    "xla.sdy.PropagationBarrier",
    "xla.sdy.ShardingGroup",
];

/// Returns whether a target is an annotation, whose value is its operand, the tuple of its
/// operands, or nothing.
pub fn is_annotation(target: &str) -> bool {
    TARGETS.contains(&target)
}

/// Runs the call if its target is one of these.
pub(super) fn run(call: &Call<'_>) -> Option<Result<Literal>> {
    let target = call.op.custom_call_target.0.as_str();
    is_annotation(target).then(|| {
        let nothing = call.shape.tuple().is_some_and(<[hlo::Shape]>::is_empty);
        match call.operands {
            _ if nothing => Ok(Literal::tuple(Vec::new())),
            [operand] if operand.shape().compatible(call.shape) => Ok((*operand).clone()),
            operands => {
                let all = Literal::tuple(operands.iter().map(|&operand| operand.clone()).collect());
                let is_same = all.shape().compatible(call.shape);
                if is_same { Ok(all) } else { Err(parts(target, operands, call)) }
            }
        }
    })
}

fn parts(target: &str, operands: &[&Literal], call: &Call<'_>) -> Error {
    let shapes: Vec<String> = operands.iter().map(|operand| operand.shape().to_string()).collect();
    let message = format!(
        "custom call `{target}` converts {} to {}: the module is not partitioned for several devices yet",
        shapes.join(", "),
        call.shape
    );
    Error::from(Code::Unsupported { message })
        .with_help("run the module that XLA's SPMD partitioner outputs, or this one as a whole, on one device: `--partitions 1`")
}
