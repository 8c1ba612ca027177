//! `rng-bit-generator`: `(state, data)` with data a function of the state alone, bit for bit as
//! XLA:CPU
//!
//! The state is a key and a counter. Each block of the generator is a function of the key and one
//! value of the counter; the new state has moved on by the number of blocks used, so that bits
//! drawn from it are new. Everything wraps.
//!
//! **Threefry** (`rng_three_fry`) takes state `u64[2]`, the key and the counter. A block is two
//! words.
//!
//! - `u64`: one block an element, in row-major order, the first word low.
//! - `u32`: the first dimension of even size, else the largest (the first of equals), is cut in
//!   half, rounding up; the blocks are counted row-major over that smaller array. The two words of
//!   a block stand next to each other along the cut dimension; if its size is odd the last second
//!   words are not used.
//! - narrower: the low bits of the `u32` array of the same dimensions.
//!
//! **Philox** (`rng_philox`, and `rng_default`) takes state `u64[3]`, the key and the two halves of
//! the counter, low half first; or `u64[2]`, the key and the low half, where the high half is the
//! key again. A block is four words, used in row-major order: one for an element of up to 32 bits,
//! which keeps the low bits, two for an element of 64. Words left over of the last block are lost.
//!
//! An array without elements uses no block. StableHLO leaves all of this to the implementation, and
//! `rng_default` also in HLO; elements that are no unsigned integers, which XLA:CPU does not
//! compile, are `E0402`.
use crate::Kernel;
use crate::function::{writes, writes_with};
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::RngBitGenerator;
use hlo::op::value::RandomAlgorithm;
use hlo::{Array, ArrayShape, Class, ElementType, Scalar};
use num::array::PART;
use num::array::fill;
use num::index::{count, saturating_count, to_i64, to_usize};
use num::parallel::parts;
use num::random::{join, philox, threefry};
use num::scalar_program::ScalarPrograms;

impl ArrayOp for RngBitGenerator {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.results)
    }
    linear!();
    needs_whole_operands!();
}

fn kernel(op: &RngBitGenerator, results: &[&ArrayShape]) -> Option<Box<dyn Kernel>> {
    let &RngBitGenerator { algorithm } = op;
    let &[state, data] = results else { return None };
    let words = state.dims.first().copied().unwrap_or(0);
    if state.ty != ElementType::U64 || state.rank() != 1 || data.ty.class() != Class::Unsigned {
        return None;
    }
    let data = data.clone();
    match algorithm {
        RandomAlgorithm::ThreeFry if words == 2 => {
            let wide = data.ty == ElementType::U64;
            let scratch = if wide { 0 } else { saturating_count(&data.dims).saturating_mul(4) };
            Some(writes_with(scratch, move |_, inputs, outputs| {
                let [key, counter] = [0, 1].map(|i| word(inputs[0], i));
                let counter = by_threefry(key, counter, &data, &mut outputs[1]);
                unsigned(&mut outputs[0], [key, counter]);
                Ok(())
            }))
        }
        RandomAlgorithm::Default | RandomAlgorithm::Philox if (2..=3).contains(&words) => {
            Some(writes(move |_, inputs, outputs| {
                let [key, low] = [0, 1].map(|i| word(inputs[0], i));
                let high = if words == 2 { key } else { word(inputs[0], 2) };
                let [low, high] = by_philox(key, [low, high], &data, &mut outputs[1]);
                unsigned(&mut outputs[0], [key, low, high]);
                Ok(())
            }))
        }
        RandomAlgorithm::ThreeFry | RandomAlgorithm::Default | RandomAlgorithm::Philox => None,
    }
}

fn word(state: &Array, i: usize) -> u64 {
    state.get(i).as_wrapping().cast_unsigned()
}

/// Fills an array with these numbers, of which each keeps as many low bits as its type has.
fn unsigned(array: &mut Array, numbers: impl IntoIterator<Item = u64>) {
    let mut numbers = numbers.into_iter();
    fill(array, |_| Scalar::Unsigned(numbers.next().unwrap_or(0)));
}

/// Draws bits; returns the counter after them.
fn by_threefry(key: u64, counter: u64, data: &ArrayShape, bits: &mut Array) -> u64 {
    let block = |i: usize| threefry(key, counter.wrapping_add(as_u64(i)));
    if data.ty == ElementType::U64 {
        let elements = count(&data.dims);
        unsigned(bits, (0..elements).map(|i| join(block(i))));
        return counter.wrapping_add(as_u64(elements));
    }
    let cut = cut_dimension(&data.dims);
    let size = cut.map_or(1, |d| to_usize(data.dims[d]));
    let outer = count(&data.dims[..cut.unwrap_or(0)]);
    let inner = cut.map_or(1, |d| count(&data.dims[d + 1..]));
    let half = size.div_ceil(2);
    let mut blocks = vec![[0; 2]; outer * half * inner];
    parts(&mut blocks, (PART, 4), |number, part| {
        for (i, slot) in part.iter_mut().enumerate() {
            *slot = block(number * PART + i);
        }
    });
    let places = (0..outer).flat_map(|o| {
        (0..size)
            .flat_map(move |i| (0..inner).map(move |n| ((o * half + i / 2) * inner + n, i % 2)))
    });
    unsigned(bits, places.map(|(at, part)| u64::from(blocks[at][part])));
    counter.wrapping_add(as_u64(blocks.len()))
}

/// Returns the dimension along which the two words of a Threefry block lie; none of a scalar.
fn cut_dimension(dims: &[i64]) -> Option<usize> {
    let even = dims.iter().position(|size| size % 2 == 0);
    even.or_else(|| {
        let largest = dims.iter().max()?;
        dims.iter().position(|size| size == largest)
    })
}

/// Draws bits; returns the counter after them.
fn by_philox(key: u64, [low, high]: [u64; 2], data: &ArrayShape, bits: &mut Array) -> [u64; 2] {
    let counter = u128::from(low) | u128::from(high) << 64;
    let half = |x: u128| u64::try_from(x & u128::from(u64::MAX)).expect("masked to 64 bits");
    let wide = data.ty == ElementType::U64;
    let words = count(&data.dims) * if wide { 2 } else { 1 };
    let blocks = words.div_ceil(4);
    let at = |i: usize| {
        let counter = counter.wrapping_add(u128::from(as_u64(i)));
        [half(counter), half(counter >> 64)]
    };
    let mut words = (0..blocks).flat_map(|i| {
        let [low, high] = at(i);
        philox(key, low, high)
    });
    fill(bits, |_| {
        let mut next = || words.next().unwrap_or(0);
        Scalar::Unsigned(if wide { join([next(), next()]) } else { u64::from(next()) })
    });
    at(blocks)
}

fn as_u64(i: usize) -> u64 {
    to_i64(i).cast_unsigned()
}
