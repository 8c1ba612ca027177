module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<4xf32>) -> tensor<8xf32>
    %1 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<2xf32>
    %4 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    %5 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %3, %4, %5 : tensor<8xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
//= HloModule m, entry_computation_layout={(f32[4]{0})->(f32[8]{0}, f32[4]{0}, f32[2]{0}, f32[4]{0}, f32[4]{0})}, replica_count=2, num_partitions=4
//= region_0 {
//=   ROOT add = f32[] add(Arg_0, Arg_1)
//= }
//= region_1 {
//=   ROOT add.1 = f32[] add(Arg_0.1, Arg_1.1)
//= }
//= ENTRY main {
//=   all-gather = f32[8]{0} all-gather(Arg_0.2), channel_id=1, replica_groups={{0,1},{2,3},{4,5},{6,7}}, dimensions={0}, use_global_device_ids=true
//=   all-reduce = f32[4]{0} all-reduce(Arg_0.2), replica_groups={{0,1}}, to_apply=region_0
//=   reduce-scatter = f32[2]{0} reduce-scatter(Arg_0.2), replica_groups={{0,1}}, dimensions={0}, to_apply=region_1
//=   collective-permute = f32[4]{0} collective-permute(Arg_0.2), source_target_pairs={{0,1},{1,0}}
//=   collective-broadcast = f32[4]{0} collective-broadcast(Arg_0.2), replica_groups={{1,0}}
//=   ROOT tuple = (f32[8]{0}, f32[4]{0}, f32[2]{0}, f32[4]{0}, f32[4]{0}) tuple(all-gather, all-reduce, reduce-scatter, collective-permute, collective-broadcast)
//= }
// -----
// HLO concatenates where it splits; the parts are then moved. A group of another size is padded with -1.
func.func @main(%x: tensor<4x2xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %1 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1, -1]]> : tensor<1x3xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<4x2xf32>
}
//= HloModule main, entry_computation_layout={(f32[4,2]{1,0})->(f32[2,4]{1,0}, f32[4,2]{1,0})}
//= ENTRY main {
//=   all-to-all = f32[4,2]{1,0} all-to-all(Arg_0), replica_groups={{0,1}}, dimensions={0}
//=   reshape = f32[2,2,2]{2,1,0} reshape(all-to-all)
//=   transpose = f32[2,2,2]{2,0,1} transpose(reshape), dimensions={1,0,2}
//=   reshape.1 = f32[2,4]{1,0} reshape(transpose)
//=   all-to-all.1 = f32[4,2]{1,0} all-to-all(Arg_0), replica_groups={{0,1}}, dimensions={0}
//=   ROOT tuple = (f32[2,4]{1,0}, f32[4,2]{1,0}) tuple(reshape.1, all-to-all.1)
//= }
// -----
// The first device of a group keeps the result, the others get zeros.
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->(f32[2]{0}, f32[2]{0})}
//= region_0 {
//=   ROOT maximum = f32[] maximum(Arg_0, Arg_1)
//= }
//= region_1 {
//=   ROOT add = f32[] add(Arg_0.1, Arg_1.1)
//= }
//= ENTRY main {
//=   constant = pred[] constant(false)
//=   replica-id = u32[] replica-id()
//=   constant.1 = u32[] constant(1)
//=   compare = pred[] compare(replica-id, constant.1), direction=EQ
//=   or = pred[] or(constant, compare)
//=   broadcast = pred[2]{0} broadcast(or), dimensions={}
//=   all-reduce = f32[2]{0} all-reduce(Arg_0.2), replica_groups={{1,0}}, to_apply=region_0
//=   constant.2 = f32[] constant(0)
//=   broadcast.1 = f32[2]{0} broadcast(constant.2), dimensions={}
//=   select = f32[2]{0} select(broadcast, all-reduce, broadcast.1)
//=   all-reduce.1 = f32[2]{0} all-reduce(Arg_0.2), replica_groups={{0,1}}, to_apply=region_1
//=   ROOT tuple = (f32[2]{0}, f32[2]{0}) tuple(select, all-reduce.1)
//= }
// -----
// An op that may run asynchronously runs at its start.
func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<2xf32>):
    %2 = "stablehlo.all_gather"(%y) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->f32[4]{0}}
//= ENTRY main {
//=   ROOT all-gather = f32[4]{0} all-gather(Arg_0), replica_groups={{0,1}}, dimensions={0}
//= }
// -----
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<ui32>, tensor<ui32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %0:3 = "stablehlo.infeed"(%t) {infeed_config = "c"} : (!stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token)
  %1 = "stablehlo.outfeed"(%0#0, %x, %0#2) {outfeed_config = "o"} : (tensor<2xf32>, tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %2 = stablehlo.after_all %1, %t : !stablehlo.token
  %3 = "stablehlo.send"(%x, %2) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %4:2 = "stablehlo.recv"(%3) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %5 = stablehlo.replica_id : tensor<ui32>
  %6 = stablehlo.partition_id : tensor<ui32>
  return %0#0, %0#1, %4#0, %5, %6 : tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<ui32>, tensor<ui32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->(f32[2]{0}, s32[], f32[2]{0}, u32[], u32[])}
//= ENTRY main {
//=   after-all = token[] after-all()
//=   infeed = ((f32[2]{0}, s32[]), token[]) infeed(after-all), infeed_config="c"
//=   get-tuple-element = (f32[2]{0}, s32[]) get-tuple-element(infeed), index=0
//=   get-tuple-element.1 = f32[2]{0} get-tuple-element(get-tuple-element), index=0
//=   tuple = (f32[2]{0}, f32[2]{0}) tuple(get-tuple-element.1, Arg_0)
//=   get-tuple-element.3 = token[] get-tuple-element(infeed), index=1
//=   outfeed = token[] outfeed(tuple, get-tuple-element.3), outfeed_shape=(f32[2]{0}, f32[2]{0}), outfeed_config="o"
//=   after-all.1 = token[] after-all(outfeed, after-all)
//=   send = (f32[2]{0}, u32[], token[]) send(Arg_0, after-all.1), channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
//=   send-done = token[] send-done(send), channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
//=   recv = (f32[2]{0}, u32[], token[]) recv(send-done), channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
//=   recv-done = (f32[2]{0}, token[]) recv-done(recv), channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
//=   get-tuple-element.5 = token[] get-tuple-element(recv-done), index=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
//=   get-tuple-element.2 = s32[] get-tuple-element(get-tuple-element), index=1
//=   get-tuple-element.4 = f32[2]{0} get-tuple-element(recv-done), index=0, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
//=   replica-id = u32[] replica-id()
//=   partition-id = u32[] partition-id()
//=   ROOT tuple.1 = (f32[2]{0}, s32[], f32[2]{0}, u32[], u32[]) tuple(get-tuple-element.1, get-tuple-element.2, get-tuple-element.4, replica-id, partition-id)
//= }
// -----
// Shardings of arguments as tiles; a manual computation as a call between changes of shapes.
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %c: tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) {
    %k = sdy.constant dense<1.0> : tensor<4x4xf32>
    %0 = sdy.sharding_constraint %a <@mesh, [{"x", "y"}, {}]> : tensor<4x4xf32>
    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<4x4xf32>
    %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<4x4xf32>
    sdy.sharding_group %2 group_id = 1 : tensor<4x4xf32>
    %3 = sdy.manual_computation(%2, %b) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%u: tensor<2x2xf32>, %v: tensor<2x4xf32>) {
      %4 = stablehlo.dot_general %u, %v, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %4 : tensor<2x4xf32>
    } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = stablehlo.add %3, %k : tensor<4x4xf32>
    return %5 : tensor<4x4xf32>
  }
}
//= HloModule m, entry_computation_layout={(f32[4,4]{1,0}, f32[4,4]{1,0}, f32[4]{0})->f32[4,4]{1,0}}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
//= xla.sdy.manual_computation_body {
//=   ROOT dot = f32[2,4]{1,0} dot(Arg_0, Arg_1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//= }
//= ENTRY main {
//=   Arg_2 = f32[4]{0} parameter(2), sharding={devices=[4]<=[4]}
//=   Arg_0.1 = f32[4,4]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>"}
//=   custom-call = f32[4,4]{1,0} custom-call(Arg_0.1), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\", \"y\"}, {}]>]>"}
//=   custom-call.1 = f32[4,4]{1,0} custom-call(custom-call), custom_call_target="Sharding", sharding={replicated}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}
//=   custom-call.2 = () custom-call(custom-call.1), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding_group_id="1 : i64"}
//=   Arg_1.1 = f32[4,4]{1,0} parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"y\"}, {}]>"}
//=   custom-call.3 = (f32[2,2]{1,0}, f32[2,4]{1,0}) custom-call(custom-call.1, Arg_1.1), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {\"y\"}]>, <@mesh, [{\"y\"}, {}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\", \"y\"}>"}
//=   get-tuple-element = f32[2,2]{1,0} get-tuple-element(custom-call.3), index=0
//=   get-tuple-element.1 = f32[2,4]{1,0} get-tuple-element(custom-call.3), index=1
//=   call = f32[2,4]{1,0} call(get-tuple-element, get-tuple-element.1), to_apply=xla.sdy.manual_computation_body, frontend_attributes={inlineable="false"}
//=   custom-call.4 = f32[4,4]{1,0} custom-call(call), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"x\", \"y\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>]>"}
//=   constant = f32[] constant(1)
//=   broadcast = f32[4,4]{1,0} broadcast(constant), dimensions={}
//=   ROOT add = f32[4,4]{1,0} add(custom-call.4, broadcast), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
//= }
// -----
// Parts of an axis, and a mesh that lists its devices.
module {
  sdy.mesh @a = <["x"=8, "y"=2]>
  sdy.mesh @b = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x":(2)2}, {"y"}]>}, %b: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@b, [{"y"}, {"x"}]>}) -> tensor<8x8xf32> {
    return %a : tensor<8x8xf32>
  }
}
//= HloModule main, entry_computation_layout={(f32[8,8]{1,0}, f32[4,4]{1,0})->f32[8,8]{1,0}}, frontend_attributes={xla.sdy.meshes={a = #sdy.mesh<["x"=8, "y"=2]>, b = #sdy.mesh<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>}}
//= ENTRY main {
//=   ROOT Arg_0 = f32[8,8]{1,0} parameter(0), sharding={devices=[2,2,4]<=[2,2,2,2]T(1,3,0,2) last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@a, [{\"x\":(2)2}, {\"y\"}]>"}
//=   Arg_1 = f32[4,4]{1,0} parameter(1), sharding={devices=[2,2]3,1,2,0}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@b, [{\"y\"}, {\"x\"}]>"}
//= }
// -----
// An argument as a result with another sharding is a copy: the argument keeps its own.
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    return %a : tensor<4xf32>
  }
}
//= HloModule main, entry_computation_layout={(f32[4]{0})->f32[4]{0}}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
//= ENTRY main {
//=   Arg_0 = f32[4]{0} parameter(0), sharding={devices=[2]<=[2]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}]>"}
//=   ROOT copy = f32[4]{0} copy(Arg_0), sharding={replicated}
//= }
// -----
// An annotated value as a result with another sharding, too.
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
//= HloModule main, entry_computation_layout={(f32[4]{0})->f32[4]{0}}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
//= ENTRY main {
//=   custom-call = f32[4]{0} custom-call(Arg_0), custom_call_target="Sharding", sharding={devices=[2]<=[2]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>"}
//=   ROOT copy = f32[4]{0} copy(custom-call), sharding={replicated}
//= }
// -----
// Of several results, some have a sharding: those of the others are unknown.
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    return %a, %a : tensor<4xf32>, tensor<4xf32>
  }
}
//= HloModule main, entry_computation_layout={(f32[4]{0})->(f32[4]{0}, f32[4]{0})}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
//= ENTRY main {
//=   ROOT tuple = (f32[4]{0}, f32[4]{0}) tuple(Arg_0, Arg_0), sharding={{unknown}, {devices=[2]<=[2]}}
//= }
// -----
// A group of replicas in all partitions: the partitions are first.
module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<2xf32>) -> tensor<8xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<2xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
//= HloModule m, entry_computation_layout={(f32[2]{0})->f32[8]{0}}, replica_count=2, num_partitions=2
//= ENTRY main {
//=   ROOT all-gather = f32[8]{0} all-gather(Arg_0), channel_id=1, replica_groups={{0,2,1,3}}, dimensions={0}, use_global_device_ids=true
//= }
// -----
// A mesh of one axis whose devices have another order, and attributes in full.
sdy.mesh @m = #sdy.mesh<["x"=2], device_ids=[1, 0]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@m, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
//= HloModule main, entry_computation_layout={(f32[8]{0})->f32[8]{0}}, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["x"=2], device_ids=[1, 0]>}}
//= ENTRY main {
//=   Arg_0 = f32[8]{0} parameter(0), sharding={devices=[2]1,0}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@m, [{\"x\"}]>"}
//=   ROOT add = f32[8]{0} add(Arg_0, Arg_0), sharding={devices=[2]1,0}
//= }
// -----
// Of two axes, whose devices have another order.
sdy.mesh @m = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {"x"}]>}) {
  return %a : tensor<8x4xf32>
}
//= HloModule main, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>}}
//= ENTRY main {
//=   Arg_0 = f32[8,4]{1,0} parameter(0), sharding={devices=[2,2]3,2,1,0}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@m, [{\"x\"}, {\"y\"}]>"}
//=   ROOT copy = f32[8,4]{1,0} copy(Arg_0), sharding={devices=[2,2]3,1,2,0}
//= }
// -----
// Shardy's collectives change how the same array is sharded.
sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@m, [{}, {}]> : tensor<8x4xf32>
  %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@m, [{"y"}, {}]> : tensor<8x4xf32>
  %2 = sdy.all_to_all [{"y"}: 0->1] %1 out_sharding=<@m, [{}, {"y"}]> : tensor<8x4xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@m, [{}, {"x"}]> : tensor<8x4xf32>
  %4 = sdy.sharded_to_unreduced [{}, {"x"}] %3 out_sharding=<@m, [{}, {}], unreduced=max{"x"}> : tensor<8x4xf32>
  %5 = sdy.all_reduce max {"x"} %4 out_sharding=<@m, [{}, {}]> : tensor<8x4xf32>
  %6 = sdy.replicated_to_unreduced {"x"} %5 out_sharding=<@m, [{}, {}], unreduced={"x"}> : tensor<8x4xf32>
  %7 = sdy.reduce_scatter [{"x"}, {}] %6 out_sharding=<@m, [{"x"}, {}]> : tensor<8x4xf32>
  %8 = sdy.data_flow_edge %7 : tensor<8x4xf32>
  %9 = sdy.func_data_flow_edge %8 : tensor<8x4xf32>
  return %9 : tensor<8x4xf32>
}
//= HloModule main, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["x"=2, "y"=2]>}}
//= ENTRY main {
//=   Arg_0 = f32[8,4]{1,0} parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@m, [{\"x\"}, {}]>"}
//=   custom-call = f32[8,4]{1,0} custom-call(Arg_0), custom_call_target="Sharding", sharding={replicated}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{}, {}]>]>"}
//=   custom-call.1 = f32[8,4]{1,0} custom-call(custom-call), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{\"y\"}, {}]>]>"}
//=   custom-call.2 = f32[8,4]{1,0} custom-call(custom-call.1), custom_call_target="Sharding", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{}, {\"y\"}]>]>"}
//=   custom-call.3 = f32[8,4]{1,0} custom-call(custom-call.2), custom_call_target="Sharding", sharding={devices=[1,2,2]<=[4] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{}, {\"x\"}]>]>"}
//=   custom-call.4 = f32[8,4]{1,0} custom-call(custom-call.3), custom_call_target="Sharding", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={unreduced, replicated}}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{}, {}], unreduced=max{\"x\"}>]>"}
//=   custom-call.5 = f32[8,4]{1,0} custom-call(custom-call.4), custom_call_target="Sharding", sharding={replicated}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{}, {}]>]>"}
//=   custom-call.6 = f32[8,4]{1,0} custom-call(custom-call.5), custom_call_target="Sharding", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={unreduced, replicated}}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{}, {}], unreduced={\"x\"}>]>"}
//=   ROOT custom-call.7 = f32[8,4]{1,0} custom-call(custom-call.6), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@m, [{\"x\"}, {}]>]>"}
//= }
// -----
// A named computation is a call, with the shardings of its arguments and results.
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"block 1">(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{}]>] (%b: tensor<8xf32>) {
    %1 = stablehlo.negate %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.named_computation<"f">(%0) (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
//= HloModule main, entry_computation_layout={(f32[8]{0})->f32[8]{0}}, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["x"=2]>}}
//= block_1 {
//=   Arg_0 = f32[8]{0} parameter(0), sharding={devices=[2]<=[2]}
//=   ROOT negate = f32[8]{0} negate(Arg_0)
//= }
//= f {
//= }
//= ENTRY main {
//=   call = f32[8]{0} call(Arg_0.2), to_apply=block_1, sharding={replicated}
//=   ROOT call.1 = f32[8]{0} call(call), to_apply=f
//= }
