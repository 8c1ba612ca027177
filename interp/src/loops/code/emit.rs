//! The code of a loop: its control flow, and its operations on arrays.
use super::chains::is_emitted as is_chained;
use super::elements::one_element;
use super::emitter::{Emitter, VECTOR, offset};
use super::generate::FunctionFrame;
use super::kind::is_in_registers;
use super::{FIRST_LARGE, address};
use crate::loops::build::Leaf;
use crate::loops::memory::{LoopCopy, Place};
use crate::loops::operation::{
    BETWEEN_CHECKS, Beyond, Elementwise, Move, Operation, Source, Window,
};
use crate::loops::{Block, Condition, LoopProgram};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I16, I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlags, Value};
use hlo::{Class, ElementType, Scalar};
use num::index::to_i64;

const COPIED: usize = 256;
/// The most terms of a product that is emitted.
const MOST_TERMS: usize = 16;
/// The most copies of one operation: the values that a loop carries.
const COPIES: usize = 64;

/// Where bytes are: in the memory of the program, or at an address with an offset.
#[derive(Clone, Copy)]
enum Location {
    Place(usize),
    Address(Value, usize),
}

impl Location {
    fn place(self, bytes: usize) -> Option<Place> {
        match self {
            Self::Place(start) => Some(Place { start, bytes }),
            Self::Address(..) => None,
        }
    }
    fn address(self, memory: Value) -> (Value, usize) {
        match self {
            Self::Place(start) => (memory, start),
            Self::Address(base, start) => (base, start),
        }
    }
}

impl<'a, 'b> Emitter<'a, 'b> {
    /// Emits a function that runs a loop.
    pub(super) fn emit_loop(
        frame: FunctionFrame<'a, 'b>,
        program: &'a LoopProgram,
        body: &'a Block,
    ) {
        let mut this = Self::new(frame, &program.kernels, Some(&program.image));
        this.large = (0..program.large.len()).map(|i| this.address(FIRST_LARGE + i)).collect();
        program.image.arrays().for_each(|array| this.declare(array.ty, array.place));
        for (start, register) in this.registers.all() {
            let place = Place { start, bytes: register.bytes() };
            let value = match program.image.constant(place) {
                Some(bytes) => this.constant(register.ty, Scalar::read(register.ty, bytes)),
                None => this.load(register.ty, (this.memory, start)),
            };
            this.builder.def_var(register.variable, value);
        }
        let none = this.builder.ins().iconst(I64, 0);
        this.builder.def_var(this.steps, none);
        this.repeat(&program.condition, body);
        for leaf in &program.carried {
            if let Leaf::Small(place, ..) = leaf {
                this.sync(*place);
            }
        }
        let steps = this.builder.use_var(this.steps);
        this.end(steps);
    }

    pub(super) fn jump(&mut self, block: ir::Block) {
        self.builder.ins().jump(block, &[]);
    }
    pub(super) fn branch_on(&mut self, condition: Value, yes: ir::Block, no: ir::Block) {
        self.builder.ins().brif(condition, yes, &[], no, &[]);
    }

    fn block(&mut self, block: &Block) {
        block.operations.iter().for_each(|operation| self.operation(operation));
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Repeat(repeat) => self.repeat(&repeat.condition, &repeat.body),
            Operation::Branch { selector, ty, branches } => self.branch(*selector, *ty, branches),
            Operation::Elementwise(operation) => {
                self.elementwise(operation);
            }
            Operation::Move(operation) if self.lanes(operation) => {}
            Operation::Move(operation) if is_emitted(operation) => self.move_data(operation),
            Operation::Choose { predicate, values, result } if result.bytes <= COPIED => {
                self.choose(*predicate, *values, *result);
            }
            Operation::Product { operands, result } if is_short(operands) => {
                self.product(*operands, *result);
            }
            Operation::Formula { formula, kernel } if self.formula(formula, *kernel, operation) => {
            }
            Operation::Fused(call)
                if call.chain.as_ref().is_some_and(|of| is_chained(of, call)) =>
            {
                call.chain.iter().for_each(|chain| self.chain(chain, call));
            }
            Operation::Move(_)
            | Operation::Formula { .. }
            | Operation::Choose { .. }
            | Operation::Product { .. }
            | Operation::Kernel(_)
            | Operation::Compute(_)
            | Operation::Fused(_) => self.execute(operation),
        }
    }

    /// Emits a call that executes an operation.
    pub(super) fn execute(&mut self, operation: &Operation) {
        let (read, written) = operation.places(self.kernels);
        for place in read {
            self.sync(place);
        }
        let (run, operation) = (self.address(0), address::of_operation(operation));
        let operation = self.builder.ins().iconst(I64, operation);
        self.checked_call(address::of_execute(), &[run, operation]);
        for place in written {
            self.reload(place);
        }
    }

    /// Emits a call of a function that returns 0 unless the run has failed.
    fn checked_call(&mut self, function: i64, arguments: &[Value]) {
        let status = self.call(function, Some(I64), arguments);
        let next = self.new_block();
        self.branch_on(status.expect("it returns a status"), self.failed, next);
        self.enter(next);
    }

    /// Emits an elementwise operation; returns whether it is instructions, and not a call with the
    /// places.
    pub(super) fn elementwise(&mut self, operation: &Elementwise) -> bool {
        if self.elements(operation) || self.in_vectors(operation) {
            return true;
        }
        operation.operands.iter().for_each(|place| self.sync(*place));
        let function = self.builder.ins().iconst(I64, address::of_elementwise(operation));
        let places = operation.operands.iter().chain([&operation.result]);
        let bytes = places.map(|place| place.end()).fold(0, usize::max);
        let bytes = self.builder.ins().iconst(I64, to_i64(bytes));
        self.call(address::of_apply(), None, &[function, self.memory, bytes]);
        self.reload(operation.result);
        false
    }

    /// Emits a loop. What is known of memory stays known, but for what the loop carries.
    fn repeat(&mut self, condition: &Condition, body: &Block) {
        let mut carried = Vec::new();
        if let Some(Operation::Move(Move { copies, to: None, .. })) = body.operations.last() {
            carried.extend(copies.iter().map(|copy| copy.places()[1]));
        }
        // A value may be computed where the loop carries it.
        let computed =
            body.operations.iter().flat_map(|operation| operation.places(self.kernels).1);
        for place in carried.iter().copied().chain(computed) {
            self.vectors.forget(place);
        }
        let [head, next, ended] = std::array::from_fn(|_| self.new_block());
        self.jump(head);
        self.builder.switch_to_block(head);
        self.block(&condition.block);
        let is_true = self.read(ElementType::Pred, condition.value.start);
        self.branch_on(is_true, next, ended);
        let vectors = self.vectors.clone();

        self.enter(next);
        self.block(body);
        let steps = self.count(condition.block.fuel + body.fuel);
        let limit = i64::try_from(BETWEEN_CHECKS).unwrap_or(i64::MAX);
        let is_over = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThan, steps, limit);
        let check = self.new_block();
        self.branch_on(is_over, check, head);
        self.enter_rarely(check);
        // A value that lives across the call would be in memory in each iteration.
        for place in &carried {
            self.sync(*place);
        }
        let run = self.address(0);
        self.checked_call(address::of_charge(), &[run, steps]);
        for place in carried {
            self.reload(place);
        }
        let none = self.builder.ins().iconst(I64, 0);
        self.builder.def_var(self.steps, none);
        self.jump(head);
        self.builder.seal_block(head);

        self.enter(ended);
        self.vectors = vectors;
        self.count(condition.block.fuel);
    }

    /// Adds to the steps that are not charged yet; returns them.
    fn count(&mut self, fuel: u64) -> Value {
        let steps = self.builder.use_var(self.steps);
        let steps = self.builder.ins().iadd_imm(steps, i64::try_from(fuel).unwrap_or(i64::MAX));
        self.builder.def_var(self.steps, steps);
        steps
    }

    fn branch(&mut self, selector: Place, ty: ElementType, branches: &[Block]) {
        let selector = self.read(ty, selector.start);
        let joined = self.new_block();
        let vectors = self.vectors.clone();
        let (last, others) = branches.split_last().expect("verified: there is a branch");
        for (index, branch) in (0..).zip(others) {
            let (here, next) = (self.new_block(), self.new_block());
            let is_here = match ty.class() {
                // True is the first of two.
                Class::Pred => selector,
                Class::Signed | Class::Unsigned | Class::Float | Class::Complex => {
                    self.builder.ins().icmp_imm(IntCC::Equal, selector, index)
                }
            };
            self.branch_on(is_here, here, next);
            self.enter(here);
            self.count(branch.fuel);
            self.block(branch);
            self.jump(joined);
            self.vectors.clone_from(&vectors);
            self.enter(next);
        }
        self.count(last.fuel);
        self.block(last);
        self.jump(joined);
        self.enter(joined);
        self.vectors = vectors;
        // What branches compute may lie where something was that nothing reads any more.
        for operation in branches.iter().flat_map(|branch| &branch.operations) {
            let (_, written) = operation.places(self.kernels);
            for place in written {
                self.forget(place);
            }
        }
    }

    fn copy(&mut self, LoopCopy { from, to, bytes, .. }: LoopCopy) {
        let vectors = (0..bytes).step_by(VECTOR).map(|at| self.vectors.get(from + at));
        if let Some(vectors) = vectors.collect::<Option<Vec<_>>>()
            && (bytes.is_multiple_of(VECTOR)
                || [from, to].into_iter().all(|start| self.is_whole(Place { start, bytes })))
        {
            for (value, at) in vectors.into_iter().zip((to..).step_by(VECTOR)) {
                self.put_vector(at, value);
            }
            return;
        }
        self.move_bytes(Location::Place(from), Location::Place(to), bytes);
    }

    /// Copies bytes.
    fn move_bytes(&mut self, from: Location, to: Location, bytes: usize) {
        let [source, target] = [from, to].map(|location| location.place(bytes));
        let covering =
            |place: Option<Place>| place.and_then(|place| self.registers.covering(place));
        if let Some(parts) = covering(target).or_else(|| covering(source)) {
            // All are read before the first is written: they may overlap.
            let read = |&(at, ty): &(usize, ElementType)| match from {
                Location::Place(start) => self.read(ty, start + at),
                Location::Address(base, start) => self.load(ty, (base, start + at)),
            };
            let values: Vec<Value> = parts.iter().map(read).collect();
            for ((at, ty), value) in parts.into_iter().zip(values) {
                match to {
                    Location::Place(start) => self.write(ty, start + at, value),
                    Location::Address(base, start) => self.store(ty, (base, start + at), value),
                }
            }
            return;
        }
        if let Some(place) = source {
            self.sync(place);
        }
        self.copy_bytes(from.address(self.memory), to.address(self.memory), bytes);
        if let Some(place) = target {
            self.reload(place);
        }
    }

    /// Copies bytes between addresses.
    fn copy_bytes(&mut self, from: (Value, usize), to: (Value, usize), bytes: usize) {
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
            let (at, to_at) = (offset(from.1 + done), offset(to.1 + done));
            let value = self.builder.ins().load(ty, flags, from.0, at);
            self.builder.ins().store(flags, value, to.0, to_at);
            done += size;
        }
    }

    fn choose(&mut self, predicate: usize, values: [usize; 2], result: Place) {
        let predicate = self.read(ElementType::Pred, predicate);
        if let Some(parts) = self.registers.covering(result) {
            for (at, ty) in parts {
                let [a, b] = values.map(|start| self.read(ty, start + at));
                let value = self.builder.ins().select(predicate, a, b);
                self.write(ty, result.start + at, value);
            }
            return;
        }
        let [a, b] = values.map(|start| {
            self.sync(Place { start, bytes: result.bytes });
            self.builder.ins().iconst(I64, to_i64(start))
        });
        let from = self.builder.ins().select(predicate, a, b);
        let from = self.builder.ins().iadd(self.memory, from);
        self.move_bytes(Location::Address(from, 0), Location::Place(result.start), result.bytes);
    }

    /// Emits copies: the same each time, or of a box.
    fn move_data(&mut self, operation: &Move) {
        let Move { copies, from, to, .. } = operation;
        let Some(window) = from.as_ref().or(to.as_ref()) else {
            return copies.iter().flat_map(|copy| copy.parts()).for_each(|copy| self.copy(copy));
        };
        if let Some(place) = one_element(operation) {
            return self.update_element(place, window, copies[0].from);
        }
        let (base, is_inside) = self.base(window);
        let array = match window.array {
            Source::Small(place) => {
                self.sync(place);
                self.builder.ins().iadd_imm(self.memory, to_i64(place.start))
            }
            Source::Large(number) => self.large[number],
        };
        let address = self.builder.ins().iadd(array, base);
        let next = self.new_block();
        if window.beyond == Beyond::Skip {
            let here = self.new_block();
            self.branch_on(is_inside, here, next);
            self.enter(here);
        }
        for copy in copies.iter().flat_map(|copy| copy.parts()) {
            let location = |window: &Option<Window>, at| match window {
                Some(_) => Location::Address(address, at),
                None => Location::Place(at),
            };
            self.move_bytes(location(from, copy.from), location(to, copy.to), copy.bytes);
        }
        self.jump(next);
        self.enter(next);
        if let (Some(_), Some(place)) = (to, window.array.small()) {
            self.reload(place);
        }
    }

    /// Returns the first byte of a box inside of its array, and whether that is where the box is.
    pub(super) fn base(&mut self, window: &Window) -> (Value, Value) {
        let mut base = self.builder.ins().iconst(I64, 0);
        let mut is_inside = self.builder.ins().iconst(I8, 1);
        for (start, last, stride) in &window.starts {
            let index = self.read(start.ty, start.place.start);
            let ins = self.builder.ins();
            let is_below = ins.icmp_imm(IntCC::UnsignedLessThanOrEqual, index, *last);
            is_inside = self.builder.ins().band(is_inside, is_below);
            let last = self.builder.ins().iconst(I64, *last);
            let index = if start.ty.class() == Class::Unsigned {
                self.builder.ins().umin(index, last)
            } else {
                let zero = self.builder.ins().iconst(I64, 0);
                let index = self.builder.ins().smax(index, zero);
                self.builder.ins().smin(index, last)
            };
            let offset = self.builder.ins().imul_imm(index, to_i64(*stride));
            base = self.builder.ins().iadd(base, offset);
        }
        (base, is_inside)
    }
}

/// Returns whether copies are instructions.
fn are_emitted(copies: &[LoopCopy]) -> bool {
    copies.iter().map(|copy| copy.count).sum::<usize>() <= COPIES
        && copies.iter().all(|copy| copy.bytes <= COPIED)
}
/// Returns whether data is moved by instructions.
fn is_emitted(Move { copies, from, to, .. }: &Move) -> bool {
    let fits = |at: usize| i32::try_from(at.saturating_add(COPIED)).is_ok();
    let mut starts = from.iter().chain(to).flat_map(|window| &window.starts);
    are_emitted(copies)
        && starts.all(|(start, ..)| is_in_registers(start.ty))
        && copies.iter().flat_map(|copy| copy.places()).all(|place| fits(place.end()))
}
/// Returns whether a product is emitted in `fast`.
fn is_short(operands: &[Place; 2]) -> bool {
    operands[0].bytes <= MOST_TERMS * size_of::<f32>()
}
