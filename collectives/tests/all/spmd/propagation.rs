//! The shardings of results that a program does not state.
use collectives::spmd::Shards;
use hlo::{Literal, Module, Verified};

/// Arguments of four devices along `a` and `b`: `x` is divided along both, `w` has its columns and
/// `v` its elements along `b`.
const ARGUMENTS: &str = "
  x = f32[8,4] parameter(0), sharding={devices=[2,2]<=[4]}
  w = f32[4,8] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  v = f32[4] parameter(2), sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  i = s32[] parameter(3)
  zero = f32[] constant(0)
";
const A: &str = "devices=[2,1,2]<=[4] last_tile_dim_replicate";
const AB: &str = "devices=[2,2]<=[4]";
const BA: &str = "devices=[2,2]<=[2,2]T(1,0)";
const B_ALONE: &str = "devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate";
const A_ALONE: &str = "devices=[2,2]<=[4] last_tile_dim_replicate";
const SECOND_B: &str = "devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate";

fn program(body: &str) -> Verified {
    let text = format!(
        "HloModule t, frontend_attributes={{xla.sdy.meshes={{m = #sdy.mesh<[\"a\"=2, \"b\"=2]>}}}}
        add {{ p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }}
        twice {{ p = f32[8,4] parameter(0) ROOT s = f32[8,4] add(p, p) }}
        again {{ s = (s32[], f32[8,4], f32[8,4]) parameter(0)
          n = s32[] get-tuple-element(s), index=0
          y = f32[8,4] get-tuple-element(s), index=1
          z = f32[8,4] get-tuple-element(s), index=2
          t = f32[8,4] add(y, z)
          ROOT r = (s32[], f32[8,4], f32[8,4]) tuple(n, t, z) }}
        ends {{ s = (s32[], f32[8,4], f32[8,4]) parameter(0)
          n = s32[] get-tuple-element(s), index=0
          ROOT r = pred[] compare(n, n), direction=LT }}
        ENTRY e {{ {ARGUMENTS} {body} }}"
    );
    match Module::parse(&text).unwrap().verify() {
        Ok(verified) => verified,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}
/// Fails unless the result of a program is divided as if it stated this sharding.
#[track_caller]
fn check(body: &str, expected: &str) {
    let (open, stated) = (program(body), program(&format!("{body}, sharding={{{expected}}}")));
    let shape = open.module().entry().result_shape().array().unwrap().clone();
    let count = shape.dims.iter().product::<i64>();
    let all: Vec<f32> = (0..count).map(|n| f32::from(u16::try_from(n).unwrap())).collect();
    let value = Literal::from_slice(&shape.dims, &all);
    let split = |program| Shards::of(program, 4).unwrap().split(&value);
    assert_eq!(split(&open), split(&stated), "{body}");
}

#[test]
fn dimensions_keep_their_division_where_an_op_moves_them() {
    for (body, expected) in [
        ("ROOT r = f32[8,4] negate(x)", AB),
        ("ROOT r = f32[4,8] transpose(x), dimensions={1,0}", BA),
        ("ROOT r = f32[8] reduce(x, zero), dimensions={1}, to_apply=add", A_ALONE),
        ("ROOT r = f32[4] reduce(x, zero), dimensions={0}, to_apply=add", B_ALONE),
        ("ROOT r = f32[8,4] broadcast(v), dimensions={1}", SECOND_B),
        ("ROOT r = f32[8,4] broadcast(zero), dimensions={}", "replicated"),
        ("ROOT r = f32[8,2,2] reshape(x)", "devices=[2,2,1]<=[4]"),
        ("ROOT r = f32[32] reshape(x)", A_ALONE),
        ("ROOT r = f32[8,4] sort(x), dimensions={1}", AB),
        ("ROOT r = f32[4,2] slice(x), slice={[0:4], [1:3]}", AB),
        ("ROOT r = f32[8,3] slice(x), slice={[0:8], [1:4]}", A),
        ("ROOT r = f32[1,4] dynamic-slice(x, i, i), dynamic_slice_sizes={1,4}", SECOND_B),
        ("u = f32[8,1] slice(x), slice={[0:8], [0:1]}
          k = f32[8,4] broadcast(zero), dimensions={}
          ROOT r = f32[8,4] dynamic-update-slice(k, u, i, i)", A),
        ("ROOT r = f32[16,4] concatenate(x, x), dimensions={0}", AB),
        ("ROOT r = f32[8,6] pad(x, zero), padding=0_0x0_2", AB),
        ("k = s32[3,1] constant({{0}, {1}, {2}})
          ROOT r = f32[3,4] gather(x, k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
          index_vector_dim=1, slice_sizes={1,4}", SECOND_B),
        ("k = s32[1] constant({0})
          u = f32[1,4] broadcast(v), dimensions={1}
          o = f32[8,4] broadcast(zero), dimensions={}
          ROOT r = f32[8,4] scatter(o, k, u), update_window_dims={1}, inserted_window_dims={0}, \
          scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add", SECOND_B),
    ] {
        check(body, expected);
    }
}

#[test]
fn operands_that_differ() {
    for (body, expected) in [
        // The columns of the product are divided by those of `w`, since `x` leaves `b` to them.
        ("ROOT r = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", AB),
        ("t = f32[4,8] transpose(x), dimensions={1,0}
          ROOT r = f32[8,8] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}", A),
        ("t = f32[4,8] transpose(x), dimensions={1,0} ROOT r = f32[4,8] add(t, w)",
         "devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate"),
        ("b = f32[8,4] broadcast(v), dimensions={1} ROOT r = f32[8,4] add(b, x)", AB),
        // A broadcast yields.
        ("t = f32[4,8] transpose(x), dimensions={1,0} b = f32[4,8] broadcast(zero), dimensions={}
          ROOT r = f32[4,8] add(b, t)", BA),
        ("k = f32[8,4] broadcast(zero), dimensions={} ROOT r = f32[8,4] add(k, x)", AB),
    ] {
        check(body, expected);
    }
}

#[test]
fn called_computations() {
    for (body, expected) in [
        ("ROOT r = f32[8,4] call(x), to_apply=twice", AB),
        (
            "n = pred[] compare(i, i), direction=LT
          ROOT r = f32[8,4] conditional(n, x, x), true_computation=twice, false_computation=twice",
            AB,
        ),
        // The state takes the division of what is added to it.
        (
            "k = f32[8,4] broadcast(zero), dimensions={}
          t = (s32[], f32[8,4], f32[8,4]) tuple(i, k, x)
          l = (s32[], f32[8,4], f32[8,4]) while(t), condition=ends, body=again
          ROOT r = f32[8,4] get-tuple-element(l), index=1",
            AB,
        ),
    ] {
        check(body, expected);
    }
}

#[test]
fn annotations_take_precedence() {
    let annotated = |tiles: &str, dims: &str| {
        format!(
            "s = f32[8,4] custom-call(x), custom_call_target=\"Sharding\", sharding={{{tiles}}}, \
             frontend_attributes={{xla.sdy.sharding=\"#sdy.sharding_per_value<[<@m, [{dims}]>]>\"}}
             ROOT r = f32[8,4] negate(s)"
        )
    };
    check(&annotated("replicated", "{}, {}"), "replicated");
    check(&annotated("replicated", "{?}, {?}"), AB);
    check(&annotated(A, r#"{\"a\"}, {}"#), A);
    check(&annotated(A, r#"{\"a\"}, {?}"#), AB);
    // `a` is used.
    let second = "devices=[1,2,2]<=[4] last_tile_dim_replicate";
    check(&annotated(second, r#"{?}, {\"a\"}"#), second);
}

#[test]
fn manual_regions() {
    let region = |axes: &str| {
        let manual = format!("xla.sdy.manual_axes=\"#sdy<manual_axes{{{axes}}}>\"");
        format!(
            "c = f32[4,4] custom-call(x), custom_call_target=\"xla.sdy.GlobalToLocalShape\", frontend_attributes={{\
             xla.sdy.in_shardings=\"#sdy.sharding_per_value<[<@m, [{{\\\"a\\\"}}, {{}}]>]>\",{manual}}}
             n = f32[4,4] negate(c)
             ROOT r = f32[8,4] custom-call(n), custom_call_target=\"xla.sdy.LocalToGlobalShape\", frontend_attributes={{\
             xla.sdy.out_shardings=\"#sdy.sharding_per_value<[<@m, [{{\\\"a\\\"}}, {{}}]>]>\",{manual}}}"
        )
    };
    check(&region(r#"\"a\", \"b\""#), A);
    // `b` is not manual: it divides the shards inside of the region.
    check(&region(r#"\"a\""#), AB);
}

#[test]
fn some_results_state_a_sharding() {
    let body = "n = f32[8,4] negate(x)
      ROOT r = (f32[8,4], f32[8,4], f32[]) tuple(x, n, zero), sharding={{replicated}, {unknown}, {unknown}}";
    let shards = Shards::of(&program(body), 4).unwrap();
    let shapes: Vec<String> = shards.results().iter().map(ToString::to_string).collect();
    assert_eq!(shapes, ["f32[8,4]{1,0}", "f32[4,2]{1,0}", "f32[]"]);
}

#[test]
fn a_group_is_divided_alike() {
    let group = |value: &str, number: u32| {
        let id = format!("frontend_attributes={{xla.sdy.sharding_group_id=\"{number} : i64\"}}");
        format!(
            "g{value}{number} = () custom-call({value}), custom_call_target=\"xla.sdy.ShardingGroup\", custom_call_has_side_effect=true, {id} "
        )
    };
    let n = "n = f32[8,4] iota(), iota_dimension=0 ";
    let both = group("x", 1) + &group("n", 1);
    check(&format!("{n} {both} ROOT r = f32[8,4] negate(n)"), AB);
    // Another group takes what the first one gives.
    let more = "m = f32[8,4] iota(), iota_dimension=1 o = f32[8,4] negate(n) ";
    let chain = group("m", 0) + &group("o", 0) + &both;
    check(&format!("{n} {more} {chain} ROOT r = f32[8,4] abs(m)"), AB);
    // A value of its own group has nothing to take.
    check(&format!("{n} {} ROOT r = f32[8,4] negate(n)", group("n", 1)), "replicated");
    // What the program states stands.
    let stated = n.replace("dimension=0", &format!("dimension=0, sharding={{{A}}}"));
    check(&format!("{stated} {both} ROOT r = f32[8,4] negate(n)"), A);
}
