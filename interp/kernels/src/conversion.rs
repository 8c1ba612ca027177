//! Elements of an array as numbers of one type, and back.
use crate::Kernel;
use crate::cost_model::COMPUTED;
use crate::function::given;
use hlo::literal::Native;
use hlo::op::Binary;
use hlo::{Array, ArrayShape, ElementType, Scalar};
use num::clock::Stop;
use num::complex_of::Field;
use num::index::saturating_count;
use num::loops::convert_loop;
use num::parallel::{copy, parts};
use num::scalar_program::ScalarProgram;
use num::{Arithmetic, Result, Scope};
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
    convert(array, R::TYPE, bytemuck::cast_slice_mut(&mut numbers));
    Cow::Owned(numbers)
}
/// Converts the elements of an array to those of another type.
fn convert(array: &Array, to: ElementType, result: &mut [u8]) {
    let ty = array.shape().ty;
    let function = convert_loop(ty, to).expect("the types differ");
    parts(result, (COMPUTED * to.storage_bytes(), 1), |number, part| {
        let from = array.bytes().chunks(COMPUTED * ty.storage_bytes()).nth(number);
        function(&[from.unwrap_or_default()], part);
    });
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

/// Elements that are converted at once on their way to numbers or back.
const STAGE: usize = 256;

/// Returns the elements of an array as real or complex numbers.
pub(crate) fn numbers<F: Field>(array: &Array) -> Vec<F> {
    let (ty, stop) = (array.shape().ty, Stop::current());
    let (wide, width) = (wide_type(ty), ty.storage_bytes());
    let widen = convert_loop(ty, wide);
    let mut stage = [[0.0_f64; 2]; STAGE];
    let mut numbers = Vec::with_capacity(array.len());
    for part in array.bytes().chunks(STAGE * width).take_while(|_| !stop.is_set()) {
        let count = part.len() / width;
        let stage: &mut [u8] = bytemuck::cast_slice_mut(&mut stage);
        let stage = &mut stage[..count * wide.storage_bytes()];
        match &widen {
            Some(widen) => widen(&[part], stage),
            None => stage.copy_from_slice(part),
        }
        if ty.is_complex() {
            let parts: &[[f64; 2]] = bytemuck::cast_slice(stage);
            numbers.extend(parts.iter().map(|&[re, im]| F::of(Scalar::Complex(re, im))));
        } else {
            let parts: &[f64] = bytemuck::cast_slice(stage);
            numbers.extend(parts.iter().map(|&x| F::of(Scalar::Float(x))));
        }
    }
    numbers.resize(array.len(), F::ZERO);
    numbers
}

/// Rounds numbers to the elements of an array.
pub(crate) fn store_numbers<F: Field>(array: &mut Array, number: impl Fn(usize) -> F + Sync) {
    let ty = array.shape().ty;
    let (wide, width) = (wide_type(ty), ty.storage_bytes());
    let round = convert_loop(wide, ty);
    parts(array.bytes_mut(), (STAGE * width, COMPUTED / STAGE), |part_number, part| {
        let count = part.len() / width;
        let mut stage = [[0.0_f64; 2]; STAGE];
        let stage: &mut [u8] = bytemuck::cast_slice_mut(&mut stage);
        let stage = &mut stage[..count * wide.storage_bytes()];
        let slots = stage.chunks_exact_mut(wide.storage_bytes());
        for (i, slot) in slots.enumerate() {
            number(part_number * STAGE + i).element().write(wide, slot);
        }
        match &round {
            Some(round) => round(&[stage], part),
            None => part.copy_from_slice(stage),
        }
    });
}

/// Returns the widest type of real or complex elements.
fn wide_type(ty: ElementType) -> ElementType {
    if ty.is_complex() { ElementType::C128 } else { ElementType::F64 }
}

/// The type that contains all floats of at most a byte.
const BYTES: ElementType = ElementType::Bf16;

/// Returns the kernel of sums of floats of at most a byte, whose elements `kernel` gets as those of
/// [`BYTES`]; `None` if these are no such sums, or there is no such kernel.
pub(crate) fn sums_of_bytes(
    applied: &ScalarProgram,
    operands: &[&ArrayShape],
    kernel: impl FnOnce(&[&ArrayShape]) -> Option<Box<dyn Kernel>>,
) -> Option<Box<dyn Kernel>> {
    let &[from, first] = operands else { return None };
    let is_sum = applied.as_binary() == Some(Binary::Add);
    if !is_sum || !from.ty.is_float() || from.ty.storage_bytes() > 1 {
        return None;
    }
    let wide = from.with_type(BYTES);
    let kernel = kernel(&[&wide, first])?;
    Some(Box::new(OfConverted { kernel, wide }))
}

/// A kernel whose first operand is converted.
struct OfConverted {
    kernel: Box<dyn Kernel>,
    /// The shape of the converted operand.
    wide: ArrayShape,
}

impl Kernel for OfConverted {
    fn run(
        &self,
        scope: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        let mut wide = Array::zeros(self.wide.clone());
        convert(given(inputs)[0], self.wide.ty, wide.bytes_mut());
        self.kernel.run(scope, &[&[Some(&wide)], &inputs[1..]].concat(), outputs)
    }
    fn scratch(&self) -> usize {
        let bytes = saturating_count(&self.wide.dims).saturating_mul(self.wide.ty.storage_bytes());
        self.kernel.scratch().saturating_add(bytes)
    }
    fn arithmetic(&self) -> Arithmetic {
        self.kernel.arithmetic()
    }
}
