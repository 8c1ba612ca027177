//! Modules and their twins: `fuzz`, `conform` and `reduce` with `--metamorphic`, and campaigns.
use crate::support::{Folder, expect};

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.0.join(name)).unwrap()
}

#[test]
fn a_pair_is_found_compared_again_and_reduced() {
    let folder = Folder::new("twins-reduced");
    let found = folder.etalon(
        "fuzz --metamorphic --backend planted:tanh --ops tanh --types f32 --count 12 -o found",
    );
    let text = String::from_utf8(found.stdout).unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("reduce: etalon ")).unwrap();
    let (_, rest) = line.split_once("--metamorphic=").unwrap();
    let (rule, file) = rest.split_once(' ').unwrap();
    let reduced = folder.etalon(&format!("{line} -o small.hlo"));
    expect(&reduced, 0, "instructions became", "small.twin.hlo: twin by the law `");
    let small = read(&folder, "small.hlo");
    assert!(small.contains(" tanh("), "{small}");
    assert!(read(&folder, "small.twin.hlo").contains(" tanh("));
    // The twin of the user's folder stays.
    let again = folder.etalon(&format!("{line} -o small.hlo"));
    expect(&again, 0, "became", "small.twin.hlo: exists; not written");

    let conform = |backend: &str, rule: &str, file: &str| {
        folder.etalon(&format!("conform --backend {backend} --metamorphic{rule} {file}"))
    };
    expect(&conform("planted:tanh", &format!("={rule}"), file), 1, "in the twin: at most ", "");
    expect(&conform("exact", &format!("={rule}"), file), 0, "", "");
    expect(&conform("exact", "", file), 0, "", "");
    let none = folder.etalon("reduce --backend exact --metamorphic=sorted:3 small.hlo -o b.hlo");
    expect(&none, 2, "", "the law `sorted:3` holds for no instruction of the module");
    let none = folder.etalon("reduce --backend exact --metamorphic=kept:3 small.hlo -o b.hlo");
    expect(&none, 2, "", "agree on these arguments");
    expect(&conform("exact", "=sorted:3", file), 0, "skipped: the law `sorted:3` holds for no", "");
    expect(&conform("exact", "=splitt:3", file), 2, "", "did you mean `split`?");
    expect(&conform("exact", "=split:x", file), 2, "", "`x` is not a seed");
}

#[test]
fn campaigns_compare_twins() {
    let folder = Folder::new("twins-campaign");
    let line = "--backend planted:tanh --suite probes --count 30 --twins 1 --seed 40";
    let run = |name: &str, rest: &str| folder.etalon(&format!("campaign {name} {line} {rest}"));
    expect(&run("one", ""), 1, "round 1: ", "");
    let log = read(&folder, "one/log.jsonl");
    assert!(
        log.contains("\"case\":\"twin/40/benign\"") && !log.contains("\"case\":\"fuzz/"),
        "{log}"
    );
    // The probes have shown the cause before.
    expect(&folder.etalon("campaign one --list"), 0, "different numbers: tanh.f32(_)", "");
    expect(&run("one", "--case twin/40/benign"), 0, "twin/40/benign: ", "");
    expect(&run("other", "--twins 2"), 2, "", "");
}
