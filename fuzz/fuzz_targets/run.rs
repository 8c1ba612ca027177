//! What the verifier accepts compiles and runs without a panic, within its limits, and the engines agree:
//! `cargo +nightly fuzz run run`.
#![no_main]
use conformance::{Tolerance, compare, random::Sequence};
use hlo::elem::Class;
use hlo::{ElementType, Literal, Module, Scalar, Shape, Verified};
use interp::{Code, CompileOptions, Engine, Executable, RunOptions};

mod words;

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    words::mutate(data, size, most, seed)
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(parsed) = Module::parse_bytes(bytes, Default::default()) else { return };
    let Ok(module) = parsed.module.verify() else { return };
    let Some(arguments) = arguments(&module) else { return };
    let tolerance = Tolerance::of_reference(module.module());
    let [exact, reference] = [Engine::Exact, Engine::Reference].map(|engine| run(&module, engine, &arguments));
    if let (Some(exact), Some(reference)) = (exact, reference) {
        let comparison = compare(&exact, &reference, &tolerance).expect("the engines return one shape");
        assert!(comparison.agrees(), "exact: {exact}\nreference: {reference}\n{comparison:?}");
    }
});

/// Returns the result of an engine, unless it refuses the module or stops at a limit.
fn run(module: &Verified, engine: Engine, arguments: &[Literal]) -> Option<Literal> {
    let options = RunOptions::default().fuel(100_000).max_memory(64 << 20);
    let executable = Executable::compile(module.clone(), &CompileOptions::default().engine(engine));
    match executable.and_then(|executable| executable.execute(arguments, &options)) {
        Ok(result) => Some(result),
        Err(error) => {
            assert!(!matches!(error.code(), Code::Internal { .. }), "{error}");
            None
        }
    }
}

/// Draws an argument for each parameter, unless they are large or have no values.
fn arguments(module: &Verified) -> Option<Vec<Literal>> {
    let shapes = module.module().entry().program_shape().parameters;
    let mut random = Sequence::new(1);
    shapes.iter().map(|shape| draw(&mut random, shape)).collect()
}

fn draw(random: &mut Sequence, shape: &Shape) -> Option<Literal> {
    match shape {
        Shape::Array(shape) => {
            shape.byte_count().filter(|&bytes| bytes < 1 << 20)?;
            let mut literal = Literal::zeros(shape.clone());
            for slot in literal.bytes_mut().chunks_exact_mut(shape.ty.storage_bytes()) {
                element(random, shape.ty).write(shape.ty, slot);
            }
            Some(literal)
        }
        Shape::Tuple(shapes) => {
            Some(Literal::tuple(shapes.iter().map(|shape| draw(random, shape)).collect::<Option<_>>()?))
        }
        Shape::Token => Some(Literal::token()),
        Shape::Opaque | Shape::Buffer(_) => None,
    }
}

/// Draws a small or a special number.
fn element(random: &mut Sequence, ty: ElementType) -> Scalar {
    const SPECIAL: [f64; 8] = [0.0, -0.0, f64::NAN, f64::INFINITY, -f64::INFINITY, 1e-40, -1.0, 3e38];
    let float = |random: &mut Sequence| match random.below(4) {
        0 => SPECIAL[random.below(8)],
        _ => 4.0 * random.unit() - 2.0,
    };
    match ty.class() {
        Class::Pred => Scalar::Pred(random.below(2) == 1),
        Class::Signed => Scalar::Signed(random.between(-3, 3)).round_to(ty),
        Class::Unsigned => Scalar::Unsigned(random.bits() >> [62, 0][random.below(2)]).round_to(ty),
        Class::Float => Scalar::Float(float(random)).round_to(ty),
        Class::Complex => Scalar::Complex(float(random), float(random)).round_to(ty),
    }
}
