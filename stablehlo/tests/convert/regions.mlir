func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %1:2 = stablehlo.reduce(%x init: %zero), (%y init: %i) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>) {
    %2 = stablehlo.maximum %a, %c : tensor<f32>
    %3 = stablehlo.minimum %b, %d : tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  return %0, %1#0, %1#1 : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>
}
//= HloModule main, entry_computation_layout={(f32[2,3]{1,0}, s32[2,3]{1,0})->(f32[2]{0}, f32[2]{0}, s32[2]{0})}
//= region_0 {
//=   ROOT add = f32[] add(Arg_0, Arg_1)
//= }
//= region_1 {
//=   maximum = f32[] maximum(Arg_0.1, Arg_2)
//=   minimum = s32[] minimum(Arg_1.1, Arg_3)
//=   ROOT tuple = (f32[], s32[]) tuple(maximum, minimum)
//= }
//= ENTRY main {
//=   constant = f32[] constant(0)
//=   reduce = f32[2]{0} reduce(Arg_0.2, constant), dimensions={1}, to_apply=region_0
//=   constant.1 = s32[] constant(0)
//=   reduce.1 = (f32[2]{0}, s32[2]{0}) reduce(Arg_0.2, Arg_1.2, constant, constant.1), dimensions={1}, to_apply=region_1
//=   get-tuple-element = f32[2]{0} get-tuple-element(reduce.1), index=0
//=   get-tuple-element.1 = s32[2]{0} get-tuple-element(reduce.1), index=1
//=   ROOT tuple.1 = (f32[2]{0}, f32[2]{0}, s32[2]{0}) tuple(reduce, get-tuple-element, get-tuple-element.1)
//= }
// -----
// A constant from outside is made again in the region.
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.multiply %a, %two : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
//= HloModule main, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
//= region_0 {
//=   constant = f32[] constant(2)
//=   ROOT multiply = f32[] multiply(Arg_0, constant)
//= }
//= ENTRY main {
//=   constant.1 = f32[] constant(2)
//=   ROOT map = f32[2]{0} map(Arg_0.1), dimensions={0}, to_apply=region_0
//= }
// -----
func.func @main(%x: tensor<5xf32>, %s: tensor<3xf32>) -> (tensor<3xf32>, tensor<5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = "stablehlo.select_and_scatter"(%x, %s, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<5xf32>, tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  return %0, %2 : tensor<3xf32>, tensor<5xf32>
}
//= HloModule main, entry_computation_layout={(f32[5]{0}, f32[3]{0})->(f32[3]{0}, f32[5]{0})}
//= region_0 {
//=   ROOT maximum = f32[] maximum(Arg_0, Arg_1)
//= }
//= region_1 {
//=   ROOT compare = pred[] compare(Arg_0.1, Arg_1.1), direction=GE
//= }
//= region_2 {
//=   ROOT add = f32[] add(Arg_0.2, Arg_1.2)
//= }
//= ENTRY main {
//=   constant = f32[] constant(0)
//=   reduce-window = f32[3]{0} reduce-window(Arg_0.3, constant), window={size=3 stride=2 pad=1_1}, to_apply=region_0
//=   select-and-scatter = f32[5]{0} select-and-scatter(Arg_0.3, Arg_1.3, constant), window={size=3 stride=2 pad=1_1}, select=region_1, scatter=region_2
//=   ROOT tuple = (f32[3]{0}, f32[5]{0}) tuple(reduce-window, select-and-scatter)
//= }
// -----
func.func @main(%x: tensor<3xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    unique_indices = true
  } : (tensor<3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<3xf32>
  %1 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {is_stable = true} : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
//= HloModule main, entry_computation_layout={(f32[3]{0}, s32[2,1]{1,0}, f32[2]{0})->(f32[3]{0}, f32[3]{0})}
//= region_0 {
//= }
//= region_1 {
//=   ROOT compare = pred[] compare(Arg_0.1, Arg_1.1), direction=LT
//= }
//= ENTRY main {
//=   scatter = f32[3]{0} scatter(Arg_0.2, Arg_1.2, Arg_2), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=region_0
//=   sort = f32[3]{0} sort(Arg_0.2), dimensions={0}, is_stable=true, to_apply=region_1
//=   ROOT tuple = (f32[3]{0}, f32[3]{0}) tuple(scatter, sort)
//= }
// -----
// The limit comes from outside: the loop carries it.
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
   cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
//= HloModule main, entry_computation_layout={(s32[])->s32[]}
//= region_0 {
//=   get-tuple-element = s32[] get-tuple-element(arg_tuple), index=0
//=   constant = s32[] constant(1)
//=   add = s32[] add(get-tuple-element, constant)
//=   get-tuple-element.1 = s32[] get-tuple-element(arg_tuple), index=1
//=   ROOT tuple = (s32[], s32[]) tuple(add, get-tuple-element.1)
//= }
//= region_1 {
//=   get-tuple-element.2 = s32[] get-tuple-element(arg_tuple.1), index=0
//=   get-tuple-element.3 = s32[] get-tuple-element(arg_tuple.1), index=1
//=   ROOT compare = pred[] compare(get-tuple-element.2, get-tuple-element.3), direction=LT
//= }
//= ENTRY main {
//=   constant.1 = s32[] constant(0)
//=   tuple.1 = (s32[], s32[]) tuple(constant.1, Arg_0)
//=   while = (s32[], s32[]) while(tuple.1), condition=region_1, body=region_0
//=   ROOT get-tuple-element.4 = s32[] get-tuple-element(while), index=0
//= }
// -----
// A loop over one value has no tuple.
func.func @main(%x: tensor<i1>) -> tensor<i1> {
  %0 = stablehlo.while(%p = %x) : tensor<i1>
   cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.not %p : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }
  return %0 : tensor<i1>
}
//= HloModule main, entry_computation_layout={(pred[])->pred[]}
//= region_0 {
//=   ROOT not = pred[] not(Arg_0)
//= }
//= region_1 {
//= }
//= ENTRY main {
//=   ROOT while = pred[] while(Arg_0.2), condition=region_1, body=region_0
//= }
// -----
func.func @main(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }, {
    %2 = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %1:2 = "stablehlo.case"(%i) ({
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }, {
    stablehlo.return %x, %x : tensor<f32>, tensor<f32>
  }) : (tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return %0, %1#0, %1#1 : tensor<f32>, tensor<f32>, tensor<f32>
}
//= HloModule main, entry_computation_layout={(pred[], s32[], f32[], f32[])->(f32[], f32[], f32[])}
//= region_0 {
//=   get-tuple-element = f32[] get-tuple-element(arg_tuple), index=0
//=   get-tuple-element.1 = f32[] get-tuple-element(arg_tuple), index=1
//=   ROOT add = f32[] add(get-tuple-element, get-tuple-element.1)
//= }
//= region_1 {
//=   ROOT constant = f32[] constant(1)
//= }
//= region_2 {
//=   get-tuple-element.2 = f32[] get-tuple-element(arg_tuple.2), index=0
//=   get-tuple-element.3 = f32[] get-tuple-element(arg_tuple.2), index=1
//=   ROOT tuple = (f32[], f32[]) tuple(get-tuple-element.2, get-tuple-element.3)
//= }
//= region_3 {
//=   ROOT tuple.1 = (f32[], f32[]) tuple(Arg_0, Arg_0)
//= }
//= ENTRY main {
//=   tuple.2 = (f32[], f32[]) tuple(Arg_2, Arg_3)
//=   tuple.3 = () tuple()
//=   conditional = f32[] conditional(Arg_0.1, tuple.2, tuple.3), true_computation=region_0, false_computation=region_1
//=   tuple.4 = (f32[], f32[]) tuple(Arg_2, Arg_3)
//=   conditional.1 = (f32[], f32[]) conditional(Arg_1, tuple.4, Arg_2), branch_computations={region_2, region_3}
//=   get-tuple-element.4 = f32[] get-tuple-element(conditional.1), index=0
//=   get-tuple-element.5 = f32[] get-tuple-element(conditional.1), index=1
//=   ROOT tuple.5 = (f32[], f32[], f32[]) tuple(conditional, get-tuple-element.4, get-tuple-element.5)
//= }
// -----
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.optimization_barrier %x : tensor<f32>
  %1:2 = stablehlo.optimization_barrier %0, %y : tensor<f32>, tensor<f32>
  return %1#0, %1#1 : tensor<f32>, tensor<f32>
}
//= HloModule main, entry_computation_layout={(f32[], f32[])->(f32[], f32[])}
//= ENTRY main {
//=   opt-barrier = f32[] opt-barrier(Arg_0)
//=   tuple = (f32[], f32[]) tuple(opt-barrier, Arg_1)
//=   opt-barrier.1 = (f32[], f32[]) opt-barrier(tuple)
//=   get-tuple-element = f32[] get-tuple-element(opt-barrier.1), index=0
//=   get-tuple-element.1 = f32[] get-tuple-element(opt-barrier.1), index=1
//=   ROOT tuple.1 = (f32[], f32[]) tuple(get-tuple-element, get-tuple-element.1)
//= }
// -----
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = func.call @double(%x) : (tensor<f32>) -> tensor<f32>
  %1 = func.call @double(%0) : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
func.func private @double(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
//= HloModule main, entry_computation_layout={(f32[])->(f32[], f32[])}
//= double {
//=   ROOT add = f32[] add(Arg_0, Arg_0)
//= }
//= ENTRY main {
//=   call = f32[] call(Arg_0.1), to_apply=double
//=   call.1 = f32[] call(call), to_apply=double
//=   ROOT tuple = (f32[], f32[]) tuple(call, call.1)
//= }
// -----
// A composite that HLO has no op for calls its decomposition; one of CHLO becomes the op.
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.double" %x {composite_attributes = {n = 1 : i64}, decomposition = @double, version = 2 : i32} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "chlo.erf" %0 {decomposition = @double} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @double(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
//= HloModule main, entry_computation_layout={(f32[])->f32[]}
//= double {
//=   ROOT add = f32[] add(Arg_0, Arg_0)
//= }
//= ENTRY main {
//=   call = f32[] call(Arg_0.1), to_apply=double, is_composite=true, frontend_attributes={composite.attributes={n = 1 : i64},composite.name="my.double",composite.version="2"}
//=   ROOT erf = f32[] erf(call)
//= }
// -----
// A value from outside, which the loop carries too, has no sharding.
module {
  sdy.mesh @mesh = <["a"=2]>
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"a"}]>]>}
     cond {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %d = stablehlo.subtract %i, %o : tensor<i32>
      %s = stablehlo.add %v, %y : tensor<4xf32>
      stablehlo.return %d, %s : tensor<i32>, tensor<4xf32>
    }
    return %r#1 : tensor<4xf32>
  }
}
//= HloModule main, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
//= region_0 {
//=   get-tuple-element = s32[] get-tuple-element(arg_tuple), index=0
//=   constant = s32[] constant(1)
//=   subtract = s32[] subtract(get-tuple-element, constant)
//=   get-tuple-element.1 = f32[4]{0} get-tuple-element(arg_tuple), index=1
//=   get-tuple-element.2 = f32[4]{0} get-tuple-element(arg_tuple), index=2
//=   add = f32[4]{0} add(get-tuple-element.1, get-tuple-element.2)
//=   ROOT tuple = (s32[], f32[4]{0}, f32[4]{0}) tuple(subtract, add, get-tuple-element.2)
//= }
//= region_1 {
//=   get-tuple-element.4 = f32[4]{0} get-tuple-element(arg_tuple.1), index=1
//=   get-tuple-element.5 = f32[4]{0} get-tuple-element(arg_tuple.1), index=2
//=   get-tuple-element.3 = s32[] get-tuple-element(arg_tuple.1), index=0
//=   constant.1 = s32[] constant(0)
//=   ROOT compare = pred[] compare(get-tuple-element.3, constant.1), direction=GT
//= }
//= ENTRY main {
//=   constant.2 = s32[] constant(3)
//=   tuple.1 = (s32[], f32[4]{0}, f32[4]{0}) tuple(constant.2, Arg_0, Arg_1)
//=   while = (s32[], f32[4]{0}, f32[4]{0}) while(tuple.1), condition=region_1, body=region_0, sharding={{replicated}, {devices=[2]<=[2]}, {unknown}}
//=   get-tuple-element.6 = s32[] get-tuple-element(while), index=0
//=   ROOT get-tuple-element.7 = f32[4]{0} get-tuple-element(while), index=1
//= }
