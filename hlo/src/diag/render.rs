//! Rendering of diagnostics with their source lines, in the style of rustc.
use super::{Diagnostic, Level, Span, locate};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level as Style, Origin, Renderer, Snippet};
use std::ops::Range;

/// The text a diagnostic's spans point into.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name: a path.
    pub name: &'a str,
    /// The whole text.
    pub text: &'a str,
}

/// A name and a text that outlive what was read from them: what a [`Source`] borrows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The name: a path.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl From<Source<'_>> for SourceFile {
    fn from(Source { name, text }: Source<'_>) -> Self {
        Self { name: name.to_owned(), text: text.to_owned() }
    }
}

impl SourceFile {
    /// Returns the text for diagnostics.
    pub fn source(&self) -> Source<'_> {
        Source { name: &self.name, text: &self.text }
    }
}

/// A longer line is cut before it is rendered; the renderer itself trims what is wider than a
/// terminal.
const LINE_LIMIT: usize = 100_000;
/// The number of bytes shown of such a line.
const SHOWN: usize = 160;

/// Renders the diagnostic as text, ending in a newline; `color` adds terminal colors.
///
/// ```
/// use hlo::diag::{Source, render};
/// let text = "HloModule m\nENTRY e { ROOT p = f32[] parametr(0) }";
/// let errors = hlo::Module::parse(text).unwrap_err();
/// let shown = render(&errors.0[0].diagnostic(), Some(Source { name: "t.hlo", text }), false);
/// assert!(shown.contains("t.hlo:2:26"), "{shown}");
/// ```
pub fn render(diagnostic: &Diagnostic, source: Option<Source<'_>>, color: bool) -> String {
    let Diagnostic { level, code, message, span, place, labels, help, instruction: _ } = diagnostic;
    let style = match level {
        Level::Error => Style::ERROR,
        Level::Warning => Style::WARNING,
    };
    let mut title = style.primary_title(message.as_str());
    if !code.is_empty() {
        title = title.id(*code);
    }
    let mut group = Group::with_title(title);
    if let Some(source) = source {
        if let Some(span) = span {
            let own = labels.iter().find(|(other, _)| other == span).map(|(_, label)| label);
            let span = locate(source.text, *span, place);
            group = add_snippet(group, source, span, AnnotationKind::Primary, own);
        }
        for (other, label) in labels.iter().filter(|(other, _)| Some(*other) != *span) {
            group = add_snippet(group, source, *other, AnnotationKind::Context, Some(label));
        }
    }
    if let Some(help) = help {
        group = group.element(Style::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.decor_style(DecorStyle::Ascii).term_width(140).render(&[group]);
    // A blank line separates errors.
    text.push_str("\n\n");
    text
}

/// Adds the line where a span starts.
fn add_snippet<'a>(
    group: Group<'a>,
    source: Source<'a>,
    span: Span,
    kind: AnnotationKind,
    label: Option<&'a String>,
) -> Group<'a> {
    let view = View::around(source.text, span);
    let annotation = kind.span(view.marked).label(label.map(String::as_str));
    let snippet = Snippet::source(view.text).line_start(view.line).annotation(annotation);
    if !view.cut {
        return group.element(snippet.path(source.name));
    }
    // The renderer would count columns from the cut.
    let origin = Origin::path(source.name).line(view.line).char_column(view.column);
    group.element(origin).element(snippet)
}

/// The character that some editors write before a text. The readers skip it, and it is no part of
/// the first line.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns where the line of an offset starts, after a byte order mark.
///
/// ```
/// assert_eq!(hlo::diag::line_start("\u{feff}a\nb", 4), 3);
/// assert_eq!(hlo::diag::line_start("a\nb", 3), 2);
/// ```
pub fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind('\n') {
        Some(end) => end + 1,
        None if text[..at].starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len_utf8(),
        None => 0,
    }
}

/// The line where a span starts, or the part of a long line around it.
struct View<'a> {
    text: &'a str,
    marked: Range<usize>,
    line: usize,
    column: usize,
    cut: bool,
}

impl<'a> View<'a> {
    fn around(text: &'a str, span: Span) -> Self {
        let Range { start, end } = span.range();
        let start = floor(text, start.min(text.len()));
        let line_start = line_start(text, start);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = floor(text, end.clamp(start, line_end));
        let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..line_start]).count() + 1;
        let column = text[line_start..start].chars().count() + 1;
        let cut = line_end - line_start > LINE_LIMIT;
        let (from, to) = match cut {
            false => (line_start, line_end),
            true => (
                floor(text, start.saturating_sub(SHOWN / 2).max(line_start)),
                floor(text, (start + SHOWN / 2).min(line_end)),
            ),
        };
        let end = end.min(to);
        Self { text: &text[from..to], marked: start - from..end - from, line, column, cut }
    }
}

/// Returns the nearest character boundary at or before `at`.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
