//! `bitcast` and `bitcast-convert`: the same bits under another shape or type.
use super::{Infer, ShapeRule, check};
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// The operand's memory under another shape and layout.
    pub struct Bitcast {}
}
attrs! {
    /// The operand's bits as another element type; the first part of an element is its least significant.
    ///
    /// To a narrower type a dimension is added at the end, to a wider one the last dimension is taken away.
    pub struct BitcastConvert {}
}

/// Bits an element takes in memory: sub-byte types are packed only where the layout says so.
fn bits(shape: &ArrayShape) -> Option<u128> {
    let packed = shape.layout.tail.as_ref().map_or(0, |tail| tail.element_size_in_bits);
    let bits = match packed {
        0 => u128::from(shape.ty.bits().max(8)),
        n => u128::try_from(n).ok()?,
    };
    Some(u128::try_from(shape.element_count()?).ok()? * bits)
}

impl ShapeRule for Bitcast {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, result) = (cx.array(0)?, cx.stated_array()?);
        let (from, to) = (bits(operand), bits(result));
        check(from.is_some() && from == to, "bitcast_size", || {
            format!("{operand} and {result} do not take the same memory")
        })?;
        Ok(result.clone().into())
    }
}
impl ShapeRule for BitcastConvert {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, to) = (cx.array(0)?, cx.stated_array()?.ty);
        let from = operand.ty;
        check(from.is_complex() == to.is_complex(), "bitcast_convert_complex", || {
            format!("{from} cannot be read as {to}: both are complex or neither is")
        })?;
        let width = |ty: ElementType| i64::from(ty.bits());
        let (wide, narrow) = (width(from).max(width(to)), width(from).min(width(to)));
        check(wide % narrow == 0, "bitcast_convert_c1", || {
            format!("{wide} bits are no multiple of {narrow}")
        })?;
        let ratio = wide / narrow;
        let mut dims = operand.dims.clone();
        if width(from) > width(to) {
            dims.push(ratio);
        } else if width(from) < width(to) {
            check(dims.last() == Some(&ratio), "bitcast_convert_c2", || {
                format!("the last dimension of {operand} must be {ratio}, to become one {to}")
            })?;
            dims.pop();
        }
        Ok(ArrayShape::new(to, dims).into())
    }
}
