//! A manual region as a module that each of its devices runs.
//!
//! The parameters of the module are the global values that the region reads, the same for all
//! devices. A full-to-shard marker becomes a custom call that returns the shard of the device. The
//! results of all devices are assembled after the run.
use super::callback::{Callback, callback_target, stack, stacked_shape};
use super::marker::ShardedValue;
use super::placement::{Tiles, Unequal};
use crate::device_run::{DeviceHooks, DeviceRun};
use crate::{Ranks, Result};
use hlo::ir::InstructionId;
use hlo::{Literal, Module, Shape, Span};
use interp::{Device, DeviceGrid, Executable, RunOptions};
use std::sync::Arc;

/// A manual region of a [`Program`](super::Program): a module that each device runs, and how values
/// go in and out.
#[derive(Debug)]
pub struct Region {
    pub(super) executable: Executable,
    pub(super) devices: usize,
    /// The callbacks of its custom calls; the target of number `i` is `callback_target(i)`.
    pub(super) callbacks: Arc<Vec<Callback>>,
    pub(super) outputs: Vec<Output>,
}

/// A value that leaves a region.
#[derive(Debug)]
pub(super) struct Output {
    /// The instruction of the original computation with this value.
    pub(super) id: InstructionId,
    /// The name and the span of that instruction.
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) form: OutputForm,
}

/// The combination of the values of all devices to one value of the outer program.
#[derive(Debug)]
pub(super) enum OutputForm {
    /// They are shards of a global value.
    Global(Box<ShardedValue>),
    /// They are stacked, for a later region.
    PerDevice(Shape),
}

/// Devices whose values differ although the sharding says that they are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Divergence {
    /// The instruction that assembles the shards.
    pub instruction: String,
    /// Its span in the text.
    pub span: Span,
    /// The device whose value the result has.
    pub device: usize,
    /// The devices whose values differ from it.
    pub others: Vec<usize>,
    /// The largest distance of two elements; infinite if one of them is NaN.
    pub distance: f64,
}

impl Region {
    /// Returns the module that each device runs on the same arguments: the global values that the
    /// region reads.
    pub fn module(&self) -> &Module {
        self.executable.module()
    }
    /// Returns the number of devices.
    pub fn devices(&self) -> usize {
        self.devices
    }
    /// Returns a leaf of what a custom call of the module gives a device, for the leaves of its
    /// operands, whose elements may be of another type; nothing if the target is another one, or if
    /// the values of devices are added.
    pub fn received(
        &self,
        target: &str,
        (device, leaf): (usize, usize),
        operands: &[&Literal],
        shape: &Shape,
    ) -> Option<Literal> {
        let number = (0..self.callbacks.len()).find(|&i| callback_target(i) == target)?;
        let callback = self.callbacks.get(number).filter(|callback| !callback.adds())?;
        Some(callback.leaf(leaf, device, operands, shape))
    }
    /// Returns a leaf of the region's value, for this leaf of the results of all devices, whose elements
    /// may be of another type; nothing if the values of devices are added.
    pub fn assembled(&self, leaf: usize, devices: &[&Literal]) -> Option<Literal> {
        let mut first = 0;
        for output in &self.outputs {
            let count = match &output.form {
                OutputForm::Global(_) => 1,
                OutputForm::PerDevice(shape) => shape.leaves().len(),
            };
            if leaf < first + count {
                let adds = output.tiles().is_some_and(Tiles::is_sum);
                return (!adds).then(|| output.value(devices, &mut Vec::new()));
            }
            first += count;
        }
        None
    }
    /// Runs the region on the global values that it reads. Returns the tuple of its outputs, and
    /// where devices diverge.
    ///
    /// # Errors
    /// As [`Session::run`](crate::Session::run).
    pub(super) fn run(
        &self,
        inputs: Vec<Literal>,
        options: &RunOptions,
        hooks: &DeviceHooks,
        ranks: Option<&Ranks>,
    ) -> Result<(Literal, Vec<Divergence>)> {
        let grid = DeviceGrid { replicas: 1, partitions: self.devices };
        let (callbacks, outer) = (Arc::clone(&self.callbacks), Arc::clone(hooks));
        let hooks: DeviceHooks = Arc::new(move |device: Device| {
            let number = device.partition;
            let mut hooks = outer(device);
            for i in 0..callbacks.len() {
                let callbacks = Arc::clone(&callbacks);
                hooks = hooks.custom_call(callback_target(i), move |call| {
                    Ok(callbacks[i].run(number, call.operands, call.shape))
                });
            }
            hooks
        });
        let run = DeviceRun { executable: &self.executable, grid, options, hooks: &hooks, ranks };
        let (mut results, _) = run.finish(vec![inputs])?;
        if let Some(ranks) = ranks.filter(|ranks| ranks.count() > 1) {
            // The outer program runs on all ranks.
            results = ranks.gather_values(&results)?;
        }
        let mut divergences = Vec::new();
        let outputs = self.outputs.iter().enumerate().map(|(i, output)| {
            let shards: Vec<&Literal> =
                results.iter().filter_map(|result| result.elements()?.get(i)).collect();
            output.value(&shards, &mut divergences)
        });
        let outputs = Literal::tuple(outputs.collect());
        Ok((outputs, divergences))
    }
}

impl Output {
    /// Returns the shape of the value in the outer program.
    pub(super) fn shape(&self, devices: usize) -> Result<Shape> {
        match &self.form {
            OutputForm::Global(value) => Ok(value.global.clone()),
            OutputForm::PerDevice(shape) => stacked_shape(shape, devices),
        }
    }
    /// Returns whether it is for a later region.
    pub(super) fn is_per_device(&self) -> bool {
        matches!(self.form, OutputForm::PerDevice(_))
    }
    fn tiles(&self) -> Option<&Tiles> {
        match &self.form {
            OutputForm::Global(value) => value.tiles.as_ref(),
            OutputForm::PerDevice(_) => None,
        }
    }
    fn value(&self, shards: &[&Literal], divergences: &mut Vec<Divergence>) -> Literal {
        let value = match &self.form {
            OutputForm::Global(value) => value,
            OutputForm::PerDevice(_) => return stack(shards),
        };
        let (Some(tiles), Shape::Array(global)) = (&value.tiles, &value.global) else {
            return Literal::token();
        };
        let all: Vec<usize> = (0..shards.len()).collect();
        let (array, unequal) = tiles.assemble(&all, shards, global);
        divergences.extend(unequal.into_iter().map(|Unequal { first, others, distance }| {
            Divergence {
                instruction: self.name.clone(),
                span: self.span,
                device: first,
                others,
                distance,
            }
        }));
        array
    }
}
