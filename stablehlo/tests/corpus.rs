//! Programs that JAX wrote, as bytecode and as text: both readers give the same.
mod common;

use std::path::PathBuf;

#[test]
fn bytecode_and_text_are_the_same() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/stablehlo");
    let folder = std::env::var("ETALON_STABLEHLO").unwrap_or_else(|_| default.to_owned());
    let files = walkdir::WalkDir::new(&folder).sort_by_file_name().into_iter();
    let paths: Vec<PathBuf> = files.flatten().map(walkdir::DirEntry::into_path).collect();
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
