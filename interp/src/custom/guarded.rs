//! Values in the form that a function in C expects, between guards that show whether it wrote
//! beside them.
use crate::Result;
use hlo::{ArrayShape, Dims, ElementType, Literal, Shape};
use num::index;
use num::index::{offset_list, to_usize};
use std::ffi::c_void;

/// Words of a guard, before and after the elements.
const GUARD: usize = 64;
/// The filling of a guard: a number that no array is likely to be.
const PATTERN: u128 = 0xc3a5_5a3c_9669_96d2_e17b_b71e_2dd2_4bb4;
const WORD: usize = size_of::<u128>();

/// The memory of a value.
pub(super) enum Memory {
    /// Elements in the order of the layout between two guards, in 16-byte words so that they are
    /// aligned for every type.
    Array(ArrayShape, Vec<u128>),
    /// The elements, and pointers to them.
    Tuple(Vec<Memory>, Vec<*mut c_void>),
}

impl Memory {
    /// Returns memory of this shape that holds the value, or zeros.
    pub(super) fn of(shape: &Shape, value: Option<&Literal>) -> Result<Self> {
        let Shape::Array(array) = shape else {
            let shapes = shape.tuple().unwrap_or_default();
            let element = |i: usize| value.and_then(|value| value.elements()?.get(i));
            let elements = shapes.iter().enumerate().map(|(i, shape)| Self::of(shape, element(i)));
            return Ok(Self::Tuple(elements.collect::<Result<_>>()?, Vec::new()));
        };
        let bytes = num::array::checked_bytes(array)?;
        let mut words = vec![PATTERN; bytes.div_ceil(WORD) + 2 * GUARD];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut words[GUARD..]);
        let memory = &mut memory[..bytes];
        memory.fill(0);
        if let Some(value) = value {
            let (from, width) = (value.bytes(), array.ty.storage_bytes());
            if is_row_major(array) {
                memory.copy_from_slice(from);
            } else {
                for (element, &at) in from.chunks_exact(width).zip(&offsets(array)) {
                    memory[at * width..][..width].copy_from_slice(element);
                }
            }
        }
        Ok(Self::Array(array.clone(), words))
    }
    /// Returns the pointer that the function gets.
    pub(super) fn pointer(&mut self) -> *mut c_void {
        match self {
            Self::Array(_, words) => words[GUARD..].as_mut_ptr().cast(),
            Self::Tuple(elements, pointers) => {
                *pointers = elements.iter_mut().map(Self::pointer).collect();
                pointers.as_mut_ptr().cast()
            }
        }
    }
    /// Returns whether the guards are as they were.
    pub(super) fn is_intact(&self) -> bool {
        match self {
            Self::Array(shape, words) => {
                let pattern = PATTERN.to_ne_bytes();
                let memory: &[u8] = bytemuck::cast_slice(words);
                let end = GUARD * WORD + shape.byte_count().unwrap_or(0);
                let is_pattern = |(i, &byte): (usize, &u8)| byte == pattern[i % WORD];
                memory[..GUARD * WORD].iter().enumerate().all(is_pattern)
                    && memory.iter().enumerate().skip(end).all(is_pattern)
            }
            Self::Tuple(elements, _) => elements.iter().all(Self::is_intact),
        }
    }
    /// Returns the value that the memory holds, or what is wrong with it.
    pub(super) fn literal(self) -> std::result::Result<Literal, String> {
        match self {
            Self::Array(shape, words) => {
                let width = shape.ty.storage_bytes();
                let memory: &[u8] = bytemuck::cast_slice(&words[GUARD..]);
                let memory = &memory[..shape.byte_count().unwrap_or(0)];
                if shape.ty == ElementType::Pred
                    && let Some(byte) = memory.iter().find(|&&byte| byte > 1)
                {
                    return Err(format!("it wrote {byte} as a `pred`, which is 0 or 1"));
                }
                let is_row_major = is_row_major(&shape);
                let offsets = if is_row_major { Vec::new() } else { offsets(&shape) };
                let mut result = Literal::zeros(shape);
                if is_row_major {
                    result.bytes_mut().copy_from_slice(memory);
                } else {
                    for (to, &at) in result.bytes_mut().chunks_exact_mut(width).zip(&offsets) {
                        to.copy_from_slice(&memory[at * width..][..width]);
                    }
                }
                Ok(result)
            }
            Self::Tuple(elements, _) => {
                let elements: std::result::Result<_, _> =
                    elements.into_iter().map(Self::literal).collect();
                elements.map(Literal::tuple)
            }
        }
    }
}

/// Returns whether memory has the elements in the order in which literals have them.
fn is_row_major(shape: &ArrayShape) -> bool {
    shape.layout.minor_to_major.iter().rev().copied().eq(0..index::to_i64(shape.rank()))
}

/// Returns the memory offset of each element under the layout, in row-major order of the elements.
fn offsets(shape: &ArrayShape) -> Vec<usize> {
    let order: Vec<usize> =
        shape.layout.minor_to_major.iter().rev().map(|&d| to_usize(d)).collect();
    let sizes: Dims = order.iter().map(|&d| shape.dims[d]).collect();
    let mut strides: Dims = shape.dims.clone();
    for (&d, &stride) in order.iter().zip(&index::strides(&sizes)) {
        strides[d] = stride;
    }
    offset_list(&shape.dims, &strides)
}
