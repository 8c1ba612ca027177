func.func @main(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @f(%x) {mhlo.backend_config = {uplo = 76 : ui8, a = 1.5 : f32}, has_side_effect = true, mhlo.frontend_attributes = {k = "v"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<i32>)
  return %0#0, %0#1 : tensor<2x3xf64>, tensor<i32>
}
//= HloModule main, entry_computation_layout={(f64[2,3]{1,0})->(f64[2,3]{0,1}, s32[])}
//= ENTRY main {
//=   custom-call = (f64[2,3]{0,1}, s32[]) custom-call(Arg_0), custom_call_target="f", operand_layout_constraints={f64[2,3]{0,1}}, custom_call_has_side_effect=true, output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, frontend_attributes={k="v"}, backend_config={a = 1.500000e+00 : f32, uplo = 76 : ui8}
//=   get-tuple-element = f64[2,3]{0,1} get-tuple-element(custom-call), index=0, frontend_attributes={k="v"}
//=   get-tuple-element.1 = s32[] get-tuple-element(custom-call), index=1, frontend_attributes={k="v"}
//=   ROOT tuple = (f64[2,3]{0,1}, s32[]) tuple(get-tuple-element, get-tuple-element.1)
//= }
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @g(%x) {api_version = 2 : i32, backend_config = "text", called_computations = [@add]} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
//= add {
//=   ROOT add = f32[] add(Arg_0, Arg_1)
//= }
//= ENTRY main {
//=   ROOT custom-call = f32[2]{0} custom-call(Arg_0.1), custom_call_target="g", api_version=API_VERSION_STATUS_RETURNING, called_computations={add}, backend_config="text"
//= }
// -----
// Custom calls that stand for ops.
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>, tensor<2xi32>) {
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %1:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0, %1#0, %1#1 : tensor<8xf32>, tensor<2xf32>, tensor<2xi32>
}
//= HloModule main, entry_computation_layout={(f32[8]{0})->(f32[8]{0}, f32[2]{0}, s32[2]{0})}
//= ENTRY main {
//=   erf = f32[8]{0} erf(Arg_0)
//=   topk = (f32[2]{0}, s32[2]{0}) topk(Arg_0), k=2, largest=true
//=   get-tuple-element = f32[2]{0} get-tuple-element(topk), index=0
//=   get-tuple-element.1 = s32[2]{0} get-tuple-element(topk), index=1
//=   ROOT tuple = (f32[8]{0}, f32[2]{0}, s32[2]{0}) tuple(erf, get-tuple-element, get-tuple-element.1)
//= }
// -----
// The best elements are the first of the sorted ones.
func.func @main(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %low, %none) {called_computations = [@more], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>
}
func.func private @more(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
//= HloModule main, entry_computation_layout={(f32[8]{0}, s32[8]{0})->(f32[3]{0}, s32[3]{0})}
//= more {
//=   ROOT compare = pred[] compare(Arg_0, Arg_1), direction=GT
//= }
//= ENTRY main {
//=   constant = f32[] constant(-inf)
//=   constant.1 = s32[] constant(-1)
//=   sort = (f32[8]{0}, s32[8]{0}) sort(Arg_0.1, Arg_1.1), dimensions={0}, is_stable=true, to_apply=more
//=   get-tuple-element = f32[8]{0} get-tuple-element(sort), index=0
//=   slice = f32[3]{0} slice(get-tuple-element), slice={[0:3]}
//=   get-tuple-element.1 = s32[8]{0} get-tuple-element(sort), index=1
//=   slice.1 = s32[3]{0} slice(get-tuple-element.1), slice={[0:3]}
//=   ROOT tuple = (f32[3]{0}, s32[3]{0}) tuple(slice, slice.1)
//= }
// -----
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %s: tensor<2xi64>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @ragged_all_to_all(%x, %y, %s, %s, %s, %s) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4xf32>, tensor<4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//= HloModule main, entry_computation_layout={(f32[4]{0}, f32[4]{0}, s64[2]{0})->f32[4]{0}}
//= ENTRY main {
//=   ROOT ragged-all-to-all = f32[4]{0} ragged-all-to-all(Arg_0, Arg_1, Arg_2, Arg_2, Arg_2, Arg_2), channel_id=1, replica_groups={{0,1}}
//= }
// -----
// The operands that give a window, a size, and a condition that holds.
func.func @main(%x: tensor<4xf32>, %s: tensor<2xui64>) -> (tensor<?xf32>, tensor<?xui32>, tensor<?xf32>) {
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %pad = stablehlo.constant dense<0> : tensor<1x2xi64>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %yes = stablehlo.compare LT, %one, %two : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %p = stablehlo.reshape %yes : (tensor<1xi1>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p) {error_message = "never", has_side_effect = true} : (tensor<i1>) -> ()
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %two, %two, %one, %one, %pad) {called_computations = [@add]} : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1x2xi64>) -> tensor<?xf32>
  %1:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %two) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<1xi64>) -> (tensor<2xui64>, tensor<?xui32>)
  %k = stablehlo.constant dense<3> : tensor<i64>
  %2:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4xf32>, tensor<i64>) -> (tensor<?xf32>, tensor<?xi32>)
  return %0, %1#1, %2#0 : tensor<?xf32>, tensor<?xui32>, tensor<?xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
//= HloModule main, entry_computation_layout={(f32[4]{0}, u64[2]{0})->(f32[2]{0}, u32[2]{0}, f32[3]{0})}
//= add {
//=   ROOT add = f32[] add(Arg_0, Arg_1)
//= }
//= ENTRY main {
//=   constant.2 = s64[] constant(0)
//=   broadcast = s64[1,2]{1,0} broadcast(constant.2), dimensions={}
//=   constant.1 = s64[1]{0} constant({1})
//=   constant = s64[1]{0} constant({2})
//=   compare = pred[1]{0} compare(constant.1, constant), direction=LT
//=   reshape = pred[] reshape(compare)
//=   rng-bit-generator = (u64[2]{0}, u32[2]{0}) rng-bit-generator(Arg_1.1), algorithm=rng_three_fry
//=   get-tuple-element = u64[2]{0} get-tuple-element(rng-bit-generator), index=0
//=   constant.4 = s64[] constant(3)
//=   topk = (f32[3]{0}, s32[3]{0}) topk(Arg_0.1), k=3, largest=true
//=   get-tuple-element.3 = s32[3]{0} get-tuple-element(topk), index=1
//=   constant.3 = f32[] constant(0)
//=   reduce-window = f32[2]{0} reduce-window(Arg_0.1, constant.3), window={size=2 stride=2}, to_apply=add
//=   get-tuple-element.1 = u32[2]{0} get-tuple-element(rng-bit-generator), index=1
//=   get-tuple-element.2 = f32[3]{0} get-tuple-element(topk), index=0
//=   ROOT tuple = (f32[2]{0}, u32[2]{0}, f32[3]{0}) tuple(reduce-window, get-tuple-element.1, get-tuple-element.2)
//= }
// -----
// What `main` says of its arguments: their memory, and that replicas have the same data.
module @m attributes {mhlo.num_replicas = 2 : i32, mhlo.frontend_attributes = {k = "v"}} {
  func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %b: tensor<2xf32> {jax.buffer_donor = true}, %c: tensor<2xf32> {mhlo.is_same_data_across_replicas = true, mhlo.frontend_attributes = {p = "q"}}) -> (tensor<2xf32>, tensor<2xf32>) {
    return %b, %a : tensor<2xf32>, tensor<2xf32>
  }
}
//= HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, entry_computation_layout={(f32[2]{0}, f32[2]{0}, f32[2]{0})->(f32[2]{0}, f32[2]{0})}, replica_count=2, frontend_attributes={k="v"}
//= ENTRY main {
//=   Arg_2 = f32[2]{0} parameter(2), parameter_replication={true}, frontend_attributes={p="q"}
//=   ROOT tuple = (f32[2]{0}, f32[2]{0}) tuple(Arg_1, Arg_0)
//= }
// -----
// The layouts of one result that is a tuple are those of its elements.
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @Pair(%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<4x4xf32>) -> tuple<tensor<4x4xf32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4x4xf32>, tensor<i32>>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
//= HloModule main, entry_computation_layout={(f32[4,4]{1,0})->f32[4,4]{0,1}}
//= ENTRY main {
//=   custom-call = (f32[4,4]{0,1}, s32[]) custom-call(Arg_0), custom_call_target="Pair", operand_layout_constraints={f32[4,4]{0,1}}
//=   ROOT get-tuple-element = f32[4,4]{0,1} get-tuple-element(custom-call), index=0
//= }
// -----
// One sharding of a tuple is that of all its elements.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Pair(%x) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
//= HloModule main, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
//= ENTRY main {
//=   custom-call = (f32[4]{0}, f32[4]{0}) custom-call(Arg_0), custom_call_target="Pair", sharding={replicated}
//=   ROOT get-tuple-element = f32[4]{0} get-tuple-element(custom-call), index=0
//= }
