//! `fft`: discrete Fourier transforms.
use super::value::FftType;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Transforms the last dimensions.
    pub struct Fft {
        /// Which transform.
        pub fft_type: FftType = "fft_type";
        /// Sizes of the dimensions transformed.
        pub fft_length: Vec<i64> = "fft_length";
    }
}

impl ShapeRule for Fft {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
