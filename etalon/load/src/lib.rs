//! Reads modules: HLO text, messages of XLA, and StableHLO programs, recognized by content.
//!
//! ```text
//! path ───┐
//! bytes ──┼─> Input ─read─> File ─parse─> Loaded
//! stream ─┘          gzip,          text, spans, arguments, warnings
//!                    format
//! ```
//!
//! ```
//! use load::{Format, Options, load};
//!
//! let text = "HloModule twice\nENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] add(p, p) }";
//! let loaded = load(text.as_bytes(), &Options::default())?;
//! assert_eq!((loaded.format, loaded.module.name.as_str()), (Format::HloText, "twice"));
//!
//! // The same module as a message of XLA: its text is what it prints as.
//! let message = hlo::proto::encode(&loaded.module)?;
//! let loaded = load(message.as_slice(), &Options::default())?;
//! assert_eq!(loaded.format, Format::Message);
//! assert!(loaded.file.text.contains("ROOT %r = f32[2]{0} add("));
//!
//! let error = load("HloModule a\nHloModule b\n".as_bytes(), &Options::default()).unwrap_err();
//! assert!(error.to_string().starts_with("error[E0614]: bytes has 2 modules"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod bytes;
mod devices;
mod error;
mod format;
mod several;

pub use error::{Code, LoadError, Reason};
pub use format::Format;
pub use stablehlo::convert::Argument;

use hlo::diag::{Diagnostic, Source, SourceFile};
use hlo::ir::ParseOptions;
use hlo::proto::Contents;
use hlo::{Literal, Module};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// Returns whether bytes look like a module: a message of XLA that contains one, a StableHLO program, or text.
pub fn has_module(bytes: &[u8]) -> bool {
    Format::of(bytes).is_ok()
}

/// What a module is read from.
pub enum Input<'a> {
    /// The file at a path.
    Path(&'a Path),
    /// Bytes, and their name in errors.
    Bytes(&'a str, Cow<'a, [u8]>),
    /// What can be read to its end, and its name in errors.
    Stream(&'a str, &'a mut dyn Read),
}

impl<'a> From<&'a Path> for Input<'a> {
    fn from(path: &'a Path) -> Self {
        Self::Path(path)
    }
}
impl<'a> From<&'a [u8]> for Input<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes("bytes", bytes.into())
    }
}

/// The options of loading.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Keep unknown attributes of HLO text, with a warning, instead of rejecting them.
    pub lenient: bool,
    /// The number of the module in a file of several, from 1.
    pub module: Option<u32>,
    /// The name of the function of a StableHLO program that runs, in place of `main`.
    pub function: Option<String>,
    /// What is known of the arguments of a StableHLO program with unknown sizes, in order.
    pub arguments: Vec<Argument>,
    /// The most bytes of the file, and of what it unpacks to; a module has at most 4 GiB anyway.
    pub most_bytes: Option<usize>,
}

/// A module and what its file says about it.
#[derive(Debug)]
pub struct Loaded {
    /// The name of the file, and the text that the spans of the module refer to: that of the file
    /// if its format is [`Format::HloText`], else the one that the module prints as.
    pub file: SourceFile,
    /// The module.
    pub module: Module,
    /// The arguments of each device, or a single list for all devices; empty if the file has none.
    pub arguments: Vec<Vec<Literal>>,
    /// Warnings, in text order.
    pub warnings: Vec<Diagnostic>,
    /// The format of the file.
    pub format: Format,
}

/// The contents of a file whose format is known.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// Its name in errors.
    pub name: String,
    /// Its bytes, decompressed.
    pub bytes: Cow<'a, [u8]>,
    /// Its format.
    pub format: Format,
}

/// Reads a module.
///
/// # Errors
/// Those of [`read`] and [`File::load`].
pub fn load<'a>(input: impl Into<Input<'a>>, options: &Options) -> Result<Loaded, LoadError> {
    read(input, options.most_bytes)?.load(options)
}

/// Reads the bytes of a module's file and recognizes its format; gzip is decompressed.
///
/// # Errors
/// `E0601` if the file cannot be read or decompressed, or has more than `most` bytes; `E0613` if it
/// has another format.
pub fn read<'a>(input: impl Into<Input<'a>>, most: Option<usize>) -> Result<File<'a>, LoadError> {
    let input = input.into();
    let name = match &input {
        Input::Path(path) => path.display().to_string(),
        Input::Bytes(name, _) | Input::Stream(name, _) => (*name).to_owned(),
    };
    let bytes = bytes::read(input, most).map_err(|error| LoadError::unread(&name, error, most))?;
    let format = Format::of(&bytes).map_err(|foreign| foreign.error(&name))?;
    Ok(File { name, bytes, format })
}

impl File<'_> {
    /// Reads the module, with the text that its spans refer to.
    ///
    /// # Errors
    /// Those of [`File::parse`]; `E0614` if the text does not have the module that the options
    /// name.
    pub fn load(self, options: &Options) -> Result<Loaded, LoadError> {
        let Self { name, bytes, format } = self;
        let is_stated = options.function.is_some() || !options.arguments.is_empty();
        if is_stated && format != Format::StableHlo {
            let count = "computations of known sizes, no functions".to_owned();
            let help = Some("leave out --function and --shape".to_owned());
            return Err(LoadError::file(Code::SeveralModules { path: name, count }, help));
        }
        match format {
            Format::HloText => hlo_text(name, bytes.into_owned(), options),
            Format::Message => {
                let contents = hlo::proto::open(&bytes).map_err(|e| LoadError::whole(&name, &e))?;
                let Contents { module, text, arguments } = contents;
                let file = SourceFile { name, text };
                Ok(Loaded { file, module, arguments, warnings: Vec::new(), format })
            }
            Format::StableHlo => {
                let mut module = mlir(&name, bytes, options)?;
                let warnings = devices::infer(&mut module).into_iter().collect();
                let (module, text) = module.with_text();
                let arguments = Vec::new();
                Ok(Loaded { file: SourceFile { name, text }, module, arguments, warnings, format })
            }
        }
    }
    /// Reads the module alone, without options. One of another format than HLO text has no spans:
    /// it is not printed to get some.
    ///
    /// # Errors
    /// `E01xx` and `E02xx` of HLO text and of messages, in text order; `E09xx` of StableHLO
    /// programs; `E0614` if a text has several modules.
    pub fn parse(&self) -> Result<Module, LoadError> {
        let Self { name, bytes, format } = self;
        match format {
            Format::HloText => {
                let text = bytes.clone().into_owned();
                hlo_text(name.clone(), text, &Options::default()).map(|loaded| loaded.module)
            }
            Format::Message => {
                hlo::proto::decode(bytes).map_err(|error| LoadError::whole(name, &error))
            }
            Format::StableHlo => {
                let mut module = mlir(name, Cow::Borrowed(bytes), &Options::default())?;
                devices::infer(&mut module);
                Ok(module)
            }
        }
    }
    /// Returns the shapes of the parameters of a StableHLO program with unknown sizes, which are
    /// [`hlo::ArrayShape::UNBOUNDED`]; none of any other module, or of a program that cannot be
    /// read.
    pub fn open_parameters(&self, options: &Options) -> Option<Vec<hlo::Shape>> {
        if self.format != Format::StableHlo {
            return None;
        }
        let bytes = match options.module {
            Some(number) => {
                let bytes = self.bytes.clone().into_owned();
                several::only(&self.name, bytes, Format::StableHlo, number).ok()?.into()
            }
            None => Cow::Borrowed(self.bytes.as_ref()),
        };
        let shapes = stablehlo::parameters(&bytes, options.function.as_deref()).ok()?;
        let is_open = |shape: &hlo::Shape| {
            shape.array().is_some_and(|array| array.dims.contains(&hlo::ArrayShape::UNBOUNDED))
        };
        shapes.iter().any(is_open).then_some(shapes)
    }
}

fn hlo_text(name: String, bytes: Vec<u8>, options: &Options) -> Result<Loaded, LoadError> {
    let bytes = match options.module {
        Some(number) => several::only(&name, bytes, Format::HloText, number)?,
        None => bytes,
    };
    let parsed = Module::parse_bytes(&bytes, ParseOptions { lenient: options.lenient });
    // Invalid UTF-8 is shown with replacement characters.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    let file = SourceFile { name, text };
    match parsed {
        Ok(hlo::ir::Parsed { module, warnings }) => {
            let (arguments, format) = (Vec::new(), Format::HloText);
            Ok(Loaded { file, module, arguments, warnings, format })
        }
        Err(errors) => Err(several::error(&file.name, file.text.as_bytes(), Format::HloText)
            .unwrap_or_else(|| LoadError {
                reason: Reason::Invalid,
                diagnostics: errors.diagnostics(),
                source: Some(file),
            })),
    }
}

fn mlir(name: &str, bytes: Cow<'_, [u8]>, options: &Options) -> Result<Module, LoadError> {
    let bytes = match options.module {
        Some(number) => several::only(name, bytes.into_owned(), Format::StableHlo, number)?.into(),
        None => bytes,
    };
    let parsed = stablehlo::parse_for(&bytes, options.function.as_deref(), &options.arguments);
    parsed.map_err(|error| {
        let text = error.span().and_then(|_| std::str::from_utf8(&bytes).ok());
        let several = options
            .module
            .is_none()
            .then(|| several::error(name, &bytes, Format::StableHlo))
            .flatten();
        if let Some(several) = several {
            return several;
        }
        let failed = match text {
            Some(text) => LoadError {
                reason: Reason::Invalid,
                diagnostics: vec![error.diagnostic()],
                source: Some(Source { name, text }.into()),
            },
            None => LoadError::whole(name, &error),
        };
        let is_unsupported = error.code().is_unsupported();
        let reason = if is_unsupported { Reason::Unsupported } else { failed.reason };
        LoadError { reason, ..failed }
    })
}
