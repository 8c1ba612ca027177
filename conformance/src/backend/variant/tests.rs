//! Each variant gives results that differ, and that the judge accepts.
use super::vary;
use crate::judge::judge;
use hlo::{Literal, Module};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns the results of the variants of several seeds: how many there are, and the verdicts.
fn results(text: &str, arguments: &[&str]) -> BTreeSet<String> {
    let module = Module::parse(&format!("HloModule m\n{text}")).unwrap();
    let verified = module.clone().verify().unwrap();
    let arguments: Vec<Literal> = arguments.iter().map(|x| x.parse().unwrap()).collect();
    let expected = interp::run(&verified, &arguments).unwrap();
    let of_seed = |seed: u64| {
        let varied = vary(&module, seed, false).unwrap();
        let varied = Arc::new(varied.verify().unwrap_or_else(|errors| panic!("{errors}\n{text}")));
        let actual = interp::run(&varied, &arguments).unwrap();
        let judgement = judge(
            &verified,
            std::slice::from_ref(&arguments),
            std::slice::from_ref(&expected),
            std::slice::from_ref(&actual),
        );
        assert!(!judgement.verdict.is_bad(), "seed {seed}: {judgement}\n{text}");
        actual.to_string()
    };
    (0..32).map(of_seed).collect()
}

fn varies(text: &str, arguments: &[&str]) {
    let found = results(text, arguments);
    assert!(found.len() > 1, "{found:?}\n{text}");
}

#[test]
fn elementwise_ops() {
    let of = |ty: &str, body: &str| {
        format!("ENTRY e {{ x = {ty}[4] parameter(0) y = {ty}[4] parameter(1) {body} }}")
    };
    for (ty, x, y) in [
        ("f32", "{1.1, -0.3, 1e-40, 2.7}", "{3, 0.7, 2e-40, 1e-39}"),
        ("bf16", "{1.1, -0.3, 1e-40, 2.7}", "{3, 0.7, 2e-40, 1e-39}"),
        ("f64", "{1.1, -0.3, 1e-310, 2.7}", "{3, 0.7, 2e-310, 1e-309}"),
    ] {
        let arguments = [format!("{ty}[4] {x}"), format!("{ty}[4] {y}")];
        let arguments = arguments.each_ref().map(String::as_str);
        for body in [
            "ROOT r = T[4] multiply(x, y)",
            "ROOT r = T[4] add(x, y)",
            "ROOT r = T[4] divide(x, y)",
            "a = T[4] add(x, y) ROOT r = T[4] log(a)",
            "a = T[4] abs(y) ROOT r = T[4] rsqrt(a)",
            "s = T[4] sqrt(x) ROOT r = T[4] multiply(s, y)",
        ] {
            varies(&of(ty, &body.replace("T[", &format!("{ty}["))), &arguments);
        }
    }
    for body in [
        "ROOT r = f32[4] tanh(x)",
        "ROOT r = f32[4] power(y, x)",
        "m = f32[4] multiply(x, y) ROOT r = f32[4] subtract(m, y)",
        "s = f32[4] sqrt(y) ROOT r = f32[4] divide(x, s)",
        "a = f32[4] exponential(x) b = f32[4] exponential(y) ROOT r = f32[4] multiply(a, b)",
        "c = f32[4] constant({0.1, 0.2, 0.3, 0.4}) d = f32[4] constant({0.7, 0.8, 0.9, 1.1}) m = f32[4] multiply(x, c) ROOT r = f32[4] multiply(m, d)",
        "a = f32[4] multiply(x, y) b = f32[4] multiply(x, x) ROOT r = f32[4] add(a, b)",
        "t = f32[4] constant({2, 2, 4, 2}) p = f32[4] power(x, t) ROOT r = f32[4] log(p)",
    ] {
        varies(&of("f32", body), &["f32[4] {1.1, -0.3, 0.6, 2.7}", "f32[4] {3, 0.7, 5, 1.7}"]);
    }
}

#[test]
fn sums() {
    let numbers = |ty: &str, dims: &str, count: usize| {
        let mut random = fastrand::Rng::with_seed(7);
        let each = (0..count).map(|_| format!("{}", 2.0 * random.f64() - 0.8));
        format!("{ty}[{dims}] {{{}}}", each.collect::<Vec<_>>().join(", "))
    };
    for (ty, count) in [("f32", 7), ("f32", 60), ("bf16", 7), ("f64", 40)] {
        for op in ["add", "multiply"] {
            let reduce = format!(
                "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] {op}(a, b) }}
                ENTRY e {{ x = {ty}[{count}] parameter(0) z = {ty}[] constant({})
                ROOT r = {ty}[] reduce(x, z), dimensions={{0}}, to_apply=f }}",
                i32::from(op != "add")
            );
            varies(&reduce, &[&numbers(ty, &count.to_string(), count)]);
        }
        let dot = format!(
            "ENTRY e {{ x = {ty}[{count}] parameter(0) y = {ty}[{count}] parameter(1)
            ROOT r = {ty}[] dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}} }}"
        );
        let x = numbers(ty, &count.to_string(), count);
        varies(&dot, &[&x, &x]);
    }
    let convolution = "ENTRY e { x = f32[1,2,3] parameter(0) w = f32[1,3,1] parameter(1)
        ROOT r = f32[1,2,1] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f }";
    let x = "f32[1,2,3] {{{1.1, 2.2, 3.3}, {4.4, 5.5, -6.6}}}";
    varies(convolution, &[x, "f32[1,3,1] {{{0.1}, {0.2}, {0.3}}}"]);
}

#[test]
fn windows_and_narrow_products() {
    let window = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY e { x = f32[6] parameter(0) z = f32[] constant(0)
        ROOT r = reduce-window(x, z), window={size=4 stride=2 pad=1_2 rhs_dilate=1 lhs_dilate=1}, to_apply=f }";
    let x = "f32[6] {0.1, 0.23, -0.37, 1.41, 0.53, -0.67}";
    varies(window, &[x]);
    let dilated =
        window.replace("pad=1_2 rhs_dilate=1 lhs_dilate=1", "pad=0_-3 rhs_dilate=2 lhs_dilate=3");
    // Sums of at most two terms.
    assert_eq!(results(&dilated, &[x]).len(), 1);
    let narrow = "ENTRY e { x = f8e4m3fn[5] parameter(0) y = f8e4m3fn[5] parameter(1)
        ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    let x = "f8e4m3fn[5] {448, 1.25, 0.001953125, 0.15625, 13}";
    varies(narrow, &[x, x]);
}

#[test]
fn linear_algebra() {
    let a = "f32[3,3] {{2.1, 0.3, -0.4}, {0.3, 3.7, 0.9}, {-0.4, 0.9, 5.3}}";
    for lower in [true, false] {
        let cholesky = format!(
            "ENTRY e {{ x = f32[3,3] parameter(0) ROOT r = f32[3,3] cholesky(x), lower={lower} }}"
        );
        varies(&cholesky, &[a]);
        for transpose in ["NO_TRANSPOSE", "TRANSPOSE"] {
            let solve = |left: bool, dims: &str| {
                format!(
                    "ENTRY e {{ x = f32[3,3] parameter(0) y = f32[{dims}] parameter(1)
                    ROOT r = f32[{dims}] triangular-solve(x, y), left_side={left}, lower={lower},
                    unit_diagonal=false, transpose_a={transpose} }}"
                )
            };
            let left = "f32[3,2] {{0.1, 1.7}, {0.23, 0.9}, {-0.37, 1.3}}";
            varies(&solve(true, "3,2"), &[a, left]);
            let right = "f32[2,3] {{0.1, 1.7, 0.23}, {0.9, -0.37, 1.3}}";
            varies(&solve(false, "2,3"), &[a, right]);
        }
    }
}

#[test]
fn orders() {
    let sort = "lt { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
        ROOT r = pred[] compare(a, b), direction=LT }
        ENTRY e { x = s32[4] parameter(0) y = s32[4] parameter(1)
        ROOT r = (s32[4], s32[4]) sort(x, y), dimensions={0}, to_apply=lt }";
    let keys = ["s32[4] {2, 1, 2, 1}", "s32[4] {1, 2, 3, 4}"];
    varies(sort, &keys);
    assert_eq!(results(&sort.replace("to_apply", "is_stable=true, to_apply"), &keys).len(), 1);
    let scatter = "f { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
        ENTRY e { t = f32[3] parameter(0) i = s32[3,1] parameter(1) u = f32[3] parameter(2)
        ROOT s = f32[3] scatter(t, i, u), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }";
    varies(scatter, &["f32[3] {1, 2, 3}", "s32[3,1] {{0}, {0}, {2}}", "f32[3] {4, 5, 6}"]);
    let nan = "ENTRY e { x = f32[1] parameter(0) y = f32[1] add(x, x) ROOT r = s32[1] bitcast-convert(y) }";
    varies(nan, &["f32[1] {nan}"]);
}

#[test]
fn exact_ops_do_not_vary() {
    let module =
        "ENTRY e { x = s32[2] parameter(0) y = s32[2] multiply(x, x) ROOT r = s32[2] add(x, y) }";
    assert_eq!(results(module, &["s32[2] {1, 2}"]).len(), 1);
    let highest = "ENTRY e { x = f32[1] parameter(0)
        ROOT r = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={highest,highest} }";
    assert_eq!(results(highest, &["f32[1] {1.1}"]).len(), 1);
}
