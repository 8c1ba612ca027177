//! Elementwise ops: the same function at every index.
//!
//! The meaning of each op is in `num`, one element at a time. Types of the processor have loops of their own (`typed`);
//! the others are computed in wide form, block after block.
use super::typed::Typed;
use crate::block::{Block, Compute, Source, blockwise, refill};
use num::{Arithmetic, Result, Scope};

use crate::{Fusion, Kernel, Reuse};
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar};
use num::loops::is_approximate;
use smallvec::SmallVec;

/// An element of the result from the elements of the operands at its index.
type Element = dyn Fn(&[Scalar]) -> Scalar + Send + Sync;

/// An elementwise op, with the loop for its types.
pub(super) struct Elementwise {
    operands: SmallVec<[ElementType; 3]>,
    compute: Box<Compute>,
    /// The loop in types of the processor, where there is one.
    typed: Option<Typed>,
    arithmetic: Arithmetic,
    /// Whether it converts elements to larger ones.
    widens: bool,
    /// The same for one element: scalars need no blocks.
    element: Box<Element>,
}

impl Kernel for Elementwise {
    fn run(
        &self,
        _context: &dyn Scope,
        inputs: &[&Literal],
        outputs: &mut [Literal],
    ) -> Result<()> {
        self.fold(inputs, &mut outputs[0]);
        Ok(())
    }
    fn fold(&self, inputs: &[&Literal], output: &mut Literal) -> bool {
        let shape = output.array_shape().expect("a kernel computes arrays");
        let (ty, rank) = (shape.ty, shape.rank());
        let result = output.bytes_mut();
        if rank == 0 {
            let operands = inputs.iter().zip(&self.operands);
            let operands: SmallVec<[Scalar; 3]> = operands
                .map(|(input, &ty)| match input.array_shape() {
                    Some(_) => input.get(0),
                    None => Scalar::read(ty, result),
                })
                .collect();
            (self.element)(&operands).write(ty, result);
            return true;
        }
        if let Some(typed) = &self.typed {
            typed.run(inputs, output);
            return true;
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
        true
    }
    fn reuse(&self) -> Reuse {
        Reuse::SameIndex(usize::MAX)
    }
    fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
    fn fusion(&self) -> Fusion {
        match &self.typed {
            Some(typed) if self.widens => Fusion::Widen(typed.function()),
            Some(typed) => Fusion::Loop(typed.function()),
            None => Fusion::None,
        }
    }
}

/// The kernel of an elementwise op; `None` if it is none.
pub(super) fn kernel(
    op: &Op,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    arithmetic: Arithmetic,
) -> Option<Elementwise> {
    let operands: SmallVec<[ElementType; 3]> = operands.iter().map(|shape| shape.ty).collect();
    let to = result.ty;
    macro_rules! kernel {
        (|$blocks:ident, $out:ident| $compute:expr, |$x:ident| $element:expr) => {
            Some(Elementwise {
                typed: Typed::of(op, &operands, to, arithmetic),
                arithmetic: match op {
                    Op::Unary(op) if is_approximate(*op, to, arithmetic) => Arithmetic::Fast,
                    _ => Arithmetic::Exact,
                },
                widens: matches!(op, Op::Convert(_))
                    && operands[0].storage_bytes() < to.storage_bytes(),
                operands,
                compute: Box::new(move |$blocks: &[Block], $out: &mut Block| $compute),
                element: Box::new(move |$x: &[Scalar]| $element),
            })
        };
    }
    let ty = *operands.first()?;
    match *op {
        Op::Unary(op) => {
            kernel!(|x, out| out.fill(x[0].len(), |i| num::unary(op, ty, x[0].get(i))), |x| {
                num::unary(op, ty, x[0])
            })
        }
        Op::Binary(op) => {
            kernel!(
                |x, out| out.fill(x[0].len(), |i| num::binary(op, ty, x[0].get(i), x[1].get(i))),
                |x| num::binary(op, ty, x[0], x[1])
            )
        }
        Op::Compare(ref op) => {
            let (direction, order) = (op.direction, op.order(ty));
            let compare = move |a, b| Scalar::Pred(num::compare(direction, order, ty, a, b));
            kernel!(|x, out| out.fill(x[0].len(), |i| compare(x[0].get(i), x[1].get(i))), |x| {
                compare(x[0], x[1])
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

/// A NaN becomes quiet on its way to another type, as IEEE 754 says.
#[inline]
fn quieted(x: f64) -> f64 {
    if x.is_nan() { f64::from_bits(x.to_bits() | 1 << 51) } else { x }
}

fn convert_block(from: ElementType, to: ElementType, x: &Block, out: &mut Block) {
    match (x, &mut *out) {
        // Storing rounds once, to whatever type.
        (Block::Float(x), Block::Float(out)) => refill(out, x.iter().map(|&x| quieted(x))),
        _ => out.fill(x.len(), |i| x.get(i).convert(from, to)),
    }
}
