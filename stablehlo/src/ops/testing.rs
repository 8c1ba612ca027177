//! The ops of tests: `check`, of StableHLO and of IREE, `interpreter`, and those of `util` and `flow`
//! that hide values and sizes from a compiler.
use super::Bytecode::Absent;
use super::Conversion::Plain as F;
use super::{GENERIC, OpRow, row};
use crate::convert::{arith, control, testing};

const ONE: &str = "( % ) {} : &operands";

/// The ops.
#[rustfmt::skip]
pub(super) const ROWS: &[OpRow] = &[
    row("check.expect_all_true", F(testing::check), ONE, Absent),
    row("check.expect_almost_eq", F(testing::check), "~checked_values", Absent),
    row("check.expect_almost_eq_const", F(testing::check), "~checked_constant", Absent),
    row("check.expect_close", F(testing::check), "% , % ~tolerance : {} &operands", Absent),
    row("check.expect_eq", F(testing::check), "~checked_values", Absent),
    row("check.expect_eq_const", F(testing::check), "~checked_constant", Absent),
    row("check.expect_false", F(testing::check), ONE, Absent),
    row("check.expect_serialized_eq", F(testing::check),
        "% , probe_id = $probe_id:string ~tolerance {} : &operands", Absent),
    row("check.expect_true", F(testing::check), ONE, Absent),
    row("flow.tensor.dynamic_constant", F(arith::constant), "$value:any -> &results", Absent),
    row("interpreter.print", F(testing::call), "% {} : &operands", Absent),
    row("interpreter.probe", F(testing::call), "% , probe_id = $probe_id:string {} : &same",
        Absent),
    row("interpreter.run_parallel", F(testing::run_parallel), GENERIC, Absent),
    row("util.optimization_barrier", F(control::optimization_barrier), "~barrier", Absent),
    row("util.unfoldable_constant", F(arith::constant), "~number", Absent),
];
