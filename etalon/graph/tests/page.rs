//! Pages without a browser: the scripts run in Node.js, if it is installed.
use graph::{Change, Changes, Measured, Model, html, html_of_two};
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

fn model(text: &str) -> Model {
    let module = hlo::Module::parse(text).expect("the module is well formed");
    let verified = module.verify().expect("the module is valid");
    Model::of(&verified, text)
}

/// Looks at the page in Node.js, and returns the number of its boxes when most are unfolded.
fn boxes(page: &str) -> Option<usize> {
    let node = Command::new("node")
        .args(["-e", include_str!("page.js")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    // Without Node.js there is nothing to run the scripts with.
    let mut node = node.ok()?;
    let mut input = node.stdin.take()?;
    input.write_all(page.as_bytes()).expect("Node.js reads the page");
    drop(input);
    let output = node.wait_with_output().expect("Node.js ends");
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{found}");
    Some(found.trim().parse().unwrap_or_else(|_| panic!("{found}")))
}

#[test]
fn boxes_that_unfold_make_room() {
    let page = html(&model(&module()), &Measured::default());
    let Some(boxes) = boxes(&page) else { return };
    assert!(boxes > 200, "{boxes}");
}

#[test]
fn a_high_picture_is_in_columns() {
    let mut text = "HloModule m\nENTRY e { x0 = f32[4] parameter(0)\n".to_owned();
    for i in 1..30 {
        let _ = writeln!(text, "x{i} = f32[4] add(x{}, x{})", i - 1, i / 2);
    }
    let page = html(&model(&(text + "ROOT r = f32[4] negate(x29) }")), &Measured::default());
    let Some(boxes) = boxes(&page) else { return };
    assert_eq!(boxes, 31);
}

#[test]
fn counterparts_are_selected_and_unfolded_together() {
    let before = module();
    // An instruction more in front of the result, and a changed one.
    let after = before.replace("ROOT r", "new = f32[4] tanh(x199)\nROOT r");
    let after = after.replace("negate(x199)", "negate(new)");
    let mut changes = Changes::default();
    for at in 0..3 {
        changes.add([Some((0, at)); 2], Change::Same, "");
    }
    for at in 0..200 {
        changes.add([Some((1, at)); 2], Change::Same, "");
    }
    for (places, change) in [
        ([None, Some((1, 200))], Change::Added),
        ([Some((1, 200)), Some((1, 201))], Change::Changed),
    ] {
        changes.add(places, change, "operands");
        changes.list(places);
    }
    // What a call has changed.
    changes.add([Some((0, 1)); 2], Change::Changed, "");
    changes.list([Some((0, 1)); 2]);
    let page = html_of_two([&model(&before), &model(&after)], ["before", "</script>"], &changes);
    let Some(boxes) = boxes(&page) else { return };
    assert!(boxes > 400, "{boxes}");
}
