//! Which instructions of a computation belong to which manual region.
//!
//! An instruction is *local* if every device has a value of its own for it: what is cut, the number of a device, what a
//! collective gives, and all that is computed from these. What is put together is *global* again. Regions may be inside each
//! other, so a depth is counted: one more where something is cut, one less where it is put together.
//!
//! A region is run once, all of it, so it must not wait for itself. Each instruction has a *stage*: how many regions come
//! before it. A region is what hangs together among the local instructions of one stage.
use super::calls::{self, Found};
use super::marker::{self, Kind};
use hlo::ir::{CommonAttrs, Computation, Instruction, InstructionId};
use hlo::{Op, SecondaryMap};

/// The regions of a computation.
#[derive(Debug)]
pub(super) struct Stages {
    /// How many regions come before each instruction.
    stage: SecondaryMap<Instruction, usize>,
    /// The region each instruction belongs to: local ones, and joins that end it.
    region: SecondaryMap<Instruction, Option<usize>>,
    /// Whether the instruction's own value is local.
    local: SecondaryMap<Instruction, bool>,
    /// The instructions of each region, in text order; regions in the order of their stages.
    pub(super) regions: Vec<Vec<InstructionId>>,
}

impl Stages {
    /// The regions of a computation that is run once, for all devices.
    pub(super) fn of(computation: &Computation, found: &SecondaryMap<Computation, Found>) -> Self {
        let count = computation.instructions.len();
        let mut stages = Self {
            stage: SecondaryMap::filled(count, 0),
            region: SecondaryMap::filled(count, None),
            local: SecondaryMap::filled(count, false),
            regions: Vec::new(),
        };
        let mut depths = SecondaryMap::filled(count, 0usize);
        // The stage an instruction is run in; of a join that ends a region its value counts one more.
        let mut runs = SecondaryMap::filled(count, 0usize);
        let mut union = Union((0..count).collect());
        for (id, instruction) in computation.instructions.iter() {
            let depth = instruction.operands.iter().map(|&o| depths[o]).max().unwrap_or(0);
            let kind = marker::kind(&instruction.op);
            depths[id] = match kind {
                Some(Kind::Cut) => depth + 1,
                Some(Kind::Join) => match marker::is_inside(instruction) {
                    Some(true) => depth.saturating_sub(1).max(1),
                    Some(false) => 0,
                    None => depth.saturating_sub(1),
                },
                None if depth == 0 && is_own(&instruction.op, found) => 1,
                None => depth,
            };
            let ends = kind == Some(Kind::Join) && depths[id] == 0;
            stages.local[id] = depths[id] > 0;
            let inside = stages.local[id] || ends;
            let stage = stages.earliest(instruction, inside, &runs);
            (runs[id], stages.stage[id]) = (stage, stage + usize::from(ends));
            if !inside {
                continue;
            }
            stages.region[id] = Some(id.index());
            for &before in instruction.operands.iter().chain(control(instruction)) {
                if stages.local[before] && runs[before] == stage {
                    union.join(id.index(), before.index());
                }
            }
        }
        stages.number(computation, &runs, &mut union);
        stages
    }

    /// The first stage in which all that an instruction needs is there.
    fn earliest(
        &self,
        instruction: &Instruction,
        inside: bool,
        runs: &SecondaryMap<Instruction, usize>,
    ) -> usize {
        let operands = instruction.operands.iter().map(|&o| self.stage[o]);
        // What must come after a region, but does not belong to it, comes in the next stage.
        let after = control(instruction).iter().map(|&before| match self.region[before] {
            Some(_) if inside && self.local[before] => runs[before],
            Some(_) => runs[before] + 1,
            None => self.stage[before],
        });
        operands.chain(after).max().unwrap_or(0)
    }

    /// Gives the regions numbers, in the order of their stages and of their first instructions.
    fn number(
        &mut self,
        computation: &Computation,
        runs: &SecondaryMap<Instruction, usize>,
        union: &mut Union,
    ) {
        let mut places = vec![None; computation.instructions.len()];
        let mut found: Vec<(usize, Vec<InstructionId>)> = Vec::new();
        for id in computation.instructions.ids() {
            if self.region[id].is_none() {
                continue;
            }
            let place = *places[union.root(id.index())].get_or_insert_with(|| {
                found.push((runs[id], Vec::new()));
                found.len() - 1
            });
            found[place].1.push(id);
        }
        found.sort_by_key(|(stage, _)| *stage);
        for (number, (_, members)) in found.into_iter().enumerate() {
            for &id in &members {
                self.region[id] = Some(number);
            }
            self.regions.push(members);
        }
    }

    /// Whether every device has a value of its own for an instruction.
    pub(super) fn is_local(&self, id: InstructionId) -> bool {
        self.local[id]
    }
    /// The region an instruction belongs to.
    pub(super) fn region(&self, id: InstructionId) -> Option<usize> {
        self.region[id]
    }
    /// How many regions come before an instruction that belongs to none.
    pub(super) fn stage(&self, id: InstructionId) -> usize {
        self.stage[id]
    }
    /// The stage a region is run in.
    pub(super) fn stage_of(&self, region: usize) -> usize {
        let members = self.regions[region].iter();
        let stage = |&id: &InstructionId| self.stage[id] - usize::from(!self.local[id]);
        members.map(stage).max().unwrap_or(0)
    }
    /// The instruction from which a local one has it that it is local.
    pub(super) fn source(&self, computation: &Computation, id: InstructionId) -> InstructionId {
        let mut at = id;
        loop {
            let operands = &computation.instructions[at].operands;
            match operands.iter().find(|&&operand| self.local[operand]) {
                Some(&operand) => at = operand,
                None => return at,
            }
        }
    }
}

/// Whether an instruction's value is a device's own whatever its operands are: because of its op, or of what it calls.
fn is_own(op: &Op, found: &SecondaryMap<Computation, Found>) -> bool {
    calls::is_own(op)
        || calls::callees(op).iter().any(|&id| found[id].devices && !found[id].markers)
}

/// Instructions that must run before this one.
fn control(instruction: &Instruction) -> &[InstructionId] {
    instruction.common.as_deref().map(CommonAttrs::control_predecessors).unwrap_or_default()
}

/// Sets that are joined, each known by one of its members.
struct Union(Vec<usize>);

impl Union {
    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
