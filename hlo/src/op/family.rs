//! `Opcode`, `Op` and the elementwise families, generated from the table.
use super::facts::Flags;
use super::summation::Summation;
use super::{
    Accuracy, Arity, AttrReader, AttrWriter, Attrs, Communication, DynamicRule, Infer, Kind,
    ShapeRule, ShapeText, Types,
};
use crate::elem::Class;
use crate::ir::ComputationId;
use crate::proto::message::Instruction;
use crate::{Result, Shape};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::LazyLock;

macro_rules! class {
    (P) => {
        Class::Pred
    };
    (S) => {
        Class::Signed
    };
    (U) => {
        Class::Unsigned
    };
    (F) => {
        Class::Float
    };
    (C) => {
        Class::Complex
    };
}
macro_rules! accuracy {
    (exact) => {
        Accuracy::Exact
    };
    (order) => {
        Accuracy::Order
    };
    (random) => {
        Accuracy::Random
    };
    ($ulps:literal) => {
        Accuracy::Ulp($ulps)
    };
}
macro_rules! arity {
    (*) => {
        Arity::Any
    };
    ($n:literal) => {
        Arity::Fixed($n)
    };
}
macro_rules! shape_text {
    (stated) => {
        ShapeText::Stated
    };
    (inferred) => {
        ShapeText::Inferred
    };
    (forced) => {
        ShapeText::Forced
    };
}

macro_rules! kind {
    (array) => {
        Kind::Array
    };
    (value) => {
        Kind::Value
    };
    (control) => {
        Kind::Control
    };
    (asynchronous) => {
        Kind::Asynchronous
    };
    (collective) => {
        Kind::Collective
    };
    (transfer) => {
        Kind::Transfer
    };
    (host) => {
        Kind::Host
    };
    (device) => {
        Kind::Device
    };
    (random) => {
        Kind::Random
    };
    (custom) => {
        Kind::Custom
    };
}
macro_rules! dynamic_rule {
    (elementwise) => {
        DynamicRule::Elementwise
    };
    (remap) => {
        DynamicRule::Remap
    };
    (reshape) => {
        DynamicRule::Reshape
    };
    (update) => {
        DynamicRule::Update
    };
    (scatter) => {
        DynamicRule::Scatter
    };
    (forward) => {
        DynamicRule::Forward
    };
    (trim) => {
        DynamicRule::Trim
    };
    (refuse) => {
        DynamicRule::Refuse
    };
}
macro_rules! payload {
    ($st:ident [boxed $($rest:tt)*]) => {
        Box<super::$st>
    };
    ($st:ident $flags:tt) => {
        super::$st
    };
}
macro_rules! communication {
    ($st:ident $op:ident collective) => {{
        let op: &super::$st = $op;
        Some(op)
    }};
    ($st:ident $op:ident transfer) => {
        communication!($st $op collective)
    };
    ($st:ident $op:ident $kind:ident) => {{
        let _ = $op;
        None
    }};
}
macro_rules! summation {
    ($st:ident $op:ident order) => {{
        let op: &super::$st = $op;
        Some(op)
    }};
    ($st:ident $op:ident $accuracy:tt) => {{
        let _ = $op;
        None
    }};
}
macro_rules! flags {
    ([boxed $($flag:tt)*]) => {
        flags!([$($flag)*])
    };
    ([$($flag:ident $(($of:tt))?)*]) => {
        Flags::NONE$(.$flag($(flags!(@ $flag $of))?))*
    };
    (@ associates $class:ident) => {
        class!($class)
    };
    (@ roundings $count:literal) => {
        $count
    };
    (@ starts *) => {
        None
    };
    (@ starts $of:ident) => {
        Some(Opcode::$of)
    };
    (@ $flag:ident $of:ident) => {
        Opcode::$of
    };
}

macro_rules! define_ops {
    (
        unary { $($un:ident $un_name:literal $un_fn:ident [$($un_class:ident)*] $un_acc:tt $un_flags:tt;)* }
        binary { $($bin:ident $bin_name:literal $bin_fn:ident [$($bin_class:ident)*] $bin_acc:tt $bin_flags:tt;)* }
        structured { $(
            $st:ident $st_name:literal $st_arity:tt $st_shape:ident $st_acc:tt $st_kind:ident $st_dynamic:ident $st_flags:tt;
        )* }
        was { $($old:literal => $now:ident $implied:literal;)* }
    ) => {
        /// Elementwise ops of one operand.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Unary { $(#[doc = concat!("`", $un_name, "`")] $un,)* }

        /// Elementwise ops of two operands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Binary { $(#[doc = concat!("`", $bin_name, "`")] $bin,)* }

        /// An operation with its attributes.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Op {
            /// Elementwise, one operand.
            Unary(Unary),
            /// Elementwise, two operands.
            Binary(Binary),
            $(#[doc = concat!("`", $st_name, "`")] $st(payload!($st $st_flags)),)*
        }

        /// The name of an operation, without attributes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Opcode {
            $(#[doc = concat!("`", $un_name, "`")] $un,)*
            $(#[doc = concat!("`", $bin_name, "`")] $bin,)*
            $(#[doc = concat!("`", $st_name, "`")] $st,)*
        }

        impl Opcode {
            /// All opcodes, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$un,)* $(Self::$bin,)* $(Self::$st,)*];

            /// Names in older texts: old name, opcode, the attributes that the name implies.
            pub const OLD_NAMES: &'static [(&'static str, Self, &'static str)] =
                &[$(($old, Self::$now, $implied),)*];

            /// Returns the name in HLO text.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$un => $un_name,)* $(Self::$bin => $bin_name,)* $(Self::$st => $st_name,)*
                }
            }
            /// Returns number of operands.
            pub const fn arity(self) -> Arity {
                match self {
                    $(Self::$un => Arity::Fixed(1),)*
                    $(Self::$bin => Arity::Fixed(2),)*
                    $(Self::$st => arity!($st_arity),)*
                }
            }
            /// Returns whether the text must state the result shape.
            pub const fn shape_text(self) -> ShapeText {
                match self {
                    $(Self::$un)|* | $(Self::$bin)|* => ShapeText::Inferred,
                    $(Self::$st => shape_text!($st_shape),)*
                }
            }
            /// Returns the bound on the difference to another backend's result.
            pub const fn accuracy(self) -> Accuracy {
                match self {
                    $(Self::$un => accuracy!($un_acc),)*
                    $(Self::$bin => accuracy!($bin_acc),)*
                    $(Self::$st => accuracy!($st_acc),)*
                }
            }
            /// Returns the part of a system that executes it.
            pub const fn kind(self) -> Kind {
                match self {
                    $(Self::$un)|* | $(Self::$bin)|* => Kind::Array,
                    $(Self::$st => kind!($st_kind),)*
                }
            }
            /// Returns its treatment of operands that are smaller than their bounds.
            pub const fn dynamic_rule(self) -> DynamicRule {
                match self {
                    $(Self::$un)|* | $(Self::$bin)|* => DynamicRule::Elementwise,
                    $(Self::$st => dynamic_rule!($st_dynamic),)*
                }
            }
            pub(super) const fn flags(self) -> Flags {
                match self {
                    $(Self::$un => flags!($un_flags),)*
                    $(Self::$bin => flags!($bin_flags),)*
                    $(Self::$st => flags!($st_flags),)*
                }
            }
            /// Returns element types an elementwise op is defined on; `None` for any other op,
            /// which has rules of its own.
            pub const fn types(self) -> Option<Types> {
                match self {
                    $(Self::$un => Some(Unary::$un.types()),)*
                    $(Self::$bin => Some(Binary::$bin.types()),)*
                    $(Self::$st)|* => None,
                }
            }
            /// Returns whether the verifier checks every constraint of the specification on the op.
            pub const fn is_verified(self) -> bool {
                match self {
                    $(Self::$un)|* | $(Self::$bin)|* => true,
                    $(Self::$st => <super::$st as ShapeRule>::CHECKED,)*
                }
            }
            /// Returns names of the op's own attributes, the current ones first.
            pub fn attributes(self) -> &'static [&'static str] {
                match self {
                    $(Self::$un)|* | $(Self::$bin)|* => &[],
                    $(Self::$st => <super::$st as Attrs>::NAMES,)*
                }
            }
        }

        $(impl From<super::$st> for Op {
            fn from(op: super::$st) -> Self {
                Self::$st(op.into())
            }
        })*
        impl From<Unary> for Op {
            fn from(op: Unary) -> Self {
                Self::Unary(op)
            }
        }
        impl From<Binary> for Op {
            fn from(op: Binary) -> Self {
                Self::Binary(op)
            }
        }

        impl Unary {
            /// All of them, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$un,)*];

            /// Returns its opcode.
            pub const fn opcode(self) -> Opcode {
                match self { $(Self::$un => Opcode::$un,)* }
            }
            /// Returns element types it is defined on.
            pub const fn types(self) -> Types {
                match self { $(Self::$un => Types(&[$(class!($un_class)),*]),)* }
            }
        }
        impl Binary {
            /// All of them, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$bin,)*];

            /// Returns its opcode.
            pub const fn opcode(self) -> Opcode {
                match self { $(Self::$bin => Opcode::$bin,)* }
            }
            /// Returns element types it is defined on.
            pub const fn types(self) -> Types {
                match self { $(Self::$bin => Types(&[$(class!($bin_class)),*]),)* }
            }
        }

        impl Op {
            /// Returns which operation this is.
            pub const fn opcode(&self) -> Opcode {
                match self {
                    Self::Unary(op) => op.opcode(),
                    Self::Binary(op) => op.opcode(),
                    $(Self::$st(_) => Opcode::$st,)*
                }
            }
            pub(crate) fn parse(code: Opcode, attrs: &mut AttrReader<'_, '_>) -> Result<Self> {
                Ok(match code {
                    $(Opcode::$un => { attrs.none()?; Self::Unary(Unary::$un) })*
                    $(Opcode::$bin => { attrs.none()?; Self::Binary(Binary::$bin) })*
                    $(Opcode::$st => Self::$st(Attrs::parse(attrs)?),)*
                })
            }
            pub(crate) fn print(&self, out: &mut AttrWriter<'_>) {
                match self { Self::Unary(_) | Self::Binary(_) => {} $(Self::$st(op) => op.print(out),)* }
            }
            /// Writes the attributes into a message; computations are written as their index.
            pub(crate) fn encode(&self, proto: &mut Instruction) -> Result<()> {
                match self { Self::Unary(_) | Self::Binary(_) => Ok(()), $(Self::$st(op) => op.encode(proto),)* }
            }
            /// Reads the attributes from a message and resets the fields that it has read.
            pub(crate) fn decode(code: Opcode, proto: &mut Instruction, operands: &[&Shape]) -> Result<Self> {
                Ok(match code {
                    $(Opcode::$un => Self::Unary(Unary::$un),)*
                    $(Opcode::$bin => Self::Binary(Binary::$bin),)*
                    $(Opcode::$st => {
                        let mut op: payload!($st $st_flags) = Attrs::decode(proto)?;
                        op.decoded(operands);
                        Self::$st(op)
                    })*
                })
            }
            pub(crate) fn communication(&self) -> Option<&dyn Communication> {
                match self {
                    Self::Unary(_) | Self::Binary(_) => None,
                    $(Self::$st(op) => communication!($st op $st_kind),)*
                }
            }
            pub(super) fn summation(&self) -> Option<&dyn Summation> {
                match self {
                    Self::Unary(_) | Self::Binary(_) => None,
                    $(Self::$st(op) => summation!($st op $st_acc),)*
                }
            }
            /// Calls `visit` with each computation it calls, in the order XLA keeps them.
            pub fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
                match self {
                    Self::Unary(_) | Self::Binary(_) => {}
                    $(Self::$st(op) => op.each_callee(visit),)*
                }
            }
            /// Calls `visit` with each computation it calls, to be changed.
            pub fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
                match self {
                    Self::Unary(_) | Self::Binary(_) => {}
                    $(Self::$st(op) => op.each_callee_mut(visit),)*
                }
            }
            /// Completes omitted attributes that follow from the operands.
            pub(crate) fn complete(&mut self, operands: &[&Shape], stated: Option<&Shape>) -> Result<()> {
                match self {
                    Self::Unary(_) | Self::Binary(_) => Ok(()),
                    $(Self::$st(op) => op.complete(operands, stated),)*
                }
            }
            /// Returns the result shape for these operands; the number of operands has been
            /// checked.
            pub(crate) fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
                match self {
                    Self::Unary(op) => super::rule::unary(*op, cx),
                    Self::Binary(op) => super::rule::binary(*op, cx),
                    $(Self::$st(op) => op.infer(cx),)*
                }
            }
        }
    };
}
for_each_op!(define_ops);

/// The meaning of a word in opcode position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(crate) opcode: Opcode,
    /// Attributes that an old name implies, as text.
    pub(crate) implied: &'static str,
}

static SPELLINGS: LazyLock<FxHashMap<&'static str, Spelling>> = LazyLock::new(|| {
    let now = Opcode::ALL.iter().map(|&opcode| (opcode.name(), Spelling { opcode, implied: "" }));
    let old = Opcode::OLD_NAMES.iter();
    now.chain(old.map(|&(name, opcode, implied)| (name, Spelling { opcode, implied }))).collect()
});

impl Op {
    /// Returns the computation that a call or a fusion runs once, on its operands.
    pub fn called_once(&self) -> Option<ComputationId> {
        if let Self::Call(op) = self {
            return Some(op.to_apply);
        }
        if let Self::Fusion(op) = self { Some(op.calls) } else { None }
    }
}

impl Opcode {
    pub(crate) fn spelled(name: &str) -> Option<Spelling> {
        SPELLINGS.get(name).copied()
    }
    /// Returns the opcode of this name; old names count.
    ///
    /// ```
    /// use hlo::Opcode;
    /// assert_eq!(Opcode::from_name("cross-replica-sum"), Some(Opcode::AllReduce));
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::spelled(name).map(|spelling| spelling.opcode)
    }
}
impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
