//! `potrf` and `trsm` in sums that are not compensated: of f32 and c64 in f64, where 29 bits more than the
//! result has are enough, and in the type of the elements.
use super::direct::{Triangle, order};
use kernels::triangle::{FactorType, Panels};
use num::single::to_f32;

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
    // `x op(a) = b` is `op(a)^T x^T = b^T`.
    let transpose = how.transpose != right;
    let forward = how.lower != transpose;
    let (n, systems) = if right { (columns, rows) } else { (rows, columns) };
    // An upper triangle is a lower one, upside down.
    let row = |i: usize| if forward { i } else { n - 1 - i };
    let place = |i: usize, s: usize| match right {
        true => s * columns + row(i),
        false => row(i) * columns + s,
    };
    let mut x = Panels::new(n, systems, |i, s| b[place(i, s)].wide());
    x.solve(n, how.unit, |i, k| {
        let (i, k) = (row(i), row(k));
        let x = a[if transpose { k * n + i } else { i * n + k }].wide();
        if how.conjugate { x.conj() } else { x }
    });
    for i in 0..n {
        for s in 0..systems {
            to[place(i, s)] = S::narrow(x.at(i, s));
        }
    }
}
