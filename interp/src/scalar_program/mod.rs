//! Scalar computations that ops apply to elements: the computations of `reduce`, `map`, `sort`, `scatter`.
//!
//! Such a computation is nearly always a handful of elementwise ops on scalars. It is compiled to steps over registers;
//! any other runs on a nested machine, slower and with the same result.
mod blocks;
mod condition;
#[cfg(feature = "jit")]
pub(crate) mod jit;
#[cfg(not(feature = "jit"))]
#[path = "no_jit.rs"]
mod jit;
mod register_loop;
mod scalar_loop;
mod sort_key;
pub(crate) mod step;

pub(crate) use blocks::{BLOCK, BlockProgram};
pub(crate) use condition::ScalarCondition;
use register_loop::RegisterLoop;
pub(crate) use scalar_loop::ScalarLoop;
pub(crate) use sort_key::Key;
use step::Step;

use crate::context::RunContext;
use crate::index::to_usize;
use crate::value::Value;
use crate::{Error, Result};
use hlo::ir::{ComputationId, Instruction};
use hlo::literal::ConstantValue;
use hlo::op::Binary;
use hlo::{ElementType, Literal, Module, Op, Scalar, Shape};
use jit::Code;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// The limit of instructions of a compiled computation: inlined calls could grow it exponentially.
const INSTRUCTION_LIMIT: usize = 4096;

/// The limit of nested calls; deeper ones run on a machine, which does not use the thread's stack.
const DEPTH_LIMIT: usize = 32;

/// Calls, and steps of all of them, from which on code takes less time to generate and to run than the steps.
const HOT_CALLS: usize = 10_000;
const HOT_CALL_STEPS: usize = 100_000;

/// A computation that takes and returns scalars.
#[derive(Debug)]
pub(crate) struct ScalarProgram {
    parameters: Vec<ElementType>,
    results: Vec<ElementType>,
    body: Body,
    /// Whether it becomes machine code where that is worth it.
    jit: bool,
    code: OnceLock<Option<Code>>,
}

#[derive(Debug)]
enum Body {
    Steps(Program),
    /// Runs on a nested machine, within the limits of the whole run.
    Machine(ComputationId),
}

/// Runs steps over registers; the first registers hold the arguments.
#[derive(Debug, Default)]
struct Program {
    steps: Vec<Step>,
    registers: Vec<Scalar>,
    /// The type of each register.
    types: Vec<ElementType>,
    results: Vec<usize>,
    /// Calls that are open while it is compiled.
    depth: usize,
    /// Instructions that have been compiled; not all of them become steps.
    instructions: usize,
}

/// The scalar computations of a module, compiled.
#[derive(Debug)]
pub(crate) struct ScalarPrograms {
    programs: Vec<Option<Arc<ScalarProgram>>>,
    /// Whether those that run often become machine code.
    pub(crate) jit: bool,
}

impl ScalarPrograms {
    /// Compiles the computations of a module that take and return scalars.
    pub(crate) fn compile(module: &Module, jit: bool) -> Self {
        let ids = module.computations.ids();
        let programs =
            ids.map(|id| ScalarProgram::compile(module, id, jit).map(Arc::new)).collect();
        Self { programs, jit }
    }
    /// The program of a computation; `None` if it takes or returns other values than scalars.
    pub(crate) fn get(&self, computation: ComputationId) -> Option<Arc<ScalarProgram>> {
        self.programs[computation.index()].clone()
    }
    /// Whether a computation of scalars runs on a machine.
    pub(crate) fn needs_machine(&self, computation: ComputationId) -> bool {
        let program = self.programs[computation.index()].as_deref();
        program.is_some_and(|program| matches!(program.body, Body::Machine(_)))
    }
    /// The program of a computation that an op applies to elements.
    ///
    /// # Errors
    /// If it takes or returns other values than scalars, which the verifier has checked.
    pub(crate) fn of_elements(&self, computation: ComputationId) -> Result<&ScalarProgram> {
        self.programs[computation.index()]
            .as_deref()
            .ok_or_else(|| Error::internal("only scalar computations are applied to elements"))
    }
}

impl ScalarProgram {
    /// Compiles computation `id`; `None` if a parameter or a result is not a scalar.
    pub(crate) fn compile(module: &Module, id: ComputationId, jit: bool) -> Option<Self> {
        let shape = module.computations[id].program_shape();
        let scalar = |shape: &Shape| shape.array().filter(|a| a.rank() == 0).map(|a| a.ty);
        let parameters: Vec<_> =
            shape.parameters.iter().map(|s| scalar(s)).collect::<Option<_>>()?;
        let results: Vec<_> = match shape.result {
            Shape::Tuple(elements) => elements.iter().map(scalar).collect::<Option<_>>()?,
            other => vec![scalar(other)?],
        };
        let mut program = Program::new(&parameters);
        let arguments: Vec<Vec<usize>> = (0..parameters.len()).map(|i| vec![i]).collect();
        let body = match program.compile(module, id, &arguments) {
            Some(results) => {
                program.results = results;
                Body::Steps(program)
            }
            None => Body::Machine(id),
        };
        Some(Self { parameters, results, body, jit, code: OnceLock::new() })
    }

    /// Types of the parameters.
    pub(crate) fn parameters(&self) -> &[ElementType] {
        &self.parameters
    }
    /// Types of the results.
    pub(crate) fn results(&self) -> &[ElementType] {
        &self.results
    }

    /// Returns the op, if the computation only applies one commutative op to its two parameters.
    pub(crate) fn as_binary(&self) -> Option<Binary> {
        let Body::Steps(program) = &self.body else { return None };
        match (program.steps.as_slice(), program.results.as_slice()) {
            ([Step::Binary(op, _, 0, 1) | Step::Binary(op, _, 1, 0)], [2]) => Some(*op),
            _ => None,
        }
    }

    /// Returns the op, if the computation is that op on its two parameters in order.
    pub(crate) fn as_binary_in_order(&self) -> Option<(Binary, ElementType)> {
        let Body::Steps(program) = &self.body else { return None };
        match (program.steps.as_slice(), program.results.as_slice()) {
            ([Step::Binary(op, ty, 0, 1)], [2]) => Some((*op, *ty)),
            _ => None,
        }
    }

    /// Returns whether the computation returns the second of its two parameters.
    pub(crate) fn is_second(&self) -> bool {
        let Body::Steps(program) = &self.body else { return false };
        self.parameters.len() == 2 && program.results == [1]
    }

    /// Returns the registers of one call.
    pub(crate) fn registers(&self) -> SmallVec<[Scalar; 16]> {
        match &self.body {
            Body::Steps(program) => SmallVec::from_slice(&program.registers),
            Body::Machine(_) => SmallVec::new(),
        }
    }

    /// Returns registers for many calls.
    pub(crate) fn scratch(&self) -> Vec<Scalar> {
        match &self.body {
            Body::Steps(program) => program.registers.clone(),
            Body::Machine(_) => Vec::new(),
        }
    }

    /// Prepares for this many calls: if they are worth it, they run machine code.
    pub(crate) fn prepare(&self, calls: usize) {
        if let Body::Steps(program) = &self.body
            && self.jit
            && calls >= HOT_CALLS
            && calls.saturating_mul(program.steps.len()) >= HOT_CALL_STEPS
        {
            self.code.get_or_init(|| Code::compile(None, program, self.parameters.len()));
        }
    }

    /// Calls the computation: `arguments` are of the parameters' types; the results go to `out`.
    #[inline]
    pub(crate) fn call(
        &self,
        context: &RunContext,
        arguments: &[Scalar],
        scratch: &mut [Scalar],
        out: &mut [Scalar],
    ) -> Result<()> {
        match &self.body {
            Body::Steps(program) => {
                if let Some(Some(code)) = self.code.get() {
                    code.apply((arguments, &self.parameters), (out, &self.results));
                    return Ok(());
                }
                scratch[..arguments.len()].copy_from_slice(arguments);
                program.run(arguments.len(), scratch);
                for (out, &register) in out.iter_mut().zip(&program.results) {
                    *out = scratch[register];
                }
                Ok(())
            }
            Body::Machine(id) => self.on_machine(&context.nested()?, *id, arguments, out),
        }
    }

    fn on_machine(
        &self,
        context: &RunContext,
        id: ComputationId,
        arguments: &[Scalar],
        out: &mut [Scalar],
    ) -> Result<()> {
        let arguments = arguments.iter().zip(&self.parameters);
        let arguments: Vec<Value> =
            arguments.map(|(&value, &ty)| Value::Array(Literal::scalar(ty, value))).collect();
        let result = (context.program().call)(context.clone(), id, arguments)?;
        let single = std::slice::from_ref(&result);
        for (out, element) in out.iter_mut().zip(result.elements().unwrap_or(single)) {
            *out = element.get(0);
        }
        Ok(())
    }
}

impl Program {
    fn run(&self, first: usize, registers: &mut [Scalar]) {
        for (i, step) in self.steps.iter().enumerate() {
            registers[first + i] = step.apply(|register| registers[register]);
        }
    }

    /// A program of parameters of these types, without steps.
    fn new(parameters: &[ElementType]) -> Self {
        let registers = parameters.iter().map(|&ty| Scalar::zero(ty)).collect();
        Self { registers, types: parameters.to_vec(), ..Self::default() }
    }

    /// Adds a step whose result is of type `ty`.
    fn add(&mut self, step: Step, ty: ElementType) -> usize {
        self.steps.push(step);
        self.types.push(ty);
        self.registers.push(Scalar::zero(ty));
        self.registers.len() - 1
    }

    /// Compiles a computation whose parameters are in the registers `arguments`; returns the registers of its result.
    fn compile(
        &mut self,
        module: &Module,
        id: ComputationId,
        arguments: &[Vec<usize>],
    ) -> Option<Vec<usize>> {
        let computation = &module.computations[id];
        let mut registers: Vec<Vec<usize>> = Vec::with_capacity(computation.instructions.len());
        let mut is_used = vec![false; computation.instructions.len()];
        is_used[computation.root.index()] = true;
        for (_, instruction) in computation.instructions.iter() {
            instruction.operands.iter().for_each(|operand| is_used[operand.index()] = true);
        }
        for (id, instruction) in computation.instructions.iter() {
            self.instructions += 1;
            if self.instructions > INSTRUCTION_LIMIT {
                return None;
            }
            // The condition of a loop has these for all that it does not read.
            if !is_used[id.index()] && matches!(instruction.op, Op::GetTupleElement(_)) {
                registers.push(Vec::new());
                continue;
            }
            let operands: Vec<Vec<usize>> =
                instruction.operands.iter().map(|id| registers[id.index()].clone()).collect();
            let operand_types: Vec<Option<ElementType>> = (instruction.operands.iter())
                .map(|&id| computation.instructions[id].shape.element_type())
                .collect();
            let result =
                self.instruction(module, instruction, &operands, &operand_types, arguments)?;
            registers.push(result);
        }
        Some(registers.swap_remove(computation.root.index()))
    }

    /// Compiles a computation that is called.
    fn call(
        &mut self,
        module: &Module,
        id: ComputationId,
        arguments: &[Vec<usize>],
    ) -> Option<Vec<usize>> {
        if self.depth >= DEPTH_LIMIT {
            return None;
        }
        self.depth += 1;
        let results = self.compile(module, id, arguments);
        self.depth -= 1;
        results
    }

    /// Compiles an instruction; `None` if it has no scalar step.
    fn instruction(
        &mut self,
        module: &Module,
        instruction: &Instruction,
        operands: &[Vec<usize>],
        types: &[Option<ElementType>],
        arguments: &[Vec<usize>],
    ) -> Option<Vec<usize>> {
        if let Op::Parameter(parameter) = &instruction.op {
            let number = usize::try_from(parameter.number).ok()?;
            return arguments.get(number).cloned();
        }
        // In a tuple of tuples, element i would not be register i.
        let scalars = instruction.shape.tuple().unwrap_or(std::slice::from_ref(&instruction.shape));
        if !scalars.iter().all(|s| s.array().is_some_and(|a| a.rank() == 0)) {
            return None;
        }
        let to = instruction.shape.element_type();
        let step = match &instruction.op {
            Op::Constant(constant) => match &*constant.value {
                ConstantValue::Literal(value) => {
                    value.array_shape()?;
                    Step::Constant(value.get(0))
                }
                ConstantValue::Elided(_) => return None,
            },
            Op::Copy(_) | Op::OptBarrier(_) | Op::Reshape(_) | Op::Broadcast(_) => {
                return Some(operands[0].clone());
            }
            Op::Tuple(_) => return Some(operands.concat()),
            Op::GetTupleElement(op) => {
                return Some(vec![operands[0].get(to_usize(op.index)).copied()?]);
            }
            Op::Call(call) => return self.call(module, call.to_apply, operands),
            Op::Fusion(fusion) => return self.call(module, fusion.calls, operands),
            op => {
                let registers: SmallVec<[usize; 3]> =
                    operands.iter().map(|leaves| leaves.first().copied()).collect::<Option<_>>()?;
                let types: SmallVec<[ElementType; 3]> =
                    types.iter().copied().collect::<Option<_>>()?;
                Step::elementwise(op, &types, to?, &registers)?
            }
        };
        let register = self.add(step, to?);
        Some(vec![register])
    }
}
