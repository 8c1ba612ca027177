//! The emitter: the function that is built, with its blocks, constants and calls.
use super::FAILED;
use super::generate::FunctionFrame;
use super::registers::{RecentVectors, Registers};
use crate::loops::memory::Image;
use crate::loops::operation::KernelCall;
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::types::{I8, I8X16, I64};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, MemFlags, Signature, Type, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use hlo::{ElementType, Scalar};

/// The most elements that are computed one by one, and bytes that are copied without a call.
pub(super) const ELEMENTS: usize = 8;
/// Bytes of a vector.
pub(super) const VECTOR: usize = 16;

/// The code of a program while it is made.
pub(super) struct Emitter<'a, 'b> {
    pub(super) builder: &'a mut FunctionBuilder<'b>,
    pub(super) convention: CallConv,
    pub(super) memory: Value,
    /// The list of addresses.
    pub(super) list: Value,
    pub(super) large: Vec<Value>,
    pub(super) kernels: &'a [KernelCall],
    /// The places of arrays; none of scalars alone.
    pub(super) image: Option<&'a Image>,
    pub(super) registers: Registers,
    pub(super) vectors: RecentVectors,
    /// The steps that are not charged yet.
    pub(super) steps: Variable,
    /// Returns that the run has failed.
    pub(super) failed: ir::Block,
}

impl<'a, 'b> Emitter<'a, 'b> {
    pub(super) fn new(
        frame: FunctionFrame<'a, 'b>,
        kernels: &'a [KernelCall],
        image: Option<&'a Image>,
    ) -> Self {
        let FunctionFrame { builder, convention, memory, list } = frame;
        let (steps, failed) = (builder.declare_var(I64), builder.create_block());
        Self {
            builder,
            convention,
            memory,
            list,
            large: Vec::new(),
            kernels,
            image,
            registers: Registers::default(),
            vectors: RecentVectors::default(),
            steps,
            failed,
        }
    }

    /// Emits the end of the function.
    pub(super) fn end(&mut self, status: Value) {
        self.builder.ins().return_(&[status]);
        self.enter_rarely(self.failed);
        let status = self.builder.ins().iconst(I64, FAILED.cast_signed());
        self.builder.ins().return_(&[status]);
    }

    /// Returns an address of the list.
    pub(super) fn address(&mut self, i: usize) -> Value {
        let at = offset(i * size_of::<u64>());
        self.builder.ins().load(I64, MemFlags::trusted(), self.list, at)
    }
    pub(super) fn new_block(&mut self) -> ir::Block {
        self.builder.create_block()
    }
    /// Continues in a block to which nothing more jumps.
    pub(super) fn enter(&mut self, block: ir::Block) {
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
    }
    pub(super) fn enter_rarely(&mut self, block: ir::Block) {
        self.builder.set_cold_block(block);
        self.enter(block);
    }
    /// Emits a constant.
    pub(super) fn constant(&mut self, ty: ElementType, constant: Scalar) -> Value {
        let bits = constant.to_bits(ty);
        let ins = self.builder.ins();
        match constant {
            Scalar::Pred(x) => ins.iconst(I8, i64::from(x)),
            Scalar::Signed(x) => ins.iconst(I64, x),
            Scalar::Unsigned(x) => ins.iconst(I64, x.cast_signed()),
            Scalar::Float(_) if ty == ElementType::F32 => {
                let bits = u32::try_from(bits).expect("an f32 has 32 bits");
                ins.f32const(Ieee32::with_bits(bits))
            }
            Scalar::Float(x) => ins.f64const(Ieee64::with_bits(x.to_bits())),
            Scalar::Complex(..) => {
                let word = self.builder.func.dfg.constants.insert(bits.to_le_bytes()[..].into());
                self.builder.ins().vconst(I8X16, word)
            }
        }
    }

    /// Calls a function at an address.
    pub(super) fn call(
        &mut self,
        address: i64,
        result: Option<Type>,
        arguments: &[Value],
    ) -> Option<Value> {
        let types = arguments.iter().map(|&argument| self.builder.func.dfg.value_type(argument));
        let mut signature = Signature::new(self.convention);
        signature.params.extend(types.map(AbiParam::new));
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.builder.import_signature(signature);
        let address = self.builder.ins().iconst(I64, address);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call).first().copied()
    }
}

pub(super) fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).expect("the memory of a small loop is less than 2 GiB")
}
