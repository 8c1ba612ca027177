//! Dots: sums of products over dimensions of two arrays.
use super::shapes::emit_of_type;
use crate::arguments::all_counted;
use crate::{Error, Result, Value};
use hlo::ElementType;
use hlo::op::value::{DotAlgorithm, OperandPrecision, Precision};
use hlo::op::{Dot, RaggedDot, ScaledDot};

/// The dimension numbers of a dot: XLA's `DotDimensionNumbers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DotDimensionNumbers {
    /// Left dimensions summed over.
    pub lhs_contracting_dimensions: Vec<i64>,
    /// Right dimensions paired with them.
    pub rhs_contracting_dimensions: Vec<i64>,
    /// Left dimensions that go along with right ones, and are kept.
    pub lhs_batch_dimensions: Vec<i64>,
    /// Right dimensions paired with them.
    pub rhs_batch_dimensions: Vec<i64>,
}

/// The dimension numbers of a ragged dot: XLA's `RaggedDotDimensionNumbers`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RaggedDotDimensionNumbers {
    /// Those of a dot.
    pub dot_dimension_numbers: DotDimensionNumbers,
    /// The left dimension that is divided into groups; one entry.
    pub lhs_ragged_dimensions: Vec<i64>,
    /// The right dimension that holds one slice a group; one entry if the ragged dimension is
    /// neither summed over nor a batch dimension, else none.
    pub rhs_group_dimensions: Vec<i64>,
}

impl DotDimensionNumbers {
    /// Returns them counted from the start.
    fn counted(&self, lhs: Value<'_>, rhs: Value<'_>) -> Result<Self> {
        let (lhs, rhs) = (lhs.rank()?, rhs.rank()?);
        Ok(Self {
            lhs_contracting_dimensions: all_counted(&self.lhs_contracting_dimensions, lhs),
            rhs_contracting_dimensions: all_counted(&self.rhs_contracting_dimensions, rhs),
            lhs_batch_dimensions: all_counted(&self.lhs_batch_dimensions, lhs),
            rhs_batch_dimensions: all_counted(&self.rhs_batch_dimensions, rhs),
        })
    }
}

/// Options of a dot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DotOptions {
    /// The precision of each operand.
    pub precision: [Precision; 2],
    /// The element type of the result; without it, the one of the operands that holds more.
    pub preferred_element_type: Option<ElementType>,
    /// The algorithm of products and sums.
    pub algorithm: DotAlgorithm,
}

/// Returns the attribute, which is empty for default precision.
pub(crate) fn operand_precision(precision: [Precision; 2]) -> OperandPrecision {
    let given = OperandPrecision(precision.to_vec());
    if given.all_default() { OperandPrecision::default() } else { given }
}

/// Fails for a result type narrower than an integer operand, as XLA does.
pub(crate) fn preferred(
    ty: Option<ElementType>,
    operands: [Value<'_>; 2],
) -> Result<Option<ElementType>> {
    let Some(expected) = ty else { return Ok(None) };
    for operand in operands {
        let found = operand.element_type()?;
        if found.is_integral() && expected.bits() < found.bits() {
            let message = format!("sums of products of {found} cannot have type {expected}");
            return Err(Error::argument(message)
                .with_help("the preferred element type of integers is not narrower than theirs"));
        }
    }
    Ok(ty)
}

/// The attributes that all kinds of dots share.
macro_rules! dot {
    ($op:ident, $numbers:expr, $options:expr $(, $field:ident: $value:expr)*) => {
        $op {
            lhs_batch_dims: $numbers.lhs_batch_dimensions.clone(),
            lhs_contracting_dims: $numbers.lhs_contracting_dimensions.clone(),
            rhs_batch_dims: $numbers.rhs_batch_dimensions.clone(),
            rhs_contracting_dims: $numbers.rhs_contracting_dimensions.clone(),
            operand_precision: operand_precision($options.precision),
            $($field: $value,)*
        }
    };
}

impl Value<'_> {
    /// Returns the product of vectors and matrices: XLA's `Dot`.
    ///
    /// The product of two vectors is a scalar, that of a matrix and a vector a vector, that of two
    /// matrices a matrix: the last dimension of `self` is summed over with the first of `rhs`.
    /// (Dot, XLA operation semantics.)
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (m, v) = (b.constant([[1f32, 2.0], [3.0, 4.0]]), b.constant([10f32, 1.0]));
    /// assert_eq!(interp::run(&b.build(m.dot(v))?, &[])?.to_string(), "f32[2]{0} {12, 34}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for anything but vectors and matrices; `E0301` for sizes that
    /// differ.
    #[doc(alias = "matmul")]
    #[track_caller]
    pub fn dot(self, rhs: Self) -> Self {
        self.record(|_| Ok(self.dot_with(rhs, &DotOptions::default())))
    }
    /// As [`Value::dot`], with precision, algorithm and the result's element type.
    #[track_caller]
    pub fn dot_with(self, rhs: Self, options: &DotOptions) -> Self {
        self.record(|_| {
            for operand in [self, rhs] {
                let shape = operand.array()?;
                if !(1..=2).contains(&shape.rank()) {
                    let message = format!("`dot` multiplies vectors and matrices, found {shape:#}");
                    return Err(Error::argument(message)
                        .with_help("name the contracting dimensions with `dot_general`"));
                }
            }
            let last = i64::from(self.rank()? != 1);
            let numbers = DotDimensionNumbers {
                lhs_contracting_dimensions: vec![last],
                rhs_contracting_dimensions: vec![0],
                ..DotDimensionNumbers::default()
            };
            Ok(self.dot_general(rhs, &numbers, options))
        })
    }
    /// Sums of products over the contracting dimensions: XLA's `DotGeneral`.
    ///
    /// The result has the batch dimensions, then what is left of `self`, then what is left of
    /// `rhs`. Without contracting dimensions it is the outer product. (`DotGeneral`, XLA operation
    /// semantics.)
    ///
    /// ```
    /// use builder::options::{DotDimensionNumbers, DotOptions};
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[8,2,3]", "x");
    /// let y = b.parameter(1, "f32[8,5,3]", "y");
    /// let numbers = DotDimensionNumbers {
    ///     lhs_batch_dimensions: vec![0],
    ///     rhs_batch_dimensions: vec![0],
    ///     lhs_contracting_dimensions: vec![2],
    ///     rhs_contracting_dimensions: vec![2],
    /// };
    /// assert_eq!(x.dot_general(y, &numbers, &DotOptions::default()).dims()?, [8, 2, 5]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[doc(alias = "tensordot")]
    #[track_caller]
    pub fn dot_general(
        self,
        rhs: Self,
        dimension_numbers: &DotDimensionNumbers,
        options: &DotOptions,
    ) -> Self {
        self.record(|b| {
            let numbers = dimension_numbers.counted(self, rhs)?;
            let op = dot!(Dot, numbers, options, algorithm: options.algorithm);
            let ty = preferred(options.preferred_element_type, [self, rhs])?;
            emit_of_type(b, op, &[self, rhs], ty)
        })
    }
    /// Returns a dot with groups of different sizes: XLA's `RaggedDot`.
    ///
    /// `group_sizes` are integers, how long each group is along the ragged dimension. If that is
    /// kept, each group of rows is multiplied by its own slice of `rhs`; if it is summed over, each
    /// group has a result of its own, along a new first dimension; if it is a batch dimension, the
    /// sizes tell how many batches count.
    #[track_caller]
    pub fn ragged_dot(
        self,
        rhs: Self,
        group_sizes: Self,
        dimension_numbers: &RaggedDotDimensionNumbers,
        options: &DotOptions,
    ) -> Self {
        self.record(|b| {
            no_algorithm(options.algorithm, "ragged_dot")?;
            let numbers = dimension_numbers.dot_dimension_numbers.counted(self, rhs)?;
            let ragged = all_counted(&dimension_numbers.lhs_ragged_dimensions, self.rank()?);
            let groups = all_counted(&dimension_numbers.rhs_group_dimensions, rhs.rank()?);
            let op = dot!(
                RaggedDot, numbers, options, lhs_ragged_dims: ragged, rhs_group_dims: groups
            );
            let ty = preferred(options.preferred_element_type, [self, rhs])?;
            emit_of_type(b, op, &[self, rhs, group_sizes], ty)
        })
    }
    /// Returns a dot with block-scaled operands: XLA's `ScaledDot`.
    ///
    /// `scales` are those of `self` and of `rhs`: of the operand's rank, each size dividing the
    /// operand's, or a scalar.
    #[track_caller]
    pub fn scaled_dot(
        self,
        rhs: Self,
        scales: [Self; 2],
        dimension_numbers: &DotDimensionNumbers,
        options: &DotOptions,
    ) -> Self {
        self.record(|b| {
            let numbers = dimension_numbers.counted(self, rhs)?;
            let op = dot!(ScaledDot, numbers, options, algorithm: options.algorithm);
            let ty = preferred(options.preferred_element_type, [self, rhs])?;
            emit_of_type(b, op, &[self, rhs, scales[0], scales[1]], ty)
        })
    }
}

fn no_algorithm(algorithm: DotAlgorithm, method: &str) -> Result<()> {
    match algorithm {
        DotAlgorithm::Unset => Ok(()),
        other => Err(Error::argument(format!("`{method}` takes no algorithm, found `{other}`"))),
    }
}
