//! Errors of runs on given devices and values: their numbers and messages.

use crate::common::program::Program;
use crate::common::{run, verified};
use collectives::Error;
use hlo::Literal;
use interp::{DeviceGrid, RunOptions};

const ADD: &str = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }";

/// Replicas and partitions.
fn module((replicas, partitions): (usize, usize), text: &str) -> String {
    format!("HloModule m, replica_count={replicas}, num_partitions={partitions}\n{ADD}\n{text}")
}

fn literals(texts: &[&str]) -> Vec<Literal> {
    texts.iter().map(|text| text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))).collect()
}

/// Fails unless the error has this number and contains these words.
fn says(result: Result<Vec<Literal>, Error>, number: &str, words: &[&str]) {
    let error = match result {
        Ok(results) => panic!("found {results:?}, expected {number} {words:?}"),
        Err(error) => error,
    };
    let text = error.to_string();
    assert_eq!(error.number(), number, "{text}");
    for word in words {
        assert!(text.contains(word), "{text}, expected `{word}`");
    }
}

#[test]
fn groups_of_another_grid() {
    let cases = [
        ("all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add", (4, 1), (2, 1), "replica 2"),
        ("all-reduce(x), replica_groups=[2,2]<=[4], to_apply=add", (4, 1), (2, 1), "4 replicas"),
        (
            "all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add",
            (2, 2),
            (3, 1),
            "device 3",
        ),
        (
            "collective-broadcast(x), channel_id=1, replica_groups={{1,0,2}}",
            (1, 3),
            (3, 1),
            "partition 1",
        ),
        ("collective-permute(x), source_target_pairs={{0,3}}", (4, 1), (3, 1), "replica 3"),
        // A module for one replica may name more replicas, but not more than the run has.
        ("all-reduce(x), replica_groups={{0,1}}, to_apply=add", (1, 1), (3, 1), "device 2"),
    ];
    for (op, stated, (replicas, partitions), who) in cases {
        let text =
            module(stated, &format!("ENTRY e {{ x = s32[] constant(1) ROOT r = s32[] {op} }}"));
        let verified = verified(&text);
        let program = Program::on_grid(&verified, DeviceGrid { replicas, partitions });
        says(program.run(&[vec![]]), "E0502", &[who]);
    }
}

#[test]
fn a_device_in_no_group_gets_zeros_of_a_broadcast() {
    let text = module(
        (1, 1),
        "ENTRY e { r = u32[] replica-id() ROOT y = u32[] collective-broadcast(r), replica_groups={{1,0}} }",
    );
    let verified = verified(&text);
    let program = Program::on_grid(&verified, DeviceGrid { replicas: 4, partitions: 1 });
    let results = program.run(&[vec![]]).unwrap_or_else(|error| panic!("{error}"));
    let shown: Vec<String> = results.iter().map(Literal::to_string).collect();
    assert_eq!(shown, ["u32[] 1", "u32[] 1", "u32[] 0", "u32[] 0"]);
}

#[test]
fn arguments_that_do_not_fit() {
    let text = module((3, 1), "ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] copy(x) }");
    let fits = || literals(&["s32[2] {1, 2}"]);
    says(run(&text, &[]), "E0505", &["0 devices", "3"]);
    says(run(&text, &[fits(), fits()]), "E0505", &["2 devices", "3"]);
    says(run(&text, &[fits(), vec![], fits()]), "E0401", &["device 1"]);
    says(run(&text, &[fits(), fits(), literals(&["s32[3] {1, 2, 3}"])]), "E0401", &["device 2"]);
}

#[test]
fn what_nobody_takes() {
    let send = "ENTRY e { x = s32[] constant(1) t = token[] after-all()
        s = (s32[], u32[], token[]) send(x, t), channel_id=7
        ROOT d = token[] send-done(s), channel_id=7 }";
    says(run(&module((2, 1), send), &[vec![]]), "E0501", &["devices 0 and 1", "channel 7"]);
    // Device 0 sends in three iterations, device 1 takes part in two.
    let permute = "
        step { c = s32[] parameter(0) p = s32[] collective-permute(c), source_target_pairs={{0,1}}
          one = s32[] constant(1) ROOT d = s32[] subtract(c, one) }
        more { c = s32[] parameter(0) zero = s32[] constant(0) ROOT m = pred[] compare(c, zero), direction=GT }
        ENTRY e { c = s32[] parameter(0) ROOT w = s32[] while(c), condition=more, body=step }";
    let inputs = [literals(&["s32[] 3"]), literals(&["s32[] 2"])];
    says(run(&module((2, 1), permute), &inputs), "E0504", &["device 0", "device 1", "round 3"]);
}

#[test]
fn ambiguous_channels() {
    // Devices 0 and 1 send, device 2 receives.
    let text = "
        gives { x = s32[] parameter(0) t = token[] after-all()
          s = (s32[], u32[], token[]) send(x, t), channel_id=1
          d = token[] send-done(s), channel_id=1 ROOT y = s32[] copy(x) }
        takes { x = s32[] parameter(0) t = token[] after-all() r = (s32[], u32[], token[]) recv(t), channel_id=1
          d = (s32[], token[]) recv-done(r), channel_id=1 ROOT y = s32[] get-tuple-element(d), index=0 }
        ENTRY e { x = s32[] constant(1) id = u32[] replica-id() i = s32[] convert(id)
          ROOT y = s32[] conditional(i, x, x, x), branch_computations={gives, gives, takes} }";
    says(run(&module((3, 1), text), &[vec![]]), "E0503", &["devices 0 and 1", "channel 1"]);
}

#[test]
fn rows_out_of_bounds() {
    let text = module(
        (2, 1),
        "ENTRY e { x = s32[4] parameter(0) from = s32[2] parameter(1) sizes = s32[2] parameter(2)
          to = s32[2] parameter(3) take = s32[2] parameter(4)
          ROOT r = s32[4] ragged-all-to-all(x, x, from, sizes, to, take), replica_groups={} }",
    );
    let device = |lists: [&str; 4]| {
        let mut arguments = literals(&["s32[4] {1, 2, 3, 4}"]);
        arguments.extend(lists.iter().map(|list| -> Literal {
            format!("s32[2] {{{list}}}").parse().unwrap_or_else(|e| panic!("{list}: {e}"))
        }));
        arguments
    };
    let quiet = || device(["0, 0", "0, 0", "0, 0", "0, 0"]);
    for (sender, receiver, words) in [
        // Two rows from row 3, of four.
        (device(["0, 3", "0, 2", "0, 0", "0, 0"]), quiet(), "input of device 0 to device 1"),
        (device(["0, 0", "0, 2", "0, 3", "0, 0"]), quiet(), "output of device 0 to device 1"),
        (device(["0, -1", "0, 1", "0, 0", "0, 0"]), quiet(), "from row -1"),
        (device(["0, 0", "0, -1", "0, 0", "0, 0"]), quiet(), "-1 rows"),
        (
            device(["0, 2147483647", "0, 2147483647", "0, 0", "0, 0"]),
            quiet(),
            "rows from row 2147483647",
        ),
        // Device 1 expects nothing.
        (device(["0, 0", "0, 2", "0, 0", "0, 0"]), quiet(), "expects 0 rows"),
        (
            quiet(),
            device(["0, 0", "0, 0", "0, 0", "1, 0"]),
            "expects 1 rows from device 0, which sends 0",
        ),
    ] {
        says(run(&text, &[sender, receiver]), "E0408", &[words]);
    }
}

#[test]
fn roots_out_of_range() {
    let text = module(
        (2, 1),
        "ENTRY e { x = s32[] constant(1) root = s32[1] parameter(0)
          ROOT r = s32[] collective-broadcast(x, root), replica_groups={}, has_dynamic_root=true }",
    );
    says(run(&text, &[literals(&["s32[1] {2}"])]), "E0408", &["root 2", "2"]);
    says(run(&text, &[literals(&["s32[1] {-1}"])]), "E0408", &["root -1"]);
}

#[test]
fn channels_that_are_shared() {
    let all_reduce = "r = s32[2] all-reduce(x), channel_id=1, replica_groups={}, to_apply=add";
    let pairs: [(&str, &[&str]); 2] = [
        (
            "y = s32[1] slice(x), slice={[0:1]}
             r = s32[2] all-gather(y), channel_id=1, replica_groups={}, dimensions={0}",
            &["all-reduce", "all-gather"],
        ),
        (
            "y = s32[4] concatenate(x, x), dimensions={0}
             z = s32[4] all-reduce(y), channel_id=1, replica_groups={}, to_apply=add
             r = s32[2] slice(z), slice={[0:2]}",
            &["s32[2]", "s32[4]"],
        ),
    ];
    for (theirs, words) in pairs {
        let text = module(
            (2, 1),
            &format!(
                "ours {{ x = s32[2] parameter(0) {} }}
                theirs {{ x = s32[2] parameter(0) {} }}
                ENTRY e {{ x = s32[2] constant({{1, 2}}) id = u32[] replica-id() i = s32[] convert(id)
                  ROOT y = s32[2] conditional(i, x, x), branch_computations={{ours, theirs}} }}",
                all_reduce.replacen("r = ", "ROOT r = ", 1),
                theirs.replacen("r = ", "ROOT r = ", 1)
            ),
        );
        says(run(&text, &[vec![]]), "E0503", words);
    }
}

#[test]
fn a_device_that_fails_is_named() {
    // Only device 2 exceeds its fuel.
    let text = module(
        (3, 1),
        "step { c = s32[] parameter(0) one = s32[] constant(1) ROOT d = s32[] subtract(c, one) }
        more { c = s32[] parameter(0) zero = s32[] constant(0) ROOT m = pred[] compare(c, zero), direction=GT }
        ENTRY e { c = s32[] parameter(0) w = s32[] while(c), condition=more, body=step
          ROOT r = s32[] all-reduce(w), replica_groups={}, to_apply=add }",
    );
    let verified = verified(&text);
    let program = Program::new(&verified).with_options(RunOptions::default().fuel(100));
    let inputs = [literals(&["s32[] 1"]), literals(&["s32[] 2"]), literals(&["s32[] 1000"])];
    says(program.run(&inputs), "E0404", &["device 2", "100 steps"]);
}
