//! Scalar programs over blocks of elements: each step is a loop.
use super::{Body, ElementStep, RegisterProgram, ScalarProgram, ScalarStep};
use crate::Arithmetic;
use crate::loops::VectorLoop;
use hlo::{ElementType, Scalar};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Elements of a block.
pub const BLOCK: usize = 256;
/// Steps of the longest program that has loops; those are made from the last one back.
const LONGEST: usize = 256;
/// The values of a step for the elements of a block, of any type.
type Register = [u128; BLOCK];

/// The steps of a scalar program that some of its registers need, as loops.
pub struct BlockProgram {
    steps: Vec<BlockStep>,
    /// Values that are the same for all blocks.
    constants: Vec<Register>,
    results: SmallVec<[Operand; 2]>,
}

struct BlockStep {
    function: VectorLoop,
    operands: SmallVec<[Operand; 3]>,
    /// Bytes of an element of the result.
    width: usize,
}

/// The values of a parameter, of a constant or of a step, of elements of so many bytes.
#[derive(Clone, Copy)]
enum Operand {
    Parameter(usize, usize),
    Constant(usize, usize),
    Step(usize, usize),
}

impl ScalarProgram {
    /// Returns the program of the only result; none if a step has no loop.
    #[inline]
    pub fn result_in_blocks(&self) -> Option<BlockProgram> {
        let Body::Steps(program) = &self.body else { return None };
        let &[result] = program.results.as_slice() else { return None };
        self.in_blocks(result)
    }

    /// Returns the program of a register; none if a step has no loop.
    pub fn in_blocks(&self, register: usize) -> Option<BlockProgram> {
        self.registers_in_blocks(&[register], |step| step.typed_loop(Arithmetic::Exact))
    }

    /// Returns the program of all results, in which a step without a loop takes one element after
    /// another; none if it runs on a machine.
    pub fn results_in_blocks(&self, arithmetic: Arithmetic) -> Option<BlockProgram> {
        let Body::Steps(program) = &self.body else { return None };
        let loops: LoopOf = match arithmetic {
            Arithmetic::Exact => |step| Some(step.in_loop(Arithmetic::Exact)),
            Arithmetic::Fast => |step| Some(step.in_loop(Arithmetic::Fast)),
        };
        self.registers_in_blocks(&program.results, loops)
    }

    fn registers_in_blocks(&self, registers: &[usize], loops: LoopOf) -> Option<BlockProgram> {
        let Body::Steps(program) = &self.body else { return None };
        if program.steps.len() > LONGEST {
            return None;
        }
        let (made, constants, known) = (Vec::new(), Vec::new(), HashMap::new());
        let mut blocks = Blocks { of: program, loops, made, constants, known };
        let results =
            registers.iter().map(|&register| blocks.operand(register)).collect::<Option<_>>()?;
        Some(BlockProgram { steps: blocks.made, constants: blocks.constants, results })
    }
}

/// Returns the loop of a step, if it has one.
type LoopOf = fn(&ElementStep) -> Option<VectorLoop>;

/// Loops on their way to a program.
struct Blocks<'a> {
    of: &'a RegisterProgram,
    loops: LoopOf,
    made: Vec<BlockStep>,
    constants: Vec<Register>,
    known: HashMap<usize, Operand>,
}

impl Blocks<'_> {
    /// Returns the operand that has the values of a register.
    fn operand(&mut self, register: usize) -> Option<Operand> {
        let ty = self.of.types[register];
        let width = ty.storage_bytes();
        let Some(step) = register.checked_sub(self.of.parameters()) else {
            return Some(Operand::Parameter(register, width));
        };
        if let Some(&known) = self.known.get(&register) {
            return Some(known);
        }
        if let ScalarStep::Constant(value) = self.of.steps[step] {
            let operand = Operand::Constant(self.constants.len(), width);
            self.constants.push(filled(ty, value));
            self.known.insert(register, operand);
            return Some(operand);
        }
        let function = (self.loops)(&self.of.element_step(step))?;
        let operands = self.of.steps[step].operands().into_iter();
        let operands = operands.map(|register| self.operand(register)).collect::<Option<_>>()?;
        self.made.push(BlockStep { function, operands, width });
        let operand = Operand::Step(self.made.len() - 1, width);
        self.known.insert(register, operand);
        Some(operand)
    }
}

/// Returns a block of one value.
fn filled(ty: ElementType, value: Scalar) -> Register {
    let mut register = [0; BLOCK];
    let slots: &mut [u8] = bytemuck::cast_slice_mut(&mut register);
    slots.chunks_exact_mut(ty.storage_bytes()).for_each(|slot| value.write(ty, slot));
    register
}

impl BlockProgram {
    /// Returns registers for many blocks.
    pub fn registers(&self) -> Vec<Register> {
        vec![[0; BLOCK]; self.steps.len()]
    }
    /// Bytes of the registers.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.steps.len() * size_of::<Register>()
    }
    /// Returns the values of the first result for a block of `count` elements, of which
    /// `parameters` has the arguments.
    pub fn run<'a, 'b: 'a>(
        &'a self,
        registers: &'a mut [Register],
        parameters: impl Fn(usize) -> &'b [u8],
        count: usize,
    ) -> &'a [u8] {
        for (i, step) in self.steps.iter().enumerate() {
            let (before, rest) = registers.split_at_mut(i);
            let operands: SmallVec<[&[u8]; 3]> = (step.operands.iter())
                .map(|operand| operand.bytes((self, before), &parameters, count))
                .collect();
            (step.function)(
                &operands,
                &mut bytemuck::cast_slice_mut(&mut rest[0])[..count * step.width],
            );
        }
        self.result(0, registers, parameters, count)
    }
    /// Returns the values of result `k` for the block that was run last, with the same arguments.
    pub fn result<'a, 'b: 'a>(
        &'a self,
        k: usize,
        registers: &'a [Register],
        parameters: impl Fn(usize) -> &'b [u8],
        count: usize,
    ) -> &'a [u8] {
        self.results[k].bytes((self, registers), &parameters, count)
    }
}

impl Operand {
    fn bytes<'a, 'b: 'a>(
        self,
        (program, registers): (&'a BlockProgram, &'a [Register]),
        parameters: &impl Fn(usize) -> &'b [u8],
        count: usize,
    ) -> &'a [u8] {
        match self {
            Self::Parameter(i, width) => &parameters(i)[..count * width],
            Self::Constant(i, width) => {
                &bytemuck::cast_slice(&program.constants[i])[..count * width]
            }
            Self::Step(i, width) => &bytemuck::cast_slice(&registers[i])[..count * width],
        }
    }
}
