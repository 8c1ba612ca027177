//! Sorts, largest elements, maps and scans: values by hand, and the likeliest mistakes.
use crate::support::{build, refuses_on, run};
use builder::options::ScanOptions;
use builder::{Builder, Value};

#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) {
    refuses_on([[3i32, 1, 2], [6, 5, 4]], expected, make);
}

#[test]
fn sorts_by_total_order() {
    let b = Builder::new("sort");
    let x = b.constant([f32::NAN, 1.0, -0.0, f32::NEG_INFINITY, 0.0]);
    assert_eq!(run(&b, x.sort(-1), &[]), "f32[5]{0} {-inf, -0, 0, 1, nan}");
    assert_eq!(run(&b, b.constant([true, false]).sort(0), &[]), "pred[2]{0} {0, 1}");
    assert_eq!(run(&b, b.constant([-1i8, 127, -128]).sort(0), &[]), "s8[3]{0} {-128, -1, 127}");
    assert_eq!(run(&b, b.constant(Vec::<u8>::new()).sort(0), &[]), "u8[0]{0} {}");
}

#[test]
fn complex_numbers_are_sorted_by_their_parts() {
    let b = Builder::new("sort_complex");
    let z = b.constant([2f32, 1.0, 1.0]).complex(b.constant([1f32, 5.0, -5.0]));
    assert_eq!(run(&b, z.sort(0), &[]), "c64[3]{0} {(1, -5), (1, 5), (2, 1)}");
}

#[test]
fn what_the_library_adds_is_noted_as_the_users_line() {
    let b = Builder::new("lines");
    let x = b.constant([3i32, 1, 2]);
    let all = b.tuple(&[x.sort(0), x.map(|e| e + 1), x.reduce_all(0, |a, c| a + c)]);
    let text = build(&b, all).module().to_string();
    assert!(!text.contains("builder/src"), "{text}");
    // A closure of the user's has lines of its own.
    let line = format!("source_line={}", line!() - 4);
    assert!(text.matches(&line).count() > 8, "{text}");
}

#[test]
fn sorts_by_a_comparator() {
    let b = Builder::new("sort_by");
    let x = b.constant([[3i32, 1, 2], [6, 5, 4]]);
    let falling = x.sort_by(|a, c| a.gt(c), -1, false);
    assert_eq!(run(&b, falling, &[]), "s32[2,3]{1,0} { { 3, 2, 1 }, { 6, 5, 4 } }");
    // By the last digit; equal ones keep their order.
    let digits = b.constant([21i32, 12, 11, 32]).sort_by(|a, c| (a % 10).lt(c % 10), 0, true);
    assert_eq!(run(&b, digits, &[]), "s32[4]{0} {21, 11, 12, 32}");
    assert!(build(&b, digits).module().to_string().contains("is_stable=true"));
}

#[test]
fn sorts_several_arrays() {
    // By the first, then by the second; the third goes along.
    let b = Builder::new("sort_many");
    let (x, y, z) =
        (b.constant([2i32, 1, 2]), b.constant([1f32, 5.0, 0.5]), b.constant([7u8, 8, 9]));
    let sorted = b.sort(&[x, y, z], |p| p[0].lt(p[1]) | (p[0].eq(p[1]) & p[2].lt(p[3])), 0, false);
    let expected = "( s32[3]{0} {1, 2, 2}, f32[3]{0} {5, 0.5, 1}, u8[3]{0} {8, 9, 7} )";
    assert_eq!(run(&b, sorted, &[]), expected);
    let one = b.sort(&[x], |p| p[0].lt(p[1]), -1, false);
    assert_eq!(run(&b, one, &[]), "s32[3]{0} {1, 2, 2}");
}

#[test]
fn mistakes_in_sorts() {
    refuses("dimension 2 does not exist in s32[2,3]", |_, x| x.sort(2));
    refuses("dimension -3 does not exist", |_, x| x.sort(-3));
    refuses("dimension -1 does not exist in s32[]", |b, _| b.constant(1i32).sort(-1));
    refuses("0 arrays cannot be sorted", |b, _| b.sort(&[], |p| p[0], 0, false));
    refuses("the computation returns s32[], expected pred[]", |_, x| x.sort_by(|a, _| a, 0, false));
    refuses("expected the same dimensions", |b, x| {
        b.sort_by_first(&[x, b.iota("s32[3]", 0)], 0, false)
    });
}

#[test]
fn largest_and_smallest() {
    let b = Builder::new("top_k");
    let x = b.constant([[3f32, f32::NAN, 3.0, -1.0], [0.0, -0.0, 5.0, 5.0]]);
    let top = x.top_k(3, true, true);
    let expected = "( f32[2,3]{1,0} { { nan, 3, 3 }, { 5, 5, 0 } }, s32[2,3]{1,0} { { 1, 0, 2 }, { 2, 3, 0 } } )";
    assert_eq!(run(&b, top, &[]), expected);
    let least = x.top_k(2, false, true);
    let expected =
        "( f32[2,2]{1,0} { { -1, 3 }, { -0, 0 } }, s32[2,2]{1,0} { { 3, 0 }, { 1, 0 } } )";
    assert_eq!(run(&b, least, &[]), expected);
    refuses("`k` is 4, expected 0 to the last size of s32[2,3]", |_, x| x.top_k(4, true, true));
    refuses("`k` is -1", |_, x| x.top_k(-1, true, true));
    refuses("`k` is 0", |b, _| b.constant(1i32).top_k(0, true, true));
}

#[test]
fn maps() {
    let b = Builder::new("map");
    let x = b.constant([[1i32, 2], [3, 4]]);
    assert_eq!(run(&b, x.map(|e| e * e), &[]), "s32[2,2]{1,0} { { 1, 4 }, { 9, 16 } }");
    // Another element type; a scalar stretches.
    let more = b.map(&[x, b.constant(2i32)], |p| p[0].gt(p[1]), &[0, 1]);
    assert_eq!(run(&b, more, &[]), "pred[2,2]{1,0} { { 0, 0 }, { 1, 1 } }");
    assert_eq!(run(&b, b.constant(3f32).map(|e| e + 1.0), &[]), "f32[] 4");
    refuses("`map` goes over [0] of s32[2,3]", |b, x| b.map(&[x], |p| p[0], &[0]));
    refuses("`map` goes over [1, 0]", |b, x| b.map(&[x], |p| p[0], &[1, 0]));
    refuses("`map` of an empty list", |b, _| b.map(&[], |p| p[0], &[]));
    refuses("expected the same dimensions", |b, x| {
        b.map(&[x, b.iota("s32[3,2]", 0)], |p| p[0], &[0, 1])
    });
    refuses("expected a scalar", |_, x| x.map(|e| e.broadcast(&[2])));
    refuses("E0804", |b, x| {
        let outside = b.parameter(0, "s32[]", "outside");
        x.map(|e| e + outside)
    });
}

/// Gives the running sum as output and as carry.
fn running<'b>(p: &[Value<'b>]) -> Value<'b> {
    let sum = p[0] + p[1];
    sum.builder().tuple(&[sum, sum])
}

#[test]
fn scans() {
    let b = Builder::new("scan");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    let zero = b.constant([0i32, 0]);
    let forward = b.scan(&[x], &[zero], running, 1, &ScanOptions::default());
    let expected = "( s32[2,3]{1,0} { { 1, 3, 6 }, { 4, 9, 15 } }, s32[2]{0} {6, 15} )";
    assert_eq!(run(&b, forward, &[]), expected);
    // From the end, outputs where their inputs stood; the dimension counted from the end.
    let options = ScanOptions { is_reverse: true, is_associative: true, ..Default::default() };
    let backward = b.scan(&[x], &[zero], running, -1, &options);
    let expected = "( s32[2,3]{1,0} { { 6, 5, 3 }, { 15, 11, 6 } }, s32[2]{0} {6, 15} )";
    assert_eq!(run(&b, backward, &[]), expected);
    // Carries alone, and outputs alone.
    let total = b.scan(
        &[x],
        &[zero],
        |p| {
            let sum = p[0] + p[1];
            sum.builder().tuple(&[sum])
        },
        1,
        &ScanOptions::default(),
    );
    assert_eq!(run(&b, total, &[]), "( s32[2]{0} {6, 15} )");
    let doubled = b.scan(&[x], &[], |p| p[0] * 2, 0, &ScanOptions::default());
    assert_eq!(run(&b, doubled, &[]), "( s32[2,3]{1,0} { { 2, 4, 6 }, { 8, 10, 12 } } )");
}

/// Gives the power as output, and twice as much as carry.
fn power<'b>(p: &[Value<'b>]) -> Value<'b> {
    p[0].builder().tuple(&[p[0], p[0] * 2])
}

#[test]
fn a_scan_without_inputs() {
    let b = Builder::new("powers");
    let options = ScanOptions { scan_dimension_size: Some(4), ..Default::default() };
    let powers = b.scan(&[], &[b.constant(1i32)], power, 0, &options);
    assert_eq!(run(&b, powers, &[]), "( s32[4]{0} {1, 2, 4, 8}, s32[] 16 )");
    refuses("the number of steps of the scan is unknown", |b, _| {
        b.scan(&[], &[b.constant(1i32)], power, 0, &ScanOptions::default())
    });
    refuses("the size -4 in [-4] is negative", |b, _| {
        let options = ScanOptions { scan_dimension_size: Some(-4), ..Default::default() };
        b.scan(&[], &[b.constant(1i32)], power, 0, &options)
    });
    refuses("cannot be put together along dimension 3", |b, _| {
        let options = ScanOptions { scan_dimension_size: Some(4), ..Default::default() };
        b.scan(&[], &[b.constant(1i32)], power, 3, &options)
    });
}

#[test]
fn mistakes_in_scans() {
    refuses("dimension 2 does not exist in s32[2,3]", |b, x| {
        b.scan(&[x], &[b.constant([0i32, 0])], running, 2, &ScanOptions::default())
    });
    refuses("s32[2,3] has 3 steps, expected 5", |b, x| {
        let options = ScanOptions { scan_dimension_size: Some(5), ..Default::default() };
        b.scan(&[x], &[b.constant([0i32, 0])], running, 1, &options)
    });
    refuses("do not fit", |b, x| {
        b.scan(&[x], &[b.constant([0i32, 0, 0])], running, 1, &ScanOptions::default())
    });
    refuses("but the body returns", |b, x| {
        let zero = b.constant([0f32, 0.0]);
        b.scan(&[x], &[zero], |p| p[0].builder().tuple(&[p[0], p[0]]), 1, &ScanOptions::default())
    });
    refuses("a scan needs inputs or outputs", |b, _| {
        let options = ScanOptions { scan_dimension_size: Some(1), ..Default::default() };
        b.scan(&[], &[b.constant(1i32)], |p| p[0].builder().tuple(&[p[0]]), 0, &options)
    });
}
