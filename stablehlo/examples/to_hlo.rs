//! Converts StableHLO programs to HLO text: `to_hlo IN OUT`, or `to_hlo DIRECTORY DIRECTORY` for
//! all files below one.
//!
//! | option | |
//! |---|---|
//! | `--values` | `main` returns the values that the `check` ops of StableHLO's own tests compare |
//! | `--expected` | `main` returns the values that they compare with |
//! | `--size N` | unknown sizes of arguments, and integers among them, are N |
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]
use hlo::{ArrayShape, Literal, Scalar};
use stablehlo::ir::{Attribute, Dim, Op, Program, Type, Value, ValueId};
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Default)]
struct Options {
    /// Which operand of a check the module returns.
    checks: Option<usize>,
    size: Option<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options::default();
    let mut paths = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--values" => options.checks = Some(0),
            "--expected" => options.checks = Some(1),
            "--size" => {
                options.size = Some(arguments.next().ok_or("--size needs a number")?.parse()?);
            }
            _ => paths.push(argument),
        }
    }
    let [from, to] = paths.as_slice() else {
        return Err("usage: to_hlo [--values | --expected] [--size N] IN OUT".into());
    };
    let (from, to) = (Path::new(from), Path::new(to));
    let mut failed = 0;
    for path in files(from)? {
        let relative = path.strip_prefix(from)?;
        let out = match relative.as_os_str().is_empty() {
            true => to.to_owned(),
            false => to.join(relative).with_extension("hlo"),
        };
        if let Some(folder) = out.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if let Err(error) = convert(&path, &out, options) {
            failed += 1;
            println!("{}: {error}", path.display());
        }
    }
    if failed > 0 { Err(format!("{failed} programs failed").into()) } else { Ok(()) }
}

fn files(from: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if from.is_file() {
        return Ok(vec![from.to_owned()]);
    }
    let mut all = Vec::new();
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let is_program = path.extension().is_some_and(|ext| ext == "mlir" || ext == "mlirbc");
        if path.is_dir() {
            all.extend(files(&path)?);
        } else if is_program {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}

/// Converts one file; a file of several programs, between lines `// -----`, becomes several files.
fn convert(path: &Path, out: &Path, options: Options) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let parts: Vec<&[u8]> = match text.contains("\n// -----") {
        true => text.split("\n// -----").map(str::as_bytes).collect(),
        false => vec![&bytes],
    };
    let mut errors = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let out = match i {
            0 => out.to_owned(),
            _ => out.with_extension(format!("{i}.hlo")),
        };
        if let Err(error) = one(part, &out, options) {
            errors.push(format!("[{i}] {error}"));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n    ").into()) }
}

fn one(bytes: &[u8], out: &Path, options: Options) -> Result<(), Box<dyn Error>> {
    let source =
        hlo::diag::Source { name: "program", text: std::str::from_utf8(bytes).unwrap_or("") };
    let show = |error: stablehlo::Error| {
        let source = Some(source).filter(|source| !source.text.is_empty());
        hlo::diag::render(&error.diagnostic(), source, false)
    };
    let mut program = stablehlo::read(bytes).map_err(show)?;
    if let Some(which) = options.checks {
        return_checks(&mut program, which);
    }
    let module = match options.size {
        Some(size) => {
            let values = arguments(&program, size)?.into_iter();
            let known: Vec<_> = values.map(stablehlo::convert::Argument::Value).collect();
            stablehlo::convert::module_for(&program, &known)
        }
        None => stablehlo::convert::module(&program),
    };
    let module = module.map_err(show)?;
    let text = module.print(hlo::text::Style::Full);
    std::fs::write(out, text)?;
    module.verify().map_err(|errors| format!("the module is not valid: {errors}"))?;
    Ok(())
}

/// Returns arguments of the entry: zeros, but integers without dimensions are `size`, as are
/// unknown sizes.
fn arguments(program: &Program, size: u64) -> Result<Vec<Literal>, Box<dyn Error>> {
    let Some(at) = entry(program) else { return Ok(Vec::new()) };
    let one = |value: &Value| {
        let Type::Tensor(tensor) = &value.ty else { return Err("an argument is no array".into()) };
        let ty = tensor.element.clone().map_err(|name| format!("HLO has no {name}"))?;
        let known = |dim: &Dim| match dim {
            Dim::Static(known) | Dim::Dynamic(Some(known)) => i64::try_from(*known),
            Dim::Dynamic(None) => i64::try_from(size),
        };
        let dims = tensor.dims.iter().map(known).collect::<Result<Vec<i64>, _>>()?;
        Ok(match dims.is_empty() && ty.is_integral() {
            true => Literal::scalar(ty, Scalar::Signed(i64::try_from(size)?)),
            false => Literal::zeros(ArrayShape::new(ty, dims)),
        })
    };
    program.ops[at].regions[0].arguments.iter().map(one).collect()
}

/// Returns the function that runs.
fn entry(program: &Program) -> Option<usize> {
    let is_main = |op: &Op| matches!(op.attributes.get("sym_name"), Some(Attribute::String(name)) if name == b"main");
    let main = program.ops.iter().position(is_main);
    main.or_else(|| program.ops.iter().position(|op| op.name == "func.func"))
}

/// Makes the entry return one operand of each of its checks.
fn return_checks(program: &mut Program, which: usize) {
    let Some(at) = entry(program) else { return };
    let mut next = program.values;
    let [body] = program.ops[at].regions.as_mut_slice() else { return };
    let (mut returned, mut ops) = (Vec::new(), Vec::new());
    for mut op in std::mem::take(&mut body.ops) {
        let target = match op.attributes.get("call_target_name") {
            Some(Attribute::String(name)) => String::from_utf8_lossy(name).into_owned(),
            _ => op.name.to_string(),
        };
        if !target.starts_with("check.") {
            if op.name == "func.return" {
                op.operands = returned.as_slice().into();
            }
            ops.push(op);
            continue;
        }
        if let ([_], Some(Attribute::Dense(value))) =
            (op.operands.as_slice(), op.attributes.get("value").cloned())
        {
            let (id, ty) = (ValueId(next), Type::Tensor(value.ty.clone()));
            next += 1;
            let mut constant = op.clone();
            constant.name = "stablehlo.constant".into();
            constant.operands.clear();
            constant.results = [Value { id, ty }].into();
            ops.push(constant);
            op.operands.push(id);
        }
        returned.extend(op.operands.get(which).copied());
    }
    body.ops = ops;
    program.values = next;
}
