//! Plans as text: `etalon plan`.
use super::{Input, Plan, Slot, Step};
use crate::executable::Program;
use std::fmt;

/// The plan of a program, for people.
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
    /// The entry computation first, then the others in the order of the module.
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
        let computation = &self.program.module().computations[plan.computation];
        let (name, steps, slots) = (&computation.name, plan.steps.len(), plan.initial.len());
        writeln!(
            f,
            "{prefix}{name}: {steps} steps, {slots} slots, peak {} bytes",
            plan.peak_bytes
        )?;
        let parameters = plan.parameters.iter().map(|slot| slot.map_or("_".to_owned(), name_of));
        let parameters: Vec<String> = parameters.collect();
        if !parameters.is_empty() {
            writeln!(f, "  parameters {}", parameters.join(" "))?;
        }
        for (i, step) in plan.steps.iter().enumerate() {
            self.step(f, plan, i, step)?;
        }
        writeln!(f, "  results {}", names(&plan.results))
    }

    fn step(&self, f: &mut fmt::Formatter<'_>, plan: &Plan, i: usize, step: &Step) -> fmt::Result {
        let computation = &self.program.module().computations[plan.computation];
        let instruction = &computation.instructions[step.instruction];
        let outputs: Vec<String> = step.outputs.iter().map(|output| name_of(output.slot)).collect();
        let (outputs, inputs) = (outputs.join(" "), names(&step.inputs));
        let (opcode, action) = (instruction.opcode(), step.action.name());
        let name = computation.name(step.instruction);
        let shape = &instruction.shape;
        write!(f, "  {i:4} {outputs} = {opcode}({inputs})  {name} {shape:#} [{action}")?;
        if let Some(k) = step.in_place {
            write!(f, ", in place of {}", name_of(step.inputs[k].slot))?;
        }
        write!(f, "] live {}", step.live_bytes)?;
        if !step.frees.is_empty() {
            let frees: Vec<String> = step.frees.iter().map(|&slot| name_of(slot)).collect();
            write!(f, ", frees {}", frees.join(" "))?;
        }
        f.write_str("\n")
    }
}

fn name_of(slot: Slot) -> String {
    format!("%{}", slot.index())
}

fn names(inputs: &[Input]) -> String {
    let names: Vec<String> = inputs.iter().map(|input| name_of(input.slot)).collect();
    names.join(", ")
}
