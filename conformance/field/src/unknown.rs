//! Functions of which nothing is known: what identifies them, and hashes as their results.
use crate::arithmetic::Field;
use crate::element::{Element, read, write};
use crate::kernels::{Number as _, Operands, is_float};
use hlo::ir::{Computation, Instruction};
use hlo::op::CustomCall;
use hlo::{Array, Dims, ElementType, Literal, Module, Op, Scalar, Shape};
use interp::is_annotation;
use num::index::{count, to_i64};
use std::collections::{BTreeMap, BTreeSet};

/// XLA's functions of matrices, besides those of LAPACK.
const OF_MATRICES: [&str; 4] =
    ["Eigh", "LuDecomposition", "ProductOfElementaryHouseholderReflectors", "Qr"];

/// Returns the dimensions in front that count independent problems: those of functions of matrices
/// that are specified so. Of others there are none.
fn batch(call: &CustomCall, operands: &[Shape], result: &Shape) -> Dims {
    let target = &*call.custom_call_target.0;
    let is_lapack = target.starts_with("lapack_") && target.ends_with("_ffi");
    let arrays = || operands.iter().chain(result.leaves()).map(Shape::array);
    let largest = operands.iter().filter_map(Shape::array).max_by_key(|array| array.dims.len());
    let Some(largest) = largest.filter(|_| is_lapack || OF_MATRICES.contains(&target)) else {
        return Dims::new();
    };
    let dims = &largest.dims[..largest.dims.len().saturating_sub(2)];
    let mut all = arrays();
    match all.all(|array| array.is_some_and(|array| array.dims.starts_with(dims))) {
        true => Dims::from_slice(dims),
        false => Dims::new(),
    }
}

/// Returns whether a module calls unknown functions.
pub(crate) fn calls_unknown(module: &Module) -> bool {
    let mut all = module.instructions();
    all.any(
        |one| matches!(&one.op, Op::CustomCall(call) if !is_annotation(&call.custom_call_target.0)),
    )
}

/// Returns what an oracle of an unknown function is keyed by.
pub(crate) fn name_of(computation: &Computation, instruction: &Instruction) -> String {
    let [function, shapes] = function_of(computation, instruction).unwrap_or_default();
    function + &shapes
}

/// Returns what states an unknown function, and the shapes with which it is called.
fn function_of(computation: &Computation, instruction: &Instruction) -> Option<[String; 2]> {
    let Op::CustomCall(call) = &instruction.op else { return None };
    let config = instruction.common.as_ref().and_then(|common| common.backend_config.as_ref());
    let operands: Vec<Shape> =
        instruction.operands.iter().map(|&id| computation.instructions[id].shape.clone()).collect();
    let batch = batch(call, &operands, &instruction.shape).len();
    let part = |shape: &Shape| match shape.array() {
        Some(array) => format!("{}{:?}", array.ty, &array.dims[batch..]),
        None => format!("{shape:#}"),
    };
    let operands: Vec<String> = operands.iter().map(part).collect();
    let results: Vec<String> = instruction.shape.leaves().into_iter().map(part).collect();
    // Layouts, aliases and schedules do not change the function.
    let stated = CustomCall {
        operand_layout_constraints: None,
        output_to_operand_aliasing: hlo::op::value::OutputOperandAliasing::default(),
        schedule: hlo::op::value::CustomCallSchedule::None,
        ..(**call).clone()
    };
    Some([format!("{stated:?} {config:?}"), format!(" {operands:?} {results:?}")])
}

/// Returns an unknown function that one of two modules calls only, or with other shapes: a compiler
/// may know what it is, or compute the parts of an array alone. What differs in the field may be
/// equal.
pub(crate) fn other_functions(modules: [&Module; 2]) -> Option<String> {
    let [first, second] = modules.map(|module| {
        let mut found: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
        for (_, computation) in module.computations.iter() {
            for (_, instruction) in computation.instructions.iter() {
                let Some([function, shapes]) = function_of(computation, instruction) else {
                    continue;
                };
                let Op::CustomCall(call) = &instruction.op else { continue };
                let target = call.custom_call_target.0.to_string();
                if !is_annotation(&target) {
                    let (_, all) = found.entry(function).or_insert((target, BTreeSet::new()));
                    all.insert(shapes);
                }
            }
        }
        found
    });
    let differs = |(function, all): (&String, &(String, BTreeSet<String>))| {
        let are_equal = [&first, &second].iter().all(|of| of.get(function) == Some(all));
        (!are_equal).then(|| all.0.clone())
    };
    first.iter().chain(&second).find_map(differs)
}

/// Returns the results of a function that is not known: hashes of its operands, or of those of each
/// problem of a batch.
pub(crate) fn unknown(field: &Field, call: &CustomCall, with: &Operands<'_>) -> Option<Literal> {
    let name = &with.stated.name;
    let parts = count(&batch(call, &with.stated.operands, &with.stated.shape));
    let mut keys = vec![Vec::new(); parts];
    for (literal, shape) in with.values.iter().zip(&with.stated.operands) {
        let array = literal.array()?;
        let all: Vec<Element> = match is_float(shape) {
            true => read(array),
            false => (0..array.len())
                .map(|i| Element::of_scalar(field, array.get(i), ElementType::F64))
                .collect(),
        };
        let size = (all.len() / parts.max(1)).max(1);
        keys.iter_mut().zip(all.chunks(size)).for_each(|(key, part)| key.extend_from_slice(part));
    }
    let problems: Vec<Element> = keys.iter().map(|key| field.oracle(name, key, 0.5)).collect();
    let leaves = with.stated.shape.leaves().into_iter().enumerate();
    let arrays: Option<Vec<Literal>> = leaves
        .map(|(leaf, shape)| {
            let shape = shape.array()?;
            let size = (count(&shape.dims) / parts.max(1)).max(1);
            let place = |i: usize| {
                let place = Element::integer(to_i64((leaf << 40) | (i % size)));
                field.unknown(name, problems[i / size], place)
            };
            if shape.ty.is_float() {
                return Some(Literal::from(write(shape, (0..count(&shape.dims)).map(place))));
            }
            // Mostly zero, as what says whether a function has succeeded.
            let mut whole = Array::zeros(shape.clone());
            for i in 0..whole.len() {
                let hash = i64::from(place(i).residues[0]);
                let value = if hash % 8 == 0 { hash / 8 % 5 } else { 0 };
                whole.set(i, Scalar::Signed(value).convert(ElementType::S64, shape.ty));
            }
            Some(Literal::from(whole))
        })
        .collect();
    let mut arrays = arrays?;
    match &with.stated.shape {
        Shape::Array(_) => arrays.pop(),
        Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            Some(Literal::tuple(arrays))
        }
    }
}
