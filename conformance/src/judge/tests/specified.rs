//! Tests of sentences of the specification that leave a value open, each with a wrong value beside it.
use super::rules::{verdicts, verdicts_without};
use super::*;
use Verdict::{Agrees, Differs, Undefined, WithinBound};

/// StableHLO (`reduce_window`): `padded_inputs... = pad(inputs..., init_values..., ..)`. XLA skips
/// padding and holes.
#[test]
fn padding_and_holes_of_windows_are_initial_values() {
    let of = |op: &str, initial: &str, window: &str| {
        format!(
            "f {{ a = s32[] parameter(0) b = s32[] parameter(1) k = s32[] constant(3)
              t = s32[] multiply(a, k) ROOT c = s32[] {op} }}
            ENTRY e {{ x = s32[3] parameter(0) z = s32[] constant({initial})
            ROOT r = reduce-window(x, z), window={{{window}}}, to_apply=f }}"
        )
    };
    let x = ["s32[3] {1, 2, 4}"];
    let other = "subtract(t, b)";
    // A hole in each window, and one with nothing else.
    let dilated = of(other, "100", "size=2 lhs_dilate=2");
    verdicts(&dilated, &x, &[("s32[4] {299, 298, 7, 296}", Undefined)]);
    let padded = of(other, "100", "size=1 pad=1_0");
    let results =
        [("s32[4] {200, 299, 298, 296}", Undefined), ("s32[4] {100, 299, 298, 297}", Differs)];
    verdicts(&padded, &x, &results);
    let largest = of("maximum(a, b)", "3", "size=2 pad=1_1");
    let results = [
        ("s32[4] {3, 2, 4, 4}", WithinBound),
        ("s32[4] {1, 2, 4, 4}", WithinBound),
        ("s32[4] {0, 3, 4, 4}", Differs),
        ("s32[4] {3, 3, 4, 3}", Differs),
    ];
    verdicts(&largest, &x, &results);
    // In padding alone a window has nothing but initial values.
    let alone = of("maximum(a, b)", "3", "size=1 pad=1_0");
    verdicts(&alone, &x, &[("s32[4] {-2147483648, 3, 3, 4}", Differs)]);
    let sums = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY e { x = f32[3] parameter(0) z = f32[] constant(1)
        ROOT r = f32[4] reduce-window(x, z), window={size=2 pad=1_1}, to_apply=f }";
    let results = [("f32[4] {3, 4, 7, 5}", WithinBound), ("f32[4] {3, 4.5, 7, 5}", Differs)];
    verdicts(sums, &["f32[3] {1, 2, 4}"], &results);
}

#[test]
fn a_selection_has_its_initial_values_or_not() {
    let body = "f { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
          p = pred[] compare(a, b), direction=GE v = f32[] select(p, a, b) k = s32[] select(p, i, j)
          ROOT r = (f32[], s32[]) tuple(v, k) }
        ENTRY e { x = f32[3] parameter(0) i = s32[3] iota(), iota_dimension=0 m = f32[] constant(0)
          z = s32[] constant(-1) ROOT r = (f32[], s32[]) reduce(x, i, m, z), dimensions={0}, to_apply=f }";
    let results = [
        ("(f32[] -1, s32[] 1)", WithinBound),
        ("(f32[] -1, s32[] 2)", Differs),
        ("(f32[] -2, s32[] 1)", Differs),
    ];
    verdicts(body, &["f32[3] {-3, -1, -2}"], &results);
}

/// StableHLO (`convolution`): `padding_value = constant(0, element_type(lhs))`, then a
/// `dot_general`: 0 times infinity is NaN. XLA has no terms there.
#[test]
fn padding_beside_an_infinite_kernel_is_nan_or_nothing() {
    let of = |window: &str, out: i64| {
        format!(
            "ENTRY e {{ x = f32[1,2,2] parameter(0) k = f32[2,2,2] parameter(1)
            ROOT r = f32[1,{out},2] convolution(x, k), window={{size=2 {window}}}, dim_labels=b0f_0io->b0f }}"
        )
    };
    let transform = Mode::TransformedConvolution;
    let k = "f32[2,2,2] {{{inf, 1}, {inf, 1}}, {{3, 1}, {4, 1}}}";
    let arguments = ["f32[1,2,2] {{{1, 1}, {2, 2}}}", k];
    let results = [
        ("f32[1,3,2] {{{7, 2}, {inf, 6}, {inf, 4}}}", Agrees),
        ("f32[1,3,2] {{{nan, 2}, {inf, 6}, {inf, 4}}}", WithinBound),
        ("f32[1,3,2] {{{inf, 2}, {inf, 6}, {inf, 4}}}", Differs),
        ("f32[1,3,2] {{{8, 2}, {inf, 6}, {inf, 4}}}", Differs),
        ("f32[1,3,2] {{{7, nan}, {inf, 6}, {inf, 4}}}", Differs),
        ("f32[1,3,2] {{{7, 2}, {nan, 6}, {inf, 4}}}", Differs),
    ];
    verdicts_without(transform, &of("pad=1_1", 3), &arguments, &results);
    // The first of two windows has a hole beside the infinity, the other one beside a number.
    let results = [
        ("f32[1,2,2] {{{inf, 2}, {nan, 4}}}", WithinBound),
        ("f32[1,2,2] {{{nan, 2}, {14, 4}}}", Differs),
    ];
    verdicts_without(transform, &of("lhs_dilate=2", 2), &arguments, &results);
}

/// StableHLO (`convert`): if the value cannot be represented, "the behavior is TBD".
#[test]
fn infinity_and_nan_have_no_number_in_types_without_them() {
    for (ty, most) in [("f4e2m1fn", "6"), ("f6e2m3fn", "7.5"), ("f6e3m2fn", "28")] {
        let convert = format!("ENTRY e {{ x = f32[3] parameter(0) ROOT r = {ty}[3] convert(x) }}");
        let results = [
            (format!("{ty}[3] {{0, 1, {most}}}"), Undefined),
            (format!("{ty}[3] {{0, 1.5, {most}}}"), Differs),
            (format!("{ty}[3] {{0, 1, 1}}"), Differs),
        ];
        let results = results.each_ref().map(|(text, verdict)| (text.as_str(), *verdict));
        verdicts(&convert, &["f32[3] {inf, 1, 1000}"], &results);
        verdicts(&convert, &["f32[3] {nan, 1, 1000}"], &results[1..]);
        let divide = format!(
            "ENTRY e {{ x = {ty}[2] parameter(0) y = {ty}[2] parameter(1) q = {ty}[2] divide(x, y)
            ROOT r = f32[2] convert(q) }}"
        );
        let arguments = [format!("{ty}[2] {{1, 1}}"), format!("{ty}[2] {{0, 2}}")];
        let arguments = arguments.each_ref().map(String::as_str);
        let results = [("f32[2] {0, 0.5}", Undefined), ("f32[2] {0, 1}", Differs)];
        verdicts(&divide, &arguments, &results);
    }
}

/// Texts of 2018 say that the keys ascend, and no more.
#[test]
fn a_sort_without_a_comparator_leaves_equal_keys_open() {
    let body = "ENTRY e { x = f32[5] parameter(0) i = s32[5] parameter(1)
        ROOT s = (f32[5], s32[5]) sort(x, i), dimensions={0} }";
    let arguments = ["f32[5] {3, 1, 3, 0, -0}", "s32[5] {10, 20, 30, 40, 50}"];
    let results = [
        ("(f32[5] {0, -0, 1, 3, 3}, s32[5] {40, 50, 20, 10, 30})", WithinBound),
        ("(f32[5] {-0, 0, 1, 3, 3}, s32[5] {50, 40, 20, 30, 10})", WithinBound),
        ("(f32[5] {-0, 0, 1, 3, 3}, s32[5] {50, 40, 20, 30, 30})", Differs),
        ("(f32[5] {-0, 0, 3, 1, 3}, s32[5] {50, 40, 10, 20, 30})", Differs),
    ];
    verdicts(body, &arguments, &results);
    let keys = "ENTRY e { x = f32[3] parameter(0) y = f32[3] tanh(x) ROOT s = f32[3] sort(y) }";
    let judged = check(&format!("HloModule m\n{keys}"), &["f32[3] {3, 1, 2}"], "f32[3] {1, 2, 3}");
    assert_eq!((judged.verdict, judged.estimated), (Differs, None));
}

/// CHLO (`ragged_dot`) says "[b,m,k], [b,k,n], [g] -> [b,m,n]" of a batch dimension, and no more.
#[test]
fn what_is_in_no_group_of_a_batch_is_zero_or_a_product() {
    for ty in ["s32", "f32"] {
        let body = format!(
            "ENTRY e {{ x = {ty}[3,1,1] parameter(0) y = {ty}[3,1,1] parameter(1) g = s32[2] constant({{1, 1}})
            ROOT r = {ty}[3,1,1] ragged-dot(x, y, g), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
              lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}, lhs_ragged_dims={{0}} }}"
        );
        let x = format!("{ty}[3,1,1] {{{{{{1}}}}, {{{{2}}}}, {{{{3}}}}}}");
        let y = x.replace('1', "10").replace("[3,10,10]", "[3,1,1]");
        let result = |last: &str| format!("{ty}[3,1,1] {{{{{{10}}}}, {{{{4}}}}, {{{{{last}}}}}}}");
        for (last, verdict) in [("0", Agrees), ("9", WithinBound), ("5", Differs)] {
            verdicts(&body, &[&x, &y], &[(&result(last), verdict)]);
        }
        let other = result("9").replace("{4}", "{0}");
        verdicts(&body, &[&x, &y], &[(&other, Differs)]);
    }
}

/// The expansions of StableHLO and XLA multiply what other groups have by 0.
#[test]
fn a_ragged_dot_may_add_the_zeros_of_other_groups() {
    let body = "ENTRY e { x = f32[2,1] parameter(0) y = f32[2,1,2] parameter(1) g = s32[2] constant({1, 1})
        ROOT r = f32[2,2] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1},
          lhs_ragged_dims={0}, rhs_group_dims={0} }";
    let arguments = ["f32[2,1] {{2}, {3}}", "f32[2,1,2] {{{5, 7}}, {{1, inf}}}"];
    let results = [
        ("f32[2,2] {{10, 14}, {3, inf}}", Agrees),
        ("f32[2,2] {{10, nan}, {3, inf}}", WithinBound),
        ("f32[2,2] {{nan, 14}, {3, inf}}", Differs),
        ("f32[2,2] {{10, inf}, {3, inf}}", Differs),
        ("f32[2,2] {{10, 14}, {nan, inf}}", Differs),
    ];
    verdicts(body, &arguments, &results);
    let body =
        "ENTRY e { x = f32[1,2] parameter(0) y = f32[2,1] parameter(1) g = s32[2] constant({1, 1})
        ROOT r = f32[2,1,1] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={0},
          lhs_ragged_dims={1} }";
    let arguments = ["f32[1,2] {{2, 3}}", "f32[2,1] {{5}, {nan}}"];
    let results = [
        ("f32[2,1,1] {{{10}}, {{nan}}}", Agrees),
        ("f32[2,1,1] {{{nan}}, {{nan}}}", WithinBound),
        ("f32[2,1,1] {{{10}}, {{15}}}", Differs),
    ];
    verdicts(body, &arguments, &results);
}

/// Many elements that tie have one index each.
#[test]
fn no_index_is_taken_twice() {
    let body = "ENTRY e { x = f32[20] parameter(0) y = f32[20] exponential(x)
        ROOT r = (f32[2], s32[2]) topk(y), k=2, largest=true }";
    let x = format!("f32[20] {{{}}}", ["0.5"; 20].join(", "));
    let values = "f32[2] {1.6487213, 1.6487213}";
    let results = [
        (format!("({values}, s32[2] {{7, 9}})"), WithinBound),
        (format!("({values}, s32[2] {{7, 7}})"), Differs),
        (format!("({values}, s32[2] {{7, 20}})"), Differs),
    ];
    for (result, verdict) in &results {
        verdicts(body, &[&x], &[(result, *verdict)]);
    }
}

/// A start stands for its result, wherever its end is.
#[test]
fn operations_end_in_loops_and_branches() {
    let text = "HloModule m, replica_count=2
        add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        round { c = (s32[], f32[], (f32[], f32[])) parameter(0) i = s32[] get-tuple-element(c), index=0
          s = f32[] get-tuple-element(c), index=1 p = (f32[], f32[]) get-tuple-element(c), index=2
          d = f32[] all-reduce-done(s) t = f32[] all-reduce-start(d), replica_groups={}, to_apply=add
          one = s32[] constant(1) j = s32[] add(i, one)
          ROOT n = (s32[], f32[], (f32[], f32[])) tuple(j, t, p) }
        less { c = (s32[], f32[], (f32[], f32[])) parameter(0) i = s32[] get-tuple-element(c), index=0
          two = s32[] constant(2) ROOT l = pred[] compare(i, two), direction=LT }
        plain { p = (f32[], f32[]) parameter(0) ROOT d = f32[] collective-permute-done(p) }
        minus { p = (f32[], f32[]) parameter(0) d = f32[] collective-permute-done(p) ROOT n = f32[] negate(d) }
        ENTRY e { x = f32[] parameter(0) s = f32[] all-reduce-start(x), replica_groups={}, to_apply=add
          p = (f32[], f32[]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}
          zero = s32[] constant(0) c = (s32[], f32[], (f32[], f32[])) tuple(zero, s, p)
          w = (s32[], f32[], (f32[], f32[])) while(c), condition=less, body=round
          t = f32[] get-tuple-element(w), index=1 d = f32[] all-reduce-done(t)
          q = (f32[], f32[]) get-tuple-element(w), index=2 r = u32[] replica-id() i = s32[] convert(r)
          o = f32[] conditional(i, q, q), branch_computations={plain, minus}
          ROOT y = (f32[], f32[]) tuple(d, o) }";
    let module = verified(text);
    let arguments: Vec<Vec<Literal>> =
        ["f32[] 3.1", "f32[] 4.3"].map(|x| vec![x.parse().unwrap()]).into();
    let session =
        collectives::Session::compile(module.clone(), &CompileOptions::default()).unwrap();
    let expected = session.run(&arguments, &RunOptions::default()).unwrap().results;
    let judged = |sum: f32, sent: [f32; 2]| {
        let of =
            |sent: f32| Literal::tuple([sum, sent].map(|x| Literal::from_slice(&[], &[x])).into());
        judge(&module, &arguments, &expected, &sent.map(of))
    };
    let sum = expected[0].elements().unwrap()[0].as_slice::<f32>().unwrap()[0];
    let judgement = judged(sum.next_up(), [4.3, -3.1]);
    assert_eq!((judgement.verdict, judgement.estimated), (WithinBound, None));
    assert_eq!(judged(sum + 1.0, [4.3, -3.1]).verdict, Differs);
    let judgement = judged(sum, [4.3, 3.1]);
    assert_eq!((judgement.verdict, judgement.estimated), (Differs, None));
}

#[test]
fn many_equal_keys_are_a_permutation() {
    let body = "f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
          ROOT p = pred[] compare(a, b), direction=LT }
        ENTRY e { x = s32[20] parameter(0) i = s32[20] parameter(1)
          ROOT s = (s32[20], s32[20]) sort(x, i), dimensions={0}, to_apply=f }";
    let list = |number: &dyn Fn(u32) -> u32| {
        let all: Vec<String> = (0..20).map(|i| number(i).to_string()).collect();
        format!("s32[20] {{{}}}", all.join(", "))
    };
    let (keys, payload) = (list(&|_| 1), list(&|i| i * i * 1000));
    let judged = |payload: &str| {
        let actual = format!("({keys}, {payload})");
        check(&format!("HloModule m\n{body}"), &[&keys, &list(&|i| i * i * 1000)], &actual).verdict
    };
    assert_eq!(judged(&payload), Agrees);
    assert_eq!(judged(&list(&|i| (19 - i) * (19 - i) * 1000)), WithinBound);
    // One between two of them, and one of them twice.
    assert_eq!(judged(&list(&|i| if i == 3 { 9500 } else { (19 - i) * (19 - i) * 1000 })), Differs);
    assert_eq!(judged(&list(&|i| if i == 3 { 0 } else { (19 - i) * (19 - i) * 1000 })), Differs);
}

#[test]
fn a_nan_is_before_or_after_the_others() {
    let body = "ENTRY e { x = f32[5] parameter(0) y = f32[5] sine(x)
        ROOT t = (f32[3], s32[3]) topk(y), k=3, largest=true }";
    // NaN, 0.84, 0.96, 0.1, -0.9.
    let x = ["f32[5] {inf, 1, 1.3, 0.1, -1.2}"];
    let results = [
        ("(f32[3] {nan, 0.9635582, 0.84147096}, s32[3] {0, 2, 1})", WithinBound),
        ("(f32[3] {0.9635582, 0.84147096, 0.09983342}, s32[3] {2, 1, 3})", WithinBound),
        ("(f32[3] {0.84147096, 0.84147096, 0.09983342}, s32[3] {2, 1, 3})", Differs),
        ("(f32[3] {nan, 0.9635582, -0.9320391}, s32[3] {0, 2, 4})", Differs),
        ("(f32[3] {0.9635582, nan, 0.09983342}, s32[3] {2, 0, 3})", Differs),
        ("(f32[3] {0.9635582, 0.84147096, 0.09983342}, s32[3] {2, 1, 4})", Differs),
    ];
    let other = |text: &str| check(&format!("HloModule m\n{body}"), &x, text).verdict;
    let found: Vec<Verdict> = results.iter().map(|(text, _)| other(text)).collect();
    for (found, (text, expected)) in found.into_iter().zip(results) {
        // One of the two legal ones is ours.
        let legal = |verdict| matches!(verdict, Agrees | WithinBound);
        assert_eq!(legal(found), legal(expected), "{text}: {found:?}");
    }
}

#[test]
fn narrow_numbers_are_reduced_to_numbers_of_their_size() {
    let body = "ENTRY e { x = f8e5m2[3] parameter(0) r = f8e5m2[3] reduce-precision(x), exponent_bits=3, mantissa_bits=1
        ROOT c = f32[3] convert(r) }";
    let x = ["f8e5m2[3] {0.0625, 1000, 1.25}"];
    let results = [
        ("f32[3] {0.0625, inf, 1}", WithinBound),
        ("f32[3] {0, 1024, 1}", WithinBound),
        ("f32[3] {0, inf, 2}", Differs),
        ("f32[3] {0, 3, 1}", Differs),
        ("f32[3] {-0.0625, inf, 1}", Differs),
        ("f32[3] {1, inf, 1}", Differs),
    ];
    for (text, verdict) in results {
        let found = check(&format!("HloModule m\n{body}"), &x, text).verdict;
        assert_eq!(found == Differs, verdict == Differs, "{text}: {found:?}");
    }
}

#[test]
fn steps_of_a_small_value_may_be_flushed() {
    let body = "ENTRY e { x = f32[] parameter(0) ROOT r = f32[] erf(x) }";
    let results = [("f32[] 0", WithinBound), ("f32[] 1.18e-38", Differs), ("f32[] -0", Differs)];
    verdicts(body, &["f32[] 1.17549435e-38"], &results);
    verdicts(body, &["f32[] 1e-30"], &[("f32[] 0", Differs)]);
    let exact = "ENTRY e { x = f32[] parameter(0) ROOT r = f32[] abs(x) }";
    verdicts(exact, &["f32[] 1.17549435e-38"], &[("f32[] 0", Differs)]);
}

/// Neither StableHLO nor CHLO speaks of branch cuts.
#[test]
fn a_branch_cut_belongs_to_either_side() {
    let of = |op: &str| format!("ENTRY e {{ x = c64[] parameter(0) ROOT r = c64[] {op}(x) }}");
    let results =
        [("c64[] (0, 2)", WithinBound), ("c64[] (0, 1)", Differs), ("c64[] (2, 0)", Differs)];
    verdicts(&of("sqrt"), &["c64[] (-4, -0)"], &results);
    verdicts(&of("sqrt"), &["c64[] (-4, -1)"], &[("c64[] (0.24805, 2.01533)", Differs)]);
    let results =
        [("c64[] (1.5707964, 1.3169579)", WithinBound), ("c64[] (0, 1.3169579)", Differs)];
    verdicts(&of("asin"), &["c64[] (2, -0)"], &results);
}

/// StableHLO (`dot_general`) requires `is_promotable(operand, result)`: floats with an integer result
/// have no meaning there. Its interpreter converts the factors, XLA the sum.
#[test]
fn integers_of_products_of_floats_are_converted_first_or_last() {
    let body = "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1)
        ROOT d = s32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    let arguments = ["f32[2] {1.5, 2.5}", "f32[2] {2, 3}"];
    let results = [("s32[] 10", Agrees), ("s32[] 8", WithinBound), ("s32[] 9", Differs)];
    verdicts(body, &arguments, &results);
}

/// A value of a narrow type is rounded or kept in a chain of ops, too.
#[test]
fn a_chain_rounds_or_keeps_each_value() {
    for (ty, x, wrong) in
        [("bf16", "0.03", "0.013"), ("f16", "0.003", "0.0013"), ("f8e5m2", "0.03", "0.013")]
    {
        let body = format!(
            "ENTRY e {{ x = {ty}[] parameter(0) l = {ty}[] constant(8) a = {ty}[] add(x, l)
            b = {ty}[] add(a, l) c = {ty}[] subtract(b, l) d = {ty}[] subtract(c, l)
            ROOT r = f32[] convert(d) }}"
        );
        let x: Literal = format!("{ty}[] {x}").parse().unwrap();
        let argument = format!("{ty}[] {}", x.get(0).as_f64());
        let judged = |actual: &str| {
            let actual = format!("f32[] {actual}");
            check(&format!("HloModule m\n{body}"), &[&argument], &actual).verdict
        };
        assert_ne!(judged(&x.get(0).as_f64().to_string()), Differs, "{ty}");
        assert_ne!(judged("0"), Differs, "{ty}");
        assert_eq!(judged(wrong), Differs, "{ty}");
    }
}
