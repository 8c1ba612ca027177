//! Compiles the C files of CORE-MATH: for every processor of the target and, on x86-64, for those with fused multiply-add.
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What x86-64-v3 has, by options that older compilers know too. Functions of one element gain nothing from
/// loops over 256 bits, at whose end GCC may leave out `vzeroupper`: SSE instructions are slow from then on.
const FMA: [&str; 9] = [
    "-mavx2",
    "-mfma",
    "-mbmi",
    "-mbmi2",
    "-mlzcnt",
    "-mf16c",
    "-mmovbe",
    "-mpopcnt",
    "-mprefer-vector-width=128",
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=c");
    let files = c_files(Path::new("c"))?;
    compile(&files, "", &[]);
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") {
        compile(&files, "_fma", &FMA);
    }
    Ok(())
}

/// Compiles the functions; `cr_exp` becomes `etalon_cr_exp` and this ending, so that other libraries with CORE-MATH can be linked too.
fn compile(files: &[PathBuf], ending: &str, flags: &[&str]) {
    let mut build = cc::Build::new();
    build.files(files).flags(flags).warnings(false).cargo_warnings(false);
    for name in files.iter().filter_map(|file| file.file_stem()?.to_str()) {
        build.define(&format!("cr_{name}"), &*format!("etalon_cr_{name}{ending}"));
    }
    build.compile(&format!("etalon_core_math{ending}"));
}

/// Returns the C files in a folder and the folders in it, in order.
fn c_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(c_files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "c") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
