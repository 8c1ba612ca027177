//! Lowering: which action an instruction becomes.
use super::cost;
use super::function::{SiteEngine, in_stated_layouts};
use super::limits::CompileLimits;
use super::unallocated::ArrayId;
use super::value_key::ValueKey;
use crate::analysis::Analysis;
use crate::loops::{self, LoopProgram, Member, SmallArray};
use crate::plan::{Action, LiteralFn};
use crate::state::Site;
use hlo::ir::{ComputationId, Instruction};
use hlo::op::{AsyncRole, Kind, While};
use hlo::{Module, Op, Shape};
use kernels::Kernel;
use num::Arithmetic;
use smallvec::SmallVec;

/// The lowered form of an instruction.
pub(super) struct Lowered {
    pub(super) action: Action,
    /// Fuel beyond that of the instruction.
    pub(super) fuel: u64,
    /// Bytes that it works in beside its operands and its result.
    pub(super) scratch: usize,
    /// The computations that it applies to elements on machines of their own.
    pub(super) applies: SmallVec<[ComputationId; 1]>,
}

/// The data of a module that is being compiled.
pub(super) struct Lowering<'a> {
    pub(super) analysis: Analysis<'a>,
    pub(super) limits: CompileLimits,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(analysis: Analysis<'a>, limits: CompileLimits) -> Self {
        Self { analysis, limits }
    }
    pub(super) fn module(&self) -> &'a Module {
        self.analysis.module
    }

    /// Returns what the instruction of a key becomes.
    pub(super) fn lower(&self, site: Site, key: &ValueKey<'_>) -> Lowered {
        let (instruction, operands) = (key.instruction(), &*key.shapes());
        let fuel = cost::fuel(&instruction.op, operands, &instruction.shape);
        let action = self.action(site, instruction, operands);
        let scratch = self.scratch(site, instruction, operands, &action);
        let mut applies = SmallVec::new();
        if action.callees().is_empty() {
            instruction.op.each_callee(&mut |id| applies.push(id));
            applies.retain(|id| self.analysis.programs.needs_machine(*id));
        }
        Lowered { action, fuel, scratch, applies }
    }

    fn scratch(
        &self,
        site: Site,
        instruction: &Instruction,
        operands: &[&Shape],
        action: &Action,
    ) -> usize {
        match action {
            Action::Kernel(kernel) => kernel.scratch(),
            Action::Function(_) => {
                let site_engine = SiteEngine { site, engine: self.analysis.engine };
                let own = match site_engine.kernel(instruction, operands, self.analysis.programs) {
                    Some(kernel) => kernel.scratch(),
                    None => {
                        let arithmetic = self.analysis.arithmetic().unwrap_or(Arithmetic::Exact);
                        let (op, result) = (&instruction.op, &instruction.shape);
                        cost::cost(op, operands, result, arithmetic).scratch
                    }
                };
                match self.analysis.may_be_smaller(site, instruction) {
                    true => own.saturating_add(cost::of_resizing(instruction, operands)),
                    false => own,
                }
            }
            Action::Communicate(_) => cost::of_exchange(instruction),
            Action::Bitcast
            | Action::Steps(_)
            | Action::Call(_)
            | Action::While { .. }
            | Action::Branch(_)
            | Action::Scan(_)
            | Action::AsyncStart { .. }
            | Action::AsyncUpdate
            | Action::AsyncDone
            | Action::Start(_)
            | Action::Done => 0,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the kind of other ops decides")]
    fn action(&self, site: Site, instruction: &Instruction, operands: &[&Shape]) -> Action {
        match &instruction.op {
            Op::Call(op) => Action::Call(op.to_apply),
            Op::Fusion(op) => Action::Call(op.calls),
            Op::While(op) => {
                let fast = self.loop_program(op).map(Box::new);
                Action::While { condition: op.condition, body: op.body, fast }
            }
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
                    Action::Communicate(self.function(site, instruction, operands, None))
                }
                _ => self.compute(site, instruction, operands),
            },
        }
    }

    /// Returns the action of an instruction that computes its result from its operands.
    fn compute(&self, site: Site, instruction: &Instruction, operands: &[&Shape]) -> Action {
        let is_fixed = !self.analysis.may_be_smaller(site, instruction);
        let site_engine = SiteEngine { site, engine: self.analysis.engine };
        match site_engine.kernel(instruction, operands, self.analysis.programs) {
            Some(kernel) if is_fixed && kernel.is_bitcast() => Action::Bitcast,
            Some(kernel) if is_fixed => Action::Kernel(kernel),
            kernel => Action::Function(self.function(site, instruction, operands, kernel)),
        }
    }

    /// Returns the function of an instruction, within their bounds by the kernel if
    /// there is one.
    fn function(
        &self,
        site: Site,
        instruction: &Instruction,
        operands: &[&Shape],
        kernel: Option<Box<dyn Kernel>>,
    ) -> Box<LiteralFn> {
        let site_engine = SiteEngine { site, engine: self.analysis.engine };
        let mut function = site_engine.fixed(instruction, kernel);
        if self.analysis.may_be_smaller(site, instruction) {
            function = site_engine.resizable(instruction, operands, function);
        }
        in_stated_layouts(instruction, operands, function)
    }

    /// Returns steps on small arrays as a program.
    ///
    /// # Errors
    /// The number of the first member that cannot be part of one.
    pub(super) fn program_of_steps(
        &self,
        arrays: &[(ArrayId, SmallArray<'_>)],
        members: &[Member<'_>],
        results: &[ArrayId],
    ) -> Result<LoopProgram, usize> {
        let function = |site: Site, instruction: &Instruction, operands: &[&Shape]| {
            self.function(site, instruction, operands, None)
        };
        loops::of_steps(&self.analysis, &function, (arrays, members, results))
    }

    /// Returns a loop over small arrays, or a condition of scalars, as a program; the engine
    /// `reference` has none.
    fn loop_program(&self, op: &While) -> Option<LoopProgram> {
        self.analysis.arithmetic()?;
        let function = |site: Site, instruction: &Instruction, operands: &[&Shape]| {
            self.function(site, instruction, operands, None)
        };
        loops::compile(&self.analysis, &function, op)
    }
}

/// Returns the function of a collective op on the only device there is.
fn collective(instruction: &Instruction) -> Box<LiteralFn> {
    let instruction = instruction.clone();
    Box::new(move |context, operands| crate::collective::alone(&instruction, operands, context))
}
