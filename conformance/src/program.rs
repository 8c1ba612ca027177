//! Modules made from parts of another module: a computation as the entry, and an instruction alone.
//!
//! Their parameters and results are arrays: a tuple is built from parameters, and a result is a
//! tuple of the arrays of values. Backends that take no nested tuples can run them.
use crate::backend::{Backend, BackendError};
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::{AfterAll, AsyncRole, Kind, Parameter};
use hlo::{Literal, Module, Op, Shape, Verified};
use interp::{DeviceGrid, RunOptions};
use std::collections::HashMap;
use std::sync::Arc;

/// The value of an instruction on each device.
pub(crate) type Values = Vec<Literal>;

/// A module and the arguments of each device.
#[derive(Debug, Clone)]
pub struct Program {
    /// The module.
    pub module: Arc<Verified>,
    /// The arguments of each device.
    pub arguments: Vec<Vec<Literal>>,
}

/// An instruction of a module.
pub(crate) type At = (ComputationId, InstructionId);

/// How long a chain of instructions without values may be that an instruction depends on.
const COPIED: usize = 1000;

/// Adds parameters with their arguments.
struct Feeder<'a> {
    computation: &'a mut ComputationRewriter,
    arguments: Vec<Vec<Literal>>,
}

impl Feeder<'_> {
    /// Adds a value: one parameter for each array.
    fn feed(
        &mut self,
        name: &str,
        shape: &Shape,
        values: &[Literal],
    ) -> Result<InstructionId, String> {
        match shape {
            Shape::Array(_) => {
                let number = self.next(values);
                let parameter = Instruction::new(Parameter { number }, shape.clone(), []);
                Ok(self.computation.push(name, parameter))
            }
            Shape::Tuple(parts) => {
                let mut ids = Vec::with_capacity(parts.len());
                for (i, part) in parts.iter().enumerate() {
                    ids.push(self.feed(name, part, &element(values, i)?)?);
                }
                let tuple = self.computation.tuple(ids);
                Ok(self.computation.push(name, tuple))
            }
            Shape::Token => {
                let token = Instruction::new(AfterAll {}, Shape::Token, []);
                Ok(self.computation.push(name, token))
            }
            Shape::Opaque | Shape::Buffer(_) => Err(format!("`{name}` has no value")),
        }
    }
    /// Adds the arguments of the next parameter, and returns its number.
    fn next(&mut self, values: &[Literal]) -> i64 {
        let number = self.arguments.first().map_or(0, Vec::len);
        for (arguments, value) in self.arguments.iter_mut().zip(values) {
            arguments.push(value.clone());
        }
        i64::try_from(number).unwrap_or(i64::MAX)
    }
}

/// Returns an element of the tuple of each device.
fn element(values: &[Literal], index: usize) -> Result<Values, String> {
    let element = |value: &Literal| value.elements()?.get(index).cloned();
    values.iter().map(element).collect::<Option<_>>().ok_or_else(|| "a tuple is missing".to_owned())
}

/// Adds the arrays of a value to `parts`.
fn push_arrays(
    computation: &mut ComputationRewriter,
    id: InstructionId,
    parts: &mut Vec<InstructionId>,
) {
    match computation.instruction(id).shape.clone() {
        Shape::Array(_) => parts.push(id),
        Shape::Tuple(elements) => {
            for index in 0..elements.len() {
                let element = computation.element(id, index);
                let element =
                    computation.push(computation.instruction_name(id).to_owned(), element);
                push_arrays(computation, element, parts);
            }
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => {}
    }
}

impl Program {
    /// Compiles and executes the module.
    pub(crate) fn run(
        &self,
        backend: &mut dyn Backend,
        grid: DeviceGrid,
    ) -> Result<Vec<Literal>, BackendError> {
        backend.compile(&self.module, grid)?.execute(&self.arguments)
    }
}

/// Returns whether the value of an instruction is there when it ends: it does not start, or go on
/// with, an asynchronous operation.
pub(crate) fn is_done(instruction: &Instruction) -> bool {
    match instruction.opcode().async_role() {
        None | Some(AsyncRole::Done(_)) => true,
        Some(AsyncRole::Start(_) | AsyncRole::Update(_)) => false,
    }
}

/// Returns whether the instruction has the same result when it runs alone on the same operands.
pub(crate) fn checkable_alone(instruction: &Instruction) -> bool {
    match instruction.opcode().kind() {
        Kind::Host | Kind::Transfer | Kind::Random => false,
        Kind::Array
        | Kind::Value
        | Kind::Control
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Device
        | Kind::Custom => true,
    }
}

/// Returns the arrays of a value, in order.
pub(crate) fn arrays(value: &Literal) -> Vec<Literal> {
    value.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some()).cloned().collect()
}

/// Returns the value of this shape from its arrays.
pub(crate) fn rebuilt(
    shape: &Shape,
    arrays: &mut impl Iterator<Item = Literal>,
) -> Option<Literal> {
    match shape {
        Shape::Array(_) => arrays.next(),
        Shape::Tuple(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(|part| rebuilt(part, arrays)).collect();
            parts.map(Literal::tuple)
        }
        Shape::Token => Some(Literal::token()),
        Shape::Opaque | Shape::Buffer(_) => None,
    }
}

/// Makes a computation the entry, with the arrays of these instructions as the result.
fn finish(
    mut rewriter: ModuleRewriter,
    entry: ComputationId,
    results: &[InstructionId],
    arguments: Vec<Vec<Literal>>,
) -> Result<Program, String> {
    let computation = rewriter.computation_mut(entry);
    let mut parts = Vec::new();
    for &id in results {
        push_arrays(computation, id, &mut parts);
    }
    let tuple = computation.tuple(parts);
    let root = computation.push("values", tuple);
    computation.set_root(root);
    rewriter.set_entry(entry);
    rewriter.remove_unused_computations();
    let config = rewriter.config_mut();
    config.entry_layout = None;
    config.input_output_alias.clear();
    config.buffer_donor.clear();
    let module = rewriter.finish().map_err(|error| error.to_string())?;
    let module = module.verify().map_err(|errors| errors.to_string())?;
    Ok(Program { module: Arc::new(module), arguments })
}

/// Returns the module with a computation as the entry. Its result is a tuple of the arrays of
/// `watched`.
pub(crate) fn watching(
    module: &Module,
    id: ComputationId,
    arguments: &[Vec<Literal>],
    watched: &[InstructionId],
) -> Result<Program, String> {
    let mut rewriter = ModuleRewriter::new(module);
    let computation = rewriter.computation_mut(id);
    let mut feeder = Feeder { arguments: vec![Vec::new(); arguments.len()], computation };
    let mut watched = watched.to_vec();
    for (number, parameter) in feeder.computation.parameters().into_iter().enumerate() {
        let values: Values =
            arguments.iter().filter_map(|list| list.get(number).cloned()).collect();
        let shape = feeder.computation.instruction(parameter).shape.clone();
        if shape.array().is_some() {
            let number = feeder.next(&values);
            if let Op::Parameter(op) = &mut feeder.computation.instruction_mut(parameter).op {
                op.number = number;
            }
            continue;
        }
        let name = feeder.computation.instruction_name(parameter).to_owned();
        let fed = feeder.feed(&name, &shape, &values)?;
        feeder.computation.replace_uses(parameter, fed);
        feeder.computation.remove(parameter);
        watched.iter_mut().filter(|id| **id == parameter).for_each(|id| *id = fed);
    }
    let arguments = feeder.arguments;
    finish(rewriter, id, &watched, arguments)
}

/// Returns the module of an instruction with the computations that it calls. Operands of which
/// `known` returns values are parameters; the others are copied.
pub(crate) fn alone(
    module: &Module,
    (computation, id): At,
    devices: usize,
    known: &dyn Fn(InstructionId) -> Option<Values>,
) -> Result<Program, String> {
    let mut rewriter = ModuleRewriter::new(module);
    let mut entry = ComputationRewriter::new("entry");
    let feeder = Feeder { arguments: vec![Vec::new(); devices], computation: &mut entry };
    let mut copier = Copier { module, computation, feeder, known, copies: HashMap::new() };
    let root = copier.copy(id, 0)?;
    let arguments = copier.feeder.arguments;
    let entry = rewriter.add_computation(entry);
    finish(rewriter, entry, &[root], arguments)
}

struct Copier<'a> {
    module: &'a Module,
    computation: ComputationId,
    feeder: Feeder<'a>,
    known: &'a dyn Fn(InstructionId) -> Option<Values>,
    copies: HashMap<InstructionId, InstructionId>,
}

impl Copier<'_> {
    fn copy(&mut self, id: InstructionId, depth: usize) -> Result<InstructionId, String> {
        let computation = &self.module.computations[self.computation];
        let mut instruction = computation.instructions[id].clone();
        let name = computation.name(id);
        if depth > COPIED || !checkable_alone(&instruction) {
            return Err(format!("`{name}` has no value that can be an argument"));
        }
        for operand in &mut instruction.operands {
            let old = *operand;
            *operand = match self.copies.get(&old) {
                Some(&copy) => copy,
                None => self.operand(old, depth)?,
            };
            self.copies.insert(old, *operand);
        }
        if let Some(common) = &mut instruction.common {
            common.control = None;
        }
        Ok(self.feeder.computation.push(name.clone(), instruction))
    }
    fn operand(&mut self, id: InstructionId, depth: usize) -> Result<InstructionId, String> {
        let Some(values) = (self.known)(id) else { return self.copy(id, depth + 1) };
        let computation = &self.module.computations[self.computation];
        self.feeder.feed(computation.name(id), &computation.instructions[id].shape, &values)
    }
}

/// Returns the options of a run of a state of a compiler. A schedule may have a `send` before the
/// `recv` of its receiver: that backends wait then is no matter of a pass.
pub(crate) fn scheduled(module: &Verified, options: RunOptions) -> RunOptions {
    let buffered = options.buffered_sends || module.module().config.is_scheduled;
    options.buffered_sends(buffered)
}
