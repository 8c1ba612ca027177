//! Comparison of a result with the expected one, array by array.
//!
//! NaN equals NaN whatever its payload. Under a bound, infinities must be equal, -0 equals 0, and
//! all values below the smallest normal number of f32, bf16 and f64 are equal, because XLA:CPU
//! flushes denormals; such pairs are counted. In a bitwise comparison -0 differs from 0.
use crate::Tolerance;
use crate::bound::Bound;
use hlo::{ElementType, IndexSpace, Literal, Scalar, Shape};

/// The shape of the result is not the expected one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the result has shape {actual}, expected {expected}")]
pub struct ShapeMismatch {
    /// The value of the run.
    pub actual: Shape,
    /// The expected value.
    pub expected: Shape,
}

/// The differences between a result and the expected one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements whose error exceeds the bound.
    pub wrong: usize,
    /// Pairs of numbers below the smallest normal number that differ and count as equal.
    pub flushed: usize,
    /// The element with the largest error relative to its bound; none if all elements are equal.
    pub worst: Option<Worst>,
    /// The largest distance of two finite floats, in units in the last place.
    pub max_ulps: u64,
    /// The largest error in the array that is nearest to its bound. It is relative to the element
    /// or to the largest magnitude in the array, as the bound is.
    pub max_error: f64,
    /// The bound of that array.
    pub bound: f64,
    /// The devices whose results differ, in a run of several devices.
    pub devices_wrong: Vec<usize>,
}

/// An element that differs from the expected one.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// The device, in a run of several devices.
    pub device: Option<usize>,
    /// The array of the result, counting leaves of the tuple.
    pub leaf: usize,
    /// The index of the element.
    pub index: Vec<i64>,
    /// The type of the element.
    pub ty: ElementType,
    /// The value of the run.
    pub actual: Scalar,
    /// The expected value.
    pub expected: Scalar,
    /// The error divided by the bound: above 1 the element is wrong.
    pub share: f64,
}

impl Comparison {
    /// Returns whether every element is within its bound.
    pub fn agrees(&self) -> bool {
        self.wrong == 0
    }
}

/// Compares a result with the expected one.
///
/// ```
/// use conformance::{Tolerance, compare};
/// let a: hlo::Literal = "f32[2] {1, nan}".parse().unwrap();
/// let b: hlo::Literal = "f32[2] {1.5, nan}".parse().unwrap();
/// assert!(compare(&a, &a, &Tolerance::EXACT).unwrap().agrees());
/// let difference = compare(&a, &b, &Tolerance::EXACT).unwrap();
/// assert!(difference.to_string().starts_with("1 of 2 elements differ\nworst: result 0 at [0]: found f32[] 1, expected f32[] 1.5"));
/// ```
///
/// # Errors
/// If the shapes differ in anything but layout.
#[expect(clippy::result_large_err, reason = "called once a result")]
pub fn compare(
    actual: &Literal,
    expected: &Literal,
    tolerance: &Tolerance,
) -> Result<Comparison, ShapeMismatch> {
    if !actual.shape().compatible(&expected.shape()) {
        return Err(ShapeMismatch { actual: actual.shape(), expected: expected.shape() });
    }
    let mut result = Comparison::default();
    let leaves = actual.leaves().into_iter().zip(expected.leaves());
    for (leaf, (actual, expected)) in leaves.enumerate() {
        if let Some(shape) = expected.array_shape() {
            let (ty, bound) = (shape.ty, tolerance.leaf(leaf));
            Array { actual, expected, ty, leaf, bound, scale: scale(expected) }
                .compare(0..expected.len(), &mut result);
        }
    }
    Ok(result)
}

/// Compares some elements of an array, leaf `leaf` of a result.
pub(crate) fn compare_at(
    actual: &Literal,
    expected: &Literal,
    (leaf, bound): (usize, Bound),
    positions: impl Iterator<Item = usize>,
) -> Comparison {
    let mut result = Comparison::default();
    if let Some(shape) = expected.array_shape() {
        let array = Array { actual, expected, ty: shape.ty, leaf, bound, scale: scale(expected) };
        array.compare(positions, &mut result);
    }
    result
}

/// Returns the least and the greatest value of the parts of an element of a float or complex array
/// whose error is at most `times` its bound.
pub(crate) fn ends_at(expected: &Literal, bound: Bound, times: f64, at: usize) -> Vec<[f64; 2]> {
    let Some(ty) = expected.array_shape().map(|shape| shape.ty) else { return Vec::new() };
    let array = Array { actual: expected, expected, ty, leaf: 0, bound, scale: scale(expected) };
    let value = parts(expected.get(at));
    let (_, allowed, _) = array.allowed(value);
    let allowed = (times * allowed).min(f64::MAX);
    let ends = |&x: &f64| {
        if bound == Bound::Bits || !x.is_finite() {
            return [x, x];
        }
        let (mut lo, mut hi) = (x - allowed, x + allowed);
        if bound.flushes() && array.flushed(x, 0.0) {
            let largest = smallest_normal(ty).next_down();
            (lo, hi) = (lo.min(-largest), hi.max(largest));
        }
        let (lo, hi) = (lo.max(-f64::MAX), hi.min(f64::MAX));
        // -0 equals 0.
        [if lo == 0.0 { -0.0 } else { lo }, if hi == 0.0 { 0.0 } else { hi }]
    };
    value[..if ty.is_complex() { 2 } else { 1 }].iter().map(ends).collect()
}

/// Compares the result of each device with its expected result, or with the single expected result
/// of all devices.
///
/// # Errors
/// If the shapes differ; the message names the device.
pub fn compare_each(
    actual: &[Literal],
    expected: &[Literal],
    tolerance: &Tolerance,
) -> Result<Comparison, String> {
    if let ([actual], [expected]) = (actual, expected) {
        return compare(actual, expected, tolerance).map_err(|e| e.to_string());
    }
    let mut all = Comparison::default();
    for (device, actual) in actual.iter().enumerate() {
        let expected = if let [all] = expected { Some(all) } else { expected.get(device) };
        let expected =
            expected.ok_or_else(|| format!("there is no expected result for device {device}"))?;
        let one =
            compare(actual, expected, tolerance).map_err(|e| format!("device {device}: {e}"))?;
        all.add(one, device);
    }
    Ok(all)
}

impl Comparison {
    /// Adds the comparison of a device.
    fn add(&mut self, mut one: Self, device: usize) {
        self.devices_wrong.extend((one.wrong > 0).then_some(device));
        one.worst = one.worst.map(|worst| Worst { device: Some(device), ..worst });
        self.merge(one);
    }
    /// Adds the comparison of other values.
    pub(crate) fn merge(&mut self, one: Self) {
        self.elements += one.elements;
        self.wrong += one.wrong;
        self.flushed += one.flushed;
        self.max_ulps = self.max_ulps.max(one.max_ulps);
        self.nearest(one.max_error, one.bound);
        let share = |worst: &Option<Worst>| worst.as_ref().map_or(0.0, |worst| worst.share);
        if share(&one.worst) > share(&self.worst) {
            self.worst = one.worst;
        }
    }
    /// Keeps the error and the bound of the array that is nearest to its bound.
    fn nearest(&mut self, error: f64, bound: f64) {
        let share = |error: f64, bound: f64| if error > 0.0 { error / bound } else { 0.0 };
        let (new, old) = (share(error, bound), share(self.max_error, self.bound));
        if new > old || (new >= old && bound > self.bound) {
            (self.max_error, self.bound) = (error, bound);
        }
    }
}

/// Returns the largest finite magnitude of an array of floats.
fn scale(array: &Literal) -> f64 {
    let parts = (0..array.len()).flat_map(|i| parts(array.get(i)));
    parts.map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// Returns the real and the imaginary part; the latter is 0 for real types.
fn parts(x: Scalar) -> [f64; 2] {
    match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    }
}

struct Array<'a> {
    actual: &'a Literal,
    expected: &'a Literal,
    ty: ElementType,
    leaf: usize,
    bound: Bound,
    /// The largest finite magnitude, where the bound is relative to it.
    scale: f64,
}

/// The errors measured in one array.
#[derive(Default)]
struct Errors {
    max_error: f64,
    max_ulps: u64,
    flushed: usize,
}

impl Array<'_> {
    fn compare(&self, positions: impl Iterator<Item = usize>, into: &mut Comparison) {
        into.elements += self.expected.len();
        let floats = self.ty.is_float() || self.ty.is_complex();
        let mut errors = Errors::default();
        if self.actual.bytes() != self.expected.bytes() {
            for i in positions {
                let (actual, expected) = (self.actual.get(i), self.expected.get(i));
                let share = match floats {
                    true => self.float(actual, expected, &mut errors),
                    false if actual == expected => 0.0,
                    false => f64::INFINITY,
                };
                into.wrong += usize::from(share > 1.0);
                if share > into.worst.as_ref().map_or(0.0, |worst| worst.share) {
                    let dims = self.expected.array_shape().map(|s| s.dims.as_slice());
                    let index = dims.unwrap_or_default().index_of(i).to_vec();
                    let (leaf, ty) = (self.leaf, self.ty);
                    into.worst =
                        Some(Worst { device: None, leaf, index, ty, actual, expected, share });
                }
            }
        }
        into.flushed += errors.flushed;
        into.max_ulps = into.max_ulps.max(errors.max_ulps);
        let bound = if floats { self.bound.relative() } else { 0.0 };
        into.nearest(errors.max_error, bound);
    }

    /// Returns the error of a float divided by its bound.
    fn float(&self, actual: Scalar, expected: Scalar, errors: &mut Errors) -> f64 {
        let expected_parts = parts(expected);
        let (scale, allowed, most_ulps) = self.allowed(expected_parts);
        let mut share = 0.0f64;
        for (actual, expected) in parts(actual).into_iter().zip(expected_parts) {
            let same = if self.bound == Bound::Bits {
                actual.to_bits() == expected.to_bits()
            } else {
                // -0 equals 0.
                actual.partial_cmp(&expected) == Some(std::cmp::Ordering::Equal)
            };
            if same || (actual.is_nan() && expected.is_nan()) {
                continue;
            }
            if self.bound.flushes() && self.flushed(actual, expected) {
                errors.flushed += 1;
                continue;
            }
            let error = (actual - expected).abs();
            let distance = ulps(self.ty.component(), actual, expected);
            if error.is_finite() {
                errors.max_ulps = errors.max_ulps.max(distance);
            }
            if error.is_finite() && scale > 0.0 {
                errors.max_error = errors.max_error.max(error / scale);
            }
            let measured = error.is_finite() && allowed > 0.0;
            let own = if measured { error / allowed } else { f64::INFINITY };
            // The wider of both bounds counts; a difference that is allowed is one.
            let is_near = error.is_finite() && (1..=most_ulps).contains(&distance);
            share = share.max(if is_near { own.min(1.0) } else { own });
        }
        share
    }

    /// Returns the scale of the error of an element, its bound, and one in units in the last place.
    fn allowed(&self, expected: [f64; 2]) -> (f64, f64, u64) {
        let larger = expected[0].abs().max(expected[1].abs());
        let scale = match self.bound {
            // The scale of a complex number is its larger part. Denormals are spaced like the
            // smallest normal numbers.
            Bound::Element(_) => larger.max(smallest_normal(self.ty)),
            Bound::Stated { .. } => larger,
            Bound::Bits | Bound::Array(_) => self.scale,
        };
        let (absolute, most_ulps) = match self.bound {
            Bound::Stated { absolute, ulps, .. } => (absolute, ulps),
            Bound::Bits | Bound::Element(_) | Bound::Array(_) => (0.0, 0),
        };
        let finite = if scale.is_finite() { scale } else { 0.0 };
        (scale, absolute + self.bound.relative() * finite, most_ulps)
    }

    /// Returns whether XLA:CPU flushes both to 0: it computes in f32 and f64, whose denormals it
    /// flushes. The denormals of f16 are normal numbers of f32.
    fn flushed(&self, actual: f64, expected: f64) -> bool {
        let smallest = smallest_normal(self.ty);
        smallest <= f64::from(f32::MIN_POSITIVE)
            && actual.abs() < smallest
            && expected.abs() < smallest
    }
}

/// Returns the smallest positive normal number of a float or complex type, and 0 for other types.
pub(crate) fn smallest_normal(ty: ElementType) -> f64 {
    let format = ty.component().float_format();
    format.map_or(0.0, |format| f64::from(1 - format.bias).exp2())
}

/// Returns the distance in values of the type: 0 for -0 and 0, `u64::MAX` if one is NaN.
pub(crate) fn ulps(ty: ElementType, a: f64, b: f64) -> u64 {
    if a.is_nan() || b.is_nan() {
        return u64::MAX;
    }
    let rank = |x: f64| {
        let magnitude = Scalar::Float(x.abs()).to_bits(ty);
        let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    u64::try_from((rank(a) - rank(b)).unsigned_abs()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(actual: &str, expected: &str, bound: impl Into<Tolerance>) -> Comparison {
        compare(&actual.parse().unwrap(), &expected.parse().unwrap(), &bound.into()).unwrap()
    }
    /// 2^-20 of the largest magnitude.
    const LOOSE: Bound = Bound::Array(1.0 / 1_048_576.0);

    #[test]
    fn exact_results_are_compared_bitwise() {
        assert!(check("f32[2] {nan, inf}", "f32[2] {nan, inf}", Tolerance::EXACT).agrees());
        assert!(!check("f32[] -0", "f32[] 0", Tolerance::EXACT).agrees());
        let differs = check("s8[2,2] {{1, 2}, {3, 5}}", "s8[2,2] {{1, 2}, {3, 4}}", LOOSE);
        assert_eq!(differs.worst.unwrap().index, [1, 1]);
        assert_eq!(differs.wrong, 1);
    }

    #[test]
    fn the_error_of_several_operations_is_relative_to_the_array() {
        let near = check("f32[2] {1, 1048576.5}", "f32[2] {1.0625, 1048576}", LOOSE);
        assert!(near.agrees(), "{near:?}");
        assert_eq!((near.max_ulps, near.worst.unwrap().index), (1 << 19, vec![1]));
        let far = check("f32[2] {3, 1}", "f32[2] {1, 1}", LOOSE);
        assert_eq!((far.wrong, far.max_error), (1, 2.0));
    }

    #[test]
    fn the_error_of_one_operation_is_relative_to_the_element() {
        let bound = Bound::Element(1.0 / 1024.0);
        let small = check("f32[2] {1.125, 1e9}", "f32[2] {1, 1e9}", bound);
        assert_eq!((small.wrong, small.max_error, small.bound), (1, 0.125, 1.0 / 1024.0));
        assert!(check("c64[] (1, 1e-8)", "c64[] (1, 0)", bound).agrees());
        let denormal = Bound::Element(1.0 / 512.0);
        assert!(check("f16[] 1.0133e-6", "f16[] 9.5367e-7", denormal).agrees());
    }

    #[test]
    fn special_values_under_a_bound() {
        assert!(check("f32[2] {-0, nan}", "f32[2] {0, nan}", LOOSE).agrees());
        assert!(!check("f32[] inf", "f32[] 3e38", LOOSE).agrees());
        assert!(!check("f32[] inf", "f32[] -inf", LOOSE).agrees());
        assert!(!check("f32[] nan", "f32[] 1", LOOSE).agrees());
        let flushed = check("f32[] 1e-40", "f32[] 0", LOOSE);
        assert_eq!((flushed.wrong, flushed.flushed), (0, 1));
        assert!(!check("f16[] 5.96e-8", "f16[] 0", LOOSE).agrees());
    }

    #[test]
    fn stated_bounds_are_absolute_relative_or_distances() {
        let stated = |absolute, relative, ulps| Tolerance::stated(absolute, relative, ulps);
        assert!(check("f32[2] {1.01, 0.01}", "f32[2] {1, 0}", stated(0.02, 0.0, 0)).agrees());
        assert_eq!(check("f32[2] {1.01, 0.01}", "f32[2] {1, 0}", stated(0.0, 0.02, 0)).wrong, 1);
        assert!(check("f32[] 1.0000001", "f32[] 1", stated(0.0, 0.0, 1)).agrees());
        assert_eq!(check("f32[] 1.0000002", "f32[] 1", stated(0.0, 0.0, 1)).wrong, 1);
        // Denormals are numbers, -0 is 0, and an infinity is no large number.
        assert!(!check("f32[] 1e-40", "f32[] 0", stated(0.0, 0.1, 1)).agrees());
        assert!(check("f32[2] {-0, nan}", "f32[2] {0, nan}", stated(0.0, 0.0, 0)).agrees());
        assert!(!check("f32[] inf", "f32[] 3.4028235e38", stated(1e9, 1.0, 9)).agrees());
        assert!(!check("s32[] 3", "s32[] 2", stated(9.0, 9.0, 9)).agrees());
    }

    #[test]
    fn the_device_that_differs_is_named() {
        let list = |texts: &[&str]| texts.iter().map(|t| t.parse().unwrap()).collect::<Vec<_>>();
        let expected = list(&["s32[2] {1, 2}", "s32[2] {3, 4}", "s32[2] {5, 6}"]);
        let actual = list(&["s32[2] {1, 2}", "s32[2] {3, 5}", "s32[2] {0, 0}"]);
        let all = compare_each(&actual, &expected, &Tolerance::EXACT).unwrap();
        assert_eq!((all.elements, all.wrong, all.devices_wrong.as_slice()), (6, 3, &[1, 2][..]));
        let worst = all.worst.unwrap();
        assert_eq!((worst.device, worst.index), (Some(1), vec![1]));
        let error = compare_each(&actual[1..], &list(&["s32[] 1"]), &Tolerance::EXACT).unwrap_err();
        assert!(error.starts_with("device 0: the result has shape s32[2]"), "{error}");
    }

    #[test]
    fn a_different_shape_is_an_error() {
        let error =
            compare(&"f32[] 1".parse().unwrap(), &"f32[1] {1}".parse().unwrap(), &LOOSE.into());
        assert!(error.unwrap_err().to_string().contains("expected f32[1]"));
    }
}
