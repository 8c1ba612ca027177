//! Random numbers and random bits.
use crate::arguments::unsigned_of;
use crate::{Builder, Error, IntoShape, Result, Value};
use hlo::op::value::{RandomAlgorithm, RandomDistribution};
use hlo::op::{Rng, RngBitGenerator};
use hlo::{ElementType, Shape};

impl Builder {
    /// Numbers of a normal distribution of this mean and deviation, scalars of the result's float
    /// type: XLA's `RngNormal`.
    ///
    /// The numbers differ from backend to backend; the engine's follow from its seed.
    #[track_caller]
    pub fn rng_normal<'b>(
        &'b self,
        mu: Value<'b>,
        sigma: Value<'b>,
        shape: impl IntoShape,
    ) -> Value<'b> {
        self.record(|b| {
            let op = Rng { distribution: RandomDistribution::Normal };
            b.emit(op, &[mu, sigma], Some(shape.into_shape()?))
        })
    }
    /// Numbers from `low` up to but not including `high`, all equally likely; the limits are
    /// scalars of the result's type: XLA's `RngUniform`. As [`Builder::rng_normal`].
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let dice = b.rng_uniform(b.constant(1i32), b.constant(7i32), "s32[1000]");
    /// let most = dice.reduce_all(i32::MIN, |a, c| a.max(c));
    /// assert_eq!(interp::run(&b.build(most)?, &[])?.to_string(), "s32[] 6");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn rng_uniform<'b>(
        &'b self,
        low: Value<'b>,
        high: Value<'b>,
        shape: impl IntoShape,
    ) -> Value<'b> {
        self.record(|b| {
            let op = Rng { distribution: RandomDistribution::Uniform };
            b.emit(op, &[low, high], Some(shape.into_shape()?))
        })
    }
}

impl Value<'_> {
    /// Makes random bits from a state: XLA's `RngBitGenerator`. Returns the tuple
    /// `(state to go on from, bits)`.
    ///
    /// The bits have this shape, with the unsigned element type of the same width. `Philox` starts
    /// from `u64[2]` or `u64[3]`, `ThreeFry` from `u64[2]`; the same state gives the same bits
    /// everywhere.
    ///
    /// ```
    /// use hlo::op::value::RandomAlgorithm;
    /// let b = builder::Builder::new("m");
    /// let bits = b.constant([0u64, 1]).rng_bit_generator(RandomAlgorithm::ThreeFry, "f32[5]");
    /// assert_eq!(bits.get_tuple_element(1).shape()?.to_string(), "u32[5]{0}");
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for a type of 128 bits; `E0301` for a state that the algorithm
    /// does not start from.
    #[track_caller]
    pub fn rng_bit_generator(self, algorithm: RandomAlgorithm, shape: impl IntoShape) -> Self {
        self.record(|b| {
            let shape = shape.into_shape()?;
            let array = shape.array().ok_or_else(|| {
                Error::argument(format!("random bits are an array, not {shape:#}"))
            })?;
            let bits = array.with_type(unsigned(array.ty)?);
            let result = Shape::Tuple(vec![self.shape()?, bits.into()]);
            b.emit(RngBitGenerator { algorithm }, &[self], Some(result))
        })
    }
}

/// Returns the unsigned type of the same width.
fn unsigned(ty: ElementType) -> Result<ElementType> {
    let width = ty.bits();
    unsigned_of(width)
        .ok_or_else(|| Error::argument(format!("no unsigned type has {width} bits, as {ty} has")))
}
