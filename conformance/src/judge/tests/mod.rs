//! Tests of verdicts.
#![expect(clippy::print_stdout, reason = "the verdicts are for people to read, with `--nocapture`")]
mod accusations;
mod bounds;
mod factors_of_backends;
mod guards;
mod hardware;
mod legal_sets;
mod loops;
mod misses;
mod open_rows;
mod orders;
mod programs;
mod properties;
mod rewritten;
mod rules;
mod specified;
mod spectra_of_backends;
mod transfers;
mod zero_terms;

use super::range::is_whole;
use super::*;
use crate::{Entry, arrays, find};
use hlo::Module;
use interp::{CompileOptions, RunOptions};
use std::path::Path;

pub(super) fn verified(text: &str) -> Verified {
    Module::parse(text).unwrap().verify().unwrap()
}

pub(super) fn check(text: &str, arguments: &[&str], actual: &str) -> Judgement {
    let verified = verified(text);
    let arguments: Vec<Literal> = arguments.iter().map(|text| text.parse().unwrap()).collect();
    let expected = interp::run(&verified, &arguments).unwrap();
    judge(&verified, &[arguments], &[expected], &[actual.parse().unwrap()])
}

/// Whether our own result is legal, and the ranges of the module's result.
fn missed(
    module: &Module,
    arguments: &[Literal],
    expected: &Literal,
    actual: &Literal,
) -> Option<usize> {
    let accuracies = Accuracies::default();
    let mut evaluator = Evaluator::new(module, Modes::ALL, &accuracies);
    Some(
        Check::of(
            &evaluator.entry(std::slice::from_ref(&arguments.to_vec())).ok()?,
            (&seen::Seen::default(), None),
            expected,
            actual,
        )
        .missed,
    )
}

/// A module, the arguments of each device, our results and the recorded ones.
type Recorded = (Verified, Vec<Vec<Literal>>, Vec<Literal>, Vec<Literal>);

fn recorded(entry: &Entry) -> Option<Recorded> {
    let bytes = std::fs::read(&entry.module).ok()?;
    let parsed = Module::parse_bytes(&bytes, hlo::ir::ParseOptions::default()).ok()?;
    let verified = parsed.module.verify().ok()?;
    let session =
        collectives::Session::compile(verified.clone(), &CompileOptions::default()).ok()?;
    let devices = session.grid().len();
    let file = std::fs::File::open(&entry.arrays).ok()?;
    let named = hlo::literal::npz::read(std::io::BufReader::new(file)).ok()?;
    let arguments = arrays::arguments(&named, session.module(), devices).ok()?;
    let actual = arrays::results(&named, session.module(), devices).ok()?;
    let output = session.run(&arguments, &RunOptions::default()).ok()?;
    Some((verified, arguments, output.results, actual))
}

/// Recorded results that are wrong, as `docs/status.md` says.
const WRONG: [&str; 2] = ["convert/f4e2m1fn.hlo", "convert/f4e2m1fn.opt.hlo"];

/// The recorded results of XLA:CPU, where they are there, are legal; with `--nocapture`, each
/// difference is printed.
#[test]
fn recorded_results_are_legal() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    let root = std::env::var("ETALON_CORPUS").unwrap_or_else(|_| default.to_owned());
    let Ok((entries, _)) = find(Path::new(&root)) else { return };
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    let mut wrong = Vec::new();
    for entry in &entries {
        let name = entry.module.strip_prefix(&root).unwrap().display().to_string();
        let Some((verified, arguments, expected, actual)) = recorded(entry) else {
            *counts.entry("not run".to_owned()).or_default() += 1;
            continue;
        };
        let start = std::time::Instant::now();
        let judgement = judge(&verified, &arguments, &expected, &actual);
        let seconds = start.elapsed().as_secs_f64();
        let kind = if judgement.estimated.is_some() { "estimated " } else { "" };
        let kind = format!("{kind}{}", judgement.verdict.name());
        if judgement.verdict != Verdict::Agrees {
            println!("{name}: {kind}, {seconds:.2} s\n{judgement}");
        }
        *counts.entry(kind).or_default() += 1;
        if let ([arguments], [expected], [actual]) = (&arguments[..], &expected[..], &actual[..]) {
            let missed = missed(verified.module(), arguments, expected, actual);
            assert!(
                missed.is_none_or(|missed| missed == 0),
                "{name}: the expected result is not legal"
            );
        }
        if judgement.verdict == Verdict::Differs {
            wrong.push(name);
        }
    }
    println!("{counts:?}");
    assert!(entries.is_empty() || wrong == WRONG, "{wrong:?}");
}

/// How many elements of a result the ranges exclude, and how many are unknown.
fn outside(ranges: &[Range], expected: &Literal) -> (usize, usize) {
    let (mut missed, mut unknown) = (0, 0);
    for (range, leaf) in ranges.iter().zip(expected.leaves()) {
        let leaf = &*range::cut(leaf);
        let Some(ty) = leaf.array_shape().map(|shape| shape.ty) else { continue };
        if range.lo.len() != leaf.len() {
            // Not even the sizes are known.
            unknown += leaf.len();
            continue;
        }
        let numbers = range::converted(leaf, range::wide(ty));
        let floats = range::floats(&numbers).iter().zip(range.intervals());
        for (&number, interval) in floats {
            match modes::contains(ty.component(), interval, number) {
                Some(true) => {}
                Some(false) => missed += 1,
                None => unknown += 1,
            }
        }
        if is_whole(ty) {
            let inside =
                |i: usize| range.ends(i) == (leaf.get(i), leaf.get(i)) || !range.is_point();
            missed += (0..leaf.len()).filter(|&i| !inside(i)).count();
        }
    }
    (missed, unknown)
}

/// In each mode, the results of all file tests are legal.
#[test]
fn results_of_file_tests_are_legal() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests"));
    let (_, files) = find(root).unwrap();
    let (mut judged, mut unsupported) = (0, std::collections::BTreeMap::<String, usize>::new());
    let mut bad = Vec::new();
    for file in files {
        let Ok(test) = crate::FileTest::read(&file) else { continue };
        for case in &test.cases {
            let Ok(Some(subject)) = case.subject() else { continue };
            let module = subject.module.module();
            let [arguments] = subject.arguments.as_slice() else { continue };
            let Ok(expected) = interp::run(&subject.module, arguments) else { continue };
            for modes in [Modes::ALL, Modes::NONE] {
                match Evaluator::new(module, modes, &Accuracies::default())
                    .entry(std::slice::from_ref(arguments))
                {
                    Ok(ranges) => {
                        judged += 1;
                        let (missed, unknown) = outside(&ranges, &expected);
                        if missed > 0 {
                            bad.push(format!(
                                "{} {modes:?}: {missed} missed of {expected:?} in {ranges:?}",
                                subject.name
                            ));
                        }
                        if unknown > 0 {
                            println!("{} {modes:?}: {unknown} unknown", subject.name);
                        }
                    }
                    Err(Stop::NoRule(reason) | Stop::Module(reason)) => {
                        let (_, reason) = reason.split_once(": ").unwrap_or_default();
                        *unsupported.entry(reason.to_owned()).or_default() += 1;
                    }
                }
            }
        }
    }
    println!("{judged} judged, not: {unsupported:#?}");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(judged > 100, "{judged}");
}

#[test]
fn judgements_are_json() {
    let text = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] divide(x, x) }";
    let judgement = check(text, &["f32[] 3"], "f32[] inf");
    let json = serde_json::to_string(&judgement).unwrap();
    assert_eq!(serde_json::from_str::<Judgement>(&json).unwrap(), judgement, "{json}");
}

#[test]
fn other_shapes_differ() {
    let text = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] copy(x) }";
    let judgement = check(text, &["f32[] 3"], "f32[1] {3}");
    assert_eq!(judgement.verdict, Verdict::Differs);
    assert_eq!(judgement.cause.unwrap(), "the result has shape f32[1]{0}, expected f32[]");
}

const SUM: &str = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }";

#[test]
fn one_operation_has_one_legal_value() {
    let text = "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] multiply(x, x) }";
    let x = ["f32[2] {1.1, 3}"];
    assert_eq!(check(text, &x, "f32[2] {1.21, 9}").verdict, Verdict::Agrees);
    let judgement = check(text, &x, "f32[2] {1.2100002, 9}");
    assert_eq!((judgement.verdict, judgement.measures.wrong), (Verdict::Differs, 1));
    assert_eq!(judgement.measures.worst.unwrap().place, "out0[0]");
    assert_eq!(check(text, &x, "f32[2] {1.21, 9.000001}").verdict, Verdict::Differs);
}

#[test]
fn sums_of_small_integers_have_one_legal_value() {
    let text = format!(
        "HloModule m\n{SUM}\nENTRY e {{ x = f32[4] parameter(0) z = f32[] constant(0)
        ROOT s = f32[] reduce(x, z), dimensions={{0}}, to_apply=add }}"
    );
    let judgement = check(&text, &["f32[4] {1, 1000, -7, 12}"], "f32[] 1006.00006");
    assert_eq!(judgement.verdict, Verdict::Differs);
    let judgement = check(&text, &["f32[4] {1.1, 1000.7, -7.3, 12.9}"], "f32[] 1007.40015");
    assert_eq!(
        (judgement.verdict, judgement.modes),
        (Verdict::WithinBound, vec![Mode::SummationOrder])
    );
}

#[test]
fn modes_are_proved() {
    let of = |body: &str, x: &str, actual: &str| {
        let text = format!("HloModule m\nENTRY e {{ x = f32[] parameter(0) {body} }}");
        let judgement = check(&text, &[x], actual);
        assert_eq!(judgement.verdict, Verdict::WithinBound, "{judgement:?}");
        judgement.modes
    };
    // x = 1 + 3 * 2^-23: the square has 9 * 2^-46 more than its nearest f32.
    let fused = "p = f32[] multiply(x, x) o = f32[] constant(1) ROOT r = f32[] subtract(p, o)";
    assert_eq!(of(fused, "f32[] 1.0000004", "f32[] 7.15255851e-7"), [Mode::FusedMultiplyAdd]);
    assert_eq!(of("ROOT r = f32[] add(x, x)", "f32[] 1e-40", "f32[] 0"), [Mode::FlushedDenormals]);
    assert_eq!(
        of("ROOT r = f32[] tanh(x)", "f32[] 0.5", "f32[] 0.46211722"),
        [Mode::FunctionAccuracy]
    );
    let half = "c = f16[] convert(x) t = f16[] tanh(c) ROOT r = f32[] convert(t)";
    assert_eq!(
        of(half, "f32[] 0.5", "f32[] 0.46240234"),
        [Mode::ElementFunctions, Mode::FunctionAccuracy]
    );
    let reciprocal = "c = f32[] constant(41) ROOT r = f32[] divide(x, c)";
    assert_eq!(of(reciprocal, "f32[] 41", "f32[] 0.99999994"), [Mode::ReciprocalDivision]);
}

#[test]
fn ranges_that_no_bound_excuses() {
    let text = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] tanh(x) }";
    assert_eq!(check(text, &["f32[] 12"], "f32[] 0.99999994").verdict, Verdict::WithinBound);
    assert_eq!(check(text, &["f32[] 12"], "f32[] 1.0000001").verdict, Verdict::Differs);
}

#[test]
fn a_lost_term_differs_at_any_scale() {
    for scale in [1e-30f32, 1e-3, 1.0, 1e20] {
        let x: Vec<f32> = (0u8..100).map(|i| scale * (1.0 + (f32::from(i) * 0.7).sin())).collect();
        let verified = verified(&format!(
            "HloModule m\n{SUM}\nENTRY e {{ x = f32[100] parameter(0) z = f32[] constant(0)
            ROOT s = f32[] reduce(x, z), dimensions={{0}}, to_apply=add }}"
        ));
        let argument = Literal::from_slice(&[100], &x);
        let expected = interp::run(&verified, std::slice::from_ref(&argument)).unwrap();
        let of = |sum: f32| {
            let actual = [Literal::from_slice(&[], &[sum])];
            judge(&verified, &[vec![argument.clone()]], std::slice::from_ref(&expected), &actual)
                .verdict
        };
        let forward: f32 = x.iter().sum();
        let backward: f32 = x.iter().rev().sum();
        assert_ne!(of(forward), Verdict::Differs);
        assert_ne!(of(backward), Verdict::Differs);
        assert_eq!(of(forward - x[0]), Verdict::Differs);
        assert_eq!(of(forward + x[7]), Verdict::Differs);
    }
}

const REDUCE: &str =
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    ENTRY e { x = f32[3] parameter(0) z = f32[] constant(0)
      ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add }";
const DOT: &str = "ENTRY e { x = f32[3] parameter(0) y = f32[3] parameter(1)
    ROOT s = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";

fn verdicts(body: &str, arguments: &[&str], expected: &[(&str, Verdict)]) {
    let text = format!("HloModule m\n{body}");
    for (actual, verdict) in expected {
        let judgement = check(&text, arguments, actual);
        assert_eq!(judgement.verdict, *verdict, "{actual}: {judgement:?}");
    }
}

#[test]
fn products_and_partial_sums_may_underflow() {
    use Verdict::{Differs, NotTested, WithinBound};
    // Each product is 0.4 times the least denormal: rounded before the sum, nothing remains.
    let (x, y) = ("f32[3] {6e-23, 6e-23, 6e-23}", "f32[3] {1e-23, 1e-23, 1e-23}");
    verdicts(DOT, &[x, y], &[("f32[] 0", WithinBound), ("f32[] 1e-40", Differs)]);
    // The partial sum 2^-127 is flushed.
    let x = "f32[3] {1.7632415e-38, -1.1754944e-38, 1.1754944e-38}";
    let flushed = [("f32[] 1.1754944e-38", NotTested), ("f32[] 7e-38", Differs)];
    verdicts(REDUCE, &[x], &flushed);
}

#[test]
fn sums_of_negative_zeros_have_either_sign() {
    let zeros = "f32[3] {-0, -0, -0}";
    let text = format!("HloModule m\n{REDUCE}").replace("constant(0)", "constant(-0)");
    let judgement = check(&text, &[zeros], "f32[] 0");
    assert_eq!(judgement.verdict, Verdict::WithinBound);
    assert_eq!(judgement.measures.worst.unwrap().place, "out0[]");
    let (x, y) = ("f32[3] {-1, -1, -1}", "f32[3] {0, 0, 0}");
    let other = |sign: &str| check(&format!("HloModule m\n{DOT}"), &[x, y], sign).verdict;
    assert!(other("f32[] 0") != Verdict::Differs && other("f32[] -0") != Verdict::Differs);
    verdicts(REDUCE, &["f32[3] {0, 0, 0}"], &[("f32[] -0", Verdict::Differs)]);
}

#[test]
fn sums_of_one_sign_overflow_to_one_infinity() {
    use Verdict::{Differs, Undefined};
    let x = "f32[3] {3e38, 3e38, 3e38}";
    let wrong = ["f32[] -inf", "f32[] nan", "f32[] 1"].map(|x| (x, Differs));
    verdicts(REDUCE, &[x], &wrong);
    verdicts(DOT, &[x, "f32[3] {2, 2, 2}"], &wrong);
    verdicts(REDUCE, &["f32[3] {3e38, 3e38, -3e38}"], &[("f32[] nan", Undefined)]);
    // Numbers with few digits, whose sum is exact as long as it is finite.
    let (x, y) = ("f32[3] {2, -4, 0}", "f32[3] {-2.55e38, -2.55e38, 0}");
    verdicts(DOT, &[x, y], &[("f32[] -inf", Undefined), ("f32[] nan", Undefined)]);
}

#[test]
fn what_is_never_negative_has_a_root() {
    let sum = "s = f32[] reduce(x, z), dimensions={0}, to_apply=add h = f32[] constant(0.6)
        d = f32[] subtract(s, h)";
    for root in [
        "k = f32[] maximum(d, z) ROOT r = f32[] sqrt(k)",
        "k = f32[] abs(d) ROOT r = f32[] sqrt(k)",
        "k = f32[] multiply(d, d) ROOT r = f32[] sqrt(k)",
    ] {
        let body = REDUCE.replace(
            "ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add",
            &format!("{sum} {root}"),
        );
        let wrong = ["f32[] -1", "f32[] 100", "f32[] nan"].map(|x| (x, Verdict::Differs));
        verdicts(&body, &["f32[3] {0.1, 0.2, 0.3}"], &wrong);
    }
}

#[test]
fn asynchronous_operations_have_the_bounds_of_what_they_start() {
    let text = |body: &str| {
        format!(
            "HloModule m
            add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
            inner {{ a = f32[1] parameter(0) ROOT r = f32[1] reduce-scatter(a), replica_groups={{}}, dimensions={{0}}, to_apply=add }}
            ENTRY e {{ x = f32[1] parameter(0) y = f32[1] tanh(x) {body} }}"
        )
    };
    for body in [
        "t = f32[1] all-reduce-start(y), replica_groups={}, to_apply=add ROOT r = f32[1] all-reduce-done(t)",
        "t = (f32[1], f32[1]) all-gather-start(y), replica_groups={}, dimensions={0} ROOT r = f32[1] all-gather-done(t)",
        "t = ((f32[1]), f32[1], u32[]) async-start(y), calls=inner u = ((f32[1]), f32[1], u32[]) async-update(t)
        ROOT r = f32[1] async-done(u)",
    ] {
        // tanh(0.5) is 0.46211717.
        let found = check(&text(body), &["f32[1] {0.5}"], "f32[1] {0.46211714}");
        assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None), "{body}");
        let found = check(&text(body), &["f32[1] {0.5}"], "f32[1] {0.462}");
        assert_eq!((found.verdict, found.estimated), (Verdict::Differs, None), "{body}");
    }
}

#[test]
fn only_what_differs_needs_a_bound() {
    let text = "HloModule m
        ENTRY e { x = f32[] parameter(0) v = f32[1,1] constant({{2}})
        q = (f32[1,1], f32[0], s32[]) custom-call(v), custom_call_target=\"lapack_sgehrd_ffi\",
          backend_config={low = 1 : i32, high = 1 : i32} s = f32[1,1] get-tuple-element(q), index=0
        y = f32[] tanh(x) ROOT t = (f32[1,1], f32[]) tuple(s, y) }";
    let found = check(text, &["f32[] 0.5"], "(f32[1,1] {{2}}, f32[] 0.46211714)");
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    let found = check(text, &["f32[] 0.5"], "(f32[1,1] {{3}}, f32[] 0.46211714)");
    assert!(found.estimated.is_some(), "the first leaf has no bound");
    // The others have one: what they differ by is explained, or accused.
    let text = text.replace("tanh(x)", "add(x, x)");
    let found = check(&text, &["f32[] 1e-40"], "(f32[1,1] {{1.9999999}}, f32[] 0)");
    assert_eq!(
        (found.verdict, &*found.modes),
        (Verdict::WithinBound, &[Mode::FlushedDenormals][..])
    );
    assert!(found.estimated.is_some());
    let found = check(&text, &["f32[] 1e-40"], "(f32[1,1] {{1.9999999}}, f32[] 1e-40)");
    assert_eq!((found.verdict, found.measures.wrong), (Verdict::Differs, 1));
}

#[test]
fn a_computed_nan_has_no_certain_place_in_the_total_order() {
    let text = |x: &str, y: &str| {
        format!(
            "HloModule m
            ENTRY e {{ p = f32[] parameter(0) n = f32[] constant(nan) s = f32[] subtract(p, p)
            ROOT r = pred[] compare({x}, {y}), direction=GT, type=TOTALORDER }}"
        )
    };
    let verdict = |x, y, p, result| check(&text(x, y), &[p], result).verdict;
    // The difference of infinities has either sign.
    for result in ["pred[] true", "pred[] false"] {
        assert_ne!(verdict("s", "p", "f32[] inf", result), Verdict::Differs, "{result}");
    }
    for (x, y, p, right, wrong) in [
        ("n", "p", "f32[] inf", "pred[] true", "pred[] false"),
        ("p", "n", "f32[] -nan", "pred[] false", "pred[] true"),
        ("s", "s", "f32[] inf", "pred[] false", "pred[] true"),
    ] {
        assert_ne!(verdict(x, y, p, right), Verdict::Differs, "{x} {y} {p}");
        assert_eq!(verdict(x, y, p, wrong), Verdict::Differs, "{x} {y} {p}");
    }
}

#[test]
fn orders_of_nan_and_zeros_are_decided_where_they_are_certain() {
    let compare = "compare(a, b), direction=LT, type=TOTALORDER";
    let less = format!(
        "less {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] {compare} }}"
    );
    let narrow = "narrow { a = bf16[] parameter(0) b = bf16[] parameter(1) n = bf16[] constant(nan)
        p = pred[] compare(a, a), direction=NE c = bf16[] select(p, n, a)
        q = pred[] compare(b, b), direction=NE d = bf16[] select(q, n, b)
        x = f32[] convert(c) y = f32[] convert(d)
        ROOT l = pred[] compare(x, y), direction=LT, type=TOTALORDER }";
    let sort = format!(
        "{less} ENTRY e {{ x = f32[6] parameter(0)
        ROOT s = f32[6] sort(x), dimensions={{0}}, is_stable=true, to_apply=less }}"
    );
    let sort_narrow = format!(
        "{narrow} ENTRY e {{ x = bf16[4] parameter(0)
        ROOT s = bf16[4] sort(x), dimensions={{0}}, is_stable=true, to_apply=narrow }}"
    );
    let largest =
        "most { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
        ENTRY e { x = f32[3] parameter(0) i = f32[] constant(-inf)
        m = f32[] reduce(x, i), dimensions={0}, to_apply=most z = f32[] constant(0)
        ROOT r = pred[] compare(m, z), direction=GT, type=TOTALORDER }";
    let zero = "ENTRY e { x = f32[] parameter(0) y = f32[] exponential(x) s = f32[] sine(y)
        z = f32[] constant(-0) m = f32[] maximum(s, z)
        ROOT r = pred[] compare(m, z), direction=GT, type=TOTALORDER }";
    let pooled = format!("{less} select {{ a = f32[] parameter(0) b = f32[] parameter(1)
        ROOT l = pred[] call(a, b), to_apply=less }}
        add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = f32[] add(a, b) }}
        ENTRY e {{ x = f32[4] parameter(0) y = f32[4] subtract(x, x) s = f32[2] constant({{1,2}})
        i = f32[] constant(0) ROOT r = f32[4] select-and-scatter(y, s, i), window={{size=2 stride=2}},
        select=select, scatter=add }}");
    let zeros = "add { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT l = bf16[] add(a, b) }
        ENTRY e { x = bf16[2] parameter(0) i = bf16[] constant(0)
        ROOT r = bf16[] reduce(x, i), dimensions={0}, to_apply=add }";
    for (text, argument, result, is_legal) in [
        // The sign of a given NaN is known, beside denormals, too, and converted to more digits.
        (
            sort.as_str(),
            "f32[6] {-3, 1e-40, 2e-40, nan, 5, -8}",
            "f32[6] {-8, -3, 1e-40, 2e-40, 5, nan}",
            true,
        ),
        (
            &sort,
            "f32[6] {-3, 1e-40, 2e-40, nan, 5, -8}",
            "f32[6] {nan, 5, 2e-40, 1e-40, -3, -8}",
            false,
        ),
        (&sort_narrow, "bf16[4] {3, 1, 2, nan}", "bf16[4] {1, 2, 3, nan}", true),
        (&sort_narrow, "bf16[4] {3, 1, 2, nan}", "bf16[4] {3, 3, 3, 3}", false),
        // That of the maximum of a NaN is not.
        (largest, "f32[3] {1, -nan, 2}", "pred[] true", true),
        (largest, "f32[3] {1, -nan, 2}", "pred[] false", true),
        (largest, "f32[3] {1, 3, 2}", "pred[] false", false),
        // The sine may be anything, so that the maximum may be -0.
        (zero, "f32[] 66.4", "pred[] false", true),
        // A comparison in a computation that is called.
        (&pooled, "f32[4] {inf, 0, inf, 0}", "f32[4] {1, 0, 2, 0}", true),
        (&pooled, "f32[4] {inf, 0, inf, 0}", "f32[4] {0, 1, 0, 2}", true),
        (zeros, "bf16[2] {-0, -0}", "bf16[] -0", true),
        (zeros, "bf16[2] {-0, -0}", "bf16[] 0", true),
    ] {
        let found = check(&format!("HloModule m\n{text}"), &[argument], result);
        assert_eq!(found.verdict != Verdict::Differs, is_legal, "{text}\n{argument} {result}");
        assert_eq!(found.estimated, None, "{text}");
    }
}

#[test]
fn a_row_of_open_order_leaves_other_rows_decided() {
    let text = "HloModule m
        less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
        ENTRY e { x = f32[2,80] parameter(0) y = f32[2,80] exponential(x) z = f32[2,80] sine(y)
        ROOT s = f32[2,80] sort(z), dimensions={1}, to_apply=less }";
    let row = |first: &str| {
        let rest = (1..80).map(|i| format!("{}", -5.0 + 0.05 * f64::from(i)));
        format!("{{{first}, {}}}", rest.collect::<Vec<_>>().join(", "))
    };
    let argument = format!("f32[2,80] {{{}, {}}}", row("66.4"), row("-5"));
    let sines = |first: f64| {
        let rest = (1..80).map(|i| (-5.0 + 0.05 * f64::from(i)).exp().sin());
        let mut all: Vec<f64> = rest.chain([first]).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let shown = |row: &[f64]| {
        format!("{{{}}}", row.iter().map(f64::to_string).collect::<Vec<_>>().join(", "))
    };
    let (open, tame) = (sines(0.5), sines((-5.0f64).exp().sin()));
    let result = |tame: &[f64]| format!("f32[2,80] {{{}, {}}}", shown(&open), shown(tame));
    assert_ne!(check(text, &[&argument], &result(&tame)).verdict, Verdict::Differs);
    let reversed: Vec<f64> = tame.iter().rev().copied().collect();
    assert_eq!(check(text, &[&argument], &result(&reversed)).verdict, Verdict::Differs);
}

#[test]
fn an_element_of_wide_range_may_be_sorted_anywhere_in_it() {
    // The sine of 6e28 is -0.91, and with the rounding of the exponential anything.
    let text = "HloModule m
        ENTRY e { x = f32[5] parameter(0) y = f32[5] exponential(x) z = f32[5] sine(y)
        ROOT s = f32[5] sort(z), dimensions={0}, to_apply=less }
        less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }";
    let arguments = ["f32[5] {66.3324432, 0, 0.3, 2, 1.5}"];
    let result = "f32[5] {-0.9735066, 0.84147096, 0.89385504, 0.95, 0.9756924}";
    let found = check(text, &arguments, result);
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    let found = check(text, &arguments, &result.replace("0.9756924", "1.01"));
    assert_eq!(found.verdict, Verdict::Differs);
}

#[test]
fn arrays_smaller_than_their_bounds_have_bounds() {
    let text = "HloModule m
        ENTRY e { x = f32[2,3] parameter(0) n = s32[] parameter(1)
        d = f32[2,<=3] set-dimension-size(x, n), dimensions={1}
        r = f32[2,<=3] reverse(d), dimensions={1}
        y = f32[2,<=3] tanh(r)
        ROOT t = f32[2,<=3] copy(y) }";
    // tanh(0.5) is 0.46211717, tanh(0.25) is 0.24491866.
    let arguments = ["f32[2,3] {{0.25, 0.5, 7}, {0.5, 0.5, 8}}", "s32[] 2"];
    let result = "f32[2,2] {{0.46211714, 0.24491866}, {0.46211717, 0.46211717}}";
    let found = check(text, &arguments, result);
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    let found = check(text, &arguments, &result.replace("0.24491866", "0.245"));
    assert_eq!((found.verdict, found.estimated), (Verdict::Differs, None));
    assert_eq!(found.measures.wrong, 1);
    // log(2.7182817) is 0.99999997, of which a backend may make 1.
    let text = "HloModule m
        ENTRY e { x = f32[2,3] parameter(0) n = s32[] parameter(1)
        l = f32[2,3] log(x) i = s32[2,3] convert(l)
        d = s32[2,<=3] set-dimension-size(i, n), dimensions={1}
        ROOT s = s32[2,<=3] add(d, d) }";
    let arguments = ["f32[2,3] {{2.7182817, 1, 7}, {1, 2.7182817, 8}}", "s32[] 2"];
    let result = "s32[2,2] {{2, 0}, {0, 2}}";
    let found = check(text, &arguments, result);
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    let found = check(text, &arguments, &result.replace("{0, 2}", "{1, 2}"));
    assert_eq!((found.verdict, found.measures.wrong), (Verdict::Differs, 1));
}

#[test]
fn sums_of_zeros_in_a_transform_have_either_sign() {
    let text = "HloModule m\nENTRY e { x = c64[2] parameter(0) ROOT r = c64[2] fft(x), fft_type=IFFT, fft_length={2} }";
    let found = check(text, &["c64[2] {(0, 0), (0, 0)}"], "c64[2] {(-0, 0), (0, 0)}");
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
}

#[test]
fn functions_of_what_may_be_nan_may_be_nan() {
    // The function of 9 is 0.99999994 or 1, of which the arc cosine is small or 0, and the
    // remainder 0 or NaN.
    let text = "HloModule m
        ENTRY e { x = f32[] parameter(0) t = f32[] tanh(x) a = f32[] acos(t)
        m = f32[] remainder(a, a) ROOT r = f32[] exponential(m) }";
    assert_eq!(check(text, &["f32[] 9"], "f32[] nan").verdict, Verdict::Undefined);
}

#[test]
fn factors_of_a_scaled_dot_may_be_inexact() {
    let text = "HloModule m
        ENTRY e { x = f32[2,4] parameter(0) w = f32[1,4] parameter(1) s = f32[2,2] parameter(2) t = f32[1,1] parameter(3)
        y = f32[2,4] tanh(x) u = f32[2,2] exponential(s)
        ROOT r = f32[2,1] scaled-dot(y, w, u, t), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,highest} }";
    // tanh(0.5) is 0.46211717 and exp(1) is 2.7182818: (0.46211717 * 2 * 1 + 0.46211717 * 2 *
    // 2.7182818) * 2, and 4 * 2 * 0.46211717.
    let arguments = [
        "f32[2,4] {{0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, 0.5, 0.5}}",
        "f32[1,4] {{1, 1, 1, 1}}",
        "f32[2,2] {{0, 1}, {0, 0}}",
        "f32[1,1] {{2}}",
    ];
    let found = check(text, &arguments, "f32[2,1] {{6.873128}, {3.696937}}");
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    let found = check(text, &arguments, "f32[2,1] {{6.873}, {3.696}}");
    assert_eq!((found.verdict, found.measures.wrong), (Verdict::Differs, 2));
}

#[test]
fn least_elements_may_be_nan_if_one_is_unknown() {
    // The remainder is 0 or NaN, and the other element the least number there is.
    let text = "HloModule m
        min { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] minimum(a, b) }
        ENTRY e { x = f32[1] parameter(0) y = f32[1] parameter(1) i = f32[] constant(inf)
        t = f32[1] tanh(x) a = f32[1] acos(t) r = f32[1] remainder(a, a)
        c = f32[2] concatenate(r, y), dimensions={0} ROOT m = f32[] reduce(c, i), dimensions={0}, to_apply=min }";
    let arguments = ["f32[1] {9}", "f32[1] {-inf}"];
    assert_eq!(check(text, &arguments, "f32[] nan").verdict, Verdict::Undefined);
}

#[test]
fn what_may_be_nan_has_no_certain_rank() {
    // The remainder is 0 or NaN, of either sign.
    let text = "HloModule m
        ENTRY e { x = f32[1] parameter(0) y = f32[1] parameter(1)
        t = f32[1] tanh(x) a = f32[1] acos(t) r = f32[1] remainder(a, a) c = f32[2] concatenate(r, y), dimensions={0}
        k = (f32[2], s32[2]) topk(c), k=2, largest=true ROOT i = s32[2] get-tuple-element(k), index=1 }";
    // The square root of -1 is a NaN of either sign.
    let computed = "HloModule m
        ENTRY e { x = f32[2] parameter(0) s = f32[2] sqrt(x) k = (f32[2], s32[2]) topk(s), k=2, largest=true
        ROOT i = s32[2] get-tuple-element(k), index=1 }";
    for found in ["s32[2] {0, 1}", "s32[2] {1, 0}"] {
        let verdict = check(text, &["f32[1] {9}", "f32[1] {1}"], found).verdict;
        assert!(!verdict.is_bad(), "{found}: {verdict:?}");
        let verdict = check(computed, &["f32[2] {-1, 4}"], found).verdict;
        assert!(!verdict.is_bad(), "{found}: {verdict:?}");
    }
    let given = computed.replace("sqrt(x)", "copy(x)").replace("topk(s)", "topk(x)");
    let verdict = check(&given, &["f32[2] {nan, 4}"], "s32[2] {1, 0}").verdict;
    assert_eq!(
        verdict,
        Verdict::Differs,
        "the NaN of the argument is positive, so it is the first"
    );
}
