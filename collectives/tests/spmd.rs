//! Programs before partitioning: every form a manual region takes, with values derived by hand.
#![expect(clippy::unwrap_used, reason = "tests")]
use collectives::{Error, Finished, Global};
use hlo::{Literal, Module, Verified};
use interp::{Hooks, Options};
use std::sync::{Arc, Mutex};

const ADD: &str = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }";

/// A module with two meshes: `@m` of 4 devices along `a` and `b`, `@r` of the same in another order.
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
/// The attributes of a cut, after its operands: its shardings, and its manual axes.
fn cut(shardings: &str, axes: &str) -> String {
    let shardings = shardings.replace('"', "\\\"");
    let axes = axes.replace('"', "\\\"");
    format!(
        "custom_call_target=\"xla.sdy.GlobalToLocalShape\", frontend_attributes={{\
         xla.sdy.in_shardings=\"#sdy.sharding_per_value<[{shardings}]>\",\
         xla.sdy.manual_axes=\"#sdy<manual_axes{{{axes}}}>\"}}"
    )
}
/// The same of a join.
fn join(shardings: &str, axes: &str) -> String {
    cut(shardings, axes).replace("GlobalToLocal", "LocalToGlobal").replace("in_sh", "out_sh")
}
/// A cut and a join along the same axes.
fn pair(cut_by: &str, join_by: &str, axes: &str) -> (String, String) {
    (cut(cut_by, axes), join(join_by, axes))
}

fn literals(texts: &[&str]) -> Vec<Literal> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}
fn finish(body: &str, inputs: &[&str]) -> Result<Finished, Error> {
    Global::of(&module(body))?.expect("it has a manual region").run(&literals(inputs))
}
/// Fails unless the program gives this, and its devices agree.
#[track_caller]
fn check(body: &str, inputs: &[&str], wanted: &str) {
    let finished = finish(body, inputs).unwrap();
    assert_eq!(finished.result, wanted.parse().unwrap());
    assert_eq!(finished.notes, []);
}

#[test]
fn a_region_cuts_sums_and_puts_together() {
    // Device 2a + b has row a and columns 2b and 2b + 1. Along a: {1+5, 2+6} and {3+7, 4+8}.
    let (cut, join) = pair("<@m, [{\"a\"}, {\"b\"}]>", "<@m, [{}, {\"b\"}]>", "\"a\", \"b\"");
    let body = format!(
        "ENTRY e {{ x = s32[2,4] parameter(0) l = s32[1,2] custom-call(x), {cut}
        s = s32[1,2] all-reduce(l), channel_id=1, replica_groups={{{{0,2}},{{1,3}}}}, use_global_device_ids=true, to_apply=add
        ROOT r = s32[1,4] custom-call(s), {join} }}"
    );
    check(&body, &["s32[2,4] {{1, 2, 3, 4}, {5, 6, 7, 8}}"], "s32[1,4] {{6, 8, 10, 12}}");
}

#[test]
fn devices_stand_where_the_mesh_puts_them() {
    // Device 3 has the first element, 1 the second, 0 the third, 2 the fourth; each adds ten times its number.
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "ENTRY e {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut}
        p = u32[] partition-id() i = s32[] convert(p) t = s32[] constant(10) n = s32[] multiply(i, t)
        v = s32[1] reshape(n) s = s32[1] add(l, v) ROOT r = s32[4] custom-call(s), {join} }}"
    );
    check(&body, &["s32[4] {1, 2, 3, 4}"], "s32[4] {31, 12, 3, 24}");
    // The upper half of c is devices 3 and 1, the lower 0 and 2: cut along the halves only, then along the other part too,
    // with that one slowest.
    let halves = cut
        .replace("{\\\"c\\\"}", "{\\\"c\\\":(1)2}")
        .replace("manual_axes{\\\"c\\\":(1)2}", "manual_axes{\\\"c\\\"}");
    let again = join
        .replace("{\\\"c\\\"}", "{\\\"c\\\":(2)2, \\\"c\\\":(1)2}")
        .replace("manual_axes{\\\"c\\\":(2)2, \\\"c\\\":(1)2}", "manual_axes{\\\"c\\\"}");
    let body = format!(
        "ENTRY e {{ x = s32[4] parameter(0) l = s32[2] custom-call(x), {halves}
        ROOT r = s32[8] custom-call(l), {again} }}"
    );
    // In the order of the mesh the devices have {1,2} {1,2} {3,4} {3,4}; as (2)2 slowest: positions 0, 2, 1, 3.
    check(&body, &["s32[4] {1, 2, 3, 4}"], "s32[8] {1, 2, 3, 4, 1, 2, 3, 4}");
}

#[test]
fn regions_follow_each_other() {
    // The first doubles each shard and adds the sum of all; between them 1 is added; the second sends shards to the next
    // device and adds a value that is the same on all, which it reads from outside.
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "f {{ l = s32[1] parameter(0) d = s32[1] add(l, l)
          s = s32[1] all-reduce(l), channel_id=1, replica_groups={{{{0,1,2,3}}}}, use_global_device_ids=true, to_apply=add
          ROOT r = s32[1] add(d, s) }}
        ENTRY e {{ x = s32[4] parameter(0) w = s32[1] parameter(1)
        l = s32[1] custom-call(x), {cut} f = s32[1] call(l), to_apply=f
        j = s32[4] custom-call(f), {join} one = s32[] constant(1) ones = s32[4] broadcast(one), dimensions={{}}
        k = s32[4] add(j, ones) m = s32[1] custom-call(k), {cut}
        n = s32[1] collective-permute(m), channel_id=2, source_target_pairs={{{{3,1}},{{1,0}},{{0,2}},{{2,3}}}}
        o = s32[1] add(n, w) ROOT r = s32[4] custom-call(o), {join} }}"
    );
    // {1,2,3,4}: doubled and plus 10 is {12,14,16,18}, plus 1 {13,15,17,19}, turned {19,13,15,17}, plus 100.
    check(&body, &["s32[4] {1, 2, 3, 4}", "s32[1] {100}"], "s32[4] {119, 113, 115, 117}");
}

#[test]
fn values_of_devices_go_from_one_region_to_a_later_one() {
    // `l` is used again after the first region's result came back: each shard times the largest of all, and the pair (l, l).
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "max {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT m = s32[] maximum(a, b) }}
        ENTRY e {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut}
        t = (s32[1], s32[1]) tuple(l, l) j = s32[4] custom-call(l), {join}
        zero = s32[] constant(0) m = s32[] reduce(j, zero), dimensions={{0}}, to_apply=max
        v = s32[1] reshape(m) g = s32[1] get-tuple-element(t), index=1
        s = s32[1] multiply(g, v) u = s32[1] add(s, l) ROOT r = s32[4] custom-call(u), {join} }}"
    );
    check(&body, &["s32[4] {1, 7, 3, 2}"], "s32[4] {8, 56, 24, 16}");
}

#[test]
fn regions_stand_in_loops_branches_and_calls() {
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let sum = format!(
        "sum {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut}
          s = s32[1] all-reduce(l), channel_id=1, replica_groups={{{{0,1,2,3}}}}, use_global_device_ids=true, to_apply=add
          t = s32[1] add(s, l) ROOT r = s32[4] custom-call(t), {join} }}"
    );
    let body = format!(
        "{sum} same {{ ROOT x = s32[4] parameter(0) }}
        step {{ t = (s32[], s32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0
          x = s32[4] get-tuple-element(t), index=1 one = s32[] constant(1) j = s32[] add(i, one)
          y = s32[4] call(x), to_apply=sum ROOT r = (s32[], s32[4]) tuple(j, y) }}
        more {{ t = (s32[], s32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0
          n = s32[] constant(2) ROOT c = pred[] compare(i, n), direction=LT }}
        ENTRY e {{ x = s32[4] parameter(0) p = pred[] parameter(1) z = s32[] constant(0)
          t = (s32[], s32[4]) tuple(z, x) w = (s32[], s32[4]) while(t), condition=more, body=step
          y = s32[4] get-tuple-element(w), index=1
          ROOT r = s32[4] conditional(p, y, y), true_computation=sum, false_computation=same }}"
    );
    // {1,2,3,4} and its sum 10: {11,12,13,14}; sum 50: {61,62,63,64}; sum 250: {311,312,313,314}.
    let x = "s32[4] {1, 2, 3, 4}";
    check(&body, &[x, "pred[] false"], "s32[4] {61, 62, 63, 64}");
    check(&body, &[x, "pred[] true"], "s32[4] {311, 312, 313, 314}");
}

#[test]
fn values_of_every_kind_are_cut() {
    let (cut, join) = pair(
        "<@one, [{\"d\"}]>, <@one, []>, <@one, [{}, {\"d\"}]>",
        "<@one, [{\"d\"}]>, <@one, []>, <@one, [{\"d\"}, {}]>",
        "\"d\"",
    );
    let body = format!(
        "ENTRY e {{ x = u4[4] parameter(0) y = bf16[] parameter(1) z = pred[1,2] parameter(2)
        l = (u4[2], bf16[], pred[1,1]) custom-call(x, y, z), {cut}
        a = u4[2] get-tuple-element(l), index=0 b = bf16[] get-tuple-element(l), index=1
        c = pred[1,1] get-tuple-element(l), index=2 s = u4[2] add(a, a)
        ROOT r = (u4[4], bf16[], pred[2,1]) custom-call(s, b, c), {join} }}"
    );
    let inputs = ["u4[4] {1, 2, 7, 15}", "bf16[] 1.5", "pred[1,2] {{true, false}}"];
    check(&body, &inputs, "(u4[4] {2, 4, 14, 14}, bf16[] 1.5, pred[2,1] {{true}, {false}})");
    // Tokens go in and out as they are, and arrays may be empty.
    let both = "<@one, [{\"d\"}, {}]>, <@one, []>";
    let (cut, join) = pair(both, both, "\"d\"");
    let body = format!(
        "ENTRY e {{ x = f32[4,0] parameter(0) t = token[] after-all()
        l = (f32[2,0], token[]) custom-call(x, t), {cut} a = f32[2,0] get-tuple-element(l), index=0
        u = token[] get-tuple-element(l), index=1 v = token[] after-all(u)
        j = (f32[4,0], token[]) custom-call(a, v), {join} ROOT r = f32[4,0] get-tuple-element(j), index=0 }}"
    );
    check(&body, &["f32[4,0] {{}, {}, {}, {}}"], "f32[4,0] {{}, {}, {}, {}}");
}

#[test]
fn axes_that_are_not_manual_divide_nothing() {
    // Only a is manual. Devices 0 and 1 have the first row, 2 and 3 the second; groups still name all devices.
    let (cut, join) = pair("<@m, [{\"a\", ?}, {?}]>", "<@m, [{\"a\", \"b\"}, {?}]>", "\"a\"");
    let body = format!(
        "ENTRY e {{ x = s32[2,2] parameter(0) l = s32[1,2] custom-call(x), {cut}
        s = s32[1,2] all-reduce(l), channel_id=1, replica_groups={{{{0,2}},{{1,3}}}}, use_global_device_ids=true, to_apply=add
        t = s32[1,2] add(s, l) ROOT r = s32[2,2] custom-call(t), {join} }}"
    );
    check(&body, &["s32[2,2] {{1, 2}, {3, 4}}"], "s32[2,2] {{5, 8}, {7, 10}}");
}

#[test]
fn regions_stand_in_regions() {
    // Outside a is cut: rows. Inside b: of each row its halves, doubled by the second device; put together by rows again.
    let (outer, inner) = (("<@m, [{\"a\"}, {}]>", "\"a\""), ("<@m, [{}, {\"b\"}]>", "\"b\""));
    let body = format!(
        "half {{ l = s32[1,1] parameter(0) p = u32[] partition-id() two = u32[] constant(2)
          b = u32[] remainder(p, two) i = s32[] convert(b) one = s32[] constant(1) f = s32[] add(i, one)
          g = s32[1,1] reshape(f) ROOT r = s32[1,1] multiply(l, g) }}
        row {{ x = s32[1,2] parameter(0) h = s32[1,1] custom-call(x), {} c = s32[1,1] call(h), to_apply=half
          ROOT j = s32[1,2] custom-call(c), {} }}
        ENTRY e {{ x = s32[2,2] parameter(0) l = s32[1,2] custom-call(x), {} c = s32[1,2] call(l), to_apply=row
        d = s32[1,2] add(c, l) ROOT r = s32[2,2] custom-call(d), {} }}",
        cut(inner.0, inner.1),
        join(inner.0, inner.1),
        cut(outer.0, outer.1),
        join(outer.0, outer.1)
    );
    check(&body, &["s32[2,2] {{1, 2}, {3, 4}}"], "s32[2,2] {{2, 6}, {6, 12}}");
    // The same with the bodies in line.
    let body = format!(
        "ENTRY e {{ x = s32[2,2] parameter(0) l = s32[1,2] custom-call(x), {}
        h = s32[1,1] custom-call(l), {} p = u32[] partition-id() two = u32[] constant(2)
        b = u32[] remainder(p, two) i = s32[] convert(b) one = s32[] constant(1) f = s32[] add(i, one)
        g = s32[1,1] reshape(f) c = s32[1,1] multiply(h, g) j = s32[1,2] custom-call(c), {}
        d = s32[1,2] add(j, l) ROOT r = s32[2,2] custom-call(d), {} }}",
        cut(outer.0, outer.1),
        cut(inner.0, inner.1),
        join(inner.0, inner.1),
        join(outer.0, outer.1)
    );
    check(&body, &["s32[2,2] {{1, 2}, {3, 4}}"], "s32[2,2] {{2, 6}, {6, 12}}");
}

#[test]
fn a_region_may_read_nothing() {
    let join = join("<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "id {{ p = u32[] partition-id() ROOT r = u32[1] reshape(p) }}
        ENTRY e {{ i = u32[1] call(), to_apply=id ROOT r = u32[4] custom-call(i), {join} }}"
    );
    check(&body, &[], "u32[4] {3, 1, 0, 2}");
    // What is put together need not depend on a device at all.
    let body =
        format!("ENTRY e {{ c = s32[1] constant({{7}}) ROOT r = s32[4] custom-call(c), {join} }}");
    check(&body, &[], "s32[4] {7, 7, 7, 7}");
}

#[test]
fn gspmd_states_shardings_on_the_arrays() {
    // Tiles of devices {2,0} and {3,1}: row 0 has devices 2 and 0.
    let body = "ENTRY e { x = s32[2,2] parameter(0)
        s = s32[2,2] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2,2]2,0,3,1}
        l = s32[1,1] custom-call(s), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}
        p = u32[] partition-id() i = s32[] convert(p) t = s32[] constant(10) n = s32[] multiply(i, t)
        v = s32[1,1] reshape(n) m = s32[1,1] add(l, v)
        k = s32[1,1] custom-call(m), custom_call_target=\"Sharding\", sharding={manual}
        ROOT r = s32[2,2] custom-call(k), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,2]2,0,3,1} }";
    check(body, &["s32[2,2] {{1, 2}, {3, 4}}"], "s32[2,2] {{21, 2}, {33, 14}}");
    // A mesh [2,2] with the first axis manual: rows for {0,1} and {2,3}.
    let body = "ENTRY e { x = s32[2,2] parameter(0)
        s = s32[2,2] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, backend_config=\"unspecified_dims=[0,1]\"
        l = s32[1,2] custom-call(s), custom_call_target=\"SPMDFullToShardShape\", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}, backend_config=\"unspecified_dims=[0,1]\"
        a = s32[1,2] all-reduce(l), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
        k = s32[1,2] custom-call(a), custom_call_target=\"Sharding\", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
        ROOT r = s32[2,2] custom-call(k), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate} }";
    check(body, &["s32[2,2] {{1, 2}, {3, 4}}"], "s32[2,2] {{4, 6}, {4, 6}}");
    // Inside of the region with the first axis the second is manual too: each row's halves.
    let body = "ENTRY e { x = s32[2,2] parameter(0)
        s = s32[2,2] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
        l = s32[1,2] custom-call(s), custom_call_target=\"SPMDFullToShardShape\", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
        t = s32[1,2] custom-call(l), custom_call_target=\"Sharding\", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
        h = s32[1,1] custom-call(t), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}
        n = s32[1,1] collective-permute(h), channel_id=1, source_target_pairs={{0,1},{1,0},{2,3},{3,2}}
        j = s32[1,2] custom-call(n), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
        ROOT r = s32[2,2] custom-call(j), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate} }";
    check(body, &["s32[2,2] {{1, 2}, {3, 4}}"], "s32[2,2] {{2, 1}, {4, 3}}");
    // The array is divided further than by the manual axis, along one that is not: its shards are halves all the same.
    let body = "ENTRY e { x = s32[4] parameter(0), sharding={devices=[4]<=[4]}
        l = s32[2] custom-call(x), custom_call_target=\"SPMDFullToShardShape\", sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
        a = s32[2] all-reduce(l), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
        k = s32[2] add(a, l), sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
        ROOT r = s32[4] custom-call(k), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[4]<=[4]} }";
    check(body, &["s32[4] {1, 2, 3, 4}"], "s32[4] {5, 8, 7, 10}");
    // A join whose result is still manual is inside of the region, though it depends on no cut: the number of a device
    // along the first axis of [2,2].
    let body = "ENTRY e { x = s32[2] parameter(0)
        s = s32[2] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
        l = s32[1] custom-call(s), custom_call_target=\"SPMDFullToShardShape\", sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}
        p = u32[] partition-id() two = u32[] constant(2) d = u32[] divide(p, two) i = s32[] convert(d)
        m = s32[] custom-call(i), custom_call_target=\"Sharding\", sharding={manual}
        j = s32[] custom-call(m), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,2]<=[4] last_tile_dims={manual, replicated}}
        v = s32[1] reshape(j) t = s32[1] add(l, v)
        ROOT r = s32[2] custom-call(t), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,2]<=[4] last_tile_dim_replicate} }";
    check(body, &["s32[2] {10, 20}"], "s32[2] {10, 21}");
    // Named axes.
    let body = "ENTRY e { x = s32[4] parameter(0), sharding={mesh['x'=2,'y'=2], [{'y','x'}]}
        l = s32[1] custom-call(x), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}
        ROOT r = s32[4] custom-call(l), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[4]<=[4]} }";
    // Device 1 is (x 0, y 1): tile 2.
    check(body, &["s32[4] {1, 2, 3, 4}"], "s32[4] {1, 3, 2, 4}");
}

#[test]
fn other_releases_keep_shardings_elsewhere() {
    // At the call of the body, with quotes written twice over.
    let body = r##"f { x = s32[2] parameter(0) ROOT r = s32[2] negate(x) }
        ENTRY e { x = s32[4] parameter(0) l = s32[2] custom-call(x), custom_call_target="local_xla.sdy.GlobalToLocalShape"
        b = s32[2] call(l), to_apply=f, frontend_attributes={
            xla.sdy.in_shardings="#sdy.sharding_per_value<[<@one, [{\\\"d\\\"}]>]>",
            xla.sdy.out_shardings="#sdy.sharding_per_value<[<@one, [{\\\"d\\\"}]>]>",
            xla.sdy.manual_axes="#sdy<manual_axes{\\\"d\\\"}>"}
        ROOT r = s32[4] custom-call(b), custom_call_target="local_xla.sdy.LocalToGlobalShape" }"##;
    check(body, &["s32[4] {1, 2, 3, 4}"], "s32[4] {-1, -2, -3, -4}");
    // As typed shardings along named axes: the second value is on all devices.
    let body = "ENTRY e { x = s32[4] parameter(0), sharding={mesh['a'=2,'b'=2], [{'b'}], replicated={'a'}}
        y = s32[] parameter(1), sharding={replicated}
        l = (s32[2], s32[]) custom-call(x, y), custom_call_target=\"xla.sdy.GlobalToLocalShape\", sharding={{manual}, {manual}}
        m = s32[2] get-tuple-element(l), index=0 n = s32[] get-tuple-element(l), index=1
        o = s32[2] broadcast(n), dimensions={} p = s32[2] multiply(m, o)
        j = (s32[4], s32[]) custom-call(p, n), custom_call_target=\"xla.sdy.LocalToGlobalShape\",
            sharding={{mesh['a'=2,'b'=2], [{'b'}]}, {replicated}}
        ROOT r = s32[4] get-tuple-element(j), index=0 }";
    check(body, &["s32[4] {1, 2, 3, 4}", "s32[] 10"], "s32[4] {10, 20, 30, 40}");
}

#[test]
fn devices_that_do_not_agree_are_told_of() {
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{}]>", "\"c\"");
    let body = format!(
        "ENTRY e {{ x = f32[4] parameter(0) l = f32[1] custom-call(x), {cut} ROOT r = f32[1] custom-call(l), {join} }}"
    );
    let finished = finish(&body, &["f32[4] {1, 1, 3, 1.5}"]).unwrap();
    // Device 0 has the third element, device 2 the fourth, 1 and 3 the first two.
    assert_eq!(finished.result, "f32[1] {3}".parse().unwrap());
    let [note] = finished.notes.as_slice() else { panic!("{:?}", finished.notes) };
    assert_eq!((note.taken, note.others.as_slice()), (0, [1, 2, 3].as_slice()));
    let wanted = "`e/r`: devices 1 to 3 differ from device 0, by up to 2";
    assert_eq!(note.to_string(), wanted);
    assert!(note.diagnostic().span.is_some());
}

/// What stands in the text at an error's place.
fn place_of(text: &str, error: &Error) -> String {
    text[error.diagnostic().span.unwrap().range()].to_owned()
}
/// The error of a module, its message, and what stands at its place.
fn refused(text: &str, inputs: &[&str]) -> (&'static str, String, String) {
    let verified = Module::parse(text).unwrap().verify().unwrap();
    let run = |global: Option<Global>| global.unwrap().run(&literals(inputs));
    let error = Global::of(&verified).and_then(run).unwrap_err();
    (error.number(), error.diagnostic().message, place_of(text, &error))
}

#[test]
fn what_gets_out_of_a_region_is_refused() {
    let cut = cut("<mesh<[\"c\"=4]>, [{\"c\"}]>", "\"c\"");
    let text = format!(
        "HloModule m\nENTRY e {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut} ROOT r = s32[1] negate(l) }}"
    );
    let (number, message, place) = refused(&text, &[]);
    assert_eq!(number, "E0512");
    assert!(
        message.contains("`e/r` is computed from the shard of each device, `e/l`"),
        "{message}"
    );
    assert!(place.starts_with("custom-call(x)"));
    let join = join("<mesh<[\"c\"=4]>, [{\"c\"}]>", "\"c\"");
    let text = format!(
        "HloModule m\nENTRY e {{ x = s32[1] parameter(0) j = s32[4] custom-call(x), {join} p = u32[] partition-id() ROOT t = (s32[4], u32[]) tuple(j, p) }}"
    );
    let (number, message, place) = refused(&text, &[]);
    assert_eq!((number, place.as_str()), ("E0512", "partition-id()"));
    assert!(message.starts_with("`e/p` has a value of its own on each device"), "{message}");
}

#[test]
fn shardings_that_cannot_be_are_refused() {
    for (text, number, wanted) in [
        (
            "<mesh<[\"c\"=4]>, [{\"c\"}, {}]>",
            "E0511",
            "for an array of rank 2, the array has rank 1",
        ),
        ("<mesh<[\"c\"=4]>, [{}]>", "E0511", "divided into 1 tiles, the shard is s32[1]"),
        ("<mesh<[\"c\"=3]>, [{\"c\"}]>", "E0507", "tiles of unequal sizes are not run yet"),
        ("<@c, [{\"c\"}]>", "E0511", "xla.sdy.meshes has no mesh of the name at character 28, `c,"),
        ("<mesh<[], device_ids=[2]>, [{}]>", "E0507", "a value that one device alone has"),
        ("<mesh<[\"c\"=4]>, [{\"c\":(3)2}]>", "E0511", "`:(3)2` is no part of an axis of size 4"),
        ("", "E0511", "1 operands are given, and 0 shardings"),
    ] {
        let cut = cut(text, "\"c\"");
        let join = join("<mesh<[\"c\"=4]>, [{\"c\"}]>", "\"c\"");
        let join =
            if text.contains("=3") { join.replace("=4", "=3").replace("[4]", "[3]") } else { join };
        let text = format!(
            "HloModule m\nENTRY e {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut} ROOT r = s32[4] custom-call(l), {join} }}"
        );
        let (found, message, place) = refused(&text, &[]);
        assert_eq!(found, number, "{message}");
        assert!(message.contains(wanted), "{message}");
        assert!(place.starts_with("custom-call("), "{place}");
    }
    let text = "HloModule m\nENTRY e { x = s32[4] parameter(0) l = s32[1] custom-call(x), custom_call_target=\"SPMDFullToShardShape\", sharding={manual} ROOT r = s32[4] custom-call(l), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[4]<=[4]} }";
    let (number, message, _) = refused(text, &[]);
    assert_eq!(
        (number, message.as_str()),
        ("E0511", "the sharding of the operand is wanted, and not stated")
    );
    let text = text.replace("parameter(0)", "parameter(0), sharding={devices=[2]<=[2]}");
    assert_eq!(refused(&text, &[]).0, "E0507");
    let text = text.replace("m\nENTRY", "m, replica_count=2\nENTRY");
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    assert_eq!(Global::of(&verified).unwrap_err().number(), "E0507");
}

#[test]
fn errors_of_devices_come_out_whole() {
    let (cut, join) = pair("<mesh<[\"c\"=2]>, [{\"c\"}]>", "<mesh<[\"c\"=2]>, [{\"c\"}]>", "\"c\"");
    // Only device 0 comes to the sum.
    let text = format!(
        "HloModule m\n{ADD}
        meet {{ x = s32[1] parameter(0) ROOT met = s32[1] all-reduce(x), channel_id=1, replica_groups={{{{0,1}}}}, use_global_device_ids=true, to_apply=add }}
        alone {{ ROOT x = s32[1] parameter(0) }}
        ENTRY e {{ x = s32[2] parameter(0) l = s32[1] custom-call(x), {cut} p = u32[] partition-id() i = s32[] convert(p)
        c = s32[1] conditional(i, l, l), branch_computations={{meet, alone}} ROOT r = s32[2] custom-call(c), {join} }}"
    );
    let (number, message, place) = refused(&text, &["s32[2] {1, 2}"]);
    assert_eq!(number, "E0501");
    assert!(message.contains("device 0 waits at `meet/met` for device 1"), "{message}");
    assert!(place.starts_with("all-reduce(x)"), "{place}");
    // The second device takes the root of a negative number.
    let text = format!(
        "HloModule m\nENTRY e {{ x = f32[2] parameter(0) y = f32[2] negate(x) l = f32[1] custom-call(y), {cut}
        s = f32[1] sqrt(l) ROOT r = f32[2] custom-call(s), {join} }}"
    );
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    let global = Global::of(&verified).unwrap().unwrap();
    let checked = global.clone().with_options(Options::default().check_nan(true));
    let error = checked.run(&literals(&["f32[2] {-4, 4}"])).unwrap_err();
    assert_eq!((error.number(), place_of(&text, &error)), ("E0409", "sqrt(l)".to_owned()));
    assert!(error.to_string().starts_with("device 1: error[E0409]"), "{error}");
    // Outside, and with limits.
    let infinite = literals(&["f32[2] {3e38, 3e38}"]);
    let text = text.replace("negate(x)", "add(x, x)");
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    let outside = Global::of(&verified).unwrap().unwrap();
    let error =
        outside.with_options(Options::default().check_nan(true)).run(&infinite).unwrap_err();
    assert_eq!((error.number(), place_of(&text, &error)), ("E0409", "add(x, x)".to_owned()));
    let error = global.clone().with_options(Options::default().fuel(1)).run(&infinite).unwrap_err();
    assert_eq!(error.number(), "E0404");
    let error = global.with_options(Options::default().max_memory(4)).run(&infinite).unwrap_err();
    assert_eq!(error.number(), "E0405");
}
#[test]
fn groups_must_fit_the_devices_of_the_region() {
    let (cut, join) = pair("<mesh<[\"c\"=2]>, [{\"c\"}]>", "<mesh<[\"c\"=2]>, [{\"c\"}]>", "\"c\"");
    let text = format!(
        "HloModule m\n{ADD}
        ENTRY e {{ x = s32[2] parameter(0) l = s32[1] custom-call(x), {cut}
        s = s32[1] all-reduce(l), channel_id=1, replica_groups={{{{0,1,2}}}}, use_global_device_ids=true, to_apply=add
        ROOT r = s32[2] custom-call(s), {join} }}"
    );
    let (number, message, place) = refused(&text, &[]);
    assert!(message.contains("the groups name 3 ids, the module has 2"), "{number} {message}");
    assert!(place.starts_with("all-reduce(l)"));
}

#[test]
fn outside_is_run_once_and_inside_by_every_device() {
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "ENTRY e {{ x = s32[4] parameter(0) before = s32[4] negate(x) l = s32[1] custom-call(before), {cut}
        inside = s32[1] add(l, l) r = s32[4] custom-call(inside), {join} ROOT after = s32[4] negate(r) }}"
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&seen);
    let hooks = Hooks::new().observe(move |event| {
        // What a region reads from outside is a parameter there.
        if event.opcode() != hlo::Opcode::Parameter {
            names.lock().unwrap().push(event.name().to_owned());
        }
    });
    let global = Global::of(&module(&body)).unwrap().unwrap().with_hooks(hooks);
    let finished = global.run(&literals(&["s32[4] {1, 2, 3, 4}"])).unwrap();
    assert_eq!(finished.result, "s32[4] {2, 4, 6, 8}".parse().unwrap());
    let seen = seen.lock().unwrap();
    let count = |name: &str| seen.iter().filter(|seen| *seen == name).count();
    assert_eq!((count("before"), count("after"), count("inside")), (1, 1, 4));
}

#[test]
fn other_modules_have_no_regions() {
    let verified = module(
        "ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2]<=[2]} }",
    );
    assert!(Global::of(&verified).unwrap().is_none());
}

#[test]
fn a_slip_of_the_keyboard_is_no_panic() {
    let text = r##"HloModule t, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["a"=2, "b"=2], device_ids=[3, 1, 0, 2]>}}
        ENTRY e { x = s32[2,2] parameter(0) l = s32[1,2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
            xla.sdy.in_shardings="#sdy.sharding_per_value<[<@m, [{\"a\", ?}p1, {}], replicated={\"b\"}>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
        n = s32[1,2] collective-permute(l), channel_id=1, source_target_pairs={{0,1},{1,2}}
        j = s32[4,2] custom-call(n), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[2,2]T(1,0)}
        s = s32[4,2] custom-call(j), custom_call_target="Sharding", sharding={devices=[2,1,2]2,1,0,3 last_tile_dim_replicate}
        k = s32[2,2] custom-call(s), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,1,2,2]2,1,0,3 last_tile_dims={manual, replicated}}
        ROOT r = s32[4,2] custom-call(k), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1,2]2,1,0,3 last_tile_dim_replicate} }"##;
    let runs = |text: &str| {
        let verified = Module::parse(text).ok()?.verify().ok()?;
        let global = Global::of(&verified).ok()??;
        let options = Options::default().fuel(1000).max_memory(1 << 20);
        global.with_options(options).run(&literals(&["s32[2,2] {{1, 2}, {3, 4}}"])).ok()
    };
    assert!(runs(text).is_some());
    for (at, old) in text.char_indices() {
        let (before, after) = (&text[..at], &text[at + old.len_utf8()..]);
        for new in ["", "9", "{", "\"", ","] {
            runs(&format!("{before}{new}{after}"));
        }
    }
}
