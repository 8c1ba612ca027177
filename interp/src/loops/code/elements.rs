//! Code of operations on single elements of small arrays.
use super::emitter::{ELEMENTS, Emitter};
use super::kind::{is_in_registers, is_narrow};
use crate::loops::memory::Place;
use crate::loops::operation::{Beyond, Elementwise, KernelCall, Move, Operation, Source, Window};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I32};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType, Scalar};
use kernels::{Formula, in_halves};
use num::index::to_i64;
use num::scalar_program::step::{ElementStep, ScalarStep};
use rustc_hash::FxHashMap;

/// Returns whether an operation is emitted element by element, but for steps that are called.
fn is_by_element(operation: &Elementwise) -> bool {
    let Some(ElementStep { step, operands, result }) = &operation.step else { return false };
    let is_function = match *step {
        ScalarStep::Unary(op, ty, _) => ty.class() == Class::Float && !is_instruction(op),
        ScalarStep::Constant(_)
        | ScalarStep::Binary(..)
        | ScalarStep::Compare(..)
        | ScalarStep::Select(..)
        | ScalarStep::Clamp(..)
        | ScalarStep::Convert(..) => false,
    };
    let mut types = operands.iter().chain([result]).copied();
    // Each result of a narrow type is rounded by a call.
    let most = match (types.clone().any(is_narrow), is_function) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => ELEMENTS,
    };
    operation.result.bytes <= most * result.storage_bytes() && types.all(is_in_registers)
}

/// Returns the array of which an operation updates one element, if it is in registers.
pub(super) fn one_element(operation: &Move) -> Option<Place> {
    let ([copy], Some(Window { array: Source::Small(place), ty, .. })) =
        (&*operation.copies, &operation.to)
    else {
        return None;
    };
    let width = ty.storage_bytes();
    let is_few = copy.count == 1 && copy.bytes == width && place.bytes <= ELEMENTS * width;
    (is_few && is_in_registers(*ty)).then_some(*place)
}

impl Emitter<'_, '_> {
    /// Emits an elementwise operation element by element; returns whether it has.
    pub(super) fn elements(&mut self, operation: &Elementwise) -> bool {
        let Some(step) = operation.step.as_ref().filter(|_| is_by_element(operation)) else {
            return false;
        };
        let width = step.result.storage_bytes();
        for i in 0..operation.result.bytes / width {
            let operands = operation.operands.iter().zip(&step.operands);
            let values: Vec<_> = operands
                .map(|(place, &ty)| self.read(ty, place.start + i * ty.storage_bytes()))
                .collect();
            let Some(value) = self.step(step.step, step.result, &values) else { return false };
            self.write(step.result, operation.result.start + i * width, value);
        }
        true
    }

    /// Emits the product of two vectors of f32, as `short_product` computes it in `fast`.
    pub(super) fn product(&mut self, operands: [Place; 2], result: Place) {
        let mut products = vec![self.builder.ins().f64const(0.0)];
        for i in (0..operands[0].bytes).step_by(size_of::<f32>()) {
            let [a, b] = operands.map(|place| self.read(ElementType::F32, place.start + i));
            let [a, b] = [a, b].map(|x| self.builder.ins().fpromote(F64, x));
            products.push(self.builder.ins().fmul(a, b));
        }
        let sum = in_halves(&mut products, |a, b| self.builder.ins().fadd(a, b));
        let sum = self.builder.ins().fdemote(F32, sum);
        self.write(ElementType::F32, result.start, sum);
    }

    /// Emits the steps of the kernel of an operation; returns whether it has.
    pub(super) fn formula(
        &mut self,
        formula: &Formula,
        kernel: usize,
        operation: &Operation,
    ) -> bool {
        let KernelCall { operands, results, .. } = &self.kernels[kernel];
        let ([(Source::Small(a), _), (Source::Small(b), _)], [(result, _)]) =
            (operands.as_slice(), results.as_slice())
        else {
            return false;
        };
        let (a, b, result) = (*a, *b, *result);
        match formula {
            Formula::Fold(op, ty) => self.fold((*op, *ty), (a, b), result),
            Formula::Products(ty, sums) => {
                let zero = self.constant(*ty, Scalar::Float(0.0));
                let mut elements: FxHashMap<usize, Value> = FxHashMap::default();
                let mut read =
                    |this: &mut Self, at| *elements.entry(at).or_insert_with(|| this.read(*ty, at));
                let width = ty.storage_bytes();
                let mut values = Vec::with_capacity(sums.len());
                for factors in sums {
                    let mut sum = zero;
                    for [x, y] in factors {
                        let x = read(self, a.start + x * width);
                        let y = read(self, b.start + y * width);
                        let product = self.builder.ins().fmul(x, y);
                        sum = self.builder.ins().fadd(sum, product);
                    }
                    values.push(sum);
                }
                for (value, at) in values.into_iter().zip((result.start..).step_by(width)) {
                    self.write(*ty, at, value);
                }
                true
            }
            Formula::RoundedProducts(units, sums) => {
                self.rounded_products((*units, sums), (a, b), result, operation);
                true
            }
        }
    }

    /// Emits sums of products of f32 in f64, with their error, and the operation for what it leaves
    /// open.
    fn rounded_products(
        &mut self,
        (units, sums): (f64, &[Vec<[usize; 2]>]),
        (a, b): (Place, Place),
        result: Place,
        operation: &Operation,
    ) {
        let (width, ty) = (size_of::<f32>(), ElementType::F32);
        let [zero, units] = [0.0, units].map(|x| self.builder.ins().f64const(x));
        let infinity = self.builder.ins().f32const(f32::INFINITY);
        let mut elements: FxHashMap<usize, Value> = FxHashMap::default();
        let mut read = |this: &mut Self, at| {
            *elements.entry(at).or_insert_with(|| {
                let single = this.read(ty, at);
                this.builder.ins().fpromote(F64, single)
            })
        };
        let mut is_open = self.builder.ins().iconst(I8, 0);
        let mut values = Vec::with_capacity(sums.len());
        for factors in sums {
            let (mut sum, mut magnitude) = (zero, zero);
            for [x, y] in factors {
                let x = read(self, a.start + x * width);
                let y = read(self, b.start + y * width);
                let product = self.builder.ins().fmul(x, y);
                sum = self.builder.ins().fadd(sum, product);
                let product = self.builder.ins().fabs(product);
                magnitude = self.builder.ins().fadd(magnitude, product);
            }
            let error = self.builder.ins().fmul(magnitude, units);
            let least = self.builder.ins().fsub(sum, error);
            let greatest = self.builder.ins().fadd(sum, error);
            let ends = [least, greatest].map(|x| self.builder.ins().fdemote(F32, x));
            let bits = ends.map(|x| self.builder.ins().bitcast(I32, MemFlags::new(), x));
            let differ = self.builder.ins().icmp(IntCC::NotEqual, bits[0], bits[1]);
            let size = self.builder.ins().fabs(ends[0]);
            let is_infinite =
                self.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, size, infinity);
            let is_this_open = self.builder.ins().bor(differ, is_infinite);
            is_open = self.builder.ins().bor(is_open, is_this_open);
            values.push(ends[0]);
        }
        for (value, at) in values.into_iter().zip((result.start..).step_by(width)) {
            self.write(ty, at, value);
        }
        let (open, next) = (self.new_block(), self.new_block());
        self.branch_on(is_open, open, next);
        self.enter_rarely(open);
        self.execute(operation);
        self.jump(next);
        self.enter(next);
    }

    /// Emits the fold of all elements in one place and the first value in another.
    fn fold(
        &mut self,
        (op, ty): (Binary, ElementType),
        (elements, first): (Place, Place),
        result: Place,
    ) -> bool {
        if !is_in_registers(ty) || is_narrow(ty) {
            return false;
        }
        let is_wide = op == Binary::Add && ty == ElementType::F32;
        let of = if is_wide { ElementType::F64 } else { ty };
        let places = (elements.start..elements.end()).step_by(ty.storage_bytes());
        let read = |at| {
            let value = self.read(ty, at);
            if is_wide { self.builder.ins().fpromote(F64, value) } else { value }
        };
        let mut values: Vec<Value> = std::iter::once(first.start).chain(places).map(read).collect();
        let mut are_instructions = true;
        let value = in_halves(&mut values, |a, b| {
            let value = self.step(ScalarStep::Binary(op, of, 0, 1), of, &[a, b]);
            are_instructions &= value.is_some();
            value.unwrap_or(a)
        });
        if are_instructions {
            let value = if is_wide { self.builder.ins().fdemote(F32, value) } else { value };
            self.write(ty, result.start, value);
        }
        are_instructions
    }

    /// Emits the update of one element of an array of few.
    ///
    /// A store to an address that is computed would be followed by loads of more than it has
    /// written, which wait for it.
    pub(super) fn update_element(&mut self, place: Place, window: &Window, update: usize) {
        let ty = window.ty;
        let (base, is_inside) = self.base(window);
        let new = self.read(ty, update);
        for at in (0..place.bytes).step_by(ty.storage_bytes()) {
            let old = self.read(ty, place.start + at);
            let mut is_here = self.builder.ins().icmp_imm(IntCC::Equal, base, to_i64(at));
            if window.beyond == Beyond::Skip {
                is_here = self.builder.ins().band(is_here, is_inside);
            }
            let value = self.builder.ins().select(is_here, new, old);
            self.write(ty, place.start + at, value);
        }
    }
}

/// Returns whether a function of floats is one instruction.
pub(super) fn is_instruction(op: Unary) -> bool {
    [Unary::Abs, Unary::Negate, Unary::Sqrt].contains(&op)
}
