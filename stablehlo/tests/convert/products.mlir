func.func @main(%x: tensor<4x2x3xbf16>, %y: tensor<4x3x5xbf16>, %a: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<4x2x5xf32>, tensor<2xf32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, DEFAULT] : (tensor<4x2x3xbf16>, tensor<4x3x5xbf16>) -> tensor<4x2x5xf32>
  %1 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<4x2x5xf32>, tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(bf16[4,2,3]{2,1,0}, bf16[4,3,5]{2,1,0}, f32[2,3]{1,0}, f32[3]{0})->(f32[4,2,5]{2,1,0}, f32[2]{0})}
//= ENTRY main {
//=   dot = f32[4,2,5]{2,1,0} dot(Arg_0, Arg_1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, operand_precision={high,default}
//=   dot.1 = f32[2]{0} dot(Arg_2, Arg_3), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//=   ROOT tuple = (f32[4,2,5]{2,1,0}, f32[2]{0}) tuple(dot, dot.1)
//= }
// -----
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[3,2]{1,0})->f32[2,2]{1,0}}
//= ENTRY main {
//=   ROOT dot = f32[2,2]{1,0} dot(Arg_0, Arg_1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_bf16_bf16_f32_x3
//= }
// -----
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 0], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32>
  return %0 : tensor<1x2x2x5xf32>
}
//= HloModule main, entry_computation_layout={(f32[1,4,4,2]{3,2,1,0}, f32[3,3,2,5]{3,2,1,0})->f32[1,2,2,5]{3,2,1,0}}
//= ENTRY main {
//=   ROOT convolution = f32[1,2,2,5]{3,2,1,0} convolution(Arg_0, Arg_1), window={size=3x3 stride=2x2 pad=1_0x0_1}, dim_labels=b01f_01io->b01f
//= }
// -----
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.einsum %x, %y, config = "ab,bc->ca" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<3x2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[3,4]{1,0})->(f32[4,2]{0,1}, f32[3,2]{0,1})}
//= ENTRY main {
//=   dot = f32[2,4]{1,0} dot(Arg_0, Arg_1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//=   transpose = f32[4,2]{0,1} transpose(dot), dimensions={1,0}
//=   transpose.1 = f32[3,2]{0,1} transpose(Arg_0), dimensions={1,0}
//=   ROOT tuple = (f32[4,2]{0,1}, f32[3,2]{0,1}) tuple(transpose, transpose.1)
//= }
// -----
// A label of one operand that the result lacks is summed over.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.einsum %x, %y, config = "ab,c->a" : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[4]{0})->f32[2]{0}}
//= region_0 {
//=   ROOT add = f32[] add(Arg_0, Arg_1)
//= }
//= region_1 {
//=   ROOT add.1 = f32[] add(Arg_0.1, Arg_1.1)
//= }
//= ENTRY main {
//=   constant = f32[] constant(0)
//=   reduce = f32[2]{0} reduce(Arg_0.2, constant), dimensions={1}, to_apply=region_0
//=   constant.1 = f32[] constant(0)
//=   reduce.1 = f32[] reduce(Arg_1.2, constant.1), dimensions={0}, to_apply=region_1
//=   ROOT dot = f32[2]{0} dot(reduce, reduce.1), lhs_contracting_dims={}, rhs_contracting_dims={}
//= }
// -----
func.func @main(%x: tensor<4x8xf32>, %m: tensor<2x3x3xf32>, %b: tensor<2x3x1xf32>) -> (tensor<4x5xcomplex<f32>>, tensor<2x3x3xf32>, tensor<2x3x1xf32>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>
  %1 = stablehlo.cholesky %m, lower = true : tensor<2x3x3xf32>
  %2 = "stablehlo.triangular_solve"(%1, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x3x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  return %0, %1, %2 : tensor<4x5xcomplex<f32>>, tensor<2x3x3xf32>, tensor<2x3x1xf32>
}
//= HloModule main, entry_computation_layout={(f32[4,8]{1,0}, f32[2,3,3]{2,1,0}, f32[2,3,1]{2,1,0})->(c64[4,5]{1,0}, f32[2,3,3]{2,1,0}, f32[2,3,1]{2,1,0})}
//= ENTRY main {
//=   fft = c64[4,5]{1,0} fft(Arg_0), fft_type=RFFT, fft_length={8}
//=   cholesky = f32[2,3,3]{2,1,0} cholesky(Arg_1), lower=true
//=   triangular-solve = f32[2,3,1]{2,1,0} triangular-solve(cholesky, Arg_2), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
//=   ROOT tuple = (c64[4,5]{1,0}, f32[2,3,3]{2,1,0}, f32[2,3,1]{2,1,0}) tuple(fft, cholesky, triangular-solve)
//= }
// -----
func.func @main(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.5 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %1 = "stablehlo.batch_norm_inference"(%x, %s, %s, %0#1, %0#2) {epsilon = 0.5 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %0#1, %0#2, %1) {epsilon = 0.5 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %1, %2#0 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, f32[3]{0})->(f32[2,3]{1,0}, f32[2,3]{1,0}, f32[2,3]{1,0})}
//= ENTRY main {
//=   batch-norm-training = (f32[2,3]{1,0}, f32[3]{0}, f32[3]{0}) batch-norm-training(Arg_0, Arg_1, Arg_1), epsilon=0.5, feature_index=1
//=   get-tuple-element.1 = f32[3]{0} get-tuple-element(batch-norm-training), index=1
//=   get-tuple-element.2 = f32[3]{0} get-tuple-element(batch-norm-training), index=2
//=   batch-norm-inference = f32[2,3]{1,0} batch-norm-inference(Arg_0, Arg_1, Arg_1, get-tuple-element.1, get-tuple-element.2), epsilon=0.5, feature_index=1
//=   batch-norm-grad = (f32[2,3]{1,0}, f32[3]{0}, f32[3]{0}) batch-norm-grad(Arg_0, Arg_1, get-tuple-element.1, get-tuple-element.2, batch-norm-inference), epsilon=0.5, feature_index=1
//=   get-tuple-element.4 = f32[3]{0} get-tuple-element(batch-norm-grad), index=1
//=   get-tuple-element.5 = f32[3]{0} get-tuple-element(batch-norm-grad), index=2
//=   get-tuple-element = f32[2,3]{1,0} get-tuple-element(batch-norm-training), index=0
//=   get-tuple-element.3 = f32[2,3]{1,0} get-tuple-element(batch-norm-grad), index=0
//=   ROOT tuple = (f32[2,3]{1,0}, f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(get-tuple-element, batch-norm-inference, get-tuple-element.3)
//= }
// -----
func.func @main(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<2xui64>) -> (tensor<2x3xf32>, tensor<2xui64>, tensor<4xui32>) {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1, %2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2xui64>, tensor<4xui32>
}
//= HloModule main, entry_computation_layout={(f32[], f32[], u64[2]{0})->(f32[2,3]{1,0}, u64[2]{0}, u32[4]{0})}
//= ENTRY main {
//=   constant = s64[2]{0} constant({2, 3})
//=   rng = f32[2,3]{1,0} rng(Arg_0, Arg_1), distribution=rng_uniform
//=   rng-bit-generator = (u64[2]{0}, u32[4]{0}) rng-bit-generator(Arg_2), algorithm=rng_three_fry
//=   get-tuple-element = u64[2]{0} get-tuple-element(rng-bit-generator), index=0
//=   get-tuple-element.1 = u32[4]{0} get-tuple-element(rng-bit-generator), index=1
//=   ROOT tuple = (f32[2,3]{1,0}, u64[2]{0}, u32[4]{0}) tuple(rng, get-tuple-element, get-tuple-element.1)
//= }
// -----
// The composite of a product has its dimensions as a list; a composite with other attributes is its decomposition.
func.func @main(%x: tensor<2x2xf32>, %w: tensor<1x2x2xf32>, %sizes: tensor<1xi32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.composite "chlo.ragged_dot" %x, %w, %sizes {composite_attributes = {precision_config = ["DEFAULT", "HIGH"], ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}, decomposition = @f, version = 1 : i32} : (tensor<2x2xf32>, tensor<1x2x2xf32>, tensor<1xi32>) -> tensor<2x2xf32>
  %1 = stablehlo.composite "chlo.ragged_dot" %x, %w, %sizes {composite_attributes = {ragged_dot_dimension_numbers = [1]}, decomposition = @f, version = 1 : i32} : (tensor<2x2xf32>, tensor<1x2x2xf32>, tensor<1xi32>) -> tensor<2x2xf32>
  %2 = stablehlo.composite "chlo.erf" %x {composite_attributes = {approximate = true}, decomposition = @g, version = 1 : i32} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
func.func private @f(%x: tensor<2x2xf32>, %w: tensor<1x2x2xf32>, %sizes: tensor<1xi32>) -> tensor<2x2xf32> {
  %0 = stablehlo.reshape %w : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
func.func private @g(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  return %x : tensor<2x2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2,2]{1,0}, f32[1,2,2]{2,1,0}, s32[1]{0})->(f32[2,2]{1,0}, f32[2,2]{1,0}, f32[2,2]{1,0})}
//= f {
//=   reshape = f32[2,2]{1,0} reshape(Arg_1)
//=   ROOT dot = f32[2,2]{1,0} dot(Arg_0, reshape), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//= }
//= g {
//= }
//= ENTRY main {
//=   ragged-dot = f32[2,2]{1,0} ragged-dot(Arg_0.2, Arg_1.1, Arg_2.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}, operand_precision={default,high}
//=   call = f32[2,2]{1,0} call(Arg_0.2, Arg_1.1, Arg_2.1), to_apply=f, is_composite=true, frontend_attributes={composite.attributes={ragged_dot_dimension_numbers = [1]},composite.name="chlo.ragged_dot",composite.version="1"}
//=   call.1 = f32[2,2]{1,0} call(Arg_0.2), to_apply=g, is_composite=true, frontend_attributes={composite.attributes={approximate = true},composite.name="chlo.erf",composite.version="1"}
//=   ROOT tuple = (f32[2,2]{1,0}, f32[2,2]{1,0}, f32[2,2]{1,0}) tuple(ragged-dot, call, call.1)
//= }
