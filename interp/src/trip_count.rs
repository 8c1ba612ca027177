//! The number of iterations of a loop, where it follows from constants.
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::Binary;
use hlo::{ElementType, Module, Op, Scalar};

/// Returns the number of iterations of a `while`: the one that its `backend_config` states as
/// `known_trip_count`, or the one that follows from constants, if it is at most 2^20.
pub fn trip_count(
    module: &Module,
    computation: &Computation,
    instruction: &Instruction,
) -> Option<u64> {
    /// Iterations of the counter are followed one by one.
    const MOST: usize = 1 << 20;
    let config = instruction.common.as_ref().and_then(|common| common.backend_config.as_ref());
    let stated = config.and_then(|config| {
        let text = String::from_utf8_lossy(&config.bytes()).into_owned();
        let (_, rest) = text.split_once("known_trip_count")?;
        let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    let followed = || iterations_up_to(MOST, module, computation, instruction);
    stated.or_else(|| u64::try_from(followed()?).ok())
}

/// Returns the number of iterations of a loop, if it is at most `most` and follows from constants:
/// the condition compares an integer with a constant, and the body adds a constant to that integer.
pub(crate) fn iterations_up_to(
    most: usize,
    module: &Module,
    computation: &Computation,
    instruction: &Instruction,
) -> Option<usize> {
    let Op::While(op) = &instruction.op else { return None };
    let (condition, body) = (&module.computations[op.condition], &module.computations[op.body]);
    let (compare, operands) = at(condition, condition.root);
    let Op::Compare(compare) = compare else { return None };
    let (a, b) = (Term::of(condition, operands[0])?, Term::of(condition, operands[1])?);
    let (ty, counter) = match (&a, &b) {
        (Term::Element(counter), Term::Constant(ty, _))
        | (Term::Constant(ty, _), Term::Element(counter)) => (*ty, *counter),
        _ => return None,
    };
    let (Op::Tuple(_), first) = at(computation, instruction.operands[0]) else { return None };
    let Term::Constant(_, mut value) = Term::of(computation, first[counter])? else { return None };
    let (Op::Tuple(_), next) = at(body, body.root) else { return None };
    let step = added(body, next[counter], counter)?;
    let of = |term: &Term, value| if let Term::Constant(_, x) = term { *x } else { value };
    let is_true = |value| {
        num::compare(compare.direction, compare.order(ty), ty, of(&a, value), of(&b, value))
    };
    for iterations in 0..=most {
        if !is_true(value) {
            return Some(iterations);
        }
        value = num::binary(Binary::Add, ty, value, step);
    }
    None
}

/// An operand of the condition of a loop or of the sum in its body.
enum Term {
    /// An element of the tuple that the loop carries.
    Element(usize),
    /// A scalar integer.
    Constant(ElementType, Scalar),
}

impl Term {
    fn of(computation: &Computation, id: InstructionId) -> Option<Self> {
        let (op, operands) = at(computation, id);
        if let Op::GetTupleElement(op) = op {
            let (Op::Parameter(_), _) = at(computation, operands[0]) else { return None };
            return Some(Self::Element(usize::try_from(op.index).ok()?));
        }
        let Op::Constant(constant) = op else { return None };
        let ConstantValue::Literal(value) = &*constant.value else { return None };
        let shape = value.array_shape()?;
        let is_number = shape.rank() == 0 && shape.ty.is_integral();
        is_number.then(|| Self::Constant(shape.ty, value.get(0)))
    }
}

/// Returns the constant that the body adds to an element.
fn added(body: &Computation, id: InstructionId, counter: usize) -> Option<Scalar> {
    let (Op::Binary(Binary::Add), operands) = at(body, id) else { return None };
    match (Term::of(body, operands[0])?, Term::of(body, operands[1])?) {
        (Term::Element(element), Term::Constant(_, step))
        | (Term::Constant(_, step), Term::Element(element))
            if element == counter =>
        {
            Some(step)
        }
        _ => None,
    }
}

/// Returns the op and the operands of an instruction, or of the one whose value it is.
fn at(computation: &Computation, mut id: InstructionId) -> (&Op, &[InstructionId]) {
    loop {
        let instruction = &computation.instructions[id];
        if !instruction.opcode().aliases_operand() {
            return (&instruction.op, &instruction.operands);
        }
        id = instruction.operands[0];
    }
}
