//! Steps as a page of HTML: a timeline of the states, and what each step changes, side by side.
use super::Comparison;
use super::report::ModuleReport;
use hlo::Verified;
use hlo::text::Style;
use serde::Serialize;
use similar::TextDiff;

const PAGE: &str = include_str!("page.html");

/// Lines around a change.
const CONTEXT: usize = 3;
/// The most bytes of a module whose changes are shown.
const LARGEST: usize = 1 << 20;

#[derive(Serialize)]
struct Page<'a> {
    strict: bool,
    modules: &'a [ModuleReport],
    comparisons: Vec<Compared<'a>>,
}

/// A module of two dumps.
#[derive(Serialize)]
struct Compared<'a> {
    /// What the command prints of it.
    text: String,
    wrong: bool,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// Returns reports, and comparisons of two dumps, as a page of HTML that needs no server and no
/// other file. Steps show what they change if the modules were checked with
/// [`changes`](super::Options::changes).
pub fn to_html(reports: &[ModuleReport], comparisons: &[Comparison], strict: bool) -> String {
    let comparisons = comparisons.iter().map(|comparison| Compared {
        text: comparison.to_string(),
        wrong: comparison.is_wrong,
        comparison,
    });
    let page = Page { strict, modules: reports, comparisons: comparisons.collect() };
    // `<` is escaped so that no text of a module ends the script.
    let json = serde_json::to_string(&page).unwrap_or_default().replace('<', "\\u003c");
    PAGE.replacen("/*REPORTS*/", &json, 1)
}

/// Returns the lines of two states that differ, as a unified diff; empty if the texts are large.
pub(super) fn change(before: &Verified, after: &Verified) -> String {
    let [before, after] = [before, after].map(|state| state.module().print(Style::Short));
    if before.len().max(after.len()) > LARGEST {
        return String::new();
    }
    let diff = TextDiff::from_lines(&before, &after);
    diff.unified_diff().context_radius(CONTEXT).to_string()
}
