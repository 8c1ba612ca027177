//! Unpartitioned SPMD programs: every form of manual regions, with values derived by hand.
mod errors;
mod forms;
mod propagation;

use collectives::{RunError, RunOutput, Session};
use hlo::{Literal, Module, Verified};
use interp::{CompileOptions, RunOptions};

const ADD: &str = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }";

/// Returns a module with two meshes: `@m` of 4 devices along `a` and `b`, `@r` of the same in
/// another order.
fn module(body: &str) -> Verified {
    let text = format!(
        "HloModule t, frontend_attributes={{xla.sdy.meshes={{m = #sdy.mesh<[\"a\"=2, \"b\"=2]>, \
         r = #sdy.mesh<[\"c\"=4], device_ids=[3, 1, 0, 2]>, one = #sdy.mesh<[\"d\"=2]>}}}}\n{ADD}\n{body}"
    );
    match Module::parse(&text).unwrap().verify() {
        Ok(verified) => verified,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}
/// Returns the attributes of a full-to-shard marker: its shardings, and its manual axes.
fn cut(shardings: &str, axes: &str) -> String {
    let shardings = shardings.replace('"', "\\\"");
    let axes = axes.replace('"', "\\\"");
    format!(
        "custom_call_target=\"xla.sdy.GlobalToLocalShape\", frontend_attributes={{\
         xla.sdy.in_shardings=\"#sdy.sharding_per_value<[{shardings}]>\",\
         xla.sdy.manual_axes=\"#sdy<manual_axes{{{axes}}}>\"}}"
    )
}
/// Returns the same for a shard-to-full marker.
fn join(shardings: &str, axes: &str) -> String {
    cut(shardings, axes).replace("GlobalToLocal", "LocalToGlobal").replace("in_sh", "out_sh")
}
/// Returns the attributes of both markers along the same axes.
fn pair(cut_by: &str, join_by: &str, axes: &str) -> (String, String) {
    (cut(cut_by, axes), join(join_by, axes))
}

fn literals(texts: &[&str]) -> Vec<Literal> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}
/// Compiles a module that has manual regions.
fn compile(verified: &Verified) -> Result<Session, RunError> {
    let session = Session::compile(verified.clone(), &CompileOptions::default())?;
    assert!(session.is_unpartitioned(), "it has a manual region");
    Ok(session)
}
fn finish(body: &str, inputs: &[&str]) -> Result<RunOutput, RunError> {
    compile(&module(body))?.run(&[literals(inputs)], &RunOptions::default())
}
/// Fails unless the program has this result, and its devices agree.
#[track_caller]
fn check(body: &str, inputs: &[&str], expected: &str) {
    let finished = finish(body, inputs).unwrap();
    assert_eq!(finished.results[0], expected.parse().unwrap());
    assert_eq!(finished.notes, []);
}
