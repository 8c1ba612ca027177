//! `etalon diff`: compares two files of arrays.
use super::{load, verified_for};
use crate::args::{DiffArgs, LoadArgs};
use crate::error::{Code, Exit, Failure, Result};
use crate::inputs::read_any;
use crate::limits::Limits;
use crate::{output, result_file};
use conformance::arrays::Name;
use conformance::{Comparison, Tolerance, compare};
use hlo::literal::npz::NpyArray;
use hlo::{ArrayShape, ElementType, Literal, Shape, Verified};
use load::Loaded;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// The arrays of a module's result.
struct Results {
    module: Verified,
    names: Vec<String>,
    tolerance: Tolerance,
}

impl Results {
    fn load(args: &DiffArgs) -> Result<Option<Self>> {
        let Some(path) = &args.module else { return Ok(None) };
        let Loaded { file, module, .. } = load(path, &LoadArgs::of(args.lenient))?;
        let module = verified_for(&args.devices, module, file.source(), &Limits::none())?;
        let names = result_file::names(module.module().entry());
        let tolerance = Tolerance::of(module.module());
        Ok(Some(Self { module, names, tolerance }))
    }
    fn shapes(&self) -> Vec<&ArrayShape> {
        let leaves = self.module.module().entry().result_shape().leaves();
        leaves.into_iter().filter_map(Shape::array).collect()
    }
    /// Returns the number of the array of a name: `out3`, `d2_out3`, or the name of an instruction.
    fn number(&self, name: &str) -> Option<usize> {
        let of_name = |name: &str| self.names.iter().position(|known| known == name);
        let of_device = || of_name(name.strip_prefix('d')?.split_once('_')?.1);
        let numbered = Name::parse(name).filter(|name| name.kind == "out");
        let number = numbered.map(|name| name.number).or_else(|| of_name(name)).or_else(of_device);
        number.filter(|&number| number < self.names.len())
    }
}

/// Compares the arrays of the same names. The exit code is 1 if some differ.
pub(crate) fn diff(args: &DiffArgs) -> Result<ExitCode> {
    let results = Results::load(args)?;
    let ((of_one, expected), (of_other, mut actual)) =
        (arrays(&args.expected)?, arrays(&args.actual)?);
    if expected.is_empty() {
        let (path, message) = (args.expected.display().to_string(), "it has no arrays".to_owned());
        return Err(Failure::new(&Code::Input { path, message }, None));
    }
    // The array of an .npy file has no name of its own.
    if of_one
        && of_other
        && let (Some(name), Some((_, array))) = (expected.keys().next(), actual.pop_first())
    {
        actual.insert(name.clone(), array);
    }
    let has_common = expected.keys().any(|name| actual.contains_key(name));
    let only_in = |path: &Path| Outcome::differs(format!("only in {}", path.display()));
    let mut outcomes: Vec<(&str, Outcome)> = Vec::new();
    for (name, expected) in &expected {
        let outcome = match actual.remove(name) {
            None => only_in(&args.expected),
            Some(actual) => one(args, results.as_ref(), name, (&actual, expected))?,
        };
        outcomes.push((name, outcome));
    }
    outcomes.extend(actual.keys().map(|name| (name.as_str(), only_in(&args.actual))));
    let (wrong, total) = (outcomes.iter().filter(|(_, one)| !one.agrees).count(), outcomes.len());
    let code = if wrong == 0 { ExitCode::SUCCESS } else { Exit::Wrong.code() };
    if args.json {
        let arrays: Vec<Value> = outcomes.iter().map(|(name, one)| one.json(name)).collect();
        let json = json!({ "agree": total - wrong, "differ": wrong, "arrays": arrays });
        return output::data(&format!("{json}\n")).map(|()| code);
    }
    let mut text = String::new();
    for (name, outcome) in &outcomes {
        let _ = writeln!(text, "{name}: {}", outcome.text);
    }
    let _ = match (wrong, total) {
        (0, 1) => writeln!(text, "1 array agrees"),
        (0, n) => writeln!(text, "{n} arrays agree"),
        (wrong, n) => writeln!(text, "{wrong} of {n} arrays differ"),
    };
    if !has_common && total > 0 {
        let help = "arrays are compared by name, and no name is in both files";
        let _ = writeln!(
            text,
            "  = help: {help}; `etalon run --names` writes the names of instructions"
        );
    }
    output::data(&text).map(|()| code)
}

/// What the comparison of two arrays has found.
struct Outcome {
    agrees: bool,
    text: String,
    /// The comparison of the elements, if the arrays have the same sizes and types.
    elements: Option<Comparison>,
}

impl Outcome {
    fn differs(text: String) -> Self {
        Self { agrees: false, text, elements: None }
    }
    fn json(&self, name: &str) -> Value {
        let mut json = json!({ "name": name, "agrees": self.agrees, "text": self.text });
        if let Some(Comparison { elements, wrong, max_ulps, worst, .. }) = &self.elements {
            json["elements"] = json!(elements);
            json["wrong"] = json!(wrong);
            json["max_ulps"] = json!(max_ulps);
            if let Some(worst) = worst {
                let show = |x| {
                    let text = Literal::scalar(worst.ty, x).to_string();
                    text.split_once(' ').map_or(text.clone(), |(_, number)| number.to_owned())
                };
                let (found, expected) = (show(worst.actual), show(worst.expected));
                json["worst"] =
                    json!({ "index": &*worst.index, "found": found, "expected": expected });
            }
        }
        json
    }
}

/// Reads the arrays of a file by name.
fn arrays(path: &Path) -> Result<(bool, BTreeMap<String, NpyArray>)> {
    let (is_single, arrays) = read_any(path)?;
    Ok((is_single, arrays.into_iter().map(|array| (array.name.clone(), array)).collect()))
}

/// Compares two arrays.
fn one(
    args: &DiffArgs,
    results: Option<&Results>,
    name: &str,
    (actual, expected): (&NpyArray, &NpyArray),
) -> Result<Outcome> {
    if actual.dims != expected.dims {
        let [found, expected] = [actual, expected].map(|array| array.dims.as_slice().to_vec());
        let text = format!("found sizes {found:?}, expected {expected:?}");
        return Ok(Outcome::differs(text));
    }
    let number = results.and_then(|results| results.number(name));
    let shape = match results {
        Some(results) => {
            let number = number.ok_or_else(|| {
                let known = results.names.iter().enumerate();
                let known: Vec<String> =
                    known.map(|(i, name)| format!("`out{i}` or `{name}`")).take(8).collect();
                let help = format!("the module has {}", known.join(", "));
                let path = args.expected.display().to_string();
                let message = format!("array `{name}` is not a result of the module");
                Failure::new(&Code::Input { path, message }, Some(help))
            })?;
            results.shapes()[number].clone()
        }
        None => match common_type(actual, expected) {
            Ok(ty) => ArrayShape::new(ty, expected.dims.clone()),
            Err(line) => return Ok(Outcome::differs(line)),
        },
    };
    let literal = |array: &NpyArray, path: &Path| -> Result<Literal> {
        array.to_literal(&shape).map_err(|e| {
            let (path, message) = (path.display().to_string(), e.to_string());
            let help = args.module.as_deref().map(|module| {
                format!("{} states this shape: are these results of it?", module.display())
            });
            Failure::new(&Code::Input { path, message }, help)
        })
    };
    let (actual, expected) = (literal(actual, &args.actual)?, literal(expected, &args.expected)?);
    let tolerance = match (results, number) {
        _ if args.rtol.is_some() || args.atol.is_some() || args.ulp.is_some() => {
            let [absolute, relative] = [args.atol, args.rtol].map(Option::unwrap_or_default);
            Tolerance::stated(absolute, relative, args.ulp.unwrap_or_default())
        }
        (Some(results), Some(number)) => results.tolerance.array(number),
        _ => Tolerance::EXACT,
    };
    let comparison = match compare(&actual, &expected, &tolerance) {
        Ok(comparison) => comparison,
        Err(mismatch) => return Ok(Outcome::differs(mismatch.to_string())),
    };
    let mut line = match (comparison.wrong, &comparison.worst) {
        (0, None) => format!("{shape:#} equal"),
        (0, Some(_)) => format!("{shape:#} agrees"),
        (_, _) if comparison.elements == 1 => format!("{shape:#} differs"),
        (wrong, _) => format!("{wrong} of {} elements of {shape:#} differ", comparison.elements),
    };
    if let Some(worst) = comparison.worst.as_ref().filter(|_| comparison.wrong > 0) {
        let show = |x| Literal::scalar(worst.ty, x).to_string();
        let (found, expected) = (show(worst.actual), show(worst.expected));
        let at = match worst.index.as_slice() {
            [] => String::new(),
            index => format!("at {index:?}: "),
        };
        let _ = write!(line, "; {at}found {found}, expected {expected}");
    }
    if let Some(sizes) = comparison.sizes().filter(|_| comparison.worst.is_some()) {
        let _ = write!(line, "; {sizes}");
    }
    Ok(Outcome { agrees: comparison.agrees(), text: line, elements: Some(comparison) })
}

/// Returns the element type of both arrays; raw bytes are compared as unsigned integers.
fn common_type(actual: &NpyArray, expected: &NpyArray) -> std::result::Result<ElementType, String> {
    let of = |array: &NpyArray| {
        let raw = [ElementType::U8, ElementType::U16, ElementType::U32, ElementType::U64];
        let raw = raw.into_iter().find(|ty| ty.storage_bytes() == array.item_bytes);
        array.natural_type().or(raw.filter(|_| array.kind == 'V'))
    };
    match (of(actual), of(expected)) {
        (Some(found), Some(expected)) if found == expected => Ok(found),
        (Some(found), Some(expected)) => {
            Err(format!("found type {found}, expected {expected}; --module states the types"))
        }
        _ => Err("its type is not known; --module states the types".to_owned()),
    }
}
