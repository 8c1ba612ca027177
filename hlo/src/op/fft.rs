//! `fft`: discrete Fourier transforms.
use super::value::FftType;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, ElementType, Error, Result, Shape};

attrs! {
    /// Computes the discrete Fourier transform of the last dimensions.
    pub struct Fft {
        /// The kind of transform.
        pub fft_type: FftType = "fft_type" in fft_type;
        /// Sizes of the transformed dimensions.
        pub fft_length: Vec<i64> = "fft_length" in fft_length;
    }
}

/// Returns the size of the half spectrum of `n` real numbers: the other half is its conjugate; 0
/// for 0.
fn half(n: i64) -> i64 {
    if n == 0 { 0 } else { n / 2 + 1 }
}

impl Fft {
    /// Returns the result's element type; fails unless the transform accepts the operand's.
    fn result_type(&self, cx: &Infer<'_>, found: ElementType) -> Result<ElementType> {
        let complex = |ty: ElementType| ty.is_complex();
        match self.fft_type {
            FftType::Fft | FftType::Ifft => {
                cx.types(0, complex, "complex")?;
                Ok(found)
            }
            FftType::Irfft => {
                cx.types(0, complex, "complex")?;
                Ok(found.component())
            }
            FftType::Rfft => {
                cx.types(0, |ty| ty.complex().is_some(), "f32, f64")?;
                Ok(found.complex().unwrap_or(found))
            }
        }
    }

    /// Fails unless the operand's last sizes are those of the transform.
    fn sizes(&self, operand: &ArrayShape) -> Result<()> {
        let last = &operand.dims[operand.rank() - self.fft_length.len()..];
        let mut expected = self.fft_length.clone();
        let rule = match self.fft_type {
            FftType::Fft | FftType::Ifft => "fft_length",
            FftType::Rfft => "fft_c4",
            FftType::Irfft => {
                let n = expected.last_mut().expect("checked before: one length or more");
                *n = half(*n);
                "fft_c5"
            }
        };
        check(last == expected, rule, || {
            format!(
                "fft_length={:?} expects the last sizes to be {expected:?}, {operand:#} has {last:?}",
                self.fft_length
            )
        })
        .map_err(|e: Error| {
            e.on(Place::Attribute("fft_length"))
                .with_help("use `slice` or `pad` first: a transform does neither")
        })
    }
}

impl ShapeRule for Fft {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        let ty = self.result_type(cx, operand.ty)?;
        let count = self.fft_length.len();
        let lengths = |e: Error| e.on(Place::Attribute("fft_length"));
        check((1..=3).contains(&count), "fft_c3", || {
            format!("expected 1, 2 or 3 transformed dimensions, found {count}")
        })
        .map_err(lengths)?;
        check(count <= operand.rank(), "fft_c1", || {
            format!("{operand:#} has fewer dimensions than the {count} to transform")
        })
        .map_err(lengths)?;
        check(self.fft_length.iter().all(|&n| n >= 0), "fft_negative", || {
            format!("fft_length={:?} has a negative size", self.fft_length)
        })
        .map_err(lengths)?;
        self.sizes(operand)?;
        let mut result = operand.with_type(ty);
        let last = result.dims.last_mut().expect("checked above: a dimension or more");
        match self.fft_type {
            FftType::Fft | FftType::Ifft => {}
            FftType::Rfft => *last = half(*last),
            FftType::Irfft => *last = self.fft_length[count - 1],
        }
        Ok(result.into())
    }
}
