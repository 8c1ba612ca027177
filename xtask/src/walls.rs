//! Checks beside the tests: features that the workspace does not combine, fuzz targets, the minimum Rust version, dependencies,
//! packages. Each is skipped, with a line that says so, where what it needs is not installed.
use crate::{Result, cargo, cargo_command, files, output_of, read, write};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Lints of each set of features that `--workspace`, which unites them, does not see.
const FEATURES: [&[&str]; 3] = [
    &["-p", "etalon-hlo", "-p", "etalon-interp", "-p", "etalon-collectives"],
    &[
        "-p",
        "etalon-cli",
        "-p",
        "etalon-pjrt-plugin",
        "-p",
        "etalon-python",
        "--no-default-features",
    ],
    &["-p", "etalon-interp", "--features", "faer,jit,serde"],
];

/// Lints the libraries with the features that they have by default.
pub(crate) fn features(root: &Path) -> Result {
    lint(root, FEATURES[0])
}

/// Lints the packages with every set of features.
pub(crate) fn all_features(root: &Path) -> Result {
    FEATURES.iter().try_for_each(|packages| lint(root, packages))
}

fn lint(root: &Path, packages: &[&str]) -> Result {
    let lints: &[&str] = &["--all-targets", "--", "-D", "warnings"];
    cargo(root, &[&["clippy"], packages, lints].concat(), &[])
}

/// Checks that the fuzz targets compile; the library that they link is not built.
pub(crate) fn fuzz(root: &Path) -> Result {
    let arguments = ["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"];
    cargo(root, &arguments, &[("CUSTOM_LIBFUZZER_PATH", "/dev/null")])
}

/// Returns the minimum Rust version that the workspace states, if its toolchain is installed; else what is missing.
pub(crate) fn minimum_rust(root: &Path) -> Result<std::result::Result<String, String>> {
    let manifest = read(&root.join("Cargo.toml"))?;
    let stated = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = stated.ok_or("Cargo.toml states no rust-version")?.trim_matches('"').to_owned();
    let mut probe = Command::new("rustup");
    probe.args(["run", &version, "cargo", "--version"]);
    Ok(match succeeds(&mut probe) {
        true => Ok(version),
        false => Err(format!("`rustup toolchain install {version} --profile minimal` installs it")),
    })
}

/// Compiles the workspace with the minimum Rust version.
pub(crate) fn check_minimum_rust(root: &Path, version: &str) -> Result {
    let mut command = Command::new("rustup");
    command.args(["run", version, "cargo", "check", "--quiet", "--workspace"]);
    command.args(["--target-dir", "target/minimum-rust"]).current_dir(root);
    let status = command.status().map_err(|e| format!("rustup: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo check with Rust {version}: {status}"))
    }
}

/// Returns what is missing for [`deny`].
pub(crate) fn missing_deny(root: &Path) -> Option<&'static str> {
    let is_there = succeeds(&mut cargo_command(root, &["deny", "--version"]));
    (!is_there).then_some("`cargo install --locked cargo-deny` installs it")
}

/// Checks licenses, sources and versions of all dependencies against `deny.toml`, and advisories where their list can be had.
pub(crate) fn deny(root: &Path) -> Result {
    cargo(root, &["deny", "--all-features", "check", "licenses", "bans", "sources"], &[])?;
    match succeeds(&mut cargo_command(root, &["deny", "--all-features", "fetch", "db"])) {
        true => cargo(root, &["deny", "--all-features", "check", "advisories"], &[]),
        false => {
            println!("   advisories skipped: their list cannot be fetched");
            Ok(())
        }
    }
}

/// The folders of the crates that are published, and that of the Python package.
const PUBLISHED: &[&str] = &[
    "hlo",
    "interp",
    "interp/num",
    "interp/spec",
    "interp/kernels",
    "interp/core-math",
    "collectives",
    "builder",
    "builder/compat",
    "bindings/pjrt",
    "conformance",
    "conformance/field",
    "stablehlo",
    "etalon/load",
    "etalon/graph",
    "etalon",
    "cli",
    "bindings/python",
];
const UNPUBLISHED: [&str; 3] = ["xtask", "etalon-python", "etalon-pjrt-plugin"];
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Packs every crate that is published, and compiles the packages in a workspace of their own, with no file of the repository but
/// the versions and profiles of dependencies, so that those are not compiled again.
pub(crate) fn package(root: &Path) -> Result {
    for (folder, name) in PUBLISHED.iter().flat_map(|folder| LICENSES.map(|name| (folder, name))) {
        let copy = root.join(folder).join(name);
        if read(&copy)? != read(&root.join(name))? {
            return Err(format!("{} is not the text of {name}", copy.display()));
        }
    }
    let packages = root.join("target/package");
    if packages.exists() {
        std::fs::remove_dir_all(&packages).map_err(|e| format!("{}: {e}", packages.display()))?;
    }
    // Examples of the repository are in no package, of which cargo warns.
    let pack = ["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"];
    let others = UNPUBLISHED.map(|name| ["--exclude", name]).concat();
    cargo(root, &[&pack[..], &others, &["--target-dir=target"]].concat(), &[])?;
    let files = files(&packages, "crate");
    let files = files.iter().filter(|file| file.parent() == Some(&packages));
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"etalon*\"]\n\n[patch.crates-io]\n".to_owned();
    for file in files {
        output_of(Command::new("tar").arg("-xzf").arg(file).current_dir(&packages))?;
        let unpacked = file.file_stem().unwrap_or_default().to_string_lossy();
        let (name, _) = unpacked.rsplit_once('-').ok_or("a package has no version")?;
        for license in LICENSES {
            read(&packages.join(&*unpacked).join(license))?;
        }
        let _ = writeln!(manifest, "{name} = {{ path = \"{unpacked}\" }}");
    }
    let own = read(&root.join("Cargo.toml"))?;
    let profiles = own.find("[profile.").map_or("", |at| &own[at..]);
    write(&packages.join("Cargo.toml"), &format!("{manifest}\n{profiles}"))?;
    write(&packages.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
    let check = ["check", "--workspace", "--quiet", "--manifest-path=target/package/Cargo.toml"];
    cargo(root, &[&check[..], &["--target-dir=target"]].concat(), &[])
}

fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
