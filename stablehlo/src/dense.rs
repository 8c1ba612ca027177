//! Values of `dense` attributes: their bytes, and splats.
use crate::ir::{Attribute, Dense, Dim, Tensor};
use hlo::{Class, ElementType};

/// Returns the number of elements of a type with static sizes, if it can be counted.
pub(crate) fn count(ty: &Tensor) -> Option<usize> {
    ty.dims.iter().try_fold(1usize, |count, dim| match dim {
        Dim::Static(size) => count.checked_mul(usize::try_from(*size).ok()?),
        Dim::Dynamic(_) => None,
    })
}
/// Returns the bytes of an element: of a number in HLO, or of an `index`.
pub(crate) fn element_bytes(ty: &Tensor) -> Option<usize> {
    match &ty.element {
        Ok(element) => Some(element.storage_bytes()),
        Err(name) => (name == "index").then_some(8),
    }
}

/// Returns the value of these bytes: those of all elements, or of one that all are equal to. None
/// if their number does not fit the type.
///
/// Booleans may be packed, eight to a byte, as some versions of MLIR store them.
pub(crate) fn from_bytes(ty: Tensor, bytes: &[u8]) -> Option<Dense> {
    let (count, size) = (count(&ty)?, element_bytes(&ty)?);
    let pred = ty.element == Ok(ElementType::Pred);
    let whole = count.checked_mul(size)?;
    if count == 0 {
        return Some(Dense { ty, bytes: Vec::new(), splat: false });
    }
    if pred && bytes == [0xff] {
        return Some(Dense { ty, bytes: vec![1], splat: count > 1 });
    }
    if pred && bytes.len() == count.div_ceil(8) && bytes.len() != count {
        let unpacked = (0..count).map(|index| bytes[index / 8] >> (index % 8) & 1).collect();
        return Some(splat_if_equal(ty, unpacked, size));
    }
    if bytes.len() == whole {
        let bytes = narrow(&ty, bytes);
        return Some(splat_if_equal(ty, bytes, size));
    }
    (bytes.len() == size).then(|| Dense { bytes: narrow(&ty, bytes), ty, splat: true })
}
/// Returns the bytes as a literal has them: 0 or 1 for booleans; narrow integers without the bits
/// beyond their width, or sign-extended.
fn narrow(ty: &Tensor, bytes: &[u8]) -> Vec<u8> {
    let Ok(element) = &ty.element else { return bytes.to_vec() };
    let spare = 8u32.saturating_sub(element.bits());
    match element.class() {
        Class::Pred => bytes.iter().map(|byte| u8::from(*byte != 0)).collect(),
        Class::Signed if spare > 0 => bytes
            .iter()
            .map(|byte| ((byte << spare).cast_signed() >> spare).cast_unsigned())
            .collect(),
        _ if spare > 0 => bytes.iter().map(|byte| byte << spare >> spare).collect(),
        _ => bytes.to_vec(),
    }
}
/// Returns the value with one element if all are equal and there are several, as MLIR has it.
pub(crate) fn splat_if_equal(ty: Tensor, mut bytes: Vec<u8>, size: usize) -> Dense {
    let splat = bytes.len() > size && bytes[size..] == bytes[..bytes.len() - size];
    if splat {
        bytes.truncate(size);
        bytes.shrink_to_fit();
    }
    Dense { ty, bytes, splat }
}

/// Returns the bytes of a value in bytecode, those that [`from_bytes`] takes: one element if all are
/// equal, narrow numbers without the bits beyond their width, booleans packed.
pub(crate) fn to_bytes(dense: &Dense) -> Vec<u8> {
    let size = element_bytes(&dense.ty).unwrap_or(1);
    let several = count(&dense.ty).is_none_or(|count| count > 1);
    let all = &dense.bytes;
    let equal = dense.splat || all.len() > size && all[size..] == all[..all.len() - size];
    let bytes = if equal { &all[..size.min(all.len())] } else { all };
    let Ok(element) = &dense.ty.element else { return bytes.to_vec() };
    match (element.class(), element.bits()) {
        (Class::Pred, _) if equal && several => vec![if bytes[0] == 0 { 0 } else { 0xff }],
        (Class::Pred, _) => {
            let pack = |eight: &[u8]| {
                let bits = eight.iter().zip(0..).map(|(byte, bit)| u8::from(*byte != 0) << bit);
                bits.fold(0, |all, bit| all | bit)
            };
            bytes.chunks(8).map(pack).collect()
        }
        (_, width @ 1..8) => bytes.iter().map(|byte| byte & (0xff >> (8 - width))).collect(),
        _ => bytes.to_vec(),
    }
}

/// Returns the elements of a list of integers in its `dense` form, as attributes had it that are
/// arrays today.
pub(crate) fn integers(value: &Attribute) -> Option<Vec<i64>> {
    let dense = match value {
        Attribute::Integers(integers) => return Some(integers.clone()),
        Attribute::Dense(dense) => dense,
        _ => return None,
    };
    let size = element_bytes(&dense.ty)?;
    let signed = match &dense.ty.element {
        Ok(element) => element.class() == Class::Signed,
        Err(_) => true,
    };
    let read = |bytes: &[u8]| {
        let negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(i64::from_le_bytes(wide))
    };
    let elements: Option<Vec<i64>> = dense.bytes.chunks_exact(size).map(read).collect();
    let mut elements = elements?;
    if dense.splat {
        // A list of sizes or dimensions has an element for each dimension of a tensor.
        let count = count(&dense.ty).filter(|&count| count <= 1 << 16)?;
        elements.resize(count, *elements.first()?);
    }
    Some(elements)
}
