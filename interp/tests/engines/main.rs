//! Comparison of the engines with each other, and of planned with used memory.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
mod chains;
mod convolutions;
mod cse;
mod decompositions;
mod fast;
mod folds;
mod fusion;
mod generate;
mod indexing;
mod invariants;
mod kernels;
mod linear;
mod loop_steps;
mod narrow;
mod padding;
mod plans;
mod products;
mod side_by_side;
mod small_loops;
mod steps;
mod sums;
mod types;
mod unrolled;
mod windows;

use generate::Generator;
use hlo::{ArrayShape, Literal, Module, Scalar, Verified};
use interp::{CompileOptions, Engine, Executable, Hooks, RunOptions};
use proptest::prelude::*;

pub(crate) fn verified(text: &str) -> Verified {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.verify().unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}
pub(crate) fn compiled(text: &str, engine: Engine) -> Executable {
    let options = CompileOptions::default().engine(engine);
    Executable::compile(verified(text), &options).unwrap()
}

/// The result and costs of a run.
#[derive(Debug)]
struct Run {
    result: Literal,
    steps: u64,
    peak_bytes: usize,
}

fn run(executable: &Executable, arguments: &[Literal], options: &RunOptions) -> Run {
    let mut machine = executable.start(None, arguments, options).unwrap();
    let result = machine.finish().unwrap_or_else(|error| panic!("{error}"));
    Run { result, steps: machine.steps(), peak_bytes: machine.peak_bytes() }
}

/// Returns an array whose elements differ.
pub(crate) fn ramp(shape: &ArrayShape, seed: i64) -> Literal {
    let mut bytes = Vec::new();
    for i in 0..shape.element_count().unwrap() {
        let value = Scalar::Signed(seed + 3 * i64::try_from(i).unwrap() - 4);
        let mut element = vec![0; shape.ty.storage_bytes()];
        value.convert(hlo::ElementType::S64, shape.ty).write(shape.ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(shape.clone(), &bytes).unwrap()
}

/// Returns a value in which all NaNs are the same: neither their sign nor their payload is
/// specified.
pub(crate) fn canonical(literal: &Literal) -> Literal {
    if let Some(elements) = literal.elements() {
        return Literal::tuple(elements.iter().map(canonical).collect());
    }
    let Some(shape) = literal.array_shape() else { return literal.clone() };
    let (ty, mut bytes) = (shape.ty, literal.bytes().to_vec());
    let same = |x: f64| if x.is_nan() { f64::NAN } else { x };
    for (i, element) in bytes.chunks_exact_mut(ty.storage_bytes()).enumerate() {
        match literal.get(i) {
            Scalar::Float(x) if x.is_nan() => Scalar::Float(f64::NAN).write(ty, element),
            Scalar::Complex(re, im) => Scalar::Complex(same(re), same(im)).write(ty, element),
            Scalar::Float(_) | Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => {}
        }
    }
    Literal::from_bytes(shape.clone(), &bytes).unwrap()
}

/// Runs a module in each engine, observed and not: the same bits, the same fuel, unchanged
/// arguments, and no more memory than planned; an observed run of `exact` keeps values that the
/// plan has in tiles.
pub(crate) fn agree(text: &str) -> Literal {
    let module = verified(text);
    let parameters = module.module().entry().program_shape().parameters;
    let arguments: Vec<Literal> =
        (parameters.iter().zip(1..)).map(|(p, i)| ramp(p.array().unwrap(), i)).collect();
    agree_on(text, &arguments)
}
/// As [`agree`], with these arguments.
pub(crate) fn agree_on(text: &str, arguments: &[Literal]) -> Literal {
    let reference = compiled(text, Engine::Reference);
    let exact = compiled(text, Engine::Exact);
    let copies: Vec<Literal> = arguments.iter().map(Literal::copied).collect();
    let options = RunOptions::default();
    let observed = RunOptions::default().hooks(Hooks::new().observe(|_| {}));
    let expected = run(&reference, arguments, &options);
    for (executable, options, is_planned, what) in [
        (&reference, &observed, true, "reference, observed"),
        (&exact, &options, true, "exact"),
        (&exact, &observed, false, "exact, observed"),
        (&exact, &options, true, "exact, again"),
    ] {
        let found = run(executable, arguments, options);
        assert_eq!(
            canonical(&found.result),
            canonical(&expected.result),
            "{what}\n{text}\n{}",
            executable.plan()
        );
        // Only what an inlined computation computes for nothing is not computed.
        let is_fewer = executable.engine() == Engine::Exact && found.steps < expected.steps;
        assert!(is_fewer || found.steps == expected.steps, "fuel, {what}\n{text}");
        let planned = executable.planned_bytes();
        assert!(
            !is_planned || found.peak_bytes <= planned,
            "{what}: {planned} bytes are planned, {} are used\n{text}\n{}",
            found.peak_bytes,
            executable.plan()
        );
        assert_eq!(arguments, &*copies, "arguments change: {what}\n{text}");
    }
    expected.result
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn engines_agree_on_random_modules(choices in prop::collection::vec(any::<u8>(), 100..900)) {
        agree(&Generator::module(&choices));
    }
}
