//! Factors of matrices, element by element: what a result shows of them, and whether it is legal.
//!
//! Each element of a factor has a number, its origin, that goes with it through ops that move it.
use super::evaluate::Leaves;
use super::factor_checks::{Broken, Factored, Matrix, Number, exchanged, exchanges};
use super::integers;
use super::interval::Interval;
use super::range::{Cause, Range, array, is_whole};
use hlo::op::Binary;
use hlo::{ArrayShape, Class, ElementType, Literal, Op, Scalar};
use std::collections::{HashMap, HashSet};

/// The most random numbers of an instruction that are followed.
const MOST_RANDOM: usize = 1 << 16;

/// The factorizations of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Factors {
    pub(super) all: Vec<Factorization>,
    /// The number of the last element.
    last: u32,
    /// Elements that the backend's result shows.
    known: HashMap<u32, Number>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// The triangle and reflections, their factors, the columns that are taken first (from 1 on), Q.
    Orthogonal,
    /// Eigenvectors, eigenvalues.
    Eigen,
    /// Both triangles, pivots from this number on, the order of rows, `info`.
    Elimination(i64),
    /// Singular values, U, V.
    Singular,
    /// Eigenvalues of any matrix, in one array or as real and imaginary parts, left and right vectors.
    General,
    /// The triangle, the basis, and the eigenvalues as above.
    Schur,
    /// Random numbers, which fulfil no identity.
    Random,
}

/// A batch of matrices that were factored.
#[derive(Debug)]
pub(super) struct Factorization {
    pub(super) kind: Kind,
    pub(super) path: String,
    /// The operand, and how much of it is not known, in the Frobenius norm and at most of an element.
    pub(super) matrices: Vec<(Matrix, [f64; 2])>,
    /// The relative error of the factors.
    pub(super) relative: f64,
    pub(super) unit: f64,
    pub(super) least: f64,
    pub(super) factors: Vec<Factor>,
}

/// The elements of a factor: of each matrix of the batch so many rows and columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factor {
    first: u32,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Factor {
    pub(super) const NONE: Self = Self { first: 0, rows: 0, columns: 0 };

    pub(super) fn number(&self, batch: usize, i: usize, j: usize) -> u32 {
        let at = (batch * self.rows + i) * self.columns + j;
        self.first + u32::try_from(at).unwrap_or(0)
    }
    /// Returns the factor of a matrix of the batch as far as it is seen; none if an element that is
    /// `asked` for is not.
    fn read(
        &self,
        batch: usize,
        seen: &HashMap<u32, Number>,
        asked: impl Fn(usize, usize) -> bool,
    ) -> Option<Matrix> {
        if self.first == 0 {
            return None;
        }
        let at = |i, j| seen.get(&self.number(batch, i, j)).copied();
        let missing = |i: usize| (0..self.columns).any(|j| asked(i, j) && at(i, j).is_none());
        let whole = !(0..self.rows).any(missing);
        whole.then(|| Matrix::of(self.rows, self.columns, |i, j| at(i, j).unwrap_or_default()))
    }
    fn all(&self, batch: usize, seen: &HashMap<u32, Number>) -> Option<Matrix> {
        self.read(batch, seen, |_, _| true)
    }
    /// Returns the columns of a factor that are seen, each as a matrix, with the numbers of their
    /// elements; if `of_rows`, the adjoints of its rows.
    fn lines(
        &self,
        batch: usize,
        seen: &HashMap<u32, Number>,
        of_rows: bool,
    ) -> Vec<(usize, Matrix, Vec<u32>)> {
        let (count, size) =
            if of_rows { (self.rows, self.columns) } else { (self.columns, self.rows) };
        let line = |at: usize| {
            let number = |i: usize| match of_rows {
                true => self.number(batch, at, i),
                false => self.number(batch, i, at),
            };
            let numbers: Vec<u32> = (0..size).map(number).collect();
            let all: Option<Vec<Number>> = numbers.iter().map(|n| seen.get(n).copied()).collect();
            let all = all?;
            let sign = if of_rows { -1.0 } else { 1.0 };
            let line = Matrix::of(size, 1, |i, _| [all[i][0], sign * all[i][1]]);
            Some((at, line, numbers))
        };
        let is_any = self.first > 0;
        (0..count).filter(|_| is_any).filter_map(line).collect()
    }
    fn numbers(self, batch: usize) -> impl Iterator<Item = u32> {
        let count = if self.first == 0 { 0 } else { self.rows * self.columns };
        (0..count).map(move |at| self.number(batch, 0, at))
    }
}

/// What a result shows of factors.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Elements of factors that are legal.
    pub(super) legal: HashMap<u32, Number>,
    /// Those of them that are random numbers, which say nothing of the backend.
    pub(super) random: HashSet<u32>,
    pub(super) wrong: HashSet<u32>,
    /// The positions of each leaf whose elements are in the wrong order.
    pub(super) disordered: Vec<HashSet<usize>>,
    /// The identity that does not hold.
    pub(super) broken: Option<String>,
}

impl Factorization {
    pub(super) fn factored(&self, batch: usize) -> Factored<'_> {
        let (a, [norm, element]) = &self.matrices[batch];
        Factored {
            a,
            relative: self.relative,
            error: self.relative * a.norm() + norm + self.least,
            unknown: element + self.least,
            unit: self.unit,
            least: self.least,
        }
    }
    fn numbers(&self, batch: usize) -> impl Iterator<Item = u32> + '_ {
        self.factors.iter().flat_map(move |factor| factor.numbers(batch))
    }
    /// Adds a factor whose elements are in these intervals, part by part of row i, column j of matrix
    /// b: (b, i, j).
    pub(super) fn push(
        &mut self,
        factors: &mut Factors,
        shape: &ArrayShape,
        sizes: [usize; 2],
        cause: Option<&Cause>,
        interval: impl Fn(usize, usize, usize) -> Interval,
    ) -> Range {
        self.push_parts(factors, shape, sizes, cause, |batch, i, j| [interval(batch, i, j); 2])
    }
    /// The same with an interval of each part.
    pub(super) fn push_parts(
        &mut self,
        factors: &mut Factors,
        shape: &ArrayShape,
        sizes: [usize; 2],
        cause: Option<&Cause>,
        intervals: impl Fn(usize, usize, usize) -> [Interval; 2],
    ) -> Range {
        let [rows, columns] = sizes;
        let factor = Factor { first: factors.last + 1, rows, columns };
        let count = shape.element_count().unwrap_or(0);
        factors.last = factors.last.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.factors.push(factor);
        let parts = if shape.ty.is_complex() { 2 } else { 1 };
        let number = |at: usize| factor.first + u32::try_from(at).unwrap_or(0);
        let own = |at: usize| {
            let (matrix, inside) = (at / (rows * columns), at % (rows * columns));
            intervals(matrix, inside / columns, inside % columns)
        };
        let known = |at: usize| factors.known.get(&number(at));
        let range = match is_whole(shape.ty) {
            true => {
                let whole = |x: f64| Scalar::Float(x).convert(ElementType::F64, shape.ty);
                let ends = |at: usize| match known(at) {
                    Some(x) => (whole(x[0]), whole(x[0])),
                    None => (whole(own(at)[0].lo), whole(own(at)[0].hi)),
                };
                integers::range(shape, (0..count).map(ends))
            }
            false => {
                let part = |at: usize| match known(at / parts) {
                    Some(x) => Interval::point(x[at % parts]),
                    None => own(at / parts)[at % parts],
                };
                Range::given(shape, &(0..count * parts).map(part).collect::<Vec<_>>())
            }
        };
        let origin = numbered(&range, (0..count).map(number));
        Range { origin, ..range }.because(cause.cloned())
    }
}

/// Returns a small whole number as a float.
pub(super) fn float(n: impl TryInto<u32>) -> f64 {
    n.try_into().map_or(f64::INFINITY, f64::from)
}
fn parts_of(x: Scalar) -> Number {
    match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    }
}
/// Returns a float that is a whole number as one.
fn whole(x: f64) -> Option<i64> {
    Scalar::Float(x).convert(ElementType::F64, ElementType::S64).as_i64()
}

/// Returns an array of the shape of a range with the numbers of its elements.
pub(super) fn numbered(range: &Range, numbers: impl Iterator<Item = u32>) -> Option<Literal> {
    let shape = range.shape()?;
    if is_whole(shape.ty) {
        let number = |x: u32| match shape.ty.class() {
            Class::Signed => Scalar::Signed(i64::from(x)),
            Class::Unsigned | Class::Pred | Class::Float | Class::Complex => {
                Scalar::Unsigned(u64::from(x))
            }
        };
        let ends = |x: u32| (number(x), number(x));
        return (shape.ty.bits() >= 32).then(|| integers::range(shape, numbers.map(ends)).lo);
    }
    let complex = shape.ty.is_complex();
    let parts = numbers.flat_map(|x| [Some(f64::from(x)), complex.then_some(0.0)]);
    Some(array(shape, parts.flatten()))
}

/// Returns the number of an element of an array of them; none of an element of no factor, or of two.
pub(super) fn number(origin: &Literal, at: usize) -> Option<u32> {
    match numbers(origin, at).as_slice() {
        [number] => Some(*number),
        _ => None,
    }
}

/// Returns the number of an element, or those of its parts if these are elements of factors.
pub(super) fn numbers(origin: &Literal, at: usize) -> Vec<u32> {
    let own = |x: f64| whole(x).and_then(|x| u32::try_from(x).ok()).filter(|&x| x > 0);
    parts_of(origin.get(at)).into_iter().filter_map(own).collect()
}

impl Factors {
    pub(super) fn add(&mut self, own: Factorization) {
        self.all.push(own);
    }
    /// Numbers the elements of an array of random numbers: what is computed from those that a result
    /// shows is determined, and what shows one twice shows the same.
    pub(super) fn add_random(&mut self, path: String, range: Range) -> Range {
        // An element of more bits is no f64.
        let fits = |ty: ElementType| {
            matches!(ty, ElementType::U32 | ElementType::S32 | ElementType::F32 | ElementType::F64)
        };
        let Some(shape) = range.shape().cloned() else { return range };
        let own: Vec<Interval> = match is_whole(shape.ty) {
            true => (0..range.lo.len()).map(|i| integers::as_interval(range.ends(i))).collect(),
            false => range.intervals().collect(),
        };
        let is_known = |x: &Interval| !x.is_any() && !x.is_nan();
        if !fits(shape.ty) || own.len() > MOST_RANDOM || !own.iter().all(is_known) {
            return range;
        }
        let (relative, unit, least) = (0.0, 0.0, 0.0);
        let matrices = vec![(Matrix::of(0, 0, |_, _| [0.0; 2]), [0.0; 2])];
        let (kind, factors) = (Kind::Random, Vec::new());
        let mut random = Factorization { kind, path, matrices, relative, unit, least, factors };
        let (sizes, cause) = ([1, own.len()], range.cause.as_ref());
        let numbered = random.push(self, &shape, sizes, cause, |_, _, at| own[at]);
        self.add(random);
        numbered
    }
    /// Begins an evaluation in which these elements are known.
    pub(super) fn restart(&mut self, known: HashMap<u32, Number>) {
        *self = Self { known, ..Self::default() };
    }

    /// Checks the factors that a result shows.
    pub(super) fn seen(&self, ranges: &[Range], actual: &Literal) -> Seen {
        let mut values: HashMap<u32, Number> = HashMap::new();
        let mut seen = Seen::default();
        for (range, leaf) in ranges.iter().zip(actual.leaves()) {
            let Some(origin) = range.origin.as_ref().filter(|o| o.len() == leaf.len()) else {
                continue;
            };
            let ends: Vec<Interval> = range.intervals().collect();
            let parts =
                if leaf.array_shape().is_some_and(|shape| shape.ty.is_complex()) { 2 } else { 1 };
            for at in 0..leaf.len() {
                let value = parts_of(leaf.get(at));
                let inside = |k: usize| match ends.get(at * parts + k) {
                    Some(x) => x.lo <= value[k] && value[k] <= x.hi,
                    None => range.holds_whole(at, leaf.get(at)),
                };
                let own = numbers(origin, at);
                for (k, &number) in own.iter().enumerate() {
                    let value = if own.len() == 1 { value } else { [value[k], 0.0] };
                    // Two places have the same element.
                    let same = values.insert(number, value).is_none_or(|old| old == value);
                    if !same || !(0..parts).all(inside) {
                        seen.wrong.insert(number);
                    }
                }
            }
        }
        for own in &self.all {
            for batch in 0..own.matrices.len() {
                seen.matrix(own, batch, &values);
            }
        }
        seen
    }
}

impl Seen {
    fn matrix(&mut self, own: &Factorization, batch: usize, values: &HashMap<u32, Number>) {
        let factored = own.factored(batch);
        let (parts, derived) = (Vec::new(), Vec::new());
        let mut shown = Shown { own, factored: &factored, batch, values, parts, derived };
        let Some(checked) = shown.check() else { return };
        let wrong = own.numbers(batch).any(|number| self.wrong.contains(&number));
        match checked {
            Ok(()) if !wrong => {
                let whole = (0..own.factors.len()).filter(|&k| shown.is_checked(k));
                let whole = whole.flat_map(|k| shown.factor(k).numbers(batch));
                let legal = whole.chain(shown.parts.iter().copied());
                if own.kind == Kind::Random {
                    self.random.extend(&shown.parts);
                }
                self.legal.extend(legal.filter_map(|n| Some((n, *values.get(&n)?))));
                self.legal.extend(shown.derived);
            }
            Ok(()) => {}
            Err(broken) => {
                self.broken.get_or_insert(format!("{}: {broken}", own.path));
                self.wrong.extend(own.numbers(batch));
            }
        }
    }
}

/// What is seen of the factors of a matrix.
struct Shown<'a> {
    own: &'a Factorization,
    factored: &'a Factored<'a>,
    batch: usize,
    values: &'a HashMap<u32, Number>,
    /// Elements of factors that are not seen as a whole, but are checked.
    parts: Vec<u32>,
    /// Elements that are not seen, and follow.
    derived: Vec<(u32, Number)>,
}

impl Shown<'_> {
    fn factor(&self, k: usize) -> Factor {
        self.own.factors.get(k).copied().unwrap_or(Factor::NONE)
    }
    fn all(&self, k: usize) -> Option<Matrix> {
        self.factor(k).all(self.batch, self.values)
    }

    /// Returns whether a factor is checked as a whole: real parts of eigenvalues are not without the
    /// imaginary ones.
    fn is_checked(&self, k: usize) -> bool {
        let apart = match self.own.kind {
            Kind::General if self.factor(1).columns > 0 => Some([0, 1]),
            Kind::Schur if self.factor(3).columns > 0 => Some([2, 3]),
            Kind::General
            | Kind::Schur
            | Kind::Orthogonal
            | Kind::Eigen
            | Kind::Singular
            | Kind::Random
            | Kind::Elimination(_) => None,
        };
        let with = apart.filter(|both| both.contains(&k)).unwrap_or([k, k]);
        with.into_iter().all(|k| self.all(k).is_some())
    }

    /// Checks the factors; none if nothing is seen that defines them.
    fn check(&mut self) -> Option<Broken> {
        let all = |k: usize| self.all(k);
        match self.own.kind {
            Kind::Orthogonal => self.orthogonal(),
            Kind::Random => {
                let seen = |number: &u32| self.values.contains_key(number);
                self.parts.extend(self.own.numbers(self.batch).filter(seen));
                Some(Ok(()))
            }
            Kind::Eigen => {
                let (v, w) = (all(0), all(1));
                v.as_ref().or(w.as_ref())?;
                let known = self.factored.eigenvectors(v.as_ref(), w.as_ref());
                Some(known.and_then(|()| self.vectors(0, w.as_ref())))
            }
            Kind::Singular => {
                let [s, u, v] = [0, 1, 2].map(all);
                s.as_ref().or(u.as_ref()).or(v.as_ref())?;
                let known = self.factored.singular(s.as_ref(), u.as_ref(), v.as_ref());
                let known = known.and_then(|()| self.singular_vectors(1, s.as_ref()));
                Some(known.and_then(|()| self.singular_vectors(2, s.as_ref())))
            }
            Kind::General => {
                let [left, right] = [2, 3].map(all);
                let w = eigenvalues(all(0), all(1), self.factor(1).columns > 0);
                w.as_ref().or(left.as_ref()).or(right.as_ref())?;
                let known = self.factored.general(w.as_ref(), left.as_ref(), right.as_ref());
                Some(known.and_then(|()| self.vectors(3, w.as_ref())))
            }
            Kind::Schur => {
                let [t, z] = [0, 1].map(all);
                let is_real = self.factor(3).columns > 0;
                let w = eigenvalues(all(2), all(3), is_real);
                w.as_ref().or(t.as_ref()).or(z.as_ref())?;
                Some(self.factored.schur(is_real, t.as_ref(), z.as_ref(), w.as_ref()))
            }
            Kind::Elimination(first) => {
                let lu = all(0)?;
                let pivots = all(1).map(|pivots| rounded(&pivots, first));
                let stated = all(2).map(|order| rounded(&order, 0));
                let info = all(3);
                let to = (self.factored, &mut self.derived);
                Some(self.own.elimination(self.batch, &lu, [pivots, stated], to, info))
            }
        }
    }

    fn orthogonal(&mut self) -> Option<Broken> {
        let [packed, taus, first, q] = [0, 1, 2, 3].map(|k| self.all(k));
        let of = self.factor(0);
        let triangle = of.read(self.batch, self.values, |i, j| i <= j).map(|r| r.upper());
        if q.is_none() && triangle.is_none() {
            return None;
        }
        if triangle.is_some() {
            let upper = (0..of.rows).flat_map(|i| (i..of.columns).map(move |j| (i, j)));
            self.parts.extend(upper.map(|(i, j)| of.number(self.batch, i, j)));
        }
        let reflections = packed.as_ref().zip(taus.as_ref());
        let is_pivoted = self.factor(2).columns > 0;
        let certain = || {
            let order = is_pivoted.then(|| self.factored.longest_first()).flatten()?;
            Some(order.into_iter().map(|x| i64::try_from(x).unwrap_or(0)).collect())
        };
        let order = first.map(|first| rounded(&first, 1)).or_else(certain);
        let (q, r) = (q.as_ref(), triangle.as_ref());
        Some(match is_pivoted {
            true => self.factored.pivoted(order.as_deref(), q, r, reflections),
            false => self.factored.orthogonal(q, r, reflections),
        })
    }

    /// Checks the columns of eigenvectors that are seen beside all eigenvalues, unless all are.
    fn vectors(&mut self, k: usize, w: Option<&Matrix>) -> Broken {
        let Some(w) = w.filter(|_| self.all(k).is_none()) else { return Ok(()) };
        for (j, v, numbers) in self.factor(k).lines(self.batch, self.values, false) {
            self.factored.eigenvector(&v, w[(0, j)])?;
            self.parts.extend(numbers);
        }
        Ok(())
    }
    /// Checks the columns of U that are seen beside all singular values, or the rows of V, unless all
    /// are.
    fn singular_vectors(&mut self, k: usize, s: Option<&Matrix>) -> Broken {
        let Some(s) = s.filter(|_| self.all(k).is_none()) else { return Ok(()) };
        let is_right = k == 2;
        for (j, x, numbers) in self.factor(k).lines(self.batch, self.values, is_right) {
            let value = s.data.get(j).map_or(0.0, |s| s[0]);
            self.factored.singular_vector(&x, value, is_right)?;
            self.parts.extend(numbers);
        }
        Ok(())
    }
}

impl Factorization {
    /// Checks an elimination, and derives pivots and the order of rows that are not seen.
    fn elimination(
        &self,
        batch: usize,
        lu: &Matrix,
        [pivots, stated]: [Option<Vec<i64>>; 2],
        (factored, derived): (&Factored<'_>, &mut Vec<(u32, Number)>),
        info: Option<Matrix>,
    ) -> Result<(), String> {
        let Kind::Elimination(first) = self.kind else { return Ok(()) };
        let order = match &pivots {
            Some(pivots) => Some(exchanged(lu.rows, pivots).ok_or("a pivot is no row below")?),
            None => None,
        };
        if let (Some(order), Some(stated)) = (&order, &stated) {
            let same = order.iter().zip(stated).all(|(&a, &b)| i64::try_from(a) == Ok(b));
            if !same {
                return Err("the permutation is not that of the pivots".to_owned());
            }
        }
        if let Some(order) = factored.eliminated(lu, order.as_deref())? {
            let rank = lu.rows.min(lu.columns);
            let pivots = exchanges(&order, rank).into_iter().map(|pivot| pivot + first);
            let number = |x: i64| [float(x), 0.0];
            derived.extend(self.factors[1].numbers(batch).zip(pivots.map(number)));
            let order = order.into_iter().map(|row| number(i64::try_from(row).unwrap_or(0)));
            derived.extend(self.factors[2].numbers(batch).zip(order));
        }
        let zero = (0..lu.rows.min(lu.columns)).position(|i| lu[(i, i)] == [0.0; 2]);
        let expected = zero.map_or(0.0, |i| float(i + 1));
        match info {
            Some(info) if info[(0, 0)][0] != expected => {
                Err(format!("info is {}, and should be {expected}", info[(0, 0)][0]))
            }
            _ => Ok(()),
        }
    }
}

/// Returns eigenvalues that are in one array, or in one for the real and one for the imaginary parts.
fn eigenvalues(first: Option<Matrix>, second: Option<Matrix>, is_apart: bool) -> Option<Matrix> {
    if !is_apart {
        return first;
    }
    let (re, im) = first.zip(second)?;
    Some(Matrix::of(1, re.columns, |_, j| [re[(0, j)][0], im[(0, j)][0]]))
}

/// Returns whole numbers, less the first one.
fn rounded(row: &Matrix, first: i64) -> Vec<i64> {
    row.data.iter().map(|x| whole(x[0]).unwrap_or(-1) - first).collect()
}

/// Returns the result of an elementwise op, with the numbers of what it hands on.
pub(super) fn followed(op: &Op, operands: &[&Range], range: Range) -> Leaves {
    let origin = range.origin.clone().or_else(|| of_sum(op, operands));
    let origin = origin.or_else(|| of_parts(op, operands, &range));
    vec![Range { origin, ..range }]
}

/// Returns the numbers of complex numbers of which both parts are elements of factors.
fn of_parts(op: &Op, operands: &[&Range], range: &Range) -> Option<Literal> {
    let (Op::Binary(Binary::Complex), [re, im]) = (op, operands) else { return None };
    let (re, im) = (re.origin.as_ref()?, im.origin.as_ref()?);
    let each = |at: usize| match (number(re, at), number(im, at)) {
        (Some(re), Some(im)) => [f64::from(re), f64::from(im)],
        (..) => [0.0; 2],
    };
    Some(array(range.shape()?, (0..range.lo.len()).flat_map(each)))
}

/// Returns the numbers of a sum: an element to which 0 is added is what it was.
fn of_sum(op: &Op, operands: &[&Range]) -> Option<Literal> {
    let (Op::Binary(Binary::Add), [x, y]) = (op, operands) else { return None };
    let is_number = |range: &Range| range.shape().is_some_and(|shape| !is_whole(shape.ty));
    if x.origin.is_none() && y.origin.is_none() || !is_number(x) || x.lo.len() != y.lo.len() {
        return None;
    }
    let zero = |range: &Range, at: usize| {
        range.candidates.is_empty()
            && range.is_point_at(at)
            && parts_of(range.lo.get(at)) == [0.0; 2]
    };
    let own = |range: &Range, at: usize| number(range.origin.as_ref()?, at);
    let each = |at: usize| match (zero(x, at), zero(y, at)) {
        (false, true) => own(x, at),
        (true, false) => own(y, at),
        (true, true) | (false, false) => None,
    };
    numbered(x, (0..x.lo.len()).map(|at| each(at).unwrap_or(0)))
}

/// Returns the numbers of what an op moves: those of its data, and none of other operands.
pub(super) fn operands_of(data: &[&Range], others: &[&Range]) -> Option<Vec<Literal>> {
    if !data.iter().any(|range| range.origin.is_some()) {
        return None;
    }
    let own: Option<Vec<Literal>> = data.iter().map(|range| range.numbers()).collect();
    own.map(|own| own.into_iter().chain(others.iter().map(|range| range.lo.clone())).collect())
}
