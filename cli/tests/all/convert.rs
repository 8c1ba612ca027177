//! `etalon convert`, and messages of XLA as the files of other commands.
use crate::support::{Folder, expect};

const TEXT: &str = "HloModule m\nENTRY e { x = s32[2] parameter(0) c = s32[2] constant({7, 8}) ROOT r = s32[2] add(x, c) }\n";

#[test]
fn text_and_message_are_converted() {
    let folder = Folder::new("convert");
    folder.write("m.hlo", TEXT);
    expect(&folder.etalon("convert m.hlo m.pb"), 0, "", "");
    expect(&folder.etalon("convert m.pb again.hlo"), 0, "", "");
    expect(&folder.etalon("convert m.hlo full.txt"), 0, "", "");
    let read = |name: &str| std::fs::read(folder.0.join(name)).expect("it is written");
    assert_eq!(read("again.hlo"), read("full.txt"));
    expect(&folder.etalon("convert m.pb -"), 0, "constant({7, 8})", "");
    expect(&folder.etalon("convert m.hlo m.onnx"), 2, "", "end the name with .pb");
}

#[test]
fn stablehlo_is_written_and_read() {
    let folder = Folder::new("stablehlo");
    folder.write("m.hlo", TEXT);
    expect(&folder.etalon("convert m.hlo m.mlir"), 0, "", "");
    expect(&folder.etalon("run m.mlir --random 1"), 0, "s32[2] {", "");
    expect(&folder.etalon("convert m.mlir again.pb"), 0, "", "");
    expect(
        &folder.etalon("print again.pb --style stablehlo"),
        0,
        "%0 = stablehlo.add %arg0, %c : tensor<2xi32>",
        "",
    );
    expect(
        &folder.etalon("print m.hlo --style stablehlo --generic"),
        0,
        "\"stablehlo.add\"(%arg0, %c) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>",
        "",
    );
    let erf = "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] sinh(x) }\n";
    folder.write("sinh.hlo", erf);
    expect(&folder.etalon("print sinh.hlo --style stablehlo"), 0, "chlo.sinh %arg0", "");
    expect(
        &folder.etalon("print sinh.hlo --style stablehlo --chlo expand"),
        0,
        "stablehlo.exponential_minus_one",
        "",
    );
    let state = "HloModule m\nENTRY e { ROOT r = u64[2] rng-get-and-update-state(), delta=1 }\n";
    folder.write("state.hlo", state);
    let refused = folder.etalon("convert state.hlo state.mlir");
    expect(&refused, 3, "", "`rng-get-and-update-state` has no counterpart in StableHLO");
}

#[test]
fn portable_bytecode_is_written_and_read() {
    let folder = Folder::new("bytecode");
    folder.write("m.hlo", TEXT);
    expect(&folder.etalon("convert m.hlo m.mlirbc"), 0, "", "");
    expect(&folder.etalon("run m.mlirbc --random 1"), 0, "s32[2] {", "");
    let start = |name: &str| std::fs::read(folder.0.join(name)).unwrap()[5..20].to_vec();
    assert_eq!(start("m.mlirbc"), b"StableHLO_v1.0.");
    expect(&folder.etalon("convert m.hlo new.mlirbc --target 1.9.0"), 0, "", "");
    assert_eq!(start("new.mlirbc"), b"StableHLO_v1.9.");
    folder.write(
        "tan.hlo",
        "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] tan(x) }\n",
    );
    let old = folder.etalon("convert tan.hlo tan.mlirbc --target 1.3.0");
    expect(&old, 3, "", "error[E0913]: `stablehlo.tan` needs StableHLO 1.4.0; the target is 1.3.0");
    let future = folder.etalon("convert m.hlo future.mlirbc --target 9.0.0");
    expect(&future, 3, "", "error[E0913]: StableHLO 9.0.0 cannot be written");
    expect(
        &folder.etalon("convert m.hlo x.mlirbc --target x"),
        2,
        "",
        "not a version of StableHLO",
    );
    expect(
        &folder.etalon("convert m.hlo m.mlir --target 1.9.0"),
        2,
        "",
        "end the name with .mlirbc",
    );
}

#[test]
fn commands_open_messages() {
    let folder = Folder::new("messages");
    folder.write("m.hlo", TEXT);
    expect(&folder.etalon("convert m.hlo m.pb"), 0, "", "");
    expect(&folder.etalon("check m.pb"), 0, "m.pb: ok", "");
    expect(&folder.etalon("print m.pb --style short"), 0, "ROOT r = s32[2]{0} add(x, c)", "");
    expect(&folder.etalon("print m.pb --in-place"), 2, "", "etalon convert m.pb OUT.hlo");
    expect(&folder.etalon("run m.pb --random 1"), 0, "s32[2] {", "");
    // Errors show the line of the printed module.
    folder.write(
        "wrong.hlo",
        "HloModule m\nENTRY e { x = s32[2] parameter(0) ROOT r = s32[3] add(x, x) }\n",
    );
    expect(&folder.etalon("convert wrong.hlo wrong.pb"), 0, "", "");
    expect(&folder.etalon("check wrong.pb"), 1, "", "ROOT %r = s32[3]{0} add(%x, %x)");
    let bytes = std::fs::read(folder.0.join("m.pb")).expect("it is written");
    std::fs::write(folder.0.join("cut.pb"), &bytes[..bytes.len() / 2]).expect("it is written");
    expect(&folder.etalon("check cut.pb"), 1, "", "error[E0121]: cut.pb");
}

#[test]
fn programs_and_functions_are_chosen() {
    let folder = Folder::new("convert-choose");
    let function = |name: &str, op: &str| {
        format!(
            "func.func @{name}(%x: tensor<?xf32>) -> tensor<?xf32> {{\n  %y = stablehlo.{op} %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}}\n"
        )
    };
    let text = format!(
        "{}// -----\n{}{}",
        function("a", "abs"),
        function("b", "sign"),
        function("c", "ceil")
    );
    folder.write("m.mlir", &text);
    let run =
        |rest: &str| folder.etalon(&format!("run m.mlir --input in0=f32[2]{{-1.5,2}} {rest}"));
    expect(&run(""), 2, "", "choose one with --module N, where 1 is `@a`, 2 is `@b`");
    expect(&run("--module 3"), 2, "", "m.mlir has 2 modules, none of number 3");
    expect(&run("--module 1 --shape f32[2]"), 0, "f32[2] {1.5, 2}", "");
    expect(&run("--module 2"), 1, "", "choose one with --function: `@b`, `@c`");
    expect(&run("--module 2 --function c --shape f32[2]"), 0, "f32[2] {-1, 2}", "");
    expect(&run("--module 2 --function @d"), 1, "", "it has `@b`, `@c`");
    expect(&run("--module 1"), 0, "f32[2] {1.5, 2}", "");
    let drawn = folder.etalon("run m.mlir --module 1 --random 1");
    expect(&drawn, 3, "", "state the shape of each argument with --shape");
    expect(&run("--module 1 --shape s32[2]"), 1, "", "argument 0 of `@a` is s32[2]");
    expect(&run("--module 1 --shape x"), 2, "", "--shape");
    folder.write("m.hlo", "HloModule m\nENTRY e { ROOT c = f32[] constant(1) }");
    expect(&folder.etalon("run m.hlo --function c"), 2, "", "leave out --function");
}
