//! The extensions of the table: layouts, and handlers of the XLA FFI.
//!
//! A layout is the text in which XLA writes one, `{1,0}`. Those of an executable belong to it.
#![expect(unsafe_code, reason = "hands objects to a host")]
use crate::buffer::Buffer;
use crate::call::{calls, entry};
use crate::client::{Client, PLATFORM};
use crate::device::nothing_to_delete;
use crate::executable::Executable;
use crate::failure::{Failure, Result};
use crate::handle::{destroy, get, give, list, text};
use crate::transfer::shape_of;
use hlo::Shape;
use pjrt::sys::{self, Extension, FfiRegisterHandler};
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// The layouts of shapes, as the host gets them.
pub(crate) struct Layouts {
    /// The objects to which the pointers lead.
    _texts: Box<[String]>,
    handles: Vec<*const c_void>,
}

impl Layouts {
    pub(crate) fn of(shapes: &[Shape]) -> Self {
        let texts: Box<[String]> = shapes.iter().map(written).collect();
        let handles = texts.iter().map(|text| (&raw const *text).cast()).collect();
        Self { _texts: texts, handles }
    }
}

fn written(shape: &Shape) -> String {
    let order = shape.array().map_or(&[][..], |shape| &shape.layout.minor_to_major);
    let dims: Vec<String> = order.iter().map(ToString::to_string).collect();
    format!("{{{}}}", dims.join(","))
}

/// Returns the layout of arrays for which the host asks for none.
///
/// # Safety
/// The list is valid.
unsafe fn default_layout(ty: c_int, dims: *const i64, count: usize) -> Result<*mut c_void> {
    // SAFETY: the caller vouches for the list.
    Ok(give(written(&shape_of(ty, unsafe { list(dims, count) })?.into())))
}

calls! {
    LayoutDestroy(a) {
        destroy::<String>(a.layout);
        Ok(())
    }
    LayoutSerialize(a) {
        let written = get::<String>(a.layout)?;
        (a.bytes, a.bytes_size) = (written.as_ptr().cast(), written.len());
        a.owner = null_mut();
        a.deleter = Some(nothing_to_delete);
        Ok(())
    }
    ClientDefaultLayout(a) {
        get::<Arc<Client>>(a.client)?;
        a.layout = default_layout(a.ty, a.dims, a.num_dims)?;
        Ok(())
    }
    TopologyDefaultLayout(a) {
        get::<Arc<Client>>(a.topology)?;
        a.layout = default_layout(a.ty, a.dims, a.num_dims)?;
        Ok(())
    }
    BufferLayout(a) {
        let shape = get::<Buffer>(a.buffer)?.shape.clone();
        a.layout = give(written(&shape.map_or(Shape::Token, Shape::from)));
        Ok(())
    }
    ExecutableOutputLayouts(a) {
        let layouts = &get::<Executable>(a.executable)?.output_layouts.handles;
        (a.layouts, a.num_outputs) = (layouts.as_ptr(), layouts.len());
        Ok(())
    }
    ExecutableParameterLayouts(a) {
        let layouts = &get::<Executable>(a.executable)?.parameter_layouts.handles;
        (a.layouts, a.num_parameters) = (layouts.as_ptr(), layouts.len());
        Ok(())
    }
}

/// An extension of which nothing changes.
#[repr(transparent)]
struct Constant<const N: usize>(Extension<N>);

// SAFETY: the extensions are constant.
unsafe impl<const N: usize> Sync for Constant<N> {}

static LAYOUTS: Constant<7> = Constant(Extension {
    size: size_of::<Extension<7>>(),
    kind: 4,
    next: (&raw const FFI).cast(),
    functions: [
        entry::<sys::LayoutDestroy>,
        entry::<sys::LayoutSerialize>,
        entry::<sys::ClientDefaultLayout>,
        entry::<sys::BufferLayout>,
        entry::<sys::TopologyDefaultLayout>,
        entry::<sys::ExecutableOutputLayouts>,
        entry::<sys::ExecutableParameterLayouts>,
    ],
});

static FFI: Constant<3> = Constant(Extension {
    size: size_of::<Extension<3>>(),
    kind: 5,
    next: null(),
    functions: [no_state, no_state, register_handler],
});

/// Returns the first extension.
pub(crate) fn first() -> *mut c_void {
    (&raw const LAYOUTS).cast_mut().cast()
}

unsafe extern "C" fn no_state(_: *mut c_void) -> *mut c_void {
    Failure::unimplemented("functions of the XLA FFI have no states and no data of the host here")
        .into_raw()
}

/// Registers a handler of the XLA FFI; a null one removes it.
unsafe extern "C" fn register_handler(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: the host passes the struct of this function, whose texts are valid.
    let registered = unsafe { get::<FfiRegisterHandler>(arguments) }.and_then(|a| {
        // SAFETY: as above.
        let (target, platform) = unsafe {
            (text(a.target, a.target_size), text(a.platform, a.platform_size))
        };
        // `Host` is XLA's name for functions on memory of the process, which arrays are here.
        if ![PLATFORM, "host"].iter().any(|known| platform.eq_ignore_ascii_case(known)) {
            return Err(Failure::invalid(format!(
                "the handler of `{target}` is for the platform `{platform}`, expected `{PLATFORM}` or `Host`"
            )));
        }
        crate::ffi::register(&target, a.handler);
        Ok(())
    });
    registered.err().map_or(null_mut(), Failure::into_raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_error::RawError;
    use crate::testing::{S32, buffer, client, compile};
    use pjrt::sys::Arguments;

    /// Calls a function of the extension of layouts.
    fn call<A: Arguments>(mut arguments: A) -> A {
        arguments.header().size = size_of::<A>();
        // SAFETY: the struct is that of the function.
        let error = unsafe { LAYOUTS.0.functions[A::SLOT]((&raw mut arguments).cast()) };
        assert!(error.is_null());
        arguments
    }
    fn text_of(layout: *const c_void) -> String {
        let layout = layout.cast_mut();
        let written = call(sys::LayoutSerialize { layout, ..Default::default() });
        // SAFETY: the text is the layout's.
        unsafe { text(written.bytes, written.bytes_size) }.into_owned()
    }

    #[test]
    fn layouts_are_written_as_xla_writes_them() {
        let (client, _) = client(1);
        let dims = [2i64, 3];
        let (dims, num_dims) = (dims.as_ptr(), 2);
        let ask =
            sys::ClientDefaultLayout { client, ty: S32, dims, num_dims, ..Default::default() };
        let default = call(ask).layout;
        assert_eq!(text_of(default), "{1,0}");
        call(sys::LayoutDestroy { layout: default, ..Default::default() });
        let buffer = buffer(client, null_mut(), &[1], &[]);
        let layout = call(sys::BufferLayout { buffer, ..Default::default() }).layout;
        assert_eq!(text_of(layout), "{}");
        let program = "HloModule m, entry_computation_layout={(s32[2,3]{0,1})->s32[3,2]{1,0}}
            ENTRY e { x = s32[2,3] parameter(0) ROOT t = s32[3,2] transpose(x), dimensions={1,0} }";
        let executable = compile(client, program, 1);
        let first = |layouts: *const *const c_void| {
            // SAFETY: the executable has one.
            text_of(unsafe { *layouts })
        };
        let parameters = sys::ExecutableParameterLayouts { executable, ..Default::default() };
        assert_eq!(first(call(parameters).layouts), "{0,1}");
        let outputs = sys::ExecutableOutputLayouts { executable, ..Default::default() };
        assert_eq!(first(call(outputs).layouts), "{1,0}");
    }

    #[test]
    fn handlers_of_other_platforms_are_refused() {
        let register = |platform: &str| {
            let mut arguments = FfiRegisterHandler {
                size: size_of::<FfiRegisterHandler>(),
                target: c"of_extension".as_ptr(),
                target_size: 12,
                handler: Some(no_state),
                platform: platform.as_ptr().cast(),
                platform_size: platform.len(),
                traits: 0,
            };
            // SAFETY: the struct is that of the function, and the error the plugin's.
            unsafe {
                let error = FFI.0.functions[2]((&raw mut arguments).cast());
                get::<RawError>(error).map(|error| error.failure.message.clone())
            }
        };
        assert!(
            register("CUDA").is_ok_and(|message| message.contains("expected `etalon` or `Host`"))
        );
        assert!(register("Host").is_err() && register(PLATFORM).is_err());
    }
}
