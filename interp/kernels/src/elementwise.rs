//! Elementwise ops: the same function at every index.
//!
//! The meaning of each op is in `num`, one element at a time. Types of the processor have loops of
//! their own (`typed`); the others are computed in wide form, block after block.
use crate::block::{Block, BlockSource, Compute, blockwise, refill};
use crate::move_kernel::Move;
use crate::op::{ArrayOp, Site, linear, slice_each};
use crate::slicing::{SliceDim, Sliced};
use crate::typed::Typed;
use crate::{Fusion, Kernel, Reuse};
use hlo::op::{Binary, Clamp, Compare, Convert, ReducePrecision, StochasticConvert, Unary};
use hlo::{Array, ElementType, Op, Scalar};
use num::loops::{
    VectorLoop, binary_loop, clamp_loop, compare_loop, convert_loop, is_approximate,
    magnitude_loop, unary_loop,
};
use num::scalar_program::ScalarPrograms;
use num::{Arithmetic, Result, Scope};
use smallvec::SmallVec;

/// An element of the result from the elements of the operands at its index.
type ElementFn = dyn Fn(&[Scalar]) -> Scalar + Send + Sync;

/// An elementwise op, with the loop for its types.
pub(super) struct Elementwise {
    operands: SmallVec<[ElementType; 3]>,
    compute: Box<Compute>,
    /// The loop in types of the processor, where there is one.
    typed: Option<Typed>,
    arithmetic: Arithmetic,
    /// Whether it converts elements to larger ones.
    widens: bool,
    /// The function of one element: scalars need no blocks.
    element: Box<ElementFn>,
}

impl Kernel for Elementwise {
    fn run(
        &self,
        _context: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        self.fold(inputs, &mut outputs[0]);
        Ok(())
    }
    fn fold(&self, inputs: &[Option<&Array>], output: &mut Array) -> bool {
        let shape = output.shape();
        let (ty, rank) = (shape.ty, shape.rank());
        let result = output.bytes_mut();
        if rank == 0 {
            let operands = inputs.iter().zip(&self.operands);
            let operands: SmallVec<[Scalar; 3]> = operands
                .map(|(input, &ty)| match input {
                    Some(input) => input.get(0),
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
        let sources: SmallVec<[BlockSource<'_>; 3]> = sources
            .map(|(input, &ty)| match input {
                Some(input) if input.shape().rank() == 0 => BlockSource::Scalar(ty, input.get(0)),
                Some(input) => BlockSource::Array(ty, input.bytes()),
                None => BlockSource::Output(ty),
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

/// Returns the kernel of an elementwise op at a site: by the loop `typed` if there is one, else by
/// a function of blocks and one of single elements.
macro_rules! kernel {
    ($site:expr, $typed:expr, |$blocks:ident, $out:ident| $compute:expr, |$x:ident| $element:expr) => {{
        let operands: SmallVec<[ElementType; 3]> = $site.operands.iter().map(|s| s.ty).collect();
        let typed: Option<VectorLoop> = $typed;
        Elementwise {
            typed: typed.map(|function| Typed::new(function, &operands, $site.result().ty)),
            arithmetic: Arithmetic::Exact,
            widens: false,
            operands,
            compute: Box::new(move |$blocks: &[Block], $out: &mut Block| $compute),
            element: Box::new(move |$x: &[Scalar]| $element),
        }
    }};
}

/// Returns whether the operands have the element type of the result.
fn is_of_one_type(site: &Site<'_>) -> bool {
    site.operands.iter().all(|operand| operand.ty == site.result().ty)
}

impl ArrayOp for Unary {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let (op, ty, to) = (*self, site.operands[0].ty, site.result().ty);
        let typed = match is_of_one_type(site) {
            true => unary_loop(op, ty, site.arithmetic),
            false if op == Self::Abs && ty == ElementType::C64 => Some(magnitude_loop()),
            false => None,
        };
        let mut kernel = kernel!(
            site,
            typed,
            |x, out| out.fill(x[0].len(), |i| num::unary(op, ty, x[0].get(i))),
            |x| num::unary(op, ty, x[0])
        );
        if is_approximate(op, to, site.arithmetic) {
            kernel.arithmetic = Arithmetic::Fast;
        }
        Some(Box::new(kernel))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        slice_each(Op::Unary(*self), site, region)
    }
}

impl ArrayOp for Binary {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let (op, ty) = (*self, site.operands[0].ty);
        Some(Box::new(kernel!(
            site,
            if is_of_one_type(site) { binary_loop(op, ty) } else { None },
            |x, out| out.fill(x[0].len(), |i| num::binary(op, ty, x[0].get(i), x[1].get(i))),
            |x| num::binary(op, ty, x[0], x[1])
        )))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        slice_each(Op::Binary(*self), site, region)
    }
}

impl ArrayOp for Compare {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { direction, ty: _ } = *self; // `order` has the default of the type of comparison.
        let of = site.operands[0].ty;
        let order = self.order(of);
        let compare = move |a, b| Scalar::Pred(num::compare(direction, order, of, a, b));
        Some(Box::new(kernel!(
            site,
            compare_loop(direction, order, of),
            |x, out| out.fill(x[0].len(), |i| compare(x[0].get(i), x[1].get(i))),
            |x| compare(x[0], x[1])
        )))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        slice_each(Op::Compare(self.clone()), site, region)
    }
}

impl ArrayOp for Clamp {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        let ty = site.result().ty;
        Some(Box::new(kernel!(
            site,
            clamp_loop(ty),
            |x, out| out.fill(x[1].len(), |i| num::clamp(
                ty,
                x[0].get(i),
                x[1].get(i),
                x[2].get(i)
            )),
            |x| num::clamp(ty, x[0], x[1], x[2])
        )))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        slice_each(Op::Clamp(self.clone()), site, region)
    }
}

impl ArrayOp for Convert {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        let (from, to) = (site.operands[0].ty, site.result().ty);
        if from == to {
            return Some(Move::bitcast(site.operands[0], site.result()));
        }
        let mut kernel = kernel!(
            site,
            convert_loop(from, to),
            |x, out| convert_block(from, to, &x[0], out),
            |x| x[0].convert(from, to)
        );
        kernel.widens = from.storage_bytes() < to.storage_bytes();
        Some(Box::new(kernel))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        slice_each(Op::Convert(self.clone()), site, region)
    }
}

impl ArrayOp for ReducePrecision {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { exponent_bits, mantissa_bits } = *self;
        // More bits than any type has leave the value alone, as 64 do.
        let bits = |n: i64| u32::try_from(n.min(64)).unwrap_or(0);
        let (ty, exponent, mantissa) = (site.result().ty, bits(exponent_bits), bits(mantissa_bits));
        let round = move |x| num::reduce_precision(ty, exponent, mantissa, x);
        Some(Box::new(kernel!(
            site,
            None,
            |x, out| out.fill(x[0].len(), |i| round(x[0].get(i))),
            |x| round(x[0])
        )))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        slice_each(Op::ReducePrecision(self.clone()), site, region)
    }
}

impl ArrayOp for StochasticConvert {
    fn kernel(&self, _: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        None
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        slice_each(Op::StochasticConvert(self.clone()), site, region)
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
