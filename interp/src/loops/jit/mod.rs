//! Machine code of scalar programs.
//!
//! A loop becomes one function whose carried values stay in registers. The code computes the same bits as the steps of the
//! program: operations that a processor defines as `num` does are instructions, functions are calls of the function in
//! `num`, and every step that the code generator does not know is a call of the step itself.
mod code;
mod control;
mod convert;
mod emit;
mod float;
mod functions;
mod integer;
mod word;

#[cfg(test)]
mod tests;

pub(crate) use code::Code;
pub(crate) use control::Generated;
pub(crate) use emit::{Emitter, Kind, Operand};
pub(crate) use word::Word;

use super::register_loop::Rounds;
use hlo::{ElementType, Scalar};
use num::scalar_program::{CompiledFn, Compiler, RegisterProgram};
use smallvec::SmallVec;

impl Code {
    /// Runs a loop for at most `rounds` rounds on its carried values, of these types.
    pub(super) fn rounds(
        &self,
        carried: &mut [Scalar],
        types: &[ElementType],
        rounds: u64,
    ) -> Rounds {
        let words = types.iter().zip(&*carried).map(|(&ty, &value)| word::to_word(ty, value));
        let mut words: SmallVec<[Word; 8]> = words.collect();
        let left = self.call(&mut words, rounds);
        for ((value, &ty), &word) in carried.iter_mut().zip(types).zip(&words) {
            *value = word::from_word(ty, word);
        }
        if left == control::UNFINISHED {
            Rounds { done: rounds, is_finished: false }
        } else {
            Rounds { done: rounds - left, is_finished: true }
        }
    }
}

impl CompiledFn for Code {
    #[inline]
    fn apply(
        &self,
        (arguments, parameters): (&[Scalar], &[ElementType]),
        (out, results): (&mut [Scalar], &[ElementType]),
    ) {
        let mut words: SmallVec<[Word; 8]> =
            SmallVec::from_elem([0; 2], parameters.len().max(results.len()));
        for ((word, &ty), &argument) in words.iter_mut().zip(parameters).zip(arguments) {
            *word = word::to_word(ty, argument);
        }
        self.call(&mut words, 0);
        for ((out, &ty), &word) in out.iter_mut().zip(results).zip(&words) {
            *out = word::from_word(ty, word);
        }
    }
}

/// Returns what makes machine code of scalar programs that are called often, if that is wanted.
pub(crate) fn compiler(is_wanted: bool) -> Option<Compiler> {
    is_wanted.then_some(compiled)
}

fn compiled(program: &RegisterProgram, parameters: usize) -> Option<Box<dyn CompiledFn>> {
    let code = Code::compile(None, program, parameters)?;
    Some(Box::new(code))
}
