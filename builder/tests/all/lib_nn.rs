//! Neural networks: values of `jax.nn`, `jax.numpy` and `jax.lax` of jax 0.10.2 with 64-bit floats,
//! and edges.
#![allow(
    clippy::unwrap_used,
    clippy::unreadable_literal,
    reason = "tests; values as JAX prints them"
)]
use crate::support::{evaluate, near, run};
use builder::{Builder, Value};
use std::f64::consts::LN_2;

const INF: f64 = f64::INFINITY;

/// `[[-2, -0.5, 0], [0.3, 1.5, 4]]`
fn input(b: &Builder) -> Value<'_> {
    b.constant([[-2.0, -0.5, 0.0], [0.3, 1.5, 4.0]])
}
/// Fails unless a function of the input gives these values, within 1e-14 of their size.
#[track_caller]
fn check(make: impl for<'b> FnOnce(Value<'b>) -> Value<'b>, expected: &[f64]) {
    let b = Builder::new("nn");
    near(&evaluate(&b, make(input(&b)), &[]), expected, 1e-14, 1e-15);
}
/// The same of other numbers in a row.
#[track_caller]
fn check_row(x: &[f64], make: impl for<'b> FnOnce(Value<'b>) -> Value<'b>, expected: &[f64]) {
    let b = Builder::new("nn_row");
    near(&evaluate(&b, make(b.constant(x)), &[]), expected, 1e-14, 1e-15);
}

/// `jax.nn.relu6(x)`, ...
#[test]
fn activations() {
    check(|x| x.relu(), &[0.0, 0.0, 0.0, 0.3, 1.5, 4.0]);
    check(|x| x.relu6(), &[0.0, 0.0, 0.0, 0.3, 1.5, 4.0]);
    check_row(&[7.0, f64::NAN, -0.0, INF], |x| x.relu6(), &[6.0, f64::NAN, 0.0, 6.0]);
    check(|x| x.leaky_relu(0.1), &[-0.2, -0.05, 0.0, 0.3, 1.5, 4.0]);
    check(|x| x.elu(1.0), &[-0.8646647167633873, -0.3934693402873665, 0.0, 0.3, 1.5, 4.0]);
    check(
        |x| x.selu(),
        &[
            -1.520166468595695,
            -0.6917581878028712,
            0.0,
            0.31521029620664415,
            1.5760514810332207,
            4.202803949421922,
        ],
    );
    check(
        |x| x.sigmoid(),
        &[
            0.11920292202211755,
            0.3775406687981454,
            0.5,
            0.574442516811659,
            0.8175744761936437,
            0.9820137900379085,
        ],
    );
    check(
        |x| x.log_sigmoid(),
        &[
            -2.1269280110429727,
            -0.9740769841801067,
            -LN_2,
            -0.554355244468527,
            -0.2014132779827524,
            -0.01814992791780974,
        ],
    );
}
/// `jax.nn.softplus(x)`, ...
#[test]
fn smooth_activations() {
    check(
        |x| x.softplus(),
        &[
            0.1269280110429725,
            0.4740769841801067,
            LN_2,
            0.854355244468527,
            1.7014132779827524,
            4.0181499279178094,
        ],
    );
    check(
        |x| x.soft_sign(),
        &[-0.6666666666666666, -0.3333333333333333, 0.0, 0.23076923076923075, 0.6, 0.8],
    );
    check(
        |x| x.silu(),
        &[
            -0.2384058440442351,
            -0.1887703343990727,
            0.0,
            0.1723327550434977,
            1.2263617142904655,
            3.928055160151634,
        ],
    );
    check(
        |x| x.mish(),
        &[
            -0.2525014826957088,
            -0.22074377465173,
            0.0,
            0.20800137234811503,
            1.4033782663958028,
            3.997412806976239,
        ],
    );
    check(
        |x| x.hard_sigmoid(),
        &[0.16666666666666666, 0.41666666666666663, 0.5, 0.5499999999999999, 0.75, 1.0],
    );
    check(
        |x| x.hard_swish(),
        &[-0.3333333333333333, -0.20833333333333331, 0.0, 0.16499999999999998, 1.125, 4.0],
    );
}
/// `jax.nn.gelu(x, approximate=False)`, `jax.nn.gelu(x, approximate=True)`
#[test]
fn gelus() {
    check(
        |x| x.gelu(),
        &[
            -0.04550026389635841,
            -0.15426876936299344,
            0.0,
            0.18537342665668577,
            1.399789198096713,
            3.9998733150326675,
        ],
    );
    check(
        |x| x.gelu_tanh(),
        &[
            -0.04540230591222494,
            -0.15428599017485609,
            0.0,
            0.18537092354275922,
            1.3995715769802328,
            3.9999297540518075,
        ],
    );
}
/// What overflows when it is written down naively.
#[test]
fn activations_of_large_numbers() {
    check_row(&[1000.0, -1000.0, INF, -INF], |x| x.softplus(), &[1000.0, 0.0, INF, 0.0]);
    check_row(&[1000.0, -1000.0], |x| x.log_sigmoid(), &[0.0, -1000.0]);
    check_row(&[1000.0, -1000.0, INF], |x| x.elu(2.0), &[1000.0, -2.0, INF]);
    check_row(&[1000.0, -1000.0], |x| x.silu(), &[1000.0, 0.0]);
    check_row(&[1e200, -1e200], |x| x.gelu_tanh(), &[1e200, 0.0]);
}

/// `jax.nn.softmax(x, axis=1)`, ..., `jax.scipy.special.logsumexp(x, axis=1)`
#[test]
fn softmaxes() {
    check(
        |x| x.softmax(1),
        &[
            0.0776955791485706,
            0.3482074278837349,
            0.5740969929676946,
            0.022337672605326497,
            0.0741636848314931,
            0.9034986425631805,
        ],
    );
    check(
        |x| x.softmax(0),
        &[
            0.09112296101485615,
            0.11920292202211755,
            0.01798620996209156,
            0.9088770389851438,
            0.8807970779778823,
            0.9820137900379085,
        ],
    );
    check(
        |x| x.log_softmax(-1),
        &[
            -2.554956919641991,
            -1.0549569196419906,
            -0.5549569196419906,
            -3.8014806713713694,
            -2.601480671371369,
            -0.10148067137136936,
        ],
    );
    check(|x| x.logsumexp(&[1]), &[0.5549569196419906, 4.10148067137137]);
    check(|x| x.logsumexp(&[0, 1]), &[4.129897722444651]);
}
#[test]
fn softmaxes_are_stable() {
    check_row(&[1000.0, 1000.0], |x| x.softmax(0), &[0.5, 0.5]);
    check_row(&[-1000.0, -1001.0], |x| x.softmax(0), &[0.7310585786300049, 0.2689414213699951]);
    check_row(&[-INF, 0.0, 1.0], |x| x.softmax(0), &[0.0, 0.2689414213699951, 0.7310585786300049]);
    let nan = [f64::NAN; 2];
    check_row(&[-INF, -INF], |x| x.softmax(0), &nan);
    check_row(&[1e4, 0.0, -1e4], |x| x.log_softmax(0), &[0.0, -1e4, -2e4]);
    check_row(&[1000.0, 1000.0], |x| x.logsumexp(&[0]), &[1000.0 + LN_2]);
    check_row(&[-1000.0, -1000.0], |x| x.logsumexp(&[0]), &[-1000.0 + LN_2]);
    check_row(&[-INF, -INF], |x| x.logsumexp(&[0]), &[-INF]);
    check_row(&[INF, 0.0, 1.0], |x| x.logsumexp(&[0]), &[INF]);
    check_row(&[-INF, 0.0, f64::NAN], |x| x.logsumexp(&[0]), &[f64::NAN]);
    check_row(&[], |x| x.logsumexp(&[0]), &[-INF]);
    // f32, where exp(89) overflows.
    let b = Builder::new("large");
    let y = b.constant([89f32, 90.0]).logsumexp(&[0]);
    near(&evaluate(&b, y, &[]), &[90.313_261_687_518_22], 1e-7, 0.0);
}

/// `jnp.mean(x, axis=0)`, `jnp.var(x, axis=1, ddof=1)`, ...
#[test]
fn moments() {
    check(|x| x.mean(&[0]), &[-0.85, 0.5, 2.0]);
    check(|x| x.mean(&[0, -1]), &[0.55]);
    check(|x| x.variance(&[1], 0), &[0.7222222222222222, 2.3755555555555556]);
    check(|x| x.variance(&[1], 1), &[1.0833333333333333, 3.5633333333333335]);
    check(|x| x.std(&[0], 0), &[1.15, 1.0, 2.0]);
    check_row(&[3.0; 5], |x| x.variance(&[0], 0), &[0.0]);
    check_row(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0], |x| x.variance(&[0], 1), &[1.0]);
    check_row(&[5.0], |x| x.variance(&[0], 1), &[f64::NAN]);
    check_row(&[], |x| x.mean(&[0]), &[f64::NAN]);
    let b = Builder::new("complex_variance");
    let x = b.constant([1.0, -1.0]).complex(b.constant([2.0, -2.0]));
    near(&evaluate(&b, x.variance(&[0], 0), &[]), &[5.0], 0.0, 0.0);
}
#[test]
fn reductions() {
    let b = Builder::new("reductions");
    let x = b.constant([[1i32, -5, 3], [4, 2, -6]]);
    let all = [
        x.reduce_sum(&[1]),
        x.reduce_prod(&[1]),
        x.reduce_max(&[1]),
        x.reduce_min(&[1]),
        x.reduce_and(&[1]),
        x.reduce_or(&[1]),
    ];
    // By hand; -5 is ..1011, 3 is 0011.
    let expected = "( s32[2]{0} {-1, 0}, s32[2]{0} {-15, -48}, s32[2]{0} {3, 4}, s32[2]{0} {-5, -6}, s32[2]{0} {1, 0}, s32[2]{0} {-5, -2} )";
    assert_eq!(run(&b, b.tuple(&all), &[]), expected);
    let b = Builder::new("empty");
    let x = b.parameter(0, "f32[0]", "x");
    let y = b.tuple(&[x.reduce_max(&[0]), x.reduce_min(&[0]), x.reduce_prod(&[0])]);
    assert_eq!(run(&b, y, &["f32[0] {}"]), "( f32[] -inf, f32[] inf, f32[] 1 )");
    let b = Builder::new("types");
    let (s, u) = (b.parameter(0, "s8[0]", "s"), b.parameter(1, "u16[0]", "u"));
    let (p, f) = (b.parameter(2, "pred[0]", "p"), b.parameter(3, "f8e4m3fn[0]", "f"));
    let least = [s, u, p, f].map(|x| x.reduce_max(&[0]));
    let most = [s, u, p, f].map(|x| x.reduce_min(&[0]));
    let y = b.tuple(&[least, most].concat());
    let expected = "( s8[] -128, u16[] 0, pred[] false, f8e4m3fn[] -448, s8[] 127, u16[] 65535, pred[] true, f8e4m3fn[] 448 )";
    assert_eq!(run(&b, y, &["s8[0] {}", "u16[0] {}", "pred[0] {}", "f8e4m3fn[0] {}"]), expected);
}
#[test]
fn reductions_that_mean_nothing() {
    let number = |make: fn(&Builder) -> Value<'_>| {
        let b = Builder::new("wrong");
        b.build(make(&b)).unwrap_err().number()
    };
    assert_eq!(number(|b| input(b).mean(&[2])), "E0801");
    assert_eq!(number(|b| input(b).reduce_sum(&[0, -2])), "E0801");
    assert_eq!(number(|b| b.constant([1i32]).mean(&[0])), "E0801");
    assert_eq!(number(|b| b.constant([1i32]).softmax(0)), "E0801");
    assert_eq!(number(|b| b.parameter(0, "c64[2]", "x").softmax(0)), "E0801");
    assert_eq!(number(|b| b.parameter(0, "c64[2]", "x").reduce_max(&[0])), "E0801");
    // 70000 is more than f16 holds: dividing by infinity would give 0.
    assert_eq!(number(|b| b.parameter(0, "f16[70000]", "x").mean(&[0])), "E0801");
}

/// `jnp.cumprod(x, axis=1)`, `jax.lax.cumlogsumexp(x, axis=1)`, by hand for integers.
#[test]
fn cumulative() {
    let b = Builder::new("cumulative");
    let x = b.constant([3i32, 1, 4, 1, 5, -9]);
    let all = [x.cumsum(0, false), x.cumsum(-1, true), x.cummax(0, false), x.cummin(0, true)];
    let expected = "( s32[6]{0} {3, 4, 8, 9, 14, 5}, s32[6]{0} {5, 2, 1, -3, -4, -9}, s32[6]{0} {3, 3, 4, 4, 5, 5}, s32[6]{0} {-9, -9, -9, -9, -9, -9} )";
    assert_eq!(run(&b, b.tuple(&all), &[]), expected);
    check(|x| x.cumprod(1, false), &[-2.0, 1.0, 0.0, 0.3, 0.45, 1.8]);
    check(|x| x.cumsum(0, false), &[-2.0, -0.5, 0.0, -1.7, 1.0, 4.0]);
    check(
        |x| x.log_cumsum_exp(1, false),
        &[
            -2.0,
            -0.29858672201724756,
            0.5549569196419906,
            0.3,
            1.7632824673380312,
            4.10148067137137,
        ],
    );
    check(
        |x| x.log_cumsum_exp(1, true),
        &[0.5549569196419906, 0.4740769841801067, 0.0, 4.10148067137137, 4.07888973429255, 4.0],
    );
    let edges = [-INF, -INF, 1.0, 800.0, INF, 0.0];
    check_row(&edges, |x| x.log_cumsum_exp(0, false), &[-INF, -INF, 1.0, 800.0, INF, INF]);
    let nan = f64::NAN;
    check_row(&[1.0, nan, 2.0], |x| x.cummax(0, false), &[1.0, nan, nan]);
    check_row(&[], |x| x.cumsum(0, false), &[]);
}
