//! Elements of arrays of floats as f64.
use half::bf16;
use hlo::Array;

/// The elements of an array of floats as f64, the common types without a detour.
#[derive(Clone, Copy)]
pub(super) enum Floats<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    Bf16(&'a [bf16]),
    Other(&'a Array),
}

impl<'a> Floats<'a> {
    pub(super) fn of(literal: &'a Array) -> Self {
        let f32s = literal.as_slice().map(Self::F32);
        let f64s = || literal.as_slice().map(Self::F64);
        let bf16s = || literal.as_slice().map(Self::Bf16);
        f32s.or_else(f64s).or_else(bf16s).unwrap_or(Self::Other(literal))
    }
    #[inline]
    pub(super) fn get(&self, i: usize) -> f64 {
        match self {
            Self::F32(elements) => f64::from(elements[i]),
            Self::F64(elements) => elements[i],
            Self::Bf16(elements) => elements[i].to_f64(),
            Self::Other(literal) => literal.get(i).as_f64(),
        }
    }
}
