//! `rng`, `rng-bit-generator`, `rng-get-and-update-state`: random numbers.
use super::value::{RandomAlgorithm, RandomDistribution};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Numbers of a distribution.
    pub struct Rng {
        /// Which.
        pub distribution: RandomDistribution = "distribution";
    }
}

impl ShapeRule for Rng {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Random bits from a state.
    pub struct RngBitGenerator {
        /// How.
        pub algorithm: RandomAlgorithm = "algorithm";
    }
}

impl ShapeRule for RngBitGenerator {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// The state of the generator, moved on.
    pub struct RngGetAndUpdateState {
        /// By how much.
        pub delta: i64 = "delta";
    }
}

impl ShapeRule for RngGetAndUpdateState {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
