//! Control flow: which computation an instruction calls, and what becomes of the callee's result.
use crate::error::Code;
use crate::interpreter::fitted;
use crate::kernel::zeros;
use crate::machine::{Machine, Then};
use crate::scan::Step;
use crate::table::bytes_of;
use crate::{Error, Result};
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::{Literal, Op, Scalar, Shape};

pub(crate) use crate::scan::Scan;

impl<'m> Machine<'m> {
    /// Starts the computation `instruction` calls, if it calls one; takes the operands it hands over.
    pub(crate) fn calls(
        &mut self,
        instruction: &'m Instruction,
        operands: &mut Vec<Literal>,
    ) -> Result<bool> {
        match &instruction.op {
            Op::Call(call) => self.push(call.to_apply, std::mem::take(operands), Then::Return)?,
            Op::Fusion(fusion) => {
                self.push(fusion.calls, std::mem::take(operands), Then::Return)?;
            }
            Op::While(repeat) => {
                let value = operands.swap_remove(0);
                self.push(repeat.condition, vec![value.clone()], Then::Condition(value))?;
            }
            Op::Conditional(choice) => {
                let branch = choose(operands[0].get(0), choice.branches.len());
                let argument = operands.swap_remove(branch + 1);
                self.context.discard(operands.drain(..));
                self.push(choice.branches[branch], vec![argument], Then::Return)?;
            }
            Op::Scan(op) => {
                self.reserve(&instruction.shape, Scan::stacked_bytes(op, &instruction.shape))?;
                let scan = Scan::new(op, std::mem::take(operands), &instruction.shape)?;
                self.scan(op.to_apply, Box::new(scan))?;
            }
            Op::AsyncStart(_) | Op::AsyncUpdate(_) | Op::AsyncDone(_) => {
                self.asynchronous(instruction, std::mem::take(operands))?;
            }
            // Everything else is a function of its operands.
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes the result of the computation `instruction` called.
    pub(crate) fn returned(
        &mut self,
        instruction: &'m Instruction,
        id: InstructionId,
        then: Then,
        result: Literal,
    ) -> Result<()> {
        match then {
            Then::Return => self.finish(id, fitted(result, &instruction.shape)),
            Then::Condition(value) => {
                let Op::While(repeat) = &instruction.op else {
                    return Err(Error::internal("a condition belongs to a while"));
                };
                let on = result.get(0) == Scalar::Pred(true);
                self.context.discard([result]);
                if on {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.rounds += 1;
                    }
                    self.push(repeat.body, vec![value], Then::Body)?;
                } else {
                    self.finish(id, value);
                }
            }
            Then::Body => {
                let Op::While(repeat) = &instruction.op else {
                    return Err(Error::internal("a body belongs to a while"));
                };
                self.context.spend(1)?;
                self.push(repeat.condition, vec![result.clone()], Then::Condition(result))?;
            }
            Then::Scan(mut scan) => {
                let Op::Scan(op) = &instruction.op else {
                    return Err(Error::internal("a step belongs to a scan"));
                };
                scan.store(result, &self.context);
                self.scan(op.to_apply, scan)?;
            }
            Then::Async(operands) => {
                let value = self.pending(instruction, operands, result);
                self.finish(id, value);
            }
        }
        Ok(())
    }

    /// Begins the next step of a scan, or ends it.
    fn scan(&mut self, step: ComputationId, mut scan: Box<Scan>) -> Result<()> {
        self.context.spend(1)?;
        match scan.next(&self.context)? {
            Step::Call(arguments) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.rounds += 1;
                }
                self.push(step, arguments, Then::Scan(scan))
            }
            Step::Done(result) => {
                let id = self.current();
                self.finish(id, result);
                Ok(())
            }
        }
    }

    /// Runs the wrapped computation where its last operand is bound; elsewhere hands the state on.
    fn asynchronous(&mut self, instruction: &'m Instruction, operands: Vec<Literal>) -> Result<()> {
        let is_start = matches!(instruction.op, Op::AsyncStart(_));
        let (held, output) = if is_start {
            (operands, None)
        } else {
            let mut operands = operands.into_iter();
            let state = operands.next().expect("verified: the state is operand 0");
            let parts = state.elements().expect("verified: a tuple");
            let mut held = parts[0].elements().expect("verified: a tuple").to_vec();
            held.extend(operands);
            (held, Some(parts[1].clone()))
        };
        let id = self.current();
        let binds = is_start || instruction.operands.len() > 1;
        let is_done = matches!(instruction.op, Op::AsyncDone(_));
        let start = match (binds, is_done) {
            (true, _) => Some(self.start_of(id)?),
            (false, true) => self.start_of(id).ok(),
            (false, false) => None,
        };
        if let Some(start) = start {
            let computation = &self.context.module().computations[start];
            let wanted = computation.program_shape().parameters.len();
            if binds && wanted == held.len() {
                self.context.discard(output);
                return self.push(start, held.clone(), Then::Async(held));
            }
            if is_done && wanted != held.len() {
                let (name, found) = (&computation.name, held.len());
                let message = format!("`{name}` takes {wanted} operands, and {found} are bound");
                return Err(Code::Trap { message }.into());
            }
        }
        // Nobody looks at the output before its computation has run.
        let output = match (output, &instruction.shape) {
            (Some(output), _) => output,
            (None, Shape::Tuple(parts)) => {
                self.reserve(&parts[1], bytes_of(&parts[1]))?;
                zeros(&parts[1])
            }
            (None, _) => return Err(Error::internal("a started op holds a tuple")),
        };
        let value = self.pending(instruction, held, output);
        self.finish(id, value);
        Ok(())
    }

    /// What an asynchronous instruction holds: `((operands), output, contexts...)`; or what it gives when it is done.
    fn pending(
        &self,
        instruction: &Instruction,
        operands: Vec<Literal>,
        output: Literal,
    ) -> Literal {
        match &instruction.shape {
            Shape::Tuple(parts) if !matches!(instruction.op, Op::AsyncDone(_)) => {
                let mut elements = vec![Literal::tuple(operands), output];
                elements.extend(parts.iter().skip(2).map(zeros));
                fitted(Literal::tuple(elements), &instruction.shape)
            }
            other => {
                self.context.discard(operands);
                fitted(output, other)
            }
        }
    }

    /// The computation that the chain of asynchronous instructions ending at `id` runs.
    fn start_of(&self, id: InstructionId) -> Result<ComputationId> {
        let computation = self.frames.last().expect("an instruction has a frame").computation;
        let start = match computation.instructions[id].op {
            Op::AsyncStart(_) => id,
            _ => begin_of(computation, id).ok_or_else(far_start)?,
        };
        match &computation.instructions[start].op {
            Op::AsyncStart(op) => Ok(op.calls),
            _ => Err(far_start()),
        }
    }

    /// The instruction the innermost frame stands at.
    fn current(&self) -> InstructionId {
        InstructionId::new(self.frames.last().expect("an instruction has a frame").next)
    }
}

/// The start that the chain of instructions ending at `id`, an update or a done, begins with; nothing if that is not in
/// the same computation.
pub(crate) fn begin_of(computation: &Computation, id: InstructionId) -> Option<InstructionId> {
    let mut at = *computation.instructions[id].operands.first()?;
    loop {
        let instruction = &computation.instructions[at];
        #[expect(clippy::wildcard_enum_match_arm, reason = "a value may come from anywhere")]
        match &instruction.op {
            Op::AsyncStart(_)
            | Op::AllGatherStart(_)
            | Op::AllReduceStart(_)
            | Op::CollectivePermuteStart(_)
            | Op::Recv(_)
            | Op::Send(_) => return Some(at),
            Op::AsyncUpdate(_)
            | Op::Copy(_)
            | Op::OptBarrier(_)
            | Op::AddDependency(_)
            | Op::Domain(_) => at = instruction.operands[0],
            Op::GetTupleElement(element) => {
                let tuple = &computation.instructions[instruction.operands[0]];
                match tuple.op {
                    Op::Tuple(_) => at = tuple.operands[crate::index::to_usize(element.index)],
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
}

fn far_start() -> Error {
    Error::unsupported("operands that are bound far from the `async-start` cannot be followed")
}

/// The branch a selector chooses: true is the first of two; an index out of range is the last.
fn choose(selector: Scalar, branches: usize) -> usize {
    let last = branches.saturating_sub(1);
    match selector {
        Scalar::Pred(on) => usize::from(!on),
        Scalar::Signed(index) => usize::try_from(index).map_or(last, |i| i.min(last)),
        Scalar::Unsigned(_) | Scalar::Float(_) | Scalar::Complex(..) => last,
    }
}
