//! Uploads: the host asks for buffers, and sends their elements in parts; and the bits of a buffer as another array.
#![expect(unsafe_code, reason = "reads memory of the host")]
use crate::buffer::Buffer;
use crate::call::calls;
use crate::client::Client;
use crate::device::place;
use crate::event::{Signal, event};
use crate::failure::{Code, Failure, Result};
use crate::handle::{destroy, get, give, list};
use crate::placeholder::{shaped, stated};
use crate::promise::Promise;
use crate::strides::of_layout;
use crate::transfer::{copied, shape_of, takes_all_bytes};
use hlo::{ArrayShape, ElementType, Literal};
use std::ffi::c_int;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers on a device whose elements are on their way.
struct Upload {
    client: Arc<Client>,
    device: usize,
    buffers: Vec<Incoming>,
}

/// A buffer of an upload.
struct Incoming {
    /// The shape with the layout that the host has asked for; elements come in row-major order.
    shape: ArrayShape,
    bytes: Mutex<Vec<u8>>,
    value: Arc<Promise>,
}

impl Upload {
    fn buffer(&self, index: c_int) -> Result<&Incoming> {
        let found = usize::try_from(index).ok().and_then(|index| self.buffers.get(index));
        let count = self.buffers.len();
        found.ok_or_else(|| {
            Failure::invalid(format!("the upload has {count} buffers, not a buffer {index}"))
        })
    }
}

impl Drop for Upload {
    /// What reads a buffer must not wait for ever.
    fn drop(&mut self) {
        let failure = || {
            Failure::new(
                Code::ABORTED,
                "the host ended the upload of the buffer before its last part",
            )
        };
        for buffer in &self.buffers {
            buffer.value.set(Err(failure()));
        }
    }
}

impl Incoming {
    /// Copies a part, and makes the value of the last one.
    fn add(&self, part: &[u8], offset: i64, is_last: bool) -> Result<()> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let size = bytes.len();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let place = bytes.get_mut(start..).and_then(|rest| rest.get_mut(..part.len()));
        let place = place.ok_or_else(|| {
            let count = part.len();
            Failure::invalid(format!(
                "a part of {count} bytes at {offset} is outside of the {size} bytes of the buffer"
            ))
        })?;
        place.copy_from_slice(part);
        if is_last {
            let bytes = std::mem::take(&mut *bytes);
            // SAFETY: the bytes are those of the shape, without gaps.
            self.value.set(Ok(unsafe { copied(bytes.as_ptr(), row_major(&self.shape), None) }));
        }
        Ok(())
    }
}

fn row_major(shape: &ArrayShape) -> ArrayShape {
    ArrayShape::new(shape.ty, shape.dims.clone())
}

/// The bytes of an array, of which another one is made.
struct Bits(Literal);

impl AsRef<[u8]> for Bits {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

calls! {
    ClientCreateUpload(a) {
        let client = get::<Arc<Client>>(a.client)?;
        let device = place(null_mut(), a.memory)?;
        let layouts = list(a.layouts, a.num_layouts);
        let incoming = |(i, spec): (usize, &pjrt::sys::ShapeSpec)| {
            let layout = layouts.get(i).copied().unwrap_or(null());
            let shape = shaped(spec.ty, (spec.dims, spec.num_dims), layout)?;
            let bytes = Mutex::new(vec![0; shape.byte_count().unwrap_or(0)]);
            Ok(Incoming { shape, bytes, value: Arc::default() })
        };
        let buffers = list(a.shapes, a.num_shapes).iter().enumerate().map(incoming);
        let buffers = buffers.collect::<Result<_>>()?;
        a.upload = give(Upload { client: Arc::clone(client), device, buffers });
        Ok(())
    }
    UploadDestroy(a) {
        destroy::<Upload>(a.upload);
        Ok(())
    }
    UploadTransferData(a) {
        let buffer = get::<Upload>(a.upload)?.buffer(a.index)?;
        let size = usize::try_from(a.size).map_err(|_| Failure::invalid("a negative size"))?;
        buffer.add(list(a.data.cast::<u8>(), size), a.offset, a.is_last)?;
        a.done = event(&Signal::done(Ok(())));
        Ok(())
    }
    UploadTransferLiteral(a) {
        let buffer = get::<Upload>(a.upload)?.buffer(a.index)?;
        let shape = shape_of(a.ty, list(a.dims, a.num_dims))?;
        if (shape.ty, &shape.dims) != (buffer.shape.ty, &buffer.shape.dims) {
            let expected = &buffer.shape;
            return Err(Failure::invalid(format!("the array is {shape:#}, expected {expected:#}")));
        }
        let strides = of_layout(a.layout, &shape)?;
        buffer.value.set(Ok(copied(a.data.cast(), shape, strides.as_deref())));
        a.done = event(&Signal::done(Ok(())));
        Ok(())
    }
    UploadRetrieveBuffer(a) {
        let upload = get::<Upload>(a.upload)?;
        let buffer = upload.buffer(a.index)?;
        let (shape, value) = (buffer.shape.clone().into(), Arc::clone(&buffer.value));
        a.buffer = Buffer::new(&upload.client, upload.device, &shape, value).into_raw();
        Ok(())
    }
    UploadDevice(a) {
        let upload = get::<Upload>(a.upload)?;
        a.device = upload.client.devices[upload.device].handle();
        Ok(())
    }
    UploadBufferCount(a) { a.count = get::<Upload>(a.upload)?.buffers.len(); Ok(()) }
    UploadBufferSize(a) {
        a.size = get::<Upload>(a.upload)?.buffer(a.index)?.shape.byte_count().unwrap_or(0);
        Ok(())
    }
    UploadSetBufferError(a) {
        let buffer = get::<Upload>(a.upload)?.buffer(a.index)?;
        let Err(failure) = stated(a.code, a.message, a.message_size) else {
            return Err(Failure::invalid("the error of a buffer has the code 0"));
        };
        buffer.value.set(Err(failure));
        Ok(())
    }
    // Nothing here is slower or faster by what the host says of the elements.
    UploadAddMetadata(a) { get::<Upload>(a.upload).map(drop) }
    BufferBitcast(a) {
        let buffer = get::<Buffer>(a.buffer)?;
        let shape = shaped(a.ty, (a.dims, a.num_dims), a.layout)?;
        let known = buffer.value()?;
        let fits = |from: &ArrayShape| {
            // Truth values are not any bits.
            let any_bits = |shape: &ArrayShape| takes_all_bytes(shape) && shape.ty != ElementType::Pred;
            from.byte_count() == shape.byte_count() && any_bits(from) && any_bits(&shape)
        };
        if !buffer.shape.as_ref().is_some_and(fits) || buffer.laid_out_shape().is_some() {
            return Err(Failure::invalid(format!(
                "only a row-major array of as many bytes as {shape:#}, with elements of whole bytes, has its bits"
            )));
        }
        let (value, target) = (Arc::<Promise>::default(), row_major(&shape));
        a.result = Buffer::new(&buffer.client, buffer.device, &shape.into(), Arc::clone(&value)).into_raw();
        let from = Arc::clone(&known);
        known.signal().then(move |outcome| {
            let bits = outcome.and_then(|()| from.wait()).and_then(|array| {
                let shared = Literal::from_owner(target.clone(), Bits(array.clone()));
                let missing = || Failure::invalid("the array has other sizes than its bounds");
                shared.or_else(|| Literal::from_bytes(target, array.bytes())).ok_or_else(missing)
            });
            value.set(bits);
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{S32, buffer, call, client, try_call, value};
    use pjrt::sys::*;
    use std::ffi::c_void;
    use std::ptr::null_mut;

    const F32: i32 = 11;
    const S4: i32 = 21;

    /// Starts an upload of arrays of four elements, of these types.
    fn upload(types: &[i32]) -> *mut c_void {
        let dims = [4i64];
        let spec = |&ty: &i32| ShapeSpec {
            header: Header::of::<ShapeSpec>(),
            dims: dims.as_ptr(),
            num_dims: 1,
            ty,
        };
        let shapes: Vec<ShapeSpec> = types.iter().map(spec).collect();
        let (client, _) = client(1);
        let (shapes, num_shapes) = (shapes.as_ptr(), types.len());
        call(ClientCreateUpload { client, shapes, num_shapes, ..Default::default() }).upload
    }
    fn send(
        upload: *mut c_void,
        index: i32,
        part: &[u8],
        offset: i64,
        is_last: bool,
    ) -> Result<(), String> {
        let (data, size) = (part.as_ptr().cast(), i64::try_from(part.len()).unwrap());
        let part =
            UploadTransferData { upload, index, data, offset, size, is_last, ..Default::default() };
        let event = try_call(part)?.done;
        call(EventAwait { event, ..Default::default() });
        Ok(())
    }
    fn retrieve(upload: *mut c_void, index: i32) -> *mut c_void {
        call(UploadRetrieveBuffer { upload, index, ..Default::default() }).buffer
    }

    #[test]
    fn parts_make_an_array() {
        let upload = upload(&[S32, S4]);
        assert_eq!(call(UploadBufferCount { upload, ..Default::default() }).count, 2);
        assert_eq!(call(UploadBufferSize { upload, ..Default::default() }).size, 16);
        let buffer = retrieve(upload, 0);
        let bytes: Vec<u8> = [5i32, -6, 7, -8].iter().flat_map(|n| n.to_le_bytes()).collect();
        send(upload, 0, &bytes[6..], 6, false).unwrap();
        let event = call(BufferReadyEvent { buffer, ..Default::default() }).event;
        assert!(!call(EventIsReady { event, ..Default::default() }).is_ready);
        assert!(send(upload, 0, &bytes, 1, true).unwrap_err().contains("outside of the 16 bytes"));
        send(upload, 0, &bytes[..6], 0, true).unwrap();
        assert_eq!(value(buffer).unwrap(), "s32[4]{0} {5, -6, 7, -8}");
        // A byte for each: those of narrow integers are extended.
        send(upload, 1, &[1, 0x0f, 7, 8], 0, true).unwrap();
        assert_eq!(value(retrieve(upload, 1)).unwrap(), "s4[4]{0} {1, -1, 7, -8}");
        assert!(send(upload, 2, &[], 0, true).unwrap_err().contains("not a buffer 2"));
    }

    #[test]
    fn an_upload_that_ends_early_fails_its_buffers() {
        let upload = upload(&[S32, S32, S32]);
        let buffers = [0, 1, 2].map(|index| retrieve(upload, index));
        let message = "no more";
        call(UploadSetBufferError {
            upload,
            code: 13,
            message: message.as_ptr().cast(),
            message_size: message.len(),
            ..Default::default()
        });
        let (numbers, dims) = ([1i32, 2, 3, 4], [4i64]);
        let send = |ty| {
            try_call(UploadTransferLiteral {
                upload,
                index: 1,
                data: numbers.as_ptr().cast(),
                dims: dims.as_ptr(),
                num_dims: 1,
                ty,
                ..Default::default()
            })
        };
        assert!(send(F32).unwrap_err().contains("expected s32[4]"));
        send(S32).unwrap();
        call(UploadDestroy { upload, ..Default::default() });
        assert_eq!(value(buffers[0]).unwrap_err(), message);
        assert_eq!(value(buffers[1]).unwrap(), "s32[4]{0} {1, 2, 3, 4}");
        assert!(value(buffers[2]).unwrap_err().contains("before its last part"));
    }

    #[test]
    fn the_bits_of_an_array_are_another_one() {
        let (client, _) = client(1);
        let buffer = buffer(client, null_mut(), &[0x3f80_0000, 0x4000_0000], &[2]);
        let dims = [2i64, 1];
        let bits = |ty, num_dims| {
            let dims = dims.as_ptr();
            try_call(BufferBitcast { buffer, ty, dims, num_dims, ..Default::default() })
        };
        assert_eq!(value(bits(F32, 2).unwrap().result).unwrap(), "f32[2,1]{1,0} { {1}, {2} }");
        assert!(bits(S4, 1).unwrap_err().contains("as many bytes as s4[2]"));
    }
}
