//! `etalon suite export`: the folder, its manifest, and folders of something else.
use crate::support::{Folder, expect};

#[test]
fn the_suite_is_written_to_a_new_folder_only() {
    let folder = Folder::new("suite");
    let export = |rest: &str| folder.etalon(&format!("suite export out --case {rest}"));
    expect(&export("sort/s32/*"), 0, "cases\nout/manifest.json\n", "");
    let manifest = std::fs::read_to_string(folder.0.join("out/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["format"], 1);
    assert!(manifest["etalon"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")));
    let case = &manifest["cases"][0];
    assert_eq!((&case["op"], &case["type"]), (&"sort".into(), &"s32".into()));
    for file in case["files"].as_object().unwrap().values() {
        let path = format!("out/cases/{}/{}", case["id"].as_str().unwrap(), file.as_str().unwrap());
        assert!(folder.0.join(&path).exists(), "{path}");
    }
    expect(&export("sort/s32/*"), 2, "", "out: directory not empty");
    expect(&export("no-such-op/*"), 2, "", "no case of the suite matches `no-such-op/*`");
    // Modes change what is legal: `strict` has one way.
    expect(&folder.etalon("suite export strict --case dot/f32/* --strict"), 0, "manifest.json", "");
    let strict = std::fs::read_to_string(folder.0.join("strict/manifest.json")).unwrap();
    assert!(strict.contains("summation_order") && !strict.contains("excess_precision"));
    folder.write("file", "");
    expect(&folder.etalon("suite export file"), 2, "", "error[E0601]: file");
}
