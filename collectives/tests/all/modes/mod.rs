//! Every op with groups or pairs: in each group mode that its attributes allow, in each spelling of
//! the groups, in each form (synchronous, `-start` and `-done`, wrapped in a computation that
//! `async-start` starts).
//!
//! Results are compared with `model`: an index formula for each op, from the specification.
mod groups;
mod model;
mod pairs;

use crate::common::mode::Mode;
use crate::common::run;
use groups::{EIGHT, FOUR, Spelling, UNEVEN};
use hlo::Literal;
use model::{Case, Kind};

/// The form of the op in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Plain,
    /// `all-gather-start`, and `reduce-scatter-start` for a computation that is not written.
    Start,
    /// `async-start` of a computation, an `async-update`, `async-done`.
    Wrapped,
}

const ADD: &str = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }";

/// Returns a single shape unchanged, several as a tuple.
fn packed(shapes: &[String]) -> String {
    match shapes {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// Returns the entry computation, and those it calls, that run the op on the parameters.
fn body(case: &Case, form: Form, attributes: &str) -> String {
    let Case { opcode, operands, results, .. } = case;
    let parameters: Vec<String> = (operands.iter().enumerate())
        .map(|(i, shape)| format!("p{i} = {shape} parameter({i})"))
        .collect();
    let parameters = parameters.join(" ");
    let names: Vec<String> = (0..operands.len()).map(|i| format!("p{i}")).collect();
    let (names, result) = (names.join(", "), packed(results));
    let state = format!("(({}), {result})", operands.join(", "));
    let plain = format!("{parameters} ROOT r = {result} {opcode}({names}), {attributes}");
    match form {
        Form::Plain => format!("ENTRY e {{ {plain} }}"),
        Form::Start => {
            let shape = match *opcode {
                "all-reduce" => result.clone(),
                "all-gather" | "collective-permute" => format!("({}, {result})", packed(operands)),
                _ => state,
            };
            format!(
                "ENTRY e {{ {parameters} s = {shape} {opcode}-start({names}), {attributes}
                ROOT r = {result} {opcode}-done(s) }}"
            )
        }
        Form::Wrapped => format!(
            "wrapped {{ {plain} }}
            ENTRY e {{ {parameters} s = {state} async-start({names}), calls=wrapped
            u = {state} async-update(s) ROOT r = {result} async-done(u) }}"
        ),
    }
}

/// Runs the case in all its forms, and compares each device's result with the expected one.
fn check(grid: (usize, usize), case: &Case, attributes: &str) {
    for form in [Form::Plain, Form::Start, Form::Wrapped] {
        let (replicas, partitions) = grid;
        let text = format!(
            "HloModule m, replica_count={replicas}, num_partitions={partitions}\n{ADD}\n{}",
            body(case, form, attributes)
        );
        let results = run(&text, &case.inputs).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(results.len(), case.expected.len());
        for (device, (found, expected)) in results.iter().zip(&case.expected).enumerate() {
            let found: Vec<&[i32]> = found.leaves().iter().map(|x| values(x)).collect();
            assert_eq!(found, *expected, "device {device}\n{text}");
        }
    }
}

fn values(literal: &Literal) -> &[i32] {
    literal.as_slice().expect("s32")
}

/// Replicas and partitions: four ids of the mode, or eight devices.
fn grid(mode: Mode) -> (usize, usize) {
    match mode {
        Mode::CrossPartition => (2, 4),
        Mode::CrossReplica | Mode::CrossReplicaAndPartition | Mode::FlattenedId => (4, 2),
    }
}

/// Runs each op in a mode, for each of the spellings.
fn sweep(mode: Mode, spellings: &[Spelling], kinds: &[Kind]) {
    let grid = grid(mode);
    for Spelling { text, ids } in spellings {
        let ids: Vec<Vec<usize>> = ids.iter().map(|ids| ids.to_vec()).collect();
        let groups = mode.devices(&ids, grid);
        for kind in kinds {
            let attributes =
                format!("replica_groups={text}{}{}", mode.attributes(), kind.attributes());
            check(grid, &kind.case(&groups, grid), &attributes);
        }
    }
}

/// Ops with the attribute `use_global_device_ids`.
const REDUCING: [Kind; 8] = [
    Kind::AllReduce { arity: 1 },
    Kind::AllReduce { arity: 2 },
    Kind::ReduceScatter { arity: 1, dim: 0 },
    Kind::ReduceScatter { arity: 1, dim: 1 },
    Kind::ReduceScatter { arity: 2, dim: 0 },
    Kind::AllGather { arity: 1, dim: 0 },
    Kind::AllGather { arity: 1, dim: 1 },
    Kind::AllGather { arity: 2, dim: 1 },
];
/// Ops without it.
const MOVING: [Kind; 7] = [
    Kind::AllToAll { dim: 0 },
    Kind::AllToAll { dim: 1 },
    Kind::AllToAllOfTuple,
    Kind::Broadcast,
    Kind::BroadcastFromRoot,
    Kind::Ragged,
    Kind::RaggedUpdates,
];

#[test]
fn across_replicas() {
    sweep(Mode::CrossReplica, &FOUR, &REDUCING);
    sweep(Mode::CrossReplica, &FOUR, &MOVING);
}
#[test]
fn across_partitions() {
    sweep(Mode::CrossPartition, &FOUR, &MOVING);
}
#[test]
fn across_replicas_and_partitions() {
    sweep(Mode::CrossReplicaAndPartition, &FOUR, &REDUCING);
}
#[test]
fn across_devices() {
    sweep(Mode::FlattenedId, &EIGHT, &REDUCING);
}
#[test]
fn groups_of_all_reduce_may_differ_in_size() {
    let kinds = [Kind::AllReduce { arity: 1 }, Kind::AllReduce { arity: 2 }];
    sweep(Mode::CrossReplica, &UNEVEN, &kinds);
    sweep(Mode::CrossReplicaAndPartition, &UNEVEN, &kinds);
}
