//! Ops whose shapes depend on operands, which must be known when the program is converted.
use super::emit::{broadcast_to, convert_to, literal_constant, pad_with, slice_of};
use super::scope::Scope;
use super::types;
use crate::error::{Code, Result};
use crate::ir::Op;
use hlo::ir::InstructionId;
use hlo::op::value::Window;
use hlo::op::{DynamicReshape, GetDimensionSize, Iota, Reshape, SetDimensionSize};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar, Shape};

impl Scope<'_, '_> {
    /// Returns the elements of an operand that gives sizes.
    pub(super) fn sizes(&self, op: &Op, i: usize) -> Result<Vec<i64>> {
        let value = op.operands.get(i).copied();
        let known = value.and_then(|value| self.known_elements(value));
        known.map(<[i64]>::to_vec).ok_or_else(|| {
            let message = format!("operand {i} of `{}` gives sizes, but is not known", op.name);
            self.error(op, Code::DynamicShape { message })
                .with_help("compute sizes from constants and the sizes of arrays only")
        })
    }
    /// Returns an array of these sizes with the element type of the result.
    fn result_of(&self, op: &Op, sizes: Vec<i64>) -> Result<ArrayShape> {
        let stated = self.stated_array(op, 0)?;
        if stated.dynamic.is_none() && stated.dims.as_slice() == sizes {
            return Ok(stated);
        }
        Ok(ArrayShape::new(stated.ty, Dims::from_vec(sizes)))
    }
}

/// Converts `stablehlo.dynamic_broadcast_in_dim`.
pub(crate) fn broadcast_in_dim(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let x = scope.operand(op, 0)?;
    let dims = scope.list(op, "broadcast_dimensions")?;
    let result = scope.result_of(op, scope.sizes(op, 1)?)?;
    let id = broadcast_to(scope, op, x, &dims, &result)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.dynamic_iota`.
pub(crate) fn iota(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let iota_dimension = Some(scope.required(op, "iota_dimension")?);
    let result = scope.result_of(op, scope.sizes(op, 0)?)?;
    let id = scope.emit_as(op, Iota { iota_dimension }, &[], result)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.dynamic_pad`.
pub(crate) fn pad(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = [scope.operand(op, 0)?, scope.operand(op, 1)?];
    let (low, high, interior) = (scope.sizes(op, 2)?, scope.sizes(op, 3)?, scope.sizes(op, 4)?);
    let id = pad_with(scope, op, operands, &low, &high, &interior)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.real_dynamic_slice`.
pub(crate) fn slice(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let x = scope.operand(op, 0)?;
    let (starts, limits) = (scope.sizes(op, 1)?, scope.sizes(op, 2)?);
    let id = slice_of(scope, op, x, &starts, &limits, &scope.sizes(op, 3)?)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.dynamic_gather`.
pub(crate) fn gather(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = [scope.operand(op, 0)?, scope.operand(op, 1)?];
    let slice_sizes = scope.sizes(op, 2)?;
    let id = super::gather::gather_of(scope, op, operands, slice_sizes)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.dynamic_conv`.
pub(crate) fn convolution(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = [scope.operand(op, 0)?, scope.operand(op, 1)?];
    let (dims, sizes) = super::product::spatial(scope, op, operands[1])?;
    let window = super::reduce::window(scope, op, &sizes, ["lhs_dilation", "rhs_dilation"])?;
    let mut dims_of_window = window.dims;
    super::reduce::pad(scope, op, &mut dims_of_window, &scope.sizes(op, 2)?)?;
    super::product::convolve(scope, op, operands, dims, Window { dims: dims_of_window })
}

/// Converts `stablehlo.dynamic_reshape`: to known sizes, or to bounded ones at run time.
pub(crate) fn reshape(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let x = scope.operand(op, 0)?;
    let stated = scope.stated_array(op, 0)?;
    let sizes = scope.sizes(op, 1);
    let bounded = stated.dynamic.is_some() && !stated.dims.contains(&ArrayShape::UNBOUNDED);
    let id = match (sizes, bounded) {
        (Ok(sizes), false) => {
            let result = scope.result_of(op, sizes)?;
            scope.emit_as(op, Reshape::default(), &[x], result)?
        }
        (Err(error), false) => return Err(error),
        (_, true) => {
            let sizes = scope.operand(op, 1)?;
            let mut operands = vec![x];
            for dim in (0i64..).take(stated.rank()) {
                let size = slice_of(scope, op, sizes, &[dim], &[dim + 1], &[1])?;
                let ty = scope.array(op, size)?.ty;
                let size = scope.emit_as(op, Reshape::default(), &[size], Shape::scalar(ty))?;
                operands.push(convert_to(scope, op, size, ElementType::S32)?);
            }
            scope.emit_as(op, DynamicReshape {}, &operands, stated)?
        }
    };
    scope.bind(op, id)
}

/// Converts `stablehlo.get_dimension_size`: a constant, if the size is known.
pub(crate) fn get_dimension_size(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let x = scope.operand(op, 0)?;
    let dimension: i64 = scope.required(op, "dimension")?;
    let array = scope.array(op, x)?;
    let static_size = usize::try_from(dimension).ok().filter(|&dim| dim < array.rank());
    let id = match static_size.filter(|&dim| !array.is_dynamic(dim)) {
        Some(dim) => {
            let size = array.dims[dim];
            let size32 = Literal::scalar(ElementType::S32, Scalar::Signed(size));
            let id = literal_constant(scope, op, size32)?;
            if let [result] = op.results.as_slice() {
                scope.set_known(result.id, id, vec![size]);
            }
            id
        }
        None => scope.emit(op, GetDimensionSize { dimensions: vec![dimension] }, &[x])?,
    };
    scope.bind(op, id)
}
/// Converts `stablehlo.set_dimension_size`: to its bound, the dimension becomes static.
pub(crate) fn set_dimension_size(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x, size] = scope.exactly(op)?;
    let dimension: i64 = scope.required(op, "dimension")?;
    let mut result = scope.array(op, x)?;
    let made = SetDimensionSize { dimensions: vec![dimension] };
    let is_bound = match scope.known_elements(op.operands[1]) {
        Some([size]) => result.dim(dimension) == Some(*size),
        _ => false,
    };
    let id = if is_bound {
        if let (Some(flags), Ok(dim)) = (&mut result.dynamic, usize::try_from(dimension)) {
            flags[dim] = false;
            if !flags.contains(&true) {
                result.dynamic = None;
            }
        }
        scope.emit_as(op, made, &[x, size], result)?
    } else {
        scope.emit(op, made, &[x, size])?
    };
    scope.bind(op, id)
}

/// Converts `tensor.cast`: changes only what is known of a shape.
pub(crate) fn cast(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let (stated, found) = (scope.stated(op, 0)?, scope.shape(x));
    if !types::agrees(&stated, found) {
        return Err(
            scope.malformed(op, format!("`{}` cannot change {found:#} to {stated:#}", op.name))
        );
    }
    alias(scope, op, x);
    Ok(())
}
/// Makes an operand the result of an op.
pub(super) fn alias(scope: &mut Scope<'_, '_>, op: &Op, x: InstructionId) {
    if let [result] = op.results.as_slice() {
        scope.define(result.id, x);
    }
}
