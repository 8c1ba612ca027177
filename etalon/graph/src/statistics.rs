//! Statistics of arrays: what a person reads where the elements are too many.
use hlo::{Literal, Scalar};
use std::fmt;

/// What the elements of some arrays have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The number of elements.
    pub count: u64,
    /// The number of NaNs.
    pub nan: u64,
    /// The number of infinities.
    pub infinite: u64,
    /// Of the finite elements, if there are any and they are all real or all complex.
    pub range: Option<Range>,
    /// Whether the range is that of the magnitudes of complex elements.
    pub is_complex: bool,
}

/// The smallest and the largest of some numbers, and their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
}

impl Statistics {
    /// Returns the statistics of the elements of all arrays together.
    pub fn of(arrays: &[Literal]) -> Self {
        let (mut count, mut nan, mut infinite, mut finite) = (0, 0, 0, 0u64);
        let (mut min, mut max, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for array in arrays {
            for scalar in (0..array.len()).map(|i| array.get(i)) {
                count += 1;
                let parts = match scalar {
                    Scalar::Complex(real, imaginary) => [real, imaginary],
                    Scalar::Pred(_)
                    | Scalar::Signed(_)
                    | Scalar::Unsigned(_)
                    | Scalar::Float(_) => [scalar.as_f64(); 2],
                };
                nan += u64::from(parts.iter().any(|part| part.is_nan()));
                infinite += u64::from(parts.iter().any(|part| part.is_infinite()));
                if parts.iter().all(|part| part.is_finite()) {
                    finite += 1;
                    let x = match scalar {
                        Scalar::Complex(real, imaginary) => real.hypot(imaginary),
                        Scalar::Pred(_)
                        | Scalar::Signed(_)
                        | Scalar::Unsigned(_)
                        | Scalar::Float(_) => parts[0],
                    };
                    min = min.min(x);
                    max = max.max(x);
                    sum += x;
                }
            }
        }
        let is_complex = |array: &Literal| array.array_shape().is_some_and(|a| a.ty.is_complex());
        let (complex, all) = (arrays.iter().filter(|&x| is_complex(x)).count(), arrays.len());
        let is_ranged = finite > 0 && (complex == 0 || complex == all);
        let mean = sum / u32::try_from(finite).map_or(f64::NAN, f64::from);
        let range = is_ranged.then_some(Range { min, max, mean });
        Self { count, nan, infinite, range, is_complex: complex > 0 }
    }
}

/// `min -1.5, mean 0.02, max 3, 2 NaN`.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(Range { min, max, mean }) = self.range {
            let (min, mean, max) = (digits(min), digits(mean), digits(max));
            let of = if self.is_complex { "magnitude " } else { "" };
            parts.push(format!("{of}min {min}, mean {mean}, max {max}"));
        }
        for (count, what) in [(self.nan, "NaN"), (self.infinite, "infinite")] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        f.write_str(&parts.join(", "))
    }
}

/// Returns a number with about six digits.
fn digits(x: f64) -> String {
    let plain = (1e-4..1e7).contains(&x.abs()) || x == 0.0;
    let text = if plain { format!("{x:.5}") } else { return format!("{x:.5e}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let line = |text: &str| Statistics::of(&[text.parse().unwrap()]).to_string();
        assert_eq!(line("f32[5] {1, nan, -3, inf, 5}"), "min -3, mean 1, max 5, 1 NaN, 1 infinite");
        assert_eq!(line("s32[2] {7, 8}"), "min 7, mean 7.5, max 8");
        assert_eq!(line("f64[2] {1e-9, 3e12}"), "min 1.00000e-9, mean 1.50000e12, max 3.00000e12");
        assert_eq!(line("c64[2] {(3, 4), (0, 1)}"), "magnitude min 1, mean 3, max 5");
    }
}
