//! `domain`: a border between shardings.
use super::value::DomainMetadata;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The operand; what lies on either side is sharded differently.
    pub struct Domain {
        /// The shardings on both sides.
        pub domain: DomainMetadata = "domain";
    }
}

impl ShapeRule for Domain {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
