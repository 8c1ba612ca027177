//! `rng`, `rng-bit-generator`, `rng-get-and-update-state`: random numbers.
use super::value::{RandomAlgorithm, RandomDistribution};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, ElementType, Error, Result, Shape};

attrs! {
    /// Numbers of a distribution, of the stated dimensions.
    ///
    /// The operands are two scalars of the result's type: the bounds `[a, b)` of a uniform distribution, or mean and
    /// deviation of a normal one.
    pub struct Rng {
        /// Which.
        pub distribution: RandomDistribution = "distribution";
    }
}

impl ShapeRule for Rng {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() == 2, "2")?;
        let result = cx.stated_array()?;
        for i in 0..2 {
            let operand = cx.array(i)?;
            check(operand.rank() == 0 && operand.ty == result.ty, "rng_c1", || {
                format!("operand {i} is {operand:#}, wanted a scalar of {}", result.ty)
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
        }
        let normal = self.distribution == RandomDistribution::Normal;
        check(!normal || result.ty.is_float(), "rng_c2", || {
            format!("numbers of a normal distribution are floats, not {}", result.ty)
        })?;
        check(!result.ty.is_complex(), "rng_complex", || "no distribution is complex".to_owned())?;
        check(result.dynamic.is_none(), "rng_static", || {
            format!("nothing tells the size of a dynamic dimension of {result:#}")
        })?;
        Ok(result.clone().into())
    }
}

attrs! {
    /// Random bits from a state.
    ///
    /// The result is a tuple: the state to go on from, and the bits.
    pub struct RngBitGenerator {
        /// How.
        pub algorithm: RandomAlgorithm = "algorithm";
    }
}

impl RngBitGenerator {
    /// Fails unless the algorithm can start from `state`. What the backend's own choice starts from is its own matter.
    fn state(&self, state: &ArrayShape) -> Result<()> {
        let (sizes, wanted): (&[i64], _) = match self.algorithm {
            RandomAlgorithm::Default => return Ok(()),
            RandomAlgorithm::ThreeFry => (&[2], "u64[2]"),
            RandomAlgorithm::Philox => (&[2, 3], "u64[2] or u64[3]"),
        };
        let fits = state.ty == ElementType::U64
            && matches!(state.dims.as_slice(), [size] if sizes.contains(size));
        check(fits, "rng_bit_generator_state", || {
            format!("{} starts from {wanted:#}, found {state:#}", self.algorithm)
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
            let message = format!("the result is a tuple of state and bits, not {stated:#}");
            return Err(failed("rng_bit_generator_result", message));
        };
        check(first.compatible(cx.operands[0]), "rng_bit_generator_c1", || {
            format!("the new state is {first:#}, the old one {state:#}")
        })?;
        let Some(bits) = bits.array().filter(|b| !b.ty.is_complex() && b.dynamic.is_none()) else {
            let message =
                format!("the bits are a static array of whole or real numbers, not {bits:#}");
            return Err(failed("rng_bit_generator_bits", message));
        };
        Ok(Shape::Tuple(vec![state.clone().into(), bits.clone().into()]))
    }
}

attrs! {
    /// The state of the generator; afterwards it is moved on.
    pub struct RngGetAndUpdateState {
        /// By how much.
        pub delta: i64 = "delta";
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
