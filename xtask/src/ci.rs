//! `ci` and `bless`: the checks that a change must pass.
use crate::{
    Result, cargo, consoles, counts, mpi, python, quiet, speed, status, tidy, trial, walls,
};
use std::path::Path;
use std::time::Instant;

/// Name, arguments of cargo, environment.
type Step = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const STEPS: [Step; 4] = [
    ("fmt", &["fmt", "--all", "--", "--check"], &[]),
    ("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    ("doc", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
    ("test", &["test", "--workspace"], &[]),
];

/// Runs every step in order; stops at the first failure.
pub(crate) fn run(root: &Path) -> Result {
    let mpi = mpi::available();
    let packages = python::prepare(root);
    for (name, arguments, environment) in STEPS {
        // Clippy builds without MPI, the tests with it: neither is built twice.
        let with_mpi = name == "test" && mpi.is_ok();
        let more: &[&str] = if with_mpi { &mpi::FEATURES } else { &[] };
        let arguments = [arguments, more].concat();
        step(name, || match name {
            "test" => quiet::test(root, &arguments),
            _ => cargo(root, &arguments, environment),
        })?;
    }
    step("consoles", || consoles::check(root))?;
    step("features", || walls::features(root))?;
    step("fuzz targets", || walls::fuzz(root))?;
    match walls::missing_deny(root) {
        None => step("dependencies", || walls::deny(root))?,
        Some(missing) => println!("== dependencies: skipped: {missing}"),
    }
    match counts::missing(root) {
        None => {
            let features: &[&str] = if mpi.is_ok() { &mpi::FEATURES } else { &[] };
            step("counts", || counts::check(root, features))?;
            step("speed", || speed::check(root, features))?;
        }
        Some(missing) => println!("== counts: skipped: {missing}"),
    }
    match mpi {
        Ok(()) => {
            println!("== mpi: built and tested, with the tests");
            if mpi::has_mpich_too() {
                step("mpich", || mpi::test_mpich(root))?;
            }
        }
        Err(missing) => println!("== mpi: skipped: {missing}"),
    }
    match python::available() {
        Ok(()) => step("python", || python::test(root, packages))?,
        Err(missing) => println!("== python: skipped: {missing}"),
    }
    step("tidy", || tidy::run(root))?;
    step("status", || status::check(root))?;
    step("adding-an-op", || trial::check(root))?;
    println!("ci: all steps passed");
    Ok(())
}

/// Runs the checks that take longest: the engine without machine code and with the optional decompositions, every other set of
/// features, the minimum Rust version, packages.
pub(crate) fn walls(root: &Path) -> Result {
    let engine = ["test", "--package", "etalon-interp", "--features", "faer"];
    step("test without machine code", || quiet::test(root, &engine))?;
    step("all features", || walls::all_features(root))?;
    match walls::minimum_rust(root)? {
        Ok(version) => step("minimum Rust", || walls::check_minimum_rust(root, &version))?,
        Err(missing) => println!("== minimum Rust: skipped: {missing}"),
    }
    step("packages", || walls::package(root))
}

/// Runs the tests, which rewrite their expected outputs.
pub(crate) fn bless(root: &Path) -> Result {
    cargo(root, &["test", "--workspace", "--no-fail-fast"], &[("ETALON_BLESS", "1")])?;
    println!("review `git diff` before you commit: a blessed value is only the engine's result");
    Ok(())
}

fn step(name: &str, work: impl FnOnce() -> Result) -> Result {
    println!("== {name}");
    let start = Instant::now();
    let done = work();
    let seconds = start.elapsed().as_secs_f64();
    match done {
        Ok(()) => {
            println!("== {name}: passed in {seconds:.1} s");
            Ok(())
        }
        Err(message) => {
            Err(format!("{message}\n== {name}: FAILED after {seconds:.1} s; later steps not run"))
        }
    }
}
