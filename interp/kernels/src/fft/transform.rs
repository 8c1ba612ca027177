//! The transform of lines of one length: of complex numbers there or back, or of real ones.
use num::clock::Stop;
use num::complex_of::ComplexOf;
use num::each_lane;
use num::fourier::{FftPlan, LaneNumber, Lanes};
use num::index::to_i64;
use num::loops::instruction_set;
use num::loops::instruction_set::Task;
use num::{fourier, twiddle};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The direction of a transform, and the kind of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FftKind {
    There,
    Back,
    /// Real numbers, of whose transform the first half is kept. The numbers of even and of odd
    /// index, if there are as many of them, are the parts of a line of half the length.
    Half,
    /// The way back to real numbers from such a half, which may be such parts too.
    Whole,
}

/// A transform of lines of `n` numbers.
pub(super) struct Transform<R: LaneNumber> {
    kind: FftKind,
    n: usize,
    /// Whether there are too few lines for the lanes of vectors.
    few: bool,
    /// Made in the first run, and kept: a compiled module stays as small as its text.
    plan: OnceLock<Prepared<R>>,
    making: Mutex<()>,
}

/// The data that depend on the length alone.
pub(super) struct Prepared<R: LaneNumber> {
    kind: FftKind,
    n: usize,
    plan: FftPlan<R>,
    /// The turns of `n`, to tell two halves apart.
    turns: Vec<ComplexOf<R>>,
}

/// Lines before and after their transform.
pub(super) struct FftLines<R: LaneNumber, const N: usize> {
    pub(super) before: Vec<Lanes<R, N>>,
    pub(super) after: Vec<Lanes<R, N>>,
    work: Vec<Lanes<R, N>>,
}

impl<R: LaneNumber> Transform<R> {
    pub(super) fn new(kind: FftKind, n: usize, few: bool) -> Self {
        Self { kind, n, few, plan: OnceLock::new(), making: Mutex::new(()) }
    }
    /// Returns whether two real numbers are read or written as one complex one.
    pub(super) fn has_pairs(&self) -> bool {
        matches!(self.kind, FftKind::Half | FftKind::Whole) && self.n.is_multiple_of(2)
    }
    /// Elements of a line before and after: pairs of them, if those are read or written.
    pub(super) fn lengths(&self) -> (usize, usize) {
        let half = self.n / 2 + 1;
        match self.kind {
            FftKind::There | FftKind::Back => (self.n, self.n),
            FftKind::Half => (self.length(), half),
            FftKind::Whole => (half, self.length()),
        }
    }
    /// Returns the length of the complex lines.
    fn length(&self) -> usize {
        if self.has_pairs() { self.n / 2 } else { self.n }
    }
    /// Returns the bytes of what is prepared.
    pub(super) fn plan_bytes(&self) -> usize {
        let number = size_of::<ComplexOf<R>>();
        let turns = if self.has_pairs() { fourier::turns_bytes(self.n, number) } else { 0 };
        fourier::plan_bytes(self.length(), self.few, number).saturating_add(turns)
    }
    /// Returns the bytes that a thread works in, for each lane.
    pub(super) fn thread_bytes(&self) -> usize {
        let number = size_of::<ComplexOf<R>>();
        let lines = self.n.saturating_add(1).saturating_mul(2 * size_of::<ComplexOf<R>>());
        fourier::thread_bytes(self.length(), self.few, number).saturating_add(lines)
    }
    /// Returns whether all threads share the transform of one line.
    pub(super) fn shares_lines(&self) -> bool {
        fourier::is_matrix(self.length(), self.few)
    }
    /// Returns memory for lines.
    pub(super) fn lines<const N: usize>(&self) -> FftLines<R, N> {
        let (before, after) = self.lengths();
        let lines = |length| vec![Lanes::zero(); length];
        let length = self.length();
        let work = lines(fourier::work(length, self.few));
        FftLines { before: lines(length.max(before)), after: lines(length.max(after)), work }
    }
    /// Returns the plan; none if the run is to stop before there is one.
    pub(super) fn plan(&self, stop: &Stop) -> Option<&Prepared<R>> {
        if self.plan.get().is_none() {
            // One of several runs makes it.
            let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
            if self.plan.get().is_none() {
                let plan = FftPlan::new(self.length(), self.few, stop);
                let pairs = self.has_pairs();
                let turns = if pairs { twiddle::turns(self.n, stop) } else { Vec::new() };
                if stop.is_set() {
                    return None;
                }
                // Nobody else sets it.
                let _ = self.plan.set(Prepared { kind: self.kind, n: self.n, plan, turns });
            }
        }
        self.plan.get()
    }
}

impl<R: LaneNumber> Prepared<R> {
    /// Transforms the lines before into those after.
    pub(super) fn run<const N: usize>(&self, lines: &mut FftLines<R, N>, stop: &Stop) {
        let FftLines { before, after, work } = lines;
        instruction_set::run(Prepare { of: self, line: before });
        let length = if self.turns.is_empty() { self.n } else { self.n / 2 };
        self.plan.transform(&before[..length], &mut after[..length], work, stop);
        instruction_set::run(Finish { of: self, line: after });
    }
}

/// Changes a line before its transform.
struct Prepare<'a, R: LaneNumber, const N: usize> {
    of: &'a Prepared<R>,
    line: &'a mut [Lanes<R, N>],
}

impl<R: LaneNumber, const N: usize> Task for Prepare<'_, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { of: &Prepared { kind, n, ref turns, .. }, line } = self;
        if kind == FftKind::Whole {
            // What symmetry forbids is ignored.
            [line[0]] = each_lane!(x = line[0] => [x.real()]);
            if n.is_multiple_of(2) {
                [line[n / 2]] = each_lane!(x = line[n / 2] => [x.real()]);
            }
        }
        // The way back is the conjugate of the way there, of conjugates.
        match kind {
            FftKind::There | FftKind::Half => {}
            FftKind::Back => {
                for x in &mut line[..n] {
                    [*x] = each_lane!(x = *x => [x.conj()]);
                }
            }
            FftKind::Whole if turns.is_empty() => {
                for k in n / 2 + 1..n {
                    line[k] = line[n - k];
                }
                for x in &mut line[..=n / 2] {
                    [*x] = each_lane!(x = *x => [x.conj()]);
                }
            }
            FftKind::Whole => {
                let length = n / 2;
                for k in 0..=length / 2 {
                    let (turn, other) = (turns[k], turns[length - k]);
                    [line[k], line[length - k]] = each_lane!(a = line[k], b = line[length - k] => [
                        parted(a, b, turn).conj(), parted(b, a, other).conj()
                    ]);
                }
            }
        }
    }
}

/// Changes a line after its transform.
struct Finish<'a, R: LaneNumber, const N: usize> {
    of: &'a Prepared<R>,
    line: &'a mut [Lanes<R, N>],
}

impl<R: LaneNumber, const N: usize> Task for Finish<'_, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { of: &Prepared { kind, n, ref turns, .. }, line } = self;
        match kind {
            FftKind::There => {}
            FftKind::Back | FftKind::Whole => {
                let count = R::from(hlo::Scalar::Signed(to_i64(n)).as_f64());
                let (length, factor) =
                    (if turns.is_empty() { n } else { n / 2 }, R::from(1.0) / count);
                for x in &mut line[..length] {
                    [*x] = each_lane!(x = *x => [x.conj().times(factor)]);
                }
            }
            // A line of real numbers has a symmetric transform.
            FftKind::Half if turns.is_empty() => {
                [line[0]] = each_lane!(x = line[0] => [x.real()]);
                for k in 1..=n / 2 {
                    [line[k]] =
                        each_lane!(a = line[k], b = line[n - k] => [a.plus(b.conj()).half()]);
                }
            }
            FftKind::Half => {
                let length = n / 2;
                [line[0], line[length]] = each_lane!(x = line[0] => [
                    x.plus(x.conj().times_i()).real(), x.minus(x.conj().times_i()).real()
                ]);
                for k in 1..=length / 2 {
                    let (turn, other) = (turns[k], turns[length - k]);
                    [line[k], line[length - k]] = each_lane!(a = line[k], b = line[length - k] => [
                        joined(a, b, turn), joined(b, a, other)
                    ]);
                }
            }
        }
    }
}

/// Returns a number of the transform of a line of real numbers, of which the even ones were the
/// real and the odd ones the imaginary parts: a line of imaginary numbers has an antisymmetric
/// transform.
#[inline(always)]
fn joined<R: LaneNumber>(
    z: ComplexOf<R>,
    mirror: ComplexOf<R>,
    turn: ComplexOf<R>,
) -> ComplexOf<R> {
    let mirror = mirror.conj();
    let (even, odd) = (z.plus(mirror).half(), z.minus(mirror).half().times_i());
    even.minus(odd.turned(turn))
}

/// Returns twice the number of a transform from which [`joined`] makes a number and its mirror.
#[inline(always)]
fn parted<R: LaneNumber>(
    x: ComplexOf<R>,
    mirror: ComplexOf<R>,
    turn: ComplexOf<R>,
) -> ComplexOf<R> {
    let mirror = mirror.conj();
    x.plus(mirror).plus(x.minus(mirror).turned(turn.conj()).times_i())
}
