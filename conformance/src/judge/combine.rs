//! The effect of the computation of a reduction or scatter on two values.
#![expect(clippy::wildcard_enum_match_arm, reason = "computations without a rule are `Other`")]
use super::sums::coarser;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId, InstructionSpans};
use hlo::op::{Accuracy, Binary, Unary};
use hlo::{ElementType, Module, Op, Opcode};

/// The result of a computation of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combine {
    /// An op of both, computed in this type or rounded to it, that is associative but for rounding.
    Op(Binary, ElementType),
    /// A function of the second one alone.
    Second,
    /// One of the values, without rounding: another order of the elements changes which of equal
    /// elements are selected.
    Selects,
    /// The first without the second one, computed in this type: many are subtracted in any order,
    /// but not in any tree.
    Less(ElementType),
    /// What another order, or another tree, changes.
    Other,
}

impl Combine {
    /// Returns whether another tree changes the result by more than the rounding of sums and
    /// products.
    pub(super) fn has_a_tree(self) -> bool {
        matches!(self, Self::Other | Self::Less(_))
    }
    /// Returns the operation of the computation for each leaf of its result.
    pub(super) fn of(module: &Module, id: ComputationId) -> Vec<Self> {
        let computation = &inlined(module, id);
        let (root, _) = stored(computation, computation.root, None);
        let instruction = &computation.instructions[root];
        let leaves = match &instruction.op {
            Op::Tuple(_) => instruction.operands.to_vec(),
            _ => vec![root],
        };
        let count = leaves.len();
        leaves
            .into_iter()
            .enumerate()
            .map(|(k, leaf)| Self::leaf(computation, leaf, k, count))
            .collect()
    }

    fn leaf(computation: &Computation, leaf: InstructionId, k: usize, count: usize) -> Self {
        let first = parameter_type(computation, k);
        let (of_op, rounded) = stored(computation, leaf, first);
        let instruction = &computation.instructions[of_op];
        let number =
            |&id: &InstructionId| match &computation.instructions[source(computation, id)].op {
                Op::Parameter(parameter) => usize::try_from(parameter.number).ok(),
                _ => None,
            };
        if let (Op::Binary(op), Some(ty)) = (&instruction.op, instruction.shape.element_type()) {
            let ty = rounded.map_or(ty, |rounded| coarser(rounded, ty));
            let (op, operands) = without_negation(computation, *op, &instruction.operands);
            let mut numbers: Vec<_> = operands.iter().filter_map(number).collect();
            if numbers == [k, count + k] && op == Binary::Subtract {
                return Self::Less(ty);
            }
            numbers.sort_unstable();
            if numbers == [k, count + k] {
                let rounds = matches!(op, Binary::Add | Binary::Multiply);
                let selects = matches!(op, Binary::Maximum | Binary::Minimum);
                let any_order = rounds || selects || op.opcode().associates(ty);
                return if any_order { Self::Op(op, ty) } else { Self::Other };
            }
        }
        match (uses_first(computation, leaf, count), selects(computation, leaf)) {
            (false, _) => Self::Second,
            (true, true) => Self::Selects,
            (true, false) => Self::Other,
        }
    }
}

/// Returns a computation with the computations that it calls in place of the calls.
fn inlined(module: &Module, id: ComputationId) -> Computation {
    let computation = &module.computations[id];
    let mut result = Computation::new(&*computation.name);
    let operands = |ids: &[InstructionId], copies: &[InstructionId]| -> Vec<InstructionId> {
        ids.iter().map(|id| copies[id.index()]).collect()
    };
    let mut copies: Vec<InstructionId> = Vec::with_capacity(computation.instructions.len());
    for (at, instruction) in computation.instructions.iter() {
        let own = operands(&instruction.operands, &copies);
        let copy = match &instruction.op {
            Op::Call(call) => {
                let callee = inlined(module, call.to_apply);
                let mut inner: Vec<InstructionId> = Vec::with_capacity(callee.instructions.len());
                for (at, instruction) in callee.instructions.iter() {
                    let argument = match &instruction.op {
                        Op::Parameter(parameter) => usize::try_from(parameter.number).ok(),
                        _ => None,
                    };
                    let argument = argument.and_then(|number| own.get(number)).copied();
                    let own = operands(&instruction.operands, &inner);
                    inner.push(
                        argument.unwrap_or_else(|| {
                            copied(&mut result, instruction, own, callee.name(at))
                        }),
                    );
                }
                inner[callee.root.index()]
            }
            _ => copied(&mut result, instruction, own, computation.name(at)),
        };
        copies.push(copy);
    }
    result.root = copies[computation.root.index()];
    result
}

/// Copies an instruction with these operands, or returns the element of a tuple that it stands for.
fn copied(
    into: &mut Computation,
    instruction: &Instruction,
    operands: Vec<InstructionId>,
    name: &str,
) -> InstructionId {
    if let (Op::GetTupleElement(get), [tuple]) = (&instruction.op, operands.as_slice())
        && let Op::Tuple(_) = into.instructions[*tuple].op
        && let Some(&element) =
            usize::try_from(get.index).ok().and_then(|i| into.instructions[*tuple].operands.get(i))
    {
        return element;
    }
    let operands = operands.into_iter().collect();
    let copy = Instruction { operands, ..instruction.clone() };
    into.push(copy, name.into(), InstructionSpans::default())
}

/// Returns `a - (-b)` as a sum of `a` and `b`.
fn without_negation(
    computation: &Computation,
    op: Binary,
    operands: &[InstructionId],
) -> (Binary, Vec<InstructionId>) {
    let mut operands = operands.to_vec();
    let second = &computation.instructions[source(computation, operands[1])];
    match &second.op {
        Op::Unary(Unary::Negate) if op == Binary::Subtract => {
            operands[1] = second.operands[0];
            (Binary::Add, operands)
        }
        _ => (op, operands),
    }
}

/// Returns the instruction of which this one is a copy, an annotation, or a conversion that rounds
/// nothing.
fn source(computation: &Computation, mut id: InstructionId) -> InstructionId {
    loop {
        let instruction = &computation.instructions[id];
        let is_convert = instruction.opcode() == Opcode::Convert;
        let own = instruction.shape.element_type();
        let from = |of: InstructionId| computation.instructions[of].shape.element_type();
        let widens = is_convert && widens(from(instruction.operands[0]), own);
        let is_annotation = match &instruction.op {
            Op::CustomCall(call) => {
                interp::is_annotation(&call.custom_call_target.0) && instruction.operands.len() == 1
            }
            _ => false,
        };
        if !instruction.opcode().aliases_operand() && !widens && !is_annotation {
            return id;
        }
        id = instruction.operands[0];
    }
}

/// As [`source`] of a result, which may also be rounded to the type in which it is stored, or to a
/// narrower one on the way to it. Returns the narrowest of these, too.
fn stored(
    computation: &Computation,
    id: InstructionId,
    first: Option<ElementType>,
) -> (InstructionId, Option<ElementType>) {
    let mut id = source(computation, id);
    let mut rounded: Option<ElementType> = None;
    loop {
        let instruction = &computation.instructions[id];
        let own = instruction.shape.element_type();
        let rounds = instruction.opcode() == Opcode::Convert
            && own.is_some_and(ElementType::is_float)
            && widens(own, first);
        let Some(own) = own.filter(|_| rounds) else { return (id, rounded) };
        rounded = Some(rounded.map_or(own, |rounded| coarser(rounded, own)));
        id = source(computation, instruction.operands[0]);
    }
}

/// Returns the element type of a parameter.
fn parameter_type(computation: &Computation, k: usize) -> Option<ElementType> {
    let is_own = |op: &Op| matches!(op, Op::Parameter(p) if usize::try_from(p.number) == Ok(k));
    let found = computation.instructions.iter().find(|(_, instruction)| is_own(&instruction.op));
    found.and_then(|(_, instruction)| instruction.shape.element_type())
}

/// Returns whether a type has all values of another.
fn widens(from: Option<ElementType>, to: Option<ElementType>) -> bool {
    let (Some(from), Some(to)) = (from, to) else { return false };
    let format = |ty: ElementType| ty.component().float_format();
    match (format(from), format(to)) {
        (Some(a), Some(b)) => a.mantissa_bits <= b.mantissa_bits && a.bias <= b.bias,
        (None, None) => from.class() == to.class() && from.bits() <= to.bits(),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Returns whether a leaf is one of the values, whatever decides which.
fn selects(computation: &Computation, leaf: InstructionId) -> bool {
    let mut open = vec![leaf];
    while let Some(id) = open.pop() {
        let id = source(computation, id);
        let instruction = &computation.instructions[id];
        match &instruction.op {
            Op::Parameter(_) => {}
            Op::Select(_) => open.extend(&instruction.operands[1..]),
            Op::Binary(Binary::Maximum | Binary::Minimum) => open.extend(&instruction.operands),
            _ => return false,
        }
    }
    true
}

/// Returns whether an instruction depends on one of the first parameters.
fn uses_first(computation: &Computation, root: InstructionId, count: usize) -> bool {
    let mut open = vec![root];
    let mut seen = std::collections::HashSet::new();
    while let Some(id) = open.pop() {
        let instruction = &computation.instructions[id];
        if let Op::Parameter(parameter) = &instruction.op
            && usize::try_from(parameter.number).is_ok_and(|number| number < count)
        {
            return true;
        }
        if seen.insert(id) {
            open.extend(&instruction.operands);
        }
    }
    false
}

/// Returns whether another order of evaluation may change the result of a computation.
pub(super) fn any_rounds(module: &Module, id: ComputationId) -> bool {
    inlined(module, id).instructions.iter().any(|(_, instruction)| rounds(instruction))
}

/// Returns whether another order of evaluation may change the result of the instruction.
fn rounds(instruction: &Instruction) -> bool {
    let mut calls = false;
    instruction.op.each_callee(&mut |_| calls = true);
    let Some(ty) = instruction.shape.element_type() else { return calls };
    let opcode = instruction.opcode();
    let rounds = match &instruction.op {
        Op::Unary(op) => op.opcode().accuracy() != Accuracy::Exact,
        Op::Convert(_) | Op::Clamp(_) => false,
        _ => !opcode.moves_data() && !opcode.associates(ty),
    };
    calls || (rounds && (ty.is_float() || ty.is_complex()))
}
