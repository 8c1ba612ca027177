//! Computations imported from other modules.
use crate::build::rename;
use crate::{Builder, Computation};
use hlo::ir::{ComputationId, InstructionSpans};
use hlo::{Module, Span, Verified};
use std::panic::Location;

impl Builder {
    /// Returns the entry computation of a module, with all it calls: XLA's `AddSubComputation`. The
    /// header of the module is ignored.
    ///
    /// ```
    /// let text = "HloModule other\nENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] negate(p) }";
    /// let other = hlo::Module::parse(text)?.verify()?;
    /// let b = builder::Builder::new("m");
    /// let negate = b.add_sub_computation(&other);
    /// let x = b.parameter(0, "f32[2]", "x");
    /// let result = interp::run(&b.build(b.call(negate, &[x]) + negate.inline(&[x]))?, &["f32[2] {1, 2}".parse()?])?;
    /// assert_eq!(result.to_string(), "f32[2]{0} {-2, -4}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn add_sub_computation(&self, other: &Verified) -> Computation<'_> {
        let caller = Location::caller();
        let module = other.module();
        let mut state = self.state.borrow_mut();
        let mut moved = vec![None; module.computations.len()];
        for id in callees_first(module) {
            let mut computation = module.computations[id].clone();
            rename(&mut computation.instructions, &moved);
            let count = computation.instructions.len();
            computation.set_spans(|_| InstructionSpans::default());
            computation.span = Span::default();
            computation.signature = None;
            for (_, instruction) in computation.instructions.iter_mut() {
                // Rows of the other module's table mean nothing here.
                if let Some(metadata) =
                    instruction.common.as_mut().and_then(|c| c.metadata.as_mut())
                {
                    metadata.stack_frame_id = 0;
                }
            }
            state.callers.push(vec![caller; count]);
            moved[id.index()] = Some(state.finished.push(computation));
        }
        match moved[module.entry.index()] {
            Some(entry) => Computation::from_id(self, entry),
            None => Computation::invalid(self),
        }
    }
}

/// Returns the entry computation and those it calls, callees before callers.
fn callees_first(module: &Module) -> Vec<ComputationId> {
    let mut order = Vec::new();
    let mut seen = vec![false; module.computations.len()];
    let mut open = vec![(module.entry, false)];
    while let Some((id, done)) = open.pop() {
        if done {
            order.push(id);
            continue;
        }
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        open.push((id, true));
        for (_, instruction) in module.computations[id].instructions.iter() {
            instruction.op.each_callee(&mut |callee| open.push((callee, false)));
        }
    }
    order
}
