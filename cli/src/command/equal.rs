//! `etalon equal`: whether two modules are the same function, in exact arithmetic.
use super::{fill_elided, load, verified};
use crate::args::EqualArgs;
use crate::error::{Exit, Failure, Result};
use crate::limits::{self, Limits};
use crate::output;
use field::{Answer, Difference, Evidence, Failure as Incomparable, Options, equal as compare};
use hlo::Verified;
use load::Loaded;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Compares two modules. The exit code is 1 if they are different, 3 if that is open.
pub(crate) fn equal(args: &EqualArgs) -> Result<ExitCode> {
    let options = args.limits.options();
    let options = args.time_limit.into_iter().fold(options, interp::RunOptions::time_limit);
    let limits = Limits::start(options);
    let first = module(&args.first, args, &limits)?;
    let second = module(&args.second, args, &limits)?;
    let options = Options { seed: args.seed, seeds: args.seeds, limits: limits.options() };
    let answer = conformance::on_large_stack(|| compare(&first, &second, &options));
    let answer = answer.map_err(|failure| match &failure {
        Incomparable::Run { error, .. } if is_unsupported(error) => {
            Failure { exit: Exit::Unsupported, ..limits::failure(error) }
        }
        Incomparable::Run { error, .. } => limits::failure(error),
        Incomparable::Signature { .. } => {
            Failure { exit: Exit::Wrong, ..Failure::file(&args.second, &failure) }
        }
    })?;
    let paths = [&*args.first, &*args.second];
    output::data(&if args.json { to_json(&answer, paths) } else { report(&answer, paths) })?;
    Ok(match answer {
        Answer::Equal(_) => ExitCode::SUCCESS,
        Answer::Different(_) => Exit::Wrong.code(),
        Answer::Open { .. } => Exit::Unsupported.code(),
    })
}

fn is_unsupported(error: &interp::Error) -> bool {
    matches!(error.code(), interp::Code::Unsupported { .. })
}

fn module(path: &Path, args: &EqualArgs, limits: &Limits) -> Result<Verified> {
    let Loaded { file, mut module, .. } = load(path, &args.load)?;
    fill_elided(&mut module, &file.name, args.elided, limits)?;
    verified(module, file.source(), limits)
}

fn report(answer: &Answer, paths: [&Path; 2]) -> String {
    match answer {
        Answer::Equal(evidence) => equal_text(evidence),
        Answer::Different(Difference { seed, output, element, is_shallow }) => {
            let mut text = format!("different: out{output}, element {element}, with seed {seed}\n");
            if *is_shallow {
                text.push_str(NESTED);
            }
            text
        }
        Answer::Open { module, open } => {
            let place = if open.instruction.is_empty() { "" } else { ": " };
            let (path, instruction) = (paths[*module].display(), &open.instruction);
            format!("open: {path}: {instruction}{place}{}\n", open.reason)
        }
    }
}

const NESTED: &str = "  exponentials are nested deeper than their laws are known: exp(x) exp(y) = exp(x + y) may be missed\n";

fn equal_text(evidence: &Evidence) -> String {
    let Evidence { seeds, elements, degree, comparisons, is_shallow } = evidence;
    let mut text = String::from("equal for every float argument, in exact arithmetic\n");
    let chance = evidence.probability();
    let _ = writeln!(
        text,
        "  {elements} elements of degree {degree:.0}, {seeds} draws: wrong by chance {chance:.0e}, if functions are independent variables"
    );
    if comparisons.all > 0 {
        let (both, all) = (comparisons.both, comparisons.all);
        let _ = writeln!(text, "  {both} of {all} comparisons of floats were true and false");
    }
    if *is_shallow {
        text.push_str(NESTED);
    }
    text.push_str("  not covered: rounding, overflow, denormals, NaN, the sign of zero; integers other than those drawn\n");
    text
}

fn to_json(answer: &Answer, paths: [&Path; 2]) -> String {
    let value = match answer {
        Answer::Equal(evidence) => json!({
            "answer": "equal",
            "draws": evidence.seeds,
            "elements": evidence.elements,
            "degree": evidence.degree,
            "probability": evidence.probability(),
            "comparisons": { "both": evidence.comparisons.both, "all": evidence.comparisons.all },
            "nested_exponentials": evidence.is_shallow,
        }),
        Answer::Different(found) => json!({
            "answer": "different",
            "seed": found.seed,
            "output": found.output,
            "element": found.element,
            "nested_exponentials": found.is_shallow,
        }),
        Answer::Open { module, open } => json!({
            "answer": "open",
            "module": paths[*module].display().to_string(),
            "instruction": open.instruction,
            "reason": open.reason,
        }),
    };
    format!("{value}\n")
}
