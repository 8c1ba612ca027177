//! The parameters of a module, and the names under which files and options may give their arrays.
use crate::error::{Code, Failure};
use conformance::arrays::Name;
use hlo::ir::{Computation, Instruction};
use hlo::{Module, Shape};
use std::collections::BTreeMap;
use std::ops::Range;

/// The parameters of the entry computation.
pub(crate) struct Parameters<'a> {
    pub(crate) shapes: Vec<&'a Shape>,
    /// The names, in parameter order.
    pub(crate) names: Vec<&'a str>,
    /// The number of bytes of each array.
    bytes: Vec<usize>,
    /// Whether each array has a dynamic dimension.
    is_dynamic: Vec<bool>,
    /// The parameter of each name; `None` if several have it.
    by_name: BTreeMap<&'a str, Option<usize>>,
    /// The numbers of the arrays of each parameter.
    arrays: Vec<Range<usize>>,
}

impl<'a> Parameters<'a> {
    pub(crate) fn of(module: &'a Module) -> Self {
        Self::of_computation(module.entry())
    }
    pub(crate) fn of_computation(entry: &'a Computation) -> Self {
        let ids = entry.parameters();
        let names: Vec<&str> = ids.iter().map(|&id| entry.name(id).as_str()).collect();
        let shapes = entry.program_shape().parameters;
        let (mut bytes, mut arrays, mut is_dynamic) = (Vec::new(), Vec::new(), Vec::new());
        for shape in &shapes {
            let first = bytes.len();
            for array in shape.leaves().into_iter().filter_map(Shape::array) {
                bytes.push(array.byte_count().unwrap_or(usize::MAX));
                is_dynamic.push(array.dynamic.is_some());
            }
            arrays.push(first..bytes.len());
        }
        let mut by_name = BTreeMap::new();
        // A name of the text comes before one of the program that it was compiled from, and that before a part of a name.
        let of_program = ids.iter().map(|&id| op_name(&entry.instructions[id]));
        let kinds: [Vec<Option<&str>>; 3] = [
            names.iter().map(|name| Some(*name)).collect(),
            of_program.collect(),
            names.iter().map(|name| without_number(name)).collect(),
        ];
        for kind in kinds {
            let mut found = BTreeMap::new();
            for (i, name) in kind.into_iter().enumerate().filter_map(|(i, name)| Some((i, name?))) {
                found.entry(name).and_modify(|other| *other = None).or_insert(Some(i));
            }
            for (name, parameter) in found {
                by_name.entry(name).or_insert(parameter);
            }
        }
        Self { shapes, names, bytes, is_dynamic, by_name, arrays }
    }

    /// Returns the number of arrays.
    pub(crate) fn array_count(&self) -> usize {
        self.bytes.len()
    }
    /// Returns the least number of bytes of an array: a dynamic dimension may be smaller than its bound.
    pub(crate) fn least_bytes(&self, array: usize) -> usize {
        if self.is_dynamic[array] { 0 } else { self.bytes[array] }
    }
    /// Returns the number of bytes of an array.
    pub(crate) fn bytes(&self, array: usize) -> Option<usize> {
        self.bytes.get(array).copied()
    }
    /// Returns the numbers of the arrays of a parameter.
    pub(crate) fn arrays_of(&self, parameter: usize) -> Range<usize> {
        self.arrays[parameter].clone()
    }
    /// Returns the number of the parameter of a name, or of its number in digits.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let name = name.strip_prefix('%').unwrap_or(name);
        let number = || name.parse().ok().filter(|&n: &usize| n < self.names.len());
        self.by_name.get(name).copied().flatten().or_else(number)
    }
    /// Returns the shape of a parameter of a name.
    pub(crate) fn shape(&self, name: &str) -> Option<&'a Shape> {
        Some(self.shapes[self.find(name)?])
    }

    /// Returns the array that a name stands for: `in3`, `d2_in3`; a name of a parameter, `NAME.0` for an array of a tuple,
    /// both also after `d2_`; or numpy's `arr_3`.
    pub(crate) fn place(&self, name: &str) -> Option<Name<'static>> {
        let numbered = |name: &str| {
            let Name { device, kind, number } = Name::parse(name)?;
            let kind = ["in", "global_in"].into_iter().find(|known| *known == kind)?;
            Some(Name { device, kind, number })
        };
        let named = |name: &str| Some((None, self.named(name)?));
        let of_device = || {
            let (device, rest) = name.strip_prefix('d')?.split_once('_')?;
            Some((Some(device.parse().ok()?), self.named(rest)?))
        };
        let of_numpy = || Some((None, name.strip_prefix("arr_")?.parse().ok()?));
        numbered(name).or_else(|| {
            let (device, number) = named(name).or_else(of_device).or_else(of_numpy)?;
            Some(Name { device, kind: "in", number })
        })
    }
    /// Returns the number of the array of a parameter's name.
    fn named(&self, name: &str) -> Option<usize> {
        let name = name.strip_prefix('%').unwrap_or(name);
        if let Some(&parameter) = self.by_name.get(name) {
            let arrays = self.arrays[parameter?].clone();
            return (arrays.len() == 1).then_some(arrays.start);
        }
        let (name, leaf) = name.rsplit_once('.')?;
        let arrays = self.arrays[(*self.by_name.get(name)?)?].clone();
        let leaf: usize = leaf.parse().ok()?;
        (leaf < arrays.len()).then_some(arrays.start + leaf)
    }
    /// Returns the arrays of a parameter of a name, or of its number in digits.
    pub(crate) fn arrays(&self, name: &str) -> Option<Range<usize>> {
        Some(self.arrays[self.find(name)?].clone())
    }

    /// Returns the error for a name that no parameter has.
    pub(crate) fn unknown(&self, name: &str) -> Failure {
        let count = self.shapes.len();
        if let Ok(number) = name.parse() {
            return Failure::new(&Code::NoSuchParameter { number, count }, None);
        }
        let near = hlo::diag::nearest(name, self.names.iter().copied());
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the module takes {}", self.list()),
        };
        Failure::new(&Code::NoSuchName { name: name.to_owned() }, Some(help))
    }
    /// Returns the names and shapes of the parameters.
    pub(crate) fn list(&self) -> String {
        const SHOWN: usize = 8;
        let named = self.names.iter().zip(&self.shapes);
        let mut text: Vec<String> =
            named.take(SHOWN).map(|(name, shape)| format!("{name}: {shape:#}")).collect();
        match self.names.len() {
            0 => return "no arguments".to_owned(),
            n if n > SHOWN => text.push(format!("... ({n} in all)")),
            _ => {}
        }
        text.join(", ")
    }
}

/// Returns the name of the program that a parameter was compiled from.
fn op_name(instruction: &Instruction) -> Option<&str> {
    let name = instruction.metadata()?.op_name.as_str();
    (!name.is_empty()).then_some(name)
}

/// Returns `x` of `x.12`.
fn without_number(name: &str) -> Option<&str> {
    let (name, number) = name.rsplit_once('.')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Option<(Option<usize>, usize)> {
        let text =
            "HloModule m\nENTRY e { w.1 = f32[2] parameter(1), metadata={op_name=\"params['w']\"}
            x = (f32[], s32[]) parameter(0) y.2 = f32[] parameter(2) y.3 = f32[] parameter(3)
            in0 = f32[] parameter(4) ROOT t = f32[] add(y.2, y.3) }";
        let module = Module::parse(text).unwrap();
        Parameters::of(&module).place(name).map(|name| (name.device, name.number))
    }

    #[test]
    fn names_are_those_of_the_text_and_of_the_program() {
        for (name, expected) in [
            ("in3", Some((None, 3))),
            ("d2_in3", Some((Some(2), 3))),
            ("w.1", Some((None, 2))),
            ("%w.1", Some((None, 2))),
            ("w", Some((None, 2))),
            ("params['w']", Some((None, 2))),
            ("d1_w", Some((Some(1), 2))),
            ("arr_4", Some((None, 4))),
            ("x.1", Some((None, 1))),
            // A tuple is no array, and two parameters begin with `y`.
            ("x", None),
            ("y", None),
            ("x.2", None),
            ("z", None),
            // The number comes before the name.
            ("in0", Some((None, 0))),
        ] {
            assert_eq!(place(name), expected, "{name}");
        }
    }
}
