//! Coverage of a campaign: outcomes by opcode and element type.
use crate::results::Verdict;
use hlo::ir::Instruction;
use hlo::{ElementType, Literal, Module, Opcode, Scalar};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The number of runs by verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<Verdict, u64>,
    /// Runs with a result in both backends whose result in Etalon has no NaN and no infinity.
    pub finite: u64,
}

impl Tally {
    /// Counts a run.
    pub(super) fn add(&mut self, verdict: Verdict, expected: &[Literal]) {
        *self.counts.entry(verdict).or_default() += 1;
        let finite = verdict.is_executed() && expected.iter().all(is_finite);
        self.finite += u64::from(finite);
    }
    /// Returns the number of runs with a verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.counts.get(&verdict).copied().unwrap_or(0)
    }
    /// Returns the number of runs with a result in both backends.
    pub fn executed(&self) -> u64 {
        let executed = self.counts.iter().filter(|(verdict, _)| verdict.is_executed());
        executed.map(|(_, count)| count).sum()
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

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} executed ({} finite)", self.executed(), self.finite)?;
        for (verdict, count) in &self.counts {
            write!(f, ", {count} {}", verdict.words())?;
        }
        Ok(())
    }
}

/// The runs that test an opcode well enough; a campaign raises the weights of others.
pub const ENOUGH: u64 = 50;

/// The outcomes of the modules that contain an opcode with a result of an element type.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    by_type: BTreeMap<(Opcode, Option<ElementType>), Tally>,
    by_opcode: BTreeMap<Opcode, Tally>,
}

impl Coverage {
    pub(super) fn add(&mut self, module: &Module, verdict: Verdict, expected: &[Literal]) {
        let instructions = module.instructions();
        let keys: BTreeSet<_> = instructions.map(|one| (one.opcode(), ty(one))).collect();
        let opcodes: BTreeSet<Opcode> = keys.iter().map(|(op, _)| *op).collect();
        for key in keys {
            self.by_type.entry(key).or_default().add(verdict, expected);
        }
        for opcode in opcodes {
            self.by_opcode.entry(opcode).or_default().add(verdict, expected);
        }
    }
    /// Returns the outcomes of modules with this opcode.
    pub fn of(&self, opcode: Opcode) -> Tally {
        self.by_opcode.get(&opcode).cloned().unwrap_or_default()
    }
    /// Returns the opcodes that were executed fewer than [`ENOUGH`] times, the rarest first.
    pub fn rare(&self) -> Vec<Opcode> {
        let executed = |op: Opcode| self.by_opcode.get(&op).map_or(0, Tally::executed);
        let counts = Opcode::ALL.iter().map(|&op| (executed(op), op));
        let mut rare: Vec<(u64, Opcode)> = counts.filter(|(count, _)| *count < ENOUGH).collect();
        rare.sort_by_key(|&(count, _)| count);
        rare.into_iter().map(|(_, op)| op).collect()
    }
    /// Returns the number of element types that an opcode was executed with.
    pub fn types(&self, opcode: Opcode) -> usize {
        let executed = |((op, ty), tally): (&(Opcode, Option<ElementType>), &Tally)| {
            *op == opcode && ty.is_some() && tally.executed() > 0
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
            let tally = self.of(opcode);
            let (executed, finite, differ) =
                (tally.executed(), tally.finite, tally.of(Verdict::Differs));
            let unsupported = tally.of(Verdict::Unsupported);
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
