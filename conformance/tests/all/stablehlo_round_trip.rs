//! Modules as StableHLO and back: every file test computes the same bits, through the text and
//! through its generic form; where functions of CHLO are expanded, about the same.
use collectives::Session;
use conformance::{Case, FileTest};
use hlo::{Literal, Opcode, Scalar, Verified};
use interp::{CompileOptions, RunOptions};
use stablehlo::{Chlo, ExportOptions, TextStyle};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What StableHLO cannot express, and the number of cases that need it.
const REFUSED: [(&str, usize); 11] = [
    ("StableHLO has no type for `s1`", 9),
    ("StableHLO has no type for `u1`", 12),
    ("`bitcast` of a tiled layout", 7),
    ("`bitcast` of elements of less than a byte", 4),
    ("`convolution` with a `sparsity_config`", 1),
    ("`convolution` with an `algorithm`", 1),
    ("`custom-call` with a window", 7),
    ("`rng-get-and-update-state` has no counterpart in StableHLO", 5),
    ("`send` without a token", 1),
    ("`set-dimension-size` that returns a static size", 3),
    ("`topk` of a dynamic size without an op of CHLO", 1),
];

/// The outcome of a case.
enum RoundTrip {
    /// The case expects an error, or does not run.
    Skipped,
    Same,
    Refused(String),
    Wrong(String),
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let folders = ["ops", "programs", "collectives", "findings"].map(|folder| root.join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "hlo")).collect();
    files.sort();
    files
}

fn run(module: Verified, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, String> {
    let session =
        Session::compile(module, &CompileOptions::default()).map_err(|e| e.to_string())?;
    let mut options = RunOptions::default();
    options.fuel = Some(1 << 22);
    let output = session.run(arguments, &options).map_err(|e| e.to_string())?;
    Ok(output.results.iter().flat_map(Literal::leaves).cloned().collect())
}
/// Returns whether arrays have the same elements; about the same if functions were expanded.
fn agree(found: &[Literal], expected: &[Literal], chlo: Chlo) -> bool {
    let arrays = |all: &[Literal]| -> Vec<Literal> {
        all.iter().filter(|leaf| leaf.array().is_some()).map(Literal::to_static).collect()
    };
    let (found, expected) = (arrays(found), arrays(expected));
    let same = |a: &Literal, b: &Literal| {
        let (Some(x), Some(y)) = (a.array_shape(), b.array_shape()) else { return false };
        x.ty == y.ty
            && x.dims == y.dims
            && match chlo {
                Chlo::Keep => a.bytes() == b.bytes(),
                Chlo::Expand => (0..a.len()).all(|i| is_near(a.get(i), b.get(i), x.ty)),
            }
    };
    found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| same(a, b))
}
#[expect(clippy::float_cmp, reason = "infinities are equal")]
fn is_near(a: Scalar, b: Scalar, ty: hlo::ElementType) -> bool {
    let ulp = |ty: hlo::ElementType| {
        2f64.powi(-i32::try_from(ty.float_format().unwrap().mantissa_bits).unwrap())
    };
    let is_same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => {
            is_same(a, b) || (a - b).abs() <= 4.0 * ulp(ty) * b.abs().max(f64::MIN_POSITIVE)
        }
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => {
            let size = c.hypot(d).max(f64::MIN_POSITIVE);
            is_same(a, c) && is_same(b, d)
                || (a - c).hypot(b - d) <= 4.0 * ulp(ty.component()) * size
        }
        _ => a == b,
    }
}

fn round_trip(case: &Case, chlo: Chlo) -> RoundTrip {
    let Ok(Some(subject)) = case.subject() else { return RoundTrip::Skipped };
    let Ok(expected) = run((*subject.module).clone(), &subject.arguments) else {
        return RoundTrip::Skipped;
    };
    let program = match stablehlo::from_hlo(&subject.module, &ExportOptions { chlo }) {
        Ok(program) => program,
        Err(error) if error.code().is_unsupported() => {
            assert!(error.instruction().is_some(), "{error}");
            return RoundTrip::Refused(error.code().to_string());
        }
        Err(error) => return RoundTrip::Wrong(error.to_string()),
    };
    let arguments: Vec<Vec<Literal>> = subject
        .arguments
        .iter()
        .map(|list| list.iter().flat_map(Literal::leaves).cloned().collect())
        .collect();
    let pretty = program.to_string();
    for style in [TextStyle::Pretty, TextStyle::Generic] {
        let text = program.to_text(style);
        let through = || -> Result<Vec<Literal>, String> {
            let again = stablehlo::read(text.as_bytes()).map_err(|error| error.to_string())?;
            if again.to_string() != pretty {
                return Err(format!("another text when read again:\n{again}"));
            }
            let module = stablehlo::convert::module(&again).map_err(|error| error.to_string())?;
            run(module.verify().map_err(|errors| errors.to_string())?, &arguments)
        };
        match through() {
            Ok(found) if agree(&found, &expected, chlo) => {}
            Ok(found) => return RoundTrip::Wrong(format!("{found:?} is not {expected:?}\n{text}")),
            Err(error) => return RoundTrip::Wrong(format!("{error}\n{text}")),
        }
    }
    RoundTrip::Same
}

/// The outcomes of cases.
struct RoundTrips {
    same: usize,
    /// The ops in the modules that compute the same.
    opcodes: BTreeSet<Opcode>,
    /// The cases that need what StableHLO lacks.
    refused: BTreeMap<String, Vec<String>>,
}

/// Runs the cases whose file has one of these names, or all.
fn all(names: &[&str], chlo: Chlo) -> RoundTrips {
    let mut opcodes = BTreeSet::new();
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut same, mut skipped, mut wrong) = (0, 0, Vec::new());
    for path in files() {
        let stem = path.file_stem().unwrap().to_string_lossy();
        if !names.is_empty() && !names.contains(&&*stem) {
            continue;
        }
        for case in &FileTest::read(&path).unwrap().cases {
            match round_trip(case, chlo) {
                RoundTrip::Skipped => skipped += 1,
                RoundTrip::Same => {
                    same += 1;
                    let subject = case.subject().unwrap().unwrap();
                    for (_, computation) in subject.module.module().computations.iter() {
                        opcodes.extend(computation.instructions.iter().map(|(_, i)| i.opcode()));
                    }
                }
                RoundTrip::Refused(reason) => {
                    refused.entry(reason).or_default().push(case.name.clone());
                }
                RoundTrip::Wrong(reason) => wrong.push(format!("{}: {reason}", case.name)),
            }
        }
    }
    println!("{same} cases compute the same, {skipped} do not run");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    RoundTrips { same, opcodes, refused }
}

#[test]
fn file_tests_compute_the_same_bits() {
    let RoundTrips { same, opcodes, refused } = all(&[], Chlo::Keep);
    let counts: Vec<_> = refused.iter().map(|(why, cases)| (why.as_str(), cases.len())).collect();
    let mut expected = REFUSED.to_vec();
    expected.sort_unstable();
    assert_eq!(counts, expected, "{refused:#?}");
    assert!(same > 2000, "{same} cases");
    let missing = Opcode::ALL.iter().filter(|op| !opcodes.contains(op));
    // Those that exchange data with a host do not run here.
    let known = [Opcode::Infeed, Opcode::Outfeed, Opcode::RngGetAndUpdateState];
    assert!(missing.eq(&known), "{opcodes:?}");
}
#[test]
fn expanded_functions_compute_the_same() {
    let names = [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atanh",
        "cosh",
        "erf",
        "mulhi",
        "ragged-dot",
        "scaled-dot",
        "scan",
        "sinh",
        "topk",
    ];
    let RoundTrips { same, refused, .. } = all(&names, Chlo::Expand);
    assert!(refused.keys().all(|why| why.contains("dynamic size")), "{refused:#?}");
    assert!(same > 80, "{same} cases");
}
