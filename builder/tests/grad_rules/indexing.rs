//! Gathers and scatters.
use super::gradient::{check, gradients, inputs, twice};
use super::make;
use crate::{Builder, Value};
use hlo::Literal;
use hlo::op::{Gather, Scatter};

/// Rows of a matrix.
fn rows(width: i64) -> Gather {
    Gather::new(vec![1], vec![0], vec![0], 1, vec![1, width])
}
/// `scatter` with the combiner of the closure.
fn scatter<'b>(
    b: &'b Builder,
    combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    unique_indices: bool,
) -> Scatter {
    let to_apply = b.combiner("combine", hlo::ElementType::F64, combine).expect("a combiner");
    Scatter { unique_indices, ..Scatter::new(vec![1], vec![0], vec![0], 1, to_apply) }
}
fn with_indices(shapes: &[&str], indices: &str) -> Vec<Literal> {
    let mut all = inputs(shapes, 0.5, 1.5);
    all.push(indices.parse().expect("a literal"));
    all
}
type Combine = for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>;

#[test]
fn gathers_add_up_where_rows_are_taken_twice_and_limited() {
    // -7 is read as 0, and 9 as 3: their cotangents belong to those rows.
    for (name, indices) in [
        ("gather_s32", "s32[5] {1, 1, 9, -7, 3}"),
        ("gather_u8", "u8[5] {1, 1, 200, 0, 3}"),
        ("gather_s64", "s64[5] {1, 1, 9000000000, -9000000000, 3}"),
    ] {
        let x = with_indices(&["f64[4,3]"], indices);
        check(name, &x, |_, x| make(rows(3), &[x[0], x[1]], "").sin());
    }
    let x = with_indices(&["f64[4,1]"], "s32[2] {9, 3}");
    let slopes = gradients("gather_limited", &x, |_, x| {
        make(rows(1), &[x[0], x[1]], "").reduce(0.0, |a, c| a + c, &[0, 1])
    });
    assert_eq!(slopes, [[0.0, 0.0, 0.0, 2.0]]);
}

#[test]
fn gathers_of_boxes_with_batches() {
    // Operand [batch 2, 4, 5]; indices [3, batch 2, vector 2] in any order; boxes of 2 x 3.
    let op = || Gather {
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![2],
        ..Gather::new(vec![0, 3], vec![], vec![2, 1], 0, vec![1, 2, 3])
    };
    let indices = "s32[2,3,2] {{{0, 1}, {2, 7}, {1, -1}}, {{0, 3}, {1, 2}, {-5, 0}}}";
    let x = with_indices(&["f64[2,4,5]"], indices);
    check("gather_boxes", &x, |_, x| make(op(), &[x[0], x[1]], "").sin());
    // A narrow index type whose largest number lies inside the operand.
    let x = with_indices(&["f64[300,1]"], "s8[2,1] {{127}, {-128}}");
    check("gather_s8", &x, |_, x| make(rows(1), &[x[0], x[1]], "").sin());
    let x = with_indices(&["f64[4,3]"], "s32[1] {2}");
    let nothing = gradients("gather_nothing", &x, |_, x| {
        make(rows(0), &[x[0], x[1]], "").reduce(0.0, |a, c| a + c, &[0, 1])
    });
    assert_eq!(nothing, [[0.0; 12]]);
}

#[test]
fn scatters_that_add() {
    // The row at 9 is skipped, so its update has no influence.
    let x = with_indices(&["f64[4,3]", "f64[5,3]"], "s32[5] {1, 1, 9, -7, 3}");
    check("scatter_add", &x, |b, x| {
        make(scatter(b, |a, c| a + c, false), &[x[0], x[2], x[1]], "").sin()
    });
    let slopes = gradients("scatter_skips", &x, |b, x| {
        let put = make(scatter(b, |a, c| c + a, false), &[x[0], x[2], x[1]], "");
        put.reduce(0.0, |a, c| a + c, &[0, 1])
    });
    let kept = [[1.0; 3], [1.0; 3], [0.0; 3], [0.0; 3], [1.0; 3]];
    assert_eq!(slopes, [[1.0; 12].as_slice(), kept.as_flattened()]);
}

#[test]
fn scatters_that_overwrite() {
    let unique = with_indices(&["f64[4,3]", "f64[3,3]"], "s32[3] {2, 9, 0}");
    check("scatter_set", &unique, |b, x| {
        make(scatter(b, |_, c| c, true), &[x[0], x[2], x[1]], "").sin()
    });
    // Of several updates for one row the last one stays, and only its cotangent flows.
    let repeated = with_indices(&["f64[4,3]", "f64[4,3]"], "s32[4] {2, 1, 2, 9}");
    check("scatter_last", &repeated, |b, x| {
        make(scatter(b, |_, c| c, false), &[x[0], x[2], x[1]], "").sin()
    });
}

#[test]
fn scatters_that_multiply() {
    let x = with_indices(&["f64[4,3]", "f64[3,3]"], "s32[3] {2, 9, 0}");
    check("scatter_mul", &x, |b, x| {
        make(scatter(b, |a, c| a * c, true), &[x[0], x[2], x[1]], "").sin()
    });
}

#[test]
fn scatters_of_boxes_with_batches() {
    let op = |b: &Builder| Scatter {
        update_window_dims: vec![1, 3],
        inserted_window_dims: vec![],
        scatter_dims_to_operand_dims: vec![2, 1],
        input_batching_dims: vec![0],
        scatter_indices_batching_dims: vec![1],
        index_vector_dim: 2,
        ..scatter(b, |a, c| a + c, false)
    };
    let indices = "s64[3,2,2] {{{0, 1}, {2, 7}}, {{1, -1}, {0, 2}}, {{1, 2}, {-5, 0}}}";
    let x = with_indices(&["f64[2,4,5]", "f64[3,2,2,3]"], indices);
    check("scatter_boxes", &x, |b, x| make(op(b), &[x[0], x[2], x[1]], "").sin());
    // Index vectors of one number without a dimension of their own, unsigned.
    let x = with_indices(&["f64[4,3]", "f64[3,3]"], "u32[3] {0, 4000000000, 3}");
    check("scatter_u32", &x, |b, x| {
        make(scatter(b, |a, c| a + c, false), &[x[0], x[2], x[1]], "").sin()
    });
}

/// The sum of cubes, whose second derivative is not constant.
fn total(y: Value<'_>) -> Value<'_> {
    (y * y * y).reduce(0.0, |a, c| a + c, &[0, 1])
}

#[test]
fn indexing_is_differentiated_again() {
    let x = with_indices(&["f64[4,3]"], "s32[4] {1, 1, 9, 3}");
    twice("gather_2", &x, |_, x| total(make(rows(3), &[x[0], x[1]], "")));
    let x = with_indices(&["f64[4,3]", "f64[3,3]"], "s32[3] {2, 9, 2}");
    twice("scatter_add_2", &x, |b, x| {
        total(make(scatter(b, |a, c| a + c, false), &[x[0], x[2], x[1]], ""))
    });
    twice("scatter_last_2", &x, |b, x| {
        total(make(scatter(b, |_, c| c, false), &[x[0], x[2], x[1]], ""))
    });
    let x = with_indices(&["f64[4,3]", "f64[3,3]"], "s32[3] {2, 9, 0}");
    twice("scatter_mul_2", &x, |b, x| {
        total(make(scatter(b, |a, c| a * c, true), &[x[0], x[2], x[1]], ""))
    });
}

#[test]
fn the_largest_and_the_smallest_of_updates() {
    let all: [(&str, Combine); 2] = [("max", |a, c| a.max(c)), ("min", |a, c| a.min(c))];
    for (name, combine) in all {
        let op = move |b: &Builder| scatter(b, combine, false);
        // One index is outside, two are equal.
        let x = with_indices(&["f64[4,3]", "f64[4,3]"], "s32[4] {2, 9, 2, 0}");
        check(&format!("scatter_{name}"), &x, |b, x| make(op(b), &[x[0], x[2], x[1]], "").sin());
        check(&format!("scatter_{name}_op"), &x[..1], |b, x| {
            let updates = b.iota("f64[4,3]", 0) * 0.1;
            make(op(b), &[x[0], b.constant([2i32, 9, 2, 0]), updates], "").exp()
        });
        twice(&format!("scatter_{name}_2"), &x, |b, x| total(make(op(b), &[x[0], x[2], x[1]], "")));
    }
}

#[test]
fn equal_updates_share_a_derivative() {
    // `jax.vjp` of `x.at[i].max(u)` for the same numbers, JAX 0.10.2. Place 0 has three equals, 1
    // an update that wins, 2 one that loses, 3 none.
    let b = Builder::new("ties");
    let x = b.constant([1f64, 2.0, 3.0, 4.0]);
    let u = b.constant([1f64, 5.0, 0.0, 1.0]);
    let mut op = scatter(&b, Value::max, false);
    op.update_window_dims.clear();
    let put = make(op, &[x, b.constant([0i32, 1, 2, 0]), u], "");
    let c = b.constant([3f64, 10.0, 100.0, 1000.0]);
    let pulled = b.tuple(&b.vjp(put, &[x, u], c));
    let expected = "( f64[4]{0} {1, 0, 100, 1000}, f64[4]{0} {1, 10, 0, 1} )";
    assert_eq!(super::evaluate_on(&b, pulled, &[]).to_string(), expected);
    let pushed = b.jvp(put, &[x, u], &[c, b.constant([6f64, 7.0, 8.0, 9.0])]);
    let expected = "f64[4]{0} {6, 7, 100, 1000}";
    assert_eq!(super::evaluate_on(&b, pushed, &[]).to_string(), expected);
}

#[test]
fn other_scatters_are_refused() {
    for (unique, why) in [(true, "only where it adds"), (false, "only where it adds")] {
        let b = Builder::new("m");
        let (x, i) = (b.parameter(0, "f64[4,3]", "x"), b.parameter(1, "s32[2]", "i"));
        let op = scatter(&b, |x, y| x - y, unique);
        let put = make(op, &[x, i, b.constant([[1f64; 3]; 2])], "");
        let error = b.build(b.vjp(put, &[x], x)[0]).expect_err("no rule");
        assert_eq!(error.number(), "E0808", "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    let b = Builder::new("m");
    let (x, i) = (b.parameter(0, "f64[4,3]", "x"), b.parameter(1, "s32[2]", "i"));
    let op = scatter(&b, |a, c| a * c, false);
    let put = make(op, &[x, i, b.constant([[1f64; 3]; 2])], "");
    let error = b.build(b.vjp(put, &[x], x)[0]).expect_err("no rule");
    assert!(error.to_string().contains("indices that are unique"), "{error}");
}
