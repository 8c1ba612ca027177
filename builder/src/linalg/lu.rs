//! LU decompositions.
use super::lapack::{GETRF, call, or_nan, part};
use crate::arguments::{first, inexact, matrix, size};
use crate::loops::exactly;
use crate::ops::movement::elements;
use crate::{Builder, Result, Value};
use hlo::ElementType;

/// The result of [`Value::lu_decomposition`]: `a` with its rows permuted is `l u`.
#[derive(Debug, Clone, Copy)]
pub struct LuDecomposition<'b> {
    /// `[.., m, n]`: on and above the diagonal U, below it L, whose diagonal is 1.
    pub lu: Value<'b>,
    /// `s32[.., min(m, n)]`: step `i` exchanged rows `i` and `pivots[i]`, counted from 0.
    pub pivots: Value<'b>,
    /// `s32[.., m]`: row `i` of `l u` is row `permutation[i]` of `a`.
    pub permutation: Value<'b>,
}

impl<'b> Value<'b> {
    /// Returns the LU decomposition with partial pivoting: XLA's `LuDecomposition`.
    ///
    /// It is LAPACK's `getrf`. A singular matrix has a zero on the diagonal of U.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let a = b.constant([[1f64, 2.], [4., 4.]]);
    /// let lu = interp::run(&b.build(a.lu_decomposition().lu)?, &[])?;
    /// assert_eq!(lu.to_string(), "f64[2,2]{1,0} { { 4, 4 }, { 0.25, 1 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is no matrix of floats; `E0811` if LAPACK has no routine
    /// for the type.
    #[track_caller]
    pub fn lu_decomposition(self) -> LuDecomposition<'b> {
        let [lu, pivots, permutation] = self.record_all(|b| {
            let [lu, pivots] = factors(self)?;
            let (rows, _) = matrix(&self.array()?)?;
            Ok([lu, pivots, permutation(b, pivots, rows)?])
        });
        LuDecomposition { lu, pivots, permutation }
    }
}

/// Returns `lu`, and `pivots` counted from 0.
pub(super) fn factors(a: Value<'_>) -> Result<[Value<'_>; 2]> {
    let shape = a.array()?;
    inexact(&shape, "an LU decomposition")?;
    let (m, n) = matrix(&shape)?;
    let batch = &shape.dims[..shape.rank() - 2];
    let results = [
        part(shape.ty, batch, &[m, n]),
        part(ElementType::S32, batch, &[m.min(n)]),
        part(ElementType::S32, batch, &[]),
    ];
    let decomposed = a.builder().library("lu", &[a], |operands| {
        let b = a.builder();
        let given = call(b, GETRF, &[(operands[0], 2)], &results, "{}")?;
        let [lu, pivots, info] = exactly(given)?;
        // Above 0 it says that U is singular, which is a result; below, that an argument was wrong.
        Ok(b.tuple(&[or_nan(lu, info.ge(0))?, pivots - 1]))
    });
    exactly(elements(decomposed)?)
}

/// Returns the order of rows that exchanges lead to, `[.., rows]`. Done with masks, so that every
/// problem has its own pivot.
pub(crate) fn permutation<'b>(b: &'b Builder, pivots: Value<'b>, rows: i64) -> Result<Value<'b>> {
    let shape = pivots.array()?;
    let last = shape.rank() - 1;
    let steps = shape.dims[last];
    let dims = [&shape.dims[..last], &[rows]].concat();
    let order = b.iota((ElementType::S32, &dims), size(last));
    let step = |i: Value<'b>, order: Value<'b>, pivots: Value<'b>| -> Result<Value<'b>> {
        let place = |count: i64| {
            let dims = [&dims[..last], &[count]].concat();
            b.iota((ElementType::S32, &dims), size(last))
        };
        let zero = b.zero(ElementType::S32);
        let spread = |x: Value<'b>| x.broadcast_in_dim(&dims, &first(last));
        // The mask is true at one position in each row.
        let at = |mask: Value<'b>, x: Value<'b>| mask.select(x, zero).reduce_sum(&[size(last)]);
        let with = spread(at(place(steps).eq(i), pivots));
        let (here, there) = (place(rows).eq(i), place(rows).eq(with));
        let (this, that) = (spread(at(here, order)), spread(at(there, order)));
        Ok(here.select(that, there.select(this, order)))
    };
    let end = b.for_each_index(steps, ElementType::S32, &[order, pivots], |i, v| {
        vec![b.record(|_| step(i, v[0], v[1])), v[1]]
    });
    let [order, _] = exactly(end)?;
    Ok(order)
}

/// Returns for each problem 1 if the exchanges are even in number, -1 if they are odd, as this
/// type.
pub(super) fn parity(pivots: Value<'_>, ty: ElementType) -> Result<Value<'_>> {
    let shape = pivots.array()?;
    let last = size(shape.rank()) - 1;
    let stay = pivots.builder().iota((ElementType::S32, &shape.dims), last);
    let exchanged = pivots.ne(stay).convert_element_type(ElementType::S32);
    let odd = exchanged.reduce_sum(&[last]).and(1);
    Ok((odd.neg() * 2 + 1).convert_element_type(ty))
}
/// Returns the rows of `rhs[.., n, k]` in this order.
pub(crate) fn permuted<'b>(rhs: Value<'b>, permutation: Value<'b>) -> Result<Value<'b>> {
    let shape = rhs.array()?;
    let batch = size(shape.rank()) - 2;
    Ok(rhs.torch_index_select(permutation, batch, batch))
}
