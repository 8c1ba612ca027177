//! Narrow floats from the definition of their formats, and rounding by search for the nearest
//! value.
//!
//! Nothing here shares code with the library: values are built from powers of two, and rounding is
//! a search among them.
#![allow(dead_code, reason = "two test programs share the file, and each uses its part")]
use hlo::ElementType as E;
use std::cmp::Ordering;

/// The meaning of values past the largest one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Past {
    Infinity,
    /// NaN, which is all bits set.
    Nan,
    /// NaN, which is the code of -0.
    OnlyNan,
    /// The largest value again; NaN becomes -0.
    Largest,
}

/// A format: stored exponent bits, stored mantissa bits, bias.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub ty: E,
    pub e: u32,
    pub m: u32,
    pub bias: i32,
    pub past: Past,
    /// Powers of two without sign and zero.
    pub powers: bool,
}

const fn grid(ty: E, e: u32, m: u32, bias: i32, past: Past) -> Grid {
    Grid { ty, e, m, bias, past, powers: false }
}

/// All real formats of up to 32 bits.
pub const GRIDS: [Grid; 14] = [
    grid(E::F4E2M1Fn, 2, 1, 1, Past::Largest),
    grid(E::F6E2M3Fn, 2, 3, 1, Past::Largest),
    grid(E::F6E3M2Fn, 3, 2, 3, Past::Largest),
    grid(E::F8E3M4, 3, 4, 3, Past::Infinity),
    grid(E::F8E4M3, 4, 3, 7, Past::Infinity),
    grid(E::F8E5M2, 5, 2, 15, Past::Infinity),
    grid(E::F8E4M3Fn, 4, 3, 7, Past::Nan),
    grid(E::F8E4M3Fnuz, 4, 3, 8, Past::OnlyNan),
    grid(E::F8E5M2Fnuz, 5, 2, 16, Past::OnlyNan),
    grid(E::F8E4M3B11Fnuz, 4, 3, 11, Past::OnlyNan),
    Grid { powers: true, ..grid(E::F8E8M0Fnu, 8, 0, 127, Past::Nan) },
    grid(E::F16, 5, 10, 15, Past::Infinity),
    grid(E::Bf16, 8, 7, 127, Past::Infinity),
    grid(E::F32, 8, 23, 127, Past::Infinity),
];

/// Returns the format of a type of up to 32 bits.
pub fn grid_of(ty: E) -> Grid {
    *GRIDS.iter().find(|g| g.ty == ty).expect("a float of up to 32 bits")
}

/// 2^n as f64, for n from -1022.
pub fn two(n: i32) -> f64 {
    2f64.powi(n)
}

impl Grid {
    /// Returns the number of the largest finite magnitude, counting from 0.
    pub fn largest(&self) -> u64 {
        let all = (1u64 << (self.e + self.m)) - 1;
        match self.past {
            Past::Infinity => (((1 << self.e) - 1) << self.m) - 1,
            Past::Nan => all - 1,
            Past::OnlyNan | Past::Largest => all,
        }
    }
    /// Returns the magnitude of this number; one past the largest is where the next would be.
    pub fn magnitude(&self, index: u64) -> f64 {
        let (exponent, mantissa) = ((index >> self.m) as i32, index & ((1 << self.m) - 1));
        let fraction = mantissa as f64 / two(self.m as i32);
        if self.powers {
            two(exponent - self.bias)
        } else if exponent == 0 {
            fraction * two(1 - self.bias)
        } else {
            (1.0 + fraction) * two(exponent - self.bias)
        }
    }
    fn sign(&self) -> u64 {
        if self.powers { 0 } else { 1 << (self.e + self.m) }
    }
    /// Returns the value of a code, None for NaN.
    pub fn value(&self, code: u64) -> Option<f64> {
        let (negative, index) = (code & self.sign() != 0, code & !self.sign());
        if self.past == Past::OnlyNan && negative && index == 0 {
            return None;
        }
        let size = match index.cmp(&(self.largest() + 1)) {
            Ordering::Less => self.magnitude(index),
            Ordering::Equal if self.past == Past::Infinity => f64::INFINITY,
            Ordering::Equal | Ordering::Greater => return None,
        };
        Some(if negative { -size } else { size })
    }
    /// Returns the midpoint between number `index` and the next.
    pub fn midpoint(&self, index: u64) -> f64 {
        f64::midpoint(self.magnitude(index), self.magnitude(index + 1))
    }

    /// Returns the result for NaN: a value in the types without NaN.
    pub fn nan(&self) -> Option<f64> {
        (self.past == Past::Largest).then_some(-0.0)
    }

    /// Returns the nearest value to a real number of this sign, None for NaN. `side` says how its
    /// size lies to a given one.
    pub fn nearest(&self, negative: bool, side: impl Fn(f64) -> Ordering) -> Option<f64> {
        if self.powers && (negative || side(0.0) == Ordering::Equal) {
            return None;
        }
        // The first number whose upper midpoint is not passed; `end` is one past the largest.
        let (mut low, mut end) = (0, self.largest() + 1);
        while low < end {
            let middle = u64::midpoint(low, end);
            let passed = match side(self.midpoint(middle)) {
                Ordering::Less => false,
                // Ties go to the even number, powers of two up.
                Ordering::Equal => self.powers || middle % 2 == 1,
                Ordering::Greater => true,
            };
            if passed { low = middle + 1 } else { end = middle }
        }
        let size = if low > self.largest() {
            match self.past {
                Past::Infinity => f64::INFINITY,
                Past::Nan | Past::OnlyNan => return None,
                Past::Largest => self.magnitude(self.largest()),
            }
        } else {
            self.magnitude(low)
        };
        let unsigned_zero = size == 0.0 && self.past == Past::OnlyNan;
        Some(if negative && !unsigned_zero { -size } else { size })
    }
    /// Returns the nearest value to an f64, taken as exact; None for NaN.
    pub fn round(&self, x: f64) -> Option<f64> {
        if x.is_nan() {
            return self.nan();
        }
        self.nearest(x.is_sign_negative(), |size| x.abs().partial_cmp(&size).expect("numbers"))
    }
}

/// Returns the same value with the same sign of zero; NaN is None.
pub fn same(got: f64, expected: Option<f64>) -> bool {
    match expected {
        None => got.is_nan(),
        Some(x) => got == x && got.is_sign_negative() == x.is_sign_negative(),
    }
}
