//! The page of a campaign: its rounds, its causes, and where they are by op and type.
use super::{History, Identity, Status};
use crate::Known;
use crate::results::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const STYLE: &str = "body { font: 14px/1.45 system-ui, sans-serif; margin: 20px auto; max-width: 1200px; padding: 0 16px; color-scheme: light dark }
table { border-collapse: collapse; margin: 8px 0 24px } th, td { padding: 3px 9px; border-bottom: 1px solid #8884; text-align: left; vertical-align: top }
td.n { text-align: right } code { font: 12.5px ui-monospace, monospace; overflow-wrap: anywhere }
.new { color: #d32f2f; font-weight: 600 } .open { color: #d32f2f } .flaky { color: #8e24aa } .fixed { color: #2e7d32 } .known { color: #795548 }";
/// Shows times as the reader's clock does.
const SCRIPT: &str = "document.querySelectorAll('time').forEach(t => t.textContent = new Date(t.dataset.s * 1000).toLocaleString())";

/// Returns a text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns the page, which needs no other file.
pub(super) fn page(identity: &Identity, history: &History, known: &Known) -> String {
    let mut text = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Campaign</title>\n",
    );
    let _ = writeln!(text, "<style>{STYLE}</style></head><body>\n<h1>Campaign</h1>");
    let _ = writeln!(text, "<p><code>{}</code></p>", escaped(&identity.to_string()));
    rounds(&mut text, history, known);
    if history.causes.is_empty() {
        text.push_str("<p>No round has found a cause.</p>\n");
    } else {
        causes(&mut text, history, known);
        map(&mut text, history);
    }
    let _ = writeln!(text, "<script>{SCRIPT}</script>\n</body></html>");
    text
}

/// Writes the series: a line for each round.
fn rounds(text: &mut String, history: &History, known: &Known) {
    text.push_str("<h2>Rounds</h2>\n<table><tr><th>Round<th>Began<th>Backend<th>Cases<th>Modules<th>Executed<th>Not good");
    text.push_str("<th>New causes<th>Open<th>Flaky<th>Fixed<th>Known</tr>\n");
    for (number, round) in history.rounds.iter().enumerate() {
        let sum = |of: fn(Verdict) -> bool| -> usize {
            let counts = round.counts().into_iter();
            counts.filter(|(verdict, _)| of(*verdict)).map(|(_, count)| count).sum()
        };
        let cases = round.cases.len();
        let mut counts = [0; 5];
        for cause in history.causes_until(number) {
            let at = match history.status(&cause.id, number) {
                Status::Fixed => 3,
                _ if history.known(known, cause).is_some() => 4,
                Status::New => 0,
                Status::Open => 1,
                Status::Flaky => 2,
            };
            counts[at] += 1;
        }
        let backend = format!("{} {}", round.round.backend, round.round.about);
        let _ = write!(
            text,
            "<tr><td class=n>{}<td><time data-s={}></time><td>{}<td class=n>{cases}<td class=n>{}<td class=n>{}<td class=n>{}",
            number + 1,
            round.round.time,
            escaped(backend.trim()),
            round.modules,
            sum(Verdict::is_executed),
            sum(Verdict::is_bad)
        );
        for (count, class) in counts.iter().zip(["new", "open", "flaky", "fixed", "known"]) {
            let _ = write!(text, "<td class=\"n {class}\">{count}");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n");
}

/// Writes a line for each cause, in groups.
fn causes(text: &mut String, history: &History, known: &Known) {
    text.push_str(
        "<h2>Causes</h2>\n<table><tr><th>Status<th>Op<th>Type<th>Cause<th>Cases<th>Known as</tr>\n",
    );
    for group in history.groups() {
        if group.causes.len() > 1 {
            let _ = writeln!(text, "<tr><th colspan=6>{}</tr>", escaped(&group.title));
        }
        for cause in group.causes {
            let status = history.status_now(&cause.id).name();
            let (id, title) = (&cause.id, escaped(&cause.title()));
            let cases = history.cases(id).len();
            let known = escaped(history.known(known, cause).unwrap_or_default());
            let _ = writeln!(
                text,
                "<tr><td class={status}>{status}<td>{}<td>{}<td><a href=\"causes/{id}/report.md\"><code>{title}</code></a><td class=n>{cases}<td class=known>{known}</tr>",
                cause.op, cause.ty
            );
        }
    }
    text.push_str("</table>\n");
}

/// Writes the number of causes by op and type that are not fixed.
fn map(text: &mut String, history: &History) {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let open = |id: &str| history.status_now(id) != Status::Fixed;
    for cause in history.causes.values().filter(|cause| open(&cause.id)) {
        *counts.entry((&cause.op, &cause.ty)).or_default() += 1;
    }
    let types: BTreeSet<&str> = counts.keys().map(|(_, ty)| *ty).collect();
    let ops: BTreeSet<&str> = counts.keys().map(|(op, _)| *op).collect();
    text.push_str("<h2>Causes by op and type</h2>\n<table><tr><th>");
    for ty in &types {
        let _ = write!(text, "<th>{ty}");
    }
    text.push_str("</tr>\n");
    for op in ops {
        let _ = write!(text, "<tr><th>{op}");
        for ty in &types {
            let count = counts.get(&(op, *ty)).map_or(String::new(), usize::to_string);
            let _ = write!(text, "<td class=n>{count}");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n");
}
