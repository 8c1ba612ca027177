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
fn integers_are_drawn_until_a_run_shows_the_difference() {
    // The first draws divide by zero, or square small numbers.
    for dump in ["integer_quotient", "integer_square"] {
        let output = passes(dump, "");
        expect(
            &output,
            1,
            "1 of 1 steps changes the meaning: 0000 simplification/algsimp (1 DIFFERS)",
            "",
        );
        expect(&output, 1, " of the field", "");
    }
}

#[test]
fn a_program_with_manual_regions_is_compared_with_its_partitioned_states() {
    // Its header states the partitions that it will have.
    let output = passes("manual_region", "");
    expect(&output, 1, "0000 spmd-partitioner/spmd-partitioning    same bits     proved", "");
    expect(&output, 1, "changes the meaning: 0001 simplification/all-reduce-simplifier (", "");
    expect(&output, 1, "found f32[] 0.447771609, expected f32[] 0.16940853", "");
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
    expect(&output, 1, "0001 normalization/float-normalization-u4 (1 DIFFERS)", "");
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

/// XLA prints the last state while it flushes denormals.
#[test]
fn denormal_constants_that_a_text_shows_as_zeros_give_no_alarm() {
    let output = passes("shown_denormals", "");
    expect(&output, 0, "no step of 1 changes the meaning: 1 unchanged", "");
    expect(&output, 0, "after_optimizations.txt shows denormal constants as 0", "");
}

#[test]
fn right_passes_give_no_alarm() {
    let output = passes("no_alarm", "--seeds 4");
    let counts = "no step of 3 changes the meaning: 1 unchanged,";
    expect(&output, 0, counts, "");
    expect(&output, 0, "softmax: 4 files, 3 states, 4 sets of arguments", "");
}

/// A schedule may start a `send` before the `recv` of its receiver.
#[test]
fn a_schedule_of_transfers_is_no_alarm() {
    let output = passes("scheduled_transfer", "");
    expect(&output, 0, "no step of 1 changes the meaning: 1 same bits", "");
}

#[test]
fn a_right_step_is_proved_for_every_argument() {
    let output = passes("no_alarm", "--seeds 3");
    expect(&output, 0, "2 proved for every float argument", "");
    expect(&output, 0, "within bound  proved  error ", "");
    let output = passes("no_alarm", "--draws 0");
    expect(&output, 0, "no step of 3 changes the meaning", "");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("proved"));
}

/// The arguments of the first set do not show it, and those of a draw do.
#[test]
fn a_draw_shows_a_wrong_step() {
    expect(&passes("nested_slices", "--draws 0"), 0, "no step of 2 changes the meaning", "");
    let folder = Folder::new("passes-draw");
    let target = folder.0.join("out").display().to_string();
    let output = passes("nested_slices", &format!("-o {target}"));
    expect(&output, 1, "DIFFERS       out0[0]: found s32[]", "saved in");
    expect(&output, 1, "; with draw 1 of the field", "");
    let saved = Path::new(&target).join("slices.0000.simplification_algsimp");
    let command = std::fs::read_to_string(saved.join("command")).unwrap();
    let mut shown = Command::new(env!("CARGO_BIN_EXE_etalon"));
    shown.current_dir(&saved).args(command.split_whitespace().skip(1));
    expect(&shown.output().unwrap(), 1, "differs", "");
}

/// Sums that cancel, in two orders: no bound explains the difference, and exact arithmetic does. A
/// step that rounds to fewer digits is no algebra.
#[test]
fn rounding_beyond_the_bound_is_algebra() {
    let folder = Folder::new("passes-algebra");
    let head =
        "HloModule m\nENTRY e { x = f32[8] parameter(0) s = f32[8] sine(x) c = f32[8] cosine(x)";
    let before = format!(
        "{head} d = f32[8] subtract(s, c) q = f32[8] add(s, c) ROOT r = f32[8] multiply(d, q) }}"
    );
    let after = format!(
        "{head} a = f32[8] multiply(s, s) b = f32[8] multiply(c, c) ROOT r = f32[8] subtract(a, b) }}"
    );
    let narrow = format!(
        "{head} h = bf16[8] convert(s) s2 = f32[8] convert(h) d = f32[8] subtract(s2, c) q = f32[8] add(s2, c) ROOT r = f32[8] multiply(d, q) }}"
    );
    for (number, after, exit, shown) in
        [(1, &after, 0, "1 proved for every float argument"), (2, &narrow, 1, "DIFFERS")]
    {
        let dump = folder.0.join(format!("dump{number}"));
        std::fs::create_dir(&dump).unwrap();
        std::fs::write(dump.join("step1.hlo"), &before).unwrap();
        std::fs::write(dump.join("step2.hlo"), after).unwrap();
        expect(&passes(&dump.display().to_string(), "--seeds 3"), exit, shown, "");
    }
}

#[test]
fn a_page_shows_what_each_step_changes() {
    let folder = Folder::new("passes-page");
    let page = folder.0.join("passes.html").display().to_string();
    expect(&passes("crop_and_pad", &format!("--html {page}")), 1, "DIFFERS", "");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("-  cropped = s32[1,3]{1,0} pad(x, zero), padding=0_0x-1_0"));
    assert!(page.contains("+  ROOT r = s32[1,3]{1,0} reduce-window(x, zero)"));
    assert!(page.contains("\"class\":\"differs\"") && !page.contains("/*REPORTS*/"));
    for other in ["http://", "https://", "src="] {
        assert!(!page.contains(other), "{other}");
    }
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

/// Writes states of a module as XLA names them: the first, and those after passes.
fn written(folder: &Folder, dump: &str, states: &[(&str, &str)]) {
    std::fs::create_dir_all(folder.0.join(dump)).unwrap();
    for (name, text) in states {
        folder
            .write(&format!("{dump}/module_0000.m.{name}.txt"), &format!("HloModule m\n{text}\n"));
    }
}

const SINE: &str = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] sine(x) }";
const COSINE: &str = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] cosine(x) }";

#[test]
fn two_dumps_in_a_folder_are_refused() {
    let folder = Folder::new("passes-two");
    let first = ("before_optimizations", SINE);
    written(
        &folder,
        "d",
        &[first, ("0000.p.after_a.before_b", SINE), ("0000.p.after_b.before_c", SINE)],
    );
    expect(&folder.etalon("passes d"), 2, "", "it has two dumps: d/module_0000.m.0000.p.after_a");
    std::fs::create_dir(folder.0.join("t")).unwrap();
    for time in [1000, 2000] {
        let text = format!("HloModule m\n{SINE}");
        folder.write(&format!("t/{time}.module_0000.m.before_optimizations.txt"), &text);
    }
    expect(&folder.etalon("passes t"), 2, "", "it has two dumps");
    // The same state in two formats is one.
    written(&folder, "f", &[first, ("0000.p.after_a.before_b", COSINE)]);
    folder.etalon("convert f/module_0000.m.before_optimizations.txt f/module_0000.m.before_optimizations.hlo.pb");
    expect(&folder.etalon("passes f"), 1, "m: 2 files, 2 states", "");
    // A program of MLIR and a module of one name are two.
    std::fs::create_dir(folder.0.join("s")).unwrap();
    folder.write("s/model.hlo", &format!("HloModule m\n{COSINE}"));
    let program = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.sine %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}";
    folder.write("s/model.mlir", program);
    expect(&folder.etalon("passes s"), 1, "2 files, 2 states", "");
}

#[test]
fn a_state_that_does_not_run_is_left_out_of_the_chain() {
    let folder = Folder::new("passes-chain");
    let unknown = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] custom-call(x), custom_call_target=\"magic\" }";
    let newer = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] sine(x), shiny=3 }";
    let states = [
        ("before_optimizations", SINE),
        ("0000.p.after_magic.before_x", unknown),
        ("0001.p.after_newer.before_x", newer),
        ("0002.p.after_wrong.before_x", COSINE),
    ];
    written(&folder, "d", &states);
    let output = folder.etalon("passes d");
    expect(&output, 1, "1 of 3 steps changes the meaning: 0002 p/wrong (2 not run, 1 DIFFERS)", "");
    expect(&output, 1, "0001 p/newer  not run       E0104", "");
    // Other parameters begin anew, on other arguments.
    let two = "ENTRY e { x = f32[4] parameter(0) y = f32[] parameter(1) ROOT r = f32[4] sine(x) }";
    let [sine, cosine] = [SINE, COSINE]
        .map(|text| text.replace("x = f32[4] parameter(0)", "z = f32[4] parameter(0)"));
    let renamed = [
        ("before_optimizations", two),
        ("0000.p.after_dead.before_x", &sine.replace("sine(x)", "sine(z)")),
        ("0001.p.after_wrong.before_x", &cosine.replace("cosine(x)", "cosine(z)")),
    ];
    written(&folder, "p", &renamed);
    expect(&folder.etalon("passes p"), 1, "0001 p/wrong (1 same bits, 1 DIFFERS)", "");
    let other = "ENTRY e { q = f32[2] parameter(0) ROOT r = f32[2] sine(q) }";
    let states = [
        ("before_optimizations", two),
        ("0000.p.after_cut.before_x", other),
        ("0001.p.after_wrong.before_x", &other.replace("sine", "cosine")),
    ];
    written(&folder, "q", &states);
    expect(&folder.etalon("passes q"), 1, "0001 p/wrong (1 not run, 1 DIFFERS)", "");
    // Nor are other devices a wrong result.
    let states = [("before_optimizations", SINE), ("0000.p.after_more.before_x", SINE)];
    written(&folder, "r", &states);
    let replicas = |count: u32, name: &str| {
        let text = format!("HloModule m, replica_count={count}\n{SINE}");
        folder.write(&format!("r/module_0000.m.{name}.txt"), &text);
    };
    replicas(2, "before_optimizations");
    replicas(3, "0000.p.after_more.before_x");
    expect(&folder.etalon("passes r"), 3, "it runs on 3 devices, not on 2", "");
}

#[test]
fn a_pass_may_take_more_steps() {
    let folder = Folder::new("passes-fuel");
    let counted = "c { i = s32[] parameter(0) n = s32[] constant(50) ROOT l = pred[] compare(i, n), direction=LT }
        b { i = s32[] parameter(0) one = s32[] constant(1) ROOT s = s32[] add(i, one) }
        ENTRY e { z = s32[] parameter(0) ROOT w = s32[] while(z), condition=c, body=b }";
    let once =
        "ENTRY e { z = s32[] parameter(0) n = s32[] constant(50) ROOT m = s32[] maximum(z, n) }";
    let states = [("before_optimizations", once), ("0000.p.after_expand.before_x", counted)];
    written(&folder, "d", &states);
    expect(&folder.etalon("passes d --range 0:9"), 0, "1 same bits", "");
    expect(&folder.etalon("passes d --range 0:9 --fuel 20"), 3, "not run       error[E0404]", "");
    // The command of a loop without end ends.
    let target = folder.0.join("out").display().to_string();
    expect(&passes("endless", &format!("--fuel 10000 -o {target}")), 1, "E0404", "saved in");
    let command =
        std::fs::read_dir(&target).unwrap().next().unwrap().unwrap().path().join("command");
    assert!(std::fs::read_to_string(command).unwrap().ends_with("--fuel 10000\n"));
}

#[test]
fn what_runs_before_a_pipeline_is_named() {
    let folder = Folder::new("passes-pipeline");
    let states = [
        ("before_optimizations", SINE),
        ("0000.spmd.after_shardy.before_partitioning", SINE),
        ("0001.cleanup.after_pipeline-start.before_dce", COSINE),
    ];
    written(&folder, "d", &states);
    let output = folder.etalon("passes d");
    expect(&output, 1, "1 of 2 steps changes the meaning: 0001 spmd/partitioning (", "");
    expect(&output, 1, "shown by the start of the pipeline cleanup", "");
}

#[test]
fn what_is_written_to_the_outside_is_compared() {
    let folder = Folder::new("passes-outfeed");
    let fed = |what: &str| {
        format!(
            "ENTRY e {{ x = f32[4] parameter(0) n = f32[4] negate(x) t = token[] after-all()
            o = token[] outfeed({what}, t), outfeed_shape=f32[4] ROOT r = f32[4] sine(x) }}"
        )
    };
    for (dump, after, code) in
        [("same", fed("x"), 0), ("other", fed("n"), 1), ("none", SINE.to_owned(), 1)]
    {
        let states = [("before_optimizations", fed("x")), ("0000.p.after_dce.before_x", after)];
        let states = states.each_ref().map(|(name, text)| (*name, text.as_str()));
        written(&folder, dump, &states);
        expect(&folder.etalon(&format!("passes {dump}")), code, "", "");
    }
}

#[test]
fn both_ways_of_a_boolean_are_taken() {
    let folder = Folder::new("passes-pred");
    let text = |other: &str| {
        format!("ENTRY e {{ p = pred[] parameter(0) x = f32[4] parameter(1) a = f32[4] sine(x) b = f32[4] {other}(x)
            ROOT r = f32[4] select(p, a, b) }}")
    };
    let reversed = |text: &str| text.replace("select(p, a, b)", "select(p, b, a)");
    let (before, after) = (text("cosine"), text("tanh"));
    for (dump, before, after) in
        [("one", before.clone(), after.clone()), ("two", reversed(&before), reversed(&after))]
    {
        let states = [
            ("before_optimizations", before.as_str()),
            ("0000.p.after_a.before_x", after.as_str()),
        ];
        written(&folder, dump, &states);
        expect(&folder.etalon(&format!("passes {dump}")), 1, "2 sets of arguments", "");
    }
}

#[test]
fn only_regular_files_are_states_in_natural_order() {
    let folder = Folder::new("passes-order");
    std::fs::create_dir(folder.0.join("d")).unwrap();
    for (name, text) in [("step1", SINE), ("step2", SINE), ("step10", COSINE)] {
        folder.write(&format!("d/{name}.hlo"), &format!("HloModule m\n{text}"));
    }
    let fifo = Command::new("mkfifo").arg(folder.0.join("d/step3.hlo")).status();
    assert!(fifo.unwrap().success());
    expect(
        &folder.etalon("passes d"),
        1,
        "1 of 2 steps changes the meaning: step10 (1 unchanged, ",
        "",
    );
    // What is not asked for has no step, and no exit code.
    expect(&folder.etalon("passes d --pass step2"), 0, "no step of 1 changes the meaning", "");
    expect(&folder.etalon("passes d/step1.hlo"), 0, "no two states to compare", "");
    expect(&folder.etalon("passes d --jobs 3"), 2, "", "--jobs: the option is one of a backend");
}

#[test]
fn reports_do_not_replace_dumps() {
    let folder = Folder::new("passes-reports");
    for dump in ["a", "b"] {
        written(
            &folder,
            dump,
            &[("before_optimizations", SINE), ("0000.p.after_q.before_x", COSINE)],
        );
    }
    let file = "a/module_0000.m.before_optimizations.txt";
    expect(
        &folder.etalon(&format!("passes a --junit {file}")),
        2,
        "",
        "it is an input of the command",
    );
    expect(&folder.etalon("passes a -o a/wrong"), 2, "", "the output is in the dump");
    assert!(!folder.0.join("a/wrong").exists());
    expect(&folder.etalon(&format!("passes a -o {file}")), 2, "", "");
    // Modules of one name have folders of their own.
    expect(&folder.etalon("passes a b -o out"), 1, "", "saved in");
    assert_eq!(std::fs::read_dir(folder.0.join("out")).unwrap().count(), 2);
}

#[test]
fn two_compilers_are_compared_where_they_part() {
    let folder = Folder::new("passes-versions");
    let twice = "ENTRY e { x = f32[4] parameter(0) n = f32[4] negate(x) m = f32[4] negate(n) ROOT r = f32[4] sine(m) }";
    let of = |last: &'static str| {
        [
            ("before_optimizations", twice),
            ("0000.p.after_dce.before_x", twice),
            ("0001.p.after_algsimp.before_y", last),
            ("cpu_after_optimizations", last),
        ]
    };
    written(&folder, "old", &of(SINE));
    written(&folder, "new", &of(COSINE));
    let output = folder.etalon("passes old new");
    expect(&output, 1, "m: new against old, arguments: --random 1\n  last states: DIFFERS ", "");
    expect(&output, 1, "  the same at p/dce, they part at 0001 p/algsimp\n", "");
    let blamed = "new changes the meaning: 0001 p/algsimp; no step of old does\n";
    expect(&output, 1, blamed, "");
    expect(&folder.etalon("passes new old"), 1, "new changes the meaning: 0001 p/algsimp", "");
    expect(&folder.etalon("passes old old"), 0, "last states: same bits", "");
    expect(&folder.etalon("passes new new"), 1, "last states: same bits", "");
    expect(&folder.etalon("passes old new --junit p.xml --html p.html"), 1, blamed, "");
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    let junit = read("p.xml");
    let suite = junit.split("<testsuite name=\"m: new against old\"").nth(1).unwrap();
    assert!(suite.contains("<failure") && suite.contains("they part at 0001 p/algsimp"), "{junit}");
    let page = read("p.html");
    let (_, pairs) = page.split_once("\"comparisons\":[{\"text\":\"m: new against old").unwrap();
    assert!(pairs.contains("\"change\":\"@@ "), "{pairs}");
    let json = folder.etalon("passes old new --json");
    expect(&json, 1, "\"parted\":{\"number\":\"0001\",\"pass\":\"p/algsimp\"", "");
    expect(&json, 1, "\"wrong\":[[],[\"0001 p/algsimp\"]]", "");
    assert_eq!(String::from_utf8(json.stdout).unwrap().lines().count(), 3);
    // Both are wrong, in other passes, of which none has the same name.
    let tanh = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] tanh(x) }";
    written(&folder, "other", &[of("")[0], ("0000.q.after_z.before_y", tanh)]);
    let output = folder.etalon("passes new other");
    expect(&output, 1, "the same at before_optimizations; no pass after it has the same name", "");
    expect(&output, 1, "both change the meaning: new in 0001 p/algsimp; other in 0000 q/z", "");
    // What is not asked for is not compared.
    let output = folder.etalon("passes old new --pass dce");
    expect(&output, 0, "no step of 1 changes the meaning", "");
    assert!(!String::from_utf8(output.stdout).unwrap().contains("against"));
}

#[test]
fn modules_of_two_dumps_are_paired_by_name_and_signature() {
    let folder = Folder::new("passes-pairs");
    let text = |name: &str, size: u32, op: &str| {
        format!(
            "HloModule {name}\nENTRY e {{ x = f32[{size}] parameter(0) ROOT r = f32[{size}] {op}(x) }}\n"
        )
    };
    for (dump, shift) in [("old", 0), ("new", 7)] {
        std::fs::create_dir(folder.0.join(dump)).unwrap();
        let write = |number: u32, name: &str, size, op: &str| {
            let file =
                format!("{dump}/module_{:04}.{name}.before_optimizations.txt", number + shift);
            folder.write(&file, &text(name, size, op));
        };
        write(0, "step", 4, "sine");
        write(2, "step", 5, "cosine");
        write(4, dump, 4, "sine");
        write(6, "grown", if dump == "old" { 2 } else { 3 }, "sine");
    }
    let output = folder.etalon("passes old new");
    let errors = "only in old: old, grown\nonly in new: new, grown\n";
    expect(&output, 0, "module_0000.step: new against old", errors);
    expect(&output, 0, "module_0002.step: new against old", errors);
    // Programs of one name that are others before any pass.
    for (dump, first) in [("a", SINE), ("b", COSINE)] {
        written(
            &folder,
            dump,
            &[("before_optimizations", first), ("0000.p.after_q.before_x", first)],
        );
    }
    let output = folder.etalon("passes a b");
    expect(&output, 3, "not compared: the first states have other results already", "");
    // A dump of one module, whose name is that of its file.
    let states = |second: &str| format!("HloModule m\n{SINE}\nHloModule m\n{second}\n");
    folder.write("one.txt", &states(SINE));
    folder.write("two.txt", &states(COSINE));
    expect(&folder.etalon("passes one.txt two.txt"), 1, "one: two.txt against one.txt", "");
    // States that cannot be compared.
    let unknown = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] custom-call(x), custom_call_target=\"magic\" }";
    written(&folder, "c", &[("before_optimizations", unknown)]);
    expect(&folder.etalon("passes a c"), 3, "last states: not run", "");
    folder.write("b/module_0000.m.before_optimizations.txt", "HloModule m\nENTRY e {\n");
    folder.write("b/module_0000.m.0000.p.after_q.before_x.txt", "HloModule m\nENTRY e {\n");
    expect(&folder.etalon("passes a b"), 1, "last states: not run", "");
}

/// Returns the plugin of XLA that is tested, if there is one.
fn plugin() -> Option<String> {
    let named = std::env::var("ETALON_PJRT_PLUGIN").ok();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/plugins");
    let found = || {
        let files = std::fs::read_dir(folder).ok()?.filter_map(|file| Some(file.ok()?.path()));
        files.filter(|path| path.extension().is_some_and(|e| e == "so")).min()
    };
    named.or_else(|| Some(found()?.canonicalize().ok()?.display().to_string()))
}

#[test]
fn a_wrong_pass_is_confirmed_by_disabling_it() {
    expect(&passes("negative_zero", "--confirm"), 2, "", "--confirm: the option is one of a back");
    // The rest needs XLA.
    let Some(plugin) = plugin() else { return };
    let run = |dump: &str, module: &str| {
        let file = format!("{dump}/module_0000.{module}.before_optimizations.txt");
        let options = format!("--backend {plugin} --confirm --seeds 3");
        let output = passes(&file, &options);
        String::from_utf8(output.stdout).unwrap()
    };
    // Versions of XLA without the fault have nothing to confirm.
    let is_fixed = |text: &str| text.contains("nothing to confirm: no pass changes the meaning");
    let text = run("negative_zero", "zero");
    let confirmed = "\nconfirmed: ";
    assert!(is_fixed(&text) || text.contains(confirmed), "{text}");
    assert!(is_fixed(&text) || text.contains("right without algsimp, and wrong with it"), "{text}");
    let text = run("dynamic_rows", "rows");
    // The compiler needs it.
    assert!(is_fixed(&text) || text.contains("not confirmed: without dynamic_padder"), "{text}");
    let json = passes(
        "negative_zero/module_0000.zero.before_optimizations.txt",
        &format!("--backend {plugin} --confirm --json"),
    );
    let json = String::from_utf8(json.stdout).unwrap();
    assert!(json.lines().last().unwrap().contains("\"confirmed\":"), "{json}");
}
