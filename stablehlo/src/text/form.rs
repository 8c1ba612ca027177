//! The pretty forms of ops, as words that [`super::pretty`] reads.
//!
//! | word | meaning |
//! |---|---|
//! | `%` | an operand |
//! | `%*` | operands, separated by commas |
//! | `%*,` | operands, each followed by a comma |
//! | `{}` | the attributes that the form does not show |
//! | `$name:kind` | an attribute |
//! | `~name` | a part with a function of its own |
//! | `&name` | the types of operands and results |
//! | any other | itself |

use smol_str::SmolStr;

/// The ops of each form.
const FORMS: &[(&str, &[&str])] = &[
    (
        "% {} : &same",
        &[
            "stablehlo.abs",
            "stablehlo.cbrt",
            "stablehlo.ceil",
            "stablehlo.convert",
            "stablehlo.cosine",
            "stablehlo.count_leading_zeros",
            "stablehlo.exponential",
            "stablehlo.exponential_minus_one",
            "stablehlo.floor",
            "stablehlo.imag",
            "stablehlo.is_finite",
            "stablehlo.log",
            "stablehlo.log_plus_one",
            "stablehlo.logistic",
            "stablehlo.negate",
            "stablehlo.not",
            "stablehlo.popcnt",
            "stablehlo.real",
            "stablehlo.round_nearest_afz",
            "stablehlo.round_nearest_even",
            "stablehlo.rsqrt",
            "stablehlo.sign",
            "stablehlo.sine",
            "stablehlo.sqrt",
            "stablehlo.tan",
            "stablehlo.tanh",
            "stablehlo.uniform_dequantize",
            "stablehlo.uniform_quantize",
        ],
    ),
    (
        "% , % {} : &same",
        &[
            "stablehlo.add",
            "stablehlo.and",
            "stablehlo.atan2",
            "stablehlo.divide",
            "stablehlo.maximum",
            "stablehlo.minimum",
            "stablehlo.multiply",
            "stablehlo.or",
            "stablehlo.power",
            "stablehlo.remainder",
            "stablehlo.shift_left",
            "stablehlo.shift_right_arithmetic",
            "stablehlo.shift_right_logical",
            "stablehlo.subtract",
            "stablehlo.xor",
        ],
    ),
    (
        "%* {} : &function",
        &[
            "stablehlo.bitcast_convert",
            "stablehlo.dynamic_pad",
            "stablehlo.dynamic_reshape",
            "stablehlo.dynamic_update_slice",
            "stablehlo.real_dynamic_slice",
            "stablehlo.reshape",
        ],
    ),
    (
        "{} : &results",
        &["stablehlo.create_token", "stablehlo.partition_id", "stablehlo.replica_id"],
    ),
    ("dim = $iota_dimension:i64 {} : &results", &["stablehlo.iota"]),
    ("% , dim = $iota_dimension:i64 {} : &function", &["stablehlo.dynamic_iota"]),
    ("%* {} : &same", &["stablehlo.after_all"]),
    ("%* {} : &complex", &["stablehlo.complex"]),
    ("%* {} : &select", &["stablehlo.select"]),
    ("%* {} : &tuple", &["stablehlo.tuple"]),
    ("% [ $index:i32 ] {} : &function", &["stablehlo.get_tuple_element"]),
    ("~constant", &["stablehlo.constant", "chlo.constant", "sdy.constant"]),
    (
        "$comparison_direction:stablehlo.comparison_direction , % , % ~compare_type {} : &function",
        &["stablehlo.compare"],
    ),
    ("% ~slice_ranges {} : &function", &["stablehlo.slice"]),
    ("% , %*, sizes = $slice_sizes:list {} : &function", &["stablehlo.dynamic_slice"]),
    ("% , sizes = $broadcast_sizes:list {} : &function", &["stablehlo.broadcast"]),
    ("% , dims = $broadcast_dimensions:list {} : &function", &["stablehlo.broadcast_in_dim"]),
    (
        "% , % , dims = $broadcast_dimensions:list {} : &function",
        &["stablehlo.dynamic_broadcast_in_dim"],
    ),
    ("% ~lower {} : &same", &["stablehlo.cholesky"]),
    ("% , % , % {} : &same", &["stablehlo.clamp"]),
    ("%*, dim = $dimension:i64 {} : &function", &["stablehlo.concatenate"]),
    ("$name:string %* ~regions {} : &function", &["stablehlo.composite"]),
    (
        "( %* ) dim_numbers = ~convolution , window = { ~window } {} : &function",
        &["stablehlo.convolution"],
    ),
    ("$call_target_name:name ( %* ) {} : &function", &["stablehlo.custom_call"]),
    ("% , % ~precision {} : &function", &["stablehlo.dot"]),
    ("% , % , ~dot_dimensions ~precision {} : &function", &["stablehlo.dot_general"]),
    ("% , % , config = $einsum_config:string {} : &function", &["stablehlo.einsum"]),
    ("% , config = $einsum_config:string {} : &function", &["stablehlo.unary_einsum"]),
    (
        "% , type = $fft_type:stablehlo.fft_type , length = $fft_length:list {} : &function",
        &["stablehlo.fft"],
    ),
    ("% , dim = $dimension:i64 {} : &function", &["stablehlo.get_dimension_size"]),
    ("% , % , dim = $dimension:i64 {} : &function", &["stablehlo.set_dimension_size"]),
    ("% , dims = $dimensions:list {} : &same", &["stablehlo.reverse"]),
    (
        "% , % , low = $edge_padding_low:list , high = $edge_padding_high:list , interior = $interior_padding:list {} : &function",
        &["stablehlo.pad"],
    ),
    ("% , dims = $permutation:list {} : &function", &["stablehlo.transpose"]),
    ("{} ~barrier", &["stablehlo.optimization_barrier"]),
    (
        "% , % , % , distribution = $rng_distribution:stablehlo.rng_distribution {} : &function",
        &["stablehlo.rng"],
    ),
    (
        "% , algorithm = $rng_algorithm:stablehlo.rng_algorithm {} : &function",
        &["stablehlo.rng_bit_generator"],
    ),
    ("% , format = ~format {} : &same", &["stablehlo.reduce_precision"]),
    ("{} %* {} ~returned", &["stablehlo.return", "func.return", "sdy.return"]),
    ("$callee:symbol ( %* ) {} : &function", &["func.call"]),
    ("~reduce", &["stablehlo.reduce"]),
    ("~while", &["stablehlo.while"]),
    ("~function", &["func.func"]),
    ("~module", &["builtin.module"]),
    ("~vhlo_function {}", &["vhlo.func_v1"]),
    ("~number", &["arith.constant"]),
    ("% , % ~flags {} : &same", &["arith.addi", "arith.muli", "arith.subi"]),
    (
        "% , % {} : &same",
        &[
            "arith.andi",
            "arith.divsi",
            "arith.maxsi",
            "arith.minsi",
            "arith.ori",
            "arith.remsi",
            "arith.xori",
        ],
    ),
    (
        "% , % ~flags {} : &same",
        &[
            "arith.addf",
            "arith.divf",
            "arith.maximumf",
            "arith.minimumf",
            "arith.mulf",
            "arith.remf",
            "arith.subf",
        ],
    ),
    ("% ~flags {} : &same", &["arith.negf"]),
    (
        "% ~flags {} : &to",
        &[
            "arith.extf",
            "arith.extsi",
            "arith.fptosi",
            "arith.index_cast",
            "arith.sitofp",
            "arith.truncf",
            "arith.trunci",
            "tensor.cast",
        ],
    ),
    ("~predicate , % , % {} : &compared", &["arith.cmpi"]),
    ("% , % , % {} : &select", &["arith.select"]),
    ("% , % {} : &dim", &["tensor.dim"]),
    ("% ~indices {} : &extract", &["tensor.extract"]),
    ("%* {} : &elements", &["tensor.from_elements"]),
    (
        "%* {} : &arrow",
        &[
            "shape.add",
            "shape.broadcast",
            "shape.concat",
            "shape.div",
            "shape.get_extent",
            "shape.mul",
            "shape.num_elements",
            "shape.shape_of",
            "shape.to_extent_tensor",
        ],
    ),
    ("$shape:list {} : &results", &["shape.const_shape"]),
    ("%* {} : &witness", &["shape.cstr_broadcastable", "shape.cstr_eq"]),
    (
        "% {} : &arrow",
        &[
            "chlo._asin_acos_kernel",
            "chlo.acos",
            "chlo.acosh",
            "chlo.asin",
            "chlo.asinh",
            "chlo.atan",
            "chlo.atanh",
            "chlo.bessel_i1e",
            "chlo.conj",
            "chlo.cosh",
            "chlo.digamma",
            "chlo.erf",
            "chlo.erf_inv",
            "chlo.erfc",
            "chlo.is_inf",
            "chlo.is_neg_inf",
            "chlo.is_pos_inf",
            "chlo.lgamma",
            "chlo.sinh",
            "chlo.square",
            "chlo.tan",
        ],
    ),
    ("% , % {} : &arrow", &["chlo.mulhi", "chlo.next_after", "chlo.polygamma", "chlo.zeta"]),
    (
        "%* {} : &function",
        &[
            "chlo.broadcast_add",
            "chlo.broadcast_and",
            "chlo.broadcast_atan2",
            "chlo.broadcast_compare",
            "chlo.broadcast_complex",
            "chlo.broadcast_divide",
            "chlo.broadcast_maximum",
            "chlo.broadcast_minimum",
            "chlo.broadcast_multiply",
            "chlo.broadcast_next_after",
            "chlo.broadcast_or",
            "chlo.broadcast_polygamma",
            "chlo.broadcast_power",
            "chlo.broadcast_remainder",
            "chlo.broadcast_select",
            "chlo.broadcast_shift_left",
            "chlo.broadcast_shift_right_arithmetic",
            "chlo.broadcast_shift_right_logical",
            "chlo.broadcast_subtract",
            "chlo.broadcast_xor",
            "chlo.broadcast_zeta",
        ],
    ),
    ("( % , k = $k:i64 ~is_stable ) {} : &arrow", &["chlo.top_k"]),
    ("~scan", &["chlo.scan"]),
    ("% , $value:any ~tolerance {}", &["check.expect_almost_eq_const", "check.expect_eq_const"]),
    ("% , % ~tolerance {} : &same_operands", &["check.expect_almost_eq", "check.expect_eq"]),
    ("% , % ~tolerance : {} &operands", &["check.expect_close"]),
    ("$sym_name:name = $mesh:mesh {}", &["sdy.mesh"]),
    ("% $sharding:sharding {} : &same", &["sdy.reshard", "sdy.sharding_constraint"]),
    ("% group_id = $group_id:i64 {} : &operands", &["sdy.sharding_group"]),
    (
        "% allowed_direction = $allowed_direction:sdy.propagation_direction {} : &same",
        &["sdy.propagation_barrier"],
    ),
    (
        "( %* ) in_shardings = $in_shardings:shardings out_shardings = $out_shardings:shardings manual_axes = \
         $manual_axes:axes ~body {} : &function",
        &["sdy.manual_computation"],
    ),
    (
        "< $name:string > ( %* ) ~in_shardings ~out_shardings ~body {} : &function",
        &["sdy.named_computation"],
    ),
    ("% ~sharding {} : &same", &["sdy.data_flow_edge"]),
    ("% {} : &same", &["sdy.func_data_flow_edge"]),
    (
        "$gathering_axes:axis_lists % out_sharding = $out_sharding:sharding {} : &same",
        &["sdy.all_gather"],
    ),
    (
        "~reduction $reduction_axes:axis_list % out_sharding = $out_sharding:sharding {} : &same",
        &["sdy.all_reduce"],
    ),
    (
        "$slicing_axes:axis_lists % out_sharding = $out_sharding:sharding {} : &same",
        &["sdy.all_slice"],
    ),
    ("$params:all_to_all % out_sharding = $out_sharding:sharding {} : &same", &["sdy.all_to_all"]),
    ("% out_sharding = $out_sharding:sharding {} : &same", &["sdy.collective_permute"]),
    (
        "~reduction $reduce_scatter_axes:axis_lists % out_sharding = $out_sharding:sharding {} : &same",
        &["sdy.reduce_scatter"],
    ),
    (
        "$axes:axis_list % out_sharding = $out_sharding:sharding {} : &same",
        &["sdy.replicated_to_unreduced"],
    ),
    (
        "$axes:axis_lists % out_sharding = $out_sharding:sharding {} : &same",
        &["sdy.sharded_to_unreduced"],
    ),
];

/// Returns the name of an op in StableHLO or CHLO if it is one of MHLO, which has the same ops under another prefix.
pub(super) fn of_mhlo(name: SmolStr) -> SmolStr {
    let Some(op) = name.strip_prefix("mhlo.") else { return name };
    let op = if op == "topk" { "top_k" } else { op };
    let known = ["stablehlo", "chlo"].map(|dialect| SmolStr::new(format!("{dialect}.{op}")));
    let found = known.into_iter().find(|name| of(name).is_some() || crate::convert::is_known(name));
    found.unwrap_or(name)
}
/// Returns the pretty form of an op.
pub(super) fn of(name: &str) -> Option<&'static str> {
    FORMS.iter().find(|(_, ops)| ops.contains(&name)).map(|&(form, _)| form)
}
/// Returns the ops that have a pretty form.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FORMS.iter().flat_map(|(_, ops)| ops.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of tests has every pretty form, and beside it the generic form of the same op.
    #[test]
    fn every_form_is_read() {
        let file = include_str!("../../tests/forms.mlir");
        for name in names().filter(|name| *name != "builtin.module") {
            let short = name.strip_prefix("func.").unwrap_or(name);
            let pretty = [format!(" {name}"), format!(" {short} ")];
            assert!(pretty.iter().any(|pretty| file.contains(pretty)), "{name} in its pretty form");
            assert!(file.contains(&format!("\"{name}\"")), "{name} in the generic form");
        }
    }
}
