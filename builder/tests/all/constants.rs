//! Constants, counts, repeated numbers; three-operand logic; the comparison with everything said.
use crate::support::{build, refused, run};
use builder::Builder;
use half::{bf16, f16};
use hlo::op::value::{ComparisonType, Direction};
use hlo::{ElementType, Literal};

#[test]
fn constants_of_every_rank() {
    // ConstantR0 to R4, ConstantFromArray.
    let b = Builder::new("constants");
    assert_eq!(run(&b, b.constant(-3i8), &[]), "s8[] -3");
    assert_eq!(
        run(&b, b.constant(&[1u64, u64::MAX][..]), &[]),
        "u64[2]{0} {1, 18446744073709551615}"
    );
    assert_eq!(run(&b, b.constant(vec![vec![true, false]]), &[]), "pred[1,2]{1,0} { { 1, 0 } }");
    let cube = b.constant([[[1.5f64], [2.5]], [[3.5], [4.5]]]);
    assert_eq!(run(&b, cube, &[]), "f64[2,2,1]{2,1,0} { { {1.5}, {2.5} }, { {3.5}, {4.5} } }");
    let four = b.constant(ndarray::Array4::from_shape_fn((1, 2, 1, 2), |(_, i, _, j)| {
        i16::from(u8::try_from(2 * i + j).unwrap())
    }));
    assert_eq!(four.shape().unwrap().to_string(), "s16[1,2,1,2]{3,2,1,0}");
    assert_eq!(run(&b, four.reshape(&[4]), &[]), "s16[4]{0} {0, 1, 2, 3}");
    let halves = b.constant([f16::from_f32(0.5), f16::from_f32(-2.0)]);
    assert_eq!(run(&b, halves, &[]), "f16[2]{0} {0.5, -2}");
    assert_eq!(run(&b, b.constant([bf16::ONE, bf16::ZERO]), &[]), "bf16[2]{0} {1, 0}");
    let literal: Literal = "c64[1] {(1,-2)}".parse().unwrap();
    assert_eq!(run(&b, b.constant(&literal), &[]), "c64[1]{0} {(1, -2)}");
}

#[test]
fn a_repeated_constant_is_a_broadcast_scalar() {
    let b = Builder::new("repeated");
    let sevens = b.constant([[7i32; 3]; 2]);
    let text = build(&b, sevens).module().to_string();
    assert!(text.contains("broadcast(") && text.contains("s32[] constant(7)"), "{text}");
    // -0 and 0 are equal, but not the same bits.
    let zeros = b.constant([0f32, -0.0]);
    assert_eq!(run(&b, zeros, &[]), "f32[2]{0} {0, -0}");
    assert_eq!(b.constant([5i32]).opcode().unwrap().name(), "constant");
}

#[test]
fn filled_vectors() {
    let b = Builder::new("filled");
    assert_eq!(run(&b, b.constant_r1_filled(3, 2.5f32), &[]), "f32[3]{0} {2.5, 2.5, 2.5}");
    assert_eq!(run(&b, b.constant_r1_filled(1, true), &[]), "pred[1]{0} {1}");
    assert_eq!(run(&b, b.constant_r1_filled(0, 1u8), &[]), "u8[0]{0} {}");
    // A large one costs nothing until it runs.
    let large = b.constant_r1_filled(1 << 40, 1u8);
    assert_eq!(large.dims().unwrap(), [1 << 40]);
    refused(&b, b.constant_r1_filled(-1, 1u8), "the size -1 in [-1] is negative");
}

#[test]
fn layouts_change_no_value() {
    let b = Builder::new("layout");
    let x = b.constant_with_layout([[1i32, 2, 3], [4, 5, 6]], &[0, 1]);
    assert_eq!(x.shape().unwrap().to_string(), "s32[2,3]{0,1}");
    assert_eq!(run(&b, x, &[]), "s32[2,3]{0,1} { { 1, 2, 3 }, { 4, 5, 6 } }");
    let row = x.slice_in_dim(0, 1, 1, 0).reshape(&[3]);
    assert_eq!(run(&b, row, &[]), "s32[3]{0} {1, 2, 3}");
    for layout in [&[0i64][..], &[0, 0], &[0, 2], &[-1, 0]] {
        let b = Builder::new("layout");
        refused(
            &b,
            b.constant_with_layout([[1i32, 2]], layout),
            "does not order the dimensions of s32[1,2]",
        );
    }
}

#[test]
fn iota() {
    let b = Builder::new("iota");
    assert_eq!(run(&b, b.iota("s32[2,3]", 0), &[]), "s32[2,3]{1,0} { { 0, 0, 0 }, { 1, 1, 1 } }");
    assert_eq!(run(&b, b.iota("f32[2,3]", -1), &[]), "f32[2,3]{1,0} { { 0, 1, 2 }, { 0, 1, 2 } }");
    assert_eq!(run(&b, b.iota_1d(ElementType::U8, 4), &[]), "u8[4]{0} {0, 1, 2, 3}");
    assert_eq!(run(&b, b.iota_1d(ElementType::F32, 0), &[]), "f32[0]{0} {}");
    for (shape, dim, expected) in [
        ("s32[2,3]", 2, "dimension 2 does not exist in s32[2,3]"),
        ("s32[2,3]", -3, "dimension -3 does not exist in s32[2,3]"),
        ("s32[]", 0, "dimension 0 does not exist in s32[]"),
        ("pred[2]", 0, "`iota` is not defined on pred"),
        ("s32[<=4]", 0, "the dynamic sizes of s32[<=4] are unknown"),
        ("(s32[2])", 0, "expected the result of `iota` to be an array, found (s32[2])"),
        ("s32[2", 0, "E01"),
    ] {
        let b = Builder::new("iota");
        refused(&b, b.iota(shape, dim), expected);
    }
    let b = Builder::new("iota");
    refused(&b, b.iota_1d(ElementType::S32, i64::MAX), "in bytes overflows 64 bits");
    let b = Builder::new("iota");
    refused(&b, b.iota_1d(ElementType::S32, -5), "the size -5 in [-5] is negative");
}

#[test]
fn and_or_of_three() {
    let b = Builder::new("three");
    let (x, y, z) = (b.constant([12u8, 255]), b.constant([10u8, 15]), b.constant([9u8, 4]));
    assert_eq!(run(&b, b.and_all(&[x, y, z]), &[]), "u8[2]{0} {8, 4}");
    assert_eq!(run(&b, b.or_all(&[x, y, z, b.constant(16u8)]), &[]), "u8[2]{0} {31, 255}");
    assert_eq!(run(&b, b.and_all(&[x]), &[]), "u8[2]{0} {12, 255}");
    refused(&b, b.or_all(&[]), "`or` of an empty list");
    let b = Builder::new("three");
    refused(&b, b.and_all(&[b.constant(1f32), b.constant(2f32), b.constant(3f32)]), "E0303");
}

#[test]
fn compare_with_everything_said() {
    let b = Builder::new("compare");
    let (x, y) = (b.constant([f32::NAN, -0.0, 1.0]), b.constant([1f32, 0.0, 1.0]));
    let total = Some(ComparisonType::TotalOrder);
    assert_eq!(run(&b, x.compare(y, Direction::Gt, total), &[]), "pred[3]{0} {1, 0, 0}");
    assert_eq!(run(&b, x.compare(y, Direction::Lt, total), &[]), "pred[3]{0} {0, 1, 0}");
    assert_eq!(run(&b, x.compare(y, Direction::Eq, None), &[]), "pred[3]{0} {0, 1, 1}");
    // Laid along a dimension.
    let rows = b.constant([[1i32, 2], [3, 4]]);
    let columns = rows.compare(b.constant([1i32, 4]).along(&[0]), Direction::Ge, None);
    assert_eq!(run(&b, columns, &[]), "pred[2,2]{1,0} { { 1, 1 }, { 0, 1 } }");
    // All twelve names; NaN, -0, 1 against 1, 0, 1.
    for (value, expected) in [
        (x.eq(y), [0, 1, 1]),
        (x.ne(y), [1, 0, 0]),
        (x.ge(y), [0, 1, 1]),
        (x.gt(y), [0, 0, 0]),
        (x.le(y), [0, 1, 1]),
        (x.lt(y), [0, 0, 0]),
        (x.eq_total_order(y), [0, 0, 1]),
        (x.ne_total_order(y), [1, 1, 0]),
        (x.ge_total_order(y), [1, 0, 1]),
        (x.gt_total_order(y), [1, 0, 0]),
        (x.le_total_order(y), [0, 1, 1]),
        (x.lt_total_order(y), [0, 1, 0]),
    ] {
        let [p, q, r] = expected;
        assert_eq!(run(&b, value, &[]), format!("pred[3]{{0}} {{{p}, {q}, {r}}}"));
    }
}

#[test]
fn names_that_a_text_cannot_hold() {
    let b = Builder::new("a module, with a \"name\"");
    let names = ["pred", "f32", "token", "__x", "two words", "7", "a.b-c", "ä", ""];
    let values: Vec<_> = names.iter().map(|name| b.input(name, "s32[]")).collect();
    let twice = b.computation("no name", &["s32[]"], |p| p[0] + p[0]);
    let sum = values.iter().fold(b.constant(0i32), |sum, &x| sum + b.call(twice, &[x]));
    // `build` reads the text back.
    let text = build(&b, sum).module().to_string();
    for name in [
        "%pred_ =",
        "%f32_ =",
        "%token_ =",
        "%a_x =",
        "%two_words =",
        "%_7 =",
        "%a.b-c =",
        "%_ =",
        "%p8 =",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
}
