//! Values in place of the instructions that compute them: recorded arguments in the entry, zeros
//! and ones elsewhere.
use crate::reduce::draft::{At, Draft, Edit, constant, has_values};
use crate::reduce::search::Reduction;
use hlo::{ArrayShape, Literal, Op, Scalar, Shape};

/// Replaces instructions of the entry by parameters with the recorded values.
pub(super) fn to_parameters(search: &mut Reduction<'_, '_>) {
    let Some((ids, values)) = search.recorded() else { return };
    let draft = search.draft();
    let edits = ids.iter().enumerate().filter_map(|(k, &id)| -> Option<Edit> {
        let instruction = draft.entry().instruction(id);
        // Scalar constants say more in place, and elements of tuples are no larger than what they
        // are taken from.
        let is_input = instruction.operands.is_empty() && instruction.shape.array()?.rank() == 0;
        let is_parameter = matches!(instruction.op, Op::Parameter(_));
        if is_input || is_parameter || draft.entry().root() == Some(id) {
            return None;
        }
        let values: Vec<Literal> = values.iter().map(|device| device[k].clone()).collect();
        Some(Box::new(move |draft| draft.replace_by_parameter(id, &values)))
    });
    search.minimize(edits.collect());
    // A tuple of parameters is one parameter.
    let Some((ids, values)) = search.recorded() else { return };
    let draft = search.draft();
    let tuples = ids.iter().enumerate().filter_map(|(k, &id)| -> Option<Edit> {
        let instruction = draft.entry().instruction(id);
        let is_tuple = instruction.shape.tuple().is_some() && !instruction.operands.is_empty();
        if !is_tuple || draft.entry().root() == Some(id) {
            return None;
        }
        let values: Vec<Literal> = values.iter().map(|device| device[k].clone()).collect();
        Some(Box::new(move |draft| draft.replace_by_parameter(id, &values)))
    });
    search.minimize(tuples.collect());
}

/// The most elements of an array constant.
const ELEMENTS: usize = 1 << 12;

/// Replaces instructions of all computations by constants: all zeros, then all ones.
pub(super) fn to_constants(search: &mut Reduction<'_, '_>) {
    for one in [false, true] {
        let draft = search.draft();
        let edits = draft.all().into_iter().filter_map(|at| to_constant(&draft, at, one));
        search.minimize(edits.collect());
    }
}

fn to_constant(draft: &Draft, at: At, one: bool) -> Option<Edit> {
    let instruction = draft.get(at)?;
    let is_root = draft.rewriter.computation(at.0).root() == Some(at.1);
    let is_entry_root = is_root && at.0 == draft.rewriter.entry();
    let array = instruction.shape.array().filter(|_| has_values(&instruction.shape))?;
    let fits = array.element_count().is_some_and(|count| count <= ELEMENTS);
    if instruction.operands.is_empty() || is_entry_root || !fits {
        return None;
    }
    let value = filled(array, one);
    Some(Box::new(move |draft| {
        if draft.get(at).is_none() {
            return false;
        }
        let computation = draft.rewriter.computation_mut(at.0);
        computation.instruction_mut(at.1).common = None;
        computation.replace(at.1, constant(value.clone()));
        true
    }))
}

/// Returns an array of zeros or ones.
pub(super) fn filled(shape: &ArrayShape, one: bool) -> Literal {
    let mut value = Literal::zeros(shape.clone());
    if one {
        let width = shape.ty.storage_bytes();
        let one = Scalar::Signed(1).convert(hlo::ElementType::S32, shape.ty);
        for slot in value.bytes_mut().chunks_exact_mut(width) {
            one.write(shape.ty, slot);
        }
    }
    value
}

/// Returns a value of this shape whose elements are all zeros or ones.
pub(super) fn filled_like(shape: &Shape, one: bool) -> Option<Literal> {
    match (shape.array(), shape.tuple()) {
        (Some(array), _) if array.dynamic.is_none() => Some(filled(array, one)),
        (_, Some(elements)) => {
            let elements: Option<Vec<Literal>> =
                elements.iter().map(|element| filled_like(element, one)).collect();
            elements.map(Literal::tuple)
        }
        _ => None,
    }
}
