// Sizes that are known when the program is converted.
func.func @main(%x: tensor<2x3xf32>, %v: tensor<f32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.constant dense<2> : tensor<1xi32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %4 = stablehlo.dynamic_broadcast_in_dim %v, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %5 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  %6 = stablehlo.dynamic_reshape %x, %3 : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %z = stablehlo.constant dense<0> : tensor<1xi32>
  %7 = stablehlo.dynamic_pad %5, %v, %2, %z, %z : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %8 = stablehlo.real_dynamic_slice %7, %z, %1, %2 : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %4, %5, %6, %8 : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[])->(f32[3,2]{1,0}, f32[3]{0}, f32[3,2]{1,0}, f32[2]{0})}
//= ENTRY main {
//=   constant = s32[] constant(3)
//=   reshape = s32[1]{0} reshape(constant)
//=   constant.1 = s32[1]{0} constant({2})
//=   concatenate = s32[2]{0} concatenate(reshape, constant.1), dimensions={0}
//=   constant.2 = s32[1]{0} constant({0})
//=   broadcast = f32[3,2]{1,0} broadcast(Arg_1), dimensions={}
//=   iota = f32[3]{0} iota(), iota_dimension=0
//=   reshape.1 = f32[3,2]{1,0} reshape(Arg_0)
//=   pad = f32[5]{0} pad(iota, Arg_1), padding=2_0
//=   slice = f32[2]{0} slice(pad), slice={[0:3:2]}
//=   ROOT tuple = (f32[3,2]{1,0}, f32[3]{0}, f32[3,2]{1,0}, f32[2]{0}) tuple(broadcast, iota, reshape.1, slice)
//= }
// -----
func.func @main(%x: tensor<3x2xf32>, %i: tensor<2xi32>, %a: tensor<1x4x1xf32>, %k: tensor<2x1x1xf32>) -> (tensor<2x2xf32>, tensor<1x4x1xf32>) {
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
  } : (tensor<3x2xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  %pad = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %1 = "stablehlo.dynamic_conv"(%a, %k, %pad) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x4x1xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<1x4x1xf32>
}
//= HloModule main, entry_computation_layout={(f32[3,2]{1,0}, s32[2]{0}, f32[1,4,1]{2,1,0}, f32[2,1,1]{2,1,0})->(f32[2,2]{1,0}, f32[1,4,1]{2,1,0})}
//= ENTRY main {
//=   constant = s32[2]{0} constant({1, 2})
//=   constant.1 = s32[1,2]{1,0} constant({ { 1, 0 } })
//=   gather = f32[2,2]{1,0} gather(Arg_0, Arg_1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
//=   convolution = f32[1,4,1]{2,1,0} convolution(Arg_2, Arg_3), window={size=2 pad=1_0}, dim_labels=b0f_0io->b0f
//=   ROOT tuple = (f32[2,2]{1,0}, f32[1,4,1]{2,1,0}) tuple(gather, convolution)
//= }
// -----
// Bounded sizes remain dynamic.
func.func @main(%x: tensor<?x2xf32, #stablehlo.bounds<4, ?>>, %n: tensor<i32>, %s: tensor<1xi32>) -> (tensor<i32>, tensor<4x2xf32>, tensor<?xf32, #stablehlo.bounds<8>>) {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
  %1 = stablehlo.add %x, %x : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %2 = stablehlo.set_dimension_size %1, %four, dim = 0 : (tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<i32>) -> tensor<4x2xf32>
  %3 = stablehlo.set_dimension_size %2, %n, dim = 0 : (tensor<4x2xf32>, tensor<i32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  %4 = stablehlo.dynamic_reshape %3, %s : (tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<1xi32>) -> tensor<?xf32, #stablehlo.bounds<8>>
  return %0, %2, %4 : tensor<i32>, tensor<4x2xf32>, tensor<?xf32, #stablehlo.bounds<8>>
}
//= HloModule main, entry_computation_layout={(f32[<=4,2]{1,0}, s32[], s32[1]{0})->(s32[], f32[4,2]{1,0}, f32[<=8]{0})}
//= ENTRY main {
//=   Arg_0 = f32[<=4,2]{1,0} parameter(0)
//=   get-dimension-size = s32[] get-dimension-size(Arg_0), dimensions={0}
//=   add = f32[<=4,2]{1,0} add(Arg_0, Arg_0)
//=   constant = s32[] constant(4)
//=   set-dimension-size = f32[4,2]{1,0} set-dimension-size(add, constant), dimensions={0}
//=   set-dimension-size.1 = f32[<=4,2]{1,0} set-dimension-size(set-dimension-size, Arg_1), dimensions={0}
//=   slice = s32[1]{0} slice(Arg_2), slice={[0:1]}
//=   reshape = s32[] reshape(slice)
//=   dynamic-reshape = f32[<=8]{0} dynamic-reshape(set-dimension-size.1, reshape)
//=   ROOT tuple = (s32[], f32[4,2]{1,0}, f32[<=8]{0}) tuple(get-dimension-size, set-dimension-size, dynamic-reshape)
//= }
// -----
// A function is converted for each size.
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %n = stablehlo.constant dense<2> : tensor<i32>
  %m = stablehlo.constant dense<3> : tensor<i32>
  %0 = call @ones(%n, %x) : (tensor<i32>, tensor<2xf32>) -> tensor<?xf32>
  %1 = call @ones(%m, %y) : (tensor<i32>, tensor<3xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
func.func private @ones(%n: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.dynamic_broadcast_in_dim %1, %0, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %3 = stablehlo.add %x, %2 : tensor<?xf32>
  return %3 : tensor<?xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, f32[3]{0})->(f32[2]{0}, f32[3]{0})}
//= ones {
//=   reshape = s32[1]{0} reshape(Arg_0)
//=   constant = f32[] constant(1)
//=   broadcast = f32[2]{0} broadcast(constant), dimensions={}
//=   ROOT add = f32[2]{0} add(Arg_1, broadcast)
//= }
//= ones.1 {
//=   reshape.1 = s32[1]{0} reshape(Arg_0.1)
//=   constant.1 = f32[] constant(1)
//=   broadcast.1 = f32[3]{0} broadcast(constant.1), dimensions={}
//=   ROOT add.1 = f32[3]{0} add(Arg_1.1, broadcast.1)
//= }
//= ENTRY main {
//=   constant.2 = s32[] constant(2)
//=   call = f32[2]{0} call(constant.2, Arg_0.2), to_apply=ones
//=   constant.3 = s32[] constant(3)
//=   call.1 = f32[3]{0} call(constant.3, Arg_1.2), to_apply=ones.1
//=   ROOT tuple = (f32[2]{0}, f32[3]{0}) tuple(call, call.1)
//= }
// -----
// The dialects that compute shapes.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %0 = "shape.shape_of"(%x) : (tensor<2x3xf32>) -> tensor<2xindex>
  %1 = "shape.shape_of"(%y) : (tensor<3xf32>) -> tensor<1xindex>
  %w = "shape.cstr_broadcastable"(%0, %1) : (tensor<2xindex>, tensor<1xindex>) -> !shape.witness
  %2 = "shape.assuming"(%w) ({
    %3 = "shape.broadcast"(%0, %1) : (tensor<2xindex>, tensor<1xindex>) -> tensor<2xindex>
    %4 = stablehlo.dynamic_broadcast_in_dim %y, %3, dims = [1] : (tensor<3xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    "shape.assuming_yield"(%4) : (tensor<?x?xf32>) -> ()
  }) : (!shape.witness) -> tensor<?x?xf32>
  %5 = "shape.num_elements"(%0) : (tensor<2xindex>) -> index
  %c = "arith.constant"() {value = 2 : index} : () -> index
  %6 = "arith.divsi"(%5, %c) : (index, index) -> index
  %d = "arith.constant"() {value = 0 : index} : () -> index
  %7 = "tensor.dim"(%x, %d) : (tensor<2x3xf32>, index) -> index
  %8 = "arith.muli"(%6, %7) : (index, index) -> index
  %9 = "tensor.from_elements"(%8) : (index) -> tensor<1xindex>
  %10 = "arith.index_cast"(%9) : (tensor<1xindex>) -> tensor<1xi32>
  %11 = stablehlo.dynamic_reshape %x, %10 : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %12 = "tensor.cast"(%11) : (tensor<?xf32>) -> tensor<6xf32>
  %13 = "tensor.cast"(%12) : (tensor<6xf32>) -> tensor<?xf32>
  return %2, %13 : tensor<?x?xf32>, tensor<?xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[3]{0})->(f32[2,3]{1,0}, f32[6]{0})}
//= ENTRY main {
//=   constant = s64[2]{0} constant({2, 3})
//=   constant.1 = s64[1]{0} constant({3})
//=   constant.2 = s64[] constant(1)
//=   constant.3 = s64[2]{0} constant({2, 3})
//=   constant.4 = s64[] constant(6)
//=   constant.5 = s64[] constant(2)
//=   constant.6 = s64[] constant(3)
//=   constant.7 = s64[] constant(0)
//=   constant.8 = s64[] constant(2)
//=   constant.9 = s64[] constant(6)
//=   constant.10 = s64[1]{0} constant({6})
//=   constant.11 = s32[1]{0} constant({6})
//=   broadcast = f32[2,3]{1,0} broadcast(Arg_1), dimensions={1}
//=   reshape = f32[6]{0} reshape(Arg_0)
//=   ROOT tuple = (f32[2,3]{1,0}, f32[6]{0}) tuple(broadcast, reshape)
//= }
// -----
func.func @main(%x: tensor<2x3xf32>, %v: tensor<f32>) -> (tensor<?x?x?xf32>, tensor<?xf32>) {
  %0 = "shape.const_shape"() {shape = dense<[2, 3]> : tensor<2xindex>} : () -> tensor<2xindex>
  %a = "shape.value_as_shape"(%0) : (tensor<2xindex>) -> !shape.shape
  %i = "shape.const_size"() {value = 1 : index} : () -> !shape.size
  %b = "shape.get_extent"(%a, %i) : (!shape.shape, !shape.size) -> !shape.size
  %c = "shape.mul"(%b, %i) : (!shape.size, !shape.size) -> !shape.size
  %d = "shape.add"(%c, %i) : (!shape.size, !shape.size) -> !shape.size
  %e = "shape.div"(%d, %i) : (!shape.size, !shape.size) -> !shape.size
  %f = "shape.size_to_index"(%e) : (!shape.size) -> index
  %g = "shape.index_to_size"(%f) : (index) -> !shape.size
  %h = "shape.from_extents"(%g) : (!shape.size) -> !shape.shape
  %w = "shape.const_witness"() {passing = true} : () -> !shape.witness
  %u = "shape.cstr_eq"(%a, %a) : (!shape.shape, !shape.shape) -> !shape.witness
  %k = "shape.concat"(%h, %a) : (!shape.shape, !shape.shape) -> !shape.shape
  %l = "shape.to_extent_tensor"(%k) : (!shape.shape) -> tensor<3xindex>
  %m = "shape.value_of"(%l) : (tensor<3xindex>) -> tensor<3xindex>
  %1 = stablehlo.dynamic_broadcast_in_dim %v, %m, dims = [] : (tensor<f32>, tensor<3xindex>) -> tensor<?x?x?xf32>
  %c0 = "arith.constant"() {value = 0 : i32} : () -> i32
  %c1 = "arith.constant"() {value = 1 : index} : () -> index
  %2 = "tensor.extract"(%l, %c1) : (tensor<3xindex>, index) -> index
  %c7 = "arith.constant"() {value = 7 : i64} : () -> i64
  %c2 = "arith.constant"() {value = 2 : i64} : () -> i64
  %3 = "arith.addi"(%c7, %c2) : (i64, i64) -> i64
  %4 = "arith.remsi"(%3, %c7) : (i64, i64) -> i64
  %5 = "arith.maxsi"(%4, %c7) : (i64, i64) -> i64
  %6 = "arith.subi"(%5, %c2) : (i64, i64) -> i64
  %7 = "arith.minsi"(%6, %c7) : (i64, i64) -> i64
  %8 = "arith.trunci"(%7) : (i64) -> i32
  %9 = "arith.extsi"(%8) : (i32) -> i64
  %10 = "tensor.from_elements"(%9) : (i64) -> tensor<1xi64>
  %11 = stablehlo.dynamic_broadcast_in_dim %v, %10, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %1, %11 : tensor<?x?x?xf32>, tensor<?xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[])->(f32[4,2,3]{2,1,0}, f32[5]{0})}
//= ENTRY main {
//=   constant = s64[2]{0} constant({2, 3})
//=   constant.1 = s64[2]{0} constant({2, 3})
//=   constant.2 = s64[] constant(1)
//=   constant.3 = s64[] constant(3)
//=   constant.4 = s64[] constant(3)
//=   constant.5 = s64[] constant(4)
//=   constant.6 = s64[] constant(4)
//=   constant.7 = s64[] constant(4)
//=   constant.8 = s64[] constant(4)
//=   constant.9 = s64[1]{0} constant({4})
//=   constant.10 = s64[] constant(1)
//=   constant.11 = s64[] constant(1)
//=   constant.12 = s64[3]{0} constant({4, 2, 3})
//=   constant.13 = s64[3]{0} constant({4, 2, 3})
//=   constant.14 = s64[3]{0} constant({4, 2, 3})
//=   constant.15 = s32[] constant(0)
//=   constant.16 = s64[] constant(1)
//=   constant.17 = s64[] constant(2)
//=   constant.18 = s64[] constant(7)
//=   constant.19 = s64[] constant(2)
//=   constant.20 = s64[] constant(9)
//=   constant.21 = s64[] constant(2)
//=   constant.22 = s64[] constant(7)
//=   constant.23 = s64[] constant(5)
//=   constant.24 = s64[] constant(5)
//=   constant.25 = s32[] constant(5)
//=   constant.26 = s64[] constant(5)
//=   constant.27 = s64[1]{0} constant({5})
//=   broadcast = f32[4,2,3]{2,1,0} broadcast(Arg_1), dimensions={}
//=   broadcast.1 = f32[5]{0} broadcast(Arg_1), dimensions={}
//=   ROOT tuple = (f32[4,2,3]{2,1,0}, f32[5]{0}) tuple(broadcast, broadcast.1)
//= }
// -----
// Arrays of `arith` that are data.
func.func @main(%i: tensor<2x2xi32>, %x: tensor<2xf32>, %p: tensor<2xi1>) -> (tensor<2x2xi64>, tensor<2xf64>, tensor<2xi1>, tensor<2x2xi32>) {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = arith.addi %i, %c : tensor<2x2xi32>
  %1 = arith.subi %0, %c : tensor<2x2xi32>
  %2 = arith.muli %1, %c : tensor<2x2xi32>
  %3 = arith.divsi %2, %c : tensor<2x2xi32>
  %4 = arith.remsi %3, %c : tensor<2x2xi32>
  %5 = arith.maxsi %4, %c : tensor<2x2xi32>
  %6 = arith.minsi %5, %c : tensor<2x2xi32>
  %7 = arith.andi %6, %c : tensor<2x2xi32>
  %8 = arith.ori %7, %c : tensor<2x2xi32>
  %9 = arith.xori %8, %c : tensor<2x2xi32>
  %10 = arith.extsi %9 : tensor<2x2xi32> to tensor<2x2xi64>
  %11 = arith.cmpi sge, %i, %c : tensor<2x2xi32>
  %12 = arith.select %11, %i, %c : tensor<2x2xi1>, tensor<2x2xi32>
  %13 = arith.addf %x, %x : tensor<2xf32>
  %14 = arith.subf %13, %x : tensor<2xf32>
  %15 = arith.mulf %14, %x : tensor<2xf32>
  %16 = arith.divf %15, %x : tensor<2xf32>
  %17 = arith.remf %16, %x : tensor<2xf32>
  %18 = arith.maximumf %17, %x : tensor<2xf32>
  %19 = arith.minimumf %18, %x : tensor<2xf32>
  %20 = arith.negf %19 : tensor<2xf32>
  %21 = arith.truncf %20 : tensor<2xf32> to tensor<2xf16>
  %22 = arith.fptosi %21 : tensor<2xf16> to tensor<2xi32>
  %23 = arith.trunci %22 : tensor<2xi32> to tensor<2xi8>
  %24 = arith.sitofp %23 : tensor<2xi8> to tensor<2xf32>
  %25 = arith.extf %24 : tensor<2xf32> to tensor<2xf64>
  %26 = arith.xori %p, %p : tensor<2xi1>
  return %10, %25, %26, %12 : tensor<2x2xi64>, tensor<2xf64>, tensor<2xi1>, tensor<2x2xi32>
}
//= HloModule main, entry_computation_layout={(s32[2,2]{1,0}, f32[2]{0}, pred[2]{0})->(s64[2,2]{1,0}, f64[2]{0}, pred[2]{0}, s32[2,2]{1,0})}
//= ENTRY main {
//=   constant = s32[2,2]{1,0} constant({ { 1, 2 }, { 3, 4 } })
//=   add = s32[2,2]{1,0} add(Arg_0, constant)
//=   subtract = s32[2,2]{1,0} subtract(add, constant)
//=   multiply = s32[2,2]{1,0} multiply(subtract, constant)
//=   divide = s32[2,2]{1,0} divide(multiply, constant)
//=   remainder = s32[2,2]{1,0} remainder(divide, constant)
//=   maximum = s32[2,2]{1,0} maximum(remainder, constant)
//=   minimum = s32[2,2]{1,0} minimum(maximum, constant)
//=   and = s32[2,2]{1,0} and(minimum, constant)
//=   or = s32[2,2]{1,0} or(and, constant)
//=   xor = s32[2,2]{1,0} xor(or, constant)
//=   convert = s64[2,2]{1,0} convert(xor)
//=   add.1 = f32[2]{0} add(Arg_1, Arg_1)
//=   subtract.1 = f32[2]{0} subtract(add.1, Arg_1)
//=   multiply.1 = f32[2]{0} multiply(subtract.1, Arg_1)
//=   divide.1 = f32[2]{0} divide(multiply.1, Arg_1)
//=   remainder.1 = f32[2]{0} remainder(divide.1, Arg_1)
//=   maximum.1 = f32[2]{0} maximum(remainder.1, Arg_1)
//=   minimum.1 = f32[2]{0} minimum(maximum.1, Arg_1)
//=   negate = f32[2]{0} negate(minimum.1)
//=   convert.1 = f16[2]{0} convert(negate)
//=   convert.2 = s32[2]{0} convert(convert.1)
//=   convert.3 = s8[2]{0} convert(convert.2)
//=   convert.4 = f32[2]{0} convert(convert.3)
//=   convert.5 = f64[2]{0} convert(convert.4)
//=   xor.1 = pred[2]{0} xor(Arg_2, Arg_2)
//=   compare = pred[2,2]{1,0} compare(Arg_0, constant), direction=GE
//=   select = s32[2,2]{1,0} select(compare, Arg_0, constant)
//=   ROOT tuple = (s64[2,2]{1,0}, f64[2]{0}, pred[2]{0}, s32[2,2]{1,0}) tuple(convert, convert.5, xor.1, select)
//= }
// -----
// Sizes in pretty form: 2 and 5 more, as 2 is less than 3.
func.func @main(%x: tensor<2x3xf32>) -> (tensor<?xi8>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %yes = arith.constant true
  %0 = tensor.dim %x, %c0 : tensor<2x3xf32>
  %1 = tensor.dim %x, %c1 : tensor<2x3xf32>
  %2 = arith.cmpi slt, %0, %1 : index
  %3 = arith.andi %2, %yes : i1
  %4 = arith.addi %0, %c5 overflow<nsw> : index
  %5 = arith.select %3, %4, %c0 : index
  %6 = tensor.from_elements %5 : tensor<1xindex>
  %7 = arith.constant 1.5 : f32
  %8 = stablehlo.dynamic_broadcast_in_dim %7, %6, dims = [] : (f32, tensor<1xindex>) -> tensor<?xf32>
  %9 = stablehlo.dynamic_iota %6, dim = 0 : (tensor<1xindex>) -> tensor<?xi8>
  return %9, %8 : tensor<?xi8>, tensor<?xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0})->(s8[7]{0}, f32[7]{0})}
//= ENTRY main {
//=   constant = s64[] constant(0)
//=   constant.1 = s64[] constant(1)
//=   constant.2 = s64[] constant(5)
//=   constant.3 = pred[] constant(true)
//=   constant.4 = s64[] constant(2)
//=   constant.5 = s64[] constant(3)
//=   constant.6 = pred[] constant(true)
//=   constant.7 = pred[] constant(true)
//=   constant.8 = s64[] constant(7)
//=   constant.9 = s64[] constant(7)
//=   constant.10 = s64[1]{0} constant({7})
//=   iota = s8[7]{0} iota(), iota_dimension=0
//=   constant.11 = f32[] constant(1.5)
//=   broadcast = f32[7]{0} broadcast(constant.11), dimensions={}
//=   ROOT tuple = (s8[7]{0}, f32[7]{0}) tuple(iota, broadcast)
//= }
// -----
func.func @main(%p: tensor<2xi1>) -> tensor<2xi1> {
  %0 = arith.addi %p, %p : tensor<2xi1>
  return %0 : tensor<2xi1>
}
//= error[E0920]: `arith.addi` of `i1`
