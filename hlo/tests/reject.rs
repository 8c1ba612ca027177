//! Every rule refuses something: the modules of `hlo/tests/reject`, and those among `tests/ops` that announce an error.
//!
//! A piece breaks one rule, and gets that error, on that line, and no other. What each error says and underlines is
//! written down in `reject/messages.txt`, so that a piece cannot pass for another reason than the one it was written
//! for; `ETALON_BLESS=1` rewrites the file. Every label that stands in the source has a piece.
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]
use hlo::diag::locate;
use hlo::{Error, Module, Op, Opcode};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Labels whose piece is still to be written.
const OWED: &[&str] = &[];
/// Labels of what no text can say; a test below builds it.
const BUILT: [&str; 1] = ["pad_c3"];
/// Words of the text that look like labels: fields of a window.
const FIELDS: [&str; 2] = ["lhs_dilate", "rhs_dilate"];
/// Files whose errors still show layouts, which are no part of any rule.
const WITH_LAYOUTS: [&str; 0] = [];

/// One module of a file, and the errors its comments announce.
struct Piece {
    name: String,
    text: String,
    /// Line, code, label.
    wanted: Vec<(usize, String, String)>,
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

fn pieces(folder: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for path in files(folder, "hlo") {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        for text in text.split("// -----\n") {
            let module = text.lines().find_map(|line| line.strip_prefix("HloModule "));
            let module = module.unwrap_or("?").split([',', ' ']).next().unwrap();
            let wanted = text.lines().zip(1..).filter_map(|(line, number)| {
                let (_, announced) = line.split_once("// error ")?;
                let mut words = announced.split_whitespace().map(str::to_owned);
                Some((number, words.next()?, words.next().unwrap_or_default()))
            });
            let (wanted, name) = (wanted.collect(), format!("{file}::{module}"));
            pieces.push(Piece { name, text: text.to_owned(), wanted });
        }
    }
    pieces
}

fn errors(text: &str) -> Vec<Error> {
    match Module::parse(text) {
        Err(error) => vec![error],
        Ok(module) => module.verify().err().map_or_else(Vec::new, |errors| errors.0),
    }
}

/// The label in parentheses at the end of a message.
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

/// What the error underlines; a text in which it cannot be found is a mistake.
fn underlined<'a>(piece: &'a Piece, error: &Error) -> &'a str {
    let span = error.span().unwrap_or_else(|| panic!("{}: no place: {error}", piece.name));
    &piece.text[locate(&piece.text, span, error.place()).range()]
}

fn line(piece: &Piece, error: &Error) -> usize {
    let marked = underlined(piece, error).as_ptr().addr() - piece.text.as_ptr().addr();
    piece.text[..marked].matches('\n').count() + 1
}

/// Words in quotation marks, in the source of the rules, that look like a label, and whether each can only be one: an
/// attribute's name can be both.
///
/// That is more than what is given to `check`, and so finds a label wherever it is passed along.
fn words_in_source() -> BTreeMap<String, bool> {
    let attributes: BTreeSet<&str> =
        Opcode::ALL.iter().flat_map(|opcode| opcode.attributes()).copied().collect();
    let mut words = BTreeMap::new();
    for path in files("hlo/src/op", "rs").into_iter().chain(files("hlo/src/verify", "rs")) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        // What holds for all ops; no rule stands there.
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
fn every_piece_gets_the_error_it_announces() {
    let mut wrong = String::new();
    for piece in pieces("hlo/tests/reject") {
        let found = errors(&piece.text);
        let mut got: Vec<_> = found
            .iter()
            .map(|e| (line(&piece, e), e.code().number().to_owned(), label(e)))
            .collect();
        got.sort();
        if got != piece.wanted || got.len() != 1 {
            writeln!(wrong, "{}: wanted {:?}, got {got:?}", piece.name, piece.wanted).unwrap();
        }
        let file = piece.name.split("::").next().unwrap();
        for error in found.iter().filter(|_| !WITH_LAYOUTS.contains(&file)) {
            if error.code().to_string().contains("]{") {
                writeln!(wrong, "{}: show shapes as `{{:#}}`: {error}", piece.name).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn messages_are_as_written_down() {
    let mut found = String::new();
    for piece in pieces("hlo/tests/reject") {
        for error in errors(&piece.text) {
            let (at, help) = (underlined(&piece, &error), error.help());
            writeln!(found, "{}\n  at   {at}\n  says {}", piece.name, error.code()).unwrap();
            if let Some(help) = help {
                writeln!(found, "  help {help}").unwrap();
            }
        }
    }
    let path = root().join("hlo/tests/reject/messages.txt");
    if std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &found).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<_> =
        found.lines().filter(|line| !wanted.lines().any(|w| w == *line)).collect();
    assert!(wanted == found, "other messages or places than in messages.txt: {changed:#?}");
}

#[test]
fn every_label_has_a_piece() {
    let in_source = words_in_source();
    let mut pieces_of: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["hlo/tests/reject", "tests/ops", "tests/programs"] {
        for piece in pieces(folder) {
            for (.., label) in piece.wanted.into_iter().filter(|(.., label)| !label.is_empty()) {
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
    assert!(without == OWED, "labels without a piece: {without:#?}\n(owed: {OWED:#?})");
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
    let errors = module.verify().unwrap_err().0;
    assert_eq!(errors.iter().map(label).collect::<Vec<_>>(), BUILT);
}
