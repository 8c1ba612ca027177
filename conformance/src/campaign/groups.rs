//! Groups of causes: those that one fault of the backend may explain.
//!
//! Causes are of a group if they have one of these in common, of which the first counts:
//!
//! | causes | have in common |
//! |---|---|
//! | all of a way to fail and a type | the type, if a fifth of its ops that the backend has fail in this way |
//! | deaths with a line | the signal, and the line without numbers, addresses, and the values of a check |
//! | rejected and failed modules | the message without names, if it says enough |
//! | deaths in silence | the signal and the op, of any type; many functions of a class of types |
//! | wrong results | the op, and the class of its type if it computes; of ops with dimensions and windows, whether numbers differ or are not finite |
use super::History;
use super::log::Cause;
use crate::results::Verdict;
use hlo::diag::quantity;
use hlo::op::{Accuracy, AsyncRole, Kind};
use hlo::{Class, ElementType, Opcode};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Causes that are shown together.
#[derive(Debug)]
pub struct Group<'h> {
    /// What they have in common.
    pub title: String,
    /// The causes.
    pub causes: Vec<&'h Cause>,
}

/// One in this number of the ops that the backend has of a type fails: the fault is that of the type.
const FAULTY: usize = 5;
/// The fewest functions of a class of types that are one fault when a backend dies of them.
const FUNCTIONS: usize = 4;
/// The fewest words of a message that says enough.
const WORDS: usize = 4;
/// The most types that a title has.
const TYPES: usize = 4;

/// How results are wrong: numbers, NaN, and infinities.
const WRONG: &str = "wrong results";

/// What the causes of a group have in common: the way to fail, and more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    /// A class of types.
    Type(String, &'static str),
    /// A line, or a message.
    Line(String, String),
    /// An op, and the class of its type if that matters.
    Op(String, Opcode, &'static str),
    /// Functions of a class of types.
    Functions(String, &'static str),
}

impl History {
    /// Returns the causes in groups, the largest first.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let faulty = self.faulty_types();
        let mut groups: BTreeMap<Common, Vec<&Cause>> = BTreeMap::new();
        for cause in self.causes.values() {
            groups.entry(common(cause, &faulty)).or_default().push(cause);
        }
        let groups = join_functions(groups);
        let cases = |group: &Group<'_>| -> usize {
            group.causes.iter().map(|cause| self.cases(&cause.id).len()).sum()
        };
        let mut groups: Vec<Group<'_>> = groups
            .into_iter()
            .map(|(common, causes)| Group { title: title(&common, &causes), causes })
            .collect();
        groups.sort_by_key(|group| {
            let several = if group.causes.len() > 1 { group.causes.len() } else { 0 };
            Reverse((several, cases(group)))
        });
        groups
    }

    /// Returns the ways to fail of types of which many ops fail, as the cases of the suite show.
    fn faulty_types(&self) -> BTreeSet<(String, String)> {
        let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut failed: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
        for round in &self.rounds {
            let had = round.cases.iter().filter(|(_, verdict)| **verdict != Verdict::Unsupported);
            for (name, _) in had {
                if let Some((op, ty)) = op_and_type(name) {
                    all.entry(ty).or_default().insert(op);
                }
            }
            for (id, names) in &round.causes {
                let Some(cause) = self.causes.get(id) else { continue };
                for (op, ty) in names.iter().filter_map(|name| op_and_type(name)) {
                    failed.entry((way(cause), ty)).or_default().insert(op);
                }
            }
        }
        let many = |((_, ty), ops): &(&(String, &str), &BTreeSet<&str>)| {
            ops.len() > 1 && ops.len() * FAULTY >= all[ty].len()
        };
        let many = failed.iter().filter(many);
        many.map(|((way, ty), _)| (way.clone(), (*ty).to_owned())).collect()
    }
}

/// Returns the op and the type that a case of the suite tests.
fn op_and_type(name: &str) -> Option<(&str, &str)> {
    let mut parts = name.splitn(3, '/');
    let (op, ty, _rule) = (parts.next()?, parts.next()?, parts.next()?);
    Opcode::from_name(op).map(|_| (op, ty))
}

/// Returns how the backend fails: with the signal if it died, and not how a wrong number is wrong.
fn way(cause: &Cause) -> String {
    let mut parts = cause.kind.split(": ");
    match (parts.next().unwrap_or_default(), parts.next()) {
        ("different numbers" | "NaN on one side" | "an infinity on one side", _) => {
            WRONG.to_owned()
        }
        (way @ "the process died", Some(signal)) => format!("{way}: {signal}"),
        (way, _) => way.to_owned(),
    }
}

fn common(cause: &Cause, faulty: &BTreeSet<(String, String)>) -> Common {
    let way = way(cause);
    let class = class(&cause.ty);
    if let Some(line) = line(cause).filter(|_| cause.form.is_empty()) {
        return Common::Line(way, line);
    }
    if faulty.contains(&(way.clone(), cause.ty.clone())) {
        return Common::Type(way, class);
    }
    if let Some(line) = line(cause) {
        return Common::Line(way, line);
    }
    let Some(op) = op(cause) else { return Common::Line(way, cause.title()) };
    if way != WRONG {
        return Common::Op(way, op, "");
    }
    let is_simple = [Opcode::Maximum, Opcode::BatchNormTraining].contains(&op);
    let way = match (is_simple || op.is_elementwise(), cause.kind.as_str()) {
        (true, _) => way,
        // One with dimensions, windows and computations has several ways to be wrong.
        (false, "different numbers") if is_variadic(cause, op) => {
            "different numbers of several results".to_owned()
        }
        (false, "different numbers") => cause.kind.clone(),
        (false, _) => "not finite on one side".to_owned(),
    };
    // What they call computes, if anything does.
    let moves = op.moves_data() || [Opcode::Scatter, Opcode::SelectAndScatter].contains(&op);
    let is_any = moves && !class.ends_with("of less than a byte");
    Common::Op(way, op, if is_any { "" } else { class })
}

/// Returns whether an op combines several operands with a computation that returns a tuple.
fn is_variadic(cause: &Cause, op: Opcode) -> bool {
    let form = cause.form.split_once(op.name());
    form.is_some_and(|(_, rest)| {
        rest.split_once('[')
            .is_some_and(|(ty, callee)| !ty.contains('(') && callee.starts_with("tuple."))
    })
}

/// Returns the line of a death, or the message of an error, without what changes with the module.
fn line(cause: &Cause) -> Option<String> {
    let (way, text) = cause.kind.split_once(": ")?;
    if way == "the process died" {
        let (_, line) = text.split_once(": ")?;
        return Some(without_values(line));
    }
    if !["rejected", "failed"].contains(&way) {
        return None;
    }
    // What is quoted is a name.
    let plain = text.split('\'').step_by(2).collect::<String>();
    let is_word = |word: &&str| word.len() > 1 && word.chars().any(|c| c.is_ascii_lowercase());
    let words = plain.split(|c: char| !c.is_ascii_alphabetic()).filter(is_word);
    let words: Vec<&str> = words.collect();
    (words.len() >= WORDS).then(|| words.join(" "))
}

/// Returns a line of stderr without the number of its place in a file, without other numbers, and
/// of a check only the condition.
fn without_values(line: &str) -> String {
    let (place, rest) = match line.split_once(' ') {
        Some((place, rest)) if place.contains('.') && place.contains(':') => {
            (place.split(':').next().unwrap_or_default(), rest)
        }
        _ => ("", line),
    };
    let rest = match rest.split_once("Check failed: ") {
        Some((_, check)) if !place.is_empty() => check.split(' ').next().unwrap_or_default(),
        _ => rest,
    };
    let words = rest.split(' ').filter(|word| !word.starts_with("0x"));
    let plain = words.map(|word| word.replace(|c: char| c.is_ascii_digit(), ""));
    let words: Vec<String> = std::iter::once(place.to_owned()).chain(plain).collect();
    words.join(" ").trim().to_owned()
}

/// Returns the op of a cause: of what only carries values, that of the values; of asynchronous ops
/// the one that starts; `maximum` of all that compare to combine.
fn op(cause: &Cause) -> Option<Opcode> {
    let own = Opcode::from_name(&cause.op)?;
    let words = cause.form.split(|c: char| !c.is_ascii_lowercase() && c != '-');
    let mut words = words.filter_map(Opcode::from_name);
    let op = if carries(own) { words.find(|&op| !carries(op)).unwrap_or(own) } else { own };
    let op = plain(op);
    let reduces = [Opcode::Reduce, Opcode::ReduceWindow, Opcode::AllReduce, Opcode::ReduceScatter];
    let combines = |name: &str| reduces.contains(&op) && cause.form.contains(&format!("[{name}."));
    let by_order = [Opcode::Maximum, Opcode::Minimum, Opcode::Clamp];
    let is_order = by_order.contains(&op) || combines("maximum") || combines("minimum");
    let batch_norms = [Opcode::BatchNormInference, Opcode::BatchNormGrad];
    Some(match (is_order, batch_norms.contains(&op)) {
        (true, _) => Opcode::Maximum,
        (false, true) => Opcode::BatchNormTraining,
        (false, false) => op,
    })
}

/// Returns the op that an asynchronous one is a part of.
fn plain(op: Opcode) -> Opcode {
    match op.async_role() {
        Some(AsyncRole::Start(Some(whole))) => whole,
        Some(AsyncRole::Update(start) | AsyncRole::Done(start)) => plain(start),
        Some(AsyncRole::Start(None)) | None => op,
    }
}

/// Returns whether an op only carries the values of others, or holds them. A fusion does more.
fn carries(op: Opcode) -> bool {
    let names = [
        Opcode::Tuple,
        Opcode::GetTupleElement,
        Opcode::Parameter,
        Opcode::Constant,
        Opcode::OptBarrier,
        Opcode::AfterAll,
    ];
    names.contains(&op)
}

/// Returns the class of a type.
fn class(ty: &str) -> &'static str {
    let Some(ty) = ElementType::from_name(ty) else { return "" };
    match (ty.class(), ty.bits() < 8) {
        (Class::Pred, _) => "booleans",
        (Class::Signed | Class::Unsigned, true) => "integers of less than a byte",
        (Class::Signed | Class::Unsigned, false) => "integers",
        (Class::Float, true) => "floats of less than a byte",
        (Class::Float, false) => "floats",
        (Class::Complex, _) => "complex numbers",
    }
}

/// Joins the deaths of many functions of a class of types.
fn join_functions(groups: BTreeMap<Common, Vec<&Cause>>) -> BTreeMap<Common, Vec<&Cause>> {
    let functions = |common: &Common, causes: &[&Cause]| {
        let Common::Op(way, op, _) = common else { return None };
        let classes: BTreeSet<&'static str> = causes.iter().map(|cause| class(&cause.ty)).collect();
        let class = classes.first().filter(|_| classes.len() == 1)?;
        let is_function = op.kind() == Kind::Array
            && op.is_elementwise()
            && op.accuracy() != Accuracy::Exact
            && way.starts_with("the process died");
        is_function.then(|| Common::Functions(way.clone(), class))
    };
    let mut counts: BTreeMap<Common, usize> = BTreeMap::new();
    for (common, causes) in &groups {
        if let Some(common) = functions(common, causes) {
            *counts.entry(common).or_default() += 1;
        }
    }
    let mut joined: BTreeMap<Common, Vec<&Cause>> = BTreeMap::new();
    for (common, causes) in groups {
        let of_all = functions(&common, &causes);
        let of_all = of_all.filter(|common| counts.get(common).is_some_and(|&n| n >= FUNCTIONS));
        joined.entry(of_all.unwrap_or(common)).or_default().extend(causes);
    }
    joined
}

/// Returns the title of a group: that of its cause if it has one.
fn title(common: &Common, causes: &[&Cause]) -> String {
    if let [one] = causes {
        return one.title();
    }
    let count = causes.len();
    let types: BTreeSet<&str> =
        causes.iter().map(|cause| cause.ty.as_str()).filter(|ty| !ty.is_empty()).collect();
    let types = match types.len() {
        0..=TYPES => types.into_iter().collect::<Vec<_>>().join(", "),
        count => format!("{count} types"),
    };
    match common {
        Common::Type(way, _) => format!("{way}: {} of {types}", quantity(count, "op")),
        Common::Line(way, line) => format!("{way}: {line}: {count} causes"),
        Common::Op(way, op, _) => format!("{way}: {count} forms of {op}, of {types}"),
        Common::Functions(way, class) => format!("{way}: {count} functions of {class}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::{Case, Event, Round};
    use super::*;
    use crate::backend::About;
    use crate::results::Verdict;

    fn cause(kind: &str, form: &str, op: &str, ty: &str) -> Event {
        let id = format!("{op}-{ty}-{}", field::fingerprint::stable_hash(&format!("{kind}{form}")));
        let [kind, form, op, ty] = [kind, form, op, ty].map(str::to_owned);
        Event::Cause(Cause { id, kind, form, op, ty, twin: None, flaky: false })
    }
    /// Returns the titles of the groups of causes.
    fn titles(events: &[Event]) -> Vec<String> {
        let history = History::of(events);
        history.groups().into_iter().map(|group| group.title).collect()
    }

    #[test]
    fn wrong_results_are_of_an_op_and_a_class_of_types() {
        let wrong = |kind: &str, form: &str, op: &str, ty: &str| cause(kind, form, op, ty);
        let events = [
            wrong("NaN on one side", "maximum.f32(_, _)", "maximum", "f32"),
            wrong("different numbers", "reduce.bf16[minimum.bf16(_, _)](_, _)", "reduce", "bf16"),
            wrong("different numbers", "clamp.f32(_, _, _)", "clamp", "f32"),
            wrong("different numbers", "maximum.c64(_, _)", "maximum", "c64"),
            wrong("different numbers", "reduce.f32[add.f32(_, _)](_, _)", "reduce", "f32"),
            wrong("different numbers", "all-gather.u4(_)", "all-gather", "u4"),
            wrong(
                "different numbers",
                "all-gather-done.s2(all-gather-start.s2(_))",
                "all-gather-done",
                "s2",
            ),
            wrong("different numbers", "power.s32(_, _)", "power", "s32"),
            wrong("different numbers", "scatter.f32[maximum.f32(_, _)](_, _, _)", "scatter", "f32"),
            wrong("different numbers", "scatter.s32[or.s32(_, _)](_, _, _)", "scatter", "s32"),
            wrong("NaN on one side", "convolution.f32(_, _)", "convolution", "f32"),
            wrong("different numbers", "convolution.f64(_, _)", "convolution", "f64"),
            wrong(
                "different numbers",
                "scatter.s32[tuple.s32(_, _)](_, _, _, _, _)",
                "scatter",
                "s32",
            ),
        ];
        let mut found = titles(&events);
        found.sort();
        let expected = [
            "NaN on one side: convolution.f32(_, _)",
            "different numbers: 2 forms of all-gather, of s2, u4",
            "different numbers: 2 forms of scatter, of f32, s32",
            "different numbers: convolution.f64(_, _)",
            "different numbers: maximum.c64(_, _)",
            "different numbers: power.s32(_, _)",
            "different numbers: reduce.f32[add.f32(_, _)](_, _)",
            "different numbers: scatter.s32[tuple.s32(_, _)](_, _, _, _, _)",
            "wrong results: 3 forms of maximum, of bf16, f32",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_are_compared_without_values() {
        let line =
            |line: &str| cause(&format!("the process died: SIGABRT: {line}"), "", "add", "f32");
        let rejected = |message: &str, op: &str, ty: &str| {
            cause(&format!("rejected: {message}"), &format!("{op}.{ty}(_)"), op, ty)
        };
        let events = [
            line("shape.h:397 Check failed: has_layout pred"),
            line("shape.h:421 Check failed: has_layout"),
            line("shape.h:397 Check failed: is_array pred"),
            line("out of memory at 0x7000"),
            line("out of memory at 0x7200"),
            rejected("op 'a.b' full tile does not match rank", "select", "s32"),
            rejected("op 'a.c' full tile does not match rank", "clamp", "f32"),
            rejected("INTERNAL: failure", "while", "f32"),
            rejected("INTERNAL: failure", "sort", "f32"),
        ];
        let mut found = titles(&events);
        found.sort();
        let expected = [
            "rejected: INTERNAL: failure: sort.f32(_)",
            "rejected: INTERNAL: failure: while.f32(_)",
            "rejected: op full tile does not match rank: 2 causes",
            "the process died: SIGABRT: out of memory at: 2 causes",
            "the process died: SIGABRT: shape.h has_layout: 2 causes",
            "the process died: SIGABRT: shape.h:397 Check failed: is_array pred",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_type_is_at_fault_if_many_of_its_ops_fail() {
        let ops = ["abs", "add", "cosine", "sine", "tan", "tanh", "exponential", "log", "sqrt"];
        let (backend, etalon) = ("b".to_owned(), "1".to_owned());
        let round = Round { time: 7, backend, about: About::default(), etalon };
        let mut events = vec![Event::Round(round)];
        for (ty, bad) in [("s1", 4), ("s32", 1)] {
            for (i, op) in ops.iter().enumerate() {
                let mut id = None;
                if i < bad {
                    let one = cause("different numbers", &format!("{op}.{ty}(_)"), op, ty);
                    let Event::Cause(known) = &one else { continue };
                    id = Some(known.id.clone());
                    events.push(one);
                }
                let verdict = if i < bad { Verdict::Differs } else { Verdict::Agrees };
                let case = format!("{op}/{ty}/ordinary-values");
                events.push(Event::Case(Case { case, verdict, at: 0.0, cause: id, key: None }));
            }
        }
        // What the backend does not have does not count.
        for op in Opcode::ALL.iter().filter(|op| !ops.contains(&op.name())) {
            let (case, verdict) = (format!("{op}/s1/ordinary-values"), Verdict::Unsupported);
            events.push(Event::Case(Case { case, verdict, at: 0.0, cause: None, key: None }));
        }
        // Functions that a backend dies of.
        for op in ["sine", "cosine", "tan", "sqrt"] {
            events.push(cause("the process died: SIGSEGV", &format!("{op}.c64(_)"), op, "c64"));
        }
        let died = |op: &str, ty: &str| {
            cause("the process died: SIGSEGV", &format!("{op}.{ty}(_)"), op, ty)
        };
        events.extend([died("select", "c64"), died("gather", "f32"), died("gather", "s32")]);
        let expected = [
            "wrong results: 4 ops of s1",
            "the process died: SIGSEGV: 4 functions of complex numbers",
            "the process died: SIGSEGV: 2 forms of gather, of f32, s32",
        ];
        let found = titles(&events);
        assert_eq!(found[..3], expected);
        assert_eq!(found.len(), 5, "{found:?}");
    }
}
