//! The sizes of the parameters of a program that states none, from the arrays of `--input`.
use super::source::read_array;
use crate::args::InputArgs;
use crate::error::Result;
use crate::limits::Limits;
use hlo::literal::npz::NpyArray;
use hlo::{ArrayShape, Literal, Shape};
use load::Argument;
use std::path::Path;

/// The most elements of an array of integers whose values may give sizes.
const MOST: usize = 64;

/// Returns what the arrays of `--input` say of parameters of these shapes, some sizes of which are unknown; nothing if an unknown
/// size is not that of an array.
pub(crate) fn arguments(
    args: &InputArgs,
    shapes: &[Shape],
    limits: &Limits,
) -> Result<Option<Vec<Argument>>> {
    let mut found: Vec<Option<Argument>> = vec![None; shapes.len()];
    let mut next = 0;
    for input in &args.input {
        let (which, value) = match input.split_once('=') {
            Some((which, value)) if !Path::new(input).exists() => (Some(which), value),
            _ => (None, input.as_str()),
        };
        if !Path::new(value).exists() {
            let at = which.map_or(Some(next), number);
            next += usize::from(which.is_none());
            let shape = at.and_then(|at| shapes.get(at));
            let parsed = shape.and_then(|shape| literal(value, shape));
            if let (Some(at), Some(parsed)) = (at, parsed) {
                found[at] = Some(parsed);
            }
            continue;
        }
        let (is_single, arrays) = read_array(value, limits)?;
        for array in arrays {
            let at = match which {
                Some(which) => number(which),
                None if is_single => Some(next),
                None => number(&array.name),
            };
            next += usize::from(is_single && which.is_none());
            let Some((at, shape)) = at.and_then(|at| Some((at, shapes.get(at)?))) else { continue };
            if found[at].is_none() {
                found[at] = of_array(&array, shape);
            }
        }
    }
    let all = found.into_iter().zip(shapes).map(|(found, shape)| match found {
        Some(found) => Some(found),
        None if is_open(shape) => None,
        None => Some(Argument::Shape(shape.clone())),
    });
    Ok(all.collect())
}

fn is_open(shape: &Shape) -> bool {
    shape.array().is_some_and(|array| array.dims.contains(&ArrayShape::UNBOUNDED))
}
/// Returns the number of the parameter that a name states: `2`, `in2`, `d1_in2`, `d1:2`, `Arg_2`.
fn number(name: &str) -> Option<usize> {
    let device = |rest: &str| {
        let (device, rest) = rest.strip_prefix('d')?.split_once([':', '_'])?;
        device.parse::<usize>().ok().map(|_| rest.to_owned())
    };
    let name = device(name).unwrap_or_else(|| name.to_owned());
    let digits = ["global_in", "in", "Arg_", "arr_", ""].iter().find_map(|prefix| {
        name.strip_prefix(prefix).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    digits?.parse().ok()
}
/// Returns what a value as text says of a parameter.
fn literal(text: &str, shape: &Shape) -> Option<Argument> {
    let value: Literal = match text.parse() {
        Ok(value) => value,
        Err(_) => format!("{shape:#} {text}").parse().ok()?,
    };
    Some(Argument::Value(value))
}
/// Returns what an array says of a parameter: its value, if that may give sizes.
fn of_array(array: &NpyArray, shape: &Shape) -> Option<Argument> {
    let parameter = shape.array()?;
    let own = ArrayShape::new(parameter.ty, array.dims.clone());
    let is_small = own.element_count().is_some_and(|count| count <= MOST);
    if is_small
        && parameter.ty.is_integral()
        && let Ok(value) = array.to_literal(&own)
    {
        return Some(Argument::Value(value));
    }
    Some(Argument::Shape(own.into()))
}
