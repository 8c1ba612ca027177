//! The ops of CHLO.
use super::Bytecode::Absent;
use super::Conversion::{Binary as B, None as NONE, Plain as F, Regions as R, Unary as U};
use super::{GENERIC, OpRow, row};
use crate::convert::{chlo, functions, moves, product};
use crate::export::elementary;
use hlo::op::{Binary, Unary};

const ARROW: &str = "% {} : &arrow";
const ARROW2: &str = "% , % {} : &arrow";
const OPERANDS: &str = "%* {} : &function";

/// The ops.
#[rustfmt::skip]
pub(super) const ROWS: &[OpRow] = &[
    row("chlo._asin_acos_kernel", NONE, ARROW, Absent),
    row("chlo.acos", U(Unary::Acos), ARROW, Absent).computed_by(elementary::acos),
    row("chlo.acosh", U(Unary::Acosh), ARROW, Absent).computed_by(elementary::acosh),
    row("chlo.asin", U(Unary::Asin), ARROW, Absent).computed_by(elementary::asin),
    row("chlo.asinh", U(Unary::Asinh), ARROW, Absent).computed_by(elementary::asinh),
    row("chlo.atan", F(chlo::atan), ARROW, Absent),
    row("chlo.atanh", U(Unary::Atanh), ARROW, Absent).computed_by(elementary::atanh),
    row("chlo.bessel_i1e", F(functions::call), ARROW, Absent),
    row("chlo.broadcast_add", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_and", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_atan2", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_compare", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_complex", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_divide", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_maximum", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_minimum", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_multiply", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_next_after", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_or", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_polygamma", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_power", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_remainder", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_select", F(chlo::broadcast_select), OPERANDS, Absent),
    row("chlo.broadcast_shift_left", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_shift_right_arithmetic", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_shift_right_logical", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_subtract", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_xor", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.broadcast_zeta", F(chlo::broadcast_binary), OPERANDS, Absent),
    row("chlo.conj", F(chlo::conj), ARROW, Absent),
    row("chlo.constant", F(moves::constant), "~constant", Absent),
    row("chlo.constant_like", F(chlo::constant_like), GENERIC, Absent),
    row("chlo.cosh", U(Unary::Cosh), ARROW, Absent).computed_by(elementary::cosh),
    row("chlo.digamma", F(functions::call), ARROW, Absent),
    row("chlo.erf", U(Unary::Erf), ARROW, Absent).computed_by(elementary::erf),
    row("chlo.erf_inv", F(functions::call), ARROW, Absent),
    row("chlo.erfc", F(functions::call), ARROW, Absent),
    row("chlo.is_inf", F(chlo::is_inf), ARROW, Absent),
    row("chlo.is_neg_inf", F(chlo::is_neg_inf), ARROW, Absent),
    row("chlo.is_pos_inf", F(chlo::is_pos_inf), ARROW, Absent),
    row("chlo.lgamma", F(functions::call), ARROW, Absent),
    row("chlo.mulhi", B(Binary::Mulhi), ARROW2, Absent).computed_by(elementary::mulhi),
    row("chlo.next_after", F(functions::next_after), ARROW2, Absent),
    row("chlo.polygamma", F(functions::call), ARROW2, Absent),
    row("chlo.ragged_dot", F(product::ragged_dot), GENERIC, Absent),
    row("chlo.scan", R(chlo::scan), "~scan", Absent),
    row("chlo.sinh", U(Unary::Sinh), ARROW, Absent).computed_by(elementary::sinh),
    row("chlo.square", F(chlo::square), ARROW, Absent),
    row("chlo.tan", U(Unary::Tan), ARROW, Absent),
    row("chlo.top_k", F(chlo::top_k), "( % , k = $k:i64 ~is_stable ) {} : &arrow", Absent),
    row("chlo.zeta", F(functions::call), ARROW2, Absent),
];
