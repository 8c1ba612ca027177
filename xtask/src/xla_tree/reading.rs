//! Reading of each text, in this process: parsed, verified, printed.
use super::Reference;
use super::extract::Text;
use hlo::diag::Code;
use hlo::text::Style;
use hlo::{Error, Module};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It passes every check.
    Read { is_fixed_point: bool, is_alike: Option<bool> },
    /// The parser or the verifier refuses it: the class of the first error, and the error.
    Refused { by_syntax: bool, class: String, message: String },
    /// A bug.
    Panicked,
}

pub(super) fn read(text: &Text, reference: Option<&Reference>) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| read_one(&text.text, reference))).unwrap_or(Outcome::Panicked)
}

fn read_one(text: &str, reference: Option<&Reference>) -> Outcome {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(errors) => return refused(&errors.0[0], true),
    };
    // The parser's result is printed also if the verifier refuses it, as XLA's parser and printer do.
    let printed = module.print(Style::Default);
    let is_alike = reference.and_then(|known| known.printed.as_ref()).map(|p| *p == printed);
    let full = module.print(Style::Full);
    let is_fixed_point = Module::parse(&full).is_ok_and(|again| again.print(Style::Full) == full);
    match module.verify() {
        Ok(_) => Outcome::Read { is_fixed_point, is_alike },
        Err(errors) => refused(&errors.0[0], false),
    }
}

fn refused(error: &Error, by_syntax: bool) -> Outcome {
    let rule = match error.code() {
        Code::Rule { rule, .. } | Code::Callee { rule, .. } => rule,
        _ => "",
    };
    let class = format!("{} {rule}", error.number()).trim_end().to_owned();
    Outcome::Refused { by_syntax, class, message: error.diagnostic().message }
}
