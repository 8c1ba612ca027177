//! Trip counts of loops that count from a constant by a constant to a constant.
use super::node::Node;
use crate::{Code, Result};
use hlo::id::Arena;
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::While;
use hlo::op::value::Direction;
use hlo::{ElementType, Op, Opcode, Shape};

/// Where a value comes from, seen through tuples and copies.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LeafOrigin {
    /// This leaf of the parameter.
    Leaf(usize),
    /// This instruction.
    Made(InstructionId),
}

/// Follows the part at `path`, outermost index first, of an instruction's value.
fn source(
    instructions: &Arena<Instruction>,
    mut at: InstructionId,
    path: &[usize],
) -> Option<LeafOrigin> {
    // The innermost index is last, and is what `get-tuple-element` adds to.
    let mut path: Vec<usize> = path.iter().rev().copied().collect();
    loop {
        let instruction = instructions.get(at)?;
        let (op, operands) = (instruction.opcode(), &instruction.operands);
        if op == Opcode::Parameter {
            return leaf_at(&instruction.shape, &path).map(LeafOrigin::Leaf);
        }
        if op == Opcode::Tuple {
            at = *operands.get(path.pop()?)?;
            continue;
        }
        if let Op::GetTupleElement(element) = &instruction.op {
            path.push(usize::try_from(element.index).ok()?);
        } else if !op.aliases_operand() {
            return path.is_empty().then_some(LeafOrigin::Made(at));
        }
        at = *operands.first()?;
    }
}
/// Returns the number of the leaf that this path, its last index first, leads to.
fn leaf_at(shape: &Shape, path: &[usize]) -> Option<usize> {
    let (mut shape, mut before) = (shape, 0);
    for &index in path.iter().rev() {
        let elements = shape.tuple()?;
        before += elements.iter().take(index).map(|e| e.leaves().len()).sum::<usize>();
        shape = elements.get(index)?;
    }
    shape.tuple().is_none().then_some(before)
}
/// Returns the path to a leaf.
fn path_to(shape: &Shape, mut leaf: usize) -> Option<Vec<usize>> {
    let (mut shape, mut path) = (shape, Vec::new());
    while let Some(elements) = shape.tuple() {
        let mut inside = None;
        for (i, element) in elements.iter().enumerate() {
            let count = element.leaves().len();
            if leaf < count {
                inside = Some((i, element));
                break;
            }
            leaf -= count;
        }
        let (i, element) = inside?;
        path.push(i);
        shape = element;
    }
    Some(path)
}

/// Returns the value of a scalar integer constant.
fn constant(instructions: &Arena<Instruction>, at: InstructionId) -> Option<i128> {
    let Op::Constant(op) = &instructions.get(at)?.op else { return None };
    let ConstantValue::Literal(literal) = &*op.value else { return None };
    let shape = literal.array_shape()?;
    let whole = shape.rank() == 0 && !shape.ty.is_float() && !shape.ty.is_complex();
    whole.then(|| literal.get(0).as_i64().map(i128::from))?
}

/// A loop: its computations, and where its state comes from.
struct WhileLoop<'a> {
    condition: &'a Computation,
    body: &'a Computation,
    around: &'a Arena<Instruction>,
    initial: InstructionId,
    state: Shape,
}

impl WhileLoop<'_> {
    /// Returns where this leaf of the body's result comes from.
    fn next(&self, leaf: usize) -> Option<LeafOrigin> {
        source(&self.body.instructions, self.body.root, &path_to(&self.state, leaf)?)
    }
    /// Returns a leaf that starts as a constant.
    fn start(&self, leaf: usize) -> Option<i128> {
        match source(self.around, self.initial, &path_to(&self.state, leaf)?)? {
            LeafOrigin::Made(at) => constant(self.around, at),
            LeafOrigin::Leaf(_) => None,
        }
    }
    /// Returns a number that is the same in all steps: a constant, or a leaf that starts as one and
    /// stays.
    fn fixed(&self, computation: &Computation, at: InstructionId) -> Option<i128> {
        match source(&computation.instructions, at, &[])? {
            LeafOrigin::Made(at) => constant(&computation.instructions, at),
            LeafOrigin::Leaf(leaf) if self.next(leaf) == Some(LeafOrigin::Leaf(leaf)) => {
                self.start(leaf)
            }
            LeafOrigin::Leaf(_) => None,
        }
    }
    /// Returns the increment of a leaf in each step.
    fn step(&self, leaf: usize) -> Option<i128> {
        let LeafOrigin::Made(at) = self.next(leaf)? else { return None };
        let made = self.body.instructions.get(at)?;
        let [l, r] = *made.operands.as_slice() else { return None };
        let is_leaf = |at| source(&self.body.instructions, at, &[]) == Some(LeafOrigin::Leaf(leaf));
        let (adds, subtracts) = (made.opcode() == Opcode::Add, made.opcode() == Opcode::Subtract);
        if is_leaf(l) && (adds || subtracts) {
            return self.fixed(self.body, r).map(|n| if adds { n } else { -n });
        }
        if is_leaf(r) && adds { self.fixed(self.body, l) } else { None }
    }
    /// Returns the trip count, or the reason why it is unknown.
    fn count(&self) -> Result<i64, &'static str> {
        let condition = &self.condition.instructions;
        let compared = source(condition, self.condition.root, &[]);
        let Some(LeafOrigin::Made(at)) = compared else { return Err(NO_COMPARISON) };
        let compare = condition.get(at).ok_or(NO_COMPARISON)?;
        let (Op::Compare(op), [l, r]) = (&compare.op, compare.operands.as_slice()) else {
            return Err(NO_COMPARISON);
        };
        let varies = |at| match source(condition, at, &[]) {
            Some(LeafOrigin::Leaf(leaf)) => self.step(leaf).map(|step| (leaf, step)),
            Some(LeafOrigin::Made(_)) | None => None,
        };
        let (leaf, step, limit, direction) = match (varies(*l), varies(*r)) {
            (Some((leaf, step)), None) => (leaf, step, *r, op.direction),
            (None, Some((leaf, step))) => (leaf, step, *l, mirrored(op.direction)),
            (Some(_), Some(_)) | (None, None) => {
                return Err("its condition does not compare a counter that changes by a constant");
            }
        };
        let limit = self.fixed(self.condition, limit).ok_or("its limit is not a constant")?;
        let start = self.start(leaf).ok_or("its counter does not start at a constant")?;
        let shapes = self.state.leaves();
        let ty = shapes.get(leaf).and_then(|s| s.element_type()).ok_or(NO_COMPARISON)?;
        let count = steps(start, step, limit, direction).ok_or("it does not terminate")?;
        if !holds(ty, start + count * step) {
            return Err("its counter overflows");
        }
        i64::try_from(count).map_err(|_| "the trip count does not fit 64 bits")
    }
}
const NO_COMPARISON: &str = "its condition does not compare a counter";

fn mirrored(direction: Direction) -> Direction {
    match direction {
        Direction::Eq | Direction::Ne => direction,
        Direction::Ge => Direction::Le,
        Direction::Gt => Direction::Lt,
        Direction::Le => Direction::Ge,
        Direction::Lt => Direction::Gt,
    }
}
/// Returns the number of terms of `start, start + step, ...` before the first for which the
/// comparison is false.
fn steps(start: i128, step: i128, limit: i128, direction: Direction) -> Option<i128> {
    match direction {
        Direction::Lt if start >= limit => Some(0),
        Direction::Lt => (step > 0).then(|| (limit - start + step - 1) / step),
        Direction::Le => steps(start, step, limit + 1, Direction::Lt),
        Direction::Gt => steps(-start, -step, -limit, Direction::Lt),
        Direction::Ge => steps(-start, -step, -limit, Direction::Le),
        Direction::Eq if start != limit => Some(0),
        Direction::Eq => (step != 0).then_some(1),
        Direction::Ne if start == limit => Some(0),
        Direction::Ne => {
            let reached = step != 0 && (limit - start) % step == 0;
            reached.then(|| (limit - start) / step).filter(|&count| count > 0)
        }
    }
}
/// Returns whether an integer type holds a number.
fn holds(ty: ElementType, n: i128) -> bool {
    let signed = ty.class() == hlo::elem::Class::Signed;
    let bits = if signed { ty.bits() - 1 } else { ty.bits() };
    let low = if signed { -(1i128 << bits) } else { 0 };
    (low..1i128 << bits).contains(&n)
}

/// Returns the trip count of a `while`, and which leaves of its state are loop-invariant.
pub(super) fn of(node: &Node<'_>, op: &While) -> Result<(i64, Vec<bool>)> {
    let initial = node.operand(0)?;
    let (shape, at) = (initial.shape()?, initial.id().ok_or(Code::Invalid {})?);
    let state = initial.builder().state.borrow();
    let known = |id| state.finished.get(id).ok_or(Code::Invalid {});
    let open = state.open.last().ok_or(Code::Invalid {})?;
    let this = WhileLoop {
        condition: known(op.condition)?,
        body: known(op.body)?,
        around: &open.instructions,
        initial: at,
        state: shape.clone(),
    };
    let stays =
        (0..shape.leaves().len()).map(|i| this.next(i) == Some(LeafOrigin::Leaf(i))).collect();
    let counted = this.count();
    drop(state);
    let count = counted.map_err(|why| {
        node.refused(&format!("has a reverse-mode derivative only if its trip count is known: {why}"))
            .with_help("count from a constant by a constant to a constant (`i.lt(10)`), or use forward mode, `jvp`")
    })?;
    Ok((count, stays))
}
