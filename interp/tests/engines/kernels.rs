//! Sorts, small windows, cumulative sums, scatters and transforms: the same bits as the
//! definitions.
use crate::compiled;
use crate::windows::{elements, engines_agree};
use hlo::{ElementType, Literal};
use interp::{Engine, RunOptions};
use proptest::prelude::*;

fn dims(text: &str) -> Vec<i64> {
    text.split(',').map(|n| n.parse().unwrap()).collect()
}

/// A comparator of one operand of type `ty`.
const COMPARATORS: [&str; 8] = [
    "ROOT r = pred[] compare(a, b), direction=LT",
    "ROOT r = pred[] compare(a, b), direction=GT",
    "ROOT r = pred[] compare(b, a), direction=LT",
    "ROOT r = pred[] compare(a, b), direction=LE",
    "ROOT r = pred[] compare(a, b), direction=GE",
    // Neither has a key.
    "m = TY[] maximum(a, b) ROOT r = pred[] compare(m, b), direction=LT",
    "ROOT r = pred[] compare(a, b), direction=NE",
    // By a computed key, then in reverse.
    "z = TY[] constant(1) c = TY[] minimum(a, z) d = TY[] minimum(b, z) l = pred[] compare(c, d), direction=LT e = pred[] compare(c, d), direction=EQ g = pred[] compare(a, b), direction=GT n = pred[] and(e, g) ROOT r = pred[] or(l, n)",
];
const FLOAT_COMPARATORS: [&str; 2] = [
    "ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER",
    "n = TY[] constant(nan) z = TY[] constant(0) t = pred[] compare(a, a), direction=NE u = pred[] compare(b, b), direction=NE v = pred[] compare(a, z), direction=EQ w = pred[] compare(b, z), direction=EQ c = TY[] select(v, z, a) d = TY[] select(w, z, b) p = TY[] select(t, n, c) q = TY[] select(u, n, d) ROOT r = pred[] compare(p, q), direction=LT, type=TOTALORDER",
];

fn check_sort(ty: &str, shape: &str, dim: usize, comparator: &str, seed: u32) {
    let comparator = comparator.replace("TY", ty);
    let text = format!(
        "less {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) {comparator} }}
        ENTRY e {{ p = {ty}[{shape}] parameter(0) q = s32[{shape}] iota(), iota_dimension={dim}
          ROOT s = ({ty}[{shape}], s32[{shape}]) sort(p, q), dimensions={{{dim}}}, to_apply=less }}"
    );
    let element = ElementType::from_name(ty).unwrap();
    engines_agree(&text, &[elements(element, &dims(shape), seed, seed % 2 == 1)]);
}

#[test]
fn sorts_by_keys_are_those_of_their_comparators() {
    for ty in ["f32", "f64", "bf16", "f16", "f8e5m2", "s32", "s8", "u16", "u64", "pred"] {
        let is_float = ElementType::from_name(ty).unwrap().is_float();
        let plain = if ty == "pred" { &COMPARATORS[..5] } else { &COMPARATORS[..] };
        let of_floats = if is_float { &FLOAT_COMPARATORS[..] } else { &[] };
        for (i, comparator) in plain.iter().chain(of_floats).enumerate() {
            for (shape, dim) in [("60", 0), ("5,70", 1), ("70,5", 0), ("3,20,4", 1), ("300,3", 1)] {
                check_sort(ty, shape, dim, comparator, u32::try_from(i).unwrap());
                check_sort(ty, shape, dim, comparator, u32::try_from(i + 1).unwrap());
            }
        }
    }
}

#[test]
fn long_sorts() {
    for ty in ["f32", "bf16", "f64"] {
        for comparator in FLOAT_COMPARATORS {
            check_sort(ty, "70000", 0, comparator, 1);
        }
        check_sort(ty, "40000,2", 0, COMPARATORS[4], 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn sorts_of_random_numbers(bits in prop::collection::vec(any::<u32>(), 1..400), few in any::<bool>(), which in 0..10_usize) {
        let floats: Vec<f32> =
            bits.iter().map(|&x| f32::from_bits(if few { (x % 8).wrapping_mul(0x3fff_ffff) } else { x })).collect();
        let all: Vec<&str> = COMPARATORS.into_iter().chain(FLOAT_COMPARATORS).collect();
        let (n, comparator) = (bits.len(), all[which].replace("TY", "f32"));
        let text = format!(
            "less {{ a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) {comparator} }}
            ENTRY e {{ p = f32[{n}] parameter(0) q = s32[{n}] iota(), iota_dimension=0
              ROOT s = (f32[{n}], s32[{n}]) sort(p, q), dimensions={{0}}, to_apply=less }}"
        );
        engines_agree(&text, &[Literal::from_slice(&[i64::try_from(n).unwrap()], &floats)]);
    }
}

const SMALL_WINDOWS: [(&str, &str, &str); 9] = [
    ("2,9,9,8", "2,5,4,8", "window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_0x0_0}"),
    ("2,3,9,17", "2,3,4,9", "window={size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x0_0x1_1}"),
    ("3,10,12", "3,10,12", "window={size=1x3x3 pad=0_0x1_1x1_1}"),
    ("40", "39", "window={size=2}"),
    ("40", "13", "window={size=3 stride=3 pad=-1_0}"),
    ("5,30", "3,30", "window={size=3x5 pad=0_0x2_2}"),
    ("4,30", "4,26", "window={size=1x3 rhs_dilate=1x2}"),
    ("12,9", "14,9", "window={size=1x1 pad=1_1x0_0}"),
    ("6,7,300", "4,4,300", "window={size=3x4x1}"),
];

#[test]
fn reductions_over_small_windows() {
    for (from, to, window) in SMALL_WINDOWS {
        for (ty, op, init) in [
            ("f32", "add", "-0"),
            ("f32", "add", "1e-30"),
            ("bf16", "add", "0"),
            ("f64", "add", "0"),
            ("f32", "maximum", "-inf"),
            ("bf16", "minimum", "inf"),
            ("f32", "multiply", "1"),
            ("f32", "subtract", "1"),
            ("s32", "add", "5"),
            ("u8", "maximum", "3"),
        ] {
            let text = format!(
                "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] {op}(a, b) }}
                ENTRY e {{ p = {ty}[{from}] parameter(0) z = {ty}[] constant({init})
                  ROOT r = {ty}[{to}] reduce-window(p, z), {window}, to_apply=f }}"
            );
            let element = ElementType::from_name(ty).unwrap();
            for seed in [1, 2, 3] {
                engines_agree(&text, &[elements(element, &dims(from), seed, seed == 3)]);
            }
        }
    }
}

#[test]
fn cumulative_sums() {
    for (from, to, window) in [
        ("100", "100", "window={size=100 pad=99_0}"),
        ("100", "100", "window={size=100 pad=0_99}"),
        ("2,150", "2,155", "window={size=1x150 pad=0_0x154_0}"),
        ("2,150", "2,153", "window={size=1x160 pad=0_0x159_3}"),
        ("90", "60", "window={size=90 pad=59_0}"),
        ("90", "95", "window={size=94 pad=-1_99}"),
        ("70,3", "70,3", "window={size=70x1 pad=69_0x0_0}"),
        ("2,20,70", "2,20,70", "window={size=1x20x1 pad=0_0x0_19x0_0}"),
        ("1,5", "1,5", "window={size=1x5 pad=0_0x4_0}"),
    ] {
        for (ty, result) in [("f32", "f32"), ("f64", "f64"), ("bf16", "bf16"), ("f16", "f16")] {
            let text = format!(
                "add {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] add(a, b) }}
                ENTRY e {{ p = {ty}[{from}] parameter(0) z = {ty}[] parameter(1)
                  ROOT r = {result}[{to}] reduce-window(p, z), {window}, to_apply=add }}"
            );
            let element = ElementType::from_name(ty).unwrap();
            for (seed, special) in [(1, false), (2, false), (3, true)] {
                for first in ["0", "-0", "1e-30", "-inf"] {
                    let init: Literal = format!("{ty}[] {first}").parse().unwrap();
                    engines_agree(&text, &[elements(element, &dims(from), seed, special), init]);
                }
            }
        }
    }
}

#[test]
fn gradients_of_pooling() {
    for (from, to, window) in SMALL_WINDOWS.into_iter().filter(|w| !w.2.contains("dilate")) {
        for (ty, op) in [
            ("f32", "add"),
            ("bf16", "add"),
            ("f64", "multiply"),
            ("s32", "maximum"),
            ("u8", "add"),
            ("f32", "subtract"),
        ] {
            for direction in ["GE", "GT", "LE", "LT", "NE"] {
                let text = format!(
                    "choose {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = pred[] compare(a, b), direction={direction} }}
                    add {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] {op}(a, b) }}
                    ENTRY e {{ p = {ty}[{from}] parameter(0) q = {ty}[{to}] parameter(1) z = {ty}[] constant(2)
                      ROOT r = {ty}[{from}] select-and-scatter(p, q, z), {window}, select=choose, scatter=add }}"
                );
                let element = ElementType::from_name(ty).unwrap();
                for seed in [1, 3] {
                    let operand = elements(element, &dims(from), seed, seed == 3);
                    engines_agree(&text, &[operand, elements(element, &dims(to), seed + 1, false)]);
                }
            }
        }
    }
}

#[test]
fn scatters_of_runs() {
    for (shape, updates, indices, attributes) in [
        (
            "10,100",
            "8,100",
            "8,1",
            "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        ),
        (
            "10,9",
            "8,2,5",
            "8,2",
            "update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1",
        ),
        (
            "40",
            "30",
            "30,1",
            "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        ),
        (
            "9,6",
            "6,4",
            "4,1",
            "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        ),
    ] {
        for (ty, body) in [
            ("f32", "ROOT s = f32[] add(a, b)"),
            ("f32", "ROOT s = f32[] subtract(b, a)"),
            ("bf16", "ROOT s = bf16[] multiply(a, b)"),
            ("s32", "ROOT s = s32[] maximum(a, b)"),
            ("f32", "ROOT s = f32[] copy(b)"),
        ] {
            let text = format!(
                "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) {body} }}
                ENTRY e {{ p = {ty}[{shape}] parameter(0) i = s32[{indices}] parameter(1) u = {ty}[{updates}] parameter(2)
                  ROOT r = {ty}[{shape}] scatter(p, i, u), {attributes}, to_apply=f }}"
            );
            let element = ElementType::from_name(ty).unwrap();
            let places: Vec<i32> = (0..i32::try_from(dims(indices).iter().product::<i64>())
                .unwrap())
                .map(|i| i * 7 % 11 - 1)
                .collect();
            let arguments = [
                elements(element, &dims(shape), 1, false),
                Literal::from_slice(&dims(indices), &places),
                elements(element, &dims(updates), 2, false),
            ];
            engines_agree(&text, &arguments);
        }
    }
}

#[test]
fn transforms_of_real_numbers() {
    for n in [1, 2, 3, 4, 5, 6, 8, 10, 22, 37, 64, 74, 96, 100] {
        for (ty, complex, bound) in [("f32", "c64", 1e-6), ("f64", "c128", 1e-15)] {
            let half = n / 2 + 1;
            for text in [
                format!(
                    "ENTRY e {{ p = {ty}[3,{n}] parameter(0) ROOT r = {complex}[3,{half}] fft(p), fft_type=RFFT, fft_length={{{n}}} }}"
                ),
                format!(
                    "ENTRY e {{ p = {ty}[2,3,{n}] parameter(0) f = {complex}[2,3,{half}] fft(p), fft_type=RFFT, fft_length={{3,{n}}} ROOT r = {ty}[2,3,{n}] fft(f), fft_type=IRFFT, fft_length={{3,{n}}} }}"
                ),
            ] {
                let executable = compiled(&text, Engine::Exact);
                let parameters = executable.module().entry().program_shape().parameters;
                let shape = parameters[0].array().unwrap().clone();
                let numbers = (0..shape.element_count().unwrap()).map(|i| {
                    f64::from(u32::try_from(i).unwrap().wrapping_mul(2_654_435_761)) / 4e9 - 0.5
                });
                let argument = match shape.ty {
                    ElementType::F64 => {
                        Literal::from_slice(&shape.dims, &numbers.collect::<Vec<_>>())
                    }
                    _ => {
                        let text: Vec<String> = numbers.map(|x| x.to_string()).collect();
                        let numbers: Vec<f32> = text.iter().map(|x| x.parse().unwrap()).collect();
                        Literal::from_slice(&shape.dims, &numbers)
                    }
                };
                let [found, expected] = [Engine::Exact, Engine::Reference].map(|engine| {
                    let arguments = std::slice::from_ref(&argument);
                    compiled(&text, engine).execute(arguments, &RunOptions::default()).unwrap()
                });
                for i in 0..found.len() {
                    let (a, b) = (found.get(i), expected.get(i));
                    let parts = |x| match x {
                        hlo::Scalar::Complex(re, im) => (re, im),
                        x => (x.as_f64(), 0.0),
                    };
                    let ((a, c), (b, d)) = (parts(a), parts(b));
                    let error = (a - b).abs().max((c - d).abs());
                    assert!(error <= bound * f64::from(n), "{i} of {text}: {a} {c}, {b} {d}");
                    // What symmetry forbids is not there.
                    assert!(d != 0.0 || c == 0.0, "{i} of {text}: {c}");
                }
            }
        }
    }
}
