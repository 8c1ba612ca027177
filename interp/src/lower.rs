//! Lowering of instructions to actions.
use crate::executable::Engine;
use crate::kernel::{self, ScalarLoop};
use crate::plan::{Action, Function};
use crate::value::{with_layouts, zeros};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::{AsyncRole, Kind};
use hlo::{Literal, Module, Op, Opcode, Shape};

/// An instruction of a module, by its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) computation: ComputationId,
    pub(crate) instruction: InstructionId,
}

/// A lowered instruction.
pub(crate) struct Lowered {
    pub(crate) action: Action,
    /// Fuel in addition to that of the instruction.
    pub(crate) cost: u64,
}

/// The state of compilation.
pub(crate) struct Lowering<'a> {
    module: &'a Module,
    engine: Engine,
    /// Whether some array of the module may be smaller than its bounds.
    is_dynamic: bool,
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(module: &'a Module, engine: Engine) -> Self {
        Self { module, engine, is_dynamic: kernel::dynamic::is_dynamic(module) }
    }
    pub(crate) fn module(&self) -> &'a Module {
        self.module
    }

    /// Returns whether arrays that depend on constants only are computed at compile time.
    pub(crate) fn folds_constants(&self) -> bool {
        self.has_kernels()
    }
    /// Returns whether ops run as kernels, which require arrays as large as their bounds.
    fn has_kernels(&self) -> bool {
        self.engine == Engine::Exact && !self.is_dynamic
    }

    /// Returns the action of an instruction that has a step.
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

    /// Returns the action of an instruction that computes its result from its operands.
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

    /// Returns an instruction as a function of its operands.
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

    /// Returns an instruction as a function of its operands, in any layout.
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

    /// Returns a loop that carries only scalars, as a program over registers.
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

/// Returns whether the op's meaning depends on the layouts of its operands, or the host receives them.
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

/// Returns a collective op on a single device.
fn collective(instruction: &Instruction) -> Box<Function> {
    let instruction = instruction.clone();
    Box::new(move |context, operands| crate::collective::alone(&instruction, operands, context))
}
