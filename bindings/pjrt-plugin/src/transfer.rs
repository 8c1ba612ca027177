//! Copies between the host's memory and buffers.
#![expect(unsafe_code, reason = "reads and writes memory of the host")]
use crate::buffer::Buffer;
use crate::call::calls;
use crate::client::Client;
use crate::device::place;
use crate::event::{Signal, event};
use crate::failure::{Failure, Result};
use crate::handle::{get, list};
use crate::promise::Promise;
use crate::strides::{copy, is_row_major, laid_out, of_layout, order, row_major};
use hlo::diag::quantity;
use hlo::{ArrayShape, Class, Literal, Shape};
use pjrt::buffer_type::element_type;
use pjrt::sys::OnReady;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// `kImmutableZeroCopy`: the host does not change the memory until the buffer is gone.
const IMMUTABLE_ZERO_COPY: c_int = 2;
/// `kMutableZeroCopy`: the buffer's owner may even write to it.
const MUTABLE_ZERO_COPY: c_int = 3;

/// Memory of the host that a buffer reads in place.
struct HostMemory {
    start: *const u8,
    size: usize,
    /// Tells the host that the memory is free again.
    done: Option<Arc<Signal>>,
    on_delete: Option<(OnReady, *mut c_void)>,
}

// SAFETY: the host does not change the memory while it is lent, and lets it be released on any thread.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl AsRef<[u8]> for HostMemory {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the host vouches for the memory until it is released.
        unsafe { list(self.start, self.size) }
    }
}
impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Some(done) = &self.done {
            done.set(&Ok(()));
        }
        if let Some((function, argument)) = self.on_delete {
            // SAFETY: the host gave the function for this memory, and it is called once.
            unsafe { function(self.start.cast_mut().cast(), argument) };
        }
    }
}

pub(crate) fn shape_of(ty: c_int, dims: &[i64]) -> Result<ArrayShape> {
    let unknown = || Failure::unimplemented(format!("element type {ty} is unknown"));
    let shape = ArrayShape::new(element_type(ty).ok_or_else(unknown)?, dims);
    match shape.byte_count().is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        true => Ok(shape),
        false => Err(Failure::invalid(format!("{shape} has more bytes than can be addressed"))),
    }
}

/// Whether every byte pattern is a value as literals have it: narrow integers extend their sign.
pub(crate) fn takes_all_bytes(shape: &ArrayShape) -> bool {
    shape.ty.bits() >= 8
}

/// Copies an array of the host.
///
/// # Safety
/// The memory has elements of the shape at these strides.
pub(crate) unsafe fn copied(
    start: *const u8,
    shape: ArrayShape,
    strides: Option<&[i64]>,
) -> Literal {
    let (dims, ty) = (shape.dims.clone(), shape.ty);
    let width = ty.storage_bytes();
    let mut literal = Literal::zeros(shape);
    let to = literal.bytes_mut();
    match strides {
        _ if to.is_empty() => {}
        Some(strides) if !is_row_major(&dims, strides, width) => {
            let expected = row_major(&dims, width);
            // SAFETY: the caller vouches for the source; the target is a row-major array.
            unsafe { copy(&dims, width, (start, strides), (to.as_mut_ptr(), &expected)) };
        }
        // SAFETY: the elements are without gaps.
        Some(_) | None => to.copy_from_slice(unsafe { list(start, to.len()) }),
    }
    if ty.bits() < 8 {
        let shift = 8 - ty.bits();
        let is_signed = ty.class() == Class::Signed;
        for byte in to {
            let high = *byte << shift;
            *byte = if is_signed {
                (high.cast_signed() >> shift).cast_unsigned()
            } else {
                high >> shift
            };
        }
    }
    literal
}

/// Where the bytes of a buffer go when it is ready.
struct Destination {
    start: *mut u8,
    size: usize,
}

// SAFETY: the host does not touch the memory until the event is set.
unsafe impl Send for Destination {}

impl Destination {
    /// Copies a value; `strides` are those of the destination, row-major without.
    fn fill(self, value: &Literal, strides: Option<&[i64]>) -> Result<()> {
        let value = value.to_static();
        let (Some(shape), bytes) = (value.array_shape(), value.bytes()) else { return Ok(()) };
        if bytes.len() > self.size {
            let (found, size) = (bytes.len(), self.size);
            let message = format!(
                "the array has {}, the destination has room for {size}",
                quantity(found, "byte")
            );
            return Err(Failure::invalid(message));
        }
        let width = shape.ty.storage_bytes();
        match strides {
            Some(strides) if !is_row_major(&shape.dims, strides, width) => {
                let from = row_major(&shape.dims, width);
                // SAFETY: the host vouches for its layout and its memory.
                unsafe { copy(&shape.dims, width, (bytes.as_ptr(), &from), (self.start, strides)) };
            }
            // SAFETY: the destination has room.
            Some(_) | None => unsafe {
                bytes.as_ptr().copy_to_nonoverlapping(self.start, bytes.len());
            },
        }
        Ok(())
    }
}

/// Runs `work` on the value of a buffer when it is ready, and returns the signal of its end.
fn when_ready(
    value: &Arc<Promise>,
    work: impl FnOnce(&Literal) -> Result<()> + Send + 'static,
) -> Arc<Signal> {
    let done = Arc::<Signal>::default();
    let (ended, known) = (Arc::clone(&done), Arc::clone(value));
    value.signal().then(move |outcome| {
        let outcome = outcome.and_then(|()| known.wait()).and_then(|literal| work(&literal));
        ended.set(&outcome);
    });
    done
}

/// Bytes of a buffer, in the order of its layout.
pub(crate) struct Part {
    value: Arc<Promise>,
    shape: Option<ArrayShape>,
    offset: usize,
    size: usize,
}

impl Part {
    pub(crate) fn of(buffer: &Buffer, offset: i64, size: i64) -> Result<Self> {
        let number =
            |n: i64| usize::try_from(n).map_err(|_| Failure::invalid("a negative offset or size"));
        Ok(Self {
            value: buffer.value()?,
            shape: buffer.laid_out_shape().cloned(),
            offset: number(offset)?,
            size: number(size)?,
        })
    }
    /// Copies the bytes when they are ready, and returns the signal of that.
    fn copy_to(self, destination: Destination) -> Arc<Signal> {
        let Self { value, shape, offset, size: _ } = self;
        when_ready(&value, move |value| {
            let destination = destination;
            let value = shape.map_or_else(|| value.clone(), |shape| laid_out(value, &shape));
            let bytes = value.bytes().get(offset..).and_then(|rest| rest.get(..destination.size));
            let missing = || Failure::invalid("the range is outside of the buffer");
            let bytes = bytes.ok_or_else(missing)?;
            // SAFETY: the host vouches for the size of its memory.
            unsafe { bytes.as_ptr().copy_to_nonoverlapping(destination.start, bytes.len()) };
            Ok(())
        })
    }
    /// Copies the bytes to memory of the host when they are ready, then sets a signal.
    ///
    /// # Safety
    /// The memory has the size of the part until then.
    pub(crate) unsafe fn copy_then(self, start: *mut c_void, done: Arc<Signal>) {
        let destination = Destination { start: start.cast(), size: self.size };
        self.copy_to(destination).then(move |outcome| done.set(&outcome));
    }
}

calls! {
    ClientBufferFromHostBuffer(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let device = place(a.device, a.memory)?;
        let shape = shape_of(a.ty, list(a.dims, a.num_dims))?;
        // The elements are in row-major order; the buffer shows them in this one.
        let order = order(a.device_layout, &shape)?;
        let strides = (!a.byte_strides.is_null()).then(|| list(a.byte_strides, a.num_byte_strides));
        if let Some(strides) = strides && strides.len() != shape.rank() {
            return Err(Failure::invalid(format!("{} strides for an array {shape:#}", strides.len())));
        }
        let start = a.data.cast::<u8>();
        let width = shape.ty.storage_bytes();
        let size = shape.byte_count().unwrap_or(0);
        let lends = matches!(a.host_buffer_semantics, IMMUTABLE_ZERO_COPY | MUTABLE_ZERO_COPY)
            && size > 0
            && takes_all_bytes(&shape)
            && start.addr().is_multiple_of(width)
            && strides.is_none_or(|strides| is_row_major(&shape.dims, strides, width));
        let (literal, done) = if lends {
            let done = Arc::<Signal>::default();
            let memory = HostMemory { start, size, done: Some(Arc::clone(&done)), on_delete: None };
            let literal = Literal::from_owner(shape.clone(), memory);
            (literal.ok_or_else(|| Failure::invalid("the host's memory does not fit the array"))?, done)
        } else {
            (copied(start, shape.clone(), strides), Signal::done(Ok(())))
        };
        let value = Arc::new(Promise::of(literal));
        let layout = order.unwrap_or_else(|| shape.layout.clone());
        let shape = ArrayShape { layout, ..shape };
        a.buffer = Buffer::new(client, device, &shape.into(), value).into_raw();
        a.done_with_host_buffer = event(&done);
        Ok(())
    }
    ClientCreateViewOfDeviceBuffer(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let device = place(a.device, a.memory)?;
        let shape = shape_of(a.ty, list(a.dims, a.num_dims))?;
        let strides = of_layout(a.layout, &shape)?;
        let start = a.pointer.cast::<u8>().cast_const();
        let on_delete = a.on_delete.map(|function| (function, a.on_delete_arg));
        let width = shape.ty.storage_bytes();
        let fits = strides.is_none_or(|strides| is_row_major(&shape.dims, &strides, width));
        if !fits || !takes_all_bytes(&shape) || !start.addr().is_multiple_of(width) {
            return Err(Failure::unimplemented(format!(
                "memory of {shape:#} that is not row-major, aligned and of whole bytes cannot be shared"
            )));
        }
        let memory = HostMemory { start, size: shape.byte_count().unwrap_or(0), done: None, on_delete };
        let literal = Literal::from_owner(shape.clone(), memory)
            .ok_or_else(|| Failure::invalid("the memory does not fit the array"))?;
        let shape: Shape = shape.into();
        a.buffer = Buffer::new(client, device, &shape, Arc::new(Promise::of(literal))).into_raw();
        Ok(())
    }
    BufferToHostBuffer(a) {
        let buffer = get::<Buffer>(a.buffer)?;
        let value = buffer.value()?;
        let Some(shape) = &buffer.shape else {
            return Err(Failure::invalid("a token has no elements"));
        };
        if a.destination.is_null() {
            let is_dynamic = (0..shape.rank()).any(|dim| shape.is_dynamic(dim));
            let bytes = match is_dynamic {
                true => value.wait()?.to_static().bytes().len(),
                false => shape.byte_count().unwrap_or(0),
            };
            a.destination_size = bytes;
            return Ok(());
        }
        let strides = of_layout(a.host_layout, shape)?;
        let destination = Destination { start: a.destination.cast(), size: a.destination_size };
        let done = when_ready(&value, move |value| destination.fill(value, strides.as_deref()));
        a.event = event(&done);
        Ok(())
    }
    BufferCopyRawToHost(a) {
        let part = Part::of(get::<Buffer>(a.buffer)?, a.offset, a.size)?;
        let destination = Destination { start: a.destination.cast(), size: part.size };
        a.event = event(&part.copy_to(destination));
        Ok(())
    }
}
