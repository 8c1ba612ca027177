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
    runs: Counts<(Opcode, ElementType)>,
    /// Of instructions of several types: an op may lack a combination of types that it has.
    mixed: Counts<(Opcode, Types)>,
}

/// The element types of the operands and of the results of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Types {
    operands: BTreeSet<ElementType>,
    results: BTreeSet<ElementType>,
}

/// How often each of several things was executed.
type Counts<K> = BTreeMap<K, Runs>;

/// How often an op of a type was executed, and how often the backend did not support it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Runs {
    executed: u64,
    unsupported: u64,
}

impl Runs {
    /// Counts a run.
    fn add(&mut self, verdict: Verdict) {
        self.executed += u64::from(verdict.is_executed());
        self.unsupported += u64::from(verdict == Verdict::Unsupported);
    }
    /// Returns the verdict that a file keeps.
    const fn verdict(self) -> Verdict {
        if self.lacks() { Verdict::Unsupported } else { Verdict::Agrees }
    }
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
            if let Some(key) = Types::of_name(&record.name) {
                map.mixed.entry(key).or_default().add(record.verdict);
                continue;
            }
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
            results.push(Record::new(format!("{op}/{ty}/executed"), runs.verdict()));
        }
        for ((op, types), runs) in &self.mixed {
            results.push(Record::new(types.name(*op), runs.verdict()));
        }
        results
    }
    /// Notes a run of an op of a type.
    pub(crate) fn add(&mut self, key: (Opcode, ElementType), verdict: Verdict) {
        if verdict.is_executed() || verdict == Verdict::Unsupported {
            self.runs.entry(key).or_default().add(verdict);
        }
    }
    /// Notes a run of an instruction alone. If it has several types, the backend lacks the one that
    /// it does not have in other instructions of the op; if it has all of them, their combination.
    pub(crate) fn learn(
        &mut self,
        instruction: &Instruction,
        operands: &[&Shape],
        verdict: Verdict,
    ) {
        let op = instruction.opcode();
        let types = Types::of(&instruction.shape, operands);
        let has = |map: &Self, ty| map.runs.get(&(op, ty)).is_some_and(|runs| runs.executed > 0);
        let unknown: Vec<_> = types.all().filter(|&ty| !has(self, ty)).collect();
        let shown = if verdict.is_executed() { types.all().collect() } else { unknown };
        let is_combination = types.is_mixed() && (verdict.is_executed() || shown.is_empty());
        if verdict.is_executed() || shown.len() == 1 {
            for ty in shown {
                self.add((op, ty), verdict);
            }
        }
        if is_combination {
            self.mixed.entry((op, types)).or_default().add(verdict);
        }
    }
    /// Adds what another map shows.
    pub(crate) fn merge(&mut self, other: &Self) {
        merge(&mut self.runs, &other.runs);
        merge(&mut self.mixed, &other.mixed);
    }
    /// Returns what was added to an earlier map.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self { runs: since(&self.runs, &earlier.runs), mixed: since(&self.mixed, &earlier.mixed) }
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
        let types = Types::of(shape, operands);
        types.all().any(|ty| self.lacks(op, ty))
            || self.mixed.get(&(op, types)).is_some_and(|runs| runs.lacks())
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

fn merge<K: Ord + Clone>(into: &mut Counts<K>, other: &Counts<K>) {
    for (key, runs) in other {
        let own = into.entry(key.clone()).or_default();
        own.executed += runs.executed;
        own.unsupported += runs.unsupported;
    }
}
fn since<K: Ord + Clone>(counts: &Counts<K>, earlier: &Counts<K>) -> Counts<K> {
    let added = |(key, runs): (&K, &Runs)| {
        let before = earlier.get(key).copied().unwrap_or_default();
        let executed = runs.executed - before.executed;
        let unsupported = runs.unsupported - before.unsupported;
        (executed + unsupported > 0).then_some((key.clone(), Runs { executed, unsupported }))
    };
    counts.iter().filter_map(added).collect()
}

impl Types {
    /// Returns the element types of an instruction.
    fn of(shape: &Shape, operands: &[&Shape]) -> Self {
        let leaves = shape.leaves();
        // What follows the data of a transfer is the backend's own.
        let data = if leaves.contains(&&Shape::Token) { 1 } else { leaves.len() };
        let arrays = operands.iter().filter(|shape| shape.array().is_some());
        Self {
            operands: arrays.filter_map(|shape| shape.element_type()).collect(),
            results: leaves.into_iter().take(data).filter_map(Shape::element_type).collect(),
        }
    }
    fn all(&self) -> impl Iterator<Item = ElementType> + use<> {
        (&self.operands | &self.results).into_iter()
    }
    fn is_mixed(&self) -> bool {
        self.all().count() > 1
    }
    /// Returns the name of the record of an op of these types.
    fn name(&self, op: Opcode) -> String {
        let list = |types: &BTreeSet<ElementType>| names(types.iter().copied(), "+");
        let first = self.results.first().or(self.operands.first()).map_or("", |ty| ty.name());
        let (operands, results) = (list(&self.operands), list(&self.results));
        format!("{op}/{first}/executed[operands={operands};results={results}]")
    }
    /// Returns the op and the types of the record of this name.
    fn of_name(name: &str) -> Option<(Opcode, Self)> {
        let (op, rest) = name.split_once('/')?;
        let (_, rest) = rest.split_once("/executed[operands=")?;
        let (operands, results) = rest.strip_suffix(']')?.split_once(";results=")?;
        let list = |text: &str| {
            let words = text.split('+').filter(|word| !word.is_empty());
            words.map(ElementType::from_name).collect::<Option<BTreeSet<_>>>()
        };
        let types = Self { operands: list(operands)?, results: list(results)? };
        Some((Opcode::from_name(op)?, types))
    }
}

fn names(types: impl Iterator<Item = ElementType>, separator: &str) -> String {
    types.map(ElementType::name).collect::<Vec<_>>().join(separator)
}

/// One line for each op of which the backend lacks a type, or a combination of types.
impl fmt::Display for CapabilityMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops = self.by_op();
        let list = |types: &[ElementType]| names(types.iter().copied(), " ");
        let (mut complete, mut known) = (0, 0);
        for (op, [has, lacks]) in &ops {
            known += has.len() + lacks.len();
            complete += has.len();
            if !lacks.is_empty() {
                let has = if has.is_empty() { "nothing".to_owned() } else { list(has) };
                writeln!(f, "{:<26} has {has}; lacks {}", op.name(), list(lacks))?;
            }
        }
        for ((op, types), _) in self.mixed.iter().filter(|(_, runs)| runs.lacks()) {
            let [operands, results] =
                [&types.operands, &types.results].map(|types| names(types.iter().copied(), " "));
            writeln!(f, "{:<26} lacks {operands} -> {results}", op.name())?;
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
    fn of_known_types_a_combination_is_missing() {
        let mut map = CapabilityMap::default();
        for types in ["s8[] convert(x)", "f32[] convert(y)", "f16[] convert(x)"] {
            learn(&mut map, types, Agrees);
        }
        learn(&mut map, "f16[] convert(y)", Unsupported);
        let [s8, f16] = [ElementType::S8, ElementType::F16];
        assert!(!map.lacks(Opcode::Convert, s8) && !map.lacks(Opcode::Convert, f16));
        let shape = |ty| Shape::scalar(ty);
        let lacks = |map: &CapabilityMap, from, to| {
            map.lacks_any(Opcode::Convert, &shape(to), &[&shape(from)])
        };
        assert!(lacks(&map, s8, f16) && !lacks(&map, f16, s8));
        assert!(map.to_string().contains("lacks s8 -> f16\n"), "{map}");
        let kept = CapabilityMap::of(&map.results("chip"));
        assert!(lacks(&kept, s8, f16) && kept.to_string() == map.to_string());
        learn(&mut map, "f16[] convert(y)", Agrees);
        assert!(!lacks(&map, s8, f16));
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
