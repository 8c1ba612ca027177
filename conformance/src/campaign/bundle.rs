//! The folder of a cause: the smallest module with its arguments and both results, and a text for
//! an issue tracker.
use super::Identity;
use super::cause::{Evidence, Finding};
use super::log::Round;
use super::pair::Pair;
use crate::arrays::flatten_per_device;
use crate::reduce::file_test;
use crate::{AtomicFile, Existing, WriteError, shell_quoted};
use hlo::Literal;
use hlo::diag::quantity;
use std::fmt::Write as _;
use std::io::{Cursor, Result};
use std::path::{Path, PathBuf};

/// What the text says of the campaign.
pub(super) struct Context<'a> {
    pub(super) folder: &'a Path,
    pub(super) identity: &'a Identity,
    pub(super) round: &'a Round,
}

/// The steps of the engine for the results in a file test.
const FUEL: u64 = 1 << 24;
/// The most elements of an array that the text shows.
const SHOWN: usize = 32;
/// The most bytes of a module that the text shows.
const LONGEST: usize = 1 << 14;

pub(super) fn folder_of(folder: &Path, id: &str) -> PathBuf {
    folder.join("causes").join(id)
}

/// Returns the path of the smallest module of a cause.
pub(super) fn module(folder: &Path, id: &str) -> PathBuf {
    folder_of(folder, id).join("module.hlo")
}

/// Writes the folder of a cause and returns its path. What an interrupted process left is replaced.
pub(super) fn write(
    evidence: &Evidence,
    finding: &Finding,
    context: &Context<'_>,
) -> std::result::Result<PathBuf, WriteError> {
    let path = folder_of(context.folder, &evidence.cause.id);
    let failed = |error| WriteError { path: path.clone(), error };
    write_files(&path, evidence, finding, context).map_err(failed)?;
    Ok(path)
}

fn write_files(
    path: &Path,
    evidence: &Evidence,
    finding: &Finding,
    context: &Context<'_>,
) -> Result<()> {
    let Evidence { smallest, expected, found, twin, .. } = evidence;
    std::fs::create_dir_all(path)?;
    let file =
        |name: &str, bytes: &[u8]| AtomicFile::write(&path.join(name), Existing::Replace, bytes);
    file("module.hlo", file_test(&smallest.module, &smallest.arguments, Some(FUEL)).as_bytes())?;
    let original = finding.subject.file_test(&finding.record.reason, &[]);
    file("original.hlo", original.as_bytes())?;
    if let Some(Pair { twin, .. }) = twin {
        let text = twin.subject.file_test(&twin.about(), expected);
        file("twin.hlo", text.as_bytes())?;
    }
    let of_twin = twin.as_ref().map_or(Vec::new(), |pair| pair.found.clone());
    let arguments: Vec<Literal> = smallest.arguments.iter().cloned().map(Literal::tuple).collect();
    for (name, prefix, values) in [
        ("in.npz", "in", &arguments),
        ("expected.npz", "out", expected),
        ("found.npz", "out", found),
        ("found-twin.npz", "out", &of_twin),
    ] {
        if !values.is_empty() {
            let mut bytes = Cursor::new(Vec::new());
            let named = flatten_per_device(values.iter(), prefix);
            hlo::literal::npz::write(&mut bytes, named).map_err(std::io::Error::other)?;
            file(name, bytes.get_ref())?;
        }
    }
    file("report.md", report(path, evidence, finding, context).as_bytes())
}

/// Returns the text for an issue tracker.
fn report(path: &Path, evidence: &Evidence, finding: &Finding, context: &Context<'_>) -> String {
    let Evidence { cause, smallest, record, expected, found, twin, blame, search } = evidence;
    let Round { backend, about, etalon, .. } = context.round;
    let options = &context.identity.backend;
    let mut text = format!("# {}\n\n", cause.title());
    let _ = writeln!(text, "Backend: {backend}  \nOptions: `{options}`  ");
    for (name, value) in &about.0 {
        let _ = writeln!(text, "{name}: {}  ", value.lines().next().unwrap_or_default());
    }
    let _ = writeln!(text, "Compared with Etalon {etalon}, whose results are correctly rounded.\n");
    block(&mut text, "Module", "", smallest.text.trim_end());
    if let Some(Pair { twin, .. }) = twin {
        block(&mut text, "Twin, which is the same function", "", twin.subject.text.trim_end());
    }
    values(&mut text, "Arguments", smallest.arguments.iter().flatten());
    values(&mut text, "Expected", expected.iter());
    values(&mut text, "Found", found.iter());
    if let Some(Pair { found, .. }) = twin {
        values(&mut text, "Found for the twin", found.iter());
    }
    let verdict = record.verdict.name().replace('_', " ");
    let mut reason = format!("{verdict}: {}", record.reason.trim_end());
    if let Some(death) = &record.death {
        let _ = write!(reason, "\n{death}");
    }
    for (what, record) in
        twin.iter().flat_map(|pair| ["module", "twin"].into_iter().zip(&pair.records))
    {
        let _ = write!(reason, "\nthe {what}, compared with Etalon: {}", record.verdict.name());
    }
    block(&mut text, "Why it is wrong", "", &reason);
    if let Some(blame) = blame {
        block(
            &mut text,
            "The guilty instruction in the first module that showed it",
            "",
            blame.trim_end(),
        );
    }
    let path = path.display();
    let command = |name: &str, file: &str| format!("$ etalon {name} {options} {path}/{file}\n");
    let conform = match twin {
        Some(Pair { twin, .. }) => {
            format!("conform --metamorphic={}", shell_quoted(&twin.rule.to_string()))
        }
        None => "conform".to_owned(),
    };
    let last = twin.is_none().then(|| command("blame", "original.hlo"));
    let commands = command(&conform, "module.hlo") + &last.unwrap_or_default();
    block(&mut text, "Reproduce", "console", commands.trim_end());
    let name = &finding.subject.name;
    let _ = writeln!(
        text,
        "`module.hlo` has its arguments and the expected result as comments, `in.npz`, `expected.npz` and `found.npz` as arrays. \
         It was made from `original.hlo` (`{name}`): {search}."
    );
    text
}

fn block(text: &mut String, title: &str, language: &str, contents: &str) {
    let shown = match contents.len() {
        0..=LONGEST => contents.to_owned(),
        bytes => format!("({}: see the file)", quantity(bytes, "byte")),
    };
    let _ = writeln!(text, "## {title}\n\n```{language}\n{shown}\n```\n");
}

fn values<'l>(text: &mut String, title: &str, values: impl Iterator<Item = &'l Literal>) {
    let lines: Vec<String> = values.map(|value| value.summary(SHOWN)).collect();
    if !lines.is_empty() {
        block(text, title, "", &lines.join("\n"));
    }
}
