//! Comparison of programs that call back into Python: only the process that made the module can call its functions, so the values
//! that they return are arguments.
use crate::value::Value;
use etalon_pjrt_plugin::callback_number;
use hlo::ir::rewrite::{ComputationRewriter, ModuleRewriter};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::{AfterAll, Parameter};
use hlo::{Literal, Op, Shape, Verified};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Why an instruction is not checked.
const PRINT: &str = "a callback into Python without a result: it was left out";
const GIVEN: &str = "a callback into Python: the values that it returned are arguments";
const REPEATED: &str = "a callback into Python that may run more than once, or not at all: its values cannot be arguments";

/// A program in which values are in place of callbacks.
pub(crate) struct Given {
    pub(crate) module: Arc<Verified>,
    pub(crate) arguments: Vec<Literal>,
    /// The callbacks, and what is in their place.
    pub(crate) not_checked: Vec<(String, String)>,
}

/// Returns how many arrays a callback returns; none if the instruction is none.
fn arrays(instruction: &Instruction) -> Option<usize> {
    callback_number(instruction)?;
    Some(instruction.shape.leaves().iter().filter(|leaf| leaf.array().is_some()).count())
}

/// Replaces callbacks without results, such as JAX's `debug.print`, by nothing, and those of the entry by parameters: `record` runs the
/// program, and returns the arrays that each of the callbacks of these numbers returned, if it was called once.
pub(crate) fn given(
    verified: Arc<Verified>,
    arguments: Vec<Literal>,
    record: Option<&Bound<'_, PyAny>>,
) -> PyResult<Given> {
    let mut rewriter = ModuleRewriter::new(verified.module());
    let has_callback = |rewriter: &ModuleRewriter, of: &dyn Fn(usize) -> bool| {
        let found = |id: &ComputationId| {
            let computation = rewriter.computation(*id);
            let mut ids = computation.ids().into_iter();
            ids.any(|id| arrays(computation.instruction(id)).is_some_and(of))
        };
        rewriter.computation_ids().into_iter().filter(found).collect::<HashSet<_>>()
    };
    if has_callback(&rewriter, &|_| true).is_empty() {
        return Ok(Given { module: verified, arguments, not_checked: Vec::new() });
    }
    let returning = has_callback(&rewriter, &|count| count > 0);
    inline_calls(&mut rewriter, &returning);
    rewriter.remove_unused_computations();
    let entry = rewriter.computation(rewriter.entry());
    let numbers: Vec<u64> = (entry.ids().into_iter().map(|id| entry.instruction(id)))
        .filter(|instruction| arrays(instruction).is_some_and(|count| count > 0))
        .filter_map(callback_number)
        .collect();
    let returned: BTreeMap<u64, Vec<PyRef<'_, Value>>> = match record {
        Some(record) if !numbers.is_empty() => record.call1((numbers,))?.extract()?,
        _ => BTreeMap::new(),
    };
    let mut replacement = Replacement { returned, arguments, not_checked: Vec::new() };
    for id in rewriter.computation_ids() {
        let is_entry = id == rewriter.entry();
        replacement.replace(rewriter.computation_mut(id), is_entry);
    }
    let entry = rewriter.entry();
    replacement.drop_tokens(rewriter.computation_mut(entry));
    let config = rewriter.config_mut();
    config.entry_layout = None;
    config.input_output_alias.clear();
    config.buffer_donor.clear();
    let Replacement { arguments, not_checked, .. } = replacement;
    let module = rewriter.finish().map_err(|error| crate::error::misuse(error.to_string()))?;
    let module = module.verify().map_err(|errors| crate::error::misuse(errors.to_string()))?;
    Ok(Given { module: Arc::new(module), arguments, not_checked })
}

/// Inlines the calls of the entry from which these computations are called.
fn inline_calls(rewriter: &mut ModuleRewriter, computations: &HashSet<ComputationId>) {
    let reaches = |rewriter: &ModuleRewriter, from: ComputationId| {
        let (mut open, mut seen) = (vec![from], HashSet::new());
        while let Some(id) = open.pop() {
            if computations.contains(&id) {
                return true;
            }
            if seen.insert(id) {
                open.extend(rewriter.computation(id).callees());
            }
        }
        false
    };
    let entry = rewriter.entry();
    let mut open = rewriter.computation(entry).ids();
    while let Some(id) = open.pop() {
        let instruction = rewriter.computation(entry).instruction(id);
        let Op::Call(call) = &instruction.op else { continue };
        let (callee, operands) = (call.to_apply, instruction.operands.to_vec());
        if !reaches(rewriter, callee) {
            continue;
        }
        let before = rewriter.computation(entry).ids();
        if let Some(root) = rewriter.inline(entry, callee, &operands) {
            let edited = rewriter.computation_mut(entry);
            edited.replace_uses(id, root);
            edited.remove(id);
            let is_new = |id: &InstructionId| !before.contains(id);
            open.extend(edited.ids().into_iter().filter(is_new));
        }
    }
}

struct Replacement<'py> {
    returned: BTreeMap<u64, Vec<PyRef<'py, Value>>>,
    arguments: Vec<Literal>,
    not_checked: Vec<(String, String)>,
}

impl Replacement<'_> {
    fn replace(&mut self, computation: &mut ComputationRewriter, is_entry: bool) {
        for id in computation.ids() {
            let instruction = computation.instruction(id);
            let Some(count) = arrays(instruction) else { continue };
            let shape = instruction.shape.clone();
            let known = callback_number(instruction).filter(|_| is_entry);
            let known = known.and_then(|number| self.returned.get(&number));
            let values = known.map(|values| values.iter().map(|value| value.0.copied()).collect());
            let values: Option<Vec<Literal>> = values.or((count == 0).then(Vec::new));
            let values = values.filter(|values| values.len() == count);
            let reason = match values {
                Some(_) if count == 0 => PRINT,
                Some(_) => GIVEN,
                None => REPEATED,
            };
            let path = format!("{}/{}", computation.name(), computation.instruction_name(id));
            self.not_checked.push((path, reason.to_owned()));
            let Some(values) = values else { continue };
            let value = self.value(computation, id, &shape, &mut values.into_iter());
            computation.replace_uses(id, value);
            computation.remove(id);
        }
    }

    /// Drops the tokens of the arguments and of the result, which order the callbacks of several runs: most backends take none.
    fn drop_tokens(&mut self, entry: &mut ComputationRewriter) {
        let is_token = |entry: &ComputationRewriter, id: InstructionId| {
            matches!(entry.instruction(id).shape, Shape::Token)
        };
        for (number, id) in entry.parameters().into_iter().enumerate().rev() {
            if is_token(entry, id) {
                let token = entry.add(id, Instruction::new(AfterAll {}, Shape::Token, []));
                entry.replace_uses(id, token);
                entry.remove_parameter(id);
                self.arguments.remove(number);
            }
        }
        let Some(root) = entry.root() else { return };
        if let Op::Tuple(_) = &entry.instruction(root).op {
            let parts = entry.instruction(root).operands.to_vec();
            let parts = parts.into_iter().filter(|&part| !is_token(entry, part)).collect();
            let result = entry.add_tuple(root, parts);
            entry.set_root(result);
            entry.remove(root);
        }
    }

    /// Adds a value of this shape in place of a callback: parameters, tokens, and tuples of them.
    fn value(
        &mut self,
        computation: &mut ComputationRewriter,
        at: InstructionId,
        shape: &Shape,
        values: &mut impl Iterator<Item = Literal>,
    ) -> InstructionId {
        match shape {
            Shape::Tuple(parts) => {
                let parts: Vec<InstructionId> =
                    parts.iter().map(|part| self.value(computation, at, part, values)).collect();
                computation.add_tuple(at, parts)
            }
            Shape::Array(_) => {
                let number = i64::try_from(self.arguments.len()).unwrap_or(i64::MAX);
                self.arguments.extend(values.next());
                computation.add(at, Instruction::new(Parameter { number }, shape.clone(), []))
            }
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                computation.add(at, Instruction::new(AfterAll {}, Shape::Token, []))
            }
        }
    }
}
