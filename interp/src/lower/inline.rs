//! Inlining: the steps of a called computation become steps of its caller, so that they can be
//! fused with others there. So do the steps of each iteration of a loop of few iterations.
//!
//! Only computations of one device are inlined: a cross-device instruction is known by the
//! computations that are open when a device reaches it.
use super::cost;
use crate::plan::Action;
use crate::trip_count::iterations_up_to;
use hlo::ir::{Computation, ComputationId, Instruction};
use hlo::op::{Kind, While};
use hlo::{Module, Op, Shape};

/// The limit of instructions of an inlined computation, those that it inlines included, if it has
/// several callers.
const MOST_SHARED: usize = 256;
/// The limit if it has one.
const MOST: usize = 1 << 16;
/// The limit of nested inlined computations.
const DEPTH: usize = 64;

/// The limit of iterations of a loop whose iterations are inlined.
const MOST_ITERATIONS: usize = 8;
/// The limit of their instructions.
const MOST_UNROLLED: usize = 1024;

/// The computations that are inlined where they are called.
#[derive(Debug)]
pub(super) struct Inlining {
    /// The fuel of each computation that is inlined.
    fuel: Vec<Option<u64>>,
    /// The size of each computation.
    sizes: Vec<Option<Size>>,
    is_active: bool,
}

impl Inlining {
    /// Decides for all computations of a module. If it is not active, nothing is inlined.
    pub(super) fn of(module: &Module, is_active: bool) -> Self {
        let mut calls = vec![0usize; module.computations.len()];
        for (_, computation) in module.computations.iter() {
            let instructions = computation.instructions.iter();
            for callee in instructions.filter_map(|(_, instruction)| instruction.op.called_once()) {
                calls[callee.index()] += 1;
            }
        }
        let mut found: Vec<Option<Size>> = vec![None; module.computations.len()];
        let mut open: Vec<(ComputationId, bool)> =
            module.computations.ids().map(|id| (id, false)).collect();
        let is_inlined = |id: ComputationId, size: Size| {
            let most = if calls[id.index()] > 1 { MOST_SHARED } else { MOST };
            size.is_local && size.count <= most && size.depth <= DEPTH
        };
        // Depth first, with an explicit stack: calls may be nested as deep as a module is long.
        while let Some((id, has_callees)) = open.pop() {
            if found[id.index()].is_some() {
                continue;
            }
            let instructions = module.computations[id].instructions.iter();
            if !has_callees {
                open.push((id, true));
                for (_, instruction) in instructions {
                    instruction.op.each_callee(&mut |callee| open.push((callee, false)));
                }
                continue;
            }
            let mut size = Size { count: 0, depth: 1, is_local: true, has_loop: false, fuel: 0 };
            for (_, instruction) in instructions {
                size.count += 1;
                if let Op::While(op) = &instruction.op {
                    size.has_loop = true;
                    let all = unrolled(module, &module.computations[id], instruction, op, &found);
                    size.count = size.count.saturating_add(all.map_or(0, |(_, count)| count));
                }
                let operands = instruction.operands.iter();
                let operands: Vec<&Shape> = operands
                    .map(|&operand| &module.computations[id].instructions[operand].shape)
                    .collect();
                let fuel = cost::fuel(&instruction.op, &operands, &instruction.shape);
                size.fuel = size.fuel.saturating_add(fuel.saturating_add(1));
                size.is_local &= is_local(instruction);
                instruction.op.each_callee(&mut |callee| {
                    let inner = found[callee.index()];
                    size.is_local &= inner.is_some_and(|size| size.is_local);
                    size.has_loop |= inner.is_none_or(|size| size.has_loop);
                });
                if let Some(callee) = instruction.op.called_once()
                    && let Some(inner) = found[callee.index()]
                    && is_inlined(callee, inner)
                {
                    size.count = size.count.saturating_add(inner.count);
                    size.fuel = size.fuel.saturating_add(inner.fuel);
                    size.depth = size.depth.max(inner.depth + 1);
                }
            }
            found[id.index()] = Some(size);
        }
        let sizes = module.computations.ids().zip(&found);
        let inlined = sizes.map(|(id, size)| size.filter(|size| is_inlined(id, *size)));
        let fuel = inlined.map(|size| size.map(|size| size.fuel)).collect();
        Self { fuel, sizes: found, is_active }
    }
    /// Returns whether a step may stand for several instructions.
    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }
    /// Returns the computation that is inlined at an instruction.
    pub(super) fn callee(&self, instruction: &Instruction) -> Option<ComputationId> {
        instruction
            .op
            .called_once()
            .filter(|callee| self.is_active && self.fuel[callee.index()].is_some())
    }
    /// Returns the iterations of a loop whose iterations are inlined.
    pub(super) fn iterations(
        &self,
        module: &Module,
        computation: &Computation,
        instruction: &Instruction,
    ) -> Option<usize> {
        let Op::While(op) = &instruction.op else { return None };
        let iterations = unrolled(module, computation, instruction, op, &self.sizes);
        iterations.filter(|_| self.is_active).map(|(iterations, _)| iterations)
    }
    /// Returns the fuel of the computation that a dead step calls. It is spent, as that of all dead
    /// instructions is, so that a run takes the same fuel whether or not computations are inlined.
    pub(super) fn fuel_of_dead(&self, action: &Action) -> u64 {
        let Action::Call(callee) = action else { return 0 };
        self.fuel[callee.index()].unwrap_or(0)
    }
}

/// The size and other properties of a computation.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// Instructions, with those of the computations that it inlines.
    count: usize,
    depth: usize,
    /// Whether it has only instructions of one device.
    is_local: bool,
    /// Whether it has loops, or calls a computation that has.
    has_loop: bool,
    fuel: u64,
}

/// Returns the iterations of a loop whose iterations are inlined, and their instructions.
fn unrolled(
    module: &Module,
    computation: &Computation,
    instruction: &Instruction,
    op: &While,
    sizes: &[Option<Size>],
) -> Option<(usize, usize)> {
    let [condition, body] = [op.condition, op.body].map(|id| sizes[id.index()]);
    let (condition, body) = (condition?, body?);
    let iteration = condition.count.saturating_add(body.count);
    let fits = |size: Size| size.is_local && !size.has_loop && size.depth < DEPTH;
    if !fits(condition) || !fits(body) || iteration > MOST_UNROLLED {
        return None;
    }
    let iterations = iterations_up_to(MOST_ITERATIONS, module, computation, instruction)?;
    let count = (iterations + 1).saturating_mul(iteration);
    (count <= MOST_UNROLLED).then_some((iterations, count))
}

fn is_local(instruction: &Instruction) -> bool {
    match instruction.opcode().kind() {
        Kind::Array | Kind::Value | Kind::Control | Kind::Custom | Kind::Random | Kind::Device => {
            true
        }
        Kind::Asynchronous | Kind::Collective | Kind::Host | Kind::Transfer => false,
    }
}
