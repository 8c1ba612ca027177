// MHLO has the same ops and attributes under another prefix, and some that are CHLO's.
func.func @main(%x: tensor<2x3xf32>, %i: tensor<1xi32>) -> (tensor<2xf32>, tensor<2x1xf32>) {
  %0 = mhlo.constant dense<1.000000e+04> : tensor<2x3xf32>
  %1 = mhlo.add %x, %0 : tensor<2x3xf32>
  %2 = mhlo.erf %1 : tensor<2x3xf32>
  %3 = mhlo.constant dense<0.0> : tensor<f32>
  %4 = mhlo.reduce(%2 init: %3) applies mhlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = "mhlo.gather"(%x, %i) {dimension_numbers = #mhlo.gather<offset_dims = [0, 1], start_index_map = [1]>, slice_sizes = dense<[2, 1]> : tensor<2xi64>} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x1xf32>
  return %4, %5 : tensor<2xf32>, tensor<2x1xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, s32[1]{0})->(f32[2]{0}, f32[2,1]{1,0})}
//= region_0 {
//=   ROOT maximum = f32[] maximum(Arg_0, Arg_1)
//= }
//= ENTRY main {
//=   constant = f32[] constant(10000)
//=   broadcast = f32[2,3]{1,0} broadcast(constant), dimensions={}
//=   add = f32[2,3]{1,0} add(Arg_0.1, broadcast)
//=   erf = f32[2,3]{1,0} erf(add)
//=   constant.1 = f32[] constant(0)
//=   reduce = f32[2]{0} reduce(erf, constant.1), dimensions={1}, to_apply=region_0
//=   gather = f32[2,1]{1,0} gather(Arg_0.1, Arg_1.1), offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={1}, index_vector_dim=0, slice_sizes={2,1}
//=   ROOT tuple = (f32[2]{0}, f32[2,1]{1,0}) tuple(reduce, gather)
//= }
// -----
func.func @main(%x: tensor<2xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
  %0:2 = mhlo.topk(%x, k = 1) {largest = false} : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xi32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->(f32[1]{0}, s32[1]{0})}
//= ENTRY main {
//=   topk = (f32[1]{0}, s32[1]{0}) topk(Arg_0), k=1, largest=false
//=   get-tuple-element = f32[1]{0} get-tuple-element(topk), index=0
//=   get-tuple-element.1 = s32[1]{0} get-tuple-element(topk), index=1
//=   ROOT tuple = (f32[1]{0}, s32[1]{0}) tuple(get-tuple-element, get-tuple-element.1)
//= }
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = mhlo.bitcast %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0922]: `mhlo.bitcast` has no conversion to HLO
// -----
// VHLO as text: ops, attributes and types of versions.
vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<2x3x!vhlo.f32_v1>, %arg1: !vhlo.tensor_v1<3x2x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>, !vhlo.tensor_v1<2x3x!vhlo.bool_v1>) {
  %0 = "vhlo.dot_general_v2"(%arg0, %arg1) <{
    accumulation_type = #vhlo.type_v1<!vhlo.none_v1>, allow_imprecise_accumulation = #vhlo.type_v1<!vhlo.none_v1>,
    lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = #vhlo.type_v1<!vhlo.none_v1>,
    lhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, lhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>,
    num_primitive_operations = #vhlo.type_v1<!vhlo.none_v1>,
    precision_config = #vhlo.array_v1<[#vhlo<precision_v1 HIGHEST>, #vhlo<precision_v1 DEFAULT>]>,
    rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.type_v1<!vhlo.none_v1>,
    rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>
  }> : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>, !vhlo.tensor_v1<3x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1>
  %1 = "vhlo.compare_v1"(%arg0, %arg0) <{compare_type = #vhlo<comparison_type_v1 FLOAT>, comparison_direction = #vhlo.comparison_direction_v1<LT>}> : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>, !vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x3x!vhlo.bool_v1>
  %2 = "vhlo.exponential_v2"(%0) <{result_accuracy = #vhlo.result_accuracy_v1<atol = 1.0e-3, rtol = 0.0, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>}> : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1>
  %3 = "vhlo.custom_call_v1"(%2) <{api_version = #vhlo<api_version_v1 API_VERSION_STATUS_RETURNING>, backend_config = #vhlo.string_v1<"c">, call_target_name = #vhlo.string_v1<"f">, called_computations = #vhlo.array_v1<[]>, has_side_effect = #vhlo.bool_v1<true>, operand_layouts = #vhlo.array_v1<[]>, output_operand_aliases = #vhlo.array_v1<[#vhlo.output_operand_alias_v1<outputTupleIndices = [], operandIndex = 0, operandTupleIndices = []>]>, result_layouts = #vhlo.array_v1<[]>}> : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1>
  %4 = "vhlo.call_v1"(%3) <{callee = #vhlo.string_v1<"g">}> {mhlo.frontend_attributes = #vhlo.dict_v1<{#vhlo.string_v1<"k"> = #vhlo.string_v1<"v">}>} : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1>
  "vhlo.return_v1"(%4, %1) : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>, !vhlo.tensor_v1<2x3x!vhlo.bool_v1>) -> ()
}
vhlo.func_v1 @g(%arg0: !vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1> {
  %0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.5> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
  %1 = "vhlo.reduce_v1"(%arg0, %0) <{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> ({
  ^bb0(%a: !vhlo.tensor_v1<!vhlo.f32_v1>, %b: !vhlo.tensor_v1<!vhlo.f32_v1>):
    %4 = "vhlo.add_v1"(%a, %b) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    "vhlo.return_v1"(%4) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
  }) : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
  %2 = "vhlo.iota_v1"() <{iota_dimension = #vhlo.integer_v1<0 : i64>}> : () -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
  %3 = "vhlo.broadcast_in_dim_v1"(%2) <{broadcast_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x2x!vhlo.f32_v1>
  "vhlo.return_v1"(%3) : (!vhlo.tensor_v1<2x2x!vhlo.f32_v1>) -> ()
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[3,2]{1,0})->(f32[2,2]{1,0}, pred[2,3]{1,0})}
//= region_0 {
//=   ROOT add = f32[] add(Arg_0, Arg_1)
//= }
//= g {
//=   constant = f32[] constant(0.5)
//=   reduce = f32[2]{0} reduce(Arg_0.1, constant), dimensions={0}, to_apply=region_0
//=   iota = f32[2]{0} iota(), iota_dimension=0
//=   ROOT broadcast = f32[2,2]{1,0} broadcast(iota), dimensions={1}
//= }
//= ENTRY main {
//=   dot = f32[2,2]{1,0} dot(Arg_0.2, Arg_1.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}
//=   exponential = f32[2,2]{1,0} exponential(dot), result_accuracy={tolerance={atol=0.001,rtol=0,ulps=2}}
//=   custom-call = f32[2,2]{1,0} custom-call(exponential), custom_call_target="f", custom_call_has_side_effect=true, output_to_operand_aliasing={{}: (0, {})}, api_version=API_VERSION_STATUS_RETURNING, backend_config="c"
//=   call = f32[2,2]{1,0} call(custom-call), to_apply=g, frontend_attributes={k="v"}
//=   compare = pred[2,3]{1,0} compare(Arg_0.2, Arg_0.2), direction=LT
//=   ROOT tuple = (f32[2,2]{1,0}, pred[2,3]{1,0}) tuple(call, compare)
//= }
// -----
vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1> {
  %0 = "vhlo.add_v9"(%arg0, %arg0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>, !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
  "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> ()
}
//= error[E0912]: op `add_v9` of VHLO is unknown: the program is newer than Etalon
// -----
// Functions that are never called are not part of the program.
func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return %0 : tensor<i32>
}
"ml_program.global"() {sym_name = "g", type = i32} : () -> ()
func.func private @unknown_op(%x: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.if"(%x) ({
    %2 = foo.bar %x {a = "}"} // }
    cf.br ^bb1
  ^bb1:
  }) : () -> ()
  return %0 : tensor<i32>
}
"func.func"() <{function_type = (tensor<i32>) -> (), sym_name = "several_blocks"}> ({
^bb0(%x: tensor<i32>):
  "cf.br"() [^bb1] : () -> ()
^bb1:
  "func.return"() : () -> ()
}) : () -> ()
func.func private @quantized(%q: tensor<2x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2x!quant.uniform<i8:f32, 1.0:0>> {
  %0 = stablehlo.add %q, %q : tensor<2x!quant.uniform<i8:f32, 1.0:0>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 1.0:0>>
}
//= HloModule main, entry_computation_layout={()->s32[]}
//= ENTRY main {
//=   ROOT constant = s32[] constant(1)
//= }
// -----
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %0 = call @called(%x) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
func.func private @called(%x: tensor<i32>) -> tensor<i32> {
  %0 = linalg.abs %x : tensor<i32>
  return %0 : tensor<i32>
}
//= error[E0922]: `linalg.abs` has no conversion to HLO
