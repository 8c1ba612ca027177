//! The suite as files: what the checker of the folder says is what the judge says.
use conformance::arrays::flatten_per_device;
use conformance::backend::{Backend, EngineBackend, VariantBackend};
use conformance::judge::{JudgeOptions, judge_with};
use conformance::results::Verdict;
use conformance::suite::{Selection, Suite};
use conformance::{Engine, Subject, on_large_stack};
use fastrand::Rng;
use hlo::elem::Class;
use hlo::{Literal, Scalar};
use interp::DeviceGrid;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// Returns a Python that has NumPy: `$PYTHON`, or one of the search path.
fn python() -> Option<String> {
    let given = std::env::var("PYTHON").ok();
    given.into_iter().chain(["python3".to_owned()]).find(|python| {
        let found = Command::new(python).args(["-c", "import numpy"]).output();
        found.is_ok_and(|output| output.status.success())
    })
}

/// Returns what the checker says of each case that is not `legal`, and its exit code.
fn check(python: &str, folder: &Path, results: &Path) -> (BTreeMap<String, String>, Option<i32>) {
    let output = Command::new(python).arg(folder.join("check.py")).arg(results).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| {
        let (verdict, rest) = line.split_once(": ")?;
        let name = rest.split(": ").next().unwrap_or_default();
        Some((name.to_owned(), verdict.to_owned()))
    };
    (text.lines().filter_map(line).collect(), output.status.code())
}

/// Returns the word of the checker.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees | Verdict::WithinBound => "legal",
        Verdict::NotTested => "not tested",
        Verdict::Undefined => "undefined",
        _ => "WRONG",
    }
}

fn write(folder: &Path, id: &str, results: &[Literal]) {
    let arrays = flatten_per_device(results.iter(), "out");
    let arrays: Vec<_> =
        arrays.into_iter().map(|(name, array)| (name, array.to_static())).collect();
    let file = File::create(folder.join(format!("{id}.npz"))).unwrap();
    let arrays = arrays.iter().map(|(name, array)| (name.clone(), array));
    hlo::literal::npz::write(file, arrays).unwrap();
}

fn run(subject: &Subject, backend: &mut dyn Backend) -> Option<Vec<Literal>> {
    let grid = DeviceGrid::of(&subject.module.module().config);
    backend.compile(&subject.module, grid).ok()?.execute(&subject.arguments).ok()
}

/// Changes elements of an array.
fn mutate(array: &mut Literal, kind: usize, random: &mut Rng) {
    let Some(ty) = array.array_shape().map(|shape| shape.ty).filter(|_| !array.is_empty()) else {
        return;
    };
    let (at, other, width) =
        (random.usize(..array.len()), random.usize(..array.len()), ty.storage_bytes());
    let (x, y) = (array.get(at), array.get(other));
    let of_bits = |bits: u128| {
        let bits = bits & (u128::MAX >> (128 - ty.bits()));
        // The bits of a negative number of a narrow type have its sign in front.
        let negative = ty.class() == Class::Signed && bits >> (ty.bits() - 1) == 1;
        Scalar::from_bits(ty, if negative { bits | (u128::MAX << (ty.bits() - 1)) } else { bits })
    };
    let near = |distance: u128| {
        let bits = x.to_bits(ty);
        of_bits(if bits & 1 == 0 {
            bits.wrapping_add(distance)
        } else {
            bits.wrapping_sub(distance)
        })
    };
    let new = match kind {
        0 => near(1),
        1 => near(u128::from(random.u32(2..40))),
        2 => of_bits(random.u128(..)),
        3 if ty.is_float() => Scalar::Float(f64::NAN),
        4 if ty.is_float() => Scalar::Float(x.as_f64() * 1.01),
        5 if ty.is_float() => Scalar::Float(-x.as_f64()),
        6 if ty.is_float() => Scalar::Float(x.as_f64() * 1e9),
        _ => y,
    };
    new.write(ty, &mut array.bytes_mut()[at * width..][..width]);
    if new == y {
        x.write(ty, &mut array.bytes_mut()[other * width..][..width]);
    }
}

/// Returns a value of the same shape whose arrays are changed.
fn mutated(value: &Literal, kind: usize, random: &mut Rng) -> Literal {
    match value.elements() {
        Some(elements) => {
            Literal::tuple(elements.iter().map(|one| mutated(one, kind, random)).collect())
        }
        None => {
            let mut value = value.clone();
            mutate(&mut value, kind, random);
            value
        }
    }
}

/// The results of backends, and changed ones.
const SETS: [&str; 11] =
    ["exact", "fast", "variant", "near", "unit", "bits", "nan", "percent", "sign", "size", "other"];

#[test]
fn the_checker_says_what_the_judge_says() {
    let Some(python) = python() else {
        println!("skipped: there is no Python with NumPy");
        return;
    };
    let part = std::env::var("SUITE").is_err().then(|| "1/8".parse().unwrap());
    let suite = Suite::load(&Selection { shard: part, ..Selection::smoke() }).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("suite");
    let manifest = suite.export(&folder, &JudgeOptions::default(), "0", || true).unwrap();
    assert_eq!((manifest.cases.len(), &manifest.left_out), (suite.cases().len(), &BTreeMap::new()));
    for set in SETS {
        std::fs::create_dir(temporary.path().join(set)).unwrap();
    }
    let mut judged: BTreeMap<(&str, String), Verdict> = BTreeMap::new();
    on_large_stack(|| {
        for (case, exported) in suite.cases().iter().zip(&manifest.cases) {
            let subject = case.subject().unwrap();
            let expected = run(&subject, &mut EngineBackend(Engine::Exact)).unwrap();
            for (number, set) in SETS.into_iter().enumerate() {
                let mut random = Rng::with_seed(7 * u64::try_from(number).unwrap());
                let results = match set {
                    "exact" => Some(expected.clone()),
                    "fast" => run(&subject, &mut EngineBackend(Engine::Fast)),
                    "variant" => {
                        let exact = Box::new(EngineBackend(Engine::Exact));
                        run(&subject, &mut VariantBackend::new(11, exact))
                    }
                    _ => Some(
                        expected.iter().map(|one| mutated(one, number - 3, &mut random)).collect(),
                    ),
                };
                let Some(results) = results else { continue };
                write(&temporary.path().join(set), &exported.id, &results);
                let options = JudgeOptions::default().without_witness();
                let judgement =
                    judge_with(&options, &subject.module, &subject.arguments, &expected, &results);
                judged.insert((set, case.name().to_owned()), judgement.verdict);
            }
        }
    });
    let (mut differ, mut wider, mut all) = (Vec::new(), 0, 0);
    for set in SETS {
        let (found, code) = check(&python, &folder, &temporary.path().join(set));
        let of_set = judged.iter().filter(|((other, _), _)| *other == set);
        let mut is_wrong = false;
        for ((_, name), verdict) in of_set {
            all += 1;
            let says = found.get(name).map_or("legal", String::as_str);
            is_wrong |= says == "WRONG";
            // With fewer modes, which the judge looks for, a bound is narrower.
            let is_wider = says == "not tested" && *verdict == Verdict::WithinBound;
            wider += usize::from(is_wider);
            if says != word(*verdict) && !is_wider {
                differ.push(format!("{set} {name}: {says}, the judge: {verdict:?}"));
            }
        }
        assert_eq!(code == Some(1), is_wrong, "{set}");
        if ["exact", "fast", "variant"].contains(&set) {
            assert!(!is_wrong, "{set}: {found:?}");
        }
    }
    println!("{} of {all} verdicts differ, {wider} are not tested", differ.len());
    assert!(wider * 1000 < all);
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
