//! `potrf` and `trsm` in sums that are not compensated: of f32 and c64 in f64, where 29 bits more than the
//! result has are enough, and in the type of the elements.
use super::direct::{Triangle, order};
use super::routines::LU;
use super::{LapackCall, RoutineCall};
use crate::Result;
use hlo::{ElementType, Scalar};
use kernels::side_by_side::{LARGEST, MATRICES, SideBySide};
use kernels::triangle::{FactorType, Panels};
use num::Arithmetic;
use num::index::to_i64;
use num::single::to_f32;
use std::ops::Range;

/// An element that is computed as a number of type `R`.
pub(super) trait Element<R>: FactorType {
    fn wide(self) -> R;
    fn narrow(x: R) -> Self;
}
macro_rules! native_type {
    ($($ty:ty)*) => {
        $(impl Element<$ty> for $ty {
            fn wide(self) -> $ty {
                self
            }
            fn narrow(x: $ty) -> $ty {
                x
            }
        })*
    };
}
native_type! { f32 f64 [f32; 2] [f64; 2] }
impl Element<f64> for f32 {
    fn wide(self) -> f64 {
        self.into()
    }
    fn narrow(x: f64) -> Self {
        to_f32(x)
    }
}

impl Element<[f64; 2]> for [f32; 2] {
    fn wide(self) -> [f64; 2] {
        self.map(f64::from)
    }
    fn narrow(x: [f64; 2]) -> Self {
        x.map(to_f32)
    }
}

/// As [`super::direct::potrf`], into `to`.
pub(super) fn potrf<S: Element<R>, R: FactorType>(
    n: usize,
    from: &[S],
    to: &mut [S],
    lower: bool,
) -> i32 {
    // The upper factor is the conjugate transpose of the lower.
    let place = |i: usize, j: usize| if lower { j * n + i } else { i * n + j };
    let turned = |x: R| if lower { x.conj() } else { x };
    let mut factor = Panels::upper(n, |i, j| {
        let x = turned(from[place(i, j)].wide());
        if i == j { x.real_part() } else { x }
    });
    // A NaN is not positive either.
    let found = factor.factor(n, |pivot| pivot.re() > 0.0);
    to.copy_from_slice(from);
    let (done, info) = match found {
        Ok(()) => (n, 0),
        Err((i, pivot)) => {
            to[place(i, i)] = S::narrow(pivot);
            (i, order(i))
        }
    };
    factor.for_upper(done, n, |i, j, x| to[place(i, j)] = S::narrow(turned(x)));
    info
}

/// As [`super::direct::trsm`], into `to`; `b` has so many rows and columns.
pub(super) fn trsm<S: Element<R>, R: FactorType>(
    (a, b): (&[S], &[S]),
    (rows, columns): (usize, usize),
    to: &mut [S],
    (how, right): (Triangle, bool),
) {
    let turn = Turn::of((rows, columns), how, right);
    let (n, systems) = (turn.n, turn.systems);
    let mut x = Panels::new(n, systems, |i, s| b[turn.place(i, s)].wide());
    x.solve(n, how.unit, |i, k| turn.factor(a, i, k));
    for i in 0..n {
        for s in 0..systems {
            to[turn.place(i, s)] = S::narrow(x.at(i, s));
        }
    }
}

impl LapackCall {
    /// Returns whether problems of this size are solved side by side.
    pub(super) fn is_side_by_side(&self) -> bool {
        let is_narrow = self.ty.component() == ElementType::F32;
        let has = match (self.routine, self.arithmetic) {
            ("potrf" | "trsm", Arithmetic::Exact) => is_narrow,
            ("getrf" | LU, Arithmetic::Exact) => self.ty == ElementType::F32,
            ("potrf" | "trsm" | "getrf", Arithmetic::Fast) => true,
            _ => false,
        };
        has && ['m', 'n', 'a']
            .iter()
            .all(|letter| self.shapes.sizes.get(letter).is_none_or(|&side| side <= LARGEST))
    }
}

impl RoutineCall<'_> {
    /// Solves as many problems at a time as there are lanes.
    pub(super) fn side_by_side(&mut self, problems: Range<usize>) -> Result<()> {
        match (self.call.ty, self.call.arithmetic, self.call.routine) {
            // Elimination is in f64 with both engines.
            (ElementType::F32, Arithmetic::Fast, "potrf" | "trsm") => {
                self.lanes::<f32, f32>(problems)
            }
            (ElementType::F32, ..) => self.lanes::<f32, f64>(problems),
            (ElementType::F64, ..) => self.lanes::<f64, f64>(problems),
            (ElementType::C64, Arithmetic::Exact, _) => self.lanes::<[f32; 2], [f64; 2]>(problems),
            (ElementType::C64, Arithmetic::Fast, _) => self.lanes::<[f32; 2], [f32; 2]>(problems),
            (..) => self.lanes::<[f64; 2], [f64; 2]>(problems),
        }
    }

    fn lanes<S: Element<R>, R: FactorType>(&mut self, problems: Range<usize>) -> Result<()> {
        let mut first = problems.start;
        while first < problems.end {
            let some = first..problems.end.min(first + MATRICES);
            first = some.end;
            // How many are left does not depend on the number of threads, so the bits do not either.
            if some.len() < MATRICES / 4 {
                some.into_iter().try_for_each(|problem| self.alone(problem))?;
                continue;
            }
            match self.call.routine {
                "potrf" => self.potrf_lanes::<S, R>(some)?,
                "trsm" => self.trsm_lanes::<S, R>(some)?,
                _ => self.getrf_lanes::<S, R>(some)?,
            }
        }
        Ok(())
    }
    /// Returns the matrices of an operand, whose elements `element` has of those of a problem.
    fn read_lanes<S: Element<R>, R: FactorType>(
        &self,
        operand: usize,
        problems: &Range<usize>,
        sides: [usize; 2],
        element: impl Fn(&[S], usize, usize) -> R,
    ) -> SideBySide<R> {
        let all: Vec<&[S]> =
            problems.clone().map(|problem| self.checked.elements(operand, problem)).collect();
        SideBySide::new(all.len(), sides, |matrix, i, j| element(all[matrix], i, j))
    }

    fn potrf_lanes<S: Element<R>, R: FactorType>(&mut self, problems: Range<usize>) -> Result<()> {
        let (n, lower) = (self.checked.size('n'), self.letter("uplo", "LU")? == 'L');
        // The upper factor is the conjugate transpose of the lower.
        let place = |i: usize, j: usize| if lower { j * n + i } else { i * n + j };
        let turned = |x: R| if lower { x.conj() } else { x };
        let mut lanes = self.read_lanes(0, &problems, [n, n], |from: &[S], i, j| {
            if i > j {
                return R::ZERO;
            }
            let x = turned(from[place(i, j)].wide());
            if i == j { x.real_part() } else { x }
        });
        let pivots = lanes.factor();
        for (lane, problem) in problems.enumerate() {
            let from = self.checked.elements::<S>(0, problem);
            let to = self.checked.place::<S>(0);
            let info = if pivots.all(lane, |pivot| pivot.re() > 0.0) {
                to.copy_from_slice(from);
                for i in 0..n {
                    for j in i..n {
                        to[place(i, j)] = S::narrow(turned(lanes.at(lane, (i, j))));
                    }
                }
                0
            } else {
                potrf::<S, R>(n, from, to, lower)
            };
            self.info(1, info);
        }
        Ok(())
    }

    fn trsm_lanes<S: Element<R>, R: FactorType>(&mut self, problems: Range<usize>) -> Result<()> {
        let (how, right) = self.triangle()?;
        let (rows, columns) = (self.checked.size('m'), self.checked.size('n'));
        let turn = Turn::of((rows, columns), how, right);
        let n = turn.n;
        let triangles = self.read_lanes(0, &problems, [n, n], |from: &[S], i, k| match i.cmp(&k) {
            std::cmp::Ordering::Less => R::ZERO,
            std::cmp::Ordering::Equal if how.unit => R::ONE,
            std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => turn.factor(from, i, k),
        });
        let mut lanes = self.read_lanes(1, &problems, [n, turn.systems], |from: &[S], i, s| {
            from[turn.place(i, s)].wide()
        });
        lanes.solve(&triangles, how.unit);
        for lane in 0..problems.len() {
            let to = self.checked.place::<S>(0);
            for i in 0..n {
                for s in 0..turn.systems {
                    to[turn.place(i, s)] = S::narrow(lanes.at(lane, (i, s)));
                }
            }
        }
        Ok(())
    }

    fn getrf_lanes<S: Element<R>, R: FactorType>(&mut self, problems: Range<usize>) -> Result<()> {
        let (m, n) = (self.checked.size('m'), self.checked.size('n'));
        let mut lanes =
            self.read_lanes(0, &problems, [m, n], |from: &[S], i, j| from[i * n + j].wide());
        let (pivots, exchanged) = lanes.eliminate();
        for (lane, problem) in problems.enumerate() {
            if !pivots.all(lane, |pivot| pivot != R::ZERO) {
                self.alone(problem)?;
                continue;
            }
            let to = self.checked.place::<S>(0);
            for i in 0..m {
                (0..n).for_each(|j| to[i * n + j] = S::narrow(lanes.at(lane, (i, j))));
            }
            let steps = exchanged.iter().map(|rows| rows[lane]);
            if self.call.routine == LU {
                let mut rows: Vec<usize> = (0..m).collect();
                steps.clone().enumerate().for_each(|(i, row)| rows.swap(i, row));
                self.checked.give(1, steps.map(|row| Scalar::Signed(to_i64(row))));
                self.checked.give(2, rows.into_iter().map(|row| Scalar::Signed(to_i64(row))));
            } else {
                self.checked.give(1, steps.map(|row| Scalar::Signed(order(row).into())));
                self.info(2, 0);
            }
        }
        Ok(())
    }
}

/// How systems are solved as those of a lower triangle from the left.
#[derive(Clone, Copy)]
struct Turn {
    /// Rows of the triangle, and right sides.
    n: usize,
    systems: usize,
    columns: usize,
    how: Triangle,
    right: bool,
}

impl Turn {
    fn of((rows, columns): (usize, usize), how: Triangle, right: bool) -> Self {
        let (n, systems) = if right { (columns, rows) } else { (rows, columns) };
        Self { n, systems, columns, how, right }
    }
    /// `x op(a) = b` is `op(a)^T x^T = b^T`.
    fn is_transposed(self) -> bool {
        self.how.transpose != self.right
    }
    /// An upper triangle is a lower one, upside down.
    fn row(self, i: usize) -> usize {
        if self.how.lower == self.is_transposed() { self.n - 1 - i } else { i }
    }
    fn place(self, i: usize, s: usize) -> usize {
        match self.right {
            true => s * self.columns + self.row(i),
            false => self.row(i) * self.columns + s,
        }
    }
    fn factor<S: Element<R>, R: FactorType>(self, a: &[S], i: usize, k: usize) -> R {
        let (i, k) = (self.row(i), self.row(k));
        let x = a[if self.is_transposed() { k * self.n + i } else { i * self.n + k }].wide();
        if self.how.conjugate { x.conj() } else { x }
    }
}
