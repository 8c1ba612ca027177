//! Layers of neural networks: values of `jax.nn` and of formulas in `jax.numpy`, jax 0.10.2 with
//! 64-bit floats, and edges.
#![allow(
    clippy::unwrap_used,
    clippy::unreadable_literal,
    reason = "tests; values as JAX prints them"
)]
use crate::support::{evaluate, near, run};
use builder::{Builder, Value, nn};
use hlo::ElementType;

fn rows(b: &Builder) -> (Value<'_>, Value<'_>, Value<'_>) {
    let x = b.constant([[1., 2., 4., -3.], [0.5, 0.25, -1., 2.]]);
    (x, b.constant([1., 2., 0.5, -1.]), b.constant([0.1, 0.2, 0.3, 0.4]))
}
/// The formulas written in `jax.numpy`, with epsilon 1e-5, 1e-6 and 1e-3.
#[test]
fn normalizations() {
    let b = Builder::new("layer_norm");
    let (x, scale, bias) = rows(&b);
    let expected = [
        0.1,
        0.9844639371191706,
        0.8883479528393778,
        1.9689278742383411,
        0.15862078032576699,
        -0.15172468195460181,
        -0.37413897374632016,
        -1.065519508144174,
    ];
    let y = nn::layer_norm(x, Some(scale), Some(bias), 1e-5);
    near(&evaluate(&b, y, &[]), &expected, 1e-14, 0.0);
    let b = Builder::new("rms_norm");
    let (x, scale, _) = rows(&b);
    let expected = [
        0.3651483473268884,
        1.4605933893075536,
        0.7302966946537768,
        1.0954450419806652,
        0.4338607523015305,
        0.4338607523015305,
        -0.4338607523015305,
        -1.735443009206122,
    ];
    near(&evaluate(&b, nn::rms_norm(x, Some(scale), 1e-6), &[]), &expected, 1e-14, 0.0);
    let b = Builder::new("batch_norm");
    let (x, scale, bias) = rows(&b);
    let normal = nn::batch_norm(x, scale, bias, 1e-3, 1);
    let expected = [
        1.0920947376656813,
        2.198695155626882,
        0.79996000479936,
        1.3999200095987203,
        -0.8920947376656813,
        -1.798695155626882,
        -0.1999600047993601,
        -0.5999200095987202,
    ];
    near(&evaluate(&b, normal.output, &[]), &expected, 1e-14, 0.0);
    near(&evaluate(&b, normal.mean, &[]), &[0.75, 1.125, 1.5, -0.5], 0.0, 0.0);
    near(&evaluate(&b, normal.variance, &[]), &[0.0625, 0.765625, 6.25, 6.25], 0.0, 0.0);
}

/// `q = sin(0.7 i)`, `k = cos(0.9 i)`, `v = (i % 7 - 3) / 2` as JAX rounds them: two heads, 3
/// queries, 4 keys.
fn heads(b: &Builder) -> [Value<'_>; 3] {
    let q = [
        [
            [0.0, 0.644217687237691],
            [0.9854497299884601, 0.8632093666488739],
            [0.3349881501559051, -0.35078322768961984],
        ],
        [
            [-0.8715757724135877, -0.9824526126243326],
            [-0.6312666378723216, 0.016813900484349713],
            [0.6569865987187891, 0.9881682338770003],
        ],
    ];
    let k = [
        [
            [1.0, 0.6216099682706644],
            [-0.2272020946930871, -0.9040721420170612],
            [-0.896758416334147, -0.2107957994307797],
            [0.6346928759426347, 0.9998586363834151],
        ],
        [
            [0.6083513145322546, -0.2435441537357911],
            [-0.9111302618846769, -0.8891911526253609],
            [-0.1943299064553348, 0.6475963386538773],
            [0.9994345855010047, 0.594920663309892],
        ],
    ];
    let v = [
        [[-1.5, -1.0], [0.0, 0.5], [1.5, -1.5], [-0.5, 0.0]],
        [[1.0, 1.5], [-1.0, -0.5], [0.5, 1.0], [-1.5, -1.0]],
    ];
    [b.constant(q), b.constant(k), b.constant(v)]
}
#[track_caller]
fn attends(options: impl for<'b> FnOnce(&'b Builder) -> nn::Attention<'b>, expected: &[f64]) {
    let b = Builder::new("attention");
    let [q, k, v] = heads(&b);
    // JAX computes the softmax in f32.
    near(&evaluate(&b, nn::attention(q, k, v, options(&b)), &[]), expected, 1e-6, 1e-7);
}
/// `jax.nn.dot_product_attention` with heads and positions exchanged: plain, `is_causal=True`,
/// `scale=0.3`.
#[test]
fn attention() {
    attends(
        |_| nn::Attention::default(),
        &[
            -0.3165895417332649,
            -0.5270860865712166,
            -0.7583164721727371,
            -0.5019886940717697,
            -0.19963574409484863,
            -0.4394301325082779,
            -0.5084266401827335,
            -0.008426651358604431,
            -0.2866155058145523,
            0.2133844718337059,
            -0.40067560225725174,
            0.09932439401745796,
        ],
    );
    attends(
        |_| nn::Attention { causal: true, ..Default::default() },
        &[
            -1.5,
            -1.0,
            -1.2847251892089844,
            -0.7847251668572426,
            -0.11243605613708496,
            -0.567002609372139,
            1.0,
            1.5,
            -0.3232657015323639,
            0.17673428356647491,
            0.5109199956059456,
            1.0109200067818165,
        ],
    );
    attends(
        |_| nn::Attention { scale: Some(0.3), ..Default::default() },
        &[
            -0.20720288902521133,
            -0.5187488421797752,
            -0.44705749303102493,
            -0.4987829849123955,
            -0.15777164697647095,
            -0.4743981510400772,
            -0.3105611801147461,
            0.1894388496875763,
            -0.2579997479915619,
            0.24200022965669632,
            -0.27588872611522675,
            0.22411123663187027,
        ],
    );
}
/// The same with `mask=`, `bias=`.
#[test]
fn attention_with_masks() {
    let mask = [[true, false, true, true], [false, true, true, false], [false; 4]];
    attends(
        |b| nn::Attention { mask: Some(b.constant(mask)), ..Default::default() },
        &[
            -0.3715956211090088,
            -0.7055378556251526,
            0.7337290048599243,
            -0.4783053398132324,
            -0.125,
            -0.5,
            0.33729833364486694,
            0.8372983187437057,
            -0.3622830659151077,
            0.13771694898605347,
            -0.25,
            0.25,
        ],
    );
    let bias = [[0.0, 0.2, 0.4, 0.6], [0.8, 1.0, 1.2, 1.4], [1.6, 1.8, 2.0, 2.2]];
    attends(
        |b| nn::Attention { bias: Some(b.constant(bias)), ..Default::default() },
        &[
            -0.21913424879312515,
            -0.46435798704624176,
            -0.6299655102193356,
            -0.3898577429354191,
            -0.10057640820741653,
            -0.4156390577554703,
            -0.5527712628245354,
            -0.05277126282453537,
            -0.37059494853019714,
            0.12940505146980286,
            -0.5972494184970856,
            -0.09724942594766617,
        ],
    );
}
#[test]
fn attention_that_does_not_fit() {
    let b = Builder::new("wrong");
    let [q, k, v] = heads(&b);
    let y = nn::attention(q, k, v.slice_in_minor_dims(&[0, 0], &[3, 2]), nn::Attention::default());
    let error = b.build(y).unwrap_err();
    assert_eq!(error.number(), "E0801");
    assert!(error.to_string().contains("f64[2,3,2]"), "{error}");
    let b = Builder::new("wrong_mask");
    let [q, k, v] = heads(&b);
    let options = nn::Attention { mask: Some(b.constant([true; 3])), ..Default::default() };
    assert_eq!(b.build(nn::attention(q, k, v, options)).unwrap_err().number(), "E0802");
}

/// `-jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1)`,
/// `-(p * jax.nn.log_softmax(x)).sum(-1)`
#[test]
fn losses() {
    let b = Builder::new("losses");
    let x = b.constant([[1.0, 2.0, 0.5], [-1.0, 0.0, 3.0], [200.0, -200.0, 0.0]]);
    let hard = nn::cross_entropy(x, b.constant([1i32, 0, 1]));
    near(&evaluate(&b, hard, &[]), &[0.4643687841079449, 4.065883903757429, 400.0], 1e-14, 0.0);
    let soft =
        nn::cross_entropy_soft(x, b.constant([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]));
    near(&evaluate(&b, soft, &[]), &[1.4143687841079449, 4.065883903757429, 200.0], 1e-14, 0.0);
    let outside = nn::cross_entropy(x, b.constant([3u8, 255, 0]));
    near(&evaluate(&b, outside, &[]), &[f64::NAN, f64::NAN, 0.0], 0.0, 0.0);
    let squared = nn::mean_squared_error(x, x + 2.0);
    near(&evaluate(&b, squared, &[]), &[4.0], 1e-15, 0.0);
    let wrong = nn::cross_entropy(x, b.constant([1i32, 0]));
    assert_eq!(b.build(wrong).unwrap_err().number(), "E0801");
}
#[test]
fn layers() {
    let b = Builder::new("one_hot");
    let y = nn::one_hot(b.constant([[1i8, -1], [2, 0]]), 3, ElementType::S32);
    let expected =
        "s32[2,2,3]{2,1,0} { { { 0, 1, 0 }, { 0, 0, 0 } }, { { 0, 0, 1 }, { 1, 0, 0 } } }";
    assert_eq!(run(&b, y, &[]), expected);
    // 200 does not fit s8: the places are counted in s32.
    let deep = nn::one_hot(b.constant([100i8]), 200, ElementType::S32).reduce_sum(&[1]);
    assert_eq!(run(&b, deep, &[]), "s32[1]{0} {1}");
    let b = Builder::new("dropout");
    let bits = b.constant([0u32, 0x3fff_ffff, 0x4000_0000, u32::MAX]);
    let y = nn::dropout(b.constant([3f32; 4]), bits, 0.25);
    assert_eq!(run(&b, y, &[]), "f32[4]{0} {0, 0, 4, 4}");
    assert_eq!(run(&b, nn::dropout_mask(bits, 0.0), &[]), "pred[4]{0} {1, 1, 1, 1}");
    let all = nn::dropout(b.constant([1f32; 4]), bits, 1.0);
    assert_eq!(b.build(all).unwrap_err().number(), "E0801");
    let b = Builder::new("dense");
    let x = b.constant([[[1.0, 2.0]], [[3.0, 4.0]]]);
    let w = b.constant([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]);
    let found = evaluate(&b, nn::dense(x, w, Some(b.constant([10.0, 20.0, 30.0]))), &[]);
    near(&found, &[11.0, 22.0, 30.0, 13.0, 24.0, 32.0], 0.0, 0.0);
    assert_eq!(b.build(nn::dense(x, x, None)).unwrap_err().number(), "E0801");
}

/// The derivatives at 0 by hand: the logistic function is 1/2 there, its slope 1/4, and tanh(log 2)
/// is 3/5.
#[test]
fn softplus_is_smooth_at_zero() {
    let at_zero = |f: fn(Value<'_>) -> Value<'_>| {
        let b = Builder::new("smooth");
        let x = b.parameter(0, "f64[]", "x");
        let slope = b.grad(f(x), &[x])[0];
        let both = b.tuple(&[slope, b.grad(slope, &[x])[0]]);
        evaluate(&b, both, &["f64[] 0"])
            .elements()
            .unwrap()
            .iter()
            .map(|e| e.get(0).as_f64())
            .collect::<Vec<_>>()
    };
    assert_eq!(at_zero(|x| x.softplus()), [0.5, 0.25]);
    assert_eq!(at_zero(|x| x.log_sigmoid()), [0.5, -0.25]);
    assert!((at_zero(|x| x.mish())[0] - 0.6).abs() < 1e-15);
    let b = Builder::new("far_out");
    let x = b.parameter(0, "f32[4]", "x");
    let slopes = b.grad(x.softplus().reduce_sum(&[0]), &[x])[0];
    let both = b.tuple(&[x.softplus(), slopes]);
    let found = run(&b, both, &["f32[4] {inf, -inf, 200, -200}"]);
    assert_eq!(found, "( f32[4]{0} {inf, 0, 200, 0}, f32[4]{0} {1, 0, 1, 0} )");
}

/// Of equal elements the k-th sum is `x + log(k)`, and each of the k elements has 1/k of its slope.
#[test]
fn running_logarithms_of_sums_have_slopes_where_elements_are_equal() {
    let b = Builder::new("equal");
    let x = b.parameter(0, "f64[3]", "x");
    let slopes = b.grad(x.log_cumsum_exp(0, false).reduce_sum(&[0]), &[x])[0];
    let expected = [1.0 + 0.5 + 1.0 / 3.0, 0.5 + 1.0 / 3.0, 1.0 / 3.0];
    near(&evaluate(&b, slopes, &["f64[3] {2, 2, 2}"]), &expected, 1e-15, 0.0);
    let b = Builder::new("of_nothing");
    let x = b.parameter(0, "f64[4]", "x");
    let last = x.log_cumsum_exp(0, false).slice(&[3], &[4], &[1]).reshape(&[]);
    let both = b.tuple(&[x.log_cumsum_exp(0, false), b.grad(last, &[x])[0]]);
    let found = run(&b, both, &["f64[4] {-inf, -inf, 0, -inf}"]);
    assert_eq!(found, "( f64[4]{0} {-inf, -inf, 0, 0}, f64[4]{0} {0, 0, 1, 0} )");
}

/// Two elements of four count: 1 and 3.
#[test]
fn means_are_of_what_counts() {
    let b = Builder::new("counts");
    let (x, n) = (b.parameter(0, "f32[4]", "x"), b.parameter(1, "s32[]", "n"));
    let part = x.set_dimension_size(n, 0);
    let all = [part.mean(&[0]), part.variance(&[0], 0), part.variance(&[0], 1), part.std(&[0], 0)];
    let arguments = ["f32[4] {1, 3, 100, 200}", "s32[] 2"];
    assert_eq!(run(&b, b.tuple(&all), &arguments), "( f32[] 2, f32[] 1, f32[] 2, f32[] 1 )");
    let normal = nn::layer_norm(part, None, None, 0.0);
    assert_eq!(run(&b, normal, &arguments), "f32[2]{0} {-1, 1}");
    assert_eq!(run(&b, part.cumsum(0, false), &arguments), "f32[2]{0} {1, 4}");
    let error = b.build(part.cumsum(0, true)).unwrap_err();
    assert!(error.to_string().contains("cannot be scanned in reverse"), "{error}");
}
