//! Literals: the elements in the order of the layout, in a list of their type or as bytes.
use super::message;
use super::{bad, shape};
use crate::diag::quantity;
use crate::elem::Class;
use crate::{Array, ArrayShape, Dims, ElementType, IndexSpace, Literal, Result, Shape};
use prost::Message;
use std::mem::take;

/// The field that holds elements of a type.
enum Elements<'m> {
    Pred(&'m mut Vec<bool>),
    S32(&'m mut Vec<i32>),
    S64(&'m mut Vec<i64>),
    U32(&'m mut Vec<u32>),
    U64(&'m mut Vec<u64>),
    F32(&'m mut Vec<f32>),
    F64(&'m mut Vec<f64>),
    /// One byte for each element of fewer than 8 bits.
    Bytes(&'m mut Vec<u8>),
}

impl<'m> Elements<'m> {
    fn of(ty: ElementType, proto: &'m mut message::Literal) -> Self {
        use ElementType as T;
        match ty {
            T::Pred => Self::Pred(&mut proto.preds),
            T::S1 => Self::Bytes(&mut proto.s1s),
            T::S2 => Self::Bytes(&mut proto.s2s),
            T::S4 => Self::Bytes(&mut proto.s4s),
            T::S8 => Self::Bytes(&mut proto.s8s),
            T::S16 => Self::Bytes(&mut proto.s16s),
            T::S32 => Self::S32(&mut proto.s32s),
            T::S64 => Self::S64(&mut proto.s64s),
            T::U1 => Self::Bytes(&mut proto.u1s),
            T::U2 => Self::Bytes(&mut proto.u2s),
            T::U4 => Self::Bytes(&mut proto.u4s),
            T::U8 => Self::Bytes(&mut proto.u8s),
            T::U16 => Self::Bytes(&mut proto.u16s),
            T::U32 => Self::U32(&mut proto.u32s),
            T::U64 => Self::U64(&mut proto.u64s),
            T::F16 => Self::Bytes(&mut proto.f16s),
            T::Bf16 => Self::Bytes(&mut proto.bf16s),
            T::F32 => Self::F32(&mut proto.f32s),
            T::F64 => Self::F64(&mut proto.f64s),
            T::F8E5M2 => Self::Bytes(&mut proto.f8e5m2s),
            T::F8E4M3 => Self::Bytes(&mut proto.f8e4m3s),
            T::F8E3M4 => Self::Bytes(&mut proto.f8e3m4s),
            T::F8E4M3Fn => Self::Bytes(&mut proto.f8e4m3fns),
            T::F8E4M3B11Fnuz => Self::Bytes(&mut proto.f8e4m3b11fnuzs),
            T::F8E5M2Fnuz => Self::Bytes(&mut proto.f8e5m2fnuzs),
            T::F8E4M3Fnuz => Self::Bytes(&mut proto.f8e4m3fnuzs),
            T::F8E8M0Fnu => Self::Bytes(&mut proto.f8e8m0fnus),
            T::F6E3M2Fn => Self::Bytes(&mut proto.f6e3m2fns),
            T::F6E2M3Fn => Self::Bytes(&mut proto.f6e2m3fns),
            T::F4E2M1Fn => Self::Bytes(&mut proto.f4e2m1fns),
            T::C64 => Self::F32(&mut proto.c64s),
            T::C128 => Self::F64(&mut proto.c128s),
        }
    }
    fn set(self, bytes: Vec<u8>) {
        use bytemuck::pod_collect_to_vec as collect;
        match self {
            Self::Pred(field) => *field = bytes.iter().map(|&byte| byte != 0).collect(),
            Self::S32(field) => *field = collect(&bytes),
            Self::S64(field) => *field = collect(&bytes),
            Self::U32(field) => *field = collect(&bytes),
            Self::U64(field) => *field = collect(&bytes),
            Self::F32(field) => *field = collect(&bytes),
            Self::F64(field) => *field = collect(&bytes),
            Self::Bytes(field) => *field = bytes,
        }
    }
    fn take(self) -> Vec<u8> {
        use bytemuck::cast_slice;
        match self {
            Self::Pred(field) => take(field).into_iter().map(u8::from).collect(),
            Self::S32(field) => cast_slice(&take(field)).to_vec(),
            Self::S64(field) => cast_slice(&take(field)).to_vec(),
            Self::U32(field) => cast_slice(&take(field)).to_vec(),
            Self::U64(field) => cast_slice(&take(field)).to_vec(),
            Self::F32(field) => cast_slice(&take(field)).to_vec(),
            Self::F64(field) => cast_slice(&take(field)).to_vec(),
            Self::Bytes(field) => take(field),
        }
    }
}

pub(crate) fn encode(literal: &Literal) -> Result<message::Literal> {
    let mut proto = message::Literal::default();
    let Literal::Array(array) = literal else {
        proto.shape = Some(shape::encode(&literal.shape()));
        let elements = literal.elements().unwrap_or_default();
        let message = |element| Ok(encode(element)?.encode_to_vec().into());
        proto.tuple_literals = elements.iter().map(message).collect::<Result<_>>()?;
        return Ok(proto);
    };
    let (shape, bytes) = (array.shape(), array.bytes());
    proto.shape = Some(shape::encode_array(shape));
    if shape.dynamic.is_some() {
        let sizes = array.sizes().iter().map(|&size| super::limit(size));
        proto.dynamic_sizes = sizes.collect::<Result<_>>()?;
    }
    let bytes = match shape.layout.is_descending() {
        true => bytes.to_vec(),
        false => reorder(shape, bytes, Reordering::ToLayout)?,
    };
    Elements::of(shape.ty, &mut proto).set(bytes);
    Ok(proto)
}

/// Returns whether the message has a shape of elements, but no elements.
pub(crate) fn is_elided(proto: &message::Literal) -> bool {
    let Some(shape) = &proto.shape else { return false };
    let empty = message::Literal { shape: Some(shape.clone()), ..message::Literal::default() };
    proto.encoded_len() == empty.encoded_len() && !shape.dimensions.contains(&0)
}

pub(crate) fn decode(proto: message::Literal) -> Result<Literal> {
    decode_at(proto, 0)
}

/// Decodes a literal inside of `depth` tuples. The elements of a tuple are messages until their
/// turn comes: a message takes hundreds of bytes, and two in the file may state it.
fn decode_at(mut proto: message::Literal, depth: usize) -> Result<Literal> {
    let of = proto.shape.take().ok_or_else(|| bad("a literal has no shape"))?;
    if !proto.sparse_indices.is_empty() {
        return Err(bad("sparse arrays are no longer part of HLO"));
    }
    match shape::decode(&of)? {
        Shape::Array(array) => decode_array(array, proto),
        Shape::Token => Ok(Literal::token()),
        Shape::Tuple(shapes) => {
            let elements = take(&mut proto.tuple_literals);
            let (found, count) = (elements.len(), shapes.len());
            let expected = Shape::Tuple(shapes);
            if found != count {
                return Err(bad(format!(
                    "a literal of shape {expected:#} has {}",
                    quantity(found, "element")
                )));
            }
            if depth >= Shape::NESTING_LIMIT {
                return Err(bad(format!("a literal is inside of {depth} tuples")));
            }
            let element = |bytes| {
                let proto = message::Literal::decode(bytes);
                decode_at(proto.map_err(|e| bad(format!("LiteralProto: {e}")))?, depth + 1)
            };
            let tuple = Literal::tuple(elements.into_iter().map(element).collect::<Result<_>>()?);
            match tuple.shape().compatible(&expected) {
                true => Ok(tuple),
                false => Err(bad(format!(
                    "a literal of shape {expected:#} has elements of shape {:#}",
                    tuple.shape()
                ))),
            }
        }
        other @ (Shape::Opaque | Shape::Buffer(_)) => {
            Err(bad(format!("a literal cannot have the shape {other:#}")))
        }
    }
}

fn decode_array(array: ArrayShape, mut proto: message::Literal) -> Result<Literal> {
    let mut bytes = Elements::of(array.ty, &mut proto).take();
    if array.byte_count() != Some(bytes.len()) {
        let found = bytes.len() / array.ty.storage_bytes();
        return Err(bad(format!(
            "a literal of shape {array:#} has {}",
            quantity(found, "element")
        )));
    }
    let is_row_major = array.layout.is_descending() && array.layout.is_permutation(array.rank());
    if !is_row_major {
        bytes = reorder(&array, &bytes, Reordering::FromLayout)?;
    }
    clean(array.ty, &mut bytes);
    let sizes = take(&mut proto.dynamic_sizes);
    let is_dynamic = array.dynamic.is_some() && !sizes.is_empty();
    let sizes: Dims = sizes.into_iter().map(i64::from).collect();
    let fits = sizes.len() == array.rank()
        && sizes.iter().zip(&array.dims).all(|(&size, &bound)| (0..=bound).contains(&size));
    if is_dynamic && !fits {
        return Err(bad(format!("{sizes:?} are not sizes of {array:#}")));
    }
    let array = Array::from_bytes(array, &bytes).expect("the number of bytes has been checked");
    Ok(if is_dynamic { array.with_sizes(&sizes) } else { array }.into())
}

/// Extends elements of fewer than 8 bits to the byte they are stored in.
fn clean(ty: ElementType, bytes: &mut [u8]) {
    let unused = 8u32.saturating_sub(ty.bits());
    if unused == 0 {
        return;
    }
    for byte in bytes {
        let high = *byte << unused;
        *byte = match ty.class() {
            Class::Signed => (high.cast_signed() >> unused).cast_unsigned(),
            Class::Pred | Class::Unsigned | Class::Float | Class::Complex => high >> unused,
        };
    }
}

#[derive(Clone, Copy)]
enum Reordering {
    ToLayout,
    FromLayout,
}

/// Moves elements from row-major order to that of the layout, or back.
///
/// # Errors
/// If the layout does not list every dimension once.
fn reorder(array: &ArrayShape, bytes: &[u8], direction: Reordering) -> Result<Vec<u8>> {
    let strides = array
        .layout
        .strides(&array.dims)
        .ok_or_else(|| bad(format!("the layout of {array} does not name each dimension once")))?;
    let width = array.ty.storage_bytes();
    let (mut out, mut row_major) = (vec![0; bytes.len()], 0);
    array.dims.offsets(0, &strides, |at| {
        let at = usize::try_from(at).unwrap_or(0) * width;
        let (from, to) = match direction {
            Reordering::ToLayout => (row_major, at),
            Reordering::FromLayout => (at, row_major),
        };
        out[to..to + width].copy_from_slice(&bytes[from..from + width]);
        row_major += width;
    });
    Ok(out)
}
