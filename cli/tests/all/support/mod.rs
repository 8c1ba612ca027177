//! Helpers for tests of the command: a folder for its files, and checks of its output.
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A temporary folder for a test, removed on drop.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("etalon-{name}-{process}-{count}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
    pub(crate) fn etalon(&self, line: &str) -> Output {
        self.with_input(line, "")
    }
    pub(crate) fn with_input(&self, line: &str, input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_etalon"))
            .args(line.split_whitespace())
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The process may end without reading all of its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
pub(crate) fn expect(output: &Output, code: i32, data: &str, errors: &str) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    assert!(stdout.contains(data), "no `{data}` in {stdout}");
    assert!(stderr.contains(errors), "no `{errors}` in {stderr}");
}
