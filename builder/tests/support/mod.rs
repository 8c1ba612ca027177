//! What the tests of built modules share.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests; not every test uses everything"
)]
use builder::{Builder, Value};
use hlo::{Literal, Verified};
use std::hash::{Hash, Hasher};

/// The module whose result is `root`; its text must read back as the same module.
///
/// With `ETALON_KEEP_MODULES=folder` the text is kept there, for another reader to check.
#[track_caller]
pub fn build(b: &Builder, root: Value<'_>) -> Verified {
    let module = b.build(root).unwrap();
    let text = module.module().to_string();
    let again = hlo::Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.to_string(), text);
    if let Some(folder) = std::env::var_os("ETALON_KEEP_MODULES") {
        let mut hasher = std::hash::DefaultHasher::new();
        // The style that leaves out no large constant.
        let text = module.module().print(hlo::Style::Short);
        text.hash(&mut hasher);
        let name = format!("{}_{:016x}.hlo", b.name(), hasher.finish());
        std::fs::write(std::path::Path::new(&folder).join(name), text).unwrap();
    }
    module
}

/// The result of the module whose root is `root`, on arguments as text.
#[track_caller]
pub fn evaluate(b: &Builder, root: Value<'_>, arguments: &[&str]) -> Literal {
    let arguments: Vec<Literal> = arguments.iter().map(|a| a.parse().unwrap()).collect();
    evaluate_on(b, root, &arguments)
}

/// The result of the module whose root is `root`.
#[track_caller]
pub fn evaluate_on(b: &Builder, root: Value<'_>, arguments: &[Literal]) -> Literal {
    let module = build(b, root);
    match interp::Interpreter::new(&module).run(arguments) {
        Ok(result) => result,
        Err(error) => panic!("{error}\n{}", module.module()),
    }
}

/// The result as text.
#[track_caller]
pub fn run(b: &Builder, root: Value<'_>, arguments: &[&str]) -> String {
    evaluate(b, root, arguments).to_string()
}

/// The elements of a real array, in row-major order.
#[track_caller]
pub fn reals(literal: &Literal) -> Vec<f64> {
    (0..literal.len()).map(|i| literal.get(i).as_f64()).collect()
}

/// Fails unless every element is within `relative` of its own size, or `absolute`, of what is wanted.
#[track_caller]
pub fn near(found: &Literal, wanted: &[f64], relative: f64, absolute: f64) {
    let found = reals(found);
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (i, (&x, &y)) in found.iter().zip(wanted).enumerate() {
        let same = x == y || (x.is_nan() && y.is_nan());
        let within = (x - y).abs() <= absolute.max(relative * y.abs());
        assert!(same || within, "element {i}: {x:e}, wanted {y:e}; all: {found:?}");
    }
}
