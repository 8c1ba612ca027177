//! Elements of `dense` attributes.
use super::{Printer, put};
use crate::dense::{count, element_bytes};
use crate::ir::{Dense, Dim};
use hlo::{Class, ElementType, Scalar};

/// The most elements that are listed; more are bytes.
const LISTED: usize = 100;

impl Printer {
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
    /// Prints a float as MLIR does: six digits in scientific notation if they are enough, or the
    /// digits that tell it from all others; what is not finite as its bits.
    fn float_bits(&mut self, ty: ElementType, bits: u128) {
        let Some(format) = ty.float_format() else { return };
        let bits = u64::try_from(bits).unwrap_or(0);
        let value = format.decode(bits);
        let reads_back = |text: &str| text.parse().is_ok_and(|read| format.encode(read) == bits);
        let texts = [format!("{value:.6e}"), shortest(value)];
        let text = texts.into_iter().find(|text| value.is_finite() && reads_back(text));
        let Some(text) = text else {
            let digits = usize::try_from(ty.bits().div_ceil(4)).unwrap_or(2);
            put!(self, "0x{bits:0digits$X}");
            return;
        };
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        let point = if digits.contains('.') { "" } else { ".0" };
        put!(self, "{digits}{point}e{sign}{exponent:0>2}");
    }
}

/// Returns the shortest digits of a number, in single precision if it is one.
#[expect(clippy::cast_possible_truncation, clippy::as_conversions, reason = "checked")]
fn shortest(value: f64) -> String {
    let single = value as f32;
    match f64::from(single).to_bits() == value.to_bits() {
        true => format!("{single:e}"),
        false => format!("{value:e}"),
    }
}
