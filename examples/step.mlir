// A step of gradient descent for a linear model, as JAX exports a function: StableHLO.
module @jit_step {
  func.func public @main(%x: tensor<4x3xf32>, %y: tensor<4xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>) {
    %rate = stablehlo.constant dense<1.000000e-01> : tensor<3xf32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
    %1 = stablehlo.subtract %0, %y : tensor<4xf32>
    %2 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<3xf32>
    %3 = stablehlo.multiply %rate, %2 : tensor<3xf32>
    %4 = stablehlo.subtract %w, %3 : tensor<3xf32>
    return %4 : tensor<3xf32>
  }
}
