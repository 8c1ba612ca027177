//! The search: candidates, checked once each, and the smallest interesting one so far.
use super::draft::{At, Draft, Edit};
use super::limited_run::measured_fuel;
use super::{Candidate, Interest, Options, Other, Score, Step};
use crate::pool::Queue;
use hlo::text::Style;
use hlo::{Literal, Module, Verified};
use interp::DeviceGrid;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

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
    /// Asks the predicate.
    queue: Queue<'a, Candidate, Interest>,
    options: &'a mut Options<'o>,
    seen: HashSet<u64>,
    fuel: u64,
    start: Instant,
}

impl<'a, 'o> Reduction<'a, 'o> {
    pub(super) fn new(
        module: Arc<Verified>,
        arguments: &[Vec<Literal>],
        queue: Queue<'a, Candidate, Interest>,
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
            queue,
            options,
            seen: HashSet::new(),
            fuel: 0,
            start: Instant::now(),
        }
    }
    /// Returns the best candidate.
    pub(super) fn best(&self) -> Candidate {
        Candidate { module: Arc::clone(&self.module), arguments: self.arguments.clone() }
    }
    /// Returns the best candidate, to be edited.
    pub(super) fn draft(&self) -> Draft {
        Draft::new(self.module.module(), &self.arguments)
    }
    /// Returns whether a limit of the options is reached.
    pub(super) fn is_over(&self) -> bool {
        let tried = self.tried + self.queue.len();
        self.options.max_tries.is_some_and(|most| tried >= most)
            || self.options.time_limit.is_some_and(|limit| self.start.elapsed() >= limit)
            || self.options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
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
        let (module, arguments) = (Arc::clone(module), arguments.to_vec());
        self.queue.push(Candidate { module, arguments });
        self.tried += 1;
        self.queue.pop().unwrap_or(Interest::Boring)
    }

    /// Tries edited modules in order, until one is interesting and smaller than the best candidate,
    /// which it replaces; returns what came with it. The predicate may be asked for some of them
    /// ahead: its answers for those after the one that is interesting do not count.
    pub(super) fn first_of<T>(
        &mut self,
        edited: impl Iterator<Item = (Option<Edited>, T)>,
    ) -> Option<T> {
        let (mut edited, mut open) = (edited.fuse(), VecDeque::new());
        loop {
            while self.queue.has_room()
                && !self.is_over()
                && let Some((edited, with)) = edited.next()
            {
                if let Some(asked) = edited.and_then(|edited| self.checked(edited)) {
                    self.queue.push(asked.candidate.clone());
                    open.push_back((asked, with));
                }
            }
            let answer = self.queue.pop()?;
            self.tried += 1;
            let (asked, with) = open.pop_front().expect("each answer has its question");
            if self.is_taken(answer, asked) {
                self.queue.clear();
                for (other, _) in open {
                    self.seen.remove(&other.hash);
                }
                return Some(with);
            }
        }
    }
    /// Tries an edited module.
    pub(super) fn attempt(&mut self, module: Module, arguments: Vec<Vec<Literal>>) -> bool {
        self.first_of(std::iter::once((Some((module, arguments)), ()))).is_some()
    }
    /// Returns the question that an edited module is, unless it is not smaller, was tried, or breaks
    /// a rule.
    fn checked(&mut self, (module, arguments): Edited) -> Option<Asked> {
        let devices = DeviceGrid::of(&module.config).len();
        if arguments.len() != 1 && arguments.len() != devices {
            return None;
        }
        let (score, hash) = (Score::of(&module, &arguments), hash(&module, &arguments));
        if score >= self.score || !self.seen.insert(hash) {
            return None;
        }
        let module = Arc::new(module.verify().ok()?);
        Some(Asked { candidate: Candidate { module, arguments }, score, hash })
    }
    /// Returns whether a candidate is interesting, and then the best one.
    fn is_taken(&mut self, answer: Interest, asked: Asked) -> bool {
        let Asked { candidate: Candidate { module, arguments }, score, .. } = asked;
        match answer {
            Interest::Boring => false,
            Interest::Other(kind) => {
                self.keep(Other { kind, module, arguments, score });
                false
            }
            Interest::Interesting => {
                (self.module, self.arguments, self.score) = (module, arguments, score);
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
    pub(super) fn minimize(&mut self, edits: Vec<Edit>) -> bool {
        let mut draft = self.draft();
        let kept = draft.dead();
        let mut chunks = Chunks::new(edits);
        let mut any = false;
        loop {
            let mut walk = chunks.clone();
            let candidates = std::iter::from_fn(|| {
                let (chunks, candidate) = walk.next(&draft, &kept)?;
                Some((finished(&candidate), (chunks, candidate)))
            });
            let Some((at, candidate)) = self.first_of(candidates) else { return any };
            (chunks, draft, any) = (at.without_chunk(), candidate, true);
        }
    }
    /// Tries edits of the best candidate one by one, until one succeeds.
    pub(super) fn first(&mut self, edits: Vec<Edit>) -> bool {
        let draft = self.draft();
        let kept = draft.dead();
        let candidates = edits.into_iter().map(|edit| {
            let mut candidate = draft.clone();
            let is_edited = edit(&mut candidate);
            let swept = is_edited.then(|| {
                candidate.sweep(&kept);
                finished(&candidate)
            });
            (swept.flatten(), ())
        });
        self.first_of(candidates).is_some()
    }
}

/// An edited module and its arguments.
pub(super) type Edited = (Module, Vec<Vec<Literal>>);

fn finished(draft: &Draft) -> Option<Edited> {
    let module = draft.rewriter.clone().finish().ok()?;
    Some((module, draft.arguments.clone()))
}

/// A candidate that the predicate is asked for.
struct Asked {
    candidate: Candidate,
    score: Score,
    hash: u64,
}

/// A walk over chunks of edits.
#[derive(Clone)]
struct Chunks {
    edits: Rc<[Edit]>,
    /// The edits that are neither applied nor without effect.
    left: Vec<usize>,
    /// The size of a chunk.
    size: usize,
    /// The number of edits when the round began.
    before: usize,
    /// The chunk.
    chunk: Range<usize>,
}

impl Chunks {
    fn new(edits: Vec<Edit>) -> Self {
        let count = edits.len();
        let left = (0..count).collect();
        Self { edits: edits.into(), left, size: count, before: count, chunk: count..count }
    }
    /// Returns the walk at the next chunk that changes the draft, and the changed draft; the chunks
    /// before it failed.
    fn next(&mut self, draft: &Draft, kept: &HashSet<At>) -> Option<(Self, Draft)> {
        loop {
            if self.chunk.start == 0 {
                let count = self.left.len();
                self.size = match count {
                    same if same == self.before && self.size == 1 => 0,
                    same if same == self.before => self.size.div_ceil(2),
                    fewer => self.size.min(fewer),
                };
                (self.before, self.chunk) = (count, count..count);
            }
            if self.size == 0 {
                return None;
            }
            let end = self.chunk.start;
            self.chunk = end.saturating_sub(self.size)..end;
            let mut candidate = draft.clone();
            let chunk = self.left[self.chunk.clone()].iter();
            let applied = chunk.filter(|&&edit| self.edits[edit](&mut candidate)).count();
            if applied > 0 {
                candidate.sweep(kept);
                return Some((self.clone(), candidate));
            }
            self.left.drain(self.chunk.clone());
        }
    }
    /// Returns the walk after its chunk was applied.
    fn without_chunk(mut self) -> Self {
        self.left.drain(self.chunk.clone());
        self
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
