//! Plans as text: `etalon plan`.
use super::{Input, Output, Plan, Slot, Step};
use crate::custom;

use crate::options::Engine;
use crate::program::Program;
use crate::state::Site;
use hlo::op::{Accuracy, Kind};
use hlo::{Module, Op, Shape};
use num::Arithmetic;
use std::fmt;

/// A plan in readable form.
#[derive(Debug)]
pub struct PlanText<'a> {
    program: &'a Program,
}

impl<'a> PlanText<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        Self { program }
    }
}

impl fmt::Display for PlanText<'_> {
    /// Writes the entry computation first, then the others in the order of the module.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = self.program.module();
        writeln!(f, "engine {}", self.program.engine.name())?;
        self.computation(f, self.program.plan(module.entry), "ENTRY ")?;
        for id in module.computations.ids().filter(|&id| id != module.entry) {
            f.write_str("\n")?;
            self.computation(f, self.program.plan(id), "")?;
        }
        Ok(())
    }
}

impl PlanText<'_> {
    fn computation(&self, f: &mut fmt::Formatter<'_>, plan: &Plan, prefix: &str) -> fmt::Result {
        let name = &self.program.module().computations[plan.computation].name;
        let (steps, slots) = (plan.steps.len(), plan.initial.len());
        let (steps, slots) = (count(steps, "step"), count(slots, "slot"));
        let is_entry = plan.computation == self.program.module().entry;
        let peak = if is_entry { self.program.planned_bytes() } else { plan.peak_bytes };
        writeln!(f, "{prefix}{name}: {steps}, {slots}, peak {peak} bytes")?;
        if is_entry && !plan.parameters.is_empty() {
            writeln!(f, "  arguments, {} bytes of the peak", self.program.argument_bytes())?;
        }
        let parameters = plan.parameters.iter().map(|slot| slot.map_or("_".to_owned(), name_of));
        let parameters: Vec<String> = parameters.collect();
        if !parameters.is_empty() {
            writeln!(f, "  parameters {}", parameters.join(", "))?;
        }
        plan.steps.iter().try_for_each(|step| self.step(f, plan, step))?;
        writeln!(f, "  results {}", names(&plan.results))
    }

    /// Returns whether `fast` computes an instruction, which may round in several ways, with a
    /// kernel of `exact`.
    fn is_exact_instead(&self, site: Site) -> bool {
        let Program { engine, scalar_programs, .. } = self.program;
        let module = self.program.module();
        let instruction = site.of(module);
        let is_rounded =
            |leaf: &&Shape| leaf.element_type().is_some_and(|ty| ty.is_float() || ty.is_complex());
        let instructions = &module.computations[site.computation].instructions;
        let operands: Vec<&Shape> =
            instruction.operands.iter().map(|&id| &instructions[id].shape).collect();
        if let (Engine::Fast, Op::CustomCall(call)) = (engine, &instruction.op) {
            return custom::is_exact_in_fast(&call.custom_call_target.0, &operands);
        }
        if engine.rounds_correctly()
            || instruction.opcode().kind() != Kind::Array
            || instruction.opcode().accuracy() == Accuracy::Exact
            || !instruction.shape.leaves().iter().any(is_rounded)
        {
            return false;
        }
        let (op, shape, fast) = (&instruction.op, &instruction.shape, Arithmetic::Fast);
        kernels::select(op, &operands, shape, scalar_programs, fast)
            .is_none_or(|kernel| kernel.arithmetic() == Arithmetic::Exact)
    }

    /// `name: %1 = f32[4] add(%0, %0) ; kernel, 16 bytes live, frees %0`
    fn step(&self, f: &mut fmt::Formatter<'_>, plan: &Plan, step: &Step) -> fmt::Result {
        let module = self.program.module();
        let instruction = step.site.of(module);
        let outputs: Vec<String> = step.outputs.iter().map(|output| name_of(output.slot)).collect();
        let (name, outputs) = (name_in(module, plan, step.site), outputs.join(", "));
        let (shape, opcode) = (&instruction.shape, instruction.opcode());
        let action = step.action.name();
        write!(f, "  {name}: {outputs} = {shape:#} {opcode}({}) ; {action}", names(&step.inputs))?;
        for callee in step.action.callees() {
            write!(f, " {}", module.computations[callee].name)?;
        }
        if let (Some(part), [Output { shape: Some(shape), .. }]) = (&step.part, &*step.outputs) {
            let ranges = part.iter().zip(&shape.dims);
            let ranges: Vec<String> =
                ranges.map(|(&(start, step), &count)| range(start, step, count)).collect();
            write!(f, ", part [{}]", ranges.join(", "))?;
        }
        if !step.fuses.is_empty() {
            let fused: Vec<String> =
                step.fuses.iter().map(|&site| name_in(module, plan, site)).collect();
            write!(f, ", fuses {}", fused.join(" "))?;
        }
        let sites = std::iter::once(&step.site).chain(&step.fuses);
        let exact: Vec<String> = (sites.filter(|site| self.is_exact_instead(**site)))
            .map(|&site| name_in(module, plan, site))
            .collect();
        if !exact.is_empty() {
            write!(f, ", exact in {}", exact.join(" "))?;
        }
        if let Some(k) = step.in_place {
            write!(f, ", in place of {}", name_of(step.inputs[k].slot))?;
        }
        write!(f, ", {} bytes live", step.live_bytes)?;
        if !step.frees.is_empty() {
            let frees: Vec<String> = step.frees.iter().map(|&slot| name_of(slot)).collect();
            write!(f, ", frees {}", frees.join(", "))?;
        }
        f.write_str("\n")
    }
}

/// `3:5`, `0:10:3`
fn range(start: i64, step: i64, count: i64) -> String {
    let end = start + step * (count - 1) + 1;
    if step == 1 { format!("{start}:{end}") } else { format!("{start}:{end}:{step}") }
}

/// `1 step`, `2 steps`
fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Returns the name of an instruction, with that of its computation if it is inlined.
fn name_in(module: &Module, plan: &Plan, site: Site) -> String {
    let computation = &module.computations[site.computation];
    match site.computation == plan.computation {
        true => computation.name(site.instruction).to_string(),
        false => format!("{}/{}", computation.name, computation.name(site.instruction)),
    }
}

fn name_of(slot: Slot) -> String {
    format!("%{}", slot.index())
}

fn names(inputs: &[Input]) -> String {
    let names: Vec<String> = inputs.iter().map(|input| name_of(input.slot)).collect();
    names.join(", ")
}
