//! Elements: what a float is in the field, and how an array holds it.
use crate::tower::{self, Residues};
use hlo::{Array, ArrayShape, ElementType};

/// The type of the arrays that hold elements: nothing else is as wide.
pub(crate) const HELD: ElementType = ElementType::C128;

/// The number of levels of the tower.
const LEVELS: u8 = 3;

/// What kind of number it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Finite,
    Infinity,
    NegativeInfinity,
    Nan,
}

/// A number of the field, or a special value of floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Element {
    /// The number modulo each prime.
    pub(crate) residues: Residues,
    pub(crate) kind: Kind,
    /// The levels on which the laws of rings hold for it; on the others it is a hash.
    pub(crate) depth: u8,
    /// The degree of the polynomial of the arguments that it is, or more.
    pub(crate) degree: f32,
}

impl Element {
    pub(crate) const ZERO: Self = Self::constant([0; 3]);
    pub(crate) const ONE: Self = Self::constant([1; 3]);
    pub(crate) const INFINITY: Self = Self { kind: Kind::Infinity, ..Self::ZERO };
    pub(crate) const NEGATIVE_INFINITY: Self = Self { kind: Kind::NegativeInfinity, ..Self::ZERO };
    pub(crate) const NAN: Self = Self { kind: Kind::Nan, ..Self::ZERO };

    pub(crate) const fn constant(residues: Residues) -> Self {
        Self { residues, kind: Kind::Finite, depth: LEVELS, degree: 0.0 }
    }
    pub(crate) fn integer(x: i128) -> Self {
        Self::constant(tower::of_integer(x))
    }
    pub(crate) fn is_finite(&self) -> bool {
        self.kind == Kind::Finite
    }
    pub(crate) fn is_zero(&self) -> bool {
        self.is_finite() && self.residues[0] == 0
    }
    /// Returns whether all laws hold for it.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_finite() && self.depth == LEVELS
    }
    /// Returns whether it is the same number: that of deeper levels is not part of it.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.kind == other.kind && (!self.is_finite() || self.residues[0] == other.residues[0])
    }

    /// Returns the 16 bytes that hold it. All bytes of 0 are zero.
    #[expect(clippy::as_conversions, reason = "the kind is a number below 4")]
    fn to_bytes(self) -> [u8; 16] {
        // The degree is rounded up to 16 bits of a float.
        let degree = self.degree.to_bits().saturating_add(0xffff) & 0xffff_0000;
        let meta = degree | u32::from(LEVELS - self.depth) << 4 | self.kind as u32;
        let [a, b, c] = self.residues;
        bytes_of([a, b, c, meta])
    }
    fn of_bytes(bytes: &[u8]) -> Self {
        let word = |i: usize| {
            let bytes = bytes[4 * i..4 * i + 4].try_into().expect("an element has four words");
            u32::from_le_bytes(bytes)
        };
        let meta = word(3);
        let kind = match meta & 3 {
            0 => Kind::Finite,
            1 => Kind::Infinity,
            2 => Kind::NegativeInfinity,
            _ => Kind::Nan,
        };
        let lost = u8::try_from(meta >> 4 & 3).expect("two bits");
        let degree = f32::from_bits(meta & 0xffff_0000);
        Self { residues: [word(0), word(1), word(2)], kind, depth: LEVELS - lost, degree }
    }
}

fn bytes_of(words: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (slot, word) in bytes.chunks_exact_mut(4).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Returns the elements of an array that holds them, in row-major order.
pub(crate) fn read(array: &Array) -> Vec<Element> {
    array.bytes().chunks_exact(16).map(Element::of_bytes).collect()
}

/// Returns an array that holds elements.
pub(crate) fn write(shape: &ArrayShape, elements: impl IntoIterator<Item = Element>) -> Array {
    let mut array = Array::zeros(held(shape));
    for (slot, element) in array.bytes_mut().chunks_exact_mut(16).zip(elements) {
        slot.copy_from_slice(&element.to_bytes());
    }
    array
}

/// Returns the shape of the array that holds the elements of a float array.
pub(crate) fn held(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { ty: HELD, ..shape.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_keeps_elements() {
        let odd = Element { depth: 1, degree: 3.0, ..Element::integer(-7) };
        let all = [Element::ZERO, Element::ONE, Element::NAN, Element::NEGATIVE_INFINITY, odd];
        let shape = ArrayShape::new(ElementType::F32, vec![5]);
        assert_eq!(read(&write(&shape, all)), all);
        assert_eq!(read(&Array::zeros(held(&shape)))[3], Element::ZERO);
    }
}
