//! `domain`: a boundary between shardings. Returns the operand.
use super::value::DomainMetadata;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Returns the operand; the sharding differs on the two sides.
    pub struct Domain {
        /// The shardings on both sides.
        pub domain: DomainMetadata = "domain" in instruction;
    }
}

impl ShapeRule for Domain {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        Ok(cx.operands[0].clone())
    }
}
