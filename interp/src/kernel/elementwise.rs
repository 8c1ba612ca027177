//! Elementwise ops: the same function at every index.
//!
//! The meaning of each op is in `num`, one element at a time. Here it is applied to blocks of elements, with the op and
//! the type chosen once for a block, so that the compiler makes a tight loop of each.
use crate::block::{Block, blockwise, refill};
use crate::num;
use hlo::op::value::Direction;
use hlo::op::{Binary, Compare, ReducePrecision, Unary};
use hlo::{ArrayShape, ElementType, Literal, Scalar, Shape};

/// Runs `$body` with `$name` bound to a value the compiler knows.
macro_rules! with_op {
    ($op:expr, $family:ident::{$($variant:ident)*}, $name:ident => $body:expr) => {
        match $op {
            $($family::$variant => {
                let $name = $family::$variant;
                $body
            })*
        }
    };
}
macro_rules! with_unary {
    ($op:expr, $name:ident => $body:expr) => {
        with_op!($op, Unary::{Abs Acos Acosh Asin Asinh Atanh Cbrt Ceil CountLeadingZeros Cosine Cosh Erf
            Exponential ExponentialMinusOne Floor Imag IsFinite Log LogPlusOne Logistic Negate Not Popcnt Real
            RoundNearestAfz RoundNearestEven Rsqrt Sign Sine Sinh Sqrt Tan Tanh}, $name => $body)
    };
}
macro_rules! with_binary {
    ($op:expr, $name:ident => $body:expr) => {
        with_op!($op, Binary::{Add And Atan2 Complex Divide Maximum Minimum Mulhi Multiply Or Power Remainder
            ShiftLeft ShiftRightArithmetic ShiftRightLogical Subtract Xor}, $name => $body)
    };
}

#[inline]
fn float(x: Scalar) -> f64 {
    x.as_f64()
}
#[inline]
fn signed(x: Scalar) -> i64 {
    x.as_wrapping()
}
#[inline]
fn unsigned(x: Scalar) -> u64 {
    x.as_wrapping().cast_unsigned()
}

fn element_type(operand: &Literal) -> ElementType {
    operand.array_shape().expect("verified: an array").ty
}

/// `result[i] = op(operand[i])`
pub(super) fn unary(op: Unary, operand: &Literal, shape: &ArrayShape) -> Literal {
    let ty = element_type(operand);
    blockwise(&[operand], shape, |operands, out| unary_block(op, ty, &operands[0], out))
}

fn unary_block(op: Unary, ty: ElementType, x: &Block, out: &mut Block) {
    match (x, &mut *out) {
        // The type is as good as known in the loops of the two common ones.
        (Block::Float(x), Block::Float(out)) if ty == ElementType::F32 => {
            let ty = ElementType::F32;
            with_unary!(op, op => refill(out, x.iter().map(|&x| float(num::unary(op, ty, Scalar::Float(x))))));
        }
        (Block::Float(x), Block::Float(out)) => {
            refill(out, x.iter().map(|&x| float(num::unary(op, ty, Scalar::Float(x)))));
        }
        _ => out.fill(x.len(), |i| num::unary(op, ty, x.get(i))),
    }
}

/// `result[i] = op(lhs[i], rhs[i])`
pub(super) fn binary(op: Binary, lhs: &Literal, rhs: &Literal, shape: &ArrayShape) -> Literal {
    let ty = element_type(lhs);
    blockwise(&[lhs, rhs], shape, |operands, out| {
        binary_block(op, ty, &operands[0], &operands[1], out);
    })
}

pub(super) fn binary_block(op: Binary, ty: ElementType, a: &Block, b: &Block, out: &mut Block) {
    match (a, b, &mut *out) {
        (Block::Float(a), Block::Float(b), Block::Float(out)) => {
            let pairs = a.iter().zip(b);
            macro_rules! run {
                ($ty:expr) => {
                    with_binary!(op, op => refill(out, pairs.map(|(&a, &b)| {
                        float(num::binary(op, $ty, Scalar::Float(a), Scalar::Float(b)))
                    })))
                };
            }
            match ty {
                ElementType::F32 => run!(ElementType::F32),
                ElementType::F64 => run!(ElementType::F64),
                _ => refill(
                    out,
                    pairs.map(|(&a, &b)| {
                        float(num::binary(op, ty, Scalar::Float(a), Scalar::Float(b)))
                    }),
                ),
            }
        }
        (Block::Signed(a), Block::Signed(b), Block::Signed(out)) => {
            with_binary!(op, op => refill(out, a.iter().zip(b).map(|(&a, &b)| {
                signed(num::binary(op, ty, Scalar::Signed(a), Scalar::Signed(b)))
            })));
        }
        (Block::Unsigned(a), Block::Unsigned(b), Block::Unsigned(out)) => {
            with_binary!(op, op => refill(out, a.iter().zip(b).map(|(&a, &b)| {
                unsigned(num::binary(op, ty, Scalar::Unsigned(a), Scalar::Unsigned(b)))
            })));
        }
        _ => out.fill(a.len(), |i| num::binary(op, ty, a.get(i), b.get(i))),
    }
}

/// `result[i] = lhs[i] direction rhs[i]`
pub(super) fn compare(op: &Compare, lhs: &Literal, rhs: &Literal, shape: &ArrayShape) -> Literal {
    let ty = element_type(lhs);
    let order = op.order(ty);
    blockwise(&[lhs, rhs], shape, |operands, out| {
        let (a, b) = (&operands[0], &operands[1]);
        let Block::Pred(out) = out else { unreachable!("a comparison gives pred") };
        with_op!(op.direction, Direction::{Eq Ne Ge Gt Le Lt}, direction => match (a, b, order) {
            (Block::Float(a), Block::Float(b), num::Order::Float) => {
                refill(out, a.iter().zip(b).map(|(&a, &b)| {
                    num::compare(direction, num::Order::Float, ty, Scalar::Float(a), Scalar::Float(b))
                }));
            }
            (Block::Signed(a), Block::Signed(b), _) => {
                refill(out, a.iter().zip(b).map(|(&a, &b)| {
                    num::compare(direction, num::Order::Signed, ty, Scalar::Signed(a), Scalar::Signed(b))
                }));
            }
            (Block::Unsigned(a), Block::Unsigned(b), _) => {
                refill(out, a.iter().zip(b).map(|(&a, &b)| {
                    num::compare(direction, num::Order::Unsigned, ty, Scalar::Unsigned(a), Scalar::Unsigned(b))
                }));
            }
            _ => refill(out, (0..a.len()).map(|i| num::compare(direction, order, ty, a.get(i), b.get(i)))),
        });
    })
}

/// `result[i] = min(max(operand[i], low[i]), high[i])`
pub(super) fn clamp(
    low: &Literal,
    operand: &Literal,
    high: &Literal,
    shape: &ArrayShape,
) -> Literal {
    let ty = element_type(operand);
    blockwise(&[low, operand, high], shape, |operands, out| {
        let (low, x, high) = (&operands[0], &operands[1], &operands[2]);
        out.fill(x.len(), |i| num::clamp(ty, low.get(i), x.get(i), high.get(i)));
    })
}

/// `result[i] = pred[i] ? on_true[i] : on_false[i]`; bits are moved, not computed with.
pub(super) fn select(
    pred: &Literal,
    on_true: &Literal,
    on_false: &Literal,
    shape: &Shape,
) -> Literal {
    let chosen = pred.bytes();
    let is_scalar = pred.array_shape().is_some_and(|p| p.rank() == 0);
    let Some(array) = shape.array().filter(|_| !is_scalar) else {
        let value = if chosen[0] != 0 { on_true } else { on_false };
        return crate::interpreter::with_layouts(value, shape);
    };
    let mut result = on_false.with_shape(array.clone());
    macro_rules! choose {
        ($($bytes:literal)*) => {
            match array.ty.storage_bytes() {
                $($bytes => {
                    let to = result.bytes_mut().as_chunks_mut::<$bytes>().0.iter_mut();
                    for ((to, from), &chosen) in to.zip(on_true.bytes().as_chunks().0).zip(chosen) {
                        *to = if chosen != 0 { *from } else { *to };
                    }
                })*
                other => unreachable!("no element takes {other} bytes"),
            }
        };
    }
    choose!(1 2 4 8 16);
    result
}

/// A NaN becomes quiet on its way to another type, as IEEE 754 says.
#[inline]
fn quieted(x: f64) -> f64 {
    if x.is_nan() { f64::from_bits(x.to_bits() | 1 << 51) } else { x }
}

/// `result[i] = operand[i]` in another type.
pub(super) fn convert(operand: &Literal, shape: &ArrayShape) -> Literal {
    let (from, to) = (element_type(operand), shape.ty);
    if from == to {
        return operand.with_shape(shape.clone());
    }
    blockwise(&[operand], shape, |operands, out| {
        let x = &operands[0];
        match (x, &mut *out) {
            // Storing rounds once, to whatever type.
            (Block::Float(x), Block::Float(out)) => refill(out, x.iter().map(|&x| quieted(x))),
            (Block::Pred(x), Block::Float(out)) => {
                refill(out, x.iter().map(|&x| f64::from(u8::from(x))));
            }
            (Block::Signed(x), Block::Signed(out)) if to.bits() >= from.bits() => {
                refill(out, x.iter().copied());
            }
            (Block::Float(x), Block::Signed(out)) => {
                refill(out, x.iter().map(|&x| signed(Scalar::Float(x).convert(from, to))));
            }
            _ => out.fill(x.len(), |i| x.get(i).convert(from, to)),
        }
    })
}

/// `result[i] = operand[i]` with fewer bits.
pub(super) fn reduce_precision(
    op: &ReducePrecision,
    operand: &Literal,
    shape: &ArrayShape,
) -> Literal {
    let ty = element_type(operand);
    // More bits than any type has leave the value alone, as 64 do.
    let bits = |n: i64| u32::try_from(n.min(64)).unwrap_or(0);
    let (exponent, mantissa) = (bits(op.exponent_bits), bits(op.mantissa_bits));
    blockwise(&[operand], shape, |operands, out| {
        let x = &operands[0];
        out.fill(x.len(), |i| num::reduce_precision(ty, exponent, mantissa, x.get(i)));
    })
}
