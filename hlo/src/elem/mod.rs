//! Element types: one table row per type, with all its properties.
mod format;

pub use format::{FloatFormat, Special};

use std::fmt;

/// The kind of numbers a type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// `pred`
    Pred,
    /// `s1` to `s64`
    Signed,
    /// `u1` to `u64`
    Unsigned,
    /// `f4e2m1fn` to `f64`, `bf16`
    Float,
    /// `c64`, `c128`
    Complex,
}

macro_rules! element_types {
    ($($variant:ident $name:literal $bits:literal $bytes:literal $class:ident $proto:literal $digits:literal $doc:literal;)*) => {
        /// The type of an array's elements.
        ///
        /// Tuples, tokens and opaque handles are not element types; they are
        /// [`Shape`](crate::Shape)s.
        ///
        /// ```
        /// use hlo::ElementType;
        /// assert_eq!(ElementType::from_name("f8e4m3fn"), Some(ElementType::F8E4M3Fn));
        /// assert_eq!(ElementType::S4.bits(), 4);
        /// assert_eq!(ElementType::S4.storage_bytes(), 1);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ElementType { $(#[doc = $doc] $variant,)* }

        impl ElementType {
            /// All element types, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name in HLO text.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// Returns the name with its article: `an s32`, `a u8`.
            pub(crate) fn with_article(self) -> String {
                let name = self.name();
                // The article follows the sound: "an ess", "an eff".
                let article = if name.starts_with(['s', 'f']) { "an" } else { "a" };
                format!("{article} {name}")
            }
            /// Returns the type of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
            /// Returns the bits of a value; 8 for `pred`, both parts for complex types.
            pub const fn bits(self) -> u32 {
                match self { $(Self::$variant => $bits,)* }
            }
            /// Returns the bytes of an element in a [`Literal`](crate::Literal): one for sub-byte
            /// types.
            pub const fn storage_bytes(self) -> usize {
                match self { $(Self::$variant => $bytes,)* }
            }
            /// Returns the kind of numbers it holds.
            pub const fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)* }
            }
            /// Returns the number in XLA's `PrimitiveType` enum.
            pub const fn proto_number(self) -> i32 {
                match self { $(Self::$variant => $proto,)* }
            }
            /// Returns the type of this number in XLA's `PrimitiveType` enum.
            pub const fn from_proto_number(number: i32) -> Option<Self> {
                match number { $($proto => Some(Self::$variant),)* _ => None }
            }
            /// Returns the significant digits a constant is printed with: for `f32` and `f64` those
            /// tried first, 0 for types that are not floats.
            pub const fn print_digits(self) -> usize {
                match self { $(Self::$variant => $digits,)* }
            }
        }
    };
}
element_types! {
    // variant     name         bits bytes class  proto digits
    Pred          "pred"           8 1 Pred      1 0 "Boolean.";
    S1            "s1"             1 1 Signed   30 0 "-1 or 0.";
    S2            "s2"             2 1 Signed   26 0 "-2 to 1.";
    S4            "s4"             4 1 Signed   21 0 "-8 to 7.";
    S8            "s8"             8 1 Signed    2 0 "8-bit two's complement.";
    S16           "s16"           16 2 Signed    3 0 "16-bit two's complement.";
    S32           "s32"           32 4 Signed    4 0 "32-bit two's complement.";
    S64           "s64"           64 8 Signed    5 0 "64-bit two's complement.";
    U1            "u1"             1 1 Unsigned 31 0 "0 or 1.";
    U2            "u2"             2 1 Unsigned 27 0 "0 to 3.";
    U4            "u4"             4 1 Unsigned 22 0 "0 to 15.";
    U8            "u8"             8 1 Unsigned  6 0 "8 bits, unsigned.";
    U16           "u16"           16 2 Unsigned  7 0 "16 bits, unsigned.";
    U32           "u32"           32 4 Unsigned  8 0 "32 bits, unsigned.";
    U64           "u64"           64 8 Unsigned  9 0 "64 bits, unsigned.";
    F16           "f16"           16 2 Float    10 5 "IEEE 754 binary16.";
    Bf16          "bf16"          16 2 Float    16 4 "The upper half of an f32.";
    F32           "f32"           32 4 Float    11 6 "IEEE 754 binary32.";
    F64           "f64"           64 8 Float    12 15 "IEEE 754 binary64.";
    F8E5M2        "f8e5m2"         8 1 Float    19 2 "8 bits with infinities, 5 of exponent.";
    F8E4M3        "f8e4m3"         8 1 Float    28 3 "8 bits with infinities, 4 of exponent.";
    F8E3M4        "f8e3m4"         8 1 Float    29 3 "8 bits with infinities, 3 of exponent.";
    F8E4M3Fn      "f8e4m3fn"       8 1 Float    20 3 "8 bits, finite except NaN.";
    F8E4M3B11Fnuz "f8e4m3b11fnuz"  8 1 Float    23 3 "8 bits, bias 11, one NaN, no -0.";
    F8E5M2Fnuz    "f8e5m2fnuz"     8 1 Float    24 2 "8 bits, 5 of exponent, one NaN, no -0.";
    F8E4M3Fnuz    "f8e4m3fnuz"     8 1 Float    25 3 "8 bits, 4 of exponent, one NaN, no -0.";
    F8E8M0Fnu     "f8e8m0fnu"      8 1 Float    33 2 "A power of two; one NaN, no zero, no sign.";
    F6E3M2Fn      "f6e3m2fn"       6 1 Float    35 2 "6 bits, all finite.";
    F6E2M3Fn      "f6e2m3fn"       6 1 Float    36 3 "6 bits, all finite.";
    F4E2M1Fn      "f4e2m1fn"       4 1 Float    32 2 "4 bits, all finite.";
    C64           "c64"           64 8 Complex  15 0 "Two f32: real and imaginary part.";
    C128          "c128"         128 16 Complex 18 0 "Two f64: real and imaginary part.";
}

impl ElementType {
    /// Returns whether it is an integer type; `pred` is not.
    pub const fn is_integral(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }
    /// Returns whether it is a real floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), Class::Float)
    }
    /// Returns whether it is complex.
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), Class::Complex)
    }
    /// Returns the type of a complex type's parts; any other type itself.
    #[must_use]
    pub const fn component(self) -> Self {
        match (self.class(), self.bits()) {
            (Class::Complex, 64) => Self::F32,
            (Class::Complex, _) => Self::F64,
            (Class::Pred | Class::Signed | Class::Unsigned | Class::Float, _) => self,
        }
    }
    /// Returns the type of complex numbers whose parts have this type.
    pub const fn complex(self) -> Option<Self> {
        match (self.class(), self.bits()) {
            (Class::Float, 32) => Some(Self::C64),
            (Class::Float, 64) => Some(Self::C128),
            (Class::Pred | Class::Signed | Class::Unsigned | Class::Float | Class::Complex, _) => {
                None
            }
        }
    }
    /// Returns whether both are the same type, or both are floats of any width: what XLA calls the
    /// same type ignoring floating-point precision.
    pub const fn same_ignoring_precision(self, other: Self) -> bool {
        (self.is_float() && other.is_float()) || self.proto_number() == other.proto_number()
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
