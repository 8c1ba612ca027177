//! Elementwise ops: the same function at every index.
//!
//! The meaning of each op is in `num`, one element at a time, and so are the loops over arrays.
use crate::move_kernel::Move;
use crate::op::{ArrayOp, Site, each_element};
use crate::typed::Typed;
use crate::{Fusion, Kernel, Reuse};
use hlo::op::{Binary, Clamp, Compare, Convert, ReducePrecision, StochasticConvert, Unary};
use hlo::{Array, ElementType, Op, Scalar};
use num::Arithmetic;
use num::loops::{VectorLoop, is_approximate, reduce_precision_loop};
use num::scalar_program::ScalarPrograms;
use num::scalar_program::step::ElementStep;
use smallvec::SmallVec;

/// An element of the result from the elements of the operands at its index.
type ElementFn = dyn Fn(&[Scalar]) -> Scalar + Send + Sync;

/// An elementwise op, with the loop for its types.
pub(super) struct Elementwise {
    operands: SmallVec<[ElementType; 3]>,
    typed: Typed,
    arithmetic: Arithmetic,
    /// Whether it converts elements to larger ones.
    widens: bool,
    /// The function of one element: scalars need no loops.
    element: Box<ElementFn>,
}

impl Kernel for Elementwise {
    fn fold(&self, inputs: &[Option<&Array>], output: &mut Array) -> bool {
        let shape = output.shape();
        let (ty, rank) = (shape.ty, shape.rank());
        let result = output.bytes_mut();
        if rank == 0 {
            let operands: SmallVec<[Scalar; 3]> = (inputs.iter().zip(&self.operands))
                .map(|(input, &ty)| {
                    input.map_or_else(|| Scalar::read(ty, result), |input| input.get(0))
                })
                .collect();
            (self.element)(&operands).write(ty, result);
            return true;
        }
        self.typed.run(inputs, output);
        true
    }
    fn reuse(&self) -> Reuse {
        Reuse::SameIndex(usize::MAX)
    }
    fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
    fn fusion(&self) -> Fusion {
        match self.widens {
            true => Fusion::Widen(self.typed.function()),
            false => Fusion::Loop(self.typed.function()),
        }
    }
}

impl Elementwise {
    fn new(
        site: &Site<'_>,
        function: VectorLoop,
        element: impl Fn(&[Scalar]) -> Scalar + Send + Sync + 'static,
    ) -> Self {
        let operands = types(site);
        Self {
            typed: Typed::new(function, &operands, site.result().ty),
            operands,
            arithmetic: Arithmetic::Exact,
            widens: false,
            element: Box::new(element),
        }
    }
    /// Returns the kernel of an op that is a step of scalars.
    fn of(op: &Op, site: &Site<'_>) -> Option<Self> {
        let step = ElementStep::of(op, types(site), site.result().ty)?;
        let function = step.in_loop(site.arithmetic);
        Some(Self::new(site, function, move |x| step.step.apply(|k| x[k])))
    }
}

fn types(site: &Site<'_>) -> SmallVec<[ElementType; 3]> {
    site.operands.iter().map(|operand| operand.ty).collect()
}

macro_rules! functions {
    ($($op:ident)*) => {$(
        impl ArrayOp for $op {
            fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
                let op = Op::$op(*self);
                let mut kernel = Elementwise::of(&op, site)?;
                if is_approximate(&op, site.operands[0].ty, site.arithmetic) {
                    kernel.arithmetic = Arithmetic::Fast;
                }
                Some(Box::new(kernel))
            }
            each_element!(|op| Op::$op(*op));
        }
    )*};
}
functions! { Unary Binary }

impl ArrayOp for Compare {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { direction: _, ty: _ } = self;
        Some(Box::new(Elementwise::of(&Op::Compare(self.clone()), site)?))
    }
    each_element!(|op| Op::Compare(op.clone()));
}

impl ArrayOp for Clamp {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        Some(Box::new(Elementwise::of(&Op::Clamp(self.clone()), site)?))
    }
    each_element!(|op| Op::Clamp(op.clone()));
}

impl ArrayOp for Convert {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        let (from, to) = (site.operands[0].ty, site.result().ty);
        if from == to {
            return Some(Move::bitcast(site.operands[0], site.result()));
        }
        let mut kernel = Elementwise::of(&Op::Convert(self.clone()), site)?;
        kernel.widens = from.storage_bytes() < to.storage_bytes();
        Some(Box::new(kernel))
    }
    each_element!(|op| Op::Convert(op.clone()));
}

impl ArrayOp for ReducePrecision {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { exponent_bits, mantissa_bits } = *self;
        // More bits than any type has leave the value alone, as 64 do.
        let bits = |n: i64| u32::try_from(n.min(64)).unwrap_or(0);
        let (ty, exponent, mantissa) = (site.result().ty, bits(exponent_bits), bits(mantissa_bits));
        let round = move |x| num::reduce_precision(ty, exponent, mantissa, x);
        let function = reduce_precision_loop(ty, exponent, mantissa);
        Some(Box::new(Elementwise::new(site, function, move |x| round(x[0]))))
    }
    each_element!(|op| Op::ReducePrecision(op.clone()));
}

impl ArrayOp for StochasticConvert {
    fn kernel(&self, _: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        None
    }
    each_element!(|op| Op::StochasticConvert(op.clone()));
}
