//! The values that a device sends: those of a device of this rank, or descriptions of those of
//! another rank's device.
use hlo::diag::quantity;
use hlo::{ArrayShape, Literal, Shape};
use serde::{Deserialize, Serialize};

/// The reason why bytes cannot be decoded.
pub(crate) type DecodeError = String;

/// The values that a device sends.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Those of a device of this rank.
    Local(Vec<Literal>),
    /// Those of a device of another rank, which keeps them; none if they stay there.
    Remote(Vec<RemoteValue>),
}

impl Values {
    /// Returns the values of a device of this rank; none for another one.
    pub(crate) fn local(&self) -> &[Literal] {
        match self {
            Self::Local(values) => values,
            Self::Remote(_) => &[],
        }
    }
    /// Returns the descriptions of the values of another rank's device.
    pub(crate) fn remote(&self) -> &[RemoteValue] {
        match self {
            Self::Local(_) => &[],
            Self::Remote(values) => values,
        }
    }
    /// Returns the shape of the first value, if it is known.
    pub(crate) fn first_shape(&self) -> Option<Shape> {
        match self {
            Self::Local(values) => values.first().map(Literal::shape),
            Self::Remote(values) => values.first().map(|value| value.shape.clone()),
        }
    }
    /// Returns whether the sizes of all arrays are those of their shapes.
    pub(crate) fn is_static(&self) -> bool {
        match self {
            Self::Local(values) => {
                let mut leaves = values.iter().flat_map(Literal::leaves);
                leaves.all(|leaf| leaf.dynamic_sizes().is_none())
            }
            Self::Remote(values) => {
                values.iter().all(|value| value.sizes.iter().all(Option::is_none))
            }
        }
    }
}

/// A value without its bytes, in a message: its shape as text, and the sizes of arrays with dynamic
/// dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ValueHeader {
    pub(crate) shape: String,
    pub(crate) sizes: Vec<Option<Vec<i64>>>,
}

impl ValueHeader {
    pub(crate) fn of(value: &Literal) -> Self {
        let sizes = |array: &Literal| array.dynamic_sizes().map(<[i64]>::to_vec);
        let sizes = value.leaves().into_iter().map(sizes).collect();
        Self { shape: value.shape().to_string(), sizes }
    }
    /// Checks the description that another rank sent.
    pub(crate) fn parse(&self) -> Result<RemoteValue, DecodeError> {
        // The parser of shapes limits the depth.
        let shape: Shape = self.shape.parse().map_err(|e: hlo::Error| e.to_string())?;
        let leaves = shape.leaves();
        if leaves.len() != self.sizes.len() {
            let sizes = self.sizes.len();
            return Err(format!(
                "{shape} has {}, found sizes of {sizes}",
                quantity(leaves.len(), "array")
            ));
        }
        for (leaf, sizes) in leaves.into_iter().zip(&self.sizes) {
            match (leaf, sizes) {
                (Shape::Array(_) | Shape::Token, None) => {}
                (Shape::Array(array), Some(sizes)) => {
                    let within = |(size, bound): (&i64, &i64)| (0..=*bound).contains(size);
                    if sizes.len() != array.rank() || !sizes.iter().zip(&array.dims).all(within) {
                        return Err(format!("sizes {sizes:?} do not fit in {array}"));
                    }
                }
                (leaf, _) => return Err(format!("{leaf} has no values")),
            }
        }
        Ok(RemoteValue { shape, sizes: self.sizes.clone() })
    }
}

/// A value of another rank's device, without its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RemoteValue {
    pub(crate) shape: Shape,
    /// The dynamic sizes of each leaf.
    sizes: Vec<Option<Vec<i64>>>,
}

impl RemoteValue {
    /// Describes an array of static sizes.
    pub(crate) fn array(shape: ArrayShape) -> Self {
        Self { shape: Shape::Array(shape), sizes: vec![None] }
    }
    /// Fails if an array is larger than what can be allocated.
    pub(crate) fn check_size(&self) -> Result<(), DecodeError> {
        self.arrays().try_for_each(|shape| {
            let bytes = shape.byte_count();
            match bytes.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok()) {
                true => Ok(()),
                false => Err(format!("there is no memory for {shape}")),
            }
        })
    }
    /// Returns the shapes of its arrays.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &ArrayShape> {
        self.shape.leaves().into_iter().filter_map(Shape::array)
    }
    /// Returns the value, of as many of the arrays as it has.
    pub(crate) fn assemble(&self, arrays: &mut impl Iterator<Item = Literal>) -> Literal {
        assemble(&self.shape, &mut self.sizes.iter(), arrays)
    }
}

fn assemble<'a>(
    shape: &Shape,
    sizes: &mut impl Iterator<Item = &'a Option<Vec<i64>>>,
    arrays: &mut impl Iterator<Item = Literal>,
) -> Literal {
    if let Shape::Tuple(elements) = shape {
        return Literal::tuple(elements.iter().map(|s| assemble(s, sizes, arrays)).collect());
    }
    let sizes = sizes.next().and_then(Option::as_ref);
    match (shape.array().and_then(|_| arrays.next()), sizes) {
        (Some(array), Some(sizes)) => array.with_sizes(sizes),
        (Some(array), None) => array,
        (None, _) => Literal::token(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_headers_are_errors() {
        for (shape, sizes, expected) in [
            ("f32[2", vec![None], "error["),
            ("(f32[], f32[])", vec![None], "has 2 arrays, found sizes of 1"),
            ("f32[]", vec![None, None], "has 1 array, found sizes of 2"),
            ("f32[2]", vec![Some(vec![3])], "sizes [3] do not fit in f32[2]"),
            ("f32[2]", vec![Some(vec![-1])], "sizes [-1] do not fit in f32[2]"),
            ("f32[2]", vec![Some(vec![1, 1])], "sizes [1, 1] do not fit in f32[2]"),
            ("token[]", vec![Some(vec![])], "has no values"),
            ("opaque[]", vec![None], "has no values"),
        ] {
            let header = ValueHeader { shape: shape.to_owned(), sizes };
            let error = header.parse().unwrap_err();
            assert!(error.contains(expected), "{shape}: {error}");
        }
    }
}
