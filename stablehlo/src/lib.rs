//! StableHLO: reads MLIR bytecode and MLIR text into [`hlo::Module`], and writes modules as text
//! and as portable artifacts.
//!
//! ```text
//! bytecode <─┐                ─convert──> hlo::Module
//!            ├─> ir::Program
//! text <─────┘                <─export─── hlo::Verified
//! ```
//!
//! Both readers produce the same [`ir`], in which ops and attributes have their names in
//! StableHLO's text; the conversion to HLO reads that alone, and that from HLO makes it.
//!
//! ```
//! let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!   %y = stablehlo.add %x, %x : tensor<2xf32>
//!   return %y : tensor<2xf32>
//! }";
//! let program = stablehlo::read(text.as_bytes())?;
//! assert_eq!(program.ops[0].regions[0].ops[0].name, "stablehlo.add");
//! # Ok::<(), stablehlo::Error>(())
//! ```
mod attributes;
mod bytecode;
pub mod convert;
mod dense;
mod element;
mod error;
mod export;
pub mod ir;
mod normal;
mod ops;
mod quantized;
pub mod testing;
mod text;
mod version;
mod vhlo;

pub use error::{Code, Error, Result};
pub use export::{Chlo, ExportOptions, from_hlo};
pub use text::print::TextStyle;
pub use version::Version;

use ir::Program;

/// The limit on nesting of regions, types, attributes and locations together. A level takes a few
/// kilobytes of stack in a build for debugging, and a thread may have 2 MiB.
const NESTING_LIMIT: u32 = 100;
/// The first bytes of MLIR bytecode.
const MAGIC: &[u8] = b"ML\xefR";

/// Reads a program from MLIR bytecode or MLIR text and converts it to HLO.
///
/// ```
/// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
///   %y = stablehlo.add %x, %x : tensor<2xf32>
///   return %y : tensor<2xf32>
/// }";
/// let module = stablehlo::parse(text.as_bytes())?;
/// assert_eq!(module.entry().root_opcode(), hlo::Opcode::Add);
/// # Ok::<(), stablehlo::Error>(())
/// ```
pub fn parse(bytes: &[u8]) -> Result<hlo::Module> {
    parse_for(bytes, None, &[])
}

/// Reads a program as [`parse`] does, and converts it with this function as the entry, `@main`
/// without one, for arguments of which this is known, if anything is.
///
/// ```
/// let text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
///   %y = stablehlo.tanh %x : tensor<2xf32>
///   return %y : tensor<2xf32>
/// }
/// func.func @g(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";
/// assert!(stablehlo::parse(text.as_bytes()).is_err());
/// let module = stablehlo::parse_for(text.as_bytes(), Some("f"), &[])?;
/// assert_eq!(module.entry().root_opcode(), hlo::Opcode::Tanh);
/// # Ok::<(), stablehlo::Error>(())
/// ```
///
/// # Errors
/// Those of [`parse`], `E0923` if the program does not have the function, and `E0926` if the
/// arguments do not fit the parameters.
pub fn parse_for(
    bytes: &[u8],
    function: Option<&str>,
    arguments: &[convert::Argument],
) -> Result<hlo::Module> {
    let program = read_entry(bytes, function)?;
    match arguments {
        [] => convert::module(&program),
        known => convert::module_for(&program, known),
    }
}

/// Reads a program and returns the shapes of the parameters of this function, or of its entry;
/// unknown sizes are [`hlo::ArrayShape::UNBOUNDED`].
///
/// ```
/// let text = "func.func @main(%x: tensor<?x2xf32>) { return }";
/// let shapes = stablehlo::parameters(text.as_bytes(), None)?;
/// assert_eq!(shapes[0].array().map(|array| array.dims[0]), Some(hlo::ArrayShape::UNBOUNDED));
/// # Ok::<(), stablehlo::Error>(())
/// ```
///
/// # Errors
/// Those of [`parse_for`].
pub fn parameters(bytes: &[u8], function: Option<&str>) -> Result<Vec<hlo::Shape>> {
    convert::parameters(&read_entry(bytes, function)?)
}

/// Reads a program from MLIR bytecode or MLIR text, recognized by content.
pub fn read(bytes: &[u8]) -> Result<Program> {
    read_entry(bytes, None)
}

/// Reads a program with this function as the entry.
fn read_entry(bytes: &[u8], entry: Option<&str>) -> Result<Program> {
    let program = Program { entry: entry.map(Into::into), ..read_functions(bytes)? };
    match program.unread.iter().find(|(name, _)| program.may_start_at(name)) {
        Some((_, error)) => Err(error.clone()),
        None => Ok(program),
    }
}
/// Reads a program, any function of which may have a body that is not read.
fn read_functions(bytes: &[u8]) -> Result<Program> {
    if bytes.starts_with(MAGIC) {
        return bytecode::read(bytes);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("byte {} is not valid UTF-8", error.valid_up_to());
        Error::from(Code::Encoding { message })
    })?;
    text::read(text)
}

impl Program {
    /// Writes the program as a portable artifact: MLIR bytecode of VHLO, which readers of this
    /// version of StableHLO and of later ones take.
    ///
    /// Without a target the version is the first from 1.0.0 on that has all that the program uses.
    ///
    /// # Errors
    ///
    /// `E0913` if the program uses what is newer than the target, and `E0920` if VHLO does not have
    /// it: ops of CHLO, types without a meaning.
    ///
    /// ```
    /// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ///   %y = stablehlo.tan %x : tensor<2xf32>
    ///   return %y : tensor<2xf32>
    /// }";
    /// let program = stablehlo::read(text.as_bytes())?;
    /// let bytes = program.to_bytecode(None)?;
    /// assert!(bytes.starts_with(b"ML\xefR\x0dStableHLO_v1.4.0\0"));
    /// let error = program.to_bytecode(Some("1.3.0".parse()?)).unwrap_err();
    /// assert_eq!(error.code().to_string(), "`stablehlo.tan` needs StableHLO 1.4.0; the target is 1.3.0");
    /// # Ok::<(), stablehlo::Error>(())
    /// ```
    pub fn to_bytecode(&self, target: Option<Version>) -> Result<Vec<u8>> {
        bytecode::write(self, target)
    }
    /// Returns the first version of StableHLO that the program can be written for.
    pub fn needs(&self) -> Result<Version> {
        bytecode::needs(self)
    }
}

/// Returns whether these are the bytes of an MLIR program, not of an HLO module.
///
/// ```
/// assert!(stablehlo::is_mlir(b"module @jit_f {"));
/// assert!(stablehlo::is_mlir("\u{feff}module @jit_f {".as_bytes()));
/// assert!(stablehlo::is_mlir(b"#loc1 = loc(unknown)"));
/// assert!(!stablehlo::is_mlir(b"HloModule jit_f"));
/// assert!(!stablehlo::is_mlir(b"// ----------\n// A test\nHloModule jit_f"));
/// assert!(!stablehlo::is_mlir(b"# A heading, x = y"));
/// ```
pub fn is_mlir(bytes: &[u8]) -> bool {
    if bytes.starts_with(MAGIC) {
        return true;
    }
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    while rest.starts_with(b"//") {
        let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        // HLO text has such comments, too, but not this line between the programs of a file; a
        // longer rule is a comment.
        if rest[..line].trim_ascii_end() == b"// -----" {
            return true;
        }
        rest = rest[line..].trim_ascii_start();
    }
    let word = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"_.".contains(byte)));
    let (word, after) = rest.split_at(word.unwrap_or(rest.len()));
    let after = after.trim_ascii_start().first();
    match (word, after) {
        (b"module", Some(b'@' | b'{')) | (b"func", Some(b'@')) => true,
        (b"builtin.module" | b"func.func" | b"sdy.mesh" | b"vhlo.func_v1", _) => true,
        (b"module", _) => rest.starts_with(b"module attributes"),
        (b"", Some(b'"')) => {
            let names: [&[u8]; 3] = [b"\"builtin.module\"", b"\"func.func\"", b"\"vhlo.func_v1\""];
            names.iter().any(|name| rest.starts_with(name))
        }
        // An alias; headings of Markdown and other comments are not.
        (b"", Some(b'#' | b'!')) => {
            rest.get(1).is_some_and(u8::is_ascii_alphabetic) && rest.contains(&b'=')
        }
        _ => false,
    }
}
