//! Programs that JAX wrote, as bytecode and as text: both readers give the same.
mod common;

use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn bytecode_and_text_are_the_same() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/stablehlo");
    let folder = std::env::var("ETALON_STABLEHLO").unwrap_or_else(|_| default.to_owned());
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    paths.sort();
    let mut differences = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "mlirbc")) {
        let bytes = std::fs::read(path).unwrap();
        let mut bytecode = match stablehlo::read(&bytes) {
            Ok(program) => program,
            Err(error) => {
                differences.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        let Ok(text) = std::fs::read_to_string(path.with_extension("mlir")) else { continue };
        let mut text_program = match stablehlo::read(text.as_bytes()) {
            Ok(program) => program,
            Err(error) => {
                differences.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        // An op of CHLO is a composite in bytecode.
        if text.contains("chlo.") {
            continue;
        }
        let mut canonical = common::Canonical::default();
        canonical.program(&mut bytecode);
        canonical.program(&mut text_program);
        if let Some(difference) = common::difference(&bytecode, &text_program) {
            differences.push(format!("{}:\n{difference}", path.display()));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
