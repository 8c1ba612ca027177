//! Instructions as pictures show them.
use super::category::Category;
use hlo::Opcode;

/// An instruction.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) opcode: Opcode,
    pub(super) category: Category,
    pub(super) shape: String,
    pub(super) operands: Vec<usize>,
    /// The instructions that must run before it.
    pub(super) before: Vec<usize>,
    /// The computations that it calls.
    pub(super) callees: Vec<usize>,
    /// Its opcode, operands and attributes, as in the text.
    pub(super) text: String,
    /// Its line in the text, from 1.
    pub(super) line: usize,
    pub(super) op_name: String,
    /// The file and the line in the program that it comes from.
    pub(super) source: String,
    /// Whether it is a constant, or array ops compute it from constants only. Such values are
    /// listed by their users, not drawn.
    pub(super) is_constant: bool,
}
