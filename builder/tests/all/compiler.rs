//! What compilers and front ends write: custom calls, asynchronous ops, fusions, dynamic sizes,
//! borders of partitioning.
use crate::support::{contains, run, text};
use builder::{Builder, CustomCallOptions};
use hlo::ir::Sharding;
use hlo::op::value::{
    ApiVersion, CustomCallSchedule, FusionKind, OutputOperandAlias, OutputOperandAliasing,
    ShapeIndex, Window, WindowDim,
};

/// All of the result lies in operand 0.
fn in_place() -> OutputOperandAliasing {
    let (output_index, operand_index) = (ShapeIndex::default(), ShapeIndex::default());
    OutputOperandAliasing(vec![OutputOperandAlias { output_index, operand: 0, operand_index }])
}

#[test]
fn custom_calls_print_their_options() {
    let b = Builder::new("custom_calls");
    let x = b.parameter(0, "f32[2,3]", "x");
    let plain = b.custom_call("plain", &[x], "f32[2,3]", &CustomCallOptions::default());
    let options = CustomCallOptions {
        opaque: "{uplo = 76 : ui8}".to_owned(),
        has_side_effect: true,
        output_operand_aliasing: in_place(),
        literal: Some("s32[] 5".parse().unwrap()),
        schedule: CustomCallSchedule::Latest,
        api_version: ApiVersion::TypedFfi,
        ..CustomCallOptions::default()
    };
    let full = b.custom_call("full", &[plain], "f32[2,3]", &options);
    let greater = b.computation("greater", &["f32[]", "f32[]"], |p| p[0].gt(p[1]));
    let shapes = vec!["f32[2,3]{0,1}".parse().unwrap()];
    let layouts = CustomCallOptions {
        computations: vec![greater],
        operand_shapes_with_layout: Some(shapes),
        ..CustomCallOptions::default()
    };
    let layouts = b.custom_call("layouts", &[full], "f32[2,3]{0,1}", &layouts);
    let conv = CustomCallOptions {
        window: Window { dims: vec![WindowDim::new(3), WindowDim::new(2)] },
        dimension_numbers: Some(Builder::create_default_conv_dimension_numbers(2)),
        ..CustomCallOptions::default()
    };
    let conv = b.custom_call("__conv", &[layouts, x], "f32[4]", &conv);
    contains(
        &text(&b, conv),
        &[
            "custom-call(%x), custom_call_target=\"plain\"",
            "custom_call_target=\"full\", custom_call_has_side_effect=true, literal=s32[] 5, output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_LATEST, api_version=API_VERSION_TYPED_FFI",
            "backend_config={uplo = 76 : ui8}",
            "operand_layout_constraints={f32[2,3]{0,1}}",
            "called_computations={%greater}",
            "window={size=3x2}, dim_labels=bf01_oi01->bf01, custom_call_target=\"__conv\"",
        ],
    );
}

#[test]
fn custom_calls_run_what_is_known() {
    let b = Builder::new("custom_call_run");
    let x = b.parameter(0, "f32[4]", "x");
    let options = CustomCallOptions::default();
    let moved = b.custom_call("MoveToHost", &[x], "f32[4]", &options);
    assert_eq!(run(&b, moved, &["f32[4] {1, 2, 3, 4}"]), "f32[4]{0} {1, 2, 3, 4}");
    let b = Builder::new("m");
    let reserved = b.custom_call("$mine", &[], "f32[]", &CustomCallOptions::default());
    let error = b.build(reserved).unwrap_err();
    assert!(error.to_string().contains("the target `$mine` starts with `$`"), "{error}");
}

#[test]
fn asynchronous_computations() {
    let b = Builder::new("asynchronous");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "y"));
    let sum = b.computation("sum", &["f32[2]", "f32[2]"], |p| p[0] + p[1]);
    let product = b.computation("product", &["f32[2]", "f32[2]"], |p| p[0] * p[1]);
    b.set_execution_thread(product, "host");
    let (one, other) = (b.async_start(sum, &[x, y]), b.async_start(product, &[x, y]));
    let results = b.tuple(&[one.async_done(), other.async_update(&[]).async_done()]);
    let values = run(&b, results, &["f32[2] {1, 2}", "f32[2] {3, 5}"]);
    assert_eq!(values, "( f32[2]{0} {4, 7}, f32[2]{0} {3, 10} )");
    contains(&text(&b, results), &["execution_thread=\"host\""]);
}

#[test]
fn operands_may_come_later() {
    let b = Builder::new("later");
    let (x, y) = (b.parameter(0, "f32[]", "x"), b.parameter(1, "f32[]", "y"));
    let difference = b.computation("difference", &["f32[]", "f32[]"], |p| p[0] - p[1]);
    let started = b.async_start(difference, &[x]).async_update(&[y]);
    assert_eq!(run(&b, started.async_done(), &["f32[] 9", "f32[] 4"]), "f32[] 5");
}

#[test]
fn copies_start_and_end() {
    let b = Builder::new("copies");
    let x = b.parameter(0, "f32[2]", "x");
    let copies = [x.copy_start(None).copy_done(), x.copy_start(Some(0)).copy_done()];
    let values = run(&b, b.tuple(&copies), &["f32[2] {1, 2}"]);
    assert_eq!(values, "( f32[2]{0} {1, 2}, f32[2]{0} {1, 2} )");
    contains(&text(&b, b.tuple(&copies)), &["cross_program_prefetch_index=0"]);
}

#[test]
fn fusions_run_in_one_piece() {
    let b = Builder::new("fusions");
    let x = b.parameter(0, "f32[2]", "x");
    let body = b.computation("fused", &["f32[2]", "f32[2]"], |p| p[0] * p[1] + 1);
    let fused = b.fusion(FusionKind::Loop, body, &[x, x], &in_place());
    assert_eq!(run(&b, fused, &["f32[2] {3, 4}"]), "f32[2]{0} {10, 17}");
    let expected = "kind=kLoop, output_to_operand_aliasing={{}: (0, {})}, calls=%fused";
    contains(&text(&b, fused), &[expected]);
}

/// The elements lie in memory in the order 1, 4, 2, 5, 3, 6.
#[test]
fn bitcasts_read_memory() {
    let b = Builder::new("bitcasts");
    let x = b.parameter(0, "f32[2,3]{0,1}", "x");
    let values = run(&b, x.bitcast("f32[3,2]{1,0}"), &["f32[2,3]{0,1} {{1, 2, 3}, {4, 5, 6}}"]);
    assert_eq!(values, "f32[3,2]{1,0} { { 1, 4 }, { 2, 5 }, { 3, 6 } }");
}

#[test]
fn domains_and_states() {
    let b = Builder::new("borders");
    let x = b.parameter(0, "f32[2]", "x");
    let sharding = |text: &str| text.parse::<Sharding>().unwrap();
    let y = x.domain(sharding("{replicated}"), sharding("{maximal device=0}"));
    assert_eq!(run(&b, y.add_dependency(b.create_token()), &["f32[2] {1, 2}"]), "f32[2]{0} {1, 2}");
    let state = b.rng_get_and_update_state(7);
    contains(
        &text(&b, b.tuple(&[y, state])),
        &[
            "domain={kind=\"sharding\", entry={replicated}, exit={maximal device=0}}",
            "u64[2]{0} rng-get-and-update-state(), delta=7",
        ],
    );
}

#[test]
fn sizes_are_set_and_asked() {
    let b = Builder::new("sizes");
    let x = b.parameter(0, "f32[4,2]", "x");
    let three = x.set_dimension_size(b.constant(3i32), 0);
    assert_eq!(three.shape().unwrap().to_string(), "f32[<=4,2]{1,0}");
    let sum = three.reduce(0.0, |a, c| a + c, &[0]);
    let whole = three.remove_dynamic_dimension(-2);
    assert_eq!(whole.shape().unwrap().to_string(), "f32[4,2]{1,0}");
    let results = [
        three.get_dimension_size(0),
        three.get_dimension_size(1),
        whole.get_dimension_size(0),
        sum,
    ];
    let values = run(&b, b.tuple(&results), &["f32[4,2] {{1, 2}, {3, 4}, {5, 6}, {70, 80}}"]);
    assert_eq!(values, "( s32[] 3, s32[] 2, s32[] 4, f32[2]{0} {9, 12} )");
    // A static size is a constant.
    assert_eq!(text(&b, b.tuple(&results)).matches("get-dimension-size(").count(), 1);
}

#[test]
fn programs_are_cut_and_put_together() {
    let b = Builder::new("spmd");
    b.set_num_partitions(2);
    let x = b.parameter(0, "f32[5,4]", "x");
    let rows: Sharding = "{devices=[2,1]<=[2]}".parse().unwrap();
    let part = x.convert_spmd_full_to_shard_shape(&rows, None, &[]);
    let whole = (part * 2).convert_spmd_shard_to_full_shape("f32[5,4]", &rows, None, &[1]);
    contains(
        &text(&b, whole),
        &[
            "f32[5,4]{1,0} custom-call(%x), custom_call_target=\"Sharding\", sharding={devices=[2,1]<=[2]}",
            // Half of 5, rounded up.
            "f32[3,4]{1,0} custom-call(%custom-call), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}",
            "custom_call_target=\"Sharding\", sharding={manual}",
            "custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,1]<=[2]}",
            "backend_config=\"unspecified_dims=[1]\"",
        ],
    );
}

/// Tiles (0,1,2 / 3,4,5) over 2 rows and 3 columns; the rows are cut by hand, so that their devices
/// become a last dimension: for each column the pair of devices that share it.
#[test]
fn one_dimension_is_cut_by_hand() {
    let b = Builder::new("spmd_single");
    b.set_num_partitions(6);
    let x = b.parameter(0, "f32[4,6]", "x");
    let tiles: Sharding = "{devices=[2,3]0,1,2,3,4,5}".parse().unwrap();
    let part = x.convert_spmd_full_to_shard_shape(&tiles, Some(0), &[]);
    assert_eq!(part.dims().unwrap(), [2, 6]);
    let expected: Sharding =
        "{devices=[1,3,2]0,3,1,4,2,5 last_tile_dims={manual}}".parse().unwrap();
    assert_eq!(part.sharding().unwrap(), Some(expected));
    contains(&text(&b, part), &["SPMDFullToShardShape"]);
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[4]", "x");
    let error = b.build(x.convert_spmd_full_to_shard_shape(&tiles, None, &[])).unwrap_err();
    assert!(error.to_string().contains("the sharding tiles 2 dimensions, f32[4] has 1"), "{error}");
}

/// On one device the part is the whole.
#[test]
fn one_device_has_all_of_it() {
    let b = Builder::new("spmd_alone");
    let x = b.parameter(0, "f32[2]", "x");
    let whole: Sharding = "{replicated}".parse().unwrap();
    let part = x.convert_spmd_full_to_shard_shape(&whole, None, &[]) + 1;
    let y = part.convert_spmd_shard_to_full_shape("f32[2]", &whole, None, &[]);
    assert_eq!(run(&b, y, &["f32[2] {1, 2}"]), "f32[2]{0} {2, 3}");
}
