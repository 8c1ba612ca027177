//! `etalon explain`: the meaning of an error number, the label of a rule, or an opcode.
use crate::args::ExplainArgs;
use crate::error::{Code, Failure, Result};
use crate::{explanations, output};
use hlo::Opcode;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitCode> {
    output::data(&text(args.what.as_deref().map(str::trim))?)?;
    Ok(ExitCode::SUCCESS)
}

fn text(what: Option<&str>) -> Result<String> {
    let list = |names: Vec<&str>| names.join("\n") + "\n";
    let what = match what {
        None | Some("numbers" | "codes") => return Ok(numbers()),
        Some("opcodes") => return Ok(list(Opcode::ALL.iter().map(|o| o.name()).collect())),
        Some("labels") => return Ok(list(explanations::all_labels())),
        Some(what) => what,
    };
    let number = number(what);
    if let Some(text) = explanations::of_number(&number) {
        let example = explanations::example_of_number(&number);
        let example = example.map(|example| format!("\nFor example:\n\n{example}\n"));
        return Ok(format!("{number}\n\n{text}{}", example.unwrap_or_default()));
    }
    // Names of other systems use underscores, and labels are written in parentheses.
    let plain = what.trim_matches(|c| "()`".contains(c)).to_lowercase();
    if let Some(opcode) = Opcode::from_name(&plain) {
        return Ok(explanations::of_opcode(opcode, &plain));
    }
    let label = explanations::of_label(&plain);
    let opcode = || Opcode::from_name(&plain.replace('_', "-"));
    label
        .or_else(|| opcode().map(|opcode| explanations::of_opcode(opcode, opcode.name())))
        .or_else(|| explanations::of_page(&plain))
        .ok_or_else(|| unknown(what, &plain))
}

/// Returns the number that is meant by `E0302`, `e302` or `302`.
fn number(what: &str) -> String {
    let upper = what.to_uppercase();
    let digits = upper.strip_prefix('E').unwrap_or(&upper);
    match digits.parse::<u32>() {
        Ok(number) => format!("E{number:04}"),
        Err(_) => upper,
    }
}

/// Lists the numbers.
fn numbers() -> String {
    let mut text = String::new();
    for (number, first) in explanations::all_numbers() {
        let _ = writeln!(text, "{number}  {first}");
    }
    text.push_str("\n`etalon explain NUMBER` explains one; `etalon explain opcodes` and `etalon explain labels` list what else can be explained.\n");
    text
}

fn unknown(what: &str, plain: &str) -> Failure {
    let labels = explanations::all_labels();
    let names = Opcode::ALL.iter().map(|o| o.name()).chain(labels);
    let help = match hlo::diag::nearest(&plain.replace('_', "-"), names.clone())
        .or_else(|| hlo::diag::nearest(plain, names))
    {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`etalon explain` lists the error numbers, `etalon explain opcodes` the opcodes, `etalon explain labels` the labels of rules".to_owned(),
    };
    Failure::new(&Code::Unknown { what: what.to_owned() }, Some(help))
}
