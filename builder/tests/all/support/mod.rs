//! What the tests of built modules share.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::float_cmp,
    clippy::unwrap_used,
    reason = "tests; not every test uses everything"
)]
use builder::{Builder, IntoLiteral, Value};
use hlo::Literal;

pub mod gradient;
mod module;
pub use module::{build, evaluate_on};

/// The result of the module whose root is `root`, on arguments as text.
#[track_caller]
pub fn evaluate(b: &Builder, root: Value<'_>, arguments: &[&str]) -> Literal {
    let arguments: Vec<Literal> = arguments.iter().map(|a| a.parse().unwrap()).collect();
    evaluate_on(b, root, &arguments)
}

/// The result as text.
#[track_caller]
pub fn run(b: &Builder, root: Value<'_>, arguments: &[&str]) -> String {
    evaluate(b, root, arguments).to_string()
}

/// Fails unless the module whose root is `root` is refused, and the message says so.
#[track_caller]
pub fn refused(b: &Builder, root: Value<'_>, expected: &str) {
    let message = b.build(root).unwrap_err().to_string();
    assert!(message.contains(expected), "{message}");
}

/// Fails unless what `make` makes of a constant is refused, and the message says so.
#[track_caller]
pub fn refuses_on(
    constant: impl IntoLiteral,
    expected: &str,
    make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>,
) {
    let b = Builder::new("refused");
    let made = make(&b, b.constant(constant));
    refused(&b, made, expected);
}

/// The text of the module whose root is `root`.
#[track_caller]
pub fn text(b: &Builder, root: Value<'_>) -> String {
    build(b, root).module().to_string()
}

/// Fails unless the text contains all of these.
#[track_caller]
pub fn contains(text: &str, expected: &[&str]) {
    for expected in expected {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
}

/// The elements of a real array, in row-major order.
#[track_caller]
pub fn reals(literal: &Literal) -> Vec<f64> {
    (0..literal.len()).map(|i| literal.get(i).as_f64()).collect()
}

/// Fails unless every element is within `relative` of its own size, or `absolute`, of what is
/// expected.
#[track_caller]
pub fn near(found: &Literal, expected: &[f64], relative: f64, absolute: f64) {
    let found = reals(found);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (i, (&x, &y)) in found.iter().zip(expected).enumerate() {
        let same = x == y || (x.is_nan() && y.is_nan());
        let within = (x - y).abs() <= absolute.max(relative * y.abs());
        assert!(same || within, "element {i}: {x:e}, expected {y:e}; all: {found:?}");
    }
}

/// The result of a module that reaches outside of itself.
#[track_caller]
pub fn run_with_hooks(
    module: hlo::Verified,
    hooks: interp::Hooks,
    arguments: &[Literal],
) -> Literal {
    let executable = interp::Executable::compile(module, &interp::CompileOptions::default());
    executable.unwrap().execute(arguments, &interp::RunOptions::default().hooks(hooks)).unwrap()
}
