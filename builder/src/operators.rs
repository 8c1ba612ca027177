//! Operators between values, and between values and numbers.
use crate::elementwise::binary;
use crate::operand::Along;
use crate::{Error, Operand, Result, Value};
use hlo::elem::Class;
use hlo::op::Binary;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

/// `value op anything`, `number op value`, `along op value`.
macro_rules! operators {
    ($($trait:ident $method:ident $op:expr;)*) => {
        $(impl<'b, R: Operand<'b>> $trait<R> for Value<'b> {
            type Output = Self;
            #[track_caller]
            fn $method(self, rhs: R) -> Self {
                self.record(|_| binary($op(self)?, self, rhs, self))
            }
        }
        impl<'b> $trait<Value<'b>> for Along<'b> {
            type Output = Value<'b>;
            #[track_caller]
            fn $method(self, rhs: Value<'b>) -> Value<'b> {
                rhs.record(|_| binary($op(rhs)?, self, rhs, rhs))
            }
        }
        operators! { numbers $trait $method $op; f32 f64 i32 i64 u32 bool })*
    };
    (numbers $trait:ident $method:ident $op:expr; $($ty:ty)*) => {
        $(impl<'b> $trait<Value<'b>> for $ty {
            type Output = Value<'b>;
            #[track_caller]
            fn $method(self, rhs: Value<'b>) -> Value<'b> {
                rhs.record(|_| binary($op(rhs)?, self, rhs, rhs))
            }
        })*
    };
}

fn always(op: Binary) -> impl Fn(Value<'_>) -> Result<Binary> {
    move |_| Ok(op)
}

/// Shifts right: `>>` keeps the sign of signed numbers.
fn shift_right(value: Value<'_>) -> Result<Binary> {
    let ty = value.element_type()?;
    match ty.class() {
        Class::Signed => Ok(Binary::ShiftRightArithmetic),
        Class::Unsigned => Ok(Binary::ShiftRightLogical),
        Class::Pred | Class::Float | Class::Complex => {
            Err(Error::argument(format!("`>>` shifts integers, found {ty}")))
        }
    }
}

operators! {
    Add add always(Binary::Add);
    Sub sub always(Binary::Subtract);
    Mul mul always(Binary::Multiply);
    Div div always(Binary::Divide);
    Rem rem always(Binary::Remainder);
    BitAnd bitand always(Binary::And);
    BitOr bitor always(Binary::Or);
    BitXor bitxor always(Binary::Xor);
    Shl shl always(Binary::ShiftLeft);
    Shr shr shift_right;
}

impl Neg for Value<'_> {
    type Output = Self;
    #[track_caller]
    fn neg(self) -> Self {
        Value::neg(self)
    }
}
impl Not for Value<'_> {
    type Output = Self;
    #[track_caller]
    fn not(self) -> Self {
        Value::not(self)
    }
}
