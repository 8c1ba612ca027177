//! Collective ops: their values on one device, and their text for several.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::{contains, refused, run, text};
use builder::{Builder, CollectiveOptions, RaggedExchange, Value};
use hlo::layout::Layout;

fn all() -> CollectiveOptions {
    CollectiveOptions::default()
}
fn groups(text: &str) -> CollectiveOptions {
    CollectiveOptions { replica_groups: text.parse().unwrap(), ..all() }
}
fn devices(text: &str, channel: i64) -> CollectiveOptions {
    CollectiveOptions { channel_id: Some(channel), use_global_device_ids: true, ..groups(text) }
}

/// On one device every group has one member, who gets his own.
#[test]
fn one_device() {
    let b = Builder::new("alone");
    let x = b.parameter(0, "f32[2,2]", "x");
    let options = groups("{{0}}");
    let results = [
        x.all_reduce(|a, c| a + c, &options),
        x.cross_replica_sum([[0]]),
        x.all_gather(-1, 1, &options),
        x.reduce_scatter(Value::max, 0, 1, &options),
        x.all_to_all(0, 0, 1, &options),
        x.all_to_all(0, 1, 1, &options),
        x.all_to_all_tuple(0, 1, 1, &options),
        x.collective_broadcast(&options),
        x.collective_permute(&[(0, 0)], None),
        x.collective_permute(&[], None),
    ];
    let result = run(&b, b.tuple(&results), &["f32[2,2] {{1, 2}, {3, 4}}"]);
    let same = "f32[2,2]{1,0} { { 1, 2 }, { 3, 4 } }";
    let zeros = "f32[2,2]{1,0} { { 0, 0 }, { 0, 0 } }";
    let expected: Vec<&str> = (0..10).map(|i| if i < 9 { same } else { zeros }).collect();
    assert_eq!(result, format!("( {} )", expected.join(", ")));
}

#[test]
fn ids_of_the_only_device() {
    let b = Builder::new("ids");
    let ids = b.tuple(&[b.replica_id(), b.partition_id()]);
    assert_eq!(run(&b, ids, &[]), "( u32[] 0, u32[] 0 )");
}

#[test]
fn tuples_are_exchanged_together() {
    let b = Builder::new("tuples");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[4]", "y"));
    let pair = b.tuple(&[x, y]);
    let results = [
        b.all_reduce(&[x, y], |a, c| a + c, &all()),
        pair.all_reduce(|a, c| a + c, &all()),
        b.all_reduce(&[x], |a, c| a * c, &all()),
        b.all_gather(&[x, y], 0, 1, &all()),
        b.tuple(&[x]).all_gather(0, 1, &all()),
        pair.reduce_scatter(|a, c| a + c, 0, 1, &all()),
        b.all_to_all(&[x], &all()),
        b.collective_broadcast(&[x, y], false, &all()),
        b.collective_permute(&[x, y], &[(0, 0)], None),
    ];
    let result = run(&b, b.tuple(&results), &["f32[2] {1, 2}", "f32[4] {3, 4, 5, 6}"]);
    let one = "( f32[2]{0} {1, 2} )";
    let two = "( f32[2]{0} {1, 2}, f32[4]{0} {3, 4, 5, 6} )";
    let expected = [two, two, one, two, one, two, one, two, two];
    assert_eq!(result, format!("( {} )", expected.join(", ")));
}

#[test]
fn a_dynamic_root_sends() {
    let b = Builder::new("dynamic_root");
    let x = b.parameter(0, "f32[2]", "x");
    let sent = b.collective_broadcast(&[x, b.constant([0i32])], true, &all());
    assert_eq!(run(&b, sent, &["f32[2] {1, 2}"]), "f32[2]{0} {1, 2}");
    contains(&text(&b, sent), &["has_dynamic_root=true"]);
}

#[test]
fn reductions_and_gathers_print_their_groups() {
    let b = Builder::new("grouped");
    b.set_replica_count(2);
    b.set_num_partitions(2);
    let x = b.parameter(0, "f32[4,6]", "x");
    let column_major = Layout { minor_to_major: [0, 1].as_slice().into(), tail: None };
    let laid_out = CollectiveOptions { layout: Some(column_major), ..groups("{{0,1}}") };
    let results = [
        x.all_reduce(|a, c| a + c, &groups("{{1,0}}")),
        x.all_reduce(Value::min, &devices("[2,2]<=[4]", 1)),
        x.all_gather(1, 4, &devices("[1,4]<=[2,2]T(1,0)", 2)),
        x.all_gather(0, 2, &laid_out),
        x.reduce_scatter(|a, c| a * c, 1, 2, &groups("{{0,1}}")),
        x.reduce_scatter(|a, c| a + c, 0, 4, &CollectiveOptions { channel_id: Some(3), ..all() }),
    ];
    let text = text(&b, b.tuple(&results));
    contains(
        &text,
        &[
            "replica_count=2",
            "num_partitions=2",
            "f32[4,6]{1,0} all-reduce(%x), replica_groups={{1,0}}, to_apply=%reducer",
            "channel_id=1, replica_groups=[2,2]<=[4], use_global_device_ids=true, to_apply=",
            "f32[4,24]{1,0} all-gather(%x), channel_id=2, replica_groups=[1,4]<=[2,2]T(1,0), dimensions={1}, use_global_device_ids=true",
            "f32[8,6]{0,1} all-gather(%x), replica_groups={{0,1}}, constrain_layout=true, dimensions={0}",
            "f32[4,3]{1,0} reduce-scatter(%x), replica_groups={{0,1}}, dimensions={1}, to_apply=",
            "f32[1,6]{1,0} reduce-scatter(%x), channel_id=3, replica_groups={}, dimensions={0}, to_apply=",
        ],
    );
}

#[test]
fn sums_of_pred() {
    let b = Builder::new("any");
    let p = b.parameter(0, "pred[2]", "p");
    let any = p.cross_replica_sum(Vec::new());
    let both = b.tuple(&[p, p]).cross_replica_sum(Vec::new());
    contains(
        &text(&b, b.tuple(&[any, both])),
        &["pred[] or(", "(pred[2]{0}, pred[2]{0}) all-reduce("],
    );
}

#[test]
fn sums_by_group_id() {
    let b = Builder::new("ids");
    b.set_replica_count(8);
    let x = b.parameter(0, "f32[2]", "x");
    let sums = x.cross_replica_sum_by_id(&[0, 1, 2, 3, 0, 1, 2, 3]);
    contains(&text(&b, sums), &["replica_groups={{0,4},{1,5},{2,6},{3,7}}"]);
    assert!(text(&b, x.cross_replica_sum_by_id(&[])).contains("replica_groups={},"));
    let of = |ids: &[i64]| {
        let b = Builder::new("ids");
        b.set_replica_count(4);
        let sum = b.parameter(0, "f32[2]", "x").cross_replica_sum_by_id(ids);
        b.build(sum).unwrap_err().to_string()
    };
    assert!(of(&[0, 1, 2, 0]).contains("the groups of [0, 1, 2, 0] differ in size"));
    assert!(of(&[0, 0]).contains("2 group ids are given for 4 replicas"));
}

#[test]
fn all_to_all_moves_parts_to_another_dimension() {
    let b = Builder::new("all_to_all");
    b.set_replica_count(2);
    let x = b.parameter(0, "f32[4,3]", "x");
    let y = x.all_to_all(0, 1, 2, &all());
    contains(
        &text(&b, y),
        &[
            // Without groups the first devices are meant.
            "f32[4,3]{1,0} all-to-all(%x), replica_groups={{0,1}}, dimensions={0}",
            "f32[2,2,3]{2,1,0} reshape(",
            "transpose(",
            "dimensions={1,0,2}",
            "f32[2,6]{1,0} reshape(",
        ],
    );
    let b = Builder::new("all_to_all_back");
    b.set_replica_count(3);
    let x = b.parameter(0, "f32[2,6]", "x");
    // [2, 6] is [2, 3, 2]; the part's number goes before dimension 0.
    let y = x.all_to_all(1, 0, 3, &groups("{{0,1,2}}"));
    contains(
        &text(&b, y),
        &["f32[2,3,2]{2,1,0} reshape(", "dimensions={1,0,2}", "f32[6,2]{1,0} reshape("],
    );
}

#[test]
fn all_to_all_with_a_layout_exchanges_tuples() {
    let b = Builder::new("all_to_all_layout");
    b.set_replica_count(2);
    let x = b.parameter(0, "f32[4,3]", "x");
    let layout = Layout { minor_to_major: [0, 1].as_slice().into(), tail: None };
    let laid_out =
        CollectiveOptions { layout: Some(layout), channel_id: None, ..groups("{{1,0}}") };
    contains(
        &text(
            &b,
            b.tuple(&[x.all_to_all(0, 1, 2, &laid_out), x.all_to_all_tuple(0, 0, 2, &all())]),
        ),
        &[
            "slice={[0:2], [0:3]}",
            "slice={[2:4], [0:3]}",
            "(f32[2,3]{0,1}, f32[2,3]{0,1}) all-to-all(",
            "replica_groups={{1,0}}, constrain_layout=true",
            "f32[2,6]{1,0} concatenate(",
            "(f32[2,3]{1,0}, f32[2,3]{1,0}) all-to-all(",
            "f32[4,3]{1,0} concatenate(",
        ],
    );
}

#[test]
fn permutations_and_broadcasts_print_who_sends() {
    let b = Builder::new("senders");
    b.set_num_partitions(4);
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "y"));
    let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
    let one = x.collective_permute(&ring, Some(1));
    let two = b.collective_permute(&[x, y], &ring[..2], Some(2));
    let channel = CollectiveOptions { channel_id: Some(3), ..groups("[2,2]<=[4]") };
    let sent = x.collective_broadcast(&channel);
    contains(
        &text(&b, b.tuple(&[one, two, sent])),
        &[
            "collective-permute(%x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}",
            "(f32[2]{0}, f32[2]{0}) collective-permute(%x, %y), channel_id=2, source_target_pairs={{0,1},{1,2}}",
            "collective-broadcast(%x), channel_id=3, replica_groups=[2,2]<=[4]",
        ],
    );
}

/// HLO's order is (input, output, input offsets, send sizes, output offsets, receive sizes); XLA's
/// builder names them in another.
#[test]
fn ragged_operands_stand_in_hlos_order() {
    let b = Builder::new("ragged");
    b.set_replica_count(2);
    let list = |number, name| b.parameter(number, "s32[2]", name);
    let exchange = RaggedExchange {
        input: b.parameter(0, "f32[8,3]", "input"),
        input_offsets: list(1, "input_offsets"),
        send_sizes: list(2, "send_sizes"),
        output: b.parameter(3, "f32[16,3]", "output"),
        output_offsets: list(4, "output_offsets"),
        recv_sizes: list(5, "recv_sizes"),
    };
    let y = b.ragged_all_to_all(exchange, &groups("{{0,1}}"));
    let order = "f32[16,3]{1,0} ragged-all-to-all(%input, %output, %input_offsets, %send_sizes, %output_offsets, /*index=5*/%recv_sizes), replica_groups={{0,1}}";
    contains(&text(&b, y), &[order]);
}

#[test]
fn what_is_started_is_done() {
    let b = Builder::new("started");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "y"));
    let pair = b.tuple(&[x, y]);
    let results = [
        x.all_reduce_start(|a, c| a + c, &all()).all_reduce_done(),
        pair.all_reduce_start(|a, c| a + c, &all()).all_reduce_done(),
        x.all_gather_start(0, 1, &all()).all_gather_done(),
        pair.all_gather_start(0, 1, &all()).all_gather_done(),
        x.collective_permute_start(&[(0, 0)], None).collective_permute_done(),
        b.collective_permute_start(&[x, y], &[(0, 0)], None).collective_permute_done(),
    ];
    let result = run(&b, b.tuple(&results), &["f32[2] {1, 2}", "f32[2] {3, 4}"]);
    let (one, two) = ("f32[2]{0} {1, 2}", "( f32[2]{0} {1, 2}, f32[2]{0} {3, 4} )");
    assert_eq!(result, format!("( {} )", [one, two, one, two, one, two].join(", ")));
    contains(
        &text(&b, b.tuple(&results)),
        &[
            "(f32[2]{0}, f32[2]{0}) all-gather-start(%x)",
            "((f32[2]{0}, f32[2]{0}), (f32[2]{0}, f32[2]{0})) all-gather-start(",
            "(f32[2]{0}, f32[2]{0}) collective-permute-start(%x)",
        ],
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[5]", "x");
    refused(
        &b,
        x.reduce_scatter(|a, c| a + c, 0, 2, &all()),
        "the size 5 cannot be divided into 2 equal parts",
    );
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[5]", "x");
    refused(&b, x.all_to_all(0, 0, 0, &all()), "the size 5 cannot be divided into 0 equal parts");
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[5]", "x");
    refused(&b, x.all_gather(0, -1, &all()), "-1 times 5 is not a valid size");
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[5]", "x");
    refused(
        &b,
        x.collective_broadcast(&devices("{{0}}", 1)),
        "`collective-broadcast` has no `use_global_device_ids`",
    );
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[5]", "x");
    let pair = b.tuple(&[x, x.gt(0)]);
    refused(
        &b,
        pair.all_reduce(|a, c| a + c, &all()),
        "the operands of one reduction have types f32 and pred",
    );
    let b = Builder::new("m");
    refused(&b, b.tuple(&[]).all_gather(0, 1, &all()), "an empty tuple has nothing to exchange");
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[5]", "x");
    let layout = Some(Layout::descending(2));
    refused(&b, x.all_gather(0, 1, &CollectiveOptions { layout, ..all() }), "does not fit f32[5]");
}
