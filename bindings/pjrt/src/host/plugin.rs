//! A loaded plugin, and the options of its clients.
#![expect(unsafe_code, reason = "loads a library and calls the C API")]
use super::error::call;
use super::{Client, Error, OptionValue, Result};
use crate::sys::{self, Api};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::Path;

/// The function that every plugin exports.
const ENTRY: &[u8] = b"GetPjrtApi\0";
/// The major version of the API.
const MAJOR: i32 = 0;

/// A plugin. Its library stays loaded as long as the process lives, because its threads do.
#[derive(Debug, Clone, Copy)]
pub struct Plugin(Api);

impl Plugin {
    /// Loads a plugin and initializes it.
    ///
    /// # Errors
    /// If the library cannot be loaded, is not a PJRT plugin, has another major version, or its initialization fails.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |message: &str| Error::Load(format!("{}: {message}", path.display()));
        // SAFETY: loading runs the initializers of the library, which the user named as a plugin.
        let library = unsafe { libloading::Library::new(path) };
        // The message of the loader begins with the path.
        let library = library.map_err(|e| Error::Load(e.to_string()))?;
        // Threads of a plugin outlive its clients: the library is never unloaded.
        let library = ManuallyDrop::new(library);
        // SAFETY: `GetPjrtApi` has this type in every PJRT plugin.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *mut c_void>(ENTRY) };
        let entry = entry.map_err(|_| failed("not a PJRT plugin: it has no `GetPjrtApi`"))?;
        // SAFETY: the function takes nothing, and returns the table of the library, which is never unloaded.
        let api = unsafe { Api::new(entry()) };
        let api = api.ok_or_else(|| failed("GetPjrtApi returned no table"))?;
        let (major, minor) = api.version();
        if major != MAJOR {
            let message =
                format!("the plugin has PJRT version {major}.{minor}, expected {MAJOR}.x");
            return Err(failed(&message));
        }
        // SAFETY: the struct has no pointers.
        unsafe { call(api, sys::PluginInitialize::default()) }?;
        Ok(Self(api))
    }
    /// Returns the major and the minor version of the API that the plugin was built with.
    pub fn version(self) -> (i32, i32) {
        self.0.version()
    }
    /// Creates a client with these options. XLA:CPU has `cpu_device_count` and `asynchronous`; XLA:GPU `platform_name`,
    /// `allocator`, `memory_fraction`, `preallocate` and `visible_devices`.
    ///
    /// # Errors
    /// Those of the plugin, for example for an unknown option.
    pub fn create(self, options: &[(String, OptionValue)]) -> Result<Client> {
        let values: Vec<sys::NamedValue> = options.iter().map(named_value).collect();
        let arguments = sys::ClientCreate {
            create_options: values.as_ptr(),
            num_options: values.len(),
            ..sys::ClientCreate::default()
        };
        // SAFETY: the options live until the call returns.
        let client = unsafe { call(self.0, arguments) }?.client;
        Client::new(self.0, client)
    }
}

/// Returns the form of an option that the C API takes; it borrows the texts.
fn named_value((name, value): &(String, OptionValue)) -> sys::NamedValue {
    #[expect(clippy::cast_possible_truncation, clippy::as_conversions, reason = "the API has f32")]
    let (kind, data, size) = match value {
        OptionValue::Text(text) => {
            (0, sys::NamedValueData { string: text.as_ptr().cast() }, text.len())
        }
        OptionValue::Int(int64) => (1, sys::NamedValueData { int64: *int64 }, 1),
        OptionValue::Float(float) => (3, sys::NamedValueData { float: *float as f32 }, 1),
        OptionValue::Bool(boolean) => (4, sys::NamedValueData { boolean: *boolean }, 1),
    };
    sys::NamedValue {
        header: sys::Header::of::<sys::NamedValue>(),
        name: name.as_ptr().cast(),
        name_size: name.len(),
        kind,
        value: data,
        value_size: size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plugin_is_not_loaded() {
        let error = Plugin::load(Path::new("/nothing/there.so")).unwrap_err();
        assert!(error.to_string().starts_with("/nothing/there.so: "), "{error}");
    }
}
