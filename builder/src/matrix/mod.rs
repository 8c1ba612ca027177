//! Matrices: diagonals, triangles, transposes. The last two dimensions are rows and columns, those
//! before count matrices.
mod contract;
mod einsum;

use crate::arguments::{first, matrix, size, square};
use crate::{Builder, Error, Result, Value};
use hlo::op::value::{SliceRange, SliceRanges};
use hlo::op::{Gather, Slice, Unary};
use hlo::{ArrayShape, ElementType};

pub use einsum::{EinsumDims, Label, normalize_einsum, parse_einsum};

impl Builder {
    /// Returns `m` rows and `n` columns with 1 on the main diagonal, otherwise 0: XLA's
    /// `IdentityMatrix`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.identity_matrix(hlo::ElementType::S32, 2, 3))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,3]{1,0} { { 1, 0, 0 }, { 0, 1, 0 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn identity_matrix(&self, ty: ElementType, m: i64, n: i64) -> Value<'_> {
        self.record(|b| {
            let (rows, columns) = coordinates(b, &[m, n], 0);
            Ok(rows.eq(columns).convert_element_type(ty))
        })
    }
}

/// Returns for each element of matrices of these sizes the number of its row, plus `shift`, and of
/// its column, as `s32`.
fn coordinates<'b>(b: &'b Builder, dims: &[i64], shift: i64) -> (Value<'b>, Value<'b>) {
    let row = size(dims.len()).saturating_sub(2);
    let rows = b.iota((ElementType::S32, dims), row);
    let columns = b.iota((ElementType::S32, dims), row + 1);
    (if shift == 0 { rows } else { rows + shift }, columns)
}
/// Returns the coordinates for the matrices of an array. All diagonals outside are equivalent, and
/// `s32` holds any inside.
fn coordinates_in<'b>(
    x: Value<'b>,
    shape: &ArrayShape,
    shift: i64,
) -> Result<(Value<'b>, Value<'b>)> {
    let (m, n) = matrix(shape)?;
    Ok(coordinates(x.builder(), &shape.dims, shift.clamp(-m - 1, n + 1)))
}
/// Returns the length of a diagonal.
fn diagonal_length(m: i64, n: i64, k: i64) -> i64 {
    let (rows, columns) = (m.saturating_add(k.min(0)), n.saturating_sub(k.max(0)));
    rows.min(columns).max(0)
}

impl<'b> Value<'b> {
    /// Returns whether an element is on diagonal `k`, which is above the main one if positive:
    /// XLA's `GetDiagonalMask`.
    ///
    /// `x[.., m, n]` gives `pred[.., m, n]`, true where `column = row + k`.
    #[track_caller]
    pub fn diagonal_mask(self, k: i64) -> Self {
        self.record(|_| {
            let (rows, columns) = coordinates_in(self, &self.array()?, k)?;
            Ok(rows.eq(columns))
        })
    }
    /// Returns diagonal `k`, which is above the main one if positive: XLA's `GetMatrixDiagonal`.
    ///
    /// `x[.., m, n]` gives `[.., min(m, n - k)]`, for a negative `k` `[.., min(m + k, n)]`; nothing
    /// if the diagonal lies outside. Elements are moved, not added: NaN and -0 stay what they are.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    /// assert_eq!(interp::run(&b.build(x.matrix_diagonal(1))?, &[])?.to_string(), "s32[2]{0} {2, 6}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn matrix_diagonal(self, k: i64) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            let (m, n) = matrix(&shape)?;
            let length = diagonal_length(m, n, k);
            // Row by row, the elements of a diagonal are n + 1 apart.
            let (front, _) = shape.dims.split_at(shape.rank() - 2);
            let flat = self.reshape(&[front, &[m * n]].concat());
            let start = if length == 0 { 0 } else { k.max(0) - k.min(0) * n };
            let limit = if length == 0 { 0 } else { start + (length - 1) * (n + 1) + 1 };
            let whole = |&limit: &i64| SliceRange { start: 0, limit, stride: 1 };
            let mut ranges: Vec<SliceRange> = front.iter().map(whole).collect();
            ranges.push(SliceRange { start, limit, stride: n + 1 });
            b.emit(Slice { ranges: SliceRanges(ranges) }, &[flat], None)
        })
    }
    /// Returns the diagonal through a `gather`: XLA's `GetMatrixDiagonalViaGather`.
    #[track_caller]
    pub fn matrix_diagonal_via_gather(self, k: i64) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            let (m, n) = matrix(&shape)?;
            let length = diagonal_length(m, n, k);
            let count = b.iota((ElementType::S32, &[length, 1]), 0);
            let shift = k.clamp(-m, n);
            let (rows, columns) = (count + shift.min(0).saturating_neg(), count + shift.max(0));
            let places = b.concat_in_dim(&[rows, columns], 1);
            let row = size(shape.rank() - 2);
            let mut slice_sizes = shape.dims.to_vec();
            slice_sizes[shape.rank() - 2] = m.min(1);
            slice_sizes[shape.rank() - 1] = n.min(1);
            let (front, own) = (first(shape.rank() - 2), vec![row, row + 1]);
            let op = Gather::new(front, own.clone(), own, 1, slice_sizes);
            let op = Gather { indices_are_sorted: true, ..op };
            b.emit(op, &[self, places], None)
        })
    }
    /// Returns the matrices with `diagonal` in the place of diagonal `k`: XLA's
    /// `SetMatrixDiagonal`.
    ///
    /// `diagonal` is shaped as [`matrix_diagonal(k)`](Value::matrix_diagonal) gives it.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1i32, 2], [3, 4]]);
    /// let result = interp::run(&b.build(x.set_matrix_diagonal(b.constant([7i32, 8]), 0))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,2]{1,0} { { 7, 2 }, { 3, 8 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn set_matrix_diagonal(self, diagonal: Value<'b>, k: i64) -> Self {
        self.record(|b| {
            let (shape, given) = (self.array()?, diagonal.array()?);
            let (m, n) = matrix(&shape)?;
            let length = diagonal_length(m, n, k);
            let front = shape.rank() - 2;
            let expected = [&shape.dims[..front], &[length]].concat();
            if given.dims.as_slice() != expected.as_slice() || given.ty != shape.ty {
                let message = format!("{given:#} is not shaped as diagonal {k} of {shape:#} is");
                let help = format!("expected {}{expected:?}", shape.ty);
                return Err(Error::argument(message).with_help(help));
            }
            // Laid along the rows, or along the columns, each element meets its place on the
            // diagonal.
            let (along, full) = if k >= 0 { (front, m) } else { (front + 1, n) };
            let zero = b.zero(shape.ty);
            let long = diagonal.pad_in_dim(zero, size(front), 0, full - length);
            let mut dims = first(front);
            dims.push(size(along));
            Ok(self.diagonal_mask(k).select(long.broadcast_in_dim(&shape.dims, &dims), self))
        })
    }
    /// Returns whether an element is on diagonal `k` or below: XLA's `TriangleMask`.
    ///
    /// `x[.., m, n]` gives `pred[.., m, n]`, true where `column <= row + k`.
    #[track_caller]
    pub fn triangle_mask(self, k: i64) -> Self {
        self.record(|_| {
            let (rows, columns) = coordinates_in(self, &self.array()?, k)?;
            Ok(rows.ge(columns))
        })
    }
    /// Returns the lower or upper triangle with the main diagonal, 0 otherwise: XLA's `Triangle`.
    #[track_caller]
    pub fn triangle(self, lower: bool) -> Self {
        self.record(|b| {
            let zero = b.zero(self.element_type()?);
            Ok(match lower {
                true => self.triangle_mask(0).select(self, zero),
                false => self.triangle_mask(-1).select(zero, self),
            })
        })
    }
    /// Returns the upper triangle with the main diagonal, 0 otherwise: XLA's `UpperTriangle`.
    #[doc(alias = "triu")]
    #[track_caller]
    pub fn upper_triangle(self) -> Self {
        self.triangle(false)
    }
    /// Returns the lower triangle with the main diagonal, 0 otherwise: XLA's `LowerTriangle`.
    #[doc(alias = "tril")]
    #[track_caller]
    pub fn lower_triangle(self) -> Self {
        self.triangle(true)
    }
    /// Returns square matrices whose lower (else upper) triangle is mirrored into the other one:
    /// XLA's `Symmetrize`.
    ///
    /// Complex ones become Hermitian: what is mirrored is conjugated, and the diagonal loses its
    /// imaginary part.
    #[track_caller]
    pub fn symmetrize(self, lower: bool) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            square(&shape)?;
            let mirrored = self.transpose_in_minor_dims().conj();
            let mask = self.triangle_mask(if lower { 0 } else { -1 });
            let whole = match lower {
                true => mask.select(self, mirrored),
                false => mask.select(mirrored, self),
            };
            if !shape.ty.is_complex() {
                return Ok(whole);
            }
            let real = b.emit(Unary::Real, &[whole], None)?;
            let diagonal = real.convert_element_type(shape.ty);
            Ok(self.diagonal_mask(0).select(diagonal, whole))
        })
    }
    /// Rows and columns exchanged: XLA's `TransposeInMinorDims`.
    #[track_caller]
    pub fn transpose_in_minor_dims(self) -> Self {
        self.record(|_| {
            let shape = self.array()?;
            matrix(&shape)?;
            let mut order = first(shape.rank());
            order.swap(shape.rank() - 2, shape.rank() - 1);
            Ok(self.transpose(&order))
        })
    }
    /// Rows and columns exchanged if `transpose`: XLA's `MaybeTransposeInMinorDims`.
    #[track_caller]
    pub fn maybe_transpose_in_minor_dims(self, transpose: bool) -> Self {
        if transpose { self.transpose_in_minor_dims() } else { self }
    }
}
