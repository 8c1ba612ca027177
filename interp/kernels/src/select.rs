//! `select`: `result[i] = pred[i] ? on_true[i] : on_false[i]`; bits are moved, not computed with
use crate::op::{ArrayOp, Site, each_element};
use crate::typed::Typed;
use crate::{Fusion, Kernel, Reuse};
use hlo::{Array, Op, op};
use num::scalar_program::ScalarPrograms;
use num::{Result, Scope};

/// A `select` with a `pred` for each element, of which there may be one.
struct Select(Typed);

impl ArrayOp for op::Select {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        // A scalar selects a whole array, which is not copied.
        let width = site.result().ty.storage_bytes();
        match (site.operands[0].rank(), site.result().rank()) {
            (0, 1..) => None,
            _ => Some(Box::new(Select(Typed::select(width)))),
        }
    }
    each_element!(|op| Op::Select(op.clone()));
}

impl Kernel for Select {
    fn run(
        &self,
        _context: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
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
