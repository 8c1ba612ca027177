//! The layout of pages, without a browser: the scripts run in Node.js, if it is installed.
use graph::{Measured, Model, html};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns a module of scopes with values from outside, edges over many rows, and calls.
fn module() -> String {
    let mut text = "HloModule m
f { a = f32[4] parameter(0) b = f32[4] negate(a) ROOT c = f32[4] tanh(b) }
ENTRY e { x0 = f32[4] parameter(0)
"
    .to_owned();
    for i in 1..200 {
        let (last, far) = (i - 1, i / 3);
        let scope = format!("metadata={{op_name=\"jit(f)/layer{}/step{}/op\"}}", i / 50, i / 10);
        let _ = match i % 7 {
            0 => writeln!(text, "x{i} = f32[4] call(x{last}), to_apply=f, {scope}"),
            1 => writeln!(text, "x{i} = f32[4] multiply(x{last}, x{far}), {scope}"),
            _ => writeln!(text, "x{i} = f32[4] add(x{last}, x{last}), {scope}"),
        };
    }
    text + "ROOT r = f32[4] negate(x199) }"
}

#[test]
fn boxes_that_unfold_make_room() {
    let text = module();
    let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
    let page = html(&Model::of(&verified, &text), &Measured::default());
    let node = Command::new("node")
        .args(["-e", include_str!("page.js")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    // Without Node.js there is nothing to run the scripts with.
    let Ok(mut node) = node else { return };
    node.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    let found = String::from_utf8_lossy(&output.stdout);
    let boxes: usize = found.trim().parse().unwrap_or_else(|_| panic!("{found}"));
    assert!(output.status.success() && boxes > 200, "{found}");
}
