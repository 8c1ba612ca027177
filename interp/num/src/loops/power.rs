//! Powers with one exponent for all elements.
use super::formula::{Formula, of};
use super::vector::decided;
use super::{VectorLoop, each};
use crate::float_functions::single;
use bytemuck::Pod;

/// An exponent, and the loop of its powers.
type Exponent = (f64, VectorLoop);

/// Returns the loop of `power` of floats, given the one for all exponents.
pub(super) fn power_loop<F: Pod + Into<f64>>(
    general: VectorLoop,
    some: Vec<Exponent>,
) -> VectorLoop {
    let run = move |operands: &[&[u8]], result: &mut [u8]| {
        let exponent = match *bytemuck::cast_slice::<u8, F>(operands[1]) {
            [y] if operands[0].len() == result.len() => Some(y.into()),
            _ => None,
        };
        match some.iter().find(|(other, _)| exponent == Some(*other)) {
            Some((_, function)) => function(&operands[..1], result),
            None => general(operands, result),
        }
    };
    VectorLoop { takes_scalars: true, ..VectorLoop::new(run) }
}

/// Returns the number whose square root is the power of 1/2: that of -0 is 0, and that of the
/// negative infinity is infinite.
macro_rules! radicand {
    ($x:expr) => {
        if $x.is_infinite() { $x.abs() } else { $x + 0.0 }
    };
}

/// Returns loops of powers that are rounded once, of all numbers, infinities and zeros.
pub(super) fn f64_exponents() -> Vec<Exponent> {
    vec![
        (2.0, each(|[x]: [f64; 1]| x * x)),
        (-1.0, each(|[x]: [f64; 1]| 1.0 / x)),
        (0.5, each(|[x]: [f64; 1]| radicand!(x).sqrt())),
    ]
}
/// As [`f64_exponents`].
pub(super) fn f32_exponents() -> Vec<Exponent> {
    vec![
        (2.0, each(|[x]: [f32; 1]| x * x)),
        (-1.0, each(|[x]: [f32; 1]| 1.0 / x)),
        (0.5, each(|[x]: [f32; 1]| radicand!(x).sqrt())),
        (3.0, of::<1, Cube>()),
        (-0.5, of::<1, InverseRoot>()),
    ]
}

macro_rules! formulas {
    ($($name:ident $exponent:literal |$x:ident| $formula:expr;)*) => {$(
        struct $name;
        impl Formula<1> for $name {
            type Of = f32;
            type Result = f32;
            #[inline(always)]
            fn formula([x]: [f32; 1]) -> (f32, u32) {
                let $x = f64::from(x);
                decided($formula)
            }
            fn definition([x]: [f32; 1]) -> f32 {
                single::pow(x, $exponent)
            }
        }
    )*};
}
formulas! {
    Cube 3.0 |x| x * x * x;
    InverseRoot -0.5 |x| 1.0 / radicand!(x).sqrt();
}
