//! Code of chains: loops over vectors.
//!
//! A predicate is a mask: all bits of its lane, or none.
use super::emitter::{Emitter, VECTOR, offset as constant};
use super::vectors::{lanes_of, mask_of, vector_of};
use crate::loops::chain::Chain;
use crate::loops::operation::{FusedCall, Source};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, I8X16, I16X8, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlags, Type, Value};
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType};
use num::index::to_i64;
use num::scalar_program::step::{ElementStep, ScalarStep};
use smallvec::SmallVec;

/// The most instructions of a round of more than one vector.
const ROUND: usize = 64;

/// Returns the vectors of each value of a chain, and those of a round.
fn vectors(chain: &Chain) -> (usize, usize) {
    let vectors = (chain.count * chain.width).div_ceil(VECTOR);
    let length = chain.steps.len() + chain.inputs.len() + chain.outputs.len();
    let round = [4, 2].into_iter().find(|by| vectors.is_multiple_of(*by) && length * by <= ROUND);
    (vectors, round.unwrap_or(1))
}

/// Returns about how many instructions a chain becomes.
pub(super) fn size(chain: &Chain) -> usize {
    (chain.steps.len() + chain.inputs.len() + chain.outputs.len()) * vectors(chain).1
}

/// Returns whether a chain is emitted: vectors reach beyond the ends of arrays of the program, which
/// have words of their own, and not beyond those of large arrays.
pub(super) fn is_emitted(chain: &Chain, call: &FusedCall) -> bool {
    let is_whole = (chain.count * chain.width).is_multiple_of(VECTOR);
    is_whole || call.inputs.iter().all(|source| source.small().is_some())
}

impl Emitter<'_, '_> {
    /// Emits a chain.
    pub(super) fn chain(&mut self, chain: &Chain, call: &FusedCall) {
        for place in call.inputs.iter().filter_map(|source| source.small()) {
            self.sync(place);
        }
        let mask = mask_of(chain.width);
        let type_of = |ty: ElementType| vector_of(ty).unwrap_or(mask);
        let inputs = || chain.inputs.iter().zip(&call.inputs);
        let scalars: Vec<Option<Value>> = inputs()
            .map(|(&(ty, is_one), &source)| is_one.then(|| self.splat(source, ty, type_of(ty))))
            .collect();
        let (vectors, round) = vectors(chain);
        let lanes = VECTOR / chain.width;
        let element = self.builder.declare_var(I64);
        let none = self.builder.ins().iconst(I64, 0);
        self.builder.def_var(element, none);
        let [head, next] = [self.new_block(), self.new_block()];
        self.jump(head);
        self.builder.switch_to_block(head);
        let first = self.builder.use_var(element);
        // Addresses of elements and of predicates.
        let start = self.builder.ins().imul_imm(first, to_i64(chain.width));
        for k in 0..round {
            let at = |ty: ElementType| match ty.class() {
                Class::Pred => (first, k * lanes),
                Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
                    (start, k * VECTOR)
                }
            };
            let mut registers: Vec<Value> = Vec::new();
            for ((&(ty, _), &source), scalar) in inputs().zip(&scalars) {
                let value = match (scalar, source) {
                    (Some(scalar), _) => *scalar,
                    (None, source) => {
                        let (index, offset) = at(ty);
                        let (base, start) = match source {
                            Source::Small(place) => (self.memory, place.start),
                            Source::Large(number) => (self.large[number], 0),
                        };
                        let address = self.builder.ins().iadd(base, index);
                        self.load_lanes(ty, (address, start + offset), mask)
                    }
                };
                registers.push(value);
            }
            for (step, read) in &chain.steps {
                // What is read as another type has the same bits.
                let operands = read.iter().zip(&step.operands);
                let x: SmallVec<[Value; 3]> =
                    operands.map(|(&k, &ty)| self.lanes_as(type_of(ty), registers[k])).collect();
                let value = self.lane_step(step, &x, type_of(step.result));
                registers.push(value);
            }
            for (&register, place) in chain.outputs.iter().zip(&call.outputs) {
                let ty = chain.type_of(register);
                let (index, offset) = at(ty);
                let address = self.builder.ins().iadd(self.memory, index);
                self.store_lanes(ty, (address, place.start + offset), registers[register]);
            }
        }
        let following = self.builder.ins().iadd_imm(first, to_i64(round * lanes));
        self.builder.def_var(element, following);
        let end = to_i64(vectors * lanes);
        let is_next = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, following, end);
        self.branch_on(is_next, head, next);
        self.builder.seal_block(head);
        self.enter(next);
        call.outputs.iter().for_each(|&place| self.reload(place));
    }

    /// Returns a scalar in all lanes.
    fn splat(&mut self, source: Source, ty: ElementType, vector: Type) -> Value {
        let value = match source {
            Source::Small(place) => self.read(ty, place.start),
            Source::Large(number) => self.load(ty, (self.large[number], 0)),
        };
        let lane = vector.lane_type();
        let value = match (ty.class(), lane == I32) {
            (Class::Pred, _) => {
                let value = self.builder.ins().uextend(lane, value);
                self.builder.ins().ineg(value)
            }
            (Class::Signed | Class::Unsigned, true) => self.builder.ins().ireduce(I32, value),
            (Class::Signed | Class::Unsigned | Class::Float | Class::Complex, _) => value,
        };
        self.builder.ins().splat(vector, value)
    }

    /// Loads the lanes at an offset from an address.
    pub(super) fn load_lanes(
        &mut self,
        ty: ElementType,
        (address, offset): (Value, usize),
        mask: Type,
    ) -> Value {
        let (flags, offset) = (MemFlags::new().with_notrap(), constant(offset));
        if let Some(vector) = vector_of(ty) {
            return self.builder.ins().load(vector, flags, address, offset);
        }
        // Bytes that are 0 or 1 become lanes that are 0 or -1.
        let bytes = match mask == I32X4 {
            true => self.builder.ins().uload32(flags, address, offset),
            false => self.builder.ins().uload16(I64, flags, address, offset),
        };
        let bytes = self.builder.ins().scalar_to_vector(I64X2, bytes);
        let bytes = self.lanes_as(I8X16, bytes);
        let bytes = self.builder.ins().ineg(bytes);
        let halves = self.builder.ins().swiden_low(bytes);
        let words = self.builder.ins().swiden_low(halves);
        if mask == I32X4 { words } else { self.builder.ins().swiden_low(words) }
    }

    /// Stores lanes at an offset from an address.
    pub(super) fn store_lanes(
        &mut self,
        ty: ElementType,
        (address, offset): (Value, usize),
        value: Value,
    ) {
        let (flags, offset) = (MemFlags::new().with_notrap(), constant(offset));
        if vector_of(ty).is_some() {
            self.builder.ins().store(flags, value, address, offset);
            return;
        }
        let is_word = self.builder.func.dfg.value_type(value) == I32X4;
        let mut value = value;
        for _ in 0..if is_word { 1 } else { 2 } {
            let words = self.lanes_as(I32X4, value);
            value = self.builder.ins().snarrow(words, words);
        }
        let bytes = self.builder.ins().snarrow(value, value);
        let bytes = self.builder.ins().ineg(bytes);
        let words = self.lanes_as(if is_word { I32X4 } else { I16X8 }, bytes);
        let bytes = self.builder.ins().extractlane(words, 0);
        self.builder.ins().store(flags, bytes, address, offset);
    }

    /// Returns the bits of a vector as lanes of another type.
    fn lanes_as(&mut self, vector: Type, value: Value) -> Value {
        if self.builder.func.dfg.value_type(value) == vector {
            return value;
        }
        let flags = MemFlags::new().with_endianness(Endianness::Little);
        self.builder.ins().bitcast(vector, flags, value)
    }

    /// Emits a step of a chain, with a result in lanes of this type.
    pub(super) fn lane_step(&mut self, step: &ElementStep, x: &[Value], result: Type) -> Value {
        let value = match step.step {
            ScalarStep::Select(p, a, b) => {
                let mask = self.builder.func.dfg.value_type(x[p]);
                let [a, b] = [a, b].map(|k| self.lanes_as(mask, x[k]));
                let chosen = self.builder.ins().bitselect(x[p], a, b);
                Some(self.lanes_as(result, chosen))
            }
            ScalarStep::Convert(from, to, k) if from != to => {
                Some(self.convert_lanes(from, to, x[k], result))
            }
            ScalarStep::Unary(op, ty, k) if ty.class() != Class::Float => {
                let ins = self.builder.ins();
                Some(if op == Unary::Negate { ins.ineg(x[k]) } else { ins.bnot(x[k]) })
            }
            ScalarStep::Binary(op, ty, a, b)
                if [Class::Signed, Class::Unsigned].contains(&ty.class()) =>
            {
                self.integer_lanes(op, ty, x[a], x[b])
            }
            ScalarStep::Clamp(ty, low, k, high) if ty.class() != Class::Float => self
                .integer_lanes(Binary::Maximum, ty, x[k], x[low])
                .and_then(|value| self.integer_lanes(Binary::Minimum, ty, value, x[high])),
            // An instruction of floats and of predicates is one of vectors too.
            of @ (ScalarStep::Constant(_)
            | ScalarStep::Unary(..)
            | ScalarStep::Binary(..)
            | ScalarStep::Clamp(..)
            | ScalarStep::Compare(..)
            | ScalarStep::Convert(..)) => self.step(of, step.result, x),
        };
        value.expect("a chain has instructions of vectors")
    }

    fn integer_lanes(&mut self, op: Binary, ty: ElementType, a: Value, b: Value) -> Option<Value> {
        let is_signed = ty.class() == Class::Signed;
        let ins = self.builder.ins();
        match (op == Binary::Maximum, op == Binary::Minimum) {
            (true, _) if is_signed => Some(ins.smax(a, b)),
            (true, _) => Some(ins.umax(a, b)),
            (_, true) if is_signed => Some(ins.smin(a, b)),
            (_, true) => Some(ins.umin(a, b)),
            (false, false) => lanes_of(op).map(|emit| emit(ins, a, b)),
        }
    }

    /// Converts lanes to another type of as many bytes, or a predicate.
    fn convert_lanes(
        &mut self,
        from: ElementType,
        to: ElementType,
        x: Value,
        result: Type,
    ) -> Value {
        let of_from = self.builder.func.dfg.value_type(x);
        match (from.class(), to.class()) {
            (Class::Pred, class) => {
                let one = match class {
                    Class::Float if result == F32X4 => i64::from(1f32.to_bits()),
                    Class::Float => 1f64.to_bits().cast_signed(),
                    Class::Pred | Class::Signed | Class::Unsigned | Class::Complex => 1,
                };
                let one = self.builder.ins().iconst(of_from.lane_type(), one);
                let one = self.builder.ins().splat(of_from, one);
                let bits = self.builder.ins().band(x, one);
                self.lanes_as(result, bits)
            }
            (Class::Float, Class::Pred) => {
                let zero = match of_from == F32X4 {
                    true => self.builder.ins().f32const(0.0),
                    false => self.builder.ins().f64const(0.0),
                };
                let zero = self.builder.ins().splat(of_from, zero);
                self.builder.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            (_, Class::Pred) => {
                let zero = self.builder.ins().iconst(of_from.lane_type(), 0);
                let zero = self.builder.ins().splat(of_from, zero);
                self.builder.ins().icmp(IntCC::NotEqual, x, zero)
            }
            (Class::Signed, Class::Float) => self.builder.ins().fcvt_from_sint(result, x),
            (_, Class::Float) => self.builder.ins().fcvt_from_uint(result, x),
            (Class::Float, Class::Signed) => self.builder.ins().fcvt_to_sint_sat(result, x),
            (Class::Float, _) => self.builder.ins().fcvt_to_uint_sat(result, x),
            _ => x,
        }
    }
}
