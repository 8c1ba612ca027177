//! Sums of few terms whose results lie in lines: each term is multiplied and added for a whole line
//! at once.
//!
//! This suits results that share few columns, for which tiles would be mostly empty: convolutions
//! of features that do not mix.
use super::accumulator::OwnSums;
use super::blocked::SLICE;
use super::job::Job;
use super::tile::NativeWord;
use crate::cost_model::MULTIPLIED;
use num::loops::instruction_set::{Task, run as run_task};
use num::parallel::{parts_with, threads};

/// Results of a line that are computed at once: their sums stay in the innermost cache.
const SEGMENT: usize = 1024;

/// The lines of a result, block after block. A block has the results of `interleaved` lines in
/// turn, which have the same terms in the left operand.
pub(crate) struct ResultLines<'a> {
    /// Results of a line.
    pub length: usize,
    /// Lines of a block.
    pub interleaved: usize,
    /// Terms of a result, at most.
    pub terms: usize,
    /// The distance in the right operand of the terms of neighboring lines of a block.
    pub line_step: usize,
    /// The distances in the operands of the terms of neighboring results; the one in the left
    /// operand is that of neighbors in a [`Tap`].
    pub lhs_step: usize,
    pub rhs_step: usize,
    pub taps: Vec<Tap>,
    /// Appends the places in the operands to which the places of the taps are added, for a block.
    pub bases: &'a (dyn Fn(usize, &mut Vec<[usize; 2]>) + Sync),
}

/// A term of results of a line, in all of which its factors are elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tap {
    /// The first result, the distance of the results, and their number.
    pub first: usize,
    pub step: usize,
    pub count: usize,
    /// Places of the factors of the first result.
    pub lhs: usize,
    pub rhs: usize,
}

impl Tap {
    /// Returns the part with the results of a segment, which are counted from its first one.
    fn clip(self, from: usize, to: usize, lines: &ResultLines<'_>) -> Self {
        let before = from.saturating_sub(self.first).div_ceil(self.step);
        let until = to.saturating_sub(self.first).div_ceil(self.step).min(self.count);
        let Some(count) = until.checked_sub(before) else { return Self { count: 0, ..self } };
        Self {
            first: (self.first + before * self.step).saturating_sub(from),
            count,
            lhs: self.lhs + before * lines.lhs_step,
            rhs: self.rhs + before * self.step * lines.rhs_step,
            ..self
        }
    }
}

impl ResultLines<'_> {
    fn segments(&self) -> usize {
        self.length.div_ceil(SEGMENT)
    }
    /// Returns the bytes that lines with these numbers of results, bases and taps take, for sums of
    /// 64 bits and a result of type `to`.
    pub(crate) fn scratch(length: usize, bases: usize, taps: usize, width: usize) -> usize {
        let results = length.min(SEGMENT).saturating_mul(3 * size_of::<f64>() + width);
        // A list that grows has up to twice the room.
        let bases = bases.max(4).saturating_mul(2 * size_of::<[usize; 2]>());
        let taps = taps.max(4).saturating_mul(2 * size_of::<Tap>());
        results
            .saturating_add(bases)
            .saturating_add(taps)
            .saturating_mul(threads())
            .saturating_add(taps)
    }
}

/// The sums of lines.
type LinesJob<'a, K> = Job<'a, K, ResultLines<'a>>;

/// The memory of a thread.
struct LineScratch<W> {
    bases: Vec<[usize; 2]>,
    taps: Vec<Tap>,
    /// Sums of a slice of the terms, and of all slices.
    sums: Vec<W>,
    totals: Vec<W>,
    magnitudes: Vec<f64>,
    /// Elements of a line of a block with several lines.
    elements: Vec<u8>,
}

impl<W> Default for LineScratch<W> {
    fn default() -> Self {
        Self {
            bases: Vec::new(),
            taps: Vec::new(),
            sums: Vec::new(),
            totals: Vec::new(),
            magnitudes: Vec::new(),
            elements: Vec::new(),
        }
    }
}

/// All sums of the plan, in the order of the lines.
pub(super) fn run<K: OwnSums>(job: &LinesJob<'_, K>, out: &mut [u8]) {
    let lines = job.plan;
    let width = job.rounding.to.storage_bytes();
    let (line, segments) = (lines.length * lines.interleaved * width, lines.segments());
    let work = lines.length.saturating_mul(lines.interleaved);
    let work = work.saturating_mul(lines.terms.max(1));
    let blocks = out.len() / line;
    let part = |space: &mut LineScratch<K::Word>, block: usize, segment: usize, out: &mut [u8]| {
        if !job.stop.is_set() {
            Segment { job, lines, block, from: segment * SEGMENT }.run(space, out);
        }
    };
    let segment = SEGMENT * lines.interleaved * width;
    if segments > 1 && blocks < 2 * threads() {
        for (block, out) in out.chunks_mut(line).enumerate() {
            parts_with(out, (segment, 1), LineScratch::default, |space, i, out| {
                part(space, block, i, out);
            });
        }
        return;
    }
    let least = (MULTIPLIED / work).max(1);
    parts_with(out, (line, least), LineScratch::default, |space, block, out| {
        for (i, out) in out.chunks_mut(segment).enumerate() {
            part(space, block, i, out);
        }
    });
}

/// The results from the number `from` on of the lines of a block.
struct Segment<'a, K: OwnSums> {
    job: &'a LinesJob<'a, K>,
    lines: &'a ResultLines<'a>,
    block: usize,
    from: usize,
}

impl<K: OwnSums> Segment<'_, K> {
    fn run(&self, space: &mut LineScratch<K::Word>, out: &mut [u8]) {
        let (lines, rounding) = (self.lines, self.job.rounding);
        let (width, interleaved) = (rounding.to.storage_bytes(), lines.interleaved);
        let length = out.len() / width / interleaved;
        space.bases.clear();
        (lines.bases)(self.block, &mut space.bases);
        space.taps.clear();
        let taps = lines.taps.iter().map(|tap| tap.clip(self.from, self.from + length, lines));
        space.taps.extend(taps.filter(|tap| tap.count > 0));
        for line in 0..interleaved {
            let depth = self.add(line, length, space);
            let LineScratch { bases, taps, totals, magnitudes, elements, .. } = &mut *space;
            elements.resize(if interleaved > 1 { length * width } else { 0 }, 0);
            let slots = if interleaved > 1 { elements.as_mut_slice() } else { &mut *out };
            let error = self.job.error.of_depth(depth);
            if !K::round(totals, error, (1.0, magnitudes), rounding, slots) {
                let slots = slots.chunks_exact_mut(width);
                for (i, ((&sum, &magnitude), slot)) in
                    totals.iter().zip(&*magnitudes).zip(slots).enumerate()
                {
                    if !K::round(&[sum], error, (1.0, &[magnitude]), rounding, slot)
                        && !self.job.decide(sum, magnitude, slot)
                    {
                        let pairs: Vec<[K::Word; 2]> = self.pairs(line, i, bases, taps).collect();
                        let [a, b] = [0, 1].map(|of| pairs.iter().map(move |pair| pair[of]));
                        self.job.settle(&mut None, (a, b), (sum, magnitude), slot);
                    }
                }
            }
            if interleaved > 1 {
                let slots = out.chunks_exact_mut(width).skip(line).step_by(interleaved);
                slots
                    .zip(elements.chunks_exact(width))
                    .for_each(|(to, from)| to.copy_from_slice(from));
            }
        }
    }

    /// Forms the sums of a line, and those of their magnitudes. Returns the additions that a term
    /// takes part in, at most.
    fn add(&self, line: usize, length: usize, space: &mut LineScratch<K::Word>) -> usize {
        let LineScratch { bases, taps, sums, totals, magnitudes, .. } = space;
        totals.clear();
        totals.resize(length, K::Word::default());
        magnitudes.clear();
        magnitudes.resize(if K::HAS_BOUND { length } else { 0 }, 0.0);
        let together = (SLICE / taps.len().max(1)).max(1);
        let is_one = bases.len() <= together && taps.len() <= SLICE;
        let mut slices = 0;
        for taps in taps.chunks(SLICE) {
            for bases in bases.chunks(together) {
                if self.job.stop.is_set() {
                    return 0;
                }
                if !is_one {
                    sums.clear();
                    sums.resize(length, K::Word::default());
                }
                run_task(AddTerms::<K> {
                    job: self.job,
                    lines: self.lines,
                    start: line * self.lines.line_step,
                    bases,
                    taps,
                    sums: if is_one { &mut *totals } else { &mut *sums },
                    magnitudes,
                });
                if !is_one {
                    totals
                        .iter_mut()
                        .zip(&*sums)
                        .for_each(|(total, &sum)| *total = total.plus(sum));
                }
                slices += 1;
            }
        }
        SLICE.min(self.lines.terms) + slices
    }

    /// Returns the factors of the terms of a result of a line, counted from the first one of the
    /// segment.
    fn pairs(
        &self,
        line: usize,
        result: usize,
        bases: &[[usize; 2]],
        taps: &[Tap],
    ) -> impl Iterator<Item = [K::Word; 2]> {
        let (job, lines) = (self.job, self.lines);
        let taps = taps.iter().filter_map(move |tap| {
            let after = result.checked_sub(tap.first)?;
            let number = after / tap.step;
            let is_term = after.is_multiple_of(tap.step) && number < tap.count;
            let rhs = line * lines.line_step + tap.rhs + after * lines.rhs_step;
            is_term.then(|| [tap.lhs + number * lines.lhs_step, rhs])
        });
        let bases = bases.iter();
        bases.flat_map(move |&[lhs, rhs]| {
            let elements =
                move |[a, b]: [usize; 2]| [job.lhs[lhs.wrapping_add(a)], job.rhs[rhs + b]];
            taps.clone().map(move |tap| elements(tap).map(K::pack))
        })
    }
}

/// Adds the products of taps at bases to the sums of a segment.
struct AddTerms<'a, K: OwnSums> {
    job: &'a LinesJob<'a, K>,
    lines: &'a ResultLines<'a>,
    /// The place of the line in the right operand.
    start: usize,
    bases: &'a [[usize; 2]],
    taps: &'a [Tap],
    sums: &'a mut [K::Word],
    magnitudes: &'a mut [f64],
}

impl<K: OwnSums> Task for AddTerms<'_, K> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { job, lines, start, bases, taps, sums, magnitudes } = self;
        for &[lhs, rhs] in bases {
            for tap in taps {
                let lhs = &job.lhs[lhs.wrapping_add(tap.lhs)..];
                let rhs = &job.rhs[start + rhs + tap.rhs..];
                let (first, count) = (tap.first, tap.count);
                if tap.step != 1 || lines.lhs_step != 1 || lines.rhs_step > 1 {
                    for i in 0..count {
                        let (a, b) = (lhs[i * lines.lhs_step], rhs[i * tap.step * lines.rhs_step]);
                        let at = first + i * tap.step;
                        let magnitude = K::add(&mut sums[at], K::pack(a), K::pack(b));
                        if K::HAS_BOUND {
                            magnitudes[at] += magnitude;
                        }
                    }
                    continue;
                }
                let (lhs, sums) = (&lhs[..count], &mut sums[first..first + count]);
                let magnitudes =
                    if K::HAS_BOUND { &mut magnitudes[first..first + count] } else { &mut [] };
                if lines.rhs_step == 0 {
                    let b = K::pack(rhs[0]);
                    for i in 0..count {
                        let magnitude = K::add(&mut sums[i], K::pack(lhs[i]), b);
                        if K::HAS_BOUND {
                            magnitudes[i] += magnitude;
                        }
                    }
                } else {
                    let rhs = &rhs[..count];
                    for i in 0..count {
                        let (a, b) = (K::pack(lhs[i]), K::pack(rhs[i]));
                        let magnitude = K::add(&mut sums[i], a, b);
                        if K::HAS_BOUND {
                            magnitudes[i] += magnitude;
                        }
                    }
                }
            }
        }
    }
}
