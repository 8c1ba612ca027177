//! Runs of several ranks, here threads: the same results and the same errors as one process.

use crate::common::program::Program;
use crate::threads::{Fault, on_ranks, traffic, with_fault};
use collectives::{Code, Error};
use hlo::{Literal, Module, Verified};
use interp::RunOptions;

const HEADER: &str = "
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
";

fn module(grid: (usize, usize), body: &str) -> Verified {
    let (replicas, partitions) = grid;
    let text = format!(
        "HloModule m, replica_count={replicas}, num_partitions={partitions}\n{HEADER}\n{body}"
    );
    match Module::parse(&text).unwrap().verify() {
        Ok(verified) => verified,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}
fn literals(texts: &[&str]) -> Vec<Literal> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}
/// Types, layouts and bits of every device's result.
fn bits(results: &[Literal]) -> Vec<(String, Vec<u8>)> {
    let leaves = results.iter().flat_map(Literal::leaves);
    leaves.map(|leaf| (leaf.shape().to_string(), leaf.bytes().to_vec())).collect()
}

/// Returns the outcome in one process, after checking that every rank of any number of ranks has
/// the same: the results of its devices, or the error.
fn same(program: &Program, inputs: &[Vec<Literal>]) -> Result<Vec<Literal>, Error> {
    let alone = program.run(inputs);
    for count in [1, 2, 3, 5] {
        let devices = program.session().grid().len();
        let ranks = on_ranks(count, |ranks| {
            let own = ranks.block(devices);
            (own, program.clone().with_ranks(ranks).run(inputs))
        });
        assert_eq!(ranks.len(), count);
        for (rank, (own, found)) in ranks.into_iter().enumerate() {
            match (&alone, &found) {
                (Ok(alone), Ok(found)) => {
                    assert_eq!(bits(found), bits(&alone[own]), "rank {rank} of {count}");
                }
                (Err(alone), Err(found)) => {
                    assert_eq!(found, alone, "rank {rank} of {count}");
                    assert_eq!(found.diagnostic(), alone.diagnostic());
                }
                _ => panic!("rank {rank} of {count}: {found:?}, one process: {alone:?}"),
            }
        }
    }
    alone
}

/// Modules with an op of each kind, for 2 replicas and 2 partitions.
const PROGRAMS: [&str; 11] = [
    // Groups of one rank and across ranks, and sums that depend on their order.
    "ENTRY e { x = f32[2] parameter(0)
       a = f32[2] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
       b = f32[2] all-reduce(a), channel_id=2, replica_groups={{3,1,0,2}}, use_global_device_ids=true, to_apply=add
       ROOT c = f32[2] all-reduce(b), replica_groups={}, to_apply=max }",
    "ENTRY e { x = f32[2] parameter(0)
       a = f32[8] all-gather(x), channel_id=1, replica_groups={{2,0,1,3}}, dimensions={0}, use_global_device_ids=true
       b = f32[4] reduce-scatter(a), replica_groups={{1,0}}, dimensions={0}, to_apply=add
       ROOT c = f32[4] all-to-all(b), replica_groups={{1,0}}, dimensions={0} }",
    "ENTRY e { x = f32[2] parameter(0)
       a = f32[2] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
       b = f32[2] collective-permute(a), source_target_pairs={{0,1}}
       c = f32[2] add(a, b)
       ROOT d = f32[2] collective-broadcast(c), replica_groups={{1,0}} }",
    // A start whose done is late.
    "ENTRY e { x = f32[2] parameter(0)
       s = f32[2] all-reduce-start(x), replica_groups={}, to_apply=add
       p = (f32[2], f32[2]) collective-permute-start(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
       q = f32[2] collective-permute-done(p)
       t = f32[2] all-reduce-done(s)
       ROOT r = f32[2] subtract(q, t) }",
    // A computation that runs concurrently with the entry.
    "spawned { y = f32[2] parameter(0) ROOT g = f32[4] all-gather(y), replica_groups={}, dimensions={0} }
     ENTRY e { x = f32[2] parameter(0)
       s = ((f32[2]), f32[4]) async-start(x), calls=spawned
       u = ((f32[2]), f32[4]) async-update(s)
       y = f32[2] all-reduce(x), replica_groups={}, to_apply=add
       d = f32[4] async-done(u)
       ROOT t = (f32[2], f32[4]) tuple(y, d) }",
    // Stated pairs: every replica's partition 0 sends to its partition 1.
    "ENTRY e { x = f32[2] parameter(0) tok = token[] after-all()
       s = (f32[2], u32[], token[]) send(x, tok), channel_id=7, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
       d = token[] send-done(s), channel_id=7
       r = (f32[2], u32[], token[]) recv(tok), channel_id=7, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
       e = (f32[2], token[]) recv-done(r), channel_id=7
       ROOT y = f32[2] get-tuple-element(e), index=0 }",
    // A device that sends to itself.
    "ENTRY e { x = f32[2] parameter(0) tok = token[] after-all()
       s = (f32[2], u32[], token[]) send(x, tok), channel_id=7
       d = token[] send-done(s), channel_id=7
       r = (f32[2], u32[], token[]) recv(tok), channel_id=7
       e = (f32[2], token[]) recv-done(r), channel_id=7
       ROOT y = f32[2] get-tuple-element(e), index=0 }",
    // Iterations of a loop, and a group of only some devices.
    "body { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0
       x = f32[2] get-tuple-element(s), index=1
       sum = f32[2] all-reduce(x), replica_groups={{0},{1}}, to_apply=add
       sent = f32[2] collective-permute(sum), channel_id=1, source_target_pairs={{0,1},{1,0}}
       one = s32[] constant(1) j = s32[] add(i, one) ROOT t = (s32[], f32[2]) tuple(j, sent) }
     less { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0
       n = s32[] constant(3) ROOT c = pred[] compare(i, n), direction=LT }
     ENTRY e { x = f32[2] parameter(0) zero = s32[] constant(0) s = (s32[], f32[2]) tuple(zero, x)
       ROOT w = (s32[], f32[2]) while(s), condition=less, body=body }",
    "ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }",
    // Replicas exchange values of partitions.
    "ENTRY e { x = f32[2] parameter(0)
       ROOT a = (f32[2], f32[2]) all-to-all(x, x), replica_groups={{1,0}} }",
    "ENTRY e { p = u32[] partition-id() r = u32[] replica-id() q = u32[] multiply(p, r) x = f32[2] parameter(0)
       f = f32[] convert(q) b = f32[2] broadcast(f), dimensions={} z = f32[2] add(x, b)
       o = f32[2] constant({0, 0}) offs = s32[4] constant({0, 0, 0, 0}) sizes = s32[2] constant({1, 1}) at = s32[2] constant({0, 1})
       ROOT rg = f32[2] ragged-all-to-all(z, o, at, sizes, at, sizes), replica_groups={{0,1}} }",
];

#[test]
fn ranks_return_the_bits_of_one_process() {
    let inputs: Vec<Vec<Literal>> = ["0.1, 3e7", "1e8, 0.3", "-1e8, 2", "7e-3, -3e7"]
        .map(|pair| literals(&[&format!("f32[2] {{{pair}}}")]))
        .into();
    for body in PROGRAMS {
        let verified = module((2, 2), body);
        let program = Program::new(&verified);
        // Channels without pairs of devices, and pairs of partitions only where there are several,
        // may be rejected, in the same way.
        same(&program, &inputs).unwrap_or_else(|error| panic!("{error}\n{body}"));
        let seeded = program.with_seed(5);
        same(&seeded, &inputs).unwrap_or_else(|error| panic!("{error}\n{body}"));
    }
}

#[test]
fn values_cross_once_for_each_rank() {
    for (root, bytes) in [
        // Each of 4 operands of 32 bytes, to the other rank.
        ("f32[32] all-gather(x), replica_groups={}, dimensions={0}", 4 * 32),
        // Half of each operand, and half of the result to the other rank.
        ("f32[8] all-reduce(x), replica_groups={}, to_apply=add", 4 * 16 + 2 * 16),
        // Half of each operand.
        ("f32[8] all-to-all(x), replica_groups={}, dimensions={0}", 4 * 16),
        ("f32[8] collective-broadcast(x), replica_groups={}", 32),
        // Device 0 sends a row to each device, device 1 one to device 3; 4 lists of 16 bytes of
        // each device.
        (
            "f32[8] ragged-all-to-all(x, o, at, size, at, got), replica_groups={}",
            4 * 4 * 16 + 3 * 4,
        ),
    ] {
        let verified = module(
            (4, 1),
            &format!(
                "ENTRY e {{ x = f32[8] parameter(0) o = f32[8] negate(x) size = s32[4] parameter(1)
                 got = s32[4] parameter(2) at = s32[4] constant({{0, 1, 2, 3}}) ROOT r = {root} }}"
            ),
        );
        let x = "f32[8] {1, 2, 3, 4, 5, 6, 7, 8}";
        let inputs = [
            ["s32[4] {1, 1, 1, 1}", "s32[4] {1, 0, 0, 0}"],
            ["s32[4] {0, 0, 0, 1}", "s32[4] {1, 0, 0, 0}"],
            ["s32[4] {0, 0, 0, 0}", "s32[4] {1, 0, 0, 0}"],
            ["s32[4] {0, 0, 0, 0}", "s32[4] {1, 1, 0, 0}"],
        ];
        let inputs = inputs.map(|[sizes, got]| literals(&[x, sizes, got]));
        let program = Program::new(&verified);
        same(&program, &inputs).unwrap();
        let found = traffic(2, |ranks| {
            program.clone().with_ranks(ranks).run(&inputs).unwrap();
        });
        assert_eq!(found, bytes, "{root}");
    }
}

#[test]
fn rows_of_several_updates_cross_ranks() {
    // Each device sends each of the 3 devices two ranges of rows, which overlap where they are
    // written: the last one remains.
    let verified = module(
        (3, 1),
        "ENTRY e { x = f32[4,2] parameter(0) o = f32[4,2]{0,1} parameter(1) from = s32[3,2] parameter(2)
         sizes = s32[3,2] constant({{1, 2}, {1, 2}, {1, 2}}) to = s32[3,2] parameter(3)
         ROOT r = f32[4,2]{0,1} ragged-all-to-all(x, o, from, sizes, to, sizes), replica_groups={{2,0,1}} }",
    );
    let inputs: Vec<Vec<Literal>> = (0..3)
        .map(|k| {
            let rows: Vec<String> = (0..4).map(|i| format!("{{{k}.{i}1, {k}.{i}2}}")).collect();
            let out = "f32[4,2] {{-1, -1}, {-2, -2}, {-3, -3}, {-4, -4}}";
            let at = |a: i32| format!("s32[3,2] {{{{{a}, 0}}, {{0, {a}}}, {{{a}, 1}}}}");
            literals(&[&format!("f32[4,2] {{{}}}", rows.join(", ")), out, &at(k), &at(2 - k)])
        })
        .collect();
    same(&Program::new(&verified), &inputs).unwrap();
}

#[test]
fn groups_of_different_sizes_are_on_different_ranks() {
    let inputs: Vec<Vec<Literal>> = (0..5)
        .map(|k| {
            let numbers: Vec<String> = (0..6).map(|i| format!("{}e{i}", k * 7 + i - 9)).collect();
            literals(&[&format!("f32[6] {{{}}}", numbers.join(", ")), &format!("s32[] {k}")])
        })
        .collect();
    for (result, root) in [
        // Ranges of several operands, one of which has fewer elements than ranks, and one none.
        (
            "(f32[6], f32[], f32[0,3])",
            "all-reduce(x, one, none), replica_groups={{4,0,3},{1,2}}, to_apply=add",
        ),
        ("f32[6]", "all-reduce(x), replica_groups={{4,0,3},{1,2}}, to_apply=max"),
        ("f32[6]", "collective-broadcast(x), replica_groups={{3,0},{1,4}}"),
        ("f32[6]", "collective-permute(x), source_target_pairs={{0,4},{4,1},{2,2}}"),
        ("f32[0,3]", "collective-permute(none), source_target_pairs={{0,4},{4,1},{2,2}}"),
    ] {
        let verified = module(
            (5, 1),
            &format!(
                "ENTRY e {{ x = f32[6] parameter(0) k = s32[] parameter(1) one = f32[] convert(k)
                 none = f32[0,3] constant({{}}) ROOT r = {result} {root} }}"
            ),
        );
        let program = Program::new(&verified);
        same(&program, &inputs).unwrap_or_else(|error| panic!("{error}\n{root}"));
        let seeded = program.with_seed(3);
        same(&seeded, &inputs).unwrap_or_else(|error| panic!("{error}\n{root}"));
    }
}

#[test]
fn values_of_open_channels_and_concurrent_computations_cross_ranks() {
    let inputs: Vec<Vec<Literal>> = (0..3)
        .map(|k| literals(&[&format!("f32[2] {{{k}, 0.5}}"), &format!("s32[] {k}")]))
        .collect();
    // Device 0 sends to device 2, which waits; neither instruction names the other device.
    let open = "
      sends { x = f32[2] parameter(0) t = token[] after-all()
        s = (f32[2], u32[], token[]) send(x, t), channel_id=3 d = token[] send-done(s), channel_id=3
        ROOT y = f32[2] negate(x) }
      receives { x = f32[2] parameter(0) t = token[] after-all()
        r = (f32[2], u32[], token[]) recv(t), channel_id=3 d = (f32[2], token[]) recv-done(r), channel_id=3
        ROOT y = f32[2] get-tuple-element(d), index=0 }
      neither { x = f32[2] parameter(0) ROOT y = f32[2] copy(x) }
      ENTRY e { x = f32[2] parameter(0) k = s32[] parameter(1)
        ROOT r = f32[2] conditional(k, x, x, x), branch_computations={sends, neither, receives} }";
    let results = same(&Program::new(&module((3, 1), open)), &inputs).unwrap();
    assert_eq!(results[2], literals(&["f32[2] {0, 0.5}"])[0]);
    // Two computations run next to the entry; one is bound late, and what it reduces crosses ranks.
    let concurrent = "
      sum { y = f32[2] parameter(0) ROOT g = f32[2] all-reduce(y), replica_groups={}, to_apply=add }
      shift { y = f32[2] parameter(0)
        ROOT g = f32[2] collective-permute(y), source_target_pairs={{0,1},{1,2},{2,0}} }
      ENTRY e { x = f32[2] parameter(0) k = s32[] parameter(1)
        s = ((f32[2]), f32[2]) async-start(x), calls=sum
        p = ((f32[2]), f32[2]) async-start(x), calls=shift
        w = f32[6] all-gather(x), replica_groups={}, dimensions={0}
        q = f32[2] async-done(p) d = f32[2] async-done(s)
        ROOT t = (f32[2], f32[2], f32[6]) tuple(d, q, w) }";
    same(&Program::new(&module((3, 1), concurrent)), &inputs).unwrap();
}

#[test]
fn sizes_of_values_cross_ranks() {
    let inputs: Vec<Vec<Literal>> = (0..3).map(|k| literals(&[&format!("s32[] {k}")])).collect();
    let of = |root: &str| {
        let text = format!(
            "ENTRY e {{ x = f32[2] constant({{1, 2}}) k = s32[] parameter(0)
             y = f32[<=2] set-dimension-size(x, k), dimensions={{0}} ROOT r = {root} }}"
        );
        same(&Program::new(&module((3, 1), &text)), &inputs)
    };
    let moved = of("f32[<=2] collective-permute(y), source_target_pairs={{0,1},{1,2},{2,0}}");
    assert_eq!(moved.unwrap(), literals(&["f32[2] {1, 2}", "f32[0] {}", "f32[1] {1}"]));
    let error = of("f32[<=2] all-reduce(y), replica_groups={}, to_apply=add").unwrap_err();
    assert_eq!(error.number(), "E0402");
    let error = of("f32[<=6] all-gather(y), replica_groups={}, dimensions={0}").unwrap_err();
    assert_eq!(error.number(), "E0402");
}

#[test]
fn instructions_are_called_what_the_text_calls_them() {
    // Three computations have an `r`; as in XLA, the parser makes the second one `r.1`.
    let body = "
      same { c = f32[] parameter(0) ROOT r = f32[] negate(c) }
      waits { c = f32[] parameter(0) ROOT r = f32[] all-reduce(c), replica_groups={}, to_apply=add }
      ENTRY e { c = f32[] constant(1) k = u32[] replica-id() zero = u32[] constant(0)
        p = pred[] compare(k, zero), direction=EQ
        ROOT r = f32[] conditional(p, c, c), true_computation=same, false_computation=waits }";
    let error = same(&Program::new(&module((3, 1), body)), &[Vec::new()]).unwrap_err();
    assert!(error.to_string().contains("wait at `waits/r` for"), "{error}");
}

#[test]
fn a_sum_of_two_ranks_by_hand() {
    let verified = module(
        (2, 1),
        "ENTRY e { x = f32[] parameter(0) ROOT r = f32[] all-reduce(x), replica_groups={}, to_apply=add }",
    );
    let inputs = [literals(&["f32[] 1.5"]), literals(&["f32[] 2"])];
    let all = on_ranks(2, |ranks| Program::new(&verified).with_ranks(ranks).run(&inputs).unwrap());
    for results in all {
        assert_eq!(results, literals(&["f32[] 3.5"]));
    }
}

#[test]
fn a_rank_reads_only_its_own_arguments() {
    let verified = module(
        (2, 1),
        "ENTRY e { x = f32[] parameter(0) ROOT r = f32[] all-reduce(x), replica_groups={}, to_apply=add }",
    );
    let all = on_ranks(2, |ranks| {
        let mut inputs = vec![Vec::new(), Vec::new()];
        inputs[ranks.rank()] = literals(&["f32[] 4"]);
        Program::new(&verified).with_ranks(ranks).run(&inputs).unwrap()
    });
    for results in all {
        assert_eq!(results, literals(&["f32[] 8"]));
    }
}

#[test]
fn ranks_report_the_same_deadlock() {
    let body = "
      body { s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = f32[] get-tuple-element(s), index=1
        sum = f32[] all-reduce(x), replica_groups={}, to_apply=add
        one = s32[] constant(1) j = s32[] subtract(i, one) ROOT t = (s32[], f32[]) tuple(j, sum) }
      more { s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
        zero = s32[] constant(0) ROOT c = pred[] compare(i, zero), direction=GT }
      ENTRY e { n = s32[] parameter(0) x = f32[] constant(1) s = (s32[], f32[]) tuple(n, x)
        ROOT w = (s32[], f32[]) while(s), condition=more, body=body }";
    let verified = module((3, 1), body);
    let inputs = ["s32[] 3", "s32[] 2", "s32[] 2"].map(|n| literals(&[n]));
    let error = same(&Program::new(&verified), &inputs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[E0501]: deadlock: every running device waits for another one\n  \
         device 0 waits at `body/sum` for devices 1 and 2, which have finished, in iteration 3 of `w`\n  devices 1 and 2 have finished"
    );
}

#[test]
fn an_error_of_one_rank_ends_all() {
    let sum = "ENTRY e { x = f32[2] parameter(0)
        ROOT r = f32[2] all-reduce(x), replica_groups={}, to_apply=add }";
    let good = || literals(&["f32[2] {1, 2}"]);
    // Arguments that do not fit on two devices: the error of the first is reported.
    let verified = module((4, 1), sum);
    let inputs = [good(), good(), literals(&["f32[3] {1, 2, 3}"]), Vec::new()];
    let error = same(&Program::new(&verified), &inputs).unwrap_err();
    assert!(error.to_string().starts_with("error[E0401]: device 2: "), "{error}");
    let error = same(&Program::new(&verified), &[good(), good()]).unwrap_err();
    assert_eq!(error.number(), "E0505");
    // A value that becomes infinite on the last device.
    let verified = module(
        (4, 1),
        "ENTRY e { x = f32[2] parameter(0) y = f32[2] exponential(x)
         ROOT r = f32[2] all-reduce(y), replica_groups={}, to_apply=add }",
    );
    let inputs = [good(), good(), good(), literals(&["f32[2] {1, 1000}"])];
    let program = Program::new(&verified).with_options(RunOptions::default().check_nan(true));
    let error = same(&program, &inputs).unwrap_err();
    assert!(error.to_string().starts_with("error[E0409]: device 3: "), "{error}");
    // Two groups fail, each on its own rank if there are two: the error of the group that completed
    // first is reported.
    let verified = module(
        (4, 1),
        "ENTRY e { x = f32[2] parameter(0) o = f32[2] constant({0, 0}) at = s32[2] constant({0, 1})
         sizes = s32[2] parameter(1)
         ROOT r = f32[2] ragged-all-to-all(x, o, at, sizes, at, sizes), replica_groups={{0,1},{2,3}} }",
    );
    let input = |sizes: &str| literals(&["f32[2] {1, 2}", &format!("s32[2] {{{sizes}}}")]);
    let inputs = [input("1, 1"), input("1, 1"), input("1, 1"), input("1, 2")];
    let error = same(&Program::new(&verified), &inputs).unwrap_err();
    assert!(error.to_string().starts_with("error[E0408]: device 2: "), "{error}");
    let inputs = [input("1, 3"), input("1, 1"), input("1, 1"), input("1, 2")];
    let error = same(&Program::new(&verified), &inputs).unwrap_err();
    assert!(error.to_string().starts_with("error[E0408]: device 0: "), "{error}");
}

#[test]
fn ranks_that_run_different_programs_fail() {
    let text = |op: &str| format!("ENTRY e {{ x = f32[] parameter(0) ROOT r = f32[] {op}(x) }}");
    let (negate, sine) = (module((2, 1), &text("negate")), module((2, 1), &text("sine")));
    let wide = module((4, 1), &text("negate"));
    let inputs = [literals(&["f32[] 1"])];
    let fuel = RunOptions::default().fuel(100);
    for (other, expected) in [
        (Program::new(&sine), "ranks 0 and 2 run different modules: `m` ("),
        (
            Program::on_grid(&negate, interp::DeviceGrid { replicas: 1, partitions: 2 }),
            "different devices: 2 x 1 and 1 x 2",
        ),
        (Program::new(&negate).with_options(fuel), "ranks 0 and 2 run different options: "),
        (Program::new(&negate).with_seed(1), "order: None, buffered_sends: false } and "),
        (Program::new(&wide), "ranks 0 and 2 run different modules: "),
    ] {
        let errors = on_ranks(3, |ranks| {
            let program = if ranks.rank() == 2 { other.clone() } else { Program::new(&negate) };
            program.with_ranks(ranks).run(&inputs).unwrap_err()
        });
        for error in &errors {
            assert_eq!(error.number(), "E0508");
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(error, &errors[0]);
        }
    }
}

/// Six exchanges of messages.
const CHAIN: &str = "ENTRY e { x = f32[2] parameter(0)
    a = f32[2] all-reduce(x), replica_groups={}, to_apply=add
    b = f32[2] all-reduce(a), replica_groups={}, to_apply=max
    c = f32[2] all-reduce(b), replica_groups={}, to_apply=add
    ROOT d = f32[8] all-gather(c), replica_groups={}, dimensions={0} }";

#[test]
fn a_lost_rank_ends_the_others() {
    let verified = module((4, 1), CHAIN);
    let inputs = [literals(&["f32[2] {1, 2}"])];
    for round in 0..6 {
        let fault = Fault { rank: 1, round, damage: None };
        let ended = with_fault(3, fault, |ranks| {
            Program::new(&verified).with_ranks(ranks).run(&inputs).unwrap_err()
        });
        for error in [&ended[0], &ended[2]] {
            assert!(matches!(error.code(), Code::Lost { .. }), "{error}");
            assert!(error.to_string().contains("is gone"), "{error}");
        }
    }
}

#[test]
fn malformed_messages_are_reported_and_never_hang() {
    let verified = module((4, 1), CHAIN);
    let inputs = [literals(&["f32[2] {1, 2}"])];
    let mut reported = 0;
    for round in 0..6 {
        // The first bytes are length and counters, followed by names, numbers and values.
        for at in 0..90 {
            let fault = Fault { rank: 1, round, damage: Some((at, 0xff)) };
            let ended = with_fault(2, fault, |ranks| {
                Program::new(&verified).with_ranks(ranks).run(&inputs).err().map(|e| e.number())
            });
            reported += ended.into_iter().flatten().filter(|number| *number == "E0509").count();
        }
    }
    assert!(reported > 300, "{reported}");
}

#[test]
fn programs_gather_between_runs() {
    let all = on_ranks(3, |ranks| {
        let byte = [ranks.rank() * 2].map(|n| u8::try_from(n).unwrap());
        ranks.gather(byte.to_vec()).unwrap()
    });
    assert_eq!(all, vec![vec![vec![0], vec![2], vec![4]]; 3]);
    let all = on_ranks(3, |ranks| {
        // Rank 1 has two values, the others none.
        let own = literals(&["s4[3] {1, -8, 7}", "( f32[] 2.5, pred[] true )"]);
        let own = if ranks.rank() == 1 { own } else { Vec::new() };
        ranks.gather_values(&own).unwrap()
    });
    for values in all {
        assert_eq!(values, literals(&["s4[3] {1, -8, 7}", "( f32[] 2.5, pred[] true )"]));
    }
}

/// Each rank has the memory limit for its own devices: their arguments, which they share, and 32
/// bytes for each result.
#[test]
fn memory_limits_are_those_of_ranks() {
    let verified = module(
        (4, 1),
        "ENTRY e { x = f32[2] parameter(0)
         ROOT r = f32[8] all-gather(x), replica_groups={}, dimensions={0} }",
    );
    let inputs = [literals(&["f32[2] {1, 2}"])];
    let run = |count, bytes| {
        let options = RunOptions::default().max_memory(bytes);
        let program = Program::new(&verified).with_options(options);
        on_ranks(count, |ranks| program.clone().with_ranks(ranks).run(&inputs))
    };
    for (count, least) in [(1, 8 + 4 * 32), (2, 8 + 2 * 32), (4, 8 + 32)] {
        assert!(run(count, least).iter().all(Result::is_ok), "{count} ranks");
        let errors: Vec<_> = run(count, least - 1).into_iter().map(Result::unwrap_err).collect();
        let text = errors[0].to_string();
        assert!(text.starts_with("error[E0405]: device 0: 32 bytes are needed"), "{text}");
        assert!(errors.iter().all(|error| *error == errors[0]));
    }
}
