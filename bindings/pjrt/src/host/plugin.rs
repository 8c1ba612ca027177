//! A loaded plugin, and the options of its clients.
#![expect(unsafe_code, reason = "loads a library and calls the C API")]
use super::error::{call, slice};
use super::options::{from_raw, to_raw};
use super::{Client, Error, OptionValue, Result, Status};
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
    /// Returns what the plugin states of itself: `xla_version`, `stablehlo_current_version`,
    /// `stablehlo_minimum_version` and others, of which it may have none.
    ///
    /// # Errors
    /// Those of the plugin.
    pub fn attributes(self) -> Result<Vec<(String, OptionValue)>> {
        // SAFETY: the struct has no pointers that the plugin reads.
        let found = match unsafe { call(self.0, sys::PluginAttributes::default()) } {
            Ok(found) => found,
            // An old plugin, or one that states nothing.
            Err(Error::Missing(_) | Error::Plugin { status: Status::UNIMPLEMENTED, .. }) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        // SAFETY: the attributes live as long as the plugin, which is never unloaded.
        unsafe {
            let all = slice(found.attributes, found.num_attributes);
            Ok(all.iter().filter_map(|raw| from_raw(raw)).collect())
        }
    }
    /// Creates a client with these options. XLA:CPU has `cpu_device_count` and `asynchronous`; XLA:GPU `platform_name`,
    /// `allocator`, `memory_fraction`, `preallocate` and `visible_devices`.
    ///
    /// # Errors
    /// Those of the plugin, for example for an unknown option.
    pub fn create(self, options: &[(String, OptionValue)]) -> Result<Client> {
        let values: Vec<sys::NamedValue> = options.iter().map(to_raw).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plugin_is_not_loaded() {
        let error = Plugin::load(Path::new("/nothing/there.so")).unwrap_err();
        assert!(error.to_string().starts_with("/nothing/there.so: "), "{error}");
    }
}
