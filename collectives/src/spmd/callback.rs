//! Custom calls of a region, which the host executes for each device, and arrays that stack the
//! values of all devices.
use super::marker::ShardedValue;
use super::placement::Tiles;
use crate::{Code, Result};
use hlo::{ArrayShape, Literal, Shape};

/// The computation of a custom call of a region.
#[derive(Debug)]
pub(super) enum Callback {
    /// The shards of the device.
    Shard(Vec<ShardedValue>),
    /// The array that the stacked shards of the device's group make.
    Assemble(Box<ShardedValue>),
    /// The element of this device in a stack of all devices.
    Select,
}

/// Returns the name by which a region calls callback `i`.
pub(super) fn callback_target(i: usize) -> String {
    format!("etalon.spmd.{i}")
}

impl Callback {
    /// Returns the value of this shape on a device.
    pub(super) fn run(&self, device: usize, operands: &[&Literal], shape: &Shape) -> Literal {
        let leaves: Vec<&Literal> = operands.iter().flat_map(|value| value.leaves()).collect();
        let shapes = shape.leaves().into_iter().enumerate();
        let mut leaves = shapes.map(|(i, shape)| self.leaf(i, device, &leaves, shape));
        Literal::from_leaves(shape, &mut leaves).unwrap_or_else(Literal::token)
    }
    /// Returns whether the value is a sum of values of devices, which rounds.
    pub(super) fn adds(&self) -> bool {
        match self {
            Self::Assemble(value) => value.tiles.as_ref().is_some_and(Tiles::is_sum),
            Self::Shard(_) | Self::Select => false,
        }
    }
    /// Returns a leaf of the value, for the leaves of the operands, whose elements may be of another
    /// type.
    pub(super) fn leaf(
        &self,
        i: usize,
        device: usize,
        operands: &[&Literal],
        shape: &Shape,
    ) -> Literal {
        let own = || operands.get(i).map_or_else(Literal::token, |&leaf| leaf.clone());
        match (self, shape) {
            (Self::Shard(values), Shape::Array(local)) => match values.get(i) {
                Some(ShardedValue { tiles: Some(tiles), .. }) => tiles.shard(device, &own(), local),
                Some(_) | None => own(),
            },
            (Self::Assemble(value), Shape::Array(global)) => {
                let (Some(tiles), Shape::Array(local)) = (&value.tiles, &value.local) else {
                    return Literal::token();
                };
                let group = tiles.groups().iter().find(|group| group.contains(&device));
                let blocks: Vec<Literal> =
                    operands.iter().flat_map(|b| unstack(b, local)).collect();
                let group = group.map(Vec::as_slice).unwrap_or_default();
                let blocks: Vec<&Literal> = blocks.iter().collect();
                // Divergence is reported where the value leaves the outermost region.
                tiles.assemble(group, &blocks, global).0
            }
            (Self::Select, Shape::Array(array)) => {
                let block = unstack(&own(), array).into_iter().nth(device);
                block.unwrap_or_else(|| Literal::zeros(array.clone()))
            }
            (Self::Shard(_) | Self::Assemble(_) | Self::Select, _) => own(),
        }
    }
}

/// Returns the blocks of shape `local` that an array stacks along dimension 0.
fn unstack(array: &Literal, local: &ArrayShape) -> Vec<Literal> {
    let ty = array.array_shape().map_or(local.ty, |whole| whole.ty);
    let shape = ArrayShape::new(ty, local.dims.clone());
    let count = array.array_shape().and_then(|whole| whole.dims.first().copied());
    let count = usize::try_from(count.unwrap_or(0)).unwrap_or(0);
    let length = array.bytes().len() / count.max(1);
    let block = |i| array.bytes().get(i * length..(i + 1) * length);
    (0..count).filter_map(|i| Literal::from_bytes(shape.clone(), block(i)?)).collect()
}

/// Returns the shape of a stack of the values of all devices.
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
            let message = format!("{shape:#} cannot be passed from one manual region to another");
            Err(Code::Unsupported { message }.into())
        }
    }
}

/// Returns a stack of the values of all devices.
pub(super) fn stack(values: &[&Literal]) -> Literal {
    let Some(first) = values.first() else { return Literal::token() };
    if let Some(parts) = first.elements() {
        let part = |i| {
            let parts: Vec<&Literal> =
                values.iter().filter_map(|value| value.elements()?.get(i)).collect();
            stack(&parts)
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
