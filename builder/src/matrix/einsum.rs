//! The notation of `einsum`: `"...ij,jk->...ik"`.
use crate::{Error, Result};
use hlo::diag::quantity;
use std::collections::BTreeMap;

/// A label of a dimension: a letter, or the place of a dimension that `...` stands for, counted
/// from the last, which is -1.
///
/// Dimensions under an ellipsis are lined up at the right, as in numpy.
pub type Label = i64;

/// The labels of each operand's dimensions and of the result's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EinsumDims {
    /// The labels of each operand.
    pub operands: Vec<Vec<Label>>,
    /// The labels of the result.
    pub output: Vec<Label>,
}

fn refused(config: &str, message: &str, help: &str) -> Error {
    Error::argument(format!("{message}, in the einsum `{config}`")).with_help(help)
}
/// Returns a label as the user wrote it.
pub(super) fn shown(label: Label) -> String {
    let letter = u32::try_from(label).ok().and_then(char::from_u32);
    letter.map_or_else(|| format!("the {}. dimension from the end of `...`", -label), String::from)
}

/// Returns the configuration with an explicit result: XLA's `NormalizeEinsumString`.
///
/// Without `->` the result has `...`, if there is one, and the letters that occur once, in
/// alphabetical order. Spaces are left out.
///
/// ```
/// assert_eq!(builder::matrix::normalize_einsum("...b a, bc"), "...ba,bc->...ac");
/// ```
pub fn normalize_einsum(config: &str) -> String {
    let bare: String = config.chars().filter(|c| !c.is_whitespace()).collect();
    if bare.contains("->") {
        return bare;
    }
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for letter in bare.chars().filter(char::is_ascii_alphabetic) {
        *counts.entry(letter).or_default() += 1;
    }
    let ellipsis = if bare.contains("...") { "..." } else { "" };
    let once: String = counts.iter().filter(|(_, n)| **n == 1).map(|(letter, _)| *letter).collect();
    format!("{bare}->{ellipsis}{once}")
}

/// Returns the dimensions of an einsum on operands of these ranks: XLA's `ParseEinsumString`.
///
/// ```
/// let dims = builder::matrix::parse_einsum("...ij,jk->...ik", &[4, 2])?;
/// let (i, j, k) = (i64::from(b'i'), i64::from(b'j'), i64::from(b'k'));
/// assert_eq!(dims.operands, [vec![-2, -1, i, j], vec![j, k]]);
/// assert_eq!(dims.output, [-2, -1, i, k]);
/// # Ok::<(), builder::Error>(())
/// ```
///
/// # Errors
/// `E0801` if it is no einsum, or not one of operands of these ranks; if the result has a label
/// that no operand has.
pub fn parse_einsum(config: &str, ranks: &[usize]) -> Result<EinsumDims> {
    let normal = normalize_einsum(config);
    let (inputs, output) = normal.split_once("->").unwrap_or((&normal, ""));
    if output.contains("->") {
        let help = "write the result once: `ij,jk->ik`";
        return Err(refused(config, "there is more than one `->`", help));
    }
    if output.contains(',') {
        let help = "operands stand before `->`, separated by commas; the result is one";
        return Err(refused(config, "the result has a comma", help));
    }
    let parts: Vec<&str> = inputs.split(',').collect();
    if parts.len() != ranks.len() {
        let message =
            format!("{} in the text, found {}", quantity(parts.len(), "operand"), ranks.len());
        return Err(refused(config, &message, "separate operands by commas: `ij,jk->ik`"));
    }
    let mut operands = Vec::new();
    let mut widest = None;
    for ((part, &rank), number) in parts.iter().zip(ranks).zip(0usize..) {
        let (labels, hidden) = operand(config, part, rank, number)?;
        operands.push(labels);
        widest = widest.max(hidden);
    }
    let output = result(config, output, widest, &operands)?;
    Ok(EinsumDims { operands, output })
}

/// Letters before and after the ellipsis, if there is one.
type Letters<'a> = (&'a str, Option<&'a str>);

fn letters<'a>(config: &str, part: &'a str) -> Result<Letters<'a>> {
    let (before, after) = match part.split_once("...") {
        Some((before, after)) => (before, Some(after)),
        None => (part, None),
    };
    let rest = after.unwrap_or_default();
    if rest.contains("...") {
        return Err(refused(
            config,
            "an operand has more than one `...`",
            "one stands for all of them",
        ));
    }
    for letter in before.chars().chain(rest.chars()) {
        let help = match letter {
            _ if letter.is_ascii_alphabetic() => continue,
            '.' => "an ellipsis has three dots: `...ij`",
            '-' | '>' | '=' => "the result stands after `->`",
            ';' | '|' | '/' | ' ' => "separate operands by commas",
            _ => "dimensions are named by the letters a to z and A to Z",
        };
        return Err(refused(config, &format!("`{letter}` names no dimension"), help));
    }
    Ok((before, after))
}
fn label(letter: char) -> Label {
    i64::from(u32::from(letter))
}

/// Returns the labels of an operand, and how many dimensions `...` stands for.
fn operand(
    config: &str,
    part: &str,
    rank: usize,
    number: usize,
) -> Result<(Vec<Label>, Option<i64>)> {
    let (before, after) = letters(config, part)?;
    let named = before.len() + after.map_or(0, str::len);
    let hidden = rank.checked_sub(named).filter(|&hidden| hidden == 0 || after.is_some());
    let Some(hidden) = hidden else {
        let message =
            format!("`{part}` names {}, operand {number} has {rank}", quantity(named, "dimension"));
        let help = if named < rank && after.is_none() {
            "name every dimension, or write `...` for those that are left alone"
        } else {
            "a letter stands for one dimension"
        };
        return Err(refused(config, &message, help));
    };
    let hidden = crate::arguments::size(hidden);
    let labels = before.chars().map(label);
    let labels = labels.chain(-hidden..0).chain(after.unwrap_or_default().chars().map(label));
    Ok((labels.collect(), after.map(|_| hidden)))
}

/// Returns the labels of the result.
fn result(
    config: &str,
    part: &str,
    widest: Option<i64>,
    operands: &[Vec<Label>],
) -> Result<Vec<Label>> {
    let (before, after) = letters(config, part)?;
    if after.is_some() && widest.is_none() {
        let help = "write it in an operand too";
        return Err(refused(config, "only the result has `...`", help));
    }
    let hidden = if after.is_some() { widest.unwrap_or(0) } else { 0 };
    let labels = before.chars().map(label);
    let labels = labels.chain(-hidden..0).chain(after.unwrap_or_default().chars().map(label));
    let labels: Vec<Label> = labels.collect();
    let unknown = labels.iter().find(|label| !operands.iter().flatten().any(|l| l == *label));
    match unknown {
        None => Ok(labels),
        Some(&unknown) => {
            let message = format!("the result has `{}`, which no operand has", shown(unknown));
            Err(refused(config, &message, "each label of the result occurs in an operand"))
        }
    }
}
