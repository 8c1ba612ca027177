//! The table of `etalon explain`: error numbers, comments of the specification, examples of ops,
//! modules that break a rule, and errors, as the sources and the tests have them. The command reads
//! the table, so that its package needs no file of another one, and no crate for its error numbers
//! alone.
use crate::{Result, files, read};
use hlo::Opcode;
use hlo::op::AsyncRole;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) const TABLE: &str = "cli/src/explanations/table.txt";
const HEAD: &str = "# What `etalon explain` shows. `cargo xtask status` writes this file.\n";
/// The start of an entry, before its kind and its name.
const ENTRY: &str = "\n=== ";

/// Returns the table.
pub(crate) fn table(root: &Path) -> Result<String> {
    let pages = texts(root, "interp/spec/src", "rs")?;
    let ops = texts(root, "tests/ops", "hlo")?;
    let rejected = texts(root, "hlo/tests/reject", "hlo")?;
    let shown = texts(root, "tests/cli", "stderr")?;
    let sources = files(root, "rs").iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let kinds = [
        ("number", numbers(&sources)),
        ("page", pages.iter().map(|(name, text)| (name.as_str(), comment(text, "//!"))).collect()),
        ("about", abouts(&ops, &pages)),
        ("example", examples(&ops)),
        ("rule", rules(rejected.values().chain(ops.values()))),
        ("error", errors(shown.values())),
    ];
    let mut table = HEAD.to_owned();
    for (kind, entries) in kinds {
        for (name, text) in entries {
            let text = text.trim_end();
            if text.contains(ENTRY.trim_end()) {
                return Err(format!("{kind} {name}: the text has a line that begins an entry"));
            }
            let _ = write!(table, "{ENTRY}{kind} {name}\n{text}\n");
        }
    }
    Ok(table)
}

/// Entries of a kind, by name.
type Entries<'a> = BTreeMap<&'a str, String>;

/// Returns the texts of the files in a folder by their names without extension.
fn texts(root: &Path, folder: &str, extension: &str) -> Result<BTreeMap<String, String>> {
    let named = |path: &Path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, read(path)?))
    };
    files(&root.join(folder), extension).iter().map(|path| named(path)).collect()
}

/// Returns the explanations of the numbers in lists of error codes: the comments above each.
fn numbers(sources: &[String]) -> Entries<'_> {
    let mut found = Entries::new();
    let lists = sources.iter().flat_map(|text| text.split("error_codes! {\n").skip(1));
    for list in lists.map(|list| list.split("\n}").next().unwrap_or(list)) {
        let mut comment: Vec<&str> = Vec::new();
        for line in list.lines().map(str::trim) {
            if let Some(text) = line.strip_prefix("///") {
                comment.push(text.strip_prefix(' ').unwrap_or(text));
                continue;
            }
            let number = line.strip_prefix('"').and_then(|rest| rest.split('"').next());
            if let Some(number) = number.filter(|number| is_number(number)) {
                found.insert(number, comment.join("\n"));
            }
            comment.clear();
        }
    }
    found
}

fn is_number(text: &str) -> bool {
    text.strip_prefix('E').is_some_and(|n| n.len() == 4 && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the comment at the start of a file.
fn comment(text: &str, mark: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix(mark));
    let lines: Vec<&str> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    without_links(&lines.join("\n"))
}

/// Returns the text with the names of links to Rust items alone: `[x](super::x)` is `x`.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](super::");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(open) = plain.rfind('[') {
            plain.remove(open);
        }
        plain.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    plain
}

/// Returns the modules of a file of tests, without the comments before each.
fn cases(text: &str) -> impl Iterator<Item = &str> {
    text.split("// -----\n").filter_map(|case| Some(&case[case.find("HloModule")?..]))
}

/// Returns the comments at the start of the tests of the ops that no page of the specification
/// names.
fn abouts<'a>(ops: &'a BTreeMap<String, String>, pages: &BTreeMap<String, String>) -> Entries<'a> {
    // A page names its ops in its first line or in the rows of its table.
    let is_title = |(i, line): (usize, &str)| i == 0 || line.starts_with("//! | `");
    let titles: String = pages
        .values()
        .flat_map(|text| text.lines().enumerate().filter(|line| is_title(*line)))
        .map(|(_, line)| line)
        .collect();
    let has_page = |name: &str| titles.contains(&format!("`{name}`"));
    let names = Opcode::ALL.iter().map(|opcode| opcode.name()).filter(|name| !has_page(name));
    let named = names.filter_map(|name| Some((name, comment(ops.get(name)?, "//"))));
    named.filter(|(_, text)| !text.is_empty()).collect()
}

/// Returns an example of each op. Ops of queues, which have no test with a result, have their first
/// module without its errors.
fn examples(ops: &BTreeMap<String, String>) -> Entries<'_> {
    let of = |&opcode: &Opcode| {
        let without_result = || {
            let first = cases(ops.get(opcode.name())?).next()?;
            let lines = first.lines().map(|line| line.split(" // error").next().unwrap_or(line));
            Some(lines.filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n"))
        };
        let text = example(ops, opcode).map(str::to_owned).or_else(without_result)?;
        Some((opcode.name(), text))
    };
    Opcode::ALL.iter().filter_map(of).collect()
}

/// Returns a test of the op that has a result: the one that is called `OP_example`, or the first
/// one of the most common types. What starts an operation has the example of what ends it.
fn example(ops: &BTreeMap<String, String>, opcode: Opcode) -> Option<&str> {
    const COMMON: [&str; 2] = [" f32[", " s32["];
    let examples = |opcode: Opcode| {
        let cases = ops.get(opcode.name()).into_iter().flat_map(|text| cases(text));
        cases.filter(|case| !case.contains("// error ") && case.contains("// out"))
    };
    let is_done = |done: &&Opcode| done.async_role() == Some(AsyncRole::Done(opcode));
    let done = Opcode::ALL.iter().find(is_done).copied();
    let named = || examples(opcode).find(|case| case.contains("_example\n"));
    let of_types = |kind| examples(opcode).find(|case| case.contains(kind));
    named()
        .or_else(|| COMMON.into_iter().find_map(of_types))
        .or_else(|| examples(opcode).next())
        .or_else(|| examples(done?).next())
}

/// Returns the first module that breaks the rule of each label.
fn rules<'a>(files: impl Iterator<Item = &'a String>) -> Entries<'a> {
    let mut found = Entries::new();
    for case in files.flat_map(|text| cases(text)) {
        let expected = case.lines().find_map(|line| line.split_once("// error "));
        let label = expected.and_then(|(_, error)| error.split_whitespace().nth(1));
        if let Some(label) = label {
            found.entry(label).or_insert_with(|| case.to_owned());
        }
    }
    found
}

/// Returns the shortest error of each number that has a place in a module.
fn errors<'a>(files: impl Iterator<Item = &'a String>) -> Entries<'a> {
    const START: &str = "error[";
    let mut found = Entries::new();
    for text in files {
        let mut of_file = BTreeMap::new();
        for (at, _) in text.match_indices(START) {
            let Some((number, _)) = text[at + START.len()..].split_once(']') else { continue };
            of_file.entry(number).or_insert(&text[at..]);
        }
        for (number, rest) in of_file {
            let error = rest.split("\n\n").next().unwrap_or(rest).trim_end();
            let shortest = found.get(number).map_or(usize::MAX, String::len);
            if error.contains(" --> ") && error.len() < shortest {
                found.insert(number, error.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_names() {
        let text = "//! See [`a`](super::a),\n//!  [b](https://b).\nfn f() {}";
        assert_eq!(comment(text, "//!"), "See `a`,\n [b](https://b).");
    }

    #[test]
    fn numbers_have_the_comments_above_them() {
        let source = "hlo::error_codes! {
    /// All.
    pub enum Code {
        /// First.
        ///
        /// More.
        \"E0701\" \"{a} is wrong\"
        One { a: String },
        #[error(\"{0}\")]
        \"E0702\" \"x\"
        Two,
    }
}
const E: &str = \"E0703\";
"
        .to_owned();
        let all = [("E0701", "First.\n\nMore."), ("E0702", "")];
        let sources = [source];
        assert_eq!(numbers(&sources), all.map(|(number, text)| (number, text.to_owned())).into());
    }

    #[test]
    fn the_shortest_error_with_a_place_is_shown() {
        let texts = ["error[E1]: long\n --> a", "error[E1]: x\n --> a\n\nerror[E2]: y"];
        let texts = texts.map(str::to_owned);
        let found = errors(texts.iter());
        assert_eq!(found, Entries::from([("E1", "error[E1]: x\n --> a".to_owned())]));
    }

    #[test]
    fn each_opcode_has_an_example() {
        let root = crate::root();
        let ops = texts(&root, "tests/ops", "hlo").unwrap();
        let without = |opcode: &&Opcode| example(&ops, **opcode).is_none();
        let without: Vec<&str> = Opcode::ALL.iter().filter(without).map(|op| op.name()).collect();
        assert_eq!(without, ["infeed", "outfeed"]);
        assert!(examples(&ops)["infeed"].contains("infeed(t)\n}"));
    }
}
