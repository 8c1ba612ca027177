//! Sums of products that are hard to round: the same bits as the definitions.
use crate::compiled;
use crate::linear::{agree_within, numbers};
use crate::windows::engines_agree;
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};

/// Pseudorandom numbers, the same in each run.
struct Random(u32);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }
    fn below(&mut self, limit: u32) -> u32 {
        self.bits() % limit
    }
    /// A number of either sign with an exponent of up to `range`.
    fn number(&mut self, range: u32) -> f64 {
        let exponent = i32::try_from(self.below(2 * range + 1)).unwrap();
        let exponent = exponent - i32::try_from(range).unwrap();
        let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
        sign * (1.0 + f64::from(self.bits()) / 16_777_216.0) * 2f64.powi(exponent)
    }
}

fn array(ty: ElementType, dims: &[i64], values: &[Scalar]) -> Literal {
    let mut bytes = Vec::new();
    for value in values {
        let from = if ty.is_complex() { ElementType::C128 } else { ElementType::F64 };
        let mut element = vec![0; ty.storage_bytes()];
        value.convert(from, ty).write(ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(ArrayShape::new(ty, dims), &bytes).unwrap()
}

/// Which operand the elements are of.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
    Scale,
}

/// Rows along the last dimension whose products with each other cancel: the second half of a left
/// row is the negative of the first, that of a right one repeats it. A few elements differ
/// slightly.
fn cancelling(ty: ElementType, dims: &[i64], side: Side, seed: u32) -> Literal {
    let range = match ty.float_format().map_or(8, |format| format.exponent_bits) {
        ..=4 => 5,
        5 => 10,
        _ if side == Side::Scale => 40,
        _ => [4, 20, 60][usize::try_from(seed % 3).unwrap()],
    };
    let mut random = Random(seed);
    let terms = usize::try_from(*dims.last().unwrap()).unwrap();
    let rows = dims[..dims.len() - 1].iter().product::<i64>();
    let mut values = Vec::new();
    for _ in 0..rows {
        let half: Vec<Scalar> = (0..terms / 2)
            .map(|_| match side {
                Side::Scale => Scalar::Float(random.number(range).abs()),
                _ if ty.is_complex() => Scalar::Complex(random.number(range), random.number(range)),
                _ => Scalar::Float(random.number(range)),
            })
            .collect();
        let other = half.iter().map(|&x| {
            let change = match side {
                Side::Scale => 1.0,
                _ if random.below(12) == 0 => 1.0 + f64::from(random.below(8)) / 64.0,
                _ => 1.0,
            };
            let factor = if side == Side::Left { -change } else { change };
            match x {
                Scalar::Complex(re, im) => Scalar::Complex(re * factor, im * factor),
                x => Scalar::Float(x.as_f64() * factor),
            }
        });
        let other: Vec<Scalar> = other.collect();
        values.extend(half);
        values.extend(other);
    }
    array(ty, dims, &values)
}

const RESULTS: [&str; 6] = ["f32", "bf16", "f16", "f8e5m2", "f8e4m3fn", "pred"];

fn ty(name: &str) -> ElementType {
    ElementType::from_name(name).unwrap()
}

#[test]
fn dots_that_cancel() {
    for from in ["f32", "f64", "bf16", "f16", "c64", "c128"] {
        let results = if ty(from).is_complex() { &["c64", "c128"][..] } else { &RESULTS };
        for (i, to) in (1..).zip(results) {
            let sizes = [(5, 7, 6), (1, 9, 34), (9, 25, 70), (8, 1, 8), (35, 1, 22), (1, 5, 302)];
            for (rows, columns, terms) in sizes {
                let text = format!(
                    "ENTRY e {{ a = {from}[{rows},{terms}] parameter(0) b = {from}[{columns},{terms}] parameter(1)
                      ROOT r = {to}[{rows},{columns}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} }}"
                );
                for seed in [i, i + 1, i + 2] {
                    let lhs = cancelling(ty(from), &[rows, terms], Side::Left, seed);
                    let rhs = cancelling(ty(from), &[columns, terms], Side::Right, seed + 6);
                    engines_agree(&text, &[lhs, rhs]);
                }
            }
        }
    }
}

/// Returns a matrix of so many rows with rows and columns exchanged.
fn exchanged(matrix: &Literal, rows: usize) -> Literal {
    let shape = matrix.shape();
    let shape = shape.array().unwrap();
    let (width, [m, n]) = (shape.ty.storage_bytes(), [shape.dims[0], shape.dims[1]]);
    let columns = matrix.bytes().len() / width / rows;
    let elements = (0..columns).flat_map(|j| (0..rows).map(move |i| i * columns + j));
    let bytes = elements.flat_map(|at| &matrix.bytes()[at * width..][..width]);
    let bytes: Vec<u8> = bytes.copied().collect();
    Literal::from_bytes(ArrayShape::new(shape.ty, [n, m].as_slice()), &bytes).unwrap()
}

/// Few rows, so that columns are read where they are, but for those that fill no vector.
#[test]
fn dots_of_few_rows_that_cancel() {
    for from in ["f32", "f64", "bf16", "f16", "c64", "c128"] {
        let results = if ty(from).is_complex() { &["c64", "c128"][..] } else { &RESULTS };
        for (to, (rows, columns, terms)) in
            results.iter().flat_map(|to| [(2, 41, 40), (8, 64, 70), (33, 19, 6)].map(|x| (to, x)))
        {
            let text = format!(
                "ENTRY e {{ a = {from}[{rows},{terms}] parameter(0) b = {from}[{terms},{columns}] parameter(1)
                  ROOT r = {to}[{rows},{columns}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
            );
            for seed in [1, 2] {
                let lhs = cancelling(ty(from), &[rows, terms], Side::Left, seed);
                let rhs = cancelling(ty(from), &[columns, terms], Side::Right, seed + 6);
                let rhs = exchanged(&rhs, usize::try_from(columns).unwrap());
                engines_agree(&text, &[lhs, rhs]);
            }
        }
    }
    for (ty, bound) in [("f32", 1e-4), ("bf16", 0.1), ("f64", 1e-12), ("s32", 0.0)] {
        let text = format!(
            "ENTRY e {{ a = {ty}[9,70] parameter(0) b = {ty}[70,41] parameter(1)
              ROOT r = {ty}[9,41] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
        );
        agree_within(&text, bound);
    }
}

/// Zeros, infinities and NaN in columns that are read where they are.
#[test]
fn dots_of_few_rows_of_special_values() {
    let special = [0.0, -0.0, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, -1e-30, 1e300, 1.0];
    for from in ["f32", "f64", "bf16"] {
        let mut random = Random(5);
        // Most columns have few special values, and some have zeros alone.
        for (rows, columns, terms) in [(2, 41, 3), (8, 64, 40), (9, 19, 300)] {
            let mut operand = |dims: [i64; 2]| {
                let count = usize::try_from(dims[0] * dims[1]).unwrap();
                let width = usize::try_from(dims[1]).unwrap();
                let next = |i: usize| match (i % width % 5, random.below(60)) {
                    (0, _) => 0.0,
                    (_, k @ ..8) => special[usize::try_from(k).unwrap()],
                    _ => random.number(9),
                };
                let values: Vec<Scalar> = (0..count).map(next).map(Scalar::Float).collect();
                array(ty(from), &dims, &values)
            };
            let text = format!(
                "ENTRY e {{ a = {from}[{rows},{terms}] parameter(0) b = {from}[{terms},{columns}] parameter(1)
                  ROOT r = {from}[{rows},{columns}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
            );
            engines_agree(&text, &[operand([rows, terms]), operand([terms, columns])]);
        }
    }
}

/// A vector times the dimension in the middle of an array: the elements of a sum are no neighbors,
/// nor are all results.
#[test]
fn products_with_a_vector_through_the_middle() {
    let sizes =
        [(256, 8, 2), (61, 4, 1), (40, 10, 3), (9, 40, 4), (300, 6, 1), (13, 6, 21), (5, 70, 8)];
    let texts = |ty: &str, (before, terms, after): (i64, i64, i64)| {
        [("v, m", 0, 1), ("m, v", 1, 0)].map(|(operands, a, b)| {
            format!(
                "ENTRY e {{ v = {ty}[{terms}] parameter(0) m = {ty}[{before},{terms},{after}] parameter(1)
                  ROOT r = {ty}[{before},{after}] dot({operands}), lhs_contracting_dims={{{a}}}, rhs_contracting_dims={{{b}}} }}"
            )
        })
    };
    for from in ["f32", "f64", "bf16", "f16", "c64", "c128"] {
        for (i, size) in (1..).zip(sizes) {
            let (before, terms, after) = size;
            let vector = cancelling(ty(from), &[terms], Side::Left, i);
            let rows = cancelling(ty(from), &[before, after, terms], Side::Right, i + 6);
            let [n, k] = [after, terms].map(|size| usize::try_from(size).unwrap());
            let wide = if ty(from).is_complex() { ElementType::C128 } else { ElementType::F64 };
            let turned = (0..rows.len()).map(|at| {
                let place = (at / (k * n) * n + at % n) * k + at / n % k;
                rows.get(place).convert(ty(from), wide)
            });
            let turned: Vec<Scalar> = turned.collect();
            let matrix = array(ty(from), &[before, terms, after], &turned);
            for text in texts(from, size) {
                engines_agree(&text, &[vector.clone(), matrix.clone()]);
            }
        }
    }
    for (ty, bound) in [("f32", 1e-6), ("f64", 1e-14), ("c64", 1e-6), ("s32", 0.0), ("s8", 0.0)] {
        for (before, terms, after) in sizes {
            let terms = terms + 1;
            for text in texts(ty, (before, terms, after)) {
                agree_within(&text, bound * f64::from(i32::try_from(terms).unwrap()));
            }
        }
    }
}

/// Batches, rows, columns and terms of small products, and of single sums: short ones, and one that
/// threads share.
const BATCHES: [[i64; 4]; 8] = [
    [5, 2, 2, 2],
    [19, 3, 1, 6],
    [33, 1, 1, 4],
    [16, 4, 5, 8],
    [40, 1, 9, 2],
    [1, 1, 1, 34],
    [3, 1, 1, 300],
    [1, 1, 1, 20_002],
];

fn batched(ty: &str, to: &str, [batches, rows, columns, terms]: [i64; 4], dim: i64) -> String {
    let rhs = if dim == 2 { format!("{columns},{terms}") } else { format!("{terms},{columns}") };
    format!(
        "ENTRY e {{ a = {ty}[{batches},{rows},{terms}] parameter(0) b = {ty}[{batches},{rhs}] parameter(1)
          ROOT r = {to}[{batches},{rows},{columns}] dot(a, b), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
            lhs_contracting_dims={{2}}, rhs_contracting_dims={{{dim}}} }}"
    )
}

#[test]
fn small_products_and_single_sums_that_cancel() {
    for from in ["f32", "f64", "bf16", "f16", "c64", "c128"] {
        let results = if ty(from).is_complex() { &["c64", "c128"][..] } else { &RESULTS };
        for (to, size) in results.iter().flat_map(|to| BATCHES.map(|size| (to, size))) {
            let [batches, rows, columns, terms] = size;
            for seed in [1, 2] {
                let lhs = cancelling(ty(from), &[batches, rows, terms], Side::Left, seed);
                let rhs = cancelling(ty(from), &[batches, columns, terms], Side::Right, seed + 6);
                engines_agree(&batched(from, to, size, 2), &[lhs, rhs]);
            }
        }
    }
}

/// Sums of zeros, infinities and NaN.
#[test]
fn small_products_of_special_values() {
    let special = [0.0, -0.0, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE, -1e-30, -1e300, 1.0];
    for from in ["f32", "f64", "bf16", "c64", "c128"] {
        let mut random = Random(3);
        for size in BATCHES.into_iter().chain([[2, 3, 20, 1]]) {
            let [batches, rows, columns, terms] = size;
            let mut operand = |dims: &[i64]| {
                let count = usize::try_from(dims.iter().product::<i64>()).unwrap();
                let mut next = || special[usize::try_from(random.below(8)).unwrap()];
                let values = (0..count).map(|_| match ty(from).is_complex() {
                    true => Scalar::Complex(next(), next()),
                    false => Scalar::Float(next()),
                });
                array(ty(from), dims, &values.collect::<Vec<_>>())
            };
            let arguments = [operand(&[batches, rows, terms]), operand(&[batches, columns, terms])];
            engines_agree(&batched(from, from, size, 2), &arguments);
        }
    }
}

#[test]
fn small_products_in_fast() {
    let bounds = [("f32", 1e-6), ("f64", 1e-14), ("bf16", 4e-3), ("f16", 1e-3), ("c64", 1e-6)];
    let bounds = bounds.into_iter().chain([("c128", 1e-14), ("s32", 0.0), ("s8", 0.0)]);
    for ((ty, bound), size) in bounds.flat_map(|x| BATCHES.map(|size| (x, size))) {
        let [.., terms] = size;
        let terms = f64::from(i32::try_from(terms).unwrap());
        for dim in [1, 2] {
            let text = batched(ty, ty, size, dim);
            agree_within(&text, bound * terms);
            let fast = compiled(&text, Engine::Fast);
            let parameters = fast.module().entry().program_shape().parameters;
            let arguments: Vec<Literal> =
                parameters.iter().map(|p| numbers(p.array().unwrap())).collect();
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| fast.execute(&arguments, &RunOptions::default()).unwrap())
            };
            assert_eq!(run(1).bytes(), run(3).bytes(), "{text}");
        }
    }
    // No terms, and no batches.
    for ty in ["f32", "c128", "s32"] {
        agree_within(&batched(ty, ty, [7, 2, 2, 0], 1), 0.0);
        agree_within(&batched(ty, ty, [0, 2, 2, 2], 1), 0.0);
    }
}

#[test]
fn convolutions_that_cancel() {
    for from in ["f32", "f64", "bf16"] {
        for (i, to) in (1..).zip(RESULTS) {
            for (batch, columns, terms) in [(2, 5, 8), (3, 1, 40), (4, 20, 66)] {
                let text = format!(
                    "ENTRY e {{ a = {from}[{batch},5,{terms}] parameter(0) b = {from}[{columns},3,{terms}] parameter(1)
                      ROOT r = {to}[{batch},5,{columns}] convolution(a, b), window={{size=3 pad=1_1}}, dim_labels=b0f_o0i->b0f }}"
                );
                for seed in [i, i + 1, i + 2] {
                    let lhs = cancelling(ty(from), &[batch, 5, terms], Side::Left, seed);
                    let rhs = cancelling(ty(from), &[columns, 3, terms], Side::Right, seed + 6);
                    engines_agree(&text, &[lhs, rhs]);
                }
            }
        }
    }
}

#[test]
fn scaled_dots_that_cancel() {
    for (from, scale) in [("f8e4m3fn", "f8e8m0fnu"), ("bf16", "bf16"), ("f32", "f32")] {
        for (i, to) in (1..).zip(RESULTS) {
            for (rows, columns, terms) in [(5, 7, 16), (16, 16, 64)] {
                let blocks = terms / 4;
                let text = format!(
                    "ENTRY e {{ a = {from}[{rows},{terms}] parameter(0) b = {from}[{columns},{terms}] parameter(1)
                      s = {scale}[{rows},{blocks}] parameter(2) t = {scale}[{columns},{blocks}] parameter(3)
                      ROOT r = {to}[{rows},{columns}] scaled-dot(a, b, s, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} }}"
                );
                for seed in [i, i + 1, i + 2] {
                    let arguments = [
                        cancelling(ty(from), &[rows, terms], Side::Left, seed),
                        cancelling(ty(from), &[columns, terms], Side::Right, seed + 6),
                        cancelling(ty(scale), &[rows, blocks], Side::Scale, seed + 9),
                        cancelling(ty(scale), &[columns, blocks], Side::Scale, seed + 12),
                    ];
                    engines_agree(&text, &arguments);
                }
            }
        }
    }
}

/// The sum is 17899.8, and f64 gives -8949.9 with a bound far beyond it.
#[test]
fn a_sum_below_the_error_of_its_terms() {
    let row = "{-9.223372036854776e+18,-2.7670116110564327e+19,-9.223372036854776e+18,-9.223372036854776e+18,-9.223372036854776e+18,-9.223372036854776e+18}";
    let column = "{-3213164281856.0,-9.703505682209226e-16,-1.1300910744448497e+34,3213164281856.0,9.703505682209226e-16,1.1300910744448497e+34}";
    let text = format!(
        "ENTRY e {{ a = f32[2,6] constant({{{row},{row}}}) b = f32[2,6] constant({{{column},{column}}})
          ROOT r = f32[2,2] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} }}"
    );
    engines_agree(&text, &[]);
}

/// Sums of zeros beside large elements, and of products that vanish, whose sum is not zero.
#[test]
fn sums_of_products_that_are_zero() {
    for ty in ["f32", "f64", "c128"] {
        for (rows, columns) in
            [("{0,3,0},{0,0,1e30}", "{7,0,0},{0,-0,5}"), ("{1e-30,0,1e-30}", "{1,0,0}")]
        {
            let count = rows.matches('{').count();
            engines_agree(
                &format!(
                    "ENTRY e {{ a = f64[{count},3] constant({{{rows}}}) b = f64[{count},3] constant({{{columns}}})
                      c = {ty}[{count},3] convert(a) d = {ty}[{count},3] convert(b)
                      ROOT r = {ty}[{count},{count}] dot(c, d), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} }}"
                ),
                &[],
            );
        }
    }
    for signs in ["1e-170,1e-170", "-1e-170,1e-170", "-1e-170,-1e-170"] {
        engines_agree(
            &format!(
                "ENTRY e {{ a = f64[2,2] constant({{{{{signs}}},{{{signs}}}}}) b = f64[2,2] constant({{{{1e-160,1e-161}},{{3e-154,1}}}})
                  ROOT r = f64[2,2] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}} }}"
            ),
            &[],
        );
    }
}

#[test]
fn booleans_of_sums_around_zero() {
    engines_agree(
        "ENTRY e { a = f32[2,3] constant({{1,1,-2},{1,1,-2}}) b = f32[3,2] constant({{1e8,0.1},{1,0.1},{50000000.5,0.1}})
          ROOT r = pred[2,2] dot(b, a), lhs_contracting_dims={0}, rhs_contracting_dims={1} }",
        &[],
    );
    engines_agree(
        "ENTRY e { a = c64[2,3] constant({{(1,1),(1,1),(-2,-2)},{(1,0),(1,0),(-2,0)}}) b = c64[3,2] constant({{(0.1,0),(0.1,0.1)},{(0.1,0),(0.1,0.1)},{(0.1,0),(0.1,0.1)}})
          ROOT r = pred[2,2] dot(b, a), lhs_contracting_dims={0}, rhs_contracting_dims={1} }",
        &[],
    );
}

#[test]
fn unsigned_integers_with_floats() {
    for to in ["f32", "f64", "bf16", "c64", "s64", "u64"] {
        for from in ["f32", "f64", "s8", "u64", "pred", "c64"] {
            let is_complex = [to, from].map(|name| ty(name).is_complex());
            if is_complex == [false, true] {
                continue;
            }
            let factors = match from {
                "pred" => "{{true,false}}",
                "c64" => "{{(1,0),(3,1)}}",
                _ => "{{1,3}}",
            };
            engines_agree(
                &format!(
                    "ENTRY e {{ a = u64[3,1] constant({{{{18446744073709551615}},{{9223372036854775808}},{{1}}}}) b = {from}[1,2] constant({factors})
                      ROOT r = {to}[3,2] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
                ),
                &[],
            );
        }
    }
}

const SPLIT: [&str; 4] = [
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_tf32_tf32_f32_x3",
];

/// Whether a sum has an infinity or NaN among its terms does not depend on its size, nor on other
/// rows.
#[test]
fn split_operands_beside_infinities() {
    for algorithm in SPLIT {
        engines_agree(
            &format!(
                "ENTRY e {{ a = f32[2,1] constant({{{{1.8428729675200069632e19}},{{inf}}}}) b = f32[1,2] constant({{{{1.8446744073709551616e19,1}}}})
                  ROOT r = f32[2,2] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, algorithm={algorithm} }}"
            ),
            &[],
        );
        for (to, seed) in ["f32", "bf16", "f64"].into_iter().flat_map(|to| [(to, 1), (to, 2)]) {
            let mut random = Random(seed);
            let mut operand = |rows: i64, terms: i64| {
                let values: Vec<Scalar> = (0..rows * terms)
                    .map(|_| {
                        Scalar::Float(match random.below(40) {
                            0 => f64::INFINITY,
                            1 => f64::NAN,
                            2 => 0.0,
                            3 => f64::from(f32::MAX),
                            _ => random.number(1) * 2f64.powi(62),
                        })
                    })
                    .collect();
                array(ElementType::F32, &[rows, terms], &values)
            };
            let arguments = [operand(12, 4), operand(9, 4)];
            let text = format!(
                "ENTRY e {{ a = f32[12,4] parameter(0) b = f32[9,4] parameter(1)
                  ROOT r = {to}[12,9] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}, algorithm={algorithm} }}"
            );
            engines_agree(&text, &arguments);
        }
    }
}

#[test]
fn windows_beyond_the_largest_integer() {
    let window = "window={size=1 stride=9223372036854775807 lhs_dilate=9223372036854775807}";
    engines_agree(
        &format!(
            "ENTRY e {{ a = f32[1,1,3] constant({{{{{{1,2,3}}}}}}) b = f32[1,1,1] constant({{{{{{10}}}}}})
              ROOT r = f32[1,1,3] convolution(a, b), {window}, dim_labels=bf0_io0->bf0 }}"
        ),
        &[],
    );
    engines_agree(
        &format!(
            "f {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }}
            ENTRY e {{ a = f32[3] constant({{1,2,3}}) z = f32[] constant(0)
              ROOT r = f32[3] reduce-window(a, z), {window}, to_apply=f }}"
        ),
        &[],
    );
}

/// Each of sixteen sums in f64 loses what 1023 terms of 2^-53 add to 1, which decides the rounding.
#[test]
fn fused_sums_of_long_runs() {
    let least = 2f32.powi(-53);
    let mut values = vec![-least; 16384];
    values[..16].fill(-1.0);
    values[16] = 2f32.powi(-40) - 2f32.powi(-20);
    let text = "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }
        ENTRY e { a = f32[1,16384] parameter(0) b = f32[1,16384] negate(a) z = f32[] constant(0)
          ROOT r = f32[1] reduce(b, z), dimensions={1}, to_apply=add }";
    engines_agree(text, &[Literal::from_slice(&[1, 16384], &values)]);
}

/// Products that underflow to 0 have a sign, in one product, in many, and in lines of a matrix.
#[test]
fn products_that_underflow_have_a_sign() {
    let few = "f64[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let many = "f64[9,2,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}";
    let lines = "f64[40] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let cases: [([&[i64]; 2], &str); 3] =
        [([&[2, 3], &[3, 4]], few), ([&[9, 2, 3], &[9, 3, 4]], many), ([&[40, 11], &[11]], lines)];
    for ([a, b], dot) in cases {
        let [p, q] = [a, b].map(|dims| ArrayShape::new(ElementType::F64, dims));
        let text =
            format!("ENTRY e {{ a = {p} parameter(0) b = {q} parameter(1) ROOT r = {dot} }}");
        let tiny = |dims: &[i64], seed| {
            let (count, mut random) = (dims.iter().product::<i64>(), Random(seed));
            let number = |_| Scalar::Float(random.number(3) * 1e-200);
            array(ElementType::F64, dims, &(0..count).map(number).collect::<Vec<_>>())
        };
        for seed in 0..9 {
            let arguments = [tiny(a, seed), tiny(b, seed + 100)];
            let [expected, found] = [Engine::Reference, Engine::Exact].map(|engine| {
                compiled(&text, engine).execute(&arguments, &RunOptions::default()).unwrap()
            });
            assert_eq!(expected.bytes(), found.bytes(), "{seed}: {dot}");
        }
    }
}

/// A transposition of a product is the product of the operands exchanged, where it is one.
#[test]
fn transpositions_of_products() {
    let dot = |types: [&str; 3], lhs: &str, rhs: &str, to: &str, attributes: &str, rest: &str| {
        let [l, r, t] = types;
        let text = format!(
            "ENTRY e {{ a = {l}[{lhs}] parameter(0) b = {r}[{rhs}] parameter(1) d = {t}[{to}] dot(a, b), {attributes} {rest} }}"
        );
        let arguments = [(l, lhs, 1), (r, rhs, 2)].map(|(name, dims, seed)| {
            let dims: Vec<i64> = dims.split(',').map(|d| d.parse().unwrap()).collect();
            let mut random = Random(seed);
            let count = dims.iter().product::<i64>();
            let number = |random: &mut Random| f64::from(random.below(7)) - 3.0;
            let values: Vec<Scalar> = (0..count)
                .map(|_| match ty(name).is_complex() {
                    true => Scalar::Complex(number(&mut random), number(&mut random)),
                    false => Scalar::Float(number(&mut random)),
                })
                .collect();
            array(ty(name), &dims, &values)
        });
        let [expected, exact, fast] =
            [Engine::Reference, Engine::Exact, Engine::Fast].map(|engine| {
                compiled(&text, engine).execute(&arguments, &RunOptions::default()).unwrap()
            });
        assert_eq!(exact, expected, "{text}");
        assert_eq!(fast, expected, "{text}");
        compiled(&text, Engine::Fast).plan().to_string().contains(" dot(")
    };
    let both = "lhs_contracting_dims={0}, rhs_contracting_dims={0}";
    for types in [["f32"; 3], ["f64"; 3], ["s32"; 3], ["c64"; 3], ["bf16", "f32", "f32"]] {
        let to = types[2];
        let turned = format!("ROOT t = {to}[7,40] transpose(d), dimensions={{1,0}}");
        assert!(!dot(types, "65,40", "65,7", "40,7", both, &turned));
        // Few columns, and a product that something else reads.
        let turned = format!("ROOT t = {to}[40,7] transpose(d), dimensions={{1,0}}");
        assert!(dot(types, "65,7", "65,40", "7,40", both, &turned));
        let twice = format!(
            "t = {to}[7,40] transpose(d), dimensions={{1,0}} ROOT u = ({to}[7,40], {to}[40,7]) tuple(t, d)"
        );
        assert!(dot(types, "65,40", "65,7", "40,7", both, &twice));
        let batched = "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={3}, rhs_contracting_dims={0}, operand_precision={highest,default}";
        for (dims, permutation, is_folded) in [
            ("3,6,5,8", "0,3,1,2", true),
            ("3,8,5,6", "0,2,1,3", false),
            ("3,6,8,5", "0,3,2,1", false),
            ("6,3,5,8", "3,0,1,2", false),
        ] {
            let turned =
                format!("ROOT t = {to}[{dims}] transpose(d), dimensions={{{permutation}}}");
            let is_left = dot(types, "3,5,8,9", "9,3,6", "3,5,8,6", batched, &turned);
            assert_eq!(is_left, !is_folded, "{permutation}");
        }
    }
}
