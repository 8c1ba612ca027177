//! Programs by hand that are the same function in another order of computation, such as attention in
//! blocks, and near misses of them.
use super::{as_a_whole, parsed};
use field::{Answer, Options, equal};
use hlo::Verified;
use std::path::{Path, PathBuf};

fn read(folder: &Path, name: &str) -> Verified {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    parsed(&text)
}

#[test]
fn each_identity_holds_and_its_near_miss_does_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/equal");
    let mut all: Vec<PathBuf> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|folder| !folder.ends_with("rules"));
    all.sort();
    assert!(all.len() >= 12);
    for folder in all {
        let options = Options { seeds: 4, ..as_a_whole() };
        let one = read(&folder, "one.hlo");
        let answer = equal(&one, &read(&folder, "other.hlo"), &options).unwrap();
        let Answer::Equal(evidence) = answer else { panic!("{}: {answer:?}", folder.display()) };
        assert!(evidence.probability() < 1e-9, "{}", folder.display());
        let answer = equal(&one, &read(&folder, "near_miss.hlo"), &options).unwrap();
        let Answer::Different(found) = answer else { panic!("{}: {answer:?}", folder.display()) };
        // The real arguments of the draw show it.
        assert_eq!(found.arguments.len(), one.module().entry().parameters().len());
        assert!((found.values[0] - found.values[1]).abs() > 0.0, "{}", folder.display());
    }
}
