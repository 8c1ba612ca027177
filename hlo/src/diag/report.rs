//! Rendering of errors with the line of the Rust program that caused them.
use super::{Diagnostic, Error, ErrorCode, Place, Source, Span, render};
use std::panic::Location;

impl<C: ErrorCode> Error<C> {
    /// Renders the error with the line of the Rust program and a caret, if its source can be read.
    pub fn report(&self) -> String {
        let drawn = self.location().and_then(|location| {
            let text = read_source(location.file())?;
            let span = Some(call_span(&text, location)?);
            let diagnostic =
                Diagnostic { span, place: Place::Whole, labels: Vec::new(), ..self.diagnostic() };
            Some(render(&diagnostic, Some(Source { name: location.file(), text: &text }), false))
        });
        drawn.unwrap_or_else(|| format!("{self}\n"))
    }
}

/// Reads a source file. Its path is relative to the directory in which the compiler ran, the
/// workspace: this directory or a parent.
fn read_source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().take(4).find_map(|folder| std::fs::read_to_string(folder.join(file)).ok())
}

/// Returns the span from the call to the end of its line.
fn call_span(text: &str, location: &Location<'_>) -> Option<Span> {
    let line = usize::try_from(location.line()).ok()?.checked_sub(1)?;
    let column = usize::try_from(location.column()).ok()?.checked_sub(1)?;
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let written = text.get(start..)?.lines().next()?;
    let before: usize = written.chars().take(column).map(char::len_utf8).sum();
    let end = written.trim_end().trim_end_matches([';', ',']).len();
    Some(Span::new(start + before, start + end.max(before + 1)))
}
