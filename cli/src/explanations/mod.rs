//! Explanations of error numbers, labels of rules and opcodes.
mod aliases;
mod labels;
mod opcodes;

pub(crate) use aliases::opcode_of as of_alias;
pub(crate) use labels::{all as all_labels, explain as of_label};
pub(crate) use opcodes::{explain as of_opcode, of_page};

/// Entries of several kinds, each after a line `=== KIND NAME`. `cargo xtask status` takes them
/// from the sources and the tests.
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

/// Returns all numbers with the first paragraphs of their explanations, in order.
pub(crate) fn all_numbers() -> Vec<(&'static str, String)> {
    let first = |text: &str| {
        let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    };
    entries("number").map(|(number, text)| (number, first(text))).collect()
}

/// Returns the explanation of an error number.
pub(crate) fn of_number(number: &str) -> Option<String> {
    entry("number", number).map(|text| format!("{text}\n"))
}

/// Returns the shortest error of this number that the tests of the command show.
pub(crate) fn example_of_number(number: &str) -> Option<&'static str> {
    entry("error", number)
}
