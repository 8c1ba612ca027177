//! Machine code of scalar programs: register `i` is the place at word `i` of the memory.
//!
//! Words of arguments and results have values as registers do, which takes no conversion: integers
//! of 64 bits, and floats narrower than f32 as f64.
use super::Code;
use super::emitter::{Emitter, offset};
use super::generate::{FunctionFrame, generate};
use super::kind::{Kind, is_in_registers};
use crate::loops::memory::Place;
use crate::loops::operation::Elementwise;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use hlo::{Class, ElementType, Scalar};
use num::scalar_program::step::ScalarStep;
use num::scalar_program::{CompiledFn, Compiler, RegisterProgram};
use smallvec::SmallVec;
use std::fmt;

/// Bytes of a word.
const WORD: usize = size_of::<u128>();

/// The code of a scalar program.
struct ScalarCode {
    code: Code,
    /// Words of its memory.
    words: usize,
    /// The code has the addresses of these.
    _steps: Vec<Option<Elementwise>>,
}

impl fmt::Debug for ScalarCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalarCode").field("words", &self.words).finish_non_exhaustive()
    }
}

impl CompiledFn for ScalarCode {
    #[inline]
    fn apply(
        &self,
        (arguments, parameters): (&[Scalar], &[ElementType]),
        (out, results): (&mut [Scalar], &[ElementType]),
    ) {
        let mut words: SmallVec<[u128; 8]> = SmallVec::from_elem(0, self.words);
        for ((word, &ty), &argument) in words.iter_mut().zip(parameters).zip(arguments) {
            *word = to_word(ty, argument);
        }
        self.code.apply(&mut words, self.words);
        for ((out, &ty), &word) in out.iter_mut().zip(results).zip(&words) {
            *out = from_word(ty, word);
        }
    }
}

#[inline]
fn to_word(ty: ElementType, value: Scalar) -> u128 {
    match value {
        Scalar::Pred(x) => x.into(),
        Scalar::Signed(x) => x.cast_unsigned().into(),
        Scalar::Unsigned(x) => x.into(),
        // The type is known where this is compiled.
        Scalar::Float(_) if ty == ElementType::F32 => value.to_bits(ElementType::F32),
        Scalar::Float(x) => x.to_bits().into(),
        Scalar::Complex(..) => value.to_bits(ty),
    }
}

#[inline]
fn from_word(ty: ElementType, word: u128) -> Scalar {
    let [low, _]: [u64; 2] = bytemuck::cast(word);
    match ty.class() {
        Class::Pred => Scalar::Pred(low & 1 != 0),
        Class::Signed => Scalar::Signed(low.cast_signed()),
        Class::Unsigned => Scalar::Unsigned(low),
        Class::Float if ty == ElementType::F32 => {
            let [a, b, c, d, ..] = low.to_le_bytes();
            Scalar::read(ElementType::F32, &[a, b, c, d])
        }
        Class::Float => Scalar::Float(f64::from_bits(low)),
        Class::Complex => Scalar::from_bits(ty, word),
    }
}

/// Returns what makes machine code of scalar programs that are called often, if that is wanted.
pub(crate) fn compiler(is_wanted: bool) -> Option<Compiler> {
    is_wanted.then_some(compile)
}

/// Generates the code of a scalar program.
pub(super) fn compile(program: &RegisterProgram) -> Option<Box<dyn CompiledFn>> {
    let operation = |(i, step): (usize, &ScalarStep)| {
        let operands = step.operands().into_iter().map(|register| place(program, register));
        let result = place(program, program.parameters() + i);
        let is_constant = matches!(step, ScalarStep::Constant(_));
        let step = || Elementwise::new(program.element_step(i), operands.collect(), result);
        (!is_constant).then(step)
    };
    let steps: Vec<Option<Elementwise>> = program.steps.iter().enumerate().map(operation).collect();
    let (words, code) = generate(|frame| emit(frame, program, &steps))?;
    Some(Box::new(ScalarCode { code, words, _steps: steps }))
}

/// Emits the function; returns the words of its memory.
fn emit(
    frame: FunctionFrame<'_, '_>,
    program: &RegisterProgram,
    steps: &[Option<Elementwise>],
) -> usize {
    let mut emitter = Emitter::new(frame, &[], None);
    let (types, count) = (&program.types, program.parameters());
    for (register, &ty) in types.iter().enumerate() {
        emitter.declare(ty, place(program, register));
    }
    for (register, &ty) in types[..count].iter().enumerate() {
        let (ins, at) = (emitter.builder.ins(), register * WORD);
        let (flags, word) = (MemFlags::trusted(), Kind::of(ty).register());
        let value = ins.load(word, flags, emitter.memory, offset(at));
        emitter.write(ty, at, value);
    }
    // Complex numbers are in memory alone.
    let mut uses_words = !types.iter().copied().all(is_in_registers);
    for (i, (step, operation)) in program.steps.iter().zip(steps).enumerate() {
        if let Some(operation) = operation {
            uses_words |= !emitter.elementwise(operation);
        } else if let ScalarStep::Constant(value) = *step {
            let value = emitter.constant(types[count + i], value);
            emitter.write(types[count + i], (count + i) * WORD, value);
        }
    }
    // A word may be that of an argument and of another result.
    let results: Vec<Value> = (program.results.iter())
        .map(|&register| emitter.read(types[register], register * WORD))
        .collect();
    for (word, value) in results.into_iter().enumerate() {
        let (ins, at) = (emitter.builder.ins(), offset(word * WORD));
        ins.store(MemFlags::trusted(), value, emitter.memory, at);
    }
    let status = emitter.builder.ins().iconst(I64, 0);
    emitter.end(status);
    if uses_words { types.len() } else { count }.max(program.results.len())
}

fn place(program: &RegisterProgram, register: usize) -> Place {
    Place { start: register * WORD, bytes: program.types[register].storage_bytes() }
}
