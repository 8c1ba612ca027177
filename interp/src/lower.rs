//! Lowering: which action an instruction becomes.
use crate::executable::Engine;
use crate::kernel::{self, ScalarLoop};
use crate::plan::{Action, Function};
use crate::value::{with_layouts, zeros};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::{AsyncRole, Kind};
use hlo::{Literal, Module, Op, Opcode, Shape};

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
        self.has_kernels()
    }
    /// Whether ops run as kernels, which expect arrays as large as their bounds.
    fn has_kernels(&self) -> bool {
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
            op => match (op.opcode().kind(), op.opcode().async_role()) {
                (Kind::Collective, None) => Action::Communicate(collective(instruction)),
                (Kind::Collective, Some(AsyncRole::Start(_))) => {
                    Action::Start(collective(instruction))
                }
                (Kind::Collective, Some(AsyncRole::Update(_) | AsyncRole::Done(_))) => Action::Done,
                _ if op.communicates() => {
                    Action::Communicate(self.function(site, instruction, operands))
                }
                _ => self.compute(site, instruction, operands),
            },
        }
    }

    /// The action of an instruction that computes its result from its operands.
    fn compute(&self, site: Site, instruction: &Instruction, operands: &[&Shape]) -> Action {
        let function = || Action::Function(self.function(site, instruction, operands));
        if !self.has_kernels() {
            return function();
        }
        let op = &instruction.op;
        let keeps_type = || operands[0].element_type() == instruction.shape.element_type();
        if matches!(op, Op::Reshape(_)) || (matches!(op, Op::Convert(_)) && keeps_type()) {
            return Action::Relabel;
        }
        kernel::select(instruction, operands).map_or_else(function, Action::Kernel)
    }

    /// An instruction as a function of its operands.
    fn function(
        &self,
        site: Site,
        instruction: &Instruction,
        operands: &[&Shape],
    ) -> Box<Function> {
        let function = self.function_of_values(site, instruction);
        if !depends_on_layout(&instruction.op) {
            return function;
        }
        // A value keeps the layout of the instruction that computed it, through copies and calls.
        let shapes: Vec<Shape> = operands.iter().map(|&shape| shape.clone()).collect();
        Box::new(move |context, operands| {
            let operands = operands.iter().zip(&shapes);
            let operands = operands.map(|(&operand, shape)| with_layouts(operand.clone(), shape));
            let operands: Vec<Literal> = operands.collect();
            function(context, &operands.iter().collect::<Vec<_>>())
        })
    }

    /// An instruction as a function of its operands, in any layout.
    fn function_of_values(&self, site: Site, instruction: &Instruction) -> Box<Function> {
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

/// Whether the layouts of the operands are part of the meaning, or are seen by the host.
fn depends_on_layout(op: &Op) -> bool {
    match op.opcode().kind() {
        Kind::Custom | Kind::Host | Kind::Transfer => true,
        Kind::Array
        | Kind::Value
        | Kind::Control
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Device
        | Kind::Random => op.opcode() == Opcode::Bitcast,
    }
}

/// A collective op on the only device there is.
fn collective(instruction: &Instruction) -> Box<Function> {
    let instruction = instruction.clone();
    Box::new(move |context, operands| crate::collective::alone(&instruction, operands, context))
}
