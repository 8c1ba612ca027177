//! Which ops of which element types a backend has.
use crate::results::{Record, Results, Verdict};
use hlo::ir::Instruction;
use hlo::{ElementType, Opcode, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The number of ops that a type must be missing in, and be executed in none, before it is missing
/// altogether.
const OPS: usize = 3;

/// Which ops of which element types a backend has, as runs of its results show.
///
/// ```
/// use conformance::CapabilityMap;
/// use conformance::results::{Record, Results, Verdict};
/// use hlo::{ElementType, Opcode};
/// let mut results = Results::new("chip");
/// results.push(Record::new("add/f32/rule", Verdict::Agrees));
/// results.push(Record::new("add/f64/rule", Verdict::Unsupported));
/// let map = CapabilityMap::of(&results);
/// assert!(!map.lacks(Opcode::Add, ElementType::F32));
/// assert!(map.lacks(Opcode::Add, ElementType::F64));
/// assert!(!map.lacks(Opcode::Dot, ElementType::F64), "it was not tried");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapabilityMap {
    runs: BTreeMap<(Opcode, ElementType), Runs>,
}

/// How often an op of a type was executed, and how often the backend did not support it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Runs {
    executed: u64,
    unsupported: u64,
}

impl Runs {
    const fn lacks(self) -> bool {
        self.executed == 0 && self.unsupported > 0
    }
}

impl CapabilityMap {
    /// Returns what the results of a backend show. Cases without an op and a type, and those that
    /// the backend neither executed nor said not to support, show nothing.
    pub fn of(results: &Results) -> Self {
        let mut map = Self::default();
        for record in results.records() {
            let (op, ty) = (Opcode::from_name(&record.op), ElementType::from_name(&record.ty));
            if let Some(key) = op.zip(ty) {
                map.add(key, record.verdict);
            }
        }
        map
    }
    /// Returns results with one record for each op and type, which a file can keep.
    pub fn results(&self, backend: &str) -> Results {
        let mut results = Results::new(backend);
        for ((op, ty), runs) in &self.runs {
            let verdict = if runs.lacks() { Verdict::Unsupported } else { Verdict::Agrees };
            results.push(Record::new(format!("{op}/{ty}/executed"), verdict));
        }
        results
    }
    /// Notes a run of an op of a type.
    pub(crate) fn add(&mut self, key: (Opcode, ElementType), verdict: Verdict) {
        if verdict.is_executed() {
            self.runs.entry(key).or_default().executed += 1;
        } else if verdict == Verdict::Unsupported {
            self.runs.entry(key).or_default().unsupported += 1;
        }
    }
    /// Notes a run of an instruction alone. If it has several types, the backend lacks the one that
    /// it does not have in other instructions of the op.
    pub(crate) fn learn(
        &mut self,
        instruction: &Instruction,
        operands: &[&Shape],
        verdict: Verdict,
    ) {
        let op = instruction.opcode();
        let types = types(&instruction.shape, operands);
        let has = |map: &Self, ty| map.runs.get(&(op, ty)).is_some_and(|runs| runs.executed > 0);
        let unknown: Vec<_> = types.iter().copied().filter(|&ty| !has(self, ty)).collect();
        let shown = if verdict.is_executed() { types.into_iter().collect() } else { unknown };
        if verdict.is_executed() || shown.len() == 1 {
            for ty in shown {
                self.add((op, ty), verdict);
            }
        }
    }
    /// Adds what another map shows.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (&key, runs) in &other.runs {
            let own = self.runs.entry(key).or_default();
            own.executed += runs.executed;
            own.unsupported += runs.unsupported;
        }
    }
    /// Returns what was added to an earlier map.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let added = |(&key, runs): (&(Opcode, ElementType), &Runs)| {
            let before = earlier.runs.get(&key).copied().unwrap_or_default();
            let executed = runs.executed - before.executed;
            let unsupported = runs.unsupported - before.unsupported;
            (executed + unsupported > 0).then_some((key, Runs { executed, unsupported }))
        };
        Self { runs: self.runs.iter().filter_map(added).collect() }
    }
    /// Returns whether anything is known of an op of a type.
    pub(crate) fn knows(&self, op: Opcode, ty: ElementType) -> bool {
        self.runs.contains_key(&(op, ty))
    }
    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// Returns whether the backend lacks an op of a type, or the type altogether.
    pub fn lacks(&self, op: Opcode, ty: ElementType) -> bool {
        self.runs.get(&(op, ty)).map_or_else(|| self.lacks_type(ty), |runs| runs.lacks())
    }
    /// Returns whether the backend executed no op of a type, and lacks several.
    pub fn lacks_type(&self, ty: ElementType) -> bool {
        let mut of_type = self.runs.iter().filter(|((_, other), _)| *other == ty);
        of_type.clone().count() >= OPS && of_type.all(|(_, runs)| runs.lacks())
    }
    /// Returns whether the backend lacks every type of an op that is known.
    pub fn lacks_op(&self, op: Opcode) -> bool {
        let mut of_op = self.runs.iter().filter(|((other, _), _)| *other == op).peekable();
        of_op.peek().is_some() && of_op.all(|(_, runs)| runs.lacks())
    }
    /// Returns whether the backend lacks what an instruction needs.
    pub(crate) fn lacks_any(&self, op: Opcode, shape: &Shape, operands: &[&Shape]) -> bool {
        types(shape, operands).into_iter().any(|ty| self.lacks(op, ty))
    }
    /// Returns the ops, with the types that the backend has and those that it lacks.
    pub fn by_op(&self) -> Vec<(Opcode, [Vec<ElementType>; 2])> {
        let mut ops: BTreeMap<Opcode, [Vec<ElementType>; 2]> = BTreeMap::new();
        for ((op, ty), runs) in &self.runs {
            ops.entry(*op).or_default()[usize::from(runs.lacks())].push(*ty);
        }
        ops.into_iter().collect()
    }
}

/// Returns the element types of an instruction.
fn types(shape: &Shape, operands: &[&Shape]) -> BTreeSet<ElementType> {
    let leaves = shape.leaves();
    // What follows the data of a transfer is the backend's own.
    let data = if leaves.contains(&&Shape::Token) { 1 } else { leaves.len() };
    let arguments = operands.iter().filter(|shape| shape.array().is_some());
    let shapes = leaves.into_iter().take(data).chain(arguments.flat_map(|shape| shape.leaves()));
    shapes.filter_map(Shape::element_type).collect()
}

/// One line for each op of which the backend lacks a type.
impl fmt::Display for CapabilityMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops = self.by_op();
        let names =
            |types: &[ElementType]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(" ");
        let (mut complete, mut known) = (0, 0);
        for (op, [has, lacks]) in &ops {
            known += has.len() + lacks.len();
            complete += has.len();
            if !lacks.is_empty() {
                let has = if has.is_empty() { "nothing".to_owned() } else { names(has) };
                writeln!(f, "{:<26} has {has}; lacks {}", op.name(), names(lacks))?;
            }
        }
        writeln!(f, "{complete} of {known} pairs of an op and a type are executed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Agrees, Unsupported};
    use hlo::Module;

    fn learn(map: &mut CapabilityMap, instruction: &str, verdict: Verdict) {
        let text = format!(
            "HloModule m\nENTRY e {{ x = f32[] parameter(0) y = s8[] parameter(1) t = token[] after-all() ROOT r = {instruction} }}"
        );
        let module = Module::parse(&text).unwrap();
        let instructions = &module.entry().instructions;
        let root = &instructions[module.entry().root];
        let operands: Vec<&Shape> =
            root.operands.iter().map(|&id| &instructions[id].shape).collect();
        map.learn(root, &operands, verdict);
    }

    #[test]
    fn of_several_types_the_unknown_one_is_missing() {
        let (f32, s8, f16) = (ElementType::F32, ElementType::S8, ElementType::F16);
        let mut map = CapabilityMap::default();
        learn(&mut map, "f16[] convert(x)", Unsupported);
        assert!(map.is_empty(), "{map:?}");
        learn(&mut map, "s8[] convert(x)", Agrees);
        learn(&mut map, "f16[] convert(x)", Unsupported);
        let lacks = [f32, s8, f16].map(|ty| map.lacks(Opcode::Convert, ty));
        assert_eq!(lacks, [false, false, true]);
        // The context of a transfer is no data.
        learn(&mut map, "(f32[], u32[], token[]) send(x, t), channel_id=1", Unsupported);
        assert!(map.lacks_op(Opcode::Send) && !map.lacks_op(Opcode::Convert));
        let kept = CapabilityMap::of(&map.results("chip"));
        assert_eq!(kept.by_op(), map.by_op());
        let text = map.to_string();
        assert!(text.contains("has s8 f32; lacks f16\n"), "{text}");
        assert!(text.ends_with("2 of 4 pairs of an op and a type are executed\n"), "{text}");
    }

    #[test]
    fn a_type_is_missing_if_no_op_has_it() {
        let mut map = CapabilityMap::default();
        for op in ["add", "multiply", "subtract"] {
            assert!(!map.lacks(Opcode::Dot, ElementType::S8));
            learn(&mut map, &format!("s8[] {op}(y, y)"), Unsupported);
        }
        assert!(map.lacks(Opcode::Dot, ElementType::S8) && !map.lacks_op(Opcode::Dot));
        learn(&mut map, "s8[] negate(y)", Agrees);
        assert!(!map.lacks(Opcode::Dot, ElementType::S8));
    }
}
