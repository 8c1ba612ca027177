//! Programs that check their own values, as the tests of StableHLO, Shardy and IREE do.
//!
//! Their ops of `check` and `interpreter` become custom calls of the same names, for which the
//! caller has functions: [`attributes`] reads the configuration of such a call.
mod grid;

pub use grid::{Grid, GridFunction};

use crate::error::Result;
use crate::ir::{Attribute, Attributes, Location, LocationId, Op, Program, Region};
use hlo::Module;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// A program whose functions can each be run.
///
/// ```
/// let text = "func.func @doubles() {
///   %x = stablehlo.constant dense<2.0> : tensor<f32>
///   %y = stablehlo.add %x, %x : tensor<f32>
///   check.expect_eq_const %y, dense<4.0> : tensor<f32>
///   return
/// }";
/// let program = stablehlo::testing::TestProgram::read(text.as_bytes(), "doubles.mlir")?;
/// assert!(program.has_checks());
/// let [function] = program.functions().try_into().unwrap();
/// assert!(function.is_test());
/// let module = program.module(&function.name)?;
/// assert!(module.to_string().contains("custom_call_target=\"check.expect_eq_const\""));
/// # Ok::<(), stablehlo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TestProgram(Program);

/// A function of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFunction {
    /// Its name.
    pub name: String,
    /// The number of its arguments.
    pub arguments: usize,
    /// Whether other functions name it: it is a part of a test.
    pub is_named: bool,
    /// Whether it has no body.
    pub is_declaration: bool,
}

impl TestFunction {
    /// Returns whether the function runs as a test.
    pub fn is_test(&self) -> bool {
        self.arguments == 0 && !self.is_named && !self.is_declaration
    }
}

impl TestProgram {
    /// Reads a program; `name` is that of its file. A function that uses what is not supported
    /// fails when it is converted.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self> {
        let mut program = crate::read_functions(bytes)?;
        let lines = std::str::from_utf8(bytes).map(Lines::of).unwrap_or_default();
        let mut places = Places { name: name.into(), lines, locations: &mut program.locations };
        program.ops.iter_mut().for_each(|op| places.locate(op));
        Ok(Self(program))
    }

    /// Returns the functions, in the order of the text.
    pub fn functions(&self) -> Vec<TestFunction> {
        let mut named = FxHashSet::default();
        each_op(&self.0.ops, &mut |op| {
            op.attributes.0.iter().for_each(|(_, value)| symbols(value, &mut named));
        });
        let functions = self.0.ops.iter().filter(|op| op.name == "func.func");
        let unread = |name: &str| self.0.unread.iter().any(|(unread, _)| unread == name);
        let one = |op: &Op| {
            let name = symbol_name(op).unwrap_or_default();
            let region = op.regions.first();
            TestFunction {
                arguments: arguments(op),
                is_named: named.contains(name.as_str()),
                is_declaration: region.is_none_or(|region| region.ops.is_empty()) && !unread(&name),
                name: name.into(),
            }
        };
        functions.map(one).collect()
    }
    /// Returns whether some function checks a value, or runs other functions on several devices.
    pub fn has_checks(&self) -> bool {
        let mut found = !self.0.unread.is_empty();
        each_op(&self.0.ops, &mut |op| found |= is_test_op(op));
        found
    }
    /// Converts the program with this function as the entry.
    ///
    /// # Errors
    /// Those of [`crate::convert::module`].
    pub fn module(&self, function: &str) -> Result<Module> {
        crate::convert::module(&self.with_entry(function))
    }
    fn with_entry(&self, function: &str) -> Program {
        Program { entry: Some(function.into()), ..self.0.clone() }
    }
}

/// Reads the attributes of an op of a test: the configuration of its custom call.
///
/// # Errors
/// If the text is not that of a dictionary.
pub fn attributes(configuration: &str) -> Result<Attributes> {
    match crate::text::read_attribute(configuration)? {
        Attribute::Dictionary(attributes) => Ok(attributes),
        _ => Ok(Attributes::default()),
    }
}

/// Returns the name of a function.
fn symbol_name(op: &Op) -> Option<SmolStr> {
    match op.attributes.get("sym_name") {
        Some(Attribute::String(bytes)) => Some(String::from_utf8_lossy(bytes).into()),
        _ => None,
    }
}
/// Returns the number of arguments of a function, whose body may not have been read.
fn arguments(op: &Op) -> usize {
    match op.attributes.get("function_type") {
        Some(Attribute::Type(crate::ir::Type::Function(arguments, _))) => arguments.len(),
        _ => op.regions.first().map_or(0, |region| region.arguments.len()),
    }
}
/// Returns whether an op belongs to tests alone.
fn is_test_op(op: &Op) -> bool {
    let is_check = |name: &str| name.starts_with("check.");
    match op.attributes.get("call_target_name") {
        Some(Attribute::String(target)) => is_check(&String::from_utf8_lossy(target)),
        _ => is_check(&op.name) || op.name.starts_with("interpreter."),
    }
}
/// Adds the symbols that an attribute names.
fn symbols<'a>(value: &'a Attribute, into: &mut FxHashSet<&'a str>) {
    match value {
        Attribute::Symbol(path) => into.extend(path.last().map(SmolStr::as_str)),
        Attribute::Array(items) => items.iter().for_each(|item| symbols(item, into)),
        _ => {}
    }
}
fn each_op<'a>(ops: &'a [Op], visit: &mut impl FnMut(&'a Op)) {
    for op in ops {
        visit(op);
        for Region { ops, .. } in &op.regions {
            each_op(ops, visit);
        }
    }
}

/// The offsets at which the lines of a text begin.
#[derive(Default)]
struct Lines(Vec<usize>);
impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect())
    }
    /// Returns the line and the column of an offset, from 1.
    fn of_offset(&self, offset: usize) -> Option<(u32, u32)> {
        let line = self.0.partition_point(|&start| start <= offset);
        let start = *self.0.get(line.checked_sub(1)?)?;
        Some((u32::try_from(line).ok()?, u32::try_from(offset - start + 1).ok()?))
    }
}

/// Gives the ops of tests the places at which they stand as their locations.
struct Places<'a> {
    name: SmolStr,
    lines: Lines,
    locations: &'a mut Vec<Location>,
}
impl Places<'_> {
    fn locate(&mut self, op: &mut Op) {
        if is_test_op(op)
            && let Some((line, column)) =
                op.span.and_then(|span| self.lines.of_offset(span.range().start))
        {
            let id = u32::try_from(self.locations.len()).ok().map(LocationId);
            self.locations.push(Location::File { file: self.name.clone(), line, column });
            op.location = id;
        }
        let regions = op.regions.iter_mut();
        regions.flat_map(|region| &mut region.ops).for_each(|op| self.locate(op));
    }
}
