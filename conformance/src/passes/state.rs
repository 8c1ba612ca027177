//! States that are read: verified modules, with what makes them equal to others.
use super::dump::StateFile;
use crate::fingerprint::{Fingerprints, hashed};
use crate::generate::Regime;
use collectives::spmd;
use hlo::diag::{Diagnostic, SourceFile, render};
use hlo::literal::ConstantValue;
use hlo::{Module, Op, Verified};
use load::{Format, LoadError, Loaded, Options, Reason};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A state of a module.
#[derive(Debug)]
pub(super) struct State {
    pub(super) module: Arc<Verified>,
    /// Equal for states that compute the same by the same instructions.
    pub(super) fingerprint: u64,
    /// Whether it is a program with functions of CHLO, which Etalon converts to HLO of its own.
    pub(super) has_chlo: bool,
    /// The constants that the text elides, by name and shape. They have drawn values.
    pub(super) elided: BTreeSet<String>,
}

/// Why a state is not a module that can run.
#[derive(Debug, Clone)]
pub(super) enum Unread {
    /// It breaks a rule: the first line of the error, and the error with its place.
    Invalid(String, String),
    /// Etalon does not implement what it needs, or the file cannot be read.
    Missing(String),
}

impl State {
    /// Reads and verifies a state.
    pub(super) fn read(file: &StateFile, lenient: bool) -> Result<Self, Unread> {
        let options = Options { lenient, ..Options::default() };
        let read = file.read().map_err(|error| unread(&error))?;
        let has_chlo = read.format == Format::StableHlo
            && read.bytes.windows(CHLO.len()).any(|bytes| bytes == CHLO);
        let loaded = read.load(&options).map_err(|error| unread(&error))?;
        let Loaded { file: mut source, mut module, .. } = loaded;
        if has_elided(&module)
            && let Some(full) = file.read_in_full(&options)
        {
            (source, module) = (full.file, full.module);
        }
        let elided = fill_elided(&mut module);
        let verified = verified(module, &source)?;
        let verified = match spmd::whole(&verified) {
            Some(module) => self::verified(module, &source)?,
            None => verified,
        };
        let fingerprint = Fingerprints::new(verified.module()).module();
        Ok(Self { module: Arc::new(verified), fingerprint, has_chlo, elided })
    }
}

/// What a program with functions of CHLO contains, in text and in bytecode.
const CHLO: &[u8] = b"chlo";

fn verified(module: Module, source: &SourceFile) -> Result<Verified, Unread> {
    module.verify().map_err(|errors| invalid(&errors.diagnostics(), source))
}

fn unread(error: &LoadError) -> Unread {
    match error.reason {
        Reason::Invalid if error.diagnostics.first().is_some_and(is_unknown) => {
            Unread::Missing(first_line(&error.diagnostics))
        }
        Reason::Invalid => match &error.source {
            Some(source) => invalid(&error.diagnostics, source),
            None => Unread::Invalid(first_line(&error.diagnostics), error.to_string()),
        },
        Reason::Unsupported | Reason::Io(..) | Reason::OverLimit { .. } | Reason::File => {
            Unread::Missing(first_line(&error.diagnostics))
        }
    }
}

/// Returns whether an error names an opcode, an attribute or a value that Etalon does not know: a
/// newer XLA may.
fn is_unknown(error: &Diagnostic) -> bool {
    ["E0103", "E0104", "E0113"].contains(&error.code)
}

/// The most errors of a state that are kept.
const SHOWN: usize = 3;

fn invalid(diagnostics: &[Diagnostic], source: &SourceFile) -> Unread {
    let shown = diagnostics.iter().take(SHOWN);
    let rendered: Vec<String> =
        shown.map(|diagnostic| render(diagnostic, Some(source.source()), false)).collect();
    Unread::Invalid(first_line(diagnostics), rendered.join("\n"))
}

fn first_line(diagnostics: &[Diagnostic]) -> String {
    let Some(first) = diagnostics.first() else { return String::new() };
    let message = first.message.lines().next().unwrap_or_default();
    let place = first.instruction.as_ref().map(|path| format!(" (at {path})")).unwrap_or_default();
    format!("{}: {message}{place}", first.code)
}

fn has_elided(module: &Module) -> bool {
    let all =
        module.computations.iter().flat_map(|(_, computation)| computation.instructions.iter());
    let mut ops = all.map(|(_, instruction)| &instruction.op);
    ops.any(|op| {
        matches!(op, Op::Constant(constant) if matches!(*constant.value, ConstantValue::Elided(_)))
    })
}

/// Gives elided constants values that depend on their names and shapes alone, so that those of
/// neighbors are equal. Returns the names and shapes.
fn fill_elided(module: &mut Module) -> BTreeSet<String> {
    let mut filled = BTreeSet::new();
    for (_, computation) in module.computations.iter_mut() {
        let names: Vec<String> = computation
            .instructions
            .iter()
            .map(|(id, _)| computation.name(id).to_string())
            .collect();
        for (id, instruction) in computation.instructions.iter_mut() {
            let Op::Constant(constant) = &mut instruction.op else { continue };
            let ConstantValue::Elided(shape) = &*constant.value else { continue };
            let name = names[id.index()].split(".clone").next().unwrap_or_default();
            let key = format!("{name} {shape:#}");
            let mut rng = fastrand::Rng::with_seed(hashed(&key));
            let value = crate::generate::value(&mut rng, shape, Regime::Benign);
            *constant.value = ConstantValue::Literal(value);
            filled.insert(key);
        }
    }
    filled
}
