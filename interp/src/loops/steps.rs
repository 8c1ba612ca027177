//! Steps on small arrays as a program: a loop of one round.
use super::build::{Functions, Leaf, Leaves, LoopBuilder, STRATEGIES, Strategy};
use super::operation::Operation;
use super::{Block, Condition, LoopProgram};
use crate::analysis::Analysis;
use crate::lower::cost;
use crate::state::Site;
use hlo::{Array, ArrayShape, ElementType, Shape};
use num::array::static_shape;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An array that comes from elsewhere.
pub(crate) enum SmallArray<'a> {
    Constant(&'a Array),
    Operand(&'a ArrayShape),
}

/// An instruction, with the numbers of its operands' leaves and of its results'.
pub(crate) struct Member<'a> {
    pub(crate) site: Site,
    pub(crate) operands: &'a [usize],
    pub(crate) results: &'a [usize],
    /// Steps that are charged for it.
    pub(crate) fuel: u64,
}

/// Returns the program of members, which reads arrays from elsewhere and computes results.
///
/// # Errors
/// The number of the first member that cannot be part of one.
pub(crate) fn of_steps(
    analysis: &Analysis<'_>,
    functions: &Functions<'_>,
    (arrays, members, results): (&[(usize, SmallArray<'_>)], &[Member<'_>], &[usize]),
) -> Result<LoopProgram, usize> {
    let mut refused = 0;
    for strategy in STRATEGIES {
        match with(strategy, analysis, functions, (arrays, members, results)) {
            Ok(program) => return Ok(program),
            Err(member) => refused = member,
        }
    }
    Err(refused)
}

fn with(
    strategy: Strategy,
    analysis: &Analysis<'_>,
    functions: &Functions<'_>,
    (arrays, members, results): (&[(usize, SmallArray<'_>)], &[Member<'_>], &[usize]),
) -> Result<LoopProgram, usize> {
    let mut builder = LoopBuilder::new(analysis, functions, strategy);
    let mut values: FxHashMap<usize, Leaf> = FxHashMap::default();
    let mut carried = Vec::new();
    for (number, array) in arrays {
        let leaf = match array {
            SmallArray::Constant(value) => {
                builder.constant(&Arc::new(static_shape(value.shape())), value)
            }
            SmallArray::Operand(shape) => builder.argument(&Shape::from((*shape).clone())),
        };
        let leaf = leaf.ok_or(0usize)?;
        if let SmallArray::Operand(_) = array {
            carried.push(leaf.clone());
        }
        values.insert(*number, leaf);
    }
    for (number, member) in members.iter().enumerate() {
        member.add(&mut builder, &mut values).ok_or(number)?;
    }
    let last = members.len().saturating_sub(1);
    for result in results {
        let leaf = values.get(result).and_then(|leaf| builder.current(leaf)).ok_or(last)?;
        if let Leaf::Large { .. } | Leaf::Token = leaf {
            return Err(last);
        }
        carried.push(leaf);
    }
    builder.one_round(&carried.into()).ok_or(last)
}

impl Member<'_> {
    /// Adds its operations, and the values of its results.
    fn add(
        &self,
        builder: &mut LoopBuilder<'_>,
        values: &mut FxHashMap<usize, Leaf>,
    ) -> Option<()> {
        let module = builder.analysis.module;
        let instructions = &module.computations[self.site.computation].instructions;
        let instruction = &instructions[self.site.instruction];
        let shapes: Vec<&Shape> =
            instruction.operands.iter().map(|&operand| &instructions[operand].shape).collect();
        let mut leaves = self.operands.iter().map(|number| values.get(number).cloned());
        let operands: Vec<Leaves> = (shapes.iter())
            .map(|shape| leaves.by_ref().take(shape.leaves().len()).collect())
            .collect::<Option<_>>()?;
        let are_own = shapes.iter().zip(&operands).all(|(shape, leaves)| {
            let shapes = shape.leaves();
            shapes.len() == leaves.len()
                && shapes.into_iter().zip(leaves.iter()).all(|(shape, leaf)| is_of(leaf, shape))
        });
        let refused = !are_own || leaves.next().is_some();
        if refused || builder.analysis.effects.has(instruction) {
            return None;
        }
        let charged = cost::fuel(&instruction.op, &shapes, &instruction.shape);
        builder.block.fuel += self.fuel.saturating_sub(charged);
        let value = builder.value(self.site, instruction, &operands, &shapes, &[])?;
        (value.len() == self.results.len()).then_some(())?;
        values.extend(self.results.iter().copied().zip(value.iter().cloned()));
        Some(())
    }
}

/// Returns whether a leaf is an array of this type and of these dimensions.
fn is_of(leaf: &Leaf, shape: &Shape) -> bool {
    let (Leaf::Small(_, own, _) | Leaf::Large { shape: own, .. } | Leaf::Empty(own)) = leaf else {
        return false;
    };
    shape.array().is_some_and(|shape| (shape.ty, &shape.dims) == (own.ty, &own.dims))
}

impl LoopBuilder<'_> {
    /// Returns the program of the operations so far: a loop that ends after its first round, whose
    /// condition a run makes true.
    fn one_round(mut self, carried: &Leaves) -> Option<LoopProgram> {
        let scalar = ArrayShape::new(ElementType::Pred, [].as_slice());
        let [value, ended] = [self.place(&scalar)?, self.place(&scalar)?];
        self.image.constant_mut(ended)[ended.start] = 0;
        self.push(Operation::copy(ended, value));
        let mut body = std::mem::take(&mut self.block);
        self.invariants().inside(&mut body);
        let condition = Condition { block: Block::default(), value };
        Some(self.finish(condition, Some((Block::default(), body)), carried))
    }
}
