//! Simpler element types: f32, s32 and c64 in place of others of their class.
use super::map::mapped;
use crate::reduce::Candidate;
use crate::reduce::search::{Edited, Reduction};
use hlo::{ArrayShape, Class, ElementType, Literal, Module, Shape};
use std::collections::BTreeSet;

/// Replaces one type everywhere, for each type in the module.
pub(super) fn types(search: &mut Reduction<'_, '_>) {
    let arrays: Vec<ArrayShape> = arrays(search.module.module());
    let found: BTreeSet<ElementType> = arrays.iter().map(|array| array.ty).collect();
    for from in found {
        let to = match from.class() {
            Class::Pred => continue,
            Class::Signed | Class::Unsigned => ElementType::S32,
            Class::Float => ElementType::F32,
            Class::Complex => ElementType::C64,
        };
        if from != to {
            let (module, arguments) = retyped(&search.best(), from, to);
            search.attempt(module, arguments);
        }
    }
}

fn arrays(module: &Module) -> Vec<ArrayShape> {
    let instructions = module.instructions();
    let arrays =
        |shape: &Shape| shape.leaves().into_iter().filter_map(Shape::array).cloned().collect();
    instructions.flat_map(|instruction| -> Vec<ArrayShape> { arrays(&instruction.shape) }).collect()
}

fn retyped(best: &Candidate, from: ElementType, to: ElementType) -> Edited {
    let shape = |array: &ArrayShape| {
        if array.ty == from { array.with_type(to) } else { array.clone() }
    };
    mapped(best, &shape, &|literal| converted(literal, from, to))
}

fn converted(literal: &Literal, from: ElementType, to: ElementType) -> Literal {
    let Some(shape) = literal.array_shape().filter(|shape| shape.ty == from) else {
        return literal.clone();
    };
    let mut result = Literal::zeros(ArrayShape { ty: to, ..shape.clone() });
    for (i, slot) in result.bytes_mut().chunks_exact_mut(to.storage_bytes()).enumerate() {
        literal.get(i).convert(from, to).write(to, slot);
    }
    result
}
