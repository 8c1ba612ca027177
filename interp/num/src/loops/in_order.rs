//! Folds of elements one after another, each with a rounding: of few results, which do not fill a
//! vector.
use super::complex::ComplexElement;
use super::native_types::with_type;
use crate::complex::Complex;
use bytemuck::Pod;
use hlo::ElementType;
use hlo::literal::Native;
use hlo::op::Binary;

/// A fold of elements, each the same distance behind the one before, into a value: all as bytes that
/// are aligned for their type.
pub type InOrderFn = fn(&[u8], usize, &mut [u8]);

/// Returns the fold by an op; `None` if there is none.
#[expect(clippy::wildcard_enum_match_arm, reason = "other ops are called")]
pub fn in_order_loop(op: Binary, ty: ElementType) -> Option<InOrderFn> {
    with_type!(ty, T => match op {
        Binary::Multiply => return Some(|x, step, to| fold::<T>(x, step, to, |a, b| a * b)),
        Binary::Subtract => return Some(|x, step, to| fold::<T>(x, step, to, |a, b| a - b)),
        Binary::Divide => return Some(|x, step, to| fold::<T>(x, step, to, |a, b| a / b)),
        _ => return None,
    }, [f32, f64]);
    with_type!(ty, T => match op {
        Binary::Add => {
            return Some(|x, step, to| fold::<T>(x, step, to, |a, b| [a[0] + b[0], a[1] + b[1]]));
        }
        Binary::Subtract => {
            return Some(|x, step, to| fold::<T>(x, step, to, |a, b| [a[0] - b[0], a[1] - b[1]]));
        }
        Binary::Multiply => return Some(|x, step, to| fold::<T>(x, step, to, T::product)),
        _ => return None,
    }, [[f32; 2], [f64; 2]]);
    None
}

fn fold<T: Pod>(elements: &[u8], step: usize, to: &mut [u8], function: impl Fn(T, T) -> T) {
    let elements: &[T] = bytemuck::cast_slice(elements);
    let [value] = bytemuck::cast_slice_mut::<u8, T>(to) else { return };
    *value = elements.iter().step_by(step).fold(*value, |value, &x| function(value, x));
}

/// A complex number that is multiplied.
trait Factor: ComplexElement {
    fn product(self, other: Self) -> Self {
        Self::of(Complex::mul(Self::TYPE, self.wide(), other.wide()))
    }
}
impl Factor for [f64; 2] {}
impl Factor for [f32; 2] {
    /// The sums of two exact products, rounded to f64 and then to f32: that differs from rounding
    /// once only halfway between two f32.
    fn product(self, other: Self) -> Self {
        /// The bits of an f64 beyond those of an f32, and those of a number halfway between two.
        const REST: u64 = (1 << 29) - 1;
        const HALF: u64 = 1 << 28;
        let ([a, b], [c, d]) = (self.map(f64::from), other.map(f64::from));
        let parts = [a * c - b * d, a * d + b * c];
        let is_known = |x: f64| {
            let is_normal = x.abs() >= f64::from(f32::MIN_POSITIVE) && x.is_finite();
            // Zeros are exact: so are the products, and the sum of others is not 0.
            x == 0.0 || is_normal && x.to_bits() & REST != HALF
        };
        if is_known(parts[0]) && is_known(parts[1]) {
            return parts.map(Self::part);
        }
        Self::of(Complex::mul(Self::TYPE, self.wide(), other.wide()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integers whose products are often halfway between two f32, small numbers, and special ones.
    #[test]
    fn products_of_c64_are_rounded_once() {
        let mut state = 5_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let integer = f64::from((state >> 18).cast_signed() - (1 << 13));
            <[f32; 2]>::part(match state % 61 {
                0 => f64::INFINITY,
                1 => f64::NAN,
                2..5 => -0.0,
                5..8 => integer * 2_f64.powi(-100),
                8 => integer * 2_f64.powi(110),
                _ => integer,
            })
        };
        for _ in 0..200_000 {
            let [a, b]: [[f32; 2]; 2] = std::array::from_fn(|_| [number(), number()]);
            let expected = <[f32; 2]>::of(Complex::mul(ElementType::C64, a.wide(), b.wide()));
            for (found, expected) in a.product(b).into_iter().zip(expected) {
                let is_same = found.to_bits() == expected.to_bits();
                assert!(is_same || found.is_nan() && expected.is_nan(), "{a:?} {b:?}");
            }
        }
    }
}
