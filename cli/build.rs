//! Sets `ETALON_COMMIT`: the commit that the command is built from, if git knows it.
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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

fn git(arguments: &[&str]) -> Option<String> {
    let ended = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(ended.stdout).ok()?;
    ended.status.success().then(|| text.trim().to_owned())
}
