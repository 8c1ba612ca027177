//! Functions of whole operands, for instructions without a kernel.
//!
//! | in the engine `exact` | why it is no kernel |
//! |---|---|
//! | an operand may be smaller than its bounds | the sizes of the result are known when it runs |
//! | custom calls but those of LAPACK, host ops, `rng` | who gives the value allocates it |
//! | `select` by a scalar, `copy-start` and `copy-done` | the result shares the memory of an operand |
//! | sizes read and set, elided constants, `stochastic-convert`, `bitcast` between tiles or widths | a kernel would gain nothing |
use super::external;
use crate::context::RunContext;
use crate::options::Engine;
use crate::plan::LiteralFn;
use crate::state::Site;
use crate::{Error, Result, custom, dynamic};
use hlo::ir::Instruction;
use hlo::op::{DynamicRule, Kind};
use hlo::{Array, Literal, Opcode, Shape};
use kernels::{Kernel, Reuse};
use num::array::{array_shapes, pack, static_shape, with_layouts, zeros};
use num::scalar_program::ScalarPrograms;
use smallvec::SmallVec;

/// An engine at a site, which determines how an instruction is computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteEngine {
    pub(super) site: Site,
    pub(super) engine: Engine,
}

impl SiteEngine {
    /// Returns the function of an instruction with operands that are as large as their bounds, in
    /// any layout.
    pub(super) fn fixed(
        self,
        instruction: &Instruction,
        kernel: Option<Box<dyn Kernel>>,
    ) -> Box<LiteralFn> {
        if let Some(kernel) = kernel {
            let shape = instruction.shape.clone();
            return Box::new(move |context, operands| run(&*kernel, &shape, operands, context));
        }
        let instruction = instruction.clone();
        Box::new(move |context, operands| self.evaluate(&instruction, operands, context))
    }

    /// Returns the function of an instruction with an operand that may be smaller than its bounds.
    pub(super) fn resizable(
        self,
        instruction: &Instruction,
        operands: &[&Shape],
        fixed: Box<LiteralFn>,
    ) -> Box<LiteralFn> {
        let (instruction, rule) = (instruction.clone(), dynamic::rule(&instruction.op, operands));
        let shapes: Vec<Shape> = operands.iter().map(|&shape| shape.clone()).collect();
        Box::new(move |context, operands| {
            if !dynamic::is_among(operands) {
                return fixed(context, operands);
            }
            if rule == DynamicRule::Trim {
                return dynamic::trim(&instruction, operands, context, &|trimmed, operands| {
                    self.trimmed(trimmed, operands, context)
                });
            }
            let shapes: Vec<&Shape> = shapes.iter().collect();
            dynamic::evaluate(rule, &instruction, (operands, &shapes), &|operands| {
                fixed(context, operands)
            })
        })
    }

    /// Returns the value of an instruction whose operands were cut: their shapes are not known
    /// before.
    fn trimmed(
        self,
        instruction: &Instruction,
        operands: &[&Literal],
        context: &RunContext,
    ) -> Result<Literal> {
        let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape()).collect();
        let shapes: Vec<&Shape> = shapes.iter().collect();
        let programs = &context.program().scalar_programs;
        match self.kernel(instruction, &shapes, programs) {
            Some(kernel) => run(&*kernel, &instruction.shape, operands, context),
            None => self.evaluate(instruction, operands, context),
        }
    }

    /// Returns the kernel of an instruction on operands of these shapes, if the engine has one.
    pub(super) fn kernel(
        self,
        instruction: &Instruction,
        operands: &[&Shape],
        programs: &ScalarPrograms,
    ) -> Option<Box<dyn Kernel>> {
        let arithmetic = self.engine.arithmetic()?;
        if instruction.opcode().kind() == Kind::Custom {
            return custom::kernel(self.site, instruction, operands, arithmetic);
        }
        kernels::select(&instruction.op, operands, &instruction.shape, programs, arithmetic)
    }

    /// Returns the value of an instruction by its function in `spec`, or from its source outside
    /// the run.
    fn evaluate(
        self,
        instruction: &Instruction,
        operands: &[&Literal],
        context: &RunContext,
    ) -> Result<Literal> {
        match instruction.opcode().kind() {
            Kind::Array | Kind::Value => {
                let computation = &context.module().computations[self.site.computation];
                let name = || computation.name(self.site.instruction).to_string();
                match is_empty(instruction) {
                    true => Ok(zeros(&instruction.shape)),
                    false => spec::evaluate(instruction, operands, context, &name),
                }
            }
            Kind::Custom | Kind::Device | Kind::Host | Kind::Random | Kind::Transfer => {
                external::evaluate(self.site, instruction, operands, context)
            }
            Kind::Asynchronous | Kind::Collective | Kind::Control => {
                Err(Error::internal("an instruction that runs others is a step of its own"))
            }
        }
    }
}

/// Runs a kernel on whole operands, in new memory.
fn run(
    kernel: &dyn Kernel,
    shape: &Shape,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    // What the kernel works in is part of the step's scratch memory.
    let shapes = array_shapes(shape).into_iter().map(static_shape);
    let mut outputs: Vec<Array> = shapes.map(Array::zeros).collect();
    let mut inputs: SmallVec<[Option<&Array>; 4]> = operands.iter().map(|o| o.array()).collect();
    if let (Reuse::Update, [input, ..], [output, ..]) =
        (kernel.reuse(), inputs.as_mut_slice(), outputs.as_mut_slice())
    {
        output.bytes_mut().copy_from_slice(operands[0].bytes());
        *input = None;
    }
    kernel.run(context, &inputs, &mut outputs)?;
    Ok(pack(shape, outputs))
}

/// Returns whether the result is known without a look at the operands, as it has no elements:
/// arrays that have none may be so large in their other dimensions that a loop over these would not
/// end.
fn is_empty(instruction: &Instruction) -> bool {
    let is_empty = |leaf: &&Shape| leaf.array().is_some_and(|a| a.element_count() == Some(0));
    instruction.opcode().kind() == Kind::Array && instruction.shape.leaves().iter().all(is_empty)
}

/// Returns a function that sees its operands in the layouts that they state, if the layouts are
/// part of the meaning or are seen by the host: a value keeps the layout of the instruction that
/// computed it, through copies and calls.
pub(super) fn in_stated_layouts(
    instruction: &Instruction,
    operands: &[&Shape],
    function: Box<LiteralFn>,
) -> Box<LiteralFn> {
    let depends_on_layout = match instruction.opcode().kind() {
        Kind::Custom | Kind::Host | Kind::Transfer => true,
        Kind::Array
        | Kind::Value
        | Kind::Control
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Device
        | Kind::Random => instruction.opcode() == Opcode::Bitcast,
    };
    if !depends_on_layout {
        return function;
    }
    let shapes: Vec<Shape> = operands.iter().map(|&shape| shape.clone()).collect();
    Box::new(move |context, operands| {
        let operands = operands.iter().zip(&shapes);
        let operands = operands.map(|(&operand, shape)| with_layouts(operand.clone(), shape));
        let operands: Vec<Literal> = operands.collect();
        function(context, &operands.iter().collect::<Vec<_>>())
    })
}
