//! Modules as messages.
use super::message::{
    self, Header, InstructionSequence, ModuleConfig, RawAttribute, Schedule, ScheduleEntry,
};
use super::{common, shape};
use crate::ir::{AliasKind, Computation, ComputationId, InstructionId, Module, StackFrames};
use crate::text::strings;
use crate::{Op, Result};
use prost::Message;

/// Returns the module as the bytes of an `HloModuleProto`.
///
/// ```
/// let module = hlo::Module::parse("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }").unwrap();
/// let bytes = hlo::proto::encode(&module).unwrap();
/// assert_eq!(hlo::proto::decode(&bytes).unwrap().to_string(), module.to_string());
/// ```
///
/// # Errors
/// `E0112` if a number does not fit its field.
pub fn encode(module: &Module) -> Result<Vec<u8>> {
    let encoder = Encoder::new(module);
    let mut proto = encoder.header();
    for &id in &encoder.order {
        let bytes = encoder.computation(id)?;
        proto.computations.push(bytes.into());
    }
    let mut bytes = proto.encode_to_vec();
    bytes.extend_from_slice(&module.config.unknown_fields);
    Ok(bytes)
}

struct Encoder<'m> {
    module: &'m Module,
    /// Computations, callees before their callers; a computation's position is its id.
    order: Vec<ComputationId>,
    /// The position of each computation.
    positions: Vec<i64>,
    /// Computations of a fusion.
    fused: Vec<bool>,
}

impl<'m> Encoder<'m> {
    fn new(module: &'m Module) -> Self {
        let order = callees_first(module);
        let mut positions = vec![0; order.len()];
        for (&id, position) in order.iter().zip(0..) {
            positions[id.index()] = position;
        }
        let mut fused = vec![false; order.len()];
        for (_, computation) in module.computations.iter() {
            for (_, instruction) in computation.instructions.iter() {
                if let Op::Fusion(fusion) = &instruction.op {
                    fused[fusion.calls.index()] = true;
                }
            }
        }
        Self { module, order, positions, fused }
    }

    /// Returns the id of an instruction, with the id of its computation in the upper half, as XLA
    /// does.
    fn id(&self, computation: ComputationId, instruction: InstructionId) -> i64 {
        let index = i64::try_from(instruction.index()).expect("an index fits i64");
        self.positions[computation.index()] << 32 | index
    }

    fn computation(&self, id: ComputationId) -> Result<Vec<u8>> {
        let computation = &self.module.computations[id];
        let shapes = computation.program_shape();
        let names = computation.parameters().into_iter().map(|id| computation.name(id).to_string());
        let mut proto = message::Computation {
            name: computation.name.to_string(),
            instructions: Vec::with_capacity(computation.instructions.len()),
            program_shape: Some(shape::encode_program(
                shapes.parameters,
                names.collect(),
                shapes.result,
            )),
            id: self.positions[id.index()],
            root_id: self.id(id, computation.root),
            is_fusion_computation: self.fused[id.index()],
            execution_thread: strings::bytes(&computation.execution_thread).into_owned(),
        };
        for instruction in computation.instructions.ids() {
            let bytes = self.instruction(id, computation, instruction);
            let bytes = bytes.map_err(|error| error.at(computation.site(instruction)))?;
            proto.instructions.push(bytes.into());
        }
        let mut bytes = proto.encode_to_vec();
        bytes.extend_from_slice(&computation.unknown_fields);
        Ok(bytes)
    }

    fn instruction(
        &self,
        within: ComputationId,
        computation: &Computation,
        id: InstructionId,
    ) -> Result<Vec<u8>> {
        let instruction = &computation.instructions[id];
        let ids = |list: &[InstructionId]| list.iter().map(|&id| self.id(within, id)).collect();
        let mut proto = message::Instruction {
            id: self.id(within, id),
            name: computation.name(id).to_string(),
            opcode: instruction.opcode().name().to_owned(),
            shape: Some(shape::encode(&instruction.shape)),
            operand_ids: ids(&instruction.operands),
            ..message::Instruction::default()
        };
        instruction.op.encode(&mut proto)?;
        for callee in &mut proto.called_computation_ids {
            let index = usize::try_from(*callee).expect("an index of a computation");
            *callee = self.positions[index];
        }
        let Some(attributes) = &instruction.common else { return Ok(proto.encode_to_vec()) };
        common::encode(attributes, &mut proto)?;
        proto.control_predecessor_ids = ids(attributes.control_predecessors());
        let mut bytes = proto.encode_to_vec();
        bytes.extend_from_slice(&attributes.unknown_fields);
        Ok(bytes)
    }

    /// Writes the fields of the module, without its computations.
    fn header(&self) -> message::Module {
        let (module, config) = (self.module, &self.module.config);
        let entry = module.entry().program_shape();
        let names = (0..entry.parameters.len()).map(|i| format!("p{i}"));
        let layout = match &config.entry_layout {
            // A layout with another number of parameters is rejected by the verifier.
            Some((parameters, result)) => shape::encode_program(
                parameters,
                (0..parameters.len()).map(|i| format!("p{i}")).collect(),
                result,
            ),
            None => shape::encode_program(entry.parameters, names.collect(), entry.result),
        };
        message::Module {
            name: module.name.to_string(),
            entry_computation_name: module.entry().name.to_string(),
            entry_computation_id: self.positions[module.entry.index()],
            host_program_shape: Some(layout),
            schedule: config.is_scheduled.then(|| self.schedule()),
            input_output_alias: Some(aliases(module)),
            buffer_donor: Some(donors(module)),
            frontend_attributes: config.frontend_attributes.as_ref().map(common::encode_frontend),
            stack_frame_index: (!module.frames.is_empty()).then(|| stack_frames(&module.frames)),
            header: Some(own_header(module)).filter(|header| *header != Header::default()),
            ..message::Module::default()
        }
    }

    fn schedule(&self) -> Schedule {
        let scheduled = self.order.iter().filter(|id| !self.fused[id.index()]);
        let entry = |&id: &ComputationId| {
            let instructions = self.module.computations[id].instructions.ids();
            let instruction_ids =
                instructions.map(|instruction| self.id(id, instruction)).collect();
            ScheduleEntry {
                key: self.positions[id.index()],
                value: Some(InstructionSequence { instruction_ids }),
            }
        };
        Schedule { sequences: scheduled.map(entry).collect() }
    }
}

/// Returns the computations, each after those it calls, otherwise in their order. Those that call
/// themselves are all there.
fn callees_first(module: &Module) -> Vec<ComputationId> {
    let callees = |id: ComputationId| {
        let mut callees = Vec::new();
        for (_, instruction) in module.computations[id].instructions.iter() {
            instruction.op.each_callee(&mut |callee| callees.push(callee));
        }
        callees.reverse();
        callees
    };
    let mut seen = vec![false; module.computations.len()];
    let mut order = Vec::with_capacity(seen.len());
    for root in module.computations.ids() {
        if std::mem::replace(&mut seen[root.index()], true) {
            continue;
        }
        let mut open = vec![(root, callees(root))];
        while let Some((id, rest)) = open.last_mut() {
            match rest.pop() {
                None => {
                    order.push(*id);
                    open.pop();
                }
                Some(callee) if std::mem::replace(&mut seen[callee.index()], true) => {}
                Some(callee) => open.push((callee, callees(callee))),
            }
        }
    }
    order
}

fn aliases(module: &Module) -> message::InputOutputAlias {
    let entry = |alias: &crate::ir::InputOutputAlias| message::AliasEntry {
        output_shape_index: alias.output_index.clone(),
        parameter_number: alias.parameter,
        parameter_shape_index: alias.parameter_index.clone(),
        kind: match alias.kind {
            AliasKind::May => 1,
            AliasKind::Must => 2,
        },
    };
    message::InputOutputAlias {
        entries: module.config.input_output_alias.iter().map(entry).collect(),
    }
}

fn donors(module: &Module) -> message::BufferDonor {
    let entry = |donor: &crate::ir::BufferDonor| message::BufferDonorEntry {
        parameter_number: donor.parameter,
        parameter_shape_index: donor.parameter_index.clone(),
    };
    message::BufferDonor { entries: module.config.buffer_donor.iter().map(entry).collect() }
}

fn stack_frames(frames: &StackFrames) -> message::StackFrameIndex {
    let bytes =
        |names: &[String]| names.iter().map(|name| strings::bytes(name).into_owned()).collect();
    message::StackFrameIndex {
        file_names: bytes(&frames.file_names),
        function_names: bytes(&frames.function_names),
        file_locations: (frames.locations.iter())
            .map(|location| message::FileLocation {
                file_name_id: location.file_name_id,
                function_name_id: location.function_name_id,
                line: location.line,
                end_line: location.end_line,
                column: location.column,
                end_column: location.end_column,
            })
            .collect(),
        stack_frames: (frames.frames.iter())
            .map(|frame| message::StackFrame {
                file_location_id: frame.file_location_id,
                parent_frame_id: frame.parent_frame_id,
            })
            .collect(),
    }
}

/// Returns the fields that XLA keeps in another message.
fn own_header(module: &Module) -> Header {
    let config = &module.config;
    let flags = (
        &config.allow_spmd_sharding_propagation_to_parameters,
        &config.allow_spmd_sharding_propagation_to_output,
    );
    // One, the default, is not written, unless there may be a device assignment that says
    // otherwise.
    let count = |count: i64| Some(count).filter(|&n| n != 1 || !config.unknown_fields.is_empty());
    let own = ModuleConfig {
        replica_count: count(config.replica_count),
        num_partitions: count(config.num_partitions),
        alias_passthrough_params: config.alias_passthrough_params,
        allow_spmd_sharding_propagation_to_parameters: flags.0.clone(),
        allow_spmd_sharding_propagation_to_output: flags.1.clone(),
    };
    let unknown = config.unknown.iter().map(|raw| (raw.name.as_str(), raw.value.as_str()));
    let unknown_attributes: Vec<RawAttribute> = common::encode_raw(unknown);
    Header {
        config: Some(own).filter(|own| *own != ModuleConfig::default()),
        unknown_attributes,
        origin_recovery_table: config.origin_recovery_table.clone(),
        debug_attributes: config.debug_attributes.clone(),
    }
}
