//! `select`: `result[i] = pred[i] ? on_true[i] : on_false[i]`; bits are moved, not computed with
use super::typed::Typed;
use crate::{Fusion, Kernel, Reuse};
use hlo::{ArrayShape, Literal};
use num::{Result, Scope};

/// A `select` with a `pred` for each element.
struct Select(Typed);

/// The kernel of `select` with a result of this shape.
pub(super) fn kernel(result: &ArrayShape) -> impl Kernel + 'static {
    Select(Typed::select(result.ty.storage_bytes()))
}

impl Kernel for Select {
    fn run(
        &self,
        _context: &dyn Scope,
        inputs: &[&Literal],
        outputs: &mut [Literal],
    ) -> Result<()> {
        self.0.run(inputs, &mut outputs[0]);
        Ok(())
    }
    fn reuse(&self) -> Reuse {
        Reuse::SameIndex(usize::MAX)
    }
    fn fusion(&self) -> Fusion {
        Fusion::Loop(self.0.function())
    }
}
