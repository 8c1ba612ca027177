//! The tests of the Python package, where Python and its packages can be had.
use crate::Result;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SCRIPT: &str = "bindings/python/test.sh";

/// The exit code of the script where the packages cannot be installed.
const UNAVAILABLE: i32 = 75;

/// Fails with the missing component.
pub(crate) fn available() -> std::result::Result<(), &'static str> {
    let mut python = Command::new("python3");
    python.args(["-c", "import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 10))"]);
    let ended = python.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match ended.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err("no Python of version 3.10 or later with venv"),
    }
}

/// Starts to install what the tests use, beside other steps; what it says is said again by the tests.
pub(crate) fn prepare(root: &Path) -> Option<Child> {
    let mut script = Command::new(root.join(SCRIPT));
    script.arg("prepare").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    available().ok().and_then(|()| script.spawn().ok())
}

/// Builds a wheel, installs it and runs its tests.
pub(crate) fn test(root: &Path, prepared: Option<Child>) -> Result {
    if let Some(mut prepared) = prepared {
        // Where it failed, the script installs again, and says why it cannot.
        let _ = prepared.wait();
    }
    let script = root.join(SCRIPT);
    let ended = Command::new(&script).current_dir(root).stdin(Stdio::null()).status();
    let status = ended.map_err(|e| format!("{} cannot be started: {e}", script.display()))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(UNAVAILABLE) => {
            println!("   skipped: the packages of Python cannot be installed");
            Ok(())
        }
        _ => Err(format!("{SCRIPT}: {status}")),
    }
}
