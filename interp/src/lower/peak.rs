//! The planned peak: the largest total of bytes that a computation and its callees hold.
//!
//! A plan counts one buffer for each array that its steps compute, from the step that computes it
//! to the last one that reads it. Parameters belong to the caller. A step that writes over a
//! parameter needs no memory if the caller has passed ownership of the buffer, and new memory if
//! the buffer is shared; so every plan has two peaks.
use crate::loops::LoopProgram;
use crate::plan::{Action, Plan, Step};
use crate::state::Site;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::Scan;
use hlo::{Module, Op};
use num::parallel::threads;

/// The memory use of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepMemory {
    /// Arrays that steps compute and that are live during it, its outputs included, but not the
    /// inputs that die at a loop.
    pub(super) live: usize,
    pub(super) outputs: usize,
    /// Arrays of these that are written to the buffers of parameters.
    pub(super) over_parameters: usize,
    /// Inputs that steps compute and that leave their slots.
    pub(super) dying: usize,
    /// Inputs that are parameters and leave their slots.
    pub(super) dying_parameters: usize,
    /// Whether all inputs leave their slots.
    pub(super) is_last_use: bool,
}

/// The peaks of a plan.
#[derive(Debug, Clone, Copy, Default)]
struct Peaks {
    /// The peak if the arguments are not owned.
    shared: usize,
    /// The peak if the frame owns the arguments, which the caller counts.
    owned: usize,
}

/// Sets the peak of each plan, including the computations that it runs.
pub(super) fn set_peaks(module: &Module, plans: &mut [Plan], memory: &[Vec<StepMemory>]) {
    let mut peaks: Vec<Option<Peaks>> = vec![None; plans.len()];
    let mut open: Vec<(ComputationId, bool)> =
        module.computations.ids().map(|id| (id, false)).collect();
    // Depth first, with an explicit stack: calls may be nested as deep as a module is long.
    while let Some((id, has_callees)) = open.pop() {
        if peaks[id.index()].is_some() {
            continue;
        }
        let plan = &plans[id.index()];
        if !has_callees {
            let callees = plan.steps.iter().flat_map(|step| callees(module, step));
            let missing: Vec<_> =
                callees.filter(|callee| peaks[callee.index()].is_none()).collect();
            open.push((id, true));
            open.extend(missing.into_iter().map(|callee| (callee, false)));
            continue;
        }
        let of = |id: &ComputationId| peaks[id.index()].unwrap_or_default();
        // Each thread may call a computation that an op applies to elements.
        for step in &mut plans[id.index()].steps {
            let applied =
                step.applies.iter().map(|id| of(id).shared).fold(0, usize::saturating_add);
            step.scratch = step.scratch.saturating_add(applied.saturating_mul(threads()));
        }
        let plan = &plans[id.index()];
        let most = |is_owned: bool| {
            let steps = plan.steps.iter().zip(&memory[id.index()]);
            steps.map(|(step, memory)| peak(module, step, *memory, is_owned, &of)).max()
        };
        let found = Peaks { shared: most(false).unwrap_or(0), owned: most(true).unwrap_or(0) };
        peaks[id.index()] = Some(found);
        plans[id.index()].peak_bytes = found.shared;
    }
}

/// Returns the most bytes in use while a step runs; `is_owned` says whether the frame owns its
/// arguments.
fn peak(
    module: &Module,
    step: &Step,
    memory: StepMemory,
    is_owned: bool,
    of: &impl Fn(&ComputationId) -> Peaks,
) -> usize {
    let from_caller = |bytes: usize| if is_owned { bytes } else { 0 };
    let live = memory.live.saturating_sub(from_caller(memory.over_parameters));
    match &step.action {
        // The callee computes the outputs, so they are among its own arrays while it runs.
        Action::Call(_) | Action::Branch(_) => {
            let hands_over = memory.is_last_use && (is_owned || memory.dying_parameters == 0);
            let callees = step.action.callees();
            let callees = callees.iter().map(of);
            let inner = callees.map(|p| if hands_over { p.owned } else { p.shared }).max();
            let before = live.saturating_sub(memory.outputs);
            before.saturating_add(inner.unwrap_or(0)).max(live)
        }
        // The outputs stand for the carried arrays, which replace the arguments. A condition shares
        // them.
        Action::While { condition, body, fast: _ } => {
            let inner = of(condition).shared.max(of(body).owned);
            let frames = live.saturating_sub(from_caller(memory.dying_parameters));
            // A loop that is one function keeps its inputs until it has its outputs.
            let function = step.action.loop_program().and_then(LoopProgram::bytes);
            let with_inputs = live.saturating_add(memory.dying);
            let function = function.map_or(0, |bytes| with_inputs.saturating_add(bytes));
            frames.saturating_add(inner).max(function)
        }
        // The outputs stand for the carries too.
        Action::Scan(op) => {
            let slices = slices(module, step.site, op);
            live.saturating_add(slices).saturating_add(of(&op.to_apply).owned)
        }
        // The memory of an asynchronous operation is that of the `-start` until it is done.
        Action::AsyncStart { .. } | Action::AsyncUpdate | Action::AsyncDone => {
            let callees = callees(module, step);
            let inner = callees.iter().map(|id| of(id).shared).max().unwrap_or(0);
            live.saturating_add(inner)
        }
        Action::Kernel(_)
        | Action::Function(_)
        | Action::Steps(_)
        | Action::Communicate(_)
        | Action::Start(_) => live.saturating_add(step.scratch),
        Action::Bitcast | Action::Done => live,
    }
}

/// Returns the computations that a step may run: a started one runs where its last operand is
/// bound.
fn callees(module: &Module, step: &Step) -> Vec<ComputationId> {
    let is_bound_here = match &step.action {
        Action::AsyncUpdate | Action::AsyncDone => true,
        Action::Kernel(_)
        | Action::Function(_)
        | Action::Steps(_)
        | Action::Bitcast
        | Action::Call(_)
        | Action::While { .. }
        | Action::Branch(_)
        | Action::Scan(_)
        | Action::AsyncStart { .. }
        | Action::Communicate(_)
        | Action::Start(_)
        | Action::Done => false,
    };
    if !is_bound_here {
        return step.action.callees().into_iter().chain(step.applies.iter().copied()).collect();
    }
    let computation = &module.computations[step.site.computation];
    let mut instruction = step.site.of(module);
    while let Some(&operand) = instruction.operands.first() {
        instruction = &computation.instructions[operand];
        if let Op::AsyncStart(op) = &instruction.op {
            return vec![op.calls];
        }
    }
    Vec::new()
}

/// Returns bytes of one index of each input of a scan.
fn slices(module: &Module, site: Site, op: &Scan) -> usize {
    let computation = &module.computations[site.computation];
    let operands = &site.of(module).operands;
    let carries = usize::try_from(op.num_carries).unwrap_or(0);
    let inputs = operands[..operands.len().saturating_sub(carries)].iter();
    let slice = |&id: &InstructionId| {
        let shape = computation.instructions[id].shape.array()?;
        let dim = usize::try_from(*op.dimensions.first()?).ok()?;
        let extent = usize::try_from(*shape.dims.get(dim)?).ok()?;
        shape.byte_count().map(|bytes| bytes / extent.max(1))
    };
    inputs.filter_map(slice).fold(0, usize::saturating_add)
}
