// A splat is a scalar that is broadcast.
func.func @main() -> (tensor<2xf32>, tensor<2xi8>, tensor<f32>) {
  %0 = stablehlo.constant dense<1.5> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1, -2]> : tensor<2xi8>
  %2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xi8>, tensor<f32>
}
//= HloModule main, entry_computation_layout={()->(f32[2]{0}, s8[2]{0}, f32[])}
//= ENTRY main {
//=   constant = f32[] constant(1.5)
//=   broadcast = f32[2]{0} broadcast(constant), dimensions={}
//=   constant.1 = s8[2]{0} constant({1, -2})
//=   constant.2 = f32[] constant(inf)
//=   ROOT tuple = (f32[2]{0}, s8[2]{0}, f32[]) tuple(broadcast, constant.1, constant.2)
//= }
// -----
// New dimensions of size 1 are a reshape; dimensions of size 1 that grow are removed first.
func.func @main(%s: tensor<f32>, %x: tensor<3xf32>, %y: tensor<2x1xf32>) -> (tensor<2xf32>, tensor<2x3xf32>, tensor<3x1xf32>, tensor<2x4xf32>, tensor<5x3xf32>, tensor<3xf32>) {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
  %3 = stablehlo.broadcast_in_dim %y, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.broadcast %x, sizes = [5] : (tensor<3xf32>) -> tensor<5x3xf32>
  %5 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2xf32>, tensor<2x3xf32>, tensor<3x1xf32>, tensor<2x4xf32>, tensor<5x3xf32>, tensor<3xf32>
}
//= HloModule main, entry_computation_layout={(f32[], f32[3]{0}, f32[2,1]{1,0})->(f32[2]{0}, f32[2,3]{1,0}, f32[3,1]{1,0}, f32[2,4]{1,0}, f32[5,3]{1,0}, /*index=5*/f32[3]{0})}
//= ENTRY main {
//=   broadcast = f32[2]{0} broadcast(Arg_0), dimensions={}
//=   broadcast.1 = f32[2,3]{1,0} broadcast(Arg_1), dimensions={1}
//=   reshape = f32[3,1]{1,0} reshape(Arg_1)
//=   reshape.1 = f32[2]{0} reshape(Arg_2)
//=   broadcast.2 = f32[2,4]{1,0} broadcast(reshape.1), dimensions={0}
//=   broadcast.3 = f32[5,3]{1,0} broadcast(Arg_1), dimensions={1}
//=   ROOT tuple = (f32[2]{0}, f32[2,3]{1,0}, f32[3,1]{1,0}, f32[2,4]{1,0}, f32[5,3]{1,0}, /*index=5*/f32[3]{0}) tuple(broadcast, broadcast.1, reshape, broadcast.2, broadcast.3, Arg_1)
//= }
// -----
// Dimensions in another order are not a reshape, even if the number of elements is the same.
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0})->f32[3,2]{1,0}}
//= ENTRY main {
//=   ROOT broadcast = f32[3,2]{1,0} broadcast(Arg_0), dimensions={1,0}
//= }
// -----
func.func @main(%x: tensor<2x3xf32>, %v: tensor<f32>, %i: tensor<i32>) -> (tensor<3x2xf32>, tensor<1x2xf32>, tensor<5x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.reverse %2, dims = [0] : tensor<3x2xf32>
  %4 = stablehlo.slice %x [0:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %5 = stablehlo.pad %x, %v, low = [1, 0], high = [1, -1], interior = [1, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x4xf32>
  %6 = stablehlo.dynamic_slice %5, %i, %i, sizes = [3, 3] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x3xf32>
  %7 = stablehlo.concatenate %6, %x, dim = 0 : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %8 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %9 = stablehlo.dynamic_update_slice %8, %x, %i, %i : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %3, %4, %7, %9 : tensor<3x2xf32>, tensor<1x2xf32>, tensor<5x3xf32>, tensor<2x3xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[], s32[])->(f32[3,2]{0,1}, f32[1,2]{1,0}, f32[5,3]{1,0}, f32[2,3]{1,0})}
//= ENTRY main {
//=   reshape = f32[6]{0} reshape(Arg_0)
//=   reshape.1 = f32[2,3]{1,0} reshape(reshape)
//=   transpose = f32[3,2]{0,1} transpose(reshape.1), dimensions={1,0}
//=   reverse = f32[3,2]{0,1} reverse(transpose), dimensions={0}
//=   slice = f32[1,2]{1,0} slice(Arg_0), slice={[0:1:1], [0:3:2]}
//=   pad = f32[5,4]{1,0} pad(Arg_0, Arg_1), padding=1_1_1x0_-1_1
//=   dynamic-slice = f32[3,3]{1,0} dynamic-slice(pad, Arg_2, Arg_2), dynamic_slice_sizes={3,3}
//=   concatenate = f32[5,3]{1,0} concatenate(dynamic-slice, Arg_0), dimensions={0}
//=   iota = f32[2,3]{1,0} iota(), iota_dimension=1
//=   dynamic-update-slice = f32[2,3]{1,0} dynamic-update-slice(iota, Arg_0, Arg_2, Arg_2)
//=   ROOT tuple = (f32[3,2]{0,1}, f32[1,2]{1,0}, f32[5,3]{1,0}, f32[2,3]{1,0}) tuple(reverse, slice, concatenate, dynamic-update-slice)
//= }
// -----
// The real part of a complex number is converted to a real type.
func.func @main(%x: tensor<2xf32>, %z: tensor<2xcomplex<f32>>) -> (tensor<2xi8>, tensor<2xf32>, tensor<2xf64>, tensor<2x4xi8>, tensor<2xf32>) {
  %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xi8>
  %1 = stablehlo.convert %x : tensor<2xf32>
  %2 = stablehlo.convert %z : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  %3 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x4xi8>
  %4 = stablehlo.reduce_precision %x, format = e5m10 : tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<2xi8>, tensor<2xf32>, tensor<2xf64>, tensor<2x4xi8>, tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, c64[2]{0})->(s8[2]{0}, f32[2]{0}, f64[2]{0}, s8[2,4]{1,0}, f32[2]{0})}
//= ENTRY main {
//=   convert = s8[2]{0} convert(Arg_0)
//=   real = f32[2]{0} real(Arg_1)
//=   convert.1 = f64[2]{0} convert(real)
//=   bitcast-convert = s8[2,4]{1,0} bitcast-convert(Arg_0)
//=   reduce-precision = f32[2]{0} reduce-precision(Arg_0), exponent_bits=5, mantissa_bits=10
//=   ROOT tuple = (s8[2]{0}, f32[2]{0}, f64[2]{0}, s8[2,4]{1,0}, f32[2]{0}) tuple(convert, Arg_0, convert.1, bitcast-convert, reduce-precision)
//= }
// -----
func.func @main(%x: tensor<2xf32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
  return %1 : tensor<i32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0}, s32[])->s32[]}
//= ENTRY main {
//=   tuple = (f32[2]{0}, s32[]) tuple(Arg_0, Arg_1)
//=   ROOT get-tuple-element = s32[] get-tuple-element(tuple), index=1
//= }
// -----
func.func @main(%x: tensor<3x2xf32>, %i: tensor<2xi32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %0 = "stablehlo.gather"(%x, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>, indices_are_sorted = true
  } : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %1 = "stablehlo.torch_index_select"(%x, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %2 = stablehlo.slice %1 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
  %3 = stablehlo.reshape %2 : (tensor<1x2xf32>) -> tensor<2xf32>
  return %0, %3 : tensor<2x2xf32>, tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[3,2]{1,0}, s32[2]{0})->(f32[2,2]{1,0}, f32[2]{0})}
//= ENTRY main {
//=   gather = f32[2,2]{1,0} gather(Arg_0, Arg_1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}, indices_are_sorted=true
//=   gather.1 = f32[2,2]{1,0} gather(Arg_0, Arg_1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
//=   slice = f32[1,2]{1,0} slice(gather.1), slice={[0:1], [0:2]}
//=   reshape = f32[2]{0} reshape(slice)
//=   ROOT tuple = (f32[2,2]{1,0}, f32[2]{0}) tuple(gather, reshape)
//= }
// -----
// A truth value is one bit of a larger element.
func.func @main(%x: tensor<3x8xi1>, %y: tensor<2xi32>) -> (tensor<3xi8>, tensor<2x32xi1>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<3x8xi1>) -> tensor<3xi8>
  %1 = stablehlo.bitcast_convert %y : (tensor<2xi32>) -> tensor<2x32xi1>
  return %0, %1 : tensor<3xi8>, tensor<2x32xi1>
}
//= HloModule main, entry_computation_layout={(pred[3,8]{1,0}, s32[2]{0})->(s8[3]{0}, pred[2,32]{1,0})}
//= ENTRY main {
//=   convert = u1[3,8]{1,0} convert(Arg_0)
//=   bitcast-convert = s8[3]{0} bitcast-convert(convert)
//=   bitcast-convert.1 = u1[2,32]{1,0} bitcast-convert(Arg_1)
//=   convert.1 = pred[2,32]{1,0} convert(bitcast-convert.1)
//=   ROOT tuple = (s8[3]{0}, pred[2,32]{1,0}) tuple(bitcast-convert, convert.1)
//= }
// -----
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mhlo.copy %x {mhlo.sharding = "{devices=[2]<=[2]}"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
//= HloModule main, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
//= ENTRY main {
//=   ROOT copy = f32[4]{0} copy(Arg_0), sharding={devices=[2]<=[2]}
//= }
