//! `convert` between all pairs of types, and the bits of floats.
use crate::grid::{GRIDS, grid_of, same};
use hlo::{Class, ElementType as E, Scalar};
use std::cmp::Ordering;

/// A real value, exact; `None` for NaN.
#[derive(Clone, Copy, Debug)]
enum Exact {
    Whole(i128),
    Real(Option<f64>),
}

/// Returns the value of a code of a type that is not complex, from the definition of the type.
fn exact(ty: E, code: u64) -> Exact {
    let bits = ty.bits();
    match ty.class() {
        Class::Pred => Exact::Whole(i128::from(code & 1)),
        Class::Unsigned => Exact::Whole(i128::from(code)),
        Class::Signed => {
            let top = 1u64 << (bits - 1);
            let negative = code & top != 0;
            Exact::Whole(i128::from(code) - if negative { 1i128 << bits } else { 0 })
        }
        Class::Float if ty == E::F64 => {
            let x = f64::from_bits(code);
            Exact::Real((!x.is_nan()).then_some(x))
        }
        Class::Float => Exact::Real(grid_of(ty).value(code)),
        Class::Complex => unreachable!("only real types"),
    }
}

/// `x` rounded to a float type by search; None for NaN.
fn rounded(x: Exact, ty: E) -> Option<f64> {
    match (x, ty) {
        (Exact::Real(x), E::F64) => x,
        // The compiler's own conversion: rounds to nearest even.
        (Exact::Whole(x), E::F64) => Some(x as f64),
        (Exact::Real(None), _) => grid_of(ty).nan(),
        (Exact::Real(Some(x)), _) => grid_of(ty).round(x),
        (Exact::Whole(x), _) => grid_of(ty).nearest(x < 0, |size| compare_whole(x.abs(), size)),
    }
}

/// Compares an integer with a float of up to 26 bits, exactly.
fn compare_whole(x: i128, size: f64) -> Ordering {
    if size >= 2f64.powi(100) {
        return Ordering::Less;
    }
    x.cmp(&(size.floor() as i128)).then(0.0.partial_cmp(&size.fract()).unwrap())
}

/// `x` as an integer of a type: integers wrap, floats are truncated and saturate, NaN is 0.
fn whole(x: Exact, ty: E) -> i128 {
    let (bits, signed) = (ty.bits(), ty.class() == Class::Signed);
    let least = if signed { -(1i128 << (bits - 1)) } else { 0 };
    let most = least + (1i128 << bits) - 1;
    match x {
        Exact::Whole(x) => (x - least).rem_euclid(1i128 << bits) + least,
        Exact::Real(None) => 0,
        Exact::Real(Some(x)) => (x.trunc().clamp(-1e30, 1e30) as i128).clamp(least, most),
    }
}

fn check(from: E, code: u64, to: E) {
    let x = Scalar::from_bits(from, u128::from(code));
    let value = exact(from, code);
    let got = x.convert(from, to);
    let of = || format!("{from} {code:#x} ({value:?}) to {to} gives {got:?}");
    match (got, to.class()) {
        (Scalar::Pred(got), Class::Pred) => {
            let expected = match value {
                Exact::Whole(x) => x != 0,
                Exact::Real(x) => x.is_none_or(|x| x != 0.0),
            };
            assert_eq!(got, expected, "{}", of());
        }
        (Scalar::Signed(got), Class::Signed) => {
            assert_eq!(i128::from(got), whole(value, to), "{}", of());
        }
        (Scalar::Unsigned(got), Class::Unsigned) => {
            assert_eq!(i128::from(got), whole(value, to), "{}", of());
        }
        (Scalar::Float(got), Class::Float) => assert!(same(got, rounded(value, to)), "{}", of()),
        (Scalar::Complex(re, im), Class::Complex) => {
            assert!(same(re, rounded(value, to.component())), "{}", of());
            assert!(same(im, Some(0.0)), "{}", of());
        }
        _ => panic!("{}", of()),
    }
}

fn real_types() -> impl Iterator<Item = E> {
    E::ALL.iter().copied().filter(|ty| !ty.is_complex())
}

#[test]
fn from_every_value_of_up_to_16_bits() {
    for from in real_types().filter(|ty| ty.bits() <= 16) {
        // A pred is stored in a byte, but is 0 or 1.
        let bits = if from == E::Pred { 1 } else { from.bits() };
        for &to in E::ALL {
            for code in 0..1u64 << bits {
                check(from, code, to);
            }
        }
    }
}

#[test]
fn every_code_of_up_to_16_bits_is_its_value() {
    for grid in GRIDS.iter().filter(|g| g.ty.bits() <= 16) {
        for code in 0..1u128 << grid.ty.bits() {
            let Scalar::Float(x) = Scalar::from_bits(grid.ty, code) else { panic!("a float") };
            let expected = grid.value(code as u64);
            assert!(same(x, expected), "{} {code:#x}: {x:e} is not {expected:?}", grid.ty);
            if expected.is_some() {
                assert_eq!(Scalar::Float(x).to_bits(grid.ty), code, "{}", grid.ty);
            }
        }
    }
}

/// Every midpoint at which rounding to the type changes, with the f64 just before and after it.
///
/// Rounding is monotonic, so these determine the conversion of f64 to a narrow type.
#[test]
fn f64_around_every_midpoint() {
    for grid in GRIDS.iter().filter(|g| g.ty.bits() <= 16) {
        for index in 0..=grid.largest() {
            for x in [grid.magnitude(index), grid.midpoint(index)] {
                for x in [x.next_down(), x, x.next_up()] {
                    check(E::F64, x.to_bits(), grid.ty);
                    check(E::F64, (-x).to_bits(), grid.ty);
                }
            }
        }
    }
    let f32s = grid_of(E::F32);
    for index in (0..f32s.largest()).step_by(65_537).chain([0, 1, 2, f32s.largest()]) {
        let x = f32s.midpoint(index);
        for x in [x.next_down(), x, x.next_up()] {
            check(E::F64, x.to_bits(), E::F32);
            check(E::F64, x.to_bits(), E::C64);
        }
    }
}

/// The same for f32, whose nearest neighbors of a midpoint are further away.
#[test]
fn f32_around_every_midpoint() {
    for grid in GRIDS.iter().filter(|g| g.ty.bits() <= 16) {
        for index in 0..=grid.largest() {
            let x = grid.midpoint(index) as f32;
            for x in [x.next_down(), x, x.next_up()] {
                check(E::F32, u64::from(x.to_bits()), grid.ty);
                check(E::F32, u64::from((-x).to_bits()), grid.ty);
            }
        }
    }
}

/// Integers around every midpoint of every float type, in every type that represents them.
#[test]
fn whole_numbers_around_every_midpoint() {
    let wide = [E::S32, E::S64, E::U32, E::U64];
    let around = |x: i128, to: E| {
        for x in [x - 1, x, x + 1] {
            for from in wide {
                for x in [x, -x] {
                    // The bits of the value wrapped to the type: values that do not fit are just
                    // other values.
                    check(from, (x as u64) & (u64::MAX >> (64 - from.bits())), to);
                }
            }
        }
    };
    for grid in GRIDS.iter().filter(|g| g.ty.bits() <= 16) {
        for index in 0..=grid.largest() {
            let x = grid.midpoint(index);
            if (1.0..2f64.powi(64)).contains(&x) {
                around(x as i128, grid.ty);
            }
        }
    }
    // Ties of f32 and f64: one bit more than fits, at every size, with even and odd mantissas.
    for (to, bits) in [(E::F32, 24), (E::F64, 53), (E::C64, 24), (E::C128, 53)] {
        for size in bits..64 {
            for mantissa in [1i128 << bits | 1, 1 << bits | 3, (2 << bits) - 1, (2 << bits) - 3] {
                around(mantissa << (size - bits), to);
            }
        }
    }
}

/// Floats around the ends of every integer type and around every power of two.
#[test]
fn floats_around_the_ends_of_integers() {
    for power in 0..=70 {
        for x in [2f64.powi(power), 2f64.powi(power) - 0.5, 2f64.powi(power) - 1.0] {
            for x in [x.next_down(), x, x.next_up()] {
                for to in real_types() {
                    for x in [x, -x] {
                        check(E::F64, x.to_bits(), to);
                        check(E::F32, u64::from((x as f32).to_bits()), to);
                    }
                }
            }
        }
    }
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -5e-324, f64::MAX] {
        for to in real_types() {
            check(E::F64, x.to_bits(), to);
        }
    }
}

#[test]
fn complex_to_others() {
    let z = Scalar::Complex(-2.75, 300.0);
    for &to in E::ALL {
        let got = z.convert(E::C64, to);
        let expected = match to {
            E::C64 | E::C128 => z,
            E::Pred => Scalar::Pred(true),
            real => Scalar::Float(-2.75).convert(E::F32, real),
        };
        let nan = |x: Scalar| matches!(x, Scalar::Float(x) if x.is_nan());
        assert!(got == expected || (nan(got) && nan(expected)), "{to}: {got:?}");
    }
    let imaginary = Scalar::Complex(0.0, 1e-300);
    assert_eq!(imaginary.convert(E::C128, E::Pred), Scalar::Pred(false));
    // Each part is rounded once.
    let tie = 1.0 + 2f64.powi(-24);
    let z = Scalar::Complex(tie, -tie.next_up()).convert(E::C128, E::C64);
    assert_eq!(z, Scalar::Complex(1.0, -1.0 - 2f64.powi(-23)));
}

/// Signaling NaNs and payloads are kept in a `Scalar`, and quieted by conversions.
#[test]
fn bits_of_nan() {
    for ty in [E::F16, E::Bf16, E::F8E5M2, E::F8E4M3, E::F8E3M4] {
        for code in 0..1u128 << ty.bits() {
            assert_eq!(Scalar::from_bits(ty, code).to_bits(ty), code, "{ty} {code:#x}");
        }
    }
    let signaling = 0xff80_0001_u32;
    let x = Scalar::read(E::F32, &signaling.to_le_bytes());
    let mut bytes = [0; 4];
    x.write(E::F32, &mut bytes);
    assert_eq!(u32::from_le_bytes(bytes), signaling);
    assert_eq!(x.round_to(E::F32).to_bits(E::F32), u128::from(signaling));
    assert_eq!(x.convert(E::F32, E::F64).to_bits(E::F64) >> 51, 0x1fff);
    assert_eq!(x.convert(E::F32, E::Bf16).to_bits(E::Bf16), 0xffc0);
    let z = Scalar::from_bits(E::C64, u128::from(signaling) << 32);
    assert_eq!(z.to_bits(E::C64), u128::from(signaling) << 32);
}
