//! Computations of two scalars, and reductions that use them.
use crate::operand::{PlainNumber, scalar};
use crate::{Builder, Computation, Error, Value};
use hlo::op::Reduce;
use hlo::{ElementType, Shape};

macro_rules! scalar_computations {
    ($($(#[$doc:meta])* $method:ident $name:literal $combine:expr;)*) => {
        impl Builder {
            $($(#[$doc])*
            #[track_caller]
            pub fn $method(&self, ty: ElementType) -> Computation<'_> {
                self.create_scalar_computation($name, ty, $combine)
            })*
        }
    };
}
scalar_computations! {
    /// `lhs + rhs` of two scalars: XLA's `CreateScalarAddComputation`.
    create_scalar_add_computation "add" |a, b| a + b;
    /// `lhs * rhs` of two scalars: XLA's `CreateScalarMultiplyComputation`.
    create_scalar_multiply_computation "mul" |a, b| a * b;
    /// Returns whether `lhs >= rhs`: XLA's `CreateScalarGeComputation`.
    create_scalar_ge_computation "ge" |a, b| a.ge(b);
    /// The larger of two scalars: XLA's `CreateScalarMaxComputation`.
    create_scalar_max_computation "max" |a, b| a.max(b);
    /// The smaller of two scalars: XLA's `CreateScalarMinComputation`.
    create_scalar_min_computation "min" |a, b| a.min(b);
    /// `lhs & rhs` of two scalars, bit by bit: XLA's `CreateScalarAndComputation`.
    create_scalar_and_computation "and" |a, b| a & b;
    /// `lhs | rhs` of two scalars, bit by bit: XLA's `CreateScalarOrComputation`.
    create_scalar_or_computation "or" |a, b| a | b;
}

impl Builder {
    /// Returns a computation of two scalars of this type: XLA's `CreateScalarComputation`.
    ///
    /// It is named after the type as XLA names it, `add_F32`, but for `pred`.
    ///
    /// ```
    /// use hlo::ElementType;
    /// let b = builder::Builder::new("m");
    /// let hypot = b.create_scalar_computation("hypot", ElementType::F32, |x, y| (x * x + y * y).sqrt());
    /// let y = b.call(hypot, &[b.constant(3.0f32), b.constant(4.0f32)]);
    /// assert_eq!(interp::run(&b.build(y)?, &[])?.to_string(), "f32[] 5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn create_scalar_computation<'b>(
        &'b self,
        name: &str,
        ty: ElementType,
        generator: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    ) -> Computation<'b> {
        let name = match ty == ElementType::Pred {
            true => name.to_owned(),
            false => format!("{name}_{}", ty.name().to_uppercase()),
        };
        let scalar = Shape::scalar(ty);
        self.computation(&name, &[&scalar, &scalar], |p| match p {
            [lhs, rhs] => generator(*lhs, *rhs),
            _ => Value::invalid(self),
        })
    }
    /// Returns `lhs | rhs` of integers and `pred`, `lhs + rhs` of other types, so that combining
    /// with zero changes nothing: XLA's `CreateScalarIdentityWithZeroComputation`.
    #[track_caller]
    pub fn create_scalar_identity_with_zero_computation(&self, ty: ElementType) -> Computation<'_> {
        if ty.is_integral() || ty == ElementType::Pred {
            self.create_scalar_or_computation(ty)
        } else {
            self.create_scalar_add_computation(ty)
        }
    }
}

impl Value<'_> {
    /// Returns whether any element of this `pred` is true, false if there is none: XLA's `Any`.
    #[track_caller]
    pub fn any(self) -> Self {
        self.record(|_| Ok(self.reduce_all(false, |a, b| a | b)))
    }
    /// Returns whether all elements of this `pred` are true, true if there is none.
    #[track_caller]
    pub fn all(self) -> Self {
        self.record(|_| Ok(self.reduce_all(true, |a, b| a & b)))
    }
    /// Returns the index of the largest element along a dimension: XLA's `ArgMax`. See
    /// [`Value::arg_min_max`].
    #[doc(alias = "argmax")]
    #[track_caller]
    pub fn arg_max(self, output_type: ElementType, axis: i64) -> Self {
        self.arg_min_max(output_type, axis, false)
    }
    /// Returns the index of the smallest element along a dimension. See [`Value::arg_min_max`].
    #[doc(alias = "argmin")]
    #[track_caller]
    pub fn arg_min(self, output_type: ElementType, axis: i64) -> Self {
        self.arg_min_max(output_type, axis, true)
    }
    /// Returns the index of the smallest or largest element along a dimension, as this integer
    /// type: XLA's `ArgMinMax`.
    ///
    /// Of equal elements the first counts, `-0` and `0` are equal. NaN counts as smaller, or
    /// larger, than every number, so the first NaN is found, as in `numpy` and JAX. A dimension of
    /// size 0 gives 0. `axis` may be counted from the end. The type must hold the number of every
    /// place: else it is refused, `E0807`.
    ///
    /// ```
    /// use hlo::ElementType;
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1.0f32, 7.0, 7.0], [f32::NAN, 2.0, f32::NAN]]);
    /// assert_eq!(interp::run(&b.build(x.arg_max(ElementType::S32, -1))?, &[])?.to_string(), "s32[2]{0} {1, 0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn arg_min_max(self, output_type: ElementType, axis: i64, is_min: bool) -> Self {
        self.record(|b| {
            let (shape, axis) = (self.array()?, self.axis(axis)?);
            if !output_type.is_integral() {
                return Err(Error::argument(format!(
                    "expected an integer type for indices, found {output_type}"
                ))
                .with_help("name an integer type: `ElementType::S32`"));
            }
            let size = shape.dim(axis).unwrap_or(0);
            scalar(PlainNumber::Integer((size - 1).max(0)), output_type)?;
            let narrow = i32::try_from(size).is_ok();
            let index_type = if narrow { ElementType::S32 } else { output_type };
            let places = self.builder().iota((index_type, &shape.dims), axis);
            let start = if is_min { b.max_value(shape.ty) } else { b.min_value(shape.ty) };
            let scalars = [shape.ty, index_type].map(Shape::scalar);
            let parameters = [scalars.clone(), scalars].concat();
            let to_apply = b.trace("minmax_func", &parameters, |p| match p {
                &[lhs, lhs_place, rhs, rhs_place] => {
                    better([lhs, rhs], [lhs_place, rhs_place], is_min)
                }
                _ => Value::invalid(b),
            })?;
            let inits = [start, b.zero(index_type)];
            let operands = [&[self, places][..], &inits].concat();
            let best = b.emit(Reduce { dimensions: vec![axis], to_apply }, &operands, None)?;
            let place = best.get_tuple_element(1);
            Ok(match index_type == output_type {
                true => place,
                false => place.convert_element_type(output_type),
            })
        })
    }
}

/// Returns the better of two elements with its place.
fn better<'b>(elements: [Value<'b>; 2], places: [Value<'b>; 2], is_min: bool) -> Value<'b> {
    let ([lhs, rhs], [lhs_place, rhs_place]) = (elements, places);
    let (lhs_nan, rhs_nan) = (lhs.ne(lhs), rhs.ne(rhs));
    let beats = if is_min { lhs.lt(rhs) } else { lhs.gt(rhs) };
    let beats = beats | (lhs_nan & !rhs_nan);
    let ties = lhs.eq(rhs) | (lhs_nan & rhs_nan);
    let keeps = beats | (ties & lhs_place.lt(rhs_place));
    lhs.builder().tuple(&[keeps.select(lhs, rhs), keeps.select(lhs_place, rhs_place)])
}
