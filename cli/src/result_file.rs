//! The file of `--output`, and the names of its arrays.
use crate::error::{Code, Failure, Result};
use crate::file::{self, Existing, Output, is_stdout};
use crate::inputs::safetensors;
use hlo::ir::{Computation, InstructionId};
use hlo::literal::npz;
use hlo::{Literal, Op, Shape};
use std::collections::BTreeSet;
use std::io::BufWriter;
use std::path::Path;

/// Fails if the file of `--output` has no format.
pub(crate) fn check_format(to: Option<&Path>) -> Result<()> {
    let Some(to) = to else { return Ok(()) };
    let is_known = ["npz", "npy", "safetensors"].iter().any(|known| has_extension(to, known));
    if !is_stdout(to) && !is_known {
        let (path, message) = (to.display().to_string(), "the format is not known".to_owned());
        let help = "the formats are .npz, .npy for a single array, .safetensors, and `-` for .npz to stdout";
        return Err(Failure::new(&load::Code::File { path, message }, Some(help.into())));
    }
    Ok(())
}

/// Returns the error of an option for the file of a single module.
pub(crate) fn single(option: &str) -> Failure {
    let message = "requires a single module".to_owned();
    Failure::new(&Code::Input { path: option.into(), message }, None)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Writes arrays to a file, or to stdout for `-`. A file is replaced when all is written.
pub(crate) fn write(to: &Path, named: Vec<(String, &Literal)>) -> Result<()> {
    let unfit = |message: String| {
        let code = load::Code::File { path: to.display().to_string(), message };
        Failure::new(&code, Some("use .npz".into()))
    };
    if has_extension(to, "safetensors") {
        return file::replace(to, &safetensors::bytes(&named).map_err(unfit)?);
    }
    let mut file = BufWriter::new(Output::create(to, Existing::Replace)?);
    let written = if has_extension(to, "npy") {
        let [(_, array)] = named.as_slice() else {
            return Err(unfit(format!("{} arrays do not fit in .npy", named.len())));
        };
        npz::write_array(&mut file, array)
    } else {
        npz::write(&mut file, named)
    };
    written.map_err(|e| Failure::file(to, &e))?;
    file.into_inner().map_err(|e| Failure::file(to, e.error()))?.finish()
}

/// Returns a name for each array of the result: that of the instruction which computes it, with the number of the array if that is
/// a tuple, or `out<i>` if another array has the name.
pub(crate) fn names(entry: &Computation) -> Vec<String> {
    let mut names = Vec::new();
    add_names(entry, entry.root, &mut names);
    let mut taken = BTreeSet::new();
    let unique = |(i, name): (usize, String)| match taken.insert(name.clone()) {
        true => name,
        false => format!("out{i}"),
    };
    names.into_iter().enumerate().map(unique).collect()
}

fn add_names(entry: &Computation, id: InstructionId, names: &mut Vec<String>) {
    let instruction = &entry.instructions[id];
    if let Op::Tuple(_) = &instruction.op {
        for &operand in &instruction.operands {
            add_names(entry, operand, names);
        }
        return;
    }
    let name = entry.name(id);
    match instruction.shape {
        Shape::Array(_) => names.push(name.to_string()),
        Shape::Tuple(_) => {
            let leaves = instruction.shape.leaves();
            let arrays = leaves.iter().filter(|leaf| leaf.array().is_some());
            names.extend(arrays.enumerate().map(|(i, _)| format!("{name}.{i}")));
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_names_of_their_instructions() {
        let of = |text: &str| {
            names(
                hlo::Module::parse(&format!("HloModule m\nENTRY e {{ {text} }}")).unwrap().entry(),
            )
        };
        let two = "a = f32[] parameter(0) b = (s8[], token[], s8[]) parameter(1)";
        let tuple = "t = (f32[], (s8[], token[], s8[]), f32[]) tuple(a, b, a)";
        assert_eq!(of(&format!("{two} ROOT {tuple}")), ["a", "b.0", "b.1", "out3"]);
        assert_eq!(of("ROOT loss.1 = f32[] constant(1)"), ["loss.1"]);
    }
}
