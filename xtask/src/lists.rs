//! Lists of ops and element types with a default, which the compiler cannot check for a new op or type.
//!
//! Reported are `matches!` with two or more alternatives, and `match` with an arm for all others. A property of an op
//! belongs in the op table; otherwise every op must be named.
use crate::source::{block, is_word};

/// The enums of which each variant must be named.
const ENUMS: [&str; 5] = ["Op::", "Opcode::", "Unary::", "Binary::", "ElementType::"];

/// Returns the lines of such lists in the result of [`code`](crate::source::code).
pub(crate) fn find(code: &str) -> Vec<usize> {
    let line = |at: usize| code[..at].matches('\n').count() + 1;
    let macros = code.match_indices("matches!(").filter(|&(at, found)| {
        let inside = &code[at + found.len()..];
        let patterns = arguments(inside).split_once(',').map_or("", |(_, patterns)| patterns);
        let patterns = without_guard(patterns);
        patterns.contains('|') && mentions(patterns) > 1
    });
    let matches = code.match_indices("match ").filter(|&(at, _)| {
        let starts_word = code[..at].chars().next_back().is_none_or(|c| !is_word(c));
        let patterns = opening(&code[at..]).map(|open| patterns(&code[at + open..]));
        let patterns = patterns.unwrap_or_default();
        let names_some = patterns.iter().any(|pattern| mentions(without_guard(pattern)) > 0);
        starts_word && names_some && patterns.iter().any(|pattern| is_default(pattern))
    });
    let mut lines: Vec<usize> = macros.chain(matches).map(|(at, _)| line(at)).collect();
    lines.sort_unstable();
    lines
}

/// Returns the number of variants of the enums that a pattern names.
fn mentions(pattern: &str) -> usize {
    let count = |name: &str| {
        let found = pattern.match_indices(name);
        found.filter(|(at, _)| !pattern[..*at].ends_with(is_word)).count()
    };
    ENUMS.iter().map(|name| count(name)).sum()
}

/// Returns whether a pattern matches everything: `_`, `other`, `(_, _)`.
fn is_default(pattern: &str) -> bool {
    let mut parts = pattern.trim_matches(['(', ')']).split(',').map(str::trim);
    let takes_all = |part: &str| {
        part.starts_with(|c: char| c.is_lowercase() || c == '_') && part.chars().all(is_word)
    };
    !pattern.contains(" if ") && !matches!(pattern, "true" | "false") && parts.all(takes_all)
}

fn without_guard(pattern: &str) -> &str {
    pattern.split_once(" if ").map_or(pattern, |(pattern, _)| pattern)
}

/// Returns the text before the parenthesis that closes the enclosing one.
fn arguments(text: &str) -> &str {
    let mut depth = 0i32;
    for (i, c) in text.char_indices() {
        depth += step(c);
        if depth < 0 {
            return &text[..i];
        }
    }
    text
}

/// Returns 1 for an opening bracket, -1 for a closing one, and 0 otherwise.
fn step(c: char) -> i32 {
    match c {
        '(' | '[' | '{' => 1,
        ')' | ']' | '}' => -1,
        _ => 0,
    }
}

/// Returns the start of the arms of a `match`.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (i, c) in text.char_indices() {
        if c == '{' && depth == 0 {
            return Some(i);
        }
        depth += step(c);
    }
    None
}

/// Returns the patterns of the arms in the block that `text` starts with, guards included.
fn patterns(text: &str) -> Vec<&str> {
    let inside = &text[1..block(text).saturating_sub(1).max(1)];
    let (mut found, mut depth, mut start, mut in_pattern) = (Vec::new(), 0i32, 0, true);
    for (i, c) in inside.char_indices() {
        depth += step(c);
        if depth == 0 && in_pattern && inside[i..].starts_with("=>") {
            found.push(inside[start..i].trim());
            in_pattern = false;
            start = i + 2;
        }
        let is_block = || inside[start..].trim_start().starts_with('{');
        let ends = c == ',' || (c == '}' && is_block());
        if depth == 0 && !in_pattern && ends {
            in_pattern = true;
            // A comma may follow the block.
            let comma = inside[i + 1..].trim_start().starts_with(',') && c == '}';
            start = i + 1 + if comma { inside[i + 1..].find(',').unwrap_or(0) + 1 } else { 0 };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_among_ops_is_found() {
        let text = "fn f() {\n  match op {\n    Op::Add => { 1 }\n    _ => 0,\n  }\n}";
        assert_eq!(find(text), [2]);
        assert_eq!(find("match (a, b) { (Op::Add(_), Op::Add(_)) => f(1, 2), (_, _) => 0 }"), [1]);
        assert_eq!(find("match op { hlo::Op::Add(x) => x, other => f(other) }"), [1]);
        assert_eq!(
            find("match op { Op::Add(x) => match x { A => 1, _ => 2 }, Op::Sub(_) => 1 }"),
            [0usize; 0]
        );
        assert_eq!(find("match x { 1 => Op::Add, _ => Op::Sub }"), [0usize; 0]);
        assert_eq!(
            find("match op { Op::Add(_) => 1, Op::Sub(x) if x => 2, Op::Sub(_) => 3 }"),
            [0usize; 0]
        );
    }

    #[test]
    fn a_list_of_ops_is_found() {
        assert_eq!(find("let x = matches!(op, Op::Add(_) | Op::Sub(_));"), [1]);
        assert_eq!(find("\nmatches!(f(a, b), Some(Opcode::Add | Opcode::Sub) if c)"), [2]);
        assert_eq!(find("matches!(op, Op::Add(_))"), [0usize; 0]);
        assert_eq!(find("matches!(shape, Shape::Token | Shape::Opaque)"), [0usize; 0]);
        assert_eq!(find("matches!(op, ScalarOp::Add | ScalarOp::Sub)"), [0usize; 0]);
    }
}
