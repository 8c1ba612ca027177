//! Setters of the attributes of new instructions: XLA's `Set`, `Swap` and `Clear` methods.
//!
//! A setting lasts until it is set again, or until a [`Scope`](crate::Scope) around it ends.
use crate::Builder;
use crate::annotations::Annotations;
use hlo::ir::{FrontendAttributes, Metadata, OriginalValue, Sharding};
use std::mem::replace;

impl Builder {
    fn mark<T>(&self, change: impl FnOnce(&mut Annotations) -> T) -> T {
        change(&mut self.state.borrow_mut().annotations)
    }

    /// Sets the metadata of new instructions, in place of scopes and lines: XLA's `SetOpMetadata`.
    ///
    /// ```
    /// use hlo::ir::Metadata;
    /// let b = builder::Builder::new("m");
    /// b.set_op_metadata(Metadata { op_name: "jit(f)/sin".into(), ..Metadata::default() });
    /// let y = b.constant(1f32).sin();
    /// assert!(b.build(y)?.module().to_string().contains("op_name=\"jit(f)/sin\""));
    /// # Ok::<(), builder::Error>(())
    /// ```
    pub fn set_op_metadata(&self, metadata: Metadata) {
        self.swap_op_metadata(Some(metadata));
    }
    /// Sets the metadata of new instructions, and returns the previous one: XLA's `SwapOpMetadata`.
    pub fn swap_op_metadata(&self, metadata: Option<Metadata>) -> Option<Metadata> {
        self.mark(|marks| replace(&mut marks.metadata, metadata))
    }
    /// Sets the metadata of the next instruction, and of no other: XLA's `SetOneShotOpMetadata`.
    pub fn set_one_shot_op_metadata(&self, metadata: Metadata) {
        self.mark(|marks| marks.one_shot = Some(metadata));
    }
    /// Makes new instructions record scopes and lines again: XLA's `ClearOpMetadata`.
    pub fn clear_op_metadata(&self) {
        self.swap_op_metadata(None);
    }

    /// Sets the sharding of new instructions: XLA's `SetSharding`. Of a tuple each leaf gets it,
    /// unless it has one for each.
    pub fn set_sharding(&self, sharding: Sharding) {
        self.swap_sharding(Some(sharding));
    }
    /// Sets the sharding of new instructions, and returns the previous one: XLA's `SwapSharding`.
    pub fn swap_sharding(&self, sharding: Option<Sharding>) -> Option<Sharding> {
        self.mark(|marks| replace(&mut marks.sharding, sharding))
    }
    /// Ends the sharding of new instructions: XLA's `ClearSharding`.
    pub fn clear_sharding(&self) {
        self.swap_sharding(None);
    }
    /// Returns the sharding of new instructions.
    pub fn sharding(&self) -> Option<Sharding> {
        self.mark(|marks| marks.sharding.clone())
    }

    /// Sets the frontend attributes of new instructions: XLA's `SetFrontendAttributes`.
    pub fn set_frontend_attributes(&self, attributes: FrontendAttributes) {
        self.swap_frontend_attributes(attributes);
    }
    /// Sets the frontend attributes of new instructions, and returns the previous ones: XLA's
    /// `SwapFrontendAttributes`.
    pub fn swap_frontend_attributes(&self, attributes: FrontendAttributes) -> FrontendAttributes {
        let FrontendAttributes(mut notes) = attributes;
        // The text has them in this order.
        notes.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.mark(|marks| replace(&mut marks.frontend, FrontendAttributes(notes)))
    }
    /// Ends the frontend attributes of new instructions: XLA's `ClearFrontendAttributes`.
    pub fn clear_frontend_attributes(&self) {
        self.swap_frontend_attributes(FrontendAttributes::default());
    }
    /// Returns the frontend attributes of new instructions.
    pub fn frontend_attributes(&self) -> FrontendAttributes {
        self.mark(|marks| marks.frontend.clone())
    }

    /// Sets the value of an original program that new instructions are: XLA's `SetOriginalValue`.
    pub fn set_original_value(&self, origin: OriginalValue) {
        self.mark(|marks| marks.origin = Some(origin));
    }
    /// Ends the original value of new instructions: XLA's `ClearOriginalValue`.
    pub fn clear_original_value(&self) {
        self.mark(|marks| marks.origin = None);
    }
    /// Returns which value of an original program new instructions are.
    pub fn original_value(&self) -> Option<OriginalValue> {
        self.mark(|marks| marks.origin.clone())
    }
}
