//! The second operand of an operator: a value, a value with broadcast dimensions, or a number.
use crate::{Code, Error, Result, Value};
use hlo::elem::Class;
use hlo::{ElementType, Literal, Scalar};

/// A value and the dimensions of the other operand that it broadcasts along; made by
/// [`Value::along`].
#[derive(Debug, Clone, Copy)]
pub struct Along<'b> {
    /// The value.
    pub value: Value<'b>,
    /// The number of its list of dimensions, which the builder keeps.
    dims: usize,
}

impl Along<'_> {
    /// Returns a dimension of the other operand for each of its own; none where they follow from
    /// the shapes.
    pub fn dims(&self) -> Vec<i64> {
        self.value.builder().state.borrow().along[self.dims].clone()
    }
}

impl<'b> Value<'b> {
    /// Broadcasts the value along these dimensions of the other operand: XLA's
    /// `broadcast_dimensions`.
    ///
    /// Of two operands of different rank the one with fewer dimensions is laid along; `dims` has
    /// one entry for each of its dimensions, growing. (Broadcasting Semantics, XLA.)
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[8,10]", "x");
    /// let bias = b.parameter(1, "f32[10]", "bias");
    /// let bias = bias.along(&[1]);
    /// let y = x * bias + bias;
    /// assert_eq!(y.dims()?, [8, 10]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    pub fn along(self, dims: &[i64]) -> Along<'b> {
        let lists = &mut self.builder().state.borrow_mut().along;
        let known = lists.iter().position(|list| list == dims);
        let dims = known.unwrap_or_else(|| {
            lists.push(dims.to_vec());
            lists.len() - 1
        });
        Along { value: self, dims }
    }
}

/// The other operand of an operator: a [`Value`], one with broadcast dimensions ([`Value::along`]),
/// or a number, which becomes a scalar constant of the other operand's type.
pub trait Operand<'b> {
    /// Converts to an operand for `other`.
    ///
    /// # Errors
    /// `E0807` if it is a number that `other`'s type does not hold.
    fn beside(self, other: Value<'b>) -> Result<Along<'b>>;
    /// Returns the value, unless it is a plain number.
    fn value(&self) -> Option<Value<'b>>;
}
impl<'b> Operand<'b> for Value<'b> {
    fn beside(self, _: Value<'b>) -> Result<Along<'b>> {
        Ok(self.along(&[]))
    }
    fn value(&self) -> Option<Value<'b>> {
        Some(*self)
    }
}
impl<'b> Operand<'b> for Along<'b> {
    fn beside(self, _: Value<'b>) -> Result<Self> {
        Ok(self)
    }
    fn value(&self) -> Option<Value<'b>> {
        Some(self.value)
    }
}

macro_rules! numbers {
    ($($ty:ty: $number:ident;)*) => {
        $(impl<'b> Operand<'b> for $ty {
            fn beside(self, other: Value<'b>) -> Result<Along<'b>> {
                Ok(number(other, PlainNumber::$number(self.into()))?.along(&[]))
            }
            fn value(&self) -> Option<Value<'b>> {
                None
            }
        })*
    };
}
numbers! { f32: Float; f64: Float; i32: Integer; i64: Integer; u32: Integer; bool: Bool; }

/// A number in the user's program.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PlainNumber {
    Float(f64),
    Integer(i64),
    Bool(bool),
}

/// Returns the number as a scalar of `like`'s type.
pub(crate) fn number(like: Value<'_>, number: PlainNumber) -> Result<Value<'_>> {
    let ty = like.element_type()?;
    like.builder().make_constant(Literal::scalar(ty, scalar(number, ty)?))
}

/// Returns the number as an element of this type. An integer type must hold it exactly; a float
/// type rounds it to the nearest.
pub(crate) fn scalar(number: PlainNumber, ty: ElementType) -> Result<Scalar> {
    let refused = |shown: String, help: &str| {
        let message = format!("{shown} is not a value of {ty}");
        Err(Error::from(Code::Literal { message }).with_help(help))
    };
    let (from, plain) = match number {
        PlainNumber::Float(x) => (ElementType::F64, Scalar::Float(x)),
        PlainNumber::Integer(n) => (ElementType::S64, Scalar::Signed(n)),
        PlainNumber::Bool(t) => (ElementType::Pred, Scalar::Pred(t)),
    };
    match (number, ty.class()) {
        (PlainNumber::Float(x), Class::Signed | Class::Unsigned | Class::Pred) => {
            refused(format!("{x:?}"), "write an integer, or convert the value to a float type")
        }
        (PlainNumber::Integer(n), Class::Signed | Class::Unsigned | Class::Pred) => {
            let scalar = plain.convert(from, ty);
            let held = scalar.as_i64() == Some(n);
            if held { Ok(scalar) } else { refused(n.to_string(), "use a wider type") }
        }
        (PlainNumber::Bool(t), Class::Signed | Class::Unsigned | Class::Float | Class::Complex) => {
            refused(t.to_string(), "write 0 or 1")
        }
        (PlainNumber::Bool(_), Class::Pred)
        | (PlainNumber::Float(_) | PlainNumber::Integer(_), Class::Float | Class::Complex) => {
            Ok(plain.convert(from, ty))
        }
    }
}
