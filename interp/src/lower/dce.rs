//! Dead code elimination: removes the steps whose results nothing reads. A step with an effect on
//! other devices, the host, the random state or a custom call's target is never dead.
use super::inline::Inlining;
use super::unallocated::UnallocatedPlan;
use crate::effects::Effects;
use hlo::Module;

impl UnallocatedPlan {
    /// Removes the dead steps. Their fuel is spent by the steps after them.
    pub(super) fn without_dead_steps(
        mut self,
        module: &Module,
        effects: &Effects,
        inlining: &Inlining,
    ) -> Self {
        let mut live = vec![false; self.arrays.len()];
        for &array in &self.results {
            live[array] = true;
        }
        let mut kept = vec![true; self.steps.len()];
        for (step, kept) in self.steps.iter().zip(&mut kept).rev() {
            *kept =
                step.outputs.iter().any(|&array| live[array]) || effects.has(step.site.of(module));
            for &array in step.inputs.iter().filter(|_| *kept) {
                live[array] = true;
            }
        }
        let (mut fuel, mut kept) = (0, kept.into_iter());
        self.steps.retain_mut(|step| {
            step.fuel = step.fuel.saturating_add(std::mem::take(&mut fuel));
            let is_kept = kept.next().unwrap_or(true);
            if !is_kept {
                fuel = step.fuel.saturating_add(inlining.fuel_of_dead(&step.action));
            }
            is_kept
        });
        self.fuel = self.fuel.saturating_add(fuel);
        self.set_last_uses();
        self
    }
}
