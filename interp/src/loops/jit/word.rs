//! Values in memory, as the code reads and writes them.
use hlo::{Class, ElementType, Scalar};

/// One value: an integer extended to 64 bits, the bits of an f32, any other float as f64, or two f64.
pub(crate) type Word = [u64; 2];

/// The size of a word in bytes.
pub(super) const WORD_BYTES: i32 = 16;

/// Returns the word of a value of type `ty`.
pub(super) fn to_word(ty: ElementType, value: Scalar) -> Word {
    match value {
        Scalar::Pred(x) => [u64::from(x), 0],
        Scalar::Signed(x) => [x.cast_unsigned(), 0],
        Scalar::Unsigned(x) => [x, 0],
        Scalar::Float(x) if ty == ElementType::F32 => [f32_bits(x), 0],
        Scalar::Float(x) => [x.to_bits(), 0],
        Scalar::Complex(re, im) => [re.to_bits(), im.to_bits()],
    }
}

/// Returns the value of type `ty` in a word.
pub(super) fn from_word(ty: ElementType, [low, high]: Word) -> Scalar {
    match ty.class() {
        Class::Pred => Scalar::Pred(low & 1 != 0),
        Class::Signed => Scalar::Signed(low.cast_signed()),
        Class::Unsigned => Scalar::Unsigned(low),
        Class::Float if ty == ElementType::F32 => Scalar::from_bits(ty, u128::from(low)),
        Class::Float => Scalar::Float(f64::from_bits(low)),
        Class::Complex => Scalar::Complex(f64::from_bits(low), f64::from_bits(high)),
    }
}

/// Returns the bits of a value that is an f32.
pub(super) fn f32_bits(x: f64) -> u64 {
    let bits = Scalar::Float(x).to_bits(ElementType::F32);
    u64::try_from(bits).expect("an f32 has 32 bits")
}
