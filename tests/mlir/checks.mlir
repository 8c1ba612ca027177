// The rules of each check: those that hold. Each function is a test.
func.func @equal_values() {
  %x = stablehlo.constant dense<[1, 127]> : tensor<2xi8>
  %y = stablehlo.add %x, %x : tensor<2xi8>
  check.expect_eq_const %y, dense<[2, -2]> : tensor<2xi8>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.negate %zero : tensor<f32>
  check.expect_eq %minus, %zero : tensor<f32>
  return
}

func.func @near_values() {
  %x = stablehlo.constant dense<[1.0, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  %y = stablehlo.constant dense<[1.00009, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  check.expect_almost_eq %x, %y : tensor<3xf32>
  check.expect_almost_eq_const %x, dense<[1.25, 0x7FC00000, 0x7F800000]> : tensor<3xf32>, tolerance = 0.25
  check.expect_almost_eq(%x, %y, atol 0.0, rtol 1.0e-4) : tensor<3xf32>
  return
}

func.func @values_of_the_type_apart() {
  %x = stablehlo.constant dense<1.0> : tensor<f16>
  %y = stablehlo.constant dense<1.002> : tensor<f16>
  check.expect_close %x, %y, max_ulp_difference = 2, min_ulp_difference = 2 : tensor<f16>, tensor<f16>
  return
}

func.func @truths() {
  %x = stablehlo.constant dense<[1, -5]> : tensor<2xi32>
  check.expect_all_true(%x) : tensor<2xi32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  check.expect_true(%true) : tensor<i1>
  %false = stablehlo.not %true : tensor<i1>
  check.expect_false(%false) : tensor<i1>
  return
}

func.func @calls_that_check() {
  %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf64>
  %y = util.optimization_barrier %x : tensor<2xf64>
  %same = stablehlo.custom_call @check.eq(%x, %y) : (tensor<2xf64>, tensor<2xf64>) -> tensor<i1>
  check.expect_true(%same) : tensor<i1>
  stablehlo.custom_call @check.expect_close(%x, %y) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
  return
}

// A check in a region is one of the function.
func.func @probes_of_a_loop() {
  %start = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %three = stablehlo.constant dense<3> : tensor<i64>
  %end = stablehlo.while(%i = %start) : tensor<i64>
  cond {
    %go = stablehlo.compare LT, %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %probed = interpreter.probe %i, probe_id = "i" : tensor<i64>
    %next = stablehlo.add %probed, %one : tensor<i64>
    %limit = stablehlo.compare LE, %next, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    check.expect_true(%limit) : tensor<i1>
    stablehlo.return %next : tensor<i64>
  }
  check.expect_serialized_eq %start, probe_id = "i" : tensor<i64>
  check.expect_serialized_eq %one, probe_id = "i", iter = 1 : tensor<i64>
  check.expect_eq %end, %three : tensor<i64>
  return
}

// -----

// Sizes that a type hides, as in the tests of compilers.
func.func @hidden_sizes() {
  %x = flow.tensor.dynamic_constant dense<[1.0, -2.0]> : tensor<2xf32> -> tensor<?xf32>
  %y = stablehlo.abs %x : tensor<?xf32>
  %z = tensor.cast %y : tensor<?xf32> to tensor<2xf32>
  check.expect_eq_const(%z, dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
