//! The search: candidates, checked once each, and the smallest interesting one so far.
use super::draft::{Draft, Edit};
use super::limited_run::measured_fuel;
use super::{Interest, Options, Other, Score, Step};
use hlo::text::Style;
use hlo::{Literal, Module, Verified};
use interp::DeviceGrid;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

/// The predicate of a search.
pub(super) type Predicate<'a> = dyn FnMut(&Arc<Verified>, &[Vec<Literal>]) -> Interest + 'a;

/// A search for a smaller interesting candidate.
pub(super) struct Reduction<'a, 'o> {
    pub(super) module: Arc<Verified>,
    pub(super) arguments: Vec<Vec<Literal>>,
    pub(super) score: Score,
    pub(super) tried: usize,
    pub(super) steps: Vec<Step>,
    pub(super) others: Vec<Other>,
    /// The pass whose candidates are tried.
    pub(super) pass: &'static str,
    interesting: &'a mut Predicate<'a>,
    options: &'a mut Options<'o>,
    seen: HashSet<u64>,
    fuel: u64,
    start: Instant,
}

impl<'a, 'o> Reduction<'a, 'o> {
    pub(super) fn new(
        module: Arc<Verified>,
        arguments: &[Vec<Literal>],
        interesting: &'a mut Predicate<'a>,
        options: &'a mut Options<'o>,
    ) -> Self {
        Self {
            score: Score::of(module.module(), arguments),
            module,
            arguments: arguments.to_vec(),
            tried: 0,
            steps: Vec::new(),
            others: Vec::new(),
            pass: "",
            interesting,
            options,
            seen: HashSet::new(),
            fuel: 0,
            start: Instant::now(),
        }
    }
    /// Returns the best candidate, to be edited.
    pub(super) fn draft(&self) -> Draft {
        Draft::new(self.module.module(), &self.arguments)
    }
    /// Returns whether a limit of the options is reached.
    pub(super) fn is_over(&self) -> bool {
        self.options.max_tries.is_some_and(|most| self.tried >= most)
            || self.options.time_limit.is_some_and(|limit| self.start.elapsed() >= limit)
    }
    /// Returns the steps that a run of a candidate may take.
    pub(super) fn fuel(&self) -> u64 {
        self.fuel
    }
    /// Sets that number, unless the options have it.
    pub(super) fn measure_fuel(&mut self) {
        let measured = || measured_fuel(&self.module, &self.arguments);
        self.fuel = self.options.fuel.unwrap_or_else(measured);
    }
    /// Calls the predicate, and counts it.
    pub(super) fn ask(&mut self, module: &Arc<Verified>, arguments: &[Vec<Literal>]) -> Interest {
        self.tried += 1;
        (self.interesting)(module, arguments)
    }

    /// Tries an edited module; the best candidate is replaced if this one is interesting and
    /// smaller.
    pub(super) fn attempt(&mut self, draft: Draft) -> bool {
        let Draft { rewriter, arguments } = draft;
        rewriter.finish().is_ok_and(|module| self.attempt_module(module, arguments))
    }
    /// As [`attempt`](Self::attempt), for a finished module.
    pub(super) fn attempt_module(&mut self, module: Module, arguments: Vec<Vec<Literal>>) -> bool {
        let devices = DeviceGrid::of(&module.config).len();
        if arguments.len() != 1 && arguments.len() != devices {
            return false;
        }
        let score = Score::of(&module, &arguments);
        if score >= self.score || self.is_over() || !self.seen.insert(hash(&module, &arguments)) {
            return false;
        }
        let Ok(verified) = module.verify() else { return false };
        let verified = Arc::new(verified);
        match self.ask(&verified, &arguments) {
            Interest::Boring => false,
            Interest::Other(kind) => {
                self.keep(Other { kind, module: verified, arguments, score });
                false
            }
            Interest::Interesting => {
                (self.module, self.arguments, self.score) = (verified, arguments, score);
                let step = Step { pass: self.pass, tried: self.tried, score };
                if let Some(progress) = &mut self.options.progress {
                    progress(&step, &self.module, &self.arguments);
                }
                self.steps.push(step);
                true
            }
        }
    }
    /// Keeps the smallest candidate of each other kind.
    fn keep(&mut self, other: Other) {
        match self.others.iter_mut().find(|kept| kept.kind == other.kind) {
            Some(kept) if other.score < kept.score => *kept = other,
            Some(_) => {}
            None => self.others.push(other),
        }
    }

    /// Applies as many of the edits of the best candidate as it can: chunks from the last to the
    /// first, of half the size when no chunk of a round succeeded. Returns whether any did.
    pub(super) fn minimize(&mut self, mut edits: Vec<Edit>) -> bool {
        let mut draft = self.draft();
        let kept = draft.dead();
        let mut size = edits.len();
        let mut any = false;
        while size > 0 && !self.is_over() {
            let before = edits.len();
            let mut end = edits.len();
            while end > 0 && !self.is_over() {
                let start = end.saturating_sub(size);
                let mut candidate = draft.clone();
                let applied = edits[start..end].iter().filter(|edit| edit(&mut candidate)).count();
                candidate.sweep(&kept);
                if applied == 0 {
                    edits.drain(start..end);
                } else if self.attempt(candidate.clone()) {
                    draft = candidate;
                    any = true;
                    edits.drain(start..end);
                }
                end = start;
            }
            size = match edits.len() {
                same if same == before && size == 1 => 0,
                same if same == before => size.div_ceil(2),
                fewer => size.min(fewer),
            };
        }
        any
    }
    /// Tries edits of the best candidate one by one, until one succeeds.
    pub(super) fn first(&mut self, edits: Vec<Edit>) -> bool {
        let draft = self.draft();
        let kept = draft.dead();
        edits.into_iter().any(|edit| {
            let mut candidate = draft.clone();
            edit(&mut candidate) && {
                candidate.sweep(&kept);
                self.attempt(candidate)
            }
        })
    }
}

fn hash(module: &Module, arguments: &[Vec<Literal>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    module.print(Style::Short).hash(&mut hasher);
    for value in arguments.iter().flatten().flat_map(Literal::leaves) {
        value.bytes().hash(&mut hasher);
    }
    hasher.finish()
}
