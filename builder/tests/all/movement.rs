//! Ops that move elements to places known when the module is made: values by hand, and the
//! likeliest mistakes.
use crate::support::{refuses_on, run};
use builder::{Builder, Value};
use hlo::ElementType;

/// Each mistake in a builder of its own.
#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) {
    refuses_on([[1i32, 2, 3], [4, 5, 6]], expected, make);
}

#[test]
fn copies() {
    let b = Builder::new("copy");
    let x = b.parameter(0, "f32[2]", "x");
    assert_eq!(x.copy().opcode().unwrap().name(), "copy");
    assert_eq!(run(&b, x.copy(), &["f32[2] {1, 2}"]), "f32[2]{0} {1, 2}");
}

#[test]
fn pads() {
    let b = Builder::new("pad");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    let padded = x.pad(0, &[(1, 0, 0), (0, 1, 1)]);
    let expected =
        "s32[3,6]{1,0} { { 0, 0, 0, 0, 0, 0 }, { 1, 0, 2, 0, 3, 0 }, { 4, 0, 5, 0, 6, 0 } }";
    assert_eq!(run(&b, padded, &[]), expected);
    // The interior comes first: 1 0 2 0 3 loses two in front and one behind.
    let cut = b.constant([1i32, 2, 3]).pad(0, &[(-2, -1, 1)]);
    assert_eq!(run(&b, cut, &[]), "s32[2]{0} {2, 0}");
    let value = b.constant(9i32);
    let empty = b.constant(Vec::<i32>::new()).pad(value, &[(1, 2, 5)]);
    assert_eq!(run(&b, empty, &[]), "s32[3]{0} {9, 9, 9}");
    let expected = "s32[2,4]{1,0} { { 7, 1, 2, 7 }, { 7, 4, 5, 7 } }";
    let one = x.slice_in_dim(0, 2, 1, 1).pad_in_dim(7, -1, 1, 1);
    assert_eq!(run(&b, one, &[]), expected);
    assert_eq!(run(&b, x.pad_in_dim(7, 0, -1, 0), &[]), "s32[1,3]{1,0} { { 4, 5, 6 } }");
}

#[test]
fn a_scalar_has_nowhere_to_pad() {
    let b = Builder::new("pad_scalar");
    assert_eq!(run(&b, b.constant(5i32).pad(0, &[]), &[]), "s32[] 5");
}

#[test]
fn mistakes_in_padding() {
    refuses("`padding` has 1 entry, s32[2,3] has rank 2", |_, x| x.pad(0, &[(1, 1, 0)]));
    refuses("interior padding -1 is negative", |_, x| x.pad(0, &[(0, 0, -1), (0, 0, 0)]));
    refuses("padding changes size 2 to -1", |_, x| x.pad(0, &[(-2, -1, 0), (0, 0, 0)]));
    refuses("padding changes size 2 to 27670116110564327423", |_, x| {
        x.pad(0, &[(i64::MAX, i64::MAX, i64::MAX), (0, 0, 0)])
    });
    refuses("in bytes overflows 64 bits", |_, x| x.pad(0, &[(i64::MAX / 2, 0, 0), (0, 0, 0)]));
    refuses("the padding value is f32[], expected s32[]", |b, x| {
        x.pad(b.constant(1f32), &[(0, 0, 0), (0, 0, 0)])
    });
    refuses("1.5 is not a value of s32", |_, x| x.pad(1.5, &[(0, 0, 0), (0, 0, 0)]));
    refuses("dimension 2 does not exist in s32[2,3]", |_, x| x.pad_in_dim(0, 2, 1, 1));
    refuses("dimension -3 does not exist in s32[2,3]", |_, x| x.pad_in_dim(0, -3, 1, 1));
    refuses("expected an array", |b, x| b.tuple(&[x]).pad_in_dim(0, 0, 1, 1));
}

#[test]
fn slices() {
    let b = Builder::new("slice");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    assert_eq!(
        run(&b, x.slice(&[0, 0], &[2, 3], &[1, 2]), &[]),
        "s32[2,2]{1,0} { { 1, 3 }, { 4, 6 } }"
    );
    assert_eq!(run(&b, x.slice_in_dim(1, 2, 1, 0), &[]), "s32[1,3]{1,0} { { 4, 5, 6 } }");
    assert_eq!(run(&b, x.slice_in_dim(1, 1, 1, 0), &[]), "s32[0,3]{1,0} {  }");
    assert_eq!(run(&b, x.slice_in_dim(0, 3, 5, -1), &[]), "s32[2,1]{1,0} { {1}, {4} }");
    assert_eq!(run(&b, b.constant(8u8).slice(&[], &[], &[]), &[]), "u8[] 8");
}

#[test]
fn mistakes_in_slices() {
    refuses("range [0:4] does not fit in a dimension of size 3", |_, x| x.slice_in_dim(0, 4, 1, 1));
    refuses("range [-1:2] does not fit", |_, x| x.slice_in_dim(-1, 2, 1, 1));
    refuses("range [2:1] ends before it starts", |_, x| x.slice_in_dim(2, 1, 1, 1));
    refuses("stride 0 is not positive", |_, x| x.slice_in_dim(0, 1, 0, 1));
    refuses("stride -9223372036854775808 is not positive", |_, x| {
        x.slice_in_dim(0, 1, i64::MIN, 1)
    });
    refuses("does not fit", |_, x| x.slice_in_dim(i64::MIN, i64::MAX, i64::MAX, 1));
    refuses("dimension 5 does not exist", |_, x| x.slice_in_dim(0, 1, 1, 5));
    refuses("`starts` has 1 entry, s32[2,3] has rank 2", |_, x| x.slice(&[0], &[1, 1], &[1, 1]));
    refuses("`limits` has 3 entries", |_, x| x.slice(&[0, 0], &[1, 1, 1], &[1, 1]));
    refuses("`strides` has 0 entries", |_, x| x.slice(&[0, 0], &[1, 1], &[]));
}

#[test]
fn mistakes_in_other_moves() {
    refuses("dimension 2 does not exist in s32[2,3]", |_, x| x.rev(&[2]));
    refuses("dimension 1 is listed twice", |_, x| x.rev(&[1, -1]));
    refuses("are not consecutive", |_, x| x.collapse(&[1, 0]));
    refuses("are not consecutive", |b, _| b.iota("s32[2,3,4]", 0).collapse(&[0, 2]));
    refuses("not all of the dimensions [1, 2] exist in s32[2,3]", |_, x| x.collapse(&[1, 2]));
    refuses("not all of the dimensions [7] exist", |_, x| x.collapse(&[7]));
    refuses("are not consecutive", |_, x| x.collapse(&[i64::MAX, i64::MIN]));
    refuses("the size -2 in [-2, 6] is negative", |_, x| x.reshape(&[-2, 6]));
    refuses("s32[2,3] cannot have the sizes [0, -1]", |_, x| x.reshape(&[0, -1]));
    refuses("s32[2,3] cannot have the sizes [-1, 4]", |_, x| x.reshape(&[-1, 4]));
    refuses("s32[2,3] has 6 elements, s32[5] has 5", |_, x| x.reshape(&[5]));
    refuses("64 bits", |_, x| x.reshape(&[i64::MAX, i64::MAX]));
    refuses("the size -2 in [-2] is negative", |_, x| x.broadcast(&[-2]));
    refuses("64 bits", |_, x| x.broadcast(&[i64::MAX, 2]));
    refuses("the size -3", |_, x| x.broadcast_in_dim(&[2, -3], &[0, 1]));
    refuses("cannot be broadcast to dimension 0", |_, x| x.broadcast_in_dim(&[4, 3], &[0, 1]));
    refuses("are not increasing", |_, x| x.broadcast_in_dim(&[3, 2], &[1, 0]));
    refuses("does not exist in", |_, x| x.broadcast_in_dim(&[2, 3], &[0, 2]));
    refuses("expected 2", |_, x| x.transpose(&[0]));
    refuses("dimension 0 is listed twice", |_, x| x.transpose(&[0, 0]));
    refuses("does not exist", |_, x| x.transpose(&[0, -3]));
}

#[test]
fn collapses() {
    let b = Builder::new("collapse");
    let x = b.iota("s32[2,3,4]", 2);
    assert_eq!(x.collapse(&[0, 1]).dims().unwrap(), [6, 4]);
    assert_eq!(x.collapse(&[1, 2]).dims().unwrap(), [2, 12]);
    // One dimension or none is nothing to do.
    assert_eq!(x.collapse(&[1]).opcode().unwrap().name(), "iota");
    assert_eq!(x.collapse(&[]).dims().unwrap(), [2, 3, 4]);
    let empty = b.iota("s32[2,0,4]", 0).collapse(&[0, 1]);
    assert_eq!(run(&b, empty, &[]), "s32[0,4]{1,0} {  }");
}

#[test]
fn reshapes_to_shapes() {
    let b = Builder::new("reshape");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    let turned = x.reshape_to("s32[3,2]{0,1}");
    assert_eq!(run(&b, turned, &[]), "s32[3,2]{0,1} { { 1, 2 }, { 3, 4 }, { 5, 6 } }");
    let inferred = x.reshape_with_inferred_dimension(&[3, 2], 1);
    assert_eq!(run(&b, inferred, &[]), "s32[3,2]{1,0} { { 1, 2 }, { 3, 4 }, { 5, 6 } }");
    refuses("a reshape of s32 cannot return f32", |_, x| x.reshape_to("f32[6]"));
    refuses("the inferred dimension 2 is none of the 2 of [3, 2]", |_, x| {
        x.reshape_with_inferred_dimension(&[3, 2], 2)
    });
}

#[test]
fn arrays_end_to_end() {
    let b = Builder::new("concat");
    let (x, y) = (b.constant([[1i32, 2], [3, 4]]), b.constant([[5i32], [6]]));
    let wide = b.concat_in_dim(&[x, y, x], -1);
    assert_eq!(run(&b, wide, &[]), "s32[2,5]{1,0} { { 1, 2, 5, 1, 2 }, { 3, 4, 6, 3, 4 } }");
    let none = b.constant(Vec::<Vec<i32>>::new()).reshape(&[0, 2]);
    assert_eq!(
        run(&b, b.concat_in_dim(&[none, x], 0), &[]),
        "s32[2,2]{1,0} { { 1, 2 }, { 3, 4 } }"
    );
    refuses("`concat_in_dim` of an empty list", |b, _| b.concat_in_dim(&[], 0));
    refuses("dimension 0 does not exist in s32[]", |b, _| b.concat_in_dim(&[b.constant(1i32)], 0));
    refuses("operands are s32 and f32", |b, x| b.concat_in_dim(&[x, b.iota("f32[2,3]", 0)], 0));
    refuses("differ in dimensions other than 0", |b, x| {
        b.concat_in_dim(&[x, b.iota("s32[2,4]", 0)], 0)
    });
    refuses("differ in dimensions other than 0", |b, x| {
        b.concat_in_dim(&[x, b.iota("s32[3]", 0)], 0)
    });
}

#[test]
fn bitcast_conversions() {
    let b = Builder::new("bitcast");
    let x = b.constant([1.0f32, -2.0]);
    let bits = x.bitcast_convert_type(ElementType::U32);
    assert_eq!(run(&b, bits, &[]), "u32[2]{0} {1065353216, 3221225472}");
    let bytes = b.constant(0x0403_0201u32).bitcast_convert_type(ElementType::U8);
    assert_eq!(run(&b, bytes, &[]), "u8[4]{0} {1, 2, 3, 4}");
    let back = bytes.bitcast_convert_type(ElementType::S32);
    assert_eq!(run(&b, back, &[]), "s32[] 67305985");
    refuses("expected the last dimension of s32[2,3] to be 2", |_, x| {
        x.bitcast_convert_type(ElementType::F64)
    });
    refuses("expected both or neither to be complex", |_, x| {
        x.bitcast_convert_type(ElementType::C64)
    });
}

#[test]
fn reduced_precision() {
    let b = Builder::new("precision");
    // 1 + 2^-7 + 2^-8: with 7 bits of mantissa it lies between 1 + 2^-7 and 1 + 2^-6, ties to even.
    let x = b.constant([1.011_718_8f32, 1e30, -0.1]);
    let rounded = x.reduce_precision(8, 7);
    let expected = "f32[3]{0} {1.015625, 1.00025555e+30, -0.100097656}";
    assert_eq!(run(&b, rounded, &[]), expected);
    // Five bits of exponent hold nothing as large as 1e30.
    let half = x.reduce_precision(5, 10).slice(&[1], &[2], &[1]);
    assert_eq!(run(&b, half, &[]), "f32[1]{0} {inf}");
    refuses("expected at least 1 exponent bit, found 0", |b, _| {
        b.constant(1f32).reduce_precision(0, 3)
    });
    refuses("expected at least 0 mantissa bits, found -1", |b, _| {
        b.constant(1f32).reduce_precision(5, -1)
    });
    refuses("E0303", |_, x| x.reduce_precision(5, 10));
}

#[test]
fn stochastic_rounding() {
    let b = Builder::new("stochastic");
    // A fraction of a quarter: below 2^30 away from zero, from there on towards it. An integer has
    // no chance.
    let x = b.constant([1.25f32, 1.25, -7.25, -7.25, 2.0, 1000.5]);
    let random = b.constant([(1u32 << 30) - 1, 1 << 30, 0, u32::MAX, 0, 0]);
    let rounded = x.stochastic_convert_type(random, ElementType::S8);
    assert_eq!(run(&b, rounded, &[]), "s8[6]{0} {2, 1, -8, -7, 2, 127}");
    refuses("the random numbers are u8, expected the 32 bits of f32", |b, _| {
        b.constant([1f32]).stochastic_convert_type(b.constant([1u8]), ElementType::Bf16)
    });
    refuses("E0303", |b, x| x.stochastic_convert_type(b.iota("u32[2,3]", 0), ElementType::Bf16));
}
