//! The second witness: before a backend is said to be wrong, the engine `reference` computes the
//! expected result again, by the functions of the specification.
use super::{JudgeOptions, Judgement, judge_with};
use crate::results::Verdict;
use collectives::Session;
use hlo::{Literal, Verified};
use interp::{CompileOptions, Engine, RunOptions};
use std::time::Duration;

/// The time that the second computation may take. The functions of the specification are slow.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Makes the verdict [`Verdict::EtalonBug`] if `reference` does not confirm the expected result;
/// notes why there is no second result, if there is none.
pub(super) fn examine(
    options: &JudgeOptions,
    verified: &Verified,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
    judgement: &mut Judgement,
) {
    let again = match computed(verified, arguments) {
        Ok(again) => options.of_devices(again),
        Err(reason) => {
            judgement.witness = Some(format!("no second result: {reason}"));
            return;
        }
    };
    let repeated = |given: &[Literal]| match given {
        [all] => vec![all.clone(); again.len()],
        each => each.to_vec(),
    };
    let boundary = options.boundary.clone();
    let options = JudgeOptions { boundary, ..JudgeOptions::strict().without_witness() };
    let second = judge_with(&options, verified, arguments, &repeated(expected), &again);
    if matches!(second.verdict, Verdict::Differs | Verdict::EtalonBug) {
        judgement.verdict = Verdict::EtalonBug;
        judgement.witness = Some(format!("`reference` has another result: {second}"));
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
