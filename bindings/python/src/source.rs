//! Lines of the program that a module was made from: those of JAX, by the metadata of instructions.
use hlo::Module;
use hlo::diag::{self, Diagnostic, Place, Span, render};
use hlo::ir::{Instruction, SourcePlace};
use pyo3::prelude::*;

/// The place in a program that an instruction comes from.
#[pyclass(frozen, get_all, module = "etalon._etalon")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// The file.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column as the program states it: JAX counts from 0.
    pub(crate) column: usize,
    /// The function; empty if unknown.
    pub(crate) function: String,
    /// The operation, such as `jit(f)/tanh`.
    pub(crate) op_name: String,
}

#[pymethods]
impl Source {
    fn __str__(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
    fn __repr__(&self) -> String {
        format!("<etalon.Source {}: {}>", self.__str__(), self.op_name)
    }
}

impl Source {
    /// Returns the place of an instruction, if its metadata has one.
    pub(crate) fn of(module: &Module, instruction: &Instruction) -> Option<Self> {
        let metadata = instruction.metadata()?;
        let SourcePlace { file, line, column, function } =
            metadata.places(&module.frames).next()?;
        let (file, function) = (file.to_owned(), function.to_owned());
        Some(Self { file, line, column, function, op_name: metadata.op_name.to_string() })
    }
    /// Returns the place of an instruction that is named as `computation/instruction`.
    pub(crate) fn of_path(module: &Module, path: &str) -> Option<Self> {
        let (computation, id) = module.find(path)?;
        Self::of(module, &computation.instructions[id])
    }
    /// Draws a diagnostic at the line, if the file can be read.
    pub(crate) fn draw(&self, diagnostic: &Diagnostic) -> Option<String> {
        let text = std::fs::read_to_string(&self.file).ok()?;
        let before: usize =
            text.split_inclusive('\n').take(self.line.checked_sub(1)?).map(str::len).sum();
        let line = text.get(before..)?.lines().next()?;
        let (at, c) = line
            .char_indices()
            .nth(self.column)
            .or_else(|| line.char_indices().find(|(_, c)| !c.is_whitespace()))?;
        let span = Span::new(before + at, before + at + c.len_utf8());
        // A label of the instruction itself stays at the caret.
        let own = diagnostic.labels.iter().find(|(other, _)| Some(*other) == diagnostic.span);
        let op = self.op_name.rsplit('/').next().unwrap_or_default();
        let label = match own {
            Some((_, label)) if op.is_empty() => label.clone(),
            Some((_, label)) => format!("{op}: {label}"),
            None => op.to_owned(),
        };
        let diagnostic = Diagnostic {
            span: Some(span),
            place: Place::Whole,
            labels: vec![(span, label)],
            ..diagnostic.clone()
        };
        let source = diag::Source { name: &self.file, text: &text };
        Some(render(&diagnostic, Some(source), false))
    }
}
