//! A manual region as a module that each of its devices runs.
//!
//! Its parameters are the global values it reads, the same for all devices. Where the program cuts a value the module calls
//! back, and gets the device's shard. Its result is what is put together after all devices have ended.
//!
//! A region inside a region is run by the same devices: a cut is a cut of each device's own array; what puts shards together
//! becomes an `all-gather` of those that differ along its axes, and a call that puts the blocks where they belong.
use super::calls::{called, reached};
use super::draft::{self, Draft};
use super::marker::{self, Kind, Marker, Value};
use super::placement::Unequal;
use super::shardy::Meshes;
use super::stages::Stages;
use crate::{Code, Error, Result, World};
use hlo::ir::{Computation, ComputationId, InstructionId};
use hlo::op::{AllGather, Reshape};
use hlo::{ArrayShape, Literal, Module, Shape, Span, Verified};
use interp::{Call, Device, Grid, Hooks, Options};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A manual region.
#[derive(Debug)]
pub(super) struct Region {
    verified: Verified,
    devices: usize,
    /// What its custom calls do; the target of number `i` is `target(i)`.
    steps: Arc<Vec<Step>>,
    outputs: Vec<Output>,
}

/// A value that comes out of a region.
#[derive(Debug)]
pub(super) struct Output {
    /// The instruction whose value it is.
    pub(super) id: InstructionId,
    /// Its name and its place in the text.
    name: String,
    span: Span,
    /// What becomes of the values of the devices.
    exit: Exit,
}

/// How the values of all devices become one value.
#[derive(Debug)]
enum Exit {
    /// They are put together.
    Joined(Value),
    /// They are kept one after another, for a later region.
    Stacked(Shape),
}

/// What a custom call in a region does.
#[derive(Debug)]
enum Step {
    /// Gives the device its shards.
    Cut(Vec<Value>),
    /// Puts the shards of the device's group together, which stand one after another.
    Join(Box<Value>),
    /// Gives the device its own of values that stand one after another.
    Own,
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

/// The name by which a region calls step `i`.
fn target(i: usize) -> String {
    format!("etalon.spmd.{i}")
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

impl Step {
    fn run(&self, device: usize, call: &Call<'_>) -> Literal {
        match self {
            Self::Cut(values) => {
                let cut = |(value, operand): (&Value, &&Literal)| match (&value.tiles, &value.local)
                {
                    (Some(tiles), Shape::Array(local)) => tiles.cut(device, operand, local),
                    _ => (*operand).clone(),
                };
                let mut shards: Vec<Literal> = values.iter().zip(call.operands).map(cut).collect();
                match (call.shape, shards.as_slice()) {
                    (Shape::Tuple(_), _) | (_, []) => Literal::tuple(shards),
                    _ => shards.swap_remove(0),
                }
            }
            Self::Join(value) => {
                let Value {
                    tiles: Some(tiles),
                    global: Shape::Array(global),
                    local: Shape::Array(local),
                } = value.as_ref()
                else {
                    return Literal::token();
                };
                let group = tiles.groups().iter().find(|group| group.contains(&device));
                let blocks: Vec<Literal> =
                    call.operands.iter().flat_map(|b| rows(b, local)).collect();
                let group = group.map(Vec::as_slice).unwrap_or_default();
                let blocks: Vec<&Literal> = blocks.iter().collect();
                // Devices that do not agree are told of where the value leaves the outermost region.
                tiles.put(group, &blocks, global).0
            }
            Self::Own => call
                .operands
                .first()
                .map_or_else(Literal::token, |all| own(all, call.shape, device)),
        }
    }
}

/// The blocks of shape `local` that stand one after another in an array.
fn rows(array: &Literal, local: &ArrayShape) -> Vec<Literal> {
    let shape = ArrayShape::new(local.ty, local.dims.clone());
    let count = array.array_shape().and_then(|whole| whole.dims.first().copied());
    let count = usize::try_from(count.unwrap_or(0)).unwrap_or(0);
    let length = array.bytes().len() / count.max(1);
    let block = |i| array.bytes().get(i * length..(i + 1) * length);
    (0..count).filter_map(|i| Literal::from_bytes(shape.clone(), block(i)?)).collect()
}

/// The shape of the values of all devices one after another.
fn stacked_shape(shape: &Shape, devices: usize) -> Result<Shape> {
    match shape {
        Shape::Array(array) if array.dynamic.is_none() => {
            let mut dims = array.dims.clone();
            dims.insert(0, i64::try_from(devices).unwrap_or(i64::MAX));
            Ok(ArrayShape::new(array.ty, dims).into())
        }
        Shape::Tuple(parts) => {
            let parts = parts.iter().map(|part| stacked_shape(part, devices));
            Ok(Shape::Tuple(parts.collect::<Result<_>>()?))
        }
        Shape::Token => Ok(Shape::Token),
        Shape::Array(_) | Shape::Opaque | Shape::Buffer(_) => {
            let message = format!("{shape:#} cannot be kept from one manual region to another");
            Err(Code::Unsupported { message }.into())
        }
    }
}

/// The values of all devices one after another.
fn stacked(values: &[&Literal]) -> Literal {
    let Some(first) = values.first() else { return Literal::token() };
    if let Some(parts) = first.elements() {
        let part = |i| {
            let parts: Vec<&Literal> =
                values.iter().filter_map(|value| value.elements()?.get(i)).collect();
            stacked(&parts)
        };
        return Literal::tuple((0..parts.len()).map(part).collect());
    }
    let shape = stacked_shape(&first.shape(), values.len()).ok();
    let Some(Shape::Array(shape)) = shape else { return Literal::token() };
    let mut all = Literal::zeros(shape);
    let length = first.bytes().len();
    for (value, slot) in values.iter().zip(all.bytes_mut().chunks_exact_mut(length.max(1))) {
        slot.copy_from_slice(value.bytes());
    }
    all
}

/// A device's own of values that stand one after another.
fn own(all: &Literal, shape: &Shape, device: usize) -> Literal {
    match shape {
        Shape::Array(array) => {
            let blocks = rows(all, array);
            blocks.into_iter().nth(device).unwrap_or_else(|| Literal::zeros(array.clone()))
        }
        Shape::Tuple(parts) => {
            let all = all.elements().unwrap_or_default();
            Literal::tuple(all.iter().zip(parts).map(|(a, s)| own(a, s, device)).collect())
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => all.clone(),
    }
}

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
            let span = computation.spans.get(id).copied().unwrap_or_default().body;
            return Err(Error::from(Code::Unsupported { message }).placed(span));
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
    let name = format!("{}/{}", computation.name, computation.names[id]);
    let span = computation.spans.get(id).copied().unwrap_or_default().body;
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
