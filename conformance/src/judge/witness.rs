//! The second witness: before a backend is said to be wrong, the engine `reference` computes the
//! expected result again, by the functions of the specification.
use super::verdict::same;
use super::{JudgeOptions, Judgement, judge_with};
use crate::backend::{Backend as _, LimitedEngine, VariantBackend};
use crate::results::Verdict;
use collectives::Session;
use hlo::{Literal, Scalar, Verified};
use interp::{CompileOptions, DeviceGrid, Engine, RunOptions};
use std::sync::Arc;
use std::time::Duration;

/// The time that the second computation may take. The functions of the specification are slow.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The seeds of the variants that measure how much a correct backend may differ.
const VARIANTS: [u64; 3] = [0x5eed, 0x5eee, 0x5eef];

/// An error of so many times that of the variants is none of a correct backend.
const SPREADS: f64 = 16.0;

/// Makes the verdict [`Verdict::EtalonBug`] if `reference` does not confirm the expected result;
/// notes why there is no second result, if there is none.
pub(super) fn examine(
    verified: &Verified,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
    judgement: &mut Judgement,
) {
    let again = match computed(verified, arguments) {
        Ok(again) => again,
        Err(reason) => {
            judgement.witness = Some(format!("no second result: {reason}"));
            return;
        }
    };
    let repeated = |given: &[Literal]| match given {
        [all] => vec![all.clone(); again.len()],
        each => each.to_vec(),
    };
    let options = JudgeOptions::strict().without_witness();
    let second = judge_with(&options, verified, arguments, &repeated(expected), &again);
    if matches!(second.verdict, Verdict::Differs | Verdict::EtalonBug) {
        judgement.verdict = Verdict::EtalonBug;
        judgement.witness = Some(format!("`reference` has another result: {second}"));
    }
}

/// Makes the verdict [`Verdict::Undefined`] if legal variants of the module differ from the expected
/// result by as much as the actual one: where there is only an estimate, they measure how much a
/// correct backend may differ.
pub(super) fn try_variants(
    verified: &Verified,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
    actual: &[Literal],
    judgement: &mut Judgement,
) {
    let module = Arc::new(verified.clone());
    let mut variants: Vec<Vec<Literal>> = Vec::new();
    for seed in VARIANTS {
        let limits = LimitedEngine {
            engine: Engine::Exact,
            fuel: u64::MAX,
            max_memory: usize::MAX,
            time_limit: Some(TIME_LIMIT),
        };
        let mut backend = VariantBackend::new(seed, Box::new(limits));
        let grid = DeviceGrid::of(&module.module().config);
        let loaded = backend.compile(&module, grid);
        let Ok(results) = loaded.and_then(|mut loaded| loaded.execute(arguments)) else { return };
        variants.push(results);
    }
    for (device, actual) in actual.iter().enumerate() {
        let expected = &expected[device.min(expected.len() - 1)];
        for (leaf, (actual, expected)) in
            actual.leaves().into_iter().zip(expected.leaves()).enumerate()
        {
            let own = variants.iter().filter_map(|results| results.get(device));
            let spread = own.map(|result| distance(result.leaves()[leaf], expected));
            let spread = spread.fold(0.0, f64::max);
            if distance(actual, expected) > SPREADS * spread {
                return;
            }
        }
    }
    judgement.verdict = Verdict::Undefined;
    judgement.undetermined += std::mem::take(&mut judgement.measures.wrong);
    let reason = judgement.estimated.take().unwrap_or_default();
    judgement.estimated = Some(format!("{reason}; legal variants of the module differ as much"));
}

/// Returns the largest difference of two arrays; an infinity where whole numbers, infinities or NaN
/// differ.
fn distance(a: &Literal, b: &Literal) -> f64 {
    let parts = |x: Scalar| match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    };
    let whole = a.array_shape().is_none_or(|shape| !shape.ty.is_float() && !shape.ty.is_complex());
    let of = |i: usize| {
        let (a, b) = (a.get(i), b.get(i));
        let mut errors = parts(a).into_iter().zip(parts(b)).map(|(a, b)| (a - b).abs());
        let error =
            errors.try_fold(0.0f64, |most, error| error.is_finite().then(|| most.max(error)));
        match same(a, b) {
            true => 0.0,
            false if whole => f64::INFINITY,
            false => error.unwrap_or(f64::INFINITY),
        }
    };
    (0..a.len().min(b.len())).map(of).fold(0.0, f64::max)
}

/// Returns the result of each device.
fn computed(verified: &Verified, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, String> {
    let options = CompileOptions::default().engine(Engine::Reference);
    let session =
        Session::compile(verified.clone(), &options).map_err(|error| error.to_string())?;
    let limit = RunOptions::default().time_limit(TIME_LIMIT);
    let output = session.run(arguments, &limit).map_err(|error| error.to_string())?;
    Ok(output.results)
}
