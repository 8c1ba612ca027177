//! The discrete Fourier transform of lines of numbers, of any length in `n log n` steps.
//!
//! A line is split by the factors of its length (Cooley and Tukey): interleaved shorter lines are
//! transformed, multiplied by twiddle factors, and joined. Lines of a prime length of more than
//! `LARGEST_PRIME` become a convolution, by lines whose length is a power of two (Bluestein). Lines
//! that are longer than the caches become the rows and columns of a matrix (`long`).
//!
//! Several lines are transformed at once, each in a lane of vectors. The operations on a line are
//! the same in every lane and with every instruction set, and so are the bits.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use super::complex_of::{ComplexOf, Field};
use super::double_double::{DoubleDouble, Real};
use super::loops::instruction_set::{self, Task};
use super::twiddle::{number, turns};
use crate::clock::Stop;
use long::{Long, Matrix};
use rayon::current_num_threads as threads;

mod long;

/// Longest prime line that is transformed term by term.
const LARGEST_PRIME: usize = 31;

/// The numbers at one index of `N` lines.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<R, const N: usize> {
    /// The real parts.
    pub re: [R; N],
    /// The imaginary parts.
    pub im: [R; N],
}

impl<R: Real + Field, const N: usize> Lanes<R, N> {
    /// Zeros.
    pub const ZERO: Self = Self { re: [R::ZERO; N], im: [R::ZERO; N] };

    /// Returns a function of the numbers in each lane.
    #[inline(always)]
    fn each(
        self,
        other: Self,
        function: impl Fn(ComplexOf<R>, ComplexOf<R>) -> ComplexOf<R>,
    ) -> Self {
        let mut result = self;
        for i in 0..N {
            let a = ComplexOf { re: self.re[i], im: self.im[i] };
            let b = ComplexOf { re: other.re[i], im: other.im[i] };
            let x = function(a, b);
            (result.re[i], result.im[i]) = (x.re, x.im);
        }
        result
    }
    /// Applies a function to each number.
    #[inline(always)]
    pub fn map(self, function: impl Fn(ComplexOf<R>) -> ComplexOf<R>) -> Self {
        self.each(self, |x, _| function(x))
    }
    /// Returns the sums.
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }
    /// Returns the differences.
    #[inline(always)]
    pub fn minus(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }
    /// Returns the products with one factor.
    #[inline(always)]
    pub fn times(self, factor: ComplexOf<R>) -> Self {
        self.map(|x| x * factor)
    }
    /// Returns the products with `i`.
    #[inline(always)]
    pub fn times_i(self) -> Self {
        self.map(ComplexOf::times_i)
    }
    /// Returns the conjugates.
    #[inline(always)]
    pub fn conj(self) -> Self {
        self.map(ComplexOf::conj)
    }
}

/// The precomputed data of transforms of one length.
pub enum FftPlan<R> {
    /// By the prime factors of the length.
    Factors(Factored<R>),
    /// By a convolution, for a length with a large prime factor.
    Matrix(Box<Long<R>>),
}

/// The precomputed data of a line that is split by the factors of its length.
pub struct Factored<R> {
    /// `e^(-2 pi i k/n)` for each k below n, the length.
    turns: Vec<ComplexOf<R>>,
    /// Factors of the length: primes, then 4 as often as it divides.
    factors: Vec<usize>,
    /// The transform of each large prime among them.
    chirps: Vec<Chirp<R>>,
}

fn factors(mut n: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut factor = 4;
    while n > 1 {
        if n.is_multiple_of(factor) {
            factors.push(factor);
            n /= factor;
        } else {
            factor = match factor {
                4 => 2,
                2 => 3,
                odd if odd * odd > n => n,
                odd => odd + 2,
            };
        }
    }
    factors.reverse();
    factors
}

/// Returns whether `n` has a prime factor above `most`, which is at least 4.
#[inline]
pub fn has_prime_above(n: usize, most: usize) -> bool {
    factors(n).into_iter().any(|p| p > most)
}

/// Returns the bytes of a plan for lines of `n` numbers, and of what it works in. The turns of the
/// longest line are found by products of about the square root of as many; a chirp has the turns of
/// twice its length, its filter, and three lines of that length.
pub fn plan_bytes(n: usize, number: usize) -> usize {
    if let Some(Matrix { rows, columns }) = Matrix::of(n) {
        let turns = long::factor_count(n).saturating_mul(number);
        return [rows, columns]
            .map(|n| plan_bytes(n, number))
            .into_iter()
            .fold(turns, usize::saturating_add);
    }
    let mut large: Vec<usize> = factors(n).into_iter().filter(|&p| p > LARGEST_PRIME).collect();
    large.dedup();
    let chirp = |p: usize| {
        let size = p.saturating_mul(2).checked_next_power_of_two().unwrap_or(usize::MAX);
        let numbers = size.saturating_mul(5).saturating_add(p.saturating_mul(4));
        numbers.saturating_mul(number).saturating_add(matrix_bytes(size, number))
    };
    large.into_iter().map(chirp).fold(turns_bytes(n, number), usize::saturating_add)
}

/// Returns the bytes of the turns of `n`, and of the products by which they are found.
#[inline]
pub fn turns_bytes(n: usize, number: usize) -> usize {
    let roots = n.isqrt().saturating_mul(size_of::<ComplexOf<DoubleDouble>>());
    n.saturating_mul(number).saturating_add(roots)
}

/// Returns the bytes that each further thread works in that transforms lines of `n` numbers: a
/// matrix, or lines of a chirp.
pub fn thread_bytes(n: usize, number: usize) -> usize {
    if Matrix::of(n).is_some() {
        return matrix_bytes(n, number);
    }
    let large = factors(n).into_iter().filter(|&p| p > LARGEST_PRIME).max().unwrap_or(0);
    let size = large.saturating_mul(2).checked_next_power_of_two().unwrap_or(usize::MAX);
    let lines = large.saturating_mul(9).saturating_mul(number);
    lines.saturating_add(matrix_bytes(size, number))
}

/// Returns the bytes that a line of `n` numbers works in as a matrix, if it becomes one.
fn matrix_bytes(n: usize, number: usize) -> usize {
    let Some(matrix) = Matrix::of(n) else { return 0 };
    let numbers = matrix.work(threads()).saturating_mul(number);
    let lines = [matrix.rows, matrix.columns].map(|n| thread_bytes(n, number)).into_iter().max();
    numbers.saturating_add(lines.unwrap_or(0).saturating_mul(long::TOGETHER * threads()))
}

/// Returns whether lines of `n` numbers become matrices, each of which all threads share.
#[inline]
pub fn is_matrix(n: usize) -> bool {
    Matrix::of(n).is_some()
}

impl<R: Real + Field> FftPlan<R> {
    /// Returns a plan for lines of `n` numbers, which is of no use if `stop` is set before it is
    /// made.
    #[inline]
    pub fn new(n: usize, stop: &Stop) -> Self {
        match Matrix::of(n) {
            Some(matrix) => Self::Matrix(Box::new(Long::new(matrix, stop))),
            None => Self::Factors(Factored::new(n, stop)),
        }
    }

    /// `result[k] = sum of line[j] * e^(-2 pi i jk/n)`, in each lane. What a transform that was
    /// stopped has written means nothing.
    #[inline]
    pub fn transform<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        result: &mut [Lanes<R, N>],
        stop: &Stop,
    ) {
        match self {
            Self::Factors(plan) => plan.transform(line, result, stop),
            Self::Matrix(plan) => plan.transform(line, result, stop),
        }
    }
}

impl<R: Real + Field> Factored<R> {
    fn new(n: usize, stop: &Stop) -> Self {
        let factors = factors(n);
        let mut large: Vec<usize> =
            factors.iter().copied().filter(|&p| p > LARGEST_PRIME).collect();
        large.dedup();
        let chirps = large.into_iter().map(|p| Chirp::new(p, stop)).collect();
        Self { turns: turns(n, stop), factors, chirps }
    }

    fn transform<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        result: &mut [Lanes<R, N>],
        stop: &Stop,
    ) {
        if !line.is_empty() {
            let factors = &self.factors;
            instruction_set::run(StridedTransform {
                plan: self,
                line,
                step: 1,
                factors,
                result,
                stop,
            });
        }
    }
}

/// The transform of every `step`-th number of `line`, as many as `result` has.
struct StridedTransform<'a, R, const N: usize> {
    plan: &'a Factored<R>,
    line: &'a [Lanes<R, N>],
    step: usize,
    factors: &'a [usize],
    result: &'a mut [Lanes<R, N>],
    stop: &'a Stop,
}

impl<R: Real + Field, const N: usize> Task for StridedTransform<'_, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { plan, line, step, factors, result, stop } = self;
        let Some((&p, factors)) = factors.split_first() else {
            result[0] = line[0];
            return;
        };
        let m = result.len() / p;
        for (r, part) in result.chunks_exact_mut(m).enumerate() {
            let line = &line[r * step..];
            let step = step * p;
            match *factors {
                [] => part[0] = line[0],
                // The innermost transforms are too short to be called for.
                [4] => {
                    let terms = [line[0], line[step], line[2 * step], line[3 * step]];
                    part.copy_from_slice(&of_four(terms));
                }
                _ => instruction_set::run(StridedTransform {
                    plan,
                    line,
                    step,
                    factors,
                    result: part,
                    stop,
                }),
            }
        }
        let mut join = Join { plan, step, m, result };
        match p {
            _ if stop.is_set() => {}
            2 => join.twos(),
            4 => join.fours(),
            _ if p > LARGEST_PRIME => join.by_chirp(p, stop),
            _ => join.by_formula(p),
        }
    }
}

/// Parts of `m` numbers, of which those at one index are the terms of a transform that takes their
/// places.
struct Join<'a, R, const N: usize> {
    plan: &'a Factored<R>,
    step: usize,
    m: usize,
    result: &'a mut [Lanes<R, N>],
}

// No closures and no functions of arrays: what is not inlined is not compiled for the instruction
// set.
impl<R: Real + Field, const N: usize> Join<'_, R, N> {
    /// Returns the k-th number of part r, times its twiddle factor.
    #[inline(always)]
    fn term(&self, r: usize, k: usize) -> Lanes<R, N> {
        self.result[r * self.m + k].times(self.plan.turns[r * k * self.step])
    }
    #[inline(always)]
    fn twos(&mut self) {
        for k in 0..self.m {
            let (a, b) = (self.result[k], self.term(1, k));
            (self.result[k], self.result[self.m + k]) = (a.plus(b), a.minus(b));
        }
    }
    #[inline(always)]
    fn fours(&mut self) {
        let m = self.m;
        for k in 0..m {
            let terms = [self.result[k], self.term(1, k), self.term(2, k), self.term(3, k)];
            let [a, b, c, d] = of_four(terms);
            (self.result[k], self.result[m + k]) = (a, b);
            (self.result[2 * m + k], self.result[3 * m + k]) = (c, d);
        }
    }
    #[inline(always)]
    fn by_formula(&mut self, p: usize) {
        let mut terms = [Lanes::ZERO; LARGEST_PRIME];
        for k in 0..self.m {
            for (r, term) in terms[..p].iter_mut().enumerate() {
                *term = self.term(r, k);
            }
            for q in 0..p {
                self.result[q * self.m + k] = term_by_term(self.plan, &terms[..p], q);
            }
        }
    }
    /// Applies the transform of a large prime length.
    fn by_chirp(&mut self, p: usize, stop: &Stop) {
        let chirp = self.plan.chirps.iter().find(|chirp| chirp.turns.len() == p);
        let chirp = chirp.expect("the plan has one for each large prime");
        let mut terms = vec![Lanes::ZERO; p];
        for k in (0..self.m).take_while(|_| !stop.is_set()) {
            terms.iter_mut().enumerate().for_each(|(r, term)| *term = self.term(r, k));
            chirp.transform(&terms, |q, x| self.result[q * self.m + k] = x, stop);
        }
    }
}

/// Returns the transform of four numbers.
#[inline(always)]
fn of_four<R: Real + Field, const N: usize>([a, b, c, d]: [Lanes<R, N>; 4]) -> [Lanes<R, N>; 4] {
    let (even, odd) = (a.plus(c), b.plus(d));
    let (even_rest, odd_rest) = (a.minus(c), b.minus(d).times_i());
    [even.plus(odd), even_rest.minus(odd_rest), even.minus(odd), even_rest.plus(odd_rest)]
}

/// Returns number `q` of the transform of a few numbers.
#[inline(always)]
fn term_by_term<R: Real + Field, const N: usize>(
    plan: &Factored<R>,
    terms: &[Lanes<R, N>],
    q: usize,
) -> Lanes<R, N> {
    let (p, n) = (terms.len(), plan.turns.len());
    let mut sum = terms[0];
    for (r, &term) in terms.iter().enumerate().skip(1) {
        sum = sum.plus(term.times(plan.turns[q * r % p * (n / p)]));
    }
    sum
}

/// A transform of a large prime length p as a convolution, since `-2jk = (k - j)^2 - j^2 - k^2`.
struct Chirp<R> {
    /// `e^(-pi i k^2/p)` for each k below p.
    turns: Vec<ComplexOf<R>>,
    /// The plan of a power of two that holds the convolution.
    plan: FftPlan<R>,
    /// The transformed conjugates of the factors, divided by the length of `plan`.
    filter: Vec<ComplexOf<R>>,
}

impl<R: Real + Field> Chirp<R> {
    fn new(p: usize, stop: &Stop) -> Self {
        let all = turns::<R>(2 * p, stop);
        let turns: Vec<_> = (0..p).map(|k| all[k * k % (2 * p)]).collect();
        let size = (2 * p).next_power_of_two();
        let mut wrapped = vec![Lanes::<R, 1>::ZERO; size];
        for (k, turn) in turns.iter().enumerate() {
            let turn = Lanes { re: [turn.re], im: [-turn.im] };
            wrapped[k] = turn;
            wrapped[(size - k) % size] = turn;
        }
        let plan = FftPlan::new(size, stop);
        let mut filter = wrapped.clone();
        plan.transform(&wrapped, &mut filter, stop);
        let count = R::nearest(number(size));
        let filter = filter.iter().map(|x| ComplexOf { re: x.re[0], im: x.im[0] }.over(count));
        let filter = filter.collect();
        Self { turns, plan, filter }
    }

    fn transform<const N: usize>(
        &self,
        terms: &[Lanes<R, N>],
        mut store: impl FnMut(usize, Lanes<R, N>),
        stop: &Stop,
    ) {
        let mut turned = vec![Lanes::ZERO; self.filter.len()];
        for ((slot, term), &turn) in turned.iter_mut().zip(terms).zip(&self.turns) {
            *slot = term.times(turn);
        }
        let mut spectrum = turned.clone();
        self.plan.transform(&turned, &mut spectrum, stop);
        // The inverse transform is the conjugate of the transform of the conjugates.
        for (x, &filter) in spectrum.iter_mut().zip(&self.filter) {
            *x = x.times(filter).conj();
        }
        self.plan.transform(&spectrum, &mut turned, stop);
        for (k, &turn) in self.turns.iter().enumerate() {
            store(k, turned[k].conj().times(turn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::twiddle::Series;
    use super::*;

    fn line(n: usize) -> Vec<ComplexOf<DoubleDouble>> {
        // Arbitrary numbers.
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            DoubleDouble::from(f64::from(state) / f64::from(u32::MAX) - 0.5)
        };
        (0..n).map(|_| ComplexOf { re: next(), im: next() }).collect()
    }
    fn narrow(line: &[ComplexOf<DoubleDouble>]) -> Vec<ComplexOf<f64>> {
        line.iter().map(|z| ComplexOf { re: z.re.rounded(), im: z.im.rounded() }).collect()
    }
    /// Returns the transform of a line in the last lane; other lines are in the others.
    fn transformed<R: Real + Field, const N: usize>(line: &[ComplexOf<R>]) -> Vec<ComplexOf<R>> {
        let number = |z: &ComplexOf<R>| {
            let mut lanes = Lanes { re: [z.im; N], im: [z.re; N] };
            (lanes.re[N - 1], lanes.im[N - 1]) = (z.re, z.im);
            lanes
        };
        let line: Vec<Lanes<R, N>> = line.iter().map(number).collect();
        let mut result = line.clone();
        FftPlan::new(line.len(), &Stop::default()).transform(&line, &mut result, &Stop::default());
        result.iter().map(|x| ComplexOf { re: x.re[N - 1], im: x.im[N - 1] }).collect()
    }
    /// Largest difference of two lines.
    fn difference<R: Real>(a: &[ComplexOf<R>], b: &[ComplexOf<DoubleDouble>]) -> f64
    where
        DoubleDouble: From<R>,
    {
        let part = |a: R, b: DoubleDouble| (DoubleDouble::from(a) - b).rounded().abs();
        a.iter().zip(b).map(|(a, b)| part(a.re, b.re).max(part(a.im, b.im))).fold(0.0, f64::max)
    }

    #[test]
    fn every_length_agrees_with_the_formula() {
        for n in (0..70).chain([74, 97, 128, 210, 1024, 2 * 37 * 37]) {
            let line = line(n);
            let series = Series::new();
            let turns: Vec<_> = (0..n).map(|k| series.turn(k, n)).collect();
            let formula: Vec<ComplexOf<DoubleDouble>> = (0..n)
                .map(|k| {
                    let term = |(j, &x): (usize, &ComplexOf<DoubleDouble>)| x * turns[j * k % n];
                    line.iter().enumerate().map(term).fold(ComplexOf::ZERO, |sum, x| sum + x)
                })
                .collect();
            let wide = transformed::<_, 1>(&line);
            assert!(difference(&wide, &formula) < 1e-28, "{n}");
            let result = transformed::<_, 1>(&narrow(&line));
            assert!(difference(&result, &formula) < 1e-13, "{n}");
            assert_eq!(transformed::<_, 8>(&narrow(&line)), result, "{n}");
        }
    }

    #[test]
    fn a_matrix_has_the_transform_of_its_line() {
        // Columns that are no multiple of the lines of a group, and lines of other lengths.
        for n in [1 << 16, 257 * 263, 70_000, 3 * 5 * 7 * 11 * 13 * 5] {
            let line: Vec<Lanes<DoubleDouble, 1>> =
                line(n).iter().map(|z| Lanes { re: [z.re], im: [z.im] }).collect();
            let (mut matrix, mut factors) = (line.clone(), line.clone());
            let stop = &Stop::default();
            Long::new(Matrix::of(n).unwrap(), stop).transform(&line, &mut matrix, stop);
            Factored::new(n, stop).transform(&line, &mut factors, stop);
            let number = |x: &Lanes<DoubleDouble, 1>| ComplexOf { re: x.re[0], im: x.im[0] };
            let [matrix, factors] =
                [matrix, factors].map(|line| line.iter().map(number).collect::<Vec<_>>());
            assert!(difference(&matrix, &factors) < 1e-25, "{n}");
        }
        assert_eq!(Matrix::of((1 << 16) - 1), None);
        assert_eq!(Matrix::of(65_537), None, "a prime");
    }
}
