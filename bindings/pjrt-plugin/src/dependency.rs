//! What waits until the host calls a function of the plugin: a copy for its destination, a donated value for an event of the host.
#![expect(unsafe_code, reason = "is called by the host")]
use crate::buffer::Buffer;
use crate::call::calls;
use crate::event::{Signal, event};
use crate::failure::Result;
use crate::handle::{get, give, take};
use crate::placeholder::stated;
use crate::promise::Promise;
use crate::transfer::Part;
use hlo::Shape;
use pjrt::sys::{HostReady, HostReadyArguments};
use std::ffi::c_void;
use std::sync::Arc;

/// What is done with what the host says: the destination of a copy, or why there is none.
type Then = Box<dyn FnOnce(Result<*mut c_void>) + Send>;

/// Returns the object and the function that the host calls with it, once.
fn later(
    then: impl FnOnce(Result<*mut c_void>) + Send + 'static,
) -> (*mut c_void, Option<HostReady>) {
    let then: Then = Box::new(then);
    (give(then), Some(ready))
}

unsafe extern "C" fn ready(lent: *mut HostReadyArguments) {
    let mut arguments = HostReadyArguments::default();
    // SAFETY: the host passes a struct that begins with its size, and in it the object that it got with the function, once, and a valid
    // message.
    unsafe {
        let Some(&size) = lent.cast::<usize>().as_ref() else { return };
        let size = size.min(size_of::<HostReadyArguments>());
        (&raw mut arguments).cast::<u8>().copy_from_nonoverlapping(lent.cast(), size);
        let Ok(then) = take::<Then>(arguments.data) else { return };
        let said = stated(arguments.code, arguments.message, arguments.message_size);
        then(said.map(|()| arguments.destination));
    }
}

calls! {
    BufferCopyRawToHostFuture(a) {
        let part = Part::of(get::<Buffer>(a.buffer)?, a.offset, a.size)?;
        let done = Arc::<Signal>::default();
        a.event = event(&done);
        (a.data, a.ready) = later(move |destination| match destination {
            // SAFETY: the host vouches for its memory until the event is set.
            Ok(destination) => unsafe { part.copy_then(destination, done) },
            Err(failure) => done.set(&Err(failure)),
        });
        Ok(())
    }
    BufferDonateWithControlDependency(a) {
        let buffer = get::<Buffer>(a.buffer)?;
        let shape = buffer.shape.clone().map_or(Shape::Token, Shape::from);
        let (value, own) = (Arc::<Promise>::default(), buffer.donate()?);
        let promised = Arc::clone(&value);
        a.result = Buffer::new(&buffer.client, buffer.device, &shape, value).into_raw();
        (a.data, a.ready) = later(move |outcome| match outcome {
            Ok(_) => promised.follow(&own),
            Err(failure) => promised.set(Err(failure)),
        });
        Ok(())
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "calls functions of the plugin")]
mod tests {
    use crate::testing::{buffer, call, client, try_call, value};
    use pjrt::sys::*;
    use std::ffi::c_void;
    use std::ptr::null_mut;

    /// Calls the function of the plugin, with a destination or an error.
    fn say(ready: Option<HostReady>, data: *mut c_void, said: Result<*mut c_void, &str>) {
        let message = said.err().unwrap_or_default();
        let mut arguments = HostReadyArguments {
            size: size_of::<HostReadyArguments>(),
            data,
            code: if said.is_ok() { 0 } else { 13 },
            message: message.as_ptr().cast(),
            message_size: message.len(),
            destination: said.unwrap_or(null_mut()),
        };
        // SAFETY: the object belongs to the function, and the message is valid.
        unsafe { ready.unwrap()(&raw mut arguments) };
    }

    #[test]
    fn a_copy_waits_for_its_destination() {
        let (client, _) = client(1);
        let buffer = buffer(client, null_mut(), &[1, -2, 3], &[3]);
        let copy = |offset, size| {
            call(BufferCopyRawToHostFuture { buffer, offset, size, ..Default::default() })
        };
        let mut bytes = [0i32; 2];
        let two = copy(4, 8);
        assert!(!call(EventIsReady { event: two.event, ..Default::default() }).is_ready);
        say(two.ready, two.data, Ok(bytes.as_mut_ptr().cast()));
        call(EventAwait { event: two.event, ..Default::default() });
        assert_eq!(bytes, [-2, 3]);
        let failed = copy(0, 4);
        say(failed.ready, failed.data, Err("no room"));
        let outside = copy(8, 8);
        say(outside.ready, outside.data, Ok(bytes.as_mut_ptr().cast()));
        for (event, reason) in [(failed.event, "no room"), (outside.event, "outside")] {
            let message = try_call(EventAwait { event, ..Default::default() }).unwrap_err();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn a_donated_value_waits_for_the_host() {
        let (client, _) = client(1);
        let donate = || {
            let buffer = buffer(client, null_mut(), &[5], &[1]);
            let donated = call(BufferDonateWithControlDependency { buffer, ..Default::default() });
            assert!(value(buffer).is_err());
            donated
        };
        let (first, second) = (donate(), donate());
        say(first.ready, first.data, Ok(null_mut()));
        say(second.ready, second.data, Err("too late"));
        assert_eq!(value(first.result).unwrap(), "s32[1]{0} {5}");
        assert_eq!(value(second.result).unwrap_err(), "too late");
    }
}
