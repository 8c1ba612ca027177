//! Buffers without a value at first: those that stay so, those that fail, and those whose value is
//! that of another buffer later.
#![expect(unsafe_code, reason = "reads structs of the host")]
use crate::buffer::Buffer;
use crate::call::calls;
use crate::client::Client;
use crate::device::place;
use crate::failure::{Code, Failure, Result};
use crate::handle::{get, give, list, take, text};
use crate::promise::Promise;
use crate::strides::order;
use crate::transfer::shape_of;
use hlo::{ArrayShape, Literal};
use pjrt::sys::MemoryLayout;
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::Arc;

/// The failure that a host states.
///
/// # Safety
/// The text is valid.
pub(crate) unsafe fn stated(code: c_int, message: *const c_char, size: usize) -> Result<()> {
    match code {
        0 => Ok(()),
        // SAFETY: the caller vouches for the text.
        code => Err(Failure::new(Code(code), unsafe { text(message, size) })),
    }
}

/// Returns the shape of a buffer that a host asks for.
///
/// # Safety
/// The sizes and the layout are valid.
pub(crate) unsafe fn shaped(
    ty: c_int,
    (dims, rank): (*const i64, usize),
    layout: *const MemoryLayout,
) -> Result<ArrayShape> {
    // SAFETY: the caller vouches for the sizes and the layout.
    unsafe {
        let shape = shape_of(ty, list(dims, rank))?;
        let layout = order(layout, &shape)?.unwrap_or_else(|| shape.layout.clone());
        Ok(ArrayShape { layout, ..shape })
    }
}

calls! {
    // Its elements are zeros: what else would be there is another program's.
    ClientCreateUninitializedBuffer(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let device = place(a.device, a.memory)?;
        let shape = shaped(a.ty, (a.dims, a.num_dims), a.layout)?;
        let zeros = Literal::zeros(ArrayShape::new(shape.ty, shape.dims.clone()));
        let value = Arc::new(Promise::of(zeros));
        a.buffer = Buffer::new(client, device, &shape.into(), value).into_raw();
        Ok(())
    }
    ClientCreateErrorBuffer(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let device = place(null_mut(), a.memory)?;
        let shape = shaped(a.ty, (a.dims, a.num_dims), a.layout)?;
        let Err(failure) = stated(a.code, a.message, a.message_size) else {
            return Err(Failure::invalid("a buffer of an error needs an error"));
        };
        let value = Arc::<Promise>::default();
        value.set(Err(failure));
        a.buffer = Buffer::new(client, device, &shape.into(), value).into_raw();
        Ok(())
    }
    ClientCreateAliasBuffer(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let device = place(null_mut(), a.memory)?;
        let shape = shaped(a.ty, (a.dims, a.num_dims), a.layout)?;
        let value = Arc::<Promise>::default();
        a.alias = Buffer::new(client, device, &shape.into(), Arc::clone(&value)).into_raw();
        a.fulfill = give(value);
        Ok(())
    }
    ClientFulfillAliasBuffer(a) {
        let promise = take::<Arc<Promise>>(a.fulfill)?;
        let value = stated(a.code, a.message, a.message_size)
            .and_then(|()| get::<Buffer>(a.buffer)?.value());
        match value {
            Err(failure) => promise.set(Err(failure)),
            Ok(value) => promise.follow(&value),
        }
        Ok(())
    }
    // A device is the host: its memory needs no registration.
    ClientDmaMap(a) { get::<Arc<Client>>(a.client).map(drop) }
    ClientDmaUnmap(a) { get::<Arc<Client>>(a.client).map(drop) }
}

#[cfg(test)]
mod tests {
    use crate::event::Signal;
    use crate::handle::get;
    use crate::testing::{S32, call, client, try_call, value};
    use pjrt::sys::{
        BufferDestroy, BufferGetMemoryLayout, BufferOpaqueDeviceMemoryDataPointer,
        ClientBufferFromHostBuffer, ClientCreateAliasBuffer, ClientCreateErrorBuffer,
        ClientCreateUninitializedBuffer, ClientFulfillAliasBuffer, EventCreate, EventIsReady,
        EventSet, Header, MemoryLayout, Tiled,
    };
    use std::sync::Arc;

    #[test]
    fn values_come_later_or_never() {
        let ((client, _), dims) = (client(1), [2i64]);
        let empty = call(ClientCreateUninitializedBuffer {
            client,
            dims: dims.as_ptr(),
            num_dims: 1,
            ty: S32,
            ..Default::default()
        });
        assert_eq!(value(empty.buffer).unwrap(), "s32[2]{0} {0, 0}");
        let text = "out of luck";
        let message = (text.as_ptr().cast(), text.len());
        let failed = call(ClientCreateErrorBuffer {
            client,
            code: 13,
            message: message.0,
            message_size: message.1,
            dims: dims.as_ptr(),
            num_dims: 1,
            ty: S32,
            ..Default::default()
        });
        assert_eq!(value(failed.buffer).unwrap_err(), text);
        for (buffer, expected) in
            [(empty.buffer, Ok("s32[2]{0} {0, 0}")), (failed.buffer, Err(text))]
        {
            let alias = call(ClientCreateAliasBuffer {
                client,
                dims: dims.as_ptr(),
                num_dims: 1,
                ty: S32,
                ..Default::default()
            });
            let fulfill = alias.fulfill;
            call(ClientFulfillAliasBuffer { client, buffer, fulfill, ..Default::default() });
            let found = value(alias.alias);
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
            call(BufferDestroy { buffer: alias.alias, ..Default::default() });
        }
    }

    #[test]
    fn events_of_hosts() {
        let event = call(EventCreate::default()).event;
        assert!(!call(EventIsReady { event, ..Default::default() }).is_ready);
        call(EventSet { event, ..Default::default() });
        assert!(call(EventIsReady { event, ..Default::default() }).is_ready);
        // SAFETY: the event is one of the plugin's.
        let signal = unsafe { get::<Arc<Signal>>(event) }.unwrap_or_else(|_| panic!("null"));
        assert!(signal.wait().is_ok());
    }

    #[test]
    fn layouts_order_the_memory_that_hosts_read() {
        let ((client, _), dims, data) = (client(1), [2i64, 3], [1i32, 2, 3, 4, 5, 6]);
        let minor_to_major = [0i64, 1];
        let mut layout = MemoryLayout {
            header: Header::of::<MemoryLayout>(),
            tiled: Tiled {
                minor_to_major: minor_to_major.as_ptr(),
                minor_to_major_size: 2,
                ..Tiled::default()
            },
            kind: 0,
        };
        let buffer = call(ClientBufferFromHostBuffer {
            client,
            data: data.as_ptr().cast(),
            ty: S32,
            dims: dims.as_ptr(),
            num_dims: 2,
            device_layout: &raw mut layout,
            ..Default::default()
        })
        .buffer;
        assert_eq!(value(buffer).unwrap(), "s32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
        let stated = call(BufferGetMemoryLayout { buffer, ..Default::default() }).layout;
        // SAFETY: the list is the buffer's.
        let stated = unsafe { std::slice::from_raw_parts(stated.tiled.minor_to_major, 2) };
        assert_eq!(stated, minor_to_major);
        let place = call(BufferOpaqueDeviceMemoryDataPointer { buffer, ..Default::default() });
        // SAFETY: the buffer has six elements.
        let bytes = unsafe { std::slice::from_raw_parts(place.pointer.cast::<i32>(), 6) };
        assert_eq!(bytes, [1, 4, 2, 5, 3, 6]);
        let wrong = [0i64, 0];
        layout.tiled.minor_to_major = wrong.as_ptr();
        let arguments = ClientCreateUninitializedBuffer {
            client,
            dims: dims.as_ptr(),
            num_dims: 2,
            ty: S32,
            layout: &raw mut layout,
            ..Default::default()
        };
        assert!(try_call(arguments).is_err());
    }
}
