//! Buffers: values on a device.
#![expect(unsafe_code, reason = "hands buffers to a host")]
use crate::call::calls;
use crate::client::Client;
use crate::device::{Charge, place};
use crate::event::{Signal, event};
use crate::failure::{Failure, Result};
use crate::handle::{destroy, get, give};
use crate::promise::Promise;
use crate::strides::laid_out;
use hlo::layout::Layout;
use hlo::{ArrayShape, Literal, Shape};
use pjrt::buffer_type::{TOKEN, buffer_type};
use pjrt::sys::{Header, MemoryLayout, Tiled};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A buffer: an array or a token, which may not be computed yet.
pub(crate) struct Buffer {
    pub(crate) client: Arc<Client>,
    pub(crate) device: usize,
    /// The shape, with bounds in place of dynamic sizes; `None` for a token.
    pub(crate) shape: Option<ArrayShape>,
    dynamic: Vec<usize>,
    sizes: OnceLock<Vec<i64>>,
    /// The elements in the order of the layout, unless that is row-major.
    laid_out: OnceLock<Literal>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Nothing after the buffer was deleted or donated.
    value: Option<Arc<Promise>>,
    charge: Option<Charge>,
    /// Values that the host reads by their address, once for each of its references.
    referenced: Vec<Literal>,
}

impl Buffer {
    pub(crate) fn new(
        client: &Arc<Client>,
        device: usize,
        shape: &Shape,
        value: Arc<Promise>,
    ) -> Self {
        let mut shape = shape.array().cloned();
        // Arrays with dynamic sizes are row-major.
        if let Some(shape) = shape.as_mut().filter(|shape| shape.dynamic.is_some()) {
            shape.layout = Layout::descending(shape.rank());
        }
        let rank = shape.as_ref().map_or(0, ArrayShape::rank);
        let bytes = shape.as_ref().and_then(ArrayShape::byte_count).unwrap_or(0);
        let dynamic = |shape: &ArrayShape| (0..rank).filter(|&dim| shape.is_dynamic(dim)).collect();
        let state = State {
            value: Some(value),
            charge: Some(client.devices[device].usage.charge(bytes)),
            referenced: Vec::new(),
        };
        Self {
            client: Arc::clone(client),
            device,
            dynamic: shape.as_ref().map_or_else(Vec::new, dynamic),
            sizes: OnceLock::new(),
            laid_out: OnceLock::new(),
            shape,
            state: Mutex::new(state),
        }
    }
    pub(crate) fn into_raw(self) -> *mut c_void {
        give(self)
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Returns the value.
    ///
    /// # Errors
    /// If the buffer was deleted or donated.
    pub(crate) fn value(&self) -> Result<Arc<Promise>> {
        self.lock().value.clone().ok_or_else(deleted)
    }
    /// Takes the value out of the buffer, which is then deleted.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub(crate) fn donate(&self) -> Result<Arc<Promise>> {
        let mut state = self.lock();
        state.charge = None;
        state.value.take().ok_or_else(deleted)
    }
    fn delete(&self) {
        let mut state = self.lock();
        let (value, charge) = (state.value.take(), state.charge.take());
        drop(state);
        // Dropping foreign memory calls functions of the host, which must not find the buffer locked.
        drop((value, charge));
    }
    /// Returns the sizes of an array with dynamic dimensions, or else those of its shape.
    fn sizes(&self) -> Result<&[i64]> {
        let Some(shape) = &self.shape else { return Ok(&[]) };
        if self.dynamic.is_empty() {
            return Ok(shape.dims.as_slice());
        }
        let value = self.value()?.wait()?;
        Ok(self.sizes.get_or_init(|| value.sizes().to_vec()))
    }
    /// Returns the value with its bytes as the host reads them in place: in the order of the layout.
    fn in_place(&self) -> Result<Literal> {
        let value = self.value()?.wait()?;
        Ok(match self.laid_out_shape() {
            Some(shape) => self.laid_out.get_or_init(|| laid_out(&value, shape)).clone(),
            None => value,
        })
    }
    /// Returns the shape if its layout is not row-major.
    pub(crate) fn laid_out_shape(&self) -> Option<&ArrayShape> {
        self.shape.as_ref().filter(|shape| !shape.layout.is_descending())
    }
    /// Returns the address of the elements, which the host may read.
    fn address(&self) -> Result<*const u8> {
        Ok(self.in_place()?.bytes().as_ptr())
    }
    fn layout(&self) -> MemoryLayout {
        let minor_to_major =
            self.shape.as_ref().map_or(&[][..], |shape| &shape.layout.minor_to_major);
        MemoryLayout {
            header: Header::of::<MemoryLayout>(),
            tiled: Tiled {
                header: Header::of::<Tiled>(),
                minor_to_major: minor_to_major.as_ptr(),
                minor_to_major_size: minor_to_major.len(),
                ..Tiled::default()
            },
            kind: 0,
        }
    }
    /// Returns a buffer on another device with the same value, which they share.
    fn on(&self, device: usize) -> Result<Self> {
        let shape = self.shape.clone().map_or(Shape::Token, Shape::from);
        Ok(Self::new(&self.client, device, &shape, self.value()?))
    }
}

fn deleted() -> Failure {
    Failure::invalid("the buffer was deleted or donated")
}

calls! {
    BufferDestroy(a) {
        destroy::<Buffer>(a.buffer);
        Ok(())
    }
    BufferElementType(a) {
        a.ty = get::<Buffer>(a.buffer)?.shape.as_ref().map_or(TOKEN, |shape| buffer_type(shape.ty));
        Ok(())
    }
    BufferDimensions(a) {
        let dims = get::<Buffer>(a.buffer)?.shape.as_ref().map_or([].as_slice(), |shape| shape.dims.as_slice());
        (a.dims, a.num_dims) = (dims.as_ptr(), dims.len());
        Ok(())
    }
    BufferUnpaddedDimensions(a) {
        let sizes = get::<Buffer>(a.buffer)?.sizes()?;
        (a.unpadded_dims, a.num_dims) = (sizes.as_ptr(), sizes.len());
        Ok(())
    }
    BufferDynamicDimensionIndices(a) {
        let dims = &get::<Buffer>(a.buffer)?.dynamic;
        (a.dynamic_dim_indices, a.num_dynamic_dims) = (dims.as_ptr(), dims.len());
        Ok(())
    }
    BufferGetMemoryLayout(a) { a.layout = get::<Buffer>(a.buffer)?.layout(); Ok(()) }
    BufferOnDeviceSizeInBytes(a) {
        let shape = get::<Buffer>(a.buffer)?.shape.as_ref();
        a.bytes = shape.and_then(ArrayShape::byte_count).unwrap_or(0);
        Ok(())
    }
    BufferDevice(a) {
        let buffer = get::<Buffer>(a.buffer)?;
        a.device = buffer.client.devices[buffer.device].handle();
        Ok(())
    }
    BufferMemory(a) {
        let buffer = get::<Buffer>(a.buffer)?;
        a.memory = buffer.client.devices[buffer.device].memory_handle();
        Ok(())
    }
    BufferDelete(a) {
        get::<Buffer>(a.buffer)?.delete();
        Ok(())
    }
    BufferIsDeleted(a) { a.is_deleted = get::<Buffer>(a.buffer)?.lock().value.is_none(); Ok(()) }
    BufferCopyToDevice(a) {
        let device = place(a.device, std::ptr::null_mut())?;
        a.copy = get::<Buffer>(a.buffer)?.on(device)?.into_raw();
        Ok(())
    }
    BufferCopyToMemory(a) {
        let device = place(std::ptr::null_mut(), a.memory)?;
        a.copy = get::<Buffer>(a.buffer)?.on(device)?.into_raw();
        Ok(())
    }
    // The host may then read arrays in place, after `IncreaseExternalReferenceCount`.
    // JAX reads memory on a CPU as row-major, whatever the layout: it copies other arrays.
    BufferIsOnCpu(a) {
        a.is_on_cpu = get::<Buffer>(a.buffer)?.laid_out_shape().is_none();
        Ok(())
    }
    BufferReadyEvent(a) {
        // Hosts expect an event; they end the process if there is none.
        let signal = match get::<Buffer>(a.buffer)?.value() {
            Ok(value) => Arc::clone(value.signal()),
            Err(failure) => Signal::done(Err(failure)),
        };
        a.event = event(&signal);
        Ok(())
    }
    BufferUnsafePointer(a) { a.pointer = get::<Buffer>(a.buffer)?.address()?.expose_provenance(); Ok(()) }
    BufferOpaqueDeviceMemoryDataPointer(a) {
        a.pointer = get::<Buffer>(a.buffer)?.address()?.cast_mut().cast();
        Ok(())
    }
    BufferIncreaseExternalReferenceCount(a) {
        let buffer = get::<Buffer>(a.buffer)?;
        let value = buffer.in_place()?;
        buffer.lock().referenced.push(value);
        Ok(())
    }
    BufferDecreaseExternalReferenceCount(a) {
        let buffer = get::<Buffer>(a.buffer)?;
        let value = buffer.lock().referenced.pop();
        let none = || Failure::invalid("the buffer has no external reference");
        value.map(drop).ok_or_else(none)
    }
}
