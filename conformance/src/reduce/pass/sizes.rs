//! Smaller dimensions and fewer of them: a size is replaced everywhere, and other shapes follow by
//! the shape rules.
use super::map::mapped;
use crate::reduce::Candidate;
use crate::reduce::search::{Edited, Reduction};
use hlo::ir::ComputationId;
use hlo::layout::Layout;
use hlo::text::Style;
use hlo::{ArrayShape, Dims, IndexSpace, Literal, Module, Shape};
use std::collections::BTreeSet;

/// How a size, and those near it, are replaced.
#[derive(Debug, Clone, Copy)]
enum Variant {
    /// The size itself.
    Exact,
    /// The size, and those that differ from it by up to 2, by the same difference.
    Offset,
    /// Multiples of the size.
    Multiple,
}

/// Replaces sizes, the largest first, by 1, 2, their half, or one less.
pub(super) fn sizes(search: &mut Reduction<'_, '_>) {
    let mut done = BTreeSet::new();
    loop {
        let found = found_sizes(search.module.module());
        let Some(&size) = found.iter().rev().find(|size| **size > 1 && !done.contains(*size))
        else {
            return;
        };
        done.insert(size);
        let targets: BTreeSet<i64> =
            [1, 2, 3, size / 2, size - 1].into_iter().filter(|&t| 0 < t && t < size).collect();
        replace(search, size, &targets);
    }
}

fn found_sizes(module: &Module) -> BTreeSet<i64> {
    let instructions = module.instructions();
    let mut found = BTreeSet::new();
    for instruction in instructions {
        let arrays = instruction.shape.leaves().into_iter().filter_map(Shape::array);
        arrays.for_each(|array| found.extend(array.dims.iter().copied()));
    }
    found
}

/// Replaces a size by the first of these that it can be replaced by.
fn replace(search: &mut Reduction<'_, '_>, size: i64, targets: &BTreeSet<i64>) {
    let best = search.best();
    let targets = targets.iter().flat_map(|&target| {
        [Variant::Exact, Variant::Offset, Variant::Multiple].map(|variant| (target, variant))
    });
    let candidates = targets.flat_map(|(target, variant)| {
        let map = move |x: i64| match variant {
            Variant::Exact => (x == size).then_some(target),
            Variant::Offset => ((x - size).abs() <= 2).then_some(x - size + target),
            Variant::Multiple => (x > 0 && x % size == 0).then_some(x / size * target),
        };
        let map = move |x: i64| map(x).filter(|&new| new >= 0).unwrap_or(x);
        let best = &best;
        let ways = [Kept::First, Kept::Last].map(|kept| [(true, kept), (false, kept)]);
        let ways = ways.into_iter().flatten();
        ways.map(move |(attributes, kept)| (resized(best, &map, kept, attributes), ()))
    });
    search.first_of(candidates);
}

/// Which elements of a value a smaller one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    First,
    Last,
}

/// Returns the candidate with other sizes, in its attributes too if `attributes`.
fn resized(
    best: &Candidate,
    map: &dyn Fn(i64) -> i64,
    kept: Kept,
    attributes: bool,
) -> Option<Edited> {
    let shape = |array: &ArrayShape| {
        let dims: Dims = array.dims.iter().map(|&size| map(size)).collect();
        ArrayShape { dims, ..array.clone() }
    };
    let value = |literal: &Literal| cropped(literal, map, kept);
    let (module, arguments) = mapped(best, &shape, &value);
    let mut text = module.print(Style::Short);
    if attributes {
        text = text.lines().map(|line| with_sizes(line, map) + "\n").collect();
    }
    let mut module = Module::parse(&text).ok()?;
    infer(&mut module);
    Some((module, arguments))
}

/// Returns the first or the last elements along each dimension, repeated where a dimension grows.
fn cropped(literal: &Literal, map: &dyn Fn(i64) -> i64, kept: Kept) -> Literal {
    let Some(old) = literal.array_shape() else { return literal.clone() };
    let dims: Dims = old.dims.iter().map(|&size| map(size)).collect();
    if dims == old.dims {
        return literal.clone();
    }
    let mut result = Literal::zeros(ArrayShape { dims: dims.clone(), ..old.clone() });
    let width = old.ty.storage_bytes();
    for (i, slot) in result.bytes_mut().chunks_exact_mut(width).enumerate() {
        let mut index = dims.index_of(i);
        for ((at, &size), &new) in index.iter_mut().zip(&old.dims).zip(&dims) {
            let first = if kept == Kept::Last { (size - new).max(0) } else { 0 };
            *at = (first + *at).min(size - 1);
        }
        let from = old.dims.position(&index);
        slot.copy_from_slice(&literal.bytes()[from * width..(from + 1) * width]);
    }
    result
}

/// Words of attributes whose numbers are sizes.
const SIZES: [&str; 5] = ["slice", "size", "window", "length", "k="];

/// Replaces the numbers in the attributes of an instruction's line that are sizes.
fn with_sizes(line: &str, map: &dyn Fn(i64) -> i64) -> String {
    let Some(at) = line.find("), ") else { return line.to_owned() };
    let (head, attributes) = line.split_at(at + 1);
    let mut out = head.to_owned();
    // A part without `=` goes on with the value of the part before.
    let mut is_size = false;
    for part in attributes.split_inclusive(", ") {
        if part.contains('=') {
            is_size = SIZES.iter().any(|word| part.contains(word));
        }
        if is_size { map_numbers(&mut out, part, map) } else { out.push_str(part) }
    }
    out
}

fn map_numbers(out: &mut String, text: &str, map: &dyn Fn(i64) -> i64) {
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[start..].find(|c: char| !c.is_ascii_digit());
        let end = digits.map_or(rest.len(), |length| start + length);
        out.push_str(&rest[..start]);
        match rest[start..end].parse() {
            Ok(number) => out.push_str(&map(number).to_string()),
            Err(_) => out.push_str(&rest[start..end]),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
}

/// Gives every instruction the shape that follows from its operands, where there is one.
fn infer(module: &mut Module) {
    let ids: Vec<ComputationId> = module.computations.ids().collect();
    for id in ids {
        let computation = &module.computations[id];
        let mut shapes: Vec<Shape> = Vec::with_capacity(computation.instructions.len());
        for (_, instruction) in computation.instructions.iter() {
            let operands: Option<Vec<&Shape>> =
                instruction.operands.iter().map(|operand| shapes.get(operand.index())).collect();
            let inferred = operands.and_then(|operands| {
                instruction.op.shape(&operands, Some(&instruction.shape), module).ok()
            });
            let inferred = inferred.filter(|shape| !shape.compatible(&instruction.shape));
            shapes.push(inferred.unwrap_or_else(|| instruction.shape.clone()));
        }
        let instructions = module.computations[id].instructions.iter_mut();
        instructions.zip(shapes).for_each(|((_, instruction), shape)| instruction.shape = shape);
    }
}

/// Removes dimensions of size 1: all, then the first and the last of each array.
pub(super) fn ranks(search: &mut Reduction<'_, '_>) {
    let all = |dims: &Dims| -> Dims { dims.iter().copied().filter(|&size| size != 1).collect() };
    let first = |dims: &Dims| match dims.split_first() {
        Some((1, rest)) => Dims::from_slice(rest),
        _ => dims.clone(),
    };
    let last = |dims: &Dims| match dims.split_last() {
        Some((1, rest)) => Dims::from_slice(rest),
        _ => dims.clone(),
    };
    let squeezes: [&dyn Fn(&Dims) -> Dims; 3] = [&all, &first, &last];
    for squeeze in squeezes {
        while attempt_squeezed(search, squeeze) {}
    }
}

fn attempt_squeezed(search: &mut Reduction<'_, '_>, squeeze: &dyn Fn(&Dims) -> Dims) -> bool {
    let shape = |array: &ArrayShape| {
        let dims = squeeze(&array.dims);
        let layout = Layout::descending(dims.len());
        if dims == array.dims {
            array.clone()
        } else {
            ArrayShape { layout, ..ArrayShape::new(array.ty, dims) }
        }
    };
    let value = |literal: &Literal| match literal.array_shape() {
        Some(array) => literal.with_shape(shape(array)),
        None => literal.clone(),
    };
    let (module, arguments) = mapped(&search.best(), &shape, &value);
    search.attempt(module, arguments)
}
