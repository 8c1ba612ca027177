// Programs on a grid of devices: rows of replicas, columns of partitions.
module @one_program {
  func.func @sum(%x: tensor<2xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %1 = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
    %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum], [@sum]]}
      : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %r#0, dense<[11, 22]> : tensor<2xi64>
    check.expect_eq_const %r#1, dense<[11, 22]> : tensor<2xi64>
    return
  }
}

// -----

// Two programs, one of which sends what the other one gets, twice on one channel.
module @two_programs {
  func.func @sender(%x: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
    %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %y = stablehlo.negate %x : tensor<2xf32>
    %1 = "stablehlo.send"(%y, %0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    return %1 : !stablehlo.token
  }
  func.func @receiver(%t: !stablehlo.token) -> (tensor<2xf32>, tensor<2xf32>) {
    %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %1:2 = "stablehlo.recv"(%0#1) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    return %0#0, %1#0 : tensor<2xf32>, tensor<2xf32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %t = stablehlo.after_all : !stablehlo.token
    %r:3 = "interpreter.run_parallel"(%x, %t, %t) {programs = [[@sender, @receiver]]}
      : (tensor<2xf32>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %r#1, dense<[1.0, 2.0]> : tensor<2xf32>
    check.expect_eq_const %r#2, dense<[-1.0, -2.0]> : tensor<2xf32>
    return
  }
}

// -----

module @infeed {
  func.func @first() -> tensor<2xi32> {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @second() -> tensor<2xi32> {
    %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @take(%t: !stablehlo.token) -> tensor<2xi32> {
    %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    %1:2 = "stablehlo.infeed"(%0#1) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    %2 = stablehlo.subtract %1#0, %0#0 : tensor<2xi32>
    return %2 : tensor<2xi32>
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %r = "interpreter.run_parallel"(%t) {infeed = [@first, @second], programs = [[@take]]} : (!stablehlo.token) -> tensor<2xi32>
    check.expect_eq_const %r, dense<2> : tensor<2xi32>
    return
  }
}

// -----

// A function with shardings computes with whole arrays: each device has a row and gets a row.
module @shardings {
  sdy.mesh @mesh = <["x"=2]>
  func.func @reversed(%x: tensor<2x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<2x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.reverse %x, dims = [0] : tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
  }
  func.func @main() {
    %a = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
    %b = stablehlo.constant dense<[[4, 5, 6]]> : tensor<1x3xi32>
    %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@reversed, @reversed]]}
      : (tensor<1x3xi32>, tensor<1x3xi32>) -> (tensor<1x3xi32>, tensor<1x3xi32>)
    "check.expect_eq"(%r#0, %b) : (tensor<1x3xi32>, tensor<1x3xi32>) -> ()
    "check.expect_eq"(%r#1, %a) : (tensor<1x3xi32>, tensor<1x3xi32>) -> ()
    return
  }
}
