//! `domain`: a border between shardings. The value is the operand's.
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
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        Ok(cx.operands[0].clone())
    }
}
