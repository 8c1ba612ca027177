// Quantized types: (i - zero point) * scale. The values are computed by hand.

// 1.5 / 0.5 + 3 = 6, -2.0 / 0.5 + 3 = -1, 100 / 0.5 + 3 is above 127, 0.25 / 0.5 + 3 = 3.5 rounds to even.
func.func @quantize() {
  %x = stablehlo.constant dense<[1.5, -2.0, 100.0, 0.25]> : tensor<4xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  %i = stablehlo.bitcast_convert %q : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xi8>
  check.expect_eq_const %i, dense<[6, -1, 127, 4]> : tensor<4xi8>
  return
}

// (127 - -128) * 0.5 = 127.5: the difference does not wrap in 8 bits.
func.func @dequantize() {
  %i = stablehlo.constant dense<[127, -128]> : tensor<2xi8>
  %q = stablehlo.bitcast_convert %i : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5:-128>>
  %x = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 0.5:-128>>) -> tensor<2xf32>
  check.expect_eq_const %x, dense<[127.5, 0.0]> : tensor<2xf32>
  return
}

// Per axis: a scale for each row. 4 / 2 = 2 and 6 / 2 = 3; 4 / 0.25 + 1 = 17, 40 / 0.25 + 1 = 161 is above 15.
func.func @per_axis() {
  %x = stablehlo.constant dense<[[4.0, 6.0], [4.0, 40.0]]> : tensor<2x2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i16<0:15>:f32:0, {2.0, 0.25:1}>>
  %t = stablehlo.transpose %q, dims = [1, 0] : (tensor<2x2x!quant.uniform<i16<0:15>:f32:0, {2.0, 0.25:1}>>) -> tensor<2x2x!quant.uniform<i16<0:15>:f32:1, {2.0, 0.25:1}>>
  %i = stablehlo.bitcast_convert %t : (tensor<2x2x!quant.uniform<i16<0:15>:f32:1, {2.0, 0.25:1}>>) -> tensor<2x2xi16>
  check.expect_eq_const %i, dense<[[2, 15], [3, 15]]> : tensor<2x2xi16>
  %y = stablehlo.uniform_dequantize %t : (tensor<2x2x!quant.uniform<i16<0:15>:f32:1, {2.0, 0.25:1}>>) -> tensor<2x2xf32>
  check.expect_eq_const %y, dense<[[4.0, 3.5], [6.0, 3.5]]> : tensor<2x2xf32>
  return
}

// From one type to another: (9 - 1) * 0.5 = 4, 4 / 0.25 - 2 = 14.
func.func @requantize() {
  %i = stablehlo.constant dense<9> : tensor<ui8>
  %q = stablehlo.bitcast_convert %i : (tensor<ui8>) -> tensor<!quant.uniform<u8:f32, 0.5:1>>
  %r = stablehlo.uniform_quantize %q : (tensor<!quant.uniform<u8:f32, 0.5:1>>) -> tensor<!quant.uniform<i4:f32, 0.25:-2>>
  %s = stablehlo.bitcast_convert %r : (tensor<!quant.uniform<i4:f32, 0.25:-2>>) -> tensor<i4>
  // 14 is above 7.
  check.expect_eq_const %s, dense<7> : tensor<i4>
  return
}

// 1 + 3 = 4 and 2 + 4.5 = 6.5: 4 / 0.5 - 20 = -12, 6.5 / 0.5 - 20 = -7.
func.func @add() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[3.0, 4.5]> : tensor<2xf32>
  %qa = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.25:-30>>
  %qb = stablehlo.uniform_quantize %b : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %q = stablehlo.add %qa, %qb : (tensor<2x!quant.uniform<i8:f32, 0.25:-30>>, tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %i = stablehlo.bitcast_convert %q : (tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2xi8>
  check.expect_eq_const %i, dense<[-12, -7]> : tensor<2xi8>
  return
}

// A float times a quantized matrix: [1, 2] x [[0.5, 1], [1.5, -1]] = [3.5, -1].
func.func @hybrid_dot() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = stablehlo.constant dense<[[1, 2], [3, -2]]> : tensor<2x2xi8>
  %q = stablehlo.bitcast_convert %i : (tensor<2x2xi8>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.5}>>
  %y = stablehlo.dot_general %x, %q, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.5}>>) -> tensor<2xf32>
  check.expect_eq_const %y, dense<[3.5, -1.0]> : tensor<2xf32>
  return
}

// Ordered as numbers: -1 * 0.5 < 1 * 0.25. A finite number is finite.
func.func @compare() {
  %i = stablehlo.constant dense<[0, 5]> : tensor<2xi8>
  %q = stablehlo.bitcast_convert %i : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  %j = stablehlo.constant dense<[1, 5]> : tensor<2xi8>
  %r = stablehlo.bitcast_convert %j : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.25>>
  %less = stablehlo.compare LT, %q, %r : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>, tensor<2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2xi1>
  check.expect_eq_const %less, dense<[true, false]> : tensor<2xi1>
  %finite = stablehlo.is_finite %q : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2xi1>
  check.expect_eq_const %finite, dense<true> : tensor<2xi1>
  return
}

// Each step of a sum is quantized: 3 + 5 is 8, the largest number; minus 2 is 6.
func.func @reduce() {
  %x = stablehlo.constant dense<[3.0, 5.0, -2.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8<-16:16>:f32, 0.5>>
  %z = stablehlo.uniform_quantize %zero : (tensor<f32>) -> tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>
  %sum = "stablehlo.reduce"(%q, %z) ({
  ^bb0(%a: tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>, %b: tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>):
    %s = stablehlo.add %a, %b : tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>
    stablehlo.return %s : tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>
  }) {dimensions = array<i64: 0>} : (tensor<3x!quant.uniform<i8<-16:16>:f32, 0.5>>, tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>) -> tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>
  %y = stablehlo.uniform_dequantize %sum : (tensor<!quant.uniform<i8<-16:16>:f32, 0.5>>) -> tensor<f32>
  check.expect_eq_const %y, dense<6.0> : tensor<f32>
  return
}

// A count is quantized: 0, 1, 2, 3 / 2 - 1 rounds to even.
func.func @iota() {
  %q = stablehlo.iota dim = 0 : tensor<4x!quant.uniform<i8:f32, 2.0:-1>>
  %i = stablehlo.bitcast_convert %q : (tensor<4x!quant.uniform<i8:f32, 2.0:-1>>) -> tensor<4xi8>
  check.expect_eq_const %i, dense<[-1, 0, 0, 0]> : tensor<4xi8>
  return
}
