//! Counts the random modules that find each planted bug:
//! `cargo run --release -p etalon-conformance --example planted`.
//!
//! Each bug is a change of the module that an engine runs; see `tests/all/planted.rs`. The last
//! line has the total.
#![expect(clippy::print_stdout, reason = "the output of the example")]
#[path = "../tests/all/planted.rs"]
mod planted;

use conformance::Engine;
use conformance::WriteError;
use conformance::backend::EngineBackend;
use conformance::fuzz::{Campaign, Compare, Event, Limit, Options, fuzz};
use conformance::generate;
use conformance::results::Verdict;
use planted::{Bug, Planted};
use std::time::{Duration, Instant};

/// The modules that run at a time, and the most of them.
const BATCH: u64 = 25;
const MOST: u64 = 20_000;

/// Runs random modules until one differs; returns its number, from 1.
fn first(bug: Bug) -> Result<Option<u64>, WriteError> {
    let exact = EngineBackend(Engine::Exact);
    let planted = Planted(bug).backends(1);
    let mut found = None;
    for start in (0..MOST).step_by(usize::try_from(BATCH).unwrap_or(1)) {
        let options = Options {
            seed: start,
            limit: Limit::Modules(BATCH),
            generate: generate::Options::default(),
            like: None,
            output: None,
            stop: std::sync::Arc::default(),
            compare: Compare::Bits,
        };
        let mut observer = |_: &Campaign, event: Event<'_>| {
            // A run that fails for another reason, such as its fuel, shows nothing.
            if let Event::Found(finding) = event
                && finding.record.verdict == Verdict::Differs
                && bug.plant(finding.subject.module.module()).1 > 0
            {
                found = found.or(Some(finding.seed + 1));
            }
        };
        fuzz(&planted, exact, &options, &mut observer)?;
        if found.is_some() {
            break;
        }
    }
    Ok(found)
}

fn main() -> Result<(), WriteError> {
    let mut total = Duration::ZERO;
    for bug in Bug::ALL {
        let start = Instant::now();
        let found = conformance::on_large_stack(|| first(bug))?;
        let time = start.elapsed();
        total += time;
        let name = format!("{bug:?}");
        match found {
            Some(number) => {
                println!("{name:<16} {number:>6} modules {:>8.2} s", time.as_secs_f64());
            }
            None => println!("{name:<16}   not found {:>8.2} s", time.as_secs_f64()),
        }
    }
    println!("{:<16} {:>14} {:>8.2} s", "all", "", total.as_secs_f64());
    Ok(())
}
