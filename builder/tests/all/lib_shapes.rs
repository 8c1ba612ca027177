//! Slicing, sorting, loops, pooling, sizes known at run time.
#![allow(clippy::unwrap_used, reason = "tests")]
use crate::support::{build, evaluate, reals, run};
use builder::pooling::{
    Padding, SpatialSizes, TensorFormat, conv_grad_extract_and_verify_dimension,
    make_spatial_padding,
};
use builder::{Builder, Value};
use hlo::ElementType;

/// `s32[3,4]` 0 to 11.
fn counted(b: &Builder) -> Value<'_> {
    b.constant([[0i32, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
}
#[track_caller]
fn whole(make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) -> Vec<i64> {
    let b = Builder::new("shapes");
    let x = counted(&b);
    let result = evaluate(&b, make(&b, x), &[]);
    (0..result.len()).map(|i| result.get(i).as_i64().unwrap()).collect()
}
#[track_caller]
fn refused(make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) -> &'static str {
    let b = Builder::new("refused");
    let x = counted(&b);
    b.build(make(&b, x)).unwrap_err().number()
}

#[test]
fn boxes() {
    assert_eq!(whole(|_, x| x.slice_in_minor_dims(&[1], &[3])), [1, 2, 5, 6, 9, 10]);
    assert_eq!(whole(|_, x| x.slice_in_minor_dims(&[2, 0], &[3, 2])), [8, 9]);
    let expected = [0, 1, 2, 3, 4, -1, -2, 7, 8, 9, 10, 11];
    assert_eq!(whole(|b, x| x.update_slice(b.constant([[-1i32, -2]]), &[1, 1])), expected);
    let column = [[1i32], [2], [3]];
    let expected = [0, 1, 1, 3, 4, 5, 2, 7, 8, 9, 3, 11];
    assert_eq!(whole(|b, x| x.update_slice_in_minor_dims(b.constant(column), &[2])), expected);
    let found =
        whole(|b, x| x.dynamic_update_slice_in_minor_dims(b.constant(column), &[b.constant(2i32)]));
    assert_eq!(found, expected);
    let found = whole(|b, x| x.dynamic_slice_in_minor_dims(&[b.constant(2i32)], &[2]));
    assert_eq!(found, [2, 3, 6, 7, 10, 11]);
    // Too far: moved back.
    let found = whole(|b, x| x.dynamic_slice_in_minor_dims(&[b.constant(9u8)], &[1]));
    assert_eq!(found, [3, 7, 11]);
    assert_eq!(refused(|_, x| x.slice_in_minor_dims(&[0, 0, 0], &[1, 1, 1])), "E0801");
    assert_eq!(refused(|_, x| x.slice_in_minor_dims(&[0], &[1, 1])), "E0801");
    assert_eq!(refused(|_, x| x.slice_in_minor_dims(&[0], &[5])), "E0301");
    assert_eq!(refused(|b, x| x.update_slice(b.constant([1i32]), &[0])), "E0801");
}
#[test]
fn repeated() {
    let found = whole(|b, _| b.constant([[1i32], [2]]).broadcast_to(&[2, 2, 3]));
    assert_eq!(found, [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2]);
    assert_eq!(whole(|b, _| b.constant(7i32).broadcast_to(&[2])), [7, 7]);
    assert_eq!(refused(|_, x| x.broadcast_to(&[3, 8])), "E0802");
    assert_eq!(refused(|_, x| x.broadcast_to(&[4])), "E0802");
}

/// `PyTorch`'s documentation of `gather`, and by hand.
#[test]
fn gathers() {
    for sparse in [true, false] {
        let index = [[0i32, 2, 2, 0], [1, 1, 0, 2]];
        let found = whole(|b, x| x.torch_gather(b.constant(index), 0, sparse));
        assert_eq!(found, [0, 9, 10, 3, 4, 5, 2, 11], "{sparse}");
        let found = whole(|b, x| x.torch_gather(b.constant([[3u8], [0], [1]]), -1, sparse));
        assert_eq!(found, [3, 4, 9], "{sparse}");
        // Fewer rows than the array has.
        let found = whole(|b, x| x.torch_gather(b.constant([[3i64, 3]]), 1, sparse));
        assert_eq!(found, [3, 3], "{sparse}");
    }
    let outside = [[7i32], [-1], [0]];
    assert_eq!(whole(|b, x| x.torch_gather(b.constant(outside), 1, true)), [3, 4, 8]);
    assert_eq!(whole(|b, x| x.torch_gather(b.constant(outside), 1, false)), [0, 0, 8]);
    assert_eq!(refused(|b, x| x.torch_gather(b.constant([0i32]), 0, true)), "E0801");
    assert_eq!(refused(|b, x| x.torch_gather(b.constant([[0i32; 5]]), 0, true)), "E0801");
}
#[test]
fn scatters() {
    let b = Builder::new("scatter");
    let zero = b.constant([[0i32, 0, 0], [0, 0, 0]]);
    let index = b.constant([[1i32, 0], [1, 2]]);
    let source = b.constant([[1i32, 2], [3, 4]]);
    let sum = zero.torch_scatter_dense(index, source, 1, |a, c| a + c);
    assert_eq!(run(&b, sum, &[]), "s32[2,3]{1,0} { { 2, 1, 0 }, { 0, 3, 4 } }");
    // Two go to one place; one goes outside; a maximum of negative numbers.
    let x = b.constant([-9i32, -9, -9]);
    let index = b.constant([0i32, 0, 5, 2]);
    let most = x.torch_scatter_dense(index, b.constant([-5i32, -4, -1, -20]), 0, |a, c| a.max(c));
    assert_eq!(run(&b, most, &[]), "s32[3]{0} {-4, -9, -9}");
}
#[test]
fn selects_by_index() {
    let found = whole(|b, x| x.torch_index_select(b.constant([2i32, 0]), 0, 0));
    assert_eq!(found, [8, 9, 10, 11, 0, 1, 2, 3]);
    let found = whole(|b, x| x.torch_index_select(b.constant([[3i32, 0]]), 1, 0));
    assert_eq!(found, [3, 0, 7, 4, 11, 8]);
    let found = whole(|b, x| x.torch_index_select(b.constant([[3i32], [0], [1]]), 1, 1));
    assert_eq!(found, [3, 4, 9]);
    assert_eq!(refused(|b, x| x.torch_index_select(b.constant([0i32]), 0, 1)), "E0801");
}

#[test]
fn largest_elements() {
    let b = Builder::new("top_k");
    let x = b.constant([[3f32, f32::NAN, 3.0, -0.0, 0.0], [1.0, 2.0, f32::INFINITY, 2.0, 2.0]]);
    let (values, places) = x.top_k_as(4, ElementType::U8);
    let found = run(&b, b.tuple(&[values, places]), &[]);
    let expected = "( f32[2,4]{1,0} { { nan, 3, 3, 0 }, { inf, 2, 2, 2 } }, u8[2,4]{1,0} { { 1, 0, 2, 4 }, { 2, 1, 3, 4 } } )";
    assert_eq!(found, expected);
    for partitions in [1, 2, 3, 5, 9] {
        let parts = x.top_k_with_partitions(2, partitions, ElementType::U8);
        let (values, places) = x.top_k_as(2, ElementType::U8);
        let found = run(&b, b.tuple(&[parts.0, parts.1]), &[]);
        assert_eq!(found, run(&b, b.tuple(&[values, places]), &[]), "{partitions}");
    }
    assert_eq!(refused(|_, x| x.top_k_as(5, ElementType::S32).0), "E0801");
    assert_eq!(refused(|_, x| x.top_k_with_partitions(1, 0, ElementType::S32).0), "E0801");
}

#[test]
fn loops() {
    // Euclid: the greatest common divisor, and how many steps it took.
    let b = Builder::new("euclid");
    let start = [b.parameter(0, "s32[]", "x"), b.parameter(1, "s32[]", "y"), b.constant(0i32)];
    let end = b.while_loop_helper(&start, |v| v[1].ne(0), |v| vec![v[1], v[0].rem(v[1]), v[2] + 1]);
    let found = run(&b, b.tuple(&[end[0], end[2]]), &["s32[] 1071", "s32[] 462"]);
    assert_eq!(found, "( s32[] 21, s32[] 3 )");
    let b = Builder::new("squares");
    let zeros = b.constant([0i64; 5]);
    let end = b.for_each_index(5, ElementType::S64, &[zeros], |i, v| {
        vec![v[0].dynamic_update_slice_in_minor_dims((i * i).reshape(&[1]), &[i])]
    });
    assert_eq!(run(&b, end[0], &[]), "s64[5]{0} {0, 1, 4, 9, 16}");
    let never = b.for_each_index(0, ElementType::U8, &[zeros], |_, v| vec![v[0] + 1]);
    assert_eq!(run(&b, never[0], &[]), "s64[5]{0} {0, 0, 0, 0, 0}");
}
#[test]
fn loops_of_wrong_shape() {
    assert_eq!(
        refused(|b, x| b.while_loop_helper(&[x], |_| b.constant(true), |_| vec![])[0]),
        "E0806"
    );
    assert_eq!(refused(|b, x| b.while_loop_helper(&[x], |v| v[0], <[_]>::to_vec)[0]), "E0806");
    assert_eq!(
        refused(|b, x| b.for_each_index(300, ElementType::U8, &[x], |_, v| v.to_vec())[0]),
        "E0807"
    );
    assert_eq!(
        refused(|b, x| b.for_each_index(3, ElementType::F32, &[x], |_, v| v.to_vec())[0]),
        "E0801"
    );
    assert_eq!(
        refused(|_, x| {
            x.disassemble_tuple();
            x
        }),
        "E0801"
    );
}

/// `[[1, 2, 3], [4, 5, 6], [7, 8, 9]]` as one image of one channel.
fn image(b: &Builder) -> Value<'_> {
    b.constant([[[[1f32, 2., 3.], [4., 5., 6.], [7., 8., 9.]]]])
}
#[track_caller]
fn pooled(make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) -> Vec<f64> {
    let b = Builder::new("pool");
    let x = image(&b);
    reals(&evaluate(&b, make(&b, x), &[]))
}
const ONES: [i64; 4] = [1, 1, 1, 1];
const TWOS: [i64; 4] = [1, 1, 2, 2];
#[test]
fn pools_of_the_largest() {
    let nchw = TensorFormat::channels_first(2);
    assert_eq!(pooled(|_, x| x.max_pool(&TWOS, &ONES, Padding::Valid, &nchw)), [5., 6., 8., 9.]);
    assert_eq!(pooled(|_, x| x.max_pool(&TWOS, &TWOS, Padding::Same, &nchw)), [5., 6., 8., 9.]);
    let negative = pooled(|_, x| (-x).max_pool(&TWOS, &TWOS, Padding::Same, &nchw));
    assert_eq!(negative, [-1., -3., -7., -9.]);
    let b = Builder::new("nhwc");
    let x = image(&b).reshape(&[1, 3, 3, 1]);
    let y =
        x.max_pool(&[1, 2, 2, 1], &[1, 1, 1, 1], Padding::Valid, &TensorFormat::channels_last(2));
    assert_eq!(run(&b, y.reshape(&[4]), &[]), "f32[4]{0} {5, 6, 8, 9}");
}
#[test]
fn pools_of_means() {
    let nchw = TensorFormat::channels_first(2);
    let pool = |padding: [(i64, i64); 2], counted| {
        pooled(|_, x| x.avg_pool(&TWOS, &TWOS, &padding, &nchw, counted))
    };
    assert_eq!(pool([(0, 0), (0, 0)], true), [3.0]);
    assert_eq!(pool([(0, 1), (0, 1)], true), [3.0, 2.25, 3.75, 2.25]);
    assert_eq!(pool([(0, 1), (0, 1)], false), [3.0, 4.5, 7.5, 9.0]);
    assert_eq!(pool([(1, 0), (1, 0)], false), [1.0, 2.5, 5.5, 7.0]);
}
/// By hand: each element's share goes to its window.
#[test]
fn pools_of_means_backwards() {
    let nchw = TensorFormat::channels_first(2);
    let grad = |padding: [(i64, i64); 2], stride: [i64; 4], counted, given: &'static [f32]| {
        let b = Builder::new("pool_grad");
        let side = if given.len() == 1 { 1 } else { 2 };
        let out = b.constant(given).reshape(&[1, 1, side, side]);
        let y = out.avg_pool_grad(&[1, 1, 3, 3], &TWOS, &stride, &padding, &nchw, counted);
        reals(&evaluate(&b, y, &[]))
    };
    let none = [(0, 0), (0, 0)];
    assert_eq!(grad(none, TWOS, true, &[4.]), [1., 1., 0., 1., 1., 0., 0., 0., 0.]);
    assert_eq!(grad(none, ONES, true, &[4., 8., 12., 16.]), [1., 3., 2., 4., 10., 6., 3., 7., 4.]);
    let end = [(0, 1), (0, 1)];
    assert_eq!(grad(end, TWOS, false, &[4., 6., 8., 5.]), [1., 1., 3., 1., 1., 3., 4., 4., 5.]);
    assert_eq!(grad(end, TWOS, true, &[4., 8., 8., 4.]), [1., 1., 2., 1., 1., 2., 2., 2., 1.]);
    let start = [(1, 0), (1, 0)];
    assert_eq!(grad(start, TWOS, false, &[3., 4., 6., 8.]), [3., 2., 2., 3., 2., 2., 3., 2., 2.]);
}
#[test]
fn pools_that_do_not_fit() {
    let nchw = TensorFormat::channels_first(2);
    let short = refused(|b, _| {
        let kernel = [1, 1, 2];
        image(b).avg_pool_grad(&kernel, &kernel, &kernel, &[(0, 0), (0, 0)], &nchw, true)
    });
    assert_eq!(short, "E0801");
    let number = |make: &dyn for<'b> Fn(Value<'b>) -> Value<'b>| {
        let b = Builder::new("wrong");
        b.build(make(image(&b))).unwrap_err().number()
    };
    assert_eq!(number(&|x| x.max_pool(&[2, 2], &[1, 1], Padding::Valid, &nchw)), "E0801");
    assert_eq!(number(&|x| x.max_pool(&TWOS, &[1, 1, 0, 1], Padding::Same, &nchw)), "E0801");
    assert_eq!(number(&|x| x.avg_pool(&TWOS, &TWOS, &[(0, 0)], &nchw, true)), "E0801");
    let line = TensorFormat::channels_first(1);
    assert_eq!(number(&|x| x.max_pool(&TWOS, &TWOS, Padding::Valid, &line)), "E0801");
    assert_eq!(
        number(&|x| x.avg_pool_grad(&[1, 1, 9, 9], &TWOS, &TWOS, &[(0, 0), (0, 0)], &nchw, true)),
        "E0801"
    );
}
/// TensorFlow's rule: what is over goes to the end.
#[test]
fn paddings() {
    let nhwc = TensorFormat::channels_last(2);
    let same = |input: i64, window: i64, stride: i64| {
        let (input, kernel) = ([1, input, input, 1], [1, window, window, 1]);
        let stride = [1, stride, stride, 1];
        make_spatial_padding(&input, &kernel, &stride, Padding::Same, &nhwc).unwrap()[0]
    };
    assert_eq!(same(5, 2, 2), (0, 1));
    assert_eq!(same(5, 3, 1), (1, 1));
    assert_eq!(same(6, 5, 2), (1, 2));
    assert_eq!(same(4, 1, 3), (0, 0));
    let sizes = SpatialSizes { input: 5, filter: 3, output: 3 };
    let found = conv_grad_extract_and_verify_dimension(sizes, 1, 2, Padding::Same).unwrap();
    assert_eq!((found.output_size, found.pad_before, found.pad_after), (5, 1, 1));
    let dilated = SpatialSizes { input: 7, filter: 2, output: 2 };
    let found = conv_grad_extract_and_verify_dimension(dilated, 3, 2, Padding::Valid).unwrap();
    assert_eq!((found.output_size, found.pad_before, found.pad_after), (3, 3, 4));
    let wrong = SpatialSizes { input: 7, filter: 3, output: 4 };
    let error = conv_grad_extract_and_verify_dimension(wrong, 1, 2, Padding::Valid).unwrap_err();
    assert!(error.to_string().contains("has size 3, not 4"), "{error}");
    let wrong = SpatialSizes { input: 7, filter: 3, output: 4 };
    assert!(conv_grad_extract_and_verify_dimension(wrong, 1, 0, Padding::Valid).is_err());
}

#[test]
fn branches_of_different_sizes() {
    let b = Builder::new("branches");
    let (pred, x) = (b.parameter(0, "pred[]", "choice"), b.parameter(1, "s32[2]", "x"));
    let y = pred.dynamic_conditional(x, |x| x + 10, x, |x| x.broadcast(&[2]).reshape(&[4]));
    assert_eq!(y.shape().unwrap().to_string(), "s32[<=4]{0}");
    let sum = y.reduce_sum(&[0]);
    assert_eq!(run(&b, sum, &["pred[] true", "s32[2] {1, 2}"]), "s32[] 23");
    assert_eq!(run(&b, sum, &["pred[] false", "s32[2] {1, 2}"]), "s32[] 6");
    let b = Builder::new("branches_alike");
    let (pred, x) = (b.parameter(0, "pred[]", "choice"), b.parameter(1, "s32[2]", "x"));
    let same = pred.dynamic_conditional(x, |x| x + 10, x, |x| x);
    assert_eq!(same.shape().unwrap().to_string(), "s32[2]{0}");
    let text = build(&b, same).module().to_string();
    assert!(!text.contains("set-dimension-size"), "{text}");
    let rank = pred.dynamic_conditional(x, |x| x, x, |x| x.reshape(&[2, 1]));
    assert_eq!(b.build(rank).unwrap_err().number(), "E0806");
    let b = Builder::new("branches_from_outside");
    let (pred, x) = (b.parameter(0, "pred[]", "choice"), b.parameter(1, "s32[2]", "x"));
    let n = b.parameter(2, "s32[]", "n");
    let y = pred.dynamic_conditional(x, |x| x + n, x, |x| (x * n).broadcast(&[2]).reshape(&[4]));
    let sum = y.reduce_sum(&[0]);
    assert_eq!(run(&b, sum, &["pred[] true", "s32[2] {1, 2}", "s32[] 5"]), "s32[] 13");
    assert_eq!(run(&b, sum, &["pred[] false", "s32[2] {1, 2}", "s32[] 5"]), "s32[] 30");
}
#[test]
fn switches_of_different_sizes() {
    let b = Builder::new("switches");
    let (index, x) = (b.parameter(0, "s32[]", "index"), b.parameter(1, "f32[6]", "x"));
    let part = |name, limit: i64| {
        b.computation(name, &["f32[6]"], move |p| {
            let part = p[0].slice_in_minor_dims(&[0], &[limit]);
            part.builder().tuple(&[part, part.reduce_sum(&[0])])
        })
    };
    let branches = [part("one", 1), part("three", 3), part("two", 2)];
    let y = index.dynamic_switch(&branches, &[x, x, x]);
    assert_eq!(y.shape().unwrap().to_string(), "(f32[<=3]{0}, f32[])");
    let [sizes, sum] = [y.get_tuple_element(0).reduce_sum(&[0]), y.get_tuple_element(1)];
    let both = b.tuple(&[sizes, sum]);
    for (index, expected) in [(0, 1), (1, 6), (2, 3)] {
        let found = run(&b, both, &[&format!("s32[] {index}"), "f32[6] {1, 2, 3, 4, 5, 6}"]);
        assert_eq!(found, format!("( f32[] {expected}, f32[] {expected} )"));
    }
    assert_eq!(b.build(index.dynamic_switch(&branches, &[x])).unwrap_err().number(), "E0801");
}
#[test]
fn bounds_are_found() {
    let b = Builder::new("bounds");
    let (x, n) = (b.parameter(0, "f32[10]", "x"), b.parameter(1, "s32[]", "n"));
    let shape =
        |count: Value<'_>| x.set_dimension_size_with_rebound(count, 0).shape().unwrap().to_string();
    assert_eq!(shape(n), "f32[<=10]{0}");
    assert_eq!(shape(n.min(4)), "f32[<=4]{0}");
    assert_eq!(shape(n.clamp(0, 7)), "f32[<=7]{0}");
    assert_eq!(shape(n.min(4) + 2), "f32[<=6]{0}");
    assert_eq!(shape(n.min(4).max(5)), "f32[<=5]{0}");
    assert_eq!(shape(n.min(9) - 3), "f32[<=6]{0}");
    assert_eq!(shape(n.min(20)), "f32[<=10]{0}");
    assert_eq!(shape(n.clamp(0, 3) * 3), "f32[<=9]{0}");
    // Two negative numbers have a product that is not.
    assert_eq!(shape(n.min(3) * 3), "f32[<=10]{0}");
    // Each sum is made of one value twice: to follow every way to the start would take forever.
    let doubled = |first| (0..100).fold(first, |sum, _| sum + sum);
    assert_eq!(shape(doubled(b.constant(0i32))), "f32[0]{0}");
    assert_eq!(shape(doubled(n.min(0))), "f32[<=0]{0}");
    assert_eq!(shape(b.constant(3i32)), "f32[3]{0}");
    assert_eq!(shape(b.constant(10i32)), "f32[10]{0}");
    let y = x.set_dimension_size_with_rebound(n.min(4), 0).reduce_sum(&[0]);
    let ones = "f32[10] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}";
    assert_eq!(run(&b, y, &[ones, "s32[] 3"]), "f32[] 3");
}
#[test]
fn all_sizes_are_set() {
    let b = Builder::new("sizes");
    let (x, n) = (b.parameter(0, "s32[2,3]", "x"), b.parameter(1, "s64[2]", "n"));
    let y = x.set_all_dimension_sizes(n);
    assert_eq!(y.shape().unwrap().to_string(), "s32[<=2,<=3]{1,0}");
    let found =
        run(&b, y.reduce_sum(&[0, 1]), &["s32[2,3] {{1, 2, 4}, {8, 16, 32}}", "s64[2] {1, 2}"]);
    assert_eq!(found, "s32[] 3");
    let known = x.set_all_dimension_sizes(b.constant([1i32, 2]));
    assert_eq!(known.shape().unwrap().to_string(), "s32[2,3]{1,0}");
    assert_eq!(
        b.build(x.set_all_dimension_sizes(b.constant([1i32]))).unwrap_err().number(),
        "E0801"
    );
}

#[test]
fn indices_are_whole_numbers() {
    for sparse in [false, true] {
        let b = Builder::new("indices");
        let x = b.parameter(0, "f32[3]", "x");
        let index = b.constant([1.5f32]).convert_element_type(ElementType::Bf16);
        let error = b.build(x.torch_gather(index, 0, sparse)).unwrap_err();
        assert!(error.to_string().contains("integers, not bf16[1]"), "{error}");
    }
}

/// The first two columns of [`counted`].
fn columns(b: &Builder) -> Value<'_> {
    counted(b).slice_in_dim(0, 2, 1, 1)
}
/// The first row of [`counted`].
fn row(b: &Builder) -> Value<'_> {
    counted(b).slice_in_dim(0, 1, 1, 0)
}
fn second_half(x: Value<'_>, dim: i64) -> Value<'_> {
    x.split(2, dim)[1]
}
fn places(b: &Builder) -> Value<'_> {
    b.constant([[0i32, 1, 2, 0]])
}

#[test]
fn sizes_of_one() {
    let b = Builder::new("sizes");
    let x = b.parameter(0, "f32[1,3,1]", "x");
    let dims = |value: Value<'_>| value.dims().unwrap();
    assert_eq!(dims(x.squeeze(&[])), [3]);
    assert_eq!(dims(x.squeeze(&[0])), [3, 1]);
    assert_eq!(dims(x.squeeze(&[-1, 0])), [3]);
    assert_eq!(dims(x.expand_dims(&[-1, 1])), [1, 1, 3, 1, 1]);
    assert_eq!(dims(x.expand_dims(&[])), [1, 3, 1]);
    assert_eq!(dims(b.constant(1f32).expand_dims(&[0, 1])), [1, 1]);
    assert_eq!(dims(x.reshape(&[-1])), [3]);
    assert_eq!(dims(x.reshape(&[3, -1, 1])), [3, 1, 1]);
    assert_eq!(dims(b.parameter(1, "f32[0,4]", "none").reshape(&[-1, 2])), [0, 2]);
    assert_eq!(refused(|_, x| x.squeeze(&[0])), "E0801");
    assert_eq!(refused(|_, x| x.squeeze(&[2])), "E0801");
    assert_eq!(refused(|_, x| x.expand_dims(&[3])), "E0801");
    assert_eq!(refused(|_, x| x.expand_dims(&[0, -4])), "E0801");
    assert_eq!(refused(|_, x| x.reshape(&[5, -1])), "E0801");
    assert_eq!(refused(|_, x| x.reshape(&[-1, -1])), "E0801");
    assert_eq!(refused(|_, x| x.reshape(&[0, -1])), "E0801");
}

#[test]
fn parts_and_repetitions() {
    assert_eq!(whole(|_, x| second_half(x, 1)), [2, 3, 6, 7, 10, 11]);
    assert_eq!(refused(|_, x| second_half(x, 0)), "E0801");
    assert_eq!(refused(|_, x| second_half(x, 2)), "E0801");
    let b = Builder::new("parts");
    assert!(counted(&b).split(0, 0).is_empty());
    assert_eq!(b.first_error().unwrap().number(), "E0801");

    assert_eq!(whole(|b, _| columns(b).tile(&[1, 2])), [0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9]);
    assert_eq!(whole(|b, _| columns(b).tile(&[2, 1])), [0, 1, 4, 5, 8, 9, 0, 1, 4, 5, 8, 9]);
    assert_eq!(whole(|b, _| columns(b).repeat(2, -1)), [0, 0, 1, 1, 4, 4, 5, 5, 8, 8, 9, 9]);
    assert_eq!(whole(|b, _| columns(b).repeat(2, 0)), [0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9]);
    assert_eq!(whole(|b, _| columns(b).tile(&[0, 1])), [0i64; 0]);
    assert_eq!(refused(|_, x| x.tile(&[2])), "E0801");
    let _code = refused(|_, x| x.repeat(-1, 0));
    let _code = refused(|_, x| x.tile(&[1, i64::MAX]));
}

#[test]
fn rotations_and_stacks() {
    assert_eq!(whole(|b, _| row(b).roll(1, 1)), [3, 0, 1, 2]);
    assert_eq!(whole(|b, _| row(b).roll(-1, -1)), [1, 2, 3, 0]);
    assert_eq!(whole(|b, _| row(b).roll(4, 1)), [0, 1, 2, 3]);
    assert_eq!(whole(|b, _| row(b).roll(i64::MIN, 1)), [0, 1, 2, 3]);
    assert_eq!(whole(|b, _| b.iota("s32[0]", 0).roll(1, 0)), [0i64; 0]);
    assert_eq!(whole(|b, _| b.stack(&[row(b), row(b)], 1)), [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(whole(|b, _| b.stack(&[row(b), row(b)], -1)), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(whole(|b, _| b.stack(&[b.constant(7i32), b.constant(8i32)], 0)), [7, 8]);
    assert_eq!(refused(|b, _| b.stack(&[], 0)), "E0801");
    assert_eq!(refused(|b, x| b.stack(&[x, row(b)], 0)), "E0301");
}

#[test]
fn elements_by_place() {
    let keys = [[3f32, f32::NAN, -0.0, 0.0, 3.0]];
    assert_eq!(whole(|b, _| b.constant(keys).argsort(-1)), [2, 3, 0, 4, 1]);
    assert_eq!(whole(|b, x| x.take(b.constant([2i32, -5, 9]), 1)).len(), 9);
    assert_eq!(whole(|b, x| x.take(b.constant(1i32), 0)), [4, 5, 6, 7]);
    assert_eq!(whole(|b, x| x.take_along_axis(places(b), 0)), [0, 5, 10, 3]);
    assert_eq!(
        whole(|b, _| b.constant([1i32, 2]).outer(b.constant([3i32, 4, 5]))),
        [3, 4, 5, 6, 8, 10]
    );
    assert_eq!(refused(|b, x| b.constant([1i32]).outer(x)), "E0801");
}

#[test]
fn equal_distances() {
    let b = Builder::new("distances");
    let points = |start, stop, count| {
        reals(&evaluate(&b, b.linspace(ElementType::F64, start, stop, count), &[]))
    };
    assert_eq!(points(0.1, 0.7, 2), [0.1, 0.7]);
    assert_eq!(points(0.1, 0.7, 1), [0.1]);
    assert_eq!(points(0.1, 0.7, 0), [0f64; 0]);
    assert_eq!(points(3.0, -1.0, 5), [3.0, 2.0, 1.0, 0.0, -1.0]);
    assert_eq!(refused(|b, _| b.linspace(ElementType::S32, 0.0, 1.0, 2)), "E0801");
}
