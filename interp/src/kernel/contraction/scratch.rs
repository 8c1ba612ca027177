//! The memory that a contraction works in.
use super::panels::packed_words;
use super::recipe::Recipe;
use crate::index::saturating_count;
use hlo::{ArrayShape, ElementType};

impl Recipe {
    /// Bytes that sums of `terms` products of two arrays take beside these and the result, at most: elements in the form
    /// in which products are formed, and packed panels of `columns` columns. What single rows take is left out.
    pub(in crate::kernel) fn scratch(
        self,
        (lhs, rhs): (&ArrayShape, &ArrayShape),
        to: ElementType,
        columns: usize,
        terms: usize,
    ) -> usize {
        let form = form(lhs.ty, rhs.ty, to);
        let forms = |array: &ArrayShape| {
            let own = if array.ty == form { 0 } else { form.storage_bytes().max(size_of::<i64>()) };
            let bytes = self.copies().saturating_mul(size_of::<f32>()).saturating_add(own);
            saturating_count(&array.dims).saturating_mul(bytes)
        };
        let planes = form.storage_bytes() / size_of::<f32>();
        let packed = packed_words(columns, terms.saturating_mul(self.product_count()), planes);
        forms(lhs)
            .saturating_add(forms(rhs))
            .saturating_add(packed.saturating_mul(size_of::<f64>()))
    }
}

/// The type whose numbers products are formed of. Integers take as much as f32 does, or f64 does, with a float.
fn form(lhs: ElementType, rhs: ElementType, to: ElementType) -> ElementType {
    let is_double = |ty: ElementType| match ty.is_float() || ty.is_complex() {
        true => ty.component() == ElementType::F64,
        false => ty.bits() > 16,
    };
    let compensated = is_double(lhs) || is_double(rhs) || to.component() == ElementType::F64;
    match (lhs.is_complex() || rhs.is_complex(), compensated) {
        (false, false) => ElementType::F32,
        (false, true) => ElementType::F64,
        (true, false) => ElementType::C64,
        (true, true) => ElementType::C128,
    }
}
