//! The rules of XLA's algebraic simplifier, and a near miss of each.
use super::{as_a_whole, parsed};
use field::{Answer, equal};
use hlo::Verified;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns the modules of a text, by name.
fn modules(text: &str) -> BTreeMap<String, Verified> {
    let parts = text.split("HloModule ").skip(1);
    let parse = |part: &str| parsed(&format!("HloModule {part}"));
    parts.map(parse).map(|module| (module.module().name.to_string(), module)).collect()
}

/// Returns the answer as the table has it.
fn answer(modules: &BTreeMap<String, Verified>, first: &str, second: &str) -> &'static str {
    let Some(second) = modules.get(second) else { return "-" };
    let first = modules.get(first).unwrap_or(&modules["left"]);
    match equal(first, second, &as_a_whole()).unwrap() {
        Answer::Equal(evidence) => {
            assert!(evidence.probability() < 1e-9, "{evidence:?}");
            let has_parameters = !first.module().entry().parameters().is_empty();
            if has_parameters && !evidence.has_floats { "tested" } else { "equal" }
        }
        Answer::Different(_) => "different",
        Answer::Open(_) => "open",
    }
}

/// Returns the cells of a row of a table in Markdown.
fn cells(row: &str) -> Vec<String> {
    let row = row.replace("\\|", "\0").replace("\\*", "*");
    row.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

#[test]
fn each_rule_has_the_answer_of_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/equal/rules");
    let table = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut listed = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| [")) {
        let cells = cells(row);
        let [_, file, rule, _, expected, near_miss, ..] = &*cells else { panic!("{row}") };
        let file = format!("{}.hlo", file[1..].split(']').next().unwrap());
        let text = std::fs::read_to_string(folder.join(&file)).unwrap();
        assert_eq!(text.lines().next(), Some(&*format!("// {rule}")), "{file}");
        let modules = modules(&text);
        assert_eq!(answer(&modules, "left", "right"), expected, "{file}");
        assert_eq!(answer(&modules, "wrong_left", "wrong"), near_miss, "near miss in {file}");
        listed.insert(file);
    }
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = names.filter_map(|name| name.into_string().ok()).collect();
    assert_eq!(listed.len(), 251);
    assert_eq!(files.difference(&listed).collect::<Vec<_>>(), ["README.md"]);
}
