//! The header of a module: config, schedule, stack frames.
use super::super::message;
use super::super::{bad, common, in_field, shape};
use super::Schedule;
use crate::Result;
use crate::ir::{
    AliasKind, BufferDonor, Computation, FileLocation, HeaderAttr, InputOutputAlias, ModuleConfig,
    StackFrame, StackFrames,
};
use crate::text::strings;
use prost::Message;
use std::mem::take;

/// Reads everything but computations and stack frames.
pub(super) fn config(
    proto: &mut message::Module,
    entry: &Computation,
    unknown_fields: Vec<u8>,
) -> Result<ModuleConfig> {
    let header = proto.header.take().unwrap_or_default();
    let layout = proto.host_program_shape.take();
    let layout = layout.map(|layout| shape::decode_program(&layout)).transpose();
    let layout = layout.map_err(in_field("host_program_shape"))?;
    let actual = entry.program_shape();
    let stated = layout.filter(|(parameters, result)| {
        !(parameters.iter().eq(actual.parameters.iter().copied()) && result == actual.result)
    });
    let mut config = ModuleConfig {
        is_scheduled: proto.schedule.take().is_some(),
        input_output_alias: aliases(take(&mut proto.input_output_alias).unwrap_or_default())?,
        buffer_donor: donors(take(&mut proto.buffer_donor).unwrap_or_default()),
        entry_layout: stated,
        frontend_attributes: proto.frontend_attributes.take().and_then(common::decode_frontend),
        origin_recovery_table: header.origin_recovery_table,
        debug_attributes: header.debug_attributes,
        unknown: (header.unknown_attributes.into_iter().map(common::decode_raw))
            .map(|(name, value)| HeaderAttr { name: name.into(), value })
            .collect(),
        unknown_fields,
        ..ModuleConfig::default()
    };
    // XLA keeps the number of devices beside the module, but the devices in it, if they are chosen.
    let devices = message::Devices::decode(config.unknown_fields.as_slice()).unwrap_or_default();
    if let Some(devices) = devices.device_assignment {
        config.replica_count = devices.replica_count.into();
        config.num_partitions = devices.computation_count.into();
    }
    apply(header.config.unwrap_or_default(), &mut config);
    Ok(config)
}

/// Applies what XLA keeps beside the module.
pub(crate) fn apply(proto: message::ModuleConfig, config: &mut ModuleConfig) {
    // A single `false` is the default.
    let flags = |flags: Vec<bool>| if flags == [false] { Vec::new() } else { flags };
    config.replica_count = proto.replica_count.unwrap_or(config.replica_count);
    config.num_partitions = proto.num_partitions.unwrap_or(config.num_partitions);
    config.alias_passthrough_params = proto.alias_passthrough_params;
    config.allow_spmd_sharding_propagation_to_parameters =
        flags(proto.allow_spmd_sharding_propagation_to_parameters);
    config.allow_spmd_sharding_propagation_to_output =
        flags(proto.allow_spmd_sharding_propagation_to_output);
}

pub(super) fn schedule(proto: Option<&message::Schedule>) -> Result<Schedule> {
    let mut schedule = Schedule::default();
    for entry in proto.iter().flat_map(|schedule| &schedule.sequences) {
        let sequence = entry.value.clone().unwrap_or_default().instruction_ids;
        if schedule.insert(entry.key, sequence).is_some() {
            return Err(bad(format!("the schedule has computation {} twice", entry.key)));
        }
    }
    Ok(schedule)
}

fn aliases(proto: message::InputOutputAlias) -> Result<Vec<InputOutputAlias>> {
    let alias = |entry: message::AliasEntry| {
        Ok(InputOutputAlias {
            output_index: entry.output_shape_index,
            parameter: entry.parameter_number,
            parameter_index: entry.parameter_shape_index,
            kind: match entry.kind {
                0 | 1 => AliasKind::May,
                2 => AliasKind::Must,
                other => return Err(bad(format!("{other} is not a kind of alias"))),
            },
        })
    };
    proto.entries.into_iter().map(alias).collect()
}

fn donors(proto: message::BufferDonor) -> Vec<BufferDonor> {
    let donor = |entry: message::BufferDonorEntry| BufferDonor {
        parameter: entry.parameter_number,
        parameter_index: entry.parameter_shape_index,
    };
    proto.entries.into_iter().map(donor).collect()
}

pub(super) fn frames(proto: &mut message::Module) -> StackFrames {
    let proto = proto.stack_frame_index.take().unwrap_or_default();
    let texts = |names: Vec<Vec<u8>>| names.into_iter().map(strings::from_bytes).collect();
    StackFrames {
        file_names: texts(proto.file_names),
        function_names: texts(proto.function_names),
        locations: (proto.file_locations.into_iter())
            .map(|location| FileLocation {
                file_name_id: location.file_name_id,
                function_name_id: location.function_name_id,
                line: location.line,
                end_line: location.end_line,
                column: location.column,
                end_column: location.end_column,
            })
            .collect(),
        frames: (proto.stack_frames.into_iter())
            .map(|frame| StackFrame {
                file_location_id: frame.file_location_id,
                parent_frame_id: frame.parent_frame_id,
            })
            .collect(),
    }
}
