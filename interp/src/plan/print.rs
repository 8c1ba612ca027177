//! Plans as text: `etalon plan`.
use super::{Input, Output, Plan, Slot, Step};
use crate::program::Program;
use crate::state::Site;
use hlo::Module;
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
        writeln!(f, "{prefix}{name}: {steps}, {slots}, peak {} bytes", plan.peak_bytes)?;
        let parameters = plan.parameters.iter().map(|slot| slot.map_or("_".to_owned(), name_of));
        let parameters: Vec<String> = parameters.collect();
        if !parameters.is_empty() {
            writeln!(f, "  parameters {}", parameters.join(", "))?;
        }
        plan.steps.iter().try_for_each(|step| self.step(f, plan, step))?;
        writeln!(f, "  results {}", names(&plan.results))
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

/// The name of an instruction, with that of its computation if it is inlined.
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
