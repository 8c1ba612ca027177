//! Tests of legal sets: what stays apart, and how far a function may be off.
use super::rules::{explained, verdicts};
use super::*;
use Verdict::{Differs, NotTested, Undefined, WithinBound};

#[test]
fn a_denormal_is_itself_or_zero() {
    let flushed = &[Mode::FlushedDenormals];
    let unary = |op: &str| format!("ENTRY e {{ x = f32[] parameter(0) ROOT r = f32[] {op}(x) }}");
    // Its logarithm is near -92, or -inf.
    verdicts(
        &unary("log"),
        &["f32[] 1e-40"],
        &[("f32[] -1e30", Differs), ("f32[] -500", Differs), ("f32[] -93", Differs)],
    );
    explained(&unary("log"), &["f32[] 1e-40"], "f32[] -inf", flushed);
    explained(&unary("rsqrt"), &["f32[] 1e-40"], "f32[] inf", flushed);
    verdicts(&unary("rsqrt"), &["f32[] 1e-40"], &[("f32[] 3e30", Differs)]);
    let product =
        "ENTRY e { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] multiply(x, y) }";
    let factors = ["f32[] 1e-40", "f32[] 1e38"];
    verdicts(product, &factors, &[("f32[] 0.005", Differs), ("f32[] 0", WithinBound)]);
    let dot = "ENTRY e { x = f32[1] parameter(0) y = f32[1] parameter(1)
        ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    let factors = ["f32[1] {1e-40}", "f32[1] {1e38}"];
    verdicts(dot, &factors, &[("f32[] 0.005", Differs), ("f32[] 0", WithinBound)]);
    // Through the ops that follow: 3 + log(..), and a power.
    let after = "ENTRY e { x = f32[] parameter(0) e = f32[] exponential(x) l = f32[] log(e)
        t = f32[] constant(3) ROOT r = f32[] add(l, t) }";
    verdicts(after, &["f32[] -95"], &[("f32[] -1000", Differs), ("f32[] -inf", WithinBound)]);
    let power =
        "ENTRY e { x = f32[] parameter(0) y = f32[] constant(-0.5) ROOT r = f32[] power(x, y) }";
    verdicts(power, &["f32[] 1e-40"], &[("f32[] 7", Differs), ("f32[] inf", WithinBound)]);
    // Either part of a complex number.
    let sum = "ENTRY e { x = c64[] parameter(0) ROOT r = c64[] add(x, x) }";
    let parts =
        ["(0, 0)", "(1.1754944e-38, 0)", "(0, 1.1754944e-38)"].map(|part| format!("c64[] {part}"));
    for part in &parts {
        verdicts(sum, &["c64[] (5.877472e-39, 5.877472e-39)"], &[(part, WithinBound)]);
    }
    verdicts(sum, &["c64[] (1e-40, 1e-40)"], &[("c64[] (1e-40, 0)", Differs)]);
}

#[test]
fn selections_return_an_operand() {
    let largest =
        "mx { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
        ENTRY e { x = f32[3] parameter(0) z = f32[] constant(-inf) y = f32[3] multiply(x, x)
        r = f32[] reduce(y, z), dimensions={0}, to_apply=mx ROOT l = f32[] log(r) }";
    // The squares 1e-40 and 4e-40 are themselves or 0.
    let x = ["f32[3] {1e-20, 2e-20, 0}"];
    verdicts(largest, &x, &[("f32[] -inf", WithinBound), ("f32[] -200", Differs)]);
    let complex =
        "mx { a = c64[] parameter(0) b = c64[] parameter(1) ROOT m = c64[] maximum(a, b) }
        ENTRY e { x = c64[2] parameter(0) z = c64[] constant((-inf, -inf))
        ROOT r = c64[] reduce(x, z), dimensions={0}, to_apply=mx }";
    verdicts(
        complex,
        &["c64[2] {(1, 0), (1, 1)}"],
        &[("c64[] (1, 0)", Differs), ("c64[] (1, 1.0000001)", Differs)],
    );
    // A number of few units' error is selected as it is, or is not.
    let near = "ENTRY e { x = c64[] parameter(0) l = c64[] log(x) e = c64[] exponential(l) ROOT r = c64[] minimum(e, x) }";
    verdicts(
        near,
        &["c64[] (3, 0.5)"],
        &[("c64[] (3, 0.7)", Differs), ("c64[] (2, 0.5)", Differs)],
    );
    let clamp = "ENTRY e { x = f32[] parameter(0) l = f32[] constant(0) h = f32[] constant(1)
        e = f32[] exponential(x) c = f32[] clamp(l, e, h) ROOT r = f32[] log(c) }";
    verdicts(clamp, &["f32[] -95"], &[("f32[] -inf", WithinBound), ("f32[] -1e5", Differs)]);
    let compared = "ENTRY e { x = c64[] parameter(0) l = c64[] log(x) y = c64[] constant((5, 0)) ROOT r = pred[] compare(l, y), direction=LT }";
    verdicts(compared, &["c64[] (3, 0.5)"], &[("pred[] false", Differs)]);
}

#[test]
fn units_are_those_of_the_result() {
    let unary = |op: &str, ty: &str| {
        format!("ENTRY e {{ x = {ty}[] parameter(0) ROOT r = {ty}[] {op}(x) }}")
    };
    // 1.9738777 with an error of 2 units, and of 4.
    let exp = unary("exponential", "f32");
    verdicts(
        &exp,
        &["f32[] 0.68"],
        &[("f32[] 1.9738779", WithinBound), ("f32[] 1.9738782", Differs)],
    );
    // A narrow type is computed wide and rounded once, or one unit wrong in the type.
    let asinh = unary("asinh", "f8e4m3fn");
    verdicts(
        &asinh,
        &["f8e4m3fn[] 1"],
        &[("f8e4m3fn[] 1.375", Differs), ("f8e4m3fn[] 1.125", Differs)],
    );
    explained(
        &asinh,
        &["f8e4m3fn[] 1"],
        "f8e4m3fn[] 0.9375",
        &[Mode::ElementFunctions, Mode::FunctionAccuracy],
    );
    let tanh = unary("tanh", "bf16");
    verdicts(
        &tanh,
        &["bf16[] 0.5"],
        &[("bf16[] 0.46875", Differs), ("bf16[] 0.45703125", Differs)],
    );
    verdicts(
        &unary("exponential", "f64"),
        &["f64[] 0.5"],
        &[("f64[] 1.6487212707001284", WithinBound)],
    );
}

#[test]
fn what_is_undefined_is_so_by_a_rule() {
    let unary = |op: &str| format!("ENTRY e {{ x = c64[] parameter(0) ROOT r = c64[] {op}(x) }}");
    verdicts(
        &unary("exponential-minus-one"),
        &["c64[] (inf, -inf)"],
        &[("c64[] (nan, nan)", Undefined)],
    );
    // But parts, signs and sums of them are not.
    let imag = "ENTRY e { x = c64[] parameter(0) ROOT r = f32[] imag(x) }";
    verdicts(imag, &["c64[] (inf, -inf)"], &[("f32[] inf", Differs)]);
    verdicts(&unary("negate"), &["c64[] (inf, 2)"], &[("c64[] (inf, -2)", Differs)]);
    let convert = "ENTRY e { x = f32[2] parameter(0) ROOT r = s8[2] convert(x) }";
    verdicts(
        convert,
        &["f32[2] {300, -128.5}"],
        &[("s8[2] {44, -128}", Undefined), ("s8[2] {127, -127}", Differs)],
    );
    let quotient =
        "ENTRY e { x = c64[] parameter(0) y = c64[] parameter(1) ROOT r = c64[] divide(x, y) }";
    verdicts(quotient, &["c64[] (1e30, 1)", "c64[] (1e30, 1)"], &[("c64[] (nan, nan)", Undefined)]);
}

#[test]
fn an_initial_value_takes_part_any_number_of_times() {
    let of = |op: &str, ty: &str, initial: &str| {
        format!(
            "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] {op}(a, b) }}
            ENTRY e {{ x = {ty}[3] parameter(0) z = {ty}[] constant({initial})
            ROOT r = {ty}[] reduce(x, z), dimensions={{0}}, to_apply=f }}"
        )
    };
    let x = ["s32[3] {1, 2, 3}"];
    verdicts(&of("add", "s32", "1"), &x, &[("s32[] 10", Undefined)]);
    verdicts(&of("add", "s32", "0"), &x, &[("s32[] 10", Differs)]);
    verdicts(&of("multiply", "s32", "1"), &x, &[("s32[] 12", Differs)]);
    verdicts(&of("maximum", "s32", "5"), &x, &[("s32[] 3", WithinBound), ("s32[] 4", Differs)]);
    verdicts(&of("maximum", "s32", "2"), &x, &[("s32[] 2", Differs)]);
    let x = ["f32[3] {1.5, 2, 3}"];
    verdicts(&of("minimum", "f32", "1"), &x, &[("f32[] 1.5", WithinBound), ("f32[] 2", Differs)]);
    verdicts(&of("add", "f32", "-0"), &x, &[("f32[] 6", Differs)]);
    let sums = [
        ("f32[] 6.5", WithinBound),
        ("f32[] 12", WithinBound),
        ("f32[] 1000.25", WithinBound),
        ("f32[] 6.75", Differs),
        ("f32[] 6", Differs),
        ("f32[] nan", Differs),
    ];
    verdicts(&of("add", "f32", "0.5"), &x, &sums);
    let sums = [("f32[] -1000", WithinBound), ("f32[] 7.25", Differs), ("f32[] 8", Differs)];
    verdicts(&of("add", "f32", "-0.5"), &["f32[3] {1.5, 2, 4}"], &sums);
    // What many initial values are together may be one of few.
    verdicts(&of("multiply", "f32", "0"), &x, &[("f32[] 9", WithinBound), ("f32[] 8", Differs)]);
    verdicts(&of("add", "f32", "inf"), &x, &[("f32[] 6.5", WithinBound), ("f32[] 7", Differs)]);
    let x = ["s32[3] {1, 2, 3}"];
    let powers = [("s32[] 6", WithinBound), ("s32[] 5", Differs)];
    verdicts(&of("multiply", "s32", "-1"), &x, &powers);
    verdicts(&of("xor", "s32", "9"), &x, &[("s32[] 0", WithinBound), ("s32[] 8", Differs)]);
    let part = "f { a = c64[] parameter(0) b = c64[] parameter(1) ROOT c = c64[] add(a, b) }
        ENTRY e { x = c64[2] parameter(0) z = c64[] constant((0, 1))
        ROOT r = c64[] reduce(x, z), dimensions={0}, to_apply=f }";
    let sums =
        [("c64[] (3, 9)", WithinBound), ("c64[] (4, 9)", Differs), ("c64[] (3, 6)", Differs)];
    verdicts(part, &["c64[2] {(1, 3), (2, 4)}"], &sums);
}

#[test]
fn random_bits_are_those_of_any_implementation() {
    let text = "ENTRY e { s = u64[2] parameter(0) ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_philox }";
    let module = verified(&format!("HloModule m\n{text}"));
    let arguments: Vec<Literal> = vec!["u64[2] {7, 0}".parse().unwrap()];
    let expected = interp::run(&module, &arguments).unwrap();
    let leaves = expected.elements().unwrap();
    let [state, bits] = [&leaves[0], &leaves[1]];
    let other: Literal = "u32[4] {1, 2, 3, 4}".parse().unwrap();
    let of = |state: &Literal, bits: &Literal| {
        let actual = [Literal::tuple(vec![state.clone(), bits.clone()])];
        let options = JudgeOptions::default();
        let expected = std::slice::from_ref(&expected);
        judge_with(&options, &module, std::slice::from_ref(&arguments), expected, &actual).verdict
    };
    assert_eq!(of(state, &other), Undefined);
    assert_eq!(of(&"u64[2] {7, 9}".parse().unwrap(), bits), Differs);
}

#[test]
fn an_angle_of_what_may_be_nan_may_be_nan() {
    // A product overflows, or does not: -inf, or NaN.
    let text = "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) z = f32[] parameter(2)
        d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} ROOT r = f32[] atan2(d, z) }";
    let arguments = ["f32[2] {1e20, -inf}", "f32[2] {1e20, 1}", "f32[] -3"];
    verdicts(text, &arguments, &[("f32[] nan", Undefined)]);
}

#[test]
fn a_bound_of_the_size_of_the_sum_tests_nothing() {
    let sum = "add { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT s = bf16[] add(a, b) }
        ENTRY e { o = bf16[] parameter(0) x = bf16[1000] broadcast(o), dimensions={} z = bf16[] constant(0)
        r = bf16[] reduce(x, z), dimensions={0}, to_apply=add ROOT n = bf16[] negate(r) }";
    verdicts(
        sum,
        &["bf16[] 1"],
        &[("bf16[] -1", NotTested), ("bf16[] 0", Differs), ("bf16[] 1000", Differs)],
    );
}

#[test]
fn products_are_as_precise_as_is_asked_for() {
    let dot = |ty: &str, more: &str| {
        format!(
            "ENTRY e {{ x = {ty}[4] parameter(0) y = {ty}[4] parameter(1)
        ROOT r = {ty}[] dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}{more} }}"
        )
    };
    // bf16 sums of 1 and three times 2^-9.
    let arguments = ["bf16[4] {1, 1, 1, 1}", "bf16[4] {1, 0.001953125, 0.001953125, 0.001953125}"];
    explained(
        &dot("bf16", ""),
        &arguments,
        "bf16[] 1",
        &[Mode::ElementAccumulation, Mode::SummationOrder],
    );
    let algorithm = |name: &str| format!(", algorithm={name}");
    verdicts(&dot("bf16", &algorithm("dot_bf16_bf16_f32")), &arguments, &[("bf16[] 1", Differs)]);
    verdicts(
        &dot("bf16", &algorithm("dot_bf16_bf16_bf16")),
        &arguments,
        &[("bf16[] 1", WithinBound)],
    );
    // 1.0003 squared, read as TF32 and as bf16.
    let arguments = ["f32[4] {1.0003, 0, 0, 0}"; 2];
    explained(&dot("f32", ""), &arguments, "f32[] 1", &[Mode::Tf32]);
    let arguments = ["f32[4] {1.003, 0, 0, 0}"; 2];
    explained(&dot("f32", ""), &arguments, "f32[] 1", &[Mode::Bf16Passes]);
    let high = ", operand_precision={high,high}";
    verdicts(&dot("f32", high), &arguments, &[("f32[] 1", Differs), ("f32[] 1.006", WithinBound)]);
    let highest = ", operand_precision={highest,highest}";
    verdicts(&dot("f32", highest), &arguments, &[("f32[] 1", Differs), ("f32[] 1.006", Differs)]);
    verdicts(&dot("f64", ""), &["f64[4] {1.003, 0, 0, 0}"; 2], &[("f64[] 1", Differs)]);
}

#[test]
fn a_convolution_may_be_transformed() {
    let of = |window: &str, size: i32| {
        format!(
            "ENTRY e {{ x = f64[1,6,1] parameter(0) w = f64[{size},1,1] parameter(1)
            ROOT r = f64[1,{},1] convolution(x, w), window={{{window}}}, dim_labels=b0f_0io->b0f }}",
            7 - size
        )
    };
    let x = "f64[1,6,1] {{{1}, {2}, {3}, {1e6}, {1}, {1}}}";
    let w = "f64[2,1,1] {{{1}}, {{0.1}}}";
    // The first element loses what the largest terms do.
    let actual = "f64[1,5,1] {{{1.2000000001}, {2.3}, {100003}, {1000000.1}, {1.1}}}";
    explained(
        &of("size=2", 2),
        &[x, w],
        actual,
        &[Mode::TransformedConvolution, Mode::SummationOrder],
    );
    let wrong = actual.replace("1.2000000001", "1.2001");
    verdicts(&of("size=2", 2), &[x, w], &[(&wrong, Differs)]);
    let single = "f64[1,6,1] {{{1.0000000001}, {2}, {3}, {1e6}, {1}, {1}}}";
    verdicts(&of("size=1", 1), &[x, "f64[1,1,1] {{{1}}}"], &[(single, Differs)]);
}

#[test]
fn a_wrong_expectation_is_a_bug_of_etalon() {
    let text = "HloModule m\nENTRY e { x = f32[] parameter(0) ROOT r = f32[] add(x, x) }";
    let module = verified(text);
    let arguments = [vec!["f32[] 1".parse().unwrap()]];
    let [two, three, four]: [[Literal; 1]; 3] =
        ["f32[] 2", "f32[] 3", "f32[] 4"].map(|x| [x.parse().unwrap()]);
    assert_eq!(judge(&module, &arguments, &three, &two).verdict, Verdict::EtalonBug);
    assert_eq!(judge(&module, &arguments, &three, &four).verdict, Verdict::EtalonBug);
    let judgement = judge(&module, &arguments, &two, &three);
    assert_eq!((judgement.verdict, judgement.witness), (Differs, None));
}

#[test]
fn open_orders_are_permutations() {
    // Three numbers within the error of the logarithm.
    let near = "x = f32[4] parameter(0) e = f32[4] exponential(x) l = f32[4] log(e)";
    let sort = format!(
        "f {{ a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
           ROOT c = pred[] compare(a, b), direction=LT }}
        ENTRY e {{ {near} i = s32[4] iota(), iota_dimension=0
        s = (f32[4], s32[4]) sort(l, i), dimensions={{0}}, to_apply=f ROOT r = s32[4] get-tuple-element(s), index=1 }}"
    );
    let x = ["f32[4] {1.0000001, 1, 0.99999994, 5}"];
    verdicts(&sort, &x, &[("s32[4] {0, 1, 2, 3}", WithinBound), ("s32[4] {0, 0, 1, 3}", Differs)]);
    let top = format!(
        "ENTRY e {{ {near} t = (f32[2], s32[2]) topk(l), k=2, largest=false ROOT r = s32[2] get-tuple-element(t), index=1 }}"
    );
    verdicts(
        &top,
        &x,
        &[("s32[2] {0, 2}", WithinBound), ("s32[2] {1, 1}", Differs), ("s32[2] {1, 3}", Differs)],
    );
}

#[test]
fn modes_can_be_switched_off() {
    let text = "HloModule m\nENTRY e { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] multiply(x, y) }";
    let module = verified(text);
    let arguments: Vec<Literal> = ["f32[] 1e-40", "f32[] 2"].map(|x| x.parse().unwrap()).to_vec();
    let expected = [interp::run(&module, &arguments).unwrap()];
    let of = |options: &JudgeOptions| {
        let actual = ["f32[] 0".parse().unwrap()];
        judge_with(options, &module, std::slice::from_ref(&arguments), &expected, &actual).verdict
    };
    assert_eq!(of(&JudgeOptions::default()), WithinBound);
    assert_eq!(of(&JudgeOptions::strict()), Differs);
    assert_eq!(of(&JudgeOptions::strict().allow(Mode::FlushedDenormals)), WithinBound);
}

#[test]
fn modes_explain_the_expected_result_too() {
    // One after the other, the updates are lost; the sum of all is rounded up.
    let scatter = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        ENTRY e { t = f32[1] parameter(0) i = s32[3,1] parameter(1) u = f32[3] parameter(2)
        ROOT s = f32[1] scatter(t, i, u), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }";
    let updates = "f32[3] {5.9604645e-8, 5.9604645e-8, 5.9604645e-8}";
    let arguments = ["f32[1] {1}", "s32[3,1] {{0}, {0}, {0}}", updates];
    explained(scatter, &arguments, "f32[1] {1.0000002}", &[Mode::SummationOrder]);
}

#[test]
fn the_order_of_complex_factors_decides_the_signs_of_zeros() {
    let product =
        "mul { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] multiply(a, b) }
        ENTRY e { x = c64[2] parameter(0) z = c64[] constant((1, 0))
        ROOT r = c64[] reduce(x, z), dimensions={0}, to_apply=mul }";
    for x in ["c64[2] {(-0, -3), (1, 0)}", "c64[2] {(-0, -3), (2, 0)}"] {
        let doubled = if x.contains("(2, 0)") { 6 } else { 3 };
        for re in ["0", "-0"] {
            let judgement = check(
                &format!("HloModule m\n{product}"),
                &[x],
                &format!("c64[] ({re}, -{doubled})"),
            );
            assert!(!judgement.verdict.is_bad(), "{judgement:?}");
        }
    }
}

#[test]
fn a_flushed_factor_times_infinity_is_nan() {
    let dot = "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1)
        ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    let factors = ["f32[2] {1e-40, 1}", "f32[2] {inf, 2}"];
    verdicts(dot, &factors, &[("f32[] nan", Undefined)]);
    verdicts(dot, &["f32[2] {1e-20, 1}", "f32[2] {inf, 2}"], &[("f32[] nan", Differs)]);
}

#[test]
fn fast_sums_of_few_bits_may_be_rounded() {
    let dot = "ENTRY e { x = f8e5m2[2] parameter(0) y = f8e5m2[2] parameter(1)
        ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    let factors = ["f8e5m2[2] {4, 1}", "f8e5m2[2] {5120, 1}"];
    explained(dot, &factors, "f32[] 20480", &[Mode::FastAccumulation, Mode::SummationOrder]);
    verdicts(dot, &factors, &[("f32[] 20470", Differs)]);
}

#[test]
fn the_rest_of_a_division_by_infinity_is_the_dividend() {
    let rest = "ENTRY e { x = f32[1] parameter(0) y = f32[1] parameter(1)
        d = f32[1] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={}, rhs_contracting_dims={}
        i = f32[1] constant({-inf}) ROOT r = f32[1] remainder(d, i) }";
    let factors = ["f32[1] {1.0003}", "f32[1] {1}"];
    verdicts(rest, &factors, &[("f32[1] {1}", WithinBound), ("f32[1] {1.1}", Differs)]);
}

#[test]
fn partial_products_overflow_in_some_order() {
    let product =
        "mul { a = f64[] parameter(0) b = f64[] parameter(1) ROOT s = f64[] multiply(a, b) }
        ENTRY e { x = f64[3] parameter(0) z = f64[] constant(1)
        ROOT r = f64[] reduce(x, z), dimensions={0}, to_apply=mul }";
    let results = [("f64[] 1e300", WithinBound), ("f64[] -1e300", Differs)];
    verdicts(product, &["f64[3] {1e200, 1e200, 1e-100}"], &results);
    verdicts(product, &["f64[3] {1e200, 1e200, 1e100}"], &[("f64[] 1e300", Differs)]);
}

#[test]
fn infinities_of_complex_products_are_open() {
    let dot = "ENTRY e { x = c128[2] parameter(0) y = c128[2] parameter(1)
        ROOT r = c128[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    // Beside a denormal.
    let factors = ["c128[2] {(-inf, 0.5), (1e-310, 1)}", "c128[2] {(1, 0), (3, 2)}"];
    verdicts(dot, &factors, &[("c128[] (nan, nan)", Undefined)]);
}

#[test]
fn open_elements_are_open_each_on_its_own() {
    // Neither comparison is decided: the first, the second, both or none may be true.
    let first = "ENTRY e { x = f32[2] parameter(0) s = f32[2] exponential(x) y = f32[2] parameter(1)
        c = pred[2] compare(s, y), direction=GE ROOT r = (pred[1], s32[1]) topk(c), k=1, largest=true }";
    let arguments = ["f32[2] {1, 1}", "f32[2] {2.7182817, 2.718282}"];
    for (truth, index) in [(true, 0), (true, 1), (false, 0)] {
        let actual = &format!("(pred[1] {{{truth}}}, s32[1] {{{index}}})");
        let judgement = check(&format!("HloModule m\n{first}"), &arguments, actual);
        assert!(!judgement.verdict.is_bad(), "{actual}: {judgement:?}");
    }
}

#[test]
fn near_a_pole_a_complex_function_has_any_size() {
    let body = "ENTRY e { x = c64[] parameter(0) y = c64[] asinh(x) ROOT r = c64[] tanh(y) }";
    // The imaginary part of asinh(-i) is the f32 next to a quarter turn.
    let large = ("c64[] (1.0327956, 5e15)", Undefined);
    verdicts(body, &["c64[] (0, -1)"], &[("c64[] (0, 1.6331239e16)", Undefined), large]);
    verdicts(body, &["c64[] (0.5, 0.25)"], &[("c64[] (5, 5)", Differs)]);
    // The sum of the squares is 0.
    let body =
        "ENTRY e { y = c64[] parameter(0) x = c64[] parameter(1) ROOT r = c64[] atan2(y, x) }";
    verdicts(body, &["c64[] (-1, 0)", "c64[] (0, -1)"], &[("c64[] (2, 7)", Undefined)]);
    verdicts(body, &["c64[] (-1, 0.5)", "c64[] (0.25, -1)"], &[("c64[] (2, 7)", Differs)]);
}

#[test]
fn rows_of_topk_have_an_order_each() {
    let body = "ENTRY e { x = f32[2,2] parameter(0) y = f32[2,2] tanh(x) ROOT t = (f32[2,2], s32[2,2]) topk(y), k=2, largest=true }";
    let values = "f32[2,2] {{0.46211717, 0.46211717}, {0.46211717, 0.46211717}}";
    let of = |indices: &str| format!("({values}, s32[2,2] {indices})");
    let (one, other) = (of("{{1, 0}, {1, 0}}"), of("{{1, 0}, {1, 1}}"));
    let arguments = ["f32[2,2] {{0.5, 0.5}, {0.5, 0.5}}"];
    verdicts(body, &arguments, &[(&one, WithinBound), (&other, Differs)]);
}

#[test]
fn finite_terms_may_make_an_infinity_before_an_infinite_term() {
    let body = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        ENTRY e { x = f32[3] parameter(0) z = f32[] constant(0)
        ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add }";
    verdicts(body, &["f32[3] {3e38, 3e38, -inf}"], &[("f32[] nan", Undefined)]);
    verdicts(body, &["f32[3] {3e38, -3e38, nan}"], &[("f32[] inf", Differs)]);
    verdicts(body, &["f32[3] {3, inf, -inf}"], &[("f32[] inf", Differs)]);
    verdicts(body, &["f32[3] {3e38, 3e38, inf}"], &[("f32[] -inf", Differs)]);
    let body = body.replace("f32", "f64");
    let result = [("f64[] nan", Undefined)];
    verdicts(&body, &["f64[3] {1.7e308, 1.7e308, -inf}"], &result);
}
