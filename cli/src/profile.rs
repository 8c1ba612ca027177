//! `--profile`: time and memory by opcode and by instruction.
use hlo::Opcode;
use interp::Event;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The number of instructions in the table.
const SHOWN: usize = 20;

/// The profile of a run. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// By computation and index of the instruction.
    instructions: BTreeMap<(String, usize), Row>,
}

#[derive(Debug, Clone, Default)]
struct Row {
    what: String,
    opcode: Option<Opcode>,
    count: u64,
    time: Duration,
    bytes: usize,
}

impl Row {
    fn add(&mut self, count: u64, time: Duration, bytes: usize) {
        self.count += count;
        self.time += time;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl Profile {
    /// Records an executed instruction.
    pub(crate) fn event(&self, event: &Event<'_>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (event.computation.name.to_string(), event.id.index());
        let row = seen.instructions.entry(key).or_insert_with(|| {
            let origin = event.op_name().map(|name| format!("  {name}")).unwrap_or_default();
            let what = format!("{}/{}{origin}", event.computation.name, event.name());
            Row { what, opcode: Some(event.opcode()), ..Row::default() }
        });
        row.add(1, event.own, event.bytes);
    }

    /// Returns both tables, sorted by time.
    pub(crate) fn table(&self) -> String {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut opcodes: BTreeMap<&str, Row> = BTreeMap::new();
        for row in seen.instructions.values() {
            let name = row.opcode.map_or("", Opcode::name);
            let sum = opcodes
                .entry(name)
                .or_insert_with(|| Row { what: name.to_owned(), ..Row::default() });
            sum.add(row.count, row.time, row.bytes);
        }
        let all: Duration = opcodes.values().map(|row| row.time).sum();
        let mut text = String::new();
        let rows: Vec<&Row> = opcodes.values().collect();
        section(&mut text, "by opcode", rows, all, usize::MAX);
        let rows: Vec<&Row> = seen.instructions.values().collect();
        section(&mut text, "by instruction", rows, all, SHOWN);
        text
    }
}

fn section(text: &mut String, title: &str, mut rows: Vec<&Row>, all: Duration, shown: usize) {
    rows.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.what.cmp(&b.what)));
    let written =
        writeln!(text, "{:>12} {:>6} {:>10} {:>14}  {title}", "ms", "%", "count", "bytes");
    written.expect("writing to a string does not fail");
    for row in rows.iter().take(shown) {
        let share = 100.0 * row.time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        let ms = row.time.as_secs_f64() * 1e3;
        writeln!(text, "{ms:12.3} {share:6.1} {:10} {:14}  {}", row.count, row.bytes, row.what)
            .expect("writing to a string does not fail");
    }
    if rows.len() > shown {
        writeln!(text, "{:>12} and {} more", "", rows.len() - shown)
            .expect("writing to a string does not fail");
    }
}
