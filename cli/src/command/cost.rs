//! `etalon cost`: operations, bytes and memory of a module, by instruction and in all.
use super::{compile_for, fill_elided, load};
use crate::args::{ByArg, CostArgs};
use crate::error::Result;
use crate::files::Files;
use crate::limits::Limits;
use crate::output;
use collectives::Session;
use hlo::Module;
use interp::cost::{Cost, Costs, Row};
use load::Loaded;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// The number of instructions in the table.
const SHOWN: usize = 20;

pub(crate) fn cost(args: &CostArgs) -> Result<ExitCode> {
    let files = Files::of(&args.files);
    let are_several = files.are_several();
    files.each(|path| {
        let found = Found::of(args, path)?;
        let heading = if are_several { format!("{}:\n", path.display()) } else { String::new() };
        let text = if args.json { found.json(path) } else { heading + &found.table(args) };
        output::data(&text).map(|()| None)
    })
}

struct Found {
    module: Module,
    costs: Costs,
    /// The bytes in use during the steps of each instruction.
    peaks: BTreeMap<(usize, usize), usize>,
    /// The peak of all devices.
    planned: Option<usize>,
}

impl Found {
    fn of(args: &CostArgs, path: &Path) -> Result<Self> {
        let Loaded { file, mut module, .. } = load(path, &args.load)?;
        fill_elided(&mut module, &file.name, args.elided, &Limits::none())?;
        let options = args.engine.options();
        let session: Session =
            compile_for(&args.devices, options, module, file.source(), &Limits::none())?;
        let mut peaks: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (computation, instruction, bytes) in session.executable().step_bytes() {
            let peak = peaks.entry((computation.index(), instruction.index())).or_default();
            *peak = bytes.max(*peak);
        }
        let module = session.module().clone();
        Ok(Self { costs: Costs::of(&module), peaks, planned: session.planned_bytes(), module })
    }

    fn name(&self, row: &Row) -> String {
        let computation = &self.module.computations[row.computation];
        format!("{}/{}", computation.name, computation.name(row.instruction))
    }
    fn peak(&self, row: &Row) -> Option<usize> {
        self.peaks.get(&(row.computation.index(), row.instruction.index())).copied()
    }

    fn json(&self, path: &Path) -> String {
        let instruction = |row: &Row| {
            let computation = &self.module.computations[row.computation];
            json!({
                "instruction": self.name(row),
                "opcode": computation.instructions[row.instruction].opcode().name(),
                "flops": row.cost.flops,
                "bytes": row.cost.bytes,
                "count": row.count,
                "peak_bytes": self.peak(row),
            })
        };
        let rows: Vec<Value> = self.costs.rows.iter().map(instruction).collect();
        let total = self.costs.total();
        let json = json!({
            "file": path.display().to_string(),
            "flops": total.flops,
            "bytes": total.bytes,
            "peak_bytes": self.planned,
            "loops_counted_once": self.costs.unknown_loops,
            "opcodes": self.sums(ByArg::Opcode).iter().map(Sum::json).collect::<Vec<_>>(),
            "scopes": self.sums(ByArg::Scope).iter().map(Sum::json).collect::<Vec<_>>(),
            "instructions": rows,
        });
        format!("{json}\n")
    }

    /// Returns the totals, and the rows with the largest sum of operations and bytes.
    fn table(&self, args: &CostArgs) -> String {
        let total = self.costs.total();
        let mut text = String::new();
        let _ = writeln!(text, "operations  {:>16.0}", total.flops);
        let _ = writeln!(text, "bytes       {:>16.0}", total.bytes);
        let _ =
            writeln!(text, "intensity   {:>16} operations a byte", ratio(total.flops, total.bytes));
        if let Some(planned) = self.planned {
            let _ = writeln!(text, "peak        {planned:>16} bytes in memory");
        }
        if self.costs.unknown_loops > 0 {
            let _ = writeln!(
                text,
                "the iterations of {} loops are not known: each is counted as one",
                self.costs.unknown_loops
            );
        }
        text.push('\n');
        match args.by {
            ByArg::Instruction => self.instructions(&mut text, args.all),
            by => sums(&mut text, self.sums(by), by, args.all),
        }
        text
    }

    /// Adds up the costs of opcodes, or of scopes, each with the scopes in it.
    fn sums(&self, by: ByArg) -> Vec<Sum> {
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        for row in &self.costs.rows {
            let instruction =
                &self.module.computations[row.computation].instructions[row.instruction];
            let names = match by {
                ByArg::Scope => scopes(instruction.metadata().map_or("", |found| &found.op_name)),
                ByArg::Opcode | ByArg::Instruction => vec![instruction.opcode().name().to_owned()],
            };
            for name in names {
                let sum =
                    sums.entry(name.clone()).or_insert_with(|| Sum { name, ..Sum::default() });
                sum.cost.flops += row.count * row.cost.flops;
                sum.cost.bytes += row.count * row.cost.bytes;
                sum.count += row.count;
            }
        }
        sums.into_values().collect()
    }

    /// Writes the instructions with the largest sum of operations and bytes.
    fn instructions(&self, text: &mut String, all: bool) {
        let mut rows: Vec<&Row> = self.costs.rows.iter().collect();
        let weight = |row: &Row| row.count * (row.cost.flops + row.cost.bytes);
        rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        let _ = writeln!(
            text,
            "{:>14} {:>14} {:>10} {:>14} {:>8}  instruction",
            "operations", "bytes", "intensity", "peak bytes", "count"
        );
        let shown = if all { rows.len() } else { SHOWN };
        for row in rows.iter().take(shown) {
            let peak = self.peak(row).map_or("-".to_owned(), |peak| peak.to_string());
            let _ = writeln!(
                text,
                "{:>14.0} {:>14.0} {:>10} {peak:>14} {:>8.0}  {}",
                row.count * row.cost.flops,
                row.count * row.cost.bytes,
                ratio(row.cost.flops, row.cost.bytes),
                row.count,
                self.name(row)
            );
        }
        if rows.len() > shown {
            let more = rows.len() - shown;
            let _ = writeln!(
                text,
                "and {more} more: --all lists them, --by opcode and --by scope add them up"
            );
        }
    }
}

/// The costs of several instructions together.
#[derive(Default)]
struct Sum {
    name: String,
    cost: Cost,
    /// How many of their executions there are.
    count: f64,
}

impl Sum {
    fn json(&self) -> Value {
        let Self { name, cost, count } = self;
        json!({ "name": name, "flops": cost.flops, "bytes": cost.bytes, "count": count })
    }
}

/// Returns the scopes that an instruction is in, from the outside in: the parts of its name in the framework but the last.
fn scopes(op_name: &str) -> Vec<String> {
    let ends = op_name.match_indices('/').map(|(at, _)| at).filter(|&at| at > 0);
    let scopes: Vec<String> = ends.map(|at| op_name[..at].to_owned()).collect();
    if scopes.is_empty() { vec!["(no scope)".to_owned()] } else { scopes }
}

/// Writes the largest sums.
fn sums(text: &mut String, mut rows: Vec<Sum>, by: ByArg, all: bool) {
    let weight = |row: &Sum| row.cost.flops + row.cost.bytes;
    rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let title = if by == ByArg::Scope { "scope, with those in it" } else { "opcode" };
    let _ = writeln!(
        text,
        "{:>14} {:>14} {:>10} {:>10}  {title}",
        "operations", "bytes", "intensity", "count"
    );
    let shown = if all { rows.len() } else { rows.len().min(SHOWN) };
    for Sum { name, cost, count } in &rows[..shown] {
        let (Cost { flops, bytes }, ratio) = (cost, ratio(cost.flops, cost.bytes));
        let _ = writeln!(text, "{flops:>14.0} {bytes:>14.0} {ratio:>10} {count:>10.0}  {name}");
    }
    if rows.len() > shown {
        let _ = writeln!(text, "and {} more: --all lists them", rows.len() - shown);
    }
}

fn ratio(flops: f64, bytes: f64) -> String {
    if bytes > 0.0 { format!("{:.2}", flops / bytes) } else { "-".to_owned() }
}
