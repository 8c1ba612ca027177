//! The ops of modules and functions, those of Shardy, and what XLA writes in between.
use super::Bytecode::{Absent, Both, Own};
use super::Conversion::{self, Plain as F, Regions as R};
use super::{GENERIC, OpRow, row};
use crate::convert::{function, manual, moves};

const RETURNED: &str = "{} %* {} ~returned";
const UNARY: &str = "% {} : &same";

/// The ops.
#[rustfmt::skip]
pub(super) const ROWS: &[OpRow] = &[
    row("builtin.module", Conversion::None, "~module", Own("?sym_name ?sym_visibility")),
    row("builtin.unrealized_conversion_cast", Conversion::None, GENERIC, Own("")),
    row("func.call", F(function::call), "$callee:symbol ( %* ) {} : &function",
        Both("callee", "?arg_attrs callee ?no_inline ?res_attrs")),
    row("func.func", Conversion::None, "~function",
        Both("arg_attrs function_type res_attrs sym_name sym_visibility",
            "?arg_attrs function_type ?res_attrs sym_name ?sym_visibility")),
    row("func.return", Conversion::None, RETURNED, Own("")),
    row("mhlo.copy", F(moves::copy), UNARY, Absent),
    row("vhlo.func_v1", Conversion::None, "~vhlo_function {}", Absent),
    row("sdy.all_gather", F(manual::sharding_constraint),
        "$gathering_axes:axis_lists % out_sharding = $out_sharding:sharding {} : &same",
        Own("gathering_axes out_sharding")),
    row("sdy.all_reduce", F(manual::sharding_constraint),
        "~reduction $reduction_axes:axis_list % out_sharding = $out_sharding:sharding {} : &same",
        Own("out_sharding reduction_axes ?reduction_op")),
    row("sdy.all_slice", F(manual::sharding_constraint),
        "$slicing_axes:axis_lists % out_sharding = $out_sharding:sharding {} : &same",
        Own("out_sharding slicing_axes")),
    row("sdy.all_to_all", F(manual::sharding_constraint),
        "$params:all_to_all % out_sharding = $out_sharding:sharding {} : &same",
        Own("out_sharding params")),
    row("sdy.collective_permute", F(manual::sharding_constraint),
        "% out_sharding = $out_sharding:sharding {} : &same", Own("out_sharding")),
    row("sdy.constant", F(moves::constant), "~constant", Own("value")),
    row("sdy.data_flow_edge", F(manual::guide), "% ~sharding {} : &same", Own("?sharding")),
    row("sdy.func_data_flow_edge", F(manual::guide), UNARY, Own("")),
    row("sdy.manual_computation", R(manual::manual_computation),
        "( %* ) in_shardings = $in_shardings:shardings out_shardings = $out_shardings:shardings \
         manual_axes = $manual_axes:axes ~body {} : &function",
        Own("in_shardings manual_axes out_shardings")),
    row("sdy.mesh", Conversion::None, "$sym_name:name = $mesh:mesh {}", Own("mesh sym_name")),
    row("sdy.named_computation", R(manual::named_computation),
        "< $name:string > ( %* ) ~in_shardings ~out_shardings ~body {} : &function",
        Own("?in_shardings name ?out_shardings")),
    row("sdy.propagation_barrier", F(manual::guide),
        "% allowed_direction = $allowed_direction:sdy.propagation_direction {} : &same",
        Own("allowed_direction")),
    row("sdy.reduce_scatter", F(manual::sharding_constraint),
        "~reduction $reduce_scatter_axes:axis_lists % out_sharding = $out_sharding:sharding {} : \
         &same",
        Own("out_sharding reduce_scatter_axes ?reduction_op")),
    row("sdy.replicated_to_unreduced", F(manual::sharding_constraint),
        "$axes:axis_list % out_sharding = $out_sharding:sharding {} : &same",
        Own("axes out_sharding")),
    row("sdy.reshard", F(manual::sharding_constraint), "% $sharding:sharding {} : &same",
        Own("sharding")),
    row("sdy.return", Conversion::None, RETURNED, Own("")),
    row("sdy.sharded_to_unreduced", F(manual::sharding_constraint),
        "$axes:axis_lists % out_sharding = $out_sharding:sharding {} : &same",
        Own("axes out_sharding")),
    row("sdy.sharding_constraint", F(manual::sharding_constraint),
        "% $sharding:sharding {} : &same", Own("sharding")),
    row("sdy.sharding_group", F(manual::sharding_group), "% group_id = $group_id:i64 {} : &operands",
        Own("group_id")),
];
