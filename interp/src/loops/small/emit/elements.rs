//! Code of operations on single elements of small arrays.
use super::super::memory::Place;
use super::super::operation::{Beyond, ElementStep, Source, Window};
use super::{ELEMENTS, LoopEmitter, is_instruction, offset};
use crate::loops::jit::{Kind, Operand};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags};
use hlo::{Class, ElementType};
use kernels::in_halves;
use num::index::to_i64;
use num::scalar_program::step::ScalarStep;

impl LoopEmitter<'_, '_, '_> {
    /// Emits an elementwise operation element by element; returns false, and emits no store, if it has to be called.
    pub(super) fn elements(
        &mut self,
        step: &ElementStep,
        operands: &[Place],
        result: Place,
    ) -> bool {
        let width = step.result.storage_bytes();
        let count = result.bytes / width;
        let is_function = match step.step {
            ScalarStep::Unary(op, ty, _) => ty.class() == Class::Float && !is_instruction(op),
            ScalarStep::Constant(_)
            | ScalarStep::Binary(..)
            | ScalarStep::Compare(..)
            | ScalarStep::Select(..)
            | ScalarStep::Clamp(..)
            | ScalarStep::Convert(..) => false,
        };
        let most = if is_function { 2 } else { ELEMENTS };
        let types = step.operands.iter().chain([&step.result]);
        if count > most || !types.copied().all(is_in_registers) {
            return false;
        }
        for i in 0..count {
            let mut values = Vec::with_capacity(operands.len());
            for (place, &ty) in operands.iter().zip(&step.operands) {
                values.push(self.element(ty, place.start + i * ty.storage_bytes()));
            }
            let Some(value) = self.emitter.step(step.step, step.result, &values) else {
                return false;
            };
            self.put(result.start + i * width, step.result, value);
        }
        true
    }

    /// Emits the product of two vectors of f32, as `short_product` computes it in `fast`.
    pub(super) fn product(&mut self, operands: [Place; 2], result: Place) {
        let mut products = vec![self.emitter.builder.ins().f64const(0.0)];
        for i in (0..operands[0].bytes).step_by(size_of::<f32>()) {
            let [a, b] =
                operands.map(|place| self.element(ElementType::F32, place.start + i).first);
            let [a, b] = [a, b].map(|x| self.emitter.builder.ins().fpromote(F64, x));
            products.push(self.emitter.builder.ins().fmul(a, b));
        }
        let sum = in_halves(&mut products, |a, b| self.emitter.builder.ins().fadd(a, b));
        let sum = self.emitter.builder.ins().fdemote(F32, sum);
        self.put(result.start, ElementType::F32, sum.into());
    }

    /// Emits the update of one element of an array of few, of which all elements are known afterwards; `None` if it is another.
    ///
    /// A store to an address that is computed would be followed by loads of more than it has written, which wait for it.
    pub(super) fn update_elements(
        &mut self,
        array: Source,
        window: &Window,
        update: Place,
    ) -> Option<()> {
        let Source::Small(place) = array else { return None };
        let (ty, width) = (window.ty, window.ty.storage_bytes());
        let fits = window.rows.len() == 1 && window.bytes == width && is_in_registers(ty);
        if !fits || place.bytes > ELEMENTS * width {
            return None;
        }
        let (base, is_inside) = self.base(window)?;
        let new = self.element(ty, update.start).first;
        for at in (0..place.bytes).step_by(width) {
            let old = self.element(ty, place.start + at).first;
            let ins = self.emitter.builder.ins();
            let mut is_here = ins.icmp_imm(IntCC::Equal, base, to_i64(at));
            if window.beyond == Beyond::Skip {
                is_here = self.emitter.builder.ins().band(is_here, is_inside);
            }
            let value = self.emitter.builder.ins().select(is_here, new, old);
            self.put(place.start + at, ty, value.into());
        }
        Some(())
    }

    /// Returns the scalar at a byte of the memory.
    pub(super) fn element(&mut self, ty: ElementType, at: usize) -> Operand {
        if let Some((value, of)) = self.known.scalars.get(&at)
            && *of == ty
        {
            return *value;
        }
        let (flags, memory, offset) = (MemFlags::trusted(), self.memory, offset(at));
        let ins = self.emitter.builder.ins();
        let value = match (ty.class(), ty.storage_bytes()) {
            (Class::Signed, 1) => ins.sload8(I64, flags, memory, offset),
            (Class::Signed, 2) => ins.sload16(I64, flags, memory, offset),
            (Class::Signed, 4) => ins.sload32(flags, memory, offset),
            (Class::Unsigned, 1) => ins.uload8(I64, flags, memory, offset),
            (Class::Unsigned, 2) => ins.uload16(I64, flags, memory, offset),
            (Class::Unsigned, 4) => ins.uload32(flags, memory, offset),
            (_, _) => ins.load(Kind::of(ty).part(), flags, memory, offset),
        };
        self.known.scalars.insert(at, (value.into(), ty));
        value.into()
    }

    /// Sets the scalar at a byte of the memory.
    pub(super) fn put(&mut self, at: usize, ty: ElementType, value: Operand) {
        let (flags, memory, offset) = (MemFlags::trusted(), self.memory, offset(at));
        let ins = self.emitter.builder.ins();
        let _ = match (ty.class(), ty.storage_bytes()) {
            (Class::Signed | Class::Unsigned, 1) => ins.istore8(flags, value.first, memory, offset),
            (Class::Signed | Class::Unsigned, 2) => {
                ins.istore16(flags, value.first, memory, offset)
            }
            (Class::Signed | Class::Unsigned, 4) => {
                ins.istore32(flags, value.first, memory, offset)
            }
            (_, _) => ins.store(flags, value.first, memory, offset),
        };
        self.forget(at, ty.storage_bytes());
        self.known.scalars.insert(at, (value, ty));
    }
}

/// Whether values of a type are computed in one register.
pub(super) fn is_in_registers(ty: ElementType) -> bool {
    match Kind::of(ty) {
        Kind::Pred | Kind::Single | Kind::Double => true,
        Kind::Signed(bits) | Kind::Unsigned(bits) => bits >= 8,
        Kind::Narrow(_) | Kind::Complex => false,
    }
}
