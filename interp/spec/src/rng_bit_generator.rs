//! `rng-bit-generator`: a new state, and bits that are a function of the state alone
//!
//! The state is a key and a counter. Each block of the generator is a function of the key and one
//! value of the counter. The new state has the same key; its counter has advanced by the number of
//! blocks used, so that no block is used twice. All arithmetic wraps. Let i be the number of an
//! element in row-major order, and block(j) the block of counter + j:
//!
//! **Threefry** (`rng_three_fry`) takes the state `[key, counter]`, `u64[2]`. A block is two words
//! of 32 bits.
//!
//! - `u64`: element i is block(i), its first word low.
//! - `u32` and narrower: the split dimension s is the first of even size, else the largest (the
//!   first of equals). Its size is halved, rounding up; `index[s]` becomes `index[s] / 2`, and j is
//!   the number of that index in the smaller array. The element is word `index[s]` mod 2 of
//!   block(j). A scalar is the first word of block(0).
//!
//! **Philox** (`rng_philox`, and `rng_default`) takes the state `[key, low, high]`, `u64[3]`, a key
//! and the halves of a counter of 128 bits; or `[key, low]`, `u64[2]`, where the key is the high
//! half too. A block is four words.
//!
//! - `u64`: element i is words 2i and 2i + 1, low first. `u32` and narrower: word i. Word w is word
//!   w mod 4 of block(w / 4).
//!
//! Types narrower than 32 bits keep the low bits. The bits are those of XLA:CPU; in StableHLO they
//! are implementation-defined. Elements that are not unsigned integers are unsupported, as in
//! XLA:CPU.
//!
//! Source: StableHLO, `rng_bit_generator`; XLA operation semantics, `RngBitGenerator`.
use super::{Operand, build};
use hlo::op::RngBitGenerator;
use hlo::op::value::RandomAlgorithm;
use hlo::{ArrayShape, Class, Dims, ElementType, Literal, Scalar, Shape};
use num::index::{count, strides, to_i64, to_usize};
use num::random::{join, philox, threefry};
use num::{Error, Result};

pub(super) fn rng_bit_generator(
    op: &RngBitGenerator,
    state: &Operand<'_>,
    shape: &Shape,
) -> Result<Literal> {
    let RngBitGenerator { algorithm } = op;
    let shapes: Vec<&ArrayShape> = shape.leaves().into_iter().filter_map(Shape::array).collect();
    let (ty, data) = (shapes[0].ty, shapes[1]);
    let words: Vec<u64> =
        (0..state.size(0)).map(|i| state.at(&[i]).as_wrapping().cast_unsigned()).collect();
    if ty != ElementType::U64 || data.ty.class() != Class::Unsigned {
        let message = format!("bits of type {} cannot be generated from a state of {ty}", data.ty);
        return Err(Error::unsupported(message));
    }
    let (next, bits) = match (algorithm, words.as_slice()) {
        (RandomAlgorithm::ThreeFry, &[key, counter]) => by_threefry(key, counter, data),
        (RandomAlgorithm::Default | RandomAlgorithm::Philox, &[key, low]) => {
            let ([low, _], bits) = by_philox(key, [low, key], data);
            (vec![key, low], bits)
        }
        (RandomAlgorithm::Default | RandomAlgorithm::Philox, &[key, low, high]) => {
            let ([low, high], bits) = by_philox(key, [low, high], data);
            (vec![key, low, high], bits)
        }
        (RandomAlgorithm::ThreeFry | RandomAlgorithm::Default | RandomAlgorithm::Philox, _) => {
            let message = format!("{algorithm} has no state of {} words", words.len());
            return Err(Error::unsupported(message));
        }
    };
    let next = build(shapes[0], |index| Scalar::Unsigned(next[to_usize(index[0])]));
    Ok(Literal::tuple(vec![next, bits]))
}

fn by_threefry(key: u64, counter: u64, data: &ArrayShape) -> (Vec<u64>, Literal) {
    let block = |j: usize| threefry(key, counter.wrapping_add(number(j)));
    let next = |blocks: usize| vec![key, counter.wrapping_add(number(blocks))];
    if data.ty == ElementType::U64 {
        let bits = build(data, |index| Scalar::Unsigned(join(block(row_major(index, &data.dims)))));
        return (next(count(&data.dims)), bits);
    }
    let split = split_dimension(&data.dims);
    let mut halved = data.dims.clone();
    if let Some(s) = split {
        halved[s] = (halved[s] + 1) / 2;
    }
    let bits = build(data, |index| {
        let (mut half, mut word) = (Dims::from_slice(index), 0);
        if let Some(s) = split {
            (half[s], word) = (index[s] / 2, to_usize(index[s] % 2));
        }
        Scalar::Unsigned(block(row_major(&half, &halved))[word].into())
    });
    (next(count(&halved)), bits)
}

/// Returns the dimension along which the two words of a Threefry block alternate; `None` for a
/// scalar.
fn split_dimension(dims: &[i64]) -> Option<usize> {
    let even = dims.iter().position(|size| size % 2 == 0);
    even.or_else(|| {
        let largest = dims.iter().max()?;
        dims.iter().position(|size| size == largest)
    })
}

fn by_philox(key: u64, [low, high]: [u64; 2], data: &ArrayShape) -> ([u64; 2], Literal) {
    let start = u128::from(low) | u128::from(high) << 64;
    let counter = |block: usize| {
        let counter = start.wrapping_add(number(block).into()).to_le_bytes();
        let half = |from: usize| u64::from_le_bytes(std::array::from_fn(|i| counter[from + i]));
        [half(0), half(8)]
    };
    let word = |w: usize| {
        let [low, high] = counter(w / 4);
        philox(key, low, high)[w % 4]
    };
    let is_wide = data.ty == ElementType::U64;
    let bits = build(data, |index| {
        let i = row_major(index, &data.dims);
        let bits = if is_wide { join([word(2 * i), word(2 * i + 1)]) } else { word(i).into() };
        Scalar::Unsigned(bits)
    });
    let words = count(&data.dims) * if is_wide { 2 } else { 1 };
    (counter(words.div_ceil(4)), bits)
}

/// Returns the number of an index in row-major order.
fn row_major(index: &[i64], dims: &[i64]) -> usize {
    to_usize(index.iter().zip(strides(dims)).map(|(i, stride)| i * stride).sum())
}

fn number(count: usize) -> u64 {
    to_i64(count).cast_unsigned()
}
