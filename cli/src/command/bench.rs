//! `etalon bench`: the time to load and to run a module, and the memory of its values.
use super::{compile_for, load_filled};
use crate::args::{BenchArgs, InputArgs};
use crate::error::{Failure, Result};
use crate::file::{self, Existing};
use crate::files::Files;
use crate::inputs::inputs;
use crate::limits::Limits;
use crate::{output, result_file};
use collectives::{RunOutput, Session};
use conformance::arrays;
use hlo::Literal;
use interp::RunOptions;
use load::Loaded;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The measurements.
struct Measured {
    load: f64,
    first: f64,
    runs: Vec<f64>,
    /// The peak number of bytes on all devices; not measured for an unpartitioned SPMD program.
    peak: Option<usize>,
    /// The seed of arguments that are random.
    random: Option<u64>,
}

/// Measures each module.
pub(crate) fn bench(args: &BenchArgs) -> Result<ExitCode> {
    let files = Files::of(&args.files);
    result_file::check_format(args.output.as_deref())?;
    if files.are_several() && args.output.is_some() {
        return Err(result_file::single("--output"));
    }
    let outputs = args.output.iter().map(|path| (path.as_path(), Existing::Replace));
    file::check(outputs, files.paths().chain(args.inputs.paths()))?;
    let has_stdout = args.output.as_deref().is_some_and(file::is_stdout);
    let are_several = files.are_several();
    files.each(|path| {
        let measured = one(args, path)?;
        let name = are_several.then(|| path.display().to_string());
        let shown = match args.json {
            true => measured.json(name.as_deref()),
            false => measured.table(name.as_deref()),
        };
        output::report(&shown, has_stdout).map(|()| None)
    })
}

/// Measures a module.
fn one(args: &BenchArgs, path: &Path) -> Result<Measured> {
    let start = Instant::now();
    let options = args.spill.apply(args.time.apply(args.limits.options()))?;
    // The arguments and the first run share a clock; each other run has its own.
    let limits = Limits::start(options.clone());
    let Loaded { file, module, arguments: own, .. } =
        load_filled(path, &args.load, &args.inputs, &limits)?;
    let compiling = args.compile.options().limits_of(&limits.options());
    let session = compile_for(&args.devices, compiling, module, file.source(), &limits)?;
    let load = start.elapsed().as_secs_f64();
    let (arguments, random) = arguments(args, own, &session, &limits)?;
    let run = |options: &RunOptions| {
        let start = Instant::now();
        let output = session.run(&arguments, options);
        let output = output.map_err(|error| Failure::run(&error, file.source()))?;
        Ok::<_, Failure>((start.elapsed().as_secs_f64(), output))
    };
    let (first, RunOutput { results, peak_bytes: peak, .. }) = run(&limits.options())?;
    if let Some(to) = &args.output {
        result_file::write(to, arrays::flatten_per_device(results.iter(), "out"))?;
    }
    drop(results);
    let mut runs = Vec::new();
    for _ in 0..args.iterations {
        runs.push(run(&options)?.0);
    }
    Ok(Measured { load, first, runs, peak, random })
}

/// Returns the given arguments or those of the file, and random ones in place of others, for each device; also the seed of these.
fn arguments(
    args: &BenchArgs,
    own: Vec<Vec<Literal>>,
    session: &Session,
    limits: &Limits,
) -> Result<(Vec<Vec<Literal>>, Option<u64>)> {
    let (module, grid) = (session.module(), session.grid());
    let has_own = !own.is_empty();
    let InputArgs { random, input, .. } = &args.inputs;
    if random.is_none() || !input.is_empty() {
        let given = InputArgs { random: None, range: Vec::new(), ..args.inputs.clone() };
        match inputs(&given, own, module, grid, limits) {
            Ok(found) => return Ok((found, None)),
            Err(failure) if has_own => return Err(failure),
            Err(_) => {}
        }
    }
    let random = random.or(Some(0));
    let filled = InputArgs { random, ..args.inputs.clone() };
    Ok((inputs(&filled, Vec::new(), module, grid, limits)?, random))
}

impl Measured {
    /// Returns a line of JSON, with the name of the module if there are several.
    fn json(&self, name: Option<&str>) -> String {
        let mut json = serde_json::json!({
            "load_s": self.load,
            "first_run_s": self.first,
            "runs_s": self.runs,
            "peak_bytes": self.peak,
        });
        if let Some(seed) = self.random {
            json["random_seed"] = seed.into();
        }
        if let Some(name) = name {
            json["file"] = name.into();
        }
        format!("{json}\n")
    }
    fn table(&self, name: Option<&str>) -> String {
        let mut sorted = self.runs.clone();
        sorted.sort_by(f64::total_cmp);
        let mut rows = vec![("load", self.load), ("first run", self.first)];
        if let (Some(&least), Some(&median)) = (sorted.first(), sorted.get(sorted.len() / 2)) {
            rows.extend([("minimum", least), ("median", median)]);
        }
        let mut text = name.map_or_else(String::new, |name| format!("{name}:\n"));
        if let Some(seed) = self.random {
            let _ = writeln!(text, "arguments        random, of seed {seed}");
        }
        for (what, seconds) in rows {
            let _ = writeln!(text, "{what:10} {:12.3} ms", seconds * 1e3);
        }
        if let Some(peak) = self.peak {
            let _ = writeln!(text, "peak       {peak:12} bytes");
        }
        text
    }
}
