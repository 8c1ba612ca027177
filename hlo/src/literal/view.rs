//! Typed views of literals.
use super::Array;
use crate::{ArrayShape, Dims, ElementType};
use half::{bf16, f16};

/// A Rust type that elements can be viewed as.
pub trait Native: bytemuck::Pod + Send + Sync + sealed::Sealed {
    /// The corresponding element type.
    const TYPE: ElementType;
    /// Returns whether elements of `ty` can be viewed as it.
    fn views(ty: ElementType) -> bool {
        ty == Self::TYPE
    }
}
mod sealed {
    pub trait Sealed {}
}

macro_rules! natives {
    ($($ty:ty: $element:ident;)*) => {
        $(impl sealed::Sealed for $ty {}
        impl Native for $ty {
            const TYPE: ElementType = ElementType::$element;
        })*
    };
}
natives! {
    i8: S8; i16: S16; i32: S32; i64: S64;
    u16: U16; u32: U32; u64: U64;
    f16: F16; bf16: Bf16; f32: F32; f64: F64;
    [f32; 2]: C64; [f64; 2]: C128;
}
impl sealed::Sealed for u8 {}
impl Native for u8 {
    const TYPE: ElementType = ElementType::U8;
    /// Returns every type stored in one byte: `pred`, 8-bit floats, and sub-byte types.
    fn views(ty: ElementType) -> bool {
        ty.storage_bytes() == 1
    }
}

impl Array {
    /// Returns an array of these sizes.
    ///
    /// # Panics
    /// If the product of the sizes is not the number of elements.
    pub fn from_slice<T: Native>(dims: &[i64], elements: &[T]) -> Self {
        let shape = ArrayShape::new(T::TYPE, Dims::from_slice(dims));
        let array = Self::from_bytes(shape, bytemuck::cast_slice(elements));
        array.expect("as many elements as the sizes say")
    }
    /// Returns the elements, if they are of this type.
    pub fn as_slice<T: Native>(&self) -> Option<&[T]> {
        T::views(self.shape().ty).then(|| bytemuck::try_cast_slice(self.bytes()).ok())?
    }
    /// Returns the elements, to change, if they are of this type; copies them first if they are
    /// shared or foreign.
    pub fn as_mut_slice<T: Native>(&mut self) -> Option<&mut [T]> {
        T::views(self.shape().ty).then(|| bytemuck::try_cast_slice_mut(self.bytes_mut()).ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_check_the_type() {
        let x = Array::from_slice(&[2, 2], &[1i32, 2, 3, 4]);
        assert_eq!(x.as_slice::<f32>(), None);
        let s4: Array = "s4[2] {-1, 7}".parse().unwrap();
        assert_eq!(s4.as_slice::<u8>(), Some([255, 7].as_slice()));
        assert!("( s32[] 1 )".parse::<Array>().is_err());
    }
}
