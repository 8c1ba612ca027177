//! Folds by any computation: of rows, columns and windows, of one operand and of two.
use crate::compiled;
use crate::windows::{elements, same};
use hlo::{ElementType, Literal};
use interp::{Engine, RunOptions};

/// How an array is reduced: its dimensions, the reduced ones, and those of the result.
const SHAPES: [(&str, &str, &str); 23] = [
    ("7,33", "1", "7"),
    ("33,7", "0", "7"),
    ("700,3", "0", "3"),
    ("300,20", "1", "300"),
    ("9,700", "0", "700"),
    ("5,40,6", "1", "5,6"),
    ("50,40,3", "1", "50,3"),
    ("5,40,6", "0,2", "40"),
    ("2,3,4,50", "1,3", "2,4"),
    ("70000", "0", ""),
    ("2,5000", "1", "2"),
    ("40000,2", "0", "2"),
    ("1,65", "0", "65"),
    ("600,5", "1", "600"),
    ("40,90", "1", "40"),
    ("20,15,8,5", "0,2", "15,5"),
    ("4,0", "1", "4"),
    // Short runs and rows beside one another, which are not folded one after another.
    ("6,2,9,3,20", "1,3", "6,9,20"),
    ("3,2,300,3", "1,3", "3,300"),
    ("300,20,4", "0,2", "20"),
    ("8,8", "0", "8"),
    ("19,1101", "0", "1101"),
    ("12,40,23", "1", "12,23"),
];

/// The body of a computation of two operands of these types, and whether it is the same in `fast`
/// to the last bit.
const PAIRS: [(&str, &str, &str, bool); 9] = [
    // The first of the largest numbers, as JAX finds it, and the last of them.
    (
        "f32",
        "s32",
        "g = pred[] compare(a, b), direction=GT n = pred[] compare(a, a), direction=NE p = pred[] or(g, n)
         e = pred[] compare(a, b), direction=EQ l = pred[] compare(i, j), direction=LT t = pred[] and(e, l) q = pred[] or(p, t)
         x = f32[] select(p, a, b) y = s32[] select(q, i, j)",
        true,
    ),
    (
        "bf16",
        "s32",
        "g = pred[] compare(a, b), direction=GE x = bf16[] maximum(a, b) y = s32[] select(g, i, j)",
        true,
    ),
    (
        "u8",
        "s64",
        "g = pred[] compare(a, b), direction=LT x = u8[] select(g, a, b) e = pred[] compare(a, b), direction=EQ
         m = s64[] minimum(i, j) s = s64[] select(g, i, j) y = s64[] select(e, m, s)",
        true,
    ),
    (
        "f16",
        "u32",
        "g = pred[] compare(a, b), direction=LT n = pred[] compare(a, a), direction=NE p = pred[] or(g, n)
         e = pred[] compare(a, b), direction=EQ l = pred[] compare(i, j), direction=LT t = pred[] and(e, l) q = pred[] or(p, t)
         x = f16[] select(p, a, b) y = u32[] select(q, i, j)",
        true,
    ),
    (
        "f64",
        "s64",
        "g = pred[] compare(a, b), direction=LT n = pred[] compare(a, a), direction=NE p = pred[] or(g, n)
         e = pred[] compare(a, b), direction=EQ l = pred[] compare(i, j), direction=LT t = pred[] and(e, l) q = pred[] or(p, t)
         o = pred[] or(p, e) x = f64[] select(o, a, b) y = s64[] select(q, i, j)",
        true,
    ),
    (
        "s16",
        "s32",
        "g = pred[] compare(a, b), direction=GT e = pred[] compare(a, b), direction=EQ l = pred[] compare(i, j), direction=LT
         t = pred[] and(e, l) q = pred[] or(g, t) x = s16[] select(g, a, b) y = s32[] select(q, i, j)",
        true,
    ),
    // Each operand for itself, one depending on the other, and both in exchange.
    ("f32", "s32", "x = f32[] multiply(a, b) y = s32[] add(i, j)", false),
    ("s32", "s32", "x = s32[] subtract(a, b) y = s32[] add(x, j)", true),
    ("s32", "s32", "x = s32[] add(i, b) y = s32[] xor(a, j)", true),
];

fn dims(text: &str) -> Vec<i64> {
    text.split(',').map(|n| n.parse().unwrap()).collect()
}

/// Runs a module in the engines, on one thread and on several: `exact` gives the bits of the
/// definition, and so does `fast` if `is_exact`; the number of threads changes nothing.
fn check(text: &str, arguments: &[Literal], is_exact: bool) {
    let run = |engine, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let executable = compiled(text, engine);
        let found = pool.install(|| executable.execute(arguments, &RunOptions::default()));
        found.unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let leaves =
        |literal: &Literal| literal.elements().map_or(vec![literal.clone()], <[_]>::to_vec);
    let compare = |a: &Literal, b: &Literal| {
        leaves(a).iter().zip(leaves(b)).for_each(|(a, b)| same(a, &b, text));
    };
    let expected = run(Engine::Reference, 1);
    let fast = run(Engine::Fast, 1);
    compare(&run(Engine::Exact, 1), &expected);
    compare(&run(Engine::Exact, 2), &expected);
    compare(&run(Engine::Fast, 2), &fast);
    if is_exact {
        compare(&fast, &expected);
    }
}

#[test]
fn reductions_of_two_operands() {
    for (a, i, body, is_exact) in PAIRS {
        for (shape, reduced, result) in SHAPES {
            let text = format!(
                "f {{ a = {a}[] parameter(0) i = {i}[] parameter(1) b = {a}[] parameter(2) j = {i}[] parameter(3)
                   {body} ROOT r = ({a}[], {i}[]) tuple(x, y) }}
                 ENTRY e {{ p = {a}[{shape}] parameter(0) q = {i}[{shape}] parameter(1) v = {a}[] constant(1) w = {i}[] constant(3)
                   ROOT r = ({a}[{result}], {i}[{result}]) reduce(p, q, v, w), dimensions={{{reduced}}}, to_apply=f }}"
            );
            let [a, i] = [a, i].map(|ty| ElementType::from_name(ty).unwrap());
            for seed in [1, 2] {
                let values = elements(a, &dims(shape), seed, seed == 2);
                check(&text, &[values, elements(i, &dims(shape), seed + 7, false)], is_exact);
            }
        }
    }
}

#[test]
fn reductions_by_other_computations() {
    for (ty, body, is_exact) in [
        ("f32", "add(a, b)", false),
        ("bf16", "add(b, a)", false),
        ("f16", "add(a, b)", false),
        ("f64", "add(a, b)", false),
        ("f32", "multiply(a, b)", false),
        ("f64", "multiply(a, b)", false),
        ("c64", "multiply(a, b)", false),
        ("c128", "multiply(a, b)", false),
        ("c128", "subtract(a, b)", false),
        ("f32", "divide(a, b)", true),
        ("c64", "add(a, b)", false),
        ("f32", "subtract(a, b)", true),
        ("f16", "maximum(b, a)", true),
        ("s4", "add(a, b)", true),
        ("u8", "maximum(a, b)", true),
        ("s32", "add(a, b)", true),
        ("pred", "or(a, b)", true),
        ("f8e5m2", "minimum(a, b)", true),
        ("s32", "subtract(b, a)", true),
        ("f32", "copy(b)", true),
    ] {
        for (shape, reduced, result) in SHAPES {
            let text = format!(
                "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT r = {ty}[] {body} }}
                 ENTRY e {{ p = {ty}[{shape}] parameter(0) i = s32[] constant(1) z = {ty}[] convert(i)
                   ROOT r = {ty}[{result}] reduce(p, z), dimensions={{{reduced}}}, to_apply=f }}"
            );
            let ty = ElementType::from_name(ty).unwrap();
            for seed in [3, 4] {
                check(&text, &[elements(ty, &dims(shape), seed, seed == 4)], is_exact);
            }
        }
    }
}

/// Sums of f64 whose terms cancel, of which exact ones are rounded once.
#[test]
fn sums_of_cancelling_terms() {
    for (shape, reduced, result) in SHAPES {
        let text = format!(
            "f {{ a = f64[] parameter(0) b = f64[] parameter(1) ROOT r = f64[] add(a, b) }}
             ENTRY e {{ p = f64[{shape}] parameter(0) x = f64[] constant(1e-300)
               ROOT r = f64[{result}] reduce(p, x), dimensions={{{reduced}}}, to_apply=f }}"
        );
        // Each number comes with its negative, but for the last ones.
        let shape = dims(shape);
        let mut values = elements(ElementType::F64, &shape, 11, false);
        let numbers: &mut [f64] = bytemuck::cast_slice_mut(values.bytes_mut());
        for pair in numbers.chunks_exact_mut(2) {
            pair[1] = -pair[0];
        }
        check(&text, &[values], false);
    }
}

/// Windows over an array: its dimensions, those of the result, and the window.
const WINDOWS: [(&str, &str, &str); 23] = [
    // Windows that grow, at either end, after some that have no element, and before some with all.
    ("100", "100", "window={size=100 pad=99_0}"),
    ("900", "900", "window={size=900 pad=899_0}"),
    ("900", "900", "window={size=900 pad=0_899}"),
    ("3,401", "3,401", "window={size=1x401 pad=0_0x400_0}"),
    ("401,3", "401,3", "window={size=401x1 pad=0_400x0_0}"),
    ("3,401", "3,390", "window={size=1x401 pad=0_0x389_0}"),
    ("2,150", "2,155", "window={size=1x150 pad=0_0x154_0}"),
    ("2,150", "2,153", "window={size=1x160 pad=0_0x159_3}"),
    ("90", "95", "window={size=94 pad=-1_99}"),
    ("40,30,5", "40,30,5", "window={size=1x30x1 pad=0_0x0_29x0_0}"),
    ("40,300", "40,300", "window={size=40x1 pad=39_0x0_0}"),
    ("2,20,70", "2,20,70", "window={size=1x20x1 pad=0_0x0_19x0_0}"),
    // Windows with holes between elements, large ones, and those of rows of several segments.
    ("2,9,8,3", "2,19,17,3", "window={size=1x3x3x1 pad=0_0x2_2x1_3x0_0 lhs_dilate=1x2x2x1}"),
    ("3,40", "3,118", "window={size=1x4 pad=0_0x2_1 lhs_dilate=1x3}"),
    ("3,40", "3,40", "window={size=1x4 pad=0_0x2_1 lhs_dilate=1x3 stride=1x3}"),
    ("5,20", "5,39", "window={size=1x1 lhs_dilate=1x2}"),
    ("2,6,3,4", "2,11,7,4", "window={size=1x1x1x1 pad=0_0x0_0x0_0x0_0 lhs_dilate=1x2x3x1}"),
    ("30,20", "30,10", "window={size=3x4 pad=1_1x2_1 stride=1x2 lhs_dilate=1x1 rhs_dilate=1x1}"),
    ("2,20,20,9", "2,1,1,9", "window={size=1x20x20x1}"),
    ("40,9", "21,9", "window={size=300x1 pad=280_0x0_0}"),
    ("7000", "6998", "window={size=3}"),
    ("9,10,11", "9,10,11", "window={size=3x3x3 pad=1_1x1_1x1_1}"),
    ("5,600", "5,599", "window={size=1x2}"),
];

#[test]
fn windows_of_one_operand() {
    for (ty, body, is_exact) in [
        ("f32", "add(a, b)", false),
        ("bf16", "add(a, b)", false),
        ("f64", "add(a, b)", false),
        ("f64", "multiply(a, b)", false),
        ("c64", "multiply(a, b)", false),
        ("c128", "add(a, b)", false),
        ("f32", "maximum(a, b)", true),
        ("f16", "minimum(b, a)", true),
        ("u8", "add(a, b)", true),
        ("s32", "subtract(b, a)", true),
        ("s4", "xor(a, b)", true),
        ("pred", "or(a, b)", true),
        ("f32", "copy(b)", true),
    ] {
        for (from, to, window) in WINDOWS {
            let text = format!(
                "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT r = {ty}[] {body} }}
                 ENTRY e {{ p = {ty}[{from}] parameter(0) i = s32[] constant(1) z = {ty}[] convert(i)
                   ROOT r = {ty}[{to}] reduce-window(p, z), {window}, to_apply=f }}"
            );
            let ty = ElementType::from_name(ty).unwrap();
            check(&text, &[elements(ty, &dims(from), 5, from.len() % 2 == 0)], is_exact);
        }
    }
}

#[test]
fn windows_of_two_operands() {
    for (a, i, body, is_exact) in PAIRS {
        // The definition takes each element of each window apart.
        for (from, to, window) in
            WINDOWS.into_iter().filter(|w| !w.0.contains("00") && !w.0.contains("401"))
        {
            let text = format!(
                "f {{ a = {a}[] parameter(0) i = {i}[] parameter(1) b = {a}[] parameter(2) j = {i}[] parameter(3)
                   {body} ROOT r = ({a}[], {i}[]) tuple(x, y) }}
                 ENTRY e {{ p = {a}[{from}] parameter(0) q = {i}[{from}] parameter(1) v = {a}[] constant(1) w = {i}[] constant(3)
                   ROOT r = ({a}[{to}], {i}[{to}]) reduce-window(p, q, v, w), {window}, to_apply=f }}"
            );
            let [a, i] = [a, i].map(|ty| ElementType::from_name(ty).unwrap());
            let values = elements(a, &dims(from), 3, true);
            check(&text, &[values, elements(i, &dims(from), 8, false)], is_exact);
        }
    }
}
