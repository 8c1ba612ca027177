//! Buffers: values on a device, and their conversion from and to literals.
#![expect(unsafe_code, reason = "calls the C API")]
use super::client::RawClient;
use super::error::{call, slice};
use super::{Error, Result, Status};
use crate::buffer_type::{TOKEN, buffer_type, element_type};
use crate::sys::{self, Api, Header};
use hlo::{ArrayShape, Dims, Literal, Shape};
use std::ffi::c_void;

/// A buffer, destroyed on drop.
pub(super) struct Buffer<'c> {
    client: &'c RawClient,
    pub(super) buffer: *mut c_void,
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        let arguments = sys::BufferDestroy { buffer: self.buffer, ..sys::BufferDestroy::default() };
        // SAFETY: this is the last use. A buffer that an execution consumed is still destroyed by its owner.
        let _ = unsafe { call(self.client.api, arguments) };
    }
}

impl<'c> Buffer<'c> {
    /// Takes over a buffer that an execution returned.
    pub(super) fn new(client: &'c RawClient, buffer: *mut c_void) -> Self {
        Self { client, buffer }
    }
    /// Copies an array to a device. Types of fewer than 8 bits travel as one byte per element, as a literal has them.
    pub(super) fn from_literal(
        client: &'c RawClient,
        device: *mut c_void,
        literal: &Literal,
    ) -> Result<Self> {
        let (ty, dims, bytes) = match literal.shape() {
            Shape::Array(_) if literal.dynamic_sizes().is_some() => {
                return Err(Error::Unsupported("an argument has dynamic sizes".to_owned()));
            }
            Shape::Array(shape) => (buffer_type(shape.ty), shape.dims.to_vec(), literal.bytes()),
            shape @ (Shape::Token | Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_)) => {
                return Err(Error::Unsupported(format!("an argument has shape {shape}")));
            }
        };
        let arguments = sys::ClientBufferFromHostBuffer {
            client: client.client,
            data: bytes.as_ptr().cast(),
            ty,
            dims: dims.as_ptr(),
            num_dims: dims.len(),
            // 0: the plugin reads the data during the call only.
            host_buffer_semantics: 0,
            device,
            ..sys::ClientBufferFromHostBuffer::default()
        };
        // SAFETY: the client and the device are alive; the data has the size of the shape and lives until the call returns.
        let made = unsafe { call(client.api, arguments) }?;
        let buffer = Self::new(client, made.buffer);
        // SAFETY: the event is that of the call, and used once.
        unsafe { wait(client.api, made.done_with_host_buffer) }?;
        Ok(buffer)
    }
    /// Copies an array or a token from its device. An array of dynamic size is one of the size that it has.
    pub(super) fn to_literal(&self) -> Result<Literal> {
        let Some(shape) = self.shape()? else { return Ok(Literal::token()) };
        // Before the bytes: the plugin computes the sizes when the buffer is ready, and the number of bytes follows from them.
        let Some(sizes) = self.dynamic_sizes(&shape)? else { return self.array(shape) };
        self.array(ArrayShape { dims: sizes, ..shape })
    }
    /// Copies an array of this shape.
    fn array(&self, shape: ArrayShape) -> Result<Literal> {
        let minor_to_major: Vec<i64> = (0i64..).take(shape.dims.len()).collect();
        let minor_to_major: Vec<i64> = minor_to_major.into_iter().rev().collect();
        let bytes = self.row_major_bytes(&minor_to_major)?;
        // The array on the device may have padding behind its elements.
        let wanted = shape.byte_count().unwrap_or(usize::MAX);
        let shown = shape.to_string();
        bytes
            .get(..wanted)
            .and_then(|bytes| Literal::from_bytes(shape, bytes))
            .map(|literal| canonical(&literal))
            .ok_or_else(|| {
                Error::Result(format!(
                    "a result of shape {shown} has {} bytes, expected {wanted}",
                    bytes.len()
                ))
            })
    }

    /// Returns the shape; `None` for a token.
    fn shape(&self) -> Result<Option<ArrayShape>> {
        let (api, buffer) = (self.client.api, self.buffer);
        let ty = sys::BufferElementType { buffer, ..sys::BufferElementType::default() };
        // SAFETY: the buffer is alive.
        let ty = unsafe { call(api, ty) }?.ty;
        if ty == TOKEN {
            return Ok(None);
        }
        let arguments = sys::BufferDimensions { buffer, ..sys::BufferDimensions::default() };
        // SAFETY: the buffer is alive, and its list of dimensions lives as long.
        let dims = unsafe {
            let found = call(api, arguments)?;
            slice(found.dims, found.num_dims)
        };
        let element = element_type(ty)
            .ok_or_else(|| Error::Unsupported(format!("a result has the unknown type {ty}")))?;
        Ok(Some(ArrayShape::new(element, dims)))
    }
    /// Returns the sizes of an array, if it has dynamic dimensions.
    fn dynamic_sizes(&self, bounds: &ArrayShape) -> Result<Option<Dims>> {
        let (api, buffer) = (self.client.api, self.buffer);
        let count = sys::BufferDynamicDimensionIndices { buffer, ..Default::default() };
        // SAFETY: the buffer is alive.
        let count = match unsafe { call(api, count) } {
            Ok(found) => found.num_dynamic_dims,
            // A plugin without dynamic dimensions needs no functions for them.
            Err(Error::Missing(_)) => 0,
            Err(Error::Plugin { status: Status::UNIMPLEMENTED, .. }) => 0,
            Err(error) => return Err(error),
        };
        if count == 0 {
            return Ok(None);
        }
        let sizes = sys::BufferUnpaddedDimensions { buffer, ..Default::default() };
        // SAFETY: the buffer is alive, and its list of sizes lives as long.
        let sizes = unsafe {
            let found = call(api, sizes)?;
            slice(found.unpadded_dims, found.num_dims)
        };
        let fits = sizes.len() == bounds.rank()
            && sizes.iter().zip(&bounds.dims).all(|(size, bound)| (0..=*bound).contains(size));
        match fits {
            true => Ok(Some(Dims::from_slice(sizes))),
            false => {
                Err(Error::Result(format!("a result of shape {bounds} has the sizes {sizes:?}")))
            }
        }
    }
    /// Copies the bytes in row-major order, whatever the layout on the device.
    fn row_major_bytes(&self, minor_to_major: &[i64]) -> Result<Vec<u8>> {
        let mut layout = sys::MemoryLayout {
            header: Header::of::<sys::MemoryLayout>(),
            tiled: sys::Tiled {
                header: Header::of::<sys::Tiled>(),
                minor_to_major: minor_to_major.as_ptr(),
                minor_to_major_size: minor_to_major.len(),
                tile_dims: std::ptr::null(),
                tile_dim_sizes: std::ptr::null(),
                num_tiles: 0,
            },
            kind: 0,
        };
        let arguments = |destination: *mut c_void, destination_size| sys::BufferToHostBuffer {
            buffer: self.buffer,
            destination,
            destination_size,
            ..sys::BufferToHostBuffer::default()
        };
        let size = sys::BufferToHostBuffer {
            host_layout: &raw mut layout,
            ..arguments(std::ptr::null_mut(), 0)
        };
        // SAFETY: the buffer is alive; without a destination the call only returns the size.
        let size = unsafe { call(self.client.api, size) }?.destination_size;
        let mut bytes = vec![0u8; size];
        let copy = sys::BufferToHostBuffer {
            host_layout: &raw mut layout,
            ..arguments(bytes.as_mut_ptr().cast(), bytes.len())
        };
        // SAFETY: the destination has the size that the plugin asked for, and lives until the event says that the copy is
        // complete. If waiting fails, the plugin does not copy any more.
        unsafe {
            let event = call(self.client.api, copy)?.event;
            wait(self.client.api, event)?;
        }
        Ok(bytes)
    }
}

/// Extends the sign of integers with fewer than 8 bits, as a literal has them, whatever the plugin left in the other bits.
fn canonical(literal: &Literal) -> Literal {
    let ty = match literal.array_shape() {
        Some(shape) if shape.ty.bits() < 8 => shape.ty,
        _ => return literal.clone(),
    };
    let mut out = literal.clone();
    let shift = 8 - ty.bits();
    let is_signed = ty.class() == hlo::elem::Class::Signed;
    for byte in out.bytes_mut() {
        let high = *byte << shift;
        *byte =
            if is_signed { (high.cast_signed() >> shift).cast_unsigned() } else { high >> shift };
    }
    out
}

/// Waits for an event and destroys it. A call without asynchronous work may return a null pointer.
///
/// # Safety
/// The event is null, or alive and not used elsewhere.
pub(super) unsafe fn wait(api: Api, event: *mut c_void) -> Result<()> {
    if event.is_null() {
        return Ok(());
    }
    let destroy = sys::EventDestroy { event, ..sys::EventDestroy::default() };
    // SAFETY: the caller vouches for the event.
    unsafe {
        let done = call(api, sys::EventAwait { event, ..sys::EventAwait::default() });
        let destroyed = call(api, destroy);
        done.map(drop).and(destroyed.map(drop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::ElementType;

    #[test]
    fn high_bits_of_narrow_types_follow_from_the_value() {
        let shape = ArrayShape::new(ElementType::S4, [2].as_slice());
        let literal = Literal::from_bytes(shape, &[0x0f, 0xf7]).unwrap();
        assert_eq!(canonical(&literal).bytes(), [0xff, 0x07]);
        let shape = ArrayShape::new(ElementType::U2, [2].as_slice());
        let literal = Literal::from_bytes(shape, &[0xff, 0x02]).unwrap();
        assert_eq!(canonical(&literal).bytes(), [0x03, 0x02]);
    }
}
