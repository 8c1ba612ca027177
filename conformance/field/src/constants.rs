//! Values that a compiler may compute: functions of constants, in floats as it does.
use crate::arithmetic::{FewDigits, Rules};
use crate::kernels::{has_few_digits, is_number};
use crate::rational::unit;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::{Binary, Unary};
use hlo::{Literal, Module, Op, Scalar, Shape};
use num::clock::Stop;
use num::scalar_program::ScalarProgram;
use num::{Error, Result, Scope};
use std::collections::{BTreeMap, BTreeSet};

/// Larger arrays are not computed by compilers either.
const MOST: usize = 4096;

/// The most elements of all constants, and the work of looking at an instruction.
const MOST_WORK: usize = 1 << 20;
const LOOK: usize = 16;

/// A constant.
#[derive(Clone)]
struct Known {
    value: Literal,
    /// The value of less accurate functions, in a shaken field.
    shaken: Option<Literal>,
    /// Whether it was rounded, as an exponential is and a sum of few numbers is not.
    is_rounded: bool,
}

impl Known {
    /// Returns the value. A shaken field does not have the same integers of rounded numbers.
    fn value(&self) -> &Literal {
        let shaken = self
            .shaken
            .as_ref()
            .filter(|value| value.array().is_some_and(|array| !is_number(array.shape().ty)));
        shaken.unwrap_or(&self.value)
    }
}

/// The values of a module that are constant.
pub(crate) struct Constants<'a> {
    module: &'a Module,
    rules: Rules,
    /// The computations that one instruction calls, with its operands.
    inlined: BTreeSet<ComputationId>,
    values: BTreeMap<(ComputationId, InstructionId), Known>,
    /// The elements of all constants that were computed.
    work: usize,
}

impl<'a> Constants<'a> {
    /// Finds the constants of a module; without those that are computed with few digits if these are
    /// not rounded. Those of a shaken field are computed by less accurate functions.
    pub(crate) fn of(module: &'a Module, rules: Rules) -> Self {
        let (mut called, mut several) = (BTreeMap::new(), BTreeSet::new());
        for (_, computation) in module.computations.iter() {
            for (_, instruction) in computation.instructions.iter() {
                instruction.op.each_callee(&mut |callee| {
                    if called.insert(callee, instruction.op.called_once()).is_some() {
                        several.insert(callee);
                    }
                });
            }
        }
        let is_inlined = |id: &ComputationId| !several.contains(id) && called[id] == Some(*id);
        let inlined = called.keys().copied().filter(is_inlined).collect();
        let mut all = Self { module, rules, inlined, values: BTreeMap::new(), work: 0 };
        for id in module.computations.ids() {
            if !all.inlined.contains(&id) {
                let values = all.visit(id, &[], true);
                all.keep(id, values);
            }
        }
        all
    }
    /// Returns the value of an instruction that is a function of constants, or computes with one.
    pub(crate) fn rounded(&self, at: (ComputationId, InstructionId)) -> Option<&Literal> {
        self.values.get(&at).filter(|known| known.is_rounded).map(Known::value)
    }

    fn keep(&mut self, id: ComputationId, values: BTreeMap<InstructionId, Known>) {
        let instructions = &self.module.computations[id].instructions;
        let is_kept =
            |at: &InstructionId| !matches!(instructions[*at].op, Op::Parameter(_) | Op::Tuple(_));
        let kept = values.into_iter().filter(|(at, _)| is_kept(at));
        self.values.extend(kept.map(|(at, known)| ((id, at), known)));
    }
    /// Returns the constants of a computation that is called with some, and keeps those of what it
    /// calls if this is the only call.
    fn visit(
        &mut self,
        id: ComputationId,
        arguments: &[Option<Known>],
        is_only: bool,
    ) -> BTreeMap<InstructionId, Known> {
        let mut values: BTreeMap<InstructionId, Known> = BTreeMap::new();
        let computation = &self.module.computations[id];
        for (at, instruction) in computation.instructions.iter() {
            self.work = self.work.saturating_add(LOOK);
            let operands = instruction.operands.iter().map(|operand| values.get(operand));
            let known = match (&instruction.op, instruction.op.called_once()) {
                (Op::Parameter(op), _) => {
                    let number = usize::try_from(op.number).unwrap_or(usize::MAX);
                    arguments.get(number).cloned().flatten()
                }
                (_, Some(callee)) => {
                    let arguments: Vec<Option<Known>> =
                        operands.map(Option::<&Known>::cloned).collect();
                    self.call(callee, &arguments, is_only)
                }
                _ => {
                    let operands: Option<Vec<&Known>> = operands.collect();
                    operands.and_then(|operands| self.computed(computation, instruction, &operands))
                }
            };
            values.extend(known.map(|known| (at, known)));
        }
        values
    }
    /// Returns the result of a computation. The constants of one that is called once are kept.
    fn call(
        &mut self,
        callee: ComputationId,
        arguments: &[Option<Known>],
        is_only: bool,
    ) -> Option<Known> {
        let is_inlined = is_only && self.inlined.contains(&callee);
        let is_constant = arguments.iter().all(Option::is_some);
        if !is_inlined && (!is_constant || self.work >= MOST_WORK) {
            return None;
        }
        let values = self.visit(callee, arguments, is_inlined);
        let result = values.get(&self.module.computations[callee].root).cloned();
        if is_inlined {
            self.keep(callee, values);
        }
        result
    }
    fn computed(
        &mut self,
        computation: &Computation,
        instruction: &Instruction,
        operands: &[&Known],
    ) -> Option<Known> {
        let leaves = instruction.shape.leaves();
        let sizes = leaves.iter().filter_map(|leaf| leaf.array());
        let sizes = sizes.map(|array| num::index::saturating_count(&array.dims));
        self.work = sizes.fold(self.work, usize::saturating_add);
        if self.work >= MOST_WORK {
            return None;
        }
        let rounds = rounds(computation, instruction);
        if rounds && self.rules.few_digits == FewDigits::Exact && has_few_digits(&instruction.shape)
        {
            return None;
        }
        let is_rounded = rounds || operands.iter().any(|known| known.is_rounded);
        let value = |of: fn(&Known) -> &Literal| {
            let literals: Vec<&Literal> = operands.iter().map(|known| of(known)).collect();
            value(instruction, &literals)
        };
        let shaken = || {
            let shaken = value(|known| known.shaken.as_ref().unwrap_or(&known.value))?;
            Some(if is_function(&instruction.op) { self.shaken(shaken) } else { shaken })
        };
        let shaken = (self.rules.shake > 0 && is_rounded).then(shaken).flatten();
        let value = value(|known| &known.value)?;
        // What overflows is no constant.
        let overflows = computes(&instruction.op) && !is_finite(&value);
        (!overflows).then_some(Known { value, shaken, is_rounded })
    }
    /// Returns the value of a function in a shaken field: of the last digits none is sure.
    fn shaken(&self, value: Literal) -> Literal {
        let Literal::Array(array) = &value else { return value };
        let ty = array.shape().ty;
        if !ty.is_float() {
            return value;
        }
        let last = f64::from(self.rules.shake) - 1.5;
        let mut shaken = array.clone();
        for i in 0..array.len() {
            let x = array.get(i).as_f64();
            shaken.set(i, Scalar::Float(x + last * unit(x, ty)));
        }
        Literal::from(shaken)
    }
}

/// Returns the computation that an instruction calls once, on its operands.
#[expect(clippy::wildcard_enum_match_arm, reason = "other ops are not computed")]
fn value(instruction: &Instruction, operands: &[&Literal]) -> Option<Literal> {
    let leaves = instruction.shape.leaves();
    let is_small = |leaf: &&Shape| {
        let array = leaf.array().filter(|array| array.dynamic.is_none());
        array.is_some_and(|array| num::index::saturating_count(&array.dims) <= MOST)
    };
    if !leaves.iter().all(is_small) {
        return None;
    }
    match &instruction.op {
        Op::Constant(op) => match &*op.value {
            ConstantValue::Literal(value) => Some(value.clone()),
            ConstantValue::Elided(_) => None,
        },
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Broadcast(_)
        | Op::Clamp(_)
        | Op::Compare(_)
        | Op::Concatenate(_)
        | Op::Convert(_)
        | Op::Copy(_)
        | Op::DynamicSlice(_)
        | Op::DynamicUpdateSlice(_)
        | Op::GetTupleElement(_)
        | Op::Iota(_)
        | Op::OptBarrier(_)
        | Op::Pad(_)
        | Op::ReducePrecision(_)
        | Op::Reshape(_)
        | Op::Reverse(_)
        | Op::Select(_)
        | Op::Slice(_)
        | Op::Transpose(_)
        | Op::Tuple(_) => spec::evaluate(instruction, operands, &NoRun, &String::new).ok(),
        _ => None,
    }
}

/// Returns whether an op has a result that is an oracle over the field, or is rounded on purpose; or
/// one of few digits.
#[expect(clippy::wildcard_enum_match_arm, reason = "other ops are exact over the field")]
fn rounds(computation: &Computation, instruction: &Instruction) -> bool {
    let ty = |id: InstructionId| computation.instructions[id].shape.element_type();
    let of_numbers = || instruction.operands.iter().any(|&id| ty(id).is_some_and(is_number));
    match &instruction.op {
        op @ Op::Unary(_) => of_numbers() && is_function(op),
        op @ Op::Binary(_) => {
            of_numbers() && (is_function(op) || has_few_digits(&instruction.shape))
        }
        Op::Convert(_) | Op::ReducePrecision(_) | Op::Iota(_) => true,
        _ => false,
    }
}

fn computes(op: &Op) -> bool {
    matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Convert(_) | Op::ReducePrecision(_))
}

/// Returns whether no number is infinite or NaN.
fn is_finite(value: &Literal) -> bool {
    let is_finite = |x: Scalar| match x {
        Scalar::Float(x) => x.is_finite(),
        Scalar::Complex(re, im) => re.is_finite() && im.is_finite(),
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => true,
    };
    value.array().is_none_or(|array| (0..array.len()).all(|i| is_finite(array.get(i))))
}

/// Returns whether an op of floats is an oracle over the field.
fn is_function(op: &Op) -> bool {
    if let Op::Unary(op) = op {
        let exact =
            [Unary::Abs, Unary::Imag, Unary::IsFinite, Unary::Negate, Unary::Real, Unary::Sign];
        return !exact.contains(op);
    }
    matches!(op, Op::Binary(Binary::Power | Binary::Atan2 | Binary::Remainder))
}

/// No run: constants need no computation and no limit.
#[derive(Debug)]
struct NoRun;

impl Scope for NoRun {
    fn check_time(&self) -> Result<()> {
        Ok(())
    }
    fn stop(&self) -> Stop {
        Stop::current()
    }
    fn spend(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn scalar_program(&self, _: ComputationId) -> Result<&ScalarProgram> {
        Err(Error::unsupported("a constant calls no computation".to_owned()))
    }
    fn call(&self, _: ComputationId, _: &[Scalar], _: &mut [Scalar]) -> Result<()> {
        Err(Error::unsupported("a constant calls no computation".to_owned()))
    }
}
