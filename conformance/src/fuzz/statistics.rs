//! What a campaign really tested: outcomes by opcode and element type.
use crate::{Outcome, Report};
use hlo::ir::Instruction;
use hlo::{ElementType, Literal, Module, Opcode, Scalar};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::AddAssign;

/// The number of runs by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs with a result in both backends.
    pub executed: u64,
    /// Those of them whose result has no NaN and no infinity.
    pub finite: u64,
    /// Results that differ.
    pub differ: u64,
    /// Modules that the backend, or the reference, does not support.
    pub unsupported: u64,
    /// Modules that the backend does not compile.
    pub rejected: u64,
    /// Executions that failed.
    pub failed: u64,
    /// Executions in which the backend died.
    pub crashed: u64,
    /// Executions without an answer in time.
    pub timed_out: u64,
    /// Executions that failed in the reference.
    pub without_reference: u64,
}

/// The error number of a module that a backend does not compile.
const REJECTED: &str = "E0702";

impl Tally {
    /// Counts the outcome of a run.
    pub(super) fn add(&mut self, report: &Report, expected: &[Literal]) {
        *self += Self::of(report, expected);
    }
    fn of(report: &Report, expected: &[Literal]) -> Self {
        let mut tally = Self::default();
        let counter = match &report.outcome {
            Outcome::Agree(_) => &mut tally.executed,
            Outcome::Differ(_) => {
                tally.executed = 1;
                &mut tally.differ
            }
            Outcome::Unsupported(_) => &mut tally.unsupported,
            Outcome::Failed(_) if !report.treatment.is_empty() => &mut tally.without_reference,
            Outcome::Failed(failure) => {
                let code = failure.diagnostics.first().map_or("", |one| one.code);
                if code == REJECTED { &mut tally.rejected } else { &mut tally.failed }
            }
            Outcome::Crashed(_) => &mut tally.crashed,
            Outcome::TimedOut(_) => &mut tally.timed_out,
            Outcome::Skipped(_) => &mut tally.unsupported,
        };
        *counter += 1;
        tally.finite = u64::from(tally.executed > 0 && expected.iter().all(is_finite));
        tally
    }
    /// Whether an outcome is written down: any but agreement and what is not supported. A variant of a given module, unlike a
    /// generated one, may fail in the reference.
    pub(super) fn is_finding(report: &Report, is_variant: bool) -> bool {
        match report.outcome {
            Outcome::Failed(_) if is_variant && !report.treatment.is_empty() => false,
            Outcome::Agree(_) | Outcome::Unsupported(_) | Outcome::Skipped(_) => false,
            Outcome::Differ(_)
            | Outcome::Failed(_)
            | Outcome::Crashed(_)
            | Outcome::TimedOut(_) => true,
        }
    }
}

fn is_finite(literal: &Literal) -> bool {
    let finite = |leaf: &Literal| {
        (0..leaf.len()).all(|i| match leaf.get(i) {
            Scalar::Float(x) => x.is_finite(),
            Scalar::Complex(re, im) => re.is_finite() && im.is_finite(),
            Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => true,
        })
    };
    literal.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some()).all(finite)
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        let Self {
            executed,
            finite,
            differ,
            unsupported,
            rejected,
            failed,
            crashed,
            timed_out,
            without_reference,
        } = other;
        self.executed += executed;
        self.finite += finite;
        self.differ += differ;
        self.unsupported += unsupported;
        self.rejected += rejected;
        self.failed += failed;
        self.crashed += crashed;
        self.timed_out += timed_out;
        self.without_reference += without_reference;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} executed ({} finite)", self.executed, self.finite)?;
        let counts = [
            (self.differ, "differ"),
            (self.unsupported, "unsupported"),
            (self.rejected, "rejected"),
            (self.failed, "failed"),
            (self.crashed, "crashed"),
            (self.timed_out, "timed out"),
            (self.without_reference, "without a reference result"),
        ];
        for (count, name) in counts.iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {name}")?;
        }
        Ok(())
    }
}

/// The outcomes of the modules that contain an opcode with a result of an element type.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    by_type: BTreeMap<(Opcode, Option<ElementType>), Tally>,
    by_opcode: BTreeMap<Opcode, Tally>,
}

impl Coverage {
    pub(super) fn add(&mut self, module: &Module, report: &Report, expected: &[Literal]) {
        let tally = Tally::of(report, expected);
        let instructions = module.computations.iter().flat_map(|(_, c)| c.instructions.iter());
        let keys: BTreeSet<_> = instructions.map(|(_, one)| (one.opcode(), ty(one))).collect();
        let opcodes: BTreeSet<Opcode> = keys.iter().map(|(op, _)| *op).collect();
        for key in keys {
            *self.by_type.entry(key).or_default() += tally;
        }
        for opcode in opcodes {
            *self.by_opcode.entry(opcode).or_default() += tally;
        }
    }
    /// Returns the outcomes of modules with this opcode.
    pub fn of(&self, opcode: Opcode) -> Tally {
        self.by_opcode.get(&opcode).copied().unwrap_or_default()
    }
    /// Returns the number of element types that an opcode was executed with.
    pub fn types(&self, opcode: Opcode) -> usize {
        let executed = |((op, ty), tally): (&(Opcode, Option<ElementType>), &Tally)| {
            *op == opcode && ty.is_some() && tally.executed > 0
        };
        self.by_type.iter().filter(|&entry| executed(entry)).count()
    }
    /// Returns the outcomes by opcode and element type of the result.
    pub fn by_type(&self) -> impl Iterator<Item = (Opcode, Option<ElementType>, &Tally)> {
        self.by_type.iter().map(|((opcode, ty), tally)| (*opcode, *ty, tally))
    }
}

/// Returns the element type of the first array of a result.
fn ty(instruction: &Instruction) -> Option<ElementType> {
    instruction.shape.leaves().into_iter().find_map(hlo::Shape::element_type)
}

/// One line for each opcode.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<26} {:>5} {:>9} {:>9} {:>7} {:>11}",
            "opcode", "types", "executed", "finite", "differ", "unsupported"
        )?;
        for &opcode in Opcode::ALL {
            let Tally { executed, finite, differ, unsupported, .. } = self.of(opcode);
            let types = self.types(opcode);
            let name = opcode.name();
            writeln!(
                f,
                "{name:<26} {types:>5} {executed:>9} {finite:>9} {differ:>7} {unsupported:>11}"
            )?;
        }
        Ok(())
    }
}
