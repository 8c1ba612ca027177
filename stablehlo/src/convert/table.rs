//! The conversion of each op.
use super::attrs::{FromAttribute, Word};
use super::scope::Scope;
use super::{
    arith, chlo, collective, composite, control, custom, dynamic, einsum, function, gather, host,
    manual, moves, product, reduce, shape, special,
};
use crate::error::{Code, Result};
use crate::ir::{Attributes, Op};
use hlo::ElementType;
use hlo::ir::InstructionId;
use hlo::op::value::{AccuracyMode, ResultAccuracy};
use hlo::op::{Binary, Unary};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// How an op becomes HLO.
#[derive(Clone, Copy)]
pub(super) enum Conversion {
    /// An elementwise op of one operand.
    Unary(Unary),
    /// An elementwise op of two operands.
    Binary(Binary),
    /// Another op without regions.
    Plain(for<'c, 'p> fn(&mut Scope<'c, 'p>, &Op) -> Result<()>),
    /// An op with regions, which live as long as the program.
    Regions(for<'c, 'p> fn(&mut Scope<'c, 'p>, &'p Op) -> Result<()>),
}
use Conversion::{Binary as B, Plain as F, Regions as R, Unary as U};

/// Every op with a conversion.
#[rustfmt::skip]
pub(super) const TABLE: &[(&str, Conversion)] = &[
    ("stablehlo.abs",                   U(Unary::Abs)),
    ("stablehlo.ceil",                  U(Unary::Ceil)),
    ("stablehlo.cosine",                U(Unary::Cosine)),
    ("stablehlo.count_leading_zeros",   U(Unary::CountLeadingZeros)),
    ("stablehlo.exponential",           U(Unary::Exponential)),
    ("stablehlo.exponential_minus_one", U(Unary::ExponentialMinusOne)),
    ("stablehlo.floor",                 U(Unary::Floor)),
    ("stablehlo.imag",                  U(Unary::Imag)),
    ("stablehlo.is_finite",             U(Unary::IsFinite)),
    ("stablehlo.log",                   U(Unary::Log)),
    ("stablehlo.log_plus_one",          U(Unary::LogPlusOne)),
    ("stablehlo.logistic",              U(Unary::Logistic)),
    ("stablehlo.negate",                U(Unary::Negate)),
    ("stablehlo.not",                   U(Unary::Not)),
    ("stablehlo.popcnt",                U(Unary::Popcnt)),
    ("stablehlo.real",                  U(Unary::Real)),
    ("stablehlo.round_nearest_afz",     U(Unary::RoundNearestAfz)),
    ("stablehlo.round_nearest_even",    U(Unary::RoundNearestEven)),
    ("stablehlo.rsqrt",                 U(Unary::Rsqrt)),
    ("stablehlo.sign",                  U(Unary::Sign)),
    ("stablehlo.sine",                  U(Unary::Sine)),
    ("stablehlo.sqrt",                  U(Unary::Sqrt)),
    ("stablehlo.tan",                   U(Unary::Tan)),
    ("stablehlo.tanh",                  U(Unary::Tanh)),
    ("stablehlo.add",                    B(Binary::Add)),
    ("stablehlo.and",                    B(Binary::And)),
    ("stablehlo.atan2",                  B(Binary::Atan2)),
    ("stablehlo.complex",                B(Binary::Complex)),
    ("stablehlo.divide",                 B(Binary::Divide)),
    ("stablehlo.maximum",                B(Binary::Maximum)),
    ("stablehlo.minimum",                B(Binary::Minimum)),
    ("stablehlo.multiply",               B(Binary::Multiply)),
    ("stablehlo.or",                     B(Binary::Or)),
    ("stablehlo.power",                  B(Binary::Power)),
    ("stablehlo.remainder",              B(Binary::Remainder)),
    ("stablehlo.shift_left",             B(Binary::ShiftLeft)),
    ("stablehlo.shift_right_arithmetic", B(Binary::ShiftRightArithmetic)),
    ("stablehlo.shift_right_logical",    B(Binary::ShiftRightLogical)),
    ("stablehlo.subtract",               B(Binary::Subtract)),
    ("stablehlo.xor",                    B(Binary::Xor)),
    ("stablehlo.after_all",              F(host::after_all)),
    ("stablehlo.all_gather",             F(collective::all_gather)),
    ("stablehlo.all_reduce",             R(collective::all_reduce)),
    ("stablehlo.all_to_all",             F(collective::all_to_all)),
    ("stablehlo.async_done",             F(collective::async_done)),
    ("stablehlo.async_start",            R(collective::async_start)),
    ("stablehlo.batch_norm_grad",        F(special::batch_norm_grad)),
    ("stablehlo.batch_norm_inference",   F(special::batch_norm_inference)),
    ("stablehlo.batch_norm_training",    F(special::batch_norm_training)),
    ("stablehlo.bitcast_convert",        F(moves::bitcast_convert)),
    ("stablehlo.broadcast",              F(moves::broadcast)),
    ("stablehlo.broadcast_in_dim",       F(moves::broadcast_in_dim)),
    ("stablehlo.case",                   R(control::case)),
    ("stablehlo.cbrt",                   F(cbrt)),
    ("stablehlo.cholesky",               F(special::cholesky)),
    ("stablehlo.clamp",                  F(moves::clamp)),
    ("stablehlo.collective_broadcast",   F(collective::collective_broadcast)),
    ("stablehlo.collective_permute",     F(collective::collective_permute)),
    ("stablehlo.collective_reduce",      R(collective::collective_reduce)),
    ("stablehlo.compare",                F(moves::compare)),
    ("stablehlo.composite",              F(composite::composite)),
    ("stablehlo.concatenate",            F(moves::concatenate)),
    ("stablehlo.constant",               F(moves::constant)),
    ("stablehlo.convert",                F(moves::convert)),
    ("stablehlo.convolution",            F(product::convolution)),
    ("stablehlo.create_token",           F(host::after_all)),
    ("stablehlo.cross-replica-sum",      F(collective::cross_replica_sum)),
    ("stablehlo.custom_call",            F(custom::custom_call)),
    ("stablehlo.dot",                    F(product::dot)),
    ("stablehlo.dot_general",            F(product::dot_general)),
    ("stablehlo.dynamic_broadcast_in_dim", F(dynamic::broadcast_in_dim)),
    ("stablehlo.dynamic_conv",           F(dynamic::convolution)),
    ("stablehlo.dynamic_gather",         F(dynamic::gather)),
    ("stablehlo.dynamic_iota",           F(dynamic::iota)),
    ("stablehlo.dynamic_pad",            F(dynamic::pad)),
    ("stablehlo.dynamic_reshape",        F(dynamic::reshape)),
    ("stablehlo.dynamic_slice",          F(moves::dynamic_slice)),
    ("stablehlo.dynamic_update_slice",   F(moves::dynamic_update_slice)),
    ("stablehlo.einsum",                 F(einsum::einsum)),
    ("stablehlo.fft",                    F(special::fft)),
    ("stablehlo.gather",                 F(gather::gather)),
    ("stablehlo.get_dimension_size",     F(dynamic::get_dimension_size)),
    ("stablehlo.get_tuple_element",      F(moves::get_tuple_element)),
    ("stablehlo.if",                     R(control::if_)),
    ("stablehlo.infeed",                 F(host::infeed)),
    ("stablehlo.iota",                   F(moves::iota)),
    ("stablehlo.map",                    R(reduce::map)),
    ("stablehlo.optimization_barrier",   F(control::optimization_barrier)),
    ("stablehlo.outfeed",                F(host::outfeed)),
    ("stablehlo.pad",                    F(moves::pad)),
    ("stablehlo.partition_id",           F(host::partition_id)),
    ("stablehlo.real_dynamic_slice",     F(dynamic::slice)),
    ("stablehlo.recv",                   F(host::recv)),
    ("stablehlo.reduce",                 R(reduce::reduce)),
    ("stablehlo.reduce_precision",       F(moves::reduce_precision)),
    ("stablehlo.reduce_scatter",         R(collective::reduce_scatter)),
    ("stablehlo.reduce_window",          R(reduce::reduce_window)),
    ("stablehlo.replica_id",             F(host::replica_id)),
    ("stablehlo.reshape",                F(moves::reshape)),
    ("stablehlo.reverse",                F(moves::reverse)),
    ("stablehlo.rng",                    F(special::rng)),
    ("stablehlo.rng_bit_generator",      F(special::rng_bit_generator)),
    ("stablehlo.scatter",                R(gather::scatter)),
    ("stablehlo.select",                 F(moves::select)),
    ("stablehlo.select_and_scatter",     R(reduce::select_and_scatter)),
    ("stablehlo.send",                   F(host::send)),
    ("stablehlo.set_dimension_size",     F(dynamic::set_dimension_size)),
    ("stablehlo.slice",                  F(moves::slice)),
    ("stablehlo.sort",                   R(gather::sort)),
    ("stablehlo.torch_index_select",     F(gather::torch_index_select)),
    ("stablehlo.transpose",              F(moves::transpose)),
    ("stablehlo.triangular_solve",       F(special::triangular_solve)),
    ("stablehlo.tuple",                  F(moves::tuple)),
    ("stablehlo.unary_einsum",           F(einsum::unary_einsum)),
    ("stablehlo.uniform_dequantize",     F(quantized)),
    ("stablehlo.uniform_quantize",       F(quantized)),
    ("stablehlo.while",                  R(control::while_)),
    ("func.call",                        F(function::call)),
    ("sdy.manual_computation",           R(manual::manual_computation)),
    ("sdy.all_gather",                   F(manual::sharding_constraint)),
    ("sdy.all_reduce",                   F(manual::sharding_constraint)),
    ("sdy.all_slice",                    F(manual::sharding_constraint)),
    ("sdy.all_to_all",                   F(manual::sharding_constraint)),
    ("sdy.collective_permute",           F(manual::sharding_constraint)),
    ("sdy.constant",                     F(moves::constant)),
    ("sdy.data_flow_edge",               F(manual::guide)),
    ("sdy.func_data_flow_edge",          F(manual::guide)),
    ("sdy.named_computation",            R(manual::named_computation)),
    ("sdy.propagation_barrier",          F(manual::guide)),
    ("sdy.reduce_scatter",               F(manual::sharding_constraint)),
    ("sdy.replicated_to_unreduced",      F(manual::sharding_constraint)),
    ("sdy.reshard",                      F(manual::sharding_constraint)),
    ("sdy.sharded_to_unreduced",         F(manual::sharding_constraint)),
    ("sdy.sharding_constraint",          F(manual::sharding_constraint)),
    ("sdy.sharding_group",               F(manual::guide)),
];

/// Returns the rows of all tables.
fn all() -> impl Iterator<Item = (&'static str, Conversion)> {
    TABLE.iter().chain(chlo::TABLE).chain(arith::TABLE).chain(shape::TABLE).copied()
}
static BY_NAME: LazyLock<FxHashMap<&'static str, Conversion>> = LazyLock::new(|| all().collect());
static BY_NAME_SORTED: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<_> = all().map(|(name, _)| name).collect();
    names.sort_unstable();
    names
});

/// Returns whether an op has a conversion.
pub(crate) fn is_known(name: &str) -> bool {
    BY_NAME.contains_key(name)
}
/// Converts an op.
pub(super) fn convert<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    match BY_NAME.get(op.name.as_str()) {
        Some(Conversion::Regions(convert)) => convert(scope, op),
        _ => convert_plain(scope, op),
    }
}

/// Converts an op without regions, which need not be one of the program's.
pub(super) fn convert_plain(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    match BY_NAME.get(op.name.as_str()) {
        Some(Conversion::Unary(of)) => unary(scope, op, *of),
        Some(Conversion::Binary(binary)) => {
            let [x, y] = scope.exactly(op)?;
            let id = scope.emit(op, *binary, &[x, y])?;
            scope.bind(op, id)
        }
        Some(Conversion::Plain(convert)) => convert(scope, op),
        Some(Conversion::Regions(_)) => {
            Err(scope
                .unsupported(op, format!("`{}` has regions, which it cannot have here", op.name)))
        }
        None => {
            let name = op.name.to_string();
            let known = BY_NAME_SORTED.iter().copied();
            let error = scope.error(op, Code::UnknownOp { name, at: String::new() });
            Err(match hlo::diag::nearest(&op.name, known) {
                Some(name) => error.with_help(format!("did you mean `{name}`?")),
                None => error,
            })
        }
    }
}

fn unary(scope: &mut Scope<'_, '_>, op: &Op, unary: Unary) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let id = scope.emit(op, unary, &[x])?;
    accuracy(scope, op, id)?;
    scope.bind(op, id)
}
/// `stablehlo.cbrt`. HLO lacks the root of a complex number, which is a power; in c128, so that 1/3 has the digits for c64.
fn cbrt(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let shape = scope.array(op, x)?;
    if !shape.ty.is_complex() {
        return unary(scope, op, Unary::Cbrt);
    }
    let wide = moves::convert_to(scope, op, x, ElementType::C128)?;
    let third = scope.full(op, &shape.with_type(ElementType::C128), 1.0 / 3.0)?;
    let root = scope.emit(op, Binary::Power, &[wide, third])?;
    let id = moves::convert_to(scope, op, root, shape.ty)?;
    scope.bind(op, id)
}

/// Keeps the accuracy that the op asks for.
fn accuracy(scope: &mut Scope<'_, '_>, op: &Op, id: InstructionId) -> Result<()> {
    let Some(fields) = scope.optional::<&Attributes>(op, "result_accuracy")? else { return Ok(()) };
    let mode = match fields.get("mode").and_then(Word::from_attribute) {
        Some(Word("TOLERANCE")) => None,
        Some(Word(word)) => Some(scope.one_of(
            op,
            "result_accuracy",
            word,
            AccuracyMode::ALL,
            AccuracyMode::name,
        )?),
        None => Some(AccuracyMode::Default),
    };
    let result = match mode {
        Some(mode) => ResultAccuracy::Mode(mode),
        None => ResultAccuracy::Tolerance {
            atol: scope.field(op, fields, "atol")?.unwrap_or(0.0),
            rtol: scope.field(op, fields, "rtol")?.unwrap_or(0.0),
            ulps: scope.field(op, fields, "ulps")?.unwrap_or(0),
        },
    };
    if result != ResultAccuracy::default() {
        scope.common_of(id).result_accuracy = Some(result);
    }
    Ok(())
}

fn quantized(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let message = format!("`{}` has no meaning in HLO, which lacks quantized types", op.name);
    Err(scope.unsupported(op, message))
}
