//! The control flow of a function: a loop over carried values, or one evaluation.
use super::code::StepCall;
use super::emit::{Emitter, Kind, Operand};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Block, BlockArg, Function, InstBuilder, Value};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use hlo::ElementType;
use num::scalar_program::RegisterProgram;
use std::sync::{Arc, OnceLock};

/// What a loop returns when it has done all its rounds and its condition is still true; otherwise it returns the number
/// of rounds that were left.
pub(super) const UNFINISHED: u64 = u64::MAX;

/// A function in memory.
pub(crate) struct Generated {
    pub(super) module: JITModule,
    pub(super) function: FuncId,
    pub(super) calls: Vec<Arc<StepCall>>,
}

/// Returns the processor's instruction set; `None` if no code can be generated for it.
fn instruction_set() -> Option<OwnedTargetIsa> {
    static ISA: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    let detect = || {
        let mut flags = settings::builder();
        let is_checked = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in
            [("opt_level", "speed"), ("is_pic", "false"), ("enable_verifier", is_checked)]
        {
            flags.set(name, value).ok()?;
        }
        let builder = cranelift_native::builder().ok()?;
        builder.finish(settings::Flags::new(flags)).ok()
    };
    // A word holds a short value in its first bytes.
    ISA.get_or_init(|| if cfg!(target_endian = "little") { detect() } else { None }).clone()
}

/// Generates the function of a loop, or, without a condition, of one evaluation of `body`. It takes the address of its
/// values and the number of rounds.
pub(super) fn generate(
    condition: Option<&RegisterProgram>,
    body: &RegisterProgram,
    parameters: usize,
) -> Option<Generated> {
    Generated::of(|emitter, words, rounds| {
        let parameters = &body.types[..parameters];
        let arguments: Vec<Operand> =
            parameters.iter().enumerate().map(|(i, &ty)| emitter.load(ty, words, i)).collect();
        if let Some(condition) = condition {
            emitter.repeat(condition, body, parameters, &arguments, words, rounds);
        } else {
            let results = emitter.program(body, &arguments);
            emitter.end(&results, words, rounds);
        }
    })
}

impl Generated {
    /// Generates a function of the address of words and of a number; `emit` gets these, and the emitter.
    pub(crate) fn of(emit: impl FnOnce(&mut Emitter<'_, '_>, Value, Value)) -> Option<Self> {
        let isa = instruction_set()?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let mut context = module.make_context();
        let signature = &mut context.func.signature;
        signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
        signature.returns.push(AbiParam::new(I64));
        let function = module.declare_anonymous_function(signature).ok()?;
        let calls = emitted(&mut context.func, emit);
        module.define_function(function, &mut context).ok()?;
        module.finalize_definitions().ok()?;
        Some(Self { module, function, calls })
    }
}

fn emitted(
    function: &mut Function,
    emit: impl FnOnce(&mut Emitter<'_, '_>, Value, Value),
) -> Vec<Arc<StepCall>> {
    let convention = function.signature.call_conv;
    let (mut context, mut calls) = (FunctionBuilderContext::new(), Vec::new());
    let mut builder = FunctionBuilder::new(function, &mut context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let (words, number) = (builder.block_params(entry)[0], builder.block_params(entry)[1]);
    let mut emitter = Emitter { builder: &mut builder, convention, calls: &mut calls, slot: None };
    emit(&mut emitter, words, number);
    builder.seal_all_blocks();
    builder.finalize();
    calls
}

impl Emitter<'_, '_> {
    /// Emits a loop that ends when the condition is false, or after `rounds` rounds.
    fn repeat(
        &mut self,
        condition: &RegisterProgram,
        body: &RegisterProgram,
        types: &[ElementType],
        arguments: &[Operand],
        words: Value,
        rounds: Value,
    ) {
        let [head, check, next, finished, unfinished] =
            std::array::from_fn(|_| self.builder.create_block());
        for &ty in types {
            let kind = Kind::of(ty);
            for _ in 0..kind.parts() {
                self.builder.append_block_param(head, kind.part());
            }
        }
        self.builder.append_block_param(head, I64);
        self.jump(head, arguments, rounds);

        self.builder.switch_to_block(head);
        let parameters = self.builder.block_params(head).to_vec();
        let mut parts = parameters.as_slice();
        let mut carried = Vec::with_capacity(types.len());
        for &ty in types {
            let (operand, rest) = parts.split_at(Kind::of(ty).parts());
            carried.push(Operand::from_parts(operand));
            parts = rest;
        }
        let left = parts[0];
        let is_true = self.program(condition, &carried)[0].first;
        self.builder.ins().brif(is_true, check, &[], finished, &[]);

        self.builder.switch_to_block(check);
        let has_rounds = self.builder.ins().icmp_imm(IntCC::NotEqual, left, 0);
        self.builder.ins().brif(has_rounds, next, &[], unfinished, &[]);

        self.builder.switch_to_block(next);
        let results = self.program(body, &carried);
        let left_then = self.builder.ins().iadd_imm(left, -1);
        self.jump(head, &results, left_then);

        self.builder.switch_to_block(finished);
        self.end(&carried, words, left);
        self.builder.switch_to_block(unfinished);
        let mark = self.builder.ins().iconst(I64, UNFINISHED.cast_signed());
        self.end(&carried, words, mark);
    }

    fn jump(&mut self, head: Block, carried: &[Operand], rounds: Value) {
        let parts = carried.iter().flat_map(|operand| operand.parts());
        let arguments: Vec<BlockArg> = parts.chain([rounds]).map(BlockArg::Value).collect();
        self.builder.ins().jump(head, &arguments);
    }

    /// Stores the results and returns `status`.
    fn end(&mut self, results: &[Operand], words: Value, status: Value) {
        for (word, &result) in results.iter().enumerate() {
            self.store(result, words, word);
        }
        self.builder.ins().return_(&[status]);
    }
}
