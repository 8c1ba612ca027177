//! `getrf`.
use super::super::direct::order;
use super::{Element, columns, finite, memory};
use faer::dyn_stack::MemStack;
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::{Mat, Par, Spec};

/// Returns the factors and the 1-based row that each step exchanged with; `None` if a pivot is
/// zero, or so small that its reciprocal overflows.
pub(super) fn getrf<S: Element>(a: &[S], (m, n): (usize, usize)) -> Option<(Mat<S>, Vec<i32>)> {
    let mut factors = columns(a, (m, n));
    let (mut rows, mut inverse) = (vec![0usize; m], vec![0usize; m]);
    let mut memory = memory(lu_in_place_scratch::<usize, S>(m, n, Par::Seq, Spec::default()));
    lu_in_place(
        factors.as_mut(),
        &mut rows,
        &mut inverse,
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    let factors = finite(factors)?;
    let steps = m.min(n);
    (0..steps).all(|i| factors[(i, i)] != S::zero_impl()).then(|| {
        let pivots = exchanges(&rows, steps);
        (factors, pivots)
    })
}

/// Returns the exchanges that put row `rows[i]` at `i`, one for each of the first `steps` rows.
fn exchanges(rows: &[usize], steps: usize) -> Vec<i32> {
    // The row that is at each place, and the place of each row.
    let (mut row_at, mut place_of): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).map(|i| (i, i)).unzip();
    let step = |i: usize| {
        let place = place_of[rows[i]];
        let moved = row_at[i];
        row_at.swap(i, place);
        place_of.swap(moved, rows[i]);
        order(place)
    };
    (0..steps).map(step).collect()
}
