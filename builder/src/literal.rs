//! Conversions of Rust values to literals.
use crate::arguments::size;
use crate::{Code, Error, Result};
use half::{bf16, f16};
use hlo::diag::quantity;
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};
use ndarray::{ArrayBase, Data, Dimension};

/// Values that can be constants: numbers, slices, nested arrays and vectors, `ndarray`s,
/// [`Literal`]s.
pub trait IntoLiteral {
    /// Returns the literal.
    ///
    /// # Errors
    /// `E0807` if rows differ in length.
    fn into_literal(self) -> Result<Literal>;
}

/// A Rust type of elements.
pub trait Element: Copy {
    /// The element type.
    const TYPE: ElementType;
    /// Returns the element in wide form.
    fn scalar(self) -> Scalar;
}
macro_rules! elements {
    ($($ty:ty: $element:ident $scalar:expr;)*) => {
        $(impl Element for $ty {
            const TYPE: ElementType = ElementType::$element;
            fn scalar(self) -> Scalar {
                $scalar(self.into())
            }
        })*
        $(impl IntoLiteral for $ty {
            fn into_literal(self) -> Result<Literal> {
                Ok(Literal::scalar(Self::TYPE, self.scalar()))
            }
        })*
        $(impl Nested for $ty {
            type Element = Self;
            fn dims(&self, _: &mut Dims) {}
            fn elements(&self, dims: &[i64], out: &mut Vec<Self>) -> Result<()> {
                if dims.is_empty() {
                    out.push(*self);
                }
                Ok(())
            }
        })*
    };
}
elements! {
    bool: Pred Scalar::Pred;
    i8: S8 Scalar::Signed; i16: S16 Scalar::Signed; i32: S32 Scalar::Signed; i64: S64 Scalar::Signed;
    u8: U8 Scalar::Unsigned; u16: U16 Scalar::Unsigned; u32: U32 Scalar::Unsigned; u64: U64 Scalar::Unsigned;
    f16: F16 Scalar::Float; bf16: Bf16 Scalar::Float; f32: F32 Scalar::Float; f64: F64 Scalar::Float;
}

/// Numbers, and lists of lists of them of any depth.
pub trait Nested {
    /// The innermost type.
    type Element: Element;
    /// Adds the sizes, judged by each first element.
    fn dims(&self, out: &mut Dims);
    /// Adds the elements, which must be as many as `dims` says.
    ///
    /// # Errors
    /// `E0807` if rows differ in length.
    fn elements(&self, dims: &[i64], out: &mut Vec<Self::Element>) -> Result<()>;
}

fn row_dims<T: Nested>(rows: &[T], out: &mut Dims) {
    out.push(size(rows.len()));
    if let Some(first) = rows.first() {
        first.dims(out);
    }
}
fn row_elements<T: Nested>(rows: &[T], dims: &[i64], out: &mut Vec<T::Element>) -> Result<()> {
    let Some((&expected, inner)) = dims.split_first() else { return Ok(()) };
    if size(rows.len()) != expected {
        let message =
            format!("a row has {}, the first {expected}", quantity(rows.len(), "element"));
        return Err(Error::from(Code::Literal { message })
            .with_help("an array has rows of one length; pad the short ones"));
    }
    rows.iter().try_for_each(|row| row.elements(inner, out))
}

macro_rules! lists {
    ($([$($generics:tt)*] $ty:ty;)*) => {
        $(impl<T: Nested, $($generics)*> Nested for $ty {
            type Element = T::Element;
            fn dims(&self, out: &mut Dims) {
                row_dims(&self[..], out);
            }
            fn elements(&self, dims: &[i64], out: &mut Vec<T::Element>) -> Result<()> {
                row_elements(&self[..], dims, out)
            }
        }
        impl<T: Nested, $($generics)*> IntoLiteral for $ty {
            fn into_literal(self) -> Result<Literal> {
                nested(&self)
            }
        })*
    };
}
lists! { [] Vec<T>; [] &Vec<T>; [] &[T]; [const N: usize] [T; N]; [const N: usize] &[T; N]; }

fn nested<N: Nested>(rows: &N) -> Result<Literal> {
    let (mut dims, mut elements) = (Dims::new(), Vec::new());
    rows.dims(&mut dims);
    rows.elements(&dims, &mut elements)?;
    Ok(filled(dims, elements.into_iter()))
}

/// Returns the array of these elements, as many as the sizes say.
fn filled<T: Element>(dims: Dims, elements: impl Iterator<Item = T>) -> Literal {
    let mut literal = Literal::zeros(ArrayShape::new(T::TYPE, dims));
    let width = T::TYPE.storage_bytes();
    for (bytes, element) in literal.bytes_mut().chunks_exact_mut(width).zip(elements) {
        element.scalar().write(T::TYPE, bytes);
    }
    literal
}

impl<S: Data<Elem = T>, T: Element, D: Dimension> IntoLiteral for ArrayBase<S, D> {
    fn into_literal(self) -> Result<Literal> {
        (&self).into_literal()
    }
}
impl<S: Data<Elem = T>, T: Element, D: Dimension> IntoLiteral for &ArrayBase<S, D> {
    fn into_literal(self) -> Result<Literal> {
        let dims = self.shape().iter().map(|&count| size(count));
        Ok(filled(dims.collect(), self.iter().copied()))
    }
}
impl IntoLiteral for Literal {
    fn into_literal(self) -> Result<Literal> {
        Ok(self)
    }
}
impl IntoLiteral for &Literal {
    fn into_literal(self) -> Result<Literal> {
        Ok(self.clone())
    }
}
