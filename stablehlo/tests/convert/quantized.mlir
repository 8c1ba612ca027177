func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
//= ENTRY main {
//=   constant.2 = f32[] constant(-128)
//=   constant = f32[] constant(0.5)
//=   broadcast = f32[2]{0} broadcast(constant), dimensions={}
//=   divide = f32[2]{0} divide(Arg_0, broadcast)
//=   constant.1 = f32[] constant(3)
//=   broadcast.1 = f32[2]{0} broadcast(constant.1), dimensions={}
//=   add = f32[2]{0} add(divide, broadcast.1)
//=   constant.3 = f32[] constant(127)
//=   clamp = f32[2]{0} clamp(constant.2, add, constant.3)
//=   round-nearest-even = f32[2]{0} round-nearest-even(clamp)
//=   convert = s8[2]{0} convert(round-nearest-even)
//=   convert.1 = s32[2]{0} convert(convert)
//=   constant.4 = s32[] constant(3)
//=   broadcast.2 = s32[2]{0} broadcast(constant.4), dimensions={}
//=   subtract = s32[2]{0} subtract(convert.1, broadcast.2)
//=   convert.2 = f32[2]{0} convert(subtract)
//=   constant.5 = f32[] constant(0.5)
//=   broadcast.3 = f32[2]{0} broadcast(constant.5), dimensions={}
//=   ROOT multiply = f32[2]{0} multiply(convert.2, broadcast.3)
//= }
// -----
// Per axis, of 32 bits.
func.func @main(%x: tensor<2x3x!quant.uniform<i32:f32:0, {0.5, 2.0:1}>>) -> tensor<2x3xf32> {
  %1 = stablehlo.uniform_dequantize %x : (tensor<2x3x!quant.uniform<i32:f32:0, {0.5, 2.0:1}>>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
//= HloModule main, entry_computation_layout={(s32[2,3]{1,0})->f32[2,3]{1,0}}
//= ENTRY main {
//=   convert = s64[2,3]{1,0} convert(Arg_0)
//=   constant = s64[2]{0} constant({0, 1})
//=   broadcast = s64[2,3]{1,0} broadcast(constant), dimensions={0}
//=   subtract = s64[2,3]{1,0} subtract(convert, broadcast)
//=   convert.1 = f32[2,3]{1,0} convert(subtract)
//=   constant.1 = f32[2]{0} constant({0.5, 2})
//=   broadcast.1 = f32[2,3]{1,0} broadcast(constant.1), dimensions={0}
//=   ROOT multiply = f32[2,3]{1,0} multiply(convert.1, broadcast.1)
//= }
// -----
// Integers are moved, whatever they stand for.
func.func @main(%x: tensor<2x!quant.uniform<u4:f32, 0.5>>, %p: tensor<i1>) -> tensor<1x!quant.uniform<u4:f32, 0.5>> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<2x!quant.uniform<u4:f32, 0.5>>
  %1 = stablehlo.slice %0 [0:1] : (tensor<2x!quant.uniform<u4:f32, 0.5>>) -> tensor<1x!quant.uniform<u4:f32, 0.5>>
  return %1 : tensor<1x!quant.uniform<u4:f32, 0.5>>
}
//= HloModule main, entry_computation_layout={(u4[2]{0}, pred[])->u4[1]{0}}
//= ENTRY main {
//=   reverse = u4[2]{0} reverse(Arg_0), dimensions={0}
//=   ROOT slice = u4[1]{0} slice(reverse), slice={[0:1]}
//= }
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25>> {
  %0 = stablehlo.tanh %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.25>>
}
//= HloModule main, entry_computation_layout={(s8[2]{0})->s8[2]{0}}
//= ENTRY main {
//=   constant.2 = f32[] constant(-128)
//=   convert = s32[2]{0} convert(Arg_0)
//=   convert.1 = f32[2]{0} convert(convert)
//=   constant = f32[] constant(0.5)
//=   broadcast = f32[2]{0} broadcast(constant), dimensions={}
//=   multiply = f32[2]{0} multiply(convert.1, broadcast)
//=   tanh = f32[2]{0} tanh(multiply)
//=   constant.1 = f32[] constant(0.25)
//=   broadcast.1 = f32[2]{0} broadcast(constant.1), dimensions={}
//=   divide = f32[2]{0} divide(tanh, broadcast.1)
//=   constant.3 = f32[] constant(127)
//=   clamp = f32[2]{0} clamp(constant.2, divide, constant.3)
//=   round-nearest-even = f32[2]{0} round-nearest-even(clamp)
//=   ROOT convert.2 = s8[2]{0} convert(round-nearest-even)
//= }
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>> {
  %0 = stablehlo.tanh %x : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return %0 : tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
}
//= error[E0920]: `stablehlo.tanh` of quantized tensors: the specification defines it per tensor, not per axis
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  %0 = chlo.erf %x : tensor<2x!quant.uniform<i8:f32, 0.5>> -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}
//= error[E0920]: `chlo.erf` of quantized tensors: the specification does not define it
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32> {
  %0 = stablehlo.convert %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0920]: `stablehlo.convert` of quantized tensors: the specification does not define it
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}
//= error[E0920]: `stablehlo.add` of quantized tensors: either all operands are quantized, or none
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25>> {
  %0 = stablehlo.reverse %x, dims = [0] : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.25>>
}
//= error[E0920]: `stablehlo.reverse` of quantized tensors: operands and results must have the same quantization
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>> {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:1>>
}
//= error[E0920]: `stablehlo.collective_permute` of quantized tensors: values that a device does not get are 0, which is not the integer 0 where the zero point is another one
// -----
func.func @main(%x: tensor<2x3x!quant.uniform<i8:f32:1, {0.5}>>) -> tensor<2x3xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5}>>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
//= error[E0926]: `!quant.uniform<i8:f32:1, {0.5}>` is not a valid type of this tensor
// -----
func.func @main(%x: tensor<2x!quant.uniform<i3:f32, 0.5>>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i3:f32, 0.5>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0924]: there is no conversion of `!quant.uniform<i3:f32, 0.5>`
// -----
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, -0.5>>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i8:f32, -0.5>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0926]: `!quant.uniform<i8:f32, -0.5>` is not a valid type of this tensor
// -----
func.func @main(%x: tensor<2xf16>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf16>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}
//= error[E0926]: `stablehlo.uniform_quantize` of f16 to a type that stands for f32
// -----
func.func @main(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
}
//= error[E0926]: `!quant.uniform<i8:f32:0, {0.5, 0.25}>` is not a valid type of this tensor
// -----
func.func @main(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x1x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>> {
  %0 = stablehlo.reshape %x : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x1x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return %0 : tensor<2x1x3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
}
//= HloModule main, entry_computation_layout={(s8[2,3]{1,0})->s8[2,1,3]{2,1,0}}
//= ENTRY main {
//=   ROOT reshape = s8[2,1,3]{2,1,0} reshape(Arg_0)
//= }
