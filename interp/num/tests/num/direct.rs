//! The functions for typed loops return the same bits as those on elements in wide form.
use crate::oracle::Chance;
use hlo::op::{Binary, Unary};
use hlo::{ElementType as E, Scalar};

/// Returns uniformly distributed bit patterns, and numbers of moderate size.
fn patterns(count: usize) -> impl Iterator<Item = u64> {
    let mut chance = Chance(2);
    (0..count).map(move |i| if i % 3 == 0 { chance.float(-4, 5).to_bits() } else { chance.bits() })
}
fn f32_of(pattern: u64) -> f32 {
    let x = f64::from_bits(pattern);
    if x.abs() > 1e-3 && x.abs() < 1e3 { x as f32 } else { f32::from_bits(pattern as u32) }
}
/// Returns the bits, the same for all NaN: their bits are not defined.
fn bits_of(x: Scalar, ty: E) -> u128 {
    let Scalar::Float(wide) = x else { panic!("a float") };
    if wide.is_nan() { u128::MAX } else { x.to_bits(ty) }
}

#[test]
fn one_operand() {
    for &op in Unary::ALL {
        let is_float = op.types().contains(E::F32) && op != Unary::IsFinite;
        assert_eq!(num::unary_f32(op).is_some(), is_float, "{op:?}");
        assert_eq!(num::unary_f64(op).is_some(), is_float, "{op:?}");
        let (Some(single), Some(double)) = (num::unary_f32(op), num::unary_f64(op)) else {
            continue;
        };
        for pattern in patterns(20_000) {
            let x = f32_of(pattern);
            let (wide, direct) = (num::unary(op, E::F32, Scalar::Float(x.into())), single(x));
            let direct = Scalar::Float(direct.into());
            assert_eq!(bits_of(wide, E::F32), bits_of(direct, E::F32), "{op:?} {x:e}");
            let x = f64::from_bits(pattern);
            let (wide, direct) = (num::unary(op, E::F64, Scalar::Float(x)), double(x));
            let direct = Scalar::Float(direct);
            assert_eq!(bits_of(wide, E::F64), bits_of(direct, E::F64), "{op:?} {x:e}");
        }
    }
}

#[test]
fn two_operands() {
    for &op in Binary::ALL {
        let is_float = op.types().contains(E::F32) && op != Binary::Complex;
        assert_eq!(num::binary_f32(op).is_some(), is_float, "{op:?}");
        assert_eq!(num::binary_f64(op).is_some(), is_float, "{op:?}");
        let (Some(single), Some(double)) = (num::binary_f32(op), num::binary_f64(op)) else {
            continue;
        };
        let patterns: Vec<u64> = patterns(20_000).collect();
        for pair in patterns.windows(2) {
            let (x, y) = (f32_of(pair[0]), f32_of(pair[1]));
            let wide = num::binary(op, E::F32, Scalar::Float(x.into()), Scalar::Float(y.into()));
            let direct = Scalar::Float(single(x, y).into());
            assert_eq!(bits_of(wide, E::F32), bits_of(direct, E::F32), "{op:?} {x:e} {y:e}");
            let (x, y) = (f64::from_bits(pair[0]), f64::from_bits(pair[1]));
            let wide = num::binary(op, E::F64, Scalar::Float(x), Scalar::Float(y));
            let direct = Scalar::Float(double(x, y));
            assert_eq!(bits_of(wide, E::F64), bits_of(direct, E::F64), "{op:?} {x:e} {y:e}");
        }
    }
}
