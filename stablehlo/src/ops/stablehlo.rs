//! The ops of StableHLO.
use super::Bytecode::{self, Split, Vhlo};
use super::Conversion::{self, Binary as B, Plain as F, Regions as R, Unary as U};
use super::{GENERIC, OpRow, SplitAttribute, V1, row};
use crate::convert::{
    collective, composite, control, custom, dynamic, einsum, elementwise, gather, host, moves,
    product, reduce, special, uniform,
};
use hlo::op::{Binary, Unary};

const BINARY: &str = "% , % {} : &same";
const OPERANDS: &str = "%* {} : &function";
const RESULTS: &str = "{} : &results";
const RETURNED: &str = "{} %* {} ~returned";
const UNARY: &str = "% {} : &same";

/// The form of an op of VHLO whose version 2 has the accuracy of the result.
const ACCURACY: Bytecode = Vhlo(&["", "1.10 result_accuracy"]);

const CONVOLUTION: &[SplitAttribute] = &[SplitAttribute {
    name: "dimension_numbers",
    value: "stablehlo.conv",
    fields: &[
        "input_batch_dimension",
        "input_feature_dimension",
        "input_spatial_dimensions",
        "kernel_input_feature_dimension",
        "kernel_output_feature_dimension",
        "kernel_spatial_dimensions",
        "output_batch_dimension",
        "output_feature_dimension",
        "output_spatial_dimensions",
    ],
}];
const DOT: &[SplitAttribute] = &[
    SplitAttribute {
        name: "dot_dimension_numbers",
        value: "stablehlo.dot",
        fields: &[
            "lhs_batching_dimensions",
            "rhs_batching_dimensions",
            "lhs_contracting_dimensions",
            "rhs_contracting_dimensions",
        ],
    },
    SplitAttribute {
        name: "algorithm",
        value: "stablehlo.dot_algorithm",
        fields: &[
            "lhs_precision_type",
            "rhs_precision_type",
            "accumulation_type",
            "lhs_component_count",
            "rhs_component_count",
            "num_primitive_operations",
            "allow_imprecise_accumulation",
        ],
    },
];
const GATHER: &[SplitAttribute] = &[SplitAttribute {
    name: "dimension_numbers",
    value: "stablehlo.gather",
    fields: &[
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
        "index_vector_dim",
    ],
}];
const SCATTER: &[SplitAttribute] = &[SplitAttribute {
    name: "scatter_dimension_numbers",
    value: "stablehlo.scatter",
    fields: &[
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
        "index_vector_dim",
    ],
}];

/// The ops.
#[rustfmt::skip]
pub(super) const ROWS: &[OpRow] = &[
    row("stablehlo.abs", U(Unary::Abs), UNARY, V1),
    row("stablehlo.ceil", U(Unary::Ceil), UNARY, V1),
    row("stablehlo.cosine", U(Unary::Cosine), UNARY, ACCURACY),
    row("stablehlo.count_leading_zeros", U(Unary::CountLeadingZeros), UNARY, V1),
    row("stablehlo.exponential", U(Unary::Exponential), UNARY, Vhlo(&["", "1.9 result_accuracy"])),
    row("stablehlo.exponential_minus_one", U(Unary::ExponentialMinusOne), UNARY, ACCURACY),
    row("stablehlo.floor", U(Unary::Floor), UNARY, V1),
    row("stablehlo.imag", U(Unary::Imag), UNARY, V1),
    row("stablehlo.is_finite", U(Unary::IsFinite), UNARY, V1),
    row("stablehlo.log", U(Unary::Log), UNARY, ACCURACY),
    row("stablehlo.log_plus_one", U(Unary::LogPlusOne), UNARY, ACCURACY),
    row("stablehlo.logistic", U(Unary::Logistic), UNARY, ACCURACY),
    row("stablehlo.negate", U(Unary::Negate), UNARY, V1),
    row("stablehlo.not", U(Unary::Not), UNARY, V1),
    row("stablehlo.popcnt", U(Unary::Popcnt), UNARY, V1),
    row("stablehlo.real", U(Unary::Real), UNARY, V1),
    row("stablehlo.round_nearest_afz", U(Unary::RoundNearestAfz), UNARY, V1),
    row("stablehlo.round_nearest_even", U(Unary::RoundNearestEven), UNARY, V1),
    row("stablehlo.rsqrt", U(Unary::Rsqrt), UNARY, ACCURACY),
    row("stablehlo.sign", U(Unary::Sign), UNARY, V1),
    row("stablehlo.sine", U(Unary::Sine), UNARY, ACCURACY),
    row("stablehlo.sqrt", U(Unary::Sqrt), UNARY, ACCURACY),
    row("stablehlo.tan", U(Unary::Tan), UNARY, Vhlo(&["1.4", "1.10 result_accuracy"])),
    row("stablehlo.tanh", U(Unary::Tanh), UNARY, ACCURACY),
    row("stablehlo.add", B(Binary::Add), BINARY, V1),
    row("stablehlo.and", B(Binary::And), BINARY, V1),
    row("stablehlo.atan2", B(Binary::Atan2), BINARY, V1),
    row("stablehlo.complex", B(Binary::Complex), "%* {} : &complex", V1),
    row("stablehlo.divide", B(Binary::Divide), BINARY, V1),
    row("stablehlo.maximum", B(Binary::Maximum), BINARY, V1),
    row("stablehlo.minimum", B(Binary::Minimum), BINARY, V1),
    row("stablehlo.multiply", B(Binary::Multiply), BINARY, V1),
    row("stablehlo.or", B(Binary::Or), BINARY, V1),
    row("stablehlo.power", B(Binary::Power), BINARY, V1),
    row("stablehlo.remainder", B(Binary::Remainder), BINARY, V1),
    row("stablehlo.shift_left", B(Binary::ShiftLeft), BINARY, V1),
    row("stablehlo.shift_right_arithmetic", B(Binary::ShiftRightArithmetic), BINARY, V1),
    row("stablehlo.shift_right_logical", B(Binary::ShiftRightLogical), BINARY, V1),
    row("stablehlo.subtract", B(Binary::Subtract), BINARY, V1),
    row("stablehlo.xor", B(Binary::Xor), BINARY, V1),
    row("stablehlo.after_all", F(host::after_all), "%* {} : &same", V1),
    row("stablehlo.all_gather", F(collective::all_gather), GENERIC,
        Vhlo(&[
            "all_gather_dim channel_id replica_groups use_global_device_ids",
            "1.5 all_gather_dim channel_id replica_groups use_global_device_ids"])),
    row("stablehlo.all_reduce", R(collective::all_reduce), GENERIC,
        Vhlo(&[
            "channel_id replica_groups use_global_device_ids",
            "1.5 channel_id replica_groups use_global_device_ids"])),
    row("stablehlo.all_to_all", F(collective::all_to_all), GENERIC,
        Vhlo(&[
            "channel_id concat_dimension replica_groups split_count split_dimension",
            "1.5 channel_id concat_dimension replica_groups split_count split_dimension"])),
    row("stablehlo.async_done", F(collective::async_done), GENERIC, Vhlo(&["1.15"])),
    row("stablehlo.async_start", R(collective::async_start), GENERIC, Vhlo(&["1.15"])),
    row("stablehlo.batch_norm_grad", F(special::batch_norm_grad), GENERIC,
        Vhlo(&["epsilon feature_index"])),
    row("stablehlo.batch_norm_inference", F(special::batch_norm_inference), GENERIC,
        Vhlo(&["epsilon feature_index"])),
    row("stablehlo.batch_norm_training", F(special::batch_norm_training), GENERIC,
        Vhlo(&["epsilon feature_index"])),
    row("stablehlo.bitcast_convert", F(moves::bitcast_convert), OPERANDS, V1),
    row("stablehlo.broadcast", F(moves::broadcast),
        "% , sizes = $broadcast_sizes:list {} : &function", Vhlo(&["broadcast_sizes"])),
    row("stablehlo.broadcast_in_dim", F(moves::broadcast_in_dim),
        "% , dims = $broadcast_dimensions:list {} : &function", Vhlo(&["broadcast_dimensions"])),
    row("stablehlo.case", R(control::case), GENERIC, V1),
    row("stablehlo.cbrt", F(elementwise::cbrt), UNARY, ACCURACY),
    row("stablehlo.cholesky", F(special::cholesky), "% ~lower {} : &same", Vhlo(&["lower"])),
    row("stablehlo.clamp", F(moves::clamp), "% , % , % {} : &same", V1),
    row("stablehlo.collective_broadcast", F(collective::collective_broadcast), GENERIC,
        Vhlo(&[
            "0.16 channel_id replica_groups",
            "1.20 channel_id has_dynamic_root replica_groups"])),
    row("stablehlo.collective_permute", F(collective::collective_permute), GENERIC,
        Vhlo(&["channel_id source_target_pairs"])),
    row("stablehlo.collective_reduce", R(collective::collective_reduce), GENERIC,
        Vhlo(&["1.19 channel_id has_dynamic_root replica_groups use_global_device_ids"])),
    row("stablehlo.compare", F(moves::compare),
        "$comparison_direction:stablehlo.comparison_direction , % , % ~compare_type {} : \
         &function",
        Vhlo(&["compare_type comparison_direction"])),
    row("stablehlo.composite", F(composite::composite), "$name:string %* ~regions {} : &function",
        Vhlo(&[
            "0.19 composite_attributes decomposition name version",
            "1.14 composite_attributes decomposition name version"])),
    row("stablehlo.concatenate", F(moves::concatenate), "%*, dim = $dimension:i64 {} : &function",
        Vhlo(&["dimension"])),
    row("stablehlo.constant", F(moves::constant), "~constant", Vhlo(&["value"])),
    row("stablehlo.convert", F(moves::convert), UNARY, V1),
    row("stablehlo.convolution", F(product::convolution),
        "( %* ) dim_numbers = ~convolution , window = { ~window } {} : &function",
        Split(&[
            "batch_group_count feature_group_count input_batch_dimension input_feature_dimension \
             input_spatial_dimensions kernel_input_feature_dimension \
             kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation \
             output_batch_dimension output_feature_dimension output_spatial_dimensions padding \
             precision_config rhs_dilation window_reversal window_strides"], CONVOLUTION)),
    row("stablehlo.create_token", F(host::after_all), RESULTS, V1),
    row("stablehlo.cross-replica-sum", F(collective::cross_replica_sum), GENERIC,
        Vhlo(&["replica_groups"])),
    row("stablehlo.custom_call", F(custom::custom_call),
        "$call_target_name:name ( %* ) {} : &function",
        Vhlo(&[
            "api_version backend_config call_target_name called_computations has_side_effect \
             operand_layouts output_operand_aliases result_layouts",
            "1.18 api_version backend_config call_target_name called_computations has_side_effect \
             operand_layouts output_operand_aliases result_layouts result_tilings"])),
    row("stablehlo.dot", F(product::dot), "% , % ~precision {} : &function",
        Vhlo(&["precision_config"])),
    row("stablehlo.dot_general", F(product::dot_general),
        "% , % , ~dot_dimensions ~precision {} : &function",
        Split(&[
            "lhs_batching_dimensions lhs_contracting_dimensions precision_config \
             rhs_batching_dimensions rhs_contracting_dimensions",
            "1.6 accumulation_type allow_imprecise_accumulation lhs_batching_dimensions \
             lhs_component_count lhs_contracting_dimensions lhs_precision_type \
             num_primitive_operations precision_config rhs_batching_dimensions \
             rhs_component_count rhs_contracting_dimensions rhs_precision_type"], DOT)),
    row("stablehlo.dynamic_broadcast_in_dim", F(dynamic::broadcast_in_dim),
        "% , % , dims = $broadcast_dimensions:list {} : &function",
        Vhlo(&[
            "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"])),
    row("stablehlo.dynamic_conv", F(dynamic::convolution), GENERIC,
        Split(&[
            "batch_group_count feature_group_count input_batch_dimension input_feature_dimension \
             input_spatial_dimensions kernel_input_feature_dimension \
             kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation \
             output_batch_dimension output_feature_dimension output_spatial_dimensions padding \
             precision_config rhs_dilation window_reversal window_strides",
            "0.20 batch_group_count feature_group_count input_batch_dimension input_feature_dimension \
             input_spatial_dimensions kernel_input_feature_dimension \
             kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation \
             output_batch_dimension output_feature_dimension output_spatial_dimensions \
             precision_config rhs_dilation window_reversal window_strides"], CONVOLUTION)),
    row("stablehlo.dynamic_gather", F(dynamic::gather), GENERIC,
        Split(&[
            "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims \
             start_index_map",
            "1.1 collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims \
             operand_batching_dims start_index_map start_indices_batching_dims"], GATHER)),
    row("stablehlo.dynamic_iota", F(dynamic::iota), "% , dim = $iota_dimension:i64 {} : &function",
        Vhlo(&["iota_dimension"])),
    row("stablehlo.dynamic_pad", F(dynamic::pad), OPERANDS, V1),
    row("stablehlo.dynamic_reshape", F(dynamic::reshape), OPERANDS, V1),
    row("stablehlo.dynamic_slice", F(moves::dynamic_slice),
        "% , %*, sizes = $slice_sizes:list {} : &function", Vhlo(&["slice_sizes"])),
    row("stablehlo.dynamic_update_slice", F(moves::dynamic_update_slice), OPERANDS, V1),
    row("stablehlo.einsum", F(einsum::einsum),
        "% , % , config = $einsum_config:string {} : &function", Vhlo(&["einsum_config"])),
    row("stablehlo.fft", F(special::fft),
        "% , type = $fft_type:stablehlo.fft_type , length = $fft_length:list {} : &function",
        Vhlo(&["fft_length fft_type"])),
    row("stablehlo.gather", F(gather::gather), GENERIC,
        Split(&[
            "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes \
             start_index_map",
            "1.1 collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims \
             operand_batching_dims slice_sizes start_index_map \
             start_indices_batching_dims"], GATHER)),
    row("stablehlo.get_dimension_size", F(dynamic::get_dimension_size),
        "% , dim = $dimension:i64 {} : &function", Vhlo(&["dimension"])),
    row("stablehlo.get_tuple_element", F(moves::get_tuple_element),
        "% [ $index:i32 ] {} : &function", Vhlo(&["index"])),
    row("stablehlo.if", R(control::if_), GENERIC, V1),
    row("stablehlo.infeed", F(host::infeed), GENERIC, Vhlo(&["infeed_config layout"])),
    row("stablehlo.iota", F(moves::iota), "dim = $iota_dimension:i64 {} : &results",
        Vhlo(&["iota_dimension"])),
    row("stablehlo.map", R(reduce::map), GENERIC, Vhlo(&["dimensions"])),
    row("stablehlo.optimization_barrier", F(control::optimization_barrier), "{} ~barrier", V1),
    row("stablehlo.outfeed", F(host::outfeed), GENERIC, Vhlo(&["outfeed_config"])),
    row("stablehlo.pad", F(moves::pad),
        "% , % , low = $edge_padding_low:list , high = $edge_padding_high:list , interior = \
         $interior_padding:list {} : &function",
        Vhlo(&["edge_padding_high edge_padding_low interior_padding"])),
    row("stablehlo.partition_id", F(host::partition_id), RESULTS, V1),
    row("stablehlo.real_dynamic_slice", F(dynamic::slice), OPERANDS, V1),
    row("stablehlo.recv", F(host::recv), GENERIC,
        Vhlo(&[
            "channel_id channel_type is_host_transfer",
            "1.12 channel_id channel_type is_host_transfer source_target_pairs"])),
    row("stablehlo.reduce", R(reduce::reduce), "~reduce", Vhlo(&["dimensions"])),
    row("stablehlo.reduce_precision", F(moves::reduce_precision), "% , format = ~format {} : &same",
        Vhlo(&["exponent_bits mantissa_bits"])),
    row("stablehlo.reduce_scatter", R(collective::reduce_scatter), GENERIC,
        Vhlo(&["channel_id replica_groups scatter_dimension use_global_device_ids"])),
    row("stablehlo.reduce_window", R(reduce::reduce_window), GENERIC,
        Vhlo(&[
            "base_dilations padding window_dilations window_dimensions window_strides"])),
    row("stablehlo.replica_id", F(host::replica_id), RESULTS, V1),
    row("stablehlo.reshape", F(moves::reshape), OPERANDS, V1),
    row("stablehlo.return", Conversion::None, RETURNED, V1),
    row("stablehlo.reverse", F(moves::reverse), "% , dims = $dimensions:list {} : &same",
        Vhlo(&["dimensions"])),
    row("stablehlo.rng", F(special::rng),
        "% , % , % , distribution = $rng_distribution:stablehlo.rng_distribution {} : &function",
        Vhlo(&["rng_distribution"])),
    row("stablehlo.rng_bit_generator", F(special::rng_bit_generator),
        "% , algorithm = $rng_algorithm:stablehlo.rng_algorithm {} : &function",
        Vhlo(&["rng_algorithm"])),
    row("stablehlo.scatter", R(gather::scatter), GENERIC,
        Split(&[
            "index_vector_dim indices_are_sorted inserted_window_dims \
             scatter_dims_to_operand_dims unique_indices update_window_dims",
            "1.1 index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims \
             scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices \
             update_window_dims"], SCATTER)),
    row("stablehlo.select", F(moves::select), "%* {} : &select", V1),
    row("stablehlo.select_and_scatter", R(reduce::select_and_scatter), GENERIC,
        Vhlo(&["padding window_dimensions window_strides"])),
    row("stablehlo.send", F(host::send), GENERIC,
        Vhlo(&[
            "channel_id channel_type is_host_transfer",
            "1.12 channel_id channel_type is_host_transfer source_target_pairs"])),
    row("stablehlo.set_dimension_size", F(dynamic::set_dimension_size),
        "% , % , dim = $dimension:i64 {} : &function", Vhlo(&["dimension"])),
    row("stablehlo.slice", F(moves::slice), "% ~slice_ranges {} : &function",
        Vhlo(&["limit_indices start_indices strides"])),
    row("stablehlo.sort", R(gather::sort), GENERIC, Vhlo(&["dimension is_stable"])),
    row("stablehlo.torch_index_select", F(gather::torch_index_select), GENERIC,
        Vhlo(&["batch_dims dim"])),
    row("stablehlo.transpose", F(moves::transpose), "% , dims = $permutation:list {} : &function",
        Vhlo(&["permutation"])),
    row("stablehlo.triangular_solve", F(special::triangular_solve), GENERIC,
        Vhlo(&["left_side lower transpose_a unit_diagonal"])),
    row("stablehlo.tuple", F(moves::tuple), "%* {} : &tuple", V1),
    row("stablehlo.unary_einsum", F(einsum::unary_einsum),
        "% , config = $einsum_config:string {} : &function", Vhlo(&["einsum_config"])),
    row("stablehlo.uniform_dequantize", F(uniform::dequantize), UNARY, V1),
    row("stablehlo.uniform_quantize", F(uniform::quantize), UNARY, V1),
    row("stablehlo.while", R(control::while_), "~while", V1),
];
