//! `DimShuffle`: dimensions reordered, inserted and dropped.
use super::cotangent::{Cotangent, derived, finished};
use super::scalar::Partial;
use super::types::is_discrete;
use super::{Tensor, immediately};
use builder::{Error, Result, Value};
use hlo::ElementType;
use hlo::diag::quantity;

/// A dimension of a [`DimShuffle`]'s output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// A new one, of size 1 and broadcastable: PyTensor's `'x'`.
    X,
    /// This one of the input.
    Dim(usize),
}
impl From<usize> for Axis {
    fn from(dim: usize) -> Self {
        Self::Dim(dim)
    }
}

/// A list of [`Axis`] in PyTensor's spelling: `new_order!['x', 0, 1]`.
///
/// ```
/// use builder_compat::{new_order, pytensor::Axis};
/// assert_eq!(new_order!['x', 1], [Axis::X, Axis::Dim(1)]);
/// ```
#[macro_export]
macro_rules! new_order {
    (@axis 'x') => { $crate::pytensor::Axis::X };
    (@axis "x") => { $crate::pytensor::Axis::X };
    (@axis x) => { $crate::pytensor::Axis::X };
    (@axis $dim:tt) => { $crate::pytensor::Axis::Dim($dim) };
    [$($axis:tt),* $(,)?] => { [$($crate::new_order!(@axis $axis)),*] };
}

/// PyTensor's `DimShuffle`: output dimension `i` is dimension `new_order[i]` of the input, or a new
/// one of size 1. Dimensions that are not named are dropped; they must be broadcastable.
///
/// ```
/// use builder::Builder;
/// use builder_compat::{pytensor::DimShuffle, new_order};
/// let b = Builder::new("m");
/// let x = b.parameter(0, "f32[20,30,40]", "x");
/// let y = DimShuffle::new(3, &new_order!['x', 2, 'x', 0, 1])?.apply(x);
/// assert_eq!(y.dims()?, [1, 40, 1, 20, 30]);
/// # Ok::<(), builder::Error>(())
/// ```
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimShuffle {
    input_ndim: usize,
    new_order: Vec<Axis>,
    float_x: ElementType,
}

impl DimShuffle {
    /// Returns the operation on inputs of this rank.
    ///
    /// # Errors
    /// `E0801` for a dimension the input does not have, and one that is named twice.
    #[track_caller]
    pub fn new(input_ndim: usize, new_order: &[Axis]) -> Result<Self> {
        let here = std::panic::Location::caller();
        let mut named = vec![false; input_ndim];
        for (i, axis) in new_order.iter().enumerate() {
            let Axis::Dim(dim) = *axis else { continue };
            let message = match named.get_mut(dim) {
                None => format!(
                    "new_order[{i}] is {dim}, the input has {}",
                    quantity(input_ndim, "dimension")
                ),
                Some(true) => format!("dimension {dim} of the input is named twice in new_order"),
                Some(seen) => {
                    *seen = true;
                    continue;
                }
            };
            return Err(Error::argument(message).at(here));
        }
        Ok(Self { input_ndim, new_order: new_order.to_vec(), float_x: ElementType::F64 })
    }
    /// Sets PyTensor's `floatX`: the type of the zero cotangents of discrete inputs; `float64` as
    /// it comes.
    pub fn float_x(mut self, ty: ElementType) -> Self {
        self.float_x = ty;
        self
    }
    /// Dimensions of the input that are kept, in their new order.
    pub fn shuffle(&self) -> Vec<usize> {
        self.new_order.iter().filter_map(|axis| dim(*axis)).collect()
    }
    /// Dimensions of the input that are dropped.
    pub fn dropped(&self) -> Vec<usize> {
        let kept = self.shuffle();
        (0..self.input_ndim).filter(|dim| !kept.contains(dim)).collect()
    }
    /// Dimensions of the output that are new.
    pub fn augment(&self) -> Vec<usize> {
        let new = self.new_order.iter().enumerate().filter(|(_, axis)| **axis == Axis::X);
        new.map(|(i, _)| i).collect()
    }

    /// Returns the output, of an input whose dimensions of size 1 are all broadcastable.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for an input of another rank and for a dropped dimension that
    /// is not broadcastable.
    #[track_caller]
    pub fn apply<'b>(&self, input: Value<'b>) -> Value<'b> {
        input.record(|_| Ok(self.node(&input.into())?.value))
    }
    /// Returns the output with its pattern, of an input with its own.
    ///
    /// # Errors
    /// As [`DimShuffle::apply`].
    #[track_caller]
    pub fn make_node<'b>(&self, input: &Tensor<'b>) -> Result<Tensor<'b>> {
        immediately(input.value.builder(), |_| self.node(input))
    }
    fn node<'b>(&self, input: &Tensor<'b>) -> Result<Tensor<'b>> {
        input.dtype()?;
        let (dims, pattern) = (input.value.dims()?, input.broadcastable()?);
        if dims.len() != self.input_ndim {
            let message = format!(
                "`{self}` takes an input of {} dimensions, this has {}",
                self.input_ndim,
                dims.len()
            );
            return Err(Error::argument(message));
        }
        let dropped = self.dropped();
        if let Some(&bad) = dropped.iter().find(|&&dim| !pattern[dim]) {
            let message = format!(
                "`{self}` drops dimension {bad}, of size {}, which is not broadcastable",
                dims[bad]
            );
            return Err(Error::argument(message)
                .with_help("only broadcastable dimensions, of size 1, can be dropped"));
        }
        let order: Vec<usize> = self.shuffle().into_iter().chain(dropped).collect();
        let mut value = input.value;
        if !order.is_sorted() {
            let permutation: Result<Vec<i64>, _> =
                order.iter().map(|&dim| i64::try_from(dim)).collect();
            value = value.transpose(&permutation.unwrap_or_default());
        }
        let of = |axis: &Axis| dim(*axis).map_or((1, true), |dim| (dims[dim], pattern[dim]));
        let (sizes, flags): (Vec<i64>, Vec<bool>) = self.new_order.iter().map(of).unzip();
        if value.dims()? != sizes {
            value = value.reshape(&sizes);
        }
        Tensor::from(value).with_broadcastable(&flags)
    }

    /// Returns the cotangent of the input from that of the output: shuffled back.
    ///
    /// # Errors
    /// Kept by the builder: as [`DimShuffle::apply`]; `E0801` for a cotangent of another shape than
    /// the output's.
    #[track_caller]
    pub fn pullback<'b>(
        &self,
        input: Value<'b>,
        output: Value<'b>,
        cotangent: impl Into<Cotangent<'b>>,
    ) -> Cotangent<'b> {
        derived(output, cotangent, |given| {
            if is_discrete(input.element_type()?) {
                return finished(Partial::Zero, input, self.float_x);
            }
            let mut back = vec![Axis::X; self.input_ndim];
            for (i, axis) in self.new_order.iter().enumerate() {
                if let Some(slot) = dim(*axis).and_then(|dim| back.get_mut(dim)) {
                    *slot = Axis::Dim(i);
                }
            }
            let back = Self::new(self.new_order.len(), &back)?;
            Ok(Cotangent::Value(back.node(&given.into())?.value))
        })
    }
    /// Returns the tangent of the output from that of the input: shuffled alike.
    ///
    /// # Errors
    /// Kept by the builder: as [`DimShuffle::pullback`].
    #[track_caller]
    pub fn pushforward<'b>(
        &self,
        input: Value<'b>,
        output: Value<'b>,
        tangent: impl Into<Cotangent<'b>>,
    ) -> Cotangent<'b> {
        derived(input, tangent, |given| {
            finished(Partial::Value(self.node(&given.into())?.value), output, self.float_x)
        })
    }
}

fn dim(axis: Axis) -> Option<usize> {
    match axis {
        Axis::X => None,
        Axis::Dim(dim) => Some(dim),
    }
}

impl std::fmt::Display for DimShuffle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let axes: Vec<String> = (self.new_order.iter())
            .map(|axis| dim(*axis).map_or("x".to_owned(), |dim| dim.to_string()))
            .collect();
        write!(f, "DimShuffle{{order=[{}]}}", axes.join(","))
    }
}
