//! Elements of `dense` attributes.
use super::{Printer, put};
use crate::dense::{count, element_bytes};
use crate::ir::{Dense, Dim};
use hlo::{Class, ElementType, Scalar};

/// The most elements that are listed; more are bytes.
const LISTED: usize = 100;

impl Printer<'_> {
    pub(super) fn dense(&mut self, dense: &Dense) {
        let Dense { ty, bytes, splat } = dense;
        let size = element_bytes(ty).unwrap_or(1);
        let count = count(ty).unwrap_or(0);
        // Versions of MLIR differ in how many bits a boolean takes.
        let is_listed = count <= LISTED || ty.element == Ok(ElementType::Pred);
        self.out += "dense<";
        let element = ty.element.as_ref().ok().copied();
        if count == 0 {
            // Nothing stands between the brackets.
        } else if *splat || count == 1 {
            self.element(element, bytes);
        } else if is_listed {
            let size_of = |dim: &Dim| match dim {
                Dim::Static(size) => usize::try_from(*size).unwrap_or(0),
                Dim::Dynamic(_) => 0,
            };
            let dims: Vec<usize> = ty.dims.iter().map(size_of).collect();
            self.list_of(element, &dims, size, bytes);
        } else {
            self.out += "\"0x";
            let spare = ty.element.as_ref().map_or(0, |ty| 8u32.saturating_sub(ty.bits()));
            for byte in bytes {
                put!(self, "{:02X}", byte << spare >> spare);
            }
            self.out.push('"');
        }
        self.out += "> : ";
        self.out += &crate::element::type_text(&crate::ir::Type::Tensor(ty.clone()));
    }
    fn list_of(&mut self, ty: Option<ElementType>, dims: &[usize], size: usize, bytes: &[u8]) {
        let Some((&rows, inner)) = dims.split_first() else { return self.element(ty, bytes) };
        self.out.push('[');
        let row = bytes.len().checked_div(rows).unwrap_or(0).max(size);
        for (i, bytes) in bytes.chunks(row).enumerate() {
            self.comma(i);
            self.list_of(ty, inner, size, bytes);
        }
        self.out.push(']');
    }
    /// Prints an element; one of an `index` if there is no type.
    fn element(&mut self, ty: Option<ElementType>, bytes: &[u8]) {
        let ty = ty.unwrap_or(ElementType::S64);
        match (ty.class(), Scalar::read(ty, bytes)) {
            (Class::Complex, _) => {
                let part = ty.component();
                let (re, im) = bytes.split_at(part.storage_bytes());
                self.out.push('(');
                self.element(Some(part), re);
                self.out.push(',');
                self.element(Some(part), im);
                self.out.push(')');
            }
            (_, Scalar::Pred(value)) => put!(self, "{value}"),
            (_, Scalar::Signed(value)) => put!(self, "{value}"),
            (_, Scalar::Unsigned(value)) => put!(self, "{value}"),
            (_, Scalar::Float(_) | Scalar::Complex(..)) => {
                self.float_bits(ty, Scalar::bits(ty, bytes));
            }
        }
    }
    /// Prints a float of a type.
    pub(super) fn float(&mut self, ty: ElementType, value: f64) {
        match ty.float_format() {
            Some(format) => self.float_bits(ty, format.encode(value).into()),
            None => put!(self, "{value:e}"),
        }
    }
    fn float_bits(&mut self, ty: ElementType, bits: u128) {
        if let (Some(format), Ok(bits)) = (ty.float_format(), u64::try_from(bits)) {
            self.out += &super::float::text(format, ty.bits(), bits);
        }
    }
}
