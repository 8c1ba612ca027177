//! Explanations of error numbers, labels of rules and opcodes.
mod labels;
mod opcodes;

pub(crate) use labels::{all as all_labels, explain as of_label};
pub(crate) use opcodes::{explain as of_opcode, of_page};

use crate::error::Code;
use hlo::diag::ErrorCode;

/// Entries of several kinds, each after a line `=== KIND NAME`. `cargo xtask status` takes them from the specification and the tests.
static TABLE: &str = include_str!("table.txt");

/// Returns the names and texts of a kind of entry.
fn entries(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.split("\n=== ").skip(1).filter_map(move |entry| {
        let (title, text) = entry.split_once('\n')?;
        let (found, name) = title.split_once(' ')?;
        (found == kind).then_some((name, text.trim_end()))
    })
}

/// Returns the text of an entry.
fn entry(kind: &str, name: &str) -> Option<&'static str> {
    entries(kind).find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// The numbers of each crate with their explanations.
const CODES: [&[(&str, &str)]; 8] = [
    hlo::diag::Code::EXPLANATIONS,
    interp::Code::EXPLANATIONS,
    collectives::Code::EXPLANATIONS,
    conformance::backend::Code::EXPLANATIONS,
    builder::Code::EXPLANATIONS,
    stablehlo::Code::EXPLANATIONS,
    load::Code::EXPLANATIONS,
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
    entry("error", number)
}
