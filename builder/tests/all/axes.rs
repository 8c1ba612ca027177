//! Dimensions counted from the end, wherever an argument names one.
use crate::support::{refuses_on, text};
use builder::options::{
    ConvOptions, DotDimensionNumbers, DotOptions, GatherDimensionNumbers, ScatterDimensionNumbers,
};
use builder::{Builder, CollectiveOptions, Value};

/// The same call with every dimension counted from the start, and from the end.
#[track_caller]
fn same(make: impl for<'b> Fn(&'b Builder, Value<'b>, &dyn Fn(i64, i64) -> i64) -> Value<'b>) {
    let built = |from_end: bool| {
        let b = Builder::new("axes");
        b.set_source_lines(false);
        b.set_replica_count(2);
        let x = b.parameter(0, "f32[2,4,6]", "x");
        let y = make(&b, x, &|dim, rank| if from_end { dim - rank } else { dim });
        text(&b, y)
    };
    assert_eq!(built(false), built(true));
}

#[test]
fn movement_and_reductions() {
    same(|_, x, d| x.transpose(&[d(2, 3), d(0, 3), d(1, 3)]));
    same(|_, x, d| x.collapse(&[d(1, 3), d(2, 3)]));
    same(|_, x, d| x.rev(&[d(1, 3)]));
    same(|b, x, d| x.pad_in_dim(b.constant(0f32), d(2, 3), 1, 2));
    same(|_, x, d| x.slice_in_dim(0, 2, 1, d(1, 3)));
    same(|b, x, d| b.concat_in_dim(&[x, x], d(1, 3)));
    same(|_, x, d| x.broadcast_in_dim(&[2, 3, 4, 6], &[d(0, 4), d(2, 4), d(3, 4)]));
    same(|b, x, d| x + b.constant([1f32, 2., 3., 4.]).along(&[d(1, 3)]));
    same(|b, x, d| x + b.iota("f32[2,4,6]", d(2, 3)));
    same(|_, x, d| x.reduce(0.0, |a, c| a + c, &[d(0, 3), d(2, 3)]));
    same(|b, x, d| {
        let zeros = [b.constant(0f32), b.constant(0f32)];
        b.reduce(&[x, x], &zeros, |p| b.tuple(&[p[0] + p[2], p[1] + p[3]]), &[d(1, 3)])
    });
    same(|b, x, d| b.map(&[x], |p| p[0].exp(), &[d(0, 3), d(1, 3), d(2, 3)]));
    same(|_, x, d| x.sort(d(1, 3)));
    same(|_, x, d| x.cumsum(d(1, 3), false));
    same(|_, x, d| x.softmax(d(1, 3)));
    same(|_, x, d| x.get_dimension_size(d(1, 3)) + 1);
    same(|_, x, d| x.reshape_with_inferred_dimension(&[8, 6], d(0, 2)));
    same(|_, x, d| x.reshape_in_order(&[d(2, 3), d(1, 3), d(0, 3)], &[48]));
}

#[test]
fn dimension_numbers() {
    same(|_, x, d| {
        let numbers = DotDimensionNumbers {
            lhs_batch_dimensions: vec![d(0, 3)],
            rhs_batch_dimensions: vec![d(0, 3)],
            lhs_contracting_dimensions: vec![d(2, 3)],
            rhs_contracting_dimensions: vec![d(2, 3)],
        };
        x.dot_general(x, &numbers, &DotOptions::default())
    });
    same(|b, x, d| {
        let numbers = GatherDimensionNumbers {
            offset_dims: vec![d(1, 3), d(2, 3)],
            collapsed_slice_dims: vec![d(1, 3)],
            start_index_map: vec![d(1, 3)],
            index_vector_dim: d(1, 2),
            ..Default::default()
        };
        x.gather(b.constant([[0i32], [3]]), &numbers, &[2, 1, 6])
    });
    same(|b, x, d| {
        let numbers = ScatterDimensionNumbers {
            update_window_dims: vec![d(1, 3), d(2, 3)],
            inserted_window_dims: vec![d(1, 3)],
            scatter_dims_to_operand_dims: vec![d(1, 3)],
            index_vector_dim: d(1, 2),
            ..Default::default()
        };
        let updates = b.iota("f32[2,2,6]", 0);
        x.scatter(b.constant([[0i32], [3]]), updates, |a, c| a + c, &numbers)
    });
    same(|b, x, d| {
        let numbers = hlo::op::value::ConvDims {
            lhs_batch: d(0, 3),
            lhs_feature: d(1, 3),
            lhs_spatial: [d(2, 3)].into_iter().collect(),
            rhs_input_feature: d(1, 3),
            rhs_output_feature: d(2, 3),
            rhs_spatial: [d(0, 3)].into_iter().collect(),
            out_batch: d(0, 3),
            out_feature: d(1, 3),
            out_spatial: [d(2, 3)].into_iter().collect(),
        };
        let kernel = b.iota("f32[3,4,5]", 0);
        x.conv_general(kernel, &[1], &[(0, 0)], &numbers, &ConvOptions::default())
    });
    same(|b, x, d| {
        let ones = b.constant([1f32; 4]);
        x.batch_norm_inference(ones, ones, ones, ones, 0.1, d(1, 3))
    });
    same(|_, x, d| x.all_gather(d(1, 3), 2, &CollectiveOptions::default()));
    same(|_, x, d| x.all_to_all(d(1, 3), d(2, 3), 2, &CollectiveOptions::default()));
}

/// One that does not exist is named as it was given.
#[test]
fn dimensions_that_do_not_exist() {
    refuses_on([[1f32, 2.0]], "-3", |_, x| x.transpose(&[0, -3]));
    refuses_on([[1f32, 2.0]], "dimension -3 does not exist in f32[1,2]", |_, x| x.rev(&[-3]));
    refuses_on([[1f32, 2.0]], "-3", |_, x| x.collapse(&[-3, -2]));
    refuses_on([[1f32, 2.0]], "dimension -3 does not exist", |b, x| {
        x + b.constant([1f32]).along(&[-3])
    });
}
