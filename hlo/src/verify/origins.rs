//! The starts from which the value of an asynchronous op comes, through tuples, loops, branches and
//! calls.
use crate::ir::{ComputationId, Instruction, InstructionId};
use crate::op::AsyncRole;
use crate::{Module, Op, Opcode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// An instruction of a module.
pub(super) type Site = (ComputationId, InstructionId);

/// An instruction, and the element of its result in question: an index for each tuple from the
/// outermost inwards.
type Part = (Site, Vec<i64>);

/// The instructions that make a value.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Starts whose values are passed on as a whole.
    pub(super) starts: Vec<Site>,
    /// One that is no start, or whose value is passed on in part.
    pub(super) other: Option<Site>,
}

/// Finds the starts of asynchronous values.
pub(super) struct Tracer<'a> {
    module: &'a Module,
    /// The instructions that call each computation.
    callers: FxHashMap<ComputationId, Vec<Site>>,
    /// The origins of updates, so that each step of a long chain is traced once.
    known: FxHashMap<Site, Rc<Origins>>,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        let mut callers: FxHashMap<_, Vec<Site>> = FxHashMap::default();
        for (computation, holder) in module.computations.iter() {
            for (id, instruction) in holder.instructions.iter() {
                let caller = (computation, id);
                instruction.op.each_callee(&mut |callee| {
                    callers.entry(callee).or_default().push(caller);
                });
            }
        }
        Self { module, callers, known: FxHashMap::default() }
    }

    fn instruction(&self, (computation, id): Site) -> &'a Instruction {
        &self.module.computations[computation].instructions[id]
    }

    /// Returns the origins of the first operand of an update or a done.
    pub(super) fn origins(&mut self, site: Site) -> Rc<Origins> {
        let instruction = self.instruction(site);
        let mut found = Origins::default();
        if let Some(&operand) = instruction.operands.first() {
            self.trace((site.0, operand), &mut found);
        }
        let found = Rc::new(found);
        if let Some(AsyncRole::Update(_)) = instruction.opcode().async_role() {
            self.known.insert(site, Rc::clone(&found));
        }
        found
    }

    fn trace(&self, from: Site, found: &mut Origins) {
        let (mut open, mut seen) = (vec![(from, Vec::new())], FxHashSet::default());
        while let Some(part) = open.pop() {
            if !seen.insert(part.clone()) {
                continue;
            }
            let (site, index) = part;
            let instruction = self.instruction(site);
            match instruction.opcode().async_role() {
                Some(AsyncRole::Start(_)) if index.is_empty() => found.starts.push(site),
                Some(AsyncRole::Update(_)) if index.is_empty() => match self.known.get(&site) {
                    Some(known) => {
                        found.starts.extend_from_slice(&known.starts);
                        found.other = found.other.or(known.other);
                    }
                    None => open.push(((site.0, instruction.operands[0]), index)),
                },
                Some(_) => found.other = found.other.or(Some(site)),
                None => match self.before((site, index)) {
                    Some(parts) => open.extend(parts),
                    None => found.other = found.other.or(Some(site)),
                },
            }
        }
        found.starts.sort_unstable();
        found.starts.dedup();
    }

    /// Returns where a part of a value comes from, if an instruction only passes it on. The
    /// parameter of a computation that is never called comes from nowhere.
    fn before(&self, (site, mut index): Part) -> Option<Vec<Part>> {
        let (holder, _) = site;
        let instruction = self.instruction(site);
        let operand = |i: usize| Some((holder, *instruction.operands.get(i)?));
        let root = |callee: ComputationId| (callee, self.module.computations[callee].root);
        #[expect(clippy::wildcard_enum_match_arm, reason = "any other op makes its own value")]
        match &instruction.op {
            Op::Tuple(_) => {
                let first = usize::try_from(*index.first()?).ok()?;
                index.remove(0);
                Some(vec![(operand(first)?, index)])
            }
            Op::GetTupleElement(get) => {
                index.insert(0, get.index);
                Some(vec![(operand(0)?, index)])
            }
            Op::Call(call) => Some(vec![(root(call.to_apply), index)]),
            Op::While(op) => Some(vec![(operand(0)?, index.clone()), (root(op.body), index)]),
            Op::Conditional(op) => {
                Some(op.branches.iter().map(|&branch| (root(branch), index.clone())).collect())
            }
            Op::Parameter(parameter) => self.arguments(holder, parameter.number, &index),
            op if op.opcode().aliases_operand() => Some(vec![(operand(0)?, index)]),
            _ => None,
        }
    }

    /// Returns what the callers of a computation pass for a parameter.
    fn arguments(&self, callee: ComputationId, number: i64, index: &[i64]) -> Option<Vec<Part>> {
        if callee == self.module.entry {
            return None;
        }
        let mut parts = Vec::new();
        for &(holder, caller) in self.callers.get(&callee).into_iter().flatten() {
            let instruction = self.instruction((holder, caller));
            let positions = if let Op::Call(_) | Op::AsyncStart(_) = instruction.op {
                vec![usize::try_from(number).ok()?]
            } else if let Op::While(op) = &instruction.op {
                let root = self.module.computations[op.body].root;
                parts.push(((op.body, root), index.to_vec()));
                vec![0]
            } else if let Op::Conditional(op) = &instruction.op {
                let branches = op.branches.iter().zip(1..);
                branches.filter(|&(&branch, _)| branch == callee).map(|(_, i)| i).collect()
            } else {
                return None;
            };
            for position in positions {
                let operand = *instruction.operands.get(position)?;
                parts.push(((holder, operand), index.to_vec()));
            }
        }
        Some(parts)
    }

    /// Returns the instruction of the same computation whose value this is, and the part of it,
    /// through tuples.
    pub(super) fn local(&self, (holder, id): Site) -> (InstructionId, Vec<i64>) {
        let mut part = ((holder, id), Vec::new());
        loop {
            let opcode = self.instruction(part.0).opcode();
            let is_local = opcode == Opcode::Tuple
                || opcode == Opcode::GetTupleElement
                || opcode.aliases_operand();
            let before = is_local.then(|| self.before(part.clone())).flatten();
            match before.and_then(|mut parts| parts.pop()) {
                Some(next) => part = next,
                None => return (part.0.1, part.1),
            }
        }
    }
}
