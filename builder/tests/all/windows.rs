//! Moving windows: values by hand, several arrays at once, and the likeliest mistakes.
use crate::support::{refuses_on, run};
use builder::options::{Padding, WindowOptions};
use builder::{Builder, Value};

#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) {
    refuses_on([1i32, 2, 3, 4, 5], expected, make);
}
fn sum<'b>(a: Value<'b>, c: Value<'b>) -> Value<'b> {
    a + c
}

#[test]
fn sums_under_windows() {
    let b = Builder::new("sums");
    let x = b.constant([1i32, 2, 3, 4, 5]);
    let sums = |size, stride, padding| x.reduce_window(0, sum, &[size], &[stride], padding);
    assert_eq!(run(&b, sums(2, 1, Padding::Valid), &[]), "s32[4]{0} {3, 5, 7, 9}");
    assert_eq!(run(&b, sums(2, 2, Padding::Valid), &[]), "s32[2]{0} {3, 7}");
    // One element of padding, behind: the last window holds 5 alone.
    assert_eq!(run(&b, sums(2, 1, Padding::Same), &[]), "s32[5]{0} {3, 5, 7, 9, 5}");
    assert_eq!(run(&b, sums(3, 2, Padding::Same), &[]), "s32[3]{0} {3, 9, 9}");
    assert_eq!(run(&b, sums(9, 1, Padding::Valid), &[]), "s32[0]{0} {}");
    // The initial value enters each window once; padding is skipped.
    let from = x.reduce_window(100, sum, &[2], &[1], Padding::Same);
    assert_eq!(run(&b, from, &[]), "s32[5]{0} {103, 105, 107, 109, 105}");
}

#[test]
fn general_windows() {
    let b = Builder::new("general");
    let x = b.constant([1i32, 2, 3, 4, 5]);
    let general = |options: &WindowOptions, size| {
        x.reduce_window_with_general_padding(0, sum, &[size], options)
    };
    let padded = WindowOptions { padding: vec![(2, -1)], strides: vec![2], ..Default::default() };
    // 0 0 1 2 3 4: places 0, 2 of a window of three.
    assert_eq!(run(&b, general(&padded, 3), &[]), "s32[2]{0} {1, 6}");
    let wide = WindowOptions { window_dilations: vec![2], ..Default::default() };
    assert_eq!(run(&b, general(&wide, 2), &[]), "s32[3]{0} {4, 6, 8}");
    let holes = WindowOptions { base_dilations: vec![2], ..Default::default() };
    assert_eq!(run(&b, general(&holes, 3), &[]), "s32[7]{0} {3, 2, 5, 3, 7, 4, 9}");
    assert_eq!(run(&b, general(&WindowOptions::default(), 5), &[]), "s32[1]{0} {15}");
}

/// The larger value and its place, of two.
fn best<'b>(p: &[Value<'b>]) -> Value<'b> {
    let keep = p[0].ge(p[2]);
    p[0].builder().tuple(&[keep.select(p[0], p[2]), keep.select(p[1], p[3])])
}

#[test]
fn several_arrays() {
    // The largest value and its place.
    let b = Builder::new("several");
    let (x, places) = (b.constant([3f32, 1., 4., 1., 5.]), b.iota("s32[5]", 0));
    let inits = [b.constant(f32::NEG_INFINITY), b.constant(-1i32)];
    let top = b.reduce_window(&[x, places], &inits, best, &[3], &[2], Padding::Valid);
    assert_eq!(run(&b, top, &[]), "( f32[2]{0} {4, 5}, s32[2]{0} {2, 4} )");
    let options = WindowOptions { padding: vec![(1, 1)], strides: vec![3], ..Default::default() };
    let top = b.reduce_window_with_general_padding(&[x, places], &inits, best, &[3], &options);
    // 3 1 | 4 1 5
    assert_eq!(run(&b, top, &[]), "( f32[2]{0} {3, 5}, s32[2]{0} {0, 4} )");
    let one = b.reduce_window(&[x], &inits[..1], |p| p[0].max(p[1]), &[5], &[1], Padding::Valid);
    assert_eq!(run(&b, one, &[]), "f32[1]{0} {5}");
}

#[test]
fn selected_elements() {
    let b = Builder::new("select_scatter");
    let x = b.constant([1i32, 5, 2, 3]);
    let source = b.constant([10i32, 20, 30]);
    // Padded behind by rule: windows 1 5 | 5 2 | 2 3 | 3.
    let same = x.select_and_scatter(
        |a, c| a.ge(c),
        &[2],
        &[1],
        Padding::Same,
        b.constant([10i32, 20, 30, 40]),
        0,
        sum,
    );
    assert_eq!(run(&b, same, &[]), "s32[4]{0} {0, 30, 0, 70}");
    // One place before the first: windows 1 | 5 2 | 3 (padding skipped), in steps of two.
    let padded = x.select_and_scatter_with_general_padding(
        |a, c| a.ge(c),
        &[2],
        &[2],
        &[(1, 1)],
        source,
        100,
        sum,
    );
    assert_eq!(run(&b, padded, &[]), "s32[4]{0} {110, 120, 100, 130}");
    // Of equal elements GE keeps the first, GT takes the last.
    let equal = b.constant([7i32, 7]);
    let first = equal.select_and_scatter(
        |a, c| a.ge(c),
        &[2],
        &[1],
        Padding::Valid,
        b.constant([1i32]),
        0,
        sum,
    );
    assert_eq!(run(&b, first, &[]), "s32[2]{0} {1, 0}");
    let last = equal.select_and_scatter(
        |a, c| a.gt(c),
        &[2],
        &[1],
        Padding::Valid,
        b.constant([1i32]),
        0,
        sum,
    );
    assert_eq!(run(&b, last, &[]), "s32[2]{0} {0, 1}");
}

#[test]
fn mistakes() {
    refuses("the window has 2 sizes and 1 stride, the operand has 1 dimension", |_, x| {
        x.reduce_window(0, sum, &[2, 2], &[1], Padding::Valid)
    });
    refuses("the size 0 of the window is not positive", |_, x| {
        x.reduce_window(0, sum, &[0], &[1], Padding::Valid)
    });
    refuses("the stride -3 of the window is not positive", |_, x| {
        x.reduce_window(0, sum, &[1], &[-3], Padding::Same)
    });
    refuses("the window has 2 dimensions, the array has 1", |_, x| {
        x.reduce_window_with_general_padding(0, sum, &[1, 1], &WindowOptions::default())
    });
    refuses("`size` of the window is -1, expected a positive number", |_, x| {
        x.reduce_window_with_general_padding(0, sum, &[-1], &WindowOptions::default())
    });
    refuses("`base_dilations` has 2 entries, the window 1 dimension", |_, x| {
        let options = WindowOptions { base_dilations: vec![1, 1], ..Default::default() };
        x.reduce_window_with_general_padding(0, sum, &[1], &options)
    });
    refuses("64 bits", |_, x| {
        let options = WindowOptions { padding: vec![(i64::MAX, i64::MAX)], ..Default::default() };
        x.reduce_window_with_general_padding(0, sum, &[1], &options)
    });
    refuses("the reducer", |_, x| x.reduce_window(0, |a, c| a.lt(c), &[2], &[1], Padding::Valid));
    refuses("1.5 is not a value of s32", |_, x| {
        x.reduce_window(1.5, sum, &[2], &[1], Padding::Valid)
    });
    refuses("the initial value is s32[5], expected s32[]", |_, x| {
        x.reduce_window(x, sum, &[2], &[1], Padding::Valid)
    });
    refuses("0 arrays cannot be folded from 0 initial values", |b, _| {
        b.reduce_window(&[], &[], |p| p[0], &[2], &[1], Padding::Valid)
    });
    refuses("1 array cannot be folded from 2 initial values", |b, x| {
        let zero = b.constant(0i32);
        let options = WindowOptions::default();
        b.reduce_window_with_general_padding(&[x], &[zero, zero], |p| p[0], &[2], &options)
    });
    refuses("the source is s32[2]", |b, x| {
        let source = b.constant([1i32, 2]);
        x.select_and_scatter(|a, c| a.ge(c), &[2], &[1], Padding::Valid, source, 0, sum)
    });
    refuses("expected pred[]", |b, x| {
        let source = b.constant([1i32, 2, 3, 4]);
        x.select_and_scatter(|a, _| a, &[2], &[1], Padding::Valid, source, 0, sum)
    });
}
