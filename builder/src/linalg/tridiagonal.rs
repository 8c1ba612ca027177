//! Tridiagonal systems and products.
use crate::arguments::{first, size};
use crate::loops::exactly;
use crate::{Builder, Error, Result, Value};
use hlo::{ArrayShape, ElementType};

/// The three diagonals of square matrices, each `[.., 1, n]`.
#[derive(Debug, Clone, Copy)]
pub struct Tridiagonal<'b> {
    /// Below the main diagonal; its first element is not used.
    pub lower: Value<'b>,
    /// The main diagonal.
    pub main: Value<'b>,
    /// Above the main diagonal; its last element is not used.
    pub upper: Value<'b>,
}

impl Tridiagonal<'_> {
    /// Fails unless the diagonals are of one shape, `[.., 1, n]`.
    fn shape(self) -> Result<ArrayShape> {
        let main = self.main.array()?;
        for other in [self.lower.array()?, self.upper.array()?] {
            if other.dims != main.dims || other.ty != main.ty {
                let message = format!("diagonals are {main:#} and {other:#}");
                return Err(Error::argument(message).with_help("the three are of one shape"));
            }
        }
        match main.dims.as_slice() {
            [.., 1, _] => Ok(main),
            _ => Err(Error::argument(format!("a diagonal is [.., 1, n], not {main:#}"))),
        }
    }
}

impl Builder {
    /// Returns the solutions `x` of tridiagonal systems: XLA's `TridiagonalSolver`, `ThomasSolver`.
    ///
    /// With `[.., k, n]` right sides, one in each row,
    /// `lower[i] * x[i-1] + main[i] * x[i] + upper[i] * x[i+1] = rhs[i]`. It is Thomas's algorithm,
    /// without pivots: one sweep down, one up. It is stable where the main diagonal outweighs the
    /// others; a zero met on it gives infinities and NaN.
    ///
    /// ```
    /// use builder::linalg::Tridiagonal;
    /// let b = builder::Builder::new("m");
    /// let (lower, main) = (b.constant([[0f64, 1.]]), b.constant([[2f64, 4.]]));
    /// let upper = b.constant([[1f64, 0.]]);
    /// let x = b.tridiagonal_solver(Tridiagonal { lower, main, upper }, b.constant([[4f64, 9.]]));
    /// assert_eq!(interp::run(&b.build(x)?, &[])?.to_string(), "f64[1,2]{1,0} { { 1, 2 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if diagonals and right sides do not fit.
    #[track_caller]
    pub fn tridiagonal_solver<'b>(
        &'b self,
        diagonals: Tridiagonal<'b>,
        rhs: Value<'b>,
    ) -> Value<'b> {
        self.record(|b| {
            let shape = diagonals.shape()?;
            let sides = rhs.array()?;
            let rank = shape.rank();
            let fits = sides.rank() == rank
                && sides.ty == shape.ty
                && (0..rank).all(|d| d + 2 == rank || sides.dims[d] == shape.dims[d]);
            if !fits {
                let message = format!("right sides {sides:#} do not fit diagonals {shape:#}");
                return Err(Error::argument(message)
                    .with_help("diagonals [.., 1, n], right sides [.., k, n]"));
            }
            crate::arguments::inexact(&shape, "a tridiagonal system")?;
            thomas(b, diagonals, rhs, shape.dims[rank - 1])
        })
    }
    /// As [`Builder::tridiagonal_solver`], of diagonals `[.., 3, n]`: the upper one, the main one,
    /// the lower one.
    #[track_caller]
    pub fn tridiagonal_solver_stacked<'b>(
        &'b self,
        diagonals: Value<'b>,
        rhs: Value<'b>,
    ) -> Value<'b> {
        self.record(|b| {
            let shape = diagonals.array()?;
            let [.., 3, _] = shape.dims.as_slice() else {
                return Err(Error::argument(format!("diagonals are [.., 3, n], not {shape:#}")));
            };
            let row = |i| diagonals.slice_in_dim(i, i + 1, 1, -2);
            let diagonals = Tridiagonal { upper: row(0), main: row(1), lower: row(2) };
            Ok(b.tridiagonal_solver(diagonals, rhs))
        })
    }
    /// Returns the products of tridiagonal matrices and the matrices `rhs[.., n, k]`: XLA's
    /// `TridiagonalMatMul`.
    ///
    /// `result[i] = lower[i] * rhs[i-1] + main[i] * rhs[i] + upper[i] * rhs[i+1]`, where each is a
    /// row.
    #[track_caller]
    pub fn tridiagonal_mat_mul<'b>(
        &'b self,
        diagonals: Tridiagonal<'b>,
        rhs: Value<'b>,
    ) -> Value<'b> {
        self.record(|b| {
            let (shape, right) = (diagonals.shape()?, rhs.array()?);
            let rank = shape.rank();
            let (n, front) = (shape.dims[rank - 1], &shape.dims[..rank - 2]);
            let expected = [front, &[n]].concat();
            if right.rank() != rank
                || right.dims[..rank - 1] != expected[..]
                || right.ty != shape.ty
            {
                let message = format!("matrices {right:#} do not fit diagonals {shape:#}");
                return Err(
                    Error::argument(message).with_help("diagonals [.., 1, n], matrices [.., n, k]")
                );
            }
            let row = size(rank) - 2;
            let mut along = first(rank - 2);
            along.push(row);
            let scaled = |diagonal: Value<'b>, rows: Value<'b>| {
                let flat = diagonal.reshape(&[front, &[n]].concat());
                flat.broadcast_in_dim(&right.dims, &along) * rows
            };
            let zero = b.zero(shape.ty);
            let main = scaled(diagonals.main, rhs);
            if n < 2 {
                return Ok(main);
            }
            let below = scaled(diagonals.lower, rhs.pad_in_dim(zero, row, 1, -1));
            let above = scaled(diagonals.upper, rhs.pad_in_dim(zero, row, -1, 1));
            // What is not used may be anything, NaN as well: those rows are cut off, not multiplied
            // by 0.
            let below = below.slice_in_dim(1, n, 1, row).pad_in_dim(zero, row, 1, 0);
            let above = above.slice_in_dim(0, n - 1, 1, row).pad_in_dim(zero, row, 0, 1);
            Ok(main + below + above)
        })
    }
}

/// Returns column `i` of the last dimension.
fn column<'b>(x: Value<'b>, i: Value<'b>) -> Result<Value<'b>> {
    let (rows, _) = crate::arguments::matrix(&x.array()?)?;
    let zero = x.builder().constant_r0_with_type(ElementType::S32, 0);
    Ok(x.dynamic_slice_in_minor_dims(&[zero, i], &[rows, 1]))
}
fn with_column<'b>(x: Value<'b>, update: Value<'b>, i: Value<'b>) -> Value<'b> {
    let zero = x.builder().constant_r0_with_type(ElementType::S32, 0);
    x.dynamic_update_slice_in_minor_dims(update, &[zero, i])
}

/// Solves by a sweep that eliminates the lower diagonal and one that substitutes backwards.
fn thomas<'b>(
    b: &'b Builder,
    diagonals: Tridiagonal<'b>,
    rhs: Value<'b>,
    n: i64,
) -> Result<Value<'b>> {
    if n == 0 {
        return Ok(rhs);
    }
    let Tridiagonal { lower, main, upper } = diagonals;
    let down = |i: Value<'b>, v: &[Value<'b>]| -> Result<Vec<Value<'b>>> {
        let [lower, main, upper, rhs] = exactly(v.to_vec())?;
        let (at, before) = (i + 1, i);
        let factor = column(lower, at)? / column(main, before)?;
        let pivot = column(main, at)? - factor * column(upper, before)?;
        let side = column(rhs, at)? - factor * column(rhs, before)?;
        Ok(vec![lower, with_column(main, pivot, at), upper, with_column(rhs, side, at)])
    };
    let state = [lower, main, upper, rhs];
    let swept = b.for_each_index(n - 1, ElementType::S32, &state, |i, v| kept(b, down(i, v)));
    let [_, main, upper, rhs] = exactly(swept)?;
    let last_dim = size(rhs.rank()?) - 1;
    let last = rhs.slice_in_dim(n - 1, n, 1, last_dim) / main.slice_in_dim(n - 1, n, 1, last_dim);
    let zero = vec![0; rhs.rank()? - 1];
    let x = rhs.update_slice(last, &[zero, vec![n - 1]].concat());
    let up = |i: Value<'b>, v: &[Value<'b>]| -> Result<Vec<Value<'b>>> {
        let [main, upper, x] = exactly(v.to_vec())?;
        let at = i.neg() + (n - 2);
        let rest = column(x, at)? - column(upper, at)? * column(x, at + 1)?;
        Ok(vec![main, upper, with_column(x, rest / column(main, at)?, at)])
    };
    let state = [main, upper, x];
    let solved = b.for_each_index(n - 1, ElementType::S32, &state, |i, v| kept(b, up(i, v)));
    let [_, _, x] = exactly(solved)?;
    Ok(x)
}
/// Returns the result of a loop's body; the builder keeps its error.
fn kept<'b>(b: &'b Builder, values: Result<Vec<Value<'b>>>) -> Vec<Value<'b>> {
    b.record_or(Vec::new(), |_| values)
}
