//! Prints shapes and layouts.
use crate::layout::{Layout, LayoutTail, Tile};
use crate::text::number::{push_int, push_ints};
use crate::{ArrayShape, Shape};

/// Appends a shape, with layouts if `layouts`.
pub(crate) fn shape(out: &mut String, shape: &Shape, layouts: bool) {
    match shape {
        Shape::Array(array) => array_shape(out, array, layouts),
        Shape::Tuple(elements) => {
            out.push('(');
            for (i, element) in elements.iter().enumerate() {
                separator(out, i);
                self::shape(out, element, layouts);
            }
            out.push(')');
        }
        Shape::Token => out.push_str("token[]"),
        Shape::Opaque => out.push_str("opaque[]"),
        Shape::Buffer(array) => {
            out.push_str("b(");
            array_shape(out, array, layouts);
            out.push(')');
        }
    }
}

/// Appends the separator before item `i` of a long list: `, `, and its index at every fifth.
pub(crate) fn separator(out: &mut String, i: usize) {
    const MARKED: usize = 5;
    if i == 0 {
        return;
    }
    out.push_str(", ");
    if i.is_multiple_of(MARKED) {
        out.push_str("/*index=");
        push_int(out, i64::try_from(i).unwrap_or(i64::MAX));
        out.push_str("*/");
    }
}

/// Appends the shape of an array, with its layout if `layouts`.
pub(crate) fn array_shape(out: &mut String, array: &ArrayShape, layouts: bool) {
    out.push_str(array.ty.name());
    out.push('[');
    for (i, &size) in array.dims.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        if size == ArrayShape::UNBOUNDED {
            out.push('?');
            continue;
        }
        if array.is_dynamic(i) {
            out.push_str("<=");
        }
        push_int(out, size);
    }
    out.push(']');
    // The layout of a scalar is printed only if something follows the order of dimensions.
    let shown = !array.dims.is_empty() || array.layout.tail.as_deref().is_some_and(has_fields);
    if layouts && shown {
        layout(out, &array.layout);
    }
}

/// Appends a layout with its braces.
fn layout(out: &mut String, layout: &Layout) {
    out.push('{');
    push_ints(out, &layout.minor_to_major);
    if let Some(tail) = layout.tail.as_deref().filter(|tail| has_fields(tail)) {
        out.push(':');
        layout_tail(out, tail);
    }
    out.push('}');
}

fn has_fields(tail: &LayoutTail) -> bool {
    *tail != LayoutTail::default()
}

fn layout_tail(out: &mut String, tail: &LayoutTail) {
    let number = |out: &mut String, name: &str, value: i64, default: i64| {
        if value != default {
            out.push_str(name);
            out.push('(');
            push_int(out, value);
            out.push(')');
        }
    };
    tiles(out, &tail.tiles);
    number(out, "L", tail.tail_padding_alignment, 1);
    for (sign, ty) in [("#(", tail.index_type), ("*(", tail.pointer_type)] {
        if let Some(ty) = ty {
            out.push_str(sign);
            out.push_str(ty.name());
            out.push(')');
        }
    }
    number(out, "E", tail.element_size_in_bits, 0);
    number(out, "S", tail.memory_space, 0);
    if !tail.split_configs.is_empty() {
        out.push_str("SC");
    }
    for split in &tail.split_configs {
        out.push('(');
        push_int(out, split.dimension);
        out.push(':');
        push_ints(out, &split.split_indices);
        out.push(')');
    }
    if let Some(physical) = &tail.physical_shape {
        out.push_str("P(");
        shape(out, physical, true);
        out.push(')');
    }
    number(out, "M", tail.dynamic_shape_metadata_prefix_bytes, 0);
}

fn tiles(out: &mut String, tiles: &[Tile]) {
    if !tiles.is_empty() {
        out.push('T');
    }
    for Tile(dims) in tiles {
        out.push('(');
        for (i, &dim) in dims.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            if dim == Tile::COMBINE {
                out.push('*');
            } else {
                push_int(out, dim);
            }
        }
        out.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dims, ElementType};

    #[test]
    fn integers() {
        for n in [0, 7, 10, 42, 99, 100, 255, 256, -1, -10, i64::MAX, i64::MIN] {
            let mut out = String::new();
            push_int(&mut out, n);
            assert_eq!(out, n.to_string());
        }
    }
    #[test]
    fn layouts_can_be_left_out() {
        let inner = ArrayShape::new(ElementType::F32, Dims::from_slice(&[2, 3]));
        let all = Shape::Tuple(vec![inner.clone().into(), Shape::Buffer(Box::new(inner))]);
        let mut out = String::new();
        shape(&mut out, &all, false);
        assert_eq!(out, "(f32[2,3], b(f32[2,3]))");
        assert_eq!(all.to_string(), "(f32[2,3]{1,0}, b(f32[2,3]{1,0}))");
    }
    #[test]
    fn a_default_tail_is_not_printed() {
        let mut array = ArrayShape::new(ElementType::F32, Dims::new());
        array.layout.tail = Some(Box::default());
        assert_eq!(array.to_string(), "f32[]");
    }
    #[test]
    fn every_fifth_element_is_numbered() {
        let scalar = Shape::scalar(ElementType::Pred);
        let text = Shape::Tuple(vec![scalar; 11]).to_string();
        assert!(text.starts_with("(pred[], pred[], pred[], pred[], pred[], /*index=5*/pred[],"));
        assert!(text.ends_with(", /*index=10*/pred[])"));
    }
}
