//! Blocks of elements in wide form, for types without loops of their own.
//!
//! An array is cut into blocks that stay in the cache. Elements of a block are widened by class
//! (booleans, i64, u64, f64, pairs of f64), passed to the functions of `num`, and rounded to the
//! result's type as they are stored. Blocks are independent, so they run in parallel and give the
//! same bits on any number of threads.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the common types have loops of their own, beside the one of all types"
)]
use crate::cost_model::FOLDED;
use half::{bf16, f16};
use hlo::{Class, ElementType, Scalar};
use num::parallel::parts_with;
use std::cell::Cell;

/// Elements in a block.
pub(crate) const BLOCK: usize = 1024;

/// Elements of one class.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Pred(Vec<bool>),
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    Float(Vec<f64>),
    Complex(Vec<(f64, f64)>),
}

impl Block {
    /// Returns an empty block for elements of this type.
    pub(crate) fn of(ty: ElementType) -> Self {
        match ty.class() {
            Class::Pred => Self::Pred(Vec::new()),
            Class::Signed => Self::Signed(Vec::new()),
            Class::Unsigned => Self::Unsigned(Vec::new()),
            Class::Float => Self::Float(Vec::new()),
            Class::Complex => Self::Complex(Vec::new()),
        }
    }
    /// Replaces the elements by those stored in `bytes`.
    pub(crate) fn read(&mut self, ty: ElementType, bytes: &[u8]) {
        match self {
            Self::Pred(x) => refill(x, bytes.iter().map(|&b| b != 0)),
            Self::Signed(x) => match ty {
                ElementType::S32 => {
                    refill(x, words(bytes).map(|b| i64::from(i32::from_le_bytes(b))));
                }
                ElementType::S64 => refill(x, words(bytes).map(i64::from_le_bytes)),
                ElementType::S16 => {
                    refill(x, words(bytes).map(|b| i64::from(i16::from_le_bytes(b))));
                }
                ElementType::S8 => refill(x, words(bytes).map(|b| i64::from(i8::from_le_bytes(b)))),
                _ => refill(x, scalars(ty, bytes).map(Scalar::as_wrapping)),
            },
            Self::Unsigned(x) => match ty {
                ElementType::U32 => {
                    refill(x, words(bytes).map(|b| u64::from(u32::from_le_bytes(b))));
                }
                ElementType::U64 => refill(x, words(bytes).map(u64::from_le_bytes)),
                ElementType::U16 => {
                    refill(x, words(bytes).map(|b| u64::from(u16::from_le_bytes(b))));
                }
                ElementType::U8 => refill(x, bytes.iter().map(|&b| u64::from(b))),
                _ => refill(x, scalars(ty, bytes).map(|s| s.as_wrapping().cast_unsigned())),
            },
            Self::Float(x) => match ty {
                ElementType::F32 => {
                    refill(x, words(bytes).map(|b| f64::from(f32::from_le_bytes(b))));
                }
                ElementType::F64 => refill(x, words(bytes).map(f64::from_le_bytes)),
                ElementType::Bf16 => {
                    refill(x, words(bytes).map(|b| bf16::from_le_bytes(b).to_f64()));
                }
                ElementType::F16 => refill(x, words(bytes).map(|b| f16::from_le_bytes(b).to_f64())),
                _ => refill(x, scalars(ty, bytes).map(Scalar::as_f64)),
            },
            Self::Complex(x) => refill(x, scalars(ty, bytes).map(pair)),
        }
    }
    /// Stores the elements, rounded or wrapped to `ty`.
    pub(crate) fn write(&self, ty: ElementType, bytes: &mut [u8]) {
        match self {
            Self::Pred(x) => store(x, bytes, |&x| [u8::from(x)]),
            Self::Signed(x) => match ty {
                ElementType::S64 => store(x, bytes, |x| x.to_le_bytes()),
                ElementType::S32 => store(x, bytes, |x| low::<4>(x.to_le_bytes())),
                ElementType::S16 => store(x, bytes, |x| low::<2>(x.to_le_bytes())),
                ElementType::S8 => store(x, bytes, |x| low::<1>(x.to_le_bytes())),
                _ => each(x, ty, bytes, |&x| Scalar::Signed(x)),
            },
            Self::Unsigned(x) => match ty {
                ElementType::U64 => store(x, bytes, |x| x.to_le_bytes()),
                ElementType::U32 => store(x, bytes, |x| low::<4>(x.to_le_bytes())),
                ElementType::U16 => store(x, bytes, |x| low::<2>(x.to_le_bytes())),
                ElementType::U8 => store(x, bytes, |x| low::<1>(x.to_le_bytes())),
                _ => each(x, ty, bytes, |&x| Scalar::Unsigned(x)),
            },
            Self::Float(x) => match ty {
                ElementType::F32 => store(x, bytes, |&x| single(x).to_le_bytes()),
                ElementType::F64 => store(x, bytes, |x| x.to_le_bytes()),
                _ => each(x, ty, bytes, |&x| Scalar::Float(x)),
            },
            Self::Complex(x) => each(x, ty, bytes, |&(re, im)| Scalar::Complex(re, im)),
        }
    }
    /// Returns the class of the elements.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Pred(_) => Class::Pred,
            Self::Signed(_) => Class::Signed,
            Self::Unsigned(_) => Class::Unsigned,
            Self::Float(_) => Class::Float,
            Self::Complex(_) => Class::Complex,
        }
    }
    /// Returns element `i`.
    pub(crate) fn get(&self, i: usize) -> Scalar {
        match self {
            Self::Pred(x) => Scalar::Pred(x[i]),
            Self::Signed(x) => Scalar::Signed(x[i]),
            Self::Unsigned(x) => Scalar::Unsigned(x[i]),
            Self::Float(x) => Scalar::Float(x[i]),
            Self::Complex(x) => Scalar::Complex(x[i].0, x[i].1),
        }
    }
    /// Replaces the elements by the results of `element`, which are all of one class.
    pub(crate) fn fill(&mut self, count: usize, mut element: impl FnMut(usize) -> Scalar) {
        match self {
            Self::Pred(x) => refill(x, (0..count).map(|i| element(i) == Scalar::Pred(true))),
            Self::Signed(x) => refill(x, (0..count).map(|i| element(i).as_wrapping())),
            Self::Unsigned(x) => {
                refill(x, (0..count).map(|i| element(i).as_wrapping().cast_unsigned()));
            }
            Self::Float(x) => refill(x, (0..count).map(|i| element(i).as_f64())),
            Self::Complex(x) => refill(x, (0..count).map(|i| pair(element(i)))),
        }
    }
    /// Returns number of elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Pred(x) => x.len(),
            Self::Signed(x) => x.len(),
            Self::Unsigned(x) => x.len(),
            Self::Float(x) => x.len(),
            Self::Complex(x) => x.len(),
        }
    }
}

/// Computes the blocks of a result from blocks of the operands.
pub(crate) type Compute = dyn Fn(&[Block], &mut Block) + Send + Sync;

/// The source of an operand's elements.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BlockSource<'a> {
    /// An array with the dimensions of the result.
    Array(ElementType, &'a [u8]),
    /// A scalar, used at every index.
    Scalar(ElementType, Scalar),
    /// The result's memory, which holds the operand until it is written.
    Output(ElementType),
}

impl BlockSource<'_> {
    fn ty(self) -> ElementType {
        match self {
            Self::Array(ty, _) | Self::Scalar(ty, _) | Self::Output(ty) => ty,
        }
    }
    /// Fills a block with the elements from `first` on; `bytes` is the same part of the result.
    fn load(self, block: &mut Block, first: usize, count: usize, bytes: &[u8]) {
        match self {
            Self::Scalar(_, value) => block.fill(count, |_| value),
            Self::Array(ty, elements) => {
                let width = ty.storage_bytes();
                block.read(ty, &elements[first * width..(first + count) * width]);
            }
            Self::Output(ty) => block.read(ty, bytes),
        }
    }
}

/// Working memory of one thread.
#[derive(Debug, Default)]
struct Scratch {
    operands: Vec<Block>,
    result: Option<Block>,
    /// Whether the blocks of scalars are filled.
    has_scalars: bool,
}

impl Scratch {
    /// Sets the types of the blocks; their elements are arbitrary.
    fn prepare(&mut self, sources: &[BlockSource<'_>], ty: ElementType) {
        self.has_scalars = false;
        self.operands.truncate(sources.len());
        for (i, source) in sources.iter().enumerate() {
            match self.operands.get_mut(i) {
                Some(block) if block.class() == source.ty().class() => {}
                Some(block) => *block = Block::of(source.ty()),
                None => self.operands.push(Block::of(source.ty())),
            }
        }
        if self.result.as_ref().map(Block::class) != Some(ty.class()) {
            self.result = Some(Block::of(ty));
        }
    }
    /// Computes the block of the result at `first`.
    fn run(
        &mut self,
        sources: &[BlockSource<'_>],
        compute: &Compute,
        ty: ElementType,
        first: usize,
        bytes: &mut [u8],
    ) {
        let count = bytes.len() / ty.storage_bytes();
        for (block, source) in self.operands.iter_mut().zip(sources) {
            match source {
                // A scalar's block is filled once: only the last block of an array is shorter.
                BlockSource::Scalar(..) if self.has_scalars && block.len() == count => {}
                BlockSource::Scalar(..) | BlockSource::Array(..) | BlockSource::Output(_) => {
                    source.load(block, first, count, bytes);
                }
            }
        }
        self.has_scalars = true;
        if let Some(result) = &mut self.result {
            compute(&self.operands, result);
            result.write(ty, bytes);
        }
    }
}

thread_local! {
    /// Working memory kept for small arrays, for which allocating takes longer than computing.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// Computes an array of type `ty` in `bytes`, block after block, in parallel if it is large.
pub(crate) fn blockwise(
    sources: &[BlockSource<'_>],
    compute: &Compute,
    ty: ElementType,
    bytes: &mut [u8],
) {
    let size = BLOCK * ty.storage_bytes();
    if bytes.len() / ty.storage_bytes() < FOLDED {
        let mut scratch = SCRATCH.take().unwrap_or_default();
        scratch.prepare(sources, ty);
        for (i, bytes) in bytes.chunks_mut(size).enumerate() {
            scratch.run(sources, compute, ty, i * BLOCK, bytes);
        }
        SCRATCH.set(Some(scratch));
        return;
    }
    let fresh = || {
        let mut scratch = Scratch::default();
        scratch.prepare(sources, ty);
        scratch
    };
    parts_with(bytes, (size, 1), fresh, |scratch, i, bytes| {
        scratch.run(sources, compute, ty, i * BLOCK, bytes);
    });
}

/// Replaces the contents of a list.
#[inline]
pub(crate) fn refill<T>(list: &mut Vec<T>, elements: impl Iterator<Item = T>) {
    list.clear();
    list.extend(elements);
}
#[inline]
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks().0.iter().copied()
}
fn scalars(ty: ElementType, bytes: &[u8]) -> impl Iterator<Item = Scalar> {
    bytes.chunks_exact(ty.storage_bytes()).map(move |b| Scalar::read(ty, b))
}
fn pair(x: Scalar) -> (f64, f64) {
    match x {
        Scalar::Complex(re, im) => (re, im),
        other => (other.as_f64(), 0.0),
    }
}
#[inline]
fn store<T, const N: usize>(elements: &[T], bytes: &mut [u8], bits: impl Fn(&T) -> [u8; N]) {
    for (slot, x) in bytes.as_chunks_mut().0.iter_mut().zip(elements) {
        *slot = bits(x);
    }
}
fn each<T>(elements: &[T], ty: ElementType, bytes: &mut [u8], scalar: impl Fn(&T) -> Scalar) {
    for (slot, x) in bytes.chunks_exact_mut(ty.storage_bytes()).zip(elements) {
        scalar(x).write(ty, slot);
    }
}
/// Returns the low bytes of a little-endian number.
#[inline]
fn low<const N: usize>(bytes: [u8; 8]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}
#[inline]
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "rounds to nearest even"
)]
fn single(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_and_writes_as_scalars_do() {
        for &ty in ElementType::ALL {
            let width = ty.storage_bytes();
            let mut bytes = vec![0; 64 * width];
            for (i, slot) in bytes.chunks_exact_mut(width).enumerate() {
                let code = u128::try_from(i).unwrap() * 0x0123_4567_89ab_cdef_0102_0304_0506_0709;
                Scalar::set_bits(ty, code, slot);
            }
            let mut block = Block::of(ty);
            block.read(ty, &bytes);
            let mut again = vec![0; bytes.len()];
            block.write(ty, &mut again);
            for (i, (old, new)) in
                bytes.chunks_exact(width).zip(again.chunks_exact(width)).enumerate()
            {
                let (old, new) = (Scalar::read(ty, old), Scalar::read(ty, new));
                assert_eq!(format!("{old:?}"), format!("{new:?}"), "{ty} {i}");
                assert_eq!(format!("{old:?}"), format!("{:?}", block.get(i)), "{ty} {i}");
            }
        }
    }
}
