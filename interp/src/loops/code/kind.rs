//! How values of each element type lie in registers.
use cranelift_codegen::ir::Type;
use cranelift_codegen::ir::types::{F32, F64, I8, I8X16, I64};
use hlo::{Class, ElementType};

/// How a value of an element type lies in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// 0 or 1 in 8 bits.
    Pred,
    /// Of this many bits, sign-extended to 64.
    Signed(u32),
    /// Of this many bits, zero-extended to 64.
    Unsigned(u32),
    Single,
    Double,
    /// A narrower float, as f64.
    Narrow(ElementType),
    /// In memory alone; as a word where it is moved.
    Complex,
}

impl Kind {
    pub(super) fn of(ty: ElementType) -> Self {
        match ty.class() {
            Class::Pred => Self::Pred,
            Class::Signed => Self::Signed(ty.bits()),
            Class::Unsigned => Self::Unsigned(ty.bits()),
            Class::Float if ty == ElementType::F32 => Self::Single,
            Class::Float if ty == ElementType::F64 => Self::Double,
            Class::Float => Self::Narrow(ty),
            Class::Complex => Self::Complex,
        }
    }
    /// The type of the register.
    pub(super) fn register(self) -> Type {
        match self {
            Self::Pred => I8,
            Self::Signed(_) | Self::Unsigned(_) => I64,
            Self::Single => F32,
            Self::Double | Self::Narrow(_) => F64,
            Self::Complex => I8X16,
        }
    }
}

/// Returns whether values of a type are rounded by calls.
pub(super) fn is_narrow(ty: ElementType) -> bool {
    matches!(Kind::of(ty), Kind::Narrow(_))
}
/// Returns whether values of a type are computed in one register.
pub(super) fn is_in_registers(ty: ElementType) -> bool {
    Kind::of(ty) != Kind::Complex
}
