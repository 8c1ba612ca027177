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
mod rule;
#[cfg(test)]
mod tests;

pub use rule::TwinRule;

use crate::Subject;
use crate::backend::{Backend, Code, Edit, reducers};
use crate::conform::verdict;
use crate::judge::{Apart, apart};
use crate::reduce::Kind;
use crate::results::{Measures, Record, Verdict};
use field::fingerprint::stable_hash;
use hlo::ir::rewrite::ModuleRewriter;
use hlo::ir::{ComputationId, Instruction};
use hlo::op::Kind as OpKind;
use hlo::op::value::Direction;
use hlo::text::Style;
use hlo::{Module, Op, Opcode};
use laws::LAWS;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most instructions that a law rewrites in one module.
const MOST: usize = 8;

/// A module that is the same function as another one.
#[derive(Debug, Clone)]
pub struct Twin {
    /// The twin, with the arguments of the module.
    pub subject: Subject,
    /// The rule by which it is made.
    pub rule: TwinRule,
    /// The names of the instructions that the law rewrites, with their opcodes.
    pub places: Vec<(String, Opcode)>,
}

impl Twin {
    /// Returns what reports say of it.
    pub fn about(&self) -> String {
        let places: Vec<&str> = self.places.iter().map(|(name, _)| name.as_str()).collect();
        format!("twin by the law `{}`, of {}", self.rule, places.join(", "))
    }
}

/// Returns the names of the laws.
pub fn laws() -> impl Iterator<Item = &'static str> {
    LAWS.iter().map(|law| law.name)
}

/// Returns a twin of a module by a rule, or by one of the laws, which its text and its name decide.
/// `None` if the law, or none, holds for it.
pub fn twin(subject: &Subject, rule: Option<&TwinRule>) -> Option<Twin> {
    if let Some(rule) = rule {
        return by_rule(subject, rule);
    }
    let hash = stable_hash(&format!("{}\n{}", subject.name, subject.text));
    let [first, seed] = [hash % 1024, hash >> 10 & 0xffff];
    let first = usize::try_from(first).unwrap_or(0);
    let laws = (0..LAWS.len()).map(|k| &LAWS[(first + k) % LAWS.len()]);
    laws.into_iter().find_map(|law| by_rule(subject, &TwinRule { law, seed, place: None }))
}

fn by_rule(subject: &Subject, rule: &TwinRule) -> Option<Twin> {
    let (twin, places) = rewritten(subject.module.module(), rule)?;
    let verified = twin.verify().ok()?;
    let text = verified.module().print(Style::Short);
    let name = format!("{}, {}", subject.name, rule.law.name);
    let subject = Subject {
        name,
        file: String::new(),
        text,
        module: Arc::new(verified),
        arguments: subject.arguments.clone(),
    };
    Some(Twin { subject, rule: rule.clone(), places })
}

/// Rewrites instructions of the entry and of the computations of its loops, branches and calls.
fn rewritten(module: &Module, rule: &TwinRule) -> Option<(Module, Vec<(String, Opcode)>)> {
    let mut rewriter = ModuleRewriter::new(module);
    let (reducers, orders, bodies) = (reducers(module), orders(module), bodies(module));
    let each = |&id: &ComputationId| {
        let computation = &module.computations[id];
        let instructions = computation.instructions.iter();
        let changing = instructions.filter(|(_, one)| may_change(one, &orders));
        let named = changing.map(move |(at, one)| (computation.name(at).as_str(), id, at, one));
        named.collect::<Vec<_>>()
    };
    let mut found: Vec<_> = bodies.iter().flat_map(each).collect();
    rule.keep(&mut found, |(name, ..)| name);
    // What a law computes in another form comes before what it only moves.
    found.sort_by_key(|(name, .., one)| (!laws::has_form(&one.op), rule.drawn(name)));
    let originals: BTreeMap<ComputationId, _> =
        bodies.iter().map(|&id| (id, rewriter.computation(id).clone())).collect();
    let mut wide: BTreeMap<ComputationId, BTreeMap<_, _>> = BTreeMap::new();
    let mut places = Vec::new();
    for (name, id, at, one) in found {
        if places.len() == MOST {
            break;
        }
        let mut edit = Edit {
            computation: rewriter.computation_mut(id),
            at,
            random: fastrand::Rng::with_seed(rule.drawn(name)),
            original: &originals[&id],
            reducers: &reducers,
            wide: wide.entry(id).or_default(),
        };
        if (rule.law.rewrite)(&mut edit) {
            places.push((name.to_owned(), one.opcode()));
        }
    }
    if places.is_empty() {
        return None;
    }
    places.sort();
    Some((rewriter.finish().ok()?, places))
}

/// Returns the entry, and the computations that only loops, branches and calls in such computations
/// run: the others are combined with ops that a backend may take for another when they change.
fn bodies(module: &Module) -> BTreeSet<ComputationId> {
    let mut bodies = BTreeSet::from([module.entry]);
    let mut others = BTreeSet::new();
    // Callees come first.
    for (id, computation) in module.computations.iter().rev() {
        for (_, instruction) in computation.instructions.iter() {
            let runs = matches!(instruction.op, Op::While(_) | Op::Conditional(_) | Op::Call(_));
            let into = if runs && bodies.contains(&id) { &mut bodies } else { &mut others };
            instruction.op.each_callee(&mut |callee| into.extend([callee]));
        }
    }
    &bodies - &others
}

/// Returns whether an instruction is one of a value, which nothing else depends on than its users.
/// Of sorts, those by an order of all numbers.
fn may_change(instruction: &Instruction, orders: &BTreeSet<ComputationId>) -> bool {
    let is_ordered = match &instruction.op {
        Op::Parameter(_) => false,
        Op::Sort(sort) => sort.to_apply.is_some_and(|id| orders.contains(&id)),
        _ => true,
    };
    is_ordered && [OpKind::Array, OpKind::Control].contains(&instruction.opcode().kind())
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

/// Runs a module and its twin, by a rule or by one of the laws, on a backend and compares the
/// results. Returns the twin, too, if there is one.
pub fn check(
    subject: &Subject,
    rule: Option<&TwinRule>,
    backend: &mut dyn Backend,
) -> (Record, Option<Twin>) {
    let Some(twin) = twin(subject, rule) else {
        let reason = match rule {
            Some(rule) => format!("the law `{rule}` holds for no instruction"),
            None => "no law holds for an instruction".to_owned(),
        };
        return (Record { reason, ..Record::new(&subject.name, Verdict::Skipped) }, None);
    };
    (compared(subject, &twin, backend), Some(twin))
}

/// Returns the twin of a single instruction that shows the same kind of difference as a twin of
/// several; that one itself if none does.
pub(crate) fn narrowed(subject: &Subject, twin: Twin, backend: &mut dyn Backend) -> Twin {
    if twin.places.len() < 2 {
        return twin;
    }
    let kind = Kind::of(&compared(subject, &twin, backend));
    let names = twin.places.iter().map(|(name, _)| name.clone());
    let rules = names.map(|name| TwinRule { place: Some(name), ..twin.rule.clone() });
    let mut twins = rules.filter_map(|rule| by_rule(subject, &rule));
    let shows = |twin: &Twin, backend: &mut dyn Backend| {
        twin.places.len() == 1 && Kind::of(&compared(subject, twin, backend)) == kind
    };
    twins.find(|twin| shows(twin, backend)).unwrap_or(twin)
}

fn compared(subject: &Subject, twin: &Twin, backend: &mut dyn Backend) -> Record {
    let mut record = Record::new(&subject.name, Verdict::Agrees);
    let mut run = |subject: &Subject, what: &str| {
        subject.run(backend).map_err(|error| {
            let death = match error.code() {
                Code::Crashed { death, .. } => Some(death.to_string()),
                _ => None,
            };
            // What the twin alone needs may be missing.
            let verdict = match verdict(error.code()) {
                Verdict::Unsupported if !what.is_empty() => Verdict::Skipped,
                verdict => verdict,
            };
            (verdict, format!("{what}{}", subject.describe(&error)), death)
        })
    };
    let both = run(subject, "")
        .and_then(|first| Ok((first, run(&twin.subject, &format!("{}: ", twin.about()))?)));
    let (first, second) = match both {
        Ok(both) => both,
        Err((verdict, reason, death)) => {
            (record.verdict, record.reason, record.death) = (verdict, reason, death);
            return record;
        }
    };
    let modules = [&*subject.module, &*twin.subject.module];
    let Apart { verdict, reason, worst } =
        apart(&backend.judging(), modules, &subject.arguments, [&first, &second]);
    record.verdict = verdict;
    record.label = Some(twin.rule.law.name.to_owned());
    if verdict != Verdict::Agrees {
        format!("{reason}\n{}", twin.about()).trim_start().clone_into(&mut record.reason);
    }
    if verdict.is_bad() {
        record.reproduction = Some(subject.reproduction(&second, &first));
    }
    record.measures =
        worst.map(|one| Measures { wrong: 1, worst: Some(one), ..Measures::default() });
    record
}
