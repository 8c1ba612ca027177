//! Decompositions of large matrices for the engine `fast`: in the type of the elements, by `faer`,
//! or in blocks whose products it forms.
//!
//! | file | routines |
//! |---|---|
//! | `elimination.rs` | `getrf` |
//! | `reflections.rs` | `geqrf`, `orgqr`, `ungqr` |
//! | `hermitian.rs` | `syevd`, `heevd` |
//! | `singular.rs` | `gesdd`, `gesvd` |
//! | `general.rs` | `geev` |
//!
//! Small matrices, those with a NaN or an infinity, and those for which a step here divides by
//! zero, overflows or does not converge are left to the algorithms of `exact`, which define the
//! results there. One thread computes, so the bits do not depend on the number of threads.
mod element;
mod elimination;
mod general;
mod hermitian;
mod reflections;
mod singular;
#[cfg(test)]
mod tests;

use super::RoutineCall;
use super::number::{Complex, LapackFloat};
use crate::{Error, Result};
pub(super) use element::{Element, HasEigen};
use faer::dyn_stack::{MemBuffer, StackReq};
use faer::{Mat, MatMut, MatRef};
use hlo::{ElementType, Scalar};

/// Rows and columns from which these are faster.
const LARGE: usize = 64;

/// Bytes that a product of matrices packs its operands into, at most.
const PACKED: usize = 4 << 20;

/// Returns whether `fast` computes a routine here, for finite matrices of this size.
pub(super) fn has(routine: &str, (rows, cols): (usize, usize)) -> bool {
    let known = ["getrf", "geqrf", "orgqr", "ungqr", "syevd", "heevd", "gesdd", "gesvd", "geev"];
    known.contains(&routine) && rows.min(cols) >= LARGE
}

/// Returns the bytes that a routine works in.
pub(super) fn scratch(routine: &str, ty: ElementType, (rows, cols): (usize, usize)) -> usize {
    if !has(routine, (rows, cols)) {
        return 0;
    }
    let own = match (ty.is_complex(), ty.component() == ElementType::F64) {
        (false, false) => bytes::<f32>,
        (false, true) => bytes::<f64>,
        (true, false) => bytes::<faer::c32>,
        (true, true) => bytes::<faer::c64>,
    };
    own(routine, (rows, cols)).saturating_add(PACKED)
}

fn bytes<S: Element>(routine: &str, (rows, cols): (usize, usize)) -> usize {
    let matrix = |rows: usize, cols: usize| {
        rows.saturating_add(LARGE).saturating_mul(cols).saturating_mul(size_of::<S>())
    };
    let own = matrix(rows, cols);
    let (matrices, request) = match routine {
        "getrf" => (own.saturating_add(3 * rows * size_of::<usize>()), StackReq::EMPTY),
        "syevd" | "heevd" => (own.saturating_mul(2), hermitian::request::<S>(rows)),
        "gesdd" | "gesvd" => {
            let all = own.saturating_add(matrix(rows, rows)).saturating_add(matrix(cols, cols));
            (all, singular::request::<S>(rows, cols))
        }
        "geev" => {
            // Both bases as computed, and as complex numbers.
            let found = rows.saturating_mul(cols).saturating_mul(2 * size_of::<Complex>());
            let all = own.saturating_mul(6).saturating_add(found);
            (all, <S::Double as HasEigen>::request(rows))
        }
        _ => (
            own.saturating_mul(2).saturating_add(reflections::bytes::<S>(rows, cols)),
            StackReq::EMPTY,
        ),
    };
    matrices.saturating_add(request.unaligned_bytes_required())
}

/// Solves one problem of the batch; `false` if nothing was stored.
pub(super) fn solve<S: Element>(
    run: &mut RoutineCall<'_>,
    routine: &str,
    problem: usize,
) -> Result<bool> {
    let n = run.checked.size('n');
    let m = if ["syevd", "heevd", "geev"].contains(&routine) { n } else { run.checked.size('m') };
    if !has(routine, (m, n)) {
        return Ok(false);
    }
    let a: &[S] = bytemuck::cast_slice(run.checked.elements::<S::Stored>(0, problem));
    if !a.iter().all(|x| x.wide().is_finite()) {
        return Ok(false);
    }
    let found = match routine {
        "getrf" => getrf(run, a, (m, n)),
        "geqrf" => geqrf(run, a, (m, n)),
        "orgqr" | "ungqr" => return orgqr(run, a, (m, n), problem),
        "syevd" | "heevd" => return syevd(run, a, n),
        "gesdd" | "gesvd" => return gesdd(run, a, (m, n)),
        "geev" => return geev(run, a, n),
        other => return Err(Error::internal(format!("`{other}` is in the list of routines"))),
    };
    Ok(found.is_some())
}

fn getrf<S: Element>(run: &mut RoutineCall<'_>, a: &[S], sides: (usize, usize)) -> Option<()> {
    let (factors, pivots) = elimination::getrf(a, sides)?;
    store(run, 0, factors.as_ref());
    run.checked.give(1, pivots.iter().map(|&p| Scalar::Signed(p.into())));
    run.info(2, 0);
    Some(())
}

fn geqrf<S: Element>(run: &mut RoutineCall<'_>, a: &[S], sides: (usize, usize)) -> Option<()> {
    let (factors, taus) = reflections::geqrf(a, sides)?;
    store(run, 0, factors.as_ref());
    run.checked.give(1, taus.iter().map(|x| x.wide().scalar()));
    Some(())
}

fn orgqr<S: Element>(
    run: &mut RoutineCall<'_>,
    a: &[S],
    (m, n): (usize, usize),
    problem: usize,
) -> Result<bool> {
    let taus: &[S] = bytemuck::cast_slice(run.checked.elements::<S::Stored>(1, problem));
    run.sizes(taus.len() <= n && n <= m, "k <= n <= m")?;
    let Some(basis) = reflections::orgqr(a, (m, n), taus) else { return Ok(false) };
    store(run, 0, basis.as_ref());
    Ok(true)
}

fn syevd<S: Element>(run: &mut RoutineCall<'_>, a: &[S], n: usize) -> Result<bool> {
    let lower = run.letter("uplo", "LU")? == 'L';
    let vectors_too = run.letter("mode", "NV")? == 'V';
    let Some((values, vectors)) = hermitian::eigh(a, n, lower, vectors_too) else {
        return Ok(false);
    };
    match vectors {
        Some(vectors) => store(run, 0, vectors.as_ref()),
        None => store(run, 0, MatRef::from_row_major_slice(a, n, n)),
    }
    run.checked.give(1, values.iter().map(|&x| Scalar::Float(x)));
    run.info(2, 0);
    Ok(true)
}

fn gesdd<S: Element>(run: &mut RoutineCall<'_>, a: &[S], (m, n): (usize, usize)) -> Result<bool> {
    let mode = run.singular_vectors(m, n)?;
    let counts = (mode != 'N').then(|| (run.checked.size('u'), run.checked.size('v')));
    let Some((values, vectors)) = singular::svd(a, (m, n), counts) else { return Ok(false) };
    // LAPACK does not specify the final contents of the operand.
    store(run, 0, MatRef::from_row_major_slice(a, m, n));
    run.checked.give(1, values.iter().map(|&x| Scalar::Float(x)));
    match vectors {
        Some((u, v)) => {
            store(run, 2, u.as_ref());
            let vh = Mat::from_fn(v.ncols(), n, |i, j| v[(j, i)].conjugate());
            store(run, 3, vh.as_ref());
        }
        None => {
            run.checked.fill(2, 0.0);
            run.checked.fill(3, 0.0);
        }
    }
    run.info(4, 0);
    Ok(true)
}

fn geev<S: Element>(run: &mut RoutineCall<'_>, a: &[S], n: usize) -> Result<bool> {
    let left = run.letter("compute_left", "NV")? == 'V';
    let right = run.letter("compute_right", "NV")? == 'V';
    let Some((values, left, right)) = general::eig(a, n, left, right) else { return Ok(false) };
    let next = run.values::<S::Wide>(0, &values);
    for (result, vectors) in [(next, left), (next + 1, right)] {
        match vectors {
            Some(vectors) => run.matrix(result, &vectors),
            None => run.checked.fill(result, 0.0),
        }
    }
    run.info(next + 2, 0);
    Ok(true)
}

/// Stores a matrix as the next problem's part of a result.
fn store<S: Element>(run: &mut RoutineCall<'_>, result: usize, from: MatRef<'_, S>) {
    let place: &mut [S] = bytemuck::cast_slice_mut(run.checked.place::<S::Stored>(result));
    MatMut::from_row_major_slice_mut(place, from.nrows(), from.ncols()).copy_from(from);
}

/// Returns the matrix with these rows, one after another, in columns.
fn columns<S: Element>(rows: &[S], (m, n): (usize, usize)) -> Mat<S> {
    MatRef::from_row_major_slice(rows, m, n).to_owned()
}

/// Returns the matrix if all its elements are finite.
fn finite<S: Element>(a: Mat<S>) -> Option<Mat<S>> {
    let all = (0..a.ncols()).all(|j| (0..a.nrows()).all(|i| a[(i, j)].wide().is_finite()));
    all.then_some(a)
}

/// Returns the power of two that divides the matrix so that its largest element is near 1: no
/// square overflows, and none vanishes that counts.
fn power<S: Element>(a: &[S]) -> f64 {
    let largest = a.iter().map(|x| x.wide().size()).fold(0.0, f64::max);
    if largest == 0.0 {
        return 1.0;
    }
    f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000).max(f64::MIN_POSITIVE)
}

/// Returns memory to work in.
fn memory(request: StackReq) -> MemBuffer {
    MemBuffer::new(request)
}
