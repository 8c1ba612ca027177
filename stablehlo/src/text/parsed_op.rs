//! An op before its names are resolved and its attributes are in their normal form.
use crate::error::Error;
use crate::ir::{Attribute, Attributes, LocationId, Region, Type, ValueId};
use hlo::Span;
use smol_str::SmolStr;

/// An operand, with its place for errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParsedOperand {
    pub(super) id: ValueId,
    pub(super) span: Span,
}

/// The parts of an op that stand after the names of its results.
#[derive(Debug, Default)]
pub(super) struct ParsedOp {
    pub(super) operands: Vec<ParsedOperand>,
    pub(super) attributes: Attributes,
    pub(super) regions: Vec<Region>,
    pub(super) results: Vec<Type>,
    /// A location that stands inside of the op.
    pub(super) location: Option<LocationId>,
    /// Why the body of a function was not read.
    pub(super) unread: Option<Error>,
}

impl ParsedOp {
    /// Adds an attribute.
    pub(super) fn set(&mut self, name: &str, value: Attribute) {
        self.attributes.0.push((SmolStr::new(name), value));
    }
}
