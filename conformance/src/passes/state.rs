//! States that are read: verified modules, with what makes them equal to others.
use super::dump::StateFile;
use crate::compare::smallest_normal;
use crate::generate::Regime;
use collectives::spmd;
use field::fingerprint::{Fingerprints, hashed};
use hlo::diag::{Diagnostic, SourceFile, render};
use hlo::literal::ConstantValue;
use hlo::{Array, Literal, Module, Op, Scalar, Verified};
use load::{Format, LoadError, Loaded, Options, Reason};
use std::collections::{BTreeMap, BTreeSet};
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
    /// Etalon does not implement what it needs, or the file cannot be read: the same.
    Missing(String, String),
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

    /// Returns the state with the denormals of the constants of the state before it, of the same name
    /// and shape, of which its text has zeros: XLA prints the last state of a compilation while it
    /// flushes denormals. None if there are none.
    pub(super) fn with_denormals_of(&self, before: &Self) -> Option<Self> {
        let known = constants(before.module.module());
        let shown = constants(self.module.module());
        let is_flushed = |name: &str| {
            let (array, whole) = (shown.get(name)?, known.get(name)?);
            // Nearly all constants are the same.
            let is_other = array.shape() == whole.shape() && array.bytes() != whole.bytes();
            let mut bits = (0..array.len()).map(|i| array.get(i).to_bits(array.shape().ty));
            (is_other && (0..).zip(&mut bits).all(|(i, bits)| bits == flushed(whole, i)))
                .then_some(*whole)
        };
        let found: Vec<_> =
            shown.keys().filter_map(|&name| Some((name, is_flushed(name)?))).collect();
        if found.is_empty() {
            return None;
        }
        let mut module = self.module.module().clone();
        for (_, computation) in module.computations.iter_mut() {
            let ids: Vec<_> = computation.instructions.iter().map(|(id, _)| id).collect();
            for id in ids {
                let name = computation.name(id);
                let Some((_, whole)) = found.iter().find(|(of, _)| of == name) else { continue };
                let value = ConstantValue::Literal(Literal::Array((*whole).clone()));
                if let Op::Constant(constant) = &mut computation.instructions[id].op {
                    *constant.value = value;
                }
            }
        }
        let module = module.verify().ok()?;
        let fingerprint = Fingerprints::new(module.module()).module();
        let (module, elided) = (Arc::new(module), self.elided.clone());
        Some(Self { module, fingerprint, has_chlo: self.has_chlo, elided })
    }
}

/// Returns the constants with floats, by name.
fn constants(module: &Module) -> BTreeMap<&str, &Array> {
    let mut found = BTreeMap::new();
    for (_, computation) in module.computations.iter() {
        for (id, instruction) in computation.instructions.iter() {
            let Op::Constant(constant) = &instruction.op else { continue };
            let ConstantValue::Literal(Literal::Array(array)) = &*constant.value else { continue };
            let ty = array.shape().ty;
            if ty.is_float() || ty.is_complex() {
                found.insert(computation.name(id).as_str(), array);
            }
        }
    }
    found
}

/// Returns the bits of an element, whose denormals become a zero of the same sign.
fn flushed(array: &Array, i: usize) -> u128 {
    let ty = array.shape().ty;
    let least = smallest_normal(ty);
    let part = |x: f64| if x.abs() < least { 0.0_f64.copysign(x) } else { x };
    let element = match array.get(i) {
        Scalar::Float(x) => Scalar::Float(part(x)),
        Scalar::Complex(re, im) => Scalar::Complex(part(re), part(im)),
        whole @ (Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_)) => whole,
    };
    element.to_bits(ty)
}

/// What a program with functions of CHLO contains, in text and in bytecode.
const CHLO: &[u8] = b"chlo";

fn verified(module: Module, source: &SourceFile) -> Result<Verified, Unread> {
    module.verify().map_err(|errors| invalid(&errors.diagnostics(), source))
}

fn unread(error: &LoadError) -> Unread {
    match error.reason {
        Reason::Invalid if !error.diagnostics.first().is_some_and(is_unknown) => {
            match &error.source {
                Some(source) => invalid(&error.diagnostics, source),
                None => Unread::Invalid(first_line(&error.diagnostics), error.to_string()),
            }
        }
        Reason::Invalid | Reason::Unsupported => {
            let source = error.source.as_ref();
            let details = source.map(|source| rendered(&error.diagnostics, source));
            Unread::Missing(first_line(&error.diagnostics), details.unwrap_or_default())
        }
        Reason::Io(..) | Reason::OverLimit { .. } | Reason::File => {
            Unread::Missing(first_line(&error.diagnostics), String::new())
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
    Unread::Invalid(first_line(diagnostics), rendered(diagnostics, source))
}

fn rendered(diagnostics: &[Diagnostic], source: &SourceFile) -> String {
    let shown = diagnostics.iter().take(SHOWN);
    let rendered: Vec<String> =
        shown.map(|diagnostic| render(diagnostic, Some(source.source()), false)).collect();
    rendered.join("\n")
}

fn first_line(diagnostics: &[Diagnostic]) -> String {
    let Some(first) = diagnostics.first() else { return String::new() };
    let message = first.message.lines().next().unwrap_or_default();
    let place = first.instruction.as_ref().map(|path| format!(" (at {path})")).unwrap_or_default();
    format!("{}: {message}{place}", first.code)
}

fn has_elided(module: &Module) -> bool {
    let all = module.instructions();
    let mut ops = all.map(|instruction| &instruction.op);
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
