//! Modules whose parameters and result a plugin cannot take, rewritten to ones that it can.
//!
//! A plugin takes arrays of static shape as arguments, and returns an array or a flat tuple. A
//! parameter that is a tuple is built from a parameter for each of its arrays, a dynamic array from
//! its bounds and its sizes, a token by `after-all`; a nested tuple is returned as the tuple of its
//! leaves.
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{BufferDonor, InputOutputAlias, Instruction, InstructionId};
use hlo::op::{AfterAll, Parameter, SetDimensionSize};
use hlo::{ArrayShape, ElementType, Literal, Module, Op, Shape};

/// Returns the module with a parameter for each array, and its result without tuples inside of a
/// tuple.
pub(super) fn flattened(module: &Module) -> Module {
    let mut rewriter = ModuleRewriter::new(module);
    let entry = rewriter.computation_mut(module.entry);
    let mut count = 0;
    for old in entry.parameters() {
        let shape = entry.instruction(old).shape.clone();
        if is_static_array(&shape) {
            entry.instruction_mut(old).op = Parameter { number: next(&mut count) }.into();
            continue;
        }
        let new = parameters(entry, old, &shape, &mut count);
        entry.replace_uses(old, new);
        entry.replace_control_predecessor(old, new);
        entry.remove(old);
    }
    flatten_result(entry);
    let mut flat = rewriter.finish().expect("each use of a parameter was replaced");
    let shapes = module.entry().program_shape();
    let parameters: Vec<Shape> = shapes.parameters.into_iter().cloned().collect();
    flat.config.input_output_alias =
        aliases(&module.config.input_output_alias, &parameters, shapes.result);
    flat.config.buffer_donor = donors(&module.config.buffer_donor, &parameters);
    flat
}

/// Returns whether a plugin takes values of this shape as they are.
pub(super) fn is_static_array(shape: &Shape) -> bool {
    shape.array().is_some_and(|array| array.dynamic.is_none())
}

/// Returns whether a plugin takes the result as it is: no tuple has a tuple inside.
pub(super) fn is_flat(shape: &Shape) -> bool {
    shape.tuple().is_none_or(|parts| parts.iter().all(|part| part.tuple().is_none()))
}

/// Returns the arguments for the parameters of a flattened module.
pub(super) fn arguments(list: &[Literal], parameters: &[Shape]) -> Vec<Literal> {
    let shapes = parameters.iter().flat_map(Shape::leaves);
    let mut flat = Vec::new();
    for (leaf, shape) in list.iter().flat_map(Literal::leaves).zip(shapes) {
        match shape {
            Shape::Token => {}
            Shape::Array(array) if array.dynamic.is_some() => {
                let mut bounds = Literal::zeros(of_bounds(array));
                bounds.copy_from(leaf);
                flat.push(bounds);
                let sizes = dynamic_dims(array).map(|dim| {
                    Literal::from_slice(
                        &[],
                        &[i32::try_from(leaf.sizes()[dim]).unwrap_or(i32::MAX)],
                    )
                });
                flat.extend(sizes);
            }
            Shape::Array(_) | Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => {
                flat.push(leaf.clone());
            }
        }
    }
    flat
}

fn next(count: &mut i64) -> i64 {
    *count += 1;
    *count - 1
}

fn dynamic_dims(array: &ArrayShape) -> impl Iterator<Item = usize> {
    (0..array.rank()).filter(|&dim| array.is_dynamic(dim))
}

fn of_bounds(array: &ArrayShape) -> ArrayShape {
    ArrayShape { dynamic: None, ..array.clone() }
}

/// Adds the parameters of which a value of this shape consists; returns the value.
fn parameters(
    entry: &mut ComputationRewriter,
    old: InstructionId,
    shape: &Shape,
    count: &mut i64,
) -> InstructionId {
    let mut add = |entry: &mut ComputationRewriter, shape: Shape| {
        let op = Parameter { number: next(count) };
        entry.add(old, Instruction::new(op, shape, []))
    };
    match shape {
        Shape::Tuple(parts) => {
            let parts =
                parts.iter().map(|part| parameters(entry, old, part, count)).collect::<Vec<_>>();
            entry.add_tuple(old, parts)
        }
        Shape::Token => entry.add(old, Instruction::new(AfterAll {}, Shape::Token, [])),
        Shape::Array(array) if array.dynamic.is_some() => {
            let mut shape = of_bounds(array);
            let mut value = add(entry, shape.clone().into());
            for dim in dynamic_dims(array) {
                let size = add(entry, ArrayShape::new(ElementType::S32, [].as_slice()).into());
                let rank = array.rank();
                shape.dynamic.get_or_insert_with(|| vec![false; rank].into())[dim] = true;
                let dimensions = vec![i64::try_from(dim).unwrap_or(i64::MAX)];
                let op = SetDimensionSize { dimensions };
                value = entry.add(old, Instruction::new(op, shape.clone(), [value, size]));
            }
            value
        }
        Shape::Array(_) | Shape::Opaque | Shape::Buffer(_) => add(entry, shape.clone()),
    }
}

/// Makes the tuple of the leaves of a nested tuple the result.
fn flatten_result(entry: &mut ComputationRewriter) {
    let root = entry.root().expect("a verified computation has a root");
    if is_flat(&entry.instruction(root).shape) {
        return;
    }
    let leaves = leaves(entry, root);
    let tuple = entry.add_tuple(root, leaves);
    entry.set_root(tuple);
}

fn leaves(entry: &mut ComputationRewriter, value: InstructionId) -> Vec<InstructionId> {
    let instruction = entry.instruction(value);
    let Some(count) = instruction.shape.tuple().map(<[Shape]>::len) else { return vec![value] };
    let parts: Vec<InstructionId> = if matches!(instruction.op, Op::Tuple(_)) {
        instruction.operands.to_vec()
    } else {
        let element = |k| entry.element(value, k);
        let elements: Vec<Instruction> = (0..count).map(element).collect();
        elements.into_iter().map(|element| entry.add(value, element)).collect()
    };
    parts.into_iter().flat_map(|part| leaves(entry, part)).collect()
}

/// Returns the position of a part of a value among the leaves of the value; `None` for a part that
/// is a tuple.
fn position(shape: &Shape, index: &[i64]) -> Option<usize> {
    let Some((&first, rest)) = index.split_first() else {
        return shape.tuple().is_none().then_some(0);
    };
    let first = usize::try_from(first).ok()?;
    let parts = shape.tuple()?;
    let before: usize = parts.get(..first)?.iter().map(|part| part.leaves().len()).sum();
    Some(before + position(parts.get(first)?, rest)?)
}

/// Returns the number of the parameter for a part of a parameter; `None` if there is no single one.
fn parameter_number(parameters: &[Shape], number: i64, index: &[i64]) -> Option<i64> {
    let number = usize::try_from(number).ok()?;
    let at = position(parameters.get(number)?, index)?;
    let before = parameters[..number].iter().flat_map(Shape::leaves);
    let leaves = parameters[number].leaves();
    if !is_static_array(leaves.get(at)?) {
        return None;
    }
    let taken = |shape: &Shape| match shape {
        Shape::Token => 0,
        Shape::Array(array) => 1 + dynamic_dims(array).count(),
        Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => 1,
    };
    let count: usize = before.chain(leaves.iter().copied().take(at)).map(taken).sum();
    i64::try_from(count).ok()
}

fn aliases(
    list: &[InputOutputAlias],
    parameters: &[Shape],
    result: &Shape,
) -> Vec<InputOutputAlias> {
    let alias = |alias: &InputOutputAlias| {
        let output = position(result, &alias.output_index)?;
        let output_index = match result.tuple() {
            Some(_) => vec![i64::try_from(output).ok()?],
            None => Vec::new(),
        };
        let parameter = parameter_number(parameters, alias.parameter, &alias.parameter_index)?;
        Some(InputOutputAlias {
            output_index,
            parameter,
            parameter_index: Vec::new(),
            kind: alias.kind,
        })
    };
    list.iter().filter_map(alias).collect()
}

fn donors(list: &[BufferDonor], parameters: &[Shape]) -> Vec<BufferDonor> {
    let donor = |donor: &BufferDonor| {
        let parameter = parameter_number(parameters, donor.parameter, &donor.parameter_index)?;
        Some(BufferDonor { parameter, parameter_index: Vec::new() })
    };
    list.iter().filter_map(donor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shapes of the parameters and the result of the flattened module, which is valid,
    /// and its aliases.
    fn flat(text: &str) -> (Vec<String>, String, Vec<InputOutputAlias>) {
        let module = Module::parse(text).unwrap().verify().unwrap();
        let flat = flattened(module.module()).verify().unwrap_or_else(|errors| panic!("{errors}"));
        let shapes = flat.module().entry().program_shape();
        let parameters = shapes.parameters.iter().map(|shape| format!("{shape:#}")).collect();
        let aliases = flat.module().config.input_output_alias.clone();
        (parameters, format!("{:#}", shapes.result), aliases)
    }

    #[test]
    fn tuples_become_their_arrays() {
        let (parameters, result, aliases) = flat(
            "HloModule m, input_output_alias={ {1,0}: (1, {0,0}, must-alias) }
ENTRY e { q = f32[] parameter(0) p = ((s32[], token[]), f32[]) parameter(1) t = (s32[], token[]) get-tuple-element(p), index=0
  em = () tuple() ROOT r = (f32[], (s32[], token[]), ()) tuple(q, t, em) }",
        );
        assert_eq!(parameters, ["f32[]", "s32[]", "f32[]"]);
        assert_eq!(result, "(f32[], s32[], token[])");
        let [alias] = aliases.as_slice() else { panic!("{aliases:?}") };
        assert_eq!((alias.output_index.as_slice(), alias.parameter), ([1].as_slice(), 1));
        assert!(alias.parameter_index.is_empty());
    }

    #[test]
    fn dynamic_arrays_become_bounds_and_sizes() {
        let (parameters, result, _) = flat(
            "HloModule m
ENTRY e { x = f32[2,<=3] parameter(0) ROOT r = f32[2,<=3] negate(x) }",
        );
        assert_eq!(parameters, ["f32[2,3]", "s32[]"]);
        assert_eq!(result, "f32[2,<=3]");
        let value = Literal::from_slice(&[2, 3], &[1f32, 2., 0., 3., 4., 0.]).with_sizes(&[2, 2]);
        let found = arguments(&[value], &["f32[2,<=3]".parse().unwrap()]);
        let [bounds, size] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(bounds.as_slice::<f32>(), Some([1f32, 2., 0., 3., 4., 0.].as_slice()));
        assert_eq!((bounds.dynamic_sizes(), size.as_slice::<i32>()), (None, Some([2].as_slice())));
    }
}
