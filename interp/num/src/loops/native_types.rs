//! The choice of the native type of an element type.

/// Runs `$body` with `$name` the native type of these that has this element type, if there is one.
macro_rules! with_type {
    ($ty:expr, $name:ident => $body:expr, [$($native:ty),*]) => {
        $(if $ty == <$native as hlo::literal::Native>::TYPE {
            type $name = $native;
            $body
        })*
    };
}

macro_rules! with_integer {
    ($ty:expr, $name:ident => $body:expr) => {
        crate::loops::native_types::with_type!($ty, $name => $body, [i8, i16, i32, i64, u8, u16, u32, u64])
    };
}

macro_rules! with_native {
    ($ty:expr, $name:ident => $body:expr) => {
        crate::loops::native_types::with_type!(
            $ty, $name => $body, [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64]
        )
    };
}

pub(super) use {with_integer, with_native, with_type};
