//! Progress of a run on a terminal: the instruction, the round of a loop, and the share of the module's cost that is done.
use crate::output;
use hlo::Verified;
use indicatif::ProgressBar;
use interp::cost::{float, weights};
use interp::{Hooks, Progress, trip_count};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// The progress of a run, shown until it is dropped.
pub(crate) struct RunProgress {
    _shown: output::Progress,
    hook: Option<Arc<Progress>>,
}

impl RunProgress {
    pub(crate) fn start(name: &str, module: &Arc<Verified>) -> Self {
        let what = format!("running {name}");
        let shown = output::Progress::new(&what);
        let hook = shown.bar().map(|bar| {
            let progress = Arc::new(Progress::default());
            let (module, seen) = (Arc::clone(module), Arc::clone(&progress));
            let follow = move || follow(&bar, &what, &module, &seen);
            let _ = std::thread::Builder::new().spawn(follow);
            progress
        });
        Self { _shown: shown, hook }
    }
    /// Returns the progress that the run writes, if it is shown.
    pub(crate) fn hook(&self) -> Option<Arc<Progress>> {
        self.hook.clone()
    }
}

/// Returns the hooks with the progress of a run.
pub(crate) fn attach(hooks: Hooks, progress: Option<&Arc<Progress>>) -> Hooks {
    match progress {
        Some(progress) => hooks.progress(Arc::clone(progress)),
        None => hooks,
    }
}

/// Sets the message until the bar is cleared.
fn follow(bar: &ProgressBar, what: &str, module: &Verified, progress: &Progress) {
    std::thread::sleep(Duration::from_secs(1));
    if bar.is_finished() {
        return;
    }
    let weights = weights(module.module());
    while !bar.is_finished() {
        if let Some(text) = text(module, &weights, progress.get()) {
            bar.set_message(format!("{what}: {text}"));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Describes where a run is; `weights` are those of the instructions of the entry computation.
fn text(
    module: &Verified,
    weights: &[f64],
    position: Option<(usize, usize, u64)>,
) -> Option<String> {
    let (computation, instruction, round) = position?;
    let module = module.module();
    let id = module.computations.ids().nth(computation)?;
    let computation = &module.computations[id];
    let at = computation.instructions.ids().nth(instruction)?;
    let found = &computation.instructions[at];
    let mut text = format!("{} ({})", computation.name(at), found.opcode());
    let rounds = trip_count(module, computation, found);
    match (round, rounds) {
        (0, _) => {}
        (round, Some(rounds)) => _ = write!(text, ", round {round} of {rounds}"),
        (round, None) => _ = write!(text, ", round {round}"),
    }
    let total: f64 = weights.iter().sum();
    // Without the number of rounds nothing is known about the end.
    if id == module.entry && total > 0.0 && (round == 0 || rounds.is_some()) {
        let before: f64 = weights[..instruction].iter().sum();
        let share = rounds.map_or(0.0, |rounds| float(round) / float(rounds.max(1)));
        let done = 100.0 * (before + weights[instruction] * share) / total;
        let _ = write!(text, ", about {done:.0} %");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_and_the_share_are_shown() {
        let text = "HloModule m
            b { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }
            c { p = f32[8] parameter(0) ROOT t = pred[] constant(true) }
            ENTRY e { x = f32[8] parameter(0) a = f32[8] negate(x)
            ROOT w = f32[8] while(a), condition=c, body=b, backend_config={\"known_trip_count\":{\"n\":\"3\"}} }";
        let module = hlo::Module::parse(text).unwrap().verify().unwrap();
        let weights = weights(module.module());
        let entry = module.module().entry.index();
        let of =
            |instruction, round| super::text(&module, &weights, Some((entry, instruction, round)));
        assert_eq!(of(1, 0).unwrap(), "a (negate), about 0 %");
        assert_eq!(of(2, 1).unwrap(), "w (while), round 1 of 3, about 50 %");
        assert_eq!(of(2, 3).unwrap(), "w (while), round 3 of 3, about 100 %");
    }
}
