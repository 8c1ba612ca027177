//! Shapes and layouts.
use super::bad;
use super::message::{self, ProgramShape};
use crate::diag::quantity;
use crate::layout::{Layout, LayoutTail, SplitConfig, Tile};
use crate::{ArrayShape, Dims, ElementType, Result, Shape};

/// Numbers of `PrimitiveType` that are not element types.
const TUPLE: i32 = 13;
const OPAQUE: i32 = 14;
const TOKEN: i32 = 17;
const BUFFER: i32 = 34;

pub(crate) fn encode(shape: &Shape) -> message::Shape {
    match shape {
        Shape::Array(array) => encode_array(array),
        Shape::Tuple(elements) => message::Shape {
            element_type: TUPLE,
            tuple_shapes: elements.iter().map(encode).collect(),
            ..message::Shape::default()
        },
        Shape::Token => message::Shape { element_type: TOKEN, ..message::Shape::default() },
        Shape::Opaque => message::Shape { element_type: OPAQUE, ..message::Shape::default() },
        Shape::Buffer(array) => message::Shape {
            element_type: BUFFER,
            tuple_shapes: vec![encode_array(array)],
            ..message::Shape::default()
        },
    }
}

pub(crate) fn encode_array(array: &ArrayShape) -> message::Shape {
    message::Shape {
        element_type: array.ty.proto_number(),
        dimensions: array.dims.to_vec(),
        is_dynamic_dimension: array.dynamic.as_deref().unwrap_or_default().to_vec(),
        layout: Some(Box::new(encode_layout(&array.layout))),
        ..message::Shape::default()
    }
}

fn encode_layout(layout: &Layout) -> message::Layout {
    let minor_to_major = layout.minor_to_major.to_vec();
    let Some(tail) = layout.tail.as_deref() else {
        return message::Layout {
            minor_to_major,
            tail_padding_alignment_in_elements: 1,
            ..message::Layout::default()
        };
    };
    let number = |ty: Option<ElementType>| ty.map_or(0, ElementType::proto_number);
    message::Layout {
        minor_to_major,
        tiles: tail
            .tiles
            .iter()
            .map(|tile| message::Tile { dimensions: tile.0.to_vec() })
            .collect(),
        element_size_in_bits: tail.element_size_in_bits,
        memory_space: tail.memory_space,
        physical_shape: tail.physical_shape.as_ref().map(encode).map(Box::new),
        index_primitive_type: number(tail.index_type),
        pointer_primitive_type: number(tail.pointer_type),
        dynamic_shape_metadata_prefix_bytes: tail.dynamic_shape_metadata_prefix_bytes,
        tail_padding_alignment_in_elements: tail.tail_padding_alignment,
        split_configs: (tail.split_configs.iter())
            .map(|SplitConfig { dimension, split_indices }| message::SplitConfig {
                dimension: *dimension,
                split_indices: split_indices.clone(),
            })
            .collect(),
        ..message::Layout::default()
    }
}

pub(crate) fn decode(proto: &message::Shape) -> Result<Shape> {
    let nothing = |shape: Shape| match proto.dimensions.is_empty() && proto.tuple_shapes.is_empty()
    {
        true => Ok(shape),
        false => Err(bad(format!("the shape {shape} must have neither dimensions nor elements"))),
    };
    match proto.element_type {
        TUPLE if !proto.dimensions.is_empty() => Err(bad("a tuple shape must not have dimensions")),
        TUPLE => proto.tuple_shapes.iter().map(decode).collect::<Result<_>>().map(Shape::Tuple),
        OPAQUE => nothing(Shape::Opaque),
        TOKEN => nothing(Shape::Token),
        BUFFER => match proto.tuple_shapes.as_slice() {
            [array] => Ok(Shape::Buffer(Box::new(decode_array(array)?))),
            other => {
                Err(bad(format!("a buffer shape must have one element, found {}", other.len())))
            }
        },
        _ => decode_array(proto).map(Shape::Array),
    }
}

pub(crate) fn decode_array(proto: &message::Shape) -> Result<ArrayShape> {
    let ty = element_type(proto.element_type)?;
    if !proto.tuple_shapes.is_empty() {
        return Err(bad("an array shape must not have elements"));
    }
    let dims = Dims::from_slice(&proto.dimensions);
    let flags = proto.is_dynamic_dimension.as_slice();
    if !flags.is_empty() && flags.len() != dims.len() {
        let (found, expected) = (flags.len(), dims.len());
        return Err(bad(format!(
            "`is_dynamic_dimension` has {}, the shape has {}",
            quantity(found, "entry"),
            quantity(expected, "dimension")
        )));
    }
    for (i, &dim) in dims.iter().enumerate() {
        let unbounded = dim == ArrayShape::UNBOUNDED && flags.get(i) == Some(&true);
        if dim < 0 && !unbounded {
            return Err(bad(format!("{dim} is not the size of a dimension")));
        }
    }
    let dynamic = flags.contains(&true).then(|| flags.into());
    let layout = match &proto.layout {
        Some(layout) => decode_layout(layout, dims.len())?,
        None => Layout::descending(dims.len()),
    };
    Ok(ArrayShape { ty, dims, dynamic, layout })
}

fn element_type(number: i32) -> Result<ElementType> {
    ElementType::from_proto_number(number)
        .ok_or_else(|| bad(format!("{number} is not the number of an element type")))
}

fn decode_layout(proto: &message::Layout, rank: usize) -> Result<Layout> {
    let sparse =
        proto.dim_level_types.iter().any(|&level| level != 0) || proto.physical_shape.is_some();
    if sparse {
        return Err(bad("sparse arrays are no longer part of HLO")
            .with_help("dump the module with an XLA that writes dense layouts"));
    }
    let minor_to_major = Dims::from_slice(&proto.minor_to_major);
    if minor_to_major.len() != rank {
        let found = minor_to_major.len();
        return Err(bad(format!(
            "the layout orders {}, the shape has {rank}",
            quantity(found, "dimension")
        )));
    }
    let optional = |number: i32| (number != 0).then(|| element_type(number)).transpose();
    let at_least = |number: i64, least: i64| match number >= least {
        true => Ok(number),
        false => Err(bad(format!("expected at least {least} in a layout, found {number}"))),
    };
    let tile = |tile: &message::Tile| {
        let combine = |&size: &i64| size == Tile::COMBINE || size >= 0;
        match tile.dimensions.iter().all(combine) {
            true => Ok(Tile(Dims::from_slice(&tile.dimensions))),
            false => Err(bad("the sizes of a tile must not be negative")),
        }
    };
    let tail = LayoutTail {
        tiles: proto.tiles.iter().map(tile).collect::<Result<_>>()?,
        tail_padding_alignment: at_least(proto.tail_padding_alignment_in_elements, 0)?.max(1),
        index_type: optional(proto.index_primitive_type)?,
        pointer_type: optional(proto.pointer_primitive_type)?,
        element_size_in_bits: proto.element_size_in_bits,
        memory_space: proto.memory_space,
        split_configs: (proto.split_configs.iter())
            .map(|split| SplitConfig {
                dimension: split.dimension,
                split_indices: split.split_indices.clone(),
            })
            .collect(),
        physical_shape: None,
        dynamic_shape_metadata_prefix_bytes: at_least(
            proto.dynamic_shape_metadata_prefix_bytes,
            0,
        )?,
    };
    let tail = (tail != LayoutTail::default()).then(|| Box::new(tail));
    Ok(Layout { minor_to_major, tail })
}

/// Writes the shapes of parameters and result; a parameter without a name is `p` and its number.
pub(super) fn encode_program<'s>(
    parameters: impl IntoIterator<Item = &'s Shape>,
    names: Vec<String>,
    result: &Shape,
) -> ProgramShape {
    ProgramShape {
        parameters: parameters.into_iter().map(encode).collect(),
        result: Some(encode(result)),
        parameter_names: names,
    }
}

pub(super) fn decode_program(proto: &ProgramShape) -> Result<(Vec<Shape>, Shape)> {
    let result = proto.result.as_ref().ok_or_else(|| bad("the program shape has no result"))?;
    Ok((proto.parameters.iter().map(decode).collect::<Result<_>>()?, decode(result)?))
}
