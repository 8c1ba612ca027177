//! How good the judge is: each case of the smoke set with one wrong element, eight ways.
//!
//! `ETALON_BLESS=1 cargo test -p etalon-conformance --test all mutations` writes the page.
use conformance::Engine;
use conformance::backend::{Backend, EngineBackend};
use conformance::judge::{JudgeOptions, judge_with};
use conformance::results::Verdict;
use conformance::suite::{Selection, Suite, SuiteCase};
use hlo::op::Accuracy;
use hlo::{ElementType, Literal, Opcode, Scalar};
use interp::DeviceGrid;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A wrong element, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mutation {
    /// Exchanged with another element.
    Exchanged,
    Zero,
    /// Off by 1 %; by a fifth in types of at most 16 bits, and at least by 1.
    Percent,
    /// Off by 4 units in the last place.
    FourUlp,
    Sign,
    Nan,
    /// The value of the next element.
    Neighbor,
    /// The first row has the values of the last one.
    Row,
}

const MUTATIONS: [Mutation; 8] = [
    Mutation::Exchanged,
    Mutation::Zero,
    Mutation::Percent,
    Mutation::FourUlp,
    Mutation::Sign,
    Mutation::Nan,
    Mutation::Neighbor,
    Mutation::Row,
];

/// The numbers of verdicts on wrong results.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    caught: usize,
    not_tested: usize,
    undefined: usize,
    passed: usize,
}

impl Score {
    fn add(&mut self, other: Self) {
        self.caught += other.caught;
        self.not_tested += other.not_tested;
        self.undefined += other.undefined;
        self.passed += other.passed;
    }
    /// Returns the share of the defined elements that are caught, or said not to be tested.
    fn share(self) -> f64 {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap());
        let defined = self.caught + self.not_tested + self.passed;
        if defined == 0 { 1.0 } else { count(self.caught + self.not_tested) / count(defined) }
    }
}

fn is_number(ty: ElementType) -> bool {
    ty.is_float() || ty.is_complex()
}

/// Returns both parts of an element changed alike.
fn mapped(x: Scalar, change: impl Fn(f64) -> f64) -> Scalar {
    match x {
        Scalar::Float(x) => Scalar::Float(change(x)),
        Scalar::Complex(re, im) => Scalar::Complex(change(re), im),
        Scalar::Pred(x) => Scalar::Pred(!x),
        Scalar::Signed(_) | Scalar::Unsigned(_) => x,
    }
}

/// Returns the element with an error; the same one if the mutation has no meaning for it.
fn wrong(ty: ElementType, mutation: Mutation, x: Scalar) -> Scalar {
    let step = |x: i64, by: f64| {
        let off = x.unsigned_abs().min(1 << 40) / if by > 0.1 { 5 } else { 100 };
        x.wrapping_add(i64::try_from(off.max(1)).unwrap())
    };
    let by = if ty.bits() <= 16 { 0.2 } else { 0.01 };
    let format = ty.component().float_format();
    let ulp = |x: f64| {
        let bits = format.map_or(52, |format| i32::try_from(format.mantissa_bits).unwrap());
        let exponent = x.abs().log2().floor().max(-1000.0);
        (exponent - f64::from(bits)).exp2()
    };
    let changed = match (mutation, x) {
        (Mutation::Zero, _) => Scalar::zero(ty),
        (Mutation::Percent, Scalar::Signed(x)) => Scalar::Signed(step(x, by)),
        (Mutation::Percent, Scalar::Unsigned(x)) => {
            Scalar::Signed(step(x.cast_signed(), by)).convert(ElementType::S64, ty)
        }
        (Mutation::Percent, x) => mapped(x, |x| x + x.abs() * by),
        (Mutation::FourUlp, x) if is_number(ty) => mapped(x, |x| x + 4.0 * ulp(x)),
        (Mutation::Sign, Scalar::Signed(x)) => Scalar::Signed(x.wrapping_neg()),
        (Mutation::Sign, x) if is_number(ty) => mapped(x, |x| -x),
        (Mutation::Nan, x) if is_number(ty) => mapped(x, |_| f64::NAN),
        (_, x) => x,
    };
    match changed {
        Scalar::Signed(x) => Scalar::Signed(x).convert(ElementType::S64, ty),
        changed => changed.round_to(ty),
    }
}

/// Returns the array with an error; `None` if the mutation does not change it, or makes it what it
/// is.
fn mutated(leaf: &Literal, mutation: Mutation, from: usize) -> Option<Literal> {
    let ty = leaf.array_shape()?.ty;
    let count = leaf.len();
    let width = ty.storage_bytes();
    let mut result = leaf.clone();
    let write = |result: &mut Literal, at: usize, x: Scalar| {
        x.write(ty, &mut result.bytes_mut()[at * width..(at + 1) * width]);
    };
    let same = |a: Scalar, b: Scalar| match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a.total_cmp(&b).is_eq(),
        (a, b) => a == b,
    };
    // Zeros of both signs are equal here: which one it is, is seldom defined.
    let is_plain = |x: Scalar| match x {
        Scalar::Float(x) => x.is_finite() && x.abs() > 1e-30,
        Scalar::Complex(re, im) => re.is_finite() && im.is_finite() && re.abs() > 1e-30,
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => true,
    };
    let places = (0..count).map(|k| (from + k) % count).filter(|&at| is_plain(leaf.get(at)));
    let other = |at: usize, by: usize| leaf.get((at + by) % count);
    match mutation {
        Mutation::Exchanged => {
            let (at, to) = places
                .flat_map(|at| (1..count.min(9)).map(move |by| (at, (at + by) % count)))
                .find(|&(at, to)| is_plain(leaf.get(to)) && !same(leaf.get(at), leaf.get(to)))?;
            write(&mut result, at, leaf.get(to));
            write(&mut result, to, leaf.get(at));
        }
        Mutation::Neighbor => {
            let mut places = places;
            let at =
                places.find(|&at| is_plain(other(at, 1)) && !same(leaf.get(at), other(at, 1)))?;
            write(&mut result, at, other(at, 1));
        }
        Mutation::Row => {
            let dims = &leaf.array_shape()?.dims;
            let row = usize::try_from(*dims.last()?).ok()?;
            if dims.len() < 2 || count <= row {
                return None;
            }
            for at in 0..row {
                write(&mut result, at, leaf.get(count - row + at));
            }
            let alike = (0..row).all(|at| same(leaf.get(at), result.get(at)));
            if alike || !(0..row).any(|at| is_plain(result.get(at))) {
                return None;
            }
        }
        _ => {
            let mut places = places;
            let at = places.find(|&at| !same(leaf.get(at), wrong(ty, mutation, leaf.get(at))))?;
            write(&mut result, at, wrong(ty, mutation, leaf.get(at)));
        }
    }
    Some(result)
}

/// Returns whether an error of 4 units is within the accuracy of an op, or the order of its sums.
fn may_be_off(name: &str) -> bool {
    let op = name.split('/').next().unwrap_or_default();
    match Opcode::from_name(op).map(Opcode::accuracy) {
        Some(Accuracy::Exact) => false,
        Some(Accuracy::Ulp(ulps)) => ulps >= 3 || name.contains("/c"),
        Some(Accuracy::Order | Accuracy::Random) | None => true,
    }
}

type Verdicts = Vec<(Mutation, Verdict, String)>;

/// Judges the results of a case with each error.
fn judged(case: &SuiteCase) -> Option<Verdicts> {
    let subject = case.subject().ok()?;
    let grid = DeviceGrid::of(&subject.module.module().config);
    let mut loaded = EngineBackend(Engine::Exact).compile(&subject.module, grid).ok()?;
    let expected = loaded.execute(&subject.arguments).ok()?;
    let options = JudgeOptions::default().without_witness();
    let hash =
        case.name().bytes().fold(7usize, |hash, byte| hash.wrapping_mul(31) ^ usize::from(byte));
    let mut verdicts = Vec::new();
    for mutation in MUTATIONS {
        if mutation == Mutation::FourUlp && may_be_off(case.name()) {
            continue;
        }
        let mut actual = expected.clone();
        let leaves: Vec<Literal> = actual[0].leaves().into_iter().cloned().collect();
        let changed = (0..leaves.len())
            .map(|k| (hash + k) % leaves.len())
            .find_map(|k| Some((k, mutated(&leaves[k], mutation, hash % leaves[k].len().max(1))?)));
        let Some((k, changed)) = changed else { continue };
        let mut leaves = leaves;
        leaves[k] = changed;
        actual[0] = match expected[0].elements() {
            None => leaves.remove(0),
            Some(elements) if elements.len() == leaves.len() => Literal::tuple(leaves),
            Some(_) => continue,
        };
        let judgement =
            judge_with(&options, &subject.module, &subject.arguments, &expected, &actual);
        verdicts.push((mutation, judgement.verdict, judgement.to_string()));
    }
    Some(verdicts)
}

/// The page of scores.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mutations.md");

#[test]
fn wrong_elements_are_found() {
    let cases = Suite::load(&Selection::smoke()).unwrap().into_cases();
    let half = cases.len() / 2;
    let all: Vec<(&SuiteCase, Option<Verdicts>)> = std::thread::scope(|scope| {
        let [first, second] = [&cases[..half], &cases[half..]].map(|part| {
            std::thread::Builder::new()
                .stack_size(1 << 28)
                .spawn_scoped(scope, move || {
                    part.iter().map(|case| (case, judged(case))).collect::<Vec<_>>()
                })
                .unwrap()
        });
        first.join().unwrap().into_iter().chain(second.join().unwrap()).collect()
    });
    let (mut total, mut by_op, mut by_mutation) =
        (Score::default(), BTreeMap::new(), BTreeMap::new());
    let mut passed = Vec::new();
    for (case, verdicts) in &all {
        for (mutation, verdict, text) in verdicts.iter().flatten() {
            let mut score = Score::default();
            match verdict {
                Verdict::Differs | Verdict::EtalonBug => score.caught = 1,
                Verdict::NotTested => score.not_tested = 1,
                Verdict::Undefined => score.undefined = 1,
                _ => {
                    score.passed = 1;
                    println!("{} {mutation:?}: {text}", case.name());
                    passed.push(format!("{} ({mutation:?})", case.name()));
                }
            }
            total.add(score);
            let mut parts = case.name().split('/');
            let key = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            by_op.entry(key).or_insert_with(Score::default).add(score);
            by_mutation.entry(*mutation).or_insert_with(Score::default).add(score);
        }
    }
    let page = page(total, &by_op, &by_mutation, &passed);
    if std::env::var_os("ETALON_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    println!("{total:?}: {:.2} %", 100.0 * total.share());
    assert!(total.share() >= 0.99, "{total:?}");
    let written = std::fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    assert!(
        written == page,
        "docs/mutations.md is not what the test finds: run it with ETALON_BLESS=1"
    );
}

fn page(
    total: Score,
    by_op: &BTreeMap<(&str, &str), Score>,
    by_mutation: &BTreeMap<Mutation, Score>,
    passed: &[String],
) -> String {
    let row = |name: &str, score: &Score| {
        let Score { caught, not_tested, undefined, passed } = score;
        format!("| {name} | {caught} | {not_tested} | {passed} | {undefined} |\n")
    };
    let head = "|---|---|---|---|---|\n";
    let mut text = format!(
        "# How good the judge is\n\n\
        Each case of `etalon conform --suite smoke` is judged with a wrong result, eight ways. *Not tested* is an element whose bound\n\
        has the size of the element; *passed* is within the bound of a correct evaluation; of an *undefined* element nothing can be\n\
        wrong. Of the defined elements, {:.2} % are caught or said not to be tested. `cargo test -p etalon-conformance --test all\n\
        mutations` finds these numbers.\n\n\
        | mutation | caught | not tested | passed | undefined |\n{head}",
        100.0 * total.share()
    );
    for (mutation, score) in by_mutation {
        let name = match mutation {
            Mutation::Exchanged => "two elements exchanged",
            Mutation::Zero => "zero",
            Mutation::Percent => "off by 1 %, or 20 % in 8 and 16 bits",
            Mutation::FourUlp => "off by 4 ulp, of ops that are more accurate",
            Mutation::Sign => "sign",
            Mutation::Nan => "NaN",
            Mutation::Neighbor => "the value of a neighbor",
            Mutation::Row => "a whole row",
        };
        text.push_str(&row(name, score));
    }
    text.push_str(&row("all", &total));
    let _ = write!(text, "\n## Passed\n\n");
    for name in passed {
        let _ = writeln!(text, "- `{name}`");
    }
    let _ = write!(
        text,
        "\n## By op and type\n\n| op, type | caught | not tested | passed | undefined |\n{head}"
    );
    for ((op, ty), score) in by_op {
        text.push_str(&row(&format!("{op} {ty}"), score));
    }
    text
}
