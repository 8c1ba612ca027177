//! Ranges of `cholesky` and `triangular-solve`, of real and of complex numbers.
//!
//! Elements are computed one after the other from the ranges of those before, each sum widened as a
//! sum in any order is. A backend may also multiply with inverted blocks, so the sizes of the terms
//! are those that remain if nothing cancels. Both grow with the condition of the matrix: of an
//! ill-conditioned one, nothing is known. Ranges of solutions that follow one from the other grow
//! with each row, so they are cut to what the inverse of the matrix says of all rows together
//! ([`Whole`]).
use super::Stop;
use super::complex::{self, Parts};
use super::evaluate::{Evaluator, Leaves, arrays, unknown};
use super::factor_checks::{self, Matrix, plus};
use super::functions;
use super::interval::Interval;
use super::modes::{Mode, largest, least_subnormal, smallest_normal};
use super::precision::computed_in;
use super::range::Range;
use super::site::Site;
use crate::error_model::roundoff;
use hlo::op::value::Transpose;
use hlo::op::{Cholesky, TriangularSolve, Unary};
use hlo::{ArrayShape, ElementType};

/// The numbers of a matrix.
trait Number: Copy {
    fn list(range: &Range) -> Vec<Self>;
    fn range(shape: &ArrayShape, list: &[Self]) -> Range;
    /// Returns what is also in these intervals of its parts.
    fn cut(self, parts: [Interval; 2]) -> Self;
    /// Changes each part.
    fn each(self, change: impl Fn(Interval) -> Interval) -> Self;
    fn conjugate(self) -> Self;
    fn re(self) -> Interval;
    fn im(self) -> Option<Interval>;
    /// Returns a number whose imaginary part is this far from 0.
    fn real(re: Interval, im: f64) -> Self;
    /// Returns the least and the greatest absolute value.
    fn sizes(self) -> [f64; 2];
    fn less(self, a: Self, b: Self) -> Self;
    /// Returns whether a step of a quotient of a number of this size overflows, or loses digits below
    /// the normal numbers.
    fn overflows(size: f64, y: Self, ty: ElementType) -> bool;
    fn over(self, y: Self, ty: ElementType) -> Self;
}

impl Number for Interval {
    fn list(range: &Range) -> Vec<Self> {
        range.intervals().collect()
    }
    fn range(shape: &ArrayShape, list: &[Self]) -> Range {
        Range::of(shape, list)
    }
    fn cut(self, [re, _]: [Interval; 2]) -> Self {
        self.cut_to(re)
    }
    fn each(self, change: impl Fn(Interval) -> Interval) -> Self {
        change(self)
    }
    fn conjugate(self) -> Self {
        self
    }
    fn re(self) -> Interval {
        self
    }
    fn im(self) -> Option<Interval> {
        None
    }
    fn real(re: Interval, _: f64) -> Self {
        re
    }
    fn sizes(self) -> [f64; 2] {
        let apart = self.lo > 0.0 || self.hi < 0.0;
        [if apart { self.lo.abs().min(self.hi.abs()) } else { 0.0 }, self.max_abs()]
    }
    fn less(self, a: Self, b: Self) -> Self {
        self - a * b
    }
    fn overflows(size: f64, _: Self, ty: ElementType) -> bool {
        size > largest(ty)
    }
    fn over(self, y: Self, _: ElementType) -> Self {
        self / y
    }
}

impl Number for Parts {
    fn list(range: &Range) -> Vec<Self> {
        complex::numbers(range)
    }
    fn range(shape: &ArrayShape, list: &[Self]) -> Range {
        complex::range(shape, list.iter().copied())
    }
    fn cut(self, [re, im]: [Interval; 2]) -> Self {
        Self { re: self.re.cut_to(re), im: self.im.cut_to(im) }
    }
    fn each(self, change: impl Fn(Interval) -> Interval) -> Self {
        Self { re: change(self.re), im: change(self.im) }
    }
    fn conjugate(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    fn re(self) -> Interval {
        self.re
    }
    fn im(self) -> Option<Interval> {
        Some(self.im)
    }
    fn real(re: Interval, im: f64) -> Self {
        Self { re, im: Interval::point(0.0).widened(im) }
    }
    fn sizes(self) -> [f64; 2] {
        let [re, im] = [self.re.sizes(), self.im.sizes()];
        [re[0].hypot(im[0]), re[1].hypot(im[1])]
    }
    fn less(self, a: Self, b: Self) -> Self {
        let product = complex::multiplied(a, b);
        Self { re: self.re - product.re, im: self.im - product.im }
    }
    fn overflows(size: f64, y: Self, ty: ElementType) -> bool {
        // A formula may divide by the square of the absolute value.
        let square = y.sizes().map(|size| size * size);
        square[0] < smallest_normal(ty) || square[1] * size.max(1.0) > largest(ty)
    }
    fn over(self, y: Self, ty: ElementType) -> Self {
        if Self::overflows(self.sizes()[1], y, ty) {
            return Self::both(Interval::ANY);
        }
        let square = y.sizes().map(|size| size * size);
        let square = match y.is_point() {
            true => y.re * y.re + y.im * y.im,
            false => Interval::open(square[0], square[1]),
        };
        complex::multiplied(self, y.conjugate()).each(|part| part / square)
    }
}

/// A value, and its size if nothing cancels.
#[derive(Clone, Copy)]
struct Term<N> {
    value: N,
    size: f64,
}

impl<N: Number> Term<N> {
    fn of(value: N) -> Self {
        Self { value, size: value.sizes()[1] }
    }
    fn less(self, a: Self, b: Self) -> Self {
        Self { value: self.value.less(a.value, b.value), size: b.size.mul_add(a.size, self.size) }
    }
    fn conjugate(self) -> Self {
        Self { value: self.value.conjugate(), ..self }
    }
}

/// The allowed error of an operation, relative and below the normal numbers.
struct Lost {
    relative: f64,
    least: f64,
    /// The type that is computed in, or that of its parts.
    ty: ElementType,
}

impl Lost {
    fn of(ev: &Evaluator<'_>, ty: ElementType, terms: usize) -> Self {
        // A product of complex numbers is a sum of two for each part.
        let each = if ty.is_complex() { 2.0 } else { 1.0 };
        let ty = computed_in(ev.modes, ty.component());
        let terms = each * (f64::from(u32::try_from(terms).unwrap_or(u32::MAX)) + 2.0);
        let least = ev.modes.flushed_below(ty);
        match ev.modes.has(Mode::SummationOrder) {
            true => Self {
                relative: 2.0 * terms * roundoff(ty),
                least: terms * least.max(least_subnormal(ty)),
                ty,
            },
            false => Self { relative: 0.0, least: terms * least, ty },
        }
    }
    fn rounded<N: Number>(&self, x: Term<N>) -> N {
        x.value.each(|part| part.widened(self.relative.mul_add(x.size, self.least)))
    }
    /// Returns the stored form of a value: the sign of a zero depends on the order of the terms.
    fn stored<N: Number>(ev: &Evaluator<'_>, ty: ElementType, x: N) -> N {
        x.each(|part| match ev.modes.store(ty.component(), part, false) {
            zero if zero.lo == 0.0 && zero.hi == 0.0 => Interval::ZEROS,
            stored => stored,
        })
    }
    fn quotient<N: Number>(&self, x: Term<N>, y: N) -> Term<N> {
        Term { value: self.rounded(x).over(y, self.ty), size: x.size / y.sizes()[0] }
    }
}

/// Returns the shape of an operand, and the sizes of the matrices of a batch.
fn matrices(site: Site<'_>, operand: usize) -> Result<(ArrayShape, [usize; 2]), Stop> {
    let size = |dims: &[i64], d: usize| usize::try_from(*dims.get(d)?).ok().filter(|&n| n > 0);
    let found = || {
        let shape = site.operand(operand).array()?;
        let first = shape.rank().checked_sub(2)?;
        let sizes = [size(&shape.dims, first)?, size(&shape.dims, first + 1)?];
        (shape.ty.is_float() || shape.ty.is_complex()).then(|| (shape.clone(), sizes))
    };
    found().ok_or_else(|| site.unsupported("these elements"))
}

pub(super) fn cholesky<'m>(
    ev: &Evaluator<'m>,
    site: Site<'m>,
    op: &Cholesky,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operand = arrays(site, operands)?[0];
    let (shape, [n, _]) = matrices(site, 0)?;
    let range = match shape.ty.is_complex() {
        true => factors::<Parts>(ev, op, n, &shape, operand),
        false => factors::<Interval>(ev, op, n, &shape, operand),
    };
    Ok(vec![range.because(operand.cause.clone())])
}

fn factors<N: Number>(
    ev: &Evaluator<'_>,
    op: &Cholesky,
    n: usize,
    shape: &ArrayShape,
    operand: &Range,
) -> Range {
    let lost = Lost::of(ev, shape.ty, n);
    let a = N::list(operand);
    let mut result: Vec<N> = a.iter().map(|x| x.each(|_| Interval::ANY)).collect();
    for (batch, result) in a.chunks(n * n).zip(result.chunks_mut(n * n)) {
        let at = |i: usize, j: usize| if op.lower { i * n + j } else { j * n + i };
        // The upper factor is the conjugate transpose of the lower.
        let of = |x: N| if op.lower { x } else { x.conjugate() };
        let Some(factor) = lower_factor(&lost, n, |i, j| of(batch[at(i, j)])) else { continue };
        // What is in the other triangle is implementation-defined.
        for (i, row) in factor.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                result[at(i, j)] = Lost::stored(ev, shape.ty, of(x.value));
            }
        }
    }
    N::range(shape, &result)
}

/// Returns the rows of the lower triangle; none if the matrix may not be positive definite.
fn lower_factor<N: Number>(
    lost: &Lost,
    n: usize,
    a: impl Fn(usize, usize) -> N,
) -> Option<Vec<Vec<Term<N>>>> {
    let mut l: Vec<Vec<Term<N>>> = Vec::with_capacity(n);
    for i in 0..n {
        let mut row: Vec<Term<N>> = Vec::with_capacity(i + 1);
        for j in 0..=i {
            let other = l.get(j).unwrap_or(&row);
            let rest =
                (0..j).fold(Term::of(a(i, j)), |rest, k| rest.less(row[k], other[k].conjugate()));
            let next = if j < i {
                lost.quotient(rest, l[j][j].value)
            } else {
                let square = lost.rounded(rest);
                // It is real, but rounding may leave an imaginary part, or a backend may ignore it.
                let (re, im) = (square.re(), square.im().map_or(0.0, Interval::max_abs));
                if !(re.lo > im && re.is_finite()) {
                    return None;
                }
                let root = functions::unary(Unary::Sqrt, re).widened(im * im / re.lo.powf(1.5));
                Term::of(N::real(root, im / re.lo.sqrt()))
            };
            // The quotient and the root are rounded, too.
            let value = lost.rounded(Term::of(next.value));
            row.push(Term { value, ..next });
        }
        l.push(row);
    }
    Some(l)
}

pub(super) fn triangular_solve<'m>(
    ev: &Evaluator<'m>,
    site: Site<'m>,
    op: &TriangularSolve,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let [a, b] = operands.as_slice() else { return Err(site.unsupported("this op")) };
    let (shape, sizes) = matrices(site, 1)?;
    let solved = match shape.ty.is_complex() {
        true => solved::<Parts>(ev, op, sizes, &shape, [*a, *b]),
        false => solved::<Interval>(ev, op, sizes, &shape, [*a, *b]),
    };
    let cause = operands.iter().find_map(|range| range.cause.clone());
    Ok(match solved {
        Some(range) => vec![range.because(cause)],
        None => unknown(site, Some(site.cause())),
    })
}

fn is_finite<N: Number>(x: N) -> bool {
    x.re().is_finite() && x.im().is_none_or(Interval::is_finite)
}

/// Returns whether a number is finite, and can not be 0.
fn is_regular<N: Number>(x: N) -> bool {
    is_finite(x) && x.sizes()[0] > 0.0
}

/// The most products of the inverses of a batch of triangles.
const MOST: usize = 1 << 25;

/// A triangle whose elements are known within a radius each, and its inverse: a legal solution x has
/// `(T + E) x = b + f`, so that it is at most `|T^-1| (|f| + |E| |x|)` from `T^-1 b`.
struct Whole {
    inverse: Matrix,
    sizes: Matrix,
    /// The largest |E|: what is not known, and what rounding changes.
    changed: Matrix,
    /// The row norm of `|T^-1| |E|`.
    norm: f64,
}

/// Returns the middle of a number, and how far its values may be from that.
fn middle<N: Number>(x: N) -> (factor_checks::Number, f64) {
    let (re, im) = (x.re(), x.im().unwrap_or(Interval::point(0.0)));
    ([re.mid(), im.mid()], re.radius().hypot(im.radius()))
}

impl Whole {
    /// Returns a lower triangle; none if its elements are not known well enough.
    fn of<N: Number>(lost: &Lost, n: usize, t: impl Fn(usize, usize) -> N) -> Option<Self> {
        let lower = |element: &dyn Fn(N) -> factor_checks::Number| {
            Matrix::of(n, n, |i, k| if k <= i { element(t(i, k)) } else { [0.0; 2] })
        };
        let inverse = lower(&|x| middle(x).0).lower_inverse();
        let changed = lower(&|x| [lost.relative.mul_add(x.sizes()[1], middle(x).1), 0.0]);
        let sizes = inverse.sizes();
        let norm = sizes.times(&changed).row_norm();
        (norm <= 0.25).then_some(Self { inverse, sizes, changed, norm })
    }
    /// Returns where the solution of a system with this right side is.
    fn solution<N: Number>(&self, lost: &Lost, b: &[N]) -> Vec<[Interval; 2]> {
        let n = b.len();
        let column =
            |element: &dyn Fn(N) -> factor_checks::Number| Matrix::of(n, 1, |i, _| element(b[i]));
        let solution = self.inverse.times(&column(&|x| middle(x).0));
        // A backend that multiplies with inverses rounds terms of this size.
        let terms = self.sizes.times(&column(&|x| [x.sizes()[1], 0.0]));
        let least = lost.least * f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let right = column(&|x| [lost.relative.mul_add(x.sizes()[1], middle(x).1) + least, 0.0]);
        let changed = self.changed.times(&terms);
        let change = Matrix::of(n, 1, |i, _| plus(right[(i, 0)], changed[(i, 0)]));
        let first = self.sizes.times(&change);
        let later = self.norm * first.data.iter().fold(0.0, |most: f64, x| most.max(x[0]));
        let around = |i: usize| {
            let error = first[(i, 0)][0] + later / (1.0 - self.norm);
            solution[(i, 0)].map(|x| Interval::point(x).widened(error))
        };
        (0..n).map(around).collect()
    }
}

/// Returns the solutions of systems; none if the batches differ.
fn solved<N: Number>(
    ev: &Evaluator<'_>,
    op: &TriangularSolve,
    [rows, columns]: [usize; 2],
    shape: &ArrayShape,
    [a, b]: [&Range; 2],
) -> Option<Range> {
    let (n, systems) = if op.left_side { (rows, columns) } else { (columns, rows) };
    let lost = Lost::of(ev, shape.ty, n);
    let (transposed, conjugate) = match op.transpose_a {
        Transpose::None | Transpose::Invalid => (false, false),
        Transpose::Transpose => (true, false),
        Transpose::Adjoint => (true, true),
    };
    // On the right the system is transposed.
    let transposed = transposed == op.left_side;
    let lower = op.lower != transposed;
    let (a, b) = (N::list(a), N::list(b));
    let work = a.len().saturating_mul(n);
    if a.len() / (n * n) != b.len() / (rows * columns) {
        return None;
    }
    let mut result: Vec<N> = b.iter().map(|x| x.each(|_| Interval::ANY)).collect();
    for (batch, a) in a.chunks(n * n).enumerate() {
        let t = |i: usize, k: usize| {
            let x = a[if transposed { k * n + i } else { i * n + k }];
            if conjugate { x.conjugate() } else { x }
        };
        let row = |step: usize| if lower { step } else { n - 1 - step };
        let is_regular = (0..n).all(|i| {
            let finite = (0..i).all(|k| is_finite(t(row(i), row(k))));
            finite && (op.unit_diagonal || is_regular(t(row(i), row(i))))
        });
        // Else there is no solution.
        let systems = if is_regular { systems } else { 0 };
        let one = N::real(Interval::point(1.0), 0.0);
        let whole = (is_regular && work <= MOST)
            .then(|| {
                Whole::of(&lost, n, |i, k| match i == k && op.unit_diagonal {
                    true => one,
                    false => t(row(i), row(k)),
                })
            })
            .flatten();
        for system in 0..systems {
            let place = |i: usize| {
                let at = if op.left_side { i * columns + system } else { system * columns + i };
                batch * rows * columns + at
            };
            if !(0..n).all(|i| is_finite(b[place(i)])) {
                continue;
            }
            let sides: Vec<N> = (0..n).map(|step| b[place(row(step))]).collect();
            let cut = whole.as_ref().map(|whole| whole.solution(&lost, &sides));
            let mut x: Vec<Term<N>> = Vec::with_capacity(n);
            let mut overflows = false;
            for (step, i) in (0..n).map(row).enumerate() {
                let solved = x.iter().enumerate();
                let rest = solved.fold(Term::of(b[place(i)]), |rest, (k, &x)| {
                    rest.less(Term::of(t(i, row(k))), x)
                });
                let divisor = if op.unit_diagonal { one } else { t(i, i) };
                let next = match op.unit_diagonal {
                    true => Term { value: lost.rounded(rest), ..rest },
                    false => lost.quotient(rest, divisor),
                };
                let value = lost.rounded(Term { value: next.value, size: next.size });
                // The solution says nothing of what follows a step that overflows.
                overflows |= N::overflows(rest.size, divisor, lost.ty);
                let cut = cut.as_ref().filter(|_| !overflows);
                let value = cut.map_or(value, |cut| value.cut(cut[step]));
                result[place(i)] = Lost::stored(ev, shape.ty, value);
                x.push(Term { value, ..next });
            }
        }
    }
    Some(N::range(shape, &result))
}
