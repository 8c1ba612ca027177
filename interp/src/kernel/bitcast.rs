//! `bitcast`: the operand's memory under another shape, type and layout.
//!
//! Values have no layout anywhere else; here the operand is laid out in memory as its layout says, and the memory is read
//! as the result's layout says:
//!
//! - `{1,0}` lists dimensions from the one that varies fastest. Without more, elements lie one after the other.
//! - `T(a,b)(c,d)` are tiles. The last dimensions are cut into blocks of a by b elements, each block lies in one piece,
//!   and the blocks follow each other in the order of their indices; `(c,d)` cuts the result again. A tile dimension `*`
//!   merges its dimension with the next before they are cut. What a block lacks at an edge is padding.
//! - `E(n)` gives an element n bits. Without it an element takes its own width, types of fewer than 8 bits a byte of which
//!   they use the low bits. Elements are little-endian, and the first of several in a byte is the least significant.
//! - `L(n)` adds padding at the end, `S(n)` names a memory: neither changes where an element lies.
//!
//! For equal types in the default layout that is a reshape. Between widths the first narrow element is the least
//! significant part of the wide one.
//!
//! **Undefined.** Padding, and the bits of a byte that a narrow element does not use, have no defined contents. A bitcast
//! that reads them is `E0402`, and so is one through a layout that does not say where an element lies: split over
//! memories, sparse, or with a shape of its own.
use super::data_movement::{affine, in_memory_order, physical_strides};
use crate::index::{indices, to_i64, to_usize};
use crate::{Error, Result};
use hlo::layout::{LayoutTail, Tile};
use hlo::{ArrayShape, Literal, Scalar};

pub(super) fn bitcast(operand: &Literal, shape: &ArrayShape) -> Result<Literal> {
    let from = operand.array_shape().expect("verified: an array");
    let (old, new) = (from.ty, shape.ty);
    let plain = [from, shape].iter().all(|s| s.layout.tail.as_deref().is_none_or(is_plain));
    // Narrow elements and booleans are stored wider than they count, so their bytes are not their memory.
    let whole = old == new
        || (old.bits() >= 8 && old.bits() == new.bits() && new != hlo::ElementType::Pred);
    if plain && whole && Some(operand.len()) == shape.element_count() {
        let ordered = in_memory_order(operand, from);
        let flat = ArrayShape::new(shape.ty, [to_i64(operand.len())].as_slice());
        return Ok(affine(&ordered.with_shape(flat), shape, 0, &physical_strides(shape)));
    }
    Memory::of(operand, from)?.read(shape)
}

/// Whether a layout only orders dimensions.
fn is_plain(tail: &LayoutTail) -> bool {
    tail.tiles.is_empty() && tail.element_size_in_bits == 0 && strange(tail).is_none()
}

/// Why a layout does not say where an element lies.
fn strange(tail: &LayoutTail) -> Option<&'static str> {
    if !tail.split_configs.is_empty() {
        Some("is split over memories")
    } else if tail.index_type.is_some() || tail.pointer_type.is_some() {
        Some("holds indices or pointers")
    } else if tail.physical_shape.is_some() {
        Some("has a physical shape of its own")
    } else if tail.dynamic_shape_metadata_prefix_bytes != 0 {
        Some("begins with its sizes")
    } else {
        None
    }
}

fn unsupported(shape: &ArrayShape, reason: &str) -> Error {
    Error::unsupported(format!("a bitcast cannot go through {shape}: its memory {reason}"))
}

/// Bytes, and which of their bits are defined.
struct Memory {
    bytes: Vec<u8>,
    defined: Vec<u8>,
}

impl Memory {
    /// The memory of an array.
    fn of(operand: &Literal, shape: &ArrayShape) -> Result<Self> {
        let (bits, slots, total) = places(shape)?;
        let size = total.checked_mul(bits).ok_or_else(|| unsupported(shape, "is too large"))?;
        let size = size.div_ceil(8);
        let mut memory = Self { bytes: vec![0; size], defined: vec![0; size] };
        let width = shape.ty.storage_bytes();
        for (&slot, element) in slots.iter().zip(operand.bytes().chunks_exact(width)) {
            let mut value = Scalar::bits(shape.ty, element);
            let count = to_usize(i64::from(shape.ty.bits())).min(bits);
            each_byte(slot * bits, count, |byte, mask, shift, taken| {
                let [low, ..] = (value << shift).to_le_bytes();
                memory.bytes[byte] |= low & mask;
                memory.defined[byte] |= mask;
                value >>= taken;
            });
        }
        Ok(memory)
    }

    /// The memory as an array.
    fn read(&self, shape: &ArrayShape) -> Result<Literal> {
        let (bits, slots, _) = places(shape)?;
        let mut result = Literal::zeros(shape.clone());
        let width = shape.ty.storage_bytes();
        let mut undefined = false;
        for (&slot, element) in slots.iter().zip(result.bytes_mut().chunks_exact_mut(width)) {
            let (mut value, mut at) = (0u128, 0);
            let count = to_usize(i64::from(shape.ty.bits())).min(bits);
            each_byte(slot * bits, count, |byte, mask, shift, taken| {
                undefined |= self.defined.get(byte).is_none_or(|defined| defined & mask != mask);
                let found = self.bytes.get(byte).map_or(0, |byte| (byte & mask) >> shift);
                value |= u128::from(found) << at;
                at += taken;
            });
            Scalar::set_bits(shape.ty, value, element);
        }
        if undefined {
            return Err(unsupported(shape, "reaches bits of the operand that are padding"));
        }
        Ok(result)
    }
}

/// Visits the bytes that some bits lie in: number, mask, the first bit's place in it, and how many bits it holds.
fn each_byte(start: usize, count: usize, mut visit: impl FnMut(usize, u8, usize, usize)) {
    let (mut at, end) = (start, start + count);
    while at < end {
        let shift = at % 8;
        let taken = (8 - shift).min(end - at);
        let mask = u8::MAX >> (8 - taken) << shift;
        visit(at / 8, mask, shift, taken);
        at += taken;
    }
}

/// Bits of an element's place, the number of each element's place, and how many places there are.
fn places(shape: &ArrayShape) -> Result<(usize, Vec<usize>, usize)> {
    let default = LayoutTail::default();
    let tail = shape.layout.tail.as_deref().unwrap_or(&default);
    if let Some(reason) = strange(tail) {
        return Err(unsupported(shape, reason));
    }
    let own = i64::from(shape.ty.bits());
    let bits = if tail.element_size_in_bits == 0 { own.max(8) } else { tail.element_size_in_bits };
    if bits < own {
        return Err(unsupported(shape, "has less room than its elements take"));
    }
    let order: Vec<usize> =
        shape.layout.minor_to_major.iter().rev().map(|&d| to_usize(d)).collect();
    let sizes: Vec<i64> = order.iter().map(|&d| shape.dims[d]).collect();
    let cut = |index: Vec<i64>| {
        let mut cut: Vec<(i64, i64)> = sizes.iter().copied().zip(index).collect();
        for tile in &tail.tiles {
            cut = cut_by(cut, tile)?;
        }
        cut.iter().try_fold((1i64, 0i64), |(count, at), &(size, i)| {
            Some((count.checked_mul(size)?, at.checked_mul(size)?.checked_add(i)?))
        })
    };
    let wrong = || unsupported(shape, "is cut into tiles that make no sense");
    let (total, _) = cut(vec![0; sizes.len()]).ok_or_else(wrong)?;
    let mut slots = Vec::with_capacity(shape.element_count().unwrap_or(0));
    indices(&shape.dims, |index| {
        let place = cut(order.iter().map(|&d| index[d]).collect());
        slots.push(to_usize(place.map_or(0, |(_, at)| at)));
    });
    Ok((to_usize(bits), slots, to_usize(total)))
}

/// Dimensions, with an index each, after their last ones have been cut by a tile.
fn cut_by(mut dims: Vec<(i64, i64)>, Tile(tile): &Tile) -> Option<Vec<(i64, i64)>> {
    while dims.len() < tile.len() {
        dims.insert(0, (1, 0));
    }
    let inner = dims.split_off(dims.len() - tile.len());
    let mut merged = (1i64, 0i64);
    let (mut blocks, mut within) = (Vec::new(), Vec::new());
    for ((size, i), &edge) in inner.into_iter().zip(tile) {
        let (outer, at) = merged;
        let (size, i) = (size.checked_mul(outer)?, i + at * size);
        if edge == Tile::COMBINE {
            merged = (size, i);
            continue;
        }
        merged = (1, 0);
        if edge <= 0 {
            return None;
        }
        blocks.push((size.checked_add(edge - 1)? / edge, i / edge));
        within.push((edge, i % edge));
    }
    dims.extend(blocks);
    dims.extend(within);
    Some(dims)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(shape: &str) -> Vec<usize> {
        let shape: hlo::Shape = shape.parse().unwrap();
        places(shape.array().unwrap()).unwrap().1
    }

    #[test]
    fn tiles_lie_in_one_piece() {
        assert_eq!(slots("u8[2,4]{1,0:T(2,2)}"), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(slots("u8[3,3]{1,0:T(2,2)}"), [0, 1, 4, 2, 3, 6, 8, 9, 12]);
        assert_eq!(slots("u8[4,2]{1,0:T(4,2)(2,1)}"), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(slots("u8[2,2,2]{2,1,0:T(*,2,2)}"), slots("u8[2,2,2]{2,1,0:T(2,2)}"));
    }
}
