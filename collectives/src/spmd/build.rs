//! Makes the module of a manual region out of the computation it stands in.
//!
//! A region inside a region is run by the same devices: a cut is a cut of each device's own array; what puts shards together
//! becomes an `all-gather` of those that differ along its axes, and a call that puts the blocks where they belong.
use super::calls::{called, reached};
use super::draft::{self, Draft};
use super::marker::{self, Kind, Marker, Value};
use super::region::{Exit, Output, Region};
use super::shardy::Meshes;
use super::stages::Stages;
use super::step::{Step, stacked_shape, target};
use crate::{Code, Error, Result};
use hlo::ir::{Computation, ComputationId, InstructionId};
use hlo::op::{AllGather, Reshape};
use hlo::{ArrayShape, Module, Shape};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A region in the making.
pub(super) struct Builder<'m> {
    pub(super) module: &'m Module,
    pub(super) meshes: &'m Meshes,
    pub(super) devices: usize,
    steps: Vec<Step>,
}

impl<'m> Builder<'m> {
    pub(super) fn new(module: &'m Module, meshes: &'m Meshes, devices: usize) -> Self {
        Self { module, meshes, devices, steps: Vec::new() }
    }

    /// Region `number` of a computation, and the values it reads from outside.
    ///
    /// # Errors
    /// `E0511`, `E0514`, `E0507`
    pub(super) fn build(
        mut self,
        computation: &'m Computation,
        stages: &Stages,
        number: usize,
    ) -> Result<(Region, Vec<InstructionId>)> {
        let mut draft = Draft::of(computation);
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        for &id in &stages.regions[number] {
            for &operand in &computation.instructions[id].operands {
                if !draft.has(operand) {
                    self.input(&mut draft, stages, operand, inputs.len())?;
                    inputs.push(operand);
                }
            }
            if stages.is_local(id) {
                self.step(&mut draft, id)?;
            } else {
                outputs.extend(self.joined(computation, id)?);
            }
        }
        let mut roots = Vec::new();
        for (_, operand) in &outputs {
            roots.push(draft.get(*operand)?);
        }
        let mut outputs: Vec<Output> = outputs.into_iter().map(|(output, _)| output).collect();
        for id in kept(computation, stages, number) {
            let shape = computation.instructions[id].shape.clone();
            outputs.push(output(computation, id, Exit::Stacked(shape)));
            roots.push(draft.get(id)?);
        }
        let like = stages.regions[number].last().copied().unwrap_or(computation.root);
        let root = draft.tuple(like, roots);
        let entry = draft.finish(root);
        let inner = self.inner(&entry)?;
        let get = |id: ComputationId| inner.get(&id.index()).unwrap_or(computation);
        let verified = draft::module(&bare(self.module), entry, self.devices, get)?;
        let (devices, steps) = (self.devices, Arc::new(self.steps));
        Ok((Region { verified, devices, steps, outputs }, inputs))
    }

    /// A parameter for a value from outside, and the device's own of it if it has one.
    fn input(
        &mut self,
        draft: &mut Draft<'m>,
        stages: &Stages,
        id: InstructionId,
        number: usize,
    ) -> Result<()> {
        let shape = &draft.from().instructions[id].shape;
        let made = if stages.is_local(id) {
            let whole = draft.parameter(id, number, stacked_shape(shape, self.devices)?);
            let target = self.target(Step::Own);
            draft.call(id, &target, shape.clone(), vec![whole])
        } else {
            draft.parameter(id, number, shape.clone())
        };
        draft.set(id, made);
        Ok(())
    }
    /// The values that a join at the end of the region makes, each with the instruction that gives the shards.
    fn joined(
        &self,
        computation: &Computation,
        id: InstructionId,
    ) -> Result<Vec<(Output, InstructionId)>> {
        let values = self.values(computation, id)?;
        let operands = computation.instructions[id].operands.iter().copied();
        let made = values
            .into_iter()
            .zip(operands)
            .map(|(value, operand)| (output(computation, id, Exit::Joined(value)), operand));
        Ok(made.collect())
    }
    /// The values of a marker.
    fn values(&self, computation: &Computation, id: InstructionId) -> Result<Vec<Value>> {
        let Some(marker) = Marker::read(computation, id, self.meshes)? else {
            let message = "an instruction that marks no region".to_owned();
            return Err(Code::Internal { message }.into());
        };
        let (found, devices) = (marker.devices(), self.devices);
        if let Some(found) = found.filter(|&found| found != devices) {
            let message =
                format!("it is for {found} devices, and the region around it for {devices}");
            let span = computation.span(id);
            return Err(Error::from(Code::Unsupported { message }).at(span));
        }
        marker.values(computation, id, devices)
    }
    /// The name of a new step.
    fn target(&mut self, step: Step) -> String {
        self.steps.push(step);
        target(self.steps.len() - 1)
    }

    /// Adds an instruction that each device runs.
    fn step(&mut self, draft: &mut Draft<'m>, id: InstructionId) -> Result<()> {
        let computation = draft.from();
        let instruction = &computation.instructions[id];
        let made = match marker::kind(&instruction.op) {
            None => return draft.copy(id),
            Some(Kind::Cut) => {
                let target = self.target(Step::Cut(self.values(computation, id)?));
                let operands: Result<_> =
                    instruction.operands.iter().map(|&o| draft.get(o)).collect();
                draft.call(id, &target, instruction.shape.clone(), operands?)
            }
            Some(Kind::Join) => {
                let mut parts = Vec::new();
                let values = self.values(computation, id)?;
                for (value, &operand) in values.into_iter().zip(&instruction.operands) {
                    let operand = draft.get(operand)?;
                    parts.push(self.meet(draft, id, value, operand));
                }
                match (&instruction.shape, parts.as_slice()) {
                    (Shape::Array(_) | Shape::Token, &[only]) => only,
                    _ => draft.tuple(id, parts),
                }
            }
        };
        draft.set(id, made);
        Ok(())
    }
    /// Puts the shards of each group of devices together, inside of a region.
    fn meet(
        &mut self,
        draft: &mut Draft<'m>,
        id: InstructionId,
        value: Value,
        operand: InstructionId,
    ) -> InstructionId {
        let (Some(tiles), Shape::Array(local)) = (&value.tiles, &value.local) else {
            return operand;
        };
        let size = tiles.groups().first().map_or(1, Vec::len);
        let number = |&device: &usize| i64::try_from(device).unwrap_or(i64::MAX);
        let groups = tiles.groups().iter().map(|group| group.iter().map(number).collect());
        let groups: Vec<Vec<i64>> = groups.collect();
        let block = |count: usize| {
            let mut dims = local.dims.clone();
            dims.insert(0, i64::try_from(count).unwrap_or(i64::MAX));
            Shape::from(ArrayShape::new(local.ty, dims))
        };
        let own = draft.push(id, Reshape { inferred_dimension: -1 }, block(1), vec![operand]);
        let gather = AllGather {
            channel_id: Some(1),
            replica_groups: groups.into(),
            constrain_layout: false,
            dimensions: vec![0],
            use_global_device_ids: true,
        };
        let all = draft.push(id, gather, block(size), vec![own]);
        let global = value.global.clone();
        let target = self.target(Step::Join(Box::new(value)));
        draft.call(id, &target, global, vec![all])
    }

    /// The computations that a region calls, as each device runs them.
    fn inner(&mut self, entry: &Computation) -> Result<BTreeMap<usize, Computation>> {
        let module = self.module;
        let order = reached(called(entry), |id| called(&module.computations[id]));
        let mut inner = BTreeMap::new();
        for id in order {
            let computation = &module.computations[id];
            let marks = |id| marker::kind(&computation.instructions[id].op).is_some();
            let made = if computation.instructions.ids().any(marks) {
                let mut draft = Draft::of(computation);
                for id in computation.instructions.ids() {
                    self.step(&mut draft, id)?;
                }
                let root = draft.get(computation.root)?;
                draft.finish(root)
            } else {
                computation.clone()
            };
            inner.insert(id.index(), made);
        }
        Ok(inner)
    }
}

fn output(computation: &Computation, id: InstructionId, exit: Exit) -> Output {
    let name = format!("{}/{}", computation.name, computation.name(id));
    let span = computation.span(id);
    Output { id, name, span, exit }
}

/// The local instructions of a region whose values other regions use.
fn kept(computation: &Computation, stages: &Stages, number: usize) -> Vec<InstructionId> {
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

/// The module without what its header says of the entry: a region has another one.
fn bare(module: &Module) -> Module {
    let config = hlo::ir::ModuleConfig {
        is_scheduled: module.config.is_scheduled,
        ..hlo::ir::ModuleConfig::default()
    };
    let name = module.name.clone();
    let (computations, frames) = (hlo::Arena::default(), module.frames.clone());
    Module { name, computations, entry: module.entry, config, frames }
}
