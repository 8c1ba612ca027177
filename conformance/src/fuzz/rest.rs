//! The rest of a module of which a backend does not support some instructions.
use crate::backend::{Backend, Code};
use crate::program::{Program, Values, alone, arrays, is_done, rebuilt, watching};
use crate::reduce::{Draft, has_values};
use crate::results::Verdict;
use crate::{CapabilityMap, Subject};
use hlo::ir::rewrite::ComputationRewriter;
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::Kind;
use hlo::{ArrayShape, ElementType, Literal, Module, Opcode, Shape, Verified};
use interp::DeviceGrid;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The instructions of a module that become parameters, since the backend does not support them.
pub(super) struct Rest {
    /// Their arrays: each is the result of such an instruction, or an element of it.
    cut: Vec<InstructionId>,
    /// The element types that no value of the backend has.
    types: BTreeSet<ElementType>,
    /// The module without them, once it was made.
    module: Option<(Arc<Verified>, String)>,
}

/// Returns whether an instruction computes nothing.
fn holds_values(instruction: &Instruction) -> bool {
    [Opcode::Parameter, Opcode::Constant, Opcode::Tuple, Opcode::GetTupleElement]
        .contains(&instruction.opcode())
}

/// Returns whether the value of an instruction can be an argument.
fn has_value(instruction: &Instruction) -> bool {
    is_done(instruction) && has_values(&instruction.shape)
}

impl Rest {
    /// Runs each instruction of a module alone, to learn which the backend does not support;
    /// returns `None` if it supports each of them alone, or none of them.
    pub(super) fn of(
        subject: &Subject,
        reference: &mut dyn Backend,
        backend: &mut dyn Backend,
        learned: &mut CapabilityMap,
    ) -> Option<Self> {
        let module = subject.module.module();
        let entry = module.entry();
        let valued = entry.instructions.iter().filter(|(_, one)| has_value(one));
        let valued: Vec<InstructionId> = valued.map(|(id, _)| id).collect();
        let values: HashMap<InstructionId, Values> =
            valued.iter().copied().zip(values(subject, reference, &valued)?).collect();
        let mut prober = Prober { module, backend, learned, callees: HashMap::new() };
        let (mut lacking, mut computed) = (BTreeSet::new(), 0);
        for (id, instruction) in entry.instructions.iter() {
            if !holds_values(instruction) {
                computed += 1;
                let known = |id: InstructionId| values.get(&id).cloned();
                if prober.lacks(module.entry, id, &known) {
                    lacking.insert(id);
                }
            }
        }
        // A transfer cannot run alone: it is what is missing if nothing else is, and without one of
        // its sides it would wait for ever.
        let only = lacking.is_empty();
        let transfers: Vec<InstructionId> = prober.transfers();
        for &id in transfers.iter().filter(|_| only) {
            prober.learned.learn(&entry.instructions[id], &[], Verdict::Unsupported);
        }
        lacking.extend(transfers);
        if lacking.len() == computed {
            return None;
        }
        let types = entry.instructions.iter().flat_map(|(_, one)| one.shape.leaves());
        let types: BTreeSet<ElementType> = types.filter_map(Shape::element_type).collect();
        let types = types.into_iter().filter(|&ty| !prober.has_values(ty)).collect();
        Some(Self { cut: cut(module, lacking)?, types, module: None })
    }

    /// Returns the rest of the module, with what the reference computes in place of the
    /// instructions that are left out.
    pub(super) fn subject(
        &mut self,
        subject: &Subject,
        reference: &mut dyn Backend,
    ) -> Option<Subject> {
        let values = values(subject, reference, &self.cut)?;
        let mut draft = Draft::new(subject.module.module(), &subject.arguments);
        for (&id, values) in self.cut.iter().zip(&values) {
            draft.replace_by_parameter(id, values);
        }
        if !self.types.is_empty() {
            self.drop_results(draft.entry_mut())?;
        }
        draft.sweep(&HashSet::new());
        let Draft { rewriter, arguments } = draft;
        let (module, text) = match &self.module {
            Some(made) => made.clone(),
            None => {
                let module = rewriter.finish().ok()?;
                let text = module.to_string();
                let verified = Arc::new(module.verify().ok()?);
                self.module.insert((verified, text)).clone()
            }
        };
        Some(Subject { text, module, arguments, ..subject.clone() })
    }
    /// Drops results of types that the backend does not have; `None` if there are no others.
    fn drop_results(&self, entry: &mut ComputationRewriter) -> Option<()> {
        let root = entry.instruction(entry.root()?);
        let mut results = root.operands.to_vec();
        let is_had = |shape: &Shape| {
            let mut types = shape.leaves().into_iter().filter_map(Shape::element_type);
            !types.any(|ty| self.types.contains(&ty))
        };
        if root.opcode() != Opcode::Tuple {
            return is_had(&root.shape).then_some(());
        }
        results.retain(|&id| is_had(&entry.instruction(id).shape));
        let tuple = (!results.is_empty()).then(|| entry.tuple(results))?;
        let root = entry.push("rest", tuple);
        entry.set_root(root);
        Some(())
    }
}

/// Returns the values of instructions of the entry.
fn values(
    subject: &Subject,
    reference: &mut dyn Backend,
    ids: &[InstructionId],
) -> Option<Vec<Values>> {
    let module = subject.module.module();
    let grid = DeviceGrid::of(&module.config);
    let arguments: Vec<Vec<Literal>> =
        subject.arguments.iter().cycle().take(grid.len()).cloned().collect();
    let program = watching(module, module.entry, &arguments, ids).ok()?;
    let results = program.run(reference, grid).ok()?;
    let mut devices: Vec<_> =
        results.iter().cycle().take(grid.len()).map(|result| arrays(result).into_iter()).collect();
    let shapes = ids.iter().map(|&id| &module.entry().instructions[id].shape);
    shapes.map(|shape| devices.iter_mut().map(|all| rebuilt(shape, all)).collect()).collect()
}

/// Returns the arrays that are or depend on the results of these instructions, none of which
/// depends on another; `None` if one of them has another shape and is the result.
fn cut(module: &Module, lacking: BTreeSet<InstructionId>) -> Option<Vec<InstructionId>> {
    let entry = module.entry();
    let (mut open, mut cut) = (lacking, BTreeSet::new());
    while let Some(id) = open.pop_first() {
        let instruction = &entry.instructions[id];
        if instruction.shape.array().is_some() && has_value(instruction) {
            cut.insert(id);
            continue;
        }
        if id == entry.root {
            return None;
        }
        let users = entry.instructions.iter().filter(|(_, user)| user.operands.contains(&id));
        open.extend(users.map(|(user, _)| user));
    }
    Some(cut.into_iter().collect())
}

/// Runs instructions alone.
struct Prober<'a> {
    module: &'a Module,
    backend: &'a mut dyn Backend,
    learned: &'a mut CapabilityMap,
    /// Whether the backend lacks an instruction of a computation.
    callees: HashMap<ComputationId, bool>,
}

impl Prober<'_> {
    /// Returns whether arguments and results of the backend may have an element type.
    fn has_values(&mut self, ty: ElementType) -> bool {
        let op = Opcode::Parameter;
        if !self.learned.knows(op, ty) {
            let text = format!("HloModule m\nENTRY e {{ ROOT p = {ty}[2] parameter(0) }}");
            let module = Module::parse(&text).ok().and_then(|module| module.verify().ok());
            let Some(module) = module.map(Arc::new) else { return true };
            let arguments = vec![vec![Literal::zeros(ArrayShape::new(ty, [2].as_slice()))]];
            let grid = DeviceGrid::of(&module.module().config);
            let verdict = match (Program { module, arguments }).run(self.backend, grid) {
                Err(error) if matches!(error.code(), Code::Unsupported { .. }) => {
                    Verdict::Unsupported
                }
                Ok(_) | Err(_) => Verdict::Agrees,
            };
            self.learned.add((op, ty), verdict);
        }
        !self.learned.lacks(op, ty)
    }
    /// Returns the transfers of the entry, and the instructions that call computations with some.
    fn transfers(&self) -> Vec<InstructionId> {
        let mut with: HashSet<ComputationId> = HashSet::new();
        let is_one = |with: &HashSet<ComputationId>, one: &Instruction| {
            let mut calls = false;
            one.op.each_callee(&mut |id| calls |= with.contains(&id));
            calls || one.opcode().kind() == Kind::Transfer
        };
        // Callees come first.
        for (id, computation) in self.module.computations.iter() {
            if computation.instructions.iter().any(|(_, one)| is_one(&with, one)) {
                with.insert(id);
            }
        }
        let entry = self.module.entry().instructions.iter();
        entry.filter(|(_, one)| is_one(&with, one)).map(|(id, _)| id).collect()
    }
    /// Returns whether the backend does not support an instruction, as far as it can run alone.
    fn lacks(
        &mut self,
        computation: ComputationId,
        id: InstructionId,
        known: &dyn Fn(InstructionId) -> Option<Values>,
    ) -> bool {
        let instructions = &self.module.computations[computation].instructions;
        let instruction = &instructions[id];
        let operands: Vec<&Shape> =
            instruction.operands.iter().map(|&operand| &instructions[operand].shape).collect();
        if self.learned.lacks_any(instruction.opcode(), &instruction.shape, &operands) {
            return true;
        }
        let grid = DeviceGrid::of(&self.module.config);
        let Ok(program) = alone(self.module, (computation, id), grid.len(), known) else {
            return false;
        };
        let verdict = match program.run(self.backend, grid) {
            Ok(_) => Verdict::Agrees,
            Err(error) if matches!(error.code(), Code::Unsupported { .. }) => Verdict::Unsupported,
            // Whatever else it is, it is not what is missing.
            Err(_) => return false,
        };
        let lacks = verdict == Verdict::Unsupported;
        // What is missing may be in a computation that it calls.
        if !(lacks && self.lacks_in_callee(instruction)) {
            self.learned.learn(instruction, &operands, verdict);
        }
        lacks
    }

    /// Returns whether the backend lacks an instruction of a computation that one calls. Their
    /// operands are zeros.
    fn lacks_in_callee(&mut self, instruction: &Instruction) -> bool {
        let mut called = Vec::new();
        instruction.op.each_callee(&mut |id| called.push(id));
        called.into_iter().fold(false, |any, id| {
            let lacks = self.callees.get(&id).copied().unwrap_or_else(|| self.lacks_in(id));
            self.callees.insert(id, lacks);
            any || lacks
        })
    }
    fn lacks_in(&mut self, id: ComputationId) -> bool {
        let module = self.module;
        let devices = DeviceGrid::of(&module.config).len();
        let instructions = &module.computations[id].instructions;
        let zeros = |id: InstructionId| {
            let array = instructions[id].shape.array().filter(|array| array.dynamic.is_none())?;
            Some(vec![Literal::zeros(array.clone()); devices])
        };
        let mut computed = instructions.iter().filter(|(_, one)| !holds_values(one));
        computed.any(|(at, _)| self.lacks(id, at, &zeros))
    }
}
