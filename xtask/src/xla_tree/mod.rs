//! `xla-tree`: reads and runs the modules in XLA's own sources, and counts the outcomes by class.
mod extract;
mod reading;
mod running;

use crate::{Result, read, write};
use extract::Text;
use reading::Outcome;
use running::End;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) const USAGE: &str = "\
  xla-tree DIR [--texts FILE] [--reference FILE] [--list FILE] [--run [--seed N]]
                   reads the modules in XLA's sources, and counts the outcomes by class
                   --texts writes the modules for xtask/xla_read.py, which writes the file of --reference;
                   --list writes the outcome of each module, --run also runs them with random arguments";

/// The options of the command.
#[derive(Debug, Default)]
struct Options {
    tree: PathBuf,
    texts: Option<PathBuf>,
    reference: Option<PathBuf>,
    list: Option<PathBuf>,
    run: bool,
    seed: Option<String>,
}

/// What an installed XLA makes of a text: the text it prints, or nothing if it does not read it.
#[derive(Debug)]
struct Reference {
    printed: Option<String>,
}

/// Counts by class, each with its first example.
type Classes = BTreeMap<String, (usize, String)>;

pub(crate) fn run(root: &Path, words: &[&str]) -> Result {
    let options = options(words)?;
    let texts = extract::texts(&options.tree)?;
    if let Some(path) = &options.texts {
        let line = |t: &Text| format!("{}\n", serde_json::json!({"at": t.at, "text": t.text}));
        write(path, &texts.iter().map(line).collect::<String>())?;
    }
    let known = options.reference.as_deref().map(reference).transpose()?;
    let find = |text: &Text| known.as_ref().and_then(|known| known.get(&text.at));
    let outcomes: Vec<Outcome> = texts.iter().map(|text| reading::read(text, find(text))).collect();
    let mut list = String::new();
    for (text, outcome) in texts.iter().zip(&outcomes) {
        let by_reference = match find(text) {
            Some(Reference { printed: Some(_) }) => "read by the reference",
            Some(Reference { printed: None }) => "not read by the reference",
            None => "",
        };
        line(&mut list, format_args!("{}\t{outcome:?}\t{by_reference}", text.at));
    }
    let all: Vec<_> = texts.iter().zip(&outcomes).collect();
    print!("{}", readings("texts", &all));
    if known.is_some() {
        let read = |(text, _): &&(&Text, &Outcome)| find(text).is_some_and(|r| r.printed.is_some());
        let shared: Vec<_> = all.iter().filter(read).copied().collect();
        print!("{}", readings("texts that the reference reads", &shared));
    }
    if options.run {
        let is_read = |(_, outcome): &&(&Text, &Outcome)| matches!(outcome, Outcome::Read { .. });
        let readable: Vec<&Text> = all.iter().filter(is_read).map(|(text, _)| *text).collect();
        print!("{}", runs(root, &readable, options.seed.as_deref().unwrap_or("1"), &mut list)?);
    }
    options.list.map_or(Ok(()), |path| write(&path, &list))
}

fn options(words: &[&str]) -> Result<Options> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
        match word {
            "--texts" => options.texts = Some(value()?.into()),
            "--reference" => options.reference = Some(value()?.into()),
            "--list" => options.list = Some(value()?.into()),
            "--seed" => options.seed = Some(value()?.to_owned()),
            "--run" => options.run = true,
            _ if word.starts_with('-') || options.tree != PathBuf::new() => {
                return Err(format!("unexpected `{word}`\n{USAGE}"));
            }
            _ => options.tree = word.into(),
        }
    }
    let given = options.tree != PathBuf::new();
    if given { Ok(options) } else { Err(format!("xla-tree needs a folder\n{USAGE}")) }
}

/// Reads the lines that `xtask/xla_read.py` writes.
fn reference(path: &Path) -> Result<HashMap<String, Reference>> {
    let parse = |line: &str| {
        let value: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let at = text("at").ok_or("a line has no `at`")?;
        Ok((at, Reference { printed: text("printed") }))
    };
    let failed = |e: String| format!("{}: {e}", path.display());
    read(path)?.lines().map(|line| parse(line).map_err(failed)).collect()
}

/// Returns the tables of how the texts are read.
fn readings(title: &str, all: &[(&Text, &Outcome)]) -> String {
    let (mut read, mut alike, mut compared, mut other, mut panics) = (0, 0, 0, 0, 0);
    let (mut syntax, mut rules) = (Classes::new(), Classes::new());
    for (text, outcome) in all {
        match outcome {
            Outcome::Read { is_fixed_point, is_alike } => {
                read += 1;
                other += usize::from(!is_fixed_point);
                compared += usize::from(is_alike.is_some());
                alike += usize::from(*is_alike == Some(true));
            }
            Outcome::Refused { by_syntax, class, .. } => {
                let classes = if *by_syntax { &mut syntax } else { &mut rules };
                classes.entry(class.clone()).or_insert((0, text.at.clone())).0 += 1;
            }
            Outcome::Panicked => panics += 1,
        }
    }
    let total = |classes: &Classes| classes.values().map(|(count, _)| count).sum::<usize>();
    let mut out = format!("\n| {title} | {} |\n|---|---|\n", all.len());
    line(&mut out, format_args!("| read | {read} |"));
    line(&mut out, format_args!("| refused by the parser | {} |", total(&syntax)));
    line(&mut out, format_args!("| refused by the verifier | {} |", total(&rules)));
    line(&mut out, format_args!("| panics | {panics} |"));
    line(&mut out, format_args!("| whose print is not a fixed point | {other} |"));
    if compared > 0 {
        line(&mut out, format_args!("| printed alike | {alike} of {compared} |"));
    }
    table(&mut out, "refused by the parser", &syntax);
    table(&mut out, "refused by the verifier", &rules);
    out
}

/// Runs the modules and returns the tables of how the runs end.
fn runs(root: &Path, texts: &[&Text], seed: &str, list: &mut String) -> Result<String> {
    let program = running::program(root)?;
    let mut ends: BTreeMap<End, Classes> = BTreeMap::new();
    for (text, (end, error)) in texts.iter().zip(running::run_all(&program, texts, seed)?) {
        line(list, format_args!("{}\t{end:?}\t{error}", text.at));
        let classes = ends.entry(end).or_default();
        classes.entry(without_details(&error)).or_insert((0, text.at.clone())).0 += 1;
    }
    let mut out = format!("\n| runs | {} |\n|---|---|\n", texts.len());
    for (end, classes) in &ends {
        let count: usize = classes.values().map(|(count, _)| count).sum();
        line(&mut out, format_args!("| {} | {count} |", format!("{end:?}").to_lowercase()));
    }
    for (end, classes) in ends.iter().filter(|(end, _)| **end != End::Done) {
        table(&mut out, &format!("{end:?}").to_lowercase(), classes);
    }
    Ok(out)
}

/// Returns the message with numbers and shapes replaced, so that messages of one cause are equal. Names in quotes count.
fn without_details(message: &str) -> String {
    let mut out = String::new();
    let mut depth = 0u32;
    for (at, c) in message.char_indices() {
        // The number of the error is in the first brackets.
        let in_number = at < "error[E0000]".len();
        match c {
            '[' | '{' if !in_number => depth += 1,
            ']' | '}' if !in_number => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if c.is_ascii_digit() && !in_number => {
                if !out.ends_with('N') {
                    out.push('N');
                }
            }
            _ => out.push(c),
        }
    }
    out
}

fn table(out: &mut String, title: &str, classes: &Classes) {
    if classes.is_empty() {
        return;
    }
    let mut rows: Vec<_> = classes.iter().collect();
    rows.sort_by_key(|(class, (count, _))| (std::cmp::Reverse(*count), *class));
    line(out, format_args!("\n| {title} | count | example |\n|---|---|---|"));
    for (class, (count, example)) in rows {
        line(out, format_args!("| {class} | {count} | {example} |"));
    }
}

fn line(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let written = writeln!(out, "{arguments}");
    debug_assert!(written.is_ok(), "writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_one_cause_are_equal() {
        let found = without_details("error[E0402]: `dot` of f32[2,3]{1,0} takes 12 bytes");
        assert_eq!(found, "error[E0402]: `dot` of fN takes N bytes");
    }

    #[test]
    fn options_need_a_folder() {
        assert!(options(&["--run"]).is_err());
        let found = options(&["a", "--list", "b"]).unwrap();
        assert_eq!((found.tree, found.list), (PathBuf::from("a"), Some(PathBuf::from("b"))));
        assert!(options(&["a", "b"]).is_err());
    }
}
