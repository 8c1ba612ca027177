//! Tests of bounds of ops that are more than an elementwise function or a reduction.
use super::*;
use Verdict::{Differs, WithinBound};

#[test]
fn devices_add_in_any_order() {
    let text = "HloModule m, replica_count=4
        add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        ENTRY e { x = f32[2] parameter(0) s = f32[2] all-reduce(x), replica_groups={}, to_apply=add
          m = f32[2] negate(s) p = f32[2] collective-permute(x), source_target_pairs={{0,1},{1,2}}
          g = f32[8] all-gather(m), replica_groups={}, dimensions={0} ROOT r = (f32[8], f32[2]) tuple(g, p) }";
    let module = verified(text);
    let x = [[0.1f32, 3.0], [0.7, 1e-3], [-0.3, 1e4], [0.9, 7e-4]];
    let arguments: Vec<Vec<Literal>> =
        x.iter().map(|x| vec![Literal::from_slice(&[2], x)]).collect();
    let session =
        collectives::Session::compile(module.clone(), &CompileOptions::default()).unwrap();
    let expected = session.run(&arguments, &RunOptions::default()).unwrap().results;
    let result = |first: f32, sent: [f32; 2]| {
        let second = x[3][1] + x[2][1] + x[1][1] + x[0][1];
        let gathered: Vec<f32> = [-first, -second].repeat(4);
        Literal::tuple(vec![Literal::from_slice(&[8], &gathered), Literal::from_slice(&[2], &sent)])
    };
    let judged = |first: f32, sent: [f32; 2]| {
        let actual = [
            result(first, [0.0, 0.0]),
            result(first, x[0]),
            result(first, sent),
            result(first, [0.0, 0.0]),
        ];
        judge(&module, &arguments, &expected, &actual)
    };
    let gathered = expected[0].elements().unwrap()[0].as_slice::<f32>().unwrap();
    let reversed = (-gathered[0]).next_up();
    let judgement = judged(reversed, x[1]);
    assert_eq!((judgement.verdict, &judgement.estimated), (WithinBound, &None), "{judgement:?}");
    assert_eq!(judgement.modes, [Mode::SummationOrder]);
    assert_eq!(judged(reversed + 1e-6, x[1]).verdict, Differs);
    let judgement = judged(reversed, [0.7, 2e-3]);
    assert_eq!(judgement.verdict, Differs);
    assert_eq!(judgement.measures.worst.unwrap().place, "d2_out1[1]");
}

#[test]
fn dots_of_groups_and_of_scaled_factors_have_bounds() {
    let ragged = "ENTRY e { x = f32[3,2] parameter(0) y = f32[2,2,1] parameter(1) n = s32[2] constant({1, 2})
        ROOT r = f32[3,1] ragged-dot(x, y, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,highest},
          lhs_ragged_dims={0}, rhs_group_dims={0} }";
    let arguments = [
        "f32[3,2] {{0.1, 0.7}, {1.1, 0.3}, {0.2, 5}}",
        "f32[2,2,1] {{{1.3}, {0.3}}, {{0.7}, {0.9}}}",
    ];
    let judgement = check(
        &format!("HloModule m\n{ragged}"),
        &arguments,
        "f32[3,1] {{0.34}, {1.04}, {4.64001}}",
    );
    assert_eq!((judgement.verdict, judgement.estimated), (Differs, None));
    let scaled = "ENTRY e { x = f8e4m3fn[2,4] parameter(0) y = f8e4m3fn[4,1] parameter(1)
        s = f8e8m0fnu[2,2] constant({{2, 4}, {0.5, 1}}) t = f8e8m0fnu[2,1] constant({{2}, {8}})
        ROOT r = f32[2,1] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }";
    let arguments =
        ["f8e4m3fn[2,4] {{1, 2, 3, 4}, {1, 0, 1, 0}}", "f8e4m3fn[4,1] {{1}, {1}, {2}, {0.5}}"];
    let judgement =
        check(&format!("HloModule m\n{scaled}"), &arguments, "f32[2,1] {{268}, {17.000002}}");
    assert_eq!((judgement.verdict, judgement.estimated), (Differs, None));
}

#[test]
fn batch_norms_have_bounds() {
    let text = "HloModule m\nENTRY e { x = f32[4,1] parameter(0) s = f32[1] constant({1.3}) o = f32[1] constant({0.2})
        t = (f32[4,1], f32[1], f32[1]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=1
        y = f32[4,1] get-tuple-element(t), index=0 m = f32[1] get-tuple-element(t), index=1
        v = f32[1] get-tuple-element(t), index=2
        i = f32[4,1] batch-norm-inference(x, s, o, m, v), epsilon=0.001, feature_index=1
        g = (f32[4,1], f32[1], f32[1]) batch-norm-grad(x, s, m, v, y), epsilon=0.001, feature_index=1
        h = f32[1] get-tuple-element(g), index=1
        ROOT r = (f32[4,1], f32[1], f32[1], f32[4,1], f32[1]) tuple(y, m, v, i, h) }";
    let module = verified(text);
    let x = Literal::from_slice(&[4, 1], &[0.1f32, 2.7, -1.3, 0.9]);
    let expected = interp::run(&module, std::slice::from_ref(&x)).unwrap();
    let moved = |leaf: usize, change: &dyn Fn(f32) -> f32| {
        let mut leaves = expected.elements().unwrap().to_vec();
        let first = &mut leaves[leaf].as_mut_slice::<f32>().unwrap()[0];
        *first = change(*first);
        let actual = [Literal::tuple(leaves)];
        judge(&module, &[vec![x.clone()]], std::slice::from_ref(&expected), &actual)
    };
    for leaf in 0..5 {
        let judgement = moved(leaf, &f32::next_up);
        assert_eq!(
            (judgement.verdict, &judgement.estimated),
            (WithinBound, &None),
            "{leaf} {judgement:?}"
        );
        assert_eq!(moved(leaf, &|x| x * 1.001).verdict, Differs, "{leaf}");
    }
}

#[test]
fn triangular_systems_have_bounds() {
    let text = "HloModule m\nENTRY e { x = f32[3,3] parameter(0) l = f32[3,3] cholesky(x), lower=true
        b = f32[2,3] slice(x), slice={[0:2], [0:3]}
        s = f32[2,3] triangular-solve(l, b), left_side=false, lower=true, unit_diagonal=false, transpose_a=TRANSPOSE
        ROOT r = (f32[3,3], f32[2,3]) tuple(l, s) }";
    let module = verified(text);
    let x = Literal::from_slice(&[3, 3], &[4.1f32, 1.3, 0.7, 1.3, 5.7, 0.3, 0.7, 0.3, 6.1]);
    let expected = interp::run(&module, std::slice::from_ref(&x)).unwrap();
    let moved = |leaf: usize, at: usize, change: &dyn Fn(f32) -> f32| {
        let mut leaves = expected.elements().unwrap().to_vec();
        let element = &mut leaves[leaf].as_mut_slice::<f32>().unwrap()[at];
        *element = change(*element);
        let actual = [Literal::tuple(leaves)];
        judge(&module, &[vec![x.clone()]], std::slice::from_ref(&expected), &actual)
    };
    for (leaf, at) in [(0, 0), (0, 7), (0, 8), (1, 0), (1, 1), (1, 5)] {
        let judgement = moved(leaf, at, &f32::next_up);
        assert_eq!(
            (judgement.verdict, &judgement.estimated),
            (WithinBound, &None),
            "{leaf} {at} {judgement:?}"
        );
        assert_eq!(moved(leaf, at, &|x| x * 1.001 + 1e-4).verdict, Differs, "{leaf} {at}");
    }
    // What is in the other triangle is implementation-defined.
    assert_ne!(moved(0, 1, &|x| x + 1.3).verdict, Differs);
}

/// Judges our own result with one number changed: a part, if numbers are complex.
fn changed(
    text: &str,
    arguments: &[&str],
    (leaf, at): (usize, usize),
    change: impl Fn(f32) -> f32,
) -> Judgement {
    let module = verified(&format!("HloModule m\n{text}"));
    let arguments: Vec<Literal> = arguments.iter().map(|text| text.parse().unwrap()).collect();
    let expected = interp::run(&module, &arguments).unwrap();
    let mut leaves: Vec<Literal> = expected.leaves().into_iter().cloned().collect();
    let is_complex = leaves[leaf].array_shape().unwrap().ty.is_complex();
    let numbers = match is_complex {
        true => leaves[leaf].as_mut_slice::<[f32; 2]>().unwrap().as_flattened_mut(),
        false => leaves[leaf].as_mut_slice::<f32>().unwrap(),
    };
    numbers[at] = change(numbers[at]);
    let actual = match expected.elements() {
        Some(_) => Literal::tuple(leaves),
        None => leaves.remove(0),
    };
    judge(&module, &[arguments], &[expected], &[actual])
}

/// Asserts that a program has a bound: a number may be off by a unit, and not by a part in a
/// thousand.
fn has_bound(text: &str, arguments: &[&str], places: &[(usize, usize)]) {
    for &place in places {
        let near = changed(text, arguments, place, f32::next_up);
        assert_eq!((near.verdict, &near.estimated), (WithinBound, &None), "{place:?} {near:?}");
        let far = changed(text, arguments, place, |x| x * 1.001 + 1e-4);
        assert_eq!((far.verdict, &far.estimated), (Differs, &None), "{place:?} {far:?}");
    }
}

#[test]
fn custom_calls_have_the_bounds_of_their_ops() {
    let text = "ENTRY e { x = f32[3,3] parameter(0)
        t = (f32[3,3], s32[]) custom-call(x), custom_call_target=\"lapack_spotrf_ffi\", backend_config={uplo = 76 : ui8}
        l = f32[3,3] get-tuple-element(t), index=0 i = s32[] get-tuple-element(t), index=1
        h = f32[3,3] custom-call(l), custom_call_target=\"Sharding\" b = f32[2,3] slice(x), slice={[0:2], [0:3]}
        s = f32[2,3] custom-call(h, b), custom_call_target=\"lapack_strsm_ffi\",
          backend_config={diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}
        ROOT r = (f32[3,3], f32[2,3], s32[]) tuple(h, s, i) }";
    let x = ["f32[3,3] {{4.1, 7, 7}, {1.3, 5.7, 7}, {0.7, 0.3, 6.1}}"];
    has_bound(text, &x, &[(0, 0), (0, 7), (0, 8), (1, 1), (1, 5)]);
    // The other triangle is that of the operand.
    assert_eq!(changed(text, &x, (0, 1), f32::next_up).verdict, Differs);
    let open = ["f32[3,3] {{4.1, 7, 7}, {1.3, 5.7, 7}, {0.7, 0.3, -6.1}}"];
    assert_ne!(changed(text, &open, (0, 8), |x| x + 1.0).verdict, Differs);
    let top = "ENTRY e { x = f32[4] parameter(0) y = f32[4] exponential(x)
        ROOT r = (f32[2], s32[2]) custom-call(y), custom_call_target=\"TopK\" }";
    has_bound(top, &["f32[4] {0.3, 0.7, 2.7, 1.1}"], &[(0, 0), (0, 1)]);
}

#[test]
fn triangular_systems_of_complex_numbers_have_bounds() {
    for (lower, transpose, left) in
        [(true, "ADJOINT", false), (false, "TRANSPOSE", true), (true, "NO_TRANSPOSE", true)]
    {
        let text = format!("ENTRY e {{ x = c64[2,2] parameter(0) l = c64[2,2] cholesky(x), lower={lower}
            s = c64[2,2] triangular-solve(l, x), left_side={left}, lower={lower}, unit_diagonal=false, transpose_a={transpose}
            ROOT r = (c64[2,2], c64[2,2]) tuple(l, s) }}");
        let x = ["c64[2,2] {{(4.1, 0), (1.3, 0.9)}, {(1.3, -0.9), (5.7, 0)}}"];
        let side = if lower { 4 } else { 2 };
        let places =
            [(0, 0), (0, side), (0, side + 1), (0, 6), (1, 0), (1, 3), (1, 4), (1, 6), (1, 7)];
        has_bound(&text, &x, &places);
    }
}

#[test]
fn computations_of_elements_may_choose_and_reduce() {
    let text = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        same { a = f32[] parameter(0) ROOT r = f32[] sine(a) }
        table { a = f32[] parameter(0) t = f32[4] constant({0.5, 1.5, 2.5, 3.5}) i = s32[] convert(a)
          s = f32[1] dynamic-slice(t, i), dynamic_slice_sizes={1} b = f32[3] broadcast(a), dimensions={}
          z = f32[] constant(0) n = f32[] reduce(b, z), dimensions={0}, to_apply=add
          p = f32[] reshape(s) ROOT r = f32[] add(n, p) }
        f { a = f32[] parameter(0) o = f32[] constant(1) p = pred[] compare(a, o), direction=GT
          ROOT c = f32[] conditional(p, a, a), true_computation=table, false_computation=same }
        ENTRY e { x = f32[3] parameter(0) y = f32[3] exponential(x) ROOT m = f32[3] map(y), dimensions={0}, to_apply=f }";
    has_bound(text, &["f32[3] {0.3, -0.7, 0.9}"], &[(0, 0), (0, 1), (0, 2)]);
}

#[test]
fn what_another_order_rounds_is_undefined() {
    let body = "f { a = f32[] parameter(0) b = f32[] parameter(1) s = f32[] add(a, b) ROOT r = f32[] sine(s) }";
    let reduce = format!(
        "{body}\nENTRY e {{ x = f32[2,3] parameter(0) z = f32[] constant(0)
        ROOT t = f32[2] reduce(x, z), dimensions={{1}}, to_apply=f }}"
    );
    let x = ["f32[2,3] {{0.3, 0.7, 2.7}, {1, 2, 3}}"];
    let judgement = changed(&reduce, &x, (0, 1), |x| x + 1.0);
    assert_eq!((judgement.verdict, &judgement.estimated), (Verdict::Undefined, &None));
    assert_eq!(judgement.cause.as_deref(), Some("e/t"));
    // A window of one element has one order, if nothing is padded.
    let of = |window: &str, at: usize| {
        let window = format!(
            "{body}\nENTRY e {{ x = f32[3] parameter(0) z = f32[] constant(0)
            ROOT r = reduce-window(x, z), window={{{window}}}, to_apply=f }}"
        );
        changed(&window, &["f32[3] {0.3, 0.7, 2.7}"], (0, at), |x| x + 1.0).verdict
    };
    let undefined = Verdict::Undefined;
    assert_eq!((of("size=2", 1), of("size=2 pad=1_1", 0)), (undefined, undefined));
    assert_eq!(of("size=1", 1), Differs);
    let pooled = "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT g = pred[] compare(a, b), direction=GE }
        f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] subtract(a, b) }
        ENTRY e { x = f32[4] parameter(0) u = f32[2] parameter(1) z = f32[] constant(0)
          ROOT r = f32[4] select-and-scatter(x, u, z), window={size=2 stride=2}, select=ge, scatter=f }";
    let of = |at| changed(pooled, &["f32[4] {1, 2, 4, 3}", "f32[2] {1, 2}"], (0, at), |x| x + 1.0);
    assert_eq!((of(1).verdict, of(1).estimated), (Verdict::Undefined, None));
    // No window selects the first element.
    assert_eq!(of(0).verdict, Differs);
}

#[test]
fn updates_are_subtracted_in_any_order() {
    let text = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] subtract(a, b) }
        ENTRY e { t = f32[2] parameter(0) i = s32[3,1] parameter(1) u = f32[3] parameter(2)
          ROOT s = f32[2] scatter(t, i, u), update_window_dims={}, inserted_window_dims={0},
            scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }";
    has_bound(
        text,
        &["f32[2] {1.3, 2}", "s32[3,1] {{0}, {0}, {0}}", "f32[3] {0.1, 0.7, 5.3}"],
        &[(0, 0)],
    );
}

#[test]
fn scans_have_the_bounds_of_their_steps() {
    for (reverse, last) in [("", 4), (", is_reverse=true", 0)] {
        let text = format!("step {{ x = f32[2] parameter(0) c = f32[2] parameter(1) s = f32[2] add(x, c)
              n = f32[2] sine(s) ROOT t = (f32[2], f32[2]) tuple(n, s) }}
            ENTRY e {{ x = f32[2,3] parameter(0) z = f32[2] parameter(1) y = f32[2,3] exponential(x)
              ROOT r = (f32[2,3], f32[2]) scan(y, z), dimensions={{1}}, num_carries=1, to_apply=step{reverse} }}");
        let arguments = ["f32[2,3] {{0.1, 0.7, 0.3}, {0.2, 0.5, 0.9}}", "f32[2] {0.5, 0.25}"];
        has_bound(&text, &arguments, &[(0, last / 2), (0, 1), (0, 5), (1, 0), (1, 1)]);
    }
}

#[test]
fn devices_add_complex_numbers() {
    let text = "HloModule m, replica_count=3
        add { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] add(a, b) }
        ENTRY e { x = c64[1] parameter(0) ROOT s = c64[1] all-reduce(x), replica_groups={}, to_apply=add }";
    let literal = |text: &str| -> Literal { text.parse().unwrap() };
    let arguments = ["c64[1] {(0.1, 1e4)}", "c64[1] {(0.7, 1e-3)}", "c64[1] {(-0.3, -1e4)}"];
    let arguments: Vec<Vec<Literal>> = arguments.map(|x| vec![literal(x)]).into();
    let module = verified(text);
    let session =
        collectives::Session::compile(module.clone(), &CompileOptions::default()).unwrap();
    let expected = session.run(&arguments, &RunOptions::default()).unwrap().results;
    let judged = |sum: &str| {
        let actual = [literal(sum), expected[1].clone(), expected[2].clone()];
        judge(&module, &arguments, &expected, &actual)
    };
    let near = judged("c64[1] {(0.49999994, 0.0009765625)}");
    assert_eq!((near.verdict, &near.estimated), (WithinBound, &None), "{near:?}");
    assert_eq!(judged("c64[1] {(0.501, 0.001)}").verdict, Differs);
    assert_eq!(judged("c64[1] {(0.5, 0.01)}").verdict, Differs);
}

#[test]
fn devices_communicate_in_loops_and_branches() {
    let text = "HloModule m, replica_count=2
        add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        mul { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] multiply(a, b) }
        round { p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[2] get-tuple-element(p), index=1
          o = s32[] constant(1) n = s32[] add(i, o) s = f32[2] all-reduce(x), replica_groups={}, to_apply=add
          t = f32[2] tanh(s) ROOT r = (s32[], f32[2]) tuple(n, t) }
        more { p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0 l = s32[] constant(2)
          ROOT c = pred[] compare(i, l), direction=LT }
        product { x = f32[2] parameter(0) y = f32[2] tanh(x)
          t = (f32[1], f32[1]) reduce-scatter(x, y), replica_groups={}, dimensions={0}, to_apply=mul
          a = f32[1] get-tuple-element(t), index=0 b = f32[1] get-tuple-element(t), index=1 ROOT p = f32[1] add(a, b) }
        first { x = f32[2] parameter(0) ROOT f = f32[1] slice(x), slice={[0:1]} }
        ENTRY e { x = f32[2] parameter(0) z = s32[] constant(0) p = (s32[], f32[2]) tuple(z, x)
          w = (s32[], f32[2]) while(p), condition=more, body=round y = f32[2] get-tuple-element(w), index=1
          a = f32[2] add(x, y) ROOT r = f32[1] conditional(z, a, a), branch_computations={product, first} }";
    let module = verified(text);
    let arguments: Vec<Vec<Literal>> =
        [[0.1f32, 0.2], [0.3, -0.7]].iter().map(|x| vec![Literal::from_slice(&[2], x)]).collect();
    let session =
        collectives::Session::compile(module.clone(), &CompileOptions::default()).unwrap();
    let expected = session.run(&arguments, &RunOptions::default()).unwrap().results;
    let judged = |device: usize, change: &dyn Fn(f32) -> f32| {
        let mut actual = expected.clone();
        let x = &mut actual[device].as_mut_slice::<f32>().unwrap()[0];
        *x = change(*x);
        judge(&module, &arguments, &expected, &actual)
    };
    for device in 0..2 {
        let near = judged(device, &f32::next_up);
        assert_eq!((near.verdict, &near.estimated), (WithinBound, &None), "{near:?}");
        let far = judged(device, &|x| x * 1.001);
        assert_eq!((far.verdict, &far.estimated), (Differs, &None), "{far:?}");
    }
}

#[test]
fn arrays_smaller_than_their_bounds_have_bounds() {
    let text = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        round { t = (s32[], f32[<=3,2]) parameter(0) i = s32[] get-tuple-element(t), index=0 x = f32[<=3,2] get-tuple-element(t), index=1
          o = s32[] constant(1) n = s32[] add(i, o) s = f32[<=3,2] sine(x) ROOT r = (s32[], f32[<=3,2]) tuple(n, s) }
        more { t = (s32[], f32[<=3,2]) parameter(0) i = s32[] get-tuple-element(t), index=0 l = s32[] constant(2)
          ROOT c = pred[] compare(i, l), direction=LT }
        ENTRY e { x = f32[3,2] parameter(0) n = s32[] parameter(1) z = f32[] constant(0) c = s32[] constant(0)
          d = f32[<=3,2] set-dimension-size(x, n), dimensions={0} t = (s32[], f32[<=3,2]) tuple(c, d)
          w = (s32[], f32[<=3,2]) while(t), condition=more, body=round y = f32[<=3,2] get-tuple-element(w), index=1
          p = f32[2,2] dot(y, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={highest,highest}
          s = f32[2] reduce(y, z), dimensions={0}, to_apply=add u = f32[<=3] reduce(y, z), dimensions={1}, to_apply=add
          m = f32[] reduce(u, z), dimensions={0}, to_apply=add
          f = (f32[3,2], s32[], s32[]) custom-call(y), custom_call_target=\"PadToStatic\" g = f32[3,2] get-tuple-element(f), index=0
          h = f32[2,2] slice(g), slice={[0:2], [0:2]} k = s32[] get-tuple-element(f), index=1 q = s32[] get-tuple-element(f), index=2
          b = f32[<=3,<=2] custom-call(g, k, q), custom_call_target=\"SliceToDynamic\"
          v = f32[] reduce(b, z), dimensions={0,1}, to_apply=add
          ROOT r = (f32[2,2], f32[2], f32[], f32[2,2], f32[]) tuple(p, s, m, h, v) }";
    let arguments = ["f32[3,2] {{0.1, 0.7}, {0.3, 0.2}, {9, 9}}", "s32[] 2"];
    has_bound(text, &arguments, &[(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 3), (4, 0)]);
}

#[test]
fn many_elements_may_have_another_rank() {
    // About ten elements in a row are closer to each other than the error of the function.
    let x: Vec<f32> = (0..40_000u16).map(|i| 1.0 + f32::from(i) * 2.5e-7).collect();
    let text = "HloModule m\nENTRY e { x = f32[40000] parameter(0) y = f32[40000] exponential(x)
        ROOT r = (f32[40000], s32[40000]) topk(y), k=40000, largest=true }";
    let (module, x) = (verified(text), Literal::from_slice(&[40_000], &x));
    let expected = interp::run(&module, std::slice::from_ref(&x)).unwrap();
    let swapped = |a: usize, b: usize| {
        let mut leaves = expected.elements().unwrap().to_vec();
        leaves[1].as_mut_slice::<i32>().unwrap().swap(a, b);
        let actual = [Literal::tuple(leaves)];
        judge(&module, &[vec![x.clone()]], std::slice::from_ref(&expected), &actual).verdict
    };
    assert_eq!((swapped(30, 31), swapped(30, 3000)), (WithinBound, Differs));
}
