//! `etalon passes`: dumps of wrong and of right passes, in every form; files and exit codes.
use crate::support::{Folder, expect};
use std::path::Path;
use std::process::{Command, Output};

/// The folder of the dumps, one for each wrong pass.
const DUMPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/passes");

fn passes(dump: &str, options: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
    command.current_dir(DUMPS).args(["passes", dump]).args(options.split_whitespace());
    command.output().unwrap()
}

#[test]
fn each_wrong_pass_is_named() {
    for (dump, pass, shown) in [
        ("crop_and_pad", "0000 simplification/algsimp", "main/r differs from main/r"),
        ("nested_slices", "0000 simplification/algsimp", "through main/start"),
        ("dynamic_rows", "0000 dynamic-shapes/dynamic_padder", "found s32[] 3, expected s32[] 2"),
        ("negative_zero", "0000 simplification/algsimp", "found f32[] -0, expected f32[] 0"),
        ("folded_convolution", "0000 simplification/constant_folding", "expected u8[] 44"),
        ("log_of_power", "0000 simplification/algsimp", "nan: algebraic rewrites"),
        ("quotient", "0000 simplification/algsimp", "inf, expected f32[] "),
        ("quotient_of_quotients", "0000 simplification/algsimp", "expected f32[] 1"),
    ] {
        let output = passes(dump, "--seeds 3");
        expect(&output, 1, &format!(" steps changes the meaning: {pass} ("), "");
        expect(&output, 1, shown, "");
    }
}

#[test]
fn two_wrong_passes_are_both_named() {
    let output = passes("high_half", "");
    let both = "2 of 2 steps change the meaning: 0000 normalization/float-normalization-s4, 0001 normalization/float-normalization-u4";
    expect(&output, 1, both, "");
    expect(&output, 1, "main/high_b differs from main/high_b, through", "");
    let output = passes("high_half", "--first");
    expect(&output, 1, "1 of 1 steps changes the meaning", "");
    let output = passes("high_half", "--pass *u4");
    expect(&output, 1, "0001 normalization/float-normalization-u4 (1 not run, 1 DIFFERS)", "");
}

#[test]
fn an_invalid_state_is_named_with_its_rule() {
    let output = passes("invalid_reducer", "");
    expect(&output, 1, "0000 normalization/float-normalization-s4  INVALID       E0205", "");
    expect(
        &output,
        1,
        "0001 simplification/cse                    not run       still invalid",
        "",
    );
    // The last state is valid again, and compared with the first.
    expect(&output, 1, "(1 unchanged, 1 not run, 1 INVALID)", "");
}

#[test]
fn a_loop_without_end_differs() {
    let output = passes("endless", "--fuel 10000");
    expect(&output, 1, "it has no result any more: error[E0404]: out of fuel", "");
}

#[test]
fn right_passes_give_no_alarm() {
    let output = passes("no_alarm", "--seeds 4");
    let counts = "no step of 3 changes the meaning: 1 unchanged,";
    expect(&output, 0, counts, "");
    expect(&output, 0, "softmax: 4 files, 3 states, 4 sets of arguments", "");
}

#[test]
fn the_modules_around_a_wrong_step_are_saved() {
    let folder = Folder::new("passes-output");
    let target = folder.0.join("out").display().to_string();
    let output = passes("nested_slices", &format!("--seeds 3 -o {target} --junit {target}.xml"));
    expect(&output, 1, "", "saved in");
    let saved = Path::new(&target).join("slices.0000.simplification_algsimp");
    let read = |name: &str| std::fs::read_to_string(saved.join(name)).unwrap();
    assert!(read("before.hlo").contains("dynamic-slice") && read("after.hlo").contains("add"));
    // The command shows the difference.
    let line = read("command");
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
    let output = command.current_dir(&saved).args(words).output().unwrap();
    expect(&output, 1, "the modules differ\n", "");
    let junit = std::fs::read_to_string(format!("{target}.xml")).unwrap();
    assert!(junit.contains("<failure") && junit.contains("simplification/algsimp"), "{junit}");
}

#[test]
fn json_has_a_line_for_each_module() {
    let output = passes("high_half", "--json");
    expect(&output, 1, r#""pass":"normalization/float-normalization-u4","class":"differs""#, "");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
}

/// Two states of a module as texts.
fn states() -> [String; 2] {
    let before = "HloModule m\n\nENTRY e {\n  x = s32[3] parameter(0)\n  y = s32[3] add(x, x)\n  ROOT r = s32[3] negate(y)\n}\n";
    [before.to_owned(), before.replace("negate(y)", "negate(x)")]
}

#[test]
fn dumps_are_read_in_every_form() {
    let [before, after] = states();
    let folder = Folder::new("passes-forms");
    // Messages, compressed or not, with what XLA writes beside them.
    std::fs::create_dir(folder.0.join("pb")).unwrap();
    folder.write("a.hlo", &before);
    folder.write("b.hlo", &after);
    folder.etalon("convert a.hlo pb/module_0021.m.before_optimizations.hlo.pb");
    folder.etalon("convert b.hlo pb/module_0023.m.0000.p.after_q.before_z.hlo.pb");
    folder.write("pb/module_0023.m.after_optimizations.memory.pb", "no module");
    let output = folder.etalon("passes pb");
    expect(&output, 1, "1 of 1 steps changes the meaning: 0000 p/q", "");
    // What XLA writes to standard output.
    let part = |name: &str, text: &str| format!("*** Begin {name} ***\n{text}*** End {name} ***\n");
    let first = part("module_0000.m.before_optimizations.txt", &before);
    let second = part("module_0000.m.0000.p.after_q.before_z.txt", &after);
    folder.write("log.txt", &format!("a line of a log\n{first}{second}"));
    expect(&folder.etalon("passes log.txt"), 1, "0000 p/q", "");
    // Modules one after the other, and any folder of modules.
    folder.write("both.hlo", &format!("{before}\n{after}"));
    expect(
        &folder.etalon("passes both.hlo"),
        1,
        "1 of 1 steps changes the meaning: 1 module 2",
        "",
    );
    std::fs::create_dir(folder.0.join("own")).unwrap();
    folder.write("own/1_fold.hlo", &before);
    folder.write("own/2_merge.hlo", &after);
    expect(&folder.etalon("passes own"), 1, "1 of 1 steps changes the meaning: 2 merge", "");
}

#[test]
fn programs_of_mlir_are_states() {
    let folder = Folder::new("passes-mlir");
    let program = |op: &str| {
        format!(
            "module {{\n  func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {{\n    %0 = stablehlo.{op} %x, %x : tensor<3xi32>\n    return %0 : tensor<3xi32>\n  }}\n}}\n"
        )
    };
    let after = |pass: &str, op: &str| {
        format!("// -----// IR Dump After Some Pass ({pass}) //----- //\n{}\n", program(op))
    };
    let text = [after("first", "add"), after("second", "add"), after("third", "multiply")].concat();
    folder.write("all.mlir", &text);
    let output = folder.etalon("passes all.mlir");
    expect(&output, 1, "1 of 2 steps changes the meaning: 2 third (1 unchanged, 1 DIFFERS)", "");
    // The states before HLO, and the program of the frontend.
    for name in ["d", "d/shardy", "d/module_0000.f", "d/shardy/module_0000.f"] {
        std::fs::create_dir(folder.0.join(name)).unwrap();
    }
    folder.write("d/module_0000.f/module.mlir", &program("add"));
    folder.write("d/shardy/module_0000.f/00.input_module.mlir", &program("add"));
    folder.write("d/shardy/module_0000.f/01.propagated.mlir", &program("multiply"));
    let hlo = "HloModule f\nENTRY e { x = s32[3] parameter(0) ROOT r = s32[3] multiply(x, x) }\n";
    folder.write("d/module_0000.f.before_optimizations.txt", hlo);
    let output = folder.etalon("passes d");
    expect(&output, 1, "1 of 3 steps changes the meaning: 1 shardy/propagated", "");
}

#[test]
fn elided_constants_have_values_by_name() {
    let folder = Folder::new("passes-elided");
    let text = |first: &str, second: &str| {
        format!(
            "HloModule m\nENTRY e {{\n  {first} = f32[99] constant({{...}})\n  {second} = f32[99] constant({{...}})\n  ROOT r = f32[99] subtract(a, b)\n}}\n"
        )
    };
    std::fs::create_dir(folder.0.join("d")).unwrap();
    folder.write("d/1_before.hlo", &text("a", "b"));
    folder.write("d/2_swapped.hlo", &text("b", "a").replace("subtract", " subtract"));
    expect(&folder.etalon("passes d"), 0, "note: the texts elide large constants", "");
    folder.write("d/3_other.hlo", &text("a", "c").replace("(a, b)", "(a, c)"));
    expect(&folder.etalon("passes d"), 3, "dump with --xla_dump_large_constants", "");
}

#[test]
fn what_is_not_a_dump_is_refused() {
    let folder = Folder::new("passes-none");
    expect(&folder.etalon("passes nowhere"), 2, "", "E0601");
    std::fs::create_dir(folder.0.join("empty")).unwrap();
    expect(&folder.etalon("passes empty"), 2, "", "help: XLA writes a dump with XLA_FLAGS");
    folder.write("empty/module_0000.m.before_optimizations.txt", "HloModule m\nENTRY e {\n");
    expect(&folder.etalon("passes empty"), 1, "before_optimizations  INVALID       E01", "");
    expect(&folder.etalon("passes empty --module other"), 2, "", "help: its modules are m");
    folder.write("m.hlo", "HloModule m\nENTRY e { ROOT c = s32[] constant(1) }\n");
    let output = folder.etalon("passes m.hlo --backend exact");
    expect(&output, 2, "", "error[E0601]: exact: it wrote no dump");
}
