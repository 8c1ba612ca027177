//! Programs without what differs between bytecode and text: the numbers of values, places, unused
//! ops, and where constants stand. JAX removes unused ops, and moves constants to the start of a
//! function, before it writes bytecode.
use rustc_hash::{FxHashMap, FxHashSet};
use stablehlo::ir::{Attributes, Op, Program, Region, ValueId};
use std::sync::Arc;

/// The numbers of constants begin here.
const CONSTANTS: u32 = 1 << 30;

/// Numbers the values of programs; constants have the same number in all of them.
#[derive(Default)]
pub(crate) struct Canonical {
    constants: Vec<Arc<Attributes>>,
    numbers: FxHashMap<ValueId, ValueId>,
    next: u32,
}

impl Canonical {
    /// Numbers values in order of their definition, and removes places and constants.
    pub(crate) fn program(&mut self, program: &mut Program) {
        self.numbers.clear();
        self.next = 0;
        remove_unused(&mut program.ops, &mut FxHashSet::default());
        self.ops(&mut program.ops);
        program.values = 0;
        program.locations.clear();
    }
    fn define(&mut self, id: &mut ValueId) {
        let number = ValueId(self.next);
        self.next += 1;
        self.numbers.insert(*id, number);
        *id = number;
    }
    fn ops(&mut self, ops: &mut Vec<Op>) {
        ops.retain_mut(|op| {
            (op.location, op.span) = (None, None);
            if op.name == "stablehlo.constant" {
                let known = self.constants.iter().position(|known| *known == op.attributes);
                let index = known.unwrap_or_else(|| {
                    self.constants.push(Arc::clone(&op.attributes));
                    self.constants.len() - 1
                });
                self.numbers.insert(
                    op.results[0].id,
                    ValueId(CONSTANTS + u32::try_from(index).expect("few constants")),
                );
                return false;
            }
            op.operands.iter_mut().for_each(|id| *id = self.numbers[id]);
            op.regions.iter_mut().for_each(|region| self.region(region));
            op.results.iter_mut().for_each(|value| self.define(&mut value.id));
            true
        });
    }
    fn region(&mut self, region: &mut Region) {
        region.arguments.iter_mut().for_each(|value| self.define(&mut value.id));
        self.ops(&mut region.ops);
    }
}

/// Removes the ops whose results are not used, from the last to the first.
fn remove_unused(ops: &mut Vec<Op>, used: &mut FxHashSet<ValueId>) {
    ops.reverse();
    ops.retain_mut(|op| {
        let keep = op.results.is_empty() || op.results.iter().any(|value| used.contains(&value.id));
        if keep {
            op.regions.iter_mut().for_each(|region| remove_unused(&mut region.ops, used));
            used.extend(&op.operands);
        }
        keep
    });
    ops.reverse();
}

/// Returns the first op in which two programs differ, as text.
pub(crate) fn difference(a: &Program, b: &Program) -> Option<String> {
    let (header_a, header_b) = ((&a.name, &a.attributes), (&b.name, &b.attributes));
    first_difference(&a.ops, &b.ops)
        .or_else(|| (header_a != header_b).then(|| format!("{header_a:?}\n{header_b:?}")))
}
fn first_difference(a: &[Op], b: &[Op]) -> Option<String> {
    for (a, b) in a.iter().zip(b) {
        for (a, b) in a.regions.iter().zip(&b.regions) {
            if let Some(difference) = first_difference(&a.ops, &b.ops) {
                return Some(difference);
            }
        }
        if a != b {
            let outline = |op: &Op| {
                let regions: Vec<_> =
                    op.regions.iter().map(|region| (&region.arguments, region.ops.len())).collect();
                format!(
                    "{} {:?} {:?} {:?} {regions:?}",
                    op.name, op.operands, op.results, op.attributes
                )
            };
            return Some(format!("{}\n{}", outline(a), outline(b)));
        }
    }
    (a.len() != b.len()).then(|| format!("{} ops and {}", a.len(), b.len()))
}
