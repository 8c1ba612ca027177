//! The LAPACK and BLAS routines that JAX calls on a CPU: `lapack_{s,d,c,z}NAME_ffi`.
//!
//! | name | result | attributes |
//! |---|---|---|
//! | `potrf` | Cholesky factor | `uplo` |
//! | `trsm` | solution of a triangular system | `side`, `uplo`, `trans_x`, `diag` |
//! | `getrf` | `p a = l u` | |
//! | `geqrf`, `geqp3` | `a = q r`, `a p = q r` | |
//! | `orgqr`, `ungqr` | the `q` of those | |
//! | `ormqr`, `unmqr` | a product with `q` | `left`, `transpose` |
//! | `syevd`, `heevd` | eigenvectors and eigenvalues of a Hermitian matrix | `mode`, `uplo` |
//! | `gesdd`, `gesvd` | singular values and vectors | `mode` |
//! | `gees` | Schur form | `mode`, `sort` |
//! | `geev` | eigenvalues and eigenvectors | `compute_left`, `compute_right` |
//! | `gehrd` | Hessenberg form | `low`, `high` |
//! | `sytrd`, `hetrd` | tridiagonal form | `uplo` |
//! | `gtsv` | solution of a tridiagonal system | |
//!
//! Letters are given by their character code: `uplo = 76 : ui8` is `L`. Everything is computed in
//! f64 and rounded at the end; sums of f64 and c128 are compensated, but not in the engine `fast`,
//! which computes `potrf` and `trsm` in the type of the elements. Where LAPACK documents a sign
//! or an order it is kept: the signs of Householder reflections, 1-based pivots, ascending
//! eigenvalues, descending singular values. Where a matrix is not finite, the eigenvalues, singular
//! values and vectors are NaN and `info` is not 0, from which JAX makes NaN as well.
//!
//! The older names without `_ffi` took sizes as leading operands. They are rejected, with a pointer
//! to the new name.
#[cfg(feature = "faer")]
mod blocked;
mod direct;
mod geev;
mod jacobi;
mod matrix;
mod number;
mod plain;
mod reflect;
mod routines;
mod schur;
mod signature;
#[cfg(test)]
mod tests;

use super::StatedCall;
use super::dictionary::Dictionary;
use crate::{Error, Result};
use direct::{Bands, Triangle};
use hlo::ir::BackendConfig;
use hlo::{Array, ElementType, Scalar};
use kernels::side_by_side::MATRICES;
use kernels::triangle::FactorType;
use num::Arithmetic;
use num::clock::Stop;
use num::index::to_usize;
use num::parallel::{parts, threads};
use number::{Complex, LapackFloat, Matrix, Plain};
pub(super) use routines::{LU, PERTURBED, is_cubic, is_exact_in_fast, scratch, targets};
use routines::{ROUTINES, TYPES};
use schur::{HasSchur, eigenvalues};
use signature::{CheckedCall, CheckedShapes, Places};
use std::ops::Range;
use std::sync::OnceLock;

/// A call of a routine: what follows from its instruction.
#[derive(Debug)]
pub(super) struct LapackCall {
    target: String,
    routine: &'static str,
    ty: ElementType,
    attributes: Dictionary,
    shapes: CheckedShapes,
    arithmetic: Arithmetic,
    scratch: usize,
    /// What [`RoutineCall::triangle`] found.
    triangle: OnceLock<(Triangle, bool)>,
}

/// Returns the call if its target is one of these, or one of XLA's that runs a routine.
pub(super) fn prepared(
    call: &StatedCall<'_>,
    arithmetic: Arithmetic,
) -> Option<Result<LapackCall>> {
    let target = call.op.custom_call_target.0.as_str();
    if let Some(&of_xla) = OF_XLA.iter().find(|(name, ..)| *name == target) {
        return Some(prepared_as(call, of_xla));
    }
    let name = target.strip_prefix("lapack_")?;
    let letter = name.chars().next()?;
    let (_, ty) = TYPES.into_iter().find(|&(l, _)| l == letter)?;
    let stem = &name[1..];
    let routine = stem.strip_suffix("_ffi").unwrap_or(stem);
    let &(routine, real, complex, _) = ROUTINES.iter().find(|&&(name, ..)| name == routine)?;
    let signature = if ty.is_complex() { complex } else { real };
    if signature.is_empty() {
        return None;
    }
    if !stem.ends_with("_ffi") {
        return Some(Err(Error::unsupported(format!(
            "custom call `{target}` is from an older JAX, with sizes as operands; only `{target}_ffi` is supported"
        ))));
    }
    Some(LapackCall::new(call, routine, (signature, ty), arithmetic))
}

/// XLA's targets: their names, the routines, and signatures. The type of a routine is that of the
/// first operand.
const OF_XLA: [(&str, &str, &str); 5] = [
    ("Qr", "geqrf", "T[m,n] -> T[m,n] T[p]"),
    ("ProductOfElementaryHouseholderReflectors", "orgqr", "T[m,n] T[k] -> T[m,n]"),
    ("Eigh", "syevd", "T[n,n] -> T[n,n] R[n]"),
    (LU, LU, "T[m,n] -> T[m,n] I[p] I[m]"),
    (PERTURBED, PERTURBED, "T[n] T[n] T[n] T[n,k] -> T[n,k]"),
];

/// Returns the call of a target of XLA.
fn prepared_as(
    call: &StatedCall<'_>,
    (target, routine, signature): (&str, &'static str, &'static str),
) -> Result<LapackCall> {
    let own = call.operands.first().and_then(|o| o.array()).map(|shape| shape.ty);
    let attributes = if target == "Eigh" { attributes_of_eigh(call)? } else { "" };
    let Some((_, ty)) = TYPES.into_iter().find(|&(_, ty)| Some(ty) == own) else {
        return Err(call.mismatch("a matrix of f32, f64, c64 or c128"));
    };
    let attributes = BackendConfig(attributes.to_owned());
    let call = StatedCall { backend_config: Some(&attributes), ..*call };
    LapackCall::new(&call, routine, (signature, ty), Arithmetic::Exact)
}

/// Returns the attributes of `syevd` for a call of `Eigh`.
fn attributes_of_eigh(call: &StatedCall<'_>) -> Result<&'static str> {
    let opaque = call.op.opaque.as_ref().map(|text| text.0.as_str());
    let config = call.backend_config.map(|config| config.0.as_str()).or(opaque).unwrap_or_default();
    match config.split(',').next().map(str::trim) {
        Some("1") => Ok("{mode = 86, uplo = 76}"),
        Some("0") => Ok("{mode = 86, uplo = 85}"),
        _ => Err(call.mismatch(&format!("a config like `1,1,100,1e-6`, not `{config}`,"))),
    }
}

impl LapackCall {
    fn new(
        call: &StatedCall<'_>,
        routine: &'static str,
        (signature, ty): (&'static str, ElementType),
        arithmetic: Arithmetic,
    ) -> Result<Self> {
        let target = call.op.custom_call_target.0.to_string();
        let shapes = CheckedShapes::new(call, signature, ty)?;
        let attributes = Dictionary::parse(&target, call.backend_config)?;
        let scratch = scratch(&target, call.operands, call.shape, arithmetic);
        let triangle = OnceLock::new();
        Ok(Self { target, routine, ty, attributes, shapes, arithmetic, scratch, triangle })
    }

    /// Returns the bytes that it works in.
    pub(super) fn scratch(&self) -> usize {
        self.scratch
    }
    pub(super) fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Writes the results of operands that have the stated shapes.
    pub(super) fn run(&self, operands: &[&Array], results: &mut [Array]) -> Result<()> {
        let batch = self.shapes.batch;
        // Threads share the problems; small ones are solved in groups.
        let numbers = operands.first().map_or(0, |a| a.len()).checked_div(batch).unwrap_or(0);
        let of_lanes = if self.is_side_by_side() { MATRICES } else { 1 };
        let together = (SMALL / numbers.max(1)).clamp(1, batch.div_ceil(4 * threads()).max(1));
        let together = together.next_multiple_of(of_lanes);
        if batch == 1 {
            let places = results.iter_mut().map(|result| (result.bytes_mut(), 0)).collect();
            return self.solve(operands, 0..1, places);
        }
        let mut places: Vec<_> = results
            .iter_mut()
            .map(|result| {
                let bytes = result.bytes_mut();
                let size = bytes.len().checked_div(batch).unwrap_or(0) * together;
                bytes.chunks_mut(size.max(1))
            })
            .collect();
        let groups = (0..batch.div_ceil(together)).map(|_| {
            (places.iter_mut().map(|x| (x.next().unwrap_or_default(), 0)).collect(), Ok(()))
        });
        let mut groups: Vec<(Places<'_>, Result<()>)> = groups.collect();
        parts(&mut groups, (1, 1), |number, group| {
            for (places, result) in group {
                let first = number * together;
                let problems = first..batch.min(first + together);
                *result = self.solve(operands, problems, std::mem::take(places));
            }
        });
        groups.into_iter().try_for_each(|(_, result)| result)
    }

    /// Solves some problems.
    fn solve<'a>(
        &'a self,
        operands: &'a [&'a Array],
        mut problems: Range<usize>,
        results: Places<'a>,
    ) -> Result<()> {
        let checked = CheckedCall { shapes: &self.shapes, operands, results };
        let (mut run, stop) = (RoutineCall { call: self, checked }, Stop::current());
        if self.is_side_by_side() && problems.len() > 1 {
            return run.side_by_side(problems);
        }
        problems.try_for_each(|problem| match stop.is_set() {
            true => Ok(()),
            false => run.alone(problem),
        })
    }
}

/// Numbers of the matrices that a thread takes at a time, at least.
const SMALL: usize = 1 << 9;

/// A call being run.
struct RoutineCall<'a> {
    call: &'a LapackCall,
    checked: CheckedCall<'a>,
}

fn scalars<N: LapackFloat>(numbers: &[N]) -> impl Iterator<Item = Scalar> + '_ {
    numbers.iter().map(|x| x.scalar())
}

impl RoutineCall<'_> {
    /// Solves the next problem by itself.
    fn alone(&mut self, problem: usize) -> Result<()> {
        let LapackCall { routine, ty, arithmetic, .. } = *self.call;
        // Sums are compensated where the elements have the precision of the sums.
        let is_plain = arithmetic == Arithmetic::Fast || ty.component() == ElementType::F32;
        match (ty.is_complex(), is_plain) {
            (false, false) => self.solve::<f64>(routine, problem),
            (false, true) => self.solve::<Plain<f64>>(routine, problem),
            (true, false) => self.solve::<Complex>(routine, problem),
            (true, true) => self.solve::<Plain<Complex>>(routine, problem),
        }
    }
    /// Returns the letter that an attribute holds, which must be one of `letters`.
    fn letter(&self, name: &str, letters: &str) -> Result<char> {
        let code = self.call.attributes.integer(name).and_then(|code| u8::try_from(code).ok());
        code.map(char::from).filter(|&c| letters.contains(c)).ok_or_else(|| {
            let list: Vec<String> =
                letters.chars().map(|c| format!("{} ('{c}')", u32::from(c))).collect();
            self.mismatch(name, &list.join(" or "))
        })
    }
    fn mismatch(&self, name: &str, what: &str) -> Error {
        let (target, found) = (&self.call.target, self.call.attributes.shown(name));
        Error::unsupported(format!(
            "custom call `{target}` expects `{name}` to be {what}, found {found}"
        ))
    }
    fn boolean(&self, name: &str) -> Result<bool> {
        match self.call.attributes.integer(name) {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(self.mismatch(name, "true or false")),
        }
    }
    /// Stores `info`, unless the target has no such result.
    fn info(&mut self, result: usize, info: i32) {
        if result >= self.checked.results_count() {
            return;
        }
        self.checked.give(result, [Scalar::Signed(info.into())]);
    }
    fn matrix<N: LapackFloat>(&mut self, result: usize, matrix: &Matrix<N>) {
        self.checked.give_numbers(result, &matrix.data);
    }
    /// Stores NaN in all float results, and `info`.
    fn failed(&mut self, info: i32) {
        let floats = self.checked.float_results();
        for result in 0..self.checked.results_count() {
            if floats.contains(&result) {
                self.checked.fill(result, f64::NAN);
            } else {
                self.info(result, info);
            }
        }
    }

    /// Solves one problem of the batch.
    fn solve<N: HasSchur>(&mut self, routine: &str, problem: usize) -> Result<()> {
        match (routine, self.call.ty, self.call.arithmetic) {
            ("potrf" | "trsm", ElementType::F32, Arithmetic::Exact) => {
                return self.plain::<f32, f64>(routine, problem);
            }
            ("potrf" | "trsm", ElementType::F32, Arithmetic::Fast) => {
                return self.plain::<f32, f32>(routine, problem);
            }
            ("potrf" | "trsm", ElementType::F64, Arithmetic::Fast) => {
                return self.plain::<f64, f64>(routine, problem);
            }
            ("potrf" | "trsm", ElementType::C64, Arithmetic::Exact) => {
                return self.plain::<[f32; 2], [f64; 2]>(routine, problem);
            }
            ("potrf" | "trsm", ElementType::C64, Arithmetic::Fast) => {
                return self.plain::<[f32; 2], [f32; 2]>(routine, problem);
            }
            ("potrf" | "trsm", ElementType::C128, Arithmetic::Fast) => {
                return self.plain::<[f64; 2], [f64; 2]>(routine, problem);
            }
            (_, _, Arithmetic::Exact | Arithmetic::Fast) => {}
        }
        #[cfg(feature = "faer")]
        if self.call.arithmetic == Arithmetic::Fast && self.blocked(routine, problem)? {
            return Ok(());
        }
        let mut a = self.checked.matrix::<N>(0, problem);
        match routine {
            "potrf" => {
                let lower = self.letter("uplo", "LU")? == 'L';
                let info = direct::potrf(&mut a, lower);
                self.matrix(0, &a);
                self.info(1, info);
            }
            "trsm" => self.trsm(&a, problem)?,
            "getrf" => {
                let (pivots, info) = direct::getrf(&mut a);
                self.matrix(0, &a);
                self.checked.give(1, pivots.iter().map(|&p| Scalar::Signed(p.into())));
                self.info(2, info);
            }
            LU => {
                let (pivots, _) = direct::getrf(&mut a);
                self.matrix(0, &a);
                let mut rows: Vec<i64> = (0i64..).take(a.rows).collect();
                let pivots: Vec<i64> = pivots.iter().map(|&pivot| i64::from(pivot) - 1).collect();
                pivots.iter().enumerate().for_each(|(i, &pivot)| rows.swap(i, to_usize(pivot)));
                self.checked.give(1, pivots.into_iter().map(Scalar::Signed));
                self.checked.give(2, rows.into_iter().map(Scalar::Signed));
            }
            "geqrf" => {
                let taus = reflect::geqrf(&mut a);
                self.matrix(0, &a);
                self.checked.give(1, scalars(&taus));
            }
            "geqp3" => {
                let mut pivots = self.checked.integers(1, problem);
                let taus = reflect::geqp3(&mut a, &mut pivots);
                self.matrix(0, &a);
                self.checked.give(1, pivots.iter().map(|&p| Scalar::Signed(p.into())));
                self.checked.give(2, scalars(&taus));
            }
            "orgqr" | "ungqr" => {
                let taus = self.checked.matrix::<N>(1, problem).data;
                self.sizes(taus.len() <= a.cols && a.cols <= a.rows, "k <= n <= m")?;
                self.matrix(0, &reflect::orgqr(&a, &taus));
            }
            "ormqr" | "unmqr" => self.ormqr(&a, problem)?,
            "gtsv" | PERTURBED => self.tridiagonal::<N>(routine, problem),
            "gehrd" => self.gehrd(a)?,
            _ => return self.spectrum(routine, a),
        }
        Ok(())
    }

    /// Solves a problem in blocks of the type of the elements; `false` if it is left to the
    /// algorithms of `exact`.
    #[cfg(feature = "faer")]
    fn blocked(&mut self, routine: &str, problem: usize) -> Result<bool> {
        match (self.call.ty.is_complex(), self.call.ty.component() == ElementType::F64) {
            (false, false) => blocked::solve::<f32>(self, routine, problem),
            (false, true) => blocked::solve::<f64>(self, routine, problem),
            (true, false) => blocked::solve::<faer::c32>(self, routine, problem),
            (true, true) => blocked::solve::<faer::c64>(self, routine, problem),
        }
    }

    /// Runs the iterative routines, and those related.
    fn spectrum<N: HasSchur>(&mut self, routine: &str, mut a: Matrix<N>) -> Result<()> {
        match routine {
            "syevd" | "heevd" => {
                let lower = self.letter("uplo", "LU")? == 'L';
                let vectors_too = self.letter("mode", "NV")? == 'V';
                let Some((values, vectors)) = jacobi::eigh(&a, lower) else {
                    self.failed(1);
                    return Ok(());
                };
                self.matrix(0, if vectors_too { &vectors } else { &a });
                self.checked.give(1, scalars(&values));
                self.info(2, 0);
            }
            "gesdd" | "gesvd" => self.svd(&a)?,
            "gees" => {
                let vectors_too = self.letter("mode", "NV")? == 'V';
                self.letter("sort", "N")?;
                let Some((mut t, z, power)) = self.schur(a) else { return Ok(()) };
                let values: Vec<Complex> = eigenvalues(&t).iter().map(|x| x.times(power)).collect();
                t.scale(power);
                self.matrix(0, &t);
                self.matrix(1, &if vectors_too { z } else { Matrix::zeros(t.rows, t.rows) });
                let next = self.values::<N>(2, &values);
                self.info(next, 0);
                self.info(next + 1, 0);
            }
            "geev" => {
                let left = self.letter("compute_left", "NV")? == 'V';
                let right = self.letter("compute_right", "NV")? == 'V';
                let Some((t, z, power)) = self.schur(a) else { return Ok(()) };
                let values: Vec<Complex> = eigenvalues(&t).iter().map(|x| x.times(power)).collect();
                let next = self.values::<N>(0, &values);
                let none = || Matrix::zeros(t.rows, t.rows);
                self.matrix(next, &if left { geev::left(&t, &z) } else { none() });
                self.matrix(next + 1, &if right { geev::right(&t, &z) } else { none() });
                self.info(next + 2, 0);
            }
            "sytrd" | "hetrd" => {
                let lower = self.letter("uplo", "LU")? == 'L';
                let (diagonal, adjacent, taus) = reflect::sytrd(&mut a, lower);
                self.matrix(0, &a);
                self.checked.give(1, scalars(&diagonal));
                self.checked.give(2, scalars(&adjacent));
                self.checked.give(3, scalars(&taus));
                self.info(4, 0);
            }
            other => return Err(Error::internal(format!("`{other}` is in the list of routines"))),
        }
        Ok(())
    }

    fn sizes(&self, hold: bool, expected: &str) -> Result<()> {
        if hold {
            return Ok(());
        }
        let target = &self.call.target;
        Err(Error::unsupported(format!("custom call `{target}` expects sizes with {expected}")))
    }
    /// Returns the Schur form; if there is none, stores the failure as the results and returns
    /// `None`.
    fn schur<N: HasSchur>(&mut self, a: Matrix<N>) -> Option<(Matrix<N>, Matrix<N>, f64)> {
        schur::schur(a).map_err(|info| self.failed(info)).ok()
    }
    /// Stores eigenvalues as one result, or as two for a real matrix; returns the number of the
    /// next result.
    fn values<N: LapackFloat>(&mut self, first: usize, values: &[Complex]) -> usize {
        if N::of(0.0, 1.0) == N::ZERO {
            self.checked.give(first, values.iter().map(|x| Scalar::Float(x.re())));
            self.checked.give(first + 1, values.iter().map(|x| Scalar::Float(x.im())));
            return first + 2;
        }
        self.checked.give(first, scalars(values));
        first + 1
    }
    /// Solves one problem of elements of type `S` in numbers of type `R`, in sums that are not
    /// compensated.
    fn plain<S: plain::Element<R>, R: FactorType>(
        &mut self,
        routine: &str,
        problem: usize,
    ) -> Result<()> {
        if routine == "potrf" {
            let lower = self.letter("uplo", "LU")? == 'L';
            let a = self.checked.elements::<S>(0, problem);
            let info = plain::potrf(self.checked.size('n'), a, self.checked.place(0), lower);
            self.info(1, info);
            return Ok(());
        }
        let (how, right) = self.triangle()?;
        let a = self.checked.elements::<S>(0, problem);
        let b = self.checked.elements::<S>(1, problem);
        let sides = (self.checked.size('m'), self.checked.size('n'));
        plain::trsm((a, b), sides, self.checked.place(0), (how, right));
        Ok(())
    }
    /// Returns the triangle of `trsm`, and whether it is on the right, after a check of the sizes.
    fn triangle(&self) -> Result<(Triangle, bool)> {
        if let Some(&found) = self.call.triangle.get() {
            return Ok(found);
        }
        let right = self.letter("side", "LR")? == 'R';
        let transpose = self.letter("trans_x", "NTC")?;
        let how = Triangle {
            lower: self.letter("uplo", "LU")? == 'L',
            unit: self.letter("diag", "NU")? == 'U',
            transpose: transpose != 'N',
            conjugate: transpose == 'C',
        };
        let size = self.checked.size(if right { 'n' } else { 'm' });
        let fits = self.checked.size('a') == size && self.checked.size('b') == size;
        self.sizes(fits, "a square `a` that fits `b`")?;
        Ok(*self.call.triangle.get_or_init(|| (how, right)))
    }
    fn trsm<N: LapackFloat>(&mut self, a: &Matrix<N>, problem: usize) -> Result<()> {
        let (how, right) = self.triangle()?;
        let mut b = self.checked.matrix::<N>(1, problem);
        direct::trsm(a, &mut b, how, right);
        self.matrix(0, &b);
        Ok(())
    }
    fn ormqr<N: LapackFloat>(&mut self, a: &Matrix<N>, problem: usize) -> Result<()> {
        let (left, transpose) = (self.boolean("left")?, self.boolean("transpose")?);
        let taus = self.checked.matrix::<N>(1, problem).data;
        let mut c = self.checked.matrix::<N>(2, problem);
        let size = if left { c.rows } else { c.cols };
        self.sizes(
            a.rows == size && taus.len() <= size,
            "as many rows of `a` as `c` has on that side, and k at most that",
        )?;
        reflect::ormqr(a, &taus, &mut c, left, transpose);
        self.matrix(0, &c);
        Ok(())
    }
    fn gehrd<N: LapackFloat>(&mut self, mut a: Matrix<N>) -> Result<()> {
        let bound = |name| self.call.attributes.integer(name).and_then(|i| usize::try_from(i).ok());
        let fits = bound("low").zip(bound("high")).filter(|&(low, high)| {
            (1 <= low && low <= high && high <= a.rows) || (a.rows == 0 && low == 1 && high == 0)
        });
        let (low, high) = fits.ok_or_else(|| {
            self.mismatch("low", "at least 1 and at most `high`, with `high` at most n")
        })?;
        let taus = reflect::gehrd(&mut a, low - 1, high.saturating_sub(1));
        self.matrix(0, &a);
        self.checked.give(1, scalars(&taus));
        self.info(2, 0);
        Ok(())
    }
    /// Solves a tridiagonal system; one that may be singular has the solution as its only result.
    fn tridiagonal<N: LapackFloat>(&mut self, routine: &str, problem: usize) {
        let [mut dl, mut d, mut du] = [0, 1, 2].map(|i| self.checked.matrix::<N>(i, problem).data);
        let mut b = self.checked.matrix::<N>(3, problem);
        let mut bands = Bands { dl: &mut dl, d: &mut d, du: &mut du };
        if routine == PERTURBED {
            let is_wide = self.call.ty.component() == ElementType::F64;
            let (narrow, wide) = (
                (f32::EPSILON.into(), f32::MIN_POSITIVE.into()),
                (f64::EPSILON, f64::MIN_POSITIVE),
            );
            direct::perturbed(&mut bands, &mut b, if is_wide { wide } else { narrow });
            return self.matrix(0, &b);
        }
        let info = direct::gtsv(&mut bands, &mut b);
        for (result, band) in [dl, d, du].iter().enumerate() {
            self.checked.give(result, scalars(band));
        }
        self.matrix(3, &b);
        self.info(4, info);
    }
    /// Returns the `mode` of a singular value decomposition, after a check of the sizes.
    fn singular_vectors(&self, m: usize, n: usize) -> Result<char> {
        let mode = self.letter("mode", "ASN")?;
        let (u_cols, v_rows) = (self.checked.size('u'), self.checked.size('v'));
        let small = m.min(n);
        let all = (u_cols, v_rows) == (m, n);
        let fits = (mode != 'S' && all) || (mode != 'A' && (u_cols, v_rows) == (small, small));
        self.sizes(fits, "as many singular vectors as `mode` selects")?;
        Ok(mode)
    }
    fn svd<N: LapackFloat>(&mut self, a: &Matrix<N>) -> Result<()> {
        let mode = self.singular_vectors(a.rows, a.cols)?;
        let Some((u, values, vh)) = jacobi::svd(a, mode == 'A') else {
            self.failed(1);
            return Ok(());
        };
        // LAPACK does not specify the final contents of the operand.
        self.matrix(0, a);
        self.checked.give(1, scalars(&values));
        if mode == 'N' {
            self.checked.fill(2, 0.0);
            self.checked.fill(3, 0.0);
        } else {
            self.matrix(2, &u);
            self.matrix(3, &vh);
        }
        self.info(4, 0);
        Ok(())
    }
}
