//! The interface of an op on arrays to the planner: its kernel, its cost, and the slices that it
//! needs.
//!
//! The file of each kernel implements [`ArrayOp`] for the attributes of its op. No method has a
//! default, so an op does not compile before it has an answer to each.
use crate::Kernel;
use crate::function::writes;
use crate::slicing::{SliceDim, Sliced};
use hlo::{ArrayShape, Op, Shape};
use num::Arithmetic;
use num::scalar_program::ScalarPrograms;

/// The shapes that an op is compiled for, and its arithmetic.
pub struct Site<'a> {
    /// The shapes of the operands.
    pub operands: &'a [&'a ArrayShape],
    /// The shapes of the arrays of the result.
    pub results: &'a [&'a ArrayShape],
    /// The arithmetic of the engine.
    pub arithmetic: Arithmetic,
}

impl Site<'_> {
    /// Returns the shape of the only result.
    pub fn result(&self) -> &ArrayShape {
        self.results[0]
    }
}

/// Returns the slice of an op whose elements follow from the elements of its operands at the same
/// index.
pub(crate) fn slice_each(op: Op, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
    let own = &site.result().dims;
    if !site.operands.iter().all(|operand| operand.rank() == 0 || operand.dims == *own) {
        return None;
    }
    Some(Sliced::Op(op, (0..site.operands.len()).map(|i| (i, region.into())).collect()))
}

/// An op that computes arrays from arrays.
pub trait ArrayOp {
    /// Returns the kernel; `None` where the function of `spec` computes the op, because the result
    /// shares the memory of an operand, or because a kernel would gain nothing.
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>>;
    /// Returns what the op costs beyond its arrays.
    fn cost(&self, site: &Site<'_>) -> Cost;
    /// Returns how a region of the result follows from regions of the operands; `None` if its
    /// elements depend on whole operands.
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced>;
}

/// Answers [`ArrayOp::cost`] for an op that takes as many steps as its arrays have elements, and no
/// memory.
macro_rules! linear {
    () => {
        fn cost(&self, _: &$crate::Site<'_>) -> $crate::Cost {
            $crate::Cost::LINEAR
        }
    };
}
pub(crate) use linear;

/// Answers all but [`ArrayOp::kernel`] for an op whose elements follow from the elements of its
/// operands at the same index; takes the function that wraps the op.
macro_rules! each_element {
    ($op:expr) => {
        $crate::op::linear!();
        fn slice(
            &self,
            site: &$crate::Site<'_>,
            region: &[$crate::SliceDim],
        ) -> Option<$crate::Sliced> {
            let op: fn(&Self) -> ::hlo::Op = $op;
            $crate::op::slice_each(op(self), site, region)
        }
    };
}
pub(crate) use each_element;

/// Answers [`ArrayOp::slice`] for an op of which every region depends on whole operands.
macro_rules! needs_whole_operands {
    () => {
        fn slice(&self, _: &$crate::Site<'_>, _: &[$crate::SliceDim]) -> Option<$crate::Sliced> {
            None
        }
    };
}
pub(crate) use needs_whole_operands;

impl<T: ArrayOp> ArrayOp for Box<T> {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        (**self).kernel(site, programs)
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        (**self).cost(site)
    }
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        (**self).slice(site, region)
    }
}

/// The cost of an op beyond the elements of its arrays.
///
/// Fuel must bound the time of a run, and memory does not bound the time of every op: a product of
/// matrices of n x n numbers takes n^3 steps. A step is a multiplication or a comparison, up to a
/// factor that does not grow with the sizes. Ops that call a computation for each element count
/// those calls themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Steps, where they are more than the arrays have elements.
    pub steps: usize,
    /// Bytes that the function of `spec` works in, beside operands and result. A kernel states its
    /// own.
    pub scratch: usize,
}

impl Cost {
    /// As many steps as the arrays have elements, and no memory.
    pub const LINEAR: Self = Self { steps: 0, scratch: 0 };
}

/// Returns the kernel of an op that computes arrays from arrays of these shapes; `None` if the
/// function of `spec` computes it.
pub fn select(
    op: &Op,
    operands: &[&Shape],
    result: &Shape,
    programs: &ScalarPrograms,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let op = array_op(op)?;
    at_site(operands, result, arithmetic, |site| {
        if site.results.iter().all(|array| array.element_count() == Some(0)) {
            return Some(writes(|_, _, _| Ok(())));
        }
        op.kernel(site, programs)
    })?
}

/// Calls `each` with the site of these shapes, if all are arrays.
pub fn at_site<T>(
    operands: &[&Shape],
    result: &Shape,
    arithmetic: Arithmetic,
    each: impl FnOnce(&Site<'_>) -> T,
) -> Option<T> {
    let leaves = result.leaves();
    let results: Vec<&ArrayShape> = leaves.iter().map(|s| s.array()).collect::<Option<_>>()?;
    let operands: Vec<&ArrayShape> = operands.iter().map(|s| s.array()).collect::<Option<_>>()?;
    results.first()?;
    Some(each(&Site { operands: &operands, results: &results, arithmetic }))
}

macro_rules! of_kind {
    (array $op:ident) => {
        Some($op)
    };
    ($other:ident $op:ident) => {{
        let _ = $op;
        None
    }};
}

macro_rules! dispatch {
    (
        unary $unary:tt
        binary $binary:tt
        structured { $($op:ident $n:tt $o:tt $s:tt $a:tt $kind:ident $rule:tt $flags:tt;)* }
        was $was:tt
    ) => {
        /// Returns an op that computes arrays from arrays; `None` of the other kinds.
        pub fn array_op(op: &Op) -> Option<&dyn ArrayOp> {
            match op {
                Op::Unary(op) => Some(op),
                Op::Binary(op) => Some(op),
                $(Op::$op(op) => of_kind!($kind op),)*
            }
        }
    };
}
hlo::for_each_op!(dispatch);
