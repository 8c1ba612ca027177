//! Elements of an array as numbers of one type, and back.
use crate::cost_model::COMPUTED;
use hlo::literal::Native;
use hlo::{Array, ElementType};
use num::loops::convert_loop;
use num::parallel::{copy, parts};
use std::borrow::Cow;

/// Returns the bytes of a number that is wide enough to compute with elements of this type.
pub(crate) fn number_bytes(ty: ElementType) -> usize {
    let parts = if ty.is_complex() { 2 } else { 1 };
    parts * if ty.component() == ElementType::F64 { 2 * size_of::<f64>() } else { size_of::<f64>() }
}

/// Returns whether f64 is wide enough to compute with elements of this type, and they are real.
pub(crate) fn is_narrow(ty: ElementType) -> bool {
    !ty.is_complex() && ty != ElementType::F64
}

/// Returns the elements of an array of such a type in a type of floats.
pub(crate) fn converted<R: Native + Send>(array: &Array) -> Cow<'_, [R]> {
    let ty = array.shape().ty;
    if ty == R::TYPE {
        return Cow::Borrowed(bytemuck::cast_slice(array.bytes()));
    }
    let mut numbers = vec![R::zeroed(); array.len()];
    let function = convert_loop(ty, R::TYPE).expect("the types differ");
    parts(&mut numbers, (COMPUTED, 1), |number, part| {
        let from = array.bytes().chunks(COMPUTED * ty.storage_bytes()).nth(number);
        function(&[from.unwrap_or_default()], bytemuck::cast_slice_mut(part));
    });
    Cow::Owned(numbers)
}
/// Converts numbers to the elements of an array.
pub(crate) fn store<R: Native>(numbers: &[R], array: &mut Array) {
    let ty = array.shape().ty;
    let numbers: &[u8] = bytemuck::cast_slice(numbers);
    let Some(function) = convert_loop(R::TYPE, ty) else {
        return copy(numbers, array.bytes_mut());
    };
    parts(array.bytes_mut(), (COMPUTED * ty.storage_bytes(), 1), |number, part| {
        let from = numbers.chunks(COMPUTED * size_of::<R>()).nth(number);
        function(&[from.unwrap_or_default()], part);
    });
}
