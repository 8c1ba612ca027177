//! Normalization, random numbers, Fourier transforms, triangular systems: values by hand, and the
//! likeliest mistakes.
use crate::support::{evaluate, near, reals, refuses_on, run};
use builder::options::TriangularSolveOptions;
use builder::{Builder, Value};
use hlo::ElementType;
use hlo::op::value::{FftType, RandomAlgorithm, Transpose};

#[track_caller]
fn refuses(expected: &str, make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) {
    refuses_on([[4f32, 0.0], [2.0, 5.0]], expected, make);
}

/// Two features, three elements each: 1 3 5 and 2 4 9; means 3 and 5, variances 8/3 and 26/3.
fn features(b: &Builder) -> [Value<'_>; 3] {
    let x = b.constant([[1f32, 2.0], [3.0, 4.0], [5.0, 9.0]]);
    [x, b.constant([2f32, 3.0]), b.constant([10f32, 20.0])]
}

#[test]
fn batch_norm_of_training() {
    let b = Builder::new("training");
    let [x, scale, offset] = features(&b);
    let normal = x.batch_norm_training(scale, offset, 1.0, 1);
    let at = |i| evaluate(&b, normal.get_tuple_element(i), &[]);
    // 2 (1 - 3) / sqrt(8/3 + 1) + 10, and so on.
    let side = 4.0 / (11f64 / 3.0).sqrt();
    let root = (29f64 / 3.0).sqrt();
    let expected =
        [10.0 - side, 20.0 - 9.0 / root, 10.0, 20.0 - 3.0 / root, 10.0 + side, 20.0 + 12.0 / root];
    near(&at(0), &expected, 1e-6, 0.0);
    near(&at(1), &[3.0, 5.0], 0.0, 0.0);
    near(&at(2), &[8.0 / 3.0, 26.0 / 3.0], 1e-6, 0.0);
}

#[test]
fn batch_norm_of_inference() {
    let b = Builder::new("inference");
    let [x, scale, offset] = features(&b);
    let (mean, variance) = (b.constant([1f32, 4.0]), b.constant([3f32, 0.0]));
    // The roots of 4 and 1.
    let normal = x.batch_norm_inference(scale, offset, mean, variance, 1.0, 1);
    let expected = "f32[3,2]{1,0} { { 10, 14 }, { 12, 20 }, { 14, 35 } }";
    assert_eq!(run(&b, normal, &[]), expected);
}

#[test]
fn batch_norm_gradients() {
    // Mean 3 and variance 3 with epsilon 1: x - mean = -2 0 2, its root 2.
    let b = Builder::new("grad");
    let x = b.constant([[1f32], [3.0], [5.0]]);
    let g = b.constant([[1f32], [0.0], [2.0]]);
    let (scale, mean, variance) = (b.constant([6f32]), b.constant([3f32]), b.constant([3f32]));
    let gradients = x.batch_norm_grad(scale, mean, variance, g, 1.0, 1);
    let at = |i| evaluate(&b, gradients.get_tuple_element(i), &[]);
    // offset: 1 + 0 + 2. scale: (1 * -2 + 2 * 2) / 2.
    near(&at(2), &[3.0], 0.0, 0.0);
    near(&at(1), &[1.0], 1e-6, 0.0);
    // 6 / 2 / 3 * (3 g - 3 - (x - mean) * 2 / 4)
    near(&at(0), &[1.0, -3.0, 2.0], 1e-6, 1e-6);
}

#[test]
fn mistakes_in_batch_norm() {
    refuses("feature_index=2 is not a dimension of f32[2,2]", |b, x| {
        let one = b.constant([1f32, 1.0]);
        x.batch_norm_training(one, one, 1e-5, 2)
    });
    refuses("feature_index=-3", |b, x| {
        let one = b.constant([1f32, 1.0]);
        x.batch_norm_training(one, one, 1e-5, -3)
    });
    refuses("the offset is f32[3], expected f32[2]", |b, x| {
        x.batch_norm_training(b.constant([1f32, 1.0]), b.constant([1f32; 3]), 1e-5, 1)
    });
    refuses("the variance is f32[]", |b, x| {
        let one = b.constant([1f32, 1.0]);
        x.batch_norm_inference(one, one, one, b.constant(1f32), 1e-5, 1)
    });
    refuses("the gradient is f32[2]", |b, x| {
        let one = b.constant([1f32, 1.0]);
        x.batch_norm_grad(one, one, one, one, 1e-5, 1)
    });
    refuses("E0303", |b, _| {
        let one = b.constant([1i32, 1]);
        b.iota("s32[2,2]", 0).batch_norm_training(one, one, 1e-5, 1)
    });
}

#[test]
fn random_numbers_are_of_their_distribution() {
    let b = Builder::new("rng");
    let uniform = b.rng_uniform(b.constant(-1f32), b.constant(1f32), "f32[4,1000]");
    let numbers = reals(&evaluate(&b, uniform, &[]));
    assert!(numbers.iter().all(|x| (-1.0..1.0).contains(x)));
    // The mean of 4000 numbers of variance 1/3 is within 5 deviations of 0.
    assert!((numbers.iter().sum::<f64>() / 4000.0).abs() < 5.0 * (1.0f64 / 3.0 / 4000.0).sqrt());
    let normal = b.rng_normal(b.constant(10f64), b.constant(2f64), "f64[4000]");
    let numbers = reals(&evaluate(&b, normal, &[]));
    let mean = numbers.iter().sum::<f64>() / 4000.0;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
    assert!((mean - 10.0).abs() < 5.0 * 2.0 / 4000f64.sqrt(), "{mean}");
    assert!((variance - 4.0).abs() < 5.0 * 4.0 * (2.0 / 4000f64).sqrt(), "{variance}");
}

#[test]
fn random_bits_are_known() {
    // Words that XLA:CPU gives for the key 0x0123456789ABCDEF and the counter 5.
    let b = Builder::new("bits");
    let state = b.constant([0x0123_4567_89AB_CDEFu64, 5]);
    let bits = state.rng_bit_generator(RandomAlgorithm::ThreeFry, "f32[4]");
    let words = [0xb09d_029eu32, 0x7d84_f441, 0x6ca3_e732, 0xa43b_6b39];
    let expected = format!(
        "( u64[2]{{0}} {{81985529216486895, 7}}, u32[4]{{0}} {{{}, {}, {}, {}}} )",
        words[0], words[1], words[2], words[3]
    );
    assert_eq!(run(&b, bits, &[]), expected);
    let state = b.constant([0x0123_4567_89AB_CDEFu64, 5, 7]);
    let bits = state.rng_bit_generator(RandomAlgorithm::Philox, "s16[3]");
    let expected = "( u64[3]{0} {81985529216486895, 6, 7}, u16[3]{0} {41856, 10993, 11331} )";
    assert_eq!(run(&b, bits, &[]), expected);
    for (from, to) in [
        (ElementType::Pred, "u8[2]"),
        (ElementType::S4, "u4[2]"),
        (ElementType::F8E5M2, "u8[2]"),
        (ElementType::Bf16, "u16[2]"),
        (ElementType::C64, "u64[2]"),
    ] {
        let shape = hlo::ArrayShape::new(from, &[2i64][..]);
        let bits = state.rng_bit_generator(RandomAlgorithm::Default, shape);
        assert_eq!(format!("{:#}", bits.get_tuple_element(1).shape().unwrap()), to);
    }
}

#[test]
fn mistakes_in_random_numbers() {
    refuses("no unsigned type has 128 bits, as c128 has", |b, _| {
        b.constant([0u64, 1]).rng_bit_generator(RandomAlgorithm::Philox, "c128[2]")
    });
    refuses("needs the state u64[2], found u64[3]", |b, _| {
        b.constant([0u64, 1, 2]).rng_bit_generator(RandomAlgorithm::ThreeFry, "u32[2]")
    });
    refuses("random bits are an array, not (u32[2])", |b, _| {
        b.constant([0u64, 1]).rng_bit_generator(RandomAlgorithm::Philox, "(u32[2])")
    });
    refuses("operand 1 is f32[], expected a scalar of s32", |b, _| {
        b.rng_uniform(b.constant(0i32), b.constant(1f32), "s32[2]")
    });
    refuses("operand 0 is f32[2,2], expected a scalar", |b, x| {
        b.rng_uniform(x, b.constant(1f32), "f32[2]")
    });
    refuses("a normal distribution needs a float type, found s32", |b, _| {
        b.rng_normal(b.constant(0i32), b.constant(1i32), "s32[2]")
    });
    refuses("has a dynamic dimension, whose size is not known", |b, _| {
        b.rng_uniform(b.constant(0i32), b.constant(1i32), "s32[<=2]")
    });
}

#[test]
fn transforms() {
    let b = Builder::new("fft");
    let x = b.constant([1f32, 2.0, 3.0, 4.0]);
    let zero = b.constant(0f32);
    let spectrum = x.complex(zero).fft(FftType::Fft, &[4]);
    near(&evaluate(&b, spectrum.real(), &[]), &[10.0, -2.0, -2.0, -2.0], 1e-6, 0.0);
    near(&evaluate(&b, spectrum.imag(), &[]), &[0.0, 2.0, 0.0, -2.0], 1e-6, 1e-6);
    let back = spectrum.fft(FftType::Ifft, &[4]);
    near(&evaluate(&b, back.real(), &[]), &[1.0, 2.0, 3.0, 4.0], 1e-6, 0.0);
    let half = x.fft(FftType::Rfft, &[4]);
    assert_eq!(half.shape().unwrap().to_string(), "c64[3]{0}");
    near(&evaluate(&b, half.real(), &[]), &[10.0, -2.0, -2.0], 1e-6, 0.0);
    near(&evaluate(&b, half.fft(FftType::Irfft, &[4]), &[]), &[1.0, 2.0, 3.0, 4.0], 1e-6, 0.0);
    // Of two dimensions the sum of all stands first.
    let plane = x.reshape(&[2, 2]).complex(zero).fft(FftType::Fft, &[2, 2]).real();
    near(&evaluate(&b, plane, &[]), &[10.0, -2.0, -4.0, 0.0], 1e-6, 1e-6);
    refuses("E0303", |_, x| x.fft(FftType::Fft, &[2]));
    refuses("expects the last sizes to be [3]", |_, x| x.fft(FftType::Rfft, &[3]));
    refuses("expected 1, 2 or 3 transformed dimensions, found 0", |_, x| x.fft(FftType::Rfft, &[]));
    refuses("has fewer dimensions than the 3 to transform", |_, x| {
        x.fft(FftType::Rfft, &[2, 2, 2])
    });
    refuses("has a negative size", |_, x| x.fft(FftType::Rfft, &[-2]));
    refuses("E03", |_, x| x.fft(FftType::Rfft, &[i64::MAX]));
}

#[test]
fn triangular_systems() {
    let b = Builder::new("triangular");
    // The upper triangle holds what must not be read.
    let a = b.constant([[2f64, 99.0], [3.0, 4.0]]);
    let solve = |rhs: Value<'_>, options| run(&b, a.triangular_solve(rhs, &options), &[]);
    let column = b.constant([[2f64], [11.0]]);
    let plain = TriangularSolveOptions::default();
    assert_eq!(solve(column, plain), "f64[2,1]{1,0} { {1}, {2} }");
    // a' x = b: 2 x + 3 y = 8, 4 y = 8.
    let turned = TriangularSolveOptions { transpose_a: Transpose::Transpose, ..plain };
    assert_eq!(solve(b.constant([[8f64], [8.0]]), turned), "f64[2,1]{1,0} { {1}, {2} }");
    // x a = b: 2 x + 3 y = 8, 4 y = 8.
    let right = TriangularSolveOptions { left_side: false, ..plain };
    assert_eq!(solve(b.constant([[8f64, 8.0]]), right), "f64[1,2]{1,0} { { 1, 2 } }");
    // With ones on the diagonal: x = 2, 3 x + y = 11.
    let ones = TriangularSolveOptions { unit_diagonal: true, ..plain };
    assert_eq!(solve(column, ones), "f64[2,1]{1,0} { {2}, {5} }");
    // The upper triangle: 2 x + 99 y = 101, 4 y = 4.
    let upper = TriangularSolveOptions { lower: false, ..plain };
    assert_eq!(solve(b.constant([[101f64], [4.0]]), upper), "f64[2,1]{1,0} { {1}, {1} }");
    refuses("`triangular-solve` needs `transpose_a`", |_, x| {
        let options =
            TriangularSolveOptions { transpose_a: Transpose::Invalid, ..Default::default() };
        x.triangular_solve(x, &options)
    });
    refuses("does not fit", |b, x| {
        x.triangular_solve(b.iota("f32[3,1]", 0), &TriangularSolveOptions::default())
    });
    refuses("expected two dimensions or more", |b, _| {
        let v = b.constant([1f32, 2.0]);
        v.triangular_solve(v, &TriangularSolveOptions::default())
    });
    refuses("operands are of types f32 and f64", |b, x| {
        x.triangular_solve(b.iota("f64[2,2]", 0), &TriangularSolveOptions::default())
    });
}

#[test]
fn cholesky_factors() {
    let b = Builder::new("cholesky");
    // [[2,0],[1,3]] times its transpose; the other triangle must not be read.
    let a = b.constant([[4f64, 99.0], [2.0, 10.0]]);
    assert_eq!(run(&b, a.cholesky(true), &[]), "f64[2,2]{1,0} { { 2, 0 }, { 1, 3 } }");
    let upper = a.transpose(&[1, 0]).cholesky(false);
    near(&evaluate(&b, upper, &[]), &[2.0, 1.0, 0.0, 3.0], 0.0, 0.0);
    refuses("the matrices of f32[2,3] are not square", |b, _| b.iota("f32[2,3]", 0).cholesky(true));
    refuses("expected two dimensions or more", |b, _| b.constant([1f32]).cholesky(true));
    refuses("E0303", |b, _| b.iota("s32[2,2]", 0).cholesky(true));
}
