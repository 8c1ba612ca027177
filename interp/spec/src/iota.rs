//! `iota`: consecutive numbers along one dimension
//!
//! `result[i] = i[iota_dimension]`, converted to the type of the result
//!
//! - Without `iota_dimension`, it is dimension 0.
//! - The count is converted as by `convert`: narrow integers wrap, narrow floats round or overflow,
//!   and the imaginary part of a complex number is 0.
//!
//! Source: StableHLO, `iota`.
use super::build;
use hlo::op::Iota;
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use num::index::to_usize;

pub(super) fn iota(op: &Iota, shape: &ArrayShape) -> Literal {
    let Iota { iota_dimension } = op;
    let dim = to_usize(iota_dimension.unwrap_or(0));
    build(shape, |index| Scalar::Signed(index[dim]).convert(ElementType::S64, shape.ty))
}
