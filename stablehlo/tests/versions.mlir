// Programs with the version of StableHLO that each needs, and the op of VHLO by which it is written.
// needs 0.9.0: gather_v1
func.func @main(%x: tensor<4x4xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [0, 1]>, slice_sizes = array<i64: 2, 1>}> : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.1.0: gather_v2
func.func @main(%x: tensor<3x4xf32>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -----
// needs 1.1.0: dynamic_gather_v2
func.func @main(%x: tensor<3x4xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi32>) -> tensor<3xf32> {
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
// -----
// needs 1.1.0: scatter_v2
func.func @main(%x: tensor<3x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %r : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
// -----
// needs 1.3.0: custom_call_v1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @f(%x) {api_version = 4 : i32, backend_config = {a = 1 : i32}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.18.0: custom_call_v2
func.func @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]} : (tensor<64x256xf32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}
// -----
// needs 1.13.0: custom_call_v1
func.func @main(%x: tensor<2xf32>) -> memref<2xf32> {
  %0 = stablehlo.custom_call @Pin(%x) : (tensor<2xf32>) -> memref<2xf32>
  return %0 : memref<2xf32>
}
// -----
// needs 1.17.0: custom_call_v1
func.func @main(%x: !stablehlo.future<tensor<2xf32>>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @f(%x) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.4.0: tan_v1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tan %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.5.0: all_reduce_v2
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0:2 = "stablehlo.all_reduce"(%x, %y) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<3xf32>
}
// -----
// needs 1.5.0: all_gather_v2
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<4xf32>, tensor<6xf32>) {
  %0:2 = "stablehlo.all_gather"(%x, %y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<6xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<6xf32>
}
// -----
// needs 1.5.0: all_to_all_v2
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %0:2 = "stablehlo.all_to_all"(%x, %y) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)
  return %0#0, %0#1 : tensor<8x2xf32>, tensor<8x2xf32>
}
// -----
// needs 0.9.0: dot_general_v1
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// -----
// needs 1.6.0: dot_general_v2
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// -----
// needs 1.12.0: send_v2
func.func @main(%x: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
// -----
// needs 1.12.0: recv_v2
func.func @main(%t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<2xf32>, !stablehlo.token
}
// -----
// needs 0.16.0: collective_broadcast_v1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.20.0: collective_broadcast_v2
func.func @main(%x: tensor<2xf32>, %r: tensor<i32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 0.17.0: reduce_v1
func.func @main(%x: tensor<4xf16>, %i: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf16>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
// needs 0.19.0: composite_v1
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.op" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
// needs 1.14.0: composite_v2
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.composite"(%x) <{composite_attributes = {n = 1 : i64}, decomposition = @f, name = "my.op", version = 2 : i32}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
// needs 1.16.0: all_reduce_v1
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>, #stablehlo.axis_ref<name = "y">]>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
// needs 0.9.0: exponential_v1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.9.0: exponential_v2
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.10.0: cbrt_v2 cosine_v2 exponential_minus_one_v2 log_v2 log_plus_one_v2 logistic_v2 rsqrt_v2 sine_v2 sqrt_v2 tan_v2 tanh_v2
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.cbrt %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-3, rtol = 0.5, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
  %1 = stablehlo.cosine %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %2 = stablehlo.exponential_minus_one %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %3 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %4 = stablehlo.log_plus_one %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %5 = stablehlo.logistic %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %6 = stablehlo.rsqrt %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %7 = stablehlo.sine %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %8 = stablehlo.sqrt %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %9 = stablehlo.tan %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %10 = stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  return %10 : tensor<2xf32>
}
// -----
// needs 0.9.0: convert_v1
func.func @main(%a: tensor<i4>, %b: tensor<ui4>, %c: tensor<f8E4M3FN>, %d: tensor<f8E5M2>, %e: tensor<complex<f64>>) {
  %0 = stablehlo.convert %a : (tensor<i4>) -> tensor<i1>
  return
}
// -----
// needs 0.10.0: convert_v1
func.func @main(%a: tensor<f8E4M3FNUZ>, %b: tensor<f8E5M2FNUZ>) {
  %0 = stablehlo.convert %a : (tensor<f8E4M3FNUZ>) -> tensor<f8E5M2FNUZ>
  return
}
// -----
// needs 0.11.0: convert_v1
func.func @main(%a: tensor<f8E4M3B11FNUZ>) {
  %0 = stablehlo.convert %a : (tensor<f8E4M3B11FNUZ>) -> tensor<f32>
  return
}
// -----
// needs 1.2.0: convert_v1
func.func @main(%a: tensor<i2>) {
  %0 = stablehlo.convert %a : (tensor<i2>) -> tensor<ui2>
  return
}
// -----
// needs 1.7.0: convert_v1
func.func @main(%a: tensor<f8E4M3>) {
  %0 = stablehlo.convert %a : (tensor<f8E4M3>) -> tensor<f8E3M4>
  return
}
// -----
// needs 1.8.0: convert_v1
func.func @main(%a: tensor<f4E2M1FN>, %b: tensor<f6E2M3FN>, %c: tensor<f6E3M2FN>) {
  %0 = stablehlo.convert %a : (tensor<f4E2M1FN>) -> tensor<f8E8M0FNU>
  return
}
// -----
// needs 0.9.0: uniform_quantize_v1
func.func @main(%a: tensor<2xf32>) -> tensor<2x!quant.uniform<u8<1:255>:f32, 0.1:3>> {
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<u8<1:255>:f32, 0.1:3>>
  return %0 : tensor<2x!quant.uniform<u8<1:255>:f32, 0.1:3>>
}
// -----
// needs 0.18.0: uniform_quantize_v1
func.func @main(%a: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 2.0:7}>> {
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 2.0:7}>>
  return %0 : tensor<2x!quant.uniform<i8:f32:0, {0.5, 2.0:7}>>
}
// -----
// needs 1.11.0: negate_v1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %x {foo.unit, foo.symbol = @a::@b} : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 1.11.0: sharding_constraint unrealized_conversion_cast manual_computation
module attributes {foo.types = [i1, ui2, index, none, tf32, f8E5M2, f8E4M3, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ, f8E4M3B11FNUZ, f8E3M4, f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E8M0FNU, complex<f64>, tuple<f32, tensor<?xbf16>>, tensor<*xf32>, !stablehlo.token]} {
  sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]> {foo.a = 1 : i64}
  func.func @main(%x: tensor<8xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1], replicated={"y"}>}, %t: !stablehlo.token) -> tensor<8xf8E4M3FN> {
    %0 = sdy.sharding_constraint %x <@mesh, [{"x":(1)2}], unreduced={"y"}> : tensor<8xf8E4M3FN>
    %1, %2 = sdy.manual_computation(%0, %t) in_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] manual_axes={"x"} (%a: tensor<2xf8E4M3FN>, %u: !stablehlo.token) {
      %3 = stablehlo.add %a, %a : tensor<2xf8E4M3FN>
      %4 = stablehlo.after_all %u : !stablehlo.token
      sdy.return %3, %4 : tensor<2xf8E4M3FN>, !stablehlo.token
    } : (tensor<8xf8E4M3FN>, !stablehlo.token) -> (tensor<8xf8E4M3FN>, !stablehlo.token)
    %5 = stablehlo.negate %1 : tensor<8xf8E4M3FN>
    return %5 : tensor<8xf8E4M3FN>
  }
}
// -----
// needs 1.15.0: async_start_v1 async_done_v1
func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%e: tensor<2xf32>):
    %r = "stablehlo.all_gather"(%e) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
    stablehlo.return %r : tensor<4xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
// needs 1.19.0: collective_reduce_v1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// -----
// needs 0.9.0: dynamic_conv_v2
func.func @main(%a: tensor<1x4x4x1xf32>, %k: tensor<2x2x1x1xf32>, %d: tensor<2x2xi64>) -> tensor<1x?x?x1xf32> {
  %0 = "stablehlo.dynamic_conv"(%a, %k, %d) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}> : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x?x?x1xf32>
  return %0 : tensor<1x?x?x1xf32>
}
// -----
// needs 0.9.0: constant_v1 add_v1 call_v1 func_v1 return_v1
module @"odd \22 names" attributes {mhlo.num_partitions = 1 : i32, foo.list = [1 : i8, -1 : i64, true, 1.5 : f32, "x\FF", f32, tensor<2xi1>, {a = @b::@c, n}, array<i64: 1, -2>, dense<[1, 2]> : tensor<2xui8>]} {
  func.func private @"f-1.2\22"(tensor<2xi8>) -> tensor<2xi8>
  func.func private @nothing() {
    return
  }
  func.func @main(%x: tensor<?x?xf32, #stablehlo.bounds<3, ?>> {foo.names = "\00\7F\80\FF", tf.aliasing_output = 0 : i32}, %unused: tensor<f32>) -> (tensor<?x?xf32, #stablehlo.bounds<3, ?>> {jax.result_info = "r"}, tensor<2xi8>, tensor<2xi8>) {
    func.call @nothing() : () -> ()
    %a = stablehlo.constant dense<> : tensor<0xf32>
    %b = stablehlo.constant dense<> : tensor<0x3xi1>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %d = stablehlo.constant dense<false> : tensor<i1>
    %e = stablehlo.constant dense<true> : tensor<9xi1>
    %f = stablehlo.constant dense<false> : tensor<101xi1>
    %g = stablehlo.constant dense<[true, false, true, true, false, false, false, true]> : tensor<8xi1>
    %h = stablehlo.constant dense<[true, true, true, true, true, true, true, true, false]> : tensor<9xi1>
    %i = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
    %j = stablehlo.constant dense<-8> : tensor<5xi4>
    %k = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %l = stablehlo.constant dense<-0.0> : tensor<4xf32>
    %m = stablehlo.constant dense<[0x7F, 0xFF]> : tensor<2xf8E4M3FN>
    %n = stablehlo.constant dense<(1.0, 0x7FC00000)> : tensor<3xcomplex<f32>>
    %o = stablehlo.constant dense<[(1.0, -0.0), (0x7F800000, 2.0)]> : tensor<2xcomplex<f64>>
    %p = stablehlo.constant dense<[0xFFC00001, 0x7F800001]> : tensor<2xf32>
    %q = stablehlo.constant dense<5> : tensor<2xi8>
    %r = func.call @"f-1.2\22"(%q) : (tensor<2xi8>) -> tensor<2xi8>
    %s = stablehlo.add %x, %x : tensor<?x?xf32, #stablehlo.bounds<3, ?>> loc("a \22name\22"("f\\.py":3:7))
    %t = stablehlo.add %s, %s : tensor<?x?xf32, #stablehlo.bounds<3, ?>> loc(callsite("g"("c.py":1:2) at fused["p", "q"("d.py":4:0)]))
    return %t, %r, %r : tensor<?x?xf32, #stablehlo.bounds<3, ?>>, tensor<2xi8>, tensor<2xi8>
  }
}
