//! The memory of a run is what its plan claims: a counting allocator measures the peak of the heap.
//!
//! `ops.hlo` has modules with arrays of about a megabyte, at least one for each op that works in
//! memory of its own. The files in `tests/ops` run too.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
mod counting;

use hlo::{ArrayShape, ElementType, Literal, Module, Shape, Verified};
use interp::cost::Costs;
use interp::{CompileOptions, Engine, Executable, RunOptions};
use std::path::Path;

/// Threads of a run: each has blocks and lists of its own.
const THREADS: usize = 4;

/// Bytes beyond the claim: frames, steps, queues of threads, and the blocks that a thread works on.
const BEYOND: usize = (THREADS + 1) * (96 << 10);

/// The reference engine takes seconds for more. Its steps take the same memory for smaller arrays;
/// kernels differ by size.
const REFERENCE_FLOPS: f64 = 5e7;

/// Enough for the files in `tests/ops`; with random arguments, some of their loops do not end.
const FUEL: u64 = 1 << 16;

/// An array with elements that repeat no pattern. Floats are near 1, integers small.
fn argument(shape: &ArrayShape, mut state: u32) -> Literal {
    let mut array = Literal::zeros(ArrayShape { dynamic: None, ..shape.clone() });
    let (ty, width) = (shape.ty, shape.ty.storage_bytes());
    for slot in array.bytes_mut().chunks_exact_mut(width) {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let small = f64::from(state >> 22) / 1024.0 + 0.5;
        let value = match ty.is_float() || ty.is_complex() {
            true => hlo::Scalar::Float(small).convert(ElementType::F64, ty),
            false => hlo::Scalar::Signed(i64::from(state >> 31)).convert(ElementType::S64, ty),
        };
        value.write(ty, slot);
    }
    array
}

fn value(shape: &Shape, seed: u32) -> Option<Literal> {
    match shape {
        Shape::Array(array) => Some(argument(array, seed)),
        Shape::Tuple(elements) => {
            Some(Literal::tuple(elements.iter().map(|e| value(e, seed)).collect::<Option<_>>()?))
        }
        Shape::Token => Some(Literal::token()),
        Shape::Opaque | Shape::Buffer(_) => None,
    }
}

/// A module with its arguments, and the bytes of these.
struct Prepared {
    verified: Verified,
    arguments: Vec<Literal>,
    held: usize,
}

impl Prepared {
    /// Returns `None` for a module that is wrong, or whose arguments cannot be made.
    fn of(text: &str) -> Option<Self> {
        let verified = Module::parse(text).ok()?.verify().ok()?;
        let shapes = verified.module().entry().program_shape().parameters;
        let before = counting::in_use();
        let arguments = shapes.iter().zip(1..).map(|(shape, seed)| value(shape, seed));
        let arguments = arguments.collect::<Option<_>>()?;
        let held = counting::in_use().saturating_sub(before);
        Some(Self { verified, arguments, held })
    }
    /// Compiles and runs it; `None` if it cannot be compiled.
    fn measure(
        &self,
        fuel: u64,
        engine: Engine,
        limit: impl Fn(usize) -> Option<usize>,
    ) -> Option<Measured> {
        let options = CompileOptions::default().engine(engine);
        let executable = Executable::compile(self.verified.clone(), &options).ok()?;
        let claim = executable.planned_bytes();
        let mut options = RunOptions::default().fuel(fuel);
        options.max_memory = limit(claim);
        let before = counting::in_use();
        counting::start();
        let result = executable.execute(&self.arguments, &options);
        let peak = counting::peak().saturating_sub(before) + self.held;
        Some(Measured { claim, peak, error: result.err().map(|error| error.number()) })
    }
}

/// A run: what it claims, the peak of the heap while it runs with its arguments, and the number of
/// its error.
struct Measured {
    claim: usize,
    peak: usize,
    error: Option<&'static str>,
}

/// The modules of `ops.hlo`, and of the files in `tests/ops`.
fn modules() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |file: &Path| {
        let text = std::fs::read_to_string(file).unwrap();
        for (i, module) in text.split("// -----").enumerate() {
            let name = file.file_name().unwrap().to_string_lossy();
            let first = module.lines().find(|l| l.starts_with("ENTRY") || l.starts_with("HloM"));
            let first: String = first.unwrap_or_default().chars().take(40).collect();
            all.push((format!("{name} {i} {first}"), module.to_owned()));
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    add(&root.join("tests/memory/ops.hlo"));
    let mut files: Vec<_> = std::fs::read_dir(root.join("../tests/ops"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "hlo"))
        .collect();
    files.sort();
    for file in &files {
        add(file);
    }
    all
}

/// The variable that says which of the modules a process measures: each `SHARDS`th from this one.
const SHARD: &str = "ETALON_TEST_SHARD";

/// Processes that share the modules, since an allocator counts for one run at a time.
const SHARDS: usize = 2;

#[test]
fn no_run_takes_more_than_it_claims() {
    if let Ok(shard) = std::env::var(SHARD) {
        return measure_each(shard.parse().unwrap());
    }
    let this = std::env::current_exe().unwrap();
    let start = |shard: usize| {
        let mut process = std::process::Command::new(&this);
        process.args(["--exact", "no_run_takes_more_than_it_claims"]);
        process.env(SHARD, shard.to_string()).stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..SHARDS).map(start).collect();
    for process in processes {
        let ended = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && said.contains("1 passed"), "{said}");
    }
}

fn measure_each(shard: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().unwrap();
    let mut wrong = Vec::new();
    for (name, text) in modules().iter().skip(shard).step_by(SHARDS) {
        let is_of_ops = name.starts_with("ops.hlo");
        let fuel = if is_of_ops { u64::MAX } else { FUEL };
        let Some(module) = Prepared::of(text) else { continue };
        let flops = Costs::of(module.verified.module()).total().flops;
        for engine in Engine::ALL {
            if engine == Engine::Reference && flops > REFERENCE_FLOPS {
                continue;
            }
            // The first run fills what is kept for later ones.
            let mut check = |what: &str, limit: &(dyn Fn(usize) -> Option<usize> + Sync)| {
                let found = pool.install(|| module.measure(fuel, engine, limit))?;
                // The arguments are there before the run, whatever its limit.
                let allowed = limit(found.claim).unwrap_or(found.claim).max(module.held);
                if found.peak > allowed + BEYOND {
                    wrong.push(format!(
                        "{name}: {} with {what} takes {}, {allowed} are allowed",
                        engine.name(),
                        found.peak
                    ));
                }
                Some(found)
            };
            let Some(exact) = check("the claim", &|claim| Some(claim)) else { continue };
            // Each op of the specification is a step, which looks at no limit while it works: a run
            // within the claim is enough.
            let is_enough = engine == Engine::Reference && exact.error.is_none();
            let (free, half) = match is_enough {
                true => (None, None),
                false => (check("no limit", &|_| None), check("half", &|claim| Some(claim / 2))),
            };
            // A claim counts a loop's scalars twice where they are updated in place.
            let spare = if name.contains("looped") { 8 } else { 0 };
            let less = check("less", &|claim| claim.checked_sub(spare + 1));
            let error = |found: Option<Measured>| found.and_then(|found| found.error);
            let (claim, within) = (exact.claim, exact.error);
            let is_free_of_errors = is_enough || error(free).is_none();
            let numbers = [error(half), within, error(less)];
            // A result that shares the memory of an argument takes less than is claimed.
            let is_strict = is_of_ops && claim > 0;
            let is_refused = numbers[2] == Some("E0405") || numbers[2].is_none() && !is_strict;
            if is_free_of_errors && (within.is_some() || !is_refused) {
                let name_of = engine.name();
                wrong.push(format!("{name}: {name_of} {numbers:?} with a claim of {claim}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
