//! Attributes of new instructions: scopes, metadata, shardings, frontend attributes.
use crate::Builder;
use hlo::ir::{CommonAttrs, FrontendAttributes, Metadata, OriginalValue, Sharding};
use hlo::{Opcode, Shape};
use smol_str::{SmolStr, format_smolstr};

/// The line of a call of the builder in the user's program.
pub(crate) type Caller = &'static std::panic::Location<'static>;

/// The attributes of new instructions.
#[derive(Debug, Clone)]
pub(crate) struct Annotations {
    /// Names of the scopes around, the outermost first.
    pub(crate) scopes: Vec<SmolStr>,
    /// Replaces the metadata made from scopes and lines.
    pub(crate) metadata: Option<Metadata>,
    /// The metadata of the next instruction only.
    pub(crate) one_shot: Option<Metadata>,
    pub(crate) sharding: Option<Sharding>,
    pub(crate) frontend: FrontendAttributes,
    pub(crate) origin: Option<OriginalValue>,
    /// Whether the line of the call is recorded.
    pub(crate) lines: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self {
            scopes: Vec::new(),
            metadata: None,
            one_shot: None,
            sharding: None,
            frontend: FrontendAttributes::default(),
            origin: None,
            lines: true,
        }
    }
}

impl Annotations {
    /// Returns the attributes of a new instruction.
    pub(crate) fn common(
        &mut self,
        opcode: Opcode,
        shape: &Shape,
        caller: Caller,
    ) -> Option<Box<CommonAttrs>> {
        let chosen = self.one_shot.take().or_else(|| self.metadata.clone());
        let metadata = chosen.or_else(|| self.made_up(opcode, caller));
        let frontend = Some(&self.frontend).filter(|f| !f.0.is_empty()).cloned();
        let nothing = metadata.is_none()
            && frontend.is_none()
            && self.sharding.is_none()
            && self.origin.is_none();
        (!nothing).then(|| {
            Box::new(CommonAttrs {
                sharding: self.sharding.clone().map(|sharding| for_shape(sharding, shape)),
                frontend_attributes: frontend,
                origin: self.origin.clone(),
                metadata,
                ..CommonAttrs::default()
            })
        })
    }
    /// Scopes and line.
    fn made_up(&self, opcode: Opcode, caller: Caller) -> Option<Metadata> {
        let mut metadata = Metadata::default();
        if !self.scopes.is_empty() {
            metadata.op_name = format_smolstr!("{}/{opcode}", self.scopes.join("/"));
        }
        if self.lines {
            metadata.source_file = caller.file().into();
            let clip = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
            metadata.source_line = clip(caller.line());
            metadata.source_column = clip(caller.column());
        }
        (metadata != Metadata::default()).then_some(metadata)
    }
}

/// Returns the sharding as an instruction of this shape has it: of a tuple, one for each leaf.
pub(crate) fn for_shape(sharding: Sharding, shape: &Shape) -> Sharding {
    match shape {
        Shape::Tuple(_) => sharding.expand_to_leaves(shape.leaves().len()),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => sharding,
    }
}

/// A guard that restores the attributes of the builder when it is dropped.
#[must_use = "the marks last as long as this value: bind it with `let _scope = ...`"]
#[derive(Debug)]
pub struct Scope<'b> {
    builder: &'b Builder,
    before: Annotations,
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let mut state = self.builder.state.borrow_mut();
        let one_shot = state.annotations.one_shot.take();
        state.annotations = Annotations { one_shot, ..self.before.clone() };
    }
}

impl Builder {
    fn marked(&self, change: impl FnOnce(&mut Annotations)) -> Scope<'_> {
        let before = self.state.borrow().annotations.clone();
        change(&mut self.state.borrow_mut().annotations);
        Scope { builder: self, before }
    }
    /// Prefixes the `op_name` of what is built until the guard is dropped:
    /// `op_name="encoder/attention/dot"`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[4]", "x");
    /// let y = {
    ///     let _scope = b.scope("encoder");
    ///     x.exp()
    /// };
    /// let module = b.build(y)?;
    /// assert!(module.module().to_string().contains("op_name=\"encoder/exponential\""));
    /// # Ok::<(), builder::Error>(())
    /// ```
    pub fn scope(&self, name: &str) -> Scope<'_> {
        self.marked(|marks| marks.scopes.push(name.into()))
    }
    /// Sets the sharding of everything built until the guard is dropped; `None` for none.
    ///
    /// XLA's `XlaScopedShardingAssignment`.
    pub fn scoped_sharding(&self, sharding: Option<Sharding>) -> Scope<'_> {
        self.marked(|marks| marks.sharding = sharding)
    }
    /// Sets the frontend attributes of everything built until the guard is dropped, in place of the
    /// outer ones.
    ///
    /// XLA's `XlaScopedFrontendAttributesAssignment`.
    pub fn scoped_frontend_attributes(&self, attributes: FrontendAttributes) -> Scope<'_> {
        self.marked(|marks| marks.frontend = attributes)
    }
    /// Sets the metadata of everything built until the guard is dropped, in place of scopes and
    /// lines.
    ///
    /// XLA's `XlaScopedOpMetadataAssignment`.
    pub fn scoped_op_metadata(&self, metadata: Metadata) -> Scope<'_> {
        self.marked(|marks| marks.metadata = Some(metadata))
    }
    /// Sets the original value of everything built until the guard is dropped.
    ///
    /// XLA's `XlaScopedOriginalValueAssignment`.
    pub fn scoped_original_value(&self, origin: Option<OriginalValue>) -> Scope<'_> {
        self.marked(|marks| marks.origin = origin)
    }
    /// Sets whether instructions record the line of the program that made them; they do by default.
    pub fn set_source_lines(&self, noted: bool) {
        self.state.borrow_mut().annotations.lines = noted;
    }
}
