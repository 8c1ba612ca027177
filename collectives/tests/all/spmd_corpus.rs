//! Unpartitioned SPMD programs, compared with the results of XLA:CPU.
//!
//! `ETALON_CORPUS=folder` names a folder with `spmd/NAME.global.hlo` and `spmd/NAME.npz`: arguments
//! `global_in<i>` and results `global_out<i>`.
use collectives::Session;
use hlo::literal::npz::{self, NpyArray};
use hlo::{ElementType, Literal, Module, Shape};
use interp::{CompileOptions, RunOptions};
use std::path::{Path, PathBuf};

fn literal(arrays: &[NpyArray], name: &str, shape: &Shape) -> Literal {
    let array = arrays.iter().find(|array| array.name == name).unwrap();
    array.to_literal(shape.array().unwrap()).unwrap()
}

/// The reason why a program's result is wrong.
fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).unwrap();
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    let arrays = path.with_extension("").with_extension("npz");
    let arrays = npz::read(std::fs::File::open(arrays).unwrap()).unwrap();
    let parameters = verified.module().entry().program_shape().parameters;
    let inputs: Vec<Literal> = (parameters.iter().enumerate())
        .map(|(i, shape)| literal(&arrays, &format!("global_in{i}"), shape))
        .collect();
    let session = Session::compile(verified, &CompileOptions::default());
    let session = session.map_err(|e| e.to_string())?;
    assert!(session.is_unpartitioned(), "it has no region");
    let output = session.run(&[inputs], &RunOptions::default()).map_err(|e| e.to_string())?;
    let result = &output.results[0];
    for (i, found) in result.leaves().into_iter().enumerate() {
        let expected = literal(&arrays, &format!("global_out{i}"), &found.shape());
        // Sums of a few hundred numbers in a different order.
        let share = match found.array_shape().unwrap().ty {
            ElementType::Bf16 => 0.02,
            _ => 1e-5,
        };
        let scale = (0..expected.len()).map(|k| expected.get(k).as_f64().abs()).fold(0.0, f64::max);
        for k in 0..expected.len() {
            let (x, y) = (found.get(k).as_f64(), expected.get(k).as_f64());
            if x.to_bits() != y.to_bits() && (x - y).abs() > share * scale {
                return Err(format!("out{i}[{k}] is {x}, expected {y}"));
            }
        }
    }
    Ok(())
}

#[test]
fn unpartitioned_programs_agree_with_xla() {
    let Some(folder) = std::env::var_os("ETALON_CORPUS").map(PathBuf::from) else { return };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder.join("spmd"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".global.hlo"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let bad: Vec<String> = (paths.iter())
        .filter_map(|path| Some(format!("{}: {}", path.display(), check(path).err()?)))
        .collect();
    assert!(bad.is_empty(), "{} of {}:\n{}", bad.len(), paths.len(), bad.join("\n"));
}
