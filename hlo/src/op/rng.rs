//! `rng`, `rng-bit-generator`, `rng-get-and-update-state`: random numbers.
use super::value::{RandomAlgorithm, RandomDistribution};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, ElementType, Error, Result, Shape};

attrs! {
    /// Returns random numbers of a distribution, with the stated dimensions.
    ///
    /// The operands are two scalars of the result's type: the bounds `[a, b)` of a uniform
    /// distribution, or mean and deviation of a normal one.
    pub struct Rng {
        /// The distribution.
        pub distribution: RandomDistribution = "distribution" in distribution;
    }
}

impl ShapeRule for Rng {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() == 2, "2 operands")?;
        let result = cx.stated_array()?;
        for i in 0..2 {
            let operand = cx.array(i)?;
            check(operand.rank() == 0 && operand.ty == result.ty, "rng_c1", || {
                format!("operand {i} is {operand:#}, expected a scalar of {}", result.ty)
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
        }
        let normal = self.distribution == RandomDistribution::Normal;
        check(!normal || result.ty.is_float(), "rng_c2", || {
            format!("a normal distribution needs a float type, found {}", result.ty)
        })?;
        check(!result.ty.is_complex(), "rng_complex", || {
            "no distribution has a complex type".to_owned()
        })?;
        check(result.dynamic.is_none(), "rng_static", || {
            format!("{result:#} has a dynamic dimension, whose size is not known")
        })?;
        Ok(result.clone().into())
    }
}

attrs! {
    /// Returns random bits from a state.
    ///
    /// The result is a tuple of the new state and the bits.
    pub struct RngBitGenerator {
        /// The algorithm.
        pub algorithm: RandomAlgorithm = "algorithm" in rng_algorithm;
    }
}

impl RngBitGenerator {
    /// Fails unless `state` is a state of the algorithm. The state of the backend's default
    /// algorithm is not checked.
    fn state(&self, state: &ArrayShape) -> Result<()> {
        let (sizes, expected): (&[i64], _) = match self.algorithm {
            RandomAlgorithm::Default => return Ok(()),
            RandomAlgorithm::ThreeFry => (&[2], "u64[2]"),
            RandomAlgorithm::Philox => (&[2, 3], "u64[2] or u64[3]"),
        };
        let fits = state.ty == ElementType::U64
            && matches!(state.dims.as_slice(), [size] if sizes.contains(size));
        check(fits, "rng_bit_generator_state", || {
            format!("{} needs the state {expected:#}, found {state:#}", self.algorithm)
        })
        .map_err(|e| e.on(Place::Operand(0)))
    }
}

impl ShapeRule for RngBitGenerator {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let state = cx.array(0)?;
        self.state(state)?;
        let stated = cx.stated()?;
        let [first, bits] = stated.tuple().unwrap_or_default() else {
            let message =
                format!("expected a tuple of state and bits as the result, found {stated:#}");
            return Err(failed("rng_bit_generator_result", message));
        };
        check(first.compatible(cx.operands[0]), "rng_bit_generator_c1", || {
            format!("the new state is {first:#}, the old state is {state:#}")
        })?;
        let Some(bits) = bits.array().filter(|b| !b.ty.is_complex() && b.dynamic.is_none()) else {
            let message = format!(
                "expected a static array of integers or real floats for the bits, found {bits:#}"
            );
            return Err(failed("rng_bit_generator_bits", message));
        };
        Ok(Shape::Tuple(vec![state.clone().into(), bits.clone().into()]))
    }
}

attrs! {
    /// Returns the state of the generator, and then advances it.
    pub struct RngGetAndUpdateState {
        /// The step by which the state is advanced.
        pub delta: i64 = "delta" in delta;
    }
}

impl ShapeRule for RngGetAndUpdateState {
    fn infer(&self, _cx: &Infer<'_>) -> Result<Shape> {
        Ok(ArrayShape::new(ElementType::U64, [2].as_slice()).into())
    }
}

fn failed(rule: &'static str, message: String) -> Error {
    crate::diag::Code::Rule { rule, message }.into()
}
