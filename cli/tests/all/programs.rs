//! Programs of MLIR on the command line: tests that check their own values, sizes from arguments, numbers of devices.
use crate::support::{Folder, expect};
use hlo::Literal;
use hlo::literal::npz;
use std::fs::File;

#[test]
fn functions_that_check_values_are_tests() {
    let folder = Folder::new("checks");
    folder.write(
        "a.mlir",
        "// RUN: tool --interpret %s
func.func @right() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %x, dense<[1, 2]> : tensor<2xi32>
  interpreter.print %x : tensor<2xi32>
  return
}
// -----
func.func @wrong() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %x, dense<[1, 3]> : tensor<2xi32>
  return
}
",
    );
    let wrong = "engine exact: a.mlir:11: `check.expect_eq_const` of `@wrong`: 1 of 2 elements differ\nworst: result 0 at [1]: found s32[] 2, expected s32[] 3";
    let output = folder.etalon("test a.mlir");
    expect(&output, 1, wrong, "");
    expect(&output, 1, "a.mlir:5: s32[2] {1, 2}\n", "");
    expect(&output, 1, "1 agree, 1 differ, 0 failed, 0 unsupported, 0 skipped", "");
    // Also in a folder, beside HLO.
    folder.write("b.hlo", "HloModule b\nENTRY e { ROOT x = s32[] constant(1) }\n// out: s32[] 1\n");
    expect(&folder.etalon("test . --json r.json"), 1, "2 agree, 1 differ", "");
    let json = std::fs::read_to_string(folder.0.join("r.json")).unwrap();
    assert!(json.contains("a.mlir::wrong\", \"outcome\": \"differ\""), "{json}");
    folder.write("plain.mlir", "func.func @main() { return }");
    expect(&folder.etalon("test plain.mlir"), 2, "", "states no results, so nothing is tested");
    expect(&folder.etalon("run a.mlir --module 2"), 3, "", "which `etalon test` runs");
    folder.write("bad.mlir", "func.func @f() { check.expect_eq %x, %x : tensor<f32> return }");
    expect(&folder.etalon("test bad.mlir"), 1, "bad.mlir:1:34", "");
}

const SIZED: &str =
    "func.func @main(%n: tensor<1xi64>, %x: tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?x2xf32>) {
  %y = stablehlo.dynamic_reshape %x, %n : (tensor<?x2xf32>, tensor<1xi64>) -> tensor<?xf32>
  %z = stablehlo.negate %x : tensor<?x2xf32>
  return %y, %z : tensor<?xf32>, tensor<?x2xf32>
}";

#[test]
fn unknown_sizes_are_those_of_the_input() {
    let folder = Folder::new("sizes");
    folder.write("m.mlir", SIZED);
    let (n, x): (Literal, Literal) =
        ("s64[1] {4}".parse().unwrap(), "f32[2,2] {{1, 2}, {3, 4}}".parse().unwrap());
    let all = [("in0".to_owned(), &n), ("in1".to_owned(), &x)];
    npz::write(File::create(folder.0.join("in.npz")).unwrap(), all).unwrap();
    npz::write_array(File::create(folder.0.join("x.npy")).unwrap(), &x).unwrap();
    npz::write_array(File::create(folder.0.join("n.npy")).unwrap(), &n).unwrap();
    for input in [
        "--input in.npz",
        "--input n.npy --input x.npy",
        "--input 1=x.npy --input 0={4}",
        "--input Arg_1=x.npy --input 0=s64[1]{4}",
    ] {
        let output = folder.etalon(&format!("run m.mlir {input}"));
        expect(&output, 0, "f32[4] {1, 2, 3, 4}", "");
    }
    let conform = folder.etalon("conform m.mlir --backend fast --input in.npz");
    expect(&conform, 0, "", "");
    // Nothing states a size.
    expect(&folder.etalon("run m.mlir --input 0={4}"), 3, "", "E0925");
    expect(&folder.etalon("run m.mlir --random 1"), 3, "", "E0925");
}

#[test]
fn the_number_of_devices_follows_from_groups() {
    let folder = Folder::new("groups");
    let program = |attributes: &str, groups: &str| {
        format!(
            "module @m {attributes} {{
  func.func @main(%x: tensor<i32>) -> tensor<i32> {{
    %0 = \"stablehlo.all_reduce\"(%x) ({{
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }}) {{{groups}}} : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }}
}}"
        )
    };
    let three = "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>";
    folder.write("replicas.mlir", &program("", three));
    let output = folder.etalon("run replicas.mlir --input 0=5");
    expect(
        &output,
        0,
        "device 2: s32[] 15",
        "its groups of devices need 3 replicas, 1 partition each",
    );
    let flat = format!(
        "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids, {three}"
    );
    folder.write("flat.mlir", &program("", &flat));
    expect(
        &folder.etalon("run flat.mlir --input 0=5"),
        0,
        "s32[] 15",
        "1 replica, 3 partitions each",
    );
    // What is stated applies.
    let stated = program("attributes {mhlo.num_replicas = 4 : i32}", three);
    folder.write("stated.mlir", &stated);
    expect(&folder.etalon("run stated.mlir --input 0=5"), 1, "", "error");
    folder.write(
        "mesh.mlir",
        "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>
func.func @main() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}",
    );
    expect(
        &folder.etalon("run mesh.mlir"),
        0,
        "device 3: u32[] 3",
        "its mesh need 1 replica, 4 partitions",
    );
}

#[test]
fn custom_calls_are_declared() {
    let folder = Folder::new("declared");
    folder.write(
        "m.hlo",
        "HloModule m
ENTRY e {
  x = f32[2] constant({1, 2})
  y = s32[] constant(3)
  a = f32[2] custom-call(x), custom_call_target=\"v.note\"
  b = s32[] custom-call(a, y), custom_call_target=\"v.second\"
  ROOT r = (f32[2], s32[]) custom-call(a, b), custom_call_target=\"v.both\"
}
",
    );
    folder.write(
        "d.txt",
        "# vendor\nv.note = identity\n\"v.second\" = operand 1 # counted from 0\nv.both = tuple\n",
    );
    expect(&folder.etalon("run m.hlo --custom-calls d.txt"), 0, "f32[2] {1, 2},\n  s32[] 3)", "");
    for (text, code, message) in [
        (
            "v.note = identity\nv.second = operand 2\n",
            1,
            "declares `v.second` as operand 2, and the call has 2 operands",
        ),
        ("v.note = same\n", 2, "d.txt:1: `v.note = same` is not a declaration"),
        ("v.note\n", 2, "E0615"),
        ("v.a = tuple\n\nv.a = tuple\n", 2, "d.txt:3: `v.a` is declared twice"),
        ("v.note = identity\n", 3, "unknown custom call target `v.second`"),
    ] {
        folder.write("d.txt", text);
        expect(&folder.etalon("run m.hlo --custom-calls d.txt"), code, "", message);
    }
}
