//! `etalon bench`: how long a module takes to load and to run, and how much memory its values take.
use super::{Loaded, load, run::write, verified};
use crate::args::{BenchArgs, EngineArg};
use crate::error::{Failure, Result};
use crate::inputs::inputs;
use crate::{output, random};
use conformance::arrays;
use hlo::{Literal, Verified};
use interp::Grid;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// What was measured.
struct Measured {
    load: f64,
    first: f64,
    runs: Vec<f64>,
    peak: usize,
}

/// Measures a module.
pub(crate) fn bench(args: &BenchArgs) -> Result<ExitCode> {
    let start = Instant::now();
    let Loaded { name, text, module } = load(&args.file, args.lenient)?;
    let verified = verified(module, &name, &text)?;
    let load = start.elapsed().as_secs_f64();
    let arguments = arguments(args, &verified)?;
    let run = || {
        let EngineArg::Reference = args.engine;
        let start = Instant::now();
        let interpreter = interp::Interpreter::with_options(&verified, args.limits.options());
        let mut machine = interpreter.start(&arguments)?;
        let interp::Step::Done(result) = machine.resume()? else {
            unreachable!("a run on one device waits for nobody")
        };
        Ok((start.elapsed().as_secs_f64(), machine.peak_bytes(), result))
    };
    let failed = |e: interp::Error| Failure::run(&e.into(), &name, &text);
    let (first, peak, result) = run().map_err(failed)?;
    if let Some(to) = &args.output {
        write(to, arrays::named(&result, "out"))?;
    }
    drop(result);
    let mut runs = Vec::new();
    for _ in 0..args.iterations {
        runs.push(run().map_err(failed)?.0);
    }
    let measured = Measured { load, first, runs, peak };
    let shown = if args.json { measured.json() } else { measured.table() };
    output::data(&shown).map_err(|e| Failure::file(&args.file, &e))?;
    Ok(ExitCode::SUCCESS)
}

/// What is given, or drawn with seed 0.
fn arguments(args: &BenchArgs, verified: &Verified) -> Result<Vec<Literal>> {
    if args.inputs.input.is_empty() && args.inputs.random.is_none() {
        let shapes = verified.module().entry().program_shape().parameters;
        return random::draw(0, &shapes);
    }
    let grid = Grid { replicas: 1, partitions: 1 };
    Ok(inputs(&args.inputs, verified, grid)?.swap_remove(0))
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
        format!("{text}peak       {:12} bytes of values\n", self.peak)
    }
}
