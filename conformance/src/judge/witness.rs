//! The second witness: before a backend is said to be wrong, the engine `reference` computes the
//! expected result again, by the functions of the specification.
use super::verdict::same;
use super::{JudgeOptions, Judgement, judge_with};
use crate::Tolerance;
use crate::backend::{Backend as _, LimitedEngine, VariantBackend};
use crate::compare::compare_at;
use crate::results::Verdict;
use collectives::Session;
use hlo::{Literal, Verified};
use interp::{CompileOptions, DeviceGrid, Engine, RunOptions};
use std::sync::Arc;
use std::time::Duration;

/// The time that the second computation may take. The functions of the specification are slow.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The number of legal variants that an estimate is tried with, and the seed of the first.
const VARIANTS: u64 = 6;
const FIRST_VARIANT: u64 = 0x5eed;

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

/// Makes the verdict [`Verdict::Undefined`] unless legal variants of the module have the expected
/// bits in an array that the tolerance says is wrong: an estimate does not say how much rounding
/// errors grow.
pub(super) fn try_variants(
    verified: &Verified,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
    actual: &[Literal],
    judgement: &mut Judgement,
) {
    let module = Arc::new(verified.clone());
    let tolerance = Tolerance::of(module.module());
    let mut suspects = Vec::new();
    for (device, actual) in actual.iter().enumerate() {
        let expected = expected[device.min(expected.len() - 1)].leaves();
        for (leaf, (actual, expected)) in actual.leaves().into_iter().zip(expected).enumerate() {
            let all = 0..expected.len();
            if compare_at(actual, expected, (leaf, tolerance.leaf(leaf)), all).wrong > 0 {
                suspects.push((device, leaf, expected));
            }
        }
    }
    for seed in 0..VARIANTS {
        let limits = LimitedEngine {
            engine: Engine::Exact,
            fuel: u64::MAX,
            max_memory: usize::MAX,
            time_limit: Some(TIME_LIMIT),
        };
        let mut backend = VariantBackend::new(FIRST_VARIANT + seed, Box::new(limits));
        let loaded = backend.compile(&module, DeviceGrid::of(&module.module().config));
        let Ok(results) = loaded.and_then(|mut loaded| loaded.execute(arguments)) else { break };
        suspects.retain(|&(device, leaf, expected)| {
            let own =
                results.get(device.min(results.len() - 1)).map(|result| result.leaves()[leaf]);
            own.is_none_or(|own| (0..own.len()).all(|i| same(own.get(i), expected.get(i))))
        });
    }
    if suspects.is_empty() {
        judgement.verdict = Verdict::Undefined;
        judgement.undetermined += std::mem::take(&mut judgement.measures.wrong);
        let reason = judgement.estimated.take().unwrap_or_default();
        judgement.estimated = Some(format!("{reason}; legal variants of the module differ, too"));
    }
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
