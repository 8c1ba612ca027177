//! The manual region of each instruction of a computation.
//!
//! An instruction is *local* if it has a value per device: a shard, the number of a device, the
//! result of a collective, and everything computed from these. An assembled value is *global*
//! again. Regions may be nested, so a depth is counted: a full-to-shard marker adds one, a
//! shard-to-full marker subtracts one.
//!
//! A region without arguments has no full-to-shard marker: its depth is known only from the
//! shard-to-full markers that its values pass later, so these are counted as well.
//!
//! A region runs as a whole, so it must not depend on itself. Each instruction has a *stage*: the
//! number of regions that must run before it. A region is a connected component of the local
//! instructions of one stage.
use super::calls::{self, Found};
use super::marker::{self, MarkerKind};
use hlo::Op;
use hlo::id::SecondaryMap;
use hlo::ir::{CommonAttrs, Computation, ComputationId, Instruction, InstructionId};

/// The regions of a computation.
#[derive(Debug)]
pub(super) struct Stages {
    /// The number of regions that must run before each instruction.
    stage: SecondaryMap<Instruction, usize>,
    /// The region of each instruction: local ones, and the shard-to-full markers that end it.
    region: SecondaryMap<Instruction, Option<usize>>,
    /// Whether the instruction's value is local.
    local: SecondaryMap<Instruction, bool>,
    /// The instructions of each region, in text order; regions in the order of their stages.
    pub(super) regions: Vec<Vec<InstructionId>>,
}

impl Stages {
    /// Finds the regions of a computation that runs once for all devices.
    pub(super) fn of(computation: &Computation, found: &SecondaryMap<Computation, Found>) -> Self {
        let count = computation.instructions.len();
        let mut stages = Self {
            stage: SecondaryMap::filled(count, 0),
            region: SecondaryMap::filled(count, None),
            local: SecondaryMap::filled(count, false),
            regions: Vec::new(),
        };
        let mut depths = SecondaryMap::filled(count, 0usize);
        let later = shard_to_full_later(computation);
        // Whether a value depends on a full-to-shard marker, so that its depth is known from its
        // operands.
        let mut entered = SecondaryMap::filled(count, false);
        // The stage in which an instruction runs; the value of a marker that ends a region belongs
        // to the next one.
        let mut runs = SecondaryMap::filled(count, 0usize);
        let mut sets = DisjointSets((0..count).collect());
        for (id, instruction) in computation.instructions.iter() {
            let depth = instruction.operands.iter().map(|&o| depths[o]).max().unwrap_or(0);
            let kind = marker::kind(&instruction.op);
            entered[id] = kind == Some(MarkerKind::FullToShard)
                || instruction.operands.iter().any(|&o| entered[o]);
            depths[id] = match kind {
                Some(MarkerKind::FullToShard) => depth + 1,
                Some(MarkerKind::ShardToFull) => match marker::is_inside(instruction) {
                    Some(true) => depth.saturating_sub(1).max(1),
                    Some(false) => 0,
                    None if depth > 0 && !entered[id] => later[id].max(depth - 1),
                    None => depth.saturating_sub(1),
                },
                None if depth == 0 && is_per_device(&instruction.op, later[id], found) => 1,
                None => depth,
            };
            let ends = kind == Some(MarkerKind::ShardToFull) && depths[id] == 0;
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
                    sets.merge(id.index(), before.index());
                }
            }
        }
        stages.number(computation, &runs, &mut sets);
        stages
    }

    /// Returns the first stage in which everything that an instruction needs is available.
    fn earliest(
        &self,
        instruction: &Instruction,
        inside: bool,
        runs: &SecondaryMap<Instruction, usize>,
    ) -> usize {
        let operands = instruction.operands.iter().map(|&o| self.stage[o]);
        // An instruction that must run after a region, but is not part of it, runs in the next
        // stage.
        let after = control(instruction).iter().map(|&before| match self.region[before] {
            Some(_) if inside && self.local[before] => runs[before],
            Some(_) => runs[before] + 1,
            None => self.stage[before],
        });
        operands.chain(after).max().unwrap_or(0)
    }

    /// Numbers the regions, in the order of their stages and of their first instructions.
    fn number(
        &mut self,
        computation: &Computation,
        runs: &SecondaryMap<Instruction, usize>,
        sets: &mut DisjointSets,
    ) {
        let mut places = vec![None; computation.instructions.len()];
        let mut found: Vec<(usize, Vec<InstructionId>)> = Vec::new();
        for id in computation.instructions.ids() {
            if self.region[id].is_none() {
                continue;
            }
            let place = *places[sets.root(id.index())].get_or_insert_with(|| {
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

    /// Returns whether an instruction has a value per device.
    pub(super) fn is_local(&self, id: InstructionId) -> bool {
        self.local[id]
    }
    /// Returns the region of an instruction.
    pub(super) fn region(&self, id: InstructionId) -> Option<usize> {
        self.region[id]
    }
    /// Returns the instruction that makes a local one local.
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

/// Returns whether an instruction has a value per device whatever its operands are: because of its
/// op, or of what it calls. What it calls may contain whole regions and return a global value,
/// unless a marker takes that for a shard `later`.
fn is_per_device(op: &Op, later: usize, found: &SecondaryMap<Computation, Found>) -> bool {
    let calls_devices =
        |&id: &ComputationId| found[id].devices && (later > 0 || !found[id].markers);
    calls::is_per_device(op) || calls::callees(op).iter().any(calls_devices)
}

/// Returns for each instruction the number of shard-to-full markers that its value passes until it
/// is global.
fn shard_to_full_later(computation: &Computation) -> SecondaryMap<Instruction, usize> {
    let mut later = SecondaryMap::filled(computation.instructions.len(), 0usize);
    let ids: Vec<_> = computation.instructions.ids().collect();
    for id in ids.into_iter().rev() {
        let instruction = &computation.instructions[id];
        let own = match marker::kind(&instruction.op) {
            Some(MarkerKind::ShardToFull) => later[id] + 1,
            Some(MarkerKind::FullToShard) => later[id].saturating_sub(1),
            None => later[id],
        };
        for &operand in &instruction.operands {
            later[operand] = later[operand].max(own);
        }
    }
    later
}

/// Returns the instructions that must run before this one.
fn control(instruction: &Instruction) -> &[InstructionId] {
    instruction.common.as_deref().map(CommonAttrs::control_predecessors).unwrap_or_default()
}

/// Disjoint sets, each represented by one of its members.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }
    fn merge(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
