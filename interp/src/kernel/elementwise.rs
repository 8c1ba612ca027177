//! Elementwise ops: the same function at every index.
//!
//! The meaning of each op is in `num`, one element at a time. Here it is applied to blocks of elements, with the op and
//! the type chosen once for a block, so that the compiler makes a tight loop of each.
use super::typed::Typed;
use crate::Result;
use crate::block::{Block, Compute, Source, blockwise, refill};
use crate::context::RunContext;
use crate::num;
use crate::num::dispatch::{if_class, undefined, with_op, with_row};
use crate::plan::{Kernel, Reuse};
use hlo::op::value::Direction;
use hlo::op::{Binary, Unary};
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar};
use smallvec::SmallVec;

/// Runs `$body` with `$name` bound to the direction as a constant.
macro_rules! with_direction {
    ($direction:expr, $name:ident => $body:expr) => {
        with_direction!($direction, $name => $body, [Eq Ne Ge Gt Le Lt])
    };
    ($direction:expr, $name:ident => $body:expr, [$($variant:ident)*]) => {
        match $direction {
            $(Direction::$variant => {
                let $name = Direction::$variant;
                $body
            })*
        }
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

/// An element of the result from the elements of the operands at its index.
type Element = dyn Fn(&[Scalar]) -> Scalar + Send + Sync;

/// An elementwise op, with the loop for its types.
pub(super) struct Elementwise {
    operands: SmallVec<[ElementType; 3]>,
    compute: Box<Compute>,
    /// The loop in the type itself, where there is one.
    typed: Option<Typed>,
    /// The same for one element: scalars need no blocks.
    element: Box<Element>,
}

impl Kernel for Elementwise {
    fn run(
        &self,
        _context: &RunContext,
        inputs: &[&Literal],
        outputs: &mut [Literal],
    ) -> Result<()> {
        let shape = outputs[0].array_shape().expect("a kernel computes arrays");
        let (ty, rank) = (shape.ty, shape.rank());
        let result = outputs[0].bytes_mut();
        if rank == 0 {
            let operands = inputs.iter().zip(&self.operands);
            let operands: SmallVec<[Scalar; 3]> = operands
                .map(|(input, &ty)| match input.array_shape() {
                    Some(_) => input.get(0),
                    None => Scalar::read(ty, result),
                })
                .collect();
            (self.element)(&operands).write(ty, result);
            return Ok(());
        }
        if let Some(typed) = &self.typed {
            typed.run(inputs, &mut outputs[0]);
            return Ok(());
        }
        let sources = inputs.iter().zip(&self.operands);
        let sources: SmallVec<[Source<'_>; 3]> = sources
            .map(|(input, &ty)| match input.array_shape() {
                Some(shape) if shape.rank() == 0 => Source::Scalar(ty, input.get(0)),
                Some(_) => Source::Array(ty, input.bytes()),
                None => Source::Output(ty),
            })
            .collect();
        blockwise(&sources, &self.compute, ty, result);
        Ok(())
    }
    fn reuse(&self) -> Reuse {
        Reuse::SameIndex(usize::MAX)
    }
}

/// The kernel of an elementwise op; `None` if it is none.
pub(super) fn kernel(
    op: &Op,
    operands: &[&ArrayShape],
    result: &ArrayShape,
) -> Option<Elementwise> {
    let operands: SmallVec<[ElementType; 3]> = operands.iter().map(|shape| shape.ty).collect();
    let to = result.ty;
    macro_rules! kernel {
        (|$blocks:ident, $out:ident| $compute:expr, |$x:ident| $element:expr) => {
            Some(Elementwise {
                typed: Typed::of(op, &operands, to),
                operands,
                compute: Box::new(move |$blocks: &[Block], $out: &mut Block| $compute),
                element: Box::new(move |$x: &[Scalar]| $element),
            })
        };
    }
    let ty = *operands.first()?;
    match *op {
        Op::Unary(op) => {
            kernel!(|x, out| unary_block(op, ty, &x[0], out), |x| num::unary(op, ty, x[0]))
        }
        Op::Binary(op) => {
            kernel!(|x, out| binary_block(op, ty, &x[0], &x[1], out), |x| num::binary(
                op, ty, x[0], x[1]
            ))
        }
        Op::Compare(ref op) => {
            let (direction, order) = (op.direction, op.order(ty));
            kernel!(|x, out| compare_block(direction, order, ty, &x[0], &x[1], out), |x| {
                Scalar::Pred(num::compare(direction, order, ty, x[0], x[1]))
            })
        }
        Op::Clamp(_) => {
            let ty = operands[1];
            kernel!(
                |x, out| out.fill(x[1].len(), |i| num::clamp(
                    ty,
                    x[0].get(i),
                    x[1].get(i),
                    x[2].get(i)
                )),
                |x| num::clamp(ty, x[0], x[1], x[2])
            )
        }
        Op::Convert(_) => {
            kernel!(|x, out| convert_block(ty, to, &x[0], out), |x| x[0].convert(ty, to))
        }
        Op::ReducePrecision(ref op) => {
            // More bits than any type has leave the value alone, as 64 do.
            let bits = |n: i64| u32::try_from(n.min(64)).unwrap_or(0);
            let (exponent, mantissa) = (bits(op.exponent_bits), bits(op.mantissa_bits));
            kernel!(
                |x, out| out.fill(x[0].len(), |i| {
                    num::reduce_precision(ty, exponent, mantissa, x[0].get(i))
                }),
                |x| num::reduce_precision(ty, exponent, mantissa, x[0])
            )
        }
        _ => None,
    }
}

fn unary_block(op: Unary, ty: ElementType, x: &Block, out: &mut Block) {
    match (x, &mut *out) {
        // The loops of the common type know it at compile time.
        (Block::Float(x), Block::Float(out)) if ty == ElementType::F32 => {
            let ty = ElementType::F32;
            with_op!(F, Unary, op, op => refill(out, x.iter().map(|&x| float(num::unary(op, ty, Scalar::Float(x))))));
        }
        (Block::Float(x), Block::Float(out)) => {
            refill(out, x.iter().map(|&x| float(num::unary(op, ty, Scalar::Float(x)))));
        }
        _ => out.fill(x.len(), |i| num::unary(op, ty, x.get(i))),
    }
}

pub(super) fn binary_block(op: Binary, ty: ElementType, a: &Block, b: &Block, out: &mut Block) {
    match (a, b, &mut *out) {
        (Block::Float(a), Block::Float(b), Block::Float(out)) => {
            let pairs = a.iter().zip(b);
            macro_rules! run {
                ($ty:expr) => {
                    with_op!(F, Binary, op, op => refill(out, pairs.map(|(&a, &b)| {
                        float(num::binary(op, $ty, Scalar::Float(a), Scalar::Float(b)))
                    })))
                };
            }
            if ty == ElementType::F32 {
                run!(ElementType::F32);
            } else if ty == ElementType::F64 {
                run!(ElementType::F64);
            } else {
                let one = |(&a, &b)| num::binary(op, ty, Scalar::Float(a), Scalar::Float(b));
                refill(out, pairs.map(|pair| float(one(pair))));
            }
        }
        (Block::Signed(a), Block::Signed(b), Block::Signed(out)) => {
            with_op!(S, Binary, op, op => refill(out, a.iter().zip(b).map(|(&a, &b)| {
                signed(num::binary(op, ty, Scalar::Signed(a), Scalar::Signed(b)))
            })));
        }
        (Block::Unsigned(a), Block::Unsigned(b), Block::Unsigned(out)) => {
            with_op!(U, Binary, op, op => refill(out, a.iter().zip(b).map(|(&a, &b)| {
                unsigned(num::binary(op, ty, Scalar::Unsigned(a), Scalar::Unsigned(b)))
            })));
        }
        _ => out.fill(a.len(), |i| num::binary(op, ty, a.get(i), b.get(i))),
    }
}

fn compare_block(
    direction: Direction,
    order: num::Order,
    ty: ElementType,
    a: &Block,
    b: &Block,
    out: &mut Block,
) {
    let Block::Pred(out) = out else { unreachable!("a comparison gives pred") };
    with_direction!(direction, direction => match (a, b, order) {
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
}

/// A NaN becomes quiet on its way to another type, as IEEE 754 says.
#[inline]
fn quieted(x: f64) -> f64 {
    if x.is_nan() { f64::from_bits(x.to_bits() | 1 << 51) } else { x }
}

fn convert_block(from: ElementType, to: ElementType, x: &Block, out: &mut Block) {
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
}
