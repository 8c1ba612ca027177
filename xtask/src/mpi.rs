//! Detection of MPI for building and testing runs that span processes.
use crate::{Result, cargo};
use std::path::Path;
use std::process::{Command, Stdio};

/// The features that enable them, for `cargo test`.
pub(crate) const FEATURES: [&str; 2] = ["--features", "etalon-cli/mpi,etalon-collectives/mpi"];

/// MPICH by Debian's names, which it has beside another library.
const MPICH: [(&str, &str); 2] = [("MPICC", "mpicc.mpich"), ("MPIRUN", "mpirun.mpich")];

/// Fails with the missing component.
pub(crate) fn available() -> std::result::Result<(), &'static str> {
    if !runs(&launcher()) || !runs(&std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into())) {
        return Err("no MPI");
    }
    if !starts() {
        return Err("mpirun starts no processes here");
    }
    // Bindings are generated with libclang, whose location depends on the distribution.
    let is_named = std::env::var_os("LIBCLANG_PATH").is_some();
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/opt/llvm/lib"];
    match is_named || folders.iter().any(|folder| has_libclang(Path::new(folder), 3)) {
        true => Ok(()),
        false => Err("no libclang"),
    }
}

/// Returns the program that starts ranks; `MPIRUN` names that of another MPI library than the default, as `MPICC` its compiler.
fn launcher() -> String {
    std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".into())
}

fn runs(program: &str) -> bool {
    version(program).is_some()
}
fn version(program: &str) -> Option<Vec<u8>> {
    let ended = Command::new(program).arg("--version").output().ok()?;
    ended.status.success().then_some(ended.stdout)
}

/// Returns whether MPICH is installed, beside another library that is the default.
pub(crate) fn has_mpich_too() -> bool {
    let [(_, compiler), (_, launcher_of_mpich)] = MPICH;
    let own = version(launcher_of_mpich);
    runs(compiler) && own.is_some() && own != version(&launcher())
}

/// Runs the tests of processes with MPICH. Cargo does not notice the other library: the bindings are removed before and after.
pub(crate) fn test_mpich(root: &Path) -> Result {
    let clean = || cargo(root, &["clean", "-p", "mpi-sys"], &[]);
    clean()?;
    let test = "test -p etalon-collectives -p etalon-cli --test mpi --test all mpi::";
    let test: Vec<&str> = test.split(' ').collect();
    let tested = cargo(root, &[&test[..], &FEATURES[..]].concat(), &MPICH);
    tested.and(clean())
}

/// Returns whether two processes can be started: a sandbox may block their communication.
fn starts() -> bool {
    let mut command = Command::new(launcher());
    // Settings of Open MPI, which others ignore.
    let root = [("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")];
    command.args(["-n", "2", "true"]).envs(root).env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ended.is_ok_and(|status| status.success())
}

/// Returns whether libclang is in the folder or its subfolders, up to this depth.
fn has_libclang(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // `libclang-cpp` is a different library.
        let rest = name.strip_prefix("libclang").unwrap_or_default().trim_start_matches('-');
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if rest.starts_with("so") || rest.starts_with("dylib") {
            return true;
        }
        depth > 1
            && entry.file_type().is_ok_and(|t| t.is_dir())
            && has_libclang(&entry.path(), depth - 1)
    })
}
