//! Ordering, renumbering and naming of the contents of an edited module.
use super::computation::{ComputationRewriter, Slot};
use super::{ModuleRewriter, RewriteError, described};
use crate::id::Arena;
use crate::ir::SourceText;
use crate::ir::{
    CommonAttrs, Computation, ComputationId, Instruction, InstructionId, Module, ModuleConfig,
};
use crate::text::names::Uniquer;
use smol_str::SmolStr;
use std::sync::Arc;

/// The new index of each old one; `None` for a removed item.
type Renumbering = Vec<Option<usize>>;

impl ModuleRewriter {
    /// Returns the edited module, which is not verified.
    ///
    /// Instructions stay in text order, except that each comes after its operands and control
    /// predecessors; computations likewise come after their callees. A control predecessor that was
    /// removed is left out. Original names are kept; an added name gets a number if it is taken.
    ///
    /// # Errors
    /// If a removed item is still used, or an item depends on itself.
    pub fn finish(self) -> Result<Module, RewriteError> {
        let Self { name, entry, mut config, frames, described: shapes, computations } = self;
        let (order, renumbered) = computation_order(&computations)?;
        let Some(entry) = renumbered.get(entry.index()).copied().flatten() else {
            return Err(RewriteError::RemovedCallee { caller: name.to_string() });
        };
        let mut added = Vec::with_capacity(order.len());
        let mut finished = Arena::default();
        for i in order {
            let Some(rewriter) = &computations[i] else { continue };
            let (mut computation, is_added) = rewriter.finish()?;
            for (_, instruction) in computation.instructions.iter_mut() {
                renumber_callees(instruction, &renumbered, &computation.name)?;
            }
            added.push(is_added);
            finished.push(computation);
        }
        give_names(&mut finished, &added);
        let entry = ComputationId::new(entry);
        if described(&finished[entry]) != shapes {
            forget_entry(&mut config);
        }
        Ok(Module {
            name,
            computations: finished,
            entry,
            config,
            frames,
            source: SourceText::default(),
        })
    }
}

/// Removes the attributes that describe the parameters and the result of another entry.
fn forget_entry(config: &mut ModuleConfig) {
    config.entry_layout = None;
    config.input_output_alias.clear();
    config.buffer_donor.clear();
    config.allow_spmd_sharding_propagation_to_parameters.clear();
    config.allow_spmd_sharding_propagation_to_output.clear();
}

fn renumber_callees(
    instruction: &mut Instruction,
    renumbered: &Renumbering,
    caller: &SmolStr,
) -> Result<(), RewriteError> {
    let mut is_complete = true;
    instruction.op.each_callee_mut(&mut |id| match renumbered.get(id.index()).copied().flatten() {
        Some(new) => *id = ComputationId::new(new),
        None => is_complete = false,
    });
    let removed = || RewriteError::RemovedCallee { caller: caller.to_string() };
    if is_complete { Ok(()) } else { Err(removed()) }
}

/// Returns the computations, callees before callers, and the new index of each.
fn computation_order(
    computations: &[Option<Arc<ComputationRewriter>>],
) -> Result<(Vec<usize>, Renumbering), RewriteError> {
    let kept = (0..computations.len()).filter(|&i| computations[i].is_some());
    let before = |i: usize| {
        let found = computations.get(i).and_then(Option::as_deref);
        let called = found.map(ComputationRewriter::callees).unwrap_or_default();
        called.into_iter().map(ComputationId::index).collect()
    };
    let name = |i: usize| computations[i].as_ref().map_or("", |c| c.name()).to_owned();
    let order = sorted(computations.len(), kept, before, name)?;
    let order: Vec<usize> =
        order.into_iter().filter(|&i| computations.get(i).is_some_and(Option::is_some)).collect();
    let renumbered = renumbering(computations.len(), &order);
    Ok((order, renumbered))
}

fn renumbering(count: usize, order: &[usize]) -> Renumbering {
    let mut renumbered = vec![None; count];
    for (new, &old) in order.iter().enumerate() {
        renumbered[old] = Some(new);
    }
    renumbered
}

/// Sorts `nodes` so that each comes after those that `before` returns for it, and else in the given
/// order.
fn sorted(
    count: usize,
    nodes: impl IntoIterator<Item = usize>,
    before: impl Fn(usize) -> Vec<usize>,
    name: impl Fn(usize) -> String,
) -> Result<Vec<usize>, RewriteError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Unseen,
        Open,
        Finished,
    }
    let mut visits = vec![Visit::Unseen; count];
    let mut order = Vec::with_capacity(count);
    for node in nodes {
        let mut open: Vec<(usize, Option<std::vec::IntoIter<usize>>)> = vec![(node, None)];
        while let Some((node, rest)) = open.last_mut() {
            let node = *node;
            if rest.is_none() {
                match visits[node] {
                    Visit::Finished => {
                        open.pop();
                        continue;
                    }
                    Visit::Open => return Err(RewriteError::Cycle { name: name(node) }),
                    Visit::Unseen => visits[node] = Visit::Open,
                }
            }
            match rest.get_or_insert_with(|| before(node).into_iter()).next() {
                Some(next) => open.push((next, None)),
                None => {
                    visits[node] = Visit::Finished;
                    order.push(node);
                    open.pop();
                }
            }
        }
    }
    Ok(order)
}

impl ComputationRewriter {
    /// Returns the computation, whose callees still have the ids of the rewriter, and for each
    /// instruction whether it was added.
    fn finish(&self) -> Result<(Computation, Vec<bool>), RewriteError> {
        let order = self.order()?;
        let renumbered = renumbering(self.slots.len(), &order);
        let new_id = |id: InstructionId| renumbered.get(id.index()).copied().flatten();
        let new_id = |id: InstructionId| new_id(id).map(InstructionId::new);
        let root = self.root.filter(|root| self.get(*root).is_some());
        let root = root.and_then(new_id).ok_or_else(|| {
            let operand = self.root.map_or("", |root| self.instruction_name(root)).to_owned();
            RewriteError::RemovedOperand { user: self.name.to_string(), operand }
        })?;
        let mut computation = Computation::new(self.name.clone());
        let mut added = Vec::with_capacity(order.len());
        for i in order {
            let Slot { instruction, name, spans, is_added, .. } = &self.slots[i];
            let Some(mut instruction) = instruction.clone() else { continue };
            for operand in &mut instruction.operands {
                // The order has every operand.
                *operand = new_id(*operand).unwrap_or(*operand);
            }
            if let Some(control) = instruction.common.as_mut().and_then(|c| c.control.as_mut()) {
                *control = control.iter().filter_map(|&before| new_id(before)).collect();
            }
            computation.push(instruction, name.clone(), *spans);
            added.push(*is_added);
        }
        computation.root = root;
        computation.signature =
            self.has_signature.then(|| Box::new(computation.result_shape().clone()));
        computation.execution_thread = self.execution_thread.clone();
        computation.span = self.span;
        Ok((computation, added))
    }
    /// Returns the instructions in text order, each after its operands and control predecessors.
    fn order(&self) -> Result<Vec<usize>, RewriteError> {
        let mut nodes: Vec<usize> =
            (0..self.slots.len()).filter(|&i| self.slots[i].instruction.is_some()).collect();
        nodes.sort_by_key(|&i| (self.slots[i].position, i));
        for &i in &nodes {
            let mut operands = self.slots[i].instruction.iter().flat_map(|i| &i.operands);
            if let Some(operand) = operands.find(|&&operand| self.get(operand).is_none()) {
                let named = self.slots.get(operand.index());
                let operand = named.map_or(String::new(), |slot| slot.name.to_string());
                let user = self.slots[i].name.to_string();
                return Err(RewriteError::RemovedOperand { user, operand });
            }
        }
        let before = |i: usize| {
            let instruction = self.slots[i].instruction.as_ref();
            let common = instruction.and_then(|i| i.common.as_deref());
            let control = common.map(CommonAttrs::control_predecessors).unwrap_or_default();
            let control = control.iter().filter(|&&before| self.get(before).is_some());
            let operands = instruction.into_iter().flat_map(|i| &i.operands);
            operands.chain(control).map(|id| id.index()).collect()
        };
        sorted(self.slots.len(), nodes, before, |i| self.slots[i].name.to_string())
    }
}

/// Gives every computation and instruction a unique name: first to original ones, then to added
/// ones.
fn give_names(computations: &mut Arena<Computation>, added: &[Vec<bool>]) {
    let (mut names, mut instruction_names) = (Uniquer::default(), Uniquer::default());
    for pass in [false, true] {
        for (at, computation) in computations.iter_mut() {
            let is_added = &added[at.index()];
            if !pass && let Some(name) = names.unique(&computation.name) {
                computation.name = name;
            }
            for id in computation.instructions.ids().filter(|id| is_added[id.index()] == pass) {
                if let Some(name) = instruction_names.unique(computation.name(id)) {
                    computation.rename(id, name);
                }
            }
        }
    }
}
