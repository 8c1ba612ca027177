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
use crate::function::writes_with;
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::RngBitGenerator;
use hlo::op::value::RandomAlgorithm;
use hlo::{Array, ArrayShape, Class, ElementType, Scalar};
use num::array::{PART, fill};
use num::index::{count, saturating_count, to_i64, to_usize};
use num::loops::convert_loop;
use num::loops::instruction_set::{self, Task};
use num::parallel::parts;
use num::random::{philox, threefry};
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
            // The blocks, and the words of narrower elements.
            let scratch = if wide { 0 } else { saturating_count(&data.dims).saturating_mul(8) };
            Some(writes_with(scratch, move |_, inputs, outputs| {
                let [key, counter] = [0, 1].map(|i| word(inputs[0], i));
                let counter = by_threefry(key, counter, &data, &mut outputs[1]);
                unsigned(&mut outputs[0], [key, counter]);
                Ok(())
            }))
        }
        RandomAlgorithm::Default | RandomAlgorithm::Philox if (2..=3).contains(&words) => {
            let is_wide = data.ty.bits() >= 32;
            let scratch = if is_wide { 0 } else { saturating_count(&data.dims).saturating_mul(4) };
            Some(writes_with(scratch, move |_, inputs, outputs| {
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
    if bits.is_empty() {
        return counter;
    }
    if data.ty == ElementType::U64 {
        let words: &mut [[u32; 2]] = bytemuck::cast_slice_mut(bits.bytes_mut());
        fill_blocks(words, block);
        return counter.wrapping_add(as_u64(words.len()));
    }
    let cut = cut_dimension(&data.dims);
    let size = cut.map_or(1, |d| to_usize(data.dims[d]));
    let outer = count(&data.dims[..cut.unwrap_or(0)]);
    let inner = cut.map_or(1, |d| count(&data.dims[d + 1..]));
    let half = size.div_ceil(2);
    let mut blocks = vec![[0; 2]; outer * half * inner];
    fill_blocks(&mut blocks, block);
    with_words(bits, |words| {
        // Pairs of rows, of which the last one before the next index of `outer` may lack a row.
        let pair = 2 * inner;
        let is_even = size.is_multiple_of(2);
        let pairs = if is_even { (PART / pair).max(1) } else { half };
        let part = if is_even { pairs * pair } else { size * inner };
        parts(words, (part, 1), |number, part| {
            let blocks = blocks[number * pairs * inner..].chunks(inner);
            for (rows, blocks) in part.chunks_mut(pair).zip(blocks) {
                for (k, row) in rows.chunks_mut(inner).enumerate() {
                    row.iter_mut().zip(blocks).for_each(|(word, block)| *word = block[k]);
                }
            }
        });
    });
    counter.wrapping_add(as_u64(blocks.len()))
}

/// Calls a function with the words of an array, of which an element keeps the low bits.
fn with_words(bits: &mut Array, write: impl FnOnce(&mut [u32])) {
    let (ty, elements) = (bits.shape().ty, bits.len());
    let Some(keep) = convert_loop(ElementType::U32, ty) else {
        return write(bytemuck::cast_slice_mut(bits.bytes_mut()));
    };
    let mut words = vec![0; elements];
    write(&mut words);
    let width = ty.storage_bytes();
    parts(bits.bytes_mut(), (PART * width, 4), |number, part| {
        let words = &words[number * PART..][..part.len() / width];
        keep(&[bytemuck::cast_slice(words)], part);
    });
}

/// Computes blocks by their numbers, in vectors.
fn fill_blocks<const N: usize>(
    blocks: &mut [[u32; N]],
    block: impl Fn(usize) -> [u32; N] + Copy + Sync,
) {
    parts(blocks, (PART, 4), |number, part| {
        instruction_set::run(FillBlocks { first: number * PART, blocks: part, block });
    });
}
struct FillBlocks<'a, const N: usize, F> {
    first: usize,
    blocks: &'a mut [[u32; N]],
    block: F,
}
impl<const N: usize, F: Fn(usize) -> [u32; N]> Task for FillBlocks<'_, N, F> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        /// Blocks that are computed beside one another.
        const LANES: usize = 16;
        let (groups, rest) = self.blocks.as_chunks_mut::<LANES>();
        let count = groups.len();
        for (group, blocks) in groups.iter_mut().enumerate() {
            let first = self.first + group * LANES;
            for (i, slot) in blocks.iter_mut().enumerate() {
                *slot = (self.block)(first + i);
            }
        }
        for (i, slot) in rest.iter_mut().enumerate() {
            *slot = (self.block)(self.first + count * LANES + i);
        }
    }
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
    let at = |i: usize| {
        let (low, carries) = low.overflowing_add(as_u64(i));
        [low, high.wrapping_add(carries.into())]
    };
    let block = |i: usize| {
        let [low, high] = at(i);
        philox(key, low, high)
    };
    let write = |words: &mut [u32]| {
        let (blocks, rest) = words.as_chunks_mut();
        fill_blocks(blocks, block);
        let last = block(blocks.len());
        rest.iter_mut().zip(last).for_each(|(word, last)| *word = last);
    };
    let words = count(&data.dims) * if data.ty == ElementType::U64 { 2 } else { 1 };
    if data.ty == ElementType::U64 {
        write(bytemuck::cast_slice_mut(bits.bytes_mut()));
    } else {
        with_words(bits, write);
    }
    at(words.div_ceil(4))
}

fn as_u64(i: usize) -> u64 {
    to_i64(i).cast_unsigned()
}
