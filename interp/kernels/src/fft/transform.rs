//! The transform of lines of one length: of complex numbers there or back, or of real ones.
use num::clock::Stop;
use num::complex_of::{ComplexOf, Field};
use num::double_double::Real;
use num::fourier::{FftPlan, Lanes};
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
    /// The way back to real numbers from such a half.
    Whole,
}

/// A transform of lines of `n` numbers.
pub(super) struct Transform<R> {
    kind: FftKind,
    n: usize,
    /// Made in the first run, and kept: a compiled module stays as small as its text.
    plan: OnceLock<Prepared<R>>,
    making: Mutex<()>,
}

/// The data that depend on the length alone.
pub(super) struct Prepared<R> {
    kind: FftKind,
    n: usize,
    plan: FftPlan<R>,
    /// The turns of `n`, to tell two halves apart.
    turns: Vec<ComplexOf<R>>,
}

/// Lines before and after their transform.
pub(super) struct FftLines<R, const N: usize> {
    pub(super) before: Vec<Lanes<R, N>>,
    pub(super) after: Vec<Lanes<R, N>>,
}

impl<R: Real + Field> Transform<R> {
    pub(super) fn new(kind: FftKind, n: usize) -> Self {
        Self { kind, n, plan: OnceLock::new(), making: Mutex::new(()) }
    }
    /// Returns whether two real numbers are read as one complex one.
    pub(super) fn reads_pairs(&self) -> bool {
        self.kind == FftKind::Half && self.n.is_multiple_of(2)
    }
    /// Elements of a line before and after: pairs of them, if those are read.
    pub(super) fn lengths(&self) -> (usize, usize) {
        let half = self.n / 2 + 1;
        match self.kind {
            FftKind::There | FftKind::Back => (self.n, self.n),
            FftKind::Half => (self.length(), half),
            FftKind::Whole => (half, self.n),
        }
    }
    /// Returns the length of the complex lines.
    fn length(&self) -> usize {
        if self.reads_pairs() { self.n / 2 } else { self.n }
    }
    /// Returns the bytes of what is prepared.
    pub(super) fn plan_bytes(&self) -> usize {
        let number = size_of::<ComplexOf<R>>();
        let turns = if self.reads_pairs() { fourier::turns_bytes(self.n, number) } else { 0 };
        fourier::plan_bytes(self.length(), number).saturating_add(turns)
    }
    /// Returns the bytes that a thread works in, for each lane.
    pub(super) fn thread_bytes(&self) -> usize {
        let number = size_of::<ComplexOf<R>>();
        let lines = self.n.saturating_add(1).saturating_mul(2 * size_of::<ComplexOf<R>>());
        fourier::thread_bytes(self.length(), number).saturating_add(lines)
    }
    /// Returns whether all threads share the transform of one line.
    pub(super) fn shares_lines(&self) -> bool {
        fourier::is_matrix(self.length())
    }
    /// Returns memory for lines.
    pub(super) fn lines<const N: usize>(&self) -> FftLines<R, N> {
        let length = self.length().max(self.lengths().1);
        FftLines { before: vec![Lanes::ZERO; length], after: vec![Lanes::ZERO; length] }
    }
    /// Returns the plan; none if the run is to stop before there is one.
    pub(super) fn plan(&self, stop: &Stop) -> Option<&Prepared<R>> {
        if self.plan.get().is_none() {
            // One of several runs makes it.
            let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
            if self.plan.get().is_none() {
                let plan = FftPlan::new(self.length(), stop);
                let pairs = self.reads_pairs();
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

impl<R: Real + Field> Prepared<R> {
    /// Transforms the lines before into those after.
    pub(super) fn run<const N: usize>(&self, lines: &mut FftLines<R, N>, stop: &Stop) {
        let FftLines { before, after } = lines;
        instruction_set::run(Prepare { kind: self.kind, n: self.n, line: before });
        let length = if self.turns.is_empty() { self.n } else { self.n / 2 };
        self.plan.transform(&before[..length], &mut after[..length], stop);
        instruction_set::run(Finish { of: self, line: after });
    }
}

/// Changes a line before its transform.
struct Prepare<'a, R, const N: usize> {
    kind: FftKind,
    n: usize,
    line: &'a mut [Lanes<R, N>],
}

impl<R: Real + Field, const N: usize> Task for Prepare<'_, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { kind, n, line } = self;
        if kind == FftKind::Whole {
            // What symmetry forbids is ignored, and the other half are conjugates.
            line[0].im = [R::ZERO; N];
            if n.is_multiple_of(2) {
                line[n / 2].im = [R::ZERO; N];
            }
            for k in n / 2 + 1..n {
                line[k] = line[n - k].conj();
            }
        }
        if matches!(kind, FftKind::Back | FftKind::Whole) {
            // The way back is the conjugate of the way there, of conjugates.
            for x in &mut line[..n] {
                *x = x.conj();
            }
        }
    }
}

/// Changes a line after its transform.
struct Finish<'a, R, const N: usize> {
    of: &'a Prepared<R>,
    line: &'a mut [Lanes<R, N>],
}

impl<R: Real + Field, const N: usize> Task for Finish<'_, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { of: &Prepared { kind, n, ref turns, .. }, line } = self;
        match kind {
            FftKind::There => {}
            FftKind::Back | FftKind::Whole => {
                let count = R::from(hlo::Scalar::Signed(to_i64(n)).as_f64());
                for x in &mut line[..n] {
                    *x = x.conj().map(|x| x.over(count));
                }
            }
            // A line of real numbers has a symmetric transform.
            FftKind::Half if turns.is_empty() => {
                line[0].im = [R::ZERO; N];
                for k in 1..=n / 2 {
                    line[k] = halved(line[k].plus(line[n - k].conj()));
                }
            }
            FftKind::Half => {
                let length = n / 2;
                let first = line[0];
                line[0] = first.map(|x| ComplexOf { re: x.re + x.im, im: R::ZERO });
                line[length] = first.map(|x| ComplexOf { re: x.re - x.im, im: R::ZERO });
                for k in 1..=length / 2 {
                    let (a, b) = (line[k], line[length - k]);
                    line[k] = joined(a, b, turns[k]);
                    line[length - k] = joined(b, a, turns[length - k]);
                }
            }
        }
    }
}

#[inline(always)]
fn halved<R: Real + Field, const N: usize>(x: Lanes<R, N>) -> Lanes<R, N> {
    x.map(|x| ComplexOf { re: x.re * R::from(0.5), im: x.im * R::from(0.5) })
}

/// Returns a number of the transform of a line of real numbers, of which the even ones were the
/// real and the odd ones the imaginary parts: a line of imaginary numbers has an antisymmetric
/// transform.
#[inline(always)]
fn joined<R: Real + Field, const N: usize>(
    z: Lanes<R, N>,
    mirror: Lanes<R, N>,
    turn: ComplexOf<R>,
) -> Lanes<R, N> {
    let mirror = mirror.conj();
    let (even, odd) = (halved(z.plus(mirror)), halved(z.minus(mirror)).times_i());
    even.minus(odd.times(turn))
}
