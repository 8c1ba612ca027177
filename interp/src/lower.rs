//! Lowering: which action an instruction becomes.
use crate::executable::Engine;
use crate::kernel::{self, ScalarLoop};
use crate::plan::{Action, Function};
use crate::value::{with_layouts, zeros};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::{Module, Op, Shape};

/// Which instruction of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) computation: ComputationId,
    pub(crate) instruction: InstructionId,
}

/// What an instruction becomes.
pub(crate) struct Lowered {
    pub(crate) action: Action,
    /// Fuel beyond that of the instruction.
    pub(crate) cost: u64,
}

/// What is known of the module while it is compiled.
pub(crate) struct Lowering<'a> {
    module: &'a Module,
    engine: Engine,
    /// Whether an array may be smaller than its bounds.
    is_dynamic: bool,
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(module: &'a Module, engine: Engine) -> Self {
        Self { module, engine, is_dynamic: kernel::dynamic::is_dynamic(module) }
    }
    pub(crate) fn module(&self) -> &'a Module {
        self.module
    }

    /// Whether arrays that follow from constants are computed when the module is compiled.
    pub(crate) fn folds_constants(&self) -> bool {
        self.engine == Engine::Exact && !self.is_dynamic
    }

    /// The action of an instruction that has a step.
    pub(crate) fn lower(
        &self,
        site: Site,
        instruction: &Instruction,
        operands: &[&Shape],
    ) -> Lowered {
        let cost = kernel::cost::steps(&instruction.op, operands);
        Lowered { action: self.action(site, instruction, operands), cost }
    }

    #[expect(clippy::too_many_lines, reason = "one line per op")]
    fn action(&self, site: Site, instruction: &Instruction, operands: &[&Shape]) -> Action {
        match &instruction.op {
            Op::Call(op) => Action::Call(op.to_apply),
            Op::Fusion(op) => Action::Call(op.calls),
            Op::While(op) => Action::While {
                condition: op.condition,
                body: op.body,
                scalars: self.scalar_loop(op.condition, op.body),
            },
            Op::Conditional(op) => Action::Branch(op.branches.clone()),
            Op::Scan(op) => Action::Scan(op.clone()),
            Op::AsyncStart(op) => Action::AsyncStart { callee: op.calls },
            Op::AsyncUpdate(_) => Action::AsyncUpdate,
            Op::AsyncDone(_) => Action::AsyncDone,
            Op::AllGatherStart(_) | Op::AllReduceStart(_) | Op::CollectivePermuteStart(_) => {
                Action::Start(collective(instruction))
            }
            Op::AllGatherDone(_) | Op::AllReduceDone(_) | Op::CollectivePermuteDone(_) => {
                Action::Done
            }
            Op::AllGather(_)
            | Op::AllReduce(_)
            | Op::AllToAll(_)
            | Op::CollectiveBroadcast(_)
            | Op::CollectivePermute(_)
            | Op::RaggedAllToAll(_)
            | Op::ReduceScatter(_) => Action::Communicate(collective(instruction)),
            Op::Send(op) if !op.is_host_transfer => {
                Action::Communicate(self.function(site, instruction))
            }
            Op::SendDone(op) if !op.is_host_transfer => {
                Action::Communicate(self.function(site, instruction))
            }
            Op::Recv(op) if !op.is_host_transfer => {
                Action::Communicate(self.function(site, instruction))
            }
            Op::RecvDone(op) if !op.is_host_transfer => {
                Action::Communicate(self.function(site, instruction))
            }
            Op::Reshape(_) if !self.is_dynamic => Action::Relabel,
            Op::Bitcast(_) => Action::Function(self.bitcast(site, instruction, operands[0])),
            Op::Convert(_)
                if !self.is_dynamic
                    && operands[0].element_type() == instruction.shape.element_type() =>
            {
                Action::Relabel
            }
            _ if self.is_dynamic || self.engine == Engine::Reference => {
                Action::Function(self.function(site, instruction))
            }
            _ => match kernel::select(instruction, operands) {
                Some(kernel) => Action::Kernel(kernel),
                None => Action::Function(self.function(site, instruction)),
            },
        }
    }

    /// A bitcast, the one op that depends on layouts. A value has the layout of the instruction that has made it, which
    /// `copy`, parameters and results of calls may give another one.
    fn bitcast(&self, site: Site, instruction: &Instruction, operand: &Shape) -> Box<Function> {
        let (function, shape) = (self.function(site, instruction), operand.clone());
        Box::new(move |context, operands| {
            function(context, &[&with_layouts(operands[0].clone(), &shape)])
        })
    }

    /// An instruction as a function of its operands.
    fn function(&self, site: Site, instruction: &Instruction) -> Box<Function> {
        let (instruction, engine) = (instruction.clone(), self.engine);
        if self.is_dynamic {
            return Box::new(move |context, operands| {
                kernel::evaluate(site, &instruction, operands, engine, context)
            });
        }
        if kernel::is_empty(&instruction) {
            return Box::new(move |_, _| Ok(zeros(&instruction.shape)));
        }
        let function = match engine {
            Engine::Reference => kernel::reference,
            Engine::Exact => kernel::function,
        };
        Box::new(move |context, operands| function(site, &instruction, operands, context))
    }

    /// A loop over scalars alone, as a program over registers.
    fn scalar_loop(
        &self,
        condition: ComputationId,
        body: ComputationId,
    ) -> Option<Box<ScalarLoop>> {
        if self.engine == Engine::Reference {
            return None;
        }
        ScalarLoop::new(self.module, condition, body).map(Box::new)
    }
}

/// A collective op on the only device there is.
fn collective(instruction: &Instruction) -> Box<Function> {
    let instruction = instruction.clone();
    Box::new(move |context, operands| crate::collective::alone(&instruction, operands, context))
}
