//! What two modules compute alike.
//!
//! A pass changes a few instructions of many. A value that both modules compute by the same
//! instructions from the same arguments becomes an argument of both: modules that are equal for any
//! such value are equal for those that it has. What remains is small, of a low degree, and without
//! ops that the field does not know, unless the pass changes them.
use crate::continuous::is_continuous;
use crate::fingerprint::{Fingerprints, hashed, own};
use crate::fit::same_signature;
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::{Copy, Kind, Parameter};
use hlo::{Module, Op, Shape, Verified};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The most instructions of an entry computation with the bodies of what it calls, and the most calls.
const MOST: usize = 100_000;
const MOST_CALLS: usize = 5_000;

/// Two modules of which each has, in place of what both compute alike, a parameter.
#[derive(Debug, Clone)]
pub struct Cut {
    /// The modules. Parameters that no module needs, and parts of the results that are the same
    /// value in both, are left out.
    pub modules: [Verified; 2],
    /// The values that are parameters now.
    pub values: usize,
}

/// Returns two modules of one signature without what both compute alike; `None` if that is nothing, if
/// one has an effect or a value that is not known, or if what remains decides something, or has
/// poles: those could depend on what the values have in common.
///
/// If these are equal for every argument, infinities included, so are those; if not, nothing is known
/// of those.
///
/// ```
/// let module = |root: &str| {
///     let text = format!("ENTRY e {{ x = f32[4] parameter(0) y = f32[4] tanh(x) {root} }}");
///     hlo::Module::parse(&text).unwrap().verify().unwrap()
/// };
/// let [one, two] = ["ROOT r = f32[4] add(y, y)", "c = f32[4] copy(y) ROOT r = f32[4] add(c, c)"].map(module);
/// let cut = field::cut([&one, &two]).unwrap();
/// let text = cut.modules[0].module().print(hlo::text::Style::Short);
/// assert!(!text.contains("tanh"), "{text}");
/// ```
#[must_use]
pub fn cut(modules: [&Verified; 2]) -> Option<Cut> {
    let modules = modules.map(Verified::module);
    same_signature(modules).ok()?;
    let [first, second] = modules.map(Side::new);
    let mut sides = [first?, second?];
    let [first, second] = sides.each_ref().map(Side::shareable);
    let shared: HashSet<u64> = first.intersection(&second).copied().collect();
    let known = sides.each_ref().map(Side::parameters);
    let mut values = BTreeMap::new();
    for side in &sides {
        for id in side.frontier(&shared) {
            let (hash, shape) = (side.numbers[&id].hash, &side.entry().instruction(id).shape);
            // A copy of a parameter is that parameter.
            if !known[0].contains_key(&hash) {
                values.entry(hash).or_insert_with(|| shape.clone());
            }
        }
    }
    let results = kept_results(&sides);
    if values.is_empty() && results.is_none() {
        return None;
    }
    for (side, known) in sides.iter_mut().zip(&known) {
        side.replace(&values, known, &shared);
        if let Some(results) = &results {
            side.keep_results(results);
        }
    }
    let count = sides[0].entry().parameters().len();
    for number in (0..count).rev() {
        let is_unused = |side: &Side| {
            let id = side.entry().parameters()[number];
            side.entry().root() != Some(id) && side.entry().users(id).is_empty()
        };
        if sides.iter().all(is_unused) {
            for side in &mut sides {
                side.remove_parameter(number);
            }
        }
    }
    let [first, second] = sides.map(Side::finish);
    let modules = [first?, second?];
    let is_fit = modules.iter().all(|module| is_continuous(module.module()));
    is_fit.then_some(Cut { modules, values: values.len() })
}

/// Returns the parts of the results that are not the same value in both; `None` if these are all.
fn kept_results(sides: &[Side; 2]) -> Option<Vec<usize>> {
    let roots = sides.each_ref().map(|side| {
        let id = side.entry().root()?;
        let root = side.entry().instruction(id);
        let parts = root.operands.iter().map(|id| side.numbers[id].hash);
        let parts = matches!(root.op, Op::Tuple(_)).then(|| parts.collect::<Vec<_>>());
        Some((side.numbers[&id].hash, parts))
    });
    let [Some((first, first_parts)), Some((second, second_parts))] = roots else { return None };
    if first == second {
        return Some(Vec::new());
    }
    let (first, second) = (first_parts?, second_parts?);
    let others: Vec<usize> = (0..first.len()).filter(|&i| first[i] != second[i]).collect();
    (others.len() < first.len()).then_some(others)
}

/// The value of an instruction.
#[derive(Debug, Clone, Copy)]
struct Number {
    /// Equal for what is computed by the same instructions from the same parameters.
    hash: u64,
    /// Whether it depends on a parameter.
    varies: bool,
}

/// A module whose calls and fusions are expanded, with the number of each value.
struct Side {
    rewriter: ModuleRewriter,
    numbers: HashMap<InstructionId, Number>,
}

impl Side {
    fn new(module: &Module) -> Option<Self> {
        let module = &expanded(module)?;
        let mut all = module.instructions();
        if !all.all(is_pure) {
            return None;
        }
        let mut side = Self { rewriter: ModuleRewriter::new(module), numbers: HashMap::new() };
        let mut fingerprints = Fingerprints::new(module);
        // Operands come before what they are operands of.
        for (id, _) in module.entry().instructions.iter() {
            let number = side.number(id, &mut fingerprints);
            side.numbers.insert(id, number);
        }
        Some(side)
    }
    fn entry(&self) -> &ComputationRewriter {
        self.rewriter.computation(self.rewriter.entry())
    }
    fn entry_mut(&mut self) -> &mut ComputationRewriter {
        self.rewriter.computation_mut(self.rewriter.entry())
    }

    fn number(&self, id: InstructionId, fingerprints: &mut Fingerprints<'_>) -> Number {
        let instruction = self.entry().instruction(id);
        let operands: Vec<Number> =
            instruction.operands.iter().map(|operand| self.numbers[operand]).collect();
        if let Op::Parameter(parameter) = &instruction.op {
            let hash = hashed(&("parameter", parameter.number));
            return Number { hash, varies: true };
        }
        // Layouts say where elements are, which only a bitcast sees.
        if matches!(instruction.op, Op::Copy(_)) && instruction.shape.array().is_some() {
            return operands[0];
        }
        if let Op::GetTupleElement(op) = &instruction.op {
            let tuple = self.entry().instruction(instruction.operands[0]);
            let part = usize::try_from(op.index).ok().and_then(|i| tuple.operands.get(i));
            if let (Op::Tuple(_), Some(part)) = (&tuple.op, part) {
                return self.numbers[part];
            }
        }
        let mut callees = Vec::new();
        instruction.op.each_callee(&mut |id| callees.push(id));
        let layouts = matches!(instruction.op, Op::Bitcast(_) | Op::BitcastConvert(_)).then(|| {
            let operand = &self.entry().instruction(instruction.operands[0]).shape;
            format!("{} {operand}", instruction.shape)
        });
        let callees: Vec<u64> =
            callees.into_iter().map(|id| fingerprints.computation(id)).collect();
        let hashes: Vec<u64> = operands.iter().map(|operand| operand.hash).collect();
        let shape = format!("{:#}", instruction.shape);
        Number {
            hash: hashed(&(own(instruction), shape, layouts, callees, hashes)),
            varies: operands.iter().any(|operand| operand.varies),
        }
    }

    /// Returns the numbers of parameters.
    fn parameters(&self) -> HashMap<u64, InstructionId> {
        let parameters = self.entry().parameters().into_iter();
        parameters.map(|id| (self.numbers[&id].hash, id)).collect()
    }
    /// Returns the numbers of values that a parameter may have, and that depend on one.
    fn shareable(&self) -> HashSet<u64> {
        let fits = |(id, number): (&InstructionId, &Number)| {
            let shape = &self.entry().instruction(*id).shape;
            let is_static =
                |leaf: &Shape| leaf.array().is_some_and(|array| array.dynamic.is_none());
            // The parts of a tuple are values on their own.
            let is_tuple = matches!(self.entry().instruction(*id).op, Op::Tuple(_));
            let is_value = !is_tuple && shape.leaves().into_iter().all(is_static);
            (number.varies && is_value).then_some(number.hash)
        };
        self.numbers.iter().filter_map(fits).collect()
    }
    /// Returns the instructions with such numbers that the result needs, but for those that only
    /// others of them need.
    fn frontier(&self, shared: &HashSet<u64>) -> Vec<InstructionId> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut open: Vec<InstructionId> = self.entry().root().into_iter().collect();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match shared.contains(&self.numbers[&id].hash) {
                true => found.push(id),
                false => open.extend(&self.entry().instruction(id).operands),
            }
        }
        found
    }
    /// Puts parameters in the place of values.
    fn replace(
        &mut self,
        values: &BTreeMap<u64, Shape>,
        known: &HashMap<u64, InstructionId>,
        shared: &HashSet<u64>,
    ) {
        let frontier = self.frontier(shared);
        let mut parameters = known.clone();
        for (&hash, shape) in values {
            let number = i64::try_from(self.entry().parameters().len()).unwrap_or(i64::MAX);
            let parameter = Instruction::new(Parameter { number }, shape.clone(), []);
            parameters.insert(hash, self.entry_mut().push("shared", parameter));
        }
        for id in frontier {
            let new = parameters[&self.numbers[&id].hash];
            let shape = self.entry().instruction(id).shape.clone();
            if new == id {
                continue;
            }
            // A bitcast sees the layout.
            match self.entry().instruction(new).shape == shape {
                true => self.entry_mut().replace_uses(id, new),
                false => self.entry_mut().replace(id, Instruction::new(Copy {}, shape, [new])),
            }
        }
        self.entry_mut().remove_dead_code(|_| false);
    }
    /// Leaves out all parts of the result but these.
    fn keep_results(&mut self, results: &[usize]) {
        let Some(root) = self.entry().root() else { return };
        let operands = &self.entry().instruction(root).operands;
        let parts = results.iter().map(|&i| operands[i]).collect();
        let tuple = self.entry_mut().add_tuple(root, parts);
        self.entry_mut().set_root(tuple);
        self.entry_mut().remove_dead_code(|_| false);
    }
    fn remove_parameter(&mut self, number: usize) {
        let id = self.entry().parameters()[number];
        self.entry_mut().remove_parameter(id);
    }
    fn finish(mut self) -> Option<Verified> {
        self.rewriter.remove_unused_computations();
        self.rewriter.finish().ok()?.verify().ok()
    }
}

/// Returns a module with the bodies of calls and fusions in their places, but for those that have other
/// layouts; `None` if they are too large.
fn expanded(module: &Module) -> Option<Module> {
    let mut rewriter = ModuleRewriter::new(module);
    let id = rewriter.entry();
    let mut open = rewriter.computation(id).ids();
    let mut calls = 0;
    while let Some(at) = open.pop() {
        let entry = rewriter.computation(id);
        let call = entry.instruction(at);
        let Some(callee) = call.op.called_once() else { continue };
        let body = rewriter.computation(callee);
        let stated = body.parameters().into_iter().chain(body.root());
        let stated = stated.map(|id| &body.instruction(id).shape);
        let given = call.operands.iter().map(|&id| &entry.instruction(id).shape);
        if !stated.eq(given.chain([&call.shape])) {
            continue;
        }
        let (operands, first) = (call.operands.clone(), entry.ids().len());
        let root = rewriter.inline(id, callee, &operands)?;
        let entry = rewriter.computation_mut(id);
        let all = entry.ids();
        calls += 1;
        if all.len() > MOST || calls > MOST_CALLS {
            return None;
        }
        open.extend(&all[first..]);
        entry.replace_uses(at, root);
        entry.remove(at);
    }
    rewriter.remove_unused_computations();
    rewriter.finish().ok()
}

/// Returns whether the operands of an instruction determine its value, and it does nothing else.
fn is_pure(instruction: &Instruction) -> bool {
    match instruction.opcode().kind() {
        // Devices exchange values that are the same in both modules.
        Kind::Array | Kind::Control | Kind::Device | Kind::Collective | Kind::Asynchronous => true,
        Kind::Value => {
            let value =
                if let Op::Constant(op) = &instruction.op { Some(&*op.value) } else { None };
            !matches!(value, Some(ConstantValue::Elided(_)))
        }
        Kind::Custom => {
            !matches!(&instruction.op, Op::CustomCall(op) if op.custom_call_has_side_effect)
        }
        Kind::Transfer | Kind::Host | Kind::Random => false,
    }
}
