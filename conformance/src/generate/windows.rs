//! Random windows of `reduce-window`, `select-and-scatter` and `convolution`.
use super::generator::Generator;
use std::fmt;

/// The window over one dimension.
#[derive(Debug, Clone, Copy)]
struct Dim {
    base: i64,
    size: i64,
    stride: i64,
    low: i64,
    high: i64,
    lhs_dilate: i64,
    rhs_dilate: i64,
    reversal: bool,
}

impl Dim {
    fn positions(&self) -> i64 {
        let dilated =
            |size: i64, dilation: i64| if size == 0 { 0 } else { (size - 1) * dilation + 1 };
        let padded = self.low + dilated(self.base, self.lhs_dilate) + self.high;
        let window = dilated(self.size, self.rhs_dilate);
        if padded <= 0 || window > padded { 0 } else { (padded - window) / self.stride + 1 }
    }
}

/// A window over some dimensions.
#[derive(Debug)]
pub(super) struct Windows(Vec<Dim>);

impl Windows {
    /// Returns the number of positions in each dimension.
    pub(super) fn positions(&self) -> Vec<i64> {
        self.0.iter().map(Dim::positions).collect()
    }
    pub(super) fn sizes(&self) -> Vec<i64> {
        self.0.iter().map(|dim| dim.size).collect()
    }
}
impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |show: &dyn Fn(&Dim) -> String| {
            self.0.iter().map(show).collect::<Vec<String>>().join("x")
        };
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, ", window={{size={} ", each(&|d| d.size.to_string()))?;
        write!(f, "stride={} ", each(&|d| d.stride.to_string()))?;
        write!(f, "pad={} ", each(&|d| format!("{}_{}", d.low, d.high)))?;
        write!(f, "lhs_dilate={} ", each(&|d| d.lhs_dilate.to_string()))?;
        write!(f, "rhs_dilate={}", each(&|d| d.rhs_dilate.to_string()))?;
        if self.0.iter().any(|d| d.reversal) {
            write!(f, " rhs_reversal={}", each(&|d| u8::from(d.reversal).to_string()))?;
        }
        f.write_str("}")
    }
}

impl Generator {
    /// Returns a window over these dimensions; most have a few positions.
    pub(super) fn windows(&mut self, bases: &[i64], dilates: bool, reverses: bool) -> Windows {
        let dims = bases.iter().map(|&base| {
            let size = self.rng.i64(1..=base.clamp(1, 4));
            let padded = self.rng.bool();
            let pad = |rng: &mut fastrand::Rng| if padded { rng.i64(-1..=size) } else { 0 };
            let (low, high) = (pad(&mut self.rng), pad(&mut self.rng));
            let dilates = dilates && self.chance(3);
            let dilate = |rng: &mut fastrand::Rng| if dilates { rng.i64(1..=3) } else { 1 };
            let (lhs_dilate, rhs_dilate) = (dilate(&mut self.rng), dilate(&mut self.rng));
            let stride = if self.chance(3) { self.rng.i64(1..=3) } else { 1 };
            let reversal = reverses && self.chance(4);
            Dim { base, size, stride, low, high, lhs_dilate, rhs_dilate, reversal }
        });
        Windows(dims.collect())
    }
}
