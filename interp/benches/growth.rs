//! How the times of kernels grow with sizes: `cargo bench -p etalon-interp --bench growth`.
//!
//! Prints a table: nanoseconds for an element (for a product of matrices, a multiplication; for a
//! factorization, the cube of its rows) of arrays of 10^3 to 10^7 elements.
#![expect(clippy::print_stdout, reason = "the table is the result")]
mod cases;

use cases::{CASES, Prepared};
use interp::Engine;
use std::time::{Duration, Instant};

const SIZES: [u32; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// The time for each measurement.
const LONG: Duration = Duration::from_millis(200);

fn main() {
    for (name, engine) in [("exact", Engine::Exact), ("fast", Engine::Fast)] {
        println!("| `{name}` | 10^3 | 10^4 | 10^5 | 10^6 | 10^7 |\n|---|---|---|---|---|---|");
        for case in CASES {
            let time = |n: u32| {
                let prepared = case.prepare(usize::try_from(n).expect("it is small"), engine);
                1e9 * least(&prepared) / f64::from(n).powf(case.power)
            };
            let cells: Vec<String> = SIZES.iter().map(|&n| format!("{:.3}", time(n))).collect();
            println!("| {} | {} |", case.name, cells.join(" | "));
        }
    }
}

/// Returns the seconds of the fastest run.
fn least(prepared: &Prepared) -> f64 {
    let (begin, mut least) = (Instant::now(), Duration::MAX);
    // The first run takes memory that later ones use again.
    prepared.run();
    while least == Duration::MAX || begin.elapsed() < LONG {
        let start = Instant::now();
        prepared.run();
        least = least.min(start.elapsed());
    }
    least.as_secs_f64()
}
