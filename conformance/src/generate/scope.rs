//! The values of a computation while it is written.
use hlo::{ArrayShape, Shape};
use std::collections::BTreeMap;

/// A value of a computation.
#[derive(Debug, Clone)]
pub(super) struct ScopeValue {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) is_used: bool,
    /// Whether it is only returned: its bits, or its sizes, are not known when the module is made.
    pub(super) is_closed: bool,
}

/// The instructions before that may get a twin.
const WRITTEN: usize = 6;

/// An instruction as it is written, with an array as the result.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) shape: ArrayShape,
    pub(super) op: String,
    pub(super) operands: Vec<String>,
    /// All that follows the operands.
    pub(super) attributes: String,
}

impl Written {
    /// Returns the instruction of a text; none if no other may be like it.
    fn new(shape: &Shape, text: &str) -> Option<Self> {
        let shape = shape.array().filter(|array| array.dynamic.is_none())?.clone();
        let (op, rest) = text.split_once('(')?;
        let (operands, attributes) = rest.split_once(')')?;
        let is_leaf = ["constant", "parameter", "get-tuple-element"].contains(&op);
        // What is started is ended once, and a channel has one op.
        let is_one = op.ends_with("-done") || attributes.contains("channel_id");
        (!is_leaf && !is_one).then(|| Self {
            shape,
            op: op.to_owned(),
            operands: operands.split(", ").filter(|o| !o.is_empty()).map(str::to_owned).collect(),
            attributes: attributes.to_owned(),
        })
    }
}

/// A computation that is written.
#[expect(clippy::struct_excessive_bools, reason = "each holds or not, whatever the others")]
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) lines: String,
    pub(super) values: Vec<ScopeValue>,
    /// The last instructions that may get a twin.
    pub(super) written: Vec<Written>,
    /// The nesting of computations; the entry has 0.
    pub(super) depth: usize,
    /// Whether all values are scalars, as in a reducer.
    pub(super) is_scalar: bool,
    /// Whether all devices run it.
    pub(super) communicates: bool,
    /// The steps of one execution, about.
    pub(super) steps: u64,
    /// Whether its leaves are parameters, as in a computation that wraps one op.
    pub(super) wraps: bool,
    /// Whether it has no tokens, which a fusion cannot return.
    pub(super) is_fused: bool,
}

impl Scope {
    pub(super) fn new(depth: usize, communicates: bool) -> Self {
        let (lines, values, written) = (String::new(), Vec::new(), Vec::new());
        let (is_scalar, steps, wraps, is_fused) = (false, 0, false, false);
        Self { lines, values, written, depth, is_scalar, communicates, steps, wraps, is_fused }
    }
    pub(super) fn of_scalars(depth: usize) -> Self {
        Self { is_scalar: true, ..Self::new(depth, false) }
    }
    /// Returns the name of a value whose uses count.
    pub(super) fn use_value(&mut self, i: usize) -> String {
        self.values[i].is_used = true;
        self.values[i].name.clone()
    }
    /// Returns an open array.
    pub(super) fn array(&self, name: &str) -> Option<ArrayOperand> {
        let value =
            self.values.iter().rev().find(|value| value.name == name && !value.is_closed)?;
        let shape = value.shape.array().filter(|array| array.dynamic.is_none())?.clone();
        Some(ArrayOperand { name: name.to_owned(), shape })
    }
    /// Notes an instruction that may get a twin.
    pub(super) fn note(&mut self, shape: &Shape, text: &str) {
        if let Some(written) = Written::new(shape, text) {
            if self.written.len() == WRITTEN {
                self.written.remove(0);
            }
            self.written.push(written);
        }
    }
    /// Returns the open values of which `ok` is true, by index.
    pub(super) fn open(&self, ok: impl Fn(&Shape) -> bool) -> Vec<usize> {
        let fits =
            |(i, value): (usize, &ScopeValue)| (!value.is_closed && ok(&value.shape)).then_some(i);
        self.values.iter().enumerate().filter_map(fits).collect()
    }
    /// Returns the arrays that no instruction uses.
    pub(super) fn unused(&self) -> Vec<ScopeValue> {
        let unused = |value: &&ScopeValue| !value.is_used && value.shape.array().is_some();
        self.values.iter().filter(unused).cloned().collect()
    }
    /// Marks just those values as used that a line names as an operand.
    pub(super) fn mark_read(&mut self) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for word in self.lines.split(|c: char| !c.is_ascii_alphanumeric()) {
            *counts.entry(word).or_default() += 1;
        }
        for value in &mut self.values {
            value.is_used = counts.get(value.name.as_str()).is_some_and(|&count| count > 1);
        }
    }
    /// Counts `times` executions of a computation of `steps`.
    pub(super) fn execute(&mut self, times: u64, steps: u64) {
        self.steps = self.steps.saturating_add(times.saturating_mul(steps));
    }
    /// Counts the products of an op, or its calls of a computation: one for each index of these sizes.
    pub(super) fn execute_each(&mut self, sizes: &[&[i64]]) {
        let sizes = sizes.iter().flat_map(|sizes| sizes.iter());
        let sizes = sizes.map(|&size| u64::try_from(size).unwrap_or(0));
        self.execute(1, sizes.fold(1, u64::saturating_mul));
    }
    /// Marks a value that was just added as used.
    pub(super) fn mark(&mut self, name: &str) {
        if let Some(value) = self.values.iter_mut().rev().find(|value| value.name == name) {
            value.is_used = true;
        }
    }
    /// Marks a value as one that no other instruction uses.
    pub(super) fn close(&mut self, name: &str) {
        if let Some(value) = self.values.iter_mut().rev().find(|value| value.name == name) {
            (value.is_used, value.is_closed) = (true, true);
        }
    }
}

/// An array that an instruction takes.
#[derive(Debug, Clone)]
pub(super) struct ArrayOperand {
    pub(super) name: String,
    pub(super) shape: ArrayShape,
}

/// A computation that calls may name again.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) parameters: Vec<Shape>,
    pub(super) result: Shape,
}
