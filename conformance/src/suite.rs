//! Suites of recorded results: folders of `NAME.hlo` or `NAME.opt.hlo` with `NAME.npz` beside it.
//!
//! The arrays `in0`, `in1`, ... are the arguments, `out0`, `out1`, ... the result, in parameter order with tuples
//! flattened. Their types are those of the module's entry computation. A module for several devices has `d<k>_in<i>` and
//! `d<k>_out<i>` of device `k`, or arrays without `d<k>_` for all.
use crate::case::run_failure;
use crate::report::Failure;
use crate::{Engine, Outcome, Report, Tolerance, arrays, compare_each};
use collectives::World;
use hlo::{Literal, Module};
use rayon::prelude::*;
use std::fs::File;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Room for engines that call themselves once for each computation; rayon's own threads have less.
const STACK: usize = 64 << 20;

/// A module with a recorded result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The module.
    pub module: PathBuf,
    /// Its arguments and result.
    pub arrays: PathBuf,
}

/// How a test of the command begins.
const COMMAND: &[u8; 8] = b"// RUN: ";

/// Modules in a folder and all folders below it, sorted by path; or the one module if `root` is a file.
///
/// Tests of the command, which begin with `// RUN: `, are left out of folders: what they want is in files beside them.
///
/// The first list holds those with a recorded result, the second all others.
///
/// # Errors
/// If a folder cannot be read.
pub fn find(root: &Path) -> std::io::Result<(Vec<Entry>, Vec<PathBuf>)> {
    let (mut entries, mut others) = (Vec::new(), Vec::new());
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        if std::fs::metadata(&path)?.is_dir() {
            let inside: Result<Vec<_>, _> =
                std::fs::read_dir(&path)?.map(|entry| entry.map(|e| e.path())).collect();
            let inside = inside?.into_iter();
            open.extend(inside.filter(|p| p.is_dir() || p.extension().is_some_and(|e| e == "hlo")));
            continue;
        }
        match arrays_of(&path) {
            Some(arrays) => entries.push(Entry { module: path, arrays }),
            None if path != root && runs_command(&path) => {}
            None => others.push(path),
        }
    }
    entries.sort();
    others.sort();
    Ok((entries, others))
}

/// Whether the file is a test of the command: its first line says how to call it, and files beside it hold what is
/// printed.
fn runs_command(path: &Path) -> bool {
    let mut start = [0; COMMAND.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *COMMAND
}

/// `NAME.npz` for `NAME.hlo`, `NAME.opt.hlo` or `NAME.global.hlo`, if it is there.
fn arrays_of(module: &Path) -> Option<PathBuf> {
    let stem = module.with_extension("");
    let plain = stem.with_extension("npz");
    let whole = PathBuf::from(format!("{}.npz", stem.display()));
    let is_form = stem.extension().is_some_and(|e| e == "opt" || e == "global");
    let found = if is_form { [whole, plain] } else { [whole.clone(), whole] };
    found.into_iter().find(|path| path.is_file())
}

/// Runs all entries on as many threads as there are processors; `done` is called after each. Reports come in order.
pub fn run_all(entries: &[Entry], engine: Engine, done: impl Fn(&Report) + Sync) -> Vec<Report> {
    let one = |entry: &Entry| {
        let report = entry.run(engine);
        done(&report);
        report
    };
    match rayon::ThreadPoolBuilder::new().stack_size(STACK).build() {
        Ok(pool) => pool.install(|| entries.par_iter().map(one).collect()),
        Err(_) => entries.iter().map(one).collect(),
    }
}

impl Entry {
    /// Runs the module and compares the result with the recorded one.
    pub fn run(&self, engine: Engine) -> Report {
        let start = Instant::now();
        // A mistake in an engine must not hide what the other entries give.
        #[expect(clippy::result_large_err, reason = "called once a case")]
        let run = catch_unwind(AssertUnwindSafe(|| self.outcome(engine)));
        let outcome = match run {
            Ok(Ok(outcome) | Err(outcome)) => outcome,
            Err(_) => Outcome::Failed("the engine panicked".to_owned().into()),
        };
        let file = self.module.display().to_string();
        Report { name: file.clone(), file, outcome, time: start.elapsed() }
    }

    #[expect(clippy::result_large_err, reason = "called once a case")]
    fn outcome(&self, engine: Engine) -> Result<Outcome, Outcome> {
        let bytes = std::fs::read(&self.module).map_err(|e| failed(e.to_string()))?;
        let text = String::from_utf8_lossy(&bytes);
        let refused = |errors: &[hlo::Error]| {
            let diagnostics = errors.iter().map(hlo::Error::diagnostic).collect();
            Outcome::Failed(Failure::of(&text, diagnostics))
        };
        let parsed = Module::parse_bytes(&bytes, hlo::ParseOptions::default());
        let module = parsed.map_err(|e| refused(&[e]))?.module;
        let grid = World::devices(&module).map_err(|e| run_failure(&text, &e.into()))?;
        let devices = grid.len();
        let (arguments, wanted) = self.recorded(&module, devices).map_err(failed)?;
        let verified = module.verify().map_err(|e| refused(&e.0))?;
        let options = interp::Options::default();
        let got = engine.run_on_devices(&verified, &arguments, options, |_| interp::Hooks::new());
        let got = got.map_err(|e| run_failure(&text, &e))?;
        let tolerance = Tolerance::of(verified.module());
        let comparison = compare_each(&got.results, &wanted, &tolerance).map_err(failed)?;
        Ok(if comparison.agrees() {
            Outcome::Agree(comparison)
        } else {
            Outcome::Differ(comparison)
        })
    }

    fn recorded(
        &self,
        module: &Module,
        devices: usize,
    ) -> Result<(Vec<Vec<Literal>>, Vec<Literal>), String> {
        let place = |e: &dyn std::fmt::Display| format!("{}: {e}", self.arrays.display());
        let file = File::open(&self.arrays).map_err(|e| place(&e))?;
        let arrays =
            hlo::literal::npz::read(std::io::BufReader::new(file)).map_err(|e| place(&e))?;
        let arguments = arrays::arguments(&arrays, module, devices).map_err(|e| place(&e))?;
        let results = arrays::results(&arrays, module, devices).map_err(|e| place(&e))?;
        Ok((arguments, results))
    }
}

fn failed(reason: String) -> Outcome {
    Outcome::Failed(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    #[test]
    fn a_folder_is_searched_and_run() {
        let root = std::env::temp_dir().join(format!("etalon-suite-{}", std::process::id()));
        let inner = root.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        let text = |header: &str| {
            format!(
                "HloModule m{header}\nENTRY e {{ p = f32[2] parameter(0) ROOT r = f32[2] add(p, p) }}\n"
            )
        };
        std::fs::write(inner.join("twice.hlo"), text("")).unwrap();
        std::fs::write(inner.join("twice.opt.hlo"), text("")).unwrap();
        std::fs::write(inner.join("many.hlo"), text(", num_partitions=4")).unwrap();
        std::fs::write(root.join("alone.hlo"), text("")).unwrap();
        let [x, y] = ["f32[2] {1, 2}", "f32[2] {2, 4}"].map(|t| t.parse::<Literal>().unwrap());
        let write = |name: &str, arrays: &[(&str, &Literal)]| {
            let file = File::create(inner.join(name)).unwrap();
            let named = arrays.iter().map(|&(name, value)| (name.to_owned(), value));
            hlo::literal::npz::write(file, named).unwrap();
        };
        write("twice.npz", &[("in0", &x), ("out0", &y)]);
        write("many.npz", &[("in0", &x), ("out0", &y)]);
        let own = [("d0_in0", &x), ("d1_in0", &y), ("d0_out0", &y), ("d1_out0", &y)];
        write("two.npz", &own);
        std::fs::write(inner.join("two.hlo"), text(", replica_count=2")).unwrap();
        let (entries, others) = find(&root).unwrap();
        let reports = run_all(&entries, Engine::Reference, |_| {});
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(others, [root.join("alone.hlo")]);
        let wanted = Summary { agree: 3, differ: 1, ..Summary::default() };
        assert_eq!(Summary::of(&reports), wanted, "{reports:?}");
        // Device 1 gives 4 and 8.
        let told = reports.iter().find(|report| report.is_bad()).unwrap().details(false);
        let lines = "2 of 4 elements differ on device 1\nworst: device 1, result 0 at [0]: got f32[] 4, wanted f32[] 2\n";
        assert!(told.starts_with(lines), "{told}");
    }
}
