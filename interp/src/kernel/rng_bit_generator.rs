//! `rng-bit-generator`: `(state, data)` with data a function of the state alone, bit for bit as XLA:CPU
//!
//! The state is a key and a counter. Each block of the generator is a function of the key and one value of the counter;
//! the new state has moved on by the number of blocks used, so that bits drawn from it are new. Everything wraps.
//!
//! **Threefry** (`rng_three_fry`) takes state `u64[2]`, the key and the counter. A block is two words.
//!
//! - `u64`: one block an element, in row-major order, the first word low.
//! - `u32`: the first dimension of even size, else the largest (the first of equals), is cut in half, rounding up; the
//!   blocks are counted row-major over that smaller array. The two words of a block stand next to each other along the
//!   cut dimension; if its size is odd the last second words are not used.
//! - narrower: the low bits of the `u32` array of the same dimensions.
//!
//! **Philox** (`rng_philox`, and `rng_default`) takes state `u64[3]`, the key and the two halves of the counter, low half
//! first; or `u64[2]`, the key and the low half, where the high half is the key again. A block is four words, used in
//! row-major order: one for an element of up to 32 bits, which keeps the low bits, two for an element of 64. Words left
//! over of the last block are lost.
//!
//! An array without elements uses no block. StableHLO leaves all of this to the implementation, and `rng_default`
//! also in HLO; elements that are no unsigned integers, which XLA:CPU does not compile, are `E0402`.
use super::array_shapes;
use crate::index::{count, to_i64, to_usize};
use crate::num::random::{join, philox, threefry};
use crate::{Error, Result};
use hlo::op::RngBitGenerator;
use hlo::op::value::RandomAlgorithm;
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar, Shape};

pub(super) fn rng_bit_generator(
    op: &RngBitGenerator,
    state: &Literal,
    shape: &Shape,
) -> Result<Literal> {
    let shapes = array_shapes(shape);
    let (ty, data) = (shapes[0].ty, shapes[1]);
    let words: Vec<u64> =
        (0..state.len()).map(|i| state.get(i).as_wrapping().cast_unsigned()).collect();
    if ty != ElementType::U64 || data.ty.class() != Class::Unsigned {
        let message = format!("bits of type {} cannot be drawn from a state of {ty}", data.ty);
        return Err(Error::unsupported(message));
    }
    let (next, bits) = match (op.algorithm, words.as_slice()) {
        (RandomAlgorithm::ThreeFry, &[key, counter]) => by_threefry(key, counter, data),
        (RandomAlgorithm::Default | RandomAlgorithm::Philox, &[key, low]) => {
            let ([low, _], bits) = by_philox(key, [low, key], data);
            (vec![key, low], bits)
        }
        (RandomAlgorithm::Default | RandomAlgorithm::Philox, &[key, low, high]) => {
            let ([low, high], bits) = by_philox(key, [low, high], data);
            (vec![key, low, high], bits)
        }
        (algorithm, _) => {
            let message = format!("{algorithm} cannot start from a state of {} words", words.len());
            return Err(Error::unsupported(message));
        }
    };
    Ok(Literal::tuple(vec![unsigned(shapes[0], next), bits]))
}

/// The array of these numbers, of which each keeps as many low bits as its type has.
fn unsigned(shape: &ArrayShape, numbers: impl IntoIterator<Item = u64>) -> Literal {
    let mut numbers = numbers.into_iter();
    super::build(shape, |_| Scalar::Unsigned(numbers.next().unwrap_or(0)))
}

fn by_threefry(key: u64, counter: u64, data: &ArrayShape) -> (Vec<u64>, Literal) {
    let block = |i: usize| threefry(key, counter.wrapping_add(as_u64(i)));
    if data.ty == ElementType::U64 {
        let elements = count(&data.dims);
        let bits = unsigned(data, (0..elements).map(|i| join(block(i))));
        return (vec![key, counter.wrapping_add(as_u64(elements))], bits);
    }
    let cut = cut_dimension(&data.dims);
    let size = cut.map_or(1, |d| to_usize(data.dims[d]));
    let outer = count(&data.dims[..cut.unwrap_or(0)]);
    let inner = cut.map_or(1, |d| count(&data.dims[d + 1..]));
    let half = size.div_ceil(2);
    let blocks: Vec<[u32; 2]> = (0..outer * half * inner).map(block).collect();
    let places = (0..outer).flat_map(|o| {
        (0..size)
            .flat_map(move |i| (0..inner).map(move |n| ((o * half + i / 2) * inner + n, i % 2)))
    });
    let bits = unsigned(data, places.map(|(at, part)| u64::from(blocks[at][part])));
    (vec![key, counter.wrapping_add(as_u64(blocks.len()))], bits)
}

/// The dimension along which the two words of a Threefry block lie; none of a scalar.
fn cut_dimension(dims: &[i64]) -> Option<usize> {
    let even = dims.iter().position(|size| size % 2 == 0);
    even.or_else(|| {
        let largest = dims.iter().max()?;
        dims.iter().position(|size| size == largest)
    })
}

fn by_philox(key: u64, [low, high]: [u64; 2], data: &ArrayShape) -> ([u64; 2], Literal) {
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
    let bits = super::build(data, |_| {
        let mut next = || words.next().unwrap_or(0);
        Scalar::Unsigned(if wide { join([next(), next()]) } else { u64::from(next()) })
    });
    (at(blocks), bits)
}

fn as_u64(i: usize) -> u64 {
    to_i64(i).cast_unsigned()
}
