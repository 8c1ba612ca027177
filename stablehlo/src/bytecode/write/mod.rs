//! Portable artifacts: MLIR bytecode of VHLO, for any version of StableHLO.
//!
//! What the files of the reader read, those of the same names here write.
mod builtin;
mod bytes;
mod forms;
mod ops;
mod sharding;
mod tables;
mod vhlo_attributes;
mod vhlo_types;

use crate::error::{Code, Error, Result};
use crate::ir::{Op, Program, Type};
use crate::version::Version;
use bytes::Bytes;
use tables::{Dialect, Tables};

/// From this version on programs are compatible for five years; no reader asks for an older one.
const STABLE: Version = Version::new(1, 0, 0);
/// The first version with attributes and ops of other dialects.
const MIXED: Version = Version::new(1, 11, 0);

/// Writes a program for this version, or else for the first from [`STABLE`] on that has all of it.
pub(crate) fn write(program: &Program, target: Option<Version>) -> Result<Vec<u8>> {
    let limit = target.map_or(Ok(Version::CURRENT), Version::check)?;
    let mut encoder = Encoder::new(program, limit, limit.min(STABLE));
    let ir = encoder.program()?;
    let version = target.unwrap_or(encoder.needs.max(STABLE));
    let mut file = Bytes(crate::MAGIC.to_vec());
    file.varint(version.bytecode());
    file.0.extend_from_slice(format!("StableHLO_v{version}\0").as_bytes());
    encoder.tables.write(&mut file, version.bytecode(), &ir.0);
    Ok(file.0)
}
/// Returns the first version that a program can be written for.
pub(crate) fn needs(program: &Program) -> Result<Version> {
    let mut encoder = Encoder::new(program, Version::CURRENT, Version::MINIMUM);
    encoder.program()?;
    Ok(encoder.needs)
}

/// A program that is being written.
#[derive(Debug)]
struct Encoder<'p> {
    program: &'p Program,
    tables: Tables,
    /// The newest version whose ops, attributes and types may be used.
    limit: Version,
    /// The version whose ops are used where a program does not need those of a later one.
    base: Version,
    /// The newest version that something in the program needs.
    needs: Version,
    /// The version of bytecode.
    format: u64,
    /// The types of values that are defined.
    types: Vec<Option<&'p Type>>,
    /// The numbers of values in the regions that are being written.
    numbers: Vec<usize>,
    /// The attributes of locations.
    locations: Vec<Option<usize>>,
    /// The op that is being written.
    op: Option<&'p Op>,
}

impl<'p> Encoder<'p> {
    fn new(program: &'p Program, limit: Version, base: Version) -> Self {
        let values = usize::try_from(program.values).unwrap_or(0);
        Self {
            program,
            tables: Tables::default(),
            limit,
            base,
            needs: Version::MINIMUM,
            format: limit.bytecode(),
            types: vec![None; values],
            numbers: vec![0; values],
            locations: vec![None; program.locations.len()],
            op: None,
        }
    }
    /// Notes that a part of the program needs this version.
    fn require(&mut self, version: Version, part: impl FnOnce(&Self) -> String) -> Result<()> {
        self.needs = self.needs.max(version);
        if version <= self.limit {
            return Ok(());
        }
        let (part, target) = (part(self), self.limit);
        let message = format!("{part} needs StableHLO {version}; the target is {target}");
        Err(self.at_op(Code::Target { message }.into()))
    }
    /// Returns the error of a part of the program that portable bytecode does not have.
    #[cold]
    fn unsupported(&self, part: &str) -> Error {
        let message = format!("{part} cannot be written as portable bytecode");
        self.at_op(Error::unsupported(message))
    }
    /// Puts an error at the op that is being written.
    #[cold]
    fn at_op(&self, error: Error) -> Error {
        match self.op.and_then(|op| op.span) {
            Some(span) => error.at(span),
            None => error,
        }
    }
    /// Returns a part of the op that is being written, for messages.
    #[cold]
    fn part(&self, part: &str) -> String {
        match self.op {
            Some(op) => format!("`{}`: {part}", op.name),
            None => part.to_owned(),
        }
    }
}
