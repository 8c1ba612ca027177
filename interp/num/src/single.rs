//! f32 as a number that transforms compute with.
use crate::double_double::{DoubleDouble, Real};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Rounds to f32, ties to even.
#[inline]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounds to nearest")]
pub fn to_f32(x: f64) -> f32 {
    x as f32
}

/// An f32; conversions of f64 round to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Single(pub f32);

impl Single {
    /// 0.
    pub const ZERO: Self = Self(0.0);
}

impl From<f64> for Single {
    #[inline]
    fn from(x: f64) -> Self {
        Self(to_f32(x))
    }
}
impl Neg for Single {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

macro_rules! operators {
    ($($name:ident $function:ident $op:tt;)*) => {$(
        impl $name for Single {
            type Output = Self;
            #[inline]
            fn $function(self, other: Self) -> Self {
                Self(self.0 $op other.0)
            }
        }
    )*};
}
operators! {
    Add add +;
    Sub sub -;
    Mul mul *;
    Div div /;
}

impl Real for Single {
    fn nearest(x: DoubleDouble) -> Self {
        x.rounded().into()
    }
    fn rounded(self) -> f64 {
        self.0.into()
    }
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    fn scaled(self, n: i32) -> Self {
        f64::from(self.0).scaled(n).into()
    }
    #[inline]
    fn add_product(self, a: Self, b: Self) -> Self {
        self + a * b
    }
    #[inline]
    fn normalized(self) -> Self {
        self
    }
}
