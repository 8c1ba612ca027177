//! Reshapes, and the propagation of dynamic sizes through them.
use super::shapes::sizes;
use crate::arguments::counted;
use crate::{Builder, Error, IntoShape, Result, Value};
use hlo::op::Reshape;
use hlo::{ArrayShape, Dims};

impl Value<'_> {
    /// As [`Value::reshape`], where the size of a dynamic dimension goes to dimension
    /// `inferred_dimension` of the result if it becomes several: XLA's
    /// `ReshapeWithInferredDimension`. Of an array of fixed size it is a plain reshape.
    #[track_caller]
    pub fn reshape_with_inferred_dimension(
        self,
        new_sizes: &[i64],
        inferred_dimension: i64,
    ) -> Self {
        self.record(|b| {
            let new_sizes = sizes(new_sizes)?;
            let inferred_dimension = counted(inferred_dimension, new_sizes.len());
            let exists = usize::try_from(inferred_dimension).is_ok_and(|d| d < new_sizes.len());
            if !exists {
                let message = format!(
                    "the inferred dimension {inferred_dimension} is none of the {} of {:?}",
                    new_sizes.len(),
                    new_sizes.as_slice()
                );
                return Err(Error::argument(message));
            }
            to_sizes(b, self, new_sizes, inferred_dimension)
        })
    }
    /// Returns the same elements under other dimensions, where dimension `dimensions[0]` of the
    /// array varies slowest, then `dimensions[1]`, and so on: XLA's `Reshape` with `dimensions`, as
    /// of 2018.
    ///
    /// It is the reshape of a transpose.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    /// let flat = interp::run(&b.build(x.reshape_in_order(&[1, 0], &[6]))?, &[])?;
    /// assert_eq!(flat.to_string(), "s32[6]{0} {1, 4, 2, 5, 3, 6}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn reshape_in_order(self, dimensions: &[i64], new_sizes: &[i64]) -> Self {
        self.record(|_| Ok(self.transpose(dimensions).reshape(new_sizes)))
    }
    /// Returns the same elements, in row-major order, in a shape given whole, with its layout and
    /// dynamic dimensions: XLA's `Reshape` with a shape.
    #[track_caller]
    pub fn reshape_to(self, shape: impl IntoShape) -> Self {
        self.record(|b| {
            let shape = shape.into_shape()?;
            b.emit(Reshape { inferred_dimension: -1 }, &[self], Some(shape))
        })
    }
}

/// Returns the reshape to these sizes; dynamic sizes go where their dimensions go.
pub(crate) fn to_sizes<'b>(
    b: &'b Builder,
    operand: Value<'b>,
    new_sizes: Dims,
    inferred_dimension: i64,
) -> Result<Value<'b>> {
    let from = operand.array()?;
    let mut to = ArrayShape::new(from.ty, new_sizes);
    if from.dynamic.is_some() && from.element_count() == to.element_count() {
        to.dynamic = dynamic(&from, &to, inferred_dimension)?;
    }
    b.emit(Reshape { inferred_dimension }, &[operand], Some(to.into()))
}

/// Returns which dimensions of the result are dynamic.
///
/// The dimensions of both sides fall into groups of equal products. A group of one dimension on the
/// right takes the dynamic size of its left side; of several, `inferred` does, or the first that is
/// longer than 1.
fn dynamic(from: &ArrayShape, to: &ArrayShape, inferred: i64) -> Result<Option<Box<[bool]>>> {
    let mut flags = vec![false; to.rank()];
    for (left, right) in groups(&from.dims, &to.dims) {
        if !left.clone().any(|d| from.is_dynamic(d)) {
            continue;
        }
        if left.len() > 1 && right.len() > 1 {
            let message = format!(
                "a dynamic dimension is merged with others and divided, from {from:#} to {to:#}"
            );
            return Err(
                Error::unsupported(message).with_help("reshape twice: merge first, then divide")
            );
        }
        let chosen = usize::try_from(inferred).ok().filter(|d| right.contains(d));
        let longer = right.clone().find(|&d| to.dims[d] != 1);
        if let Some(d) = chosen.or(longer).or(right.clone().next()) {
            flags[d] = true;
        }
    }
    Ok(flags.contains(&true).then(|| flags.into()))
}

type Range = std::ops::Range<usize>;

/// Returns the shortest runs of dimensions of both sides whose products are equal.
fn groups(from: &[i64], to: &[i64]) -> Vec<(Range, Range)> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (start, other) = (i, j);
        let (mut left, mut right) = (1i128, 1i128);
        loop {
            if i < from.len() && (left <= right || j == to.len()) {
                left = left.saturating_mul(i128::from(from[i]));
                i += 1;
            } else if j < to.len() {
                right = right.saturating_mul(i128::from(to[j]));
                j += 1;
            } else {
                break;
            }
            if left == right && i > start && j > other {
                break;
            }
        }
        groups.push((start..i, other..j));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn groups_are_the_shortest() {
        assert_eq!(groups(&[4, 6], &[4, 6]), [(0..1, 0..1), (1..2, 1..2)]);
        assert_eq!(groups(&[4, 6], &[24]), [(0..2, 0..1)]);
        assert_eq!(groups(&[24, 5], &[4, 6, 5]), [(0..1, 0..2), (1..2, 2..3)]);
        assert_eq!(groups(&[4, 6], &[6, 4]), [(0..2, 0..2)]);
        assert_eq!(groups(&[2, 1, 3], &[2, 3, 1]), [(0..1, 0..1), (1..3, 1..2), (3..3, 2..3)]);
        assert_eq!(groups(&[], &[1]), [(0..0, 0..1)]);
    }
}
