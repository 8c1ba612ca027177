//! What the custom calls in a region do for each device, and values of all devices kept one after another.
use super::marker::Value;
use crate::{Code, Result};
use hlo::{ArrayShape, Literal, Shape};
use interp::Call;

/// What a custom call in a region does.
#[derive(Debug)]
pub(super) enum Step {
    /// Gives the device its shards.
    Cut(Vec<Value>),
    /// Puts the shards of the device's group together, which stand one after another.
    Join(Box<Value>),
    /// Gives the device its own of values that stand one after another.
    Own,
}

/// The name by which a region calls step `i`.
pub(super) fn target(i: usize) -> String {
    format!("etalon.spmd.{i}")
}

impl Step {
    /// Its value for a device.
    pub(super) fn run(&self, device: usize, call: &Call<'_>) -> Literal {
        match self {
            Self::Cut(values) => {
                let cut = |(value, operand): (&Value, &&Literal)| match (&value.tiles, &value.local)
                {
                    (Some(tiles), Shape::Array(local)) => tiles.cut(device, operand, local),
                    _ => (*operand).clone(),
                };
                let mut shards: Vec<Literal> = values.iter().zip(call.operands).map(cut).collect();
                match (call.shape, shards.as_slice()) {
                    (Shape::Tuple(_), _) | (_, []) => Literal::tuple(shards),
                    _ => shards.swap_remove(0),
                }
            }
            Self::Join(value) => {
                let Value {
                    tiles: Some(tiles),
                    global: Shape::Array(global),
                    local: Shape::Array(local),
                } = value.as_ref()
                else {
                    return Literal::token();
                };
                let group = tiles.groups().iter().find(|group| group.contains(&device));
                let blocks: Vec<Literal> =
                    call.operands.iter().flat_map(|b| rows(b, local)).collect();
                let group = group.map(Vec::as_slice).unwrap_or_default();
                let blocks: Vec<&Literal> = blocks.iter().collect();
                // Devices that do not agree are told of where the value leaves the outermost region.
                tiles.put(group, &blocks, global).0
            }
            Self::Own => call
                .operands
                .first()
                .map_or_else(Literal::token, |all| own(all, call.shape, device)),
        }
    }
}

/// The blocks of shape `local` that stand one after another in an array.
fn rows(array: &Literal, local: &ArrayShape) -> Vec<Literal> {
    let shape = ArrayShape::new(local.ty, local.dims.clone());
    let count = array.array_shape().and_then(|whole| whole.dims.first().copied());
    let count = usize::try_from(count.unwrap_or(0)).unwrap_or(0);
    let length = array.bytes().len() / count.max(1);
    let block = |i| array.bytes().get(i * length..(i + 1) * length);
    (0..count).filter_map(|i| Literal::from_bytes(shape.clone(), block(i)?)).collect()
}

/// The shape of the values of all devices one after another.
pub(super) fn stacked_shape(shape: &Shape, devices: usize) -> Result<Shape> {
    match shape {
        Shape::Array(array) if array.dynamic.is_none() => {
            let mut dims = array.dims.clone();
            dims.insert(0, i64::try_from(devices).unwrap_or(i64::MAX));
            Ok(ArrayShape::new(array.ty, dims).into())
        }
        Shape::Tuple(parts) => {
            let parts = parts.iter().map(|part| stacked_shape(part, devices));
            Ok(Shape::Tuple(parts.collect::<Result<_>>()?))
        }
        Shape::Token => Ok(Shape::Token),
        Shape::Array(_) | Shape::Opaque | Shape::Buffer(_) => {
            let message = format!("{shape:#} cannot be kept from one manual region to another");
            Err(Code::Unsupported { message }.into())
        }
    }
}

/// The values of all devices one after another.
pub(super) fn stacked(values: &[&Literal]) -> Literal {
    let Some(first) = values.first() else { return Literal::token() };
    if let Some(parts) = first.elements() {
        let part = |i| {
            let parts: Vec<&Literal> =
                values.iter().filter_map(|value| value.elements()?.get(i)).collect();
            stacked(&parts)
        };
        return Literal::tuple((0..parts.len()).map(part).collect());
    }
    let shape = stacked_shape(&first.shape(), values.len()).ok();
    let Some(Shape::Array(shape)) = shape else { return Literal::token() };
    let mut all = Literal::zeros(shape);
    let length = first.bytes().len();
    for (value, slot) in values.iter().zip(all.bytes_mut().chunks_exact_mut(length.max(1))) {
        slot.copy_from_slice(value.bytes());
    }
    all
}

/// A device's own of values that stand one after another.
fn own(all: &Literal, shape: &Shape, device: usize) -> Literal {
    match shape {
        Shape::Array(array) => {
            let blocks = rows(all, array);
            blocks.into_iter().nth(device).unwrap_or_else(|| Literal::zeros(array.clone()))
        }
        Shape::Tuple(parts) => {
            let all = all.elements().unwrap_or_default();
            Literal::tuple(all.iter().zip(parts).map(|(a, s)| own(a, s, device)).collect())
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => all.clone(),
    }
}
