//! The programs of `tests/collectives/values`: the result of each device, derived by hand. In one
//! process, and over ranks.
//!
//! `// in d2: LITERAL` is an argument of device 2, `// in: LITERAL` one of every device;
//! `// out d2:` and `// out:` likewise are the leaves of a result, or all of it as a tuple.
//! `// error CODE LABEL` at the end of a line: the module is rejected there.

use crate::common::program::Program;
use crate::common::{self, verified};
use crate::threads;
use hlo::text::Style;
use hlo::{Literal, Module};
use interp::DeviceGrid;
use std::path::Path;

/// Returns a device and the text after its colon; `None` for all devices.
fn said<'a>(line: &'a str, word: &str) -> Option<(Option<usize>, &'a str)> {
    let rest = line.trim().strip_prefix("// ")?.strip_prefix(word)?;
    let (device, value) = rest.split_once(':')?;
    match device.trim().strip_prefix('d') {
        Some(device) => Some((Some(device.parse().ok()?), value)),
        None => device.trim().is_empty().then_some((None, value)),
    }
}

/// Returns the arguments or expected results of each device.
fn of_devices(text: &str, word: &str, devices: usize) -> Vec<Vec<Literal>> {
    let mut found = vec![Vec::new(); devices];
    for (device, value) in text.lines().filter_map(|line| said(line, word)) {
        let value: Literal = value.trim().parse().unwrap_or_else(|e| panic!("{value}: {e}"));
        match device {
            Some(device) => found[device].push(value),
            None => found.iter_mut().for_each(|list| list.push(value.clone())),
        }
    }
    found
}

/// Returns the leaves, as shapes and elements: -0 differs from 0, and all NaN are equal.
fn shown(values: &[Literal]) -> Vec<(String, Vec<String>)> {
    let elements = |leaf: &Literal| {
        let element = |i| format!("{:?}", leaf.get(i)).replace("-NaN", "NaN");
        (0..leaf.len()).map(element).collect()
    };
    let leaves = values.iter().flat_map(|value| value.leaves());
    leaves.map(|leaf| (format!("{:#}", leaf.shape()), elements(leaf))).collect()
}

fn holds(text: &str) {
    let module = verified(text);
    let devices = DeviceGrid::of(&module.module().config).len();
    let inputs = of_devices(text, "in", devices);
    let expected = of_devices(text, "out", devices);
    let printed = module.module().print(Style::Short);
    let program = Program::new(&module);
    let ranks = |ranks| program.clone().with_ranks(ranks).run(&inputs);
    let mut runs = vec![common::run(text, &inputs), common::run(&printed, &inputs)];
    // Each rank has the results of its devices, which are in the order of the ranks.
    let parts: collectives::Result<Vec<_>> =
        threads::on_ranks(devices.min(3), ranks).into_iter().collect();
    runs.push(parts.map(|parts| parts.concat()));
    for results in runs {
        let results = results.unwrap_or_else(|error| panic!("{error}\n{text}"));
        for (device, (found, expected)) in results.iter().zip(&expected).enumerate() {
            assert!(!expected.is_empty(), "nothing is said of device {device}\n{text}");
            let leaves = shown(std::slice::from_ref(found));
            assert_eq!(leaves, shown(expected), "device {device} gives {found}\n{text}");
        }
    }
}

/// Fails unless the module is rejected on the line with the expectation, with this code and label.
fn refused(text: &str) {
    let errors = match Module::parse(text).unwrap().verify() {
        Ok(_) => panic!("it is not refused\n{text}"),
        Err(unverified) => unverified.into_parts().1.0,
    };
    let found: Vec<(usize, String)> = (errors.iter())
        .map(|error| {
            let before = &text[..error.span().unwrap().range().start];
            (before.matches('\n').count(), error.to_string())
        })
        .collect();
    let expected: Vec<(usize, &str)> = (text.lines().enumerate())
        .filter_map(|(i, line)| Some((i, line.split_once("// error ")?.1)))
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:?}\n{text}");
    for ((line, error), (at, words)) in found.iter().zip(expected) {
        let named = words.split_whitespace().all(|word| error.contains(word));
        assert!(*line == at && named, "{error} at line {line}, expected {words} at {at}\n{text}");
    }
}

fn file(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/collectives/values");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    for case in text.split("// -----\n") {
        match case.contains("// error ") {
            true => refused(case),
            false => holds(case),
        }
    }
}

#[test]
fn element_types() {
    file("types.hlo");
}
#[test]
fn edges() {
    file("edges.hlo");
}
#[test]
fn reducers() {
    file("reducers.hlo");
}
#[test]
fn transfers() {
    file("transfers.hlo");
}
#[test]
fn started_and_ended() {
    file("async.hlo");
}
#[test]
fn control_flow() {
    file("control.hlo");
}
#[test]
fn carried() {
    file("carried.hlo");
}
#[test]
fn started() {
    file("started.hlo");
}
#[test]
fn pipelined() {
    file("pipelined.hlo");
}
