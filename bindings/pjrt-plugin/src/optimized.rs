//! The program that runs, as hosts show it: `HloModuleProtoWithConfig`.
use crate::failure::{Code, Result};
use crate::program::Program;
use crate::source::refused;
use hlo::Shape;
use hlo::ir::{DeviceSharding, Placement, Sharding};
use prost::Message;

/// The format of the program.
pub(crate) const FORMAT: &str = "hlo_with_config";

#[derive(Clone, PartialEq, prost::Message)]
struct HloModuleProtoWithConfig {
    #[prost(bytes = "vec", tag = "1")]
    hlo_module: Vec<u8>,
    #[prost(message, optional, tag = "2")]
    config: Option<HloModuleConfigProto>,
}

/// The fields that hosts read, with their numbers in `xla.proto`.
#[derive(Clone, PartialEq, prost::Message)]
struct HloModuleConfigProto {
    /// A `ProgramShapeProto`, encoded.
    #[prost(bytes = "vec", tag = "1")]
    entry_computation_layout: Vec<u8>,
    #[prost(int64, tag = "4")]
    replica_count: i64,
    #[prost(int64, tag = "5")]
    num_partitions: i64,
}

/// The part of an `HloModuleProto` that the configuration repeats.
#[derive(Clone, PartialEq, prost::Message)]
struct HostProgramShape {
    #[prost(bytes = "vec", tag = "4")]
    host_program_shape: Vec<u8>,
}

/// Fields that the encoder of modules does not write: the shardings of a program for several partitions.
#[derive(Clone, PartialEq, prost::Message)]
struct SpmdShardings {
    #[prost(bytes = "vec", optional, tag = "12")]
    spmd_output_sharding: Option<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "14")]
    spmd_parameters_shardings: Vec<Vec<u8>>,
}

fn shardings(program: &Program) -> Result<Option<SpmdShardings>> {
    let replicated = DeviceSharding::from(Placement::Replicated);
    let (parameters, results) = match &program.shards {
        Some(shards) => shards.shardings(),
        // A program that states no sharding runs on each device, with whole arguments and results.
        None if program.placement.partitions > 1 => {
            (vec![&replicated; program.arguments.len()], vec![&replicated; program.outputs.len()])
        }
        None => return Ok(None),
    };
    let encode = |sharding| {
        hlo::proto::encode_sharding(&sharding)
            .map_err(|error| refused(Code::INTERNAL, &error, Some(program.module())))
    };
    let is_tuple = matches!(program.module().entry().program_shape().result, Shape::Tuple(_));
    let output = match (results.as_slice(), is_tuple) {
        ([one], false) => Sharding::One((*one).clone()),
        // XLA gives an empty tuple the sharding of one element.
        ([], _) => Sharding::Tuple(vec![replicated.clone()]),
        (all, _) => Sharding::Tuple(all.iter().map(|&one| one.clone()).collect()),
    };
    let parameters = parameters.into_iter().map(|one| encode(Sharding::One(one.clone())));
    Ok(Some(SpmdShardings {
        spmd_output_sharding: Some(encode(output)?),
        spmd_parameters_shardings: parameters.collect::<Result<_>>()?,
    }))
}

/// Returns the program as bytes in this [`FORMAT`].
///
/// # Errors
/// If a number does not fit its field.
pub(crate) fn program(program: &Program) -> Result<Vec<u8>> {
    let mut module = hlo::proto::encode(program.module())
        .map_err(|error| refused(Code::INTERNAL, &error, Some(program.module())))?;
    let shape = HostProgramShape::decode(module.as_slice()).unwrap_or_default().host_program_shape;
    if let Some(shardings) = shardings(program)? {
        // Fields of a message may follow in any order.
        module.extend(shardings.encode_to_vec());
    }
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let config = HloModuleConfigProto {
        entry_computation_layout: shape,
        replica_count: count(program.placement.replicas),
        num_partitions: count(program.placement.partitions),
    };
    Ok(HloModuleProtoWithConfig { hlo_module: module, config: Some(config) }.encode_to_vec())
}
