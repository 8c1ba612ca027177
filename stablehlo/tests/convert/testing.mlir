func.func @main(%x: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<i1>) {
  check.expect_all_true(%i) : tensor<2xi32>
  check.expect_true(%p) : tensor<i1>
  check.expect_false(%p) : tensor<i1>
  check.expect_almost_eq %x, %x : tensor<2xf32>
  check.expect_almost_eq_const %x, dense<[1.0, 2.0]> : tensor<2xf32>, tolerance = 0.5
  check.expect_almost_eq(%x, %x, rtol 0.25) : tensor<2xf32>
  check.expect_close %x, %x, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  check.expect_eq %x, %x : tensor<2xf32>
  check.expect_eq(%x, %x) : tensor<2xf32>
  check.expect_eq_const %i, dense<[1, 2]> : tensor<2xi32>
  check.expect_serialized_eq %x, probe_id = "p", iter = 1 : tensor<2xf32>
  interpreter.print %x : tensor<2xf32>
  return
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, s32[2]{0}, pred[])->()}
//= ENTRY main {
//=   custom-call = () custom-call(Arg_1), custom_call_target="check.expect_all_true", custom_call_has_side_effect=true
//=   custom-call.1 = () custom-call(Arg_2), custom_call_target="check.expect_true", custom_call_has_side_effect=true
//=   custom-call.2 = () custom-call(Arg_2), custom_call_target="check.expect_false", custom_call_has_side_effect=true
//=   custom-call.3 = () custom-call(Arg_0, Arg_0), custom_call_target="check.expect_almost_eq", custom_call_has_side_effect=true, backend_config={tolerance = 1.000000e-04 : f64}
//=   constant = f32[2]{0} constant({1, 2})
//=   custom-call.4 = () custom-call(Arg_0, constant), custom_call_target="check.expect_almost_eq_const", custom_call_has_side_effect=true, backend_config={tolerance = 5.000000e-01 : f64}
//=   custom-call.5 = () custom-call(Arg_0, Arg_0), custom_call_target="check.expect_almost_eq", custom_call_has_side_effect=true, backend_config={atol = 1.000000e-04 : f64, numpy, rtol = 2.500000e-01 : f64}
//=   custom-call.6 = () custom-call(Arg_0, Arg_0), custom_call_target="check.expect_close", custom_call_has_side_effect=true, backend_config={max_ulp_difference = 3 : i64, min_ulp_difference = 0 : i64}
//=   custom-call.7 = () custom-call(Arg_0, Arg_0), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
//=   custom-call.8 = () custom-call(Arg_0, Arg_0), custom_call_target="check.expect_eq", custom_call_has_side_effect=true, backend_config={numpy}
//=   constant.1 = s32[2]{0} constant({1, 2})
//=   custom-call.9 = () custom-call(Arg_1, constant.1), custom_call_target="check.expect_eq_const", custom_call_has_side_effect=true
//=   custom-call.10 = () custom-call(Arg_0), custom_call_target="check.expect_serialized_eq", custom_call_has_side_effect=true, backend_config={iteration = 1 : i64, probe_id = "p"}
//=   custom-call.11 = () custom-call(Arg_0), custom_call_target="interpreter.print", custom_call_has_side_effect=true
//=   ROOT tuple = () tuple()
//= }
// -----
func.func @main(%x: tensor<2xf32>, %t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token, tensor<i32>) {
  %0 = interpreter.probe %x, probe_id = "p" : tensor<2xf32>
  %1:3 = "interpreter.run_parallel"(%0, %t) {infeed = [@q], programs = [[@f, @g]]} : (tensor<2xf32>, !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token, tensor<i32>)
  return %1#0, %1#1, %1#2 : tensor<2xf32>, !stablehlo.token, tensor<i32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, token[])->(f32[2]{0}, token[], s32[])}
//= ENTRY main {
//=   custom-call = f32[2]{0} custom-call(Arg_0), custom_call_target="interpreter.probe", custom_call_has_side_effect=true, backend_config={probe_id = "p"}
//=   custom-call.1 = (f32[2]{0}, s32[]) custom-call(custom-call), custom_call_target="interpreter.run_parallel", custom_call_has_side_effect=true, backend_config={infeed = [@q], programs = [[@f, @g]]}
//=   get-tuple-element = f32[2]{0} get-tuple-element(custom-call.1), index=0
//=   after-all = token[] after-all()
//=   get-tuple-element.1 = s32[] get-tuple-element(custom-call.1), index=1
//=   ROOT tuple = (f32[2]{0}, token[], s32[]) tuple(get-tuple-element, after-all, get-tuple-element.1)
//= }
// -----
func.func @main() -> (tensor<2xf32>, tensor<?xi32>) {
  %0 = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = util.optimization_barrier %0 : tensor<2xf32>
  %2 = flow.tensor.dynamic_constant dense<[1, 2]> : tensor<2xi32> -> tensor<?xi32>
  return %1, %2 : tensor<2xf32>, tensor<?xi32>
}
//= HloModule main, entry_computation_layout={()->(f32[2]{0}, s32[2]{0})}
//= ENTRY main {
//=   constant = f32[2]{0} constant({1, 2})
//=   opt-barrier = f32[2]{0} opt-barrier(constant)
//=   constant.1 = s32[2]{0} constant({1, 2})
//=   ROOT tuple = (f32[2]{0}, s32[2]{0}) tuple(opt-barrier, constant.1)
//= }
// -----
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  "check.expect_eq"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}
//= error[E0926]: `check.expect_eq` compares f32[2] with f32[3]: the shapes differ
