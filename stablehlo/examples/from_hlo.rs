//! Converts HLO to StableHLO text: `from_hlo [--expand] [--generic] IN... OUT_DIRECTORY`. The cases
//! of a file test become several files; what cannot be converted is listed.
#![allow(clippy::print_stdout, reason = "a command")]
use stablehlo::{Chlo, ExportOptions, TextStyle};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut options, mut style, mut paths) =
        (ExportOptions::default(), TextStyle::Pretty, Vec::new());
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--expand" => options.chlo = Chlo::Expand,
            "--generic" => style = TextStyle::Generic,
            _ => paths.push(argument),
        }
    }
    let out = paths.pop().ok_or("usage: from_hlo [--expand] [--generic] IN... OUT_DIRECTORY")?;
    let out = Path::new(&out);
    std::fs::create_dir_all(out)?;
    for path in &paths {
        let path = Path::new(path);
        let bytes = std::fs::read(path)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if hlo::proto::is_message(&bytes) {
            one(
                hlo::proto::open(&bytes)?.module,
                &out.join(format!("{stem}.mlir")),
                options,
                style,
            );
            continue;
        }
        let text = String::from_utf8(bytes)?;
        for (i, case) in text.split("\n// -----").enumerate() {
            if let Ok(module) = hlo::Module::parse(case) {
                let name = format!("{stem}.{i}.{}.mlir", module.name);
                one(module, &out.join(name), options, style);
            }
        }
    }
    Ok(())
}

fn one(module: hlo::Module, out: &Path, options: ExportOptions, style: TextStyle) {
    let Ok(module) = module.verify() else { return };
    match stablehlo::from_hlo(&module, &options) {
        Ok(program) => {
            if let Err(error) = std::fs::write(out, program.to_text(style)) {
                println!("{}: {error}", out.display());
            }
        }
        Err(error) => println!("{}: {error}", out.display()),
    }
}
