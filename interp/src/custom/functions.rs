//! The functions that a shared library defines, from its symbol table.
use crate::{Error, Result};
use num::error::Code;
use object::{BinaryFormat, Object as _, ObjectSymbol as _, SymbolKind};
use std::collections::BTreeSet;
use std::path::Path;

/// The names of the functions that a shared library itself defines and exports. Data, and the
/// functions of other libraries that it is linked with, are not among them.
#[derive(Debug, Clone)]
pub struct Functions(BTreeSet<String>);

impl Functions {
    /// Reads the symbol table of a library, which is not loaded.
    ///
    /// # Errors
    /// `E0410` if the file cannot be read or is no library.
    pub fn of(path: &Path) -> Result<Self> {
        // A device or a pipe may have no end.
        let metadata = std::fs::metadata(path).map_err(|e| failed(path, &e))?;
        if !metadata.is_file() {
            return Err(failed(path, &"it is not a file"));
        }
        let bytes = std::fs::read(path).map_err(|e| failed(path, &e))?;
        let file = object::File::parse(&*bytes).map_err(|e| failed(path, &e))?;
        // Mach-O has one table, and an underscore before the names of C.
        let is_mach = file.format() == BinaryFormat::MachO;
        let symbols = if is_mach { file.symbols() } else { file.dynamic_symbols() };
        let functions = symbols.filter(|symbol| {
            symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text
        });
        let names = functions.filter_map(|symbol| symbol.name().ok());
        let names =
            names.filter_map(|name| if is_mach { name.strip_prefix('_') } else { Some(name) });
        Ok(Self(names.map(str::to_owned).collect()))
    }
    /// Returns whether a function of this name is among them.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// Returns the error of a library that cannot be loaded.
pub(super) fn failed(path: &Path, error: &dyn std::fmt::Display) -> Error {
    let path = path.display().to_string();
    Code::Library { path, message: error.to_string() }.into()
}
