//! Constants by type, comparators, small reductions, bits of floats, quantized numbers, approximate
//! top-k.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::approx_constant,
    reason = "tests; exact results are meant"
)]
use crate::support::{build, evaluate, reals, run};
use builder::math::{
    ApproxTopK, Dequantize, QuantizedRange, approx_top_k_reduction_output_size, pack_to_uint32,
};
use builder::{Builder, Value};
use half::bf16;
use hlo::ElementType::{
    self, Bf16, C64, F4E2M1Fn, F8E4M3Fn, F8E5M2Fnuz, F8E8M0Fnu, F16, F32, F64, Pred, S1, S4, S32,
    U8, U16, U64,
};

fn constant(make: impl for<'b> Fn(&'b Builder) -> Value<'b>) -> String {
    let b = Builder::new("constant");
    let value = make(&b);
    run(&b, value, &[])
}
fn refused(make: impl for<'b> Fn(&'b Builder) -> Value<'b>) -> String {
    let b = Builder::new("refused");
    let value = make(&b);
    b.build(value).unwrap_err().to_string()
}

/// By hand, from the formats of the types.
#[test]
fn ends_of_types() {
    assert_eq!(constant(|b| b.min_value(F32)), "f32[] -inf");
    assert_eq!(constant(|b| b.max_value(Bf16)), "bf16[] inf");
    assert_eq!(constant(|b| b.max_finite_value(F16)), "f16[] 65504");
    assert_eq!(constant(|b| b.min_finite_value(F16)), "f16[] -65504");
    assert_eq!(constant(|b| b.max_value(F8E4M3Fn)), "f8e4m3fn[] 448");
    assert_eq!(constant(|b| b.min_value(F4E2M1Fn)), "f4e2m1fn[] -6");
    assert_eq!(constant(|b| b.min_value(S4)), "s4[] -8");
    assert_eq!(constant(|b| b.max_value(S4)), "s4[] 7");
    assert_eq!(constant(|b| b.max_value(S1)), "s1[] 0");
    assert_eq!(constant(|b| b.max_value(U64)), "u64[] 18446744073709551615");
    assert_eq!(constant(|b| b.min_value(U8)), "u8[] 0");
    assert_eq!(constant(|b| b.max_value(Pred)), "pred[] true");
    assert_eq!(constant(|b| b.epsilon(F64)), "f64[] 2.2204460492503131e-16");
    assert_eq!(constant(|b| b.epsilon(Bf16)), "bf16[] 0.007812");
    assert_eq!(constant(|b| b.min_positive_normal_value(F16)), "f16[] 6.1035e-05");
    assert_eq!(constant(|b| b.nan_value(F32)), "f32[] nan");
    assert_eq!(constant(|b| b.one(C64)), "c64[] (1, 0)");
    assert_eq!(constant(|b| b.zero(S32)), "s32[] 0");
    assert_eq!(constant(|b| b.zeros("u8[2]")), "u8[2]{0} {0, 0}");
    assert_eq!(constant(|b| b.constant([1.5f32, 2.0]).zeros_like()), "f32[2]{0} {0, 0}");
    assert_eq!(constant(|b| b.constant([1u8, 2]).full_like(7)), "u8[2]{0} {7, 7}");
    assert_eq!(constant(|b| b.constant([1u8, 2]).scalar_like(7)), "u8[] 7");
    assert_eq!(constant(|b| b.constant_r0_with_type(U64, u64::MAX)), "u64[] 18446744073709551615");
    assert_eq!(constant(|b| b.constant_r0_with_type(Pred, true)), "pred[] true");
}

/// Every type has what its class has, and nothing panics.
#[test]
fn every_type() {
    for &ty in ElementType::ALL {
        for make in [
            Builder::zero,
            Builder::one,
            Builder::epsilon,
            Builder::min_value,
            Builder::max_finite_value,
            Builder::nan_value,
        ] {
            let b = Builder::new("every_type");
            let value = make(&b, ty);
            match b.status() {
                Ok(()) => assert_eq!(
                    build(&b, value).module().entry().result_shape().to_string(),
                    format!("{ty}[]")
                ),
                Err(error) => assert_eq!(error.number(), "E0801", "{error}"),
            }
        }
    }
    assert!(refused(|b| b.zero(F8E8M0Fnu)).contains("f8e8m0fnu has no zero"));
    assert!(refused(|b| b.one(S1)).contains("s1 has no 1"));
    assert!(refused(|b| b.nan_value(F4E2M1Fn)).contains("f4e2m1fn has no NaN"));
    assert!(refused(|b| b.max_value(C64)).contains("c64 has no order"));
    assert!(refused(|b| b.epsilon(S32)).contains("expected a real floating-point type, found s32"));
    assert!(refused(|b| b.constant_r0_with_type(S32, 1.5)).contains("1.5 is not a value of s32"));
    assert!(refused(|b| b.constant_r0_with_type(U8, 256)).contains("256 is not a value of u8"));
    assert!(refused(|b| b.constant_r0_with_type(F32, [1.0f32, 2.0])).contains("a single number"));
}

#[test]
fn bits_of_floats() {
    let tests = |ty: ElementType| {
        let b = Builder::new("bits_of_floats");
        let x = b
            .constant([1.0, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324])
            .convert_element_type(ty);
        let all =
            b.tuple(&[x.is_pos_inf(), x.is_neg_inf(), x.is_inf(), x.is_nan(), x.is_neg_zero()]);
        run(&b, all, &[])
    };
    let row =
        |set: [usize; 7]| format!("pred[7]{{0}} {{{}}}", set.map(|i| i.to_string()).join(", "));
    let rows = [
        [0, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 1, 0, 0, 0, 0, 0],
    ];
    let expected = format!("( {} )", rows.map(row).join(", "));
    for ty in [F64, F32, F16, Bf16, ElementType::F8E5M2] {
        assert_eq!(tests(ty), expected, "{ty}");
    }
    // No infinity, no -0: both become NaN, or a plain 0.
    assert!(tests(F8E5M2Fnuz).ends_with(&format!("{} )", row([0; 7]))));
    assert!(refused(|b| b.constant(1i32).is_nan()).contains("expected real floats, found s32"));
}

/// By hand, from the order of the codes.
#[test]
fn next_after() {
    let next = |ty: ElementType, from: [f64; 7], to: [f64; 7]| {
        let b = Builder::new("next_after");
        let [from, to] = [from, to].map(|x| b.constant(x).convert_element_type(ty));
        reals(&evaluate(&b, from.next_after(to), &[]))
    };
    let to = [2.0, 0.0, 2.0, -2.0, f64::INFINITY, 1.0, f64::NAN];
    let wide = next(F64, [1.0, 1.0, 0.0, 0.0, f64::MAX, 1.0, 1.0], to);
    assert_eq!(
        wide[..6],
        [1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0, 5e-324, -5e-324, f64::INFINITY, 1.0]
    );
    assert!(wide[6].is_nan());
    let narrow = next(Bf16, [1.0, 1.0, 0.0, -0.0, -3.0, 1.0, 1.0], to);
    let tiny = bf16::from_bits(1).to_f64();
    assert_eq!(
        narrow[..6],
        [1.0 + 1.0 / 128.0, 1.0 - 1.0 / 256.0, tiny, -tiny, -3.0 + 1.0 / 64.0, 1.0]
    );
    // In types without -0 the way up from the lowest negative number is 0.
    let tiny = F8E5M2Fnuz.float_format().unwrap().decode(1);
    let fnuz = next(
        F8E5M2Fnuz,
        [-tiny, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, -1.0, 2.0, 0.0, 1.0, 1.0, 1.0],
    );
    assert_eq!(fnuz[..4], [0.0, -tiny, 1.25, 0.875]);
    assert!(
        refused(|b| b.one(F4E2M1Fn).next_after(1.0))
            .contains("`next_after` is not defined for f4e2m1fn")
    );
}

#[test]
fn simple_functions() {
    let b = Builder::new("simple");
    let x = b.constant([0.5f64, -2.0, 2.5]);
    let all = b.tuple(&[
        x.square(),
        x.reciprocal(),
        x.atan(),
        x.round_to_even(),
        x.maybe_conjugate(true),
    ]);
    let found = evaluate(&b, all, &[]);
    let found: Vec<Vec<f64>> = found.elements().unwrap().iter().map(reals).collect();
    assert_eq!(found[0], [0.25, 4.0, 6.25]);
    assert_eq!(found[1], [2.0, -0.5, 0.4]);
    // atan(1/2), atan(2), atan(5/2), by mpmath.
    assert_eq!(
        found[2],
        [0.463_647_609_000_806_1, -1.107_148_717_794_090_4, 1.190_289_949_682_531_7]
    );
    assert_eq!(found[3], [0.0, -2.0, 2.0]);
    assert_eq!(found[4], [0.5, -2.0, 2.5]);
    let b = Builder::new("conjugate");
    let z = b.constant(1.0f32).complex(2.0);
    assert_eq!(
        run(&b, b.tuple(&[z.maybe_conjugate(true), z.maybe_conjugate(false)]), &[]),
        "( c64[] (1, -2), c64[] (1, 2) )"
    );
}

#[test]
fn scalar_computations() {
    let b = Builder::new("scalars");
    let (x, y) = (b.constant(6i32), b.constant(3i32));
    let made = [
        b.create_scalar_add_computation(S32),
        b.create_scalar_multiply_computation(S32),
        b.create_scalar_max_computation(S32),
        b.create_scalar_min_computation(S32),
        b.create_scalar_and_computation(S32),
        b.create_scalar_or_computation(S32),
        b.create_scalar_identity_with_zero_computation(S32),
        b.create_scalar_ge_computation(S32),
    ];
    let all = b.tuple(&made.map(|computation| b.call(computation, &[x, y])));
    let found = run(&b, all, &[]);
    assert_eq!(
        found,
        "( s32[] 9, s32[] 18, s32[] 6, s32[] 3, s32[] 2, s32[] 7, s32[] 7, pred[] true )"
    );
    let text = build(&b, all).module().to_string();
    assert!(text.contains("add_S32 {") || text.contains("add_S32 ("), "{text}");
    let b = Builder::new("identity");
    let add = b.create_scalar_identity_with_zero_computation(F32);
    assert_eq!(run(&b, b.call(add, &[b.constant(1.5f32), b.constant(2f32)]), &[]), "f32[] 3.5");
}

#[test]
fn reductions() {
    let b = Builder::new("reductions");
    let p = b.constant([[false, true], [true, true]]);
    let none = b.zeros("pred[0]");
    let all = b.tuple(&[p.any(), p.all(), none.any(), none.all()]);
    assert_eq!(run(&b, all, &[]), "( pred[] true, pred[] false, pred[] false, pred[] true )");
    let b = Builder::new("arg_min_max");
    let x = b.constant([
        [1.0f32, 3.0, 3.0, -1.0],
        [f32::NAN, 5.0, f32::NAN, 0.0],
        [-0.0, 0.0, 0.0, -0.0],
    ]);
    let low = b.constant([f32::NEG_INFINITY, f32::NEG_INFINITY]);
    let all = b.tuple(&[
        x.arg_max(S32, 1),
        x.arg_min(S32, -1),
        x.arg_max(U8, 0),
        low.arg_max(S32, 0),
        b.constant([7u64, u64::MAX, 3]).arg_max(ElementType::S64, 0),
        b.constant([false, true, true]).arg_max(S32, 0),
    ]);
    let expected = "( s32[3]{0} {1, 0, 0}, s32[3]{0} {3, 0, 0}, u8[4]{0} {1, 1, 1, 1}, s32[] 0, s64[] 1, s32[] 1 )";
    assert_eq!(run(&b, all, &[]), expected);
    assert!(
        refused(|b| b.constant([1f32]).arg_max(F32, 0))
            .contains("expected an integer type for indices, found f32")
    );
    assert!(refused(|b| b.constant([1f32]).arg_max(S32, 1)).contains("dimension 1 does not exist"));
}

#[test]
fn comparators() {
    let b = Builder::new("comparators");
    let pairs =
        [(1.0f32, 2.0), (2.0, 1.0), (-0.0, 0.0), (f32::NAN, 1.0), (-f32::NAN, f32::NEG_INFINITY)];
    let lt = b.create_scalar_lt_computation(&[F32, S32]);
    let gt = b.create_scalar_gt_computation(&[F32, S32]);
    let index = b.constant(0i32);
    let values: Vec<Value<'_>> = (pairs.iter())
        .flat_map(|&(x, y)| {
            let arguments = [b.constant(x), b.constant(y), index, index];
            [b.call(lt, &arguments), b.call(gt, &arguments)]
        })
        .collect();
    let found = run(&b, b.tuple(&values), &[]).replace("pred[] ", "");
    assert_eq!(found, "( true, false, false, true, true, false, false, true, true, false )");
    let b = Builder::new("comparison");
    let order = b.create_scalar_comparison_computation(
        "value-then-index",
        &[F32, U8, S32],
        &[Some(|l, r| l.gt_total_order(r)), None, Some(|l, r| l.lt(r))],
    );
    let rows = [(2.0f32, 1.0f32, 5i32, 1i32), (1.0, 1.0, 0, 1), (1.0, 1.0, 1, 0), (1.0, 2.0, 0, 1)];
    let other = b.constant(0u8);
    let values = rows.map(|(l, r, i, j)| {
        b.call(order, &[b.constant(l), b.constant(r), other, other, b.constant(i), b.constant(j)])
    });
    assert_eq!(
        run(&b, b.tuple(&values), &[]).replace("pred[] ", ""),
        "( true, true, false, false )"
    );
    let b = Builder::new("m");
    assert!(!b.create_scalar_comparison_computation("c", &[F32], &[None]).is_valid());
    assert!(b.first_error().unwrap().to_string().contains("there is no comparison"));
    let b = Builder::new("m");
    assert!(!b.create_scalar_comparison_computation("c", &[F32], &[]).is_valid());
    assert!(b.first_error().unwrap().to_string().contains("1 types, 0 comparisons"));
}

#[test]
fn quantized() {
    assert_eq!(pack_to_uint32::<u8>(&[]), [0u32; 0]);
    let b = Builder::new("quantized");
    let packed = b.constant([[0x0001_02FFu32, 0x1020_3040], [0, u32::MAX]]);
    let range = QuantizedRange::new(-1.0, 1.0);
    let bytes = packed.dequantize(&Dequantize { range, ..Dequantize::default() });
    let turned =
        packed.dequantize(&Dequantize { range, transpose_output: true, ..Dequantize::default() });
    let words = packed.dequantize(&Dequantize { range, ty: U16, ..Dequantize::default() });
    let found = evaluate(&b, b.tuple(&[bytes, turned, words]), &[]);
    let [bytes, turned, words] = found.elements().unwrap() else { panic!("{found}") };
    // scale = 2/255 in bf16; each step rounded, by the half crate.
    let scale = bf16::from_f32(2.0) / bf16::from_f32(255.0);
    let expected =
        |code: u32| (bf16::from_f64(f64::from(code)) * scale + bf16::from_f32(-1.0)).to_f64();
    let codes = [0, 1, 2, 255, 16, 32, 48, 64, 0, 0, 0, 0, 255, 255, 255, 255];
    assert_eq!(reals(bytes), codes.map(expected));
    assert_eq!(bytes.shape().to_string(), "bf16[2,8]{1,0}");
    assert_eq!(format!("{:#}", turned.shape()), "bf16[8,2]");
    assert_eq!(reals(turned)[1], expected(codes[8]));
    assert_eq!(reals(turned)[2], expected(codes[1]));
    let scale = bf16::from_f32(2.0) / bf16::from_f32(65535.0);
    let expected =
        |code: u32| (bf16::from_f64(f64::from(code)) * scale + bf16::from_f32(-1.0)).to_f64();
    assert_eq!(reals(words), [1, 0x2FF, 0x1020, 0x3040, 0, 0, 0xFFFF, 0xFFFF].map(expected));
    assert!(
        refused(|b| b.constant([1i32]).dequantize(&Dequantize::default())).contains("packed u32")
    );
    assert!(
        refused(|b| b.constant(1u32).dequantize(&Dequantize::default())).contains("packed u32")
    );
}

/// From `m = (1-k) / ln(recall)` by hand, and JAX's `approx_max_k(aggregate_to_topk=False)` for the
/// sizes.
#[test]
fn approximate_sizes() {
    let size = |n, rank, k, recall| {
        approx_top_k_reduction_output_size(n, rank, k, recall, false, None).unwrap()
    };
    assert_eq!(size(100, 1, 1, 0.95), (100, 0));
    assert_eq!(size(5000, 1, 1, 0.95), (1024, 3));
    assert_eq!(size(5000, 1, 10, 0.95), (2048, 2));
    assert_eq!(size(100_000, 2, 10, 0.95), (256, 9));
    assert_eq!(size(100_000, 2, 10, 1.0), (100_000, 0));
    assert_eq!(approx_top_k_reduction_output_size(5000, 1, 10, 0.9, true, None).unwrap(), (10, -1));
    for (k, recall, whole) in
        [(0, 0.9, None), (1, 0.0, None), (1, f32::NAN, None), (10, 0.9, Some(10))]
    {
        assert!(approx_top_k_reduction_output_size(5000, 1, k, recall, false, whole).is_err());
    }
}

#[test]
fn approximate_top_k() {
    let b = Builder::new("approx_top_k");
    let x = b.constant([[3.0f32, 9.0, 1.0, 7.0], [4.0, -1.0, 8.0, 6.0]]);
    let places = b.constant([[0i32, 1, 2, 3], [0, 1, 2, 3]]);
    let inits = [b.min_value(F32), b.constant(-1i32)];
    let best = b.create_scalar_gt_computation(&[F32, S32]);
    let search = |top_k, aggregate_to_topk| {
        let options = ApproxTopK { top_k, aggregate_to_topk, ..ApproxTopK::default() };
        b.approx_top_k(&[x, places], &inits, best, options)
    };
    let all = b.tuple(&[search(2, true), search(1, true)]);
    let found = run(&b, all, &[]);
    let expected = "( ( f32[2,2]{1,0} { { 9, 7 }, { 8, 6 } }, s32[2,2]{1,0} { { 1, 3 }, { 2, 3 } } ), \
                  ( f32[2,1]{1,0} { {9}, {8} }, s32[2,1]{1,0} { {1}, {2} } ) )";
    assert_eq!(found.replace(' ', ""), expected.replace(' ', ""));
    assert_eq!(search(2, false).shape().unwrap().to_string(), "(f32[2,4]{1,0}, s32[2,4]{1,0})");
    // A long dimension is cut down by the custom call first.
    let b = Builder::new("approx_top_k_long");
    let (x, places) = (b.parameter(0, "f32[2,100000]", "x"), b.parameter(1, "s32[2,100000]", "i"));
    let inits = [b.min_value(F32), b.constant(-1i32)];
    let best = b.create_scalar_gt_computation(&[F32, S32]);
    let options = ApproxTopK { top_k: 10, recall_target: 0.95, ..ApproxTopK::default() };
    let long = b.approx_top_k(&[x, places], &inits, best, options);
    let fallback = b.approx_top_k_fallback(
        &[x, places],
        &inits,
        best,
        ApproxTopK { aggregate_to_topk: false, ..options },
    );
    assert_eq!(fallback.shape().unwrap().to_string(), "(f32[2,256]{1,0}, s32[2,256]{1,0})");
    let text = build(&b, b.tuple(&[long, fallback])).module().to_string();
    assert!(text.contains("custom_call_target=\"PartialReduce\""), "{text}");
    assert!(
        text.contains("\"log2_reduction\": 9") || text.contains("\\\"log2_reduction\\\": 9"),
        "{text}"
    );
    assert!(
        refused(|b| b.approx_top_k(&[], &[], b.create_scalar_gt_computation(&[F32]), options))
            .contains("no operands to search")
    );
}

/// Values by mpmath; `acosh` of 2, the others of 1/2.
#[test]
fn native_functions() {
    let b = Builder::new("native");
    let x = b.constant(0.5f64);
    let made = [x.acos(), x.asin(), (x + 1.5).acosh(), x.asinh(), x.atanh(), x.cosh(), x.sinh()];
    let found = evaluate(&b, b.tuple(&made), &[]);
    let found: Vec<f64> = found.elements().unwrap().iter().flat_map(reals).collect();
    let expected = [
        1.047_197_551_196_597_9,
        0.523_598_775_598_298_9,
        1.316_957_896_924_816_8,
        0.481_211_825_059_603_47,
        0.549_306_144_334_054_9,
        1.127_625_965_206_380_7,
        0.521_095_305_493_747_4,
    ];
    assert_eq!(found, expected);
}

#[test]
fn user_defined_computations() {
    let b = Builder::new("own");
    let hypot = b.create_scalar_computation("hypot", F32, |x, y| (x * x + y * y).sqrt());
    let both = b.call(hypot, &[b.constant(3f32), b.constant(4f32)]);
    assert_eq!(run(&b, both, &[]), "f32[] 5");
}
