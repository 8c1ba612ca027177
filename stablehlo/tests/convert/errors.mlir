func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.ad"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0922]: `stablehlo.ad` has no conversion to HLO
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^next(%x : tensor<2xf32>)
^next(%y: tensor<2xf32>):
  return %y : tensor<2xf32>
}
//= error[E0922]: `cf.br` has no conversion to HLO
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensor.empty() : tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0922]: `tensor.empty` has no conversion to HLO
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "linalg.matmul"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0922]: `linalg.matmul` has no conversion to HLO
// -----
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0921]: operands of `add` are f32[2] and f32[3], with different dimensions (elementwise_same_dims) [E0301]
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.negate"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
//= error[E0926]: the result of `stablehlo.negate` is stated as f32[3], but is f32[2]
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0926]: `stablehlo.add` has 1 operand, expected 2
// -----
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.transpose"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
//= error[E0907]: `stablehlo.transpose` has no attribute `permutation`
// -----
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.transpose"(%x) {permutation = "no"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
//= error[E0907]: `permutation` of `stablehlo.transpose` must be a list of integers
// -----
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<i1> {
  %0 = "stablehlo.compare"(%x, %y) {comparison_direction = #stablehlo<comparison_direction LX>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
//= error[E0907]: `LX` is not a value of `comparison_direction` of `stablehlo.compare`
// -----
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
//= error[E0923]: `@main` calls itself, which HLO does not allow
// -----
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
//= error[E0923]: `func.call` names `@f`, which is not a function
// -----
func.func @a(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @b(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
//= error[E0923]: the program has 2 public functions and no `@main`
// -----
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
//= error[E0925]: argument 0 of `@main` has an unknown size: f32[?]
// -----
func.func @main(%n: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
//= error[E0925]: operand 0 of `stablehlo.dynamic_iota` gives sizes, but is not known
// -----
func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<2xf32> {
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.multiply %a, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0920]: a region of `stablehlo.map` uses a value from outside that is not a constant
// -----
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2> : tensor<i64>
  %three = stablehlo.constant dense<3> : tensor<i64>
  %p = stablehlo.compare EQ, %two, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p, %two) {error_message = "expected 3, found {0}", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
  return %x : tensor<4xf32>
}
//= error[E0925]: the shapes do not fit: expected 3, found 2
// -----
func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[3]0,1}"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
//= error[E0907]: `mhlo.sharding`: the tiling has 3 tiles, but 2 devices
// -----
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %x <@none, [{}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
//= error[E0907]: `@none` is not a mesh
// -----
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0920]: `stablehlo.collective_reduce` with roots known only at run time
// -----
func.func @main(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.unary_einsum %x, config = "aa->a" : (tensor<2x2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= error[E0920]: `aa->a` is not a sum of products with one letter for each dimension
// -----
func.func @main(%p: tensor<i1>) -> tensor<i1> {
  stablehlo.custom_call @shape_assertion(%p) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return %p : tensor<i1>
}
//= error[E0925]: the condition of `shape_assertion` depends on data: it is not known when the program is converted
// -----
func.func @main(%p: tensor<i1>) -> tensor<i1> {
  return %p : tensor<i1>
}
func.func @main(%p: tensor<i1>) -> tensor<i1> {
  return %p : tensor<i1>
}
//= error[E0923]: two functions have the name `@main`
