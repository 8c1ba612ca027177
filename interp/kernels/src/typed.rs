//! Elementwise loops over types of the processor, in parallel and in place.
use crate::cost_model::COMPUTED;
use hlo::{Array, ElementType};
use num::loops::{VectorLoop, select_loop};
use num::parallel::parts;
use smallvec::SmallVec;

/// Words of a block of an operand that is not an array: few for short arrays, for which clearing
/// more takes longer than computing.
const STAGE: usize = 64;
const SHORT_STAGE: usize = 8;
const WORD: usize = size_of::<u128>();
/// No elementwise op has more operands.
const MOST: usize = 3;

/// A loop, with the bytes of an element of each operand and of the result.
pub(super) struct Typed {
    function: VectorLoop,
    operands: SmallVec<[usize; MOST]>,
    result: usize,
}

/// An operand of a loop.
#[derive(Clone, Copy)]
enum TypedOperand<'a> {
    /// As many elements as the result has.
    Array(&'a [u8]),
    /// One element, used for every element of the result.
    Scalar(&'a [u8]),
    /// The result's memory holds the operand.
    Result,
}

impl Typed {
    /// Returns a loop over operands of these types.
    pub(super) fn new(function: VectorLoop, operands: &[ElementType], result: ElementType) -> Self {
        let operands = operands.iter().map(|ty| ty.storage_bytes()).collect();
        Self { function, operands, result: result.storage_bytes() }
    }
    /// Returns the loop of `select` for elements of `width` bytes.
    pub(super) fn select(width: usize) -> Self {
        let operands = SmallVec::from_buf([size_of::<bool>(), width, width]);
        Self { function: select_loop(width), operands, result: width }
    }
    /// Returns the loop.
    pub(super) fn function(&self) -> VectorLoop {
        self.function.clone()
    }
    /// Runs the loop; an operand that is no array is in the result's memory.
    pub(super) fn run(&self, inputs: &[Option<&Array>], result: &mut Array) {
        let operands: SmallVec<[TypedOperand<'_>; MOST]> = inputs
            .iter()
            .map(|input| match input {
                Some(input) if input.shape().rank() == 0 => TypedOperand::Scalar(input.bytes()),
                Some(input) => TypedOperand::Array(input.bytes()),
                None => TypedOperand::Result,
            })
            .collect();
        self.run_on(&operands, result.bytes_mut());
    }
    /// Runs the loop on an array and a scalar.
    pub(super) fn run_with_scalar(&self, array: &[u8], scalar: &[u8], result: &mut [u8]) {
        self.run_on(&[TypedOperand::Array(array), TypedOperand::Scalar(scalar)], result);
    }
    fn run_on(&self, operands: &[TypedOperand<'_>], bytes: &mut [u8]) {
        if bytes.len() <= 2 * COMPUTED * self.result {
            return self.run_part(operands, bytes);
        }
        parts(bytes, (COMPUTED * self.result, 1), |i, bytes| {
            self.run_part(&self.part(operands, i * COMPUTED, bytes.len() / self.result), bytes);
        });
    }
    /// Returns the `count` elements from `first` on of each array.
    fn part<'a>(
        &self,
        operands: &[TypedOperand<'a>],
        first: usize,
        count: usize,
    ) -> SmallVec<[TypedOperand<'a>; MOST]> {
        let operands = operands.iter().zip(&self.operands);
        let part = operands.map(|(operand, width)| match operand {
            TypedOperand::Array(x) => {
                TypedOperand::Array(&x[first * width..(first + count) * width])
            }
            TypedOperand::Scalar(_) | TypedOperand::Result => *operand,
        });
        part.collect()
    }
    /// Computes a part of the result. Operands that are not arrays are copied in blocks.
    fn run_part(&self, operands: &[TypedOperand<'_>], result: &mut [u8]) {
        let direct = operands.iter().map(|operand| match operand {
            TypedOperand::Scalar(x) if self.function.takes_scalars => Some(*x),
            TypedOperand::Array(_) | TypedOperand::Scalar(_) | TypedOperand::Result => {
                operand.array()
            }
        });
        if let Some(arrays) = direct.collect::<Option<SmallVec<[&[u8]; MOST]>>>() {
            return (self.function)(&arrays, result);
        }
        match result.len() <= SHORT_STAGE * WORD {
            true => self.run_staged::<SHORT_STAGE>(operands, result),
            false => self.run_staged::<STAGE>(operands, result),
        }
    }
    fn run_staged<const STAGE: usize>(&self, operands: &[TypedOperand<'_>], result: &mut [u8]) {
        let mut staged = [[0_u128; STAGE]; MOST];
        for ((staged, operand), &width) in staged.iter_mut().zip(operands).zip(&self.operands) {
            if let TypedOperand::Scalar(x) = operand {
                let staged: &mut [u8] = bytemuck::cast_slice_mut(staged);
                staged.chunks_exact_mut(width).for_each(|to| to.copy_from_slice(x));
            }
        }
        let widest = self.operands.iter().fold(self.result, |widest, &width| widest.max(width));
        let count = STAGE * WORD / widest;
        for (i, result) in result.chunks_mut(count * self.result).enumerate() {
            let part = self.part(operands, i * count, result.len() / self.result);
            for (staged, operand) in staged.iter_mut().zip(&part) {
                if let TypedOperand::Result = operand {
                    bytemuck::cast_slice_mut(staged)[..result.len()].copy_from_slice(result);
                }
            }
            let lengths = self.operands.iter().map(|width| result.len() / self.result * width);
            let arrays: SmallVec<[&[u8]; MOST]> = part
                .iter()
                .zip(lengths)
                .zip(&staged)
                .map(|((operand, length), staged)| {
                    operand.array().unwrap_or(&bytemuck::cast_slice(staged)[..length])
                })
                .collect();
            (self.function)(&arrays, result);
        }
    }
}

impl<'a> TypedOperand<'a> {
    fn array(self) -> Option<&'a [u8]> {
        match self {
            Self::Array(x) => Some(x),
            Self::Scalar(_) | Self::Result => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::op::Binary;
    use num::loops::{binary_loop, clamp_loop};

    /// More than a thread computes in one part, and not a multiple of a block.
    const COUNT: usize = 3 * COMPUTED + 77;

    fn numbers(seed: usize) -> Vec<f32> {
        (0..COUNT).map(|i| f32::from(u8::try_from(i * seed % 251).unwrap()) - 100.0).collect()
    }
    fn array<T: hlo::literal::Native>(elements: &[T]) -> Array {
        Array::from_slice(&[i64::try_from(elements.len()).unwrap()], elements)
    }

    #[test]
    fn operands_in_the_memory_of_the_result() {
        let (a, b) = (numbers(3), numbers(7));
        let subtract =
            binary_loop(Binary::Subtract, ElementType::F32, num::Arithmetic::Exact).unwrap();
        let subtract = Typed::new(subtract, &[ElementType::F32; 2], ElementType::F32);
        let there = array(&b);
        let (here, there) = (None, Some(&there));
        let run = |inputs: [Option<&Array>; 2]| {
            let mut result = array(&a);
            subtract.run(&inputs, &mut result);
            result.as_slice::<f32>().unwrap().to_vec()
        };
        let differences =
            |x: &[f32], y: &[f32]| -> Vec<f32> { x.iter().zip(y).map(|(x, y)| x - y).collect() };
        assert_eq!(run([here, there]), differences(&a, &b));
        assert_eq!(run([there, here]), differences(&b, &a));
        assert_eq!(run([here, here]), differences(&a, &a));
    }

    #[test]
    fn scalars_and_other_types() {
        let x = numbers(5);
        let (low, high) = (Array::from_slice(&[], &[-3_f32]), Array::from_slice(&[], &[9_f32]));
        let clamp = clamp_loop(ElementType::F32).unwrap();
        let clamp = Typed::new(clamp, &[ElementType::F32; 3], ElementType::F32);
        let mut result = array(&x);
        clamp.run(&[Some(&low), None, Some(&high)], &mut result);
        let expected: Vec<f32> = x.iter().map(|x| x.clamp(-3.0, 9.0)).collect();
        assert_eq!(result.as_slice::<f32>().unwrap(), expected);

        // The predicates are in the memory of the result.
        let bytes = |add: u8| -> Vec<u8> { (0..=u8::MAX).map(|i| i.wrapping_add(add)).collect() };
        let mut result = array(&(0..=u8::MAX).map(|i| i % 2).collect::<Vec<u8>>());
        let (on_true, on_false) = (bytes(10), bytes(20));
        Typed::select(1).run(&[None, Some(&array(&on_true)), Some(&array(&on_false))], &mut result);
        let expected: Vec<u8> =
            (0..=u8::MAX).map(|i| i.wrapping_add(if i % 2 == 1 { 10 } else { 20 })).collect();
        assert_eq!(result.as_slice::<u8>().unwrap(), expected);
    }
}
