//! Tiles, vectors and single sums against exact sums.
use super::error_bound::exact_sum;
use super::*;
use hlo::ElementType as E;
use hlo::op::value::DotAlgorithm;
use hlo::{Array, ArrayShape};
use num::Arithmetic;

/// Elements of many magnitudes, the same in each run.
fn filled(ty: E, count: i64, seed: u32) -> Array {
    let mut state = seed;
    let mut array = Array::zeros(ArrayShape::new(ty, [count].as_slice()));
    num::array::fill(&mut array, |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = f64::from(state).mul_add(1e-9, -2.1) * f64::from(1 << (state >> 28));
        let x =
            if ty.is_complex() { hlo::Scalar::Complex(x, 1.0 / x) } else { hlo::Scalar::Float(x) };
        let from = if ty.is_complex() { E::C128 } else { E::F64 };
        x.convert(from, ty)
    });
    array
}

fn of_lists<'a>(lhs: Lists<'a>, rhs: Lists<'a>) -> Sums<'a> {
    Sums::Matrix(Contraction { rows: lhs.indices.len(), lhs: LhsOffsets::Sums(lhs), rhs })
}

#[test]
fn tiles_and_single_sums_give_the_same_bits() {
    const ROWS: usize = 37;
    const COLUMNS: usize = 70;
    const TERMS: usize = 19;
    let size = |a: usize, b: usize| i64::try_from(a * b).unwrap();
    let columns: Vec<usize> = (0..COLUMNS).collect();
    let terms: Vec<usize> = (0..TERMS).map(|k| k * COLUMNS).collect();
    for (ty, to) in [
        (E::F32, E::F32),
        (E::F32, E::F64),
        (E::Bf16, E::Bf16),
        (E::F64, E::F64),
        (E::S32, E::S32),
        (E::S8, E::S64),
        (E::U8, E::U16),
        (E::C64, E::C64),
        (E::C128, E::C128),
    ] {
        let left = filled(ty, size(ROWS, TERMS), 1);
        let right = filled(ty, size(TERMS, COLUMNS), 2);
        let row = |row: usize, runs: &mut Vec<TermRun>| {
            let terms = (0..TERMS).filter(|k| !(row + k).is_multiple_of(5));
            runs.extend(terms.map(|term| TermRun { term, lhs: row * TERMS + term, count: 1 }));
        };
        let has_padding = true;
        let runs = |_: usize, r: usize, runs: &mut Vec<TermRun>| row(r, runs);
        let rhs = Lists::new(&[0], &columns, &terms);
        let lhs = LhsOffsets::Runs { step: 1, has_padding, of: &runs };
        let all = Sums::Matrix(Contraction { rows: ROWS, lhs, rhs });
        let algorithm = ResolvedDotAlgorithm::of(DotAlgorithm::Unset, Arithmetic::Exact);
        let width = to.storage_bytes();
        let mut tiled = vec![0; ROWS * COLUMNS * width];
        algorithm.contract(all, (&left, &right), to, &mut tiled);
        for r in 0..ROWS {
            for c in 0..COLUMNS {
                let runs = |_: usize, _: usize, runs: &mut Vec<TermRun>| row(r, runs);
                let lhs = LhsOffsets::Runs { step: 1, has_padding, of: &runs };
                let rhs = Lists { indices: columns[c..=c].into(), ..rhs };
                let one = Sums::Matrix(Contraction { rows: 1, lhs, rhs });
                let mut single = vec![0; width];
                algorithm.contract(one, (&left, &right), to, &mut single);
                let at = (r * COLUMNS + c) * width;
                assert_eq!(tiled[at..at + width], single, "{ty} {r} {c}");
            }
        }
    }
}

/// Values that a sum is easy or hard to round for.
#[derive(Debug, Clone, Copy)]
enum Values {
    Random,
    /// Sums are multiples of an eighth, many of them zero or ties.
    Small,
    /// The second half of the terms nearly cancels the first.
    Cancelling,
    /// Some infinities and NaN.
    Special,
}

/// Rows of values.
fn values(kind: Values, rows: usize, terms: usize, is_left: bool) -> Vec<f32> {
    let mut state = if is_left { 7 } else { 11 };
    let mut all = vec![0.0_f32; rows * terms];
    for at in 0..all.len() {
        state = u32::wrapping_add(u32::wrapping_mul(state, 1_664_525), 1_013_904_223);
        let unit = f64::from(state).mul_add(2.0_f64.powi(-31), -1.0);
        let (row, term) = (at / terms, at % terms);
        all[at] = operands::single(match kind {
            Values::Random => unit * f64::from(1 << (state >> 28)),
            Values::Small => (unit * 4.0).round() / 8.0,
            Values::Cancelling if term < terms.div_ceil(2) => unit,
            Values::Cancelling => {
                let other = f64::from(all[row * terms + term % terms.div_ceil(2)]);
                if is_left { -other } else { other * (1.0 + f64::EPSILON * f64::from(1 << 30)) }
            }
            Values::Special if state % 997 == 0 => [f64::INFINITY, f64::NAN][row % 2],
            Values::Special => unit,
        });
    }
    all
}

/// The elements of rows with the terms inside or outside, and the offsets of rows and of terms.
fn lay_out(
    x: &[f32],
    (count, terms): (usize, usize),
    is_inside: bool,
) -> (Vec<f32>, Vec<usize>, Vec<usize>) {
    let place = |i: usize, k: usize| if is_inside { i * terms + k } else { k * count + i };
    let mut elements = vec![0.0; x.len()];
    for (i, row) in x.chunks(terms).enumerate() {
        row.iter().enumerate().for_each(|(k, &x)| elements[place(i, k)] = x);
    }
    let indices = (0..count).map(|i| place(i, 0)).collect();
    (elements, indices, (0..terms).map(|k| place(0, k)).collect())
}

#[test]
fn every_order_of_operands_gives_the_rounded_exact_sum() {
    let kinds = [Values::Random, Values::Small, Values::Cancelling, Values::Special];
    let sizes = [
        (9, 50, 300),
        (70, 17, 40),
        (1, 60, 290),
        (45, 1, 290),
        (45, 1, 37),
        (1, 32, 100),
        (1, 8, 8),
        (3, 3, 600),
        (2, 30, 1),
    ];
    for (kind, (rows, columns, terms)) in
        kinds.into_iter().flat_map(|kind| sizes.map(|size| (kind, size)))
    {
        let left = values(kind, rows, terms, true);
        let right = values(kind, columns, terms, false);
        for order in 0..4 {
            let (lhs, lhs_rows, lhs_terms) = lay_out(&left, (rows, terms), order & 1 == 0);
            let (rhs, rhs_columns, rhs_terms) = lay_out(&right, (columns, terms), order & 2 == 0);
            let lhs_lists = Lists::new(&[0], &lhs_rows, &lhs_terms);
            let rhs_lists = Lists::new(&[0], &rhs_columns, &rhs_terms);
            let plan = of_lists(lhs_lists, rhs_lists);
            for to in [E::F32, E::Bf16, E::F16, E::S32] {
                let rounding = Rounding::new(E::F32, E::F32, None, to);
                let pair = Operands::F64Accumulator((&lhs).into(), (&rhs).into());
                let mut out = vec![0; rows * columns * to.storage_bytes()];
                contract_into(plan, &pair, rounding, &mut out);
                for (i, found) in out.chunks(to.storage_bytes()).enumerate() {
                    let (row, column) = (i / columns, i % columns);
                    let products = left[row * terms..].iter().zip(&right[column * terms..]);
                    let products = products.take(terms).map(|(&a, &b)| (a.into(), b.into()));
                    let mut expected = vec![0; found.len()];
                    rounding.write(exact_sum(products, to), &mut expected);
                    let [found, expected] = [found, &expected].map(|x| hlo::Scalar::read(to, x));
                    let is_nan = |x: hlo::Scalar| x.as_f64().is_nan();
                    let is_same = found == expected || is_nan(found) && is_nan(expected);
                    assert!(
                        is_same,
                        "{kind:?} {order} {to} {row} {column}: {found:?}, not {expected:?}"
                    );
                }
            }
        }
    }
}

/// The products of a row and a column, and the distance that their sum in f32 may have from the
/// exact one.
fn sum_and_error(row: &[f32], column: &[f32]) -> (f64, f64) {
    let products = || row.iter().zip(column).map(|(&a, &b)| f64::from(a) * f64::from(b));
    let count = f64::from(u32::try_from(row.len()).unwrap());
    let magnitude: f64 = products().map(f64::abs).sum();
    (products().sum(), (count + 2.0) * magnitude * f64::from(f32::EPSILON))
}

#[test]
fn sums_in_the_own_type_are_near_the_exact_ones_for_any_number_of_threads() {
    let kinds = [Values::Random, Values::Cancelling, Values::Special];
    let sizes = [(9, 50, 300), (530, 112, 40), (130, 400, 270), (3, 3, 600), (40, 30, 1)];
    for (kind, (rows, columns, terms)) in
        kinds.into_iter().flat_map(|kind| sizes.map(|size| (kind, size)))
    {
        let half = |x: Vec<f32>| x.into_iter().map(|x| bf16::from_f32(x).to_f32()).collect();
        let left: Vec<f32> = half(values(kind, rows, terms, true));
        let right: Vec<f32> = half(values(kind, columns, terms, false));
        for order in 0..4 {
            let (lhs, lhs_rows, lhs_terms) = lay_out(&left, (rows, terms), order & 1 == 0);
            let (rhs, rhs_columns, rhs_terms) = lay_out(&right, (columns, terms), order & 2 == 0);
            let lhs_lists = Lists::new(&[0], &lhs_rows, &lhs_terms);
            let rhs_lists = Lists::new(&[0], &rhs_columns, &rhs_terms);
            let plan = of_lists(lhs_lists, rhs_lists);
            let rounding = Rounding::new(E::F32, E::F32, None, E::F32);
            let narrow = |x: &[f32]| x.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>();
            let run = |pair: Operands<'_>, threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut out = vec![0.0_f32; rows * columns];
                let slots = bytemuck::cast_slice_mut(&mut out);
                pool.install(|| contract_into(plan, &pair, rounding, slots));
                out
            };
            let sums = run(Operands::Single((&lhs).into(), (&rhs).into()), 1);
            for (i, &found) in sums.iter().enumerate() {
                let (row, column) = (&left[i / columns * terms..], &right[i % columns * terms..]);
                let (sum, error) = sum_and_error(&row[..terms], &column[..terms]);
                let found = f64::from(found);
                let is_near = (found - sum).abs() <= error
                    || found.is_nan() && sum.is_nan()
                    || !sum.is_finite() && found.total_cmp(&sum).is_eq();
                assert!(is_near, "{kind:?} {order} {i}: {found}, not {sum} within {error}");
            }
            let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let shared = run(Operands::Single((&lhs).into(), (&rhs).into()), 2);
            assert_eq!(bits(&shared), bits(&sums), "{kind:?} {order}");
            // The numbers are those of bf16: their products are the same.
            for threads in [1, 3] {
                let pair = Operands::Bf16(narrow(&lhs).into(), narrow(&rhs).into());
                assert_eq!(bits(&run(pair, threads)), bits(&sums), "{kind:?} {order}");
            }
        }
    }
}

#[test]
fn narrow_integers_wrap_as_wide_ones() {
    let values = |count: i64, seed: i64| -> Vec<i64> {
        (0..count)
            .map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 7)
            .collect()
    };
    let (rows, columns, terms) = (13, 100, 270);
    let (lhs, rhs) = (values(13 * 270, 1), values(270 * 100, 5));
    let rhs_columns: Vec<usize> = (0..columns).collect();
    let rhs_terms: Vec<usize> = (0..terms).map(|k| k * columns).collect();
    let lhs_rows: Vec<usize> = (0..rows).map(|row| row * terms).collect();
    let lhs_terms: Vec<usize> = (0..terms).collect();
    let lhs_lists = Lists::new(&[0], &lhs_rows, &lhs_terms);
    let rhs_lists = Lists::new(&[0], &rhs_columns, &rhs_terms);
    let plan = of_lists(lhs_lists, rhs_lists);
    for to in [E::S32, E::U16, E::S4] {
        let numbers = [&lhs, &rhs].map(|x| LosslessElements::Integers(x.clone(), E::S64));
        let [a, b] = numbers;
        let rounding = Rounding::new(E::S64, E::S64, None, to);
        let narrow = Operands::new(a, b, rounding, Arithmetic::Exact);
        assert!(matches!(narrow, Operands::NarrowIntegers(..)));
        let wide = Operands::Integers(lhs.clone(), rhs.clone());
        let [narrow, wide] = [narrow, wide].map(|pair| {
            let mut out = vec![0; rows * columns * to.storage_bytes()];
            contract_into(plan, &pair, rounding, &mut out);
            out
        });
        assert_eq!(narrow, wide, "{to}");
    }
}

#[test]
fn sums_of_one_term_are_products() {
    let columns: Vec<usize> = (0..20).collect();
    let lhs = Lists::new(&[0, 3], &[2, 0, 1], &[0]);
    let rhs = Lists::new(&[0, 20], &columns, &[0]);
    for ty in [E::F32, E::F64] {
        let (mut left, right) = (filled(ty, 6, 3), filled(ty, 40, 4));
        left.set(0, hlo::Scalar::Float(-0.0));
        left.set(4, hlo::Scalar::Float(f64::NAN));
        let number = |array: &Array, at: usize| array.get(at).as_f64();
        for arithmetic in [Arithmetic::Exact, Arithmetic::Fast] {
            let mut products = Array::zeros(ArrayShape::new(ty, [120].as_slice()));
            let algorithm = ResolvedDotAlgorithm::of(DotAlgorithm::Unset, arithmetic);
            let pair = (&left, &right);
            algorithm.contract(of_lists(lhs, rhs), pair, ty, products.bytes_mut());
            for i in 0..120 {
                let a = number(&left, lhs.batches[i / 60] + lhs.indices[i / 20 % 3]);
                let product = a * number(&right, rhs.batches[i / 60] + i % 20) + 0.0;
                let expected = hlo::Scalar::Float(product).round_to(ty).to_bits(ty);
                assert_eq!(products.get(i).to_bits(ty), expected, "{ty} {arithmetic:?} {i}");
            }
        }
    }
}
