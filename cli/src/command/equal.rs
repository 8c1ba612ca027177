//! `etalon equal`: whether two modules are the same function, in exact arithmetic.
use super::{fill_elided, load, verified};
use crate::args::{EqualArgs, LoadArgs};
use crate::error::{Exit, Failure, Result};
use crate::limits::Limits;
use crate::output;
use field::{
    Answer, Difference, Evidence, Failure as Incomparable, OpenKind, Options, equal as compare,
};
use hlo::Verified;
use hlo::diag::SourceFile;
use hlo::diag::quantity;
use load::Loaded;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// The number of the error of a text that has fewer modules.
const NO_SUCH_MODULE: &str = "E0614";

/// Compares two modules. The exit code is 1 if they are different, 3 if that is open.
pub(crate) fn equal(args: &EqualArgs) -> Result<ExitCode> {
    let options = args.limits.options();
    let options = args.time_limit.into_iter().fold(options, interp::RunOptions::time_limit);
    let limits = Limits::start(options);
    // Without a second file, the numbers of two modules of one file.
    let numbers = match &args.second {
        Some(_) => [args.load.module; 2],
        None => [Some(1), args.load.module.or(Some(2))],
    };
    let second_path = args.second.as_deref().unwrap_or(&args.first);
    let (first, first_file) = module(&args.first, numbers[0], args, &limits)?;
    let second = module(second_path, numbers[1], args, &limits);
    let (second, second_file) = second.map_err(|failure| {
        let is_missing = failure.diagnostics.iter().any(|one| one.code == NO_SUCH_MODULE);
        match args.second.is_none() && args.load.module.is_none() && is_missing {
            true => failure.with_help("name a second file, or a file with two modules"),
            false => failure,
        }
    })?;
    let limits = limits.options();
    let time = Some(args.draw_time);
    let options = Options {
        seed: args.seed,
        seeds: args.seeds,
        limits,
        time,
        is_whole: args.whole,
        ..Options::default()
    };
    let answer = conformance::on_large_stack(|| compare(&first, &second, &options));
    let answer = answer.map_err(|failure| match &failure {
        Incomparable::Run { module, error } => {
            let file = [&first_file, &second_file][*module];
            // Nothing is known of the modules.
            let exit = Exit::Unsupported;
            Failure { exit, ..Failure::module(vec![error.diagnostic()], file.source()) }
        }
        Incomparable::Partition(error) => {
            let exit = Exit::Misuse;
            Failure { exit, ..Failure::module(vec![error.diagnostic()], second_file.source()) }
        }
        Incomparable::Signature { .. } => {
            Failure { exit: Exit::Wrong, ..Failure::file(second_path, &failure) }
        }
    })?;
    let paths = [&*args.first, second_path];
    output::data(&if args.json { to_json(&answer, paths) } else { report(&answer, paths) })?;
    Ok(match answer {
        Answer::Equal(_) => ExitCode::SUCCESS,
        Answer::Different(_) => Exit::Wrong.code(),
        Answer::Open(_) => Exit::Unsupported.code(),
    })
}

fn module(
    path: &Path,
    number: Option<u32>,
    args: &EqualArgs,
    limits: &Limits,
) -> Result<(Verified, SourceFile)> {
    let options = LoadArgs { module: number, ..args.load.clone() };
    let Loaded { file, mut module, .. } = load(path, &options)?;
    fill_elided(&mut module, &file.name, args.elided, limits)?;
    Ok((verified(module, file.source(), limits)?, file))
}

fn report(answer: &Answer, paths: [&Path; 2]) -> String {
    match answer {
        Answer::Equal(evidence) => equal_text(evidence),
        Answer::Different(Difference {
            seed, output, element, values: [first, second], ..
        }) => {
            format!(
                "different: out{output}, element {element}, with seed {seed}: {first:.9e} and {second:.9e} for the real arguments of this draw\n"
            )
        }
        Answer::Open(open) => {
            let path = open.module.map(|module| format!("{}: ", paths[module].display()));
            let separator = if open.instruction.is_empty() { "" } else { ": " };
            let (path, instruction) = (path.unwrap_or_default(), &open.instruction);
            let help = if open.kind == OpenKind::Elided { ELIDED } else { "" };
            format!("open: {path}{instruction}{separator}{}\n{help}", open.reason)
        }
    }
}

const ELIDED: &str = "  = help: dump the module with large constants printed, or give `--elided SEED` for random values\n";

fn equal_text(evidence: &Evidence) -> String {
    let Evidence { elements, degree, comparisons, branches, undefined, .. } = evidence;
    let draws = evidence.compared();
    let mut text = String::from(match evidence.has_floats {
        true => "equal for every float argument, in exact arithmetic\n",
        false => "equal for the arguments that were drawn, of which none is a float\n",
    });
    let chance = evidence.probability();
    let _ = match elements {
        0 => writeln!(text, "  both modules compute all results by the same instructions"),
        _ => writeln!(
            text,
            "  {} of degree {degree:.0}, {}: wrong by chance {chance:.0e}, if functions are independent variables",
            quantity(elements, "element"),
            quantity(draws, "draw")
        ),
    };
    if evidence.shared > 0 && *elements > 0 {
        let _ = writeln!(
            text,
            "  {} values that both modules compute alike are arguments here; `--whole` compares these, too",
            evidence.shared
        );
    }
    if comparisons.all > 0 {
        let (both, all) = (comparisons.met, comparisons.all);
        let _ = writeln!(
            text,
            "  {both} of {all} comparisons of floats were true and false; what they decide is tested by the draws, not proved"
        );
    }
    if evidence.ties.all > 0 {
        let (met, all) = (evidence.ties.met, evidence.ties.all);
        let _ = writeln!(text, "  {met} of {all} comparisons of floats were also of equal ones");
    }
    if evidence.limits.all > 0 {
        let (met, all) = (evidence.limits.met, evidence.limits.all);
        let _ = writeln!(
            text,
            "  {met} of {all} comparisons of integers and limits of indices were met below, at and above"
        );
    }
    if branches.met < branches.all {
        let (met, all) = (branches.met, branches.all);
        let _ = writeln!(
            text,
            "  {met} of {all} branches of conditionals were taken; nothing is said of the others"
        );
    }
    if *undefined > 0 {
        let _ = writeln!(
            text,
            "  {undefined} elements are infinite or NaN in one module only, and are not compared: division by zero, roots of negative numbers, overflow"
        );
    }
    if let Some(time) = evidence.cut {
        let (seconds, seeds) = (time.as_secs_f64(), evidence.seeds);
        let _ = writeln!(
            text,
            "  {seconds} seconds were over after {}: `--draw-time` gives more to draws and to arguments that are sought",
            quantity(seeds, "draw")
        );
    }
    if evidence.endless > 0 {
        let _ =
            writeln!(text, "  {} draws are not compared: a loop does not end", evidence.endless);
    }
    if evidence.missed > 0 {
        let _ = writeln!(text, "  {} elements are compared in no draw", evidence.missed);
    }
    if evidence.unstable > 0 {
        let _ = writeln!(
            text,
            "  {} draws are not compared: results depend on the last digits of arguments",
            evidence.unstable
        );
    }
    text.push_str("  not covered: rounding, overflow, denormals, NaN, the sign of zero; integers other than those drawn\n");
    text
}

/// Returns a number of JSON; of what is none, such as NaN, a string.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { json!(x.to_string()) }
}

fn to_json(answer: &Answer, paths: [&Path; 2]) -> String {
    let value = match answer {
        Answer::Equal(evidence) => json!({
            "answer": "equal",
            "draws": evidence.compared(),
            "shared": evidence.shared,
            "elements": evidence.elements,
            "degree": evidence.degree,
            "probability": evidence.probability(),
            "comparisons": { "both": evidence.comparisons.met, "all": evidence.comparisons.all },
            "ties": { "met": evidence.ties.met, "all": evidence.ties.all },
            "limits": { "met": evidence.limits.met, "all": evidence.limits.all },
            "branches": { "taken": evidence.branches.met, "all": evidence.branches.all },
            "undefined": evidence.undefined,
            "missed": evidence.missed,
            "endless": evidence.endless,
            "unstable": evidence.unstable,
            "nested_exponentials": evidence.is_shallow,
            "time_over": evidence.cut.is_some(),
        }),
        Answer::Different(found) => json!({
            "answer": "different",
            "seed": found.seed,
            "output": found.output,
            "element": found.element,
            "values": found.values.map(number),
        }),
        Answer::Open(open) => json!({
            "answer": "open",
            "module": open.module.map(|module| paths[module].display().to_string()),
            "instruction": open.instruction,
            "reason": open.reason,
        }),
    };
    format!("{value}\n")
}
