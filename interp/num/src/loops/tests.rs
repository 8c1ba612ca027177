//! Loops give the bits of the definitions, element by element.
use super::*;
use crate::Arithmetic;
use crate::{Direction, Order};
use hlo::op::{Binary, Unary};
use hlo::{ElementType as E, Scalar};
use rayon::prelude::*;
use std::fmt::Display;

/// Elements near the limits of every type, and others.
fn edges(ty: E) -> Vec<Scalar> {
    let bits = ty.bits();
    let mut codes: Vec<u128> = vec![0x7fc0_0000, 0x3f80_0000, 0x7ff8 << 48, 0x3ff0 << 48, 0x3c00];
    for exponent in 0..bits {
        let power = 1_u128 << exponent;
        codes.extend([
            power - 1,
            power,
            power + 1,
            power.wrapping_neg(),
            (power - 1) ^ 1 << (bits - 1),
        ]);
    }
    let mut state = 1_u128;
    codes.extend(
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(0x2d99_787d_f9a5_1b59_4c95_7f2d_5851_f42d).wrapping_add(1);
            state >> (128 - bits)
        })
        .take(70),
    );
    if ty.is_float() {
        codes.extend((-60..60).map(|i| Scalar::Float(f64::from(i) * 0.25).to_bits(ty)));
    }
    let mask = u128::MAX >> (128 - bits);
    codes.iter().map(|code| Scalar::from_bits(ty, code & mask)).collect()
}
fn bytes(ty: E, elements: &[Scalar]) -> Vec<u128> {
    let mut words = vec![0; (elements.len() * ty.storage_bytes()).div_ceil(16)];
    let all: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    for (to, x) in all.chunks_exact_mut(ty.storage_bytes()).zip(elements) {
        x.write(ty, to);
    }
    words
}
/// Runs a loop over operands, of the types at their side.
fn run(function: &VectorLoop, operands: &[(E, &[Scalar])], to: E) -> Vec<Scalar> {
    let count = operands.iter().map(|(_, x)| x.len()).max().unwrap();
    let memory: Vec<Vec<u128>> = operands.iter().map(|(ty, x)| bytes(*ty, x)).collect();
    let operands: Vec<&[u8]> = memory
        .iter()
        .zip(operands)
        .map(|(words, (ty, x))| &bytemuck::cast_slice(words)[..x.len() * ty.storage_bytes()])
        .collect();
    let size = count * to.storage_bytes();
    let mut result = vec![0_u128; size.div_ceil(16)];
    let result: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut result)[..size];
    function(&operands, result);
    result.chunks_exact(to.storage_bytes()).map(|bytes| Scalar::read(to, bytes)).collect()
}
fn same(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => {
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
        }
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => {
            same(Scalar::Float(a), Scalar::Float(c)) && same(Scalar::Float(b), Scalar::Float(d))
        }
        _ => a == b,
    }
}
/// Compares the results of a loop with its definition, element by element. An operand of one element
/// has it for all.
fn check<const N: usize>(
    of: impl Display,
    function: &VectorLoop,
    operands: [(E, &[Scalar]); N],
    to: E,
    definition: impl Fn([Scalar; N]) -> Scalar,
) {
    let count = operands.map(|(_, x)| x.len()).into_iter().max().unwrap();
    for (i, result) in run(function, &operands, to).into_iter().enumerate() {
        let x = operands.map(|(_, x)| if x.len() == count { x[i] } else { x[0] });
        let expected = definition(x);
        assert!(same(result, expected), "{of} {x:?}: {result:?}, not {expected:?}");
    }
}
/// Returns whether these are the same number, or both none.
fn same_single(x: f32, y: f32) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}
/// Returns random words.
fn random() -> impl FnMut() -> u64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state
    }
}
/// All elements of a type of at most 16 bits, or those near its limits; of complex numbers, of all
/// pairs of some parts.
fn elements_of(ty: E) -> Vec<Scalar> {
    match (ty.is_complex(), ty.bits()) {
        (false, 0..=16) => (0..1 << ty.bits()).map(|code| Scalar::from_bits(ty, code)).collect(),
        (false, _) => edges(ty),
        (true, _) => {
            let special = [0.0, 1.0, 0.5, 3.0, 1e-3, 80.0, 100.0, 1e3, 1e-42, 3e38, f64::INFINITY];
            let special = special.into_iter().chain([f64::NAN]).flat_map(|x| [x, -x]);
            let special: Vec<f64> =
                special.map(|x| Scalar::Float(x).round_to(ty.component()).as_f64()).collect();
            let mut all: Vec<Scalar> = special
                .iter()
                .flat_map(|&re| special.iter().map(move |&im| Scalar::Complex(re, im)))
                .collect();
            all.extend(edges(ty));
            let mut next = random();
            let mut part =
                || f64::from(i32::try_from(next() >> 40).unwrap() - (1 << 23)) * 2.0_f64.powi(-21);
            all.extend((0..3000).map(|_| Scalar::Complex(part(), part())));
            all
        }
    }
}
/// The type of the results of an op.
fn result_of(op: hlo::Opcode, of: E) -> E {
    use hlo::Opcode::{Abs, Complex, Imag, IsFinite, Real};
    if op == IsFinite {
        E::Pred
    } else if [Abs, Imag, Real].contains(&op) {
        of.component()
    } else if op == Complex {
        if of == E::F64 { E::C128 } else { E::C64 }
    } else {
        of
    }
}
/// All pairs of two lists.
fn pairs(x: &[Scalar]) -> (Vec<Scalar>, Vec<Scalar>) {
    x.iter().flat_map(|&a| x.iter().map(move |&b| (a, b))).unzip()
}

#[test]
fn one_operand() {
    for &ty in E::ALL {
        let x = elements_of(ty);
        for &op in Unary::ALL {
            let Some(function) = unary_loop(op, ty, Arithmetic::Exact) else { continue };
            let (to, of) = (result_of(op.opcode(), ty), format!("{op:?} {ty}"));
            check(of, &function, [(ty, &x)], to, |[x]| crate::unary(op, ty, x));
        }
    }
}

#[test]
fn two_operands() {
    for &ty in E::ALL {
        let (a, b) = pairs(&if ty.bits() < 8 { elements_of(ty) } else { edges(ty) });
        for &op in Binary::ALL {
            let Some(function) = binary_loop(op, ty, Arithmetic::Exact) else { continue };
            let (to, of) = (result_of(op.opcode(), ty), format!("{op:?} {ty}"));
            let operands = [(ty, &*a), (ty, &*b)];
            check(of, &function, operands, to, |[a, b]| crate::binary(op, ty, a, b));
        }
    }
}

/// One element for all, of either operand or of both; arrays of no element and of few.
#[test]
fn one_element_for_all() {
    for &ty in E::ALL {
        let x = elements_of(ty);
        let few: Vec<Scalar> = x.iter().step_by(x.len() / 61 + 1).copied().collect();
        let exponents = [2.0, -1.0, 0.5, 3.0, -0.5, 1.0, 0.0, 0.3];
        let exponents = exponents.map(Scalar::Float).into_iter().filter(|_| ty.is_float());
        let ones: Vec<Scalar> = exponents.chain(few.iter().step_by(5).copied()).collect();
        for &op in Binary::ALL {
            let Some(function) =
                binary_loop(op, ty, Arithmetic::Exact).filter(|function| function.takes_scalars)
            else {
                continue;
            };
            let to = result_of(op.opcode(), ty);
            for (&one, count) in ones.iter().zip([0, 1, 3, 7, 40].into_iter().cycle()) {
                let one = one.round_to(ty);
                let all = if op == Binary::Power { &x[..] } else { &few[..count.min(few.len())] };
                let check = |operands: [&[Scalar]; 2]| {
                    let (of, operands) = (format!("{op:?} {ty}"), operands.map(|x| (ty, x)));
                    check(of, &function, operands, to, |[a, b]| crate::binary(op, ty, a, b));
                };
                if !all.is_empty() {
                    check([&[one], all]);
                    check([all, &[one]]);
                }
                check([&[one], &[one]]);
            }
            assert_eq!(run(&function, &[(ty, &[]), (ty, &[])], to), []);
        }
    }
}

#[test]
fn formats_of_fewer_bits() {
    for &ty in E::ALL.iter().filter(|ty| ty.is_float()) {
        let x = elements_of(ty);
        for (exponent, mantissa) in
            (1..=12).flat_map(|e| [0, 1, 3, 7, 10, 23, 52, 60].map(|m| (e, m)))
        {
            let function = reduce_precision_loop(ty, exponent, mantissa);
            check(format!("{ty} {exponent} {mantissa}"), &function, [(ty, &x)], ty, |[x]| {
                crate::reduce_precision(ty, exponent, mantissa, x)
            });
        }
    }
}

/// Random numbers of all sizes, of both parts.
#[test]
fn functions_of_many_complex_numbers() {
    let mut words = random();
    let mut next = || words() >> 32;
    let mut number = |scale: u64| {
        let mut part = || match scale % 3 {
            0 => u128::from(next()),
            1 => Scalar::Float(
                f64::from(u32::try_from(next() >> 8).unwrap()) * 2.0_f64.powi(-22) - 2.0,
            )
            .to_bits(E::F32),
            _ => Scalar::Float(f64::from(u32::try_from(next() >> 24).unwrap()) * 0.25 - 32.0)
                .to_bits(E::F32),
        };
        Scalar::from_bits(E::C64, part() | part() << 32)
    };
    let x: Vec<Scalar> = (0..30_000).map(&mut number).collect();
    let y: Vec<Scalar> = (0..30_000).map(&mut number).collect();
    for &op in Unary::ALL {
        let Some(function) = unary_loop(op, E::C64, Arithmetic::Exact) else { continue };
        let (to, of) = (result_of(op.opcode(), E::C64), format!("{op:?}"));
        check(of, &function, [(E::C64, &x)], to, |[x]| crate::unary(op, E::C64, x));
    }
    for (ty, op) in [E::C64, E::C128].into_iter().flat_map(|ty| {
        [Binary::Multiply, Binary::Divide, Binary::Add, Binary::Maximum, Binary::Power]
            .map(|op| (ty, op))
    }) {
        let function = binary_loop(op, ty, Arithmetic::Exact).unwrap();
        let (of, operands) = (format!("{op:?}"), [(ty, &*x), (ty, &*y)]);
        check(of, &function, operands, ty, |[x, y]| crate::binary(op, ty, x, y));
    }
}

/// The products of `fast` are within sqrt(5) units of roundoff of the absolute value, and those of
/// the definition where that is not finite.
#[test]
fn complex_products_in_the_type_of_the_parts() {
    for (ty, unit) in [(E::C64, 2.0_f64.powi(-24)), (E::C128, 2.0_f64.powi(-53))] {
        let (a, b) = pairs(&edges(ty));
        let function = binary_loop(Binary::Multiply, ty, Arithmetic::Fast).unwrap();
        let results = run(&function, &[(ty, &a), (ty, &b)], ty);
        let mut count = 0;
        for ((result, &a), &b) in results.into_iter().zip(&a).zip(&b) {
            let expected = crate::binary(Binary::Multiply, ty, a, b);
            let (Scalar::Complex(re, im), Scalar::Complex(x, y)) = (result, expected) else {
                panic!()
            };
            let is_near = (re - x).hypot(im - y) <= 2.3 * unit * x.hypot(y) + 4.0 * smallest(ty);
            count += usize::from(is_near);
            assert!(
                is_near || same(result, expected),
                "{ty} {a:?} {b:?}: {result:?}, not {expected:?}"
            );
        }
        assert!(count > 100);
    }
}
fn smallest(of: E) -> f64 {
    if of == E::C64 { f32::from_bits(1).into() } else { f64::from_bits(1) }
}

#[test]
fn comparison_and_clamp() {
    use Direction::{Eq, Ge, Gt, Le, Lt, Ne};
    for &ty in E::ALL {
        let (a, b) = pairs(&edges(ty));
        let orders: &[Order] = match ty.class() {
            hlo::Class::Pred | hlo::Class::Unsigned => &[Order::Unsigned],
            hlo::Class::Signed => &[Order::Signed],
            hlo::Class::Float => &[Order::Float, Order::TotalOrder],
            hlo::Class::Complex => &[Order::Float],
        };
        for (&order, direction) in
            orders.iter().flat_map(|order| [Eq, Ge, Gt, Le, Lt, Ne].map(|to| (order, to)))
        {
            let function = compare_loop(direction, order, ty);
            let (of, operands) = (format!("{direction:?} {order:?} {ty}"), [(ty, &*a), (ty, &*b)]);
            check(of, &function, operands, E::Pred, |[a, b]| {
                Scalar::Pred(crate::compare(direction, order, ty, a, b))
            });
        }
        let Some(function) = clamp_loop(ty) else { continue };
        let mut c = a.clone();
        c.rotate_left(77);
        let operands = [(ty, &*a), (ty, &*b), (ty, &*c)];
        check(ty, &function, operands, ty, |[a, b, c]| crate::clamp(ty, a, b, c));
    }
}

#[test]
fn conversion() {
    for &from in E::ALL {
        let x = elements_of(from);
        for &to in E::ALL {
            let Some(function) = convert_loop(from, to) else { continue };
            let of = format!("{from} {to}");
            check(of, &function, [(from, &x)], to, |[x]| x.convert(from, to));
        }
    }
}

#[test]
fn selection() {
    let chosen: Vec<Scalar> = (0..100).map(|i| Scalar::Pred(i % 3 == 0)).collect();
    for ty in [E::S8, E::Bf16, E::U32, E::F64, E::C128] {
        let (a, b) = (&edges(ty)[..100], &edges(ty)[10..110]);
        let function = select_loop(ty.storage_bytes());
        let results = run(&function, &[(E::Pred, &chosen), (ty, a), (ty, b)], ty);
        for (i, result) in results.into_iter().enumerate() {
            let expected = if i % 3 == 0 { a[i] } else { b[i] };
            assert_eq!(result.to_bits(ty), expected.to_bits(ty), "{ty} {i}");
        }
    }
}

/// Compares the loops of all functions of one f32 with their definitions, for every `step`th of all
/// f32.
fn compare_on_f32(step: usize) {
    for &op in Unary::ALL {
        let (Some(function), Some(single)) =
            (unary_loop(op, E::F32, Arithmetic::Exact), crate::unary_f32(op))
        else {
            continue;
        };
        let mut count = 0_u64;
        let mut codes = (0..=u32::MAX).step_by(step);
        loop {
            let x: Vec<f32> = codes.by_ref().take(1 << 12).map(f32::from_bits).collect();
            if x.is_empty() {
                break;
            }
            let mut y = vec![0_f32; x.len()];
            function(&[bytemuck::cast_slice(&x)], bytemuck::cast_slice_mut(&mut y));
            for (&x, y) in x.iter().zip(y) {
                let expected = single(x);
                assert!(same_single(y, expected), "{op:?} {x:e}: {y:e}, not {expected:e}");
                count += 1;
            }
        }
        assert_eq!(count, (1_u64 << 32).div_ceil(u64::try_from(step).unwrap()));
    }
}
#[test]
fn functions_of_f32() {
    compare_on_f32(70_001);
}
/// The proof of the bounds of the formulas.
#[test]
#[ignore = "takes minutes even in a release build"]
fn functions_of_all_f32() {
    compare_on_f32(1);
}

/// Returns the position of a number among all f32.
fn order(x: f32) -> i64 {
    let bits = i64::from(x.to_bits() & 0x7fff_ffff);
    if x.is_sign_negative() { -bits } else { bits }
}
/// Compares the formulas of `fast` with the definitions, for every `step`th of all f32, and prints
/// the largest distance of each. The error is at most half a unit more than the distance from the
/// correctly rounded result.
fn measure_on_f32(step: usize) {
    for &op in Unary::ALL {
        let (Some(function), Some(single)) = (table::fast_unary(op, E::F32), crate::unary_f32(op))
        else {
            continue;
        };
        let blocks = u32::try_from((1_u64 << 20).div_ceil(u64::try_from(step).unwrap())).unwrap();
        let distance = |block: u32| {
            let first = block << 12;
            let x: Vec<f32> = (0..1 << 12).map(|i| f32::from_bits(first + i)).collect();
            let mut y = vec![0_f32; x.len()];
            function(&[bytemuck::cast_slice(&x)], bytemuck::cast_slice_mut(&mut y));
            let distance = |(&x, &y): (&f32, &f32)| {
                let expected = single(x);
                assert_eq!(y.is_nan(), expected.is_nan(), "{op:?} {x:e}: {y:e}, not {expected:e}");
                let is_signed = y.is_sign_negative() == expected.is_sign_negative();
                assert!(is_signed || y.is_nan(), "{op:?} {x:e}: {y:e}, not {expected:e}");
                let distance = if y.is_nan() { 0 } else { (order(y) - order(expected)).abs() };
                (distance, x.to_bits())
            };
            x.iter().zip(&y).map(distance).max().unwrap()
        };
        let firsts = (0..blocks).map(|block| block.wrapping_mul(u32::try_from(step).unwrap()));
        // -0 and its neighbors are among them.
        let firsts: Vec<u32> = firsts.chain([1 << 19]).collect();
        let (most, at) = firsts.into_par_iter().map(distance).max().unwrap();
        let hlo::op::Accuracy::Ulp(limit) = hlo::Op::Unary(op).opcode().accuracy() else {
            panic!("{op:?} has one result")
        };
        assert!(most < i64::from(limit), "{op:?}: {most} at {:e}", f32::from_bits(at));
    }
}
#[test]
fn approximations_are_within_the_accuracy() {
    measure_on_f32(1_001);
}
/// The measurement in docs/numerics.md.
#[test]
#[ignore = "takes minutes even in a release build"]
fn approximations_of_all_f32() {
    measure_on_f32(1);
}

/// Functions of two f32, with small integers, halves and numbers near 1 among the operands.
#[test]
fn functions_of_two_f32() {
    let mut words = random();
    let mut next = || u32::try_from(words() >> 32).unwrap();
    let mut number = || match next() % 4 {
        0 => f32::from_bits(next()),
        1 => f32::from_bits(0x3f80_0000_u32.wrapping_add(next() >> 8).wrapping_sub(1 << 23)),
        2 => f32::from(u8::try_from(next() >> 24).unwrap()) * 0.5 - 64.0,
        _ => f32::from_bits(next() & 0x83ff_ffff | 0x3e00_0000),
    };
    let (a, b): (Vec<f32>, Vec<f32>) = (0..300_000).map(|_| (number(), number())).unzip();
    let mut y = vec![0_f32; a.len()];
    for op in [Binary::Atan2, Binary::Power] {
        let (function, single) =
            (binary_loop(op, E::F32, Arithmetic::Exact).unwrap(), crate::binary_f32(op).unwrap());
        function(
            &[bytemuck::cast_slice(&a), bytemuck::cast_slice(&b)],
            bytemuck::cast_slice_mut(&mut y),
        );
        for ((&a, &b), &y) in a.iter().zip(&b).zip(&y) {
            let expected = single(a, b);
            assert!(same_single(y, expected), "{op:?} {a:e} {b:e}: {y:e}, not {expected:e}");
        }
    }
}

/// Two operations in one loop, with single elements and arrays as operands, give the bits of two
/// loops.
#[test]
fn chains_of_two_operations() {
    let numbers: Vec<f32> = edges(E::F32).iter().map(|x| single_of(*x)).collect();
    let arrays: [Vec<f32>; 3] = [7, 11, 13]
        .map(|step| (0..5 * numbers.len()).map(|i| numbers[i * step % numbers.len()]).collect());
    let shorts = [
        (Short::Add, Binary::Add),
        (Short::Subtract, Binary::Subtract),
        (Short::Multiply, Binary::Multiply),
    ];
    let run = |function: &VectorLoop, operands: &[&[f32]]| -> Vec<f32> {
        let operands: Vec<&[u8]> = operands.iter().map(|x| bytemuck::cast_slice(x)).collect();
        let mut result = vec![0_f32; arrays[0].len()];
        function(&operands, bytemuck::cast_slice_mut(&mut result));
        result
    };
    let binary = |op| binary_loop(op, E::F32, Arithmetic::Exact).unwrap();
    for ((first, first_op), ones) in
        shorts.into_iter().flat_map(|first| (0..8).map(move |ones| (first, ones)))
    {
        let [a, b, c] = std::array::from_fn(|k| match ones >> k & 1 {
            0 => arrays[k].as_slice(),
            _ => &arrays[k][5..6],
        });
        let value = run(&binary(first_op), &[a, b]);
        let check = |then, operands: &[&[f32]], expected: Vec<f32>| {
            for (x, y) in run(&chain_loop(first, then), operands).into_iter().zip(expected) {
                assert!(same_single(x, y), "{first:?} {then:?} {ones:03b}: {x:e}, not {y:e}");
            }
        };
        for (second, op) in shorts {
            check(second.after(0), &[a, b, c], run(&binary(op), &[&value, c]));
            check(second.after(1), &[a, b, c], run(&binary(op), &[c, &value]));
        }
        check(Then::Square, &[a, b], run(&binary(Binary::Multiply), &[&value, &value]));
    }
}
fn single_of(x: Scalar) -> f32 {
    let mut bytes = [0; 4];
    x.write(E::F32, &mut bytes);
    f32::from_le_bytes(bytes)
}

#[test]
fn rows_are_folded_in_any_order() {
    let ops = [
        Binary::Add,
        Binary::Multiply,
        Binary::Maximum,
        Binary::Minimum,
        Binary::And,
        Binary::Or,
        Binary::Xor,
    ];
    let mut loops = 0;
    for &ty in E::ALL {
        let elements: Vec<Scalar> = edges(ty).into_iter().cycle().take(1500).collect();
        let memory = bytes(ty, &elements);
        let memory: &[u8] = bytemuck::cast_slice(&memory);
        let width = ty.storage_bytes();
        for op in ops.into_iter().filter(|op| op.types().contains(ty)) {
            let Some(function) = rows_loop(op, ty) else { continue };
            loops += 1;
            // Products of floats are rounded, in another order.
            if op == Binary::Multiply && ty.is_float() {
                continue;
            }
            for inner in (1..80).chain([100, 127, 128, 200, 300, 750]) {
                let count = elements.len() / inner;
                let first = elements[7];
                let expected = elements[..count * inner]
                    .chunks(inner)
                    .map(|row| row.iter().fold(first, |all, &x| crate::binary(op, ty, all, x)));
                let mut to = vec![0_u128; (count * width).div_ceil(16)];
                let to = &mut bytemuck::cast_slice_mut(&mut to)[..count * width];
                let first = &memory[7 * width..8 * width];
                function(&memory[..count * inner * width], inner, Some(first), to);
                for (bytes, expected) in to.chunks_exact(width).zip(expected) {
                    let found = Scalar::read(ty, bytes);
                    assert!(
                        same(found, expected),
                        "{op:?} of {inner} {ty}: {found:?}, not {expected:?}"
                    );
                }
            }
        }
    }
    assert_eq!(loops, 8 * 7 + 4 * 2 + 2 + 7);
}
