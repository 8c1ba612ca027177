//! Explanations of error numbers, labels of rules and opcodes.
mod labels;
mod opcodes;
/// The files that `build.rs` lists: the name and the text of each.
mod pages {
    include!(concat!(env!("OUT_DIR"), "/pages.rs"));
}

pub(crate) use labels::{all as all_labels, explain as of_label};
pub(crate) use opcodes::{explain as of_opcode, of_page};

use crate::error::Code;
use hlo::diag::ErrorCode;

/// The numbers of each crate with their explanations.
const CODES: [&[(&str, &str)]; 7] = [
    hlo::diag::Code::EXPLANATIONS,
    interp::Code::EXPLANATIONS,
    collectives::Code::EXPLANATIONS,
    conformance::backend::Code::EXPLANATIONS,
    builder::Code::EXPLANATIONS,
    stablehlo::Code::EXPLANATIONS,
    Code::EXPLANATIONS,
];

/// Returns all numbers with the first paragraphs of their explanations, in order.
pub(crate) fn all_numbers() -> Vec<(&'static str, String)> {
    let all = CODES.into_iter().flatten();
    let first = |text: &str| {
        let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    };
    let mut all: Vec<(&str, String)> = all.map(|(number, text)| (*number, first(text))).collect();
    all.sort();
    all
}

/// Returns the explanation of an error number.
pub(crate) fn of_number(number: &str) -> Option<String> {
    let (_, text) = CODES.into_iter().flatten().find(|(known, _)| *known == number)?;
    // Doc comments keep the space after their slashes.
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    Some(lines.collect::<Vec<_>>().join("\n") + "\n")
}

/// Returns the shortest error of this number that the tests of the command show.
pub(crate) fn example_of_number(number: &str) -> Option<&'static str> {
    let start = format!("error[{number}]");
    let errors = pages::SHOWN.iter().filter_map(|(_, text)| {
        let error = &text[text.find(&start)?..];
        Some(error.split("\n\n").next().unwrap_or(error).trim_end())
    });
    errors.filter(|error| error.contains(" --> ")).min_by_key(|error| error.len())
}

/// Returns the modules of a file of tests, without the comments before the first one.
fn cases(text: &str) -> impl Iterator<Item = &str> {
    text.split("// -----\n").filter_map(|case| Some(&case[case.find("HloModule")?..]))
}
