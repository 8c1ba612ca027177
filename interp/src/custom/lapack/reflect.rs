//! `geqrf`, `geqp3`, `orgqr`, `ormqr`, `gehrd`, `sytrd`: Householder reflections.
//!
//! A reflection is `H = I - tau v v^H` with `v[0] = 1`, which is not stored. It maps `x` to
//! `(beta, 0, ...)` by `H^H x`, where `beta` is real and of the sign opposite to `re x[0]`. If all
//! but `x[0]` is zero, and `x[0]` is real, `tau` is 0 and nothing is reflected. These signs are
//! LAPACK's.
use super::number::{LapackFloat, Matrix, Rows, Terms, hypot, length};
use num::clock::Stop;
use std::ops::Range;

pub(super) struct Reflection<N> {
    pub(super) beta: N,
    pub(super) tau: N,
    /// The rest of `v` is the rest of `x` times both.
    power: f64,
    scale: N,
}

/// Returns the reflection of `x`.
pub(super) fn reflection<N: LapackFloat>(
    first: N,
    rest: impl Iterator<Item = N> + Clone,
) -> Reflection<N> {
    /// The reciprocal of a shorter vector could overflow.
    const SHORT: f64 = f64::MIN_POSITIVE / f64::EPSILON;
    let below = length(rest.clone());
    if below == 0.0 && first.im() == 0.0 {
        return Reflection { beta: first, tau: N::ZERO, power: 1.0, scale: N::ZERO };
    }
    let whole = hypot(hypot(first.re(), first.im()), below);
    if whole < SHORT {
        let power = 1.0 / f64::MIN_POSITIVE;
        let long = reflection(
            first.times(power),
            rest.map(|x| x.times(power)).collect::<Vec<_>>().into_iter(),
        );
        return Reflection { beta: long.beta.times(f64::MIN_POSITIVE), power, ..long };
    }
    let beta = if first.re().is_sign_negative() { whole } else { -whole };
    let tau = N::of((beta - first.re()) / beta, -first.im() / beta);
    let scale = N::ONE.over(first - N::real(beta));
    Reflection { beta: N::real(beta), tau, power: 1.0, scale }
}

impl<N: LapackFloat> Reflection<N> {
    /// Returns an element of the rest of `v`. A complex number times zero is zero, also an
    /// infinity, as in the BLAS that JAX runs; LAPACK leaves this open.
    pub(super) fn scaled(&self, x: N) -> N {
        let is_complex = N::of(0.0, 1.0) != N::ZERO;
        let is_zero = is_complex && self.scale == N::ZERO;
        if is_zero { N::ZERO } else { x.times(self.power) * self.scale }
    }
}

/// Returns `v` without zeros at its end: rows at which nothing is reflected stay as they are, also
/// beside a NaN.
fn without_zeros<N: LapackFloat>(v: &[N]) -> &[N] {
    &v[..v.iter().rposition(|&x| x != N::ZERO).map_or(0, |last| last + 1)]
}

/// `a[rows, cols] = (I - tau v v^H) a[rows, cols]`, `v` as long as there are rows.
pub(super) fn from_left<N: LapackFloat>(
    a: &mut Matrix<N>,
    v: &[N],
    tau: N,
    first_row: usize,
    cols: Range<usize>,
) {
    if tau == N::ZERO || cols.is_empty() || Stop::current().is_set() {
        return;
    }
    let (v, size) = (without_zeros(v), a.cols);
    let rows = &mut a.data[first_row * size..];
    let mut shares = vec![N::ZERO; cols.len()];
    let terms = v.iter().zip(rows.chunks(size));
    let terms = terms.map(|(v, row)| (-v.conj(), &row[cols.clone()]));
    N::subtract(&mut shares, &terms.collect::<Terms<'_, N>>());
    for share in &mut shares {
        *share = tau * *share;
    }
    let rows = Rows { data: &mut rows[..v.len() * size], stride: size, columns: cols };
    N::subtract_product(rows, v, &[&shares]);
}

/// `a[rows, cols] = a[rows, cols] (I - tau v v^H)`, `v` as long as there are columns.
pub(super) fn from_right<N: LapackFloat>(
    a: &mut Matrix<N>,
    v: &[N],
    tau: N,
    rows: Range<usize>,
    first_col: usize,
) {
    if tau == N::ZERO || rows.is_empty() || Stop::current().is_set() {
        return;
    }
    let (size, count) = (a.cols, without_zeros(v).len());
    let conjugates: Vec<N> = v[..count].iter().map(|x| x.conj()).collect();
    let columns = first_col..first_col + count;
    let data = &mut a.data[rows.start * size..rows.end * size];
    let share = |row: &[N]| N::inner(&conjugates, &row[columns.clone()]) * tau;
    let shares: Vec<N> = data.chunks(size).map(share).collect();
    N::subtract_product(Rows { data, stride: size, columns }, &shares, &[&conjugates]);
}

/// `a[block, block] = (I - tau v v^H)^H a[block, block] (I - tau v v^H)` for a Hermitian block, `v`
/// as long as it has rows.
fn from_both<N: LapackFloat>(a: &mut Matrix<N>, v: &[N], tau: N, block: Range<usize>) {
    if tau == N::ZERO || Stop::current().is_set() {
        return;
    }
    let (v, size) = (without_zeros(v), a.cols);
    let rows = &mut a.data[block.start * size..block.end * size];
    // The conjugates of `tau a v`: a row of a Hermitian matrix is the conjugate of a column.
    let mut image = vec![N::ZERO; block.len()];
    let terms = v.iter().zip(rows.chunks(size));
    let terms = terms.map(|(v, row)| (-v.conj(), &row[block.clone()]));
    N::subtract(&mut image, &terms.collect::<Terms<'_, N>>());
    for x in &mut image {
        *x = tau.conj() * *x;
    }
    let conjugates: Vec<N> = v.iter().map(|x| x.conj()).collect();
    // `w = x - tau/2 (x^H v) v`, of which the conjugates are kept.
    let half = (tau.conj() * N::inner(&conjugates, &image[..v.len()]).conj()).times(-0.5);
    for (x, &v) in image.iter_mut().zip(&conjugates) {
        *x = *x + half * v;
    }
    for (i, row) in rows.chunks_mut(size).enumerate() {
        let row = &mut row[block.clone()];
        let share = (image[i].conj(), &conjugates[..]);
        match v.get(i) {
            Some(&v) => {
                let (front, back) = row.split_at_mut(conjugates.len());
                N::subtract(front, &[(v, &image[..front.len()]), share]);
                N::subtract(back, &[(v, &image[front.len()..])]);
            }
            None => N::subtract(&mut row[..conjugates.len()], &[share]),
        }
    }
}

/// Returns `v` of the reflection whose rest is in column `col` below row `first`.
fn stored<N: LapackFloat>(a: &Matrix<N>, first: usize, end: usize, col: usize) -> Vec<N> {
    std::iter::once(N::ONE).chain((first + 1..end).map(|i| a[(i, col)])).collect()
}

/// Reflects column `col` from row `first` to before row `end` onto its first element; returns `v`
/// and `tau`.
fn reflect<N: LapackFloat>(a: &mut Matrix<N>, first: usize, end: usize, col: usize) -> (Vec<N>, N) {
    let found = reflection(a[(first, col)], (first + 1..end).map(|i| a[(i, col)]));
    a[(first, col)] = found.beta;
    if found.tau != N::ZERO {
        (first + 1..end).for_each(|i| a[(i, col)] = found.scaled(a[(i, col)]));
    }
    (stored(a, first, end, col), found.tau)
}

/// `geqrf`: `a = q r`. `r` is in the upper triangle, the reflections `q = H(1) H(2) ...` below it;
/// returns their `tau`. The diagonal of `r` is real, with the signs that the reflections give.
pub(super) fn geqrf<N: LapackFloat>(a: &mut Matrix<N>) -> Vec<N> {
    (0..a.rows.min(a.cols)).map(|k| eliminate(a, k)).collect()
}

fn eliminate<N: LapackFloat>(a: &mut Matrix<N>, k: usize) -> N {
    let (rows, cols) = (a.rows, a.cols);
    let (v, tau) = reflect(a, k, rows, k);
    from_left(a, &v, tau.conj(), k, k + 1..cols);
    tau
}

/// `geqp3`: `a p = q r` with columns exchanged so that each step takes the longest remaining one,
/// the first of several equal ones. Columns whose entry in `pivots` is not 0 are first moved to the
/// front, in their order. `pivots` then holds the 1-based original number of each column.
pub(super) fn geqp3<N: LapackFloat>(a: &mut Matrix<N>, pivots: &mut [i32]) -> Vec<N> {
    let mut fixed = 0;
    let leading: Vec<bool> = pivots.iter().map(|&p| p != 0).collect();
    for (j, pivot) in pivots.iter_mut().enumerate() {
        *pivot = super::direct::order(j);
    }
    for (j, &leading) in leading.iter().enumerate() {
        if leading {
            a.swap_columns(j, fixed);
            pivots.swap(j, fixed);
            fixed += 1;
        }
    }
    let mut taus = Vec::new();
    let stop = Stop::current();
    // The lengths of the remaining columns, and what they were when they were last computed.
    let mut lengths: Vec<[f64; 2]> = Vec::new();
    for k in 0..a.rows.min(a.cols) {
        let left = |a: &Matrix<N>, j: usize, first: usize| [length(a.column(j).skip(first)); 2];
        if k == fixed {
            lengths = (0..a.cols).map(|j| left(a, j, k)).collect();
        }
        if k >= fixed && !stop.is_set() {
            let mut best = k;
            for j in k + 1..a.cols {
                if lengths[j][0] > lengths[best][0] {
                    best = j;
                }
            }
            a.swap_columns(k, best);
            pivots.swap(k, best);
            lengths.swap(k, best);
        }
        taus.push(eliminate(a, k));
        for (j, column) in lengths.iter_mut().enumerate().skip(k + 1) {
            // What cancels most of a length leaves too few of its digits.
            let [now, then] = *column;
            let rest = 1.0 - (a[(k, j)].abs() / now).powi(2);
            if rest * (now / then).powi(2) > 1e-8 {
                column[0] = now * rest.sqrt();
            } else if now != 0.0 {
                *column = left(a, j, k + 1);
            }
        }
    }
    taus
}

/// `orgqr`, `ungqr`: the first columns of `q = H(1) H(2) ... H(k)`, as many as `a` has, from the
/// reflections below the diagonal of `a`.
pub(super) fn orgqr<N: LapackFloat>(a: &Matrix<N>, taus: &[N]) -> Matrix<N> {
    let mut q = Matrix::identity(a.rows, a.cols);
    for (k, &tau) in taus.iter().enumerate().rev() {
        let v = stored(a, k, a.rows, k);
        // The columns before are those of the identity.
        from_left(&mut q, &v, tau, k, k..a.cols);
    }
    q
}

/// `ormqr`, `unmqr`: `q c`, `q^H c`, `c q` or `c q^H`, from the reflections below the diagonal of
/// `a`.
pub(super) fn ormqr<N: LapackFloat>(
    a: &Matrix<N>,
    taus: &[N],
    c: &mut Matrix<N>,
    left: bool,
    transpose: bool,
) {
    let mut order: Vec<usize> = (0..taus.len()).collect();
    if left != transpose {
        order.reverse();
    }
    for k in order {
        let v = stored(a, k, a.rows, k);
        let tau = if transpose { taus[k].conj() } else { taus[k] };
        if left {
            let cols = 0..c.cols;
            from_left(c, &v, tau, k, cols);
        } else {
            let rows = 0..c.rows;
            from_right(c, &v, tau, rows, k);
        }
    }
}

/// `gehrd`: `a = q h q^H` with zeros below the first subdiagonal of `h`, between rows `low` and
/// `high` (from 0, the last one included). The reflections are stored below that subdiagonal;
/// returns their `tau`, 0 for those outside.
pub(super) fn gehrd<N: LapackFloat>(a: &mut Matrix<N>, low: usize, high: usize) -> Vec<N> {
    let n = a.rows;
    let mut taus = vec![N::ZERO; n.saturating_sub(1)];
    for (k, slot) in taus.iter_mut().enumerate().take(high).skip(low) {
        let (v, tau) = reflect(a, k + 1, high + 1, k);
        from_right(a, &v, tau, 0..high + 1, k + 1);
        from_left(a, &v, tau.conj(), k + 1, k + 1..n);
        *slot = tau;
    }
    taus
}

/// Returns the `q` of [`gehrd`].
pub(super) fn hessenberg_basis<N: LapackFloat>(a: &Matrix<N>, taus: &[N]) -> Matrix<N> {
    let n = a.rows;
    let mut q = Matrix::identity(n, n);
    for (k, &tau) in taus.iter().enumerate().rev() {
        let v = stored(a, k + 1, n, k);
        from_left(&mut q, &v, tau, k + 1, k + 1..n);
    }
    q
}
/// Returns the product of the `q` of [`sytrd`], of a lower triangle, with a matrix.
pub(super) fn with_basis<N: LapackFloat>(
    a: &Matrix<N>,
    taus: &[N],
    mut matrix: Matrix<N>,
) -> Matrix<N> {
    for (k, &tau) in taus.iter().enumerate().rev() {
        let (v, columns) = (stored(a, k + 1, a.rows, k), 0..matrix.cols);
        from_left(&mut matrix, &v, tau, k + 1, columns);
    }
    matrix
}

/// `sytrd`, `hetrd`: `a = q t q^H` with `t` real and tridiagonal, of a Hermitian matrix of which
/// one triangle is read. `t` is on the diagonal and next to it, the reflections in the rest of that
/// triangle. Returns the diagonal, the subdiagonal, and the `tau`.
pub(super) fn sytrd<N: LapackFloat>(
    a: &mut Matrix<N>,
    lower: bool,
) -> (Vec<f64>, Vec<f64>, Vec<N>) {
    let n = a.rows;
    let mut full = hermitian(a, lower);
    let (mut adjacent, mut taus) =
        (vec![0.0; n.saturating_sub(1)], vec![N::ZERO; n.saturating_sub(1)]);
    for step in 1..n {
        // From the first column down, or from the last one up, where the 1 of `v` is its last
        // element.
        let col = if lower { step - 1 } else { n - step };
        let first = if lower { col + 1 } else { col - 1 };
        let rest: Vec<usize> = if lower { (col + 2..n).collect() } else { (0..first).collect() };
        let found = reflection(full[(first, col)], rest.iter().map(|&i| full[(i, col)]));
        let (beta, tau) = (found.beta, found.tau);
        let mut v = vec![N::ZERO; n];
        v[first] = N::ONE;
        for &i in &rest {
            v[i] = found.scaled(full[(i, col)]);
            a[(i, col)] = v[i];
        }
        // What is reflected: the rows and columns that come after this step.
        let block = if lower { first..n } else { 0..first + 1 };
        from_both(&mut full, &v[block.clone()], tau, block);
        // Elements that are mathematically zero or real are set to be exactly so.
        for &i in &rest {
            (full[(i, col)], full[(col, i)]) = (N::ZERO, N::ZERO);
        }
        (full[(first, col)], full[(col, first)]) = (beta, beta);
        a[(first, col)] = beta;
        let at = first.min(col);
        adjacent[at] = beta.re();
        taus[at] = tau;
    }
    for i in 0..n {
        a[(i, i)] = N::real(full[(i, i)].re());
    }
    ((0..n).map(|i| full[(i, i)].re()).collect(), adjacent, taus)
}

/// Returns the full Hermitian matrix of which one triangle is given.
pub(super) fn hermitian<N: LapackFloat>(a: &Matrix<N>, lower: bool) -> Matrix<N> {
    let mut full = a.clone();
    for i in 0..a.rows {
        full[(i, i)] = N::real(a[(i, i)].re());
        for j in 0..i {
            if lower {
                full[(j, i)] = a[(i, j)].conj();
            } else {
                full[(i, j)] = a[(j, i)].conj();
            }
        }
    }
    full
}
