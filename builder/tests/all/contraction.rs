//! Dots of every kind: result types, precisions, groups, scales; and the likeliest mistakes.
use crate::support::{build, refuses_on, run};
use builder::options::{DotDimensionNumbers, DotOptions, RaggedDotDimensionNumbers};
use builder::{Builder, Value};
use hlo::ElementType;
use hlo::op::value::{DotAlgorithm, Precision};

#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) {
    refuses_on([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], expected, make);
}
fn over(lhs: &[i64], rhs: &[i64]) -> DotDimensionNumbers {
    DotDimensionNumbers {
        lhs_contracting_dimensions: lhs.to_vec(),
        rhs_contracting_dimensions: rhs.to_vec(),
        ..Default::default()
    }
}
fn of_type(ty: ElementType) -> DotOptions {
    DotOptions { preferred_element_type: Some(ty), ..Default::default() }
}

#[test]
fn result_types() {
    let b = Builder::new("types");
    let x = b.constant([100i8, 100]);
    let ones = b.constant([1i8, 1]);
    // 200 wraps in s8 and fits s32.
    assert_eq!(run(&b, x.dot_with(ones, &DotOptions::default()), &[]), "s8[] -56");
    assert_eq!(run(&b, x.dot_with(ones, &of_type(ElementType::S32)), &[]), "s32[] 200");
    // Without a wish, the type that holds more.
    let mixed = b
        .constant([half::f16::ONE, half::f16::ONE])
        .dot_with(b.constant([1.5f32, 2.0]), &DotOptions::default());
    assert_eq!(run(&b, mixed, &[]), "f32[] 3.5");
    refuses("sums of products of s32 cannot have type s8", |b, _| {
        b.constant([1i32]).dot_with(b.constant([1i32]), &of_type(ElementType::S8))
    });
}

#[test]
fn precisions_and_algorithms_are_kept() {
    let b = Builder::new("precision");
    let x = b.constant([1f32, 2.0]);
    let options = DotOptions {
        precision: [Precision::Highest, Precision::Default],
        algorithm: DotAlgorithm::F32F32F32,
        ..Default::default()
    };
    let y = x.dot_with(x, &options);
    assert_eq!(run(&b, y, &[]), "f32[] 5");
    let text = build(&b, y).module().to_string();
    assert!(text.contains("operand_precision={highest,default}"), "{text}");
    assert!(text.contains("algorithm=dot_f32_f32_f32"), "{text}");
    let text = build(&b, x.dot_with(x, &DotOptions::default())).module().to_string();
    assert_eq!(text.matches("operand_precision").count(), 0, "{text}");
}

#[test]
fn outer_and_empty_products() {
    let b = Builder::new("outer");
    let (x, y) = (b.constant([1i32, 2]), b.constant([10i32, 20, 30]));
    let outer = x.dot_general(y, &over(&[], &[]), &DotOptions::default());
    assert_eq!(run(&b, outer, &[]), "s32[2,3]{1,0} { { 10, 20, 30 }, { 20, 40, 60 } }");
    let empty = b.iota("s32[2,0]", 0).dot_with(b.iota("s32[0,3]", 0), &DotOptions::default());
    assert_eq!(run(&b, empty, &[]), "s32[2,3]{1,0} { { 0, 0, 0 }, { 0, 0, 0 } }");
    // Two dimensions at once: 1*1 + 2*2 + 3*3 + 4*4.
    let m = b.constant([[1i32, 2], [3, 4]]);
    let all = m.dot_general(m, &over(&[0, 1], &[0, 1]), &DotOptions::default());
    assert_eq!(run(&b, all, &[]), "s32[] 30");
    // Paired as listed: the trace of the square.
    let crossed = m.dot_general(m, &over(&[0, 1], &[1, 0]), &DotOptions::default());
    assert_eq!(run(&b, crossed, &[]), "s32[] 29");
}

#[test]
fn mistakes() {
    let plain = DotOptions::default;
    refuses("dimension 1 of f32[2,3] and dimension 0 of f32[2,3] differ in size", |_, x| {
        x.dot_with(x, &plain())
    });
    refuses("`dot` multiplies vectors and matrices, found f32[]", |b, x| {
        x.dot_with(b.constant(1f32), &plain())
    });
    refuses("found f32[1,2,3]", |_, x| x.broadcast(&[1]).dot_with(x, &plain()));
    refuses("expected an array, found (f32[2,3])", |b, x| b.tuple(&[x]).dot_with(x, &plain()));
    refuses("dimension 2 does not exist in f32[2,3]", |_, x| {
        x.dot_general(x, &over(&[2], &[1]), &plain())
    });
    refuses("dimension -3 does not exist in f32[2,3]", |_, x| {
        x.dot_general(x, &over(&[-3], &[-1]), &plain())
    });
    refuses("found 1 dimension of the left operand and 2 of the right", |_, x| {
        x.dot_general(x, &over(&[1], &[0, 1]), &plain())
    });
    refuses("dimension 1 is listed twice", |_, x| {
        x.dot_general(x, &over(&[1, 1], &[1, 1]), &plain())
    });
    refuses("64 bits", |b, _| {
        let large = b.iota("f32[4294967296]", 0);
        large.dot_general(large, &over(&[], &[]), &plain())
    });
    refuses("`dot_f64_f64_f64`", |b, _| {
        let x = b.constant([1i32]);
        x.dot_with(x, &DotOptions { algorithm: DotAlgorithm::F64F64F64, ..plain() })
    });
}

#[test]
fn groups_of_rows() {
    // Rows 0 and 1 meet the first slice, row 2 the second; row 3 belongs to no group.
    let b = Builder::new("ragged");
    let lhs = b.constant([[1f32, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]);
    let rhs = b.constant([[[1f32], [1.0]], [[10.0], [100.0]]]);
    let numbers = RaggedDotDimensionNumbers {
        dot_dimension_numbers: over(&[1], &[1]),
        lhs_ragged_dimensions: vec![0],
        rhs_group_dimensions: vec![0],
    };
    let options = DotOptions::default();
    let y = lhs.ragged_dot(rhs, b.constant([2i32, 1]), &numbers, &options);
    assert_eq!(run(&b, y, &[]), "f32[4,1]{1,0} { {3}, {7}, {650}, {0} }");
    // Summed over: each group gives a result of its own.
    let numbers = RaggedDotDimensionNumbers {
        dot_dimension_numbers: over(&[0], &[0]),
        lhs_ragged_dimensions: vec![0],
        rhs_group_dimensions: vec![],
    };
    let ones = b.constant([[1f32], [1.0], [1.0], [1.0]]);
    let y = lhs.ragged_dot(ones, b.constant([1i32, 3]), &numbers, &options);
    assert_eq!(run(&b, y, &[]), "f32[2,2,1]{2,1,0} { { {1}, {2} }, { {15}, {18} } }");
}

#[test]
fn mistakes_in_groups() {
    let numbers = |ragged: &[i64], groups: &[i64]| RaggedDotDimensionNumbers {
        dot_dimension_numbers: over(&[1], &[1]),
        lhs_ragged_dimensions: ragged.to_vec(),
        rhs_group_dimensions: groups.to_vec(),
    };
    let options = DotOptions::default();
    refuses("expected one ragged dimension of the left operand, found 0", |b, x| {
        x.ragged_dot(b.iota("f32[2,3,1]", 0), b.constant([1i32, 1]), &numbers(&[], &[0]), &options)
    });
    refuses("expected one group dimension of the right operand, found 0", |b, x| {
        x.ragged_dot(b.iota("f32[2,3,1]", 0), b.constant([1i32, 1]), &numbers(&[0], &[]), &options)
    });
    refuses("group sizes are s32[]", |b, x| {
        x.ragged_dot(b.iota("f32[2,3,1]", 0), b.constant(1i32), &numbers(&[0], &[0]), &options)
    });
    refuses("`ragged_dot` takes no algorithm", |b, x| {
        let options = DotOptions { algorithm: DotAlgorithm::F32F32F32, ..DotOptions::default() };
        x.ragged_dot(b.iota("f32[2,3,1]", 0), b.constant([1i32, 1]), &numbers(&[0], &[0]), &options)
    });
}

#[test]
fn scaled_blocks() {
    // Two blocks of two along the sum: (1 + 1) * 10 + (1 + 1) * 100, and one block on the right
    // side, doubled.
    let b = Builder::new("scaled");
    let (x, y) = (b.constant([[1f32, 1.0, 1.0, 1.0]]), b.constant([[1f32], [1.0], [1.0], [1.0]]));
    let (left, right) = (b.constant([[10f32, 100.0]]), b.constant([[2f32]]));
    let product = x.scaled_dot(y, [left, right], &over(&[1], &[0]), &DotOptions::default());
    assert_eq!(run(&b, product, &[]), "f32[1,1]{1,0} { {440} }");
    refuses("cannot be divided into blocks", |b, x| {
        let scales = [b.iota("f32[2,2]", 0), b.constant(half::bf16::ONE)];
        x.scaled_dot(x, scales, &over(&[1], &[1]), &DotOptions::default())
    });
    refuses("at most one of the two scales can be a scalar", |b, _| {
        let x = b.iota("bf16[2,3]", 0);
        let one = b.constant(half::bf16::ONE);
        x.scaled_dot(x, [one, one], &over(&[1], &[1]), &DotOptions::default())
    });
}
