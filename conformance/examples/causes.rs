//! Prints how many cases of the suite each known cause explains:
//!
//! ```console
//! $ etalon conform --backend xla.so --suite full --json results.json
//! $ cargo run -p etalon-conformance --example causes -- conformance/tests/known/xla-cpu-pjrt.txt results.json
//! ```
#![expect(clippy::print_stdout, reason = "a program")]
use conformance::results::Results;
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = std::env::args().skip(1);
    let list = files.next().ok_or("usage: causes LIST RESULTS.json...")?;
    let known = conformance::Known::parse(&std::fs::read_to_string(list)?)?;
    let mut counts: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let results = Results::from_json(&std::fs::read_to_string(file)?)?;
        for record in results.records() {
            *totals.entry(record.verdict.name()).or_default() += 1;
            if record.verdict.is_bad() {
                let cause = known
                    .entry(record)
                    .map_or_else(|| format!("new: {}", record.name), |entry| entry.cause.clone());
                *counts.entry(cause).or_default().entry(record.verdict.name()).or_default() += 1;
            }
        }
    }
    let list = |counts: BTreeMap<&str, usize>| {
        let words: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        words.join(", ")
    };
    for (cause, counts) in counts {
        println!("| {cause} | {} | {} |", counts.values().sum::<usize>(), list(counts));
    }
    println!("\n{}", list(totals));
    Ok(())
}
