func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32>
  %1 = stablehlo.cbrt %0 : tensor<2xf32>
  %2 = stablehlo.ceil %1 : tensor<2xf32>
  %3 = stablehlo.cosine %2 : tensor<2xf32>
  %4 = stablehlo.exponential %3 : tensor<2xf32>
  %5 = stablehlo.exponential_minus_one %4 : tensor<2xf32>
  %6 = stablehlo.floor %5 : tensor<2xf32>
  %7 = stablehlo.log %6 : tensor<2xf32>
  %8 = stablehlo.log_plus_one %7 : tensor<2xf32>
  %9 = stablehlo.logistic %8 : tensor<2xf32>
  %10 = stablehlo.negate %9 : tensor<2xf32>
  %11 = stablehlo.round_nearest_afz %10 : tensor<2xf32>
  %12 = stablehlo.round_nearest_even %11 : tensor<2xf32>
  %13 = stablehlo.rsqrt %12 : tensor<2xf32>
  %14 = stablehlo.sign %13 : tensor<2xf32>
  %15 = stablehlo.sine %14 : tensor<2xf32>
  %16 = stablehlo.sqrt %15 : tensor<2xf32>
  %17 = stablehlo.tan %16 : tensor<2xf32>
  %18 = stablehlo.tanh %17 : tensor<2xf32>
  return %18 : tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
//= ENTRY main {
//=   abs = f32[2]{0} abs(Arg_0)
//=   cbrt = f32[2]{0} cbrt(abs)
//=   ceil = f32[2]{0} ceil(cbrt)
//=   cosine = f32[2]{0} cosine(ceil)
//=   exponential = f32[2]{0} exponential(cosine)
//=   exponential-minus-one = f32[2]{0} exponential-minus-one(exponential)
//=   floor = f32[2]{0} floor(exponential-minus-one)
//=   log = f32[2]{0} log(floor)
//=   log-plus-one = f32[2]{0} log-plus-one(log)
//=   logistic = f32[2]{0} logistic(log-plus-one)
//=   negate = f32[2]{0} negate(logistic)
//=   round-nearest-afz = f32[2]{0} round-nearest-afz(negate)
//=   round-nearest-even = f32[2]{0} round-nearest-even(round-nearest-afz)
//=   rsqrt = f32[2]{0} rsqrt(round-nearest-even)
//=   sign = f32[2]{0} sign(rsqrt)
//=   sine = f32[2]{0} sine(sign)
//=   sqrt = f32[2]{0} sqrt(sine)
//=   tan = f32[2]{0} tan(sqrt)
//=   ROOT tanh = f32[2]{0} tanh(tan)
//= }
// -----
func.func @main(%x: tensor<2xi32>, %z: tensor<2xcomplex<f32>>, %f: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) {
  %0 = stablehlo.count_leading_zeros %x : tensor<2xi32>
  %1 = stablehlo.not %0 : tensor<2xi32>
  %2 = stablehlo.popcnt %1 : tensor<2xi32>
  %3 = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %4 = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %5 = stablehlo.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  return %2, %3, %4, %5 : tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>
}
//= HloModule main, entry_computation_layout={(s32[2]{0}, c64[2]{0}, f32[2]{0})->(s32[2]{0}, f32[2]{0}, f32[2]{0}, pred[2]{0})}
//= ENTRY main {
//=   count-leading-zeros = s32[2]{0} count-leading-zeros(Arg_0)
//=   not = s32[2]{0} not(count-leading-zeros)
//=   popcnt = s32[2]{0} popcnt(not)
//=   imag = f32[2]{0} imag(Arg_1)
//=   real = f32[2]{0} real(Arg_1)
//=   is-finite = pred[2]{0} is-finite(Arg_2)
//=   ROOT tuple = (s32[2]{0}, f32[2]{0}, f32[2]{0}, pred[2]{0}) tuple(popcnt, imag, real, is-finite)
//= }
// -----
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  %1 = stablehlo.atan2 %0, %y : tensor<2xf32>
  %2 = stablehlo.divide %1, %y : tensor<2xf32>
  %3 = stablehlo.maximum %2, %y : tensor<2xf32>
  %4 = stablehlo.minimum %3, %y : tensor<2xf32>
  %5 = stablehlo.multiply %4, %y : tensor<2xf32>
  %6 = stablehlo.power %5, %y : tensor<2xf32>
  %7 = stablehlo.remainder %6, %y : tensor<2xf32>
  %8 = stablehlo.subtract %7, %y : tensor<2xf32>
  %9 = stablehlo.complex %8, %y : tensor<2xcomplex<f32>>
  return %9 : tensor<2xcomplex<f32>>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, f32[2]{0})->c64[2]{0}}
//= ENTRY main {
//=   add = f32[2]{0} add(Arg_0, Arg_1)
//=   atan2 = f32[2]{0} atan2(add, Arg_1)
//=   divide = f32[2]{0} divide(atan2, Arg_1)
//=   maximum = f32[2]{0} maximum(divide, Arg_1)
//=   minimum = f32[2]{0} minimum(maximum, Arg_1)
//=   multiply = f32[2]{0} multiply(minimum, Arg_1)
//=   power = f32[2]{0} power(multiply, Arg_1)
//=   remainder = f32[2]{0} remainder(power, Arg_1)
//=   subtract = f32[2]{0} subtract(remainder, Arg_1)
//=   ROOT complex = c64[2]{0} complex(subtract, Arg_1)
//= }
// -----
func.func @main(%x: tensor<2xui8>, %y: tensor<2xui8>) -> tensor<2xui8> {
  %0 = stablehlo.and %x, %y : tensor<2xui8>
  %1 = stablehlo.or %0, %y : tensor<2xui8>
  %2 = stablehlo.shift_left %1, %y : tensor<2xui8>
  %3 = stablehlo.shift_right_arithmetic %2, %y : tensor<2xui8>
  %4 = stablehlo.shift_right_logical %3, %y : tensor<2xui8>
  %5 = stablehlo.xor %4, %y : tensor<2xui8>
  return %5 : tensor<2xui8>
}
//= HloModule main, entry_computation_layout={(u8[2]{0}, u8[2]{0})->u8[2]{0}}
//= ENTRY main {
//=   and = u8[2]{0} and(Arg_0, Arg_1)
//=   or = u8[2]{0} or(and, Arg_1)
//=   shift-left = u8[2]{0} shift-left(or, Arg_1)
//=   shift-right-arithmetic = u8[2]{0} shift-right-arithmetic(shift-left, Arg_1)
//=   shift-right-logical = u8[2]{0} shift-right-logical(shift-right-arithmetic, Arg_1)
//=   ROOT xor = u8[2]{0} xor(shift-right-logical, Arg_1)
//= }
// -----
// The accuracy is kept.
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
//= HloModule main, entry_computation_layout={(f32[])->f32[]}
//= ENTRY main {
//=   ROOT exponential = f32[] exponential(Arg_0), result_accuracy={mode=highest}
//= }
// -----
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %p: tensor<i1>) -> (tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %1 = stablehlo.compare NE, %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %2 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<2xf32>
  %3 = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.clamp %3, %x, %y : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %4 : tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, f32[2]{0}, pred[])->(pred[2]{0}, pred[2]{0}, f32[2]{0}, f32[2]{0})}
//= ENTRY main {
//=   compare = pred[2]{0} compare(Arg_0, Arg_1), direction=LT, type=TOTALORDER
//=   compare.1 = pred[2]{0} compare(Arg_0, Arg_1), direction=NE
//=   broadcast = pred[2]{0} broadcast(Arg_2), dimensions={}
//=   select = f32[2]{0} select(broadcast, Arg_0, Arg_1)
//=   constant = f32[] constant(0)
//=   broadcast.1 = f32[2]{0} broadcast(constant), dimensions={}
//=   clamp = f32[2]{0} clamp(broadcast.1, Arg_0, Arg_1)
//=   ROOT tuple = (pred[2]{0}, pred[2]{0}, f32[2]{0}, f32[2]{0}) tuple(compare, compare.1, select, clamp)
//= }
// -----
// The complex cube root is a power.
func.func @main(%x: tensor<2xcomplex<f32>>, %y: tensor<complex<f64>>) -> (tensor<2xcomplex<f32>>, tensor<complex<f64>>) {
  %0 = stablehlo.cbrt %x : tensor<2xcomplex<f32>>
  %1 = stablehlo.cbrt %y : tensor<complex<f64>>
  return %0, %1 : tensor<2xcomplex<f32>>, tensor<complex<f64>>
}
//= HloModule main, entry_computation_layout={(c64[2]{0}, c128[])->(c64[2]{0}, c128[])}
//= ENTRY main {
//=   convert = c128[2]{0} convert(Arg_0)
//=   constant = c128[] constant((0.33333333333333331, 0))
//=   broadcast = c128[2]{0} broadcast(constant), dimensions={}
//=   power = c128[2]{0} power(convert, broadcast)
//=   convert.1 = c64[2]{0} convert(power)
//=   constant.1 = c128[] constant((0.33333333333333331, 0))
//=   power.1 = c128[] power(Arg_1, constant.1)
//=   ROOT tuple = (c64[2]{0}, c128[]) tuple(convert.1, power.1)
//= }
