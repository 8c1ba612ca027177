//! The code of a loop over small arrays.
//!
//! Every value is written to its place when it is computed, so that operations that are called find it there. Scalars, and
//! the elements of the smallest arrays, are also known in registers as long as their places keep them.
mod elements;

use super::code::{self, FIRST_LARGE};
use super::memory::{Copy, Place};
use super::operation::{BETWEEN_CHECKS, Beyond, ElementStep, Operation, Source, Window};
use super::{Block, Repeat, SmallLoop};
use crate::loops::jit::{Emitter, Kind, Operand};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32X4, F64X2, I8, I8X16, I16, I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlags, Type, Value};
use elements::is_in_registers;
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType};
use num::Arithmetic;
use num::index::to_i64;
use num::scalar_program::step::ScalarStep;
use rustc_hash::FxHashMap;

/// The most elements that are computed one by one, and bytes that are copied without a call.
const ELEMENTS: usize = 8;
const COPIED: usize = 256;
/// The most terms of a product that is emitted.
const MOST_TERMS: usize = 16;
/// The most copies of one operation: the values that a loop carries.
const COPIES: usize = 64;
/// The most rows of a box.
const ROWS: usize = 8;
/// The most bytes that are computed in vectors without a call.
const MOST_BYTES: usize = 512;
/// Bytes of a vector.
const VECTOR: usize = 16;

/// Values in memory, by their first byte.
#[derive(Clone, Default)]
struct Known {
    scalars: FxHashMap<usize, (Operand, ElementType)>,
    vectors: FxHashMap<usize, Value>,
}

impl Known {
    /// Forgets what is known of bytes that are written.
    fn forget(&mut self, start: usize, bytes: usize) {
        let is_apart = |at, size| at >= start + bytes || at + size <= start;
        self.scalars.retain(|&at, (_, ty)| is_apart(at, ty.storage_bytes()));
        self.vectors.retain(|&at, _| is_apart(at, VECTOR));
    }
}

pub(super) struct LoopEmitter<'a, 'b, 'c> {
    emitter: &'a mut Emitter<'b, 'c>,
    program: &'a SmallLoop,
    memory: Value,
    run: Value,
    large: Vec<Value>,
    known: Known,
    /// Returns that the run has failed.
    failed: ir::Block,
}

impl<'a, 'b, 'c> LoopEmitter<'a, 'b, 'c> {
    /// Emits a function that runs a program; `list` is the address of the addresses that it takes.
    pub(super) fn emit(emitter: &'a mut Emitter<'b, 'c>, program: &'a SmallLoop, list: Value) {
        let mut address =
            |i: usize| emitter.builder.ins().load(I64, MemFlags::trusted(), list, offset(8 * i));
        let (memory, run) = (address(0), address(1));
        let large = (0..program.large.len()).map(|i| address(FIRST_LARGE + i)).collect();
        let failed = emitter.builder.create_block();
        let known = Known::default();
        let mut this = Self { emitter, program, memory, run, large, known, failed };
        this.repeat(&program.repeat);
        this.end(0);
        this.emitter.builder.switch_to_block(failed);
        this.end(1);
    }
    fn end(&mut self, status: i64) {
        let status = self.emitter.builder.ins().iconst(I64, status);
        self.emitter.builder.ins().return_(&[status]);
    }
    fn new_block(&mut self) -> ir::Block {
        self.emitter.builder.create_block()
    }
    fn switch_to(&mut self, block: ir::Block) {
        self.emitter.builder.switch_to_block(block);
    }
    fn jump(&mut self, block: ir::Block) {
        self.emitter.builder.ins().jump(block, &[]);
    }
    fn branch_on(&mut self, condition: Value, yes: ir::Block, no: ir::Block) {
        self.emitter.builder.ins().brif(condition, yes, &[], no, &[]);
    }

    fn block(&mut self, block: &Block) {
        block.operations.iter().for_each(|operation| self.operation(operation));
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Repeat(repeat) => self.repeat(repeat),
            Operation::Branch { selector, ty, branches } => {
                self.branch(*selector, *ty, branches);
            }
            Operation::Elementwise { operands, result, step, .. } => {
                let is_emitted = match step {
                    Some(step) => {
                        self.elements(step, operands, *result)
                            || self.vectors(step, operands, *result)
                    }
                    None => false,
                };
                if !is_emitted {
                    self.call(operation);
                    self.forget(result.start, result.bytes);
                }
            }
            Operation::Copy(copies) => {
                if copies.len() <= COPIES && copies.iter().all(|copy| copy.bytes <= COPIED) {
                    for copy in copies {
                        self.copy(*copy);
                    }
                } else {
                    self.call(operation);
                    for copy in copies {
                        self.forget(copy.to, copy.bytes);
                    }
                }
            }
            Operation::Choose { predicate, values, result } => {
                if result.bytes <= COPIED {
                    self.choose(*predicate, *values, *result);
                } else {
                    self.call(operation);
                }
                self.forget(result.start, result.bytes);
            }
            Operation::Slice { array, window, result } => {
                if self.slice(*array, window, *result).is_none() {
                    self.call(operation);
                }
                self.forget(result.start, result.bytes);
            }
            Operation::Update { array, window, update } => {
                if self.update_elements(*array, window, *update).is_some() {
                    return;
                }
                if self.update(*array, window, *update).is_none() {
                    self.call(operation);
                }
                if let Source::Small(place) = array {
                    self.forget(place.start, place.bytes);
                }
            }
            Operation::Product { operands, result, arithmetic: Arithmetic::Fast, .. }
                if operands[0].bytes <= MOST_TERMS * size_of::<f32>() =>
            {
                self.product(*operands, *result);
            }
            Operation::Product { result, .. } => {
                self.call(operation);
                self.forget(result.start, result.bytes);
            }
            Operation::Kernel(number) => {
                self.call(operation);
                for (place, _) in &self.program.kernels[*number].results {
                    self.forget(place.start, place.bytes);
                }
            }
        }
    }

    /// Emits a call that executes an operation.
    fn call(&mut self, operation: &Operation) {
        let operation = code::address_of_operation(operation);
        let operation = self.emitter.builder.ins().iconst(I64, operation);
        self.checked_call(code::address_of_execute(), &[self.run, operation]);
    }
    /// Emits a call of a function that returns 0 unless the run has failed.
    fn checked_call(&mut self, function: i64, arguments: &[Value]) {
        let types = [I64; 2];
        let status = self.emitter.call(function, &types[..arguments.len()], Some(I64), arguments);
        let next = self.new_block();
        self.branch_on(status.expect("it returns a status"), self.failed, next);
        self.switch_to(next);
    }

    /// Emits a loop. What is known of memory stays known, but for what the loop carries.
    fn repeat(&mut self, repeat: &Repeat) {
        if let Some(Operation::Copy(next)) = repeat.body.operations.last() {
            for copy in next {
                self.forget(copy.to, copy.bytes);
            }
        }
        let [head, body, ended] = std::array::from_fn(|_| self.new_block());
        self.jump(head);
        self.switch_to(head);
        self.block(&repeat.condition);
        let test = self.element(ElementType::Pred, repeat.test.start).first;
        self.branch_on(test, body, ended);
        let known = self.known.clone();

        self.switch_to(body);
        self.block(&repeat.body);
        let steps = self.count(repeat.condition.fuel + repeat.body.fuel);
        let limit = i64::try_from(BETWEEN_CHECKS).unwrap_or(i64::MAX);
        let is_over = self.emitter.builder.ins().icmp_imm(IntCC::UnsignedGreaterThan, steps, limit);
        let check = self.new_block();
        self.branch_on(is_over, check, head);
        self.switch_to(check);
        self.checked_call(code::address_of_check(), &[self.run]);
        self.jump(head);

        self.switch_to(ended);
        self.known = known;
        self.count(repeat.condition.fuel);
    }

    /// Adds to the steps that are not charged yet; returns them.
    fn count(&mut self, fuel: u64) -> Value {
        let (flags, at) = (MemFlags::trusted(), offset(self.program.counter.start));
        let fuel = i64::try_from(fuel).unwrap_or(i64::MAX);
        let steps = self.emitter.builder.ins().load(I64, flags, self.memory, at);
        let steps = self.emitter.builder.ins().iadd_imm(steps, fuel);
        self.emitter.builder.ins().store(flags, steps, self.memory, at);
        steps
    }

    fn branch(&mut self, selector: Place, ty: ElementType, branches: &[Block]) {
        let selector = self.element(ty, selector.start).first;
        let joined = self.new_block();
        let known = self.known.clone();
        let (last, others) = branches.split_last().expect("verified: there is a branch");
        for (index, branch) in (0..).zip(others) {
            let (here, next) = (self.new_block(), self.new_block());
            let is_here = match ty.class() {
                // True is the first of two.
                Class::Pred => selector,
                Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
                    self.emitter.builder.ins().icmp_imm(IntCC::Equal, selector, index)
                }
            };
            self.branch_on(is_here, here, next);
            self.switch_to(here);
            self.count(branch.fuel);
            self.block(branch);
            self.jump(joined);
            self.known.clone_from(&known);
            self.switch_to(next);
        }
        self.count(last.fuel);
        self.block(last);
        self.jump(joined);
        self.switch_to(joined);
        // What branches compute has places of its own.
        self.known = known;
    }

    /// Emits an elementwise operation in vectors, if it is one instruction.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only floats have vectors")]
    fn vectors(&mut self, step: &ElementStep, operands: &[Place], result: Place) -> bool {
        let of_one_type = step.operands.iter().all(|ty| *ty == step.result);
        let vector: Type = match Kind::of(step.result) {
            Kind::Single if of_one_type => F32X4,
            Kind::Double if of_one_type => F64X2,
            _ => return false,
        };
        let has_instruction = match step.step {
            ScalarStep::Unary(op, ..) => is_instruction(op),
            ScalarStep::Binary(op, ..) => is_arithmetic(op),
            ScalarStep::Constant(_)
            | ScalarStep::Compare(..)
            | ScalarStep::Select(..)
            | ScalarStep::Clamp(..)
            | ScalarStep::Convert(..) => false,
        };
        if !has_instruction || !result.bytes.is_multiple_of(VECTOR) || result.bytes > MOST_BYTES {
            return false;
        }
        self.forget(result.start, result.bytes);
        for at in (0..result.bytes).step_by(VECTOR) {
            let x = operands.iter().map(|place| self.vector(vector, place.start + at).into());
            let x: Vec<Operand> = x.collect();
            // An instruction of numbers is one of vectors too.
            let Some(value) = self.emitter.step(step.step, step.result, &x) else { return false };
            self.put_vector(result.start + at, value.first);
        }
        true
    }

    /// Returns the vector at a byte of the memory.
    fn vector(&mut self, ty: Type, at: usize) -> Value {
        if let Some(&value) = self.known.vectors.get(&at)
            && self.emitter.builder.func.dfg.value_type(value) == ty
        {
            return value;
        }
        let (flags, at) = (MemFlags::trusted(), offset(at));
        self.emitter.builder.ins().load(ty, flags, self.memory, at)
    }
    /// Sets the vector at a byte of the memory, of which nothing else is known.
    fn put_vector(&mut self, at: usize, value: Value) {
        let (flags, to) = (MemFlags::trusted(), offset(at));
        self.emitter.builder.ins().store(flags, value, self.memory, to);
        self.known.vectors.insert(at, value);
    }

    /// Forgets what is known of bytes that are written.
    fn forget(&mut self, start: usize, bytes: usize) {
        self.known.forget(start, bytes);
    }

    fn copy(&mut self, copy: Copy) {
        let Copy { from, to, bytes } = copy;
        let inside = |&(at, (_, ty)): &(usize, (Operand, ElementType))| {
            at >= from && at + ty.storage_bytes() <= from + bytes
        };
        let known = self.known.scalars.iter().map(|(&at, &value)| (at, value));
        let mut moved: Vec<_> = known.filter(inside).collect();
        // The order of a map is not the same in all runs.
        moved.sort_unstable_by_key(|(at, _)| *at);
        // All at once: another part of the value may have been written last, for which a wide load would wait.
        if moved.iter().map(|(_, (_, ty))| ty.storage_bytes()).sum::<usize>() == bytes {
            for (at, (value, ty)) in moved {
                self.put(at - from + to, ty, value);
            }
            return;
        }
        let vectors = (0..bytes).step_by(VECTOR).map(|at| self.known.vectors.get(&(from + at)));
        if let Some(vectors) = vectors.map(Option::<&Value>::copied).collect::<Option<Vec<_>>>()
            && bytes.is_multiple_of(VECTOR)
        {
            self.forget(to, bytes);
            for (value, at) in vectors.into_iter().zip((to..).step_by(VECTOR)) {
                self.put_vector(at, value);
            }
        } else {
            let from_address = (self.memory, offset(from));
            self.copy_bytes(from_address, (self.memory, offset(to)), bytes);
            self.forget(to, bytes);
        }
        let moved = moved.into_iter().map(|(at, value)| (at - from + to, value));
        self.known.scalars.extend(moved);
    }

    /// Copies bytes between addresses.
    fn copy_bytes(&mut self, from: (Value, i32), to: (Value, i32), bytes: usize) {
        // An address may be that of any element.
        let flags = MemFlags::new().with_notrap();
        let mut done = 0;
        while done < bytes {
            let (ty, size) = match bytes - done {
                16.. => (I8X16, 16),
                8.. => (I64, 8),
                4.. => (I32, 4),
                2.. => (I16, 2),
                _ => (I8, 1),
            };
            let at = offset(done);
            let value = self.emitter.builder.ins().load(ty, flags, from.0, from.1 + at);
            self.emitter.builder.ins().store(flags, value, to.0, to.1 + at);
            done += size;
        }
    }

    fn choose(&mut self, predicate: usize, values: [usize; 2], result: Place) {
        let predicate = self.element(ElementType::Pred, predicate).first;
        let [a, b] = values.map(|at| self.emitter.builder.ins().iconst(I64, to_i64(at)));
        let from = self.emitter.builder.ins().select(predicate, a, b);
        let from = self.emitter.builder.ins().iadd(self.memory, from);
        self.copy_bytes((from, 0), (self.memory, offset(result.start)), result.bytes);
    }

    /// Returns the address of an array.
    fn address(&mut self, array: Source) -> Value {
        match array {
            Source::Small(place) => {
                self.emitter.builder.ins().iadd_imm(self.memory, to_i64(place.start))
            }
            Source::Large(number) => self.large[number],
        }
    }

    fn slice(&mut self, array: Source, window: &Window, result: Place) -> Option<()> {
        let (base, _) = self.base(window)?;
        let array = self.address(array);
        let from = self.emitter.builder.ins().iadd(array, base);
        for (i, &row) in window.rows.iter().enumerate() {
            let to = (self.memory, offset(result.start + i * window.bytes));
            self.copy_bytes((from, offset(row)), to, window.bytes);
        }
        Some(())
    }

    fn update(&mut self, array: Source, window: &Window, update: Place) -> Option<()> {
        let (base, is_inside) = self.base(window)?;
        let next = self.new_block();
        if window.beyond == Beyond::Skip {
            let here = self.new_block();
            self.branch_on(is_inside, here, next);
            self.switch_to(here);
        }
        let array = self.address(array);
        let to = self.emitter.builder.ins().iadd(array, base);
        for (i, &row) in window.rows.iter().enumerate() {
            let from = (self.memory, offset(update.start + i * window.bytes));
            self.copy_bytes(from, (to, offset(row)), window.bytes);
        }
        self.jump(next);
        self.switch_to(next);
        Some(())
    }

    /// Returns the first byte of a box inside of its array, and whether that is where the box is; `None` if the box is
    /// moved by a call.
    fn base(&mut self, window: &Window) -> Option<(Value, Value)> {
        let are_known = window.starts.iter().all(|(start, ..)| is_in_registers(start.ty));
        let is_short = window.rows.len() <= ROWS && window.bytes <= COPIED;
        let fits = window.rows.iter().all(|&row| i32::try_from(row + COPIED).is_ok());
        if !are_known || !is_short || !fits {
            return None;
        }
        let mut base = self.emitter.builder.ins().iconst(I64, 0);
        let mut is_inside = self.emitter.builder.ins().iconst(I8, 1);
        for (start, last, stride) in &window.starts {
            let index = self.element(start.ty, start.place.start).first;
            let ins = self.emitter.builder.ins();
            let is_below = ins.icmp_imm(IntCC::UnsignedLessThanOrEqual, index, *last);
            is_inside = self.emitter.builder.ins().band(is_inside, is_below);
            let last = self.emitter.builder.ins().iconst(I64, *last);
            let index = if start.ty.class() == Class::Unsigned {
                self.emitter.builder.ins().umin(index, last)
            } else {
                let zero = self.emitter.builder.ins().iconst(I64, 0);
                let index = self.emitter.builder.ins().smax(index, zero);
                self.emitter.builder.ins().smin(index, last)
            };
            let offset = self.emitter.builder.ins().imul_imm(index, to_i64(*stride));
            base = self.emitter.builder.ins().iadd(base, offset);
        }
        Some((base, is_inside))
    }
}

/// Whether a function of floats is one instruction.
fn is_instruction(op: Unary) -> bool {
    [Unary::Abs, Unary::Negate, Unary::Sqrt].contains(&op)
}
fn is_arithmetic(op: Binary) -> bool {
    [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Divide].contains(&op)
}

fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).expect("the memory of a small loop is less than 2 GiB")
}
