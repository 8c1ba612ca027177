//! Values of constants and arguments.
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar, Shape};

/// The kind of values that a case has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regime {
    /// Small integers: sums and products of them are exact in any order.
    Integers,
    /// Numbers of moderate size.
    Benign,
    /// One element in eight is zero, infinite, NaN, subnormal, the least or the greatest, or has
    /// random bits; the others are of any magnitude.
    Special,
}

impl Regime {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Integers, Self::Benign, Self::Special];

    /// Returns the name that reports show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integers => "integers",
            Self::Benign => "benign",
            Self::Special => "special",
        }
    }
    /// Returns a number that separates the random sequences of regimes.
    pub(super) const fn salt(self) -> u64 {
        match self {
            Self::Integers => 0x517c_c1b7_2722_0a95,
            Self::Benign => 0x2545_f491_4f6c_dd1d,
            Self::Special => 0x9e6c_63d0_876a_68de,
        }
    }
    /// Returns a random element.
    pub(super) fn element(self, rng: &mut fastrand::Rng, ty: ElementType) -> Scalar {
        if self == Self::Special && rng.u8(..8) == 0 {
            return special(rng, ty);
        }
        match ty.class() {
            Class::Pred => Scalar::Pred(rng.bool()),
            Class::Signed => Scalar::Signed(self.integer(rng)).convert(ElementType::S64, ty),
            Class::Unsigned => {
                Scalar::Unsigned(self.integer(rng).unsigned_abs()).convert(ElementType::U64, ty)
            }
            Class::Float => Scalar::Float(self.float(rng)).round_to(ty),
            Class::Complex => Scalar::Complex(self.float(rng), self.float(rng)).round_to(ty),
        }
    }
    fn integer(self, rng: &mut fastrand::Rng) -> i64 {
        match self {
            Self::Integers => rng.i64(-4..=4),
            Self::Benign => rng.i64(-100..=100),
            Self::Special => rng.i64(..) >> rng.u32(..64),
        }
    }
    fn float(self, rng: &mut fastrand::Rng) -> f64 {
        let sign = if rng.bool() { 1.0 } else { -1.0 };
        let significand = 1.0 + rng.f64();
        match self {
            Self::Integers => f64::from(rng.i8(-4..=4)),
            Self::Benign => sign * significand * f64::from(rng.i8(-2..=1)).exp2(),
            Self::Special => sign * significand * f64::from(rng.i16(-40..=40)).exp2(),
        }
    }
}

const EDGES: [f64; 8] = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 0.5];

/// An element at the edge of its type.
fn special(rng: &mut fastrand::Rng, ty: ElementType) -> Scalar {
    if rng.u8(..3) == 0 {
        return Scalar::from_bits(ty, rng.u128(..));
    }
    let part = ty.component();
    let float = |rng: &mut fastrand::Rng| {
        let format = part.float_format();
        let largest = format.map_or(f64::MAX, hlo::elem::FloatFormat::max_finite);
        let least = format.map_or(f64::MIN_POSITIVE, |format| format.decode(1));
        let one_below = 1.0 - 2f64.powi(-8);
        match rng.usize(..12) {
            8 => largest,
            9 => -largest,
            10 => least,
            11 => one_below,
            i => EDGES[i],
        }
    };
    match ty.class() {
        Class::Pred => Scalar::Pred(rng.bool()),
        Class::Signed => {
            let most = i64::MAX >> (64 - ty.bits());
            Scalar::Signed([0, 1, -1, most, -most - 1, i64::from(ty.bits())][rng.usize(..6)])
                .round_to(ty)
        }
        Class::Unsigned => {
            let most = u64::MAX >> (64 - ty.bits());
            Scalar::Unsigned([0, 1, most, most / 2, u64::from(ty.bits())][rng.usize(..5)])
                .round_to(ty)
        }
        Class::Float => Scalar::Float(float(rng)).round_to(ty),
        Class::Complex => Scalar::Complex(float(rng), float(rng)).round_to(ty),
    }
}

/// The values that a parameter or a constant may have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Domain {
    Any,
    /// Indices below a limit for each element of the last dimension, which is repeated; one in 16
    /// is any small number if `wild`.
    Index {
        limits: Vec<i64>,
        wild: bool,
    },
    /// Numbers from 0 to this.
    Sizes(i64),
    /// Hermitian matrices with positive eigenvalues.
    PositiveDefinite,
    /// Matrices whose triangles, each with the diagonal, can be inverted.
    Triangular,
    /// Numbers that are not negative.
    Variance,
    /// Numbers of which no sum overflows.
    Moderate,
}

impl Domain {
    /// Returns a random value.
    pub(super) fn draw(&self, rng: &mut fastrand::Rng, shape: &Shape, regime: Regime) -> Literal {
        match shape {
            Shape::Tuple(parts) => {
                Literal::tuple(parts.iter().map(|part| self.draw(rng, part, regime)).collect())
            }
            Shape::Array(array) => self.array(rng, array, regime),
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => Literal::token(),
        }
    }
    pub(super) fn array(
        &self,
        rng: &mut fastrand::Rng,
        shape: &ArrayShape,
        regime: Regime,
    ) -> Literal {
        let ty = shape.ty;
        match self {
            Self::Any => fill(shape, |_| regime.element(rng, ty)),
            Self::Index { limits, wild } => fill(shape, |i| {
                let limit = limits[i % limits.len()];
                let wild = *wild && rng.u8(..16) == 0;
                integer(if wild { rng.i64(-3..=limit + 3) } else { rng.i64(0..limit.max(1)) }, ty)
            }),
            Self::Sizes(most) => fill(shape, |_| integer(rng.i64(0..=*most), ty)),
            Self::Moderate => {
                let regime = if regime == Regime::Special { Regime::Benign } else { regime };
                fill(shape, |_| regime.element(rng, ty))
            }
            Self::Variance => fill(shape, |_| Scalar::Float(rng.f64() * 3.0).round_to(ty)),
            Self::PositiveDefinite | Self::Triangular => self.matrices(rng, shape),
        }
    }
    /// Small integers beside a diagonal that outweighs them. A Hermitian matrix is symmetric here:
    /// its parts are real.
    fn matrices(&self, rng: &mut fastrand::Rng, shape: &ArrayShape) -> Literal {
        let n = shape.dims.last().copied().unwrap_or(1).max(1);
        let n = usize::try_from(n).unwrap_or(1);
        let is_symmetric = *self == Self::PositiveDefinite;
        let beside: Vec<f64> = (0..n * n).map(|_| f64::from(rng.i8(-1..=1))).collect();
        let diagonal: Vec<f64> = (0..n).map(|_| f64::from(rng.u8(1..4))).collect();
        let size = f64::from(u32::try_from(n).unwrap_or(1));
        fill(shape, |i| {
            let (row, column) = (i / n % n, i % n);
            let value = match (row == column, is_symmetric) {
                (true, _) => size + diagonal[row],
                (false, true) => beside[row.min(column) * n + row.max(column)],
                (false, false) => beside[row * n + column],
            };
            Scalar::Float(value).convert(ElementType::F64, shape.ty)
        })
    }
}

fn integer(value: i64, ty: ElementType) -> Scalar {
    Scalar::Signed(value).convert(ElementType::S64, ty)
}

fn fill(shape: &ArrayShape, mut element: impl FnMut(usize) -> Scalar) -> Literal {
    let mut literal = Literal::zeros(shape.clone());
    let width = shape.ty.storage_bytes();
    for (i, slot) in literal.bytes_mut().chunks_exact_mut(width).enumerate() {
        element(i).write(shape.ty, slot);
    }
    literal
}
