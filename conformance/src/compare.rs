//! Compares a result with the one that is wanted, array by array.
//!
//! NaN equals NaN whatever its payload. Under a bound, infinities must be the same, -0 equals 0, and (a deviation of
//! XLA:CPU, which flushes denormals) all values below the smallest normal number of f32, bf16 or f64 are alike; such
//! pairs are counted. Where every bit counts, -0 is not 0.
use crate::Tolerance;
use crate::bound::Bound;
use hlo::{ElementType, Literal, Scalar, Shape};

/// The result has another shape than the one wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the result has shape {got}, wanted {wanted}")]
pub struct ShapeMismatch {
    /// What the run gave.
    pub got: Shape,
    /// What was wanted.
    pub wanted: Shape,
}

/// How a result compares with the one wanted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements that differ by more than is allowed.
    pub wrong: usize,
    /// Numbers that differ below the smallest normal number, and so count as equal.
    pub flushed: usize,
    /// The element that comes nearest to its bound, or exceeds it most; none if all are equal.
    pub worst: Option<Worst>,
    /// Largest distance of two floats, counted in values of their type that lie between.
    pub max_ulps: u64,
    /// Largest error of a float in the array that comes nearest to its bound, relative to the element or to the largest
    /// magnitude in the array, as the bound is.
    pub max_error: f64,
    /// The error allowed in that array.
    pub bound: f64,
    /// The devices whose results differ, if there are several.
    pub devices_wrong: Vec<usize>,
}

/// An element that is not as wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// Whose result it is in, if there are several devices.
    pub device: Option<usize>,
    /// Which array of the result, counting leaves of the tuple.
    pub leaf: usize,
    /// Its index.
    pub index: Vec<usize>,
    /// Its type.
    pub ty: ElementType,
    /// What the run gave.
    pub got: Scalar,
    /// What was wanted.
    pub wanted: Scalar,
    /// The error as a share of what is allowed: above 1 it is wrong.
    pub share: f64,
}

impl Comparison {
    /// Whether every element is as wanted, within the bound.
    pub fn agrees(&self) -> bool {
        self.wrong == 0
    }
}

/// Compares a result with the one wanted.
///
/// ```
/// use conformance::{Tolerance, compare};
/// let a: hlo::Literal = "f32[2] {1, nan}".parse().unwrap();
/// assert!(compare(&a, &a, &Tolerance::EXACT).unwrap().agrees());
/// ```
///
/// # Errors
/// If the shapes differ in anything but layout.
#[expect(clippy::result_large_err, reason = "called once a result")]
pub fn compare(
    got: &Literal,
    wanted: &Literal,
    tolerance: &Tolerance,
) -> Result<Comparison, ShapeMismatch> {
    if !got.shape().compatible(&wanted.shape()) {
        return Err(ShapeMismatch { got: got.shape(), wanted: wanted.shape() });
    }
    let mut result = Comparison::default();
    let leaves = got.leaves().into_iter().zip(wanted.leaves());
    for (leaf, (got, wanted)) in leaves.enumerate() {
        if let Some(shape) = wanted.array_shape() {
            let (ty, bound) = (shape.ty, tolerance.leaf(leaf));
            Array { got, wanted, ty, leaf, bound, scale: scale(wanted) }.compare(&mut result);
        }
    }
    Ok(result)
}

/// Compares the results of all devices, each with the one wanted of it, or with that of all if there is one only.
///
/// # Errors
/// If the shapes differ, and of which device.
pub fn compare_each(
    got: &[Literal],
    wanted: &[Literal],
    tolerance: &Tolerance,
) -> Result<Comparison, String> {
    if let ([got], [wanted]) = (got, wanted) {
        return compare(got, wanted, tolerance).map_err(|e| e.to_string());
    }
    let mut all = Comparison::default();
    for (device, got) in got.iter().enumerate() {
        let wanted = if let [all] = wanted { Some(all) } else { wanted.get(device) };
        let wanted = wanted.ok_or_else(|| format!("no result of device {device} is given"))?;
        let one = compare(got, wanted, tolerance).map_err(|e| format!("device {device}: {e}"))?;
        all.add(one, device);
    }
    Ok(all)
}

impl Comparison {
    /// Adds what was found of a device.
    fn add(&mut self, one: Self, device: usize) {
        self.elements += one.elements;
        self.wrong += one.wrong;
        self.flushed += one.flushed;
        self.devices_wrong.extend((one.wrong > 0).then_some(device));
        self.max_ulps = self.max_ulps.max(one.max_ulps);
        self.nearest(one.max_error, one.bound);
        let share = |worst: &Option<Worst>| worst.as_ref().map_or(0.0, |worst| worst.share);
        if share(&one.worst) > share(&self.worst) {
            self.worst = one.worst.map(|worst| Worst { device: Some(device), ..worst });
        }
    }
    /// Of several arrays the one nearest to its bound is told of.
    fn nearest(&mut self, error: f64, bound: f64) {
        let share = |error: f64, bound: f64| if error > 0.0 { error / bound } else { 0.0 };
        let (new, old) = (share(error, bound), share(self.max_error, self.bound));
        if new > old || (new >= old && bound > self.bound) {
            (self.max_error, self.bound) = (error, bound);
        }
    }
}

/// Largest finite magnitude of an array of floats.
fn scale(array: &Literal) -> f64 {
    let parts = (0..array.len()).flat_map(|i| parts(array.get(i)));
    parts.map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// The value as two numbers; the second is 0 of what is not complex.
fn parts(x: Scalar) -> [f64; 2] {
    match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    }
}

struct Array<'a> {
    got: &'a Literal,
    wanted: &'a Literal,
    ty: ElementType,
    leaf: usize,
    bound: Bound,
    /// Largest finite magnitude, where the bound is relative to it.
    scale: f64,
}

/// What was found in one array.
#[derive(Default)]
struct Found {
    max_error: f64,
    max_ulps: u64,
    flushed: usize,
}

impl Array<'_> {
    fn compare(&self, into: &mut Comparison) {
        into.elements += self.wanted.len();
        let floats = self.ty.is_float() || self.ty.is_complex();
        let mut found = Found::default();
        if self.got.bytes() != self.wanted.bytes() {
            for i in 0..self.wanted.len() {
                let (got, wanted) = (self.got.get(i), self.wanted.get(i));
                let share = match floats {
                    true => self.float(got, wanted, &mut found),
                    false if got == wanted => 0.0,
                    false => f64::INFINITY,
                };
                into.wrong += usize::from(share > 1.0);
                if share > into.worst.as_ref().map_or(0.0, |worst| worst.share) {
                    let (leaf, index, ty) = (self.leaf, self.index(i), self.ty);
                    into.worst = Some(Worst { device: None, leaf, index, ty, got, wanted, share });
                }
            }
        }
        into.flushed += found.flushed;
        into.max_ulps = into.max_ulps.max(found.max_ulps);
        let bound = if floats { self.bound.relative() } else { 0.0 };
        into.nearest(found.max_error, bound);
    }

    /// The error of a float as a share of what is allowed.
    fn float(&self, got: Scalar, wanted: Scalar, found: &mut Found) -> f64 {
        let wanted_parts = parts(wanted);
        let scale = match self.bound {
            // A complex number is measured by its larger part; what is too small for a normal number is as coarse as the
            // smallest of those.
            Bound::Element(_) => {
                let larger = wanted_parts[0].abs().max(wanted_parts[1].abs());
                larger.max(smallest_normal(self.ty))
            }
            Bound::Bits | Bound::Array(_) => self.scale,
        };
        let allowed = self.bound.relative() * if scale.is_finite() { scale } else { 0.0 };
        let mut share = 0.0f64;
        for (got, wanted) in parts(got).into_iter().zip(wanted_parts) {
            let same = if self.bound == Bound::Bits {
                got.to_bits() == wanted.to_bits()
            } else {
                // -0 equals 0.
                got.partial_cmp(&wanted) == Some(std::cmp::Ordering::Equal)
            };
            if same || (got.is_nan() && wanted.is_nan()) {
                continue;
            }
            if self.bound != Bound::Bits && self.flushed(got, wanted) {
                found.flushed += 1;
                continue;
            }
            let error = (got - wanted).abs();
            found.max_ulps = found.max_ulps.max(ulps(self.ty.component(), got, wanted));
            if error.is_finite() && scale > 0.0 {
                found.max_error = found.max_error.max(error / scale);
            }
            let measured = error.is_finite() && allowed > 0.0;
            share = share.max(if measured { error / allowed } else { f64::INFINITY });
        }
        share
    }

    /// Whether both are too small for a normal number of a type whose denormal numbers XLA:CPU makes 0.
    fn flushed(&self, got: f64, wanted: f64) -> bool {
        use ElementType as E;
        let flushes = matches!(self.ty, E::F64 | E::C128 | E::F32 | E::C64 | E::Bf16);
        let smallest = smallest_normal(self.ty);
        flushes && got.abs() < smallest && wanted.abs() < smallest
    }

    fn index(&self, mut at: usize) -> Vec<usize> {
        let dims = self.wanted.array_shape().map(|s| s.dims.as_slice()).unwrap_or_default();
        let mut index = vec![0; dims.len()];
        for (slot, &dim) in index.iter_mut().zip(dims).rev() {
            let dim = usize::try_from(dim).unwrap_or(1).max(1);
            *slot = at % dim;
            at /= dim;
        }
        index
    }
}

/// The smallest positive normal number of a float or complex type; 0 of others.
fn smallest_normal(ty: ElementType) -> f64 {
    let format = ty.component().float_format();
    format.map_or(0.0, |format| f64::from(1 - format.bias).exp2())
}

/// How many values of the type lie from one to the other; 0 for -0 and 0, the most there are if one is NaN.
fn ulps(ty: ElementType, a: f64, b: f64) -> u64 {
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

    fn check(got: &str, wanted: &str, bound: impl Into<Tolerance>) -> Comparison {
        compare(&got.parse().unwrap(), &wanted.parse().unwrap(), &bound.into()).unwrap()
    }
    /// 2^-20 of the largest magnitude.
    const LOOSE: Bound = Bound::Array(1.0 / 1_048_576.0);

    #[test]
    fn bits_count_where_exact() {
        assert!(check("f32[2] {nan, inf}", "f32[2] {nan, inf}", Tolerance::EXACT).agrees());
        assert!(!check("f32[] -0", "f32[] 0", Tolerance::EXACT).agrees());
        let differs = check("s8[2,2] {{1, 2}, {3, 5}}", "s8[2,2] {{1, 2}, {3, 4}}", LOOSE);
        assert_eq!(differs.worst.unwrap().index, [1, 1]);
        assert_eq!(differs.wrong, 1);
    }

    #[test]
    fn floats_are_measured_against_the_array() {
        let near = check("f32[2] {1, 1048576.5}", "f32[2] {1.0625, 1048576}", LOOSE);
        assert!(near.agrees(), "{near:?}");
        assert_eq!((near.max_ulps, near.worst.unwrap().index), (1 << 19, vec![1]));
        let far = check("f32[2] {3, 1}", "f32[2] {1, 1}", LOOSE);
        assert_eq!((far.wrong, far.max_error), (1, 2.0));
    }

    #[test]
    fn one_operation_is_measured_against_each_element() {
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
    fn the_device_that_differs_is_named() {
        let list = |texts: &[&str]| texts.iter().map(|t| t.parse().unwrap()).collect::<Vec<_>>();
        let wanted = list(&["s32[2] {1, 2}", "s32[2] {3, 4}", "s32[2] {5, 6}"]);
        let got = list(&["s32[2] {1, 2}", "s32[2] {3, 5}", "s32[2] {0, 0}"]);
        let all = compare_each(&got, &wanted, &Tolerance::EXACT).unwrap();
        assert_eq!((all.elements, all.wrong, all.devices_wrong.as_slice()), (6, 3, &[1, 2][..]));
        let worst = all.worst.unwrap();
        assert_eq!((worst.device, worst.index), (Some(1), vec![1]));
        let error = compare_each(&got[1..], &list(&["s32[] 1"]), &Tolerance::EXACT).unwrap_err();
        assert!(error.starts_with("device 0: the result has shape s32[2]"), "{error}");
    }

    #[test]
    fn other_shapes_are_an_error() {
        let error =
            compare(&"f32[] 1".parse().unwrap(), &"f32[1] {1}".parse().unwrap(), &LOOSE.into());
        assert!(error.unwrap_err().to_string().contains("wanted f32[1]"));
    }
}
