//! `--profile`: time and memory by opcode and by instruction.
use crate::roofline::Roofline;
use hlo::{Module, Opcode};
use interp::Event;
use interp::cost::{Cost, Costs};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The number of instructions in the table.
const SHOWN: usize = 20;

/// The profile of a run. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    seen: Arc<Mutex<Seen>>,
    /// The cost of one execution of each instruction, by computation and index.
    costs: Arc<BTreeMap<(String, usize), Cost>>,
    roofline: Option<Roofline>,
}

#[derive(Debug, Default)]
struct Seen {
    /// By computation and index of the instruction.
    instructions: BTreeMap<(String, usize), Row>,
}

#[derive(Debug, Clone, Default)]
struct Row {
    what: String,
    name: String,
    op_name: Option<String>,
    opcode: Option<Opcode>,
    count: u64,
    time: Duration,
    bytes: usize,
    /// The cost of all executions.
    cost: Cost,
}

impl Row {
    fn add(&mut self, count: u64, time: Duration, bytes: usize, cost: Cost) {
        self.count += count;
        self.time += time;
        self.bytes = self.bytes.saturating_add(bytes);
        self.cost.flops += cost.flops;
        self.cost.bytes += cost.bytes;
    }
    /// Returns operations and bytes of the cost in a second, in units of 10^9.
    fn rates(&self) -> (f64, f64) {
        let seconds = self.time.as_secs_f64().max(1e-9);
        (self.cost.flops / seconds / 1e9, self.cost.bytes / seconds / 1e9)
    }
    /// Returns the share of the roofline in percent.
    fn share(&self, roofline: Roofline) -> f64 {
        100.0 * roofline.seconds(self.cost) / self.time.as_secs_f64().max(1e-9)
    }
}

impl Profile {
    /// Returns the profile of a module.
    pub(crate) fn of(module: &Module, roofline: Option<Roofline>) -> Self {
        let costs = Costs::of(module).rows.into_iter().map(|row| {
            let computation = &module.computations[row.computation];
            ((computation.name.to_string(), row.instruction.index()), row.cost)
        });
        Self { costs: Arc::new(costs.collect()), roofline, ..Self::default() }
    }
    /// Records an executed instruction.
    pub(crate) fn event(&self, event: &Event<'_>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (event.computation.name.to_string(), event.id.index());
        let cost = self.costs.get(&key).copied().unwrap_or_default();
        let row = seen.instructions.entry(key).or_insert_with(|| {
            let origin = event.op_name().map(|name| format!("  {name}")).unwrap_or_default();
            let what = format!("{}/{}{origin}", event.computation.name, event.name());
            let op_name = event.op_name().map(str::to_owned);
            let (name, opcode) = (event.name().to_owned(), Some(event.opcode()));
            Row { what, name, op_name, opcode, ..Row::default() }
        });
        row.add(1, event.own, event.bytes, cost);
    }

    /// Calls a function with the computation and the index of each instruction, its count, time and bytes.
    pub(crate) fn each(&self, visit: &mut impl FnMut((&str, usize), u64, Duration, usize)) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for ((computation, index), row) in &seen.instructions {
            visit((computation, *index), row.count, row.time, row.bytes);
        }
    }

    /// Returns the times of a module's instructions as a line of JSON.
    pub(crate) fn json(&self, name: &str) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let instruction = |((computation, index), row): (&(String, usize), &Row)| {
            json!({
                "computation": computation,
                "index": index,
                "instruction": row.name,
                "opcode": row.opcode.map_or("", Opcode::name),
                "op_name": row.op_name,
                "count": row.count,
                "seconds": row.time.as_secs_f64(),
                "bytes": row.bytes,
                "flops": row.cost.flops,
                "moved_bytes": row.cost.bytes,
                "roofline_percent": self.roofline.map(|roofline| row.share(roofline)),
            })
        };
        let instructions: Vec<Value> = seen.instructions.iter().map(instruction).collect();
        format!("{}\n", json!({ "file": name, "instructions": instructions }))
    }

    /// Returns both tables, sorted by time.
    pub(crate) fn table(&self) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut opcodes: BTreeMap<&str, Row> = BTreeMap::new();
        for row in seen.instructions.values() {
            let name = row.opcode.map_or("", Opcode::name);
            let sum = opcodes
                .entry(name)
                .or_insert_with(|| Row { what: name.to_owned(), ..Row::default() });
            sum.add(row.count, row.time, row.bytes, row.cost);
        }
        let all: Duration = opcodes.values().map(|row| row.time).sum();
        let mut text = String::new();
        if let Some(Roofline { flops, bytes }) = self.roofline {
            let (flops, bytes) = (flops / 1e9, bytes / 1e9);
            let _ = writeln!(text, "roofline: {flops:.1} GFLOP/s, {bytes:.1} GB/s");
        }
        let rows: Vec<&Row> = opcodes.values().collect();
        self.section(&mut text, "by opcode", rows, all, usize::MAX);
        let rows: Vec<&Row> = seen.instructions.values().collect();
        self.section(&mut text, "by instruction", rows, all, SHOWN);
        text
    }

    fn section(
        &self,
        text: &mut String,
        title: &str,
        mut rows: Vec<&Row>,
        all: Duration,
        shown: usize,
    ) {
        rows.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.what.cmp(&b.what)));
        let roof = self.roofline.map_or_else(String::new, |_| format!("{:>7}", "roof %"));
        let _ = writeln!(
            text,
            "{:>12} {:>6} {:>10} {:>14} {:>9} {:>9}{roof}  {title}",
            "ms", "%", "count", "bytes", "GFLOP/s", "GB/s"
        );
        for row in rows.iter().take(shown) {
            let share = 100.0 * row.time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
            let ms = row.time.as_secs_f64() * 1e3;
            let (flops, bytes) = row.rates();
            let roof = self.roofline.map(|roofline| format!("{:7.1}", row.share(roofline)));
            let _ = writeln!(
                text,
                "{ms:12.3} {share:6.1} {:10} {:14} {flops:9.2} {bytes:9.2}{}  {}",
                row.count,
                row.bytes,
                roof.unwrap_or_default(),
                row.what
            );
        }
        if rows.len() > shown {
            let _ = writeln!(text, "{:>12} and {} more", "", rows.len() - shown);
        }
    }
}
