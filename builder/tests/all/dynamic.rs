//! Places and sizes known only at run time, and the custom calls that XLA makes of them.
use crate::support::{build, refuses_on, run, run_with_hooks};
use builder::options::Padding;
use builder::{Builder, Value};
use hlo::Literal;

#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) {
    refuses_on([[1i32, 2, 3], [4, 5, 6]], expected, make);
}

#[test]
fn places_are_limited() {
    let b = Builder::new("limited");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    let (i, j) = (b.parameter(0, "s32[]", "i"), b.parameter(1, "s32[]", "j"));
    let taken = x.dynamic_slice(&[i, j], &[1, 2]);
    assert_eq!(run(&b, taken, &["s32[] 1", "s32[] 1"]), "s32[1,2]{1,0} { { 5, 6 } }");
    assert_eq!(run(&b, taken, &["s32[] -7", "s32[] 9"]), "s32[1,2]{1,0} { { 2, 3 } }");
    let put = x.dynamic_update_slice(b.constant([[0i32, 0]]), &[i, j]);
    let expected = "s32[2,3]{1,0} { { 1, 2, 3 }, { 4, 0, 0 } }";
    assert_eq!(run(&b, put, &["s32[] 5", "s32[] 2"]), expected);
    // A scalar takes no index.
    let scalar = b.constant(3i32).dynamic_slice(&[], &[]);
    assert_eq!(run(&b, scalar, &["s32[] 0", "s32[] 0"]), "s32[] 3");
}

#[test]
fn mistakes_in_places() {
    refuses("expected 2 start indices for s32[2,3], found 1", |b, x| {
        x.dynamic_slice(&[b.constant(0i32)], &[1, 1])
    });
    refuses("expected 2 start indices for s32[2,3], found 0", |_, x| x.dynamic_slice(&[], &[1, 1]));
    refuses("a slice of size 4 does not fit in a dimension of size 3", |b, x| {
        x.dynamic_slice(&[b.constant(0i32), b.constant(0i32)], &[1, 4])
    });
    refuses("the size -1 in [-1, 1] is negative", |b, x| {
        x.dynamic_slice(&[b.constant(0i32), b.constant(0i32)], &[-1, 1])
    });
    refuses("`slice_sizes` has 1 entry, s32[2,3] has rank 2", |b, x| {
        x.dynamic_slice(&[b.constant(0i32), b.constant(0i32)], &[1])
    });
    refuses("indices are s32 and s64", |b, x| {
        x.dynamic_slice(&[b.constant(0i32), b.constant(0i64)], &[1, 1])
    });
    refuses("E0303", |b, x| x.dynamic_slice(&[b.constant([0f32, 0.5])], &[1, 1]));
    refuses("s32[3] does not hold one index per dimension of s32[2,3]", |b, x| {
        x.dynamic_slice(&[b.constant([0i32, 1, 2])], &[1, 1])
    });
    refuses("the update s32[3,1] does not fit in s32[2,3]", |b, x| {
        x.dynamic_update_slice(b.iota("s32[3,1]", 0), &[b.constant([0i32, 0])])
    });
    refuses("differ in rank", |b, x| {
        x.dynamic_update_slice(b.constant(1i32), &[b.constant([0i32, 0])])
    });
    refuses("the update is f32, the operand is s32", |b, x| {
        x.dynamic_update_slice(b.iota("f32[1,1]", 0), &[b.constant([0i32, 0])])
    });
}

/// Six elements, of which the first `n` count.
fn counted(b: &Builder) -> (Value<'_>, Literal) {
    let literal = Literal::from_slice(&[6], &[1i32, 2, 3, 4, 5, 6]);
    (b.parameter(0, "s32[<=6]", "x"), literal)
}

#[test]
fn dynamic_sizes_follow_reshapes_and_broadcasts() {
    let b = Builder::new("follow");
    let (x, _) = counted(&b);
    let shape = |v: Value<'_>| format!("{:#}", v.shape().unwrap());
    assert_eq!(shape(x.reshape(&[6, 1])), "s32[<=6,1]");
    assert_eq!(shape(x.reshape(&[1, 6])), "s32[1,<=6]");
    // Divided: the first part is dynamic, or the one that is named.
    assert_eq!(shape(x.reshape(&[2, 3])), "s32[<=2,3]");
    assert_eq!(shape(x.reshape_with_inferred_dimension(&[2, 3], 1)), "s32[2,<=3]");
    assert_eq!(shape(x.reshape(&[2, 3]).collapse(&[0, 1])), "s32[<=6]");
    assert_eq!(shape(x.broadcast(&[4])), "s32[4,<=6]");
    assert_eq!(shape(x.broadcast_in_dim(&[6, 2], &[0])), "s32[<=6,2]");
    let message =
        b.build(b.parameter(1, "s32[<=4,6]", "y").reshape(&[6, 4])).unwrap_err().to_string();
    assert!(message.contains("E0811") && message.contains("reshape twice"), "{message}");
}

#[test]
fn dynamic_sizes_run() {
    let b = Builder::new("run");
    let (x, literal) = counted(&b);
    let column = x.reshape(&[6, 1]).broadcast(&[1]).reduce(0, |a, c| a + c, &[0, 1, 2]);
    let module = build(&b, column);
    let sum = |n: i64| {
        let argument =
            literal.with_shape("s32[<=6]".parse::<hlo::Shape>().unwrap().array().unwrap().clone());
        interp::run(&module, &[argument.with_sizes(&[n])]).unwrap().to_string()
    };
    assert_eq!(sum(6), "s32[] 21");
    assert_eq!(sum(3), "s32[] 6");
    assert_eq!(sum(0), "s32[] 0");
}

#[test]
fn dynamic_reshape() {
    let b = Builder::new("dynamic_reshape");
    let x = b.constant([1i32, 2, 3, 4, 5, 6]);
    let (rows, columns) = (b.parameter(0, "s32[]", "rows"), b.parameter(1, "s32[]", "columns"));
    let y = x.dynamic_reshape(&[rows, columns], &[3, 2], &[true, false]);
    assert_eq!(format!("{:#}", y.shape().unwrap()), "s32[<=3,2]");
    let sums = y.reduce(0, |a, c| a + c, &[1]);
    let result = run(&b, sums, &["s32[] 3", "s32[] 2"]);
    assert_eq!(result, "s32[3]{0} {3, 7, 11}");
    refuses("`dim_sizes` has 0 entries, s32[3,2] has rank 2", |_, x| {
        x.dynamic_reshape(&[], &[3, 2], &[true, false])
    });
    refuses("`dims_are_dynamic` has 0 entries, s32[6] has rank 1", |b, x| {
        x.dynamic_reshape(&[b.constant(6i32)], &[6], &[])
    });
    refuses("have bounds for different numbers of elements", |b, x| {
        x.dynamic_reshape(&[b.constant(5i32)], &[5], &[true])
    });
    refuses("expected s32[] as the size, found f32[]", |b, x| {
        x.dynamic_reshape(&[b.constant(6f32)], &[6], &[true])
    });
}

#[test]
fn custom_calls_of_mhlo() {
    let b = Builder::new("mhlo");
    let x = b.constant([1i32, 2]);
    let sizes = b.constant([3i64, 2]);
    let y = x.mhlo_dynamic_broadcast_in_dim(sizes, &[1], "s32[3,2]");
    let module = build(&b, y);
    let text = module.module().to_string();
    assert!(text.contains("custom_call_target=\"mhlo.dynamic_broadcast_in_dim\""), "{text}");
    assert!(
        text.contains("backend_config={broadcast_dimensions=[1]}")
            || text.contains("backend_config=\"{broadcast_dimensions=[1]}\""),
        "{text}"
    );
    // The engine says that it does not know the target; a function of the user's is called.
    let unknown = interp::run(&module, &[]).unwrap_err().to_string();
    assert!(
        unknown.contains("unknown custom call target `mhlo.dynamic_broadcast_in_dim`"),
        "{unknown}"
    );
    let hooks = interp::Hooks::new().custom_call("mhlo.dynamic_broadcast_in_dim", |call| {
        let rows: Vec<i32> =
            (0..3).flat_map(|_| call.operands[0].as_slice().unwrap().to_vec()).collect();
        Ok(Literal::from_slice(&[3, 2], &rows))
    });
    let result = run_with_hooks(module, hooks, &[]);
    assert_eq!(result.to_string(), "s32[3,2]{1,0} { { 1, 2 }, { 1, 2 }, { 1, 2 } }");

    let b = Builder::new("mhlo");
    let y = b.iota("s32[6]", 0).mhlo_dynamic_reshape(b.constant([2i32, 3]), "s32[2,3]");
    let module = build(&b, y);
    let hooks = interp::Hooks::new().custom_call("mhlo.dynamic_reshape", |call| {
        Ok(call.operands[0].with_shape(call.shape.array().unwrap().clone()))
    });
    let result = run_with_hooks(module, hooks, &[]);
    assert_eq!(result.to_string(), "s32[2,3]{1,0} { { 0, 1, 2 }, { 3, 4, 5 } }");
}

#[test]
fn mistakes_in_custom_calls_of_mhlo() {
    refuses("`output_shape` is s32[], expected a vector of 1 integers", |b, x| {
        x.mhlo_dynamic_reshape(b.constant(6i32), "s32[6]")
    });
    refuses("expected a vector of 1 integers", |b, x| {
        x.mhlo_dynamic_reshape(b.constant([6f32]), "s32[6]")
    });
    refuses("a reshape of s32 cannot give f32[6]", |b, x| {
        x.mhlo_dynamic_reshape(b.constant([6i32]), "f32[6]")
    });
    refuses("the result is an array, not (s32[6])", |b, x| {
        x.mhlo_dynamic_reshape(b.constant([6i32]), "(s32[6])")
    });
    refuses("dimension 3 does not exist in s32[1,2,3]", |b, x| {
        x.mhlo_dynamic_broadcast_in_dim(b.constant([1i32, 2, 3]), &[1, 3], "s32[1,2,3]")
    });
    refuses("a dimension of size 2 cannot become dimension 0 of s32[1,2,3]", |b, x| {
        x.mhlo_dynamic_broadcast_in_dim(b.constant([1i32, 2, 3]), &[0, 2], "s32[1,2,3]")
    });
    refuses("`broadcast_dimensions` has 1 entry", |b, x| {
        x.mhlo_dynamic_broadcast_in_dim(b.constant([1i32, 2, 3]), &[0], "s32[1,2,3]")
    });
}

#[test]
fn same_padding_of_dynamic_sizes_is_a_custom_call() {
    let b = Builder::new("same");
    let (x, _) = counted(&b);
    let sum = |strides: &[i64], padding| x.reduce_window(0, |a, c| a + c, &[3], strides, padding);
    let same = sum(&[2], Padding::Same);
    assert_eq!(same.opcode().unwrap().name(), "custom-call");
    assert_eq!(format!("{:#}", same.shape().unwrap()), "s32[<=3]");
    let text = build(&b, same).module().to_string();
    assert!(text.contains("custom_call_target=\"DynamicReduceWindowSamePadding\""), "{text}");
    assert!(text.contains("window={size=3 stride=2 pad=0_1}"), "{text}");
    assert!(text.contains("called_computations={%reducer}"), "{text}");
    // Without padding, or with a window that does not move, it is the op.
    assert_eq!(sum(&[2], Padding::Valid).opcode().unwrap().name(), "reduce-window");
    let still = x.reduce_window(0, |a, c| a + c, &[1], &[1], Padding::Same);
    assert_eq!(still.opcode().unwrap().name(), "reduce-window");

    let source = b.parameter(1, "s32[<=3]", "source");
    let back =
        x.select_and_scatter(|a, c| a.ge(c), &[3], &[2], Padding::Same, source, 0, |a, c| a + c);
    assert_eq!(format!("{:#}", back.shape().unwrap()), "s32[<=6]");
    let text = build(&b, back).module().to_string();
    assert!(text.contains("custom_call_target=\"DynamicSelectAndScatterSamePadding\""), "{text}");
    assert!(text.contains("called_computations={%select, %scatter}"), "{text}");
}
