//! Derivatives of `CAReduce`.
use super::careduce::ReductionPlan;
use super::cotangent::{Cotangent, derived, finished};
use super::scalar::{Partial, full};
use super::types::is_discrete;
use super::{Axes, Axis, CAReduce, DimShuffle, ScalarOp};
use crate::cast;
use builder::{Error, Result, Value};
use hlo::{ElementType, Scalar};

impl CAReduce {
    /// Returns the cotangent of the input from that of the output, the vector-Jacobian product.
    ///
    /// - `add`: the cotangent, repeated.
    /// - `mul`: times the product of the other elements, also where elements are 0.
    /// - `maximum`, `minimum`: to every element that equals the result, so that of several equal
    ///   ones each has it all, as PyTensor does; NaN equals nothing.
    /// - Where anything is discrete (the input of the bit operations, the output, the accumulator
    ///   of `mul`): zeros.
    ///
    /// ```
    /// use builder::Builder;
    /// use builder_compat::pytensor::{CAReduce, ScalarOp};
    /// let b = Builder::new("m");
    /// let x = b.parameter(0, "f32[3]", "x");
    /// let product = CAReduce::new(ScalarOp::Mul)?;
    /// let cotangent = product.pullback(x, product.apply(x), b.constant(1f32));
    /// let module = b.build(cotangent.value().ok_or("it is connected")?)?;
    /// assert_eq!(interp::run(&module, &["f32[3] {0, 4, 5}".parse()?])?.to_string(), "f32[3]{0} {20, 0, 0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: as [`CAReduce::apply`]; `E0801` for a cotangent of another shape than
    /// the output's.
    #[track_caller]
    pub fn pullback<'b>(
        &self,
        input: Value<'b>,
        output: Value<'b>,
        cotangent: impl Into<Cotangent<'b>>,
    ) -> Cotangent<'b> {
        derived(output, cotangent, |given| {
            let plan = self.checked(input, output)?;
            let spread = |value| spread(value, input, &plan);
            let partial = match self.derivative(input, output, &plan)? {
                ElementDerivative::One => Partial::Value(spread(given)?),
                ElementDerivative::Of(factor) => {
                    Partial::Value(factor.mul(cast(spread(given)?, factor.element_type()?)?))
                }
                ElementDerivative::Where(truth) => {
                    Partial::Value(truth.select(spread(given)?, 0.0))
                }
                ElementDerivative::Zero => Partial::Zero,
                ElementDerivative::Unknown(why) => Partial::Unknown(why),
            };
            finished(partial, input, self.float_x)
        })
    }
    /// Returns the tangent of the output from that of the input, the Jacobian-vector product: the
    /// transpose of [`CAReduce::pullback`]. Where several elements equal a maximum their tangents
    /// are added.
    ///
    /// # Errors
    /// Kept by the builder: as [`CAReduce::pullback`].
    #[track_caller]
    pub fn pushforward<'b>(
        &self,
        input: Value<'b>,
        output: Value<'b>,
        tangent: impl Into<Cotangent<'b>>,
    ) -> Cotangent<'b> {
        derived(input, tangent, |given| {
            let plan = self.checked(input, output)?;
            let step = match self.derivative(input, output, &plan)? {
                ElementDerivative::One => given,
                ElementDerivative::Of(factor) => factor.mul(cast(given, factor.element_type()?)?),
                ElementDerivative::Where(truth) => truth.select(given, 0.0),
                ElementDerivative::Zero => return finished(Partial::Zero, output, self.float_x),
                ElementDerivative::Unknown(why) => return Ok(Cotangent::NotImplemented { why }),
            };
            let sum = Self::new(ScalarOp::Add)?.axis(plan.axes.clone()).apply(step);
            finished(Partial::Value(sum), output, self.float_x)
        })
    }
    fn checked(&self, input: Value<'_>, output: Value<'_>) -> Result<ReductionPlan> {
        let (shape, found) = (input.array()?, output.array()?);
        let plan = self.plan(shape.ty, shape.rank())?;
        let left = (0i64..).zip(&shape.dims).filter(|(axis, _)| !plan.axes.contains(axis));
        let dims: Vec<i64> = left.map(|(_, size)| *size).collect();
        if found.ty != plan.output || found.dims.as_slice() != dims {
            let message = format!("{found:#} is not the output of `{self}` on this input");
            return Err(Error::argument(message));
        }
        Ok(plan)
    }
    fn derivative<'b>(
        &self,
        input: Value<'b>,
        output: Value<'b>,
        plan: &ReductionPlan,
    ) -> Result<ElementDerivative<'b>> {
        if is_discrete(plan.output) {
            return Ok(ElementDerivative::Zero);
        }
        let complex = plan.accumulator.is_complex();
        Ok(match self.scalar_op {
            ScalarOp::Add
                if is_discrete(plan.accumulator) && !is_discrete(input.element_type()?) =>
            {
                ElementDerivative::Zero
            }
            ScalarOp::Add => ElementDerivative::One,
            ScalarOp::Mul if is_discrete(plan.accumulator) => ElementDerivative::Zero,
            ScalarOp::Mul if complex => ElementDerivative::Unknown(
                "the derivative of a product of complex numbers is not known".into(),
            ),
            ScalarOp::Mul => ElementDerivative::Of(others(input, plan)?),
            ScalarOp::Maximum | ScalarOp::Minimum => {
                let ty = upcast(input, output)?;
                let result = spread(output, input, plan)?;
                ElementDerivative::Where(cast(input, ty)?.eq(cast(result, ty)?))
            }
            _ => ElementDerivative::Zero,
        })
    }
}

/// The derivative of a reduction by each element.
#[derive(Debug)]
enum ElementDerivative<'b> {
    /// 1.
    One,
    /// These factors.
    Of(Value<'b>),
    /// 1 where this is true, otherwise 0.
    Where(Value<'b>),
    Zero,
    Unknown(String),
}

fn upcast(x: Value<'_>, y: Value<'_>) -> Result<ElementType> {
    super::types::upcast([x.element_type()?, y.element_type()?])
}

/// Returns what is left of an array, repeated along the axes that were reduced.
fn spread<'b>(left: Value<'b>, input: Value<'b>, plan: &ReductionPlan) -> Result<Value<'b>> {
    let dims = input.array()?.dims;
    let mut next = 0;
    let order: Vec<Axis> = (0i64..)
        .zip(&dims)
        .map(|(axis, _)| match plan.axes.contains(&axis) {
            true => Axis::X,
            false => {
                next += 1;
                Axis::Dim(next - 1)
            }
        })
        .collect();
    super::tensor::stretch(&DimShuffle::new(next, &order)?.apply(left).into(), &dims)
}

/// Returns for each element the product of the others that are reduced with it.
///
/// Where none is 0 it is the product divided by the element. A single 0 has the product of the
/// others, which then have 0; of several each has 0.
fn others<'b>(input: Value<'b>, plan: &ReductionPlan) -> Result<Value<'b>> {
    let ty = plan.accumulator;
    let x = cast(input, ty)?;
    let one = full(x, ty, Scalar::Float(1.0))?;
    let zero = full(x, ty, Scalar::Float(0.0))?;
    let is_zero = x.eq(zero);
    let reduced = |op, value| -> Result<Value<'b>> {
        let reduce = CAReduce::new(op)?.axis(Axes::Some(plan.axes.clone())).acc_dtype(ty);
        spread(reduce.apply(value), input, plan)
    };
    let product = reduced(ScalarOp::Mul, is_zero.select(one, x))?;
    let zeros = reduced(ScalarOp::Add, is_zero.select(one, zero))?;
    let beside_zeros = zeros.eq(1.0).and(is_zero).select(product, zero);
    Ok(zeros.eq(0.0).select(product.div(x), beside_zeros))
}
