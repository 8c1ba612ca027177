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

pub(super) use code::Code;

use super::register_loop::Rounds;
use hlo::{ElementType, Scalar};
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
        let mut words: SmallVec<[word::Word; 8]> = words.collect();
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
