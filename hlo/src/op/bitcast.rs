//! `bitcast` and `bitcast-convert`: the same bits with another shape or type.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::layout::TileSplit;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// Reinterprets the operand's memory with another shape and layout.
    ///
    /// No data moves: the elements are stored in the order of the operand's layout, and read in the
    /// order of the result's layout. It is the only op whose value depends on layouts. The element
    /// type may change with the shape.
    ///
    /// # Shape
    ///
    /// The stated one. Constraint `bitcast_size`: operand and result take the same number of bits
    /// of memory, with the padding of their tiles or without it. An element narrower than a byte
    /// takes a byte, unless the layout packs it (`E(4)`).
    pub struct Bitcast {}
}
attrs! {
    /// Reinterprets the bits of the operand as another element type.
    ///
    /// For a type of the same width each element is reinterpreted. For a narrower one each element
    /// becomes several, along a new last dimension; the first of them is the least significant
    /// part. For a wider one it is the reverse: the last dimension is removed. Types narrower than
    /// a byte are packed: `u8[2]` is `u4[2,2]`.
    ///
    /// # Shape
    ///
    /// The stated element type; the operand's dimensions, with the last one added or removed.
    ///
    /// # Constraints
    ///
    /// - `bitcast_convert_c1`: one width is a multiple of the other, and the last dimension of the
    ///   operand makes up one element of a wider type.
    /// - `bitcast_convert_c2`: both types are complex or neither is.
    pub struct BitcastConvert {}
}

/// Returns the bits that the elements of the array take in memory, and the bits of the memory,
/// which has the padding of tiles. Sub-byte types are packed only if the layout says so.
fn bits(shape: &ArrayShape) -> Option<[u128; 2]> {
    let packed = shape.layout.tail.as_ref().map_or(0, |tail| tail.element_size_in_bits);
    let bits = match packed {
        0 => u128::from(shape.ty.bits().max(8)),
        n => u128::try_from(n).ok()?,
    };
    let elements = u128::try_from(shape.element_count()?).ok()?;
    let padded = TileSplit::all(shape).and_then(|(_, sizes)| {
        let size = |&size: &i64| u128::try_from(size).ok();
        sizes.iter().try_fold(bits, |bits, dim| bits.checked_mul(size(dim)?))
    });
    Some([elements.checked_mul(bits)?, padded.unwrap_or(elements.checked_mul(bits)?)])
}

impl ShapeRule for Bitcast {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, result) = (cx.array(0)?, cx.stated_array()?);
        let (from, to) = (bits(operand), bits(result));
        // Only what the backend calls the size of an array tells whether padding counts.
        let fits = matches!((from, to), (Some(a), Some(b)) if a[0] == b[0] || a[1] == b[1]);
        check(fits, "bitcast_size", || {
            let bits = |n: Option<[u128; 2]>| match n {
                None => "too many bits".to_owned(),
                Some([own, all]) if own == all => format!("{own} bits"),
                Some([own, all]) => format!("{own} bits, {all} with the padding of its tiles"),
            };
            format!("{operand} takes {} of memory, {result} takes {}", bits(from), bits(to))
        })
        .map_err(|e| e.on(Place::Shape))?;
        Ok(result.clone().into())
    }
}
impl ShapeRule for BitcastConvert {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, to) = (cx.array(0)?, cx.stated_array()?.ty);
        let from = operand.ty;
        check(from.is_complex() == to.is_complex(), "bitcast_convert_c2", || {
            format!("{from} cannot be bitcast to {to}: expected both or neither to be complex")
        })
        .map_err(|e| e.on(Place::Shape))?;
        let width = |ty: ElementType| i64::from(ty.bits());
        let (wide, narrow) = (width(from).max(width(to)), width(from).min(width(to)));
        check(wide % narrow == 0, "bitcast_convert_c1", || {
            format!("{from} cannot be bitcast to {to}: {wide} bits are not a multiple of {narrow}")
        })
        .map_err(|e| e.on(Place::Shape))?;
        let ratio = wide / narrow;
        let mut dims = operand.dims.clone();
        if width(from) > width(to) {
            dims.push(ratio);
        } else if width(from) < width(to) {
            check(dims.last() == Some(&ratio), "bitcast_convert_c1", || {
                format!("{ratio} elements of {from} form one of {to}: expected the last dimension of {operand:#} to be {ratio}")
            })
            .map_err(|e| e.on(Place::Operand(0)))?;
            dims.pop();
        }
        let dynamic = |d| d < operand.rank() && operand.is_dynamic(d);
        let dims = dims.iter().enumerate().map(|(d, &size)| (size, dynamic(d)));
        Ok(super::rule::with_dims(to, dims).into())
    }
}
