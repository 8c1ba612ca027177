//! Rejection tests, at least one for each rule: the modules of `hlo/tests/reject`, and those of
//! `tests/ops` that expect an error.
//!
//! A case breaks one rule, and has that error, on that line, and no other. The messages and spans
//! of all errors are in `reject/messages.txt`, so that a case cannot pass for another reason;
//! `ETALON_BLESS=1` rewrites the file. Every label in the source has a case.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
use hlo::diag::locate;
use hlo::{Error, Module, Op, Opcode};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Labels without a case.
const PENDING: &[&str] = &[];
/// Labels that no text can violate; a test below builds the module.
const BUILT: [&str; 1] = ["pad_c3"];
/// Words of the text that look like labels: fields of a window, and attributes.
const FIELDS: [&str; 3] = ["lhs_dilate", "rhs_dilate", "frontend_attributes"];
/// Files whose errors may show layouts, which are not part of any rule.
const WITH_LAYOUTS: [&str; 2] = ["bitcast", "layout"];

/// One module of a file, and the errors that its comments expect.
struct Case {
    name: String,
    text: String,
    /// Line, code, label.
    expected: Vec<(usize, String, String)>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

fn cases(folder: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for path in files(folder, "hlo") {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        for text in text.split("// -----\n") {
            let module = text.lines().find_map(|line| line.strip_prefix("HloModule "));
            let module = module.unwrap_or("?").split([',', ' ']).next().unwrap();
            let expected = text.lines().zip(1..).filter_map(|(line, number)| {
                let (_, expected) = line.split_once("// error ")?;
                let mut words = expected.split_whitespace().map(str::to_owned);
                Some((number, words.next()?, words.next().unwrap_or_default()))
            });
            let (expected, name) = (expected.collect(), format!("{file}::{module}"));
            cases.push(Case { name, text: text.to_owned(), expected });
        }
    }
    cases
}

fn errors(text: &str) -> Vec<Error> {
    let verified = Module::parse(text).and_then(|module| Ok(module.verify()?));
    verified.err().map_or_else(Vec::new, |errors| errors.0)
}

/// Returns the label in parentheses at the end of a message.
fn label(error: &Error) -> String {
    let message = error.code().to_string();
    let label = message.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let is_label = |word: &&str| is_label(word);
    label.map(|(_, label)| label).filter(is_label).unwrap_or_default().to_owned()
}

fn is_label(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    word.contains('_')
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(plain)
}

/// Returns the text that the error underlines.
fn underlined<'a>(case: &'a Case, error: &Error) -> &'a str {
    let span = error.span().unwrap_or_else(|| panic!("{}: no place: {error}", case.name));
    &case.text[locate(&case.text, span, error.place()).range()]
}

fn line(case: &Case, error: &Error) -> usize {
    let marked = underlined(case, error).as_ptr().addr() - case.text.as_ptr().addr();
    case.text[..marked].matches('\n').count() + 1
}

/// Returns strings in the source of the rules that look like a label, and whether each can only be
/// a label: an the name of an attribute can be both.
///
/// These are more than the arguments of `check`, and so include labels that are passed along.
fn words_in_source() -> BTreeMap<String, bool> {
    let attributes: BTreeSet<&str> =
        Opcode::ALL.iter().flat_map(|opcode| opcode.attributes()).copied().collect();
    let mut words = BTreeMap::new();
    for path in files("hlo/src/op", "rs").into_iter().chain(files("hlo/src/verify", "rs")) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        // Files without rules.
        if ["attrs.rs", "family.rs", "table.rs", "mod.rs"].contains(&file.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for quoted in line.split('"').skip(1).step_by(2).filter(|word| is_label(word)) {
                let old_name = line.contains(&format!("also \"{quoted}\""));
                let word = attributes.contains(quoted) || FIELDS.contains(&quoted) || old_name;
                words.insert(quoted.to_owned(), !word);
            }
        }
    }
    words
}

#[test]
fn every_case_has_the_error_it_expects() {
    let mut wrong = String::new();
    for case in cases("hlo/tests/reject") {
        let found = errors(&case.text);
        let mut got: Vec<_> = found
            .iter()
            .map(|e| (line(&case, e), e.code().number().to_owned(), label(e)))
            .collect();
        got.sort();
        if got != case.expected || got.len() != 1 {
            writeln!(wrong, "{}: expected {:?}, got {got:?}", case.name, case.expected).unwrap();
        }
        let file = case.name.split("::").next().unwrap();
        for error in found.iter().filter(|_| !WITH_LAYOUTS.contains(&file)) {
            if error.code().to_string().contains("]{") {
                writeln!(wrong, "{}: show shapes as `{{:#}}`: {error}", case.name).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn messages_are_as_written_down() {
    let mut found = String::new();
    for case in cases("hlo/tests/reject") {
        for error in errors(&case.text) {
            let (at, help) = (underlined(&case, &error), error.help());
            writeln!(found, "{}\n  span    {at}\n  message {}", case.name, error.code()).unwrap();
            if let Some(help) = help {
                writeln!(found, "  help {help}").unwrap();
            }
        }
    }
    let path = root().join("hlo/tests/reject/messages.txt");
    if std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<_> =
        found.lines().filter(|line| !expected.lines().any(|w| w == *line)).collect();
    assert!(expected == found, "other messages or places than in messages.txt: {changed:#?}");
}

#[test]
fn every_label_has_a_case() {
    let in_source = words_in_source();
    let mut pieces_of: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["hlo/tests/reject", "tests/ops", "tests/programs"] {
        for case in cases(folder) {
            for (.., label) in case.expected.into_iter().filter(|(.., label)| !label.is_empty()) {
                *pieces_of.entry(label).or_default() += 1;
            }
        }
    }
    let unknown: Vec<_> =
        pieces_of.keys().filter(|label| !in_source.contains_key(*label)).collect();
    assert!(unknown.is_empty(), "no rule in the source has these labels: {unknown:?}");
    let shown = |label: &str| pieces_of.contains_key(label) || BUILT.contains(&label);
    let labels = in_source.iter().filter(|(_, only_label)| **only_label).map(|(label, _)| label);
    let without: Vec<_> = labels.filter(|label| !shown(label)).collect();
    assert!(without == PENDING, "labels without a case: {without:#?}\n(owed: {PENDING:#?})");
}

#[test]
fn negative_interior_padding_is_refused() {
    let text = "HloModule m\nENTRY e { x = f32[3] parameter(0)  v = f32[] parameter(1)\n\
                ROOT r = f32[3] pad(x, v), padding=0_0 }";
    let mut module = Module::parse(text).unwrap();
    for (_, instruction) in
        module.computations.iter_mut().flat_map(|(_, c)| c.instructions.iter_mut())
    {
        if let Op::Pad(pad) = &mut instruction.op {
            pad.padding.dims[0].interior = -1;
        }
    }
    let errors = &module.verify().unwrap_err().0;
    assert_eq!(errors.iter().map(label).collect::<Vec<_>>(), BUILT);
}

/// The elements of the operand do not count: each result is one array.
#[test]
fn elements_of_a_large_tuple_are_read_without_shapes() {
    let mut text = "HloModule m\nENTRY e { p = f32[] parameter(0)\n t = tuple(p".to_owned();
    text.push_str(&", p".repeat(2999));
    text.push_str(")\n");
    for i in 0..1000 {
        writeln!(text, " g{i} = get-tuple-element(t), index={i}").unwrap();
    }
    text.push_str(" ROOT r = f32[] negate(g0) }");
    assert!(Module::parse(&text).is_ok_and(|module| module.verify().is_ok()));
}
