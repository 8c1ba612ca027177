//! Runs each op in each element type for `cargo xtask speed`, which counts instructions under
//! valgrind.
//!
//! The arguments are the engine, and the kinds of cells if not all; without them, nothing runs.
//! For each cell it prints the kind, the elements by which its instructions are divided, the type
//! and the name, and valgrind writes a file with the instructions of a run.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]
#[expect(dead_code, reason = "the cases of `counts`")]
#[path = "../cases/mod.rs"]
mod cases;
mod rows;

use cases::prepare;
use interp::Engine;
use rows::cells;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The one thread of the pool: what it runs is counted.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    pool.expect("the first pool");
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [engine, kinds @ ..] = words.as_slice() else { return ExitCode::SUCCESS };
    let Some(engine) = Engine::ALL.into_iter().find(|known| known.name() == engine) else {
        eprintln!("usage: grid ENGINE [KIND...]");
        return ExitCode::from(2);
    };
    let has = |kind: &str| kinds.is_empty() || kinds.iter().any(|asked| asked == kind);
    for cell in cells().into_iter().filter(|cell| has(cell.kind)) {
        let prepared = prepare(&cell.text, engine, cell.range);
        // The first run takes memory that later ones use again, and makes tables.
        prepared.run();
        println!("{} {} {} {}", cell.kind, cell.elements, cell.ty, cell.name);
        request(ZERO);
        prepared.run();
        request(DUMP);
    }
    ExitCode::SUCCESS
}

/// Asks callgrind to write the counts to the next file.
const DUMP: u64 = 0x4354_0000;
/// Asks callgrind to forget the counts.
const ZERO: u64 = 0x4354_0001;

/// Asks callgrind, which sees a sequence of instructions that does nothing without it.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "a request is a sequence of instructions")]
fn request(number: u64) {
    let words = [number, 0, 0, 0, 0, 0];
    // SAFETY: the rotations of rdi add up to two turns, and the exchange changes no register;
    // valgrind reads the six words and writes rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") words.as_ptr(), inout("rdx") 0_u64 => _, out("rdi") _, options(nostack),
        );
    }
}
#[cfg(not(target_arch = "x86_64"))]
fn request(_: u64) {}
