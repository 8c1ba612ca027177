//! The value of an `unreduced` array: the sum of terms, of which each device has one.
use hlo::{ArrayShape, Literal, Scalar};

/// Returns the sum of arrays of one shape, in their order. Floats are rounded once.
pub(super) fn sum(mut terms: Vec<Literal>) -> Literal {
    if terms.len() == 1 {
        return terms.swap_remove(0);
    }
    let Some(shape) = terms.first().and_then(Literal::array_shape) else { return Literal::token() };
    let (ty, width) = (shape.ty, shape.ty.storage_bytes());
    let mut total = Literal::zeros(ArrayShape::new(ty, shape.dims.clone()));
    for (i, bytes) in total.bytes_mut().chunks_exact_mut(width).enumerate() {
        if let Some(all) = terms.iter().map(|term| term.get(i)).reduce(add) {
            all.round_to(ty).write(ty, bytes);
        }
    }
    total
}

fn add(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Signed(a), Scalar::Signed(b)) => Scalar::Signed(a.wrapping_add(b)),
        (Scalar::Unsigned(a), Scalar::Unsigned(b)) => Scalar::Unsigned(a.wrapping_add(b)),
        (Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
        (Scalar::Complex(a, x), Scalar::Complex(b, y)) => Scalar::Complex(a + b, x + y),
        // As the op `add`.
        (Scalar::Pred(a), Scalar::Pred(b)) => Scalar::Pred(a | b),
        // Terms have one type.
        (
            Scalar::Pred(_)
            | Scalar::Signed(_)
            | Scalar::Unsigned(_)
            | Scalar::Float(_)
            | Scalar::Complex(..),
            _,
        ) => a,
    }
}
