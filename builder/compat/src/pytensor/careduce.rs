//! `CAReduce`: reductions by a commutative and associative scalar operation.
use super::scalar::build;
use super::types::{is_discrete, refused, upcast, widest_integer};
use super::{Axes, ScalarOp, Tensor, immediately};
use crate::cast;
use builder::{Error, Result, Value};
use hlo::elem::Class;
use hlo::{ElementType, Literal, Scalar};

/// PyTensor's `CAReduce`: reduces axes by `add`, `mul`, `maximum`, `minimum`, `and_`, `or_` or
/// `xor`.
///
/// The order of elements is not defined. The elements are converted to the accumulator's type,
/// reduced there, and the result is converted to the output's type.
///
/// ```
/// use builder::Builder;
/// use builder_compat::pytensor::{CAReduce, ScalarOp};
/// let b = Builder::new("m");
/// let x = b.parameter(0, "s8[2,3]", "x");
/// let sum = CAReduce::new(ScalarOp::Add)?.axis(-1).upcast_discrete_output(true);
/// let module = b.build(sum.apply(x))?;
/// let args = ["s8[2,3] {{100, 100, 100}, {1, 2, 3}}".parse()?];
/// assert_eq!(interp::run(&module, &args)?.to_string(), "s64[2]{0} {300, 6}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CAReduce {
    pub(super) scalar_op: ScalarOp,
    axis: Axes,
    dtype: Option<ElementType>,
    acc_dtype: Option<ElementType>,
    upcast_discrete_output: bool,
    pub(super) float_x: ElementType,
}

/// The types a reduction goes through, and the axes it takes away.
#[derive(Debug, Clone)]
pub(super) struct ReductionPlan {
    pub(super) axes: Vec<i64>,
    pub(super) accumulator: ElementType,
    pub(super) output: ElementType,
}

impl CAReduce {
    /// Returns the reduction of all axes, with types as they come.
    ///
    /// # Errors
    /// `E0801` for an operation that is not one of the seven: the others are not commutative and
    /// associative.
    #[track_caller]
    pub fn new(scalar_op: ScalarOp) -> Result<Self> {
        let known = matches!(
            scalar_op,
            ScalarOp::Add
                | ScalarOp::Mul
                | ScalarOp::Maximum
                | ScalarOp::Minimum
                | ScalarOp::And
                | ScalarOp::Or
                | ScalarOp::Xor
        );
        if !known {
            let message =
                format!("`{scalar_op}` does not reduce: it is not commutative and associative");
            return Err(Error::argument(message)
                .with_help("reduce by add, mul, maximum, minimum, and_, or_ or xor")
                .at(std::panic::Location::caller()));
        }
        Ok(Self {
            scalar_op,
            axis: Axes::All,
            dtype: None,
            acc_dtype: None,
            upcast_discrete_output: false,
            float_x: ElementType::F64,
        })
    }
    /// Sets the axes that are reduced: one, some, or [`Axes::All`]. They may be counted from the
    /// end.
    pub fn axis(mut self, axis: impl Into<Axes>) -> Self {
        self.axis = axis.into();
        self
    }
    /// Sets the type of the output; without one it is the input's, unless
    /// [`CAReduce::upcast_discrete_output`] is set.
    pub fn dtype(mut self, ty: ElementType) -> Self {
        self.dtype = Some(ty);
        self
    }
    /// Sets the type of the accumulator. Without one, sums and products are accumulated in `int64`,
    /// `uint64`, `float64` (`float32` for `float16`) or `complex128`; of the other operations,
    /// which round nothing, in the input's type.
    pub fn acc_dtype(mut self, ty: ElementType) -> Self {
        self.acc_dtype = Some(ty);
        self
    }
    /// Sets whether an output whose type is not stated is `int64` of booleans and signed integers,
    /// and `uint64` of unsigned ones.
    pub fn upcast_discrete_output(mut self, upcast: bool) -> Self {
        self.upcast_discrete_output = upcast;
        self
    }
    /// Sets PyTensor's `floatX`: the type of the zero cotangents of discrete inputs; `float64` as
    /// it comes.
    pub fn float_x(mut self, ty: ElementType) -> Self {
        self.float_x = ty;
        self
    }

    /// Types and axes for an input of this type and so many dimensions.
    pub(super) fn plan(&self, input: ElementType, ndim: usize) -> Result<ReductionPlan> {
        // As PyTensor and NumPy have it, a scalar has an axis 0 to reduce.
        let mut axes = match &self.axis {
            Axes::Some(_) if ndim == 0 => {
                self.axis.normalized(1)?;
                Vec::new()
            }
            axes => axes.normalized(ndim)?,
        };
        axes.sort_unstable();
        let output = self.dtype.unwrap_or(match self.upcast_discrete_output {
            true => widest_integer(input),
            false => input,
        });
        super::types::check(output)?;
        let accumulator = self.accumulator(input)?;
        // The operation has its say on the types it reduces.
        self.scalar_op.output_type(&[accumulator, accumulator])?;
        if accumulator.is_complex() && !output.is_complex() {
            return Err(refused(format!(
                "`{self}` computes {accumulator}, which does not convert to {output}"
            )));
        }
        Ok(ReductionPlan { axes, accumulator, output })
    }
    fn accumulator(&self, input: ElementType) -> Result<ElementType> {
        let rounds = matches!(self.scalar_op, ScalarOp::Add | ScalarOp::Mul);
        let Some(expected) = self.acc_dtype else {
            return Ok(if rounds { wide(input) } else { input });
        };
        super::types::check(expected)?;
        if is_discrete(input) && !is_discrete(expected) {
            return Ok(expected);
        }
        let least = upcast([input, expected])?;
        if least != expected {
            let message =
                format!("`{self}` of {input} in an accumulator of {expected} loses precision");
            return Err(refused(message).with_help(format!(
                "accumulate in {least}, or state the output's type alone with `dtype`"
            )));
        }
        Ok(expected)
    }
    /// Returns what a reduction starts from: 0, 1, every bit, or the least or greatest value of the
    /// type.
    pub(super) fn identity(&self, ty: ElementType) -> Literal {
        let float = |x: f64| Scalar::Float(x).convert(ElementType::F64, ty);
        // Infinities become the least and greatest integers.
        let value = match (self.scalar_op, ty.class()) {
            (ScalarOp::Mul, _) => float(1.0),
            (ScalarOp::Maximum, Class::Pred) => Scalar::Pred(false),
            (ScalarOp::Minimum | ScalarOp::And, Class::Pred) => Scalar::Pred(true),
            (ScalarOp::Maximum, _) => float(f64::NEG_INFINITY),
            (ScalarOp::Minimum, _) => float(f64::INFINITY),
            (ScalarOp::And, _) => Scalar::Signed(-1).convert(ElementType::S64, ty),
            _ => float(0.0),
        };
        Literal::scalar(ty, value)
    }

    /// Returns the reduced value.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for an axis that does not exist, and the `maximum` or `minimum`
    /// of no elements, which have none; `E0810` for types that are not reduced so.
    #[track_caller]
    pub fn apply<'b>(&self, input: Value<'b>) -> Value<'b> {
        input.record(|_| Ok(self.node(&input.into())?.value))
    }
    /// Returns the reduced value with the pattern of the dimensions that are left.
    ///
    /// # Errors
    /// As [`CAReduce::apply`].
    #[track_caller]
    pub fn make_node<'b>(&self, input: &Tensor<'b>) -> Result<Tensor<'b>> {
        immediately(input.value.builder(), |_| self.node(input))
    }
    fn node<'b>(&self, input: &Tensor<'b>) -> Result<Tensor<'b>> {
        let pattern = input.broadcastable()?;
        let plan = self.plan(input.dtype()?, pattern.len())?;
        self.check_empty(&plan.axes, &input.value.dims()?)?;
        let value = cast(self.reduce(cast(input.value, plan.accumulator)?, &plan), plan.output)?;
        let left: Vec<bool> = (pattern.into_iter().zip(0i64..))
            .filter(|(_, axis)| !plan.axes.contains(axis))
            .map(|(flag, _)| flag)
            .collect();
        Tensor::from(value).with_broadcastable(&left)
    }
    /// Returns the value, which is of the accumulator's type, reduced.
    pub(super) fn reduce<'b>(&self, value: Value<'b>, plan: &ReductionPlan) -> Value<'b> {
        if plan.axes.is_empty() {
            return value;
        }
        let b = value.builder();
        let init = b.constant(self.identity(plan.accumulator));
        let combine =
            |x, y| build(self.scalar_op, &[x, y], plan.accumulator).unwrap_or(Value::invalid(b));
        value.reduce(init, combine, &plan.axes)
    }
    fn check_empty(&self, axes: &[i64], dims: &[i64]) -> Result<()> {
        if !matches!(self.scalar_op, ScalarOp::Maximum | ScalarOp::Minimum) {
            return Ok(());
        }
        let empty = (0i64..).zip(dims).find(|(axis, size)| **size == 0 && axes.contains(axis));
        let Some((axis, _)) = empty else { return Ok(()) };
        let message = format!("`{}` of no elements: axis {axis} has size 0", self.scalar_op);
        Err(Error::argument(message).with_help("it has no value to start from"))
    }
}

/// Returns the type sums are kept in: of 64 bits, or wider than the input.
fn wide(ty: ElementType) -> ElementType {
    let wider = [
        (ElementType::F16, ElementType::F32),
        (ElementType::F32, ElementType::F64),
        (ElementType::C64, ElementType::C128),
    ];
    let found = wider.into_iter().find(|(narrow, _)| *narrow == ty);
    found.map_or_else(|| widest_integer(ty), |(_, wide)| wide)
}

impl std::fmt::Display for CAReduce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let axes = match &self.axis {
            Axes::All => "axes=None".to_owned(),
            Axes::Some(axes) => match axes[..] {
                [axis] => format!("axis={axis}"),
                _ => format!("axes={axes:?}"),
            },
        };
        write!(f, "CAReduce{{{}, {axes}}}", self.scalar_op)
    }
}
