//! Commands on several files, and on files of other formats.
use crate::support::{Folder, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Read as _, Write as _};

const SEVEN: &str = "HloModule m\nENTRY e { ROOT c = s32[2] constant({7, 8}) }\n";
const EIGHT: &str = "HloModule n\nENTRY e { ROOT c = s32[] constant(8) }\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("several-{name}"));
    std::fs::create_dir_all(folder.0.join("in")).unwrap();
    folder.write("in/a.hlo", SEVEN);
    folder.write("in/b.txt", EIGHT);
    folder.write("in/notes.txt", "no module");
    folder
}

#[test]
fn results_have_the_names_of_their_files() {
    let folder = folder("results");
    let both = "in/a.hlo:\ns32[2] {7, 8}\nin/b.txt:\ns32[] 8\n";
    expect(&folder.etalon("run in"), 0, both, "");
    expect(&folder.etalon("run in/*.hlo in/b.txt"), 0, both, "");
    expect(&folder.etalon("run in/*.hlo"), 0, "s32[2] {7, 8}\n", "");
    // An error does not stop the next file.
    expect(&folder.etalon("run none.hlo in"), 2, both, "error[E0601]: none.hlo: ");
    folder.write("wrong.hlo", "HloModule m {");
    expect(&folder.etalon("run none.hlo wrong.hlo in"), 1, both, "wrong.hlo:1:");
    expect(&folder.etalon("check in"), 0, "in/a.hlo: ok\nin/b.txt: ok\n", "");
    expect(&folder.etalon("run x*.hlo"), 2, "", "no file matches the pattern");
    expect(
        &folder.etalon("run in --output out.npz"),
        2,
        "",
        "error[E0603]: --output: requires a single module\n",
    );
    let printed = folder.etalon("print in");
    expect(&printed, 0, "// in/a.hlo\nHloModule m", "");
    folder.write("both.hlo", &String::from_utf8(printed.stdout).unwrap());
    expect(&folder.etalon("run both.hlo --module 2"), 0, "s32[] 8\n", "");
    expect(&folder.etalon("run both.hlo"), 2, "", "1 is `m`, 2 is `n`; `etalon test both.hlo`");
    let none = "both.hlo has 2 modules, none of number 3\n";
    expect(&folder.etalon("run both.hlo --module 3"), 2, "", none);
    // XLA writes the kernels of a module into the same folder.
    std::fs::create_dir(folder.0.join("dump")).unwrap();
    folder.write("dump/m.before_optimizations.txt", SEVEN);
    folder.write(
        "dump/m.kernel-post-lowering.mlir",
        "module {\n  llvm.func @xla.tanh.f32(f32) -> f32\n}\n",
    );
    let ok = "dump/m.before_optimizations.txt: ok\n";
    let check = folder.etalon("check dump");
    assert_eq!(
        (check.status.code(), String::from_utf8(check.stdout).unwrap().as_str()),
        (Some(0), ok)
    );
    std::fs::create_dir(folder.0.join("empty")).unwrap();
    expect(&folder.etalon("check empty"), 2, "", "help: modules are files with names in .hlo, ");
}

#[test]
fn measurements_name_files_and_random_arguments() {
    let folder = folder("bench");
    folder.write(
        "neg.hlo",
        "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] negate(x) }\n",
    );
    expect(
        &folder.etalon("bench neg.hlo --iterations 1"),
        0,
        "arguments        random, of seed 0\n",
        "",
    );
    expect(&folder.etalon("bench in --iterations 1"), 0, "in/b.txt:\nload ", "");
    let json = |rest: &str| -> Vec<serde_json::Value> {
        let output = folder.etalon(&format!("bench --json --iterations 1 {rest}"));
        expect(&output, 0, "", "");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = json("neg.hlo in --random 3");
    assert_eq!(all.len(), 3);
    assert_eq!((&all[0]["random_seed"], &all[0]["file"]), (&3.into(), &"neg.hlo".into()));
    let phases = folder.etalon("run neg.hlo --input 2.5 --verbose");
    expect(&phases, 0, "f32[] -2.5\n", "neg.hlo: read 2 instructions, 1 computation in ");
    let phases = String::from_utf8(phases.stderr).unwrap();
    for phase in
        ["neg.hlo: verified in ", "neg.hlo: compiled for `exact`, devices: 1, ", "neg.hlo: ran in "]
    {
        assert!(phases.contains(phase), "{phases}");
    }
    expect(&folder.etalon("run neg.hlo -q -v"), 2, "", "cannot be used with");
    let one = &json("neg.hlo --input 2.5")[0];
    assert!(one.get("random_seed").is_none() && one.get("file").is_none(), "{one}");
}

#[test]
fn profiles_are_json() {
    let folder = folder("profile");
    folder.write(
        "neg.hlo",
        "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] negate(x) }\n",
    );
    let output = folder.etalon("run neg.hlo --random 1 --profile --json");
    expect(&output, 0, "", "");
    let profile: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &profile["instructions"][0];
    assert_eq!(
        (&row["instruction"], &row["opcode"], &row["count"]),
        (&"r".into(), &"negate".into(), &1.into())
    );
}

#[test]
fn errors_are_json() {
    let folder = folder("json");
    let text = "HloModule m\nENTRY e { x = f32[2] parameter(0)\n  é = f32[2] add(x, x) ROOT r = f32[3] add(é, x) }\n";
    folder.write("wrong.hlo", text);
    let output = folder.etalon("check --json in/a.hlo wrong.hlo none.hlo");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Both places of the character, and the file that is not there.
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[2]["code"]["code"], "E0601");
    assert_eq!(output.stderr, b"");
}

#[test]
fn what_is_compressed_is_read() {
    let folder = folder("gzip");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(SEVEN.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    std::fs::write(folder.0.join("a.hlo.gz"), &bytes).unwrap();
    expect(&folder.etalon("run a.hlo.gz"), 0, "s32[2] {7, 8}\n", "");
    // Blanks shrink to a thousandth.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::copy(&mut std::io::repeat(b'\n').take((1 << 26) + 1), &mut encoder).unwrap();
    std::fs::write(folder.0.join("bomb.gz"), encoder.finish().unwrap()).unwrap();
    let bomb = folder.etalon("check bomb.gz");
    expect(&bomb, 2, "", "error[E0601]: bomb.gz: ");
    expect(&bomb, 2, "", "unpacks to more than 67108864, the most of a compressed module");
    expect(&bomb, 2, "", "gzip -d bomb.gz");
    std::fs::write(folder.0.join("cut.gz"), &bytes[..bytes.len() - 9]).unwrap();
    expect(&folder.etalon("run cut.gz"), 2, "", "cut.gz: is compressed by gzip, and damaged: ");
}

#[test]
fn other_formats_are_recognized() {
    let folder = folder("formats");
    let utf16: Vec<u8> = SEVEN.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, message, help) in [
        (&b"\x7fELF\x02"[..], "is an ELF file", "--xla_dump_hlo_as_text"),
        (&utf16, "is text in UTF-16", "iconv -f UTF-16LE -t UTF-8 m.hlo > OUT.hlo"),
        (b"PK\x03\x04", "is a ZIP archive", "--input"),
    ] {
        std::fs::write(folder.0.join("m.hlo"), bytes).unwrap();
        expect(&folder.etalon("check m.hlo"), 2, "", message);
        expect(&folder.etalon("check m.hlo"), 2, "", help);
    }
    folder.write("README.md", "# Title\n\nx = y\n");
    let start =
        "help: start a module with `HloModule name`, an instruction with its name or shape\n";
    expect(&folder.etalon("check README.md"), 1, "", start);
    folder.write("f.py", "def f(x): return x\n");
    expect(&folder.etalon("check f.py"), 1, "", start);
    folder.write("typo.hlo", "tahn(f32[2] x)\n");
    expect(&folder.etalon("check typo.hlo"), 1, "", "help: did you mean `tanh`?\n");
    // A byte order mark is no part of the text, nor of its first line.
    folder.write("mark.hlo", &format!("\u{feff}{SEVEN}"));
    expect(&folder.etalon("check mark.hlo"), 0, "mark.hlo: ok\n", "");
    folder.write("mark.hlo", "\u{feff}ENTRY e { ROOT r = f32[] constat(1) }");
    expect(&folder.etalon("check mark.hlo"), 1, "", "mark.hlo:1:26\n");
    expect(&folder.etalon("check --json mark.hlo"), 1, "\"column_start\":26", "");
    folder.write("mark.mlir", "\u{feff}func.func @main() { retur }");
    expect(&folder.etalon("check mark.mlir"), 1, "", "mark.mlir:1:21\n");
    std::fs::write(folder.0.join("add.mlirbc"), BYTECODE).unwrap();
    let check = folder.etalon("check add.mlirbc");
    expect(&check, 3, "", "add.mlirbc: bytecode with the op `stablehlo.add` is not supported");
    expect(&check, 3, "", "help: write the program as text, or as a portable artifact");
}

/// An addition as MLIR writes it, in the encoding of `stablehlo`, not as a portable artifact.
const BYTECODE: &[u8] = include_bytes!("data/add.mlirbc");

const LOOP: &str = "HloModule m
b { p = s32[] parameter(0) one = s32[] constant(1) ROOT next = s32[] add(p, one) }
c { p = s32[] parameter(0) n = s32[] constant(2) ROOT t = pred[] compare(p, n), direction=LT }
ENTRY e { x = s32[] parameter(0) w = s32[] while(x), condition=c, body=b
  u = (s32[], s32[]) tuple(x, w) ROOT both = s32[] add(w, x) }
";

#[test]
fn values_are_written_through_loops() {
    let folder = folder("dump");
    folder.write("loop.hlo", LOOP);
    let run = |rest: &str| folder.etalon(&format!("run loop.hlo --input 0 {rest}"));
    expect(&run("--dump-values values"), 0, "s32[] 2\n", "values: 8 arrays\n");
    let mut names: Vec<String> = std::fs::read_dir(folder.0.join("values"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "b__next#1.npy",
        "b__next.npy",
        "c__t#1.npy",
        "c__t#2.npy",
        "c__t.npy",
        "e__both.npy",
        "e__w.npy",
        "e__x.npy",
    ];
    assert_eq!(names, expected);
    // The values of a run are those of the loop.
    let next = folder.0.join("values/b__next#1.npy").display().to_string();
    expect(&folder.etalon(&format!("run loop.hlo --input {next}")), 0, "s32[] 4\n", "");
    expect(&run("--dump-values some.npz --filter b/next"), 0, "", "some.npz: 2 arrays\n");
    expect(
        &run("--dump-values no.npz --filter lost"),
        0,
        "",
        "no.npz: 0 arrays; no executed instruction has `lost`",
    );
    assert_eq!(String::from_utf8(run("--dump-values quiet -q").stderr).unwrap(), "");
    let file = std::fs::File::open(folder.0.join("some.npz")).unwrap();
    let names = hlo::literal::npz::read(file).unwrap().into_iter().map(|array| array.name);
    assert_eq!(names.collect::<Vec<_>>(), ["b/next", "b/next#1"]);
    // What is there stays, but the file that the option names.
    for to in ["values", "loop.hlo"] {
        expect(&run(&format!("--dump-values {to}")), 2, "", "error[E06");
    }
    expect(&run("--dump-values values --force"), 0, "", "values: ");
    expect(&run("--dump-values some.npz --filter b/next"), 0, "", "some.npz: 2 arrays\n");
    expect(&run("--filter b"), 2, "", "--dump-values");
    expect(
        &folder.etalon("run loop.hlo in --dump-values d"),
        2,
        "",
        "error[E0603]: --dump-values: requires a single module\n",
    );
    let devices =
        folder.etalon("run loop.hlo --replicas 2 --random 1 --dump-values two --filter e/x");
    expect(&devices, 0, "", "two: 2 arrays\n");
    assert!(folder.0.join("two/d1_e__x.npy").exists());
}
