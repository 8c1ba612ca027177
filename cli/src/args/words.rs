//! The words of the command line: numbers, and names that a shell completes.
use crate::{explanations, file};
use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use conformance::judge::Mode;
use hlo::{ElementType, Opcode};
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

/// The parser of an argument for which there are known names. A shell completes them; others may be right, too.
#[derive(Clone)]
pub(super) struct Known<T> {
    parse: fn(&str) -> Result<T, String>,
    names: fn() -> Vec<PossibleValue>,
}

impl<T> Known<T> {
    pub(super) fn of(
        parse: fn(&str) -> Result<T, String>,
        names: fn() -> Vec<PossibleValue>,
    ) -> Self {
        Self { parse, names }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Known<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, arg, value)
    }
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter()))
    }
}

/// Takes any text.
#[expect(clippy::unnecessary_wraps, reason = "a parser, as the others")]
pub(super) fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Returns the parser of the name of a folder: none is standard output.
pub(super) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match file::is_stdout(&path) {
        true => Err("`-` is standard output, and several files are written: name a folder"),
        false => Ok(path),
    })
}

/// Parses a seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// Parses a number.
pub(super) fn number<T: FromStr + Limit>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", T::MOST))
}

/// Parses a number that is not 0.
pub(super) fn positive(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("expected a whole number from 1 to {}", u32::MAX))
}

/// A type of numbers.
pub(super) trait Limit: Display {
    /// The largest.
    const MOST: Self;
}

impl Limit for u32 {
    const MOST: Self = Self::MAX;
}
impl Limit for u64 {
    const MOST: Self = Self::MAX;
}
impl Limit for usize {
    const MOST: Self = Self::MAX;
}

fn named(names: impl IntoIterator<Item = &'static str>) -> Vec<PossibleValue> {
    names.into_iter().map(PossibleValue::new).collect()
}

/// Returns what `--backend` may begin with, beside paths.
pub(super) fn backends() -> Vec<PossibleValue> {
    named(["reference", "exact", "fast", "planted:", "variant:"])
}

/// Returns the names of the modes of backends.
pub(super) fn modes() -> Vec<PossibleValue> {
    named(Mode::ALL.iter().map(|mode| mode.key()))
}

/// Returns the names of all opcodes.
pub(super) fn opcodes() -> Vec<PossibleValue> {
    named(Opcode::ALL.iter().map(|opcode| opcode.name()))
}

/// Returns the names of all element types.
pub(super) fn types() -> Vec<PossibleValue> {
    named(ElementType::ALL.iter().map(|ty| ty.name()))
}

/// Returns what `etalon explain` explains.
pub(super) fn explained() -> Vec<PossibleValue> {
    let lists = named(["opcodes", "labels", "modes", "numbers"]);
    let numbers = explanations::all_numbers().into_iter();
    let numbers = numbers.map(|(number, first)| PossibleValue::new(number).help(first));
    let labels = named(explanations::all_labels());
    lists.into_iter().chain(opcodes()).chain(modes()).chain(numbers).chain(labels).collect()
}

/// Returns the names of the commands that a page can be printed of.
pub(super) fn commands() -> Vec<PossibleValue> {
    named(COMMANDS)
}

/// The commands that are not hidden.
pub(super) const COMMANDS: [&str; 21] = [
    "run",
    "check",
    "print",
    "convert",
    "test",
    "bench",
    "diff",
    "equal",
    "plan",
    "cost",
    "graph",
    "conform",
    "blame",
    "passes",
    "fuzz",
    "campaign",
    "suite",
    "reduce",
    "explain",
    "completions",
    "man",
];
