//! Partitioned programs of XLA, compared with the values that each device had.
//!
//! `ETALON_CORPUS=folder` names a folder with `spmd/NAME.hlo` and `spmd/NAME.npz`: arguments
//! `d<device>_in<i>` and results `d<device>_out<i>`.

use crate::common::program::Program;
use crate::threads;
use hlo::literal::npz;
use hlo::{Literal, Module, Shape};
use std::path::{Path, PathBuf};

/// Fails unless every device has the recorded result, within a fraction of the largest element.
fn check(path: &Path, share: f64) {
    let text = std::fs::read_to_string(path).unwrap();
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    let arrays = npz::read(std::fs::File::open(path.with_extension("npz")).unwrap()).unwrap();
    let shape = verified.module().entry().program_shape();
    let literal = |name: &str, shape: &Shape| {
        let array = arrays.iter().find(|array| array.name == name).unwrap();
        array.to_literal(shape.array().unwrap()).unwrap()
    };
    let program = Program::new(&verified);
    let devices = 0..program.session().grid().len();
    let inputs: Vec<Vec<Literal>> = (devices.clone())
        .map(|d| {
            let parameters = shape.parameters.iter().enumerate();
            parameters.map(|(i, shape)| literal(&format!("d{d}_in{i}"), shape)).collect()
        })
        .collect();
    let results =
        program.run(&inputs).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // The results of each rank are those of its devices, with the same bits.
    let ranks = |ranks| program.clone().with_ranks(ranks).run(&inputs).unwrap();
    assert_eq!(threads::on_ranks(3, ranks).concat(), results, "{}", path.display());
    for (d, result) in devices.zip(&results) {
        for (i, found) in result.leaves().into_iter().enumerate() {
            let expected = literal(&format!("d{d}_out{i}"), &found.shape());
            let scale =
                (0..expected.len()).map(|k| expected.get(k).as_f64().abs()).fold(0.0, f64::max);
            for k in 0..expected.len() {
                let (x, y) = (found.get(k).as_f64(), expected.get(k).as_f64());
                let near = x.to_bits() == y.to_bits() || (x - y).abs() <= share * scale;
                assert!(near, "{}: device {d}, out{i}[{k}]: {x}, expected {y}", path.display());
            }
        }
    }
}

#[test]
fn devices_agree_with_xla() {
    let Some(folder) = std::env::var_os("ETALON_CORPUS").map(PathBuf::from) else { return };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder.join("spmd"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "hlo"))
        .filter(|path| !path.to_string_lossy().contains(".global."))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        // Sums of a few hundred f32 in a different order.
        check(&path, 1e-5);
    }
}
