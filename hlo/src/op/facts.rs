//! The columns and flags of the op table.
use super::Opcode;
use crate::ElementType;
use crate::elem::Class;
use std::fmt;

/// The bound on the difference between two correct results; [`conformance`] converts it to a
/// tolerance.
///
/// [`conformance`]: https://docs.rs/etalon-conformance
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accuracy {
    /// The same bits, except for NaN payloads.
    Exact,
    /// Within this many units in the last place of the element type.
    Ulp(u32),
    /// The terms may be added in another order.
    Order,
    /// Only the distribution is defined.
    Random,
}

/// The number of operands of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// This many.
    Fixed(usize),
    /// Any number, within the op's own rules.
    Any,
}

/// Whether the text must state the result shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeText {
    /// It must be stated.
    Stated,
    /// It may be omitted.
    Inferred,
    /// The stated shape is ignored: the shape follows from the operands.
    Forced,
}

/// The part of a system that executes an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A kernel computes arrays from arrays. A result without elements is known without the
    /// operands.
    Array,
    /// Whole values, tuples and tokens are forwarded, or their sizes are read and set.
    Value,
    /// Computations are called: `call`, `fusion`, `while`, `conditional`, `scan`.
    Control,
    /// A computation runs until another instruction consumes its result: `async-start`,
    /// `async-update`, `async-done`.
    Asynchronous,
    /// The devices of a group take part.
    Collective,
    /// A channel leads to another device, or to the host if `is_host_transfer` is set.
    Transfer,
    /// Data is exchanged with the host.
    Host,
    /// The device's own number is the result.
    Device,
    /// The result depends on the random state of the run.
    Random,
    /// The target of a custom call decides.
    Custom,
}

/// The treatment of operands that are smaller than their bounds.
///
/// The memory of an array of a dynamic shape has the size of its bounds; the elements beyond its
/// sizes are padding, which does not affect any result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DynamicRule {
    /// Computed on the padding, too; the result has the sizes of the operands.
    Elementwise,
    /// Elements, including padding, move within the bounds; sizes move with their dimensions.
    Remap,
    /// The elements that are not padding are repacked.
    Reshape,
    /// A part of operand 0 is replaced; the result has the sizes of operand 0.
    Update,
    /// Updates that are padding are skipped; the result has the sizes of operand 0.
    Scatter,
    /// Sizes are part of the forwarded value.
    Forward,
    /// Operands are trimmed to their sizes, the shape rule determines the sizes of the result,
    /// which is padded with zeros to its bounds.
    Trim,
    /// Not supported.
    Refuse,
}

/// The part of an instruction in an asynchronous operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsyncRole {
    /// Starts this op; `async-start` starts the computation it calls.
    Start(Option<Opcode>),
    /// Forwards the operation that this op started.
    Update(Opcode),
    /// Waits for the operation that this op started, and returns its result.
    Done(Opcode),
}

/// The element type of the result of an elementwise op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultType {
    Operand,
    Pred,
    Component,
    Complex,
}

/// A set of element type classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(pub(super) &'static [Class]);

impl Types {
    /// Returns whether the set has the class of `ty`.
    pub fn contains(self, ty: ElementType) -> bool {
        self.0.contains(&ty.class())
    }
}
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, class) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            f.write_str(match class {
                Class::Pred => "pred",
                Class::Signed => "signed",
                Class::Unsigned => "unsigned",
                Class::Float => "float",
                Class::Complex => "complex",
            })?;
        }
        Ok(())
    }
}

/// The flags of a row. Each method is a flag of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags {
    bits: u8,
    roundings: u32,
    associates: Option<Class>,
    result: ResultType,
    role: Option<AsyncRole>,
}

const MOVES: u8 = 1;
const ALIASES: u8 = 2;
const SHARES: u8 = 4;
const CARRIES: u8 = 8;
const HOLDS: u8 = 16;
const RESULT_ACCURACY: u8 = 32;
const RESIZES: u8 = 64;

impl Flags {
    pub(super) const NONE: Self =
        Self { bits: 0, roundings: 1, associates: None, result: ResultType::Operand, role: None };

    const fn with(mut self, bits: u8) -> Self {
        self.bits |= bits;
        self
    }
    const fn has(self, bit: u8) -> bool {
        self.bits & bit != 0
    }
    pub(super) const fn moves(self) -> Self {
        self.with(MOVES)
    }
    pub(super) const fn aliases(self) -> Self {
        self.with(ALIASES | SHARES | CARRIES)
    }
    pub(super) const fn shares(self) -> Self {
        self.with(SHARES)
    }
    pub(super) const fn carries(self) -> Self {
        self.with(CARRIES)
    }
    pub(super) const fn holds(self) -> Self {
        self.with(HOLDS)
    }
    pub(super) const fn result_accuracy(self) -> Self {
        self.with(RESULT_ACCURACY)
    }
    pub(super) const fn resizes(self) -> Self {
        self.with(RESIZES)
    }
    pub(super) const fn roundings(self, roundings: u32) -> Self {
        Self { roundings, ..self }
    }
    pub(super) const fn associates(self, widest: Class) -> Self {
        Self { associates: Some(widest), ..self }
    }
    pub(super) const fn pred(self) -> Self {
        Self { result: ResultType::Pred, ..self }
    }
    pub(super) const fn component(self) -> Self {
        Self { result: ResultType::Component, ..self }
    }
    pub(super) const fn complex(self) -> Self {
        Self { result: ResultType::Complex, ..self }
    }
    pub(super) const fn starts(self, op: Option<Opcode>) -> Self {
        Self { role: Some(AsyncRole::Start(op)), ..self }
    }
    pub(super) const fn continues(self, start: Opcode) -> Self {
        Self { role: Some(AsyncRole::Update(start)), ..self }
    }
    pub(super) const fn ends(self, start: Opcode) -> Self {
        Self { role: Some(AsyncRole::Done(start)), ..self }
    }
}

impl Opcode {
    /// Returns whether `result[i]` is a function of the elements at `i` of the operands.
    pub const fn is_elementwise(self) -> bool {
        matches!(self.dynamic_rule(), DynamicRule::Elementwise)
    }
    /// Returns whether elements are copied, compared or selected, and none is rounded, not counting
    /// computations it calls.
    pub const fn moves_data(self) -> bool {
        self.flags().has(MOVES)
    }
    /// Returns whether the result for several operands of this type has the same bits in any order
    /// and grouping.
    pub const fn associates(self, ty: ElementType) -> bool {
        match (self.flags().associates, ty.class()) {
            (Some(_), Class::Pred | Class::Signed | Class::Unsigned) => true,
            (Some(widest), Class::Float) => matches!(widest, Class::Float),
            (Some(_), Class::Complex) | (None, _) => false,
        }
    }
    /// Returns the number of roundings of an element where a backend computes the op step by step,
    /// not counting sums.
    pub const fn roundings(self) -> u32 {
        if self.moves_data() { 0 } else { self.flags().roundings }
    }
    /// Returns whether the result is the unchanged value of operand 0, in the same memory.
    pub const fn aliases_operand(self) -> bool {
        self.flags().has(ALIASES)
    }
    /// Returns whether the result needs no memory: operands or the computations it calls own it.
    pub const fn shares_memory(self) -> bool {
        self.flags().has(SHARES)
    }
    /// Returns whether the result may be a value of any kind that was made elsewhere, such as a
    /// tuple or a started op.
    pub const fn carries_values(self) -> bool {
        self.flags().has(CARRIES)
    }
    /// Returns whether an op that starts another returns `(operands, result, ..)`, not only the
    /// result.
    pub const fn holds_operands(self) -> bool {
        self.flags().has(HOLDS)
    }
    /// Returns whether the sizes of the result are values of operands, so that it may be smaller
    /// than its bounds in any module.
    pub const fn sets_sizes(self) -> bool {
        self.flags().has(RESIZES)
    }
    /// Returns whether it is one of the functions that take the attribute `result_accuracy`.
    pub const fn takes_result_accuracy(self) -> bool {
        self.flags().has(RESULT_ACCURACY)
    }
    /// Returns whether other devices take part. Send and receive count, although with
    /// `is_host_transfer` the host takes part instead: see
    /// [`Op::communicates`](super::Op::communicates).
    pub const fn communicates(self) -> bool {
        matches!(self.kind(), Kind::Collective | Kind::Transfer)
    }
    /// Returns the part in an asynchronous operation, if it has one.
    pub const fn async_role(self) -> Option<AsyncRole> {
        self.flags().role
    }
    /// Returns the op that a start starts; any other op itself.
    #[must_use]
    pub const fn started(self) -> Self {
        match self.flags().role {
            Some(AsyncRole::Start(Some(op))) => op,
            Some(AsyncRole::Start(None) | AsyncRole::Update(_) | AsyncRole::Done(_)) | None => self,
        }
    }
    /// Returns whether the op has its own asynchronous opcodes, and therefore no form with
    /// `async-start`.
    pub fn has_native_async(self) -> bool {
        let starts = |start: &Self| start.async_role() == Some(AsyncRole::Start(Some(self)));
        Self::ALL.iter().any(starts)
    }
    /// Returns the result's element type for an operand of type `operand`, of an op whose row
    /// states it; `None` if there is none.
    pub const fn result_type(self, operand: ElementType) -> Option<ElementType> {
        match self.flags().result {
            ResultType::Operand => Some(operand),
            ResultType::Pred => Some(ElementType::Pred),
            ResultType::Component => Some(operand.component()),
            ResultType::Complex => operand.complex(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(holds: impl Fn(Opcode) -> bool) -> Vec<&'static str> {
        Opcode::ALL.iter().filter(|&&op| holds(op)).map(|op| op.name()).collect()
    }

    #[test]
    fn each_start_is_ended_by_one_op_and_each_end_has_a_start() {
        for &op in Opcode::ALL {
            let ends = |start| names(|end| end.async_role() == Some(AsyncRole::Done(start)));
            match op.async_role() {
                Some(AsyncRole::Start(_)) => assert_eq!(ends(op).len(), 1, "{op}"),
                Some(AsyncRole::Update(start) | AsyncRole::Done(start)) => {
                    assert!(matches!(start.async_role(), Some(AsyncRole::Start(_))), "{op}");
                }
                None => {}
            }
        }
        let native = names(Opcode::has_native_async);
        let expected = ["all-gather", "all-reduce", "collective-permute", "copy", "recv", "send"];
        assert_eq!(native, expected);
        assert_eq!(Opcode::AllReduceStart.started(), Opcode::AllReduce);
        assert_eq!(Opcode::AsyncStart.started(), Opcode::AsyncStart);
    }

    #[test]
    fn flags_imply_each_other() {
        let aliases = names(Opcode::aliases_operand);
        assert_eq!(aliases, ["add-dependency", "copy", "domain", "opt-barrier"]);
        for &op in Opcode::ALL {
            let carried = !op.aliases_operand() || (op.carries_values() && op.shares_memory());
            assert!(carried && (!op.carries_values() || op.moves_data()), "{op}");
            assert!(!op.is_elementwise() || op.kind() == Kind::Array, "{op}");
        }
    }

    #[test]
    fn operands_in_any_order() {
        let of = |ty| names(|op| op.associates(ty));
        let integers = ["add", "and", "maximum", "minimum", "multiply", "or", "xor"];
        assert_eq!(of(ElementType::U8), integers);
        assert_eq!(of(ElementType::Bf16), ["maximum", "minimum"]);
        assert!(of(ElementType::C64).is_empty());
    }

    #[test]
    fn result_types_of_elementwise_ops() {
        let of = |op: Opcode, ty| op.result_type(ty);
        assert_eq!(of(Opcode::IsFinite, ElementType::Bf16), Some(ElementType::Pred));
        assert_eq!(of(Opcode::Abs, ElementType::C128), Some(ElementType::F64));
        assert_eq!(of(Opcode::Abs, ElementType::S8), Some(ElementType::S8));
        assert_eq!(of(Opcode::Complex, ElementType::F32), Some(ElementType::C64));
        assert_eq!(of(Opcode::Complex, ElementType::F16), None);
    }
}
