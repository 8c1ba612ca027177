//! The labels of rules: `dot_general_c10`. The example of each is a test of rejected modules.
use super::entries;
use hlo::diag::{Source, render};
use hlo::{Error, Module, Opcode};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A module that breaks a rule.
pub(super) struct Broken {
    text: &'static str,
    /// The opcode at which the rule is broken.
    pub(super) opcode: Option<Opcode>,
}

/// Returns a module for each label.
pub(super) fn examples() -> BTreeMap<&'static str, Broken> {
    let broken = |text: &'static str| {
        let line = text.lines().find(|line| line.contains("// error "));
        Broken { text, opcode: line.and_then(opcode) }
    };
    entries("rule").map(|(label, text)| (label, broken(text))).collect()
}

/// Returns the first opcode of a line: the word before a parenthesis.
fn opcode(line: &str) -> Option<Opcode> {
    let mut words = line.split('(').map(|part| part.rsplit(' ').next().unwrap_or_default());
    words.find_map(Opcode::from_name)
}

/// Returns all labels, in order.
pub(crate) fn all() -> Vec<&'static str> {
    examples().into_keys().collect()
}

/// Returns the errors of a module.
fn errors(text: &str) -> Vec<Error> {
    let verified = Module::parse(text).and_then(|module| Ok(module.verify()?));
    verified.err().map_or_else(Vec::new, |errors| errors.0)
}

/// Returns the message of the error in a module that breaks a rule, without the label.
pub(super) fn message(broken: &Broken) -> String {
    let message = errors(broken.text).first().map_or_else(String::new, |e| e.code().to_string());
    message.rsplit_once(" (").map_or(message.clone(), |(text, _)| text.to_owned())
}

/// Explains the label of a rule: what it is about, a module that breaks it, and the error.
pub(crate) fn explain(label: &str) -> Option<String> {
    let mut examples = examples();
    let broken = examples.remove(label);
    let constraint = constraint(label);
    if broken.is_none() && constraint.is_none() {
        return None;
    }
    let mut text = format!("{label}\n\n");
    if let Some(opcode) = broken.as_ref().and_then(|broken| broken.opcode) {
        let _ = writeln!(text, "A rule of `{opcode}`; `etalon explain {opcode}` has the others.");
    }
    if let Some((op, number)) = constraint {
        let _ = writeln!(
            text,
            "It is the constraint C{number} of `{op}` in the StableHLO specification:\nhttps://openxla.org/stablehlo/spec#{op}"
        );
    }
    match broken {
        Some(Broken { text: module, .. }) => {
            let module = module.trim_end();
            let _ = writeln!(text, "\nThis module breaks it:\n\n{module}\n");
            for error in errors(module) {
                let source = Source { name: "example.hlo", text: module };
                text.push_str(render(&error.diagnostic(), Some(source), false).trim_end());
                text.push('\n');
            }
        }
        None => text.push_str("\nNo HLO text breaks it; a module that a program builds may.\n"),
    }
    Some(text)
}

/// Splits `dot_general_c10` into the op of `StableHLO` and the number of its constraint.
fn constraint(label: &str) -> Option<(&str, u32)> {
    let (op, number) = label.rsplit_once("_c")?;
    let is_known = Opcode::from_name(&op.replace('_', "-")).is_some()
        || examples().keys().any(|known| known.starts_with(&format!("{op}_c")));
    Some((op, number.parse().ok().filter(|_| is_known)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_shows_its_error() {
        let labels = all();
        assert!(labels.len() > 200, "{}", labels.len());
        for label in labels {
            let text = explain(label).unwrap();
            assert!(text.contains(&format!("({label})")), "{text}");
        }
        assert!(explain("pad_c3").unwrap().contains("No HLO text"));
        assert_eq!(explain("nonsense_c1"), None);
    }
}
