//! Scheduling: a step that frees large arrays runs as soon as its inputs are there.
//!
//! JAX, for example, computes the loss of a training step at its end, so that the logits stay live
//! through the whole backward pass. Only pure steps are moved: their place changes nothing but the
//! memory in use.
use super::buffers::{in_place, live_bytes};
use super::unallocated::{ArrayId, UnallocatedPlan, UnallocatedStep};
use crate::effects::Effects;
use crate::plan::Action;
use hlo::Module;
use smallvec::SmallVec;

/// Steps that read less than this many bytes of computed arrays stay where they are.
const LARGE: usize = 1 << 20;

/// Steps with more inputs stay where they are: they are looked at once for each of them.
const MOST_INPUTS: usize = 64;

/// A step whose outputs take at most one part in so many of what it reads runs early even if it
/// frees nothing: the last step that reads the same array then does.
const REDUCED: usize = 64;

impl UnallocatedPlan {
    /// Runs steps that free large arrays early, unless the peak then is higher by more than small
    /// arrays.
    pub(super) fn ordered(mut self, module: &Module, effects: &Effects) -> Self {
        let moves = |step: &UnallocatedStep| {
            step.inputs.len() <= MOST_INPUTS
                && is_pure(&step.action)
                && !effects.has(step.site.of(module))
        };
        let Some(order) = Schedule::of(&self, moves) else { return self };
        let before = peak(&self);
        self.permute(&order);
        if peak(&self) > before.saturating_add(before / REDUCED) {
            let mut back = vec![0; order.len()];
            order.iter().enumerate().for_each(|(new, &old)| back[old] = new);
            self.permute(&back);
        }
        self
    }

    /// Puts step `order[i]` at place `i`.
    fn permute(&mut self, order: &[usize]) {
        let mut steps: Vec<_> = std::mem::take(&mut self.steps).into_iter().map(Some).collect();
        let taken =
            order.iter().map(|&step| steps[step].take().expect("an order has each step once"));
        self.steps = taken.collect();
        self.set_last_uses();
    }
}

/// Returns the most bytes in use at a step of this computation.
fn peak(plan: &UnallocatedPlan) -> usize {
    let steps = plan.steps.iter().enumerate().zip(live_bytes(plan));
    let bytes = steps.map(|((i, step), live)| {
        let over = in_place(i, step, &plan.arrays).map(|k| &plan.arrays[step.inputs[k]]);
        let over = over.filter(|array| !array.is_parameter).map_or(0, |array| array.bytes);
        live.saturating_sub(over).saturating_add(step.scratch)
    });
    bytes.max().unwrap_or(0)
}

/// Returns whether a step only computes arrays from arrays.
fn is_pure(action: &Action) -> bool {
    match action {
        Action::Kernel(_) | Action::Function(_) | Action::Steps(_) | Action::Bitcast => true,
        Action::Call(_)
        | Action::While { .. }
        | Action::Branch(_)
        | Action::Scan(_)
        | Action::AsyncStart { .. }
        | Action::AsyncUpdate
        | Action::AsyncDone
        | Action::Communicate(_)
        | Action::Start(_)
        | Action::Done => false,
    }
}

/// The readers of an array.
#[derive(Clone, Default)]
struct Readers {
    steps: SmallVec<[usize; 4]>,
    /// The number of those without a place, and one more if the array is a result.
    left: usize,
}

/// An order while it is made.
struct Schedule<'a> {
    plan: &'a UnallocatedPlan,
    /// The step that computes each array.
    producer: Vec<Option<usize>>,
    /// The readers of each array.
    readers: Vec<Readers>,
    /// Whether a step may be moved.
    moves: Vec<bool>,
    has_place: Vec<bool>,
    placed: Vec<usize>,
    /// The steps to look at: one of their inputs has no other reader any more, or is large and was
    /// computed.
    candidates: Vec<usize>,
}

impl<'a> Schedule<'a> {
    /// Returns the order of steps; `None` if it is the present one.
    fn of(
        plan: &'a UnallocatedPlan,
        moves: impl Fn(&UnallocatedStep) -> bool,
    ) -> Option<Vec<usize>> {
        if plan.arrays.iter().all(|array| array.bytes < LARGE) {
            return None;
        }
        let mut made = Schedule {
            plan,
            producer: vec![None; plan.arrays.len()],
            readers: vec![Readers::default(); plan.arrays.len()],
            moves: plan.steps.iter().map(moves).collect(),
            has_place: vec![false; plan.steps.len()],
            placed: Vec::with_capacity(plan.steps.len()),
            candidates: Vec::new(),
        };
        for (number, step) in plan.steps.iter().enumerate() {
            step.outputs.iter().for_each(|&array| made.producer[array] = Some(number));
            for array in distinct(&step.inputs) {
                made.readers[array].steps.push(number);
                made.readers[array].left += 1;
            }
        }
        // Results are held to the end.
        plan.results.iter().for_each(|&array| made.readers[array].left += 1);
        for number in 0..plan.steps.len() {
            made.place(number);
            while let Some(candidate) = made.candidates.pop() {
                if let Some(needed) = made.early(candidate) {
                    needed.into_iter().for_each(|step| made.place(step));
                }
            }
        }
        let is_moved = made.placed.iter().enumerate().any(|(new, &old)| new != old);
        is_moved.then_some(made.placed)
    }

    fn place(&mut self, number: usize) {
        if std::mem::replace(&mut self.has_place[number], true) {
            return;
        }
        self.placed.push(number);
        let step = &self.plan.steps[number];
        for array in distinct(&step.inputs) {
            let readers = &mut self.readers[array];
            readers.left -= 1;
            if readers.left == 1 {
                self.candidates.extend(readers.steps.iter().find(|&&step| !self.has_place[step]));
            }
        }
        for &array in &step.outputs {
            let readers = &self.readers[array];
            if readers.left == 1 || self.plan.arrays[array].bytes >= LARGE {
                self.candidates.extend(readers.steps.iter().rev());
            }
        }
    }

    /// Returns a step that may run now, after the small ones that it needs, if together they free
    /// at least what they take or take little of what they read.
    fn early(&self, number: usize) -> Option<Needed> {
        if self.has_place[number] {
            return None;
        }
        let mut needed = Needed::new();
        self.need(number, Needed::new().inline_size(), &mut needed)?;
        let (last, others) = needed.split_last()?;
        let small: usize = others.iter().map(|&step| self.outputs(step)).sum();
        let taken = self.outputs(*last).saturating_add(small);
        let (mut read, mut freed) = (0usize, small);
        for array in distinct(&self.plan.steps[number].inputs) {
            let info = &self.plan.arrays[array];
            if info.value.is_some() || info.is_parameter {
                continue;
            }
            read = read.saturating_add(info.bytes);
            if self.readers[array].left == 1 {
                freed = freed.saturating_add(info.bytes);
            }
        }
        (read >= LARGE && (taken <= freed || taken <= read / REDUCED)).then_some(needed)
    }

    /// Adds a step after the steps without a place that it depends on, which must be small, and at
    /// most `most` with itself.
    fn need(&self, number: usize, most: usize, needed: &mut Needed) -> Option<()> {
        if !self.moves[number] || most <= needed.len() {
            return None;
        }
        for &array in &self.plan.steps[number].inputs {
            let producer = self.producer[array].filter(|&step| !self.has_place[step]);
            let Some(producer) = producer.filter(|step| !needed.contains(step)) else { continue };
            if self.outputs(producer) >= LARGE {
                return None;
            }
            self.need(producer, most - 1, needed)?;
        }
        needed.push(number);
        Some(())
    }

    fn outputs(&self, step: usize) -> usize {
        self.plan.steps[step].output_bytes(&self.plan.arrays)
    }
}

/// Steps that run together; a step that needs more is not moved.
type Needed = SmallVec<[usize; 8]>;

/// Returns the arrays without repetitions.
fn distinct(inputs: &[ArrayId]) -> SmallVec<[ArrayId; 8]> {
    let mut arrays = SmallVec::from_slice(inputs);
    arrays.sort_unstable();
    arrays.dedup();
    arrays
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Executable};

    /// Returns the names of the steps of the entry in their order, and the planned bytes.
    fn plan(body: &str) -> (Vec<String>, usize) {
        let sum = "sum { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }";
        let text = format!(
            "{sum} ENTRY e {{ z = f32[] constant(0) x = f32[1024,1024] parameter(0) {body} }}"
        );
        let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
        let text = executable.plan().to_string();
        let entry: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("ENTRY")).collect();
        let steps = entry.iter().take_while(|line| !line.trim().starts_with("results"));
        let names =
            steps.filter_map(|line| line.split_once(": %")).map(|(name, _)| name.trim().to_owned());
        (names.collect(), executable.planned_bytes())
    }

    #[test]
    fn a_large_array_is_freed_before_others_are_made() {
        let (names, peak) = plan(
            "a = f32[1024,1024] transpose(x), dimensions={1,0} b = f32[1024,1024] reverse(a), dimensions={0}
             c = f32[1024,1024] transpose(b), dimensions={1,0} d = f32[1024,1024] reverse(c), dimensions={0}
             n = f32[1024] reduce(a, z), dimensions={0}, to_apply=sum m = f32[] reduce(n, z), dimensions={0}, to_apply=sum
             ROOT t = (f32[1024,1024], f32[]) tuple(d, m)",
        );
        assert_eq!(names, ["a", "n", "b", "c", "d", "m"]);
        // The argument and two arrays; three if `a` is held to the end.
        assert!((3 << 22..7 << 21).contains(&peak), "{peak}");
    }

    #[test]
    fn steps_with_effects_stay_where_they_are() {
        let (names, _) = plan(
            "k = token[] after-all() a = f32[1024,1024] transpose(x), dimensions={1,0}
             f = token[] outfeed(a, k), outfeed_shape=f32[1024,1024]
             b = f32[1024,1024] reverse(a), dimensions={0} g = token[] outfeed(b, f), outfeed_shape=f32[1024,1024]
             n = f32[1024] reduce(a, z), dimensions={0}, to_apply=sum
             ROOT h = token[] outfeed(n, g), outfeed_shape=f32[1024]",
        );
        assert_eq!(names, ["a", "n", "f", "b", "g", "h"]);
    }
}
