//! Values with PyTensor's broadcast patterns.
use super::types;
use crate::size;
use builder::{Code, Error, Result, Value};
use hlo::ElementType;

/// A value and its broadcastable pattern, which in PyTensor is part of the type.
///
/// A dimension is broadcastable if it is known to have size 1, so that operands may stretch it.
/// Here every size is known: dimensions of size 1 are broadcastable unless
/// [`Tensor::with_broadcastable`] declares otherwise, as PyTensor has it of a dimension whose size
/// it learns at run time only.
///
/// ```
/// use builder::Builder;
/// use builder_compat::pytensor::{Elemwise, ScalarOp, Tensor};
/// let b = Builder::new("m");
/// let x = b.parameter(0, "f32[2,3]", "x");
/// let row = b.parameter(1, "f32[1,3]", "row");
/// let add = Elemwise::new(ScalarOp::Add);
/// assert!(add.make_node(&[x.into(), row.into()]).is_ok());
/// let not_a_row = Tensor::from(row).with_broadcastable(&[false, false])?;
/// assert!(add.make_node(&[x.into(), not_a_row]).is_err());
/// # Ok::<(), builder::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tensor<'b> {
    pub(crate) value: Value<'b>,
    /// Nothing where it follows from the sizes.
    declared: Option<Vec<bool>>,
}

impl<'b> From<Value<'b>> for Tensor<'b> {
    fn from(value: Value<'b>) -> Self {
        Self { value, declared: None }
    }
}

impl<'b> Tensor<'b> {
    /// Returns the same value of another pattern: PyTensor's `specify_broadcastable` and its
    /// opposite, `unbroadcast`.
    ///
    /// # Errors
    /// `E0801` if there is not one flag for each dimension, or a dimension of another size than 1
    /// is declared broadcastable.
    pub fn with_broadcastable(self, pattern: &[bool]) -> Result<Self> {
        let dims = self.value.dims()?;
        if pattern.len() != dims.len() {
            let message = format!("{} dimensions have {} flags", dims.len(), pattern.len());
            return Err(Error::argument(message));
        }
        let wrong = pattern.iter().zip(&dims).position(|(&flag, &size)| flag && size != 1);
        if let Some(dim) = wrong {
            let message =
                format!("dimension {dim} has size {}, it cannot be broadcastable", dims[dim]);
            return Err(
                Error::argument(message).with_help("only dimensions of size 1 are repeated")
            );
        }
        Ok(Self { value: self.value, declared: Some(pattern.to_vec()) })
    }
    /// Returns the value.
    pub fn value(&self) -> Value<'b> {
        self.value
    }
    /// Returns which dimensions may be stretched.
    ///
    /// # Errors
    /// The first error if the value is invalid.
    pub fn broadcastable(&self) -> Result<Vec<bool>> {
        match &self.declared {
            Some(pattern) => Ok(pattern.clone()),
            None => Ok(self.value.dims()?.into_iter().map(|size| size == 1).collect()),
        }
    }
    pub(crate) fn dtype(&self) -> Result<ElementType> {
        let shape = self.value.array()?;
        if shape.dynamic.is_some() {
            let message = format!("{shape:#} has dimensions whose sizes vary");
            return Err(Code::Unsupported { message }.into());
        }
        types::check(shape.ty)?;
        Ok(shape.ty)
    }
    /// Returns the value with dimensions of size 1 before its own, up to this rank.
    pub(crate) fn left_completed(&self, rank: usize) -> Result<Self> {
        let missing = rank.saturating_sub(self.value.rank()?);
        if missing == 0 {
            return Ok(self.clone());
        }
        let mut dims = vec![1; missing];
        dims.extend(self.value.dims()?);
        let mut pattern = vec![true; missing];
        pattern.extend(self.broadcastable()?);
        Ok(Self { value: self.value.reshape(&dims), declared: Some(pattern) })
    }
}

/// Returns the inputs, which are of one rank, stretched to these sizes.
pub(super) fn stretched<'b>(inputs: &[Tensor<'b>], dims: &[i64]) -> Result<Vec<Value<'b>>> {
    inputs.iter().map(|input| stretch(input, dims)).collect()
}
pub(super) fn stretch<'b>(input: &Tensor<'b>, dims: &[i64]) -> Result<Value<'b>> {
    if input.value.dims()? == dims {
        return Ok(input.value);
    }
    let numbers: Vec<i64> = (0..size(dims.len())).collect();
    Ok(input.value.broadcast_in_dim(dims, &numbers))
}
