//! The cause of a finding: what it shows, the guilty instruction, and the smallest module.
use super::log::Cause;
use super::pair::{Pair, wrong};
use crate::backend::{Backend, Backends, LimitedEngine};
use crate::blame::{self, Context, blame};
use crate::metamorphic::{self, TwinRule, narrowed};
use crate::reduce::{Candidate, Difference, Kind, Options, Reduced, measured_fuel, reduce};
use crate::results::{Record, Verdict};
use crate::{Engine, Subject, conform};
use field::fingerprint::stable_hash;
use hlo::ir::{Computation, ComputationId, Instruction};
use hlo::{Literal, Module, Opcode, Shape, Verified};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// The most candidates of a reduction.
const TRIES: usize = 400;
/// The most rounds of a loop in which the guilty instruction is searched.
const ROUNDS: usize = 20;
/// The most characters of an expression.
const LONGEST: usize = 160;

/// A finding: a case that is not good.
#[derive(Clone)]
pub(super) struct Finding {
    pub(super) subject: Subject,
    pub(super) record: Record,
    /// The rule of the twin that it was compared with, in place of the engine.
    pub(super) twin: Option<TwinRule>,
}

/// What a finding shows before it is reduced.
pub(super) struct Symptom {
    pub(super) kind: String,
    /// Findings with the same key have the same cause. Nothing if only the smallest module tells.
    pub(super) key: Option<String>,
    guilty: Option<Guilty>,
    /// The rule of the twin, of a single instruction if one is enough.
    twin: Option<TwinRule>,
}

/// An instruction that is wrong on the operands that the backend computed.
struct Guilty {
    op: String,
    ty: String,
    report: String,
    /// The instruction alone, if it is wrong alone.
    alone: Option<Candidate>,
}

impl Guilty {
    /// Returns the key of what it is wrong in this way.
    fn key(&self, kind: &str) -> String {
        format!("{kind}: {} {}", self.op, self.ty)
    }
}

/// A cause with what its folder has.
pub(super) struct Evidence {
    pub(super) cause: Cause,
    /// The smallest module that shows it.
    pub(super) smallest: Subject,
    pub(super) record: Record,
    pub(super) expected: Vec<Literal>,
    pub(super) found: Vec<Literal>,
    /// The twin of the smallest module, and what the backend computes of it.
    pub(super) twin: Option<Pair>,
    /// The report on the guilty instruction.
    pub(super) blame: Option<String>,
    /// How the smallest module was found.
    pub(super) search: String,
}

/// Returns the kind of a finding.
pub(super) fn kind(record: &Record) -> String {
    match Kind::of(record) {
        Some(Kind::Error(message)) => {
            let strip =
                |text: &str, start: &str| text.strip_prefix(start).unwrap_or(text).to_owned();
            // What comes before the message itself, and the colons that are left of names.
            let starts = [
                "the backend rejects the module: ",
                "the execution failed: ",
                "UNKNOWN: ",
                "error: ",
                "at ",
            ];
            let message = starts.iter().fold(message, |message, start| strip(&message, start));
            let verdict = record.verdict.name();
            format!("{verdict}: {}", message.trim_end_matches([':', ' ']))
        }
        Some(kind) => kind.to_string(),
        None => "Etalon has no result".to_owned(),
    }
}

/// How causes are searched.
pub(super) struct Search<'a> {
    pub(super) backends: &'a Backends,
    /// The engine that the backend is compared with.
    pub(super) engine: Engine,
    /// Whether results must have the bits of the engine: such findings are not reduced.
    pub(super) bits: bool,
    /// The most time of a reduction.
    pub(super) time: Duration,
}

impl Symptom {
    /// Finds out what a finding shows. The line that a process wrote when it died names the cause;
    /// what takes too long is not searched.
    pub(super) fn of(finding: &Finding, search: &Search<'_>) -> Self {
        let kind = kind(&finding.record);
        if has_line(&finding.record) {
            return Self { key: Some(kind.clone()), kind, guilty: None, twin: None };
        }
        if let Some(rule) = &finding.twin {
            return Self::of_twins(finding, rule, kind, search);
        }
        let is_searched = is_searched(finding.record.verdict);
        let guilty = is_searched.then(|| guilty(&finding.subject, search.backends)).flatten();
        let key = guilty.as_ref().map(|guilty| guilty.key(&kind));
        Self { kind, key, guilty, twin: None }
    }

    /// Finds out what the results of a module and its twin show. One of them is wrong, and shows what
    /// a comparison with the engine does, if that names an instruction.
    fn of_twins(finding: &Finding, rule: &TwinRule, kind: String, search: &Search<'_>) -> Self {
        let Some(twin) = metamorphic::twin(&finding.subject, Some(rule)) else {
            return Self { kind, key: None, guilty: None, twin: None };
        };
        let subject = finding.subject.clone();
        let narrow = move |backend: &mut dyn Backend| narrowed(&subject, twin, backend);
        let twin = search.backends.run(narrow);
        let sides = [&finding.subject, &twin.subject].into_iter();
        let wrong = sides.filter_map(|side| wrong(side, search)).find_map(|wrong| {
            let guilty = guilty(&wrong.subject, search.backends)?;
            Some((self::kind(&wrong.record), guilty))
        });
        let (key, guilty) = match wrong {
            Some((own, guilty)) => (Some(guilty.key(&own)), Some(guilty)),
            None => (None, None),
        };
        // The instruction alone shows nothing of the twin.
        let guilty = guilty.map(|guilty| Guilty { alone: None, ..guilty });
        Self { kind, key, guilty, twin: Some(twin.rule) }
    }
}

/// Returns whether the guilty instruction of a finding is searched: it takes too long where nothing
/// answers.
pub(super) fn is_searched(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::TimedOut | Verdict::NoReference)
}

/// Returns whether the process wrote why it died.
fn has_line(record: &Record) -> bool {
    record.death.as_ref().is_some_and(|death| death.contains(": "))
}

/// Finds the first instruction that the backend computes wrong.
fn guilty(subject: &Subject, backends: &Backends) -> Option<Guilty> {
    let options =
        blame::Options { findings: 1, rounds: ROUNDS, fuel: 1 << 28, ..Default::default() };
    let blame = blame(&subject.module, &subject.arguments, backends, &options);
    let report = blame.to_string();
    let finding = blame.findings.into_iter().next()?;
    let computation = &subject.module.module().computations[finding.computation];
    let ty = element_type(&computation.instructions[finding.instruction]);
    let program = finding.program;
    let alone = (finding.context == Context::Alone)
        .then(|| Candidate { module: program.module, arguments: program.arguments });
    Some(Guilty { op: finding.opcode, ty, report, alone })
}

/// Returns the name of the type of the first array of a result.
fn element_type(instruction: &Instruction) -> String {
    let ty = instruction.shape.leaves().into_iter().find_map(Shape::element_type);
    ty.map_or(String::new(), |ty| ty.name().to_owned())
}

/// Reduces a finding, within a time.
pub(super) fn evidence(finding: &Finding, symptom: Symptom, how: &Search<'_>) -> Evidence {
    let Symptom { kind: was, guilty, twin, .. } = symptom;
    let whole = Candidate {
        module: Arc::clone(&finding.subject.module),
        arguments: finding.subject.arguments.clone(),
    };
    let alone = guilty.as_ref().and_then(|guilty| guilty.alone.clone());
    let reduced = alone.into_iter().chain([whole.clone()]).find_map(|start| {
        let found = smallest(&start, twin.as_ref(), how);
        found.filter(|found| kind(&found.1.record) == was)
    });
    let mut flaky = false;
    let (smallest, rerun, search) = match reduced {
        Some((reduced, rerun)) => {
            let cut = if reduced.is_cut_short { "; the search was cut short" } else { "" };
            let subject = subject(&reduced.module, &reduced.arguments);
            let subject = Subject { name: finding.subject.name.clone(), ..subject };
            (subject, rerun, format!("{} candidates tried{cut}", reduced.tried))
        }
        None => {
            // Comparisons of bits, and what does not show in each run, cannot be reduced.
            let rerun = run(&finding.subject, twin.as_ref(), how);
            flaky = !rerun.record.verdict.is_bad() && !how.bits;
            let record = finding.record.clone();
            let search = "it could not be reduced".to_owned();
            (finding.subject.clone(), Rerun { record, ..rerun }, search)
        }
    };
    let (op, ty) = named(smallest.module.module().entry(), guilty.as_ref());
    let mut form = form(smallest.module.module());
    if let Some(rule) = &twin {
        let _ = write!(form, " and its twin by `{}`", rule.law());
    }
    // The line of a death is the cause, whatever the module.
    let form = if has_line(&finding.record) { String::new() } else { form };
    let name = format!("{was}: {form}");
    let id = format!("{}-{:06x}", slug(&was, &op, &ty), stable_hash(&name) & 0xff_ffff);
    let rule = twin.as_ref().map(ToString::to_string);
    let cause = Cause { id, kind: was, form, op, ty, twin: rule, flaky };
    let Rerun { record, expected, found, twin } = rerun;
    let blame = guilty.map(|guilty| guilty.report);
    Evidence { cause, smallest, record, expected, found, twin, blame, search }
}

/// Returns the opcode and the type of the guilty instruction in the smallest module, or those of its
/// root.
fn named(entry: &Computation, guilty: Option<&Guilty>) -> (String, String) {
    let is_guilty =
        |one: &Instruction| guilty.is_some_and(|guilty| guilty.op == one.opcode().name());
    let found = entry.instructions.iter().map(|(_, one)| one).find(|one| is_guilty(one));
    let named = found.unwrap_or(&entry.instructions[entry.root]);
    (named.opcode().name().to_owned(), element_type(named))
}

/// Returns the smallest module of the same kind with its results; nothing if the difference does
/// not show.
fn smallest(
    start: &Candidate,
    twin: Option<&TwinRule>,
    how: &Search<'_>,
) -> Option<(Reduced, Rerun)> {
    let fuel = measured_fuel(&start.module, &start.arguments);
    let difference = Arc::new(match twin {
        Some(rule) => Difference::of_twins(rule.clone(), how.engine, fuel),
        None => Difference::new(how.engine, fuel),
    });
    let queue = how
        .backends
        .queue(1, move |backend, candidate: Candidate| difference.interest(backend, &candidate));
    let mut options = Options {
        time_limit: Some(how.time),
        max_tries: Some(TRIES),
        fuel: Some(fuel),
        interrupt: how.backends.interrupt().cloned(),
        ..Options::default()
    };
    let reduced = reduce(Arc::clone(&start.module), &start.arguments, &mut options, queue).ok()?;
    let module = subject(&reduced.module, &reduced.arguments);
    let rerun = run(&module, twin, how);
    Some((reduced, rerun))
}

/// A run with its results.
struct Rerun {
    record: Record,
    expected: Vec<Literal>,
    found: Vec<Literal>,
    twin: Option<Pair>,
}

/// Runs a module in both, and its twin if there is one.
fn run(subject: &Subject, rule: Option<&TwinRule>, how: &Search<'_>) -> Rerun {
    let (subject, mut reference, rule) = (subject.clone(), limited(how.engine), rule.cloned());
    how.backends.run(move |backend| {
        let own = conform(&subject, &mut reference, backend);
        let expected = subject.run(&mut reference).unwrap_or_default();
        let found = match own.verdict.is_executed() {
            true => subject.run(backend).unwrap_or_default(),
            false => Vec::new(),
        };
        let Some((record, Some(twin))) =
            rule.map(|rule| metamorphic::check(&subject, Some(&rule), backend))
        else {
            return Rerun { record: own, expected, found, twin: None };
        };
        let of_twin = conform(&twin.subject, &mut reference, backend);
        let results = twin.subject.run(backend).unwrap_or_default();
        let pair = Pair { twin, found: results, records: [own, of_twin] };
        Rerun { record, expected, found, twin: Some(pair) }
    })
}

/// Returns an engine with the limits of a random module.
pub(super) fn limited(engine: Engine) -> LimitedEngine {
    LimitedEngine { engine, fuel: 1 << 28, max_memory: 1 << 32, time_limit: None }
}

fn subject(module: &Arc<Verified>, arguments: &[Vec<Literal>]) -> Subject {
    Subject {
        name: module.module().name.to_string(),
        file: "module.hlo".to_owned(),
        text: module.module().print(hlo::text::Style::Short),
        module: Arc::clone(module),
        arguments: arguments.to_vec(),
    }
}

/// Returns whether a cause explains a finding that is not searched for an instruction, because that
/// takes too long: the module has all ops of the cause's smallest one.
pub(super) fn explains(cause: &Cause, finding: &Finding) -> bool {
    if is_searched(finding.record.verdict) || cause.kind != kind(&finding.record) {
        return false;
    }
    let instructions = finding.subject.module.module().instructions();
    let opcodes: BTreeSet<&str> = instructions.map(|one| one.opcode().name()).collect();
    let words = cause.form.split(|c: char| !c.is_ascii_lowercase() && c != '-');
    let mut words = words.filter(|word| Opcode::from_name(word).is_some());
    words.all(|word| opcodes.contains(word))
}

/// Returns the result of a module as an expression of opcodes and element types, without sizes and
/// names: `log.f32(power.f32(_, _))`.
fn form(module: &Module) -> String {
    expression(module, &module.computations[module.entry], &mut HashMap::new())
}

/// Returns the expression of the result of a computation; `known` has those of others.
fn expression(
    module: &Module,
    computation: &Computation,
    known: &mut HashMap<ComputationId, String>,
) -> String {
    let mut texts: Vec<String> = Vec::with_capacity(computation.instructions.len());
    for (_, instruction) in computation.instructions.iter() {
        let opcode = instruction.opcode();
        let name = if opcode == Opcode::Parameter { "_" } else { opcode.name() };
        let ty = element_type(instruction);
        let is_plain = ty.is_empty() || [Opcode::Parameter, Opcode::Constant].contains(&opcode);
        let mut text = if is_plain { name.to_owned() } else { format!("{name}.{ty}") };
        let mut callees = Vec::new();
        instruction.op.clone().each_callee_mut(&mut |callee| callees.push(*callee));
        let called = callees.into_iter().map(|id| {
            if let Some(known) = known.get(&id) {
                return known.clone();
            }
            let text = expression(module, &module.computations[id], known);
            known.insert(id, text.clone());
            text
        });
        let called: Vec<String> = called.collect();
        if !called.is_empty() {
            let _ = write!(text, "[{}]", called.join(", "));
        }
        let operands = instruction.operands.iter();
        // Operands come before what they are operands of.
        let operands: Vec<&str> = operands.map(|id| texts[id.index()].as_str()).collect();
        if !operands.is_empty() {
            let _ = write!(text, "({})", operands.join(", "));
        }
        texts.push(shortened(text));
    }
    texts.swap_remove(computation.root.index())
}

/// Returns a text of bounded length, equal for equal texts only.
fn shortened(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let short: String = text.chars().take(LONGEST).collect();
    format!("{short}... {:06x}", stable_hash(&text) & 0xff_ffff)
}

/// Returns the readable part of an id.
fn slug(kind: &str, op: &str, ty: &str) -> String {
    let kind = kind.strip_prefix("the process died: ").unwrap_or(kind);
    let text = format!("{op} {ty} {kind}").to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.take(6).collect::<Vec<_>>().join("-").chars().take(48).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_expressions() {
        let of = |text: &str| form(&Module::parse(text).unwrap());
        let text = "HloModule m
          add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
          ENTRY e { x = f32[4] parameter(0) z = f32[] constant(0) y = f32[4] negate(x)
            ROOT r = f32[] reduce(y, z), dimensions={0}, to_apply=add }";
        assert_eq!(of(text), "reduce.f32[add.f32(_, _)](negate.f32(_), constant)");
        let mut text = "HloModule m\nENTRY e { x0 = s32[] parameter(0) ".to_owned();
        for i in 0..60 {
            let _ = write!(
                text,
                "{} x{} = s32[] add(x{i}, x{i}) ",
                if i == 59 { "ROOT" } else { "" },
                i + 1
            );
        }
        let long = of(&(text + "}"));
        assert!(long.len() < LONGEST + 12, "{long}");
    }
}
