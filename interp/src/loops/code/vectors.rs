//! Code of operations in vectors, of arrays of a few of them.
use super::elements::is_instruction;
use super::emitter::{Emitter, VECTOR, offset};
use super::kind::Kind;
use crate::loops::memory::Place;
use crate::loops::operation::{Elementwise, Move};
use cranelift_codegen::ir::types::{F32X4, F64X2, I32, I32X4, I64X2};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value};
use cranelift_frontend::FuncInstBuilder;
use hlo::ElementType;
use hlo::op::{Binary, Unary};
use num::scalar_program::step::ScalarStep;
use rustc_hash::FxHashMap;

/// The most bytes that are computed in vectors without a call.
pub(super) const MOST_BYTES: usize = 512;

impl Emitter<'_, '_> {
    /// Emits an elementwise operation in vectors, if it is one instruction; returns whether it has.
    pub(super) fn in_vectors(&mut self, operation: &Elementwise) -> bool {
        let (Some(step), result) = (&operation.step, operation.result) else { return false };
        let of_one_type = step.operands.iter().all(|ty| *ty == step.result);
        let Some(vector) = vector_of(step.result).filter(|_| of_one_type) else { return false };
        let has_instruction = match step.step {
            ScalarStep::Unary(op, ..) if vector.lane_type().is_float() => is_instruction(op),
            ScalarStep::Unary(op, ..) => [Unary::Negate, Unary::Not].contains(&op),
            ScalarStep::Binary(op, ..) => is_arithmetic(op, vector),
            ScalarStep::Constant(_)
            | ScalarStep::Compare(..)
            | ScalarStep::Select(..)
            | ScalarStep::Clamp(..)
            | ScalarStep::Convert(..) => false,
        };
        if !has_instruction || result.bytes > MOST_BYTES {
            return false;
        }
        // The last words of arrays are their own.
        for at in (0..result.bytes).step_by(VECTOR) {
            let x = operation.operands.iter().map(|place| self.vector(vector, place.start + at));
            let x: Vec<Value> = x.collect();
            // An instruction of floats is one of vectors too.
            let value = match vector.lane_type().is_float() {
                true => self.step(step.step, step.result, &x),
                false => self.integers(step.step, &x),
            };
            let Some(value) = value else { return false };
            self.put_vector(result.start + at, value);
        }
        true
    }

    /// Emits an operation on the lanes of vectors of integers.
    fn integers(&mut self, step: ScalarStep, x: &[Value]) -> Option<Value> {
        let ins = self.builder.ins();
        match (step, x) {
            (ScalarStep::Unary(Unary::Negate, ..), &[x]) => Some(ins.ineg(x)),
            (ScalarStep::Unary(Unary::Not, ..), &[x]) => Some(ins.bnot(x)),
            (ScalarStep::Binary(op, ..), &[a, b]) => lanes_of(op).map(|emit| emit(ins, a, b)),
            _ => None,
        }
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

/// Returns whether vectors have an operation.
fn is_arithmetic(op: Binary, vector: Type) -> bool {
    use Binary::{Add, Divide, Maximum, Minimum, Multiply, Subtract};
    match vector.lane_type().is_float() {
        true => [Add, Subtract, Multiply, Divide, Maximum, Minimum].contains(&op),
        false => lanes_of(op).is_some(),
    }
}
