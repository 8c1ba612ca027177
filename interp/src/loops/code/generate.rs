//! Functions in memory: the processor's code generator, and the frame of a function.
use super::Code;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Value};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use std::sync::OnceLock;

/// A function that is generated, and its arguments.
pub(super) struct FunctionFrame<'a, 'b> {
    pub(super) builder: &'a mut FunctionBuilder<'b>,
    pub(super) convention: CallConv,
    pub(super) memory: Value,
    pub(super) list: Value,
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

/// Generates a function; returns what `emit` returns with its code.
pub(super) fn generate<T>(emit: impl FnOnce(FunctionFrame<'_, '_>) -> T) -> Option<(T, Code)> {
    let isa = instruction_set()?;
    let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let mut context = module.make_context();
    let signature = &mut context.func.signature;
    signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
    signature.returns.push(AbiParam::new(I64));
    let function = module.declare_anonymous_function(signature).ok()?;
    let convention = context.func.signature.call_conv;
    let mut builder_context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut builder_context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let (memory, list) = (builder.block_params(entry)[0], builder.block_params(entry)[1]);
    let emitted = emit(FunctionFrame { builder: &mut builder, convention, memory, list });
    builder.finalize();
    let defined = module.define_function(function, &mut context);
    debug_assert!(defined.is_ok(), "the code is as the generator wants it: {defined:?}");
    defined.ok()?;
    module.finalize_definitions().ok()?;
    Some((emitted, Code::new(module, function)))
}
