//! The sources of arguments, the files of results, and `etalon diff`.
use crate::support::{Folder, expect};
use std::process::{Command, Output};

const SUB: &str = "HloModule m
ENTRY e {
  x.1 = f32[2] parameter(0), metadata={op_name=\"params['x']\"}
  n = s32[] parameter(1)
  y = f32[] convert(n)
  z = f32[2] broadcast(y), dimensions={}
  difference = f32[2] subtract(x.1, z)
  ROOT t = (f32[2], s32[]) tuple(difference, n)
}
";

/// Runs the command with arguments that contain blanks.
fn etalon(folder: &Folder, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etalon"));
    command.args(arguments).current_dir(&folder.0).output().unwrap()
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("inputs-{name}"));
    folder.write("sub.hlo", SUB);
    folder
}

fn write(folder: &Folder, file: &str, arrays: &[(&str, &str)]) {
    let values: Vec<(String, hlo::Literal)> =
        arrays.iter().map(|(name, text)| ((*name).to_owned(), text.parse().unwrap())).collect();
    let to = std::fs::File::create(folder.0.join(file)).unwrap();
    if std::path::Path::new(file).extension().is_some_and(|e| e == "npy") {
        return hlo::literal::npz::write_array(to, &values[0].1).unwrap();
    }
    hlo::literal::npz::write(to, values.iter().map(|(name, value)| (name.clone(), value))).unwrap();
}

#[test]
fn arguments_have_numbers_and_names() {
    let folder = folder("names");
    let (x, n) = ("f32[2] {1, 2}", "s32[] 3");
    for (file, names) in [
        ("in", ["in0", "in1"]),
        ("arr", ["arr_0", "arr_1"]),
        ("own", ["x", "n"]),
        ("d", ["d0_x", "in1"]),
    ] {
        write(&folder, &format!("{file}.npz"), &[(names[0], x), (names[1], n)]);
        let output = etalon(&folder, &["run", "sub.hlo", "--input", &format!("{file}.npz")]);
        expect(&output, 0, "(\n  f32[2] {-2, -1},\n  s32[] 3)", "");
    }
    write(&folder, "x.npy", &[("x", x)]);
    write(&folder, "n.npy", &[("n", n)]);
    for inputs in [
        ["x.npy", "n.npy"],
        ["n=n.npy", "x.1=x.npy"],
        ["%x.1=x.npy", "1=n.npy"],
        ["d0:x=x.npy", "n=3"],
        ["params['x']=x.npy", "n=s32[] 3"],
        ["f32[2] {1, 2}", "s32[] 3"],
        ["x={1, 2}", "n=in1.npy"],
        ["x=in.npz", "n=n.npy"],
    ] {
        write(&folder, "in1.npy", &[("n", n)]);
        write(&folder, "in.npz", &[("anything", x)]);
        let output =
            etalon(&folder, &["run", "sub.hlo", "--input", inputs[0], "--input", inputs[1]]);
        expect(&output, 0, "(\n  f32[2] {-2, -1},\n  s32[] 3)", "");
    }
}

#[test]
fn wrong_arguments_are_named() {
    let folder = folder("wrong");
    write(&folder, "x.npy", &[("x", "f32[2] {1, 2}")]);
    write(&folder, "wide.npy", &[("x", "f64[2] {1, 2}")]);
    write(&folder, "u32.npy", &[("x", "u32[2] {1, 2}")]);
    write(&folder, "other.npz", &[("x", "f32[2] {1, 2}"), ("m", "s32[] 3")]);
    for (input, message) in [
        ("y=x.npy", "error[E0612]: there is no parameter `y`"),
        ("7=x.npy", "error[E0604]: there is no parameter 7; the module takes 2 arguments"),
        (
            "x=wide.npy",
            "array `wide`: it has sizes [2] of f64, that is 16 bytes; at most 8 bytes are expected",
        ),
        ("x=wide.npy", "= help: the module takes x.1: f32[2], n: s32[]"),
        ("x=u32.npy", "array `x`: its type is u32, expected f32[2]"),
        ("x={1, 2, 3}", "x: `{1, 2, 3}`: expected 2 elements"),
        ("x=none.npy", "error[E0601]: none.npy: "),
        ("none.npz", "error[E0601]: none.npz: "),
        ("x=f32[2] {1, 2, 3}", "error[E0603]: x: `f32[2] {1, 2, 3}`: "),
        ("x=f33[2] {1, 2}", "f33"),
        ("x=s32[2] {1, 2}", "array `x`: its type is s32, expected f32[2]"),
        ("x=(s32[] 1, s32[] 2)", "it has 2 arrays, expected 1 array"),
        ("sub.hlo", "error[E0603]: sub.hlo: not a file of arrays"),
        ("other.npz", "there is no array `in1` for s32[]"),
        ("other.npz", "the module takes x.1: f32[2], n: s32[]; no parameter has the name `m`"),
        ("x.npy", "there is no array `in1`"),
    ] {
        expect(&etalon(&folder, &["run", "sub.hlo", "--input", input]), 2, "", message);
    }
    let too_many = "run sub.hlo --input x.npy --input 3 --input x.npy";
    expect(
        &folder.etalon(too_many),
        2,
        "",
        "there is no parameter 2; the module takes 2 arguments",
    );
    let twice = ["run", "sub.hlo", "--input", "x=x.npy", "--input", "0=x.npy"];
    expect(&etalon(&folder, &twice), 2, "", "`0` is given twice");
    let twice = ["run", "sub.hlo", "--input", "x=x.npy", "--input", "x={1, 2}"];
    expect(&etalon(&folder, &twice), 2, "", "`x` is given twice");
}

#[test]
fn random_arguments_fill_what_is_missing() {
    let folder = folder("random");
    let run = |rest: &str| folder.etalon(&format!("run sub.hlo --random 1 {rest}"));
    let all = run("").stdout;
    expect(&run("--input n=0"), 0, "s32[] 0)", "");
    // The other argument has the value that it has without --input.
    let text = String::from_utf8(run("--input x={0,0}").stdout).unwrap();
    let n = String::from_utf8(all).unwrap();
    assert_eq!(text.lines().last(), n.lines().last());
    expect(&run("--range n=7:7 --range 5:5"), 0, "(\n  f32[2] {-2, -2},\n  s32[] 7)", "");
    expect(&run("--range -3:-3"), 0, "(\n  f32[2] {0, 0},\n  s32[] -3)", "");
    expect(&run("--range n=0.5:1"), 2, "", "error[E0607]: cannot draw parameter 1: 0.5:1 is not");
    expect(
        &run("--range floats=-2:-2 --range integers=1e1:1e1"),
        0,
        "f32[2] {-12, -12},\n  s32[] 10)",
        "",
    );
    expect(&run("--range m=0:1"), 2, "", "error[E0612]: there is no parameter `m`");
    expect(&run("--range 1"), 2, "", "expected LO:HI");
    expect(&folder.etalon("run sub.hlo --range 1:2"), 2, "", "--random");
    // Random values do not take the place of a whole file.
    write(&folder, "result.npz", &[("out0", "f32[2] {1, 2}")]);
    let refused = run("--input result.npz");
    expect(&refused, 2, "", "result.npz: none of its arrays has the name of a parameter");
    expect(&refused, 2, "", "the file has `out0`; name them `in0`");
    expect(&folder.etalon("bench sub.hlo --input n=1"), 0, "minimum", "");
}

#[test]
fn results_have_names_and_types() {
    let folder = folder("results");
    let run =
        |rest: &str| folder.etalon(&format!("run sub.hlo --input x={{1,2}} --input n=3 {rest}"));
    expect(&run("--names"), 0, "difference: f32[2] {-2, -1}\nn: s32[] 3\n", "");
    expect(&run("--names --output out.npz"), 0, "", "");
    let file = std::fs::File::open(folder.0.join("out.npz")).unwrap();
    let names = hlo::literal::npz::read(file).unwrap().into_iter().map(|array| array.name);
    assert_eq!(names.collect::<Vec<_>>(), ["difference", "n"]);
    let types = "HloModule m\nENTRY e { a = bf16[2] parameter(0) b = f8e4m3fn[1] parameter(1) c = pred[0] parameter(2)
        ROOT t = (bf16[2], f8e4m3fn[1], pred[0]) tuple(a, b, c) }";
    folder.write("types.hlo", types);
    for file in ["out.npz", "out.safetensors"] {
        let output = etalon(
            &folder,
            &[
                "run",
                "types.hlo",
                "--input",
                "a={1.5, nan}",
                "--input",
                "b={448}",
                "--input",
                "c=pred[0] {}",
                "--names",
                "--output",
                file,
            ],
        );
        expect(&output, 0, "", "");
        let again = folder.etalon(&format!("run types.hlo --input {file}"));
        expect(&again, 0, "(\n  bf16[2] {1.5, nan},\n  f8e4m3fn[1] {448},\n  pred[0] {})", "");
    }
    // The file states the types, so a wrong one is found.
    folder.write("half.hlo", &types.replace("bf16", "f16"));
    expect(
        &folder.etalon("run half.hlo --input out.safetensors"),
        2,
        "",
        "array `a`: its type is bf16, expected f16[2]",
    );
    folder.write("narrow.hlo", "HloModule m\nENTRY e { ROOT c = s4[1] constant({1}) }");
    expect(
        &folder.etalon("run narrow.hlo --output o.safetensors"),
        2,
        "",
        "safetensors has no type s4",
    );
    std::fs::write(folder.0.join("bad.safetensors"), b"\xff\0\0\0\0\0\0\0{").unwrap();
    expect(&folder.etalon("run types.hlo --input bad.safetensors"), 2, "", "its header is damaged");
}

#[test]
fn files_of_results_are_compared() {
    let folder = folder("diff");
    write(&folder, "a.npz", &[("out0", "f32[3] {1, 2, nan}"), ("out1", "s32[] 7")]);
    write(&folder, "b.npz", &[("out0", "f32[3] {1, 2.0000002, nan}"), ("out1", "s32[] 7")]);
    write(&folder, "c.npz", &[("out0", "f32[3] {1, 2, inf}"), ("out1", "s32[] 8")]);
    write(&folder, "d.npz", &[("out0", "f32[2] {1, 2}"), ("other", "s32[] 8")]);
    let diff = |rest: &str| folder.etalon(&format!("diff {rest}"));
    expect(&diff("a.npz a.npz"), 0, "out0: f32[3] equal\nout1: s32[] equal\n2 arrays agree\n", "");
    let found = "out0: 1 of 3 elements of f32[3] differ; at [1]: found f32[] 2.00000024, expected f32[] 2; error 1.192e-7, 1 ulp\n";
    expect(&diff("a.npz b.npz"), 1, found, "");
    for bound in ["--rtol 1e-6", "--atol 1e-6", "--ulp 1"] {
        expect(&diff(&format!("a.npz b.npz {bound}")), 0, "2 arrays agree", "");
        let stdout = diff(&format!("a.npz b.npz {bound}")).stdout;
        assert_eq!(String::from_utf8(stdout).unwrap().contains("(bound"), bound == "--rtol 1e-6");
        expect(
            &diff(&format!("a.npz c.npz {bound}")),
            1,
            "at [2]: found f32[] inf, expected f32[] nan\n",
            "",
        );
        expect(
            &diff(&format!("a.npz c.npz {bound}")),
            1,
            "out1: s32[] differs; found s32[] 8, expected s32[] 7\n",
            "",
        );
    }
    expect(
        &diff("a.npz d.npz"),
        1,
        "out0: found sizes [2], expected [3]\nout1: only in a.npz\nother: only in d.npz\n3 of 3 arrays differ\n",
        "",
    );
    folder.write("m.hlo", "HloModule m\nENTRY e { x = f32[3] parameter(0) s = f32[3] sine(x) n = s32[] constant(7) ROOT t = (f32[3], s32[]) tuple(s, n) }");
    expect(&diff("a.npz b.npz --module m.hlo"), 0, "out0: f32[3] agrees; error", "");
    expect(&diff("a.npz d.npz --module m.hlo"), 1, "out0: found sizes", "");
    expect(
        &diff("d.npz d.npz --module m.hlo"),
        2,
        "",
        "array `other` is not a result of the module",
    );
    folder.write("one.hlo", "HloModule m\nENTRY e { ROOT n = s32[] constant(7) }");
    expect(
        &diff("a.npz b.npz --module one.hlo"),
        2,
        "",
        "expected s32[]\n |\n = help: one.hlo states this shape: are these results of it?",
    );
    expect(&diff("a.npz none.npz"), 2, "", "E0601");
    expect(&diff("a.npz m.hlo"), 2, "", "not a file of arrays");
    expect(&diff("a.npz b.npz --rtol -1"), 2, "", "expected a number such as 1e-5");
}

/// What is buffered is written, too: a file that is short of data must not look complete.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = folder("full");
    folder.write("one.hlo", "HloModule m\nENTRY e { ROOT n = f32[2] constant({1, 2}) }");
    for extension in ["npy", "npz", "safetensors"] {
        let file = format!("full.{extension}");
        std::os::unix::fs::symlink("/dev/full", folder.0.join(&file)).unwrap();
        let ended = folder.etalon(&format!("run one.hlo --output {file}"));
        expect(&ended, 2, "", &format!("error[E0601]: {file}: No space left on device"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_memory_is_too_small_for_starts_with_a_warning() {
    let folder = folder("memory");
    let large = "HloModule m\nENTRY e { x = u8[] parameter(0) ROOT r = u8[1125899906842624] broadcast(x), dimensions={} }";
    folder.write("large.hlo", large);
    let run = |options: &str| folder.etalon(&format!("run large.hlo --input 1 {options}"));
    let warning = "warning: the run may take 1125899906842625 bytes of memory, ";
    expect(&run(""), 1, "", warning);
    expect(&run(""), 1, "", "error[E0405]");
    for quiet in ["-q", "--max-memory 1G"] {
        assert!(!String::from_utf8(run(quiet).stderr).unwrap().contains("warning"));
        expect(&run(quiet), 1, "", "error[E0405]");
    }
    let small = folder.etalon("run sub.hlo --random 1");
    assert_eq!(String::from_utf8(small.stderr).unwrap(), "");
}

/// What the shapes of the parameters refuse is not read.
#[test]
fn limits_hold_before_arguments_are_read() {
    let folder = folder("limits");
    // The data is missing.
    let npy = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    let header =
        [b"\x93NUMPY\x01\x00".as_slice(), &[u8::try_from(npy.len()).unwrap(), 0], npy.as_bytes()]
            .concat();
    std::fs::write(folder.0.join("x.npy"), header).unwrap();
    let run = |options: &str| {
        folder.etalon(&format!("run sub.hlo --input x=x.npy --input n=3 {options}"))
    };
    expect(&run(""), 2, "", "x.npy: array `x`: the header states 8 bytes of data, found 0");
    let message = "error[E0405]: the arguments have 12 bytes, and 11 bytes are allowed";
    expect(&run("--max-memory 11"), 1, "", message);
    // Each device has an array of its own.
    write(&folder, "each.npz", &[("d0_x", "f32[2] {1, 2}"), ("d1_x", "f32[2] {3, 4}")]);
    let each =
        folder.etalon("run sub.hlo --replicas 2 --input each.npz --input n=3 --max-memory 15");
    expect(&each, 1, "", "error[E0405]: the arguments have 16 bytes, and 15 bytes are allowed");
    // A random value that is not needed takes no memory.
    let line = "run sub.hlo --input x={1,2} --random 1 --max-memory 40";
    expect(&folder.etalon(line), 0, "", "");
    for command in ["bench", "graph --values -o page.html"] {
        let line = format!("{command} sub.hlo --input x=x.npy --input n=3 --max-memory 11");
        expect(&folder.etalon(&line), 1, "", message);
    }
    let conform = "conform sub.hlo --backend exact --input x=x.npy --input n=3 --max-memory 11";
    expect(&folder.etalon(conform), 1, "", message);
}

/// Arrays in files have the same values, in the pool of a run as well, and nothing stays in the folder.
#[test]
#[cfg(target_os = "linux")]
fn large_arrays_in_files_have_the_same_values() {
    let folder = folder("spill");
    folder.write(
        "large.hlo",
        "ENTRY e { x = f32[64,262144] parameter(0) y = f32[262144,64] transpose(x), dimensions={1,0}
         z = f32[262144,64] reverse(y), dimensions={0} t = f32[262144,64] add(z, y)
         ROOT d = f32[64,64] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    );
    std::fs::create_dir(folder.0.join("arrays")).unwrap();
    let run = |output: &str, options: &str| {
        let line = format!("run large.hlo --random 1 --output {output} {options}");
        expect(&folder.etalon(&line), 0, "", "");
        std::fs::read(folder.0.join(output)).unwrap()
    };
    assert!(run("memory.npz", "") == run("files.npz", "--spill arrays --spill-from 64M"));
    let bench = "bench large.hlo --iterations 2 --spill arrays --spill-from 64M";
    expect(&folder.etalon(bench), 0, "minimum", "");
    assert_eq!(std::fs::read_dir(folder.0.join("arrays")).unwrap().count(), 0);
    expect(&folder.etalon("run large.hlo --random 1 --spill none"), 2, "", "error[E0601]: none: ");
    expect(&folder.etalon("run large.hlo --spill-from 64M"), 2, "", "--spill <DIR>");
    let small = "run large.hlo --spill arrays --spill-from 1M";
    expect(&folder.etalon(small), 2, "", "smaller than 64M");
}
