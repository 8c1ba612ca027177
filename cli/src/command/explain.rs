//! `etalon explain`: the meaning of an error number or an opcode.
use crate::args::ExplainArgs;
use crate::error::{Code, Failure, Result};
use crate::output;
use hlo::Opcode;
use hlo::diag::explain as explain_number;
use hlo::op::{Accuracy, Arity, ShapeText};
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitCode> {
    let what = args.what.trim();
    let number = what.to_uppercase();
    let codes = [
        explain_number::<hlo::diag::Code>,
        explain_number::<interp::Code>,
        explain_number::<collectives::Code>,
        explain_number::<conformance::backend::Code>,
        explain_number::<builder::Code>,
        explain_number::<Code>,
    ];
    let code = codes.iter().find_map(|explain| explain(&number));
    let text = match (code, Opcode::from_name(what)) {
        (Some(text), _) => format!("{number}\n\n{}", unindented(text)),
        (None, Some(opcode)) => describe(opcode, what),
        (None, None) => return Err(unknown(what)),
    };
    output::data(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(what: &str) -> Failure {
    let near = hlo::diag::nearest(what, Opcode::ALL.iter().map(|o| o.name()));
    let help = match near {
        Some(name) => format!("did you mean `{name}`?"),
        None => "use an error number such as E0301 or an opcode such as reduce-window".to_owned(),
    };
    Failure::new(&Code::Unknown { what: what.to_owned() }, Some(help))
}

/// Removes the space that doc comments keep after their slashes.
fn unindented(text: &str) -> String {
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn describe(opcode: Opcode, asked: &str) -> String {
    let mut text = opcode.name().to_owned();
    if asked != opcode.name() {
        let _ = write!(text, " (`{asked}` in older texts)");
    }
    text.push_str("\n\n");
    let operands = match opcode.arity() {
        Arity::Fixed(n) => n.to_string(),
        Arity::Any => "any number".to_owned(),
    };
    let _ = writeln!(text, "operands:     {operands}");
    if let Some(types) = opcode.types() {
        let _ = writeln!(text, "types:        {types}");
    }
    let shape = match opcode.shape_text() {
        ShapeText::Stated => "required",
        ShapeText::Inferred => "optional: inferred if omitted",
        ShapeText::Forced => "computed from the operands; the text is ignored",
    };
    let _ = writeln!(text, "result shape: {shape}");
    if !opcode.attributes().is_empty() {
        let _ = writeln!(text, "attributes:   {}", opcode.attributes().join(", "));
    }
    let accuracy = match opcode.accuracy() {
        Accuracy::Exact => "exact".to_owned(),
        Accuracy::Ulp(n) => format!("other backends may differ by {n} units in the last place"),
        Accuracy::Order => "other backends may add in a different order".to_owned(),
        Accuracy::Random => "only the distribution is specified".to_owned(),
    };
    let _ = writeln!(text, "accuracy:     {accuracy}");
    text
}
