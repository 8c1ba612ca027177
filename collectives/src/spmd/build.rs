//! Construction of the module of a manual region from the computation that contains it.
//!
//! A nested region runs on the same devices: its full-to-shard marker shards the array of each
//! device; its shard-to-full marker becomes an `all-gather` of the shards that differ along its
//! axes, and a call that arranges the blocks.
use super::callback::{Callback, callback_target, stacked_shape};
use super::marker::{self, Marker, MarkerKind, ShardedValue};
use super::region::{Output, OutputForm, Region};
use super::shardy::Meshes;
use super::stages::Stages;
use crate::{Code, Error, Result};
use hlo::diag::Errors;
use hlo::diag::quantity;
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::op::value::Text;
use hlo::op::{AllGather, CustomCall, Parameter, Reshape};
use hlo::{ArrayShape, Module, Shape};
use interp::{CompileOptions, Executable};
use std::sync::Arc;

/// A region during construction.
pub(super) struct RegionBuilder<'m> {
    pub(super) module: &'m Module,
    pub(super) meshes: &'m Meshes,
    pub(super) devices: usize,
    options: CompileOptions,
    callbacks: Vec<Callback>,
}

impl<'m> RegionBuilder<'m> {
    pub(super) fn new(
        module: &'m Module,
        meshes: &'m Meshes,
        devices: usize,
        options: CompileOptions,
    ) -> Self {
        Self { module, meshes, devices, options, callbacks: Vec::new() }
    }

    /// Builds region `number` of a computation; returns it with the values that it reads from
    /// outside.
    ///
    /// # Errors
    /// `E0511`, `E0514`, `E0507`
    pub(super) fn build(
        mut self,
        mut rewriter: ModuleRewriter,
        id: ComputationId,
        stages: &Stages,
        number: usize,
    ) -> Result<(Region, Vec<InstructionId>)> {
        let computation = &self.module.computations[id];
        let members = &stages.regions[number];
        let is_inside = |id| stages.is_local(id) && stages.region(id) == Some(number);
        let entry = rewriter.computation_mut(id);
        let mut inputs: Vec<InstructionId> = Vec::new();
        for &member in members {
            for &operand in &computation.instructions[member].operands {
                if !is_inside(operand) && !inputs.contains(&operand) {
                    inputs.push(operand);
                }
            }
        }
        for other in computation.instructions.ids() {
            if !is_inside(other) && !inputs.contains(&other) {
                entry.remove(other);
            }
        }
        for (i, &input) in inputs.iter().enumerate() {
            self.add_input(entry, input, i, stages.is_local(input))?;
        }
        let (outputs, results) = self.outputs(computation, stages, number)?;
        let like = members.last().copied().unwrap_or(computation.root);
        let root = entry.add_tuple(like, results);
        entry.set_root(root);
        for &member in members.iter().filter(|&&member| is_inside(member)) {
            self.replace_marker(entry, computation, member)?;
        }
        rewriter.set_entry(id);
        rewriter.remove_unused_computations();
        for callee in rewriter.computation_ids() {
            let computation = &self.module.computations[callee];
            for member in computation.instructions.ids().filter(|_| callee != id) {
                self.replace_marker(rewriter.computation_mut(callee), computation, member)?;
            }
        }
        let executable = compile(rewriter, self.devices, self.options)?;
        let (devices, callbacks) = (self.devices, Arc::new(self.callbacks));
        Ok((Region { executable, devices, callbacks, outputs }, inputs))
    }

    /// Replaces a value from outside by a parameter; one with a value per device, by the element of
    /// this device.
    fn add_input(
        &mut self,
        entry: &mut ComputationRewriter,
        id: InstructionId,
        number: usize,
        is_local: bool,
    ) -> Result<()> {
        let shape = entry.instruction(id).shape.clone();
        let parameter = |shape| {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            Instruction::new(Parameter { number }, shape, [])
        };
        let input = if is_local {
            let all = entry.add(id, parameter(stacked_shape(&shape, self.devices)?));
            Instruction::new(self.call(Callback::Select), shape, [all])
        } else {
            parameter(shape)
        };
        entry.replace(id, input);
        Ok(())
    }
    /// Returns the outputs of a region, each with the instruction that computes it: what its
    /// shard-to-full markers take, and what later regions read.
    fn outputs(
        &self,
        computation: &Computation,
        stages: &Stages,
        number: usize,
    ) -> Result<(Vec<Output>, Vec<InstructionId>)> {
        let (mut outputs, mut results) = (Vec::new(), Vec::new());
        for &id in stages.regions[number].iter().filter(|&&id| !stages.is_local(id)) {
            for value in self.values(computation, id)? {
                outputs.push(output(computation, id, OutputForm::Global(Box::new(value))));
            }
            results.extend(&computation.instructions[id].operands);
        }
        for id in read_later(computation, stages, number) {
            let shape = computation.instructions[id].shape.clone();
            outputs.push(output(computation, id, OutputForm::PerDevice(shape)));
            results.push(id);
        }
        Ok((outputs, results))
    }
    /// Returns the values that a marker converts.
    fn values(&self, computation: &Computation, id: InstructionId) -> Result<Vec<ShardedValue>> {
        let Some(marker) = Marker::read(computation, id, self.meshes)? else {
            let message = "the instruction is not a marker".to_owned();
            return Err(Code::Internal { message }.into());
        };
        let (found, devices) = (marker.devices(), self.devices);
        if let Some(found) = found.filter(|&found| found != devices) {
            let message = format!(
                "the nested region has {}, the region around it {devices}",
                quantity(found, "device")
            );
            let span = computation.span(id);
            return Err(Error::from(Code::Unsupported { message }).at(span));
        }
        marker.values(computation, id, devices)
    }
    /// Returns a call of a new callback.
    fn call(&mut self, callback: Callback) -> CustomCall {
        self.callbacks.push(callback);
        custom_call(&callback_target(self.callbacks.len() - 1))
    }

    /// Replaces an instruction that each device runs by its per-device form, if it is a marker.
    fn replace_marker(
        &mut self,
        rewriter: &mut ComputationRewriter,
        computation: &Computation,
        id: InstructionId,
    ) -> Result<()> {
        let instruction = rewriter.instruction(id).clone();
        let Some(kind) = marker::kind(&instruction.op) else { return Ok(()) };
        let values = self.values(computation, id)?;
        if kind == MarkerKind::FullToShard {
            let call = self.call(Callback::Shard(values));
            rewriter.replace(id, Instruction::new(call, instruction.shape, instruction.operands));
            return Ok(());
        }
        let mut parts = Vec::new();
        for (value, &operand) in values.into_iter().zip(&instruction.operands) {
            parts.push(match self.gather(rewriter, id, value, operand) {
                Some(part) => rewriter.add(id, part),
                None => operand,
            });
        }
        match (&instruction.shape, parts.as_slice()) {
            (Shape::Array(_) | Shape::Token, &[only]) => {
                rewriter.replace_uses(id, only);
                rewriter.remove(id);
            }
            _ => {
                let tuple = rewriter.tuple(parts);
                rewriter.replace(id, tuple);
            }
        }
        Ok(())
    }
    /// Returns the array that the shards of each group of devices make; nothing for a token.
    fn gather(
        &mut self,
        rewriter: &mut ComputationRewriter,
        id: InstructionId,
        value: ShardedValue,
        operand: InstructionId,
    ) -> Option<Instruction> {
        let (Some(tiles), Shape::Array(local)) = (&value.tiles, &value.local) else { return None };
        let size = tiles.groups().first().map_or(1, Vec::len);
        let number = |&device: &usize| i64::try_from(device).unwrap_or(i64::MAX);
        let groups = tiles.groups().iter().map(|group| group.iter().map(number).collect());
        let groups: Vec<Vec<i64>> = groups.collect();
        let blocks = |count: usize| {
            let mut dims = local.dims.clone();
            dims.insert(0, i64::try_from(count).unwrap_or(i64::MAX));
            ArrayShape::new(local.ty, dims)
        };
        let reshape = Reshape { inferred_dimension: -1 };
        let own = rewriter.add(id, Instruction::new(reshape, blocks(1), [operand]));
        let gather = AllGather {
            channel_id: Some(1),
            replica_groups: groups.into(),
            constrain_layout: false,
            dimensions: vec![0],
            use_global_device_ids: true,
        };
        let all = rewriter.add(id, Instruction::new(gather, blocks(size), [own]));
        let global = value.global.clone();
        Some(Instruction::new(self.call(Callback::Assemble(Box::new(value))), global, [all]))
    }
}

/// Compiles a module for one replica and this many partitions.
///
/// # Errors
/// `E0514` if it breaks a rule that does not depend on where an instruction is, for example groups
/// that do not fit the number of devices.
pub(super) fn compile(
    mut rewriter: ModuleRewriter,
    partitions: usize,
    options: CompileOptions,
) -> Result<Executable> {
    let config = rewriter.config_mut();
    config.replica_count = 1;
    config.num_partitions = i64::try_from(partitions).unwrap_or(i64::MAX);
    let internal = |message: String| Error::from(Code::Internal { message });
    let module = rewriter.finish().map_err(|error| internal(error.to_string()))?;
    let verified =
        module.verify().map_err(|errors| match Errors::from(errors).0.into_iter().next() {
            Some(error) => error.into(),
            None => internal("verification failed without an error".to_owned()),
        })?;
    Executable::compile(verified, &options).map_err(|error| Code::Outside { error }.into())
}

/// Returns a call of a target without any attributes.
pub(super) fn custom_call(target: &str) -> CustomCall {
    use hlo::op::value::{
        ApiVersion, CustomCallSchedule, Ignored, OperandPrecision, OutputOperandAliasing,
        PaddingType, Window,
    };
    CustomCall {
        window: Window::default(),
        dim_labels: None,
        feature_group_count: 1,
        batch_group_count: 1,
        operand_precision: OperandPrecision::default(),
        padding_type: PaddingType::Invalid,
        custom_call_target: Text(target.into()),
        operand_layout_constraints: None,
        custom_call_has_side_effect: true,
        literal: None,
        output_to_operand_aliasing: OutputOperandAliasing::default(),
        schedule: CustomCallSchedule::None,
        api_version: ApiVersion::Original,
        called_computations: Vec::new(),
        to_apply: None,
        opaque: None,
        channel_name: Ignored,
        cost_estimate_ns: Ignored,
    }
}

fn output(computation: &Computation, id: InstructionId, form: OutputForm) -> Output {
    let name = format!("{}/{}", computation.name, computation.name(id));
    let span = computation.span(id);
    Output { id, name, span, form }
}

/// Returns the local instructions of a region whose values other regions read.
fn read_later(computation: &Computation, stages: &Stages, number: usize) -> Vec<InstructionId> {
    let mut used: Vec<InstructionId> = Vec::new();
    for (id, instruction) in computation.instructions.iter() {
        if stages.region(id).is_some_and(|region| region != number) {
            let of_this =
                |&&o: &&InstructionId| stages.is_local(o) && stages.region(o) == Some(number);
            used.extend(instruction.operands.iter().filter(of_this));
        }
    }
    used.sort_unstable();
    used.dedup();
    used
}
