//! The cost of each instruction: arithmetic operations, bytes that are read and written, and how
//! often it runs.
use crate::trip_count::trip_count;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::op::{DynamicRule, Kind};
use hlo::{Module, Op, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// The cost of one execution of an instruction, without the computations that it calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Arithmetic operations on elements.
    pub flops: f64,
    /// Bytes of operands and results, as far as they are read and written.
    pub bytes: f64,
}

/// An instruction that costs something.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its computation.
    pub computation: ComputationId,
    /// The instruction.
    pub instruction: InstructionId,
    /// The cost of one execution.
    pub cost: Cost,
    /// How often it runs.
    pub count: f64,
}

/// The costs of a module.
#[derive(Debug, Default)]
pub struct Costs {
    /// The instructions, those of the entry computation first.
    pub rows: Vec<Row>,
    /// Loops whose number of iterations is not known, and that are counted as one.
    pub unknown_loops: usize,
}

impl Costs {
    /// Returns the costs of the instructions that run, in text order.
    pub fn of(module: &Module) -> Self {
        let mut costs = Self::default();
        let mut counts: BTreeMap<ComputationId, f64> = BTreeMap::from([(module.entry, 1.0)]);
        let mut fused = BTreeSet::new();
        // Callers come before the computations that they call.
        for id in callers_first(module) {
            let Some(&count) = counts.get(&id) else { continue };
            let computation = &module.computations[id];
            for (at, instruction) in computation.instructions.iter() {
                let is_inside = fused.contains(&id);
                if let Op::Fusion(_) = &instruction.op {
                    instruction.op.each_callee(&mut |callee| _ = fused.insert(callee));
                }
                for (callee, times) in costs.calls(module, computation, instruction) {
                    *counts.entry(callee).or_default() += count * times;
                }
                let mut cost = cost(module, computation, instruction);
                if is_inside {
                    // The values inside of a fusion are not in memory.
                    cost.bytes = 0.0;
                }
                if cost != Cost::default() {
                    costs.rows.push(Row { computation: id, instruction: at, cost, count });
                }
            }
        }
        costs
            .rows
            .sort_by_key(|row| (row.computation != module.entry, row.computation, row.instruction));
        costs
    }

    /// Returns the computations whose instructions an instruction runs, and how often. Each branch
    /// is counted.
    fn calls(
        &mut self,
        module: &Module,
        computation: &Computation,
        instruction: &Instruction,
    ) -> Vec<(ComputationId, f64)> {
        if !runs_computations(instruction) {
            return Vec::new();
        }
        let mut calls = Vec::new();
        instruction.op.each_callee(&mut |callee| calls.push((callee, 1.0)));
        if let Op::While(op) = &instruction.op {
            let iterations = trip_count(module, computation, instruction);
            self.unknown_loops += usize::from(iterations.is_none());
            let iterations = iterations.map_or(1.0, float);
            return vec![(op.condition, iterations + 1.0), (op.body, iterations)];
        }
        if let Op::Scan(_) = &instruction.op {
            self.unknown_loops += 1;
        }
        calls
    }

    /// Returns the sum over all executions.
    pub fn total(&self) -> Cost {
        let add = |sum: Cost, row: &Row| Cost {
            flops: sum.flops + row.count * row.cost.flops,
            bytes: sum.bytes + row.count * row.cost.bytes,
        };
        self.rows.iter().fold(Cost::default(), add)
    }
}

/// Returns about how long each instruction of the entry computation takes, with the computations
/// that it calls, in no unit.
pub fn weights(module: &Module) -> Vec<f64> {
    let mut of_computation: BTreeMap<ComputationId, f64> = BTreeMap::new();
    let mut own = Vec::new();
    for id in callers_first(module).into_iter().rev() {
        let computation = &module.computations[id];
        let weight = |(_, instruction): (InstructionId, &Instruction)| {
            let Cost { flops, bytes } = cost(module, computation, instruction);
            let calls = Costs::default().calls(module, computation, instruction);
            let called = calls.iter().map(|(callee, times)| {
                times * of_computation.get(callee).copied().unwrap_or_default()
            });
            flops.max(bytes) + called.sum::<f64>()
        };
        own = computation.instructions.iter().map(weight).collect();
        of_computation.insert(id, own.iter().sum());
    }
    // The entry computation is the last.
    own
}

/// Returns whether the instructions of the computations that it calls run as such, not as a
/// function of elements.
fn runs_computations(instruction: &Instruction) -> bool {
    match instruction.opcode().kind() {
        Kind::Control | Kind::Asynchronous => true,
        Kind::Array
        | Kind::Value
        | Kind::Collective
        | Kind::Transfer
        | Kind::Host
        | Kind::Device
        | Kind::Random
        | Kind::Custom => false,
    }
}

/// Returns the computations in an order in which each comes before those that it calls.
fn callers_first(module: &Module) -> Vec<ComputationId> {
    let mut done = BTreeSet::new();
    let mut order = Vec::new();
    let mut open: Vec<(ComputationId, bool)> = vec![(module.entry, false)];
    while let Some((id, is_left)) = open.pop() {
        if is_left {
            order.push(id);
            continue;
        }
        if !done.insert(id) {
            continue;
        }
        open.push((id, true));
        for (_, instruction) in module.computations[id].instructions.iter() {
            instruction.op.each_callee(&mut |callee| open.push((callee, false)));
        }
    }
    order.reverse();
    order
}

/// Returns the cost of one execution of an instruction.
fn cost(module: &Module, computation: &Computation, instruction: &Instruction) -> Cost {
    let operands: Vec<&Shape> =
        instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
    let mut flops = instruction.op.operations(&operands, &instruction.shape);
    if !runs_computations(instruction) {
        let mut applied = None;
        instruction.op.each_callee(&mut |callee| applied = Some(callee));
        if let Some(callee) = applied {
            let inside = module.computations[callee].instructions.iter();
            let operations = inside.filter(|(_, i)| i.opcode().is_elementwise()).count();
            // An op without a sum applies it to each element of its result.
            let elements = if flops > 0.0 { flops } else { elements(&instruction.shape) };
            flops = elements * float(u64::try_from(operations.max(1)).unwrap_or(u64::MAX));
        }
    }
    Cost { flops, bytes: moved(instruction, &operands) }
}

/// Returns the bytes that an instruction reads and writes.
fn moved(instruction: &Instruction, operands: &[&Shape]) -> f64 {
    let is_fusion = matches!(&instruction.op, Op::Fusion(_));
    if instruction.opcode().shares_memory() && !is_fusion {
        return 0.0;
    }
    let result = bytes(&instruction.shape);
    let of = |i: usize| operands.get(i).map_or(0.0, |shape| bytes(shape));
    let from = |first: usize| operands.iter().skip(first).map(|shape| bytes(shape)).sum::<f64>();
    match instruction.opcode().dynamic_rule() {
        // Only what is moved is read.
        DynamicRule::Remap => of(0).min(result) + from(1) + result,
        // The part that is replaced.
        DynamicRule::Update => 2.0 * of(1) + from(2),
        DynamicRule::Scatter => 2.0 * of(operands.len().saturating_sub(1)) + of(operands.len() / 2),
        DynamicRule::Elementwise
        | DynamicRule::Reshape
        | DynamicRule::Forward
        | DynamicRule::Trim
        | DynamicRule::Refuse => from(0) + result,
    }
}

fn bytes(shape: &Shape) -> f64 {
    let arrays = shape.leaves().into_iter().filter_map(Shape::array);
    arrays.map(|array| size(array.byte_count())).sum()
}
fn elements(shape: &Shape) -> f64 {
    let arrays = shape.leaves().into_iter().filter_map(Shape::array);
    arrays.map(|array| size(array.element_count())).fold(0.0, f64::max)
}
fn size(n: Option<usize>) -> f64 {
    n.and_then(|n| u64::try_from(n).ok()).map_or(0.0, float)
}
/// Returns the nearest float; numbers are exact up to 2^53.
#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "an estimate")]
pub fn float(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the flops, the bytes and the count of the instructions that cost something.
    fn rows(text: &str) -> Vec<(f64, f64, f64)> {
        let module = Module::parse(&format!("HloModule m\n{text}")).unwrap();
        let costs = Costs::of(&module);
        costs.rows.iter().map(|row| (row.cost.flops, row.cost.bytes, row.count)).collect()
    }

    #[test]
    fn products_sums_and_moves() {
        let text = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
            ENTRY e { x = f32[4,8] parameter(0) y = f32[8,3] parameter(1) z = f32[] constant(0)
            d = f32[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
            r = f32[4] reduce(x, z), dimensions={1}, to_apply=add
            s = f32[1,8] slice(x), slice={[0:1],[0:8]}
            ROOT t = (f32[4,3], f32[4], f32[1,8]) tuple(d, r, s) }";
        let expected = [
            (2.0 * 12.0 * 8.0, 4.0 * (32.0 + 24.0 + 12.0), 1.0),
            (32.0, 4.0 * (32.0 + 1.0 + 4.0), 1.0),
            (0.0, 4.0 * (8.0 + 8.0), 1.0),
        ];
        assert_eq!(rows(text), expected);
    }

    #[test]
    fn loops_count_their_rounds() {
        let text = |config: &str| {
            format!(
                "b {{ p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }}
                c {{ p = f32[2] parameter(0) ROOT t = pred[] constant(true) }}
                ENTRY e {{ x = f32[2] parameter(0) ROOT w = f32[2] while(x), condition=c, body=b{config} }}"
            )
        };
        let known = ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}";
        assert_eq!(rows(&text(known)), [(2.0, 16.0, 7.0)]);
        assert_eq!(rows(&text("")), [(2.0, 16.0, 1.0)]);
    }

    #[test]
    fn values_inside_of_a_fusion_are_not_in_memory() {
        let text = "f { p = f32[2] parameter(0) n = f32[2] negate(p) ROOT a = f32[2] add(n, p) }
            ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] fusion(x), kind=kLoop, calls=f }";
        assert_eq!(rows(text), [(0.0, 16.0, 1.0), (2.0, 0.0, 1.0), (2.0, 0.0, 1.0)]);
    }
}
