//! `select`: `result[i] = pred[i] ? on_true[i] : on_false[i]`; bits are moved, not computed with
use crate::Result;
use crate::context::RunContext;
use crate::plan::{Kernel, Reuse};
use hlo::Literal;

/// A `select` with a `pred` for each element.
pub(super) struct Select;

impl Kernel for Select {
    fn run(
        &self,
        _context: &RunContext,
        inputs: &[&Literal],
        outputs: &mut [Literal],
    ) -> Result<()> {
        let width = outputs[0].array_shape().expect("a kernel computes arrays").ty.storage_bytes();
        let is_here = |k: usize| inputs[k].array_shape().is_some();
        let (chosen, on_true, on_false) = (inputs[0].bytes(), inputs[1].bytes(), inputs[2].bytes());
        let result = outputs[0].bytes_mut();
        macro_rules! select {
            ($($bytes:literal)*) => {
                match width {
                    $($bytes => {
                        let to = result.as_chunks_mut::<$bytes>().0.iter_mut();
                        let (on_true, on_false) = (on_true.as_chunks().0, on_false.as_chunks().0);
                        if !is_here(0) {
                            // The result's memory holds the pred.
                            for ((to, on_true), on_false) in to.zip(on_true).zip(on_false) {
                                *to = if to[0] != 0 { *on_true } else { *on_false };
                            }
                        } else if !is_here(1) {
                            for ((to, on_false), &chosen) in to.zip(on_false).zip(chosen) {
                                *to = if chosen != 0 { *to } else { *on_false };
                            }
                        } else if !is_here(2) {
                            for ((to, on_true), &chosen) in to.zip(on_true).zip(chosen) {
                                *to = if chosen != 0 { *on_true } else { *to };
                            }
                        } else {
                            for (((to, on_true), on_false), &chosen) in
                                to.zip(on_true).zip(on_false).zip(chosen)
                            {
                                *to = if chosen != 0 { *on_true } else { *on_false };
                            }
                        }
                    })*
                    other => unreachable!("no element takes {other} bytes"),
                }
            };
        }
        select!(1 2 4 8 16);
        Ok(())
    }
    fn reuse(&self) -> Reuse {
        Reuse::SameIndex
    }
}
