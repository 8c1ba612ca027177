//! Actions of steps.
use crate::Result;
use crate::context::RunContext;
use crate::loops::LoopProgram;
use hlo::Literal;
use hlo::ir::ComputationId;
use hlo::op::Scan;
use kernels::Kernel;
use std::fmt;

/// The action of a step.
pub(crate) enum Action {
    /// Computes arrays into memory that the plan has chosen.
    Kernel(Box<dyn Kernel>),
    /// Computes a value from whole operands.
    Function(Box<LiteralFn>),
    /// Computes small arrays by several instructions, as a program.
    Steps(Box<LoopProgram>),
    /// Reinterprets the operand's elements in another shape of equal size in bytes.
    Bitcast,
    /// Runs a computation on the operands.
    Call(ComputationId),
    /// Runs `body` as long as `condition` is true.
    While {
        condition: ComputationId,
        body: ComputationId,
        /// The loop as a program, if it computes small arrays alone, or its condition, if that
        /// reads scalars alone.
        fast: Option<Box<LoopProgram>>,
    },
    /// Runs one of the computations.
    Branch(Vec<ComputationId>),
    /// Runs a computation for each index of a dimension.
    Scan(Box<Scan>),
    /// Starts a computation, once all its parameters are bound.
    AsyncStart { callee: ComputationId },
    /// Binds more parameters of a computation that was started.
    AsyncUpdate,
    /// Ends a computation that was started.
    AsyncDone,
    /// Exchanges values with other devices; the function is its meaning on one device.
    Communicate(Box<LiteralFn>),
    /// Starts an operation whose op has its own `-start`.
    Start(Box<LiteralFn>),
    /// Ends such an operation.
    Done,
}

/// A function of whole operands, with its result: an array or a tuple.
pub(crate) type LiteralFn = dyn Fn(&RunContext, &[&Literal]) -> Result<Literal> + Send + Sync;

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Action {
    /// Returns the kernel, if the action is one.
    pub(crate) fn kernel(&self) -> Option<&dyn Kernel> {
        if let Self::Kernel(kernel) = self { Some(&**kernel) } else { None }
    }
    /// Returns the name that plans print.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
            Self::Function(_) => "function",
            Self::Steps(_) => "steps (small arrays)",
            Self::Bitcast => "bitcast",
            Self::Call(_) => "call",
            Self::While { .. } if self.loop_program().is_some() => "while (small arrays)",
            Self::While { .. } => "while",
            Self::Branch(_) => "branch",
            Self::Scan(_) => "scan",
            Self::AsyncStart { .. } => "async-start",
            Self::AsyncUpdate => "async-update",
            Self::AsyncDone => "async-done",
            Self::Communicate(_) => "communicate",
            Self::Start(_) => "start",
            Self::Done => "done",
        }
    }
    /// Returns the program of a whole loop.
    pub(crate) fn loop_program(&self) -> Option<&LoopProgram> {
        let Self::While { fast, .. } = self else { return None };
        fast.as_deref().filter(|program| program.bytes().is_some())
    }
    /// Returns the bytes that it takes beside itself, as far as they are not on the heap of a
    /// kernel or a function.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Kernel(kernel) => size_of_val(&**kernel),
            Self::Function(function) | Self::Communicate(function) | Self::Start(function) => {
                size_of_val(&**function)
            }
            Self::Steps(program) => size_of_val(&**program),
            Self::While { fast, .. } => fast.as_deref().map_or(0, size_of_val),
            Self::Branch(branches) => size_of_val(&**branches),
            Self::Scan(scan) => size_of_val(&**scan),
            Self::Bitcast
            | Self::Call(_)
            | Self::AsyncStart { .. }
            | Self::AsyncUpdate
            | Self::AsyncDone
            | Self::Done => 0,
        }
    }
    /// Returns the computations that it runs.
    pub(crate) fn callees(&self) -> Vec<ComputationId> {
        match self {
            Self::Call(id) | Self::AsyncStart { callee: id } => vec![*id],
            Self::While { condition, body, .. } => vec![*condition, *body],
            Self::Branch(branches) => branches.clone(),
            Self::Scan(scan) => vec![scan.to_apply],
            Self::Kernel(_)
            | Self::Function(_)
            | Self::Steps(_)
            | Self::Bitcast
            | Self::AsyncUpdate
            | Self::AsyncDone
            | Self::Communicate(_)
            | Self::Start(_)
            | Self::Done => Vec::new(),
        }
    }
    /// Returns whether its value is an asynchronous operation in a run with several devices.
    pub(crate) fn starts(&self) -> bool {
        match self {
            Self::AsyncStart { .. } | Self::AsyncUpdate | Self::Start(_) => true,
            Self::Kernel(_)
            | Self::Function(_)
            | Self::Steps(_)
            | Self::Bitcast
            | Self::Call(_)
            | Self::While { .. }
            | Self::Branch(_)
            | Self::Scan(_)
            | Self::AsyncDone
            | Self::Communicate(_)
            | Self::Done => false,
        }
    }
    /// Returns whether it suspends the machine in a run with several devices.
    pub(crate) fn suspends(&self) -> bool {
        match self {
            Self::AsyncStart { .. }
            | Self::AsyncUpdate
            | Self::AsyncDone
            | Self::Communicate(_)
            | Self::Start(_)
            | Self::Done => true,
            Self::Kernel(_)
            | Self::Function(_)
            | Self::Steps(_)
            | Self::Bitcast
            | Self::Call(_)
            | Self::While { .. }
            | Self::Branch(_)
            | Self::Scan(_) => false,
        }
    }
}
