//! Gather and scatter: values by hand, many arrays at once, and the likeliest mistakes.
use crate::support::{refuses_on, run};
use builder::options::{GatherDimensionNumbers, ScatterDimensionNumbers};
use builder::{Builder, Value};

/// Rows of a matrix, by a vector of row numbers.
fn rows() -> GatherDimensionNumbers {
    GatherDimensionNumbers {
        offset_dims: vec![1],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: 1,
        ..Default::default()
    }
}
fn rows_back() -> ScatterDimensionNumbers {
    ScatterDimensionNumbers {
        update_window_dims: vec![1],
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..Default::default()
    }
}

#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) {
    refuses_on([[1i32, 2], [3, 4], [5, 6]], expected, make);
}

#[test]
fn gather_limits_places() {
    let b = Builder::new("gather");
    let x = b.constant([[1i32, 2], [3, 4], [5, 6]]);
    let sorted = GatherDimensionNumbers { indices_are_sorted: true, ..rows() };
    let taken = x.gather(b.constant([-9i32, 1, 9]), &sorted, &[1, 2]);
    assert_eq!(run(&b, taken, &[]), "s32[3,2]{1,0} { { 1, 2 }, { 3, 4 }, { 5, 6 } }");
}

#[test]
fn gather_along_batches() {
    // For each batch its own column.
    let b = Builder::new("gather_batch");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    let numbers = GatherDimensionNumbers {
        collapsed_slice_dims: vec![1],
        start_index_map: vec![1],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![0],
        index_vector_dim: 2,
        ..Default::default()
    };
    let taken = x.gather(b.constant([[2i32, 0], [1, 1]]), &numbers, &[1, 1]);
    assert_eq!(run(&b, taken, &[]), "s32[2,2]{1,0} { { 3, 1 }, { 5, 5 } }");
}

#[test]
fn gather_mistakes() {
    refuses("`start_index_map` has no entry, expected 1", |b, x| {
        x.gather(b.constant([0i32]), &GatherDimensionNumbers::default(), &[1, 2])
    });
    refuses("a slice of size 3 does not fit in a dimension of size 2", |b, x| {
        x.gather(b.constant([0i32]), &rows(), &[1, 3])
    });
    refuses("a slice of size -1 does not fit", |b, x| {
        x.gather(b.constant([0i32]), &rows(), &[1, -1])
    });
    refuses("`slice_sizes` has 1 entry, expected 2", |b, x| {
        x.gather(b.constant([0i32]), &rows(), &[1])
    });
    refuses("its slice has size 2", |b, x| x.gather(b.constant([0i32]), &rows(), &[2, 2]));
    refuses("E0303", |b, x| x.gather(b.constant([0f32]), &rows(), &[1, 2]));
    refuses("E0301", |b, x| {
        let numbers = GatherDimensionNumbers { index_vector_dim: 5, ..rows() };
        x.gather(b.constant([0i32]), &numbers, &[1, 2])
    });
    refuses("dimension 7 does not exist in an array of rank 2", |b, x| {
        let numbers = GatherDimensionNumbers { offset_dims: vec![7], ..rows() };
        x.gather(b.constant([0i32]), &numbers, &[1, 2])
    });
    refuses("dimension 9223372036854775807 does not exist", |b, x| {
        let numbers = GatherDimensionNumbers { start_index_map: vec![i64::MAX], ..rows() };
        x.gather(b.constant([0i32]), &numbers, &[1, 2])
    });
}

#[test]
fn scatter_combines_and_skips() {
    let b = Builder::new("scatter");
    let x = b.constant([[1i32, 2], [3, 4], [5, 6]]);
    let updates = b.constant([[10i32, 20], [30, 40], [50, 60]]);
    // Row 0 twice; row 3 does not exist.
    let at = b.constant([0i32, 3, 0]);
    let sums = x.scatter(at, updates, |there, new| there + new, &rows_back());
    assert_eq!(run(&b, sums, &[]), "s32[3,2]{1,0} { { 61, 82 }, { 3, 4 }, { 5, 6 } }");
    // What is there comes first.
    let unique =
        ScatterDimensionNumbers { unique_indices: true, indices_are_sorted: true, ..rows_back() };
    let less =
        x.scatter(b.constant([1i32]), b.constant([[1i32, 1]]), |there, new| there - new, &unique);
    assert_eq!(run(&b, less, &[]), "s32[3,2]{1,0} { { 1, 2 }, { 2, 3 }, { 5, 6 } }");
}

#[test]
fn scatter_of_many() {
    // The larger value, and where it came from.
    let b = Builder::new("scatter_many");
    let (best, from) = (b.constant([5f32, 5.0]), b.constant([-1i32, -1]));
    let (at, values, places) =
        (b.constant([0i32, 1, 0]), b.constant([4f32, 7.0, 9.0]), b.constant([0i32, 1, 2]));
    let numbers = ScatterDimensionNumbers {
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..Default::default()
    };
    let both = b.scatter(
        &[best, from],
        at,
        &[values, places],
        |p| {
            let larger = p[2].gt(p[0]);
            p[0].builder().tuple(&[larger.select(p[2], p[0]), larger.select(p[3], p[1])])
        },
        &numbers,
    );
    assert_eq!(run(&b, both, &[]), "( f32[2]{0} {9, 7}, s32[2]{0} {2, 1} )");
    // Of one array it is the array.
    let one = b.scatter(&[best], at, &[values], |p| p[0] + p[1], &numbers);
    assert_eq!(run(&b, one, &[]), "f32[2]{0} {18, 12}");
}

#[test]
fn scatter_mistakes() {
    refuses("have rank 3, expected 2", |b, x| {
        x.scatter(b.constant([0i32]), b.iota("s32[1,2,1]", 0), |p, q| p + q, &rows_back())
    });
    refuses("E03", |b, x| {
        x.scatter(b.constant([0i32]), b.iota("f32[1,2]", 0), |p, q| p + q, &rows_back())
    });
    refuses("does not hold one window for each index vector", |b, x| {
        x.scatter(b.constant([0i32, 1]), b.iota("s32[1,2]", 0), |p, q| p + q, &rows_back())
    });
    refuses("is larger than that of the operand, which is 2", |b, x| {
        x.scatter(b.constant([0i32]), b.iota("s32[1,3]", 0), |p, q| p + q, &rows_back())
    });
    refuses("parameter 0 of the reducer is s32[], but its result 0 is pred[]", |b, x| {
        x.scatter(b.constant([0i32]), b.iota("s32[1,2]", 0), |p, q| p.lt(q), &rows_back())
    });
    refuses("found 0 updates for 0 arrays", |b, _| {
        b.scatter(&[], b.constant([0i32]), &[], |p| p[0], &rows_back())
    });
    refuses("found 2 updates for 1 array", |b, x| {
        b.scatter(&[x], b.constant([0i32]), &[x, x], |p| p[0], &rows_back())
    });
    refuses("expected an array", |b, x| {
        b.scatter(&[b.tuple(&[x])], b.constant([0i32]), &[x], |p| p[0], &rows_back())
    });
    // A value of outside is not seen inside.
    refuses("E0804", |b, x| {
        let outside = b.parameter(0, "s32[]", "outside");
        x.scatter(b.constant([0i32]), b.iota("s32[1,2]", 0), |p, _| p + outside, &rows_back())
    });
}
