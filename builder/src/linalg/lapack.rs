//! Calls of LAPACK, as JAX makes them on a CPU: XLA's typed FFI, matrices column by column.
use crate::{Builder, Code, Error, Result, Value};
use hlo::layout::Layout;
use hlo::op::value::{ApiVersion, Text};
use hlo::op::{Copy, CustomCall};
use hlo::{ArrayShape, Dims, ElementType, Shape};

/// A routine, the name without the letter of its type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Routine {
    pub(super) real: &'static str,
    pub(super) complex: &'static str,
}
pub(super) const GETRF: Routine = Routine { real: "getrf", complex: "getrf" };
pub(super) const GEQRF: Routine = Routine { real: "geqrf", complex: "geqrf" };
pub(super) const ORGQR: Routine = Routine { real: "orgqr", complex: "ungqr" };
pub(super) const SYEVD: Routine = Routine { real: "syevd", complex: "heevd" };
pub(super) const GESDD: Routine = Routine { real: "gesdd", complex: "gesdd" };

impl Routine {
    fn target(self, ty: ElementType) -> Result<String> {
        let types = [
            (ElementType::F32, 's', self.real),
            (ElementType::F64, 'd', self.real),
            (ElementType::C64, 'c', self.complex),
            (ElementType::C128, 'z', self.complex),
        ];
        let Some((_, letter, name)) = types.into_iter().find(|(known, ..)| *known == ty) else {
            let message = format!("there is no decomposition of matrices of {ty}");
            return Err(Error::unsupported(message)
                .with_help("convert them to f32, f64, c64 or c128 first"));
        };
        Ok(format!("lapack_{letter}{name}_ffi"))
    }
}

/// Returns an array's shape with the last two dimensions, if it has so many of its own, column by
/// column.
fn column_major(shape: &ArrayShape, own: usize) -> ArrayShape {
    let mut order = Layout::descending(shape.rank()).minor_to_major;
    if own == 2 {
        order.swap(0, 1);
    }
    ArrayShape { layout: Layout { minor_to_major: order, tail: None }, ..shape.clone() }
}

/// One array of a call: its shape, and how many dimensions one problem's part of it has.
pub(super) type RoutineResult = (ArrayShape, usize);

/// Returns a result's shape: the dimensions that count problems, then its own.
pub(super) fn part(ty: ElementType, batch: &[i64], own: &[i64]) -> RoutineResult {
    let dims: Dims = batch.iter().chain(own).copied().collect();
    (ArrayShape::new(ty, dims), own.len())
}

/// Calls a routine on operands, each with the number of its own dimensions; results have the
/// default layout.
///
/// `config` is the attributes: `{mode = 65 : ui8}`.
pub(super) fn call<'b>(
    b: &'b Builder,
    routine: Routine,
    operands: &[(Value<'b>, usize)],
    results: &[RoutineResult],
    config: &str,
) -> Result<Vec<Value<'b>>> {
    let mut constraints: Vec<Shape> = Vec::new();
    for (operand, own) in operands {
        constraints.push(column_major(&operand.array()?, *own).into());
    }
    let ty = operands.first().ok_or(Code::Invalid {})?.0.element_type()?;
    let values: Vec<Value<'b>> = operands.iter().map(|(value, _)| *value).collect();
    let laid: Vec<Shape> =
        results.iter().map(|(shape, own)| column_major(shape, *own).into()).collect();
    let single = laid.len() == 1;
    let shape = if single { laid[0].clone() } else { Shape::Tuple(laid.clone()) };
    let call = CustomCall {
        operand_layout_constraints: Some(constraints),
        api_version: ApiVersion::TypedFfi,
        ..CustomCall::new(Text(routine.target(ty)?.into()))
    };
    let made = b.emit_configured(call, &values, shape, config)?;
    let mut given = Vec::new();
    for (i, (laid, (shape, _))) in (0i64..).zip(laid.iter().zip(results)) {
        let result = if single { made } else { made.get_tuple_element(i) };
        let default = Shape::from(shape.clone());
        // From here on arrays are row-major again.
        given.push(if *laid == default {
            result
        } else {
            b.emit(Copy {}, &[result], Some(default))?
        });
    }
    Ok(given)
}

/// Replaces the problems for which `fine` is false by NaN.
pub(super) fn or_nan<'b>(array: Value<'b>, fine: Value<'b>) -> Result<Value<'b>> {
    let (shape, batch) = (array.array()?, fine.rank()?);
    let b = array.builder();
    let nan = b.constant_r0_with_type(shape.ty.component(), f64::NAN);
    let nan = if shape.ty.is_complex() { nan.complex(nan) } else { nan };
    let nan = crate::implicit::splat(nan, &shape)?;
    let fine = fine.broadcast_in_dim(&shape.dims, &crate::arguments::first(batch));
    Ok(fine.select(array, nan))
}
