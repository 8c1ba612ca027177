//! Scalar computations that ops apply to elements: the computations of `reduce`, `map`, `sort`,
//! `scatter`.
//!
//! Such a computation is nearly always a handful of elementwise ops on scalars. It is compiled to
//! steps over registers; any other runs on a nested machine, slower and with the same result.
mod associative;
mod blocks;
mod sort_key;
pub mod step;

pub use associative::Extreme;
pub use blocks::{BLOCK, BlockProgram};
pub use sort_key::{Key, Keys};
use step::{ElementStep, ScalarStep};

use crate::index::to_usize;
use crate::tier_up::TierUp;
use crate::{Error, Result, Scope};
use hlo::ir::{ComputationId, Instruction};
use hlo::literal::ConstantValue;
use hlo::op::Binary;
use hlo::{ElementType, Module, Op, Scalar, Shape};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// The limit of instructions of a compiled computation: inlined calls could grow it exponentially.
const INSTRUCTION_LIMIT: usize = 4096;

/// The limit of nested computations; deeper ones run on a machine, which does not use the thread's
/// stack.
const DEPTH_LIMIT: usize = 32;

/// A computation that takes and returns scalars.
#[derive(Debug)]
pub struct ScalarProgram {
    parameters: Vec<ElementType>,
    results: Vec<ElementType>,
    body: Body,
    /// What makes machine code of it where that is worth it.
    compiler: Option<Compiler>,
    tier_up: TierUp<Box<dyn CompiledFn>>,
}

#[derive(Debug)]
enum Body {
    Steps(RegisterProgram),
    /// Runs on a nested machine, within the limits of the whole run.
    Machine(ComputationId),
}

/// Machine code of a scalar program.
pub trait CompiledFn: fmt::Debug + Send + Sync {
    /// Applies the program to arguments; each list comes with its types.
    fn apply(
        &self,
        arguments: (&[Scalar], &[ElementType]),
        results: (&mut [Scalar], &[ElementType]),
    );
}

/// Makes machine code of a program; `None` where that is not possible.
pub type Compiler = fn(&RegisterProgram) -> Option<Box<dyn CompiledFn>>;

/// Steps over registers; the first registers hold the arguments.
#[derive(Debug, Default)]
pub struct RegisterProgram {
    /// The steps, each of which writes the next register.
    pub steps: Vec<ScalarStep>,
    /// The values of the registers before the first step.
    pub registers: Vec<Scalar>,
    /// The type of each register.
    pub types: Vec<ElementType>,
    /// The registers of the results.
    pub results: Vec<usize>,
    /// Computations that are open while it is compiled.
    depth: usize,
    /// Instructions of these and of those before; not all of them become steps.
    instructions: usize,
}

/// The scalar computations of a module, compiled.
#[derive(Debug)]
pub struct ScalarPrograms {
    programs: Vec<Option<Arc<ScalarProgram>>>,
    compiler: Option<Compiler>,
}

impl ScalarPrograms {
    /// Compiles the computations of a module that take and return scalars.
    #[inline]
    pub fn compile(module: &Module, compiler: Option<Compiler>) -> Self {
        let ids = module.computations.ids();
        let programs =
            ids.map(|id| ScalarProgram::compile(module, id, compiler).map(Arc::new)).collect();
        Self { programs, compiler }
    }
    /// Returns whether programs and loops that run often become machine code.
    #[inline]
    pub fn become_code(&self) -> bool {
        self.compiler.is_some()
    }
    /// The program of a computation; `None` if it takes or returns other values than scalars.
    #[inline]
    pub fn get(&self, computation: ComputationId) -> Option<Arc<ScalarProgram>> {
        self.programs[computation.index()].clone()
    }
    /// Whether a computation of scalars runs on a machine.
    #[inline]
    pub fn needs_machine(&self, computation: ComputationId) -> bool {
        let program = self.programs[computation.index()].as_deref();
        program.is_some_and(|program| matches!(program.body, Body::Machine(_)))
    }
    /// The program of a computation that an op applies to elements.
    ///
    /// # Errors
    /// If it takes or returns other values than scalars, which the verifier has checked.
    #[inline]
    pub fn of_elements(&self, computation: ComputationId) -> Result<&ScalarProgram> {
        self.programs[computation.index()]
            .as_deref()
            .ok_or_else(|| Error::internal("only scalar computations are applied to elements"))
    }
}

impl ScalarProgram {
    /// Compiles computation `id`; `None` if a parameter or a result is not a scalar.
    pub fn compile(module: &Module, id: ComputationId, compiler: Option<Compiler>) -> Option<Self> {
        let shape = module.computations[id].program_shape();
        let scalar = |shape: &Shape| shape.array().filter(|a| a.rank() == 0).map(|a| a.ty);
        let parameters: Vec<_> =
            shape.parameters.iter().map(|s| scalar(s)).collect::<Option<_>>()?;
        let results: Vec<_> = match shape.result {
            Shape::Tuple(elements) => elements.iter().map(scalar).collect::<Option<_>>()?,
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                vec![scalar(shape.result)?]
            }
        };
        let mut program = RegisterProgram::new(&parameters);
        let arguments: Vec<Vec<usize>> = (0..parameters.len()).map(|i| vec![i]).collect();
        let body = match program.compile(module, id, &arguments) {
            Some(results) => {
                program.results = results;
                Body::Steps(program)
            }
            None => Body::Machine(id),
        };
        let tier_up = match &body {
            Body::Steps(program) => TierUp::new(program.steps.len()),
            Body::Machine(_) => TierUp::never(),
        };
        Some(Self { parameters, results, body, compiler, tier_up })
    }

    /// Types of the parameters.
    #[inline]
    pub fn parameters(&self) -> &[ElementType] {
        &self.parameters
    }
    /// Types of the results.
    #[inline]
    pub fn results(&self) -> &[ElementType] {
        &self.results
    }

    /// Returns the op, if the computation only applies one commutative op to its two parameters.
    #[inline]
    pub fn as_binary(&self) -> Option<Binary> {
        let Body::Steps(program) = &self.body else { return None };
        match (program.steps.as_slice(), program.results.as_slice()) {
            ([ScalarStep::Binary(op, _, 0, 1) | ScalarStep::Binary(op, _, 1, 0)], [2]) => Some(*op),
            _ => None,
        }
    }

    /// Returns the op, if the computation is that op on its two parameters in order.
    #[inline]
    pub fn as_binary_in_order(&self) -> Option<(Binary, ElementType)> {
        let Body::Steps(program) = &self.body else { return None };
        match (program.steps.as_slice(), program.results.as_slice()) {
            ([ScalarStep::Binary(op, ty, 0, 1)], [2]) => Some((*op, *ty)),
            _ => None,
        }
    }

    /// Returns whether the computation returns the second of its two parameters.
    #[inline]
    pub fn is_second(&self) -> bool {
        let Body::Steps(program) = &self.body else { return false };
        self.parameters.len() == 2 && program.results == [1]
    }

    /// Returns the registers of one call.
    #[inline]
    pub fn registers(&self) -> SmallVec<[Scalar; 16]> {
        match &self.body {
            Body::Steps(program) => SmallVec::from_slice(&program.registers),
            Body::Machine(_) => SmallVec::new(),
        }
    }

    /// Returns registers for many calls.
    #[inline]
    pub fn scratch(&self) -> Vec<Scalar> {
        match &self.body {
            Body::Steps(program) => program.registers.clone(),
            Body::Machine(_) => Vec::new(),
        }
    }

    /// Prepares for this many calls: if they are worth it, they run machine code.
    pub fn prepare(&self, calls: usize) {
        if let (Body::Steps(program), Some(compiler)) = (&self.body, self.compiler) {
            let steps = calls.saturating_mul(program.steps.len());
            self.tier_up.count(u64::try_from(steps).unwrap_or(u64::MAX));
            self.tier_up.code(|| compiler(program));
        }
    }

    /// Calls the computation: `arguments` are of the parameters' types; the results go to `out`.
    #[inline]
    pub fn call(
        &self,
        scope: &dyn Scope,
        arguments: &[Scalar],
        scratch: &mut [Scalar],
        out: &mut [Scalar],
    ) -> Result<()> {
        match &self.body {
            Body::Steps(program) => {
                if let Some(code) = self.tier_up.ready() {
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
            Body::Machine(id) => scope.call(*id, arguments, out),
        }
    }
}

impl RegisterProgram {
    /// Runs the steps; registers from `first` on are written.
    #[inline]
    pub fn run(&self, first: usize, registers: &mut [Scalar]) {
        for (i, step) in self.steps.iter().enumerate() {
            registers[first + i] = step.apply(|register| registers[register]);
        }
    }

    /// A program of parameters of these types, without steps.
    #[inline]
    pub fn new(parameters: &[ElementType]) -> Self {
        let registers = parameters.iter().map(|&ty| Scalar::zero(ty)).collect();
        Self { registers, types: parameters.to_vec(), ..Self::default() }
    }

    /// Returns the number of parameters.
    pub fn parameters(&self) -> usize {
        self.registers.len() - self.steps.len()
    }

    /// Returns step `i` with the types of its operands and of its result.
    pub fn element_step(&self, i: usize) -> ElementStep {
        let step = self.steps[i];
        let operands = step.operands().into_iter().map(|register| self.types[register]).collect();
        ElementStep { step: step.renumbered(), operands, result: self.types[self.parameters() + i] }
    }

    /// Adds a step whose result is of type `ty`.
    #[inline]
    pub fn add(&mut self, step: ScalarStep, ty: ElementType) -> usize {
        self.steps.push(step);
        self.types.push(ty);
        self.registers.push(Scalar::zero(ty));
        self.registers.len() - 1
    }

    /// Compiles a computation whose parameters are in the registers `arguments`; returns the
    /// registers of its result.
    pub fn compile(
        &mut self,
        module: &Module,
        id: ComputationId,
        arguments: &[Vec<usize>],
    ) -> Option<Vec<usize>> {
        let computation = &module.computations[id];
        self.depth += 1;
        self.instructions += computation.instructions.len();
        if self.depth > DEPTH_LIMIT || self.instructions > INSTRUCTION_LIMIT {
            return None;
        }
        let mut registers: Vec<Vec<usize>> = Vec::with_capacity(computation.instructions.len());
        for (_, instruction) in computation.instructions.iter() {
            let operands: Vec<Vec<usize>> =
                instruction.operands.iter().map(|id| registers[id.index()].clone()).collect();
            registers.push(self.instruction(module, instruction, &operands, arguments)?);
        }
        self.depth -= 1;
        Some(registers.swap_remove(computation.root.index()))
    }

    /// Compiles an instruction; `None` if it has no scalar step.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of other ops, the elementwise ones are steps"
    )]
    fn instruction(
        &mut self,
        module: &Module,
        instruction: &Instruction,
        operands: &[Vec<usize>],
        arguments: &[Vec<usize>],
    ) -> Option<Vec<usize>> {
        // In a tuple of tuples, element i would not be register i.
        let scalars = instruction.shape.tuple().unwrap_or(std::slice::from_ref(&instruction.shape));
        if !scalars.iter().all(|s| s.array().is_some_and(|a| a.rank() == 0)) {
            return None;
        }
        let to = instruction.shape.element_type();
        let step = match &instruction.op {
            Op::Constant(constant) => match &*constant.value {
                ConstantValue::Literal(value) => ScalarStep::Constant(value.array()?.get(0)),
                ConstantValue::Elided(_) => return None,
            },
            Op::Parameter(parameter) => return arguments.get(to_usize(parameter.number)).cloned(),
            Op::Copy(_) | Op::OptBarrier(_) | Op::Reshape(_) | Op::Broadcast(_) => {
                return Some(operands[0].clone());
            }
            Op::Tuple(_) => return Some(operands.concat()),
            Op::GetTupleElement(op) => {
                return Some(vec![operands[0].get(to_usize(op.index)).copied()?]);
            }
            Op::Call(call) => return self.compile(module, call.to_apply, operands),
            Op::Fusion(fusion) => return self.compile(module, fusion.calls, operands),
            op => {
                let registers: SmallVec<[usize; 3]> =
                    operands.iter().map(|leaves| leaves.first().copied()).collect::<Option<_>>()?;
                let types: SmallVec<[ElementType; 3]> =
                    registers.iter().map(|&register| self.types[register]).collect();
                ScalarStep::elementwise(op, &types, to?, &registers)?
            }
        };
        let register = self.add(step, to?);
        Some(vec![register])
    }
}
