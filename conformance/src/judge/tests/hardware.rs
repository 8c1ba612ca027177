//! Tests of what hardware and libraries do besides rounding: approximate quotients, transforms of
//! infinities, denormals that are compared as 0.
use super::Mode;
use super::Verdict::{Agrees, Differs, WithinBound};
use super::rules::{explained, verdicts, verdicts_without};

#[test]
fn a_quotient_by_an_approximate_reciprocal_is_near() {
    let quotient = "ENTRY e { x = f32[] parameter(0) y = f32[] parameter(1)
        ROOT r = f32[] divide(x, y) }";
    // A third is 0.33333334.
    let arguments = ["f32[] 1", "f32[] 3"];
    let reciprocal = &[Mode::ReciprocalDivision];
    explained(quotient, &arguments, "f32[] 0.3333334", reciprocal);
    explained(quotient, &arguments, "f32[] 0.3333333", reciprocal);
    verdicts(quotient, &arguments, &[("f32[] 0.33333345", Differs), ("f32[] 0.33333322", Differs)]);
    let double = quotient.replace("f32", "f64");
    verdicts(&double, &["f64[] 1", "f64[] 3"], &[("f64[] 0.3333333333333334", Differs)]);
}

#[test]
fn a_transform_spreads_what_is_not_finite() {
    let convolution = "ENTRY e { x = f32[1,6,6,1] parameter(0) k = f32[3,3,1,1] parameter(1)
        ROOT r = f32[1,4,4,1] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f }";
    let image: Vec<String> =
        (0..36).map(|i| if i == 0 { "inf".to_owned() } else { i.to_string() }).collect();
    let image = format!("f32[36] {{{}}}", image.join(", "));
    let kernel = "f32[9] {1, 1, 1, 1, 1, 1, 1, 1, 1}";
    let text = convolution
        .replace(
            "x = f32[1,6,6,1] parameter(0)",
            "i = f32[36] parameter(0) x = f32[1,6,6,1] reshape(i)",
        )
        .replace(
            "k = f32[3,3,1,1] parameter(1)",
            "j = f32[9] parameter(1) k = f32[3,3,1,1] reshape(j)",
        )
        .replace("ROOT r = f32[1,4,4,1] convolution(x, k)", "c = f32[1,4,4,1] convolution(x, k)")
        .replace("->b01f }", "->b01f ROOT r = f32[16] reshape(c) }");
    let sums = |second: &str| {
        let sum = |row: usize, column: usize| 9 * (row * 6 + column) + 63;
        let of = |i: usize| match i {
            0 => "inf".to_owned(),
            1 => second.to_owned(),
            _ => sum(i / 4, i % 4).to_string(),
        };
        format!("f32[16] {{{}}}", (0..16).map(of).collect::<Vec<_>>().join(", "))
    };
    let arguments = [image.as_str(), kernel];
    verdicts(
        &text,
        &arguments,
        &[(&sums("72"), Agrees), (&sums("nan"), WithinBound), (&sums("90"), Differs)],
    );
    explained(&text, &arguments, &sums("inf"), &[Mode::TransformedConvolution]);
    let transform = Mode::TransformedConvolution;
    verdicts_without(transform, &text, &arguments, &[(&sums("nan"), Differs)]);
}

#[test]
fn denormals_may_be_ranked_as_zeros() {
    let top = "ENTRY e { x = f32[2] parameter(0) t = (f32[1], s32[1]) topk(x), k=1, largest=true
        ROOT i = s32[1] get-tuple-element(t), index=1 }";
    explained(top, &["f32[2] {0, 1e-39}"], "s32[1] {0}", &[Mode::FlushedDenormals]);
    verdicts(top, &["f32[2] {0, 1e-37}"], &[("s32[1] {1}", Agrees), ("s32[1] {0}", Differs)]);
}

#[test]
fn reducers_may_call() {
    let sum = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        outer { a = f32[] parameter(0) b = f32[] parameter(1)
        ROOT c = f32[] call(a, b), to_apply=add }
        ENTRY e { x = f32[3] parameter(0) z = f32[] constant(0)
        ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=outer }";
    verdicts(
        sum,
        &["f32[3] {.1, .2, .3}"],
        &[("f32[] .6", Agrees), ("f32[] .6000001", WithinBound), ("f32[] .7", Differs)],
    );
    // The index of the maximum, by `jnp.where`.
    let index = "where { p = pred[] parameter(0) a = s32[] parameter(1) b = s32[] parameter(2)
        ROOT c = s32[] select(p, a, b) }
        both { p = pred[] parameter(0) a = f32[] parameter(1) b = f32[] parameter(2)
        i = s32[] parameter(3) j = s32[] parameter(4) m = f32[] select(p, a, b)
        k = s32[] call(p, i, j), to_apply=where ROOT t = (f32[], s32[]) tuple(m, k) }
        larger { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2)
        j = s32[] parameter(3) p = pred[] compare(a, b), direction=GE
        t = (f32[], s32[]) call(p, a, b, i, j), to_apply=both
        m = f32[] get-tuple-element(t), index=0 k = s32[] get-tuple-element(t), index=1
        ROOT r = (f32[], s32[]) tuple(m, k) }
        ENTRY e { x = f32[3] parameter(0) n = s32[3] iota(), iota_dimension=0
        least = f32[] constant(-inf) z = s32[] constant(0)
        ROOT r = (f32[], s32[]) reduce(x, n, least, z), dimensions={0}, to_apply=larger }";
    verdicts(
        index,
        &["f32[3] {.1, .3, .2}"],
        &[
            ("(f32[] .3, s32[] 1)", Agrees),
            ("(f32[] .3, s32[] 2)", Differs),
            ("(f32[] .1, s32[] 0)", Differs),
        ],
    );
}
