//! `etalon explain`: the meaning of an error number, the label of a rule, or an opcode.
use crate::args::ExplainArgs;
use crate::error::{Code, Failure, Result};
use crate::{explanations, output};
use conformance::judge::Mode;
use hlo::Opcode;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitCode> {
    output::data(&text(args.what.as_deref().map(str::trim))?)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn text(what: Option<&str>) -> Result<String> {
    let list = |names: Vec<&str>| names.join("\n") + "\n";
    let what = match what {
        None | Some("numbers" | "codes") => return Ok(numbers()),
        Some("opcodes") => return Ok(list(Opcode::ALL.iter().map(|o| o.name()).collect())),
        Some("modes") => return Ok(modes()),
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
    if let Some(mode) = Mode::ALL.iter().find(|mode| mode.key() == plain) {
        return Ok(format!("{}: {}\n\n{}\n", mode.key(), mode.name(), mode.doc()));
    }
    let label = explanations::of_label(&plain);
    let opcode = || Opcode::from_name(&plain.replace('_', "-"));
    let alias = || explanations::of_alias(what.trim_matches(|c| "()`".contains(c)));
    label
        .or_else(|| opcode().map(|opcode| explanations::of_opcode(opcode, opcode.name())))
        .or_else(|| alias().map(|opcode| explanations::of_opcode(opcode, what)))
        .or_else(|| explanations::of_page(&plain))
        .ok_or_else(|| unknown(what, &plain))
}

/// Lists the modes in which backends may differ, the most common first.
fn modes() -> String {
    let line = |mode: &Mode| format!("{:24} {}\n", mode.key(), mode.name());
    let mut text: String = Mode::ALL.iter().rev().map(line).collect();
    text.push_str("\n`etalon explain MODE` explains one; `--allow MODE` accepts it, where only some are accepted.\n");
    text
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
    text.push_str("\n`etalon explain NUMBER` explains one; `etalon explain opcodes`, `etalon explain labels` and `etalon explain modes` list what else can be explained.\n");
    text
}

/// Names the numbers before and behind one that does not exist.
fn near_numbers(number: &str) -> String {
    let key = |number: &str| (number.len(), number.to_owned());
    let all = || explanations::all_numbers().into_iter().map(|(number, _)| number);
    let before = all().filter(|one| key(one) < key(number)).max_by_key(|one| key(one));
    let behind = all().filter(|one| key(one) > key(number)).min_by_key(|one| key(one));
    let near: Vec<&str> = before.into_iter().chain(behind).collect();
    let (noun, is) = if near.len() == 1 { ("number", "is") } else { ("numbers", "are") };
    format!("the nearest {noun} {is} {}; `etalon explain` lists all", near.join(" and "))
}

fn unknown(what: &str, plain: &str) -> Failure {
    let labels = explanations::all_labels();
    let modes = Mode::ALL.iter().map(|mode| mode.key());
    let names = Opcode::ALL.iter().map(|o| o.name()).chain(labels).chain(modes);
    let dashed = plain.replace('_', "-");
    let begins = |name: &&str| dashed.len() > 2 && name.starts_with(&dashed);
    let longer = Opcode::ALL.iter().map(|o| o.name()).find(begins);
    let near = || hlo::diag::nearest(&dashed, names.clone());
    let help = match longer.or_else(near).or_else(|| hlo::diag::nearest(plain, names.clone())) {
        Some(name) => format!("did you mean `{name}`?"),
        None if number(plain).strip_prefix('E').is_some_and(|digits| digits.parse::<u32>().is_ok()) => {
            near_numbers(&number(plain))
        }
        None => "`etalon explain` lists the error numbers, `etalon explain opcodes` the opcodes, `etalon explain labels` the labels of rules".to_owned(),
    };
    Failure::new(&Code::Unknown { what: what.to_owned() }, Some(help))
}
