//! Lines of the program that a module was made from: those of JAX, by the metadata of instructions.
use hlo::Module;
use hlo::diag::{self, Diagnostic, Place, Span, render};
use hlo::ir::{ComputationId, InstructionId, Metadata};
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
    pub(crate) fn of(
        module: &Module,
        computation: ComputationId,
        id: InstructionId,
    ) -> Option<Self> {
        let instruction = module.computations.get(computation)?.instructions.get(id)?;
        let metadata = instruction.common.as_ref()?.metadata.as_ref()?;
        let op_name = metadata.op_name.to_string();
        let of_frame = |Frame { file, line, column, function }| {
            let op_name = op_name.clone();
            Self { file, line, column, function, op_name }
        };
        frame(module, metadata).or_else(|| own(metadata)).map(of_frame)
    }
    /// Returns the place of an instruction that is named as `computation/instruction`.
    pub(crate) fn of_path(module: &Module, path: &str) -> Option<Self> {
        let (computation, name) = path.split_once('/')?;
        let (computation, found) =
            module.computations.iter().find(|(_, found)| found.name == computation)?;
        let id = found.instructions.ids().find(|id| found.name(*id) == name)?;
        Self::of(module, computation, id)
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

struct Frame {
    file: String,
    line: usize,
    column: usize,
    function: String,
}

fn number(n: i32) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// Returns a row of a table whose ids count from 1.
fn row<T>(table: &[T], id: i32) -> Option<&T> {
    table.get(number(id).checked_sub(1)?)
}

/// Returns the innermost stack frame.
fn frame(module: &Module, metadata: &Metadata) -> Option<Frame> {
    let tables = &module.frames;
    let frame = row(&tables.frames, metadata.stack_frame_id)?;
    let place = row(&tables.locations, frame.file_location_id)?;
    Some(Frame {
        file: row(&tables.file_names, place.file_name_id)?.clone(),
        line: number(place.line),
        column: number(place.column),
        function: row(&tables.function_names, place.function_name_id).cloned().unwrap_or_default(),
    })
}

/// Returns the place that the metadata itself states.
fn own(metadata: &Metadata) -> Option<Frame> {
    (!metadata.source_file.is_empty()).then(|| Frame {
        file: metadata.source_file.to_string(),
        line: number(metadata.source_line),
        column: number(metadata.source_column),
        function: String::new(),
    })
}
