//! Small modules as StableHLO text: what is easily written wrong.
#![allow(clippy::unwrap_used, reason = "tests")]
use stablehlo::{ExportOptions, from_hlo};

/// Returns the text of a module's functions, which reads back as the same text.
fn text(hlo: &str) -> String {
    let module = hlo::Module::parse(hlo).unwrap().verify().unwrap();
    let program = from_hlo(&module, &ExportOptions::default()).unwrap();
    let text = program.to_string();
    let again = stablehlo::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again.to_string(), text);
    let back = stablehlo::convert::module(&again).unwrap();
    back.verify().unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    text
}
/// Returns the lines of `main`, without the indentation.
fn main_of(hlo: &str) -> String {
    let text = text(hlo);
    let lines = text.lines().skip(2).map(str::trim_start);
    lines.take_while(|line| *line != "}").collect::<Vec<_>>().join("\n")
}
fn constant(value: &str) -> String {
    let (ty, _) = value.split_once(' ').unwrap();
    let value = &value[ty.len() + 1..];
    let text = main_of(&format!("HloModule m\nENTRY e {{ ROOT c = {ty} constant({value}) }}"));
    let (_, rest) = text.split_once("constant ").unwrap();
    rest.lines().next().unwrap().to_owned()
}

#[test]
fn constants() {
    for (hlo, expected) in [
        ("f32[0] {}", "dense<> : tensor<0xf32>"),
        ("f32[0,3] {}", "dense<> : tensor<0x3xf32>"),
        ("f32[2] {-0, -0}", "dense<-0.000000e+00> : tensor<2xf32>"),
        ("u64[] 18446744073709551615", "dense<18446744073709551615> : tensor<ui64>"),
        ("s4[2] {-8, 7}", "dense<[-8, 7]> : tensor<2xi4>"),
        ("pred[] true", "dense<true> : tensor<i1>"),
        ("f8e4m3fn[] nan", "dense<0x7F> : tensor<f8E4M3FN>"),
        (
            "c64[2] {(1, nan), (1, nan)}",
            "dense<(1.000000e+00,0x7FC00000)> : tensor<2xcomplex<f32>>",
        ),
        ("s32[1,2,1] {{{1}, {2}}}", "dense<[[[1], [2]]]> : tensor<1x2x1xi32>"),
    ] {
        assert_eq!(constant(hlo), expected);
    }
}
#[test]
fn constants_of_booleans_are_listed() {
    for count in [1usize, 8, 9, 101] {
        for (value, is_splat) in [("true", true), ("false", true), ("", false)] {
            let element = |i: usize| match value {
                "" if i.is_multiple_of(3) => "true",
                "" => "false",
                value => value,
            };
            let elements: Vec<_> = (0..count).map(element).collect();
            let elements = elements.join(", ");
            let found = constant(&format!("pred[{count}] {{{elements}}}"));
            let expected = match is_splat || count == 1 {
                true => element(0).to_owned(),
                false => format!("[{elements}]"),
            };
            assert_eq!(found, format!("dense<{expected}> : tensor<{count}xi1>"));
        }
    }
}
#[test]
fn large_constants_are_bytes() {
    let elements: Vec<_> = (0..101).map(|i| (i % 16 - 8).to_string()).collect();
    let found = constant(&format!("s4[101] {{{}}}", elements.join(", ")));
    assert!(found.starts_with("dense<\"0x08090A0B0C0D0E0F0001"), "{found}");
}
#[test]
fn results_and_arguments() {
    let twice = main_of("HloModule m\nENTRY e { x = f32[] parameter(0) u = s32[] parameter(1) a = f32[] abs(x) ROOT t = (f32[], (f32[])) tuple(a, t1) }".replace("ROOT", "t1 = (f32[]) tuple(a) ROOT").as_str());
    assert_eq!(
        twice,
        "%0 = stablehlo.abs %arg0 : tensor<f32>\nreturn %0, %0 : tensor<f32>, tensor<f32>"
    );
    let nothing = text("HloModule m\nENTRY e { ROOT t = () tuple() }");
    assert!(nothing.contains("func.func public @main() {\n    return\n  }"), "{nothing}");
}
#[test]
fn names_that_are_no_identifiers_are_quoted() {
    let found = text(
        "HloModule m\nf-1.2 { p = s32[] parameter(0) ROOT n = s32[] negate(p) }\nENTRY e { x = s32[] parameter(0) ROOT c = s32[] call(x), to_apply=f-1.2 }",
    );
    assert!(
        found.contains("%0 = call @\"f-1.2\"(%arg0) : (tensor<i32>) -> tensor<i32>"),
        "{found}"
    );
    assert!(found.contains("func.func private @\"f-1.2\"(%arg0: tensor<i32>)"), "{found}");
}
#[test]
fn metadata_becomes_locations() {
    let found = text(
        "HloModule m\nENTRY e { x = s32[] parameter(0) ROOT n = s32[] negate(x), metadata={op_name=\"a\\\"\\\\b\" source_file=\"f.py\" source_line=7 source_column=2} }",
    );
    assert!(
        found.ends_with("#loc1 = loc(\"f.py\":7:2)\n#loc2 = loc(\"a\\22\\\\b\"(#loc1))\n"),
        "{found}"
    );
}
#[test]
fn a_branch_uses_values_from_outside() {
    let found = main_of("HloModule m
t { x = (f32[], f32[]) parameter(0) a = f32[] get-tuple-element(x), index=1 ROOT r = f32[] negate(a) }
f { x = f32[] parameter(0) ROOT r = f32[] abs(x) }
ENTRY e { p = pred[] parameter(0) x = f32[] parameter(1) t2 = (f32[], f32[]) tuple(x, x)
  ROOT c = f32[] conditional(p, t2, x), true_computation=t, false_computation=f }");
    assert_eq!(
        found,
        "%0 = \"stablehlo.if\"(%arg0) ({\n%1 = stablehlo.negate %arg1 : tensor<f32>\nstablehlo.return %1 : tensor<f32>\n}, {\n%1 = stablehlo.abs %arg1 : tensor<f32>\nstablehlo.return %1 : tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\nreturn %0 : tensor<f32>"
    );
}
#[test]
fn refusals_name_the_instruction() {
    let hlo = "HloModule m\nENTRY e { ROOT s = u64[2] rng-get-and-update-state(), delta=1 }";
    let module = hlo::Module::parse(hlo).unwrap().verify().unwrap();
    let error = from_hlo(&module, &ExportOptions::default()).unwrap_err();
    assert_eq!(error.instruction(), Some("e/s"));
    assert_eq!(error.number(), "E0920");
    assert!(error.code().is_unsupported());
}
/// Readers refuse a convolution of two types, and collectives along a dimension of size 0.
#[test]
fn what_readers_refuse_is_written_as_other_ops() {
    let add = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }";
    for (hlo, start) in [
        (
            "x = s8[1,2,1] parameter(0) k = f32[1,1,1] parameter(1)
             ROOT r = f32[1,2,1] convolution(x, k), window={size=1}, dim_labels=b0f_0io->b0f",
            "%0 = stablehlo.convert %arg0 : (tensor<1x2x1xi8>) -> tensor<1x2x1xf32>",
        ),
        (
            "x = f32[0,3] parameter(0)
             ROOT r = f32[0,3] all-gather(x), dimensions={0}, replica_groups={}",
            "%cst = stablehlo.constant dense<> : tensor<0x3xf32>",
        ),
        (
            "x = f32[0,3] parameter(0)
             ROOT r = f32[0,3] reduce-scatter(x), dimensions={0}, replica_groups={}, to_apply=add",
            "%cst = stablehlo.constant dense<> : tensor<0x3xf32>",
        ),
    ] {
        let text = main_of(&format!("HloModule m\n{add}\nENTRY e {{ {hlo} }}"));
        assert!(text.starts_with(start), "{text}");
    }
    // The pretty form of a slice without dimensions does not read back.
    let slice = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] dynamic-slice(x), dynamic_slice_sizes={} }";
    assert!(main_of(slice).starts_with("%0 = \"stablehlo.dynamic_slice\"(%arg0)"));
}
#[test]
fn annotations_are_those_of_functions() {
    let found = text("HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, num_partitions=1
ENTRY e { x = f32[2] parameter(0), sharding={devices=[2]<=[2]} y = f32[2] parameter(1), frontend_attributes={k=\"v\"}
  ROOT t = (f32[2], f32[2]) tuple(x, y), sharding={{replicated}, {devices=[2]<=[2]}} }");
    for part in [
        "%arg0: tensor<2xf32> {mhlo.sharding = \"{devices=[2]<=[2]}\", tf.aliasing_output = 1 : i32}",
        "%arg1: tensor<2xf32> {jax.buffer_donor = true, mhlo.frontend_attributes = {k = \"v\"}}",
        "-> (tensor<2xf32> {mhlo.sharding = \"{replicated}\"}, tensor<2xf32> {mhlo.sharding = \"{devices=[2]<=[2]}\"})",
    ] {
        assert!(found.contains(part), "{part} in {found}");
    }
}

/// Names and spaces are those that StableHLO prints.
#[test]
fn forms_with_names_of_their_own() {
    let found = main_of(
        "HloModule m
step { x = f32[] parameter(0) c = f32[] parameter(1) ROOT r = (f32[], f32[]) tuple(c, c) }
ENTRY e { x = f32[2,3] parameter(0) t = (f32[2,1], s32[2,1]) topk(x), k=1, largest=true
  y = f32[2,1] get-tuple-element(t), index=0 z = f32[2] reshape(y) c = f32[] constant(0.1)
  s = (f32[2], f32[]) scan(z, c), dimensions={0}, num_carries=1, to_apply=step
  a = token[] after-all() g = f32[2] get-tuple-element(s), index=0
  ROOT r = (f32[2], token[]) tuple(g, a) }",
    );
    assert_eq!(
        found,
        "%values, %indices = chlo.top_k(%arg0, k = 1) : tensor<2x3xf32> -> (tensor<2x1xf32>, tensor<2x1xi32>)
%0 = stablehlo.reshape %values : (tensor<2x1xf32>) -> tensor<2xf32>
%cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
%1:2 = chlo.scan(%0) inits (%cst) dimension=0  attributes {is_associative = false, is_reverse = false} {
^bb0(%input: tensor<f32>, %carry: tensor<f32>):
stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
} : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
%2 = stablehlo.after_all  : !stablehlo.token
return %1#0, %2 : tensor<2xf32>, !stablehlo.token"
    );
}
#[test]
fn a_ragged_dot_of_no_groups_is_expanded() {
    for (w, result, groups) in [
        (
            "f32[0,1,1]",
            "f32[2,1]",
            "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
        ),
        ("f32[1,3]", "f32[0,2,3]", "rhs_contracting_dims={0}, lhs_ragged_dims={1}"),
    ] {
        let hlo = format!(
            "HloModule m\nENTRY e {{ x = f32[2,1] parameter(0) w = {w} parameter(1) g = s32[0] parameter(2)
             ROOT r = {result} ragged-dot(x, w, g), lhs_contracting_dims={{1}}, {groups} }}"
        );
        let module = hlo::Module::parse(&hlo).unwrap().verify().unwrap();
        let options = ExportOptions { chlo: stablehlo::Chlo::Expand };
        let text = from_hlo(&module, &options).unwrap().to_string();
        assert!(text.contains("0.000000e+00") || text.contains("dense<>"), "{text}");
    }
}
/// The lists would be larger than memory.
#[test]
fn groups_of_too_many_devices_are_refused() {
    for (config, groups) in [
        ("", "[1,1000000000]<=[1000000000], use_global_device_ids=true"),
        ("", "[1000000000,1]<=[1000000000]"),
        (", replica_count=2, num_partitions=1000000000", "{{0,1}}"),
        (", replica_count=1000000000, num_partitions=2", "{}"),
    ] {
        let hlo = format!(
            "HloModule m{config}\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
             ENTRY e {{ x = f32[2] parameter(0)
             ROOT r = f32[2] all-reduce(x), channel_id=1, replica_groups={groups}, to_apply=add }}"
        );
        let module = hlo::Module::parse(&hlo).unwrap().verify().unwrap();
        let error = from_hlo(&module, &ExportOptions::default()).unwrap_err();
        let message = "`all-reduce` of more than a million devices";
        assert_eq!(
            (error.number(), &*error.code().to_string()),
            ("E0920", message),
            "{config} {groups}"
        );
    }
}
