//! `dot`: sums products over dimensions. `ragged-dot` and `scaled-dot` share its rules.
use super::rules::unique_in_range;
use super::value::{DotAlgorithm, OperandPrecision};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::diag::quantity;
use crate::{ArrayShape, Dims, ElementType, Error, Result, Shape};

/// Declares the attributes of a dot: the common ones, with others before or after the precision.
/// `in` names the message of its dimensions.
macro_rules! dot_attrs {
    ($(#[$meta:meta])* $name:ident in $($at:ident).+ { $($before:tt)* } { $($after:tt)* }) => {
        attrs! {
            $(#[$meta])*
            pub struct $name {
                /// Batch dimensions of the left operand.
                pub lhs_batch_dims: Vec<i64> = "lhs_batch_dims" in $($at).+.lhs_batch_dimensions or Vec::<i64>::new();
                /// Contracting dimensions of the left operand.
                pub lhs_contracting_dims: Vec<i64> = "lhs_contracting_dims" in $($at).+.lhs_contracting_dimensions, always Vec::new();
                /// Batch dimensions of the right operand, paired with `lhs_batch_dims`.
                pub rhs_batch_dims: Vec<i64> = "rhs_batch_dims" in $($at).+.rhs_batch_dimensions or Vec::<i64>::new();
                /// Contracting dimensions of the right operand, paired with `lhs_contracting_dims`.
                pub rhs_contracting_dims: Vec<i64> = "rhs_contracting_dims" in $($at).+.rhs_contracting_dimensions, always Vec::new();
                $($before)*
                /// The precision of each operand.
                pub operand_precision: OperandPrecision = "operand_precision" in precision_config.operand_precision or OperandPrecision::default();
                $($after)*
            }
        }
        impl $name {
            pub(super) fn pairing(&self) -> $crate::op::dot::Pairing<'_> {
                $crate::op::dot::Pairing {
                    lhs_batch: &self.lhs_batch_dims,
                    lhs_contracting: &self.lhs_contracting_dims,
                    rhs_batch: &self.rhs_batch_dims,
                    rhs_contracting: &self.rhs_contracting_dims,
                    precisions: self.operand_precision.0.len(),
                }
            }
        }
    };
}
pub(super) use dot_attrs;

dot_attrs! {
    /// Sums products over the contracting dimensions.
    ///
    /// The result has the batch dimensions, then the free dimensions of the left operand, then
    /// those of the right one. Its stated element type is the type the sums are rounded to.
    Dot in dot_dimension_numbers {} {
        /// The precision of products and sums.
        pub algorithm: DotAlgorithm = "algorithm" in precision_config.algorithm or DotAlgorithm::Unset;
    }
}

fn on(attribute: &'static str) -> impl Fn(Error) -> Error {
    move |e| e.on(Place::Attribute(attribute))
}

/// The paired dimensions of the two operands.
pub(super) struct Pairing<'a> {
    pub(super) lhs_batch: &'a [i64],
    pub(super) lhs_contracting: &'a [i64],
    pub(super) rhs_batch: &'a [i64],
    pub(super) rhs_contracting: &'a [i64],
    /// The number of precisions.
    pub(super) precisions: usize,
}

impl Pairing<'_> {
    /// Checks that every list has dimensions of its operand, without duplicates, and that pairs
    /// agree in number and size.
    pub(super) fn check(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<()> {
        let sides = [
            (lhs, self.lhs_batch, "dot_general_c5", "lhs_batch_dims"),
            (lhs, self.lhs_contracting, "dot_general_c6", "lhs_contracting_dims"),
            (rhs, self.rhs_batch, "dot_general_c7", "rhs_batch_dims"),
            (rhs, self.rhs_contracting, "dot_general_c8", "rhs_contracting_dims"),
        ];
        for (shape, dims, rule, attribute) in sides {
            for &dim in dims {
                check(shape.dim(dim).is_some(), rule, || {
                    format!("dimension {dim} does not exist in {shape:#}")
                })
                .map_err(on(attribute))?;
            }
        }
        let (left, right) = (self.left(), self.right());
        unique_in_range(&left, lhs.rank(), "dot_general_c3", "lhs_contracting_dims")?;
        unique_in_range(&right, rhs.rank(), "dot_general_c4", "rhs_contracting_dims")?;
        let pairs = [
            (self.lhs_batch, self.rhs_batch, "dot_general_c1", "dot_general_c9", "lhs_batch_dims"),
            (
                self.lhs_contracting,
                self.rhs_contracting,
                "dot_general_c2",
                "dot_general_c10",
                "lhs_contracting_dims",
            ),
        ];
        for (l, r, number, size, attribute) in pairs {
            check(l.len() == r.len(), number, || {
                let (l, r) = (l.len(), r.len());
                let left = quantity(l, "dimension");
                format!("found {left} of the left operand and {r:#} of the right, expected equal numbers")
            })
            .map_err(on(attribute))?;
            for (&l, &r) in l.iter().zip(r) {
                check(lhs.dim(l) == rhs.dim(r), size, || {
                    format!(
                        "dimension {l:#} of {lhs:#} and dimension {r:#} of {rhs:#} differ in size"
                    )
                })
                .map_err(on(attribute))?;
            }
        }
        check(matches!(self.precisions, 0 | 2), "dot_general_c11", || {
            format!("expected one precision for each of 2 operands, found {}", self.precisions)
        })
        .map_err(on("operand_precision"))
    }

    /// Returns the paired dimensions of the left operand.
    pub(super) fn left(&self) -> Vec<i64> {
        [self.lhs_batch, self.lhs_contracting].concat()
    }
    /// Returns the paired dimensions of the right operand.
    pub(super) fn right(&self) -> Vec<i64> {
        [self.rhs_batch, self.rhs_contracting].concat()
    }

    /// Returns the result: batch dimensions, then free dimensions of the left operand, then of the
    /// right one without `rhs_dropped`.
    pub(super) fn result(
        &self,
        ty: ElementType,
        lhs: &ArrayShape,
        rhs: &ArrayShape,
        rhs_dropped: &[i64],
    ) -> ArrayShape {
        let free = |shape: &ArrayShape, bound: &[i64]| -> Vec<i64> {
            (0i64..).take(shape.rank()).filter(|d| !bound.contains(d)).collect()
        };
        let left = [self.lhs_batch, &free(lhs, &self.left())].concat();
        let right = free(rhs, &[self.right().as_slice(), rhs_dropped].concat());
        let (left, right) = (left.iter().map(|d| (lhs, d)), right.iter().map(|d| (rhs, d)));
        let dims: Vec<_> = left.chain(right).collect();
        let sizes: Dims = dims.iter().filter_map(|&(shape, &d)| shape.dim(d)).collect();
        let mut result = ArrayShape::new(ty, sizes);
        let dynamic =
            dims.iter().map(|&(shape, &d)| usize::try_from(d).is_ok_and(|d| shape.is_dynamic(d)));
        let dynamic: Box<[bool]> = dynamic.collect();
        result.dynamic = dynamic.contains(&true).then_some(dynamic);
        result
    }
}

/// Returns the type sums are rounded to: the stated one, or the wider operand type.
pub(super) fn result_type(cx: &Infer<'_>, lhs: ElementType, rhs: ElementType) -> ElementType {
    // As XLA orders them: complex before real, floats before integers, then range, digits and
    // width.
    let rank = |ty: ElementType| {
        let format = ty.component().float_format();
        let range = format.map(|f| (f.max_finite(), f.mantissa_bits));
        (ty.is_complex(), range, ty.bits(), ty.class() == crate::Class::Signed)
    };
    let stated = cx.stated.and_then(Shape::element_type);
    stated.unwrap_or(if rank(rhs) > rank(lhs) { rhs } else { lhs })
}

/// Fails unless the algorithm accepts operands of these types.
///
/// Every algorithm accepts real floats. An algorithm for 8-bit floats accepts no wider ones, and
/// only `f64` sums accept `f64`: a wider type would lose digits.
pub(super) fn algorithm_types(cx: &Infer<'_>, algorithm: DotAlgorithm) -> Result<()> {
    use DotAlgorithm as A;
    let (most, expected) = match algorithm {
        A::Unset => return Ok(()),
        A::AnyF8AnyF8F32 | A::AnyF8AnyF8F32FastAccum => (8, "8-bit floats"),
        A::F64F64F64 => (64, "real floats"),
        A::F16F16F16
        | A::F16F16F32
        | A::Bf16Bf16Bf16
        | A::Bf16Bf16F32
        | A::Bf16Bf16F32X3
        | A::Bf16Bf16F32X6
        | A::Bf16Bf16F32X9
        | A::Tf32Tf32F32
        | A::Tf32Tf32F32X3
        | A::F32F32F32 => (32, "real floats of at most 32 bits"),
    };
    for i in 0..2 {
        let ty = cx.array(i)?.ty;
        check(ty.is_float() && ty.bits() <= most, "dot_algorithm", || {
            format!("`{}` expects {expected:#}, operand {i} is {ty}", algorithm.name())
        })
        .map_err(on("algorithm"))?;
    }
    Ok(())
}

impl ShapeRule for Dot {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        let pairing = self.pairing();
        pairing.check(lhs, rhs)?;
        algorithm_types(cx, self.algorithm)?;
        Ok(pairing.result(result_type(cx, lhs.ty, rhs.ty), lhs, rhs, &[]).into())
    }
}
