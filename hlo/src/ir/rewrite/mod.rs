//! Editing of modules: adding, replacing and removing instructions and computations.
//!
//! Ids stay valid while a module is edited: an instruction that is removed leaves a gap, and one
//! that is added gets a new id. [`ModuleRewriter::finish`] closes the gaps, orders every
//! instruction after its operands and every computation after its callees, renumbers all
//! references, and gives each instruction a unique name. A clone shares every computation that
//! neither side edits, so that many variants of one module cost little: a reducer clones, edits,
//! finishes and compares.
//!
//! ```
//! use hlo::ir::{Instruction, rewrite::ModuleRewriter};
//! use hlo::op::{Op, Unary};
//!
//! let text = "HloModule m
//! ENTRY e { x = f32[2] parameter(0) s = f32[2] sine(x) c = f32[2] cosine(s) ROOT r = f32[2] add(c, s) }";
//! let module = hlo::Module::parse(text)?;
//! let mut rewriter = ModuleRewriter::new(&module);
//! let entry = rewriter.computation_mut(module.entry);
//! let [s, c] = ["s", "c"].map(|name| entry.find(name).unwrap());
//! entry.set_root(c);
//! entry.remove_dead_code(|_| false);
//! let mut variant = rewriter.clone();
//! variant.computation_mut(module.entry).replace_uses(c, s);
//! assert_eq!(rewriter.finish()?.entry().instructions.len(), 3);
//! let variant = variant.finish()?;
//! assert_eq!(variant.entry().name(variant.entry().root), "s");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod computation;
mod finish;
mod inline;
#[cfg(test)]
mod tests;

pub use computation::ComputationRewriter;

use super::{Computation, ComputationId, Instruction, Module, ModuleConfig};
use crate::{Op, Shape};
use smol_str::SmolStr;
use std::sync::Arc;

/// A module being edited.
#[derive(Debug, Clone)]
pub struct ModuleRewriter {
    name: SmolStr,
    entry: ComputationId,
    config: ModuleConfig,
    frames: super::StackFrames,
    /// Shapes of the parameters and the result of the entry that `config` describes.
    described: (Vec<Shape>, Shape),
    computations: Vec<Option<Arc<ComputationRewriter>>>,
}

/// The reason why an edited module cannot be finished.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// An operand or a root was removed.
    #[error("`{user}` uses `{operand}`, which was removed")]
    RemovedOperand {
        /// The instruction that uses it; the computation if it is the root.
        user: String,
        /// The name it had.
        operand: String,
    },
    /// An instruction or a computation depends on itself.
    #[error("`{name}` depends on itself")]
    Cycle {
        /// One item of the cycle.
        name: String,
    },
    /// A called computation, or the entry, was removed.
    #[error("`{caller}` calls a computation that was removed")]
    RemovedCallee {
        /// The computation that calls it; the module if it is the entry.
        caller: String,
    },
}

impl ModuleRewriter {
    /// Returns an editable copy of a module.
    pub fn new(module: &Module) -> Self {
        let computations = module.computations.iter();
        let computations = computations.map(|(_, c)| Some(Arc::new(ComputationRewriter::from(c))));
        Self {
            name: module.name.clone(),
            entry: module.entry,
            config: module.config.clone(),
            frames: module.frames.clone(),
            described: described(module.entry()),
            computations: computations.collect(),
        }
    }
    /// Returns the entry computation.
    pub fn entry(&self) -> ComputationId {
        self.entry
    }
    /// Makes another computation the entry.
    pub fn set_entry(&mut self, id: ComputationId) {
        self.entry = id;
    }
    /// Returns the attributes of the module.
    ///
    /// [`finish`](Self::finish) drops those that describe the parameters and the result of the
    /// entry (its layout, aliases, donors, sharding propagation) if the shapes of these have
    /// changed.
    pub fn config_mut(&mut self) -> &mut ModuleConfig {
        &mut self.config
    }
    /// Returns the computations that were not removed, in the order of their ids.
    pub fn computation_ids(&self) -> Vec<ComputationId> {
        let kept = self.computations.iter().enumerate().filter(|(_, c)| c.is_some());
        kept.map(|(i, _)| ComputationId::new(i)).collect()
    }
    /// Returns the computation, unless it was removed.
    pub fn get(&self, id: ComputationId) -> Option<&ComputationRewriter> {
        self.computations.get(id.index())?.as_deref()
    }
    /// Returns the computation.
    ///
    /// # Panics
    /// If it was removed.
    pub fn computation(&self, id: ComputationId) -> &ComputationRewriter {
        self.get(id).expect("the computation was not removed")
    }
    /// Returns the computation, to edit it. Clones of the rewriter are not affected.
    ///
    /// # Panics
    /// If it was removed.
    pub fn computation_mut(&mut self, id: ComputationId) -> &mut ComputationRewriter {
        let slot = self.computations.get_mut(id.index()).and_then(Option::as_mut);
        Arc::make_mut(slot.expect("the computation was not removed"))
    }
    /// Adds a computation.
    pub fn add_computation(&mut self, computation: ComputationRewriter) -> ComputationId {
        self.computations.push(Some(Arc::new(computation)));
        ComputationId::new(self.computations.len() - 1)
    }
    /// Removes a computation. Its calls must be removed too.
    pub fn remove_computation(&mut self, id: ComputationId) {
        if let Some(slot) = self.computations.get_mut(id.index()) {
            *slot = None;
        }
    }
    /// Removes the computations that the entry does not reach; returns whether there were any.
    pub fn remove_unused_computations(&mut self) -> bool {
        let mut is_used = vec![false; self.computations.len()];
        let mut open = vec![self.entry];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut is_used[id.index()], true) {
                continue;
            }
            open.extend(self.get(id).map(ComputationRewriter::callees).unwrap_or_default());
        }
        let unused = |(slot, used): (&mut Option<_>, bool)| !used && slot.take().is_some();
        self.computations.iter_mut().zip(is_used).map(unused).fold(false, |any, one| any | one)
    }
}

/// Returns the shapes that the header's attributes refer to.
fn described(entry: &Computation) -> (Vec<Shape>, Shape) {
    let shape = entry.program_shape();
    (shape.parameters.into_iter().cloned().collect(), shape.result.clone())
}

/// Returns the computations that an op calls.
fn callees(op: &Op) -> Vec<ComputationId> {
    let mut found = Vec::new();
    op.each_callee(&mut |id| found.push(id));
    found
}

impl Instruction {
    /// Returns an instruction without common attributes.
    pub fn new(
        op: impl Into<Op>,
        shape: impl Into<Shape>,
        operands: impl IntoIterator<Item = super::InstructionId>,
    ) -> Self {
        let operands = operands.into_iter().collect();
        Self { op: op.into(), shape: shape.into(), operands, common: None }
    }
}
