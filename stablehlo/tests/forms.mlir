// Each op twice: in its pretty form and in the generic form.
module @forms attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>, sym_name = "mesh"}> : () -> ()
  sdy.mesh @full = #sdy.mesh<["x"=2]>
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "full"}> : () -> ()
  func.func private @callee(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "callee", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    "func.return"(%arg0) : (tensor<2xf32>) -> ()
  }) : () -> ()
  vhlo.func_v1 @vhlo(%arg0: !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1> {
    "vhlo.return_v1"(%arg0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> ()
  } {sym_visibility = #vhlo.string_v1<"private">}
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>>>, sym_name = #vhlo.string_v1<"vhlo">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg0: !vhlo.tensor_v1<2x!vhlo.f32_v1>):
    "vhlo.return_v1"(%arg0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> ()
  }) : () -> ()
  func.func @main(
    %x: tensor<2xf32>, %i: tensor<2xi32>, %c: tensor<2xcomplex<f32>>, %p: tensor<2xi1>, %m: tensor<2x3xf32>, %s: tensor<3x3xf32>,
    %f: tensor<f32>, %n: tensor<i32>, %j: tensor<1xi32>, %w: tensor<2xui64>, %a: tensor<1x4x4x1xf32>, %k: tensor<2x2x1x1xf32>,
    %t: !stablehlo.token, %u: tuple<tensor<2xf32>, tensor<2xi32>>, %q: tensor<2x!quant.uniform<i8:f32, 1.0:0>>) {
    %0 = stablehlo.abs %x : tensor<2xf32>
    %1 = "stablehlo.abs"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = stablehlo.cbrt %x : tensor<2xf32>
    %3 = "stablehlo.cbrt"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.ceil %x : tensor<2xf32>
    %5 = "stablehlo.ceil"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %6 = stablehlo.cosine %x : tensor<2xf32>
    %7 = "stablehlo.cosine"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %8 = stablehlo.exponential %x : tensor<2xf32>
    %9 = "stablehlo.exponential"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %10 = stablehlo.exponential_minus_one %x : tensor<2xf32>
    %11 = "stablehlo.exponential_minus_one"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %12 = stablehlo.floor %x : tensor<2xf32>
    %13 = "stablehlo.floor"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %14 = stablehlo.log %x : tensor<2xf32>
    %15 = "stablehlo.log"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %16 = stablehlo.log_plus_one %x : tensor<2xf32>
    %17 = "stablehlo.log_plus_one"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %18 = stablehlo.logistic %x : tensor<2xf32>
    %19 = "stablehlo.logistic"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %20 = stablehlo.negate %x : tensor<2xf32>
    %21 = "stablehlo.negate"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %22 = stablehlo.round_nearest_afz %x : tensor<2xf32>
    %23 = "stablehlo.round_nearest_afz"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %24 = stablehlo.round_nearest_even %x : tensor<2xf32>
    %25 = "stablehlo.round_nearest_even"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %26 = stablehlo.rsqrt %x : tensor<2xf32>
    %27 = "stablehlo.rsqrt"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %28 = stablehlo.sign %x : tensor<2xf32>
    %29 = "stablehlo.sign"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %30 = stablehlo.sine %x : tensor<2xf32>
    %31 = "stablehlo.sine"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %32 = stablehlo.sqrt %x : tensor<2xf32>
    %33 = "stablehlo.sqrt"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %34 = stablehlo.tan %x : tensor<2xf32>
    %35 = "stablehlo.tan"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %36 = stablehlo.tanh %x : tensor<2xf32>
    %37 = "stablehlo.tanh"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %38 = stablehlo.not %i : tensor<2xi32>
    %39 = "stablehlo.not"(%i) : (tensor<2xi32>) -> tensor<2xi32>
    %40 = stablehlo.popcnt %i : tensor<2xi32>
    %41 = "stablehlo.popcnt"(%i) : (tensor<2xi32>) -> tensor<2xi32>
    %42 = stablehlo.count_leading_zeros %i : tensor<2xi32>
    %43 = "stablehlo.count_leading_zeros"(%i) : (tensor<2xi32>) -> tensor<2xi32>
    %44 = stablehlo.is_finite %x : (tensor<2xf32>) -> tensor<2xi1>
    %45 = "stablehlo.is_finite"(%x) : (tensor<2xf32>) -> tensor<2xi1>
    %46 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf64>
    %47 = "stablehlo.convert"(%x) : (tensor<2xf32>) -> tensor<2xf64>
    %48 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %49 = "stablehlo.real"(%c) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %50 = stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %51 = "stablehlo.imag"(%c) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %52 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0:0>>
    %53 = "stablehlo.uniform_quantize"(%x) : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0:0>>
    %54 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2xf32>
    %55 = "stablehlo.uniform_dequantize"(%q) : (tensor<2x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2xf32>
    %56 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-3, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
    %57 = "stablehlo.exponential"(%x) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-3, rtol = 0.0, ulps = 2, mode = #stablehlo<result_accuracy_mode TOLERANCE>>}> : (tensor<2xf32>) -> tensor<2xf32>
    %58 = stablehlo.add %x, %x : tensor<2xf32>
    %59 = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %60 = stablehlo.atan2 %x, %x : tensor<2xf32>
    %61 = "stablehlo.atan2"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %62 = stablehlo.divide %x, %x : tensor<2xf32>
    %63 = "stablehlo.divide"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %64 = stablehlo.maximum %x, %x : tensor<2xf32>
    %65 = "stablehlo.maximum"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %66 = stablehlo.minimum %x, %x : tensor<2xf32>
    %67 = "stablehlo.minimum"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %68 = stablehlo.multiply %x, %x : tensor<2xf32>
    %69 = "stablehlo.multiply"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %70 = stablehlo.power %x, %x : tensor<2xf32>
    %71 = "stablehlo.power"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %72 = stablehlo.remainder %x, %x : tensor<2xf32>
    %73 = "stablehlo.remainder"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %74 = stablehlo.subtract %x, %x : tensor<2xf32>
    %75 = "stablehlo.subtract"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %76 = stablehlo.and %i, %i : tensor<2xi32>
    %77 = "stablehlo.and"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %78 = stablehlo.or %i, %i : tensor<2xi32>
    %79 = "stablehlo.or"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %80 = stablehlo.xor %i, %i : tensor<2xi32>
    %81 = "stablehlo.xor"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %82 = stablehlo.shift_left %i, %i : tensor<2xi32>
    %83 = "stablehlo.shift_left"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %84 = stablehlo.shift_right_arithmetic %i, %i : tensor<2xi32>
    %85 = "stablehlo.shift_right_arithmetic"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %86 = stablehlo.shift_right_logical %i, %i : tensor<2xi32>
    %87 = "stablehlo.shift_right_logical"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %88 = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
    %89 = "stablehlo.complex"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
    %90 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
    %91 = "stablehlo.bitcast_convert"(%x) : (tensor<2xf32>) -> tensor<2xi32>
    %92 = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
    %93 = "stablehlo.constant"() <{value = dense<"0x0000C03F000000C0"> : tensor<2xf32>}> : () -> tensor<2xf32>
    %94 = chlo.constant dense<7> : tensor<3xi8>
    %95 = "chlo.constant"() {value = dense<[7, 7, 0x7]> : tensor<3xi8>} : () -> tensor<3xi8>
    %96 = sdy.constant dense<true> : tensor<3xi1>
    %97 = "sdy.constant"() {value = dense<"0xFF"> : tensor<3xi1>} : () -> tensor<3xi1>
    %98 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %99 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>
    %100 = stablehlo.dynamic_iota %i, dim = 0 : (tensor<2xi32>) -> tensor<?x?xf32>
    %101 = "stablehlo.dynamic_iota"(%i) <{iota_dimension = 0 : i64}> : (tensor<2xi32>) -> tensor<?x?xf32>
    %102 = stablehlo.create_token : !stablehlo.token
    %103 = "stablehlo.create_token"() : () -> !stablehlo.token
    %104 = stablehlo.partition_id : tensor<ui32>
    %105 = "stablehlo.partition_id"() : () -> tensor<ui32>
    %106 = stablehlo.replica_id : tensor<ui32>
    %107 = "stablehlo.replica_id"() : () -> tensor<ui32>
    %108 = stablehlo.after_all %t, %t : !stablehlo.token
    %109 = "stablehlo.after_all"(%t, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    %110 = stablehlo.select %p, %x, %x : tensor<2xi1>, tensor<2xf32>
    %111 = "stablehlo.select"(%p, %x, %x) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %112 = stablehlo.tuple %x, %t : tuple<tensor<2xf32>, !stablehlo.token>
    %113 = "stablehlo.tuple"(%x, %t) : (tensor<2xf32>, !stablehlo.token) -> tuple<tensor<2xf32>, !stablehlo.token>
    %114 = stablehlo.get_tuple_element %u[1] : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xi32>
    %115 = "stablehlo.get_tuple_element"(%u) <{index = 1 : i32}> : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xi32>
    %116 = stablehlo.compare LT, %x, %x, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %117 = "stablehlo.compare"(%x, %x) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo.comparison_direction<LT>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %118 = stablehlo.compare EQ, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %119 = "stablehlo.compare"(%x, %x) {compare_type = #stablehlo<comparison_type NOTYPE>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %120 = stablehlo.slice %m [0:1, 1:3:2] : (tensor<2x3xf32>) -> tensor<1x1xf32>
    %121 = "stablehlo.slice"(%m) <{limit_indices = array<i64: 1, 3>, start_indices = array<i64: 0, 1>, strides = dense<[1, 2]> : tensor<2xi64>}> : (tensor<2x3xf32>) -> tensor<1x1xf32>
    %122 = stablehlo.dynamic_slice %m, %n, %n, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %123 = "stablehlo.dynamic_slice"(%m, %n, %n) <{slice_sizes = array<i64: 1, 2>}> : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %124 = stablehlo.dynamic_update_slice %x, %x, %n : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
    %125 = "stablehlo.dynamic_update_slice"(%x, %x, %n) : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
    %126 = stablehlo.real_dynamic_slice %m, %i, %i, %i : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %127 = "stablehlo.real_dynamic_slice"(%m, %i, %i, %i) : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %128 = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>
    %129 = "stablehlo.reshape"(%m) : (tensor<2x3xf32>) -> tensor<6xf32>
    %130 = stablehlo.dynamic_reshape %m, %i : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %131 = "stablehlo.dynamic_reshape"(%m, %i) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %132 = stablehlo.broadcast %x, sizes = [3, 4] : (tensor<2xf32>) -> tensor<3x4x2xf32>
    %133 = "stablehlo.broadcast"(%x) <{broadcast_sizes = array<i64: 3, 4>}> : (tensor<2xf32>) -> tensor<3x4x2xf32>
    %134 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
    %135 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = dense<1> : tensor<1xi64>}> : (tensor<2xf32>) -> tensor<3x2xf32>
    %136 = stablehlo.dynamic_broadcast_in_dim %x, %i, dims = [1] {known_expanding_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %137 = "stablehlo.dynamic_broadcast_in_dim"(%x, %i) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64>}> : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %138 = stablehlo.cholesky %s, lower = true : tensor<3x3xf32>
    %139 = "stablehlo.cholesky"(%s) <{lower = true}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %140 = stablehlo.cholesky %s : tensor<3x3xf32>
    %141 = "stablehlo.cholesky"(%s) <{lower = false}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %142 = stablehlo.clamp %x, %x, %x : tensor<2xf32>
    %143 = "stablehlo.clamp"(%x, %x, %x) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %144 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %145 = "stablehlo.concatenate"(%x, %x) <{dimension = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %146 = stablehlo.composite "my.op" %x {composite_attributes = {k = 1 : i32}, decomposition = @callee, version = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %147 = "stablehlo.composite"(%x) <{composite_attributes = {k = 1 : i32}, decomposition = @callee, name = "my.op", version = 2 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
    %148 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 1], [2, 3]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x9x1xf32>
    %149 = "stablehlo.convolution"(%a, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 2>, padding = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>], window_reversal = array<i1: true, false>, window_strides = array<i64: 2, 1>}> : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x9x1xf32>
    %150 = stablehlo.custom_call @target(%x) {api_version = 4 : i32, backend_config = {n = 3 : i64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>
    %151 = "stablehlo.custom_call"(%x) <{api_version = 4 : i32, backend_config = {n = 3 : i64}, call_target_name = "target", called_computations = [], has_side_effect = false, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [], result_layouts = [dense<0> : tensor<1xindex>]}> : (tensor<2xf32>) -> tensor<2xf32>
    %152 = stablehlo.dot %s, %s, precision = [HIGHEST, DEFAULT] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %153 = "stablehlo.dot"(%s, %s) <{precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %154 = stablehlo.dot_general %s, %s, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
    %155 = "stablehlo.dot_general"(%s, %s) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
    %156 = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %157 = "stablehlo.dot_general"(%s, %s) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %158 = stablehlo.einsum %s, %s, config = "ij,jk->ik" : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %159 = "stablehlo.einsum"(%s, %s) <{einsum_config = "ij,jk->ik"}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %160 = stablehlo.unary_einsum %s, config = "ij->ji" : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %161 = "stablehlo.unary_einsum"(%s) <{einsum_config = "ij->ji"}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %162 = stablehlo.fft %c, type = IFFT, length = [2] : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    %163 = "stablehlo.fft"(%c) <{fft_length = array<i64: 2>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    %164 = stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
    %165 = "stablehlo.get_dimension_size"(%m) <{dimension = 1 : i64}> : (tensor<2x3xf32>) -> tensor<i32>
    %166 = stablehlo.set_dimension_size %m, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
    %167 = "stablehlo.set_dimension_size"(%m, %n) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.type_extensions<bounds = [?, 3]>>
    %168 = stablehlo.reverse %m, dims = [0, 1] : tensor<2x3xf32>
    %169 = "stablehlo.reverse"(%m) <{dimensions = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %170 = stablehlo.pad %x, %f, low = [1], high = [-1], interior = [2] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %171 = "stablehlo.pad"(%x, %f) <{edge_padding_high = array<i64: -1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 2>}> : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %172 = stablehlo.dynamic_pad %x, %f, %j, %j, %j : (tensor<2xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %173 = "stablehlo.dynamic_pad"(%x, %f, %j, %j, %j) : (tensor<2xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %174 = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %175 = "stablehlo.transpose"(%m) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %176:2 = stablehlo.optimization_barrier %x, %t : tensor<2xf32>, !stablehlo.token
    %177:2 = "stablehlo.optimization_barrier"(%x, %t) : (tensor<2xf32>, !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    stablehlo.optimization_barrier ()
    "stablehlo.optimization_barrier"() : () -> ()
    %180 = stablehlo.rng %f, %f, %j, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %181 = "stablehlo.rng"(%f, %f, %j) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %182:2 = stablehlo.rng_bit_generator %w, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %183:2 = "stablehlo.rng_bit_generator"(%w) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %184 = stablehlo.reduce_precision %x, format = e5m10 : tensor<2xf32>
    %185 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
    %186 = func.call @callee(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %187 = "func.call"(%x) <{callee = @callee}> : (tensor<2xf32>) -> tensor<2xf32>
    %188 = stablehlo.reduce(%m init: %f) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %189 = "stablehlo.reduce"(%m, %f) <{dimensions = array<i64: 0>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %v = stablehlo.maximum %l, %r : tensor<f32>
    "stablehlo.return"(%v) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %190:2 = stablehlo.reduce(%x init: %f), (%i init: %n) across dimensions = [0] : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%e0: tensor<f32>, %a0: tensor<f32>) (%e1: tensor<i32>, %a1: tensor<i32>)  {
    stablehlo.return %a0, %e1 : tensor<f32>, tensor<i32>
  }
    %191:2 = "stablehlo.reduce"(%x, %i, %f, %n) <{dimensions = array<i64: 0>}> ({
  ^bb0(%e0: tensor<f32>, %e1: tensor<i32>, %a0: tensor<f32>, %a1: tensor<i32>):
    stablehlo.return %a0, %e1 : tensor<f32>, tensor<i32>
  }) : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    %192:2 = stablehlo.while(%c0 = %n, %c1 = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %g = stablehlo.compare LT, %c0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  } do {
    stablehlo.return %c0, %c1 : tensor<i32>, tensor<2xf32>
  }
    %193:2 = "stablehlo.while"(%n, %x) ({
  ^bb0(%c0: tensor<i32>, %c1: tensor<2xf32>):
    %g = stablehlo.compare LT, %c0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  }, {
  ^bb0(%c0: tensor<i32>, %c1: tensor<2xf32>):
    stablehlo.return %c0, %c1 : tensor<i32>, tensor<2xf32>
  }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    %194 = chlo.acos %x : tensor<2xf32> -> tensor<2xf32>
    %195 = "chlo.acos"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %196 = chlo.acosh %x : tensor<2xf32> -> tensor<2xf32>
    %197 = "chlo.acosh"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %198 = chlo.asin %x : tensor<2xf32> -> tensor<2xf32>
    %199 = "chlo.asin"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %200 = chlo.asinh %x : tensor<2xf32> -> tensor<2xf32>
    %201 = "chlo.asinh"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %202 = chlo.atan %x : tensor<2xf32> -> tensor<2xf32>
    %203 = "chlo.atan"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %204 = chlo.atanh %x : tensor<2xf32> -> tensor<2xf32>
    %205 = "chlo.atanh"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %206 = chlo.bessel_i1e %x : tensor<2xf32> -> tensor<2xf32>
    %207 = "chlo.bessel_i1e"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %208 = chlo.conj %x : tensor<2xf32> -> tensor<2xf32>
    %209 = "chlo.conj"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %210 = chlo.cosh %x : tensor<2xf32> -> tensor<2xf32>
    %211 = "chlo.cosh"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %212 = chlo.digamma %x : tensor<2xf32> -> tensor<2xf32>
    %213 = "chlo.digamma"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %214 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>
    %215 = "chlo.erf"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %216 = chlo.erf_inv %x : tensor<2xf32> -> tensor<2xf32>
    %217 = "chlo.erf_inv"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %218 = chlo.erfc %x : tensor<2xf32> -> tensor<2xf32>
    %219 = "chlo.erfc"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %220 = chlo.lgamma %x : tensor<2xf32> -> tensor<2xf32>
    %221 = "chlo.lgamma"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %222 = chlo.sinh %x : tensor<2xf32> -> tensor<2xf32>
    %223 = "chlo.sinh"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %224 = chlo.square %x : tensor<2xf32> -> tensor<2xf32>
    %225 = "chlo.square"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %226 = chlo.tan %x : tensor<2xf32> -> tensor<2xf32>
    %227 = "chlo.tan"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %228 = chlo._asin_acos_kernel %x : tensor<2xf32> -> tensor<2xf32>
    %229 = "chlo._asin_acos_kernel"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %230 = chlo.is_inf %x : tensor<2xf32> -> tensor<2xi1>
    %231 = "chlo.is_inf"(%x) : (tensor<2xf32>) -> tensor<2xi1>
    %232 = chlo.is_neg_inf %x : tensor<2xf32> -> tensor<2xi1>
    %233 = "chlo.is_neg_inf"(%x) : (tensor<2xf32>) -> tensor<2xi1>
    %234 = chlo.is_pos_inf %x : tensor<2xf32> -> tensor<2xi1>
    %235 = "chlo.is_pos_inf"(%x) : (tensor<2xf32>) -> tensor<2xi1>
    %236 = chlo.mulhi %i, %i : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
    %237 = "chlo.mulhi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %238 = chlo.next_after %x, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    %239 = "chlo.next_after"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %240 = chlo.polygamma %x, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    %241 = "chlo.polygamma"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %242 = chlo.zeta %x, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    %243 = "chlo.zeta"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %244 = chlo.broadcast_add %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %245 = "chlo.broadcast_add"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %246 = chlo.broadcast_atan2 %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %247 = "chlo.broadcast_atan2"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %248 = chlo.broadcast_divide %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %249 = "chlo.broadcast_divide"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %250 = chlo.broadcast_maximum %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %251 = "chlo.broadcast_maximum"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %252 = chlo.broadcast_minimum %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %253 = "chlo.broadcast_minimum"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %254 = chlo.broadcast_multiply %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %255 = "chlo.broadcast_multiply"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %256 = chlo.broadcast_next_after %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %257 = "chlo.broadcast_next_after"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %258 = chlo.broadcast_polygamma %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %259 = "chlo.broadcast_polygamma"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %260 = chlo.broadcast_power %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %261 = "chlo.broadcast_power"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %262 = chlo.broadcast_remainder %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %263 = "chlo.broadcast_remainder"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %264 = chlo.broadcast_subtract %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %265 = "chlo.broadcast_subtract"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %266 = chlo.broadcast_zeta %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %267 = "chlo.broadcast_zeta"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %268 = chlo.broadcast_and %i, %n : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %269 = "chlo.broadcast_and"(%i, %n) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %270 = chlo.broadcast_or %i, %n : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %271 = "chlo.broadcast_or"(%i, %n) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %272 = chlo.broadcast_xor %i, %n : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %273 = "chlo.broadcast_xor"(%i, %n) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %274 = chlo.broadcast_shift_left %i, %n : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %275 = "chlo.broadcast_shift_left"(%i, %n) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %276 = chlo.broadcast_shift_right_arithmetic %i, %n : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %277 = "chlo.broadcast_shift_right_arithmetic"(%i, %n) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %278 = chlo.broadcast_shift_right_logical %i, %n : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %279 = "chlo.broadcast_shift_right_logical"(%i, %n) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    %280 = chlo.broadcast_complex %x, %f : (tensor<2xf32>, tensor<f32>) -> tensor<2xcomplex<f32>>
    %281 = "chlo.broadcast_complex"(%x, %f) : (tensor<2xf32>, tensor<f32>) -> tensor<2xcomplex<f32>>
    %282 = chlo.broadcast_select %p, %x, %f : (tensor<2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %283 = "chlo.broadcast_select"(%p, %x, %f) : (tensor<2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %284 = chlo.broadcast_compare %x, %f {broadcast_dimensions = array<i64>, comparison_direction = #chlo<comparison_direction GT>} : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
    %285 = "chlo.broadcast_compare"(%x, %f) <{broadcast_dimensions = array<i64>, comparison_direction = #chlo<comparison_direction GT>}> : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
    %286:2 = chlo.top_k(%x, k = 1) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
    %287:2 = "chlo.top_k"(%x) <{is_stable = true, k = 1 : i64}> : (tensor<2xf32>) -> (tensor<1xf32>, tensor<1xi32>)
    %288:2 = chlo.top_k(%x, k = 1, is_stable = false) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
    %289:2 = "chlo.top_k"(%x) <{is_stable = false, k = 1 : i64}> : (tensor<2xf32>) -> (tensor<1xf32>, tensor<1xi32>)
    %290:2 = chlo.scan(%x) inits (%f) dimension=0 attributes {is_reverse = true} {
  ^bb0(%e: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %e, %b : tensor<f32>, tensor<f32>
  } : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
    %291:2 = "chlo.scan"(%x, %f) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%e: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %e, %b : tensor<f32>, tensor<f32>
  }) : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
    check.expect_eq_const %i, dense<[1, 2]> : tensor<2xi32>
    "check.expect_eq_const"(%i) <{value = dense<[1, 2]> : tensor<2xi32>}> : (tensor<2xi32>) -> ()
    check.expect_almost_eq_const %x, dense<0.5> : tensor<2xf32>
    "check.expect_almost_eq_const"(%x) <{value = dense<0.5> : tensor<2xf32>}> : (tensor<2xf32>) -> ()
    check.expect_eq %x, %x : tensor<2xf32>
    "check.expect_eq"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> ()
    check.expect_almost_eq %x, %x : tensor<2xf32>
    "check.expect_almost_eq"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> ()
    check.expect_close %x, %x, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
    "check.expect_close"(%x, %x) <{max_ulp_difference = 3 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> ()
    check.expect_serialized_eq %x, probe_id = "p", iter = 1 : tensor<2xf32>
    "check.expect_serialized_eq"(%x) <{iteration = 1 : i64, probe_id = "p"}> : (tensor<2xf32>) -> ()
    check.expect_true(%p) : tensor<2xi1>
    "check.expect_true"(%p) : (tensor<2xi1>) -> ()
    check.expect_false(%p) : tensor<2xi1>
    "check.expect_false"(%p) : (tensor<2xi1>) -> ()
    check.expect_all_true(%i) : tensor<2xi32>
    "check.expect_all_true"(%i) : (tensor<2xi32>) -> ()
    check.expect_almost_eq(%x, %x, atol 1.0e-2, rtol 0.5) : tensor<2xf32>
    "check.expect_almost_eq"(%x, %x) {atol = 1.0e-2 : f64, numpy, rtol = 0.5 : f64} : (tensor<2xf32>, tensor<2xf32>) -> ()
    check.expect_eq_const(%i, dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
    "check.expect_eq_const"(%i) {numpy, value = dense<[1, 2]> : tensor<2xi32>} : (tensor<2xi32>) -> ()
    interpreter.print %x : tensor<2xf32>
    "interpreter.print"(%x) : (tensor<2xf32>) -> ()
    %930 = interpreter.probe %x, probe_id = "p" : tensor<2xf32>
    %931 = "interpreter.probe"(%x) <{probe_id = "p"}> : (tensor<2xf32>) -> tensor<2xf32>
    %936 = flow.tensor.dynamic_constant dense<[1, 2]> : tensor<2xi32> -> tensor<?xi32>
    %937 = "flow.tensor.dynamic_constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<?xi32>
    %932 = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
    %933 = "util.unfoldable_constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
    %938 = mhlo.copy %x : tensor<2xf32>
    %939 = "mhlo.copy"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %934 = util.optimization_barrier %x : tensor<2xf32>
    %935 = "util.optimization_barrier"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %302 = sdy.sharding_constraint %m <@mesh, [{"x"}, {?}]> : tensor<2x3xf32>
    %303 = "sdy.sharding_constraint"(%m) <{sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %304 = sdy.reshard %m <@mesh, [{"x":(1)2, "y"}p1, {}], replicated={"z"}> : tensor<2x3xf32>
    %305 = "sdy.reshard"(%m) {sharding = #sdy.sharding<@mesh, [{"x":(1)2, "y"}p1, {}], replicated={"z"}>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    sdy.sharding_group %m group_id=5 : tensor<2x3xf32>
    "sdy.sharding_group"(%m) <{group_id = 5 : i64}> : (tensor<2x3xf32>) -> ()
    %308 = sdy.propagation_barrier %m allowed_direction=NONE : tensor<2x3xf32>
    %309 = "sdy.propagation_barrier"(%m) <{allowed_direction = #sdy<propagation_direction NONE>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %310 = sdy.manual_computation(%m) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%h: tensor<1x3xf32>) {
    sdy.return %h : tensor<1x3xf32>
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %311 = "sdy.manual_computation"(%m) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}> ({
  ^bb0(%h: tensor<1x3xf32>):
    "sdy.return"(%h) : (tensor<1x3xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %312 = sdy.named_computation<"f">(%m) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[#sdy.sharding<@mesh, [{}, {}]>] (%h: tensor<2x3xf32>) {
    sdy.return %h : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %313 = "sdy.named_computation"(%m) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, name = "f", out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}> ({
  ^bb0(%h: tensor<2x3xf32>):
    "sdy.return"(%h) : (tensor<2x3xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %314 = sdy.data_flow_edge %m : tensor<2x3xf32>
    %315 = "sdy.data_flow_edge"(%m) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %316 = sdy.data_flow_edge %m sharding=<@mesh, [{"x", ?}p0, {?}], unreduced=max{"y"}> : tensor<2x3xf32>
    %317 = "sdy.data_flow_edge"(%m) <{sharding = #sdy.sharding<@mesh, [#sdy<dimension_sharding {#sdy<axis_ref "x">, ?}p0>, {?}], unreduced=max{"y"}>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %318 = sdy.func_data_flow_edge %m : tensor<2x3xf32>
    %319 = "sdy.func_data_flow_edge"(%m) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %320 = sdy.all_gather [{"x":(1)2}, {}] %m out_sharding=<@mesh, [{}, {}]> : tensor<2x3xf32>
    %321 = "sdy.all_gather"(%m) <{gathering_axes = #sdy<list_of_axis_ref_lists [{"x":#sdy<sub_axis_info (1)2>}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %322 = sdy.all_reduce {"x", "y"} %m out_sharding=#sdy.sharding<@mesh, [{}, {}]> : tensor<2x3xf32>
    %323 = "sdy.all_reduce"(%m) <{out_sharding = #sdy.sharding<@mesh, [{}, {}]>, reduction_axes = #sdy<axis_ref_list {"x", "y"}>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %324 = sdy.all_reduce min {"x"} %m out_sharding=<mesh<["x"=2]>, [{}, {}]> : tensor<2x3xf32>
    %325 = "sdy.all_reduce"(%m) <{out_sharding = #sdy.sharding<#sdy.mesh<[#sdy<mesh_axis "x"=2>]>, [{}, {}]>, reduction_axes = #sdy<axis_ref_list {"x"}>, reduction_op = #sdy<reduction_op min>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %326 = sdy.all_slice [{"x"}, {}] %m out_sharding=<@mesh, [{"x"}, {}]> : tensor<2x3xf32>
    %327 = "sdy.all_slice"(%m) <{out_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, slicing_axes = #sdy<list_of_axis_ref_lists [{"x"}, {}]>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %328 = sdy.all_to_all [{"x"}: 0->1] %m out_sharding=<@mesh, [{}, {"x"}]> : tensor<2x3xf32>
    %329 = "sdy.all_to_all"(%m) <{out_sharding = #sdy.sharding<@mesh, [{}, {"x"}]>, params = #sdy<all_to_all_param_list [#sdy<all_to_all_param {"x"}: 0->1>]>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %330 = sdy.collective_permute %m out_sharding=<@mesh, [{"y"}, {}]> : tensor<2x3xf32>
    %331 = "sdy.collective_permute"(%m) <{out_sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %332 = sdy.reduce_scatter max [{"x"}, {}] %m out_sharding=<@mesh, [{"x"}, {}]> : tensor<2x3xf32>
    %333 = "sdy.reduce_scatter"(%m) <{out_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, reduce_scatter_axes = #sdy<list_of_axis_ref_lists [{"x"}, {}]>, reduction_op = #sdy<reduction_op max>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %334 = sdy.replicated_to_unreduced {"x"} %m out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<2x3xf32>
    %335 = "sdy.replicated_to_unreduced"(%m) <{axes = #sdy<axis_ref_list {"x"}>, out_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=sum{"x"}>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %336 = sdy.sharded_to_unreduced [{"x"}, {}] %m out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<2x3xf32>
    %337 = "sdy.sharded_to_unreduced"(%m) <{axes = #sdy<list_of_axis_ref_lists [{"x"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %338 = stablehlo.compare #stablehlo<comparison_direction EQ>, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %339 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %340 = mhlo.compare LT, %x, %x, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %341 = "stablehlo.compare"(%x, %x) <{compare_type = #mhlo<comparison_type TOTALORDER>, comparison_direction = #mhlo.comparison_direction<LT>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %342 = mhlo.erf %x : tensor<2xf32>
    %343 = "chlo.erf"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %344 = mhlo.reduce(%x init: %f) applies mhlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %345 = stablehlo.reduce(%x init: %f) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %346 = arith.constant dense<[1, 2]> : tensor<2xi32>
    %347 = "arith.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
    %348 = arith.constant 1 : index
    %349 = "arith.constant"() <{value = 1 : index}> : () -> index
    %350 = arith.constant true
    %351 = "arith.constant"() <{value = true}> : () -> i1
    %352 = arith.constant 0.5 : f32
    %353 = "arith.constant"() <{value = 0.5 : f32}> : () -> f32
    %354 = arith.addi %i, %i overflow<nsw> : tensor<2xi32>
    %355 = "arith.addi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %356 = arith.muli %i, %i overflow<nsw> : tensor<2xi32>
    %357 = "arith.muli"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %358 = arith.subi %i, %i overflow<nsw> : tensor<2xi32>
    %359 = "arith.subi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %360 = arith.andi %i, %i : tensor<2xi32>
    %361 = "arith.andi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %362 = arith.divsi %i, %i : tensor<2xi32>
    %363 = "arith.divsi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %364 = arith.maxsi %i, %i : tensor<2xi32>
    %365 = "arith.maxsi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %366 = arith.minsi %i, %i : tensor<2xi32>
    %367 = "arith.minsi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %368 = arith.ori %i, %i : tensor<2xi32>
    %369 = "arith.ori"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %370 = arith.remsi %i, %i : tensor<2xi32>
    %371 = "arith.remsi"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %372 = arith.xori %i, %i : tensor<2xi32>
    %373 = "arith.xori"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %374 = arith.addf %x, %x fastmath<contract> : tensor<2xf32>
    %375 = "arith.addf"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %376 = arith.divf %x, %x fastmath<contract> : tensor<2xf32>
    %377 = "arith.divf"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %378 = arith.maximumf %x, %x fastmath<contract> : tensor<2xf32>
    %379 = "arith.maximumf"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %380 = arith.minimumf %x, %x fastmath<contract> : tensor<2xf32>
    %381 = "arith.minimumf"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %382 = arith.mulf %x, %x fastmath<contract> : tensor<2xf32>
    %383 = "arith.mulf"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %384 = arith.remf %x, %x fastmath<contract> : tensor<2xf32>
    %385 = "arith.remf"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %386 = arith.subf %x, %x fastmath<contract> : tensor<2xf32>
    %387 = "arith.subf"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %388 = arith.negf %x : tensor<2xf32>
    %389 = "arith.negf"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %390 = arith.extf %x : tensor<2xf32> to tensor<2xf64>
    %391 = "arith.extf"(%x) : (tensor<2xf32>) -> tensor<2xf64>
    %392 = arith.truncf %x : tensor<2xf32> to tensor<2xf16>
    %393 = "arith.truncf"(%x) : (tensor<2xf32>) -> tensor<2xf16>
    %394 = arith.fptosi %x : tensor<2xf32> to tensor<2xi32>
    %395 = "arith.fptosi"(%x) : (tensor<2xf32>) -> tensor<2xi32>
    %396 = arith.extsi %i : tensor<2xi32> to tensor<2xi64>
    %397 = "arith.extsi"(%i) : (tensor<2xi32>) -> tensor<2xi64>
    %398 = arith.trunci %i : tensor<2xi32> to tensor<2xi8>
    %399 = "arith.trunci"(%i) : (tensor<2xi32>) -> tensor<2xi8>
    %400 = arith.index_cast %i : tensor<2xi32> to tensor<2xindex>
    %401 = "arith.index_cast"(%i) : (tensor<2xi32>) -> tensor<2xindex>
    %402 = arith.sitofp %i : tensor<2xi32> to tensor<2xf32>
    %403 = "arith.sitofp"(%i) : (tensor<2xi32>) -> tensor<2xf32>
    %404 = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
    %405 = "tensor.cast"(%x) : (tensor<2xf32>) -> tensor<?xf32>
    %406 = arith.cmpi slt, %i, %i : tensor<2xi32>
    %407 = "arith.cmpi"(%i, %i) <{predicate = 2 : i64}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %408 = arith.select %p, %x, %x : tensor<2xi1>, tensor<2xf32>
    %409 = "arith.select"(%p, %x, %x) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %410 = arith.select %350, %348, %349 : index
    %411 = "arith.select"(%350, %348, %349) : (i1, index, index) -> index
    %412 = tensor.dim %m, %348 : tensor<2x3xf32>
    %413 = "tensor.dim"(%m, %348) : (tensor<2x3xf32>, index) -> index
    %414 = tensor.extract %i[%348] : tensor<2xi32>
    %415 = "tensor.extract"(%i, %348) : (tensor<2xi32>, index) -> i32
    %416 = tensor.from_elements %348, %349 : tensor<2xindex>
    %417 = "tensor.from_elements"(%348, %349) : (index, index) -> tensor<2xindex>
    %418 = shape.shape_of %m : tensor<2x3xf32> -> tensor<2xindex>
    %419 = "shape.shape_of"(%m) : (tensor<2x3xf32>) -> tensor<2xindex>
    %420 = shape.num_elements %419 : tensor<2xindex> -> index
    %421 = "shape.num_elements"(%419) : (tensor<2xindex>) -> index
    %422 = shape.get_extent %419, %348 : tensor<2xindex>, index -> index
    %423 = "shape.get_extent"(%419, %348) : (tensor<2xindex>, index) -> index
    %424 = shape.broadcast %419, %419 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %425 = "shape.broadcast"(%419, %419) : (tensor<2xindex>, tensor<2xindex>) -> tensor<2xindex>
    %426 = shape.concat %419, %419 : tensor<2xindex>, tensor<2xindex> -> tensor<4xindex>
    %427 = "shape.concat"(%419, %419) : (tensor<2xindex>, tensor<2xindex>) -> tensor<4xindex>
    %428 = shape.add %348, %349 : index, index -> index
    %429 = "shape.add"(%348, %349) : (index, index) -> index
    %430 = shape.div %348, %349 : index, index -> index
    %431 = "shape.div"(%348, %349) : (index, index) -> index
    %432 = shape.mul %348, %349 : index, index -> index
    %433 = "shape.mul"(%348, %349) : (index, index) -> index
    %434 = shape.to_extent_tensor %419 : tensor<2xindex> -> tensor<2xindex>
    %435 = "shape.to_extent_tensor"(%419) : (tensor<2xindex>) -> tensor<2xindex>
    %436 = shape.const_shape [2, 3] : tensor<2xindex>
    %437 = "shape.const_shape"() <{shape = array<i64: 2, 3>}> : () -> tensor<2xindex>
    %438 = shape.cstr_broadcastable %419, %419 : tensor<2xindex>, tensor<2xindex>
    %439 = "shape.cstr_broadcastable"(%419, %419) : (tensor<2xindex>, tensor<2xindex>) -> !shape.witness
    %440 = shape.cstr_eq %419, %419 : tensor<2xindex>, tensor<2xindex>
    %441 = "shape.cstr_eq"(%419, %419) : (tensor<2xindex>, tensor<2xindex>) -> !shape.witness
    return
  }
}
