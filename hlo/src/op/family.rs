//! `Opcode`, `Op` and the elementwise families, written out from the table.
use super::{AttrReader, AttrWriter, Attrs, Infer, ShapeRule};
use crate::elem::Class;
use crate::ir::ComputationId;
use crate::{ElementType, Result, Shape};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::LazyLock;

/// How near another backend's result must come; [`conformance`] turns it into a bound.
///
/// [`conformance`]: https://docs.rs/etalon-conformance
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accuracy {
    /// The same bits, NaN payloads aside.
    Exact,
    /// Within this many units in the last place of the element type.
    Ulp(u32),
    /// The terms may be added in another order.
    Order,
    /// Only the distribution is defined.
    Random,
}

/// How many operands an op takes.
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
    /// It may be left out.
    Inferred,
    /// What is stated does not matter: the shape follows from the operands.
    Forced,
}

/// A set of element type classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(&'static [Class]);

impl Types {
    /// Whether the set has the class of `ty`.
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
    (ulp $n:literal) => {
        Accuracy::Ulp($n)
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

macro_rules! payload {
    ($st:ident) => {
        super::$st
    };
    ($st:ident boxed) => {
        Box<super::$st>
    };
}

macro_rules! define_ops {
    (
        unary { $($un:ident $un_name:literal [$($un_class:ident)*] $un_acc:ident $(($un_ulp:literal))?;)* }
        binary { $($bin:ident $bin_name:literal [$($bin_class:ident)*] $bin_acc:ident $(($bin_ulp:literal))?;)* }
        structured { $(
            $st:ident $st_name:literal $st_arity:tt $st_shape:ident $st_acc:ident $(@ $st_boxed:ident)?
            $(was { $($old:literal => $implied:literal),* $(,)? })?;
        )* }
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
            $(#[doc = concat!("`", $st_name, "`")] $st(payload!($st $($st_boxed)?)),)*
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

            /// Names of older texts: old name, opcode, the attributes the name stood for.
            pub const OLD_NAMES: &'static [(&'static str, Self, &'static str)] =
                &[$($($(($old, Self::$st, $implied),)*)?)*];

            /// Name in HLO text.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$un => $un_name,)* $(Self::$bin => $bin_name,)* $(Self::$st => $st_name,)*
                }
            }
            /// Number of operands.
            pub const fn arity(self) -> Arity {
                match self {
                    $(Self::$un => Arity::Fixed(1),)*
                    $(Self::$bin => Arity::Fixed(2),)*
                    $(Self::$st => arity!($st_arity),)*
                }
            }
            /// Whether the text must state the result shape.
            pub const fn shape_text(self) -> ShapeText {
                match self {
                    $(Self::$un)|* | $(Self::$bin)|* => ShapeText::Inferred,
                    $(Self::$st => shape_text!($st_shape),)*
                }
            }
            /// How near another backend's result must come.
            pub const fn accuracy(self) -> Accuracy {
                match self {
                    $(Self::$un => accuracy!($un_acc $($un_ulp)?),)*
                    $(Self::$bin => accuracy!($bin_acc $($bin_ulp)?),)*
                    $(Self::$st => accuracy!($st_acc),)*
                }
            }
            /// Element types an elementwise op is defined on; `None` for any other op, which has rules of its own.
            pub const fn types(self) -> Option<Types> {
                match self {
                    $(Self::$un => Some(Unary::$un.types()),)*
                    $(Self::$bin => Some(Binary::$bin.types()),)*
                    $(Self::$st)|* => None,
                }
            }
            /// Whether the verifier checks everything the specification asks of the op.
            pub const fn is_verified(self) -> bool {
                match self {
                    $(Self::$un)|* | $(Self::$bin)|* => true,
                    $(Self::$st => <super::$st as ShapeRule>::CHECKED,)*
                }
            }
            /// Names of the op's own attributes, the current ones first.
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
            /// Element types it is defined on.
            pub const fn types(self) -> Types {
                match self { $(Self::$un => Types(&[$(class!($un_class)),*]),)* }
            }
        }
        impl Binary {
            /// Element types it is defined on.
            pub const fn types(self) -> Types {
                match self { $(Self::$bin => Types(&[$(class!($bin_class)),*]),)* }
            }
        }

        impl Op {
            /// Which operation this is.
            pub const fn opcode(&self) -> Opcode {
                match self {
                    $(Self::Unary(Unary::$un) => Opcode::$un,)*
                    $(Self::Binary(Binary::$bin) => Opcode::$bin,)*
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
            /// Fills in what attributes left out and operands tell.
            pub(crate) fn complete(&mut self, operands: &[&Shape], stated: Option<&Shape>) -> Result<()> {
                match self {
                    Self::Unary(_) | Self::Binary(_) => Ok(()),
                    $(Self::$st(op) => op.complete(operands, stated),)*
                }
            }
            /// The shape the op gives for these operands; the number of operands has been checked.
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

/// What a word in opcode position stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(crate) opcode: Opcode,
    /// Attributes an old name stood for, as text.
    pub(crate) implied: &'static str,
}

static SPELLINGS: LazyLock<FxHashMap<&'static str, Spelling>> = LazyLock::new(|| {
    let now = Opcode::ALL.iter().map(|&opcode| (opcode.name(), Spelling { opcode, implied: "" }));
    let old = Opcode::OLD_NAMES.iter();
    now.chain(old.map(|&(name, opcode, implied)| (name, Spelling { opcode, implied }))).collect()
});

impl Opcode {
    pub(crate) fn spelled(name: &str) -> Option<Spelling> {
        SPELLINGS.get(name).copied()
    }
    /// The opcode of this name; old names count.
    ///
    /// ```
    /// use hlo::Opcode;
    /// assert_eq!(Opcode::from_name("cross-replica-sum"), Some(Opcode::AllReduce));
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::spelled(name).map(|spelling| spelling.opcode)
    }
    /// Whether the op has an asynchronous form of its own, and so none made with `async-start`.
    pub fn has_native_async(self) -> bool {
        matches!(
            self,
            Self::AllGather
                | Self::AllReduce
                | Self::CollectivePermute
                | Self::Copy
                | Self::Recv
                | Self::Send
        )
    }
    /// Whether it is one of the 20 functions that may ask for an accuracy.
    pub fn takes_result_accuracy(self) -> bool {
        const FUNCTIONS: [Opcode; 20] = [
            Opcode::Acos,
            Opcode::Acosh,
            Opcode::Asin,
            Opcode::Asinh,
            Opcode::Atanh,
            Opcode::Cbrt,
            Opcode::Cosine,
            Opcode::Cosh,
            Opcode::Erf,
            Opcode::Exponential,
            Opcode::ExponentialMinusOne,
            Opcode::Log,
            Opcode::LogPlusOne,
            Opcode::Logistic,
            Opcode::Rsqrt,
            Opcode::Sine,
            Opcode::Sinh,
            Opcode::Sqrt,
            Opcode::Tan,
            Opcode::Tanh,
        ];
        FUNCTIONS.contains(&self)
    }
}
impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
