//! `dot`, `dot_general`, `convolution`, and CHLO's `ragged_dot`.
use super::attrs::EnumWord;
use super::scope::Scope;
use crate::element::{self, type_text};
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Op};
use hlo::ir::InstructionId;
use hlo::op::value::{ConvDims, DotAlgorithm, OperandPrecision, Precision, Window};
use hlo::op::{Convolution, Dot, RaggedDot};
use hlo::{Dims, ElementType};

/// Converts `stablehlo.dot_general`.
pub(crate) fn dot_general(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 2] = scope.exactly(op)?;
    let fields: &Attributes = scope.required(op, "dot_dimension_numbers")?;
    let list = |name| scope.field_list(op, fields, name);
    let made = Dot {
        lhs_batch_dims: list("lhs_batching_dimensions")?,
        lhs_contracting_dims: list("lhs_contracting_dimensions")?,
        rhs_batch_dims: list("rhs_batching_dimensions")?,
        rhs_contracting_dims: list("rhs_contracting_dimensions")?,
        operand_precision: precision(scope, op)?,
        algorithm: algorithm(scope, op)?,
    };
    typed(scope, op, made, operands)
}
/// Converts `stablehlo.dot`: the last dimension of the left operand and the first of the right one.
pub(crate) fn dot(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 2] = scope.exactly(op)?;
    let rank = i64::try_from(scope.array(op, operands[0])?.rank()).unwrap_or(i64::MAX);
    let made = Dot {
        lhs_contracting_dims: vec![rank - 1],
        rhs_contracting_dims: vec![0],
        operand_precision: precision(scope, op)?,
        ..Dot::default()
    };
    typed(scope, op, made, operands)
}
/// Adds a product whose element type is that of the op's result.
fn typed(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    made: impl Into<hlo::Op>,
    operands: [InstructionId; 2],
) -> Result<()> {
    let made = made.into();
    let ty = scope.stated_array(op, 0)?.ty;
    let shapes = operands.map(|id| scope.shape(id).clone());
    let inferred = made.shape(&[&shapes[0], &shapes[1]], None, &*scope.cx);
    let id = match inferred.as_ref().ok().and_then(hlo::Shape::array) {
        Some(array) => scope.emit_as(op, made, &operands, array.with_type(ty))?,
        None => scope.emit(op, made, &operands)?,
    };
    scope.bind(op, id)
}

/// Returns the precision of each operand.
pub(super) fn precision(scope: &Scope<'_, '_>, op: &Op) -> Result<OperandPrecision> {
    let Some(items) = scope.optional::<&[Attribute]>(op, "precision_config")? else {
        return Ok(OperandPrecision::default());
    };
    let one =
        |item: &Attribute| match <EnumWord<'_> as super::attrs::FromAttribute<'_>>::from_attribute(
            item,
        ) {
            Some(EnumWord(word)) => {
                scope.one_of(op, "precision_config", word, Precision::ALL, Precision::name)
            }
            None => Err(scope.missing(op, "precision_config")),
        };
    Ok(OperandPrecision(items.iter().map(one).collect::<Result<_>>()?))
}

/// Returns the algorithm of a dot product: the types it computes in as one of XLA's names.
fn algorithm(scope: &Scope<'_, '_>, op: &Op) -> Result<DotAlgorithm> {
    let Some(fields) = scope.optional::<&Attributes>(op, "algorithm")? else {
        return Ok(DotAlgorithm::Unset);
    };
    let ty = |name| match fields.get(name) {
        Some(Attribute::Type(ty)) => type_text(ty),
        _ => String::new(),
    };
    let products = scope.field::<i64>(op, fields, "num_primitive_operations")?.unwrap_or(1);
    let is_imprecise = scope.field(op, fields, "allow_imprecise_accumulation")?.unwrap_or(false);
    let [lhs, rhs, sum] = ["lhs_precision_type", "rhs_precision_type", "accumulation_type"].map(ty);
    // Any two types of 8 bits do.
    let is_f8 = lhs.starts_with("f8") && rhs.starts_with("f8");
    let operands = if is_f8 { [F8; 2] } else { [lhs.as_str(), rhs.as_str()] };
    let is_this = |row: &&Algorithm| {
        operands == [row.operands; 2]
            && sum == element::name(row.sum)
            && products == row.products
            && (is_imprecise && is_f8) == row.is_imprecise
    };
    ALGORITHMS.iter().find(is_this).map(|row| row.name).ok_or_else(|| {
        let message =
            format!("XLA has no algorithm for {products} products of {lhs} and {rhs} in {sum}");
        scope.unsupported(op, message)
    })
}
/// What an algorithm of a dot product computes.
pub(crate) struct Algorithm {
    /// The type of the operands.
    pub(crate) operands: &'static str,
    pub(crate) sum: ElementType,
    /// The number of products for each of the operands'.
    pub(crate) products: i64,
    pub(crate) is_imprecise: bool,
    /// Its name.
    pub(crate) name: DotAlgorithm,
}
const fn algorithm_of(
    operands: &'static str,
    sum: ElementType,
    products: i64,
    name: DotAlgorithm,
) -> Algorithm {
    let is_imprecise = matches!(name, DotAlgorithm::AnyF8AnyF8F32FastAccum);
    Algorithm { operands, sum, products, is_imprecise, name }
}
/// The type that stands for all of 8 bits.
const F8: &str = "f8E5M2";
/// The algorithms of XLA.
pub(crate) const ALGORITHMS: &[Algorithm] = &[
    algorithm_of(F8, ElementType::F32, 1, DotAlgorithm::AnyF8AnyF8F32),
    algorithm_of(F8, ElementType::F32, 1, DotAlgorithm::AnyF8AnyF8F32FastAccum),
    algorithm_of("f16", ElementType::F16, 1, DotAlgorithm::F16F16F16),
    algorithm_of("f16", ElementType::F32, 1, DotAlgorithm::F16F16F32),
    algorithm_of("bf16", ElementType::Bf16, 1, DotAlgorithm::Bf16Bf16Bf16),
    algorithm_of("bf16", ElementType::F32, 1, DotAlgorithm::Bf16Bf16F32),
    algorithm_of("bf16", ElementType::F32, 3, DotAlgorithm::Bf16Bf16F32X3),
    algorithm_of("bf16", ElementType::F32, 6, DotAlgorithm::Bf16Bf16F32X6),
    algorithm_of("bf16", ElementType::F32, 9, DotAlgorithm::Bf16Bf16F32X9),
    algorithm_of("tf32", ElementType::F32, 1, DotAlgorithm::Tf32Tf32F32),
    algorithm_of("tf32", ElementType::F32, 3, DotAlgorithm::Tf32Tf32F32X3),
    algorithm_of("f32", ElementType::F32, 1, DotAlgorithm::F32F32F32),
    algorithm_of("f64", ElementType::F64, 1, DotAlgorithm::F64F64F64),
];

/// Converts `stablehlo.convolution`.
pub(crate) fn convolution(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 2] = scope.exactly(op)?;
    let (dims, sizes) = spatial(scope, op, operands[1])?;
    let window = super::reduce::window(scope, op, &sizes, ["lhs_dilation", "rhs_dilation"])?;
    convolve(scope, op, operands, dims, window)
}
/// Returns the roles of the dimensions, and the spatial sizes of the kernel.
pub(super) fn spatial(
    scope: &Scope<'_, '_>,
    op: &Op,
    kernel: InstructionId,
) -> Result<(ConvDims, Vec<i64>)> {
    let fields: &Attributes = scope.required(op, "dimension_numbers")?;
    let one = |name| scope.field::<i64>(op, fields, name)?.ok_or_else(|| scope.missing(op, name));
    let list = |name| scope.field_list(op, fields, name).map(Dims::from_vec);
    let dims = ConvDims {
        lhs_batch: one("input_batch_dimension")?,
        lhs_feature: one("input_feature_dimension")?,
        lhs_spatial: list("input_spatial_dimensions")?,
        rhs_input_feature: one("kernel_input_feature_dimension")?,
        rhs_output_feature: one("kernel_output_feature_dimension")?,
        rhs_spatial: list("kernel_spatial_dimensions")?,
        out_batch: one("output_batch_dimension")?,
        out_feature: one("output_feature_dimension")?,
        out_spatial: list("output_spatial_dimensions")?,
    };
    let kernel = scope.array(op, kernel)?;
    let sizes = dims.rhs_spatial.iter().map(|&dim| kernel.dim(dim)).collect::<Option<_>>();
    let sizes = sizes.ok_or_else(|| {
        scope.malformed(op, format!("{kernel:#} lacks a spatial dimension of `{}`", op.name))
    })?;
    Ok((dims, sizes))
}
/// Adds a convolution.
pub(super) fn convolve(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    operands: [InstructionId; 2],
    dims: ConvDims,
    window: Window,
) -> Result<()> {
    let mut made = Convolution::new(dims);
    made.window = window;
    made.feature_group_count = scope.optional(op, "feature_group_count")?.unwrap_or(1);
    made.batch_group_count = scope.optional(op, "batch_group_count")?.unwrap_or(1);
    made.operand_precision = precision(scope, op)?;
    typed(scope, op, made, operands)
}

/// Converts `chlo.ragged_dot`.
pub(crate) fn ragged_dot(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 3] = scope.exactly(op)?;
    let fields: &Attributes = scope.required(op, "ragged_dot_dimension_numbers")?;
    let list = |name| scope.field_list(op, fields, name);
    let made = RaggedDot {
        lhs_batch_dims: list("lhs_batching_dimensions")?,
        lhs_contracting_dims: list("lhs_contracting_dimensions")?,
        rhs_batch_dims: list("rhs_batching_dimensions")?,
        rhs_contracting_dims: list("rhs_contracting_dimensions")?,
        lhs_ragged_dims: list("lhs_ragged_dimensions")?,
        rhs_group_dims: list("rhs_group_dimensions")?,
        operand_precision: precision(scope, op)?,
    };
    let result = scope.stated(op, 0)?;
    let id = scope.emit_as(op, made, &operands, result)?;
    scope.bind(op, id)
}
