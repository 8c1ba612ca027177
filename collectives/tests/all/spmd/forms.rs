//! Every form of manual regions, with its result.
use super::{check, cut, finish, join, pair};

#[test]
fn a_region_shards_sums_and_assembles() {
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
fn devices_have_the_positions_of_the_mesh() {
    // Device 3 has the first element, 1 the second, 0 the third, 2 the fourth; each adds ten times
    // its number.
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "ENTRY e {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut}
        p = u32[] partition-id() i = s32[] convert(p) t = s32[] constant(10) n = s32[] multiply(i, t)
        v = s32[1] reshape(n) s = s32[1] add(l, v) ROOT r = s32[4] custom-call(s), {join} }}"
    );
    check(&body, &["s32[4] {1, 2, 3, 4}"], "s32[4] {31, 12, 3, 24}");
    // The upper half of c is devices 3 and 1, the lower 0 and 2: divided along the halves only,
    // then along the other part too, with that one slowest.
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
    // In the order of the mesh the devices have {1,2} {1,2} {3,4} {3,4}; as (2)2 slowest: positions
    // 0, 2, 1, 3.
    check(&body, &["s32[4] {1, 2, 3, 4}"], "s32[8] {1, 2, 3, 4, 1, 2, 3, 4}");
}

#[test]
fn regions_follow_each_other() {
    // The first doubles each shard and adds the sum of all; between them 1 is added; the second
    // sends shards to the next device and adds a value that is the same on all, which it reads from
    // outside.
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
    // {1,2,3,4}: doubled and plus 10 is {12,14,16,18}, plus 1 {13,15,17,19}, rotated {19,13,15,17},
    // plus 100.
    check(&body, &["s32[4] {1, 2, 3, 4}", "s32[1] {100}"], "s32[4] {119, 113, 115, 117}");
}

#[test]
fn per_device_values_pass_to_later_regions() {
    // `l` is used again after the first region's result was assembled: each shard times the largest
    // of all, and the pair (l, l).
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
fn regions_in_loops_branches_and_calls() {
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
fn values_of_every_kind_are_sharded() {
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
    // Tokens pass unchanged, and arrays may be empty.
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
    // Only a is manual. Devices 0 and 1 have the first row, 2 and 3 the second; groups still name
    // all devices.
    let (cut, join) = pair("<@m, [{\"a\", ?}, {?}]>", "<@m, [{\"a\", \"b\"}, {?}]>", "\"a\"");
    let body = format!(
        "ENTRY e {{ x = s32[2,2] parameter(0) l = s32[1,2] custom-call(x), {cut}
        s = s32[1,2] all-reduce(l), channel_id=1, replica_groups={{{{0,2}},{{1,3}}}}, use_global_device_ids=true, to_apply=add
        t = s32[1,2] add(s, l) ROOT r = s32[2,2] custom-call(t), {join} }}"
    );
    check(&body, &["s32[2,2] {{1, 2}, {3, 4}}"], "s32[2,2] {{5, 8}, {7, 10}}");
}

#[test]
fn regions_in_regions() {
    // The outer region divides along a: rows. The inner one along b: halves of each row, doubled by
    // the second device; then assembled by rows.
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
    // An assembled value need not depend on the device.
    let body =
        format!("ENTRY e {{ c = s32[1] constant({{7}}) ROOT r = s32[4] custom-call(c), {join} }}");
    check(&body, &[], "s32[4] {7, 7, 7, 7}");
}

#[test]
fn regions_in_regions_may_read_nothing() {
    // Device 2a + b: the inner region has two devices of the outer one, which assembles the rows of
    // a.
    let inner = join("<@m, [{}, {\"b\"}]>", "\"b\"");
    let outer = join("<@m, [{\"a\"}, {}]>", "\"a\"");
    let called = format!(
        "id {{ p = u32[] partition-id() ROOT r = u32[1,1] reshape(p) }}
        row {{ i = u32[1,1] call(), to_apply=id ROOT j = u32[1,2] custom-call(i), {inner} }}
        ENTRY e {{ c = u32[1,2] call(), to_apply=row ROOT r = u32[2,2] custom-call(c), {outer} }}"
    );
    let inlined = format!(
        "ENTRY e {{ p = u32[] partition-id() i = u32[1,1] reshape(p)
        j = u32[1,2] custom-call(i), {inner} k = u32[1,2] copy(j) ROOT r = u32[2,2] custom-call(k), {outer} }}"
    );
    for body in [called, inlined] {
        check(&body, &[], "u32[2,2] {{0, 1}, {2, 3}}");
    }
}

#[test]
fn a_called_region_may_precede_another_one() {
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "id {{ p = u32[] partition-id() i = u32[1] reshape(p) ROOT j = u32[4] custom-call(i), {join} }}
        ENTRY e {{ g = u32[4] call(), to_apply=id l = u32[1] custom-call(g), {cut}
        d = u32[1] add(l, l) ROOT r = u32[4] custom-call(d), {join} }}"
    );
    check(&body, &[], "u32[4] {6, 2, 0, 4}");
}

#[test]
fn unreduced_values_are_sums_of_terms() {
    // Device 2a + b has the term 2a + b of element a.
    let join_terms = join("<@m, [{\"a\"}], unreduced={\"b\"}>", "\"a\", \"b\"");
    let body = format!(
        "ENTRY e {{ p = u32[] partition-id() i = u32[1] reshape(p) ROOT r = u32[2] custom-call(i), {join_terms} }}"
    );
    check(&body, &[], "u32[2] {1, 5}");
    // Devices add as many terms as there are along a, although nothing else depends on the device.
    let (cut_all, join_a) = pair("<@m, [{}]>", "<@m, [{}], unreduced={\"a\"}>", "\"a\", \"b\"");
    let body = format!(
        "ENTRY e {{ x = s32[2] parameter(0) l = s32[2] custom-call(x), {cut_all} ROOT r = s32[2] custom-call(l), {join_a} }}"
    );
    check(&body, &["s32[2] {3, 4}"], "s32[2] {6, 8}");
    // A value that enters as a sum has the value as its sum.
    let (cut_sum, join_all) =
        pair("<@m, [{}], unreduced={\"a\", \"b\"}>", "<@m, [{}]>", "\"a\", \"b\"");
    let body = format!(
        "ENTRY e {{ x = s32[2] parameter(0) l = s32[2] custom-call(x), {cut_sum}
        s = s32[2] all-reduce(l), channel_id=1, replica_groups={{{{0,1,2,3}}}}, use_global_device_ids=true, to_apply=add
        ROOT r = s32[2] custom-call(s), {join_all} }}"
    );
    check(&body, &["s32[2] {3, 4}"], "s32[2] {3, 4}");
    // The inner region adds along b; the outer one assembles along a.
    let inner = join("<@m, [{}], unreduced={\"b\"}>", "\"b\"");
    let outer = join("<@m, [{\"a\"}]>", "\"a\"");
    let body = format!(
        "ENTRY e {{ p = u32[] partition-id() i = u32[1] reshape(p) j = u32[1] custom-call(i), {inner}
        ROOT r = u32[2] custom-call(j), {outer} }}"
    );
    check(&body, &[], "u32[2] {1, 5}");
    // GSPMD's form of the first.
    let body = "ENTRY e { p = u32[] partition-id() i = u32[1] reshape(p)
        c = u32[1] custom-call(i), custom_call_target=\"Sharding\", sharding={manual}
        ROOT r = u32[2] custom-call(c), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,2]<=[4] last_tile_dims={unreduced}} }";
    check(body, &[], "u32[2] {1, 5}");
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
    // The array is divided further than by the manual axis, along one that is not: its shards are
    // halves all the same.
    let body = "ENTRY e { x = s32[4] parameter(0), sharding={devices=[4]<=[4]}
        l = s32[2] custom-call(x), custom_call_target=\"SPMDFullToShardShape\", sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
        a = s32[2] all-reduce(l), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
        k = s32[2] add(a, l), sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
        ROOT r = s32[4] custom-call(k), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[4]<=[4]} }";
    check(body, &["s32[4] {1, 2, 3, 4}"], "s32[4] {5, 8, 7, 10}");
    // A shard-to-full marker whose result is still manual is inside of the region, although it
    // depends on no shard: the number of a device along the first axis of [2,2].
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
fn divergent_devices_are_reported() {
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{}]>", "\"c\"");
    let body = format!(
        "ENTRY e {{ x = f32[4] parameter(0) l = f32[1] custom-call(x), {cut} ROOT r = f32[1] custom-call(l), {join} }}"
    );
    let finished = finish(&body, &["f32[4] {1, 1, 3, 1.5}"]).unwrap();
    // Device 0 has the third element, device 2 the fourth, 1 and 3 the first two.
    assert_eq!(finished.results[0], "f32[1] {3}".parse().unwrap());
    let [divergence] = finished.notes.as_slice() else { panic!("{:?}", finished.notes) };
    assert_eq!((divergence.device, divergence.others.as_slice()), (0, [1, 2, 3].as_slice()));
    let expected = "`e/r`: devices 1 to 3 differ from device 0, by up to 2";
    assert_eq!(divergence.to_string(), expected);
    assert!(divergence.diagnostic().span.is_some());
}
