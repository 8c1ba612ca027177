//! The ops of `arith`, `shape` and `tensor`: what sizes are computed with.
use super::Bytecode::Absent;
use super::Conversion::{Binary as B, Plain as F, Regions as R, Unary as U};
use super::{GENERIC, OpRow, row};
use crate::convert::{arith, dynamic, shape};
use hlo::op::{Binary, Unary};

const ARITHMETIC: &str = "% , % ~flags {} : &same";
const ARROWS: &str = "%* {} : &arrow";
const BINARY: &str = "% , % {} : &same";
const CAST: &str = "% ~flags {} : &to";

/// The ops.
#[rustfmt::skip]
pub(super) const ROWS: &[OpRow] = &[
    row("arith.addf", B(Binary::Add), ARITHMETIC, Absent),
    row("arith.addi", F(arith::integers), ARITHMETIC, Absent),
    row("arith.andi", F(arith::integers), BINARY, Absent),
    row("arith.cmpi", F(arith::cmpi), "~predicate , % , % {} : &compared", Absent),
    row("arith.constant", F(arith::constant), "~number", Absent),
    row("arith.divf", B(Binary::Divide), ARITHMETIC, Absent),
    row("arith.divsi", F(arith::integers), BINARY, Absent),
    row("arith.extf", F(arith::cast), CAST, Absent),
    row("arith.extsi", F(arith::cast), CAST, Absent),
    row("arith.fptosi", F(arith::cast), CAST, Absent),
    row("arith.index_cast", F(arith::cast), CAST, Absent),
    row("arith.maximumf", B(Binary::Maximum), ARITHMETIC, Absent),
    row("arith.maxsi", F(arith::integers), BINARY, Absent),
    row("arith.minimumf", B(Binary::Minimum), ARITHMETIC, Absent),
    row("arith.minsi", F(arith::integers), BINARY, Absent),
    row("arith.mulf", B(Binary::Multiply), ARITHMETIC, Absent),
    row("arith.muli", F(arith::integers), ARITHMETIC, Absent),
    row("arith.negf", U(Unary::Negate), "% ~flags {} : &same", Absent),
    row("arith.ori", F(arith::integers), BINARY, Absent),
    row("arith.remf", B(Binary::Remainder), ARITHMETIC, Absent),
    row("arith.remsi", F(arith::integers), BINARY, Absent),
    row("arith.select", F(arith::select), "% , % , % {} : &select", Absent),
    row("arith.sitofp", F(arith::cast), CAST, Absent),
    row("arith.subf", B(Binary::Subtract), ARITHMETIC, Absent),
    row("arith.subi", F(arith::integers), ARITHMETIC, Absent),
    row("arith.truncf", F(arith::cast), CAST, Absent),
    row("arith.trunci", F(arith::cast), CAST, Absent),
    row("arith.xori", F(arith::integers), BINARY, Absent),
    row("shape.add", F(shape::known), ARROWS, Absent),
    row("shape.assuming", R(shape::assuming), GENERIC, Absent),
    row("shape.broadcast", F(shape::known), ARROWS, Absent),
    row("shape.concat", F(shape::known), ARROWS, Absent),
    row("shape.const_shape", F(shape::known), "$shape:list {} : &results", Absent),
    row("shape.const_size", F(shape::known), GENERIC, Absent),
    row("shape.const_witness", F(shape::witness), GENERIC, Absent),
    row("shape.cstr_broadcastable", F(shape::witness), "%* {} : &witness", Absent),
    row("shape.cstr_eq", F(shape::witness), "%* {} : &witness", Absent),
    row("shape.div", F(shape::known), ARROWS, Absent),
    row("shape.from_extents", F(shape::known), GENERIC, Absent),
    row("shape.get_extent", F(shape::known), ARROWS, Absent),
    row("shape.index_to_size", F(shape::known), GENERIC, Absent),
    row("shape.mul", F(shape::known), ARROWS, Absent),
    row("shape.num_elements", F(shape::known), ARROWS, Absent),
    row("shape.shape_of", F(shape::known), ARROWS, Absent),
    row("shape.size_to_index", F(shape::known), GENERIC, Absent),
    row("shape.to_extent_tensor", F(shape::known), ARROWS, Absent),
    row("shape.value_as_shape", F(shape::known), GENERIC, Absent),
    row("shape.value_of", F(shape::known), GENERIC, Absent),
    row("tensor.cast", F(dynamic::cast), CAST, Absent),
    row("tensor.dim", F(shape::known), "% , % {} : &dim", Absent),
    row("tensor.extract", F(shape::known), "% ~indices {} : &extract", Absent),
    row("tensor.from_elements", F(shape::known), "%* {} : &elements", Absent),
];
