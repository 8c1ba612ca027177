//! Code of operations in vectors, of arrays of a few of them.
use super::emitter::{Emitter, VECTOR, offset};
use super::kind::Kind;
use crate::loops::chain::{Lanes, lanes};
use crate::loops::memory::Place;
use crate::loops::operation::{Elementwise, Move};
use cranelift_codegen::ir::types::{F32X4, F64X2, I8, I8X16, I32, I32X4, I64X2};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value};
use cranelift_frontend::FuncInstBuilder;
use hlo::ElementType;
use hlo::op::Binary;
use num::scalar_program::step::ScalarStep;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most bytes that are computed in vectors without a call.
pub(super) const MOST_BYTES: usize = 512;

impl Emitter<'_, '_> {
    /// Emits an elementwise operation in vectors, if it is instructions of them; returns whether it
    /// has.
    pub(super) fn in_vectors(&mut self, operation: &Elementwise) -> bool {
        let Elementwise { step: Some(step), operands, result, .. } = operation else {
            return false;
        };
        // Predicates alone are bytes that are 0 or 1.
        let (width, is_bytes) = match lanes(step) {
            Some(Lanes::Numbers(width)) => (width, false),
            Some(Lanes::Predicates) => (1, true),
            None => return false,
        };
        let count = result.bytes / step.result.storage_bytes();
        if count * width > MOST_BYTES || is_bytes && !is_of_bits(step.step) {
            return false;
        }
        let mask = mask_of(width);
        let type_of = |ty: ElementType| vector_of(ty).unwrap_or(mask);
        // The last words of arrays are their own.
        for first in (0..count).step_by(VECTOR / width) {
            let places = operands.iter().zip(&step.operands);
            let x: SmallVec<[Value; 3]> = places
                .map(|(place, &ty)| {
                    let at = place.start + first * ty.storage_bytes();
                    if is_bytes || vector_of(ty).is_some() {
                        return self.vector(type_of(ty), at);
                    }
                    self.sync(Place { start: at, bytes: VECTOR / width });
                    self.load_lanes(ty, (self.memory, at), mask)
                })
                .collect();
            let mut value = self.lane_step(step, &x, type_of(step.result));
            if is_bytes {
                let one = self.builder.ins().iconst(I8, 1);
                let one = self.builder.ins().splat(mask, one);
                value = self.builder.ins().band(value, one);
            }
            let at = result.start + first * step.result.storage_bytes();
            if is_bytes || vector_of(step.result).is_some() {
                self.put_vector(at, value);
            } else {
                self.store_lanes(step.result, (self.memory, at), value);
                self.reload(Place { start: at, bytes: VECTOR / width });
            }
        }
        true
    }

    /// Emits a move of all elements of an array as vectors of them; returns whether it has.
    ///
    /// A vector that is loaded from where elements were stored one by one waits for them.
    pub(super) fn lanes(&mut self, operation: &Move) -> bool {
        let (Some(first), None, None) = (operation.copies.first(), &operation.from, &operation.to)
        else {
            return false;
        };
        let array = self.image.and_then(|image| image.array_at(first.to));
        let Some((place, ty)) = array.map(|array| (array.place, array.ty)) else { return false };
        let Some(vector) = vector_of(ty) else { return false };
        let width = ty.storage_bytes();
        let is_in_registers = self.registers.overlapping(place).next().is_some();
        if is_in_registers || place.bytes <= VECTOR * 2 || place.bytes > MOST_BYTES {
            return false;
        }
        // From where each element is.
        let mut sources = vec![None; place.bytes / width];
        for part in operation.copies.iter().flat_map(|copy| copy.parts()) {
            let is_inside = part.to >= place.start && part.to + part.bytes <= place.end();
            let is_of_other = part.from >= place.end() || part.from + part.bytes <= place.start;
            if !is_inside || !is_of_other {
                return false;
            }
            for at in (0..part.bytes).step_by(width) {
                sources[(part.to - place.start + at) / width] = Some(part.from + at);
            }
        }
        let Some(sources) = sources.into_iter().collect::<Option<Vec<_>>>() else { return false };
        let mut made: FxHashMap<&[usize], Value> = FxHashMap::default();
        for (from, to) in sources.chunks(VECTOR / width).zip((place.start..).step_by(VECTOR)) {
            let value = match made.get(from) {
                Some(value) => *value,
                None => self.of_lanes((ty, vector), from),
            };
            made.insert(from, value);
            self.put_vector(to, value);
        }
        true
    }

    /// Returns the vector of elements at these bytes.
    fn of_lanes(&mut self, (ty, vector): (ElementType, Type), from: &[usize]) -> Value {
        let width = ty.storage_bytes();
        let are_neighbors = (0..).zip(from).all(|(i, &at)| at == from[0] + i * width);
        let place = Place { start: from[0], bytes: from.len() * width };
        let are_in_memory = self.registers.overlapping(place).next().is_none();
        if are_neighbors && are_in_memory && from[0].is_multiple_of(VECTOR) {
            return self.vector(vector, from[0]);
        }
        let read = |this: &mut Self, at| {
            let value = this.read(ty, at);
            match vector == I32X4 {
                true => this.builder.ins().ireduce(I32, value),
                false => value,
            }
        };
        let first = read(self, from[0]);
        let mut value = self.builder.ins().splat(vector, first);
        for (lane, &at) in (0..).zip(from) {
            if at != from[0] {
                let element = read(self, at);
                value = self.builder.ins().insertlane(value, element, lane);
            }
        }
        value
    }

    /// Returns whether a place is that of an array, whose last word is its own.
    pub(super) fn is_whole(&self, place: Place) -> bool {
        let array = self.image.and_then(|image| image.array_at(place.start));
        array.is_some_and(|array| array.place == place)
    }

    /// Returns the vector at a byte of the memory.
    pub(super) fn vector(&mut self, ty: Type, at: usize) -> Value {
        if let Some(value) = self.vectors.get(at)
            && self.builder.func.dfg.value_type(value) == ty
        {
            return value;
        }
        self.sync(Place { start: at, bytes: VECTOR });
        self.builder.ins().load(ty, MemFlags::trusted(), self.memory, offset(at))
    }
    /// Sets the vector at a byte of the memory.
    pub(super) fn put_vector(&mut self, at: usize, value: Value) {
        self.builder.ins().store(MemFlags::trusted(), value, self.memory, offset(at));
        self.reload(Place { start: at, bytes: VECTOR });
        self.vectors.insert(at, value);
    }
}

/// Returns the vector of numbers that the processor computes at once.
pub(super) fn vector_of(ty: ElementType) -> Option<Type> {
    match Kind::of(ty) {
        Kind::Single => Some(F32X4),
        Kind::Double => Some(F64X2),
        Kind::Signed(32) | Kind::Unsigned(32) => Some(I32X4),
        Kind::Signed(64) | Kind::Unsigned(64) => Some(I64X2),
        Kind::Pred | Kind::Signed(_) | Kind::Unsigned(_) | Kind::Narrow(_) | Kind::Complex => None,
    }
}

/// Emits an operation on the lanes of two vectors of integers.
pub(super) type OfLanes = fn(FuncInstBuilder<'_, '_>, Value, Value) -> Value;

/// The operations on integers that vectors have.
const LANES: [(Binary, OfLanes); 6] = [
    (Binary::Add, |ins, a, b| ins.iadd(a, b)),
    (Binary::Subtract, |ins, a, b| ins.isub(a, b)),
    (Binary::Multiply, |ins, a, b| ins.imul(a, b)),
    (Binary::And, |ins, a, b| ins.band(a, b)),
    (Binary::Or, |ins, a, b| ins.bor(a, b)),
    (Binary::Xor, |ins, a, b| ins.bxor(a, b)),
];

pub(super) fn lanes_of(op: Binary) -> Option<OfLanes> {
    LANES.iter().find(|(of, _)| *of == op).map(|&(_, emit)| emit)
}

/// Returns the vector of the masks of lanes of so many bytes.
pub(super) fn mask_of(width: usize) -> Type {
    match width {
        1 => I8X16,
        4 => I32X4,
        _ => I64X2,
    }
}

/// Returns whether a step of predicates is one of their bits.
fn is_of_bits(step: ScalarStep) -> bool {
    match step {
        ScalarStep::Unary(..) | ScalarStep::Binary(..) => true,
        ScalarStep::Constant(_)
        | ScalarStep::Compare(..)
        | ScalarStep::Select(..)
        | ScalarStep::Clamp(..)
        | ScalarStep::Convert(..) => false,
    }
}
