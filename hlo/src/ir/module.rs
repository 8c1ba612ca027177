//! Modules.
use super::{
    Computation, ComputationId, Instruction, InstructionId, ModuleConfig, ProgramShape, StackFrames,
};
use crate::diag::{Code, Diagnostic, Errors};
use crate::id::Arena;
use crate::op::Callees;
use crate::text::print::{Printer, Style};
use crate::verify::Verified;
use crate::{Error, Result, Span};
use smol_str::SmolStr;
use std::fmt;
use std::sync::Arc;

/// A module, not necessarily well formed.
///
/// ```
/// let text = "HloModule m\nENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] negate(p) }";
/// let module = hlo::Module::parse(text).unwrap();
/// let again = hlo::Module::parse(&module.to_string()).unwrap();
/// assert_eq!(module.to_string(), again.to_string());
/// let verified = module.verify().unwrap();
/// assert_eq!(verified.module().name, "m");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// Name after `HloModule`.
    pub name: SmolStr,
    /// Computations in text order.
    pub computations: Arena<Computation>,
    /// The computation marked `ENTRY`.
    pub entry: ComputationId,
    /// The attributes of the header.
    pub config: ModuleConfig,
    /// Source locations of the instructions in the user's program.
    pub frames: StackFrames,
    pub(crate) source: SourceText,
}

/// The text that a module was parsed from, for errors that are found later. It is not part of the
/// module.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceText(Option<Arc<str>>);

impl PartialEq for SourceText {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl SourceText {
    /// Longer texts are not kept: they are mostly constants.
    const MOST: usize = 16 << 20;

    /// Adds the lines of the text to errors.
    pub(crate) fn draw(&self, error: Error) -> Error {
        match &self.0 {
            Some(text) => error.drawn(text),
            None => error,
        }
    }
}

/// The options of parsing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// Keep unknown attributes as raw text, with a warning, instead of rejecting them.
    pub lenient: bool,
}

/// A module and warnings from parsing.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The module.
    pub module: Module,
    /// Warnings, in text order.
    pub warnings: Vec<Diagnostic>,
}

/// A module that breaks rules, and every broken rule.
///
/// ```
/// let text = "HloModule m\nENTRY e { p = f32[2] parameter(0) ROOT r = f32[3] negate(p) }";
/// let unverified = hlo::Module::parse(text)?.verify().unwrap_err();
/// assert_eq!(unverified.0[0].number(), "E0302");
/// assert!(unverified.module().find("e/r").is_some());
/// # Ok::<(), hlo::diag::Errors>(())
/// ```
#[derive(Debug)]
pub struct Unverified {
    pub(crate) module: Box<Module>,
    pub(crate) errors: Errors,
}

impl Unverified {
    /// Returns the module.
    pub fn module(&self) -> &Module {
        &self.module
    }
    /// Returns the module and the errors.
    pub fn into_parts(self) -> (Module, Errors) {
        (*self.module, self.errors)
    }
}

impl std::ops::Deref for Unverified {
    type Target = Errors;
    fn deref(&self) -> &Errors {
        &self.errors
    }
}
impl fmt::Display for Unverified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.errors.fmt(f)
    }
}
impl std::error::Error for Unverified {}
impl From<Unverified> for Errors {
    fn from(unverified: Unverified) -> Self {
        unverified.errors
    }
}

impl Module {
    /// Returns a module of computations, callees before their callers; duplicate names are numbered
    /// as XLA does.
    pub fn new(
        name: impl Into<SmolStr>,
        mut computations: Arena<Computation>,
        entry: ComputationId,
    ) -> Self {
        crate::text::names::make_unique(&mut computations);
        let (config, frames) = (ModuleConfig::default(), StackFrames::default());
        let source = SourceText::default();
        Self { name: name.into(), computations, entry, config, frames, source }
    }
    /// Returns the instructions of all computations.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.computations.iter().flat_map(|(_, of)| of.instructions.iter()).map(|(_, one)| one)
    }
    /// Parses HLO text: a module, a list of computations, or a single instruction.
    ///
    /// The errors of this module print the lines of the text: it is kept if it has at most 16 MiB.
    ///
    /// # Errors
    /// `E01xx` and `E02xx`, in text order: parsing goes on after an error in an instruction.
    pub fn parse(text: &str) -> Result<Self, Errors> {
        let parsed = Self::parse_with(text, ParseOptions::default());
        let mut module = parsed.map_err(|errors| errors.drawn(text))?.module;
        module.source = SourceText((text.len() <= SourceText::MOST).then(|| text.into()));
        Ok(module)
    }
    /// Parses HLO text with options.
    ///
    /// # Errors
    /// As [`Module::parse`].
    pub fn parse_with(text: &str, options: ParseOptions) -> Result<Parsed, Errors> {
        crate::text::parse(text, options)
    }
    /// Parses the bytes of a file.
    ///
    /// # Errors
    /// `E0117` if they are not UTF-8; as [`Module::parse`].
    pub fn parse_bytes(bytes: &[u8], options: ParseOptions) -> Result<Parsed, Errors> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let offset = e.valid_up_to();
            Error::from(Code::NotUtf8 { offset }).at(Span::new(offset, offset + 1))
        })?;
        Self::parse_with(text, options)
    }
    /// Prints the module in a style; [`Display`](fmt::Display) prints [`Style::Full`], which omits
    /// nothing.
    pub fn print(&self, style: Style) -> String {
        Printer::new(self, style).module()
    }
    /// Returns the module with the text that it prints as, to which its spans then refer: for
    /// modules of another form than text.
    pub fn with_text(self) -> (Self, String) {
        crate::proto::with_spans(self)
    }
    /// Checks that the module prints as a text that is read as the same module.
    ///
    /// # Errors
    /// `E0107` for an attribute that is printed as it is and is read as something else, `E0116` for
    /// shapes that are nested deeper than [`Shape::NESTING_LIMIT`](crate::Shape::NESTING_LIMIT),
    /// `E0201` for other characters than those of names.
    pub fn check_printable(&self) -> Result<()> {
        let mut errors = Vec::new();
        crate::verify::printable::check(self, &mut errors);
        errors.into_iter().next().map_or(Ok(()), Err)
    }
    /// Verifies every rule of every instruction and of the module as a whole.
    ///
    /// # Errors
    /// Every broken rule, in text order: `E02xx` and `E03xx`. The error hands the module back.
    pub fn verify(self) -> Result<Verified, Unverified> {
        crate::verify::verify(self)
    }
    /// Returns the instruction at a path: `computation/name`, as errors name it.
    pub fn find(&self, path: &str) -> Option<(&Computation, InstructionId)> {
        let (computation, name) = path.split_once('/')?;
        let (_, found) = self.computations.iter().find(|(_, found)| found.name == computation)?;
        Some((found, found.instructions.ids().find(|&id| found.name(id) == name)?))
    }
    /// Returns the entry computation.
    pub fn entry(&self) -> &Computation {
        &self.computations[self.entry]
    }
}

impl Computation {
    /// Returns the shapes of the parameters by number, and of the result.
    pub fn program_shape(&self) -> ProgramShape<'_> {
        let parameters = self.parameters();
        let parameters = parameters.iter().map(|&id| &self.instructions[id].shape).collect();
        ProgramShape { parameters, result: self.result_shape() }
    }
}
impl Callees for Module {
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>> {
        self.computations.get(id).map(Computation::program_shape)
    }
}
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print(Style::Full))
    }
}
impl std::str::FromStr for Module {
    type Err = Errors;
    fn from_str(text: &str) -> Result<Self, Errors> {
        Self::parse(text)
    }
}
