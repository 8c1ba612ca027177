//! Windows that slide, and convolutions of one column: the same bits as the definitions.
use crate::{agree, compiled};
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};

/// Elements of many magnitudes, the same in each run; some are not finite if `special`, and some
/// are zeros of either sign.
pub(crate) fn elements(ty: ElementType, dims: &[i64], seed: u32, special: bool) -> Literal {
    let mut state = seed;
    let shape = ArrayShape::new(ty, dims);
    let mut bytes = Vec::new();
    for _ in 0..shape.element_count().unwrap() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let exponent = i32::try_from(state >> 26).unwrap() - 32;
        let x = match state >> 8 & 0xff {
            0..4 if special => f64::INFINITY,
            4..6 if special => f64::NEG_INFINITY,
            6..8 if special => f64::NAN,
            8..60 => -0.0,
            60..70 => 0.0,
            _ => (f64::from(state.cast_signed()) * 1e-9) * 2f64.powi(exponent),
        };
        let mut element = vec![0; ty.storage_bytes()];
        Scalar::Float(x).convert(ElementType::F64, ty).write(ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(shape, &bytes).unwrap()
}

/// Whether two arrays have the same elements, any NaN being equal to any other, and zeros having
/// signs.
pub(crate) fn same(a: &Literal, b: &Literal, what: &str) {
    assert_eq!(a.shape(), b.shape());
    for i in 0..a.len() {
        let (x, y) = (a.get(i), b.get(i));
        // The parts of a complex number are those of a real one twice.
        let parts = |x: Scalar| match x {
            Scalar::Complex(re, im) => [re, im].map(Scalar::Float),
            x => [x; 2],
        };
        let nan = |x: Scalar| matches!(x, Scalar::Float(x) if x.is_nan());
        let bits = |x: Scalar| match x {
            Scalar::Float(x) => x.to_bits(),
            other => other.as_wrapping().cast_unsigned(),
        };
        let is_same = |(x, y): (Scalar, Scalar)| nan(x) && nan(y) || bits(x) == bits(y);
        let is_same = parts(x).into_iter().zip(parts(y)).all(is_same);
        assert!(is_same, "element {i}: {x:?} and {y:?}\n{what}");
    }
}

pub(crate) fn engines_agree(text: &str, arguments: &[Literal]) {
    let run = |engine| compiled(text, engine).execute(arguments, &RunOptions::default()).unwrap();
    let (found, expected) = (run(Engine::Exact), run(Engine::Reference));
    match (found.elements(), expected.elements()) {
        (Some(found), Some(expected)) => {
            found.iter().zip(expected).for_each(|(found, expected)| same(found, expected, text));
        }
        _ => same(&found, &expected, text),
    }
}

const WINDOWS: [(&str, &str, &str); 7] = [
    ("[30]", "[30]", "window={size=30 pad=29_0}"),
    ("[30]", "[30]", "window={size=30 pad=0_29}"),
    ("[50]", "[43]", "window={size=8}"),
    ("[50]", "[13]", "window={size=12 stride=3}"),
    ("[20,15]", "[20,15]", "window={size=20x15 pad=19_0x14_0}"),
    ("[16,20]", "[9,15]", "window={size=9x9 pad=0_1x2_1}"),
    (
        "[9,12,3]",
        "[3,13,2]",
        "window={size=5x9x2 stride=2x1x1 pad=0_0x5_12x0_0 rhs_dilate=1x2x1 lhs_dilate=1x1x1}",
    ),
];

#[test]
fn sums_of_sliding_windows_are_exact() {
    for (from, to, window) in WINDOWS {
        for ty in ["f32", "f64", "bf16"] {
            let text = format!(
                "add {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] add(a, b) }}
                ENTRY e {{ p = {ty}{from} parameter(0) z = {ty}[] parameter(1)
                  ROOT r = {ty}{to} reduce-window(p, z), {window}, to_apply=add }}"
            );
            let Some((dims, ty)) = dims(from).zip(ElementType::from_name(ty)) else {
                panic!("{from}")
            };
            for (seed, special) in [(1, false), (2, false), (3, true), (4, true)] {
                for first in ["0", "-0", "1e-30", "inf"] {
                    let init: Literal = format!("{ty}[] {first}").parse().unwrap();
                    engines_agree(&text, &[elements(ty, &dims, seed, special), init]);
                }
            }
        }
    }
}

#[test]
fn other_sliding_folds() {
    for (from, to, window) in WINDOWS {
        for (ty, op, init) in [
            ("f32", "maximum", "-inf"),
            ("f32", "minimum", "1"),
            ("s32", "add", "5"),
            ("u8", "multiply", "3"),
            ("s8", "xor", "1"),
            ("pred", "or", "false"),
            ("f32", "multiply", "1"),
            ("f32", "subtract", "1"),
        ] {
            let text = format!(
                "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] {op}(a, b) }}
                ENTRY e {{ p = {ty}{from} parameter(0) z = {ty}[] constant({init})
                  ROOT r = {ty}{to} reduce-window(p, z), {window}, to_apply=f }}"
            );
            let Some((dims, ty)) = dims(from).zip(ElementType::from_name(ty)) else {
                panic!("{from}")
            };
            engines_agree(&text, &[elements(ty, &dims, 5, ty.is_float())]);
            // The fuel too.
            if ty == ElementType::S32 {
                agree(&text);
            }
        }
    }
}

fn dims(text: &str) -> Option<Vec<i64>> {
    text.trim_matches(['[', ']']).split(',').map(|n| n.parse().ok()).collect()
}

#[test]
fn convolutions_of_one_feature() {
    for (lhs, rhs, to, attributes) in [
        ("[1,40,1]", "[30,1,1]", "[1,69,1]", "window={size=30 pad=29_29}, dim_labels=b0f_0io->b0f"),
        (
            "[2,40,1]",
            "[9,1,1]",
            "[2,14,1]",
            "window={size=9 pad=3_6 stride=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
        ),
        (
            "[1,1,40]",
            "[1,1,7]",
            "[1,1,44]",
            "window={size=7 pad=-3_25 rhs_dilate=3}, dim_labels=bf0_io0->bf0",
        ),
        (
            "[2,9,8,3]",
            "[4,3,1,3]",
            "[2,10,9,3]",
            "window={size=4x3 pad=2_2x1_2}, dim_labels=b01f_01io->b01f, feature_group_count=3",
        ),
        (
            "[9,8,4,1]",
            "[3,3,1,4]",
            "[5,8,1,4]",
            "window={size=3x3 stride=2x1 pad=1_1x1_1}, dim_labels=01bf_01io->01bf, batch_group_count=4",
        ),
        (
            "[3,5,6,7,1]",
            "[2,2,3,1,1]",
            "[3,5,5,9,1]",
            "window={size=2x2x3 pad=0_1x0_0x2_2}, dim_labels=b012f_012io->b012f",
        ),
        (
            "[1,12,1]",
            "[5,1,1]",
            "[1,22,1]",
            "window={size=5 pad=1_2 lhs_dilate=2}, dim_labels=b0f_0io->b0f",
        ),
        ("[1,4,1]", "[9,1,1]", "[1,2,1]", "window={size=9 pad=40_-34}, dim_labels=b0f_0io->b0f"),
    ] {
        for ty in ["f32", "f64", "s32", "bf16", "c64"] {
            let text = format!(
                "ENTRY e {{ l = {ty}{lhs} parameter(0) r = {ty}{rhs} parameter(1)
                  ROOT c = {ty}{to} convolution(l, r), {attributes} }}"
            );
            agree(&text);
            let ty = ElementType::from_name(ty).unwrap();
            if ty.is_float() {
                for special in [false, true] {
                    let arguments = [
                        elements(ty, &dims(lhs).unwrap(), 6, special),
                        elements(ty, &dims(rhs).unwrap(), 7, special),
                    ];
                    engines_agree(&text, &arguments);
                }
            }
        }
    }
}
