//! What integers decide: the instructions that compare them, or that have limits for indices, and
//! calls that note how far an integer is from its limit.
use crate::coverage::Decided;
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::op::Binary;
use hlo::{Array, ArrayShape, Literal, Module, Op, Scalar, Shape};
use num::index::{strides, to_usize};

/// An operand that is noted, and returned as it is.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The operand, by its number.
    pub(crate) operand: usize,
    /// What it is compared with: other operands.
    pub(crate) others: Vec<InstructionId>,
    /// The first and last value of each component of an index.
    ranges: Vec<[i64; 2]>,
    /// The dimension with these components.
    along: usize,
}

/// Returns what is noted of an instruction.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other op compares integers, or has indices")]
pub(crate) fn watches(computation: &Computation, instruction: &Instruction) -> Vec<Watch> {
    let shape = |id: InstructionId| -> &Shape { &computation.instructions[id].shape };
    let dims = |id: InstructionId| shape(id).array().map_or(&[][..], |array| &array.dims);
    let operands = &instruction.operands;
    let with = |operand: usize, others: &[usize]| {
        let others = others.iter().map(|&i| operands[i]).collect();
        vec![Watch { operand, others, ranges: Vec::new(), along: 0 }]
    };
    let indices = |first: usize, sizes: &[i64]| -> Vec<Watch> {
        let last = dims(operands[0]).iter().zip(sizes).map(|(dim, size)| dim - size);
        let watch = |(i, last): (usize, i64)| Watch {
            operand: first + i,
            others: Vec::new(),
            ranges: vec![[0, last]],
            along: 0,
        };
        last.enumerate().filter(|(i, _)| first + i < operands.len()).map(watch).collect()
    };
    let vectors = |operand: usize, along: i64, map: &[i64], size: &dyn Fn(i64) -> i64| {
        let range = |&dim: &i64| [0, dims(operands[0])[to_usize(dim)] - size(dim)];
        let ranges = map.iter().map(range).collect();
        vec![Watch { operand, others: Vec::new(), ranges, along: to_usize(along) }]
    };
    let watches = match &instruction.op {
        Op::Compare(_) | Op::Binary(Binary::Maximum | Binary::Minimum) => with(0, &[1]),
        Op::Clamp(_) => with(1, &[0, 2]),
        Op::DynamicSlice(op) => indices(1, &op.dynamic_slice_sizes),
        Op::DynamicUpdateSlice(_) => indices(2, dims(operands[1])),
        Op::Gather(op) => {
            let size = |dim: i64| op.slice_sizes[to_usize(dim)];
            vectors(1, op.index_vector_dim, &op.start_index_map, &size)
        }
        Op::Scatter(op) if operands.len() == 3 => {
            // The window has the other dimensions of the operand, in order.
            let size = |dim: i64| {
                let is_other = |dim: &i64| {
                    !op.inserted_window_dims.contains(dim) && !op.input_batching_dims.contains(dim)
                };
                let place = (0..dim).filter(is_other).count();
                let at = op.update_window_dims.get(place).filter(|_| is_other(&dim));
                at.map_or(1, |&at| dims(operands[2])[to_usize(at)])
            };
            vectors(1, op.index_vector_dim, &op.scatter_dims_to_operand_dims, &size)
        }
        _ => Vec::new(),
    };
    let is_whole = |id: InstructionId| {
        shape(id).array().is_some_and(|array| array.ty.is_integral() && array.dynamic.is_none())
    };
    watches.into_iter().filter(|watch| is_whole(operands[watch.operand])).collect()
}

/// Returns whether something is noted of a module.
pub(crate) fn has_watches(module: &Module) -> bool {
    let mut all = module
        .computations
        .iter()
        .flat_map(|(_, of)| of.instructions.iter().map(move |(_, instruction)| (of, instruction)));
    all.any(|(computation, instruction)| !watches(computation, instruction).is_empty())
}

impl Watch {
    /// Notes how far integers are from their limits.
    pub(crate) fn note(&self, values: &[&Literal], decided: &mut Decided) {
        let arrays: Vec<&Array> = values.iter().filter_map(|value| value.array()).collect();
        let Some((x, others)) = arrays.split_first() else { return };
        let component = component(x.shape(), self.along);
        for i in 0..x.len() {
            let value = integer(x.get(i));
            for (limit, other) in others.iter().enumerate() {
                let at = if other.len() == 1 { 0 } else { i };
                decided.whole(limit, value - integer(other.get(at)));
            }
            if let Some([first, last]) = self.ranges.get(component(i)) {
                let limit = 2 * component(i);
                decided.whole(limit, value - i128::from(*first));
                decided.whole(limit + 1, value - i128::from(*last));
            }
        }
    }
}

/// Returns which component of an index an element is.
fn component(shape: &ArrayShape, along: usize) -> impl Fn(usize) -> usize {
    let step = strides(&shape.dims).get(along).map_or(1, |&step| to_usize(step).max(1));
    let size = shape.dims.get(along).map_or(1, |&size| to_usize(size).max(1));
    move |i| i / step % size
}

fn integer(x: Scalar) -> i128 {
    match x {
        Scalar::Unsigned(x) => i128::from(x),
        Scalar::Signed(_) | Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..) => {
            i128::from(x.as_wrapping())
        }
    }
}

/// Returns the integer, moved by steps, if its type has it.
pub(crate) fn moved(x: Scalar, by: i64, ty: hlo::ElementType) -> Option<Scalar> {
    let sum = i64::try_from(integer(x).checked_add(i128::from(by))?).ok()?;
    let moved = Scalar::Signed(sum).convert(hlo::ElementType::S64, ty);
    (integer(moved) == i128::from(sum)).then_some(moved)
}
