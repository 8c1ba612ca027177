//! The elements that an element of the result is computed from directly.
#![expect(clippy::wildcard_enum_match_arm, reason = "of other ops, whole operands are named")]
use hlo::ir::rewrite::ModuleRewriter;
use hlo::ir::{Computation, InstructionId};
use hlo::{Array, Dims, IndexSpace, Literal, Module, Op};
use interp::{CompileOptions, Executable, RunOptions};

/// Names the elements of the operands, with their values where there is one of each operand.
pub(super) fn of(
    module: &Module,
    arguments: &[Literal],
    leaf: usize,
    index: &[i64],
) -> Vec<String> {
    let computation = &module.computations[module.entry];
    let Some(id) = producer(computation, leaf) else { return Vec::new() };
    let operands = &computation.instructions[id].operands;
    let slices: Vec<_> = (0..operands.len()).map(|k| slice(computation, id, k, index)).collect();
    let is_one = |slice: &Option<Vec<Option<i64>>>| {
        slice.as_ref().is_some_and(|slice| slice.iter().all(Option::is_some))
    };
    let wanted: Vec<InstructionId> =
        (0..operands.len()).filter(|&k| is_one(&slices[k])).map(|k| operands[k]).collect();
    let mut values = values(module, arguments, wanted).unwrap_or_default().into_iter();
    let show = |(slice, &operand): (&Option<Vec<Option<i64>>>, &InstructionId)| {
        let name = computation.name(operand);
        let Some(slice) = slice else {
            return format!("{name} {}", computation.instructions[operand].shape);
        };
        let place = |i: &Option<i64>| i.map_or_else(|| ":".to_owned(), |i| i.to_string());
        let places: Vec<String> = slice.iter().map(place).collect();
        let place = format!("{name}[{}]", places.join(","));
        let index: Option<Dims> = slice.iter().copied().collect();
        let element = index.and_then(|index| {
            let value = values.next()?.into_array()?;
            let (ty, at) = (value.shape().ty, value.shape().dims.position(&index));
            Some(Array::scalar(ty, value.get(at)))
        });
        element.map_or(place.clone(), |element| format!("{place} = {element}"))
    };
    slices.iter().zip(operands).map(show).collect()
}

/// Returns the instruction that computes a leaf of the result.
fn producer(computation: &Computation, mut leaf: usize) -> Option<InstructionId> {
    let mut id = computation.root;
    loop {
        let instruction = &computation.instructions[id];
        match &instruction.op {
            Op::Tuple(_) => {
                id = *instruction.operands.iter().find(|&&operand| {
                    let leaves = computation.instructions[operand].shape.leaves().len();
                    let found = leaf < leaves;
                    leaf = if found { leaf } else { leaf - leaves };
                    found
                })?;
            }
            op if op.opcode().aliases_operand() => id = instruction.operands[0],
            _ => return Some(id),
        }
    }
}

/// Returns the elements of an operand that an element of the result depends on: an index, with none
/// where it takes all of a dimension.
fn slice(
    computation: &Computation,
    id: InstructionId,
    operand: usize,
    index: &[i64],
) -> Option<Vec<Option<i64>>> {
    let instruction = &computation.instructions[id];
    let shape = computation.instructions[instruction.operands[operand]].shape.array()?;
    let all = || vec![None; shape.rank()];
    let among = |dims: &[i64], d: usize| dims.iter().position(|&dim| usize::try_from(dim) == Ok(d));
    if shape.dims.is_empty() {
        return Some(Vec::new());
    }
    Some(match &instruction.op {
        op if op.opcode().is_elementwise() => index.iter().map(|&i| Some(i)).collect(),
        Op::Reduce(op) => {
            let mut kept = index.iter().copied();
            let place = |d: usize| match among(&op.dimensions, d) {
                Some(_) => None,
                None => kept.next(),
            };
            (0..shape.rank()).map(place).collect()
        }
        Op::Dot(op) => {
            let (batch, contracted) = match operand {
                0 => (&op.lhs_batch_dims, &op.lhs_contracting_dims),
                _ => (&op.rhs_batch_dims, &op.rhs_contracting_dims),
            };
            let free = shape.rank() - batch.len() - contracted.len();
            let first = if operand == 0 { batch.len() } else { index.len().checked_sub(free)? };
            let mut rest = index.iter().skip(first).copied();
            let place = |d: usize| match (among(batch, d), among(contracted, d)) {
                (Some(k), _) => index.get(k).copied(),
                (None, Some(_)) => None,
                (None, None) => rest.next(),
            };
            (0..shape.rank()).map(place).collect()
        }
        _ => all(),
    })
}

/// Returns the values of instructions of the entry.
fn values(
    module: &Module,
    arguments: &[Literal],
    wanted: Vec<InstructionId>,
) -> Option<Vec<Literal>> {
    if wanted.is_empty() {
        return None;
    }
    let mut rewriter = ModuleRewriter::new(module);
    let entry = rewriter.entry();
    let computation = rewriter.computation_mut(entry);
    let tuple = computation.tuple(wanted);
    let root = computation.push("inputs", tuple);
    computation.set_root(root);
    let verified = rewriter.finish().ok()?.verify().ok()?;
    let executable = Executable::compile(verified, &CompileOptions::default()).ok()?;
    let result = executable.execute(arguments, &RunOptions::default()).ok()?;
    Some(result.elements()?.to_vec())
}
