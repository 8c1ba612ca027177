//! The routines: their names, signatures, and the memory that they work in.
use hlo::{ArrayShape, ElementType, Shape};
use kernels::side_by_side::{LARGEST, SideBySide};
use num::Arithmetic;
use num::array::array_shapes;
use num::index::{saturating_count, to_usize};
use num::parallel::threads;

/// A routine: its name, its signature for real numbers, that for complex numbers, empty if there is
/// none, and the number of arrays that it works in, of the size of its largest.
pub(super) const ROUTINES: [(&str, &str, &str, usize); 19] = [
    ("potrf", "T[n,n] -> T[n,n] I[]", "T[n,n] -> T[n,n] I[]", 3),
    ("trsm", "T[a,b] T[m,n] -> T[m,n]", "T[a,b] T[m,n] -> T[m,n]", 4),
    ("getrf", "T[m,n] -> T[m,n] I[p] I[]", "T[m,n] -> T[m,n] I[p] I[]", 3),
    ("geqrf", "T[m,n] -> T[m,n] T[p]", "T[m,n] -> T[m,n] T[p]", 1),
    ("geqp3", "T[m,n] I[n] -> T[m,n] I[n] T[p]", "T[m,n] I[n] -> T[m,n] I[n] T[p]", 1),
    ("orgqr", "T[m,n] T[k] -> T[m,n]", "", 2),
    ("ungqr", "", "T[m,n] T[k] -> T[m,n]", 2),
    ("ormqr", "T[r,k] T[k] T[m,n] -> T[m,n]", "", 2),
    ("unmqr", "", "T[r,k] T[k] T[m,n] -> T[m,n]", 2),
    ("syevd", "T[n,n] -> T[n,n] R[n] I[]", "", 5),
    ("heevd", "", "T[n,n] -> T[n,n] R[n] I[]", 5),
    ("gesdd", SVD, SVD, 12),
    ("gesvd", SVD, SVD, 12),
    (
        "gees",
        "T[n,n] -> T[n,n] T[n,n] T[n] T[n] I[] I[]",
        "T[n,n] -> T[n,n] T[n,n] T[n] I[] I[]",
        3,
    ),
    ("geev", "T[n,n] -> T[n] T[n] C[n,n] C[n,n] I[]", "T[n,n] -> T[n] C[n,n] C[n,n] I[]", 10),
    ("gehrd", "T[n,n] -> T[n,n] T[q] I[]", "T[n,n] -> T[n,n] T[q] I[]", 1),
    ("sytrd", "T[n,n] -> T[n,n] R[n] R[q] T[q] I[]", "", 2),
    ("hetrd", "", "T[n,n] -> T[n,n] R[n] R[q] T[q] I[]", 2),
    ("gtsv", GTSV, GTSV, 1),
];
const SVD: &str = "T[m,n] -> T[m,n] R[p] T[m,u] T[v,n] I[]";
const GTSV: &str = "T[n] T[n] T[n] T[n,k] -> T[n] T[n] T[n] T[n,k] I[]";

/// The letter of each type in routine names.
pub(super) const TYPES: [(char, ElementType); 4] = [
    ('s', ElementType::F32),
    ('d', ElementType::F64),
    ('c', ElementType::C64),
    ('z', ElementType::C128),
];

/// Returns the names of all targets.
pub(in crate::custom) fn targets() -> impl Iterator<Item = String> {
    TYPES.into_iter().flat_map(|(letter, ty)| {
        let has = move |(_, real, complex, _): &(_, &str, &str, _)| {
            !(if ty.is_complex() { complex } else { real }).is_empty()
        };
        ROUTINES
            .iter()
            .filter(move |r| has(r))
            .map(move |(name, ..)| format!("lapack_{letter}{name}_ffi"))
    })
}

/// Returns whether a target is one of these and takes cubic time; tridiagonal systems take linear
/// time.
pub(in crate::custom) fn is_cubic(target: &str) -> bool {
    target.starts_with("lapack_") && !target.ends_with("gtsv_ffi")
}

/// XLA's elimination, with pivots from 0 and the permutation of the rows.
pub(in crate::custom) const LU: &str = "LuDecomposition";

/// JAX's solution of a tridiagonal system that may be singular.
pub(in crate::custom) const PERTURBED: &str = "tridiagonal_solve_perturbed_ffi";

/// Returns the routine that a target runs, or one that works in the same memory.
fn routine_of(target: &str) -> Option<&str> {
    match target {
        "Qr" => Some("geqrf"),
        "ProductOfElementaryHouseholderReflectors" => Some("orgqr"),
        "Eigh" => Some("syevd"),
        LU => Some("getrf"),
        PERTURBED => Some("gtsv"),
        _ => target.strip_prefix("lapack_")?.get(1..)?.strip_suffix("_ffi"),
    }
}

/// Returns the bytes that a target works in: numbers of f64 for one problem. The results are
/// written to their arrays.
pub(in crate::custom) fn scratch(
    target: &str,
    operands: &[&Shape],
    result: &Shape,
    arithmetic: Arithmetic,
) -> usize {
    let routine = routine_of(target);
    let Some(&(.., arrays)) = ROUTINES.iter().find(|&&(name, ..)| Some(name) == routine) else {
        return 0;
    };
    let all: Vec<&ArrayShape> =
        operands.iter().copied().chain([result]).flat_map(array_shapes).collect();
    // The dimensions in front count problems, of which each thread solves one at a time.
    let first = operands.first().and_then(|operand| operand.array());
    let batch =
        first.map_or(0, |a| a.rank().saturating_sub(if routine == Some("gtsv") { 1 } else { 2 }));
    let is_complex = first.is_some_and(|array| array.ty.is_complex());
    let problems = first.map_or(1, |a| saturating_count(&a.dims[..batch.min(a.rank())]));
    let own = |array: &&ArrayShape| {
        let sides = array.dims.iter().skip(batch).map(|&n| to_usize(n));
        (sides.clone().fold(1, usize::saturating_mul), sides.max().unwrap_or(1))
    };
    let sizes = all.iter().map(own);
    let (largest, longest) = sizes.fold((0, 1), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    // Beside these there are lists: a reflection, its factors, eigenvalues, the order of columns.
    let numbers = largest.saturating_mul(arrays).saturating_add(longest.saturating_mul(LISTS));
    let exact = numbers.saturating_mul(size_of::<f64>() * if is_complex { 2 } else { 1 });
    // The operands and results of as many problems as there are lanes.
    let lanes = longest <= LARGEST && problems > 1;
    let own = if lanes { SideBySide::<[f64; 2]>::bytes(3, largest) } else { 0 };
    let exact = exact.saturating_add(own);
    let each = match (arithmetic, routine.zip(first)) {
        (Arithmetic::Fast, Some((routine, a))) => exact.max(scratch_of_blocks(routine, a)),
        (Arithmetic::Exact | Arithmetic::Fast, _) => exact,
    };
    each.saturating_mul(problems.min(threads()).max(1))
}

/// Returns the bytes that a routine works in that `fast` computes in the type of the elements.
fn scratch_of_blocks(routine: &str, a: &ArrayShape) -> usize {
    #[cfg(feature = "faer")]
    if let Some(sides) = sides(a) {
        return super::blocked::scratch(routine, a.ty, sides);
    }
    let _ = (routine, a);
    0
}

/// Returns the rows and columns of a matrix, or of each of several.
#[cfg(feature = "faer")]
fn sides(a: &ArrayShape) -> Option<(usize, usize)> {
    let (&n, front) = a.dims.split_last()?;
    Some((to_usize(*front.last()?), to_usize(n)))
}

/// Returns whether the engine `fast` runs the algorithms of `exact` for a target that is one of
/// these.
pub(in crate::custom) fn is_exact_in_fast(target: &str, operands: &[&Shape]) -> bool {
    let routine = routine_of(target);
    let Some(&(routine, ..)) = ROUTINES.iter().find(|&&(name, ..)| Some(name) == routine) else {
        return false;
    };
    let Some(a) = operands.first().and_then(|operand| operand.array()) else { return false };
    let is_complex = a.ty.is_complex();
    let is_plain =
        ["potrf", "trsm"].contains(&routine) || routine == "getrf" && is_complex && target != LU;
    #[cfg(feature = "faer")]
    if target.starts_with("lapack_") && sides(a).is_some_and(|s| super::blocked::has(routine, s)) {
        return false;
    }
    // Sums of f32 are the same in both engines, and Schur forms too.
    let is_wide = a.ty.component() == ElementType::F64 && target.starts_with("lapack_");
    !is_plain && (!is_wide || ["gees", "geev"].contains(&routine))
}

/// The most lists of numbers, as long as the longest side, that a routine holds.
const LISTS: usize = 8;
