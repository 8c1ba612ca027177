//! Every name of XLA's builder has a method here and a test of it.
//!
//! `builder/names/xla.txt` lists the names, the other files of that folder say what each is in
//! Rust; see its README.md. With `ETALON_BLESS=1` the table of docs/builder.md is written anew.
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Names of XLA's library on top of the builder.
const LIBRARY: &str = "library";
/// Names that only compilers use.
const FRIEND: &str = "XlaBuilderFriend, for compilers";
const TABLE: [&str; 2] = ["<!-- table -->\n", "<!-- end of table -->\n"];

/// What a name is in Rust.
struct Row {
    methods: Vec<String>,
    tests: Vec<String>,
    remark: String,
    /// Where it is written.
    place: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
/// The files of a folder and those below that end so.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

/// Families and their names, in order.
fn families() -> Vec<(String, Vec<String>)> {
    let mut families: Vec<(String, Vec<String>)> = Vec::new();
    for line in read("builder/names/xla.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(family) => families.push((family.to_owned(), Vec::new())),
            None => {
                let names = line.split_whitespace().map(str::to_owned);
                if let Some((_, family)) = families.last_mut() {
                    family.extend(names);
                }
            }
        }
    }
    families
}

fn list(column: &str) -> Vec<String> {
    column.split(',').map(|item| item.trim().to_owned()).filter(|item| item != "-").collect()
}

/// What is said of each name, in every file but the list; and names that are spoken of twice.
fn rows(wrong: &mut Vec<String>) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    for path in files(&root().join("builder/names"), "txt") {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if file == "xla.txt" {
            continue;
        }
        let text = read(&path);
        for (line, number) in text.lines().zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{file}:{number}");
            // The name of an operator may have the bar itself.
            let columns: Vec<&str> = line.split(" | ").map(str::trim).collect();
            let [name, methods, tests, rest @ ..] = columns.as_slice() else {
                wrong.push(format!("{place}: a line is `Name | methods | tests | remark`"));
                continue;
            };
            let remark = rest.join(" | ");
            let row = Row { methods: list(methods), tests: list(tests), remark, place };
            if row.methods.is_empty() && row.remark.is_empty() {
                wrong.push(format!("{}: no method, and no reason", row.place));
            }
            if row.tests.is_empty() != row.methods.is_empty() {
                wrong.push(format!("{}: methods are tested", row.place));
            }
            let place = row.place.clone();
            if rows.insert((*name).to_owned(), row).is_some() {
                wrong.push(format!("{place}: `{name}` is said twice"));
            }
        }
    }
    rows
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
/// Whether the text has the word, not as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word)
    })
}

/// Whether the sources have a public function of this name, or a row of a table that makes one.
fn has_function(sources: &str, name: &str) -> bool {
    let declared = ["(", "<"].iter().any(|end| sources.contains(&format!("pub fn {name}{end}")));
    let variant = sources.contains(&format!("\n    {name},\n"));
    let row = |line: &str| {
        line.trim().ends_with(';')
            && line.trim().strip_prefix(name).is_some_and(|r| r.starts_with(' '))
    };
    declared
        || variant
        || sources.lines().any(row)
        || sources.lines().any(|line| {
            let words = line.trim().strip_suffix(';').unwrap_or_default();
            let plain = !words.is_empty() && words.chars().all(|c| is_word(c) || c == ' ');
            plain && words.split(' ').rev().skip(1).any(|word| word == name)
        })
}

fn check_row(name: &str, row: &Row, sources: &str, wrong: &mut Vec<String>) {
    let mut tested = String::new();
    for test in &row.tests {
        let found = test.split_once("::").filter(|(file, function)| {
            let path = root().join("builder/tests/all").join(format!("{file}.rs"));
            let text = std::fs::read_to_string(path).unwrap_or_default();
            tested.push_str(&text);
            let declared = text.find(&format!("\nfn {function}()"));
            declared.is_some_and(|at| text[..at].rsplit("\n\n").next().unwrap().contains("#[test]"))
        });
        if found.is_none() {
            wrong.push(format!("{}: `{name}`: there is no test `{test}`", row.place));
        }
    }
    for method in &row.methods {
        let (of, function) = method.split_once("::").unwrap_or(("", method));
        let exists = match of {
            "ops" => {
                sources.contains(&format!("impl {function} for Value"))
                    || sources.contains(&format!("    {function} {} ", function.to_lowercase()))
            }
            // A type's method, or a function of a module.
            _ => has_function(sources, function.rsplit("::").next().unwrap()),
        };
        if !exists {
            wrong.push(format!("{}: `{name}`: there is no `{method}`", row.place));
        }
        let function = function.rsplit("::").next().unwrap();
        if of != "ops" && !has_word(&tested, function) {
            wrong.push(format!("{}: `{name}`: its tests do not name `{method}`", row.place));
        }
    }
}

fn table(families: &[(String, Vec<String>)], rows: &BTreeMap<String, Row>) -> String {
    let mut table = String::new();
    let code = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
        items.join(", ").replace('|', "\\|")
    };
    for (family, names) in families {
        let mut title = family.clone();
        title[..1].make_ascii_uppercase();
        // Names in headings are code.
        let title = title.replace("XlaBuilderFriend", "`XlaBuilderFriend`");
        let title = title.replace("of XlaBuilder", "of `XlaBuilder`");
        let _ = write!(table, "\n### {title}\n\n| XLA | Rust | test |\n|---|---|---|\n");
        for name in names {
            let Some(row) = rows.get(name) else { continue };
            let mut rust = code(&row.methods);
            if !row.remark.is_empty() {
                let parting = if rust.is_empty() { "" } else { "; " };
                let _ = write!(rust, "{parting}{}", row.remark.replace('|', "\\|"));
            }
            let (name, tests) = (code(std::slice::from_ref(name)), code(&row.tests));
            let _ = writeln!(table, "| {name} | {rust} | {tests} |");
        }
    }
    table.push('\n');
    table
}

#[test]
fn every_name_has_a_method_and_a_test() {
    let mut wrong = Vec::new();
    let families = families();
    let rows = rows(&mut wrong);
    let sources: String = files(&root().join("builder/src"), "rs").iter().map(read).collect();
    let known: BTreeSet<&String> = families.iter().flat_map(|(_, names)| names).collect();
    for (name, row) in &rows {
        if !known.contains(name) {
            wrong.push(format!("{}: XLA has no `{name}`", row.place));
        }
        check_row(name, row, &sources, &mut wrong);
    }
    for (family, names) in &families {
        let missing: Vec<&String> = names.iter().filter(|name| !rows.contains_key(*name)).collect();
        if !missing.is_empty() {
            wrong.push(format!("`{family}`: no line for {missing:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    written(&table(&families, &rows));
}

/// 11 operators and 178 functions, 43 methods, 25 of the friend; and the library's.
#[test]
fn the_list_is_whole() {
    let families = families();
    let count = |of: fn(&str) -> bool| {
        let families = families.iter().filter(|(family, _)| of(family));
        families.map(|(_, names)| names.len()).sum::<usize>()
    };
    assert_eq!(count(|family| family == "operators"), 10 + 1);
    assert_eq!(count(|family| family == "methods of XlaBuilder"), 43);
    assert_eq!(count(|family| family == FRIEND), 25);
    assert_eq!(count(|family| family == LIBRARY), 122);
    assert_eq!(count(|family| family != LIBRARY), 11 + 182 + 43 + 25);
    let names: Vec<&String> = families.iter().flat_map(|(_, names)| names).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name stands twice");
}

/// docs/builder.md has the table.
fn written(table: &str) {
    let text = read("docs/builder.md");
    let (before, rest) = text.split_once(TABLE[0]).unwrap();
    let (found, after) = rest.split_once(TABLE[1]).unwrap();
    if found == table {
        return;
    }
    if std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1") {
        let text = [before, TABLE[0], table, TABLE[1], after].concat();
        std::fs::write(root().join("docs/builder.md"), text).unwrap();
        return;
    }
    panic!("the table of docs/builder.md is not what builder/names says; ETALON_BLESS=1 writes it");
}
