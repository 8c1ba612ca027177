//! `etalon fuzz`: campaigns, variants of a module, and wrong options.
use crate::support::{Folder, expect};

#[test]
fn the_engines_agree_and_the_same_seed_gives_the_same_statistics() {
    let folder = Folder::new("fuzz-engines");
    let line = "fuzz --backend exact --seed 5 --count 6 --coverage";
    let [first, second] = [line, line].map(|line| folder.etalon(line));
    expect(&first, 0, "\n6 modules in ", "");
    expect(&first, 0, "\nreduce-window ", "");
    // All but the time.
    let table = |stdout: &[u8]| {
        let text = String::from_utf8_lossy(stdout).into_owned();
        text.lines()
            .filter(|line| !line.contains(" modules in "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(table(&first.stdout), table(&second.stdout));
}

#[test]
fn variants_of_a_module_run() {
    let folder = Folder::new("fuzz-like");
    let text = "HloModule m\nENTRY e { x = f32[4] parameter(0) s = f32[4] sine(x) ROOT r = f32[4] add(s, x) }";
    folder.write("m.hlo", text);
    let output = folder.etalon("fuzz --backend reference --like m.hlo --count 20");
    expect(&output, 0, " modules in ", "");
    let missing = folder.etalon("fuzz --backend exact --like none.hlo");
    expect(&missing, 2, "", "E0601");
}

#[test]
fn wrong_options_are_misuse() {
    let folder = Folder::new("fuzz-misuse");
    let misuse = |line: &str, message: &str| expect(&folder.etalon(line), 2, "", message);
    misuse("fuzz --count 3", "--backend");
    misuse("fuzz --backend exact --weight ad=3", "`ad` is not an opcode");
    misuse("fuzz --backend exact --weight add=many", "a weight from 0 to 1000");
    misuse("fuzz --backend exact --ops dot,dott", "`dott` is not an opcode");
    misuse("fuzz --backend exact --types f33", "`f33` is not an element type");
    folder.write("none.json", "{}");
    let wrong = folder.etalon("fuzz --backend exact --count 1 --capabilities none.json");
    expect(&wrong, 2, "", "none.json");
    misuse("fuzz --backend exact --minutes 0", "a number of minutes");
    misuse("fuzz --backend exact --count 3 --minutes 1", "cannot be used with");
    misuse("fuzz --backend missing.so", "E0601");
}

#[test]
fn findings_are_written_where_the_option_says() {
    let folder = Folder::new("fuzz-output");
    let output = folder.etalon("fuzz --backend exact --count 2 --output found");
    expect(&output, 0, "2 modules", "");
    // Nothing was found, so there is no folder.
    assert!(std::fs::read_dir(folder.0.join("found")).is_err());
    // What is no folder is found before the campaign.
    folder.write("file", "mine");
    for line in ["-o file", "-o file/in"] {
        let wrong = folder.etalon(&format!("fuzz --backend exact --count 100000 {line}"));
        expect(&wrong, 2, "", "Not a directory");
    }
}

/// A command that does not support `tanh`, and reads no `f16`.
#[test]
fn a_backend_that_lacks_ops_runs_the_rest() {
    let folder = Folder::new("fuzz-rest");
    let etalon = env!("CARGO_BIN_EXE_etalon");
    folder.write(
        "chip.sh",
        &format!("if grep -qE 'tanh|f16' $1; then exit 3; fi\n{etalon} run $1 --input $2 --output $3 -q\n"),
    );
    let run = |line: &str| {
        let mut command = std::process::Command::new(etalon);
        command.args(line.split(' ')).current_dir(&folder.0);
        command.args(["--backend-command", "sh chip.sh {hlo} {in.npz} {out.npz}"]);
        command.output().unwrap()
    };
    let probes = run("conform --suite probes --case tanh/* --json chip.json");
    expect(&probes, 3, "tanh                       has nothing; lacks ", "");
    expect(&probes, 3, " of 17 pairs of an op and a type are executed", "");
    let fuzz = "fuzz --count 4 --seed 3 --types f32 --weight tanh=200";
    let first = run(&format!("{fuzz} --output found"));
    expect(&first, 0, " without instructions that the backend does not support\n", "");
    let learned = std::fs::read_to_string(folder.0.join("found/capabilities.json")).unwrap();
    assert!(learned.contains("tanh/f32/executed"), "{learned}");
}

#[test]
fn twins_need_no_expected_result() {
    let folder = Folder::new("metamorphic");
    let fuzz = |backend: &str| {
        let line = format!(
            "fuzz --metamorphic --backend {backend} --ops tanh --types f32 --count 12 -o found"
        );
        folder.etalon(&line)
    };
    expect(&fuzz("exact"), 0, "12 modules", "");
    let output = fuzz("planted:tanh");
    expect(&output, 1, "twin by the law `", "");
    expect(&output, 1, "in the twin: at most ", "");
    expect(
        &output,
        1,
        "repeat: etalon fuzz --backend planted:tanh --ops tanh --types f32 --metamorphic --seed ",
        "",
    );
    let names = std::fs::read_dir(folder.0.join("found")).unwrap();
    let names: Vec<_> = names.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.ends_with("-twin.hlo")), "{names:?}");
    // Both are modules with arguments.
    expect(&folder.etalon("conform --backend exact found"), 0, "agree", "");
}
