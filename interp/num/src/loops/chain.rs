//! Operations in one loop, with the values between them in registers: two of f32, each of which
//! rounds, so that the bits are those of two loops; and the rotation of a word.
use super::instruction_set::{self, Task};
use super::{Each, VectorLoop, elements, pair};
use crate::float_functions::single;
use hlo::op::Binary;
use smallvec::SmallVec;
use std::borrow::Cow;

/// An operation that takes less time than to load and store its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Short {
    /// Adds.
    Add,
    /// Subtracts.
    Subtract,
    /// Multiplies.
    Multiply,
}

/// An operation of u32 that may be one of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Shifts to the left.
    Left,
    /// Shifts to the right; zeros come in.
    Right,
    /// Combines both.
    Or,
    /// Combines the rotated word with another one.
    Xor,
}

/// The second operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The operation of its value and of one more operand.
    Left(Short),
    /// The operation of one more operand and of its value.
    Right(Short),
    /// The product of its value with itself.
    Square,
}

impl Short {
    pub(super) fn of(op: Binary) -> Option<Self> {
        let all = [
            (Binary::Add, Self::Add),
            (Binary::Subtract, Self::Subtract),
            (Binary::Multiply, Self::Multiply),
        ];
        all.into_iter().find_map(|(other, short)| (other == op).then_some(short))
    }
    /// Returns what follows a value if it is operand `k` of this operation.
    #[inline]
    pub fn after(self, k: usize) -> Then {
        if k == 0 { Then::Left(self) } else { Then::Right(self) }
    }
}

impl Word {
    pub(super) fn of(op: Binary) -> Option<Self> {
        let all = [
            (Binary::ShiftLeft, Self::Left),
            (Binary::ShiftRightLogical, Self::Right),
            (Binary::Or, Self::Or),
            (Binary::Xor, Self::Xor),
        ];
        all.into_iter().find_map(|(other, word)| (other == op).then_some(word))
    }
}

/// Returns the loop of the first operand, shifted to the left by the second or to the right by the
/// third; combined by `xor` with the fourth, if there is one. Each operand may have one element.
#[inline]
pub fn rotation_loop() -> VectorLoop {
    let rotated = |x: u32, a, b| x.checked_shl(a).unwrap_or(0) | x.checked_shr(b).unwrap_or(0);
    let run = move |operands: &[&[u8]], result: &mut [u8]| {
        let operands: SmallVec<[&[u32]; 4]> =
            operands.iter().map(|x| bytemuck::cast_slice(x)).collect();
        let result: &mut [u32] = bytemuck::cast_slice_mut(result);
        let count = result.len();
        match *operands {
            [x, &[a], &[b]] if x.len() == count => {
                let function = move |[x]: [u32; 1]| rotated(x, a, b);
                instruction_set::run(Each { operands: [x], result, function });
            }
            [x, &[a], &[b], y] if x.len() == count && y.len() == count => {
                let function = move |[x, y]: [u32; 2]| rotated(x, a, b) ^ y;
                instruction_set::run(Each { operands: [x, y], result, function });
            }
            _ => {
                let all: [Cow<'_, [u32]>; 4] = std::array::from_fn(|k| match operands.get(k) {
                    Some(x) if x.len() == count => Cow::Borrowed(*x),
                    x => vec![x.map_or(0, |x| x[0]); count].into(),
                });
                let function = |[x, a, b, y]: [u32; 4]| rotated(x, a, b) ^ y;
                instruction_set::run(Each {
                    operands: all.each_ref().map(|x| &**x),
                    result,
                    function,
                });
            }
        }
    };
    VectorLoop { takes_scalars: true, ..VectorLoop::new(run) }
}

/// Returns the loop of an operation of the first two operands, and of what follows with the third
/// one, if any. Each operand may have one element.
#[inline]
pub fn chain_loop(first: Short, then: Then) -> VectorLoop {
    match first {
        Short::Add => after(single::add, then),
        Short::Subtract => after(single::sub, then),
        Short::Multiply => after(single::mul, then),
    }
}

fn after(first: impl Fn(f32, f32) -> f32 + Copy + Send + Sync + 'static, then: Then) -> VectorLoop {
    match then {
        Then::Left(Short::Add) | Then::Right(Short::Add) => {
            three(move |a, b, c| single::add(first(a, b), c))
        }
        Then::Left(Short::Multiply) | Then::Right(Short::Multiply) => {
            three(move |a, b, c| single::mul(first(a, b), c))
        }
        Then::Left(Short::Subtract) => three(move |a, b, c| single::sub(first(a, b), c)),
        Then::Right(Short::Subtract) => three(move |a, b, c| single::sub(c, first(a, b))),
        Then::Square => two(move |a, b| {
            let value = first(a, b);
            single::mul(value, value)
        }),
    }
}

fn two(function: impl Fn(f32, f32) -> f32 + Copy + Send + Sync + 'static) -> VectorLoop {
    pair(move |[a, b]: [f32; 2]| function(a, b))
}

fn three(function: impl Fn(f32, f32, f32) -> f32 + Copy + Send + Sync + 'static) -> VectorLoop {
    let run = move |operands: &[&[u8]], result: &mut [u8]| {
        let [a, b, c] = elements::<3, f32>(operands);
        let result: &mut [f32] = bytemuck::cast_slice_mut(result);
        // The compiler makes vectors of what it sees to be one element.
        match (a, b, c) {
            (&[a], &[b], &[c]) => result.fill(function(a, b, c)),
            (&[a], &[b], c) => each([c], result, move |[c]| function(a, b, c)),
            (&[a], b, &[c]) => each([b], result, move |[b]| function(a, b, c)),
            (a, &[b], &[c]) => each([a], result, move |[a]| function(a, b, c)),
            (&[a], b, c) => each([b, c], result, move |[b, c]| function(a, b, c)),
            (a, &[b], c) => each([a, c], result, move |[a, c]| function(a, b, c)),
            (a, b, &[c]) => each([a, b], result, move |[a, b]| function(a, b, c)),
            (a, b, c) => each([a, b, c], result, move |[a, b, c]| function(a, b, c)),
        }
    };
    VectorLoop { takes_scalars: true, ..VectorLoop::new(run) }
}

fn each<'a, const N: usize, F: Fn([f32; N]) -> f32>(
    operands: [&'a [f32]; N],
    result: &'a mut [f32],
    function: F,
) where
    Each<'a, N, f32, f32, F>: Task,
{
    instruction_set::run(Each { operands, result, function });
}
