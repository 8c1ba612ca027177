//! The programs of `tests/convert`, each with the HLO it becomes.
use crate::ops;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ext| ext == "mlir")).collect();
    files.sort();
    files
}

/// Returns the instructions of a program, computation by computation, without the functions of CHLO
/// and without parameters that have neither attributes nor dynamic sizes.
fn instructions(program: &str) -> String {
    let module = match crate::parse(program.as_bytes()) {
        Ok(module) => module,
        Err(error) => return format!("//= {error}\n"),
    };
    let text = module.print(hlo::text::Style::Short);
    let mut out = String::new();
    let mut skip = false;
    for line in text.lines() {
        let line = line.trim_end();
        if line.ends_with('{') {
            let name = line.trim_end_matches('{').trim();
            skip = super::functions::build(name).is_some();
        }
        let is_plain = line.contains(" parameter(") && line.ends_with(')') && !line.contains("<=");
        if !skip && !line.is_empty() && !is_plain {
            writeln!(out, "//= {line}").unwrap();
        }
    }
    if let Err(errors) = module.verify() {
        writeln!(out, "//= {errors}").unwrap();
    }
    out
}

/// The HLO of a case is in its last lines, after `//= `. `ETALON_BLESS=1` writes it: read what it
/// has written.
#[test]
fn programs_become_the_stated_modules() {
    let bless = std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1");
    let mut wrong = String::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut written = Vec::new();
        for case in text.split("// -----\n") {
            let (program, expected): (Vec<&str>, Vec<&str>) =
                case.split_inclusive('\n').partition(|line| !line.starts_with("//="));
            let found = instructions(&program.concat());
            if found != expected.concat() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                write!(wrong, "{name}:\n{}found\n{found}", program.concat()).unwrap();
            }
            written.push(program.concat() + &found);
        }
        if bless {
            std::fs::write(&path, written.join("// -----\n")).unwrap();
        }
    }
    assert!(bless || wrong.is_empty(), "{wrong}");
}

#[test]
fn every_op_has_a_program() {
    let texts: Vec<_> = files().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| text.split(|c| !is_name(c))).collect();
    let converted = ops::all().filter(|row| row.is_converted()).map(|row| row.name);
    let missing: Vec<_> = converted.filter(|name| !words.contains(name)).collect();
    assert!(missing.is_empty(), "no program in tests/convert has {missing:?}");
}
