//! Metamorphic checks: a module and its twin, which is the same function whatever the arithmetic of
//! a backend, run on it, and their results are compared. No expected result is needed.
//!
//! ```text
//! module ──law──> twin
//!   │               │
//! backend        backend ──> apart by more than legal values of either may be?
//! ```
#![expect(clippy::wildcard_enum_match_arm, reason = "most ops have no law of their own")]
mod laws;
#[cfg(test)]
mod tests;

use crate::Subject;
use crate::backend::{Backend, Edit, reducers};
use crate::conform::verdict;
use crate::fingerprint::stable_hash;
use crate::judge::apart;
use crate::results::{Record, Verdict};
use hlo::ir::rewrite::ModuleRewriter;
use hlo::ir::{ComputationId, Instruction};
use hlo::op::Kind;
use hlo::op::value::Direction;
use hlo::{Module, Op};
use laws::{LAWS, Law};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most instructions that a law rewrites in one module.
const MOST: usize = 8;

/// A module that is the same function as another one.
#[derive(Debug, Clone)]
pub struct Twin {
    /// The twin, with the arguments of the module.
    pub subject: Subject,
    /// The law by which it is the same.
    pub law: &'static str,
    /// The instructions that the law rewrites.
    pub places: Vec<String>,
}

/// Returns the names of the laws.
pub fn laws() -> impl Iterator<Item = &'static str> {
    LAWS.iter().map(|law| law.name)
}

/// Returns a twin of a module by one of the laws, which its text and its name decide. `None` if no
/// law holds for it.
pub fn twin(subject: &Subject) -> Option<Twin> {
    let seed = stable_hash(&format!("{}\n{}", subject.name, subject.text));
    let first = usize::try_from(seed % 1024).unwrap_or(0);
    let laws = (0..LAWS.len()).map(|k| &LAWS[(first + k) % LAWS.len()]);
    laws.into_iter().find_map(|law| by_law(subject, law, seed))
}

fn by_law(subject: &Subject, law: &Law, seed: u64) -> Option<Twin> {
    let module = subject.module.module();
    let (twin, places) = rewritten(module, law, seed)?;
    let verified = twin.verify().ok()?;
    let text = verified.module().to_string();
    let name = format!("{}, {}", subject.name, law.name);
    let subject = Subject {
        name,
        file: String::new(),
        text,
        module: Arc::new(verified),
        arguments: subject.arguments.clone(),
    };
    Some(Twin { subject, law: law.name, places })
}

/// Rewrites instructions of the entry computation.
fn rewritten(module: &Module, law: &Law, seed: u64) -> Option<(Module, Vec<String>)> {
    let mut rewriter = ModuleRewriter::new(module);
    let (reducers, orders) = (reducers(module), orders(module));
    let computation = rewriter.computation_mut(module.entry);
    let original = computation.clone();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut ids = computation.ids();
    random.shuffle(&mut ids);
    // What a law computes in another form comes before what it only moves.
    ids.sort_by_key(|&at| !laws::has_form(&original.instruction(at).op));
    let (mut wide, mut places) = (BTreeMap::new(), Vec::new());
    for at in ids {
        if places.len() == MOST {
            break;
        }
        if !may_change(computation.instruction(at), &orders) {
            continue;
        }
        let mut edit = Edit {
            computation: &mut *computation,
            at,
            random: fastrand::Rng::with_seed(random.u64(..)),
            original: &original,
            reducers: &reducers,
            wide: &mut wide,
        };
        if (law.rewrite)(&mut edit) {
            places.push(original.instruction_name(at).to_owned());
        }
    }
    if places.is_empty() {
        return None;
    }
    places.sort();
    Some((rewriter.finish().ok()?, places))
}

/// Returns whether an instruction is one of a value, which nothing else depends on than its users.
/// Of sorts, those by an order of all numbers.
fn may_change(instruction: &Instruction, orders: &BTreeSet<ComputationId>) -> bool {
    let is_ordered = match &instruction.op {
        Op::Parameter(_) => false,
        Op::Sort(sort) => sort.to_apply.is_some_and(|id| orders.contains(&id)),
        _ => true,
    };
    is_ordered && [Kind::Array, Kind::Control].contains(&instruction.opcode().kind())
}

/// Returns the computations that compare their two parameters by a strict order.
fn orders(module: &Module) -> BTreeSet<ComputationId> {
    let is_order = |computation: &hlo::ir::Computation| {
        let root = &computation.instructions[computation.root];
        let numbers = root.operands.iter().map(|&id| match &computation.instructions[id].op {
            Op::Parameter(parameter) => Some(parameter.number),
            _ => None,
        });
        let mut numbers: Vec<Option<i64>> = numbers.collect();
        numbers.sort_unstable();
        let is_strict = match &root.op {
            Op::Compare(compare) => [Direction::Lt, Direction::Gt].contains(&compare.direction),
            _ => false,
        };
        is_strict && numbers == [Some(0), Some(1)]
    };
    let all = module.computations.iter();
    all.filter(|(_, computation)| is_order(computation)).map(|(id, _)| id).collect()
}

/// Runs a module and its twin on a backend and compares the results.
pub fn check(subject: &Subject, backend: &mut dyn Backend) -> Record {
    let Some(twin) = twin(subject) else {
        let reason = "no law holds for an instruction".to_owned();
        return Record { reason, ..Record::new(&subject.name, Verdict::Skipped) };
    };
    compared(subject, &twin, backend)
}

/// As [`check`], in the place of a comparison with a reference.
pub(crate) fn conform(subject: &Subject, _: &mut dyn Backend, backend: &mut dyn Backend) -> Record {
    check(subject, backend)
}

fn compared(subject: &Subject, twin: &Twin, backend: &mut dyn Backend) -> Record {
    let mut record = Record::new(&subject.name, Verdict::Agrees);
    let what = format!("twin by the law `{}`, of {}", twin.law, twin.places.join(", "));
    let mut run = |subject: &Subject, what: &str| match subject.run(backend) {
        Ok(results) => Ok(results),
        Err(error) => Err((verdict(error.code()), format!("{what}{}", subject.describe(&error)))),
    };
    let both =
        run(subject, "").and_then(|first| Ok((first, run(&twin.subject, &format!("{what}: "))?)));
    let (first, second) = match both {
        Ok(both) => both,
        Err((verdict, reason)) => {
            (record.verdict, record.reason) = (verdict, reason);
            return record;
        }
    };
    let modules = [&*subject.module, &*twin.subject.module];
    let (verdict, reason) =
        apart(&backend.judging(), modules, &subject.arguments, [&first, &second]);
    record.verdict = verdict;
    record.label = Some(twin.law.to_owned());
    if verdict != Verdict::Agrees {
        format!("{reason}\n{what}").trim_start().clone_into(&mut record.reason);
    }
    record
}
