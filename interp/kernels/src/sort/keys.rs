//! The keys of the elements of a line, as integers that ascend in the order asked for.

use crate::cost_model::COMPUTED;
use bytemuck::Pod;
use hlo::op::Compare;
use hlo::op::value::{ComparisonType, Direction};
use hlo::{Array, ArrayShape, Class, ElementType, Scalar};
use num::scalar_program::{BLOCK, BlockProgram, Key, ScalarProgram};
use rayon::prelude::*;
use std::sync::Arc;

/// Computes a key of each element.
pub(crate) struct LineKey {
    source: KeySource,
    order: ComparisonType,
    ty: ElementType,
    descends: bool,
}

enum KeySource {
    /// The first operand is the key.
    First,
    /// Loops over blocks.
    Blocks(BlockProgram),
    /// The steps for one element after another.
    Steps(Arc<ScalarProgram>, Key),
}

/// The elements of a line in each operand.
#[derive(Clone, Copy)]
pub(crate) struct SortLine<'a> {
    pub operands: &'a [&'a Array],
    pub base: usize,
    pub stride: usize,
    pub size: usize,
}

/// The registers in which the keys of a block are computed.
pub(crate) struct Registers {
    steps: Vec<[u128; BLOCK]>,
    /// Elements of each operand that lie apart.
    gathered: Vec<[u128; BLOCK]>,
}

/// Returns the order of a type where a text has no comparator: floats in their total order.
pub(super) fn default_order(ty: ElementType) -> ComparisonType {
    match ty.class() {
        Class::Float => ComparisonType::TotalOrder,
        Class::Pred | Class::Signed | Class::Unsigned | Class::Complex => Compare::default_type(ty),
    }
}

impl LineKey {
    /// Returns the key of a comparator.
    pub(super) fn of(applied: &Arc<ScalarProgram>, key: Key) -> Self {
        let source = match applied.in_blocks(key.register) {
            Some(program) => KeySource::Blocks(program),
            None => KeySource::Steps(Arc::clone(applied), key),
        };
        let descends = key.direction == Direction::Gt;
        Self { source, order: key.order, ty: key.ty, descends }
    }
    /// Returns the key that the elements of `ty` are themselves.
    pub(crate) fn of_element(ty: ElementType, descends: bool) -> Self {
        Self { source: KeySource::First, order: default_order(ty), ty, descends }
    }
    /// Bits of a key; those of small floats are computed from f64.
    pub(super) fn bits(&self) -> u32 {
        if self.ty.class() == Class::Float && self.ty.bits() <= 8 { 64 } else { self.ty.bits() }
    }
    /// Returns the bytes of the registers of a thread.
    pub(super) fn bytes(&self, operands: &[&ArrayShape], stride: usize) -> usize {
        let steps = match &self.source {
            KeySource::Blocks(program) => program.bytes(),
            KeySource::First | KeySource::Steps(..) => 0,
        };
        let gathered = if stride == 1 { 0 } else { operands.len() };
        steps + gathered * size_of::<[u128; BLOCK]>()
    }
    pub(crate) fn registers(&self, operands: &[&Array], stride: usize) -> Registers {
        let steps = match &self.source {
            KeySource::Blocks(program) => program.registers(),
            KeySource::First | KeySource::Steps(..) => Vec::new(),
        };
        let gathered = if stride == 1 { 0 } else { operands.len() };
        Registers { steps, gathered: vec![[0; BLOCK]; gathered] }
    }

    /// Computes the keys of a line; returns whether they have an order, which a NaN may not.
    /// Several threads share a long line if `in_parallel`.
    pub(super) fn compute(
        &self,
        line: SortLine<'_>,
        keys: &mut [u64],
        registers: &mut Registers,
        in_parallel: bool,
    ) -> bool {
        if let KeySource::Steps(applied, key) = &self.source {
            return self.by_steps(applied, *key, line, keys);
        }
        if !in_parallel || keys.len() <= COMPUTED {
            return self.part(line, 0, keys, registers);
        }
        let parts = keys.par_chunks_mut(COMPUTED).enumerate();
        let registers = || self.registers(line.operands, line.stride);
        parts
            .map_init(registers, |registers, (i, keys)| {
                self.part(line, i * COMPUTED, keys, registers)
            })
            .reduce(|| true, |a, b| a && b)
    }

    /// Computes the keys from element `first` on; returns whether they have an order.
    pub(crate) fn part(
        &self,
        line: SortLine<'_>,
        first: usize,
        keys: &mut [u64],
        registers: &mut Registers,
    ) -> bool {
        let mut is_ordered = true;
        for (i, keys) in keys.chunks_mut(BLOCK).enumerate() {
            let (first, count) = (first + i * BLOCK, keys.len());
            line.gather(first, count, &mut registers.gathered);
            let gathered = &registers.gathered;
            // Parameters 2i and 2i + 1 are the left and the right element of operand i.
            let parameter = |i: usize| line.block(i / 2, first, count, gathered);
            let elements = match &self.source {
                KeySource::Blocks(program) => program.run(&mut registers.steps, parameter, count),
                KeySource::First | KeySource::Steps(..) => parameter(0),
            };
            is_ordered &= ranks(elements, (self.ty, self.order), keys);
            if self.descends {
                for key in keys.iter_mut() {
                    *key = !*key;
                }
            }
        }
        is_ordered
    }

    fn by_steps(
        &self,
        applied: &ScalarProgram,
        key: Key,
        line: SortLine<'_>,
        keys: &mut [u64],
    ) -> bool {
        let mut scratch = applied.scratch();
        let mut arguments = vec![Scalar::Pred(false); 2 * line.operands.len()];
        for (i, slot) in keys.iter_mut().enumerate() {
            for (arguments, operand) in arguments.chunks_exact_mut(2).zip(line.operands) {
                arguments.fill(operand.get(line.base + i * line.stride));
            }
            let value = applied.key_of(key, &arguments, &mut scratch);
            let Some(rank) = rank(value, self.order, self.ty) else { return false };
            *slot = if self.descends { !rank } else { rank };
        }
        true
    }
}

impl SortLine<'_> {
    fn width(&self, operand: usize) -> usize {
        let operand = self.operands[operand];
        operand.bytes().len() / operand.len().max(1)
    }
    /// Collects a block of each operand whose elements lie apart.
    fn gather(&self, first: usize, count: usize, gathered: &mut [[u128; BLOCK]]) {
        for (i, to) in gathered.iter_mut().enumerate() {
            let (width, from) = (self.width(i), self.operands[i].bytes());
            let to: &mut [u8] = bytemuck::cast_slice_mut(to);
            for (j, slot) in to.chunks_exact_mut(width).take(count).enumerate() {
                let at = (self.base + (first + j) * self.stride) * width;
                slot.copy_from_slice(&from[at..at + width]);
            }
        }
    }
    /// Returns a block of an operand.
    fn block<'a>(
        &'a self,
        operand: usize,
        first: usize,
        count: usize,
        gathered: &'a [[u128; BLOCK]],
    ) -> &'a [u8] {
        match gathered.get(operand) {
            Some(gathered) => bytemuck::cast_slice(gathered),
            None => {
                let width = self.width(operand);
                &self.operands[operand].bytes()[(self.base + first) * width..][..count * width]
            }
        }
    }
}

/// Writes the rank of each element; returns whether they have an order.
fn ranks(elements: &[u8], (ty, order): (ElementType, ComparisonType), ranks: &mut [u64]) -> bool {
    match ty.storage_bytes() {
        1 if ty.bits() == 8 => ranks_of::<u8>(elements, (ty, order), ranks),
        2 => ranks_of::<u16>(elements, (ty, order), ranks),
        4 => ranks_of::<u32>(elements, (ty, order), ranks),
        8 if !ty.is_complex() => ranks_of::<u64>(elements, (ty, order), ranks),
        width => elements.chunks_exact(width).zip(ranks).all(|(element, slot)| {
            let rank = rank(Scalar::read(ty, element), order, ty);
            *slot = rank.unwrap_or(0);
            rank.is_some()
        }),
    }
}

/// Writes the ranks of elements that are the bits of `T`.
fn ranks_of<T: Pod + Into<u64>>(
    elements: &[u8],
    (ty, order): (ElementType, ComparisonType),
    ranks: &mut [u64],
) -> bool {
    let elements = ranks.iter_mut().zip(bytemuck::cast_slice::<u8, T>(elements));
    let sign = 1 << (ty.bits() - 1);
    match (ty.class(), order) {
        (Class::Pred | Class::Unsigned | Class::Complex, _) => {
            elements.for_each(|(rank, &x)| *rank = x.into());
        }
        (Class::Signed, _) => elements.for_each(|(rank, &x)| *rank = x.into() ^ sign),
        (Class::Float, _) if ty.bits() == 8 => {
            return elements.fold(true, |is_ordered, (slot, &x)| {
                let x = Scalar::from_bits(ty, u128::from(x.into()));
                let rank = rank(x, order, ty);
                *slot = rank.unwrap_or(0);
                is_ordered && rank.is_some()
            });
        }
        (Class::Float, ComparisonType::TotalOrder) => {
            elements.for_each(|(rank, &x)| *rank = total_order(x.into(), sign));
        }
        (
            Class::Float,
            ComparisonType::Float | ComparisonType::Signed | ComparisonType::Unsigned,
        ) => {
            let mantissa = ty.float_format().map_or(0, |format| format.mantissa_bits);
            let infinity = sign - (1 << mantissa);
            // A NaN has no order; zeros of both signs are equal.
            let mut largest = 0;
            for (rank, &x) in elements {
                let magnitude = x.into() & !sign;
                largest = largest.max(magnitude);
                *rank = if magnitude == 0 { sign } else { total_order(x.into(), sign) };
            }
            return largest <= infinity;
        }
    }
    true
}

/// Returns the rank of a float in the total order, from its bits.
#[inline]
fn total_order(x: u64, sign: u64) -> u64 {
    if x & sign == 0 { x | sign } else { x ^ (sign | (sign - 1)) }
}

/// Returns a number that orders keys as their comparison does.
fn rank(key: Scalar, order: ComparisonType, ty: ElementType) -> Option<u64> {
    const SIGN: u64 = 1 << 63;
    let ascending = |x: i64| x.cast_unsigned() ^ SIGN;
    match (key, order) {
        (Scalar::Pred(x), _) => Some(u64::from(x)),
        (Scalar::Signed(x), _) => Some(ascending(x)),
        (Scalar::Unsigned(x), _) => Some(x),
        (Scalar::Float(_), ComparisonType::TotalOrder) => {
            Some(ascending(num::float::total_order_key(ty, key)))
        }
        // With a NaN it is no order; zeros of both signs are equal.
        (Scalar::Float(x), _) if x.is_nan() => None,
        (Scalar::Float(0.0), _) => Some(SIGN),
        (Scalar::Float(x), _) => {
            Some(ascending(num::float::total_order_key(ElementType::F64, Scalar::Float(x))))
        }
        (Scalar::Complex(..), _) => None,
    }
}
