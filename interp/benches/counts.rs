//! Runs one kernel for `cargo xtask counts`, which counts the instructions of [`counted`] under
//! valgrind.
//!
//! The arguments are the name of a case, the number of elements and the engine; without arguments,
//! nothing runs.
#![expect(clippy::print_stderr, reason = "a command-line program")]
#[expect(dead_code, reason = "instructions are not divided by the size")]
mod cases;

use cases::{CASES, Prepared};
use interp::Engine;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The one thread of the pool: what it runs is counted.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    pool.expect("the first pool");
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [name, count, engine] = words.as_slice() else { return ExitCode::SUCCESS };
    let case = CASES.iter().find(|case| case.name == name);
    let engine = Engine::ALL.into_iter().find(|known| known.name() == engine);
    let (Some(case), Ok(count), Some(engine)) = (case, count.parse(), engine) else {
        eprintln!("usage: counts CASE ELEMENTS ENGINE");
        return ExitCode::from(2);
    };
    let prepared = case.prepare(count, engine);
    // The first run takes memory that later ones use again.
    prepared.run();
    counted(&prepared);
    ExitCode::SUCCESS
}

/// The run that is counted, under a name that valgrind finds.
#[inline(never)]
fn counted(prepared: &Prepared) {
    prepared.run();
}
