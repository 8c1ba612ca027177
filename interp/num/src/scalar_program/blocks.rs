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
    /// The number of registers.
    registers: usize,
}

struct BlockStep {
    function: VectorLoop,
    operands: SmallVec<[Operand; 3]>,
    /// The register of the result, and the bytes of an element.
    result: (usize, usize),
}

/// The values of a parameter, of a constant or of a step, of elements of so many bytes. A step is
/// named by its number, and then by the register of its result.
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
        let results: Option<SmallVec<[Operand; 2]>> =
            registers.iter().map(|&register| blocks.operand(register)).collect();
        let (mut results, mut steps, constants) = (results?, blocks.made, blocks.constants);
        let registers = share_registers(&mut steps, &mut results);
        Some(BlockProgram { steps, constants, results, registers })
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
        let number = self.made.len();
        self.made.push(BlockStep { function, operands, result: (number, width) });
        let operand = Operand::Step(number, width);
        self.known.insert(register, operand);
        Some(operand)
    }
}

/// Gives values registers of values that no later step reads; returns their number.
fn share_registers(steps: &mut [BlockStep], results: &mut [Operand]) -> usize {
    let mut last_read = vec![0; steps.len()];
    let read = |operand: &Operand| match operand {
        Operand::Step(of, _) => Some(*of),
        Operand::Parameter(..) | Operand::Constant(..) => None,
    };
    for (number, step) in steps.iter().enumerate() {
        step.operands.iter().filter_map(read).for_each(|of| last_read[of] = number);
    }
    results.iter().filter_map(read).for_each(|of| last_read[of] = usize::MAX);
    let (mut of_step, mut free, mut count) = (vec![0; steps.len()], Vec::new(), 0);
    for (number, step) in steps.iter_mut().enumerate() {
        of_step[number] = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        step.result.0 = of_step[number];
        for k in 0..step.operands.len() {
            let (before, of) = (&step.operands[..k], step.operands[k]);
            if let Operand::Step(of, _) = of
                && last_read[of] == number
                && !before.iter().filter_map(read).any(|other| other == of)
            {
                free.push(of_step[of]);
            }
        }
    }
    let operands = steps.iter_mut().flat_map(|step| &mut step.operands);
    for operand in operands.chain(results) {
        if let Operand::Step(of, _) = operand {
            *of = of_step[*of];
        }
    }
    count
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
        vec![[0; BLOCK]; self.registers]
    }
    /// Bytes of the registers.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.registers * size_of::<Register>()
    }
    /// Returns the values of the first result for a block of `count` elements, of which
    /// `parameters` has the arguments.
    pub fn run<'a, 'b: 'a>(
        &'a self,
        registers: &'a mut [Register],
        parameters: impl Fn(usize) -> &'b [u8],
        count: usize,
    ) -> &'a [u8] {
        for step in &self.steps {
            let (number, width) = step.result;
            let (before, rest) = registers.split_at_mut(number);
            let (result, behind) = rest.split_first_mut().expect("each step has a register");
            let operands: SmallVec<[&[u8]; 3]> = (step.operands.iter())
                .map(|operand| operand.bytes((self, before, behind), &parameters, count))
                .collect();
            (step.function)(&operands, &mut bytemuck::cast_slice_mut(result)[..count * width]);
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
        self.results[k].bytes((self, registers, &[]), &parameters, count)
    }
}

impl Operand {
    fn bytes<'a, 'b: 'a>(
        self,
        (program, before, behind): (&'a BlockProgram, &'a [Register], &'a [Register]),
        parameters: &impl Fn(usize) -> &'b [u8],
        count: usize,
    ) -> &'a [u8] {
        match self {
            Self::Parameter(i, width) => &parameters(i)[..count * width],
            Self::Constant(i, width) => {
                &bytemuck::cast_slice(&program.constants[i])[..count * width]
            }
            Self::Step(i, width) => {
                // Between both lies the register that is written.
                let register = before.get(i).unwrap_or_else(|| &behind[i - before.len() - 1]);
                &bytemuck::cast_slice(register)[..count * width]
            }
        }
    }
}
