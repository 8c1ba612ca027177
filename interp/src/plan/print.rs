//! Plans as text: `etalon plan`.
use super::{Input, Output, Plan, Slot, Step};
use crate::custom;

use crate::options::Engine;
use crate::program::Program;
use crate::state::Site;
use hlo::op::{Accuracy, Kind};
use hlo::{Module, Op, Opcode, Shape};
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
        let peak = self.peak(plan);
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
        let step = self.planned(plan, step);
        let (name, outputs, inputs) = (step.name, step.outputs.join(", "), step.inputs.join(", "));
        let PlannedStep { shape, opcode, action, .. } = step;
        write!(f, "  {name}: {outputs} = {shape} {opcode}({inputs}) ; {action}")?;
        step.callees.iter().try_for_each(|callee| write!(f, " {callee}"))?;
        if let Some(part) = step.part {
            write!(f, ", part {part}")?;
        }
        if !step.fuses.is_empty() {
            write!(f, ", fuses {}", step.fuses.join(" "))?;
        }
        if !step.exact.is_empty() {
            write!(f, ", exact in {}", step.exact.join(" "))?;
        }
        if let Some(operand) = step.in_place_of {
            write!(f, ", in place of {operand}")?;
        }
        write!(f, ", {} bytes live", step.live_bytes)?;
        if !step.frees.is_empty() {
            write!(f, ", frees {}", step.frees.join(", "))?;
        }
        f.write_str("\n")
    }

    fn planned(&self, plan: &Plan, step: &Step) -> PlannedStep {
        let module = self.program.module();
        let instruction = step.site.of(module);
        let name = |site: &Site| name_in(module, plan, *site);
        let part = match (&step.part, &*step.outputs) {
            (Some(part), [Output { shape: Some(shape), .. }]) => {
                let ranges = part.iter().zip(&shape.dims);
                let ranges: Vec<String> =
                    ranges.map(|(&(start, step), &count)| range(start, step, count)).collect();
                Some(format!("[{}]", ranges.join(", ")))
            }
            _ => None,
        };
        let sites = std::iter::once(&step.site).chain(&step.fuses);
        let callees = step.action.callees().into_iter();
        PlannedStep {
            name: name(&step.site),
            outputs: step.outputs.iter().map(|output| name_of(output.slot)).collect(),
            shape: format!("{:#}", instruction.shape),
            opcode: instruction.opcode(),
            inputs: step.inputs.iter().map(|input| name_of(input.slot)).collect(),
            action: step.action.name(),
            callees: callees.map(|id| module.computations[id].name.to_string()).collect(),
            part,
            fuses: step.fuses.iter().map(name).collect(),
            exact: sites.filter(|site| self.is_exact_instead(**site)).map(name).collect(),
            in_place_of: step.in_place.map(|k| name_of(step.inputs[k].slot)),
            live_bytes: step.live_bytes,
            frees: step.frees.iter().map(|&slot| name_of(slot)).collect(),
        }
    }

    /// Returns the computations that have a plan, that of the entry first, with their steps.
    pub fn computations(&self) -> Vec<PlannedComputation> {
        let module = self.program.module();
        let others = module.computations.ids().filter(|&id| id != module.entry);
        let planned = |id| {
            let plan = self.program.plan(id);
            PlannedComputation {
                name: module.computations[id].name.to_string(),
                peak_bytes: self.peak(plan),
                parameters: plan.parameters.iter().map(|slot| slot.map(name_of)).collect(),
                steps: plan.steps.iter().map(|step| self.planned(plan, step)).collect(),
                results: plan.results.iter().map(|input| name_of(input.slot)).collect(),
            }
        };
        std::iter::once(module.entry).chain(others).map(planned).collect()
    }

    /// Returns the most bytes that are in use at once; in the entry computation, those of arguments too.
    fn peak(&self, plan: &Plan) -> usize {
        let is_entry = plan.computation == self.program.module().entry;
        if is_entry { self.program.planned_bytes() } else { plan.peak_bytes }
    }
}

/// The plan of a computation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedComputation {
    /// Its name.
    pub name: String,
    /// The most bytes in use at once; those of the entry computation have the arguments, too.
    pub peak_bytes: usize,
    /// The slots of the leaves of its parameters; none for a leaf that nothing reads.
    pub parameters: Vec<Option<String>>,
    /// Its steps in order.
    pub steps: Vec<PlannedStep>,
    /// The slots of its result.
    pub results: Vec<String>,
}

/// A step of a plan. Slots have names such as `%1`; instructions of inlined computations have those of both: `f/add.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// The name of its instruction.
    pub name: String,
    /// The slots that it writes.
    pub outputs: Vec<String>,
    /// The shape of the instruction.
    pub shape: String,
    /// The opcode of the instruction.
    pub opcode: Opcode,
    /// The slots that it reads.
    pub inputs: Vec<String>,
    /// What it is: `kernel`, `call`, ...
    pub action: &'static str,
    /// The computations that it runs.
    pub callees: Vec<String>,
    /// The part of the value that it computes, if others are not used.
    pub part: Option<String>,
    /// The instructions that it computes on the way.
    pub fuses: Vec<String>,
    /// Those of them that the engine `fast` computes as `exact` does.
    pub exact: Vec<String>,
    /// The operand whose memory gets the result.
    pub in_place_of: Option<String>,
    /// The bytes of values in use during the step.
    pub live_bytes: usize,
    /// The slots that are free after it.
    pub frees: Vec<String>,
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
