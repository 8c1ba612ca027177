//! `etalon bench`: the time to load and to run a module, and the memory of its values.
use super::{Loaded, load, run::write, verified_for};
use crate::args::BenchArgs;
use crate::error::{Failure, Result};
use crate::inputs::inputs;
use crate::{output, random};
use collectives::Global;
use conformance::{RunError, arrays};
use hlo::{Literal, Verified};
use interp::{Grid, Hooks};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// The measurements.
struct Measured {
    load: f64,
    first: f64,
    runs: Vec<f64>,
    /// The peak number of bytes of values; not measured for several devices.
    peak: Option<usize>,
}

/// Measures a module.
pub(crate) fn bench(args: &BenchArgs) -> Result<ExitCode> {
    let start = Instant::now();
    let Loaded { name, text, module } = load(&args.file, args.lenient)?;
    let (verified, grid) = verified_for(&args.devices, module, &name, &text)?;
    let load = start.elapsed().as_secs_f64();
    let arguments = arguments(args, &verified, grid)?;
    let failed = |e: RunError| Failure::run(&e, &name, &text);
    // The manual regions of an unpartitioned SPMD program run on several devices.
    let is_unpartitioned = Global::of(&verified).map_err(|e| failed(e.into()))?.is_some();
    let run = || {
        let start = Instant::now();
        let output = match arguments.as_slice() {
            [arguments] if grid.len() == 1 && !is_unpartitioned => {
                run_one_device(args, &verified, arguments)
                    .map(|(peak, result)| (Some(peak), vec![result]))
            }
            all => conformance::Engine::from(args.engine)
                .run_on_devices(&verified, all, args.limits.options(), |_| Hooks::new())
                .map(|output| (None, output.results)),
        };
        output.map(|(peak, results)| (start.elapsed().as_secs_f64(), peak, results))
    };
    let (first, peak, results) = run().map_err(failed)?;
    if let Some(to) = &args.output {
        write(to, arrays::flatten_per_device(results.iter(), "out"))?;
    }
    drop(results);
    let mut runs = Vec::new();
    for _ in 0..args.iterations {
        runs.push(run().map_err(failed)?.0);
    }
    let measured = Measured { load, first, runs, peak };
    let shown = if args.json { measured.json() } else { measured.table() };
    output::data(&shown).map_err(|e| Failure::file(&args.file, &e))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the module on one device and returns the peak number of bytes and the result.
fn run_one_device(
    args: &BenchArgs,
    verified: &Verified,
    arguments: &[Literal],
) -> std::result::Result<(usize, Literal), RunError> {
    let engine = conformance::Engine::from(args.engine);
    let options = args.limits.options().engine(engine.into());
    let interpreter = interp::Interpreter::with_options(verified, options);
    let mut machine = interpreter.start(arguments)?;
    let interp::Step::Done(result) = machine.resume()? else {
        unreachable!("a run on one device is not suspended")
    };
    Ok((machine.peak_bytes(), result))
}

/// Returns the given arguments, or random ones with seed 0, for each device.
fn arguments(args: &BenchArgs, verified: &Verified, grid: Grid) -> Result<Vec<Vec<Literal>>> {
    if args.inputs.input.is_empty() && args.inputs.random.is_none() {
        return random::draw_each(0, verified.module().entry(), grid);
    }
    inputs(&args.inputs, verified, grid)
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
            let _ = writeln!(text, "peak       {peak:12} bytes of values");
        }
        text
    }
}
