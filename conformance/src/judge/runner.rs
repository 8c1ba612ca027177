//! Runs single instructions on the engine, on arrays of other element types than the module states.
use collectives::Session;
use hlo::id::Arena;
use hlo::ir::{
    CommonAttrs, Computation, ComputationId, Instruction, InstructionId, InstructionSpans,
};
use hlo::op::{
    AllGatherDone, AllReduceDone, AsyncRole, Binary, CollectivePermuteDone, Op, Parameter,
};
use hlo::{ElementType, Literal, Module, Opcode, Shape, Verified};
use interp::{CompileOptions, Executable, RunOptions};
use std::collections::HashMap;

use super::Stop;
use super::range::wide;

/// An instruction and the form in which it runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) computation: ComputationId,
    pub(super) instruction: InstructionId,
    pub(super) form: Form,
}

/// How the types and the called computation of an instruction are replaced.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// As it is.
    Stated,
    /// With `f64` for floats, and `c128` for complex numbers, in the computations that it calls,
    /// too.
    Wide,
    /// This leaf of the result, with `f64` for all numbers, and this op of two `f64` for the
    /// computation that it calls.
    Fold(Binary, usize),
    /// With `f64` for all numbers; it calls nothing.
    Real,
    /// With the dimensions of a vector.
    Vector(i64),
    /// A sort of one more operand, the positions of the elements.
    WithPositions,
}

/// Compiled instructions.
#[derive(Debug, Default)]
pub(super) struct Runner {
    compiled: HashMap<Key, Executable>,
    /// Those that run on all devices together.
    sessions: HashMap<Key, Session>,
}

impl Runner {
    /// Runs an instruction on these operands.
    pub(super) fn run(
        &mut self,
        module: &Module,
        key: &Key,
        operands: &[Literal],
    ) -> Result<Literal, Stop> {
        if !self.compiled.contains_key(key) {
            let verified = built(module, key)?;
            let executable = Executable::compile(verified, &CompileOptions::default())
                .map_err(|error| Stop::new(module, key, &error.to_string()))?;
            self.compiled.insert(key.clone(), executable);
        }
        let executable = &self.compiled[key];
        executable
            .execute(operands, &RunOptions::default())
            .map_err(|error| Stop::new(module, key, &error.to_string()))
    }
}

impl Runner {
    /// Runs an instruction on all devices together, on the operands of each.
    pub(super) fn run_all(
        &mut self,
        module: &Module,
        key: &Key,
        operands: &[Vec<Literal>],
    ) -> Result<Vec<Literal>, Stop> {
        if !self.sessions.contains_key(key) {
            let verified = built(module, key)?;
            let session = Session::compile(verified, &CompileOptions::default())
                .map_err(|error| Stop::new(module, key, &error.to_string()))?;
            self.sessions.insert(key.clone(), session);
        }
        let output = self.sessions[key].run(operands, &RunOptions::default());
        output
            .map(|output| output.results)
            .map_err(|error| Stop::new(module, key, &error.to_string()))
    }
}

fn built(module: &Module, key: &Key) -> Result<Verified, Stop> {
    build(module, key).verify().map_err(|errors| {
        let first = errors.0.first().map(ToString::to_string).unwrap_or_default();
        Stop::new(module, key, &first)
    })
}

/// Returns the shape with other element types.
fn retyped(shape: &Shape, form: &Form) -> Shape {
    match shape {
        Shape::Array(array) => {
            let ty = match form {
                Form::Stated | Form::Vector(_) | Form::WithPositions => array.ty,
                Form::Wide => wide(array.ty),
                Form::Fold(..) | Form::Real => {
                    let number = array.ty.is_float() || array.ty.is_complex();
                    if number { ElementType::F64 } else { array.ty }
                }
            };
            let mut array = array.with_type(ty);
            if let Form::Vector(lanes) = form {
                array = hlo::ArrayShape::new(ty, [*lanes].as_slice());
            }
            array.into()
        }
        Shape::Tuple(shapes) => Shape::Tuple(shapes.iter().map(|s| retyped(s, form)).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

/// Returns a module whose entry is the instruction alone.
fn build(module: &Module, key: &Key) -> Module {
    let source = &module.computations[key.computation];
    let instruction = &source.instructions[key.instruction];
    let mut op = instruction.op.clone();
    if !matches!(key.form, Form::Stated) {
        without_algorithm(&mut op);
    }
    let mut computations = Arena::default();
    match &key.form {
        Form::Fold(binary, _) => synthetic(&mut computations, &mut op, *binary),
        Form::Stated | Form::Wide | Form::Real | Form::Vector(_) | Form::WithPositions => {
            copy_callees(module, &mut op, &key.form, &mut computations);
        }
    }
    let mut entry = Computation::new("entry");
    let shapes = instruction.operands.iter().map(|&id| &source.instructions[id].shape);
    let mut shapes: Vec<Shape> = shapes.map(|shape| retyped(shape, &key.form)).collect();
    let mut shape = retyped(&instruction.shape, &key.form);
    if let (Form::Fold(_, leaf), Some(leaves)) = (&key.form, shape.clone().tuple()) {
        shapes = of_leaf(&shapes, leaves.len(), *leaf);
        shape = leaves[*leaf].clone();
    }
    if key.form == Form::WithPositions {
        shapes.extend(positions(&mut computations, &shapes));
        shape = Shape::Tuple(shapes.clone());
    }
    let operands =
        (0..).zip(shapes).map(|(number, shape)| parameter(&mut entry, number, shape)).collect();
    // What a custom call computes is in its configuration, too.
    let config = instruction.common.as_deref().and_then(|common| common.backend_config.clone());
    let config = config.filter(|_| matches!(op, Op::CustomCall(_)));
    let common = config.map(|config| {
        Box::new(CommonAttrs { backend_config: Some(config), ..CommonAttrs::default() })
    });
    let root = Instruction { op, shape, operands, common };
    entry.root = entry.push(root, "root".into(), InstructionSpans::default());
    if let Some(op) = done(instruction.opcode()) {
        let started = &entry.instructions[entry.root].shape;
        let pair = started.tuple().filter(|_| op.opcode() != Opcode::AllReduceDone);
        let shape = pair.and_then(|pair| pair.get(1)).unwrap_or(started).clone();
        let done = Instruction::new(op, shape, [entry.root]);
        entry.root = entry.push(done, "done".into(), InstructionSpans::default());
    }
    let entry = computations.push(entry);
    let mut built = Module::new("instruction", computations, entry);
    built.config.replica_count = module.config.replica_count;
    built.config.num_partitions = module.config.num_partitions;
    built
}

/// Products of other types have no algorithm.
fn without_algorithm(op: &mut Op) {
    use hlo::op::value::DotAlgorithm::Unset;
    if let Op::Dot(dot) = op {
        dot.algorithm = Unset;
    } else if let Op::Convolution(convolution) = op {
        convolution.algorithm = Unset;
    } else if let Op::ScaledDot(dot) = op {
        dot.algorithm = Unset;
    }
}

/// Returns the op that ends the operation which another one starts.
fn done(start: Opcode) -> Option<Op> {
    let AsyncRole::Start(Some(started)) = start.async_role()? else { return None };
    let ends = [
        (Opcode::AllGather, Op::from(AllGatherDone {})),
        (Opcode::AllReduce, AllReduceDone {}.into()),
        (Opcode::CollectivePermute, CollectivePermuteDone {}.into()),
    ];
    ends.into_iter().find(|(op, _)| *op == started).map(|(_, done)| done)
}

/// Returns the operands of one leaf: arrays and initial values, or arrays, indices and updates.
fn of_leaf(operands: &[Shape], count: usize, leaf: usize) -> Vec<Shape> {
    let shared = operands.len() % count;
    let last = &operands[count + shared + leaf];
    [&operands[leaf]]
        .into_iter()
        .chain(&operands[count..count + shared])
        .chain([last])
        .cloned()
        .collect()
}

/// Adds two parameters to the comparator, the last computation; returns the shape of the positions.
fn positions(computations: &mut Arena<Computation>, operands: &[Shape]) -> Option<Shape> {
    let (_, comparator) = computations.iter_mut().last()?;
    let first = i64::try_from(2 * operands.len()).ok()?;
    for number in [first, first + 1] {
        parameter(comparator, number, Shape::scalar(ElementType::S32));
    }
    Some(operands.first()?.array()?.with_type(ElementType::S32).into())
}

fn parameter(into: &mut Computation, number: i64, shape: Shape) -> InstructionId {
    let op = Op::from(Parameter { number });
    let operands = std::iter::empty().collect();
    let instruction = Instruction { op, shape, operands, common: None };
    into.push(instruction, format!("p{number}").into(), InstructionSpans::default())
}

/// A computation of two `f64` for the op to call.
fn synthetic(computations: &mut Arena<Computation>, op: &mut Op, binary: Binary) {
    let mut body = Computation::new("fold");
    let shape = Shape::scalar(ElementType::F64);
    let a = parameter(&mut body, 0, shape.clone());
    let b = parameter(&mut body, 1, shape.clone());
    let operands = [a, b].into_iter().collect();
    let instruction = Instruction { op: binary.into(), shape, operands, common: None };
    body.root = body.push(instruction, "r".into(), InstructionSpans::default());
    let id = computations.push(body);
    op.each_callee_mut(&mut |callee| *callee = id);
}

/// Copies the computations that the op calls, callees first.
fn copy_callees(module: &Module, op: &mut Op, form: &Form, into: &mut Arena<Computation>) {
    let mut copies = HashMap::new();
    op.each_callee_mut(&mut |id| *id = copy(module, *id, form, into, &mut copies));
}

fn copy(
    module: &Module,
    id: ComputationId,
    form: &Form,
    into: &mut Arena<Computation>,
    copies: &mut HashMap<ComputationId, ComputationId>,
) -> ComputationId {
    if let Some(&copy) = copies.get(&id) {
        return copy;
    }
    let mut computation = module.computations[id].clone();
    computation.signature = None;
    for (_, inner) in computation.instructions.iter_mut() {
        inner.op.each_callee_mut(&mut |id| *id = copy(module, *id, form, into, copies));
        inner.shape = retyped(&inner.shape, form);
        retype_constant(inner);
    }
    let copy = into.push(computation);
    copies.insert(id, copy);
    copy
}

fn retype_constant(instruction: &mut Instruction) {
    let (Op::Constant(constant), Some(array)) = (&mut instruction.op, instruction.shape.array())
    else {
        return;
    };
    if let hlo::literal::ConstantValue::Literal(literal) = constant.value.as_mut() {
        *literal = super::range::converted(literal, array.ty);
    }
}
