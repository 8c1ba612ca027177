//! Copies of a computation's instructions in another computation.
use super::ModuleRewriter;
use crate::Op;
use crate::ir::{ComputationId, InstructionId};

impl ModuleRewriter {
    /// Copies the instructions of `callee` to the end of `caller`, with `operands` in place of its
    /// parameters. Returns the copy of its root. Control predecessors are not copied.
    ///
    /// ```
    /// use hlo::ir::rewrite::ModuleRewriter;
    /// let text = "HloModule m
    /// square { x = f32[] parameter(0) ROOT y = f32[] multiply(x, x) }
    /// ENTRY e { p = f32[] parameter(0) ROOT c = f32[] call(p), to_apply=square }";
    /// let module = hlo::Module::parse(text)?;
    /// let mut rewriter = ModuleRewriter::new(&module);
    /// let entry = rewriter.computation(module.entry);
    /// let [p, c] = ["p", "c"].map(|name| entry.find(name).unwrap());
    /// let callee = entry.callees()[0];
    /// let y = rewriter.inline(module.entry, callee, &[p]).unwrap();
    /// rewriter.computation_mut(module.entry).replace_uses(c, y);
    /// rewriter.computation_mut(module.entry).remove(c);
    /// rewriter.remove_unused_computations();
    /// let text = rewriter.finish()?.print(hlo::text::Style::Short);
    /// assert!(text.contains("ROOT y = f32[] multiply(p, p)"), "{text}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `None`, and nothing is copied, if `callee` was removed, has no root, or has another number
    /// of parameters.
    pub fn inline(
        &mut self,
        caller: ComputationId,
        callee: ComputationId,
        operands: &[InstructionId],
    ) -> Option<InstructionId> {
        let body = self.get(callee)?.clone();
        let (root, parameters) = (body.root()?, body.parameters());
        if parameters.len() != operands.len() {
            return None;
        }
        let caller = self.computation_mut(caller);
        let mut copies: Vec<Option<InstructionId>> = vec![None; body.slots.len()];
        for (parameter, &operand) in parameters.into_iter().zip(operands) {
            copies[parameter.index()] = Some(operand);
        }
        let copied: Vec<InstructionId> = body.ids();
        let is_copied = |id: &InstructionId| !matches!(body.instruction(*id).op, Op::Parameter(_));
        let copied: Vec<InstructionId> = copied.into_iter().filter(is_copied).collect();
        for &id in &copied {
            let copy = caller.push(body.instruction_name(id), body.instruction(id).clone());
            copies[id.index()] = Some(copy);
        }
        // Operands may come later in the list of ids.
        for copy in copied.into_iter().filter_map(|id| copies[id.index()]) {
            let instruction = caller.instruction_mut(copy);
            for operand in &mut instruction.operands {
                *operand = copies[operand.index()].unwrap_or(*operand);
            }
            if let Some(common) = &mut instruction.common {
                common.control = None;
            }
        }
        copies[root.index()]
    }
}
