//! Derivatives of LU, QR, eigenvalue and singular value decompositions: forward mode, which reverse
//! mode transposes.
//!
//! They are defined where JAX defines them: eigenvalues, and singular values, must differ for the
//! vectors to have derivatives; the first `min(m, n)` columns must be independent. Elsewhere
//! results are infinite or NaN.
use super::matrices::Factor::Plain;
use super::matrices::{MatrixPart, adjoint, hermitian, lies_in, only, product, solve};
use super::node::{Derivative, Node, first};
use super::sweep::{Inputs, reverse};
use super::tangent::{self, Tangent};
use crate::arguments::{cast, matrix, size};
use crate::linalg::lu::{permutation, permuted};
use crate::{Result, Value};
use hlo::op::TriangularSolve;
use hlo::op::value::Transpose;

const BY_LOWER: TriangularSolve = TriangularSolve {
    left_side: true,
    lower: true,
    unit_diagonal: true,
    transpose_a: Transpose::None,
};
/// `b a^-1` for an upper triangle `a`.
const BY_UPPER: TriangularSolve =
    TriangularSolve { left_side: false, lower: false, unit_diagonal: false, ..BY_LOWER };

pub(super) struct LuRule;
pub(super) struct QrRule;
pub(super) struct EigenRule {
    /// The triangle that is read.
    pub(super) lower: bool,
}
pub(super) struct SvdRule;
pub(super) struct SingularValuesRule;

/// A decomposition of one array.
trait Forward {
    /// Returns the tangents of the parts of the result.
    fn forward<'b>(&self, node: &Node<'b>, t: Value<'b>) -> Result<Tangent<'b>>;
}
macro_rules! derivatives {
    ($($rule:ident)*) => {
        $(impl Derivative for $rule {
            fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
                first(tangents)?.map_or(Ok(Tangent::Zero), |t| self.forward(node, t))
            }
            /// Returns the cotangent. The tangent is linear in that of the operand: its transpose
            /// is its own cotangent, at any point.
            fn vjp<'b>(&self, node: &Node<'b>, c: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
                let operand = node.operand(0)?;
                let b = operand.builder();
                let zero = tangent::zeros(b, &operand.shape()?)?;
                let pushed = self.forward(node, zero)?.filled(node.result)?;
                reverse(b, node.rules, pushed, &[zero], c.clone(), Inputs::Leaves)
            }
        })*
    };
}
derivatives! { LuRule QrRule EigenRule SvdRule SingularValuesRule }

fn times<'b>(a: Value<'b>, b: Value<'b>) -> Result<Value<'b>> {
    product(Plain(a), Plain(b))
}
fn identity_like(value: Value<'_>) -> Result<Value<'_>> {
    Ok(lies_in(value, MatrixPart::Diagonal)?.convert_element_type(value.element_type()?))
}
/// Returns the numbers of the dimensions of rows and columns.
fn rows_and_columns(value: Value<'_>) -> Result<(i64, i64)> {
    let rank = size(value.rank()?);
    Ok((rank - 2, rank - 1))
}
/// Returns `[.., n]` along the columns of `[.., m, n]`.
fn along_columns<'b>(vector: Value<'b>, like: Value<'b>) -> Result<Value<'b>> {
    let (row, column) = rows_and_columns(like)?;
    let dims: Vec<i64> = (0..row).chain([column]).collect();
    cast(vector.broadcast_in_dim(&like.dims()?, &dims), like.element_type()?)
}
/// Returns the reciprocals outside the diagonal, and 0 on it.
fn reciprocal_off_diagonal(value: Value<'_>) -> Result<Value<'_>> {
    let diagonal = lies_in(value, MatrixPart::Diagonal)?;
    Ok(diagonal.select(0, 1.0 / diagonal.select(1, value)))
}

/// `P A = L U`: `dL = L tril(F)` and `dU = triu(F) U` with `F = L^-1 P dA U^-1`.
impl Forward for LuRule {
    fn forward<'b>(&self, node: &Node<'b>, t: Value<'b>) -> Result<Tangent<'b>> {
        let b = t.builder();
        let (lu, pivots) = (node.result.get_tuple_element(0), node.result.get_tuple_element(1));
        let (m, n) = matrix(&lu.array()?)?;
        let (row, column) = rows_and_columns(lu)?;
        let (count, zero) = (m.min(n), b.zero(lu.element_type()?));
        let left = lu.slice_in_dim(0, count, 1, column).pad_in_dim(zero, column, 0, m - count);
        let left = only(left, MatrixPart::BelowDiagonal)? + identity_like(left)?;
        let upper = only(lu.slice_in_dim(0, count, 1, row), MatrixPart::Upper)?;
        let upper = upper.pad_in_dim(zero, row, 0, n - count);
        // Columns that have no row of U of their own are divided by 1.
        let place = b.iota(upper.array()?.with_type(hlo::ElementType::S32), row);
        let right = place.ge(count).select(identity_like(upper)?, upper);
        let rows = permuted(t, permutation(b, pivots, m)?)?;
        let inner = solve(&BY_UPPER, right, solve(&BY_LOWER, left, rows)?)?;
        let lower = times(left, only(inner, MatrixPart::BelowDiagonal)?)?;
        let pushed = lower + times(only(inner, MatrixPart::Upper)?, right)?;
        Ok(Tangent::Tuple(vec![Tangent::Array(pushed), Tangent::Zero]))
    }
}

/// Tangents of Q and R where A has as many rows as columns or more.
fn tall<'b>(q: Value<'b>, r: Value<'b>, t: Value<'b>) -> Result<[Value<'b>; 2]> {
    let over_r = solve(&BY_UPPER, r, t)?;
    let inner = times(adjoint(q), over_r)?;
    let below = only(inner, MatrixPart::BelowDiagonal)?;
    let mut turn = below - adjoint(below);
    let ty = inner.element_type()?;
    if ty.is_complex() {
        let diagonal = only(inner, MatrixPart::Diagonal)?;
        turn = turn + (diagonal - diagonal.real().convert_element_type(ty));
    }
    Ok([times(q, turn - inner)? + over_r, times(inner - turn, r)?])
}
/// Returns the tangent of the columns of a square Q beyond those of A, as LAPACK's reflections
/// choose them.
fn completed<'b>(q: Value<'b>, thin: Value<'b>, n: i64) -> Result<Value<'b>> {
    let (row, column) = rows_and_columns(q)?;
    let m = matrix(&q.array()?)?.0;
    let (first, rest) = (q.slice_in_dim(0, n, 1, column), q.slice_in_dim(n, m, 1, column));
    let split = |x: Value<'b>| (x.slice_in_dim(0, n, 1, row), x.slice_in_dim(n, m, 1, row));
    let ((above, below), (turned_above, turned_below)) = (split(first), split(thin));
    let turned = adjoint(above - identity_like(above)?);
    let z = adjoint(turned.solve(adjoint(below)));
    let moved = turned_below - times(z, turned_above)?;
    Ok(times(thin, adjoint(z))? - times(first + times(rest, z)?, adjoint(moved))?)
}

/// `A = Q R`, where `Q^H dQ` is skew-Hermitian and `dR` upper triangular.
impl Forward for QrRule {
    fn forward<'b>(&self, node: &Node<'b>, t: Value<'b>) -> Result<Tangent<'b>> {
        let (b, a) = (t.builder(), node.operand(0)?);
        let (q, r) = (node.result.get_tuple_element(0), node.result.get_tuple_element(1));
        let (m, n) = matrix(&a.array()?)?;
        let (row, column) = rows_and_columns(a)?;
        let [dq, dr] = if m < n {
            let split =
                |x: Value<'b>| (x.slice_in_dim(0, m, 1, column), x.slice_in_dim(m, n, 1, column));
            let ((t_square, t_rest), (r_square, _), (_, rest)) = (split(t), split(r), split(a));
            let [dq, dr] = tall(q, r_square, t_square)?;
            let dr_rest = times(adjoint(dq), rest)? + times(adjoint(q), t_rest)?;
            [dq, b.concat_in_dim(&[dr, dr_rest], column)]
        } else if matrix(&q.array()?)?.1 > n {
            let r_thin = r.slice_in_dim(0, n, 1, row);
            let [dq, dr] = tall(q.slice_in_dim(0, n, 1, column), r_thin, t)?;
            let dq = b.concat_in_dim(&[dq, completed(q, dq, n)?], column);
            [dq, dr.pad_in_dim(b.zero(r.element_type()?), row, 0, m - n)]
        } else {
            tall(q, r, t)?
        };
        Ok(Tangent::Tuple(vec![Tangent::Array(dq), Tangent::Array(dr)]))
    }
}

/// `A = V W V^H`: `dW` is the diagonal of `V^H dA V`, `dV = V (F * V^H dA V)` with
/// `F[i,j] = 1 / (w[j] - w[i])`.
///
/// Only one triangle of A is read, so only that has a derivative.
impl Forward for EigenRule {
    fn forward<'b>(&self, node: &Node<'b>, t: Value<'b>) -> Result<Tangent<'b>> {
        let (v, w) = (node.result.get_tuple_element(0), node.result.get_tuple_element(1));
        let inner = times(adjoint(v), times(hermitian(t, self.lower)?, v)?)?;
        let along = along_columns(w, v)?;
        let gaps = reciprocal_off_diagonal(along - along.transpose_in_minor_dims())?;
        let dv = times(v, gaps * inner)?;
        let dw = inner.matrix_diagonal(0).real();
        Ok(Tangent::Tuple(vec![Tangent::Array(dv), Tangent::Array(dw)]))
    }
}

/// `A = U S V^H`, with `D = U^H dA V` and `F[i,j] = 1 / (s[j]^2 - s[i]^2)`: `dS` is the real
/// diagonal of `D`, `dU = U (F * (D S + S D^H))` and `dV = V (F * (S D + D^H S))`, and what lies
/// outside of the columns.
impl Forward for SvdRule {
    fn forward<'b>(&self, node: &Node<'b>, t: Value<'b>) -> Result<Tangent<'b>> {
        let a = node.operand(0)?;
        let [u, d, v] = [0, 1, 2].map(|i| node.result.get_tuple_element(i));
        let (m, n) = matrix(&a.array()?)?;
        if m != n && matrix(&u.array()?)?.1 == m && matrix(&v.array()?)?.1 == n {
            let why = "has no derivative rule here for all vectors of a matrix that is not square: use `svd(false)`";
            return Err(node.refused(why));
        }
        let inner = times(adjoint(u), times(t, v)?)?;
        let along = along_columns(d, inner)?;
        let down = along.transpose_in_minor_dims();
        let gaps = reciprocal_off_diagonal((along + down) * (along - down))?;
        let (right, left) = (along * inner, down * inner);
        // Of complex matrices the phases of U and V are not determined; V keeps its own.
        let phase = only(inner - adjoint(inner), MatrixPart::Diagonal)? * 0.5;
        let is_zero = along.eq(0);
        let phase = is_zero.select(0, phase / is_zero.select(1, along));
        let mut du = times(u, gaps * (right + adjoint(right)) + phase)?;
        let mut dv = times(v, gaps * (left + adjoint(left)))?;
        let outside = |t: Value<'b>, by: Value<'b>, of: Value<'b>| {
            let moved = times(t, by)?;
            let rest = moved - times(of, times(adjoint(of), moved)?)?;
            Ok::<_, crate::Error>(rest / along_columns(d, rest)?)
        };
        if m > n {
            du = du + outside(t, v, u)?;
        }
        if n > m {
            dv = dv + outside(adjoint(t), u, v)?;
        }
        let parts = [du, inner.matrix_diagonal(0).real(), dv];
        Ok(Tangent::Tuple(parts.map(Tangent::Array).to_vec()))
    }
}
impl Forward for SingularValuesRule {
    fn forward<'b>(&self, node: &Node<'b>, t: Value<'b>) -> Result<Tangent<'b>> {
        let parts = node.operand(0)?.svd(false);
        let inner = times(adjoint(parts.u), times(t, parts.v)?)?;
        Ok(Tangent::Array(inner.matrix_diagonal(0).real()))
    }
}
