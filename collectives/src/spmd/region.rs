//! A manual region as a module that each of its devices runs.
//!
//! Its parameters are the global values it reads, the same for all devices. Where the program cuts a value the module calls
//! back, and gets the device's shard. Its result is what is put together after all devices have ended.
use super::marker::Value;
use super::placement::Unequal;
use super::step::{Step, stacked, stacked_shape, target};
use crate::{Result, World};
use hlo::ir::InstructionId;
use hlo::{Literal, Shape, Span, Verified};
use interp::{Device, Grid, Hooks, Options};
use std::sync::Arc;

/// A manual region.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) verified: Verified,
    pub(super) devices: usize,
    /// What its custom calls do; the target of number `i` is `target(i)`.
    pub(super) steps: Arc<Vec<Step>>,
    pub(super) outputs: Vec<Output>,
}

/// A value that comes out of a region.
#[derive(Debug)]
pub(super) struct Output {
    /// The instruction whose value it is.
    pub(super) id: InstructionId,
    /// Its name and its place in the text.
    pub(super) name: String,
    pub(super) span: Span,
    /// What becomes of the values of the devices.
    pub(super) exit: Exit,
}

/// How the values of all devices become one value.
#[derive(Debug)]
pub(super) enum Exit {
    /// They are put together.
    Joined(Value),
    /// They are kept one after another, for a later region.
    Stacked(Shape),
}

/// Devices that should have equal values, and do not.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// The instruction that puts shards together.
    pub instruction: String,
    /// Where it stands in the text.
    pub span: Span,
    /// The device whose value was taken.
    pub taken: usize,
    /// Those whose values differ from it.
    pub others: Vec<usize>,
    /// The largest distance of two elements; infinite if one of them is no number.
    pub distance: f64,
}

impl Region {
    /// Runs it on the global values it reads: what comes out of it, as a tuple, and what devices do not agree on.
    ///
    /// # Errors
    /// As [`World::run`].
    pub(super) fn run(
        &self,
        inputs: Vec<Literal>,
        options: Options,
        hooks: &Arc<dyn Fn(Device) -> Hooks + Send + Sync>,
    ) -> Result<(Literal, Vec<Note>)> {
        let grid = Grid { replicas: 1, partitions: self.devices };
        let (steps, outer) = (Arc::clone(&self.steps), Arc::clone(hooks));
        let hooks = move |device: Device| {
            let number = device.partition;
            let mut hooks = outer(device);
            for i in 0..steps.len() {
                let steps = Arc::clone(&steps);
                hooks = hooks.custom_call(target(i), move |call| Ok(steps[i].run(number, call)));
            }
            hooks
        };
        let world =
            World::new(&self.verified).with_grid(grid).with_options(options).with_hooks(hooks);
        let results = world.run(&[inputs])?;
        let mut notes = Vec::new();
        let outputs = self.outputs.iter().enumerate().map(|(i, output)| {
            let shards: Vec<&Literal> =
                results.iter().filter_map(|result| result.elements()?.get(i)).collect();
            output.value(&shards, &mut notes)
        });
        let outputs = Literal::tuple(outputs.collect());
        Ok((outputs, notes))
    }
    /// What comes out of it.
    pub(super) fn outputs(&self) -> &[Output] {
        &self.outputs
    }
}

impl Output {
    /// The shape of what comes out.
    pub(super) fn shape(&self, devices: usize) -> Result<Shape> {
        match &self.exit {
            Exit::Joined(value) => Ok(value.global.clone()),
            Exit::Stacked(shape) => stacked_shape(shape, devices),
        }
    }
    /// Whether it is kept for a later region.
    pub(super) fn is_stacked(&self) -> bool {
        matches!(self.exit, Exit::Stacked(_))
    }
    fn value(&self, shards: &[&Literal], notes: &mut Vec<Note>) -> Literal {
        let value = match &self.exit {
            Exit::Joined(value) => value,
            Exit::Stacked(_) => return stacked(shards),
        };
        let (Some(tiles), Shape::Array(global)) = (&value.tiles, &value.global) else {
            return Literal::token();
        };
        let all: Vec<usize> = (0..shards.len()).collect();
        let (array, unequal) = tiles.put(&all, shards, global);
        notes.extend(unequal.into_iter().map(|Unequal { first, others, distance }| Note {
            instruction: self.name.clone(),
            span: self.span,
            taken: first,
            others,
            distance,
        }));
        array
    }
}
