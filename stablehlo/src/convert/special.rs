//! Ops with a counterpart of the same attributes: `fft`, `cholesky`, batch normalization, random
//! numbers.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use hlo::Shape;
use hlo::op::value::{self, FftType, Float, RandomAlgorithm, RandomDistribution};
use hlo::op::{
    BatchNormGrad, BatchNormInference, BatchNormTraining, Cholesky, Fft, Rng, RngBitGenerator,
    TriangularSolve,
};

/// Returns `epsilon`, which HLO keeps as an f32, and the feature dimension.
fn batch_norm(scope: &Scope<'_, '_>, op: &Op) -> Result<(Float, i64)> {
    let epsilon: f64 = scope.required(op, "epsilon")?;
    #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "an f32 in both")]
    let epsilon = epsilon as f32;
    Ok((Float(epsilon), scope.required(op, "feature_index")?))
}
/// Converts `stablehlo.batch_norm_training`.
pub(crate) fn batch_norm_training(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 3] = scope.exactly(op)?;
    let (epsilon, feature_index) = batch_norm(scope, op)?;
    let id = scope.emit(op, BatchNormTraining { epsilon, feature_index }, &operands)?;
    scope.bind_tuple(op, id)
}
/// Converts `stablehlo.batch_norm_inference`.
pub(crate) fn batch_norm_inference(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 5] = scope.exactly(op)?;
    let (epsilon, feature_index) = batch_norm(scope, op)?;
    let id = scope.emit(op, BatchNormInference { epsilon, feature_index }, &operands)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.batch_norm_grad`.
pub(crate) fn batch_norm_grad(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 5] = scope.exactly(op)?;
    let (epsilon, feature_index) = batch_norm(scope, op)?;
    let id = scope.emit(op, BatchNormGrad { epsilon, feature_index }, &operands)?;
    scope.bind_tuple(op, id)
}

/// Converts `stablehlo.fft`.
pub(crate) fn fft(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let fft_type = scope.word(op, "fft_type", FftType::ALL, FftType::name)?;
    let fft_type = fft_type.ok_or_else(|| scope.missing(op, "fft_type"))?;
    let fft_length = scope.required(op, "fft_length")?;
    let id = scope.emit(op, Fft { fft_type, fft_length }, &[x])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.cholesky`.
pub(crate) fn cholesky(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let lower = scope.flag(op, "lower")?;
    let id = scope.emit(op, Cholesky { lower }, &[x])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.triangular_solve`.
pub(crate) fn triangular_solve(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 2] = scope.exactly(op)?;
    let all = value::Transpose::ALL;
    let transpose_a = scope.word(op, "transpose_a", all, value::Transpose::name)?;
    let made = TriangularSolve {
        left_side: scope.flag(op, "left_side")?,
        lower: scope.flag(op, "lower")?,
        unit_diagonal: scope.flag(op, "unit_diagonal")?,
        transpose_a: transpose_a.unwrap_or(value::Transpose::None),
    };
    let id = scope.emit(op, made, &operands)?;
    scope.bind(op, id)
}

/// Converts `stablehlo.rng`: its last operand is the shape, which the result states too.
pub(crate) fn rng(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [a, b, _] = scope.exactly(op)?;
    let name = |distribution: RandomDistribution| distribution.name().trim_start_matches("rng_");
    let found = scope.word(op, "rng_distribution", RandomDistribution::ALL, name)?;
    let distribution = found.ok_or_else(|| scope.missing(op, "rng_distribution"))?;
    let result = scope.stated(op, 0)?;
    let id = scope.emit_as(op, Rng { distribution }, &[a, b], result)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.rng_bit_generator`.
pub(crate) fn rng_bit_generator(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [state] = scope.exactly(op)?;
    let word = |algorithm: RandomAlgorithm| algorithm.name().trim_start_matches("rng_");
    let found = scope.word(op, "rng_algorithm", RandomAlgorithm::ALL, word)?;
    let algorithm = found.ok_or_else(|| scope.missing(op, "rng_algorithm"))?;
    let result = Shape::Tuple(vec![scope.stated(op, 0)?, scope.stated(op, 1)?]);
    let id = scope.emit_as(op, RngBitGenerator { algorithm }, &[state], result)?;
    scope.bind_tuple(op, id)
}
