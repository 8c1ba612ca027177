//! Calls, loops, branches, and what closures use from outside.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::{run, text};
use builder::{Builder, Composite, Value};

fn refused(b: &Builder, root: Value<'_>) -> (&'static str, String) {
    let error = b.build(root).unwrap_err();
    (error.number(), error.to_string())
}

#[test]
fn a_loop_uses_values_from_outside() {
    let b = Builder::new("loop_captures");
    let (limit, step) = (b.parameter(0, "s32[]", "limit"), b.parameter(1, "s32[]", "step"));
    // 1, 3, 7, 15, 31
    let n = b.constant(1i32).while_loop(|n| n.lt(limit), |n| n * 2 + step);
    assert_eq!(run(&b, n, &["s32[] 20", "s32[] 1"]), "s32[] 31");
    // What the condition uses goes round with what the body uses.
    assert!(text(&b, n).contains("(s32[], s32[], s32[]) while("), "{}", text(&b, n));
}

#[test]
fn a_loop_of_a_tuple_stays_flat() {
    let b = Builder::new("loop_tuple");
    let x = b.parameter(0, "f32[2]", "x");
    let start = b.tuple(&[b.constant(0i32), b.constant([1f32, 2.0])]);
    let end = start.while_loop(
        |s| s.get_tuple_element(0).lt(3),
        |s| b.tuple(&[s.get_tuple_element(0) + 1, s.get_tuple_element(1) * x]),
    );
    // (1 * 2 * 2 * 2, 2 * 3 * 3 * 3)
    assert_eq!(run(&b, end, &["f32[2] {2, 3}"]), "( s32[] 3, f32[2]{0} {8, 54} )");
    assert!(text(&b, end).contains("(s32[], f32[2]{0}, f32[2]{0}) while("));
}

#[test]
fn loops_in_loops_use_values_from_far_outside() {
    let b = Builder::new("loop_nested");
    let x = b.parameter(0, "s32[]", "x");
    let zero = b.constant(0i32);
    let end = b.tuple(&[zero, zero]).while_loop(
        |s| s.get_tuple_element(0).lt(3),
        |s| {
            let inner = b.tuple(&[zero, s.get_tuple_element(1)]).while_loop(
                |t| t.get_tuple_element(0).lt(2),
                |t| b.tuple(&[t.get_tuple_element(0) + 1, t.get_tuple_element(1) + x]),
            );
            b.tuple(&[s.get_tuple_element(0) + 1, inner.get_tuple_element(1)])
        },
    );
    // 3 times 2 times 5
    assert_eq!(run(&b, end.get_tuple_element(1), &["s32[] 5"]), "s32[] 30");
}

#[test]
fn constants_are_copied_into_closures() {
    let b = Builder::new("constants");
    let (three, twos) = (b.constant(3i32), b.constant([2i32, 2]));
    let n = b.constant(0i32).while_loop(|n| n.lt(three), |n| n + three);
    let doubled = b.constant([5i32, 7]).while_loop(|v| v.slice_first().lt(9), |v| v * twos);
    assert_eq!(run(&b, b.tuple(&[n, doubled]), &[]), "( s32[] 3, s32[2]{0} {10, 14} )");
    assert!(text(&b, n).contains("s32[] while("));
    // Even where nothing can be handed in: 0 + 3 * 4 + 3 * 5
    let b = Builder::new("constants_in_reducers");
    let three = b.constant(3i32);
    let sum = b.parameter(0, "s32[2]", "x").reduce(0, |a, c| a + c * three, &[0]);
    assert_eq!(run(&b, sum, &["s32[2] {4, 5}"]), "s32[] 27");
}

trait First {
    fn slice_first(self) -> Self;
}
impl First for Value<'_> {
    /// The largest element, which stands last here: a scalar for a condition.
    fn slice_first(self) -> Self {
        self.reduce(0, Value::max, &[0])
    }
}

#[test]
fn large_constants_are_handed_in() {
    let b = Builder::new("weights");
    let weights = b.constant([1f32, 2.0, 3.0]);
    let state = b.parameter(0, "f32[3]", "x");
    let end = state.while_loop(|s| s.reduce(0.0, |a, c| a + c, &[0]).lt(30), |s| s + weights);
    // Sums 0, 6, 12, 18, 24, 30
    assert_eq!(run(&b, end, &["f32[3] {0, 0, 0}"]), "f32[3]{0} {5, 10, 15}");
    assert_eq!(text(&b, end).matches("constant({1, 2, 3})").count(), 1);
}

#[test]
fn branches_use_values_from_outside() {
    let b = Builder::new("branches");
    let (x, y) = (b.parameter(0, "f32[]", "x"), b.parameter(1, "f32[]", "y"));
    let z = y + 1;
    let result = x.gt(0).conditional(x, |x| x * y, y, |_| z);
    assert_eq!(run(&b, result, &["f32[] 3", "f32[] 5"]), "f32[] 15");
    assert_eq!(run(&b, result, &["f32[] -3", "f32[] 5"]), "f32[] 6");
}

#[test]
fn switch_takes_closures() {
    let b = Builder::new("switch");
    let (n, x, y) =
        (b.parameter(0, "s32[]", "n"), b.parameter(1, "f32[]", "x"), b.parameter(2, "f32[]", "y"));
    let result = n.switch().case(x, |x| x + 1).case(y, |y| y * x).otherwise(x, |x| -x);
    for (n, expected) in [("0", "4"), ("1", "15"), ("2", "-3"), ("7", "-3"), ("-1", "-3")] {
        let n = format!("s32[] {n}");
        assert_eq!(run(&b, result, &[&n, "f32[] 3", "f32[] 5"]), format!("f32[] {expected}"));
    }
}

#[test]
fn switch_takes_computations() {
    let b = Builder::new("switch_computations");
    let add = b.computation("add", &["f32[]"], |p| p[0] + 1);
    let halve = b.computation("halve", &["f32[2]"], |p| p[0].reduce(0.0, |a, c| a + c, &[0]) / 2);
    let (n, x) = (b.parameter(0, "s32[]", "n"), b.parameter(1, "f32[2]", "x"));
    let result = n.switch_computations(&[add, halve], &[b.constant(9f32), x]);
    assert_eq!(run(&b, result, &["s32[] 0", "f32[2] {1, 5}"]), "f32[] 10");
    assert_eq!(run(&b, result, &["s32[] 1", "f32[2] {1, 5}"]), "f32[] 3");
}

#[test]
fn conditional_and_while_inline_computations() {
    let b = Builder::new("inlined");
    let double = b.computation("double", &["s32[]"], |p| p[0] * 2);
    let small = b.computation("small", &["s32[]"], |p| p[0].lt(100));
    let n = b.parameter(0, "s32[]", "n");
    let end = n.while_loop(|n| small.inline(&[n]), |n| double.inline(&[n]));
    let end = small.inline(&[end]).conditional(end, |n| n, end, |n| double.inline(&[n]));
    // 7, 14, 28, 56, 112, and once more
    assert_eq!(run(&b, end, &["s32[] 7"]), "s32[] 224");
}

#[test]
fn calls_run_computations() {
    let b = Builder::new("calls");
    let square = b.computation("square", &["f32[]"], |p| p[0] * p[0]);
    let x = b.parameter(0, "f32[]", "x");
    let op =
        Composite { name: "my.square".into(), attributes: "{exact = true}".into(), version: 2 };
    let y = b.composite_call(square, &[b.call(square, &[x])], &op).optimization_barrier();
    assert_eq!(run(&b, y, &["f32[] 3"]), "f32[] 81");
    let text = text(&b, y);
    assert!(text.contains("is_composite=true"), "{text}");
    let notes = "frontend_attributes={composite.attributes={exact = true},composite.name=\"my.square\",composite.version=\"2\"}";
    assert!(text.contains(notes), "{text}");
    assert!(text.contains("opt-barrier("), "{text}");
    let unnamed = b.composite_call(square, &[x], &Composite::default());
    assert_eq!(refused(&b, unnamed).0, "E0801");
}

#[test]
fn barriers_take_tuples() {
    let b = Builder::new("barrier");
    let pair = b.tuple(&[b.constant(1i32), b.constant(2f32)]).optimization_barrier();
    assert_eq!(run(&b, pair, &[]), "( s32[] 1, f32[] 2 )");
}

#[test]
fn what_cannot_be_captured_says_so() {
    let b = Builder::new("m");
    let (x, y) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[]", "y"));
    let (number, message) = refused(&b, x.reduce(0.0, |a, c| a + c * y, &[0]));
    assert_eq!(number, "E0804");
    assert!(message.contains("only loops and branches may use values from outside"), "{message}");

    let b = Builder::new("m");
    let kept = std::cell::Cell::new(None);
    let n = b.constant(0i32).while_loop(
        |n| n.lt(3),
        |n| {
            kept.set(Some(n));
            n + 1
        },
    );
    let (number, message) = refused(&b, n + kept.get().unwrap());
    assert_eq!(number, "E0804");
    assert!(message.contains("the closure it was made in has ended"), "{message}");
}

#[test]
fn closures_that_do_not_fit_are_refused() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[]", "x");
    let result = x.gt(0).conditional(x, |x| x, x, |x| x.gt(0));
    let (number, message) = refused(&b, result);
    assert_eq!(number, "E0806");
    assert!(message.contains("one branch returns f32[], another pred[]"), "{message}");
    let b = Builder::new("m");
    let n = b.constant(1i32);
    let (number, _) = refused(&b, n.switch().case(n, |n| n).otherwise(n, |n| n.reshape(&[1])));
    assert_eq!(number, "E0806");
}
