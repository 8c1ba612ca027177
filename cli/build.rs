//! Sets `ETALON_COMMIT`: the commit that the command is built from, if git knows it. Lists the pages of the specification and the
//! tests, from which `etalon explain` takes descriptions and examples.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The folders, and the names of their tables.
const FOLDERS: [(&str, &str, &str); 4] = [
    ("PAGES", "interp/src/spec", "rs"),
    ("OPS", "tests/ops", "hlo"),
    ("REJECTED", "hlo/tests/reject", "hlo"),
    ("SHOWN", "tests/cli", "stderr"),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    set_commit();
    list_pages()
}

fn git(arguments: &[&str]) -> Option<String> {
    let ended = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(ended.stdout).ok()?;
    ended.status.success().then(|| text.trim().to_owned())
}

fn set_commit() {
    // A checkout moves HEAD, a commit moves what HEAD names.
    let head = git(&["rev-parse", "--git-path", "HEAD"]);
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"])
        .and_then(|name| git(&["rev-parse", "--git-path", &name]));
    for file in [head, branch].into_iter().flatten() {
        println!("cargo::rerun-if-changed={file}");
    }
    // A package from a registry may lie in a repository of the user's.
    let is_own = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let commit = git(&["rev-parse", "--short=9", "HEAD"]).filter(|_| is_own);
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo::rustc-env=ETALON_COMMIT={commit}");
}

fn list_pages() -> io::Result<()> {
    let variable = |name| env::var_os(name).ok_or_else(|| io::Error::other("cargo sets it"));
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("..");
    let mut text = String::new();
    for (name, folder, extension) in FOLDERS {
        let folder = root.join(folder).canonicalize()?;
        println!("cargo::rerun-if-changed={}", folder.display());
        let entries: io::Result<Vec<PathBuf>> =
            fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut files = entries?;
        files.retain(|path| path.extension().is_some_and(|found| found == extension));
        files.sort();
        let _ = writeln!(text, "pub(super) static {name}: &[(&str, &str)] = &[");
        for path in files {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let path = path.to_string_lossy().into_owned();
            let _ = writeln!(text, "({stem:?}, include_str!({path:?})),");
        }
        text.push_str("];\n");
    }
    fs::write(Path::new(&variable("OUT_DIR")?).join("pages.rs"), text)
}
