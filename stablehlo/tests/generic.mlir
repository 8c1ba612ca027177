// The ops of StableHLO that have no pretty form.
func.func @main(%x: tensor<2xf32>, %m: tensor<4x4xf32>, %f: tensor<f32>, %n: tensor<i32>, %p: tensor<i1>,
    %i: tensor<2xi32>, %a: tensor<1x4x4x1xf32>, %k: tensor<2x2x1x1xf32>, %d: tensor<2x2xi64>, %t: !stablehlo.token) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
  %1:2 = "stablehlo.all_reduce"(%x, %x) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = "stablehlo.all_to_all"(%m) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x4xf32>) -> tensor<8x2xf32>
  %3:3 = "stablehlo.batch_norm_grad"(%m, %x, %x, %x, %m) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}>
    : (tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>)
  %4 = "stablehlo.batch_norm_inference"(%m, %x, %x, %x, %x) <{epsilon = 0.5 : f32, feature_index = 0 : i64}>
    : (tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x4xf32>
  %5:3 = "stablehlo.batch_norm_training"(%m, %x, %x) <{epsilon = 0.5 : f32, feature_index = 1 : i64}>
    : (tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>)
  %6 = "stablehlo.case"(%n) ({
    stablehlo.return %f : tensor<f32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  %7 = "stablehlo.if"(%p) ({
    stablehlo.return %f : tensor<f32>
  }, {
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %8 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  %9 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  %10 = "stablehlo.dynamic_conv"(%a, %k, %d) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>}>
    : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x?x?x1xf32>
  %11 = "stablehlo.gather"(%m, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1],
    start_index_map = [0, 1]>, slice_sizes = array<i64: 2, 1>}> : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<2xf32>
  %12 = "stablehlo.dynamic_gather"(%m, %i, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0],
    collapsed_slice_dims = [1], start_index_map = [0, 1],>}> : (tensor<4x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>
  %13:2 = "stablehlo.infeed"(%t) <{infeed_config = "c", layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %14 = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %15 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}>
    : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %16:2 = "stablehlo.recv"(%15) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}>
    : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %17 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%e: tensor<f32>):
    stablehlo.return %e : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %18 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<1xf32>
  %19 = "stablehlo.reduce_window"(%m, %f) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>,
    window_strides = array<i64: 2, 2>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.maximum %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %20 = "stablehlo.scatter"(%x, %n, %f) <{indices_are_sorted = false, scatter_dimension_numbers =
    #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>, tensor<i32>, tensor<f32>) -> tensor<2xf32>
  %21 = "stablehlo.select_and_scatter"(%m, %x, %f) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.compare GE, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4x4xf32>
  %22 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %23 = "stablehlo.torch_index_select"(%m, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %24 = "stablehlo.triangular_solve"(%m, %m) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>,
    unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %25 = "stablehlo.async_start"(%x) ({
  ^bb0(%e: tensor<2xf32>):
    %r = "stablehlo.all_gather"(%e) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<2xf32>) -> tensor<4xf32>
    stablehlo.return %r : tensor<4xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  %26 = "stablehlo.async_done"(%25) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %27 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %28 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
