//! The discrete Fourier transform of lines of numbers, of any length in `n log n` steps.
//!
//! A line is split by the factors of its length (Cooley and Tukey): interleaved shorter lines are
//! transformed, multiplied by twiddle factors, and joined. Lines of a prime length of more than
//! `LARGEST_PRIME` become a convolution (`chirp`). Lines that are longer than the caches, or too
//! few for the lanes of a vector, become the rows and columns of a matrix (`long`).
//!
//! Several lines are transformed at once, each in a lane of vectors. The operations on a line are
//! the same in every lane and with every instruction set, and so are the bits.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use super::complex_of::ComplexOf;
use super::double_double::DoubleDouble;
use super::loops::instruction_set::{self, Task};
use super::twiddle::turns;
use crate::clock::Stop;
use crate::each_lane;
use chirp::{Chirp, convolution_length};
pub use lanes::{LaneNumber, Lanes};
use long::{Long, Matrix};
use rayon::current_num_threads as threads;

mod chirp;
mod lanes;
mod long;

/// Longest prime line that is transformed term by term.
const LARGEST_PRIME: usize = 61;

/// The precomputed data of transforms of one length.
pub enum FftPlan<R: LaneNumber> {
    /// By the prime factors of the length.
    Factors(Factored<R>),
    /// By the rows and columns of a matrix.
    Matrix(Box<Long<R>>),
}

/// The precomputed data of a line that is split by the factors of its length.
pub struct Factored<R: LaneNumber> {
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

/// Returns the prime factors of `n` whose transforms are convolutions.
fn large_primes(n: usize) -> Vec<usize> {
    let mut large = factors(n);
    large.retain(|&p| p > LARGEST_PRIME);
    large.dedup();
    large
}

/// Returns the bytes of a plan for lines of `n` numbers, `few` of them, and of what it works in.
/// The turns of the longest line are found by products of about the square root of as many; a chirp
/// has the turns of twice its length, its filter, and three lines of that length.
pub fn plan_bytes(n: usize, few: bool, number: usize) -> usize {
    if let Some(Matrix { rows, columns }) = Matrix::of(n, few) {
        let turns = long::factor_count(n).saturating_mul(number);
        return [rows, columns]
            .map(|n| plan_bytes(n, false, number))
            .into_iter()
            .fold(turns, usize::saturating_add);
    }
    let chirp = |p: usize| {
        let size = convolution_length(p);
        let numbers = size.saturating_mul(5).saturating_add(p.saturating_mul(4));
        numbers.saturating_mul(number).saturating_add(matrix_bytes(size, few, number))
    };
    large_primes(n).into_iter().map(chirp).fold(turns_bytes(n, number), usize::saturating_add)
}

/// Returns the bytes of the turns of `n`, and of the products by which they are found.
#[inline]
pub fn turns_bytes(n: usize, number: usize) -> usize {
    let roots = n.isqrt().saturating_mul(size_of::<ComplexOf<DoubleDouble>>());
    n.saturating_mul(number).saturating_add(roots)
}

/// Returns the bytes that each further thread works in that transforms lines of `n` numbers, `few`
/// of them: a matrix, or lines of a chirp.
pub fn thread_bytes(n: usize, few: bool, number: usize) -> usize {
    if Matrix::of(n, few).is_some() {
        return matrix_bytes(n, few, number);
    }
    let matrix = |p: usize| matrix_bytes(convolution_length(p), few, number);
    let matrix = large_primes(n).into_iter().map(matrix).max().unwrap_or(0);
    work(n, few).saturating_mul(number).saturating_add(matrix)
}

/// Returns how many numbers a transform of a line of `n` numbers works in: the terms of an odd
/// factor, or a convolution.
pub fn work(n: usize, few: bool) -> usize {
    if Matrix::of(n, few).is_some() {
        return 0;
    }
    let of_factor = |p: usize| {
        if p <= LARGEST_PRIME {
            return p;
        }
        let size = convolution_length(p);
        size.saturating_mul(2).saturating_add(work(size, few))
    };
    factors(n).into_iter().map(of_factor).max().unwrap_or(0)
}

/// Returns the bytes that a line of `n` numbers works in as a matrix, if it becomes one.
fn matrix_bytes(n: usize, few: bool, number: usize) -> usize {
    let Some(matrix) = Matrix::of(n, few) else { return 0 };
    let numbers = matrix.work(threads()).saturating_mul(number);
    let lines = [matrix.rows, matrix.columns].map(|n| thread_bytes(n, false, number));
    let lines = lines.into_iter().max().unwrap_or(0);
    numbers.saturating_add(lines.saturating_mul(long::TOGETHER * threads()))
}

/// Returns whether lines of `n` numbers, `few` of them, become matrices, each of which all threads
/// share.
#[inline]
pub fn is_matrix(n: usize, few: bool) -> bool {
    Matrix::of(n, few).is_some()
}

impl<R: LaneNumber> FftPlan<R> {
    /// Returns a plan for lines of `n` numbers, which is of no use if `stop` is set before it is
    /// made. A line becomes a matrix sooner where there are `few`, too few for the lanes of a
    /// vector.
    #[inline]
    pub fn new(n: usize, few: bool, stop: &Stop) -> Self {
        match Matrix::of(n, few) {
            Some(matrix) => Self::Matrix(Box::new(Long::new(matrix, stop))),
            None => Self::Factors(Factored::new(n, few, stop)),
        }
    }

    /// `result[k] = sum of line[j] * e^(-2 pi i jk/n)`, in each lane, with [`work`] numbers to work
    /// in. What a transform that was stopped has written means nothing.
    #[inline]
    pub fn transform<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        result: &mut [Lanes<R, N>],
        work: &mut [Lanes<R, N>],
        stop: &Stop,
    ) {
        match self {
            Self::Factors(plan) => plan.transform(line, result, work, stop),
            Self::Matrix(plan) => plan.transform(line, result, stop),
        }
    }
}

impl<R: LaneNumber> Factored<R> {
    fn new(n: usize, few: bool, stop: &Stop) -> Self {
        let chirps = large_primes(n).into_iter().map(|p| Chirp::new(p, few, stop)).collect();
        Self { turns: turns(n, stop), factors: factors(n), chirps }
    }

    fn transform<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        result: &mut [Lanes<R, N>],
        work: &mut [Lanes<R, N>],
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
                work,
                stop,
            });
        }
    }
}

/// The transform of every `step`-th number of `line`, as many as `result` has.
struct StridedTransform<'a, R: LaneNumber, const N: usize> {
    plan: &'a Factored<R>,
    line: &'a [Lanes<R, N>],
    step: usize,
    factors: &'a [usize],
    result: &'a mut [Lanes<R, N>],
    work: &'a mut [Lanes<R, N>],
    stop: &'a Stop,
}

impl<R: LaneNumber, const N: usize> Task for StridedTransform<'_, R, N> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { plan, line, step, factors, result, work, stop } = self;
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
                    work: &mut *work,
                    stop,
                }),
            }
        }
        let mut join = Join { plan, step, m, result };
        match p {
            _ if stop.is_set() => {}
            2 => join.twos(),
            4 => join.fours(),
            _ if p > LARGEST_PRIME => join.by_chirp(p, work, stop),
            _ => join.by_formula(p, work),
        }
    }
}

/// Parts of `m` numbers, of which those at one index are the terms of a transform that takes their
/// places.
struct Join<'a, R: LaneNumber, const N: usize> {
    plan: &'a Factored<R>,
    step: usize,
    m: usize,
    result: &'a mut [Lanes<R, N>],
}

impl<R: LaneNumber, const N: usize> Join<'_, R, N> {
    /// Returns the twiddle factor of the k-th number of part r, or none if it is 1.
    #[inline(always)]
    fn turn(&self, r: usize, k: usize) -> Option<ComplexOf<R>> {
        (k > 0).then(|| self.plan.turns[r * k * self.step])
    }
    /// Returns the sum and the difference of the k-th numbers of two parts, times their factors.
    #[inline(always)]
    fn pair(&self, [r, s]: [usize; 2], k: usize) -> [Lanes<R, N>; 2] {
        let pair = [self.result[r * self.m + k], self.result[s * self.m + k]];
        match (self.turn(r, k), self.turn(s, k)) {
            (Some(r), Some(s)) => each_lane!(a = pair[0], b = pair[1] => [
                a.turned(r).plus(b.turned(s)), a.turned(r).minus(b.turned(s))
            ]),
            _ => each_lane!(a = pair[0], b = pair[1] => [a.plus(b), a.minus(b)]),
        }
    }
    #[inline(always)]
    fn twos(&mut self) {
        for k in 0..self.m {
            let [first, second] = [self.result[k], self.result[self.m + k]];
            let turn = self.turn(1, k);
            [self.result[k], self.result[self.m + k]] = match turn {
                Some(turn) => each_lane!(a = first, b = second => [
                    a.plus(b.turned(turn)), a.minus(b.turned(turn))
                ]),
                None => each_lane!(a = first, b = second => [a.plus(b), a.minus(b)]),
            };
        }
    }
    #[inline(always)]
    fn fours(&mut self) {
        let m = self.m;
        for k in 0..m {
            let result = &self.result;
            let mut numbers = [result[k], result[m + k], result[2 * m + k], result[3 * m + k]];
            if let (Some(r), Some(s), Some(t)) = (self.turn(1, k), self.turn(2, k), self.turn(3, k))
            {
                let [_, second, third, fourth] = numbers;
                let turned = each_lane!(a = second, b = third, c = fourth => [
                    a.turned(r), b.turned(s), c.turned(t)
                ]);
                [numbers[1], numbers[2], numbers[3]] = turned;
            }
            let numbers = of_four(numbers);
            for (r, number) in numbers.into_iter().enumerate() {
                self.result[r * m + k] = number;
            }
        }
    }
    /// Applies the transform of an odd length. The factors of terms r and p - r are conjugates, and
    /// so are those of numbers q and p - q of the result.
    #[inline(always)]
    fn by_formula(&mut self, p: usize, work: &mut [Lanes<R, N>]) {
        let (turns, m, half) = (&self.plan.turns, self.m, p / 2);
        let (unit, work) = (turns.len() / p, &mut work[..p]);
        for k in 0..m {
            let first = self.result[k];
            let mut all = first;
            for r in 1..=half {
                [work[r], work[p - r]] = self.pair([r, p - r], k);
                [all] = each_lane!(all = all, x = work[r] => [all.plus(x)]);
            }
            self.result[k] = all;
            for q in 1..=half {
                let (mut even, mut odd, mut turn) = (first, Lanes::zero(), 0);
                for r in 1..=half {
                    turn += q;
                    turn -= if turn < p { 0 } else { p };
                    let ComplexOf { re, im } = turns[turn * unit];
                    let sums = each_lane!(a = even, b = odd, x = work[r], y = work[p - r] => [
                        a.plus(x.times(re)), b.plus(y.times(im))
                    ]);
                    [even, odd] = sums;
                }
                let pair = each_lane!(a = even, b = odd => [
                    a.plus(b.times_i()), a.minus(b.times_i())
                ]);
                [self.result[q * m + k], self.result[(p - q) * m + k]] = pair;
            }
        }
    }
    /// Applies the transform of a large prime length.
    #[inline(always)]
    fn by_chirp(&mut self, p: usize, work: &mut [Lanes<R, N>], stop: &Stop) {
        let chirp = self.plan.chirps.iter().find(|chirp| chirp.turns.len() == p);
        let Chirp { turns, plan, filter } = chirp.expect("the plan has one for each large prime");
        let (terms, work) = work.split_at_mut(filter.len());
        let (spectrum, work) = work.split_at_mut(filter.len());
        for k in 0..self.m {
            if stop.is_set() {
                return;
            }
            for (r, &turn) in turns.iter().enumerate() {
                let number = self.result[r * self.m + k];
                [terms[r]] = match self.turn(r, k) {
                    Some(own) => each_lane!(x = number => [x.turned(own).turned(turn)]),
                    None => each_lane!(x = number => [x.turned(turn)]),
                };
            }
            terms[p..].fill(Lanes::zero());
            plan.transform(terms, spectrum, work, stop);
            // The inverse transform is the conjugate of the transform of the conjugates.
            for (slot, &filter) in spectrum.iter_mut().zip(filter) {
                [*slot] = each_lane!(x = *slot => [x.turned(filter).conj()]);
            }
            plan.transform(spectrum, terms, work, stop);
            for (q, &turn) in turns.iter().enumerate() {
                [self.result[q * self.m + k]] = each_lane!(x = terms[q] => [x.conj().turned(turn)]);
            }
        }
    }
}

/// Returns the transform of four numbers.
#[inline(always)]
fn of_four<R: LaneNumber, const N: usize>(numbers: [Lanes<R, N>; 4]) -> [Lanes<R, N>; 4] {
    each_lane!(a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3] => [
        a.plus(c).plus(b.plus(d)),
        a.minus(c).minus(b.minus(d).times_i()),
        a.plus(c).minus(b.plus(d)),
        a.minus(c).plus(b.minus(d).times_i()),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::complex_of::Field;
    use super::super::double_double::Real;
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
    fn transformed<R: LaneNumber, const N: usize>(line: &[ComplexOf<R>]) -> Vec<ComplexOf<R>> {
        let number = |z: &ComplexOf<R>| {
            let mut lanes = Lanes::<R, N>::zero();
            (0..N).for_each(|lane| lanes.put(lane, ComplexOf { re: z.im, im: z.re }));
            lanes.put(N - 1, *z);
            lanes
        };
        let line: Vec<Lanes<R, N>> = line.iter().map(number).collect();
        let (n, few, stop) = (line.len(), N == 1, Stop::default());
        let (mut result, mut memory) = (line.clone(), vec![Lanes::zero(); work(n, few)]);
        FftPlan::new(n, few, &stop).transform(&line, &mut result, &mut memory, &stop);
        result.iter().map(|x| x.at(N - 1)).collect()
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
        for n in (0..70).chain([74, 97, 128, 210, 289, 509, 1024, 2 * 67 * 67]) {
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
            for result in [transformed::<_, 8>(&narrow(&line)), transformed::<_, 3>(&narrow(&line))]
            {
                assert!(difference(&result, &formula) < 1e-13, "{n}");
            }
            assert!(difference(&transformed::<_, 8>(&line), &formula) < 1e-28, "{n}");
        }
    }

    fn one(x: ComplexOf<DoubleDouble>) -> Lanes<DoubleDouble, 1> {
        let mut lanes = Lanes::zero();
        lanes.put(0, x);
        lanes
    }

    #[test]
    fn a_matrix_has_the_transform_of_its_line() {
        // Columns that are no multiple of the lines of a group, and lines of other lengths.
        for n in [1 << 16, 257 * 263, 70_000, 3 * 5 * 7 * 11 * 13 * 5] {
            let line: Vec<Lanes<DoubleDouble, 1>> = line(n).into_iter().map(one).collect();
            let (mut matrix, mut factors) = (line.clone(), line.clone());
            let stop = &Stop::default();
            let mut memory = vec![Lanes::zero(); LARGEST_PRIME.max(2100)];
            Long::new(Matrix::of(n, false).unwrap(), stop).transform(&line, &mut matrix, stop);
            Factored::new(n, false, stop).transform(&line, &mut factors, &mut memory, stop);
            let number = |x: &Lanes<DoubleDouble, 1>| x.at(0);
            let [matrix, factors] =
                [matrix, factors].map(|line| line.iter().map(number).collect::<Vec<_>>());
            assert!(difference(&matrix, &factors) < 1e-25, "{n}");
        }
        assert_eq!(Matrix::of((1 << 16) - 1, false), None);
        assert_eq!(Matrix::of(65_537, true), None, "a prime");
    }
}
