func.func @main(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) {
  %0 = chlo.acos %x : tensor<2xf32> -> tensor<2xf32>
  %1 = chlo.acosh %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = chlo.asin %1 : tensor<2xf32> -> tensor<2xf32>
  %3 = chlo.asinh %2 : tensor<2xf32> -> tensor<2xf32>
  %4 = chlo.atanh %3 : tensor<2xf32> -> tensor<2xf32>
  %5 = chlo.cosh %4 : tensor<2xf32> -> tensor<2xf32>
  %6 = chlo.erf %5 : tensor<2xf32> -> tensor<2xf32>
  %7 = chlo.sinh %6 : tensor<2xf32> -> tensor<2xf32>
  %8 = chlo.tan %7 : tensor<2xf32> -> tensor<2xf32>
  %9 = chlo.square %8 : tensor<2xf32> -> tensor<2xf32>
  %10 = chlo.atan %x : tensor<2xf32> -> tensor<2xf32>
  %11 = chlo.mulhi %i, %i : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  return %9, %10, %11 : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, s32[2]{0})->(f32[2]{0}, f32[2]{0}, s32[2]{0})}
//= ENTRY main {
//=   acos = f32[2]{0} acos(Arg_0)
//=   acosh = f32[2]{0} acosh(acos)
//=   asin = f32[2]{0} asin(acosh)
//=   asinh = f32[2]{0} asinh(asin)
//=   atanh = f32[2]{0} atanh(asinh)
//=   cosh = f32[2]{0} cosh(atanh)
//=   erf = f32[2]{0} erf(cosh)
//=   sinh = f32[2]{0} sinh(erf)
//=   tan = f32[2]{0} tan(sinh)
//=   multiply = f32[2]{0} multiply(tan, tan)
//=   constant = f32[] constant(1)
//=   broadcast = f32[2]{0} broadcast(constant), dimensions={}
//=   atan2 = f32[2]{0} atan2(Arg_0, broadcast)
//=   mulhi = s32[2]{0} mulhi(Arg_1, Arg_1)
//=   ROOT tuple = (f32[2]{0}, f32[2]{0}, s32[2]{0}) tuple(multiply, atan2, mulhi)
//= }
// -----
func.func @main(%x: tensor<2xf32>, %z: tensor<2xcomplex<f32>>) -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<f32>) {
  %0 = chlo.is_inf %x : tensor<2xf32> -> tensor<2xi1>
  %1 = chlo.is_neg_inf %x : tensor<2xf32> -> tensor<2xi1>
  %2 = chlo.is_pos_inf %x : tensor<2xf32> -> tensor<2xi1>
  %3 = chlo.conj %z : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %4 = "chlo.constant_like"(%x) {value = 2.5 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %5 = "chlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  return %0, %1, %2, %3, %4, %5 : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xf32>, tensor<f32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, c64[2]{0})->(pred[2]{0}, pred[2]{0}, pred[2]{0}, c64[2]{0}, f32[2]{0}, /*index=5*/f32[])}
//= ENTRY main {
//=   abs = f32[2]{0} abs(Arg_0)
//=   constant = f32[] constant(inf)
//=   broadcast = f32[2]{0} broadcast(constant), dimensions={}
//=   compare = pred[2]{0} compare(abs, broadcast), direction=EQ
//=   constant.1 = f32[] constant(-inf)
//=   broadcast.1 = f32[2]{0} broadcast(constant.1), dimensions={}
//=   compare.1 = pred[2]{0} compare(Arg_0, broadcast.1), direction=EQ
//=   constant.2 = f32[] constant(inf)
//=   broadcast.2 = f32[2]{0} broadcast(constant.2), dimensions={}
//=   compare.2 = pred[2]{0} compare(Arg_0, broadcast.2), direction=EQ
//=   real = f32[2]{0} real(Arg_1)
//=   imag = f32[2]{0} imag(Arg_1)
//=   negate = f32[2]{0} negate(imag)
//=   complex = c64[2]{0} complex(real, negate)
//=   constant.3 = f32[] constant(2.5)
//=   broadcast.3 = f32[2]{0} broadcast(constant.3), dimensions={}
//=   constant.4 = f32[] constant(1)
//=   ROOT tuple = (pred[2]{0}, pred[2]{0}, pred[2]{0}, c64[2]{0}, f32[2]{0}, /*index=5*/f32[]) tuple(compare, compare.1, compare.2, complex, broadcast.3, constant.4)
//= }
// -----
func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
  %0:2 = "chlo.top_k"(%x) {k = 2 : i64} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %0#0, %0#1 : tensor<8x2xf32>, tensor<8x2xi32>
}
//= HloModule main, entry_computation_layout={(f32[8,4]{1,0})->(f32[8,2]{1,0}, s32[8,2]{1,0})}
//= ENTRY main {
//=   topk = (f32[8,2]{1,0}, s32[8,2]{1,0}) topk(Arg_0), k=2, largest=true
//=   get-tuple-element = f32[8,2]{1,0} get-tuple-element(topk), index=0
//=   get-tuple-element.1 = s32[8,2]{1,0} get-tuple-element(topk), index=1
//=   ROOT tuple = (f32[8,2]{1,0}, s32[8,2]{1,0}) tuple(get-tuple-element, get-tuple-element.1)
//= }
// -----
// Functions that HLO lacks are applied to each element in f64.
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf64>) -> (tensor<2xf32>, tensor<2xf64>) {
  %0 = chlo.erfc %x : tensor<2xf32> -> tensor<2xf32>
  %1 = chlo.erf_inv %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = chlo.lgamma %1 : tensor<2xf32> -> tensor<2xf32>
  %3 = chlo.digamma %2 : tensor<2xf32> -> tensor<2xf32>
  %4 = chlo.bessel_i1e %3 : tensor<2xf32> -> tensor<2xf32>
  %5 = chlo.zeta %y, %y : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  %6 = chlo.polygamma %5, %y : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  return %4, %6 : tensor<2xf32>, tensor<2xf64>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, f64[2]{0})->(f32[2]{0}, f64[2]{0})}
//= ENTRY main {
//=   convert = f64[2]{0} convert(Arg_0)
//=   map = f64[2]{0} map(convert), dimensions={0}, to_apply=erfc
//=   convert.1 = f32[2]{0} convert(map)
//=   convert.2 = f64[2]{0} convert(convert.1)
//=   map.1 = f64[2]{0} map(convert.2), dimensions={0}, to_apply=erf_inv
//=   convert.3 = f32[2]{0} convert(map.1)
//=   convert.4 = f64[2]{0} convert(convert.3)
//=   map.2 = f64[2]{0} map(convert.4), dimensions={0}, to_apply=lgamma
//=   convert.5 = f32[2]{0} convert(map.2)
//=   convert.6 = f64[2]{0} convert(convert.5)
//=   map.3 = f64[2]{0} map(convert.6), dimensions={0}, to_apply=digamma
//=   convert.7 = f32[2]{0} convert(map.3)
//=   convert.8 = f64[2]{0} convert(convert.7)
//=   map.4 = f64[2]{0} map(convert.8), dimensions={0}, to_apply=bessel_i1e
//=   convert.9 = f32[2]{0} convert(map.4)
//=   map.5 = f64[2]{0} map(Arg_1, Arg_1), dimensions={0}, to_apply=zeta
//=   map.6 = f64[2]{0} map(map.5, Arg_1), dimensions={0}, to_apply=polygamma
//=   ROOT tuple = (f32[2]{0}, f64[2]{0}) tuple(convert.9, map.6)
//= }
// -----
func.func @main(%x: tensor<f16>, %y: tensor<f16>) -> tensor<f16> {
  %0 = chlo.next_after %x, %y : tensor<f16>, tensor<f16> -> tensor<f16>
  return %0 : tensor<f16>
}
//= HloModule main, entry_computation_layout={(f16[], f16[])->f16[]}
//= ENTRY main {
//=   compare.4 = pred[] compare(Arg_0, Arg_0), direction=NE
//=   compare.5 = pred[] compare(Arg_1, Arg_1), direction=NE
//=   or.3 = pred[] or(compare.4, compare.5)
//=   add.1 = f16[] add(Arg_0, Arg_1)
//=   compare.3 = pred[] compare(Arg_0, Arg_1), direction=EQ
//=   bitcast-convert = u16[] bitcast-convert(Arg_0)
//=   constant = u16[] constant(32767)
//=   and = u16[] and(bitcast-convert, constant)
//=   constant.2 = u16[] constant(0)
//=   compare.2 = pred[] compare(and, constant.2), direction=EQ
//=   bitcast-convert.1 = u16[] bitcast-convert(Arg_1)
//=   constant.1 = u16[] constant(32768)
//=   and.3 = u16[] and(bitcast-convert.1, constant.1)
//=   constant.3 = u16[] constant(1)
//=   or.1 = u16[] or(and.3, constant.3)
//=   and.1 = u16[] and(bitcast-convert, constant.1)
//=   compare = pred[] compare(and.1, and.3), direction=NE
//=   and.2 = u16[] and(bitcast-convert.1, constant)
//=   compare.1 = pred[] compare(and, and.2), direction=GT
//=   or = pred[] or(compare, compare.1)
//=   subtract = u16[] subtract(and, constant.3)
//=   add = u16[] add(and, constant.3)
//=   select = u16[] select(or, subtract, add)
//=   or.2 = u16[] or(and.1, select)
//=   select.1 = u16[] select(compare.2, or.1, or.2)
//=   bitcast-convert.2 = f16[] bitcast-convert(select.1)
//=   select.2 = f16[] select(compare.3, Arg_1, bitcast-convert.2)
//=   ROOT select.3 = f16[] select(or.3, add.1, select.2)
//= }
// -----
// Operands are broadcast to each other.
func.func @main(%x: tensor<2x1xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>, tensor<2x3xf32>) {
  %0 = "chlo.broadcast_add"(%x, %y) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "chlo.broadcast_compare"(%0, %y) {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %2 = "chlo.broadcast_select"(%1, %x, %y) : (tensor<2x3xi1>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xi1>, tensor<2x3xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,1]{1,0}, f32[3]{0})->(f32[2,3]{1,0}, pred[2,3]{1,0}, f32[2,3]{1,0})}
//= ENTRY main {
//=   reshape = f32[2]{0} reshape(Arg_0)
//=   broadcast = f32[2,3]{1,0} broadcast(reshape), dimensions={0}
//=   broadcast.1 = f32[2,3]{1,0} broadcast(Arg_1), dimensions={1}
//=   add = f32[2,3]{1,0} add(broadcast, broadcast.1)
//=   broadcast.2 = f32[2,3]{1,0} broadcast(Arg_1), dimensions={1}
//=   compare = pred[2,3]{1,0} compare(add, broadcast.2), direction=LT
//=   reshape.1 = f32[2]{0} reshape(Arg_0)
//=   broadcast.3 = f32[2,3]{1,0} broadcast(reshape.1), dimensions={0}
//=   broadcast.4 = f32[2,3]{1,0} broadcast(Arg_1), dimensions={1}
//=   select = f32[2,3]{1,0} select(compare, broadcast.3, broadcast.4)
//=   ROOT tuple = (f32[2,3]{1,0}, pred[2,3]{1,0}, f32[2,3]{1,0}) tuple(add, compare, select)
//= }
// -----
func.func @main(%x: tensor<2xf32>, %s: tensor<f32>) -> (tensor<2xcomplex<f32>>, tensor<2xf32>) {
  %0 = "chlo.broadcast_subtract"(%x, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = "chlo.broadcast_multiply"(%0, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = "chlo.broadcast_divide"(%1, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = "chlo.broadcast_maximum"(%2, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = "chlo.broadcast_minimum"(%3, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = "chlo.broadcast_power"(%4, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %6 = "chlo.broadcast_remainder"(%5, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %7 = "chlo.broadcast_atan2"(%6, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %8 = "chlo.broadcast_complex"(%7, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xcomplex<f32>>
  %9 = "chlo.broadcast_next_after"(%s, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %10 = "chlo.broadcast_zeta"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %11 = "chlo.broadcast_polygamma"(%10, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %8, %11 : tensor<2xcomplex<f32>>, tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, f32[])->(c64[2]{0}, f32[2]{0})}
//= ENTRY main {
//=   compare.68 = pred[] compare(Arg_1, Arg_1), direction=NE
//=   compare.69 = pred[] compare(Arg_1, Arg_1), direction=NE
//=   or.16 = pred[] or(compare.68, compare.69)
//=   add.595 = f32[] add(Arg_1, Arg_1)
//=   compare.67 = pred[] compare(Arg_1, Arg_1), direction=EQ
//=   bitcast-convert = u32[] bitcast-convert(Arg_1)
//=   constant.745 = u32[] constant(2147483647)
//=   and.7 = u32[] and(bitcast-convert, constant.745)
//=   constant.747 = u32[] constant(0)
//=   compare.66 = pred[] compare(and.7, constant.747), direction=EQ
//=   bitcast-convert.1 = u32[] bitcast-convert(Arg_1)
//=   constant.746 = u32[] constant(2147483648)
//=   and.10 = u32[] and(bitcast-convert.1, constant.746)
//=   constant.748 = u32[] constant(1)
//=   or.14 = u32[] or(and.10, constant.748)
//=   and.8 = u32[] and(bitcast-convert, constant.746)
//=   compare.64 = pred[] compare(and.8, and.10), direction=NE
//=   and.9 = u32[] and(bitcast-convert.1, constant.745)
//=   compare.65 = pred[] compare(and.7, and.9), direction=GT
//=   or.13 = pred[] or(compare.64, compare.65)
//=   subtract.49 = u32[] subtract(and.7, constant.748)
//=   add.594 = u32[] add(and.7, constant.748)
//=   select.54 = u32[] select(or.13, subtract.49, add.594)
//=   or.15 = u32[] or(and.8, select.54)
//=   select.55 = u32[] select(compare.66, or.14, or.15)
//=   bitcast-convert.2 = f32[] bitcast-convert(select.55)
//=   select.56 = f32[] select(compare.67, Arg_1, bitcast-convert.2)
//=   select.57 = f32[] select(or.16, add.595, select.56)
//=   broadcast = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   subtract.48 = f32[2]{0} subtract(Arg_0, broadcast)
//=   broadcast.1 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   multiply.628 = f32[2]{0} multiply(subtract.48, broadcast.1)
//=   broadcast.2 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   divide.223 = f32[2]{0} divide(multiply.628, broadcast.2)
//=   broadcast.3 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   maximum.1 = f32[2]{0} maximum(divide.223, broadcast.3)
//=   broadcast.4 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   minimum = f32[2]{0} minimum(maximum.1, broadcast.4)
//=   broadcast.5 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   power.101 = f32[2]{0} power(minimum, broadcast.5)
//=   broadcast.6 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   remainder = f32[2]{0} remainder(power.101, broadcast.6)
//=   broadcast.7 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   atan2 = f32[2]{0} atan2(remainder, broadcast.7)
//=   broadcast.8 = f32[2]{0} broadcast(Arg_1), dimensions={}
//=   complex = c64[2]{0} complex(atan2, broadcast.8)
//=   convert = f64[2]{0} convert(Arg_0)
//=   convert.1 = f64[2]{0} convert(Arg_0)
//=   map = f64[2]{0} map(convert, convert.1), dimensions={0}, to_apply=zeta
//=   convert.2 = f32[2]{0} convert(map)
//=   convert.3 = f64[2]{0} convert(convert.2)
//=   convert.4 = f64[2]{0} convert(Arg_0)
//=   map.1 = f64[2]{0} map(convert.3, convert.4), dimensions={0}, to_apply=polygamma
//=   convert.5 = f32[2]{0} convert(map.1)
//=   ROOT tuple = (c64[2]{0}, f32[2]{0}) tuple(complex, convert.5)
//= }
// -----
func.func @main(%x: tensor<2xi32>, %s: tensor<i32>) -> tensor<2xi32> {
  %0 = "chlo.broadcast_and"(%x, %s) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %1 = "chlo.broadcast_or"(%0, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %2 = "chlo.broadcast_xor"(%1, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %3 = "chlo.broadcast_shift_left"(%2, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %4 = "chlo.broadcast_shift_right_arithmetic"(%3, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %5 = "chlo.broadcast_shift_right_logical"(%4, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %5 : tensor<2xi32>
}
//= HloModule main, entry_computation_layout={(s32[2]{0}, s32[])->s32[2]{0}}
//= ENTRY main {
//=   broadcast = s32[2]{0} broadcast(Arg_1), dimensions={}
//=   and = s32[2]{0} and(Arg_0, broadcast)
//=   or = s32[2]{0} or(and, Arg_0)
//=   xor = s32[2]{0} xor(or, Arg_0)
//=   shift-left = s32[2]{0} shift-left(xor, Arg_0)
//=   shift-right-arithmetic = s32[2]{0} shift-right-arithmetic(shift-left, Arg_0)
//=   ROOT shift-right-logical = s32[2]{0} shift-right-logical(shift-right-arithmetic, Arg_0)
//= }
// -----
func.func @main(%x: tensor<4x3xf32>, %w: tensor<2x3x5xf32>, %n: tensor<2xi32>) -> tensor<4x5xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<4x3xf32>, tensor<2x3x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
//= HloModule main, entry_computation_layout={(f32[4,3]{1,0}, f32[2,3,5]{2,1,0}, s32[2]{0})->f32[4,5]{1,0}}
//= ENTRY main {
//=   ROOT ragged-dot = f32[4,5]{1,0} ragged-dot(Arg_0, Arg_1, Arg_2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
//= }
// -----
func.func @main(%x: tensor<4xi32>, %c: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
  %0:2 = chlo.scan(%x) inits(%c) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<4xi32>, tensor<i32>
}
//= HloModule main, entry_computation_layout={(s32[4]{0}, s32[])->(s32[4]{0}, s32[])}
//= region_0 {
//=   add = s32[] add(Arg_0, Arg_1)
//=   ROOT tuple = (s32[], s32[]) tuple(add, add)
//= }
//= ENTRY main {
//=   scan = (s32[4]{0}, s32[]) scan(Arg_0.1, Arg_1.1), dimensions={0}, num_carries=1, is_associative=false, to_apply=region_0
//=   get-tuple-element = s32[4]{0} get-tuple-element(scan), index=0
//=   get-tuple-element.1 = s32[] get-tuple-element(scan), index=1
//=   ROOT tuple.1 = (s32[4]{0}, s32[]) tuple(get-tuple-element, get-tuple-element.1)
//= }
