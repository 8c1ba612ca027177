//! `etalon bench`: how long a module takes to load and to run, and how much memory its values take.
use super::{Loaded, load, run::write, verified_for};
use crate::args::BenchArgs;
use crate::error::{Failure, Result};
use crate::inputs::inputs;
use crate::{output, random};
use collectives::spmd::Program;
use conformance::{Failed, arrays};
use hlo::{Literal, Verified};
use interp::{Grid, Hooks};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// What was measured.
struct Measured {
    load: f64,
    first: f64,
    runs: Vec<f64>,
    /// Most bytes of values at a time; not known of several devices.
    peak: Option<usize>,
}

/// Measures a module.
pub(crate) fn bench(args: &BenchArgs) -> Result<ExitCode> {
    let start = Instant::now();
    let Loaded { name, text, module } = load(&args.file, args.lenient)?;
    let (verified, grid) = verified_for(&args.devices, module, &name, &text)?;
    let load = start.elapsed().as_secs_f64();
    let arguments = arguments(args, &verified, grid)?;
    let failed = |e: Failed| Failure::run(&e, &name, &text);
    // Its regions are run by several devices.
    let is_global = Program::of(&verified).map_err(|e| failed(e.into()))?.is_some();
    let run = || {
        let start = Instant::now();
        let ran = match arguments.as_slice() {
            [alone] if grid.len() == 1 && !is_global => {
                alone_on(args, &verified, alone).map(|(peak, result)| (Some(peak), vec![result]))
            }
            all => conformance::Engine::from(args.engine)
                .run_on_devices(&verified, all, args.limits.options(), |_| Hooks::new())
                .map(|ran| (None, ran.results)),
        };
        ran.map(|(peak, results)| (start.elapsed().as_secs_f64(), peak, results))
    };
    let (first, peak, results) = run().map_err(failed)?;
    if let Some(to) = &args.output {
        write(to, arrays::named_by_device(results.iter(), "out"))?;
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

/// Most bytes of values at a time, and the result.
fn alone_on(
    args: &BenchArgs,
    verified: &Verified,
    arguments: &[Literal],
) -> std::result::Result<(usize, Literal), Failed> {
    let engine = conformance::Engine::from(args.engine);
    let options = args.limits.options().engine(engine.into());
    let interpreter = interp::Interpreter::with_options(verified, options);
    let mut machine = interpreter.start(arguments)?;
    let interp::Step::Done(result) = machine.resume()? else {
        unreachable!("a run on one device waits for nobody")
    };
    Ok((machine.peak_bytes(), result))
}

/// What is given, or drawn with seed 0, for each device.
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
