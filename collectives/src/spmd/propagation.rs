//! The shardings of values that the program leaves open.
//!
//! XLA's partitioner propagates shardings through the program. Here they follow the data flow once,
//! from the arguments to the results, and only determine how results are divided: no value depends
//! on them. Where an op moves a dimension is what its shape rule says about a dimension of unknown
//! size.
use super::division::{Dims, Division, divide, of_tiles, reshaped, sharding};
use super::marker::{self, Marker, MarkerKind};
use super::placement::Tiles;
use super::shardy::{self, Meshes};
use hlo::id::SecondaryMap;
use hlo::ir::{Computation, ComputationId, DeviceSharding, Instruction, InstructionId, Placement};
use hlo::op::{Kind, Scatter};
use hlo::{ArrayShape, Module, Op, Shape};
use std::collections::BTreeMap;

/// The most calls within calls that are followed.
const MAX_DEPTH: usize = 64;

/// The divisions of the leaves of a value.
type Value = Vec<Dims>;
type InstructionValues = SecondaryMap<Instruction, Value>;

/// Returns the sharding of each leaf of the program's result; nothing for one that the program
/// states.
pub(super) fn results(module: &Module, devices: usize) -> Vec<Option<DeviceSharding>> {
    let meshes = Meshes::of(module.config.frontend_attributes.as_ref()).unwrap_or_default();
    let entry = module.entry();
    let root = &entry.instructions[entry.root];
    let leaves = root.shape.leaves();
    let is_open: Vec<bool> = (0..leaves.len()).map(|i| !is_closed(root, i)).collect();
    if !is_open.contains(&true) {
        return vec![None; leaves.len()];
    }
    let mut propagation = Propagation { module, meshes, devices, known: BTreeMap::new(), depth: 0 };
    let value = propagation.result(module.entry, Vec::new());
    let of = |((dims, leaf), is_open): ((&Dims, &Shape), bool)| {
        let array = leaf.array().filter(|_| is_open)?;
        Some(sharding(dims, array, &propagation.meshes, devices))
    };
    value.iter().zip(leaves).zip(is_open).map(of).collect()
}

/// Returns whether the program states the sharding of a leaf of its result. An annotation states
/// that of a value, and may leave dimensions open or divide them unevenly.
fn is_closed(root: &Instruction, leaf: usize) -> bool {
    let stated = marker::sharding(root, leaf);
    stated.is_some_and(|stated| {
        stated.placement != Placement::Unknown
            && (marker::is_unreduced(stated) || !is_annotation(&root.op))
    })
}
fn is_annotation(op: &Op) -> bool {
    matches!(op, Op::CustomCall(call) if call.custom_call_target.0 == "Sharding")
}
/// Returns which dimensions of a leaf may be divided further than the instruction states.
fn open_dims(instruction: &Instruction, leaf: usize, meshes: &Meshes) -> Vec<bool> {
    const NAME: &str = "xla.sdy.sharding";
    let text = marker::attribute(instruction, NAME);
    let all = text.and_then(|text| shardy::shardings(NAME, text, meshes).ok());
    all.and_then(|all| Some(all.into_iter().nth(leaf)?.open)).unwrap_or_default()
}

struct Propagation<'m> {
    module: &'m Module,
    meshes: Meshes,
    devices: usize,
    /// The results of computations for arguments of these divisions.
    known: BTreeMap<(ComputationId, Vec<Value>), Value>,
    depth: usize,
}

impl Propagation<'_> {
    /// Returns the divisions of a computation's result.
    fn result(&mut self, id: ComputationId, arguments: Vec<Value>) -> Value {
        let computation = &self.module.computations[id];
        let key = (id, arguments);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if self.depth == MAX_DEPTH {
            return undivided(&computation.instructions[computation.root].shape);
        }
        self.depth += 1;
        let groups = groups(computation);
        let mut alike = BTreeMap::new();
        let mut values = self.values(computation, &key.1, &alike);
        // What one group gives to its values, another one may have to take from them.
        for _ in 0..groups.len() {
            let found = shared(&groups, &values);
            if found == alike {
                break;
            }
            alike = found;
            values = self.values(computation, &key.1, &alike);
        }
        self.depth -= 1;
        let result = values[computation.root].clone();
        self.known.insert(key, result.clone());
        result
    }
    /// Returns the divisions of all values of a computation. Those of values that are sharded like
    /// others may be divided as these, unless the program states otherwise.
    fn values(
        &mut self,
        computation: &Computation,
        arguments: &[Value],
        alike: &BTreeMap<InstructionId, Dims>,
    ) -> InstructionValues {
        let mut values = InstructionValues::default();
        for (id, instruction) in computation.instructions.iter() {
            let mut value = self.value(computation, id, &values, arguments);
            if let (Some(dims), [own]) = (alike.get(&id), value.as_mut_slice()) {
                fill(own, dims);
            }
            for (leaf, dims) in value.iter_mut().enumerate() {
                self.constrain(instruction, leaf, dims);
            }
            values.push(value);
        }
        values
    }
    /// Replaces the divisions of a leaf by those that the instruction states. Open dimensions may
    /// be divided further.
    fn constrain(&self, instruction: &Instruction, leaf: usize, dims: &mut Dims) {
        let Some(stated) = marker::sharding(instruction, leaf) else { return };
        let Ok(tiles) = Tiles::of(stated, dims.len(), self.devices) else { return };
        let found = std::mem::replace(dims, of_tiles(&tiles));
        let open = open_dims(instruction, leaf, &self.meshes);
        for (dim, division) in found.iter().enumerate() {
            if let (Some(division), Some(true)) = (division, open.get(dim)) {
                divide(dims, dim, division, true);
            }
        }
    }

    /// Returns the divisions of an instruction's value that follow from its operands.
    fn value(
        &mut self,
        computation: &Computation,
        id: InstructionId,
        values: &InstructionValues,
        arguments: &[Value],
    ) -> Value {
        let instruction = &computation.instructions[id];
        let operands = instruction.operands.iter().map(|&operand| &values[operand]);
        let found = match instruction.opcode().kind() {
            Kind::Array => return self.array(computation, instruction, values),
            Kind::Control => self.called(&instruction.op, operands.cloned().collect()),
            Kind::Custom => self.custom(computation, id, values),
            Kind::Value => forwarded(computation, instruction, values, arguments),
            Kind::Asynchronous
            | Kind::Collective
            | Kind::Transfer
            | Kind::Host
            | Kind::Device
            | Kind::Random => None,
        };
        let fits = |found: &Value| {
            let leaves = instruction.shape.leaves();
            found.len() == leaves.len()
                && found.iter().zip(leaves).all(|(dims, leaf)| dims.len() == rank(leaf))
        };
        found.filter(fits).unwrap_or_else(|| undivided(&instruction.shape))
    }

    /// Returns the divisions that the operands of an op over arrays give its result.
    fn array(
        &self,
        computation: &Computation,
        instruction: &Instruction,
        values: &InstructionValues,
    ) -> Value {
        let mut result = undivided(&instruction.shape);
        let shape = |id: InstructionId| computation.instructions[id].shape.array();
        if let (Op::Reshape(_), Some(to)) = (&instruction.op, instruction.shape.array()) {
            let from = instruction.operands[0];
            if let Some(shape) = shape(from) {
                result[0] = reshaped(&values[from][0], &shape.dims, &to.dims);
            }
            return result;
        }
        // A broadcast is divided as the value that it is combined with.
        let is_broadcast =
            |id: InstructionId| matches!(computation.instructions[id].op, Op::Broadcast(_));
        let mut operands: Vec<(usize, InstructionId)> =
            instruction.operands.iter().copied().enumerate().collect();
        operands.sort_by_key(|&(_, id)| is_broadcast(id));
        for (number, id) in operands {
            for (dim, division) in values[id].iter().flatten().enumerate() {
                let Some(division) = division else { continue };
                for (leaf, to) in self.moved(computation, instruction, number, dim) {
                    divide(&mut result[leaf], to, division, is_broadcast(id));
                }
            }
        }
        unify(&mut result, &instruction.shape);
        result
    }
    /// Returns the dimensions of the result, with the leaf of each, that a dimension of an operand
    /// becomes.
    fn moved(
        &self,
        computation: &Computation,
        instruction: &Instruction,
        number: usize,
        dim: usize,
    ) -> Vec<(usize, usize)> {
        let op = &instruction.op;
        let shape = |number: usize| {
            let operand = instruction.operands.get(number)?;
            computation.instructions[*operand].shape.array()
        };
        let to = |dim: i64| -> Vec<(usize, usize)> {
            usize::try_from(dim).map(|dim| (0, dim)).into_iter().collect()
        };
        if op.opcode().is_elementwise() {
            let is_whole = shape(number).map(ArrayShape::rank) == Some(rank(&instruction.shape));
            return is_whole.then_some((0, dim)).into_iter().collect();
        }
        if let Op::Broadcast(broadcast) = op {
            return broadcast.dimensions.get(dim).map_or_else(Vec::new, |&dim| to(dim));
        }
        // A part of a dimension is divided along the same axes.
        if let (Op::Slice(_) | Op::DynamicSlice(_), 0) = (op, number) {
            return vec![(0, dim)];
        }
        if let (Op::DynamicUpdateSlice(_), 1, Some(whole), Some(update)) =
            (op, number, shape(0), shape(1))
        {
            let is_whole = whole.dims.get(dim) == update.dims.get(dim);
            return is_whole.then_some((0, dim)).into_iter().collect();
        }
        // The batch dimensions of both operands come first. The shape rule takes those of the left
        // one.
        if let (Op::Dot(dot), 1) = (op, number)
            && let Some(at) = dot.rhs_batch_dims.iter().position(|&d| usize::try_from(d) == Ok(dim))
        {
            return vec![(0, at)];
        }
        if let Op::Scatter(scatter) = op
            && number > instruction.operands.len() / 2
        {
            return window_dim(scatter, dim).map_or_else(Vec::new, to);
        }
        self.followed(computation, instruction, number, dim)
    }
    /// Returns the dimensions of the result that have an unknown size if a dimension of an operand
    /// has one.
    fn followed(
        &self,
        computation: &Computation,
        instruction: &Instruction,
        number: usize,
        dim: usize,
    ) -> Vec<(usize, usize)> {
        let mut shapes: Vec<Shape> = instruction
            .operands
            .iter()
            .map(|&o| computation.instructions[o].shape.clone())
            .collect();
        for (i, shape) in shapes.iter_mut().enumerate() {
            let Shape::Array(array) = shape else { continue };
            let flags = (0..array.rank()).map(|d| (i, d) == (number, dim)).collect();
            array.dynamic = (i == number).then_some(flags);
        }
        let shapes: Vec<&Shape> = shapes.iter().collect();
        let shape = instruction.op.shape(&shapes, Some(&instruction.shape), self.module);
        let shape = shape.unwrap_or_else(|_| Shape::Tuple(Vec::new()));
        let leaves = shape.leaves().into_iter().enumerate();
        let dims = |(leaf, shape): (usize, &Shape)| {
            let array = shape.array().filter(|array| array.dynamic.is_some()).cloned();
            array.into_iter().flat_map(move |array| {
                (0..array.rank()).filter(move |&d| array.is_dynamic(d)).map(move |d| (leaf, d))
            })
        };
        leaves.flat_map(dims).collect()
    }

    /// Returns the divisions of the result of the computations that an op calls.
    fn called(&mut self, op: &Op, mut operands: Vec<Value>) -> Option<Value> {
        if let Op::Call(call) = op {
            return Some(self.result(call.to_apply, operands));
        }
        if let Op::Fusion(fusion) = op {
            return Some(self.result(fusion.calls, operands));
        }
        if let Op::Conditional(choice) = op {
            let pairs = choice.branches.iter().zip(operands.drain(..).skip(1));
            let results: Vec<Value> =
                pairs.map(|(&branch, operand)| self.result(branch, vec![operand])).collect();
            return results.into_iter().reduce(|all, other| joined(all, &other, false));
        }
        if let Op::While(repeat) = op {
            let mut state = operands.pop()?;
            loop {
                let next = self.result(repeat.body, vec![state.clone()]);
                let next = joined(state.clone(), &next, true);
                if next == state {
                    return Some(state);
                }
                state = next;
            }
        }
        None
    }

    fn custom(
        &self,
        computation: &Computation,
        id: InstructionId,
        values: &InstructionValues,
    ) -> Option<Value> {
        let instruction = &computation.instructions[id];
        let operands = instruction.operands.iter().map(|&operand| &values[operand]);
        let Some(kind) = marker::kind(&instruction.op) else {
            return is_annotation(&instruction.op).then(|| operands.flatten().cloned().collect());
        };
        let marker = Marker::read(computation, id, &self.meshes).ok()??;
        let sharded = marker.values(computation, id, self.devices).ok()?;
        let dims = sharded.iter().zip(operands).map(|(value, operand)| {
            match (&value.tiles, operand.first()) {
                (Some(tiles), Some(dims)) => crossed(kind, tiles, dims),
                _ => Dims::new(),
            }
        });
        Some(dims.collect())
    }
}

/// Returns the values of each group that is sharded alike.
fn groups(computation: &Computation) -> BTreeMap<&str, Vec<InstructionId>> {
    let mut groups: BTreeMap<&str, Vec<InstructionId>> = BTreeMap::new();
    for (_, instruction) in computation.instructions.iter() {
        let is_group = matches!(&instruction.op, Op::CustomCall(call) if call.custom_call_target.0 == "xla.sdy.ShardingGroup");
        let number = marker::attribute(instruction, "xla.sdy.sharding_group_id");
        if let (true, Some(number), [operand]) = (is_group, number, &*instruction.operands) {
            groups.entry(number).or_default().push(*operand);
        }
    }
    groups
}
/// Returns the divisions that the values of each group have together.
fn shared(
    groups: &BTreeMap<&str, Vec<InstructionId>>,
    values: &InstructionValues,
) -> BTreeMap<InstructionId, Dims> {
    let mut found = BTreeMap::new();
    for members in groups.values() {
        let mut parts = members.iter().filter_map(|&id| values[id].first());
        let Some(mut all) = parts.next().cloned() else { continue };
        parts.for_each(|dims| fill(&mut all, dims));
        found.extend(members.iter().map(|&id| (id, all.clone())));
    }
    found
}
/// Divides dimensions further, as those of another value are.
fn fill(dims: &mut Dims, other: &Dims) {
    for (dim, division) in other.iter().enumerate() {
        if let Some(division) = division {
            divide(dims, dim, division, true);
        }
    }
}

fn rank(shape: &Shape) -> usize {
    shape.array().map_or(0, ArrayShape::rank)
}
fn undivided(shape: &Shape) -> Value {
    shape.leaves().into_iter().map(|leaf| vec![None; rank(leaf)]).collect()
}
/// Divides the dimensions of an array as those of another.
fn join(dims: &mut Dims, other: &Dims, yields: bool) {
    for (dim, division) in other.iter().enumerate() {
        if let Some(division) = division {
            divide(dims, dim, division, yields);
        }
    }
}
/// Divides the leaves of a value as those of another.
fn joined(mut value: Value, other: &Value, yields: bool) -> Value {
    for (dims, other) in value.iter_mut().zip(other) {
        join(dims, other, yields);
    }
    value
}
/// Divides the results of an op alike if they have the same dimensions, as those of `sort`.
fn unify(value: &mut Value, shape: &Shape) {
    let leaves = shape.leaves();
    let dims = |leaf: &Shape| leaf.array().map(|array| array.dims.clone());
    let Some((first, rest)) = value.split_first_mut() else { return };
    if leaves.iter().any(|leaf| dims(leaf) != dims(leaves[0])) {
        return;
    }
    for other in rest.iter() {
        join(first, other, true);
    }
    for other in rest {
        other.clone_from(first);
    }
}
/// Returns the dimension of the operand that a dimension of a window of updates is.
fn window_dim(scatter: &Scatter, dim: usize) -> Option<i64> {
    let at = scatter.update_window_dims.iter().position(|&d| usize::try_from(d) == Ok(dim))?;
    let inserted = |d: &i64| {
        scatter.inserted_window_dims.contains(d) || scatter.input_batching_dims.contains(d)
    };
    (0i64..).filter(|d| !inserted(d)).nth(at)
}

/// Returns the divisions of a value that an instruction forwards.
fn forwarded(
    computation: &Computation,
    instruction: &Instruction,
    values: &InstructionValues,
    arguments: &[Value],
) -> Option<Value> {
    let operands = instruction.operands.iter().map(|&operand| &values[operand]);
    if instruction.opcode().aliases_operand() {
        return operands.into_iter().next().cloned();
    }
    if let Op::Tuple(_) = &instruction.op {
        return Some(operands.flatten().cloned().collect());
    }
    if let Op::Parameter(parameter) = &instruction.op {
        return arguments.get(usize::try_from(parameter.number).ok()?).cloned();
    }
    if let Op::GetTupleElement(get) = &instruction.op {
        let tuple = *instruction.operands.first()?;
        let parts = computation.instructions[tuple].shape.tuple()?;
        let index = usize::try_from(get.index).ok()?;
        let skipped = parts.iter().take(index).map(|part| part.leaves().len()).sum();
        let count = instruction.shape.leaves().len();
        return Some(values[tuple].iter().skip(skipped).take(count).cloned().collect());
    }
    None
}

/// Returns the divisions of a value at the boundary of a manual region: of its shards along the
/// axes that are not manual, or of the array along these and the manual ones.
fn crossed(kind: MarkerKind, tiles: &Tiles, dims: &Dims) -> Dims {
    let manual = of_tiles(tiles);
    let pairs = manual.into_iter().zip(dims.iter().cloned());
    match kind {
        MarkerKind::FullToShard => {
            let inner = |(manual, division): (Option<Division>, Option<Division>)| {
                let (Some(manual), Some(division)) = (&manual, &division) else { return division };
                let count = division.count() / manual.count();
                let agrees = division.major(manual.count()).as_ref() == Some(manual);
                if agrees { division.minor(count) } else { None }
            };
            let automatic = |division: &Division| division.is_constant_in(tiles.groups());
            pairs.map(inner).map(|division| division.filter(automatic)).collect()
        }
        MarkerKind::ShardToFull => {
            let nested = pairs.map(|(manual, division)| Division::nested(manual, division));
            let mut dims = of_tiles(tiles);
            join(&mut dims, &nested.collect(), true);
            dims
        }
    }
}
