//! Errors as JSON, in the shape of `rustc --error-format=json`: one object a line.
use crate::error::Failure;
use crate::explanations;
use hlo::diag::{
    BYTE_ORDER_MARK, Diagnostic, Level, Source, SourceFile, Span, line_start, locate, render,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Returns a line for each error.
pub(crate) fn diagnostics(failure: &Failure) -> String {
    let source = failure.source.as_ref().map(SourceFile::source);
    let mut text = String::new();
    for one in &failure.diagnostics {
        let _ = writeln!(text, "{}", diagnostic(one, source));
    }
    text
}

/// Returns an error or a warning.
pub(crate) fn diagnostic(diagnostic: &Diagnostic, source: Option<Source<'_>>) -> Value {
    let Diagnostic { level, code, message, span, place, labels, help, instruction } = diagnostic;
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let mut spans = Vec::new();
    if let Some(source) = source {
        if let Some(span) = span {
            let label = labels.iter().find(|(other, _)| other == span).map(|(_, label)| label);
            spans.push(location(source, locate(source.text, *span, place), true, label));
        }
        let others = labels.iter().filter(|(other, _)| Some(*other) != *span);
        spans.extend(others.map(|(span, label)| location(source, *span, false, Some(label))));
    }
    let explanation = explanations::of_number(code);
    let code = (!code.is_empty()).then(|| json!({ "code": code, "explanation": explanation }));
    let children: Vec<Value> = help.iter().map(|help| child(help)).collect();
    json!({
        "$message_type": "diagnostic",
        "message": message,
        "code": code,
        "level": level,
        "spans": spans,
        "children": children,
        "rendered": render(diagnostic, source, false),
        "instruction": instruction,
    })
}

fn child(help: &str) -> Value {
    json!({ "message": help, "code": null, "level": "help", "spans": [], "children": [], "rendered": null })
}

/// Returns a place in a text: offsets in bytes, lines and columns from 1, columns in characters.
fn location(source: Source<'_>, span: Span, is_primary: bool, label: Option<&String>) -> Value {
    let (start, end) = (span.range().start, span.range().end);
    let position = |at: usize| {
        let before = source.text.get(..at).unwrap_or(source.text);
        let column = before[line_start(before, before.len())..].chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    };
    let ((line, column), (end_line, end_column)) = (position(start), position(end));
    let lines = source.text.lines().enumerate().skip(line - 1).take(end_line - line + 1);
    let text = lines.map(|(i, text)| {
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        let highlight_end = if i + 1 == end_line { end_column } else { text.chars().count() + 1 };
        let highlight_start = if i + 1 == line { column } else { 1 };
        json!({ "text": text, "highlight_start": highlight_start, "highlight_end": highlight_end })
    });
    json!({
        "file_name": source.name,
        "byte_start": start,
        "byte_end": end,
        "line_start": line,
        "line_end": end_line,
        "column_start": column,
        "column_end": end_column,
        "is_primary": is_primary,
        "text": text.collect::<Vec<_>>(),
        "label": label,
        "suggested_replacement": null,
        "suggestion_applicability": null,
        "expansion": null,
    })
}
