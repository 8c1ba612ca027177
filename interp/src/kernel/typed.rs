//! Elementwise loops over floats in their own type, one for each op, so that the compiler vectorizes them.
use crate::num::{
    BinaryLoop, UnaryLoop, binary_loop_f32, binary_loop_f64, unary_loop_f32, unary_loop_f64,
};
use hlo::literal::Native;
use hlo::{ElementType, Literal, Op};
use rayon::prelude::*;

/// Elements of a part that one thread computes.
const PART: usize = 1 << 14;

/// The typed loop of an op, if its operands and its result are all of one type that has one.
pub(super) enum Typed {
    UnaryF32(UnaryLoop<f32>),
    UnaryF64(UnaryLoop<f64>),
    BinaryF32(BinaryLoop<f32>),
    BinaryF64(BinaryLoop<f64>),
}

impl Typed {
    pub(super) fn of(op: &Op, ty: ElementType) -> Option<Self> {
        match (op, ty) {
            (Op::Unary(op), ElementType::F32) => unary_loop_f32(*op).map(Self::UnaryF32),
            (Op::Unary(op), ElementType::F64) => unary_loop_f64(*op).map(Self::UnaryF64),
            (Op::Binary(op), ElementType::F32) => binary_loop_f32(*op).map(Self::BinaryF32),
            (Op::Binary(op), ElementType::F64) => binary_loop_f64(*op).map(Self::BinaryF64),
            (_, _) => None,
        }
    }
    /// Runs the loop; an operand that is no array is in the result's memory.
    pub(super) fn run(&self, inputs: &[&Literal], result: &mut Literal) {
        match self {
            Self::UnaryF32(function) => unary(function, inputs[0], result),
            Self::UnaryF64(function) => unary(function, inputs[0], result),
            Self::BinaryF32(function) => binary(function, inputs, result),
            Self::BinaryF64(function) => binary(function, inputs, result),
        }
    }
}

fn unary<T: Native + Send + Sync>(function: &UnaryLoop<T>, input: &Literal, result: &mut Literal) {
    let operand = input.as_slice::<T>();
    let result = result.as_mut_slice::<T>().expect("the result has this type");
    if result.len() <= 2 * PART {
        return function(operand, result);
    }
    result.par_chunks_mut(PART).enumerate().for_each(|(i, result)| {
        let range = i * PART..i * PART + result.len();
        function(operand.map(|operand| &operand[range]), result);
    });
}

fn binary<T: Native + Send + Sync>(
    function: &BinaryLoop<T>,
    inputs: &[&Literal],
    result: &mut Literal,
) {
    let operands = [inputs[0].as_slice::<T>(), inputs[1].as_slice::<T>()];
    let result = result.as_mut_slice::<T>().expect("the result has this type");
    if result.len() <= 2 * PART {
        return function(operands, result);
    }
    result.par_chunks_mut(PART).enumerate().for_each(|(i, result)| {
        let range = i * PART..i * PART + result.len();
        function(operands.map(|operand| operand.map(|x| &x[range.clone()])), result);
    });
}
