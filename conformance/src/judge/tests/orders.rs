//! Sums and products in random orders are legal, and errors of four times the bound are not.
use super::*;
use hlo::{ElementType, Scalar};
use proptest::prelude::*;

/// Combines all values, two random ones at a time.
fn tree<T: Copy>(mut values: Vec<T>, mut seed: u64, f: impl Fn(T, T) -> T) -> T {
    while values.len() > 1 {
        let mut take = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap_or(0) % values.len();
            values.swap_remove(at)
        };
        let (a, b) = (take(), take());
        values.push(f(a, b));
    }
    values[0]
}

type Pair = (f32, f32);
fn add(a: Pair, b: Pair) -> Pair {
    (a.0 + b.0, a.1 + b.1)
}
fn times(a: Pair, b: Pair) -> Pair {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

const BODIES: &str = "
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    mul { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] multiply(a, b) }
    cadd { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] add(b, a) }
    cmul { a = c64[] parameter(0) b = c64[] parameter(1) ROOT s = c64[] multiply(a, b) }
    both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3)
      s = f32[] add(c, a) m = f32[] multiply(d, b) ROOT r = (f32[], f32[]) tuple(s, m) }";

/// A sum or product of `x`, the real numbers, or of `z`, which are complex.
struct Case {
    line: &'static str,
    complex: bool,
    /// The result in a random order, as parts.
    result: fn(&[Pair], u64) -> Vec<f32>,
}

fn reals(x: &[Pair]) -> Vec<f32> {
    x.iter().map(|x| x.0).collect()
}

const CASES: [Case; 7] = [
    Case {
        line: "f32[] reduce(x, zero), dimensions={0}, to_apply=add",
        complex: false,
        result: |x, seed| vec![tree(reals(x), seed, |a, b| a + b)],
    },
    Case {
        line: "f32[] reduce(x, one), dimensions={0}, to_apply=mul",
        complex: false,
        result: |x, seed| vec![tree(reals(x), seed, |a, b| a * b)],
    },
    Case {
        line: "c64[] reduce(z, czero), dimensions={0}, to_apply=cadd",
        complex: true,
        result: |x, seed| {
            let sum = tree(x.to_vec(), seed, add);
            vec![sum.0, sum.1]
        },
    },
    Case {
        line: "c64[] reduce(z, cone), dimensions={0}, to_apply=cmul",
        complex: true,
        result: |x, seed| {
            let product = tree(x.to_vec(), seed, times);
            vec![product.0, product.1]
        },
    },
    Case {
        line: "(f32[], f32[]) reduce(x, x, zero, one), dimensions={0}, to_apply=both",
        complex: false,
        result: |x, seed| {
            vec![tree(reals(x), seed, |a, b| a + b), tree(reals(x), !seed, |a, b| a * b)]
        },
    },
    Case {
        line: "f32[4] reduce-window(x, one), window={size=9}, to_apply=mul",
        complex: false,
        result: |x, seed| x.windows(9).map(|w| tree(reals(w), seed, |a, b| a * b)).collect(),
    },
    Case {
        line: "f32[1] scatter(ones, places, x), update_window_dims={}, inserted_window_dims={0},
            scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=mul",
        complex: false,
        result: |x, seed| vec![tree(reals(x), seed, |a, b| a * b)],
    },
];

/// Terms of a case, both parts of each number.
const TERMS: usize = 12;

fn literal(like: &Literal, parts: &[f32]) -> Literal {
    let text = |literal: &Literal, parts: &[f32]| -> Literal {
        let bytes: Vec<u8> = parts.iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut result = literal.clone();
        result.bytes_mut().copy_from_slice(&bytes);
        result
    };
    match like.elements() {
        Some(leaves) => {
            Literal::tuple(leaves.iter().zip(parts).map(|(leaf, x)| text(leaf, &[*x])).collect())
        }
        None => text(like, parts),
    }
}

fn parts(of: &Literal) -> Vec<f32> {
    let bytes = of
        .leaves()
        .into_iter()
        .flat_map(|leaf| leaf.bytes().chunks_exact(4).map(<[u8]>::to_vec).collect::<Vec<_>>());
    bytes.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_order_is_legal(
        numbers in proptest::collection::vec((-1.0f32..1.0, -1.0f32..1.0, -9i32..9), TERMS),
        spread in 0..2u8,
        seed in any::<u64>(),
    ) {
        let scaled = |&(re, im, e): &(f32, f32, i32)| {
            let scale = 2f32.powi(e * i32::from(spread));
            (re * scale, im * scale)
        };
        let numbers: Vec<Pair> = numbers.iter().map(scaled).collect();
        let size = |z: &Pair| f64::from(z.0.hypot(z.1).min(z.0.abs())).min(1.0);
        let underflows = numbers.iter().map(size).filter(|&size| size > 0.0).product::<f64>() < 1e-35;
        let bytes: Vec<f32> = numbers.iter().flat_map(|z| [z.0, z.1]).collect();
        for case in &CASES {
            let parameter = if case.complex { "z = c64[12] parameter(0)" } else { "x = f32[12] parameter(0)" };
            let text = format!(
                "HloModule m\n{BODIES}\nENTRY e {{ {parameter} zero = f32[] constant(0) one = f32[] constant(1)
                 czero = c64[] constant((0, 0)) cone = c64[] constant((1, 0)) ones = f32[1] broadcast(one), dimensions={{}}
                 places = s32[12,1] constant({{{{0}},{{0}},{{0}},{{0}},{{0}},{{0}},{{0}},{{0}},{{0}},{{0}},{{0}},{{0}}}})
                 ROOT r = {} }}", case.line
            );
            let module = verified(&text);
            let argument = if case.complex {
                literal(&"c64[12] {(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1)}".parse().unwrap(), &bytes)
            } else {
                Literal::from_slice(&[12], &reals(&numbers))
            };
            let expected = interp::run(&module, std::slice::from_ref(&argument)).unwrap();
            let of = |actual: &Literal| {
                judge(&module, &[vec![argument.clone()]], std::slice::from_ref(&expected), std::slice::from_ref(actual))
            };
            let own = parts(&expected);
            let actual = literal(&expected, &(case.result)(&numbers, seed));
            let judgement = of(&actual);
            prop_assert!(judgement.verdict != Verdict::Differs, "{judgement:?}\n{}", case.line);
            // The bound of the first part, and four times it.
            let near = |to: f32| {
                let mut parts = own.clone();
                parts[0] = to;
                literal(&expected, &parts)
            };
            let bound = of(&near(f32::MAX)).measures.bound;
            for sign in [-4.0, 4.0] {
                let Scalar::Float(wrong) =
                    Scalar::Float(f64::from(own[0]) + sign * bound).round_to(ElementType::F32)
                else {
                    continue;
                };
                let wrong: f32 = wrong.to_string().parse().unwrap();
                // Where partial products are denormal, more is legal if they are flushed.
                if wrong != own[0] && bound.is_finite() && bound > 1e-30 && !underflows {
                    prop_assert_eq!(of(&near(wrong)).verdict, Verdict::Differs, "{} {}", case.line, bound);
                }
            }
        }
    }
}

/// Rounding is monotone: a sum of terms of one sign is no smaller than the largest.
#[test]
fn a_sum_reaches_its_largest_term() {
    let text = |ty: &str, op: &str| {
        format!(
            "a {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] add(a, b) }}
        m {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] {op}(a, b) }}
        ENTRY e {{ x = {ty}[3] parameter(0) z = {ty}[] constant(0) s = {ty}[] reduce(x, z), dimensions={{0}}, to_apply=a
          l = {ty}[] reduce(x, z), dimensions={{0}}, to_apply=m d = {ty}[] subtract(s, l) ROOT r = {ty}[] sqrt(d) }}"
        )
    };
    for ty in ["f32", "bf16"] {
        let verdicts = |text: &str, x: &str, results: &[(&str, Verdict)]| {
            let results: Vec<(String, Verdict)> = results
                .iter()
                .map(|(value, verdict)| (format!("{ty}[] {value}"), *verdict))
                .collect();
            let results: Vec<(&str, Verdict)> =
                results.iter().map(|(value, verdict)| (value.as_str(), *verdict)).collect();
            rules::verdicts(text, &[&format!("{ty}[3] {x}")], &results);
        };
        let largest = text(ty, "maximum");
        verdicts(&largest, "{1, 1e-20, 1.5e-20}", &[("nan", Verdict::Differs)]);
        // A difference of negative sums is not above 0.
        let least = text(ty, "minimum").replace("subtract(s, l)", "subtract(l, s)");
        verdicts(&least, "{-1, -1e-20, -1.5e-20}", &[("nan", Verdict::Differs)]);
        // Of terms of both signs nothing is said.
        verdicts(&largest, "{1, -1e-20, 1.5e-20}", &[("nan", Verdict::WithinBound)]);
    }
}
