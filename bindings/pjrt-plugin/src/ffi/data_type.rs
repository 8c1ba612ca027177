//! Element types as the FFI numbers them.
use hlo::ElementType;
use std::ffi::c_int;

/// `XLA_FFI_DataType_TOKEN`.
pub(super) const TOKEN: c_int = 17;

/// Returns the number of an element type in `XLA_FFI_DataType`: that in `PrimitiveType`, and 0 for types that the FFI lacks.
pub(super) const fn data_type(ty: ElementType) -> c_int {
    // Those of 6 bits.
    if ty.bits() == 6 { 0 } else { ty.proto_number() }
}
