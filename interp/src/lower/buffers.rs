//! Buffer assignment: the arrays that share a slot, and the steps at which memory is freed.
//!
//! A kernel's output takes, in this order: the slot of an operand that dies at the step, if the
//! kernel can write over it; a slot of the same size whose value has died before; a new slot.
//! Between its death and its next use the memory of a slot is kept only if that does not raise the
//! peak.
use super::peak::StepMemory;
use super::unallocated::{ArrayId, ArrayInfo, UnallocatedPlan, UnallocatedStep};
use crate::plan::{Action, Input, Output, Plan, Sharing, Slot, Step};
use kernels::Reuse;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The limit of steps for which unused memory is kept.
const KEPT_STEPS: usize = 256;

/// Assigns slots. The peak of the plan is set later, since it depends on those of its callees.
pub(super) fn assign(plan: UnallocatedPlan) -> (Plan, Vec<StepMemory>) {
    let live = live_bytes(&plan);
    let peak = live.iter().copied().max().unwrap_or(0);
    let UnallocatedPlan { computation, arrays, parameters, steps, results, fuel, .. } = plan;
    let mut slots = BufferAssignment {
        of_array: vec![None; arrays.len()],
        count: 0,
        dead: FxHashMap::default(),
        frees: vec![SmallVec::new(); steps.len()],
        live,
        peak,
        over_parameters: vec![0; steps.len() + 1],
        is_over_parameter: vec![false; arrays.len()],
        memory: vec![StepMemory::default(); steps.len()],
    };
    let mut initial = Vec::new();
    for (array, info) in arrays.iter().enumerate() {
        if let (Some(value), Some(_)) = (&info.value, info.last_use) {
            slots.add(array);
            initial.push(Some(value.clone()));
        }
    }
    let parameters =
        parameters.iter().map(|&array| arrays[array].last_use.map(|_| slots.add(array)));
    let parameters = parameters.collect();
    let mut planned: Vec<Step> =
        steps.into_iter().enumerate().map(|(i, step)| slots.step(i, step, &arrays)).collect();
    for (_, slot, died) in slots.dead.into_values().flatten() {
        slots.frees[died].push(slot);
    }
    for (step, frees) in planned.iter_mut().zip(slots.frees) {
        step.frees = frees;
    }
    let mut results: Vec<Input> = (results.iter())
        .map(|&array| {
            let slot = slots.of_array[array].expect("a result is computed before the end");
            Input { slot, is_last: arrays[array].value.is_none() }
        })
        .collect();
    mark_last(&mut results);
    initial.resize(slots.count, None);
    let over_parameters = sums(&slots.over_parameters[..planned.len()]);
    let counts = slots.live.into_iter().zip(over_parameters);
    for ((step, memory), (live, over)) in planned.iter_mut().zip(&mut slots.memory).zip(counts) {
        step.live_bytes = live;
        (memory.live, memory.over_parameters) = (live, over);
    }
    let plan =
        Plan { computation, parameters, initial, steps: planned, results, fuel, peak_bytes: 0 };
    (plan, slots.memory)
}

/// Marks the last of several reads of one slot, the only one that may take the value.
fn mark_last(inputs: &mut [Input]) {
    let mut seen = rustc_hash::FxHashSet::default();
    for input in inputs.iter_mut().rev() {
        input.is_last &= seen.insert(input.slot);
    }
}

/// Returns the bytes of computed arrays that are live during each step. The values that a loop
/// carries are its inputs at first and its outputs at last, so inputs that die at a loop are not
/// counted with its outputs.
pub(super) fn live_bytes(plan: &UnallocatedPlan) -> Vec<usize> {
    let count = plan.steps.len();
    let mut change = vec![0i128; count + 1];
    for (i, step) in plan.steps.iter().enumerate() {
        for &array in &step.outputs {
            let info = &plan.arrays[array];
            let bytes = i128::try_from(info.bytes).unwrap_or(i128::MAX);
            let end = info.last_use.unwrap_or(i).min(count - 1);
            change[i] += bytes;
            change[end + 1] -= bytes;
        }
        if let Action::While { .. } = step.action {
            let mut dying: SmallVec<[ArrayId; 16]> = SmallVec::from_slice(&step.inputs);
            dying.retain(|array| plan.arrays[*array].dies_computed(i));
            dying.sort_unstable();
            dying.dedup();
            for array in dying {
                let bytes = i128::try_from(plan.arrays[array].bytes).unwrap_or(i128::MAX);
                change[i] -= bytes;
                change[i + 1] += bytes;
            }
        }
    }
    sums(&change[..count])
}

/// Returns the sums of the changes up to each step.
fn sums(changes: &[i128]) -> Vec<usize> {
    let mut total = 0i128;
    let sum = |change: &i128| {
        total += change;
        usize::try_from(total).unwrap_or(usize::MAX)
    };
    changes.iter().map(sum).collect()
}

struct BufferAssignment {
    of_array: Vec<Option<Slot>>,
    count: usize,
    /// Slots whose values have died, by size, with the step of the last use.
    dead: FxHashMap<usize, Vec<(ArrayId, Slot, usize)>>,
    frees: Vec<SmallVec<[Slot; 2]>>,
    /// Bytes in use during each step, including kept memory.
    live: Vec<usize>,
    peak: usize,
    /// By how much each step changes the bytes of the arrays that are written over parameters.
    over_parameters: Vec<i128>,
    /// Whether an array is in the memory of a parameter.
    is_over_parameter: Vec<bool>,
    memory: Vec<StepMemory>,
}

impl BufferAssignment {
    fn add(&mut self, array: ArrayId) -> Slot {
        let slot = Slot::new(self.count);
        self.count += 1;
        self.of_array[array] = Some(slot);
        slot
    }

    fn step(&mut self, i: usize, step: UnallocatedStep, arrays: &[ArrayInfo]) -> Step {
        let mut inputs: SmallVec<[Input; 4]> = (step.inputs.iter())
            .map(|&array| {
                let slot = self.of_array[array].expect("operands are computed before their users");
                let info = &arrays[array];
                Input { slot, is_last: info.value.is_none() && info.last_use == Some(i) }
            })
            .collect();
        mark_last(&mut inputs);
        let in_place = in_place(i, &step, arrays);
        self.memory[i] = step_memory(&step, &inputs, arrays);
        if let Some(k) = in_place {
            self.write_over(i, step.inputs[k], step.outputs[0], arrays);
        }
        let read = step.inputs.iter().chain(&step.outputs).map(|&array| arrays[array].bytes);
        let sharing = Sharing::of(step.fuel, read);
        let takes_memory = matches!(step.action, Action::Kernel(_) | Action::Steps(_));
        let outputs = step.outputs.iter().enumerate().map(|(k, &array)| {
            let info = &arrays[array];
            let slot = match in_place {
                Some(operand) if k == 0 => {
                    self.of_array[array] = Some(inputs[operand].slot);
                    inputs[operand].slot
                }
                _ => match takes_memory.then(|| self.kept(i, info.bytes)).flatten() {
                    Some(slot) => {
                        self.of_array[array] = Some(slot);
                        slot
                    }
                    None => self.add(array),
                },
            };
            Output { slot, shape: info.shape.clone() }
        });
        let outputs = outputs.collect();
        self.release(i, &step, &inputs, in_place, arrays);
        Step {
            site: step.site,
            action: step.action,
            inputs,
            outputs,
            frees: SmallVec::new(),
            in_place,
            bytes: step.bytes,
            live_bytes: 0,
            scratch: step.scratch,
            applies: step.applies,
            fuel: step.fuel,
            part: step.part,
            fuses: step.fuses,
            sharing,
        }
    }

    /// Counts an output that step `i` writes to the memory of an operand.
    fn write_over(&mut self, i: usize, operand: ArrayId, output: ArrayId, arrays: &[ArrayInfo]) {
        let (info, bytes) = (&arrays[operand], arrays[operand].bytes);
        if !info.is_parameter {
            self.live[i] = self.live[i].saturating_sub(bytes);
        }
        if !info.is_parameter && !self.is_over_parameter[operand] {
            return;
        }
        self.is_over_parameter[output] = true;
        let change = i128::try_from(bytes).unwrap_or(i128::MAX);
        // An operand that was written over a parameter itself ends one step earlier.
        let first = if info.is_parameter { i } else { i + 1 };
        let last = arrays[output].last_use.unwrap_or(i).min(self.memory.len() - 1);
        self.over_parameters[first] += change;
        self.over_parameters[last + 1] -= change;
    }

    /// Records the arrays that die at step `i`.
    fn release(
        &mut self,
        i: usize,
        step: &UnallocatedStep,
        inputs: &[Input],
        in_place: Option<usize>,
        arrays: &[ArrayInfo],
    ) {
        for (k, (&array, input)) in step.inputs.iter().zip(inputs).enumerate() {
            if input.is_last && in_place != Some(k) {
                self.dead.entry(arrays[array].bytes).or_default().push((array, input.slot, i));
            }
        }
        for &array in &step.outputs {
            if let (None, Some(slot)) = (arrays[array].last_use, self.of_array[array]) {
                self.frees[i].push(slot);
            }
        }
    }

    /// Returns a slot of this size whose value has died before step `i`, with its memory.
    fn kept(&mut self, i: usize, bytes: usize) -> Option<Slot> {
        let dead = self.dead.get_mut(&bytes).filter(|_| bytes > 0)?;
        let &(_, slot, died) = dead.last()?;
        let between = died + 1..i;
        let fits = between.len() <= KEPT_STEPS
            && self.live[between.clone()]
                .iter()
                .all(|live| live.saturating_add(bytes) <= self.peak);
        if !fits {
            return None;
        }
        dead.pop();
        for live in &mut self.live[between] {
            *live = live.saturating_add(bytes);
        }
        Some(slot)
    }
}

/// Returns the input whose memory the first output of step `i` is written to.
pub(super) fn in_place(i: usize, step: &UnallocatedStep, arrays: &[ArrayInfo]) -> Option<usize> {
    let Action::Kernel(kernel) = &step.action else { return None };
    let bytes = arrays[*step.outputs.first()?].bytes;
    let fits = |k: usize| {
        let array = step.inputs[k];
        let info = &arrays[array];
        let is_last = info.value.is_none() && info.last_use == Some(i) && !info.is_kept;
        let is_only = step.inputs.iter().filter(|&&other| other == array).count() == 1;
        is_last && is_only && info.bytes == bytes && bytes > 0
    };
    match kernel.reuse() {
        Reuse::None => None,
        Reuse::Update => Some(0).filter(|&k| fits(k)),
        Reuse::SameIndex(count) => (0..step.inputs.len().min(count)).find(|&k| fits(k)),
    }
}

/// Returns the memory use of a step, without the live bytes.
fn step_memory(step: &UnallocatedStep, inputs: &[Input], arrays: &[ArrayInfo]) -> StepMemory {
    let mut memory = StepMemory { is_last_use: true, ..StepMemory::default() };
    for (&array, input) in step.inputs.iter().zip(inputs) {
        let info = &arrays[array];
        let dying =
            if info.is_parameter { &mut memory.dying_parameters } else { &mut memory.dying };
        if input.is_last {
            *dying = dying.saturating_add(info.bytes);
        }
        memory.is_last_use &= input.is_last;
    }
    memory.outputs = step.output_bytes(arrays);
    memory
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Executable};

    /// Returns a line for each step of the entry: the slots of its inputs and outputs, and the
    /// slots it frees.
    fn plan(body: &str) -> Vec<String> {
        let text = format!("ENTRY e {{ {body} }}");
        let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
        executable.plan().to_string().lines().map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn values_die_at_their_last_use_and_results_never() {
        let lines = plan(
            "a = f32[4] parameter(0) b = f32[4] reverse(a), dimensions={0} c = f32[4] exponential(b) ROOT t = (f32[4]) tuple(c)",
        );
        let text = lines.join("\n");
        assert!(text.contains("in place"), "{text}");
        assert!(text.contains("peak 32 bytes\narguments, 16 bytes of the peak"), "{text}");
    }
}
