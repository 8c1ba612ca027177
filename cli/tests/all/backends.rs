//! `etalon conform --backend`, `--backend-command` and `--backend-server`: outcomes, totals and exit codes.
use crate::support::{Folder, expect};

const ADD: &str = "HloModule m\nENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] add(x, x) }\n";
const TESTS: &str = "HloModule two
ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] add(x, x) }
// in: s32[2] {1, 2}
// -----
HloModule bad
ENTRY e { x = f32[2] parameter(0)
  ROOT r = f32[3] negate(x) // error E0302
}
";
const FOREVER: &str = "HloModule m
t { p = s32[] parameter(0) ROOT t = pred[] constant(true) }
b { ROOT p = s32[] parameter(0) }
ENTRY e { z = s32[] constant(0) ROOT r = s32[] while(z), condition=t, body=b }
";
const ALL_AGREE: &str = "1 agree\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("backend-{name}"));
    folder.write("add.hlo", ADD);
    folder.write("tests.hlo", TESTS);
    folder
}

#[test]
fn an_engine_is_a_backend() {
    let folder = folder("engine");
    expect(&folder.etalon("conform --backend reference add.hlo --random 1"), 0, ALL_AGREE, "");
    // A case that expects errors is not compared.
    expect(&folder.etalon("conform --backend reference tests.hlo"), 0, ALL_AGREE, "");
    let json = folder.etalon("conform --backend reference tests.hlo --json out.json -v");
    expect(&json, 0, "tests.hlo::two", "");
    let json = std::fs::read_to_string(folder.0.join("out.json")).unwrap_or_default();
    assert!(json.contains(r#""verdict":"agrees""#), "{json}");
}

#[test]
fn a_command_is_a_backend() {
    let folder = folder("command");
    // The arguments are {1, 2}; the command returns them doubled, or as they are.
    let etalon = env!("CARGO_BIN_EXE_etalon");
    folder.write("run.sh", &format!("{etalon} run $1 --input $2 --output $3\n"));
    folder.write("fail.sh", "echo no such op >&2; exit 4\n");
    folder.write("lacks.sh", "echo no such op >&2; exit 3\n");
    folder.write("die.sh", "kill -SEGV $$\n");
    folder.write("hang.sh", "sleep 60\n");
    let conform = |script: &str| {
        let mut command = std::process::Command::new(etalon);
        let with = format!("sh {script} {{hlo}} {{in.npz}} {{out.npz}}");
        command.args(["conform", "tests.hlo", "--time-limit", "5", "--backend-command", &with]);
        command.current_dir(&folder.0).output()
    };
    for (script, code, data) in [
        ("run.sh", 0, ALL_AGREE),
        ("fail.sh", 1, "error[E0703]: the execution failed: the command returned exit code 4\n"),
        ("lacks.sh", 3, "error[E0701]: no such op\n"),
        ("die.sh", 1, "1 crashed\n"),
        ("hang.sh", 1, "1 timed out\n"),
    ] {
        expect(&conform(script).unwrap(), code, data, "");
    }
}

/// Writes a server that compiles by copying the module, and executes with this command.
fn write_server(folder: &Folder, hello: &str, format: &str, execute: &str) {
    let script = format!(
        r#"get() {{ value=${{line##*\"$1\":\"}}; value=${{value%%\"*}}; }}
while read -r line; do
  case $line in
    *hello*) echo '{{"reply":"hello","name":"shell",{hello}}}';;
    *compile*) get {format}; cp "$value" module.{format}; echo '{{"reply":"ok"}}';;
    *execute*) get inputs; in=$value; get outputs; out=$value
      {execute} >&2; echo '{{"reply":"ok"}}';;
  esac
done
"#
    );
    folder.write("server.sh", &script);
}
fn serve(folder: &Folder, rest: &str) -> std::process::Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_etalon"));
    command.arg("conform").args(rest.split_whitespace());
    command.args(["--backend-server", "sh server.sh"]).current_dir(&folder.0);
    command.output().unwrap()
}

#[test]
fn a_server_is_a_backend() {
    let folder = folder("server");
    let etalon = env!("CARGO_BIN_EXE_etalon");
    for format in ["hlo", "pb", "mlir", "mlirbc"] {
        let run = format!("{etalon} run module.{format} --input $in --output $out");
        write_server(&folder, &format!(r#""formats":["{format}"]"#), format, &run);
        expect(&serve(&folder, "tests.hlo"), 0, ALL_AGREE, "");
    }
    write_server(&folder, r#""formats":["onnx"]"#, "hlo", "true");
    expect(&serve(&folder, "tests.hlo"), 2, "", "the formats are hlo, pb, mlir, mlirbc");
    write_server(&folder, r#""devices":1"#, "hlo", "true");
    expect(&serve(&folder, "tests.hlo"), 1, "error[E0703]", "");
}

/// Returns what a command prints and writes, without times.
fn outcome(folder: &Folder, line: &str) -> (Option<i32>, String, String) {
    let _ = std::fs::remove_file(folder.0.join("out"));
    let output = folder.etalon(line);
    let written = std::fs::read_to_string(folder.0.join("out")).unwrap_or_default();
    let without_times = |text: &str| {
        let lines = text.lines().map(|line| line.split("\"seconds\"").next().unwrap_or_default());
        lines.filter(|line| !line.contains(" modules in ")).collect::<Vec<_>>().join("\n")
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    (output.status.code(), without_times(&stdout), without_times(&written))
}

#[test]
fn several_backends_have_the_output_of_one() {
    let folder = folder("jobs");
    let op = |n: usize| ["sine", "exponential", "tanh"][n % 3];
    let lines: Vec<String> = (1..30).map(|n| format!("n{n} = f32[4] {}(n0)\n", op(n))).collect();
    let lines = lines.concat();
    let module = format!(
        "HloModule m\nENTRY e {{ n0 = f32[4] parameter(0)\n{lines}\nROOT r = (f32[4], f32[4], f32[4]) tuple(n1, n2, n29) }}\n// in: f32[4] {{1, 2, 0.5, 0.1}}\n"
    );
    folder.write("m.hlo", &module);
    for (line, code) in [
        ("conform --backend planted:exp --suite smoke --case exp*/* -v --json out", 1),
        ("conform --backend planted:exp m.hlo tests.hlo add.hlo --json out", 1),
        ("fuzz --backend planted:add --count 6 --seed 3 --coverage", 1),
        ("reduce --backend planted:exp m.hlo --output out", 0),
        ("blame --backend planted:exp m.hlo --json", 1),
    ] {
        let [one, four] = [1, 4].map(|jobs| outcome(&folder, &format!("{line} --jobs {jobs}")));
        assert_eq!(one.0, Some(code), "{line}: {}", one.1);
        assert_eq!(one, four, "{line}");
    }
    for line in ["conform add.hlo", "blame add.hlo", "reduce add.hlo", "fuzz"] {
        let none = folder.etalon(&format!("{line} --backend exact --jobs 0"));
        expect(&none, 2, "", "expected a number of backends from 1 on");
    }
}

#[test]
fn the_death_of_a_backend_does_not_stop_the_others() {
    let folder = folder("deaths");
    let test = |name: &str| TESTS.split("// -----").next().unwrap().replace("two", name);
    let names = ["a", "bad", "c", "d", "worse", "f", "g"];
    folder.write("all.hlo", &names.map(test).join("// -----\n"));
    let run = format!(
        "grep -q -e 'HloModule bad' -e 'HloModule worse' $module && kill -SEGV $$; {} run $module --input $in --output $out",
        env!("CARGO_BIN_EXE_etalon")
    );
    let script = format!(
        r#"get() {{ value=${{line##*\"$1\":\"}}; value=${{value%%\"*}}; }}
module=module$$.hlo
while read -r line; do
  case $line in
    *hello*) echo '{{"reply":"hello","name":"shell","formats":["hlo"]}}';;
    *compile*) get hlo; cp "$value" $module; echo '{{"reply":"ok"}}';;
    *execute*) get inputs; in=$value; get outputs; out=$value
      {run} >&2; echo '{{"reply":"ok"}}';;
  esac
done
"#
    );
    folder.write("server.sh", &script);
    for jobs in [1, 3] {
        let output = serve(&folder, &format!("all.hlo --jobs {jobs}"));
        expect(&output, 1, "5 agree, 2 crashed\n", "");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let [bad, worse] = ["bad", "worse"].map(|name| text.find(&format!("::{name}: crashed")));
        assert!(bad.is_some() && bad < worse, "{text}");
        assert!(text.contains("shell: command sh server.sh\n"), "{text}");
    }
}

#[test]
fn accuracies_are_stated() {
    let folder = folder("accuracies");
    let module = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] tanh(x) }\n// in: f32[] 0.5\n";
    folder.write("tanh.hlo", module);
    folder.write("accuracies.json", r#"{"tanh": 1000}"#);
    folder.write("wrong.json", r#"{"tan h": 1000}"#);
    // About 460 units in the last place too large.
    let factor = "t = f32[] tanh(x) k = f32[] constant(1.00003) ROOT r = f32[] multiply(t, k)";
    let run = format!(
        "sed 's/ROOT r.*tanh(x)/{factor}/' module.hlo > wrong.hlo; {} run wrong.hlo --input $in --output $out",
        env!("CARGO_BIN_EXE_etalon")
    );
    write_server(&folder, r#""devices":1"#, "hlo", &run);
    expect(&serve(&folder, "tanh.hlo"), 1, "1 differ\n", "");
    expect(&serve(&folder, "tanh.hlo --accuracies accuracies.json"), 0, "1 within bound\n", "");
    expect(&serve(&folder, "tanh.hlo --accuracies wrong.json"), 2, "", "error[E0603]: wrong.json");
    write_server(&folder, r#""accuracies":{"tanh":1000}"#, "hlo", &run);
    expect(&serve(&folder, "tanh.hlo"), 0, "1 within bound\n", "");
}

#[test]
fn modes_are_chosen() {
    let folder = folder("modes");
    let etalon = env!("CARGO_BIN_EXE_etalon");
    // 1e-40 is read as 0, every other time.
    let script = format!(
        "if [ -e once ]; then rm once; else touch once; sed -i 's/add(/subtract(/' $1; fi
        {etalon} run $1 --input $2 --output $3\n"
    );
    folder.write("flush.sh", &script);
    let module = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] add(x, x) }\n// in: f32[] 1e-40\n";
    folder.write("denormal.hlo", module);
    let conform = |options: &str| {
        let mut command = std::process::Command::new(etalon);
        command.args(["conform", "denormal.hlo", "-v", "--backend-command"]);
        command.arg("sh flush.sh {hlo} {in.npz} {out.npz}").args(options.split_whitespace());
        command.current_dir(&folder.0).output().unwrap()
    };
    expect(&conform(""), 0, "explained by: flushed denormals\n", "");
    expect(&conform("--strict"), 1, "1 differ\n", "");
    expect(&conform("--allow tf32,flush"), 0, "1 within bound\n", "");
    expect(&conform("--deterministic"), 1, "1 unstable\n", "");
    expect(&conform("--allow flash"), 2, "", "did you mean `flush`?");
    expect(&folder.etalon("explain flush"), 0, "flush: flushed denormals\n\nNumbers below", "");
    expect(&folder.etalon("explain modes"), 0, "order ", "");
}

#[test]
fn results_are_written_merged_and_compared() {
    let folder = folder("results");
    folder.write("other.hlo", &TESTS.replace("two", "three"));
    let run = |rest: &str| folder.etalon(&format!("conform {rest}"));
    let all = "--backend reference tests.hlo other.hlo";
    let reports = "--json all.json --junit all.xml --html all.html";
    expect(&run(&format!("{all} {reports}")), 0, "2 agree\n", "");
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    assert!(read("all.xml").contains("<testsuite name=\"programs\" tests=\"2\""));
    assert!(read("all.html").contains("tests.hlo::two"));
    for part in 1..=2 {
        let output = run(&format!("{all} --shard {part}/2 --json part{part}.json"));
        assert!(matches!(output.status.code(), Some(0 | 2)), "a part may be empty");
    }
    expect(&run("--merge part1.json part2.json --json merged.json"), 0, "2 agree\n", "");
    let without_times = |text: String| -> Vec<String> {
        text.lines().map(|line| line.split("\"seconds\"").next().unwrap().to_owned()).collect()
    };
    assert_eq!(without_times(read("merged.json")), without_times(read("all.json")));
    folder.write("worse.json", &read("all.json").replacen("\"agrees\"", "\"crashed\"", 1));
    let changes = "worse: other.hlo::three: agrees -> crashed\n1 worse, 0 better, 0 added, 0 removed, 1 the same\n";
    expect(&run("--compare all.json worse.json"), 1, changes, "");
    expect(&run("--compare worse.json all.json"), 0, "1 better", "");
    expect(&run("--merge all.json all.json"), 2, "", "is in both results");
    expect(
        &run("--compare all.json tests.hlo"),
        2,
        "",
        "not the results of `etalon conform --json`",
    );
    expect(&run("--backend reference tests.hlo --shard 3/2"), 2, "", "expected I/N");
}

#[test]
fn limits_are_those_of_engines() {
    let folder = folder("limits");
    let run = |rest: &str| folder.etalon(&format!("conform --backend reference tests.hlo {rest}"));
    expect(&run("--fuel 0"), 1, "out of fuel", "");
    expect(&run("--fuel 1000 --max-memory 1M --time-limit 60"), 0, ALL_AGREE, "");
    folder.write("forever.hlo", FOREVER);
    let forever = folder.etalon("conform --backend reference forever.hlo --time-limit 0.05");
    expect(&forever, 1, "out of time after 0.05 s", "");
}

/// `etalon reduce` writes such a file while it runs.
#[test]
fn arguments_without_results_are_enough() {
    let folder = folder("arguments");
    folder
        .write("in.hlo", "HloModule m\nENTRY e { ROOT x = s32[] parameter(0) }\n// in: s32[] 7\n");
    expect(&folder.etalon("conform --backend reference in.hlo"), 0, "1 agree\n", "");
}

/// A run that a signal ends leaves the old report, and nothing beside it. A test in the background would ignore Ctrl-C.
#[test]
fn an_interrupted_run_leaves_the_old_report() {
    let folder = folder("interrupted");
    folder.write("out.json", "old");
    folder.write("more.hlo", &TESTS.replace("two", "three"));
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_etalon"))
        .args(["conform", "tests.hlo", "more.hlo", "--json", "out.json", "--junit", "out.xml"])
        .args(["--jobs", "2", "--backend-command"])
        .arg("echo $$ > started; sleep 60 # {hlo} {out.npz}")
        .current_dir(&folder.0)
        .spawn()
        .unwrap();
    while !folder.0.join("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::process::Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap();
    assert!(!run.wait().unwrap().success());
    let command = std::fs::read_to_string(folder.0.join("started")).unwrap();
    let command = std::path::PathBuf::from(format!("/proc/{}/exe", command.trim()));
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while command.exists() && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!command.exists());
    assert_eq!(std::fs::read_to_string(folder.0.join("out.json")).unwrap(), "old");
    let mut names = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| name.to_string_lossy().contains(".etalon-")));
    assert!(!folder.0.join("out.xml").exists());
}

#[test]
fn reports_are_opened_before_the_run() {
    let folder = folder("reports");
    let output = folder.etalon("conform --backend reference tests.hlo -v --json none/out.json");
    expect(&output, 2, "", "E0601");
    assert!(output.stdout.is_empty());
    let part = |index: u32| {
        folder.write(
            &format!("{index}.json"),
            &format!("{{\"backend\":\"b\",\"etalon\":\"0\",\"shards\":[{{\"index\":{index},\"count\":3}}],\"records\":[]}}"),
        );
    };
    part(1);
    part(2);
    expect(&folder.etalon("conform --merge 1.json 1.json"), 2, "", "shard 1/3 is in both results");
    expect(
        &folder.etalon("conform --merge 1.json 2.json"),
        0,
        "no cases",
        "1 of 3 shards is missing: 3/3",
    );
}

#[test]
fn what_is_no_backend_is_misuse() {
    let folder = folder("none");
    expect(&folder.etalon("conform add.hlo"), 2, "", "Usage");
    expect(&folder.etalon("conform --backend none.so add.hlo --random 1"), 2, "", "E0601");
    let help = "help: a backend is an engine (exact, reference, fast), `planted:OP`, `variant:SEED`, or the file of a PJRT plugin";
    expect(&folder.etalon("conform --backend none.so add.hlo --random 1"), 2, "", help);
    let seed = folder.etalon("conform --backend variant:one add.hlo --random 1");
    expect(&seed, 2, "", "help: a seed is a number: `variant:1`");
    expect(&folder.etalon("conform --backend variant:1 add.hlo --random 1"), 0, "", "");
    let near = folder.etalon("conform --backend fats add.hlo --random 1");
    expect(&near, 2, "", "help: did you mean `fast`?");
    expect(&folder.etalon("conform --backend add.hlo add.hlo --random 1"), 2, "", "E0706");
    expect(
        &folder.etalon("conform --backend-command true add.hlo"),
        2,
        "",
        "{hlo} {in.npz} {out.npz}",
    );
    expect(&folder.etalon("conform --backend reference add.hlo"), 2, "", "E0602");
    expect(&folder.etalon("conform --backend reference add.hlo --time-limit 0"), 2, "", "seconds");
    expect(
        &folder.etalon("conform --backend reference add.hlo --option x"),
        2,
        "",
        "expected NAME=VALUE",
    );
}

#[test]
fn the_suite_is_run() {
    let folder = folder("suite");
    let conform = |rest: &str| folder.etalon(&format!("conform --backend reference {rest}"));
    expect(&conform("--suite smoke --case select/f32/*"), 0, " agree\n", "");
    let message = "no case of the suite matches `nothing/*`";
    expect(&conform("--suite full --case nothing/*"), 2, "", message);
    // Differences in place of sums.
    let etalon = env!("CARGO_BIN_EXE_etalon");
    let script = format!(
        "sed 's/ add(/ subtract(/' $1 > wrong.hlo; {etalon} run wrong.hlo --input $2 --output $3\n"
    );
    folder.write("wrong.sh", &script);
    let wrong = |case: &str| {
        let mut command = std::process::Command::new(etalon);
        command.args(["conform", "--suite", "full", "--case", case, "--backend-command"]);
        command.arg("sh wrong.sh {hlo} {in.npz} {out.npz}").current_dir(&folder.0);
        command.output().unwrap()
    };
    expect(&wrong("reduce/s32/exact[op=add;init=zero]"), 1, "1 differ\n", "");
    let open = "undefined: 1 of 1 elements differ and are not determined";
    expect(&wrong("reduce/s32/initial-value[n=20]"), 0, open, "");
}

#[test]
fn a_command_that_a_rank_starts_is_no_rank() {
    let folder = Folder::new("backend-rank");
    folder.write(
        "m.hlo",
        "HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }",
    );
    let etalon = env!("CARGO_BIN_EXE_etalon");
    let output = std::process::Command::new(etalon)
        .args(["conform", "m.hlo", "--random", "1", "--backend-command"])
        .arg(format!("{etalon} run {{hlo}} --input {{in.npz}} --output {{out.npz}}"))
        .current_dir(&folder.0)
        .envs([("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "1"), ("PMI_SIZE", "2")])
        .output();
    expect(&output.unwrap(), 0, "1 agree", "");
}
