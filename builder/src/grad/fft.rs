//! Derivatives of fft: linear, and its matrix is symmetric.
//!
//! A real transform is the complex one of an array without imaginary part, of which one half is
//! kept; back, the half stands for the whole, so that all but the first and, of even lengths, the
//! last entry count twice. (JAX has the same cotangents.)
use super::node::{Derivative, Node};
use super::ops;
use super::tangent::Tangent;
use crate::arguments::size;
use crate::{Result, Value};
use hlo::Shape;
use hlo::op::Fft;
use hlo::op::value::FftType;

impl Derivative for Fft {
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let operand = node.operand(0)?;
        if operand.dims()?.contains(&0) || c.dims()?.contains(&0) {
            return Ok(node.first_only(operand.zeros_like()));
        }
        let pulled = match self.fft_type {
            FftType::Fft | FftType::Ifft => node.again(&[c])?,
            FftType::Rfft => from_half(self, c, operand)?,
            FftType::Irfft => to_half(self, c, operand)?,
        };
        Ok(node.first_only(pulled))
    }
}

/// Returns the cotangent of a real input: the real part of the full transform of the half spectrum.
fn from_half<'b>(op: &Fft, c: Value<'b>, operand: Value<'b>) -> Result<Value<'b>> {
    let (whole, half) = (operand.array()?, c.array()?);
    let missing = |(&size, &kept): (&i64, &i64)| (0, size - kept, 0);
    let dims: Vec<_> = whole.dims.iter().zip(&half.dims).map(missing).collect();
    let filled = c.pad(0, &dims);
    let back = Fft { fft_type: FftType::Fft, ..op.clone() };
    Ok(c.builder().emit(back, &[filled], Some(filled.shape()?))?.real())
}
/// Returns the cotangent of a half spectrum: half of the transform, conjugated and weighted.
fn to_half<'b>(op: &Fft, c: Value<'b>, operand: Value<'b>) -> Result<Value<'b>> {
    let shape = operand.array()?;
    let back = Fft { fft_type: FftType::Rfft, ..op.clone() };
    let half = c.builder().emit(back, &[c], Some(Shape::from(shape.clone())))?;
    let last = op.fft_length.last().copied().unwrap_or(0);
    let kept = last / 2 + 1;
    let once = |i: i64| i == 0 || (last % 2 == 0 && i == kept - 1);
    let weights: Vec<i64> = (0..kept).map(|i| if once(i) { 1 } else { 2 }).collect();
    let ty = c.element_type()?;
    let count: i64 = op.fft_length.iter().product();
    let weights = ops::integers(c, ty, weights) / c.scalar_like(count);
    let weights =
        ops::spread(weights.convert_element_type(shape.ty), &[size(shape.dims.len()) - 1], &shape)?;
    Ok(half.conj() * weights)
}
