//! `etalon conform --backend` and `--backend-command`: outcomes, totals and exit codes.
#![expect(clippy::unwrap_used, reason = "tests")]
mod support;

use support::{Folder, expect};

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
const ALL_AGREE: &str = "1 agree, 0 differ, 0 failed, 0 unsupported, 0 skipped\n";

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
    assert!(json.contains(r#""outcome": "agree""#), "{json}");
}

#[test]
fn a_command_is_a_backend() {
    let folder = folder("command");
    // The arguments are {1, 2}; the command returns them doubled, or as they are.
    let etalon = env!("CARGO_BIN_EXE_etalon");
    folder.write("run.sh", &format!("{etalon} run $1 --input $2 --output $3\n"));
    folder.write("fail.sh", "echo no such op >&2; exit 3\n");
    folder.write("die.sh", "kill -SEGV $$\n");
    folder.write("hang.sh", "sleep 60\n");
    let conform = |script: &str| {
        let mut command = std::process::Command::new(etalon);
        let with = format!("sh {script} {{hlo}} {{in.npz}} {{out.npz}}");
        command.args(["conform", "tests.hlo", "--time-limit", "2", "--backend-command", &with]);
        command.current_dir(&folder.0).output()
    };
    for (script, code, data) in [
        ("run.sh", 0, ALL_AGREE),
        ("fail.sh", 1, "error[E0703]: the execution failed: the command returned exit code 3\n"),
        ("die.sh", 1, "0 skipped, 1 crashed, 0 timed out\n"),
        ("hang.sh", 1, "0 skipped, 0 crashed, 1 timed out\n"),
    ] {
        expect(&conform(script).unwrap(), code, data, "");
    }
}

#[test]
fn what_is_no_backend_is_misuse() {
    let folder = folder("none");
    expect(&folder.etalon("conform add.hlo"), 2, "", "Usage");
    expect(&folder.etalon("conform --backend none.so add.hlo --random 1"), 2, "", "E0601");
    expect(&folder.etalon("conform --backend add.hlo add.hlo --random 1"), 2, "", "E0706");
    expect(
        &folder.etalon("conform --backend-command true add.hlo"),
        2,
        "",
        "{hlo} {in.npz} {out.npz}",
    );
    expect(&folder.etalon("conform --backend reference add.hlo"), 2, "", "E0602");
    expect(&folder.etalon("conform --backend reference add.hlo --time-limit 0"), 2, "", "seconds");
    expect(&folder.etalon("conform --backend reference add.hlo --option x"), 2, "", "KEY=VALUE");
}
