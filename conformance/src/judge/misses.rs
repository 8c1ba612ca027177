//! Tests of wrong values next to results that are open.
use super::Verdict::{Agrees, Differs, WithinBound};
use super::rules::verdicts;
use super::tests::check;

const POOLING: &str = "ge { a = f32[] parameter(0) b = f32[] parameter(1)
      ROOT c = pred[] compare(a, b), direction=GE }
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";

#[test]
fn selections_of_windows_without_overlap_are_certain() {
    let gradient = format!(
        "{POOLING} ENTRY e {{ x = f32[6] parameter(0) s = f32[3] parameter(1)
        z = f32[] constant(0) t = f32[6] tanh(x)
        ROOT r = f32[6] select-and-scatter(t, s, z), window={{size=2 stride=2}}, select=ge,
          scatter=sum }}"
    );
    let arguments = ["f32[6] {.1, .2, .3, .4, .5, .1}", "f32[3] {10, 20, 30}"];
    verdicts(
        &gradient,
        &arguments,
        &[
            ("f32[6] {0, 10, 0, 20, 30, 0}", Agrees),
            ("f32[6] {99, -5, 0, 20, 30, 0}", Differs),
            ("f32[6] {10, 0, 0, 20, 30, 0}", Differs),
        ],
    );
    // The order of the middle window is open.
    let arguments = ["f32[6] {.1, .2, .3, .3, .5, .1}", "f32[3] {10, 20, 30}"];
    verdicts(
        &gradient,
        &arguments,
        &[
            ("f32[6] {0, 10, 20, 0, 30, 0}", Agrees),
            ("f32[6] {0, 10, 0, 20, 30, 0}", WithinBound),
            ("f32[6] {0, 10, 0, 21, 30, 0}", Differs),
            ("f32[6] {1, 10, 0, 20, 30, 0}", Differs),
        ],
    );
}

#[test]
fn a_denormal_is_not_selected_before_large_numbers() {
    let gradient = format!(
        "{POOLING} ENTRY e {{ x = f32[4] parameter(0) s = f32[2] parameter(1)
        z = f32[] constant(0)
        ROOT r = f32[4] select-and-scatter(x, s, z), window={{size=2 stride=2}}, select=ge,
          scatter=sum }}"
    );
    verdicts(
        &gradient,
        &["f32[4] {1, 2, 5, 1e-40}", "f32[2] {10, 20}"],
        &[
            ("f32[4] {0, 10, 20, 0}", Agrees),
            ("f32[4] {0, 10, 0, 20}", Differs),
            ("f32[4] {0, 11, 20, 0}", Differs),
        ],
    );
}

#[test]
fn transforms_mix_no_images_and_no_features() {
    let convolution = |size: &str, labels: &str, out: &str| {
        format!(
            "ENTRY e {{ x = f32[2,4,1] parameter(0) k = f32[2,1,2] parameter(1)
            ROOT c = {out} convolution(x, k), window={{{size}}}, dim_labels={labels} }}"
        )
    };
    let overlapping = convolution("size=2", "b0f_0io->b0f", "f32[2,3,2]");
    let arguments = [
        "f32[2,4,1] {{{1e9}, {1e9}, {1e9}, {1e9}}, {{1}, {1}, {1}, {1}}}",
        "f32[2,1,2] {{{1, 1e9}}, {{1, 1e9}}}",
    ];
    let result = |x: &str, y: &str| {
        format!(
            "f32[2,3,2] {{{{{{2e9, 2e18}}, {{2e9, 2e18}}, {{2e9, 2e18}}}},
            {{{{2, 2e9}}, {{2, {y}}}, {{{x}, 2e9}}}}}}"
        )
    };
    verdicts(
        &overlapping,
        &arguments,
        &[
            (&result("2", "2e9"), Agrees),
            (&result("2.000001", "2e9"), WithinBound),
            (&result("3", "2e9"), Differs),
            (&result("2", "2.1e9"), Differs),
        ],
    );
    let apart = convolution("size=2 stride=2", "b0f_0io->b0f", "f32[2,2,2]");
    let arguments = [
        "f32[2,4,1] {{{1e9}, {1e9}, {1}, {1}}, {{1}, {1}, {1}, {1}}}",
        "f32[2,1,2] {{{1, 1}}, {{1, 1}}}",
    ];
    verdicts(
        &apart,
        &arguments,
        &[("f32[2,2,2] {{{2e9, 2e9}, {2, 3}}, {{2, 2}, {2, 2}}}", Differs)],
    );
}

#[test]
fn a_window_in_the_padding_has_few_terms() {
    let cumsum = "sum { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] add(a, b) }
        ENTRY e { x = bf16[300] parameter(0) z = bf16[] constant(0)
        ROOT r = bf16[300] reduce-window(x, z), window={size=300 pad=299_0}, to_apply=sum }";
    let list = |first: f64, all: &dyn Fn(u32) -> f64| {
        let all = (1..300).map(|i| all(i).to_string());
        let all: Vec<String> = std::iter::once(first.to_string()).chain(all).collect();
        format!("bf16[300] {{{}}}", all.join(", "))
    };
    let x = list(1.0, &|_| 1.1);
    let right = |i: u32| 1.0 + 1.101_562_5 * f64::from(i);
    let (right, wrong) = (list(1.0, &right), list(1.5, &right));
    let judged = |actual: &str| check(&format!("HloModule m\n{cumsum}"), &[&x], actual).verdict;
    assert_ne!(judged(&right), Differs);
    assert_eq!(judged(&wrong), Differs);
}

#[test]
fn rows_of_a_reduction_have_their_own_signs_and_digits() {
    let rows = |n: usize| {
        format!(
            "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
            ENTRY e {{ x = f32[2,{n}] parameter(0) z = f32[] constant(0)
            ROOT r = f32[2] reduce(x, z), dimensions={{1}}, to_apply=sum }}"
        )
    };
    verdicts(
        &rows(3),
        &["f32[2,3] {{3e38, 3e38, 1}, {-1, -2, 0}}"],
        &[("f32[2] {inf, -3}", Agrees), ("f32[2] {5, -3}", Differs)],
    );
    let numbers = (1..=1000).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let tenths = vec!["0.1"; 1000].join(", ");
    verdicts(
        &rows(1000),
        &[&format!("f32[2,1000] {{{{{numbers}}}, {{{tenths}}}}}")],
        &[("f32[2] {500500, 100.0001}", WithinBound), ("f32[2] {500501, 100}", Differs)],
    );
}

#[test]
fn beyond_a_format_without_infinities_is_nan_or_the_largest_number() {
    let binary = |op: &str| {
        format!(
            "ENTRY e {{ x = f8e4m3fn[] parameter(0) y = f8e4m3fn[] parameter(1)
            ROOT r = f8e4m3fn[] {op}(x, y) }}"
        )
    };
    let legal = |body: &str, arguments: &[&str]| {
        verdicts(
            body,
            arguments,
            &[
                ("f8e4m3fn[] nan", Agrees),
                ("f8e4m3fn[] 448", WithinBound),
                ("f8e4m3fn[] 416", Differs),
                ("f8e4m3fn[] -448", Differs),
                ("f8e4m3fn[] 3", Differs),
            ],
        );
    };
    let numbers = ["f8e4m3fn[] 384", "f8e4m3fn[] 384"];
    legal(&binary("add"), &numbers);
    legal(&binary("multiply"), &numbers);
    let convert = "ENTRY e { x = f32[] parameter(0) ROOT r = f8e4m3fn[] convert(x) }";
    legal(convert, &["f32[] 1000"]);
    let sum = "sum { a = f8e4m3fn[] parameter(0) b = f8e4m3fn[] parameter(1)
          ROOT c = f8e4m3fn[] add(a, b) }
        ENTRY e { x = f8e4m3fn[3] parameter(0) z = f8e4m3fn[] constant(0)
        ROOT r = f8e4m3fn[] reduce(x, z), dimensions={0}, to_apply=sum }";
    legal(sum, &["f8e4m3fn[3] {384, 384, 384}"]);
    // The sum may stay wide, be NaN or the largest number; so may be the difference.
    let kept = "ENTRY e { x = f8e4m3fn[] parameter(0) y = f8e4m3fn[] add(x, x)
        ROOT r = f8e4m3fn[] subtract(y, x) }";
    verdicts(
        kept,
        &["f8e4m3fn[] 384"],
        &[
            ("f8e4m3fn[] nan", Agrees),
            ("f8e4m3fn[] 384", WithinBound),
            ("f8e4m3fn[] 64", WithinBound),
            ("f8e4m3fn[] 200", Differs),
        ],
    );
}
