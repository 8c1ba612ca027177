//! `etalon bench`: the time to load and to run a module, and the memory of its values.
use super::{Loaded, compile_for, load_filled, run::check_output, run::write};
use crate::args::BenchArgs;
use crate::error::{Failure, Result};
use crate::inputs::inputs;
use crate::{output, random};
use collectives::{RunOutput, Session};
use conformance::arrays;
use hlo::Literal;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// The measurements.
struct Measured {
    load: f64,
    first: f64,
    runs: Vec<f64>,
    /// The peak number of bytes on all devices; not measured for an unpartitioned SPMD program.
    peak: Option<usize>,
}

/// Measures a module.
pub(crate) fn bench(args: &BenchArgs) -> Result<ExitCode> {
    check_output(args.output.as_deref())?;
    let start = Instant::now();
    let Loaded { name, text, module, arguments: own, .. } =
        load_filled(&args.file, args.lenient, &args.inputs)?;
    let session = compile_for(&args.devices, args.compile.options(), module, &name, &text)?;
    let load = start.elapsed().as_secs_f64();
    let arguments = arguments(args, own, &session)?;
    let options = args.time.apply(args.limits.options());
    let run = || {
        let start = Instant::now();
        let output = session.run(&arguments, &options);
        let output = output.map_err(|error| Failure::run(&error, &name, &text))?;
        Ok((start.elapsed().as_secs_f64(), output))
    };
    let (first, RunOutput { results, peak_bytes: peak, .. }) = run()?;
    if let Some(to) = &args.output {
        write(to, arrays::flatten_per_device(results.iter(), "out"))?;
    }
    drop(results);
    let mut runs = Vec::new();
    for _ in 0..args.iterations {
        runs.push(run()?.0);
    }
    let measured = Measured { load, first, runs, peak };
    let shown = if args.json { measured.json() } else { measured.table() };
    output::data(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the given arguments, those of the file, or random ones with seed 0, for each device.
fn arguments(
    args: &BenchArgs,
    own: Vec<Vec<Literal>>,
    session: &Session,
) -> Result<Vec<Vec<Literal>>> {
    let (module, grid) = (session.module(), session.grid());
    if own.is_empty() && args.inputs.input.is_empty() && args.inputs.random.is_none() {
        return random::draw_each(0, module.entry(), (grid, 0..grid.len()));
    }
    inputs(&args.inputs, own, module, grid)
}

impl Measured {
    fn json(&self) -> String {
        let json = serde_json::json!({
            "load_s": self.load,
            "first_run_s": self.first,
            "runs_s": self.runs,
            "peak_bytes": self.peak,
        });
        format!("{json}\n")
    }
    fn table(&self) -> String {
        let mut sorted = self.runs.clone();
        sorted.sort_by(f64::total_cmp);
        let mut rows = vec![("load", self.load), ("first run", self.first)];
        if let (Some(&least), Some(&median)) = (sorted.first(), sorted.get(sorted.len() / 2)) {
            rows.extend([("least", least), ("median", median)]);
        }
        let mut text = String::new();
        for (what, seconds) in rows {
            let _ = writeln!(text, "{what:10} {:12.3} ms", seconds * 1e3);
        }
        if let Some(peak) = self.peak {
            let _ = writeln!(text, "peak       {peak:12} bytes");
        }
        text
    }
}
