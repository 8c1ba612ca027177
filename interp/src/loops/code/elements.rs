//! Code of operations on single elements of small arrays.
use super::emitter::{ELEMENTS, Emitter};
use super::kind::{is_in_registers, is_narrow};
use crate::loops::memory::Place;
use crate::loops::operation::{Beyond, Elementwise, KernelCall, Move, Operation, Source, Window};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
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
            Formula::Folds(op, ty, error, lines) => {
                self.folds((*op, *ty, *error), lines, [a, b, result], operation)
            }
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
        let zero = self.builder.ins().f64const(0.0);
        let mut elements: FxHashMap<usize, Value> = FxHashMap::default();
        let mut read = |this: &mut Self, at| {
            *elements.entry(at).or_insert_with(|| {
                let single = this.read(ty, at);
                this.builder.ins().fpromote(F64, single)
            })
        };
        let mut open = Open::new(self, units);
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
            values.push(open.round(self, sum, magnitude));
        }
        for (value, at) in values.into_iter().zip((result.start..).step_by(width)) {
            self.write(ty, at, value);
        }
        self.execute_if(open.any, operation);
    }

    /// Executes an operation if its results are not those that were emitted.
    fn execute_if(&mut self, is_open: Value, operation: &Operation) {
        let (open, next) = (self.new_block(), self.new_block());
        self.branch_on(is_open, open, next);
        self.enter_rarely(open);
        self.execute(operation);
        self.jump(next);
        self.enter(next);
    }

    /// Emits folds of elements in one place, each with the first value in another; returns whether
    /// it has.
    fn folds(
        &mut self,
        (op, ty, error): (Binary, ElementType, Option<f64>),
        lines: &[Vec<usize>],
        [elements, first, result]: [Place; 3],
        operation: &Operation,
    ) -> bool {
        if !is_in_registers(ty) || is_narrow(ty) {
            return false;
        }
        let is_wide = op == Binary::Add && ty == ElementType::F32;
        let of = if is_wide { ElementType::F64 } else { ty };
        let width = ty.storage_bytes();
        let mut open = error.map(|units| Open::new(self, units));
        let mut values = Vec::with_capacity(lines.len());
        let mut sums = Vec::with_capacity(lines.len());
        let terms = |this: &mut Self, line: &[usize]| {
            let places = line.iter().map(|at| elements.start + at * width);
            let read = |at| {
                let value = this.read(ty, at);
                if is_wide { this.builder.ins().fpromote(F64, value) } else { value }
            };
            std::iter::once(first.start).chain(places).map(read).collect::<Vec<Value>>()
        };
        for line in lines {
            let terms = terms(self, line);
            let mut are_instructions = true;
            let value = in_halves(&mut terms.clone(), |a, b| {
                let value = self.step(ScalarStep::Binary(op, of, 0, 1), of, &[a, b]);
                are_instructions &= value.is_some();
                value.unwrap_or(a)
            });
            if !are_instructions {
                return false;
            }
            values.push(match &mut open {
                Some(open) => {
                    let mut terms: Vec<Value> =
                        terms.into_iter().map(|x| self.builder.ins().fabs(x)).collect();
                    let magnitude = in_halves(&mut terms, |a, b| self.builder.ins().fadd(a, b));
                    sums.push((value, magnitude));
                    open.round(self, value, magnitude)
                }
                None if is_wide => self.builder.ins().fdemote(F32, value),
                None => value,
            });
        }
        for (&value, at) in values.iter().zip((result.start..).step_by(width)) {
            self.write(ty, at, value);
        }
        let Some(open) = open else {
            if op == Binary::Add && ty == ElementType::F64 {
                self.execute_unless_finite(values, operation);
            }
            return true;
        };
        // Sums of few f32 of one size are exact in f64, and often in the middle of two f32.
        let (check, next) = (self.new_block(), self.new_block());
        self.branch_on(open.any, check, next);
        self.enter(check);
        let mut rests = Vec::with_capacity(lines.len());
        for (line, &(_, magnitude)) in lines.iter().zip(&sums) {
            let terms = terms(self, line);
            rests.push(self.rest(&terms, magnitude));
        }
        let rest = in_halves(&mut rests, |a, b| self.builder.ins().fadd(a, b));
        for (&(sum, _), at) in sums.iter().zip((result.start..).step_by(width)) {
            let sum = self.builder.ins().fdemote(F32, sum);
            self.write(ty, at, sum);
        }
        let zero = self.builder.ins().f64const(0.0);
        let is_open = self.builder.ins().fcmp(FloatCC::NotEqual, rest, zero);
        self.execute_if(is_open, operation);
        self.jump(next);
        self.enter(next);
        true
    }

    /// Executes an operation if one of the sums in f64 that were emitted for it is not finite: that of
    /// numbers of both signs may be.
    fn execute_unless_finite(&mut self, mut sums: Vec<Value>, operation: &Operation) {
        for sum in &mut sums {
            *sum = self.builder.ins().fsub(*sum, *sum);
        }
        let rest = in_halves(&mut sums, |a, b| self.builder.ins().fadd(a, b));
        let is_open = self.builder.ins().fcmp(FloatCC::Unordered, rest, rest);
        self.execute_if(is_open, operation);
    }

    /// Returns what keeps a sum in f64 from having no rounding error in any order of its terms: 0 if
    /// they are multiples of a unit of which the sum of magnitudes is less than 2^53.
    fn rest(&mut self, terms: &[Value], magnitude: Value) -> Value {
        let bits = self.builder.ins().bitcast(I64, MemFlags::new(), magnitude);
        let exponent = self.builder.ins().band_imm(bits, 0x7ff << 52);
        let power = self.builder.ins().bitcast(F64, MemFlags::new(), exponent);
        let twelve = self.builder.ins().f64const(12.0);
        let coarse = self.builder.ins().fmul(power, twelve);
        let rest = |&term: &Value| {
            let sum = self.builder.ins().fadd(term, coarse);
            let rounded = self.builder.ins().fsub(sum, coarse);
            let rest = self.builder.ins().fsub(rounded, term);
            self.builder.ins().fabs(rest)
        };
        let mut rests: Vec<Value> = terms.iter().map(rest).collect();
        in_halves(&mut rests, |a, b| self.builder.ins().fadd(a, b))
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

/// Sums in f64 whose errors are known, on their way to f32.
struct Open {
    units: Value,
    /// Whether a sum may be rounded either way, or is not finite.
    any: Value,
}

impl Open {
    /// Returns none, of sums with this error for each unit of their magnitude.
    fn new(this: &mut Emitter<'_, '_>, units: f64) -> Self {
        let units = this.builder.ins().f64const(units);
        Self { units, any: this.builder.ins().iconst(I8, 0) }
    }
    /// Returns a sum as f32.
    fn round(&mut self, this: &mut Emitter<'_, '_>, sum: Value, magnitude: Value) -> Value {
        let infinity = this.builder.ins().f32const(f32::INFINITY);
        let error = this.builder.ins().fmul(magnitude, self.units);
        let least = this.builder.ins().fsub(sum, error);
        let greatest = this.builder.ins().fadd(sum, error);
        let ends = [least, greatest].map(|x| this.builder.ins().fdemote(F32, x));
        let bits = ends.map(|x| this.builder.ins().bitcast(I32, MemFlags::new(), x));
        let differ = this.builder.ins().icmp(IntCC::NotEqual, bits[0], bits[1]);
        let size = this.builder.ins().fabs(ends[0]);
        let is_infinite =
            this.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, size, infinity);
        let is_open = this.builder.ins().bor(differ, is_infinite);
        self.any = this.builder.ins().bor(self.any, is_open);
        ends[0]
    }
}

/// Returns whether a function of floats is one instruction.
fn is_instruction(op: Unary) -> bool {
    [Unary::Abs, Unary::Negate, Unary::Sqrt].contains(&op)
}
