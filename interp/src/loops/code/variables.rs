//! Places whose values are in registers: scalars, and the elements of the smallest arrays.
//!
//! Each has a variable, which the frontend of the code generator turns into registers across blocks
//! and iterations. Its memory has the same value only where something reads it: whatever reads
//! memory calls [`sync`](Emitter::sync) before, and whatever writes memory calls
//! [`reload`](Emitter::reload) afterwards.
use super::emitter::{ELEMENTS, Emitter, offset};
use super::kind::{Kind, is_in_registers, is_narrow};
use super::registers::Register;
use super::{address, functions};
use crate::loops::memory::Place;
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use hlo::{Class, ElementType};

impl Emitter<'_, '_> {
    /// Keeps the elements of an array in registers, if they are few.
    pub(super) fn declare(&mut self, ty: ElementType, place: Place) {
        let width = ty.storage_bytes();
        // Narrow floats take calls to load and to store.
        let most = if is_narrow(ty) { 1 } else { ELEMENTS };
        if is_in_registers(ty) && place.bytes <= most * width {
            for at in (place.start..place.end()).step_by(width) {
                let variable = self.builder.declare_var(Kind::of(ty).register());
                self.registers.0.insert(at, Register { ty, variable });
            }
        }
    }

    fn register(&self, ty: ElementType, at: usize) -> Option<Register> {
        self.registers.0.get(&at).copied().filter(|register| register.ty == ty)
    }

    /// Returns the value at a byte of the memory.
    pub(super) fn read(&mut self, ty: ElementType, at: usize) -> Value {
        if let Some(register) = self.register(ty, at) {
            return self.builder.use_var(register.variable);
        }
        self.sync(Place { start: at, bytes: ty.storage_bytes() });
        self.load(ty, (self.memory, at))
    }

    /// Sets the value at a byte of the memory.
    pub(super) fn write(&mut self, ty: ElementType, at: usize, value: Value) {
        let place = Place { start: at, bytes: ty.storage_bytes() };
        let Some(register) = self.register(ty, at) else {
            self.store(ty, (self.memory, at), value);
            return self.reload(place);
        };
        self.builder.def_var(register.variable, value);
        self.forget(place);
    }

    /// Has the memory have the values that are in registers, so that it can be read.
    pub(super) fn sync(&mut self, place: Place) {
        let registers: Vec<_> = self.registers.overlapping(place).collect();
        for (at, register) in registers {
            let value = self.builder.use_var(register.variable);
            self.store(register.ty, (self.memory, at), value);
        }
    }

    /// Has registers have the values in memory that was written.
    pub(super) fn reload(&mut self, place: Place) {
        self.forget(place);
        let registers: Vec<_> = self.registers.overlapping(place).collect();
        for (at, register) in registers {
            let value = self.load(register.ty, (self.memory, at));
            self.builder.def_var(register.variable, value);
        }
    }

    /// Forgets vectors in memory that is written.
    pub(super) fn forget(&mut self, place: Place) {
        self.vectors.forget(place);
    }

    /// Loads a value, which may be at any multiple of its size.
    pub(super) fn load(&mut self, ty: ElementType, (base, at): (Value, usize)) -> Value {
        let (flags, at) = (MemFlags::trusted(), offset(at));
        let (kind, bytes) = (Kind::of(ty), ty.storage_bytes());
        let ins = self.builder.ins();
        let value = match (ty.class(), bytes) {
            (Class::Signed, 1) => ins.sload8(I64, flags, base, at),
            (Class::Signed, 2) => ins.sload16(I64, flags, base, at),
            (Class::Signed, 4) => ins.sload32(flags, base, at),
            (Class::Unsigned | Class::Float, 1) => ins.uload8(I64, flags, base, at),
            (Class::Unsigned | Class::Float, 2) => ins.uload16(I64, flags, base, at),
            (Class::Unsigned, 4) => ins.uload32(flags, base, at),
            (_, _) => ins.load(kind.register(), flags, base, at),
        };
        match kind {
            Kind::Narrow(_) => self.widened(ty, value),
            Kind::Signed(..8) | Kind::Unsigned(..8) => self.wrap(ty, value),
            Kind::Signed(_)
            | Kind::Unsigned(_)
            | Kind::Pred
            | Kind::Single
            | Kind::Double
            | Kind::Complex => value,
        }
    }
    /// Stores a value.
    pub(super) fn store(&mut self, ty: ElementType, (base, at): (Value, usize), value: Value) {
        let (flags, at) = (MemFlags::trusted(), offset(at));
        let value = match Kind::of(ty) {
            Kind::Narrow(_) => self.narrowed(ty, value),
            Kind::Pred
            | Kind::Signed(_)
            | Kind::Unsigned(_)
            | Kind::Single
            | Kind::Double
            | Kind::Complex => value,
        };
        let is_word = self.builder.func.dfg.value_type(value) == I64;
        let ins = self.builder.ins();
        let _ = match ty.storage_bytes() {
            1 if is_word => ins.istore8(flags, value, base, at),
            2 => ins.istore16(flags, value, base, at),
            4 if is_word => ins.istore32(flags, value, base, at),
            _ => ins.store(flags, value, base, at),
        };
    }

    /// Returns the float with these bits, of a type narrower than f32.
    fn widened(&mut self, ty: ElementType, bits: Value) -> Value {
        if ty == ElementType::Bf16 {
            let bits = self.builder.ins().ishl_imm(bits, 16);
            let bits = self.builder.ins().ireduce(I32, bits);
            let single = self.builder.ins().bitcast(F32, MemFlags::new(), bits);
            return self.builder.ins().fpromote(F64, single);
        }
        let number = self.builder.ins().iconst(I64, functions::number(ty));
        let result = self.call(address::of_widened(), Some(F64), &[number, bits]);
        result.expect("it returns a float")
    }
    /// Returns the bits of a float of a type narrower than f32.
    fn narrowed(&mut self, ty: ElementType, value: Value) -> Value {
        if ty == ElementType::Bf16 {
            let single = self.builder.ins().fdemote(F32, value);
            let bits = self.builder.ins().bitcast(I32, MemFlags::new(), single);
            let bits = self.builder.ins().uextend(I64, bits);
            return self.builder.ins().ushr_imm(bits, 16);
        }
        let number = self.builder.ins().iconst(I64, functions::number(ty));
        let result = self.call(address::of_narrowed(), Some(I64), &[number, value]);
        result.expect("it returns bits")
    }
}
